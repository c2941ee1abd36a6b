# cmake -D NVCC=... -D SOURCE_DIR=... -D EXPECTED=... -P hot_path.cmake: compiles hot_path.cu to PTX, and compares the ordered
# memory accesses of each kernel with those in EXPECTED.
execute_process(
  COMMAND ${NVCC} -std=c++20 -ccbin g++ -arch=sm_90 -I ${SOURCE_DIR} -Werror all-warnings -ptx
          ${SOURCE_DIR}/tests/cuda_compile/hot_path.cu -o hot_path.ptx
  COMMAND_ERROR_IS_FATAL ANY)

# PTX contains many semicolons and brackets, which CMake would interpret as list syntax.
file(STRINGS hot_path.ptx lines REGEX "\\.entry|\\.func|local|(ld|st|atom|red|fence|membar)[.][a-z_.]+")
set(kernel "")
set(found "")
foreach(line IN LISTS lines)
  if(line MATCHES "\\.entry ([a-z_]+)")
    set(kernel ${CMAKE_MATCH_1})
    set(kernels ${kernels} ${kernel})
  elseif(line MATCHES "\\.func")
    set(kernel functions)  # which they call on rare paths
  elseif(line MATCHES "\\.local")
    message(FATAL_ERROR "hot_path.cu: ${kernel} uses local memory, which every message would pay for: ${line}")
  elseif(line MATCHES "((ld|st|atom|red|fence|membar)[.a-z_0-9]*[.](gpu|sys|cta)[.a-z_0-9]*)")
    list(APPEND accesses_of_${kernel} ${CMAKE_MATCH_1})
  endif()
endforeach()
foreach(kernel IN LISTS kernels)
  list(REMOVE_DUPLICATES accesses_of_${kernel})
  list(SORT accesses_of_${kernel})
  string(APPEND found "${kernel}\n")
  foreach(access IN LISTS accesses_of_${kernel})
    string(APPEND found "  ${access}\n")
  endforeach()
endforeach()

file(STRINGS ${EXPECTED} wanted_lines REGEX "^[^#]")
list(JOIN wanted_lines "\n" wanted)
string(APPEND wanted "\n")
if(NOT found STREQUAL wanted)
  message(FATAL_ERROR "The PTX of the hot path has other accesses than ${EXPECTED} lists. Found:\n${found}")
endif()
