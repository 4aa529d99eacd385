//! `quda_openqcd_interface.h`: the functions of QUDA that openQxD calls.

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

/// A gauge group of openQxD, which plaq does not use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group;

impl Group {
    pub const SU3: c_int = OPENQCD_GAUGE_SU3.0;
}

interface! {
    "The functions that openQxD calls"
    defines {
        /// Numbers of solvers and of eigensolvers, counted from 0, are below these.
        OPENQCD_MAX_INVERTERS = "32";
        OPENQCD_MAX_EIGENSOLVERS = "32";
    }
    enums {
        /// Gauge groups, as named in flds_parms_t.
        OpenQCDGaugeGroup: Group {
            OPENQCD_GAUGE_SU3 = 1 => Group,
            OPENQCD_GAUGE_U1 = 2 => Group,
            OPENQCD_GAUGE_SU3xU1 = 3 => Group,
            OPENQCD_GAUGE_INVALID = -2147483648,
        }
    }
    callbacks {
        /// openQxD's own functions, which plaq calls.
        openQCD_bc_parms() -> bc_parms_t;
        openQCD_flds_parms() -> flds_parms_t;
        openQCD_dirac_parms() -> dirac_parms_t;
        /// Returns the address of a field that is up to date.
        openQCD_field() -> *mut c_void;
        /// Gives the revision numbers of the links of SU(3) and of U(1), which differ after each change; both are 0
        /// before the first one.
        openQCD_revisions(ud: *mut c_int, ad: *mut c_int) -> ();
        /// Converts links [site, x slowest, t fastest][x, y, z, t][row][column] to openQxD's order.
        openQCD_reorder(given: *mut c_void, wanted: *mut c_void) -> ();
    }
    structs {
        /// The lattice and its ranks, in the order x, y, z, t.
        openQCD_QudaLayout_t {
            /// Extents of a rank's part.
            L: [c_int; 4],
            /// Number of ranks in each direction.
            nproc: [c_int; 4],
            /// Not used.
            nproc_blk: [c_int; 4],
            /// Extents of the whole lattice.
            N: [c_int; 4],
            /// GPU, if there is a single rank; -1, or several ranks: plaq chooses.
            device: c_int,
            /// Number of directions with C* boundary conditions: 0 or 1.
            cstar: c_int,
            /// cstar, nproc, then the rank at each place of the process grid, t fastest.
            data: *mut c_int,
            bc_parms: openQCD_bc_parms,
            flds_parms: openQCD_flds_parms,
            dirac_parms: openQCD_dirac_parms,
            /// Links with the phases of quarks: exp(i theta_k / N_k) in space and, where time is periodic, -1 on the
            /// last time-slice.
            h_gauge: openQCD_field,
            /// The clover term.
            h_sw: openQCD_field,
            get_gfld_flags: openQCD_revisions,
        }
        openQCD_QudaInitArgs_t {
            /// Amount of the log that the first rank writes, unless section [QUDA] of infile sets another verbosity.
            verbosity: QudaVerbosity,
            /// A FILE * to which the log is written, which must stay open until openQCD_qudaFinalize; NULL: stdout.
            /// Lines begin with "QUDA: ".
            logfile: *mut c_void,
            /// Not used.
            gauge: *mut c_void,
            /// Number of sites of a rank.
            volume: c_int,
            /// Number of sites beyond the rank's faces, in directions with several ranks.
            bndry: c_int,
            /// Function of openQxD that converts links to its order, for openQCD_qudaGaugeSave.
            reorder_gauge_quda_to_openqcd: openQCD_reorder,
        }
        openQCD_QudaDiracParam_t {
            kappa: f64,
            mu: f64,
            su3csw: f64,
            /// Coefficient of the clover term of U(1); must be 0.
            u1csw: f64,
            qhat: c_int,
        }
    }
    calls {
        /// Opens the session. All ranks call it; later calls do nothing. Section [QUDA] of infile may have a key
        /// verbosity; if infile is NULL there are no sections.
        openQCD_qudaInit(initargs: Raw<openQCD_QudaInitArgs_t>, layout: Raw<openQCD_QudaLayout_t>, infile: Raw<*mut c_char>) = alone state::init;
        /// Frees everything; openQCD_qudaInit may be called again.
        openQCD_qudaFinalize() = alone state::finalize;
        /// Copies h_in to h_out through the device. Spinors are openQxD's, in double precision.
        openQCD_back_and_forth(h_in: *mut c_void, h_out: *mut c_void) = together fields::back_and_forth;
        /// Gives the index of the site with local coordinates t, x, y, z, or of its neighbour in direction mu (0 to
        /// 3: t, x, y, z).
        openQCD_qudaIndexIpt(x: Array<c_int>) -> c_int = alone fields::ipt;
        openQCD_qudaIndexIup(x: Array<c_int>, mu: c_int) -> c_int = alone fields::iup;
        /// Computes the squared norm over all ranks. Functions with _NoLoads take what openQCD_qudaH2D returned.
        openQCD_qudaNorm(h_in: *mut c_void) -> f64 = together fields::norm;
        openQCD_qudaNorm_NoLoads(d_in: *mut c_void) -> f64 = together fields::norm_no_loads;
        /// Computes h_out = gamma h_in; dir 0 to 3: t, x, y, z, 4 and 5: gamma5.
        openQCD_qudaGamma(dir: c_int, h_in: *mut c_void, h_out: *mut c_void) = together fields::gamma;
        /// Copies a spinor to the device; the result identifies it and is not an address.
        openQCD_qudaH2D(h_field: *mut c_void) -> *mut c_void = together fields::h2d;
        openQCD_qudaD2H(d_field: *mut c_void, h_field: *mut c_void) = together fields::d2h;
        /// Frees a spinor that openQCD_qudaH2D returned and sets the handle to NULL.
        openQCD_qudaSpinorFree(d_field: InOut<*mut c_void>) = alone fields::spinor_free;
        /// Computes h_dst = D_w h_src with the links on the device and, if su3csw is not 0, a clover term made from
        /// these.
        openQCD_qudaDw_deprecated(h_src: *mut c_void, h_dst: *mut c_void, param: Raw<openQCD_QudaDiracParam_t>) = together fields::dw_deprecated;
        /// h_out = (D_w + i mu gamma5) h_in with openQxD's parameters. Links and clover term are brought up to date.
        /// Where quarks vanish at boundaries in time h_in counts as zero.
        openQCD_qudaDw(mu: f64, h_in: *mut c_void, h_out: *mut c_void) = together fields::dw;
        openQCD_qudaDw_NoLoads(mu: f64, d_in: *mut c_void, d_out: *mut c_void) = together fields::dw_no_loads;
        /// Reads section [Solver id] at the first call, and updates links, clover term and multigrid. id -1: the
        /// Dirac operator, without a section. The result is the address of a QudaInvertParam.
        openQCD_qudaSolverGetHandle(id: c_int) -> *mut c_void = together solvers::handle;
        /// Gives a hash of the solver's settings; 0 before openQCD_qudaSolverGetHandle.
        openQCD_qudaSolverGetHash(id: c_int) -> c_int = alone solvers::hash;
        /// Prints the solver's settings to C's stdout on rank 0.
        openQCD_qudaSolverPrintSetup(id: c_int) = alone solvers::print_setup;
        openQCD_qudaSolverDestroy(id: c_int) = alone solvers::destroy;
        /// Solves (D_w + i mu gamma5) h_solution = h_source. Returns |b - D x| / |b|; status: the number of
        /// iterations, or -1 if that is above tol.
        openQCD_qudaInvert(id: c_int, mu: f64, h_source: *mut c_void, h_solution: *mut c_void, status: Out<c_int>) -> f64 = together solvers::solve;
        /// Does what openQCD_qudaSolverGetHandle does for section [Eigensolver id], with the operator of a solver.
        openQCD_qudaEigensolverGetHandle(id: c_int, solver_id: c_int) -> *mut c_void = together solvers::eigen_handle;
        openQCD_qudaEigensolverPrintSetup(id: c_int, solver_id: c_int) = alone solvers::eigen_print;
        /// Finds eigenvectors. h_evecs: n_conv spinors, or NULL; h_evals: n_conv complex doubles.
        openQCD_qudaEigensolve(id: c_int, solver_id: c_int, h_evecs: Raw<*mut *mut c_void>, h_evals: *mut c_void) = together solvers::eigensolve;
        openQCD_qudaEigensolverDestroy(id: c_int) = alone solvers::eigen_destroy;
        /// 3 times the average plaquette; at boundaries in time that of openQCD's logs.
        openQCD_qudaPlaquette() -> f64 = together fields::plaquette;
        /// Takes links, those behind the last site among them, with the boundaries in time of bc_parms() and the phases
        /// of dirac_parms(); t_boundary QUDA_ANTI_PERIODIC_T: the last time-slice carries -1.
        openQCD_qudaGaugeLoad(gauge: *mut c_void, prec: One<Numbers>, rec: QudaReconstructType, t_boundary: One<Boundary>) = together fields::gauge_load;
        /// Returns the links through reorder_gauge_quda_to_openqcd.
        openQCD_qudaGaugeSave(gauge: *mut c_void, prec: One<Numbers>, rec: QudaReconstructType, t_boundary: One<Boundary>) = together fields::gauge_save;
        openQCD_qudaGaugeFree() = alone fields::gauge_free;
        /// Loads a clover term of openQxD, which is 1 / (2 kappa) for links that are zero; csw must not be 0.
        openQCD_qudaCloverLoad(h_clover: *mut c_void, kappa: f64, csw: f64) = together fields::clover_load;
        openQCD_qudaCloverFree() = alone fields::clover_free;
    }
}
