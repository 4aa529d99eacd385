// Borders of link fields: one site beyond each face that is divided over ranks, corners included.
// Directions are exchanged in turn, each with the borders of those before it, so that corners
// arrive by way of the neighbours. A message holds all sites of a face, both parities, in the
// lexicographic order of the local lattice (borders of lower directions included), links as they
// are stored: lanes do not show in it.
#pragma once
#include "recon.h"
#include "signal.h"

namespace PLAQ_NS {

// Whether borders in direction nu are already up to date when direction mu is exchanged.
PLAQ_FN int border_before(const Geom& g, int nu, int mu) { return nu < mu && has_halo(g, nu); }

// The site with these coordinates inside of a lane's piece; -1 and the extent stand for the
// border.
PLAQ_FN Site piece_site(const Geom& g, const int (&c)[4], int par, int lane) {
  return site_of(g, (c[0] - (c[0] & 1)) / 2, c[1], c[2], c[3], par, lane);
}
PLAQ_FN int parity_of(const int (&c)[4]) { return (c[0] + c[1] + c[2] + c[3]) & 1; }

// Copies the stored numbers of a link in lane x.lx to or from a message.
template <class S, int N> PLAQ_FN void link_to_message(const BorderArgs& a, const Site& s, typename S::T* at) {
  const Plane p = plane(a.gauge, s.par);
  const int first = a.direction < 0 ? 0 : a.direction, count = a.direction < 0 ? a.links() : 1;
  for (int mu = first; mu < first + count; mu++) {
    typename S::C v[N];
    load_raw<S>(v, p, link_site(s), a.links() * N, mu * N, keep);
    PLAQ_UNROLL for (int i = 0; i < N; i++) *at++ = (typename S::T)v[i];
  }
}
template <class S, int N> PLAQ_FN void link_from_message(const BorderArgs& a, const Site& s, const typename S::T* at) {
  const Plane p = plane(a.gauge, s.par);
  const int first = a.direction < 0 ? 0 : a.direction, count = a.direction < 0 ? a.links() : 1;
  for (int mu = first; mu < first + count; mu++) {
    typename S::C v[N];
    PLAQ_UNROLL for (int i = 0; i < N; i++) v[i] = (typename S::C)*at++;
    store_raw<S>(v, p, link_site(s), a.links() * N, mu * N);
  }
}

// Packs faces of links. Batches: lower and upper face; one thread: one site of the face.
template <int W, class S, int STORAGE> struct BorderPack {
  static constexpr int N = Recon<STORAGE>::reals;
  static PLAQ_FN void site(const BorderArgs& a, int o, int lx, int upper) {
    const Geom& g = a.geom;
    const int mu = a.mu(), reals = (a.direction < 0 ? a.links() : 1) * N;
    const i64 k = (i64)o * PLAQ_LANES + lx;
    i64 i = k;
    int c[4], lane = 0;
    PLAQ_UNROLL for (int nu = 0; nu < 4; nu++) {
      const int edge = border_before(g, nu, mu), l = local_extent(g, nu);
      int x = upper ? l - 1 : 0;
      if (nu != mu) x = (int)(i % (l + 2 * edge)) - edge, i /= l + 2 * edge;
      const bool high = x >= extent(g, nu) && lane_bit(g, nu);
      c[nu] = high ? x - extent(g, nu) : x;
      if (high) lane |= lane_bit(g, nu);
    }
    if (i > 0) return;
    const Site s = piece_site(g, c, parity_of(c), lane);
    link_to_message<S, N>(a, s, (typename S::T*)a.message[upper] + k * reals);
  }
};

// Fills borders. Batches: the border at -1 and the one at the extent; one thread: one site of the
// border of one lane's piece, taken from a message or from the next piece of this rank.
template <int W, class S, int STORAGE> struct BorderUnpack {
  static constexpr int N = Recon<STORAGE>::reals;
  static PLAQ_FN void site(const BorderArgs& a, int o, int lx, int upper) {
    const Geom& g = a.geom;
    const int mu = a.mu(), reals = (a.direction < 0 ? a.links() : 1) * N, bit = lane_bit(g, mu);
    i64 at = 0, stride = 1;
    u32 i = o;
    int c[4];
    PLAQ_UNROLL for (int nu = 0; nu < 4; nu++) {
      if (nu == mu) {
        c[nu] = upper ? extent(g, nu) : -1;
        continue;
      }
      const int edge = border_before(g, nu, mu), l = extent(g, nu);
      c[nu] = (int)(i % (l + 2 * edge)) - edge, i /= l + 2 * edge;
      const int x = c[nu] + ((lx & lane_bit(g, nu)) ? l : 0);
      at += stride * (x + edge), stride *= local_extent(g, nu) + 2 * edge;
    }
    const Site s = piece_site(g, c, parity_of(c), lx);
    if (bit && ((lx & bit) != 0) != (upper != 0)) {
      c[mu] = upper ? 0 : extent(g, mu) - 1;
      const Site from = piece_site(g, c, parity_of(c), lx ^ bit);
      const int first = a.direction < 0 ? 0 : a.direction, count = a.direction < 0 ? a.links() : 1;
      for (int k = first; k < first + count; k++) {
        typename S::C v[N];
        load_raw<S>(v, plane(a.gauge, from.par), link_site(from), a.links() * N, k * N, keep);
        store_raw<S>(v, plane(a.gauge, s.par), link_site(s), a.links() * N, k * N);
      }
    } else {
      link_from_message<S, N>(a, s, (const typename S::T*)a.message[upper] + at * reals);
    }
  }
};

// Sends links of the lower border back to the rank that they belong to, for arrays that hold links
// of another rank (openQCD: links that end on odd sites). Even sites of the lower border, direction
// mu, go into a message, and from a message to this rank's upper face. One thread: one site of the
// face.
template <int W, class S, int STORAGE> struct BorderReturn {
  static constexpr int N = Recon<STORAGE>::reals;
  static PLAQ_FN void site(const BorderArgs& a, int o, int lx, int) {
    const Geom& g = a.geom;
    const i64 k = (i64)o * PLAQ_LANES + lx;
    i64 i = k;
    int x[4];
    PLAQ_UNROLL for (int nu = 0; nu < 4; nu++) {
      x[nu] = a.arrived ? local_extent(g, nu) - 1 : -1;
      if (nu != a.mu()) x[nu] = (int)(i % local_extent(g, nu)), i /= local_extent(g, nu);
    }
    const Site s = local_site(g, x);
    if (i > 0 || s.par) return;
    typename S::T* at = (typename S::T*)a.message[a.arrived] + k * N;
    if (a.arrived) link_from_message<S, N>(a, s, at);
    else link_to_message<S, N>(a, s, at);
  }
};

// Messages of faces only, with one matrix per site, one parity and all directions at once: what a sweep over sites
// changes and its neighbours read. A message holds the sites of a face in lexicographic order, with consecutive 16-byte
// pieces of all sites side by side, so that a warp stores whole sectors into the memory of another GPU.
template <class T> struct alignas(16) Piece {
  static constexpr int reals = 16 / sizeof(T);
  T v[reals];
};
PLAQ_FN int face_parity_sites(const Geom& g, int mu) {
  int n = 1;
  PLAQ_UNROLL for (int nu = 0; nu < 4; nu++) n *= nu == mu ? 1 : local_extent(g, nu);
  return n / 2;
}

// Coordinates of site i of this parity among those with coordinate `at` in direction mu, in a box
// with these extents, all of them even.
PLAQ_FN bool face_coordinates(int (&x)[4], u32 i, const int (&l)[4], int mu, int at, int parity) {
  const int first = mu == 0;
  int sum = parity + at;
  PLAQ_UNROLL for (int nu = 0; nu < 4; nu++) {
    x[nu] = at;
    if (nu == mu) continue;
    const u32 n = nu == first ? l[nu] / 2 : l[nu];
    x[nu] = (int)(i % n), i /= n;
    if (nu != first) sum += x[nu];
  }
  x[first] = 2 * x[first] + (sum & 1);
  return i == 0;
}

// Number of a site with these coordinates of the local lattice among the sites of its parity in a
// face.
PLAQ_FN i64 face_place(const Geom& g, const int (&x)[4], int mu) {
  const int first = mu == 0;
  i64 at = 0, stride = 1;
  PLAQ_UNROLL for (int nu = 0; nu < 4; nu++) {
    if (nu == mu) continue;
    const int half = nu == first ? 2 : 1;
    at += stride * (x[nu] / half), stride *= local_extent(g, nu) / half;
  }
  return at;
}
// Writes the matrix of site number `at` to a message, in the storage of the field.
template <class S, int N> PLAQ_FN void put_in_face(const typename S::C (&v)[N], const Geom& g, char* message, int mu, i64 at) {
  typedef Piece<typename S::T> P;
  PLAQ_UNROLL for (int n = 0; n < N / P::reals; n++) {
    P piece;
    PLAQ_UNROLL for (int r = 0; r < P::reals; r++) piece.v[r] = (typename S::T)v[n * P::reals + r];
    ((P*)message)[(i64)n * face_parity_sites(g, mu) + at] = piece;
  }
}
template <class S, int N> PLAQ_FN void get_from_face(typename S::C (&v)[N], const Geom& g, const char* message, int mu, i64 at) {
  typedef Piece<typename S::T> P;
  PLAQ_UNROLL for (int n = 0; n < N / P::reals; n++) {
    const P piece = ((const P*)message)[(i64)n * face_parity_sites(g, mu) + at];
    PLAQ_UNROLL for (int r = 0; r < P::reals; r++) v[n * P::reals + r] = (typename S::C)piece.v[r];
  }
}
#if PLAQ_GPU
// Reads a matrix from a message if the site is `behind` a face, else from field `p` with one matrix per site. Both have
// their 16-byte pieces side by side, so that no branch is needed. Other devices write messages: they are not read
// through the read-only cache.
template <class S, int N>
PLAQ_FN void get_from_face_or(typename S::C (&v)[N], const Plane& p, const Site& s, const Geom& g, const char* message, int mu, i64 at, bool behind) {
  typedef typename S::T T;
  typedef Piece<T> P;
  static_assert(chunk<T>(N) == P::reals, "pieces as in fields");
  const char* here = (const char*)site_address<P::reals>((const T*)p.data, s.e, N, 0);
  const char* from = behind ? message + at * 16 : here;
  const i64 step = behind ? 16 * (i64)face_parity_sites(g, mu) : 16 * 32;
  PLAQ_UNROLL for (int n = 0; n < N / P::reals; n++) {
    const P piece = *(const P*)(from + n * step);
    PLAQ_UNROLL for (int r = 0; r < P::reals; r++) v[n * P::reals + r] = (typename S::C)piece.v[r];
  }
}
#endif

// Packs faces for a sweep. Batches: lower and upper faces in turn; one thread: one site of a face.
template <int W, class S, int STORAGE> struct FacePack {
  static constexpr int N = Recon<STORAGE>::reals;
  static PLAQ_FN void site(const FaceArgs& a, int o, int lx, int k) {
    const Geom& g = a.geom;
    const int mu = k / 2, at = k % 2 ? local_extent(g, mu) - 1 : 0;
    const int l[4] = {local_extent(g, 0), local_extent(g, 1), local_extent(g, 2), local_extent(g, 3)};
    const u32 i = (u32)o * PLAQ_LANES + lx;
    int x[4];
    if (!has_halo(g, mu) || !face_coordinates(x, i, l, mu, at, a.parity)) return;
    typename S::C v[N];
    load_raw<S>(v, plane(a.g, a.parity), link_site(local_site(g, x)), N, 0, keep);
    put_in_face<S>(v, g, a.message[k], mu, i);
  }
};

// Fills borders for a sweep. Batches: borders at -1 and at the extent in turn; one thread: one site of the border of
// one lane's piece, taken from a message or from the next piece of this rank.
template <int W, class S, int STORAGE> struct FaceUnpack {
  static constexpr int N = Recon<STORAGE>::reals;
  static PLAQ_FN void site(const FaceArgs& a, int o, int lx, int k) {
    const Geom& g = a.geom;
    const int mu = k / 2, upper = k % 2, bit = lane_bit(g, mu);
    const int l[4] = {extent(g, 0), extent(g, 1), extent(g, 2), extent(g, 3)};
    int c[4];
    if (!has_halo(g, mu) || !face_coordinates(c, o, l, mu, upper ? l[mu] : -1, a.parity)) return;
    const Site s = piece_site(g, c, a.parity, lx);
    const Plane p = plane(a.g, a.parity);
    typename S::C v[N];
    if (bit && ((lx & bit) != 0) != (upper != 0)) {
      c[mu] = upper ? 0 : l[mu] - 1;
      load_raw<S>(v, p, link_site(piece_site(g, c, a.parity, lx ^ bit)), N, 0, keep);
    } else {
      int x[4];
      PLAQ_UNROLL for (int nu = 0; nu < 4; nu++) x[nu] = c[nu] + ((lx & lane_bit(g, nu)) ? l[nu] : 0);
      get_from_face<S>(v, g, a.message[k], mu, face_place(g, x, mu));
    }
    store_raw<S>(v, p, link_site(s), N, 0);
  }
};

}  // namespace PLAQ_NS
