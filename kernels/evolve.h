// Molecular dynamics of links, and their projection to the group.
#pragma once
#include "algebra.h"
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
      // Links may contain the phases of a host program.
      store_link<S, R18>(e * u, plane(a.gauge, parity), x, mu);
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
      PLAQ_UNROLL for (int i = 0; i < 9; i++) {
        const R n = norm2(v.e[i / 3][i % 3] - u.e[i / 3][i % 3]);
        sums.add(0, n);
        sums.max(1, n);
      }
      store_link<S, R18>(v, plane(a.gauge, parity), x, mu);
    }
  }
};

// Compares two link fields, the second in place of momenta. Sum: |difference|^2; maximum: that of one entry.
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
