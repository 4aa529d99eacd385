// Sources of propagators, and columns that a Gamma and a momentum take from a time slice (sequential
// sources). Gammas in the DeGrand-Rossi basis; a plane is a parity of a column.
#pragma once
#include "momentum.h"
#include "random.h"

namespace PLAQ_NS {

// Whether the site has the coordinates of `position` in all directions mu whose bit is set in `places`.
PLAQ_FN bool at_place(const Geom& g, const Site& x, int lane, int places, const int (&position)[4]) {
  bool here = true;
  PLAQ_UNROLL for (int mu = 0; mu < 4; mu++)
    here = here && (!(places >> mu & 1) || global_coordinate(g, x, lane, mu) == position[mu]);
  return here;
}

// Column `first` + k of a source: exp(i p (x - position)) times the noise on the sites, spins and colours of this
// column, zero elsewhere. With dilution a column has one colour, spin, parity or part of the time slices; columns are
// numbered with colour fastest, then spin, parity, part of the time slices, noise vector. A column of one spin (colour)
// takes the noise of spin (colour) 0, so that such columns share it.
template <int W, class S> struct Source {
  typedef typename S::C R;
  static PLAQ_FN void site(const SourceArgs& a, int o, int lx, int batch) {
    const Site x = site_at(a.geom, o, batch & 1, lx);
    int rest = a.first + (batch >> 1), spin = a.spin, colour = a.colour;
    const bool one_colour = a.dilute & DILUTE_COLOUR, one_spin = a.dilute & DILUTE_SPIN;
    if (one_colour && colour < 0) colour = rest % 3, rest /= 3;
    if (one_spin && spin < 0) spin = rest & 3, rest >>= 2;
    bool here = at_place(a.geom, x, lx, a.places, a.position);
    if (a.dilute & DILUTE_PARITY) {
      int sum = 0;
      PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) sum += global_coordinate(a.geom, x, lx, mu);
      here = here && (sum & 1) == (rest & 1);
      rest >>= 1;
    }
    if (a.dilute & DILUTE_TIME) {
      here = here && global_coordinate(a.geom, x, lx, 3) % a.time_parts == rest % a.time_parts;
      rest /= a.time_parts;
    }
    double noise[24];
    numbers(noise, a, Draws<1>(a.geom, x, a.seed, a.noise, 0, (u32)rest));
    double re = 1, im = 0;
    if (a.moving) momentum_phase(a.geom, x, lx, a.momentum, a.position, re, im);
    R v[24];
    for (int s = 0; s < 4; s++) for (int c = 0; c < 3; c++) {
      const bool on = here && (spin < 0 || s == spin) && (colour < 0 || c == colour);
      const int k = 2 * (3 * (one_spin ? 0 : s) + (one_colour ? 0 : c)), to = 2 * (3 * s + c);
      v[to] = on ? (R)(re * noise[k] - im * noise[k + 1]) : 0;
      v[to + 1] = on ? (R)(re * noise[k + 1] + im * noise[k]) : 0;
    }
    store<S>(v, plane(a.out, batch), x);
  }
  static PLAQ_FN void numbers(double (&v)[24], const SourceArgs& a, const Draws<1>& draws) {
    if (a.noise < 0) {
      PLAQ_UNROLL for (int i = 0; i < 24; i++) v[i] = !(i & 1);
    } else if (a.noise == RANDOM_NORMAL_SPINOR) {
      normal(v, draws, 0);
      PLAQ_UNROLL for (int i = 0; i < 24; i++) v[i] *= 0.70710678118654752;
    } else {
      for (int n = 0; n < 3; n++) {
        u32 w[4];
        draws.words(w, 0, n);
        PLAQ_UNROLL for (int k = 0; k < 4; k++) root_of_unity(v[8 * n + 2 * k], v[8 * n + 2 * k + 1], w[k], a.noise);
      }
    }
  }
};

// out = exp(i p (x - position)) Gamma in where t = position_t, 0 elsewhere; with places 0 on all time slices. Row r of
// Gamma has the one element i^phase[r], in column column[r].
template <int W, class S> struct SpinPhase {
  typedef typename S::C R;
  static PLAQ_FN void site(const SpinPhaseArgs& a, int o, int lx, int batch) {
    const Site x = site_at(a.geom, o, batch & 1, lx);
    const bool here = at_place(a.geom, x, lx, a.places, a.position);
    double re = 1, im = 0;
    momentum_phase(a.geom, x, lx, a.momentum, a.position, re, im);
    R v[24], w[24];
    load<S>(v, plane(a.inp, batch), x);
    for (int s = 0; s < 4; s++) {
      const int k = a.phase[s] & 3;
      // i^k times the momentum's phase
      const double p = k == 0 ? re : k == 1 ? -im : k == 2 ? -re : im, q = k == 0 ? im : k == 1 ? re : k == 2 ? -im : -re;
      for (int c = 0; c < 3; c++) {
        const int from = 2 * (3 * a.column[s] + c), to = 2 * (3 * s + c);
        w[to] = here ? (R)(p * v[from] - q * v[from + 1]) : 0;
        w[to + 1] = here ? (R)(p * v[from + 1] + q * v[from]) : 0;
      }
    }
    store<S>(w, plane(a.out, batch), x);
  }
};

}  // namespace PLAQ_NS
