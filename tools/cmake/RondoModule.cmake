# CMake before 3.26 does not know nvcc's option for C++20.
foreach(kind STANDARD EXTENSION)
  if(NOT DEFINED CMAKE_CUDA20_${kind}_COMPILE_OPTION)
    set(CMAKE_CUDA20_${kind}_COMPILE_OPTION "-std=c++20")
  endif()
endforeach()

# rondo_add_module(target sources... [SCHEMAS schema.fbs...] [WITHOUT_CUDA]): a library with a module of actors.
#
# `target` links rondo::runtime. With SCHEMAS, message headers are generated for it. One source may be a .cu file with
# RONDO_CUDA_MODULE(name) (runtime/device/cuda/cuda_module.hpp), so that the module also runs on the device cuda. Without a
# CUDA compiler, or with WITHOUT_CUDA, that file is compiled as C++, for the other devices.
#
# It is compiled for CMAKE_CUDA_ARCHITECTURES, as CMake does: `native` is the GPU of this machine, and an error where there is none;
# `90` is a generation by its number. If a project sets nothing, CMake chooses the oldest one that nvcc supports.
function(rondo_add_module target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "WITHOUT_CUDA" "" "SCHEMAS")
  if(NOT arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "rondo_add_module(${target}): no sources given")
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
  if(CUDA IN_LIST languages AND NOT arg_WITHOUT_CUDA)
    # A reference to this symbol makes the linker take the module out of the library.
    string(MAKE_C_IDENTIFIER ${target} name)
    target_compile_definitions(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:RONDO_MODULE_TARGET=${name}>)
    target_link_options(${target} INTERFACE LINKER:--undefined=rondo_cuda_module_${name})
    target_link_libraries(${target} PUBLIC CUDA::cudart_static)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda>)  # for stream::for_each
    set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY None)  # linked above by its target, which knows where it is
  else()
    set_source_files_properties(${cuda_sources} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-xc++")
  endif()
endfunction()
