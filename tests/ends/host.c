#define _GNU_SOURCE
/* host LIBRARY HOW MILLISECONDS: loads libplaq, has kernels compiled on a GPU, and ends so long after that in this
 * way. A solve has its kernels compiled ahead; whether it succeeds does not matter here. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plaq.h"

static void *library;
static useconds_t pause_us;
#define CALL(name) ((__typeof__(name) *)dlsym(library, #name))
#define MAKE(type, name) \
  type name;             \
  CALL(type##_init)(&name, sizeof name)

static void solve(void) {
  MAKE(plaq_context_params, cp);
  MAKE(plaq_gauge_params, gp);
  MAKE(plaq_dirac_params, dp);
  MAKE(plaq_solver_params, sp);
  MAKE(plaq_spinor_params, fp);
  MAKE(plaq_solve_report, report);
  plaq_context c;
  plaq_gauge g;
  plaq_dirac d;
  plaq_solver s;
  plaq_spinor x, b;
  cp.device = PLAQ_DEVICE_CUDA;
  if (CALL(plaq_context_create)(&cp, &c) != 0) {
    fprintf(stderr, "%s\n", CALL(plaq_last_error)());
    _exit(2);
  }
  for (int mu = 0; mu < 4; mu++) gp.extents[mu] = 8;
  dp.kappa = 0.12;
  int status = CALL(plaq_gauge_create)(c, &gp, &g);
  if (status == 0) status = CALL(plaq_gauge_unit)(g);
  if (status == 0) status = CALL(plaq_dirac_create)(c, g, &dp, &d);
  fp.gauge = g;
  if (status == 0) status = CALL(plaq_spinor_create)(c, &fp, &x);
  if (status == 0) status = CALL(plaq_spinor_create)(c, &fp, &b);
  if (status == 0) status = CALL(plaq_solver_create)(d, &sp, &s);
  if (status == 0) status = CALL(plaq_solver_solve)(s, x, b, NULL, NULL, &report, NULL);
  printf("%s\n", status == 0 ? "solved" : CALL(plaq_last_error)());
  fflush(stdout);
}

static void leave(int signal) { exit(signal == SIGTERM ? 3 : 4); }

static void *elsewhere(void *unused) {
  usleep(pause_us);
  exit(3);
  return unused;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 2;
  const char *how = argv[2];
  pause_us = (useconds_t)atoi(argv[3]) * 1000;
  pthread_t thread;
  /* A shell starts its background jobs with SIGINT ignored. */
  signal(SIGINT, SIG_DFL);
  if (strcmp(how, "handler") == 0) signal(SIGTERM, leave);
  if (strcmp(how, "thread") == 0) pthread_create(&thread, NULL, elsewhere, NULL);
  solve();
  usleep(pause_us);
  if (strcmp(how, "exit") == 0) exit(3);
  if (strcmp(how, "quick_exit") == 0) quick_exit(3);
  if (strcmp(how, "_exit") == 0) _exit(3);
  if (strcmp(how, "handler") == 0) raise(SIGTERM);
  if (strcmp(how, "SIGTERM") == 0) raise(SIGTERM);
  if (strcmp(how, "SIGINT") == 0) raise(SIGINT);
  if (strcmp(how, "thread") == 0) pthread_join(thread, NULL);
  if (strcmp(how, "dlclose") == 0) {
    dlclose(library);
    usleep(500000);
  }
  if (strcmp(how, "fork") == 0) {
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
      alarm(60);
      exit(3);
    }
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 3) {
      fprintf(stderr, "the child's status: %d\n", status);
      _exit(5);
    }
  }
  return 3;
}
