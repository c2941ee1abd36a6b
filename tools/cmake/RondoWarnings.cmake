# rondo_warnings(target): the warnings every target of the project is built with. They are g++'s: clang means other things by the same
# names, and compiles only what g++ has compiled, too (presets asan and tsan, tools/nightly portable).
function(rondo_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor>
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:${RONDO_WERROR}>>:-Werror>
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-w>
    # In a unity build g++ treats each source as a header, and names in one source shadow those in another. The preset dev,
    # which compiles each source separately, keeps these two warnings.
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wno-subobject-linkage;-Wno-shadow>)
endfunction()
