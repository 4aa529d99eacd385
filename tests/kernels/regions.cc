// Inner and outer sites, and orders of blocks in one launch on a GPU, for many lattices: every site
// comes once, in the region where it belongs; every block, and every slice of a sweep, has one turn; blocks
// of both parities in one launch take every site of either parity once.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define PLAQ_NS plaq
#define PLAQ_LANES 1
#include "block_order.h"
#include "pencils.h"

using namespace plaq;

static void require(bool right, const char* what, const Geom& g) {
  if (right) return;
  std::printf("%d %d %d %d, halos %d: %s\n", g.x(), g.y(), g.z(), g.t(), g.halos(), what);
  std::exit(1);
}

static bool on_face(const Geom& g, const Site& s) {
  for (int mu = 0; mu < 4; mu++)
    if (at_halo(g, s, mu, true) || at_halo(g, s, mu, false)) return true;
  return false;
}

static void sites(const Geom& g) {
  for (int par = 0; par < 2; par++) {
    std::vector<int> visits(volume(g));
    const auto visit = [&](const Site& s, bool outer) {
      for (int mu = 0; mu < 4; mu++)
        require(coordinate(s, mu) >= 0 && coordinate(s, mu) < extent(g, mu), "outside", g);
      require((coordinate(s, 0) + s.y + s.z + s.t) % 2 == par, "of the other parity", g);
      require(on_face(g, s) == outer, "in the wrong region", g);
      visits[s.o]++;
    };
    const int inner = inner_sites(g);
    for (int o = 0; o < inner; o++) visit(inner_site(g, o, par, 0), false);
    for (int o = 0; o < volume(g) - inner; o++) visit(outer_site(g, o, par, 0), true);
    for (int n : visits) require(n == 1, "not once", g);
  }
}

// `n` blocks of outer sites.
static void turns(const Geom& g, const BlockOrder& order, u32 n) {
  std::vector<int> inner(order.inner), outer(n);
  for (u32 b = 0; b < order.inner + n; b++) {
    const BlockOrder::Block next = order.at(b);
    std::vector<int>& region = next.outer ? outer : inner;
    require(next.number < region.size(), "a block too many", g);
    region[next.number]++;
  }
  for (int k : inner) require(k == 1, "an inner block not once", g);
  for (int k : outer) require(k == 1, "an outer block not once", g);
}

static void orders(const Geom& g, u32 block) {
  const u32 n = inner_sites(g), outer = (volume(g) - n + block - 1) / block;
  const BlockOrder at_end = BlockOrder::at_end(g, block), mixed = BlockOrder::by_slices(g, block);
  turns(g, at_end, outer);
  turns(g, mixed, outer);
  require(!at_end.at(at_end.inner - 1).outer || n == 0, "an outer block before the end", g);
  // Blocks beside each other begin in the same slice or in two that follow each other, where a block is
  // a small part of a slice.
  const int of_slice = slice_outer_sites(g), of_inner = n / (inner_slices(g) > 0 ? inner_slices(g) : 1);
  if (of_slice < 4 * (int)block || of_inner < 4 * (int)block) return;
  require(4 * mixed.alone + 4 >= mixed.inner, "outer blocks in the first quarter", g);
  require(mixed.beside > 0, "no outer blocks beside inner ones", g);
  int t = 0;
  for (u32 b = 0; b < mixed.inner + mixed.beside; b++) {
    const BlockOrder::Block next = mixed.at(b);
    if (!next.outer) t = inner_site(g, next.number * block, 0, 0).t;
    else require(std::abs(outer_site(g, next.number * block, 0, 0).t - t) <= 1, "in another slice", g);
  }
}

// Checks a sweep of both parities: an odd slice comes after the even ones that it needs, and at most 2 lag turns after
// the even slice of the same number, unless it is the first slice.
static void sweep(int slices, int lag) {
  const Geom g{};
  std::vector<int> when[2];
  for (std::vector<int>& w : when) w.assign(slices, -1);
  for (int n = 0; n < 2 * slices; n++) {
    const SweepOrder::Slice next = SweepOrder{slices, lag}.at(n);
    require(next.slice >= 0 && next.slice < slices, "no slice", g);
    int& w = when[next.parity][next.slice];
    require(w < 0, "a slice twice", g);
    w = n;
  }
  for (int c = 0; c < slices; c++) {
    for (int d = -1; d < 2; d++)
      require(when[0][(c + d + slices) % slices] < when[1][c], "an odd slice too early", g);
    require(c == 0 || when[1][c] - when[0][c] <= 2 * lag, "an odd slice too late", g);
  }
}

// Pencils of several cross-sections; of a launch of both parities block 2 k has the even sites, 2 k + 1 the odd
// ones of the same rows.
static void pencils(const Geom& g, int sites) {
  const InnerExtents all{g.x() / 2, g.y(), g.z(), g.t()};
  const int n = volume(g), blocks = (n + sites - 1) / sites;
  for (int rows : {0, 1, 3, 8, 40, 1 << 20}) {
    // The bytes of a site for which a cross-section has so many rows.
    const int of_rows = rows ? (5 << 20) / (all.row * rows) : 1 << 30, bytes = of_rows > 0 ? of_rows : 1;
    for (const Pencils& p : {Pencils::square(all, sites, bytes), Pencils::slabs(all, sites, rows)}) {
      std::vector<int> visits[2];
      for (std::vector<int>& v : visits) v.assign(n, 0);
      for (int b = 0; b < 2 * blocks; b++)
        for (int i = 0, first = p.first_site(b / 2); i < sites && first + i < n; i++) {
          const Site s = site_at(g, first + i, b % 2, 0);
          require((coordinate(s, 0) + s.y + s.z + s.t) % 2 == b % 2, "of the other parity", g);
          visits[b % 2][s.o]++;
        }
      for (const std::vector<int>& v : visits)
        for (int k : v) require(k == 1, "a site of a pencil not once", g);
    }
  }
}

int main() {
  for (int slices = 2; slices < 40; slices++)
    for (int lag = 2; lag <= slices; lag++) sweep(slices, lag);
  const int lattices[][4] = {{4, 4, 4, 4}, {2, 2, 2, 2},   {8, 4, 6, 12},   {2, 6, 4, 2},  {6, 2, 10, 4},
                             {4, 6, 2, 8}, {12, 8, 6, 10}, {16, 16, 16, 2}, {16, 8, 12, 6}, {16, 16, 16, 32}};
  for (const int(&l)[4] : lattices)
    for (int halos = 0; halos < 16; halos++) {
      Geom g{};
      g.x_ = l[0], g.y_ = l[1], g.z_ = l[2], g.t_ = l[3], g.halos_ = halos;
      if (halos == 0) {
        for (int block : {32, 64, 128, 256}) pencils(g, block);
        continue;
      }
      sites(g);
      for (u32 block : {32u, 64u, 128u, 256u}) orders(g, block);
    }
  return 0;
}
