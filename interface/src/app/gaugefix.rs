//! `plaq gaugefix`: Landau, Coulomb or maximally Abelian gauge of a configuration.

use std::path::Path;

use serde_json::{json, Value};

use super::files::{self, described, lattice_text};
use super::options::{opt, param, Command, Kind, Need, Opt, Options};
use super::plot::{self, Panel, Series, BLUE, RED};
use super::session::{self, overwrite, say, Progress, Session};
use super::statistics::History;
use super::{interrupted, output, Failure, Run};
use crate::error::Result;
use crate::io::{write_file, WriteOptions};
use crate::ops::config::Loaded;
use crate::ops::gaugefix::{
    fix_gauge, Fixed, GaugeFixParams, GaugeFixReport, GaugeFixing, GaugeKind,
};
use crate::ops::observables::{plaquette, unitarity, Plaquette, Unitarity};
use crate::params::{Choice, Parameters};

const METHODS: &[&str] = &[
    "auto",
    "overrelaxation",
    "relaxation",
    "stochastic",
    "annealing",
    "combined",
    "fourier-descent",
    "fourier-cg",
];
/// Words for directions, with their numbers.
const DIRECTIONS: &[&str] = &["x=0", "y=1", "z=2", "t=3"];
const ANNEALS: &[&[Need]] = &[&[Need::Is("method", &["annealing", "combined"])]];

const fn of(name: &'static str, row: &str) -> Opt {
    param::<GaugeFixing>(name, GaugeFixing::row(row))
}

/// Options of the gauge fixing itself.
const FIXING: &[Opt] = &[
    of("condition", "condition"),
    opt("direction", Kind::Word(DIRECTIONS), "MU", "t", "of Coulomb gauge: the direction that is left out, x, y, z, t or 0 to 3").old("time")
        .sets(GaugeFixing::row("direction"))
        .needs(&[&[Need::Is("condition", &["coulomb"])]]),
    of("residual", "residual").needs(&[&[Need::Is("condition", &["maximally_abelian"])]]),
    opt("method", Kind::Word(METHODS), "M", "auto", "auto (fourier-cg where there is one, else overrelaxation), overrelaxation, relaxation, stochastic, annealing, combined, fourier-descent or fourier-cg"),
    of("precision", "precision"),
    of("omega", "omega")
        .needs(&[&[Need::Is("method", &["auto", "overrelaxation", "annealing", "combined"]), Need::With("residual")]]),
    of("alpha", "alpha").needs(&[&[Need::Is("method", &["auto", "fourier-descent", "fourier-cg"])]]),
    of("probability", "probability").needs(&[&[Need::Is("method", &["stochastic", "combined"])]]),
    of("stochastic-sweeps", "stochastic_sweeps").needs(&[&[Need::Is("method", &["combined"])]]),
    of("hot", "hot").needs(ANNEALS),
    of("cold", "cold").needs(ANNEALS),
    of("temperatures", "temperatures").needs(ANNEALS),
    of("microcanonical", "microcanonical").needs(ANNEALS),
    of("logarithmic", "logarithmic").needs(ANNEALS),
    of("tol", "stop_theta").old("stop-theta"),
    of("tol-max", "stop_theta_max").old("stop-theta-max"),
    of("tol-change", "stop_change").old("stop-change"),
    of("max-iterations", "max_iterations"),
    of("check-every", "check_every"),
    of("copies", "copies"),
    opt("random-start", Kind::Flag, "B", "no", "yes: the first copy starts from a random transformation, too"),
    of("seed", "seed")
        .needs(&[&[Need::With("copies"), Need::Is("random-start", &["yes"]), Need::Is("method", &["stochastic", "annealing", "combined"])]]),
];

const OUTPUT: &[Opt] = &[
    opt("out", Kind::Output(&[]), "FILE", "", "the fixed links"),
    files::format_option(&[&[Need::With("out")]]),
    opt("transformation", Kind::Output(&[]), "FILE", "", "the matrices g(x) as this machine's doubles without a header: sites with x fastest, then y, z, t; each 3 x 3, row major, real and imaginary part; one rank only"),
    opt("json", Kind::Output(&[]), "FILE", "", "all results as JSON"),
    opt("history", Kind::Output(&[]), "FILE", "", "a line for every look: copy, sweeps, functional, theta, temperature"),
    opt("plot", Kind::Output(plot::ENDINGS), "FILE", "", "functional and theta of all looks as a picture"),
    overwrite(&[&[Need::With("out"), Need::With("transformation"), Need::With("json"), Need::With("history"), Need::With("plot")]]),
];

pub const COMMAND: Command = Command {
    name: "gaugefix",
    usage: &["FILE [options]"],
    about: &[
        "Landau, Coulomb or maximally Abelian gauge",
        "Fixes the gauge of a configuration (docs/gaugefix.md). What was reached is written also if it did not",
        "converge; the status is then 3.",
    ],
    tables: &[files::ONE, FIXING, OUTPUT, session::OPTIONS],
    input: Some("gauge"),
    example: "gaugefix b6.0.00001 --condition coulomb --out coulomb.ildg",
    run,
};

/// The number of the direction that Coulomb gauge leaves out.
fn direction(options: &Options) -> usize {
    let text = options.text("direction");
    DIRECTIONS.iter().position(|word| word.starts_with(text)).expect("one of the words")
}

fn params(options: &Options) -> Run<GaugeFixParams> {
    let mut fixing: GaugeFixing = options.params()?;
    if fixing.condition == GaugeKind::Coulomb {
        fixing.direction = direction(options);
    }
    fixing.random_start = options.flag("random-start").into();
    match options.text("method") {
        "relaxation" if options.given("omega") => {
            return Err(Failure::usage("--omega: relaxation has none"))
        }
        "relaxation" => fixing.omega = 1.0,
        method => fixing.set("method", method)?,
    }
    options.check("tol", !options.given("tol") || fixing.stop_theta >= 0.0, "0 or more")?;
    Ok(fixing.params())
}

/// Functional and violation at each check of a fixing, collected by the callback.
#[derive(Default)]
struct FixingHistory {
    functional: History,
    theta: History,
    lines: String,
}

/// The results of a gauge fixing.
struct Results {
    before: Plaquette,
    after: Plaquette,
    unitarity: Unitarity,
    report: GaugeFixReport,
}

impl Results {
    fn converged(&self) -> bool {
        self.report.totals().converged
    }
}

fn short(x: f64) -> String {
    output::exponent(x, 3)
}

fn print_states<'a>(what: &str, states: impl Iterator<Item = &'a Fixed>) {
    say!("#{what:>8}  {:>16}  {:>10}  {:>10}  converged", "functional", "theta", "iterations");
    for (k, s) in states.enumerate() {
        let yes = if s.converged { "yes" } else { "no" };
        say!("{k:9}  {:16.12}  {:>10}  {:10}  {yes}", s.functional, short(s.theta), s.iterations);
    }
}

/// Name of the method that was used.
fn method<'a>(options: &'a Options, report: &GaugeFixReport) -> &'a str {
    match options.text("method") {
        "auto" => report.method.word(),
        asked => asked,
    }
}

fn print(session: &Session, options: &Options, name: &str, loaded: &Loaded, done: &Results) {
    let lattice = lattice_text(loaded.gauge.geometry().global_extents());
    let format = files::name_of(loaded.info.format);
    say!("# {name} ({format}), {lattice}, plaquette {:.12}", done.before.total);
    let (condition, method) = (options.text("condition"), method(options, &done.report));
    let precision = options.text("precision");
    say!("# {condition} gauge by {method}, {precision} precision, {}", session.device.name());
    let r = &done.report;
    print_states("copy", r.copies.iter().map(|c| &c.total));
    if !r.best.slices.is_empty() {
        print_states("slice", r.best.slices.iter());
    }
    let all = r.totals();
    say!(
        "# kept: functional {:.12}, theta {}, copy {}",
        all.functional,
        short(all.theta),
        all.best_copy
    );
    if options.flag("residual") {
        let (f, theta) = (all.residual_functional, short(all.residual_theta));
        say!("# residual: functional {f:.12}, theta {theta}");
    }
    say!("# plaquette {:.12}", done.after.total);
    let iterations = all.iterations + all.residual_iterations;
    let end = match (all.converged, all.stopped) {
        (true, _) => "",
        (_, true) => ", INTERRUPTED",
        _ => ", NOT CONVERGED",
    };
    say!("# {iterations} iterations, {:.3} s{end}", r.seconds);
}

fn json_report(
    session: &Session,
    options: &Options,
    name: &str,
    loaded: &Loaded,
    p: &GaugeFixParams,
    done: &Results,
) -> Value {
    let r = &done.report;
    let copies: Vec<Value> = r.copies.iter().map(|copy| output::report_json(&copy.total)).collect();
    let slices: Vec<Value> = r.best.slices.iter().map(output::report_json).collect();
    let mut report = json!({
        "version": env!("CARGO_PKG_VERSION"), "device": session.device.name(),
        "gauge": described(name, loaded.info.format, loaded.gauge.geometry().global_extents()),
        "condition": options.text("condition"), "direction": direction(options),
        "precision": options.text("precision"),
        "omega": p.omega, "alpha": options.number("alpha"),
        "stop_theta_max": p.stop.theta_max, "stop_change": p.stop.change, "seed": p.seed,
        "plaquette_before": output::report_json(&done.before),
        "plaquette_after": output::report_json(&done.after),
        "unitarity": output::report_json(&done.unitarity),
    });
    output::extend(&mut report, output::report_json(&r.totals()));
    let lists = json!({ "method": method(options, r), "copies": copies, "slices": slices });
    output::extend(&mut report, lists);
    report
}

fn write_plot(name: &str, file: &str, looks: &FixingHistory) -> Result<()> {
    let file = file.rsplit('/').next().unwrap_or_default();
    let panel = |title: &str, up, history: &History, name: &str, colour| Panel {
        title: format!("{title}, {file}"),
        across: "sweep",
        up,
        series: vec![Series::of(name, colour, history)],
        close: true,
    };
    plot::write(
        name,
        &[
            panel("Gauge functional", "F", &looks.functional, "F", BLUE),
            panel("Violation of the gauge condition", "log10 theta", &looks.theta, "theta", RED),
        ],
    )
}

fn run(options: Options) -> Run<i32> {
    let name = options.input()?;
    let p = params(&options)?;
    for file in ["out", "transformation", "json", "history", "plot"] {
        output::check(options.get(file), options.flag("overwrite"), "")?;
    }
    session::run(&options, |session| {
        if options.given("transformation") && session.comm.size() > 1 {
            return Err(Failure::usage("--transformation: needs one rank"));
        }
        if session.first() {
            session::print_error(&format!("gaugefix on {}", session.device.name()));
        }
        let mut loaded = files::read(session, &name, &files::reading(&options)?)?;
        let before = loaded.plaquette;
        let mut looks = FixingHistory {
            lines: "# copy, sweeps, functional, theta, temperature\n".into(),
            ..FixingHistory::default()
        };
        let mut progress = Progress::new();
        let fixed = fix_gauge(&loaded.gauge, &p, &mut |at| {
            let (sweeps, q) = (at.sweeps as f64, &at.quality);
            looks.functional.add(sweeps, q.functional);
            looks.theta.add(sweeps, if q.theta > 0.0 { q.theta.log10() } else { f64::NAN });
            if options.given("history") {
                let hot = at.temperature.unwrap_or(0.0);
                looks.lines +=
                    &format!("{} {} {} {} {hot}\n", at.copy, at.sweeps, q.functional, q.theta);
            }
            progress.now_and_then(|| {
                let hot = at.temperature.map_or(String::new(), |t| format!(", temperature {t:.4}"));
                format!(
                    "copy {}, {} sweeps, functional {:.10}, theta {}{hot}",
                    at.copy,
                    at.sweeps,
                    q.functional,
                    short(q.theta)
                )
            });
            session.comm.stop(interrupted())
        })?;
        progress.clear();
        loaded.gauge = fixed.gauge;
        let gauge = &loaded.gauge;
        let done = Results {
            before,
            after: plaquette(gauge)?,
            unitarity: unitarity(gauge)?,
            report: fixed.report,
        };
        if let Some(file) = options.get("out") {
            let write = WriteOptions {
                sequence_number: loaded.info.sequence_number,
                creator: Some("plaq gaugefix".into()),
                ..Default::default()
            };
            files::write(gauge, file, files::format_of(options.text("format")), &write)?;
        }
        if let Some(file) = options.get("transformation") {
            let matrices = fixed.transformation.to_array()?;
            write_file(Path::new(file), bytemuck::cast_slice(&matrices))?;
        }
        print(session, &options, &name, &loaded, &done);
        if session.first() {
            if let Some(file) = options.get("history") {
                write_file(Path::new(file), looks.lines.as_bytes())?;
            }
            if let Some(file) = options.get("json") {
                output::write_json(
                    file,
                    "gaugefix",
                    &json_report(session, &options, &name, &loaded, &p, &done),
                )?;
            }
            if let Some(file) = options.get("plot") {
                write_plot(file, &name, &looks)?;
            }
        }
        Ok(session::status(done.converged()))
    })
}
