// Axial gauge: all links of one direction are unit matrices, but for the last one of every line. h(x) is the product of
// the links of the line before x.
#pragma once
#include "gaugefix.h"

namespace PLAQ_NS {

template <class R> PLAQ_FN void set_unit(Su3<R>& u) {
  u = Su3<R>{};
  PLAQ_UNROLL for (int i = 0; i < 3; i++) u.e[i][i].re = splat<R>(1);
}
template <class R> PLAQ_FN void set_unit(Su2<R>& u) { u = Su2<R>{{splat<R>(1)}}; }

// Computes h of a slice from h of the slice before, which may be in other lanes or on another rank
// for the first slice; batches = parities.
template <int W, class S, int STORAGE> struct AxialStep {
  typedef GaugeSite<W, S, STORAGE> At;
  static PLAQ_FN void site(const AxialArgs& a, int o, int lx, int parity) {
    const int mu = a.direction(), bit = lane_bit(a.geom, mu);
    const Site x = face_site(a.geom, o, mu, a.slice, parity, lx), from = neighbour(a.geom, x, mu, false);
    typename At::M h, u, unit;
    load_matrix<S, At::G>(h, a.g, from);
    load_link<S, STORAGE>(u, plane(a.gauge, from.par), from, mu);
    h = group_product(h, u);
    reunitarise(h);
    set_unit(unit);
    if (a.slice == 0 && a.geom.origin[mu] == 0) h = bit ? choose(h, unit, lx, bit, true) : unit;
    store_matrix<S, At::G>(h, a.g, x);
  }
};

// Sets links that are unit matrices but for rounding to the unit matrix; batches = parities.
template <int W, class S, int STORAGE> struct AxialUnit {
  typedef GaugeSite<W, S, STORAGE> At;
  static PLAQ_FN void site(const AxialArgs& a, int o, int lx, int parity) {
    const int mu = a.direction();
    const Site x = site_at(a.geom, o, parity, lx);
    typename At::M u, unit;
    set_unit(unit);
    const bool last = a.geom.origin[mu] + local_extent(a.geom, mu) == a.geom.global[mu];
    load_link<S, STORAGE>(u, plane(a.gauge, parity), x, mu);
    u = last && at_seam(a.geom, x, mu, true) ? choose(u, unit, lx, lane_bit(a.geom, mu), true) : unit;
    store_link<S, STORAGE>(u, plane(a.gauge, parity), x, mu);
  }
};

}  // namespace PLAQ_NS
