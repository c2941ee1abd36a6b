// What rondo_add_kernels defines.
#pragma once

#include "runtime/player/kernel_program.hpp"

extern rondo::kernel_program const account_kernels;
