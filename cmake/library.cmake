# libfeeler, shared and static, from all layers that have sources; links libc, libm, pthreads only.
include(CMakePackageConfigHelpers)

get_property(layers GLOBAL PROPERTY FLR_LAYERS)
flr_layer_objects(objects ${layers})
set(headers ${PROJECT_SOURCE_DIR}/include/feeler/feeler.h)
foreach(layer ${layers})
  get_property(layer_headers GLOBAL PROPERTY FLR_LAYER_${layer}_HEADERS)
  list(TRANSFORM layer_headers PREPEND ${PROJECT_SOURCE_DIR}/include/feeler/)
  list(APPEND headers ${layer_headers})
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/cmake/version.h.in
               ${PROJECT_BINARY_DIR}/generated/feeler/version.h @ONLY)
list(APPEND headers ${PROJECT_BINARY_DIR}/generated/feeler/version.h)

add_library(feeler SHARED ${objects})
add_library(feeler_static STATIC ${objects})
set_target_properties(feeler PROPERTIES
  VERSION ${PROJECT_VERSION} # while the major version is 0, a minor step may change the interface
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set_target_properties(feeler_static PROPERTIES OUTPUT_NAME feeler EXPORT_NAME feeler-static)
target_link_options(feeler PRIVATE -Wl,--as-needed)
foreach(target feeler feeler_static)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:flr_options> m pthread)
  add_library(feeler::${target} ALIAS ${target})
endforeach()

install(TARGETS feeler feeler_static EXPORT feeler-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/feeler COMPONENT development)
install(EXPORT feeler-targets NAMESPACE feeler::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/feeler COMPONENT development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/feeler-config.cmake.in
  ${PROJECT_BINARY_DIR}/generated/feeler-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/feeler)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/feeler-config-version.cmake
  COMPATIBILITY SameMinorVersion)
# the .pc file finds its tree from where it lies, so that an installed tree can be moved
file(RELATIVE_PATH FLR_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(${PROJECT_SOURCE_DIR}/cmake/feeler.pc.in
               ${PROJECT_BINARY_DIR}/generated/feeler.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/feeler-config.cmake
              ${PROJECT_BINARY_DIR}/generated/feeler-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/feeler COMPONENT development)
install(FILES ${PROJECT_BINARY_DIR}/generated/feeler.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
