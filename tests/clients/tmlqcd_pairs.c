/* tmLQCD's inputs, one by one: its configurations, its calls with the values of the input, and its numbers as its own solvers,
 * forces and flow give them. Propagators have its normalisation: 2 kappa times the solution. */
#include "tmlqcd.h"

enum { SIX = 6, MOMENTS = 26 };

/* Numbers of a vector: |x|^2, the first six reals in the order of a file (x fastest, then y, z, t), and six reals from
 * its middle on. */
typedef struct {
  double norm, first[SIX], middle[SIX];
} vector_numbers;

typedef struct {
  const char *name;
  /* Extent in space: 8 for a lattice of 8^4, 4 for one of 4^3 x 8. */
  int extent, flavours, clover;
  double kappa, mu, epsilon, csw; /* mu and epsilon times 2 kappa */
  QudaInverterType solver;
  int even_odd, count;
  /* tmLQCD's results for up and down quark; or for two flavours, from the second to itself and to the first, and from
   * the first likewise. */
  vector_numbers expected[4];
} propagator_pair;

static const propagator_pair PROPAGATORS[] = {
    {"inv-wilson", 8, 1, 0, 0.15, 0, 0, 0, QUDA_CG_INVERTER, 1, 1,
     {{0.148616499311,
       {0.272103051047, 0, 0.00100559757037, 0.00169755896382, -0.000457865098958, -0.000981488846499},
       {0.00189065922489, 0.000182621888959, 0.000760398563068, 0.000104734529468, 6.25883736038e-05, -0.000419601882857}}}},
    {"inv-clover", 8, 1, 1, 0.132, 0, 0, 1.5, QUDA_CG_INVERTER, 1, 1,
     {{0.124872639555,
       {0.260346962574, 0, -0.00776283464764, 0.00501332402337, -0.00826557887605, -0.00172470402388},
       {0.00113081248579, 7.99614923264e-05, 0.00043243625108, -9.58110437409e-05, 5.48083934934e-05, -0.000408066386502}}}},
    {"inv-tm", 8, 1, 0, 0.155, 0.03, 0, 0, QUDA_CG_INVERTER, 1, 2,
     {{0.16095834469,
       {0.274252923552, -0.0155766140022, 0.00119626018502, 0.00220279133748, -8.4437062812e-05, -0.000716078364993},
       {0.00201675955004, -0.0004424237904, 0.00091329027207, 0.000152621107316, 5.01571742184e-05, -0.0003256176929}},
      {0.16095834469,
       {0.274252923552, 0.0155766140023, 0.00135496237673, 0.00203745936686, -0.000130863165245, -0.00196820853145},
       {0.00173302220205, 0.000728092210403, 0.000942942449389, 0.000304709816315, 0.000352847404865, -0.000534624886516}}}},
    {"inv-tmclover", 8, 1, 1, 0.135, 0.02, 0, 1.3, QUDA_CG_INVERTER, 1, 2,
     {{0.128111919794,
       {0.26270346878, -0.00948977183659, -0.00648658921092, 0.0051685382628, -0.00728712569633, -0.00102689037912},
       {0.00119376245803, -0.000236385475016, 0.000435619444524, -8.32427242302e-05, -1.07366667969e-05, -0.000328470201839}},
      {0.128111919794,
       {0.26270346878, 0.00948977183657, -0.00683921430862, 0.00422316524448, -0.00736605918316, -0.0024287556843},
       {0.00102386867088, 0.000358141418446, 0.000554546692159, -4.32722478093e-05, 0.000229872845316, -0.000403586964306}}}},
    {"inv-tmclover-mg", 8, 1, 1, 0.138, 0.01, 0, 1.3, QUDA_GCR_INVERTER, 1, 2,
     {{0.141714759624,
       {0.265530382696, -0.0051345927399, -0.00696998416089, 0.00533816732258, -0.00754683765287, -0.00151539053967},
       {0.00118697214286, -0.000414173088995, 0.000496710712534, 8.41146192248e-05, -0.000111382437871, -0.000176136097471}},
      {0.141714759625,
       {0.265530382696, 0.00513459273989, -0.00680126791684, 0.00472633221464, -0.00736994477264, -0.00264197845414},
       {0.00113709136099, 0.000519953030017, 0.000631556864913, 4.09271699945e-05, 0.000330103244965, -0.000497282560359}}}},
    {"inv-ndtm", 8, 1, 0, 0.15, 0.08, 0, 0, QUDA_CG_INVERTER, 1, 1,
     {{0.139116275242,
       {0.267706672984, -0.0370976733979, 0.0008890788707, 0.00191513035207, 2.64521258513e-06, -0.000268506646673},
       {0.00154222422876, -0.000493055527794, 0.000698869281487, -8.76820774427e-05, 1.08852486573e-05, -0.000280532938007}}}},
    {"inv-ndtm, doublet", 8, 2, 0, 0.15, 0.08, 0.06, 0, QUDA_CG_INVERTER, 1, 4,
     {{0.156715008906,
       {0.274531460468, 0, 0.0014464782323, 0.00227065744259, -9.76727707618e-05, -0.00143623487013},
       {0.00185964792245, 6.7543752832e-05, 0.00088464942334, 0.000147204184281, 0.000235036641943, -0.000475294665978}},
      {0.00633693716725,
       {-0.000102861714616, -0.0363338986289, 4.8672026058e-05, 0.000185933791587, -1.34086746944e-05, 0.000726576687496},
       {0.00012142024286, -0.000587026566526, 3.98193781963e-05, -0.000127410713483, -0.000100932348938, 0.000152046334172}},
      {0.00703523967747,
       {0.000102861715035, -0.0363338986297, 5.55991964259e-06, 0.000348880400939, 6.06761822682e-05, 0.000624520087872},
       {0.000243756147916, -0.000576623459692, -4.25238025967e-05, -0.000216188223839, -8.92474487869e-05, 1.71397873268e-05}},
      {0.114007621598,
       {0.259182796797, 0, 0.000564731847567, 0.00109151136239, -1.09664148977e-05, -0.000654310886877},
       {0.00094901304319, -3.405291834e-05, 0.000566524402559, 4.6735583756e-05, 4.60040905276e-05, -0.000342328626626}}}},
    {"inv-tmclover-noeo", 4, 1, 1, 0.135, 0.02, 0, 1.3, QUDA_CG_INVERTER, 0, 1,
     {{0.102701193226,
       {0.241271947219, -0.00760749579417, 0.00660489617493, 0.000744841959493, 0.00763479615356, -0.00079558342949},
       {-0.00049131083459, 0.000164381878697, -0.000120348537533, -0.000305651453577, 0.000930540150433, -0.00144883815649}}}},
};

/* tmLQCD's mean plaquette and E of the clover leaves at flow times t = 0.02, 0.06 and so on, with steps of 0.02. */
static const double FLOW[MOMENTS][2] = {
    {0.69131940273, 2.04076847192}, {0.77772271459, 1.80943345999}, {0.839317042953, 1.56560769777},
    {0.882227840593, 1.33931469614}, {0.911991048866, 1.14353429716}, {0.932770545085, 0.980405570776},
    {0.947461306372, 0.846923079092}, {0.958012077599, 0.738385866135}, {0.965721839144, 0.650057042224},
    {0.971457658634, 0.577803912106}, {0.975802455092, 0.518250193403}, {0.979152174611, 0.468726543091},
    {0.981779036562, 0.427155691893}, {0.983872664384, 0.391930964932}, {0.985566951735, 0.361809954015},
    {0.986957744282, 0.335828660509}, {0.988114588829, 0.313234885798}, {0.989088625118, 0.293437594474},
    {0.989917947763, 0.27596878494}, {0.990631292169, 0.260454868198}, {0.991250598121, 0.24659516671},
    {0.991792813429, 0.234145708759}, {0.992271177275, 0.22290695394}, {0.992696143425, 0.212714440694},
    {0.993076051469, 0.203431613098}, {0.993417619926, 0.194944280685},
};

typedef struct {
  const char *name;
  double beta, c1, mean, largest;
} gauge_pair;

/* Squared moduli of the forces of links. */
static const gauge_pair GAUGE[] = {
    {"hmc-gauge-iwasaki", 2.4, -0.331, 150.996719, 510.86821},
    {"hmc-gauge-wilson", 5.6, 0, 93.100022, 290.900711},
    {"of the others", 5.8, 0, 99.8687736, 312.05038},
};

/* ---- propagators and the flow ---- */

/* Applies (1 + sign i tau2) / sqrt(2) to two flavours. */
static void turn(spinor *v, int sign) {
  int i;
  for (i = 0; i < 12 * volume && form.flavours == 2; i++) {
    const number up = *at(v, i), down = *at(v, i + 12 * volume);
    *at(v, i) = (up + sign * down) / sqrt(2), *at(v, i + 12 * volume) = (down - sign * up) / sqrt(2);
  }
}

static void compare(const char *name, const spinor *x, const vector_numbers *expected) {
  const double *real = (const double *)x;
  double norm = 0, largest = 0, off = 0;
  int i;
  for (i = 0; i < 24 * volume; i++) norm += real[i] * real[i];
  for (i = 0; i < SIX; i++) {
    largest = fmax(largest, fmax(fabs(expected->first[i]), fabs(expected->middle[i])));
    off = fmax(off, fabs(real[i] - expected->first[i]));
    off = fmax(off, fabs(real[12 * volume + i] - expected->middle[i]));
  }
  printf("%s: %.1e %.1e\n", name, off / largest, fabs(norm / expected->norm - 1));
  CLOSE(norm, expected->norm, 1e-8 * expected->norm);
  CLOSE(off, 0, 1e-8 * largest);
}

static void propagator(const propagator_pair *q) {
  double *in = room(q->flavours * (size_t)own * sizeof(spinor)), *out = room(q->flavours * (size_t)own * sizeof(spinor));
  spinor *v = vector();
  QudaInvertParam p, inner;
  QudaMultigridParam levels;
  void *made = NULL;
  const int block[4] = {4, 4, 4, ranks[3] > 1 ? 2 : 4};
  int n, f, i;
  form.kappa = q->kappa, form.csw = q->csw;
  for (n = 0; n < q->count; n += q->flavours) {
    /* mu of the library has the opposite sign. */
    use(q->flavours, (q->flavours == 1 && n ? 1 : -1) * q->mu / (2 * q->kappa), q->epsilon / (2 * q->kappa), 0, q->clover);
    p = invert_param(q->solver, WHOLE);
    p.tol = 1e-9, p.maxiter = 5000;
    if (!q->even_odd) p.solve_type = QUDA_NORMOP_SOLVE;
    if (q->solver == QUDA_GCR_INVERTER) {
      if (!made) {
        set_levels(&levels, &inner, block, 24);
        made = newMultigridQuda(&levels), fine();
      } else {
        inner.mu = form.mu;
        updateMultigridQuda(made, &levels), fine();
      }
      p.inv_type_precondition = QUDA_MG_INVERTER, p.maxiter_precondition = 1, p.preconditioner = made;
    }
    memset(v, 0, q->flavours * (size_t)volume * sizeof *v);
    v[q->flavours == 2 && n == 0 ? volume : 0].d[0][0] = 1;
    turn(v, 1);
    set_vector(in, v, WHOLE, 0);
    invertQuda(out, in, &p), fine();
    CHECK(p.iter > 0 && p.iter < p.maxiter);
    get_vector(v, out, WHOLE, 0);
    turn(v, -1);
    for (i = 0; i < entries(); i++) *at(v, i) *= 2 * q->kappa;
    for (f = 0; f < q->flavours; f++) compare(q->name, v + (q->flavours - 1 - f) * volume, &q->expected[n + f]);
  }
  if (made) destroyMultigridQuda(made), fine();
  free(in), free(out), free(v);
}

static void flow(void) {
  enum { STEPS = 53 };
  QudaGaugeSmearParam p = newQudaGaugeSmearParam();
  QudaGaugeObservableParam found[STEPS + 1];
  int i;
  p.smear_type = QUDA_GAUGE_SMEAR_WILSON_FLOW, p.n_steps = STEPS, p.epsilon = 0.02, p.meas_interval = 1;
  for (i = 0; i <= STEPS; i++) {
    found[i] = newQudaGaugeObservableParam();
    found[i].compute_plaquette = found[i].compute_qcharge = found[i].su_project = QUDA_BOOLEAN_TRUE;
  }
  performWFlowQuda(&p, found), fine();
  for (i = 0; i < MOMENTS; i++) {
    CLOSE(found[2 * i + 1].plaquette[0], FLOW[i][0], 1e-11);
    CLOSE(found[2 * i + 1].energy[0], FLOW[i][1], 1e-11);
  }
}

/* ---- what trajectories need of random numbers nothing ---- */

static void gauge_force(const gauge_pair *q) {
  double *ten = room(40 * (size_t)volume * sizeof *ten), sum = 0, largest = 0;
  int i;
  gauge_force_of(ten, q->beta, q->c1, q->c1 == 0 ? 6 : STAPLES);
  for (i = 0; i < 4 * volume; i++) {
    const matrix force = of_ten(ten + 10 * (size_t)i);
    const double square = 0.5 * creal(trace(mul(dagger(force), force)));
    sum += square, largest = fmax(largest, square);
  }
  CLOSE(sum / (4 * volume), q->mean, 1e-8 * q->mean);
  CLOSE(largest, q->largest, 1e-8 * q->largest);
  free(ten);
}

/* The smallest and the largest eigenvalue of P P^dagger of the doublet. */
static void eigenvalues(void) {
  const double expected[2] = {0.001374888, 0.5161191}, largest = 4;
  int end;
  form.kappa = 0.15;
  use(2, -0.08 / 0.3, 0.06 / 0.3, 0, 0);
  for (end = 0; end < 2; end++) {
    QudaInvertParam p = invert_param(QUDA_CG_INVERTER, ODD);
    QudaEigParam eig = eigen_param(&p, end);
    double _Complex found;
    eig.tol = eig.qr_tol = 1e-5, eig.n_kr = 96, eig.poly_deg = 128, eig.a_min = 0.001, eig.a_max = 4;
    eigensolveQuda(NULL, &found, &eig), fine();
    CLOSE(creal(found) / largest, expected[end], 1e-6 * expected[end]);
  }
}

int main(int argc, char **argv) {
  size_t i;
  join(&argc, &argv);
  open_lattice(8);
  for (i = 0; i < COUNT(PROPAGATORS); i++)
    if (PROPAGATORS[i].extent == 8) propagator(&PROPAGATORS[i]);
  flow();
  close_lattice();
  open_lattice(4);
  for (i = 0; i < COUNT(GAUGE); i++) gauge_force(&GAUGE[i]);
  eigenvalues();
  for (i = 0; i < COUNT(PROPAGATORS); i++)
    if (PROPAGATORS[i].extent == 4) propagator(&PROPAGATORS[i]);
  close_lattice();
  leave();
  return 0;
}
