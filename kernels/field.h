// Access to fields. A plane is one parity of one right-hand side: `volume` outer sites of NS reals.
//   CPU: [site][component][lane];
//   GPU: [site / 32][component / V][site % 32][V], V reals = one load of up to 16 bytes.
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

// The plane that is `step` planes after p.
PLAQ_FN Plane later_plane(const FieldView& f, const Plane& p, int step) {
  return {p.data + step * f.plane_bytes, (float*)((char*)p.norm + step * f.norm_bytes), p.volume};
}

// Number of reals in one load: the largest power of two that fits into 16 bytes and divides n.
template <class T> PLAQ_FN constexpr int chunk(int n) {
  int v = 16 / (int)sizeof(T);
  while (n % v) v /= 2;
  return v;
}

// Hints of when memory is read again: soon (keep) or not (stream). With `stream` a CPU also
// prefetches the next site; with `paced` that is left to `NextSite`. Stores use keep or stream.
// `fresh` reads what other blocks of the same launch may have written.
enum Hint { keep, stream, paced, fresh };

#if PLAQ_GPU
template <int BYTES> struct word;
template <> struct word<16> { typedef uint4 type; };
template <> struct word<8> { typedef uint2 type; };
template <> struct word<4> { typedef unsigned type; };
template <> struct word<2> { typedef unsigned short type; };
template <class T, int V> union bits {
  typename word<sizeof(T) * V>::type w;
  T t[V];
  unsigned pair[sizeof(T) * V / 4 + (sizeof(T) * V < 4)];
  PLAQ_FN bits() {}
};

// Address of chunk `off / V` of a site: its tile, then its place in the tile. Consecutive chunks
// are 32 V numbers apart, so that all loads of a site share one address.
template <int V, class T> PLAQ_FN T* site_address(T* base, int o, int ns, int off) {
  return base + (i64)(o >> 5) * (32 * ns) + ((o & 31) * V + off * 32);
}

// Fixed point is kept as offset binary, u = q + 2^15: put below the exponent of 2^23 it is the
// float 2^23 + 2^15 + q without a conversion, and the reverse is one addition.
constexpr float fixed_bias = 8421376.0f;  // 2^23 + 2^15

// Converts the V numbers of chunk c to R; in fixed point they still contain fixed_bias.
template <class S, int N, class R, class T, int V> PLAQ_FN void unpack(R (&v)[N], const bits<T, V>& b, int c) {
  PLAQ_UNROLL for (int k = 0; k < V; k++) {
    if constexpr (S::fixed)
      v[c * V + k] = (R)__uint_as_float(__byte_perm(b.pair[k / 2], 0x4B00, k & 1 ? 0x5432 : 0x5410));
    else v[c * V + k] = (R)b.t[k];
  }
}

template <class S, int N, class R>
PLAQ_FN void load_words(R (&v)[N], const Plane& p, const Site& s, int ns, int off, Hint hint) {
  typedef typename S::T T;
  constexpr int V = chunk<T>(N);
  typedef typename word<sizeof(T) * V>::type Wd;
  const T* base = site_address<V>((const T*)p.data, s.o, ns, off);
  PLAQ_UNROLL for (int c = 0; c < N / V; c++) {
    bits<T, V> b;
    const Wd* at = (const Wd*)(base + c * 32 * V);
    b.w = hint == fresh ? *at : hint == keep ? __ldg(at) : __ldcs(at);
    unpack<S>(v, b, c);
  }
}

// Removes the bias of numbers and multiplies them by a unit of 12 bits, for which the product with the bias is exact.
template <int N, class R> PLAQ_FN void scale_words(R (&v)[N], R unit) {
  const R bias = (R)-fixed_bias * unit;
  PLAQ_UNROLL for (int c = 0; c < N; c++) v[c] = fma_(v[c], unit, bias);
}

// Loads numbers off to off + N - 1 of the ns stored for a site; in fixed point they are integers without the unit.
template <class S, int N, class R>
PLAQ_FN void load_raw(R (&v)[N], const Plane& p, const Site& s, int ns, int off, Hint hint) {
  load_words<S>(v, p, s, ns, off, hint);
  if constexpr (S::fixed) PLAQ_UNROLL for (int c = 0; c < N; c++) v[c] = v[c] - fixed_bias;
}

template <class S, int N, class R>
PLAQ_FN void store_raw(const R (&v)[N], const Plane& p, const Site& s, int ns, int off, Hint = keep) {
  typedef typename S::T T;
  constexpr int V = chunk<T>(N);
  typedef typename word<sizeof(T) * V>::type Wd;
  T* base = site_address<V>((T*)p.data, s.o, ns, off);
  PLAQ_UNROLL for (int c = 0; c < N / V; c++) {
    bits<T, V> b;
    if constexpr (S::fixed) {
      PLAQ_UNROLL for (int k = 0; k < V; k += 2)
        b.pair[k / 2] = __byte_perm(__float_as_uint((float)v[c * V + k] + fixed_bias),
                                    __float_as_uint((float)v[c * V + k + 1] + fixed_bias), 0x5410);
    } else {
      PLAQ_UNROLL for (int k = 0; k < V; k++) b.t[k] = (T)v[c * V + k];
    }
    // A double vector is larger than the second-level cache, which is left to what is read again.
    if constexpr (sizeof(T) == 8) __stcs((Wd*)(base + c * 32 * V), b.w);
    else *(Wd*)(base + c * 32 * V) = b.w;
  }
}
#else
// Loads and stores W lanes of one component, which memory holds as T, as a vector R of the type computed with.
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
  // Stores past the caches, which saves reading the cache line first. Useful only where a vector
  // fills a cache line.
  static PLAQ_FN void stream_store(T* at, R v) {
#if defined(__AVX512F__)
    if constexpr (sizeof(M) == 64) {
      _mm512_stream_si512((__m512i*)at, (__m512i)convert<M>(v));
      return;
    }
#endif
    store(at, v);
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
    else {
      PLAQ_UNROLL for (int i = 0; i < W; i++) r[i] = at[i];
    }
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
  static PLAQ_FN void stream_store(short* at, R v) { store(at, v); }
};

template <class S, class R> PLAQ_FN typename S::T* component(const Plane& p, const Site& s, int ns, int c) {
  constexpr int W = lanes<R>::W;
  return (typename S::T*)p.data + ((i64)s.o * ns + c) * PLAQ_LANES + (s.lx & ~(W - 1));
}

// Prefetches N components of W lanes into the second-level cache. Narrow vectors share a cache line: the first of them
// prefetches it.
template <int W, int N, class T> PLAQ_FN void prefetch(const T* at, int lx) {
  const int line = 64 / sizeof(T), step = line > PLAQ_LANES ? line : PLAQ_LANES;
  if (lx & (line - 1) & ~(W - 1)) return;
  PLAQ_UNROLL for (int i = 0; i < N * PLAQ_LANES; i += step) __builtin_prefetch(at + i, 0, 2);
}

template <class S, int N, class R>
PLAQ_FN void load_raw(R (&v)[N], const Plane& p, const Site& s, int ns, int off, Hint hint) {
  constexpr int W = lanes<R>::W;
  const typename S::T* at = component<S, R>(p, s, ns, off);
  if (W > 1 && hint == stream) prefetch<W, N>(at + ns * PLAQ_LANES, s.lx);
  PLAQ_UNROLL for (int c = 0; c < N; c++) v[c] = lane_io<typename S::T, R>::load(at + c * PLAQ_LANES);
  if constexpr (W > 1)
    if (const int x = s.lx & (W - 1)) PLAQ_UNROLL for (int c = 0; c < N; c++) v[c] = lane_xor(v[c], x);
}

template <class S, int N, class R>
PLAQ_FN void store_raw(const R (&v)[N], const Plane& p, const Site& s, int ns, int off, Hint hint = keep) {
  typedef lane_io<typename S::T, R> io;
  typename S::T* at = component<S, R>(p, s, ns, off);
  if (hint == stream) PLAQ_UNROLL for (int c = 0; c < N; c++) io::stream_store(at + c * PLAQ_LANES, v[c]);
  else {
    PLAQ_UNROLL for (int c = 0; c < N; c++) io::store(at + c * PLAQ_LANES, v[c]);
  }
}

// Prefetches N reals of the site after s in `parts` pieces, between pieces of arithmetic. All at
// once they would fill the core's miss buffers, and the loads of this site would wait behind them.
// Each pass over W lanes prefetches its share as consecutive lines, which the processor's own
// prefetchers then follow; they do not follow every second line.
template <class S, class R, int N> struct NextSite {
  static constexpr int W = lanes<R>::W, bytes = N * W * sizeof(typename S::T), lines = (bytes + 63) / 64;
  const char* at;
  PLAQ_FN NextSite(const Plane& p, const Site& s, int ns, int off)
      : at(p.data + (((i64)s.o + 1) * ns + off) * (PLAQ_LANES * sizeof(typename S::T)) + s.lx / W * bytes) {}
  // Prefetches piece k once v is known: compilers would otherwise gather the prefetches, which depend on nothing, in
  // one place.
  PLAQ_FN void fetch(int k, int parts, R v) {
    if (W == 1) return;
    asm("" : "+r"(at) : "X"(v));
    PLAQ_UNROLL for (int i = k * lines / parts; i < (k + 1) * lines / parts; i++) __builtin_prefetch(at + i * 64, 0, 2);
  }
};
#endif

// Unit of a fixed-point site: value = unit * stored integer.
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

// The unit that fits values up to `top`. On the GPU it has 12 bits, so that unit * fixed_bias is
// exact and the bias costs nothing in a fused multiply-add.
template <class R> PLAQ_FN R fixed_unit(R top) {
#if PLAQ_GPU
  const float u = fmaxf((float)top, 1e-30f) * (1.0f / 32760.0f);
  return (R)__uint_as_float((__float_as_uint(u) + 0xFFFu) & ~0xFFFu);
#else
  return vmax(top, splat<R>(1e-30f)) * (1.0f / 32767.0f);
#endif
}
// The unit of numbers in [-1, 1]: 2^-15 (1 + 2^-11), short for the same reason.
constexpr float fixed_step = 3.0517578125e-5f * (1.0f + 1.0f / 2048.0f);

// N reals of a field with a unit per site (spinors: N = ns = 24).
template <class S, int N, class R>
PLAQ_FN void load(R (&v)[N], const Plane& p, const Site& s, Hint hint = keep) {
  load_raw<S>(v, p, s, N, 0, hint);
  if constexpr (S::fixed) {
    const R unit = load_norm<R>(p, s);
    PLAQ_UNROLL for (int c = 0; c < N; c++) v[c] = v[c] * unit;
  }
}
template <class S, int N, class R>
PLAQ_FN void store(const R (&v)[N], const Plane& p, const Site& s, Hint hint = keep) {
  if constexpr (S::fixed) {
    R top = vabs(v[0]);
    PLAQ_UNROLL for (int c = 1; c < N; c++) top = vmax(top, vabs(v[c]));
    const R unit = fixed_unit(top), scale = splat<R>(1) / unit;
    store_norm(unit, p, s);
    R q[N];
    PLAQ_UNROLL for (int c = 0; c < N; c++) q[c] = v[c] * scale;
    store_raw<S>(q, p, s, N, 0, hint);
  } else {
    store_raw<S>(v, p, s, N, 0, hint);
  }
}

#if PLAQ_GPU
// Half a spinor, spins 2 half and 2 half + 1. Lanes l and l ^ 16 of a warp have the two halves of a
// site. In fixed point a half is one chunk of 8 and half of the one in the middle.
template <class S, class R> PLAQ_FN void load_half(R (&v)[12], const Plane& p, const Site& s, int half) {
  if constexpr (!S::fixed) {
    load_raw<S>(v, p, s, 24, 12 * half, keep);
  } else {
    const uint4* at = (const uint4*)site_address<8>((const short*)p.data, s.o, 24, 0);
    bits<short, 4> b[3];
    bits<short, 8> outer;
    bits<short, 4> inner;
    outer.w = __ldg(at + 64 * half), inner.w = __ldg((const uint2*)(at + 32) + half);
    PLAQ_UNROLL for (int k = 0; k < 2; k++) {
      b[0].pair[k] = half ? inner.pair[k] : outer.pair[k];
      b[1].pair[k] = half ? outer.pair[k] : outer.pair[2 + k];
      b[2].pair[k] = half ? outer.pair[2 + k] : inner.pair[k];
    }
    PLAQ_UNROLL for (int c = 0; c < 3; c++) unpack<S>(v, b[c], c);
    scale_words(v, load_norm<R>(p, s));
  }
}
// All lanes must call this; lanes that are not `inside` store nothing.
template <class S, class R> PLAQ_FN void store_half(const R (&v)[12], const Plane& p, const Site& s, int half, bool inside) {
  if constexpr (!S::fixed) {
    if (inside) store_raw<S>(v, p, s, 24, 12 * half);
  } else {
    R top = vabs(v[0]);
    PLAQ_UNROLL for (int i = 1; i < 12; i++) top = vmax(top, vabs(v[i]));
    const R unit = fixed_unit(vmax(top, __shfl_xor_sync(0xffffffffu, top, 16))), scale = __fdividef(1.0f, unit);  // to 2 ulp
    unsigned w[6];
    PLAQ_UNROLL for (int k = 0; k < 6; k++)
      w[k] = __byte_perm(__float_as_uint(fmaf(v[2 * k], scale, fixed_bias)),
                         __float_as_uint(fmaf(v[2 * k + 1], scale, fixed_bias)), 0x5410);
    if (!inside) return;
    if (half == 0) store_norm(unit, p, s);
    uint4* at = (uint4*)site_address<8>((short*)p.data, s.o, 24, 0);
    at[64 * half] = half ? uint4{w[2], w[3], w[4], w[5]} : uint4{w[0], w[1], w[2], w[3]};
    ((uint2*)(at + 32))[half] = half ? uint2{w[0], w[1]} : uint2{w[4], w[5]};
  }
}
#endif

// Loads N reals from offset `off` of the ns reals of a site, where fixed point has the constant range [-1, 1].
template <class S, int N, class R>
PLAQ_FN void load_part(R (&v)[N], const Plane& p, const Site& s, int ns, int off, Hint hint = keep) {
#if PLAQ_GPU
  if constexpr (S::fixed) {
    load_words<S>(v, p, s, ns, off, hint);
    PLAQ_UNROLL for (int c = 0; c < N; c++) v[c] = fma_(v[c], (R)fixed_step, (R)(-fixed_bias * fixed_step));
    return;
  }
#endif
  load_raw<S>(v, p, s, ns, off, hint);
  if constexpr (S::fixed) PLAQ_UNROLL for (int c = 0; c < N; c++) v[c] = v[c] * fixed_step;
}
template <class S, int N, class R>
PLAQ_FN void store_part(const R (&v)[N], const Plane& p, const Site& s, int ns, int off) {
  if constexpr (S::fixed) {
    const R top = splat<R>(32767.0f);
    R q[N];
    PLAQ_UNROLL for (int c = 0; c < N; c++) {
      const R x = v[c] * (1.0f / fixed_step);
      const R y = select(x > top, top, x);
      q[c] = select(y < -top, -top, y);
    }
    store_raw<S>(q, p, s, ns, off);
  } else {
    store_raw<S>(v, p, s, ns, off);
  }
}

// Stores the two blocks of a clover site with one norm for both. Always in blocks of 36: the GPU's layout follows the
// number of reals that are moved at once.
template <class S, class R> PLAQ_FN void store_blocks(const R (&b)[2][36], const Plane& p, const Site& s) {
  R scale = splat<R>(1);
  if constexpr (S::fixed) {
    R top = vabs(b[0][0]);
    PLAQ_UNROLL for (int ch = 0; ch < 2; ch++) PLAQ_UNROLL for (int i = 0; i < 36; i++) top = vmax(top, vabs(b[ch][i]));
    const R unit = fixed_unit(top);
    store_norm(unit, p, s);
    scale = splat<R>(1) / unit;
  }
  PLAQ_UNROLL for (int ch = 0; ch < 2; ch++) {
    R v[36];
    PLAQ_UNROLL for (int i = 0; i < 36; i++) v[i] = b[ch][i] * scale;
    store_raw<S>(v, p, s, 72, 36 * ch);
  }
}
template <class S, class R> PLAQ_FN void load_blocks(R (&b)[2][36], const Plane& p, const Site& s) {
  R scale = splat<R>(1);
  if constexpr (S::fixed) scale = load_norm<R>(p, s);
  PLAQ_UNROLL for (int ch = 0; ch < 2; ch++) {
    load_raw<S>(b[ch], p, s, 72, 36 * ch, keep);
    PLAQ_UNROLL for (int i = 0; i < 36; i++) b[ch][i] = b[ch][i] * scale;
  }
}

}  // namespace PLAQ_NS
