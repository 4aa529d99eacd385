//! `plaq distillation`: modes of the Laplacian of time slices, elementals and perambulators, written to an HDF5 file
//! that Python's plaq.read reads.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use num_complex::Complex64;
use serde_json::json;

use super::options::{
    integers, items, momenta, momenta_option, opt, param, refuse, Command, Kind, Need, Opt, Options,
};
use super::quark::{self, monitor, Action, Solved, Solving};
use super::session::{self, overwrite, say, Progress, Session};
use super::{files, output, Failure, Run};
use crate::error::Result;
use crate::fields::{GammaBasis, Geometry};
use crate::io::hdf5::{self, Attribute};
use crate::ops::distillation::elementals::Step;
use crate::ops::distillation::file::{self, ElementalsOf, PerambulatorFile};
use crate::ops::distillation::if_exists::IfExists;
use crate::ops::distillation::modes::{Modes, ModesSettings};
use crate::ops::distillation::noise::NoiseInModes;
use crate::ops::distillation::perambulator::{generalised, perambulators, Insertion, Projected};
use crate::ops::gamma::Gamma;
use crate::params::Choice;
use crate::solvers::{largest, Monitor, SolverKind};

const fn of_modes(name: &'static str, row: &'static str) -> Opt {
    param::<ModesSettings>(name, ModesSettings::row(row)).needs(&[&[Need::Without("load-modes")]])
}

/// Steps of paths by their numbers in [`Insertion`], those in time apart.
const STEPS: &[&str] = &["+x", "+y", "+z", "", "", "-z", "-y", "-x"];
/// Bases of spins by the words of [`GammaBasis`].
const SPINS: &[&str] = &["degrand_rossi", "ukqcd", "chiral", "dirac_pauli"];

const OF_INSERTIONS: &[&[Need]] = &[&[Need::With("insertions")]];

const fn of_noise(name: &'static str, row: &'static str) -> Opt {
    param::<NoiseInModes>(name, NoiseInModes::row(row)).needs(&[&[Need::With("noise")]])
}

const QUARK: &[Need] = &[Need::With("kappa"), Need::With("mass")];
const OF_QUARKS: &[&[Need]] = &[QUARK];

const OPTIONS: &[Opt] = &[
    of_modes("modes", "count"),
    of_modes("steps", "steps"),
    param::<ModesSettings>("rho", ModesSettings::row("rho")).needs(&[&[Need::With("steps")], &[Need::Without("load-modes")]]),
    of_modes("modes-momentum", "momentum"),
    of_modes("modes-mixed", "mixed"),
    of_modes("modes-vectors", "vectors"),
    of_modes("modes-tol", "tol"),
    opt("save-modes", Kind::Output(&[]), "FILE", "", "writes the modes, which a later run needs to go on"),
    opt("load-modes", Kind::Input, "FILE", "", "modes that --save-modes wrote for these links, in place of a search"),
    opt("left-modes", Kind::Input, "FILE", "", "modes of the antiquark in meson elementals, u in u^dagger O v, where they are others, as of another moving frame; written for these links by --save-modes"),
    momenta_option("0,0,0", "momenta nx,ny,nz of elementals"),
    opt("operators", Kind::Text, "O[:O...]", "1", "operators of meson elementals: 1, or steps dx, +x, -x and so on with commas between, of which the last acts first, e.g. 1:dx:dy,dz"),
    opt("baryons", Kind::Flag, "B", "no", "yes: elementals of baryons, too"),
    opt("baryon-operators", Kind::Text, "O:O:O", "1:1:1", "operators on the three quarks of baryons, each as one of --operators").needs(&[&[Need::With("baryons")]]),
    opt("times", Kind::Text, "T[,T...]", "0", "source times of perambulators, or all").needs(OF_QUARKS),
    opt("sink-times", Kind::Text, "T[,T...]", "", "sink times of generalised perambulators").needs(OF_INSERTIONS),
    opt("insertions", Kind::Text, "G,NX,NY,NZ[,S...][:...]", "", "operators of generalised perambulators between source times and sink times: number of Gamma (0-15), momentum, and steps +x, -x and so on").needs(&[QUARK, &[Need::With("sink-times")]]),
    of_noise("noise", "noise").needs(OF_QUARKS),
    of_noise("noise-vectors", "vectors"),
    of_noise("noise-seed", "seed"),
    of_noise("noise-time", "time"),
    of_noise("noise-time-parts", "time_parts"),
    of_noise("noise-spin", "spin"),
    of_noise("noise-spin-parts", "spin_parts"),
    of_noise("noise-mode", "mode"),
    of_noise("noise-mode-parts", "mode_parts"),
    opt("spin-basis", Kind::Word(SPINS), "BASIS", "degrand_rossi", "basis of the spins of perambulators").needs(OF_QUARKS),
];

const OUTPUT: &[Opt] = &[
    opt("out", Kind::Output(&[]), "FILE", "", "the HDF5 file, written by libhdf5 (PLAQ_HDF5); perambulators are added as they are finished"),
    opt("json", Kind::Output(&[]), "FILE", "", "what was done, as JSON"),
    opt("continue", Kind::Flag, "B", "no", "yes: source times that the file has are not done again").needs(&[&[Need::With("load-modes")]]),
    overwrite(&[&[Need::With("out"), Need::With("json"), Need::With("save-modes"), Need::With("save-multigrid")]]),
];

pub const COMMAND: Command = Command {
    name: "distillation",
    usage: &["FILE --modes N --out FILE [--kappa K] [options]"],
    about: &[
        "modes of time slices, elementals, perambulators",
        "Distillation: modes of the Laplacian of time slices, elementals of mesons and baryons, perambulators",
        "(docs/distillation.md).",
    ],
    tables: &[files::ONE, OPTIONS, &quark::mass_options("hopping parameter of the quark of perambulators; without a quark there are modes and elementals only"), &quark::terms(OF_QUARKS), &quark::solver_options_with_multigrid(false), &quark::multigrid_options(false), OUTPUT, session::OPTIONS],
    input: Some("gauge"),
    example: "distillation b6.0.00001 --modes 20 --steps 10 --kappa 0.12 --csw 1.2 --times 0,4 --out tau.h5",
    run,
};

/// The work of `plaq distillation`, from its options.
struct Plan {
    file: String,
    out: PathBuf,
    settings: ModesSettings,
    elementals: ElementalsOf,
    kappa: Option<f64>,
    action: Action,
    solving: Solving,
    /// Source times of the perambulators; `None`: all times.
    times: Option<Vec<usize>>,
    spin_basis: GammaBasis,
    sink_times: Vec<usize>,
    insertions: Vec<Insertion>,
    noise: Option<NoiseInModes>,
}

fn operators(name: &str, text: &str) -> Run<Vec<Vec<Step>>> {
    let one = |item: &str| match item {
        "1" => Ok(vec![]),
        steps => steps
            .split(',')
            .map(|word| {
                Step::from_word(word, &format!("--{name}"))
                    .map_err(|e| Failure::usage(super::in_words(&e)))
            })
            .collect(),
    };
    items(name, text)?.into_iter().map(one).collect()
}

/// The operators on the three quarks of baryons; `None`: no baryons.
fn baryons(options: &Options) -> Run<Option<[Vec<Step>; 3]>> {
    if !options.flag("baryons") {
        return Ok(None);
    }
    let name = "baryon-operators";
    let text = options.text(name);
    match <[Vec<Step>; 3]>::try_from(operators(name, text)?) {
        Ok(three) => Ok(Some(three)),
        Err(_) => Err(refuse(name, text, "one for each of three quarks, as 1:1:dx")),
    }
}

fn times(name: &str, text: &str) -> Run<Vec<usize>> {
    let one = |word: &str| Ok(integers::<1>(name, word, 0)?[0] as usize);
    let all: Vec<usize> = text.split(',').map(one).collect::<Run<_>>()?;
    match (1..all.len()).any(|k| all[..k].contains(&all[k])) {
        true => Err(refuse(name, text, "each time once")),
        false => Ok(all),
    }
}

/// Refuses time slices outside of the lattice or where quarks vanish at boundaries in time.
fn check_times(name: &str, times: &[usize], geometry: &Geometry) -> Run<()> {
    let (boundary, extent) = (geometry.boundary(), geometry.global_extents()[3]);
    for &time in times {
        if time >= extent {
            return Err(refuse(name, &time.to_string(), format!("times 0 to {}", extent - 1)));
        }
        if boundary.vanishes(time, extent) {
            let expected =
                format!("times of slices where quarks do not vanish, as links have {boundary}");
            return Err(refuse(name, &time.to_string(), expected));
        }
    }
    Ok(())
}

fn insertions(text: &str) -> Run<Vec<Insertion>> {
    let expected = "the number of a gamma, 0 to 15, three momenta, and steps +x, -x and so on";
    let one = |item: &str| {
        let words: Vec<&str> = item.split(',').collect();
        let (numbers, steps) = words.split_at(words.len().min(4));
        let [gamma, x, y, z] = integers::<4>("insertions", &numbers.join(","), -65536)?;
        let path: Option<Vec<u8>> = steps
            .iter()
            .map(|s| STEPS.iter().position(|t| t == s && !s.is_empty()).map(|k| k as u8))
            .collect();
        match (path, Gamma::new(gamma.clamp(-1, 16) as i32)) {
            (Some(path), Ok(gamma)) => {
                Ok(Insertion { gamma, momentum: [x, y, z].map(|n| n as i32), path })
            }
            _ => Err(refuse("insertions", item, expected)),
        }
    };
    items("insertions", text)?.into_iter().map(one).collect()
}

fn plan(options: &Options) -> Run<Plan> {
    let momenta = momenta(options)?;
    let action = Action::of(options)?;
    Ok(Plan {
        file: options.input()?,
        out: PathBuf::from(options.required("out")?),
        settings: options.params()?,
        elementals: ElementalsOf {
            operators: operators("operators", options.text("operators"))?,
            momenta,
            baryons: baryons(options)?,
        },
        kappa: action.kappa(options)?,
        action,
        solving: Solving::of(options)?,
        times: match options.text("times") {
            "all" => None,
            text => Some(times("times", text)?),
        },
        sink_times: options
            .get("sink-times")
            .map_or(Ok(vec![]), |text| times("sink-times", text))?,
        insertions: options.get("insertions").map_or(Ok(vec![]), insertions)?,
        noise: if options.given("noise") { Some(options.params()?) } else { None },
        spin_basis: GammaBasis::from_word(options.text("spin-basis"), "--spin-basis")?,
    })
}

/// Reads modes from a file, or finds new ones, which may not have converged.
fn modes(
    session: &Session,
    options: &Options,
    plan: &Plan,
    links: &crate::fields::GaugeField,
) -> Run<Modes> {
    if let Some(name) = options.get("load-modes") {
        return Ok(Modes::load(Path::new(name), links, None)?);
    }
    let mut progress = Progress::new();
    let modes = {
        let mut watch = monitor(&session.comm, &mut progress, "modes: ", plan.settings.tol);
        Modes::new(links, None, &plan.settings, &mut watch)?
    };
    let found = modes.search();
    progress.last(&format!("modes: {} on each time slice, {:.2} s", found.count, found.seconds));
    if let Some(name) = options.get("save-modes").filter(|_| found.converged) {
        // The option was checked before.
        modes.save(Path::new(name), IfExists::Overwrite)?;
    }
    Ok(modes)
}

/// A function that solves for a source time; returns the numbers that are written to the file, and the report.
type Lines<'a> = &'a dyn Fn(usize, &mut Monitor) -> Result<(Vec<Complex64>, Projected)>;

/// Adds the results of `work` for each of the source times to the file; returns false if one was interrupted or did not
/// converge.
fn quarks(
    session: &Session,
    name: &str,
    (times, file): (&[usize], &PerambulatorFile),
    solved: &mut Solved,
    kind: SolverKind,
    work: Lines,
) -> Result<bool> {
    for (k, &time) in times.iter().enumerate() {
        let mut progress = Progress::new();
        let what = format!("{name}source time {time} ({} of {}): ", k + 1, times.len());
        let (found, done) = work(time, &mut monitor(&session.comm, &mut progress, &what, 0.0))?;
        solved.add(&done.report, kind);
        // Source times that did not converge are not written, so that a later run solves for them again.
        if !done.whole || !done.report.solver.converged {
            return Ok(false);
        }
        file.add(time, found)?;
        let report = &done.report.solver;
        progress.last(&format!(
            "{what}{} iterations, residual {}, {:.2} s",
            report.iterations,
            output::exponent(largest(&report.residual), 2),
            report.seconds
        ));
    }
    Ok(true)
}

fn work(session: &Session, options: &Options, plan: &Plan) -> Run<i32> {
    let loaded = files::read(session, &plan.file, &files::reading(options)?)?;
    let links = Arc::new(loaded.gauge);
    let extents = links.geometry().global_extents();
    let boundary = links.geometry().boundary();
    let quarks_on = |t: &usize| !boundary.vanishes(*t, extents[3]);
    let times = plan.times.clone().unwrap_or_else(|| (0..extents[3]).filter(quarks_on).collect());
    if plan.kappa.is_some() {
        check_times("times", &times, links.geometry())?;
        check_times("sink-times", &plan.sink_times, links.geometry())?;
    }
    session.comm.agree(if session.first() { hdf5::check() } else { Ok(()) })?;
    let most = 3 * extents[..3].iter().product::<usize>();
    if options.get("load-modes").is_none() && plan.settings.count > most {
        let expected = format!("at most {most}, three times the sites of a time slice");
        return Err(refuse("modes", &plan.settings.count.to_string(), expected));
    }
    if let (Some(noise), None) = (&plan.noise, options.get("load-modes")) {
        noise.columns_of(plan.settings.count, extents[3])?;
    }
    let modes = modes(session, options, plan, &links)?;
    if let Some(noise) = &plan.noise {
        noise.columns(&modes)?;
    }
    if !modes.search().converged {
        session::print_error("distillation: the modes did not converge, nothing is written");
        return Ok(session::status(false));
    }
    if modes.cut_levels() > 0 {
        session::print_error(&format!(
            "distillation: on {} time slices a degenerate level has further modes than the {} asked for: the space \
             depends on the basis that the search came upon",
            modes.cut_levels(),
            modes.count()
        ));
    }
    let left = match options.get("left-modes") {
        Some(name) => Some(Modes::load(Path::new(name), &links, None)?),
        None => None,
    };
    if left.as_ref().is_some_and(|left| !left.search().converged) {
        session::print_error("distillation: --left-modes did not converge, nothing is written");
        return Ok(session::status(false));
    }
    let there = session.first() && options.flag("continue") && plan.out.exists();
    let mut there = [f64::from(there)];
    session.comm.sum(&mut there)?;
    if there[0] == 0.0 {
        let data = plan.elementals.datasets(left.as_ref().unwrap_or(&modes), &modes)?;
        let about = vec![("gauge", Attribute::Text(plan.file.clone()))];
        // A file that another run has made meanwhile is kept.
        let made_since =
            if options.flag("continue") { IfExists::Refuse } else { IfExists::Overwrite };
        file::write(&plan.out, &modes, &data, about, made_since)?;
    }
    say!("# lattice {}, {} modes on each time slice", files::lattice_text(extents), modes.count());
    say!(
        "# lowest value on time slice 0: {:.10}, residual {}",
        modes.values()[0],
        output::exponent(modes.residuals()[0], 1)
    );
    let given = ["momenta", "operators", "baryons", "baryon-operators"];
    if there[0] > 0.0 && given.iter().any(|name| options.given(name)) {
        let known_by = plan.elementals.known_by();
        let look = || hdf5::has(&plan.out, "mesons", &known_by, &|_| 0.0).map(|_| ());
        session.comm.agree(if session.first() { look() } else { Ok(()) })?;
    }
    if let Some(left) = left.filter(|_| there[0] > 0.0) {
        let look = || file::check_left(&plan.out, &left);
        session.comm.agree(if session.first() { look() } else { Ok(()) })?;
    }
    let mut solved = Solved::nothing(plan.solving.kind());
    let mut whole = true;
    let mut done: Vec<usize> = vec![];
    if let Some(kappa) = plan.kappa {
        let op = plan.action.operator(&links, kappa)?;
        let mut hierarchy = None;
        if plan.solving.by_multigrid() {
            hierarchy = Some(quark::multigrid(&op, options, &mut None, str::to_string)?);
        }
        let columns = 4 * modes.count() * times.len();
        let solver = plan.solving.solver(&op, &plan.action, columns, hierarchy.as_ref())?;
        let to = (&*plan.out, file::GROUP);
        let file = PerambulatorFile::new(to, &modes, &solver, plan.spin_basis)?;
        let left = file.missing(&times)?;
        // What the file has of insertions is compared before anything is solved.
        let with_insertions = match plan.insertions.is_empty() {
            true => None,
            false => {
                let to = (&*plan.out, file::GENERALISED);
                let file = PerambulatorFile::new(to, &modes, &solver, plan.spin_basis)?
                    .with_insertions(&plan.sink_times, &plan.insertions);
                Some((file.missing(&times)?, file))
            }
        };
        let (kind, columns) = (solver.params().solver.kind, plan.solving.settings.columns);
        let tau = |time: usize, watch: &mut Monitor| {
            let mut found = vec![];
            let mut keep = |_: usize, tau: Vec<Complex64>| {
                found = tau;
                Ok(())
            };
            let done = perambulators(&solver, &modes, &[time], columns, watch, &mut keep)?;
            Ok((found, done))
        };
        whole = quarks(session, "", (&left, &file), &mut solved, kind, &tau)?;
        done = left.into_iter().take(solved.count - usize::from(!whole)).collect();
        if let Some((left, file)) = with_insertions.filter(|_| whole) {
            let lines = |time: usize, watch: &mut Monitor| {
                let times = (time, &plan.sink_times[..]);
                generalised(&solver, &modes, times, &plan.insertions, columns, watch)
            };
            whole = quarks(session, "generalised, ", (&left, &file), &mut solved, kind, &lines)?;
        }
        if let Some(source) = plan.noise.as_ref().filter(|_| whole) {
            let about = file::about_noise(source, &modes, &solver)?;
            let look = || file::is_there(&plan.out, file::SOLUTIONS, &modes, &about);
            let mut there = [f64::from(session.comm.agree(if session.first() {
                look()
            } else {
                Ok(false)
            })?)];
            session.comm.sum(&mut there)?;
            if there[0] == 0.0 {
                let mut progress = Progress::new();
                let (found, noise) = {
                    let mut watch = monitor(&session.comm, &mut progress, "noise: ", 0.0);
                    source.solved(&solver, &modes, columns, &mut watch)?
                };
                solved.add(&noise.report, kind);
                whole = noise.whole && noise.report.solver.converged;
                if whole {
                    let data = file::noise_datasets(source, &modes, found, &about)?;
                    file::write(&plan.out, &modes, &data, vec![], IfExists::Append)?;
                }
            }
        }
        say!(
            "# perambulators of source times {:?}: {} iterations, residual {}, {:.2} s{}",
            done,
            solved.iterations,
            output::exponent(solved.residual, 2),
            solved.seconds,
            solved.outcome()
        );
    }
    if let Some(name) = options.get("json").filter(|_| session.first()) {
        let mut found = output::report_json(&modes.report());
        (found["values"], found["residuals"]) = (json!(modes.values()), json!(modes.residuals()));
        let mut about = json!({
            "gauge": files::described(&plan.file, loaded.info.format, extents),
            "modes": found,
            "momenta": plan.elementals.momenta, "out": plan.out,
        });
        if plan.kappa.is_some() {
            about["kappa"] = json!(plan.kappa);
            about["times"] = json!(done);
            about["solver"] = solved.json("quark", &plan.solving);
        }
        output::write_json(name, "distillation", &about)?;
    }
    Ok(session::status(whole && solved.converged))
}

fn run(options: Options) -> Run<i32> {
    let plan = plan(&options)?;
    let goes_on = options.flag("continue");
    let all = options.flag("overwrite");
    output::check(
        options.get("out"),
        all || goes_on,
        "go on with --continue yes and its modes (--load-modes), ",
    )?;
    for name in ["json", "save-modes", "save-multigrid"] {
        output::check(options.get(name), all || (goes_on && name == "json"), "")?;
    }
    session::run(&options, |session| {
        if session.first() {
            session::print_error(&format!("distillation on {}", session.device.name()));
        }
        work(session, &options, &plan)
    })
}
