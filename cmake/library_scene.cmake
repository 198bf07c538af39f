# libfeeler-scene: libfeeler and scenes in one library, for those who open scene files. Apart from libfeeler because it needs
# jansson; a program links one of the two. The Python package has the same inside.
target_compile_definitions(flr_layer_sim PRIVATE FLR_BUILD_LIBRARY)
get_property(layers GLOBAL PROPERTY FLR_LAYERS)
flr_layer_objects(objects ${layers} scene models sim)
add_library(feeler_scene SHARED ${objects})
set_target_properties(feeler_scene PROPERTIES OUTPUT_NAME feeler-scene EXPORT_NAME scene
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_link_options(feeler_scene PRIVATE -Wl,--as-needed)
target_include_directories(feeler_scene PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(feeler_scene PRIVATE $<BUILD_INTERFACE:flr_options>
  $<BUILD_INTERFACE:PkgConfig::JANSSON> m pthread)
add_library(feeler::scene ALIAS feeler_scene)
install(TARGETS feeler_scene EXPORT feeler-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/include/feeler/scene_world.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/feeler COMPONENT development)
