// The hop of several right-hand sides on a GPU's tensor cores, followed by a site term: out = S sum_mu (terms of hop),
// without a sum of anything else. Spinors are columns in half precision (half_columns.h); links, with all coefficients and
// phases, and the site term's blocks are tables in half precision.
//   links: [site][axis][row][backward, forward][column], blocks: [site][chirality][colour][colour'][spin][spin'], both of
//   matrices that are multiplied from the left, in pairs (re, im).
#pragma once
#include "half_columns.h"
#include "wilson.h"

namespace PLAQ_NS {

// Site of a table or of columns.
PLAQ_FN i64 column_site(const Site& s) { return (i64)s.o * PLAQ_LANES + s.lx; }
// Of numbers (re, im).
PLAQ_FN i64 table_link(i64 site, int mu, int row, bool forward, int column) {
  return (((site * 4 + mu) * 3 + row) * 2 + forward) * 3 + column;
}
PLAQ_FN i64 table_block(i64 site, int chirality, int c, int d, int spin, int from) {
  return ((((site * 2 + chirality) * 3 + c) * 3 + d) * 2 + spin) * 2 + from;
}

// The tables of one parity, of the terms and the site operator of a hop.
template <int W, class S, int RECON> struct TensorTables {
  typedef typename S::C R;
  static PLAQ_FN void site(const TensorTablesArgs& a, int o, int lx, int) {
    const HopArgs& h = a.hop;
    const Site s = site_at(h.geom, o, h.parity(), lx);
    const i64 at = column_site(s);
    PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) PLAQ_UNROLL for (int forward = 0; forward < 2; forward++) {
      const Site from = forward ? s : neighbour(h.geom, s, mu, false);
      Su3<R> u;
      load_link<S, RECON>(u, plane(h.gauge, from.par), from, mu, keep);
      cplx<R> f = {(R)h.coef[mu], 0};
      if (has_phase(h, s, mu, forward)) f = (R)h.coef[mu] * boundary_phase<R>(h, s, mu, forward);
      PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < 3; j++) {
        const cplx<R> z = f * (forward ? u.e[i][j] : conj(u.e[j][i]));
        ((u32*)a.links)[table_link(at, mu, i, forward, j)] = to_halves({(float)z.re, (float)z.im});
      }
    }
    if (h.site_hop() == SITE_ONE) return;
    for (int chirality = 0; chirality < 2; chirality++) for (int column = 0; column < 6; column++) {
      R v[12];
      PLAQ_UNROLL for (int i = 0; i < 12; i++) v[i] = i == 2 * column ? 1 : 0;
      apply_chirality(v, h.site_hop(), chirality, h.twist, h.twist_scale, [&](R (&b)[36], int which) {
        load_block<S>(b, plane(h.clover, h.parity() + 2 * which), s, chirality, keep);
      });
      PLAQ_UNROLL for (int row = 0; row < 6; row++)
        ((u32*)a.blocks)[table_block(at, chirality, row % 3, column % 3, row / 3, column / 3)] =
            to_halves({(float)v[2 * row], (float)v[2 * row + 1]});
    }
  }
};

// Columns of a spinor field, with scales from |v|^2; these are left for who reads the columns.
template <int W, class S> struct TensorTake {
  static PLAQ_FN void site(const TensorTakeArgs& a, int o, int lx, int batch) {
    const int nrhs = a.nrhs();
#if PLAQ_GPU
    const int rhs = (int)((u32)o % (u32)nrhs);
    o = (int)((u32)o / (u32)nrhs);
#else
    const int rhs = batch;
#endif
    Site s{};
    s.o = o, s.lx = lx;
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

#if PLAQ_GPU
// Links and blocks, which nobody else reads from the first-level cache.
PLAQ_FN uint2 load_past(const uint2* at) {
  uint2 q;
  asm("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(q.x), "=r"(q.y) : "l"(at));
  return q;
}
PLAQ_FN uint4 load_past(const uint4* at) {
  uint4 q;
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(q.x), "=r"(q.y), "=r"(q.z), "=r"(q.w) : "l"(at));
  return q;
}

// What a lane of a warp does: lane 4 g + t has right-hand side g of a group of up to eight. It loads both neighbours
// along axis t and projects them. These are rows g (an upper spin) and g + 8 (the lower one that is two spins further) of
// the first factor, whose columns k are the pairs (axis, direction, colour); the links are the other one. The sum has
// colour t of all four spins, and that is the form in which the blocks of the site term want it.
struct TensorLane {
  int g, axis;
  // Which one of spins 2 and 3 is added to upper spin s, or of the projected ones is spin 2 + s, and are its parts
  // exchanged.
  u32 partner[2];
  // Signs of both, of steps forward.
  u32 sign[2], lower_sign[2];
  // Of row g / 2 of a matrix: (re, -im) for a sum's real part, (im, re) for the imaginary one; no row 3.
  u32 turn, minus, there;

  PLAQ_FN explicit TensorLane(int lane) : g(lane >> 2), axis(lane & 3) {
    constexpr u32 first = 0x3210, first_i = 0x1032, second = 0x7654, second_i = 0x5476;
    constexpr u32 plus = 0x3C003C00, less = 0xBC00BC00, minus_i = 0xBC003C00, plus_i = 0x3C00BC00;
    partner[0] = axis == 0 ? second_i : axis == 1 ? second : axis == 2 ? first_i : first;
    partner[1] = axis == 0 ? first_i : axis == 1 ? first : axis == 2 ? second_i : second;
    sign[0] = axis == 1 ? plus : axis == 3 ? less : minus_i;
    sign[1] = axis == 2 ? plus_i : axis == 0 ? minus_i : less;
    lower_sign[0] = axis % 2 == 0 ? 0x00008000 : 0x80008000;
    lower_sign[1] = axis == 0 ? 0x00008000 : axis == 1 ? 0 : axis == 2 ? 0x80000000 : 0x80008000;
    turn = g & 1 ? first_i : first;
    minus = g & 1 ? 0 : 0x80000000;
    there = g < 6 ? 0xffffffff : 0;
  }
  // A number of a matrix as a pair of rows of the second factor.
  PLAQ_FN u32 entry(u32 z) const { return (__byte_perm(z, 0, turn) ^ minus) & there; }
  // Rows of one colour for upper spins 0 and 1 and those below them: (g, g + 8) for each.
  PLAQ_FN void project(u32 (&rows)[2][2], const uint4& q, bool forward) const {
    const u32 flip = forward ? 0 : 0x80008000;
    const u32 up[2] = {fma_halves(__byte_perm(q.z, q.w, partner[0]), sign[0] ^ flip, q.x),
                       fma_halves(__byte_perm(q.z, q.w, partner[1]), sign[1] ^ flip, q.y)};
    PLAQ_UNROLL for (int s = 0; s < 2; s++) {
      rows[s][0] = up[s];
      rows[s][1] = __byte_perm(up[0], up[1], partner[s]) ^ lower_sign[s] ^ flip;
    }
  }
};
#endif

template <int W> struct TensorHop {
#if PLAQ_GPU
  // Right-hand sides of a group, and groups.
  static constexpr int nrhs = TensorHopArgs{}.nrhs(), groups = (nrhs + 7) / 8, each = (nrhs + groups - 1) / groups;

  // A block goes through some time-slices of a tile of rows, all of x and some of y and z, so that what it reads is
  // still in the first-level cache in the next slice, and from the other rows of the tile. A warp has a site.
  static PLAQ_FN void site(const TensorHopArgs& a, int o, int, int) {
    const Geom& geom = a.geom;
    const int half = geom.x() / 2, ny = geom.y(), nz = geom.z(), nt = geom.t();
    const u32 across = ny / a.tile_y(), tiles = across * (nz / a.tile_z()), block = (u32)o / PLAQ_BLOCK;
    const int y0 = (int)(block % across) * a.tile_y(), z0 = (int)(block / across % (u32)(nz / a.tile_z())) * a.tile_z();
    const int t0 = (int)(block / tiles) * a.slices(), t1 = t0 + a.slices() < nt ? t0 + a.slices() : nt;
    const int sites = half * a.tile_y() * a.tile_z(), warp = threadIdx.x / 32;
    const TensorLane lane(threadIdx.x % 32);
    for (int t = t0; t < t1; t++) {
      for (int i = warp; i < sites; i += PLAQ_BLOCK / 32) {
        const int xh = i % half, row = i / half;
        one_site(a, lane, xh, y0 + row % a.tile_y(), z0 + row / a.tile_y(), t);
      }
      __syncthreads();
    }
  }
  static PLAQ_FN void one_site(const TensorHopArgs& a, const TensorLane& lane, int xh, int y, int z, int t) {
    const Geom& geom = a.geom;
    const int half = geom.x() / 2, ny = geom.y(), nz = geom.z(), nt = geom.t(), axis = lane.axis;
    const int at = ((t * nz + z) * ny + y) * half + xh, odd = (y + z + t + a.parity) & 1;
    // Steps along the lane's axis.
    const int c = axis == 1 ? y : axis == 2 ? z : t, last = (axis == 1 ? ny : axis == 2 ? nz : nt) - 1;
    const int stride = axis == 1 ? half : axis == 2 ? half * ny : half * ny * nz;
    int forth = (c == last ? -last : 1) * stride, back = (c == 0 ? last : -1) * stride;
    if (axis == 0) {
      forth = !odd ? 0 : xh == half - 1 ? 1 - half : 1;
      back = odd ? 0 : xh == 0 ? half - 1 : -1;
    }
    const int neighbour[2] = {at + back, at + forth};

    // Lanes without a right-hand side take one of another lane.
    uint4 in[groups][2][3];
    const int rhs = min(lane.g, each - 1), fewer = groups * each > nrhs && rhs == each - 1;
    PLAQ_UNROLL for (int f = 0; f < 2; f++) {
      const uint4* from = (const uint4*)a.inp + (u32)(neighbour[f] * (3 * nrhs) + rhs);
      PLAQ_UNROLL for (int k = 0; k < groups; k++) PLAQ_UNROLL for (int j = 0; j < 3; j++)
        in[k][f][j] = __ldg(from + j * nrhs + k * each - (k + 1 < groups ? 0 : fewer));
    }
    // Of three rows of links the last stands for the fourth, which is not there.
    const int row = min(lane.g >> 1, 2);
    u32 links[2][3];
    {
      const uint2* from = (const uint2*)a.links + ((i64)at * 4 + axis) * 9 + row * 3;
      const uint2 q[3] = {load_past(from), load_past(from + 1), load_past(from + 2)};
      links[0][0] = lane.entry(q[0].x), links[0][1] = lane.entry(q[0].y), links[0][2] = lane.entry(q[1].x);
      links[1][0] = lane.entry(q[1].y), links[1][1] = lane.entry(q[2].x), links[1][2] = lane.entry(q[2].y);
    }
    u32 blocks[2][2][2];
    if (a.site_term()) PLAQ_UNROLL for (int chirality = 0; chirality < 2; chirality++) {
      const uint4 q = load_past((const uint4*)a.blocks + (((i64)at * 2 + chirality) * 3 + row) * 3 + min(axis, 2));
      blocks[chirality][0][0] = lane.entry(q.x), blocks[chirality][0][1] = lane.entry(q.y);
      blocks[chirality][1][0] = lane.entry(q.z), blocks[chirality][1][1] = lane.entry(q.w);
    }
    PLAQ_UNROLL for (int k = 0; k < groups; k++) {
      // Of spin s and of the one two further: (re, im) of colour t.
      float sum[2][4];
      PLAQ_UNROLL for (int s = 0; s < 2; s++) PLAQ_UNROLL for (int i = 0; i < 4; i++) sum[s][i] = 0;
      PLAQ_UNROLL for (int j = 0; j < 3; j++) {
        u32 back_rows[2][2], forth_rows[2][2];
        lane.project(back_rows, in[k][0][j], false);
        lane.project(forth_rows, in[k][1][j], true);
        const u32 b[2] = {links[0][j], links[1][j]};
        PLAQ_UNROLL for (int s = 0; s < 2; s++) {
          const u32 rows[4] = {back_rows[s][0], back_rows[s][1], forth_rows[s][0], forth_rows[s][1]};
          tensor_product(sum[s], rows, b);
        }
      }
      cplx<float> out[4];
      PLAQ_UNROLL for (int s = 0; s < 4; s++) out[s] = {sum[s % 2][s / 2 * 2], sum[s % 2][s / 2 * 2 + 1]};
      if (a.site_term()) PLAQ_UNROLL for (int chirality = 0; chirality < 2; chirality++) {
        // Rows g are the numbers in eleven bits, rows g + 8 what these leave.
        const cplx<float> v = out[2 * chirality], w = out[2 * chirality + 1];
        const u32 high[2] = {to_halves(v), to_halves(w)};
        const u32 rows[4] = {high[0], to_halves(v - from_halves(high[0])), high[1], to_halves(w - from_halves(high[1]))};
        PLAQ_UNROLL for (int s = 0; s < 2; s++) {
          float product[4] = {0, 0, 0, 0};
          tensor_product(product, rows, blocks[chirality][s]);
          out[2 * chirality + s] = {product[0] + product[2], product[1] + product[3]};
        }
      }
      if (axis < 3 && lane.g < (k + 1 < groups ? each : nrhs - k * each)) {
        uint4* to = (uint4*)a.out + (u32)(at * (3 * nrhs) + axis * nrhs + lane.g) + k * each;
        asm volatile("st.global.L1::no_allocate.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(to_halves(out[0])), "r"(to_halves(out[1])),
                     "r"(to_halves(out[2])), "r"(to_halves(out[3])));
      }
    }
  }
#else
  // The same in single precision, a lane at a time.
  static PLAQ_FN void site(const TensorHopArgs& a, int o, int lx, int batch) {
    const Site s = site_at(a.geom, o, a.parity, lx);
    const i64 at = column_site(s);
    const int nrhs = a.nrhs();
    Spinor<float> acc = {};
    for (int mu = 0; mu < 4; mu++) for (int forward = 0; forward < 2; forward++) {
      const Site n = neighbour(a.geom, s, mu, forward);
      Spinor<float> p;
      for (int c = 0; c < 3; c++) {
        const HalfSpins q = load_half_spins(a.inp, half_spins_at(column_site(n), c, nrhs, batch));
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
