// The only translation unit with Catch2's main; version 3 has its own. And what the leak checker must know of forked
// children (tests/forked.hpp).
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#else
#include <catch2/catch_session.hpp>
int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
#endif

#if defined(__SANITIZE_ADDRESS__)
#include <unistd.h>
namespace {
pid_t const parent = ::getpid();
}
/// They end with what only the parent's threads refer to.
extern "C" int __lsan_is_turned_off() { return ::getpid() != parent; }
#endif
