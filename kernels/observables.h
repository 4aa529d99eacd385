// Gauge observables. Traces are taken in the compute type of the storage and summed in double.
#pragma once
#include "leaves.h"
#include "momentum.h"
#include "staple.h"
#include "sums.h"
#include "unitary.h"

namespace PLAQ_NS {

// Writes N numbers of each lane of a site to its place in `out`, doubles in lexicographic order of sites.
template <class R, int N> PLAQ_FN void write_sites(const ObservableArgs& a, const Site& x, int lx, const R (&here)[N]) {
  constexpr int W = lanes<R>::W;
  for (int lane = 0; lane < W; lane++) {
    double* out = (double*)a.out + N * local_index(a.geom, x, lx + lane);
    PLAQ_UNROLL for (int k = 0; k < N; k++) {
      if constexpr (W == 1) out[k] = here[k];
      else out[k] = here[k][lane];
    }
  }
}

// Sums: Re tr of the spatial plaquettes, of those with t, of the links, and of the spatial plaquettes on the first slice
// and, where the lattice ends with it, the last one of boundaries in time. If there is an `out`, the first two of each
// site are written there, too, in lexicographic order.
template <int W, class S, int STORAGE> struct PlaquetteSum {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const ObservableArgs& a, int o, int lx, int parity, Sums<4, W>& sums) {
    const Site x = site_at(a.geom, o, parity, lx);
    const Plane gauge[2] = {plane(a.gauge, 0), plane(a.gauge, 1)};
    R here[2] = {splat<R>(0), splat<R>(0)};
    for (int nu = 0; nu < 4; nu++) {  // one plane at a time keeps the code small
      for (int mu = 0; mu < nu; mu++) {
        const R p = plaquette_trace<S, STORAGE, R>(a.bounds, a.geom, gauge, x, mu, nu);
        sums.add(nu == 3, p);
        here[nu == 3] = here[nu == 3] + p;
        if (nu < 3 && some_vanish(a.bounds, a.geom, x)) sums.add(3, p - inside<R>(a.bounds, a.geom, x) * p);
      }
      LinkOf<STORAGE, R> u;
      load_link<S, STORAGE>(u, gauge[parity], x, nu);
      const R t = trace(u).re;
      sums.add(2, a.bounds.kind() & BOUND_UPPER ? exists<R>(a.bounds, a.geom, x, nu) * t : t);
    }
    if (a.out) write_sites(a, x, lx, here);
  }
};

// Sums: real and imaginary part of the links' projection, the sum over sites of exp(2 pi i theta x) and over directions
// and entries of the links with weights of their own. It changes under translations, gauge transformations and complex
// conjugation, unlike observables.
template <int W, class S, int STORAGE> struct LinksProjection {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const ObservableArgs& a, int o, int lx, int parity, Sums<2, W>& sums) {
    constexpr int N = Recon<STORAGE>::colours;
    const Site x = site_at(a.geom, o, parity, lx);
    const Plane gauge = plane(a.gauge, parity);
    cplx<R> all = {splat<R>(0), splat<R>(0)};
    for (int mu = 0; mu < 4; mu++) {
      LinkOf<STORAGE, R> u;
      load_link<S, STORAGE>(u, gauge, x, mu);
      cplx<R> sum = {splat<R>(0), splat<R>(0)};
      PLAQ_UNROLL for (int e = 0; e < N * N; e++) sum = madd(sum, splat<R>((typename S::C)(1 + e) / 8), entry(u, e / N, e % N));
      const R weight = splat<R>((typename S::C)(1 + mu) / 4);
      all = madd(all, a.bounds.kind() & BOUND_UPPER ? exists<R>(a.bounds, a.geom, x, mu) * weight : weight, sum);
    }
    // Square roots of 2, 3, 5 and 7, less whole numbers.
    constexpr double theta[4] = {0.41421356237309503, 0.73205080756887729, 0.23606797749978969, 0.64575131106459059};
    R re, im;
    site_phases(a.geom, x, theta, re, im);
    sums.add(0, all.re * re - all.im * im);
    sums.add(1, all.re * im + all.im * re);
  }
};

// The product of the links along this rank's part of each line in `direction`: N x N complex doubles per site of the
// transverse lattice, in lexicographic order. One lane at a time; o and lx count lines.
template <int W, class S, int STORAGE> struct Lines {
  typedef typename S::C R;
  static PLAQ_FN void site(const ObservableArgs& a, int o, int lx, int) {
    constexpr int N = Recon<STORAGE>::colours;
    const int mu = a.direction;
    const i64 k = (i64)o * PLAQ_LANES + lx;
    i64 i = k;
    int x[4];
    for (int nu = 0; nu < 4; nu++) {
      x[nu] = 0;
      if (nu == mu) continue;
      x[nu] = (int)(i % local_extent(a.geom, nu)), i /= local_extent(a.geom, nu);
    }
    if (i > 0) return;
    const Plane gauge[2] = {plane(a.gauge, 0), plane(a.gauge, 1)};
    LinkOf<STORAGE, R> line, u;
    for (x[mu] = 0; x[mu] < local_extent(a.geom, mu); x[mu]++) {
      const Site s = local_site(a.geom, x);
      load_link<S, STORAGE>(u, gauge[s.par], s, mu);
      line = x[mu] == 0 ? u : line * u;
    }
    double* out = (double*)a.out + 2 * N * N * k;
    PLAQ_UNROLL for (int e = 0; e < N * N; e++) {
      const cplx<R> z = entry(line, e / N, e % N);
      out[2 * e] = z.re, out[2 * e + 1] = z.im;
    }
  }
};

// The worst link of each site: |U U^dagger - 1|, |det U - 1| and the link's direction, as three doubles, sites in
// lexicographic order. Numbers that are not finite count as 1e300.
template <int W, class S, int STORAGE> struct Unitarity {
  static PLAQ_FN void site(const ObservableArgs& a, int o, int lx, int parity) {
    typedef typename S::C R;
    const Site x = site_at(a.geom, o, parity, lx);
    double* out = (double*)a.out + 3 * local_index(a.geom, x, lx);
    out[0] = out[1] = out[2] = 0;
    double worst = 0;
    for (int mu = 0; mu < 4; mu++) {
      if (exists<R>(a.bounds, a.geom, x, mu) == 0) continue;
      LinkOf<STORAGE, R> u;
      load_link<S, STORAGE>(u, plane(a.gauge, parity), x, mu);
      R unitary, det;
      violation(u, unitary, det);
      // The determinant contains every entry, so that a NaN shows in it, while comparisons would lose it.
      const bool finite = unitary < (R)1e30 && det < (R)1e30;
      const double v[2] = {finite ? unitary : 1e300, finite ? det : 1e300};
      for (int k = 0; k < 2; k++) {
        out[k] = v[k] > out[k] ? v[k] : out[k];
        if (v[k] > worst) worst = v[k], out[2] = mu;
      }
    }
  }
};

// Sums: the topological charge density q(x) = -8/(32 pi^2) sum of signed tr F F, -tr F_mu,nu^2 over the spatial planes,
// and over the planes with t, all of the traceless part of F; then the same three of F with its trace. F comes from the
// clover leaves. If there is an `out`, the six numbers of each site are written there, too, in lexicographic order.
template <int W, class S, int STORAGE> struct FieldStrengthSum {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const ObservableArgs& a, int o, int lx, int parity, Sums<6, W>& sums) {
    const Site x = site_at(a.geom, o, parity, lx);
    const Plane gauge[2] = {plane(a.gauge, 0), plane(a.gauge, 1)};
    R here[6];
    PLAQ_UNROLL for (int k = 0; k < 6; k++) here[k] = splat<R>(0);
    for (int p = 0; p < 3; p++) {  // xy zt, xz yt, yz xt
      const int mu = p == 2 ? 1 : 0, nu = p == 0 ? 1 : 2;
      AntiHermitian<R> f, g;
      field_strength<S, STORAGE>(f, a.bounds, a.geom, gauge, x, mu, nu);
      field_strength<S, STORAGE>(g, a.bounds, a.geom, gauge, x, p == 0 ? 2 : p == 1 ? 1 : 0, 3);
      // -8 / (32 pi^2) times the sign of the term
      const R sign = splat<R>(p == 1 ? 0.025330295910584444 : -0.025330295910584444);
      add_product(here, 0, sign, f, g);
      add_product(here, 1, splat<R>(-1), f, f);
      add_product(here, 2, splat<R>(-1), g, g);
    }
    if (some_vanish(a.bounds, a.geom, x)) {
      const R f = inside<R>(a.bounds, a.geom, x);
      PLAQ_UNROLL for (int k = 0; k < 6; k++) here[k] = f * here[k];
    }
    PLAQ_UNROLL for (int k = 0; k < 6; k++) sums.add(k, here[k]);
    if (a.out) write_sites(a, x, lx, here);
  }
  // Adds c Re tr (f - tr f / 3)(g - tr g / 3) to number k, and c Re tr f g to number 3 + k.
  static PLAQ_FN void add_product(R (&here)[6], int k, R c, const AntiHermitian<R>& f, const AntiHermitian<R>& g) {
    R diagonal = splat<R>(0), lower = splat<R>(0), tf = splat<R>(0), tg = splat<R>(0);
    PLAQ_UNROLL for (int i = 0; i < 3; i++) {
      diagonal = fma_(f.diagonal[i], g.diagonal[i], diagonal);
      lower = fma_(f.lower[i].im, g.lower[i].im, fma_(f.lower[i].re, g.lower[i].re, lower));
      tf = tf + f.diagonal[i], tg = tg + g.diagonal[i];
    }
    const R product = -diagonal - (lower + lower);
    here[k] = fma_(c, fma_(splat<R>(1.0 / 3) * tf, tg, product), here[k]);
    here[3 + k] = fma_(c, product, here[3 + k]);
  }
};

}  // namespace PLAQ_NS
