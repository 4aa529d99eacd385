// Contractions of propagators into hadrons, summed over space with a momentum; gammas in the
// DeGrand-Rossi basis (physics.md). A propagator S(x, source) is a field whose right-hand sides are its
// columns. A batch has a parity of a time slice of the lanes' pieces, from `slice` on; sums come once for the lower half
// of the times where lanes split them, once for the upper.
#pragma once
#include "momentum.h"
#include "su3.h"
#include "sums.h"

namespace PLAQ_NS {

PLAQ_FN int slice_sites(const Geom& g) { return g.x() / 2 * g.y() * g.z(); }

// Adds v to sums 2k and 2k + 1; upper lanes add to the sums that are N / 2 further.
template <int N, int W, class R> PLAQ_FN void add_by_half(Sums<N, W>& sums, const Geom& g, int k, cplx<R> v, int lx) {
  const R zero = splat<R>(0);
  const int split = g.lane_t();
  sums.add(2 * k, by_lane_bit(v.re, zero, lx, split, false));
  sums.add(2 * k + 1, by_lane_bit(v.im, zero, lx, split, false));
  if (split) {
    sums.add(N / 2 + 2 * k, by_lane_bit(v.re, zero, lx, split, true));
    sums.add(N / 2 + 2 * k + 1, by_lane_bit(v.im, zero, lx, split, true));
  }
}

// All spins of two quark lines: sum_x exp(-i p (x - origin)) sum_(a, b) S(x)_(alpha a, beta b)
// T(x)^*_(gamma a, delta b) for every alpha and gamma, number 4 alpha + gamma. A batch is, fastest first, delta,
// beta, parity, time. Columns are `colours` beta + b.
template <int W, class S> struct Mesons {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const MesonArgs& a, int o, int lx, int batch, Sums<64, W>& sums) {
    const int delta = batch & 3, beta = batch >> 2 & 3, parity = batch >> 4 & 1;
    const Site x = site_at(a.geom, o + (a.slice + (batch >> 5)) * slice_sites(a.geom), parity, lx);
    cplx<R> m[16];
    PLAQ_UNROLL for (int i = 0; i < 16; i++) m[i] = {splat<R>(0), splat<R>(0)};
    for (int b = 0; b < a.colours; b++) {
      R v[24], w[24];
      load<S>(v, plane(a.quark, 2 * (a.colours * beta + b) + parity), x);
      load<S>(w, plane(a.other, 2 * (a.colours * delta + b) + parity), x);
      PLAQ_UNROLL for (int i = 0; i < 16; i++) PLAQ_UNROLL for (int c = 0; c < 3; c++) {
        const int p = 2 * (3 * (i >> 2) + c), q = 2 * (3 * (i & 3) + c);
        m[i] = madd_conj(m[i], cplx<R>{w[q], w[q + 1]}, cplx<R>{v[p], v[p + 1]});
      }
    }
    if (a.moving) {
      cplx<R> phase;
      momentum_phases(a.geom, x, a.momentum, a.position, phase.re, phase.im);
      PLAQ_UNROLL for (int i = 0; i < 16; i++) m[i] = mul_conj(phase, m[i]);
    }
    PLAQ_UNROLL for (int i = 0; i < 16; i++) add_by_half(sums, a.geom, i, m[i], lx);
  }
};

template <class R> struct SiteMatrix {
  R v[12][24];  // v[column][2 (3 spin + colour) + (re, im)]
  PLAQ_FN cplx<R> at(int row, int column) const { return {v[column][2 * row], v[column][2 * row + 1]}; }
};

// sum eps_abc eps_def A_ad B_be C_cf of blocks with one spin at either end; rows and columns begin at 3 spin.
template <class R>
PLAQ_FN cplx<R> baryon_colours(const SiteMatrix<R>& p, int i, int j, const SiteMatrix<R>& q, int k, int l,
                               const SiteMatrix<R>& r, int m, int n) {
  cplx<R> sum = {splat<R>(0), splat<R>(0)};
  for (int c = 0; c < 3; c++) for (int f = 0; f < 3; f++) {
    // The other two colours at sink and source, in the order of an even permutation.
    const int c1 = c == 2 ? 0 : c + 1, c2 = c == 0 ? 2 : c - 1, f1 = f == 2 ? 0 : f + 1, f2 = f == 0 ? 2 : f - 1;
    cplx<R> pair = p.at(i + c1, j + f1) * q.at(k + c2, l + f2);
    pair = madd(pair, p.at(i + c2, j + f2), q.at(k + c1, l + f1));
    pair = msub(pair, p.at(i + c1, j + f2), q.at(k + c2, l + f1));
    pair = msub(pair, p.at(i + c2, j + f1), q.at(k + c1, l + f2));
    sum = madd(sum, pair, r.at(m + c, n + f));
  }
  return sum;
}

template <class R> PLAQ_FN cplx<R> turn(cplx<R> z, int quarters) {
  const cplx<R> w = quarters & 1 ? cplx<R>{-z.im, z.re} : z;
  const R zero = splat<R>(0);
  return quarters & 2 ? cplx<R>{zero - w.re, zero - w.im} : w;
}

// Three quark lines between vertices with a pair of spins, which a matrix G joins, and a free spin: G has
// i^phase[r] in row r, column column[r], at the sink its row is the first spin, at the source the second. A
// term says in which order the quarks are taken at either end, the sink's in bits 0 to 5, the source's in 6 to 11,
// two bits a quark, and has a weight. The free spins (sink, source) are summed with two matrices E and E': sum_r
// i^closing_phase[.][r] C(closing[.][r], r). Numbers: re and im of both.
template <int W, class S> struct Baryon {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const BaryonArgs& a, int o, int lx, int batch, Sums<8, W>& sums) {
    const int parity = batch & 1;
    const Site x = site_at(a.geom, o + (a.slice + (batch >> 1)) * slice_sites(a.geom), parity, lx);
    SiteMatrix<R> s[2];
    for (int column = 0; column < 12; column++) load<S>(s[0].v[column], plane(a.quark, 2 * column + parity), x);
    if (a.flavours) for (int column = 0; column < 12; column++)
      load<S>(s[1].v[column], plane(a.other, 2 * column + parity), x);
    cplx<R> total[2];
    for (int e = 0; e < 2; e++) total[e] = {splat<R>(0), splat<R>(0)};
    for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) for (int e = 0; e < 8; e++) {
      const int r = e & 3, which = e >> 2;
      // First row and column of each quark's block.
      const int sink[3] = {3 * i, 3 * a.sink[i], 3 * a.closing[which][r]}, source[3] = {3 * a.source[j], 3 * j, 3 * r};
      cplx<R> z = {splat<R>(0), splat<R>(0)};
      for (int k = 0; k < a.terms; k++) {
        const int t = a.term[k];
        z = madd(z, splat<R>(a.weight[k]), baryon_colours(s[a.flavours & 1], sink[t & 3], source[t >> 6 & 3],
                               s[a.flavours >> 1 & 1], sink[t >> 2 & 3], source[t >> 8 & 3],
                               s[a.flavours >> 2 & 1], sink[t >> 4 & 3], source[t >> 10 & 3]));
      }
      total[which] = total[which] + turn(z, a.sink_phase[i] + a.source_phase[j] + a.closing_phase[which][r]);
    }
    if (a.moving) {
      cplx<R> phase;
      momentum_phases(a.geom, x, a.momentum, a.position, phase.re, phase.im);
      for (int e = 0; e < 2; e++) total[e] = mul_conj(phase, total[e]);
    }
    for (int e = 0; e < 2; e++) add_by_half(sums, a.geom, e, total[e], lx);
  }
};

}  // namespace PLAQ_NS
