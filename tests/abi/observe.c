/* Observables, starts, updates and configuration files, and their misuse. */
#include "lattice.h"

static int32_t stop_at_two(int64_t done, int64_t all, double seconds, void *user) {
  plaq_plaquette p;
  CHECK(done <= all && all == 5 && seconds >= 0);
  EXPECT(PLAQ_BUSY, plaq_gauge_plaquette(*(plaq_gauge *)user, &p));
  return done == 2;
}

static void observables(plaq_context context) {
  plaq_gauge_params g = gauge_params();
  plaq_gauge gauge, again, none = {0};
  plaq_plaquette p, q;
  plaq_complex z = {7, 7};
  plaq_unitarity u;
  plaq_topology t, kept;
  plaq_heatbath_params params;
  plaq_heatbath_report report;
  double density[VOLUME];
  int su2, i, site;

  for (su2 = 0; su2 < 2; su2++) {
    g.storage = su2 ? PLAQ_STORAGE_SU2 : PLAQ_STORAGE_SU3_18;
    OK(plaq_gauge_create(context, &g, &gauge));
    OK(plaq_gauge_create(context, &g, &again));
    OK(plaq_gauge_unit(gauge));
    OK(plaq_gauge_plaquette(gauge, &p));
    CHECK(fabs(p.total - 1) < 1e-14 && fabs(p.spatial - 1) < 1e-14 && fabs(p.link_trace - 1) < 1e-14);
    OK(plaq_gauge_polyakov_loop(gauge, 3, &z));
    CHECK(fabs(z.re - 1) < 1e-14 && fabs(z.im) < 1e-14);
    OK(plaq_gauge_warm(gauge, 5, 0.1));
    OK(plaq_gauge_plaquette(gauge, &p));
    CHECK(p.total < 0.999 && p.total > 0.9 && fabs(p.total - (p.spatial + p.temporal) / 2) < 1e-14);

    /* Five sweeps equal two and then three, bit for bit. */
    OK(plaq_gauge_hot(gauge, 42));
    OK(plaq_gauge_hot(again, 42));
    OK(plaq_gauge_unitarity(gauge, &u));
    CHECK(u.unitary < 1e-13 && u.det < 1e-13);
    OK(plaq_heatbath_params_init(&params, sizeof params));
    REFUSED(PLAQ_BAD_PARAMETER, "beta", plaq_gauge_heatbath(gauge, &params, NULL, NULL, NULL));
    params.beta = su2 ? 2.4 : 6.0;
    params.seed = -9;
    params.sweeps = 5;
    OK(plaq_heatbath_report_init(&report, sizeof report));
    OK(plaq_gauge_heatbath(gauge, &params, NULL, NULL, &report));
    CHECK(report.next_sweep == 5 && report.stopped == 0);
    OK(plaq_gauge_heatbath(again, &params, stop_at_two, &again, &report));
    CHECK(report.next_sweep == 2 && report.stopped == 1);
    params.first_sweep = 2;
    params.sweeps = 3;
    OK(plaq_gauge_heatbath(again, &params, NULL, NULL, &report));
    OK(plaq_gauge_plaquette(gauge, &p));
    OK(plaq_gauge_plaquette(again, &q));
    CHECK(p.total == q.total && p.total > 0.4 && p.total < 0.8);
    params.sweeps = -1;
    REFUSED(PLAQ_BAD_PARAMETER, "sweeps", plaq_gauge_heatbath(gauge, &params, NULL, NULL, NULL));
    OK(plaq_gauge_destroy(gauge));
    OK(plaq_gauge_destroy(again));
  }

  g = gauge_params();
  OK(plaq_gauge_create(context, &g, &gauge));
  OK(plaq_gauge_unit(gauge));
  OK(plaq_gauge_topology(gauge, &t));
  CHECK(fabs(t.charge) < 1e-13 && fabs(t.energy_spatial) < 1e-13);
  OK(plaq_gauge_warm(gauge, 3, 0.3));
  OK(plaq_gauge_topology(gauge, &t));
  OK(plaq_gauge_topology_with_trace(gauge, &kept));
  CHECK(kept.energy_spatial > 1.0001 * t.energy_spatial && kept.energy_temporal < 1.2 * t.energy_temporal);
  CHECK(kept.charge != t.charge && fabs(kept.charge - t.charge) < 0.2 * fabs(t.charge) + 1);
  for (i = 0; i < 2; i++) {
    double sum = 0;
    OK(plaq_gauge_charge_density(gauge, i, density, VOLUME));
    for (site = 0; site < VOLUME; site++) sum += density[site];
    CHECK(fabs(sum - (i ? kept : t).charge) < 1e-12);
  }
  REFUSED(PLAQ_INVALID_ARGUMENT, "trace", plaq_gauge_charge_density(gauge, 2, density, VOLUME));
  REFUSED(PLAQ_INVALID_ARGUMENT, "sites", plaq_gauge_charge_density(gauge, 0, density, VOLUME - 1));
  EXPECT(PLAQ_NULL_POINTER, plaq_gauge_charge_density(gauge, 0, NULL, VOLUME));
  OK(plaq_gauge_unit(gauge));
  EXPECT(PLAQ_NULL_POINTER, plaq_gauge_plaquette(gauge, NULL));
  EXPECT(PLAQ_NULL_POINTER, plaq_gauge_topology(gauge, NULL));
  EXPECT(PLAQ_NULL_POINTER, plaq_gauge_topology_with_trace(gauge, NULL));
  EXPECT(PLAQ_NULL_POINTER, plaq_gauge_unitarity(gauge, NULL));
  EXPECT(PLAQ_NULL_POINTER, plaq_gauge_polyakov_loop(gauge, 0, NULL));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_gauge_polyakov_loop(gauge, 4, &z));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_gauge_polyakov_loop(gauge, -1, &z));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_gauge_plaquette(none, &p));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_gauge_hot(none, 1));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_gauge_warm(gauge, 1, -0.5));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_gauge_warm(gauge, 1, NAN));
  g.storage = PLAQ_STORAGE_SU3_12;
  OK(plaq_gauge_create(context, &g, &again));
  OK(plaq_gauge_hot(again, 1));
  params.sweeps = 1;
  EXPECT(PLAQ_UNSUPPORTED, plaq_gauge_heatbath(again, &params, NULL, NULL, NULL));
  OK(plaq_gauge_destroy(again));
  OK(plaq_gauge_destroy(gauge));
}

/* An operator keeps its links when the gauge field moves on. */
static void copy_on_write(plaq_context context) {
  plaq_gauge_params g = gauge_params();
  plaq_dirac_params d;
  plaq_spinor x = new_spinor(context, 1, NULL), y = new_spinor(context, 1, NULL);
  plaq_dirac dirac;
  plaq_gauge gauge;
  double before, after;
  OK(plaq_gauge_create(context, &g, &gauge));
  OK(plaq_gauge_hot(gauge, 3));
  OK(plaq_dirac_params_init(&d, sizeof d));
  d.storage = PLAQ_STORAGE_SU3_18; /* the gauge field's own: shared, not copied */
  d.kappa = 0.12;
  OK(plaq_dirac_create(context, gauge, &d, &dirac));
  OK(plaq_spinor_noise(x, PLAQ_NOISE_Z4, 1, 0));
  OK(plaq_dirac_apply(dirac, PLAQ_SYSTEM_FULL, PLAQ_FORM_M, y, x));
  OK(plaq_spinor_norm2(y, &before, 1));
  OK(plaq_gauge_unit(gauge));
  OK(plaq_dirac_apply(dirac, PLAQ_SYSTEM_FULL, PLAQ_FORM_M, y, x));
  OK(plaq_spinor_norm2(y, &after, 1));
  CHECK(before == after);
  OK(plaq_spinor_norm2(x, &after, 1));
  CHECK(fabs(after - 12.0 * VOLUME) < 1e-9);
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_noise(x, 4, 1, 0));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_noise(x, PLAQ_NOISE_NORMAL, 1, -1));
  OK(plaq_dirac_destroy(dirac));
  OK(plaq_gauge_destroy(gauge));
  OK(plaq_spinor_destroy(x));
  OK(plaq_spinor_destroy(y));
}

static void files(plaq_context context) {
  double *links = random_links(), *back = numbers(LINKS);
  plaq_gauge gauge = new_gauge(context, links), read = {4}, su2;
  plaq_gauge_params g = gauge_params();
  plaq_gauge_read_params r;
  plaq_gauge_write_params w;
  plaq_file_report report;
  const char *name = "observe.config";
  char bytes[8192];
  FILE *file;
  int format;

  for (format = PLAQ_FILE_FORMAT_NERSC; format <= PLAQ_FILE_FORMAT_DDALPHAAMG; format++) {
    double tolerance = format == PLAQ_FILE_FORMAT_MILC ? 1e-6 : 1e-14;
    OK(plaq_gauge_write_params_init(&w, sizeof w));
    w.format = format;
    w.sequence_number = 17;
    w.ensemble_id = "abi";
    OK(plaq_gauge_write(gauge, name, &w));
    OK(plaq_file_report_init(&report, sizeof report));
    OK(plaq_gauge_read(context, name, NULL, &read, &report));
    CHECK(report.format == format && report.extents[0] == LX && report.extents[3] == LT);
    CHECK(report.precision == (format == PLAQ_FILE_FORMAT_MILC ? 4 : 8));
    OK(plaq_gauge_save(read, NULL, back));
    CHECK(distance(links, back, LINKS) < tolerance);
    OK(plaq_gauge_destroy(read));
  }
  read.id = 4;

  OK(plaq_gauge_read_params_init(&r, sizeof r));
  r.extents[0] = 4, r.extents[1] = 4, r.extents[2] = 4, r.extents[3] = 4;
  REFUSED(PLAQ_FILE_EXTENTS, name, plaq_gauge_read(context, name, &r, &read, NULL));
  r.extents[3] = -4;
  EXPECT(PLAQ_BAD_EXTENTS, plaq_gauge_read(context, name, &r, &read, NULL));
  OK(plaq_gauge_read_params_init(&r, sizeof r));
  r.unitarity = -1;
  EXPECT(PLAQ_BAD_PARAMETER, plaq_gauge_read(context, name, &r, &read, NULL));
  r.unitarity = NAN;
  EXPECT(PLAQ_BAD_PARAMETER, plaq_gauge_read(context, name, &r, &read, NULL));
  r.unitarity = 0;
  r.project = 3;
  EXPECT(PLAQ_BAD_PARAMETER, plaq_gauge_read(context, name, &r, &read, NULL));
  r.project = 1;
  r.storage = PLAQ_STORAGE_SU2;
  EXPECT(PLAQ_UNSUPPORTED, plaq_gauge_read(context, name, &r, &read, NULL));
  r.storage = 77;
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_gauge_read(context, name, &r, &read, NULL));
  EXPECT(PLAQ_FILE_OPEN, plaq_gauge_read(context, "no/such/file", NULL, &read, NULL));
  EXPECT(PLAQ_NULL_POINTER, plaq_gauge_read(context, NULL, NULL, &read, NULL));
  EXPECT(PLAQ_NULL_POINTER, plaq_gauge_read(context, name, NULL, NULL, NULL));
  EXPECT(PLAQ_FILE_OPEN, plaq_gauge_read(context, "\xff\xfe", NULL, &read, NULL));

  /* A file that ends early, and a file of another kind. */
  file = fopen(name, "rb");
  CHECK(file && fread(bytes, 1, sizeof bytes, file) == sizeof bytes && fclose(file) == 0);
  file = fopen(name, "wb");
  CHECK(file && fwrite(bytes, 1, sizeof bytes, file) == sizeof bytes && fclose(file) == 0);
  EXPECT(PLAQ_FILE_TRUNCATED, plaq_gauge_read(context, name, NULL, &read, NULL));
  memset(bytes, 'x', sizeof bytes);
  file = fopen(name, "wb");
  CHECK(file && fwrite(bytes, 1, sizeof bytes, file) == sizeof bytes && fclose(file) == 0);
  EXPECT(PLAQ_FILE_FORMAT, plaq_gauge_read(context, name, NULL, &read, NULL));
  CHECK(read.id == 4);
  CHECK(remove(name) == 0);

  OK(plaq_gauge_write_params_init(&w, sizeof w));
  w.format = 0;
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_gauge_write(gauge, name, &w));
  w.format = PLAQ_FILE_FORMAT_MILC;
  w.precision = PLAQ_PRECISION_DOUBLE;
  EXPECT(PLAQ_UNSUPPORTED, plaq_gauge_write(gauge, name, &w));
  w.precision = PLAQ_PRECISION_HALF;
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_gauge_write(gauge, name, &w));
  w.precision = 0;
  w.byte_order = 9;
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_gauge_write(gauge, name, &w));
  w.byte_order = 0;
  w.creator = "\xff";
  REFUSED(PLAQ_INVALID_ARGUMENT, "creator", plaq_gauge_write(gauge, name, &w));
  EXPECT(PLAQ_FILE_WRITE, plaq_gauge_write(gauge, "no/such/folder/file", NULL));
  EXPECT(PLAQ_NULL_POINTER, plaq_gauge_write(gauge, NULL, NULL));
  g.storage = PLAQ_STORAGE_SU2;
  OK(plaq_gauge_create(context, &g, &su2));
  OK(plaq_gauge_unit(su2));
  EXPECT(PLAQ_UNSUPPORTED, plaq_gauge_write(su2, name, NULL));
  CHECK(fopen(name, "rb") == NULL);
  OK(plaq_gauge_destroy(su2));
  OK(plaq_gauge_destroy(gauge));
  free(links);
  free(back);
}

int main(void) {
  plaq_context context = cpu_context();
  observables(context);
  copy_on_write(context);
  files(context);
  OK(plaq_context_destroy(context));
  return 0;
}
