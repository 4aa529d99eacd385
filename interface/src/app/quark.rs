//! Quark operators and their solvers as options name them: all that the program knows of these two.

use std::ops::{ControlFlow, Deref};
use std::path::Path;
use std::sync::Arc;

use serde_json::{json, Value};

use super::options::{opt, param, refuse, Kind, Need, Opt, Options, COUNT};
use super::output::{exponent, report_json};
use super::session::Progress;
use super::{interrupted, Failure, Run};
use crate::comm::Comm;
use crate::compose::multigrid::{LevelParams as Level, Multigrid, MultigridParams as Mg, Update};
use crate::compose::{DiracSolver, SolveReport, SolveTotals, SolverSettings, MULTIGRID_DIRECTIONS};
use crate::error::Result;
use crate::fields::{CloverForm, GaugeField, Geometry, Precision, Recon};
use crate::io::hdf5::{Attribute, Attributes};
use crate::operators::{ActionParams, Boundary, DiracParams, QuarkAction, QuarkParams, TermValue};
use crate::ops::null_space::{load_multigrid, save_multigrid};
use crate::ops::propagator::{precompile, run_through, COLUMNS};
use crate::ops::terms;
use crate::params::{same, Choice, Key};
use crate::solvers::{no_monitor, SolverKind, StoppedBy};

/// The operator of a quark, except for its mass, as options give it.
#[derive(Clone, Debug)]
pub struct Action(QuarkParams);

impl Deref for Action {
    type Target = QuarkParams;
    fn deref(&self) -> &QuarkParams {
        &self.0
    }
}

/// The option that sets a row of the table of quarks, [`QuarkParams`].
pub const fn of_quark(row: &str) -> Opt {
    let row = QuarkParams::row(row);
    let option = param::<QuarkParams>(row.option, row);
    match same(row.name, "boundary") {
        true => option.old("time-bc"),
        false => option,
    }
}

/// Number of the options of [`terms`].
const TERMS: usize = DiracParams::TERMS.len();

/// Options of a quark except its mass and the rows `without`: its normalisation and the terms of its operator, in the
/// order of the table. The links of the clover term are those of the hop, as there is one gauge field.
const fn terms_but<const N: usize>(
    without: &[&str],
    needs: &'static [&'static [Need]],
) -> [Opt; N] {
    let mut options = [of_quark("normalisation").needs(needs); N];
    let (mut i, mut found) = (0, 1);
    while i < DiracParams::TERMS.len() {
        let name = DiracParams::TERMS[i];
        if !same(name, "clover_links") && !has(without, name) {
            options[found] = of_quark(name).needs(needs);
            found += 1;
        }
        i += 1;
    }
    assert!(found == N);
    options
}

/// Whether `name` is one of `names`, for use in constants.
const fn has(names: &[&str], name: &str) -> bool {
    let mut i = 0;
    while i < names.len() && !same(names[i], name) {
        i += 1;
    }
    i < names.len()
}

/// Options of a quark except its mass; `needs` are the conditions under which they have an effect.
pub const fn terms(needs: &'static [&'static [Need]]) -> [Opt; TERMS] {
    terms_but(&[], needs)
}

/// Options of a quark except its mass and twisted mass, without conditions.
pub const fn terms_without_mu() -> [Opt; TERMS - 1] {
    terms_but(&["mu"], &[])
}

/// Options of the mass of a quark, for subcommands that take one quark; `help` explains --kappa.
pub const fn mass_options(help: &'static str) -> [Opt; 2] {
    [opt("kappa", Kind::Number, "K", "", help), mass_option(Kind::Number, "M")]
}

/// The option --mass with this kind of value, in place of --kappa.
pub const fn mass_option(kind: Kind, value: &'static str) -> Opt {
    let help =
        "bare mass m in place of it: kappa = 1 / (2 m + 2 sum of hop), 1 / (2 m + 8) if isotropic";
    opt("mass", kind, value, "", help).needs(&[&[Need::Without("kappa")]])
}

/// The boundary conditions of quarks that the options give.
pub fn boundary(options: &Options) -> Run<Boundary> {
    Ok(options.params::<QuarkParams>()?.boundary)
}

/// Refuses a kappa out of range.
pub fn check_kappa(name: &str, kappa: f64) -> Run<()> {
    if kappa > 0.0 && kappa <= DiracParams::LARGEST_KAPPA {
        return Ok(());
    }
    let max = DiracParams::LARGEST_KAPPA;
    Err(Failure::usage(format!("--{name}: {kappa}; expected a positive number, to {max}")))
}

impl Action {
    pub fn of(options: &Options) -> Run<Action> {
        Ok(Action(options.params()?))
    }

    /// The operator's parameters, with this hopping parameter.
    fn with_kappa(&self, kappa: f64) -> Result<DiracParams> {
        QuarkParams { kappa: Some(kappa), ..self.0.clone() }.physics("")
    }

    /// The bare mass that belongs to a hopping parameter.
    pub fn mass(&self, kappa: f64) -> f64 {
        self.with_kappa(kappa).expect("kappa is set").mass
    }

    /// The hopping parameter that belongs to a bare mass.
    pub fn kappa_of(&self, mass: f64) -> Run<f64> {
        let params = QuarkParams { kappa: None, mass: Some(mass), ..self.0.clone() }.physics("")?;
        match params.kappa() {
            kappa if kappa > 0.0 && kappa.is_finite() => Ok(kappa),
            _ => {
                let least = -self.hop.iter().sum::<f64>();
                Err(refuse("mass", &mass.to_string(), format!("a number above {least}")))
            }
        }
    }

    /// The hopping parameter that the options --kappa and --mass give, if one of them is given.
    pub fn kappa(&self, options: &Options) -> Run<Option<f64>> {
        let kappa = match (options.given("mass"), options.given("kappa")) {
            (true, _) => self.kappa_of(options.number("mass"))?,
            (_, true) => options.number("kappa"),
            _ => return Ok(None),
        };
        check_kappa("kappa", kappa)?;
        Ok(Some(kappa))
    }

    /// The hopping parameter that the options --kappa and --mass give, of which one is required.
    pub fn required_kappa(&self, options: &Options) -> Run<f64> {
        let missing = || Failure::usage("--kappa: missing; or give --mass");
        self.kappa(options)?.ok_or_else(missing)
    }

    /// The terms of the operator that have options, with their values.
    fn terms(&self) -> Vec<(&'static str, TermValue)> {
        let all = self.0.terms().into_iter();
        all.filter(|(name, _)| *name != "clover_links").collect()
    }

    /// Whether a term has no value of its own but that of another term.
    fn follows(&self, name: &str) -> bool {
        match name {
            "csw_t" => self.csw_t.is_none_or(|c| c == self.csw),
            "cf_prime" => self.cf_prime.is_none(),
            _ => false,
        }
    }

    /// Text with the terms that differ from their defaults, except the clover term and the boundary, which reports name
    /// first; empty if there are none.
    pub fn others(&self) -> String {
        let usual = QuarkParams::default().terms();
        let named = |name| ["csw", "clover", "boundary"].contains(&name) || self.follows(name);
        let others =
            self.terms().into_iter().filter(|term| !named(term.0) && !usual.contains(term));
        others.map(|(name, value)| format!(", {name} {value}")).collect()
    }

    /// The member "action" of reports.
    pub fn json(&self, kappa: f64) -> Value {
        let mut members = json!({
            "kappa": kappa, "mass": self.mass(kappa),
            "normalisation": self.normalisation_name(),
        });
        for (name, value) in self.terms() {
            members[name] = match value {
                TermValue::Number(number) => json!(number),
                TermValue::Numbers(numbers) => json!(numbers),
                TermValue::Word(word) => json!(word),
            };
        }
        // The boundary as it was given, not the phases of the operator.
        members["boundary"] = json!(self.boundary.0);
        members
    }

    /// The members of [`Action::json`] that are given, not those that follow from others.
    pub fn settings(&self, kappa: f64) -> Value {
        let Value::Object(mut members) = self.json(kappa) else { unreachable!("an object") };
        members.retain(|name, _| name != "mass" && !self.follows(name));
        Value::Object(members)
    }

    /// The operator's parameters except its mass, as attributes of HDF5.
    pub fn attributes(&self) -> Attributes {
        let mut attributes = terms::attributes(self.terms());
        attributes.extend([
            ("boundary", Attribute::Text(self.boundary.to_string())),
            ("normalisation", Attribute::Text(self.normalisation_name().into())),
        ]);
        attributes
    }

    /// Words behind the coefficient of the clover term that say its form; empty for the traditional one.
    pub fn clover_name(&self) -> &'static str {
        match self.clover {
            CloverForm::Traditional => "",
            CloverForm::Exponential => " exponential",
        }
    }

    pub fn normalisation_name(&self) -> &'static str {
        self.normalisation.word()
    }

    /// Makes the operator on links, and begins to compile the kernels that it and its solves most likely launch.
    pub fn operator(&self, links: &Arc<GaugeField>, kappa: f64) -> Result<Arc<dyn QuarkAction>> {
        let physics = self.with_kappa(kappa)?;
        let on = |links: &Arc<GaugeField>| {
            ActionParams::from(physics).create_in(links, (Precision::F64, Recon::R12))
        };
        let (geometry, device) = (links.geometry(), links.device());
        let key = Key::of(("operator", geometry.extents(), geometry.boundary().kind(), physics));
        let mut made = None;
        geometry.precompile(device, None, false, key, |device| {
            made = Some(on(&Arc::new(links.like_on(device)?))?);
            Ok(())
        });
        if let Some(op) = made {
            let params = SolverSettings::default().params(&op, self.normalisation)?;
            let key = Key::of(("likely propagator", op.key(), self.normalisation));
            let dry = op.shape().device;
            let run = || run_through(op.clone(), &params, COLUMNS);
            geometry.precompile(device, Some(&dry), true, key, |_| run());
        }
        on(links)
    }
}

/// The method of solving that `--solver` names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    Automatic,
    Krylov(SolverKind),
    /// Multigrid in one of the forms of GCR.
    Multigrid(SolverKind),
}

/// Names of methods. CG needs the normal equations: its name stands for CGNR.
pub const SOLVERS: &[&str] = &[
    "auto",
    "cg",
    "cgne",
    "cgnr",
    "bicgstab",
    "gcr",
    "block-gcr",
    "mr",
    "multigrid=mg",
    "block-multigrid",
];
/// Names of the solvers that need no hierarchy of multigrid.
const KRYLOV_SOLVERS: &[&str] =
    &["auto", "cg", "cgne", "cgnr", "bicgstab", "gcr", "block-gcr", "mr"];
/// Method and settings with which propagators of a quark are solved for.
#[derive(Clone, Debug)]
pub struct Solving {
    pub method: Method,
    pub settings: SolverSettings,
    /// Directions that GCR keeps; 0: 4 with multigrid, else 10.
    pub krylov: usize,
}

const fn solver(name: &'static str, row: &str) -> Opt {
    param::<SolverSettings>(name, SolverSettings::row(row)).needs(&[NO_LOAD])
}

const MULTIGRID: &[Need] = &[Need::Is("solver", &["multigrid", "block-multigrid"])];
/// Conditions of options of multigrid in subcommands whose option --error takes multigrid, too.
const MULTIGRID_OR_ERROR: &[Need] =
    &[Need::Is("solver", &["multigrid", "block-multigrid"]), Need::With("error")];
/// Conditions of options that exclude multigrid.
const KRYLOV: &[Need] = &[Need::Is("solver", KRYLOV_SOLVERS)];
/// Conditions of the option for sums of an iteration: solvers that have a choice.
const WITH_SUMS: &[Need] = &[Need::Is("solver", &["auto", "cg", "cgne", "cgnr", "bicgstab"])];
/// Solvers that keep earlier directions, whose number an option sets.
const KEEP: &[&str] = &["gcr", "block-gcr", "multigrid", "block-multigrid"];
const NO_LOAD: &[Need] = &[Need::Without("load")];

/// Options of solvers; `words`: names of those that the subcommand takes.
#[rustfmt::skip]
const fn solver_options(
    words: &'static [&'static str],
    help: &'static str,
    keep: Opt,
) -> [Opt; 10] {
    [
        opt("solver", Kind::Word(words), "S", "auto", help)
            .old("algorithm").sets(SolverSettings::row("solver")).needs(&[NO_LOAD]),
        solver("tol", "tol").needs(&[]),
        solver("tol-hq", "tol_hq"),
        solver("tol-site", "tol_site"),
        solver("distance-alpha", "distance_alpha").needs(&[NO_LOAD, KRYLOV]),
        solver("precision", "sloppy_precision"),
        solver("max-iterations", "max_iterations"),
        solver("sums", "sums").needs(&[NO_LOAD, WITH_SUMS]),
        solver("columns", "columns").old("rhs"),
        keep,
    ]
}

const fn nkrylov(help: &'static str) -> Opt {
    opt("nkrylov", Kind::Whole(0, 1 << 20), "N", "0", help).old("krylov")
}

/// Options of solvers where multigrid is one of them, [`multigrid_options`]. `error`: the subcommand has an option
/// --error that takes multigrid, too.
pub const fn solver_options_with_multigrid(error: bool) -> [Opt; 10] {
    const KEEPING: &[Need] = &[Need::Is("solver", KEEP)];
    const KEEPING_OR_ERROR: &[Need] = &[Need::Is("solver", KEEP), Need::With("error")];
    solver_options(
        SOLVERS,
        "auto: BiCGStab, and multigrid as soon as it pays; cg, cgne, cgnr, bicgstab, gcr, mr or multigrid; \
         block-gcr, block-multigrid: the columns share one space",
        nkrylov("directions that GCR keeps (0: 4 with multigrid, else 10)")
            .needs(if error { &[NO_LOAD, KEEPING_OR_ERROR] } else { &[NO_LOAD, KEEPING] }),
    )
}

/// Options of solvers of subcommands that take no hierarchy of multigrid.
pub const KRYLOV_OPTIONS: &[Opt] = &solver_options(
    KRYLOV_SOLVERS,
    "auto: BiCGStab, and multigrid as soon as it pays; cg, cgne, cgnr, bicgstab, gcr or mr; block-gcr: the \
     columns share one space",
    nkrylov("directions that GCR keeps (0: 10)")
        .needs(&[&[Need::Is("solver", &["gcr", "block-gcr"])]]),
);

/// Options of multigrid (docs/multigrid.md). `error`: the subcommand has an option --error that takes multigrid, too.
#[rustfmt::skip]
pub const fn multigrid_options(error: bool) -> [Opt; 24] {
    const NO_FILE: &[Need] = &[Need::Without("load-multigrid")];
    const COARSEST: &[Need] = &[Need::Is("mg-coarsest", &["gcr", "ca-gcr", "bicgstab"])];
    let [used, set_up, coarsest]: [&[&[Need]]; 3] = match error {
        false => [&[NO_LOAD, MULTIGRID], &[NO_LOAD, MULTIGRID, NO_FILE], &[NO_LOAD, MULTIGRID, COARSEST]],
        true => [
            &[NO_LOAD, MULTIGRID_OR_ERROR],
            &[NO_LOAD, MULTIGRID_OR_ERROR, NO_FILE],
            &[NO_LOAD, MULTIGRID_OR_ERROR, COARSEST],
        ],
    };
    [
        opt("save-multigrid", Kind::Output(&[]), "FILE", "", "writes the null vectors of multigrid; FILE.strange has those of the other quark").needs(used),
        opt("load-multigrid", Kind::Input, "FILE", "", "null vectors that --save-multigrid wrote, in place of a set-up from random ones").needs(used),
        param::<Mg>("mg-levels", Mg::row("levels")).needs(used),
        param::<Mg>("mg-blocks", Level::row("block")).old("mg-aggregate").needs(used),
        param::<Mg>("mg-vectors", Level::row("vectors")).zero().needs(used),
        param::<Mg>("mg-cycle", Mg::row("cycle")).needs(used),
        param::<Mg>("mg-deep-cycle", Mg::row("deep_cycle")).needs(used),
        param::<Mg>("mg-smoother", Mg::row("smoother")).needs(used),
        param::<Mg>("mg-coarse-smoother", Mg::row("coarse_smoother")).needs(used),
        param::<Mg>("mg-post", Level::row("post")).needs(used),
        opt("mg-coarse-post", COUNT, "N", "0", "the same on the next levels (0: as on the finest)").needs(used),
        param::<Mg>("mg-precision", Mg::row("smoother_precision")).needs(used),
        param::<Mg>("mg-links", Mg::row("link_precision")).needs(used),
        param::<Mg>("mg-coarsest", Mg::row("coarsest")).needs(used),
        param::<Mg>("mg-modes", Mg::row("coarsest_modes")).needs(used),
        param::<Mg>("mg-tol", Mg::row("tol")).needs(used),
        param::<Mg>("mg-iterations", Mg::row("iterations")).needs(used),
        param::<Mg>("mg-gather", Mg::row("gather")).needs(used),
        param::<Mg>("mg-coarsest-tol", Mg::row("coarsest_tol")).needs(coarsest),
        param::<Mg>("mg-setup", Mg::row("setup_iterations")).needs(set_up),
        param::<Mg>("mg-setup-solver", Mg::row("setup_solver")).needs(set_up),
        param::<Mg>("mg-setup-columns", Mg::row("setup_columns")).zero().needs(set_up),
        param::<Mg>("mg-setup-vectors", Mg::row("setup_vectors")).needs(set_up),
        param::<Mg>("mg-refinements", Mg::row("refinements")).needs(set_up),
    ]
}

impl Solving {
    pub fn of(options: &Options) -> Run<Solving> {
        let method = match options.text("solver") {
            "auto" => Method::Automatic,
            "cg" => Method::Krylov(SolverKind::Cgnr),
            "multigrid" => Method::Multigrid(SolverKind::Gcr),
            "block-multigrid" => Method::Multigrid(SolverKind::BlockGcr),
            word => Method::Krylov(SolverKind::from_word(word, "--solver")?),
        };
        options.check("tol-hq", options.number("tol-hq") >= 0.0, "0 or more")?;
        let krylov = options.whole("nkrylov") as usize;
        Ok(Solving { method, settings: options.params()?, krylov })
    }

    /// The solver asked for.
    pub fn kind(&self) -> SolverKind {
        match self.method {
            Method::Automatic => SolverKind::Auto,
            Method::Krylov(kind) | Method::Multigrid(kind) => kind,
        }
    }

    /// Whether multigrid was asked for.
    pub fn by_multigrid(&self) -> bool {
        matches!(self.method, Method::Multigrid(_))
    }

    /// These settings with distance weights that start at time slice `time`. `None` if the solver has no such weights
    /// or has them at this slice already.
    pub fn at(&self, solver: &DiracSolver, time: usize) -> Option<Solving> {
        solver.params().distance.filter(|distance| distance.t0 != time)?;
        let settings = SolverSettings { distance_t0: time, ..self.settings.clone() };
        Some(Solving { settings, ..self.clone() })
    }

    /// Makes a solver for an operator. `expected_columns` is the number of right-hand sides that will be solved for;
    /// `multigrid` is the hierarchy for it.
    pub fn solver(
        &self,
        op: &Arc<dyn QuarkAction>,
        action: &Action,
        expected_columns: usize,
        multigrid: Option<&Arc<Multigrid>>,
    ) -> Result<DiracSolver> {
        let own = if self.by_multigrid() { MULTIGRID_DIRECTIONS } else { 10 };
        let nkrylov = if self.krylov > 0 { self.krylov } else { own };
        let solver = self.kind();
        let settings =
            SolverSettings { solver, nkrylov, expected_columns, ..self.settings.clone() };
        let params = settings.params(op, action.normalisation)?;
        precompile(&**op, &params, settings.columns);
        let solver = DiracSolver::new(op.clone(), params)?;
        match self.method {
            Method::Krylov(_) => Ok(solver),
            _ => solver.with_multigrid(multigrid.cloned()),
        }
    }
}

/// Estimate of the seconds that a solve or search will still take: its residual fell from 1 to `best` in `seconds` and
/// must fall to `goal`; a constant rate is assumed. `None` if there is no goal or the residual has hardly fallen.
fn left(seconds: f64, best: f64, goal: f64) -> Option<f64> {
    let known = goal > 0.0 && best < 0.5;
    known.then(|| seconds * (goal.ln() / best.ln() - 1.0).max(0.0))
}

/// A monitor of solves that shows progress and the estimated time to the residual `goal` (0: no estimate). It ends
/// solves on all ranks after a signal.
pub fn monitor<'a>(
    comm: &'a Comm,
    progress: &'a mut Progress,
    what: &'a str,
    goal: f64,
) -> impl FnMut(&crate::solvers::Progress) -> ControlFlow<()> + 'a {
    let (mut best, mut before) = (f64::INFINITY, 0);
    move |p| {
        let residual = p.residual.iter().fold(0.0, |m: f64, r| m.max(*r));
        // The number of the iteration falls if a search begins anew.
        best = if p.iteration < before { residual } else { best.min(residual) };
        before = p.iteration;
        progress.now_and_then(|| {
            let (seconds, residual) = (p.seconds, exponent(residual, 2));
            let left = left(seconds, best, goal).map(|s| format!(", about {s:.0} s left"));
            let left = left.unwrap_or_default();
            format!("{what}iteration {}, residual {residual}, {seconds:.1} s{left}", p.iteration)
        });
        match comm.stop(interrupted()) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// Totals of all solves of a job.
#[derive(Clone, Debug)]
pub struct Solved {
    pub count: usize,
    pub totals: SolveTotals,
    /// The largest residual of each column.
    pub residuals: Vec<f64>,
}

impl Deref for Solved {
    type Target = SolveTotals;
    fn deref(&self) -> &SolveTotals {
        &self.totals
    }
}

impl Solved {
    pub fn nothing(solver: SolverKind) -> Solved {
        let totals = SolveTotals::nothing(solver);
        Solved { count: 0, totals, residuals: vec![0.0; COLUMNS] }
    }

    pub fn add(&mut self, report: &SolveReport, asked: SolverKind) {
        self.count += 1;
        self.totals = self.totals.clone().and(report.totals(asked));
        for (all, r) in self.residuals.iter_mut().zip(&report.solver.residual) {
            *all = all.max(*r);
        }
    }

    /// Words for the reason why solves ended without convergence; empty if they converged.
    pub fn outcome(&self) -> &'static str {
        match self.stopped_by {
            _ if self.converged => "",
            _ if self.stopped => ", INTERRUPTED",
            StoppedBy::Standstill => {
                ", NOT CONVERGED: recomputed residuals no longer fell; --precision double or another \
                 --solver may help, below 1e-14 nothing does"
            }
            _ => ", NOT CONVERGED: --max-iterations ended it",
        }
    }

    pub fn json(&self, name: &str, solving: &Solving) -> Value {
        let settings = &solving.settings;
        let mut all = report_json(&self.totals);
        all["name"] = json!(name);
        all["tol"] = json!(settings.tol);
        all["distance_alpha"] = json!(settings.distance_alpha);
        all["residuals"] = json!(self.residuals);
        all
    }
}

/// Parameters of a hierarchy on a lattice, from the options.
pub fn multigrid_params(options: &Options, geometry: &Geometry) -> Run<Mg> {
    let mut params: Mg = options.params()?;
    if let post @ 1.. = options.whole("mg-coarse-post") {
        params.level[1..].iter_mut().for_each(|level| level.post = post as usize);
    }
    let (mut extents, mut global) = (geometry.extents(), geometry.global_extents());
    let given =
        params.level.iter().map(|level| level.block).take_while(|b| b.iter().all(|n| *n > 0));
    for (l, block) in given.enumerate() {
        if let Some(mu) = (0..4).find(|&mu| !extents[mu].is_multiple_of(block[mu])) {
            let name = options.spelt("mg-blocks");
            return Err(Failure::refused(format!(
                "--{name}: {} in direction {} does not divide the {} sites of level {}",
                block[mu],
                ["x", "y", "z", "t"][mu],
                extents[mu],
                l + 1
            )));
        }
        for mu in 0..4 {
            (extents[mu], global[mu]) = (extents[mu] / block[mu], global[mu] / block[mu]);
        }
        extents = if params.gathers() { global } else { extents };
    }
    params.check()?;
    Ok(params)
}

/// Makes a hierarchy, or updates that of the quark before, whose null vectors are kept unless they are bad.
pub fn multigrid(
    op: &Arc<dyn QuarkAction>,
    options: &Options,
    before: &mut Option<Arc<Multigrid>>,
    file: impl Fn(&str) -> String,
) -> Run<Arc<Multigrid>> {
    if let Some(multigrid) = before {
        multigrid.update(&**op, Update::Keep)?;
        return Ok(multigrid.clone());
    }
    let params = multigrid_params(options, op.links().geometry())?;
    let made = Arc::new(match options.get("load-multigrid") {
        Some(name) => load_multigrid(Path::new(&file(name)), &**op, &params, &mut no_monitor)?,
        None => Multigrid::new(&**op, &params)?,
    });
    if let Some(name) = options.get("save-multigrid") {
        save_multigrid(Path::new(&file(name)), &made)?;
    }
    *before = Some(made.clone());
    Ok(made)
}

/// Describes a hierarchy for reports.
pub fn multigrid_json(multigrid: &Multigrid) -> Value {
    let report = multigrid.report();
    let mut whole = report_json(&report.whole());
    whole["levels"] = report.levels.iter().map(report_json).collect();
    whole
}
