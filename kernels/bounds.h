// Boundaries of the lattice: phases of quarks that step over them, and boundaries of links in time, which the bits
// BOUND_* of `Bounds` describe. With open boundaries the temporal links of the last stored slice do not exist: they are
// zero where links are stored whole or as rows, and undefined in other storages, so that no kernel may read them. With
// boundaries of the Schroedinger functional the spatial links of slice 0 are fixed, and those of the slice behind the
// last stored one are constants, which a step forward from the last slice finds in place of the links of slice 0.
#pragma once
#include "recon.h"

namespace PLAQ_NS {

// Whether the hop crosses a boundary with a phase. Phases belong to the operator; links stay in SU(3).
template <class Args> PLAQ_FN bool has_phase(const Args& a, const Site& s, int mu, bool forward) {
  return (a.phase_mask() >> mu & 1) && at_end(a.geom, s, mu, forward);
}
template <class R, class Args> PLAQ_FN cplx<R> boundary_phase(const Args& a, const Site& s, int mu, bool forward) {
  const int k = forward ? mu : mu + 4;
  return {select_leaving(a.geom, s, mu, forward, splat<R>(a.phase_re[k]), splat<R>(1)),
          select_leaving(a.geom, s, mu, forward, splat<R>(a.phase_im[k]), splat<R>(0))};
}

// Whether some lanes of the site are `n` slices above the first slice of the lattice, n = 0 or 1, or below the last
// stored one.
PLAQ_FN bool near_first(const Geom& g, const Site& s, int n = 0) { return s.t == n && g.origin[3] == 0; }
PLAQ_FN bool near_last(const Geom& g, const Site& s, int n = 0) {
  return s.t == g.t() - 1 - n && g.origin[3] + local_extent(g, 3) == g.global[3];
}
// `there` in the lanes for which `near_first` (or `near_last`) is true, else `other`.
template <class R> PLAQ_FN R on_first(const Geom& g, const Site& s, R there, R other, int n = 0) {
  return near_first(g, s, n) ? by_lane_bit(there, other, s.lx, g.lane_t(), false) : other;
}
template <class R> PLAQ_FN R on_last(const Geom& g, const Site& s, R there, R other, int n = 0) {
  return near_last(g, s, n) ? by_lane_bit(there, other, s.lx, g.lane_t(), true) : other;
}

// Whether quarks vanish in some lanes of the site.
PLAQ_FN bool some_vanish(const Bounds& b, const Geom& g, const Site& s) {
  return ((b.kind() & BOUND_LOWER) && near_first(g, s)) || ((b.kind() & BOUND_UPPER) && near_last(g, s));
}
// 0 in lanes where quarks vanish, else 1.
template <class R> PLAQ_FN R inside(const Bounds& b, const Geom& g, const Site& s) {
  R f = splat<R>(1);
  if (b.kind() & BOUND_LOWER) f = on_first(g, s, splat<R>(0), f);
  if (b.kind() & BOUND_UPPER) f = on_last(g, s, splat<R>(0), f);
  return f;
}

// Whether quarks vanish at the neighbour in time of some lanes of the site. Where the last stored slice is not a
// boundary slice, slice 0 follows it.
PLAQ_FN bool some_neighbours_vanish(const Bounds& b, const Geom& g, const Site& s, bool forward) {
  const bool lower = b.kind() & BOUND_LOWER, upper = b.kind() & BOUND_UPPER;
  return forward ? (upper && near_last(g, s, 1)) || (lower && near_last(g, s)) : (lower && near_first(g, s, 1)) || (upper && near_first(g, s));
}
// 0 in lanes whose neighbour in time is on a slice where quarks vanish, else 1.
template <class R> PLAQ_FN R neighbour_inside(const Bounds& b, const Geom& g, const Site& s, bool forward) {
  R f = splat<R>(1);
  const R zero = splat<R>(0);
  if (b.kind() & BOUND_LOWER) f = forward ? on_last(g, s, zero, f) : on_first(g, s, zero, f, 1);
  if (b.kind() & BOUND_UPPER) f = forward ? on_last(g, s, zero, f, 1) : on_first(g, s, zero, f);
  return f;
}

// Sets numbers of a site to 0 in lanes where quarks vanish.
template <class R, int N> PLAQ_FN void vanish(R (&v)[N], const Bounds& b, const Geom& g, const Site& s) {
  if (!some_vanish(b, g, s)) return;
  const R f = inside<R>(b, g, s);
  PLAQ_UNROLL for (int i = 0; i < N; i++) v[i] = f * v[i];
}

// 1 for links that exist, 0 for the temporal ones of the last slice of open boundaries.
template <class R> PLAQ_FN R exists(const Bounds& b, const Geom& g, const Site& s, int mu) {
  if (mu != 3 || !(b.kind() & BOUND_UPPER)) return splat<R>(1);
  return on_last(g, s, splat<R>(0), splat<R>(1));
}
// 1 for links that change, 0 for those that do not exist or are fixed.
template <class R> PLAQ_FN R active(const Bounds& b, const Geom& g, const Site& s, int mu) {
  if (mu < 3 && (b.kind() & BOUND_FIXED)) return on_first(g, s, splat<R>(0), splat<R>(1));
  return exists<R>(b, g, s, mu);
}

// The weight of the plaquettes in a plane of space on the slice of x: `lower` and `upper` on slices where the lattice is
// open, 0 where links are fixed, else 1.
template <class R> PLAQ_FN R space_weight(const Bounds& b, const Geom& g, const Site& x, double lower, double upper) {
  R w = splat<R>(1);
  if (b.kind() & BOUND_LOWER) w = on_first(g, x, splat<R>(b.kind() & BOUND_FIXED ? 0 : lower), w);
  if (b.kind() & BOUND_UPPER) w = on_last(g, x, splat<R>(upper), w);
  return w;
}
// The weight of the plaquettes between the slice of x and the next one, or with `below` the one before: `lower` and
// `upper` where they touch fixed links, 0 where they do not exist, else 1.
template <class R>
PLAQ_FN R time_weight(const Bounds& b, const Geom& g, const Site& x, bool below, double lower, double upper) {
  R w = splat<R>(1);
  if (b.kind() == 0) return w;
  if (b.kind() & BOUND_FIXED) w = on_first(g, x, splat<R>(lower), w, below);
  if (below) return on_first(g, x, splat<R>(0), w);
  return on_last(g, x, splat<R>(b.kind() & BOUND_EDGE ? upper : 0), w);
}

// 1 for plaquettes between the slice of x and the next one, or with `below` the one before, that touch links which stand
// still, else 0.
template <class R> PLAQ_FN R touch_weight(const Bounds& b, const Geom& g, const Site& x, bool below) {
  R w = splat<R>(0);
  if (b.kind() & BOUND_FIXED) w = on_first(g, x, splat<R>(1), w, below);
  return (b.kind() & BOUND_EDGE) && !below ? on_last(g, x, splat<R>(1), w) : w;
}

// Sets the lanes of u, link mu read one step forward in time, to the constant for it where x is on the last slice.
template <class R> PLAQ_FN void put_edge(Su3<R>& u, const Bounds& b, const Geom& g, const Site& x, int mu) {
  if (!(b.kind() & BOUND_EDGE) || mu == 3 || !near_last(g, x)) return;
  PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < 3; j++) {
    const R re = splat<R>(i == j ? b.edge_re[3 * mu + i] : 0), im = splat<R>(i == j ? b.edge_im[3 * mu + i] : 0);
    cplx<R>& z = u.e[i][j];
    z = {by_lane_bit(re, z.re, x.lx, g.lane_t(), true), by_lane_bit(im, z.im, x.lx, g.lane_t(), true)};
  }
}
template <class R> PLAQ_FN void put_edge(Su2<R>&, const Bounds&, const Geom&, const Site&, int) {}

}  // namespace PLAQ_NS
