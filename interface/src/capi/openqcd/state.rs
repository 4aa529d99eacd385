//! State of openQxD's interface: data from its initialisation, versions of its fields on the device, and its solvers.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_void, CStr};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::flags::{bc_parms_t, dirac_parms_t, flds_parms_t};
use super::input::Input;
use super::order::Order;
use super::{openQCD_QudaInitArgs_t, openQCD_QudaLayout_t};
use crate::bail;
use crate::capi::args::{choose, numbers};
use crate::capi::library::{log_to, LogFile};
use crate::capi::quda::enums::{QudaVerbosity, Verbosity};
use crate::capi::quda::params_invert::QudaInvertParam;
use crate::capi::quda::params_parts::{QudaEigParam, QudaMultigridParam};
use crate::capi::quda::session::{self, Session};
use crate::capi::quda::topology::Grid;
use crate::error::Result;
use crate::fields::{BoundaryTime, VectorField};
use crate::params::Member;
use crate::refuse;

/// Revisions and parameters that links on the device were made from.
#[derive(Clone, Copy, PartialEq)]
pub struct LinksOrigin {
    /// Revisions of the links of SU(3) and of U(1).
    pub revisions: (c_int, c_int),
    pub charge: c_int,
    pub boundary: BoundaryTime,
    pub theta: [f64; 3],
}

/// Links and parameters that a clover term or a multigrid was made from; it is made again where they differ.
#[derive(Clone, Copy, PartialEq)]
pub struct CloverOrigin {
    pub links: LinksOrigin,
    pub kappa: f64,
    pub su3csw: f64,
    pub u1csw: f64,
    pub cf: [f64; 2],
}

/// Everything that exists from openQCD_qudaInit to openQCD_qudaFinalize.
pub struct OpenQcdState {
    pub host: Host,
    /// Revision and boundary conditions of the host's links from which the links on the device were made; None: there
    /// are no links on the device.
    pub links: Option<LinksOrigin>,
    pub clover: Option<CloverOrigin>,
    spinors: BTreeMap<usize, Arc<VectorField>>,
    pub solvers: BTreeMap<c_int, Solver>,
    pub eigensolvers: BTreeMap<c_int, Eigensolver>,
    made: usize,
}

/// A solver described by a section of the input file.
pub struct Solver {
    /// The struct that the host's handle points to.
    pub param: Box<QudaInvertParam>,
    /// Twisted mass for which the operator was last set.
    pub mu: f64,
    pub multigrid: Option<Levels>,
}

/// The multigrid of a solver.
pub struct Levels {
    pub param: Box<QudaMultigridParam>,
    /// The handle from newMultigridQuda, with the revisions, parameters and twisted mass of its set-up.
    pub made: Option<(*mut c_void, CloverOrigin, f64)>,
}

/// An eigensolver described by a section of the input file.
pub struct Eigensolver {
    pub param: Box<QudaEigParam>,
}

/// Arguments, layout and input file that the program passed to openQCD_qudaInit.
#[derive(Clone)]
pub struct Host {
    pub init: openQCD_QudaInitArgs_t,
    pub layout: openQCD_QudaLayout_t,
    pub order: Arc<Order>,
    pub input: Arc<Input>,
    /// The session opened by openQCD_qudaInit.
    session: Weak<Session>,
}

// SAFETY: addresses of the host's functions and arrays, which are its own; nothing here is tied to a thread.
unsafe impl Send for OpenQcdState {}

static STATE: Mutex<Option<OpenQcdState>> = Mutex::new(None);

/// Calls `work` to change the state. It must not call the host, which might call plaq again.
pub fn with<T>(work: impl FnOnce(&mut OpenQcdState) -> Result<T>) -> Result<T> {
    match &mut *STATE.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(state) => work(state),
        None => not_initialised(),
    }
}

fn not_initialised<T>() -> Result<T> {
    bail!(
        NotInitialised,
        sentence("the library is not initialised"),
        hint("call openQCD_qudaInit first")
    )
}

/// The data that the program passed to openQCD_qudaInit; an error after the session has ended.
pub fn host() -> Result<Host> {
    let host = with(|state| Ok(state.host.clone()))?;
    match (host.session.upgrade(), session::current()) {
        (Some(own), Some(now)) if Arc::ptr_eq(&own, &now) => Ok(host),
        _ => not_initialised(),
    }
}

pub fn init(
    init: openQCD_QudaInitArgs_t,
    layout: openQCD_QudaLayout_t,
    infile: *mut c_char,
) -> Result<()> {
    if host().is_ok() {
        return Ok(());
    }
    for (mu, axis) in ["x", "y", "z", "t"].iter().enumerate() {
        let (l, p, n) = (layout.L[mu], layout.nproc[mu], layout.N[mu]);
        if l < 2 || l % 2 != 0 || l.checked_mul(p) != Some(n) {
            refuse!(
                BadExtents,
                "layout.N, L in {axis}",
                expected("an even number L of sites on each of {p} ranks and N = {p} L"),
                found("{n}, {l}")
            );
        }
    }
    if !(0..2).contains(&layout.cstar) {
        refuse!(Unsupported, "layout.cstar", expected("0 or 1"), found("{}", layout.cstar), hint("plaq has no C* boundary conditions in two or three directions, for which neighbours of ranks in y and z are shifted in x"));
    }
    let p = layout.nproc;
    let grid = match numbers(layout.data, 5) {
        None if p == [1; 4] => Grid::new(p, |_| 0)?,
        None => refuse!(NullPointer, "layout.data", expected("a pointer"), found("NULL")),
        Some(head) => {
            if head[1..5] != p {
                refuse!(
                    InvalidArgument,
                    "layout.data[1] to [4]",
                    expected("nproc, {p:?}"),
                    found("{:?}", &head[1..5])
                );
            }
            let places = p.iter().map(|n| *n as usize).product::<usize>();
            let all = numbers(layout.data, 5 + places).unwrap_or_default();
            Grid::new(p, |c| all[5 + c.iter().zip(p).fold(0, |n, (c, p)| n * p + c) as usize])?
        }
    };
    let order = Arc::new(Order::new(layout.L.map(|n| n as usize), p.map(|n| n as usize)));
    for (name, found, expected) in
        [("volume", init.volume, order.volume()), ("bndry", init.bndry, order.boundary())]
    {
        if found as i64 != expected as i64 {
            refuse!(InvalidArgument, "initargs.{name}", expected("{expected}"), found("{found}"));
        }
    }
    let others = session::current().is_some();
    let opened = open(&init, &layout, grid, infile);
    if opened.is_err() && !others {
        session::close();
    }
    let (session, input) = opened?;
    let own = Arc::downgrade(&session);
    *STATE.lock().unwrap_or_else(PoisonError::into_inner) = Some(OpenQcdState {
        host: Host { init, layout, order, input, session: own },
        links: None,
        clover: None,
        spinors: BTreeMap::new(),
        solvers: BTreeMap::new(),
        eigensolvers: BTreeMap::new(),
        made: 0,
    });
    Ok(())
}

/// Opens the session for this lattice and reads the input file.
fn open(
    init: &openQCD_QudaInitArgs_t,
    layout: &openQCD_QudaLayout_t,
    grid: Grid,
    infile: *mut c_char,
) -> Result<(Arc<Session>, Arc<Input>)> {
    session::set_grid(grid)?;
    session::set_device(layout.device.max(-1))?;
    let session = session::with_part(layout.L)?;
    let name = (!infile.is_null()).then(|| {
        // SAFETY: the host's text, which ends with NUL.
        unsafe { CStr::from_ptr(infile) }.to_string_lossy().into_owned()
    });
    let input = Input::read(name, session.context.comm())?;
    let Verbosity(level) = choose(verbosity(&input, init.verbosity)?, "initargs.verbosity")?;
    log_to(LogFile { file: init.logfile as usize, prefix: "QUDA: ".into(), level });
    Ok((session, Arc::new(input)))
}

/// The verbosity in section [QUDA], or `otherwise` if there is none.
fn verbosity(input: &Input, otherwise: QudaVerbosity) -> Result<QudaVerbosity> {
    if !input.has("QUDA") {
        return Ok(otherwise);
    }
    let words = input.value("QUDA", "verbosity")?;
    let mut level = otherwise;
    match level.take(&words) {
        Ok(()) => Ok(level),
        Err(expected) => {
            refuse!(
                BadParameter,
                "[QUDA] verbosity",
                expected("{expected}"),
                found("{}", words.join(" "))
            )
        }
    }
}

pub fn finalize() -> Result<()> {
    let own = host().is_ok();
    drop(STATE.lock().unwrap_or_else(PoisonError::into_inner).take());
    if own {
        session::close();
        // The log no longer uses the file, which the host closes.
        log_to(LogFile { file: 0, prefix: String::new(), level: log::LevelFilter::Off });
    }
    Ok(())
}

impl OpenQcdState {
    /// Keeps a spinor; returns the handle by which the host names it, a number that counts from 1 and is not an
    /// address.
    pub fn add_spinor(&mut self, field: VectorField) -> *mut c_void {
        self.made += 1;
        self.spinors.insert(self.made, Arc::new(field));
        std::ptr::without_provenance_mut(self.made)
    }

    pub fn spinor(&mut self, handle: *mut c_void, name: &str) -> Result<&mut Arc<VectorField>> {
        match self.spinors.get_mut(&handle.addr()) {
            Some(field) => Ok(field),
            None => refuse!(
                InvalidHandle,
                "{name}",
                expected("what openQCD_qudaH2D returned, not freed since"),
                found("{handle:p}")
            ),
        }
    }

    pub fn free_spinor(&mut self, handle: *mut c_void) -> Result<()> {
        if !handle.is_null() {
            self.spinor(handle, "d_field")?;
            self.spinors.remove(&handle.addr());
        }
        Ok(())
    }
}

/// Calls one of the host's functions, which must not be NULL.
macro_rules! ask {
    ($host:expr, $name:ident($($arg:expr),*)) => {
        match $host.layout.$name.0 {
            // SAFETY: the host's function, with what the header says that it takes.
            Some(function) => Ok(unsafe { function($($arg),*) }),
            None => Err($crate::error::Error::new(
                $crate::error::Status::NullPointer,
                concat!("layout.", stringify!($name), ": expected a function, found NULL"),
            )),
        }
    };
}

impl Host {
    pub fn boundary(&self) -> Result<bc_parms_t> {
        ask!(self, bc_parms())
    }
    pub fn fields(&self) -> Result<flds_parms_t> {
        ask!(self, flds_parms())
    }
    pub fn dirac(&self) -> Result<dirac_parms_t> {
        ask!(self, dirac_parms())
    }
    pub fn links(&self) -> Result<*mut c_void> {
        ask!(self, h_gauge())
    }
    pub fn clover(&self) -> Result<*mut c_void> {
        ask!(self, h_sw())
    }
    /// Revisions of the links of SU(3) and of U(1); both 0 before there are links.
    pub fn revisions(&self) -> Result<(c_int, c_int)> {
        let (mut ud, mut ad) = (0, 0);
        ask!(self, get_gfld_flags(&mut ud, &mut ad))?;
        Ok((ud, ad))
    }
}
