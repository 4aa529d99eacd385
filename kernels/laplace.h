// The gauge-covariant sum over neighbours of vector fields, spin by spin: Laplacians and Gaussian
// smearing are made of it.
#pragma once
#include "bounds.h"

namespace PLAQ_NS {

PLAQ_FN Plane vector_message(const HaloView& h, int mu, bool forward, int rhs) {
  const int k = 2 * mu + forward;
  return {h.data[k] + rhs * h.plane_bytes[mu], (float*)(h.norm[k] + rhs * h.norm_bytes[mu]), 0};
}

// Packs the vectors on all faces of `inp` for the neighbouring ranks; rows are those of the faces, one direction after
// the other, lower face first. Where a direction is split over lanes a row holds two sites (geometry.h, face_rows).
template <int W, class S> struct VectorPack {
  typedef real<typename S::C, W> R;
  template <int N> static PLAQ_FN void run(const LaplaceArgs& a, int o, int lx, int batch) {
    PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) {
      if (!has_halo(a.geom, mu) || !(a.hops() >> 2 * mu & 3)) continue;
      const int rows = face_rows(a.geom, mu), bit = lane_bit(a.geom, mu);
      if (o < 2 * rows) {
        const bool upper = o >= rows;
        Site row{};
        row.o = upper ? o - rows : o, row.lx = lx;
        const int c = upper ? extent(a.geom, mu) - 1 : 0;
        const Plane in = plane(a.inp, batch * a.step_in());
        R v[N], w[N];
        load<S>(v, in, face_site(a.geom, row.o, mu, c, 1 - a.parity(), lx));
        if (bit) {
          load<S>(w, in, face_site(a.geom, (row.o + rows) % face_sites(a.geom, mu), mu, c, 1 - a.parity(), lx ^ bit));
          PLAQ_UNROLL for (int i = 0; i < N; i++) v[i] = by_lane_bit(v[i], w[i], lx, bit, upper);
        }
        store<S>(v, vector_message(a.sent, mu, upper, batch), row);
        return;
      }
      o -= 2 * rows;
    }
  }
  static PLAQ_FN void site(const LaplaceArgs& a, int o, int lx, int batch) {
    if (a.spins() == 4) run<24>(a, o, lx, batch);
    else run<6>(a, o, lx, batch);
  }
};

// out = coef_y y + coef_out out + coef sum_mu [U_mu(x) in(x+mu) + U_mu(x-mu)^dagger in(x-mu)] on one parity, over the
// hops asked for; y has the parity of out. A batch is a column of spinors or 4 columns of colour vectors, for which a link
// is loaded once.
template <int W, class S, int RECON> struct Laplace {
  typedef real<typename S::C, W> R;
  template <int N>
  static PLAQ_RARE void load_across(R (&v)[N], const LaplaceArgs& a, const Site& s, Site n, const Plane& in, int rhs, int mu,
                                    bool forward) {
    const int bit = lane_bit(a.geom, mu), rows = face_rows(a.geom, mu);
    R w[N];
    n.lx = s.lx ^ bit;
    if (bit) load<S>(v, in, n);
    n.o = face_index(a.geom, s, mu);
    if (n.o >= rows) n.o -= rows, n.lx = s.lx;
    load<S>(w, vector_message(a.received, mu, forward, rhs), n);
    PLAQ_UNROLL for (int i = 0; i < N; i++) v[i] = bit ? by_lane_bit(w[i], v[i], s.lx, bit, forward) : w[i];
  }
  // A link that a quark crosses the end of the lattice by carries the boundary's phase.
  static PLAQ_RARE void across_boundary(Su3<R>& u, const LaplaceArgs& a, const Site& s, int mu, bool forward) {
    const cplx<R> z = boundary_phase<R>(a, s, mu, forward);
    PLAQ_UNROLL for (int i = 0; i < 9; i++) u.e[i / 3][i % 3] = z * u.e[i / 3][i % 3];
  }
  template <int N, int COLUMNS> static PLAQ_FN void run(const LaplaceArgs& a, int o, int lx, int batch) {
    const int p = a.parity();
    const Site s = a.region() == REGION_INNER   ? inner_site(a.geom, o, p, lx)
                   : a.region() == REGION_OUTER ? outer_site(a.geom, o, p, lx)
                                                : site_at(a.geom, o, p, lx);
    const int first = batch * COLUMNS, count = a.columns - first < COLUMNS ? a.columns - first : COLUMNS;
    R acc[COLUMNS][N], v[N];
    PLAQ_UNROLL for (int k = 0; k < COLUMNS; k++) PLAQ_UNROLL for (int i = 0; i < N; i++) acc[k][i] = splat<R>(0);
    for (int hop = 0; hop < 8; hop++) {
      const int mu = hop / 2;
      const bool forward = hop % 2;
      if (!(a.hops() >> hop & 1)) continue;
      const Site n = neighbour(a.geom, s, mu, forward), from = forward ? s : n;
      Su3<R> u;
      load_link<S, RECON>(u, plane(a.gauge, from.par), from, mu);
      if (!forward) u = adj(u);
      if (has_phase(a, s, mu, forward)) across_boundary(u, a, s, mu, forward);
      PLAQ_UNROLL for (int k = 0; k < COLUMNS; k++) {
        if (k >= count) continue;
        const Plane in = plane(a.inp, (first + k) * a.step_in());
        if (a.region() != REGION_INNER && at_halo(a.geom, s, mu, forward))
          load_across<N>(v, a, s, n, in, first + k, mu, forward);
        else load<S>(v, in, n);
        PLAQ_UNROLL for (int spin = 0; spin < N / 6; spin++) PLAQ_UNROLL for (int i = 0; i < 3; i++) {
          cplx<R> z = {acc[k][6 * spin + 2 * i], acc[k][6 * spin + 2 * i + 1]};
          PLAQ_UNROLL for (int j = 0; j < 3; j++)
            z = madd(z, u.e[i][j], cplx<R>{v[6 * spin + 2 * j], v[6 * spin + 2 * j + 1]});
          acc[k][6 * spin + 2 * i] = z.re, acc[k][6 * spin + 2 * i + 1] = z.im;
        }
      }
    }
    const R c = splat<R>(a.coef), d = splat<R>(a.coef_y), e = splat<R>(a.coef_out);
    PLAQ_UNROLL for (int k = 0; k < COLUMNS; k++) {
      if (k >= count) continue;
      load<S>(v, plane(a.y, (first + k) * a.step_y()), s);
      PLAQ_UNROLL for (int i = 0; i < N; i++) acc[k][i] = fma_(d, v[i], c * acc[k][i]);
      const Plane out = plane(a.out, (first + k) * a.step_out());
      // What is multiplied by 0 may be not finite.
      if (a.coef_out != 0) {
        load<S>(v, out, s);
        PLAQ_UNROLL for (int i = 0; i < N; i++) acc[k][i] = fma_(e, v[i], acc[k][i]);
      }
      store<S>(acc[k], out, s);
    }
  }
  static PLAQ_FN void site(const LaplaceArgs& a, int o, int lx, int batch) {
    if (a.spins() == 4) run<24, 1>(a, o, lx, batch);
    else run<6, 4>(a, o, lx, batch);
  }
};

}  // namespace PLAQ_NS
