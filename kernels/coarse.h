// Operators and vectors of the coarse levels of multigrid. Matrices are stored column by column:
// [site][direction][column][row], direction 2 mu + forward.
#pragma once
#include "coarse_tensor.h"

namespace PLAQ_NS {

// out = coef_y y + coef (sum over directions of links in(neighbour) + diagonal in), on the sites from `first` on. A
// neighbour n < 0 is entry -n - 1 of the face that was received in that direction; the least of all integers means that
// there is no neighbour. Links are numbers of type L. Those of 16 bits (integers, or half precision on a GPU) and those
// of 8 bits (integers, plus 128 on a GPU) are multiplied by the scale of their matrix.
template <int W, class S, class L = typename S::T> struct CoarseApply {
  typedef typename S::T T;
  typedef typename S::C C;
  static constexpr bool scaled = sizeof(L) <= 2;
  // Sets `from` to the neighbour's vector; returns whether there is a neighbour.
  static PLAQ_FN bool neighbour(const CoarseApplyArgs& a, i64 site, int d, const T*& from) {
    const i64 vector = (i64)2 * a.rows() * a.nrhs();
    const int n = ((const int*)a.neighbours)[8 * site + d];
    from = n >= 0 ? (const T*)a.inp + (n - a.first_in) * vector : (const T*)a.halo[d] + (-1 - n) * vector;
    return n >= -2147483647;
  }
  // Calls f(matrix, vector, scale) for every term.
  template <class F> static PLAQ_FN void terms(const CoarseApplyArgs& a, i64 site, const F& f) {
    const i64 matrix = (i64)2 * a.rows() * a.rows(), vector = (i64)2 * a.rows() * a.nrhs();
    for (int d = 0; d < 8; d++) {
      const T* from;
      if (!((a.directions >> d) & 1) || !neighbour(a, site, d, from)) continue;
      f((const L*)a.links + (8 * site + d) * matrix, from, scaled ? (C)((const float*)a.scales)[8 * site + d] : (C)1);
    }
    // Diagonal matrices are stored in the precision of vectors, and products with shortened links leave them out.
    if constexpr (!scaled) if ((a.directions >> 8) & 1) f((const T*)a.diagonal + site * matrix, (const T*)a.inp + (site - a.first_in) * vector, (C)1);
  }
#if PLAQ_GPU
  // A warp has eight rows of up to B right-hand sides: four threads share a row, each of which takes every fourth
  // column of the matrix.
  template <int B> static PLAQ_FN void rows(const CoarseApplyArgs& a, Element o) {
    const int rows = a.rows(), nrhs = a.nrhs(), groups = (nrhs + B - 1) / B, tiles = (rows + 7) / 8;
    const int part = (int)(o >> 3) & 3;
    Count i = (Count)o >> 5;
    const int row = (int)(i % (u32)tiles) * 8 + (int)(o & 7);
    i /= (u32)tiles;
    const int j0 = (int)(i % (u32)groups) * B;
    const i64 site = a.first + i / (u32)groups;
    const int r = row < rows ? row : rows - 1;
    cplx<C> sum[B];
    PLAQ_UNROLL for (int b = 0; b < B; b++) sum[b] = {0, 0};
    if (site < a.first + a.count) {
      terms(a, site, [&](const L* m, const T* from, C) {
        for (int c = part; c < rows; c += 4) {
          const cplx<C> z = number<C>(m, (i64)c * rows + r);
          PLAQ_UNROLL for (int b = 0; b < B; b++)
            if (j0 + b < nrhs) sum[b] = madd(sum[b], z, number<C>(from, c * nrhs + j0 + b));
        }
      });
    }
    PLAQ_UNROLL for (int b = 0; b < B; b++) {
      PLAQ_UNROLL for (int x = 8; x < 32; x *= 2) {
        sum[b].re += __shfl_xor_sync(0xffffffffu, sum[b].re, x);
        sum[b].im += __shfl_xor_sync(0xffffffffu, sum[b].im, x);
      }
    }
    if (part != 0 || row >= rows || site >= a.first + a.count) return;
    PLAQ_UNROLL for (int b = 0; b < B; b++)
      if (j0 + b < nrhs) finish(a, site, row, j0 + b, sum[b]);
  }
  // One right-hand side, links of 16 or 8 bits: a thread takes the rows of a column that one load of links holds, and D
  // directions at a time to hide the latency of memory.
  template <int D> static PLAQ_FN void few_rows(const CoarseApplyArgs& a, Element o) {
    typedef LinkWords<L> Words;
    constexpr int R = Words::ROWS;
    const int rows = a.rows(), tiles = (rows + 4 * R - 1) / (4 * R), part = (int)(o >> 2) & 7;
    const Count i = (Count)o >> 5;
    const int row = (int)(i % (u32)tiles) * 4 * R + R * (int)(o & 3);
    const i64 site = a.first + i / (u32)tiles;
    cplx<C> sum[R] = {};
    if (site < a.first + a.count) {
      const i64 matrix = (i64)2 * rows * rows;
      _Pragma("unroll 1") for (int first = 0; first < 8; first += D) {
        const T* from[D];
        C scale[D];
        bool there[D], any = false;
        PLAQ_UNROLL for (int k = 0; k < D; k++) {
          there[k] = ((a.directions >> (first + k)) & 1) && neighbour(a, site, first + k, from[k]);
          any = any || there[k];
        }
        if (!any) continue;
        PLAQ_UNROLL for (int k = 0; k < D; k++) {
          scale[k] = there[k] ? (C)((const float*)a.scales)[8 * site + first + k] * (C)Words::unit : (C)0;
          // The address must exist, since it is read; the result is multiplied by zero.
          if (!there[k]) from[k] = (const T*)a.inp;
        }
        cplx<C> term[D][R] = {}, column[D] = {};
        PLAQ_UNROLL for (int c0 = 0; c0 < rows; c0 += 8) {
          const int c = c0 + part;
          if (c >= rows) break;
          PLAQ_UNROLL for (int k = 0; k < D; k++) {
            const uint2 q = Words::load((const L*)a.links + (8 * site + first + k) * matrix, rows, c, row);
            const cplx<C> z = number<C>(from[k], c);
            PLAQ_UNROLL for (int b = 0; b < R; b++) term[k][b] = madd(term[k][b], Words::template link<C>(q, b), z);
            if (Words::offset != 0) column[k] = column[k] + z;
          }
        }
        PLAQ_UNROLL for (int k = 0; k < D; k++) {
          const cplx<C> over = (C)Words::offset * cplx<C>{column[k].re - column[k].im, column[k].re + column[k].im};
          PLAQ_UNROLL for (int b = 0; b < R; b++) sum[b] = sum[b] + scale[k] * (term[k][b] - over);
        }
      }
    }
    PLAQ_UNROLL for (int b = 0; b < R; b++) {
      PLAQ_UNROLL for (int x = 4; x < 32; x *= 2) {
        sum[b].re += __shfl_xor_sync(0xffffffffu, sum[b].re, x);
        sum[b].im += __shfl_xor_sync(0xffffffffu, sum[b].im, x);
      }
    }
    if (part != 0 || site >= a.first + a.count) return;
    PLAQ_UNROLL for (int b = 0; b < R; b++)
      if (row + b < rows) finish(a, site, row + b, 0, sum[b]);
  }
  // Several right-hand sides, links of 16 or 8 bits: a warp has 16 rows and 8 N right-hand sides on tensor cores.
  template <int N> static PLAQ_FN void tiles(const CoarseApplyArgs& a, Element o) {
    const int rows = a.rows(), nrhs = a.nrhs(), groups = (nrhs + 8 * N - 1) / (8 * N), tiles = (rows + 15) / 16;
    const int lane = (int)(o & 31);
    Count i = (Count)o >> 5;
    const int row = (int)(i % (u32)tiles) * 16 + 2 * (lane >> 2);
    i /= (u32)tiles;
    const int j0 = (int)(i % (u32)groups) * 8 * N;
    const i64 site = a.first + i / (u32)groups;
    // All lanes of a warp have the same site and leave together.
    if (site >= a.first + a.count) return;
    CoarseTile<N> sum;
    // The matrices of a site's eight directions are consecutive in memory: the next one is prefetched.
    const int first = row - 2 * (lane >> 2), matrix = 2 * rows * rows;
    const L* last = (const L*)a.links + (8 * site + 7) * matrix;
    terms(a, site, [&](const L* m, const T* from, C scale) {
      if (m < last) CoarseTile<N>::prefetch(m + matrix, rows, first, lane);
      sum.add(m, from, scale, rows, row, nrhs, j0, lane);
    });
    PLAQ_UNROLL for (int n = 0; n < N; n++) PLAQ_UNROLL for (int k = 0; k < 4; k++) {
      const int r = row + (k >> 1), j = j0 + 8 * n + 2 * (lane & 3) + (k & 1);
      if (r < rows && j < nrhs) finish(a, site, r, j, {(C)sum.re[n][k], (C)sum.im[n][k]});
    }
  }
  static PLAQ_FN void finish(const CoarseApplyArgs& a, i64 site, int row, int j, cplx<C> sum) {
    const i64 at = (i64)row * a.nrhs() + j, size = (i64)a.rows() * a.nrhs();
    cplx<C> z = (C)a.coef * sum;
    if (a.with_y()) z = z + (C)a.coef_y * number<C>((const T*)a.y, (site - a.first_y) * size + at);
    put_number((T*)a.out, (site - a.first_out) * size + at, z);
  }
  static PLAQ_FN void site(const CoarseApplyArgs& a, Element o, int, int) {
    if constexpr (scaled) {
      if (a.nrhs() == 1) few_rows<2>(a, o);
      else if (a.nrhs() <= 8) tiles<1>(a, o);
      else tiles<2>(a, o);
    } else {
      if (a.nrhs() == 1) rows<1>(a, o);
      else rows<4>(a, o);
    }
  }
#else
  template <class R> static PLAQ_FN void store(const CoarseApplyArgs& a, T* out, const T* y, R v) {
    v = v * (C)a.coef;
    if (a.with_y()) v = fma_(lane_io<T, R>::load(y), splat<R>(a.coef_y), v);
    lane_io<T, R>::store(out, v);
  }
  static PLAQ_FN void site(const CoarseApplyArgs& a, Element o, int lx, int) {
    if (lx != 0) return;
    constexpr int V = W < 2 ? 2 : W;
    const int rows = a.rows(), nrhs = a.nrhs();
    const i64 site = a.first + o, size = (i64)2 * rows * nrhs;
    T* out = (T*)a.out + (site - a.first_out) * size;
    const T* y = (const T*)a.y + (site - a.first_y) * size;
    if (nrhs == 1) {
      strips<4 * V>(2 * rows, [&](auto width, int from) {
        Tile<C, W, decltype(width)::value, 1> tile;
        terms(a, site, [&](const L* m, const T* in, C scale) {
          for (int c = 0; c < rows; c++) tile.add(m + (i64)2 * c * rows + from, in + 2 * c, 1, scale);
        });
        for (int k = 0; k < tile.K; k++) store(a, out + from + k * tile.V, y + from + k * tile.V, tile.plain(0, k));
      });
      return;
    }
    const auto some_rows = [&](auto count, int row) {
      constexpr int N = decltype(count)::value;
      strips<2 * V>(2 * nrhs, [&](auto width, int from) {
        Tile<C, W, decltype(width)::value, N> tile;
        terms(a, site, [&](const L* m, const T* in, C scale) {
          for (int c = 0; c < rows; c++)
            tile.add(in + (i64)2 * c * nrhs + from, m + (i64)2 * (c * rows + row), 1, scale);
        });
        for (int t = 0; t < N; t++)
          for (int k = 0; k < tile.K; k++) {
            const i64 at = (i64)2 * (row + t) * nrhs + from + k * tile.V;
            store(a, out + at, y + at, tile.plain(t, k));
          }
      });
    };
    int row = 0;
    for (; row + 4 <= rows; row += 4) some_rows(Width<4>{}, row);
    for (; row < rows; row++) some_rows(Width<1>{}, row);
  }
#endif
};

template <int W, class S> struct CoarseApplyShort : CoarseApply<W, S, short> {};
template <int W, class S> struct CoarseApplyByte : CoarseApply<W, S, signed char> {};

// Converts matrices to 16 or 8 bits; an element is a matrix on a CPU, and a warp shares one on a GPU. Each matrix gets
// a scale, by which its largest number becomes the largest integer, or 1 in half precision on a GPU.
template <int W, class S, class L> struct CoarseShortened {
  typedef typename S::C C;
  static constexpr bool half = PLAQ_GPU && sizeof(L) == 2;
  static constexpr float largest = half ? 1.0f : sizeof(L) == 2 ? 32767.0f : 127.0f;
  static PLAQ_FN void site(const CoarseShortenArgs& a, Element o, int lx, int) {
    const int n = 2 * a.rows() * a.rows();
#if PLAQ_GPU
    // A warp shares a matrix.
    const i64 matrix = o >> 5;
    const int first = (int)(o & 31), step = 32;
#else
    if (lx != 0) return;
    const i64 matrix = o;
    const int first = 0, step = 1;
#endif
    const typename S::T* from = (const typename S::T*)a.inp + matrix * n;
    C max = 0;
    for (int i = first; i < n; i += step) max = vmax(max, vabs((C)from[i]));
#if PLAQ_GPU
    for (int x = 16; x > 0; x /= 2) max = vmax(max, __shfl_xor_sync(0xffffffffu, max, x));
#endif
    const float unit = (float)max / largest, over = max > 0 ? 1 / unit : 0.0f;
    L* to = (L*)a.out + matrix * n;
    for (int i = first; i < n; i += step) {
      const float v = (float)from[i] * over;
#if PLAQ_GPU
      if constexpr (half) {
        to[i] = (L)to_half(v);
        continue;
      }
#endif
      to[i] = (L)((int)(v + (v < 0 ? -0.5f : 0.5f)) + (PLAQ_GPU ? 128 : 0));
    }
    if (first == 0) ((float*)a.scales)[matrix] = unit;
  }
};
template <int W, class S> struct CoarseShorten : CoarseShortened<W, S, short> {};
template <int W, class S> struct CoarseShortenByte : CoarseShortened<W, S, signed char> {};

// Copies the sites of a face (the batch) listed in `sites` into its message, but for those that `inp` does not hold.
template <int W, class S> struct CoarsePack {
  typedef typename S::T T;
  static PLAQ_FN void site(const CoarsePackArgs& a, Element o, int lx, int face) {
    const int size = a.components() * a.nrhs();
#if PLAQ_GPU
    if ((i64)o >= (i64)a.places[face] * size) return;
    const int site = ((const int*)a.sites[face])[o / size] - a.first;
    if (site >= 0 && site < a.count)
      put_number<typename S::C>((T*)a.out[face], o, number<typename S::C>((const T*)a.inp, (i64)site * size + (int)(o % size)));
#else
    if (lx != 0 || (int)o >= a.places[face]) return;
    const int site = ((const int*)a.sites[face])[o] - a.first;
    if (site < 0 || site >= a.count) return;
    const T* from = (const T*)a.inp + (i64)2 * site * size;
    T* to = (T*)a.out[face] + (i64)2 * o * size;
    for (int i = 0; i < 2 * size; i++) to[i] = from[i];
#endif
  }
};

// Copies `count` columns of vector x into columns of vector y, which may have another precision; if one chirality is
// asked for, the components of the other one become 0.
template <int W, class SX, class SY> struct CoarseColumns {
  static PLAQ_FN void site(const CoarseColumnsArgs& a, Element o, int lx, int) {
    typedef typename SY::C C;
    const int components = a.components(), count = a.count();
    const auto move = [&](i64 at, int c, int j) {
      const bool in = a.chirality == 0 || (c < components / 2) == (a.chirality == 1);
      const cplx<C> z = number<C>((const typename SX::T*)a.x, at * a.columns_x() + a.first_x + j);
      put_number((typename SY::T*)a.y, at * a.columns_y() + a.first_y + j, in ? z : cplx<C>{0, 0});
    };
#if PLAQ_GPU
    const i64 at = o / count;
    move(at, (int)(at % components), (int)(o % count));
#else
    if (lx != 0) return;
    for (int c = 0; c < components; c++)
      for (int j = 0; j < count; j++) move((i64)o * components + c, c, j);
#endif
  }
};

// Inverts matrices in place: Gauss-Jordan elimination with pivots of largest modulus in a column. Sum: the number of
// singular matrices.
template <int W> struct CoarseInvert {
#if PLAQ_GPU
  // A warp shares a matrix: a lane has columns lane, lane + 32, ...
  static PLAQ_FN void site(const CoarseMatrixArgs& a, Element o, int, int, Sums<1, W>& s) {
    constexpr unsigned all = 0xffffffffu;
    constexpr int U = 8;
    const int n = a.rows(), lane = (int)(o & 31);
    double2* const m = (double2*)a.out + (i64)(o >> 5) * n * n;
    int* const swaps = (int*)a.inp + (i64)(o >> 5) * n;
    for (int k = 0; k < n; k++) {
      double top = -1;
      int best = n;
      for (int r = k + lane; r < n; r += 32) {
        const double2 z = m[r * n + k];
        const double v = z.x * z.x + z.y * z.y;
        if (v > top) top = v, best = r;
      }
      for (int x = 16; x > 0; x /= 2) {
        const double v = __shfl_xor_sync(all, top, x);
        const int r = __shfl_xor_sync(all, best, x);
        if (v > top || (v == top && r < best)) top = v, best = r;
      }
      if (!(top > 0) || !(top < 1e300)) {
        if (lane == 0) s.v[0] += 1;
        return;
      }
      if (lane == 0) swaps[k] = best;
      if (best != k)
        for (int c = lane; c < n; c += 32) {
          const double2 t = m[k * n + c];
          m[k * n + c] = m[best * n + c], m[best * n + c] = t;
        }
      __syncwarp();
      const double2 pivot = m[k * n + k];
      const double2 over = {pivot.x / top, -pivot.y / top};
      // The chunk of 32 columns with column k, whose elements are the factors of all rows, comes last.
      const int chunks = (n + 31) / 32, own = k / 32;
      for (int i = 0; i < chunks; i++) {
        const int chunk = i + 1 == chunks ? own : i < own ? i : i + 1, c = chunk * 32 + lane;
        const bool in = c < n;
        double2 p = {0, 0};
        if (in) {
          const double2 z = c == k ? double2{1, 0} : m[k * n + c];
          p = {z.x * over.x - z.y * over.y, z.x * over.y + z.y * over.x};
        }
        for (int r0 = 0; r0 < n; r0 += U) {
          double2 f[U], z[U];
          PLAQ_UNROLL for (int u = 0; u < U; u++) {
            const int r = r0 + u;
            const bool used = in && r < n && r != k;
            f[u] = used ? m[r * n + k] : double2{0, 0};
            z[u] = used && c != k ? m[r * n + c] : double2{0, 0};
          }
          __syncwarp();
          PLAQ_UNROLL for (int u = 0; u < U; u++) {
            const int r = r0 + u;
            if (!in || r >= n || r == k) continue;
            m[r * n + c] = {z[u].x - (f[u].x * p.x - f[u].y * p.y), z[u].y - (f[u].x * p.y + f[u].y * p.x)};
          }
        }
        __syncwarp();
        if (in) m[k * n + c] = p;
        __syncwarp();
      }
    }
    for (int r = lane; r < n; r += 32)
      for (int k = n - 1; k >= 0; k--) {
        const int from = swaps[k];
        const double2 t = m[r * n + k];
        m[r * n + k] = m[r * n + from], m[r * n + from] = t;
      }
  }
#else
  static PLAQ_FN void site(const CoarseMatrixArgs& a, Element o, int lx, int, Sums<1, W>& s) {
    if (lx != 0) return;
    const int n = a.rows();
    double* m = (double*)a.out + (i64)2 * o * n * n;
    int* swaps = (int*)a.inp + (i64)o * n;
    // Works on the columns as they are in memory, which are rows of the transpose: the inverse of
    // the transpose is the transpose of the inverse.
    const auto at = [&](int r, int c) { return m + 2 * (r * n + c); };
    for (int k = 0; k < n; k++) {
      int best = k;
      double top = -1;
      for (int r = k; r < n; r++) {
        const double* z = at(r, k);
        const double v = z[0] * z[0] + z[1] * z[1];
        if (v > top) top = v, best = r;
      }
      swaps[k] = best;
      if (!(top > 0) || !(top < 1e300)) {
        s.v[0] += 1;
        return;
      }
      if (best != k)
        for (int c = 0; c < 2 * n; c++) {
          const double t = at(k, 0)[c];
          at(k, 0)[c] = at(best, 0)[c], at(best, 0)[c] = t;
        }
      const double pr = at(k, k)[0] / top, pi = -at(k, k)[1] / top;
      at(k, k)[0] = 1, at(k, k)[1] = 0;
      for (int c = 0; c < n; c++) {
        double* z = at(k, c);
        const double re = z[0] * pr - z[1] * pi, im = z[0] * pi + z[1] * pr;
        z[0] = re, z[1] = im;
      }
      for (int r = 0; r < n; r++) {
        if (r == k) continue;
        const double fr = at(r, k)[0], fi = at(r, k)[1];
        at(r, k)[0] = 0, at(r, k)[1] = 0;
        double *z = at(r, 0), *p = at(k, 0);
        for (int c = 0; c < n; c++) {
          z[2 * c] -= fr * p[2 * c] - fi * p[2 * c + 1];
          z[2 * c + 1] -= fr * p[2 * c + 1] + fi * p[2 * c];
        }
      }
    }
    for (int k = n - 1; k >= 0; k--)
      if (swaps[k] != k)
        for (int r = 0; r < n; r++)
          for (int i = 0; i < 2; i++) {
            const double t = at(r, k)[i];
            at(r, k)[i] = at(r, swaps[k])[i], at(r, swaps[k])[i] = t;
          }
  }
#endif
};

// out = A B for matrices [column][row]; each site has one matrix A (`left`) and `each` matrices B (`inp`) and `out`.
//
template <int W, class S> struct CoarseMultiply {
  typedef typename S::T T;
  typedef typename S::C C;
  static PLAQ_FN void site(const CoarseMatrixArgs& a, Element o, int lx, int) {
    const int n = a.rows();
    const i64 size = (i64)n * n;
#if PLAQ_GPU
    const i64 matrix = o / size;
    const int c = (int)((o % size) / n), r = (int)(o % n);
    const T *left = (const T*)a.left + 2 * (matrix / a.each()) * size, *right = (const T*)a.inp + 2 * (matrix * size + c * n);
    cplx<C> sum = {0, 0};
    for (int k = 0; k < n; k++) sum = madd(sum, number<C>(left, (i64)k * n + r), number<C>(right, k));
    put_number((T*)a.out, (i64)o, sum);
#else
    if (lx != 0) return;
    constexpr int V = W < 2 ? 2 : W;
    const T *left = (const T*)a.left + 2 * (o / a.each()) * size, *right = (const T*)a.inp + 2 * o * size;
    T* out = (T*)a.out + 2 * o * size;
    for (int c = 0; c < n; c++)
      strips<4 * V>(2 * n, [&](auto width, int from) {
        Tile<C, W, decltype(width)::value, 1> tile;
        for (int k = 0; k < n; k++) tile.add(left + (i64)2 * k * n + from, right + (i64)2 * (c * n + k), 1);
        for (int k = 0; k < tile.K; k++)
          lane_io<T, typename decltype(tile)::R>::store(out + (i64)2 * c * n + from + k * tile.V, tile.plain(0, k));
      });
#endif
  }
};

// Backward hops from forward ones, for every direction mu whose bit is set in `each`: hop(x + mu, x) is Gamma5 times
// the adjoint of hop(x, x + mu) times Gamma5. `left` are the neighbours.
template <int W, class S> struct CoarseAdjoint {
  typedef typename S::T T;
  static PLAQ_FN void site(const CoarseMatrixArgs& a, Element o, int lx, int) {
    if (lx != 0) return;
    const int n = a.rows(), size = n * n;
#if PLAQ_GPU
    const i64 site = o / size;
    const int first = (int)(o % size), count = 1;
#else
    const i64 site = o;
    const int first = 0, count = size;
#endif
    T* hops = (T*)a.out;
    for (int mu = 0; mu < 4; mu++) {
      if (!((a.each() >> mu) & 1)) continue;
      const i64 to = 8 * (i64)((const int*)a.left)[8 * site + 2 * mu + 1] + 2 * mu;
      for (int k = first; k < first + count; k++) {
        const int c = k / n, r = k % n;
        const T* z = hops + 2 * ((8 * site + 2 * mu + 1) * size + r * n + c);
        const T sign = (c < n / 2) == (r < n / 2) ? 1 : -1;
        put_number(hops, to * size + k, cplx<T>{sign * z[0], -sign * z[1]});
      }
    }
  }
};

// out -= the matrices of a site in the directions whose bits are set in `each`: the part of the whole operator that
// stays inside of aggregates.
template <int W, class S> struct CoarseInner {
  typedef typename S::T T;
  static PLAQ_FN void site(const CoarseMatrixArgs& a, Element o, int lx, int) {
    if (lx != 0) return;
    const i64 size = (i64)a.rows() * a.rows();
#if PLAQ_GPU
    const i64 site = o / size;
    const int first = (int)(o % size), count = 1;
#else
    const i64 site = o;
    const int first = 0, count = (int)size;
#endif
    for (int i = first; i < first + count; i++) {
      cplx<double> z = number<double>((const T*)a.out, site * size + i);
      for (int d = 0; d < 8; d++)
        if ((a.each() >> d) & 1) z = z - number<double>((const T*)a.inp, (8 * site + d) * size + i);
      put_number((T*)a.out, site * size + i, z);
    }
  }
};

}  // namespace PLAQ_NS
