# flr_layer(NAME [DIR folder] [HEADERS public headers] [USES layers] [APART] [LINKS libraries])
#
# Makes the object library flr_layer_NAME from src/NAME/*.c (or DIR/*.c). Its include path is a folder
# made for it alone, which shows
#     feeler/x.h      the public headers of this layer and of those it stands on
#     layer/y.h       the private headers of the same layers
# and nothing else, so that reaching to the right does not compile. A function that is declared
# by hand instead does not link: flr_link_NAME links the layer with those it stands on, no
# undefined symbol allowed. An include by a relative path is refused before anything is compiled.
#
# libfeeler holds all layers but those that stand APART because they need LINKS, libraries that it does
# not want: each of these is a static library flr_NAME of its own, which links those that it uses.
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
  cmake_parse_arguments(arg "APART" "DIR" "HEADERS;USES;LINKS" ${ARGN})
  set(dir ${PROJECT_SOURCE_DIR}/src/${name})
  if(arg_DIR)
    set(dir ${PROJECT_SOURCE_DIR}/${arg_DIR})
  endif()
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
  set_property(GLOBAL PROPERTY FLR_LAYER_${name}_DIR ${dir})
  set_property(GLOBAL PROPERTY FLR_LAYER_${name}_APART ${arg_APART})
  if(NOT arg_APART)
    set_property(GLOBAL APPEND PROPERTY FLR_LAYERS ${name})
  endif()

  # the layer's view of the tree
  set(view ${PROJECT_BINARY_DIR}/layers/${name})
  file(REMOVE_RECURSE ${view})
  file(MAKE_DIRECTORY ${view}/feeler)
  foreach(layer ${below} ${name})
    get_property(folder GLOBAL PROPERTY FLR_LAYER_${layer}_DIR)
    file(CREATE_LINK ${folder} ${view}/${layer} SYMBOLIC)
    get_property(headers GLOBAL PROPERTY FLR_LAYER_${layer}_HEADERS)
    foreach(header ${headers})
      file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/feeler/${header} ${view}/feeler/${header}
           SYMBOLIC)
    endforeach()
  endforeach()

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
  if(arg_APART)
    target_include_directories(flr_layer_${name} PRIVATE ${PROJECT_BINARY_DIR}/generated)
  else()
    target_compile_definitions(flr_layer_${name} PRIVATE FLR_BUILD_LIBRARY)
  endif()
  target_link_libraries(flr_layer_${name} PRIVATE flr_options ${arg_LINKS})

  # the libraries of all layers below that stand apart
  set(apart "")
  foreach(layer ${below})
    get_property(is GLOBAL PROPERTY FLR_LAYER_${layer}_APART)
    if(is)
      list(APPEND apart flr_${layer})
    endif()
  endforeach()
  if(arg_APART)
    add_library(flr_${name} STATIC $<TARGET_OBJECTS:flr_layer_${name}>)
    target_include_directories(flr_${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(flr_${name} PUBLIC ${apart} feeler_static ${arg_LINKS} m pthread)
  endif()

  flr_layer_objects(objects ${below} ${name})
  if(NOT FLR_SANITIZE AND NOT FLR_FUZZ)  # sanitizers leave their own symbols undefined in libraries
    add_library(flr_link_${name} SHARED ${objects})
    set_target_properties(flr_link_${name} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/layers)
    target_link_options(flr_link_${name} PRIVATE -Wl,--no-undefined)
    set(foreign ${arg_LINKS})
    foreach(layer ${below})
      get_property(more GLOBAL PROPERTY FLR_LAYER_${layer}_LINKS)
      list(APPEND foreign ${more})
    endforeach()
    target_link_libraries(flr_link_${name} PRIVATE flr_options ${foreign} m pthread)
  endif()
  set_property(GLOBAL PROPERTY FLR_LAYER_${name}_LINKS "${arg_LINKS}")
endfunction()
