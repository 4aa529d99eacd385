// Replaces CUDA C++ for the host's compiler: threads of a block run one after the other, or at the same time where they
// exchange numbers. Blocks run one after the other, so that shared memory can be static.
#pragma once
#include <cmath>
#include <cstring>

#define __CUDACC__ 1
#define __CUDA_ARCH__ 750  // without copies beside the work
#define __device__
#define __forceinline__ inline
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))

struct uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct Dim { unsigned x, y, z; };
extern thread_local Dim threadIdx;
extern Dim blockIdx, gridDim;

// The value of lane `i ^ mask`; all threads of a block call it.
double exchange(double v, int mask);
template <class T> T __shfl_xor_sync(unsigned, T v, int mask) { return (T)exchange((double)v, mask); }

template <class T> T __ldg(const T* p) { return *p; }
template <class T> T __ldcs(const T* p) { return *p; }
template <class T> void __stcs(T* p, T v) { *p = v; }
template <class To, class From> To same_bits(From v) {
  To to;
  static_assert(sizeof to == sizeof v, "");
  memcpy(&to, &v, sizeof to);
  return to;
}
inline unsigned __float_as_uint(float v) { return same_bits<unsigned>(v); }
inline float __uint_as_float(unsigned v) { return same_bits<float>(v); }
inline int __float_as_int(float v) { return same_bits<int>(v); }
inline float __int_as_float(int v) { return same_bits<float>(v); }
inline long long __double_as_longlong(double v) { return same_bits<long long>(v); }
inline double __longlong_as_double(long long v) { return same_bits<double>(v); }
// Selects four of the bytes of b and a, as each of four hexadecimal digits says.
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned digits) {
  const unsigned long long both = (unsigned long long)b << 32 | a;
  unsigned r = 0;
  for (int i = 0; i < 4; i++) r |= (unsigned)(both >> 8 * (digits >> 4 * i & 7) & 255) << 8 * i;
  return r;
}
using std::fma;
inline float __fdividef(float a, float b) { return a / b; }
using std::sqrt;
inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline void __syncthreads() {}
inline void __threadfence_system() {}
inline void __threadfence() {}
inline void __nanosleep(unsigned) {}
template <class T> T atomicAdd(T* at, T v) { return *at += v, *at - v; }
template <class T> unsigned long long __cvta_generic_to_shared(T*) { return 0; }
