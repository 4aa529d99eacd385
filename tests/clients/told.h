/* Failures of QUDA's functions: what the library reports of the last one, and what a program expects. */
#ifndef TOLD_H
#define TOLD_H

#include "check.h"

#include <stdint.h>

#include "plaq.h"

/* The name of the function that failed, and the message. */
static char told_of[64], told[4096];
static int failures;

static void listen(const char *function, int32_t status, const char *message, void *user) {
  (void)status, (void)user;
  failures++;
  snprintf(told_of, sizeof told_of, "%s", function);
  snprintf(told, sizeof told, "%s", message);
}

/* Makes failures return from here on instead of ending the program. */
static void hear_failures(void) {
  CHECK(plaq_quda_set_error_mode(PLAQ_QUDA_ERRORS_RETURN) == PLAQ_SUCCESS);
  CHECK(plaq_quda_set_error_handler(listen, NULL) == PLAQ_SUCCESS);
}

static int32_t last_status(void) {
  int32_t status = -1;
  CHECK(plaq_quda_last_status(&status) == PLAQ_SUCCESS);
  return status;
}

static inline void fine(void) {
  if (last_status()) fprintf(stderr, "%s: %s\n", told_of, told);
  CHECK(last_status() == PLAQ_SUCCESS);
}

/* Checks that the last call failed with this status (0: any), in this function, with a message that has these words. */
static inline void refused(int32_t status, const char *function, const char *words) {
  const int32_t last = last_status();
  if (!last || (status && last != status) || !strstr(told_of, function) || !strstr(told, words)) {
    fprintf(stderr, "expected %d, %s, %s; found %d, %s: %s\n", status, function, words, last, told_of, told);
    exit(1);
  }
  told_of[0] = told[0] = 0;
}

#endif
