# cmake -DNPM= -DSOURCE= -DDIST= -DEMBED= -DASSETS= -P build.cmake: builds the page into DIST and
# writes ASSETS, a C file, from it. NPM empty, or a build that fails: the plain page instead.
set(folder ${SOURCE}/plain)
if(NPM)
  set(log ${DIST}.log)
  set(failed 0)
  # packages are fetched once, and again when the list of them changes
  file(SHA256 ${SOURCE}/package-lock.json lock)
  set(stamp ${SOURCE}/node_modules/.feeler-lock)
  set(have "")
  if(EXISTS ${stamp})
    file(READ ${stamp} have)
  endif()
  if(NOT have STREQUAL lock)
    execute_process(COMMAND ${NPM} ci --no-audit --no-fund WORKING_DIRECTORY ${SOURCE}
                    OUTPUT_FILE ${log} ERROR_FILE ${log} RESULT_VARIABLE failed)
    if(failed)  # some versions of npm want packages of other systems in the list, too
      execute_process(COMMAND ${NPM} install --no-save --no-audit --no-fund WORKING_DIRECTORY ${SOURCE}
                      OUTPUT_FILE ${log} ERROR_FILE ${log} RESULT_VARIABLE failed)
    endif()
    if(NOT failed)
      file(WRITE ${stamp} ${lock})
    endif()
  endif()
  if(NOT failed)
    execute_process(COMMAND ${NPM} run build -- --outDir ${DIST} --emptyOutDir
                    WORKING_DIRECTORY ${SOURCE} OUTPUT_FILE ${log} ERROR_FILE ${log}
                    RESULT_VARIABLE failed)
  endif()
  if(failed)
    message(WARNING "the viewer was not built (npm said why in ${log}); feeler gets a plain page instead")
  else()
    set(folder ${DIST})
  endif()
endif()
execute_process(COMMAND ${EMBED} ${folder} ${ASSETS} RESULT_VARIABLE failed)
if(failed)
  file(REMOVE ${ASSETS})
  message(FATAL_ERROR "the viewer's page was not embedded")
endif()
