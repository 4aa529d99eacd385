//! `quda_openqcd_interface.h`: what openQxD calls of QUDA.

#![allow(non_snake_case, non_upper_case_globals)]

mod fields;
pub mod flags;
mod input;
mod order;
mod solvers;
mod state;

use std::ffi::{c_char, c_int, c_void};

use flags::{bc_parms_t, dirac_parms_t, flds_parms_t};

use super::args::{Array, One, Out, Raw};
use super::quda::arrays::InOut;
use super::quda::enums::{Boundary, Numbers, QudaReconstructType, QudaVerbosity};
use super::table::interface;

/// Gauge groups of openQxD.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group;

impl Group {
    pub const SU3: c_int = OPENQCD_GAUGE_SU3.0;
}

interface! {
    "The functions that openQxD calls"
    defines {
        /// Solvers and eigensolvers have numbers below these.
        OPENQCD_MAX_INVERTERS = "32";
        OPENQCD_MAX_EIGENSOLVERS = "32";
    }
    enums {
        /// Gauge groups, as flds_parms_t names them.
        OpenQCDGaugeGroup: Group {
            OPENQCD_GAUGE_SU3 = 1 => Group,
            OPENQCD_GAUGE_U1 = 2 => Group,
            OPENQCD_GAUGE_SU3xU1 = 3 => Group,
            OPENQCD_GAUGE_INVALID = -2147483648,
        }
    }
    callbacks {
        /// openQxD's own functions.
        openQCD_bc_parms() -> bc_parms_t;
        openQCD_flds_parms() -> flds_parms_t;
        openQCD_dirac_parms() -> dirac_parms_t;
        /// The address of a field, which is up to date.
        openQCD_field() -> *mut c_void;
        /// Revisions of the links of SU(3) and of U(1): others than before after each change, both 0 before the first.
        openQCD_revisions(ud: *mut c_int, ad: *mut c_int) -> ();
        /// Takes links [site, x slowest, t fastest][x, y, z, t][row][column] into openQxD's order.
        openQCD_reorder(given: *mut c_void, wanted: *mut c_void) -> ();
    }
    structs {
        /// The lattice and its ranks: x, y, z, t.
        openQCD_QudaLayout_t {
            /// Sites of a rank.
            L: [c_int; 4],
            /// Ranks.
            nproc: [c_int; 4],
            /// Not used.
            nproc_blk: [c_int; 4],
            /// Sites of the lattice.
            N: [c_int; 4],
            /// GPU of the only rank; -1, or several ranks: plaq chooses.
            device: c_int,
            /// Directions with C* boundary conditions: 0 or 1.
            cstar: c_int,
            /// cstar, nproc, then the rank at each place of the grid, t fastest.
            data: *mut c_int,
            bc_parms: openQCD_bc_parms,
            flds_parms: openQCD_flds_parms,
            dirac_parms: openQCD_dirac_parms,
            /// Links with the phases of quarks: exp(i theta_k / N_k) in space and, where time is periodic, -1 on the last
            /// time-slice.
            h_gauge: openQCD_field,
            /// Clover term.
            h_sw: openQCD_field,
            get_gfld_flags: openQCD_revisions,
        }
        openQCD_QudaInitArgs_t {
            /// What the first rank writes of the log, unless section [QUDA] of infile has another verbosity.
            verbosity: QudaVerbosity,
            /// Where to: a FILE *, which stays open until openQCD_qudaFinalize; NULL: stdout. Lines begin with "QUDA: ".
            logfile: *mut c_void,
            /// Not used.
            gauge: *mut c_void,
            /// Sites of a rank.
            volume: c_int,
            /// Sites beyond its faces, in directions with several ranks.
            bndry: c_int,
            /// For openQCD_qudaGaugeSave.
            reorder_gauge_quda_to_openqcd: openQCD_reorder,
        }
        openQCD_QudaDiracParam_t {
            kappa: f64,
            mu: f64,
            su3csw: f64,
            /// Must be 0.
            u1csw: f64,
            qhat: c_int,
        }
    }
    calls {
        /// Opens the session. All ranks call it; calls after the first do nothing. Section [QUDA] of infile may have a key
        /// verbosity; infile NULL: no sections.
        openQCD_qudaInit(initargs: Raw<openQCD_QudaInitArgs_t>, layout: Raw<openQCD_QudaLayout_t>, infile: Raw<*mut c_char>) = alone state::init;
        /// Gives everything back; openQCD_qudaInit may follow again.
        openQCD_qudaFinalize() = alone state::finalize;
        /// h_out = h_in by way of the device. Spinors are openQxD's, in double precision.
        openQCD_back_and_forth(h_in: *mut c_void, h_out: *mut c_void) = together fields::back_and_forth;
        /// Index of the site with local coordinates t, x, y, z, and of its neighbour in direction mu (0 to 3: t, x, y, z).
        openQCD_qudaIndexIpt(x: Array<c_int>) -> c_int = alone fields::ipt;
        openQCD_qudaIndexIup(x: Array<c_int>, mu: c_int) -> c_int = alone fields::iup;
        /// The norm squared, of all ranks. Functions with _NoLoads take what openQCD_qudaH2D returned.
        openQCD_qudaNorm(h_in: *mut c_void) -> f64 = together fields::norm;
        openQCD_qudaNorm_NoLoads(d_in: *mut c_void) -> f64 = together fields::norm_no_loads;
        /// h_out = gamma h_in, dir 0 to 3: t, x, y, z; 4 and 5: gamma5.
        openQCD_qudaGamma(dir: c_int, h_in: *mut c_void, h_out: *mut c_void) = together fields::gamma;
        /// A spinor on the device; what is returned is no address.
        openQCD_qudaH2D(h_field: *mut c_void) -> *mut c_void = together fields::h2d;
        openQCD_qudaD2H(d_field: *mut c_void, h_field: *mut c_void) = together fields::d2h;
        /// Frees it and sets the handle to NULL.
        openQCD_qudaSpinorFree(d_field: InOut<*mut c_void>) = alone fields::spinor_free;
        /// h_dst = D_w h_src with the links on the device, and for su3csw other than 0 a clover term of these.
        openQCD_qudaDw_deprecated(h_src: *mut c_void, h_dst: *mut c_void, param: Raw<openQCD_QudaDiracParam_t>) = together fields::dw_deprecated;
        /// h_out = (D_w + i mu gamma5) h_in with openQxD's parameters. Links and clover term are brought up to date. Where
        /// quarks vanish at boundaries in time h_in counts as zero.
        openQCD_qudaDw(mu: f64, h_in: *mut c_void, h_out: *mut c_void) = together fields::dw;
        openQCD_qudaDw_NoLoads(mu: f64, d_in: *mut c_void, d_out: *mut c_void) = together fields::dw_no_loads;
        /// Reads section [Solver id] the first time, and brings links, clover term and multigrid up to date. id -1 is the Dirac
        /// operator, without a section. What is returned is the address of a QudaInvertParam.
        openQCD_qudaSolverGetHandle(id: c_int) -> *mut c_void = together solvers::handle;
        /// Hash of its settings, 0 before openQCD_qudaSolverGetHandle.
        openQCD_qudaSolverGetHash(id: c_int) -> c_int = alone solvers::hash;
        /// Prints its settings to C's stdout on rank 0.
        openQCD_qudaSolverPrintSetup(id: c_int) = alone solvers::print_setup;
        openQCD_qudaSolverDestroy(id: c_int) = alone solvers::destroy;
        /// Solves (D_w + i mu gamma5) h_solution = h_source. Returns |b - D x| / |b|; status: the iterations, or -1 where this is
        /// above tol.
        openQCD_qudaInvert(id: c_int, mu: f64, h_source: *mut c_void, h_solution: *mut c_void, status: Out<c_int>) -> f64 = together solvers::solve;
        /// The same for section [Eigensolver id], with the operator of a solver.
        openQCD_qudaEigensolverGetHandle(id: c_int, solver_id: c_int) -> *mut c_void = together solvers::eigen_handle;
        openQCD_qudaEigensolverPrintSetup(id: c_int, solver_id: c_int) = alone solvers::eigen_print;
        /// h_evecs: n_conv spinors, or NULL; h_evals: n_conv complex doubles.
        openQCD_qudaEigensolve(id: c_int, solver_id: c_int, h_evecs: Raw<*mut *mut c_void>, h_evals: *mut c_void) = together solvers::eigensolve;
        openQCD_qudaEigensolverDestroy(id: c_int) = alone solvers::eigen_destroy;
        /// 3 times the average plaquette; at boundaries in time that of openQCD's logs.
        openQCD_qudaPlaquette() -> f64 = together fields::plaquette;
        /// Takes links, those behind the last site among them, with the boundaries in time of bc_parms() and the phases of
        /// dirac_parms(); t_boundary QUDA_ANTI_PERIODIC_T: the last time-slice carries -1.
        openQCD_qudaGaugeLoad(gauge: *mut c_void, prec: One<Numbers>, rec: QudaReconstructType, t_boundary: One<Boundary>) = together fields::gauge_load;
        /// Gives them back through reorder_gauge_quda_to_openqcd.
        openQCD_qudaGaugeSave(gauge: *mut c_void, prec: One<Numbers>, rec: QudaReconstructType, t_boundary: One<Boundary>) = together fields::gauge_save;
        openQCD_qudaGaugeFree() = alone fields::gauge_free;
        /// Takes a clover term of openQxD, which has 1 / (2 kappa) on its diagonal without links; csw must not be 0.
        openQCD_qudaCloverLoad(h_clover: *mut c_void, kappa: f64, csw: f64) = together fields::clover_load;
        openQCD_qudaCloverFree() = alone fields::clover_free;
    }
}
