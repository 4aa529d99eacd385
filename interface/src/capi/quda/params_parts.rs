//! Structs of `quda.h` used with solves: multigrid, eigenvectors, dense matrices.

#![allow(non_snake_case)]

use std::ffi::{c_char, c_int, c_void};

use num_complex::Complex64;

use super::enums::*;
use super::enums_named::*;
use super::params_invert::QudaInvertParam;
use super::records::{records, unset, INVALID, UNSET};
use crate::params::Number;

records! {
    /// Parameters of the multigrid of an operator.
    QudaMultigridParam {
        /// Parameters of the operator.
        invert_param: *mut QudaInvertParam = std::ptr::null_mut(), used;
        /// Parameters of the coarsest level's low modes, if its use_eig_solver is 1: n_ev_deflate is their number, or
        /// n_conv if that is below 1, at most 256. Those of other levels are not used.
        eig_param: [*mut QudaEigParam; 5] = [std::ptr::null_mut(); 5], used;
        /// Number of levels, including the finest.
        n_level: c_int = INVALID, used;
        /// Extents x, y, z, t of aggregates, for each level.
        geo_block_size: [[c_int; 6]; 5] = [[INVALID; 6]; 5], used;
        /// Chiralities are in separate aggregates, on all levels.
        spin_block_size: [c_int; 5] = [INVALID; 5], ignored;
        /// Number of null vectors of each level.
        n_vec: [c_int; 5] = [INVALID; 5], used;
        /// plaq chooses the precisions of levels.
        precision_null: [QudaPrecision; 5] = [Number::new(4); 5], ignored;
        n_block_ortho: [c_int; 5] = [1; 5], ignored;
        block_ortho_two_pass: [QudaBoolean; 5] = [Number::new(1); 5], ignored;
        /// The log has one line about a set-up, if verbosity of invert_param asks for it.
        verbosity: [QudaVerbosity; 5] = [Number::new(0); 5], ignored;
        setup_use_mma: [QudaBoolean; 5] = [Number::new(0); 5], ignored;
        dslash_use_mma: [QudaBoolean; 5] = [Number::new(0); 5], ignored;
        /// Null vectors are found by plaq's own method; the same holds for the members from num_setup_iter to
        /// setup_maxiter and from setup_ca_basis to post_orthonormalize.
        setup_inv_type: [QudaInverterType; 5] = [Number::new(1); 5], ignored;
        n_vec_batch: [c_int; 5] = [INVALID; 5], ignored;
        num_setup_iter: [c_int; 5] = [1; 5], ignored;
        setup_tol: [f64; 5] = [5e-06; 5], ignored;
        setup_maxiter: [c_int; 5] = [500; 5], ignored;
        /// A value above 0 on some level: updateMultigridQuda refines null vectors.
        setup_maxiter_refresh: [c_int; 5] = [0; 5], used;
        setup_ca_basis: [QudaCABasis; 5] = [Number::new(0); 5], ignored;
        setup_ca_basis_size: [c_int; 5] = [4; 5], ignored;
        setup_ca_lambda_min: [f64; 5] = [0.0; 5], ignored;
        setup_ca_lambda_max: [f64; 5] = [-1.0; 5], ignored;
        setup_type: QudaSetupType = Number::new(0), ignored;
        pre_orthonormalize: QudaBoolean = Number::new(0), ignored;
        post_orthonormalize: QudaBoolean = Number::new(1), ignored;
        /// The coarsest level is solved by plaq's own method, in at most coarse_solver_maxiter iterations.
        coarse_solver: [QudaInverterType; 5] = [unset(); 5], ignored;
        /// Relative residuals at which solves on coarse levels stop: that of the coarsest level for itself, that of
        /// the second level for those between; if not set, plaq's defaults.
        coarse_solver_tol: [f64; 5] = [UNSET; 5], used;
        coarse_solver_maxiter: [c_int; 5] = [INVALID; 5], used;
        coarse_solver_ca_basis: [QudaCABasis; 5] = [Number::new(0); 5], ignored;
        coarse_solver_ca_basis_size: [c_int; 5] = [4; 5], ignored;
        coarse_solver_ca_lambda_min: [f64; 5] = [0.0; 5], ignored;
        coarse_solver_ca_lambda_max: [f64; 5] = [-1.0; 5], ignored;
        /// The smoother is plaq's own, with nu_pre and nu_post steps.
        smoother: [QudaInverterType; 5] = [unset(); 5], ignored;
        smoother_tol: [f64; 5] = [UNSET; 5], ignored;
        /// Number of smoothing steps before the coarse correction.
        nu_pre: [c_int; 5] = [INVALID; 5], used;
        /// Number of smoothing steps after the coarse correction.
        nu_post: [c_int; 5] = [INVALID; 5], used;
        smoother_solver_ca_basis: [QudaCABasis; 5] = [Number::new(0); 5], ignored;
        smoother_solver_ca_lambda_min: [f64; 5] = [0.0; 5], ignored;
        smoother_solver_ca_lambda_max: [f64; 5] = [-1.0; 5], ignored;
        omega: [f64; 5] = [UNSET; 5], ignored;
        smoother_halo_precision: [QudaPrecision; 5] = [unset(); 5], ignored;
        smoother_schwarz_type: [QudaSchwarzType; 5] = [unset(); 5], ignored;
        smoother_schwarz_cycle: [c_int; 5] = [1; 5], ignored;
        coarse_grid_solution_type: [QudaSolutionType; 5] = [unset(); 5], ignored;
        smoother_solve_type: [QudaSolveType; 5] = [unset(); 5], ignored;
        cycle_type: [QudaMultigridCycleType; 5] = [unset(); 5], used;
        global_reduction: [QudaBoolean; 5] = [Number::new(1); 5], ignored;
        /// All levels are on the device from the set-up on.
        location: [QudaFieldLocation; 5] = [unset(); 5], ignored;
        setup_location: [QudaFieldLocation; 5] = [Number::new(2); 5], ignored;
        /// For the coarsest level 1: low modes are found by plaq's method and solved for exactly, as many as its
        /// eig_param says; 0: as many as plaq chooses. 1 for other levels is refused.
        use_eig_solver: [QudaBoolean; 5] = [Number::new(0); 5], used;
        setup_minimize_memory: QudaBoolean = Number::new(0), ignored;
        /// Null vectors are always found by the set-up.
        compute_null_vector: QudaComputeNullVector = unset(), ignored;
        /// All levels are made.
        generate_all_levels: QudaBoolean = unset(), ignored;
        /// A set-up is not verified; the reduction of the residual is measured and logged.
        run_verify: QudaBoolean = unset(), ignored;
        run_low_mode_check: QudaBoolean = Number::new(0), ignored;
        run_oblique_proj_check: QudaBoolean = Number::new(0), ignored;
        /// A name in vec_infile suffices, as in QUDA.
        vec_load: [QudaBoolean; 5] = [Number::new(0); 5], ignored;
        /// The name for level 0 is the beginning of the name of a file from which null vectors are read; names for
        /// other levels are used only with it.
        vec_infile: [[c_char; 256]; 5] = [[0; 256]; 5], used;
        /// 1 for level 0: null vectors are written to the file in vec_outfile, if that is not empty; values for other
        /// levels are used only with it.
        vec_store: [QudaBoolean; 5] = [Number::new(0); 5], used;
        vec_outfile: [[c_char; 256]; 5] = [[0; 256]; 5], used;
        mg_vec_partfile: [QudaBoolean; 5] = [Number::new(0); 5], ignored;
        /// The coarsest level is solved from zero.
        coarse_guess: QudaBoolean = Number::new(0), ignored;
        /// Low modes of the coarsest level are kept as long as the multigrid, and updated with it.
        preserve_deflation: QudaBoolean = Number::new(0), ignored;
        /// Factors of the twisted mass on all levels; for the finest one 1.
        mu_factor: [f64; 5] = [1.0; 5], used;
        /// QUDA_TRANSFER_AGGREGATE; other transfers are for staggered quarks.
        transfer_type: [QudaTransferType; 5] = [Number::new(0); 5], used;
        allow_truncation: QudaBoolean = Number::new(0), ignored;
        staggered_kd_dagger_approximation: QudaBoolean = Number::new(0), ignored;
        thin_update_only: QudaBoolean = Number::new(0), used;
    }
    /// Parameters of a search for eigenvectors of an operator.
    QudaEigParam {
        /// Parameters of the operator.
        invert_param: *mut QudaInvertParam = std::ptr::null_mut(), used;
        eig_type: QudaEigType = Number::new(0), used;
        /// 1: the polynomial given by poly_deg, a_min and a_max. 0: one chosen by the spectrum.
        use_poly_acc: QudaBoolean = Number::new(0), used;
        /// Degree of the Chebyshev polynomial.
        poly_deg: c_int = 0, used;
        /// Interval on which the polynomial is small, which should contain the unwanted eigenvalues. It is replaced
        /// if wanted eigenvalues lie in it; a_max 0: chosen by the spectrum, as are degree and a_min.
        a_min: f64 = 0.0, used;
        a_max: f64 = 0.0, used;
        /// 1: eigenvectors of a deflated solve stay on the device for further solves, until one with 0, new links or
        /// endQuda. No effect in eigensolveQuda.
        preserve_deflation: QudaBoolean = Number::new(0), used;
        /// A number, in the place of an address, that a solve with preserve_deflation has left here; NULL: the solve
        /// searches for eigenvectors. They are searched for again after a change of links or for another operator.
        preserve_deflation_space: *mut c_void = std::ptr::null_mut(), used;
        /// Eigenvalues are kept together with the eigenvectors.
        preserve_evals: QudaBoolean = Number::new(1), ignored;
        /// 1: QUDA_LAPLACE_DSLASH uses the smeared links, which must exist. 0: it uses them if they exist.
        use_smeared_gauge: QudaBoolean = Number::new(0), used;
        /// 1: M^dagger instead of M.
        use_dagger: QudaBoolean = Number::new(0), used;
        /// 1: M^dagger M instead of M.
        use_norm_op: QudaBoolean = Number::new(0), used;
        /// 1: the even-odd preconditioned operator instead of M.
        use_pc: QudaBoolean = Number::new(0), used;
        use_eigen_qr: QudaBoolean = Number::new(0), ignored;
        /// QUDA_BOOLEAN_FALSE in eigensolveQuda. Deflated solves work as with QUDA_BOOLEAN_TRUE.
        compute_svd: QudaBoolean = Number::new(0), used;
        /// 1: gamma5 times the operator, if that is hermitian.
        compute_gamma5: QudaBoolean = Number::new(0), used;
        /// 1: it is an error if fewer than n_conv eigenvectors are found.
        require_convergence: QudaBoolean = Number::new(1), used;
        spectrum: QudaEigSpectrumType = Number::new(2), used;
        /// Not used; n_conv is the number of eigenvectors.
        n_ev: c_int = 0, ignored;
        /// Largest number of vectors that are kept; it is raised if n_conv requires more.
        n_kr: c_int = 0, used;
        nLockedMax: c_int = 0, ignored;
        /// Number of wanted eigenvectors.
        n_conv: c_int = 0, used;
        /// For QUDA_EIG_TR_LANCZOS_3D: 3.
        ortho_dim: c_int = 0, used;
        /// For QUDA_EIG_TR_LANCZOS_3D: the extent in t of this rank.
        ortho_dim_size_local: c_int = 0, used;
        /// Number of eigenvectors that deflate a solve, at most n_conv, or that are solved for on the coarsest level
        /// of a multigrid; 0 or less: n_conv.
        n_ev_deflate: c_int = -1, used;
        /// Largest |A v - lambda v| relative to the largest eigenvalue; 0: a default for the precision.
        tol: f64 = 0.0, used;
        qr_tol: f64 = 0.0, ignored;
        check_interval: c_int = 0, ignored;
        max_restarts: c_int = 0, used;
        batched_rotate: c_int = 0, ignored;
        /// For QUDA_EIG_BLK_TR_LANCZOS: number of vectors that are multiplied together.
        block_size: c_int = INVALID, used;
        compute_evals_batch_size: c_int = 4, ignored;
        max_ortho_attempts: c_int = 10, ignored;
        ortho_block_size: c_int = 0, ignored;
        arpack_check: QudaBoolean = Number::new(0), only(QUDA_BOOLEAN_FALSE);
        arpack_logfile: [c_char; 512] = [0; 512], ignored;
        QUDA_logfile: [c_char; 512] = [0; 512], ignored;
        nk: c_int = 0, ignored;
        np: c_int = 0, ignored;
        import_vectors: QudaBoolean = Number::new(0), ignored;
        /// Eigenvectors have the precision cuda_prec, those for deflation cuda_prec_eigensolver.
        cuda_prec_ritz: QudaPrecision = Number::new(0), ignored;
        /// plaq keeps eigenvectors on the host if the device does not have the memory for them.
        mem_type_ritz: QudaMemoryType = Number::new(0), ignored;
        location: QudaFieldLocation = Number::new(2), ignored;
        /// Residuals are always measured.
        run_verify: QudaBoolean = Number::new(0), ignored;
        /// Must be empty.
        vec_infile: [c_char; 256] = [0; 256], used;
        /// Must be empty.
        vec_outfile: [c_char; 256] = [0; 256], used;
        save_prec: QudaPrecision = Number::new(8), ignored;
        io_parity_inflate: QudaBoolean = Number::new(0), ignored;
        partfile: QudaBoolean = Number::new(0), ignored;
        extlib_type: QudaExtLibType = Number::new(1), ignored;
    }
    /// Parameters of products and inverses of dense matrices, which plaq does not offer.
    QudaBLASParam {
        blas_type: QudaBLASType = unset(), ignored;
        trans_a: QudaBLASOperation = unset(), ignored;
        trans_b: QudaBLASOperation = unset(), ignored;
        m: c_int = INVALID, ignored;
        n: c_int = INVALID, ignored;
        k: c_int = INVALID, ignored;
        lda: c_int = INVALID, ignored;
        ldb: c_int = INVALID, ignored;
        ldc: c_int = INVALID, ignored;
        a_offset: c_int = 0, ignored;
        b_offset: c_int = 0, ignored;
        c_offset: c_int = 0, ignored;
        a_stride: c_int = 1, ignored;
        b_stride: c_int = 1, ignored;
        c_stride: c_int = 1, ignored;
        alpha: Complex64 = Complex64::ONE, ignored;
        beta: Complex64 = Complex64::ZERO, ignored;
        inv_mat_size: c_int = 0, ignored;
        batch_count: c_int = 1, ignored;
        data_type: QudaBLASDataType = unset(), ignored;
        data_order: QudaBLASDataOrder = unset(), ignored;
    }
    /// Parameters of the smearing of staggered quarks, which plaq does not offer.
    QudaQuarkSmearParam {
        inv_param: *mut QudaInvertParam = std::ptr::null_mut(), ignored;
        n_steps: c_int = 0, ignored;
        width: f64 = 0.0, ignored;
        compute_2link: c_int = 0, ignored;
        delete_2link: c_int = 0, ignored;
        t0: c_int = 0, ignored;
        secs: f64 = 0.0, ignored;
        gflops: f64 = 0.0, ignored;
        energy: f64 = 0.0, ignored;
        power: f64 = 0.0, ignored;
        temp: f64 = 0.0, ignored;
        clock: f64 = 0.0, ignored;
    }
}
