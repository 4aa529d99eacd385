/* The part of QUDA's interface that plaq offers; programs that keep to it compile and link as they
 * are. Generated from interface/src/capi; do not edit. What fails is reported as plaq.h says under "QUDA's
 * interface": by default a message and the end of the program.
 */
#ifndef PLAQ_QUDA_QUDA_H
#define PLAQ_QUDA_QUDA_H

#include <stdio.h>
#include <enum_quda.h>
#include <quda_constants.h>
#include <quda_define.h>

#if defined(__CUDACC_RTC__)
#define QUDA_DOUBLE_COMPLEX double2
#else
#define QUDA_DOUBLE_COMPLEX double _Complex
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The rank at coordinates of the process grid. */
typedef int (*QudaCommsMap)(const int *coords, void *fdata);

/** What links and momenta are, and what becomes of them. */
typedef struct QudaGaugeParam_s {
  /** Bytes of this struct, as its newQuda function sets it. */
  size_t struct_size;
  /** Device or host: the driver is asked for each address.
   * Not used. */
  QudaFieldLocation location;
  /** Sites of this rank in x, y, z, t. */
  int X[4];
  /** Spatial links carry 1 / anisotropy; left alone: 1. */
  double anisotropy;
  /** Not used. */
  double tadpole_coeff;
  /** Not used. */
  double scale;
  /** QUDA_WILSON_LINKS; QUDA_SMEARED_LINKS in saveGaugeQuda. */
  QudaLinkType type;
  /** Order of the host's links. */
  QudaGaugeFieldOrder gauge_order;
  /** QUDA_ANTI_PERIODIC_T: links of the last time-slice carry the sign. */
  QudaTboundary t_boundary;
  /** Precision of the host's arrays. */
  QudaPrecision cpu_prec;
  /** Precision that plaq works in: single or double. */
  QudaPrecision cuda_prec;
  /** plaq chooses the storage: links of SU(3) as two rows, others whole.
   * Not used. */
  QudaReconstructType reconstruct;
  /** Not used. */
  QudaPrecision cuda_prec_sloppy;
  /** Not used. */
  QudaReconstructType reconstruct_sloppy;
  /** Not used. */
  QudaPrecision cuda_prec_refinement_sloppy;
  /** Not used. */
  QudaReconstructType reconstruct_refinement_sloppy;
  /** Not used. */
  QudaPrecision cuda_prec_precondition;
  /** Not used. */
  QudaReconstructType reconstruct_precondition;
  /** Not used. */
  QudaPrecision cuda_prec_eigensolver;
  /** Not used. */
  QudaReconstructType reconstruct_eigensolver;
  /** Links of the temporal gauge are kept like all others.
   * Not used. */
  QudaGaugeFixed gauge_fix;
  /** Not used. */
  int ga_pad;
  /** Not used. */
  int site_ga_pad;
  /** Not used. */
  int staple_pad;
  /** Not used. */
  int llfat_ga_pad;
  /** Not used. */
  int mom_ga_pad;
  /** Refused with staggered_phase_applied 1. */
  QudaStaggeredPhase staggered_phase_type;
  int staggered_phase_applied;
  /** Not used. */
  double i_mu;
  /** Not used. */
  int overlap;
  /** 1: results take the place of what the output held, 0: they are added. */
  int overwrite_gauge;
  int overwrite_mom;
  /** 1: input from the device; the host's array may be NULL then. */
  int use_resident_gauge;
  int use_resident_mom;
  /** 1: results stay on the device. */
  int make_resident_gauge;
  int make_resident_mom;
  /** 1: results come back to the host's array. */
  int return_result_gauge;
  int return_result_mom;
  /** QUDA_MILC_SITE_GAUGE_ORDER: bytes of a site struct before its links. */
  size_t gauge_offset;
  /** The same of its momenta. */
  size_t mom_offset;
  /** Bytes of a site struct. */
  size_t site_size;
} QudaGaugeParam;

/** Operator, equation and solver. */
typedef struct QudaInvertParam_s {
  /** Bytes of this struct, as its newQuda function sets it. */
  size_t struct_size;
  /** Device or host: the driver is asked for each address.
   * Not used. */
  QudaFieldLocation input_location;
  /** Not used. */
  QudaFieldLocation output_location;
  /** Operator: Wilson, clover, twisted mass, twisted clover, Laplace or covariant derivative. */
  QudaDslashType dslash_type;
  QudaInverterType inv_type;
  /** kappa counts.
   * Not used. */
  double mass;
  /** Hopping parameter, 1 / (2 m + 2 + 6 / anisotropy). */
  double kappa;
  /** Not used. */
  double m5;
  /** Not used. */
  int Ls;
  /** Not used. */
  QUDA_DOUBLE_COMPLEX b_5[32];
  /** Not used. */
  QUDA_DOUBLE_COMPLEX c_5[32];
  /** Not used. */
  double eofa_shift;
  /** Not used. */
  int eofa_pm;
  /** Not used. */
  double mq1;
  /** Not used. */
  double mq2;
  /** Not used. */
  double mq3;
  /** Twisted mass: + 2 i kappa mu gamma5, of a doublet with tau3. */
  double mu;
  /** Twisted mass beside mu of QUDA_TWISTED_CLOVER_DSLASH with one flavour, where A is not inverted: of an asymmetric
   * preconditioned operator on its own parity alone. */
  double tm_rho;
  /** Splitting of a doublet: - 2 kappa epsilon tau1. */
  double epsilon;
  /** What computeTMCloverForceQuda divides coefficients of a doublet by. */
  double evmax;
  /** Flavours of a twisted operator. Vectors of two hold of each parity the first flavour, then the second. */
  QudaTwistFlavorType twist_flavor;
  /** QUDA_LAPLACE_DSLASH: 3 is the Laplacian in space, 4 in all directions. */
  int laplace3D;
  /** QUDA_COVDEV_DSLASH: 0 to 3 forward in x, y, z, t, 4 to 7 backward. */
  int covdev_mu;
  /** Largest |b - M x| / |b|. */
  double tol;
  /** Whenever the residual has fallen by this factor, eigenvectors of eig_param are taken out of it again; 0: they are
   * taken out of the start alone. */
  double tol_restart;
  /** Largest heavy-quark residual, where residual_type asks for it. */
  double tol_hq;
  /** True residuals are always computed.
   * Not used. */
  int compute_true_res;
  /** |b - M x| / |b| of each source. */
  double true_res[128];
  /** Heavy-quark residual. */
  double true_res_hq[128];
  int maxiter;
  /** The residual is recomputed in full precision whenever it has fallen by this factor. */
  double reliable_delta;
  /** plaq decides by itself when residuals are recomputed, beyond reliable_delta, and when a solve goes on; likewise the
   * six members from use_alternative_reliable to max_hq_res_restart_total.
   * Not used. */
  double reliable_delta_refinement;
  /** Not used. */
  int use_alternative_reliable;
  /** Not used. */
  int use_sloppy_partial_accumulator;
  /** Not used. */
  int solution_accumulator_pipeline;
  /** Not used. */
  int max_res_increase;
  /** Not used. */
  int max_res_increase_total;
  /** Not used. */
  int max_hq_res_increase;
  /** Not used. */
  int max_hq_res_restart_total;
  /** Heavy-quark residuals are recomputed with each residual.
   * Not used. */
  int heavy_quark_check;
  /** Algorithms have one form here.
   * Not used. */
  int pipeline;
  /** Shifts of invertMultiShiftQuda. */
  int num_offset;
  /** Sources of invertMultiSrcQuda and dslashMultiSrcQuda. */
  int num_src;
  /** Sources are solved for together, by all ranks.
   * Not used. */
  int num_src_per_sub_partition;
  /** Ranks are not divided between sources.
   * Not used. */
  int split_grid[6];
  /** Not used. */
  int overlap;
  double offset[32];
  /** Tolerance of each shift. */
  double tol_offset[32];
  /** Largest heavy-quark residual of each shift, where residual_type asks for it; 0: of any size. */
  double tol_hq_offset[32];
  /** Residual of each shift. */
  double true_res_offset[32];
  double iter_res_offset[32];
  /** Heavy-quark residual of each shift. */
  double true_res_hq_offset[32];
  /** Coefficients of the shifts in the action. */
  double residue[32];
  /** 1: action[0] is (b, x), of several shifts the sum of residue (b, x). */
  int compute_action;
  double action[2];
  /** The equation. */
  QudaSolutionType solution_type;
  /** System from which the equation is solved. */
  QudaSolveType solve_type;
  /** Parity and form of the even-odd preconditioned operator. */
  QudaMatPCType matpc_type;
  /** QUDA_DAG_YES: the adjoint operator. */
  QudaDagType dagger;
  /** Factor of the operator: 1, or 1 / (2 kappa). */
  QudaMassNormalization mass_normalization;
  /** Residuals are relative, whatever the norm of the source.
   * Not used. */
  QudaSolverNormalization solver_normalization;
  /** The source is never changed.
   * Not used. */
  QudaPreserveSource preserve_source;
  /** Precision of the host's spinors. */
  QudaPrecision cpu_prec;
  /** Precision of the solution: single or double. */
  QudaPrecision cuda_prec;
  /** Precision of the iteration. */
  QudaPrecision cuda_prec_sloppy;
  /** Shifts are refined in cuda_prec_sloppy.
   * Not used. */
  QudaPrecision cuda_prec_refinement_sloppy;
  /** What preconditions works in the precision of the iteration.
   * Not used. */
  QudaPrecision cuda_prec_precondition;
  /** Precision of eigenvectors of eig_param: double, or else single, at most cuda_prec. */
  QudaPrecision cuda_prec_eigensolver;
  /** Order of the host's spinors; colour vectors are in QUDA_DIRAC_ORDER. */
  QudaDiracFieldOrder dirac_order;
  /** Basis of the host's spinors. */
  QudaGammaBasis gamma_basis;
  /** Not used. */
  QudaFieldLocation clover_location;
  /** Precision of the host's clover term. */
  QudaPrecision clover_cpu_prec;
  /** The clover term has the precisions of the operator, likewise in the four members that follow.
   * Not used. */
  QudaPrecision clover_cuda_prec;
  /** Not used. */
  QudaPrecision clover_cuda_prec_sloppy;
  /** Not used. */
  QudaPrecision clover_cuda_prec_refinement_sloppy;
  /** Not used. */
  QudaPrecision clover_cuda_prec_precondition;
  /** Not used. */
  QudaPrecision clover_cuda_prec_eigensolver;
  /** QUDA_PACKED_CLOVER_ORDER or QUDA_QDPJIT_CLOVER_ORDER where the host passes a clover term. */
  QudaCloverFieldOrder clover_order;
  QudaUseInitGuess use_init_guess;
  /** csw of computeTMCloverForceQuda; elsewhere clover_coeff counts. */
  double clover_csw;
  /** kappa csw of the clover term that plaq computes. */
  double clover_coeff;
  /** Only 0.0. */
  double clover_rho;
  /** 1: trlogA[0] and [1] are ln det A of the even and of the odd sites. */
  int compute_clover_trlog;
  double trlogA[2];
  /** 1: the clover term is made of the links on the device. */
  int compute_clover;
  int compute_clover_inverse;
  /** 1: it comes back to the host's array. */
  int return_clover;
  int return_clover_inverse;
  /** How much the log says during the call; by default as setVerbosityQuda says. */
  QudaVerbosity verbosity;
  /** Iterations, of several shifts those of the one that took most; maxiter or more where a solve has not converged. */
  int iter;
  /** Floating-point operations / 1e9. */
  double gflops;
  /** Seconds, never 0. */
  double secs;
  /** It stays 0, as power, temp and clock do.
   * Not used. */
  double energy[3];
  /** Not used. */
  double power;
  /** Not used. */
  double temp;
  /** Not used. */
  double clock;
  /** plaq finds launch shapes by itself.
   * Not used. */
  QudaTune tune;
  /** BiCGStab(l) is BiCGStab.
   * Not used. */
  int Nsteps;
  /** Directions that GCR keeps. */
  int gcrNkrylov;
  /** QUDA_MG_INVERTER: `preconditioner` is used, where it is not NULL. QUDA_MR_INVERTER: maxiter_precondition steps of
   * minimal residual with omega precondition GCR. Other inverters than GCR take neither of these. */
  QudaInverterType inv_type_precondition;
  /** What newMultigridQuda returned. */
  void *preconditioner;
  /** Incremental deflation is not offered.
   * Not used. */
  void *deflation_op;
  /** Not NULL: a QudaEigParam, whose eigenvectors of M^dagger M, or of P^dagger P where solve_type iterates P, deflate the
   * solve. They are found at first; with preserve_deflation they stay. */
  void *eig_param;
  /** QUDA_BOOLEAN_TRUE only with an eig_param, which says it all. */
  QudaBoolean deflate;
  /** Not used. */
  QudaDslashType dslash_type_precondition;
  /** The log has no lines about the inside of an iteration.
   * Not used. */
  QudaVerbosity verbosity_precondition;
  /** QUDA_MR_INVERTER takes all of its maxiter_precondition steps.
   * Not used. */
  double tol_precondition;
  /** Steps of QUDA_MR_INVERTER as inv_type_precondition. */
  int maxiter_precondition;
  /** Relaxation of QUDA_MR_INVERTER. */
  double omega;
  /** Algorithms that avoid communication are those that do not, likewise in the five members that follow.
   * Not used. */
  QudaCABasis ca_basis;
  /** Not used. */
  double ca_lambda_min;
  /** Not used. */
  double ca_lambda_max;
  /** Not used. */
  QudaCABasis ca_basis_precondition;
  /** Not used. */
  double ca_lambda_min_precondition;
  /** Not used. */
  double ca_lambda_max_precondition;
  /** Steps follow each other without cycles.
   * Not used. */
  int precondition_cycle;
  /** Steps of QUDA_MR_INVERTER take the operator of the whole lattice: the solution is the same, in fewer iterations.
   * Not used. */
  QudaSchwarzType schwarz_type;
  /** Not used. */
  QudaAcceleratorType accelerator_type_precondition;
  /** Not used. */
  double madwf_diagonal_suppressor;
  /** Not used. */
  int madwf_ls;
  /** Not used. */
  int madwf_null_miniter;
  /** Not used. */
  double madwf_null_tol;
  /** Not used. */
  int madwf_train_maxiter;
  /** Not used. */
  QudaBoolean madwf_param_load;
  /** Not used. */
  QudaBoolean madwf_param_save;
  /** Not used. */
  char madwf_param_infile[256];
  /** Not used. */
  char madwf_param_outfile[256];
  /** Sum of QUDA_L2_RELATIVE_RESIDUAL and QUDA_HEAVY_QUARK_RESIDUAL. */
  QudaResidualType residual_type;
  /** Not used. */
  QudaPrecision cuda_prec_ritz;
  /** Not used. */
  int n_ev;
  /** Not used. */
  int max_search_dim;
  /** Not used. */
  int rhs_idx;
  /** Not used. */
  int deflation_grid;
  /** Not used. */
  double eigenval_tol;
  /** Not used. */
  int eigcg_max_restarts;
  /** Not used. */
  int max_restart_num;
  /** Not used. */
  double inc_tol;
  /** Only 0. */
  int make_resident_solution;
  /** Only 0. */
  int use_resident_solution;
  /** 1: the solution is kept in the channel chrono_index, of at most chrono_max_dim the latest. */
  int chrono_make_resident;
  /** 1: the solution takes the place of the latest one. */
  int chrono_replace_last;
  /** 1: the solve begins with the best combination of the solutions that were kept, whatever h_x holds. */
  int chrono_use_resident;
  int chrono_max_dim;
  /** Channel: 0 to 11. */
  int chrono_index;
  /** Solutions are kept in cuda_prec.
   * Not used. */
  QudaPrecision chrono_precision;
  /** Not used. */
  QudaExtLibType extlib_type;
  /** Not used. */
  QudaBoolean native_blas_lapack;
  /** Not used. */
  QudaBoolean use_mobius_fused_kernel;
  /** Exponent of distance preconditioning, its modulus, of solves with QUDA_WILSON_DSLASH and
   * QUDA_CLOVER_WILSON_DSLASH, without several shifts, multigrid and eig_param; residuals are those of the weighted equation.
   * Operators by themselves do not depend on it. */
  double distance_pc_alpha0;
  /** Time slice of the source; below 0: no distance preconditioning. */
  int distance_pc_t0;
  /** For programs, which may keep what they like there.
   * Not used. */
  void *additional_prop;
} QudaInvertParam;

/** Eigenvectors of an operator. */
typedef struct QudaEigParam_s {
  /** Bytes of this struct, as its newQuda function sets it. */
  size_t struct_size;
  /** The operator. */
  QudaInvertParam *invert_param;
  QudaEigType eig_type;
  /** 1: the polynomial of poly_deg, a_min and a_max. 0: one that follows from the spectrum. */
  QudaBoolean use_poly_acc;
  /** Degree of the Chebyshev polynomial. */
  int poly_deg;
  /** Interval that should hold what is not wanted. It is replaced where wanted eigenvalues lie in it; a_max 0: found
   * from the spectrum, as degree and a_min are. */
  double a_min;
  double a_max;
  /** 1: eigenvectors of a deflated solve stay on the device for the solves that follow, until one with 0, other links or
   * endQuda. No effect in eigensolveQuda. */
  QudaBoolean preserve_deflation;
  /** What a solve with preserve_deflation has left here, a number in the place of an address; NULL: the eigenvectors are found
   * by the solve. They are found again after a change of links or for another operator. */
  void *preserve_deflation_space;
  /** Eigenvalues stay with the eigenvectors.
   * Not used. */
  QudaBoolean preserve_evals;
  /** 1: the smeared links, which there must be, with QUDA_LAPLACE_DSLASH. 0: that operator takes them where there are some. */
  QudaBoolean use_smeared_gauge;
  /** 1: M^dagger in the place of M. */
  QudaBoolean use_dagger;
  /** 1: M^dagger M. */
  QudaBoolean use_norm_op;
  /** 1: the even-odd preconditioned operator. */
  QudaBoolean use_pc;
  /** Not used. */
  QudaBoolean use_eigen_qr;
  /** QUDA_BOOLEAN_FALSE in eigensolveQuda. Solves that eigenvectors deflate take the value for granted. */
  QudaBoolean compute_svd;
  /** 1: gamma5 times the operator, where that is hermitian. */
  QudaBoolean compute_gamma5;
  /** 1: fewer eigenvectors than n_conv are an error. */
  QudaBoolean require_convergence;
  QudaEigSpectrumType spectrum;
  /** n_conv counts.
   * Not used. */
  int n_ev;
  /** Vectors kept at most; more are where n_conv asks for them. */
  int n_kr;
  /** Not used. */
  int nLockedMax;
  /** Eigenvectors wanted. */
  int n_conv;
  /** QUDA_EIG_TR_LANCZOS_3D: 3. */
  int ortho_dim;
  /** QUDA_EIG_TR_LANCZOS_3D: the t of this rank. */
  int ortho_dim_size_local;
  /** Eigenvectors that deflate a solve, at most n_conv, or that solve the coarsest level of a multigrid; 0 or less: n_conv. */
  int n_ev_deflate;
  /** Largest |A v - lambda v| over the largest eigenvalue; 0: by the precision. */
  double tol;
  /** Not used. */
  double qr_tol;
  /** Not used. */
  int check_interval;
  int max_restarts;
  /** Not used. */
  int batched_rotate;
  /** QUDA_EIG_BLK_TR_LANCZOS: vectors multiplied at a time. */
  int block_size;
  /** Not used. */
  int compute_evals_batch_size;
  /** Not used. */
  int max_ortho_attempts;
  /** Not used. */
  int ortho_block_size;
  /** Only QUDA_BOOLEAN_FALSE. */
  QudaBoolean arpack_check;
  /** Not used. */
  char arpack_logfile[512];
  /** Not used. */
  char QUDA_logfile[512];
  /** Not used. */
  int nk;
  /** Not used. */
  int np;
  /** Not used. */
  QudaBoolean import_vectors;
  /** Eigenvectors have cuda_prec, those that deflate cuda_prec_eigensolver.
   * Not used. */
  QudaPrecision cuda_prec_ritz;
  /** plaq keeps eigenvectors on the host where the device has no room for them.
   * Not used. */
  QudaMemoryType mem_type_ritz;
  /** Not used. */
  QudaFieldLocation location;
  /** Residuals are always measured.
   * Not used. */
  QudaBoolean run_verify;
  /** Empty. */
  char vec_infile[256];
  /** Empty. */
  char vec_outfile[256];
  /** Not used. */
  QudaPrecision save_prec;
  /** Not used. */
  QudaBoolean io_parity_inflate;
  /** Not used. */
  QudaBoolean partfile;
  /** Not used. */
  QudaExtLibType extlib_type;
} QudaEigParam;

/** Multigrid of an operator. */
typedef struct QudaMultigridParam_s {
  /** Bytes of this struct, as its newQuda function sets it. */
  size_t struct_size;
  /** The operator. */
  QudaInvertParam *invert_param;
  /** Parameters of which those of the coarsest level count where its use_eig_solver is 1: n_ev_deflate is the number of
   * modes, or n_conv where that is below 1, at most 256 of them. */
  QudaEigParam *eig_param[5];
  /** Levels, with the finest. */
  int n_level;
  /** Sites of an aggregate in x, y, z, t, level by level. */
  int geo_block_size[5][6];
  /** Chiralities are aggregates of their own, on all levels.
   * Not used. */
  int spin_block_size[5];
  /** Null vectors of each level. */
  int n_vec[5];
  /** plaq chooses the precisions of levels.
   * Not used. */
  QudaPrecision precision_null[5];
  /** Not used. */
  int n_block_ortho[5];
  /** Not used. */
  QudaBoolean block_ortho_two_pass[5];
  /** The log has one line about a set-up, with verbosity of invert_param.
   * Not used. */
  QudaVerbosity verbosity[5];
  /** Not used. */
  QudaBoolean setup_use_mma[5];
  /** Not used. */
  QudaBoolean dslash_use_mma[5];
  /** Null vectors are found as plaq does, likewise with the members from num_setup_iter to setup_maxiter and from
   * setup_ca_basis to post_orthonormalize.
   * Not used. */
  QudaInverterType setup_inv_type[5];
  /** Not used. */
  int n_vec_batch[5];
  /** Not used. */
  int num_setup_iter[5];
  /** Not used. */
  double setup_tol[5];
  /** Not used. */
  int setup_maxiter[5];
  /** Above 0 on some level: updateMultigridQuda refines null vectors. */
  int setup_maxiter_refresh[5];
  /** Not used. */
  QudaCABasis setup_ca_basis[5];
  /** Not used. */
  int setup_ca_basis_size[5];
  /** Not used. */
  double setup_ca_lambda_min[5];
  /** Not used. */
  double setup_ca_lambda_max[5];
  /** Not used. */
  QudaSetupType setup_type;
  /** Not used. */
  QudaBoolean pre_orthonormalize;
  /** Not used. */
  QudaBoolean post_orthonormalize;
  /** The coarsest level is solved as plaq does, to coarse_solver_maxiter.
   * Not used. */
  QudaInverterType coarse_solver[5];
  /** Relative residual at which solves on the coarsest level stop, and of the second level on those between; where it is not
   * set, plaq's. */
  double coarse_solver_tol[5];
  int coarse_solver_maxiter[5];
  /** Not used. */
  QudaCABasis coarse_solver_ca_basis[5];
  /** Not used. */
  int coarse_solver_ca_basis_size[5];
  /** Not used. */
  double coarse_solver_ca_lambda_min[5];
  /** Not used. */
  double coarse_solver_ca_lambda_max[5];
  /** The smoother is plaq's, of nu_pre and nu_post steps.
   * Not used. */
  QudaInverterType smoother[5];
  /** Not used. */
  double smoother_tol[5];
  /** Smoothing steps before the coarse correction. */
  int nu_pre[5];
  /** And after it. */
  int nu_post[5];
  /** Not used. */
  QudaCABasis smoother_solver_ca_basis[5];
  /** Not used. */
  double smoother_solver_ca_lambda_min[5];
  /** Not used. */
  double smoother_solver_ca_lambda_max[5];
  /** Not used. */
  double omega[5];
  /** Not used. */
  QudaPrecision smoother_halo_precision[5];
  /** Not used. */
  QudaSchwarzType smoother_schwarz_type[5];
  /** Not used. */
  int smoother_schwarz_cycle[5];
  /** Not used. */
  QudaSolutionType coarse_grid_solution_type[5];
  /** Not used. */
  QudaSolveType smoother_solve_type[5];
  QudaMultigridCycleType cycle_type[5];
  /** Not used. */
  QudaBoolean global_reduction[5];
  /** All levels are on the device, from their set-up on.
   * Not used. */
  QudaFieldLocation location[5];
  /** Not used. */
  QudaFieldLocation setup_location[5];
  /** 1 of the coarsest level: its low modes are solved for exactly, as many as eig_param says, found as plaq does; 0: as
   * many as plaq takes by itself. 1 of other levels is refused. */
  QudaBoolean use_eig_solver[5];
  /** Not used. */
  QudaBoolean setup_minimize_memory;
  /** Null vectors are always found anew.
   * Not used. */
  QudaComputeNullVector compute_null_vector;
  /** All levels are made.
   * Not used. */
  QudaBoolean generate_all_levels;
  /** Nothing is verified after a set-up, whose reduction of the residual is measured and goes to the log.
   * Not used. */
  QudaBoolean run_verify;
  /** Not used. */
  QudaBoolean run_low_mode_check;
  /** Not used. */
  QudaBoolean run_oblique_proj_check;
  /** A name in vec_infile is enough, as in QUDA.
   * Not used. */
  QudaBoolean vec_load[5];
  /** The name of level 0 is the begin of a file's, from which null vectors come; others count only with it. */
  char vec_infile[5][256];
  /** 1 of level 0: null vectors go to the file of vec_outfile, if that is not empty; others count only with it. */
  QudaBoolean vec_store[5];
  char vec_outfile[5][256];
  /** Not used. */
  QudaBoolean mg_vec_partfile[5];
  /** The coarsest level is solved from zero.
   * Not used. */
  QudaBoolean coarse_guess;
  /** Low modes of the coarsest level stay as long as the multigrid, and follow its updates.
   * Not used. */
  QudaBoolean preserve_deflation;
  /** Factors of the twisted mass on the levels; that of the finest one is 1. */
  double mu_factor[5];
  /** QUDA_TRANSFER_AGGREGATE: other transfers are those of staggered quarks. */
  QudaTransferType transfer_type[5];
  /** Not used. */
  QudaBoolean allow_truncation;
  /** Not used. */
  QudaBoolean staggered_kd_dagger_approximation;
  QudaBoolean thin_update_only;
} QudaMultigridParam;

/** What to measure of links. */
typedef struct QudaGaugeObservableParam_s {
  /** Bytes of this struct, as its newQuda function sets it. */
  size_t struct_size;
  /** 1: links are put on SU(3) before they are measured, and stay so: the unitary factor of the polar
   * decomposition with its determinant made 1 by the cube root nearest to 1. */
  QudaBoolean su_project;
  QudaBoolean compute_plaquette;
  /** Average plaquette: all, those in space, those with time; 1 for unit links. */
  double plaquette[3];
  QudaBoolean compute_polyakov_loop;
  /** Sum of the traced Polyakov loops in t over the sites of space, divided by their number: re, im. */
  double ploop[2];
  QudaBoolean compute_gauge_loop_trace;
  /** num_paths complex doubles. */
  QUDA_DOUBLE_COMPLEX *traces;
  /** Closed paths, as computeGaugeLoopTraceQuda takes them. */
  int **input_path_buff;
  int *path_length;
  double *loop_coeff;
  int num_paths;
  int max_length;
  double factor;
  QudaBoolean compute_qcharge;
  /** Topological charge of the clover leaves, with their trace. */
  double qcharge;
  /** -tr F F per site: all, magnetic, electric; F without its trace. */
  double energy[3];
  QudaBoolean compute_qcharge_density;
  /** A double for each site, even sites first. */
  void *qcharge_density;
  /** Only QUDA_BOOLEAN_FALSE. */
  QudaBoolean remove_staggered_phase;
} QudaGaugeObservableParam;

/** Smearing or flow of links. */
typedef struct QudaGaugeSmearParam_s {
  /** Bytes of this struct, as its newQuda function sets it. */
  size_t struct_size;
  unsigned n_steps;
  /** Step of the flow. */
  double epsilon;
  /** Only 1.0. */
  double smear_anisotropy;
  /** Order of the scheme of flows.
   * Only 3. */
  unsigned rk_order;
  /** APE. */
  double alpha;
  /** Stout. */
  double rho;
  /** HYP, from the outermost level to the innermost. */
  double alpha1;
  double alpha2;
  double alpha3;
  /** Steps between two measurements. */
  unsigned meas_interval;
  QudaGaugeSmearType smear_type;
  /** States of the links that performAdjGFlowHier keeps; 0: as many as half of the free memory holds. */
  unsigned adj_n_save;
  /** Not used. */
  unsigned hier_threshold;
  /** 1: goes on from the smeared links on the device. */
  QudaBoolean restart;
  /** Flow time at which a restart begins. */
  double t0;
  /** Direction whose links take no part; 4: none; -1: t, for HYP none. */
  int dir_ignore;
} QudaGaugeSmearParam;

/** Products and inverses of dense matrices, which plaq does not offer. */
typedef struct QudaBLASParam_s {
  /** Bytes of this struct, as its newQuda function sets it. */
  size_t struct_size;
  /** Not used. */
  QudaBLASType blas_type;
  /** Not used. */
  QudaBLASOperation trans_a;
  /** Not used. */
  QudaBLASOperation trans_b;
  /** Not used. */
  int m;
  /** Not used. */
  int n;
  /** Not used. */
  int k;
  /** Not used. */
  int lda;
  /** Not used. */
  int ldb;
  /** Not used. */
  int ldc;
  /** Not used. */
  int a_offset;
  /** Not used. */
  int b_offset;
  /** Not used. */
  int c_offset;
  /** Not used. */
  int a_stride;
  /** Not used. */
  int b_stride;
  /** Not used. */
  int c_stride;
  /** Not used. */
  QUDA_DOUBLE_COMPLEX alpha;
  /** Not used. */
  QUDA_DOUBLE_COMPLEX beta;
  /** Not used. */
  int inv_mat_size;
  /** Not used. */
  int batch_count;
  /** Not used. */
  QudaBLASDataType data_type;
  /** Not used. */
  QudaBLASDataOrder data_order;
} QudaBLASParam;

/** Smearing of staggered quarks, which plaq does not offer. */
typedef struct QudaQuarkSmearParam_s {
  /** Bytes of this struct, as its newQuda function sets it. */
  size_t struct_size;
  /** Not used. */
  QudaInvertParam *inv_param;
  /** Not used. */
  int n_steps;
  /** Not used. */
  double width;
  /** Not used. */
  int compute_2link;
  /** Not used. */
  int delete_2link;
  /** Not used. */
  int t0;
  /** Not used. */
  double secs;
  /** Not used. */
  double gflops;
  /** Not used. */
  double energy;
  /** Not used. */
  double power;
  /** Not used. */
  double temp;
  /** Not used. */
  double clock;
} QudaQuarkSmearParam;

/** The process grid: nDim is 4, dims are the ranks in x, y, z, t. `func` gives the rank of MPI_COMM_WORLD
 * at a place; NULL: t runs fastest. Without this call the ranks are those of the logical topology that the
 * program has declared to QMP, with QMP's communicator; without QMP there is one rank. */
void initCommsGridQuda(int nDim, const int *dims, QudaCommsMap func, void *fdata);

/** The GPU of the only rank, -1: plaq chooses. The first lattice opens the session. */
void initQuda(int device);

/** The first half of initQuda. */
void initQudaDevice(int device);

/** The second half of initQuda, which does nothing here. */
void initQudaMemory(void);

/** Gives everything back; initQuda may follow, with another lattice. */
void endQuda(void);

/** Gives memory that is kept for later fields back to the device; page-locked memory of the host is not kept. */
void flushPoolQuda(QudaMemoryType memory);

/** Does nothing: plaq keeps no halos of links between calls that could be out of date. */
void updateR(void);

/** The first rank writes the log of what follows initQuda and a first lattice to `outfile`, a FILE *
 * (NULL: stdout), each line behind `prefix`. Without this call nothing is written but what a call's member
 * `verbosity` asks for. */
void setVerbosityQuda(QudaVerbosity verbosity, const char *prefix, void *outfile);

/** All members as QUDA sets them: values to be filled in are invalid. */
QudaGaugeParam newQudaGaugeParam(void);

QudaInvertParam newQudaInvertParam(void);

QudaMultigridParam newQudaMultigridParam(void);

QudaEigParam newQudaEigParam(void);

QudaGaugeObservableParam newQudaGaugeObservableParam(void);

QudaGaugeSmearParam newQudaGaugeSmearParam(void);

QudaBLASParam newQudaBLASParam(void);

/** Prints a line `name = value` for each member to C's stdout, and flushes it. */
void printQudaGaugeParam(const QudaGaugeParam *param);

void printQudaInvertParam(const QudaInvertParam *param);

void printQudaMultigridParam(const QudaMultigridParam *param);

void printQudaEigParam(const QudaEigParam *param);

void printQudaGaugeObservableParam(const QudaGaugeObservableParam *param);

void printQudaBLASParam(const QudaBLASParam *param);

/** Keeps the host's links on the device, without the sign and the 1 / anisotropy that they carry. The first call
 * fixes the lattice. With use_resident_gauge 1 `h_gauge` may be NULL, and the links stay as they are. */
void loadGaugeQuda(void *h_gauge, const QudaGaugeParam *param);

/** Writes the links into the host's array, with sign and 1 / anisotropy; of type QUDA_SMEARED_LINKS the
 * smeared ones. */
void saveGaugeQuda(void *h_gauge, const QudaGaugeParam *param);

/** Forgets links and smeared links. */
void freeGaugeQuda(void);

/** Forgets those of one type. */
void freeUniqueGaugeQuda(QudaLinkType link_type);

/** Forgets smeared links. */
void freeGaugeSmearedQuda(void);

/** Average plaquette: all, those in space, those with time; 1 for unit links. */
void plaqQuda(double *plaq);

/** Sum of the traced loops in t over the sites of space, divided by their number: re, im. `dir` must be 3. */
void polyakovLoopQuda(double *ploop, int dir);

/** Measures what `param` asks for, of the smeared links while there are some. */
void gaugeObservablesQuda(QudaGaugeObservableParam *param);

/** Smears the links n_steps times into the smeared links. obs_param is an array with an entry for the
 * start, and one after every meas_interval steps. */
void performGaugeSmearQuda(QudaGaugeSmearParam *smear_param, QudaGaugeObservableParam *obs_param);

/** Flows them, likewise, by Luescher's scheme of third order. */
void performWFlowQuda(QudaGaugeSmearParam *smear_param, QudaGaugeObservableParam *obs_param);

/** Takes a clover term A and its inverse: with compute_clover 1 A = 1 + 2 clover_coeff (i / 4) sum sigma F of the
 * links on the device and its inverse, which come back where return_clover and return_clover_inverse
 * say so; else the host's A, whose inverse is computed where the host has none. It stays until the
 * next one. */
void loadCloverQuda(void *h_clover, void *h_clovinv, QudaInvertParam *inv_param);

/** The same without arrays of the host. */
void createCloverQuda(QudaInvertParam *param);

/** Forgets it. */
void freeCloverQuda(void);

/** out = M in, or with solution_type of a preconditioned system P in; QUDA_DAG_YES: the adjoint. M = A - kappa H
 * times the factor of mass_normalization; the Laplacian 1 - kappa sum (U + U^dagger) of colour vectors; the
 * covariant shift by covdev_mu of spinors. */
void MatQuda(void *h_out, void *h_in, QudaInvertParam *inv_param);

/** out = M^dagger M in, or P^dagger P in. */
void MatDagMatQuda(void *h_out, void *h_in, QudaInvertParam *inv_param);

/** out = H in from the other parity to `parity`, with a clover term or a twisted mass A^-1 H in; no factor. */
void dslashQuda(void *h_out, void *h_in, QudaInvertParam *inv_param, QudaParity parity);

/** The same for num_src vectors. */
void dslashMultiSrcQuda(void **_hp_x, void **_hp_b, QudaInvertParam *param, QudaParity parity);

/** out = A in on `parity`, twisted mass included, or A^-1 in. */
void cloverQuda(void *h_out,
                void *h_in,
                QudaInvertParam *inv_param,
                QudaParity parity,
                int inverse);

/** out(x) = U_dir(x) in(x + dir) for dir 0 to 3, U_dir(x - dir)^dagger in(x - dir) for 4 to 7: of spinors, or with
 * QUDA_STAGGERED_DSLASH and QUDA_LAPLACE_DSLASH of colour vectors. */
void covDevQuda(void *h_out, void *h_in, int dir, QudaInvertParam *param);

/** The same for dir 0 to 3: from in front (sym 1), from behind (sym 2), or half the sum of both (sym 3). */
void shiftQuda(void *h_out, void *h_in, int dir, int sym, QudaInvertParam *param);

/** out = [(1 + alpha sum (U + U^dagger)) / (1 + 6 alpha)]^n_steps in, the sum over the neighbours in space, by the
 * smeared links while there are some: of spinors, or with QUDA_STAGGERED_DSLASH of colour vectors. */
void performWuppertalnStep(void *h_out,
                           void *h_in,
                           QudaInvertParam *param,
                           unsigned n_steps,
                           double alpha);

/** Solves the equation of solution_type for one source, from the system that solve_type and matpc_type name,
 * in cuda_prec with iterations in cuda_prec_sloppy. Vectors of a preconditioned solution hold one parity. */
void invertQuda(void *h_x, void *h_b, QudaInvertParam *param);

/** The same for num_src sources at once. */
void invertMultiSrcQuda(void **_hp_x, void **_hp_b, QudaInvertParam *param);

/** Solves (M^dagger M + offset[i]) x_i = b, or that of P, for num_offset shifts from one Krylov space, each to
 * its tol_offset. */
void invertMultiShiftQuda(void **_hp_x, void *_hp_b, QudaInvertParam *param);

/** Forgets the former solutions of a channel, 0 to 11. */
void flushChronoQuda(int index);

/** Finds null vectors of invert_param's operator and builds the levels: n_level, geo_block_size, n_vec, nu_pre,
 * nu_post, coarse_solver_tol, coarse_solver_maxiter, cycle_type; solvers are plaq's. Blocks that do not divide a
 * level are halved until they do. With a name in vec_infile[0] null vectors of the finest level come from that
 * file, with vec_store[0] 1 they go to that of vec_outfile[0], as dumpMultigridQuda writes them; those of coarse
 * levels are made of them. What is returned is for `preconditioner` of QudaInvertParam. */
void *newMultigridQuda(QudaMultigridParam *param);

/** Takes links and parameters of the operator as they are now. With setup_maxiter_refresh above 0 on some level
 * null vectors are refined by the cycle, else, and with thin_update_only 1, they stay, if they still serve. */
void updateMultigridQuda(void *mg_instance, QudaMultigridParam *param);

void destroyMultigridQuda(void *mg_instance);

/** Writes the null vectors of the finest level to the file that vec_outfile[0] names, with `_level_0_nvec_` and
 * their number behind it, in the format of plaq_multigrid_write. */
void dumpMultigridQuda(void *mg_instance, QudaMultigridParam *param);

/** The n_conv eigenvectors at the end `spectrum` of A, of unit length, and their eigenvalues from that end on. A is
 * the operator M of invert_param, with use_pc P, with use_norm_op M^dagger M, with use_dagger too M M^dagger, with
 * compute_gamma5 gamma5 M or gamma5 P, without the factor of mass_normalization, and hermitian. QUDA_EIG_TR_LANCZOS_3D: A is the Laplacian in x, y and z, the n_conv
 * lowest eigenvectors of every time-slice are found, vector k holds number k of each, of unit length there.
 * `h_evecs`: n_conv arrays, or NULL; `h_evals`: n_conv complex doubles, in 3D as many for each t of the
 * whole lattice. */
void eigensolveQuda(void **h_evecs, QUDA_DOUBLE_COMPLEX *h_evals, QudaEigParam *param);

/** host_sinks[quark][eigenvector][t][spin] = the sum over a time-slice of conj(eigenvector) quark, t of the whole lattice,
 * on all ranks, `tile_quark` quarks and `tile_evec` eigenvectors at a time, spins in the basis of the host. */
void laphSinkProject(QUDA_DOUBLE_COMPLEX *host_sinks,
                     void **host_quark,
                     int n_quark,
                     int tile_quark,
                     void **host_evec,
                     int nevec,
                     int tile_evec,
                     QudaInvertParam *inv_param,
                     const int *X);

/** Adds to result[0][momentum][slice][G], doubles (re, im), the sum over the sites of a slice of exp(i p (r - source_position))
 * tr[gamma5 G Y gamma5 G X^dagger], r the site, for the propagators of `src_colors` colours, columns src_colors s + c at x and y:
 * G = gamma_1, ... gamma_4, gamma5 gamma_1, ... gamma5 gamma_4, 1, gamma5, sigma_12, sigma_13, sigma_14, sigma_23, sigma_24,
 * sigma_34, sigma_mn = (i / 2) [gamma_m, gamma_n]. Slices are those of t, or of z with QUDA_CONTRACT_TYPE_DR_FT_Z, on the whole
 * lattice and on all ranks. `mom_modes`: four numbers for each momentum, p = 2 pi n / L. Of colour vectors, with
 * QUDA_CONTRACT_TYPE_STAGGERED_FT_T, conj(x) y alone, each direction with its member of fft_type, exp(i p r), cos(p r) or i
 * sin(p r). `cs_param_ptr`: a quda::ColorSpinorParam of color_spinor_field.h as plaq has it, in C++. */
void contractFTQuda(void **x,
                    void **y,
                    void **result,
                    QudaContractType cType,
                    void *cs_param_ptr,
                    int src_colors,
                    const int *X,
                    const int *source_position,
                    int n_mom,
                    const int *mom_modes,
                    const QudaFFTSymmType *fft_type);

/** Flows nSpinors spinors, or with QUDA_STAGGERED_DSLASH and QUDA_LAPLACE_DSLASH colour vectors, n_steps times by the
 * Laplacian in four directions on the flowed links, with t_boundary's sign, and the links into the smeared links.
 * obs_param as of performWFlowQuda. */
void performGFlowQuda(void **h_out,
                      void **h_in,
                      QudaInvertParam *inv_param,
                      QudaGaugeSmearParam *smear_param,
                      QudaGaugeObservableParam *obs_param,
                      size_t nSpinors);

/** The adjoint of performGFlowQuda from the same links: takes spinors at the end of the flow to its start. As many
 * states of the links are kept as half of the free memory holds; smeared links stay as they are. */
void performAdjGFlowSafe(void **h_out,
                         void **h_in,
                         QudaInvertParam *inv_param,
                         QudaGaugeSmearParam *smear_param,
                         size_t nSpinors);

/** The same with adj_n_save states of the links. */
void performAdjGFlowHier(void **h_out,
                         void **h_in,
                         QudaInvertParam *inv_param,
                         QudaGaugeSmearParam *smear_param,
                         size_t nSpinors);

/** mom = mom - dt TA[U_d(x) sum_i loop_coeff[i] (product along path i of direction d from x + d)]
 * for each link, TA the traceless anti-hermitian part: input_path_buf[d][i] holds the
 * path_length[i] steps of a staple, 0 to 3 forward in x, y, z, t, 7 to 4 back, that leads back to
 * x. Momenta are anti-hermitian, 10 reals a link (sqrt(2) i p in plaq's convention), in
 * one array, four on a site, or in four arrays (QUDA_QDP_GAUGE_ORDER), even sites first; or on the
 * device. Up to 63 steps and 1024 paths. Returns 0. */
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

/** make_resident_mom 1: takes the host's momenta on the device. return_result_mom 1: gives those of the device
 * to the host, and forgets them unless make_resident_mom is 1, too. */
void momResidentQuda(void *mom, const QudaGaugeParam *param);

/** 1/2 tr P^dagger P - 4 summed over links, all ranks; of the momenta on the device where use_resident_mom is 1. */
double momActionQuda(void *momentum, const QudaGaugeParam *param);

/** Momenta on the device: independent normal coefficients sqrt(2) i p with p of width sigma. */
void gaussMomQuda(size_t seed, double sigma);

/** Links on the device: exp(sigma A) with such A. */
void gaussGaugeQuda(size_t seed, double sigma);

/** U = exp(dt P) U, the exponential exact to rounding; conj_mom 1: with the adjoint of P. */
void updateGaugeFieldQuda(void *gauge,
                          void *momentum,
                          double dt,
                          int conj_mom,
                          int exact,
                          const QudaGaugeParam *param);

/** Puts the links on SU(3): the unitary factor of the polar decomposition with its determinant made 1 by the
 * cube root nearest to 1. Refused if one is not unitary to `tol` then. */
void projectSU3Quda(void *gauge_h, double tol, const QudaGaugeParam *param);

/** Fixes Coulomb (`gauge_dir` 3) or Landau gauge (4) of the host's links by overrelaxation with `relax_boost`.
 * Ends when the functional sum Re tr U / (3 d V) rises by less than `tolerance` from one sweep to the next
 * (`stopWtheta` 0), when QUDA's theta is below it (1), or after `Nsteps`. Returns 0. */
int computeGaugeFixingOVRQuda(void *gauge,
                              unsigned gauge_dir,
                              unsigned Nsteps,
                              unsigned verbose_interval,
                              double relax_boost,
                              double tolerance,
                              unsigned reunit_interval,
                              unsigned stopWtheta,
                              const QudaGaugeParam *param);

/** The same by Fourier-accelerated steepest descent, on one rank. Steps that lower the functional are halved,
 * whatever `autotune` says. */
int computeGaugeFixingFFTQuda(void *gauge,
                              unsigned gauge_dir,
                              unsigned Nsteps,
                              unsigned verbose_interval,
                              double alpha,
                              unsigned autotune,
                              double tolerance,
                              unsigned stopWtheta,
                              const QudaGaugeParam *param);

/** P = P - 2 i dt F of the momenta P, F the force of sum_i coeff[i] <phi, (D^dagger D + ...)^-1 phi> - multiplicity ln
 * det A of the sites that D leaves out, D the even-odd preconditioned clover operator of matpc_type on the links on
 * the device, and x[i] its solutions on its parity; without a clover term of Wilson's operator. `kappa2` is
 * -kappa^2 and `ck` -kappa csw / 8. `p` and `gauge` are not used. */
void computeCloverForceQuda(void *mom,
                            double dt,
                            void **x,
                            void **p,
                            const double *coeff,
                            double kappa2,
                            double ck,
                            int nvector,
                            double multiplicity,
                            void *gauge,
                            const QudaGaugeParam *gauge_param,
                            QudaInvertParam *inv_param);

/** P = P + 4 i F of the momenta P, or P = 4 i F with overwrite_mom 1. F is the force of the action
 * sum_i w_i <phi, (R^dagger R + ...)^-1 phi> - ln |det A|^2 with w_i = coeff[i] / (4 kappa^2). R is the even-odd
 * preconditioned operator of an asymmetric matpc_type with -mu and -tm_rho, A its site term on the other parity,
 * x[i] are the solutions on the parity of R. Of QUDA_TWIST_NONDEG_DOUBLET w_i = coeff[i] / (4 kappa^2 evmax), and
 * ln |det A| of both flavours is subtracted once. The clover term is made of the links on the device with csw =
 * clover_csw. detratio 1: the action has no ln |det A|, and of one flavour F is the change of
 * -2 sum_i w_i Re <R x[i] + gamma5 x0[i], R x[i]> with R on the right; else x0 is not read. */
void computeTMCloverForceQuda(void *mom,
                              void **x,
                              void **x0,
                              const double *coeff,
                              int nvector,
                              const QudaGaugeParam *gauge_param,
                              QudaInvertParam *inv_param,
                              int detratio);

/** Not offered: plaq has no staggered quarks; qudaRephase multiplies links by phases. */
void staggeredPhaseQuda(void *gauge_h, QudaGaugeParam *param);

/** Not offered: plaq has no staggered quarks. */
void computeKSLinkQuda(void *fatlink,
                       void *longlink,
                       void *ulink,
                       void *inlink,
                       double *path_coeff,
                       QudaGaugeParam *param);

/** Not offered: plaq has no staggered quarks. */
void computeHISQForceQuda(void *momentum,
                          double dt,
                          double *level2_coeff,
                          double *fat7_coeff,
                          void *w_link,
                          void *v_link,
                          void *u_link,
                          void **quark,
                          int num,
                          int num_naik,
                          double **coeff,
                          QudaGaugeParam *param);

/** Not offered: plaq has no staggered quarks. */
void computeTwoLinkQuda(void *twolink, void *inlink, QudaGaugeParam *param);

/** Not offered: plaq has no staggered quarks. */
void performTwoLinkGaussianSmearNStep(void *h_in, QudaQuarkSmearParam *smear_param);

/** Not offered: plaq_contract of plaq.h contracts propagators. */
void contractQuda(void *x,
                  void *y,
                  void *result,
                  QudaContractType cType,
                  QudaInvertParam *param,
                  const int *X);

/** Not offered: plaq has no products of dense matrices. */
void blasGEMMQuda(void *arrayA,
                  void *arrayB,
                  void *arrayC,
                  QudaBoolean native,
                  QudaBLASParam *param);

/** Not offered: plaq has no inverses of dense matrices. */
void blasLUInvQuda(void *Ainv, void *A, QudaBoolean use_native, QudaBLASParam *param);

/** Not offered: plaq has no incremental deflation. */
void *newDeflationQuda(QudaEigParam *param);

/** Not offered: plaq has no incremental deflation. */
void destroyDeflationQuda(void *df_instance);

#ifdef __cplusplus
}
#endif

#undef QUDA_DOUBLE_COMPLEX

#endif
