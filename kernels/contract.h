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

// Adds v to sums 2k and 2k + 1; lanes with the upper half of the times add it to the sums N / 2 further.
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
      momentum_phases(a.geom, x, a.momentum, a.shift, a.position, phase.re, phase.im);
      PLAQ_UNROLL for (int i = 0; i < 16; i++) m[i] = mul_conj(phase, m[i]);
    }
    PLAQ_UNROLL for (int i = 0; i < 16; i++) add_by_half(sums, a.geom, i, m[i], lx);
  }
};

}  // namespace PLAQ_NS
