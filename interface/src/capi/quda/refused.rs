//! Functions of `quda.h` that plaq does not offer, with the reason for the error message.

#![allow(non_snake_case)]

use std::ffi::{c_int, c_void};

use super::enums::*;
use super::params::*;
use super::params_invert::QudaInvertParam;
use super::params_parts::*;
use crate::capi::table::interface;

interface! {
    "Not offered"
    refused {
        staggeredPhaseQuda(gauge_h: *mut c_void, param: *mut QudaGaugeParam) = "plaq has no staggered quarks; qudaRephase multiplies links by phases";
        computeKSLinkQuda(fatlink: *mut c_void, longlink: *mut c_void, ulink: *mut c_void, inlink: *mut c_void, path_coeff: *mut f64, param: *mut QudaGaugeParam) = "plaq has no staggered quarks";
        computeHISQForceQuda(momentum: *mut c_void, dt: f64, level2_coeff: *mut f64, fat7_coeff: *mut f64, w_link: *mut c_void, v_link: *mut c_void, u_link: *mut c_void, quark: *mut *mut c_void, num: c_int, num_naik: c_int, coeff: *mut *mut f64, param: *mut QudaGaugeParam) = "plaq has no staggered quarks";
        computeTwoLinkQuda(twolink: *mut c_void, inlink: *mut c_void, param: *mut QudaGaugeParam) = "plaq has no staggered quarks";
        performTwoLinkGaussianSmearNStep(h_in: *mut c_void, smear_param: *mut QudaQuarkSmearParam) = "plaq has no staggered quarks";
        contractQuda(x: *mut c_void, y: *mut c_void, result: *mut c_void, cType: QudaContractType, param: *mut QudaInvertParam, X: *const i32) = "plaq_contract of plaq.h contracts propagators";
        blasGEMMQuda(arrayA: *mut c_void, arrayB: *mut c_void, arrayC: *mut c_void, native: QudaBoolean, param: *mut QudaBLASParam) = "plaq has no products of dense matrices";
        blasLUInvQuda(Ainv: *mut c_void, A: *mut c_void, use_native: QudaBoolean, param: *mut QudaBLASParam) = "plaq has no inverses of dense matrices";
        newDeflationQuda(param: *mut QudaEigParam) -> *mut c_void = "plaq has no incremental deflation";
        destroyDeflationQuda(df_instance: *mut c_void) = "plaq has no incremental deflation";
    }
}
