// The four plaquettes around a site: what the clover term and the topological charge are made of.
#pragma once
#include "recon.h"

namespace PLAQ_NS {

template <class R> PLAQ_FN Su3<R> mul_adj(const Su3<R>& a, const Su3<R>& b) { return a * adj(b); }
template <class R> PLAQ_FN Su3<R> adj_mul(const Su3<R>& a, const Su3<R>& b) { return adj(a) * b; }

// Q_mu,nu(x): the sum of the four oriented plaquettes in the (mu, nu) plane that begin at x.
template <class S, int RECON, class R>
PLAQ_FN void clover_leaf(Su3<R>& q, const Geom& g, const Plane (&gauge)[2], const Site& x, int mu, int nu) {
  const Site xm = neighbour(g, x, mu, false), xn = neighbour(g, x, nu, false);
  auto link = [&](const Site& s, int dir) {
    Su3<R> u;
    load_link<S, RECON>(u, gauge[s.par], s, dir);
    return u;
  };
  // x -> x+mu -> x+mu+nu -> x+nu -> x
  q = mul_adj(mul_adj(link(x, mu) * link(neighbour(g, x, mu, true), nu), link(neighbour(g, x, nu, true), mu)), link(x, nu));
  // x -> x+nu -> x-mu+nu -> x-mu -> x
  q = q + mul_adj(mul_adj(link(x, nu), link(neighbour(g, xm, nu, true), mu)), link(xm, nu)) * link(xm, mu);
  // x -> x-mu -> x-mu-nu -> x-nu -> x
  const Site xmn = neighbour(g, xm, nu, false);
  q = q + adj_mul(link(xmn, nu) * link(xm, mu), link(xmn, mu) * link(xn, nu));
  // x -> x-nu -> x+mu-nu -> x+mu -> x
  q = q + mul_adj(adj_mul(link(xn, nu), link(xn, mu)) * link(neighbour(g, xn, mu, true), nu), link(x, mu));
}

// F_mu,nu(x) = (Q - Q^dagger) / 8, anti-hermitian, trace kept (physics.md).
template <class S, int RECON, class R>
PLAQ_FN void field_strength(Su3<R>& f, const Geom& g, const Plane (&gauge)[2], const Site& x, int mu, int nu) {
  Su3<R> q;
  clover_leaf<S, RECON>(q, g, gauge, x, mu, nu);
  const R eighth = splat<R>(0.125);
  PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < 3; j++)
    f.e[i][j] = eighth * (q.e[i][j] - conj(q.e[j][i]));
}

}  // namespace PLAQ_NS
