// Elementary functions of the kernels against the standard library, in units of the last place: at most 2,
// and half a unit for the library's own rounding. Of a processor's vectors, or of a GPU's numbers.
#ifdef GPU
#include "host_gpu.h"
thread_local Dim threadIdx;
Dim blockIdx, gridDim;
double exchange(double v, int) { return v; }
#else
#include <cmath>
#endif
#include <cstdio>

#define PLAQ_NS plaq_math
#define PLAQ_LANES 16
#include "plaq_math.h"

namespace PLAQ_NS {

static int failures = 0;

struct Pair { double x, y; };

// |found - expected| in units of the last place of the expected value; below `scale` the unit is that of
// `scale` (a sine near its zero keeps absolute accuracy only).
static double ulps(double found, double expected, bool single, double scale) {
  const double size = std::fmax(std::fabs(expected), scale);
  return std::fabs(found - expected) / std::exp2(std::floor(std::log2(size)) - (single ? 23 : 52));
}

// Checks the largest errors of the first and the second result of f over many arguments that `point` gives.
template <class T, int W, class P, class F, class E>
static void within(double bound, const char* what, double scale, P point, F f, E exact) {
  typedef real<T, W> R;
  const int n = 20016;
  double worst = 0;
  for (int first = 0; first < n; first += W) {
    T x[W], y[W], s[W], c[W];
    for (int i = 0; i < W; i++) {
      const Pair p = point((first + i) / (n - 1.0));
      x[i] = (T)p.x, y[i] = (T)p.y;
    }
    R u, v, a = splat<R>(0), b = a;
    __builtin_memcpy(&u, x, sizeof u);
    __builtin_memcpy(&v, y, sizeof v);
    f(u, v, a, b);
    __builtin_memcpy(s, &a, sizeof a);
    __builtin_memcpy(c, &b, sizeof b);
    for (int i = 0; i < W; i++) {
      const Pair e = exact((double)x[i], (double)y[i]);
      const double found = std::fmax(ulps(s[i], e.x, sizeof(T) == 4, scale),
                                     ulps(c[i], e.y, sizeof(T) == 4, scale));
      if (!(found <= worst)) worst = found;
    }
  }
  if (!(worst < bound)) {
    failures++;
    printf("%s, %d x %d bytes: %g ulp, expected less than %g\n", what, W, (int)sizeof(T), worst, bound);
  }
}

template <class T, int W> static void all() {
  const bool single = sizeof(T) == 4;
  const double pi = 3.14159265358979323846, none = 1e-30;
  // The library's sine on arguments that are reduced exactly to at most pi/2.
  const auto sinpi = [=](double x) {
    return std::sin(pi * (std::fabs(x) > 0.5 ? std::copysign(1 - std::fabs(x), x) : x));
  };
  const auto sincospi = [](auto u, auto, auto& s, auto& c) { vsincospi(u, s, c); };
  within<T, W>(2.5, "sincospi", 0.25, [](double t) { return Pair{2 * t - 1, 0}; }, sincospi,
               [=](double x, double) { return Pair{sinpi(x), sinpi(0.5 - std::fabs(x))}; });
  const auto sincos = [](auto u, auto, auto& s, auto& c) { vsincos(u, s, c); };
  const auto library = [](double x, double) { return Pair{std::sin(x), std::cos(x)}; };
  const double range = single ? 1000 : 1e5;
  within<T, W>(2.5, "sincos", 0.25, [=](double t) { return Pair{range * (2 * t - 1), 0}; }, sincos, library);
  within<T, W>(2.5, "sincos near 0", none, [](double t) { return Pair{0.7 * t * t * t, 0}; }, sincos, library);

  const auto angle = [](auto u, auto v, auto& s, auto&) { s = vatan2(v, u); };
  const auto atan2 = [](double x, double y) { return Pair{std::atan2(y, x), 0}; };
  within<T, W>(2.5, "atan2", none, [](double t) {
    const double a = 6.5 * t - 3.2;
    return Pair{std::cos(a) * (1 + t), std::sin(a) * (1 + t)};
  }, angle, atan2);
  within<T, W>(2.5, "atan2 near 0", none, [](double t) { return Pair{1, std::pow(t - 0.5, 9)}; }, angle, atan2);
  within<T, W>(1.0, "atan2 on the axes", none, [](double t) {
    const Pair axes[] = {{0, 0}, {0, 2}, {-3, 0}, {0, -1}};
    return axes[(int)(t * 3.999)];
  }, angle, atan2);

  const double span = single ? 80 : 700;
  const auto logarithm = [](auto u, auto, auto& s, auto&) { s = vlog(u); };
  const auto log = [](double x, double) { return Pair{std::log(x), 0}; };
  within<T, W>(2.5, "log", none, [=](double t) { return Pair{std::exp(span * (2 * t - 1)), 0}; }, logarithm, log);
  within<T, W>(2.5, "log near 1", none, [](double t) { return Pair{0.5 + t, 0}; }, logarithm, log);
  within<T, W>(2.5, "exp", 1e-300, [=](double t) { return Pair{span * (2 * t - 1), 0}; },
               [](auto u, auto, auto& s, auto&) { s = vexp(u); },
               [](double x, double) { return Pair{std::exp(x), 0}; });
}

static int run() {
  all<double, 1>();
  all<float, 1>();
#ifndef GPU
  all<double, 2>();
  all<double, 8>();
  all<float, 4>();
  all<float, 16>();
#endif
  return failures;
}

}  // namespace PLAQ_NS

int main() { return PLAQ_NS::run() != 0; }
