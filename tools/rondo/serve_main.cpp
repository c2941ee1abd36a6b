// The program rondo-serve: the commands that need neither FFmpeg nor the hundred libraries that come with it.
#include "tools/rondo/command.hpp"

int main(int argc, char** argv) { return rondo::tools::run_command(argc, argv); }
