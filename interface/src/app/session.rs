//! A run of the program: its device, the ranks that mpirun has started, and its messages.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Instant;

use super::options::{integers, opt, Kind, Need, Opt, Options, COUNT};
use super::{interrupted, Failure, Run, NOT_COMPLETED};
use crate::backend::Device;
use crate::comm::{self, Comm, Communicator, RankMap};
use crate::error::{Result, Status};
use crate::fields::Geometry;
use crate::ops::device::{check_same_layout, device_of_rank, DeviceKind};

/// Options of every subcommand that computes.
pub const OPTIONS: &[Opt] = &[
    opt(
        "device",
        Kind::Word(&["auto", "cpu", "cuda=gpu"]),
        "D",
        "auto",
        "auto, cpu or cuda; auto: a GPU where there is one",
    ),
    opt("threads", COUNT, "N", "0", "threads of the CPU; 0: all that this process may use"),
    opt("grid", Kind::Text, "X,Y,Z,T", "", "under mpirun: ranks in each direction (all in t)"),
    opt(
        "verbosity",
        Kind::Word(&["off", "error", "warn", "info", "debug"]),
        "LEVEL",
        "warn",
        "what the library tells of its work on standard error: off, error, warn, info or debug",
    ),
];

/// A log that prints to standard error on the first process.
struct StderrLog;

impl log::Log for StderrLog {
    fn enabled(&self, _: &log::Metadata) -> bool {
        prints()
    }
    fn log(&self, record: &log::Record) {
        if prints() {
            let level = record.level().as_str().to_lowercase();
            print_error(&format!("plaq: {level}: {}", record.args()));
        }
    }
    fn flush(&self) {}
}

/// Sets the log to the level of `--verbosity`.
fn listen(options: &Options) {
    // A second call finds the logger that the first one has set.
    let _ = log::set_logger(&StderrLog);
    log::set_max_level(options.text("verbosity").parse().unwrap_or(log::LevelFilter::Warn));
}

/// The option of every subcommand that writes files.
pub const fn overwrite(needs: &'static [&'static [Need]]) -> Opt {
    opt("overwrite", Kind::Flag, "B", "no", "yes: files that are there already are replaced")
        .needs(needs)
}

/// True if this process must not print, because another rank does.
static QUIET: AtomicBool = AtomicBool::new(false);
/// True if standard output could not be written.
static LOST: AtomicBool = AtomicBool::new(false);

/// Environment variables in which launchers give the number of processes.
const SIZES: [&str; 4] =
    ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"];
/// Environment variables with the number of this process, which launchers of MPI set.
const PLACES: [&str; 5] =
    ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"];

fn variable(name: &str) -> Option<i64> {
    std::env::var(name).ok()?.trim().parse().ok()
}

/// The variable by which a launcher shows that it started several processes, and their number; `None` for the number
/// if the variable only has that of this process.
fn launched() -> Option<(&'static str, Option<i64>)> {
    let sizes: Vec<_> = SIZES.iter().filter_map(|n| Some((*n, variable(n)?))).collect();
    match sizes.iter().find(|(_, size)| *size > 1) {
        Some((name, size)) => Some((*name, Some(*size))),
        None if !sizes.is_empty() => None,
        None => variable("PMIX_RANK").map(|_| ("PMIX_RANK", None)),
    }
}

/// Whether this process prints: the only one, or the first of several.
pub fn prints() -> bool {
    let several = matches!(launched(), Some((_, size)) if size != Some(1));
    let place = PLACES.iter().find_map(|n| variable(n)).filter(|_| several);
    !QUIET.load(Ordering::Relaxed) && place.is_none_or(|p| p == 0)
}

/// Prints a line to standard error.
pub fn print_error(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Prints text to standard output, on the first process.
pub fn print(text: &str) {
    if prints() && io::stdout().write_all(text.as_bytes()).is_err() {
        LOST.store(true, Ordering::Relaxed);
    }
}

/// Flushes standard output; false if not everything could be written.
pub fn flush() -> bool {
    let flushed = io::stdout().flush();
    if flushed.is_ok() && !LOST.load(Ordering::Relaxed) {
        return true;
    }
    let why = flushed.err().map_or("it took not all of the output".into(), |e| e.to_string());
    print_error(&format!("standard output: {why}"));
    false
}

/// Prints a line on standard output, as `format!` writes it.
macro_rules! say {
    ($($part:tt)*) => {
        $crate::app::session::print(&format!("{}\n", format_args!($($part)*)))
    };
}
pub(crate) use say;

/// Messages on progress, on standard error: on a terminal a line every 0.2 s that replaces the one before, in a file
/// or pipe a line every 10 s.
pub struct Progress {
    start: Instant,
    shown: f64,
    terminal: bool,
}

impl Progress {
    pub fn new() -> Progress {
        Progress { start: Instant::now(), shown: 0.0, terminal: io::stderr().is_terminal() }
    }

    fn write(&self, text: &str, stays: bool) {
        if !prints() {
            return;
        }
        let end = if stays || !self.terminal { "\n" } else { "" };
        let text = match self.terminal {
            true => format!("\r  {text}\x1b[K{end}"),
            false => format!("  {text}{end}"),
        };
        let _ = io::stderr().write_all(text.as_bytes());
    }

    /// Prints a line if enough time has passed since the last one.
    pub fn now_and_then(&mut self, text: impl FnOnce() -> String) {
        let seconds = self.start.elapsed().as_secs_f64();
        if seconds - self.shown >= if self.terminal { 0.2 } else { 10.0 } {
            self.shown = seconds;
            self.write(&text(), false);
        }
    }

    /// Prints a line that is not replaced.
    pub fn last(&mut self, text: &str) {
        self.write(text, true);
    }

    /// Removes the present line from a terminal.
    pub fn clear(&self) {
        if self.terminal && prints() {
            let _ = io::stderr().write_all(b"\r\x1b[K");
        }
    }
}

/// The device and the ranks of a run of the program.
pub struct Session {
    pub device: Device,
    pub comm: Arc<Comm>,
}

impl Session {
    /// Whether this process prints and writes files.
    pub fn first(&self) -> bool {
        self.comm.rank() == 0
    }

    /// Geometry of a lattice that all ranks share.
    pub fn geometry(&self, extents: [usize; 4]) -> Result<Arc<Geometry>> {
        Geometry::decomposed(extents, &self.device, &self.comm)
    }

    /// Whether any rank was interrupted; all ranks call this together.
    pub fn any_interrupted(&self) -> Result<bool> {
        let mut asked = [f64::from(u8::from(interrupted()))];
        self.comm.sum(&mut asked)?;
        Ok(asked[0] > 0.0)
    }
}

/// The ranks that were started together with this process, or only this one.
fn ranks(options: &Options) -> Run<(Arc<Comm>, bool)> {
    let grid = match options.get("grid") {
        Some(text) => integers::<4>("grid", text, 0)?.map(|n| n as i32),
        None => [0; 4],
    };
    let Some((name, size)) = launched() else {
        options.check("grid", grid.iter().all(|n| *n < 2), "one rank without mpirun")?;
        return Ok((Comm::single(), false));
    };
    let several = size.map_or("several".into(), |n| n.to_string());
    let started = || format!("started as one of {several} processes ({name})");
    let alone = format!("jobs that know nothing of each other start with env -u {name}");
    if let Err(e) = comm::host::init(1) {
        return Err(Failure::usage(format!("{}, but {}; {alone}", started(), e.message())));
    }
    let map = RankMap::Default;
    let comm = Comm::mpi(Communicator::World, grid, &map, &comm::Options::default())?;
    QUIET.store(comm.rank() > 0, Ordering::Relaxed);
    match size {
        Some(size) if comm.size() as i64 != size => Err(Failure::usage(format!(
            "{}, but MPI has {}: libplaq_mpi.so is of another MPI than the launcher (make mpi); {alone}",
            started(),
            comm.size()
        ))),
        _ => Ok((comm, true)),
    }
}

/// Opens ranks and device, calls `work` and ends MPI. A failure of one rank is a failure of all.
pub fn run(options: &Options, work: impl FnOnce(&Session) -> Run<i32>) -> Run<i32> {
    run_in_steps(options, |session| {
        let done = session.comm.guard(|| match work(session) {
            Ok(status) => Ok(Ok(status)),
            Err(Failure::Work(e)) => Err(e),
            Err(wrong) => Ok(Err(wrong)),
        });
        done?
    })
}

/// Opens ranks and device, calls `work` and ends MPI, for work that makes ranks agree on failures itself.
pub fn run_in_steps(options: &Options, work: impl FnOnce(&Session) -> Run<i32>) -> Run<i32> {
    listen(options);
    let (comm, mpi) = ranks(options)?;
    let kind = match options.text("device") {
        "cpu" => DeviceKind::Cpu,
        "cuda" => DeviceKind::Cuda,
        _ => DeviceKind::Auto,
    };
    let threads = options.whole("threads") as usize;
    let device = comm.agree(device_of_rank(kind, None, threads, &comm));
    let device = device.and_then(|device| check_same_layout(&comm, &device).map(|()| device));
    let done = device.map_err(Failure::from).and_then(|device| {
        let session = Session { device, comm: comm.clone() };
        work(&session)
    });
    drop(comm);
    let lost = matches!(&done, Err(Failure::Work(e)) if e.status == Status::CommFailed);
    // MPI_Finalize would wait for a rank that is gone.
    if mpi && !lost {
        comm::host::finalize()?;
    }
    done
}

/// The exit status at the end of work: 0 if done, 3 if it did not converge or was interrupted.
pub fn status(done: bool) -> i32 {
    if done {
        0
    } else {
        NOT_COMPLETED
    }
}
