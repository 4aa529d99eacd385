//! Structs of `quda.h` for links: layout, observables, smearing.

#![allow(non_snake_case)]

use std::ffi::{c_int, c_uint, c_void};

use num_complex::Complex64;

use super::enums::*;
use super::records::{records, unset, INVALID, UNSET};
use crate::params::Number;

records! {
    /// Layout of links and momenta, and settings of the calls that take or change them.
    QudaGaugeParam {
        /// Memory of the arrays, host or device. Not used: plaq finds it out for each address from the driver.
        location: QudaFieldLocation = Number::new(1), ignored;
        /// Sites of this rank in x, y, z, t.
        X: [c_int; 4] = [INVALID; 4], used;
        /// Factor 1 / anisotropy contained in spatial links; not set: 1.
        anisotropy: f64 = UNSET, used;
        tadpole_coeff: f64 = UNSET, ignored;
        scale: f64 = 1.0, ignored;
        /// QUDA_WILSON_LINKS, or in saveGaugeQuda QUDA_SMEARED_LINKS.
        r#type: QudaLinkType = unset(), used;
        /// Order of the host's links.
        gauge_order: QudaGaugeFieldOrder = unset(), used;
        /// QUDA_ANTI_PERIODIC_T: links of the last time slice contain the sign.
        t_boundary: QudaTboundary = unset(), used;
        /// Precision of the host's arrays.
        cpu_prec: QudaPrecision = unset(), used;
        /// Precision in which plaq computes: single or double.
        cuda_prec: QudaPrecision = unset(), used;
        /// plaq chooses the storage on the device: two rows for links of SU(3), else whole matrices.
        reconstruct: QudaReconstructType = unset(), ignored;
        cuda_prec_sloppy: QudaPrecision = unset(), ignored;
        reconstruct_sloppy: QudaReconstructType = unset(), ignored;
        cuda_prec_refinement_sloppy: QudaPrecision = unset(), ignored;
        reconstruct_refinement_sloppy: QudaReconstructType = unset(), ignored;
        cuda_prec_precondition: QudaPrecision = unset(), ignored;
        reconstruct_precondition: QudaReconstructType = unset(), ignored;
        cuda_prec_eigensolver: QudaPrecision = unset(), ignored;
        reconstruct_eigensolver: QudaReconstructType = unset(), ignored;
        /// Links in temporal gauge are treated like all others.
        gauge_fix: QudaGaugeFixed = unset(), ignored;
        ga_pad: c_int = INVALID, ignored;
        site_ga_pad: c_int = 0, ignored;
        staple_pad: c_int = 0, ignored;
        llfat_ga_pad: c_int = 0, ignored;
        mom_ga_pad: c_int = 0, ignored;
        /// Refused with staggered_phase_applied 1.
        staggered_phase_type: QudaStaggeredPhase = Number::new(0), used;
        staggered_phase_applied: c_int = 0, used;
        i_mu: f64 = 0.0, ignored;
        overlap: c_int = 0, ignored;
        /// 1: results replace the contents of the output; 0: they are added.
        overwrite_gauge: c_int = 0, used;
        overwrite_mom: c_int = 0, used;
        /// 1: the input is what is on the device, and the host's array may be NULL.
        use_resident_gauge: c_int = 0, used;
        use_resident_mom: c_int = 0, used;
        /// 1: results are kept on the device.
        make_resident_gauge: c_int = 0, used;
        make_resident_mom: c_int = 0, used;
        /// 1: results are written to the host's array.
        return_result_gauge: c_int = 1, used;
        return_result_mom: c_int = 1, used;
        /// QUDA_MILC_SITE_GAUGE_ORDER: offset in bytes of the links in a site struct.
        gauge_offset: usize = 0, used;
        /// QUDA_MILC_SITE_GAUGE_ORDER: offset in bytes of the momenta in a site struct.
        mom_offset: usize = 0, used;
        /// QUDA_MILC_SITE_GAUGE_ORDER: size in bytes of a site struct.
        site_size: usize = 0, used;
    }
    /// Observables of links.
    QudaGaugeObservableParam {
        /// 1: links are first projected onto SU(3), and stay so: the unitary factor of the polar decomposition,
        /// divided by the cube root of its determinant that is nearest to 1.
        su_project: QudaBoolean = Number::new(0), used;
        compute_plaquette: QudaBoolean = Number::new(0), used;
        /// Average plaquettes, 1 for unit links: of all planes, of spatial planes, of planes with time.
        plaquette: [f64; 3] = [0.0; 3], result;
        compute_polyakov_loop: QudaBoolean = Number::new(0), used;
        /// Sum of the traced Polyakov loops in t over the sites of space, divided by their number: re, im.
        ploop: [f64; 2] = [0.0; 2], result;
        compute_gauge_loop_trace: QudaBoolean = Number::new(0), used;
        /// Room for num_paths complex doubles.
        traces: *mut Complex64 = std::ptr::null_mut(), used;
        /// Closed paths, given like those of computeGaugeLoopTraceQuda.
        input_path_buff: *mut *mut c_int = std::ptr::null_mut(), used;
        path_length: *mut c_int = std::ptr::null_mut(), used;
        loop_coeff: *mut f64 = std::ptr::null_mut(), used;
        num_paths: c_int = INVALID, used;
        max_length: c_int = INVALID, used;
        factor: f64 = UNSET, used;
        compute_qcharge: QudaBoolean = Number::new(0), used;
        /// Topological charge of the clover leaves, whose trace is kept.
        qcharge: f64 = 0.0, result;
        /// Average of -tr F F per site, with traceless F: total, magnetic, electric.
        energy: [f64; 3] = [0.0; 3], result;
        compute_qcharge_density: QudaBoolean = Number::new(0), used;
        /// Room for a double for each site, even sites first.
        qcharge_density: *mut c_void = std::ptr::null_mut(), used;
        remove_staggered_phase: QudaBoolean = Number::new(0), only(QUDA_BOOLEAN_FALSE);
    }
    /// Parameters of smearing or flow of links.
    QudaGaugeSmearParam {
        n_steps: c_uint = 0, used;
        /// Step size of the flow.
        epsilon: f64 = 0.0, used;
        smear_anisotropy: f64 = 1.0, only(1.0);
        /// Order of the flow's integration scheme.
        rk_order: c_uint = 3, only(3);
        /// Parameter alpha of APE smearing.
        alpha: f64 = 0.0, used;
        /// Parameter rho of stout smearing.
        rho: f64 = 0.0, used;
        /// Parameter of HYP smearing at the outermost level.
        alpha1: f64 = 0.0, used;
        alpha2: f64 = 0.0, used;
        alpha3: f64 = 0.0, used;
        /// Number of steps between two measurements.
        meas_interval: c_uint = 0, used;
        smear_type: QudaGaugeSmearType = unset(), used;
        /// Number of states of the links that performAdjGFlowHier keeps; 0: as many as half of the free memory holds.
        adj_n_save: c_uint = 0, used;
        hier_threshold: c_uint = 6, ignored;
        /// 1: continues with the smeared links on the device.
        restart: QudaBoolean = Number::new(0), used;
        /// Flow time at which a restarted flow begins.
        t0: f64 = 0.0, used;
        /// Direction whose links are left out; 4: none; -1: t, but for HYP none.
        dir_ignore: c_int = -1, used;
    }
}
