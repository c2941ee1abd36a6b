# rondo_add_messages(target schema.fbs...): plain C++ headers for the structs of FlatBuffers schemas.
#
# Creates the INTERFACE library `target`. Code that links it can include "generated/<stem>_messages.hpp", and
# "generated/<stem>_schema.hpp", which holds the binary schema to describe these messages to others. A schema that another
# one includes must be listed in the same call. Works in this project's build, where rondo::schemac is built, and with an
# installed package, where it is imported.

# rondo_link_flatbuffers(target [PUBLIC]): links FlatBuffers' library under the name that this system gives it. PUBLIC: for
# a library whose headers include it.
function(rondo_link_flatbuffers target)
  set(visibility PRIVATE)
  if("PUBLIC" IN_LIST ARGN)
    set(visibility PUBLIC)
  endif()
  foreach(library flatbuffers::flatbuffers flatbuffers::flatbuffers_shared)
    if(TARGET ${library})
      target_link_libraries(${target} ${visibility} ${library})
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "FlatBuffers was found but has no library target: install its development package "
    "(Debian: libflatbuffers-dev and flatbuffers-compiler-dev)")
endfunction()

# Sets `variable` to the flatc command: the package's target, or the program on the path.
function(rondo_find_flatc variable)
  if(TARGET flatbuffers::flatc)
    set(${variable} $<TARGET_FILE:flatbuffers::flatc> PARENT_SCOPE)
    return()
  endif()
  find_program(RONDO_FLATC flatc DOC "FlatBuffers' schema compiler")
  if(NOT RONDO_FLATC)
    message(FATAL_ERROR "flatc was not found: install it (Debian: flatbuffers-compiler) or set RONDO_FLATC")
  endif()
  set(${variable} ${RONDO_FLATC} PARENT_SCOPE)
endfunction()

function(rondo_add_messages target)
  if(NOT ARGN)
    message(FATAL_ERROR "rondo_add_messages(${target}): no schemas given")
  endif()
  if(NOT TARGET rondo::schemac)
    message(FATAL_ERROR "rondo_add_messages(${target}): the target rondo::schemac does not exist; "
      "call find_package(rondo) or add tools/schemac first")
  endif()
  rondo_find_flatc(flatc)

  set(root ${CMAKE_CURRENT_BINARY_DIR}/${target}.messages)
  set(binary_dir ${root}/bfbs)
  set(header_dir ${root}/include/generated)
  file(MAKE_DIRECTORY ${binary_dir} ${header_dir})

  set(schemas)
  foreach(schema IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH schema)
    list(APPEND schemas ${schema})
  endforeach()

  set(headers)
  foreach(schema IN LISTS schemas)
    cmake_path(GET schema STEM stem)
    set(binary ${binary_dir}/${stem}.bfbs)
    set(header ${header_dir}/${stem}_messages.hpp)
    set(embedded ${header_dir}/${stem}_schema.hpp)
    add_custom_command(
      OUTPUT ${header}
      BYPRODUCTS ${binary} ${embedded}
      COMMAND ${flatc} --binary --schema --bfbs-comments -o ${binary_dir} ${schema}
      COMMAND rondo::schemac --schema ${binary} --output ${header} --embed ${embedded}
      DEPENDS ${schemas} rondo::schemac
      COMMENT "Messages of ${stem}.fbs"
      VERBATIM)
    list(APPEND headers ${header})
  endforeach()

  add_custom_target(${target}_headers DEPENDS ${headers})
  add_library(${target} INTERFACE)
  add_dependencies(${target} ${target}_headers)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${root}/include>)
  target_link_libraries(${target} INTERFACE rondo::kernels)
endfunction()
