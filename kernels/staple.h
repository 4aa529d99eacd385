// Plaquettes of a link and their staples, for SU(3) and SU(2).
#pragma once
#include "recon.h"

namespace PLAQ_NS {

// U_mu(x) U_nu(x+mu) times the adjoint of U_nu(x) U_mu(x+nu), real part of the trace.
template <class S, int STORAGE, class R>
PLAQ_FN R plaquette_trace(const Geom& g, const Plane (&gauge)[2], const Site& x, int mu, int nu) {
  const Site xm = neighbour(g, x, mu, true), xn = neighbour(g, x, nu, true);
  LinkOf<STORAGE, R> a, b;
  load_link<S, STORAGE>(a, gauge[x.par], x, mu);
  load_link<S, STORAGE>(b, gauge[xm.par], xm, nu);
  const auto there = a * b;
  load_link<S, STORAGE>(a, gauge[x.par], x, nu);
  load_link<S, STORAGE>(b, gauge[xn.par], xn, mu);
  return re_trace_adj(there, a * b);
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
