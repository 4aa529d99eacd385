/* Checks that a program of these tests makes, and access to the lines that it writes to stdout. */
#ifndef CHECK_H
#define CHECK_H

/* Needed for dup. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(claim)                                                        \
  do {                                                                      \
    if (!(claim)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #claim); \
      exit(1);                                                              \
    }                                                                       \
  } while (0)
#define CLOSE(found, expected, error)                                                           \
  do {                                                                                          \
    double found_ = (found), expected_ = (expected);                                            \
    if (!(fabs(found_ - expected_) <= (error))) {                                               \
      fprintf(stderr, "%s:%d: %s is %.17g, expected %.17g\n", __FILE__, __LINE__, #found, found_, \
              expected_);                                                                       \
      exit(1);                                                                                  \
    }                                                                                           \
  } while (0)

/* Under valgrind numbers are computed to few digits: their values are checked in runs without it. */
static inline int rough(void) {
  return getenv("PLAQ_TEST_ROUGH") != NULL;
}

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Sends lines of stdout to a file, from here to `end_of_lines`, which counts those that begin with a given text. */
static inline FILE *begin_of_lines(int *screen) {
  FILE *file = tmpfile();
  fflush(stdout);
  CHECK(file != NULL && (*screen = dup(1)) > 0 && dup2(fileno(file), 1) == 1);
  return file;
}

static inline int end_of_lines(FILE *file, int screen, const char *text) {
  char line[1000];
  int count = 0;
  fflush(stdout);
  CHECK(dup2(screen, 1) == 1 && close(screen) == 0);
  rewind(file);
  while (fgets(line, sizeof line, file)) count += strncmp(line, text, strlen(text)) == 0;
  fclose(file);
  return count;
}

#endif
