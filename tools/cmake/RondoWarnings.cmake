# rondo_warnings(target): the warnings every target of the project is built with.
function(rondo_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${RONDO_WERROR}>>:-Werror>)
endfunction()
