# The programs of the pages in docs/. Each ends with status 1 if a claim of its page is false. The pages hold parts of them as they stand.
set(actors_programs actors/asks.cpp actors/batches.cpp actors/behaviours.cpp actors/between.cpp actors/buffers.cpp actors/channel.cpp
  actors/checkpoints.cpp actors/children.cpp actors/deadlines.cpp actors/devices.cpp actors/failures.cpp actors/lanes.cpp
  actors/lifecycle.cpp actors/limits.cpp actors/logging.cpp actors/mutual.cpp actors/numbers.cpp actors/options.cpp actors/own_mail.cpp
  actors/portable.cpp actors/priorities.cpp actors/refs.cpp actors/room.cpp actors/routing.cpp actors/states.cpp actors/threads.cpp actors/timers.cpp
  actors/wide.cpp)
set(memory_programs memory/captured.cpp memory/sharing.cpp memory/unified.cpp)
