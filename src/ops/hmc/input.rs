//! Actions, integrators and runs as text in TOML, so that every host language can pass them.
//!
//! ```toml
//! length = 1.0                  # of a trajectory
//! seed = 1
//! accept_until = 20             # accept trajectories below this number whatever Delta H
//! reversibility_every = 0
//!
//! [[monomial]]
//! name = "gauge"
//! type = "gauge"
//! action = "wilson"             # wilson, symanzik, luescher_weisz, one_loop_symanzik, iwasaki, dbw2,
//!                               # rectangle (with c1)
//! beta = 5.7
//!
//! [[level]]                     # the outermost first
//! integrator = "omelyan2"       # leapfrog, omelyan2, omelyan4, force_gradient
//! steps = 5
//! monomials = ["gauge"]
//! ```
//!
//! docs/hmc.md lists all keys. A table `[run]` belongs to the host's program; only the boundaries in time that it
//! states are compared with those of the lattice here.
//!
//! ```
//! use plaq_core::backend::Device;
//! use plaq_core::fields::{GaugeField, Geometry, Precision, Recon};
//! use plaq_core::ops::hmc::input::hmc_from_toml;
//!
//! let text = r#"
//!     length = 1.0
//!     accept_until = 5
//!     [[monomial]]
//!     name = "gauge"
//!     type = "gauge"
//!     action = "wilson"
//!     beta = 5.7
//!     [[level]]
//!     integrator = "omelyan2"
//!     steps = 8
//!     monomials = ["gauge"]
//! "#;
//! let device = Device::cpu(1)?;
//! let geometry = Geometry::new([4, 4, 4, 4], &device)?;
//! let mut links = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18)?;
//! links.set_unit()?;
//! let mut chain = hmc_from_toml(&device, &geometry, Precision::F64, text)?;
//! for trajectory in 0..3 {
//!     let report = chain.run(&mut links)?;
//!     assert!(report.accepted && report.plaquette < 1.0, "trajectory {trajectory}");
//! }
//! # Ok::<(), plaq_core::error::Error>(())
//! ```

use std::sync::Arc;

use serde::Deserialize;
use toml::{Spanned, Value};

use super::fermion::MultigridSolves;
use super::gauge_action::GaugeMonomial;
use super::gauge_params::GaugeActionParams;
use super::integrator::{Level, Scheme};
use super::loop_action::{LoopAction, LoopForce};
use super::quarks::{ChainSettings, Quarks};
use super::smd::Algorithm;
use super::{Hmc, Monomial};
use crate::backend::Device;
use crate::bail;
use crate::compose::Schur;
use crate::error::{Error, Result, Status};
use crate::fields::{BoundaryParams, BoundaryTime, Geometry, Precision};
use crate::operators::{ActionParams, DiracParams, DoubletParams, QuarkParams};
use crate::ops::paths::Paths;
use crate::params::{hint, renamed, set_toml, Parameters as _};
use crate::refuse;

fn usual_length() -> f64 {
    ChainSettings::default().length
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default = "usual_length")]
    length: f64,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    trajectory: u32,
    #[serde(default)]
    accept_until: u32,
    #[serde(default)]
    reversibility_every: u32,
    algorithm: Option<Value>,
    rejection: Option<Value>,
    friction: Option<Value>,
    monomial: Vec<Spanned<toml::Table>>,
    level: Vec<Spanned<toml::Table>>,
    #[serde(default, rename = "run")]
    _run: toml::Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TimeScale {
    integrator: String,
    steps: usize,
    monomials: Vec<String>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Term {
    Gauge(GaugeTerm),
    Loops {
        name: String,
        loops: Vec<Loop>,
        /// Factor that multiplies all coefficients.
        beta: Option<f64>,
        /// Whether all rotations and reflections of each loop are added; default true.
        images: Option<bool>,
    },
    TwoFlavours {
        name: String,
        operator: Quark,
        preconditioner: Option<Quark>,
        #[serde(default)]
        asymmetric: bool,
        #[serde(default)]
        parity: usize,
        solver: Option<Value>,
        smearing: Option<StoutLinks>,
    },
    OneFlavour(RationalTerm),
    /// A twisted-mass doublet of two different masses.
    Doublet(RationalTerm),
}

/// Keys of a pseudofermion monomial with a rational approximation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RationalTerm {
    name: String,
    operator: Quark,
    #[serde(default)]
    asymmetric: bool,
    #[serde(default)]
    parity: usize,
    solver: Option<Value>,
    fields: Option<Value>,
    error_force: Option<Value>,
    error_hamiltonian: Option<Value>,
    interval: Option<Value>,
    check_every: Option<Value>,
    smearing: Option<StoutLinks>,
}

/// Keys of a gauge action: its name, and rows of [`GaugeActionParams`].
#[derive(Deserialize)]
#[serde(transparent)]
struct GaugeTerm(toml::Table);

impl GaugeTerm {
    fn params(mut self) -> Result<(String, GaugeActionParams)> {
        let name = match self.0.remove("name") {
            Some(Value::String(name)) => name,
            _ => bail!(InvalidArgument, "name: expected the name of the monomial"),
        };
        let mut action = GaugeActionParams::default();
        let known: Vec<&str> = GaugeActionParams::ROWS.iter().map(|row| row.name).collect();
        for (key, value) in &self.0 {
            if !known.contains(&&**key) {
                refuse!(
                    InvalidArgument,
                    "{key}",
                    expected("one of name, {}", known.join(", ")),
                    hint("{}", hint(key, known.iter().copied()))
                );
            }
            set_toml(&mut action, key, value, key)?;
        }
        Ok((name, action))
    }
}

/// A closed path of links.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Loop {
    /// The steps of the path in words: `x y -x -y`.
    path: String,
    coefficient: f64,
}

/// Keys of the stout smearing of an operator's links.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoutLinks {
    rho: Value,
    levels: Value,
}

/// Keys of a quark: rows of [`QuarkParams`], and `epsilon` of a doublet.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
struct Quark(toml::Table);

/// Makes the chain that `text` describes, for links on this lattice and in this precision.
///
/// # Errors
/// `InvalidArgument`: not TOML, a key is unknown, missing or of another type (with its line);
/// `BadParameter`: a number out of range; those of [`Hmc::new`].
pub fn hmc_from_toml(
    device: &Device,
    geometry: &Arc<Geometry>,
    precision: Precision,
    text: &str,
) -> Result<Hmc> {
    let input: Input = toml::from_str(text).map_err(|e| refused(text, &e))?;
    let boundary = geometry.boundary();
    if let Some(stated) = run_boundary(text)?.filter(|stated| *stated != boundary) {
        refuse!(
            BadParameter,
            "run.boundary_time, phi, phi_prime",
            expected("those of the links, {}", boundary.stated()),
            found("{}", stated.stated())
        );
    }
    let names: Vec<String> = input.monomial.iter().map(|m| name_in(m.get_ref())).collect();
    let mut number = 0;
    let level = |table: Spanned<toml::Table>| -> Result<Level> {
        number += 1;
        let place = format!("level {number}");
        let start = table.span().start;
        let level: TimeScale = read(text, table, &place)?;
        let at = |key: &str| format!("input: line {}: {place}", line_of(text, start, key));
        if let Some(found) = level.monomials.iter().find(|name| !names.contains(name)) {
            refuse!(
                BadParameter,
                format!("{}: monomials", at(found)),
                expected("some of {}", names.join(", ")),
                found("{found}"),
                hint("{}", hint(found, names.iter().map(String::as_str)))
            );
        }
        let integrator = level.integrator.clone();
        level.level().map_err(|e| e.at(at(&integrator)))
    };
    let levels = input.level.into_iter().map(level).collect::<Result<_>>()?;
    let mut settings = ChainSettings {
        length: input.length,
        seed: input.seed,
        trajectory: input.trajectory,
        accept_until: input.accept_until,
        reversibility_every: input.reversibility_every,
        ..Default::default()
    };
    for (key, value) in [
        ("algorithm", &input.algorithm),
        ("rejection", &input.rejection),
        ("friction", &input.friction),
    ] {
        let Some(value) = value else { continue };
        let place = format!("input: line {}", line_of(text, 0, key));
        set_toml(&mut settings, key, value, key).map_err(|e| e.at(&place))?;
        if key != "algorithm" && settings.algorithm != Algorithm::Smd {
            let message = format!("{key}: belongs to the algorithm smd");
            return Err(Error::new(Status::InvalidArgument, message).at(&place));
        }
    }
    let params = settings.params(levels);
    let make = |table: Spanned<toml::Table>| {
        let start = table.span().start;
        let what = format!("monomial {}", name_in(table.get_ref()));
        let term: Term = read(text, table, what.trim_end())?;
        term.monomial(device, geometry, precision).map_err(|e| {
            let line = line_of_key(text, start, &e.what());
            e.at(format!("input: line {line}: {what}"))
        })
    };
    let monomials = input.monomial.into_iter().map(make).collect::<Result<_>>()?;
    Hmc::new(device, geometry, precision, monomials, params)
}

/// The value of `name` in the table of a monomial; empty if there is none.
fn name_in(table: &toml::Table) -> String {
    table.get("name").and_then(Value::as_str).unwrap_or_default().to_string()
}

/// Whether a character may be part of a key that is not quoted.
fn in_key(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// The lines of the table that begins at `start`, with those of the tables inside of it, and their numbers from 1.
fn lines_of(text: &str, start: usize) -> impl Iterator<Item = (usize, &str)> {
    let first = 1 + text[..start].matches('\n').count();
    let of_another = |line: &str| {
        let line = line.trim_start();
        let name = line.trim_start_matches('[').split(']').next().unwrap_or_default();
        line.starts_with('[') && name.starts_with(char::is_alphabetic) && !name.contains('.')
    };
    let own = text[start..].lines().enumerate();
    own.take_while(move |(k, line)| *k == 0 || !of_another(line))
        .map(move |(k, line)| (first + k, line))
}

/// The number, from 1, of the line in which `word` occurs in the table that begins at `start`; else the line of `start`.
fn line_of(text: &str, start: usize, word: &str) -> usize {
    let has = |line: &str| line.split(|c| !in_key(c)).any(|found| found == word);
    let mut own = lines_of(text, start).filter(|(_, line)| !word.is_empty() && has(line));
    own.next().map_or_else(|| 1 + text[..start].matches('\n').count(), |(number, _)| number)
}

/// The number, from 1, of the line of the key that an error about the table that begins at `start` names, as in
/// `solver.multigrid: tol: expected ...` or "operator: unknown key `kapa`": each word that is a key leads to its line,
/// from which the next one is looked for.
fn line_of_key(text: &str, start: usize, said: &str) -> usize {
    // What follows names other keys.
    let ends = ["expected", " belongs ", ": its name"].map(|word| said.find(word));
    let path = &said[..ends.into_iter().flatten().min().unwrap_or(said.len())];
    let has = |line: &str, word: &str| {
        let line = line.split('#').next().unwrap_or_default();
        line.match_indices(word).any(|(at, _)| {
            let behind = line[at + word.len()..].trim_start();
            !line[..at].ends_with(in_key) && behind.starts_with(['=', '.', ']'])
        })
    };
    let lines: Vec<(usize, &str)> = lines_of(text, start).collect();
    let words = path.split(|c| !in_key(c)).filter(|word| !word.is_empty());
    let at = words.fold(0, |at, word| {
        let found = lines[at..].iter().position(|(_, line)| has(line, word));
        at + found.unwrap_or(0)
    });
    lines.get(at).map_or(1, |(number, _)| *number)
}

/// Deserialises a table of the text; `what` names it in messages.
fn read<T: serde::de::DeserializeOwned>(
    text: &str,
    table: Spanned<toml::Table>,
    what: &str,
) -> Result<T> {
    let start = table.span().start;
    T::deserialize(Value::Table(table.into_inner())).map_err(|e| {
        let said = in_plain_words(e.message());
        let whole = e.to_string();
        // For a wrong value of a key, the parser names the key on a separate line.
        let path = whole.lines().find_map(|line| line.strip_prefix("in `")?.strip_suffix('`'));
        let (word, hint) = unknown(&said).unwrap_or_else(|| {
            (path.and_then(|p| p.rsplit('.').next()).unwrap_or_default(), String::new())
        });
        let line = line_of(text, start, word);
        let key = path.filter(|_| unknown(&said).is_none());
        let key = key.map_or(String::new(), |path| format!("{path}: "));
        Error::new(Status::InvalidArgument, format!("{key}{said}"))
            .hint(hint)
            .at(format!("input: line {line}: {what}"))
    })
}

/// The unknown word of a message that lists the known ones behind it, all in backquotes, and a hint which of them may
/// have been meant; `None`: the message is about something else.
fn unknown(said: &str) -> Option<(&str, String)> {
    let mut quoted = said.split('`').skip(1).step_by(2);
    let word = quoted.next().filter(|_| said.starts_with("unknown"))?;
    Some((word, hint(word, quoted)))
}

/// Turns an error of the TOML parser for this text into one with its line, in terms of TOML instead of Rust's types.
fn refused(text: &str, e: &toml::de::Error) -> Error {
    let said = in_plain_words(e.message());
    if let (Some((_, hint)), Some(at)) = (unknown(&said), e.span()) {
        let line = 1 + text[..at.start].matches('\n').count();
        let place = format!("input: line {line}");
        return Error::new(Status::InvalidArgument, &*said).hint(hint).at(place);
    }
    let all = e.to_string().replace(e.message(), &said);
    Error::new(Status::InvalidArgument, format!("input: {}", all.trim()))
}

fn in_plain_words(message: &str) -> String {
    const WHOLE: &str = "a whole number, not negative";
    const TYPES: [(&str, &str); 6] = [
        ("f64", "a number"),
        ("usize", WHOLE),
        ("u64", WHOLE),
        ("u32", WHOLE),
        ("a sequence", "an array"),
        ("a map", "a table"),
    ];
    const WORDS: [(&str, &str); 3] = [
        ("unknown field", "unknown key"),
        ("missing field", "missing key"),
        ("unknown variant", "unknown value"),
    ];
    let mut said = message.to_string();
    for (rust, plain) in TYPES {
        said = said.replace(&format!("expected {rust}"), &format!("expected {plain}"));
    }
    for (rust, plain) in WORDS {
        said = said.replace(rust, plain);
    }
    for table in ["expected struct ", "expected internally tagged enum "] {
        if let Some(at) = said.find(table) {
            said.truncate(at);
            said.push_str("expected a table");
        }
    }
    said
}

/// A value at a path in the text, e.g. `run.lattice.0`, for the host's own use; None if it does not exist.
pub fn value_of(text: &str, path: &str) -> Result<Option<toml::Value>> {
    let table: toml::Table = text.parse().map_err(|e| refused(text, &e))?;
    let mut at = Some(toml::Value::Table(table));
    for key in path.split('.') {
        at = match at {
            Some(toml::Value::Table(mut t)) => t.remove(key),
            Some(toml::Value::Array(mut a)) => match key.parse::<usize>() {
                Ok(i) if i < a.len() => Some(a.swap_remove(i)),
                _ => None,
            },
            _ => None,
        };
    }
    Ok(at)
}

/// Keys of the table `[run]` that the program `plaq hmc` takes; keys that also exist as options of the program have the
/// same names there.
#[rustfmt::skip]
pub const RUN_KEYS: &[&str] = &[
    "lattice", "start", "trajectories", "until", "log", "checkpoint", "checkpoint_every", "configurations", "save_every",
    "flow_every", "flow_time", "flow_step", "boundary_time", "phi", "phi_prime",
];

/// The boundaries in time that the table `[run]` states, if it does.
///
/// # Errors
/// `InvalidArgument`, `BadParameter`: values that are no boundaries, or angles that do not belong to them.
pub fn run_boundary(text: &str) -> Result<Option<BoundaryTime>> {
    let mut params = BoundaryParams::default();
    for row in BoundaryParams::ROWS {
        if let Some(value) = value_of(text, &format!("run.{}", row.name))? {
            set_toml(&mut params, row.name, &value, &format!("run.{}", row.name))?;
        }
    }
    params.boundary("run.")
}

/// Refuses a table of the text that has a key not among `known`.
pub fn check_keys(text: &str, path: &str, known: &[&str]) -> Result<()> {
    let Some(toml::Value::Table(table)) = value_of(text, path)? else { return Ok(()) };
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => {
            let start = text.find(&format!("[{path}]")).unwrap_or(0);
            let meant = hint(key, known.iter().copied());
            refuse!(
                InvalidArgument,
                format!("input: line {}: {path}.{key}", line_of(text, start, key)),
                expected("one of {}", known.join(", ")),
                hint("{meant}")
            )
        }
        None => Ok(()),
    }
}

impl TimeScale {
    fn level(self) -> Result<Level> {
        let scheme = Scheme::parse(&self.integrator)?;
        Ok(Level { scheme, steps: self.steps, monomials: self.monomials })
    }
}

/// The action of loops that are given in words, e.g. `x y -x -y`.
fn loops_of(loops: &[Loop], beta: f64, images: bool) -> Result<LoopAction> {
    let mut kinds = vec![];
    for one in loops {
        let step = |word: &str| {
            let (back, axis) = match word.strip_prefix('-') {
                Some(axis) => (true, axis),
                None => (false, word),
            };
            let Some(mu) = ["x", "y", "z", "t"].iter().position(|a| *a == axis) else {
                refuse!(
                    InvalidArgument,
                    "path",
                    expected("words x, y, z, t, -x, -y, -z or -t"),
                    found("{word}")
                );
            };
            Ok(if back { 7 - mu as u8 } else { mu as u8 })
        };
        let path = one.path.split_whitespace().map(step).collect::<Result<Vec<u8>>>()?;
        kinds.push((path, beta * one.coefficient));
    }
    if images {
        return LoopAction::symmetric(&kinds);
    }
    let (loops, coefficients) = kinds.into_iter().unzip();
    LoopAction::new(Paths::new(loops)?, coefficients)
}

impl Term {
    fn monomial(
        self,
        device: &Device,
        geometry: &Arc<Geometry>,
        precision: Precision,
    ) -> Result<Box<dyn Monomial>> {
        Ok(match self {
            Term::Loops { name, loops, beta, images } => {
                let action = loops_of(&loops, beta.unwrap_or(1.0), images.unwrap_or(true))?;
                let force = LoopForce::new(device, geometry, precision, action)?;
                Box::new(GaugeMonomial::new(&name, force))
            }
            Term::Gauge(term) => {
                let (name, action) = term.params()?;
                action.monomial(&name, device, geometry, precision)?
            }
            Term::TwoFlavours {
                name,
                operator,
                preconditioner,
                asymmetric,
                parity,
                solver,
                smearing,
            } => {
                let mut quarks = quarks(2, parity, asymmetric, smearing)?;
                let multigrid = solves(&mut quarks, solver)?;
                let (operator, mu) = operator.with_mu_schur("operator")?;
                let preconditioner =
                    preconditioner.map(|w| w.with_mu_schur("preconditioner")).transpose()?;
                quarks.mu_schur = [mu, preconditioner.map_or(0.0, |(_, mu)| mu)];
                let preconditioner = preconditioner.map(|(w, _)| w);
                let operator = operator.into();
                quarks.monomial(&name, operator, preconditioner.map(Into::into), multigrid)?
            }
            Term::OneFlavour(term) => {
                let operator = term.operator.clone().params("operator", "one_flavour")?.into();
                term.monomial(1, operator)?
            }
            Term::Doublet(term) => {
                let operator = term.operator.clone().doublet()?.into();
                term.monomial(2, operator)?
            }
        })
    }
}

impl RationalTerm {
    fn monomial(self, flavours: usize, operator: ActionParams) -> Result<Box<dyn Monomial>> {
        let mut quarks = quarks(flavours, self.parity, self.asymmetric, self.smearing)?;
        for (key, value) in [
            ("fields", self.fields),
            ("error_force", self.error_force),
            ("error_hamiltonian", self.error_hamiltonian),
            ("interval", self.interval),
            ("check_every", self.check_every),
        ] {
            value.map_or(Ok(()), |value| set_toml(&mut quarks, key, &value, key))?;
        }
        let multigrid = solves(&mut quarks, self.solver)?;
        quarks.monomial(&self.name, operator, None, multigrid)
    }
}

/// The monomial of `flavours` flavours, whose operators have smeared links; the Schur complement is on one parity.
fn quarks(
    flavours: usize,
    parity: usize,
    asymmetric: bool,
    smearing: Option<StoutLinks>,
) -> Result<Quarks> {
    if parity > 1 {
        refuse!(BadParameter, "parity", expected("0 or 1"), found("{parity}"));
    }
    let system = Schur { parity, symmetric: !asymmetric }.into();
    let mut quarks = Quarks { flavours, system, ..Default::default() };
    if let Some(StoutLinks { rho, levels }) = smearing {
        set_toml(&mut quarks, "smearing_rho", &rho, "smearing.rho")?;
        set_toml(&mut quarks, "smearing_levels", &levels, "smearing.levels")?;
        if quarks.smearing_levels == 0 {
            refuse!(BadParameter, "smearing.levels", expected("1 to 64"), found("0"));
        }
    }
    Ok(quarks)
}

/// Keys of a solver's table that are rows of the table of quarks.
const SOLVER: [&str; 8] = [
    "tolerance_force",
    "tolerance_hamiltonian",
    "tol_site",
    "max_iterations",
    "sloppy_precision",
    "guesses",
    "sums_force",
    "sums_hamiltonian",
];

/// Reads a solver, given as a table or by its name (`cg`, `multigrid`), into `quarks`; returns the parameters of
/// multigrid if it is used.
fn solves(quarks: &mut Quarks, solver: Option<Value>) -> Result<Option<MultigridSolves>> {
    let (mut name, mut multigrid) = ("cg".to_string(), None);
    match solver {
        None => {}
        Some(Value::String(given)) => name = given,
        Some(Value::Table(table)) => {
            for (key, value) in table {
                let argument = format!("solver.{key}");
                match (&*key, value) {
                    (key, value) if SOLVER.contains(&key) => {
                        set_toml(quarks, key, &value, &argument)?;
                    }
                    ("solver", Value::String(given)) => name = given,
                    ("method", _) => {
                        bail!(InvalidArgument, "solver: key `method`: its name is solver now")
                    }
                    (key, _)
                        if renamed(Quarks::ROWS, key).is_some_and(|row| SOLVER.contains(&row)) =>
                    {
                        let new = renamed(Quarks::ROWS, key).unwrap_or_default();
                        bail!(InvalidArgument, "solver: key `{key}`: its name is {new} now")
                    }
                    ("multigrid", value) => {
                        let said = |e: toml::de::Error| e.message().to_string();
                        multigrid = Some(MultigridSolves::deserialize(value).map_err(|e| {
                            Error::new(Status::InvalidArgument, format!("{argument}: {}", said(e)))
                        })?);
                    }
                    _ => {
                        let known = [&["solver"], &SOLVER[..], &["multigrid"]].concat();
                        let message = format!(
                            "solver: unknown key `{key}`, expected one of {}",
                            known.join(", ")
                        );
                        return Err(
                            Error::new(Status::InvalidArgument, message).hint(hint(&key, known))
                        );
                    }
                }
            }
        }
        Some(_) => refuse!(InvalidArgument, "solver", expected("a table or the name of a solver")),
    }
    match (&*name, multigrid) {
        ("multigrid", given) => Ok(Some(given.unwrap_or_default())),
        ("cg", None) => Ok(None),
        ("cg", Some(_)) => {
            bail!(InvalidArgument, "solver: the table multigrid belongs to the solver multigrid")
        }
        _ => {
            let near = hint(&name, ["cg", "multigrid"]);
            let expected = "cg or multigrid";
            refuse!(
                InvalidArgument,
                "solver: solver",
                expected("{expected}"),
                found("{name}"),
                hint("{near}")
            )
        }
    }
}

impl Quark {
    /// Removes a key whose value is a finite number; `None`: the table lacks it.
    fn number(&mut self, table: &str, key: &str) -> Result<Option<f64>> {
        let number = match self.0.remove(key) {
            Some(Value::Float(number)) => number,
            Some(Value::Integer(number)) => number as f64,
            Some(other) => refuse!(
                InvalidArgument,
                "{table}.{key}",
                expected("a number"),
                found("a value of type {}", other.type_str())
            ),
            None => return Ok(None),
        };
        if !number.is_finite() {
            let argument = format!("{table}.{key}");
            refuse!(BadParameter, argument, expected("a finite number"), found("{number}"));
        }
        Ok(Some(number))
    }

    fn doublet(mut self) -> Result<DoubletParams> {
        let Some(epsilon) = self.number("operator", "epsilon")? else {
            bail!(InvalidArgument, "operator: epsilon is missing")
        };
        Ok(DoubletParams { wilson: self.params("operator", "doublet")?, epsilon })
    }

    /// The operator of two flavours, and its twisted mass on the sites of the Schur complement alone.
    fn with_mu_schur(mut self, table: &str) -> Result<(DiracParams, f64)> {
        let mu = self.number(table, "mu_schur")?.unwrap_or(0.0);
        Ok((self.params(table, "two_flavours")?, mu))
    }

    /// The operator that the key `table` of a monomial of type `monomial` describes.
    fn params(self, table: &str, monomial: &str) -> Result<DiracParams> {
        let mut quark = QuarkParams::default();
        // Keys of precision, storage and normalisation are refused: a chain chooses these itself.
        let known = [&["kappa", "mass"], DiracParams::TERMS].concat();
        // Keys of one type of monomial, which were removed before if they belong to this one.
        let others = [("epsilon", "doublet"), ("mu_schur", "two_flavours")];
        for (key, value) in &self.0 {
            let argument = format!("{table}.{key}");
            if let Some((_, of)) = others.iter().find(|(other, _)| other == key) {
                let expected = format!("a monomial of type {of}");
                refuse!(InvalidArgument, argument, expected("{expected}"), found("{monomial}"));
            }
            match &**key {
                key if !known.contains(&key) => {
                    if let Some(new) = renamed(QuarkParams::ROWS, key) {
                        bail!(InvalidArgument, "{table}: key `{key}`: its name is {new} now")
                    }
                    let others = others.map(|(other, _)| other);
                    let near = hint(key, known.iter().copied().chain(others));
                    let known = known.join(", ");
                    refuse!(
                        InvalidArgument,
                        format!("{table}: unknown key `{key}`"),
                        expected("one of {known}, {}", others.join(", ")),
                        hint("{near}")
                    )
                }
                key => set_toml(&mut quark, key, value, &argument)?,
            }
        }
        // The value that means "not set" in C must not be given in a text.
        if self.0.contains_key("kappa") && quark.kappa.is_none() {
            let range = QuarkParams::row("kappa").range.text();
            refuse!(BadParameter, "{table}.kappa", expected("{range}"), found("0"));
        }
        if quark.kappa.is_some() == quark.mass.is_some() {
            bail!(InvalidArgument, "{table}: expected either kappa or mass");
        }
        quark.physics(&format!("{table}."))
    }
}
