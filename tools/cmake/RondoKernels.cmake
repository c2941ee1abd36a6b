# Portable kernels (kernels/portable/kernel.hpp), compiled for players.
#
#   rondo_add_kernels(TARGET SOURCE.clcpp HEADER VARIABLE)
#
# TARGET is a library with the kernels of SOURCE as LLVM bitcode, which a driver of OpenCL compiles for its device. HEADER, within the
# repository, declares VARIABLE, the kernel_program, which is named with its namespace. clang does not optimise: the driver does, for the processor or GPU that it has.
#
# Needs clang and OpenCL's headers (Debian: clang, ocl-icd-opencl-dev). Without them rondo_no_player says what is missing.
find_program(RONDO_CLANG clang DOC "clang, for kernels in C++ for OpenCL")
find_path(RONDO_OPENCL_INCLUDE CL/cl.h DOC "The folder of OpenCL's headers")
set(rondo_no_player "")
if(NOT RONDO_CLANG)
  set(rondo_no_player "there is no clang; tools/deps build test installs it")
elseif(NOT RONDO_OPENCL_INCLUDE)
  set(rondo_no_player "there are no headers of OpenCL; tools/deps build test installs them")
endif()

function(rondo_add_kernels target source header variable)
  set(bitcode ${CMAKE_CURRENT_BINARY_DIR}/${target}.bc)
  set(embedded ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
  add_custom_command(
    OUTPUT ${bitcode}
    COMMAND ${RONDO_CLANG} -x clcpp -cl-std=clc++2021 -target spir64-unknown-unknown -emit-llvm -c -O3 -Xclang -disable-llvm-passes
            -Xclang -finclude-default-header -Wall -Wextra -Werror -I ${PROJECT_SOURCE_DIR} -MD -MF ${bitcode}.d -MT ${bitcode}
            ${PROJECT_SOURCE_DIR}/${source} -o ${bitcode}
    DEPENDS ${PROJECT_SOURCE_DIR}/${source}
    DEPFILE ${bitcode}.d
    COMMENT "Kernels of ${source}"
    VERBATIM)
  file(CONFIGURE OUTPUT ${embedded} @ONLY CONTENT [[
#include "@header@"

asm(".section .rodata\n.balign 16\n@target@_begin:\n.incbin \"@bitcode@\"\n@target@_end:\n.previous");
extern "C" unsigned char const @target@_begin[], @target@_end[];

rondo::kernel_program const @variable@{"@variable@", {@target@_begin, @target@_end}};
]])
  # Alone: what a source depends on is not known of a unity build.
  set_source_files_properties(${embedded} PROPERTIES OBJECT_DEPENDS ${bitcode} SKIP_UNITY_BUILD_INCLUSION ON)
  add_library(${target} STATIC ${embedded})
  target_link_libraries(${target} PUBLIC rondo_kernels)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  rondo_warnings(${target})
endfunction()
