/* What `propagator` has of configurations and sources, its averages with jackknife errors, and how a run goes on
 * from the JSON of one that stopped. */
#ifndef SAMPLES_H
#define SAMPLES_H

#include "hadrons.h"

/* Correlators of one source on one configuration. */
typedef struct sample {
  double *numbers; /* NULL: not there */
  double plaquette[3], residual; /* total, spatial, temporal */
  int64_t iterations;
  int converged, old; /* old: of the file that goes on */
} sample;

typedef struct samples {
  char **files; /* of configurations */
  int configurations, sources;
  sample *of; /* [configuration][source] */
  int64_t bin;
  int whole, bins; /* configurations that count, bins of them */
} samples;

static inline void *room_for(size_t count, size_t size) {
  void *p = calloc(count ? count : 1, size);
  if (!p) usage_error("memory", "exhausted");
  return p;
}

/* A file as text, NULL where there is none. */
static inline char *read_text(const char *name) {
  FILE *f = fopen(name, "rb");
  size_t room = 1 << 16, n = 0, got;
  char *text = f ? malloc(room) : NULL;
  if (!f) return NULL;
  while (text && (got = fread(text + n, 1, room - n - 1, f)) > 0) {
    n += got;
    if (room - n < 2) text = realloc(text, room *= 2);
  }
  if (!text) usage_error("memory", "exhausted");
  text[n] = 0;
  close_file(f, name);
  return text;
}

/* Names separated by colons, or "@LIST": a file with a name a line. */
static inline void file_list(const char *option_name, const char *text, samples *all) {
  const char *separators = *text == '@' ? "\r\n" : ":";
  char *names, *at;
  int a, b;
  if (*text == '@') {
    names = read_text(text + 1);
    if (!names) {
      perror(text + 1);
      exit(1);
    }
  } else {
    names = room_for(strlen(text) + 1, 1);
    strcpy(names, text);
  }
  all->files = room_for(strlen(names) + 1, sizeof *all->files);
  for (at = strtok(names, separators); at; at = strtok(NULL, separators)) all->files[all->configurations++] = at;
  if (!all->configurations) usage_error(option_name, text);
  /* Twice the same links would make errors too small. */
  for (a = 1; a < all->configurations; a++)
    for (b = 0; b < a; b++)
      if (!strcmp(all->files[a], all->files[b])) refuse(option_name, all->files[a], "each configuration once");
}

static inline sample *sample_of(const samples *all, int configuration, int source) {
  return all->of + (size_t)configuration * all->sources + source;
}

/* Text as in a JSON string. */
static inline void escaped(const char *text, char *to, size_t room) {
  size_t n = 0;
  for (; *text && n + 8 < room; text++) {
    if (*text == '"' || *text == '\\') to[n++] = '\\';
    if ((unsigned char)*text < 32) n += (size_t)sprintf(to + n, "\\u%04x", *text);
    else to[n++] = *text;
  }
  to[n] = 0;
}

/* A source as --source has it. */
static inline void source_name(const plaq_source_params *p, char *to, size_t room) {
  const int32_t *x = p->position;
  const char *sites = sites_of(p), *comma = strcmp(sites, "all") ? "," : "";
  if (!*comma) sites = "";
  if (source_kind(p) == 2) snprintf(to, room, "volume%s%s", comma, sites);
  else if (source_kind(p) == 1) snprintf(to, room, "wall,%d%s%s", (int)x[3], comma, sites);
  else snprintf(to, room, "point,%d,%d,%d,%d", (int)x[0], (int)x[1], (int)x[2], (int)x[3]);
}

/* How the line of a sample begins; the same when it is written and when it is looked for. */
static inline char *sample_key(const char *file, const plaq_source_params *source) {
  size_t room = 6 * strlen(file) + 16;
  char *key = room_for(room + 160, 1), name[100], *safe = room_for(room, 1);
  escaped(file, safe, room);
  source_name(source, name, sizeof name);
  sprintf(key, "    {\"gauge\": \"%s\", \"source\": \"%s\", ", safe, name);
  free(safe);
  return key;
}

static inline void json_samples(FILE *f, const samples *all, const plaq_source_params *sources, size_t numbers) {
  const char *comma = "";
  int c, s;
  size_t i;
  fprintf(f, "  \"samples\": [");
  for (c = 0; c < all->configurations; c++)
    for (s = 0; s < all->sources; s++) {
      const sample *one = sample_of(all, c, s);
      char *key;
      if (!one->numbers || !one->converged) continue;
      key = sample_key(all->files[c], sources + s);
      fprintf(f, "%s\n%s\"plaquette\": [%.17g, %.17g, %.17g], \"iterations\": %lld, \"residual\": %.17g, \"numbers\": [", comma, key,
              one->plaquette[0], one->plaquette[1], one->plaquette[2], (long long)one->iterations, one->residual);
      for (i = 0; i < numbers; i++) fprintf(f, "%s%.17g", i ? "," : "", one->numbers[i]);
      fprintf(f, "]}");
      free(key);
      comma = ",";
    }
  fprintf(f, "\n  ],\n");
}

/* Takes over the samples of an earlier run's JSON that are asked for now. */
static inline void take_samples(const char *text, samples *all, const plaq_source_params *sources, size_t numbers) {
  int c, s;
  size_t i;
  for (c = 0; c < all->configurations; c++)
    for (s = 0; s < all->sources; s++) {
      sample *one = sample_of(all, c, s);
      char *key = sample_key(all->files[c], sources + s);
      const char *at = strstr(text, key);
      long long iterations;
      if (at && sscanf(at + strlen(key), "\"plaquette\": [%lg, %lg, %lg], \"iterations\": %lld, \"residual\": %lg",
                       one->plaquette, one->plaquette + 1, one->plaquette + 2, &iterations, &one->residual) == 5) {
        at = strstr(at, "\"numbers\": [");
        one->numbers = room_for(numbers, sizeof(double));
        for (i = 0, at = at ? at + 11 : NULL; at && (*at == '[' || *at == ',') && i < numbers; i++) {
          char *end;
          one->numbers[i] = strtod(at + 1, &end);
          at = end;
        }
        if (i < numbers || !at || *at != ']') {
          free(one->numbers);
          one->numbers = NULL;
        } else {
          one->iterations = iterations;
          one->converged = one->old = 1;
        }
      }
      free(key);
    }
}

/* Averages over sources of the configurations that are complete, one after another; where none is, of all that
 * there is on the first that has something. */
static inline double *of_configurations(samples *all, size_t numbers) {
  double *to = room_for((size_t)all->configurations * numbers, sizeof(double));
  int c, s, pass, n;
  size_t i;
  for (all->whole = 0, pass = 0; pass < 2 && !all->whole; pass++)
    for (c = 0; c < all->configurations && !(pass && all->whole); c++) {
      double *mean = to + (size_t)all->whole * numbers;
      for (s = n = 0; s < all->sources; s++) n += sample_of(all, c, s)->numbers != NULL;
      if (pass ? !n : n < all->sources) continue;
      for (s = 0; s < all->sources; s++)
        for (i = 0; sample_of(all, c, s)->numbers && i < numbers; i++) mean[i] += sample_of(all, c, s)->numbers[i] / n;
      all->whole++;
    }
  return to;
}

/* Jackknife: sets values[0 .. length) to the mean over all configurations followed by what `function` makes of it,
 * and `errors` to sqrt((B - 1) / B sum_b (v_b - v)^2), v_b the same without bin b, v the mean of these. Bins have
 * `bin` configurations; those that fill no bin belong to the last. Without two bins errors are NaN. */
typedef void (*derivation)(const double *numbers, double *derived, void *user);
static inline void jackknife(samples *all, size_t numbers, size_t derived, derivation function, void *user, double *values,
                             double *errors) {
  double *each = of_configurations(all, numbers), *without;
  size_t length = numbers + derived, i;
  int c, b, last;
  for (i = 0; i < length; i++) values[i] = errors[i] = 0;
  for (c = 0; c < all->whole; c++)
    for (i = 0; i < numbers; i++) values[i] += each[(size_t)c * numbers + i] / all->whole;
  function(values, values + numbers, user);
  all->bins = (int)(all->whole / all->bin);
  without = room_for((size_t)all->bins * length, sizeof(double));
  for (b = 0; b < all->bins && all->bins > 1; b++) {
    double *v = without + (size_t)b * length;
    int from = (int)(b * all->bin), to = b + 1 < all->bins ? from + (int)all->bin : all->whole;
    for (c = 0; c < all->whole; c++)
      for (i = 0; (c < from || c >= to) && i < numbers; i++) v[i] += each[(size_t)c * numbers + i] / (all->whole - (to - from));
    function(v, v + numbers, user);
  }
  for (i = 0, last = all->bins; i < length; i++) {
    double mean = 0, sum = 0;
    for (b = 0; b < last; b++) mean += without[(size_t)b * length + i] / last;
    for (b = 0; b < last; b++) sum += pow(without[(size_t)b * length + i] - mean, 2);
    errors[i] = last > 1 ? sqrt(sum * (last - 1) / last) : NAN;
  }
  free(each);
  free(without);
}

/* The format of the first configuration, which may not be read again. */
static inline void known_format(const char *json, plaq_file_report *file) {
  const char *at = strstr(json, "\"format\": \"");
  const choice *c;
  for (c = FORMATS; at && c->name; c++)
    if (!strncmp(at + 11, c->name, strlen(c->name)) && at[11 + strlen(c->name)] == '"') file->format = c->value;
}

static inline void json_array(FILE *f, const char *name, const double *values, int count, const char *after) {
  int i;
  fprintf(f, "    \"%s\": [", name);
  for (i = 0; i < count; i++) {
    if (isfinite(values[i])) fprintf(f, "%s%.17g", i ? ", " : "", values[i]);
    else fprintf(f, "%snull", i ? ", " : "");
  }
  fprintf(f, "]%s\n", after);
}

/* Of the configurations: which is 0 for the total, 1 for the spatial, 2 for the temporal one. */
static inline double mean_plaquette(const samples *all, int which) {
  double sum = 0;
  int c, s, n = 0;
  for (c = 0; c < all->configurations; c++)
    for (s = 0; s < all->sources; s++)
      if (sample_of(all, c, s)->numbers) sum += sample_of(all, c, s)->plaquette[which], n++;
  return n ? sum / n : NAN;
}

/* Of the file that goes on. */
static inline int old_samples(const samples *all) {
  int i, n = 0;
  for (i = 0; i < all->configurations * all->sources; i++) n += all->of[i].old;
  return n;
}

static inline void end_samples(samples *all) {
  size_t i;
  for (i = 0; i < (size_t)all->configurations * all->sources; i++) free(all->of[i].numbers);
  free(all->of);
}

#endif
