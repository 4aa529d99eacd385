/* A job of `propagator` and what came of it: averages, table, JSON and picture. */
#ifndef RESULTS_H
#define RESULTS_H

#include "plot.h"
#include "samples.h"
#include "cycle.h"

/* Beside the library's algorithms: GCR with multigrid. */
enum { MULTIGRID = 100, MOST_KAPPAS = 16 };

/* CG needs the normal equations: its name stands for CGNR. */
static const choice SOLVERS[] = {{"cg", PLAQ_ALGORITHM_CGNR},         {"cgne", PLAQ_ALGORITHM_CGNE},
                                 {"cgnr", PLAQ_ALGORITHM_CGNR},       {"bicgstab", PLAQ_ALGORITHM_BICGSTAB},
                                 {"gcr", PLAQ_ALGORITHM_GCR},         {"mr", PLAQ_ALGORITHM_MR},
                                 {"mg", MULTIGRID},                   {NULL, 0}};
static const choice PRECISIONS[] = {
    {"double", PLAQ_PRECISION_DOUBLE}, {"single", PLAQ_PRECISION_SINGLE}, {"half", PLAQ_PRECISION_HALF}, {NULL, 0}};
static const choice NORMALISATIONS[] = {
    {"kappa", PLAQ_NORMALISATION_KAPPA}, {"mass", PLAQ_NORMALISATION_MASS}, {NULL, 0}};
static const choice BOUNDARIES[] = {{"periodic", 0}, {"antiperiodic", 1}, {NULL, 0}};

/* What became of the null vectors of the kappa before. */
static const choice REFRESHES[] = {{"none", PLAQ_REFRESH_NONE},
                                   {"keep", PLAQ_REFRESH_KEEP},
                                   {"refine", PLAQ_REFRESH_REFINE},
                                   {"anew", PLAQ_REFRESH_ANEW},
                                   {NULL, 0}};

/* A job, that of one kappa: what was asked for and what came of it. */
typedef struct job {
  struct job *all; /* jobs of all kappas, heavy quarks first */
  int jobs;
  const char *json_file, *plot_file, *save_file, *load_file, *save_multigrid, *load_multigrid;
  double kappa[2], csw, tol, tol_error; /* light, strange */
  int32_t boundary, precision, algorithm, normalisation;
  cycle_options levels;
  int64_t max_iterations, rhs, krylov;
  int quarks, sources, goes_on, solves, described;
  plaq_source_params source[MOST];
  smearing at_source, at_sink, links;
  char device[256];
  int32_t lattice[4], part[4]; /* whole, of this rank */
  plaq_file_report file;
  plaq_plaquette plaquette;
  plaq_dirac_report dirac;
  plaq_solve_report solve; /* of all solves: the slowest, sums of time and work */
  plaq_multigrid_report multigrid;
  plaq_multigrid_level level[8];
  double residuals[COLUMNS]; /* largest of each column */
  double errors[COLUMNS];    /* with --error: |x - y| / |y| of each column, y the better solution */
  double seconds_load, seconds_propagator; /* by the clock: file and operators, solvers and their solves */
  hadrons hadrons;
  samples samples;
  double *values, *deviations; /* averages: numbers of the hadrons, then what follows; and their errors */
  /* `times` numbers each, three times that for rho along x, y, z; rho is their mean. */
  int times;
  double *pion, *rho_xyz, *rho, *nucleon, *mass_pion, *mass_rho, *mass_nucleon;
  double written, writing; /* of the first job, by the clock: when the JSON was written, how long that took */
} job;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Pion, rho and nucleon of the light quark at the first momentum, and effective masses: nine times the time slices. */
static void derive(const double *numbers, double *all, void *user) {
  static const int along[] = {PLAQ_GAMMA_X, PLAQ_GAMMA_Y, PLAQ_GAMMA_Z};
  const job *j = user;
  int t, i, n = j->times;
  for (t = 0; t < n; t++) {
    all[t] = meson_at(&j->hadrons, numbers, 0, PLAQ_GAMMA_5, t);
    for (i = 0; i < 3; i++) all[(i + 1) * n + t] = meson_at(&j->hadrons, numbers, 0, along[i], t);
    all[4 * n + t] = (all[n + t] + all[2 * n + t] + all[3 * n + t]) / 3;
    all[5 * n + t] = baryon_at(&j->hadrons, numbers, PLAQ_BARYON_NUCLEON, t); /* the average over configurations is real */
  }
  OK(plaq_effective_mass(all, n, PLAQ_MASS_FORM_COSH, all + 6 * n));
  OK(plaq_effective_mass(all + 4 * n, n, PLAQ_MASS_FORM_COSH, all + 7 * n));
  OK(plaq_effective_mass(all + 5 * n, n, PLAQ_MASS_FORM_LOG, all + 8 * n));
}

/* Averages of what there is, and their errors. */
static void average(job *j) {
  size_t numbers = hadron_numbers(&j->hadrons);
  double *all = j->values + numbers;
  int n = j->times;
  jackknife(&j->samples, numbers, 9 * (size_t)n, derive, j, j->values, j->deviations);
  j->pion = all;
  j->rho_xyz = all + n;
  j->rho = all + 4 * n;
  j->nucleon = all + 5 * n;
  j->mass_pion = all + 6 * n;
  j->mass_rho = all + 7 * n;
  j->mass_nucleon = all + 8 * n;
}

/* The errors of a part of the averages. */
static const double *error_of(const job *j, const double *values) { return j->deviations + (values - j->values); }

/* What must be the same in a run that goes on. */
static void describe_job(const job *j, char *to, size_t room) {
  const int32_t *n = j->source[0].momentum;
  size_t at;
  int k;
  snprintf(to, room, "kappa %.17g %.17g, csw %.17g, %s, %s, source momentum %d,%d,%d, noise %s %lld, smearing %.17g,%d %.17g,%d %.17g,%d, tol %.17g, momenta",
           j->kappa[0], j->kappa[1], j->csw, name_of(j->boundary, BOUNDARIES), name_of(j->normalisation, NORMALISATIONS), n[0],
           n[1], n[2], name_of(j->source[0].noise, NOISES), (long long)j->source[0].seed, j->at_source.alpha,
           (int)j->at_source.steps, j->at_sink.alpha, (int)j->at_sink.steps, j->links.alpha, (int)j->links.steps, j->tol);
  for (k = 0; k < j->hadrons.momenta; k++) {
    const int32_t *p = j->hadrons.momentum + 3 * k;
    at = strlen(to);
    snprintf(to + at, room - at, " %d,%d,%d", (int)p[0], (int)p[1], (int)p[2]);
  }
  for (k = 0; k < j->hadrons.baryon_count; k++) {
    at = strlen(to);
    snprintf(to + at, room - at, " %s", name_of(j->hadrons.baryon[k], NAMES));
  }
  if (j->hadrons.sequential) {
    const plaq_sequential_params *q = &j->hadrons.sequence;
    at = strlen(to);
    snprintf(to + at, room - at, ", sequential %d,%d,%d,%d,%d", (int)q->time, (int)q->gamma, (int)q->momentum[0],
             (int)q->momentum[1], (int)q->momentum[2]);
  }
}

static const char *solver_name(const job *j) {
  return j->algorithm == MULTIGRID ? "mg" : name_of(j->solve.algorithm, SOLVERS + 1);
}

static const char *outcome(const plaq_solve_report *r) {
  if (r->converged) return "";
  if (r->stopped) return ", INTERRUPTED";
  return r->stopped_by == PLAQ_STOPPED_BY_STANDSTILL ? ", NOT CONVERGED (the residual no longer falls)" : ", NOT CONVERGED (--max-iterations)";
}

static void print_mass(double m) {
  if (m == m) printf("  %9.6f", m);
  else printf("  %9s", "-");
}

/* A mean with its error, and the effective mass with its own. */
static void print_average(const job *j, const double *value, const double *mass) {
  double error = *error_of(j, value), mass_error = *error_of(j, mass);
  if (isfinite(*value)) printf("  %16.9e", *value);
  else printf("  %16s", "-");
  if (isfinite(*value) && isfinite(error)) printf(" %8.1e", error);
  else printf(" %8s", "-");
  print_mass(*mass);
  if (isfinite(*mass) && isfinite(mass_error)) printf(" %9.6f", mass_error);
  else printf(" %9s", "-");
}

static void print_table(const job *j) {
  const int32_t *l = j->file.extents, *p = j->hadrons.momentum;
  int t, s;
  const samples *all = &j->samples;
  if (all->configurations == 1)
    printf("# %s (%s), %d x %d x %d x %d, plaquette %.9f\n", all->files[0], name_of(j->file.format, FORMATS), l[0], l[1], l[2],
           l[3], mean_plaquette(&j->samples, 0));
  else
    printf("# %d configurations, %s to %s, %d x %d x %d x %d, plaquette %.9f; jackknife errors of %d bins\n", all->whole,
           all->files[0], all->files[all->configurations - 1], l[0], l[1], l[2], l[3], mean_plaquette(&j->samples, 0), all->bins);
  printf("# kappa %.10g (mass %.10g), csw %.10g, %s in time, %s normalisation\n", j->dirac.kappa, j->dirac.mass, j->csw,
         name_of(j->boundary, BOUNDARIES), name_of(j->normalisation, NORMALISATIONS));
  if (j->quarks == 2) printf("# kappa of the strange quark %.10g\n", j->kappa[1]);
  for (s = 0; s < j->sources; s++) {
    const int32_t *x = j->source[s].position, *n = j->source[s].momentum;
    printf("# ");
    if (j->source[s].noise) printf("%s noise, ", name_of(j->source[s].noise, NOISES));
    if (n[0] || n[1] || n[2]) printf("momentum (%d, %d, %d), ", n[0], n[1], n[2]);
    if (strcmp(sites_of(j->source + s), "all")) printf("%s sites, ", sites_of(j->source + s));
    if (source_kind(j->source + s) == 2) printf("volume source");
    else if (source_kind(j->source + s) == 1) printf("wall source at t = %d", x[3]);
    else printf("point source at (%d, %d, %d, %d)", x[0], x[1], x[2], x[3]);
    printf(s + 1 < j->sources ? "\n" : ", %s\n", j->device);
  }
  if (j->at_source.steps || j->at_sink.steps)
    printf("# Gaussian smearing (weight, steps): source %g, %d, sink %g, %d; links %g, %d\n", j->at_source.alpha,
           (int)j->at_source.steps, j->at_sink.alpha, (int)j->at_sink.steps, j->links.alpha, (int)j->links.steps);
  if (p[0] || p[1] || p[2]) printf("# momentum of the sink (%d, %d, %d)\n", (int)p[0], (int)p[1], (int)p[2]);
  if (old_samples(&j->samples)) printf("# %d of %d propagators of %s\n", old_samples(&j->samples), all->configurations * j->sources, j->json_file);
  if (*j->load_file) printf("# propagators of %s\n", j->load_file);
  else if (j->solves) printf("# %s, %s inside double: %lld iterations, residual %.2e, %.3f s, %.1f Gflop/s, peak %.1f MiB%s\n",
         solver_name(j), name_of(j->precision, PRECISIONS), (long long)j->solve.iterations,
         j->solve.residual, j->solve.seconds, j->solve.flops / j->solve.seconds * 1e-9,
         (double)j->solve.memory_peak / 1048576, outcome(&j->solve));
  if (all->configurations > 1 && all->whole < all->configurations)
    printf("# INTERRUPTED: %d of %d configurations\n", all->whole, all->configurations);
  if (all->configurations > 1) {
    printf("#%4s  %16s %8s  %9s %9s  %16s %8s  %9s %9s  %16s %8s  %9s %9s\n", "t", "pion", "error", "m_eff", "error", "rho",
           "error", "m_eff", "error", "nucleon", "error", "m_eff", "error");
    for (t = 0; t < j->times; t++) {
      printf("%5d", t);
      print_average(j, j->pion + t, j->mass_pion + t);
      print_average(j, j->rho + t, j->mass_rho + t);
      print_average(j, j->nucleon + t, j->mass_nucleon + t);
      printf("\n");
    }
    return;
  }
  printf("#%4s  %16s  %9s  %16s  %9s  %16s  %9s\n", "t", "pion", "m_eff", "rho", "m_eff", "nucleon", "m_eff");
  for (t = 0; t < j->times; t++) {
    printf("%5d  %16.9e", t, j->pion[t]);
    print_mass(j->mass_pion[t]);
    printf("  %16.9e", j->rho[t]);
    print_mass(j->mass_rho[t]);
    if (isfinite(j->nucleon[t])) printf("  %16.9e", j->nucleon[t]);
    else printf("  %16s", "-");
    print_mass(j->mass_nucleon[t]);
    printf("\n");
  }
}

static void json_errors(FILE *f, const job *j, const char *name, const double *values, int count, const char *after) {
  json_array(f, name, error_of(j, values), count, after);
}

static void json_job(FILE *f, job *j) {
  const int32_t *l = j->file.extents, *x = j->source[0].position;
  const plaq_solve_report *s = &j->solve;
  const samples *all = &j->samples;
  size_t numbers = hadron_numbers(&j->hadrons);
  int n = j->times, k;
  char described[16384];
  average(j);
  describe_job(j, described, sizeof described);
  fprintf(f, "{\n  \"version\": \"%s\",\n  \"device\": ", plaq_version());
  json_text(f, j->device);
  fprintf(f, ",\n  \"gauge\": {\"file\": ");
  json_text(f, all->files[0]);
  fprintf(f, ", \"format\": \"%s\", \"lattice\": [%d, %d, %d, %d]},\n", name_of(j->file.format, FORMATS), l[0], l[1],
          l[2], l[3]);
  fprintf(f, "  \"plaquette\": {\"total\": %.17g, \"spatial\": %.17g, \"temporal\": %.17g},\n", mean_plaquette(&j->samples, 0),
          mean_plaquette(&j->samples, 1), mean_plaquette(&j->samples, 2));
  fprintf(f, "  \"job\": \"%s\",\n", described);
  fprintf(f, "  \"configurations\": {\"asked\": %d, \"done\": %d, \"bin\": %d, \"bins\": %d, \"sources_taken_over\": %d},\n",
          all->configurations, all->whole, (int)all->bin, all->bins, old_samples(&j->samples));
  fprintf(f, "  \"action\": {\"kappa\": %.17g, \"mass\": %.17g, \"csw\": %.17g, \"time_bc\": \"%s\", \"normalisation\": \"%s\"},\n",
          j->dirac.kappa, j->dirac.mass, j->csw, name_of(j->boundary, BOUNDARIES),
          name_of(j->normalisation, NORMALISATIONS));
  fprintf(f, "  \"seconds\": {\"load\": %.9g, \"propagator\": %.9g},\n", j->seconds_load, j->seconds_propagator);
  fprintf(f, "  \"source\": {\"kind\": \"%s\", \"position\": [%d, %d, %d, %d]},\n", name_of(source_kind(j->source), KINDS), x[0],
          x[1], x[2], x[3]);
  fprintf(f, "  \"sources\": [");
  for (k = 0; k < j->sources; k++) {
    const plaq_source_params *p = &j->source[k];
    fprintf(f, "%s\n    {\"kind\": \"%s\", \"position\": [%d, %d, %d, %d], \"momentum\": [%d, %d, %d], \"noise\": \"%s\", \"seed\": %lld, \"sites\": \"%s\"}",
            k ? "," : "", name_of(source_kind(p), KINDS), p->position[0], p->position[1], p->position[2], p->position[3],
            p->momentum[0], p->momentum[1], p->momentum[2], name_of(p->noise, NOISES), (long long)p->seed, sites_of(p));
  }
  fprintf(f, "\n  ],\n  \"smearing\": {\"source\": [%.17g, %d], \"sink\": [%.17g, %d], \"links\": [%.17g, %d]},\n",
          j->at_source.alpha, (int)j->at_source.steps, j->at_sink.alpha, (int)j->at_sink.steps, j->links.alpha,
          (int)j->links.steps);
  if (j->hadrons.sequential) {
    const plaq_sequential_params *q = &j->hadrons.sequence;
    fprintf(f, "  \"sequential\": {\"time\": %d, \"gamma\": %d, \"momentum\": [%d, %d, %d]},\n", (int)q->time, (int)q->gamma,
            (int)q->momentum[0], (int)q->momentum[1], (int)q->momentum[2]);
  }
  if (j->quarks == 2) fprintf(f, "  \"kappa_strange\": %.17g,\n", j->kappa[1]);
  fprintf(f, "  \"solver\": {\n    \"name\": \"%s\", \"precision\": \"%s\", \"rhs\": %d, \"tol\": %.17g,\n",
          solver_name(j), name_of(j->precision, PRECISIONS), (int)j->rhs, j->tol);
  fprintf(f, "    \"converged\": %s, \"stopped\": %s, \"iterations\": %lld, \"reliable_updates\": %lld, \"restarts\": %lld,\n",
          s->converged ? "true" : "false", s->stopped ? "true" : "false", (long long)s->iterations,
          (long long)s->reliable_updates, (long long)s->restarts);
  fprintf(f, "    \"residual\": %.17g, \"residual_hq\": %.17g,\n", s->residual, s->residual_hq);
  json_array(f, "residuals", j->residuals, COLUMNS, ",");
  if (j->tol_error > 0) json_array(f, "errors", j->errors, COLUMNS, ",");
  fprintf(f, "    \"seconds\": %.9g, \"flops\": %.17g, \"bytes\": %.17g, \"memory_peak\": %lld\n  },\n", s->seconds,
          s->flops, s->bytes, (long long)s->memory_peak);
  if (j->algorithm == MULTIGRID) {
    int l;
    fprintf(f, "  \"multigrid\": {\"refresh\": \"%s\", \"setup_seconds\": %.9g, \"reduction\": %.9g, \"bytes\": %lld, \"levels\": [",
            name_of(j->multigrid.refresh, REFRESHES), j->multigrid.setup_seconds, j->multigrid.reduction, (long long)j->multigrid.bytes);
    for (l = 0; l < j->multigrid.levels; l++) {
      const plaq_multigrid_level *v = &j->level[l];
      fprintf(f, "%s\n    {\"lattice\": [%d, %d, %d, %d], \"block\": [%d, %d, %d, %d], \"vectors\": %d, \"ranks\": %d, \"bytes\": %lld, \"iterations\": %lld, \"seconds\": %.9g, \"setup_seconds\": %.9g, \"reduction\": %.9g}",
              l ? "," : "", v->extents[0], v->extents[1], v->extents[2], v->extents[3], v->block[0], v->block[1], v->block[2],
              v->block[3], v->vectors, v->ranks, (long long)v->bytes, (long long)v->iterations, v->seconds, v->setup_seconds, v->reduction);
    }
    fprintf(f, "\n  ]},\n");
  }
  json_samples(f, all, j->source, numbers);
  json_hadrons(f, &j->hadrons, j->values, all->bins > 1 ? j->deviations : NULL);
  fprintf(f, "  \"correlators\": {\n");
  json_array(f, "pion", j->pion, n, ",");
  json_array(f, "rho_x", j->rho_xyz, n, ",");
  json_array(f, "rho_y", j->rho_xyz + n, n, ",");
  json_array(f, "rho_z", j->rho_xyz + 2 * n, n, ",");
  json_array(f, "nucleon", j->nucleon, n, "");
  fprintf(f, "  },\n  \"effective_mass\": {\n");
  json_array(f, "pion", j->mass_pion, n, ",");
  json_array(f, "rho", j->mass_rho, n, ",");
  json_array(f, "nucleon", j->mass_nucleon, n, "");
  if (all->bins > 1) {
    fprintf(f, "  },\n  \"correlators_error\": {\n");
    json_errors(f, j, "pion", j->pion, n, ",");
    json_errors(f, j, "rho", j->rho, n, ",");
    json_errors(f, j, "nucleon", j->nucleon, n, "");
    fprintf(f, "  },\n  \"effective_mass_error\": {\n");
    json_errors(f, j, "pion", j->mass_pion, n, ",");
    json_errors(f, j, "rho", j->mass_rho, n, ",");
    json_errors(f, j, "nucleon", j->mass_nucleon, n, "");
  }
  fprintf(f, "  }\n}");
}

/* Is there something to say about a job: of several those that have not begun are left out. */
static int has_begun(const job *j) {
  int i;
  for (i = 0; i < j->samples.configurations * j->samples.sources; i++)
    if (j->samples.of[i].numbers) return 1;
  return j->jobs == 1;
}

static void write_json(job *jobs) {
  double before = now();
  const char *comma = "";
  FILE *f = begin_file(jobs->json_file);
  int k;
  if (jobs->jobs > 1) fprintf(f, "{\"runs\": [");
  for (k = 0; k < jobs->jobs; k++) {
    if (!has_begun(jobs + k)) continue;
    fputs(comma, f);
    json_job(f, jobs + k);
    comma = ",\n";
  }
  fprintf(f, jobs->jobs > 1 ? "]}\n" : "\n");
  end_file(f, jobs->json_file);
  jobs->written = now();
  jobs->writing = jobs->written - before;
}

/* Effective masses, of several configurations with their errors, up to the middle of the lattice, the first of which comes
 * between t = 0 and 1; of several kappas those of the pion. */
static void write_plot(const job *jobs) {
  static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999"};
  static const char *const names[] = {"pion", "rho", "nucleon"};
  char title[160], labels[MOST_KAPPAS][40], kappa[40] = "";
  plot_series masses[MOST_KAPPAS];
  int k, several = jobs->jobs > 1, count = 0, n = jobs->times / 2;
  for (k = 0; k < (several ? jobs->jobs : 3); k++) {
    const job *j = jobs + (several ? k : 0);
    const double *of[] = {j->mass_pion, j->mass_rho, j->mass_nucleon}, *values = of[several ? 0 : k];
    if (!has_begun(j)) continue;
    if (several) snprintf(labels[count], sizeof labels[count], "pion, %.6g", j->kappa[0]);
    else snprintf(labels[count], sizeof labels[count], "%s", names[k]);
    masses[count] = (plot_series){labels[count], colours[k % 8], values, n, NULL, j->samples.bins > 1 ? error_of(j, values) : NULL, 0, 0, 0};
    count++;
  }
  if (!several) snprintf(kappa, sizeof kappa, " %.6g", jobs->dirac.kappa);
  snprintf(title, sizeof title, "Effective masses, kappa%s, csw %.6g, %d x %d x %d x %d", kappa, jobs->csw, jobs->file.extents[0],
           jobs->file.extents[1], jobs->file.extents[2], jobs->file.extents[3]);
  plot_write(jobs->plot_file, title, "t / a", "a m", masses, count);
}

#endif
