// Sources and zero-momentum hadron correlators; gammas in the DeGrand-Rossi basis (physics.md).
// A propagator S(x, source) is a field of twelve right-hand sides, column = 3 spin + colour.
#pragma once
#include "su3.h"
#include "sums.h"

namespace PLAQ_NS {

// Twelve columns that are one where spin and colour are the column's: on the site `position`, or
// with `wall` on every site of the time slice position[3].
template <int W, class S> struct Source {
  typedef typename S::C R;
  static PLAQ_FN void site(const SourceArgs& a, int o, int lx, int batch) {
    const Site x = site_at(a.geom, o, batch & 1, lx);
    bool here = global_coordinate(a.geom, x, lx, 3) == a.position[3];
    PLAQ_UNROLL for (int mu = 0; mu < 3; mu++)
      here = here && (a.wall || global_coordinate(a.geom, x, lx, mu) == a.position[mu]);
    R v[24];
    PLAQ_UNROLL for (int i = 0; i < 24; i++) v[i] = here && i == 2 * (batch >> 1) ? 1 : 0;
    store<S>(v, plane(a.out, batch), x);
  }
};

template <class R> struct SiteMatrix {
  R v[12][24];  // v[column][2 (3 spin + colour) + (re, im)]
  PLAQ_FN cplx<R> at(int row, int column) const { return {v[column][2 * row], v[column][2 * row + 1]}; }
};

// Mesons: Re tr[G S G^dagger S^dagger], G = gamma5 Gamma. G has one entry in a row: (r, r) for the
// pion, (r, r^3), (r, r^3), (r, r^2) for the rho along x, y, z; in the product of both G the
// entries leave 1 for pion and x, (-1)^(r+c) for y and z.
template <class R> PLAQ_FN void mesons(R (&out)[4], const SiteMatrix<R>& s) {
  for (int k = 0; k < 4; k++) out[k] = splat<R>(0);
  for (int c = 0; c < 4; c++) for (int r = 0; r < 4; r++) {
    R p = splat<R>(0), q3 = splat<R>(0), q2 = splat<R>(0);
    for (int c1 = 0; c1 < 3; c1++) for (int r1 = 0; r1 < 3; r1++) {
      const cplx<R> z = s.at(3 * r + r1, 3 * c + c1);
      const cplx<R> u = s.at(3 * (r ^ 3) + r1, 3 * (c ^ 3) + c1), w = s.at(3 * (r ^ 2) + r1, 3 * (c ^ 2) + c1);
      p = p + norm2(z);
      q3 = q3 + (z.re * u.re + z.im * u.im), q2 = q2 + (z.re * w.re + z.im * w.im);
    }
    const bool odd = (r + c) & 1;
    out[0] = out[0] + p, out[1] = out[1] + q3;
    out[2] = odd ? out[2] - q3 : out[2] + q3, out[3] = odd ? out[3] - q2 : out[3] + q2;
  }
}

// The nucleon eps_abc (u_a^T C gamma5 d_b) u_c, C = gamma_y gamma_t, traced with (1 + gamma_t)/2.
// C gamma5 has the entries (a, a^1) = +-(-1)^(a+1), its counterpart at the source (b, b^1) =
// +-(-1)^b with the same sign in front, (1 + gamma_t)/2 has (r, r) = (r, r^2) = 1/2.
// Loops stay loops: the 288 numbers of a site are more than registers hold.
template <class R> PLAQ_FN cplx<R> nucleon(const SiteMatrix<R>& s) {
  const cplx<R> none = {splat<R>(0), splat<R>(0)};
  const R half = splat<R>(0.5);
  cplx<R> sum = none;
  for (int c = 0; c < 3; c++) for (int f = 0; f < 3; f++) {
    // The other two colours of sink and source, in the order of even permutations.
    const int c1 = (c + 1) % 3, c2 = (c + 2) % 3, f1 = (f + 1) % 3, f2 = (f + 2) % 3;
    cplx<R> trace = none;
    for (int r = 0; r < 4; r++) trace = trace + half * (s.at(3 * r + c, 3 * r + f) + s.at(3 * (r ^ 2) + c, 3 * r + f));
    for (int a = 0; a < 4; a++) for (int b = 0; b < 4; b++) {
      const int sink = 3 * (a ^ 1), source = 3 * b, partner = 3 * (b ^ 1);
      const cplx<R> d11 = s.at(sink + c1, source + f1), d22 = s.at(sink + c2, source + f2);
      const cplx<R> d12 = s.at(sink + c1, source + f2), d21 = s.at(sink + c2, source + f1);
      cplx<R> z = none;
      // r = 4 is the direct term. In the others the u quarks are exchanged: the minus of that is
      // also the one of the two colours in the source's epsilon.
      for (int r = 0; r < 5; r++) {
        const int u = 3 * a, v = r < 4 ? 3 * r : partner;
        cplx<R> pair = s.at(u + c1, v + f1) * d22;
        pair = madd(pair, s.at(u + c2, v + f2), d11);
        pair = pair - s.at(u + c1, v + f2) * d21 - s.at(u + c2, v + f1) * d12;
        const cplx<R> third =
            r < 4 ? half * (s.at(3 * r + c, partner + f) + s.at(3 * (r ^ 2) + c, partner + f)) : trace;
        z = madd(z, pair, third);
      }
      sum = (a + b) & 1 ? sum + z : sum - z;
    }
  }
  return sum;
}

// Pion, rho x y z, nucleon (re, im): six sums for the lower half of the times where lanes split
// them, six for the upper. A batch is a parity of a time slice of the lanes' pieces.
template <int W, class S> struct Correlators {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const CorrelatorArgs& a, int o, int lx, int batch, Sums<12, W>& sums) {
    const int slice = a.geom.x() / 2 * a.geom.y() * a.geom.z();
    const Site x = site_at(a.geom, o + (batch >> 1) * slice, batch & 1, lx);
    SiteMatrix<R> s;
    for (int column = 0; column < 12; column++)
      load<S>(s.v[column], plane(a.propagator, 2 * column + (batch & 1)), x);
    R m[4];
    mesons(m, s);
    const cplx<R> n = nucleon(s);
    const R all[6] = {m[0], m[1], m[2], m[3], n.re, n.im}, zero = splat<R>(0);
    const int split = a.geom.lane_t();
    PLAQ_UNROLL for (int k = 0; k < 6; k++) {
      sums.add(k, by_lane_bit(all[k], zero, lx, split, false));
      if (split) sums.add(6 + k, by_lane_bit(all[k], zero, lx, split, true));
    }
  }
};

}  // namespace PLAQ_NS
