// Site terms of a doublet of flavours u and d (operators/doublet.rs): A + i m gamma5 tau3 + e tau1 and its inverse.
#pragma once
#include "wilson.h"

namespace PLAQ_NS {

// out = coef S in + coef_y y on one parity, in place or not; batch: right-hand side. The term S is
//   SITE_ONE                    1
//   SITE_TWIST                  scale (1 + i m gamma5 tau3 + e tau1), m = twist, e = split
//   SITE_CLOVER_TWIST           A + i m gamma5 tau3 + e tau1
//   SITE_CLOVER_TWIST_INVERSE   (A - i m gamma5 tau3 - e tau1) H, the inverse of the one above, H = (A^2 + m^2 - e^2)^-1:
// A commutes with the other two, which anticommute.
template <int W, class S> struct DoubletSite {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const DoubletSiteArgs& a, int o, int lx, int batch) {
    const Site s = site_at(a.geom, o, a.parity(), lx);
    Spinor<R> v[2];
    PLAQ_UNROLL for (int f = 0; f < 2; f++) load<S>(v[f].v, plane(a.inp, (2 * batch + f) * a.step_in()), s);
    PLAQ_FIXED(DoubletSiteArgs, fixed, a);
    PLAQ_IF (fixed.site() != SITE_ONE)
      PLAQ_UNROLL for (int ch = 0; ch < 2; ch++) chirality(v[0].v + 12 * ch, v[1].v + 12 * ch, a, s, ch);
    const R c = splat<R>(a.coef);
    PLAQ_UNROLL for (int f = 0; f < 2; f++) {
      PLAQ_UNROLL for (int i = 0; i < 24; i++) v[f].v[i] = c * v[f].v[i];
      PLAQ_IF (fixed.with_y()) {
        R y[24];
        load<S>(y, plane(a.y, (2 * batch + f) * a.step_y()), s);
        const R cy = splat<R>(a.coef_y);
        PLAQ_UNROLL for (int i = 0; i < 24; i++) v[f].v[i] = fma_(cy, y[i], v[f].v[i]);
      }
      store<S>(v[f].v, plane(a.out, (2 * batch + f) * a.step_out()), s);
    }
  }
  // The term on one chirality's 12 reals of both flavours.
  static PLAQ_FN void chirality(R* u, R* d, const DoubletSiteArgs& a, const Site& s, int ch) {
    const R m = splat<R>(ch == 0 ? a.twist : -a.twist), e = splat<R>(a.split);
    PLAQ_FIXED(DoubletSiteArgs, fixed, a);
    R au[12], ad[12];
    PLAQ_IF (fixed.site() == SITE_TWIST) {
      PLAQ_UNROLL for (int i = 0; i < 12; i++) au[i] = u[i], ad[i] = d[i];
      add_mixing(au, ad, u, d, m, e);
      const R scale = splat<R>(a.scale);
      PLAQ_UNROLL for (int i = 0; i < 12; i++) u[i] = scale * au[i], d[i] = scale * ad[i];
    } else {
      R b[36];
      load_block<S>(b, plane(a.clover, a.parity()), s, ch, keep);
      multiply_block(u, b, au), multiply_block(d, b, ad);
      PLAQ_IF (fixed.site() == SITE_CLOVER_TWIST) add_mixing(au, ad, u, d, m, e);
      else {
        R hu[12], hd[12];
        load_block<S>(b, plane(a.clover, a.parity() + 2), s, ch, keep);
        multiply_block(u, b, hu), multiply_block(d, b, hd);
        add_mixing(au, ad, hu, hd, -m, -e);
      }
      PLAQ_UNROLL for (int i = 0; i < 12; i++) u[i] = au[i], d[i] = ad[i];
    }
  }
  // (au, ad) += (i m tau3 + e tau1) (u, d).
  static PLAQ_FN void add_mixing(R (&au)[12], R (&ad)[12], const R* u, const R* d, R m, R e) {
    PLAQ_UNROLL for (int i = 0; i < 12; i += 2) {
      au[i] = fma_(e, d[i], fnma_(m, u[i + 1], au[i])), au[i + 1] = fma_(e, d[i + 1], fma_(m, u[i], au[i + 1]));
      ad[i] = fma_(e, u[i], fma_(m, d[i + 1], ad[i])), ad[i + 1] = fma_(e, u[i + 1], fnma_(m, d[i], ad[i + 1]));
    }
  }
};

}  // namespace PLAQ_NS
