/* Propagators and correlators, and their misuse. */
#include "lattice.h"

static int32_t count_calls(int64_t iteration, double relative, double seconds, void *user) {
  (void)iteration, (void)relative, (void)seconds;
  ++*(int *)user;
  return 0;
}

static int32_t stop(int64_t iteration, double relative, double seconds, void *user) {
  (void)iteration, (void)relative, (void)seconds, (void)user;
  return 1;
}

int main(void) {
  plaq_context context = cpu_context();
  plaq_gauge_params g = gauge_params();
  plaq_dirac_params d;
  plaq_solver_params p;
  plaq_source_params source;
  plaq_solve_report report;
  plaq_gauge gauge;
  plaq_dirac dirac;
  plaq_solver solver, other;
  plaq_spinor s = {9}, b = new_spinor(context, 12, NULL), one = new_spinor(context, 1, NULL);
  double pion[LT], rho[3 * LT], nucleon[2 * LT], mesons[2 * 2 * 2 * LT], baryons[2 * 2 * LT], mass[LT], residuals[12], norm[12], found[12], total = 0, sum = 0;
  double *columns = numbers(12 * SPINOR), *again = numbers(12 * SPINOR);
  const int32_t pairs[] = {PLAQ_GAMMA_5, PLAQ_GAMMA_5, PLAQ_GAMMA_Y, PLAQ_GAMMA_Y}, momenta[] = {0, 0, 0, 1, 0, 0};
  const int32_t names[] = {PLAQ_BARYON_NUCLEON, PLAQ_BARYON_SIGMA};
  int32_t wrong = 16;
  plaq_contract_params contract;
  plaq_origin_params origin;
  plaq_origin_report known;
  plaq_sequential_params sequential;
  plaq_spinor_write_params write;
  plaq_spinor_read_params read;
  plaq_spinor none = {0}, back, single, shaped = new_spinor(context, 12, NULL);
  plaq_spinor_params shape = spinor_params(12);
  int64_t count;
  int t, k, i, calls = 0;

  /* Sources. */
  OK(plaq_source_params_init(&source, sizeof source));
  source.position[0] = 1, source.position[1] = 3, source.position[3] = LT - 3;
  OK(plaq_spinor_source(b, &source));
  OK(plaq_spinor_save(b, NULL, columns));
  for (k = 0; k < 12; k++) {
    int site = 1 + LX * (3 + LY * (LZ * (LT - 3)));
    CHECK(columns[(size_t)k * SPINOR + 24 * site + 2 * k] == 1);
  }
  OK(plaq_spinor_norm2(b, norm, 12));
  for (k = 0; k < 12; k++) CHECK(norm[k] == 1);
  source.kind = PLAQ_SOURCE_WALL;
  OK(plaq_spinor_source(b, &source));
  OK(plaq_spinor_norm2(b, norm, 12));
  for (k = 0; k < 12; k++) CHECK(norm[k] == LX * LY * LZ);
  source.kind = 3;
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_source(b, &source));
  source.kind = PLAQ_SOURCE_POINT;
  source.position[3] = LT;
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_source(b, &source));
  source.position[3] = -1;
  EXPECT(PLAQ_BAD_PARAMETER, plaq_spinor_source(b, &source));
  source.position[3] = LT - 3;
  OK(plaq_source_columns(&source, &count));
  CHECK(count == 12);
  source.first = 3;
  OK(plaq_spinor_source(one, &source));
  OK(plaq_spinor_save(one, NULL, columns));
  CHECK(columns[24 * (1 + LX * (3 + LY * (LZ * (LT - 3)))) + 6] == 1);
  EXPECT(PLAQ_FIELD_MISMATCH, plaq_spinor_source(b, &source));
  source.first = 0;
  source.spin = 4;
  EXPECT(PLAQ_BAD_PARAMETER, plaq_spinor_source(b, &source));
  source.spin = -1;
  source.dilute = 16;
  EXPECT(PLAQ_BAD_PARAMETER, plaq_spinor_source(b, &source));
  source.dilute = PLAQ_DILUTE_SPIN;
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_source(b, &source));
  source.noise = PLAQ_NOISE_Z2, source.kind = PLAQ_SOURCE_VOLUME, source.vectors = 3, source.seed = -5;
  OK(plaq_source_columns(&source, &count));
  CHECK(count == 12);
  OK(plaq_spinor_source(b, &source));
  OK(plaq_spinor_norm2(b, norm, 12));
  for (k = 0; k < 12; k++) CHECK(norm[k] == 3 * LX * LY * LZ * LT);
  /* A source diluted in time, one slice: twelve columns of noise on it. */
  source.vectors = 1, source.dilute = PLAQ_DILUTE_SPIN + PLAQ_DILUTE_COLOUR + PLAQ_DILUTE_TIME;
  REFUSED(PLAQ_INVALID_ARGUMENT, "time_parts", plaq_spinor_source(b, &source));
  source.time_parts = LT + 1;
  REFUSED(PLAQ_INVALID_ARGUMENT, "divisor", plaq_spinor_source(b, &source));
  source.time_parts = LT;
  OK(plaq_source_columns(&source, &count));
  CHECK(count == 12 * LT);
  source.first = 12, source.count = 12;
  OK(plaq_source_columns(&source, &count));
  CHECK(count == 12);
  OK(plaq_spinor_source(b, &source));
  OK(plaq_spinor_norm2(b, norm, 12));
  for (k = 0; k < 12; k++) CHECK(norm[k] == LX * LY * LZ);
  source.kind = PLAQ_SOURCE_WALL;
  REFUSED(PLAQ_INVALID_ARGUMENT, "PLAQ_SOURCE_VOLUME", plaq_spinor_source(b, &source));
  source.dilute -= PLAQ_DILUTE_TIME;
  REFUSED(PLAQ_INVALID_ARGUMENT, "time_parts", plaq_spinor_source(b, &source));
  source.first = source.count = source.time_parts = 0;
  source.noise = 0, source.kind = PLAQ_SOURCE_POINT, source.vectors = 1, source.dilute = 0;

  /* A propagator and its correlators. */
  OK(plaq_gauge_create(context, &g, &gauge));
  OK(plaq_gauge_warm(gauge, 7, 0.2));
  OK(plaq_dirac_params_init(&d, sizeof d));
  d.kappa = 0.11;
  d.csw = 1;
  OK(plaq_dirac_create(context, gauge, &d, &dirac));
  OK(plaq_solver_params_init(&p, sizeof p));
  p.solver = PLAQ_SOLVER_BICGSTAB;
  p.sloppy_precision = PLAQ_PRECISION_SINGLE;
  if (brief()) p.tol = 1e-2;
  OK(plaq_solver_create(dirac, &p, &solver));
  OK(plaq_solve_report_init(&report, sizeof report));
  OK(plaq_solver_propagator(solver, &source, count_calls, &calls, &s, &report, residuals));
  CHECK(report.converged && calls > 0 && report.residual <= p.tol);
  for (k = 0; k < 12; k++) CHECK(residuals[k] > 0 && residuals[k] <= p.tol);
  OK(plaq_spinor_correlators(s, LT - 3, 1, LT, pion, rho, nucleon));
  for (t = 0; t < LT; t++) {
    CHECK(pion[t] > 0 && rho[t] != 0 && isfinite(nucleon[2 * t]));
    CHECK(pion[t] >= fabs(rho[t]) && pion[t] >= fabs(rho[LT + t]) && pion[t] >= fabs(rho[2 * LT + t]));
    total += pion[t];
  }
  CHECK(pion[0] > pion[1] && pion[1] > pion[2] && pion[LT - 1] > pion[LT - 2]);
  OK(plaq_spinor_norm2(s, norm, 12));
  for (k = 0; k < 12; k++) sum += norm[k];
  CHECK(fabs(total - sum) < 1e-12 * sum);
  OK(plaq_spinor_correlators(s, LT - 3, 1, LT, NULL, NULL, NULL));
  OK(plaq_correlator_effective_mass(pion, LT, PLAQ_MASS_FORM_COSH, mass));
  for (i = 1; i < LT / 2; i++)
    CHECK(fabs(mass[i] - acosh((pion[i - 1] + pion[i + 1]) / (2 * pion[i]))) < 1e-12);
  CHECK(isnan(mass[0]));

  /* Contractions of several momenta and pairs in one call equal single ones; t is the fastest index. */
  OK(plaq_contract_params_init(&contract, sizeof contract));
  OK(plaq_spinor_contract_mesons(s, none, &contract, pairs, 2, momenta, 2, LT, mesons));
  CHECK(mesons[0] == pion[0]); /* the propagator knows where its source is */
  OK(plaq_origin_report_init(&known, sizeof known));
  OK(plaq_spinor_origin(s, &known));
  CHECK(!memcmp(known.position, source.position, sizeof known.position) && known.boundary == 1);
  OK(plaq_origin_params_init(&origin, sizeof origin));
  origin.normalisation = known.normalisation;
  OK(plaq_spinor_set_origin(s, &origin));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_contract_mesons(s, none, &contract, pairs, 2, momenta, 2, LT, mesons));
  origin.position[3] = LT;
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_set_origin(s, &origin));
  origin.position[3] = -2;
  EXPECT(PLAQ_BAD_PARAMETER, plaq_spinor_set_origin(s, &origin));
  memcpy(contract.position, source.position, sizeof contract.position);
  OK(plaq_spinor_contract_mesons(s, none, &contract, pairs, 2, momenta, 2, LT, mesons));
  OK(plaq_spinor_contract_baryons(s, s, &contract, names, 2, momenta, 1, LT, baryons));
  for (t = 0; t < LT; t++) {
    CHECK(mesons[2 * t] == pion[t] && mesons[2 * (LT + t)] == rho[LT + t]);
    CHECK(fabs(mesons[2 * (2 * LT + t)]) < pion[t]);
    CHECK(fabs(baryons[2 * t] - nucleon[2 * t]) <= 1e-12 * fabs(nucleon[2 * t]));
    CHECK(fabs(baryons[2 * (LT + t)] - nucleon[2 * t]) <= 1e-9 * fabs(nucleon[2 * t]));
  }
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_contract_mesons(s, none, &contract, &wrong, 1, momenta, 1, LT, mesons));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_contract_mesons(s, none, &contract, pairs, 0, momenta, 1, LT, mesons));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_contract_mesons(s, none, &contract, pairs, 1, momenta, 1, LT + 1, mesons));
  EXPECT(PLAQ_NULL_POINTER, plaq_spinor_contract_mesons(s, none, &contract, pairs, 1, NULL, 1, LT, mesons));
  EXPECT(PLAQ_FIELD_MISMATCH, plaq_spinor_contract_mesons(s, one, &contract, pairs, 1, momenta, 1, LT, mesons));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_contract_baryons(s, none, &contract, names, 2, momenta, 1, LT, baryons));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_contract_baryons(s, s, &contract, &wrong, 1, momenta, 1, LT, baryons));
  contract.parity = 2;
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_contract_baryons(s, s, &contract, names, 1, momenta, 1, LT, baryons));

  shape.precision = PLAQ_PRECISION_SINGLE;
  OK(plaq_spinor_create(context, &shape, &single));
  /* Sources made from a field, and from a solution. */
  OK(plaq_spinor_source(shaped, &source));
  OK(plaq_solver_propagator_from(solver, shaped, NULL, NULL, &back, &report, residuals));
  OK(plaq_spinor_norm2(s, norm, 12));
  OK(plaq_spinor_norm2(back, found, 12));
  for (k = 0; k < 12; k++) CHECK(fabs(found[k] - norm[k]) < (brief() ? 0.1 : 1e-9) * norm[k]);
  EXPECT(PLAQ_FIELD_MISMATCH, plaq_solver_propagator_from(solver, single, NULL, NULL, &b, NULL, NULL));
  OK(plaq_sequential_params_init(&sequential, sizeof sequential));
  sequential.position[3] = LT - 3;
  sequential.time = (2 - (LT - 3) + LT) % LT;
  OK(plaq_spinor_sequential(s, shaped, &sequential));
  OK(plaq_spinor_norm2(shaped, found, 12));
  for (k = 0, sum = 0; k < 12; k++) sum += found[k];
  CHECK(fabs(sum - pion[(2 - (LT - 3) + LT) % LT]) < 1e-12 * sum);
  sum = 0;
  sequential.gamma = 16;
  EXPECT(PLAQ_BAD_PARAMETER, plaq_spinor_sequential(s, shaped, &sequential));
  sequential.gamma = 0, sequential.time = LT;
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_sequential(s, shaped, &sequential));

  /* Into a file and back. */
  OK(plaq_spinor_write_params_init(&write, sizeof write));
  OK(plaq_spinor_read_params_init(&read, sizeof read));
  write.info = "kappa 0.11";
  OK(plaq_spinor_write(s, none, "hadron.lime", &write));
  OK(plaq_spinor_read(context, "hadron.lime", &read, &back));
  remove("hadron.lime");
  OK(plaq_spinor_save(s, NULL, columns));
  OK(plaq_spinor_save(back, NULL, again));
  CHECK(!memcmp(columns, again, 12 * SPINOR * sizeof *columns));
  EXPECT(PLAQ_FILE_OPEN, plaq_spinor_read(context, "hadron.lime", &read, &back));
  write.kind = PLAQ_PROPAGATOR_PAIRS;
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_write(s, none, "hadron.lime", &write));
  write.kind = 0, write.precision = 2;
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_write(s, none, "hadron.lime", &write));
  read.wrong_checksum = 2;
  EXPECT(PLAQ_BAD_PARAMETER, plaq_spinor_read(context, "hadron.lime", &read, &back));

  /* A propagator solved for a few columns at a time. */
  p.columns = 5;
  OK(plaq_solver_create(dirac, &p, &other));
  OK(plaq_solver_propagator(other, &source, NULL, NULL, &b, &report, residuals));
  CHECK(report.converged && report.residual <= p.tol);
  for (k = 0; k < 12; k++) CHECK(residuals[k] > 0 && residuals[k] <= report.residual);
  OK(plaq_spinor_norm2(b, found, 12));
  for (k = 0; k < 12; k++) CHECK(fabs(found[k] - norm[k]) < (brief() ? 0.1 : 1e-8) * norm[k]);
  OK(plaq_solver_propagator(other, &source, stop, NULL, &b, &report, residuals));
  CHECK(report.stopped && !report.converged && report.iterations == 1);
  for (k = 0; k < 12; k++) CHECK(residuals[k] > p.tol && residuals[k] < 1);
  CHECK(report.columns == 5);
  p.columns = 13;
  EXPECT(PLAQ_BAD_PARAMETER, plaq_solver_create(dirac, &p, &other));
  p.columns = 12, p.expected_columns = -1;
  EXPECT(PLAQ_BAD_PARAMETER, plaq_solver_create(dirac, &p, &other));
  p.expected_columns = 0;

  /* Misuse. */
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_correlator_effective_mass(pion, 0, 0, mass));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_correlator_effective_mass(pion, LT, 2, mass));
  EXPECT(PLAQ_NULL_POINTER, plaq_correlator_effective_mass(NULL, LT, 0, mass));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_correlator_outward_mass(pion, LT, LT, PLAQ_BOUNDARY_TIME_OPEN, mass));
  EXPECT(PLAQ_UNSUPPORTED, plaq_correlator_outward_mass(pion, LT, 0, PLAQ_BOUNDARY_TIME_PERIODIC, mass));
  EXPECT(PLAQ_NULL_POINTER, plaq_correlator_effective_mass(pion, LT, 0, NULL));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_correlators(s, LT, 1, LT, pion, NULL, NULL));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_correlators(s, -1, 1, LT, pion, NULL, NULL));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_correlators(s, 0, NAN, LT, pion, NULL, NULL));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_correlators(s, 0, 1, LT + 1, pion, NULL, NULL));
  EXPECT(PLAQ_FIELD_MISMATCH, plaq_spinor_correlators(one, 0, 1, LT, pion, NULL, NULL));
  EXPECT(PLAQ_NULL_POINTER, plaq_solver_propagator(solver, &source, NULL, NULL, NULL, NULL, NULL));
  p.solution = PLAQ_SOLUTION_MDAG;
  OK(plaq_solver_create(dirac, &p, &other));
  b.id = 9;
  EXPECT(PLAQ_BAD_PARAMETER, plaq_solver_propagator(other, &source, NULL, NULL, &b, NULL, NULL));
  source.position[0] = LX;
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_solver_propagator(solver, &source, NULL, NULL, &b, NULL, NULL));
  CHECK(b.id == 9);
  /* After a stop the columns that were reached are returned, and the report says so. */
  source.position[0] = 0;
  OK(plaq_solver_propagator(solver, &source, stop, NULL, &b, &report, NULL));
  CHECK(report.stopped && !report.converged);
  OK(plaq_context_destroy(context));
  free(columns);
  free(again);
  return 0;
}
