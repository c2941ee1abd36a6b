# wrong.cpp compiles; with each of its mistakes the compiler refuses it, and the first line that is an error has the sentence given
# here.
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
  string(REGEX MATCH "[^\n]*error: [^\n]*" first "${text}")
  string(FIND "${first}" "${sentence}" at)
  if(status EQUAL 0)
    message(SEND_ERROR "mistake ${mistake} was compiled; expected: ${sentence}")
  elseif(at EQUAL -1)
    message(SEND_ERROR "mistake ${mistake} was refused (${status}), but its first error is not '${sentence}':\n${text}")
  endif()
endfunction()

refuses(1 "a message holds at most 96 bytes; put larger data in a buffer")
refuses(2 "a behaviour lists a message that it has no handler for: on(context&, Message const&)")
refuses(3 "the actor does not take this message: add it to the `messages` of its behaviour")
refuses(4 "a handler returns nothing, or the reply that rondo::ask<Message, Reply> declares for its message")
refuses(5 "a message must be a struct")
refuses(6 "this message has no reply: declare it as rondo::ask<Message, Reply>, or send it with tell")
refuses(7 "the actor does not take this message: add it to the `messages` of its behaviour")
refuses(8 "a message holds at most 96 bytes; put larger data in a buffer")
refuses(9 "a message or behaviour in an unnamed namespace needs a declared name")
