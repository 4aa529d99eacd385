// Weights of plaquettes at boundaries in time.
#pragma once
#include "bounds.h"

namespace PLAQ_NS {

// The weights of the plaquettes of a link of direction mu and nu at boundaries in time: above the link and below it. `a` has
// bounds, geom and the weights lower and upper of the action there.
template <class R> struct BoundWeights {
  R above, below;
  template <class Args> PLAQ_FN BoundWeights(const Args& a, const Site& x, int mu, int nu) {
    const Bounds& b = a.bounds;
    if (mu < 3 && nu < 3) {
      above = below = space_weight<R>(b, a.geom, x, 0.5 * a.lower, 0.5 * a.upper);
    } else {
      above = below = time_weight<R>(b, a.geom, x, false, a.lower, a.upper);
      if (nu == 3) below = time_weight<R>(b, a.geom, x, true, a.lower, a.upper);
    }
  }
};

}  // namespace PLAQ_NS
