// An order of blocks of consecutive sites in one launch on a GPU. Blocks fill pencils, whose long side is t, so that
// what a block shares with its neighbours is still in the second-level cache. Blocks start in the order of their
// numbers.
#pragma once
#include "plaq_dialect.h"

namespace PLAQ_NS {

// A row consists of the sites of one parity along x, a piece of the sites of a block. A slice has nz times `pieces`
// pieces, and there are nt slices. The cross-section of a pencil is pz times py pieces. Without pieces blocks are in
// the order of their sites.
struct Pencils {
  u32 sites, pieces, nz, nt, py, pz;

  static PLAQ_FN constexpr int some(int n) { return n > 0 ? n : 1; }
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

  // Pencils with a cross-section of about `rows` rows that is as square as possible.
  static PLAQ_FN constexpr Pencils square(int row, int ny, int nz, int nt, int sites, int rows) {
    const int pieces = whole_pieces(row * ny, sites), max = side(rows);
    // The cross-section may become twice as large rather than less than half as large as asked for.
    const int thin = divisor(nz, max);
    return {(u32)sites,
            (u32)pieces,
            (u32)nz,
            (u32)nt,
            (u32)divisor(some(pieces), max * row / sites),
            (u32)(2 * thin < max ? divisor(nz, 2 * max) : thin)};
  }
  // Slabs with all of y and as many values of z as `rows` rows allow, so that nothing is read twice at ends in y.
  static PLAQ_FN constexpr Pencils slabs(int row, int ny, int nz, int nt, int sites, int rows) {
    const int pieces = whole_pieces(row * ny, sites);
    return {(u32)sites, (u32)pieces, (u32)nz, (u32)nt, (u32)some(pieces), (u32)divisor(nz, rows / ny)};
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
