// The order of inner and outer blocks in one launch on a GPU. Blocks start in the order of their numbers.
#pragma once
#include "geometry.h"

namespace PLAQ_NS {

struct BlockOrder {
  // `alone` inner blocks, then `beside` outer ones in equal steps among the other inner ones, then the
  // rest of the outer ones.
  u32 inner, alone, beside;

  struct Turn {
    bool outer;
    u32 block;  // its number among inner or outer ones
  };
  PLAQ_FN Turn turn(u32 b) const {
    Turn turn{b >= inner + beside, b};
    if (turn.outer) {
      turn.block = b - inner;
    } else if (b >= alone) {
      const u64 c = b - alone, mixed = inner - alone + beside;
      const u32 before = c * beside / mixed;  // outer blocks
      turn.outer = (c + 1) * beside / mixed > before;
      turn.block = turn.outer ? before : b - before;
    }
    return turn;
  }

  // All outer blocks at the end: messages have the time of all inner ones.
  static PLAQ_FN BlockOrder at_end(const Geom& g, u32 sites) {
    const u32 inner = (inner_sites(g) + sites - 1) / sites;
    return {inner, inner, 0};
  }
  // Outer blocks of a time-slice beside the inner blocks of that slice, which need the same spinors;
  // at the end those of the first slices, which would wait, and of the faces across t.
  static PLAQ_FN BlockOrder by_slices(const Geom& g, u32 sites) {
    BlockOrder order = at_end(g, sites);
    const int slices = inner_slices(g), late = late_slices(g);
    if (slices > 0) order.alone = (u64)order.inner * late / slices;
    order.beside = (u32)slice_outer_sites(g) * (slices - late) / sites;
    return order;
  }
};

}  // namespace PLAQ_NS
