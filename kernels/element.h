// Kernels whose elements are numbers of vectors, not sites: a lattice whose sites 32 bits count has more of them. On a
// GPU an element is counted in 32 bits unless a launch has more, for which its kernel is compiled with PLAQ_WIDE.
#pragma once
#include "plaq_dialect.h"

namespace PLAQ_NS {
#if PLAQ_GPU && !PLAQ_WIDE
typedef int Element;
typedef u32 Count;
#else
typedef i64 Element;
typedef u64 Count;
#endif

// Whether a body takes its element as an Element: one that took a shorter integer would lose bits.
template <class... Args> PLAQ_FN constexpr bool takes_elements(void (*)(Args...)) { return false; }
template <class A, class... Args> PLAQ_FN constexpr bool takes_elements(void (*)(const A&, Element, Args...)) { return true; }
}  // namespace PLAQ_NS

// Bodies of such kernels differ from the kinds of plaq_dialect.h in the type of o:
//   site kernel:  static void site(const Args&, Element o, int lx, int batch)
//   reduction:    static void site(const Args&, Element o, int lx, int batch, Sums<N, W>&)
#if PLAQ_GPU

#define PLAQ_ELEMENT_KERNEL(SYM, W, ARGS, BODY)                                                  \
  extern "C" __global__ void __launch_bounds__(PLAQ_BLOCK, PLAQ_MIN_BLOCKS)                      \
      SYM(const __grid_constant__ ARGS a, Element n) {                                           \
    static_assert(takes_elements(&BODY::site), "an element of 64 bits");                         \
    await_previous_launch();                                                                            \
    if (!waits_for_ranks(a)) allow_next_launch();                                                \
    const Element o = (Element)blockIdx.x * PLAQ_BLOCK + (Element)threadIdx.x;                   \
    if (o < n) BODY::site(a, o, 0, blockIdx.y);                                                  \
  }

#define PLAQ_ELEMENT_REDUCE(SYM, W, N, M, ARGS, BODY)                                            \
  extern "C" __global__ void __launch_bounds__(PLAQ_BLOCK, PLAQ_MIN_BLOCKS)                      \
      SYM(const __grid_constant__ ARGS a, Element n, const __grid_constant__ SumArgs to) {       \
    static_assert(takes_elements(&BODY::site), "an element of 64 bits");                         \
    Sums<N, 1> s;                                                                                \
    for (int k = 0; k < N; k++) s.v[k] = 0;                                                      \
    const Element step = (Element)gridDim.y * PLAQ_BLOCK;                                        \
    for (Element o = (Element)blockIdx.y * PLAQ_BLOCK + (Element)threadIdx.x; o < n; o += step)  \
      BODY::site(a, o, 0, blockIdx.x, s);                                                        \
    block_sum<N, M>(s.v, to);                                                                    \
  }

#else

#define PLAQ_ELEMENT_KERNEL(SYM, W, ARGS, BODY)                                                  \
  extern "C" void PLAQ_CAT(PLAQ_NS, _, SYM)(const ARGS* a, long long begin,                      \
                                            long long end, int batches, int lanes, double*) {    \
    static_assert(takes_elements(&BODY::site), "an element of 64 bits");                         \
    PLAQ_SET_LANES(lanes);                                                                       \
    for (Element o = begin; o < end; o++)                                                        \
      for (int lx = 0; lx < PLAQ_LANES; lx += W)                                                 \
        for (int b = 0; b < batches; b++) BODY::site(*a, o, lx, b);                              \
  }

#define PLAQ_ELEMENT_REDUCE(SYM, W, N, M, ARGS, BODY)                                            \
  extern "C" void PLAQ_CAT(PLAQ_NS, _, SYM)(const ARGS* a, long long begin,                      \
                                            long long end, int batches, int lanes, double* out) { \
    static_assert(takes_elements(&BODY::site), "an element of 64 bits");                         \
    PLAQ_SET_LANES(lanes);                                                                       \
    for (int b = 0; b < batches; b++) {                                                          \
      Sums<N, W> s = {};                                                                         \
      for (Element o = begin; o < end; o++)                                                      \
        for (int lx = 0; lx < PLAQ_LANES; lx += W) BODY::site(*a, o, lx, b, s);                  \
      for (int k = 0; k < N; k++) out[b * N + k] = k < N - M ? lane_sum(s.v[k]) : lane_max(s.v[k]); \
    }                                                                                            \
  }

#endif
