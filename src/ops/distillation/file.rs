//! Modes, elementals and perambulators in HDF5 files, the same for C, Python and the program: names of datasets,
//! their axes, and attributes that identify links, operators and settings.

use std::path::{Path, PathBuf};

use num_complex::Complex64;
use serde_json::{json, Value};

use super::elementals::{baryon_elementals, meson_elementals, triples, Step};
use super::if_exists::IfExists;
use super::modes::{Modes, BASIS, NEAR_BASIS, TOL};
use super::noise::NoiseInModes;
use super::perambulator::{check_solver, perambulators, Insertion, Projected};
use crate::bail;
use crate::compose::DiracSolver;
use crate::error::Result;
use crate::fields::GammaBasis;
use crate::io::hdf5::{self, Attribute, Attributes, Dataset, Numbers};
use crate::operators::{Boundary, Wilson};
use crate::ops::links_mark::{links_mark, NEAR, NEAR_PROJECTION};
use crate::ops::terms;
use crate::params::Choice as _;
use crate::refuse;
use crate::solvers::Monitor;

/// Default name of the group of perambulators.
pub const GROUP: &str = "perambulators";

/// The kind of datasets of elementals.
const ELEMENTALS: &str = "elementals of modes";

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
        BASIS => NEAR_BASIS,
        _ if name.contains("links_projection") => NEAR_PROJECTION[0],
        _ if name.contains("plaquette") || name.ends_with("link_trace") => NEAR[0],
        _ => 1e-9,
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
    let about: Attributes = modes.about().into_iter().filter(|(name, _)| *name != TOL).collect();
    hdf5::has(path, "values", &about, &near).map(|_| ())
}

/// Attributes that identify perambulators by their modes and operator, with the links of this, without the source
/// time; spins are in `basis`. The attribute `tol` is |b - M x| / |b| of the solves.
///
/// # Errors
/// Errors of [`links_mark`].
pub fn about_quarks(modes: &Modes, solver: &DiracSolver, basis: GammaBasis) -> Result<Attributes> {
    let mut about = modes.about();
    let text = |word: &str| Attribute::Text(word.into());
    about.extend([
        ("kind", text("perambulator")),
        ("indices", text("sink time, sink spin, source spin, sink mode, source mode")),
        ("spin_basis", text(spins(basis))),
        ("normalisation", text(solver.params().normalisation.word())),
        ("tol", Attribute::Number(solver.params().solver.stop.residual)),
    ]);
    let mark = links_mark(solver.op().links())?;
    let numbers = mark.numbers.into_iter().chain(mark.projection.into_iter().flatten());
    let names = [
        "quark_plaquette_spatial",
        "quark_plaquette_temporal",
        "quark_link_trace",
        "quark_links_projection_re",
        "quark_links_projection_im",
    ];
    about.extend(names.into_iter().zip(numbers.map(Attribute::Number)));
    let boundary = solver.op().links().geometry().boundary();
    about.push(("boundary_time", text(boundary.kind().word())));
    let Some(wilson) = solver.op().as_any().downcast_ref::<Wilson>() else {
        about.push(("operator", text(&solver.op().describe())));
        return Ok(about);
    };
    let p = wilson.params();
    // Quarks that vanish at boundaries in time have no phase there.
    let [x, y, z, t] = Boundary::of_phases(p.boundary).0;
    about.extend([
        ("boundary", Attribute::Number(if boundary.is_periodic() { t } else { 0.0 })),
        ("boundary_space", Attribute::Numbers(vec![x, y, z])),
        ("operator", text(if p.csw == 0.0 && p.csw_t == 0.0 { "Wilson" } else { "Clover" })),
        ("kappa", Attribute::Number(p.kappa())),
        ("mass", Attribute::Number(p.mass)),
    ]);
    about.extend(terms::attributes(p.terms()));
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
    (name, indices): (&str, &str),
    extents: &[usize],
    numbers: Numbers,
    mut about: Attributes,
) -> Dataset {
    about.push(("indices", Attribute::Text(indices.into())));
    Dataset { name: name.into(), extents: extents.to_vec(), numbers, attributes: about }
}

/// The elementals to compute: derivatives in the meson operators, momenta, and whether to include baryons.
#[derive(Clone, Debug, Default)]
pub struct ElementalsOf {
    pub operators: Vec<Vec<Step>>,
    pub momenta: Vec<[i32; 3]>,
    pub baryons: bool,
}

impl ElementalsOf {
    fn words(&self) -> Vec<String> {
        let word = |steps: &Vec<Step>| match steps.is_empty() {
            true => "1".to_string(),
            false => steps.iter().map(|step| step.word()).collect::<Vec<_>>().join(" "),
        };
        self.operators.iter().map(word).collect()
    }

    /// The attribute by which meson elementals in a file are recognised as the same.
    pub fn known_by(&self) -> Attributes {
        let momenta: Vec<String> =
            self.momenta.iter().map(|p| p.map(|n| n.to_string()).join(",")).collect();
        let baryons = if self.baryons { ", baryons" } else { "" };
        let text = format!("{} at {}{baryons}", self.words().join(", "), momenta.join(" "));
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
        let mut all = vec![
            dataset(("values", "t, mode"), &[times, n], reals(modes.values()), about()),
            dataset(("residuals", "t, mode"), &[times, n], reals(modes.residuals()), about()),
        ];
        if !self.operators.is_empty() {
            let mut about_mesons = about();
            about_mesons.extend([
                ("left_momentum", Attribute::Numbers(left.momentum().to_vec())),
                ("left_modes_basis", Attribute::Numbers(left.basis().to_vec())),
                ("momenta", momenta.clone()),
                ("operators", Attribute::Texts(self.words())),
                ("kind", Attribute::Text(ELEMENTALS.into())),
            ]);
            about_mesons.extend(self.known_by());
            all.push(dataset(
                ("mesons", "momentum, operator, t, left mode, right mode"),
                &[self.momenta.len(), self.operators.len(), times, left.count(), n],
                Numbers::Complex(meson_elementals(left, modes, &self.operators, &self.momenta)?),
                about_mesons,
            ));
        }
        if self.baryons && n >= 3 {
            let mut about_baryons = about();
            about_baryons.push(("momenta", momenta));
            about_baryons.push(("kind", Attribute::Text(ELEMENTALS.into())));
            all.push(dataset(
                ("baryons", "momentum, t, triple of modes a < b < c with c fastest"),
                &[self.momenta.len(), times, triples(n)],
                Numbers::Complex(baryon_elementals(modes, &Default::default(), &self.momenta)?),
                about_baryons,
            ));
        }
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
fn turn(tau: &mut [Complex64], each: usize, basis: GammaBasis) {
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

/// Whether a file has a dataset with these attributes of [`about_quarks`] or [`about_noise`], solved to at least as
/// small a tolerance.
///
/// # Errors
/// `FieldMismatch`: it is of other modes, links or quarks, or was solved to a larger tolerance; errors of
/// [`hdf5::has`].
pub fn is_there(path: &Path, name: &str, about: &Attributes) -> Result<bool> {
    let compared = |name: &str| name != "tol" && name != TOL;
    let same = about.iter().filter(|(name, _)| compared(name)).cloned().collect();
    if !path.exists() || !hdf5::has(path, name, &same, &near)? {
        return Ok(false);
    }
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
    solver: &DiracSolver,
) -> Result<Attributes> {
    let mut about = about_quarks(modes, solver, GammaBasis::DeGrandRossi)?;
    about.retain(|(name, _)| !["kind", "indices"].contains(name));
    about.extend([
        ("kind", Attribute::Text("noise and solutions".into())),
        ("indices", Attribute::Text("column, t, spin, mode".into())),
        ("noise", Attribute::Text(source.words())),
    ]);
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
    let one = |name: &str, numbers: Vec<Complex64>| Dataset {
        name: name.into(),
        extents: extents.clone(),
        numbers: Numbers::Complex(numbers),
        attributes: about.clone(),
    };
    Ok(vec![one("noise/sources", source.coefficients(modes)?), one(SOLUTIONS, solutions)])
}

/// Name of the dataset of solutions for noise.
pub const SOLUTIONS: &str = "noise/solutions";

/// Perambulators of one operator in a group of an HDF5 file, with one dataset for each source time: `t0`, `t8` and so
/// on.
pub struct PerambulatorFile<'a> {
    path: PathBuf,
    group: String,
    modes: &'a Modes,
    solver: &'a DiracSolver,
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
        solver: &'a DiracSolver,
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

    /// The same of generalised perambulators with these sink times and insertions.
    pub fn with_insertions(mut self, sink_times: &[usize], insertions: &[Insertion]) -> Self {
        let text = |text: String| Attribute::Text(text);
        let insertions: Vec<String> = insertions.iter().map(Insertion::words).collect();
        self.leading = vec![sink_times.len(), insertions.len()];
        self.about.retain(|(name, _)| !["kind", "indices"].contains(name));
        let indices = "sink time, insertion, t, sink spin, source spin, sink mode, source mode";
        self.about.extend([
            ("kind", text("generalised perambulators of modes".into())),
            ("indices", text(indices.into())),
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
                let found = is_there(&self.path, &name, &about)?;
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
        turn(&mut tau, n * n, self.basis);
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
                    Projected { report: before.report.beside(done.report), whole: done.whole }
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
