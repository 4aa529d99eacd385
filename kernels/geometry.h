// Checkerboarded lattice: parity p = (x+y+z+t)&1, outer index o = ((t*Z+z)*Y+y)*X/2 + x/2.
// On the CPU the lattice is split in two along up to four directions; the 16 pieces are the lanes
// and (x,y,z,t) are the coordinates inside a piece. Directions that are split carry a lane bit.
// Where a piece has an odd extent, the seam between two pieces turns the direction `turning` by half
// of its extent, which is odd as well: the parity of a site is then the same in all lanes.
// Directions divided over ranks have halos (`halos`, a bit each): links are stored one site beyond
// the faces of a piece, coordinates -1 and extent, and have an index `e` of their own; spinors
// across such a face come from messages (wilson.h).
#pragma once
#include "plaq_args.h"

namespace PLAQ_NS {

struct Site {
  int o, par;       // outer index, parity
  int e;            // index among the links' sites; o where there are no halos
  int xh, y, z, t;  // coordinates inside a lane's piece; x = 2*xh + row
  int row;          // x & 1
  int lx;           // first lane (multiple of W) xor seams crossed so far
};

PLAQ_FN int volume(const Geom& g) { return g.x() / 2 * g.y() * g.z() * g.t(); }

PLAQ_FN bool has_halo(const Geom& g, int mu) { return (g.halos() >> mu) & 1; }

// Strides of the index e in y, z, t.
PLAQ_FN int link_stride(const Geom& g, int mu) {
  int stride = g.x() / 2 + has_halo(g, 0);
  if (mu > 1) stride *= g.y() + 2 * has_halo(g, 1);
  if (mu > 2) stride *= g.z() + 2 * has_halo(g, 2);
  return stride;
}

// Sets both indices of s, o and e, from its parity and coordinates; for a site of the border o has no meaning.
PLAQ_FN void set_indices(const Geom& g, Site& s) {
  s.o = ((s.t * g.z() + s.z) * g.y() + s.y) * (g.x() / 2) + s.xh;
  s.e = s.o;
  if (g.halos() == 0) return;
  // x is 2 xh + row. With a halo in x one site precedes it, and half of x + 1 is xh + row.
  s.e = s.xh + (has_halo(g, 0) ? s.row : 0) + (s.y + has_halo(g, 1)) * link_stride(g, 1) +
        (s.z + has_halo(g, 2)) * link_stride(g, 2) + (s.t + has_halo(g, 3)) * link_stride(g, 3);
}

// The site of this parity with coordinates y, z, t, and x = 2 xh or 2 xh + 1.
PLAQ_FN Site site_of(const Geom& g, int xh, int y, int z, int t, int par, int lx) {
  Site s;
  s.par = par, s.lx = lx;
  s.xh = xh, s.y = y, s.z = z, s.t = t;
  s.row = (y + z + t + par) & 1;
  set_indices(g, s);
  return s;
}

PLAQ_FN Site site_at(const Geom& g, int o, int par, int lx) {
  u32 i = o, half = g.x() / 2;
  const int xh = i % half;
  i /= half;
  const int y = i % (u32)g.y();
  i /= (u32)g.y();
  return site_of(g, xh, y, i % (u32)g.z(), i / (u32)g.z(), par, lx);
}

PLAQ_FN int lane_bit(const Geom& g, int mu) {
  return mu == 0 ? g.lane_x() : mu == 1 ? g.lane_y() : mu == 2 ? g.lane_z() : g.lane_t();
}
PLAQ_FN int extent(const Geom& g, int mu) {
  return mu == 0 ? g.x() : mu == 1 ? g.y() : mu == 2 ? g.z() : g.t();
}
// Extent of the local lattice in direction mu.
PLAQ_FN int local_extent(const Geom& g, int mu) { return extent(g, mu) * (lane_bit(g, mu) ? 2 : 1); }
PLAQ_FN int coordinate(const Site& s, int mu) {
  return mu == 0 ? 2 * s.xh + s.row : mu == 1 ? s.y : mu == 2 ? s.z : s.t;
}

// Lane bits of the directions whose seams turn; x, whose sites are counted in pairs, is none of them. 0 with 16 lanes
// (all extents are divisible by four then) and on GPUs.
PLAQ_FN int turning_bits(const Geom& g) {
  if (PLAQ_GPU || PLAQ_LANES == 16) return 0;
  return (g.y() & 1 ? g.lane_y() : 0) | (g.z() & 1 ? g.lane_z() : 0) | (g.t() & 1 ? g.lane_t() : 0);
}
// The direction that seams turn: the first one not split over lanes, as 4 does not divide its extent. It is never t.
PLAQ_FN int turning(const Geom& g) { return g.lane_x() == 0 && g.x() % 4 ? 0 : g.lane_y() == 0 && g.y() % 4 ? 1 : 2; }
// Whether the lane counts its coordinate `turning` from half of the extent on.
PLAQ_FN int turned(const Geom& g, int lane) {
  int bits = lane & turning_bits(g);
  bits ^= bits >> 2, bits ^= bits >> 1;
  return bits & 1;
}
// Coordinate c of direction mu, half of the local extent further, modulo the extent.
PLAQ_FN int half_further(const Geom& g, int c, int mu) {
  const int l = extent(g, mu), half = l / 2;
  return c < half ? c + half : c - half;
}

// Global coordinate of lane `lane` of the site (lane-serial kernels: lane = s.lx).
PLAQ_FN int global_coordinate(const Geom& g, const Site& s, int lane, int mu) {
  int c = coordinate(s, mu);
  if (turned(g, lane) && mu == turning(g)) c = half_further(g, c, mu);
  return c + ((lane & lane_bit(g, mu)) ? extent(g, mu) : 0) + g.origin[mu];
}

// Lexicographic index of a lane of the site in the local lattice.
PLAQ_FN i64 local_index(const Geom& g, const Site& s, int lane) {
  i64 i = 0;
  PLAQ_UNROLL for (int mu = 3; mu >= 0; mu--)
    i = i * local_extent(g, mu) + global_coordinate(g, s, lane, mu) - g.origin[mu];
  return i;
}

PLAQ_FN int origin_parity(const Geom& g) { return (g.origin[0] + g.origin[1] + g.origin[2] + g.origin[3]) & 1; }

// The site with these local coordinates; -1 means the border of links.
PLAQ_FN Site local_site(const Geom& g, const int (&x)[4]) {
  int c[4], lane = 0;
  PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) {
    const bool upper = x[mu] >= extent(g, mu);
    c[mu] = upper ? x[mu] - extent(g, mu) : x[mu];
    if (upper) lane |= lane_bit(g, mu);
  }
  if (turned(g, lane)) PLAQ_UNROLL for (int mu = 0; mu < 3; mu++) {
    if (mu == turning(g)) c[mu] = half_further(g, c[mu], mu);
  }
  const int par = (x[0] + x[1] + x[2] + x[3] + origin_parity(g)) & 1;
  return site_of(g, (c[0] - (c[0] & 1)) / 2, c[1], c[2], c[3], par, lane);
}

// Whether a step of one site in direction mu leaves this lane's piece.
PLAQ_FN bool at_seam(const Geom& g, const Site& s, int mu, bool forward) {
  return coordinate(s, mu) == (forward ? extent(g, mu) - 1 : 0);
}
// Whether some lanes leave the lattice by a step from s in direction mu, or, with several ranks, their rank's part.
PLAQ_FN bool at_end(const Geom& g, const Site& s, int mu, bool forward) {
  if (at_seam(g, s, mu, forward)) return true;
  return turning_bits(g) && mu == turning(g) && half_further(g, coordinate(s, mu), mu) == (forward ? extent(g, mu) - 1 : 0);
}
// `leaving` in the lanes that leave the lattice by this step, else `other`.
template <class R> PLAQ_FN R select_leaving(const Geom& g, const Site& s, int mu, bool forward, R leaving, R other) {
  const int bits = turning_bits(g);
  if (bits && mu == turning(g)) return by_lane_bits(leaving, other, s.lx, bits, !at_seam(g, s, mu, forward));
  return by_lane_bit(leaving, other, s.lx, lane_bit(g, mu), forward);
}
// Whether a step leaves this lane's piece in a direction with a halo; the index o and the lanes of the neighbour are
// then those of the periodic piece.
PLAQ_FN bool at_halo(const Geom& g, const Site& s, int mu, bool forward) {
  return has_halo(g, mu) && at_seam(g, s, mu, forward);
}

#if !PLAQ_GPU
// Moves site n to where a seam takes it: its coordinate `turning` becomes half of the local extent further.
PLAQ_RARE void cross_seam(const Geom& g, Site& n) {
  const int nu = turning(g), c = half_further(g, coordinate(n, nu), nu);
  if (nu == 0) n.xh = c >> 1;
  if (nu == 1) n.y = c;
  if (nu == 2) n.z = c;
  n.row = (n.y + n.z + n.t + n.par) & 1;
  set_indices(g, n);
}
#endif

// The neighbour one step away; mu and forward are constants where this is inlined. Across a seam
// the lanes change places; with a halo the coordinate becomes -1 or the extent instead.
PLAQ_FN Site neighbour(const Geom& g, const Site& s, int mu, bool forward) {
  Site n = s;
  n.par = s.par ^ 1;
  n.row = mu == 0 ? s.row ^ 1 : s.row;
  const bool seam = at_seam(g, s, mu, forward), wraps = seam && !has_halo(g, mu);
  const int half = g.x() / 2;
  if (mu == 0) {
    const int step = forward ? s.row : s.row - 1;  // x/2 changes only when x crosses an even number
    n.xh = wraps ? (forward ? 0 : half - 1) : s.xh + step;
    n.o = s.o + (seam ? (forward ? 0 : half - 1) : s.xh + step) - s.xh;
    n.e = s.e + n.xh - s.xh + (has_halo(g, 0) ? n.row - s.row : 0);
  } else {
    const int stride = mu == 1 ? half : mu == 2 ? half * g.y() : half * g.y() * g.z();
    const int last = extent(g, mu) - 1;
    n.o = s.o + (seam ? (forward ? -last : last) : forward ? 1 : -1) * stride;
    const int c = coordinate(s, mu);
    const int to = wraps ? (forward ? 0 : last) : forward ? c + 1 : c - 1;
    n.e = s.e + (to - c) * link_stride(g, mu);
    if (mu == 1) n.y = to;
    if (mu == 2) n.z = to;
    if (mu == 3) n.t = to;
  }
  if (g.halos() == 0) n.e = n.o;
  if (wraps) n.lx = s.lx ^ lane_bit(g, mu);
#if !PLAQ_GPU
  if (PLAQ_LANES != 16 && wraps && mu > 0 && (extent(g, mu) & 1)) cross_seam(g, n);
#endif
  return n;
}

// The site with o replaced by e, the index by which link fields with borders count it.
PLAQ_FN Site link_site(const Site& s) {
  Site l = s;
  l.o = s.e;
  return l;
}

// Number of sites of one parity on a face across direction mu, and number of a site among them, which is the same for
// the faces on either side.
PLAQ_FN int face_sites(const Geom& g, int mu) { return volume(g) / extent(g, mu); }
PLAQ_FN int face_index(const Geom& g, const Site& s, int mu) {
  if (mu == 0) return ((s.t * g.z() + s.z) * g.y() + s.y) >> 1;
  const int a = mu == 3 ? s.z : s.t, b = mu == 1 ? s.z : s.y, nb = mu == 1 ? g.z() : g.y();
  return (a * nb + b) * (g.x() / 2) + s.xh;
}
// Half of the lanes of a site are at the outer face where a direction is split over lanes: rows of
// messages hold sites f and f + rows, the second in the lanes that the first leaves free.
PLAQ_FN int face_rows(const Geom& g, int mu) {
  const int face = face_sites(g, mu);
  return lane_bit(g, mu) ? (face + 1) / 2 : face;
}
// The site of parity `par` with number f on the face across mu where coordinate mu is c.
PLAQ_FN Site face_site(const Geom& g, int f, int mu, int c, int par, int lx) {
  u32 i = f;
  if (mu == 0) {
    const int y2 = i % (u32)(g.y() / 2);
    i /= (u32)(g.y() / 2);
    const int z = i % (u32)g.z(), t = i / (u32)g.z();
    return site_of(g, c >> 1, 2 * y2 + ((c + z + t + par) & 1), z, t, par, lx);
  }
  const u32 half = g.x() / 2, nb = mu == 1 ? g.z() : g.y();
  const int xh = i % half;
  i /= half;
  const int b = i % nb, a = i / nb;
  return site_of(g, xh, mu == 1 ? c : b, mu == 2 ? c : mu == 1 ? b : a, mu == 3 ? c : a, par, lx);
}

// Number of inner sites, which need no message, in a lattice with halos; the others are outer
// sites.
PLAQ_FN int inner_sites(const Geom& g) {
  int n = volume(g);
  PLAQ_UNROLL for (int mu = 0; mu < 4; mu++)
    if (has_halo(g, mu)) n = n / extent(g, mu) * (extent(g, mu) - 2);
  return n;
}
PLAQ_FN Site inner_site(const Geom& g, int o, int par, int lx) {
  const int hx = has_halo(g, 0), hy = has_halo(g, 1), hz = has_halo(g, 2), ht = has_halo(g, 3);
  u32 i = o, half = g.x() / 2 - hx, ny = g.y() - 2 * hy, nz = g.z() - 2 * hz;
  const int xh = i % half;
  i /= half;
  const int y = (int)(i % ny) + hy;
  i /= ny;
  const int z = (int)(i % nz) + hz, t = (int)(i / nz) + ht;
  // The interior of a row begins with x = 1 or x = 2, depending on the parity of y + z + t.
  return site_of(g, xh + (hx && ((y + z + t + par) & 1) == 0), y, z, t, par, lx);
}
// Time-slices that are not faces across t. Outer sites of the first quarter of these slices come after the outer sites
// of the others, as they would have to wait for messages (block_order.h).
PLAQ_FN int inner_slices(const Geom& g) { return g.t() - 2 * has_halo(g, 3); }
PLAQ_FN int late_slices(const Geom& g) { return (inner_slices(g) + 3) / 4; }
// Number of outer sites of one parity in a slice that is not a face across t.
PLAQ_FN int slice_outer_sites(const Geom& g) {
  int inner = 1;
  PLAQ_UNROLL for (int mu = 0; mu < 3; mu++) inner *= extent(g, mu) - 2 * has_halo(g, mu);
  return (g.x() * g.y() * g.z() - inner) / 2;
}
// Outer site number o. They are numbered slice by slice, as what a slice needs is close together;
// then the faces across t follow, the upper one first. In a slice the faces follow each other; a
// site belongs to the first face that contains it.
PLAQ_FN Site outer_site(const Geom& g, int o, int par, int lx) {
  const int of_slice = slice_outer_sites(g), slices = inner_slices(g);
  if (o >= of_slice * slices) {
    const int face = face_sites(g, 3), f = o - of_slice * slices;
    return site_at(g, f < face ? f + face * (g.t() - 1) : f - face, par, lx);
  }
  u32 i = o;
  const int turn = (int)(i / (u32)of_slice) + late_slices(g), t = turn % (u32)slices + has_halo(g, 3);
  i %= (u32)of_slice;
  int l[3], from[3] = {0, 0, 0};  // ranges left by the faces before
  PLAQ_UNROLL for (int mu = 0; mu < 3; mu++) l[mu] = extent(g, mu);
  PLAQ_UNROLL for (int mu = 2; mu >= 0; mu--) {
    if (!has_halo(g, mu)) continue;
    const u32 face = mu == 0 ? l[1] * l[2] / 2 : mu == 1 ? l[0] / 2 * l[2] : l[0] / 2 * l[1];
    if (i < 2 * face) {
      const int c = i < face ? 0 : extent(g, mu) - 1;
      if (i >= face) i -= face;
      if (mu == 0) {
        // Pairs of y, (0, 1), (2, 3), ... or with a halo in y (1, 2), (3, 4), ...: one of each has the parity.
        const u32 pairs = l[1] / 2;
        const int y = 2 * (int)(i % pairs) + from[1], z = (int)(i / pairs) + from[2];
        return site_of(g, c >> 1, y + ((c + y + z + t + par) & 1), z, t, par, lx);
      }
      const u32 half = l[0] / 2;
      const int xh = i % half, other = i / half;
      return site_of(g, xh, mu == 1 ? c : other + from[1], mu == 2 ? c : other + from[2], t, par, lx);
    }
    i -= 2 * face;
    l[mu] -= 2, from[mu] = 1;
  }
  return site_of(g, 0, 0, 0, 0, par, lx);
}

}  // namespace PLAQ_NS
