// Plaquettes of a link, for SU(3) and SU(2).
#pragma once
#include "bounds.h"

namespace PLAQ_NS {

// The real part of the trace of U_mu(x) U_nu(x+mu) [U_nu(x) U_mu(x+nu)]^dagger, mu < nu; 0 for a plaquette that does
// not exist.
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

}  // namespace PLAQ_NS
