//! `quda.h`: the session, and structs of parameters as QUDA fills and prints them.

#![allow(non_snake_case)]

use std::ffi::{c_char, c_int, c_void, CStr};

use super::enums::{PoolMemory, Verbosity};
use super::params::*;
use super::params_invert::QudaInvertParam;
use super::params_parts::*;
use super::records::{MemberRole, Record};
use super::session;
use super::topology::Grid;
use crate::capi::args::{Array, One, Raw};
use crate::capi::boundary::c_string;
use crate::capi::library::{log_to, LogFile};
use crate::capi::table::interface;
use crate::error::Result;
use crate::params::CType;
use crate::refuse;

interface! {
    "Session and parameters"
    callbacks {
        /// The rank at coordinates of the process grid.
        QudaCommsMap(coords: *const c_int, fdata: *mut c_void) -> c_int;
    }
    tables {
        QudaGaugeParam;
        QudaInvertParam;
        QudaEigParam;
        QudaMultigridParam;
        QudaGaugeObservableParam;
        QudaGaugeSmearParam;
        QudaBLASParam;
        QudaQuarkSmearParam;
    }
    calls {
        /// The process grid: nDim is 4, dims are the ranks in x, y, z, t. `func` gives the rank of MPI_COMM_WORLD
        /// at a place; NULL: t runs fastest. Without this call the ranks are those of the logical topology that the
        /// program has declared to QMP, with QMP's communicator; without QMP there is one rank.
        initCommsGridQuda(nDim: c_int, dims: Array<c_int>, func: Raw<QudaCommsMap>, fdata: *mut c_void) = alone init_grid;
        /// The GPU of the only rank, -1: plaq chooses. The first lattice opens the session.
        initQuda(device: c_int) = alone init;
        /// The first half of initQuda.
        initQudaDevice(device: c_int) = alone init;
        /// The second half of initQuda, which does nothing here.
        initQudaMemory() = alone nothing;
        /// Gives everything back; initQuda may follow, with another lattice.
        endQuda() = alone end;
        /// Gives memory that is kept for later fields back to the device; page-locked memory of the host is not kept.
        flushPoolQuda(memory: One<PoolMemory>) = alone flush_pool;
        /// Does nothing: plaq keeps no halos of links between calls that could be out of date.
        updateR() = alone nothing;
        /// The first rank writes the log of what follows initQuda and a first lattice to `outfile`, a FILE *
        /// (NULL: stdout), each line behind `prefix`. Without this call nothing is written but what a call's member
        /// `verbosity` asks for.
        setVerbosityQuda(verbosity: One<Verbosity>, prefix: Raw<*const c_char>, outfile: *mut c_void) = alone set_verbosity;
        /// All members as QUDA sets them: values to be filled in are invalid.
        newQudaGaugeParam() -> QudaGaugeParam = alone new_param;
        newQudaInvertParam() -> QudaInvertParam = alone new_param;
        newQudaMultigridParam() -> QudaMultigridParam = alone new_param;
        newQudaEigParam() -> QudaEigParam = alone new_param;
        newQudaGaugeObservableParam() -> QudaGaugeObservableParam = alone new_param;
        newQudaGaugeSmearParam() -> QudaGaugeSmearParam = alone new_param;
        newQudaBLASParam() -> QudaBLASParam = alone new_param;
        /// Prints a line `name = value` for each member to C's stdout, and flushes it.
        printQudaGaugeParam(param: Array<QudaGaugeParam>) = alone print;
        printQudaInvertParam(param: Array<QudaInvertParam>) = alone print;
        printQudaMultigridParam(param: Array<QudaMultigridParam>) = alone print;
        printQudaEigParam(param: Array<QudaEigParam>) = alone print;
        printQudaGaugeObservableParam(param: Array<QudaGaugeObservableParam>) = alone print;
        printQudaBLASParam(param: Array<QudaBLASParam>) = alone print;
    }
}

fn flush_pool(memory: PoolMemory) -> Result<()> {
    match (memory, session::current()) {
        (PoolMemory::Device, Some(session)) => session.context.device().free_kept(),
        _ => Ok(()),
    }
}

/// Every struct of these tables by its name.
pub const RECORDS: &[(&str, &[MemberRole])] = &[
    rows::<QudaGaugeParam>(),
    rows::<QudaInvertParam>(),
    rows::<QudaMultigridParam>(),
    rows::<QudaEigParam>(),
    rows::<QudaGaugeObservableParam>(),
    rows::<QudaGaugeSmearParam>(),
    rows::<QudaBLASParam>(),
    rows::<QudaQuarkSmearParam>(),
];

const fn rows<T: Record>() -> (&'static str, &'static [MemberRole]) {
    (T::NAME, T::ROLES)
}

fn init_grid(
    dimensions: c_int,
    dims: &Array<c_int>,
    map: QudaCommsMap,
    data: *mut c_void,
) -> Result<()> {
    if dimensions != 4 {
        refuse!(InvalidArgument, "nDim", expected("4"), found("{dimensions}"));
    }
    let dims = dims.own(4);
    let extents: [c_int; 4] = [dims[0], dims[1], dims[2], dims[3]];
    let grid = Grid::new(extents, |coords| match map.0 {
        // SAFETY: the host's function and its own pointer.
        Some(map) => unsafe { map(coords.as_ptr(), data) },
        None => (0..4).fold(0, |rank, mu| rank * extents[mu] + coords[mu]),
    })?;
    session::set_grid(grid)
}

fn init(device: c_int) -> Result<()> {
    session::set_device(device)
}

fn nothing() -> Result<()> {
    Ok(())
}

fn end() -> Result<()> {
    session::close();
    Ok(())
}

fn set_verbosity(verbosity: Verbosity, prefix: *const c_char, outfile: *mut c_void) -> Result<()> {
    let prefix = match prefix.is_null() {
        true => String::new(),
        // SAFETY: the host's text ends with NUL.
        false => unsafe { CStr::from_ptr(prefix) }.to_string_lossy().into_owned(),
    };
    log_to(LogFile { file: outfile as usize, prefix, level: verbosity.0 });
    Ok(())
}

fn new_param<T: Record>() -> Result<T> {
    Ok(T::NEW)
}

fn print<T: Record + CType>(param: &Array<T>) -> Result<()> {
    let text = param.own(1)[0].lines().join("\n");
    put(format!("{}:\n{text}", T::NAME));
    Ok(())
}

/// Prints lines to C's stdout, and flushes it.
pub(crate) fn put(text: String) {
    let text = c_string(text);
    // SAFETY: C's stdout takes text that ends with NUL; NULL flushes every stream.
    unsafe {
        libc::puts(text.as_ptr());
        libc::fflush(std::ptr::null_mut());
    }
}
