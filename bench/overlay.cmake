# The overlay's stages without actors: the reference for `rondo overlay --no-output`. Included by bench/CMakeLists.txt;
# needs rondo_video of tools/rondo.
if(TARGET rondo_video)
  add_executable(overlay_loop ${CMAKE_CURRENT_LIST_DIR}/overlay_loop.cpp)
  target_link_libraries(overlay_loop PRIVATE rondo_video Threads::Threads fmt::fmt CLI11::CLI11)
  rondo_warnings(overlay_loop)
endif()
