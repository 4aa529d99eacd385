/* The part of QUDA's interface that plaq offers; programs that keep to it compile and link as they
 * are. Generated from interface/src/capi; do not edit. What fails is reported as plaq.h says under "QUDA's
 * interface": by default a message and the end of the program.
 */
#ifndef PLAQ_QUDA_UTIL_QUDA_H
#define PLAQ_QUDA_UTIL_QUDA_H

#include <stdlib.h>
#include <quda.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Number of this rank. */
int plaq_quda_comm_rank(void);

/** Gives the number of ranks. */
int plaq_quda_comm_size(void);

/** Gives this rank's coordinate in the process grid in direction `dim`: 0 to 3 are x, y, z, t. */
int plaq_quda_comm_coords(int dim);

/** Gives the number of ranks in direction `dim`. */
int plaq_quda_comm_dim(int dim);

/** Waits for all ranks; all of them call it. */
void plaq_quda_comm_barrier(void);

/** Copies bytes of rank `root` to all ranks; all of them call it. */
void plaq_quda_comm_broadcast(void *data, size_t nbytes, int root);

/** Frees the communicator of these functions; to be called after endQuda and before MPI_Finalize. */
void plaq_quda_comm_finalize(void);

#ifdef __cplusplus
}
#endif

#ifdef __cplusplus
#include <stdio.h>
#include <stdlib.h>

#include <cstring>
#include <string>
#include <vector>

namespace quda {

/* Ranks of the process grid of initCommsGridQuda, or of QMP; without both there is one. */
inline int comm_rank() { return plaq_quda_comm_rank(); }
inline size_t comm_size() { return (size_t)plaq_quda_comm_size(); }
/* This rank's place in the grid in direction dim, and the number of ranks there. */
inline int commCoords(int dim) { return plaq_quda_comm_coords(dim); }
inline int comm_coord(int dim) { return plaq_quda_comm_coords(dim); }
inline int commDim(int dim) { return plaq_quda_comm_dim(dim); }
inline int comm_dim(int dim) { return plaq_quda_comm_dim(dim); }
/* All ranks call these. */
inline void comm_barrier() { plaq_quda_comm_barrier(); }
inline void comm_broadcast(void *data, size_t nbytes, int root = 0) { plaq_quda_comm_broadcast(data, nbytes, root); }
/* After endQuda, before the host ends MPI. */
inline void comm_finalize() { plaq_quda_comm_finalize(); }

struct plaq_host_state {
  std::vector<QudaVerbosity> verbosity{QUDA_SUMMARIZE};
  FILE *output = stdout;
  static plaq_host_state &get() {
    static plaq_host_state state;
    return state;
  }
};

[[noreturn]] inline void plaq_end(const char *function, const char *file, int line) {
  fprintf(stderr, "\n  where       rank %d, %s, %s:%d\n", comm_rank(), function, file, line);
  fflush(stderr);
  exit(1);
}

} // namespace quda

/* The verbosity that hosts put into members of structs; it changes nothing in plaq by itself. Emitted where this header is
 * included, so that hosts which declare these functions themselves link, too. */
#ifdef __GNUC__
#define PLAQ_QUDA_EMITTED __attribute__((used)) inline
#else
#define PLAQ_QUDA_EMITTED inline
#endif
PLAQ_QUDA_EMITTED QudaVerbosity getVerbosity() { return quda::plaq_host_state::get().verbosity.back(); }
PLAQ_QUDA_EMITTED void setVerbosity(QudaVerbosity level) { quda::plaq_host_state::get().verbosity.back() = level; }
PLAQ_QUDA_EMITTED void pushVerbosity(QudaVerbosity level) { quda::plaq_host_state::get().verbosity.push_back(level); }
PLAQ_QUDA_EMITTED void popVerbosity() {
  std::vector<QudaVerbosity> &levels = quda::plaq_host_state::get().verbosity;
  if (levels.size() > 1) levels.pop_back();
}
PLAQ_QUDA_EMITTED FILE *getOutputFile() { return quda::plaq_host_state::get().output; }
PLAQ_QUDA_EMITTED void setOutputFile(FILE *file) { quda::plaq_host_state::get().output = file; }

/* Messages of the host: on the first rank, on every rank to stderr, and to stderr with the end of the program. */
#define printfQuda(...)                           \
  do {                                            \
    if (quda::comm_rank() == 0) {                 \
      fprintf(getOutputFile(), __VA_ARGS__);      \
      fflush(getOutputFile());                    \
    }                                             \
  } while (0)
#define warningQuda(...)                          \
  do {                                            \
    if (getVerbosity() > QUDA_SILENT) {           \
      fprintf(stderr, "WARNING: ");               \
      fprintf(stderr, __VA_ARGS__);               \
      fprintf(stderr, "\n");                      \
    }                                             \
  } while (0)
#define errorQuda(...)                            \
  do {                                            \
    fprintf(stderr, "ERROR: ");                   \
    fprintf(stderr, __VA_ARGS__);                 \
    quda::plaq_end(__func__, __FILE__, __LINE__); \
  } while (0)
#endif

#endif
