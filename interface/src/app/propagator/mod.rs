//! `plaq propagator`: quark propagators on gauge configurations, and their hadron correlators.

mod hadrons;
mod hdf5;
mod report;
mod samples;
pub mod sources;
mod work;

use std::time::Instant;

use super::options::{opt, refuse, Command, Kind, Need, Opt, Options};
use super::quark::{self, check_kappa, Action, Method, Solved, Solving};
use super::session::{self, overwrite};
use super::{files, output, plot, smearing, Failure, Run};
use crate::fields::BoundaryTime;
use crate::ops::link_smearing::{LinkSmearing, SmearingKind};
use crate::ops::smearing::{QuarkSmearing, SPACE};
use hadrons::Hadrons;
use samples::Samples;
use serde_json::{json, Map, Value};
use sources::RequestedSource;

const MAX_KAPPAS: usize = 16;

const QUARKS: &[Opt] = &[
    opt("kappa", Kind::Text, "K[,K...]", "", "hopping parameter; up to 16 values, solved from heavy to light; multigrid vectors are reused"),
    quark::mass_option(Kind::Text, "M[,M...]"),
    opt("kappa-strange", Kind::Number, "K", "", "of a second, heavier quark"),
];

const SMEARING: &[Opt] = &[
    opt("source-smear", Kind::Text, "A,N", "", "Gaussian smearing of sources, N steps of weight A, e.g. 0.3,20"),
    opt("sink-smear", Kind::Text, "A,N", "", "the same at the sink"),
    opt("smear-links", Kind::Text, "[KIND,]A[,A..],N", "", "N steps of smearing with weight A of the spatial links in these, ape (the default), stout, hyp or overimproved, e.g. 0.5,5")
        .needs(&[&[Need::With("source-smear"), Need::With("sink-smear")]]),
];

/// Default smearing of the links with which quark fields are smeared.
const LINKS: LinkSmearing = LinkSmearing {
    kind: SmearingKind::Ape,
    steps: 0,
    directions: SPACE as usize,
    alpha: [f64::NAN, 0.6, 0.3],
};

const OUTPUT: &[Opt] = &[
    opt("error", Kind::Number, "R", "0", "also solve to the residual R with multigrid and report the true error in JSON; of one source and one quark"),
    opt("save", Kind::Output(&[]), "FILE", "", "the propagator, SciDAC in LIME; FILE.1 of a second source, FILE.strange of the other quark"),
    opt("load", Kind::Input, "FILE", "", "propagators that --save wrote for the same links, sources and quarks, in place of solves"),
    opt("bin", Kind::Whole(1, i32::MAX as i64), "N", "1", "jackknife bin size in configurations"),
    opt("fit", Kind::Text, "T1,T2", "", "times of the plateau that masses are fitted to (automatic)"),
    opt("json", Kind::Output(&[]), "FILE", "", "everything as JSON, written again and again while the run goes on"),
    opt("hdf5", Kind::Output(&[]), "FILE", "", "correlators of every configuration in HDF5, by libhdf5 (PLAQ_HDF5); Python's plaq.read takes them"),
    opt("continue", Kind::Flag, "B", "no", "yes: configurations and sources that the JSON has already are not done again").needs(&[&[Need::With("json")]]),
    opt("plot", Kind::Output(plot::ENDINGS), "FILE", "", "effective masses as a picture, SVG, PDF or PNG, of several configurations with errors"),
    overwrite(&[&[Need::With("json"), Need::With("hdf5"), Need::With("plot"), Need::With("save"), Need::With("save-multigrid")]]),
];

pub const COMMAND: Command = Command {
    name: "propagator",
    usage: &["FILE... --kappa K[,K...] [options]"],
    about: &[
        "quark propagators and hadron correlators",
        "Correlators of mesons and baryons with effective masses, averages over configurations with jackknife",
        "errors (docs/propagator.md).",
    ],
    tables: &[
        files::MANY,
        QUARKS,
        &quark::terms(&[]),
        sources::OPTIONS,
        hadrons::OPTIONS,
        SMEARING,
        &quark::solver_options_with_multigrid(true),
        &quark::multigrid_options(true),
        OUTPUT,
        session::OPTIONS,
    ],
    input: Some("gauge"),
    example: "propagator b6.0.00001 --kappa 0.12 --csw 1.2 --plot pion.svg",
    run,
};

/// The work of `plaq propagator`, from its options, for all kappas.
struct Plan {
    files: Vec<String>,
    /// The kappas in ascending order, so that heavy quarks come first.
    kappas: Vec<f64>,
    strange: Option<f64>,
    action: Action,
    solving: Solving,
    asked: Vec<RequestedSource>,
    at_source: QuarkSmearing,
    at_sink: QuarkSmearing,
    links: LinkSmearing,
    /// Boundaries in time of the links, as given by the options; None: not given.
    stated: Option<BoundaryTime>,
    bin: usize,
    fit: Option<[usize; 2]>,
    /// Relative residual of the more precise solution with which `--error` compares; None: no comparison.
    tol_error: Option<f64>,
}

impl Plan {
    fn several(&self) -> bool {
        self.kappas.len() > 1
    }

    fn quarks(&self) -> usize {
        1 + usize::from(self.strange.is_some())
    }
}

/// The work for one kappa, with its results.
struct Job {
    kappa: f64,
    hadrons: Hadrons,
    sources: Vec<crate::ops::source::Source>,
    samples: Samples,
    solved: Solved,
    multigrid: Option<Value>,
    /// For `--error`: |x - y| / |y| of each column, where y is the more precise solution.
    errors: Vec<f64>,
    seconds_load: f64,
    seconds_propagator: f64,
}

impl Job {
    /// Everything that must be the same in a run that continues this one, by the names of options.
    fn settings(&self, plan: &Plan) -> Map<String, Value> {
        let first = &plan.asked[0].source;
        let smear = |smearing: &QuarkSmearing| json!([smearing.alpha, smearing.steps]);
        let names = self.hadrons.baryons.iter().map(|b| hadrons::baryon_name(*b));
        let sequential = self.hadrons.sequential.as_ref().map(|s| {
            let time = s.time.map_or(-1, |t| t as i64);
            json!({ "time": time, "gamma": s.gamma.number(), "momentum": s.momentum })
        });
        let mut all = plan.action.settings(self.kappa);
        let others = json!({
            "kappa_strange": plan.strange,
            "source_momentum": first.momentum[..3],
            "noise": sources::noise_name(first),
            "seed": first.seed,
            "source_smear": smear(&plan.at_source),
            "sink_smear": smear(&plan.at_sink),
            "smear_links": smearing::text_of(&plan.links),
            "tol": plan.solving.settings.tol,
            "momenta": self.hadrons.momenta,
            "baryons": names.collect::<Vec<_>>(),
            "sequential": sequential,
            "boundary_time": plan.stated.map(|boundary| boundary.stated()),
        });
        output::extend(&mut all, others);
        let Value::Object(all) = all else { unreachable!("an object and its members") };
        all
    }
}

/// Time at which the JSON was last written, and seconds that writing took.
struct Written {
    at: Instant,
    took: f64,
}

fn numbers_of(options: &Options, name: &str) -> Run<Vec<f64>> {
    let text = options.text(name);
    let one = |w: &str| w.trim().parse().ok().filter(|x: &f64| x.is_finite());
    let all: Option<Vec<f64>> = text.split(',').map(one).collect();
    let Some(all) = all else {
        return Err(refuse(name, text, "a number, or several with commas between"));
    };
    if all.len() > MAX_KAPPAS {
        return Err(Failure::usage(format!("--{name}: expected at most 16")));
    }
    Ok(all)
}

fn kappas(options: &Options, action: &Action) -> Run<Vec<f64>> {
    let mut all = if options.given("mass") {
        let all = numbers_of(options, "mass")?;
        all.into_iter().map(|mass| action.kappa_of(mass)).collect::<Run<_>>()?
    } else {
        if options.get("kappa").is_none() {
            return Err(Failure::usage("--kappa: missing; or give --mass"));
        }
        numbers_of(options, "kappa")?
    };
    for kappa in &all {
        check_kappa("kappa", *kappa)?;
    }
    all.sort_by(f64::total_cmp);
    match all.windows(2).any(|w| w[0] == w[1]) {
        true => Err(Failure::usage("--kappa: a number is given twice")),
        false => Ok(all),
    }
}

fn fit_window(options: &Options) -> Run<Option<[usize; 2]>> {
    let Some(text) = options.get("fit") else { return Ok(None) };
    let [from, to] = super::options::integers::<2>("fit", text, 0)?.map(|n| n as usize);
    match from <= to {
        true => Ok(Some([from, to])),
        false => Err(refuse("fit", text, "a first and a last time")),
    }
}

fn plan(options: &Options) -> Run<(Plan, Hadrons)> {
    let action = Action::of(options)?;
    let kappas = kappas(options, &action)?;
    let strange = options.get("kappa-strange").map(|_| options.number("kappa-strange"));
    let strange = strange.filter(|k| *k != 0.0);
    if let Some(kappa) = strange {
        check_kappa("kappa-strange", kappa)?;
    }
    if strange.is_some() && kappas.len() > 1 {
        return Err(Failure::usage("--kappa-strange: expected one --kappa beside it"));
    }
    let asked = sources::asked(options)?;
    let noise = asked[0].source.noise.is_some();
    let hadrons = Hadrons::of(options, 1 + usize::from(strange.is_some()), noise)?;
    if options.given("save") && options.given("load") {
        return Err(Failure::usage("--load: propagators are loaded or saved, not both"));
    }
    if options.given("save-multigrid") && options.given("load-multigrid") {
        return Err(Failure::usage("--load-multigrid: null vectors are loaded or saved, not both"));
    }
    if options.has("distance-alpha") {
        let volume = asked.iter().any(|a| !a.all_times && sources::kind(&a.source) == "volume");
        if volume || hadrons.sequential.is_some_and(|s| s.time.is_none()) {
            return Err(Failure::usage(
                "--distance-alpha: expected sources on one time slice each, found one on all",
            ));
        }
    }
    let plan = Plan {
        files: files::distinct(options)?,
        kappas,
        strange,
        action,
        solving: Solving::of(options)?,
        at_source: smearing::of_quarks(options, "source-smear")?,
        at_sink: smearing::of_quarks(options, "sink-smear")?,
        links: smearing::of_links(options, "smear-links", LINKS)?,
        stated: files::reading(options)?.boundary_time,
        bin: options.whole("bin") as usize,
        fit: fit_window(options)?,
        tol_error: options.has("error").then(|| options.number("error")),
        asked,
    };
    for name in ["fit", "bin"] {
        if options.given(name) && plan.files.len() == 1 {
            let text = options.get(name).unwrap_or_default();
            return Err(refuse(name, text, "two or more configurations, as one has no error"));
        }
    }
    let one = plan.files.len() == 1 && plan.asked.len() == 1 && !plan.asked[0].has_parts();
    let one = one && hadrons.quarks == 1 && !options.given("load") && !options.flag("continue");
    if plan.tol_error.is_some_and(|tol| tol < 0.0 || !one) {
        return Err(Failure::usage(
            "--error: expected a positive number, one configuration, source and quark, no --load or --continue",
        ));
    }
    Ok((plan, hadrons))
}

/// Refuses, before any work, output files that cannot be written or exist already.
fn check_outputs(options: &Options, plan: &Plan, hadrons: &Hadrons) -> Run<()> {
    let all = options.flag("overwrite");
    if !options.flag("continue") {
        output::check(options.get("json"), all, "go on with --continue yes, ")?;
    } else {
        output::check(options.get("json"), true, "")?;
    }
    for name in ["hdf5", "plot"] {
        output::check(options.get(name), all || options.flag("continue"), "")?;
    }
    if options.given("hdf5") {
        crate::io::hdf5::check()?;
    }
    let mut written: Vec<(&str, String)> = vec![];
    for base in ["save", "save-multigrid"] {
        let Some(name) = options.get(base) else { continue };
        let kappas = if base == "save" { &plan.kappas[..] } else { &plan.kappas[..1] };
        for file in &plan.files {
            for kappa in kappas {
                let quarks = if base == "save" { hadrons.quarks } else { plan.quarks() };
                for quark in 0..quarks {
                    let of_kappa = (base == "save").then_some(*kappa);
                    let name = work::file_of(plan, hadrons, name, file, of_kappa, 0, quark);
                    output::check(Some(&name), all || options.flag("continue"), "")?;
                    written.push((base, name));
                }
            }
        }
    }
    let read = plan.files.iter().map(|name| ("gauge", name.as_str()));
    let others = ["json", "hdf5", "plot"].into_iter();
    let others = others.filter_map(|name| Some((name, options.get(name)?)));
    output::distinct(read, others.chain(written.iter().map(|(base, name)| (*base, name.as_str()))))
}

fn run(options: Options) -> Run<i32> {
    let (plan, hadrons) = plan(&options)?;
    check_outputs(&options, &plan, &hadrons)?;
    let mut jobs: Vec<Job> = plan
        .kappas
        .iter()
        .map(|&kappa| Job {
            kappa,
            hadrons: hadrons.clone(),
            sources: vec![],
            samples: Samples::default(),
            solved: Solved::nothing(plan.solving.kind()),
            multigrid: None,
            errors: vec![],
            seconds_load: 0.0,
            seconds_propagator: 0.0,
        })
        .collect();
    session::run(&options, |session| {
        if session.first() {
            session::print_error(&format!("propagator on {}", session.device.name()));
        }
        let mut found = samples::Configurations::default();
        if options.flag("continue") {
            samples::go_on(options.text("json"), &plan, &mut jobs, &mut found)?;
        }
        // Configurations that are done are not read again.
        let lacks = |c: usize| {
            let of =
                |job: &Job| job.samples.0.get(c).is_none_or(|all| all.iter().any(Option::is_none));
            jobs.iter().any(|job| job.hadrons.times == 0 || of(job))
        };
        let to_read: Vec<String> =
            (0..plan.files.len()).filter(|c| lacks(*c)).map(|c| plan.files[c].clone()).collect();
        files::of_one_run(session, &to_read, &files::reading(&options)?)?;
        let mut written = Written { at: Instant::now(), took: 0.0 };
        let mut finished = true;
        for c in 0..plan.files.len() {
            let mut at = work::Run {
                session,
                options: &options,
                plan: &plan,
                found: &mut found,
                written: &mut written,
            };
            finished = at.configuration(&mut jobs, c)?;
            if !finished {
                break;
            }
        }
        let shown = report::results(&plan, &jobs, &found);
        for result in &shown {
            report::table(session, &options, &plan, result, &found);
        }
        if session.first() {
            if let Some(name) = options.get("json") {
                output::write_json(
                    name,
                    "propagator",
                    &report::json(session, &options, &plan, &jobs, &found),
                )?;
            }
            if let Some(name) = options.get("hdf5") {
                hdf5::write(name, &plan, &jobs, &found)?;
            }
            if let Some(name) = options.get("plot") {
                report::plot(name, &plan, &shown, &found)?;
            }
        }
        Ok(session::status(finished && jobs.iter().all(|j| j.solved.converged)))
    })
}
