// Phases of plane waves on the lattice, computed exactly from integers.
#pragma once
#include "geometry.h"
#include "plaq_math.h"

namespace PLAQ_NS {

// p (x - origin) / (2 pi), p_mu = 2 pi n_mu / L_mu, up to whole turns.
PLAQ_FN double momentum_turns(const Geom& g, const Site& x, int lane, const int (&n)[4], const int (&origin)[4]) {
  double turns = 0;
  PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) {
    const i64 steps = (i64)n[mu] * (global_coordinate(g, x, lane, mu) - origin[mu]);
    turns += (double)(steps % g.global[mu]) / g.global[mu];
  }
  return turns;
}

// The same with p_mu = (2 pi n_mu + pi shift_mu) / L_mu, including whole turns of the shift.
PLAQ_FN double momentum_turns(const Geom& g, const Site& x, int lane, const int (&n)[4], const double (&shift)[4],
                              const int (&origin)[4]) {
  double turns = momentum_turns(g, x, lane, n, origin);
  PLAQ_UNROLL for (int mu = 0; mu < 4; mu++)
    turns += 0.5 * shift[mu] * (global_coordinate(g, x, lane, mu) - origin[mu]) / g.global[mu];
  return turns;
}

// exp(i p (x - origin)).
PLAQ_FN void momentum_phase(const Geom& g, const Site& x, int lane, const int (&n)[4], const int (&origin)[4],
                            double& re, double& im) {
  vsincospi(2 * momentum_turns(g, x, lane, n, origin), im, re);
}

// exp(2 pi i turns(lane)) for all lanes of a site; `turns` gives the phase of a lane in units of 2 pi.
template <class R, class F> PLAQ_FN void lane_phases(const Site& x, const F& turns, R& re, R& im) {
  typedef typename scalar_of<R>::type T;
  constexpr int W = lanes<R>::W;
  T c[W], s[W];
  for (int i = 0; i < W; i++) {
    double u, v;
    vsincospi(2 * turns(x.lx + i), v, u);
    c[i] = (T)u, s[i] = (T)v;
  }
#if PLAQ_GPU
  re = c[0], im = s[0];
#else
  __builtin_memcpy(&re, &c, sizeof(re));
  __builtin_memcpy(&im, &s, sizeof(im));
#endif
}

// exp(i p (x - origin)), p_mu = (2 pi n_mu + pi shift_mu) / L_mu, for all lanes of a site.
template <class R> PLAQ_FN void momentum_phases(const Geom& g, const Site& x, const int (&n)[4], const double (&shift)[4],
                                                const int (&origin)[4], R& re, R& im) {
  lane_phases(x, [&](int lane) { return momentum_turns(g, x, lane, n, shift, origin); }, re, im);
}

// exp(2 pi i theta x) for all lanes of a site, x the coordinates of the whole lattice.
template <class R> PLAQ_FN void site_phases(const Geom& g, const Site& x, const double (&theta)[4], R& re, R& im) {
  const auto turns = [&](int lane) {
    double sum = 0;
    PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) sum += theta[mu] * global_coordinate(g, x, lane, mu);
    return sum;
  };
  lane_phases(x, turns, re, im);
}

}  // namespace PLAQ_NS
