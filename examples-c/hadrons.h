/* What `propagator` solves for and contracts: lists of sources and momenta, smearing, correlators. */
#ifndef HADRONS_H
#define HADRONS_H

#include "example.h"

enum { COLUMNS = 12, GAMMAS = 16, BARYONS = 8, MOST = 256 };

static const choice NOISES[] = {{"none", PLAQ_SOURCE_NOISE_NONE},
                                {"z2", PLAQ_SOURCE_NOISE_Z2},
                                {"z4", PLAQ_SOURCE_NOISE_Z4},
                                {NULL, 0}};
static const choice KINDS[] = {{"point", 0}, {"wall", 1}, {"volume", 2}, {NULL, 0}};
static const char SOURCES[] = "point wall volume";
static const choice DILUTIONS[] = {{"spin", PLAQ_DILUTE_SPIN},
                                   {"colour", PLAQ_DILUTE_COLOUR},
                                   {"time", PLAQ_DILUTE_TIME},
                                   {"parity", PLAQ_DILUTE_PARITY},
                                   {NULL, 0}};
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

/* Which correlators over the time from the source there are: numbers (re, im) of mesons
 * [pair][momentum][gamma][t], then of baryons [momentum][baryon][t]. */
typedef struct hadrons {
  int quarks, times, momenta; /* quarks: with a sequential propagator, which takes the strange one's place, 2 */
  int sequential;
  plaq_sequential_params sequence;
  int32_t momentum[3 * MOST];
  int baryon_count;
  int32_t baryon[BARYONS]; /* plaq_baryon */
} hadrons;

/* The part of a list up to the next colon, into `item`; the rest, NULL at the end. */
static inline const char *next_item(const char *option_name, const char *list, char *item, size_t room) {
  size_t n = strcspn(list, ":");
  if (n == 0 || n >= room) refuse(option_name, list, "a short text between two colons");
  memcpy(item, list, n);
  item[n] = 0;
  return list[n] ? list + n + 1 : NULL;
}

/* "alpha,steps", or "" for none. */
static inline smearing smearing_option(const char *option_name, const char *text) {
  smearing s = {0, 0};
  char *end;
  if (!*text) return s;
  s.alpha = strtod(text, &end);
  if (end == text || *end != ',' || !(s.alpha >= 0)) refuse(option_name, text, "a weight and a number of steps, e.g. 0.3,20");
  integers(option_name, end + 1, &s.steps, 1);
  return s;
}

/* PLAQ_DILUTE_ bits of names with commas between; twelve columns that share their numbers are contracted as a propagator. */
static inline int32_t dilution(const char *text, int32_t noise) {
  const char *rest = text;
  int32_t bits = 0;
  if (!*text) return noise ? PLAQ_DILUTE_SPIN + PLAQ_DILUTE_COLOUR : 0;
  while (rest) {
    size_t n = strcspn(rest, ",");
    char word[80];
    const choice *c = DILUTIONS;
    snprintf(word, sizeof word, "%.*s", (int)n, rest);
    while (c->name && strcmp(c->name, word)) c++;
    if (!c->name) not_a_choice("--dilute", word, "spin colour time parity");
    bits |= c->value;
    rest = rest[n] ? rest + n + 1 : NULL;
  }
  if (!(bits & PLAQ_DILUTE_SPIN && bits & PLAQ_DILUTE_COLOUR))
    usage_error("--dilute", "expected spin and colour, which contractions need, and perhaps time and parity");
  return bits;
}

/* Sources "point,x,y,z,t" and "wall,t" separated by colons, or "wall,all" or "volume", which stand alone; momentum, noise and
 * dilution are the same for all. */
static inline int source_list(int argc, char **argv, plaq_source_params *sources) {
  const char *rest = option(argc, argv, "--source", "point,0,0,0,0");
  int32_t momentum[3], noise = choose(argc, argv, "--noise", "none", NOISES);
  int32_t dilute = dilution(option(argc, argv, "--dilute", ""), noise);
  int64_t seed = integer(argc, argv, "--seed", "0");
  int count = 0;
  signed_integers("--source-momentum", option(argc, argv, "--source-momentum", "0,0,0"), momentum, 3);
  while (rest) {
    char item[80];
    plaq_source_params *p = sources + count;
    if (count++ == MOST) usage_error("--source", "at most 256");
    rest = next_item("--source", rest, item, sizeof item);
    OK(plaq_source_params_init(p, sizeof *p));
    if (!strncmp(item, "point,", 6)) {
      p->kind = PLAQ_SOURCE_POINT;
      integers("--source point", item + 6, p->position, 4);
    } else if (!strncmp(item, "wall,", 5)) {
      p->kind = PLAQ_SOURCE_WALL;
      if (strcmp(item, "wall,all")) integers("--source wall", item + 5, p->position + 3, 1);
      else if (count > 1 || rest) usage_error("--source", "wall,all stands alone");
      else p->position[3] = -1;
    } else if (!strcmp(item, "volume")) {
      /* Diluted in time it is a wall of its noise on every slice. */
      p->kind = dilute & PLAQ_DILUTE_TIME ? PLAQ_SOURCE_WALL : PLAQ_SOURCE_VOLUME;
      if (dilute & PLAQ_DILUTE_TIME) p->position[3] = -1;
      if (!noise) usage_error("--source", "volume: expected --noise z2 or z4, too");
      if (count > 1 || rest) usage_error("--source", "volume stands alone");
    } else {
      item[strcspn(item, ",")] = 0;
      not_a_choice("--source", item, SOURCES);
    }
    memcpy(p->momentum, momentum, sizeof momentum);
    p->noise = noise;
    p->seed = seed;
    if (dilute & PLAQ_DILUTE_TIME && p->position[3] >= 0) usage_error("--dilute", "time: expected --source volume or wall,all");
    if (dilute & PLAQ_DILUTE_PARITY && p->kind == PLAQ_SOURCE_POINT) usage_error("--dilute", "parity: expected a volume or walls");
    p->dilute = dilute & ~PLAQ_DILUTE_TIME;
  }
  return count;
}

static inline void smear(plaq_spinor field, plaq_gauge gauge, smearing s) {
  if (!s.steps) return;
  PLAQ_INIT(plaq_spinor_smear_params, p);
  p.alpha = s.alpha;
  p.steps = s.steps;
  OK(plaq_spinor_smear(field, gauge, &p));
}

/* Is a source, as it is asked for, solved for in parts? */
static inline int has_parts(const plaq_source_params *p) { return p->position[3] < 0 || p->dilute & PLAQ_DILUTE_PARITY; }

/* "wall,all" is a wall on every time slice, of noise the columns of the volume, diluted in time, that are on it; even and
 * odd sites of noise diluted in parity are apart. Twelve columns each. */
static inline int all_parts(plaq_source_params *sources, int count, int times) {
  plaq_source_params given[MOST];
  int s, t, p, n = 0;
  memcpy(given, sources, (size_t)count * sizeof *given);
  for (s = 0; s < count; s++) {
    int walls = given[s].position[3] < 0, parities = given[s].dilute & PLAQ_DILUTE_PARITY ? 2 : 1;
    for (t = 0; t < (walls ? times : 1); t++)
      for (p = 0; p < parities; p++) {
        plaq_source_params *one = sources + n;
        if (n++ == MOST) usage_error("--source", "at most 256 with all their parts");
        *one = given[s];
        if (walls) one->position[3] = t;
        if (!one->noise) continue;
        one->first = COLUMNS * (p + parities * t);
        one->count = COLUMNS;
        if (!walls) continue;
        one->kind = PLAQ_SOURCE_VOLUME;
        one->dilute |= PLAQ_DILUTE_TIME;
        one->time_parts = times;
      }
  }
  return n;
}

/* A time slice of a volume is called a wall. */
static inline int source_kind(const plaq_source_params *p) {
  if (p->kind == PLAQ_SOURCE_POINT) return 0;
  return p->kind == PLAQ_SOURCE_WALL || p->dilute & PLAQ_DILUTE_TIME ? 1 : 2;
}
static inline const char *sites_of(const plaq_source_params *p) {
  return !(p->dilute & PLAQ_DILUTE_PARITY) ? "all" : p->first / COLUMNS % 2 ? "odd" : "even";
}

/* "t,gamma,nx,ny,nz", or "" for none. */
static inline void sequential_option(const char *text, hadrons *h) {
  int32_t n[5];
  if (!*text) return;
  signed_integers("--sequential", text, n, 5);
  if (n[0] < -1 || n[1] < 0 || n[1] >= GAMMAS)
    refuse("--sequential", text, "a time slice or -1, the number of a gamma, 0 to 15, and three momenta");
  OK(plaq_sequential_params_init(&h->sequence, sizeof h->sequence));
  h->sequence.time = n[0];
  h->sequence.gamma = n[1];
  memcpy(h->sequence.momentum, n + 2, sizeof h->sequence.momentum);
  h->sequential = 1;
  h->quarks = 2;
}

/* The source of the sequential propagator: what a propagator is at the sink. */
static inline plaq_spinor sequential_source(plaq_context context, const int32_t *part, const hadrons *h, plaq_spinor from,
                                            const plaq_source_params *source) {
  plaq_sequential_params s = h->sequence;
  plaq_spinor to;
  PLAQ_INIT(plaq_spinor_params, p);
  memcpy(p.extents, part, sizeof p.extents);
  p.nrhs = COLUMNS;
  OK(plaq_spinor_create(context, &p, &to));
  memcpy(s.origin, source->position, sizeof s.origin);
  OK(plaq_spinor_sequential(from, to, &s));
  return to;
}

static inline void momentum_list(const char *rest, hadrons *h) {
  h->momenta = 0;
  while (rest) {
    char item[80];
    if (h->momenta == MOST) usage_error("--momenta", "at most 256");
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
    if (h->baryon_count == BARYONS) usage_error("--baryons", "a name is given twice");
    if (k == BARYONS) {
      char word[80], list[120] = "all none";
      for (k = 0; k < BARYONS; k++) strcat(strcat(list, " "), NAMES[k].name);
      snprintf(word, sizeof word, "%.*s", (int)n, rest);
      if (!strcmp(word, "all") || !strcmp(word, "none")) usage_error("--baryons", "all and none stand alone");
      not_a_choice("--baryons", word, list);
    }
    h->baryon[h->baryon_count++] = NAMES[k].value;
    rest = rest[n] ? rest + n + 1 : NULL;
  }
}

static inline int pairs_of(const hadrons *h) { return h->quarks == 2 ? 3 : 1; }
static inline size_t meson_numbers(const hadrons *h) { return (size_t)2 * h->momenta * GAMMAS * h->times; }
static inline size_t baryon_numbers(const hadrons *h) { return (size_t)2 * h->momenta * h->baryon_count * h->times; }
static inline size_t hadron_numbers(const hadrons *h) { return pairs_of(h) * meson_numbers(h) + baryon_numbers(h); }

/* The correlators of one source; quark[1] is the strange one where there are two. */
static inline void contract_hadrons(const hadrons *h, const plaq_spinor *quark, const plaq_source_params *source, double boundary,
                                    double *to) {
  static const int first[] = {0, 0, 1}, second[] = {0, 1, 1};
  int32_t gammas[2 * GAMMAS];
  int k, pair;
  PLAQ_INIT(plaq_contract_params, p);
  memcpy(p.position, source->position, sizeof p.position);
  p.boundary = boundary;
  for (k = 0; k < GAMMAS; k++) gammas[2 * k] = gammas[2 * k + 1] = k;
  for (pair = 0; pair < pairs_of(h); pair++, to += meson_numbers(h))
    OK(plaq_contract_mesons(quark[first[pair]], quark[second[pair]], &p, gammas, GAMMAS, h->momentum, h->momenta, h->times, to));
  /* Without a strange quark all are light. */
  if (h->baryon_count)
    OK(plaq_contract_baryons(quark[0], quark[h->quarks - 1], &p, h->baryon, h->baryon_count, h->momentum, h->momenta, h->times, to));
}

/* Real part of a meson of a pair at the first momentum, and of a baryon; NaN where there is none. */
static inline double meson_at(const hadrons *h, const double *numbers, int pair, int gamma, int t) {
  return numbers[(size_t)pair * meson_numbers(h) + 2 * ((size_t)gamma * h->times + t)];
}
static inline double baryon_at(const hadrons *h, const double *numbers, int name, int t) {
  int k;
  for (k = 0; k < h->baryon_count; k++)
    if (h->baryon[k] == name) return numbers[pairs_of(h) * meson_numbers(h) + 2 * ((size_t)k * h->times + t)];
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

/* Real and imaginary parts, and their errors where there are any. */
static inline void json_correlator(FILE *f, const double *values, const double *errors, int count) {
  json_numbers(f, "re", values, count, 2);
  fprintf(f, ", ");
  json_numbers(f, "im", values + 1, count, 2);
  if (errors) {
    fprintf(f, ", ");
    json_numbers(f, "re_error", errors, count, 2);
    fprintf(f, ", ");
    json_numbers(f, "im_error", errors + 1, count, 2);
  }
  fprintf(f, "}");
}

/* Members "mesons" and "baryons" of a JSON object; `errors` may be NULL. */
static inline void json_hadrons(FILE *f, const hadrons *h, const double *numbers, const double *errors) {
  int m, k, pair, n = h->times;
  const char *comma = "";
  size_t at = 0;
  fprintf(f, "  \"mesons\": [");
  for (pair = 0; pair < pairs_of(h); pair++)
    for (m = 0; m < h->momenta; m++)
      for (k = 0; k < GAMMAS; k++, comma = ",", at += 2 * (size_t)n) {
        const int32_t *p = h->momentum + 3 * m;
        fprintf(f, "%s\n    {\"quarks\": \"%s\", \"momentum\": [%d, %d, %d], \"gamma\": %d, ", comma, PAIRS[pair], p[0], p[1],
                p[2], k);
        json_correlator(f, numbers + at, errors ? errors + at : NULL, n);
      }
  fprintf(f, "\n  ],\n  \"baryons\": [");
  comma = "";
  for (m = 0; m < h->momenta; m++)
    for (k = 0; k < h->baryon_count; k++, comma = ",", at += 2 * (size_t)n) {
      const int32_t *p = h->momentum + 3 * m;
      fprintf(f, "%s\n    {\"name\": \"%s\", \"momentum\": [%d, %d, %d], ", comma, name_of(h->baryon[k], NAMES), p[0], p[1], p[2]);
      json_correlator(f, numbers + at, errors ? errors + at : NULL, n);
    }
  fprintf(f, "\n  ],\n");
}

#endif
