// Dense products on the coarsest level: with the inverse of the whole operator, a matrix [column][row], and with
// low modes, the right-hand sides of a vector.
#pragma once
#include "rows.h"

namespace PLAQ_NS {

// out = A in for a matrix A of `rows` times `columns` numbers and every right-hand side. On the CPU an element is
// DENSE_ROWS rows of all right-hand sides; on a GPU a warp has eight rows of one, four threads to a row.
template <int W, class S> struct DenseApply {
  typedef typename S::T T;
  typedef typename S::C C;
  static PLAQ_FN void site(const DenseArgs& a, Element o, int lx, int) {
    const int rows = (int)a.rows, nrhs = a.nrhs();
    const T *m = (const T*)a.matrix, *in = (const T*)a.x;
    T* out = (T*)a.y;
#if PLAQ_GPU
    const int part = (int)(o >> 3) & 3, tile = (int)((o >> 5) / nrhs), j = (int)((o >> 5) % nrhs), row = tile * 8 + (int)(o & 7);
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
    const int first = (int)o * DENSE_ROWS, count = rows - first < DENSE_ROWS ? rows - first : DENSE_ROWS;
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

// Position of <x_i, y_j>, column i of x and right-hand side j: products of DENSE_COLUMNS columns are consecutive.
PLAQ_FN i64 dense_pair(const DenseArgs& a, int i, int j) {
  return (i64)(i / DENSE_COLUMNS * a.nrhs() + j) * DENSE_COLUMNS + i % DENSE_COLUMNS;
}

// <x_i, y_j> of column i of x and column j of y; a batch is one j and DENSE_COLUMNS consecutive values of i, j fastest.
// On the CPU an element is `numbers` numbers of every column, on a GPU one number.
template <int W, class S> struct DenseProject {
  typedef typename S::T T;
  static PLAQ_FN void site(const DenseArgs& a, Element o, int lx, int batch, Sums<2 * DENSE_COLUMNS, W>& s) {
    const int first = batch / a.nrhs() * DENSE_COLUMNS, j = batch % a.nrhs();
    double v[2 * DENSE_COLUMNS] = {};
    const auto one = [&](i64 at) {
      const cplx<double> q = number<double>((const T*)a.y, at * a.nrhs() + j);
      PLAQ_UNROLL for (int k = 0; k < DENSE_COLUMNS; k++) {
        if (first + k >= a.columns) break;
        const cplx<double> p = number<double>((const T*)a.x, at * a.columns + first + k);
        v[2 * k] += add_products(p.re, q.re, p.im, q.im), v[2 * k + 1] += sub_products(p.re, q.im, p.im, q.re);
      }
    };
#if PLAQ_GPU
    one(o);
    PLAQ_UNROLL for (int k = 0; k < 2 * DENSE_COLUMNS; k++) s.v[k] += v[k];
#else
    if (lx != 0) return;
    for (int c = 0; c < a.numbers; c++) one((i64)o * a.numbers + c);
    for (int k = 0; k < 2 * DENSE_COLUMNS; k++) {
      if constexpr (W == 1) {
        s.v[k] += v[k];
      } else {
        s.v[k][0] += v[k];
      }
    }
#endif
  }
};

// y_j = scale sum_i c_ij x_i, added to y_j with `keep`, for `rows` numbers; c are the products in double that
// DenseProject leaves. On a GPU DENSE_PARTS threads share a number.
template <int W, class S> struct DenseCombine {
  typedef typename S::T T;
  typedef typename S::C C;
  // Sum of c_ij x_i for number `at` over the columns i, i + step, ...
  static PLAQ_FN cplx<C> sum(const DenseArgs& a, i64 at, int j, int i, int step) {
    cplx<C> sum = {0, 0};
    for (; i < a.columns; i += step) {
      const cplx<double> c = number<double>((const double*)a.matrix, dense_pair(a, i, j));
      sum = madd(sum, cplx<C>{(C)c.re, (C)c.im}, number<C>((const T*)a.x, at * a.columns + i));
    }
    return sum;
  }
  static PLAQ_FN void put(const DenseArgs& a, i64 to, cplx<C> sum) {
    sum = (C)a.scale * sum;
    if (a.keep) sum = sum + number<C>((const T*)a.y, to);
    put_number((T*)a.y, to, sum);
  }
  static PLAQ_FN void site(const DenseArgs& a, Element o, int lx, int) {
#if PLAQ_GPU
    const int part = (int)(o % DENSE_PARTS);
    const Element to = o / DENSE_PARTS;
    cplx<C> z = {0, 0};
    if (to < a.rows) z = sum(a, to / a.nrhs(), (int)(to % a.nrhs()), part, DENSE_PARTS);
    PLAQ_UNROLL for (int x = 1; x < DENSE_PARTS; x *= 2) {
      z.re += __shfl_xor_sync(0xffffffffu, z.re, x);
      z.im += __shfl_xor_sync(0xffffffffu, z.im, x);
    }
    if (part == 0 && to < a.rows) put(a, to, z);
#else
    if (lx != 0) return;
    for (i64 at = (i64)o * a.numbers; at < (i64)(o + 1) * a.numbers; at++)
      for (int j = 0; j < a.nrhs(); j++) put(a, at * a.nrhs() + j, sum(a, at, j, 0, 1));
#endif
  }
};

}  // namespace PLAQ_NS
