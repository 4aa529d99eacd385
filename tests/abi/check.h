/* Checks for the programs of this folder. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plaq.h"

#define CHECK(claim)                                                      \
  do {                                                                    \
    if (!(claim)) {                                                       \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #claim); \
      exit(1);                                                            \
    }                                                                     \
  } while (0)

/* Checks that a call returns this status. */
#define EXPECT(expected, call)                                                              \
  do {                                                                                      \
    plaq_status status_ = (call);                                                           \
    if (status_ != (expected)) {                                                            \
      fprintf(stderr, "%s:%d: %s is %s, expected %s: %s\n", __FILE__, __LINE__, #call,      \
              plaq_status_name(status_), plaq_status_name(expected), plaq_last_error());    \
      exit(1);                                                                              \
    }                                                                                       \
  } while (0)

#define OK(call) EXPECT(PLAQ_SUCCESS, call)

/* Records the name of a status whose message was checked in the file that PLAQ_TEST_TOLD names. */
static inline void told(plaq_status status) {
  const char *name = getenv("PLAQ_TEST_TOLD");
  FILE *f = name ? fopen(name, "a") : NULL;
  if (!f) return;
  fprintf(f, "%s\n", plaq_status_name(status));
  fclose(f);
}

/* Checks that a call is refused with this status and a message that has these words. */
#define REFUSED(expected, words, call)                                                      \
  do {                                                                                      \
    EXPECT(expected, call);                                                                 \
    if (!strstr(plaq_last_error(), words)) {                                                \
      fprintf(stderr, "%s:%d: no \"%s\" in: %s\n", __FILE__, __LINE__, words, plaq_last_error()); \
      exit(1);                                                                              \
    }                                                                                       \
    told(expected);                                                                         \
  } while (0)

#endif
