// Kernels of hadron structure: spin matrices of sites, sums of these over time slices with plane waves, and products of
// spinors with spin matrices. Spin matrices of sites are kept in memory of their own, a plane for each parity of each
// time slice of a launch, laid out as those of fields (field.h) with 32 numbers a site, (re, im) of row by row. Dense
// spin matrices among the arguments are 16 pairs (re, im), row by row.
#pragma once
#include "contract.h"

namespace PLAQ_NS {

// exp(i p (x - position)), p_mu = (2 pi momentum_mu + pi shift_mu) / L_mu, times the boundary phases exp(i pi boundary_mu) that are
// met on the way from x to x + displacement, for all lanes of a site; 0 on all time slices but `time`, unless that is negative.
template <class R>
PLAQ_FN void wave_phases(const Geom& g, const Site& x, const int (&momentum)[4], const WaveArgs& a, R& re, R& im) {
  typedef typename scalar_of<R>::type T;
  constexpr int W = lanes<R>::W;
  T c[W], s[W];
  for (int i = 0; i < W; i++) {
    double turns = momentum_turns(g, x, x.lx + i, momentum, a.shift, a.position), u, v;
    PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) {
      const int l = g.global[mu], end = global_coordinate(g, x, x.lx + i, mu) + a.displacement[mu];
      const int wound = end >= 0 ? end / l : -((l - 1 - end) / l);
      turns += 0.5 * wound * a.boundary[mu];
    }
    vsincospi(2 * turns, v, u);
    const bool here = a.time < 0 || global_coordinate(g, x, x.lx + i, 3) == a.time;
    c[i] = here ? (T)u : 0, s[i] = here ? (T)v : 0;
  }
#if PLAQ_GPU
  re = c[0], im = s[0];
#else
  __builtin_memcpy(&re, &c, sizeof(re));
  __builtin_memcpy(&im, &s, sizeof(im));
#endif
}

// The place of site number o of a slice in plane `index` of spin matrices.
struct MatrixPlace {
  Plane plane;
  Site site;
  PLAQ_FN MatrixPlace(const MatricesArgs& a, int index, int o, int lx) {
    plane = Plane{a.data + (i64)index * a.bytes, 0, 0};
    site = Site{};
    site.o = o, site.lx = lx;
  }
};
template <class S, class R> PLAQ_FN void store_matrix(const cplx<R> (&m)[16], const MatricesArgs& a, int index, int o, int lx) {
  const MatrixPlace at(a, index, o, lx);
  R v[32];
  PLAQ_UNROLL for (int i = 0; i < 16; i++) v[2 * i] = m[i].re, v[2 * i + 1] = m[i].im;
  store<S>(v, at.plane, at.site);
}

// m_(alpha gamma)(x) = sum over columns k and colours a of forward_k(x)_(alpha a) back_k(x)^*_(gamma a). A batch is a parity of a
// time slice of the lanes' pieces, from `slice` on.
template <int W, class S> struct SpinPairs {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const SpinPairArgs& a, int o, int lx, int batch) {
    const int parity = batch & 1;
    const Site x = site_at(a.geom, o + (a.slice + (batch >> 1)) * slice_sites(a.geom), parity, lx);
    cplx<R> m[16];
    PLAQ_UNROLL for (int i = 0; i < 16; i++) m[i] = {splat<R>(0), splat<R>(0)};
    for (int k = 0; k < a.columns; k++) {
      R v[24], w[24];
      load<S>(v, plane(a.forward, 2 * k + parity), x);
      load<S>(w, plane(a.back, 2 * k + parity), x);
      PLAQ_UNROLL for (int i = 0; i < 16; i++) PLAQ_UNROLL for (int c = 0; c < 3; c++) {
        const int p = 2 * (3 * (i >> 2) + c), q = 2 * (3 * (i & 3) + c);
        m[i] = madd_conj(m[i], cplx<R>{w[q], w[q + 1]}, cplx<R>{v[p], v[p + 1]});
      }
    }
    store_matrix<S>(m, a.matrices, batch, o, lx);
  }
};

// Sums over space of spin matrices with plane waves, of which `table` has four integers each. A batch is, fastest first, a wave, a
// parity, a time slice.
template <int W, class S> struct SliceWaves {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const SliceWaveArgs& a, int o, int lx, int batch, Sums<64, W>& sums) {
    const int index = batch / a.waves, parity = index & 1;
    const int* n = (const int*)a.table + 4 * (batch % a.waves);
    const int momentum[4] = {n[0], n[1], n[2], n[3]};
    const Site x = site_at(a.geom, o + (a.slice + (index >> 1)) * slice_sites(a.geom), parity, lx);
    const MatrixPlace at(a.matrices, index, o, lx);
    cplx<R> phase;
    wave_phases(a.geom, x, momentum, a.wave, phase.re, phase.im);
    R v[32];
    load<S>(v, at.plane, at.site);
    PLAQ_UNROLL for (int i = 0; i < 16; i++) add_by_half(sums, a.geom, i, phase * cplx<R>{v[2 * i], v[2 * i + 1]}, lx);
  }
};

template <class R> PLAQ_FN cplx<R> entry(const double (&m)[32], int row, int column) {
  typedef typename scalar_of<R>::type T;
  return {splat<R>((T)m[8 * row + 2 * column]), splat<R>((T)m[8 * row + 2 * column + 1])};
}

// out = wave(x) left in right: `right` joins columns of `spins` spins, number `colours` spin + colour. out and in may be the same
// field. A batch is a parity of a colour.
template <int W, class S> struct SpinProduct {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const SpinProductArgs& a, int o, int lx, int batch) {
    const int parity = batch & 1, colour = batch >> 1;
    const Site x = site_at(a.geom, o, parity, lx);
    cplx<R> phase;
    wave_phases(a.geom, x, a.momentum, a.wave, phase.re, phase.im);
    R in[4][24];
    for (int k = 0; k < a.spins; k++) {
      R v[24];
      load<S>(v, plane(a.inp, 2 * (a.colours * k + colour) + parity), x);
      for (int s = 0; s < 4; s++) for (int c = 0; c < 3; c++) {
        cplx<R> z = {splat<R>(0), splat<R>(0)};
        for (int r = 0; r < 4; r++) z = madd(z, entry<R>(a.left, s, r), cplx<R>{v[2 * (3 * r + c)], v[2 * (3 * r + c) + 1]});
        z = phase * z;
        in[k][2 * (3 * s + c)] = z.re, in[k][2 * (3 * s + c) + 1] = z.im;
      }
    }
    for (int k = 0; k < a.spins; k++) {
      R v[24];
      for (int i = 0; i < 12; i++) {
        cplx<R> z = {splat<R>(0), splat<R>(0)};
        for (int r = 0; r < a.spins; r++) z = madd(z, entry<R>(a.right, r, k), cplx<R>{in[r][2 * i], in[r][2 * i + 1]});
        v[2 * i] = z.re, v[2 * i + 1] = z.im;
      }
      store<S>(v, plane(a.out, 2 * (a.colours * k + colour) + parity), x);
    }
  }
};

template <class R> struct SiteMatrix {
  R v[12][24];  // v[column][2 (3 spin + colour) + (re, im)]
  PLAQ_FN cplx<R> at(int row, int column) const { return {v[column][2 * row], v[column][2 * row + 1]}; }
};

// Adds sum eps_abc eps_def A_ad B_be to d_cf; A, B: 3x3 blocks of p at row i and column j, of q at k and l.
template <class R>
PLAQ_FN void add_cross(cplx<R> (&d)[9], const SiteMatrix<R>& p, int i, int j, const SiteMatrix<R>& q, int k, int l) {
  for (int c = 0; c < 3; c++) for (int f = 0; f < 3; f++) {
    const int c1 = c == 2 ? 0 : c + 1, c2 = c == 0 ? 2 : c - 1, f1 = f == 2 ? 0 : f + 1, f2 = f == 0 ? 2 : f - 1;
    cplx<R> z = d[3 * c + f];
    z = madd(z, p.at(i + c1, j + f1), q.at(k + c2, l + f2));
    z = madd(z, p.at(i + c2, j + f2), q.at(k + c1, l + f1));
    z = msub(z, p.at(i + c1, j + f2), q.at(k + c2, l + f1));
    z = msub(z, p.at(i + c2, j + f1), q.at(k + c1, l + f2));
    d[3 * c + f] = z;
  }
}
template <class R> PLAQ_FN void clear(cplx<R> (&d)[9]) {
  for (int i = 0; i < 9; i++) d[i] = {splat<R>(0), splat<R>(0)};
}

// Adds d to the block of colours of m that begins at this row and column, times z.
template <class R> PLAQ_FN void add_block(SiteMatrix<R>& m, int row, int column, cplx<R> z, const cplx<R> (&d)[9]) {
  for (int c = 0; c < 3; c++) for (int f = 0; f < 3; f++) {
    R* at = m.v[column + f] + 2 * (row + c);
    const cplx<R> sum = madd(cplx<R>{at[0], at[1]}, z, d[3 * c + f]);
    at[0] = sum.re, at[1] = sum.im;
  }
}

// Multiplies a spin matrix from the left: m becomes G m.
template <class R> PLAQ_FN void from_left(SiteMatrix<R>& m, const double (&g)[32]) {
  PLAQ_LOOP for (int column = 0; column < 12; column++) PLAQ_LOOP for (int c = 0; c < 3; c++) {
    cplx<R> old[4];
    for (int s = 0; s < 4; s++) old[s] = m.at(3 * s + c, column);
    for (int s = 0; s < 4; s++) {
      cplx<R> z = {splat<R>(0), splat<R>(0)};
      for (int r = 0; r < 4; r++) z = madd(z, entry<R>(g, s, r), old[r]);
      m.v[column][2 * (3 * s + c)] = z.re, m.v[column][2 * (3 * s + c) + 1] = z.im;
    }
  }
}
// Multiplies a spin matrix from the right: m becomes m H.
template <class R> PLAQ_FN void from_right(SiteMatrix<R>& m, const double (&h)[32]) {
  PLAQ_LOOP for (int row = 0; row < 12; row++) PLAQ_LOOP for (int f = 0; f < 3; f++) {
    cplx<R> old[4];
    for (int s = 0; s < 4; s++) old[s] = m.at(row, 3 * s + f);
    for (int s = 0; s < 4; s++) {
      cplx<R> z = {splat<R>(0), splat<R>(0)};
      for (int r = 0; r < 4; r++) z = madd(z, entry<R>(h, r, s), old[r]);
      m.v[3 * s + f][2 * row] = z.re, m.v[3 * s + f][2 * row + 1] = z.im;
    }
  }
}

template <class S, class R> PLAQ_FN void load_quark(SiteMatrix<R>& m, const FieldView& f, int parity, const Site& x) {
  PLAQ_LOOP for (int column = 0; column < 12; column++) load<S>(m.v[column], plane(f, 2 * column + parity), x);
}

// Three quark lines X, Y and Z from a source to a sink, with X~ = G X H, in one of two forms:
//   closed: C_ss' = sum_(b, e) (X~_be x Y_be) . Z_ss',    open: C_ss' = sum_(b, e) (X~_be x Y_bs') . Z_se,
// A x B the antisymmetric product of colours of add_cross and the dot the sum over what it leaves. These are all
// contractions of eps_abc (q1_a^T Gamma q2_b) q3_c at both ends (ops/structure/three_quarks.rs). QuarkTriples: the
// matrix C of a site. Batches are those of SpinPairs.
template <int W, class S> struct QuarkTriples {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const QuarkTripleArgs& a, int o, int lx, int batch) {
    const int parity = batch & 1;
    const Site site = site_at(a.geom, o + (a.slice + (batch >> 1)) * slice_sites(a.geom), parity, lx);
    SiteMatrix<R> x, y, z;
    load_quark<S>(x, a.x, parity, site);
    load_quark<S>(y, a.y, parity, site);
    load_quark<S>(z, a.z, parity, site);
    from_left(x, a.g);
    from_right(x, a.h);
    cplx<R> m[16], d[9];
    for (int i = 0; i < 16; i++) m[i] = {splat<R>(0), splat<R>(0)};
    clear(d);
    PLAQ_LOOP for (int e = 0; e < 4; e++) PLAQ_LOOP for (int right = 0; right < 4; right++) {
      // Open form: d is a sum over b alone; closed form: over all spins (b, e), complete with the last of them.
      if (a.open) clear(d);
      if (a.open) PLAQ_LOOP for (int b = 0; b < 4; b++) add_cross(d, x, 3 * b, 3 * e, y, 3 * b, 3 * right);
      else add_cross(d, x, 3 * right, 3 * e, y, 3 * right, 3 * e);
      if (a.open) PLAQ_LOOP for (int left = 0; left < 4; left++) m[4 * left + right] = m[4 * left + right] + dot(d, z, left, e);
    }
    if (!a.open) PLAQ_LOOP for (int i = 0; i < 16; i++) m[i] = dot(d, z, i >> 2, i & 3);
    store_matrix<S>(m, a.matrices, batch, o, lx);
  }
  static PLAQ_FN cplx<R> dot(const cplx<R> (&d)[9], const SiteMatrix<R>& z, int left, int right) {
    cplx<R> sum = {splat<R>(0), splat<R>(0)};
    for (int i = 0; i < 9; i++) sum = madd(sum, d[i], z.at(3 * left + i / 3, 3 * right + i % 3));
    return sum;
  }
};

// Adds scale times the complex conjugate of the derivative of tr[P C] by one of the lines to `out`: entry (row, column) is row of
// column number `column`. which: 0, 1, 2 for X, Y, Z; for X the arguments g and h are the transposes of G and H. A batch is a
// parity.
template <int W, class S> struct QuarkTripleSource {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const QuarkTripleArgs& a, int o, int lx, int batch) {
    const Site site = site_at(a.geom, o, batch, lx);
    const cplx<R> one = {splat<R>(1), splat<R>(0)};
    SiteMatrix<R> x, y, z, out;
    for (int k = 0; k < 12; k++) for (int i = 0; i < 24; i++) out.v[k][i] = splat<R>(0);
    cplx<R> d[9];
    if (a.which != 0) {
      load_quark<S>(x, a.x, batch, site);
      from_left(x, a.g);
      from_right(x, a.h);
    }
    if (a.which != 1) load_quark<S>(y, a.y, batch, site);
    if (a.which != 2) {
      load_quark<S>(z, a.z, batch, site);
      from_left(z, a.p);
      // Closed form: the trace over spins goes into the block of the first spins.
      if (!a.open) for (int s = 1; s < 4; s++) for (int c = 0; c < 3; c++) for (int f = 0; f < 3; f++) {
        z.v[f][2 * c] = z.v[f][2 * c] + z.v[3 * s + f][2 * (3 * s + c)];
        z.v[f][2 * c + 1] = z.v[f][2 * c + 1] + z.v[3 * s + f][2 * (3 * s + c) + 1];
      }
    }
    clear(d);
    PLAQ_LOOP for (int i = 0; i < 4; i++) PLAQ_LOOP for (int j = 0; j < 4; j++) {
      if (a.which == 2 && !a.open) {
        add_cross(d, x, 3 * i, 3 * j, y, 3 * i, 3 * j);
        continue;
      }
      clear(d);
      if (a.which == 2) {
        // i is the spin of the line at the source, j the spin that is not summed over.
        for (int b = 0; b < 4; b++) add_cross(d, x, 3 * b, 3 * i, y, 3 * b, 3 * j);
        for (int s = 0; s < 4; s++) add_block(out, 3 * s, 3 * i, entry<R>(a.p, j, s), d);
      } else {
        const SiteMatrix<R>& other = a.which == 0 ? y : x;
        if (!a.open) add_cross(d, other, 3 * i, 3 * j, z, 0, 0);
        else for (int e = 0; e < 4; e++) {
          if (a.which == 0) add_cross(d, y, 3 * i, 3 * e, z, 3 * e, 3 * j);
          else add_cross(d, x, 3 * i, 3 * e, z, 3 * j, 3 * e);
        }
        add_block(out, 3 * i, 3 * j, one, d);
      }
    }
    if (a.which == 2 && !a.open)
      for (int s = 0; s < 4; s++) for (int r = 0; r < 4; r++) add_block(out, 3 * s, 3 * r, entry<R>(a.p, r, s), d);
    if (a.which == 0) {
      from_left(out, a.g);
      from_right(out, a.h);
    }
    typedef typename scalar_of<R>::type T;
    const cplx<R> scale = {splat<R>((T)a.scale[0]), splat<R>((T)a.scale[1])};
    for (int k = 0; k < 12; k++) {
      R v[24];
      load<S>(v, plane(a.out, 2 * k + batch), site);
      for (int i = 0; i < 24; i += 2) {
        const cplx<R> sum = madd_conj(cplx<R>{v[i], v[i + 1]}, cplx<R>{out.v[k][i], out.v[k][i + 1]}, scale);
        v[i] = sum.re, v[i + 1] = sum.im;
      }
      store<S>(v, plane(a.out, 2 * k + batch), site);
    }
  }
};

}  // namespace PLAQ_NS
