// Link storage: how many reals a link takes and how the 3x3 matrix comes back from them.
#pragma once
#include "su3.h"

namespace PLAQ_NS {

template <int RECON> struct Recon;

// All nine entries, row major, re im.
template <> struct Recon<18> {
  static constexpr int reals = 18;
  template <class R> static PLAQ_FN void expand(Su3<R>& u, const R (&v)[18]) {
    PLAQ_UNROLL for (int i = 0; i < 9; i++) u.e[i / 3][i % 3] = {v[2 * i], v[2 * i + 1]};
  }
  template <class R> static PLAQ_FN void compress(R (&v)[18], const Su3<R>& u) {
    PLAQ_UNROLL for (int i = 0; i < 9; i++) v[2 * i] = u.e[i / 3][i % 3].re, v[2 * i + 1] = u.e[i / 3][i % 3].im;
  }
};

// The first two rows.
template <> struct Recon<12> {
  static constexpr int reals = 12;
  template <class R> static PLAQ_FN void expand(Su3<R>& u, const R (&v)[12]) {
    PLAQ_UNROLL for (int i = 0; i < 6; i++) u.e[i / 3][i % 3] = {v[2 * i], v[2 * i + 1]};
    complete_rows(u);
  }
  template <class R> static PLAQ_FN void compress(R (&v)[12], const Su3<R>& u) {
    PLAQ_UNROLL for (int i = 0; i < 6; i++) v[2 * i] = u.e[i / 3][i % 3].re, v[2 * i + 1] = u.e[i / 3][i % 3].im;
  }
};

// `gauge` is the plane of the parity of `s`.
template <class S, int RECON, class R>
PLAQ_FN void load_link(Su3<R>& u, const Plane& gauge, const Site& s, int mu, Hint hint = keep) {
  constexpr int N = Recon<RECON>::reals;
  R v[N];
  load_part<S>(v, gauge, s, 4 * N, mu * N, 1.0f, hint);
  Recon<RECON>::expand(u, v);
}
template <class S, int RECON, class R>
PLAQ_FN void store_link(const Su3<R>& u, const Plane& gauge, const Site& s, int mu) {
  constexpr int N = Recon<RECON>::reals;
  R v[N];
  Recon<RECON>::compress(v, u);
  store_part<S>(v, gauge, s, 4 * N, mu * N, 1.0f);
}

}  // namespace PLAQ_NS
