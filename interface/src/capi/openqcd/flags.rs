//! Structs of openQxD's own header `flags.h`, for programs that do not include it.

use std::ffi::c_int;

use crate::capi::table::interface;

interface! {
    "What openQxD's flags.h has"
    structs {
        /// Boundary conditions: type 3 is periodic in time; cstar counts the directions with C* boundaries.
        bc_parms_t {
            r#type: c_int,
            cstar: c_int,
            phi3: [[f64; 3]; 2],
            phi1: [f64; 2],
        }
        /// Parameters of openQxD's Dirac operator.
        dirac_parms_t {
            /// Electric charge.
            qhat: c_int,
            /// Bare mass; kappa = 1 / (2 m0 + 8).
            m0: f64,
            /// Coefficient of the clover term of SU(3).
            su3csw: f64,
            u1csw: f64,
            cF: [f64; 2],
            /// Angles of the spatial boundary conditions, which the links contain.
            theta: [f64; 3],
        }
        /// Gauge group (an OpenQCDGaugeGroup) and number of flavours.
        flds_parms_t {
            gauge: c_int,
            nfl: c_int,
        }
    }
}
