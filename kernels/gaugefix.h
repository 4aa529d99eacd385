// Gauge fixing by local updates (Schroeck and Vogt, Comput. Phys. Commun. 184 (2013) 1907: "Eq." and "Fig." in this
// file are theirs). Links U are read only; a sweep changes the transformation g(x), one matrix per site, of the
// transformed links U^g_mu(x) = g(x) U_mu(x) g(x+mu)^dagger, and maximises for
//   condition GAUGE_TRACE:   sum Re tr U^g (Landau gauge; Coulomb gauge leaves out one direction)
//             GAUGE_ABELIAN: sum |U^g_ii|^2 (maximally Abelian gauge)
//             GAUGE_PHASES:  sum Re tr U^g by diagonal g, which keep the maximally Abelian gauge
#pragma once
#include "block_order.h"
#include "border.h"
#include "columns.h"
#include "subgroup.h"
#include "sums.h"

namespace PLAQ_NS {

// Storage of the transformation for a storage of links.
template <int STORAGE> constexpr int transform_storage = STORAGE == SU2 ? SU2 : R12;

template <class S, int G, class M> PLAQ_FN void load_matrix(M& g, const FieldView& f, const Site& s, Hint hint = keep) {
  load_link<S, G>(g, plane(f, s.par), s, 0, hint, 1);
}
template <class S, int G, class M> PLAQ_FN void store_matrix(const M& g, const FieldView& f, const Site& s) {
  store_link<S, G>(g, plane(f, s.par), s, 0, 1);
}

// The first two rows of the product a b of matrices of the group, from which the third row follows more cheaply.
template <class R> PLAQ_FN void two_rows(cplx<R> (&c)[2][3], const Su3<R>& a, const Su3<R>& b) {
  PLAQ_UNROLL for (int i = 0; i < 2; i++) PLAQ_UNROLL for (int j = 0; j < 3; j++) {
    const cplx<R> s = madd(a.e[i][0] * b.e[0][j], a.e[i][1], b.e[1][j]);
    c[i][j] = madd(s, a.e[i][2], b.e[2][j]);
  }
}
template <class R> PLAQ_FN Su3<R> group_product(const Su3<R>& a, const Su3<R>& b) {
  cplx<R> rows[2][3];
  two_rows(rows, a, b);
  Su3<R> c;
  PLAQ_UNROLL for (int j = 0; j < 3; j++) c.e[0][j] = rows[0][j], c.e[1][j] = rows[1][j];
  complete_rows(c);
  return c;
}
template <class R> PLAQ_FN Su2<R> group_product(const Su2<R>& a, const Su2<R>& b) { return a * b; }

// A squared length below this is rounding of numbers of order 1; its third power does not underflow.
template <class R> constexpr double nothing = wide<R> ? 1e-30 : 1e-12;

// The unit vector of q = (q0, q1, q2, q3), which may have any length, to the power omega to first order (Fig. A.11),
// computed as n q0 and m q_i without a division.
template <class R> PLAQ_FN Su2<R> overrelaxed(const Su2<R>& q, R omega) {
  const R v2 = fma_(q.a[3], q.a[3], fma_(q.a[1], q.a[1], q.a[2] * q.a[2]));
  // If q vanishes, all unit vectors maximise the functional; the result is 1 but for rounding.
  const R q0 = select(fma_(q.a[0], q.a[0], v2) < splat<R>(nothing<R>), splat<R>(1), q.a[0]);
  const R a2 = q0 * q0, n = a2 + v2, m = fma_(omega, a2, v2);
  const R c = vrsqrt(fma_(n * n, a2, m * m * v2)), b = m * c;
  return {{n * c * q0, b * q.a[1], b * q.a[2], b * q.a[3]}};
}

// The part of sum Re tr U^g that depends on g(x): the trace of `w` = g(x) K(x), Eq. (19).
template <int N, class M, class R> struct TraceSum {
  M w;
  PLAQ_FN void clear() { w = M{}; }
  template <class V> PLAQ_FN void add(const V& v) { add_columns(w, v); }
  PLAQ_FN void apply(const M& g) { w = g * w; }
  PLAQ_FN void rotate_pair(const Su2<R>& a, int i, int j) { rotate(w, a, i, j); }
  // The real multiple of an SU(2) matrix whose unit vector is the best a for subgroup (i, j).
  PLAQ_FN Su2<R> best(int i, int j) const { return adj(twice_block(w, i, j)); }
  PLAQ_FN R functional() const { return trace(w).re; }
  // tr Delta Delta^dagger, Eq. (6): w minus its adjoint contains the links of both directions.
  PLAQ_FN R violation(bool diagonal) const {
    R d[N], mean = splat<R>(0), sum = mean;
    PLAQ_UNROLL for (int i = 0; i < N; i++) d[i] = entry(w, i, i).im, mean = mean + d[i];
    mean = splat<R>(1.0 / N) * mean;
    PLAQ_UNROLL for (int i = 0; i < N; i++) sum = fma_(d[i] - mean, d[i] - mean, sum);
    if (!diagonal) PLAQ_UNROLL for (int i = 0; i < N; i++) PLAQ_UNROLL for (int j = i + 1; j < N; j++)
      sum = fma_(splat<R>(0.5), norm2(entry(w, i, j) - conj(entry(w, j, i))), sum);
    return sum;
  }
  PLAQ_FN Su2<R> heated(int i, int j, R beta, const Draws<lanes<R>::W>& draws, u32 n) const {
    return heat(block(w, i, j), beta + beta, draws, n);
  }
};

// The part of the maximally Abelian functional that contains a site: h[c] is the sum of v v^dagger over the columns c,
// v, of the links at the site. With real a0 and a3 = 0 subgroup (i, j) sees D (a0^2 - a1^2 - a2^2) + 2 a0 (a1 E + a2 F)
// of Eq. (25), where D = (h_i,ii + h_j,jj - h_i,jj - h_j,ii) / 2 and F + i E = h_i,ij - h_j,ij.
template <int N, class M, class R> struct AbelianSum {
  cplx<R> h[N][N][N];
  PLAQ_FN void clear() {
    PLAQ_UNROLL for (int k = 0; k < N * N * N; k++) h[k / (N * N)][k / N % N][k % N] = {splat<R>(0), splat<R>(0)};
  }
  template <class V> PLAQ_FN void add(const V& columns) {
    M v{};
    add_columns(v, columns);
    PLAQ_UNROLL for (int c = 0; c < N; c++) PLAQ_UNROLL for (int i = 0; i < N; i++) PLAQ_UNROLL for (int j = 0; j <= i; j++)
      h[c][i][j] = madd_conj(h[c][i][j], entry(v, j, c), entry(v, i, c));
  }
  PLAQ_FN void apply(const M& g) {
    PLAQ_UNROLL for (int c = 0; c < N; c++) {
      cplx<R> t[N][N];  // g h
      PLAQ_UNROLL for (int i = 0; i < N; i++) PLAQ_UNROLL for (int j = 0; j < N; j++) {
        cplx<R> s = {splat<R>(0), splat<R>(0)};
        PLAQ_UNROLL for (int k = 0; k < N; k++) s = madd(s, entry(g, i, k), k >= j ? h[c][k][j] : conj(h[c][j][k]));
        t[i][j] = s;
      }
      PLAQ_UNROLL for (int i = 0; i < N; i++) PLAQ_UNROLL for (int j = 0; j < N; j++) {
        cplx<R> s = {splat<R>(0), splat<R>(0)};
        PLAQ_UNROLL for (int k = 0; k < N; k++) s = madd_conj(s, entry(g, j, k), t[i][k]);
        h[c][i][j] = s;
      }
    }
  }
  // h[c] -> a h[c] a^dagger for all c: multiplies rows i and j, takes the adjoint, and does both once more.
  PLAQ_FN void rotate_pair(const Su2<R>& a, int i, int j) {
    PLAQ_UNROLL for (int c = 0; c < N; c++) PLAQ_UNROLL for (int twice = 0; twice < 2; twice++) {
      rotate(h[c], a, i, j);
      PLAQ_UNROLL for (int k = 0; k < N; k++) {
        h[c][k][k].im = -h[c][k][k].im;
        PLAQ_UNROLL for (int l = 0; l < k; l++) {
          const cplx<R> z = conj(h[c][k][l]);
          h[c][k][l] = conj(h[c][l][k]), h[c][l][k] = z;
        }
      }
    }
  }
  PLAQ_FN cplx<R> slope(int i, int j) const { return h[i][i][j] - h[j][i][j]; }
  PLAQ_FN R diagonal(int i, int j) const {
    return splat<R>(0.5) * ((h[i][i][i].re + h[j][j][j].re) - (h[i][j][j].re + h[j][i][i].re));
  }
  // The eigenvector of Eq. (29), in a form whose first component does not cancel where D < 0.
  PLAQ_FN Su2<R> best(int i, int j) const {
    const R zero = splat<R>(0), one = splat<R>(1), d = diagonal(i, j);
    const cplx<R> z = slope(i, j);
    const R r2 = norm2(z), length = vsqrt(fma_(d, d, r2));
    const auto down = d < zero;
    const R first = select(down, r2 / select(down, length - d, one), d + length);
    // At the minimum of the functional every turn that takes it to the maximum is as good as any other.
    const auto worst = select(down, r2, one) < splat<R>(nothing<R>);
    return {{select(worst, zero, first), select(worst, one, z.im), select(worst, zero, z.re), zero}};
  }
  PLAQ_FN R functional() const {
    R s = splat<R>(0);
    PLAQ_UNROLL for (int c = 0; c < N; c++) s = s + h[c][c][c].re;
    return s;
  }
  // |X_12|^2 of Eq. (13), summed over the subgroups.
  PLAQ_FN R violation(bool) const {
    R s = splat<R>(0);
    PLAQ_UNROLL for (int i = 0; i < N; i++) PLAQ_UNROLL for (int j = i + 1; j < N; j++) s = s + norm2(slope(i, j));
    return s;
  }
  // A random element of subgroup (i, j) with weight exp(beta f): f = |(D, E, F)| cos phi for a turn by phi away from
  // the best one; without the weight cos phi and the azimuth are distributed evenly.
  PLAQ_FN Su2<R> heated(int i, int j, R beta, const Draws<lanes<R>::W>& draws, u32 n) const {
    const R one = splat<R>(1), two = splat<R>(2), half = splat<R>(0.5), zero = splat<R>(0);
    const R d = diagonal(i, j), k = beta * vsqrt(fma_(d, d, norm2(slope(i, j))));
    R u[4], s, c;
    draws.uniform(u, n);
    const auto small = k < splat<R>(0.01);
    const R flat = fma_(two, u[0], -one), steep = select(small, one, k);
    R x = one + vlog(fma_(one - u[0], vexp(-two * steep), u[0])) / steep;
    x = vmax(select(small, fma_(half * k, fnma_(flat, flat, one), flat), x), -one);
    vsincospi(two * u[1], s, c);
    const R side = vsqrt(vmax(half * (one - x), zero));
    const Su2<R> turn = {{vsqrt(vmax(half * (one + x), zero)), side * c, side * s, zero}};
    return turn * overrelaxed(best(i, j), one);
  }
};

// Places of a site's neighbours. The code is compiled for each, so that a thread's loads from memory do not wait for
// branches.
//   BORDERED: neighbours behind faces are in the borders of g
//   INSIDE:   no neighbour is behind a face
//   MESSAGES: neighbours behind faces are in messages (GPU)
enum Neighbours { BORDERED, INSIDE, MESSAGES };

// Computes the part of the functional that depends on g(x).
template <int W, class S, int STORAGE> struct GaugeSite {
  typedef real<typename S::C, W> R;
  static constexpr int N = Recon<STORAGE>::colours, G = transform_storage<STORAGE>;
  typedef LinkOf<STORAGE, R> M;
  typedef TraceSum<N, M, R> Trace;
  typedef AbelianSum<N, M, R> Abelian;

  // Sums U_mu(x) g(x+mu)^dagger and U_mu(x-mu)^dagger g(x-mu)^dagger, then multiplies by g(x) from the left. A launch
  // of both parities also changes g of the neighbours, and its odd sites read links that its even ones have read.
  template <Neighbours WHERE = BORDERED, class Sum>
  static PLAQ_FN void gather(Sum& sum, const GaugeFixArgs& a, const Site& x, const M& g) {
    sum.clear();
    PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) {
      if (!(a.directions() >> mu & 1)) continue;
      // The matrices of both neighbours are loaded before branches on which links are unit matrices, except from
      // messages, since then there are not enough registers.
      M front, back;
      other<WHERE, true>(front, a, x, mu);
      if (WHERE != MESSAGES) other<WHERE, false>(back, a, x, mu);
      end<WHERE, true>(sum, a, x, mu, front);
      if (WHERE == MESSAGES) other<WHERE, false>(back, a, x, mu);
      end<WHERE, false>(sum, a, x, mu, back);
    }
    sum.apply(g);
  }
  // Loads g of the neighbour x + mu (FORWARD) or x - mu.
  template <Neighbours WHERE, bool FORWARD>
  static PLAQ_FN void other(M& other, const GaugeFixArgs& a, const Site& x, int mu) {
    const Site n = neighbour(a.geom, x, mu, FORWARD);
#if PLAQ_GPU
    if constexpr (WHERE == MESSAGES) {
      if (!has_halo(a.geom, mu)) return load_matrix<S, G>(other, a.g, n, a.lag() ? fresh : keep);
      const int at[4] = {coordinate(x, 0), coordinate(x, 1), coordinate(x, 2), coordinate(x, 3)};
      R stored[Recon<G>::reals];
      get_from_face_or<S>(stored, plane(a.g, n.par), n, a.geom, a.faces.received[2 * mu + FORWARD], mu, face_place(a.geom, at, mu), at_seam(a.geom, x, mu, FORWARD));
      Recon<G>::expand(other, stored);
    } else
#endif
    load_matrix<S, G>(other, a.g, n, a.lag() ? fresh : keep);
  }
  // Adds the term of the neighbour x + mu (FORWARD) or x - mu, whose g is `other`, to the sum of `gather`.
  template <Neighbours WHERE, bool FORWARD, class Sum>
  static PLAQ_FN void end(Sum& sum, const GaugeFixArgs& a, const Site& x, int mu, const M& other) {
    const Site from = FORWARD ? x : neighbour(a.geom, x, mu, FORWARD);
    const bool seam = (WHERE != INSIDE || !has_halo(a.geom, mu)) && at_seam(a.geom, x, mu, FORWARD);
    const auto v = adjoint_columns(other);
    if ((a.axial() >> mu & 1) && !seam) return sum.add(v);
    FactorOf<STORAGE, R> u;
    load_factor<S, STORAGE>(u, plane(a.gauge, from.par), from, mu, a.lag() && x.par == 0 ? keep : stream);
    sum.add(times<!FORWARD>(u, v));
  }
};

// The numbers of `in` in lanes whose bit `bit` equals `want`, and those of `out` in the other lanes.
template <class R> PLAQ_FN Su3<R> choose(const Su3<R>& in, const Su3<R>& out, int lx, int bit, bool want) {
  Su3<R> m;
  PLAQ_UNROLL for (int k = 0; k < 9; k++) {
    const cplx<R> p = in.e[k / 3][k % 3], q = out.e[k / 3][k % 3];
    m.e[k / 3][k % 3] = {by_lane_bit(p.re, q.re, lx, bit, want), by_lane_bit(p.im, q.im, lx, bit, want)};
  }
  return m;
}
template <class R> PLAQ_FN Su2<R> choose(const Su2<R>& in, const Su2<R>& out, int lx, int bit, bool want) {
  Su2<R> m;
  PLAQ_UNROLL for (int k = 0; k < 4; k++) m.a[k] = by_lane_bit(in.a[k], out.a[k], lx, bit, want);
  return m;
}

// Whether the slices that share a site are active; `active[slice]` 0 means that slice `slice` stays as it is. The upper
// half of the lanes may hold another slice. If the functional has links of all directions, all is active.
struct Active {
  int bit;
  bool lower, upper;
  PLAQ_FN Active(const GaugeFixArgs& a, int slice) : bit(lane_bit(a.geom, a.time())), lower(true), upper(true) {
    if (a.directions() == 15) return;
    const int* active = (const int*)a.active + slice;
    lower = active[0] != 0, upper = bit ? active[extent(a.geom, a.time())] != 0 : lower;
  }
  PLAQ_FN bool none() const { return !lower && !upper; }
  // `now` in lanes of active slices, `old` in the others.
  template <class M> PLAQ_FN M changed(const M& now, const M& old, int lx) const {
    if (none()) return old;
    return lower == upper ? now : choose(now, old, lx, bit, upper);
  }
};

// Sums over sites of active slices: the functional (every link is counted at both its ends) and the violation of slice
// `batch`, then those of the slice in the upper lanes, if two share them; and the largest violation of each of the two.
template <int W, class Sum>
PLAQ_FN void add_quality(Sums<6, W>& sums, const Sum& sum, const GaugeFixArgs& a, const Site& x, const Active& active) {
  typedef decltype(sum.functional()) R;
  const R zero = splat<R>(0), v[2] = {sum.functional(), sum.violation(a.condition() == GAUGE_PHASES)};
  PLAQ_UNROLL for (int upper = 0; upper < (active.bit ? 2 : 1); upper++) {
    if (!(upper ? active.upper : active.lower)) continue;
    PLAQ_UNROLL for (int k = 0; k < 2; k++) sums.add(2 * upper + k, by_lane_bit(v[k], zero, x.lx, active.bit, upper));
    sums.max(4 + upper, by_lane_bit(v[1], zero, x.lx, active.bit, upper));
  }
}

#if PLAQ_GPU
// Number of even sites of each slice that a whole sweep has updated so far; a block belongs to one slice.
struct Counts {
  const GaugeFixArgs& a;
  PLAQ_FN char* of(int slice) const {
    const int last = extent(a.geom, a.time()) - 1;
    return a.done + 4 * (slice < 0 ? last : slice > last ? 0 : slice);
  }
  // Waits until the even neighbours of an odd slice are updated. A thread that has waited for ten seconds gives up and
  // notes that behind the counts.
  PLAQ_FN void await(int slice) const {
    if (threadIdx.x < 3) {
      Timeout timeout(10000000000, a.done + 4 * extent(a.geom, a.time()));
      u32 done;
      do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(done) : "l"(of(slice + (int)threadIdx.x - 1)) : "memory");
      while ((int)(done - (u32)a.target) < 0 && !timeout.expires(1));
    }
    __syncthreads();
  }
  PLAQ_FN void add(int slice) const {
    __syncthreads();
    if (threadIdx.x == 0) asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(of(slice)), "r"(PLAQ_BLOCK) : "memory");
  }
};
#endif

// Whether the launch waits for other ranks, and so must not let the next launch take places on the device, which the
// other ranks' programs may need.
PLAQ_FN bool waits_for_ranks(const GaugeFixArgs& a) { return a.region() == REGION_FACES_FIRST; }

// Updates one parity, batches = slices, or with a lag both parities in one launch, batches = positions in SweepOrder. As a
// reduction it also returns the sums of `add_quality` for the sites before the update.
template <int W, class S, int STORAGE> struct GaugeSweep {
  typedef GaugeSite<W, S, STORAGE> At;
  typedef typename At::R R;
  typedef typename At::M M;
  static PLAQ_FN void site(const GaugeFixArgs& a, int o, int lx, int batch) {
    PLAQ_FIXED(GaugeFixArgs, fixed, a);
#if PLAQ_GPU
    if constexpr (fixed.region() == REGION_FACES_FIRST) {
      divided(a, o);
      return;
    } else if constexpr (fixed.lag() != 0) {
      const SweepOrder::Slice next = SweepOrder{extent(a.geom, a.time()), a.lag()}.at(batch);
      const Counts counts{a};
      if (next.parity) counts.await(next.slice);
      run(a, face_site(a.geom, o, a.time(), next.slice, next.parity, lx), next.slice, (Sums<6, W>*)0);
      if (!next.parity) counts.add(next.slice);
      return;
    } else
#endif
    {
      Site x;
      PLAQ_IF (fixed.region() == REGION_INNER) {
        x = inner_site(a.geom, o, a.parity, lx);
        run<INSIDE>(a, x, coordinate(x, a.time()), (Sums<6, W>*)0);
      } else {
        const bool all = fixed.region() == REGION_ALL;
        x = all ? face_site(a.geom, o, a.time(), batch, a.parity, lx) : outer_site(a.geom, o, a.parity, lx);
        run(a, x, all ? batch : coordinate(x, a.time()), (Sums<6, W>*)0);
      }
    }
  }
  static PLAQ_FN void site(const GaugeFixArgs& a, int o, int lx, int slice, Sums<6, W>& sums) {
    run(a, face_site(a.geom, o, a.time(), slice, a.parity, lx), slice, &sums);
  }
#if PLAQ_GPU
  // Sites at faces go early, so that messages travel while the other sites are updated, and few blocks wait for the
  // messages of the launch before. A block that has waited knows that its neighbours have read the messages that it
  // overwrites. A block for faces takes several pieces of them, since it waits for messages when it begins, and for the
  // arrival of its own when it ends. One block in four is for faces, so that the others can work meanwhile; if these
  // are too few, all blocks for faces come first. They do not let the next launch start, which would take their places
  // before they have ended.
  static PLAQ_FN void divided(const GaugeFixArgs& a, int o) {
    const int pieces = a.face_threads / PLAQ_BLOCK, inner = (int)gridDim.x - pieces, faces = (pieces + 3) / 4, b = o / PLAQ_BLOCK;
    const int period = inner >= 3 * faces ? 4 : 1, before = min(faces, (b + period - 1) / period), thread = o - b * PLAQ_BLOCK;
    if (b >= faces * period || b % period) {
      allow_next_launch();
      const int i = (b - before) * PLAQ_BLOCK + thread;
      if (i >= inner_sites(a.geom)) return;
      const Site x = inner_site(a.geom, i, a.parity, 0);
      run<INSIDE>(a, x, coordinate(x, a.time()), (Sums<6, W>*)0);
      return;
    }
    await_messages(a.faces.received_flags);
    _Pragma("unroll 1") for (int piece = before; piece < pieces; piece += faces) {
      const int i = piece * PLAQ_BLOCK + thread;
      if (i >= volume(a.geom) - inner_sites(a.geom)) break;
      const Site x = outer_site(a.geom, i, a.parity, 0);
      send(a, x, run<MESSAGES>(a, x, coordinate(x, a.time()), (Sums<6, W>*)0));
    }
    signal_when_all_wrote(a.faces.sent_flags, faces);
  }
  // Writes the new matrix of a site at faces into the messages to the ranks behind these faces.
  static PLAQ_FN void send(const GaugeFixArgs& a, const Site& x, const M& g) {
    const int at[4] = {coordinate(x, 0), coordinate(x, 1), coordinate(x, 2), coordinate(x, 3)};
    R v[Recon<At::G>::reals];
    Recon<At::G>::compress(v, g);
    PLAQ_UNROLL for (int k = 0; k < 8; k++)
      if (at_halo(a.geom, x, k / 2, k % 2)) put_in_face<S>(v, a.geom, a.faces.sent[k], k / 2, face_place(a.geom, at, k / 2));
  }
#endif
  // The new matrix g(x) of a site; `sums`, unless null, receives the functional and the violation of the site before
  // the update.
  template <Neighbours WHERE = BORDERED>
  static PLAQ_FN M run(const GaugeFixArgs& a, const Site& x, int slice, Sums<6, W>* sums) {
    const Active active(a, slice);
    M g;
    if (WHERE != MESSAGES && active.none()) return g;
    load_matrix<S, At::G>(g, a.g, x, a.lag() ? fresh : keep);
    if (active.none()) return g;
    const M before = g;
    PLAQ_FIXED(GaugeFixArgs, fixed, a);
    PLAQ_IF (fixed.condition() == GAUGE_ABELIAN) update<WHERE, typename At::Abelian>(g, a, x, active, sums);
    else update<WHERE, typename At::Trace>(g, a, x, active, sums);
    reunitarise(g);
    g = active.changed(g, before, x.lx);
    store_matrix<S, At::G>(g, a.g, x);
    return g;
  }
  template <Neighbours WHERE, class Sum>
  static PLAQ_FN void update(M& g, const GaugeFixArgs& a, const Site& x, const Active& active, Sums<6, W>* sums) {
    Sum sum;
    At::template gather<WHERE>(sum, a, x, g);
    if (sums) add_quality(*sums, sum, a, x, active);
    PLAQ_FIXED(GaugeFixArgs, fixed, a);
    const bool random = fixed.method() == GAUGE_STOCHASTIC || fixed.method() == GAUGE_HEAT;
    const R omega = splat<R>(a.omega);
    const Draws<W> draws(a.geom, x, random ? a.seed : 0, RANDOM_GAUGEFIX, 0, (u32)a.sweep);
    R chance[4];
    PLAQ_IF (fixed.method() == GAUGE_STOCHASTIC) draws.uniform(chance, 0);
    // The SU(2) subgroups in the order (0,2), (1,2), (0,1).
    PLAQ_UNROLL for (int k = 0; k < (At::N == 3 ? 3 : 1); k++) {
      const int i = k == 1 ? 1 : 0, j = At::N == 3 && k < 2 ? 2 : 1;
      Su2<R> q = sum.best(i, j), r;
      PLAQ_IF (fixed.condition() == GAUGE_PHASES) q.a[1] = q.a[2] = splat<R>(0);
      PLAQ_IF (fixed.method() == GAUGE_HEAT) {
        r = sum.heated(i, j, omega, draws, k * (max_tries + 1));
      } else PLAQ_IF (fixed.method() == GAUGE_MICROCANONICAL) {
        r = squared(q);
      } else PLAQ_IF (fixed.method() == GAUGE_STOCHASTIC) {
        const auto twice = chance[k] < omega;
        const Su2<R> far = squared(q), near = overrelaxed(q, splat<R>(1));
        PLAQ_UNROLL for (int c = 0; c < 4; c++) r.a[c] = select(twice, far.a[c], near.a[c]);
      } else {
        r = overrelaxed(q, omega);
      }
      rotate(g, r, i, j);
      sum.rotate_pair(r, i, j);
    }
  }
};

// Sums of the functional and the violation over the sites of one parity; batches = slices.
template <int W, class S, int STORAGE> struct GaugeQuality {
  typedef GaugeSite<W, S, STORAGE> At;
  static PLAQ_FN void site(const GaugeFixArgs& a, int o, int lx, int slice, Sums<6, W>& sums) {
    const Active active(a, slice);
    if (active.none()) return;
    const Site x = face_site(a.geom, o, a.time(), slice, a.parity, lx);
    PLAQ_FIXED(GaugeFixArgs, fixed, a);
    PLAQ_IF (fixed.condition() == GAUGE_ABELIAN) add<typename At::Abelian>(a, x, active, sums);
    else add<typename At::Trace>(a, x, active, sums);
  }
  template <class Sum>
  static PLAQ_FN void add(const GaugeFixArgs& a, const Site& x, const Active& active, Sums<6, W>& sums) {
    typename At::M g;
    load_matrix<S, At::G>(g, a.g, x);
    Sum sum;
    At::gather(sum, a, x, g);
    add_quality(sums, sum, a, x, active);
  }
};

// Writes the transformed links g(x) U_mu(x) g(x+mu)^dagger; batches = parities.
template <int W, class S, int STORAGE> struct GaugeTransform {
  typedef GaugeSite<W, S, STORAGE> At;
  static PLAQ_FN void site(const GaugeFixArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    typename At::M g, there, u;
    load_matrix<S, At::G>(g, a.g, x);
    for (int mu = 0; mu < 4; mu++) {
      load_matrix<S, At::G>(there, a.g, neighbour(a.geom, x, mu, true));
      load_link<S, STORAGE>(u, plane(a.gauge, parity), x, mu);
      u = g * u * adj(there);
      store_link<S, STORAGE>(u, plane(a.out, parity), x, mu);
    }
  }
};

// Copies transformation `g` to `out` in active slices.
template <int W, class S, int STORAGE> struct TransformSelect {
  typedef GaugeSite<W, S, STORAGE> At;
  static PLAQ_FN void site(const GaugeFixArgs& a, int o, int lx, int slice) {
    const Site x = face_site(a.geom, o, a.time(), slice, a.parity, lx);
    typename At::M g, old;
    load_matrix<S, At::G>(g, a.g, x);
    load_matrix<S, At::G>(old, a.out, x);
    store_matrix<S, At::G>(Active(a, slice).changed(g, old, lx), a.out, x);
  }
};

// Replaces transformation g by g h or g h^dagger; batches = parities.
template <int W, class S, int STORAGE> struct TransformProduct {
  typedef GaugeSite<W, S, STORAGE> At;
  static PLAQ_FN void site(const TransformProductArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    typename At::M g, h;
    load_matrix<S, At::G>(g, a.g, x);
    load_matrix<S, At::G>(h, a.h, x);
    store_matrix<S, At::G>(group_product(g, a.adjoint() ? adj(h) : h), a.g, x);
  }
};

// Copies the transformation to a host's array of the local lattice: N x N complex doubles per site, x fastest.
template <int W, class S, int STORAGE> struct TransformArray {
  typedef GaugeSite<1, S, STORAGE> At;
  static PLAQ_FN void site(const GaugeFixArgs& a, int o, int lx, int parity) {
    constexpr int N = At::N;
    const Site x = site_at(a.geom, o, parity, lx);
    double* out = (double*)a.array + 2 * N * N * local_index(a.geom, x, lx);
    typename At::M g;
    load_matrix<S, At::G>(g, a.g, x);
    PLAQ_UNROLL for (int k = 0; k < N * N; k++) {
      const auto z = entry(g, k / N, k % N);
      out[2 * k] = z.re, out[2 * k + 1] = z.im;
    }
  }
};

}  // namespace PLAQ_NS
