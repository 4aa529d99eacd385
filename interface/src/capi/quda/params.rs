//! Structs of `quda.h` for links: what they are, what to measure, how to smear.

#![allow(non_snake_case)]

use std::ffi::{c_int, c_uint, c_void};

use num_complex::Complex64;

use super::enums::*;
use super::records::{records, unset, INVALID, UNSET};
use crate::params::Number;

records! {
    /// What links and momenta are, and what becomes of them.
    QudaGaugeParam {
        /// Device or host: the driver is asked for each address.
        location: QudaFieldLocation = Number::new(1), ignored;
        /// Sites of this rank in x, y, z, t.
        X: [c_int; 4] = [INVALID; 4], used;
        /// Spatial links carry 1 / anisotropy; left alone: 1.
        anisotropy: f64 = UNSET, used;
        tadpole_coeff: f64 = UNSET, ignored;
        scale: f64 = 1.0, ignored;
        /// QUDA_WILSON_LINKS; QUDA_SMEARED_LINKS in saveGaugeQuda.
        r#type: QudaLinkType = unset(), used;
        /// Order of the host's links.
        gauge_order: QudaGaugeFieldOrder = unset(), used;
        /// QUDA_ANTI_PERIODIC_T: links of the last time-slice carry the sign.
        t_boundary: QudaTboundary = unset(), used;
        /// Precision of the host's arrays.
        cpu_prec: QudaPrecision = unset(), used;
        /// Precision that plaq works in: single or double.
        cuda_prec: QudaPrecision = unset(), used;
        /// plaq chooses the storage: links of SU(3) as two rows, others whole.
        reconstruct: QudaReconstructType = unset(), ignored;
        cuda_prec_sloppy: QudaPrecision = unset(), ignored;
        reconstruct_sloppy: QudaReconstructType = unset(), ignored;
        cuda_prec_refinement_sloppy: QudaPrecision = unset(), ignored;
        reconstruct_refinement_sloppy: QudaReconstructType = unset(), ignored;
        cuda_prec_precondition: QudaPrecision = unset(), ignored;
        reconstruct_precondition: QudaReconstructType = unset(), ignored;
        cuda_prec_eigensolver: QudaPrecision = unset(), ignored;
        reconstruct_eigensolver: QudaReconstructType = unset(), ignored;
        /// Links of the temporal gauge are kept like all others.
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
        /// 1: results take the place of what the output held, 0: they are added.
        overwrite_gauge: c_int = 0, used;
        overwrite_mom: c_int = 0, used;
        /// 1: input from the device; the host's array may be NULL then.
        use_resident_gauge: c_int = 0, used;
        use_resident_mom: c_int = 0, used;
        /// 1: results stay on the device.
        make_resident_gauge: c_int = 0, used;
        make_resident_mom: c_int = 0, used;
        /// 1: results come back to the host's array.
        return_result_gauge: c_int = 1, used;
        return_result_mom: c_int = 1, used;
        /// QUDA_MILC_SITE_GAUGE_ORDER: bytes of a site struct before its links.
        gauge_offset: usize = 0, used;
        /// The same of its momenta.
        mom_offset: usize = 0, used;
        /// Bytes of a site struct.
        site_size: usize = 0, used;
    }
    /// What to measure of links.
    QudaGaugeObservableParam {
        /// 1: links are put on SU(3) before they are measured, and stay so: the unitary factor of the polar
        /// decomposition with its determinant made 1 by the cube root nearest to 1.
        su_project: QudaBoolean = Number::new(0), used;
        compute_plaquette: QudaBoolean = Number::new(0), used;
        /// Average plaquette: all, those in space, those with time; 1 for unit links.
        plaquette: [f64; 3] = [0.0; 3], result;
        compute_polyakov_loop: QudaBoolean = Number::new(0), used;
        /// Sum of the traced Polyakov loops in t over the sites of space, divided by their number: re, im.
        ploop: [f64; 2] = [0.0; 2], result;
        compute_gauge_loop_trace: QudaBoolean = Number::new(0), used;
        /// num_paths complex doubles.
        traces: *mut Complex64 = std::ptr::null_mut(), used;
        /// Closed paths, as computeGaugeLoopTraceQuda takes them.
        input_path_buff: *mut *mut c_int = std::ptr::null_mut(), used;
        path_length: *mut c_int = std::ptr::null_mut(), used;
        loop_coeff: *mut f64 = std::ptr::null_mut(), used;
        num_paths: c_int = INVALID, used;
        max_length: c_int = INVALID, used;
        factor: f64 = UNSET, used;
        compute_qcharge: QudaBoolean = Number::new(0), used;
        /// Topological charge of the clover leaves, with their trace.
        qcharge: f64 = 0.0, result;
        /// -tr F F per site: all, magnetic, electric; F without its trace.
        energy: [f64; 3] = [0.0; 3], result;
        compute_qcharge_density: QudaBoolean = Number::new(0), used;
        /// A double for each site, even sites first.
        qcharge_density: *mut c_void = std::ptr::null_mut(), used;
        remove_staggered_phase: QudaBoolean = Number::new(0), only(QUDA_BOOLEAN_FALSE);
    }
    /// Smearing or flow of links.
    QudaGaugeSmearParam {
        n_steps: c_uint = 0, used;
        /// Step of the flow.
        epsilon: f64 = 0.0, used;
        smear_anisotropy: f64 = 1.0, only(1.0);
        /// Order of the scheme of flows.
        rk_order: c_uint = 3, only(3);
        /// APE.
        alpha: f64 = 0.0, used;
        /// Stout.
        rho: f64 = 0.0, used;
        /// HYP, from the outermost level to the innermost.
        alpha1: f64 = 0.0, used;
        alpha2: f64 = 0.0, used;
        alpha3: f64 = 0.0, used;
        /// Steps between two measurements.
        meas_interval: c_uint = 0, used;
        smear_type: QudaGaugeSmearType = unset(), used;
        /// States of the links that performAdjGFlowHier keeps; 0: as many as half of the free memory holds.
        adj_n_save: c_uint = 0, used;
        hier_threshold: c_uint = 6, ignored;
        /// 1: goes on from the smeared links on the device.
        restart: QudaBoolean = Number::new(0), used;
        /// Flow time at which a restart begins.
        t0: f64 = 0.0, used;
        /// Direction whose links take no part; 4: none; -1: t, for HYP none.
        dir_ignore: c_int = -1, used;
    }
}
