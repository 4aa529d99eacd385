// Plaquettes of a link and their staples, for SU(3) and SU(2).
#pragma once
#include "bounds.h"

namespace PLAQ_NS {

// U_mu(x) U_nu(x+mu) times the adjoint of U_nu(x) U_mu(x+nu), real part of the trace, mu < nu; 0 for a plaquette that
// does not exist.
template <class S, int STORAGE, class R>
PLAQ_FN R plaquette_trace(const Bounds& b, const Geom& g, const Plane (&gauge)[2], const Site& x, int mu, int nu) {
  const Site xm = neighbour(g, x, mu, true), xn = neighbour(g, x, nu, true);
  LinkOf<STORAGE, R> a, c;
  load_link<S, STORAGE>(a, gauge[x.par], x, mu);
  load_link<S, STORAGE>(c, gauge[xm.par], xm, nu);
  const auto there = a * c;
  load_link<S, STORAGE>(a, gauge[x.par], x, nu);
  load_link<S, STORAGE>(c, gauge[xn.par], xn, mu);
  if (nu == 3) put_edge(c, b, g, x, mu);
  const R p = re_trace_adj(there, a * c);
  return b.kind() & BOUND_UPPER ? exists<R>(b, g, x, nu) * p : p;
}

// The sum A of the six staples of a link: its plaquettes add up to Re tr U_mu(x) A.
template <class S, int STORAGE, template <class> class M, class R>
PLAQ_FN void staple_sum(M<R>& sum, const Geom& g, const Plane (&gauge)[2], const Site& x, int mu) {
  const Site xm = neighbour(g, x, mu, true);
  bool first = true;
  for (int nu = 0; nu < 4; nu++) {
    if (nu == mu) continue;
    M<R> a, b, c;
    // x+mu -> x+mu+nu -> x+nu -> x
    const Site up = neighbour(g, x, nu, true);
    load_link<S, STORAGE>(a, gauge[xm.par], xm, nu);
    load_link<S, STORAGE>(b, gauge[up.par], up, mu);
    load_link<S, STORAGE>(c, gauge[x.par], x, nu);
    const M<R> upper = a * adj(c * b);
    sum = first ? upper : sum + upper;
    first = false;
    // x+mu -> x+mu-nu -> x-nu -> x
    const Site down = neighbour(g, x, nu, false), corner = neighbour(g, xm, nu, false);
    load_link<S, STORAGE>(a, gauge[corner.par], corner, nu);
    load_link<S, STORAGE>(b, gauge[down.par], down, mu);
    load_link<S, STORAGE>(c, gauge[down.par], down, nu);
    sum = sum + adj(b * a) * c;
  }
}

}  // namespace PLAQ_NS
