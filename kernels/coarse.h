// Operators and vectors of coarse levels. A matrix is kept column after column, so that rows follow
// each other: [site][direction][column][row], direction 2 mu + forward.
#pragma once
#include "rows.h"

namespace PLAQ_NS {

// out = coef_y y + coef (sum over directions of links in(neighbour) + diagonal in) on the sites from
// `first` on. A neighbour n < 0 is entry -n - 1 of the face that came across in that direction; the least
// of all numbers: there is none.
template <int W, class S> struct CoarseApply {
  typedef typename S::T T;
  typedef typename S::C C;
  // f(matrix, vector) of every term.
  template <class F> static PLAQ_FN void terms(const CoarseApplyArgs& a, i64 site, const F& f) {
    const i64 matrix = (i64)2 * a.rows() * a.rows(), vector = (i64)2 * a.rows() * a.nrhs();
    const int* neighbours = (const int*)a.neighbours + 8 * site;
    for (int d = 0; d < 8; d++) {
      if (!((a.directions >> d) & 1)) continue;
      const int n = neighbours[d];
      if (n < -2147483647) continue;
      const T* from = n >= 0 ? (const T*)a.inp + (n - a.first_in) * vector : (const T*)a.halo[d] + (-1 - n) * vector;
      f((const T*)a.links + (8 * site + d) * matrix, from);
    }
    if ((a.directions >> 8) & 1) f((const T*)a.diagonal + site * matrix, (const T*)a.inp + (site - a.first_in) * vector);
  }
#if PLAQ_GPU
  // Eight rows and four parts of the dot product share a warp; a thread has up to B right-hand sides.
  template <int B> static PLAQ_FN void rows(const CoarseApplyArgs& a, int o) {
    const int rows = a.rows(), nrhs = a.nrhs(), groups = (nrhs + B - 1) / B, tiles = (rows + 7) / 8;
    const int part = (o >> 3) & 3;
    u32 i = (u32)o >> 5;
    const int row = (int)(i % (u32)tiles) * 8 + (o & 7);
    i /= (u32)tiles;
    const int j0 = (int)(i % (u32)groups) * B;
    const i64 site = a.first + i / (u32)groups;
    const int r = row < rows ? row : rows - 1;
    cplx<C> sum[B];
    PLAQ_UNROLL for (int b = 0; b < B; b++) sum[b] = {0, 0};
    if (site < a.first + a.count) {
      terms(a, site, [&](const T* m, const T* from) {
        for (int c = part; c < rows; c += 4) {
          const cplx<C> z = number<C>(m, (i64)c * rows + r);
          PLAQ_UNROLL for (int b = 0; b < B; b++)
            if (j0 + b < nrhs) sum[b] = madd(sum[b], z, number<C>(from, c * nrhs + j0 + b));
        }
      });
    }
    PLAQ_UNROLL for (int b = 0; b < B; b++) {
      PLAQ_UNROLL for (int x = 8; x < 32; x *= 2) {
        sum[b].re += __shfl_xor_sync(0xffffffffu, sum[b].re, x);
        sum[b].im += __shfl_xor_sync(0xffffffffu, sum[b].im, x);
      }
    }
    if (part != 0 || row >= rows || site >= a.first + a.count) return;
    PLAQ_UNROLL for (int b = 0; b < B; b++) {
      if (j0 + b >= nrhs) continue;
      const i64 at = (i64)row * nrhs + j0 + b, size = (i64)rows * nrhs;
      cplx<C> z = (C)a.coef * sum[b];
      if (a.with_y()) z = z + (C)a.coef_y * number<C>((const T*)a.y, (site - a.first_y) * size + at);
      put_number((T*)a.out, (site - a.first_out) * size + at, z);
    }
  }
  static PLAQ_FN void site(const CoarseApplyArgs& a, int o, int, int) {
    if (a.nrhs() == 1) rows<1>(a, o);
    else rows<4>(a, o);
  }
#else
  template <class R> static PLAQ_FN void store(const CoarseApplyArgs& a, T* out, const T* y, R v) {
    v = v * (C)a.coef;
    if (a.with_y()) v += lane_io<T, R>::load(y) * (C)a.coef_y;
    lane_io<T, R>::store(out, v);
  }
  static PLAQ_FN void site(const CoarseApplyArgs& a, int o, int lx, int) {
    if (lx != 0) return;
    constexpr int V = W < 2 ? 2 : W;
    const int rows = a.rows(), nrhs = a.nrhs();
    const i64 site = a.first + o, size = (i64)2 * rows * nrhs;
    T* out = (T*)a.out + (site - a.first_out) * size;
    const T* y = (const T*)a.y + (site - a.first_y) * size;
    if (nrhs == 1) {
      strips<4 * V>(2 * rows, [&](auto width, int from) {
        Tile<C, W, decltype(width)::value, 1> tile;
        terms(a, site, [&](const T* m, const T* in) {
          for (int c = 0; c < rows; c++) tile.add(m + (i64)2 * c * rows + from, in + 2 * c, 1);
        });
        for (int k = 0; k < tile.K; k++) store(a, out + from + k * tile.V, y + from + k * tile.V, tile.plain(0, k));
      });
      return;
    }
    const auto some_rows = [&](auto count, int row) {
      constexpr int N = decltype(count)::value;
      strips<2 * V>(2 * nrhs, [&](auto width, int from) {
        Tile<C, W, decltype(width)::value, N> tile;
        terms(a, site, [&](const T* m, const T* in) {
          for (int c = 0; c < rows; c++) tile.add(in + (i64)2 * c * nrhs + from, m + (i64)2 * (c * rows + row), 1);
        });
        for (int t = 0; t < N; t++)
          for (int k = 0; k < tile.K; k++) {
            const i64 at = (i64)2 * (row + t) * nrhs + from + k * tile.V;
            store(a, out + at, y + at, tile.plain(t, k));
          }
      });
    };
    int row = 0;
    for (; row + 4 <= rows; row += 4) some_rows(Width<4>{}, row);
    for (; row < rows; row++) some_rows(Width<1>{}, row);
  }
#endif
};

// Sites of one face into a message, by the list of them; those that the vector does not hold are left out.
template <int W, class S> struct CoarsePack {
  typedef typename S::T T;
  static PLAQ_FN void site(const CoarsePackArgs& a, int o, int lx, int) {
    const int size = a.components() * a.nrhs();
#if PLAQ_GPU
    const int site = ((const int*)a.sites)[o / size] - a.first;
    if (site >= 0 && site < a.count)
      put_number<typename S::C>((T*)a.out, o, number<typename S::C>((const T*)a.inp, (i64)site * size + o % size));
#else
    if (lx != 0) return;
    const int site = ((const int*)a.sites)[o] - a.first;
    if (site < 0 || site >= a.count) return;
    const T* from = (const T*)a.inp + (i64)2 * site * size;
    T* to = (T*)a.out + (i64)2 * o * size;
    for (int i = 0; i < 2 * size; i++) to[i] = from[i];
#endif
  }
};

// f(index of a complex number, its right-hand side) of an element: on the CPU of a site's numbers.
template <class A, class F> PLAQ_FN void each_number(const A& a, int o, int lx, const F& f) {
#if PLAQ_GPU
  f((i64)o, o % a.nrhs());
#else
  if (lx != 0) return;
  const int components = a.components(), nrhs = a.nrhs();
  const i64 from = (i64)o * components * nrhs;
  if (nrhs == 1) {
    for (int c = 0; c < components; c++) f(from + c, 0);
    return;
  }
  for (int c = 0; c < components; c++)
    for (int j = 0; j < nrhs; j++) f(from + (i64)c * nrhs + j, j);
#endif
}
template <class C> PLAQ_FN cplx<C> coarse_coefficient(const double* c, int j) { return {(C)c[2 * j], (C)c[2 * j + 1]}; }

// y = a x + b y, z = a x + b y + c z, or y += x inside of aggregates.
template <int W, class S> struct CoarseBlas {
  typedef typename S::T T;
  typedef typename S::C C;
  static PLAQ_FN void site(const CoarseBlasArgs& a, int o, int lx, int) {
    const T* x = (const T*)a.x;
    T *y = (T*)a.y, *z = (T*)a.z;
    const int op = a.op(), from = a.first_rhs, count = a.count_rhs;
    if (op == COARSE_INNER) {
#if PLAQ_GPU
      const int site = o / (a.components() * a.nrhs());
#else
      const int site = o;
#endif
      if (((const int*)a.faces)[site] & a.face) return;
      each_number(a, o, lx, [&](i64 i, int) { put_number<C>(y, i, number<C>((const T*)x, i) + number<C>((const T*)y, i)); });
      return;
    }
    each_number(a, o, lx, [&](i64 i, int j) {
      j -= from;
      if (j < 0 || j >= count) return;
      cplx<C> v = coarse_coefficient<C>(a.a, j) * number<C>(x, i);
      const cplx<C> b = coarse_coefficient<C>(a.b, j);
      // What is overwritten may be NaN.
      if (b.re != 0 || b.im != 0) v = madd(v, b, number<C>((const T*)y, i));
      if (op == COARSE_AXPBY) put_number<C>(y, i, v);
      else put_number<C>(z, i, madd(v, coarse_coefficient<C>(a.c, j), number<C>((const T*)z, i)));
    });
  }
};

// Re <x, y>, Im <x, y>, |x|^2 of right-hand side `batch`, over some sites.
template <int W, class S> struct CoarseSum {
  typedef typename S::T T;
  static PLAQ_FN void site(const CoarseBlasArgs& a, int o, int lx, int batch, Sums<3, W>& s) {
    const int components = a.components(), nrhs = a.nrhs();
    const T *x = (const T*)a.x, *y = (const T*)a.y;
    const auto one = [&](i64 i, double (&v)[3]) {
      const cplx<double> p = number<double>(x, i), q = number<double>(y, i);
      v[0] += p.re * q.re + p.im * q.im;
      v[1] += p.re * q.im - p.im * q.re;
      v[2] += p.re * p.re + p.im * p.im;
    };
    double v[3] = {0, 0, 0};
#if PLAQ_GPU
    one((i64)o * nrhs + batch, v);
    for (int k = 0; k < 3; k++) s.v[k] += v[k];
#else
    if (lx != 0) return;
    for (int c = 0; c < components; c++) one(((i64)o * components + c) * nrhs + batch, v);
    real<double, W> first = {};
    for (int k = 0; k < 3; k++) {
      if constexpr (W == 1) first = v[k];
      else first[0] = v[k];
      s.v[k] += first;
    }
#endif
  }
};

// Columns of one vector into those of another, in another precision, of one chirality or of both.
template <int W, class SX, class SY> struct CoarseColumns {
  static PLAQ_FN void site(const CoarseColumnsArgs& a, int o, int lx, int) {
    typedef typename SY::C C;
    const int components = a.components(), count = a.count();
    const auto move = [&](i64 at, int c, int j) {
      const bool in = a.chirality == 0 || (c < components / 2) == (a.chirality == 1);
      const cplx<C> z = number<C>((const typename SX::T*)a.x, at * a.columns_x() + a.first_x + j);
      put_number((typename SY::T*)a.y, at * a.columns_y() + a.first_y + j, in ? z : cplx<C>{0, 0});
    };
#if PLAQ_GPU
    const i64 at = o / count;
    move(at, (int)(at % components), o % count);
#else
    if (lx != 0) return;
    for (int c = 0; c < components; c++)
      for (int j = 0; j < count; j++) move((i64)o * components + c, c, j);
#endif
  }
};

// Matrices in place: Gauss-Jordan elimination with pivots of largest modulus in a column. Sums: matrices
// that have no inverse.
template <int W> struct CoarseInvert {
  static PLAQ_FN void site(const CoarseMatrixArgs& a, int o, int lx, int, Sums<1, W>& s) {
    if (lx != 0) return;
    const int n = a.rows();
    double* m = (double*)a.out + (i64)2 * o * n * n;
    int* swaps = (int*)a.inp + (i64)o * n;
    // By the columns of memory: the inverse of the transpose is the transpose of the inverse.
    const auto at = [&](int r, int c) { return m + 2 * (r * n + c); };
    for (int k = 0; k < n; k++) {
      int best = k;
      double top = -1;
      for (int r = k; r < n; r++) {
        const double* z = at(r, k);
        const double v = z[0] * z[0] + z[1] * z[1];
        if (v > top) top = v, best = r;
      }
      swaps[k] = best;
      if (!(top > 0) || !(top < 1e300)) {
        s.v[0] += 1;
        return;
      }
      if (best != k)
        for (int c = 0; c < 2 * n; c++) {
          const double t = at(k, 0)[c];
          at(k, 0)[c] = at(best, 0)[c], at(best, 0)[c] = t;
        }
      const double pr = at(k, k)[0] / top, pi = -at(k, k)[1] / top;
      at(k, k)[0] = 1, at(k, k)[1] = 0;
      for (int c = 0; c < n; c++) {
        double* z = at(k, c);
        const double re = z[0] * pr - z[1] * pi, im = z[0] * pi + z[1] * pr;
        z[0] = re, z[1] = im;
      }
      for (int r = 0; r < n; r++) {
        if (r == k) continue;
        const double fr = at(r, k)[0], fi = at(r, k)[1];
        at(r, k)[0] = 0, at(r, k)[1] = 0;
        double *z = at(r, 0), *p = at(k, 0);
        for (int c = 0; c < n; c++) {
          z[2 * c] -= fr * p[2 * c] - fi * p[2 * c + 1];
          z[2 * c + 1] -= fr * p[2 * c + 1] + fi * p[2 * c];
        }
      }
    }
    for (int k = n - 1; k >= 0; k--)
      if (swaps[k] != k)
        for (int r = 0; r < n; r++)
          for (int i = 0; i < 2; i++) {
            const double t = at(r, k)[i];
            at(r, k)[i] = at(r, swaps[k])[i], at(r, swaps[k])[i] = t;
          }
  }
};

// out = A B of matrices [column][row]: A of the site, B and out of every direction of it.
template <int W, class S> struct CoarseMultiply {
  typedef typename S::T T;
  typedef typename S::C C;
  static PLAQ_FN void site(const CoarseMatrixArgs& a, int o, int lx, int) {
    const int n = a.rows();
    const i64 size = (i64)n * n;
#if PLAQ_GPU
    const i64 matrix = o / size;
    const int c = (int)((o % size) / n), r = o % n;
    const T *left = (const T*)a.left + 2 * (matrix / a.each()) * size, *right = (const T*)a.inp + 2 * (matrix * size + c * n);
    cplx<C> sum = {0, 0};
    for (int k = 0; k < n; k++) sum = madd(sum, number<C>(left, (i64)k * n + r), number<C>(right, k));
    put_number((T*)a.out, (i64)o, sum);
#else
    if (lx != 0) return;
    constexpr int V = W < 2 ? 2 : W;
    const T *left = (const T*)a.left + 2 * (o / a.each()) * size, *right = (const T*)a.inp + 2 * o * size;
    T* out = (T*)a.out + 2 * o * size;
    for (int c = 0; c < n; c++)
      strips<4 * V>(2 * n, [&](auto width, int from) {
        Tile<C, W, decltype(width)::value, 1> tile;
        for (int k = 0; k < n; k++) tile.add(left + (i64)2 * k * n + from, right + (i64)2 * (c * n + k), 1);
        for (int k = 0; k < tile.K; k++)
          lane_io<T, typename decltype(tile)::R>::store(out + (i64)2 * c * n + from + k * tile.V, tile.plain(0, k));
      });
#endif
  }
};

}  // namespace PLAQ_NS
