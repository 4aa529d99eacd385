// The only file that depends on the compiler: NVRTC (one thread = one site, scalars) or the host's C++ compiler (a site
// = PLAQ_LANES virtual nodes, W of them in a vector at a time). The generic set has W = 1 and learns the number of
// lanes at run time: little code, quickly compiled, for any layout.
#pragma once

#if defined(__CUDACC__)
#define PLAQ_GPU 1
#define PLAQ_FN __device__ __forceinline__
#define PLAQ_RARE PLAQ_FN
// NVRTC 13.0 drops the loop of `if constexpr (..) .. else PLAQ_UNROLL for ..` without braces.
#define PLAQ_UNROLL _Pragma("unroll")
// For a loop with few iterations that the compiler would take long to unroll.
#define PLAQ_LOOP _Pragma("unroll 1")
#define PLAQ_LANES 1
#else
#define PLAQ_GPU 0
// Marks a function that is not inlined: a rare case whose code would cost the usual one registers or compile slowly.
#define PLAQ_RARE inline __attribute__((noinline))
#define PLAQ_LOOP
#if PLAQ_GENERIC
#define PLAQ_FN inline
#define PLAQ_UNROLL
#define PLAQ_LANES (PLAQ_NS::run_time_lanes)
#else
#define PLAQ_FN inline __attribute__((always_inline))
#define PLAQ_UNROLL _Pragma("GCC unroll 32")
#endif
#if defined(__AVX2__)
#include <immintrin.h>
#endif
#endif

namespace PLAQ_NS {

#if PLAQ_GENERIC
// Number of lanes in the launch that this thread works on; one variable for all translation units.
inline thread_local int run_time_lanes = 1;
#define PLAQ_SET_LANES(lanes) (PLAQ_NS::run_time_lanes = (lanes))
#elif !PLAQ_GPU
#define PLAQ_SET_LANES(lanes) ((void)(lanes))
#endif

typedef long long i64;
typedef unsigned int u32;
typedef unsigned long long u64;

// Storage precisions: T is the type in memory, C the type computed with.
struct f64 { typedef double T; typedef double C; static constexpr bool fixed = false; };
struct f32 { typedef float T; typedef float C; static constexpr bool fixed = false; };
struct f16 { typedef short T; typedef float C; static constexpr bool fixed = true; };  // 16-bit fixed point

// real<C, W>: a vector of W lanes of type C; a scalar for W = 1.
#if PLAQ_GPU
template <class C, int W> struct real_of { typedef C type; };
#else
template <class C, int W> struct real_of { typedef C type __attribute__((vector_size(W * sizeof(C)))); };
template <class C> struct real_of<C, 1> { typedef C type; };
#endif
template <class C, int W> using real = typename real_of<C, W>::type;

template <class R> struct lanes { static constexpr int W = sizeof(R) / sizeof((*(R*)0)[0]); };
template <> struct lanes<float> { static constexpr int W = 1; };
template <> struct lanes<double> { static constexpr int W = 1; };
template <> struct lanes<int> { static constexpr int W = 1; };
template <class R> struct scalar_of { typedef decltype((*(R*)0)[0] + (*(R*)0)[0]) type; };
template <> struct scalar_of<float> { typedef float type; };
template <> struct scalar_of<double> { typedef double type; };

template <class A, class B> struct real_wider { typedef double type; };
template <> struct real_wider<float, float> { typedef float type; };

#if PLAQ_GPU
template <class R, class X> PLAQ_FN R splat(X x) { return R{} + (R)x; }
#else
// The number x in all lanes; x - 0 converts it and keeps the sign of a zero.
template <class R, class X> PLAQ_FN R splat(X x) { return (typename scalar_of<R>::type)x - R{}; }
#endif

// Converts to another real type with the same number of lanes.
template <class To, class From> struct convert_lanes {
#if PLAQ_GPU
  static PLAQ_FN To run(From v) { return (To)v; }
#else
  static PLAQ_FN To run(From v) { return __builtin_convertvector(v, To); }
#endif
};
template <class R> struct convert_lanes<R, R> { static PLAQ_FN R run(R v) { return v; } };
template <> struct convert_lanes<double, float> { static PLAQ_FN double run(float v) { return v; } };
template <> struct convert_lanes<float, double> { static PLAQ_FN float run(double v) { return (float)v; } };
template <class To, class From> PLAQ_FN To convert(From v) { return convert_lanes<To, From>::run(v); }

// a in lanes where `mask` is true, b in the others; `mask` is the result of a comparison of two reals.
template <class M, class R> PLAQ_FN R select(M mask, R a, R b) { return mask ? a : b; }
template <class R> PLAQ_FN R vmax(R a, R b) { return select(a > b, a, b); }
#if PLAQ_GPU
PLAQ_FN float vmax(float a, float b) { return fmaxf(a, b); }
#endif

#if !PLAQ_GPU
// a b + c, or c - a b, in vectors of as many lanes as an instruction takes; longer vectors are
// halved.
template <bool MINUS, class R> PLAQ_FN R fused(R a, R b, R c) {
#if defined(__FMA__) || defined(__FP_FAST_FMA)
  typedef typename scalar_of<R>::type T;
  if constexpr (sizeof(R) == sizeof(T)) {
    return sizeof(T) == 8 ? __builtin_fma(MINUS ? -a : a, b, c) : __builtin_fmaf(MINUS ? -a : a, b, c);
#if defined(__FMA__)
#define PLAQ_FUSED(V, INTRINSIC, SUFFIX)                                                             \
  } else if constexpr (sizeof(R) == sizeof(V) && sizeof(T) == sizeof(V{}[0])) {                      \
    return (R)(MINUS ? INTRINSIC##_fnmadd_##SUFFIX((V)a, (V)b, (V)c) : INTRINSIC##_fmadd_##SUFFIX((V)a, (V)b, (V)c));
  PLAQ_FUSED(__m128d, _mm, pd)
  PLAQ_FUSED(__m128, _mm, ps)
  PLAQ_FUSED(__m256d, _mm256, pd)
  PLAQ_FUSED(__m256, _mm256, ps)
#if defined(__AVX512F__)
  PLAQ_FUSED(__m512d, _mm512, pd)
  PLAQ_FUSED(__m512, _mm512, ps)
#endif
#undef PLAQ_FUSED
#endif
  } else {
    R r;
    if constexpr (sizeof(R) > 16) {
      typedef real<T, lanes<R>::W / 2> H;
      for (int i = 0; i < 2; i++) ((H*)&r)[i] = fused<MINUS>(((H*)&a)[i], ((H*)&b)[i], ((H*)&c)[i]);
    } else {
      for (int i = 0; i < lanes<R>::W; i++) r[i] = fused<MINUS>((T)a[i], (T)b[i], (T)c[i]);
    }
    return r;
  }
#else
  return MINUS ? c - a * b : a * b + c;
#endif
}
#endif

// a b + c, c - a b, a b + c d, a b - c d, and a + f b with f = 1 or -1. On a CPU product and sum share one rounding where
// these functions say so and nowhere else (-ffp-contract=off in build.rs): left to choose, the compiler contracts two
// copies of one body in different ways. Sets without the instruction round twice. NVRTC contracts what it likes, and of
// two products the one that leaves it more registers.
#if PLAQ_GPU
PLAQ_FN float fma_(float a, float b, float c) { return fmaf(a, b, c); }
PLAQ_FN double fma_(double a, double b, double c) { return fma(a, b, c); }
template <class R> PLAQ_FN R fnma_(R a, R b, R c) { return fma_(-a, b, c); }
template <class R> PLAQ_FN R add_products(R a, R b, R c, R d) { return a * b + c * d; }
template <class R> PLAQ_FN R sub_products(R a, R b, R c, R d) { return a * b - c * d; }
template <class R> PLAQ_FN R add_signed(R a, R f, R b) { return fma_(f, b, a); }
PLAQ_FN float vsqrt(float a) { return sqrtf(a); }
PLAQ_FN double vsqrt(double a) { return sqrt(a); }
// 1 / a and 1 / sqrt(a) to 2 ulp, for positive numbers far from overflow and underflow: without the tests and branches
// that exact functions for all numbers have.
PLAQ_FN float vrcp(float a) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
  return r;
}
PLAQ_FN float vrsqrt(float a) {
  float r;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
  return r;
}
// Newton's iteration from an estimate of 20 bits; in double one step of third order.
PLAQ_FN double vrcp(double a) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(a));
  const double e = fma(-a, r, 1.0);
  return fma(r, fma(e, e, e), r);
}
PLAQ_FN double vrsqrt(double a) {
  double r;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(a));
  const double e = fma(-a * r, r, 1.0);
  return fma(r * e, fma(0.375, e, 0.5), r);
}
// The absolute value, which compilers make part of the instruction that uses it.
PLAQ_FN float vabs(float a) { return fabsf(a); }
PLAQ_FN double vabs(double a) { return fabs(a); }
PLAQ_FN float vcopysign(float a, float sign) { return copysignf(a, sign); }
PLAQ_FN double vcopysign(double a, double sign) { return copysign(a, sign); }
#else
template <class R> PLAQ_FN R vrcp(R a) { return splat<R>(1) / a; }
PLAQ_FN float vabs(float a) { return __builtin_fabsf(a); }
PLAQ_FN double vabs(double a) { return __builtin_fabs(a); }
template <class R> PLAQ_FN R vabs(R a) {
  typedef decltype(a < a) M;  // integer vector of the same shape
  return (R)((M)a & ~(M)-R{});
}
template <class R> PLAQ_FN R vcopysign(R a, R sign) { return select(sign < R{}, -a, a); }  // a >= 0
template <class R> PLAQ_FN R fma_(R a, R b, R c) { return fused<false>(a, b, c); }
template <class R> PLAQ_FN R fnma_(R a, R b, R c) { return fused<true>(a, b, c); }
template <class R> PLAQ_FN R add_products(R a, R b, R c, R d) { return fma_(a, b, c * d); }
template <class R> PLAQ_FN R sub_products(R a, R b, R c, R d) { return fma_(a, b, -(c * d)); }
// f is 1 or -1, so that the product is exact; if the compiler knows f, no multiplication is left.
template <class R> PLAQ_FN R add_signed(R a, R f, R b) { return __builtin_constant_p(f) ? a + f * b : fma_(f, b, a); }
PLAQ_FN float vsqrt(float a) { return __builtin_sqrtf(a); }
PLAQ_FN double vsqrt(double a) { return __builtin_sqrt(a); }
template <class R> PLAQ_FN R vsqrt(R a) {
  R r;
  for (int i = 0; i < lanes<R>::W; i++) r[i] = vsqrt(a[i]);
  return r;
}
template <class R> PLAQ_FN R vrsqrt(R a) { return splat<R>(1) / vsqrt(a); }
#endif

// Lane i takes the value of lane i ^ x (x < W), as neighbours across a seam between lanes do.
#if PLAQ_GPU
template <class R> PLAQ_FN R lane_xor(R v, int) { return v; }
#else
PLAQ_FN float lane_xor(float v, int) { return v; }
PLAQ_FN double lane_xor(double v, int) { return v; }
template <class R> PLAQ_FN R lane_xor(R v, int x) {
  typedef decltype(v < v) M;  // integer vector of the same shape
  M m;
  PLAQ_UNROLL for (int i = 0; i < lanes<R>::W; i++) m[i] = i;
  return __builtin_shuffle(v, m ^ (M{} + x));
}
#endif

// `in` where bit `bit` of the lane number equals `want`, else `out`. `lx` is the first lane of the
// vector; bit 0 means the direction is not split over lanes: then every lane takes `in`.
template <class R> PLAQ_FN R by_lane_bit(R in, R out, int lx, int bit, bool want) {
  constexpr int W = lanes<R>::W;
  if (bit == 0) return in;
  if (bit >= W) return ((lx & bit) != 0) == want ? in : out;
#if !PLAQ_GPU
  if constexpr (W > 1) {
    typedef decltype(in < in) M;
    M m;
    PLAQ_UNROLL for (int i = 0; i < W; i++) m[i] = i;
    m = (m & (M{} + bit)) != 0;
    return want ? select(m, in, out) : select(m, out, in);
  }
#endif
  return in;
}

// `in` where the number of set bits among `bits` of the lane number is odd (`want`) or even, else `out`.
template <class R> PLAQ_RARE R by_lane_bits(R in, R out, int lx, int bits, bool want) {
#if !PLAQ_GPU
  constexpr int W = lanes<R>::W;
  typedef typename scalar_of<R>::type T;
  T v[W], w[W];
  __builtin_memcpy(&v, &in, sizeof(in));
  __builtin_memcpy(&w, &out, sizeof(out));
  for (int i = 0; i < W; i++)
    if ((__builtin_popcount((lx + i) & bits) & 1) != want) v[i] = w[i];
  __builtin_memcpy(&in, &v, sizeof(in));
#endif
  return in;
}

#if !PLAQ_GPU
// Orders stores that bypass the caches before later stores, as other threads see them.
PLAQ_FN void store_fence() {
#if defined(__AVX512F__)
  _mm_sfence();
#endif
}
#endif

#if PLAQ_GPU
template <class R> PLAQ_FN double lane_sum(R v) { return (double)v; }
#else
PLAQ_FN double lane_sum(float v) { return v; }
PLAQ_FN double lane_sum(double v) { return v; }
template <class R> PLAQ_FN double lane_sum(R v) {
  double s = 0;
  for (int i = 0; i < lanes<R>::W; i++) s += v[i];
  return s;
}
#endif

#if PLAQ_GPU
template <class R> PLAQ_FN R lane_max(R v) { return v; }
#else
PLAQ_FN double lane_max(float v) { return v; }
PLAQ_FN double lane_max(double v) { return v; }
template <class R> PLAQ_FN double lane_max(R v) {
  double s = v[0];
  for (int i = 1; i < lanes<R>::W; i++) s = s > v[i] ? s : v[i];
  return s;
}
#endif

// Sums that a reduction body adds to: N numbers in double, each with W lanes. The last of them may be maxima of numbers
// that are not negative instead of sums.
template <int N, int W> struct Sums {
  real<double, W> v[N];
  template <class R> PLAQ_FN void add(int k, R x) { v[k] += convert<real<double, W>>(x); }
  template <class R> PLAQ_FN void max(int k, R x) { v[k] = vmax(v[k], convert<real<double, W>>(x)); }
};
// Combines two partial results for number k of N: a sum, or for the last M numbers the maximum.
template <int N, int M> PLAQ_FN double join(int k, double a, double b) { return k < N - M ? a + b : vmax(a, b); }

}  // namespace PLAQ_NS

#if PLAQ_GPU
namespace PLAQ_NS {
// From sm_90 on blocks of kernels that are `overlapping()` in families_table.rs may start while the kernel before them
// in the stream still runs. Every thread begins with `await_previous_launch`, which waits until that kernel has ended
// and its results are visible, so that kernels end in order. Once every block has called `allow_next_launch` or ended,
// blocks of the next kernel start in the places that become free, and wait there. A kernel that waits for other GPUs
// does not call it: their programs may share this device and need the places.
PLAQ_FN void await_previous_launch() {
#if PLAQ_OVERLAPS && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
PLAQ_FN void allow_next_launch() {
#if PLAQ_OVERLAPS && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

template <class ARGS> PLAQ_FN bool waits_for_ranks(const ARGS&) { return false; }

// Makes the compiler compute values that depend on i once more instead of keeping them in registers.
PLAQ_FN void renew(int& i) { asm volatile("" : "+r"(i)); }

// Copies of a thread into shared memory that go on while it computes, from sm_80 on. Those since the last commit are a group;
// async_wait<N> waits until at most the N latest groups are under way. Copies go to `offset` bytes after `to`, if wanted.
template <int BYTES> PLAQ_FN void async_copy(void* to, int offset, const void* from, bool wanted) {
  const u32 at = (u32)__cvta_generic_to_shared(to) + offset;
  if constexpr (__CUDA_ARCH__ >= 800) asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p cp.async.ca.shared.global [%0], [%1], %2; }" ::"r"(at), "l"(from), "n"(BYTES), "r"((u32)wanted) : "memory");
  else if (wanted) memcpy(__builtin_assume_aligned((char*)to + offset, BYTES), __builtin_assume_aligned(from, BYTES), BYTES);
}
PLAQ_FN void async_commit() { if constexpr (__CUDA_ARCH__ >= 800) asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> PLAQ_FN void async_wait() { if constexpr (__CUDA_ARCH__ >= 800) asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
}  // namespace PLAQ_NS
#endif

// Branches on constants of a run: `PLAQ_FIXED(HopArgs, fixed, a); PLAQ_IF (fixed.nrhs() > 1) ..`. A GPU's compiler, for
// which they are literals, then never sees the other branch; to optimise that before it drops it takes up to two thirds of
// the time. `PLAQ_LITERAL(fixed.links())`: on a GPU the number as a type, for overloads.
#if PLAQ_GPU
#define PLAQ_FIXED(ARGS, NAME, A) constexpr ARGS NAME{}
#define PLAQ_IF if constexpr
#define PLAQ_LITERAL(...) (PLAQ_NS::literal<(__VA_ARGS__)>{})
namespace PLAQ_NS {
template <int VALUE> struct literal {
  PLAQ_FN constexpr operator int() const { return VALUE; }
};
}  // namespace PLAQ_NS
#else
#define PLAQ_FIXED(ARGS, NAME, A) const ARGS& NAME = A
#define PLAQ_IF if
#define PLAQ_LITERAL(...) (__VA_ARGS__)
#endif

// Kernel kinds. A body is `template <int W, ...> struct K` with
//   site kernel:  static void site(const Args&, int o, int lx, int batch)
//   reduction:    static void site(const Args&, int o, int lx, int batch, Sums<N, W>&), where the
//                 last M of N numbers are maxima
// o = outer site (or element), lx = first lane, batch = plane or right-hand side.
#define PLAQ_BODY(...) __VA_ARGS__
#if PLAQ_GPU

#define PLAQ_SITE_KERNEL(SYM, W, ARGS, BODY)                                                     \
  extern "C" __global__ void __launch_bounds__(PLAQ_BLOCK, PLAQ_MIN_BLOCKS)                      \
      SYM(const __grid_constant__ ARGS a, int n) {                                               \
    await_previous_launch();                                                                            \
    if (!waits_for_ranks(a)) allow_next_launch();                                                \
    int o = blockIdx.x * PLAQ_BLOCK + threadIdx.x;                                               \
    if (o < n) BODY::site(a, o, 0, blockIdx.y);                                                  \
  }

// A site kernel whose batches for the same sites run after each other.
#define PLAQ_BATCHES_KERNEL(SYM, W, ARGS, BODY)                                                  \
  extern "C" __global__ void __launch_bounds__(PLAQ_BLOCK, PLAQ_MIN_BLOCKS)                      \
      SYM(const __grid_constant__ ARGS a, int n) {                                               \
    await_previous_launch();                                                                            \
    if (!waits_for_ranks(a)) allow_next_launch();                                                \
    const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;                                  \
    int o = block / gridDim.y * PLAQ_BLOCK + threadIdx.x;                                        \
    if (o < n) BODY::site(a, o, 0, block % gridDim.y);                                           \
  }

// A site kernel in which two threads of the GPU take all batches of a site: static void pairs(const Args&, unsigned block,
// int n), for whole blocks.
#define PLAQ_PAIRS_KERNEL(SYM, W, ARGS, BODY)                                                    \
  extern "C" __global__ void __launch_bounds__(PLAQ_BLOCK, PLAQ_MIN_BLOCKS)                      \
      SYM(const __grid_constant__ ARGS a, int n) {                                               \
    await_previous_launch();                                                                            \
    if (!waits_for_ranks(a)) allow_next_launch();                                                \
    BODY::pairs(a, blockIdx.x, n);                                                               \
  }

// A kernel whose body assigns its own blocks on the GPU: static void block(const Args&, int n).
#define PLAQ_BLOCK_KERNEL(SYM, W, ARGS, BODY)                                                    \
  extern "C" __global__ void __launch_bounds__(PLAQ_BLOCK, PLAQ_MIN_BLOCKS)                      \
      SYM(const __grid_constant__ ARGS a, int n) {                                               \
    await_previous_launch();                                                                            \
    BODY::block(a, n);                                                                           \
  }

// A reduction; sums.h combines the sums of all blocks.
#define PLAQ_REDUCE_KERNEL(SYM, W, N, M, ARGS, BODY)                                                \
  extern "C" __global__ void __launch_bounds__(PLAQ_BLOCK, PLAQ_MIN_BLOCKS)                      \
      SYM(const __grid_constant__ ARGS a, int n, const __grid_constant__ SumArgs to) {           \
    Sums<N, 1> s;                                                                                \
    for (int k = 0; k < N; k++) s.v[k] = 0;                                                      \
    for (int o = blockIdx.y * PLAQ_BLOCK + threadIdx.x; o < n; o += gridDim.y * PLAQ_BLOCK)      \
      BODY::site(a, o, 0, blockIdx.x, s);                                               \
    block_sum<N, M>(s.v, to);                                                                    \
  }

#else

#define PLAQ_CAT_(a, b, c) a##b##c
#define PLAQ_CAT(a, b, c) PLAQ_CAT_(a, b, c)

// A site kernel: batches run inside the loop over sites, so that links stay in the first-level cache for all of
// them.
#define PLAQ_SITE_KERNEL(SYM, W, ARGS, BODY)                                                     \
  extern "C" void PLAQ_CAT(PLAQ_NS, _, SYM)(const ARGS* a, long long begin,             \
                                            long long end, int batches, int lanes, double*) {    \
    PLAQ_SET_LANES(lanes);                                                                       \
    for (long long o = begin; o < end; o++)                                                      \
      for (int lx = 0; lx < PLAQ_LANES; lx += W)                                                 \
        for (int b = 0; b < batches; b++) BODY::site(*a, (int)o, lx, b);                \
  }

#define PLAQ_BATCHES_KERNEL PLAQ_SITE_KERNEL
#define PLAQ_PAIRS_KERNEL PLAQ_SITE_KERNEL

// A block kernel is for bodies whose spinors do not fit the first-level cache: all sites of a tile are processed for
// one batch after the other, so that the links of the tile stay in the larger caches.
namespace PLAQ_NS {
// The conditions under which a copy of the code may run: none, or no halos and the operator D, or D^dagger.
enum Granted { NOTHING, PLAIN, PLAIN_DAGGER };
template <class Body, int W, Granted GRANTED, class Args>
PLAQ_RARE void run_tiles(const Args& a, long long begin, long long end, int batches) {
  const int tile = Body::tile();
  for (long long from = begin; from < end; from += tile) {
    const long long to = end < from + tile ? end : from + tile;
    for (int b = 0; b < batches; b++)
      for (long long o = from; o < to; o++)
        for (int lx = 0; lx < PLAQ_LANES; lx += W) {
          if (GRANTED != NOTHING && a.geom.halos_ != 0) __builtin_unreachable();
          Body::template site<GRANTED>(a, (int)o, lx, b);
        }
  }
}
// Where there are no halos, code for them makes kernels slower by a third, and signs that are not constants by a tenth:
// with 16 lanes there are copies of the code without these.
template <class Body, int W, class Args>
PLAQ_FN void run_blocks(const Args& a, long long begin, long long end, int batches) {
#if !PLAQ_GENERIC
  if (PLAQ_LANES == 16 && a.geom.halos_ == 0) {
    if (a.dagger_ == 0) run_tiles<Body, W, PLAIN>(a, begin, end, batches);
    else run_tiles<Body, W, PLAIN_DAGGER>(a, begin, end, batches);
    return;
  }
#endif
  run_tiles<Body, W, NOTHING>(a, begin, end, batches);
}
}  // namespace PLAQ_NS
// The kernel ends with a fence that orders its stores past the caches.
#define PLAQ_BLOCK_KERNEL(SYM, W, ARGS, BODY)                                                    \
  extern "C" void PLAQ_CAT(PLAQ_NS, _, SYM)(const ARGS* a, long long begin,             \
                                            long long end, int batches, int lanes, double*) {    \
    PLAQ_SET_LANES(lanes);                                                                       \
    typedef BODY Body;                                                                           \
    run_blocks<Body, W>(*a, begin, end, batches);                                                \
    store_fence();                                                                               \
  }

#define PLAQ_REDUCE_KERNEL(SYM, W, N, M, ARGS, BODY)                                                \
  extern "C" void PLAQ_CAT(PLAQ_NS, _, SYM)(const ARGS* a, long long begin,             \
                                            long long end, int batches, int lanes, double* out) { \
    PLAQ_SET_LANES(lanes);                                                                       \
    for (int b = 0; b < batches; b++) {                                                          \
      Sums<N, W> s = {};                                                                \
      for (long long o = begin; o < end; o++)                                                    \
        for (int lx = 0; lx < PLAQ_LANES; lx += W)                                               \
          BODY::site(*a, (int)o, lx, b, s);                                             \
      for (int k = 0; k < N; k++) out[b * N + k] = k < N - M ? lane_sum(s.v[k]) : lane_max(s.v[k]);                    \
    }                                                                                            \
  }

#endif
