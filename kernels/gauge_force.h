// Actions and forces of plaquettes and rectangles. The traceless imaginary part of a closed loop, turned
// along the loop, is the force that the loop exerts on each of its links; so every loop is multiplied
// out once, at one of its sites, and eight numbers of it go from neighbour to neighbour. With
// (T_nu X)(x) = U_nu(x-nu)^dagger X(x-nu) U_nu(x-nu) and, of each plane mu < nu, the elements
//   A: U_mu U_nu U_mu^dagger U_nu^dagger around x, B: the same with two steps in mu, D: two in nu,
// all with their coefficients, X = A + B + D:
//   F_mu =   X - T_nu X + T_mu (B - T_nu B) + T_nu (D - T_nu D)
//   F_nu = - X + T_mu X - T_nu (D - T_mu D) - T_mu (B - T_mu B)
// No kernel looks further than one site, which is as far as borders go.
#pragma once
#include "algebra.h"
#include "columns.h"
#include "sums.h"

#if PLAQ_GPU
#define PLAQ_ROLLED _Pragma("unroll 1")
#else
#define PLAQ_ROLLED
#endif

namespace PLAQ_NS {

// Number of the plane mu < nu in the order 01, 02, 12, 03, 13, 23.
PLAQ_FN constexpr int plane_number(int mu, int nu) { return nu * (nu - 1) / 2 + mu; }

// The plaquette of a plane around x.
template <class S, class R>
PLAQ_FN Su3<R> plaquette_of(const Geom& g, const Plane (&gauge)[2], const Site& x, int mu, int nu) {
  const Site xm = neighbour(g, x, mu, true), xn = neighbour(g, x, nu, true);
  Su3<R> a, b;
  load_link<S, R18>(a, gauge[x.par], x, mu);
  load_link<S, R18>(b, gauge[xm.par], xm, nu);
  const Su3<R> there = a * b;
  load_link<S, R18>(a, gauge[x.par], x, nu);
  load_link<S, R18>(b, gauge[xn.par], xn, mu);
  return there * adj(a * b);
}

template <class R> PLAQ_FN Algebra<R> times(R c, const Algebra<R>& x) {
  Algebra<R> z;
  PLAQ_UNROLL for (int i = 0; i < 8; i++) z.a[i] = c * x.a[i];
  return z;
}

// momenta = scale momenta - step F; sums: |F|^2 over links, and the largest.
template <class S, class R, int W>
PLAQ_FN void kick_link(const ForceArgs& a, const Plane& momenta, const Site& x, int mu, const Algebra<R>& f, Sums<2, W>& sums) {
  Algebra<R> p;
  load_algebra<S>(p, momenta, x, mu);
  const R n = norm2(f), scale = splat<R>(a.scale), step = splat<R>(-a.step);
  sums.add(0, n);
  sums.most(1, n);
  PLAQ_UNROLL for (int i = 0; i < 8; i++) p.a[i] = fma_(step, f.a[i], scale * p.a[i]);
  store_algebra<S>(p, momenta, x, mu);
}

// A link that is stored whole, of its first two rows: a third less to load than to take the other.
template <class S, class R> PLAQ_FN Su3<R> load_rows(const FieldView& gauge, const Site& s, int mu) {
  Su3<R> u;
  PLAQ_UNROLL for (int i = 0; i < 2; i++) {
    R v[6];
    load_part<S>(v, plane(gauge, s.par), link_site(s), 72, mu * 18 + i * 6);
    PLAQ_UNROLL for (int j = 0; j < 3; j++) u.e[i][j] = {v[2 * j], v[2 * j + 1]};
  }
  complete_rows(u);
  return u;
}

// w plus c times the matrix of these columns.
template <class R> PLAQ_FN void add_columns(Su3<R>& w, R c, const Columns<R>& v) {
  PLAQ_UNROLL for (int i = 0; i < 3; i++) {
    const int k = (i + 1) % 3, l = (i + 2) % 3;
    PLAQ_UNROLL for (int j = 0; j < 2; j++) {
      w.e[i][j].re = fma_(c, v.e[i][j].re, w.e[i][j].re);
      w.e[i][j].im = fma_(c, v.e[i][j].im, w.e[i][j].im);
    }
    w.e[i][2] = msub(madd(w.e[i][2], conj(v.e[k][0]), conj(c * v.e[l][1])), conj(v.e[l][0]), conj(c * v.e[k][1]));
  }
}

// The first two columns.
template <class R> PLAQ_FN Columns<R> columns(const Su3<R>& u) {
  Columns<R> v;
  PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < 2; j++) v.e[i][j] = u.e[i][j];
  return v;
}

// Link number i. On a GPU the four warps of a group have the directions of the same 16 sites of either
// parity: blocks then find most links in the first-level cache, and what a launch works on at a time lies
// together, whatever the parity. On a CPU the eight links of two sites follow each other.
struct LinkOrder {
  int o, par, mu;
};
PLAQ_FN LinkOrder link_order(int i) {
#if PLAQ_GPU
  return {(i >> 7) * 16 + (i & 15), (i >> 4) & 1, (i >> 5) & 3};
#else
  return {i >> 3, (i >> 2) & 1, i & 3};
#endif
}

// F_mu = sum over nu of the plaquettes that go through the link from its start, by staples.
template <int W, class S> struct PlaquetteForce {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const ForceArgs& a, int i, int lx, int, Sums<2, W>& sums) {
    const LinkOrder link = link_order(i);
    if (link.o >= volume(a.geom)) return;
    const int mu = link.mu;
    const Site x = site_at(a.geom, link.o, link.par, lx), xm = neighbour(a.geom, x, mu, true);
    Su3<R> staples = {};
    PLAQ_ROLLED for (int k = 1; k < 4; k++) {
      // The warps of two directions turn to the plane of these at the same time.
      const int nu = mu ^ k;
      const R c = splat<R>(a.plaquette[mu < nu ? plane_number(mu, nu) : plane_number(nu, mu)] * (1.0 / 6));
      // x+mu -> x+mu+nu -> x+nu -> x
      const Site up = neighbour(a.geom, x, nu, true);
      Columns<R> v = adjoint_columns(load_rows<S, R>(a.gauge, x, nu));
      v = times<true>(load_rows<S, R>(a.gauge, up, mu), v);
      v = times<false>(load_rows<S, R>(a.gauge, xm, nu), v);
      add_columns(staples, c, v);
      // x+mu -> x+mu-nu -> x-nu -> x
      const Site down = neighbour(a.geom, x, nu, false), corner = neighbour(a.geom, xm, nu, false);
      v = columns(load_rows<S, R>(a.gauge, down, nu));
      v = times<true>(load_rows<S, R>(a.gauge, down, mu), v);
      v = times<true>(load_rows<S, R>(a.gauge, corner, nu), v);
      add_columns(staples, c, v);
    }
    const Algebra<R> f = imaginary(load_rows<S, R>(a.gauge, x, mu) * staples);
    kick_link<S>(a, plane(a.momenta, link.par), x, mu, f, sums);
  }
};

// The plaquettes of the six planes, two rows of each.
template <int W, class S> struct PlaneLoops {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const ForceArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    const Plane gauge[2] = {plane(a.gauge, 0), plane(a.gauge, 1)};
    for (int nu = 1; nu < 4; nu++)
      for (int mu = 0; mu < nu; mu++)
        store_link<S, R12>(plaquette_of<S, R>(a.geom, gauge, x, mu, nu), plane(a.loops, parity), x, plane_number(mu, nu), 6);
  }
};

// Plaquette and rectangles of a plane around x, of plaquettes: with two steps in mu
// U_mu(x) P(x+mu) U_mu(x)^dagger P(x), in nu P(x) U_nu(x) P(x+nu) U_nu(x)^dagger.
template <class S, class R>
PLAQ_FN void rectangles_of(Su3<R>& p, Su3<R>& b, Su3<R>& d, const ForceArgs& a, const Site& x, int mu, int nu) {
  const int n = plane_number(mu, nu);
  const Site xm = neighbour(a.geom, x, mu, true), xn = neighbour(a.geom, x, nu, true);
  Su3<R> u, q;
  load_link<S, R12>(p, plane(a.loops, x.par), x, n, keep, 6);
  load_link<S, R18>(u, plane(a.gauge, x.par), x, mu);
  load_link<S, R12>(q, plane(a.loops, xm.par), xm, n, keep, 6);
  b = u * q * (adj(u) * p);
  load_link<S, R18>(u, plane(a.gauge, x.par), x, nu);
  load_link<S, R12>(q, plane(a.loops, xn.par), xn, n, keep, 6);
  d = p * u * (q * adj(u));
}

// X, B and D of the six planes: numbers p, 6 + p, 12 + p of 18.
template <int W, class S> struct RectangleElements {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const ForceArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    const Plane out = plane(a.elements, parity);
    for (int nu = 1; nu < 4; nu++)  // one plane at a time keeps registers few
      for (int mu = 0; mu < nu; mu++) {
      const int n = plane_number(mu, nu);
      Su3<R> p, b, d;
      rectangles_of<S, R>(p, b, d, a, x, mu, nu);
      const Algebra<R> e = times(splat<R>(a.plaquette[n] * (1.0 / 6)), imaginary(p));
      const Algebra<R> eb = times(splat<R>(a.first[n] * (1.0 / 6)), imaginary(b));
      const Algebra<R> ed = times(splat<R>(a.second[n] * (1.0 / 6)), imaginary(d));
      store_algebra<S>(e + eb + ed, out, x, n, 18);
      store_algebra<S>(eb, out, x, 6 + n, 18);
      store_algebra<S>(ed, out, x, 12 + n, 18);
    }
  }
};

// What goes one step further: G_mu, number mu of 16, with F_mu += T_mu G_mu; and for mu other than nu
// H_mu,nu, number 4 + 3 nu + (mu without nu), with F_mu += T_nu H. Here L is the rectangle that is long in
// the link's direction mu, K the one long in nu, the sign that of the plane:
//   G_mu = sum over nu of (L - T_nu L), H = K - T_nu K - X.
template <int W, class S> struct RectangleSteps {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const ForceArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    const Plane here = plane(a.elements, parity), out = plane(a.steps, parity);
    for (int mu = 0; mu < 4; mu++) {
      Algebra<R> g = {};
      for (int nu = 0; nu < 4; nu++) {
        if (mu == nu) continue;
        const Site y = neighbour(a.geom, x, nu, false);
        const Plane there = plane(a.elements, y.par);
        const int n = mu < nu ? plane_number(mu, nu) : plane_number(nu, mu);
        const int along = (mu < nu ? 6 : 12) + n, across = (mu < nu ? 12 : 6) + n;
        const R sign = splat<R>(mu < nu ? 1 : -1);
        Su3<R> u;
        Algebra<R> e, t;
        load_link<S, R18>(u, plane(a.gauge, y.par), y, nu);
        load_algebra<S>(e, here, x, along, 18);
        load_algebra<S>(t, there, y, along, 18);
        g = add_times(g, sign, e - turned_back(t, u));
        load_algebra<S>(t, there, y, across, 18);
        t = turned_back(t, u);
        load_algebra<S>(e, here, x, across, 18);
        t = e - t;
        load_algebra<S>(e, here, x, n, 18);
        store_algebra<S>(times(sign, t - e), out, x, 4 + 3 * nu + (mu > nu ? mu - 1 : mu), 16);
      }
      store_algebra<S>(g, out, x, mu, 16);
    }
  }
};

template <int W, class S> struct RectangleForce {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const ForceArgs& a, int o, int lx, int parity, Sums<2, W>& sums) {
    const Site x = site_at(a.geom, o, parity, lx);
    for (int mu = 0; mu < 4; mu++) {
      Algebra<R> f = {};
      for (int nu = 0; nu < 4; nu++) {
        const Site y = neighbour(a.geom, x, nu, false);
        Su3<R> u;
        Algebra<R> e;
        if (mu != nu) {
          const int n = mu < nu ? plane_number(mu, nu) : plane_number(nu, mu);
          load_algebra<S>(e, plane(a.elements, parity), x, n, 18);
          f = add_times(f, splat<R>(mu < nu ? 1 : -1), e);
        }
        load_link<S, R18>(u, plane(a.gauge, y.par), y, nu);
        load_algebra<S>(e, plane(a.steps, y.par), y, mu == nu ? mu : 4 + 3 * nu + (mu > nu ? mu - 1 : mu), 16);
        f = f + turned_back(e, u);
      }
      kick_link<S>(a, plane(a.momenta, parity), x, mu, f, sums);
    }
  }
};

// Sum over planes of coefficient times 1 - Re tr / 3.
template <int W, class S> struct PlaquetteAction {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const ForceArgs& a, int o, int lx, int parity, Sums<1, W>& sums) {
    const Site x = site_at(a.geom, o, parity, lx);
    const Plane gauge[2] = {plane(a.gauge, 0), plane(a.gauge, 1)};
    for (int nu = 1; nu < 4; nu++)
      for (int mu = 0; mu < nu; mu++) {
        const R t = trace(plaquette_of<S, R>(a.geom, gauge, x, mu, nu)).re;
        sums.add(0, splat<R>(a.plaquette[plane_number(mu, nu)]) * fma_(t, splat<R>(-1.0 / 3), splat<R>(1)));
      }
  }
};
template <int W, class S> struct RectangleAction {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const ForceArgs& a, int o, int lx, int parity, Sums<1, W>& sums) {
    const Site x = site_at(a.geom, o, parity, lx);
    for (int nu = 1; nu < 4; nu++)
      for (int mu = 0; mu < nu; mu++) {
        const int n = plane_number(mu, nu);
        Su3<R> p, b, d;
        rectangles_of<S, R>(p, b, d, a, x, mu, nu);
        const auto term = [&](double c, const Su3<R>& w) {
          return splat<R>(c) * fma_(trace(w).re, splat<R>(-1.0 / 3), splat<R>(1));
        };
        sums.add(0, term(a.plaquette[n], p) + term(a.first[n], b) + term(a.second[n], d));
      }
  }
};

// out = in + c D_mu^* D_mu in on the algebra, covariant second difference along each link's own direction
// (c = 1/12: Ramos, Sint, Eur. Phys. J. C 76 (2016) 15). Elements `in` have borders; to scale momenta.
template <int W, class S> struct AlgebraLaplace {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const ForceArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    const R c = splat<R>(a.step), scale = splat<R>(a.scale);
    for (int mu = 0; mu < 4; mu++) {
      const Site up = neighbour(a.geom, x, mu, true), down = neighbour(a.geom, x, mu, false);
      Su3<R> u;
      Algebra<R> e, ahead, behind, old;
      load_algebra<S>(ahead, plane(a.elements, up.par), up, mu);
      load_link<S, R18>(u, plane(a.gauge, parity), x, mu);
      ahead = turned(ahead, u);
      load_algebra<S>(behind, plane(a.elements, down.par), down, mu);
      load_link<S, R18>(u, plane(a.gauge, down.par), down, mu);
      behind = turned_back(behind, u);
      load_algebra<S>(e, plane(a.elements, parity), x, mu);
      load_algebra<S>(old, plane(a.momenta, parity), x, mu);
      PLAQ_UNROLL for (int i = 0; i < 8; i++)
        old.a[i] = scale * old.a[i] + fma_(c, ahead.a[i] + behind.a[i] - splat<R>(2) * e.a[i], e.a[i]);
      store_algebra<S>(old, plane(a.momenta, parity), x, mu);
    }
  }
};

}  // namespace PLAQ_NS
