// Updates of links with the Wilson gauge action: heat bath (Kennedy and Pendleton) and
// overrelaxation in SU(2) subgroups (subgroup.h).
#pragma once
#include "staple.h"
#include "subgroup.h"

namespace PLAQ_NS {

// Links of one direction on one parity, in place.
template <int W, class S, int STORAGE> struct UpdateLinks {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const UpdateArgs& a, int o, int lx, int) {
    const Site x = site_at(a.geom, o, a.parity, lx);
    const Plane gauge[2] = {plane(a.gauge, 0), plane(a.gauge, 1)};
    const Draws<W> draws(a.geom, x, a.seed, RANDOM_HEATBATH, a.direction, (u32)a.sweep);
    LinkOf<STORAGE, R> u, staples;
    staple_sum<S, STORAGE>(staples, a.geom, gauge, x, a.direction);
    load_link<S, STORAGE>(u, gauge[x.par], x, a.direction);
    auto w = u * staples;
    constexpr int N = Recon<STORAGE>::colours;
    u32 n = 0;
    for (int i = 0; i < N; i++)
      for (int j = i + 1; j < N; j++) {
        const Su2<R> q = block(w, i, j);
        const Su2<R> r = a.heat() ? heat(q, splat<R>(2 * a.beta / N), draws, n) : squared(adj(q));
        rotate(u, r, i, j);
        rotate(w, r, i, j);
        n += max_tries + 1;
      }
    reunitarise(u);
    store_link<S, STORAGE>(u, gauge[x.par], x, a.direction);
  }
};

}  // namespace PLAQ_NS
