//! Structs of openQxD's own header `flags.h`, for programs that do not include it.

use std::ffi::c_int;

use crate::capi::table::interface;

interface! {
    "What openQxD's flags.h has"
    structs {
        /// Boundary conditions.
        bc_parms_t {
            /// Boundaries in time: 0 open, 1 of the Schroedinger functional, 2 open at time 0 and as 1 at T, 3
            /// periodic.
            r#type: c_int,
            /// Directions with C* boundaries.
            cstar: c_int,
            /// Angles of the links of SU(3) that are fixed at time 0 and at T, three with the sum 0.
            phi3: [[f64; 3]; 2],
            /// Angles of the links of U(1) that are fixed at time 0 and at T. Not used.
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
            /// Coefficients of the boundary terms at time 0 and at T; not used where time is periodic.
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
