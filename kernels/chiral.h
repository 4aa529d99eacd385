// Linear combinations of spinor fields with separate coefficients for the two chiralities: the upper two spins have
// gamma5 = 1 (DeGrand-Rossi basis), the lower two -1.
#pragma once
#include "field.h"

namespace PLAQ_NS {

// out = sum over the first `terms` fields of (coef[2 i], coef[2 i + 1]) times field i; out may be one of them.
template <int W, class S> struct ChiralSum {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void add(R (&sum)[24], const FieldView& f, const Site& s, int index, double upper, double lower) {
    if (upper == 0 && lower == 0) return;
    R v[24];
    load<S>(v, plane(f, index), s);
    const R c[2] = {splat<R>(upper), splat<R>(lower)};
    PLAQ_UNROLL for (int i = 0; i < 24; i++) sum[i] = fma_(c[i / 12], v[i], sum[i]);
  }
  static PLAQ_FN void site(const ChiralArgs& a, int o, int lx, int batch) {
    Site s{};
    s.o = o, s.lx = lx;
    R sum[24];
    PLAQ_UNROLL for (int i = 0; i < 24; i++) sum[i] = splat<R>(0);
    add(sum, a.x, s, batch, a.coef[0], a.coef[1]);
    if (a.terms() > 1) add(sum, a.y, s, batch, a.coef[2], a.coef[3]);
    if (a.terms() > 2) add(sum, a.z, s, batch, a.coef[4], a.coef[5]);
    if (a.terms() > 3) add(sum, a.w, s, batch, a.coef[6], a.coef[7]);
    store<S>(sum, plane(a.out, batch), s);
  }
};

}  // namespace PLAQ_NS
