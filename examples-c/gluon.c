/* gluon: the gluon propagator of a configuration in Landau gauge.
 *
 *   gluon --gauge FILE [--fix no|yes|as-is] [--stop-theta T] [--copies N] [--seed S] [--cut WIDTH]
 *         [--json FILE] [--plot FILE.svg] [--device auto|cpu|cuda] [--threads N]
 *
 * D(p^2) = sum_{a,mu} |A^a_mu(p)|^2 / (8 * 3 V), at p = 0 (8 * 4 V), as the gauge condition takes no
 * component away there; p_mu = 2 sin(pi k_mu / L_mu). A = A^a T^a is the traceless part of
 * (U - U^dagger) / 2i at the midpoints of the links, with g_0: D is g_0^2 times the propagator, in
 * units of the lattice spacing (Leinweber et al., Phys. Rev. D 60 (1999) 094507). --fix yes fixes the
 * gauge first; otherwise it must be that of the file: links with theta above 1e-6 are refused, --fix as-is
 * takes them. docs/gaugefix.md says more.
 *
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --fix yes --json $OUT/gluon.json --plot $OUT/gluon.svg
 * test: --gauge tests/data/quenched-b6.0-8x8x8x8.nersc --fix yes --copies 2 --cut 2
 */
#include "plot.h"

static const char HELP[] =
    "usage: gluon --gauge FILE [options]\n"
    "The gluon propagator of a configuration in Landau gauge, p^2 and D(p^2) in a table.\n"
    "  --gauge FILE         configuration: NERSC, ILDG, MILC, openQCD or DDalphaAMG, found out by itself\n"
    "  --fix F              yes: fixes the gauge first; no: refuses links that are not fixed; as-is: takes them (no)\n"
    "  --stop-theta T       violation of the gauge condition that --fix yes reaches (1e-12)\n"
    "  --copies N           gauge copies, of which the best is kept (1)\n"
    "  --seed S             of their random numbers (1)\n"
    "  --cut WIDTH          momenta at most so many units 2 pi / L_space away from the diagonal (1,1,1,1) (1)\n"
    "  --json FILE          all momenta as JSON (none)\n"
    "  --plot FILE.svg      p^2 D over p^2 as a picture (none)\n"
    "  --device D           auto, cpu or cuda (auto)\n"
    "  --threads N          of the CPU; 0: all (0)\n"
    "  --help, -h, --version\n"
    "example: gluon --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --fix yes --plot gluon.svg\n";
static const char OPTIONS[] = "--gauge --fix --stop-theta --copies --seed --cut --json --plot --device --threads";
static const char *const NEEDS[] = {
    "--stop-theta --copies: --fix=yes",
    "--seed: --copies",
    NULL};

enum { ENTRIES = 9, SITE = 4 * ENTRIES * 2 }; /* complex numbers of a matrix; reals of a site */

static const double PI = 3.14159265358979323846;
static const choice FIX[] = {{"no", 0}, {"yes", 1}, {"as-is", 2}, {NULL, 0}};

/* Momenta that the symmetries of the lattice make one. */
typedef struct point {
  int k[4];
  double p2, sum; /* p^2, and sum_{a,mu} |A|^2 over `momenta` of them */
  int momenta;
} point;

typedef struct job {
  const char *gauge_file, *json_file, *plot_file;
  plaq_gaugefix_params fix;
  int fixes, as_is;
  double cut;
  char device[256];
  plaq_file_report file;
  plaq_plaquette links;
  plaq_gaugefix_report fixed;
  int l[4];
  size_t volume;
  double theta;          /* of the gauge condition, from the momenta */
  double transversality; /* sum |p A|^2 / sum p^2 |A|^2 */
  point *points;
  int count;
} job;

static job read_options(int argc, char **argv) {
  job j;
  memset(&j, 0, sizeof j);
  OK(plaq_gaugefix_params_init(&j.fix, sizeof j.fix));
  check_options(argc, argv, OPTIONS, NEEDS, HELP);
  j.gauge_file = option(argc, argv, "--gauge", NULL);
  j.json_file = option(argc, argv, "--json", "");
  j.plot_file = option(argc, argv, "--plot", "");
  check_output(j.json_file, 1);
  check_plot(j.plot_file, 1);
  j.fixes = choose(argc, argv, "--fix", "no", FIX);
  j.as_is = j.fixes == 2;
  j.fixes = j.fixes == 1;
  j.fix.stop_theta = number(argc, argv, "--stop-theta", "1e-12");
  if (j.fix.stop_theta < 0) usage_error("--stop-theta", "expected 0 or more");
  j.fix.copies = integer(argc, argv, "--copies", "1");
  j.fix.seed = integer(argc, argv, "--seed", "1");
  j.cut = number(argc, argv, "--cut", "1");
  if (j.cut < 0) refuse("--cut", option(argc, argv, "--cut", NULL), "0 or more");
  return j;
}

static void *memory(size_t count, size_t size) {
  void *room = calloc(count, size);
  if (!room) {
    fprintf(stderr, "no memory for %zu numbers\n", count);
    exit(1);
  }
  return room;
}

/* U becomes the traceless part of (U - U^dagger) / 2i. */
static void potential(double *u) {
  int i, j;
  double trace;
  for (i = 0; i < 3; i++)
    for (j = 0; j <= i; j++) {
      double *a = u + 2 * (3 * i + j), *b = u + 2 * (3 * j + i);
      double re = (a[1] + b[1]) / 2, im = (b[0] - a[0]) / 2;
      a[0] = b[0] = re;
      a[1] = im;
      b[1] = -im;
    }
  trace = (u[0] + u[8] + u[16]) / 3;
  for (i = 0; i < 3; i++) u[8 * i] -= trace;
}

/* sum_x exp(-2 pi i k x / L) f(x) in place, one axis after the other: V * 36 * (L_x + L_y + L_z + L_t)
 * complex products, 0.5e9 for 16^4 and 5e9 for 32^4. */
static void fourier(const int *l, size_t volume, double *field) {
  size_t stride = 1, x;
  int mu, n, k, c;
  for (mu = 0; mu < 4; stride *= (size_t)l[mu++]) {
    size_t length = (size_t)l[mu];
    double *line = memory(length * SITE, sizeof *line), *phase = memory(2 * length, sizeof *phase);
    for (n = 0; n < l[mu]; n++) {
      phase[2 * n] = cos(2 * PI * n / l[mu]);
      phase[2 * n + 1] = -sin(2 * PI * n / l[mu]);
    }
    for (x = 0; x < volume; x++) {
      double *start = field + x * SITE;
      if (x / stride % length) continue;
      for (n = 0; n < l[mu]; n++) memcpy(line + n * SITE, start + (size_t)n * stride * SITE, SITE * sizeof *line);
      for (k = 0; k < l[mu]; k++) {
        double *to = start + (size_t)k * stride * SITE;
        memset(to, 0, SITE * sizeof *to);
        for (n = 0; n < l[mu]; n++) {
          const double *from = line + n * SITE, *turn = phase + 2 * (k * n % l[mu]);
          double re = turn[0], im = turn[1];
          for (c = 0; c < SITE; c += 2) {
            to[c] += re * from[c] - im * from[c + 1];
            to[c + 1] += re * from[c + 1] + im * from[c];
          }
        }
      }
    }
    free(line);
    free(phase);
  }
}

static size_t index_of(const int *l, const int *k) {
  return k[0] + (size_t)l[0] * (k[1] + (size_t)l[1] * (k[2] + (size_t)l[2] * k[3]));
}

/* The member of a class of momenta under reflections, and exchanges of axes of the same extent,
 * that stands for it. */
static void representative(const int *l, int *k) {
  int mu, nu;
  for (mu = 0; mu < 4; mu++)
    if (2 * k[mu] > l[mu]) k[mu] = l[mu] - k[mu];
  for (mu = 0; mu < 4; mu++)
    for (nu = mu + 1; nu < 4; nu++)
      if (l[mu] == l[nu] && k[mu] > k[nu]) {
        int other = k[mu];
        k[mu] = k[nu];
        k[nu] = other;
      }
}

/* Distance of the momentum 2 pi k / L from the diagonal, in units of 2 pi / L_space. */
static double distance(const int *l, const int *k) {
  double square = 0, sum = 0, space = l[0];
  int mu;
  for (mu = 1; mu < 3; mu++)
    if (l[mu] < space) space = l[mu];
  for (mu = 0; mu < 4; mu++) {
    double q = k[mu] * space / l[mu];
    square += q * q;
    sum += q;
  }
  return sqrt(fmax(0, square - sum * sum / 4));
}

static int by_momentum(const void *a, const void *b) {
  const point *p = a, *q = b;
  int mu;
  if (fabs(p->p2 - q->p2) > 1e-12) return p->p2 < q->p2 ? -1 : 1;
  for (mu = 3; mu > 0 && p->k[mu] == q->k[mu]; mu--) continue;
  return p->k[mu] - q->k[mu];
}

/* From A(p) to classes of momenta inside the cut, and the violation of the gauge condition. */
static void average(job *j, const double *field) {
  point *all = memory(j->volume, sizeof *all);
  double divergence = 0, whole = 0;
  size_t at;
  for (at = 0; at < j->volume; at++) {
    const double *a = field + at * SITE;
    double square = 0, p2 = 0, sum[2 * ENTRIES] = {0};
    size_t rest = at;
    int k[4], mu, c;
    point *p;
    for (mu = 0; mu < 4; mu++, a += 2 * ENTRIES) {
      double half, re, im;
      k[mu] = (int)(rest % (size_t)j->l[mu]);
      rest /= (size_t)j->l[mu];
      half = PI * k[mu] / j->l[mu];
      p2 += 4 * sin(half) * sin(half);
      /* exp(-i p/2) for the midpoint of the link, times p. */
      re = 2 * sin(half) * cos(half);
      im = -2 * sin(half) * sin(half);
      for (c = 0; c < 2 * ENTRIES; c += 2) {
        square += 2 * (a[c] * a[c] + a[c + 1] * a[c + 1]); /* tr T^a T^b = delta / 2 */
        sum[c] += re * a[c] - im * a[c + 1];
        sum[c + 1] += re * a[c + 1] + im * a[c];
      }
    }
    for (c = 0; c < 2 * ENTRIES; c++) divergence += sum[c] * sum[c];
    whole += p2 * square / 2;
    representative(j->l, k);
    p = all + index_of(j->l, k);
    memcpy(p->k, k, sizeof k);
    p->p2 = p2;
    p->sum += square;
    p->momenta++;
  }
  j->theta = divergence / (3.0 * (double)j->volume * (double)j->volume);
  j->transversality = whole > 0 ? divergence / whole : 0;
  for (at = 0; at < j->volume; at++)
    if (all[at].momenta && distance(j->l, all[at].k) <= j->cut * (1 + 1e-12) + 1e-12) all[j->count++] = all[at];
  qsort(all, (size_t)j->count, sizeof *all, by_momentum);
  j->points = all;
}

static double propagator(const job *j, const point *p) {
  return p->sum / p->momenta / ((p->p2 > 0 ? 3 : 4) * 8.0 * (double)j->volume);
}

static void measure(plaq_gauge gauge, job *j) {
  double *field;
  size_t link;
  int mu;
  j->volume = 1;
  for (mu = 0; mu < 4; mu++) j->volume *= (size_t)(j->l[mu] = j->file.extents[mu]);
  field = memory(j->volume * SITE, sizeof *field);
  OK(plaq_gauge_save(gauge, NULL, field)); /* sites with x fastest, then direction, row, column; double */
  for (link = 0; link < 4 * j->volume; link++) potential(field + link * 2 * ENTRIES);
  fourier(j->l, j->volume, field);
  average(j, field);
  free(field);
}

static void print_table(const job *j) {
  int i;
  printf("# %s (%s), %d x %d x %d x %d, plaquette %.12f\n", j->gauge_file, name_of(j->file.format, FORMATS), j->l[0],
         j->l[1], j->l[2], j->l[3], j->links.total);
  if (j->fixes)
    printf("# fixed here, %lld copies, %lld iterations%s\n", (long long)j->fixed.copies, (long long)j->fixed.iterations,
           j->fixed.converged ? "" : ", NOT CONVERGED");
  printf("# functional %.12f, theta %.3e, transversality %.3e\n", j->links.link_trace, j->theta, j->transversality);
  printf("#              k             p^2               D           p^2 D  momenta\n");
  for (i = 0; i < j->count; i++) {
    const point *p = j->points + i;
    double d = propagator(j, p);
    printf("%3d %3d %3d %3d  %14.10f  %14.10f  %14.10f  %7d\n", p->k[0], p->k[1], p->k[2], p->k[3], p->p2, d, p->p2 * d,
           p->momenta);
  }
}

static void write_json(const job *j) {
  FILE *f = begin_file(j->json_file);
  int i;
  fprintf(f, "{\n  \"version\": \"%s\",\n  \"device\": ", plaq_version());
  json_text(f, j->device);
  fprintf(f, ",\n  \"gauge\": {\"file\": ");
  json_text(f, j->gauge_file);
  fprintf(f, ", \"format\": \"%s\", \"lattice\": [%d, %d, %d, %d]},\n", name_of(j->file.format, FORMATS), j->l[0], j->l[1],
          j->l[2], j->l[3]);
  fprintf(f, "  \"functional\": %.17g, \"theta\": %.17g, \"transversality\": %.17g, \"cut\": %.17g,\n",
          j->links.link_trace, j->theta, j->transversality, j->cut);
  fprintf(f, "  \"points\": [");
  for (i = 0; i < j->count; i++) {
    const point *p = j->points + i;
    double d = propagator(j, p);
    fprintf(f, "%s\n    {\"k\": [%d, %d, %d, %d], \"p2\": %.17g, \"D\": %.17g, \"p2D\": %.17g, \"momenta\": %d}",
            i ? "," : "", p->k[0], p->k[1], p->k[2], p->k[3], p->p2, d, p->p2 * d, p->momenta);
  }
  fprintf(f, "\n  ]\n}\n");
  end_file(f, j->json_file);
}

static void write_plot(const job *j) {
  plot_points dressing = {0};
  plot_series series;
  int i;
  for (i = 0; i < j->count; i++) plot_add(&dressing, j->points[i].p2, j->points[i].p2 * propagator(j, j->points + i));
  series = plot_history("p^2 D", "#0072b2", &dressing);
  plot_write(j->plot_file, "Gluon propagator in Landau gauge", "(a p)^2", "p^2 D(p^2)", &series, 1);
  plot_free(&dressing);
}

static int32_t progress(int64_t copy, int64_t sweeps, double functional, double theta, double temperature, void *user) {
  (void)copy, (void)sweeps, (void)functional, (void)theta, (void)temperature, (void)user;
  return interrupted;
}

int main(int argc, char **argv) {
  job j = read_options(argc, argv);
  plaq_context context = open_context(argc, argv);
  plaq_gauge gauge;
  OK(plaq_context_name(context, j.device, sizeof j.device));
  fprintf(stderr, "gluon on %s\n", j.device);
  OK(plaq_file_report_init(&j.file, sizeof j.file));
  OK(plaq_gauge_read_file(context, j.gauge_file, NULL, &gauge, &j.file));
  OK(plaq_gaugefix_report_init(&j.fixed, sizeof j.fixed));
  if (j.fixes) {
    watch_signals();
    OK(plaq_gaugefix_run(gauge, &j.fix, progress, NULL, &j.fixed, NULL));
    if (j.fixed.stopped) {
      printf("# INTERRUPTED: the gauge is not fixed\n");
      return 3;
    }
  }
  OK(plaq_gauge_plaquette(gauge, &j.links));
  measure(gauge, &j);
  if (!j.fixes && !j.as_is && j.theta > 1e-6) {
    fprintf(stderr, "%s: not in Landau gauge, theta is %.3e; --fix yes fixes it, --fix as-is takes it as it is\n", j.gauge_file, j.theta);
    exit(1);
  }
  print_table(&j);
  if (*j.json_file) write_json(&j);
  if (*j.plot_file) write_plot(&j);
  free(j.points);
  OK(plaq_context_destroy(context));
  return !j.fixes || j.fixed.converged ? 0 : 3;
}
