// Access to fields. A plane is one parity of one right-hand side: `volume` outer sites of NS reals.
//   CPU: [site][component][lane];  GPU: [component / V][site][V], V reals = one load of up to 16 bytes.
#pragma once
#include "geometry.h"

namespace PLAQ_NS {

struct Plane {
  char* data;
  float* norm;  // one per site and lane where the storage is fixed point, else null
  int volume;
};

PLAQ_FN Plane plane(const FieldView& f, int index) {
  return Plane{(char*)f.data + (i64)index * f.plane_bytes,
               (float*)((char*)f.norm + (i64)index * f.norm_bytes), (int)f.volume()};
}

// Largest power of two of reals that fits 16 bytes and divides n.
template <class T> PLAQ_FN constexpr int chunk(int n) {
  int v = 16 / (int)sizeof(T);
  while (n % v) v /= 2;
  return v;
}

#if PLAQ_GPU
enum Hint { keep, stream };  // stream: will not be read again soon
template <int BYTES> struct word;
template <> struct word<16> { typedef uint4 type; };
template <> struct word<8> { typedef uint2 type; };
template <> struct word<4> { typedef unsigned type; };
template <> struct word<2> { typedef unsigned short type; };
template <class T, int V> union bits { typename word<sizeof(T) * V>::type w; T t[V]; PLAQ_FN bits() {} };

template <class S, int N, class R>
PLAQ_FN void load_raw(R (&v)[N], const Plane& p, const Site& s, int, int off, Hint hint) {
  typedef typename S::T T;
  constexpr int V = chunk<T>(N);
  const T* base = (const T*)p.data + (i64)(off / V) * p.volume * V + (i64)s.o * V;
  PLAQ_UNROLL for (int c = 0; c < N / V; c++) {
    typedef typename word<sizeof(T) * V>::type Wd;
    bits<T, V> b;
    const Wd* at = (const Wd*)(base + (i64)c * p.volume * V);
    b.w = hint == stream ? __ldcs(at) : __ldg(at);
    PLAQ_UNROLL for (int k = 0; k < V; k++) v[c * V + k] = (R)b.t[k];
  }
}

template <class S, int N, class R>
PLAQ_FN void store_raw(const R (&v)[N], const Plane& p, const Site& s, int, int off) {
  typedef typename S::T T;
  constexpr int V = chunk<T>(N);
  T* base = (T*)p.data + (i64)(off / V) * p.volume * V + (i64)s.o * V;
  PLAQ_UNROLL for (int c = 0; c < N / V; c++) {
    typedef typename word<sizeof(T) * V>::type Wd;
    bits<T, V> b;
    PLAQ_UNROLL for (int k = 0; k < V; k++) {
      if constexpr (S::fixed) b.t[k] = (T)__float2int_rn(v[c * V + k]);
      else b.t[k] = (T)v[c * V + k];
    }
    *(Wd*)(base + (i64)c * p.volume * V) = b.w;
  }
}
#else
enum Hint { keep, stream };

// W lanes at `at` as a vector of C.
template <class T, class R> struct lane_io {
  typedef real<T, lanes<R>::W> M;
  static PLAQ_FN R load(const T* at) {
    M m;
    __builtin_memcpy(&m, at, sizeof(M));
    return convert<R>(m);
  }
  static PLAQ_FN void store(T* at, R v) {
    M m = convert<M>(v);
    __builtin_memcpy(at, &m, sizeof(M));
  }
};
template <class R> PLAQ_FN R round_even(R v) {  // |v| < 2^22
  const R magic = splat<R>(12582912.0f);
  return (v + magic) - magic;
}
template <class R> struct lane_io<short, R> {
  static constexpr int W = lanes<R>::W;
  typedef real<float, W> F;
  static PLAQ_FN R load(const short* at) { return convert<R>(load_float(at)); }
  static PLAQ_FN void store(short* at, R v) { store_float(at, convert<F>(v)); }
  static PLAQ_FN F load_float(const short* at) {
#if defined(__AVX512BW__)
    if constexpr (W == 16)
      return (F)_mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i*)at)));
#endif
#if defined(__AVX2__)
    if constexpr (W == 8)
      return (F)_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i*)at)));
#endif
    F r;
    if constexpr (W == 1) r = (F)*at;
    else PLAQ_UNROLL for (int i = 0; i < W; i++) r[i] = at[i];
    return r;
  }
  static PLAQ_FN void store_float(short* at, F v) {
    v = round_even(v);
#if defined(__AVX512BW__)
    if constexpr (W == 16) {
      _mm256_storeu_si256((__m256i*)at, _mm512_cvtepi32_epi16(_mm512_cvttps_epi32((__m512)v)));
      return;
    }
#endif
#if defined(__AVX2__)
    if constexpr (W == 8) {
      __m256i q = _mm256_cvttps_epi32((__m256)v);
      q = _mm256_permute4x64_epi64(_mm256_packs_epi32(q, q), 0x08);
      _mm_storeu_si128((__m128i*)at, _mm256_castsi256_si128(q));
      return;
    }
#endif
    if constexpr (W == 1) *at = (short)v;
    else for (int i = 0; i < W; i++) at[i] = (short)v[i];
  }
};

template <class S, class R> PLAQ_FN typename S::T* component(const Plane& p, const Site& s, int ns, int c) {
  constexpr int W = lanes<R>::W;
  return (typename S::T*)p.data + ((i64)s.o * ns + c) * PLAQ_LANES + (s.lx & ~(W - 1));
}

template <class S, int N, class R>
PLAQ_FN void load_raw(R (&v)[N], const Plane& p, const Site& s, int ns, int off, Hint) {
  constexpr int W = lanes<R>::W;
  const typename S::T* at = component<S, R>(p, s, ns, off);
  PLAQ_UNROLL for (int c = 0; c < N; c++) v[c] = lane_io<typename S::T, R>::load(at + c * PLAQ_LANES);
  if constexpr (W > 1)
    if (const int x = s.lx & (W - 1)) PLAQ_UNROLL for (int c = 0; c < N; c++) v[c] = lane_xor(v[c], x);
}

template <class S, int N, class R>
PLAQ_FN void store_raw(const R (&v)[N], const Plane& p, const Site& s, int ns, int off) {
  typename S::T* at = component<S, R>(p, s, ns, off);
  PLAQ_UNROLL for (int c = 0; c < N; c++) lane_io<typename S::T, R>::store(at + c * PLAQ_LANES, v[c]);
}
#endif

// Norm of a fixed-point site: |value| <= norm, stored value = round(value / norm * 32767).
template <class R> PLAQ_FN R load_norm(const Plane& p, const Site& s) {
#if PLAQ_GPU
  return (R)__ldg(p.norm + s.o);
#else
  constexpr int W = lanes<R>::W;
  R n = lane_io<float, R>::load(p.norm + (i64)s.o * PLAQ_LANES + (s.lx & ~(W - 1)));
  if constexpr (W > 1)
    if (const int x = s.lx & (W - 1)) n = lane_xor(n, x);
  return n;
#endif
}
template <class R> PLAQ_FN void store_norm(R n, const Plane& p, const Site& s) {
#if PLAQ_GPU
  p.norm[s.o] = (float)n;
#else
  constexpr int W = lanes<R>::W;
  lane_io<float, R>::store(p.norm + (i64)s.o * PLAQ_LANES + (s.lx & ~(W - 1)), n);
#endif
}

constexpr float fixed_one = 32767.0f;

// N reals of a field with a norm per site (spinors: N = ns = 24).
template <class S, int N, class R>
PLAQ_FN void load(R (&v)[N], const Plane& p, const Site& s, Hint hint = keep) {
  load_raw<S>(v, p, s, N, 0, hint);
  if constexpr (S::fixed) {
    const R scale = load_norm<R>(p, s) * (1.0f / fixed_one);
    PLAQ_UNROLL for (int c = 0; c < N; c++) v[c] = v[c] * scale;
  }
}
template <class S, int N, class R> PLAQ_FN void store(const R (&v)[N], const Plane& p, const Site& s) {
  if constexpr (S::fixed) {
    R top = vabs(v[0]);
    PLAQ_UNROLL for (int c = 1; c < N; c++) top = vmax(top, vabs(v[c]));
    store_norm(top, p, s);
    const R tiny = splat<R>(1e-30f);
    const R scale = splat<R>(fixed_one) / vmax(top, tiny);
    R q[N];
    PLAQ_UNROLL for (int c = 0; c < N; c++) q[c] = v[c] * scale;
    store_raw<S>(q, p, s, N, 0);
  } else {
    store_raw<S>(v, p, s, N, 0);
  }
}

// N reals at offset `off` of the ns reals of a site, fixed point with the constant range [-range, range].
template <class S, int N, class R>
PLAQ_FN void load_part(R (&v)[N], const Plane& p, const Site& s, int ns, int off, float range,
                       Hint hint = keep) {
  load_raw<S>(v, p, s, ns, off, hint);
  if constexpr (S::fixed) {
    const R scale = splat<R>(range / fixed_one);
    PLAQ_UNROLL for (int c = 0; c < N; c++) v[c] = v[c] * scale;
  }
}
template <class S, int N, class R>
PLAQ_FN void store_part(const R (&v)[N], const Plane& p, const Site& s, int ns, int off, float range) {
  if constexpr (S::fixed) {
    const R scale = splat<R>(fixed_one / range), one = splat<R>(fixed_one);
    R q[N];
    PLAQ_UNROLL for (int c = 0; c < N; c++) {
      R x = v[c] * scale;
      x = select(x > one, one, x);
      q[c] = select(x < -one, -one, x);
    }
    store_raw<S>(q, p, s, ns, off);
  } else {
    store_raw<S>(v, p, s, ns, off);
  }
}

// The two blocks of a clover site, one norm for both. Always by blocks of 36: the GPU's layout follows the
// number of reals that are moved at once.
template <class S, class R> PLAQ_FN void store_blocks(const R (&b)[2][36], const Plane& p, const Site& s) {
  R scale = splat<R>(1);
  if constexpr (S::fixed) {
    R top = vabs(b[0][0]);
    PLAQ_UNROLL for (int ch = 0; ch < 2; ch++) PLAQ_UNROLL for (int i = 0; i < 36; i++) top = vmax(top, vabs(b[ch][i]));
    store_norm(top, p, s);
    scale = splat<R>(fixed_one) / vmax(top, splat<R>(1e-30f));
  }
  PLAQ_UNROLL for (int ch = 0; ch < 2; ch++) {
    R v[36];
    PLAQ_UNROLL for (int i = 0; i < 36; i++) v[i] = b[ch][i] * scale;
    store_raw<S>(v, p, s, 72, 36 * ch);
  }
}
template <class S, class R> PLAQ_FN void load_blocks(R (&b)[2][36], const Plane& p, const Site& s) {
  R scale = splat<R>(1);
  if constexpr (S::fixed) scale = load_norm<R>(p, s) * (1.0f / fixed_one);
  PLAQ_UNROLL for (int ch = 0; ch < 2; ch++) {
    load_raw<S>(b[ch], p, s, 72, 36 * ch, keep);
    PLAQ_UNROLL for (int i = 0; i < 36; i++) b[ch][i] = b[ch][i] * scale;
  }
}

}  // namespace PLAQ_NS
