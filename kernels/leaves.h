// The sum of the four plaquettes around a site, of which the clover term and the topological charge
// are made.
#pragma once
#include "bounds.h"

namespace PLAQ_NS {

// An anti-hermitian matrix: the diagonal is i diagonal[k]; below it are the elements (1,0), (2,0),
// (2,1).
template <class R> struct AntiHermitian {
  R diagonal[3];
  cplx<R> lower[3];
};

template <class R> PLAQ_FN Su3<R> mul_adj(const Su3<R>& a, const Su3<R>& b) { return a * adj(b); }
template <class R> PLAQ_FN Su3<R> adj_mul(const Su3<R>& a, const Su3<R>& b) { return adj(a) * b; }

// Adds (Q - Q^dagger) / 8 of one plaquette or leaf Q to f.
template <class R> PLAQ_FN void add_antihermitian(AntiHermitian<R>& f, const Su3<R>& q) {
  const R eighth = splat<R>(0.125);
  PLAQ_UNROLL for (int i = 0; i < 3; i++) f.diagonal[i] = fma_(eighth + eighth, q.e[i][i].im, f.diagonal[i]);
  PLAQ_UNROLL for (int k = 0; k < 3; k++) {
    const int i = k ? 2 : 1, j = k == 2;
    f.lower[k].re = fma_(eighth, q.e[i][j].re - q.e[j][i].re, f.lower[k].re);
    f.lower[k].im = fma_(eighth, q.e[i][j].im + q.e[j][i].im, f.lower[k].im);
  }
}

// F_mu,nu(x) = (Q - Q^dagger) / 8, trace kept (physics.md), mu < nu; Q is the sum of the four oriented
// plaquettes in the (mu, nu) plane that begin at x. On slices where quarks vanish it means nothing.
template <class S, int RECON, class R>
PLAQ_FN void field_strength(AntiHermitian<R>& f, const Bounds& b, const Geom& g, const Plane (&gauge)[2], const Site& x, int mu, int nu) {
  const Site xm = neighbour(g, x, mu, false), xn = neighbour(g, x, nu, false);
  auto link = [&](const Site& s, int dir) {
    Su3<R> u;
    load_link<S, RECON>(u, gauge[s.par], s, dir);
    return u;
  };
  // Link mu of a site one step forward in nu: at the upper boundary in time it may be a constant.
  auto ahead = [&](const Site& s) {
    Su3<R> u = link(s, mu);
    if (nu == 3) put_edge(u, b, g, x, mu);
    return u;
  };
  f = AntiHermitian<R>{};
  // x -> x+mu -> x+mu+nu -> x+nu -> x
  add_antihermitian(f, mul_adj(mul_adj(link(x, mu) * link(neighbour(g, x, mu, true), nu), ahead(neighbour(g, x, nu, true))), link(x, nu)));
  // x -> x+nu -> x-mu+nu -> x-mu -> x
  add_antihermitian(f, mul_adj(mul_adj(link(x, nu), ahead(neighbour(g, xm, nu, true))), link(xm, nu)) * link(xm, mu));
  // x -> x-mu -> x-mu-nu -> x-nu -> x
  const Site xmn = neighbour(g, xm, nu, false);
  add_antihermitian(f, adj_mul(link(xmn, nu) * link(xm, mu), link(xmn, mu) * link(xn, nu)));
  // x -> x-nu -> x+mu-nu -> x+mu -> x
  add_antihermitian(f, mul_adj(adj_mul(link(xn, nu), link(xn, mu)) * link(neighbour(g, xn, mu, true), nu), link(x, mu)));
}

}  // namespace PLAQ_NS
