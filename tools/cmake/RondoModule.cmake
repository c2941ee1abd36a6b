# CMake before 3.26 does not know how CUDA's compiler is told to take C++20.
foreach(kind STANDARD EXTENSION)
  if(NOT DEFINED CMAKE_CUDA20_${kind}_COMPILE_OPTION)
    set(CMAKE_CUDA20_${kind}_COMPILE_OPTION "-std=c++20")
  endif()
endforeach()

# rondo_add_module(target sources... [SCHEMAS schema.fbs...]): a library with a module of actors.
#
# `target` links rondo::runtime; with SCHEMAS their messages are generated for it. One source may end in .cu and hold
# RONDO_CUDA_MODULE(name) (runtime/device/cuda/cuda_module.hpp): it makes the module run on the device cuda, too. Without a
# CUDA compiler it is compiled as C++ for the other devices, from the same text.
function(rondo_add_module target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SCHEMAS")
  if(NOT arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "rondo_add_module(${target}): names no source")
  endif()
  add_library(${target} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${target} PUBLIC rondo::runtime)
  target_compile_features(${target} PUBLIC cxx_std_20)
  if(arg_SCHEMAS)
    rondo_add_messages(${target}_messages ${arg_SCHEMAS})
    target_link_libraries(${target} PUBLIC ${target}_messages)
  endif()
  set(cuda_sources ${arg_UNPARSED_ARGUMENTS})
  list(FILTER cuda_sources INCLUDE REGEX "\\.cu$")
  if(NOT cuda_sources)
    return()
  endif()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(CUDA IN_LIST languages)
    # The name of the symbol by which the linker is made to take the module out of the library.
    string(MAKE_C_IDENTIFIER ${target} name)
    target_compile_definitions(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:RONDO_MODULE_TARGET=${name}>)
    target_link_options(${target} INTERFACE LINKER:--undefined=rondo_cuda_module_${name})
    target_link_libraries(${target} PUBLIC CUDA::cudart_static)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda>)  # for stream::for_each
    set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY None)  # by its target, which says where it is
  else()
    set_source_files_properties(${cuda_sources} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-xc++")
  endif()
endfunction()
