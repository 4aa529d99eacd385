//! Modes, elementals and perambulators in HDF5 files, the same for C, Python and the program: names of datasets,
//! their axes, and attributes that identify links, operators and settings.

use std::path::{Path, PathBuf};

use num_complex::Complex64;
use serde_json::{json, Value};

use super::elementals::{baryon_elementals, meson_elementals, triples, Step};
use super::if_exists::IfExists;
use super::inverse::Inverse;
use super::kinds::{self, Kind, CONVENTION, PERAMBULATORS};
use super::modes::{Modes, BASIS, BASIS_ERROR, LEFT_BASIS, NEAR_BASIS, TOL};
use super::noise::NoiseInModes;
use super::perambulator::{check_solver, perambulators, Insertion, Projected};
use crate::bail;
use crate::error::Result;
use crate::fields::GammaBasis;
use crate::io::hdf5::{self, Attribute, Attributes, Dataset, Numbers};
use crate::ops::links_mark::{links_mark, PROJECTION_TOLERANCES, TOLERANCES};
use crate::params::Choice as _;
use crate::refuse;
use crate::solvers::Monitor;

/// Default name of the group of perambulators.
pub const GROUP: &str = "perambulators";

/// The group of generalised perambulators.
pub const GENERALISED: &str = "generalised";

/// Name of a basis of spins in files.
fn spins(basis: GammaBasis) -> &'static str {
    match basis {
        GammaBasis::DeGrandRossi => "DeGrand-Rossi",
        GammaBasis::Ukqcd => "UKQCD",
        GammaBasis::Chiral => "chiral",
        GammaBasis::DiracPauli => "Dirac-Pauli",
    }
}

/// Largest difference of numbers of an attribute that belong to the same links, in single or double precision, modes and
/// quarks.
fn near(name: &str) -> f64 {
    match name {
        _ if name.contains("links_projection") => PROJECTION_TOLERANCES[0],
        _ if name.contains("plaquette") || name.ends_with("link_trace") => TOLERANCES[0],
        _ => 1e-9,
    }
}

/// Attributes that may differ, or are compared in other ways.
const APART: [&str; 5] = ["tol", TOL, CONVENTION, BASIS, BASIS_ERROR];

/// Refuses a dataset of modes whose products with fixed noise, its attribute `basis`, are not those of these modes.
/// Modes that one of the two lacks are not compared, and datasets of earlier versions do not know errors.
///
/// # Errors
/// `FieldMismatch`; errors of [`hdf5::has`].
fn check_basis(path: &Path, name: &str, basis: &str, modes: &Modes) -> Result<()> {
    let count = modes.basis().len();
    let read = |attribute| hdf5::numbers(path, name, attribute, count);
    let error = if basis == BASIS { BASIS_ERROR } else { "left_modes_basis_error" };
    let (found, errors) = (read(basis)?, read(error)?.unwrap_or_else(|| vec![0.0; count]));
    let own = modes.basis_errors();
    let other = |found: &Vec<f64>| {
        let near =
            |k: &usize| (found[*k] - modes.basis()[*k]).abs() <= NEAR_BASIS + errors[*k] + own[*k];
        (0..count).find(|k| !near(k))
    };
    match found.as_ref().map(other) {
        Some(None) => Ok(()),
        Some(Some(k)) => refuse!(
            FieldMismatch,
            format!("{}: {name}: {basis}", path.display()),
            expected("that of these modes, {:.7} of mode {k}", modes.basis()[k]),
            found(
                "{:.7}: of another search, smearing or basis of a degenerate level",
                found.unwrap_or_default()[k]
            )
        ),
        None => refuse!(
            FieldMismatch,
            format!("{}: {name}: {basis}", path.display()),
            expected("that of {count} modes"),
            found("none, or that of another number")
        ),
    }
}

/// Refuses a file that has modes, or elementals of modes, other than these.
///
/// # Errors
/// `FieldMismatch`; errors of [`hdf5::has`].
fn check_modes(path: &Path, modes: &Modes) -> Result<()> {
    if hdf5::number(path, "values", "plaquette_spatial")?.is_none() {
        return Ok(());
    }
    hdf5::has(path, "values", &compared(modes.about()), &near)?;
    check_basis(path, "values", BASIS, modes)
}

/// The attributes of `about` that must be equal in the file and in this run: all but those in `APART`.
fn compared(about: Attributes) -> Attributes {
    about.into_iter().filter(|(name, _)| !APART.contains(name)).collect()
}

/// Refuses elementals of mesons in a file whose left modes are not these.
///
/// # Errors
/// `FieldMismatch`; errors of [`hdf5::has`].
pub fn check_left(path: &Path, left: &Modes) -> Result<()> {
    check_basis(path, "mesons", LEFT_BASIS, left)
}

/// Attributes that identify perambulators by their modes and operator, with the links of this, without the source
/// time; spins are in `basis`. The attribute `tol` is |b - M x| / |b| of the solves.
///
/// # Errors
/// Errors of [`links_mark`].
pub fn about_quarks(modes: &Modes, solver: &dyn Inverse, basis: GammaBasis) -> Result<Attributes> {
    let mut about = modes.about();
    let text = |word: &str| Attribute::Text(word.into());
    about.extend(PERAMBULATORS.attributes());
    about.extend([("spin_basis", text(spins(basis))), ("tol", Attribute::Number(solver.tol()))]);
    let mark = links_mark(solver.links())?;
    let numbers = mark.numbers.into_iter().chain(mark.projection.into_iter().flatten());
    let names = [
        "quark_plaquette_spatial",
        "quark_plaquette_temporal",
        "quark_link_trace",
        "quark_links_projection_re",
        "quark_links_projection_im",
    ];
    about.extend(names.into_iter().zip(numbers.map(Attribute::Number)));
    let boundary = solver.links().geometry().boundary();
    about.push(("boundary_time", text(boundary.kind().word())));
    about.extend(solver.about());
    Ok(about)
}

/// Attributes as a JSON object.
pub fn json(attributes: &Attributes) -> String {
    let one = |value: &Attribute| match value {
        Attribute::Text(text) => json!(text),
        Attribute::Texts(all) => json!(all),
        Attribute::Number(number) => json!(number),
        Attribute::Numbers(all) => json!(all),
        Attribute::Integer(number) => json!(number),
        Attribute::Integers(all) => json!(all),
        Attribute::Triples(all) => json!(all),
    };
    let members = attributes.iter().map(|(name, value)| (name.to_string(), one(value)));
    Value::Object(members.collect()).to_string()
}

fn dataset(
    (name, kind): (&str, Kind),
    extents: &[usize],
    numbers: Numbers,
    mut about: Attributes,
) -> Dataset {
    kind.replace(&mut about);
    Dataset { name: name.into(), extents: extents.to_vec(), numbers, attributes: about }
}

/// The elementals to compute: steps of the meson operators, momenta, and the steps on the three quarks of baryons;
/// `None`: no baryons.
#[derive(Clone, Debug, Default)]
pub struct ElementalsOf {
    pub operators: Vec<Vec<Step>>,
    pub momenta: Vec<[i32; 3]>,
    pub baryons: Option<[Vec<Step>; 3]>,
}

/// The texts of operators, lists of steps: words of the steps with blanks between, `1` for an operator without steps.
fn words(operators: &[Vec<Step>]) -> Vec<String> {
    let word = |steps: &Vec<Step>| match steps.is_empty() {
        true => "1".to_string(),
        false => steps.iter().map(|step| step.word()).collect::<Vec<_>>().join(" "),
    };
    operators.iter().map(word).collect()
}

impl ElementalsOf {
    /// The attribute by which meson elementals in a file are recognised as the same.
    pub fn known_by(&self) -> Attributes {
        let momenta: Vec<String> =
            self.momenta.iter().map(|p| p.map(|n| n.to_string()).join(",")).collect();
        let baryons = match &self.baryons {
            None => String::new(),
            Some(steps) if steps.iter().all(Vec::is_empty) => ", baryons".into(),
            Some(steps) => format!(", baryons {}", words(steps).join(", ")),
        };
        let operators = words(&self.operators).join(", ");
        let text = format!("{operators} at {}{baryons}", momenta.join(" "));
        vec![("elementals", Attribute::Text(text))]
    }

    /// Computes eigenvalues, residuals and elementals as datasets `values`, `residuals`, `mesons` and `baryons`;
    /// `left` are the modes u of [`meson_elementals`].
    ///
    /// # Errors
    /// Errors of elementals.
    pub fn datasets(&self, left: &Modes, modes: &Modes) -> Result<Vec<Dataset>> {
        let (n, times) = (modes.count(), modes.times());
        let about = || modes.about();
        let momenta = Attribute::Triples(self.momenta.iter().map(|p| p.map(i64::from)).collect());
        let reals = |all: &[f64]| Numbers::Real(all.to_vec());
        let (values, residuals) = (reals(modes.values()), reals(modes.residuals()));
        let mut all = vec![
            dataset(("values", kinds::VALUES), &[times, n], values, about()),
            dataset(("residuals", kinds::RESIDUALS), &[times, n], residuals, about()),
        ];
        if !self.operators.is_empty() {
            let mut about_mesons = about();
            about_mesons.extend([
                ("left_momentum", Attribute::Numbers(left.momentum().to_vec())),
                (LEFT_BASIS, Attribute::Numbers(left.basis().to_vec())),
                ("left_modes_basis_error", Attribute::Numbers(left.basis_errors())),
                ("momenta", momenta.clone()),
                ("operators", Attribute::Texts(words(&self.operators))),
            ]);
            about_mesons.extend(self.known_by());
            all.push(dataset(
                ("mesons", kinds::MESONS),
                &[self.momenta.len(), self.operators.len(), times, left.count(), n],
                Numbers::Complex(meson_elementals(left, modes, &self.operators, &self.momenta)?),
                about_mesons,
            ));
        }
        let Some(steps) = self.baryons.as_ref().filter(|_| n >= 3) else { return Ok(all) };
        let mut about_baryons = about();
        about_baryons.push(("momenta", momenta));
        let before = [self.momenta.len(), times];
        let (kind, last) = match steps.iter().all(Vec::is_empty) {
            true => (kinds::BARYONS, vec![triples(n)]),
            false => {
                about_baryons.push(("operators", Attribute::Texts(words(steps))));
                (kinds::BARYONS_WITH_STEPS, vec![n; 3])
            }
        };
        all.push(dataset(
            ("baryons", kind),
            &[&before[..], &last].concat(),
            Numbers::Complex(baryon_elementals(modes, steps, &self.momenta)?),
            about_baryons,
        ));
        Ok(all)
    }
}

/// Attributes of a file whose datasets belong to these modes.
pub fn about_file(modes: &Modes) -> Attributes {
    let extents = modes.links().geometry().global_extents();
    vec![
        ("plaq_version", Attribute::Text(env!("CARGO_PKG_VERSION").into())),
        ("lattice", Attribute::Integers(extents.map(|n| n as i64).to_vec())),
    ]
}

/// Writes datasets that belong to modes; the first rank writes, and all ranks call it.
///
/// # Errors
/// `FileWrite`: also a file that exists and is to be refused; `FieldMismatch`: a file that has other modes is to be
/// added to; errors of [`hdf5::write`] and [`hdf5::add`].
pub fn write(
    path: &Path,
    modes: &Modes,
    data: &[Dataset],
    about: Attributes,
    if_exists: IfExists,
) -> Result<()> {
    let comm = modes.links().geometry().comm();
    let write = || {
        if_exists.check(path)?;
        if path.exists() && if_exists == IfExists::Append {
            check_modes(path, modes)?;
            return hdf5::add(path, data);
        }
        let mut all = about_file(modes);
        all.extend(about);
        hdf5::write(path, data, &all)
    };
    comm.agree(if comm.rank() == 0 { write() } else { Ok(()) })
}

/// Turns both spins of numbers [t][spin'][spin][..] from the DeGrand-Rossi basis, `each`: the numbers of two spins.
fn change_basis(tau: &mut [Complex64], each: usize, basis: GammaBasis) {
    if basis == GammaBasis::DeGrandRossi {
        return;
    }
    // psi_basis = T^T psi_DeGrandRossi, so that tau_basis = T^T tau T.
    let t = basis.to_degrand_rossi();
    for slice in tau.chunks_mut(16 * each) {
        for k in 0..each {
            let old: [Complex64; 16] = std::array::from_fn(|at| slice[at * each + k]);
            for at in 0..16 {
                let (to, from) = (at / 4, at % 4);
                slice[at * each + k] =
                    (0..16).map(|s| old[s] * t[s / 4 * 4 + to] * t[s % 4 * 4 + from]).sum();
            }
        }
    }
}

/// Whether a file has a dataset of these modes with these attributes of [`about_quarks`] or [`about_noise`], solved to
/// at least as small a tolerance.
///
/// # Errors
/// `FieldMismatch`: it is of other modes, links or quarks, or was solved to a larger tolerance; errors of
/// [`hdf5::has`].
pub fn is_there(path: &Path, name: &str, modes: &Modes, about: &Attributes) -> Result<bool> {
    let same = compared(about.clone());
    if !path.exists() || !hdf5::has(path, name, &same, &near)? {
        return Ok(false);
    }
    check_basis(path, name, BASIS, modes)?;
    let Some((_, Attribute::Number(tol))) = about.iter().find(|(name, _)| *name == "tol") else {
        return Ok(true);
    };
    let found = hdf5::number(path, name, "tol")?;
    if found.is_none_or(|found| found > tol * (1.0 + 1e-9)) {
        bail!(
            FieldMismatch,
            "{}: {name}: tol: expected at most {tol:e}, found {}: solved to another tolerance",
            path.display(),
            found.map_or("none".into(), |found| format!("{found:e}"))
        );
    }
    Ok(true)
}

/// Attributes of noise sources and of solutions for them, which identify both.
///
/// # Errors
/// Errors of [`about_quarks`].
pub fn about_noise(
    source: &NoiseInModes,
    modes: &Modes,
    solver: &dyn Inverse,
) -> Result<Attributes> {
    let mut about = about_quarks(modes, solver, GammaBasis::DeGrandRossi)?;
    kinds::SOLUTIONS.replace(&mut about);
    about.push(("noise", Attribute::Text(source.words())));
    Ok(about)
}

/// Datasets `noise/sources` and `noise/solutions` of noise in the space of modes, with attributes of [`about_noise`].
///
/// # Errors
/// Errors of [`NoiseInModes::coefficients`].
pub fn noise_datasets(
    source: &NoiseInModes,
    modes: &Modes,
    solutions: Vec<Complex64>,
    about: &Attributes,
) -> Result<Vec<Dataset>> {
    let extents = vec![source.columns(modes)?, modes.times(), 4, modes.count()];
    let one = |name: (&str, Kind), numbers: Vec<Complex64>| {
        dataset(name, &extents, Numbers::Complex(numbers), about.clone())
    };
    let sources = source.coefficients(modes)?;
    Ok(vec![
        one(("noise/sources", kinds::NOISE), sources),
        one((SOLUTIONS, kinds::SOLUTIONS), solutions),
    ])
}

/// Name of the dataset of solutions for noise.
pub const SOLUTIONS: &str = "noise/solutions";

/// Perambulators of one operator in a group of an HDF5 file, with one dataset for each source time: `t0`, `t8` and so
/// on.
pub struct PerambulatorFile<'a> {
    path: PathBuf,
    group: String,
    modes: &'a Modes,
    solver: &'a dyn Inverse,
    basis: GammaBasis,
    about: Attributes,
    /// Extents of the axes before those of perambulators.
    leading: Vec<usize>,
}

impl<'a> PerambulatorFile<'a> {
    /// Names the group in a file; neither need exist yet. Spins in the file are in `basis`.
    ///
    /// # Errors
    /// `InvalidArgument`: a name that a group cannot have; `FieldMismatch`: modes of other links than the solver's.
    pub fn new(
        (path, group): (&Path, &str),
        modes: &'a Modes,
        solver: &'a dyn Inverse,
        basis: GammaBasis,
    ) -> Result<Self> {
        let bad = group.split('/').any(|part| part.is_empty() || part == "." || part == "..");
        if bad || group.contains('\0') {
            refuse!(
                InvalidArgument,
                "group",
                expected("names with / between"),
                found("\"{group}\"")
            );
        }
        check_solver(solver, modes, 4 * modes.count(), 0)?;
        let about = about_quarks(modes, solver, basis)?;
        let (path, group, leading) = (path.into(), group.into(), vec![]);
        Ok(PerambulatorFile { path, group, modes, solver, basis, about, leading })
    }

    /// A copy of this file's description for generalised perambulators with these sink times and insertions.
    pub fn with_insertions(mut self, sink_times: &[usize], insertions: &[Insertion]) -> Self {
        let text = |text: String| Attribute::Text(text);
        let insertions: Vec<String> = insertions.iter().map(Insertion::words).collect();
        self.leading = vec![sink_times.len(), insertions.len()];
        kinds::GENERALISED.replace(&mut self.about);
        self.about.extend([
            ("sink_times", Attribute::Integers(sink_times.iter().map(|&t| t as i64).collect())),
            ("insertions", text(insertions.join("; "))),
        ]);
        self
    }

    fn name_of(&self, time: usize) -> String {
        format!("{}/t{time}", self.group)
    }

    /// Source times that the file does not have yet; all ranks get the same.
    ///
    /// # Errors
    /// `FieldMismatch`: the file has other modes, or the group has perambulators of other modes, links or quarks, or
    /// these source times were solved to a larger tolerance; `FileFormat`, `Unsupported`.
    pub fn missing(&self, times: &[usize]) -> Result<Vec<usize>> {
        let comm = self.modes.links().geometry().comm();
        let mut there = vec![0.0; times.len()];
        let mut look = || -> Result<()> {
            hdf5::check()?;
            if !self.path.exists() {
                return Ok(());
            }
            hdf5::check_group(&self.path, &self.group)?;
            check_modes(&self.path, self.modes)?;
            for time in 0..self.modes.times() {
                let name = self.name_of(time);
                let asked = times.iter().position(|t| *t == time);
                let about = match asked {
                    Some(_) => self.about.clone(),
                    None => self.about.iter().filter(|(name, _)| *name != "tol").cloned().collect(),
                };
                let found = is_there(&self.path, &name, self.modes, &about)?;
                if let Some(k) = asked {
                    there[k] = f64::from(found);
                }
            }
            Ok(())
        };
        comm.agree(if comm.rank() == 0 { look() } else { Ok(()) })?;
        comm.sum(&mut there)?;
        Ok(times.iter().zip(&there).filter(|(_, there)| **there == 0.0).map(|(t, _)| *t).collect())
    }

    /// Adds the perambulators of a source time.
    ///
    /// # Errors
    /// Errors of [`write`].
    pub fn add(&self, time: usize, mut tau: Vec<Complex64>) -> Result<()> {
        let (n, extent) = (self.modes.count(), self.modes.times());
        change_basis(&mut tau, n * n, self.basis);
        let mut attributes = self.about.clone();
        attributes.push(("source_time", Attribute::Integer(time as i64)));
        let data = Dataset {
            name: self.name_of(time),
            extents: [&self.leading[..], &[extent, 4, 4, n, n]].concat(),
            numbers: Numbers::Complex(tau),
            attributes,
        };
        write(&self.path, self.modes, &[data], vec![], IfExists::Append)
    }

    /// Solves for the source times that the file lacks and adds each as soon as it is complete. A solve that has not
    /// converged is not written and ends the work. Returns the number of source times in the file, and the report of
    /// the solves if there were any.
    ///
    /// # Errors
    /// Errors of [`PerambulatorFile::missing`], [`perambulators`] and [`write`].
    pub fn complete(
        &self,
        times: &[usize],
        at_once: usize,
        monitor: &mut Monitor,
    ) -> Result<(usize, Option<Projected>)> {
        let missing = self.missing(times)?;
        let mut have = times.len() - missing.len();
        let mut total: Option<Projected> = None;
        for time in missing {
            let mut found = vec![];
            let mut keep = |_: usize, tau: Vec<Complex64>| {
                found = tau;
                Ok(())
            };
            let done =
                perambulators(self.solver, self.modes, &[time], at_once, monitor, &mut keep)?;
            let complete = done.whole && done.report.solver.converged;
            if complete {
                self.add(time, found)?;
                have += 1;
            }
            total = Some(match total {
                Some(before) => {
                    Projected { report: before.report.join(done.report), whole: done.whole }
                }
                None => done,
            });
            if !complete {
                break;
            }
        }
        Ok((have, total))
    }
}
