// Elementary functions over lanes: one source for CPU and GPU, no libm. Errors are at most 2 ulp on
// the stated domains. Polynomials are Chebyshev interpolants truncated below a quarter ulp.
// Arguments are finite.
#pragma once
#include "plaq_args.h"

namespace PLAQ_NS {

// Integers as wide as a real number, lane by lane.
#if PLAQ_GPU
template <class R> struct bits_of { typedef int type; };
PLAQ_FN int to_bits(float v) { return __float_as_int(v); }
PLAQ_FN i64 to_bits(double v) { return __double_as_longlong(v); }
template <class R, class I> PLAQ_FN R from_bits(I b) {
  if constexpr (sizeof(R) == 8) return __longlong_as_double(b);
  else return __int_as_float(b);
}
template <class R, class I> PLAQ_FN R to_real(I b) { return (R)b; }
#else
template <class R> struct bits_of { typedef decltype(*(R*)0 < *(R*)0) type; };
template <> struct bits_of<float> { typedef int type; };
template <class R> PLAQ_FN typename bits_of<R>::type to_bits(R v) {
  typename bits_of<R>::type b;
  __builtin_memcpy(&b, &v, sizeof(v));
  return b;
}
template <class R, class I> PLAQ_FN R from_bits(I b) {
  R v;
  __builtin_memcpy(&v, &b, sizeof(v));
  return v;
}
template <class R, class I> PLAQ_FN R to_real(I b) {
  if constexpr (lanes<R>::W == 1) return (R)b;
  else return __builtin_convertvector(b, R);
}
#endif
template <> struct bits_of<double> { typedef i64 type; };

template <class R> constexpr bool wide = sizeof(typename scalar_of<R>::type) == 8;

// c[0] + z c[1] + z^2 c[2] + ...
template <int N, class R> PLAQ_FN R horner(R z, const double (&c)[N]) {
  R p = splat<R>(c[N - 1]);
  PLAQ_UNROLL for (int i = N - 2; i >= 0; i--) p = fma_(p, z, splat<R>(c[i]));
  return p;
}

// The nearest whole number of x, as a real and as integer bits n; |x| < 2^50, in single precision 2^21.
template <class R> PLAQ_FN R nearest(R x, typename bits_of<R>::type& n) {
  const R magic = splat<R>(wide<R> ? 6755399441055744.0 : 12582912.0);
  const R big = x + magic;
  n = to_bits(big) - to_bits(magic);
  return big - magic;
}

// Rotates (sin, cos) of an angle by n quarter turns.
template <class R, class I> PLAQ_FN void rotate_quarters(R& s, R& c, I n) {
  const auto odd = (n & 1) != 0, minus_s = (n & 2) != 0, minus_c = ((n + 1) & 2) != 0;
  const R a = select(odd, c, s), b = select(odd, s, c);
  s = select(minus_s, -a, a), c = select(minus_c, -b, b);
}

// sin and cos of pi x; |x| < 2^20. The reduction is exact.
template <class R> PLAQ_FN void vsincospi(R x, R& s, R& c) {
  typename bits_of<R>::type n;
  const R r = fma_(splat<R>(-0.5), nearest(x + x, n), x), z = r * r, one = splat<R>(1);
  R ps, pc;
  if constexpr (wide<R>) {
    constexpr double S[] = {-5.16771278004997003,    2.55016403987734488,    -0.599264529320647818,  0.0821458865972767627,
                            -0.00737043031229482369, 0.00046628793261474806, -0.0000217420673424780057};
    constexpr double C[] = {-4.93480220054467931,    4.05871212641676517,    -1.33526276885380944,     0.235330630283992222,
                            -0.0258068879647018763, 0.00192949387489494102, -0.000103700829715946267};
    ps = horner(z, S), pc = horner(z, C);
  } else {
    constexpr double S[] = {-5.16771277917826666, 2.55016359350995665, -0.599228796053870124, 0.0812295745092448379};
    constexpr double C[] = {-4.93480219749687743, 4.05871056571373598, -1.33513781390079799, 0.232125413991236226};
    ps = horner(z, S), pc = horner(z, C);
  }
  const R pi = splat<R>(3.14159265358979324), rest = splat<R>(wide<R> ? 1.2246467991473532e-16 : -8.742278000372475e-8);
  s = fma_(r, pi, r * fma_(z, ps, rest));
  c = fma_(z, pc, one);
  rotate_quarters(s, c, n);
}

// sin and cos of x; |x| < 10^5 (10^3 in single precision).
template <class R> PLAQ_FN void vsincos(R x, R& s, R& c) {
  typename bits_of<R>::type n;
  const R k = nearest(x * splat<R>(0.636619772367581343), n), one = splat<R>(1);
  R r = x, ps, pc;
  // pi/2 in pieces short enough that k times a piece is exact also without fused multiply-add.
  if constexpr (wide<R>) {
    r = fnma_(k, splat<R>(0x1.921fb54400000p+0), r);
    r = fnma_(k, splat<R>(0x1.0b4611a600000p-34), r);
    r = fnma_(k, splat<R>(0x1.3198a2e037073p-69), r);
  } else {
    r = fnma_(k, splat<R>(0x1.92p+0), r);
    r = fnma_(k, splat<R>(0x1.fb4p-12), r);
    r = fnma_(k, splat<R>(0x1.444p-24), r);
    r = fnma_(k, splat<R>(0x1.68c234c4c6629p-39), r);
  }
  const R z = r * r;
  if constexpr (wide<R>) {
    constexpr double S[] = {-0.166666666666666646,   0.00833333333333094729,  -0.000198412698367567725,
                            2.75573161016178744e-6, -2.50511316502351815e-8, 1.59181152632659752e-10};
    constexpr double C[] = {0.0416666666666666654,  -0.00138888888888873965, 0.0000248015872987645608,
                            -2.7557317271145146e-7, 2.08761461465586116e-9,  -1.13826236474746046e-11};
    ps = horner(z, S), pc = horner(z, C);
  } else {
    constexpr double S[] = {-0.166666646617146985, 0.00833274815408503215, -0.000195878657021018751};
    constexpr double C[] = {0.0416666646589014037, -0.00138883029191136328, 0.0000245479168536910169};
    ps = horner(z, S), pc = horner(z, C);
  }
  s = fma_(r * z, ps, r);
  c = fma_(z, fma_(z, pc, splat<R>(-0.5)), one);
  rotate_quarters(s, c, n);
}

// Angle of the point (x, y) in [-pi, pi]; 0 at the origin.
template <class R> PLAQ_FN R vatan2(R y, R x) {
  const R ax = vabs(x), ay = vabs(y), zero = splat<R>(0), one = splat<R>(1);
  const auto steep = ay > ax;
  const R top = select(steep, ay, ax), low = select(steep, ax, ay);
  const auto eighth = low > top * splat<R>(0.414213562373095049);  // tan(pi/8)
  const R num = select(eighth, low - top, low), den = select(eighth, low + top, top);
  const R t = num / select(den > zero, den, one), z = t * t;
  R p;
  if constexpr (wide<R>) {
    constexpr double A[] = {-0.333333333333333302, 0.199999999999955165,  -0.142857142846656808, 0.111111110151870187,
                            -0.0909090457530648908, 0.0769218312537689209, -0.066645105255089366, 0.0585814090486632828,
                            -0.0508540783458948426, 0.0392304477847930952, -0.0191754047111049337};
    p = horner(z, A);
  } else {
    constexpr double A[] = {-0.333333317604345559, 0.199995403149579694, -0.14263949753605724, 0.107436683248300981,
                            -0.0645171886935895807};
    p = horner(z, A);
  }
  // The angle is base + sign (t + t z p), where the bases pi/4, pi/2, pi are sums of a rounded number and a rest.
  const R quarter = splat<R>(0.785398163397448310), quarter_rest = splat<R>(wide<R> ? 3.061616997868383e-17 : -2.1855695e-8);
  R lead = select(eighth, quarter, zero), rest = select(eighth, quarter_rest, zero);
  R tail = fma_(t * z, p, rest), angle = t;
  // lead + angle + tail, then reflected at the diagonal and at the y axis
  const R half = splat<R>(2) * quarter, half_rest = splat<R>(2) * quarter_rest;
  lead = select(steep, half - lead, lead), angle = select(steep, -angle, angle);
  tail = select(steep, half_rest - tail, tail);
  const auto left = x < zero;
  lead = select(left, half + half - lead, lead), angle = select(left, -angle, angle);
  tail = select(left, half_rest + half_rest - tail, tail);
  const R sum = lead + (angle + tail);
  return select(y < zero, -sum, sum);
}

// Natural logarithm of a positive normal number.
template <class R> PLAQ_FN R vlog(R x) {
  typedef typename bits_of<R>::type I;
  constexpr int digits = wide<R> ? 52 : 23;
  const R one = splat<R>(1);
  // x = m 2^k with m in [1/sqrt 2, sqrt 2)
  const I half = to_bits(splat<R>(0.707106781186547524)), low = to_bits(x) - half;
  const I k = low >> digits;
  const R m = from_bits<R>(to_bits(x) - (k << digits)), e = to_real<R>(k);
  const R f = m - one, s = f / (m + one), z = s * s;
  R p;
  if constexpr (wide<R>) {
    constexpr double A[] = {0.333333333333333484,  0.199999999999497216,  0.142857143130016344, 0.111111055651299385,
                            0.0909144472783747302, 0.0766585530910538578, 0.0730829271244431099};
    p = horner(z, A);
  } else {
    constexpr double A[] = {0.333333425225780145, 0.199943891410814039, 0.147900265215942211};
    p = horner(z, A);
  }
  // log m = 2 atanh s = f - s (f - 2 z p): f is exact and carries the leading digits.
  const R high = splat<R>(wide<R> ? 0x1.62e42fee00000p-1 : 0x1.62ep-1);
  const R rest = splat<R>(wide<R> ? 0x1.a39ef35793c76p-33 : 0x1.0bfbe8e7bcd5ep-15);
  const R small = fma_(e, rest, s * fma_(splat<R>(2) * z, p, -f));
  return fma_(e, high, f + small);
}

// exp(x); underflows to 0 and overflows to infinity.
template <class R> PLAQ_FN R vexp(R x) {
  typedef typename bits_of<R>::type I;
  constexpr int digits = wide<R> ? 52 : 23, bias = wide<R> ? 1023 : 127;
  const R limit = splat<R>(wide<R> ? 800.0 : 120.0);
  x = select(x > limit, limit, select(x < -limit, -limit, x));
  I n;
  const R k = nearest(x * splat<R>(1.44269504088896341), n);
  const R high = splat<R>(wide<R> ? 0x1.62e42fee00000p-1 : 0x1.62ep-1);
  const R rest = splat<R>(wide<R> ? 0x1.a39ef35793c76p-33 : 0x1.0bfbe8e7bcd5ep-15);
  const R r = fnma_(k, rest, fnma_(k, high, x)), one = splat<R>(1);
  R p;
  if constexpr (wide<R>) {
    constexpr double E[] = {1.0 / 2,     1.0 / 6,      1.0 / 24,      1.0 / 120,      1.0 / 720,      1.0 / 5040,
                            1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
    p = horner(r, E);
  } else {
    constexpr double E[] = {1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040};
    p = horner(r, E);
  }
  const R e = one + fma_(r * r, p, r);
  // 2^n in two factors, so that neither leaves the exponent range
  const I a = n >> 1, b = n - a;
  return e * from_bits<R>((a + bias) << digits) * from_bits<R>((b + bias) << digits);
}

}  // namespace PLAQ_NS
