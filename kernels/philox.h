// Counter-based random numbers: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, SC11). A number depends
// on the seed, the global site and its purpose alone, so that a field does not depend on lanes,
// threads, ranks or device.
#pragma once
#include "geometry.h"

namespace PLAQ_NS {

PLAQ_FN void philox(u32 (&c)[4], u32 k0, u32 k1) {
  PLAQ_UNROLL for (int round = 0; round < 10; round++) {
    const u64 p = (u64)c[0] * 0xd2511f53u, q = (u64)c[2] * 0xcd9e8d57u;
    const u32 c1 = c[1], c3 = c[3];
    c[0] = (u32)(q >> 32) ^ c1 ^ k0, c[1] = (u32)q;
    c[2] = (u32)(p >> 32) ^ c3 ^ k1, c[3] = (u32)p;
    k0 += 0x9e3779b9u, k1 += 0xbb67ae85u;
  }
}

// Lexicographic index in the global lattice (below 2^48) of lane `lane` of the site.
PLAQ_FN i64 global_index(const Geom& g, const Site& s, int lane) {
  i64 x[4];
  PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) x[mu] = global_coordinate(g, s, lane, mu);
  return x[0] + g.global[0] * (x[1] + g.global[1] * (x[2] + g.global[2] * x[3]));
}

// Random blocks of four 32-bit words for W lanes of a site. Key: the seed. Counter: global index of the site (48 bits),
// purpose (RANDOM_*) and an index such as the direction (8 bits each), step (sweep or right-hand side), number of the
// block.
template <int W> struct Draws {
  u32 site[W], rest[W];
  u32 key[2], step;

  PLAQ_FN Draws(const Geom& g, const Site& s, u64 seed, int purpose, int index, u32 step_) : step(step_) {
    key[0] = (u32)seed, key[1] = (u32)(seed >> 32);
    for (int i = 0; i < W; i++) {
      const u64 x = global_index(g, s, s.lx + i);
      site[i] = (u32)x, rest[i] = (u32)(x >> 32) | (u32)purpose << 16 | (u32)index << 24;
    }
  }
  PLAQ_FN void words(u32 (&w)[4], int lane, u32 block) const {
    w[0] = site[lane], w[1] = rest[lane], w[2] = step, w[3] = block;
    philox(w, key[0], key[1]);
  }
  // Four uniform numbers in (0, 1): in single precision from 23 bits of each word of block 2n, in double from 52 bits
  // of blocks 2n and 2n + 1; the number in single is that in double, rounded.
  template <class R> PLAQ_FN void uniform(R (&u)[4], u32 n) const {
    typedef typename scalar_of<R>::type T;
    static_assert(lanes<R>::W == W, "lanes");
    T v[4][W];
    for (int i = 0; i < W; i++) {
      u32 w[4];
      words(w, i, 2 * n);
      if constexpr (sizeof(T) == 8) {
        u32 low[4];
        words(low, i, 2 * n + 1);
        PLAQ_UNROLL for (int k = 0; k < 4; k++)
          v[k][i] = ((double)(i64)((u64)w[k] << 20 | low[k] >> 12) + 0.5) * 0x1p-52;
      } else {
        PLAQ_UNROLL for (int k = 0; k < 4; k++) v[k][i] = ((float)(int)(w[k] >> 9) + 0.5f) * 0x1p-23f;
      }
    }
#if PLAQ_GPU
    PLAQ_UNROLL for (int k = 0; k < 4; k++) u[k] = v[k][0];
#else
    __builtin_memcpy(&u, &v, sizeof(u));
#endif
  }
};

}  // namespace PLAQ_NS
