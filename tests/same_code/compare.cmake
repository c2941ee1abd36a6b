# Compares the disassembly of two object files: -DOBJDUMP=... -DONE=... -DOTHER=...
# Their atomic instructions must be the same, in the same order, and ONE may not have more instructions than OTHER but for a
# hundredth: which register the compiler takes differs, and sometimes makes a copy.
foreach(side ONE OTHER)
  execute_process(COMMAND ${OBJDUMP} -d --no-show-raw-insn --no-addresses --section=.text ${${side}}
    OUTPUT_VARIABLE code COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "\n\t[^\n]*" lines "${code}")
  list(FILTER lines EXCLUDE REGEX "nop|xchg +%ax,%ax")  # fill gaps
  list(LENGTH lines ${side}_count)
  set(${side}_atomics "")
  foreach(line IN LISTS lines)
    if(line MATCHES "\n\t(lock [a-z]+|xchg|mfence|lfence|sfence)")
      list(APPEND ${side}_atomics "${CMAKE_MATCH_1}")
    endif()
  endforeach()
endforeach()
if(ONE_count LESS 500 OR NOT ONE_atomics)
  message(FATAL_ERROR "there is too little code to compare: ${ONE_count} instructions in ${ONE}")
endif()
set(hint "compare ${OBJDUMP} -d ${ONE} with ${OTHER}")
if(NOT ONE_atomics STREQUAL OTHER_atomics)
  message(FATAL_ERROR "kernels/base/atomic.hpp compiles to other atomic instructions than the compiler's builtins: ${hint}")
endif()
math(EXPR most "${OTHER_count} + ${OTHER_count} / 100")
if(ONE_count GREATER most)
  message(FATAL_ERROR "kernels/base/atomic.hpp costs instructions: ${ONE_count}, and ${OTHER_count} without it: ${hint}")
endif()
list(LENGTH ONE_atomics atomics)
message(STATUS "${ONE_count} instructions, and ${OTHER_count} with the builtins; the same ${atomics} atomic ones")
