# wrong.cpp compiles; with each of its mistakes the compiler refuses it with the sentence given here.
function(compile mistake)
  separate_arguments(options UNIX_COMMAND "${flags}")
  execute_process(
    COMMAND ${compiler} -std=c++20 ${options} -I${root} -DRONDO_WRONG=${mistake} -fsyntax-only
            ${root}/tests/actors/wrong_programs/wrong.cpp
    RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(status "${status}" PARENT_SCOPE)
  set(text "${text}" PARENT_SCOPE)
endfunction()

compile(0)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the program without a mistake does not compile (${status}):\n${text}")
endif()

function(refuses mistake sentence)
  compile(${mistake})
  string(FIND "${text}" "${sentence}" at)
  if(status EQUAL 0)
    message(SEND_ERROR "mistake ${mistake} was compiled; expected: ${sentence}")
  elseif(at EQUAL -1)
    message(SEND_ERROR "mistake ${mistake} was refused (${status}), but without '${sentence}':\n${text}")
  endif()
endfunction()

refuses(1 "a message holds at most 96 bytes; put larger data in a buffer")
refuses(2 "a behaviour lists a message that it has no handler for: on(context&, Message const&)")
refuses(3 "takes<Behaviour, Message>")
refuses(4 "a handler returns nothing, or the reply that rondo::ask<Message, Reply> declares for its message")
refuses(5 "a message must be a struct")
