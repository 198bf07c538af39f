# flr_layer(NAME [HEADERS public headers] [USES layers])
#
# Makes the object library flr_layer_NAME from src/NAME/*.c. Its include path is a folder
# made for it alone, which shows
#     feeler/x.h      the public headers of this layer and of those it stands on
#     layer/y.h       the private headers of the same layers
# and nothing else, so that reaching to the right does not compile. A function that is declared
# by hand instead does not link: flr_link_NAME links the layer with those it stands on, no
# undefined symbol allowed. An include by a relative path is refused before anything is compiled.
#
# A layer whose folder has no source yet is a target without objects.
set_property(GLOBAL PROPERTY FLR_LAYERS "")

# the objects of all the layers named that have sources
function(flr_layer_objects result)
  set(objects "")
  foreach(layer ${ARGN})
    get_target_property(type flr_layer_${layer} TYPE)
    if(type STREQUAL OBJECT_LIBRARY)
      list(APPEND objects $<TARGET_OBJECTS:flr_layer_${layer}>)
    endif()
  endforeach()
  set(${result} ${objects} PARENT_SCOPE)
endfunction()

function(flr_layer name)
  cmake_parse_arguments(arg "" "" "HEADERS;USES" ${ARGN})
  set(dir ${PROJECT_SOURCE_DIR}/src/${name})
  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.c)

  # all layers below, each once
  set(below "")
  foreach(used ${arg_USES})
    get_property(more GLOBAL PROPERTY FLR_LAYER_${used}_BELOW)
    list(APPEND below ${more} ${used})
  endforeach()
  list(REMOVE_DUPLICATES below)
  set_property(GLOBAL PROPERTY FLR_LAYER_${name}_BELOW "${below}")
  set_property(GLOBAL PROPERTY FLR_LAYER_${name}_HEADERS "${arg_HEADERS}")
  set_property(GLOBAL APPEND PROPERTY FLR_LAYERS ${name})

  # the layer's view of the tree
  set(view ${PROJECT_BINARY_DIR}/layers/${name})
  file(REMOVE_RECURSE ${view})
  file(MAKE_DIRECTORY ${view}/feeler)
  foreach(layer ${below} ${name})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${layer} ${view}/${layer} SYMBOLIC)
    get_property(headers GLOBAL PROPERTY FLR_LAYER_${layer}_HEADERS)
    foreach(header ${headers})
      file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/feeler/${header} ${view}/feeler/${header}
           SYMBOLIC)
    endforeach()
  endforeach()

  if(NOT sources)
    add_library(flr_layer_${name} INTERFACE)
    return()
  endif()
  set(checked ${PROJECT_BINARY_DIR}/layers/${name}.checked)
  file(GLOB headers CONFIGURE_DEPENDS ${dir}/*.h)
  add_custom_command(OUTPUT ${checked} DEPENDS ${sources} ${headers}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${dir} -DSTAMP=${checked}
            -P ${PROJECT_SOURCE_DIR}/cmake/check_includes.cmake
    VERBATIM)
  add_custom_target(flr_checked_${name} DEPENDS ${checked})
  add_library(flr_layer_${name} OBJECT ${sources})
  add_dependencies(flr_layer_${name} flr_checked_${name})
  target_include_directories(flr_layer_${name} PRIVATE ${view})
  target_compile_definitions(flr_layer_${name} PRIVATE FLR_BUILD_LIBRARY)
  target_link_libraries(flr_layer_${name} PRIVATE flr_options)

  flr_layer_objects(objects ${below} ${name})
  if(NOT FLR_SANITIZE AND NOT FLR_FUZZ)  # sanitizers leave their own symbols undefined in libraries
    add_library(flr_link_${name} SHARED ${objects})
    set_target_properties(flr_link_${name} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/layers)
    target_link_options(flr_link_${name} PRIVATE -Wl,--no-undefined)
    target_link_libraries(flr_link_${name} PRIVATE flr_options m pthread)
  endif()
endfunction()
