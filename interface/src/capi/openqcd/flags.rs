//! Structs of openQxD's own `flags.h`, for programs that have not included it.

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
        /// Parameters of the Dirac operator.
        dirac_parms_t {
            /// Electric charge.
            qhat: c_int,
            /// Bare mass; kappa = 1 / (2 m0 + 8).
            m0: f64,
            /// Coefficients of the clover terms of SU(3) and of U(1).
            su3csw: f64,
            u1csw: f64,
            cF: [f64; 2],
            /// Angles of the boundary conditions in space, which the links carry.
            theta: [f64; 3],
        }
        /// Gauge group, an OpenQCDGaugeGroup, and number of flavours.
        flds_parms_t {
            gauge: c_int,
            nfl: c_int,
        }
    }
}
