// Wilson hopping term with a fused site operator; gammas in the DeGrand-Rossi basis (physics.md).
//   hop(in)(x) = sum_mu c_mu [ (1 - g_mu) U_mu(x) in(x+mu) + (1 + g_mu) U_mu(x-mu)^dagger in(x-mu) ]
//   out = coef_y S_y(y) + S_hop(hop(in)) + coef_z z + coef_own out;   dagger swaps the projectors.
// Where quarks vanish at boundaries in time out = 0, and `in` counts as 0 whatever finite numbers it has.
#pragma once
#include "block_order.h"
#include "bounds.h"
#include "pencils.h"
#include "recon.h"
#include "signal.h"

namespace PLAQ_NS {

template <class R> struct HalfSpinor {
  cplx<R> c[2][3];
};
template <class R> struct Spinor {
  R v[24];  // (spin * 3 + colour) * 2 + (re, im)
  PLAQ_FN cplx<R> at(int s, int c) const { return {v[(s * 3 + c) * 2], v[(s * 3 + c) * 2 + 1]}; }
  // += f z and += i f z
  PLAQ_FN void add(int s, int c, R f, cplx<R> z) {
    R *p = v + (s * 3 + c) * 2;
    p[0] = fma_(f, z.re, p[0]), p[1] = fma_(f, z.im, p[1]);
  }
  PLAQ_FN void add_i(int s, int c, R f, cplx<R> z) {
    R *p = v + (s * 3 + c) * 2;
    p[0] = fnma_(f, z.im, p[0]), p[1] = fma_(f, z.re, p[1]);
  }
};

// a + f b of reals, f = +-1.
struct PlainSum {
  template <class R> PLAQ_FN R operator()(R a, R f, R b) const { return add_signed(a, f, b); }
};
#if PLAQ_GPU
// a + f b of biased integers (field.h), scaled: the biases cancel in a difference, and add up to an
// exactly known constant in a sum.
struct BiasedSum {
  float unit, two_biases;
  PLAQ_FN explicit BiasedSum(float u) : unit(u), two_biases(-2.0f * fixed_bias * u) {}
  PLAQ_FN float operator()(float a, float f, float b) const {
    return fmaf(fmaf(f, b, a), unit, f < 0 ? 0 : two_biases);
  }
};
#endif

// Upper two spins of (1 - g gamma_mu) psi, g = +-1.
template <class R, class Sum>
PLAQ_FN void project(HalfSpinor<R>& h, const Spinor<R>& p, int mu, R g, const Sum& sum) {
  const auto plus = [&](cplx<R> a, R f, cplx<R> b) { return cplx<R>{sum(a.re, f, b.re), sum(a.im, f, b.im)}; };
  const auto plus_i = [&](cplx<R> a, R f, cplx<R> b) { return cplx<R>{sum(a.re, -f, b.im), sum(a.im, f, b.re)}; };
  PLAQ_UNROLL for (int c = 0; c < 3; c++) {
    if (mu == 0) h.c[0][c] = plus_i(p.at(0, c), -g, p.at(3, c)), h.c[1][c] = plus_i(p.at(1, c), -g, p.at(2, c));
    if (mu == 1) h.c[0][c] = plus(p.at(0, c), g, p.at(3, c)), h.c[1][c] = plus(p.at(1, c), -g, p.at(2, c));
    if (mu == 2) h.c[0][c] = plus_i(p.at(0, c), -g, p.at(2, c)), h.c[1][c] = plus_i(p.at(1, c), g, p.at(3, c));
    if (mu == 3) h.c[0][c] = plus(p.at(0, c), -g, p.at(2, c)), h.c[1][c] = plus(p.at(1, c), -g, p.at(3, c));
  }
}

// h becomes the upper two spins of (1 - g gamma_mu) psi(n), g = 1 or -1, of the spinor at the neighbour n.
template <class S, class R> PLAQ_FN void load_projected(HalfSpinor<R>& h, const Plane& in, const Site& n, int mu, R g) {
  Spinor<R> p;
#if PLAQ_GPU
  if constexpr (S::fixed) {
    load_words<S>(p.v, in, n, 24, 0, keep);
    project(h, p, mu, g, BiasedSum(load_norm<R>(in, n)));
    return;
  }
#endif
  load<S>(p.v, in, n);
  project(h, p, mu, g, PlainSum());
}

// acc += the four spins that belong to the projected h, the upper ones times f, the lower ones
// times gf (that is g f).
template <class R> PLAQ_FN void unproject(Spinor<R>& acc, const HalfSpinor<R>& h, int mu, R gf, R f) {
  PLAQ_UNROLL for (int c = 0; c < 3; c++) {
    acc.add(0, c, f, h.c[0][c]), acc.add(1, c, f, h.c[1][c]);
    if (mu == 0) acc.add_i(2, c, gf, h.c[1][c]), acc.add_i(3, c, gf, h.c[0][c]);
    if (mu == 1) acc.add(2, c, -gf, h.c[1][c]), acc.add(3, c, gf, h.c[0][c]);
    if (mu == 2) acc.add_i(2, c, gf, h.c[0][c]), acc.add_i(3, c, -gf, h.c[1][c]);
    if (mu == 3) acc.add(2, c, -gf, h.c[0][c]), acc.add(3, c, -gf, h.c[1][c]);
  }
}

// r = U h or U^dagger h.
template <class R> PLAQ_FN void multiply(HalfSpinor<R>& r, const Su3<R>& u, const HalfSpinor<R>& h, bool dagger) {
  PLAQ_UNROLL for (int s = 0; s < 2; s++) PLAQ_UNROLL for (int i = 0; i < 3; i++) {
    if (dagger) {
      cplx<R> a = mul_conj(u.e[0][i], h.c[s][0]);
      a = madd_conj(a, u.e[1][i], h.c[s][1]);
      r.c[s][i] = madd_conj(a, u.e[2][i], h.c[s][2]);
    } else {
      cplx<R> a = u.e[i][0] * h.c[s][0];
      a = madd(a, u.e[i][1], h.c[s][1]);
      r.c[s][i] = madd(a, u.e[i][2], h.c[s][2]);
    }
  }
}

// v = A v for one chirality's hermitian 6x6 block: 6 diagonal reals, then the strictly lower
// triangle column by column (QUDA's and MILC's packed order), row = 3 * spin + colour.
template <class R> PLAQ_FN void multiply_block(R* v, const R (&b)[36], R (&out)[12]) {
  PLAQ_UNROLL for (int i = 0; i < 6; i++) out[2 * i] = b[i] * v[2 * i], out[2 * i + 1] = b[i] * v[2 * i + 1];
  int k = 6;
  PLAQ_UNROLL for (int j = 0; j < 5; j++) PLAQ_UNROLL for (int i = j + 1; i < 6; i++) {
    const R re = b[k], im = b[k + 1];
    k += 2;
    out[2 * i] = fma_(re, v[2 * j], fnma_(im, v[2 * j + 1], out[2 * i]));
    out[2 * i + 1] = fma_(re, v[2 * j + 1], fma_(im, v[2 * j], out[2 * i + 1]));
    out[2 * j] = fma_(re, v[2 * i], fma_(im, v[2 * i + 1], out[2 * j]));
    out[2 * j + 1] = fma_(re, v[2 * i + 1], fnma_(im, v[2 * i], out[2 * j + 1]));
  }
}

template <class S, class R> PLAQ_FN void load_block(R (&b)[36], const Plane& p, const Site& s, int chirality, Hint hint) {
#if PLAQ_GPU
  if constexpr (S::fixed) {
    load_words<S>(b, p, s, 72, 36 * chirality, hint);
    return scale_words(b, load_norm<R>(p, s));
  }
#endif
  load_raw<S>(b, p, s, 72, 36 * chirality, hint);
  if constexpr (S::fixed) {
    const R scale = load_norm<R>(p, s);
    PLAQ_UNROLL for (int i = 0; i < 36; i++) b[i] = b[i] * scale;
  }
}

// v -> S v for one chirality's 12 reals; `kind` is one of SITE_*, blocks(b, 0) loads the block of A
// or A^-1, blocks(b, 1) that of H.
template <class R, class Blocks>
PLAQ_FN void apply_chirality(R* v, int kind, int chirality, double twist, double twist_scale, const Blocks& blocks) {
  if (kind == SITE_ONE) return;
  const R m = splat<R>(chirality == 0 ? twist : -twist);
  if (kind == SITE_TWIST) {
    const R one = splat<R>(twist_scale);
    PLAQ_UNROLL for (int i = 0; i < 6; i++) {
      const R re = v[2 * i], im = v[2 * i + 1];
      v[2 * i] = one * fnma_(m, im, re), v[2 * i + 1] = one * fma_(m, re, im);
    }
    return;
  }
  R b[36], out[12];
  blocks(b, 0);
  multiply_block(v, b, out);
  if (kind == SITE_CLOVER_TWIST)
    PLAQ_UNROLL for (int i = 0; i < 6; i++)
      out[2 * i] = fnma_(m, v[2 * i + 1], out[2 * i]), out[2 * i + 1] = fma_(m, v[2 * i], out[2 * i + 1]);
  if (kind == SITE_CLOVER_TWIST_INVERSE) {  // B - i m H
    R h[12];
    blocks(b, 1);
    multiply_block(v, b, h);
    PLAQ_UNROLL for (int i = 0; i < 6; i++)
      out[2 * i] = fma_(m, h[2 * i + 1], out[2 * i]), out[2 * i + 1] = fnma_(m, h[2 * i], out[2 * i + 1]);
  }
  PLAQ_UNROLL for (int i = 0; i < 12; i++) v[i] = out[i];
}

// v -> S v for all of a site; `parity` selects the clover plane, and H is in the planes after it.
template <class S, class R>
PLAQ_FN void apply_site(Spinor<R>& sp, int kind, const FieldView& clover, const Site& s, int parity,
                        double twist, double twist_scale) {
  PLAQ_UNROLL for (int ch = 0; ch < 2; ch++)
    apply_chirality(sp.v + 12 * ch, kind, ch, twist, twist_scale, [&](R (&b)[36], int which) {
      load_block<S>(b, plane(clover, parity + 2 * which), s, ch, stream);
    });
}

// Multiplies a hop h with coefficient f by the phase z.
template <class R> PLAQ_FN void apply_phase(HalfSpinor<R>& h, R& f, const HopArgs& a, int mu, cplx<R> z) {
  if (!(a.complex_phase() >> mu & 1)) f = f * z.re;
  else {
    PLAQ_UNROLL for (int i = 0; i < 2; i++) PLAQ_UNROLL for (int c = 0; c < 3; c++) h.c[i][c] = z * h.c[i][c];
  }
}

// The plane of a right-hand side in `in` and in fields of the sites that a launch changes. Where blocks of both
// parities are in one launch, views begin with the even sites, and each block knows its parity.
PLAQ_FN int own_plane(const HopArgs& a, int batch, int step, int parity) {
  return batch * step + (PLAQ_GPU && a.parity() == PARITY_BOTH ? parity : 0);
}
PLAQ_FN int in_plane(const HopArgs& a, int batch, int parity) { return own_plane(a, batch, a.step_in(), 1 - parity); }
// The number of the plane of a message that holds the sites of `parity`.
PLAQ_FN int message_plane(const HopArgs& a, int batch, int parity) {
  return own_plane(a, batch, a.parity() == PARITY_BOTH ? 2 : 1, parity);
}

// Projected spinors of one face in a message: 12 reals per row of lanes.
PLAQ_FN Plane halo_plane(const HaloView& h, int mu, bool forward, int rhs) {
  const int k = 2 * mu + forward;
  return {h.data[k] + rhs * h.plane_bytes[mu], (float*)(h.norm[k] + rhs * h.norm_bytes[mu]), 0};
}

// Projected spinor of the neighbour across a halo: from the message, and in lanes that are not at
// the outer face from the next piece of the same rank.
template <class S, class R>
PLAQ_RARE void load_across(HalfSpinor<R>& h, const HopArgs& a, const Site& s, Site n, const Plane& in,
                         int rhs, int mu, bool forward, R g) {
  const int bit = lane_bit(a.geom, mu), rows = face_rows(a.geom, mu);
  n.lx = s.lx ^ bit;
  if (bit) load_projected<S>(h, in, n, mu, g);
  n.o = face_index(a.geom, s, mu);
  if (n.o >= rows) n.o -= rows, n.lx = s.lx;
  R v[12];
  load<S>(v, halo_plane(a.received, mu, forward, message_plane(a, rhs, s.par)), n);
  PLAQ_UNROLL for (int i = 0; i < 6; i++) {
    cplx<R>& z = h.c[i / 3][i % 3];
    z = bit ? cplx<R>{by_lane_bit(v[2 * i], z.re, s.lx, bit, forward), by_lane_bit(v[2 * i + 1], z.im, s.lx, bit, forward)}
            : cplx<R>{v[2 * i], v[2 * i + 1]};
  }
}

// Projected spinor of the neighbour `seen`, whose lanes are ordered as in `n`, wherever it is.
template <class S, class R>
PLAQ_FN void load_neighbour(HalfSpinor<R>& h, const HopArgs& a, const Site& s, const Site& seen, const Site& n, const Plane& in,
                            int rhs, int mu, bool forward, R g, bool messages) {
  if (messages && at_halo(a.geom, s, mu, forward)) {
    HalfSpinor<R> across;  // what a function takes by reference stays in memory
    load_across<S>(across, a, s, seen, in, rhs, mu, forward, g);
    h = across;
  } else {
    load_projected<S>(h, in, n, mu, g);
  }
}

#if PLAQ_GPU
// acc += c times one direction's term.
template <class S, int RECON, class R>
PLAQ_FN void hop_direction(Spinor<R>& acc, const HopArgs& a, const Site& s, const Plane& in, int rhs,
                           int mu, bool forward, double c, bool messages) {
  const Site n = neighbour(a.geom, s, mu, forward);
  const Site from = forward ? s : n;
  const Plane gauge = plane(a.gauge, from.par);
  Su3<R> u;
  load_link<S, RECON>(u, gauge, from, mu, paced);
  const R g = splat<R>(forward != (a.dagger() != 0) ? 1 : -1);
  HalfSpinor<R> h, r;
  load_neighbour<S>(h, a, s, n, n, in, rhs, mu, forward, g, messages);
  multiply(r, u, h, !forward);
  R f = splat<R>(c);
  if (mu == 3 && a.bounds.kind()) f = f * neighbour_inside<R>(a.bounds, a.geom, s, forward);
  const bool phase = has_phase(a, s, mu, forward);
  if (phase) apply_phase(r, f, a, mu, boundary_phase<R>(a, s, mu, forward));
  unproject(acc, r, mu, g * f, f);
}
#else
// Data of hops that few sites need: lanes that change places, a boundary phase, a neighbour where quarks vanish
// (`edge`), a coefficient c. They share a branch whose condition the compiler cannot derive: otherwise it would make a
// copy of the following code for each case.
template <class R> struct RareCases {
  int any, swap, phase, edge;
  PLAQ_FN RareCases(const HopArgs& a, const Site& s, const Site& n, int mu, bool forward, double c) {
    swap = n.lx & (lanes<R>::W - 1);
    phase = has_phase(a, s, mu, forward);
    edge = mu == 3 && some_neighbours_vanish(a.bounds, a.geom, s, forward);
    any = swap | phase | edge | (c != 1);
    asm("" : "+r"(any));
  }
  PLAQ_FN void apply(HalfSpinor<R>& h, const HopArgs& a, const Site& s, int mu, bool forward, double c) const {
    if (!__builtin_expect(any, 0)) return;
    if (swap) PLAQ_UNROLL for (int i = 0; i < 6; i++) {
      cplx<R>& z = h.c[i / 3][i % 3];
      z = {lane_xor(z.re, swap), lane_xor(z.im, swap)};
    }
    if (!phase && !edge && c == 1) return;
    R f = splat<R>(c);
    if (edge) f = f * neighbour_inside<R>(a.bounds, a.geom, s, forward);
    if (phase) apply_phase(h, f, a, mu, boundary_phase<R>(a, s, mu, forward));
    PLAQ_UNROLL for (int i = 0; i < 6; i++) h.c[i / 3][i % 3] = f * h.c[i / 3][i % 3];
  }
};

// A link of which rows or columns are read when they are needed, so that few registers hold it; if its storage has no
// rows, all of it is read at once.
template <class S, int RECON, class R> struct LinkLines {
  static constexpr int N = Recon<RECON>::reals;
  static constexpr bool rows = RECON == R18 || RECON == R12;
  const Plane& gauge;
  const Site& at;
  const int mu;
  Su3<R> u;
  PLAQ_FN LinkLines(const Plane& p, const Site& from, int direction) : gauge(p), at(from), mu(direction) {
    if constexpr (!rows) load_link<S, RECON>(u, gauge, at, mu, paced);
  }
  PLAQ_FN cplx<R> stored(int row, int column) const {
    R v[2];
    load_part<S>(v, gauge, link_site(at), 4 * N, mu * N + 2 * (3 * row + column));
    return {v[0], v[1]};
  }
  PLAQ_FN cplx<R> entry(int row, int column) const {
    if constexpr (!rows) return u.e[row][column];
    if (row < N / 6) return stored(row, column);
    const int k = (column + 1) % 3, l = (column + 2) % 3;
    return msub_conj_both(conj(stored(0, k) * stored(1, l)), stored(0, l), stored(1, k));
  }
};

// acc += z, or acc = z where it is the FIRST: component c of the upper spin s of a projected spinor, and g times the
// lower spin that belongs to it (see unproject).
template <bool FIRST, class R> PLAQ_FN void add_component(Spinor<R>& acc, int s, int c, cplx<R> z, int mu, R g) {
  R* up = acc.v + (s * 3 + c) * 2;
  R* down = acc.v + ((mu < 2 ? 3 - s : 2 + s) * 3 + c) * 2;
  const bool minus = mu == 3 || (mu != 0 && s == 1);
  cplx<R> w = mu % 2 ? z : cplx<R>{-z.im, z.re};
  if (minus) w = {-w.re, -w.im};
  up[0] = FIRST ? z.re : up[0] + z.re, up[1] = FIRST ? z.im : up[1] + z.im;
  down[0] = FIRST ? g * w.re : add_signed(down[0], g, w.re), down[1] = FIRST ? g * w.im : add_signed(down[1], g, w.im);
}

// Adds c times the term of one direction to acc, or sets acc to it if it is the FIRST.
template <bool FIRST, class S, int RECON, class R>
PLAQ_FN void hop_direction(Spinor<R>& acc, const HopArgs& a, const Site& s, const Plane& in, int rhs,
                           int mu, bool forward, R g, double c, bool messages) {
  const Site seen = neighbour(a.geom, s, mu, forward);
  const RareCases<R> rare(a, s, seen, mu, forward, c);
  Site n = seen;  // with lanes in their places
  n.lx &= ~(lanes<R>::W - 1);
  Site from = forward ? s : n;
  from.lx &= ~(lanes<R>::W - 1);  // It is a multiple of W; the compiler forgets that where s is passed on.
  const Plane gauge = plane(a.gauge, from.par);
  const LinkLines<S, RECON, R> u(gauge, from, mu);
  HalfSpinor<R> h, r;
  load_neighbour<S>(h, a, s, seen, n, in, rhs, mu, forward, g, messages);
  if (forward) rare.apply(h, a, s, mu, forward, c);
  constexpr int N = Recon<RECON>::reals;
  NextSite<S, R, N> next_link(gauge, link_site(from), 4 * N, mu * N);
  NextSite<S, R, 24> next_spinor(in, n, 24, 0);
  PLAQ_UNROLL for (int i = 0; i < 3; i++) {
    cplx<R> line[3];  // row i of U or column i, whose conjugate is row i of U^dagger
    PLAQ_UNROLL for (int j = 0; j < 3; j++) line[j] = forward ? u.entry(i, j) : u.entry(j, i);
    PLAQ_UNROLL for (int k = 0; k < 2; k++) {
      cplx<R> z;
      if (forward) z = line[0] * h.c[k][0], z = madd(z, line[1], h.c[k][1]), z = madd(z, line[2], h.c[k][2]);
      else z = mul_conj(line[0], h.c[k][0]), z = madd_conj(z, line[1], h.c[k][1]), z = madd_conj(z, line[2], h.c[k][2]);
      next_link.fetch(2 * i + k, 6, z.re);
      if (mu >= 2) next_spinor.fetch(2 * i + k, 6, z.re);  // x and y: read for a site not long ago
      if (forward) add_component<FIRST>(acc, k, i, z, mu, g);
      else r.c[k][i] = z;
    }
  }
  if (forward) return;
  rare.apply(r, a, s, mu, forward, c);
  PLAQ_UNROLL for (int i = 0; i < 6; i++) add_component<FIRST>(acc, i / 3, i % 3, r.c[i / 3][i % 3], mu, g);
}
#endif

// Whether the site term is the same for the hop and for y, so that it can be applied to their sum.
template <class Args> PLAQ_FN constexpr bool site_of_sum(const Args& a) { return a.with_y() && a.site_hop() != SITE_ONE && a.site_y() == a.site_hop(); }
PLAQ_FN Site site_in_region(const HopArgs& a, int o, int lx) {
  if (a.region() == REGION_INNER) return inner_site(a.geom, o, a.parity(), lx);
  if (a.region() == REGION_OUTER) return outer_site(a.geom, o, a.parity(), lx);
  return site_at(a.geom, o, a.parity(), lx);
}

#if PLAQ_GPU
// Tests of which sites a launch covers, by its region and the division of the lattice over ranks.
PLAQ_FN constexpr bool some_outer(const HopArgs& a) { return a.geom.halos() && a.region() != REGION_INNER; }
PLAQ_FN constexpr bool some_inner(const HopArgs& a) { return !a.geom.halos() || a.region() != REGION_OUTER; }

// The hop of several right-hand sides: two lanes of a warp share a site, one takes the four forward
// hops, the other the backward ones. They differ in data only, the sign of the projectors and U or
// U^dagger. Each keeps its links over all right-hand sides and finishes one chirality. Spinors are
// copied asynchronously into the thread's own slots of shared memory, two hops ahead.
template <class S, int RECON> struct HopBlock {
  typedef typename S::C R;
  typedef typename S::T T;
  static constexpr int sites = PLAQ_BLOCK / 2, V = chunk<T>(24), chunks = 24 / V, VB = chunk<R>(36);
  static constexpr bool clover = HopArgs{}.site_hop() >= SITE_CLOVER || HopArgs{}.site_y() >= SITE_CLOVER;

  // Third rows of the links are in shared memory to save registers, or are computed again if a clover block is there.
  static constexpr bool keep_third = RECON == R18 || S::fixed || !clover;

  // Shared memory, at most 48 KB, has `stages` spinors of each thread, then the third rows and the clover block
  // (integers converted to floats), if these are kept.
  static constexpr int max_shared_bytes = 48 * 1024, slot_bytes = PLAQ_BLOCK * (16 * chunks + (S::fixed ? 4 : 0));
  static constexpr int third_bytes = keep_third ? PLAQ_BLOCK * 24 * sizeof(R) : 0;
  static constexpr int block_bytes = clover ? PLAQ_BLOCK * 36 * sizeof(R) : 0;
  static constexpr int stages = 2 * slot_bytes + third_bytes <= max_shared_bytes ? 2 : 1;
  static constexpr int block_at = stages * slot_bytes + third_bytes;
  static constexpr bool keep_block = clover && block_at + block_bytes <= max_shared_bytes;
  struct SharedMemory {
    char* shared;
    PLAQ_FN uint4& slot(int k, int c) const { return ((uint4*)shared)[(k * chunks + c) * PLAQ_BLOCK + threadIdx.x]; }
    PLAQ_FN float& norm(int k) const { return ((float*)(shared + stages * PLAQ_BLOCK * 16 * chunks))[k * PLAQ_BLOCK + threadIdx.x]; }
    PLAQ_FN cplx<R>& third(int i) const { return ((cplx<R>*)(shared + stages * slot_bytes))[i * PLAQ_BLOCK + threadIdx.x]; }
    PLAQ_FN uint4& block(int c) const { return ((uint4*)(shared + block_at))[c * PLAQ_BLOCK + threadIdx.x]; }
  };

  // The first site of a block. Sites of a block are consecutive; blocks of inner sites fill pencils with a square
  // cross-section in (y, z), t slowest, so that what a block shares with its neighbours is still in the cache.
  static PLAQ_FN int first_site(u32 b) {
    constexpr int parities = HopArgs{}.parity() == PARITY_BOTH ? 2 : 1;
    constexpr int bytes = HopArgs{}.nrhs() * 24 * (int)sizeof(T) * parities;
    constexpr Pencils pencils = Pencils::square(InnerExtents::of(Geom{}, Geom{}.halos()), sites, bytes);
    return pencils.first_site(b);
  }

  // The neighbour's site in direction mu, or `across` plus its position in a message.
  static constexpr u32 across = 1u << 31;
  static constexpr int VH = chunk<T>(12), chunks_across = 12 / VH;
  typedef typename word<sizeof(T) * VH>::type HalfWord;
  template <bool OUTER> static PLAQ_FN u32 place(const HopArgs& a, const Site& s, int mu, bool forward) {
    if (OUTER && at_halo(a.geom, s, mu, forward)) return across | face_index(a.geom, s, mu);
    return neighbour(a.geom, s, mu, forward).o;
  }

  // A predicate is shorter than a branch, but takes registers.
  static constexpr bool predicated = S::fixed && HopArgs{}.geom.halos() == 0;
  // Starts the copy of a neighbour into slot k, if it is wanted.
  template <class Word, int N> static PLAQ_FN void fetch_plane(const SharedMemory& memory, const Plane& p, u32 o, int k, bool wanted) {
    const Word* from = (const Word*)p.data + (o + (o & ~31u) * (N - 1));  // o / 32 * 32 N + o % 32
    PLAQ_UNROLL for (int c = 0; c < N; c++)
      async_copy<sizeof(Word)>(&memory.slot(0, 0), (k * chunks + c) * PLAQ_BLOCK * 16, from + 32 * c, wanted);
    if constexpr (S::fixed) async_copy<4>(&memory.norm(0), k * PLAQ_BLOCK * 4, p.norm + o, wanted);
  }
  // `in`: the plane of this right-hand side.
  template <bool OUTER>
  static PLAQ_FN void fetch(const SharedMemory& memory, const HopArgs& a, const Plane& in, int parity, u32 at, int k, int mu,
                            bool forward, int rhs, bool wanted) {
    if (OUTER && has_halo(a.geom, mu) && at & across) {
      const Plane p = halo_plane(a.received, mu, forward, message_plane(a, rhs, parity));
      return fetch_plane<HalfWord, chunks_across>(memory, p, at & ~across, k, wanted);
    }
    fetch_plane<uint4, chunks>(memory, in, at, k, wanted);
  }
  static PLAQ_FN void copy_slot(HalfSpinor<R>& h, const SharedMemory& memory, int k) {
    R v[12];
    PLAQ_UNROLL for (int c = 0; c < chunks_across; c++) {
      bits<T, VH> b;
      b.w = *(const HalfWord*)&memory.slot(k, c);
      unpack<S>(v, b, c);
    }
    PLAQ_UNROLL for (int i = 0; i < 12; i++) {
      const R x = S::fixed ? (v[i] - (R)fixed_bias) * (R)memory.norm(k) : v[i];
      if (i % 2) h.c[i / 6][i / 2 % 3].im = x;
      else h.c[i / 6][i / 2 % 3].re = x;
    }
  }
  static PLAQ_FN void project_slot(HalfSpinor<R>& h, const SharedMemory& memory, int k, int mu, R g) {
    Spinor<R> p;
    PLAQ_UNROLL for (int c = 0; c < chunks; c++) {
      bits<T, V> b;
      b.w = memory.slot(k, c);
      unpack<S>(p.v, b, c);
    }
    if constexpr (S::fixed) project(h, p, mu, g, BiasedSum(memory.norm(k)));
    else project(h, p, mu, g, PlainSum());
  }

  // v += c times one chirality of a spinor.
  static PLAQ_FN void add_half(R (&v)[12], double c, const Plane& p, const Site& s, int half) {
    R w[12];
    load_half<S>(w, p, s, half);
    PLAQ_UNROLL for (int i = 0; i < 12; i++) v[i] = fma_((R)c, w[i], v[i]);
  }

  // Computes the hop on block b of the n inner, or outer, sites of a parity.
  static PLAQ_FN void run(const HopArgs& a, int parity, bool outer, u32 b, int n) {
    __shared__ __align__(16) char shared[block_at + (keep_block ? block_bytes : 0)];
    const SharedMemory memory{shared};
    if constexpr (some_outer(HopArgs{})) {
      if (outer) return sites_from<true>(a, memory, parity, b * sites, n);
    }
    if constexpr (some_inner(HopArgs{})) sites_from<false>(a, memory, parity, first_site(b), n);
  }
  template <bool OUTER> static PLAQ_FN void sites_from(const HopArgs& a, const SharedMemory& memory, int parity, int first, int n) {
    const int i = threadIdx.x, half = i >> 4 & 1, o = first + i / 32 * 16 + i % 16;
    const bool forward = half == 0, inside = o < n;
    const Site s = OUTER ? outer_site(a.geom, inside ? o : 0, parity, 0) : inner_site(a.geom, inside ? o : 0, parity, 0);
    u32 at[4];
    PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) at[mu] = place<OUTER>(a, s, mu, forward);
    Plane in = plane(a.inp, in_plane(a, 0, parity));
    if constexpr (keep_block && !S::fixed) {
      const T* from = site_address<VB>((const T*)plane(a.clover, parity).data, s.o, 72, 36 * half);
      PLAQ_UNROLL for (int c = 0; c < 36 / VB; c++) async_copy<16>(&memory.block(0), c * PLAQ_BLOCK * 16, from + c * 32 * VB, true);
    }
    PLAQ_UNROLL for (int k = 0; k < stages; k++) fetch<OUTER>(memory, a, in, parity, at[k], k, k, forward, 0, true), async_commit();
    if constexpr (keep_block && S::fixed) {
      R b[36];
      load_block<S>(b, plane(a.clover, parity), s, half, stream);
      PLAQ_UNROLL for (int c = 0; c < 36 / VB; c++) {
        bits<R, VB> w;
        PLAQ_UNROLL for (int k = 0; k < VB; k++) w.t[k] = b[c * VB + k];
        memory.block(c) = w.w;
      }
    }

    // The first two rows of U or U^dagger; the third is stored separately or computed again.
    cplx<R> rows[4][6], phase[4];
    PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) {
      const Site from = forward ? s : neighbour(a.geom, s, mu, false);
      Su3<R> u;
      load_link<S, RECON>(u, plane(a.gauge, from.par), from, mu, stream);
      const Su3<R> d = adj(u);
      phase[mu] = {1, 0};
      if (has_phase(a, s, mu, forward)) phase[mu] = boundary_phase<R>(a, s, mu, forward);
      PLAQ_UNROLL for (int i = 0; i < 9; i++) {
        const cplx<R> e = forward ? u.e[i / 3][i % 3] : d.e[i / 3][i % 3];
        if (i < 6) rows[mu][i] = e;
        else if (keep_third) memory.third(3 * mu + i - 6) = e;
      }
    }
    const auto blocks = [&](R (&b)[36], int which) {
      if (!keep_block || which) return load_block<S>(b, plane(a.clover, parity + 2 * which), s, half, keep);
      PLAQ_UNROLL for (int c = 0; c < 36 / VB; c++) {
        bits<R, VB> w;
        w.w = memory.block(c);
        PLAQ_UNROLL for (int k = 0; k < VB; k++) b[c * VB + k] = w.t[k];
      }
    };

    const R g = forward == (a.dagger() == 0) ? 1 : -1;
    const R seen = HopArgs{}.bounds.kind() ? neighbour_inside<R>(a.bounds, a.geom, s, forward) : 1;
    _Pragma("unroll 1") for (int rhs = 0; rhs < a.nrhs(); rhs++) {
      const Plane after = later_plane(a.inp, in, a.step_in());
      Spinor<R> acc;
      PLAQ_UNROLL for (int i = 0; i < 24; i++) acc.v[i] = 0;
      PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) {
        HalfSpinor<R> h, r;
        async_wait<stages - 1>();
        if (OUTER && has_halo(a.geom, mu) && at[mu] & across) copy_slot(h, memory, mu % stages);
        else project_slot(h, memory, mu % stages, mu, g);
        const int next = (mu + stages) % 4;
        const bool later = next < mu;  // of the next right-hand side
        const bool wanted = !later || rhs + 1 < a.nrhs();
        if (predicated || wanted) fetch<OUTER>(memory, a, later ? after : in, parity, at[next], mu % stages, next, forward, rhs + later, wanted);
        async_commit();
        Su3<R> u;
        PLAQ_UNROLL for (int i = 0; i < 6; i++) u.e[i / 3][i % 3] = rows[mu][i];
        if constexpr (keep_third) {
          PLAQ_UNROLL for (int i = 0; i < 3; i++) u.e[2][i] = memory.third(3 * mu + i);
        } else {
          complete_rows(u);
        }
        multiply(r, u, h, false);
        R f = (R)a.coef[mu];
        if (mu == 3 && HopArgs{}.bounds.kind()) f = f * seen;
        if (a.phase_mask() >> mu & 1) apply_phase(r, f, a, mu, phase[mu]);
        unproject(acc, r, mu, f, f);
      }
      R v[12];
      PLAQ_UNROLL for (int i = 0; i < 12; i++) {
        const R up = acc.v[i], down = g * acc.v[12 + i];
        v[i] = (forward ? up : down) + __shfl_xor_sync(0xffffffffu, forward ? down : up, 16);
      }
      constexpr HopArgs fixed{};
      constexpr bool of_sum = site_of_sum(fixed);
      if constexpr (fixed.site_hop() != SITE_ONE && !of_sum) apply_chirality(v, a.site_hop(), half, a.twist, a.twist_scale, blocks);
      // Addresses kept from one right-hand side to the next would take registers that messages need.
      Site w = s;
      if ((S::fixed && (OUTER || (a.geom.halos() && a.with_own()))) || (OUTER && of_sum)) asm volatile("" : "+r"(w.o));
      if constexpr (fixed.with_y()) {
        R y[12];
        load_half<S>(y, plane(a.y, own_plane(a, rhs, a.step_y(), parity)), w, half);
        if constexpr (fixed.site_y() != SITE_ONE && !of_sum) apply_chirality(y, a.site_y(), half, a.twist, a.twist_scale, blocks);
        PLAQ_UNROLL for (int i = 0; i < 12; i++) v[i] = fma_((R)a.coef_y, y[i], v[i]);
      }
      if constexpr (of_sum) apply_chirality(v, a.site_hop(), half, a.twist, a.twist_scale, blocks);
      if constexpr (fixed.with_z()) add_half(v, a.coef_z, plane(a.z, own_plane(a, rhs, a.step_z(), parity)), w, half);
      if constexpr (fixed.with_own()) add_half(v, a.coef_own, plane(a.out, own_plane(a, rhs, a.step_out(), parity)), w, half);
      if constexpr (fixed.bounds.kind() != 0) vanish(v, a.bounds, a.geom, s);
      store_half<S>(v, plane(a.out, own_plane(a, rhs, a.step_out(), parity)), w, half, inside);
      in = after;
    }
  }
};
#endif

// Packs the projected spinors on all faces of `in` for the neighbouring ranks, and signals them at the end; rows are
// those of the faces, one direction after the other, lower face first.
template <int W, class S> struct HopPack {
  typedef real<typename S::C, W> R;
  static PLAQ_FN int tile() { return 1 << 30; }  // nothing is read again for the next right-hand side
  // Projects face site f for lanes lx, for sites of `parity`.
  static PLAQ_FN void project_face(HalfSpinor<R>& h, const HopArgs& a, int f, int mu, bool upper, int lx, int batch,
                                   int parity) {
    const Site s = face_site(a.geom, f, mu, upper ? extent(a.geom, mu) - 1 : 0, 1 - parity, lx);
    // For the rank behind the lower face these sites are forward neighbours.
    const R g = splat<R>(upper == (a.dagger() != 0) ? 1 : -1);
    load_projected<S>(h, plane(a.inp, in_plane(a, batch, parity)), s, mu, g);
  }
#if !PLAQ_GPU
  template <Granted> static PLAQ_FN void site(const HopArgs& a, int o, int lx, int batch) {
    project_row(a, o, lx, batch, a.parity());
  }
#endif
  static PLAQ_FN void project_row(const HopArgs& a, int o, int lx, int batch, int parity) {
    PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) {
      if (!has_halo(a.geom, mu)) continue;
      const int rows = face_rows(a.geom, mu), bit = lane_bit(a.geom, mu);
      if (o < 2 * rows) {
        const bool upper = o >= rows;
        Site row;
        row.o = upper ? o - rows : o, row.lx = lx;
        HalfSpinor<R> h, second;
        project_face(h, a, row.o, mu, upper, lx, batch, parity);
        if (bit) project_face(second, a, (row.o + rows) % face_sites(a.geom, mu), mu, upper, lx ^ bit, batch, parity);
        R v[12];
        PLAQ_UNROLL for (int i = 0; i < 6; i++) {
          const cplx<R> z = h.c[i / 3][i % 3], w = second.c[i / 3][i % 3];
          v[2 * i] = bit ? by_lane_bit(z.re, w.re, lx, bit, upper) : z.re;
          v[2 * i + 1] = bit ? by_lane_bit(z.im, w.im, lx, bit, upper) : z.im;
        }
        store<S>(v, halo_plane(a.sent, mu, upper, message_plane(a, batch, parity)), row);
        return;
      }
      o -= 2 * rows;
    }
  }
#if PLAQ_GPU
  static PLAQ_FN u32 work(const HopArgs& a) {
    u32 rows = 0;
    PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) rows += has_halo(a.geom, mu) ? 2 * face_rows(a.geom, mu) : 0;
    return rows * a.nrhs() * (a.parity() == PARITY_BOTH ? 2 : 1);
  }
  // Number of blocks that pack beside inner sites.
  static PLAQ_FN u32 packing_blocks(const HopArgs& a) {
    const u32 all = work(a);
    return ((all < PACK_THREADS ? all : PACK_THREADS) + PLAQ_BLOCK - 1) / PLAQ_BLOCK;
  }
  static PLAQ_FN void run(const HopArgs& a, u32 blocks) {
    constexpr bool both = HopArgs{}.parity() == PARITY_BOTH;
    const u32 all = work(a), rows = all / a.nrhs() / (both ? 2 : 1);
    for (u32 i = blockIdx.x * PLAQ_BLOCK + threadIdx.x; i < all; i += blocks * PLAQ_BLOCK) {
      if (both) project_row(a, i % rows, 0, i / rows / 2, i / rows % 2);
      else project_row(a, i % rows, 0, i / rows, a.parity());
    }
    signal_when_all_wrote(a.sent_flags, blocks);
  }
  static PLAQ_FN void block(const HopArgs& a, int) { run(a, gridDim.x); }
#endif
};

template <int W, class S, int RECON> struct Hop {
  typedef real<typename S::C, W> R;
#if PLAQ_GPU
  // `messages` says whether a neighbour may be on another rank.
  static PLAQ_FN void apply(const HopArgs& a, const Site& s, int batch, bool messages) {
    const Plane in = plane(a.inp, in_plane(a, batch, s.par));
    Spinor<R> acc;
    PLAQ_UNROLL for (int i = 0; i < 24; i++) acc.v[i] = splat<R>(0);
    PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) {
      const double c = a.coef[mu];
      hop_direction<S, RECON>(acc, a, s, in, batch, mu, true, c, messages);
      hop_direction<S, RECON>(acc, a, s, in, batch, mu, false, c, messages);
    }
    finish(acc, a, s, batch);
  }
#else
  template <Granted GRANTED> static PLAQ_FN void site(const HopArgs& a, int o, int lx, int batch) {
    const Site s = site_in_region(a, o, lx);
    const Plane in = plane(a.inp, in_plane(a, batch, s.par));
    const bool dagger = GRANTED == NOTHING ? a.dagger() != 0 : GRANTED == PLAIN_DAGGER;
    const bool messages = a.region() != REGION_INNER;
    const R one = splat<R>(1), forth = dagger ? -one : one, back = dagger ? one : -one;
    Spinor<R> acc;
    PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) {
      const double c = one_coefficient(a) ? 1 : a.coef[mu];
      if (mu == 0) hop_direction<true, S, RECON>(acc, a, s, in, batch, mu, true, forth, c, messages);
      else hop_direction<false, S, RECON>(acc, a, s, in, batch, mu, true, forth, c, messages);
      hop_direction<false, S, RECON>(acc, a, s, in, batch, mu, false, back, c, messages);
    }
    const bool more = some_vanish(a.bounds, a.geom, s) || (one_coefficient(a) && a.coef[0] != 1) || a.site_hop() != SITE_ONE || a.with_y() || a.with_z() || a.with_own();
    if (!__builtin_expect(more, 0)) return put(acc, a, s, plane(a.out, own_plane(a, batch, a.step_out(), s.par)));
    Spinor<R> hop = acc;  // the sum itself stays in registers
    finish(hop, a, s, batch);
  }
#endif
  // Whether all directions share their coefficient; on CPUs it then multiplies the sum.
  static PLAQ_FN bool one_coefficient(const HopArgs& a) {
    return !PLAQ_GPU && a.coef[0] == a.coef[1] && a.coef[0] == a.coef[2] && a.coef[0] == a.coef[3];
  }
  // Applies the site operator to the sum of the directions, adds the other terms and stores the
  // result.
  static PLAQ_RARE void finish(Spinor<R>& acc, const HopArgs& a, const Site& s, int batch) {
    if (one_coefficient(a) && a.coef[0] != 1)
      PLAQ_UNROLL for (int i = 0; i < 24; i++) acc.v[i] = splat<R>(a.coef[0]) * acc.v[i];
    PLAQ_FIXED(HopArgs, fixed, a);
    PLAQ_IF (site_of_sum(fixed)) add_spinor(acc, a.coef_y, plane(a.y, own_plane(a, batch, a.step_y(), s.par)), s);
    PLAQ_IF (fixed.site_hop() != SITE_ONE) apply_site<S>(acc, a.site_hop(), a.clover, s, s.par, a.twist, a.twist_scale);
    PLAQ_IF (fixed.with_y() && !site_of_sum(fixed)) {
      Spinor<R> y;
      load<S>(y.v, plane(a.y, own_plane(a, batch, a.step_y(), s.par)), s);
      PLAQ_IF (fixed.site_y() != SITE_ONE) apply_site<S>(y, a.site_y(), a.clover, s, s.par, a.twist, a.twist_scale);
      const R c = splat<R>(a.coef_y);
      PLAQ_UNROLL for (int i = 0; i < 24; i++) acc.v[i] = fma_(c, y.v[i], acc.v[i]);
    }
    const Plane out = plane(a.out, own_plane(a, batch, a.step_out(), s.par));
    PLAQ_IF (fixed.with_z()) add_spinor(acc, a.coef_z, plane(a.z, own_plane(a, batch, a.step_z(), s.par)), s);
    PLAQ_IF (fixed.with_own()) add_spinor(acc, a.coef_own, out, s);
    PLAQ_IF (fixed.bounds.kind()) vanish(acc.v, a.bounds, a.geom, s);
    put(acc, a, s, out);
  }
  static PLAQ_FN void put(const Spinor<R>& acc, const HopArgs& a, const Site& s, const Plane& out) {
    // The output was read before and is in the caches: storing past them would evict it.
    store<S>(acc.v, out, s, exceeds_caches(a) && !a.with_own() ? stream : keep);
  }
  // acc += c times a spinor.
  static PLAQ_FN void add_spinor(Spinor<R>& acc, double coef, const Plane& p, const Site& s) {
    R v[24];
    load<S>(v, p, s);
    const R c = splat<R>(coef);
    PLAQ_UNROLL for (int i = 0; i < 24; i++) acc.v[i] = fma_(c, v[i], acc.v[i]);
  }
  // Bytes of links and spinors that the hop moves per site.
  static PLAQ_FN i64 site_bytes(const HopArgs& a) {
    return (8 * Recon<RECON>::reals + 48 * a.nrhs()) * sizeof(typename S::T);
  }
  // Whether the hops of all ranks on this machine move more data than the last-level cache holds, so that the result
  // would not stay in it anyway.
  static PLAQ_FN bool exceeds_caches(const HopArgs& a) {
    return (i64)a.sharers * a.out.volume() * PLAQ_LANES * site_bytes(a) > 32 << 20;
  }
#if !PLAQ_GPU
  // Number of outer sites that several right-hand sides process together: 3 MB of links, in 16 bits 512 KB.
  static PLAQ_FN int tile() {
    return (S::fixed ? 512 << 10 : 3 << 20) / (8 * Recon<RECON>::reals * (int)sizeof(typename S::T) * PLAQ_LANES);
  }
#else
  // Spinors that inner and outer sites of a time-slice need are read once where both kinds of sites are processed at
  // the same time. This is faster if the first quarter of the launch is long enough for the messages to arrive, 10 us
  // at 4 TB/s, and if the memory is what limits the hop, which it is not in 16 bit.
  static constexpr i64 min_inner_bytes = 160 << 20;  // bytes of all inner sites
  static PLAQ_FN BlockOrder order(const HopArgs& a, u32 sites) {
    const bool one = a.nrhs() == 1 && a.parity() != PARITY_BOTH;
    const bool beside = one && !S::fixed && inner_sites(a.geom) * site_bytes(a) >= min_inner_bytes;
    return beside ? BlockOrder::by_slices(a.geom, sites) : BlockOrder::at_end(a.geom, sites);
  }
  // Order of blocks for one right-hand side where both parities are in one launch. Each link and spinor is used again
  // two slices later at the latest; two slices of a slab, with all that is read and written, should fit the cache.
  static constexpr int slab_slice = 9 << 20;
  static PLAQ_FN int first_site(u32 b) {
    constexpr InnerExtents inner = InnerExtents::of(Geom{}, Geom{}.halos());
    constexpr int pair = 2 * (4 * Recon<RECON>::reals + 84) * (int)sizeof(typename S::T);
    constexpr Pencils slabs = Pencils::slabs(inner, PLAQ_BLOCK, slab_slice / (pair * inner.row));
    return slabs.first_site(b);
  }
  // In a launch that covers all regions packing comes first, so that it is under way on every GPU
  // before any of them waits; inner sites hide packing and the transport of messages.
  static PLAQ_FN void block(const HopArgs& a, int n) {
    constexpr HopArgs fixed{};
    constexpr bool halos = fixed.geom.halos() != 0, several = fixed.nrhs() > 1, both = fixed.parity() == PARITY_BOTH;
    constexpr bool all = halos && fixed.region() == REGION_ALL;
    if (!halos) allow_next_launch();
    u32 b = blockIdx.x, sites = several ? PLAQ_BLOCK / 2 : PLAQ_BLOCK;
    bool outer = halos && fixed.region() == REGION_OUTER;
    int parity = a.parity();
    if constexpr (all) {
      const u32 packing = HopPack<1, S>::packing_blocks(a);
      if (b < packing) return HopPack<1, S>::run(a, packing);
      b -= packing;
    }
    // Even and odd blocks at the same positions are neighbours.
    if (both) parity = b & 1, b /= 2, n = volume(a.geom);
    if constexpr (all) {
      const BlockOrder::Block block = order(a, sites).at(b);
      outer = block.outer, b = block.number, n = inner_sites(a.geom);
      if (outer) n = volume(a.geom) - n, await_messages(a.received_flags);
    }
    if (both && b * sites >= (u32)n) return;  // the launch has a few too many
    if constexpr (several) {
      HopBlock<S, RECON>::run(a, parity, outer, b, n);
    } else {
      const int o = (both && !outer ? first_site(b) : b * sites) + threadIdx.x;
      if (o >= n) return;
      if constexpr (some_outer(fixed)) {
        if (outer) return apply(a, outer_site(a.geom, o, parity, 0), 0, true);
      }
      if constexpr (some_inner(fixed)) apply(a, inner_site(a.geom, o, parity, 0), 0, false);
    }
  }
#endif
};

template <int W, class S> struct SiteOp {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const SiteOpArgs& a, int o, int lx, int batch) {
    const Site s = site_at(a.geom, o, a.parity(), lx);
    Spinor<R> v;
    load<S>(v.v, plane(a.inp, batch * a.step_in()), s);
    PLAQ_FIXED(SiteOpArgs, fixed, a);
    PLAQ_IF (fixed.site() == SITE_GAMMA5) {
      PLAQ_UNROLL for (int i = 12; i < 24; i++) v.v[i] = -v.v[i];
    } else PLAQ_IF (fixed.site() != SITE_ONE) {
      apply_site<S>(v, a.site(), a.clover, s, a.parity(), a.twist, a.twist_scale);
    }
    const R c = splat<R>(a.coef);
    PLAQ_UNROLL for (int i = 0; i < 24; i++) v.v[i] = c * v.v[i];
    store<S>(v.v, plane(a.out, batch * a.step_out()), s);
  }
};

}  // namespace PLAQ_NS
