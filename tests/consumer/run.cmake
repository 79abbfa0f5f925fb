# Installs the build into a folder of its own, builds the consumer against it, and runs both programs from there.
#   cmake -DBUILD=… -DSOURCE=… -DPREFIX_PATH=… -P run.cmake
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGV}: ${code}\n${out}")
  endif()
endfunction()

set(root ${BUILD}/consumer)
file(REMOVE_RECURSE ${root})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${root}/install)
string(REPLACE ";" ":" prefixes "${root}/install;${PREFIX_PATH}")
set(ENV{CMAKE_PREFIX_PATH} "${prefixes}")
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${root}/build -G Ninja -Wno-dev -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${root}/build)
run(${root}/build/consumer)
run(${root}/install/bin/tribo list scenes)
