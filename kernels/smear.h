// Links averaged with their staples and projected to SU(3): APE smearing (Albanese et al., Phys.
// Lett. B192 (1987) 163) and HYP smearing (Hasenfratz and Knechtli, hep-lat/0103029).
#pragma once
#include "recon.h"

namespace PLAQ_NS {

// The cofactors of V, det(V) times the transpose of V^-1, and det V.
template <class R> PLAQ_FN Su3<R> cofactors(const Su3<R>& v, cplx<R>& det) {
  Su3<R> c;
  PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < 3; j++) {
    const int k = (i + 1) % 3, l = (i + 2) % 3, m = (j + 1) % 3, n = (j + 2) % 3;
    c.e[i][j] = msub(v.e[k][m] * v.e[l][n], v.e[k][n], v.e[l][m]);
  }
  det = madd(madd(v.e[0][0] * c.e[0][0], v.e[0][1], c.e[0][1]), v.e[0][2], c.e[0][2]);
  return c;
}

// V (V^dagger V)^(-1/2), its determinant made 1 by the cube root nearest to 1: Newton's iteration
// X <- (X + X^-dagger) / 2 for the unitary factor.
template <class R> PLAQ_FN void project_polar(Su3<R>& v) {
  const R half = splat<R>(0.5);
  cplx<R> det;
  for (int step = 0; step < 14; step++) {
    const Su3<R> c = cofactors(v, det);
    const R inv = splat<R>(1) / norm2(det);
    // conj(c / det)
    PLAQ_UNROLL for (int i = 0; i < 9; i++) {
      cplx<R>& e = v.e[i / 3][i % 3];
      const cplx<R> w = conj(c.e[i / 3][i % 3]) * det;
      e = {half * fma_(inv, w.re, e.re), half * fma_(inv, w.im, e.im)};
    }
  }
  cofactors(v, det);
  const R third = splat<R>(-1.0 / 3) * vatan2(det.im, det.re);
  cplx<R> turn;
  vsincos(third, turn.im, turn.re);
  PLAQ_UNROLL for (int i = 0; i < 9; i++) v.e[i / 3][i % 3] = turn * v.e[i / 3][i % 3];
}

// Matrix `to` of out = projection of (1 - alpha) U_mu + weight times the sum of both staples over the directions nu
// asked for: matrices side[nu] of `inp` are their sides, matrices top[nu] their tops.
template <int W, class S> struct SmearLinks {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const SmearArgs& a, int o, int lx, int parity) {
    const Geom& g = a.geom;
    const Site x = site_at(g, o, parity, lx);
    const Site xm = neighbour(g, x, a.mu(), true);
    const Plane in[2] = {plane(a.inp, 0), plane(a.inp, 1)};
    const int n = a.matrices();
    Su3<R> sum, p, q, r;
    PLAQ_UNROLL for (int i = 0; i < 9; i++) sum.e[i / 3][i % 3] = {splat<R>(0), splat<R>(0)};
    for (int nu = 0; nu < 4; nu++) {
      if (!(a.directions() >> nu & 1)) continue;
      const int side = a.side[nu], top = a.top[nu];
      const Site up = neighbour(g, x, nu, true), down = neighbour(g, x, nu, false);
      // x -> x+nu -> x+mu+nu -> x+mu
      load_link<S, R18>(p, in[x.par], x, side, keep, n);
      load_link<S, R18>(q, in[up.par], up, top, keep, n);
      load_link<S, R18>(r, in[xm.par], xm, side, keep, n);
      sum = sum + (p * q) * adj(r);
      // x -> x-nu -> x+mu-nu -> x+mu
      const Site corner = neighbour(g, xm, nu, false);
      load_link<S, R18>(p, in[down.par], down, side, keep, n);
      load_link<S, R18>(q, in[down.par], down, top, keep, n);
      load_link<S, R18>(r, in[corner.par], corner, side, keep, n);
      sum = sum + (adj(p) * q) * r;
    }
    load_link<S, R18>(p, plane(a.gauge, parity), x, a.mu());
    const R keep_part = splat<R>(1 - a.alpha), weight = splat<R>(a.weight);
    PLAQ_UNROLL for (int i = 0; i < 9; i++) {
      const cplx<R> u = p.e[i / 3][i % 3], s = sum.e[i / 3][i % 3];
      p.e[i / 3][i % 3] = {fma_(weight, s.re, keep_part * u.re), fma_(weight, s.im, keep_part * u.im)};
    }
    project_polar(p);
    store_link<S, R18>(p, plane(a.out, parity), x, a.to, a.matrices_out());
  }
};

// Links times a phase for each direction, which leaves SU(3): the storage is whole. Batches = parities.
template <int W, class S> struct LinkPhases {
  typedef real<typename S::C, W> R;
  typedef typename S::C C;
  static PLAQ_FN void site(const LinkPhasesArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    const Plane links = plane(a.gauge, parity);
    for (int mu = 0; mu < 4; mu++) {
      const cplx<R> f = {splat<R>((C)a.re[mu]), splat<R>((C)a.im[mu])};
      Su3<R> u;
      load_link<S, R18>(u, links, x, mu);
      PLAQ_UNROLL for (int i = 0; i < 9; i++) u.e[i / 3][i % 3] = f * u.e[i / 3][i % 3];
      store_link<S, R18>(u, links, x, mu);
    }
  }
};

}  // namespace PLAQ_NS
