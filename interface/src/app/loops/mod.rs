//! `plaq loops`: quark loops of configurations as sums of parts, with errors from noise.

mod report;

use std::path::Path;
use std::sync::Arc;

use num_complex::Complex64;

use super::files;
use super::options::{
    items, momenta, momenta_option, opt, param, refuse, Command, Kind, Need, Opt, Options, COUNT,
};
use super::quark::{self, check_kappa, monitor, multigrid, multigrid_json, Action, Solving};
use super::session::{self, overwrite, Progress, Session};
use super::{interrupted, output, Failure, Run};
use crate::compose::multigrid::Multigrid;
use crate::compose::{DiracSolver, Normalisation};
use crate::io::hdf5;
use crate::linop::Normal;
use crate::operators::QuarkAction;
use crate::ops::gamma::NAMES;
use crate::ops::source::Dilute;
use crate::ops::structure::lines::Factor;
use crate::ops::structure::loop_sums::{
    LoopGoals, LoopQuarks, LoopSettings, LoopSums, LoopSumsParams, LoopsReport,
};
use crate::ops::structure::loops::{LoopsParams, OneEnd};
use crate::ops::structure::low_space::LowSpace;
use crate::solvers::{eigen_set, EigenParams};
use report::ConfigurationLoops;

const OF_MULTIGRID: &[&[Need]] = &[&[Need::Is("space", &["multigrid"])]];

#[rustfmt::skip]
const OPTIONS: &[Opt] = &[
    opt("one-end", Kind::Flag, "B", "no", "yes: loops of D(mu)^-1 - D(-mu)^-1 by the one-end trick").needs(&[&[Need::With("mu")]]),
    opt("minus-kappa", Kind::Number, "K", "", "loops of D^-1 - D'^-1, D' with this hopping parameter").needs(&[&[Need::Without("one-end")], &[Need::Without("mu")]]),
    opt("lines", Kind::Text, "LINE[:LINE...]", "local", "lines that carry the quark, steps with commas between: local, or +x, -x (a link) and dx (a derivative) of x, y, z, t, e.g. local:+z,+z:dt"),
    momenta_option("0,0,0", "momenta nx,ny,nz of exp(-i p x); the table shows the first"),
    opt("space", Kind::Word(&["none", "multigrid", "eigen"]), "S", "none", "low modes: none, the coarse levels of multigrid, or eigenvectors of D^dagger D"),
    opt("space-levels", COUNT, "N", "0", "coarse levels of multigrid (0: all that live on all ranks)").needs(OF_MULTIGRID),
    opt("space-tol", Kind::Number, "R", "1e-6", "relative residual of the solves on coarse levels").needs(OF_MULTIGRID),
    opt("modes", Kind::Whole(1, 4096), "N", "20", "eigenvectors, the lowest ones").needs(&[&[Need::Is("space", &["eigen"])]]),
    param::<LoopSumsParams>("traces", LoopSumsParams::row("traces")),
    param::<LoopSumsParams>("hopping", LoopSumsParams::row("hopping")),
    param::<LoopsParams>("noise", LoopsParams::row("noise")),
    param::<LoopsParams>("seed", LoopsParams::row("seed")),
    param::<LoopsParams>("dilute", LoopsParams::row("dilute")),
    param::<LoopsParams>("time-parts", LoopsParams::row("time_parts")).needs(&[&[Need::With("dilute")]]),
    param::<LoopsParams>("probes", LoopsParams::row("probes")),
    param::<LoopGoals>("error", LoopGoals::row("error")),
    opt("gamma", Kind::Word(&NAMES), "NAME", "1", "Gamma whose error counts, by its name"),
    param::<LoopGoals>("seconds", LoopGoals::row("seconds")),
    param::<LoopGoals>("vectors", LoopGoals::row("vectors")),
];

const OUTPUT: &[Opt] = &[
    opt("state", Kind::Output(&[]), "FILE", "", "sums so far, written every minute and at the end; of several configurations FILE.NAME of each"),
    opt("continue", Kind::Flag, "B", "no", "yes: goes on from the sums in --state")
        .needs(&[&[Need::With("state")]]),
    opt("json", Kind::Output(&[]), "FILE", "", "everything as JSON"),
    opt(
        "hdf5",
        Kind::Output(&[]),
        "FILE",
        "",
        "loops and errors of every configuration in HDF5, by libhdf5 (PLAQ_HDF5); Python's plaq.read takes them",
    ),
    overwrite(&[&[
        Need::With("json"),
        Need::With("hdf5"),
        Need::With("state"),
        Need::With("save-multigrid"),
    ]]),
];

pub const COMMAND: Command = Command {
    name: "loops",
    usage: &["FILE... --kappa K --error E|--seconds S|--vectors N [options]"],
    about: &[
        "quark loops with low modes, to an error or a cost",
        "Quark loops sum_x exp(-i p x) tr[Gamma line D^-1](t) of configurations by noise, with low modes and the",
        "hopping expansion taken apart, without the sign of the fermion loop (docs/structure.md). Goals are those of",
        "each configuration.",
    ],
    tables: &[files::MANY, &quark::mass_options("hopping parameter of the quark"), OPTIONS, &quark::terms(&[]), &quark::solver_options_with_multigrid(false), &quark::multigrid_options(false), OUTPUT, session::OPTIONS],
    input: Some("gauge"),
    example: "loops b6.0.00001 --kappa 0.12 --csw 1.2 --solver mg --space multigrid --seconds 600",
    run,
};

/// Seconds between writing two states to the file.
const STATE_SECONDS: f64 = 60.0;

/// The work of `plaq loops`, from its options.
struct Plan {
    files: Vec<String>,
    kappa: f64,
    /// Hopping parameter of the second quark, for loops of a difference; None: no difference.
    minus: Option<f64>,
    action: Action,
    solving: Solving,
    words: Vec<String>,
    of: LoopSettings,
    goals: LoopGoals,
}

/// The factors of a line given as text; the last one acts first.
fn factors(line: &str) -> Run<Vec<Factor>> {
    let steps = line.split(',').map(str::trim).filter(|step| *step != "local");
    let factor = |step: &str| {
        let (kind, axis) = step.split_at_checked(1)?;
        let mu = ["x", "y", "z", "t"].iter().position(|name| *name == axis)? as i32;
        let number = match kind {
            "+" => mu,
            "-" => 7 - mu,
            "d" => 8 + mu,
            _ => return None,
        };
        Factor::from_number(number).ok()
    };
    let expected = "local, or +x, -x, dx and so on of x, y, z, t with commas between";
    steps.map(|step| factor(step).ok_or_else(|| refuse("lines", line, expected))).collect()
}

fn plan(options: &Options) -> Run<Plan> {
    let action = Action::of(options)?;
    let kappa = action.required_kappa(options)?;
    let minus = options.get("minus-kappa").map(|_| options.number("minus-kappa"));
    if let Some(other) = minus {
        check_kappa("minus-kappa", other)?;
        let expected = "another hopping parameter than that of the quark, as the difference of equal quarks is zero";
        options.check("minus-kappa", other != kappa, expected)?;
    }
    options.check("error", options.number("error") >= 0.0, "0 or more")?;
    options.check("seconds", options.number("seconds") >= 0.0, "0 or more")?;
    let gamma = NAMES.iter().position(|name| *name == options.text("gamma")).unwrap_or_default();
    let goals = LoopGoals { gamma, ..options.params()? };
    if goals.error <= 0.0 && goals.seconds <= 0.0 && goals.vectors == 0 {
        return Err(Failure::usage(
            "--error: missing; or give --seconds or --vectors, at which the work ends",
        ));
    }
    let tol = options.number("space-tol");
    options.check("space-tol", tol > 0.0 && tol < 1.0, "a number above 0 and below 1")?;
    if options.text("space") == "multigrid" && !options.text("solver").ends_with("multigrid") {
        return Err(Failure::usage("--space: multigrid; only with --solver multigrid"));
    }
    let words: Vec<String> =
        items("lines", options.text("lines"))?.into_iter().map(String::from).collect();
    let momenta = momenta(options)?;
    let params: LoopsParams = options.params()?;
    let in_time = params.dilute.contains(Dilute::Time);
    if in_time != (params.time_parts > 0) {
        return Err(Failure::usage(format!(
            "--time-parts: {}; expected a divisor of the lattice's T with --dilute time, 0 without",
            params.time_parts
        )));
    }
    let noise = params.noise("").map_err(|e| Failure::usage(super::in_words(&e)))?;
    let (how, factor) = match (options.flag("one-end"), minus) {
        (true, _) => (OneEnd::Same, Complex64::new(0.0, -2.0 * action.mu)),
        (_, Some(other)) => (OneEnd::Other, Complex64::from(0.5 / other - 0.5 / kappa)),
        _ => (OneEnd::None, Complex64::ONE),
    };
    if how != OneEnd::None && action.normalisation != Normalisation::Mass {
        return Err(Failure::usage("--normalisation: kappa; differences of quarks are of mass"));
    }
    let of = LoopSettings {
        noise,
        how,
        factor,
        lines: words.iter().map(|line| factors(line)).collect::<Run<_>>()?,
        momenta,
        boundary: action.boundary.0,
        params: options.params()?,
    };
    let files = files::distinct(options)?;
    Ok(Plan { files, kappa, minus, action, solving: Solving::of(options)?, words, of, goals })
}

fn space_of(
    options: &Options,
    solver: &DiracSolver,
    hierarchy: Option<&Arc<Multigrid>>,
    progress: &mut Progress,
) -> Run<Option<LowSpace>> {
    match (options.text("space"), hierarchy) {
        ("multigrid", Some(hierarchy)) => {
            let levels = options.whole("space-levels") as usize;
            let tol = options.number("space-tol");
            Ok(Some(LowSpace::of_multigrid(solver, hierarchy, levels, tol)?))
        }
        ("eigen", _) => {
            let op = Normal::mdag_m(solver.op().clone());
            let count = options.whole("modes") as usize;
            // Inexact modes suffice: the sum over levels is an identity for any vectors.
            let params = EigenParams { count, tol: 1e-6, verify: false, ..Default::default() };
            let comm = solver.op().links().geometry().comm().clone();
            let mut watch = monitor(&comm, progress, "eigenvectors, ", params.tol);
            let (vectors, _) = eigen_set(&op, None, &params, None, &mut watch)?;
            if interrupted() {
                return Err(Failure::refused("eigenvectors: interrupted"));
            }
            Ok(Some(LowSpace::of_vectors(solver, Arc::new(vectors))?))
        }
        _ => Ok(None),
    }
}

/// Adds to loops until a goal is reached, and writes the state to a file from time to time.
fn add(
    session: &Session,
    state: Option<&Path>,
    plan: &Plan,
    sums: &mut LoopSums,
    quarks: &LoopQuarks,
) -> Run<LoopsReport> {
    let mut progress = Progress::new();
    let mut written = 0.0;
    let done = {
        let mut between = |sums: &LoopSums, seconds: f64| match state {
            Some(name) if seconds - written > STATE_SECONDS => {
                written = seconds;
                sums.write(name, quarks)
            }
            _ => Ok(()),
        };
        let mut watch = monitor(&session.comm, &mut progress, "", 0.0);
        sums.add(quarks, &plan.goals, &mut watch, &mut between)?
    };
    if let Some(name) = state {
        sums.write(name, quarks)?;
    }
    progress.clear();
    Ok(done)
}

/// Refuses, before any work, output files that cannot be written or exist already.
fn check_outputs(options: &Options, plan: &Plan) -> Run<()> {
    let all = options.flag("overwrite");
    let state = ("state", all || options.flag("continue"), "go on with --continue yes, ");
    let of_each = [state, ("save-multigrid", all, "")];
    files::check_outputs(options, &plan.files, &["json", "hdf5"], &of_each)?;
    if options.given("hdf5") {
        hdf5::check()?;
    }
    Ok(())
}

/// Computes the loops of a configuration.
fn loops_of(
    session: &Session,
    options: &Options,
    plan: &Plan,
    name: &str,
) -> Run<ConfigurationLoops> {
    let of_file = |base: &str| files::of_several(base, name, plan.files.len() > 1);
    let loaded = files::read(session, name, &files::reading(options)?)?;
    let links = Arc::new(loaded.gauge);
    let op = plan.action.operator(&links, plan.kappa)?;
    let by_multigrid = plan.solving.by_multigrid();
    let made = |op: &Arc<dyn QuarkAction>, file: &dyn Fn(&str) -> String| match by_multigrid {
        true => multigrid(op, options, &mut None, file).map(Some),
        false => Ok(None),
    };
    let hierarchy = made(&op, &of_file)?;
    let columns = plan.of.noise.columns();
    let solver = plan.solving.solver(&op, &plan.action, columns, hierarchy.as_ref())?;
    let other = match plan.minus {
        Some(kappa) => {
            let op = plan.action.operator(&links, kappa)?;
            let hierarchy = made(&op, &|base| of_file(base) + ".minus")?;
            Some(plan.solving.solver(&op, &plan.action, columns, hierarchy.as_ref())?)
        }
        None => None,
    };
    let mut progress = Progress::new();
    let space = space_of(options, &solver, hierarchy.as_ref(), &mut progress)?;
    progress.clear();
    let other_space = match (&space, &other) {
        (Some(space), Some(other)) => Some(space.of_other(other)?),
        _ => None,
    };
    let quarks = LoopQuarks {
        solver: &solver,
        at_once: plan.solving.settings.columns,
        other: other.as_ref(),
        links: &links,
        space: space.as_ref(),
        other_space: other_space.as_ref(),
    };
    // Quarks that vanish at boundaries in time pass no phase there.
    let mut of = plan.of.clone();
    if !links.geometry().boundary().is_periodic() {
        of.boundary[3] = 0.0;
    }
    let mut sums = LoopSums::new(of, &quarks)?;
    let state = options.get("state").map(of_file);
    let state = state.as_deref().map(Path::new);
    if let Some(state) = state.filter(|file| options.flag("continue") && file.exists()) {
        sums.read(state, &quarks)?;
    }
    let done = add(session, state, plan, &mut sums, &quarks)?;
    Ok(ConfigurationLoops {
        name: name.to_string(),
        format: loaded.info.format,
        extents: links.geometry().global_extents(),
        sums,
        done,
        multigrid: hierarchy.map(|made| multigrid_json(&made)),
    })
}

fn run(options: Options) -> Run<i32> {
    let plan = plan(&options)?;
    check_outputs(&options, &plan)?;
    session::run(&options, |session| {
        if session.first() {
            session::print_error(&format!("loops on {}", session.device.name()));
        }
        files::of_one_run(session, &plan.files, &files::reading(&options)?)?;
        let mut all: Vec<ConfigurationLoops> = vec![];
        for name in &plan.files {
            let found = loops_of(session, &options, &plan, name)?;
            found.table(&plan)?;
            let stopped = found.done.stopped;
            all.push(found);
            if stopped {
                break;
            }
        }
        report::averages(&plan, &all)?;
        if session.first() {
            if let Some(name) = options.get("json") {
                output::write_json(name, "loops", &report::json(session, &plan, &all)?)?;
            }
            if let Some(name) = options.get("hdf5") {
                report::hdf5(name, &plan, &all)?;
            }
        }
        Ok(session::status(all.iter().all(ConfigurationLoops::whole)))
    })
}
