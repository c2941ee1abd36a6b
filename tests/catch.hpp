// Includes Catch2 version 2 (Debian 12) or version 3, whose headers have different names.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
