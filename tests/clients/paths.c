/* A host that passes tables of paths as QUDA takes them: traces, products and forces against its own. */
/* It takes only a part of what hosts have. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "lattice.h"

#include "plaq.h"
#include "quda.h"

enum { STAPLES = 3, LOOPS = 3 };

int main(void) {
  const int extents[4] = {4, 2, 4, 6};
  int loops[LOOPS][6] = {{0, 1, 7, 6}, {0, 3, 3, 7, 4, 4}, {0, 1, 2, 7, 6, 5}}, *list[LOOPS];
  int lengths[LOOPS] = {4, 6, 6}, *paths[4][STAPLES], **table[4], staple[4][STAPLES][5];
  int staple_length[STAPLES] = {3, 3, 5};
  double coef[LOOPS] = {1, -0.5, 0.25}, traces[2 * LOOPS], dt = 0.125;
  int i, mu, nu, site, a;
  QudaGaugeParam p;
  matrix *own_links, *out;
  double *mom;
  set_lattice(extents);
  random_links(0);
  own_links = room(4 * (size_t)volume * sizeof *own_links);
  out = room(4 * (size_t)volume * sizeof *out);
  mom = room(40 * (size_t)volume * sizeof *mom);
  for (site = 0; site < volume; site++)
    for (mu = 0; mu < 4; mu++) own_links[4 * milc_index(site) + mu] = links[4 * site + mu];
  CHECK(plaq_quda_set_error_mode(PLAQ_QUDA_ERRORS_END) == 0);
  initQuda(-1);
  p = newQudaGaugeParam();
  for (mu = 0; mu < 4; mu++) p.X[mu] = extents[mu];
  p.type = QUDA_WILSON_LINKS, p.gauge_order = QUDA_MILC_GAUGE_ORDER, p.t_boundary = QUDA_PERIODIC_T;
  p.cpu_prec = p.cuda_prec = QUDA_DOUBLE_PRECISION, p.reconstruct = QUDA_RECONSTRUCT_NO;
  p.gauge_fix = QUDA_GAUGE_FIXED_NO, p.anisotropy = 1;
  loadGaugeQuda(own_links, &p);

  /* Traces of paths on links that are on the device. */
  for (i = 0; i < LOOPS; i++) list[i] = loops[i];
  computeGaugeLoopTraceQuda(traces, list, lengths, coef, LOOPS, 6, 2.0 / volume);
  for (i = 0; i < LOOPS; i++) {
    number sum = 0;
    for (site = 0; site < volume; site++) {
      matrix m = along(site, loops[i], lengths[i], &a);
      CHECK(a == site);
      sum += m.e[0][0] + m.e[1][1] + m.e[2][2];
    }
    CLOSE(traces[2 * i], 2 * coef[i] * creal(sum) / volume, 1e-12);
    CLOSE(traces[2 * i + 1], 2 * coef[i] * cimag(sum) / volume, 1e-12);
  }

  /* Paths of the staples up and down in the next direction, and a long path. */
  for (mu = 0; mu < 4; mu++) {
    nu = (mu + 1) % 4;
    staple[mu][0][0] = nu, staple[mu][0][1] = 7 - mu, staple[mu][0][2] = 7 - nu;
    staple[mu][1][0] = 7 - nu, staple[mu][1][1] = 7 - mu, staple[mu][1][2] = nu;
    staple[mu][2][0] = nu, staple[mu][2][1] = nu, staple[mu][2][2] = 7 - mu;
    staple[mu][2][3] = staple[mu][2][4] = 7 - nu;
    for (i = 0; i < STAPLES; i++) paths[mu][i] = staple[mu][i];
    table[mu] = paths[mu];
  }
  memset(out, 0, 4 * (size_t)volume * sizeof *out);
  out[5].e[1][2] = 3;
  CHECK(computeGaugePathQuda(out, own_links, table, staple_length, coef, STAPLES, 6, dt, &p) == 0);
  for (i = 0; i < 40 * volume; i++) mom[i] = i % 10 == 9 ? 0 : noise(i, 3);
  /* Diagonal elements of a traceless matrix. */
  for (i = 0; i < 4 * volume; i++) mom[10 * i + 8] = -mom[10 * i + 6] - mom[10 * i + 7];
  CHECK(computeGaugeForceQuda(mom, own_links, table, staple_length, coef, STAPLES, 6, dt, &p) == 0);
  for (site = 0; site < volume; site++)
    for (mu = 0; mu < 4; mu++) {
      const int at = 4 * milc_index(site) + mu;
      matrix w = {{{0}}};
      double found[9], before, error = 1e-12;
      for (i = 0; i < STAPLES; i++) {
        int whole[6], end;
        matrix m;
        whole[0] = mu;
        memcpy(whole + 1, staple[mu][i], sizeof staple[mu][i]);
        m = along(site, whole, staple_length[i] + 1, &end);
        CHECK(end == site);
        for (a = 0; a < 9; a++) w.e[a / 3][a % 3] += dt * coef[i] * m.e[a / 3][a % 3];
      }
      for (a = 0; a < 9; a++) {
        const number add = at == 5 && a == 5 ? 3 : 0;
        CLOSE(cabs(out[at].e[a / 3][a % 3] - w.e[a / 3][a % 3] - add), 0, error);
      }
      traceless(found, w);
      for (a = 0; a < 9; a++) {
        i = 10 * at + a;
        before = a == 8 ? -noise(i - 2, 3) - noise(i - 1, 3) : noise(i, 3);
        CLOSE(mom[i], before - found[a], error);
      }
    }

  /* The same with links and momenta that stay on the device: the force is added twice to momenta that are zero. */
  {
    double *twice = room(40 * (size_t)volume * sizeof *twice), *once = room(40 * (size_t)volume * sizeof *once);
    p.overwrite_mom = 1;
    CHECK(computeGaugeForceQuda(once, own_links, table, staple_length, coef, STAPLES, 6, dt, &p) == 0);
    p.use_resident_gauge = 1, p.make_resident_mom = 1, p.return_result_mom = 0;
    CHECK(computeGaugeForceQuda(NULL, NULL, table, staple_length, coef, STAPLES, 6, dt, &p) == 0);
    p.overwrite_mom = 0, p.use_resident_mom = 1, p.return_result_mom = 1;
    CHECK(computeGaugeForceQuda(twice, NULL, table, staple_length, coef, STAPLES, 6, dt, &p) == 0);
    for (i = 0; i < 40 * volume; i++) CLOSE(twice[i], 2 * once[i], 1e-12);
    free(twice), free(once);
  }

  /* Arguments that are refused. */
  {
    int32_t status = 0;
    CHECK(plaq_quda_set_error_mode(PLAQ_QUDA_ERRORS_RETURN) == 0);
    p.use_resident_gauge = p.use_resident_mom = 0;
    staple[2][1][0] = 1;
    CHECK(computeGaugeForceQuda(mom, own_links, table, staple_length, coef, STAPLES, 6, dt, &p) == 1);
    CHECK(plaq_quda_last_status(&status) == 0 && status == PLAQ_BAD_PARAMETER);
    staple[2][1][0] = 8;
    CHECK(computeGaugePathQuda(out, own_links, table, staple_length, coef, STAPLES, 6, dt, &p) == 1);
    CHECK(plaq_quda_last_status(&status) == 0 && status == PLAQ_INVALID_ARGUMENT);
    freeGaugeQuda();
    computeGaugeLoopTraceQuda(traces, list, lengths, coef, LOOPS, 6, 1);
    CHECK(plaq_quda_last_status(&status) == 0 && status == PLAQ_INVALID_ARGUMENT);
    p.X[3] = 8;
    loadGaugeQuda(own_links, &p);
    CHECK(plaq_quda_last_status(&status) == 0 && status == PLAQ_INVALID_ARGUMENT);
    p.struct_size = 1;
    loadGaugeQuda(own_links, &p);
    CHECK(plaq_quda_last_status(&status) == 0 && status == PLAQ_INVALID_ARGUMENT);
  }
  endQuda();
  free(own_links), free(out), free(mom), free(links);
  return 0;
}
