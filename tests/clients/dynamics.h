/* Momenta, forces, updates and traces of loops by MILC's calls; a part of milc.c. */

/* Every third site is checked. */
enum { MAX_STAPLES = 48, SITES = 3 };

static int back_of(int s) { return 7 - s; }

/* All closed paths of four or six steps that begin with mu and never turn back: plaquettes, rectangles and loops i j k
 * -i -j -k; with the kind and the length of each. */
static int loops_of(int mu, int paths[][6], int *kind, int *length) {
  int found = 0, code, k, n;
  for (n = 4; n <= 6; n += 2)
    for (code = 0; code < 1 << 3 * (n - 1); code++) {
      int p[6], sum[4] = {0}, planes = 0, turns = 0, closed = 1, twisted = n == 6, d;
      p[0] = mu;
      for (k = 1; k < n; k++) p[k] = code >> 3 * (k - 1) & 7;
      for (k = 0; k < n; k++) {
        d = p[k] < 4 ? p[k] : 7 - p[k];
        sum[d] += p[k] < 4 ? 1 : -1, planes |= 1 << d;
        turns |= p[(k + 1) % n] == back_of(p[k]);
        twisted &= p[(k + n / 2) % n] == back_of(p[k]);
      }
      for (d = 0; d < 4; d++) closed &= sum[d] == 0;
      if (!closed || turns) continue;
      for (d = 0, k = planes; k; k >>= 1) d += k & 1;
      if (d == 3 && !twisted) continue;
      memcpy(paths[found], p, sizeof p);
      kind[found] = n == 4 ? 0 : d == 2 ? 1 : 2, length[found++] = n;
    }
  return found;
}

/* Computes the sum of 1/2 tr P^dagger P - 4 over all links. */
static double momentum_action(const double *mom) {
  double sum = 0;
  int i, r, c;
  for (i = 0; i < 4 * volume; i++) {
    const matrix a = of_ten(mom + 10 * (size_t)i);
    for (r = 0; r < 3; r++)
      for (c = 0; c < 3; c++) sum += 0.5 * creal(a.e[r][c] * conj(a.e[r][c]));
    sum -= 4;
  }
  return sum;
}

/* Puts staggered phases into links and takes them out again, with a chemical potential in time and without. */
static void check_phases(int precision, double error) {
  const double i_mu[2] = {0, 0.3};
  const size_t size = 72 * (precision == 2 ? 8 : 4);
  double *now = room(72 * (size_t)volume * sizeof *now);
  char *host = room((size_t)own * size);
  int k, mu, site;
  size_t i;
  for (k = 0; k < 2; k++) {
    const number turn = cexp(I * acos(-1.0) * i_mu[k] / global[3]);
    scatter_sites(host, precision, size, 0, (double *)links, 72);
    qudaRephase(precision, host, 1, i_mu[k]);
    done();
    gather_sites(now, host, precision, size, 0, 72);
    staggered_phases();
    for (site = 0; site < volume; site++)
      for (mu = 0; mu < 4; mu++)
        for (i = 0; i < 9; i++) {
          const number want = links[4 * site + mu].e[i / 3][i % 3] * (mu == 3 ? turn : 1);
          const double *found = now + 18 * (4 * (size_t)site + (size_t)mu) + 2 * i;
          CLOSE(found[0], creal(want), error);
          CLOSE(found[1], cimag(want), error);
        }
    staggered_phases();
    qudaRephase(precision, host, 0, i_mu[k]);
    done();
    gather_sites(now, host, precision, size, 0, 72);
    for (i = 0; i < 72 * (size_t)volume; i++) CLOSE(now[i], ((const double *)links)[i], error);
  }
  qudaRephase(precision, host, 2, 0);
  refused("qudaRephase", PLAQ_INVALID_ARGUMENT, "flag");
  qudaRephase(precision, host, 1, NAN);
  refused("qudaRephase", PLAQ_INVALID_ARGUMENT, "i_mu");
  qudaRephase(3, host, 1, 0);
  refused("qudaRephase", PLAQ_INVALID_ARGUMENT, "prec");
  qudaRephase(precision, NULL, 1, 0);
  refused("qudaRephase", PLAQ_NULL_POINTER, "gauge");
  free(now), free(host);
}

/* Checks traces, forces and updates of a site array, or of two arrays; with staggered phases too. */
static void check_dynamics(int precision, int phased, int structs, double error) {
  const double coef[3] = {1.25, -0.0625, 0.03125}, eb3 = 0.1, eps = 0.2;
  const size_t bytes = precision == 2 ? 8 : 4, gap = structs ? 24 : 0;
  const size_t size = structs ? 112 * bytes + 3 * gap : 0;
  double *mom = room(40 * (size_t)volume * sizeof *mom), *want = room(40 * (size_t)volume * sizeof *want);
  double *now = room(40 * (size_t)volume * sizeof *now), traces[8], *force[3];
  double *saved = room(72 * (size_t)volume * sizeof *saved), *after = room(72 * (size_t)volume * sizeof *after);
  char *memory = room((size_t)own * (112 * bytes + 3 * gap));
  QudaMILCSiteArg_t arg;
  int loops[4][6] = {{0, 1, 7, 6}, {2, 2, 3, 5, 5, 4}, {0, 2, 3, 7, 5, 4}, {3, 3, 3, 3}}, *list[4];
  const int lengths[4] = {4, 6, 6, global[3]};
  double on_device = 0;
  const double weights[4] = {1, -2, 0.5, 2};
  int i, k, mu, site, end, types;
  const size_t mom_size = structs ? size : 40 * bytes, link_size = structs ? size : 72 * bytes;
  const size_t mom_offset = structs ? gap : 0, link_offset = structs ? 2 * gap + 40 * bytes : 0;
  char *mom_at = memory, *link_at = structs ? memory : memory + (size_t)own * 40 * bytes;
  for (i = 0; i < 3; i++) force[i] = room(40 * (size_t)volume * sizeof **force);
  memset(&arg, 0, sizeof arg);
  arg.site = structs ? memory : NULL;
  arg.link = link_at, arg.mom = mom_at;
  arg.link_offset = link_offset, arg.mom_offset = mom_offset, arg.size = size;
  memcpy(saved, links, 72 * (size_t)volume * sizeof *saved);
  for (i = 0; i < 40 * volume; i++) mom[i] = i % 10 == 9 ? 0 : noise(i, 17);
  for (i = 0; i < 4 * volume; i++) mom[10 * i + 8] = -mom[10 * i + 6] - mom[10 * i + 7];
  scatter_sites(mom_at, precision, mom_size, mom_offset, mom, 40);
  if (phased) staggered_phases();
  scatter_sites(link_at, precision, link_size, link_offset, (double *)links, 72);
  if (phased) staggered_phases();

  /* The antiperiodic sign remains in a loop around the lattice. */
  for (i = 0; i < 4; i++) list[i] = loops[i];
  qudaGaugeLoopTracePhased(precision, traces, list, lengths, weights, 4, 6, 1.0 / volume, &arg, phased);
  done();
  for (i = 0; i < 4; i++) {
    number sum = 0;
    for (site = 0; site < volume; site++) sum += trace(along(site, loops[i], lengths[i], &end));
    if (i == 3 && phased) sum = -sum;
    CLOSE(traces[2 * i], weights[i] * creal(sum) / volume, error);
    CLOSE(traces[2 * i + 1], weights[i] * cimag(sum) / volume, error);
  }

  for (mu = 0; mu < 4; mu++) {
    int paths[MAX_STAPLES][6], kind[MAX_STAPLES], length[MAX_STAPLES];
    const int n = loops_of(mu, paths, kind, length);
    CHECK(n == MAX_STAPLES);
    for (site = 0; site < volume; site += SITES) {
      matrix w[3] = {{{{0}}}};
      for (i = 0; i < n; i++)
        w[kind[i]] = add(w[kind[i]], eb3 * coef[kind[i]], along(site, paths[i], length[i], &end));
      for (i = 0; i < 3; i++) traceless(force[i] + 40 * (size_t)site + 10 * mu, w[i]);
    }
  }
  memcpy(want, mom, 40 * (size_t)volume * sizeof *want);
  for (types = 1; types <= 3; types++) {
    for (i = 0; i < 40 * volume; i++) want[i] -= force[types - 1][i];
    scatter_sites(mom_at, precision, mom_size, mom_offset, mom, 40);
    if (types == 2) {
      /* Momenta stay on the device; the host's array is not written before they are asked for. */
      qudaMomLoad(precision, &arg);
      done();
    }
    if (types == 1) {
      /* Momenta in the host's array. */
      const double action = qudaMomAction(precision, &arg);
      done();
      CLOSE(action, momentum_action(mom), error * volume);
    }
    if (phased) qudaGaugeForcePhased(precision, types, coef, eb3, &arg, 1);
    else qudaGaugeForce(precision, types, coef, eb3, &arg);
    done();
    if (types == 2) {
      gather_sites(now, mom_at, precision, mom_size, mom_offset, 40);
      for (i = 0; i < 40 * volume; i++) CLOSE(now[i], mom[i], error);
      on_device = qudaMomAction(precision, &arg);
      done();
      qudaMomSave(precision, &arg);
      done();
    }
    gather_sites(now, mom_at, precision, mom_size, mom_offset, 40);
    if (types == 2) CLOSE(on_device, momentum_action(now), error * volume);
    for (i = 0; i < 40 * volume; i++)
      if (i % 10 != 9 && i / 40 % SITES == 0) CLOSE(now[i], want[i], 10 * error);
  }

  if (phased) qudaUpdateUPhased(precision, eps, &arg, 1);
  else qudaUpdateU(precision, eps, &arg);
  done();
  if (structs) {
    qudaUpdateUPhasedPipeline(precision, eps, &arg, phased, 1);
    done();
  }
  gather_sites(after, link_at, precision, link_size, link_offset, 72);
  if (phased) staggered_phases();
  for (site = 0; site < volume; site += SITES)
    for (mu = 0; mu < 4; mu++) {
      const size_t at = 4 * (size_t)site + mu;
      const matrix u = mul(exponential(structs ? 2 * eps : eps, want + 10 * at), links[at]);
      for (k = 0; k < 9; k++) {
        CLOSE(after[18 * at + 2 * k], creal(u.e[k / 3][k % 3]), 10 * error);
        CLOSE(after[18 * at + 2 * k + 1], cimag(u.e[k / 3][k % 3]), 10 * error);
      }
    }
  memcpy(links, saved, 72 * (size_t)volume * sizeof *saved);

  /* Arguments that are refused. */
  CHECK(isnan(qudaMomAction(3, &arg)));
  refused("qudaMomAction", PLAQ_INVALID_ARGUMENT, "precision");
  qudaGaugeForce(precision, 4, coef, eb3, &arg);
  refused("qudaGaugeForce", PLAQ_INVALID_ARGUMENT, "num_loop_types");
  qudaMomSave(precision, &arg);
  refused("qudaMomSave", PLAQ_INVALID_ARGUMENT, "qudaMomLoad");
  if (structs) {
    arg.mom_offset = size - 8;
    qudaMomLoad(precision, &arg);
    refused("qudaMomLoad", PLAQ_INVALID_ARGUMENT, "mom_offset");
  }
  for (i = 0; i < 3; i++) free(force[i]);
  free(mom), free(want), free(now), free(saved), free(after), free(memory);
}
