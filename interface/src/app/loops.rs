//! `plaq loops`: quark loops of a configuration, part by part, with errors by noise.

use std::path::Path;
use std::sync::Arc;

use num_complex::Complex64;
use serde_json::{json, Value};

use super::files::{self, described, lattice_text};
use super::options::{integers, opt, param, refuse, Command, Kind, Need, Opt, Options, COUNT};
use super::quark::{
    boundary, check_kappa, mass_of, monitor, multigrid, multigrid_json, of_quark, Action, Method,
    Solving, BOUNDARY, MULTIGRID_OPTIONS, SOLVER_OPTIONS,
};
use super::session::{self, overwrite, say, Progress, Session};
use super::{interrupted, output, Failure, Run};
use crate::compose::multigrid::Multigrid;
use crate::compose::DiracSolver;
use crate::fields::GaugeField;
use crate::io::hdf5::{self, Attribute, Attributes, Dataset, Numbers};
use crate::io::FileFormat;
use crate::linop::Normal;
use crate::ops::gamma::Gamma;
use crate::ops::structure::lines::Factor;
use crate::ops::structure::loop_sums::{
    LoopGoals, LoopOf, LoopQuarks, LoopSums, LoopSumsParams, LoopsAdded, Part, Term,
};
use crate::ops::structure::loops::LoopsParams;
use crate::ops::structure::low_space::LowSpace;
use crate::params::Choice as _;
use crate::solvers::{eigen_set, EigenParams};

const OF_MULTIGRID: &[&[Need]] = &[&[Need::Is("space", &["multigrid"])]];

#[rustfmt::skip]
const OPTIONS: &[Opt] = &[
    opt("kappa", Kind::Number, "K", "", "hopping parameter of the quark"),
    opt("mass", Kind::Number, "M", "", "bare mass m in place of it: kappa = 1 / (2 m + 8)").needs(&[&[Need::Without("kappa")]]),
    of_quark("csw"),
    BOUNDARY,
    of_quark("normalisation").or("mass"),
    opt("lines", Kind::Text, "LINE[:LINE...]", "local", "lines that carry the quark, steps with commas between: local, or +x, -x (a link) and dx (a derivative) of x, y, z, t, e.g. local:+z,+z:dt"),
    opt("momenta", Kind::Text, "P[:P...]", "0,0,0", "momenta nx,ny,nz of exp(-i p x); the table shows the first"),
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
    param::<LoopGoals>("gamma", LoopGoals::row("gamma")),
    param::<LoopGoals>("seconds", LoopGoals::row("seconds")),
    param::<LoopGoals>("vectors", LoopGoals::row("vectors")),
];

const OUTPUT: &[Opt] = &[
    opt("state", Kind::Output(&[]), "FILE", "", "sums so far, written every minute and at the end"),
    opt("continue", Kind::Flag, "B", "no", "yes: goes on from the sums in --state")
        .needs(&[&[Need::With("state")]]),
    opt("json", Kind::Output(&[]), "FILE", "", "everything as JSON"),
    opt(
        "hdf5",
        Kind::Output(&[]),
        "FILE",
        "",
        "loops and errors in HDF5, by libhdf5 (PLAQ_HDF5); Python's plaq.read takes them",
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
    usage: &["FILE --kappa K --error E|--seconds S|--vectors N [options]"],
    about: &[
        "quark loops with low modes, to an error or a cost",
        "Quark loops sum_x exp(-i p x) tr[Gamma line D^-1](t) of a configuration by noise, with low modes and the",
        "hopping expansion taken apart, without the sign of the fermion loop (docs/structure.md).",
    ],
    tables: &[files::ONE, OPTIONS, SOLVER_OPTIONS, MULTIGRID_OPTIONS, OUTPUT, session::OPTIONS],
    input: Some("gauge"),
    example: "loops b6.0.00001 --kappa 0.12 --csw 1.2 --solver mg --space multigrid --seconds 600",
    run,
};

/// Seconds between two states in a file.
const STATE_SECONDS: f64 = 60.0;

/// The options' work.
struct Plan {
    name: String,
    kappa: f64,
    action: Action,
    solving: Solving,
    words: Vec<String>,
    of: LoopOf,
    goals: LoopGoals,
}

/// Factors of a line, of which the last acts first.
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
    let kappa = match (options.given("mass"), options.given("kappa")) {
        (true, _) => {
            options.check("mass", options.number("mass") > -4.0, "a number above -4")?;
            1.0 / (2.0 * options.number("mass") + 8.0)
        }
        (_, true) => options.number("kappa"),
        _ => return Err(Failure::usage("--kappa: missing; or give --mass")),
    };
    check_kappa("kappa", kappa)?;
    let goals: LoopGoals = options.params()?;
    if goals.error <= 0.0 && goals.seconds <= 0.0 && goals.vectors == 0 {
        return Err(Failure::usage(
            "--error: missing; or give --seconds or --vectors, at which the work ends",
        ));
    }
    options.check("error", goals.error >= 0.0, "0 or more")?;
    options.check("seconds", goals.seconds >= 0.0, "0 or more")?;
    let tol = options.number("space-tol");
    options.check("space-tol", tol > 0.0 && tol < 1.0, "a number above 0 and below 1")?;
    if options.text("space") == "multigrid" && options.text("solver") != "multigrid" {
        return Err(Failure::usage("--space: multigrid; only with --solver multigrid"));
    }
    let words: Vec<String> = options.text("lines").split(':').map(String::from).collect();
    let momentum = |p: &str| Ok(integers::<3>("momenta", p, -65536)?.map(|n| n as i32));
    let momenta = options.text("momenta").split(':').map(momentum).collect::<Run<Vec<_>>>()?;
    let params: LoopsParams = options.params()?;
    let noise = params.noise("").map_err(|e| Failure::usage(super::in_words(&e)))?;
    let quark = boundary(options)?;
    let of = LoopOf {
        noise,
        how: params.kind,
        factor: Complex64::ONE,
        lines: words.iter().map(|line| factors(line)).collect::<Run<_>>()?,
        momenta,
        boundary: quark.0,
        params: options.params()?,
    };
    Ok(Plan {
        name: options.input()?,
        kappa,
        action: Action::of(options)?,
        solving: Solving::of(options)?,
        words,
        of,
        goals,
    })
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
            // They need not be good ones for an identity.
            let params = EigenParams { count, tol: 1e-6, verify: false, ..Default::default() };
            let comm = solver.op().links().geometry().comm().clone();
            let mut watch = monitor(&comm, progress, "eigenvectors, ");
            let (vectors, _) = eigen_set(&op, None, &params, None, &mut watch)?;
            if interrupted() {
                return Err(Failure::refused("eigenvectors: interrupted"));
            }
            Ok(Some(LowSpace::of_vectors(solver, Arc::new(vectors))?))
        }
        _ => Ok(None),
    }
}

/// Adds to sums until goals are reached, with the state in a file from time to time.
fn add(
    session: &Session,
    options: &Options,
    plan: &Plan,
    sums: &mut LoopSums,
    quarks: &LoopQuarks,
) -> Run<LoopsAdded> {
    let mut progress = Progress::new();
    let state = options.get("state").map(Path::new);
    let mut written = 0.0;
    let done = {
        let mut between = |sums: &LoopSums, seconds: f64| match state {
            Some(name) if seconds - written > STATE_SECONDS => {
                written = seconds;
                sums.write(name, quarks)
            }
            _ => Ok(()),
        };
        let mut watch = monitor(&session.comm, &mut progress, "");
        sums.add(quarks, &plan.goals, &mut watch, &mut between)?
    };
    if let Some(name) = state {
        sums.write(name, quarks)?;
    }
    progress.clear();
    Ok(done)
}

fn run(options: Options) -> Run<i32> {
    let plan = plan(&options)?;
    let all = options.flag("overwrite");
    let outputs = ["json", "hdf5", "state", "save-multigrid"].map(|name| (name, options.get(name)));
    output::distinct(&[("gauge", &plan.name)], &outputs)?;
    for name in ["json", "hdf5"] {
        output::check(options.get(name), all, "")?;
    }
    output::check(
        options.get("state"),
        all || options.flag("continue"),
        "go on with --continue yes, ",
    )?;
    output::check(options.get("save-multigrid"), all, "")?;
    if options.given("hdf5") {
        crate::io::hdf5::check()?;
    }
    session::run(&options, |session| {
        if session.first() {
            session::complain(&format!("loops on {}", session.device.name()));
        }
        let loaded = files::read(session, &plan.name, &files::reading(&options)?)?;
        let links = Arc::new(loaded.gauge);
        let op = plan.action.operator(&links, plan.kappa)?;
        let hierarchy = match plan.solving.method {
            Method::Multigrid => {
                Some(multigrid(&op, &options, &mut None, |name| name.to_string())?)
            }
            _ => None,
        };
        let columns = plan.of.noise.columns();
        let solver = plan.solving.solver(&op, &plan.action, columns, hierarchy.as_ref())?;
        let mut progress = Progress::new();
        let space = space_of(&options, &solver, hierarchy.as_ref(), &mut progress)?;
        progress.clear();
        let quarks = LoopQuarks {
            solver: &solver,
            at_once: plan.solving.settings.columns,
            other: None,
            links: &links,
            space: space.as_ref(),
        };
        let mut sums = LoopSums::new(plan.of.clone(), &quarks)?;
        if options.flag("continue") {
            sums.read(Path::new(options.text("state")), &quarks)?;
        }
        let done = add(session, &options, &plan, &mut sums, &quarks)?;
        let failed: u64 = sums.parts().iter().map(|part| part.failed).sum();
        let result = Found { plan: &plan, sums: &sums, done, links: &links, hierarchy };
        result.table(&loaded.info.format)?;
        if session.first() {
            if let Some(name) = options.get("json") {
                output::write_json(name, "loops", &result.json(session, loaded.info.format)?)?;
            }
            if let Some(name) = options.get("hdf5") {
                result.hdf5(name)?;
            }
        }
        Ok(session::status(!done.stopped && failed == 0))
    })
}

/// What came of it.
struct Found<'a> {
    plan: &'a Plan,
    sums: &'a LoopSums,
    done: LoopsAdded,
    links: &'a Arc<GaugeField>,
    hierarchy: Option<Arc<Multigrid>>,
}

fn term_name(term: Term) -> (&'static str, usize) {
    match term {
        Term::Noise(level) => ("noise", level),
        Term::Exact(level) => ("exact", level),
        Term::Hopping => ("hopping", 0),
    }
}

/// A number of JSON, null where it is not known.
fn known(x: f64) -> Value {
    match x.is_finite() {
        true => json!(x),
        false => Value::Null,
    }
}

impl Found<'_> {
    fn times(&self) -> usize {
        self.links.geometry().global_extents()[3]
    }

    /// Error of the part, as in [`LoopGoals`].
    fn error_of(&self, number: usize, part: &Part) -> Run<f64> {
        let found = self.sums.result(Some(number))?;
        let first = self.plan.goals.gamma * self.plan.of.momenta.len() * self.times();
        let each = &found.variance[first..first + self.times()];
        let mean = each.iter().map(|v| v.re + v.im).sum::<f64>() / self.times() as f64;
        Ok((mean / part.done.max(1) as f64).sqrt())
    }

    fn table(&self, format: &FileFormat) -> Run<()> {
        let Found { plan, sums, done, .. } = self;
        let extents = self.links.geometry().global_extents();
        let (name, format) = (&plan.name, files::name_of(*format));
        say!("# {name} ({format}), {}, kappa {}", lattice_text(extents), plan.kappa);
        say!("#     part  level     done    total    solves    seconds        error");
        for (number, part) in sums.parts().iter().enumerate() {
            let (term, level) = term_name(part.term);
            let error = self.error_of(number, part)?;
            say!(
                "# {term:>8}  {level:5}  {:7}  {:7}  {:8}  {:9.1}  {:11}{}",
                part.done,
                part.total,
                part.solves,
                part.seconds,
                output::exponent(error, 4),
                if part.failed > 0 { ", NOT CONVERGED" } else { "" }
            );
        }
        let end = if done.stopped { ", INTERRUPTED" } else { "" };
        let gamma = plan.goals.gamma;
        say!(
            "# error {} of Gamma {gamma} at a time slice, {:.1} s{end}",
            output::exponent(done.error, 4),
            done.seconds
        );
        say!("# line {}, momentum {:?}", plan.words[0], plan.of.momenta[0]);
        say!("# Gamma   t              re         error              im         error");
        let all = sums.result(None)?;
        let times = self.times();
        for gamma in 0..16 {
            for t in 0..times {
                let k = gamma * plan.of.momenta.len() * times + t;
                let (z, v) = (all.mean[k], all.variance[k]);
                say!(
                    "  {gamma:5} {t:3}  {:14.8}  {:12}  {:14.8}  {:12}",
                    z.re,
                    output::exponent(v.re.sqrt(), 4),
                    z.im,
                    output::exponent(v.im.sqrt(), 4)
                );
            }
        }
        Ok(())
    }

    fn json(&self, session: &Session, format: FileFormat) -> Run<Value> {
        let Found { plan, sums, done, .. } = self;
        let (of, goals) = (&plan.of, &plan.goals);
        let mut parts = vec![];
        for (number, part) in sums.parts().iter().enumerate() {
            let (term, level) = term_name(part.term);
            let error = self.error_of(number, part)?;
            parts.push(json!({
                "term": term, "level": level, "done": part.done, "total": part.total, "solves": part.solves,
                "failed": part.failed, "seconds": part.seconds, "error": known(error),
            }));
        }
        let all = sums.result(None)?;
        let [lines, _] = sums.numbers();
        let times = self.times();
        let array = |values: &dyn Fn(usize) -> f64, range: std::ops::Range<usize>| {
            range.map(|k| known(values(k))).collect::<Vec<_>>()
        };
        let arrays = |first: usize| {
            let range = || first..first + times;
            json!({
                "re": array(&|k| all.mean[k].re, range()), "im": array(&|k| all.mean[k].im, range()),
                "re_error": array(&|k| all.variance[k].re.sqrt(), range()),
                "im_error": array(&|k| all.variance[k].im.sqrt(), range()),
            })
        };
        let mut loops = vec![];
        for (l, word) in plan.words.iter().enumerate() {
            for gamma in 0..16 {
                for (p, momentum) in of.momenta.iter().enumerate() {
                    let first = ((16 * l + gamma) * of.momenta.len() + p) * times;
                    let mut one = json!({ "line": word, "gamma": gamma, "momentum": momentum });
                    extend(&mut one, arrays(first));
                    loops.push(one);
                }
            }
        }
        let mut current = vec![];
        for mu in 0..4 {
            for (p, momentum) in of.momenta.iter().enumerate() {
                let first = lines + (mu * of.momenta.len() + p) * times;
                let mut one = json!({ "mu": mu, "momentum": momentum });
                extend(&mut one, arrays(first));
                current.push(one);
            }
        }
        Ok(json!({
            "version": env!("CARGO_PKG_VERSION"), "device": session.device.name(),
            "gauge": described(&plan.name, format, self.links.geometry().global_extents()),
            "action": {
                "kappa": plan.kappa, "mass": mass_of(plan.kappa), "csw": plan.action.csw,
                "boundary": plan.action.boundary.0, "normalisation": plan.action.normalisation_name(),
            },
            "noise": {
                "noise": of.noise.noise.word(), "seed": of.noise.seed, "columns": of.noise.columns(),
                "probes": of.noise.probes,
            },
            "hopping": of.params.hopping, "goal": {
                "error": goals.error, "gamma": goals.gamma, "seconds": goals.seconds, "vectors": goals.vectors,
            },
            "error": known(done.error), "reached": done.reached, "stopped": done.stopped, "seconds": done.seconds,
            "parts": parts, "multigrid": self.hierarchy.as_ref().map(|m| multigrid_json(m)),
            "loops": loops, "current": current,
        }))
    }

    fn hdf5(&self, name: &str) -> Run<()> {
        let Found { plan, sums, .. } = self;
        let all = sums.result(None)?;
        let (times, momenta) = (self.times(), &plan.of.momenta);
        let [lines, _] = sums.numbers();
        let errors: Vec<Complex64> =
            all.variance.iter().map(|v| Complex64::new(v.re.sqrt(), v.im.sqrt())).collect();
        let numbers = |k: &[Complex64]| Numbers::Complex(k.to_vec());
        let of_lines = vec![plan.words.len(), 16, momenta.len(), times];
        let of_current = vec![4, momenta.len(), times];
        let dataset =
            |name: &str, values: &[Complex64], extents: &[usize], indices: &str| Dataset {
                name: name.into(),
                extents: extents.to_vec(),
                numbers: numbers(values),
                attributes: vec![
                    ("kind", Attribute::Text("loops".into())),
                    ("indices", Attribute::Text(indices.into())),
                    ("lines", Attribute::Texts(plan.words.clone())),
                    (
                        "momenta",
                        Attribute::Integers(
                            momenta.iter().flatten().map(|n| i64::from(*n)).collect(),
                        ),
                    ),
                    (
                        "gammas",
                        Attribute::Texts(Gamma::all().map(|g| g.number().to_string()).collect()),
                    ),
                ],
            };
        let about = "line, gamma, momentum, t";
        let sets = [
            dataset("loops/mean", &all.mean[..lines], &of_lines, about),
            dataset("loops/error", &errors[..lines], &of_lines, about),
            dataset("current/mean", &all.mean[lines..], &of_current, "mu, momentum, t"),
            dataset("current/error", &errors[lines..], &of_current, "mu, momentum, t"),
        ];
        let extents = self.links.geometry().global_extents();
        let attributes: Attributes = vec![
            ("plaq_version", Attribute::Text(env!("CARGO_PKG_VERSION").into())),
            ("lattice", Attribute::Integers(extents.map(|n| n as i64).to_vec())),
            ("gauge", Attribute::Text(plan.name.clone())),
            ("kappa", Attribute::Number(plan.kappa)),
            ("csw", Attribute::Number(plan.action.csw)),
            ("boundary", Attribute::Text(plan.action.boundary.to_string())),
            ("normalisation", Attribute::Text(plan.action.normalisation_name().into())),
        ];
        Ok(hdf5::write(Path::new(name), &sets, &attributes)?)
    }
}

/// Adds the members of one object of JSON to another.
fn extend(one: &mut Value, more: Value) {
    if let (Some(one), Value::Object(more)) = (one.as_object_mut(), more) {
        one.extend(more);
    }
}
