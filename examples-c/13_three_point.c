/* A nucleon's three-point function: a sequential source through the sink, and the conserved current, which counts quarks.
 * test: tests/data/quenched-b6.0-4x4x4x8.ildg
 */
#include <plaq.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { if ((call) != PLAQ_SUCCESS) { fprintf(stderr, "%s\n", plaq_last_error()); exit(1); } } while (0)
#define TIMES 8
#define SINK 3

int main(int argc, char **argv) {
  plaq_context context;
  plaq_gauge gauge;
  plaq_dirac dirac;
  plaq_solver solver;
  plaq_spinor s, w, x, none = {0};
  /* C gamma5 of (u^T C gamma5 d) u, and the projector (1 + gamma_t) / 2, row by row, (re, im). */
  const double c5[32] = {[2] = -1, [8] = 1, [22] = -1, [28] = 1};
  const double p[32] = {[0] = .5, [4] = .5, [10] = .5, [14] = .5, [16] = .5, [20] = .5, [26] = .5, [30] = .5};
  /* An operator on u: pairings 123 and 321, slots 1 and 3 of the sink. */
  const int32_t pairings[4] = {0, 0, 3, 3}, slots[4] = {0, 2, 0, 2}, rest[3] = {0, 0, 0};
  const double weights[4] = {1, 1, 1, 1};
  const int32_t lengths[2] = {0, 1}, z[1] = {2}; /* a local operator, and one with U_z(x) q(x + z) */
  static double two[6][TIMES][4][4][2], three[2][16][TIMES][2], current[4][TIMES][2];
  double c2 = 0, charge;
  int a, b;
  PLAQ_INIT(plaq_dirac_params, action);
  PLAQ_INIT(plaq_solver_params, how);
  PLAQ_INIT(plaq_spinor_params, like);
  PLAQ_INIT(plaq_solve_report, report);
  OK(plaq_context_create(NULL, &context));
  OK(plaq_gauge_read(context, argv[argc - 1], NULL, &gauge, NULL));
  action.kappa = 0.12;
  action.csw = 1.2;
  how.tol = 1e-11;
  OK(plaq_dirac_create(context, gauge, &action, &dirac));
  OK(plaq_solver_create(dirac, &how, &solver));
  OK(plaq_solver_propagator(solver, NULL, NULL, NULL, &s, &report, NULL)); /* a point at the origin */
  OK(plaq_spinor_contract_quarks(s, none, none, NULL, c5, c5, rest, 1, TIMES, &two[0][0][0][0][0]));
  for (a = 0; a < 4; a++)
    for (b = 0; b < 4; b++) c2 += p[2 * (4 * b + a)] * (two[0][SINK][a][b][0] + two[3][SINK][a][b][0]);
  like.gauge = gauge;
  like.nrhs = 12;
  OK(plaq_spinor_create(context, &like, &w));
  OK(plaq_spinor_sequential_baryon(s, none, none, w, NULL, c5, c5, p, pairings, slots, weights, 4, rest, SINK));
  OK(plaq_solver_propagator_from(solver, w, NULL, NULL, &x, &report, NULL));
  OK(plaq_spinor_contract_insertions(x, s, gauge, NULL, lengths, 2, z, 1, rest, 1, TIMES, &three[0][0][0][0]));
  OK(plaq_spinor_contract_current(x, s, gauge, NULL, rest, 1, TIMES, &current[0][0][0]));
  for (a = 1; a < SINK; a++) printf("t %d: gamma_t %.6f, with a link %.6f\n", a, three[0][8][a][0] / c2, three[1][8][a][0] / c2);
  charge = (current[3][1][0] - current[3][SINK + 2][0]) / c2;
  printf("charge of u %.9f\n", charge);
  if (fabs(charge - 2) > 1e-7) return 3;
  return plaq_context_destroy(context);
}
