# Installs the build into a folder, builds project/ with find_package(rondo), and runs the resulting programs.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN} ended with ${status}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(READ ${readme} text)
file(READ ${source}/project/clicks.cpp example)
string(FIND "${text}" "${example}" found)
if(found EQUAL -1)
  message(FATAL_ERROR "README.md does not hold the example as it stands in tests/consumer/project/clicks.cpp")
endif()

file(REMOVE_RECURSE ${work}/prefix ${work}/project ${work}/cuda_project ${work}/without_hd)
run(${CMAKE_COMMAND} --install ${build} --prefix ${work}/prefix)
# As plain C++, and with CUDA if this build has it.
set(common -G Ninja -D CMAKE_PREFIX_PATH=${work}/prefix -D CMAKE_CXX_COMPILER=${compiler} "-DCMAKE_CXX_FLAGS=${flags}")
run(${CMAKE_COMMAND} -S ${source}/project -B ${work}/project ${common})
run(${CMAKE_COMMAND} --build ${work}/project --parallel 2)
run(${work}/project/greet)
run(${work}/project/hostile)
message("${output}")
# Without the packages that components need, those components are not found, but the package is.
foreach(missing CMAKE_DISABLE_FIND_PACKAGE_CLI11=ON CMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON PKG_CONFIG_EXECUTABLE=/nonexistent)
  run(${CMAKE_COMMAND} --fresh -S ${source}/project -B ${work}/without_project ${common} -D ${missing})
endforeach()
# Whoever requires a component that is missing is told which, and why.
function(says_why component why)
  execute_process(COMMAND ${CMAKE_COMMAND} --fresh -S ${source}/missing -B ${work}/missing ${common} -D component=${component} ${ARGN}
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")  # CMake breaks lines
  if(status EQUAL 0 OR NOT output MATCHES "component ${component}: ${why}" OR output MATCHES "component streams")
    message(FATAL_ERROR "the missing component ${component} was to be refused because '${why}'; it ended with ${status}:\n${output}")
  endif()
endfunction()
says_why(nonsense "there is none of this name; there are streams, stream_processes")
says_why(client "(it needs|this installation was built without it).*OpenSSL" -D CMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON)
says_why(commands "(it needs|this installation was built without it).*CLI11" -D CMAKE_DISABLE_FIND_PACKAGE_CLI11=ON)
says_why(media "(it needs|this installation was built without it).*FFmpeg" -D PKG_CONFIG_EXECUTABLE=/nonexistent)
says_why(nats "(it needs|this installation was built without it).*libnats" -D PKG_CONFIG_EXECUTABLE=/nonexistent)
if(cuda_compiler)
  run(${CMAKE_COMMAND} -S ${source}/project -B ${work}/cuda_project ${common} -D with_cuda=ON
      -D CMAKE_CUDA_COMPILER=${cuda_compiler} -D CMAKE_CUDA_ARCHITECTURES=90)
  run(${CMAKE_COMMAND} --build ${work}/cuda_project --target greet)
  run(${work}/cuda_project/greet)
  # A handler without RONDO_HD has no code for the GPU: an error names it, though the installed headers are system headers.
  file(COPY ${source}/project/ DESTINATION ${work}/without_hd)
  file(READ ${source}/project/greetings.hpp header)
  string(REPLACE "RONDO_HD " "" header "${header}")
  file(WRITE ${work}/without_hd/greetings.hpp "${header}")
  run(${CMAKE_COMMAND} -S ${work}/without_hd -B ${work}/without_hd/build ${common} -D with_cuda=ON
      -D CMAKE_CUDA_COMPILER=${cuda_compiler} -D CMAKE_CUDA_ARCHITECTURES=90)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${work}/without_hd/build --target greetings
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(status EQUAL 0 OR NOT output MATCHES "error: calling a __host__ function\\(\"greeter::on.*a_handler_needs_RONDO_HD")
    message(FATAL_ERROR "a handler without RONDO_HD was to be refused by name; the build ended with ${status}:\n${output}")
  endif()
endif()
run(${work}/project/clicks)
if(NOT output STREQUAL "42 clicks\n")
  message(FATAL_ERROR "the consumer printed '${output}' instead of '42 clicks'")
endif()
if(EXISTS ${work}/prefix/bin/rondo)  # if the command is installed, everything that services need must be installed too
  run(${work}/prefix/bin/rondo-serve --version)
  # A client needs no command line.
  run(${CMAKE_COMMAND} --fresh -S ${source}/missing -B ${work}/missing ${common} -D component=client -D CMAKE_DISABLE_FIND_PACKAGE_CLI11=ON)
  run(${source}/serve.sh ${work}/project/greet_service)
  if(NOT output MATCHES "\"number\": ?42")
    message(FATAL_ERROR "the consumer's service answered '${output}' instead of 42")
  endif()
endif()
