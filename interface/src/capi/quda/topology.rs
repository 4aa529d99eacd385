//! Process grids: the one set by `initCommsGridQuda`, and the one that a program, such as QDP++, has declared to QMP.
//! QMP is not linked: its functions are weak references, which are 0 in programs without it.

use std::arch::global_asm;
use std::ffi::{c_int, c_void};

use crate::error::Result;
use crate::refuse;

/// A process grid, and the rank at each of its places, x fastest.
#[derive(Clone)]
pub struct Grid {
    pub extents: [c_int; 4],
    pub ranks: Vec<c_int>,
}

impl Grid {
    /// Makes a grid; `rank` gives the rank at coordinates.
    pub fn new(extents: [c_int; 4], rank: impl Fn([c_int; 4]) -> c_int) -> Result<Grid> {
        let places = extents.iter().try_fold(1i32, |n, &e| n.checked_mul(e).filter(|_| e > 0));
        let Some(places) = places.filter(|n| *n <= 1 << 20) else {
            refuse!(
                ProcessGrid,
                "dims",
                expected("ranks in each of four directions"),
                found("{extents:?}")
            );
        };
        let place = |n: c_int| {
            let mut left = n;
            rank(extents.map(|e| {
                let c = left % e;
                left /= e;
                c
            }))
        };
        Ok(Grid { extents, ranks: (0..places).map(place).collect() })
    }
}

global_asm!(
    ".pushsection .data",
    ".balign 8",
    ".hidden plaq_qmp_functions",
    ".globl plaq_qmp_functions",
    "plaq_qmp_functions:",
    ".weak QMP_logical_topology_is_declared",
    ".quad QMP_logical_topology_is_declared",
    ".weak QMP_get_logical_number_of_dimensions",
    ".quad QMP_get_logical_number_of_dimensions",
    ".weak QMP_get_logical_dimensions",
    ".quad QMP_get_logical_dimensions",
    ".weak QMP_get_node_number_from",
    ".quad QMP_get_node_number_from",
    ".weak QMP_comm_get_default",
    ".quad QMP_comm_get_default",
    ".weak QMP_get_mpi_comm",
    ".quad QMP_get_mpi_comm",
    ".popsection",
);

/// Addresses of the functions of QMP, in the order of the table above; 0: the program has no QMP.
#[repr(C)]
#[derive(Clone, Copy)]
struct Functions {
    is_declared: Option<unsafe extern "C" fn() -> c_int>,
    dimension_count: Option<unsafe extern "C" fn() -> c_int>,
    dimensions: Option<unsafe extern "C" fn() -> *const c_int>,
    node_at: Option<unsafe extern "C" fn(*const c_int) -> c_int>,
    default_communicator: Option<unsafe extern "C" fn() -> *mut c_void>,
    mpi_communicator: Option<unsafe extern "C" fn(*mut c_void, *mut *mut c_void)>,
}

extern "C" {
    #[link_name = "plaq_qmp_functions"]
    static FUNCTIONS: Functions;
}

/// The grid with QMP's node numbers, and the address of the MPI_Comm to which these belong; None in programs without
/// QMP, and before a topology is declared.
pub fn declared() -> Result<Option<(Grid, *mut c_void)>> {
    // SAFETY: the loader has filled in the addresses, and nothing changes them.
    let qmp = unsafe { FUNCTIONS };
    let (Some(is_declared), Some(count), Some(dimensions), Some(node_at), Some(default), Some(mpi)) = (
        qmp.is_declared,
        qmp.dimension_count,
        qmp.dimensions,
        qmp.node_at,
        qmp.default_communicator,
        qmp.mpi_communicator,
    ) else {
        return Ok(None);
    };
    // SAFETY: QMP's functions with its own types. The list has as many dimensions as QMP says.
    unsafe {
        if is_declared() == 0 {
            return Ok(None);
        }
        let n = count();
        if n != 4 {
            refuse!(ProcessGrid, "QMP's logical topology", expected("4 dimensions"), found("{n}"));
        }
        let extents: [c_int; 4] = std::array::from_fn(|mu| *dimensions().add(mu));
        let grid = Grid::new(extents, |coordinates| node_at(coordinates.as_ptr()))?;
        let mut communicator = std::ptr::null_mut();
        mpi(default(), &mut communicator);
        Ok(Some((grid, communicator)))
    }
}
