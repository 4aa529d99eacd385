//! Quark operators and their solvers as options name them: all that the program knows of these two.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use num_complex::Complex64;
use serde_json::{json, Value};

use super::options::{numbers, opt, refuse, Kind, Need, Opt, Options, COUNT};
use super::output::exponent;
use super::session::Progress;
use super::{interrupted, Failure, Run};
use crate::comm::Comm;
use crate::compose::multigrid::{Multigrid, MultigridParams, Update};
use crate::compose::{DiracSolver, Normalisation, SolveParams, SolveReport};
use crate::error::Result;
use crate::fields::{GaugeField, Geometry, Precision, Recon};
use crate::operators::{DiracParams, Wilson};
use crate::ops::null_space::{load_multigrid, save_multigrid};
use crate::ops::propagator::{foresee, run_through, COLUMNS};
use crate::params::Choice;
use crate::solvers::{SolverKind, SolverParams, Stop, StoppedBy};

/// The operator of a quark, without its mass.
#[derive(Clone, Copy, Debug)]
pub struct Action {
    pub csw: f64,
    /// Phases of the boundary in units of pi.
    pub boundary: [f64; 4],
    pub normalisation: Normalisation,
}

pub const NORMALISATIONS: &[&str] = &["kappa", "mass"];
pub const BOUNDARY: Opt = opt(
    "boundary",
    Kind::Text,
    "B",
    "antiperiodic",
    "of quarks: periodic or antiperiodic in time, or four phases x,y,z,t in units of pi",
)
.old("time-bc");

/// Phases in units of pi.
pub fn boundary(options: &Options) -> Run<[f64; 4]> {
    match options.text("boundary") {
        "periodic" => Ok([0.0; 4]),
        "antiperiodic" => Ok([0.0, 0.0, 0.0, 1.0]),
        text => {
            let found = numbers::<f64, 4>(text).filter(|b| b.iter().all(|b| b.abs() <= 2.0));
            let expected =
                "periodic, antiperiodic, or four numbers from -2 to 2 with commas between";
            found.ok_or_else(|| refuse(options.spelt("boundary"), text, expected))
        }
    }
}

/// A boundary as reports name it.
pub fn boundary_name(boundary: [f64; 4]) -> String {
    match boundary {
        [0.0, 0.0, 0.0, 0.0] => "periodic".into(),
        [0.0, 0.0, 0.0, 1.0] => "antiperiodic".into(),
        other => other.map(|b| b.to_string()).join(","),
    }
}

/// exp(i pi angle).
pub fn phase(angle: f64) -> Complex64 {
    match angle.rem_euclid(2.0) {
        0.0 => Complex64::ONE,
        1.0 => -Complex64::ONE,
        a => Complex64::from_polar(1.0, std::f64::consts::PI * a),
    }
}

/// Refuses a kappa that no quark has.
pub fn check_kappa(name: &str, kappa: f64) -> Run<()> {
    if kappa > 0.0 && kappa <= DiracParams::LARGEST_KAPPA {
        return Ok(());
    }
    let most = DiracParams::LARGEST_KAPPA;
    Err(Failure::usage(format!("--{name}: {kappa}; expected a positive number, to {most}")))
}

pub fn mass_of(kappa: f64) -> f64 {
    0.5 / kappa - 4.0
}

impl Action {
    pub fn of(options: &Options) -> Run<Action> {
        let kappa = options.text("normalisation") == "kappa";
        let normalisation = if kappa { Normalisation::Kappa } else { Normalisation::Mass };
        Ok(Action { csw: options.number("csw"), boundary: boundary(options)?, normalisation })
    }

    pub fn normalisation_name(&self) -> &'static str {
        NORMALISATIONS[usize::from(self.normalisation == Normalisation::Mass)]
    }

    /// The operator on links, and the kernels that it and solves with it most likely launch.
    pub fn operator(&self, links: &Arc<GaugeField>, kappa: f64) -> Result<Arc<Wilson>> {
        let physics = DiracParams {
            csw_s: self.csw,
            csw_t: self.csw,
            boundary: self.boundary.map(phase),
            ..Default::default()
        }
        .with_kappa(kappa);
        let on = |links: Arc<GaugeField>| -> Result<Arc<Wilson>> {
            Ok(Arc::new(Wilson::new(links, physics)?.to(Precision::F64, Recon::R12)?))
        };
        let (geometry, device) = (links.geometry(), links.device());
        let name = || format!("operator {:?} {physics:?}", geometry.extents());
        let mut made = None;
        geometry.foresee(device, false, name, |device| {
            made = Some(on(Arc::new(links.like_on(device)?))?);
            Ok(())
        });
        if let Some(op) = made {
            let sloppy = Some((Precision::F32, Recon::R12));
            let params =
                SolveParams { sloppy, normalisation: self.normalisation, ..Default::default() };
            let name = || format!("likely propagator {} {:?}", op.describe(), self.normalisation);
            geometry.foresee(device, true, name, |_| run_through(op.clone(), &params, COLUMNS));
        }
        on(links.clone())
    }
}

/// What solves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    Krylov(SolverKind),
    Multigrid,
}

/// Names of methods. CG needs the normal equations: its name stands for CGNR.
pub const SOLVERS: &[&str] = &["cg", "cgne", "cgnr", "bicgstab", "gcr", "mr", "multigrid=mg"];
pub const PRECISIONS: &[&str] = &["double", "single", "half"];

pub fn precision(name: &str) -> Precision {
    match name {
        "double" => Precision::F64,
        "half" => Precision::F16,
        _ => Precision::F32,
    }
}

/// How a quark is solved for.
#[derive(Clone, Copy, Debug)]
pub struct Solving {
    pub method: Method,
    pub tol: f64,
    pub tol_hq: f64,
    pub precision: Precision,
    pub max_iterations: usize,
    pub rhs: usize,
    /// Directions that GCR keeps; 0: 4 with multigrid, else 10.
    pub krylov: usize,
}

const MULTIGRID: &[Need] = &[Need::Is("solver", &["multigrid"]), Need::With("error")];
const NO_LOAD: &[Need] = &[Need::Without("load")];

/// Options of solvers.
pub const SOLVER_OPTIONS: &[Opt] = &[
    opt("solver", Kind::Word(SOLVERS), "S", "cg", "cg, cgne, cgnr, bicgstab, gcr, mr or multigrid").needs(&[NO_LOAD]),
    opt("tol", Kind::Number, "R", "1e-10", "largest residual |b - M x| / |b|, of loaded propagators too"),
    opt("tol-hq", Kind::Number, "R", "0", "largest heavy-quark residual; 0: not asked for").needs(&[NO_LOAD]),
    opt("precision", Kind::Word(PRECISIONS), "P", "single", "precision of the inner solver, double, single or half; the result always meets --tol in double").needs(&[NO_LOAD]),
    opt("max-iterations", Kind::Whole(1, 1 << 30), "N", "10000", "largest number of iterations of a solve").needs(&[NO_LOAD]),
    opt("rhs", Kind::Whole(1, COLUMNS as i64), "N", "12", "right-hand sides at a time, 1 to 12; fewer take less memory").needs(&[NO_LOAD]),
    opt("krylov", Kind::Whole(0, 1 << 20), "N", "0", "directions that GCR keeps (0: 4 with multigrid, else 10)")
        .needs(&[NO_LOAD, &[Need::Is("solver", &["gcr", "multigrid"]), Need::With("error")]]),
];

const CYCLES: &[&str] = &["v", "w", "k"];
const SMOOTHERS: &[&str] = &["mr", "gcr", "ca-gcr", "richardson", "schwarz", "red-black"];
const NO_FILE: &[Need] = &[Need::Without("load-multigrid")];
const OF_MULTIGRID: &[&[Need]] = &[NO_LOAD, MULTIGRID];
const OF_SETUP: &[&[Need]] = &[NO_LOAD, MULTIGRID, NO_FILE];

/// Options of multigrid, docs/multigrid.md.
pub const MULTIGRID_OPTIONS: &[Opt] = &[
    opt("save-multigrid", Kind::Output(""), "FILE", "", "writes the null vectors of multigrid; FILE.strange has those of the other quark").needs(OF_MULTIGRID),
    opt("load-multigrid", Kind::Text, "FILE", "", "null vectors that --save-multigrid wrote, in place of a set-up from random ones").needs(OF_MULTIGRID),
    opt("mg-levels", COUNT, "N", "0", "levels with the finest and the coarsest, 2 to 5 (0: automatic)").needs(OF_MULTIGRID),
    opt("mg-blocks", Kind::Text, "B[:B...]", "", "x,y,z,t: sites of a level that become one of the next (automatic)").old("mg-aggregate").needs(OF_MULTIGRID),
    opt("mg-vectors", COUNT, "N", "0", "null vectors of a chirality (0: 24)").needs(OF_MULTIGRID),
    opt("mg-cycle", Kind::Word(CYCLES), "C", "k", "cycle of the second level: v, w or k").needs(OF_MULTIGRID),
    opt("mg-deep-cycle", Kind::Word(&["same", "v", "w", "k"]), "C", "same", "cycle of the third level and deeper ones; same: that of the second").needs(OF_MULTIGRID),
    opt("mg-smoother", Kind::Word(SMOOTHERS), "S", "ca-gcr", "smoother of the finest level: mr, gcr, ca-gcr, richardson, schwarz (additive) or red-black (Schwarz, multiplicative)").needs(OF_MULTIGRID),
    opt("mg-coarse-smoother", Kind::Word(SMOOTHERS), "S", "ca-gcr", "smoother of the next levels").needs(OF_MULTIGRID),
    opt("mg-post", COUNT, "N", "10", "steps of the smoother after a correction").needs(OF_MULTIGRID),
    opt("mg-coarse-post", COUNT, "N", "0", "the same on the next levels (0: as on the finest)").needs(OF_MULTIGRID),
    opt("mg-precision", Kind::Word(&["auto", "single", "half"]), "P", "auto", "precision of the smoother of the finest level; auto: half on GPUs with ca-gcr, else single").needs(OF_MULTIGRID),
    opt("mg-links", Kind::Word(&["auto", "single", "half", "quarter"]), "P", "auto", "precision of the links of coarse operators; auto: quarter on GPUs, else half").needs(OF_MULTIGRID),
    opt("mg-coarsest", Kind::Word(&["gcr", "ca-gcr", "bicgstab", "direct"]), "S", "ca-gcr", "solver of the coarsest level: gcr, ca-gcr, bicgstab or direct").needs(OF_MULTIGRID),
    opt("mg-modes", Kind::Whole(-1, 256), "N", "-1", "low modes of the coarsest level that are solved for exactly (-1: automatic)").needs(OF_MULTIGRID),
    opt("mg-tol", Kind::Number, "R", "0.25", "relative residual at which solves on coarse levels end").needs(OF_MULTIGRID),
    opt("mg-iterations", COUNT, "N", "8", "largest number of their iterations").needs(OF_MULTIGRID),
    opt("mg-coarsest-tol", Kind::Number, "R", "0.25", "the residual on the coarsest level")
        .needs(&[NO_LOAD, MULTIGRID, &[Need::Is("mg-coarsest", &["gcr", "ca-gcr", "bicgstab"])]]),
    opt("mg-setup", COUNT, "N", "20", "iterations that make null vectors of random ones").needs(OF_SETUP),
    opt("mg-setup-solver", Kind::Word(&["bicgstab", "cg", "gcr"]), "S", "bicgstab", "solver that makes them").needs(OF_SETUP),
    opt("mg-setup-columns", COUNT, "N", "8", "null vectors that are iterated at a time").needs(OF_SETUP),
    opt("mg-refinements", COUNT, "N", "3", "times that the cycle is applied to them").needs(OF_SETUP),
];

impl Solving {
    pub fn of(options: &Options) -> Run<Solving> {
        let method = match options.text("solver") {
            "cg" | "cgnr" => Method::Krylov(SolverKind::Cgnr),
            "cgne" => Method::Krylov(SolverKind::Cgne),
            "bicgstab" => Method::Krylov(SolverKind::BiCgStab),
            "gcr" => Method::Krylov(SolverKind::Gcr),
            "mr" => Method::Krylov(SolverKind::Mr),
            _ => Method::Multigrid,
        };
        options.check("tol-hq", options.number("tol-hq") >= 0.0, "0 or more")?;
        Ok(Solving {
            method,
            tol: options.number("tol"),
            tol_hq: options.number("tol-hq"),
            precision: precision(options.text("precision")),
            max_iterations: options.whole("max-iterations") as usize,
            rhs: options.whole("rhs") as usize,
            krylov: options.whole("krylov") as usize,
        })
    }

    pub fn precision_name(&self) -> &'static str {
        match self.precision {
            Precision::F64 => "double",
            Precision::F32 => "single",
            Precision::F16 => "half",
        }
    }

    /// A solver for an operator.
    pub fn solver(
        &self,
        op: &Arc<Wilson>,
        action: &Action,
        multigrid: Option<&Arc<Multigrid>>,
    ) -> Result<DiracSolver> {
        let (kind, own) = match self.method {
            Method::Krylov(kind) => (kind, 10),
            Method::Multigrid => (SolverKind::Gcr, 4),
        };
        let params = SolveParams {
            solver: SolverParams {
                kind,
                nkrylov: if self.krylov > 0 { self.krylov } else { own },
                stop: Stop {
                    residual: self.tol,
                    heavy_quark: self.tol_hq,
                    iterations: self.max_iterations,
                    ..Default::default()
                },
                ..Default::default()
            },
            sloppy: Some((self.precision, op.gauge().recon())),
            normalisation: action.normalisation,
            ..Default::default()
        };
        foresee(&**op, &params, self.rhs);
        let solver = DiracSolver::new(op.clone(), params)?;
        match self.method {
            Method::Multigrid => solver.with_multigrid(multigrid.cloned()),
            Method::Krylov(_) => Ok(solver),
        }
    }
}

/// A monitor of solves that shows progress and ends them after a signal, on all ranks.
pub fn monitor<'a>(
    comm: &'a Comm,
    progress: &'a mut Progress,
    what: &'a str,
) -> impl FnMut(&crate::solvers::Progress) -> ControlFlow<()> + 'a {
    move |p| {
        let residual = p.residual.iter().fold(0.0, |m: f64, r| m.max(*r));
        progress.now_and_then(|| {
            let residual = exponent(residual, 2);
            format!("{what}iteration {}, residual {residual}, {:.1} s", p.iteration, p.seconds)
        });
        match comm.stop(interrupted()) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// What all solves of a job did: the slowest of them, sums of time and work.
#[derive(Clone, Debug)]
pub struct Solved {
    pub count: usize,
    pub converged: bool,
    pub stopped: bool,
    pub stopped_by: Option<StoppedBy>,
    pub iterations: usize,
    pub residual: f64,
    pub residual_hq: f64,
    /// The largest of each column.
    pub residuals: Vec<f64>,
    pub reliable_updates: usize,
    pub restarts: usize,
    pub seconds: f64,
    pub flops: f64,
    pub bytes: f64,
    pub memory_peak: u64,
    pub kind: SolverKind,
}

pub fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m, &v| v.max(m))
}

impl Solved {
    pub fn nothing() -> Solved {
        Solved {
            count: 0,
            converged: true,
            stopped: false,
            stopped_by: None,
            iterations: 0,
            residual: 0.0,
            residual_hq: 0.0,
            residuals: vec![0.0; COLUMNS],
            reliable_updates: 0,
            restarts: 0,
            seconds: 0.0,
            flops: 0.0,
            bytes: 0.0,
            memory_peak: 0,
            kind: SolverKind::Cgnr,
        }
    }

    pub fn add(&mut self, report: &SolveReport, asked: SolverKind) {
        let s = &report.solver;
        self.count += 1;
        self.converged &= s.converged;
        self.stopped |= s.stopped;
        if !s.converged {
            self.stopped_by = self.stopped_by.max(s.stopped_by);
            if s.standstill {
                self.stopped_by = self.stopped_by.max(Some(StoppedBy::Standstill));
            }
        }
        self.iterations = self.iterations.max(s.iterations);
        self.residual = self.residual.max(largest(&s.residual));
        self.residual_hq = self.residual_hq.max(largest(&s.residual_hq));
        for (all, r) in self.residuals.iter_mut().zip(&s.residual) {
            *all = all.max(*r);
        }
        self.reliable_updates += s.reliable_updates;
        self.restarts += s.restarts;
        self.seconds += s.seconds;
        self.flops += s.flops;
        self.bytes += s.bytes;
        self.memory_peak = self.memory_peak.max(report.memory_peak);
        self.kind = s.fallback.unwrap_or(asked);
    }

    /// What ended solves that did not converge.
    pub fn outcome(&self) -> &'static str {
        match self.stopped_by {
            _ if self.converged => "",
            _ if self.stopped => ", INTERRUPTED",
            Some(StoppedBy::Standstill) => {
                ", NOT CONVERGED: recomputed residuals no longer fell; --precision double or another \
                 --solver may help, below 1e-14 nothing does"
            }
            _ => ", NOT CONVERGED: --max-iterations ended it",
        }
    }

    pub fn json(&self, name: &str, solving: &Solving) -> Value {
        json!({
            "name": name, "precision": solving.precision_name(), "rhs": solving.rhs,
            "tol": solving.tol, "converged": self.converged, "stopped": self.stopped,
            "iterations": self.iterations, "reliable_updates": self.reliable_updates,
            "restarts": self.restarts, "residual": self.residual, "residual_hq": self.residual_hq,
            "residuals": self.residuals, "seconds": self.seconds, "flops": self.flops,
            "bytes": self.bytes, "memory_peak": self.memory_peak,
        })
    }
}

/// Blocks x,y,z,t of levels from the finest on.
fn blocks(options: &Options) -> Run<Vec<[usize; 4]>> {
    let Some(text) = options.get("mg-blocks") else { return Ok(vec![]) };
    let one = |item: &str| numbers::<usize, 4>(item).filter(|b| b.iter().all(|n| *n > 0));
    let all: Option<Vec<[usize; 4]>> = text.split(':').map(one).collect();
    let name = options.spelt("mg-blocks");
    all.filter(|all| all.len() <= 4)
        .ok_or_else(|| refuse(name, text, "x,y,z,t of up to 4 levels, with colons between"))
}

/// What a hierarchy is made from, as options say, on a lattice.
pub fn multigrid_params(options: &Options, geometry: &Geometry) -> Run<MultigridParams> {
    let mut params = MultigridParams::default();
    let levels = options.whole("mg-levels") as usize;
    options.check("mg-levels", levels == 0 || (2..=5).contains(&levels), "0, or 2 to 5")?;
    params.levels = Some(levels).filter(|levels| *levels > 0);
    let (mut extents, mut global) = (geometry.extents(), geometry.global_extents());
    for (l, block) in blocks(options)?.into_iter().enumerate() {
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
        extents = if params.gather.is_some() { global } else { extents };
        params.level[l].block = block;
    }
    let (vectors, post) = (options.whole("mg-vectors") as usize, options.whole("mg-post") as usize);
    let coarse_post = options.whole("mg-coarse-post") as usize;
    for (l, level) in params.level.iter_mut().enumerate() {
        level.vectors = if vectors == 0 { level.vectors } else { vectors };
        level.post = if l > 0 && coarse_post > 0 { coarse_post } else { post };
    }
    params.cycle = word(options, "mg-cycle")?;
    params.deep_cycle = unless(options, "mg-deep-cycle", "same")?;
    params.smoother = word(options, "mg-smoother")?;
    params.coarse_smoother = word(options, "mg-coarse-smoother")?;
    params.coarsest = word(options, "mg-coarsest")?;
    params.coarsest_modes = usize::try_from(options.whole("mg-modes")).ok();
    params.smoother_precision = match options.text("mg-precision") {
        "auto" => None,
        name => Some(precision(name)),
    };
    params.link_precision = unless(options, "mg-links", "auto")?;
    params.tol = options.number("mg-tol");
    params.iterations = options.whole("mg-iterations") as usize;
    params.coarsest_tol = options.number("mg-coarsest-tol");
    params.setup_iterations = options.whole("mg-setup") as usize;
    params.setup_solver = word(options, "mg-setup-solver")?;
    params.setup_columns = match options.whole("mg-setup-columns") {
        0 => params.setup_columns,
        columns => columns as usize,
    };
    params.refinements = options.whole("mg-refinements") as usize;
    params.check()?;
    Ok(params)
}

/// The value that an option's word names.
fn word<T: Choice>(options: &Options, name: &str) -> Run<T> {
    Ok(T::from_word(options.text(name), name)?)
}

/// The same, or none where the word is `none`.
fn unless<T: Choice>(options: &Options, name: &str, none: &str) -> Run<Option<T>> {
    match options.text(name) {
        text if text == none => Ok(None),
        _ => word(options, name).map(Some),
    }
}

/// Makes a hierarchy or lets that of the quark before follow, whose null vectors are kept unless they are bad.
pub fn multigrid(
    op: &Arc<Wilson>,
    options: &Options,
    before: &mut Option<Arc<Multigrid>>,
    file: impl Fn(&str) -> String,
) -> Run<Arc<Multigrid>> {
    if let Some(multigrid) = before {
        multigrid.update(&**op, Update::Keep)?;
        return Ok(multigrid.clone());
    }
    let params = multigrid_params(options, op.gauge().geometry())?;
    let made = Arc::new(match options.get("load-multigrid") {
        Some(name) => load_multigrid(Path::new(&file(name)), &**op, &params)?,
        None => Multigrid::new(&**op, &params)?,
    });
    if let Some(name) = options.get("save-multigrid") {
        save_multigrid(Path::new(&file(name)), &made)?;
    }
    *before = Some(made.clone());
    Ok(made)
}

/// A hierarchy for reports.
pub fn multigrid_json(multigrid: &Multigrid) -> Value {
    let r = multigrid.report();
    let refresh = match r.update {
        Some(Update::Keep) => "keep",
        Some(Update::Refine(_)) => "refine",
        Some(Update::Anew) => "anew",
        None => "none",
    };
    let levels: Vec<Value> = r
        .levels
        .iter()
        .map(|l| {
            json!({
                "lattice": l.extents, "block": l.block, "vectors": l.vectors, "ranks": l.ranks,
                "bytes": l.bytes, "iterations": l.iterations, "seconds": l.seconds,
                "setup_seconds": l.setup_seconds, "reduction": l.reduction,
            })
        })
        .collect();
    json!({
        "refresh": refresh, "setup_seconds": r.setup_seconds, "reduction": r.reduction,
        "bytes": r.levels.iter().map(|l| l.bytes).sum::<u64>(), "levels": levels,
    })
}
