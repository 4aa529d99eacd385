// Actions and forces of plaquettes and rectangles. The force of a link is the traceless imaginary part of U_mu(x) A, A
// the sum of what closes its loops. Where there are rectangles, the two staples of every link in each plane are added
// up and kept first, as one matrix from the start of the link to its end,
//   B_mu,nu(x) = U_nu(x) U_mu(x+nu) U_nu(x+mu)^dagger + U_nu(x-nu)^dagger U_mu(x-nu) U_nu(x-nu+mu):
// a rectangle is a plaquette one of whose links is replaced by its staple in the same plane. The other of the two
// staples gives the unit matrix, which has no force and a trace of three. No kernel reads links farther than one site
// away, which is as far as borders reach.
#pragma once
#include "algebra.h"
#include "bound_weights.h"
#include "columns.h"
#include "sums.h"

#if PLAQ_GPU
#define PLAQ_ROLLED _Pragma("unroll 1")
#else
#define PLAQ_ROLLED
#endif

namespace PLAQ_NS {

// Number of the plane mu < nu in the order 01, 02, 12, 03, 13, 23.
PLAQ_FN constexpr int plane_number(int mu, int nu) { return nu * (nu - 1) / 2 + mu; }

// The plaquette of the plane at x.
template <class S, class R>
PLAQ_FN Su3<R> plaquette_of(const Bounds& bounds, const Geom& g, const Plane (&gauge)[2], const Site& x, int mu, int nu) {
  const Site xm = neighbour(g, x, mu, true), xn = neighbour(g, x, nu, true);
  Su3<R> a, b;
  load_link<S, R18>(a, gauge[x.par], x, mu);
  load_link<S, R18>(b, gauge[xm.par], xm, nu);
  const Su3<R> there = a * b;
  load_link<S, R18>(a, gauge[x.par], x, nu);
  load_link<S, R18>(b, gauge[xn.par], xn, mu);
  if (nu == 3) put_edge(b, bounds, g, x, mu);
  return there * adj(a * b);
}

// The force f at boundaries in time: 0 for links that do not change, `twice` f for spatial links of open ones.
template <class R> PLAQ_FN Algebra<R> at_bounds(const ForceArgs& a, const Site& x, int mu, Algebra<R> f) {
  if (!a.bounds.kind() || !(near_first(a.geom, x) || near_last(a.geom, x))) return f;
  R c = active<R>(a.bounds, a.geom, x, mu);
  if (mu < 3) c = c * space_weight<R>(a.bounds, a.geom, x, a.twice, a.twice);
  PLAQ_UNROLL for (int i = 0; i < 8; i++) f.a[i] = c * f.a[i];
  return f;
}
// momenta = scale momenta - step F; with scale 0 nothing is read.
template <class S, class R> PLAQ_FN Algebra<R> kicked(const ForceArgs& a, const Site& x, int mu, const Algebra<R>& f) {
  const Plane momenta = plane(a.momenta, x.par);
  Algebra<R> p = {};
  if (a.scale != 0) load_algebra<S>(p, momenta, x, mu);
  const R scale = splat<R>(a.scale), step = splat<R>(-a.step);
  PLAQ_UNROLL for (int i = 0; i < 8; i++) p.a[i] = fma_(step, f.a[i], scale * p.a[i]);
  store_algebra<S>(p, momenta, x, mu);
  return p;
}
// Updates the momenta as `kicked` does; the sum is |F|^2 over links, the maximum the largest |F|^2 of a link.
template <class S, class R, int W>
PLAQ_FN void kick_link(const ForceArgs& a, const Site& x, int mu, const Algebra<R>& f, Sums<2, W>& sums) {
  const Algebra<R> g = at_bounds(a, x, mu, f);
  const R n = norm2(g);
  sums.add(0, n);
  sums.max(1, n);
  kicked<S>(a, x, mu, g);
}

// Loads a link that is stored whole from its first two rows, and computes the third: a third less
// to load.
template <class S, class R> PLAQ_FN Su3<R> load_rows(const FieldView& gauge, const Site& s, int mu) {
  Su3<R> u;
  R v[18];  // what nothing takes is not loaded
  load_part<S>(v, plane(gauge, s.par), link_site(s), 72, mu * 18);
  PLAQ_UNROLL for (int i = 0; i < 6; i++) u.e[i / 3][i % 3] = {v[2 * i], v[2 * i + 1]};
  add_row(u);
  return u;
}
// Loads a link as `load_rows` does, at a site that is a step in direction `along` ahead of x.
template <class S, class R> PLAQ_FN Su3<R> load_ahead(const ForceArgs& a, const Site& s, int mu, const Site& x, int along) {
  Su3<R> u = load_rows<S, R>(a.gauge, s, mu);
  if (along == 3) put_edge(u, a.bounds, a.geom, x, mu);
  return u;
}
// Loads a link of a staple as `load_rows` does, but in single precision on a GPU with its third row, since instructions
// limit the speed there.
template <class S, class R> PLAQ_FN Su3<R> load_side(const FieldView& gauge, const Site& s, int mu) {
  if constexpr (PLAQ_GPU && sizeof(R) == 4) {
    Su3<R> u;
    load_link<S, R18>(u, plane(gauge, s.par), s, mu);
    return u;
  } else {
    return load_rows<S, R>(gauge, s, mu);
  }
}
// w plus c times the matrix of these columns.
template <class R> PLAQ_FN void add_columns(Su3<R>& w, R c, const Columns<R>& v) {
  PLAQ_UNROLL for (int i = 0; i < 3; i++) {
    const int k = (i + 1) % 3, l = (i + 2) % 3;
    PLAQ_UNROLL for (int j = 0; j < 2; j++) {
      w.e[i][j].re = fma_(c, v.e[i][j].re, w.e[i][j].re);
      w.e[i][j].im = fma_(c, v.e[i][j].im, w.e[i][j].im);
    }
    w.e[i][2] = msub_conj_both(madd_conj_both(w.e[i][2], v.e[k][0], c * v.e[l][1]), v.e[l][0], c * v.e[k][1]);
  }
}

// The first two columns.
template <class R> PLAQ_FN Columns<R> columns(const Su3<R>& u) {
  Columns<R> v;
  PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < 2; j++) v.e[i][j] = u.e[i][j];
  return v;
}

// Calls `work` for the links of thread i, one after the other. On a GPU the four warps of a group take the four
// directions of the same 16 sites of each parity, and go up in z together: what they read stays in the first-level
// cache for the next step, and the links that a launch works on at a time are close to each other, whatever their
// parity. On a CPU a thread has one link, and the eight links of two sites are consecutive.
template <class F> PLAQ_FN void each_link(const ForceArgs& a, int i, int lx, const F& work) {
#if PLAQ_GPU
  const Geom& g = a.geom;
  const u32 half = g.x() / 2, plane = half * g.y(), groups = (plane + 15) / 16;
  PLAQ_ROLLED for (int k = 0; k < a.column(); k++) {
    renew(i);
    const u32 group = (u32)i >> 7, row = group / groups, p = group % groups * 16 + (i & 15);
    const int t = row % (u32)g.t(), z = row / (u32)g.t() * a.column() + k;
    if (p >= plane || z >= g.z()) return;
    work(site_of(g, p % half, p / half, z, t, (i >> 4) & 1, lx), (i >> 5) & 3);
  }
#else
  work(site_at(a.geom, i >> 3, (i >> 2) & 1, lx), i & 3);
#endif
}

// The sites one step from x in every direction; a direction that is no compile-time constant
// selects among them.
struct Neighbours {
  Site up[4], down[4];
  PLAQ_FN Neighbours(const Geom& g, const Site& x) {
    PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) up[mu] = neighbour(g, x, mu, true), down[mu] = neighbour(g, x, mu, false);
  }
  // Copies only the members by which links are found.
  static PLAQ_FN Site of(const Site (&s)[4], int mu) {
    const bool odd = mu & 1, high = mu & 2;
    Site n = s[0];
    n.e = high ? (odd ? s[3].e : s[2].e) : (odd ? s[1].e : s[0].e);
    n.lx = high ? (odd ? s[3].lx : s[2].lx) : (odd ? s[1].lx : s[0].lx);
    return n;
  }
};
// The site x+mu-nu, from x+mu and x-nu: the step from x+mu changes the same members as the step from x, but where steps
// turn a direction (geometry.h).
PLAQ_FN Site corner_of(const Geom& g, const Site& x, const Site& up, const Site& down, int mu, int nu) {
  if (turning_bits(g)) return neighbour(g, neighbour(g, x, mu, true), nu, false);
  Site n = x;
  n.e = up.e + (down.e - x.e), n.lx = up.lx ^ down.lx ^ x.lx;
  return n;
}

// Adds the staples of link mu of x in plane number k of its three, times the coefficient of the
// plane or 1.
template <class S, bool WEIGHTS, class R>
PLAQ_FN void add_staples(Su3<R>& sum, const ForceArgs& a, const Neighbours& neighbours, const Site& x, const Site& xm, int mu, int k) {
  // The warps of two directions work on the plane of these directions at the same time.
  const int nu = mu ^ k;
  R above = splat<R>(a.plaquette[mu < nu ? plane_number(mu, nu) : plane_number(nu, mu)] * (1.0 / 6)), below = above;
  if (WEIGHTS && a.bounds.kind()) {
    const BoundWeights<R> w(a, x, mu, nu);
    above = w.above * above, below = w.below * below;
  }
  // A link of direction `dir`, one step forward in time where `along` is time.
  const auto side = [&](const Site& s, int dir, int along) {
    Su3<R> u = load_side<S, R>(a.gauge, s, dir);
    if (WEIGHTS && along == 3) put_edge(u, a.bounds, a.geom, x, dir);
    return u;
  };
  // x+mu -> x+mu+nu -> x+nu -> x
  const Site up = Neighbours::of(neighbours.up, nu);
  Columns<R> v = adjoint_columns(load_side<S, R>(a.gauge, x, nu));
  v = times<true>(side(up, mu, nu), v);
  v = times<false>(side(xm, nu, mu), v);
  if constexpr (WEIGHTS) add_columns(sum, above, v);
  else add_columns(sum, v);
  // x+mu -> x+mu-nu -> x-nu -> x
  const Site down = Neighbours::of(neighbours.down, nu);
  v = columns(load_side<S, R>(a.gauge, down, nu));
  v = times<true>(load_side<S, R>(a.gauge, down, mu), v);
  v = times<true>(side(corner_of(a.geom, x, xm, down, mu, nu), nu, mu), v);
  if constexpr (WEIGHTS) add_columns(sum, below, v);
  else add_columns(sum, v);
}
// The sum of a link's staples, with the coefficients of their planes or without.
template <class S, bool WEIGHTS, class R> PLAQ_FN Su3<R> staples_of(const ForceArgs& a, const Site& x, int mu) {
  const Neighbours neighbours(a.geom, x);
  const Site xm = Neighbours::of(neighbours.up, mu);
  Su3<R> sum = {};
  if constexpr (PLAQ_GPU && sizeof(R) == 4) {
    // A loop, so that registers are left for links of the next plane.
    PLAQ_UNROLL for (int k = 1; k < 4; k++) add_staples<S, WEIGHTS>(sum, a, neighbours, x, xm, mu, k);
  } else {
    PLAQ_ROLLED for (int k = 1; k < 4; k++) add_staples<S, WEIGHTS>(sum, a, neighbours, x, xm, mu, k);
  }
  return sum;
}

// F_mu = sum over nu of the plaquettes that begin with the link, computed by staples.
template <int W, class S> struct PlaquetteForce {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const ForceArgs& a, int i, int lx, int, Sums<2, W>& sums) {
    each_link(a, i, lx, [&](const Site& x, int mu) {
      const Su3<R> staples = staples_of<S, true, R>(a, x, mu);
      kick_link<S>(a, x, mu, imaginary(load_rows<S, R>(a.gauge, x, mu) * staples), sums);
    });
  }
};

// F_mu of loops of any shape. `paths` has for each direction the number of the first word of its list, of its first
// coefficient and of its paths. A list has for each path from x+mu to x the number of steps and then the steps
// (paths.h), the last one first.
template <int W, class S> struct LoopForce {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const ForceArgs& a, int i, int lx, int, Sums<2, W>& sums) {
    each_link(a, i, lx, [&](const Site& x, int mu) {
      const int* word = (const int*)a.paths;
      const double* weight = (const double*)a.weights + word[4 + mu];
      const int paths = word[8 + mu];
      word += word[mu];
      Su3<R> sum = {};
      PLAQ_ROLLED for (int k = 0; k < paths; k++) {
        const int steps = *word++;
        Site y = x;
        Columns<R> v;
        PLAQ_ROLLED for (int n = 0; n < steps; n++) {
          const int step = *word++;
          if (step < 4) {
            y = neighbour(a.geom, y, step, false);
            const Su3<R> u = load_rows<S, R>(a.gauge, y, step);
            if (n == 0) v = columns(u);
            else v = times<false>(u, v);
          } else {
            const Su3<R> u = load_rows<S, R>(a.gauge, y, 7 - step);
            if (n == 0) v = adjoint_columns(u);
            else v = times<true>(u, v);
            y = neighbour(a.geom, y, 7 - step, true);
          }
        }
        add_columns(sum, splat<R>(weight[k]), v);
      }
      kick_link<S>(a, x, mu, imaginary(load_rows<S, R>(a.gauge, x, mu) * sum), sums);
    });
  }
};

// A stage of the gradient flow: the force of plaquettes is added to the momenta, which move links into another field.
template <int W, class S> struct PlaquetteFlow {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const ForceArgs& a, int i, int lx, int) {
    each_link(a, i, lx, [&](const Site& x, int mu) {
      const Su3<R> staples = a.bounds.kind() ? staples_of<S, true, R>(a, x, mu) : staples_of<S, false, R>(a, x, mu);
      const Su3<R> u = load_rows<S, R>(a.gauge, x, mu);
      Algebra<R> p = kicked<S>(a, x, mu, at_bounds(a, x, mu, imaginary(u * staples)));
      const R time = splat<R>(a.time);
      PLAQ_UNROLL for (int k = 0; k < 8; k++) p.a[k] = time * p.a[k];
      store_link<S, R18>(exp_times(p.a, u), plane(a.flowed, x.par), x, mu);
    });
  }
};

// Number of B_mu,nu among the twelve of a site.
PLAQ_FN constexpr int staple_number(int mu, int nu) { return 3 * mu + (nu > mu ? nu - 1 : nu); }

// B of a link in each plane that contains it.
template <int W, class S> struct PlaneStaples {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const ForceArgs& a, int i, int lx, int) {
    each_link(a, i, lx, [&](const Site& x, int mu) {
      const Neighbours neighbours(a.geom, x);
      const Site xm = Neighbours::of(neighbours.up, mu);
      PLAQ_ROLLED for (int k = 1; k < 4; k++) {
        const int nu = mu ^ k;
        Su3<R> b = {};
        const Site up = Neighbours::of(neighbours.up, nu);
        Columns<R> v = adjoint_columns(load_ahead<S, R>(a, xm, nu, x, mu));
        v = times<false>(load_ahead<S, R>(a, up, mu, x, nu), v);
        v = times<false>(load_rows<S, R>(a.gauge, x, nu), v);
        add_columns(b, v);
        const Site down = Neighbours::of(neighbours.down, nu);
        v = columns(load_ahead<S, R>(a, corner_of(a.geom, x, xm, down, mu, nu), nu, x, mu));
        v = times<false>(load_rows<S, R>(a.gauge, down, mu), v);
        v = times<true>(load_rows<S, R>(a.gauge, down, nu), v);
        if (a.bounds.kind() && nu == 3) add_columns(b, time_weight<R>(a.bounds, a.geom, x, true, 1, 1), v);
        else add_columns(b, v);
        store_link<S, R18>(b, plane(a.staples, x.par), x, staple_number(mu, nu), 12);
      }
    });
  }
};

template <class S, class R> PLAQ_FN Su3<R> load_staple(const ForceArgs& a, const Site& s, int mu, int nu) {
  Su3<R> b;
  load_link<S, R18>(b, plane(a.staples, s.par), s, staple_number(mu, nu), keep, 12);
  return b;
}
// Adds x y to z; one of them or both may be replaced by the adjoint.
template <bool ADJOINT_X, bool ADJOINT_Y, class R> PLAQ_FN void add_product(Su3<R>& z, const Su3<R>& x, const Su3<R>& y) {
  const auto row = [&](int i, int k) { return ADJOINT_X ? conj(x.e[k][i]) : x.e[i][k]; };
  const auto column = [&](int k, int j) { return ADJOINT_Y ? conj(y.e[j][k]) : y.e[k][j]; };
  PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < 3; j++)
    PLAQ_UNROLL for (int k = 0; k < 3; k++) z.e[i][j] = madd(z.e[i][j], row(i, k), column(k, j));
}
template <class R> PLAQ_FN Su3<R> times(R c, const Su3<R>& x) {
  Su3<R> z;
  PLAQ_UNROLL for (int i = 0; i < 9; i++) z.e[i / 3][i % 3] = c * x.e[i / 3][i % 3];
  return z;
}

// Adds to `sum` what closes the loops through a link of direction mu at x in the plane mu, nu, above it or below it: c
// times the staple of the plaquette, and the staples in which one link is replaced by its B. `side`, `across` and `far`
// are the sites of the staple's links: that of nu at the start of the link, that of mu, that of nu at its end. The staple
// is far across^dagger side^dagger, or below the link far^dagger across^dagger side. `along` are the coefficients of
// rectangles that are long in mu, with B of `far` and with B of `side`; `beyond` is that of rectangles long in nu, with B
// of `across`.
template <bool BELOW, class S, class R>
PLAQ_FN void add_loops(Su3<R>& sum, const ForceArgs& a, const Site& x, const Site& side, const Site& across, const Site& far,
                       int mu, int nu, R c, const R (&along)[2], R beyond) {
  Su3<R> path = {}, all = {}, u = load_ahead<S, R>(a, far, nu, x, mu);
  add_product<BELOW, true>(all, times(beyond, u), load_staple<S, R>(a, across, mu, nu));
  const Su3<R> b = load_ahead<S, R>(a, across, mu, x, BELOW ? mu : nu);
  add_product<BELOW, true>(path, u, b);
  PLAQ_UNROLL for (int i = 0; i < 9; i++) {
    cplx<R>& z = all.e[i / 3][i % 3];
    z = {fma_(c, path.e[i / 3][i % 3].re, z.re), fma_(c, path.e[i / 3][i % 3].im, z.im)};
  }
  add_product<BELOW, true>(all, times(along[0], load_staple<S, R>(a, far, nu, mu)), b);
  add_product<false, !BELOW>(sum, all, load_rows<S, R>(a.gauge, side, nu));
  add_product<false, !BELOW>(sum, times(along[1], path), load_staple<S, R>(a, side, nu, mu));
}

// Adds c A U A, where A is the staple above the link U of x, or below it: its product with U is the loop that goes
// around the plaquette twice.
template <bool BELOW, class S, class R>
PLAQ_FN void add_twice(Su3<R>& sum, const ForceArgs& a, const Site& x, const Site& side, const Site& across, const Site& far,
                       int mu, int nu, R c) {
  Su3<R> path = {}, staple = {}, round = {};
  add_product<BELOW, true>(path, load_ahead<S, R>(a, far, nu, x, mu), load_ahead<S, R>(a, across, mu, x, BELOW ? mu : nu));
  add_product<false, !BELOW>(staple, path, load_rows<S, R>(a.gauge, side, nu));
  add_product<false, false>(round, load_rows<S, R>(a.gauge, x, mu), staple);
  add_product<false, false>(sum, times(c, staple), round);
}

// F_mu of plaquettes and rectangles (Luescher and Weisz, Commun. Math. Phys. 97 (1985) 59).
template <int W, class S> struct RectangleForce {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const ForceArgs& a, int i, int lx, int, Sums<2, W>& sums) {
    each_link(a, i, lx, [&](const Site& x, int mu) {
      const Neighbours neighbours(a.geom, x);
      Su3<R> sum = {};
      PLAQ_ROLLED for (int k = 1; k < 4; k++) {
        const Site xm = Neighbours::of(neighbours.up, mu);
        const int nu = mu ^ k, p = mu < nu ? plane_number(mu, nu) : plane_number(nu, mu);
        const auto third = [](double c) { return splat<R>(c * (1.0 / 6)); };
        const R c = third(a.plaquette[p]), along = third(mu < nu ? a.first[p] : a.second[p]);
        const R beyond = third(mu < nu ? a.second[p] : a.first[p]);
        const Site up = Neighbours::of(neighbours.up, nu), down = Neighbours::of(neighbours.down, nu);
        const Site corner = corner_of(a.geom, x, xm, down, mu, nu);
        // Factors of c, of the two of `along` and of `beyond`, above and below.
        R w[2][4];
        PLAQ_UNROLL for (int k = 0; k < 8; k++) w[k / 4][k % 4] = splat<R>(1);
        if (a.bounds.kind()) bound_weights(w, a, x, mu, nu);
        add_loops<false, S>(sum, a, x, x, up, xm, mu, nu, w[0][0] * c, {w[0][1] * along, w[0][2] * along}, w[0][3] * beyond);
        add_loops<true, S>(sum, a, x, down, down, corner, mu, nu, w[1][0] * c, {w[1][1] * along, w[1][2] * along}, w[1][3] * beyond);
        if ((a.bounds.kind() & BOUND_EDGE) && (mu == 3 || nu == 3) && at_fixed(a, x)) {
          const R above = touch_weight<R>(a.bounds, a.geom, x, false);
          const R below = nu == 3 ? touch_weight<R>(a.bounds, a.geom, x, true) : above;
          add_twice<false, S>(sum, a, x, x, up, xm, mu, nu, above * along);
          add_twice<true, S>(sum, a, x, down, down, corner, mu, nu, below * along);
        }
      }
      kick_link<S>(a, x, mu, imaginary(load_rows<S, R>(a.gauge, x, mu) * sum), sums);
    });
  }
  // Whether plaquettes of the site's links may touch fixed links.
  static PLAQ_FN bool at_fixed(const ForceArgs& a, const Site& x) {
    return near_last(a.geom, x) || near_first(a.geom, x) || near_first(a.geom, x, 1);
  }
  // The factors at boundaries in time. Loops that would leave open ones have links that are zero.
  static PLAQ_FN void bound_weights(R (&w)[2][4], const ForceArgs& a, const Site& x, int mu, int nu) {
    const BoundWeights<R> c(a, x, mu, nu);
    w[0][0] = c.above, w[1][0] = c.below;
    if (mu < 3 && nu < 3) {
      PLAQ_UNROLL for (int k = 1; k < 4; k++) w[0][k] = w[1][k] = c.above;
      return;
    }
    const R one = splat<R>(1), zero = splat<R>(0);
    // Loops that would reach behind a slice of fixed links do not exist.
    const R ends = a.bounds.kind() & BOUND_EDGE ? on_last(a.geom, x, zero, one) : one;
    if (mu == 3) {
      w[0][1] = w[1][1] = ends;
    } else {
      w[0][3] = ends;
      PLAQ_UNROLL for (int k = 1; k < 4; k++) w[1][k] = time_weight<R>(a.bounds, a.geom, x, true, 1, 1);
    }
  }
};

// Sum over planes of the coefficient times 1 - Re tr / 3.
template <int W, class S> struct PlaquetteAction {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const ForceArgs& a, int o, int lx, int parity, Sums<1, W>& sums) {
    const Site x = site_at(a.geom, o, parity, lx);
    const Plane gauge[2] = {plane(a.gauge, 0), plane(a.gauge, 1)};
    for (int nu = 1; nu < 4; nu++)
      for (int mu = 0; mu < nu; mu++) {
        const R t = trace(plaquette_of<S, R>(a.bounds, a.geom, gauge, x, mu, nu)).re;
        const R term = splat<R>(a.plaquette[plane_number(mu, nu)]) * fma_(t, splat<R>(-1.0 / 3), splat<R>(1));
        sums.add(0, a.bounds.kind() ? BoundWeights<R>(a, x, mu, nu).above * term : term);
      }
  }
};
// The action of PlaquetteAction and of rectangles: U_mu(x) B_nu,mu(x+mu) U_mu(x+nu)^dagger U_nu(x)^dagger has two steps
// in mu, U_mu(x) U_nu(x+mu) B_mu,nu(x+nu)^dagger U_nu(x)^dagger two in nu; each product also contains a unit matrix
// from the other staple in B.
template <int W, class S> struct RectangleAction {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const ForceArgs& a, int o, int lx, int parity, Sums<1, W>& sums) {
    const Site x = site_at(a.geom, o, parity, lx);
    for (int nu = 1; nu < 4; nu++)
      for (int mu = 0; mu < nu; mu++) {
        const Site xm = neighbour(a.geom, x, mu, true), xn = neighbour(a.geom, x, nu, true);
        const int n = plane_number(mu, nu);
        const Su3<R> first = load_rows<S, R>(a.gauge, x, mu), up = load_rows<S, R>(a.gauge, x, nu);
        const Su3<R> back = up * load_ahead<S, R>(a, xn, mu, x, nu), there = first * load_rows<S, R>(a.gauge, xm, nu);
        const R p = re_trace_adj(there, back);
        const R b = re_trace_adj(first * load_staple<S, R>(a, xm, nu, mu), back);
        R d = re_trace_adj(there, up * load_staple<S, R>(a, xn, mu, nu));
        const auto term = [&](double c, R trace, R one) { return splat<R>(c) * fma_(trace, splat<R>(-1.0 / 3), one); };
        const R one = splat<R>(1), two = splat<R>(2), zero = splat<R>(0);
        if (!a.bounds.kind()) {
          sums.add(0, term(a.plaquette[n], p, one) + term(a.first[n], b, two) + term(a.second[n], d, two));
          continue;
        }
        // No rectangle of two steps in time begins on the slice before the last one.
        const R w = BoundWeights<R>(a, x, mu, nu).above;
        if (nu < 3) {
          sums.add(0, w * (term(a.plaquette[n], p, one) + term(a.first[n], b, two) + term(a.second[n], d, two)));
          continue;
        }
        const bool edge = a.bounds.kind() & BOUND_EDGE;
        const R last = edge ? on_last(a.geom, x, zero, two) : on_last(a.geom, x, one, two, 1);
        if (edge) d = on_last(a.geom, x, zero, d);
        const R exists = time_weight<R>(a.bounds, a.geom, x, false, 1, 1);
        sums.add(0, w * term(a.plaquette[n], p, one) + exists * (term(a.first[n], b, two) + term(a.second[n], d, last)));
        if (!edge) continue;
        // Plaquettes that touch fixed links also contribute half of the loop that goes around them twice.
        const Su3<R> loop = there * adj(back);
        sums.add(0, touch_weight<R>(a.bounds, a.geom, x, false) * term(0.5 * a.first[n], re_trace_adj(loop, adj(loop)), one));
      }
  }
};

// out = in + c D_mu^* D_mu in on the algebra, covariant second difference along each link's own direction
// (c = 1/12: Ramos, Sint, Eur. Phys. J. C 76 (2016) 15). Elements `in` have borders; to scale momenta.
template <int W, class S> struct AlgebraLaplace {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const ForceArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    const R c = splat<R>(a.step), scale = splat<R>(a.scale);
    for (int mu = 0; mu < 4; mu++) {
      const Site up = neighbour(a.geom, x, mu, true), down = neighbour(a.geom, x, mu, false);
      Su3<R> u;
      Algebra<R> e, ahead, behind, old;
      load_algebra<S>(ahead, plane(a.elements, up.par), up, mu);
      load_link<S, R18>(u, plane(a.gauge, parity), x, mu);
      ahead = turned(ahead, u);
      load_algebra<S>(behind, plane(a.elements, down.par), down, mu);
      load_link<S, R18>(u, plane(a.gauge, down.par), down, mu);
      behind = turned_back(behind, u);
      load_algebra<S>(e, plane(a.elements, parity), x, mu);
      load_algebra<S>(old, plane(a.momenta, parity), x, mu);
      PLAQ_UNROLL for (int i = 0; i < 8; i++)
        old.a[i] = fma_(scale, old.a[i], fma_(c, fnma_(splat<R>(2), e.a[i], ahead.a[i] + behind.a[i]), e.a[i]));
      store_algebra<S>(old, plane(a.momenta, parity), x, mu);
    }
  }
};

}  // namespace PLAQ_NS
