# Installs the build, moves what was installed to a folder with a space in its name, and builds the programs of the pages with it.
# -D build, source (the repository), work, compiler, flags. With RONDO_LONG_TESTS in the environment, each header is compiled alone.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN} ended with ${status}:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${work}/pages)
run(${CMAKE_COMMAND} --install ${build} --prefix ${work}/pages/prefix)
file(RENAME ${work}/pages/prefix "${work}/pages/moved prefix")
file(COPY ${source}/tests/consumer/pages ${source}/tests/consumer/actors ${source}/tests/consumer/memory
          ${source}/tests/consumer/programs.cmake DESTINATION ${work}/pages/source/tests/consumer)
file(COPY ${source}/tests/streams/examples DESTINATION ${work}/pages/source/tests/streams)
run(${CMAKE_COMMAND} -G Ninja -S ${work}/pages/source/tests/consumer/pages -B ${work}/pages/build
    "-DCMAKE_PREFIX_PATH=${work}/pages/moved prefix" -D CMAKE_CXX_COMPILER=${compiler} "-DCMAKE_CXX_FLAGS=${flags}"
    -D each_header_alone=$ENV{RONDO_LONG_TESTS})
run(${CMAKE_COMMAND} --build ${work}/pages/build --parallel 2)
