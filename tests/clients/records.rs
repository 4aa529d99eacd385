//! Members of QUDA's structs are used, are results, have one supported value, or are ignored, as their tables say.

use plaq::capi::quda::params::*;
use plaq::capi::quda::params_invert::QudaInvertParam;
use plaq::capi::quda::params_parts::*;
use plaq::capi::quda::records::{Record, Role};
use plaq::capi::quda::setup::RECORDS;

/// Checks each member: `right` passes its check; with other bytes in a member it fails if the table has one supported
/// value, and else passes.
fn walk<T: Record>(right: T) -> usize {
    assert_eq!(right.check("param").map_err(|e| e.message()), Ok(()), "{}", T::NAME);
    let (size, fields) = (&T::FIELDS[0], &T::FIELDS[1..]);
    assert_eq!(fields.len(), T::ROLES.len());
    let refused = |offset: usize, size: usize| {
        let mut wrong = right;
        let at = (&raw mut wrong).cast::<u8>();
        // SAFETY: the bytes are inside of the struct, whose members are numbers and addresses that are not followed.
        unsafe { at.add(offset).write_bytes(0x2a, size) };
        wrong.check("param").err().map(|e| e.message())
    };
    assert!(
        refused(size.offset, size.size).is_some_and(|m| m.contains("param.struct_size: expected"))
    );
    for (field, (name, role, _)) in fields.iter().zip(T::ROLES) {
        assert_eq!(field.name, *name);
        let refused = refused(field.offset, field.size);
        match role {
            Role::Only(value) => {
                let message = refused.unwrap_or_else(|| panic!("{}.{name}", T::NAME));
                assert!(
                    message.starts_with(&format!("param.{name}: expected {value}, found")),
                    "{message}"
                );
            }
            _ => assert_eq!(refused, None, "{}.{name}", T::NAME),
        }
    }
    // The printed struct has a line for each of its members.
    assert_eq!(right.lines().len(), T::FIELDS.len());
    1
}

#[test]
fn every_member_has_its_role() {
    let walked = walk(QudaGaugeParam::NEW)
        + walk(QudaInvertParam::NEW)
        + walk(QudaMultigridParam::NEW)
        + walk(QudaEigParam::NEW)
        + walk(QudaGaugeObservableParam::NEW)
        + walk(QudaGaugeSmearParam::NEW)
        + walk(QudaBLASParam::NEW)
        + walk(QudaQuarkSmearParam::NEW);
    assert_eq!(walked, RECORDS.len());
}

/// Members that tmLQCD sets or reads, in two groups: those that must have no effect here, and those that must have
/// one.
#[test]
fn members_of_tmlqcd() {
    let matter = [
        (
            "QudaGaugeParam",
            "X anisotropy type gauge_order t_boundary cpu_prec cuda_prec overwrite_mom use_resident_gauge \
             use_resident_mom make_resident_gauge make_resident_mom return_result_mom",
        ),
        (
            "QudaInvertParam",
            "dslash_type inv_type kappa mu tm_rho epsilon evmax twist_flavor tol tol_hq maxiter \
             reliable_delta num_offset offset tol_offset solution_type solve_type matpc_type dagger \
             mass_normalization cpu_prec cuda_prec cuda_prec_sloppy dirac_order gamma_basis \
             clover_cpu_prec clover_order clover_csw clover_coeff clover_rho compute_clover cuda_prec_eigensolver \
             compute_clover_inverse return_clover return_clover_inverse gcrNkrylov \
             inv_type_precondition maxiter_precondition preconditioner residual_type omega iter secs gflops",
        ),
        (
            "QudaMultigridParam",
            "invert_param eig_param use_eig_solver n_level geo_block_size n_vec nu_pre nu_post cycle_type coarse_solver_tol \
             coarse_solver_maxiter setup_maxiter_refresh mu_factor vec_infile vec_outfile",
        ),
        (
            "QudaEigParam",
            "invert_param eig_type use_poly_acc poly_deg a_min a_max use_dagger use_norm_op use_pc \
             compute_svd compute_gamma5 spectrum n_kr n_conv n_ev_deflate tol max_restarts block_size vec_infile \
             vec_outfile require_convergence",
        ),
        ("QudaGaugeSmearParam", "smear_type n_steps epsilon meas_interval"),
        (
            "QudaGaugeObservableParam",
            "compute_plaquette compute_qcharge su_project plaquette energy qcharge",
        ),
    ];
    let ignored = [
        (
            "QudaGaugeParam",
            "reconstruct reconstruct_sloppy reconstruct_precondition \
             reconstruct_refinement_sloppy reconstruct_eigensolver cuda_prec_sloppy \
             cuda_prec_refinement_sloppy cuda_prec_precondition cuda_prec_eigensolver gauge_fix \
             ga_pad",
        ),
        (
            "QudaInvertParam",
            "Ls input_location output_location reliable_delta_refinement use_alternative_reliable \
             use_sloppy_partial_accumulator max_res_increase max_res_increase_total pipeline \
             solver_normalization preserve_source cuda_prec_refinement_sloppy cuda_prec_precondition \
             clover_location clover_cuda_prec clover_cuda_prec_sloppy \
             clover_cuda_prec_refinement_sloppy clover_cuda_prec_precondition \
             clover_cuda_prec_eigensolver verbosity_precondition \
             tol_precondition precondition_cycle schwarz_type chrono_precision",
        ),
        (
            "QudaMultigridParam",
            "spin_block_size n_vec_batch precision_null verbosity setup_inv_type \
             num_setup_iter setup_tol setup_maxiter setup_ca_basis setup_ca_basis_size \
             setup_ca_lambda_min setup_ca_lambda_max setup_type coarse_solver coarse_solver_ca_basis \
             coarse_solver_ca_basis_size coarse_solver_ca_lambda_min coarse_solver_ca_lambda_max \
             smoother smoother_tol smoother_solver_ca_basis smoother_solver_ca_lambda_min \
             smoother_solver_ca_lambda_max smoother_halo_precision smoother_schwarz_type \
             smoother_schwarz_cycle smoother_solve_type coarse_grid_solution_type omega \
             global_reduction location setup_location compute_null_vector \
             generate_all_levels run_verify run_low_mode_check run_oblique_proj_check coarse_guess \
             preserve_deflation",
        ),
        (
            "QudaEigParam",
            "n_ev qr_tol use_eigen_qr check_interval batched_rotate cuda_prec_ritz \
             QUDA_logfile",
        ),
    ];
    roles(&matter, &ignored);
}

/// Members that Chroma's solver objects set or read are used. Those of domain walls have no effect, as the operator
/// is refused.
#[test]
fn members_of_chroma() {
    let matter = [
        ("QudaGaugeParam", "X anisotropy cpu_prec cuda_prec gauge_order t_boundary type"),
        (
            "QudaInvertParam",
            "chrono_index chrono_make_resident chrono_max_dim chrono_replace_last \
             chrono_use_resident clover_coeff clover_cpu_prec clover_order cpu_prec cuda_prec \
             cuda_prec_sloppy dagger dirac_order dslash_type gamma_basis gcrNkrylov gflops \
             inv_type inv_type_precondition iter kappa maxiter_precondition mass_normalization matpc_type maxiter \
             num_offset num_src offset omega preconditioner reliable_delta residual_type secs \
             solution_type solve_type tol tol_offset true_res use_init_guess verbosity",
        ),
        (
            "QudaMultigridParam",
            "coarse_solver_maxiter coarse_solver_tol cycle_type geo_block_size invert_param \
             mu_factor n_level n_vec nu_post nu_pre setup_maxiter_refresh vec_infile vec_outfile",
        ),
    ];
    let ignored = [
        (
            "QudaGaugeParam",
            "cuda_prec_precondition cuda_prec_refinement_sloppy cuda_prec_sloppy ga_pad \
             gauge_fix reconstruct reconstruct_precondition reconstruct_refinement_sloppy \
             reconstruct_sloppy location",
        ),
        (
            "QudaInvertParam",
            "Ls b_5 c_5 chrono_precision clover_cuda_prec clover_cuda_prec_precondition \
             clover_cuda_prec_refinement_sloppy clover_cuda_prec_sloppy clover_location \
             compute_true_res cuda_prec_precondition cuda_prec_refinement_sloppy \
             input_location m5 mass num_src_per_sub_partition \
             output_location pipeline precondition_cycle preserve_source schwarz_type \
             split_grid tol_precondition use_alternative_reliable verbosity_precondition",
        ),
        (
            "QudaMultigridParam",
            "coarse_grid_solution_type coarse_solver compute_null_vector generate_all_levels \
             global_reduction location n_vec_batch num_setup_iter omega post_orthonormalize \
             pre_orthonormalize precision_null run_verify setup_inv_type setup_location \
             setup_maxiter setup_tol setup_type smoother smoother_halo_precision \
             smoother_schwarz_cycle smoother_schwarz_type smoother_solve_type smoother_tol \
             spin_block_size",
        ),
    ];
    roles(&matter, &ignored);
}

/// Checks that each member of a list belongs to its struct, and has an effect or none as the list says.
fn roles(matter: &[(&str, &str)], ignored: &[(&str, &str)]) {
    let role = |record: &str, member: &str| {
        let (_, roles) = RECORDS.iter().find(|r| r.0 == record).expect("a struct");
        let role = roles.iter().find(|r| r.0.trim_start_matches("r#") == member);
        role.unwrap_or_else(|| panic!("{record}.{member}")).1
    };
    for (lists, without_effect) in [(matter, false), (ignored, true)] {
        for (record, members) in lists {
            for member in members.split(' ') {
                let found = role(record, member);
                assert_eq!(found == Role::Ignored, without_effect, "{record}.{member}: {found:?}");
            }
        }
    }
}
