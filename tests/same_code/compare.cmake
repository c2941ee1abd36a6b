# Compares the disassembly of two object files: -DOBJDUMP=... -DONE=... -DOTHER=...
foreach(side ONE OTHER)
  execute_process(COMMAND ${OBJDUMP} -dr --no-show-raw-insn --section=.text ${${side}}
    OUTPUT_VARIABLE ${side}_code COMMAND_ERROR_IS_FATAL ANY)
  string(FIND "${${side}_code}" "Disassembly" start) # after the file's name
  string(SUBSTRING "${${side}_code}" ${start} -1 ${side}_code)
endforeach()
string(LENGTH "${ONE_code}" length)
if(length LESS 2000)
  message(FATAL_ERROR "there is too little code to compare: ${length} characters of disassembly in ${ONE}")
endif()
if(NOT ONE_code STREQUAL OTHER_code)
  message(FATAL_ERROR "kernels/base/atomic.hpp compiles to other instructions than the compiler's builtins: "
    "compare ${OBJDUMP} -d ${ONE} with ${OTHER}")
endif()
string(REGEX MATCHALL "\n +[0-9a-f]+:\t" lines "${ONE_code}")
list(LENGTH lines instructions)
message(STATUS "the same ${instructions} instructions")
