//! Hybrid Monte Carlo.

use std::ffi::c_void;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::Instant;

use super::args::{Handle, Local, Out, Raw, Report, Text, TextOut};
use super::context::Context;
use super::file_name::FileName;
use super::gauge::{plaq_gauge, Gauge};
use super::handles;
use super::table::interface;
use crate::bail;
use crate::error::Result;
use crate::ops::hmc::checkpoint::{load_checkpoint, save_checkpoint};
use crate::ops::hmc::input::{check_keys, hmc_from_toml, value_of, RUN_KEYS};
use crate::ops::hmc::{plaq_hmc_report, plaq_monomial_report, Hmc, MonomialReport, RunReport};
use crate::params::ToC as _;
use crate::refuse;

/// The object behind the handle `plaq_hmc`.
pub struct Chain {
    context: Arc<Context>,
    hmc: Mutex<Hmc>,
    last: Mutex<Vec<MonomialReport>>,
}

impl Chain {
    pub(crate) fn new(context: Arc<Context>, hmc: Hmc) -> Self {
        Chain { context, hmc: Mutex::new(hmc), last: Mutex::new(Vec::new()) }
    }
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }
    fn hmc(&self) -> Result<MutexGuard<'_, Hmc>> {
        match self.hmc.try_lock() {
            Ok(hmc) => Ok(hmc),
            Err(TryLockError::Poisoned(e)) => Ok(e.into_inner()),
            Err(TryLockError::WouldBlock) => bail!(Busy, "hmc: another call uses it"),
        }
    }
    fn last(&self) -> MutexGuard<'_, Vec<MonomialReport>> {
        self.last.lock().unwrap_or_else(|e| e.into_inner())
    }
}

interface! {
    "Hybrid Monte Carlo"
    handles {
        /// A Markov chain of trajectories: action, integrator, momenta, place in the sequence of random numbers.
        plaq_hmc: Chain = 13,
    }
    callbacks {
        /// Called after every trajectory with its number, Delta H, whether it was accepted (1), the average
        /// plaquette, the iterations of its solvers and its seconds. A result other than 0, on any rank, ends the
        /// run.
        plaq_trajectory_callback(trajectory: i64, delta_h: f64, accepted: i32, plaquette: f64, iterations: i64, seconds: f64, user: *mut c_void) -> i32;
    }
    reported {
        plaq_monomial_report, plaq_monomial_report_init;
        plaq_hmc_report, plaq_hmc_report_init;
    }
    functions {
        /// Makes a chain from a description in TOML (docs/hmc.md lists the keys), for links on the lattice and in the
        /// precision of `gauge`, stored as 18 numbers. Errors: INVALID_ARGUMENT (naming the line), BAD_PARAMETER,
        /// OUT_OF_MEMORY.
        plaq_hmc_create(gauge: Handle<plaq_gauge>, input: Text, hmc: Out<plaq_hmc>) = create;
        /// Destroys a chain. The zero handle is accepted.
        plaq_hmc_destroy(hmc: Raw<plaq_hmc>) = destroy;
        /// Runs trajectories. After an error (NOT_FINITE, NOT_CONVERGED, SPECTRAL_BOUNDS, ...) the links, and the
        /// number of the next trajectory, are those before the trajectory that failed.
        plaq_hmc_run(hmc: Handle<plaq_hmc>, gauge: Handle<plaq_gauge>, trajectories: i64, callback: Raw<plaq_trajectory_callback>, user: *mut c_void, report: Report<plaq_hmc_report>) = run;
        /// Gives the largest number of bytes of device memory that trajectories take besides what the chain holds. A
        /// first trajectory for which there is less memory is refused (OUT_OF_MEMORY); later ones take no more.
        plaq_hmc_memory(hmc: Handle<plaq_hmc>, gauge: Handle<plaq_gauge>, bytes: Out<i64>) = memory;
        /// Gives the number of monomials.
        plaq_hmc_monomials(hmc: Local<plaq_hmc>, count: Out<i64>) = monomials;
        /// Gives the name of monomial number `index` (from 0), and its report on the last trajectory.
        plaq_hmc_monomial(hmc: Local<plaq_hmc>, index: i64, name: TextOut, capacity: i64, report: Report<plaq_monomial_report>) = monomial;
        /// Gives the seed and the number of the next trajectory.
        plaq_hmc_place(hmc: Local<plaq_hmc>, seed: Out<i64>, trajectory: Out<i64>) = place;
        /// Sets the seed and the number of the next trajectory.
        plaq_hmc_set_place(hmc: Handle<plaq_hmc>, seed: i64, trajectory: i64) = set_place;
        /// Writes the links, the position in the sequence of random numbers and the intervals that monomials have
        /// measured to a file (ILDG, double precision), from which the chain continues bit for bit. The file appears
        /// complete or not at all.
        plaq_hmc_write(hmc: Handle<plaq_hmc>, gauge: Handle<plaq_gauge>, file: FileName) = save;
        /// Reads links, place and intervals from a checkpoint of plaq_hmc_write; an interval given in the input is
        /// not replaced. Errors, after which nothing has changed: those of plaq_gauge_read; FILE_FORMAT: a
        /// configuration that is no checkpoint.
        plaq_hmc_read(hmc: Handle<plaq_hmc>, gauge: Handle<plaq_gauge>, file: FileName) = load;
        /// Reads a number from an input in TOML by its path, e.g. "run.lattice.3". `found`: 0 if it does not exist,
        /// and `value` is then `otherwise`. For the host's own keys, in the table `run`.
        plaq_input_number(input: Text, path: Text, otherwise: f64, value: Out<f64>, found: Out<i32>) = input_number;
        /// Reads a text from an input in the same way; it is empty if it does not exist.
        plaq_input_text(input: Text, path: Text, value: TextOut, capacity: i64, found: Out<i32>) = input_text;
        /// Refuses a table of an input, e.g. "run", with a key that is none of `known`, words with blanks
        /// between them. A table that is absent has no keys. Errors: INVALID_ARGUMENT, naming the key.
        plaq_input_check(input: Text, path: Text, known: Text) = input_check;
        /// Refuses an input whose table `run` has a key that the program `plaq hmc` does not take
        /// (docs/hmc.md). Errors: INVALID_ARGUMENT, naming the line and the key.
        plaq_input_check_run(input: Text) = input_check_run;
    }
}

fn create(gauge: &Arc<Gauge>, input: &str, hmc: &mut Out<plaq_hmc>) -> Result<()> {
    let links = gauge.read("gauge")?;
    let context = gauge.context();
    let chain = hmc_from_toml(links.device(), links.geometry(), links.precision(), input)?;
    hmc.set(context.adopt(Chain::new(context.clone(), chain))?);
    Ok(())
}

fn destroy(hmc: plaq_hmc) -> Result<()> {
    handles::remove(hmc, "hmc")
}

fn run(
    hmc: &Arc<Chain>,
    gauge: &Arc<Gauge>,
    trajectories: i64,
    callback: plaq_trajectory_callback,
    user: *mut c_void,
    report: &mut Report<plaq_hmc_report>,
) -> Result<()> {
    hmc.context.check_same(gauge.context(), "gauge")?;
    if !(1..=i64::from(u32::MAX)).contains(&trajectories) {
        refuse!(
            InvalidArgument,
            "trajectories",
            expected("1 to 2^32 - 1"),
            found("{trajectories}")
        );
    }
    let mut chain = hmc.hmc()?;
    let start = Instant::now();
    let mut all = RunReport::default();
    gauge.change("gauge", |links| {
        for _ in 0..trajectories {
            let done = chain.run(links)?;
            all = all.and(&done);
            let mut asked = [0.0];
            if let Some(callback) = callback.0 {
                let (number, iterations) = (i64::from(done.trajectory), done.iterations as i64);
                // SAFETY: the host's function with the host's own pointer, while its call runs.
                let answer = unsafe {
                    callback(
                        number,
                        done.delta_h,
                        done.accepted as i32,
                        done.plaquette,
                        iterations,
                        done.seconds,
                        user,
                    )
                };
                asked[0] = f64::from(answer != 0);
            }
            *hmc.last() = done.monomials;
            links.geometry().comm().sum(&mut asked)?;
            if asked[0] > 0.0 {
                all.stopped = true;
                break;
            }
        }
        Ok(())
    })?;
    all.run_seconds = start.elapsed().as_secs_f64();
    report.set(all.to_c());
    Ok(())
}

fn memory(hmc: &Arc<Chain>, gauge: &Arc<Gauge>, bytes: &mut Out<i64>) -> Result<()> {
    hmc.context.check_same(gauge.context(), "gauge")?;
    bytes.set(hmc.hmc()?.memory(&*gauge.read("gauge")?)? as i64);
    Ok(())
}

fn monomials(hmc: &Arc<Chain>, count: &mut Out<i64>) -> Result<()> {
    count.set(hmc.hmc()?.names().count() as i64);
    Ok(())
}

fn monomial(
    hmc: &Arc<Chain>,
    index: i64,
    name: &mut TextOut,
    capacity: i64,
    report: &mut Report<plaq_monomial_report>,
) -> Result<()> {
    let chain = hmc.hmc()?;
    let names: Vec<&str> = chain.names().collect();
    let Some(found) = usize::try_from(index).ok().and_then(|i| names.get(i)) else {
        match names.len() {
            0 => bail!(InvalidArgument, "index: the action has no monomials, found {index}"),
            n => refuse!(InvalidArgument, "index", expected("0 to {}", n - 1), found("{index}")),
        }
    };
    name.set(found, capacity)?;
    let m = hmc.last().get(index as usize).cloned().unwrap_or_default();
    report.set(m.to_c());
    Ok(())
}

fn place(hmc: &Arc<Chain>, seed: &mut Out<i64>, trajectory: &mut Out<i64>) -> Result<()> {
    let chain = hmc.hmc()?;
    seed.set(chain.params().seed as i64);
    trajectory.set(i64::from(chain.trajectory()));
    Ok(())
}

fn set_place(hmc: &Arc<Chain>, seed: i64, trajectory: i64) -> Result<()> {
    let Ok(trajectory) = u32::try_from(trajectory) else {
        refuse!(InvalidArgument, "trajectory", expected("0 to 2^32 - 1"), found("{trajectory}"));
    };
    hmc.hmc()?.set_place(seed as u64, trajectory);
    Ok(())
}

fn save(hmc: &Arc<Chain>, gauge: &Arc<Gauge>, file: &Path) -> Result<()> {
    hmc.context.check_same(gauge.context(), "gauge")?;
    save_checkpoint(file, &*gauge.read("gauge")?, &*hmc.hmc()?)
}

fn load(hmc: &Arc<Chain>, gauge: &Arc<Gauge>, file: &Path) -> Result<()> {
    hmc.context.check_same(gauge.context(), "gauge")?;
    let mut chain = hmc.hmc()?;
    gauge.change("gauge", |links| load_checkpoint(file, links, &mut chain))
}

fn input_number(
    input: &str,
    path: &str,
    otherwise: f64,
    value: &mut Out<f64>,
    found: &mut Out<i32>,
) -> Result<()> {
    let number = match value_of(input, path)? {
        None => None,
        Some(toml::Value::Integer(i)) => Some(i as f64),
        Some(toml::Value::Float(f)) => Some(f),
        Some(toml::Value::Boolean(b)) => Some(f64::from(u8::from(b))),
        Some(other) => {
            refuse!(InvalidArgument, "{path}", expected("a number"), found("{}", other.type_str()))
        }
    };
    found.set(number.is_some() as i32);
    value.set(number.unwrap_or(otherwise));
    Ok(())
}

fn input_text(
    input: &str,
    path: &str,
    value: &mut TextOut,
    capacity: i64,
    found: &mut Out<i32>,
) -> Result<()> {
    let text = match value_of(input, path)? {
        None => None,
        Some(toml::Value::String(s)) => Some(s),
        Some(other) => {
            refuse!(InvalidArgument, "{path}", expected("text"), found("{}", other.type_str()))
        }
    };
    found.set(text.is_some() as i32);
    value.set(text.as_deref().unwrap_or(""), capacity)
}

fn input_check(input: &str, path: &str, known: &str) -> Result<()> {
    check_keys(input, path, &known.split_whitespace().collect::<Vec<_>>())
}

fn input_check_run(input: &str) -> Result<()> {
    check_keys(input, "run", RUN_KEYS)
}
