// Checkerboarded lattice: parity p = (x+y+z+t)&1, outer index o = ((t*Z+z)*Y+y)*X/2 + x/2.
// On the CPU the lattice is split in two along up to four directions; the 16 pieces are the lanes
// and (x,y,z,t) are the coordinates inside a piece. Directions that are split carry a lane bit.
#pragma once
#include "plaq_args.h"

namespace PLAQ_NS {

struct Site {
  int o, par;       // outer index, parity
  int xh, y, z, t;  // coordinates inside a lane's piece; x = 2*xh + row
  int row;          // x & 1
  int lx;           // first lane (multiple of W) xor seams crossed so far
};

PLAQ_FN int volume(const Geom& g) { return g.x() / 2 * g.y() * g.z() * g.t(); }

PLAQ_FN Site site_at(const Geom& g, int o, int par, int lx) {
  Site s;
  s.o = o, s.par = par, s.lx = lx;
  u32 i = o, xh = g.x() / 2;
  s.xh = i % xh, i /= xh;
  s.y = i % (u32)g.y(), i /= (u32)g.y();
  s.z = i % (u32)g.z(), s.t = i / (u32)g.z();
  s.row = (s.y + s.z + s.t + par) & 1;
  return s;
}

PLAQ_FN int lane_bit(const Geom& g, int mu) {
  return mu == 0 ? g.lane_x() : mu == 1 ? g.lane_y() : mu == 2 ? g.lane_z() : g.lane_t();
}
PLAQ_FN int extent(const Geom& g, int mu) {
  return mu == 0 ? g.x() : mu == 1 ? g.y() : mu == 2 ? g.z() : g.t();
}
// Extent of the local lattice.
PLAQ_FN int local_extent(const Geom& g, int mu) { return extent(g, mu) * (lane_bit(g, mu) ? 2 : 1); }
PLAQ_FN int coordinate(const Site& s, int mu) {
  return mu == 0 ? 2 * s.xh + s.row : mu == 1 ? s.y : mu == 2 ? s.z : s.t;
}
// Global coordinate of lane `lane` of the site (lane-serial kernels: lane = s.lx).
PLAQ_FN int global_coordinate(const Geom& g, const Site& s, int lane, int mu) {
  return coordinate(s, mu) + ((lane & lane_bit(g, mu)) ? extent(g, mu) : 0) + g.origin[mu];
}

// Lexicographic index of a lane of the site in the local lattice.
PLAQ_FN i64 local_index(const Geom& g, const Site& s, int lane) {
  i64 i = 0;
  PLAQ_UNROLL for (int mu = 3; mu >= 0; mu--)
    i = i * local_extent(g, mu) + global_coordinate(g, s, lane, mu) - g.origin[mu];
  return i;
}

// Does the step of one site in direction mu leave this lane's piece?
PLAQ_FN bool at_seam(const Geom& g, const Site& s, int mu, bool forward) {
  return coordinate(s, mu) == (forward ? extent(g, mu) - 1 : 0);
}

// The site one step away; mu and forward are constants where this is inlined.
PLAQ_FN Site neighbour(const Geom& g, const Site& s, int mu, bool forward) {
  Site n = s;
  n.par = s.par ^ 1;
  n.row = mu == 0 ? s.row ^ 1 : s.row;
  const bool seam = at_seam(g, s, mu, forward);
  const int xh = g.x() / 2;
  if (mu == 0) {
    int step = forward ? s.row : s.row - 1;  // x/2 changes only when x crosses an even number
    int to = s.xh + step;
    if (seam) to = forward ? 0 : xh - 1;
    n.xh = to, n.o = s.o + to - s.xh;
  } else {
    const int stride = mu == 1 ? xh : mu == 2 ? xh * g.y() : xh * g.y() * g.z();
    const int wrap = (extent(g, mu) - 1) * stride;
    n.o = s.o + (seam ? (forward ? -wrap : wrap) : (forward ? stride : -stride));
    const int c = coordinate(s, mu);
    const int to = seam ? (forward ? 0 : extent(g, mu) - 1) : (forward ? c + 1 : c - 1);
    if (mu == 1) n.y = to;
    if (mu == 2) n.z = to;
    if (mu == 3) n.t = to;
  }
  if (seam) n.lx = s.lx ^ lane_bit(g, mu);
  return n;
}

}  // namespace PLAQ_NS
