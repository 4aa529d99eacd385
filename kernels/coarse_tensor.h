// Coarse operators with links in 16 or 8 bits on a GPU: links are half-precision numbers or integers plus 128, each
// matrix with a scale of its own, and several right-hand sides go through tensor cores.
#pragma once
#include "rows.h"

#if PLAQ_GPU
namespace PLAQ_NS {

// Reads the links of one column and a few rows of a matrix with an even number of rows.
template <class L> struct LinkWords;
template <> struct LinkWords<short> {
  // ROWS: number of rows in a load of 8 bytes. A link is scale * unit * (number -
  // offset).
  static constexpr int ROWS = 2;
  static constexpr float unit = 1, offset = 0;
  static PLAQ_FN uint2 load(const short* m, int rows, int c, int row) {
    return __ldg((const uint2*)m + ((i64)c * rows + (row < rows ? row : rows - 2)) / 2);
  }
  template <class C> static PLAQ_FN cplx<C> link(uint2 q, int b) {
    const cplx<float> z = from_halves(b == 0 ? q.x : q.y);
    return {(C)z.re, (C)z.im};
  }
  // The two numbers of a pair of rows of a tile, in half precision.
  typedef uint2 Pair;
  static PLAQ_FN uint2 pair(const short* m, int rows, int c, int row) { return load(m, rows, c, row); }
  static PLAQ_FN uint2 halves(uint2 q) { return q; }
};
// Turns a byte into a float by putting it into the mantissa of 128, where the last bit is worth 2^-8: the float is
// 128.5 + integer / 256, since bytes are integers plus 128.
template <> struct LinkWords<signed char> {
  static constexpr int ROWS = 4;
  static constexpr float unit = 256, offset = 128.5f;
  static PLAQ_FN u32 pair(const signed char* m, int rows, int c, int row) {
    return __ldg((const u32*)m + ((i64)c * rows + (row < rows ? row : rows - 2)) / 2);
  }
  static PLAQ_FN uint2 load(const signed char* m, int rows, int c, int row) {
    if (rows % 4 == 0) return __ldg((const uint2*)m + ((i64)c * rows + (row < rows ? row : rows - 4)) / 4);
    return {pair(m, rows, c, row), pair(m, rows, c, row + 2)};
  }
  template <class C> static PLAQ_FN cplx<C> link(uint2 q, int b) {
    const u32 two = b < 2 ? q.x : q.y;
    return {(C)__uint_as_float(__byte_perm(two, 0x43000000u, b % 2 == 0 ? 0x7604 : 0x7624)),
            (C)__uint_as_float(__byte_perm(two, 0x43000000u, b % 2 == 0 ? 0x7614 : 0x7634))};
  }
  typedef u32 Pair;
  // Puts a byte into the mantissa of 1024 in half precision and subtracts 1152, which is exact.
  static PLAQ_FN u32 less(u32 q) {
    u32 z;
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(z) : "r"(q), "r"(0x64806480u));
    return z;
  }
  static PLAQ_FN uint2 halves(u32 q) {
    return {less(__byte_perm(q, 0x64646464u, 0x4140)), less(__byte_perm(q, 0x64646464u, 0x4342))};
  }
};

// A warp has 16 rows and N times eight right-hand sides. A product of complex numbers is one of pairs of reals, (re, -im)
// and (im, re) of the matrix with (re, im) of the vector, so that pairs go to tensor cores as they are in memory. Rows 2 g
// and 2 g + 1 of the tile are rows g and g + 8 there: a load. Links are of eleven bits or eight, vectors in two parts of
// eleven, times a power of two for each neighbour and right-hand side.
template <int N> struct CoarseTile {
  static constexpr int STEPS = 6, COLUMNS = 8 * STEPS;
  float re[N][4], im[N][4];

  PLAQ_FN CoarseTile() {
    PLAQ_UNROLL for (int n = 0; n < N; n++) PLAQ_UNROLL for (int k = 0; k < 4; k++) re[n][k] = im[n][k] = 0;
  }
  // The power of two that scales numbers of at most `max` so that two numbers in half precision hold them, and its
  // inverse. For a `max` that is not finite both are NaN.
  static PLAQ_FN void power(float max, float& up, float& down) {
    const u32 exponent = __float_as_uint(max) >> 23, e = exponent < 10 ? 10 : exponent;
    up = __uint_as_float((263 - e) << 23), down = __uint_as_float((e - 9) << 23);
  }
  // Loads the part of a matrix that the warp shares, 16 rows from `row` on, into the second-level cache for its next
  // reader.
  template <class L> static PLAQ_FN void prefetch(const L* m, int rows, int row, int lane) {
    for (int c = lane; c < rows; c += 32) asm volatile("prefetch.global.L2 [%0];" ::"l"(m + 2 * ((i64)c * rows + row)));
  }
  // Adds scale * matrix `m` times right-hand sides j0 and up of `from`, for rows `row` and `row` + 1 of this thread.
  template <class L>
  PLAQ_FN void add(const L* m, const float* from, float scale, int rows, int row, int nrhs, int j0, int lane) {
    const int g = lane >> 2, t = lane & 3;
    PLAQ_UNROLL for (int first = 0; first < rows; first += COLUMNS) {
      // Links are loaded first, since they take the longest time to arrive.
      typename LinkWords<L>::Pair link[STEPS][2];
      PLAQ_UNROLL for (int s = 0; s < STEPS; s++) PLAQ_UNROLL for (int k = 0; k < 2; k++) {
        const int c = first + 8 * s + 4 * k + t;
        link[s][k] = {};
        if (row < rows && c < rows) link[s][k] = LinkWords<L>::pair(m, rows, c, row);
      }
      u32 high[STEPS][N][2], low[STEPS][N][2];
      float down[N];
      PLAQ_UNROLL for (int n = 0; n < N; n++) {
        const int j = j0 + 8 * n + g;
        cplx<float> z[STEPS][2];
        float max = 0, up;
        PLAQ_UNROLL for (int s = 0; s < STEPS; s++) PLAQ_UNROLL for (int k = 0; k < 2; k++) {
          const int c = first + 8 * s + 4 * k + t;
          z[s][k] = j < nrhs && c < rows ? number<float>(from, (i64)c * nrhs + j) : cplx<float>{0, 0};
          max = fmaxf(max, fmaxf(fabsf(z[s][k].re), fabsf(z[s][k].im)));
        }
        PLAQ_UNROLL for (int x = 1; x < 4; x *= 2) max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, x));
        power(max, up, down[n]);
        PLAQ_UNROLL for (int s = 0; s < STEPS; s++) PLAQ_UNROLL for (int k = 0; k < 2; k++) {
          const cplx<float> v = up * z[s][k];
          high[s][n][k] = to_halves(v), low[s][n][k] = to_halves(v - from_halves(high[s][n][k]));
        }
      }
      CoarseTile<N> part;
      PLAQ_UNROLL for (int s = 0; s < STEPS; s++) {
        if (first + 8 * s >= rows) break;
        u32 real_part[4], imaginary[4];
        PLAQ_UNROLL for (int k = 0; k < 2; k++) {
          const uint2 q = LinkWords<L>::halves(link[s][k]);
          real_part[2 * k] = q.x ^ 0x80000000u, real_part[2 * k + 1] = q.y ^ 0x80000000u;
          imaginary[2 * k] = __byte_perm(q.x, 0, 0x1032), imaginary[2 * k + 1] = __byte_perm(q.y, 0, 0x1032);
        }
        PLAQ_UNROLL for (int n = 0; n < N; n++) {
          tensor_product(part.re[n], real_part, high[s][n]), tensor_product(part.im[n], imaginary, high[s][n]);
          tensor_product(part.re[n], real_part, low[s][n]), tensor_product(part.im[n], imaginary, low[s][n]);
        }
      }
      // The thread's sums belong to right-hand sides 2 t and 2 t + 1, t = lane % 4.
      PLAQ_UNROLL for (int n = 0; n < N; n++) {
        const float unit[2] = {scale * __shfl_sync(0xffffffffu, down[n], 8 * t), scale * __shfl_sync(0xffffffffu, down[n], 8 * t + 4)};
        PLAQ_UNROLL for (int k = 0; k < 4; k++) {
          re[n][k] = fma_(unit[k & 1], part.re[n][k], re[n][k]);
          im[n][k] = fma_(unit[k & 1], part.im[n][k], im[n][k]);
        }
      }
    }
  }
};

}  // namespace PLAQ_NS
#endif
