/* What `propagator` solves for and contracts: lists of sources and momenta, smearing, correlators. */
#ifndef HADRONS_H
#define HADRONS_H

#include "example.h"

enum { COLUMNS = 12, GAMMAS = 16, BARYONS = 8, MOST = 64 };

static const choice NOISES[] = {{"none", PLAQ_SOURCE_NOISE_NONE},
                                {"z2", PLAQ_SOURCE_NOISE_Z2},
                                {"z4", PLAQ_SOURCE_NOISE_Z4},
                                {NULL, 0}};
static const choice KINDS[] = {
    {"point", PLAQ_SOURCE_POINT}, {"wall", PLAQ_SOURCE_WALL}, {"volume", PLAQ_SOURCE_VOLUME}, {NULL, 0}};
static const choice NAMES[] = {{"nucleon", PLAQ_BARYON_NUCLEON},
                               {"sigma", PLAQ_BARYON_SIGMA},
                               {"xi", PLAQ_BARYON_XI},
                               {"lambda", PLAQ_BARYON_LAMBDA},
                               {"delta", PLAQ_BARYON_DELTA},
                               {"sigma_star", PLAQ_BARYON_SIGMA_STAR},
                               {"xi_star", PLAQ_BARYON_XI_STAR},
                               {"omega", PLAQ_BARYON_OMEGA},
                               {NULL, 0}};
/* Quark and antiquark of a meson: light or strange. */
static const char *const PAIRS[] = {"ll", "ls", "ss"};

/* A smearing, left out where steps is 0. */
typedef struct smearing {
  double alpha;
  int32_t steps;
} smearing;

/* Correlators over the time from the source, (re, im), averages over the sources. */
typedef struct hadrons {
  int quarks, times, momenta, sources;
  int32_t momentum[3 * MOST];
  int baryon_count;
  int32_t baryon[BARYONS]; /* plaq_baryon */
  double *mesons;  /* [pair][momentum][gamma][t] */
  double *baryons; /* [momentum][baryon][t]; NULL: none */
  double *work;
} hadrons;

/* The part of a list up to the next colon, into `item`; the rest, NULL at the end. */
static inline const char *next_item(const char *option_name, const char *list, char *item, size_t room) {
  size_t n = strcspn(list, ":");
  if (n == 0 || n >= room) usage_error(option_name, list);
  memcpy(item, list, n);
  item[n] = 0;
  return list[n] ? list + n + 1 : NULL;
}

static inline void signed_integers(const char *option_name, const char *text, int32_t *to, int count) {
  const char *at = text;
  int i;
  for (i = 0; i < count; i++) {
    char *end;
    long value = strtol(at, &end, 10);
    if (end == at || labs(value) > 65536 || *end != (i + 1 < count ? ',' : 0)) usage_error(option_name, text);
    to[i] = (int32_t)value;
    at = end + 1;
  }
}

/* "alpha,steps", or "" for none. */
static inline smearing smearing_option(const char *option_name, const char *text) {
  smearing s = {0, 0};
  char *end;
  if (!*text) return s;
  s.alpha = strtod(text, &end);
  if (end == text || *end != ',' || !(s.alpha >= 0)) usage_error(option_name, text);
  integers(option_name, end + 1, &s.steps, 1);
  return s;
}

/* Sources "point,x,y,z,t" and "wall,t", separated by colons; momentum and noise are the same for all. */
static inline int source_list(int argc, char **argv, plaq_source_params *sources) {
  const char *rest = option(argc, argv, "--source", "point,0,0,0,0");
  int32_t momentum[3], noise = choose(argc, argv, "--noise", "none", NOISES);
  int64_t seed = integer(argc, argv, "--seed", "0");
  int count = 0;
  signed_integers("--source-momentum", option(argc, argv, "--source-momentum", "0,0,0"), momentum, 3);
  while (rest) {
    char item[80];
    plaq_source_params *p = sources + count;
    if (count++ == MOST) usage_error("--source", "at most 64");
    rest = next_item("--source", rest, item, sizeof item);
    OK(plaq_source_params_init(p, sizeof *p));
    if (!strncmp(item, "point,", 6)) {
      p->kind = PLAQ_SOURCE_POINT;
      integers("--source", item + 6, p->position, 4);
    } else if (!strncmp(item, "wall,", 5)) {
      p->kind = PLAQ_SOURCE_WALL;
      integers("--source", item + 5, p->position + 3, 1);
    } else {
      usage_error("--source", item);
    }
    memcpy(p->momentum, momentum, sizeof momentum);
    p->noise = noise;
    p->seed = seed;
    /* Twelve columns that share their numbers: contracted as a propagator. */
    if (noise) p->dilute = PLAQ_DILUTE_SPIN + PLAQ_DILUTE_COLOUR;
  }
  return count;
}

static inline void momentum_list(const char *rest, hadrons *h) {
  h->momenta = 0;
  while (rest) {
    char item[80];
    if (h->momenta == MOST) usage_error("--momenta", "at most 64");
    rest = next_item("--momenta", rest, item, sizeof item);
    signed_integers("--momenta", item, h->momentum + 3 * h->momenta++, 3);
  }
}

/* Names separated by commas, or all, or none. */
static inline void baryon_list(const char *rest, hadrons *h) {
  int k;
  h->baryon_count = 0;
  if (!strcmp(rest, "none")) return;
  if (!strcmp(rest, "all")) {
    for (k = 0; k < BARYONS; k++) h->baryon[h->baryon_count++] = k;
    return;
  }
  while (rest) {
    size_t n = strcspn(rest, ",");
    for (k = 0; k < BARYONS; k++)
      if (strlen(NAMES[k].name) == n && !strncmp(NAMES[k].name, rest, n)) break;
    if (k == BARYONS || h->baryon_count == BARYONS) {
      fprintf(stderr, "--baryons: %s; expected all, none or names of", rest);
      for (k = 0; k < BARYONS; k++) fprintf(stderr, "%s %s", k ? "," : "", NAMES[k].name);
      fprintf(stderr, "; --help lists the options\n");
      exit(2);
    }
    h->baryon[h->baryon_count++] = NAMES[k].value;
    rest = rest[n] ? rest + n + 1 : NULL;
  }
}

static inline size_t meson_numbers(const hadrons *h) { return (size_t)2 * h->momenta * GAMMAS * h->times; }
static inline size_t baryon_numbers(const hadrons *h) { return (size_t)2 * h->momenta * h->baryon_count * h->times; }

static inline void start_hadrons(hadrons *h, int quarks, int times) {
  size_t pairs = quarks == 2 ? 3 : 1;
  h->quarks = quarks;
  h->times = times;
  h->mesons = calloc(pairs * meson_numbers(h), sizeof(double));
  h->baryons = h->baryon_count ? calloc(baryon_numbers(h), sizeof(double)) : NULL;
  h->work = malloc(meson_numbers(h) * sizeof(double));
  if (!h->mesons || (h->baryon_count && !h->baryons) || !h->work) usage_error("memory", "exhausted");
}

static inline void end_hadrons(hadrons *h) {
  free(h->mesons);
  free(h->baryons);
  free(h->work);
}

/* Adds the correlators of one source; quark[1] is the strange one where there are two. */
static inline void add_hadrons(hadrons *h, const plaq_spinor *quark, const plaq_source_params *source, double boundary) {
  static const int first[] = {0, 0, 1}, second[] = {0, 1, 1};
  int32_t gammas[2 * GAMMAS];
  plaq_contract_params p;
  int k, pair;
  size_t i;
  OK(plaq_contract_params_init(&p, sizeof p));
  memcpy(p.position, source->position, sizeof p.position);
  p.boundary = boundary;
  for (k = 0; k < GAMMAS; k++) gammas[2 * k] = gammas[2 * k + 1] = k;
  for (pair = 0; pair < (h->quarks == 2 ? 3 : 1); pair++) {
    double *to = h->mesons + (size_t)pair * meson_numbers(h);
    OK(plaq_contract_mesons(quark[first[pair]], quark[second[pair]], &p, gammas, GAMMAS, h->momentum, h->momenta, h->times,
                            h->work));
    for (i = 0; i < meson_numbers(h); i++) to[i] += h->work[i];
  }
  if (h->baryons) {
    /* Without a strange quark all are light. */
    OK(plaq_contract_baryons(quark[0], quark[h->quarks - 1], &p, h->baryon, h->baryon_count, h->momentum, h->momenta, h->times,
                             h->work));
    for (i = 0; i < baryon_numbers(h); i++) h->baryons[i] += h->work[i];
  }
  h->sources++;
}

/* Sums to averages. */
static inline void average_hadrons(hadrons *h) {
  size_t i, pairs = h->quarks == 2 ? 3 : 1;
  for (i = 0; i < pairs * meson_numbers(h); i++) h->mesons[i] /= h->sources;
  for (i = 0; h->baryons && i < baryon_numbers(h); i++) h->baryons[i] /= h->sources;
}

/* Real part of a meson of a pair at the first momentum, and of a baryon; NaN where there is none. */
static inline double meson_at(const hadrons *h, int pair, int gamma, int t) {
  return h->mesons[(size_t)pair * meson_numbers(h) + 2 * ((size_t)gamma * h->times + t)];
}
static inline double baryon_at(const hadrons *h, int name, int t) {
  int k;
  for (k = 0; k < h->baryon_count; k++)
    if (h->baryon[k] == name) return h->baryons[2 * ((size_t)k * h->times + t)];
  return NAN;
}

static inline void json_numbers(FILE *f, const char *name, const double *values, int count, int step) {
  int i;
  fprintf(f, "\"%s\": [", name);
  for (i = 0; i < count; i++) {
    if (isfinite(values[step * i])) fprintf(f, "%s%.17g", i ? ", " : "", values[step * i]);
    else fprintf(f, "%snull", i ? ", " : "");
  }
  fprintf(f, "]");
}

/* Members "momenta", "mesons" and "baryons" of a JSON object. */
static inline void json_hadrons(FILE *f, const hadrons *h) {
  int m, k, pair, n = h->times;
  const char *comma = "";
  fprintf(f, "  \"mesons\": [");
  for (pair = 0; pair < (h->quarks == 2 ? 3 : 1); pair++)
    for (m = 0; m < h->momenta; m++)
      for (k = 0; k < GAMMAS; k++, comma = ",") {
        const int32_t *p = h->momentum + 3 * m;
        const double *c = h->mesons + pair * meson_numbers(h) + 2 * ((size_t)(m * GAMMAS + k) * n);
        fprintf(f, "%s\n    {\"quarks\": \"%s\", \"momentum\": [%d, %d, %d], \"gamma\": %d, ", comma, PAIRS[pair], p[0], p[1],
                p[2], k);
        json_numbers(f, "re", c, n, 2);
        fprintf(f, ", ");
        json_numbers(f, "im", c + 1, n, 2);
        fprintf(f, "}");
      }
  fprintf(f, "\n  ],\n  \"baryons\": [");
  comma = "";
  for (m = 0; h->baryons && m < h->momenta; m++)
    for (k = 0; k < h->baryon_count; k++, comma = ",") {
      const int32_t *p = h->momentum + 3 * m;
      const double *c = h->baryons + 2 * ((size_t)(m * h->baryon_count + k) * n);
      fprintf(f, "%s\n    {\"name\": \"%s\", \"momentum\": [%d, %d, %d], ", comma, name_of(h->baryon[k], NAMES), p[0], p[1], p[2]);
      json_numbers(f, "re", c, n, 2);
      fprintf(f, ", ");
      json_numbers(f, "im", c + 1, n, 2);
      fprintf(f, "}");
    }
  fprintf(f, "\n  ],\n");
}

#endif
