# Portable kernels (kernels/portable/kernel.hpp), compiled for players.
#
#   rondo_add_kernels(TARGET SOURCE.clcpp HEADER VARIABLE)
#
# TARGET is a library with the kernels of SOURCE in each form that a player of this system takes: for OpenCL as LLVM bitcode and, where
# llvm-spirv is, as SPIR-V; for Metal as one text, which includes nothing. HEADER declares VARIABLE, the kernel_program, which is named with its
# namespace. Both are paths from the project's root, which is searched for headers, too. clang does not optimise: the driver does, for the
# processor or GPU that it has.
#
# Needs clang and, but for macOS, OpenCL's headers (Debian: clang, ocl-icd-opencl-dev). Without them rondo_no_player says what is missing.
find_program(RONDO_CLANG clang DOC "clang, for kernels in C++ for OpenCL and in Metal's language")
find_path(RONDO_OPENCL_INCLUDE CL/cl.h DOC "The folder of OpenCL's headers")
set(rondo_no_player "")
if(NOT RONDO_CLANG)
  set(rondo_no_player "there is no clang; tools/deps build test installs it")
elseif(NOT RONDO_OPENCL_INCLUDE AND NOT APPLE)
  set(rondo_no_player "there are no headers of OpenCL; tools/deps build test installs them")
else()
  # It reads the bitcode of clang's own version.
  execute_process(COMMAND ${RONDO_CLANG} -dumpversion OUTPUT_VARIABLE rondo_clang_version)
  string(REGEX MATCH "^[0-9]+" rondo_clang_version "${rondo_clang_version}")
  find_program(RONDO_LLVM_SPIRV NAMES llvm-spirv-${rondo_clang_version} llvm-spirv DOC "Makes SPIR-V of clang's bitcode")
endif()

# The bytes of FILE between the symbols NAME_begin and NAME_end, in the source's `parts`. A text ends with a zero.
function(rondo_embed name file before)
  set(parts "${parts}
asm(\".section \" RONDO_SECTION \"\\n.balign 16\\n${name}_begin:\\n${before}.incbin \\\"${file}\\\"\\n${name}_end:\\n.byte 0\\n.previous\");
extern \"C\" unsigned char const ${name}_begin[] asm(\"${name}_begin\"), ${name}_end[] asm(\"${name}_end\");
" PARENT_SCOPE)
endfunction()

function(rondo_add_kernels target source header variable)
  set(base ${CMAKE_CURRENT_BINARY_DIR}/${target})
  set(from ${PROJECT_SOURCE_DIR}/${source})
  set(forms ${base}.metal)
  set(spir "")
  set(spirv "")
  set(parts "")
  set(headers $<TARGET_PROPERTY:rondo::kernels,INTERFACE_INCLUDE_DIRECTORIES>)
  # Without the compiler's and the system's own macros and headers: what the text needs is in it.
  add_custom_command(
    OUTPUT ${base}.metal
    COMMAND ${RONDO_CLANG} -E -P -x c++ -std=c++14 -undef -nostdinc -D__METAL_VERSION__=300 -I ${PROJECT_SOURCE_DIR} "-I$<JOIN:${headers},;-I>"
            -MD -MF ${base}.metal.d -MT ${base}.metal ${from} -o ${base}.metal
    DEPENDS ${from}
    DEPFILE ${base}.metal.d
    COMMAND_EXPAND_LISTS
    COMMENT "Kernels of ${source} for Metal"
    VERBATIM)
  rondo_embed(${target}_metal ${base}.metal ".ascii \\\"#include <metal_stdlib>\\\\nusing namespace metal;\\\\n\\\"\\n")
  if(NOT APPLE)
    add_custom_command(
      OUTPUT ${base}.bc
      COMMAND ${RONDO_CLANG} -x clcpp -cl-std=clc++2021 -target spir64-unknown-unknown -emit-llvm -c -O3 -Xclang -disable-llvm-passes
              -Xclang -finclude-default-header -Wall -Wextra -Werror -I ${PROJECT_SOURCE_DIR} "-I$<JOIN:${headers},;-I>" -MD -MF ${base}.bc.d -MT ${base}.bc
              ${from} -o ${base}.bc
      DEPENDS ${from}
      DEPFILE ${base}.bc.d
      COMMAND_EXPAND_LISTS
      COMMENT "Kernels of ${source}"
      VERBATIM)
    list(APPEND forms ${base}.bc)
    rondo_embed(${target}_spir ${base}.bc "")
    set(spir "${target}_spir_begin, ${target}_spir_end")
    if(RONDO_LLVM_SPIRV)
      add_custom_command(
        OUTPUT ${base}.spv
        COMMAND ${RONDO_LLVM_SPIRV} --spirv-max-version=1.0 ${base}.bc -o ${base}.spv
        DEPENDS ${base}.bc
        COMMENT "Kernels of ${source} in SPIR-V"
        VERBATIM)
      list(APPEND forms ${base}.spv)
      rondo_embed(${target}_spirv ${base}.spv "")
      set(spirv "${target}_spirv_begin, ${target}_spirv_end")
    endif()
  endif()
  file(CONFIGURE OUTPUT ${base}.cpp @ONLY CONTENT [[
#include "@header@"

#if defined(__APPLE__)
#define RONDO_SECTION "__TEXT,__const"
#else
#define RONDO_SECTION ".rodata"
#endif
@parts@
rondo::kernel_program const @variable@{"@variable@", {@spir@}, {@spirv@}, reinterpret_cast<char const*>(@target@_metal_begin)};
]])
  # Alone: what a source depends on is not known of a unity build.
  set_source_files_properties(${base}.cpp PROPERTIES OBJECT_DEPENDS "${forms}" SKIP_UNITY_BUILD_INCLUSION ON)
  add_library(${target} STATIC ${base}.cpp)
  target_link_libraries(${target} PUBLIC rondo::kernels)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  if(COMMAND rondo_warnings)  # of this repository
    rondo_warnings(${target})
  endif()
endfunction()
