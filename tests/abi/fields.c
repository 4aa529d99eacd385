/* Gauge and spinor fields: shapes, layouts, vector operations, and their misuse. */
#include "lattice.h"

static void gauge_shapes(plaq_context context) {
  plaq_gauge_params p = gauge_params();
  plaq_gauge_report r;
  plaq_gauge gauge = {77}, copy;
  plaq_context none = {0};
  plaq_spinor wrong;
  int i;
  PLAQ_INIT(plaq_heatbath_params, u);
  const int32_t bad[] = {0, -4, 3, 5, INT32_MAX, INT32_MIN, 1 << 20};

  u.beta = 6;
  REFUSED(PLAQ_BAD_EXTENTS, "plaq_gauge_create", plaq_gauge_create(context, NULL, &gauge));
  EXPECT(PLAQ_NULL_POINTER, plaq_gauge_create(context, &p, NULL));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_gauge_create(none, &p, &gauge));
  for (i = 0; i < (int)(sizeof bad / sizeof *bad); i++) {
    p.extents[i % 4] = bad[i];
    EXPECT(PLAQ_BAD_EXTENTS, plaq_gauge_create(context, &p, &gauge));
    p = gauge_params();
  }
  for (i = 0; i < 4; i++) p.extents[i] = 1 << 16;
  EXPECT(PLAQ_BAD_EXTENTS, plaq_gauge_create(context, &p, &gauge));
  for (i = 0; i < 4; i++) p.extents[i] = 210;
  EXPECT(PLAQ_OUT_OF_MEMORY, plaq_gauge_create(context, &p, &gauge));
  p = gauge_params();
  p.precision = 3;
  REFUSED(PLAQ_INVALID_ARGUMENT, "params.precision", plaq_gauge_create(context, &p, &gauge));
  p = gauge_params();
  p.storage = -18;
  REFUSED(PLAQ_INVALID_ARGUMENT, "params.storage", plaq_gauge_create(context, &p, &gauge));
  CHECK(gauge.id == 77);

  p = gauge_params();
  p.precision = PLAQ_PRECISION_SINGLE;
  p.storage = PLAQ_STORAGE_SU3_12;
  OK(plaq_gauge_create(context, &p, &gauge));
  OK(plaq_gauge_report_init(&r, sizeof r));
  OK(plaq_gauge_describe(gauge, &r));
  CHECK(r.extents[3] == LT && r.precision == PLAQ_PRECISION_SINGLE && r.storage == PLAQ_STORAGE_SU3_12);
  CHECK(r.bytes == (int64_t)VOLUME * 4 * 12 * 4);

  /* Messages use the words of the header. */
  REFUSED(PLAQ_UNSUPPORTED, "found single links stored as PLAQ_STORAGE_SU3_12", plaq_gauge_heatbath(gauge, &u, NULL, NULL, NULL));

  /* Fields of other kinds, shapes and contexts are refused. */
  OK(plaq_gauge_copy(gauge, gauge));
  wrong.id = gauge.id;
  REFUSED(PLAQ_INVALID_HANDLE, "plaq_spinor", plaq_spinor_zero(wrong));
  p.storage = PLAQ_STORAGE_SU2;
  OK(plaq_gauge_create(context, &p, &copy));
  EXPECT(PLAQ_FIELD_MISMATCH, plaq_gauge_copy(gauge, copy));
  OK(plaq_gauge_destroy(copy));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_gauge_destroy(copy));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_gauge_describe(copy, &r));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_gauge_copy(gauge, copy));
  none = cpu_context();
  p = gauge_params();
  OK(plaq_gauge_create(none, &p, &copy));
  EXPECT(PLAQ_WRONG_CONTEXT, plaq_gauge_copy(gauge, copy));
  /* Destroying a context destroys its fields. */
  OK(plaq_context_destroy(none));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_gauge_destroy(copy));
  OK(plaq_gauge_destroy(gauge));
}

static void gauge_layouts(plaq_context context) {
  double *links = random_links(), *back = numbers(LINKS), *other = numbers(LINKS);
  plaq_gauge gauge = new_gauge(context, links), narrow;
  plaq_gauge_params p = gauge_params();
  plaq_layout_params layout;
  void *four[4];
  int order, i;

  OK(plaq_gauge_save(gauge, NULL, back));
  CHECK(distance(links, back, LINKS) == 0);
  EXPECT(PLAQ_NULL_POINTER, plaq_gauge_load(gauge, NULL, NULL));
  EXPECT(PLAQ_NULL_POINTER, plaq_gauge_save(gauge, NULL, NULL));

  /* Saved and loaded again in every order whose arrays have the same size. */
  for (order = PLAQ_ORDER_LEXICOGRAPHIC; order <= PLAQ_ORDER_CULGT_TIMESLICE_PARITY; order++) {
    if (order == PLAQ_ORDER_MILC_SITE || order == PLAQ_ORDER_BQCD || order == PLAQ_ORDER_TIFR_PADDED) continue;
    OK(plaq_layout_params_init(&layout, sizeof layout));
    layout.order = order;
    OK(plaq_gauge_load(gauge, NULL, links));
    OK(plaq_gauge_save(gauge, &layout, other));
    CHECK((distance(links, other, LINKS) > 0.1) == (order != PLAQ_ORDER_LEXICOGRAPHIC));
    OK(plaq_gauge_load(gauge, &layout, other));
    OK(plaq_gauge_save(gauge, NULL, back));
    CHECK(distance(links, back, LINKS) == 0);
  }

  /* QDP order: a list of four arrays holds the same numbers as one block. */
  OK(plaq_layout_params_init(&layout, sizeof layout));
  layout.order = PLAQ_ORDER_QDP;
  OK(plaq_gauge_save(gauge, &layout, other));
  layout.arrays = 4;
  for (i = 0; i < 4; i++) four[i] = back + LINKS / 4 * i;
  OK(plaq_gauge_save(gauge, &layout, four));
  CHECK(distance(back, other, LINKS) == 0);
  OK(plaq_gauge_load(gauge, &layout, four));
  four[2] = NULL;
  EXPECT(PLAQ_NULL_POINTER, plaq_gauge_load(gauge, &layout, four));
  layout.arrays = 3;
  REFUSED(PLAQ_BAD_LAYOUT, "layout.arrays", plaq_gauge_load(gauge, &layout, four));
  layout.arrays = -1;
  EXPECT(PLAQ_BAD_LAYOUT, plaq_gauge_load(gauge, &layout, four));

  OK(plaq_layout_params_init(&layout, sizeof layout));
  layout.order = 99;
  REFUSED(PLAQ_INVALID_ARGUMENT, "layout.order", plaq_gauge_load(gauge, &layout, links));
  layout.order = PLAQ_ORDER_MILC_SITE;
  EXPECT(PLAQ_BAD_LAYOUT, plaq_gauge_load(gauge, &layout, links));
  layout.site_bytes = layout.site_offset = INT64_MIN;
  EXPECT(PLAQ_BAD_PARAMETER, plaq_gauge_load(gauge, &layout, links));
  layout.site_bytes = layout.site_offset = 0;
  layout.order = PLAQ_ORDER_MILC;
  layout.precision = PLAQ_PRECISION_HALF;
  EXPECT(PLAQ_BAD_LAYOUT, plaq_gauge_load(gauge, &layout, links));
  layout.precision = PLAQ_PRECISION_DOUBLE;
  layout.location = 5;
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_gauge_load(gauge, &layout, links));
  layout.location = PLAQ_LOCATION_DEVICE;
  EXPECT(PLAQ_BAD_LAYOUT, plaq_gauge_load(gauge, &layout, links));
  layout.location = PLAQ_LOCATION_HOST;
  layout.project = 2;
  EXPECT(PLAQ_BAD_PARAMETER, plaq_gauge_load(gauge, &layout, links));
  layout.project = 0;
  layout.tolerance = NAN;
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_gauge_load(gauge, &layout, links));
  layout.tolerance = 0;
  layout.scale[2] = 0;
  EXPECT(PLAQ_BAD_LAYOUT, plaq_gauge_load(gauge, &layout, links));
  layout.scale[2] = 1;
  layout.boundary[0] = INFINITY;
  EXPECT(PLAQ_BAD_LAYOUT, plaq_gauge_load(gauge, &layout, links));

  /* A link that is not unitary or not a number is named in the message, and nothing changes. */
  OK(plaq_gauge_load(gauge, NULL, links));
  memcpy(other, links, LINKS * sizeof *other);
  other[18 * (4 * 5 + 2)] += 0.1; /* x = 1, y = 1, z = 0, t = 0, direction z */
  REFUSED(PLAQ_NOT_UNITARY, "[1, 1, 0, 0], direction z", plaq_gauge_load(gauge, NULL, other));
  for (i = 0; i < LINKS; i++) other[i] = 3 * links[i];
  OK(plaq_layout_params_init(&layout, sizeof layout));
  layout.tolerance = 1;
  REFUSED(PLAQ_NOT_UNITARY, "violation 26 exceeds 1, ", plaq_gauge_load(gauge, &layout, other));
  other[3] = NAN;
  EXPECT(PLAQ_NOT_FINITE, plaq_gauge_load(gauge, NULL, other));
  OK(plaq_gauge_save(gauge, NULL, back));
  CHECK(distance(links, back, LINKS) == 0);

  /* A host's antiperiodic links are loaded as periodic ones and saved with their sign. */
  memcpy(other, links, LINKS * sizeof *other);
  for (i = 0; i < LX * LY * LZ * 18; i++)
    other[(size_t)(LT - 1) * LX * LY * LZ * 72 + (size_t)(i / 18) * 72 + 54 + i % 18] *= -1;
  OK(plaq_layout_params_init(&layout, sizeof layout));
  layout.boundary[3] = 1;
  EXPECT(PLAQ_NOT_UNITARY, plaq_gauge_load(gauge, NULL, other)); /* det = -1 */
  OK(plaq_gauge_load(gauge, &layout, other));
  OK(plaq_gauge_save(gauge, NULL, back));
  CHECK(distance(links, back, LINKS) == 0);

  /* A copy in another precision and storage. */
  p.precision = PLAQ_PRECISION_SINGLE;
  p.storage = PLAQ_STORAGE_SU3_12;
  OK(plaq_gauge_create(context, &p, &narrow));
  OK(plaq_gauge_copy(gauge, narrow));
  OK(plaq_gauge_save(narrow, NULL, back));
  CHECK(distance(links, back, LINKS) < 4e-7 && distance(links, back, LINKS) > 0);
  OK(plaq_gauge_destroy(narrow));

  OK(plaq_gauge_destroy(gauge));
  free(links);
  free(back);
  free(other);
}

static void spinors(plaq_context context) {
  enum { N = 3 };
  double *values = random_numbers(N * SPINOR), *back = numbers(N * SPINOR), *other = numbers(N * SPINOR);
  plaq_spinor_params p = spinor_params(N);
  plaq_spinor x = new_spinor(context, N, values), y = new_spinor(context, N, NULL), even;
  plaq_spinor_report r;
  plaq_layout_params layout;
  double norms[N], products[2 * N], a[2 * N] = {0}, b[2 * N] = {0}, expected;
  void *lists[N];
  int i, k;

  p.nrhs = 0;
  REFUSED(PLAQ_BAD_PARAMETER, "params.nrhs", plaq_spinor_create(context, &p, &even));
  p.nrhs = INT32_MAX;
  EXPECT(PLAQ_BAD_PARAMETER, plaq_spinor_create(context, &p, &even));
  p = spinor_params(N);
  p.subset = 3;
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_create(context, &p, &even));
  p.subset = PLAQ_SUBSET_EVEN;
  OK(plaq_spinor_create(context, &p, &even));

  OK(plaq_spinor_report_init(&r, sizeof r));
  OK(plaq_spinor_describe(even, &r));
  CHECK(r.nrhs == N && r.subset == PLAQ_SUBSET_EVEN && r.bytes == (int64_t)N * SPINOR / 2 * 8);

  OK(plaq_spinor_norm2(x, norms, N));
  for (k = 0; k < N; k++) {
    for (expected = 0, i = 0; i < SPINOR; i++) expected += pow(values[k * SPINOR + i], 2);
    CHECK(fabs(norms[k] - expected) < 1e-12 * expected);
  }
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_norm2(x, norms, N + 1));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_norm2(x, norms, -1));
  EXPECT(PLAQ_NULL_POINTER, plaq_spinor_norm2(x, NULL, N));
  EXPECT(PLAQ_NULL_POINTER, plaq_spinor_axpby(NULL, x, b, y, N));
  EXPECT(PLAQ_BUSY, plaq_spinor_axpby(a, x, b, x, N));
  EXPECT(PLAQ_BUSY, plaq_spinor_copy(x, x));
  EXPECT(PLAQ_FIELD_MISMATCH, plaq_spinor_copy(x, even));

  /* y = i x, y = 2 x + 3 y, and products of the two. */
  for (k = 0; k < N; k++) a[2 * k + 1] = 1;
  OK(plaq_spinor_axpby(a, x, b, y, N));
  OK(plaq_spinor_dot(x, y, products, N));
  for (k = 0; k < N; k++) {
    CHECK(fabs(products[2 * k]) < 1e-12 * norms[k] && fabs(products[2 * k + 1] - norms[k]) < 1e-12 * norms[k]);
    a[2 * k] = 2, a[2 * k + 1] = 0, b[2 * k] = 3;
  }
  OK(plaq_spinor_axpby(a, x, b, y, N));
  OK(plaq_spinor_dot(x, y, products, N));
  for (k = 0; k < N; k++) CHECK(fabs(products[2 * k + 1] / products[2 * k] - 1.5) < 1e-12);

  /* Layouts with all right-hand sides in one array, or with one array for each. */
  OK(plaq_layout_params_init(&layout, sizeof layout));
  layout.order = PLAQ_ORDER_MILC;
  layout.basis = PLAQ_BASIS_CHIRAL;
  OK(plaq_spinor_save(x, &layout, other));
  CHECK(distance(values, other, N * SPINOR) > 0.1);
  layout.arrays = N;
  for (k = 0; k < N; k++) lists[k] = back + (size_t)k * SPINOR;
  OK(plaq_spinor_save(x, &layout, lists));
  CHECK(distance(back, other, N * SPINOR) == 0);
  OK(plaq_spinor_load(y, &layout, lists));
  OK(plaq_spinor_save(y, NULL, back));
  CHECK(distance(values, back, N * SPINOR) < 1e-15);
  layout.order = PLAQ_ORDER_BQCD;
  EXPECT(PLAQ_BAD_LAYOUT, plaq_spinor_save(x, &layout, lists));
  layout.order = PLAQ_ORDER_MILC;
  layout.basis = -1;
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_spinor_save(x, &layout, lists));
  other[0] = INFINITY;
  EXPECT(PLAQ_NOT_FINITE, plaq_spinor_load(y, NULL, other));
  EXPECT(PLAQ_NULL_POINTER, plaq_spinor_load(y, NULL, NULL));
  OK(plaq_spinor_zero(y));
  OK(plaq_spinor_norm2(y, norms, N));
  CHECK(norms[0] == 0 && norms[N - 1] == 0);

  OK(plaq_spinor_destroy(even));
  OK(plaq_spinor_destroy(x));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_spinor_norm2(x, norms, N));
  OK(plaq_spinor_destroy(y));
  free(values);
  free(back);
  free(other);
}

/* Sizes of spinors and clover terms on the lattice of a gauge field. */
static void lattices_of_links(plaq_context context) {
  plaq_context other = cpu_context();
  double *links = random_links();
  plaq_gauge gauge = new_gauge(context, links), foreign = new_gauge(other, links);
  plaq_spinor psi = {77};
  plaq_clover clover = {77};
  int mu;
  PLAQ_INIT(plaq_spinor_params, p);
  PLAQ_INIT(plaq_clover_params, c);
  PLAQ_INIT(plaq_spinor_report, r);

  CHECK(p.struct_size == sizeof p && p.gauge.id == 0 && c.gauge.id == 0);
  EXPECT(PLAQ_BAD_EXTENTS, plaq_spinor_create(context, &p, &psi));
  EXPECT(PLAQ_BAD_EXTENTS, plaq_clover_create(context, &c, &clover));
  p.gauge = c.gauge = gauge;
  OK(plaq_spinor_create(context, &p, &psi));
  OK(plaq_spinor_describe(psi, &r));
  CHECK(r.extents[0] == LX && r.extents[1] == LY && r.extents[2] == LZ && r.extents[3] == LT);
  OK(plaq_spinor_destroy(psi));
  OK(plaq_clover_create(context, &c, &clover));
  OK(plaq_clover_destroy(clover));
  for (mu = 0; mu < 4; mu++) p.extents[mu] = c.extents[mu] = r.extents[mu];
  OK(plaq_spinor_create(context, &p, &psi));
  OK(plaq_spinor_destroy(psi));

  psi.id = clover.id = 77;
  p.extents[3] = c.extents[3] = 2 * LT;
  REFUSED(PLAQ_BAD_EXTENTS, "params.gauge", plaq_spinor_create(context, &p, &psi));
  REFUSED(PLAQ_BAD_EXTENTS, "params.gauge", plaq_clover_create(context, &c, &clover));
  p.extents[3] = c.extents[3] = LT;
  p.gauge = c.gauge = foreign;
  REFUSED(PLAQ_WRONG_CONTEXT, "params.gauge", plaq_spinor_create(context, &p, &psi));
  REFUSED(PLAQ_WRONG_CONTEXT, "params.gauge", plaq_clover_create(context, &c, &clover));
  OK(plaq_gauge_destroy(foreign));
  REFUSED(PLAQ_INVALID_HANDLE, "params.gauge", plaq_spinor_create(context, &p, &psi));
  REFUSED(PLAQ_INVALID_HANDLE, "params.gauge", plaq_clover_create(context, &c, &clover));
  /* A host that was compiled before the member existed. */
  p.struct_size = (int64_t)((const char *)&p.gauge - (const char *)&p);
  OK(plaq_spinor_create(context, &p, &psi));
  OK(plaq_spinor_destroy(psi));
  CHECK(clover.id == 77);
  OK(plaq_context_destroy(other));
  OK(plaq_gauge_destroy(gauge));
  free(links);
}

/* A host that wants the fixed links alone need not take the transformation. */
static void fixed_links(plaq_context context) {
  double *links = random_links();
  plaq_gauge a = new_gauge(context, links), b = new_gauge(context, links);
  plaq_gaugefix result = {0};
  plaq_plaquette before, after;
  PLAQ_INIT(plaq_gaugefix_params, p);
  PLAQ_INIT(plaq_gaugefix_report, with);
  PLAQ_INIT(plaq_gaugefix_report, without);
  p.max_iterations = 20;
  p.check_every = 20;
  OK(plaq_gauge_plaquette(a, &before));
  OK(plaq_gauge_fix(a, &p, NULL, NULL, &with, &result));
  OK(plaq_gauge_fix(b, &p, NULL, NULL, &without, NULL));
  CHECK(result.id != 0 && with.iterations == 20 && without.iterations == 20);
  CHECK(with.functional == without.functional && with.theta == without.theta);
  OK(plaq_gauge_plaquette(b, &after));
  CHECK(fabs(after.total - before.total) < 1e-5 && after.link_trace > before.link_trace + 0.1);
  OK(plaq_gaugefix_destroy(result));
  OK(plaq_gauge_destroy(a));
  OK(plaq_gauge_destroy(b));
  free(links);
}

int main(void) {
  plaq_context context = cpu_context();
  gauge_shapes(context);
  gauge_layouts(context);
  spinors(context);
  lattices_of_links(context);
  fixed_links(context);
  OK(plaq_context_destroy(context));
  return 0;
}
