//! `QudaInvertParam`: operator, equation and solver.

#![allow(non_snake_case)]

use std::ffi::{c_char, c_int, c_void};

use num_complex::Complex64;

use super::enums::*;
use super::enums_named::*;
use super::records::{records, unset, INVALID, UNSET};
use crate::params::Number;

records! {
    /// Operator, equation and solver of a solve.
    QudaInvertParam {
        /// Memory of the arrays, host or device. Not used: plaq finds it out for each address from the driver.
        input_location: QudaFieldLocation = Number::new(1), ignored;
        output_location: QudaFieldLocation = Number::new(1), ignored;
        /// Operator: Wilson, clover, twisted mass, twisted clover, Laplace or covariant derivative.
        dslash_type: QudaDslashType = unset(), used;
        inv_type: QudaInverterType = unset(), used;
        /// Bare mass; plaq uses kappa.
        mass: f64 = UNSET, ignored;
        /// Hopping parameter, 1 / (2 m + 2 + 6 / anisotropy).
        kappa: f64 = UNSET, used;
        m5: f64 = UNSET, ignored;
        Ls: c_int = INVALID, ignored;
        b_5: [Complex64; 32] = [Complex64::ZERO; 32], ignored;
        c_5: [Complex64; 32] = [Complex64::ZERO; 32], ignored;
        eofa_shift: f64 = 0.0, ignored;
        eofa_pm: c_int = 0, ignored;
        mq1: f64 = 0.0, ignored;
        mq2: f64 = 0.0, ignored;
        mq3: f64 = 0.0, ignored;
        /// Twisted mass mu: the operator has the term + 2 i kappa mu gamma5, for a doublet times tau3.
        mu: f64 = UNSET, used;
        /// Additional twisted mass of QUDA_TWISTED_CLOVER_DSLASH with one flavour where A itself is applied, not its
        /// inverse: in an asymmetric preconditioned operator on its own parity only.
        tm_rho: f64 = 0.0, used;
        /// Mass splitting of a doublet: the operator has the term - 2 kappa epsilon tau1.
        epsilon: f64 = UNSET, used;
        /// Number by which computeTMCloverForceQuda divides coefficients of a doublet.
        evmax: f64 = UNSET, used;
        /// Flavours of a twisted operator. Vectors of two flavours hold, for each parity, the first flavour and then
        /// the second.
        twist_flavor: QudaTwistFlavorType = unset(), used;
        /// QUDA_LAPLACE_DSLASH: 3 for the spatial Laplacian, 4 for all four directions.
        laplace3D: c_int = INVALID, used;
        /// QUDA_COVDEV_DSLASH: direction of the shift, 0 to 3 forward in x, y, z, t, 4 to 7 backward.
        covdev_mu: c_int = INVALID, used;
        /// Largest |b - M x| / |b|.
        tol: f64 = UNSET, used;
        /// Factor by which the residual falls before eigenvectors of eig_param are projected out of it again; 0: they
        /// are projected out at the start only.
        tol_restart: f64 = 5e-05, used;
        /// Largest heavy-quark residual, if residual_type asks for it.
        tol_hq: f64 = 0.0, used;
        /// True residuals are always computed.
        compute_true_res: c_int = 1, ignored;
        /// |b - M x| / |b| of each source.
        true_res: [f64; 128] = [0.0; 128], result;
        /// Heavy-quark residual of each source.
        true_res_hq: [f64; 128] = [0.0; 128], result;
        maxiter: c_int = INVALID, used;
        /// Factor by which the residual falls before it is recomputed in full precision.
        reliable_delta: f64 = UNSET, used;
        /// Apart from reliable_delta, plaq decides when residuals are recomputed and when a solve is continued; the
        /// same holds for the six members from use_alternative_reliable to max_hq_res_restart_total.
        reliable_delta_refinement: f64 = UNSET, ignored;
        use_alternative_reliable: c_int = 0, ignored;
        use_sloppy_partial_accumulator: c_int = 0, ignored;
        solution_accumulator_pipeline: c_int = 1, ignored;
        max_res_increase: c_int = 1, ignored;
        max_res_increase_total: c_int = 10, ignored;
        max_hq_res_increase: c_int = 1, ignored;
        max_hq_res_restart_total: c_int = 10, ignored;
        /// Heavy-quark residuals are recomputed whenever residuals are.
        heavy_quark_check: c_int = 10, ignored;
        /// Each algorithm has only one form in plaq.
        pipeline: c_int = 0, ignored;
        /// Number of shifts of invertMultiShiftQuda.
        num_offset: c_int = 0, used;
        /// Number of sources of invertMultiSrcQuda and dslashMultiSrcQuda.
        num_src: c_int = 1, used;
        /// Number of sources for a part of the ranks; here all ranks solve for all sources together.
        num_src_per_sub_partition: c_int = 1, ignored;
        /// Grid of the parts of the ranks; here ranks are not divided among sources.
        split_grid: [c_int; 6] = [1; 6], ignored;
        overlap: c_int = 0, ignored;
        offset: [f64; 32] = [0.0; 32], used;
        /// Tolerance of each shift.
        tol_offset: [f64; 32] = [0.0; 32], used;
        /// Largest heavy-quark residual of each shift, if residual_type asks for it; 0: not required.
        tol_hq_offset: [f64; 32] = [0.0; 32], used;
        /// Residual of each shift.
        true_res_offset: [f64; 32] = [0.0; 32], result;
        iter_res_offset: [f64; 32] = [0.0; 32], result;
        /// Heavy-quark residual of each shift.
        true_res_hq_offset: [f64; 32] = [0.0; 32], result;
        /// Coefficients of the shifts in the action.
        residue: [f64; 32] = [0.0; 32], used;
        /// 1: action[0] gets (b, x), for several shifts the sum of residue (b, x).
        compute_action: c_int = 0, used;
        action: [f64; 2] = [0.0; 2], result;
        /// The equation to be solved.
        solution_type: QudaSolutionType = unset(), used;
        /// System through which the equation is solved.
        solve_type: QudaSolveType = unset(), used;
        /// Parity and form of the even-odd preconditioned operator.
        matpc_type: QudaMatPCType = unset(), used;
        /// QUDA_DAG_YES: the adjoint operator.
        dagger: QudaDagType = unset(), used;
        /// Factor of the operator: 1, or 1 / (2 kappa).
        mass_normalization: QudaMassNormalization = unset(), used;
        /// Residuals are relative, so that the norm of the source does not matter.
        solver_normalization: QudaSolverNormalization = Number::new(0), ignored;
        /// The source is never changed.
        preserve_source: QudaPreserveSource = unset(), ignored;
        /// Precision of the host's spinors.
        cpu_prec: QudaPrecision = unset(), used;
        /// Precision of the solution: single or double.
        cuda_prec: QudaPrecision = unset(), used;
        /// Precision of the iteration.
        cuda_prec_sloppy: QudaPrecision = unset(), used;
        /// Shifts are refined with iterations in cuda_prec_sloppy.
        cuda_prec_refinement_sloppy: QudaPrecision = unset(), ignored;
        /// Preconditioners work in the precision of the iteration.
        cuda_prec_precondition: QudaPrecision = unset(), ignored;
        /// Precision of the eigenvectors of eig_param: double, or single for all other values, but at most cuda_prec.
        cuda_prec_eigensolver: QudaPrecision = unset(), used;
        /// Order of the host's spinors; colour vectors are in QUDA_DIRAC_ORDER.
        dirac_order: QudaDiracFieldOrder = unset(), used;
        /// Basis of the host's spinors.
        gamma_basis: QudaGammaBasis = unset(), used;
        clover_location: QudaFieldLocation = Number::new(1), ignored;
        /// Precision of the host's clover term.
        clover_cpu_prec: QudaPrecision = Number::new(0), used;
        /// The clover term has the precisions of the operator; the same holds for the four members that follow.
        clover_cuda_prec: QudaPrecision = Number::new(0), ignored;
        clover_cuda_prec_sloppy: QudaPrecision = Number::new(0), ignored;
        clover_cuda_prec_refinement_sloppy: QudaPrecision = Number::new(0), ignored;
        clover_cuda_prec_precondition: QudaPrecision = Number::new(0), ignored;
        clover_cuda_prec_eigensolver: QudaPrecision = Number::new(0), ignored;
        /// Order of the clover term in the host's array: QUDA_PACKED_CLOVER_ORDER or QUDA_QDPJIT_CLOVER_ORDER.
        clover_order: QudaCloverFieldOrder = Number::new(0), used;
        use_init_guess: QudaUseInitGuess = Number::new(0), used;
        /// Coefficient csw, only for computeTMCloverForceQuda; other functions use clover_coeff.
        clover_csw: f64 = 0.0, used;
        /// Coefficient kappa csw of the clover term that plaq computes.
        clover_coeff: f64 = 0.0, used;
        clover_rho: f64 = 0.0, only(0.0);
        /// 1: trlogA[0] and trlogA[1] get ln det A of the even and of the odd sites.
        compute_clover_trlog: c_int = 0, used;
        trlogA: [f64; 2] = [0.0; 2], result;
        /// 1: the clover term is computed from the links on the device.
        compute_clover: c_int = 0, used;
        compute_clover_inverse: c_int = 0, used;
        /// 1: the clover term is written to the host's array.
        return_clover: c_int = 0, used;
        return_clover_inverse: c_int = 0, used;
        /// Amount of the log during the call; by default that of setVerbosityQuda.
        verbosity: QudaVerbosity = unset(), used;
        /// Number of iterations, for several shifts of the slowest one; maxiter or more if a solve has not converged.
        iter: c_int = 0, result;
        /// Number of floating-point operations / 1e9.
        gflops: f64 = 0.0, result;
        /// Seconds of the solve, never 0.
        secs: f64 = 0.0, result;
        /// Energy used; always 0, like power, temp and clock.
        energy: [f64; 3] = [0.0; 3], ignored;
        power: f64 = 0.0, ignored;
        temp: f64 = 0.0, ignored;
        clock: f64 = 0.0, ignored;
        /// plaq tunes launches by itself.
        tune: QudaTune = Number::new(0), ignored;
        /// BiCGStab(l) is replaced by BiCGStab.
        Nsteps: c_int = INVALID, ignored;
        /// Number of directions that GCR keeps.
        gcrNkrylov: c_int = INVALID, used;
        /// Preconditioner of GCR. QUDA_MG_INVERTER: the multigrid in `preconditioner`, if that is not NULL.
        /// QUDA_MR_INVERTER: maxiter_precondition steps of minimal residual with relaxation omega. Other solvers than
        /// GCR use neither.
        inv_type_precondition: QudaInverterType = unset(), used;
        /// The result of newMultigridQuda.
        preconditioner: *mut c_void = std::ptr::null_mut(), used;
        /// Incremental deflation is not offered.
        deflation_op: *mut c_void = std::ptr::null_mut(), ignored;
        /// NULL, or a QudaEigParam whose eigenvectors of M^dagger M (of P^dagger P, if solve_type iterates P) deflate
        /// the solve. They are searched for first, and kept if preserve_deflation is 1.
        eig_param: *mut c_void = std::ptr::null_mut(), used;
        /// QUDA_BOOLEAN_TRUE is accepted only with an eig_param, which decides about deflation.
        deflate: QudaBoolean = Number::new(0), used;
        dslash_type_precondition: QudaDslashType = Number::new(0), ignored;
        /// The log has no lines about preconditioners.
        verbosity_precondition: QudaVerbosity = unset(), ignored;
        /// QUDA_MR_INVERTER always makes maxiter_precondition steps.
        tol_precondition: f64 = UNSET, ignored;
        /// Number of steps of QUDA_MR_INVERTER as inv_type_precondition.
        maxiter_precondition: c_int = INVALID, used;
        /// Relaxation parameter of QUDA_MR_INVERTER.
        omega: f64 = 1.0, used;
        /// Communication-avoiding algorithms are replaced by the usual ones; the same holds for the five members that
        /// follow.
        ca_basis: QudaCABasis = Number::new(0), ignored;
        ca_lambda_min: f64 = 0.0, ignored;
        ca_lambda_max: f64 = -1.0, ignored;
        ca_basis_precondition: QudaCABasis = Number::new(0), ignored;
        ca_lambda_min_precondition: f64 = 0.0, ignored;
        ca_lambda_max_precondition: f64 = -1.0, ignored;
        /// Steps of the preconditioner follow each other without cycles.
        precondition_cycle: c_int = 1, ignored;
        /// Steps of QUDA_MR_INVERTER use the operator of the whole lattice: the solution is the same, with fewer
        /// iterations.
        schwarz_type: QudaSchwarzType = unset(), ignored;
        accelerator_type_precondition: QudaAcceleratorType = unset(), ignored;
        madwf_diagonal_suppressor: f64 = UNSET, ignored;
        madwf_ls: c_int = INVALID, ignored;
        madwf_null_miniter: c_int = INVALID, ignored;
        madwf_null_tol: f64 = UNSET, ignored;
        madwf_train_maxiter: c_int = INVALID, ignored;
        madwf_param_load: QudaBoolean = Number::new(0), ignored;
        madwf_param_save: QudaBoolean = Number::new(0), ignored;
        madwf_param_infile: [c_char; 256] = [0; 256], ignored;
        madwf_param_outfile: [c_char; 256] = [0; 256], ignored;
        /// Sum of QUDA_L2_RELATIVE_RESIDUAL and QUDA_HEAVY_QUARK_RESIDUAL.
        residual_type: QudaResidualType = Number::new(1), used;
        cuda_prec_ritz: QudaPrecision = Number::new(4), ignored;
        n_ev: c_int = 8, ignored;
        max_search_dim: c_int = 64, ignored;
        rhs_idx: c_int = 0, ignored;
        deflation_grid: c_int = 1, ignored;
        eigenval_tol: f64 = 0.1, ignored;
        eigcg_max_restarts: c_int = 4, ignored;
        max_restart_num: c_int = 3, ignored;
        inc_tol: f64 = 0.01, ignored;
        make_resident_solution: c_int = 0, only(0);
        use_resident_solution: c_int = 0, only(0);
        /// 1: the solution is kept in channel chrono_index, which holds the latest chrono_max_dim solutions.
        chrono_make_resident: c_int = 0, used;
        /// 1: the solution replaces the latest one in the channel.
        chrono_replace_last: c_int = 0, used;
        /// 1: the solve starts from the best combination of the solutions in the channel, whatever h_x contains.
        chrono_use_resident: c_int = 0, used;
        chrono_max_dim: c_int = 0, used;
        /// Number of the channel of kept solutions, 0 to 11.
        chrono_index: c_int = 0, used;
        /// Solutions are kept in cuda_prec.
        chrono_precision: QudaPrecision = unset(), ignored;
        extlib_type: QudaExtLibType = Number::new(1), ignored;
        native_blas_lapack: QudaBoolean = Number::new(1), ignored;
        use_mobius_fused_kernel: QudaBoolean = Number::new(1), ignored;
        /// Exponent of distance preconditioning, whose modulus is used, for solves with QUDA_WILSON_DSLASH and
        /// QUDA_CLOVER_WILSON_DSLASH, not with several shifts, multigrid or eig_param; residuals are those of the
        /// weighted equation. Applications of operators do not depend on it.
        distance_pc_alpha0: f64 = 0.0, used;
        /// Time slice of the source; below 0: no distance preconditioning.
        distance_pc_t0: c_int = -1, used;
        /// For use by programs; plaq does not read it.
        additional_prop: *mut c_void = std::ptr::null_mut(), ignored;
    }
}
