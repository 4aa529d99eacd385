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
  /** Boundaries in time: 0 open, 1 of the Schroedinger functional, 2 open at time 0 and as 1 at T, 3 periodic. */
  int type;
  /** Directions with C* boundaries. */
  int cstar;
  /** Angles of the links of SU(3) that stand still at time 0 and at T, three with the sum 0. */
  double phi3[2][3];
  /** Angles of those of U(1). Not used. */
  double phi1[2];
} bc_parms_t;

/** Parameters of the Dirac operator. */
typedef struct dirac_parms_t_s {
  /** Electric charge. */
  int qhat;
  /** Bare mass; kappa = 1 / (2 m0 + 8). */
  double m0;
  /** Coefficients of the clover terms of SU(3) and of U(1). */
  double su3csw;
  double u1csw;
  /** Coefficients of the boundary terms at time 0 and at T; not used where time is periodic. */
  double cF[2];
  /** Angles of the boundary conditions in space, which the links carry. */
  double theta[3];
} dirac_parms_t;

/** Gauge group, an OpenQCDGaugeGroup, and number of flavours. */
typedef struct flds_parms_t_s {
  int gauge;
  int nfl;
} flds_parms_t;

#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Solvers and eigensolvers have numbers below these. */
#define OPENQCD_MAX_INVERTERS 32

#define OPENQCD_MAX_EIGENSOLVERS 32

/** Gauge groups, as flds_parms_t names them. */
typedef enum OpenQCDGaugeGroup_s {
  OPENQCD_GAUGE_SU3 = 1,
  OPENQCD_GAUGE_U1 = 2,
  OPENQCD_GAUGE_SU3xU1 = 3,
  OPENQCD_GAUGE_INVALID = QUDA_INVALID_ENUM
} OpenQCDGaugeGroup;

/** openQxD's own functions. */
typedef bc_parms_t (*openQCD_bc_parms)(void);

typedef flds_parms_t (*openQCD_flds_parms)(void);

typedef dirac_parms_t (*openQCD_dirac_parms)(void);

/** The address of a field, which is up to date. */
typedef void * (*openQCD_field)(void);

/** Revisions of the links of SU(3) and of U(1): others than before after each change, both 0 before the first. */
typedef void (*openQCD_revisions)(int *ud, int *ad);

/** Takes links [site, x slowest, t fastest][x, y, z, t][row][column] into openQxD's order. */
typedef void (*openQCD_reorder)(void *given, void *wanted);

/** The lattice and its ranks: x, y, z, t. */
typedef struct openQCD_QudaLayout_t_s {
  /** Sites of a rank. */
  int L[4];
  /** Ranks. */
  int nproc[4];
  /** Not used. */
  int nproc_blk[4];
  /** Sites of the lattice. */
  int N[4];
  /** GPU of the only rank; -1, or several ranks: plaq chooses. */
  int device;
  /** Directions with C* boundary conditions: 0 or 1. */
  int cstar;
  /** cstar, nproc, then the rank at each place of the grid, t fastest. */
  int *data;
  openQCD_bc_parms bc_parms;
  openQCD_flds_parms flds_parms;
  openQCD_dirac_parms dirac_parms;
  /** Links with the phases of quarks: exp(i theta_k / N_k) in space and, where time is periodic, -1 on the last
   * time-slice. */
  openQCD_field h_gauge;
  /** Clover term. */
  openQCD_field h_sw;
  openQCD_revisions get_gfld_flags;
} openQCD_QudaLayout_t;

typedef struct openQCD_QudaInitArgs_t_s {
  /** What the first rank writes of the log, unless section [QUDA] of infile has another verbosity. */
  QudaVerbosity verbosity;
  /** Where to: a FILE *, which stays open until openQCD_qudaFinalize; NULL: stdout. Lines begin with "QUDA: ". */
  void *logfile;
  /** Not used. */
  void *gauge;
  /** Sites of a rank. */
  int volume;
  /** Sites beyond its faces, in directions with several ranks. */
  int bndry;
  /** For openQCD_qudaGaugeSave. */
  openQCD_reorder reorder_gauge_quda_to_openqcd;
} openQCD_QudaInitArgs_t;

typedef struct openQCD_QudaDiracParam_t_s {
  double kappa;
  double mu;
  double su3csw;
  /** Must be 0. */
  double u1csw;
  int qhat;
} openQCD_QudaDiracParam_t;

/** Opens the session. All ranks call it; calls after the first do nothing. Section [QUDA] of infile may have a key
 * verbosity; infile NULL: no sections. */
void openQCD_qudaInit(openQCD_QudaInitArgs_t initargs, openQCD_QudaLayout_t layout, char *infile);

/** Gives everything back; openQCD_qudaInit may follow again. */
void openQCD_qudaFinalize(void);

/** h_out = h_in by way of the device. Spinors are openQxD's, in double precision. */
void openQCD_back_and_forth(void *h_in, void *h_out);

/** Index of the site with local coordinates t, x, y, z, and of its neighbour in direction mu (0 to 3: t, x, y, z). */
int openQCD_qudaIndexIpt(const int *x);

int openQCD_qudaIndexIup(const int *x, int mu);

/** The norm squared, of all ranks. Functions with _NoLoads take what openQCD_qudaH2D returned. */
double openQCD_qudaNorm(void *h_in);

double openQCD_qudaNorm_NoLoads(void *d_in);

/** h_out = gamma h_in, dir 0 to 3: t, x, y, z; 4 and 5: gamma5. */
void openQCD_qudaGamma(int dir, void *h_in, void *h_out);

/** A spinor on the device; what is returned is no address. */
void *openQCD_qudaH2D(void *h_field);

void openQCD_qudaD2H(void *d_field, void *h_field);

/** Frees it and sets the handle to NULL. */
void openQCD_qudaSpinorFree(void * *d_field);

/** h_dst = D_w h_src with the links on the device, and for su3csw other than 0 a clover term of these. */
void openQCD_qudaDw_deprecated(void *h_src, void *h_dst, openQCD_QudaDiracParam_t param);

/** h_out = (D_w + i mu gamma5) h_in with openQxD's parameters. Links and clover term are brought up to date. Where
 * quarks vanish at boundaries in time h_in counts as zero. */
void openQCD_qudaDw(double mu, void *h_in, void *h_out);

void openQCD_qudaDw_NoLoads(double mu, void *d_in, void *d_out);

/** Reads section [Solver id] the first time, and brings links, clover term and multigrid up to date. id -1 is the Dirac
 * operator, without a section. What is returned is the address of a QudaInvertParam. */
void *openQCD_qudaSolverGetHandle(int id);

/** Hash of its settings, 0 before openQCD_qudaSolverGetHandle. */
int openQCD_qudaSolverGetHash(int id);

/** Prints its settings to C's stdout on rank 0. */
void openQCD_qudaSolverPrintSetup(int id);

void openQCD_qudaSolverDestroy(int id);

/** Solves (D_w + i mu gamma5) h_solution = h_source. Returns |b - D x| / |b|; status: the iterations, or -1 where this is
 * above tol. */
double openQCD_qudaInvert(int id, double mu, void *h_source, void *h_solution, int *status);

/** The same for section [Eigensolver id], with the operator of a solver. */
void *openQCD_qudaEigensolverGetHandle(int id, int solver_id);

void openQCD_qudaEigensolverPrintSetup(int id, int solver_id);

/** h_evecs: n_conv spinors, or NULL; h_evals: n_conv complex doubles. */
void openQCD_qudaEigensolve(int id, int solver_id, void **h_evecs, void *h_evals);

void openQCD_qudaEigensolverDestroy(int id);

/** 3 times the average plaquette; at boundaries in time that of openQCD's logs. */
double openQCD_qudaPlaquette(void);

/** Takes links, those behind the last site among them, with the boundaries in time of bc_parms() and the phases of
 * dirac_parms(); t_boundary QUDA_ANTI_PERIODIC_T: the last time-slice carries -1. */
void openQCD_qudaGaugeLoad(void *gauge,
                           QudaPrecision prec,
                           QudaReconstructType rec,
                           QudaTboundary t_boundary);

/** Gives them back through reorder_gauge_quda_to_openqcd. */
void openQCD_qudaGaugeSave(void *gauge,
                           QudaPrecision prec,
                           QudaReconstructType rec,
                           QudaTboundary t_boundary);

void openQCD_qudaGaugeFree(void);

/** Takes a clover term of openQxD, which has 1 / (2 kappa) on its diagonal without links; csw must not be 0. */
void openQCD_qudaCloverLoad(void *h_clover, double kappa, double csw);

void openQCD_qudaCloverFree(void);

#ifdef __cplusplus
}
#endif

#endif
