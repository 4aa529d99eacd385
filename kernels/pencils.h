// An order of blocks of consecutive sites in one launch on a GPU. Blocks fill pencils, whose long side is t, so that
// what a block shares with its neighbours is still in the second-level cache. Blocks start in the order of their
// numbers.
#pragma once
#include "geometry.h"

namespace PLAQ_NS {

// The inner sites of one parity: number of sites of a row along x, number of rows along y, extents along z and t.
struct InnerExtents {
  int row, ny, nz, nt;
#if PLAQ_GPU  // where extents are constants
  // `halos`: bit mu is set if sites at the faces across mu are not among them.
  static PLAQ_FN constexpr InnerExtents of(const Geom& g, int halos) {
    const int row = g.x() / 2 - (halos & 1), ny = g.y() - (halos & 2), nz = g.z() - (halos & 4) / 2, nt = g.t() - (halos & 8) / 4;
    return {row > 0 ? row : 1, ny > 0 ? ny : 1, nz > 0 ? nz : 1, nt > 0 ? nt : 1};
  }
#endif
};

// A row consists of the sites of one parity along x, a piece of the sites of a block. A slice has nz times `pieces`
// pieces, and there are nt slices. The cross-section of a pencil is pz times py pieces. Without pieces blocks are in
// the order of their sites.
struct Pencils {
  u32 sites, pieces, nz, nt, py, pz;

  static PLAQ_FN constexpr int side(int rows) {
    int n = 1;
    while ((n + 1) * (n + 1) <= rows) n++;
    return n;
  }
  static PLAQ_FN constexpr int divisor(int n, int max) {
    while (max > 1 && n % max) max--;
    return max < 1 ? 1 : max;
  }
  static PLAQ_FN constexpr int whole_pieces(int slice, int sites) { return slice % sites ? 0 : slice / sites; }

  // Pencils with a cross-section that is as square as possible, of slices with some 5 MB, where a site has `bytes` bytes
  // in all columns: a tenth of a large second-level cache.
  static PLAQ_FN constexpr Pencils square(const InnerExtents& e, int sites, int bytes) {
    const int pieces = whole_pieces(e.row * e.ny, sites), max = side((5 << 20) / bytes / e.row);
    // The cross-section may become twice as large rather than less than half as large as asked for.
    const int thin = divisor(e.nz, max);
    return {(u32)sites,
            (u32)pieces,
            (u32)e.nz,
            (u32)e.nt,
            (u32)divisor(pieces > 0 ? pieces : 1, max * e.row / sites),
            (u32)(2 * thin < max ? divisor(e.nz, 2 * max) : thin)};
  }
  // Slabs with all of y and as many values of z as `rows` rows allow, so that nothing is read twice at ends in y.
  static PLAQ_FN constexpr Pencils slabs(const InnerExtents& e, int sites, int rows) {
    const int pieces = whole_pieces(e.row * e.ny, sites);
    return {(u32)sites, (u32)pieces, (u32)e.nz, (u32)e.nt, (u32)(pieces > 0 ? pieces : 1), (u32)divisor(e.nz, rows / e.ny)};
  }

  // The first site, in the order of a plane, of block b.
  PLAQ_FN int first_site(u32 b) const {
    if (pieces == 0) return b * sites;
    const u32 y = b % py, z = b / py % pz, t = b / (py * pz) % nt, pencil = b / (py * pz * nt);
    const u32 piece = pencil % (pieces / py) * py + y;
    return ((t * nz + pencil / (pieces / py) * pz + z) * pieces + piece) * sites;
  }
};

}  // namespace PLAQ_NS
