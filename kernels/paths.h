// Products of links along paths of any shape, and the forces of closed ones, up to 8 paths at a time. Each launch takes
// all paths a step further, so that links are needed one site away at most, as far as borders reach. A step is a
// direction 0 to 3, or 7 minus the direction to step back; a path with a step below 0 is left as it is.
//
// Products grow from the last step to the first, P_k(x) = U_k(x) P_k+1(x + step). E(x) is the traceless imaginary part
// of a closed product that starts at x. Transported along the path, E(y) is added to the force on the link of a step
// forward from y and subtracted from that of a step back to y.
#pragma once
#include "algebra.h"
#include "sums.h"

namespace PLAQ_NS {

PLAQ_FN int path_direction(int step) { return step < 4 ? step : 7 - step; }

// Multiplies the products in `from` by the link of one step from the left; without `from` it starts
// new products.
template <int W, class S> struct PathStep {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const PathArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    for (int k = 0; k < a.paths; k++) {
      const int step = a.step[k];
      if (step < 0) continue;
      const bool forward = step < 4;
      const int mu = path_direction(step);
      const Site y = neighbour(a.geom, x, mu, forward);
      Su3<R> u;
      if (forward) {
        load_link<S, R18>(u, plane(a.gauge, parity), x, mu);
      } else {
        load_link<S, R18>(u, plane(a.gauge, y.par), y, mu);
        u = adj(u);
      }
      if (!a.last[k]) {
        Su3<R> p;
        load_link<S, R18>(p, plane(a.from, y.par), y, k, keep, a.paths);
        u = u * p;
      }
      store_link<S, R18>(u, plane(a.to, parity), x, k, a.paths);
    }
  }
};

// Traces, real and imaginary parts.
template <int W, class S> struct PathTraces {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const PathArgs& a, int o, int lx, int parity, Sums<16, W>& sums) {
    const Site x = site_at(a.geom, o, parity, lx);
    PLAQ_UNROLL for (int k = 0; k < 8; k++) {  // sums are numbered at compile time
      if (k >= a.paths) continue;
      Su3<R> p;
      load_link<S, R18>(p, plane(a.from, parity), x, k, keep, a.paths);
      const cplx<R> t = trace(p);
      sums.add(2 * k, t.re);
      sums.add(2 * k + 1, t.im);
    }
  }
};

// Adds products times their coefficients to the four matrices of each site: to the matrix of the first step's
// direction.
template <int W, class S> struct PathGather {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const PathArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    for (int mu = 0; mu < 4; mu++) {
      Su3<R> sum;
      bool any = false;
      for (int k = 0; k < a.paths; k++) {
        if (a.step[k] != mu) continue;
        if (!any) load_link<S, R18>(sum, plane(a.to, parity), x, mu);
        any = true;
        Su3<R> p;
        load_link<S, R18>(p, plane(a.from, parity), x, k, keep, a.paths);
        const R c = splat<R>(a.coef[k]);
        PLAQ_UNROLL for (int i = 0; i < 9; i++) sum.e[i / 3][i % 3] = sum.e[i / 3][i % 3] + c * p.e[i / 3][i % 3];
      }
      if (any) store_link<S, R18>(sum, plane(a.to, parity), x, mu);
    }
  }
};

// Computes E of closed products.
template <int W, class S> struct PathElements {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const PathArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    for (int k = 0; k < a.paths; k++) {
      Su3<R> p;
      load_link<S, R18>(p, plane(a.from, parity), x, k, keep, a.paths);
      Algebra<R> e = imaginary(p);
      const R c = splat<R>(a.coef[k]);
      PLAQ_UNROLL for (int i = 0; i < 8; i++) e.a[i] = c * e.a[i];
      store_algebra<S>(e, plane(a.to, parity), x, k, a.paths);
    }
  }
};

// Moves E one step along the path and adds to the forces of the links of that step.
template <int W, class S> struct PathForce {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const PathArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    for (int mu = 0; mu < 4; mu++) {
      Algebra<R> f;
      bool any = false;
      for (int k = 0; k < a.paths; k++) {
        const int step = a.step[k];
        if (step != mu && step != 7 - mu) continue;
        if (!any) load_algebra<S>(f, plane(a.force, parity), x, mu);
        any = true;
        const bool forward = step < 4;
        const Site y = neighbour(a.geom, x, mu, !forward);
        Su3<R> u;
        Algebra<R> e;
        load_algebra<S>(e, plane(a.from, y.par), y, k, a.paths);
        if (forward) {
          load_link<S, R18>(u, plane(a.gauge, y.par), y, mu);
          e = turned_back(e, u);
          Algebra<R> here;
          load_algebra<S>(here, plane(a.from, parity), x, k, a.paths);
          f = f + here;
        } else {
          load_link<S, R18>(u, plane(a.gauge, parity), x, mu);
          e = turned(e, u);
          f = f - e;
        }
        if (!a.last[k]) store_algebra<S>(e, plane(a.to, parity), x, k, a.paths);
      }
      if (any) store_algebra<S>(f, plane(a.force, parity), x, mu);
    }
  }
};

}  // namespace PLAQ_NS
