// Fields of random numbers and gauge starts, in double whatever the storage.
#pragma once
#include "philox.h"
#include "unitary.h"
#include "recon.h"

namespace PLAQ_NS {

// N normal numbers of unit variance (Box and Muller) from random block n on; each block gives 4 numbers.
template <int N, int W> PLAQ_FN void normal(double (&v)[N], const Draws<W>& draws, u32 n) {
  PLAQ_LOOP for (int i = 0; i < N; i += 4) {
    double u[4];
    draws.uniform(u, n++);
    PLAQ_LOOP for (int k = 0; k < 4 && i + k < N; k += 2) {
      const double r = vsqrt(-2 * vlog(u[k]));
      double s, c;
      vsincospi(2 * u[k + 1], s, c);
      v[i + k] = r * c;
      if (i + k + 1 < N) v[i + k + 1] = r * s;
    }
  }
}

// A random element of SU(3) with Haar measure: two rows of normal numbers, orthonormalised.
PLAQ_FN void haar(Su3<double>& u, const double (&v)[12]) {
  PLAQ_UNROLL for (int i = 0; i < 6; i++) u.e[i / 3][i % 3] = {v[2 * i], v[2 * i + 1]};
  reunitarise(u);
}
PLAQ_FN void haar(Su2<double>& u, const double (&v)[4]) {
  PLAQ_UNROLL for (int i = 0; i < 4; i++) u.a[i] = v[i];
  reunitarise(u);
}

// exp(i width sum_a p_a T_a), where the p_a are the first normal numbers of v.
PLAQ_FN void near_unit(Su3<double>& u, const double (&v)[12], double width) {
  double h[8];
  PLAQ_UNROLL for (int i = 0; i < 8; i++) h[i] = width * v[i];
  exp_generators(u, h);
}
PLAQ_FN void near_unit(Su2<double>& u, const double (&v)[4], double width) {
  double h[3];
  PLAQ_UNROLL for (int i = 0; i < 3; i++) h[i] = width * v[i];
  exp_generators(u, h);
}

template <class Out, class In> PLAQ_FN void narrow(Su3<Out>& to, const Su3<In>& from) {
  PLAQ_UNROLL for (int i = 0; i < 9; i++)
    to.e[i / 3][i % 3] = {(Out)from.e[i / 3][i % 3].re, (Out)from.e[i / 3][i % 3].im};
}
template <class Out, class In> PLAQ_FN void narrow(Su2<Out>& to, const Su2<In>& from) {
  PLAQ_UNROLL for (int i = 0; i < 4; i++) to.a[i] = (Out)from.a[i];
}

// Random links, or a random transformation. width < 0: Haar measure; else exp(i width sum p_a T_a) with normal p_a.
// Batches = parities.
template <int W, class S, int STORAGE> struct RandomGauge {
  static PLAQ_FN void site(const RandomArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    PLAQ_LOOP for (int mu = 0; mu < a.links(); mu++) {
      const Draws<1> draws(a.geom, x, a.seed, a.purpose(), mu, (u32)a.step);
      double v[STORAGE == SU2 ? 4 : 12];
      normal(v, draws, 0);
      LinkOf<STORAGE, double> u;
      if (a.width < 0) haar(u, v);
      else near_unit(u, v, a.width);
      LinkOf<STORAGE, typename S::C> narrowed;
      narrow(narrowed, u);
      store_link<S, STORAGE>(narrowed, plane(a.field, parity), x, mu, a.links());
    }
  }
};

// One of 1, i, -1, -i (Z4) or of 1, -1 (Z2), by the upper bits of a word.
template <class T> PLAQ_FN void root_of_unity(T& re, T& im, u32 word, int purpose) {
  const T sign = word >> 31 ? -1 : 1;
  const bool imaginary = purpose == RANDOM_Z4_SPINOR && (word >> 30 & 1);
  re = imaginary ? 0 : sign, im = imaginary ? sign : 0;
}

// Random vectors: complex components c with <|c|^2> = 1, normal or roots of unity (Z4, Z2).
template <int W, class S> struct RandomSpinor {
  static PLAQ_FN void site(const RandomArgs& a, int o, int lx, int batch) {
    const Site x = site_at(a.geom, o, a.parities() == 2 ? batch & 1 : a.parity(), lx);
    const Draws<1> draws(a.geom, x, a.seed, a.purpose(), 0, (u32)(a.step + batch / a.parities()));
    const Plane p = plane(a.field, a.fastest() ? batch % a.parities() : batch);
    PLAQ_FIXED(RandomArgs, fixed, a);
    if constexpr (S::fixed) {
      PLAQ_IF (fixed.reals() == 24) site_of<24>(a, draws, p, x);
      else PLAQ_IF (PLAQ_GPU && fixed.reals() % 8 == 0) site_in_parts<8>(a, draws, p, x);
      else PLAQ_IF (PLAQ_GPU && fixed.reals() % 4 == 0) site_in_parts<4>(a, draws, p, x);
      else site_in_parts<2>(a, draws, p, x);
    } else {
      PLAQ_IF (fixed.fastest()) pieces<2>(a, draws, p, x, batch / a.parities());
      else PLAQ_IF (fixed.reals() == 24) site_of<24>(a, draws, p, x);
      else PLAQ_IF (fixed.reals() % 4 == 0) pieces<4>(a, draws, p, x, 0);
      else pieces<2>(a, draws, p, x, 0);
    }
  }
  // Computes 24 reals of a site from number `first`, a multiple of 24, on; the last ones may not be needed.
  static PLAQ_FN void numbers(typename S::C (&v)[24], const RandomArgs& a, const Draws<1>& draws, int first) {
    PLAQ_FIXED(RandomArgs, fixed, a);
    PLAQ_IF (fixed.purpose() == RANDOM_NORMAL_SPINOR) {
      double u[24];
      normal(u, draws, first / 24 * 6);
      PLAQ_UNROLL for (int i = 0; i < 24; i++) v[i] = (typename S::C)(0.70710678118654752 * u[i]);
    } else {
      for (int n = 0; n < 3; n++) {
        u32 w[4];
        draws.words(w, 0, first / 24 * 3 + n);
        PLAQ_UNROLL for (int k = 0; k < 4; k++) {
          root_of_unity(v[8 * n + 2 * k], v[8 * n + 2 * k + 1], w[k], a.purpose());
        }
      }
    }
  }
  template <int N> static PLAQ_FN void site_of(const RandomArgs& a, const Draws<1>& draws, const Plane& p, const Site& x) {
    typename S::C v[24], w[N];
    numbers(v, a, draws, 0);
    PLAQ_UNROLL for (int i = 0; i < N; i++) w[i] = v[i];
    store<S>(w, p, x);
  }
  // Stores a site in fixed point, N numbers at a time: finds the largest number first, then computes all numbers again
  // and stores them in the unit that follows from it.
  template <int N> static PLAQ_FN void site_in_parts(const RandomArgs& a, const Draws<1>& draws, const Plane& p, const Site& x) {
    typename S::C v[24], w[N], top = 0;
    for (int first = 0; first < a.reals(); first += 24) {
      numbers(v, a, draws, first);
      for (int c = 0; c < 24 && first + c < a.reals(); c++) top = vmax(top, vabs(v[c]));
    }
    const typename S::C unit = fixed_unit(top), scale = 1 / unit;
    for (int first = 0; first < a.reals(); first += 24) {
      numbers(v, a, draws, first);
      for (int c = 0; c < 24 && first + c < a.reals(); c += N) {
        PLAQ_UNROLL for (int i = 0; i < N; i++) w[i] = v[c + i] * scale;
        store_raw<S>(w, p, x, a.reals(), first + c);
      }
    }
    store_norm(unit, p, x);
  }
  template <int N> static PLAQ_FN void pieces(const RandomArgs& a, const Draws<1>& draws, const Plane& p, const Site& x, int rhs) {
    for (int first = 0; first < a.reals(); first += 24) {
      typename S::C v[24], w[N];
      numbers(v, a, draws, first);
      for (int c = 0; c < 24 && first + c < a.reals(); c += N) {
        PLAQ_UNROLL for (int i = 0; i < N; i++) w[i] = v[c + i];
        if (N == 2 && a.fastest()) {
          // Position of the number in the vector: a plane that begins there has it as site 0.
          const i64 number = ((i64)x.o * (a.reals() / 2) + (first + c) / 2) * a.rhs + rhs;
          const Plane from = {p.data + number * (2 * (int)sizeof(typename S::T)), p.norm, p.volume};
          store_raw<S>(w, from, Site{}, 2, 0);
        } else {
          store_raw<S>(w, p, x, a.reals(), first + c);
        }
      }
    }
  }
};

}  // namespace PLAQ_NS
