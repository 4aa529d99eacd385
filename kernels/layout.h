// Copies between fields and arrays of host programs, as a layout describes them (src/fields/layout.rs). Site i of a
// block lies at `stride_site * memory_index(i)` reals, its components at the offsets of a table. One lane at a time: o
// and lx count the block's sites.
#pragma once
#include "bounds.h"
#include "sums.h"
#include "unitary.h"

namespace PLAQ_NS {

struct HostSite {
  i64 at;    // index in memory
  int x[4];  // local coordinates
};

PLAQ_FN HostSite host_site(const LayoutArgs& a, u32 i) {
  const int a0 = a.axes & 3, a1 = (a.axes >> 2) & 3, a2 = (a.axes >> 4) & 3, a3 = (a.axes >> 6) & 3;
  const int h0 = a.halo & 15, h1 = (a.halo >> 4) & 15, h2 = (a.halo >> 8) & 15, h3 = (a.halo >> 12) & 15;
  const int half = a.split ? 2 : 1;
  const u32 l0 = local_extent(a.geom, a0) / half, l1 = local_extent(a.geom, a1), l2 = local_extent(a.geom, a2);
  const int c0 = i % l0;
  i /= l0;
  const int c1 = i % l1;
  i /= l1;
  const int c2 = i % l2, c3 = a.sliced ? a.slice : (int)(i / l2), in3 = a.sliced ? 0 : c3;
  HostSite s;
  s.at = c0 + h0 / half + (i64)(l0 + 2 * h0 / half) * (c1 + h1 + (l1 + 2 * h1) * (c2 + h2 + (i64)(l2 + 2 * h2) * (in3 + (a.sliced ? 0 : h3))));
  // Inside a slice the sublattices are those of the spatial coordinates.
  const int odd = (a.parity + c1 + c2 + in3 + (a.sliced ? 0 : origin_parity(a.geom))) & 1;
  s.x[0] = s.x[1] = s.x[2] = s.x[3] = 0;
  PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) {
    if (mu == a0) s.x[mu] = a.split ? 2 * c0 + odd : c0;
    if (mu == a1) s.x[mu] = c1;
    if (mu == a2) s.x[mu] = c2;
    if (mu == a3) s.x[mu] = c3;
  }
  return s;
}

// Sets the plane of a field with one or both parities; false where the field does not have the
// site.
PLAQ_FN bool field_plane(Plane& p, const LayoutArgs& a, const Site& s) {
  p = plane(a.field, a.field_parities == 2 ? s.par : 0);
  return a.field_parities == 2 || s.par == a.field_parity;
}

PLAQ_FN double read_real(const LayoutArgs& a, const char* base, i64 at) {
  if (a.single()) return ((const float*)base)[at];
  return ((const double*)base)[at];
}
PLAQ_FN void write_real(const LayoutArgs& a, char* base, i64 at, double v) {
  if (a.single()) ((float*)base)[at] = (float)v;
  else ((double*)base)[at] = v;
}

// Index of this thread's site in the launch, or false past its end.
PLAQ_FN bool launch_index(const LayoutArgs& a, int o, int lx, i64& k) {
  k = (i64)o * PLAQ_LANES + lx;
  return k < a.count;
}

// Sum of the moduli; NaN or infinite if one of the numbers is, or if the sum overflows.
template <int N> PLAQ_FN double total(const double (&v)[N]) {
  double s = 0;
  for (int i = 0; i < N; i++) s += vabs(v[i]);
  return s;
}
template <int N> PLAQ_FN bool all_finite(const double (&v)[N]) { return total(v) <= 1.7e308; }  // false for NaN

// Entry of a report: -1 for numbers that are not finite, else the violation, which is not computed
// beyond 1e30, where it might overflow.
template <int N> PLAQ_FN float verdict(const double (&v)[N], double violation) {
  if (!all_finite(v)) return -1;
  return total(v) > 1e30 ? 3e38f : (float)violation;
}

// The factor (scale, boundary phase, sign) that link mu at local coordinates x has in the array, or its inverse.
PLAQ_FN cplx<double> link_factor(const LayoutArgs& a, const int (&x)[4], int mu) {
  cplx<double> f = {a.scale[mu], 0};
  const int l = a.geom.global[mu];
  if (((a.phases >> mu) & 1) && (x[mu] + a.geom.origin[mu] + l) % l == l - 1) f = f * cplx<double>{a.phase_re[mu], a.phase_im[mu]};
  int n = 0;
  PLAQ_UNROLL for (int nu = 0; nu < 4; nu++) {
    if ((a.phases >> (4 + 4 * mu + nu)) & 1) n += x[nu] + a.geom.origin[nu];
  }
  if (n & 1) f = {-f.re, -f.im};
  return f;
}

// Links this close to their group differ from it by rounding only, and are stored as they are read.
PLAQ_FN bool within_rounding(double violation) { return violation < 1e-13; }

// Multiplies links that are stored whole by the factors of `link_factor`; batch = parity.
template <int W, class S> struct LinkFactors {
  typedef typename S::C C;
  static PLAQ_FN void site(const LayoutArgs& a, int o, int lx, int par) {
    const Site s = site_at(a.geom, o, par, lx);
    const Plane p = plane(a.field, par);
    int x[4];
    PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) x[mu] = global_coordinate(a.geom, s, lx, mu) - a.geom.origin[mu];
    PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) {
      const cplx<double> f = link_factor(a, x, mu);
      const cplx<C> c = {(C)f.re, (C)f.im};
      Su3<C> u;
      load_link<S, R18>(u, p, s, mu);
      PLAQ_UNROLL for (int i = 0; i < 9; i++) u.e[i / 3][i % 3] = c * u.e[i / 3][i % 3];
      store_link<S, R18>(u, p, s, mu);
    }
  }
};

// Copies links; batch = direction. `report` gets one float per link: its violation, or -1 if it is
// not finite.
template <int W, class S> struct LayoutGauge {
  typedef typename S::C C;
  static PLAQ_FN void site(const LayoutArgs& a, int o, int lx, int mu) {
    i64 k;
    if (!launch_index(a, o, lx, k)) return;
    HostSite h = host_site(a, (u32)(a.first + k));
    PLAQ_FIXED(LayoutArgs, fixed, a);
    for (int back = 0; back <= a.star; back++) {
      // With a halo the link of another rank is taken from the border.
      const bool wraps = h.x[mu] == 0 && !has_halo(a.geom, mu);
      if (back) h.x[mu] = wraps ? local_extent(a.geom, mu) - 1 : h.x[mu] - 1;
      const i64 at = h.at * a.stride_site + (back ? a.back : 0);
      float* report = a.report ? (float*)a.report + ((a.report_first + k) * 4 + mu) * (1 + a.star) + back : (float*)0;
      PLAQ_IF (fixed.storage() == SU2) su2(a, h, at, mu, report);
      else su3(a, h, at, mu, report);
    }
  }
  // Whether boundaries in time leave this link out: arrays have zeros for it.
  static PLAQ_FN bool absent(const LayoutArgs& a, const HostSite& h, int mu) {
    return mu == 3 && (a.bounds.kind() & BOUND_UPPER) && h.x[3] + a.geom.origin[3] == a.geom.global[3] - 1;
  }
  static PLAQ_FN void su3(const LayoutArgs& a, const HostSite& h, i64 at, int mu, float* report) {
    const Site s = local_site(a.geom, h.x);
    const Plane p = plane(a.field, s.par);
    const cplx<double> f = link_factor(a, h.x, mu);
    Su3<C> u;
    PLAQ_FIXED(LayoutArgs, fixed, a);
    PLAQ_IF (fixed.out()) {
      load_link<S>(u, PLAQ_LITERAL(fixed.storage()), p, s, mu);
      const double there = absent(a, h, mu) ? 0 : 1;
      PLAQ_UNROLL for (int i = 0; i < 9; i++) {
        const cplx<C> e = u.e[i / 3][i % 3];
        const cplx<double> z = there * (f * cplx<double>{e.re, e.im});
        write_real(a, a.base[mu], at + a.component[18 * mu + 2 * i], z.re);
        write_real(a, a.base[mu], at + a.component[18 * mu + 2 * i + 1], z.im);
      }
    } else {
      double v[18];
      PLAQ_UNROLL for (int i = 0; i < 18; i++) v[i] = read_real(a, a.base[mu], at + a.component[18 * mu + i]);
      Su3<double> w;
      PLAQ_UNROLL for (int i = 0; i < 9; i++) w.e[i / 3][i % 3] = f * cplx<double>{v[2 * i], v[2 * i + 1]};
      double unitary = 0, det = 0;
      const bool none = absent(a, h, mu);
      if (none) unitary = total(v);
      else if (report || a.reproject) violation(w, unitary, det);
      if (report) *report = verdict(v, vmax(unitary, det));
      if (a.dry) return;
      if (a.reproject && !none && !within_rounding(vmax(unitary, det))) reunitarise(w);
      PLAQ_UNROLL for (int i = 0; i < 9; i++) u.e[i / 3][i % 3] = {(C)w.e[i / 3][i % 3].re, (C)w.e[i / 3][i % 3].im};
      store_link<S>(u, PLAQ_LITERAL(fixed.storage()), p, s, mu);
    }
  }
  static PLAQ_FN void su2(const LayoutArgs& a, const HostSite& h, i64 at, int mu, float* report) {
    const Site s = local_site(a.geom, h.x);
    const Plane p = plane(a.field, s.par);
    const double f = link_factor(a, h.x, mu).re;
    Su2<C> u;
    PLAQ_FIXED(LayoutArgs, fixed, a);
    PLAQ_IF (fixed.out()) {
      load_link<S, SU2>(u, p, s, mu);
      PLAQ_UNROLL for (int i = 0; i < 4; i++) {
        const cplx<C> e = entry(u, i / 2, i % 2);
        write_real(a, a.base[mu], at + a.component[8 * mu + 2 * i], f * e.re);
        write_real(a, a.base[mu], at + a.component[8 * mu + 2 * i + 1], f * e.im);
      }
    } else {
      double v[8];
      PLAQ_UNROLL for (int i = 0; i < 8; i++) v[i] = f * read_real(a, a.base[mu], at + a.component[8 * mu + i]);
      // unit determinant, second row = (-conj u12, conj u11)
      const double det = v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3] - 1;
      const double row = vmax(vmax(vabs(v[4] + v[2]), vabs(v[5] - v[3])), vmax(vabs(v[6] - v[0]), vabs(v[7] + v[1])));
      if (report) *report = verdict(v, vmax(vabs(det), row));
      if (a.dry) return;
      double b[4] = {v[0], v[3], v[2], v[1]}, scale = 1;
      if (a.reproject && !within_rounding(vmax(vabs(det), row))) scale = 1 / vsqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2] + b[3] * b[3]);
      PLAQ_UNROLL for (int i = 0; i < 4; i++) u.a[i] = (C)(scale * b[i]);
      store_link<S, SU2>(u, p, s, mu);
    }
  }
};

// Copies one right-hand side of spinors, or of colour vectors; `rotation` converts the array's gamma basis to ours
// (real in all four bases). `report` gets -1 for a site that is not finite.
template <int W, class S> struct LayoutSpinor {
  typedef typename S::C C;
  static PLAQ_FN void site(const LayoutArgs& a, int o, int lx, int) {
    i64 k;
    if (!launch_index(a, o, lx, k)) return;
    const HostSite h = host_site(a, (u32)(a.first + k));
    const Site s = local_site(a.geom, h.x);
    Plane p;
    if (!field_plane(p, a, s)) return;
    const i64 at = h.at * a.stride_site;
    PLAQ_FIXED(LayoutArgs, fixed, a);
    PLAQ_IF (fixed.reals() == 6) numbers<6>(a, p, s, at, k);
    else numbers<24>(a, p, s, at, k);
  }
  template <int N> static PLAQ_FN void numbers(const LayoutArgs& a, const Plane& p, const Site& s, i64 at, i64 k) {
    C v[N];
    double w[N];
    PLAQ_FIXED(LayoutArgs, fixed, a);
    PLAQ_IF (fixed.out()) {
      load<S>(v, p, s);
      rotate<true>(a, w, v);
      PLAQ_UNROLL for (int i = 0; i < N; i++) write_real(a, a.base[0], at + a.component[i], w[i]);
    } else {
      PLAQ_UNROLL for (int i = 0; i < N; i++) w[i] = read_real(a, a.base[0], at + a.component[i]);
      if (a.report) ((float*)a.report)[a.report_first + k] = all_finite(w) ? 0.0f : -1.0f;
      if (a.dry) return;
      rotate<false>(a, v, w);
      store<S>(v, p, s);
    }
  }
  template <bool TRANSPOSED, class To, class From, int N>
  static PLAQ_FN void rotate(const LayoutArgs& a, To (&to)[N], const From (&from)[N]) {
    PLAQ_UNROLL for (int i = 0; i < N; i++) {
      if (N < 24 || !a.rotate) {
        to[i] = (To)from[i];
        continue;
      }
      double sum = 0;
      PLAQ_UNROLL for (int spin = 0; spin < 4; spin++) {
        const int row = TRANSPOSED ? spin : i / 6, column = TRANSPOSED ? i / 6 : spin;
        sum = fma_(a.rotation[4 * row + column], (double)from[(6 * spin + i % 6) % N], sum);
      }
      to[i] = (To)sum;
    }
  }
};

// Copies clover blocks; their diagonal may be in an array of its own (base[1]).
template <int W, class S> struct LayoutClover {
  typedef typename S::C C;
  static PLAQ_FN void site(const LayoutArgs& a, int o, int lx, int) {
    i64 k;
    if (!launch_index(a, o, lx, k)) return;
    const HostSite h = host_site(a, (u32)(a.first + k));
    const Site s = local_site(a.geom, h.x);
    const Plane p = plane(a.field, s.par);
    const i64 at = h.at * a.stride_site;
    C v[2][36];
    PLAQ_FIXED(LayoutArgs, fixed, a);
    PLAQ_IF (fixed.out()) load_blocks<S>(v, p, s);
    bool finite = true;
    for (int i = 0; i < 72; i++) {
      char* base = a.base[i % 36 < 6 ? 1 : 0];
      PLAQ_IF (fixed.out()) {
        write_real(a, base, at + a.component[i], v[i / 36][i % 36]);
      } else {
        const double w[1] = {read_real(a, base, at + a.component[i])};
        finite = finite && all_finite(w);
        v[i / 36][i % 36] = (C)w[0];
      }
    }
    if (a.out()) return;
    if (a.report) ((float*)a.report)[a.report_first + k] = finite ? 0.0f : -1.0f;
    if (!a.dry) store_blocks<S>(v, p, s);
  }
};

template <int W> struct LayoutReport {
  static PLAQ_FN void site(const ReportArgs& a, int o, int lx, int, Sums<2, W>& s) {
    const i64 k = (i64)o * PLAQ_LANES + lx;
    if (k >= a.count) return;
    const float v = ((const float*)a.report)[k];
    if (v < 0) s.v[0] += 1;
    if (v > a.tolerance) s.v[1] += 1;
  }
};

}  // namespace PLAQ_NS
