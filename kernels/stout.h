// Stout smearing (Morningstar and Peardon, hep-lat/0311018) and the chain rule for forces on smeared links:
//   U' = exp(i Q) U,  Q the traceless part of (O - O^dagger) / 2i,  O_mu = sum_nu rho_munu (staples) U_mu^dagger.
// With U -> exp(i w) U and U' -> exp(i w') U' one has w' = J dQ + exp(i Q) w exp(-i Q), and a force F' that
// belongs to w' is one that belongs to w:  F = exp(-i Q) F' exp(i Q) + what L = J^T F' gives through dQ.
// J is the series of ((i ad Q)^n / (n + 1)!), its transpose that of -Q. With boundaries in time fixed links have
// no Q, and staples that would leave the lattice do not exist; all others count alike.
#pragma once
#include "algebra.h"
#include "bounds.h"

namespace PLAQ_NS {

template <class R> PLAQ_FN Su3<R> whole_matrix(const Algebra<R>& x) {
  const Hermitian<R> h = matrix_of(x);
  Su3<R> m;
  PLAQ_UNROLL for (int i = 0; i < 3; i++) m.e[i][i] = {h.d[i], splat<R>(0)};
  m.e[0][1] = h.e01, m.e[0][2] = h.e02, m.e[1][2] = h.e12;
  m.e[1][0] = conj(h.e01), m.e[2][0] = conj(h.e02), m.e[2][1] = conj(h.e12);
  return m;
}

// Loads a link of direction mu that is a step in direction `along` ahead of x.
template <class S, class R> PLAQ_FN void load_next(Su3<R>& u, const StoutArgs& a, const Site& s, int mu, const Site& x, int along) {
  load_link<S, R18>(u, plane(a.gauge, s.par), s, mu);
  if (along == 3) put_edge(u, a.bounds, a.geom, x, mu);
}
// 1 for staples of the plane mu, nu of links of x that exist, above the link or below it, else 0.
template <class R> PLAQ_FN R staple_exists(const StoutArgs& a, const Site& x, int mu, int nu, bool below) {
  if (!a.bounds.kind() || nu != 3) return splat<R>(1);
  return time_weight<R>(a.bounds, a.geom, x, below, 1, 1);
}
// The element q, or 0 for a link that does not change.
template <class R> PLAQ_FN Algebra<R> of_active(const StoutArgs& a, const Site& x, int mu, Algebra<R> q) {
  if (!a.bounds.kind()) return q;
  const R c = active<R>(a.bounds, a.geom, x, mu);
  PLAQ_UNROLL for (int i = 0; i < 8; i++) q.a[i] = c * q.a[i];
  return q;
}

// Computes Q (Morningstar and Peardon, Eqs. 1, 2).
template <int W, class S> struct StoutExponent {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void load(Su3<R>& u, const StoutArgs& a, const Site& s, int mu) {
    load_link<S, R18>(u, plane(a.gauge, s.par), s, mu);
  }
  static PLAQ_FN void site(const StoutArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    for (int mu = 0; mu < 4; mu++) {
      const Site b = neighbour(a.geom, x, mu, true);
      Su3<R> sum = {}, u, v, w;
      for (int nu = 0; nu < 4; nu++) {
        if (nu == mu || a.rho[4 * mu + nu] == 0) continue;
        const R rho = splat<R>(a.rho[4 * mu + nu]);
        const Site up = neighbour(a.geom, x, nu, true), down = neighbour(a.geom, x, nu, false);
        load(u, a, x, nu), load_next<S>(v, a, up, mu, x, nu), load_next<S>(w, a, b, nu, x, mu);
        Su3<R> staple = (u * v) * adj(w);
        load(u, a, down, nu), load(v, a, down, mu), load_next<S>(w, a, neighbour(a.geom, b, nu, false), nu, x, mu);
        const Su3<R> below = adj(u) * (v * w);
        if (a.bounds.kind()) {
          const R f = staple_exists<R>(a, x, mu, nu, false), g = staple_exists<R>(a, x, mu, nu, true);
          PLAQ_UNROLL for (int i = 0; i < 9; i++) {
            cplx<R>& z = staple.e[i / 3][i % 3];
            const cplx<R> y = below.e[i / 3][i % 3];
            z = {f * z.re + g * y.re, f * z.im + g * y.im};
          }
        } else {
          staple = staple + below;
        }
        PLAQ_UNROLL for (int i = 0; i < 9; i++) sum.e[i / 3][i % 3] = madd(sum.e[i / 3][i % 3], rho, staple.e[i / 3][i % 3]);
      }
      load(u, a, x, mu);
      store_algebra<S>(of_active(a, x, mu, imaginary(sum * adj(u))), plane(a.exponent, parity), x, mu);
    }
  }
};

// From Q and F' computes exp(-i Q) F' exp(i Q), in place of F', and L. The series end below rounding for eigenvalues of
// Q up to 1.5.
template <int W, class S> struct StoutLambda {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const StoutArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    for (int mu = 0; mu < 4; mu++) {
      Algebra<R> q, term;
      load_algebra<S>(q, plane(a.exponent, parity), x, mu);
      load_algebra<S>(term, plane(a.force, parity), x, mu);
      const Su3<R> m = whole_matrix(q);
      Algebra<R> direct = term, lambda = term;
      double factorial = 1;  // 1 / n!
      for (int n = 1; n < 30; n++) {
        // -i [Q, X] is the traceless part of 2 (Q X - (Q X)^dagger) / 2i.
        term = imaginary(m * whole_matrix(term));
        PLAQ_UNROLL for (int i = 0; i < 8; i++) term.a[i] = term.a[i] + term.a[i];
        factorial /= n;
        direct = add_times(direct, splat<R>(factorial), term);
        lambda = add_times(lambda, splat<R>(factorial / (n + 1)), term);
      }
      store_algebra<S>(direct, plane(a.force, parity), x, mu);
      store_algebra<S>(lambda, plane(a.lambda, parity), x, mu);
    }
  }
};

// Adds to F what comes from L: sum over links of 2 Im tr L dO. A plaquette from a along mu, then nu, has hermitian
// matrices at its corners a, b, c, d: K_a = rho_numu L_nu(a) - rho_munu L_mu(a), K_b = -rho_numu L_nu(b), K_c = 0, K_d
// = rho_munu L_mu(d).
template <int W, class S> struct StoutForce {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void load(Su3<R>& u, const StoutArgs& a, const Site& s, int mu) {
    load_link<S, R18>(u, plane(a.gauge, s.par), s, mu);
  }
  // f L_mu(s) + g L_nu(s)
  static PLAQ_FN Su3<R> corner(const StoutArgs& a, const Site& s, int mu, double f, int nu, double g) {
    Algebra<R> x, y;
    load_algebra<S>(x, plane(a.lambda, s.par), s, mu);
    load_algebra<S>(y, plane(a.lambda, s.par), s, nu);
    PLAQ_UNROLL for (int i = 0; i < 8; i++) x.a[i] = fma_(splat<R>(f), x.a[i], splat<R>(g) * y.a[i]);
    return whole_matrix(x);
  }
  // The corner's matrix where s is a step in direction `along` ahead of x: links of the slice behind the last one are
  // fixed.
  static PLAQ_FN Su3<R> corner_next(const StoutArgs& a, const Site& s, int mu, double f, int nu, double g, const Site& x, int along) {
    Su3<R> k = corner(a, s, mu, f, nu, g);
    if (along != 3 || !(a.bounds.kind() & BOUND_EDGE) || !near_last(a.geom, x)) return k;
    const R zero = splat<R>(0);
    PLAQ_UNROLL for (int i = 0; i < 9; i++) {
      cplx<R>& z = k.e[i / 3][i % 3];
      z = {on_last(a.geom, x, zero, z.re), on_last(a.geom, x, zero, z.im)};
    }
    return k;
  }
  static PLAQ_FN void site(const StoutArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    for (int mu = 0; mu < 4; mu++) {
      const Site b = neighbour(a.geom, x, mu, true);
      Su3<R> sum = {}, u, v, w;
      for (int nu = 0; nu < 4; nu++) {
        if (nu == mu) continue;
        const double r = a.rho[4 * mu + nu], t = a.rho[4 * nu + mu];
        if (r == 0 && t == 0) continue;
        const Site up = neighbour(a.geom, x, nu, true), down = neighbour(a.geom, x, nu, false);
        const Site side = neighbour(a.geom, b, nu, false);
        // Above: (K_b V W^dagger + V W^dagger K_d) Z^dagger + V W^dagger Z^dagger K_a
        load_next<S>(u, a, b, nu, x, mu), load_next<S>(v, a, up, mu, x, nu), load(w, a, x, nu);
        Su3<R> vw = u * adj(v), z = adj(w);
        Su3<R> in = corner_next(a, b, mu, 0, nu, -t, x, mu) * vw + vw * corner_next(a, up, mu, r, nu, 0, x, nu);
        in = in * z + vw * (z * corner(a, x, mu, -r, nu, t));
        // Below the corners of this link are d and c: V^dagger (K_b W^dagger + W^dagger K_a) Z
        // + V^dagger W^dagger Z K_d, with the opposite sign.
        load_next<S>(u, a, side, nu, x, mu), load(v, a, down, mu), load(w, a, down, nu);
        const Su3<R> back = adj(v), first = adj(u);
        Su3<R> mid = corner_next(a, side, mu, 0, nu, -t, x, mu) * back + back * corner(a, down, mu, -r, nu, t);
        mid = first * (mid * w + (back * w) * corner(a, x, mu, r, nu, 0));
        if (a.bounds.kind()) {
          const R f = staple_exists<R>(a, x, mu, nu, false), g = staple_exists<R>(a, x, mu, nu, true);
          PLAQ_UNROLL for (int i = 0; i < 9; i++) {
            cplx<R>&p = in.e[i / 3][i % 3], &q = mid.e[i / 3][i % 3];
            p = {f * p.re, f * p.im}, q = {g * q.re, g * q.im};
          }
        }
        PLAQ_UNROLL for (int i = 0; i < 9; i++) {
          const cplx<R> p = in.e[i / 3][i % 3], q = mid.e[i / 3][i % 3];
          sum.e[i / 3][i % 3] = sum.e[i / 3][i % 3] + cplx<R>{q.im - p.im, p.re - q.re};
        }
      }
      load(u, a, x, mu);
      Algebra<R> f;
      load_algebra<S>(f, plane(a.force, parity), x, mu);
      store_algebra<S>(of_active(a, x, mu, f + imaginary(u * sum)), plane(a.force, parity), x, mu);
    }
  }
};

}  // namespace PLAQ_NS
