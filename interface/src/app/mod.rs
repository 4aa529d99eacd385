//! The program `plaq`: gauge configurations and quarks from the command line. Each subcommand is a file;
//! `options` reads the command line, `session` opens device and ranks, `output` writes results.

mod convert;
mod distillation;
mod files;
mod flow;
mod gaugefix;
mod gluon;
mod heatbath;
mod hmc;
mod loops;
pub mod options;
mod output;
mod overlap;
mod plaquette;
mod plot;
mod propagator;
mod quark;
mod reweight;
mod schroedinger;
mod session;
mod shell;
mod smearing;
mod statistics;

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;

use crate::error::{Error, Status};
use options::{suggestion, Command, CommandRequest, Options};

/// Set by the program's handler of SIGINT and SIGTERM; work then ends at the next point where it can stop.
pub static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Exit status of a program that was interrupted, or whose solves did not converge.
const NOT_COMPLETED: i32 = 3;

fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// The reason why the program ends before its work is done.
#[derive(Debug)]
pub enum Failure {
    /// Wrong options; the exit status is 2.
    Usage(String),
    /// A call of the library that was refused or failed; the exit status is 1.
    Work(Error),
}

/// Result of a step of the program.
pub type Run<T> = Result<T, Failure>;

impl Failure {
    fn usage(text: impl Into<String>) -> Failure {
        Failure::Usage(text.into())
    }

    /// A failure found by the program itself, with its text.
    fn refused(text: impl Into<String>) -> Failure {
        Failure::Work(Error::new(Status::InvalidArgument, text))
    }
}

impl From<Error> for Failure {
    fn from(e: Error) -> Failure {
        Failure::Work(e)
    }
}

/// The function that gives the word for a constant of the C interface, from the interface's tables.
pub static WORDS: OnceLock<fn(&str) -> Option<String>> = OnceLock::new();

/// A function that makes the process continue when the reader of its standard output has ended (`| head`).
pub static OUTLIVE_READERS: OnceLock<fn()> = OnceLock::new();

/// The word for a constant of the C interface.
fn word(constant: &str) -> Option<String> {
    WORDS.get().and_then(|word| word(constant))
}

/// The text of an error in the program's words.
fn in_words(error: &Error) -> String {
    error.in_words(&word)
}

/// Subcommands of the program, in the order of its overview.
pub const COMMANDS: &[&Command] = &[
    &plaquette::COMMAND,
    &heatbath::COMMAND,
    &hmc::COMMAND,
    &propagator::COMMAND,
    &distillation::COMMAND,
    &loops::COMMAND,
    &reweight::COMMAND,
    &schroedinger::COMMAND,
    &gaugefix::COMMAND,
    &gluon::COMMAND,
    &flow::COMMAND,
    &overlap::COMMAND,
    &convert::COMMAND,
];

fn overview() -> String {
    let mut text = "usage: plaq SUBCOMMAND [options]\n".to_string();
    for (name, about) in shell::subcommands() {
        text += &format!("  {name:<12} {about}\n");
    }
    text + "plaq SUBCOMMAND --help lists its options; plaq --version\n"
}

/// Runs the program with its arguments, without the program's name; returns its exit status: 0 done, 1 refused or
/// failed, 2 wrong options, 3 not converged or interrupted. `output`: whether standard output is open.
pub fn main(arguments: &[OsString], output: bool) -> i32 {
    let outcome = match output || !session::prints() {
        true => dispatch(arguments),
        false => Err(Failure::refused(
            "standard output: expected one that is open, found it closed; > /dev/null drops what is printed",
        )),
    };
    let flushed = session::flush();
    match outcome {
        Ok(status) if flushed || status != 0 => status,
        Ok(_) => 1,
        Err(Failure::Usage(text)) => {
            if session::prints() {
                session::print_error(&format!("{text}; --help lists the options"));
            }
            2
        }
        Err(Failure::Work(e)) => {
            if session::prints() {
                let begin = if interrupted() { "INTERRUPTED: " } else { "" };
                session::print_error(&format!("{begin}{}", in_words(&e)));
            }
            if interrupted() {
                NOT_COMPLETED
            } else {
                1
            }
        }
    }
}

fn dispatch(arguments: &[OsString]) -> Run<i32> {
    let first = arguments.first().map(|a| a.to_string_lossy().into_owned());
    let name = match first.as_deref() {
        None => {
            return Err(Failure::usage(format!(
                "a subcommand is missing\n{}",
                overview().trim_end()
            )))
        }
        Some("--help" | "-h" | "help") => {
            session::print(&overview());
            return Ok(0);
        }
        Some("--version") => {
            session::print(concat!("plaq ", env!("CARGO_PKG_VERSION"), "\n"));
            return Ok(0);
        }
        Some(name) => name,
    };
    let texts = |all: &[OsString]| -> Vec<String> {
        all.iter().map(|a| a.to_string_lossy().into_owned()).collect()
    };
    if let Some(done) = shell::run(name, &texts(&arguments[1..])) {
        return done;
    }
    let Some(command) = COMMANDS.iter().find(|c| c.name == name) else {
        let names = shell::subcommands().map(|(name, _)| name);
        let hint = suggestion(name, names.clone())
            .map_or(String::new(), |w| format!(": did you mean {w}?"));
        let all: Vec<&str> = names.collect();
        return Err(Failure::usage(format!(
            "unknown subcommand: {name}{hint}; expected one of {}",
            all.join(", ")
        )));
    };
    match Options::parse(command, &arguments[1..])? {
        CommandRequest::Help => session::print(&command.help()),
        CommandRequest::Version => {
            session::print(concat!("plaq ", env!("CARGO_PKG_VERSION"), "\n"))
        }
        CommandRequest::Work(options) => {
            files::all_distinct(&options)?;
            // Results go into files, too, and files need no reader of the standard output.
            if options.outputs().next().is_some() {
                OUTLIVE_READERS.get().inspect(|outlive| outlive());
            }
            return (command.run)(options);
        }
    }
    Ok(0)
}
