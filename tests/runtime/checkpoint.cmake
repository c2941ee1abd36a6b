# test_checkpoint, and the program that its kill test kills; included by the CMakeLists.txt in this folder.
add_library(rondo_checkpoint_module STATIC checkpoint_module.cpp)
target_link_libraries(rondo_checkpoint_module PUBLIC rondo_runtime)
target_include_directories(rondo_checkpoint_module PUBLIC ${PROJECT_SOURCE_DIR})
rondo_warnings(rondo_checkpoint_module)

add_executable(checkpoint_victim checkpoint_victim.cpp)
target_link_libraries(checkpoint_victim PRIVATE -Wl,--no-as-needed rondo_dies_at_limit rondo_checkpoint_module)
rondo_warnings(checkpoint_victim)

add_executable(test_checkpoint
  checkpoint_apart_test.cpp
  checkpoint_kill_test.cpp
  checkpoint_notes_test.cpp
  checkpoint_population_test.cpp
  checkpoint_refusal_test.cpp
  checkpoint_test.cpp
  durable_file_test.cpp)
target_link_libraries(test_checkpoint PRIVATE rondo_checkpoint_module rondo_test_main)
target_compile_definitions(test_checkpoint PRIVATE RONDO_CHECKPOINT_VICTIM="$<TARGET_FILE:checkpoint_victim>")
add_dependencies(test_checkpoint checkpoint_victim)
rondo_warnings(test_checkpoint)
add_test(NAME checkpoint COMMAND test_checkpoint)
