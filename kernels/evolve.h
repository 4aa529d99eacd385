// Molecular dynamics of links, and their projection to the group.
#pragma once
#include "algebra.h"
#include "bounds.h"
#include "sums.h"

namespace PLAQ_NS {

// U_mu(x) <- exp(i step p_mu(x)) U_mu(x), in place; batches = parities.
template <int W, class S> struct EvolveLinks {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const EvolveArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    const R step = splat<R>(a.step);
    for (int mu = 0; mu < 4; mu++) {
      Algebra<R> p;
      Su3<R> u, e;
      load_algebra<S>(p, plane(a.momenta, parity), x, mu);
      load_link<S, R18>(u, plane(a.gauge, parity), x, mu, stream);
      PLAQ_UNROLL for (int i = 0; i < 8; i++) p.a[i] = step * p.a[i];
      exp_whole(e, p.a);
      // The whole matrix is multiplied, since with the phases of a host program links need not be in SU(3).
      store_link<S, R18>(e * u, plane(a.gauge, parity), x, mu);
    }
  }
};

// Sets links that do not exist to 0 and, where spatial links of slice 0 are fixed, these to the diagonal matrices given
// in `bounds`.
template <int W, class S> struct BoundLinks {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const EvolveArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    if (!some_vanish(a.bounds, a.geom, x)) return;
    for (int mu = 0; mu < 4; mu++) {
      const R there = exists<R>(a.bounds, a.geom, x, mu);
      const bool fixed = mu < 3 && (a.bounds.kind() & BOUND_FIXED);
      Su3<R> u;
      load_link<S, R18>(u, plane(a.gauge, parity), x, mu);
      PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < 3; j++) {
        cplx<R>& z = u.e[i][j];
        z = {select(there > splat<R>(0), z.re, splat<R>(0)), select(there > splat<R>(0), z.im, splat<R>(0))};
        if (!fixed) continue;
        z.re = on_first(a.geom, x, splat<R>(i == j ? a.bounds.edge_re[3 * mu + i] : 0), z.re);
        z.im = on_first(a.geom, x, splat<R>(i == j ? a.bounds.edge_im[3 * mu + i] : 0), z.im);
      }
      store_link<S, R18>(u, plane(a.gauge, parity), x, mu);
    }
  }
};

// Projects links to the group. Sum: |change|^2; maximum: the largest |change|^2 of one entry.
template <int W, class S> struct ProjectLinks {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const EvolveArgs& a, int o, int lx, int parity, Sums<2, W>& sums) {
    const Site x = site_at(a.geom, o, parity, lx);
    for (int mu = 0; mu < 4; mu++) {
      Su3<R> u, v;
      load_link<S, R18>(u, plane(a.gauge, parity), x, mu);
      v = u;
      reunitarise(v);
      // Links that do not exist or are fixed stay as they are.
      const R moves = active<R>(a.bounds, a.geom, x, mu);
      PLAQ_UNROLL for (int i = 0; i < 9; i++) {
        cplx<R>& z = v.e[i / 3][i % 3];
        const cplx<R> old = u.e[i / 3][i % 3];
        z = {select(moves > splat<R>(0), z.re, old.re), select(moves > splat<R>(0), z.im, old.im)};
      }
      PLAQ_UNROLL for (int i = 0; i < 9; i++) {
        const R n = norm2(v.e[i / 3][i % 3] - u.e[i / 3][i % 3]);
        sums.add(0, n);
        sums.max(1, n);
      }
      store_link<S, R18>(v, plane(a.gauge, parity), x, mu);
    }
  }
};

// Sum: |u - v|^2 over all entries of the link fields `gauge` and `momenta`; maximum: the largest |u - v|^2 of an entry.
template <int W, class S> struct LinksDistance {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const EvolveArgs& a, int o, int lx, int parity, Sums<2, W>& sums) {
    const Site x = site_at(a.geom, o, parity, lx);
    for (int mu = 0; mu < 4; mu++) {
      Su3<R> u, v;
      load_link<S, R18>(u, plane(a.gauge, parity), x, mu);
      load_link<S, R18>(v, plane(a.momenta, parity), x, mu);
      PLAQ_UNROLL for (int i = 0; i < 9; i++) {
        const R n = norm2(v.e[i / 3][i % 3] - u.e[i / 3][i % 3]);
        sums.add(0, n);
        sums.max(1, n);
      }
    }
  }
};

}  // namespace PLAQ_NS
