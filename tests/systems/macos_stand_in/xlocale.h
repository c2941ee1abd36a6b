// In place of macOS's header, to check the syntax for that system: what libc++ takes from it, added to glibc's.
#pragma once

#include <ctype.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#undef isdigit_l
#undef isxdigit_l

extern "C" {
int sscanf_l(char const*, locale_t, char const*, ...);
int snprintf_l(char*, size_t, locale_t, char const*, ...);
int asprintf_l(char**, locale_t, char const*, ...);
}
