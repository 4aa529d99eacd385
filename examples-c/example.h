/* What the examples share: status checks, command lines, JSON. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

/* signal() of BSD, whose handlers stay: with -std=c99 glibc has the other one. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "plaq.h"

/* Built with mpicc -DPLAQ_EXAMPLE_MPI a program runs on all ranks of MPI_COMM_WORLD, which --grid
 * X,Y,Z,T places on the lattice (default: all in t); rank 0 prints and writes reports. */
#ifdef PLAQ_EXAMPLE_MPI
#include <mpi.h>
#define GRID_OPTION " --grid"
#define GRID_HELP "  --grid X,Y,Z,T       ranks in each direction (0,0,0,0: all in t)\n"
#else
#define GRID_OPTION ""
#define GRID_HELP ""
#endif

/* SIGINT (Ctrl-C) and SIGTERM end a program where it can stop: callbacks return `interrupted`. Another one
 * more than a second later ends it at once; not before, as `timeout` and mpirun send the first one twice. */
static volatile sig_atomic_t interrupted = 0;
static inline void interrupt(int number) {
  static volatile time_t first;
  if (!interrupted) first = time(NULL);
  if (time(NULL) - first > 1) {
    signal(number, SIG_DFL);
    raise(number);
  }
  interrupted = 1;
}
static inline void watch_signals(void) {
  signal(SIGINT, interrupt);
  signal(SIGTERM, interrupt);
}

/* Of many ranks one that is interrupted stops all, where they do not hear of it from a call. */
static inline int any_interrupted(void) {
  int any = interrupted;
#ifdef PLAQ_EXAMPLE_MPI
  MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
#endif
  return any;
}

/* A call that must succeed; else its message and status 1, or 3 after a signal. */
#define OK(call)                                                              \
  do {                                                                        \
    plaq_status status_ = (call);                                             \
    if (status_ != PLAQ_SUCCESS) {                                            \
      fprintf(stderr, "%s%s\n", interrupted ? "INTERRUPTED: " : "", plaq_last_error()); \
      leave(status_);                                                         \
    }                                                                         \
  } while (0)

/* Ends a program whose call failed, on all ranks. Failures are agreed on, so every rank comes here, but
 * for one that is gone or waits for something else: MPI_Finalize would wait for it, for ever. */
static inline void leave(plaq_status status) {
#ifdef PLAQ_EXAMPLE_MPI
  int started;
  if (status == PLAQ_COMM_FAILED && MPI_Initialized(&started) == MPI_SUCCESS && started) {
    fflush(NULL);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
#endif
  (void)status;
  exit(interrupted ? 3 : 1);
}

/* Progress on the standard error: on a terminal a line every 0.2 s in place of the one before, in a file or a pipe
 * one every 10 s that stays. */
static inline int progress_due(double seconds, double *shown) {
  if (seconds - *shown < (isatty(2) ? 0.2 : 10)) return 0;
  *shown = seconds;
  return 1;
}
static inline void progress_line(int stays, const char *form, ...) {
  int terminal = isatty(2);
  va_list values;
  va_start(values, form);
  if (terminal) fputc('\r', stderr);
  vfprintf(stderr, form, values);
  if (terminal) fputs("\033[K", stderr); /* what is left of a longer line before */
  if (stays || !terminal) fputc('\n', stderr);
  va_end(values);
}

/* Takes the line away that still stands on a terminal. */
static inline void progress_end(void) {
  if (isatty(2)) fputs("\r\033[K", stderr);
}

static inline void usage_error(const char *what, const char *found) {
  fprintf(stderr, "%s: %s; --help lists the options\n", what, found ? found : "missing");
  exit(2);
}

/* A value that an option does not take, and what it takes. */
static inline void refuse(const char *name, const char *found, const char *expected) {
  fprintf(stderr, "%s: %s; expected %s; --help lists the options\n", name, found, expected);
  exit(2);
}

/* Changes of a letter that make one word of the other; at most 64 letters count. */
static inline int word_distance(const char *a, const char *b) {
  int row[65], i, j, n = (int)strlen(a), m = (int)strlen(b);
  if (n > 64) n = 64;
  if (m > 64) m = 64;
  for (j = 0; j <= m; j++) row[j] = j;
  for (i = 1; i <= n; i++) {
    int corner = row[0];
    row[0] = i;
    for (j = 1; j <= m; j++) {
      int best = corner + (a[i - 1] != b[j - 1]);
      corner = row[j];
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
    }
  }
  return row[m];
}

/* Of the words of a list with blanks between them: the one that `text` may have meant, "" if none. */
static inline void suggest(const char *text, const char *list, char *meant, size_t room) {
  int least = strlen(text) < 6 ? (int)strlen(text) / 2 + 1 : 4;
  *meant = 0;
  while (*list) {
    char word[80];
    size_t n = strcspn(list, " ");
    snprintf(word, sizeof word, "%.*s", (int)n, list);
    if (n && word_distance(text, word) < least) {
      least = word_distance(text, word);
      snprintf(meant, room, "%s", word);
    }
    list += n + (list[n] == ' ');
  }
}

/* Argument i is `--name value` or `--name=value`; the value, or NULL, and the argument after it. */
static inline const char *argument(int argc, char **argv, int i, char *name, size_t room, int *next) {
  const char *equals = strchr(argv[i], '=');
  size_t n = equals ? (size_t)(equals - argv[i]) : strlen(argv[i]);
  snprintf(name, room, "%.*s", (int)n, argv[i]);
  *next = i + (equals ? 1 : 2);
  return equals ? equals + 1 : i + 1 < argc ? argv[i + 1] : NULL;
}

/* Value of an option that is given and does not turn itself off; else "". */
static inline const char *value_of(int argc, char **argv, const char *name) {
  char found[80];
  int i, next;
  for (i = 1; i < argc; i = next) {
    const char *value = argument(argc, argv, i, found, sizeof found, &next);
    if (!strcmp(found, name) && value && strcmp(value, "no") && strcmp(value, "none")) return value;
  }
  return "";
}

/* Is a value one of a|b|(c)? In parentheses: what counts without the option. */
static inline int is_among(const char *value, const char *list) {
  for (;;) {
    size_t n = strcspn(list, "| "), usual = *list == '(', length = n - 2 * usual;
    if (*value ? strlen(value) == length && !strncmp(value, list + usual, length) : usual) return 1;
    if (list[n] != '|') return 0;
    list += n + 1;
  }
}

/* Is an option named in a row of needs, where --a-* are all that begin so? */
static inline int has_needs(const char *name, const char *row) {
  for (;;) {
    size_t n = strcspn(row, " :");
    if (row[n - 1] == '*' ? !strncmp(name, row, n - 1) : strlen(name) == n && !strncmp(name, row, n)) return 1;
    if (row[n] == ':') return 0;
    row += n + 1;
  }
}

/* Does one of the alternatives hold? */
static inline int is_met(int argc, char **argv, const char *alternatives) {
  for (;;) {
    char name[80];
    size_t n = strcspn(alternatives, " "), end = strcspn(alternatives, "= "), absent = *alternatives == '!';
    const char *value;
    snprintf(name, sizeof name, "%.*s", (int)(end - absent), alternatives + absent);
    value = value_of(argc, argv, name);
    if (alternatives[end] == '=' ? is_among(value, alternatives + end + 1) : absent == (!*value || !strcmp(value, "0"))) return 1;
    if (!alternatives[n]) return 0;
    alternatives += n + 1;
  }
}

/* Options that have no effect without others, or beside them, are refused. A row, "--a --b: --c --d=x|(y)", says that
 * --a and --b go only with --c, unless that is 0, or with --d x or y, which is y without --d; "--a: !--c", that --a does
 * not go with --c. The last row is NULL. */
static inline void check_needs(int argc, char **argv, const char *const *rows) {
  int i, next;
  for (; rows && *rows; rows++) {
    const char *alternatives = strchr(*rows, ':') + 2, *c;
    char name[80];
    for (i = 1; i < argc; i = next) {
      argument(argc, argv, i, name, sizeof name, &next);
      if (!has_needs(name, *rows) || !*value_of(argc, argv, name) || is_met(argc, argv, alternatives)) continue;
      fprintf(stderr, "%s: %s with ", name, *alternatives == '!' ? "not" : "only");
      for (c = alternatives; *c; c++)
        if (*c == '|' || *c == ' ') fputs(" or ", stderr);
        else if (!strchr("()!", *c)) fputc(*c == '=' ? ' ' : *c, stderr);
      fputs("; --help lists the options\n", stderr);
      exit(2);
    }
  }
}

/* Every argument must be one of the options, given as "--a --b ...", once and with a value, beside those that it needs. */
static inline void check_options(int argc, char **argv, const char *known, const char *const *needs, const char *help) {
  char name[80], other[80], meant[80];
  int i, k, next, after;
  for (i = 1; i < argc; i = next) {
    const char *value = argument(argc, argv, i, name, sizeof name, &next), *at = known;
    size_t n = strlen(name);
    if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
      fputs(help, stdout);
      exit(0);
    }
    if (!strcmp(name, "--version")) {
      printf("plaq %s\n", plaq_version());
      exit(0);
    }
    for (at = strstr(known, name); at; at = strstr(at + 1, name))
      if ((at == known || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0)) break;
    if (!at || strncmp(name, "--", 2)) {
      suggest(name, known, meant, sizeof meant);
      fprintf(stderr, "unknown option: %s%s%s%s; --help lists the options\n", name, *meant ? ": did you mean " : "",
              meant, *meant ? "?" : "");
      exit(2);
    }
    if (!value) usage_error("an option needs a value", name);
    for (k = 1; k < i; k = after) {
      argument(argc, argv, k, other, sizeof other, &after);
      if (!strcmp(name, other)) usage_error("an option is given twice", name);
    }
  }
  check_needs(argc, argv, needs);
}

/* The value of an option. */
static inline const char *option(int argc, char **argv, const char *name, const char *otherwise) {
  char found[80];
  int i, next;
  for (i = 1; i < argc; i = next) {
    const char *value = argument(argc, argv, i, found, sizeof found, &next);
    if (!strcmp(found, name) && value) otherwise = value;
  }
  if (!otherwise) usage_error(name, NULL);
  return otherwise;
}

static inline double number(int argc, char **argv, const char *name, const char *otherwise) {
  const char *text = option(argc, argv, name, otherwise);
  char *end;
  double value = strtod(text, &end);
  if (end == text || *end || !isfinite(value)) refuse(name, text, "a number");
  return value;
}

static inline int64_t integer(int argc, char **argv, const char *name, const char *otherwise) {
  double value = number(argc, argv, name, otherwise);
  if (value != floor(value) || value < 0 || value > 9e15)
    refuse(name, option(argc, argv, name, otherwise), "a whole number, not negative");
  return (int64_t)value;
}
/* The same that fits into 32 bits. */
static inline int32_t integer32(int argc, char **argv, const char *name, const char *otherwise) {
  int64_t value = integer(argc, argv, name, otherwise);
  if (value > INT32_MAX) refuse(name, option(argc, argv, name, otherwise), "at most 2147483647");
  return (int32_t)value;
}

/* Refuses a value that is none of `list`, words with blanks between them. */
static inline void not_a_choice(const char *name, const char *text, const char *list) {
  char meant[80];
  suggest(text, list, meant, sizeof meant);
  fprintf(stderr, "%s: %s; %s%s%sexpected one of", name, text, *meant ? "did you mean " : "", meant, *meant ? "? " : "");
  while (*list) {
    size_t n = strcspn(list, " ");
    fprintf(stderr, " %.*s%s", (int)n, list, list[n] && list[n + 1] ? "," : "");
    list += n + (list[n] == ' ');
  }
  fprintf(stderr, "; --help lists the options\n");
  exit(2);
}

/* The number of a name in a list that ends with NULL. */
typedef struct choice {
  const char *name;
  int32_t value;
} choice;
static inline int32_t choose(int argc, char **argv, const char *name, const char *otherwise, const choice *list) {
  const char *text = option(argc, argv, name, otherwise);
  char *words;
  size_t room = 1;
  const choice *c;
  for (c = list; c->name; room += strlen(c->name) + 1, c++)
    if (!strcmp(c->name, text)) return c->value;
  words = malloc(room);
  if (!words) usage_error("memory", "exhausted");
  *words = 0;
  for (c = list; c->name; c++) strcat(strcat(words, c->name), " ");
  not_a_choice(name, text, words);
  return 0;
}

static inline const char *name_of(int32_t value, const choice *list) {
  for (; list->name; list++)
    if (list->value == value) return list->name;
  return "unknown";
}

static const choice FORMATS[] = {{"nersc", PLAQ_FILE_FORMAT_NERSC},
                                 {"nersc3x3", PLAQ_FILE_FORMAT_NERSC_3X3},
                                 {"ildg", PLAQ_FILE_FORMAT_ILDG},
                                 {"milc", PLAQ_FILE_FORMAT_MILC},
                                 {"openqcd", PLAQ_FILE_FORMAT_OPENQCD},
                                 {"ddalphaamg", PLAQ_FILE_FORMAT_DDALPHAAMG},
                                 {NULL, 0}};
static const choice YES_NO[] = {{"no", 0}, {"yes", 1}, {NULL, 0}};
static const choice DEVICES[] = {
    {"auto", PLAQ_DEVICE_AUTO}, {"cpu", PLAQ_DEVICE_CPU}, {"cuda", PLAQ_DEVICE_CUDA}, {NULL, 0}};

/* `count` integers separated by commas, none below `least`. */
static inline void integers_from(int32_t least, const char *option_name, const char *text, int32_t *to, int count) {
  const char *at = text;
  char expected[100] = "a whole number";
  int i;
  if (count > 1) snprintf(expected, sizeof expected, "%d whole numbers with commas between", count);
  if (least == 0) strcat(expected, count > 1 ? ", none negative" : ", not negative");
  for (i = 0; i < count; i++) {
    char *end;
    long value = strtol(at, &end, 10);
    if (end == at || value < least || value > 1 << 20 || *end != (i + 1 < count ? ',' : 0)) refuse(option_name, text, expected);
    to[i] = (int32_t)value;
    at = end + 1;
  }
}
static inline void integers(const char *option_name, const char *text, int32_t *to, int count) {
  integers_from(0, option_name, text, to, count);
}
static inline void signed_integers(const char *option_name, const char *text, int32_t *to, int count) {
  integers_from(-65536, option_name, text, to, count);
}

#ifdef PLAQ_EXAMPLE_MPI
static inline void end_mpi(void) { MPI_Finalize(); }

/* Failures are the same on all ranks: one that prints them is enough. */
static inline void start_ranks(int argc, char **argv, plaq_context_params *p) {
  static MPI_Comm world;
  int rank;
  MPI_Init(NULL, NULL);
  atexit(end_mpi);
  world = MPI_COMM_WORLD;
  MPI_Comm_rank(world, &rank);
  if (rank > 0 && !(freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr))) exit(1);
  p->communicator_kind = PLAQ_COMMUNICATOR_C;
  p->communicator = &world;
  integers("--grid", option(argc, argv, "--grid", "0,0,0,0"), p->grid, 4);
}
#else
/* Started by mpirun or srun as one of several, a program for one rank would do the same work as the others and
 * write over their files. */
static inline void start_ranks(int argc, char **argv, plaq_context_params *p) {
  static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"};
  int i;
  for (i = 0; i < 4; i++) {
    const char *size = getenv(sizes[i]);
    if (!size || atol(size) < 2) continue;
    fprintf(stderr,
            "%s: one of %s processes (%s), but built for one rank. Programs for many have names in _mpi (make examples-mpi); "
            "jobs that know nothing of each other start with env -u %s\n",
            argc ? argv[0] : "", size, sizes[i], sizes[i]);
    exit(2);
  }
  p->communicator_kind = PLAQ_COMMUNICATOR_NONE;
}
#endif

/* Files of results: what goes wrong ends the program. */
static inline FILE *open_file(const char *name, const char *mode) {
  FILE *f = fopen(name, mode);
  if (!f) {
    perror(name);
    exit(1);
  }
  return f;
}

static inline void close_file(FILE *f, const char *name) {
  if (ferror(f) | fclose(f)) {
    perror(name);
    exit(1);
  }
}

/* Files of results appear complete or not at all: written beside their place first. */
static inline char *part_of(const char *name) {
  char *part = malloc(strlen(name) + 6);
  if (!part) usage_error("memory", "exhausted");
  sprintf(part, "%s.part", name);
  return part;
}

static inline FILE *begin_file(const char *name) {
  char *part = part_of(name);
  FILE *f = fopen(part, "wb");
  free(part);
  if (f) return f;
  perror(name);
  exit(1);
}

static inline void end_file(FILE *f, const char *name) {
  char *part = part_of(name);
  if (ferror(f) | fclose(f) || rename(part, name)) {
    perror(name);
    remove(part);
    exit(1);
  }
  free(part);
}

static inline int exists(const char *name) {
  FILE *f = fopen(name, "rb");
  if (f) fclose(f);
  return f != NULL;
}

/* A file that a program will write: before its work, that it may. `overwrite` 0: a file that is there stays. */
static inline void check_output(const char *name, int overwrite) {
  char *part;
  if (!*name) return;
  if (!overwrite && exists(name)) {
    fprintf(stderr, "%s: exists, and is kept; --overwrite yes replaces it\n", name);
    exit(1);
  }
  fclose(begin_file(name));
  part = part_of(name);
  remove(part);
  free(part);
}

/* Text as a JSON string. */
static inline void json_text(FILE *f, const char *text) {
  fputc('"', f);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') fputc('\\', f);
    if ((unsigned char)*text < 32) fprintf(f, "\\u%04x", *text);
    else fputc(*text, f);
  }
  fputc('"', f);
}

/* The part of a rank of the lattice `extents`. */
static inline void divide(plaq_context context, int32_t *extents) {
  int mu;
  PLAQ_INIT(plaq_context_report, report);
  OK(plaq_context_describe(context, &report));
  for (mu = 0; mu < 4; mu++) {
    if (extents[mu] % report.grid[mu]) usage_error("--lattice", "does not divide over the ranks");
    extents[mu] /= report.grid[mu];
  }
}

/* The largest of all ranks, number by number. */
static inline void maximum_of_ranks(double *values, int count) {
#ifdef PLAQ_EXAMPLE_MPI
  if (MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD) != MPI_SUCCESS) leave(PLAQ_COMM_FAILED);
#else
  (void)values, (void)count;
#endif
}

static inline int first_rank(plaq_context context) {
  PLAQ_INIT(plaq_context_report, report);
  OK(plaq_context_describe(context, &report));
  return report.rank == 0;
}

/* A context on the device of --device with --threads. */
static inline plaq_context open_context(int argc, char **argv) {
  plaq_context context;
  PLAQ_INIT(plaq_context_params, p);
  p.device = choose(argc, argv, "--device", "auto", DEVICES);
  p.threads = integer32(argc, argv, "--threads", "0");
  start_ranks(argc, argv, &p);
  OK(plaq_context_create(&p, &context));
  return context;
}

#endif
