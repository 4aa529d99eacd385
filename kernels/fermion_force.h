// Forces of fermion actions: what the change of the links in sum_k 2 c_k Re <Y_k, M X_k>,
// M = A - kappa H (wilson.h), gives the momenta. With U' = i T U in direction T the sum changes by
// Re tr(i T U G) and p' = -F, F = (i/4) (U G - (U G)^dagger) without its trace.
#pragma once
#include "algebra.h"
#include "wilson.h"

namespace PLAQ_NS {

// p -= step F for the matrix w = U G of a link.
template <class S, class R>
PLAQ_FN void subtract_force(const FieldView& momenta, const Su3<R>& w, const Site& s, int mu, double step) {
  const Plane p = plane(momenta, s.par);
  Algebra<R> h;
  load_algebra<S>(h, p, s, mu);
  store_algebra<S>(add_times(h, splat<R>(0.5 * step), imaginary(w)), p, s, mu);
}

// g += f times the sum over the two spins of a b^dagger.
template <class R> PLAQ_FN void add_outer(Su3<R>& g, R f, const HalfSpinor<R>& a, const HalfSpinor<R>& b) {
  PLAQ_UNROLL for (int s = 0; s < 2; s++) PLAQ_UNROLL for (int j = 0; j < 3; j++) {
    const cplx<R> z = {f * b.c[s][j].re, f * b.c[s][j].im};
    PLAQ_UNROLL for (int i = 0; i < 3; i++) g.e[i][j] = madd_conj(g.e[i][j], z, a.c[s][i]);
  }
}

// The hop:  U G = -2 kappa h_mu sum_k c_k U_mu(x) tr_spin [ (1 - g_mu) X_k(x+mu) Y_k(x)^dagger
//                                                  + (1 + g_mu) Y_k(x+mu) X_k(x)^dagger ],
// boundary phases included. With h+-(psi) the upper two spins of (1 -+ g_mu) psi the trace is
// sum over these of h-(X)(x+mu) h-(Y)(x)^dagger + h+(Y)(x+mu) h+(X)(x)^dagger.
template <int W, class S, int RECON> struct HopForce {
  typedef real<typename S::C, W> R;
  // Projected spinor number k of the forward neighbour of a site with this parity; `field` is 0 for X, 1 for Y.
  static PLAQ_FN void load_forward(HalfSpinor<R>& h, const HopForceArgs& a, const FieldView& view, const Site& s,
                                   int k, int mu, int field, R g) {
    const Site n = neighbour(a.geom, s, mu, true);
    const Plane in = plane(view, 2 * k + (s.par ^ 1));
    if (!at_halo(a.geom, s, mu, true)) {
      load_projected<S>(h, in, n, mu, g);
      return;
    }
    HalfSpinor<R> across;  // what a function takes by reference stays in memory
    load_message(across, a, s, n, in, (2 * field + s.par) * a.nrhs() + k, mu, g);
    h = across;
  }
  static PLAQ_RARE void load_message(HalfSpinor<R>& h, const HopForceArgs& a, const Site& s, Site n, const Plane& in,
                                     int row, int mu, R g) {
    const int bit = lane_bit(a.geom, mu), rows = face_rows(a.geom, mu);
    n.lx = s.lx ^ bit;
    if (bit) load_projected<S>(h, in, n, mu, g);
    n.o = face_index(a.geom, s, mu);
    if (n.o >= rows) n.o -= rows, n.lx = s.lx;
    R v[12];
    load<S>(v, halo_plane(a.received, mu, true, row), n);
    PLAQ_UNROLL for (int i = 0; i < 6; i++) {
      cplx<R>& z = h.c[i / 3][i % 3];
      z = bit ? cplx<R>{by_lane_bit(v[2 * i], z.re, s.lx, bit, true), by_lane_bit(v[2 * i + 1], z.im, s.lx, bit, true)}
              : cplx<R>{v[2 * i], v[2 * i + 1]};
    }
  }
  static PLAQ_FN void site(const HopForceArgs& a, int o, int lx, int parity) {
    const Site s = site_at(a.geom, o, parity, lx);
    const R one = splat<R>(1);
    PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) {
      Su3<R> g = {};
      for (int k = 0; k < a.nrhs(); k++) {
        const R c = splat<R>(a.coef[k]);
        HalfSpinor<R> here, there;
        load_forward(there, a, a.x, s, k, mu, 0, one);
        load_projected<S>(here, plane(a.y, 2 * k + parity), s, mu, one);
        add_outer(g, c, there, here);
        load_forward(there, a, a.y, s, k, mu, 1, -one);
        load_projected<S>(here, plane(a.x, 2 * k + parity), s, mu, -one);
        add_outer(g, c, there, here);
      }
      Su3<R> u;
      load_link<S, RECON>(u, plane(a.gauge, parity), s, mu, keep);
      cplx<R> f = {splat<R>(a.hop[mu]), splat<R>(0)};
      if (has_phase(a, s, mu, true)) f = f * boundary_phase<R>(a, s, mu, true);
      PLAQ_UNROLL for (int i = 0; i < 9; i++) u.e[i / 3][i % 3] = f * u.e[i / 3][i % 3];
      subtract_force<S>(a.momenta, u * g, s, mu, a.step);
    }
  }
};

}  // namespace PLAQ_NS
