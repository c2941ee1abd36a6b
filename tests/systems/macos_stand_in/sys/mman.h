// In place of macOS's header: glibc's, without what Linux has.
#pragma once

#include_next <sys/mman.h>

#undef MADV_HUGEPAGE
#define memfd_create not_on_macos
#define mremap not_on_macos
