// In place of macOS's header: glibc's, with macOS's way to name a thread, and without affinity and clocks of threads.
#pragma once

#include_next <pthread.h>

#undef pthread_setname_np
#define pthread_setname_np macos_pthread_setname_np
#define pthread_setaffinity_np not_on_macos
#define pthread_getcpuclockid not_on_macos

extern "C" {
int pthread_setname_np(char const*);
int pthread_cond_timedwait_relative_np(pthread_cond_t*, pthread_mutex_t*, timespec const*);
}
