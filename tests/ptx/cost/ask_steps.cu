// The module of bench/gpu/ask_steps.cu, to be executed in virtual time.
#include "bench/gpu/ask_steps.cu"
