// Momenta of links: random numbers, sums, arrays of host programs.
#pragma once
#include "algebra.h"
#include "bounds.h"
#include "random.h"
#include "sums.h"

namespace PLAQ_NS {

// Normal coefficients of unit variance, 0 for links that do not change; batches = parities.
template <int W, class S> struct RandomMomenta {
  static PLAQ_FN void site(const MomentaArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    PLAQ_LOOP for (int mu = 0; mu < 4; mu++) {
      const Draws<1> draws(a.geom, x, a.seed, RANDOM_MOMENTA, mu, (u32)a.step);
      double h[8];
      normal(h, draws, 0);
      Algebra<typename S::C> p;
      const double moves = active<double>(a.bounds, a.geom, x, mu);
      PLAQ_UNROLL for (int i = 0; i < 8; i++) p.a[i] = (typename S::C)(moves * h[i]);
      store_algebra<S>(p, plane(a.momenta, parity), x, mu);
    }
  }
};

// Sets the momenta of links that do not change to 0.
template <int W, class S> struct MomentaZeroFixed {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const MomentaArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    if (!some_vanish(a.bounds, a.geom, x)) return;
    for (int mu = 0; mu < 4; mu++) {
      const R moves = active<R>(a.bounds, a.geom, x, mu);
      Algebra<R> p;
      load_algebra<S>(p, plane(a.momenta, parity), x, mu);
      PLAQ_UNROLL for (int i = 0; i < 8; i++) p.a[i] = moves * p.a[i];
      store_algebra<S>(p, plane(a.momenta, parity), x, mu);
    }
  }
};

// Sum: p_a^2 over all links; maximum: the largest sum over a of p_a^2 of a link.
template <int W, class S> struct MomentaSum {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const MomentaArgs& a, int o, int lx, int parity, Sums<2, W>& sums) {
    const Site x = site_at(a.geom, o, parity, lx);
    for (int mu = 0; mu < 4; mu++) {
      Algebra<R> p;
      load_algebra<S>(p, plane(a.momenta, parity), x, mu);
      const R n = norm2(p);
      sums.add(0, n);
      sums.max(1, n);
    }
  }
};

// momenta = scale momenta + factor other, whose precision may differ.
template <int W, class S, class SY> struct MomentaAdd {
  typedef real<typename real_wider<typename S::C, typename SY::C>::type, W> R;
  static PLAQ_FN void site(const MomentaArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    for (int mu = 0; mu < 4; mu++) {
      Algebra<R> p, q;
      load_algebra<S>(p, plane(a.momenta, parity), x, mu);
      load_algebra<SY>(q, plane(a.other, parity), x, mu);
      PLAQ_UNROLL for (int i = 0; i < 8; i++) p.a[i] = fma_(splat<R>(a.scale), p.a[i], splat<R>(a.factor) * q.a[i]);
      store_algebra<S>(p, plane(a.momenta, parity), x, mu);
    }
  }
};

// momenta = scale momenta + factor times the coefficients 2 Im tr T_a W of general matrices W.
template <int W, class S> struct MomentaProject {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const MomentaArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    for (int mu = 0; mu < 4; mu++) {
      Algebra<R> p;
      Su3<R> w;
      load_algebra<S>(p, plane(a.momenta, parity), x, mu);
      load_link<S, R18>(w, plane(a.other, parity), x, mu);
      const Algebra<R> f = imaginary(w);
      PLAQ_UNROLL for (int i = 0; i < 8; i++) p.a[i] = fma_(splat<R>(a.scale), p.a[i], splat<R>(a.factor) * f.a[i]);
      store_algebra<S>(p, plane(a.momenta, parity), x, mu);
    }
  }
};

// Copies momenta from or to an array of doubles with four links per site, in one of the formats MOMENTA_*. Numbers of
// the array are `factor` times those of p. Batches = parities.
template <int W, class S> struct MomentaArray {
  typedef double R;
  static PLAQ_FN void site(const MomentaArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    i64 index = local_index(a.geom, x, lx);
    if (a.split) {
      i64 half = 1;
      PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) half *= local_extent(a.geom, mu);
      index = index / 2 + (parity ? half / 2 : 0);
    }
    const int n = a.form == MOMENTA_TEN ? 10 : a.form == MOMENTA_MATRICES ? 18 : 8;
    for (int mu = 0; mu < 4; mu++) {
      double* v = (double*)a.array + (4 * index + mu) * n;
      Algebra<R> p;
      Algebra<typename S::C> q;
      if (a.load) {
        if (a.form == MOMENTA_COEFFICIENTS) {
          for (int i = 0; i < 8; i++) p.a[i] = v[i];
        } else if (a.form == MOMENTA_TEN) {
          // v = i h: (re, im) of the elements 01, 02, 12, then the imaginary parts of the diagonal
          const Hermitian<R> h = {{v[6], v[7], v[8]}, {v[1], -v[0]}, {v[3], -v[2]}, {v[5], -v[4]}};
          p = algebra_of(h);
        } else if (a.form == MOMENTA_OPENQCD) {
          // v = i h, diagonal (c1 + c2, c2 - 2 c1, c1 - 2 c2), then 01, 02, 12
          const Hermitian<R> h = {{v[0] + v[1], v[1] - 2 * v[0], v[0] - 2 * v[1]}, {v[3], -v[2]}, {v[5], -v[4]}, {v[7], -v[6]}};
          p = algebra_of(h);
        } else {
          Su3<R> w;
          for (int i = 0; i < 9; i++) w.e[i / 3][i % 3] = {v[2 * i], v[2 * i + 1]};
          p = imaginary(w);
        }
        PLAQ_UNROLL for (int i = 0; i < 8; i++) q.a[i] = (typename S::C)(p.a[i] / a.factor);
        store_algebra<S>(q, plane(a.momenta, parity), x, mu);
        continue;
      }
      load_algebra<S>(q, plane(a.momenta, parity), x, mu);
      PLAQ_UNROLL for (int i = 0; i < 8; i++) p.a[i] = a.factor * (double)q.a[i];
      if (a.form == MOMENTA_COEFFICIENTS) {
        for (int i = 0; i < 8; i++) v[i] = p.a[i];
        continue;
      }
      const Hermitian<R> h = matrix_of(p);
      const cplx<R> up[3] = {h.e01, h.e02, h.e12};
      if (a.form == MOMENTA_TEN) {
        for (int i = 0; i < 3; i++) v[2 * i] = -up[i].im, v[2 * i + 1] = up[i].re, v[6 + i] = h.d[i];
        v[9] = 0;
      } else if (a.form == MOMENTA_OPENQCD) {
        v[0] = (h.d[0] - h.d[1]) / 3, v[1] = (h.d[0] - h.d[2]) / 3;
        for (int i = 0; i < 3; i++) v[2 + 2 * i] = -up[i].im, v[3 + 2 * i] = up[i].re;
      } else {
        for (int i = 0; i < 3; i++) {
          const int r = i == 2, c = i == 0 ? 1 : 2;
          v[8 * i] = 0, v[8 * i + 1] = h.d[i];
          v[2 * (3 * r + c)] = -up[i].im, v[2 * (3 * r + c) + 1] = up[i].re;
          v[2 * (3 * c + r)] = up[i].im, v[2 * (3 * c + r) + 1] = up[i].re;
        }
      }
    }
  }
};

}  // namespace PLAQ_NS
