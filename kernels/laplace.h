// The gauge-covariant sum over neighbours of vector fields, spin by spin: Laplacians and Gaussian
// smearing are made of it.
#pragma once
#include "bounds.h"
#include "pencils.h"

namespace PLAQ_NS {

PLAQ_FN Plane vector_message(const HaloView& h, int mu, bool forward, int rhs) {
  const int k = 2 * mu + forward;
  return {h.data[k] + rhs * h.plane_bytes[mu], (float*)(h.norm[k] + rhs * h.norm_bytes[mu]), 0};
}

// Packs the vectors on all faces of `inp` for the neighbouring ranks; rows are those of the faces, one direction after
// the other, lower face first. Where a direction is split over lanes a row holds two sites (geometry.h, face_rows).
template <int W, class S> struct VectorPack {
  typedef real<typename S::C, W> R;
  template <int N> static PLAQ_FN void run(const LaplaceArgs& a, int o, int lx, int batch) {
    PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) {
      if (!has_halo(a.geom, mu) || !(a.hops() >> 2 * mu & 3)) continue;
      const int rows = face_rows(a.geom, mu), bit = lane_bit(a.geom, mu);
      if (o < 2 * rows) {
        const bool upper = o >= rows;
        Site row{};
        row.o = upper ? o - rows : o, row.lx = lx;
        const int c = upper ? extent(a.geom, mu) - 1 : 0;
        const Plane in = plane(a.inp, batch * a.step_in());
        R v[N], w[N];
        load<S>(v, in, face_site(a.geom, row.o, mu, c, 1 - a.parity(), lx));
        if (bit) {
          load<S>(w, in, face_site(a.geom, (row.o + rows) % face_sites(a.geom, mu), mu, c, 1 - a.parity(), lx ^ bit));
          PLAQ_UNROLL for (int i = 0; i < N; i++) v[i] = by_lane_bit(v[i], w[i], lx, bit, upper);
        }
        store<S>(v, vector_message(a.sent, mu, upper, batch), row);
        return;
      }
      o -= 2 * rows;
    }
  }
  static PLAQ_FN void site(const LaplaceArgs& a, int o, int lx, int batch) {
    if (a.spins() == 4) run<24>(a, o, lx, batch);
    else run<6>(a, o, lx, batch);
  }
};

// out = coef_y y + coef_out out + coef sum_mu [U_mu(x) in(x+mu) + U_mu(x-mu)^dagger in(x-mu)] on one parity, over the
// hops asked for; y has the parity of out. A batch is a column of spinors or 4 columns of colour vectors, for which a link
// is loaded once.
template <int W, class S, int RECON> struct Laplace {
  typedef real<typename S::C, W> R;
  template <int N>
  static PLAQ_RARE void load_across(R (&v)[N], const LaplaceArgs& a, const Site& s, Site n, const Plane& in, int rhs, int mu,
                                    bool forward) {
    const int bit = lane_bit(a.geom, mu), rows = face_rows(a.geom, mu);
    R w[N];
    n.lx = s.lx ^ bit;
    if (bit) load<S>(v, in, n);
    n.o = face_index(a.geom, s, mu);
    if (n.o >= rows) n.o -= rows, n.lx = s.lx;
    load<S>(w, vector_message(a.received, mu, forward, rhs), n);
    PLAQ_UNROLL for (int i = 0; i < N; i++) v[i] = bit ? by_lane_bit(w[i], v[i], s.lx, bit, forward) : w[i];
  }
  // Multiplies the link of a hop across the end of the lattice by the boundary's phase.
  static PLAQ_RARE void across_boundary(Su3<R>& u, const LaplaceArgs& a, const Site& s, int mu, bool forward) {
    const cplx<R> z = boundary_phase<R>(a, s, mu, forward);
    PLAQ_UNROLL for (int i = 0; i < 9; i++) u.e[i / 3][i % 3] = z * u.e[i / 3][i % 3];
  }
  template <int N, int COLUMNS> static PLAQ_FN void run(const LaplaceArgs& a, int o, int lx, int batch) {
    const int p = a.parity();
    const Site s = a.region() == REGION_INNER   ? inner_site(a.geom, o, p, lx)
                   : a.region() == REGION_OUTER ? outer_site(a.geom, o, p, lx)
                                                : site_at(a.geom, o, p, lx);
    const int first = batch * COLUMNS, count = a.columns - first < COLUMNS ? a.columns - first : COLUMNS;
    R acc[COLUMNS][N], v[N];
    PLAQ_UNROLL for (int k = 0; k < COLUMNS; k++) PLAQ_UNROLL for (int i = 0; i < N; i++) acc[k][i] = splat<R>(0);
    for (int hop = 0; hop < 8; hop++) {
      const int mu = hop / 2;
      const bool forward = hop % 2;
      if (!(a.hops() >> hop & 1)) continue;
      const Site n = neighbour(a.geom, s, mu, forward), from = forward ? s : n;
      Su3<R> u;
      load_link<S, RECON>(u, plane(a.gauge, from.par), from, mu);
      if (!forward) u = adj(u);
      if (has_phase(a, s, mu, forward)) across_boundary(u, a, s, mu, forward);
      PLAQ_UNROLL for (int k = 0; k < COLUMNS; k++) {
        if (k >= count) continue;
        const Plane in = plane(a.inp, (first + k) * a.step_in());
        if (a.region() != REGION_INNER && at_halo(a.geom, s, mu, forward))
          load_across<N>(v, a, s, n, in, first + k, mu, forward);
        else load<S>(v, in, n);
        PLAQ_UNROLL for (int spin = 0; spin < N / 6; spin++) PLAQ_UNROLL for (int i = 0; i < 3; i++) {
          cplx<R> z = {acc[k][6 * spin + 2 * i], acc[k][6 * spin + 2 * i + 1]};
          PLAQ_UNROLL for (int j = 0; j < 3; j++)
            z = madd(z, u.e[i][j], cplx<R>{v[6 * spin + 2 * j], v[6 * spin + 2 * j + 1]});
          acc[k][6 * spin + 2 * i] = z.re, acc[k][6 * spin + 2 * i + 1] = z.im;
        }
      }
    }
    const R c = splat<R>(a.coef), d = splat<R>(a.coef_y), e = splat<R>(a.coef_out);
    PLAQ_UNROLL for (int k = 0; k < COLUMNS; k++) {
      if (k >= count) continue;
      load<S>(v, plane(a.y, (first + k) * a.step_y()), s);
      PLAQ_UNROLL for (int i = 0; i < N; i++) acc[k][i] = fma_(d, v[i], c * acc[k][i]);
      const Plane out = plane(a.out, (first + k) * a.step_out());
      // With coefficient 0 the field is not read, since it may hold numbers that are not finite.
      if (a.coef_out != 0) {
        load<S>(v, out, s);
        PLAQ_UNROLL for (int i = 0; i < N; i++) acc[k][i] = fma_(e, v[i], acc[k][i]);
      }
      store<S>(acc[k], out, s);
    }
  }
  static PLAQ_FN void site(const LaplaceArgs& a, int o, int lx, int batch) {
    if (a.spins() == 4) run<24, 1>(a, o, lx, batch);
    else run<6, 4>(a, o, lx, batch);
  }
};

// Computes what Laplace does for all columns of spinors, on sites whose neighbours are all on this rank, with both hops
// of each direction. On a GPU one thread of a site does the forward hops, one the backward ones. Links stay in
// registers for all columns, third rows in shared memory, and halves of the neighbours' spinors are copied there ahead
// of use.
template <int W, class S, int RECON> struct LaplaceColumns {
  static PLAQ_FN void site(const LaplaceArgs& a, int o, int lx, int batch) {
    Laplace<W, S, RECON>::site(a, o, lx, batch);
  }
#if PLAQ_GPU
  typedef typename S::C R;
  typedef typename S::T T;
  static constexpr int V = chunk<T>(24), chunks = 12 / V, sites = PLAQ_BLOCK / 2;
  static constexpr int hops = LaplaceArgs{}.hops();
  static constexpr int dirs = (hops & 1) + (hops >> 2 & 1) + (hops >> 4 & 1) + (hops >> 6 & 1);
  static PLAQ_FN constexpr int direction(int k) {
    for (int mu = 0; mu < 4; mu++)
      if (hops >> 2 * mu & 1 && k-- == 0) return mu;
    return 0;
  }
  static constexpr int third_bytes = PLAQ_BLOCK * 6 * dirs * (int)sizeof(R), slot_bytes = PLAQ_BLOCK * 16 * chunks;
  static constexpr int stages = third_bytes + dirs * slot_bytes <= 48 * 1024 ? dirs : 2;
  struct SharedMemory {
    char* shared;
    PLAQ_FN uint4& slot(int k, int c) const { return ((uint4*)shared)[(k * chunks + c) * PLAQ_BLOCK + threadIdx.x]; }
    PLAQ_FN cplx<R>& third(int i) const { return ((cplx<R>*)(shared + stages * slot_bytes))[i * PLAQ_BLOCK + threadIdx.x]; }
  };
  static PLAQ_FN void fetch(const SharedMemory& memory, const Plane& p, u32 o, int half, int k, bool wanted) {
    const uint4* from = (const uint4*)p.data + (o + (o & ~31u) * (2 * chunks - 1)) + 32 * chunks * half;
    PLAQ_UNROLL for (int c = 0; c < chunks; c++)
      async_copy<16>(&memory.slot(0, 0), (k * chunks + c) * PLAQ_BLOCK * 16, from + 32 * c, wanted);
  }
  static constexpr bool inner = LaplaceArgs{}.region() == REGION_INNER;
  // The first site of block b of a parity. Blocks of all columns fill pencils.
  static PLAQ_FN int first_site(u32 b) {
    constexpr Pencils pencils = Pencils::square(InnerExtents::of(Geom{}, inner ? Geom{}.halos() : 0), sites, 12 * 24 * (int)sizeof(T));
    return pencils.first_site(b);
  }
  static PLAQ_FN void pairs(const LaplaceArgs& a, u32 b, int n) {
    __shared__ __align__(16) char shared[stages * slot_bytes + third_bytes];
    const SharedMemory memory{shared};
    const int i = threadIdx.x, half = i >> 4 & 1, o = first_site(b) + i / 32 * 16 + i % 16, p = a.parity();
    const bool forward = half == 0, inside = o < n;
    const Site s = inner ? inner_site(a.geom, inside ? o : 0, p, 0) : site_at(a.geom, inside ? o : 0, p, 0);
    u32 at[dirs];
    cplx<R> rows[dirs][6];
    PLAQ_UNROLL for (int k = 0; k < dirs; k++) at[k] = neighbour(a.geom, s, direction(k), forward).o;
    Plane in = plane(a.inp, 0);
    PLAQ_UNROLL for (int k = 0; k < stages; k++) fetch(memory, in, at[k % dirs], k / dirs, k, true), async_commit();
    PLAQ_UNROLL for (int k = 0; k < dirs; k++) {
      const int mu = direction(k);
      const Site from = forward ? s : neighbour(a.geom, s, mu, false);
      Su3<R> u;
      load_link<S, RECON>(u, plane(a.gauge, from.par), from, mu);
      const Su3<R> d = adj(u);
      PLAQ_UNROLL for (int j = 0; j < 9; j++) u.e[j / 3][j % 3] = forward ? u.e[j / 3][j % 3] : d.e[j / 3][j % 3];
      if (has_phase(a, s, mu, forward)) Laplace<1, S, RECON>::across_boundary(u, a, s, mu, forward);
      PLAQ_UNROLL for (int j = 0; j < 9; j++) {
        if (j < 6) rows[k][j] = u.e[j / 3][j % 3];
        else memory.third(3 * k + j - 6) = u.e[2][j % 3];
      }
    }
    const R c = (R)a.coef, d = (R)a.coef_y, e = (R)a.coef_out;
    _Pragma("unroll 1") for (int rhs = 0; rhs < a.columns; rhs++) {
      const bool more = rhs + 1 < a.columns;
      const Plane after = plane(a.inp, (rhs + more) * a.step_in());
      R acc[24];
      PLAQ_UNROLL for (int i = 0; i < 24; i++) acc[i] = 0;
      PLAQ_UNROLL for (int step = 0; step < 2 * dirs; step++) {
        const int k = step % dirs, next = (step + stages) % (2 * dirs);
        async_wait<stages - 1>();
        R v[12];
        PLAQ_UNROLL for (int j = 0; j < chunks; j++) {
          bits<T, V> w;
          w.w = memory.slot(step % stages, j);
          unpack<S>(v, w, j);
        }
        fetch(memory, next < step ? after : in, at[next % dirs], next / dirs, step % stages, next > step || more);
        async_commit();
        PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < 3; j++) {
          const cplx<R> u = i < 2 ? rows[k][3 * i + j] : memory.third(3 * k + j);
          PLAQ_UNROLL for (int spin = 0; spin < 2; spin++) {
            const int to = 12 * (step / dirs) + 6 * spin + 2 * i;
            const cplx<R> z = madd(cplx<R>{acc[to], acc[to + 1]}, u, cplx<R>{v[6 * spin + 2 * j], v[6 * spin + 2 * j + 1]});
            acc[to] = z.re, acc[to + 1] = z.im;
          }
        }
      }
      R v[12], w[12];
      PLAQ_UNROLL for (int i = 0; i < 12; i++)
        v[i] = (forward ? acc[i] : acc[12 + i]) + __shfl_xor_sync(0xffffffffu, forward ? acc[12 + i] : acc[i], 16);
      load_half<S>(w, plane(a.y, rhs * a.step_y()), s, half);
      PLAQ_UNROLL for (int i = 0; i < 12; i++) v[i] = fma_(d, w[i], c * v[i]);
      const Plane out = plane(a.out, rhs * a.step_out());
      if (a.coef_out != 0) {
        load_half<S>(w, out, s, half);
        PLAQ_UNROLL for (int i = 0; i < 12; i++) v[i] = fma_(e, w[i], v[i]);
      }
      store_half<S>(v, out, s, half, inside);
      in = after;
    }
  }
#endif
};

}  // namespace PLAQ_NS
