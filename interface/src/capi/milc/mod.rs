//! `quda_milc_interface.h`: the functions of QUDA that MILC calls.

#![allow(non_snake_case)]

pub(crate) mod clover;
mod forces;
mod links;
mod start;

use std::ffi::{c_int, c_uint, c_void};

use super::args::{Array, Data, DataOut, Out, OutArray, PathList, Raw};
use super::quda::enums::{QudaInverterType, QudaParity, QudaVerbosity};
use super::table::interface;
use crate::error::Result;
use crate::fields::Precision;
use crate::refuse;

interface! {
    "The functions that MILC calls"
    structs {
        /// Places of the host's links and momenta: in an array of site structs, or in arrays of their own.
        QudaMILCSiteArg_t {
            /// The site array, even sites first, or NULL.
            site: *mut c_void,
            /// Links [site][direction][row][column], if there is no site array.
            link: *mut c_void,
            /// Offset in bytes of the links in a site struct.
            link_offset: usize,
            /// Momenta [site][direction], 10 reals each, antihermitian, if there is no site array.
            mom: *mut c_void,
            mom_offset: usize,
            /// Size in bytes of a site struct.
            size: usize,
        }
        /// Settings of a solve.
        QudaInvertArgs_t {
            max_iter: c_int,
            /// Not used for clover fermions.
            evenodd: QudaParity,
            /// Precision of the iteration; 0: that of the solve, 1: single, 2: half.
            mixed_precision: c_int,
            /// Fermion boundary phases in units of pi, which the links contain already.
            boundary_phase: [f64; 4],
            /// Not used for clover fermions.
            make_resident_solution: c_int,
            use_resident_solution: c_int,
            solver_type: QudaInverterType,
            /// Tadpole factor of staggered fermions; not used.
            tadpole: f64,
            naik_epsilon: f64,
        }
        /// The lattice and the process grid.
        QudaLayout_t {
            /// Extents of the whole lattice in x, y, z, t.
            latsize: *const c_int,
            /// Number of ranks in x, y, z, t; x is fastest.
            machsize: *const c_int,
            /// GPU, if there is a single rank; -1, or several ranks: plaq chooses.
            device: c_int,
        }
        QudaInitArgs_t {
            /// Amount of the log that the first rank writes to stdout.
            verbosity: QudaVerbosity,
            layout: QudaLayout_t,
        }
    }
    calls {
        /// Sets the host's communicator by the address of an MPI_Comm; to be called before qudaInit. NULL: one rank.
        qudaSetMPICommHandle(comm: *mut c_void) = alone start::set_communicator;
        /// Prepares the device for a lattice. All ranks call it; calls after the first do nothing.
        qudaInit(input: Raw<QudaInitArgs_t>) = alone start::init;
        /// Frees everything except pinned memory; qudaInit may be called again.
        qudaFinalize() = alone start::finalize;
        /// Allocates memory that a GPU accesses fast, or ordinary memory without a GPU. Needs no qudaInit, and may be
        /// called by single ranks. NULL after an error that returned.
        qudaAllocatePinned(bytes: usize) -> *mut c_void = alone start::allocate;
        /// Frees what qudaAllocatePinned gave; NULL is accepted.
        qudaFreePinned(pointer: *mut c_void) = alone start::free;
        /// Average plaquette: all, those in space, those with time; 1 for unit links.
        /// `precision` of the links here and below: 1 float, 2 double. `phase_in` 1: they carry
        /// staggered phases and the antiperiodic sign.
        qudaPlaquettePhased(precision: c_int, plaq: OutArray<f64>, arg: Array<QudaMILCSiteArg_t>, phase_in: c_int) = together links::plaquette;
        /// Measures MINUS the average Polyakov loop, re and im, of the links as they are; with the antiperiodic sign
        /// in the links this is the loop without the sign. `dir` must be 3.
        qudaPolyakovLoopPhased(precision: c_int, ploop: OutArray<f64>, dir: c_int, arg: Array<QudaMILCSiteArg_t>, phase_in: c_int) = together links::polyakov_loop;
        /// Replaces every link by the nearest matrix of U(3) divided by the cube root of its determinant. Refused if
        /// a result is not in SU(3) to `tol`. Phases are divided out before and multiplied in again.
        qudaUnitarizeSU3Phased(precision: c_int, tol: f64, arg: Array<QudaMILCSiteArg_t>, phase_in: c_int) = together links::unitarize;
        /// Copies the host's momenta to the device, where qudaGaugeForce adds to them and qudaUpdateU uses them,
        /// until qudaMomSave returns them.
        qudaMomLoad(precision: c_int, arg: Array<QudaMILCSiteArg_t>) = together forces::load_momenta;
        qudaMomSave(precision: c_int, arg: Array<QudaMILCSiteArg_t>) = together forces::save_momenta;
        /// Gives the momenta's part of MILC's Hamiltonian over all ranks: 1/2 tr P^dagger P - 4 summed over links,
        /// where 4 is the mean in the heat bath. It is computed from the momenta on the device, which stay there, or
        /// if there are none from the host's.
        qudaMomAction(precision: c_int, arg: Array<QudaMILCSiteArg_t>) -> f64 = together forces::momentum_action;
        /// Multiplies links [site][direction][3][3], even sites first, by MILC's staggered phases (-1)^t in x,
        /// (-1)^(t+x) in y, (-1)^(t+x+y) in z, and -1 in t on the last time-slice; in t also by exp(i pi i_mu / T).
        /// `flag` 1: multiplies by them, 0: divides by them.
        qudaRephase(prec: c_int, gauge: DataOut, flag: c_int, i_mu: f64) = together links::rephase;
        /// Computes mom = mom - eb3 TA[U_d(x) S_d(x)] for each link, where TA is the traceless antihermitian part. S
        /// is the sum of the link's staples from plaquettes times milc_loop_coeff[0], for num_loop_types 2 or 3 plus
        /// those from rectangles times [1], for 3 plus those from loops i j k -i -j -k times [2].
        qudaGaugeForce(precision: c_int, num_loop_types: c_int, milc_loop_coeff: Array<f64>, eb3: f64, arg: Array<QudaMILCSiteArg_t>) = together forces::force;
        qudaGaugeForcePhased(precision: c_int, num_loop_types: c_int, milc_loop_coeff: Array<f64>, eb3: f64, arg: Array<QudaMILCSiteArg_t>, phase_in: c_int) = together forces::force_phased;
        /// Computes traces[i] = factor loop_coeff[i] sum over x of tr (product along the closed path i from x), as
        /// re, im, from the links without staggered phases, but with the antiperiodic sign.
        qudaGaugeLoopTracePhased(precision: c_int, traces: OutArray<f64>, input_path_buf: PathList, path_length: Array<c_int>, loop_coeff: Array<f64>, num_paths: c_int, max_length: c_int, factor: f64, arg: Array<QudaMILCSiteArg_t>, phase_in: c_int) = together forces::loop_traces;
        /// Computes U = exp(eps P) U with the antihermitian momenta P; the exponential is exact to rounding. Phases
        /// in the links stay.
        qudaUpdateU(precision: c_int, eps: f64, arg: Array<QudaMILCSiteArg_t>) = together forces::update;
        qudaUpdateUPhased(precision: c_int, eps: f64, arg: Array<QudaMILCSiteArg_t>, phase_in: c_int) = together forces::update_phased;
        /// The same as qudaUpdateU; the links are returned to the host after each call, whatever `want_gaugepipe` is.
        qudaUpdateUPhasedPipeline(precision: c_int, eps: f64, arg: Array<QudaMILCSiteArg_t>, phase_in: c_int, want_gaugepipe: c_int) = together forces::update_pipeline;
        /// Fixes Coulomb (`gauge_dir` 3) or Landau gauge by overrelaxation with `relax_boost`; the links change in
        /// place. The fixing ends when the functional sum Re tr U / (3 d V) rises by less than `tolerance` from one
        /// sweep to the next (`stopWtheta` 0), when QUDA's theta is below it (1), or after `Nsteps`.
        qudaGaugeFixingOVR(precision: c_int, gauge_dir: c_uint, Nsteps: c_int, verbose_interval: c_int, relax_boost: f64, tolerance: f64, reunit_interval: c_uint, stopWtheta: c_uint, arg: Array<QudaMILCSiteArg_t>) = together links::fix_gauge_ovr;
        /// Solves (A - kappa H) x = b with H = sum [(1 - gamma) U x(+mu) + (1 + gamma) U^dagger x(-mu)]
        /// in the DeGrand-Rossi basis. `link` [site][direction][3][3] with the boundary in it;
        /// `clover` and `clover_inv` are A and its inverse, 72 reals a site in two blocks of 6 on
        /// the diagonal and 15 complex below it by columns; spinors [site][spin][colour]. Sites even ones first.
        /// Residuals are |b - M x| / |b| and the heavy-quark residual; a target of 0 is not required; if both are
        /// set, both must be met. All arrays are of
        /// `external_precision`; `quda_precision` is that of the solve: 1 single, 2 double.
        qudaCloverInvert(external_precision: c_int, quda_precision: c_int, kappa: f64, clover_coeff: f64, inv_args: Raw<QudaInvertArgs_t>, target_residual: f64, target_fermilab_residual: f64, link: Data, clover: Data, clover_inv: Data, source: Data, solution: DataOut, final_residual: Out<f64>, final_fermilab_residual: Out<f64>, num_iters: Out<c_int>) = together clover::invert;
    }
}

/// The precision that MILC means by a number.
fn precision_of(number: c_int, argument: &str) -> Result<Precision> {
    match number {
        1 => Ok(Precision::F32),
        2 => Ok(Precision::F64),
        _ => refuse!(
            InvalidArgument,
            "{argument}",
            expected("1 (float) or 2 (double)"),
            found("{number}")
        ),
    }
}
