// Updates of links with the Wilson gauge action: heat bath (Kennedy and Pendleton) and
// overrelaxation in SU(2) subgroups (subgroup.h).
#pragma once
#include "bound_weights.h"
#include "subgroup.h"

namespace PLAQ_NS {

// The matrix u times the real number w.
template <class R> PLAQ_FN Su3<R> weighted(R w, Su3<R> u) {
  PLAQ_UNROLL for (int i = 0; i < 9; i++) u.e[i / 3][i % 3] = {w * u.e[i / 3][i % 3].re, w * u.e[i / 3][i % 3].im};
  return u;
}
template <class R> PLAQ_FN Su2<R> weighted(R w, Su2<R> u) {
  PLAQ_UNROLL for (int i = 0; i < 4; i++) u.a[i] = w * u.a[i];
  return u;
}

// The sum A of the six staples of link mu at x, at boundaries in time times the weights of their plaquettes: Re tr
// U_mu(x) A is the weighted sum of the traces of the link's plaquettes.
template <class S, int STORAGE, template <class> class M, class R, class Args>
PLAQ_FN void staple_sum(M<R>& sum, const Args& a, const Plane (&gauge)[2], const Site& x, int mu) {
  const Geom& g = a.geom;
  const Site xm = neighbour(g, x, mu, true);
  bool first = true;
  for (int nu = 0; nu < 4; nu++) {
    if (nu == mu) continue;
    M<R> p, q, r;
    // The staple above: x+mu -> x+mu+nu -> x+nu -> x
    const Site up = neighbour(g, x, nu, true);
    load_link<S, STORAGE>(p, gauge[xm.par], xm, nu);
    load_link<S, STORAGE>(q, gauge[up.par], up, mu);
    load_link<S, STORAGE>(r, gauge[x.par], x, nu);
    if (mu == 3) put_edge(p, a.bounds, g, x, nu);
    if (nu == 3) put_edge(q, a.bounds, g, x, mu);
    M<R> upper = p * adj(r * q);
    // The staple below: x+mu -> x+mu-nu -> x-nu -> x
    const Site down = neighbour(g, x, nu, false), corner = neighbour(g, xm, nu, false);
    load_link<S, STORAGE>(p, gauge[corner.par], corner, nu);
    load_link<S, STORAGE>(q, gauge[down.par], down, mu);
    load_link<S, STORAGE>(r, gauge[down.par], down, nu);
    if (mu == 3) put_edge(p, a.bounds, g, x, nu);
    M<R> lower = adj(q * p) * r;
    if (a.bounds.kind()) {
      const BoundWeights<R> w(a, x, mu, nu);
      upper = weighted(w.above, upper);
      lower = weighted(w.below, lower);
    }
    sum = first ? upper : sum + upper;
    first = false;
    sum = sum + lower;
  }
}

// Sets u back to `old` in the lanes where link mu of x is fixed or does not exist.
template <class R> PLAQ_FN void restore_fixed(Su3<R>& u, const Su3<R>& old, const Bounds& b, const Geom& g, const Site& x, int mu) {
  const bool first = mu < 3 && (b.kind() & BOUND_FIXED), last = mu == 3 && (b.kind() & BOUND_UPPER);
  if (!first && !last) return;
  PLAQ_UNROLL for (int i = 0; i < 9; i++) {
    cplx<R>& z = u.e[i / 3][i % 3];
    const cplx<R> w = old.e[i / 3][i % 3];
    z = {first ? on_first(g, x, w.re, z.re) : on_last(g, x, w.re, z.re),
         first ? on_first(g, x, w.im, z.im) : on_last(g, x, w.im, z.im)};
  }
}
template <class R> PLAQ_FN void restore_fixed(Su2<R>&, const Su2<R>&, const Bounds&, const Geom&, const Site&, int) {}

// Updates the links of one direction on one parity in place, by heat bath (`heat`) or overrelaxation.
template <int W, class S, int STORAGE> struct UpdateLinks {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const UpdateArgs& a, int o, int lx, int) {
    const Site x = site_at(a.geom, o, a.parity, lx);
    const Plane gauge[2] = {plane(a.gauge, 0), plane(a.gauge, 1)};
    const Draws<W> draws(a.geom, x, a.seed, RANDOM_HEATBATH, a.direction, (u32)a.sweep);
    LinkOf<STORAGE, R> u, staples;
    staple_sum<S, STORAGE>(staples, a, gauge, x, a.direction);
    load_link<S, STORAGE>(u, gauge[x.par], x, a.direction);
    const LinkOf<STORAGE, R> old = u;
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
    if (a.bounds.kind()) restore_fixed(u, old, a.bounds, a.geom, x, a.direction);
    store_link<S, STORAGE>(u, gauge[x.par], x, a.direction);
  }
};

}  // namespace PLAQ_NS
