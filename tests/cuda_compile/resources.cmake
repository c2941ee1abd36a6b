# cmake -D NVCC=... -D SOURCE_DIR=... -D MODULE=file.cu [-D INCLUDES=dir] -D BUDGET=... -P resources.cmake: compiles the ring
# kernel of a module as in a release, and compares its use of a multiprocessor with a budget file: lines of "name most".
get_filename_component(name ${BUDGET} NAME_WE)
execute_process(
  COMMAND ${NVCC} -std=c++20 -ccbin g++ -arch=sm_90 -I ${SOURCE_DIR} -isystem "${INCLUDES}" -DRONDO_MODULE_TARGET=x
          -Werror all-warnings -Xptxas -v -cubin ${MODULE} -o ${name}.cubin
  ERROR_VARIABLE report COMMAND_ERROR_IS_FATAL ANY)
message("${report}")

# largest(NAME REGEX): sets NAME to the largest number that REGEX captures.
function(largest name regex)
  string(REGEX MATCHALL "${regex}" matches "${report}")
  if(NOT matches)
    message(FATAL_ERROR "nvcc's report names no ${name}; it is above")
  endif()
  set(most 0)
  foreach(match IN LISTS matches)
    string(REGEX MATCH "[0-9]+" number "${match}")
    if(number GREATER most)
      set(most ${number})
    endif()
  endforeach()
  set(${name} ${most} PARENT_SCOPE)
endfunction()
largest(registers "Used [0-9]+ registers")
largest(stack_bytes "[0-9]+ bytes cumulative stack size")
largest(spill_store_bytes "[0-9]+ bytes spill stores")
largest(spill_load_bytes "[0-9]+ bytes spill loads")

file(STRINGS ${BUDGET} lines REGEX "^[a-z]")
foreach(line IN LISTS lines)
  if(NOT line MATCHES "^([a-z_]+) +([0-9]+)$")
    message(FATAL_ERROR "${BUDGET}: '${line}' is not a name and a number")
  endif()
  set(name ${CMAKE_MATCH_1})
  set(most ${CMAKE_MATCH_2})
  message("${name}: ${${name}} of ${most}")
  if(${name} GREATER most)
    message(FATAL_ERROR "the ring kernel takes ${${name}} ${name}, more than the ${most} of ${BUDGET}: find out why first")
  endif()
endforeach()
