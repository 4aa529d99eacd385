// Dense products on the coarsest level: with the inverse of the whole operator, a matrix [column][row], and with
// low modes, the right-hand sides of a vector.
#pragma once
#include "rows.h"

namespace PLAQ_NS {

// out = A in: `rows` numbers of every right-hand side from `columns` of them. On the CPU an element is
// DENSE_ROWS rows; on a GPU eight rows and four parts of the sum share a warp.
template <int W, class S> struct DenseApply {
  typedef typename S::T T;
  typedef typename S::C C;
  static PLAQ_FN void site(const DenseArgs& a, int o, int lx, int) {
    const int rows = a.rows, nrhs = a.nrhs();
    const T *m = (const T*)a.matrix, *in = (const T*)a.x;
    T* out = (T*)a.y;
#if PLAQ_GPU
    const int part = (o >> 3) & 3, tile = (o >> 5) / nrhs, j = (o >> 5) % nrhs, row = tile * 8 + (o & 7);
    const int r = row < rows ? row : rows - 1;
    cplx<C> sum = {0, 0};
    for (int c = part; c < a.columns; c += 4) sum = madd(sum, number<C>(m, (i64)c * rows + r), number<C>(in, (i64)c * nrhs + j));
    PLAQ_UNROLL for (int x = 8; x < 32; x *= 2) {
      sum.re += __shfl_xor_sync(0xffffffffu, sum.re, x);
      sum.im += __shfl_xor_sync(0xffffffffu, sum.im, x);
    }
    if (part == 0 && row < rows) put_number(out, (i64)row * nrhs + j, sum);
#else
    if (lx != 0) return;
    constexpr int V = W < 2 ? 2 : W;
    const int first = o * DENSE_ROWS, count = rows - first < DENSE_ROWS ? rows - first : DENSE_ROWS;
    for (int j = 0; j < nrhs; j++)
      strips<4 * V>(2 * count, [&](auto width, int from) {
        Tile<C, W, decltype(width)::value, 1> tile;
        for (int c = 0; c < a.columns; c++) tile.add(m + 2 * ((i64)c * rows + first) + from, in + 2 * ((i64)c * nrhs + j), 1);
        for (int k = 0; k < tile.K; k++) {
          const auto r = tile.plain(0, k);
          for (int i = 0; i < tile.V; i += 2)
            put_number(out, (i64)(first + (from + k * tile.V + i) / 2) * nrhs + j, cplx<C>{r[i], r[i + 1]});
        }
      });
#endif
  }
};

// <x_i, y_j> of column i of x and column j of y; a batch is (i, j), j fastest. On the CPU an element is
// `numbers` numbers of every column, on a GPU one.
template <int W, class S> struct DenseProject {
  typedef typename S::T T;
  static PLAQ_FN void site(const DenseArgs& a, int o, int lx, int batch, Sums<2, W>& s) {
    const int i = batch / a.nrhs(), j = batch % a.nrhs();
    double re = 0, im = 0;
    const auto one = [&](i64 at) {
      const cplx<double> p = number<double>((const T*)a.x, at * a.columns + i), q = number<double>((const T*)a.y, at * a.nrhs() + j);
      re += p.re * q.re + p.im * q.im, im += p.re * q.im - p.im * q.re;
    };
#if PLAQ_GPU
    one(o);
    s.v[0] += re, s.v[1] += im;
#else
    if (lx != 0) return;
    for (int c = 0; c < a.numbers; c++) one((i64)o * a.numbers + c);
    if constexpr (W == 1) s.v[0] += re, s.v[1] += im;
    else s.v[0][0] += re, s.v[1][0] += im;
#endif
  }
};

// y_j = keep y_j + scale sum_i c_ij x_i; c in double, as DenseProject leaves it.
template <int W, class S> struct DenseCombine {
  typedef typename S::T T;
  typedef typename S::C C;
  static PLAQ_FN void number_at(const DenseArgs& a, i64 at, int j) {
    cplx<C> sum = {0, 0};
    for (int i = 0; i < a.columns; i++) {
      const cplx<double> c = number<double>((const double*)a.matrix, (i64)i * a.nrhs() + j);
      sum = madd(sum, cplx<C>{(C)c.re, (C)c.im}, number<C>((const T*)a.x, at * a.columns + i));
    }
    sum = (C)a.scale * sum;
    const i64 to = at * a.nrhs() + j;
    if (a.keep) sum = sum + number<C>((const T*)a.y, to);
    put_number((T*)a.y, to, sum);
  }
  static PLAQ_FN void site(const DenseArgs& a, int o, int lx, int) {
#if PLAQ_GPU
    number_at(a, o / a.nrhs(), o % a.nrhs());
#else
    if (lx != 0) return;
    for (int c = 0; c < a.numbers; c++)
      for (int j = 0; j < a.nrhs(); j++) number_at(a, (i64)o * a.numbers + c, j);
#endif
  }
};

}  // namespace PLAQ_NS
