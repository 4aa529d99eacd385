// Colour vectors in spinors and spinors in colour vectors, plane waves on colour vectors, and the antisymmetric products
// of pairs of these, for distillation. Planes of fields are parities of right-hand sides.
#pragma once
#include "field.h"
#include "momentum.h"

namespace PLAQ_NS {

// Spin s of column k becomes colour vector table[4 k + s] of `inp`, or 0 if that number is negative. With time >= 0 the
// result is 0 on all other time slices. A batch is a parity of a column.
template <int W, class S> struct SpinPlace {
  typedef typename S::C R;
  static PLAQ_FN void site(const DistillArgs& a, int o, int lx, int batch) {
    const int parity = batch & 1;
    const Site x = site_at(a.geom, o, parity, lx);
    const bool here = a.time < 0 || global_coordinate(a.geom, x, lx, 3) == a.time;
    const int* from = (const int*)a.table + 4 * (batch >> 1);
    R v[24];
    for (int s = 0; s < 4; s++) {
      R c[6];
      if (here && from[s] >= 0) {
        load<S>(c, plane(a.inp, 2 * from[s] + parity), x);
      } else {
        PLAQ_UNROLL for (int i = 0; i < 6; i++) c[i] = 0;
      }
      PLAQ_UNROLL for (int i = 0; i < 6; i++) v[6 * s + i] = c[i];
    }
    store<S>(v, plane(a.out, batch), x);
  }
};

// Colour vector 4 k + s becomes spin s of column k. A batch is a parity of a column.
template <int W, class S> struct SpinTake {
  typedef typename S::C R;
  static PLAQ_FN void site(const DistillArgs& a, int o, int lx, int batch) {
    const int parity = batch & 1;
    const Site x = site_at(a.geom, o, parity, lx);
    R v[24];
    load<S>(v, plane(a.inp, batch), x);
    for (int s = 0; s < 4; s++) {
      R c[6];
      PLAQ_UNROLL for (int i = 0; i < 6; i++) c[i] = v[6 * s + i];
      store<S>(c, plane(a.out, 2 * (4 * (batch >> 1) + s) + parity), x);
    }
  }
};

// exp(i p x) times colour vector table[k], or the vector itself where p is 0. A batch is a parity of vector k.
template <int W, class S> struct ColourWave {
  typedef typename S::C R;
  static PLAQ_FN void site(const DistillArgs& a, int o, int lx, int batch) {
    const int parity = batch & 1;
    const Site x = site_at(a.geom, o, parity, lx);
    R v[6];
    load<S>(v, plane(a.inp, 2 * ((const int*)a.table)[batch >> 1] + parity), x);
    multiply(v, a, x, lx);
    store<S>(v, plane(a.out, batch), x);
  }
  static PLAQ_FN void multiply(R (&v)[6], const DistillArgs& a, const Site& x, int lx) {
    const int origin[4] = {0, 0, 0, 0};
    double re, im;
    momentum_phase(a.geom, x, lx, a.momentum, origin, re, im);
    PLAQ_UNROLL for (int i = 0; i < 6; i += 2) {
      const double p = v[i], q = v[i + 1];
      v[i] = (R)(re * p - im * q), v[i + 1] = (R)(re * q + im * p);
    }
  }
};

// exp(i p x) conj(v_b x v_c), (b x c)^i = eps_ijk b^j c^k, of the vectors b = table[2 k] of `inp` and c = table[2 k + 1] of
// `other`. A batch is a parity of product k.
template <int W, class S> struct ColourCross {
  typedef typename S::C R;
  static PLAQ_FN void site(const DistillArgs& a, int o, int lx, int batch) {
    const int parity = batch & 1;
    const Site x = site_at(a.geom, o, parity, lx);
    const int* pair = (const int*)a.table + 2 * (batch >> 1);
    R b[6], c[6], v[6];
    load<S>(b, plane(a.inp, 2 * pair[0] + parity), x);
    load<S>(c, plane(a.other, 2 * pair[1] + parity), x);
    PLAQ_UNROLL for (int i = 0; i < 3; i++) {
      const int j = 2 * ((i + 1) % 3), k = 2 * ((i + 2) % 3);
      v[2 * i] = b[j] * c[k] - b[j + 1] * c[k + 1] - b[k] * c[j] + b[k + 1] * c[j + 1];
      v[2 * i + 1] = -(b[j] * c[k + 1] + b[j + 1] * c[k] - b[k] * c[j + 1] - b[k + 1] * c[j]);
    }
    ColourWave<W, S>::multiply(v, a, x, lx);
    store<S>(v, plane(a.out, batch), x);
  }
};

}  // namespace PLAQ_NS
