// Spinors in half precision with right-hand sides beside each other: [site][right-hand side][colour][spin] of pairs
// (re, im), so that the four spins of a colour are a load of 16 bytes. Each right-hand side has a scale of its own, a
// power of two. On a CPU each lane of a site counts as a site.
#pragma once
#include "element.h"
#include "field.h"
#include "halves.h"

namespace PLAQ_NS {

// The four spins of one colour, each a pair (re, im) in half precision.
struct HalfSpins {
  u32 s[4];
};
PLAQ_FN i64 half_spins_at(i64 site, int colour, int nrhs, int rhs) { return (site * nrhs + rhs) * 3 + colour; }

PLAQ_FN HalfSpins load_half_spins(const char* field, i64 at) {
#if PLAQ_GPU
  const uint4 q = __ldg((const uint4*)field + at);
  return {{q.x, q.y, q.z, q.w}};
#else
  HalfSpins q;
  __builtin_memcpy(&q, field + 16 * at, 16);
  return q;
#endif
}
PLAQ_FN void store_half_spins(char* field, i64 at, const HalfSpins& q) {
#if PLAQ_GPU
  ((uint4*)field)[at] = uint4{q.s[0], q.s[1], q.s[2], q.s[3]};
#else
  __builtin_memcpy(field + 16 * at, &q, 16);
#endif
}

// Loads the eight reals of a colour of right-hand side `rhs`, spin by spin (re, im), for the lanes of R.
template <class R> PLAQ_FN void load_colour(R (&v)[8], const char* field, const Site& s, int colour, int nrhs, int rhs) {
#if PLAQ_GPU
  const HalfSpins q = load_half_spins(field, half_spins_at(s.o, colour, nrhs, rhs));
  PLAQ_UNROLL for (int k = 0; k < 4; k++) {
    const cplx<float> z = from_halves(q.s[k]);
    v[2 * k] = (R)z.re, v[2 * k + 1] = (R)z.im;
  }
#else
  constexpr int W = lanes<R>::W;
  for (int i = 0; i < W; i++) {
    const HalfSpins q = load_half_spins(field, half_spins_at((i64)s.o * PLAQ_LANES + s.lx + i, colour, nrhs, rhs));
    for (int k = 0; k < 4; k++) {
      const cplx<float> z = from_halves(q.s[k]);
      if constexpr (W == 1) v[2 * k] = z.re, v[2 * k + 1] = z.im;
      else v[2 * k][i] = z.re, v[2 * k + 1][i] = z.im;
    }
  }
#endif
}

// The power of two that scales a vector with |v|^2 = norm2 to a norm between 64 and 128, far from the limits 2^-14 and
// 65504 of half precision; 1 if norm2 is negative, not finite, below 2^-200 or above 2^201.
PLAQ_FN float half_scale(double norm2) {
#if PLAQ_GPU
  const u32 top = (u32)__double2hiint(norm2);
#else
  u64 bits;
  __builtin_memcpy(&bits, &norm2, 8);
  const u32 top = bits >> 32;
#endif
  const int exponent = (int)(top >> 20) - 1023;  // of what is negative or not finite it is large
  if (exponent < -200 || exponent > 200) return 1;
  const u32 scale = (u32)(127 + 6 - (exponent >> 1)) << 23;
#if PLAQ_GPU
  return __uint_as_float(scale);
#else
  return bits_float(scale);
#endif
}

}  // namespace PLAQ_NS
