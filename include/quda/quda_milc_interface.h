/* The part of QUDA's interface that plaq offers; programs that keep to it compile and link as they
 * are. Generated from interface/src/capi; do not edit. What fails is reported as plaq.h says under "QUDA's
 * interface": by default a message and the end of the program.
 */
#ifndef PLAQ_QUDA_QUDA_MILC_INTERFACE_H
#define PLAQ_QUDA_QUDA_MILC_INTERFACE_H

#include <enum_quda.h>
#include <quda.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Places of the host's links and momenta: in an array of site structs, or in arrays of their own. */
typedef struct QudaMILCSiteArg_t_s {
  /** The site array, even sites first, or NULL. */
  void *site;
  /** Links [site][direction][row][column], if there is no site array. */
  void *link;
  /** Offset in bytes of the links in a site struct. */
  size_t link_offset;
  /** Momenta [site][direction], 10 reals each, antihermitian, if there is no site array. */
  void *mom;
  size_t mom_offset;
  /** Size in bytes of a site struct. */
  size_t size;
} QudaMILCSiteArg_t;

/** Settings of a solve. */
typedef struct QudaInvertArgs_t_s {
  int max_iter;
  /** Not used for clover fermions. */
  QudaParity evenodd;
  /** Precision of the iteration; 0: that of the solve, 1: single, 2: half. */
  int mixed_precision;
  /** Fermion boundary phases in units of pi, which the links contain already. */
  double boundary_phase[4];
  /** Not used for clover fermions. */
  int make_resident_solution;
  int use_resident_solution;
  QudaInverterType solver_type;
  /** Tadpole factor of staggered fermions; not used. */
  double tadpole;
  double naik_epsilon;
} QudaInvertArgs_t;

/** The lattice and the process grid. */
typedef struct QudaLayout_t_s {
  /** Extents of the whole lattice in x, y, z, t. */
  const int *latsize;
  /** Number of ranks in x, y, z, t; x is fastest. */
  const int *machsize;
  /** GPU, if there is a single rank; -1, or several ranks: plaq chooses. */
  int device;
} QudaLayout_t;

typedef struct QudaInitArgs_t_s {
  /** Amount of the log that the first rank writes to stdout. */
  QudaVerbosity verbosity;
  QudaLayout_t layout;
} QudaInitArgs_t;

/** Sets the host's communicator by the address of an MPI_Comm; to be called before qudaInit. NULL: one rank. */
void qudaSetMPICommHandle(void *comm);

/** Prepares the device for a lattice. All ranks call it; calls after the first do nothing. */
void qudaInit(QudaInitArgs_t input);

/** Frees everything except pinned memory; qudaInit may be called again. */
void qudaFinalize(void);

/** Allocates memory that a GPU accesses fast, or ordinary memory without a GPU. Needs no qudaInit, and may be
 * called by single ranks. NULL after an error that returned. */
void *qudaAllocatePinned(size_t bytes);

/** Frees what qudaAllocatePinned gave; NULL is accepted. */
void qudaFreePinned(void *pointer);

/** Average plaquette: all, those in space, those with time; 1 for unit links.
 * `precision` of the links here and below: 1 float, 2 double. `phase_in` 1: they carry
 * staggered phases and the antiperiodic sign. */
void qudaPlaquettePhased(int precision, double *plaq, const QudaMILCSiteArg_t *arg, int phase_in);

/** Measures MINUS the average Polyakov loop, re and im, of the links as they are; with the antiperiodic sign
 * in the links this is the loop without the sign. `dir` must be 3. */
void qudaPolyakovLoopPhased(int precision,
                            double *ploop,
                            int dir,
                            const QudaMILCSiteArg_t *arg,
                            int phase_in);

/** Replaces every link by the nearest matrix of U(3) divided by the cube root of its determinant. Refused if
 * a result is not in SU(3) to `tol`. Phases are divided out before and multiplied in again. */
void qudaUnitarizeSU3Phased(int precision, double tol, const QudaMILCSiteArg_t *arg, int phase_in);

/** Copies the host's momenta to the device, where qudaGaugeForce adds to them and qudaUpdateU uses them,
 * until qudaMomSave returns them. */
void qudaMomLoad(int precision, const QudaMILCSiteArg_t *arg);

void qudaMomSave(int precision, const QudaMILCSiteArg_t *arg);

/** Gives the momenta's part of MILC's Hamiltonian over all ranks: 1/2 tr P^dagger P - 4 summed over links,
 * where 4 is the mean in the heat bath. It is computed from the momenta on the device, which stay there, or
 * if there are none from the host's. */
double qudaMomAction(int precision, const QudaMILCSiteArg_t *arg);

/** Multiplies links [site][direction][3][3], even sites first, by MILC's staggered phases (-1)^t in x,
 * (-1)^(t+x) in y, (-1)^(t+x+y) in z, and -1 in t on the last time-slice; in t also by exp(i pi i_mu / T).
 * `flag` 1: multiplies by them, 0: divides by them. */
void qudaRephase(int prec, void *gauge, int flag, double i_mu);

/** Computes mom = mom - eb3 TA[U_d(x) S_d(x)] for each link, where TA is the traceless antihermitian part. S
 * is the sum of the link's staples from plaquettes times milc_loop_coeff[0], for num_loop_types 2 or 3 plus
 * those from rectangles times [1], for 3 plus those from loops i j k -i -j -k times [2]. */
void qudaGaugeForce(int precision,
                    int num_loop_types,
                    const double *milc_loop_coeff,
                    double eb3,
                    const QudaMILCSiteArg_t *arg);

void qudaGaugeForcePhased(int precision,
                          int num_loop_types,
                          const double *milc_loop_coeff,
                          double eb3,
                          const QudaMILCSiteArg_t *arg,
                          int phase_in);

/** Computes traces[i] = factor loop_coeff[i] sum over x of tr (product along the closed path i from x), as
 * re, im, from the links without staggered phases, but with the antiperiodic sign. */
void qudaGaugeLoopTracePhased(int precision,
                              double *traces,
                              int **input_path_buf,
                              const int *path_length,
                              const double *loop_coeff,
                              int num_paths,
                              int max_length,
                              double factor,
                              const QudaMILCSiteArg_t *arg,
                              int phase_in);

/** Computes U = exp(eps P) U with the antihermitian momenta P; the exponential is exact to rounding. Phases
 * in the links stay. */
void qudaUpdateU(int precision, double eps, const QudaMILCSiteArg_t *arg);

void qudaUpdateUPhased(int precision, double eps, const QudaMILCSiteArg_t *arg, int phase_in);

/** The same as qudaUpdateU; the links are returned to the host after each call, whatever `want_gaugepipe` is. */
void qudaUpdateUPhasedPipeline(int precision,
                               double eps,
                               const QudaMILCSiteArg_t *arg,
                               int phase_in,
                               int want_gaugepipe);

/** Fixes Coulomb (`gauge_dir` 3) or Landau gauge by overrelaxation with `relax_boost`; the links change in
 * place. The fixing ends when the functional sum Re tr U / (3 d V) rises by less than `tolerance` from one
 * sweep to the next (`stopWtheta` 0), when QUDA's theta is below it (1), or after `Nsteps`. */
void qudaGaugeFixingOVR(int precision,
                        unsigned gauge_dir,
                        int Nsteps,
                        int verbose_interval,
                        double relax_boost,
                        double tolerance,
                        unsigned reunit_interval,
                        unsigned stopWtheta,
                        const QudaMILCSiteArg_t *arg);

/** Solves (A - kappa H) x = b with H = sum [(1 - gamma) U x(+mu) + (1 + gamma) U^dagger x(-mu)]
 * in the DeGrand-Rossi basis. `link` [site][direction][3][3] with the boundary in it;
 * `clover` and `clover_inv` are A and its inverse, 72 reals a site in two blocks of 6 on
 * the diagonal and 15 complex below it by columns; spinors [site][spin][colour]. Sites even ones first.
 * Residuals are |b - M x| / |b| and the heavy-quark residual; a target of 0 is not required; if both are
 * set, both must be met. All arrays are of
 * `external_precision`; `quda_precision` is that of the solve: 1 single, 2 double. */
void qudaCloverInvert(int external_precision,
                      int quda_precision,
                      double kappa,
                      double clover_coeff,
                      QudaInvertArgs_t inv_args,
                      double target_residual,
                      double target_fermilab_residual,
                      const void *link,
                      const void *clover,
                      const void *clover_inv,
                      const void *source,
                      void *solution,
                      double *final_residual,
                      double *final_fermilab_residual,
                      int *num_iters);

#ifdef __cplusplus
}
#endif

#endif
