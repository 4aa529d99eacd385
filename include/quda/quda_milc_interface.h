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

/** Where the links are: in an array of site structs, or by themselves. */
typedef struct QudaMILCSiteArg_t_s {
  /** The site array, even sites first, or NULL. */
  void *site;
  /** Without a site array: the links, [site][direction][row][column]. */
  void *link;
  /** Bytes of a site struct before its links. */
  size_t link_offset;
  /** Momenta, likewise: [site][direction], 10 reals each, anti-hermitian. */
  void *mom;
  size_t mom_offset;
  /** Bytes of a site struct. */
  size_t size;
} QudaMILCSiteArg_t;

/** How to solve. */
typedef struct QudaInvertArgs_t_s {
  int max_iter;
  /** Not used with clover fermions. */
  QudaParity evenodd;
  /** The iteration runs in 0: the solve's precision, 1: single, 2: half. */
  int mixed_precision;
  /** Fermion boundary in units of pi; the links carry it already, and this says so. */
  double boundary_phase[4];
  /** Not used with clover fermions. */
  int make_resident_solution;
  int use_resident_solution;
  QudaInverterType solver_type;
  /** Tadpole factor of staggered fermions. */
  double tadpole;
  double naik_epsilon;
} QudaInvertArgs_t;

/** The lattice and its ranks. */
typedef struct QudaLayout_t_s {
  /** Sites of the whole lattice in x, y, z, t. */
  const int *latsize;
  /** Ranks in x, y, z, t; x runs fastest. */
  const int *machsize;
  /** GPU of the only rank; -1, or several ranks: plaq chooses. */
  int device;
} QudaLayout_t;

typedef struct QudaInitArgs_t_s {
  /** What the first rank writes of the log to stdout. */
  QudaVerbosity verbosity;
  QudaLayout_t layout;
} QudaInitArgs_t;

/** The host's communicator, the address of an MPI_Comm, before qudaInit; NULL: one rank. */
void qudaSetMPICommHandle(void *comm);

/** Prepares the device for a lattice. All ranks call it; calls after the first do nothing. */
void qudaInit(QudaInitArgs_t input);

/** Gives back everything but pinned memory; qudaInit may follow again. */
void qudaFinalize(void);

/** Memory that a GPU reads fast, ordinary memory without one. Needs no qudaInit; a rank's
 * own affair. NULL after an error that returned. */
void *qudaAllocatePinned(size_t bytes);

/** Frees what qudaAllocatePinned gave; NULL is accepted. */
void qudaFreePinned(void *pointer);

/** Average plaquette: all, those in space, those with time; 1 for unit links.
 * `precision` of the links here and below: 1 float, 2 double. `phase_in` 1: they carry
 * staggered phases and the antiperiodic sign. */
void qudaPlaquettePhased(int precision, double *plaq, const QudaMILCSiteArg_t *arg, int phase_in);

/** MINUS the average Polyakov loop, re and im, of the links as they are: with the
 * antiperiodic sign in them that is the loop without it. `dir` must be 3. */
void qudaPolyakovLoopPhased(int precision,
                            double *ploop,
                            int dir,
                            const QudaMILCSiteArg_t *arg,
                            int phase_in);

/** Puts every link on the nearest matrix of U(3), its determinant made 1. Refused if one is not in SU(3) to
 * `tol` then. Phases are taken out before, and put in again. */
void qudaUnitarizeSU3Phased(int precision, double tol, const QudaMILCSiteArg_t *arg, int phase_in);

/** Takes the host's momenta on the device, where qudaGaugeForce adds to them and qudaUpdateU
 * finds them, until qudaMomSave gives them back. */
void qudaMomLoad(int precision, const QudaMILCSiteArg_t *arg);

void qudaMomSave(int precision, const QudaMILCSiteArg_t *arg);

/** The momenta's part of MILC's Hamiltonian, all ranks: 1/2 tr P^dagger P - 4 summed over links, the 4 its mean
 * over the heat bath. Of the momenta on the device, which stay there, or else of the host's. */
double qudaMomAction(int precision, const QudaMILCSiteArg_t *arg);

/** Multiplies links [site][direction][3][3], even sites first, by MILC's staggered phases (-1)^t in x,
 * (-1)^(t+x) in y, (-1)^(t+x+y) in z, and -1 in t on the last time-slice; in t also by
 * exp(i pi i_mu / T). `flag` 1: puts them in, 0: takes them out. */
void qudaRephase(int prec, void *gauge, int flag, double i_mu);

/** mom = mom - eb3 TA[U_d(x) S_d(x)] for each link, TA the traceless anti-hermitian part, S the sum
 * of its plaquettes' staples times milc_loop_coeff[0], with num_loop_types 2 or 3 of
 * rectangles times [1], with 3 of loops i j k -i -j -k times [2]. */
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

/** traces[i] = factor loop_coeff[i] sum over x of tr (product along the closed path i from x), as
 * re, im: the links without their staggered phases, but with the antiperiodic sign. */
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

/** U = exp(eps P) U with the anti-hermitian momenta P, the exponential exact to rounding. Phases stay. */
void qudaUpdateU(int precision, double eps, const QudaMILCSiteArg_t *arg);

void qudaUpdateUPhased(int precision, double eps, const QudaMILCSiteArg_t *arg, int phase_in);

/** The same; the links come back to the host after each call, `want_gaugepipe` 1 or not. */
void qudaUpdateUPhasedPipeline(int precision,
                               double eps,
                               const QudaMILCSiteArg_t *arg,
                               int phase_in,
                               int want_gaugepipe);

/** Fixes Coulomb (`gauge_dir` 3) or Landau gauge by overrelaxation with `relax_boost`; the
 * links change in place. Ends when the functional sum Re tr U / (3 d V) rises by less
 * than `tolerance` from one sweep to the next (`stopWtheta` 0), when QUDA's theta is
 * below it (1), or after `Nsteps`. */
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
 * the diagonal and 15 complex below it by columns; spinors [site][spin][colour]. Sites
 * even ones first. Residuals are |b - M x| / |b| and the heavy-quark residual; a target
 * of 0 is not asked for, and both asked for must be met. All arrays are of
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
