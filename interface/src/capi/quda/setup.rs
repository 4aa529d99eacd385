//! `quda.h`: the session, and the functions that initialise and print structs of parameters.

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
        /// Returns the rank at coordinates of the process grid.
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
        /// Sets the process grid: nDim is 4, and dims are the numbers of ranks in x, y, z, t. `func` gives the rank
        /// of MPI_COMM_WORLD at a place; NULL: t runs fastest. Without this call the ranks are those of the logical
        /// topology that the program has declared to QMP, with QMP's communicator; without QMP there is one rank.
        initCommsGridQuda(nDim: c_int, dims: Array<c_int>, func: Raw<QudaCommsMap>, fdata: *mut c_void) = alone init_grid;
        /// Sets the GPU, if there is a single rank; -1: plaq chooses. The session is opened with the first lattice.
        initQuda(device: c_int) = alone init;
        /// Does the first half of initQuda.
        initQudaDevice(device: c_int) = alone init;
        /// Does the second half of initQuda, for which plaq has nothing to do.
        initQudaMemory() = alone nothing;
        /// Frees everything; initQuda may follow, also with another lattice.
        endQuda() = alone end;
        /// Returns memory that is kept for later fields to the device. Page-locked memory of the host is not kept
        /// anyway.
        flushPoolQuda(memory: One<PoolMemory>) = alone flush_pool;
        /// Does nothing, since plaq keeps no halos of links between calls that could be out of date.
        updateR() = alone nothing;
        /// Sets the log that the first rank writes, after initQuda and a first lattice, to `outfile`, a FILE * (NULL:
        /// stdout), with `prefix` before each line. If this is not called, only what a call's member `verbosity` asks
        /// for is written.
        setVerbosityQuda(verbosity: One<Verbosity>, prefix: Raw<*const c_char>, outfile: *mut c_void) = alone set_verbosity;
        /// Returns the struct with QUDA's defaults; members that the host must set have invalid values.
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

/// All structs of these tables with their names.
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
        // SAFETY: the host has passed this function, together with the pointer.
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

/// Prints a text to C's stdout, and flushes it.
pub(crate) fn put(text: String) {
    let text = c_string(text);
    // SAFETY: C's stdout takes text that ends with NUL; NULL flushes every stream.
    unsafe {
        libc::puts(text.as_ptr());
        libc::fflush(std::ptr::null_mut());
    }
}
