/* The part of QUDA's interface that plaq offers; programs that keep to it compile and link as they
 * are. Generated from src/capi; do not edit. What fails is reported as plaq.h says under "QUDA's
 * interface": by default a message and the end of the program.
 */
#ifndef PLAQ_QUDA_QUDA_H
#define PLAQ_QUDA_QUDA_H

#include <stddef.h>
#include <enum_quda.h>
#include <quda_constants.h>
#include <quda_define.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What links and momenta are, and what becomes of them. Members that plaq does not use have
 * their place so that programs compile. */
typedef struct QudaGaugeParam {
  /** Bytes of this struct, as newQudaGaugeParam sets it. */
  size_t struct_size;
  QudaFieldLocation location;
  /** Sites of this rank in x, y, z, t. */
  int X[4];
  /** 1, or members of other fermions; not used. */
  double anisotropy;
  double tadpole_coeff;
  double scale;
  QudaLinkType type;
  QudaGaugeFieldOrder gauge_order;
  QudaTboundary t_boundary;
  /** Of the host's arrays. */
  QudaPrecision cpu_prec;
  /** That plaq works in; links are kept whole. */
  QudaPrecision cuda_prec;
  QudaReconstructType reconstruct;
  /** Not used here, as all up to reconstruct_eigensolver. */
  QudaPrecision cuda_prec_sloppy;
  QudaReconstructType reconstruct_sloppy;
  QudaPrecision cuda_prec_refinement_sloppy;
  QudaReconstructType reconstruct_refinement_sloppy;
  QudaPrecision cuda_prec_precondition;
  QudaReconstructType reconstruct_precondition;
  QudaPrecision cuda_prec_eigensolver;
  QudaReconstructType reconstruct_eigensolver;
  QudaGaugeFixed gauge_fix;
  /** Not used. */
  int ga_pad;
  int site_ga_pad;
  int staple_pad;
  int llfat_ga_pad;
  int mom_ga_pad;
  /** Links with staggered phases are refused. */
  QudaStaggeredPhase staggered_phase_type;
  int staggered_phase_applied;
  /** Not used. */
  double i_mu;
  int overlap;
  /** 1: results take the place of what the output held, 0: they are added. */
  int overwrite_gauge;
  int overwrite_mom;
  /** Input from the device instead of the host's array, which may be NULL then; results that
   * stay on the device, and that come back. */
  int use_resident_gauge;
  int use_resident_mom;
  int make_resident_gauge;
  int make_resident_mom;
  int return_result_gauge;
  int return_result_mom;
  /** Of QUDA_MILC_SITE_GAUGE_ORDER: bytes of a site struct before links and momenta, and of
   * the struct. */
  size_t gauge_offset;
  size_t mom_offset;
  size_t site_size;
} QudaGaugeParam;

/** The GPU of the only rank, -1: plaq chooses. With several ranks qudaInit of
 * quda_milc_interface.h takes its place. */
void initQuda(int device);

/** Gives everything back. */
void endQuda(void);

/** All members as QUDA sets them: values to be filled in are invalid. */
QudaGaugeParam newQudaGaugeParam(void);

/** Keeps the host's links on the device. The first call fixes the lattice. */
void loadGaugeQuda(void *h_gauge, const QudaGaugeParam *param);

/** Forgets them. */
void freeGaugeQuda(void);

/** mom = mom - dt TA[U_d(x) sum_i loop_coeff[i] (product along path i of direction d from x + d)]
 * for each link, TA the traceless anti-hermitian part: input_path_buf[d][i] holds the
 * path_length[i] steps of a staple, 0 to 3 forward in x, y, z, t, 7 to 4 back, that leads back to
 * x. Momenta are anti-hermitian, 10 reals a link (sqrt(2) i p in plaq's convention), in
 * one array, four on a site, even sites first (QUDA_MILC_GAUGE_ORDER), or on the device. Up to 63
 * steps and 1024 paths. Returns 0. */
int computeGaugeForceQuda(void *mom,
                          void *sitelink,
                          int ***input_path_buf,
                          const int *path_length,
                          const double *loop_coeff,
                          int num_paths,
                          int max_length,
                          double dt,
                          const QudaGaugeParam *qudaGaugeParam);

/** out_d(x) = out_d(x) + dt U_d(x) sum_i loop_coeff[i] (product along path i from x + d), without
 * the sum where overwrite_gauge is 1; `out` is laid out as links. Paths need not be closed. */
int computeGaugePathQuda(void *out,
                         void *sitelink,
                         int ***input_path_buf,
                         const int *path_length,
                         const double *loop_coeff,
                         int num_paths,
                         int max_length,
                         double dt,
                         const QudaGaugeParam *qudaGaugeParam);

/** traces[i] = factor loop_coeff[i] sum over x of tr (product along the closed path i from x) of
 * the links that loadGaugeQuda keeps: `traces` takes num_paths complex doubles. Up to 64 steps
 * and 4096 paths. */
void computeGaugeLoopTraceQuda(void *traces,
                               int **input_path_buf,
                               const int *path_length,
                               const double *loop_coeff,
                               int num_paths,
                               int max_length,
                               double factor);

#ifdef __cplusplus
}
#endif

#endif
