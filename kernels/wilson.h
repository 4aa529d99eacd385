// Wilson hopping term with a fused site operator; gammas in the DeGrand-Rossi basis (physics.md).
//   hop(in)(x) = sum_mu c_mu [ (1 - g_mu) U_mu(x) in(x+mu) + (1 + g_mu) U_mu(x-mu)^dagger in(x-mu) ]
//   out = coef_y S_y(y) + S_hop(hop(in));   dagger swaps the projectors.
#pragma once
#include "recon.h"

namespace PLAQ_NS {

template <class R> struct HalfSpinor {
  cplx<R> c[2][3];
};
template <class R> struct Spinor {
  R v[24];  // (spin * 3 + colour) * 2 + (re, im)
  PLAQ_FN cplx<R> at(int s, int c) const { return {v[(s * 3 + c) * 2], v[(s * 3 + c) * 2 + 1]}; }
  // += f z and += i f z
  PLAQ_FN void add(int s, int c, R f, cplx<R> z) {
    R *p = v + (s * 3 + c) * 2;
    p[0] = fma_(f, z.re, p[0]), p[1] = fma_(f, z.im, p[1]);
  }
  PLAQ_FN void add_i(int s, int c, R f, cplx<R> z) {
    R *p = v + (s * 3 + c) * 2;
    p[0] = fma_(-f, z.im, p[0]), p[1] = fma_(f, z.re, p[1]);
  }
};

// a + f b of reals, f = +-1.
struct PlainSum {
  template <class R> PLAQ_FN R operator()(R a, R f, R b) const { return fma_(f, b, a); }
};
#if PLAQ_GPU
// The same of biased integers (field.h), scaled: the biases cancel in a difference, and add to
// an exactly known constant in a sum.
struct BiasedSum {
  float unit, two_biases;
  PLAQ_FN explicit BiasedSum(float u) : unit(u), two_biases(-2.0f * fixed_bias * u) {}
  PLAQ_FN float operator()(float a, float f, float b) const {
    const float c = fmaf(f, b, a);
    return f < 0 ? c * unit : fmaf(c, unit, two_biases);
  }
};
#endif

// Upper two spins of (1 - g gamma_mu) psi, g = +-1.
template <class R, class Sum>
PLAQ_FN void project(HalfSpinor<R>& h, const Spinor<R>& p, int mu, R g, const Sum& sum) {
  const auto plus = [&](cplx<R> a, R f, cplx<R> b) { return cplx<R>{sum(a.re, f, b.re), sum(a.im, f, b.im)}; };
  const auto plus_i = [&](cplx<R> a, R f, cplx<R> b) { return cplx<R>{sum(a.re, -f, b.im), sum(a.im, f, b.re)}; };
  PLAQ_UNROLL for (int c = 0; c < 3; c++) {
    if (mu == 0) h.c[0][c] = plus_i(p.at(0, c), -g, p.at(3, c)), h.c[1][c] = plus_i(p.at(1, c), -g, p.at(2, c));
    if (mu == 1) h.c[0][c] = plus(p.at(0, c), g, p.at(3, c)), h.c[1][c] = plus(p.at(1, c), -g, p.at(2, c));
    if (mu == 2) h.c[0][c] = plus_i(p.at(0, c), -g, p.at(2, c)), h.c[1][c] = plus_i(p.at(1, c), g, p.at(3, c));
    if (mu == 3) h.c[0][c] = plus(p.at(0, c), -g, p.at(2, c)), h.c[1][c] = plus(p.at(1, c), -g, p.at(3, c));
  }
}

// Projected spinor of a neighbour.
template <class S, class R> PLAQ_FN void load_projected(HalfSpinor<R>& h, const Plane& in, const Site& n, int mu, R g) {
  Spinor<R> p;
#if PLAQ_GPU
  if constexpr (S::fixed) {
    load_words<S>(p.v, in, n, 24, 0, keep);
    project(h, p, mu, g, BiasedSum(load_norm<R>(in, n)));
    return;
  }
#endif
  load<S>(p.v, in, n, mu >= 2 ? ahead : keep);  // x and y: read for a site not long ago
  project(h, p, mu, g, PlainSum());
}

// acc += f times the four spins that belong to the projected h.
template <class R> PLAQ_FN void unproject(Spinor<R>& acc, const HalfSpinor<R>& h, int mu, R g, R f) {
  const R gf = g * f;
  PLAQ_UNROLL for (int c = 0; c < 3; c++) {
    acc.add(0, c, f, h.c[0][c]), acc.add(1, c, f, h.c[1][c]);
    if (mu == 0) acc.add_i(2, c, gf, h.c[1][c]), acc.add_i(3, c, gf, h.c[0][c]);
    if (mu == 1) acc.add(2, c, -gf, h.c[1][c]), acc.add(3, c, gf, h.c[0][c]);
    if (mu == 2) acc.add_i(2, c, gf, h.c[0][c]), acc.add_i(3, c, -gf, h.c[1][c]);
    if (mu == 3) acc.add(2, c, -gf, h.c[0][c]), acc.add(3, c, -gf, h.c[1][c]);
  }
}

// r = U h or U^dagger h
template <class R> PLAQ_FN void multiply(HalfSpinor<R>& r, const Su3<R>& u, const HalfSpinor<R>& h, bool dagger) {
  PLAQ_UNROLL for (int s = 0; s < 2; s++) PLAQ_UNROLL for (int i = 0; i < 3; i++) {
    if (dagger) {
      cplx<R> a = mul_conj(u.e[0][i], h.c[s][0]);
      a = madd_conj(a, u.e[1][i], h.c[s][1]);
      r.c[s][i] = madd_conj(a, u.e[2][i], h.c[s][2]);
    } else {
      cplx<R> a = u.e[i][0] * h.c[s][0];
      a = madd(a, u.e[i][1], h.c[s][1]);
      r.c[s][i] = madd(a, u.e[i][2], h.c[s][2]);
    }
  }
}

// v = A v for one chirality's hermitian 6x6 block: 6 diagonal reals, then the strictly lower
// triangle column by column (QUDA's and MILC's packed order), row = 3 * spin + colour.
template <class R> PLAQ_FN void multiply_block(R* v, const R (&b)[36], R (&out)[12]) {
  PLAQ_UNROLL for (int i = 0; i < 6; i++) out[2 * i] = b[i] * v[2 * i], out[2 * i + 1] = b[i] * v[2 * i + 1];
  int k = 6;
  PLAQ_UNROLL for (int j = 0; j < 5; j++) PLAQ_UNROLL for (int i = j + 1; i < 6; i++) {
    const R re = b[k], im = b[k + 1];
    k += 2;
    out[2 * i] = fma_(re, v[2 * j], fma_(-im, v[2 * j + 1], out[2 * i]));
    out[2 * i + 1] = fma_(re, v[2 * j + 1], fma_(im, v[2 * j], out[2 * i + 1]));
    out[2 * j] = fma_(re, v[2 * i], fma_(im, v[2 * i + 1], out[2 * j]));
    out[2 * j + 1] = fma_(re, v[2 * i + 1], fma_(-im, v[2 * i], out[2 * j + 1]));
  }
}

template <class S, class R> PLAQ_FN void load_block(R (&b)[36], const Plane& p, const Site& s, int chirality) {
  load_raw<S>(b, p, s, 72, 36 * chirality, stream);
  if constexpr (S::fixed) {
    const R scale = load_norm<R>(p, s);
    PLAQ_UNROLL for (int i = 0; i < 36; i++) b[i] = b[i] * scale;
  }
}

// v -> S v; `kind` is one of SITE_*. `parity` picks the clover plane.
template <class S, class R>
PLAQ_FN void apply_site(Spinor<R>& sp, int kind, const FieldView& clover, const Site& s, int parity,
                        double twist, double twist_scale) {
  const R tw = splat<R>(twist), one = splat<R>(twist_scale);
  if (kind == SITE_ONE) return;
  PLAQ_UNROLL for (int ch = 0; ch < 2; ch++) {
    R* v = sp.v + 12 * ch;
    const R m = ch == 0 ? tw : -tw;
    if (kind == SITE_TWIST) {
      PLAQ_UNROLL for (int i = 0; i < 6; i++) {
        const R re = v[2 * i], im = v[2 * i + 1];
        v[2 * i] = one * (re - m * im), v[2 * i + 1] = one * (im + m * re);
      }
      continue;
    }
    R b[36], out[12];
    load_block<S>(b, plane(clover, parity), s, ch);
    multiply_block(v, b, out);
    if (kind == SITE_CLOVER_TWIST)
      PLAQ_UNROLL for (int i = 0; i < 6; i++)
        out[2 * i] = out[2 * i] - m * v[2 * i + 1], out[2 * i + 1] = out[2 * i + 1] + m * v[2 * i];
    if (kind == SITE_CLOVER_TWIST_INVERSE) {  // B - i m H, H in the planes after B's
      R h[12];
      load_block<S>(b, plane(clover, parity + 2), s, ch);
      multiply_block(v, b, h);
      PLAQ_UNROLL for (int i = 0; i < 6; i++)
        out[2 * i] = out[2 * i] + m * h[2 * i + 1], out[2 * i + 1] = out[2 * i + 1] - m * h[2 * i];
    }
    PLAQ_UNROLL for (int i = 0; i < 12; i++) v[i] = out[i];
  }
}

// Factor of the hop over the boundary; links stay in SU(3), phases belong to the operator.
template <class R> PLAQ_FN void boundary_phase(HalfSpinor<R>& h, R& f, const HopArgs& a, const Site& s, int mu, bool forward) {
  if (!((a.phase_mask() >> mu) & 1)) return;
  if (!at_seam(a.geom, s, mu, forward)) return;
  const int bit = lane_bit(a.geom, mu);
  const R one = splat<R>(1), re = by_lane_bit(splat<R>(a.phase_re[mu]), one, s.lx, bit, forward);
  if (!((a.complex_phase() >> mu) & 1)) {
    f = f * re;
    return;
  }
  const double sign = forward ? 1 : -1;
  const cplx<R> z = {re, by_lane_bit(splat<R>(sign * a.phase_im[mu]), splat<R>(0), s.lx, bit, forward)};
  PLAQ_UNROLL for (int i = 0; i < 2; i++) PLAQ_UNROLL for (int c = 0; c < 3; c++) h.c[i][c] = z * h.c[i][c];
}

// Links of the hop from memory.
template <class S, int RECON> struct LinksInMemory {
  Plane gauge[2];
  Hint hint;
  PLAQ_FN LinksInMemory(const HopArgs& a, Hint h) : gauge{plane(a.gauge, 0), plane(a.gauge, 1)}, hint(h) {}
  template <class R> PLAQ_FN void get(Su3<R>& u, const Site& s, const Site& n, int mu, bool forward) const {
    load_link<S, RECON>(u, gauge[forward ? s.par : n.par], forward ? s : n, mu, hint);
  }
};

template <class S, class R, class Links>
PLAQ_FN void hop_direction(Spinor<R>& acc, const HopArgs& a, const Site& s, const Plane& in,
                           const Links& links, int mu, bool forward) {
  const Site n = neighbour(a.geom, s, mu, forward);
  Su3<R> u;
  links.get(u, s, n, mu, forward);
  const R g = splat<R>(forward != (a.dagger() != 0) ? 1 : -1);
  HalfSpinor<R> h, r;
  load_projected<S>(h, in, n, mu, g);
  multiply(r, u, h, !forward);
  R f = splat<R>(a.coef[mu]);
  boundary_phase(r, f, a, s, mu, forward);
  unproject(acc, r, mu, g, f);
}

template <int W, class S, int RECON> struct Hop {
  typedef real<typename S::C, W> R;
  template <class Links> static PLAQ_FN void apply(const HopArgs& a, const Site& s, int batch, const Links& links) {
    const Plane in = plane(a.inp, batch * a.step_in());
    Spinor<R> acc;
    PLAQ_UNROLL for (int i = 0; i < 24; i++) acc.v[i] = splat<R>(0);
    PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) {
      hop_direction<S>(acc, a, s, in, links, mu, true);
      hop_direction<S>(acc, a, s, in, links, mu, false);
    }
    apply_site<S>(acc, a.site_hop(), a.clover, s, a.parity(), a.twist, a.twist_scale);
    if (a.with_y()) {
      Spinor<R> y;
      load<S>(y.v, plane(a.y, batch * a.step_y()), s);
      apply_site<S>(y, a.site_y(), a.clover, s, a.parity(), a.twist, a.twist_scale);
      const R c = splat<R>(a.coef_y);
      PLAQ_UNROLL for (int i = 0; i < 24; i++) acc.v[i] = fma_(c, y.v[i], acc.v[i]);
    }
    store<S>(acc.v, plane(a.out, batch * a.step_out()), s);
  }
  static PLAQ_FN void site(const HopArgs& a, int o, int lx, int batch) {
    apply(a, site_at(a.geom, o, a.parity(), lx), batch, LinksInMemory<S, RECON>(a, stream));
  }

#if PLAQ_GPU
  typedef typename S::T T;
  static constexpr int N = Recon<RECON>::reals, V = chunk<T>(N), words = N / V;
  typedef typename word<sizeof(T) * V>::type Word;
  // Several right-hand sides: `columns` threads of a block share a site and take them in turn. One
  // column keeps the spinors of a box in the first-level cache; clover blocks, which every
  // right-hand side reads again, want two (docs/performance.md).
  static constexpr bool blocks = HopArgs{}.site_hop() != SITE_ONE || HopArgs{}.site_y() != SITE_ONE;
  static constexpr int columns = blocks ? 2 : 1, sites = PLAQ_BLOCK / columns;
  static constexpr bool fits = sites * 8 * N * sizeof(T) <= 48 * 1024;

  // The links of a site in shared memory as they are stored: [link][word][site].
  struct LinksInBlock {
    const Word* mine;
    PLAQ_FN void get(Su3<R>& u, const Site&, const Site&, int mu, bool forward) const {
      R v[N];
      PLAQ_UNROLL for (int c = 0; c < words; c++) {
        bits<T, V> b;
        b.w = mine[((2 * mu + (forward ? 0 : 1)) * words + c) * sites];
        unpack<S>(v, b, c);
      }
      if constexpr (S::fixed) PLAQ_UNROLL for (int c = 0; c < N; c++) v[c] = fma_(v[c], (R)fixed_step, (R)(-fixed_bias * fixed_step));
      Recon<RECON>::expand(u, v);
    }
  };

  // Site i of a block with several right-hand sides: the block is a box of 8 x 4 x 4 x (block / 64)
  // sites where the lattice allows, so that most neighbours are in the first-level cache.
  static PLAQ_FN int site_of_block(const Geom& g, int block, u32 i) {
    const int xh = g.x() / 2, deep = PLAQ_BLOCK / 64;
    if (xh % 4 || g.y() % 4 || g.z() % 4 || g.t() % deep) return block * PLAQ_BLOCK + i;
    const u32 bx = xh / 4, by = g.y() / 4, bz = g.z() / 4, b = block;
    const u32 x = (b % bx) * 4 + (i & 3), y = (b / bx % by) * 4 + (i >> 2 & 3);
    const u32 z = (b / (bx * by) % bz) * 4 + (i >> 4 & 3), t = (b / (bx * by * bz)) * deep + (i >> 6);
    return ((t * g.z() + z) * g.y() + y) * xh + x;
  }

  static PLAQ_FN void block(const HopArgs& a, int n) {
    if (a.nrhs() == 1) {
      const int o = blockIdx.x * PLAQ_BLOCK + threadIdx.x;
      if (o < n) site(a, o, 0, 0);
      return;
    }
    __shared__ Word shared[fits ? 8 * words * sites : 1];
    const int i = threadIdx.x % sites, column = threadIdx.x / sites;
    Word* const links = shared + i;
    for (int part = 0; part < columns; part++) {
      const int o = site_of_block(a.geom, blockIdx.x, part * sites + i);
      const Site s = site_at(a.geom, o < n ? o : 0, a.parity(), 0);
      if constexpr (fits) {
        if (part) __syncthreads();
        for (int k = column; k < 8; k += columns) {
          const int mu = k / 2;
          const Site from = k & 1 ? neighbour(a.geom, s, mu, false) : s;
          const Word* at = (const Word*)site_address<V>((const T*)plane(a.gauge, from.par).data, from.o, 4 * N, mu * N);
          PLAQ_UNROLL for (int c = 0; c < words; c++) links[(k * words + c) * sites] = __ldcs(at + 32 * c);
        }
        __syncthreads();
      }
      if (o >= n) continue;
      for (int b = column; b < a.nrhs(); b += columns) {
        if constexpr (fits) apply(a, s, b, LinksInBlock{links});
        else apply(a, s, b, LinksInMemory<S, RECON>(a, keep));
      }
    }
  }
#endif
};

template <int W, class S> struct SiteOp {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const SiteOpArgs& a, int o, int lx, int batch) {
    const Site s = site_at(a.geom, o, a.parity(), lx);
    Spinor<R> v;
    load<S>(v.v, plane(a.inp, batch * a.step_in()), s);
    if (a.site() == SITE_GAMMA5) PLAQ_UNROLL for (int i = 12; i < 24; i++) v.v[i] = -v.v[i];
    else apply_site<S>(v, a.site(), a.clover, s, a.parity(), a.twist, a.twist_scale);
    const R c = splat<R>(a.coef);
    PLAQ_UNROLL for (int i = 0; i < 24; i++) v.v[i] = c * v.v[i];
    store<S>(v.v, plane(a.out, batch * a.step_out()), s);
  }
};

}  // namespace PLAQ_NS
