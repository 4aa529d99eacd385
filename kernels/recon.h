// Link storage: how many reals a link takes and how the matrix comes back from them. Every stored
// real lies in [-1, 1], so that 16-bit fixed point applies. Storages are the constants R18, R12,
// R8, R8A (SU(3)) and SU2 of plaq_args.h; kernels take one as a template parameter.
#pragma once
#include "plaq_math.h"
#include "unitary.h"

namespace PLAQ_NS {

// Recon<STORAGE> has Link<R>, the type of the matrix; reals, the count of stored numbers; expand and compress.
template <int STORAGE> struct Recon;

// R18: all nine entries, row by row, re before im.
template <> struct Recon<R18> {
  template <class R> using Link = Su3<R>;
  static constexpr int reals = 18, colours = 3;
  template <class R> static PLAQ_FN void expand(Su3<R>& u, const R (&v)[18]) {
    PLAQ_UNROLL for (int i = 0; i < 9; i++) u.e[i / 3][i % 3] = {v[2 * i], v[2 * i + 1]};
  }
  template <class R> static PLAQ_FN void compress(R (&v)[18], const Su3<R>& u) {
    PLAQ_UNROLL for (int i = 0; i < 9; i++) v[2 * i] = u.e[i / 3][i % 3].re, v[2 * i + 1] = u.e[i / 3][i % 3].im;
  }
};

// R12: the first two rows; the third one is the conjugate of their vector product.
template <> struct Recon<R12> {
  template <class R> using Link = Su3<R>;
  static constexpr int reals = 12, colours = 3;
  template <class R> static PLAQ_FN void expand(Su3<R>& u, const R (&v)[12]) {
    PLAQ_UNROLL for (int i = 0; i < 6; i++) u.e[i / 3][i % 3] = {v[2 * i], v[2 * i + 1]};
    complete_rows(u);
  }
  template <class R> static PLAQ_FN void compress(R (&v)[12], const Su3<R>& u) {
    PLAQ_UNROLL for (int i = 0; i < 6; i++) v[2 * i] = u.e[i / 3][i % 3].re, v[2 * i + 1] = u.e[i / 3][i % 3].im;
  }
};

// Eight reals: two unit vectors by stereographic projection, five and three numbers, rational in both
// directions. With e1 = (1, 0, 0) and <.,.> linear in its second argument, the rows a, b of U are
//   a = s (2 x / |x|^2 - e1),  x = (1 + i v0, v1 + i v2, v3 + i v4),
//   b = (0, r) - y x,          y = 2 x1 <(x2, x3), r> / |x|^2 |x1|^2,
//   r = s' (2 (1 + i w0, w1 + i w2) / (1 + w^2) - (1, 0)),
// and row 3 completes them. The signs s, s' choose the half sphere on which |v|, |w| <= 1, so that
// the error of U is a few eps on all of SU(3). They are the signs of the numbers that stand for v0 and
// w0: s (v0 + 3) / 4, whose modulus is 1/2 to 1.
template <> struct Recon<R8> {
  template <class R> using Link = Su3<R>;
  static constexpr int reals = 8, colours = 3;
  // The stored number without the sign that was put into it.
  template <class R> static PLAQ_FN R signless(R v) { return fma_(splat<R>(4), vabs(v), splat<R>(-3)); }
  template <class R> static PLAQ_FN R with_sign(R v, R sign) { return vcopysign(fma_(splat<R>(0.25), v, splat<R>(0.75)), sign); }
  // Computes x, |x1|^2 (`first`) and |x|^2 (`all`) from the numbers v.
  template <class R> static PLAQ_FN void point(cplx<R> (&x)[3], R& first, R& all, const R (&v)[8]) {
    x[0] = {splat<R>(1), signless(v[0])}, x[1] = {v[1], v[2]}, x[2] = {v[3], v[4]};
    first = fma_(x[0].im, x[0].im, splat<R>(1));
    all = fma_(v[4], v[4], fma_(v[3], v[3], fma_(v[2], v[2], fma_(v[1], v[1], first))));
  }
  // Computes row b from r, with h = 2 / |x|^2 |x1|^2.
  template <class R> static PLAQ_FN void second(cplx<R> (&b)[3], const cplx<R> (&r)[2], const cplx<R> (&x)[3], R h) {
    cplx<R> z = h * madd_conj(mul_conj(x[1], r[0]), x[2], r[1]);
    const cplx<R> y = {fnma_(x[0].im, z.im, z.re), fma_(x[0].im, z.re, z.im)};
    b[0] = {fma_(x[0].im, y.im, -y.re), fnma_(x[0].im, y.re, -y.im)};
    b[1] = msub(r[0], y, x[1]), b[2] = msub(r[1], y, x[2]);
  }
  // The vectors x and r, with |x1|^2, |x|^2, h = 2 / |x|^2 |x1|^2 and f = s 2 / |x|^2
  template <class R> struct Vectors {
    cplx<R> x[3], r[2];
    R first, all, h, f;
  };
  template <class R> static PLAQ_FN void vectors(Vectors<R>& to, const R (&v)[8]) {
    const R one = splat<R>(1), two = splat<R>(2), w0 = signless(v[5]);
    point(to.x, to.first, to.all, v);
    const R three = fma_(v[7], v[7], fma_(v[6], v[6], fma_(w0, w0, one)));
    // One division serves for the inverses of all three denominators.
    const R both = to.all * to.first, inv = two * vrcp(both * three);
    to.h = inv * three, to.f = vcopysign(to.h * to.first, v[0]);
    const R g = vcopysign(inv * both, v[5]);
    to.r[0] = {g - vcopysign(one, v[5]), g * w0}, to.r[1] = {g * v[6], g * v[7]};
  }
  template <class R> static PLAQ_FN void expand(Su3<R>& u, const R (&v)[8]) {
    Vectors<R> of;
    vectors(of, v);
    const R f = of.f;
    u.e[0][0] = {f - vcopysign(splat<R>(1), f), f * of.x[0].im}, u.e[0][1] = f * of.x[1], u.e[0][2] = f * of.x[2];
    second(u.e[1], of.r, of.x, of.h);
    complete_rows(u);
  }
  template <class R> static PLAQ_FN void compress(R (&v)[8], const Su3<R>& u) {
    const R one = splat<R>(1), two = splat<R>(2), zero = splat<R>(0);
    const cplx<R>* a = u.e[0];
    R f = vcopysign(one / (one + vabs(a[0].re)), a[0].re);
    v[0] = with_sign(f * a[0].im, a[0].re);
    v[1] = f * a[1].re, v[2] = f * a[1].im, v[3] = f * a[2].re, v[4] = f * a[2].im;
    // r has the components of b in the basis that v defines.
    cplx<R> x[3], r[2], basis[3];
    R first, all;
    point(x, first, all, v);
    PLAQ_UNROLL for (int k = 0; k < 2; k++) {
      const cplx<R> unit[2] = {{k == 0 ? one : zero, zero}, {k == 1 ? one : zero, zero}};
      second(basis, unit, x, two / (all * first));
      r[k] = madd_conj(madd_conj(mul_conj(basis[0], u.e[1][0]), basis[1], u.e[1][1]), basis[2], u.e[1][2]);
    }
    f = vcopysign(one / (one + vabs(r[0].re)), r[0].re);
    v[5] = with_sign(f * r[0].im, r[0].re), v[6] = f * r[1].re, v[7] = f * r[1].im;
  }
};

// Eight angles: Bronzan, Phys. Rev. D 37 (1988) 1457, as in Walk's thesis, Appendix B. With the
// unit vectors (A, B) = (cos t2 e^{i p1}, sin t2 e^{i p4}), (C, S) = (cos t3 e^{i p2}, sin t3 e^{i p5})
// and E = e^{i p3}:
//   u11 = cos t1 A                      u12 = sin t1 E   u13 = cos t1 B
//   u21 = conj(B S) - sin t1 A C / E    u22 = cos t1 C   u23 = -conj(A S) - sin t1 B C / E
// and the third row completes them. Angles are linear in the stored numbers, 0..pi/2 for the t and
// -pi..pi for the p, so that the error of U is about pi eps on all of SU(3).
template <> struct Recon<R8A> {
  template <class R> using Link = Su3<R>;
  static constexpr int reals = 8, colours = 3;
  template <class R> static PLAQ_FN void expand(Su3<R>& u, const R (&v)[8]) {
    R sin_t[3], cos_t[3];
    cplx<R> e[5];
    PLAQ_UNROLL for (int i = 0; i < 3; i++) vsincospi(fma_(v[i], splat<R>(0.25), splat<R>(0.25)), sin_t[i], cos_t[i]);
    PLAQ_UNROLL for (int i = 0; i < 5; i++) vsincospi(v[3 + i], e[i].im, e[i].re);
    const cplx<R> A = cos_t[1] * e[0], B = sin_t[1] * e[3], C = cos_t[2] * e[1], S = sin_t[2] * e[4];
    const cplx<R> f = (sin_t[0] * C) * conj(e[2]);
    u.e[0][0] = cos_t[0] * A, u.e[0][1] = sin_t[0] * e[2], u.e[0][2] = cos_t[0] * B;
    u.e[1][0] = msub(conj(B * S), A, f), u.e[1][1] = cos_t[0] * C, u.e[1][2] = msub(msub_conj_both(cplx<R>{}, A, S), B, f);
    complete_rows(u);
  }
  template <class R> static PLAQ_FN void compress(R (&v)[8], const Su3<R>& u) {
    const R inv_pi = splat<R>(0.318309886183790672), one = splat<R>(1), two = splat<R>(2);
    const R s1 = vsqrt(norm2(u.e[0][1])), c1 = vsqrt(norm2(u.e[0][0]) + norm2(u.e[0][2]));
    const auto quarter = [&](R sine, R cosine) { return fma_(two * two * inv_pi, vatan2(sine, cosine), -one); };
    const auto phase = [&](cplx<R> z) { return inv_pi * vatan2(z.im, z.re); };
    v[0] = quarter(s1, c1);
    v[1] = quarter(vsqrt(norm2(u.e[0][2])), vsqrt(norm2(u.e[0][0])));
    v[3] = phase(u.e[0][0]), v[5] = phase(u.e[0][1]), v[6] = phase(u.e[0][2]);
    // A, B as they will be read: where cos t1 is small they are rounding noise, and C, S must fit
    // them. u12 is not small there, which gives C from row 2; elsewhere C = u22 / cos t1.
    R sin_t, cos_t;
    cplx<R> e1, e3, e4;
    vsincospi(fma_(v[1], splat<R>(0.25), splat<R>(0.25)), sin_t, cos_t);
    vsincospi(v[3], e1.im, e1.re);
    vsincospi(v[5], e3.im, e3.re);
    vsincospi(v[6], e4.im, e4.re);
    const cplx<R> A = cos_t * e1, B = sin_t * e4;
    const cplx<R> from_row = cplx<R>{} - (mul_conj(A, u.e[1][0]) + mul_conj(B, u.e[1][2])) * e3;
    const auto steep = s1 > c1;
    const cplx<R> C = {select(steep, from_row.re, u.e[1][1].re), select(steep, from_row.im, u.e[1][1].im)};
    const R len = select(steep, s1, c1);
    const cplx<R> S = conj(B * u.e[1][0] - A * u.e[1][2]);
    v[2] = quarter(vsqrt(norm2(S)) * len, vsqrt(norm2(C)));
    v[4] = phase(C), v[7] = phase(S);
  }
};

// SU2: the four reals of a0 + i a.sigma.
template <> struct Recon<SU2> {
  template <class R> using Link = Su2<R>;
  static constexpr int reals = 4, colours = 2;
  template <class R> static PLAQ_FN void expand(Su2<R>& u, const R (&v)[4]) {
    PLAQ_UNROLL for (int i = 0; i < 4; i++) u.a[i] = v[i];
  }
  template <class R> static PLAQ_FN void compress(R (&v)[4], const Su2<R>& u) {
    PLAQ_UNROLL for (int i = 0; i < 4; i++) v[i] = u.a[i];
  }
};

template <int STORAGE, class R> using LinkOf = typename Recon<STORAGE>::template Link<R>;

// Load and store link mu of site s from `gauge`, the plane of its parity, which has `links` matrices per site: 4, or 1
// for a gauge transformation. u is a LinkOf<STORAGE, R>.
template <class S, int STORAGE, template <class> class M, class R>
PLAQ_FN void load_link(M<R>& u, const Plane& gauge, const Site& s, int mu, Hint hint = keep, int links = 4) {
  constexpr int N = Recon<STORAGE>::reals;
  R v[N];
  load_part<S>(v, gauge, link_site(s), links * N, mu * N, hint);
  Recon<STORAGE>::expand(u, v);
}
template <class S, int STORAGE, template <class> class M, class R>
PLAQ_FN void store_link(const M<R>& u, const Plane& gauge, const Site& s, int mu, int links = 4) {
  constexpr int N = Recon<STORAGE>::reals;
  R v[N];
  Recon<STORAGE>::compress(v, u);
  store_part<S>(v, gauge, link_site(s), links * N, mu * N);
}

// Loads an SU(3) link whose storage is a run-time value, which is a literal on the GPU: kernels for which speed does
// not matter need no instance for each storage.
#if PLAQ_GPU
template <class S, int STORAGE, class R>
PLAQ_FN void load_link(Su3<R>& u, literal<STORAGE>, const Plane& gauge, const Site& s, int mu, int links = 4) {
  load_link<S, STORAGE>(u, gauge, s, mu, keep, links);
}
template <class S, int STORAGE, class R>
PLAQ_FN void store_link(const Su3<R>& u, literal<STORAGE>, const Plane& gauge, const Site& s, int mu, int links = 4) {
  store_link<S, STORAGE>(u, gauge, s, mu, links);
}
#else
template <class S, class R>
PLAQ_FN void load_link(Su3<R>& u, int storage, const Plane& gauge, const Site& s, int mu, int links = 4) {
  if (storage == R18) load_link<S, R18>(u, gauge, s, mu, keep, links);
  if (storage == R12) load_link<S, R12>(u, gauge, s, mu, keep, links);
  if (storage == R8) load_link<S, R8>(u, gauge, s, mu, keep, links);
  if (storage == R8A) load_link<S, R8A>(u, gauge, s, mu, keep, links);
}
template <class S, class R>
PLAQ_FN void store_link(const Su3<R>& u, int storage, const Plane& gauge, const Site& s, int mu, int links = 4) {
  if (storage == R18) store_link<S, R18>(u, gauge, s, mu, links);
  if (storage == R12) store_link<S, R12>(u, gauge, s, mu, links);
  if (storage == R8) store_link<S, R8>(u, gauge, s, mu, links);
  if (storage == R8A) store_link<S, R8A>(u, gauge, s, mu, links);
}
#endif

// Converts links to another storage or precision; batches = planes. Gauge transformations (one matrix per site) are
// projected to the group again, since they multiply links of higher precision.
template <int W, class SX, class SY> struct ConvertGauge {
  typedef real<typename real_wider<typename SX::C, typename SY::C>::type, W> R;
  static PLAQ_FN void site(const ConvertArgs& a, int o, int lx, int batch) {
    const Plane from = plane(a.from, batch), to = plane(a.to, batch);
    Site s{};
    s.e = o, s.lx = lx;  // halos too
    PLAQ_FIXED(ConvertArgs, fixed, a);
    for (int mu = 0; mu < a.links(); mu++) {
      PLAQ_IF (fixed.storage_from() == SU2) {
        Su2<R> u;
        load_link<SX, SU2>(u, from, s, mu, keep, a.links());
        PLAQ_IF (fixed.links() == 1) reunitarise(u);
        store_link<SY, SU2>(u, to, s, mu, a.links());
      } else {
        Su3<R> u;
        load_link<SX>(u, PLAQ_LITERAL(fixed.storage_from()), from, s, mu, a.links());
        PLAQ_IF (fixed.links() == 1) reunitarise(u);
        store_link<SY>(u, PLAQ_LITERAL(fixed.storage_to()), to, s, mu, a.links());
      }
    }
  }
};

// Converts clover blocks to another precision.
template <int W, class SX, class SY> struct ConvertClover {
  typedef real<typename real_wider<typename SX::C, typename SY::C>::type, W> R;
  static PLAQ_FN void site(const ConvertArgs& a, int o, int lx, int batch) {
    Site s{};
    s.o = o, s.lx = lx;
    R b[2][36];
    load_blocks<SX>(b, plane(a.from, batch), s);
    store_blocks<SY>(b, plane(a.to, batch), s);
  }
};

}  // namespace PLAQ_NS
