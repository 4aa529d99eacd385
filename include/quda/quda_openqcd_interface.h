/* The part of QUDA's interface that plaq offers; programs that keep to it compile and link as they
 * are. Generated from interface/src/capi; do not edit. What fails is reported as plaq.h says under "QUDA's
 * interface": by default a message and the end of the program.
 */
#ifndef PLAQ_QUDA_QUDA_OPENQCD_INTERFACE_H
#define PLAQ_QUDA_QUDA_OPENQCD_INTERFACE_H

typedef struct {
  double re, im;
} openqcd_complex_dble;

#ifdef __CUDACC_RTC__
#include <quda.h>
#else
#define __CUDACC_RTC__
#define double2 openqcd_complex_dble
#include <quda.h>
#undef double2
#undef __CUDACC_RTC__
#endif

#ifndef FLAGS_H

/** Boundary conditions. */
typedef struct bc_parms_t_s {
  /** Boundaries in time: 0 open, 1 of the Schroedinger functional, 2 open at time 0 and as 1 at T, 3
   * periodic. */
  int type;
  /** Directions with C* boundaries. */
  int cstar;
  /** Angles of the links of SU(3) that are fixed at time 0 and at T, three with the sum 0. */
  double phi3[2][3];
  /** Angles of the links of U(1) that are fixed at time 0 and at T. Not used. */
  double phi1[2];
} bc_parms_t;

/** Parameters of openQxD's Dirac operator. */
typedef struct dirac_parms_t_s {
  /** Electric charge. */
  int qhat;
  /** Bare mass; kappa = 1 / (2 m0 + 8). */
  double m0;
  /** Coefficient of the clover term of SU(3). */
  double su3csw;
  double u1csw;
  /** Coefficients of the boundary terms at time 0 and at T; not used where time is periodic. */
  double cF[2];
  /** Angles of the spatial boundary conditions, which the links contain. */
  double theta[3];
} dirac_parms_t;

/** Gauge group (an OpenQCDGaugeGroup) and number of flavours. */
typedef struct flds_parms_t_s {
  int gauge;
  int nfl;
} flds_parms_t;

#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Numbers of solvers and of eigensolvers, counted from 0, are below these. */
#define OPENQCD_MAX_INVERTERS 32

#define OPENQCD_MAX_EIGENSOLVERS 32

/** Gauge groups, as named in flds_parms_t. */
typedef enum OpenQCDGaugeGroup_s {
  OPENQCD_GAUGE_SU3 = 1,
  OPENQCD_GAUGE_U1 = 2,
  OPENQCD_GAUGE_SU3xU1 = 3,
  OPENQCD_GAUGE_INVALID = QUDA_INVALID_ENUM
} OpenQCDGaugeGroup;

/** openQxD's own functions, which plaq calls. */
typedef bc_parms_t (*openQCD_bc_parms)(void);

typedef flds_parms_t (*openQCD_flds_parms)(void);

typedef dirac_parms_t (*openQCD_dirac_parms)(void);

/** Returns the address of a field that is up to date. */
typedef void * (*openQCD_field)(void);

/** Gives the revision numbers of the links of SU(3) and of U(1), which differ after each change; both are 0
 * before the first one. */
typedef void (*openQCD_revisions)(int *ud, int *ad);

/** Converts links [site, x slowest, t fastest][x, y, z, t][row][column] to openQxD's order. */
typedef void (*openQCD_reorder)(void *given, void *wanted);

/** The lattice and its ranks, in the order x, y, z, t. */
typedef struct openQCD_QudaLayout_t_s {
  /** Extents of a rank's part. */
  int L[4];
  /** Number of ranks in each direction. */
  int nproc[4];
  /** Not used. */
  int nproc_blk[4];
  /** Extents of the whole lattice. */
  int N[4];
  /** GPU, if there is a single rank; -1, or several ranks: plaq chooses. */
  int device;
  /** Number of directions with C* boundary conditions: 0 or 1. */
  int cstar;
  /** cstar, nproc, then the rank at each place of the process grid, t fastest. */
  int *data;
  openQCD_bc_parms bc_parms;
  openQCD_flds_parms flds_parms;
  openQCD_dirac_parms dirac_parms;
  /** Links with the phases of quarks: exp(i theta_k / N_k) in space and, where time is periodic, -1 on the
   * last time-slice. */
  openQCD_field h_gauge;
  /** The clover term. */
  openQCD_field h_sw;
  openQCD_revisions get_gfld_flags;
} openQCD_QudaLayout_t;

typedef struct openQCD_QudaInitArgs_t_s {
  /** Amount of the log that the first rank writes, unless section [QUDA] of infile sets another verbosity. */
  QudaVerbosity verbosity;
  /** A FILE * to which the log is written, which must stay open until openQCD_qudaFinalize; NULL: stdout.
   * Lines begin with "QUDA: ". */
  void *logfile;
  /** Not used. */
  void *gauge;
  /** Number of sites of a rank. */
  int volume;
  /** Number of sites beyond the rank's faces, in directions with several ranks. */
  int bndry;
  /** Function of openQxD that converts links to its order, for openQCD_qudaGaugeSave. */
  openQCD_reorder reorder_gauge_quda_to_openqcd;
} openQCD_QudaInitArgs_t;

typedef struct openQCD_QudaDiracParam_t_s {
  double kappa;
  double mu;
  double su3csw;
  /** Coefficient of the clover term of U(1); must be 0. */
  double u1csw;
  int qhat;
} openQCD_QudaDiracParam_t;

/** Opens the session. All ranks call it; later calls do nothing. Section [QUDA] of infile may have a key
 * verbosity; if infile is NULL there are no sections. */
void openQCD_qudaInit(openQCD_QudaInitArgs_t initargs, openQCD_QudaLayout_t layout, char *infile);

/** Frees everything; openQCD_qudaInit may be called again. */
void openQCD_qudaFinalize(void);

/** Copies h_in to h_out through the device. Spinors are openQxD's, in double precision. */
void openQCD_back_and_forth(void *h_in, void *h_out);

/** Gives the index of the site with local coordinates t, x, y, z, or of its neighbour in direction mu (0 to
 * 3: t, x, y, z). */
int openQCD_qudaIndexIpt(const int *x);

int openQCD_qudaIndexIup(const int *x, int mu);

/** Computes the squared norm over all ranks. Functions with _NoLoads take what openQCD_qudaH2D returned. */
double openQCD_qudaNorm(void *h_in);

double openQCD_qudaNorm_NoLoads(void *d_in);

/** Computes h_out = gamma h_in; dir 0 to 3: t, x, y, z, 4 and 5: gamma5. */
void openQCD_qudaGamma(int dir, void *h_in, void *h_out);

/** Copies a spinor to the device; the result identifies it and is not an address. */
void *openQCD_qudaH2D(void *h_field);

void openQCD_qudaD2H(void *d_field, void *h_field);

/** Frees a spinor that openQCD_qudaH2D returned and sets the handle to NULL. */
void openQCD_qudaSpinorFree(void * *d_field);

/** Computes h_dst = D_w h_src with the links on the device and, if su3csw is not 0, a clover term made from
 * these. */
void openQCD_qudaDw_deprecated(void *h_src, void *h_dst, openQCD_QudaDiracParam_t param);

/** h_out = (D_w + i mu gamma5) h_in with openQxD's parameters. Links and clover term are brought up to date.
 * Where quarks vanish at boundaries in time h_in counts as zero. */
void openQCD_qudaDw(double mu, void *h_in, void *h_out);

void openQCD_qudaDw_NoLoads(double mu, void *d_in, void *d_out);

/** Reads section [Solver id] at the first call, and updates links, clover term and multigrid. id -1: the
 * Dirac operator, without a section. The result is the address of a QudaInvertParam. */
void *openQCD_qudaSolverGetHandle(int id);

/** Gives a hash of the solver's settings; 0 before openQCD_qudaSolverGetHandle. */
int openQCD_qudaSolverGetHash(int id);

/** Prints the solver's settings to C's stdout on rank 0. */
void openQCD_qudaSolverPrintSetup(int id);

void openQCD_qudaSolverDestroy(int id);

/** Solves (D_w + i mu gamma5) h_solution = h_source. Returns |b - D x| / |b|; status: the number of
 * iterations, or -1 if that is above tol. */
double openQCD_qudaInvert(int id, double mu, void *h_source, void *h_solution, int *status);

/** Does what openQCD_qudaSolverGetHandle does for section [Eigensolver id], with the operator of a solver. */
void *openQCD_qudaEigensolverGetHandle(int id, int solver_id);

void openQCD_qudaEigensolverPrintSetup(int id, int solver_id);

/** Finds eigenvectors. h_evecs: n_conv spinors, or NULL; h_evals: n_conv complex doubles. */
void openQCD_qudaEigensolve(int id, int solver_id, void **h_evecs, void *h_evals);

void openQCD_qudaEigensolverDestroy(int id);

/** 3 times the average plaquette; at boundaries in time that of openQCD's logs. */
double openQCD_qudaPlaquette(void);

/** Takes links, those behind the last site among them, with the boundaries in time of bc_parms() and the phases
 * of dirac_parms(); t_boundary QUDA_ANTI_PERIODIC_T: the last time-slice carries -1. */
void openQCD_qudaGaugeLoad(void *gauge,
                           QudaPrecision prec,
                           QudaReconstructType rec,
                           QudaTboundary t_boundary);

/** Returns the links through reorder_gauge_quda_to_openqcd. */
void openQCD_qudaGaugeSave(void *gauge,
                           QudaPrecision prec,
                           QudaReconstructType rec,
                           QudaTboundary t_boundary);

void openQCD_qudaGaugeFree(void);

/** Loads a clover term of openQxD, which is 1 / (2 kappa) for links that are zero; csw must not be 0. */
void openQCD_qudaCloverLoad(void *h_clover, double kappa, double csw);

void openQCD_qudaCloverFree(void);

#ifdef __cplusplus
}
#endif

#endif
