// Between fields and host orders, one lane at a time.
#pragma once
#include "recon.h"

namespace PLAQ_NS {

PLAQ_FN i64 lexicographic(const Geom& g, const Site& s) {
  i64 x[4];
  for (int mu = 0; mu < 4; mu++) x[mu] = global_coordinate(g, s, s.lx, mu) - g.origin[mu];
  return x[0] + g.global[0] * (x[1] + g.global[1] * (x[2] + g.global[2] * x[3]));
}

PLAQ_FN i64 lex_volume(const Geom& g) { return (i64)g.global[0] * g.global[1] * g.global[2] * g.global[3]; }

template <int W, class S> struct LexSpinorIn {
  static PLAQ_FN void site(const LexArgs& a, int o, int lx, int batch) {
    const Site s = site_at(a.geom, o, a.parities() == 2 ? batch & 1 : a.parity(), lx);
    const double* h = (const double*)a.host + 24 * (lexicographic(a.geom, s) + lex_volume(a.geom) * (batch / a.parities()));
    typename S::C v[24];
    for (int i = 0; i < 24; i++) v[i] = h[i];
    store<S>(v, plane(a.field, batch), s);
  }
};
template <int W, class S> struct LexSpinorOut {
  static PLAQ_FN void site(const LexArgs& a, int o, int lx, int batch) {
    const Site s = site_at(a.geom, o, a.parities() == 2 ? batch & 1 : a.parity(), lx);
    double* h = (double*)a.host + 24 * (lexicographic(a.geom, s) + lex_volume(a.geom) * (batch / a.parities()));
    typename S::C v[24];
    load<S>(v, plane(a.field, batch), s);
    for (int i = 0; i < 24; i++) h[i] = v[i];
  }
};
template <int W, class S, int RECON> struct LexGaugeIn {
  static PLAQ_FN void site(const LexArgs& a, int o, int lx, int batch) {
    const Site s = site_at(a.geom, o, batch, lx);
    const double* h = (const double*)a.host + 72 * lexicographic(a.geom, s);
    for (int mu = 0; mu < 4; mu++) {
      Su3<typename S::C> u;
      for (int i = 0; i < 9; i++) u.e[i / 3][i % 3] = {(typename S::C)h[18 * mu + 2 * i], (typename S::C)h[18 * mu + 2 * i + 1]};
      store_link<S, RECON>(u, plane(a.field, batch), s, mu);
    }
  }
};
template <int W, class S, int RECON> struct LexGaugeOut {
  static PLAQ_FN void site(const LexArgs& a, int o, int lx, int batch) {
    const Site s = site_at(a.geom, o, batch, lx);
    double* h = (double*)a.host + 72 * lexicographic(a.geom, s);
    for (int mu = 0; mu < 4; mu++) {
      Su3<typename S::C> u;
      load_link<S, RECON>(u, plane(a.field, batch), s, mu);
      for (int i = 0; i < 9; i++) h[18 * mu + 2 * i] = u.e[i / 3][i % 3].re, h[18 * mu + 2 * i + 1] = u.e[i / 3][i % 3].im;
    }
  }
};

}  // namespace PLAQ_NS
