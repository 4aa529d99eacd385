// Operations on many vectors at once, each a right-hand side: products of all pairs, linear combinations. An element is
// a load of 16 bytes on the GPU, a complex number of all lanes on the CPU: neither the layout of sites nor the number
// of components matters.
#pragma once
#include "element.h"
#include "field.h"
#include "sums.h"

namespace PLAQ_NS {

template <class S> PLAQ_FN constexpr int element_reals() { return PLAQ_GPU ? 16 / (int)sizeof(typename S::T) : 2; }

// A plane that begins at element `o` of N numbers, so that this element is its site 0.
template <class S, int N> PLAQ_FN Plane element_plane(const FieldView& f, Element o, int lx, int index, Site& s) {
  Plane p = plane(f, index);
  p.data += (i64)o * (N * PLAQ_LANES * (int)sizeof(typename S::T));
  s.lx = lx;
  return p;
}
template <class S, int N, class R> PLAQ_FN void get_element(R (&v)[N], const FieldView& f, Element o, int lx, int index) {
  Site s{};
  const Plane p = element_plane<S, N>(f, o, lx, index, s);
  load_raw<S>(v, p, s, N, 0, keep);
}
template <class S, int N, class R> PLAQ_FN void put_element(const R (&v)[N], const FieldView& f, Element o, int lx, int index) {
  Site s{};
  const Plane p = element_plane<S, N>(f, o, lx, index, s);
  store_raw<S>(v, p, s, N, 0);
}

// Scalar products <v_i, w_j> of BASIS_ROWS vectors i with BASIS_COLUMNS vectors j, row by row, (re, im). A batch is
// such a tile, columns fastest. Vectors beyond the counts are not read, and their products have no meaning.
template <int W, class S> struct BasisDots {
  static constexpr int N = element_reals<S>();
  typedef real<typename S::C, W> R;
  typedef real<double, W> D;
  static PLAQ_FN void site(const BasisArgs& a, Element o, int lx, int batch, Sums<2 * BASIS_ROWS * BASIS_COLUMNS, W>& s) {
    const int across = (a.columns + BASIS_COLUMNS - 1) / BASIS_COLUMNS;
    const int row = batch / across * BASIS_ROWS, column = batch % across * BASIS_COLUMNS;
    for (int parity = 0; parity < a.parities; parity++) {
      D v[BASIS_ROWS][N];
      PLAQ_UNROLL for (int i = 0; i < BASIS_ROWS; i++) {
        R x[N];
        const int k = row + i < a.rows ? row + i : row;
        get_element<S>(x, a.v, o, lx, (a.first_v + k) * a.parities + parity);
        PLAQ_UNROLL for (int c = 0; c < N; c++) v[i][c] = convert<D>(x[c]);
      }
      PLAQ_UNROLL for (int j = 0; j < BASIS_COLUMNS; j++) {
        if (column + j >= a.columns) continue;
        R x[N];
        D w[N];
        get_element<S>(x, a.w, o, lx, (a.first_w + column + j) * a.parities + parity);
        PLAQ_UNROLL for (int c = 0; c < N; c++) w[c] = convert<D>(x[c]);
        PLAQ_UNROLL for (int i = 0; i < BASIS_ROWS; i++) {
          const int at = 2 * (i * BASIS_COLUMNS + j);
          PLAQ_UNROLL for (int c = 0; c < N; c += 2) {
            s.v[at] = fma_(v[i][c], w[c], fma_(v[i][c + 1], w[c + 1], s.v[at]));
            s.v[at + 1] = fma_(v[i][c], w[c + 1], fnma_(v[i][c + 1], w[c], s.v[at + 1]));
          }
        }
      }
    }
  }
};

// w_j = alpha w_j + sum_i v_i c_ij for BASIS_OUT vectors j; a batch is one parity of these vectors. Rows of c have
// `columns` complex doubles. With alpha = 0 w is not read; with rows = 0 v_j is copied to w_j instead.
template <int W, class S> struct BasisUpdate {
  static constexpr int N = element_reals<S>();
  typedef real<typename S::C, W> R;
  typedef typename S::C C;
  static PLAQ_FN void site(const BasisArgs& a, Element o, int lx, int batch) {
    const int parity = batch % a.parities, column = batch / a.parities * BASIS_OUT;
    const int count = a.columns - column < BASIS_OUT ? a.columns - column : BASIS_OUT;
    R w[BASIS_OUT][N], v[N];
    PLAQ_UNROLL for (int j = 0; j < BASIS_OUT; j++) {
      PLAQ_UNROLL for (int c = 0; c < N; c++) w[j][c] = splat<R>(0);
      if (j >= count) continue;
      if (a.rows == 0) get_element<S>(w[j], a.v, o, lx, (a.first_v + column + j) * a.parities + parity);
      else if (a.alpha != 0) {
        get_element<S>(w[j], a.w, o, lx, (a.first_w + column + j) * a.parities + parity);
        if (a.alpha != 1) PLAQ_UNROLL for (int c = 0; c < N; c++) w[j][c] = w[j][c] * splat<R>(a.alpha);
      }
    }
    const double* coef = (const double*)a.coef + 2 * column;
    for (int i = 0; i < a.rows; i++, coef += 2 * a.columns) {
      get_element<S>(v, a.v, o, lx, (a.first_v + i) * a.parities + parity);
      PLAQ_UNROLL for (int j = 0; j < BASIS_OUT; j++) {
        if (j >= count) continue;
        const R re = splat<R>((C)coef[2 * j]), im = splat<R>((C)coef[2 * j + 1]);
        PLAQ_UNROLL for (int c = 0; c < N; c += 2) {
          w[j][c] = fma_(re, v[c], fnma_(im, v[c + 1], w[j][c]));
          w[j][c + 1] = fma_(re, v[c + 1], fma_(im, v[c], w[j][c + 1]));
        }
      }
    }
    PLAQ_UNROLL for (int j = 0; j < BASIS_OUT; j++)
      if (j < count) put_element<S>(w[j], a.w, o, lx, (a.first_w + column + j) * a.parities + parity);
  }
};

}  // namespace PLAQ_NS
