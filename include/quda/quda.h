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

/** Returns the rank at coordinates of the process grid. */
typedef int (*QudaCommsMap)(const int *coords, void *fdata);

/** Layout of links and momenta, and settings of the calls that take or change them. */
typedef struct QudaGaugeParam_s {
  /** Bytes of this struct, as its newQuda function sets it. */
  size_t struct_size;
  /** Memory of the arrays, host or device. Not used: plaq finds it out for each address from the driver.
   * Not used. */
  QudaFieldLocation location;
  /** Sites of this rank in x, y, z, t. */
  int X[4];
  /** Factor 1 / anisotropy contained in spatial links; not set: 1. */
  double anisotropy;
  /** Not used. */
  double tadpole_coeff;
  /** Not used. */
  double scale;
  /** QUDA_WILSON_LINKS, or in saveGaugeQuda QUDA_SMEARED_LINKS. */
  QudaLinkType type;
  /** Order of the host's links. */
  QudaGaugeFieldOrder gauge_order;
  /** QUDA_ANTI_PERIODIC_T: links of the last time slice contain the sign. */
  QudaTboundary t_boundary;
  /** Precision of the host's arrays. */
  QudaPrecision cpu_prec;
  /** Precision in which plaq computes: single or double. */
  QudaPrecision cuda_prec;
  /** plaq chooses the storage on the device: two rows for links of SU(3), else whole matrices.
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
  /** Links in temporal gauge are treated like all others.
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
  /** 1: results replace the contents of the output; 0: they are added. */
  int overwrite_gauge;
  int overwrite_mom;
  /** 1: the input is what is on the device, and the host's array may be NULL. */
  int use_resident_gauge;
  int use_resident_mom;
  /** 1: results are kept on the device. */
  int make_resident_gauge;
  int make_resident_mom;
  /** 1: results are written to the host's array. */
  int return_result_gauge;
  int return_result_mom;
  /** QUDA_MILC_SITE_GAUGE_ORDER: offset in bytes of the links in a site struct. */
  size_t gauge_offset;
  /** QUDA_MILC_SITE_GAUGE_ORDER: offset in bytes of the momenta in a site struct. */
  size_t mom_offset;
  /** QUDA_MILC_SITE_GAUGE_ORDER: size in bytes of a site struct. */
  size_t site_size;
} QudaGaugeParam;

/** Operator, equation and solver of a solve. */
typedef struct QudaInvertParam_s {
  /** Bytes of this struct, as its newQuda function sets it. */
  size_t struct_size;
  /** Memory of the arrays, host or device. Not used: plaq finds it out for each address from the driver.
   * Not used. */
  QudaFieldLocation input_location;
  /** Not used. */
  QudaFieldLocation output_location;
  /** Operator: Wilson, clover, twisted mass, twisted clover, Laplace or covariant derivative. */
  QudaDslashType dslash_type;
  QudaInverterType inv_type;
  /** Bare mass; plaq uses kappa.
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
  /** Twisted mass mu: the operator has the term + 2 i kappa mu gamma5, for a doublet times tau3. */
  double mu;
  /** Additional twisted mass of QUDA_TWISTED_CLOVER_DSLASH with one flavour where A itself is applied, not its
   * inverse: in an asymmetric preconditioned operator on its own parity only. */
  double tm_rho;
  /** Mass splitting of a doublet: the operator has the term - 2 kappa epsilon tau1. */
  double epsilon;
  /** Number by which computeTMCloverForceQuda divides coefficients of a doublet. */
  double evmax;
  /** Flavours of a twisted operator. Vectors of two flavours hold, for each parity, the first flavour and then
   * the second. */
  QudaTwistFlavorType twist_flavor;
  /** QUDA_LAPLACE_DSLASH: 3 for the spatial Laplacian, 4 for all four directions. */
  int laplace3D;
  /** QUDA_COVDEV_DSLASH: direction of the shift, 0 to 3 forward in x, y, z, t, 4 to 7 backward. */
  int covdev_mu;
  /** Largest |b - M x| / |b|. */
  double tol;
  /** Factor by which the residual falls before eigenvectors of eig_param are projected out of it again; 0: they
   * are projected out at the start only. */
  double tol_restart;
  /** Largest heavy-quark residual, if residual_type asks for it. */
  double tol_hq;
  /** True residuals are always computed.
   * Not used. */
  int compute_true_res;
  /** |b - M x| / |b| of each source. */
  double true_res[128];
  /** Heavy-quark residual of each source. */
  double true_res_hq[128];
  int maxiter;
  /** Factor by which the residual falls before it is recomputed in full precision. */
  double reliable_delta;
  /** Apart from reliable_delta, plaq decides when residuals are recomputed and when a solve is continued; the
   * same holds for the six members from use_alternative_reliable to max_hq_res_restart_total.
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
  /** Heavy-quark residuals are recomputed whenever residuals are.
   * Not used. */
  int heavy_quark_check;
  /** Each algorithm has only one form in plaq.
   * Not used. */
  int pipeline;
  /** Number of shifts of invertMultiShiftQuda. */
  int num_offset;
  /** Number of sources of invertMultiSrcQuda and dslashMultiSrcQuda. */
  int num_src;
  /** Number of sources for a part of the ranks; here all ranks solve for all sources together.
   * Not used. */
  int num_src_per_sub_partition;
  /** Grid of the parts of the ranks; here ranks are not divided among sources.
   * Not used. */
  int split_grid[6];
  /** Not used. */
  int overlap;
  double offset[32];
  /** Tolerance of each shift. */
  double tol_offset[32];
  /** Largest heavy-quark residual of each shift, if residual_type asks for it; 0: not required. */
  double tol_hq_offset[32];
  /** Residual of each shift. */
  double true_res_offset[32];
  double iter_res_offset[32];
  /** Heavy-quark residual of each shift. */
  double true_res_hq_offset[32];
  /** Coefficients of the shifts in the action. */
  double residue[32];
  /** 1: action[0] gets (b, x), for several shifts the sum of residue (b, x). */
  int compute_action;
  double action[2];
  /** The equation to be solved. */
  QudaSolutionType solution_type;
  /** System through which the equation is solved. */
  QudaSolveType solve_type;
  /** Parity and form of the even-odd preconditioned operator. */
  QudaMatPCType matpc_type;
  /** QUDA_DAG_YES: the adjoint operator. */
  QudaDagType dagger;
  /** Factor of the operator: 1, or 1 / (2 kappa). */
  QudaMassNormalization mass_normalization;
  /** Residuals are relative, so that the norm of the source does not matter.
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
  /** Shifts are refined with iterations in cuda_prec_sloppy.
   * Not used. */
  QudaPrecision cuda_prec_refinement_sloppy;
  /** Preconditioners work in the precision of the iteration.
   * Not used. */
  QudaPrecision cuda_prec_precondition;
  /** Precision of the eigenvectors of eig_param: double, or single for all other values, but at most cuda_prec. */
  QudaPrecision cuda_prec_eigensolver;
  /** Order of the host's spinors; colour vectors are in QUDA_DIRAC_ORDER. */
  QudaDiracFieldOrder dirac_order;
  /** Basis of the host's spinors. */
  QudaGammaBasis gamma_basis;
  /** Not used. */
  QudaFieldLocation clover_location;
  /** Precision of the host's clover term. */
  QudaPrecision clover_cpu_prec;
  /** The clover term has the precisions of the operator; the same holds for the four members that follow.
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
  /** Order of the clover term in the host's array: QUDA_PACKED_CLOVER_ORDER or QUDA_QDPJIT_CLOVER_ORDER. */
  QudaCloverFieldOrder clover_order;
  QudaUseInitGuess use_init_guess;
  /** Coefficient csw, only for computeTMCloverForceQuda; other functions use clover_coeff. */
  double clover_csw;
  /** Coefficient kappa csw of the clover term that plaq computes. */
  double clover_coeff;
  /** Only 0.0. */
  double clover_rho;
  /** 1: trlogA[0] and trlogA[1] get ln det A of the even and of the odd sites. */
  int compute_clover_trlog;
  double trlogA[2];
  /** 1: the clover term is computed from the links on the device. */
  int compute_clover;
  int compute_clover_inverse;
  /** 1: the clover term is written to the host's array. */
  int return_clover;
  int return_clover_inverse;
  /** Amount of the log during the call; by default that of setVerbosityQuda. */
  QudaVerbosity verbosity;
  /** Number of iterations, for several shifts of the slowest one; maxiter or more if a solve has not converged. */
  int iter;
  /** Number of floating-point operations / 1e9. */
  double gflops;
  /** Seconds of the solve, never 0. */
  double secs;
  /** Energy used; always 0, like power, temp and clock.
   * Not used. */
  double energy[3];
  /** Not used. */
  double power;
  /** Not used. */
  double temp;
  /** Not used. */
  double clock;
  /** plaq tunes launches by itself.
   * Not used. */
  QudaTune tune;
  /** BiCGStab(l) is replaced by BiCGStab.
   * Not used. */
  int Nsteps;
  /** Number of directions that GCR keeps. */
  int gcrNkrylov;
  /** Preconditioner of GCR. QUDA_MG_INVERTER: the multigrid in `preconditioner`, if that is not NULL.
   * QUDA_MR_INVERTER: maxiter_precondition steps of minimal residual with relaxation omega. Other solvers than
   * GCR use neither. */
  QudaInverterType inv_type_precondition;
  /** The result of newMultigridQuda. */
  void *preconditioner;
  /** Incremental deflation is not offered.
   * Not used. */
  void *deflation_op;
  /** NULL, or a QudaEigParam whose eigenvectors of M^dagger M (of P^dagger P, if solve_type iterates P) deflate
   * the solve. They are searched for first, and kept if preserve_deflation is 1. */
  void *eig_param;
  /** QUDA_BOOLEAN_TRUE is accepted only with an eig_param, which decides about deflation. */
  QudaBoolean deflate;
  /** Not used. */
  QudaDslashType dslash_type_precondition;
  /** The log has no lines about preconditioners.
   * Not used. */
  QudaVerbosity verbosity_precondition;
  /** QUDA_MR_INVERTER always makes maxiter_precondition steps.
   * Not used. */
  double tol_precondition;
  /** Number of steps of QUDA_MR_INVERTER as inv_type_precondition. */
  int maxiter_precondition;
  /** Relaxation parameter of QUDA_MR_INVERTER. */
  double omega;
  /** Communication-avoiding algorithms are replaced by the usual ones; the same holds for the five members that
   * follow.
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
  /** Steps of the preconditioner follow each other without cycles.
   * Not used. */
  int precondition_cycle;
  /** Steps of QUDA_MR_INVERTER use the operator of the whole lattice: the solution is the same, with fewer
   * iterations.
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
  /** 1: the solution is kept in channel chrono_index, which holds the latest chrono_max_dim solutions. */
  int chrono_make_resident;
  /** 1: the solution replaces the latest one in the channel. */
  int chrono_replace_last;
  /** 1: the solve starts from the best combination of the solutions in the channel, whatever h_x contains. */
  int chrono_use_resident;
  int chrono_max_dim;
  /** Number of the channel of kept solutions, 0 to 11. */
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
  /** Exponent of distance preconditioning, whose modulus is used, for solves with QUDA_WILSON_DSLASH and
   * QUDA_CLOVER_WILSON_DSLASH, not with several shifts, multigrid or eig_param; residuals are those of the
   * weighted equation. Applications of operators do not depend on it. */
  double distance_pc_alpha0;
  /** Time slice of the source; below 0: no distance preconditioning. */
  int distance_pc_t0;
  /** For use by programs; plaq does not read it.
   * Not used. */
  void *additional_prop;
} QudaInvertParam;

/** Parameters of a search for eigenvectors of an operator. */
typedef struct QudaEigParam_s {
  /** Bytes of this struct, as its newQuda function sets it. */
  size_t struct_size;
  /** Parameters of the operator. */
  QudaInvertParam *invert_param;
  QudaEigType eig_type;
  /** 1: the polynomial given by poly_deg, a_min and a_max. 0: one chosen by the spectrum. */
  QudaBoolean use_poly_acc;
  /** Degree of the Chebyshev polynomial. */
  int poly_deg;
  /** Interval on which the polynomial is small, which should contain the unwanted eigenvalues. It is replaced
   * if wanted eigenvalues lie in it; a_max 0: chosen by the spectrum, as are degree and a_min. */
  double a_min;
  double a_max;
  /** 1: eigenvectors of a deflated solve stay on the device for further solves, until one with 0, new links or
   * endQuda. No effect in eigensolveQuda. */
  QudaBoolean preserve_deflation;
  /** A number, in the place of an address, that a solve with preserve_deflation has left here; NULL: the solve
   * searches for eigenvectors. They are searched for again after a change of links or for another operator. */
  void *preserve_deflation_space;
  /** Eigenvalues are kept together with the eigenvectors.
   * Not used. */
  QudaBoolean preserve_evals;
  /** 1: QUDA_LAPLACE_DSLASH uses the smeared links, which must exist. 0: it uses them if they exist. */
  QudaBoolean use_smeared_gauge;
  /** 1: M^dagger instead of M. */
  QudaBoolean use_dagger;
  /** 1: M^dagger M instead of M. */
  QudaBoolean use_norm_op;
  /** 1: the even-odd preconditioned operator instead of M. */
  QudaBoolean use_pc;
  /** Not used. */
  QudaBoolean use_eigen_qr;
  /** QUDA_BOOLEAN_FALSE in eigensolveQuda. Deflated solves work as with QUDA_BOOLEAN_TRUE. */
  QudaBoolean compute_svd;
  /** 1: gamma5 times the operator, if that is hermitian. */
  QudaBoolean compute_gamma5;
  /** 1: it is an error if fewer than n_conv eigenvectors are found. */
  QudaBoolean require_convergence;
  QudaEigSpectrumType spectrum;
  /** Not used; n_conv is the number of eigenvectors.
   * Not used. */
  int n_ev;
  /** Largest number of vectors that are kept; it is raised if n_conv requires more. */
  int n_kr;
  /** Not used. */
  int nLockedMax;
  /** Number of wanted eigenvectors. */
  int n_conv;
  /** For QUDA_EIG_TR_LANCZOS_3D: 3. */
  int ortho_dim;
  /** For QUDA_EIG_TR_LANCZOS_3D: the extent in t of this rank. */
  int ortho_dim_size_local;
  /** Number of eigenvectors that deflate a solve, at most n_conv, or that are solved for on the coarsest level
   * of a multigrid; 0 or less: n_conv. */
  int n_ev_deflate;
  /** Largest |A v - lambda v| relative to the largest eigenvalue; 0: a default for the precision. */
  double tol;
  /** Not used. */
  double qr_tol;
  /** Not used. */
  int check_interval;
  int max_restarts;
  /** Not used. */
  int batched_rotate;
  /** For QUDA_EIG_BLK_TR_LANCZOS: number of vectors that are multiplied together. */
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
  /** Eigenvectors have the precision cuda_prec, those for deflation cuda_prec_eigensolver.
   * Not used. */
  QudaPrecision cuda_prec_ritz;
  /** plaq keeps eigenvectors on the host if the device does not have the memory for them.
   * Not used. */
  QudaMemoryType mem_type_ritz;
  /** Not used. */
  QudaFieldLocation location;
  /** Residuals are always measured.
   * Not used. */
  QudaBoolean run_verify;
  /** Must be empty. */
  char vec_infile[256];
  /** Must be empty. */
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

/** Parameters of the multigrid of an operator. */
typedef struct QudaMultigridParam_s {
  /** Bytes of this struct, as its newQuda function sets it. */
  size_t struct_size;
  /** Parameters of the operator. */
  QudaInvertParam *invert_param;
  /** Parameters of the coarsest level's low modes, if its use_eig_solver is 1: n_ev_deflate is their number, or
   * n_conv if that is below 1, at most 256. Those of other levels are not used. */
  QudaEigParam *eig_param[5];
  /** Number of levels, including the finest. */
  int n_level;
  /** Extents x, y, z, t of aggregates, for each level. */
  int geo_block_size[5][6];
  /** Chiralities are in separate aggregates, on all levels.
   * Not used. */
  int spin_block_size[5];
  /** Number of null vectors of each level. */
  int n_vec[5];
  /** plaq chooses the precisions of levels.
   * Not used. */
  QudaPrecision precision_null[5];
  /** Not used. */
  int n_block_ortho[5];
  /** Not used. */
  QudaBoolean block_ortho_two_pass[5];
  /** The log has one line about a set-up, if verbosity of invert_param asks for it.
   * Not used. */
  QudaVerbosity verbosity[5];
  /** Not used. */
  QudaBoolean setup_use_mma[5];
  /** Not used. */
  QudaBoolean dslash_use_mma[5];
  /** Null vectors are found by plaq's own method; the same holds for the members from num_setup_iter to
   * setup_maxiter and from setup_ca_basis to post_orthonormalize.
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
  /** A value above 0 on some level: updateMultigridQuda refines null vectors. */
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
  /** The coarsest level is solved by plaq's own method, in at most coarse_solver_maxiter iterations.
   * Not used. */
  QudaInverterType coarse_solver[5];
  /** Relative residuals at which solves on coarse levels stop: that of the coarsest level for itself, that of
   * the second level for those between; if not set, plaq's defaults. */
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
  /** The smoother is plaq's own, with nu_pre and nu_post steps.
   * Not used. */
  QudaInverterType smoother[5];
  /** Not used. */
  double smoother_tol[5];
  /** Number of smoothing steps before the coarse correction. */
  int nu_pre[5];
  /** Number of smoothing steps after the coarse correction. */
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
  /** All levels are on the device from the set-up on.
   * Not used. */
  QudaFieldLocation location[5];
  /** Not used. */
  QudaFieldLocation setup_location[5];
  /** For the coarsest level 1: low modes are found by plaq's method and solved for exactly, as many as its
   * eig_param says; 0: as many as plaq chooses. 1 for other levels is refused. */
  QudaBoolean use_eig_solver[5];
  /** Not used. */
  QudaBoolean setup_minimize_memory;
  /** Null vectors are always found by the set-up.
   * Not used. */
  QudaComputeNullVector compute_null_vector;
  /** All levels are made.
   * Not used. */
  QudaBoolean generate_all_levels;
  /** A set-up is not verified; the reduction of the residual is measured and logged.
   * Not used. */
  QudaBoolean run_verify;
  /** Not used. */
  QudaBoolean run_low_mode_check;
  /** Not used. */
  QudaBoolean run_oblique_proj_check;
  /** A name in vec_infile suffices, as in QUDA.
   * Not used. */
  QudaBoolean vec_load[5];
  /** The name for level 0 is the beginning of the name of a file from which null vectors are read; names for
   * other levels are used only with it. */
  char vec_infile[5][256];
  /** 1 for level 0: null vectors are written to the file in vec_outfile, if that is not empty; values for other
   * levels are used only with it. */
  QudaBoolean vec_store[5];
  char vec_outfile[5][256];
  /** Not used. */
  QudaBoolean mg_vec_partfile[5];
  /** The coarsest level is solved from zero.
   * Not used. */
  QudaBoolean coarse_guess;
  /** Low modes of the coarsest level are kept as long as the multigrid, and updated with it.
   * Not used. */
  QudaBoolean preserve_deflation;
  /** Factors of the twisted mass on all levels; for the finest one 1. */
  double mu_factor[5];
  /** QUDA_TRANSFER_AGGREGATE; other transfers are for staggered quarks. */
  QudaTransferType transfer_type[5];
  /** Not used. */
  QudaBoolean allow_truncation;
  /** Not used. */
  QudaBoolean staggered_kd_dagger_approximation;
  QudaBoolean thin_update_only;
} QudaMultigridParam;

/** Observables of links. */
typedef struct QudaGaugeObservableParam_s {
  /** Bytes of this struct, as its newQuda function sets it. */
  size_t struct_size;
  /** 1: links are first projected onto SU(3), and stay so: the unitary factor of the polar decomposition,
   * divided by the cube root of its determinant that is nearest to 1. */
  QudaBoolean su_project;
  QudaBoolean compute_plaquette;
  /** Average plaquettes, 1 for unit links: of all planes, of spatial planes, of planes with time. */
  double plaquette[3];
  QudaBoolean compute_polyakov_loop;
  /** Sum of the traced Polyakov loops in t over the sites of space, divided by their number: re, im. */
  double ploop[2];
  QudaBoolean compute_gauge_loop_trace;
  /** Room for num_paths complex doubles. */
  QUDA_DOUBLE_COMPLEX *traces;
  /** Closed paths, given like those of computeGaugeLoopTraceQuda. */
  int **input_path_buff;
  int *path_length;
  double *loop_coeff;
  int num_paths;
  int max_length;
  double factor;
  QudaBoolean compute_qcharge;
  /** Topological charge of the clover leaves, whose trace is kept. */
  double qcharge;
  /** Average of -tr F F per site, with traceless F: total, magnetic, electric. */
  double energy[3];
  QudaBoolean compute_qcharge_density;
  /** Room for a double for each site, even sites first. */
  void *qcharge_density;
  /** Only QUDA_BOOLEAN_FALSE. */
  QudaBoolean remove_staggered_phase;
} QudaGaugeObservableParam;

/** Parameters of smearing or flow of links. */
typedef struct QudaGaugeSmearParam_s {
  /** Bytes of this struct, as its newQuda function sets it. */
  size_t struct_size;
  unsigned n_steps;
  /** Step size of the flow. */
  double epsilon;
  /** Only 1.0. */
  double smear_anisotropy;
  /** Order of the flow's integration scheme.
   * Only 3. */
  unsigned rk_order;
  /** Parameter alpha of APE smearing. */
  double alpha;
  /** Parameter rho of stout smearing. */
  double rho;
  /** Parameter of HYP smearing at the outermost level. */
  double alpha1;
  double alpha2;
  double alpha3;
  /** Number of steps between two measurements. */
  unsigned meas_interval;
  QudaGaugeSmearType smear_type;
  /** Number of states of the links that performAdjGFlowHier keeps; 0: as many as half of the free memory holds. */
  unsigned adj_n_save;
  /** Not used. */
  unsigned hier_threshold;
  /** 1: continues with the smeared links on the device. */
  QudaBoolean restart;
  /** Flow time at which a restarted flow begins. */
  double t0;
  /** Direction whose links are left out; 4: none; -1: t, but for HYP none. */
  int dir_ignore;
} QudaGaugeSmearParam;

/** Parameters of products and inverses of dense matrices, which plaq does not offer. */
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

/** Parameters of the smearing of staggered quarks, which plaq does not offer. */
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

/** Sets the process grid: nDim is 4, and dims are the numbers of ranks in x, y, z, t. `func` gives the rank
 * of MPI_COMM_WORLD at a place; NULL: t runs fastest. Without this call the ranks are those of the logical
 * topology that the program has declared to QMP, with QMP's communicator; without QMP there is one rank. */
void initCommsGridQuda(int nDim, const int *dims, QudaCommsMap func, void *fdata);

/** Sets the GPU, if there is a single rank; -1: plaq chooses. The session is opened with the first lattice. */
void initQuda(int device);

/** Does the first half of initQuda. */
void initQudaDevice(int device);

/** Does the second half of initQuda, for which plaq has nothing to do. */
void initQudaMemory(void);

/** Frees everything; initQuda may follow, also with another lattice. */
void endQuda(void);

/** Returns memory that is kept for later fields to the device. Page-locked memory of the host is not kept
 * anyway. */
void flushPoolQuda(QudaMemoryType memory);

/** Does nothing, since plaq keeps no halos of links between calls that could be out of date. */
void updateR(void);

/** Sets the log that the first rank writes, after initQuda and a first lattice, to `outfile`, a FILE * (NULL:
 * stdout), with `prefix` before each line. If this is not called, only what a call's member `verbosity` asks
 * for is written. */
void setVerbosityQuda(QudaVerbosity verbosity, const char *prefix, void *outfile);

/** Returns the struct with QUDA's defaults; members that the host must set have invalid values. */
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

/** Copies the host's links to the device, where they are kept, dividing out the sign and 1 / anisotropy that
 * they contain. The first call fixes the lattice. With use_resident_gauge 1 `h_gauge` may be NULL, and the
 * links on the device are kept. */
void loadGaugeQuda(void *h_gauge, const QudaGaugeParam *param);

/** Writes the links on the device into the host's array, multiplied by sign and 1 / anisotropy; for type
 * QUDA_SMEARED_LINKS the smeared ones. */
void saveGaugeQuda(void *h_gauge, const QudaGaugeParam *param);

/** Frees links and smeared links. */
void freeGaugeQuda(void);

/** Frees the links of one type. */
void freeUniqueGaugeQuda(QudaLinkType link_type);

/** Frees smeared links. */
void freeGaugeSmearedQuda(void);

/** Measures average plaquettes, 1 for unit links: of all planes, of spatial planes, of planes with time. */
void plaqQuda(double *plaq);

/** Measures the sum of the traced loops in t over the sites of space, divided by their number: re, im. `dir`
 * must be 3. */
void polyakovLoopQuda(double *ploop, int dir);

/** Measures what `param` asks for, on the smeared links if there are any. */
void gaugeObservablesQuda(QudaGaugeObservableParam *param);

/** Smears the links n_steps times; the result are the smeared links. obs_param: an array with an entry for
 * the start, and one for every meas_interval steps. */
void performGaugeSmearQuda(QudaGaugeSmearParam *smear_param, QudaGaugeObservableParam *obs_param);

/** Flows the links by Luescher's third-order scheme; results and measurements as in performGaugeSmearQuda. */
void performWFlowQuda(QudaGaugeSmearParam *smear_param, QudaGaugeObservableParam *obs_param);

/** Sets a clover term A and its inverse. compute_clover 1: A = 1 + 2 clover_coeff (i / 4) sum sigma F of the
 * links on the device and its inverse are computed, and copied to the host if return_clover and
 * return_clover_inverse are 1. Otherwise the host's A is loaded, with its inverse, which is computed if the
 * host has none. They are kept until this is called again. */
void loadCloverQuda(void *h_clover, void *h_clovinv, QudaInvertParam *inv_param);

/** The same as loadCloverQuda without arrays of the host. */
void createCloverQuda(QudaInvertParam *param);

/** Frees the clover term and its inverse. */
void freeCloverQuda(void);

/** Computes out = M in, or P in if solution_type is that of a preconditioned system; QUDA_DAG_YES: with the
 * adjoint. M is A - kappa H times the factor of mass_normalization; for the Laplacian 1 - kappa sum (U +
 * U^dagger) on colour vectors; for the covariant derivative the shift of spinors by covdev_mu. */
void MatQuda(void *h_out, void *h_in, QudaInvertParam *inv_param);

/** Computes out = M^dagger M in, or P^dagger P in. */
void MatDagMatQuda(void *h_out, void *h_in, QudaInvertParam *inv_param);

/** Computes out = H in from the other parity to `parity`, or A^-1 H in with a clover term or a twisted mass;
 * without a factor. */
void dslashQuda(void *h_out, void *h_in, QudaInvertParam *inv_param, QudaParity parity);

/** The same as dslashQuda for num_src vectors. */
void dslashMultiSrcQuda(void **_hp_x, void **_hp_b, QudaInvertParam *param, QudaParity parity);

/** Computes out = A in on `parity`, including the twisted mass, or A^-1 in. */
void cloverQuda(void *h_out,
                void *h_in,
                QudaInvertParam *inv_param,
                QudaParity parity,
                int inverse);

/** Computes out(x) = U_dir(x) in(x + dir) for dir 0 to 3, or U_dir(x - dir)^dagger in(x - dir) for dir 4 to
 * 7, of spinors, or with QUDA_STAGGERED_DSLASH and QUDA_LAPLACE_DSLASH of colour vectors. */
void covDevQuda(void *h_out, void *h_in, int dir, QudaInvertParam *param);

/** Computes the same for dir 0 to 3 forward (sym 1), backward (sym 2), or half the sum of both (sym 3). */
void shiftQuda(void *h_out, void *h_in, int dir, int sym, QudaInvertParam *param);

/** Computes out = [(1 + alpha sum (U + U^dagger)) / (1 + 6 alpha)]^n_steps in, with the sum over spatial
 * neighbours and the smeared links, if there are any; of spinors, or with QUDA_STAGGERED_DSLASH of colour
 * vectors. */
void performWuppertalnStep(void *h_out,
                           void *h_in,
                           QudaInvertParam *param,
                           unsigned n_steps,
                           double alpha);

/** Solves the equation given by solution_type for one source, through the system given by solve_type and
 * matpc_type, in cuda_prec with iterations in cuda_prec_sloppy. Vectors of a preconditioned solution have
 * one parity. */
void invertQuda(void *h_x, void *h_b, QudaInvertParam *param);

/** Solves as invertQuda does, for num_src sources together. */
void invertMultiSrcQuda(void **_hp_x, void **_hp_b, QudaInvertParam *param);

/** Solves (M^dagger M + offset[i]) x_i = b, or the same with P for M, for num_offset shifts in one Krylov
 * space, each to its tol_offset. */
void invertMultiShiftQuda(void **_hp_x, void *_hp_b, QudaInvertParam *param);

/** Removes the earlier solutions of a channel, 0 to 11. */
void flushChronoQuda(int index);

/** Finds null vectors of invert_param's operator and builds the levels. n_level, geo_block_size, n_vec,
 * nu_pre, nu_post, coarse_solver_tol, coarse_solver_maxiter and cycle_type are used; plaq chooses the
 * solvers. Blocks that do not divide a level are halved until they do. Null vectors of the finest level are
 * read from the file in vec_infile[0], if a name is there; with vec_store[0] 1 they are written to the file
 * in vec_outfile[0], as by dumpMultigridQuda. Those of coarse levels are made from them. The result is for
 * `preconditioner` of QudaInvertParam. */
void *newMultigridQuda(QudaMultigridParam *param);

/** Updates the multigrid to the operator's present links and parameters. If setup_maxiter_refresh is above 0
 * on some level, null vectors are refined by the cycle; otherwise, and with thin_update_only 1, they are
 * kept as long as the cycle works well with them. */
void updateMultigridQuda(void *mg_instance, QudaMultigridParam *param);

void destroyMultigridQuda(void *mg_instance);

/** Writes the null vectors of the finest level to a file in the format of plaq_multigrid_write. Its name is
 * vec_outfile[0] followed by `_level_0_nvec_` and their number. */
void dumpMultigridQuda(void *mg_instance, QudaMultigridParam *param);

/** Finds the n_conv normalised eigenvectors of A at the end `spectrum`, and their eigenvalues in the order
 * from that end on. A is the operator M of invert_param, with use_pc P, with use_norm_op M^dagger M, with
 * use_dagger too M M^dagger, with compute_gamma5 gamma5 M or gamma5 P, without the factor of
 * mass_normalization, and must be hermitian. QUDA_EIG_TR_LANCZOS_3D: A is the Laplacian in x, y and z, and
 * the n_conv lowest eigenvectors of every time slice are found; vector k holds eigenvector k of each slice,
 * normalised to 1 there.
 * `h_evecs`: n_conv arrays, or NULL; `h_evals`: n_conv complex doubles, in 3D as many for each t of the
 * whole lattice. */
void eigensolveQuda(void **h_evecs, QUDA_DOUBLE_COMPLEX *h_evals, QudaEigParam *param);

/** Computes host_sinks[quark][eigenvector][t][spin] = the sum over a time slice of conj(eigenvector) quark,
 * with t of the whole lattice, on all ranks, `tile_quark` quarks and `tile_evec` eigenvectors at a time,
 * with spins in the basis of the host. */
void laphSinkProject(QUDA_DOUBLE_COMPLEX *host_sinks,
                     void **host_quark,
                     int n_quark,
                     int tile_quark,
                     void **host_evec,
                     int nevec,
                     int tile_evec,
                     QudaInvertParam *inv_param,
                     const int *X);

/** Adds to result[0][momentum][slice][G], doubles (re, im), the sum over the sites of a slice of exp(i p (r -
 * source_position)) tr[gamma5 G Y gamma5 G X^dagger], r the site, for the propagators of `src_colors` colours,
 * columns src_colors s + c at x and y: G = gamma_1, ... gamma_4, gamma5 gamma_1, ... gamma5 gamma_4, 1,
 * gamma5, sigma_12, sigma_13, sigma_14, sigma_23, sigma_24, sigma_34, sigma_mn = (i / 2) [gamma_m, gamma_n].
 * Slices are those of t, or of z with QUDA_CONTRACT_TYPE_DR_FT_Z, on the whole lattice and on all ranks.
 * `mom_modes`: four numbers for each momentum, p = 2 pi n / L. Of colour vectors, with
 * QUDA_CONTRACT_TYPE_STAGGERED_FT_T, conj(x) y alone, each direction with its member of fft_type, exp(i p r),
 * cos(p r) or i sin(p r). `cs_param_ptr`: a quda::ColorSpinorParam of color_spinor_field.h as plaq has it, in
 * C++. */
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

/** Flows nSpinors spinors, or with QUDA_STAGGERED_DSLASH and QUDA_LAPLACE_DSLASH colour vectors, by n_steps
 * steps with the four-dimensional Laplacian on the flowed links, including the sign of t_boundary. The
 * flowed links become the smeared links. obs_param as in performWFlowQuda. */
void performGFlowQuda(void **h_out,
                      void **h_in,
                      QudaInvertParam *inv_param,
                      QudaGaugeSmearParam *smear_param,
                      QudaGaugeObservableParam *obs_param,
                      size_t nSpinors);

/** Applies the adjoint of performGFlowQuda from the same links: takes spinors from the end of the flow to its
 * start. As many states of the links are kept as half of the free memory holds; smeared links are not
 * changed. */
void performAdjGFlowSafe(void **h_out,
                         void **h_in,
                         QudaInvertParam *inv_param,
                         QudaGaugeSmearParam *smear_param,
                         size_t nSpinors);

/** The same as performAdjGFlowSafe, with adj_n_save states of the links. */
void performAdjGFlowHier(void **h_out,
                         void **h_in,
                         QudaInvertParam *inv_param,
                         QudaGaugeSmearParam *smear_param,
                         size_t nSpinors);

/** Computes mom = mom - dt TA[U_d(x) sum_i loop_coeff[i] (product along path i of direction d from x + d)]
 * for each link, where TA is the traceless antihermitian part. input_path_buf[d][i] holds the path_length[i]
 * steps of a staple that leads back to x: 0 to 3 forward in x, y, z, t, 7 - mu back in direction mu. Momenta
 * are anti-hermitian, 10 reals a link (sqrt(2) i p in plaq's convention), in one array, four on a site, or
 * in four arrays (QUDA_QDP_GAUGE_ORDER), even sites first; or on the device. Up to 63 steps and 1024 paths.
 * Returns 0. */
int computeGaugeForceQuda(void *mom,
                          void *sitelink,
                          int ***input_path_buf,
                          const int *path_length,
                          const double *loop_coeff,
                          int num_paths,
                          int max_length,
                          double dt,
                          const QudaGaugeParam *qudaGaugeParam);

/** Computes out_d(x) = out_d(x) + dt U_d(x) sum_i loop_coeff[i] (product along path i from x + d), or without
 * adding to out_d(x) if overwrite_gauge is 1; `out` has the layout of links. Paths need not be closed. */
int computeGaugePathQuda(void *out,
                         void *sitelink,
                         int ***input_path_buf,
                         const int *path_length,
                         const double *loop_coeff,
                         int num_paths,
                         int max_length,
                         double dt,
                         const QudaGaugeParam *qudaGaugeParam);

/** Computes traces[i] = factor loop_coeff[i] sum over x of tr (product along the closed path i from x) for
 * the links kept by loadGaugeQuda; `traces` has room for num_paths complex doubles. Up to 64 steps and 4096
 * paths. */
void computeGaugeLoopTraceQuda(void *traces,
                               int **input_path_buf,
                               const int *path_length,
                               const double *loop_coeff,
                               int num_paths,
                               int max_length,
                               double factor);

/** make_resident_mom 1: copies the host's momenta to the device. return_result_mom 1: returns those on the
 * device to the host, and frees them unless make_resident_mom is 1, too. */
void momResidentQuda(void *mom, const QudaGaugeParam *param);

/** Gives 1/2 tr P^dagger P - 4 summed over links of all ranks; for the momenta on the device if
 * use_resident_mom is 1. */
double momActionQuda(void *momentum, const QudaGaugeParam *param);

/** Sets the momenta on the device to independent normally distributed coefficients sqrt(2) i p, where p has
 * width sigma. */
void gaussMomQuda(size_t seed, double sigma);

/** Sets the links on the device to exp(sigma A), with A distributed like momenta of width 1. */
void gaussGaugeQuda(size_t seed, double sigma);

/** Computes U = exp(dt P) U; the exponential is exact to rounding. conj_mom 1: with the adjoint of P. */
void updateGaugeFieldQuda(void *gauge,
                          void *momentum,
                          double dt,
                          int conj_mom,
                          int exact,
                          const QudaGaugeParam *param);

/** Projects the links onto SU(3): the unitary factor of the polar decomposition, divided by the cube root of
 * its determinant that is nearest to 1. Refused if a result is not unitary to `tol`. */
void projectSU3Quda(void *gauge_h, double tol, const QudaGaugeParam *param);

/** Fixes Coulomb (`gauge_dir` 3) or Landau gauge (4) of the host's links by overrelaxation with
 * `relax_boost`. The fixing ends when the functional sum Re tr U / (3 d V) rises by less than `tolerance`
 * from one sweep to the next (`stopWtheta` 0), when QUDA's theta is below it (1), or after `Nsteps`. Returns
 * 0. */
int computeGaugeFixingOVRQuda(void *gauge,
                              unsigned gauge_dir,
                              unsigned Nsteps,
                              unsigned verbose_interval,
                              double relax_boost,
                              double tolerance,
                              unsigned reunit_interval,
                              unsigned stopWtheta,
                              const QudaGaugeParam *param);

/** Fixes Coulomb or Landau gauge as computeGaugeFixingOVRQuda does, but by Fourier-accelerated steepest
 * descent, on one rank. Steps that lower the functional are halved, whatever `autotune` is. */
int computeGaugeFixingFFTQuda(void *gauge,
                              unsigned gauge_dir,
                              unsigned Nsteps,
                              unsigned verbose_interval,
                              double alpha,
                              unsigned autotune,
                              double tolerance,
                              unsigned stopWtheta,
                              const QudaGaugeParam *param);

/** Computes P = P - 2 i dt F for the momenta P, where F is the force of sum_i coeff[i] <phi, (D^dagger D +
 * ...)^-1 phi> - multiplicity ln det A of the sites that D leaves out. D is the even-odd preconditioned
 * clover operator of matpc_type (without a clover term Wilson's) on the links on the device, and x[i] are
 * the solutions on its parity. `kappa2` is
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

/** Computes P = P + 4 i F for the momenta P, or P = 4 i F with overwrite_mom 1. F is the force of the action
 * sum_i w_i <phi, (R^dagger R + ...)^-1 phi> - ln |det A|^2 with w_i = coeff[i] / (4 kappa^2). R is the
 * even-odd preconditioned operator of an asymmetric matpc_type with -mu and -tm_rho, A its site term on the
 * other parity, x[i] are the solutions on the parity of R. For QUDA_TWIST_NONDEG_DOUBLET w_i = coeff[i] / (4
 * kappa^2 evmax), and ln |det A| of both flavours is subtracted once. The clover term is computed from the
 * links on the device with csw = clover_csw. detratio 1: the action has no ln |det A|, and of one flavour F
 * is the change of
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
