# rondo_warnings(target): the warnings every target of the project is built with.
function(rondo_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${RONDO_WERROR}>>:-Werror>
    # In a unity build g++ treats each source as a header, and names in one source shadow those in another. The preset dev,
    # which compiles each source separately, keeps these two warnings.
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wno-subobject-linkage;-Wno-shadow>)
endfunction()
