// Field strengths that act on colour vectors, for pairs of field strengths that are connected by lines of links.
#pragma once
#include "leaves.h"

namespace PLAQ_NS {

// Spin p of out_k becomes F_p v_k, where p = 0, 1, 2 numbers the planes xy, xz, yz, or with `electric` xt, yt, zt; spin
// 3 becomes 0. F is the field strength of the clover leaves without its trace, v_k is column k = 0, 1, 2 of `vectors`.
// With `begin` the v_k are the unit vectors e_k, which are also written to `vectors`. A batch is a parity.
template <int W, class S, int RECON> struct FieldStrengthTimes {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const FieldStrengthTimesArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    const Plane gauge[2] = {plane(a.gauge, 0), plane(a.gauge, 1)};
    const R zero = splat<R>(0);
    R in[3][6], out[3][24];
    for (int k = 0; k < 3; k++) {
      const Plane at = plane(a.vectors, 2 * k + parity);
      if (a.begin) {
        for (int i = 0; i < 6; i++) in[k][i] = splat<R>(i == 2 * k);
        store<S>(in[k], at, x);
      } else load<S>(in[k], at, x);
      for (int i = 18; i < 24; i++) out[k][i] = zero;
    }
    PLAQ_LOOP for (int p = 0; p < 3; p++) {
      const int mu = a.electric ? p : p == 2, nu = a.electric ? 3 : p == 0 ? 1 : 2;
      AntiHermitian<R> f;
      field_strength<S, RECON>(f, a.bounds, a.geom, gauge, x, mu, nu);
      const R third = splat<R>(1.0 / 3) * (f.diagonal[0] + f.diagonal[1] + f.diagonal[2]);
      PLAQ_LOOP for (int k = 0; k < 3; k++) for (int i = 0; i < 3; i++) {
        const R d = f.diagonal[i] - third;
        cplx<R> z = {-(d * in[k][2 * i + 1]), d * in[k][2 * i]};
        for (int j = 0; j < 3; j++) {
          if (j == i) continue;
          // `lower` has (1,0), (2,0), (2,1) of the anti-hermitian F; those above are minus their conjugates.
          const cplx<R> l = f.lower[(i > j ? i : j) + (i > j ? j : i) - 1], v = {in[k][2 * j], in[k][2 * j + 1]};
          z = i > j ? madd(z, l, v) : madd(z, cplx<R>{-l.re, l.im}, v);
        }
        out[k][6 * p + 2 * i] = z.re, out[k][6 * p + 2 * i + 1] = z.im;
      }
    }
    for (int k = 0; k < 3; k++) store<S>(out[k], plane(a.out, 2 * k + parity), x);
  }
};

}  // namespace PLAQ_NS
