// Link storage: how many reals a link takes and how the matrix comes back from them. Every stored
// real lies in [-1, 1], so that 16-bit fixed point applies. Storages are the constants R18, R12,
// R8, R8A (SU(3)) and SU2 of plaq_args.h; kernels take one as a template parameter.
#pragma once
#include "plaq_math.h"
#include "unitary.h"

namespace PLAQ_NS {

// Link<R>: the matrix type; reals: numbers stored; expand and compress: from and to them.
template <int STORAGE> struct Recon;

// All nine entries, row major, re im.
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

// The first two rows.
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

// A point z != 0 of the plane as one number p in [-1, 1] that runs once around the square
// |x| + |y| = 1 as the phase of z runs from -pi to pi: no trigonometry either way.
template <class R> PLAQ_FN R square_phase(cplx<R> z) {
  const R zero = splat<R>(0), one = splat<R>(1), s = vabs(z.re) + vabs(z.im);
  const R q = splat<R>(0.5) * vabs(z.im) / select(s > zero, s, one);
  const R p = select(z.re < zero, one - q, q);
  return select(z.im < zero, -p, p);
}
// The complex number of that phase and squared modulus m2.
template <class R> PLAQ_FN cplx<R> from_square_phase(R p, R m2) {
  const R zero = splat<R>(0), one = splat<R>(1), q = vabs(p);
  const R up = q + q, down = (one - q) + (one - q);
  const R x = one - up, y0 = select(up < down, up, down), y = select(p < zero, -y0, y0);
  const R f = vsqrt(vmax(m2, zero) / (x * x + y * y));
  return {f * x, f * y};
}

// Eight reals: Bunk and Sommer, Comput. Phys. Commun. 40 (1986) 229; de Forcrand, Lellouch and
// Roiesnel, J. Comput. Phys. 59 (1985) 324. With rows a, b, c of V in SU(3) the numbers a2, a3, b1
// and the phases of a1, c1 are kept; moduli follow from the unit length of row and column, the
// rest from orthogonality, dividing by n = |a2|^2 + |a3|^2.
// V is U with rows 1 and 3 turned by 45 degrees, a = (u1 + u3)/sqrt2, c = (u3 - u1)/sqrt2: the
// unit matrix lies where |a1| = |c1| = sqrt n = 1/sqrt2 and its neighbourhood is stored without
// loss. The error of U is about eps (1 + 1/|a1| + 1/|c1| + 1/sqrt n); it stays below sqrt(eps)
// where a1 or c1 vanish, and only n = 0 (row a = (e^{i phi}, 0, 0)) loses the link. No NaN arises.
template <> struct Recon<R8> {
  template <class R> using Link = Su3<R>;
  static constexpr int reals = 8, colours = 3;
  template <class R> static PLAQ_FN void expand(Su3<R>& u, const R (&v)[8]) {
    const R one = splat<R>(1), tiny = splat<R>(1e-30f);
    const cplx<R> a2 = {v[0], v[1]}, a3 = {v[2], v[3]}, b1 = {v[4], v[5]};
    const R n = norm2(a2) + norm2(a3), inv = one / vmax(n, tiny);
    const cplx<R> a1 = from_square_phase(v[6], one - n), c1 = from_square_phase(v[7], n - norm2(b1));
    const cplx<R> d = mul_conj(a1, b1), e = conj(c1);
    // conj(a2) b2 + conj(a3) b3 = -d,  a2 b3 - a3 b2 = e
    const cplx<R> b2 = -inv * (a2 * d + mul_conj(a3, e)), b3 = -inv * (a3 * d - mul_conj(a2, e));
    const cplx<R> c2 = conj(a3 * b1 - a1 * b3), c3 = conj(a1 * b2 - a2 * b1);
    const R r = splat<R>(0.70710678118654752);
    const cplx<R> a[3] = {a1, a2, a3}, b[3] = {b1, b2, b3}, c[3] = {c1, c2, c3};
    PLAQ_UNROLL for (int i = 0; i < 3; i++) {
      u.e[0][i] = r * (a[i] - c[i]);
      u.e[1][i] = b[i];
      u.e[2][i] = r * (a[i] + c[i]);
    }
  }
  template <class R> static PLAQ_FN void compress(R (&v)[8], const Su3<R>& u) {
    const R r = splat<R>(0.70710678118654752);
    cplx<R> a[3];
    PLAQ_UNROLL for (int i = 0; i < 3; i++) a[i] = r * (u.e[0][i] + u.e[2][i]);
    v[0] = a[1].re, v[1] = a[1].im, v[2] = a[2].re, v[3] = a[2].im;
    v[4] = u.e[1][0].re, v[5] = u.e[1][0].im;
    v[6] = square_phase(a[0]), v[7] = square_phase(u.e[2][0] - u.e[0][0]);
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
    u.e[1][0] = conj(B * S) - A * f, u.e[1][1] = cos_t[0] * C, u.e[1][2] = cplx<R>{} - conj(A * S) - B * f;
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

// SU(2): a0 + i a.sigma.
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

// `gauge` is the plane of the parity of `s`; u is a LinkOf<STORAGE, R>; number mu of the site's
// `links`: 4, or 1 in a gauge transformation.
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

// The same where the storage is a run-time value (a constant on the GPU), for SU(3): kernels that
// are not hot need no instance per storage.
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

// Change of storage or precision; batches = planes. Transformations (one matrix per site) are put back
// into the group, as they act on links of higher precision.
template <int W, class SX, class SY> struct ConvertGauge {
  typedef real<typename real_wider<typename SX::C, typename SY::C>::type, W> R;
  static PLAQ_FN void site(const ConvertArgs& a, int o, int lx, int batch) {
    const Plane from = plane(a.from, batch), to = plane(a.to, batch);
    Site s{};
    s.e = o, s.lx = lx;  // halos too
    for (int mu = 0; mu < a.links(); mu++) {
      if (a.storage_from() == SU2) {
        Su2<R> u;
        load_link<SX, SU2>(u, from, s, mu, keep, a.links());
        if (a.links() == 1) reunitarise(u);
        store_link<SY, SU2>(u, to, s, mu, a.links());
      } else {
        Su3<R> u;
        load_link<SX>(u, a.storage_from(), from, s, mu, a.links());
        if (a.links() == 1) reunitarise(u);
        store_link<SY>(u, a.storage_to(), to, s, mu, a.links());
      }
    }
  }
};

// Change of precision of clover blocks.
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
