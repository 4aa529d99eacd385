// Updates the vectors of all shifts of a multi-shift solver in one pass (blas.h).
#pragma once
#include "blas.h"

namespace PLAQ_NS {

// x_k += a_k p_k (with `one` a single x = x_0 for all shifts), then p_k = c_k p_k + d_k r, for all shifts k. r and p
// are stored as SP, x as SX; rounding is that of separate operations.
template <int W, class SP, class SX> struct ShiftUpdate {
  typedef real<typename SP::C, W> R;
  typedef real<typename real_wider<typename SP::C, typename SX::C>::type, W> Wide;
  const ShiftArgs& a;

  // The view of another field with the layout of f.
  static PLAQ_FN FieldView like(const FieldView& f, char* data, char* norm) {
    FieldView v = f;
    v.data = data, v.norm = norm;
    return v;
  }
  template <int N> static PLAQ_FN void add(Wide (&x)[N], double c, const R (&p)[N]) {
    const Wide w = splat<Wide>(c);
    PLAQ_UNROLL for (int i = 0; i < N; i++) x[i] = fma_(w, convert<Wide>(p[i]), x[i]);
  }
  template <int N, How HOW> PLAQ_FN void run(const PiecePosition& at) const {
    const int rhs = at.batch / a.parities();
    R r[N], p[N];
    Wide x[N];
    get<HOW, SP>(r, a.r, at);
    if (a.one()) get<HOW, SX>(x, like(a.x, a.out[0], a.out[0]), at);
    for (int k = 0; k < a.shifts; k++) {
      const double* c = a.coef + 3 * (k * a.count + rhs);
      // Three coefficients 0 stand for a right-hand side that is no longer solved for and stays as it is.
      if (c[0] == 0 && c[1] == 0 && c[2] == 0) continue;
      const FieldView pk = like(a.r, a.p[k], a.norm[k]);
      get<HOW, SP>(p, pk, at);
      if (a.one()) {
        add(x, c[0], p);
      } else if (c[0] != 0) {
        const FieldView xk = like(a.x, a.out[k], a.out[k]);
        get<HOW, SX>(x, xk, at);
        add(x, c[0], p);
        put<HOW, SX>(x, xk, at);
      }
      const R keep = splat<R>(c[1]), more = splat<R>(c[2]);
      PLAQ_UNROLL for (int i = 0; i < N; i++) p[i] = fma_(more, r[i], keep * p[i]);
      put<HOW, SP>(p, pk, at);
    }
    if (a.one()) put<HOW, SX>(x, like(a.x, a.out[0], a.out[0]), at);
  }
  static PLAQ_FN void site(const ShiftArgs& a, Element o, int lx, int batch) {
    typedef Piece<SP, SX> P;
    const ShiftUpdate self{a};
    const int n = a.reals();
    if constexpr (P::flat) {
      self.template run<P::N, rows>(PiecePosition{0, lx, batch, P::N, 0, nullptr, o});
    } else if constexpr (P::fixed) {
      if (n == 24) self.template run<24, whole>(PiecePosition{(int)o, lx, batch, 24, 0, nullptr});
      else self.template run<6, whole>(PiecePosition{(int)o, lx, batch, 6, 0, nullptr});
    } else if (n % 4 == 0) {
      for (int i = 0; i < n; i += 4) self.template run<4, rows>(PiecePosition{(int)o, lx, batch, n, i, nullptr});
    } else {
      for (int i = 0; i < n; i += 2) self.template run<2, rows>(PiecePosition{(int)o, lx, batch, n, i, nullptr});
    }
  }
};

}  // namespace PLAQ_NS
