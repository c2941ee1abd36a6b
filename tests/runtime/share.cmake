# test_share, and the program that its kill test kills; included by the CMakeLists.txt in this folder.
add_executable(share_victim share_victim.cpp)
target_link_libraries(share_victim PRIVATE rondo_runtime)
target_include_directories(share_victim PRIVATE ${PROJECT_SOURCE_DIR})
rondo_warnings(share_victim)

add_executable(test_share
  shared_adopt_test.cpp
  shared_announcement_test.cpp
  shared_buffer_test.cpp
  shared_device_test.cpp
  shared_holding_test.cpp
  shared_hostile_test.cpp
  shared_kill_test.cpp
  shared_model_test.cpp
  shared_refusal_test.cpp)
target_link_libraries(test_share PRIVATE rondo_runtime rondo_test_main)
target_compile_definitions(test_share PRIVATE RONDO_SHARE_VICTIM="$<TARGET_FILE:share_victim>")
add_dependencies(test_share share_victim)
rondo_warnings(test_share)
add_test(NAME share COMMAND test_share)
