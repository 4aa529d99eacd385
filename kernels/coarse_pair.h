// Site matrices of coarse operators on two flavours (operators/coarse.rs). Component c of flavour f is row 2 c + f;
// matrices are kept column after column.
#pragma once
#include "rows.h"

namespace PLAQ_NS {

// T = i twist[f] Gamma5 on flavour f + split tau1, Gamma5 being 1 on the upper half of the components and -1 on the lower
// one. out = A (x) 1 + T for the matrix A of a site, or (`product`) 1 + (A (x) 1) T.
template <int W, class S> struct CoarsePair {
  typedef typename S::T T;
  static PLAQ_FN void entry(const CoarsePairArgs& a, i64 site, int i) {
    const int n = a.rows(), column = i / (2 * n), row = i % (2 * n);
    const int cc = column / 2, cf = column % 2, rc = row / 2, rf = row % 2;
    const double upper = cc < n / 2 ? 1 : -1;
    const cplx<double> t = cf == rf ? cplx<double>{0, upper * a.twist[cf]} : cplx<double>{a.split, 0};
    cplx<double> z = {0, 0};
    if (a.product()) {
      const cplx<double> m = number<double>((const T*)a.inp, (site * n + cc) * n + rc);
      z = {m.re * t.re - m.im * t.im, m.re * t.im + m.im * t.re};
      if (row == column) z.re += 1;
    } else {
      if (cf == rf) z = number<double>((const T*)a.inp, (site * n + cc) * n + rc);
      if (cc == rc) z = z + t;
    }
    put_number((T*)a.out, site * 4 * n * n + i, z);
  }
  static PLAQ_FN void site(const CoarsePairArgs& a, Element o, int lx, int) {
    if (lx != 0) return;
    const int size = 4 * a.rows() * a.rows();
#if PLAQ_GPU
    entry(a, o / size, (int)(o % size));
#else
    for (int i = 0; i < size; i++) entry(a, o, i);
#endif
  }
};

}  // namespace PLAQ_NS
