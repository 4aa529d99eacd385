// Krylov spaces without a sum in every step (s-step methods; Chronopoulos and Gear, J. Comput. Appl. Math. 25,
// 153): products of all pairs of vectors in one reduction, least squares on the device, and combinations of
// all vectors in one pass. Vectors are rows of complex numbers, whatever a site holds: number e of
// right-hand side r is at e step + r apart. On the CPU numbers of spinors are vectors of real and of
// imaginary parts of all lanes; those of coarse levels are interleaved.
#pragma once
#include "rows.h"

namespace PLAQ_NS {

#if !PLAQ_GPU
// Calls f(real part, imaginary part) for number e of right-hand side r, W lanes from lx on.
template <class T, class R> PLAQ_FN R krylov_part(const char* x, const KrylovArgs& a, i64 e, int r, int lx, int imaginary) {
  return lane_io<T, R>::load((const T*)x + 2 * r * a.apart + (2 * e + imaginary) * PLAQ_LANES + lx);
}
#endif

// Products <x_row, x_column> of a tile of KRYLOV_TILE x KRYLOV_TILE vectors; a batch is a tile and a right-hand side.
// Tiles are counted column after column from that of vector `first` on, each with the row tiles up to the diagonal.
template <int W, class S> struct KrylovGram {
  typedef typename S::T T;
  typedef real<double, W> D;
  static constexpr int N = KRYLOV_TILE;
  static PLAQ_FN void site(const KrylovArgs& a, Element o, int lx, int batch, Sums<2 * N * N, W>& s) {
    const int rhs = batch / a.tiles;
    int row = batch % a.tiles, column = a.first / N;
    for (; row > column; column++) row -= column + 1;
    const char *x[N], *y[N];
    PLAQ_UNROLL for (int i = 0; i < N; i++) {
      const int p = row * N + i, q = column * N + i;
      x[i] = a.x[p < a.count ? p : a.count - 1], y[i] = a.x[q < a.count ? q : a.count - 1];
    }
#if PLAQ_GPU
    const i64 at = (i64)o * a.step() + rhs * a.apart;
    cplx<double> u[N];
    PLAQ_UNROLL for (int i = 0; i < N; i++) u[i] = number<double>((const T*)x[i], at);
    PLAQ_UNROLL for (int j = 0; j < N; j++) {
      const cplx<double> v = number<double>((const T*)y[j], at);
      PLAQ_UNROLL for (int i = 0; i < N; i++) {
        const int k = 2 * (i * N + j);
        s.v[k] = fma_(u[i].re, v.re, fma_(u[i].im, v.im, s.v[k]));
        s.v[k + 1] = fma_(u[i].re, v.im, fnma_(u[i].im, v.re, s.v[k + 1]));
      }
    }
#else
    if (!a.interleaved()) {
      D re[N], im[N];
      PLAQ_UNROLL for (int i = 0; i < N; i++) re[i] = krylov_part<T, D>(x[i], a, o, rhs, lx, 0), im[i] = krylov_part<T, D>(x[i], a, o, rhs, lx, 1);
      PLAQ_UNROLL for (int j = 0; j < N; j++) {
        const D vr = krylov_part<T, D>(y[j], a, o, rhs, lx, 0), vi = krylov_part<T, D>(y[j], a, o, rhs, lx, 1);
        PLAQ_UNROLL for (int i = 0; i < N; i++) {
          const int k = 2 * (i * N + j);
          s.v[k] = s.v[k] + add_products(re[i], vr, im[i], vi);
          s.v[k + 1] = s.v[k + 1] + sub_products(re[i], vi, im[i], vr);
        }
      }
      return;
    }
    if (lx != 0) return;
    const i64 from = (i64)o * a.numbers, step = a.step();
    int e = 0;
    if constexpr (W > 1) {
      if (step == 1) {
        for (; 2 * e + W <= 2 * a.numbers; e += W / 2) {
          const i64 at = 2 * (from + e);
          D u[N];
          PLAQ_UNROLL for (int i = 0; i < N; i++) u[i] = lane_io<T, D>::load((const T*)x[i] + at);
          PLAQ_UNROLL for (int j = 0; j < N; j++) {
            const D v = lane_io<T, D>::load((const T*)y[j] + at);
            const D turned = Tile<double, W, W, 1>::alternating(1, -1) * lane_xor(v, 1);
            PLAQ_UNROLL for (int i = 0; i < N; i++) {
              const int k = 2 * (i * N + j);
              s.v[k] = fma_(u[i], v, s.v[k]);
              s.v[k + 1] = fma_(u[i], turned, s.v[k + 1]);
            }
          }
        }
      }
    }
    double sum[2 * N * N] = {};
    for (; e < a.numbers; e++) {
      const i64 at = (from + e) * step + rhs * a.apart;
      PLAQ_UNROLL for (int i = 0; i < N; i++) PLAQ_UNROLL for (int j = 0; j < N; j++) {
        const cplx<double> u = number<double>((const T*)x[i], at), v = number<double>((const T*)y[j], at);
        sum[2 * (i * N + j)] += add_products(u.re, v.re, u.im, v.im);
        sum[2 * (i * N + j) + 1] += sub_products(u.re, v.im, u.im, v.re);
      }
    }
    for (int k = 0; k < 2 * N * N; k++) {
      if constexpr (W == 1) s.v[k] += sum[k];
      else s.v[k][0] += sum[k];
    }
#endif
  }
};

// Finds the combination of images S v that minimises the residual. With POWERS the vectors are v_0 = r and v_k+1 = v_k
// - S v_k, and images are v_k - v_k+1; with IMAGES they are r and then the images themselves. Writes for each vector
// its coefficient in the solution, then those in the residual, in double, then all of these in single precision. Sums:
// |r|^2 before, after, and the number of directions used. On a GPU a warp shares a right-hand side.
template <int W> struct KrylovSolve {
  static constexpr int N = KRYLOV_TILE, M = KRYLOV_MAX_VECTORS;
  typedef cplx<double> Z;
#if PLAQ_GPU
  static constexpr int team = 32, team_rows = 4;
  static PLAQ_FN void synchronise() { __syncwarp(); }
#else
  static constexpr int team = 1, team_rows = 1;
  static PLAQ_FN void synchronise() {}
#endif
  // Memory shared by the threads of a right-hand side: g: products of vectors, row <= column; u: U of A = U D^-1
  // U^dagger, A the products of images, in the lower triangle; over: 1 / D; w: products of images with r,
  // orthogonalised against those before; x: the solution.
  struct Shared {
    Z g[M][M], u[M][M], w[M], x[M];
    double over[M];
  };
  static PLAQ_FN void site(const KrylovArgs& a, int o, int lx, int rhs, Sums<3, W>& s) {
    if (lx != 0) return;
#if PLAQ_GPU
    __shared__ Shared m;
#else
    Shared m;
    o = 0;
#endif
    constexpr int columns = team / team_rows;
    const int across = o % columns, down = o / columns, count = a.count, max = count - 1;
    const bool powers = a.kind == KRYLOV_POWERS;
    double* gram = (double*)a.gram + (i64)rhs * 2 * M * M;
    const double* in = (const double*)a.sums + (i64)rhs * a.tiles * 2 * N * N;
    // Number of tiles in the columns of tiles before that of vector q.
    const auto tiles = [](int q) { return q / N * (q / N + 1) / 2; };
    for (int p = down; p < count; p += team_rows)
      for (int q = across; q < count; q += columns) {
        if (p > q) continue;
        double* kept = gram + 2 * (p * M + q);
        if (q >= a.first) {
          const double* now = in + 2 * ((tiles(q) - tiles(a.first) + p / N) * N * N + p % N * N + q % N);
          kept[0] = now[0], kept[1] = now[1];
        }
        m.g[p][q] = {kept[0], kept[1]};
      }
    synchronise();
    const auto g = [&](int i, int j) { return i <= j ? m.g[i][j] : conj(m.g[j][i]); };
    // <image i, image j>, or <image i, r> if j < 0.
    const auto product = [&](int i, int j) {
      if (!powers) return g(i + 1, j < 0 ? 0 : j + 1);
      if (j < 0) return g(i, 0) - g(i + 1, 0);
      return g(i, j) - g(i, j + 1) - (g(i + 1, j) - g(i + 1, j + 1));
    };
    for (int i = down; i < max; i += team_rows)
      for (int j = across - 1; j <= i; j += columns) {
        if (j < 0) m.w[i] = product(i, j);
        else m.u[i][j] = product(i, j);
      }
    synchronise();
    const double before = g(0, 0).re;
    double after = before;
    int n = 0;
    for (; n < max; n++) {
      const double whole = product(n, n).re, noise = powers ? g(n, n).re + g(n + 1, n + 1).re : whole;
      const double left = m.u[n][n].re;
      // Stops at an image that depends linearly on those before it, of which only rounding is left.
      if (!(left > 1e-12 * whole) || !(left > a.noise * noise) || !(left < 1e300) || !(before > 0)) break;
      const double over = 1 / left;
      const Z rest = m.w[n];
      after = fnma_(over, norm2(rest), after);
      if (o == 0) m.over[n] = over;
      for (int i = n + 1 + down; i < max; i += team_rows) {
        const Z f = over * m.u[i][n];
        for (int j = n + across; j <= i; j += columns) {
          if (j == n) m.w[i] = msub(m.w[i], f, rest);
          else m.u[i][j] = m.u[i][j] - mul_conj(m.u[j][n], f);
        }
      }
      synchronise();
    }
    bool finite = true;
    for (int i = n - 1; i >= 0; i--) {
      const Z x = m.over[i] * m.w[i];
      finite = finite && x.re - x.re == 0 && x.im - x.im == 0;
      if (o == 0) m.x[i] = x;
      for (int k = o; k < i; k += team) m.w[k] = m.w[k] - mul_conj(m.u[i][k], x);
      synchronise();
    }
    if (!finite) n = 0, after = before;
    double* out = (double*)a.coef + (i64)rhs * 4 * M;
    float* narrow = (float*)((double*)a.coef + (i64)a.nrhs * 4 * M) + (i64)rhs * 4 * M;
    const auto put = [&](int k, double re, double im) {
      out[2 * k] = re, out[2 * k + 1] = im;
      narrow[2 * k] = (float)re, narrow[2 * k + 1] = (float)im;
    };
    for (int k = o; k < count; k += team) {
      const Z y = k < n ? m.x[k] : Z{0, 0}, last = k > 0 && k <= n ? m.x[k - 1] : Z{0, 0};
      put(k, y.re, y.im);
      const double one = k == 0 ? 1 : 0;
      if (powers) put(M + k, one + last.re - y.re, last.im - y.im);
      else put(M + k, one - last.re, -last.im);
    }
    if (o == 0) s.v[0] += before, s.v[1] += after > 0 ? after : 0, s.v[2] += n;
  }
};

// Combines all vectors x_k: y = (y +) sum c_k x_k, z = sum d_k x_k (krylov.h's coefficients); z may be one of the x_k.
template <int W, class S> struct KrylovCombine {
  typedef typename S::T T;
  typedef typename S::C C;
  static PLAQ_FN cplx<C> coefficient(const KrylovArgs& a, int rhs, int k) {
    const i64 at = (i64)rhs * 2 * KRYLOV_MAX_VECTORS + k;
    if constexpr (sizeof(C) == 8) return number<C>((const double*)a.coef, at);
    else return number<C>((const float*)((const double*)a.coef + (i64)a.nrhs * 4 * KRYLOV_MAX_VECTORS), at);
  }
  static PLAQ_FN void at_number(const KrylovArgs& a, i64 at, int rhs) {
    cplx<C> y = {0, 0}, z = {0, 0};
    if (a.with_y() && a.keep) y = number<C>((const T*)a.y, at);
    for (int k = 0; k < a.count; k++) {
      const cplx<C> x = number<C>((const T*)a.x[k], at);
      if (a.with_y()) y = madd(y, coefficient(a, rhs, a.skip + k), x);
      if (a.with_z()) z = madd(z, coefficient(a, rhs, KRYLOV_MAX_VECTORS + k), x);
    }
    if (a.with_y()) put_number((T*)a.y, at, y);
    if (a.with_z()) put_number((T*)a.z, at, z);
  }
  static PLAQ_FN void site(const KrylovArgs& a, Element o, int lx, int batch) {
#if PLAQ_GPU
    if (a.step() > 1) at_number(a, (i64)o, (int)(o % a.step()));
    else at_number(a, (i64)o + batch * a.apart, batch);
#else
    if (a.interleaved()) {
      if (lx != 0) return;
      const i64 from = (i64)o * a.numbers, step = a.step();
      for (int e = 0; e < a.numbers; e++)
        for (int r = 0; r < a.nrhs; r++) at_number(a, (from + e) * step + r * a.apart, r);
      return;
    }
    typedef real<C, W> R;
    R y[2] = {R{}, R{}}, z[2] = {R{}, R{}};
    const auto place = [&](const char* p, int imaginary) { return (T*)p + 2 * batch * a.apart + (2 * (i64)o + imaginary) * PLAQ_LANES + lx; };
    if (a.with_y() && a.keep)
      for (int i = 0; i < 2; i++) y[i] = lane_io<T, R>::load(place(a.y, i));
    for (int k = 0; k < a.count; k++) {
      const R re = lane_io<T, R>::load(place(a.x[k], 0)), im = lane_io<T, R>::load(place(a.x[k], 1));
      const cplx<C> c = coefficient(a, batch, a.skip + k), d = coefficient(a, batch, KRYLOV_MAX_VECTORS + k);
      const R cr = splat<R>(c.re), ci = splat<R>(c.im), dr = splat<R>(d.re), di = splat<R>(d.im);
      y[0] = fnma_(im, ci, fma_(re, cr, y[0])), y[1] = fma_(im, cr, fma_(re, ci, y[1]));
      z[0] = fnma_(im, di, fma_(re, dr, z[0])), z[1] = fma_(im, dr, fma_(re, di, z[1]));
    }
    for (int i = 0; i < 2; i++) {
      if (a.with_y()) lane_io<T, R>::store(place(a.y, i), y[i]);
      if (a.with_z()) lane_io<T, R>::store(place(a.z, i), z[i]);
    }
#endif
  }
};

}  // namespace PLAQ_NS
