// The language of portable code: what compiles with g++, nvcc, clang's C++ for OpenCL, and Metal's compiler, from one
// source.
//
// Plain functions over pointers, C++14, without exceptions, references into buffers, double, 64-bit atomics, and
// headers of the system. Each pointer and each reference names the address space that it leads to: RONDO_BUFFER, or
// RONDO_PRIVATE for a work-item's own variables.
#pragma once

// What a GPU without a ring kernel runs, as its compiler sees it: there is no standard library.
#if defined(__OPENCL_CPP_VERSION__) || defined(__METAL_VERSION__)
#define RONDO_ON_PLAYER
#endif

#if !defined(__METAL_VERSION__)
#define RONDO_RESTRICT __restrict
#else
#define RONDO_RESTRICT
#endif

#if defined(__OPENCL_CPP_VERSION__)
#define RONDO_BUFFER __global
#define RONDO_PRIVATE __private
// Inlined, so that what is known where it is called is known within: the step of a loop, say.
#define RONDO_PORTABLE inline __attribute__((always_inline))
#elif defined(__METAL_VERSION__)
#define RONDO_BUFFER device
#define RONDO_PRIVATE thread
#define RONDO_PORTABLE inline
#elif defined(__CUDACC__)
#define RONDO_BUFFER
#define RONDO_PRIVATE
#define RONDO_PORTABLE __host__ __device__ __forceinline__
#else
#define RONDO_BUFFER
#define RONDO_PRIVATE
// Inlined into the functions that are compiled for several instruction sets (actors/video/pixels/rows.cpp).
#define RONDO_PORTABLE inline __attribute__((always_inline))
#endif
