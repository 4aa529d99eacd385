// Vectors of coarse levels: [site][component][right-hand side] of complex numbers, two chiralities of
// components, and products of small matrices with them. On the CPU vectors run over right-hand sides
// or rows, whichever are more; there are no lanes over sites, and bodies work where the first lane is 0.
#pragma once
#include "element.h"
#include "halves.h"
#include "sums.h"

namespace PLAQ_NS {

#if PLAQ_GPU
template <class T> struct pair_of;
template <> struct pair_of<float> { typedef float2 type; };
template <> struct pair_of<double> { typedef double2 type; };
#endif

// Complex number `i` of an array of pairs (re, im), and its address.
template <class C, class T> PLAQ_FN cplx<C> number(const T* at, i64 i) {
#if PLAQ_GPU
  const typename pair_of<T>::type z = __ldg((const typename pair_of<T>::type*)at + i);
  return {(C)z.x, (C)z.y};
#else
  return {(C)at[2 * i], (C)at[2 * i + 1]};
#endif
}
#if PLAQ_GPU
template <class C> PLAQ_FN cplx<C> number(const short* at, i64 i) {
  const cplx<float> z = from_halves(__ldg((const u32*)at + i));
  return {(C)z.re, (C)z.im};
}
// Loads N complex numbers from number `i` on; i is even, for 16 bits a multiple of N. A load brings two numbers of
// floats, or four of 16 bits.
template <int N, class C> PLAQ_FN void numbers(const short* at, i64 i, cplx<C> (&z)[N]) {
  u32 q[N];
  if constexpr (N % 4 == 0) {
    PLAQ_UNROLL for (int k = 0; k < N; k += 4) {
      const uint4 v = __ldg((const uint4*)((const u32*)at + i + k));
      q[k] = v.x, q[k + 1] = v.y, q[k + 2] = v.z, q[k + 3] = v.w;
    }
  } else if constexpr (N % 2 == 0) {
    PLAQ_UNROLL for (int k = 0; k < N; k += 2) {
      const uint2 v = __ldg((const uint2*)((const u32*)at + i + k));
      q[k] = v.x, q[k + 1] = v.y;
    }
  } else {
    PLAQ_UNROLL for (int k = 0; k < N; k++) q[k] = __ldg((const u32*)at + i + k);
  }
  PLAQ_UNROLL for (int k = 0; k < N; k++) {
    const cplx<float> v = from_halves(q[k]);
    z[k] = {(C)v.re, (C)v.im};
  }
}
// The complex number in bytes AT and AT + 1, integers stored plus 128: taken as the last bits of 2^23 they become
// floats exactly.
template <int AT> PLAQ_FN cplx<float> from_bytes(u32 bits) {
  const auto one = [&](u32 from) { return __uint_as_float(__byte_perm(bits, 0x4b000000u, from)) - 8388736.0f; };
  return {one(0x7650 + AT), one(0x7651 + AT)};
}
// Loads N complex numbers in bytes from number i, a multiple of N, on; a load brings up to sixteen bytes.
template <int N, class C> PLAQ_FN void numbers(const signed char* at, i64 i, cplx<C> (&z)[N]) {
  if constexpr (N == 1) {
    const cplx<float> v = from_bytes<0>(__ldg((const unsigned short*)at + i));
    z[0] = {(C)v.re, (C)v.im};
  } else {
    u32 q[N / 2];
    const u32* from = (const u32*)((const unsigned short*)at + i);
    if constexpr (N == 8) {
      const uint4 v = __ldg((const uint4*)from);
      q[0] = v.x, q[1] = v.y, q[2] = v.z, q[3] = v.w;
    } else if constexpr (N == 4) {
      const uint2 v = __ldg((const uint2*)from);
      q[0] = v.x, q[1] = v.y;
    } else {
      q[0] = __ldg(from);
    }
    PLAQ_UNROLL for (int k = 0; k < N; k += 2) {
      const cplx<float> v = from_bytes<0>(q[k / 2]), w = from_bytes<2>(q[k / 2]);
      z[k] = {(C)v.re, (C)v.im}, z[k + 1] = {(C)w.re, (C)w.im};
    }
  }
}
template <int N, class C> PLAQ_FN void numbers(const float* at, i64 i, cplx<C> (&z)[N]) {
  PLAQ_UNROLL for (int k = 0; k + 1 < N; k += 2) {
    const float4 q = __ldg((const float4*)(at + 2 * (i + k)));
    z[k] = {(C)q.x, (C)q.y}, z[k + 1] = {(C)q.z, (C)q.w};
  }
  if (N % 2 != 0) z[N - 1] = number<C>(at, i + N - 1);
}
template <int N, class C> PLAQ_FN void numbers(const double* at, i64 i, cplx<C> (&z)[N]) {
  PLAQ_UNROLL for (int k = 0; k < N; k++) z[k] = number<C>(at, i + k);
}
#endif
template <class C, class T> PLAQ_FN void put_number(T* at, i64 i, cplx<C> z) {
#if PLAQ_GPU
  typename pair_of<T>::type w;
  w.x = (T)z.re, w.y = (T)z.im;
  ((typename pair_of<T>::type*)at)[i] = w;
#else
  at[2 * i] = (T)z.re, at[2 * i + 1] = (T)z.im;
#endif
}

#if PLAQ_GPU
// Stores numbers i and i + 1 for an even i; for floats that is one store.
template <class C> PLAQ_FN void put_pair(float* at, i64 i, cplx<C> z, cplx<C> w) {
  *(float4*)(at + 2 * i) = {(float)z.re, (float)z.im, (float)w.re, (float)w.im};
}
template <class C> PLAQ_FN void put_pair(double* at, i64 i, cplx<C> z, cplx<C> w) {
  put_number(at, i, z), put_number(at, i + 1, w);
}
#endif

#if !PLAQ_GPU
template <int L> struct Width {
  static constexpr int value = L;
};
// Calls f(width, first) for pieces of n reals, n even: as many as possible of length L, then of half that length, and
// so on.
template <int L, class F> PLAQ_FN void strips(int n, const F& f, int from = 0) {
  for (; from + L <= n; from += L) f(Width<L>{}, from);
  if constexpr (L > 2) strips<L / 2>(n, f, from);
}

template <class R> struct lane_io<signed char, R> {
  static constexpr int W = lanes<R>::W;
  static PLAQ_FN R load(const signed char* at) {
#if defined(__AVX512F__)
    if constexpr (W == 16) return convert<R>((real<float, W>)_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i*)at))));
#endif
#if defined(__AVX2__)
    if constexpr (W == 8) return convert<R>((real<float, W>)_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i*)at))));
#endif
    R r;
    PLAQ_UNROLL for (int i = 0; i < W; i++) r[i] = at[i];
    return r;
  }
};

// Sums of products of L reals (re, im, re, im, ..) with T complex scalars: times their real parts in
// p, times their imaginary parts in q.
template <class C, int W, int L, int T> struct Tile {
  static constexpr int V = L < W ? L : W < 2 ? 2 : W, K = L / V;
  typedef real<C, V> R;
  R p[T][K], q[T][K];
  PLAQ_FN Tile() {
    for (int t = 0; t < T; t++)
      for (int k = 0; k < K; k++) p[t][k] = R{}, q[t][k] = R{};
  }
  // Adds the products with the scalars a, a + step, ... (complex numbers), times `scale`.
  template <class TB, class TA> PLAQ_FN void add(const TB* b, const TA* a, i64 step, C scale = 1) {
    R v[K];
    PLAQ_UNROLL for (int k = 0; k < K; k++) v[k] = lane_io<TB, R>::load(b + k * V);
    PLAQ_UNROLL for (int t = 0; t < T; t++) {
      const R re = splat<R>(scale * (C)a[2 * t * step]), im = splat<R>(scale * (C)a[2 * t * step + 1]);
      PLAQ_UNROLL for (int k = 0; k < K; k++) p[t][k] = fma_(v[k], re, p[t][k]), q[t][k] = fma_(v[k], im, q[t][k]);
    }
  }
  static PLAQ_FN R alternating(C even, C odd) {
    R r;
    PLAQ_UNROLL for (int i = 0; i < V; i++) r[i] = i & 1 ? odd : even;
    return r;
  }
  // The results b a, b conj(a) and conj(b) a for scalar t and vector k of the tile.
  PLAQ_FN R plain(int t, int k) const { return add_signed(p[t][k], alternating(-1, 1), lane_xor(q[t][k], 1)); }
  PLAQ_FN R conj_scalar(int t, int k) const { return add_signed(p[t][k], alternating(1, -1), lane_xor(q[t][k], 1)); }
  PLAQ_FN R conj_vector(int t, int k) const { return add_signed(lane_xor(q[t][k], 1), alternating(1, -1), p[t][k]); }
};
#endif

}  // namespace PLAQ_NS
