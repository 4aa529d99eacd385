//! `plaq overlap`: modes of the kernel, low modes and index of the overlap operator, and propagators of chiral
//! quarks.

mod report;
mod work;

use super::options::{opt, param, refuse, Command, Kind, Need, Opt, Options, COUNT};
use super::quark::{boundary, of_quark};
use super::session::{self, overwrite};
use super::{files, output, plot, smearing, Failure, Run};
use crate::operators::Boundary;
use crate::ops::link_smearing::LinkSmearing;
use crate::ops::overlap_settings::{OverlapSettings, OverlapSolving};
use crate::ops::source::Source;

const MAX_MASSES: usize = 16;
const PROPAGATOR: &[&[Need]] = &[&[Need::Is("task", &["propagator"])]];
const PRECONDITIONERS: &[&str] = &["none", "wilson", "multigrid=mg"];

const fn of(name: &'static str, row: &str) -> Opt {
    param::<OverlapSettings>(name, OverlapSettings::row(row))
}

const fn solving(name: &'static str, row: &str) -> Opt {
    param::<OverlapSolving>(name, OverlapSolving::row(row)).needs(PROPAGATOR)
}

const OPTIONS: &[Opt] = &[
    opt("task", Kind::Word(&["modes", "index", "propagator"]), "T", "modes", "modes: low modes of the kernel and the Ginsparg-Wilson relation; index: also low modes of D^dagger D; propagator: these and twelve solves for every mass"),
    of("s", "s"),
    opt("mass", Kind::Text, "M[,M...]", "0.05", "masses of the quark, up to 16"),
    of("delta", "delta"),
    of("sign", "sign"),
    of("modes", "modes"),
    of("modes-tol", "modes_tol"),
    of("high", "high_modes"),
    of("vectors", "vectors"),
    of("block", "block"),
    opt("low", COUNT, "N", "8", "low modes of D^dagger D on either chirality; 0 with --task propagator: none").needs(&[&[Need::Is("task", &["index", "propagator"])]]),
    solving("tol", "tol"),
    solving("solver", "solver").old("algorithm"),
    solving("precision", "sloppy_precision").or("single"),
    opt("preconditioner", Kind::Word(PRECONDITIONERS), "P", "none", "preconditioner of gcr: none, wilson or multigrid, the inverse of the Wilson operator")
        .needs(&[&[Need::Is("task", &["propagator"])], &[Need::Is("solver", &["auto", "gcr"])]]),
    solving("wilson-mass", "wilson_mass").needs(&[&[Need::With("preconditioner")]]),
    of_quark("boundary"),
    opt("source", Kind::Text, "S", "point,0,0,0,0", "point,x,y,z,t or wall,t").needs(PROPAGATOR),
    opt("smear-links", Kind::Text, "[KIND,]A[,A..],N", "", "N steps of smearing with weight A of the links of the kernel, stout (the default), ape, hyp or overimproved, e.g. 0.1,3").old("smear-steps"),
    opt("locality", Kind::Flag, "B", "no", "yes: the largest |D eta|(x) at every distance from a point source eta"),
    opt("save-modes", Kind::Output(&[]), "FILE", "", "writes the modes of the kernel"),
    opt("load-modes", Kind::Input, "FILE", "", "modes that --save-modes wrote, in place of a search"),
    opt("json", Kind::Output(&[]), "FILE", "", "all results as JSON"),
    opt("plot", Kind::Output(plot::ENDINGS), "FILE", "", "eigenvalues of D in the complex plane, of the task modes those of the kernel"),
    overwrite(&[&[Need::With("json"), Need::With("plot"), Need::With("save-modes")]]),
];

pub const COMMAND: Command = Command {
    name: "overlap",
    usage: &["FILE [options]"],
    about: &[
        "chiral quarks: modes, index, propagators",
        "Overlap quarks on a configuration: modes of the kernel, low modes and index, propagators (docs/overlap.md).",
    ],
    tables: &[files::ONE, OPTIONS, session::OPTIONS],
    input: Some("gauge"),
    example: "overlap b6.0.00001 --task index --modes 6 --delta 1e-5",
    run,
};

#[derive(Clone, Copy, PartialEq)]
enum Task {
    Modes,
    Index,
    Propagator,
}

/// The work of `plaq overlap`, from its options.
struct Plan {
    file: String,
    task: Task,
    masses: Vec<f64>,
    settings: OverlapSettings,
    low: usize,
    solving: OverlapSolving,
    boundary: Boundary,
    source: Source,
    /// Smearing of the kernel's links.
    smearing: LinkSmearing,
    locality: bool,
}

impl Plan {
    /// Whether low modes of D have to be found.
    fn low_sought(&self) -> bool {
        self.task != Task::Modes && self.low > 0
    }
}

fn masses(text: &str) -> Run<Vec<f64>> {
    let one = |w: &str| w.trim().parse().ok().filter(|m: &f64| m.is_finite());
    let all: Option<Vec<f64>> = text.split(',').map(one).collect();
    match all {
        None => Err(refuse("mass", text, "a number, or several with commas between")),
        Some(all) if all.len() > MAX_MASSES => Err(Failure::usage("--mass: at most 16 masses")),
        Some(all) => Ok(all),
    }
}

fn source(text: &str) -> Run<Source> {
    use super::options::{integers, not_a_word};
    if let Some(place) = text.strip_prefix("point,") {
        return Ok(Source::point(integers::<4>("source point", place, 0)?.map(|x| x as usize)));
    }
    if let Some(time) = text.strip_prefix("wall,") {
        return Ok(Source::wall(integers::<1>("source wall", time, 0)?[0] as usize));
    }
    if text == "wall" {
        return Err(super::options::refuse("source", text, "wall,T with the time slice T"));
    }
    let word = text.split(',').next().unwrap_or(text);
    Err(not_a_word("source", word, &["point", "wall"]))
}

fn plan(options: &Options) -> Run<Plan> {
    let task = match options.text("task") {
        "index" => Task::Index,
        "propagator" => Task::Propagator,
        _ => Task::Modes,
    };
    let low = options.whole("low");
    let least = i64::from(task != Task::Propagator);
    options.check(
        "low",
        (least..=1000).contains(&low),
        "1 to 1000 modes, or 0 with --task propagator",
    )?;
    let mut solving: OverlapSolving = options.params()?;
    match options.text("preconditioner") {
        "none" => {}
        by => (solving.wilson_iterations, solving.multigrid) = (100, Some(by == "multigrid")),
    }
    Ok(Plan {
        file: options.input()?,
        task,
        masses: masses(options.text("mass"))?,
        settings: options.params()?,
        low: low as usize,
        solving,
        boundary: boundary(options)?,
        source: source(options.text("source"))?,
        smearing: smearing::of_links(options, "smear-links", LinkSmearing::default())?,
        locality: options.flag("locality"),
    })
}

fn run(options: Options) -> Run<i32> {
    let plan = plan(&options)?;
    for file in ["json", "plot", "save-modes"] {
        output::check(options.get(file), options.flag("overwrite"), "")?;
    }
    session::run(&options, |session| {
        if session.first() {
            session::print_error(&format!("overlap on {}", session.device.name()));
        }
        let done = work::all(session, &options, &plan)?;
        report::print(session, &plan, &done);
        if session.first() {
            if let Some(name) = options.get("json") {
                output::write_json(
                    name,
                    "overlap",
                    &report::json(session, &options, &plan, &done),
                )?;
            }
            if let Some(name) = options.get("plot") {
                report::plot(name, &plan, &done)?;
            }
        }
        Ok(session::status(done.quarks.as_ref().is_none_or(|q| q.report.converged)))
    })
}
