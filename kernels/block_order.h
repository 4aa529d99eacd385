// Orders of blocks in one launch on a GPU. Blocks start in the order of their numbers.
#pragma once
#include "geometry.h"

namespace PLAQ_NS {

// Order of the inner and outer blocks of a hop.
struct BlockOrder {
  // The order: `alone` inner blocks, then `beside` outer blocks spread evenly among the other inner ones, then the
  // remaining outer blocks.
  u32 inner, alone, beside;

  // Number `number` among the inner or among the outer blocks.
  struct Block {
    bool outer;
    u32 number;
  };
  // The block that comes as number b of the order.
  PLAQ_FN Block at(u32 b) const {
    Block block{b >= inner + beside, b};
    if (block.outer) {
      block.number = b - inner;
    } else if (b >= alone) {
      const u64 c = b - alone, mixed = inner - alone + beside;
      const u32 before = c * beside / mixed;  // outer blocks
      block.outer = (c + 1) * beside / mixed > before;
      block.number = block.outer ? before : b - before;
    }
    return block;
  }

  // All outer blocks at the end: messages have as much time as all inner blocks take.
  static PLAQ_FN BlockOrder at_end(const Geom& g, u32 sites) {
    const u32 inner = (inner_sites(g) + sites - 1) / sites;
    return {inner, inner, 0};
  }
  // Outer blocks of a time-slice beside the inner blocks of that slice, which need the same spinors. At the end come
  // those of the first slices, which would have to wait for messages, and those of the faces across t.
  static PLAQ_FN BlockOrder by_slices(const Geom& g, u32 sites) {
    BlockOrder order = at_end(g, sites);
    const int slices = inner_slices(g), late = late_slices(g);
    if (slices > 0) order.alone = (u64)order.inner * late / slices;
    order.beside = (u32)slice_outer_sites(g) * (slices - late) / sites;
    return order;
  }
};

// Order of the slices of both parities in a whole sweep. Odd slices follow `lag` slices behind the even ones: an odd
// slice needs three even ones, which have been done by then and whose links are still in the cache.
struct SweepOrder {
  int slices, lag;
  struct Slice {
    int slice, parity;
  };
  // First the even slices 0 to lag - 1; then even lag + k and odd 1 + k in turn; then the remaining odd slices, with
  // slice 0 as the last.
  PLAQ_FN Slice at(int n) const {
    const int both = slices - lag, i = n - lag;
    if (i < 0) return {n, 0};
    if (i >= 2 * both) return {(i - both + 1) % slices, 1};
    return {i / 2 + (i % 2 ? 1 : lag), i % 2};
  }
};

}  // namespace PLAQ_NS
