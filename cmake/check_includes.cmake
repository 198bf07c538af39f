# refuses sources that leave their folder by a relative include: it would go round the layers
file(GLOB FILES ${FOLDER}/*.c ${FOLDER}/*.h)
foreach(file ${FILES})
  file(STRINGS ${file} wrong REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"][^>\"]*[.][.]/")
  if(wrong)
    message(FATAL_ERROR "${file}: include by the layer's name (\"layer/header.h\"), not by a relative path: ${wrong}")
  endif()
endforeach()
file(TOUCH ${STAMP})
