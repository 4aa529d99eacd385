// The hop of several right-hand sides on a GPU's tensor cores, followed by a site term: out = S hop(in), with no
// further vector added. Spinors are columns in half precision (half_columns.h); links, which include all coefficients
// and phases, and the blocks of the site term are tables in half precision.
//   links: [site][axis][row][backward, forward][column], blocks: [site][chirality][colour][colour'][spin][spin'],
//   both of matrices that are multiplied from the left, in pairs (re, im).
// Where ranks divide a direction, columns of the sites behind its faces follow those of the rank's own sites, the lower
// face first. They travel projected, as the two spins that the hop needs, and arrive as spinors with these as upper
// spins and lower spins zero: projecting such a spinor gives the neighbour's projected spinor.
#pragma once
#include "border.h"
#include "half_columns.h"
#include "wilson.h"

namespace PLAQ_NS {

// Number of the site in tables and columns, which count each lane of a site.
PLAQ_FN i64 column_site(const Site& s) { return (i64)s.o * PLAQ_LANES + s.lx; }
// Positions of numbers (re, im) in the tables of links and of blocks.
PLAQ_FN i64 table_link(i64 site, int mu, int row, bool forward, int column) {
  return (((site * 3 + row) * 3 + column) * 4 + mu) * 2 + forward;
}
PLAQ_FN i64 table_block(i64 site, int chirality, int c, int d, int spin, int from) {
  return ((((site * 2 + chirality) * 3 + c) * 3 + d) * 2 + spin) * 2 + from;
}

// Writes the tables of one parity for the hop and site operator of HopArgs. A thread stores four numbers at a time.
template <int W, class S, int RECON> struct TensorTables {
  typedef typename S::C R;
  struct alignas(16) Four {
    u32 v[4];
  };
  static PLAQ_FN void site(const TensorTablesArgs& a, int o, int lx, int) {
    const HopArgs& h = a.hop;
    const Site s = site_at(h.geom, o, h.parity(), lx);
    const i64 at = column_site(s);
    Four links[18];
    PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) PLAQ_UNROLL for (int forward = 0; forward < 2; forward++) {
      const Site from = forward ? s : neighbour(h.geom, s, mu, false);
      Su3<R> u;
      load_link<S, RECON>(u, plane(h.gauge, from.par), from, mu, keep);
      cplx<R> f = {(R)h.coef[mu], 0};
      R there = inside<R>(h.bounds, h.geom, s);
      if (mu == 3) there = there * neighbour_inside<R>(h.bounds, h.geom, s, forward);
      if (has_phase(h, s, mu, forward)) f = (R)h.coef[mu] * boundary_phase<R>(h, s, mu, forward);
      PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < 3; j++) {
        const cplx<R> z = there * (f * (forward ? u.e[i][j] : conj(u.e[j][i])));
        const int number = (int)table_link(0, mu, i, forward, j);
        links[number / 4].v[number % 4] = to_halves({(float)z.re, (float)z.im});
      }
    }
    PLAQ_UNROLL for (int k = 0; k < 18; k++) ((Four*)a.links)[18 * at + k] = links[k];
    if (h.site_hop() == SITE_ONE) return;
    for (int chirality = 0; chirality < 2; chirality++) for (int d = 0; d < 3; d++) {
      Four blocks[3];
      PLAQ_UNROLL for (int from = 0; from < 2; from++) {
        R v[12];
        PLAQ_UNROLL for (int i = 0; i < 12; i++) v[i] = i == 2 * (3 * from + d) ? 1 : 0;
        apply_chirality(v, h.site_hop(), chirality, h.twist, h.twist_scale, [&](R (&b)[36], int which) {
          load_block<S>(b, plane(h.clover, h.parity() + 2 * which), s, chirality, keep);
        });
        PLAQ_UNROLL for (int row = 0; row < 6; row++)
          blocks[row % 3].v[2 * (row / 3) + from] = to_halves({(float)v[2 * row], (float)v[2 * row + 1]});
      }
      PLAQ_UNROLL for (int c = 0; c < 3; c++) ((Four*)a.blocks)[table_block(at, chirality, c, d, 0, 0) / 4] = blocks[c];
    }
  }
};

// Converts columns of a spinor field to half precision, with scales from |v|^2, which are left for
// the kernels that read the columns.
template <int W, class S> struct TensorConvert {
  static PLAQ_FN void site(const TensorConvertArgs& a, Element o, int lx, int batch) {
    const int nrhs = a.nrhs();
#if PLAQ_GPU
    const int rhs = (int)((Count)o % (u32)nrhs);
    o = (Element)((Count)o / (u32)nrhs);
#else
    const int rhs = batch;
#endif
    Site s{};
    s.o = (int)o, s.lx = lx;
    const float scale = half_scale(((const double*)a.sums)[3 * rhs + 2]);
    if (o == 0 && lx == 0) ((float*)a.scales)[rhs] = scale;
    float v[24];
    load<S>(v, plane(a.inp, rhs * a.step_in), s);
    PLAQ_UNROLL for (int c = 0; c < 3; c++) {
      HalfSpins q;
      PLAQ_UNROLL for (int k = 0; k < 4; k++) q.s[k] = to_halves({scale * v[2 * (3 * k + c)], scale * v[2 * (3 * k + c) + 1]});
      store_half_spins(a.out, half_spins_at(column_site(s), c, nrhs, rhs), q);
    }
  }
};

// Number of sites behind the faces before face k = 2 mu + upper.
PLAQ_FN int sites_behind(const Geom& g, int k) {
  int n = 0;
  PLAQ_UNROLL for (int j = 0; j < 8; j++) if (j < k && has_halo(g, j / 2)) n += face_parity_sites(g, j / 2);
  return n;
}

// Number 2 mu + upper of the face that is at this position among the faces between ranks.
PLAQ_FN int divided_face(const Geom& g, int place) {
  int k = 0;
  PLAQ_UNROLL for (int j = 0; j < 8; j++) if (has_halo(g, j / 2) && place-- == 0) k = j;
  return k;
}

// Copies columns at the faces into messages, or from messages to their place. Batches: lower and upper faces in turn;
// one thread: a colour of one right-hand side.
template <int W> struct TensorFaces {
  static PLAQ_FN void site(const TensorFacesArgs& a, Element o, int lx, int batch) {
    const Geom& g = a.geom;
    const int k = divided_face(g, batch), mu = k / 2, upper = k % 2;
    const u32 numbers = 3 * a.nrhs(), i = (u32)o * PLAQ_LANES + lx, face = i / numbers, number = i % numbers;
    if (face >= (u32)face_parity_sites(g, mu)) return;
    u64* const message = (u64*)a.message[k] + i;
    if (a.arrived()) {
      const u64 h = *(volatile const u64*)message;
      const i64 site = a.behind + sites_behind(g, k) + (i64)face;
      return store_half_spins(a.columns, site * numbers + number, {{(u32)h, (u32)(h >> 32), 0, 0}});
    }
    const int l[4] = {local_extent(g, 0), local_extent(g, 1), local_extent(g, 2), local_extent(g, 3)};
    int x[4];
    face_coordinates(x, face, l, mu, upper ? l[mu] - 1 : 0, a.parity);
    const HalfSpins q = load_half_spins(a.columns, column_site(local_site(g, x)) * numbers + number);
    Spinor<float> p = {};
    PLAQ_UNROLL for (int s = 0; s < 4; s++) {
      const cplx<float> z = from_halves(q.s[s]);
      p.v[6 * s] = z.re, p.v[6 * s + 1] = z.im;
    }
    HalfSpinor<float> h = {};
    PLAQ_UNROLL for (int nu = 0; nu < 4; nu++) if (nu == mu) project(h, p, nu, upper ? -1.0f : 1.0f, PlainSum());
    *message = (u64)to_halves(h.c[1][0]) << 32 | to_halves(h.c[0][0]);
  }
};

#if PLAQ_GPU
// Loads links and blocks, which no other thread reads from the first-level cache.
PLAQ_FN uint2 load_uncached(const uint2* at) {
  uint2 q;
  asm("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(q.x), "=r"(q.y) : "l"(at));
  return q;
}
PLAQ_FN uint4 load_uncached(const uint4* at) {
  uint4 q;
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(q.x), "=r"(q.y), "=r"(q.z), "=r"(q.w) : "l"(at));
  return q;
}

// The work of a lane of a warp: lane 4 g + t has right-hand side g of a group of up to eight and colour t of the
// spinors, those of neighbours and that of the result; t = 3 has no colour. Projected spinors are rows g (an upper
// spin) and g + 8 (the lower one that is two spins further) of the first factor, whose columns k are the pairs
// (direction, colour) of an axis; links are the second factor. The lane's sum has colour t of all four spins, the form
// in which the site term takes it.
struct TensorLane {
  int g, colour;
  // Selects, for row g / 2 of a matrix: (re, -im) for the real part of a sum, (im, re) for the imaginary part; row 3
  // and column 3 do not exist.
  u32 turn, minus, there;

  PLAQ_FN explicit TensorLane(int lane) : g(lane >> 2), colour(lane & 3) {
    turn = g & 1 ? 0x1032 : 0x3210;
    minus = g & 1 ? 0 : 0x80000000;
    there = g < 6 && colour < 3 ? 0xffffffff : 0;
  }
  // The number `z` = (re, im) of a matrix as the pair that this lane has in the second factor.
  PLAQ_FN u32 entry(u32 z) const { return (__byte_perm(z, 0, turn) ^ minus) & there; }
};

// Pairs of numbers in half precision: i z but for the sign of the real part, a + f b, f = (re, im).
PLAQ_FN u32 exchanged(u32 z) { return __byte_perm(z, 0, 0x1032); }
PLAQ_FN u32 half_pair(int re, int im) { return (re < 0 ? 0xBC00u : 0x3C00u) | (im < 0 ? 0xBC000000u : 0x3C000000u); }
// a + i f b and a + f b, f = +-1.
PLAQ_FN u32 plus_i(u32 a, int f, u32 b) { return fma_halves(exchanged(b), half_pair(-f, f), a); }
PLAQ_FN u32 plus(u32 a, int f, u32 b) { return fma_halves(b, half_pair(f, f), a); }
// i f z and f z.
PLAQ_FN u32 times_i(int f, u32 z) { return exchanged(z) ^ (f > 0 ? 0x8000u : 0x80000000u); }
PLAQ_FN u32 times(int f, u32 z) { return f > 0 ? z : z ^ 0x80008000u; }
// The rows of (1 - g gamma_mu) psi, of upper spins 0 and 1 and of those below them: (g, g + 8) for each; see `project`
// and `unproject`.
PLAQ_FN void tensor_rows(u32 (&rows)[2][2], const uint4& q, int mu, int g) {
  const u32 p[4] = {q.x, q.y, q.z, q.w};
  u32 h[2];
  if (mu == 0) h[0] = plus_i(p[0], -g, p[3]), h[1] = plus_i(p[1], -g, p[2]);
  if (mu == 1) h[0] = plus(p[0], g, p[3]), h[1] = plus(p[1], -g, p[2]);
  if (mu == 2) h[0] = plus_i(p[0], -g, p[2]), h[1] = plus_i(p[1], g, p[3]);
  if (mu == 3) h[0] = plus(p[0], -g, p[2]), h[1] = plus(p[1], -g, p[3]);
  rows[0][0] = h[0], rows[1][0] = h[1];
  if (mu == 0) rows[0][1] = times_i(g, h[1]), rows[1][1] = times_i(g, h[0]);
  if (mu == 1) rows[0][1] = times(-g, h[1]), rows[1][1] = times(g, h[0]);
  if (mu == 2) rows[0][1] = times_i(g, h[0]), rows[1][1] = times_i(-g, h[1]);
  if (mu == 3) rows[0][1] = times(-g, h[0]), rows[1][1] = times(-g, h[1]);
}
#endif

template <int W> struct TensorHop {
#if PLAQ_GPU
  // Number of right-hand sides of a group, and number of groups.
  static constexpr int nrhs = TensorHopArgs{}.nrhs(), groups = (nrhs + 7) / 8, each = (nrhs + groups - 1) / groups;

  // Offsets of the data of a site and of its neighbours 2 mu + forward, in loads of 16 bytes.
  struct Place {
    u32 at, neighbour[8];
    int xh, y, z, t, odd;
    // Strides in x: backward at even positions of a row, forward at odd ones.
    u32 back, forth;
    static constexpr u32 unit = 3 * nrhs;

    PLAQ_FN Place(const TensorHopArgs& a, int xh, int y, int z, int from) : xh(xh), y(y), z(z), t(from) {
      const Geom& geom = a.geom;
      const int half = geom.x() / 2;
      at = (u32)(((t * geom.z() + z) * geom.y() + y) * half + xh) * unit, odd = (y + z + t + a.parity) & 1;
      back = (u32)(xh == 0 ? half - 1 : -1) * unit, forth = (u32)(xh == half - 1 ? 1 - half : 1) * unit;
      neighbour[2] = at + (u32)((y == 0 ? geom.y() - 1 : -1) * half) * unit;
      neighbour[3] = at + (u32)((y == geom.y() - 1 ? 1 - geom.y() : 1) * half) * unit;
      neighbour[4] = at + (u32)((z == 0 ? geom.z() - 1 : -1) * half * geom.y()) * unit;
      neighbour[5] = at + (u32)((z == geom.z() - 1 ? 1 - geom.z() : 1) * half * geom.y()) * unit;
      PLAQ_UNROLL for (int d = 2; d < 6; d++)
        if (leaves(geom, d)) neighbour[d] = behind(a, d, d < 4 ? (u32)(t * geom.z() + z) * half + xh : (u32)(t * geom.y() + y) * half + xh);
      along_x_and_t(a);
    }
    // Whether the neighbour in y or z belongs to another rank.
    PLAQ_FN bool leaves(const Geom& g, int d) const {
      return has_halo(g, d / 2) && (d < 4 ? y : z) == (d % 2 ? extent(g, d / 2) - 1 : 0);
    }
    // Position of a site behind a face.
    static PLAQ_FN u32 behind(const TensorHopArgs& a, int d, u32 place) {
      return ((u32)(a.behind + sites_behind(a.geom, d)) + place) * unit;
    }
    PLAQ_FN u32 slice(const TensorHopArgs& a) const { return (u32)(a.geom.x() / 2 * a.geom.y() * a.geom.z()) * unit; }
    PLAQ_FN void along_x_and_t(const TensorHopArgs& a) {
      const Geom& geom = a.geom;
      neighbour[0] = odd ? at : at + back, neighbour[1] = odd ? at + forth : at;
      neighbour[6] = at + (t == 0 ? (geom.t() - 1) * slice(a) : 0 - slice(a));
      neighbour[7] = at + (t == geom.t() - 1 ? 0 - (geom.t() - 1) * slice(a) : slice(a));
      if (has_halo(geom, 0)) {
        const u32 place = (u32)((t * geom.z() + z) * geom.y() + y) / 2;
        if (!odd && xh == 0) neighbour[0] = behind(a, 0, place);
        if (odd && xh == geom.x() / 2 - 1) neighbour[1] = behind(a, 1, place);
      }
      if (has_halo(geom, 3)) {
        if (t == 0) neighbour[6] = behind(a, 6, 0) + at;
        if (t == geom.t() - 1) neighbour[7] = behind(a, 7, 0) + at - (geom.t() - 1) * slice(a);
      }
    }
    // Moves to the same position in the next slice.
    PLAQ_FN void step(const TensorHopArgs& a) {
      at += slice(a), t += 1, odd ^= 1;
      PLAQ_UNROLL for (int d = 2; d < 6; d++)
        neighbour[d] += leaves(a.geom, d) ? slice(a) / (u32)extent(a.geom, d / 2) : slice(a);
      along_x_and_t(a);
    }
  };
  // Links and blocks of a site as they are in memory; a lane without a number of its own reads that of another lane.
  struct Matrices {
    uint4 link[2], block[2];
    PLAQ_FN void load(const TensorHopArgs& a, const TensorLane& lane, const Place& p) {
      const u32 number = min(lane.g >> 1, 2) * 3 + min(lane.colour, 2), at = p.at / Place::unit * 18;
      const uint4* from = (const uint4*)a.links + (at + 2 * number);
      PLAQ_UNROLL for (int i = 0; i < 2; i++) link[i] = load_uncached(from + i);
      const uint4* of_blocks = (const uint4*)a.blocks + (at + number);
      if (a.site_term()) PLAQ_UNROLL for (int i = 0; i < 2; i++) block[i] = load_uncached(of_blocks + 9 * i);
    }
  };
  // The address at which a lane finds the spinors of a group in `in`. A lane without a right-hand
  // side or colour takes those of another lane. The value is hidden from the compiler, so that an
  // address is this plus an offset and is not computed anew.
  static PLAQ_FN const uint4* of_lane(const TensorHopArgs& a, const TensorLane& lane, int k) {
    const int last = k + 1 < groups ? each - 1 : nrhs - k * each - 1;
    const uint4* from = (const uint4*)a.inp + (min(lane.g, last) + k * each) * 3 + min(lane.colour, 2);
    asm("" : "+l"(from));
    return from;
  }

  // A block goes through some time-slices of a tile of rows, all of x and some of y and z, a few slices of each row at a
  // time, so that what several sites need is read by all of them before the second-level cache has lost it. A warp has a
  // site at a time; what it needs for the next group of right-hand sides or the next site is on its way meanwhile.
  static constexpr int chunk = TENSOR_SLICES;
  static PLAQ_FN void site(const TensorHopArgs& a, int o, int, int) {
    const Geom& geom = a.geom;
    const u32 half = geom.x() / 2, ty = a.tile_y(), across = geom.y() / ty, along = geom.z() / a.tile_z(), block = (u32)o / PLAQ_BLOCK;
    const int y0 = (int)(block % across * ty), z0 = (int)(block / across % along) * a.tile_z();
    const int t0 = (int)(block / (across * along)) * a.slices(), slices = min(a.slices(), geom.t() - t0);
    const u32 sites = half * ty * a.tile_z();
    const TensorLane lane(threadIdx.x % 32);
    const auto place = [&](u32 i, int t) {
      const u32 row = i / half;
      return Place(a, (int)(i % half), y0 + (int)(row % ty), z0 + (int)(row / ty), t);
    };
    u32 i = threadIdx.x / 32;
    if (i >= sites) return;
    Place here = place(i, t0);
    Matrices next;
    next.load(a, lane, here);
    uint4 in[8];
    const uint4* from[2] = {of_lane(a, lane, 0), of_lane(a, lane, groups - 1)};
    PLAQ_UNROLL for (int d = 0; d < 8; d++) in[d] = __ldg(from[0] + here.neighbour[d]);
    for (int t1 = t0; t1 < t0 + slices;) {
      u32 links[8], blocks[2][2][2];
      PLAQ_UNROLL for (int k = 0; k < 2; k++) {
        links[4 * k] = lane.entry(next.link[k].x), links[4 * k + 1] = lane.entry(next.link[k].y);
        links[4 * k + 2] = lane.entry(next.link[k].z), links[4 * k + 3] = lane.entry(next.link[k].w);
      }
      if (a.site_term()) PLAQ_UNROLL for (int chirality = 0; chirality < 2; chirality++) {
        const uint4 q = next.block[chirality];
        blocks[chirality][0][0] = lane.entry(q.x), blocks[chirality][0][1] = lane.entry(q.y);
        blocks[chirality][1][0] = lane.entry(q.z), blocks[chirality][1][1] = lane.entry(q.w);
      }
      const u32 at = here.at;
      PLAQ_UNROLL for (int k = 0; k < groups; k++) {
        if (k + 1 == groups) {
          // t1 is the slice where this chunk begins.
          if (here.t + 1 < min(t1 + chunk, t0 + slices)) {
            here.step(a);
          } else {
            i += PLAQ_BLOCK / 32;
            if (i >= sites) i = threadIdx.x / 32, t1 += chunk;
            // The prefetch after the last site is not used, but needs a valid address.
            here = place(i, min(t1, geom.t() - 1));
          }
          next.load(a, lane, here);
        }
        // Sums of spin s and of spin s + 2: (re, im) of the lane's colour.
        float sum[2][4];
        PLAQ_UNROLL for (int s = 0; s < 2; s++) PLAQ_UNROLL for (int n = 0; n < 4; n++) sum[s][n] = 0;
        PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) {
          u32 back[2][2], forth[2][2];
          tensor_rows(back, in[2 * mu], mu, -1);
          tensor_rows(forth, in[2 * mu + 1], mu, 1);
          PLAQ_UNROLL for (int d = 2 * mu; d < 2 * mu + 2; d++) in[d] = __ldg(from[(k + 1) % groups] + here.neighbour[d]);
          const u32 b[2] = {links[2 * mu], links[2 * mu + 1]};
          PLAQ_UNROLL for (int s = 0; s < 2; s++) {
            const u32 rows[4] = {back[s][0], back[s][1], forth[s][0], forth[s][1]};
            tensor_product(sum[s], rows, b);
          }
        }
        cplx<float> out[4];
        PLAQ_UNROLL for (int s = 0; s < 4; s++) out[s] = {sum[s % 2][s / 2 * 2], sum[s % 2][s / 2 * 2 + 1]};
        if (a.site_term()) PLAQ_UNROLL for (int chirality = 0; chirality < 2; chirality++) {
          const u32 rows[4] = {to_halves(out[2 * chirality]), 0, to_halves(out[2 * chirality + 1]), 0};
          PLAQ_UNROLL for (int s = 0; s < 2; s++) {
            float product[4] = {0, 0, 0, 0};
            tensor_product(product, rows, blocks[chirality][s]);
            out[2 * chirality + s] = {product[0], product[1]};
          }
        }
        if (lane.colour < 3 && lane.g < (k + 1 < groups ? each : nrhs - k * each)) {
          uint4* to = (uint4*)a.out + lane.g * 3 + lane.colour + at + k * (3 * each);
          asm volatile("st.global.L1::no_allocate.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(to_halves(out[0])),
                       "r"(to_halves(out[1])), "r"(to_halves(out[2])), "r"(to_halves(out[3])));
        }
      }
    }
  }
#else
  // Computes the hop and site term in single precision on a CPU, a lane at a time.
  static PLAQ_FN void site(const TensorHopArgs& a, int o, int lx, int batch) {
    const Site s = site_at(a.geom, o, a.parity, lx);
    const i64 at = column_site(s);
    const int nrhs = a.nrhs();
    Spinor<float> acc = {};
    for (int mu = 0; mu < 4; mu++) for (int forward = 0; forward < 2; forward++) {
      int x[4];
      for (int nu = 0; nu < 4; nu++) x[nu] = global_coordinate(a.geom, s, s.lx, nu) - a.geom.origin[nu];
      const int last = local_extent(a.geom, mu) - 1, to = x[mu] + (forward ? 1 : -1);
      const bool leaves = has_halo(a.geom, mu) && (to < 0 || to > last);
      x[mu] = to < 0 ? last : to > last ? 0 : to;
      const i64 from = leaves ? a.behind + sites_behind(a.geom, 2 * mu + forward) + face_place(a.geom, x, mu)
                              : column_site(local_site(a.geom, x));
      Spinor<float> p;
      for (int c = 0; c < 3; c++) {
        const HalfSpins q = load_half_spins(a.inp, half_spins_at(from, c, nrhs, batch));
        for (int k = 0; k < 4; k++) {
          const cplx<float> z = from_halves(q.s[k]);
          p.v[2 * (3 * k + c)] = z.re, p.v[2 * (3 * k + c) + 1] = z.im;
        }
      }
      Su3<float> u;
      for (int i = 0; i < 9; i++) u.e[i / 3][i % 3] = from_halves(((const u32*)a.links)[table_link(at, mu, i / 3, forward, i % 3)]);
      HalfSpinor<float> h, r;
      const float g = forward ? 1 : -1;
      project(h, p, mu, g, PlainSum());
      multiply(r, u, h, false);
      unproject(acc, r, mu, g, 1.0f);
    }
    cplx<float> out[4][3];
    for (int k = 0; k < 4; k++) for (int c = 0; c < 3; c++) {
      out[k][c] = acc.at(k, c);
      if (!a.site_term()) continue;
      cplx<float> z = {0, 0};
      for (int from = 0; from < 2; from++) for (int d = 0; d < 3; d++)
        z = madd(z, from_halves(((const u32*)a.blocks)[table_block(at, k / 2, c, d, k % 2, from)]), acc.at(k / 2 * 2 + from, d));
      out[k][c] = z;
    }
    for (int c = 0; c < 3; c++) {
      HalfSpins q;
      for (int k = 0; k < 4; k++) q.s[k] = to_halves(out[k][c]);
      store_half_spins(a.out, half_spins_at(at, c, nrhs, batch), q);
    }
  }
#endif
};

}  // namespace PLAQ_NS
