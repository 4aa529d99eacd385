//! Structs of `quda.h` around a solve: multigrid, eigenvectors, dense matrices.

#![allow(non_snake_case)]

use std::ffi::{c_char, c_int, c_void};

use num_complex::Complex64;

use super::enums::*;
use super::enums_named::*;
use super::params_invert::QudaInvertParam;
use super::records::{records, unset, INVALID, UNSET};
use crate::params::Number;

records! {
    /// Multigrid of an operator.
    QudaMultigridParam {
        /// The operator.
        invert_param: *mut QudaInvertParam = std::ptr::null_mut(), used;
        /// Parameters of which those of the coarsest level count where its use_eig_solver is 1: n_ev_deflate is the number of
        /// modes, or n_conv where that is below 1, at most 256 of them.
        eig_param: [*mut QudaEigParam; 5] = [std::ptr::null_mut(); 5], used;
        /// Levels, with the finest.
        n_level: c_int = INVALID, used;
        /// Sites of an aggregate in x, y, z, t, level by level.
        geo_block_size: [[c_int; 6]; 5] = [[INVALID; 6]; 5], used;
        /// Chiralities are aggregates of their own, on all levels.
        spin_block_size: [c_int; 5] = [INVALID; 5], ignored;
        /// Null vectors of each level.
        n_vec: [c_int; 5] = [INVALID; 5], used;
        /// plaq chooses the precisions of levels.
        precision_null: [QudaPrecision; 5] = [Number::new(4); 5], ignored;
        n_block_ortho: [c_int; 5] = [1; 5], ignored;
        block_ortho_two_pass: [QudaBoolean; 5] = [Number::new(1); 5], ignored;
        /// The log has one line about a set-up, with verbosity of invert_param.
        verbosity: [QudaVerbosity; 5] = [Number::new(0); 5], ignored;
        setup_use_mma: [QudaBoolean; 5] = [Number::new(0); 5], ignored;
        dslash_use_mma: [QudaBoolean; 5] = [Number::new(0); 5], ignored;
        /// Null vectors are found as plaq does, likewise with the members from num_setup_iter to setup_maxiter and from
        /// setup_ca_basis to post_orthonormalize.
        setup_inv_type: [QudaInverterType; 5] = [Number::new(1); 5], ignored;
        n_vec_batch: [c_int; 5] = [INVALID; 5], ignored;
        num_setup_iter: [c_int; 5] = [1; 5], ignored;
        setup_tol: [f64; 5] = [5e-06; 5], ignored;
        setup_maxiter: [c_int; 5] = [500; 5], ignored;
        /// Above 0 on some level: updateMultigridQuda refines null vectors.
        setup_maxiter_refresh: [c_int; 5] = [0; 5], used;
        setup_ca_basis: [QudaCABasis; 5] = [Number::new(0); 5], ignored;
        setup_ca_basis_size: [c_int; 5] = [4; 5], ignored;
        setup_ca_lambda_min: [f64; 5] = [0.0; 5], ignored;
        setup_ca_lambda_max: [f64; 5] = [-1.0; 5], ignored;
        setup_type: QudaSetupType = Number::new(0), ignored;
        pre_orthonormalize: QudaBoolean = Number::new(0), ignored;
        post_orthonormalize: QudaBoolean = Number::new(1), ignored;
        /// The coarsest level is solved as plaq does, to coarse_solver_maxiter.
        coarse_solver: [QudaInverterType; 5] = [unset(); 5], ignored;
        /// Relative residual at which solves on the coarsest level stop, and of the second level on those between; where it is not
        /// set, plaq's.
        coarse_solver_tol: [f64; 5] = [UNSET; 5], used;
        coarse_solver_maxiter: [c_int; 5] = [INVALID; 5], used;
        coarse_solver_ca_basis: [QudaCABasis; 5] = [Number::new(0); 5], ignored;
        coarse_solver_ca_basis_size: [c_int; 5] = [4; 5], ignored;
        coarse_solver_ca_lambda_min: [f64; 5] = [0.0; 5], ignored;
        coarse_solver_ca_lambda_max: [f64; 5] = [-1.0; 5], ignored;
        /// The smoother is plaq's, of nu_pre and nu_post steps.
        smoother: [QudaInverterType; 5] = [unset(); 5], ignored;
        smoother_tol: [f64; 5] = [UNSET; 5], ignored;
        /// Smoothing steps before the coarse correction.
        nu_pre: [c_int; 5] = [INVALID; 5], used;
        /// And after it.
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
        /// All levels are on the device, from their set-up on.
        location: [QudaFieldLocation; 5] = [unset(); 5], ignored;
        setup_location: [QudaFieldLocation; 5] = [Number::new(2); 5], ignored;
        /// 1 of the coarsest level: its low modes are solved for exactly, as many as eig_param says, found as plaq does; 0: as
        /// many as plaq takes by itself. 1 of other levels is refused.
        use_eig_solver: [QudaBoolean; 5] = [Number::new(0); 5], used;
        setup_minimize_memory: QudaBoolean = Number::new(0), ignored;
        /// Null vectors are always found anew.
        compute_null_vector: QudaComputeNullVector = unset(), ignored;
        /// All levels are made.
        generate_all_levels: QudaBoolean = unset(), ignored;
        /// Nothing is verified after a set-up, whose reduction of the residual is measured and goes to the log.
        run_verify: QudaBoolean = unset(), ignored;
        run_low_mode_check: QudaBoolean = Number::new(0), ignored;
        run_oblique_proj_check: QudaBoolean = Number::new(0), ignored;
        /// A name in vec_infile is enough, as in QUDA.
        vec_load: [QudaBoolean; 5] = [Number::new(0); 5], ignored;
        /// The name of level 0 is the begin of a file's, from which null vectors come; others count only with it.
        vec_infile: [[c_char; 256]; 5] = [[0; 256]; 5], used;
        /// 1 of level 0: null vectors go to the file of vec_outfile, if that is not empty; others count only with it.
        vec_store: [QudaBoolean; 5] = [Number::new(0); 5], used;
        vec_outfile: [[c_char; 256]; 5] = [[0; 256]; 5], used;
        mg_vec_partfile: [QudaBoolean; 5] = [Number::new(0); 5], ignored;
        /// The coarsest level is solved from zero.
        coarse_guess: QudaBoolean = Number::new(0), ignored;
        /// Low modes of the coarsest level stay as long as the multigrid, and follow its updates.
        preserve_deflation: QudaBoolean = Number::new(0), ignored;
        /// Factors of the twisted mass on the levels; that of the finest one is 1.
        mu_factor: [f64; 5] = [1.0; 5], used;
        /// QUDA_TRANSFER_AGGREGATE: other transfers are those of staggered quarks.
        transfer_type: [QudaTransferType; 5] = [Number::new(0); 5], used;
        allow_truncation: QudaBoolean = Number::new(0), ignored;
        staggered_kd_dagger_approximation: QudaBoolean = Number::new(0), ignored;
        thin_update_only: QudaBoolean = Number::new(0), used;
    }
    /// Eigenvectors of an operator.
    QudaEigParam {
        /// The operator.
        invert_param: *mut QudaInvertParam = std::ptr::null_mut(), used;
        eig_type: QudaEigType = Number::new(0), used;
        /// 1: the polynomial of poly_deg, a_min and a_max. 0: one that follows from the spectrum.
        use_poly_acc: QudaBoolean = Number::new(0), used;
        /// Degree of the Chebyshev polynomial.
        poly_deg: c_int = 0, used;
        /// Interval that should hold what is not wanted. It is replaced where wanted eigenvalues lie in it; a_max 0: found
        /// from the spectrum, as degree and a_min are.
        a_min: f64 = 0.0, used;
        a_max: f64 = 0.0, used;
        /// 1: eigenvectors of a deflated solve stay on the device for the solves that follow, until one with 0, other links or
        /// endQuda. No effect in eigensolveQuda.
        preserve_deflation: QudaBoolean = Number::new(0), used;
        /// What a solve with preserve_deflation has left here, a number in the place of an address; NULL: the eigenvectors are found
        /// by the solve. They are found again after a change of links or for another operator.
        preserve_deflation_space: *mut c_void = std::ptr::null_mut(), used;
        /// Eigenvalues stay with the eigenvectors.
        preserve_evals: QudaBoolean = Number::new(1), ignored;
        /// 1: the smeared links, which there must be, with QUDA_LAPLACE_DSLASH. 0: that operator takes them where there are some.
        use_smeared_gauge: QudaBoolean = Number::new(0), used;
        /// 1: M^dagger in the place of M.
        use_dagger: QudaBoolean = Number::new(0), used;
        /// 1: M^dagger M.
        use_norm_op: QudaBoolean = Number::new(0), used;
        /// 1: the even-odd preconditioned operator.
        use_pc: QudaBoolean = Number::new(0), used;
        use_eigen_qr: QudaBoolean = Number::new(0), ignored;
        /// QUDA_BOOLEAN_FALSE in eigensolveQuda. Solves that eigenvectors deflate take the value for granted.
        compute_svd: QudaBoolean = Number::new(0), used;
        /// 1: gamma5 times the operator, where that is hermitian.
        compute_gamma5: QudaBoolean = Number::new(0), used;
        /// 1: fewer eigenvectors than n_conv are an error.
        require_convergence: QudaBoolean = Number::new(1), used;
        spectrum: QudaEigSpectrumType = Number::new(2), used;
        /// n_conv counts.
        n_ev: c_int = 0, ignored;
        /// Vectors kept at most; more are where n_conv asks for them.
        n_kr: c_int = 0, used;
        nLockedMax: c_int = 0, ignored;
        /// Eigenvectors wanted.
        n_conv: c_int = 0, used;
        /// QUDA_EIG_TR_LANCZOS_3D: 3.
        ortho_dim: c_int = 0, used;
        /// QUDA_EIG_TR_LANCZOS_3D: the t of this rank.
        ortho_dim_size_local: c_int = 0, used;
        /// Eigenvectors that deflate a solve, at most n_conv, or that solve the coarsest level of a multigrid; 0 or less: n_conv.
        n_ev_deflate: c_int = -1, used;
        /// Largest |A v - lambda v| over the largest eigenvalue; 0: by the precision.
        tol: f64 = 0.0, used;
        qr_tol: f64 = 0.0, ignored;
        check_interval: c_int = 0, ignored;
        max_restarts: c_int = 0, used;
        batched_rotate: c_int = 0, ignored;
        /// QUDA_EIG_BLK_TR_LANCZOS: vectors multiplied at a time.
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
        /// Eigenvectors have cuda_prec, those that deflate cuda_prec_eigensolver.
        cuda_prec_ritz: QudaPrecision = Number::new(0), ignored;
        /// plaq keeps eigenvectors on the host where the device has no room for them.
        mem_type_ritz: QudaMemoryType = Number::new(0), ignored;
        location: QudaFieldLocation = Number::new(2), ignored;
        /// Residuals are always measured.
        run_verify: QudaBoolean = Number::new(0), ignored;
        /// Empty.
        vec_infile: [c_char; 256] = [0; 256], used;
        /// Empty.
        vec_outfile: [c_char; 256] = [0; 256], used;
        save_prec: QudaPrecision = Number::new(8), ignored;
        io_parity_inflate: QudaBoolean = Number::new(0), ignored;
        partfile: QudaBoolean = Number::new(0), ignored;
        extlib_type: QudaExtLibType = Number::new(1), ignored;
    }
    /// Products and inverses of dense matrices, which plaq does not offer.
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
    /// Smearing of staggered quarks, which plaq does not offer.
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
