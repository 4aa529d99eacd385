// Domains of Schwarz's method (Luescher, hep-lat/0310048): links without those that lead from one domain to another,
// and steps of minimal residual with a coefficient for each domain. Sites of a vector are numbered by `place`: those of
// a plane of spinors by lane, then by outer site; those of coarse levels as they are stored.
#pragma once
#include "recon.h"
#include "rows.h"

namespace PLAQ_NS {

// Sets U_mu(x) = 0 where x + mu is in another domain.
template <int W, class S> struct DomainCut {
  typedef real<typename S::C, W> R;
  template <int STORAGE> static PLAQ_FN void clear(const DomainCutArgs& a, const Site& s, int mu) {
    constexpr int N = Recon<STORAGE>::reals;
    R v[N];
    PLAQ_UNROLL for (int i = 0; i < N; i++) v[i] = splat<R>(0);
    store_part<S>(v, plane(a.gauge, s.par), link_site(s), 4 * N, mu * N);
  }
  static PLAQ_FN void site(const DomainCutArgs& a, int o, int lx, int parity) {
    const Site s = site_at(a.geom, o, parity, lx);
    for (int mu = 0; mu < 4; mu++) {
      const int x = global_coordinate(a.geom, s, lx, mu) - a.geom.origin[mu];
      if ((x + 1) % a.block[mu] != 0) continue;
      if (a.storage() == R18) clear<R18>(a, s, mu);
      else clear<R12>(a, s, mu);
    }
  }
};

// Computes Re <q, r>, Im <q, r> and |q|^2 of each site for vectors q and r; batches = right-hand sides.
template <int W, class S> struct DomainProducts {
  typedef typename S::T T;
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const DomainArgs& a, int o, int lx, int rhs) {
    const Site s = site_at(a.geom, o, a.parity(), lx);
    R q[24], r[24];
    load<S>(q, plane(a.q, rhs), s);
    load<S>(r, plane(a.r, rhs), s);
    R p[3] = {splat<R>(0), splat<R>(0), splat<R>(0)};
    PLAQ_UNROLL for (int c = 0; c < 24; c += 2) {
      p[0] = fma_(q[c], r[c], fma_(q[c + 1], r[c + 1], p[0]));
      p[1] = fma_(q[c], r[c + 1], fnma_(q[c + 1], r[c], p[1]));
      p[2] = fma_(q[c], q[c], fma_(q[c + 1], q[c + 1], p[2]));
    }
    PLAQ_UNROLL for (int k = 0; k < 3; k++) put((T*)a.products, a, 3 * rhs + k, o, lx, p[k]);
  }
  static PLAQ_FN void put(T* to, const DomainArgs& a, int row, int o, int lx, R v) {
#if PLAQ_GPU
    to[(i64)row * a.places + o] = (T)v;
#else
    lane_io<T, R>::store(to + (i64)row * a.places + (i64)o * PLAQ_LANES + lx, v);
#endif
  }
  static PLAQ_FN R get(const T* from, const DomainArgs& a, int row, int o, int lx) {
#if PLAQ_GPU
    return (R)from[(i64)row * a.places + o];
#else
    return lane_io<T, R>::load(from + (i64)row * a.places + (i64)o * PLAQ_LANES + lx);
#endif
  }
};

// Writes c = omega <q, r> / |q|^2 of each domain for all its sites; 0 in domains of another colour than `colour`.
template <int W, class S> struct DomainCoefficients {
  typedef typename S::T T;
  static PLAQ_FN void site(const DomainArgs& a, int o, int lx, int rhs) {
    if (lx != 0) return;
    const int* sites = (const int*)a.sites;
    const int from = ((const int*)a.starts)[o], to = ((const int*)a.starts)[o + 1];
    const T* products = (const T*)a.products + (i64)3 * rhs * a.places;
    T* out = (T*)a.coef + (i64)2 * rhs * a.places;
    double re = 0, im = 0, norm = 0;
    const bool active = a.colour < 0 || ((const int*)a.colours)[o] == a.colour;
    for (int k = from; active && k < to; k++) {
      const int x = sites[k];
      re += products[x], im += products[a.places + x], norm += products[(i64)2 * a.places + x];
    }
    const double scale = norm > 0 && norm < 1e300 ? a.omega / norm : 0;
    for (int k = from; k < to; k++) {
      const int x = sites[k];
      out[x] = (T)(re * scale), out[a.places + x] = (T)(im * scale);
    }
  }
};

// z += c r, then r -= c q, with the coefficient c of the site's domain.
template <int W, class S> struct DomainStep {
  typedef typename S::T T;
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const DomainArgs& a, int o, int lx, int rhs) {
    const Site s = site_at(a.geom, o, a.parity(), lx);
    const R re = DomainProducts<W, S>::get((const T*)a.coef, a, 2 * rhs, o, lx);
    const R im = DomainProducts<W, S>::get((const T*)a.coef, a, 2 * rhs + 1, o, lx);
    R q[24], r[24], z[24];
    load<S>(q, plane(a.q, rhs), s);
    load<S>(r, plane(a.r, rhs), s);
    load<S>(z, plane(a.z, rhs), s);
    PLAQ_UNROLL for (int c = 0; c < 24; c += 2) {
      z[c] = fma_(re, r[c], fnma_(im, r[c + 1], z[c]));
      z[c + 1] = fma_(re, r[c + 1], fma_(im, r[c], z[c + 1]));
      r[c] = fnma_(re, q[c], fma_(im, q[c + 1], r[c]));
      r[c + 1] = fnma_(re, q[c + 1], fnma_(im, q[c], r[c + 1]));
    }
    store<S>(z, plane(a.z, rhs), s);
    store<S>(r, plane(a.r, rhs), s);
  }
};

// Calls f for the rows of a site of a coarse level. On the CPU an element is a site with all
// right-hand sides, on a GPU with one of them.
template <class F> PLAQ_FN void domain_rows(const DomainArgs& a, Element o, int lx, const F& f) {
#if PLAQ_GPU
  f((int)(o / a.nrhs()), (int)(o % a.nrhs()));
#else
  if (lx != 0) return;
  for (int j = 0; j < a.nrhs(); j++) f((int)o, j);
#endif
}
template <int W, class S> struct CoarseDomainProducts {
  typedef typename S::T T;
  typedef typename S::C C;
  static PLAQ_FN void site(const DomainArgs& a, Element o, int lx, int) {
    domain_rows(a, o, lx, [&](int x, int j) {
      C re = 0, im = 0, norm = 0;
      for (int c = 0; c < a.components(); c++) {
        const i64 at = ((i64)x * a.components() + c) * a.nrhs() + j;
        const cplx<C> q = number<C>((const T*)a.q.data, at), r = number<C>((const T*)a.r.data, at);
        re += add_products(q.re, r.re, q.im, r.im), im += sub_products(q.re, r.im, q.im, r.re), norm += norm2(q);
      }
      T* to = (T*)a.products + (i64)3 * j * a.places + x;
      to[0] = (T)re, to[a.places] = (T)im, to[(i64)2 * a.places] = (T)norm;
    });
  }
};
template <int W, class S> struct CoarseDomainStep {
  typedef typename S::T T;
  typedef typename S::C C;
  static PLAQ_FN void site(const DomainArgs& a, Element o, int lx, int) {
    domain_rows(a, o, lx, [&](int x, int j) {
      const T* from = (const T*)a.coef + (i64)2 * j * a.places + x;
      const cplx<C> f = {(C)from[0], (C)from[a.places]};
      for (int c = 0; c < a.components(); c++) {
        const i64 at = ((i64)x * a.components() + c) * a.nrhs() + j;
        const cplx<C> q = number<C>((const T*)a.q.data, at), r = number<C>((const T*)a.r.data, at);
        put_number((T*)a.z.data, at, madd(number<C>((const T*)a.z.data, at), f, r));
        put_number((T*)a.r.data, at, msub(r, f, q));
      }
    });
  }
};

}  // namespace PLAQ_NS
