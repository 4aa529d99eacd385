//! `plaq flow`: gradient flow of configurations: action density, scales t0 and w0, topological charge.

use std::ops::ControlFlow;

use serde_json::{json, Value};

use super::files::{self, described};
use super::options::{opt, param, Command, Kind, Need, Opt, Options};
use super::plot::{self, Panel, Series, COLOURS, GREY};
use super::session::{self, overwrite, say, Progress, Session};
use super::statistics::jackknife;
use super::{interrupted, output, Run};
use crate::error::Result;
use crate::io::FileFormat;
use crate::ops::flow::{Flow, FlowParams, FlowPoint, FlowReport, FlowTotals};
use crate::ops::time_slices::{time_slices, TimeSlices};

const fn of(name: &'static str, row: &str) -> Opt {
    param::<FlowParams>(name, FlowParams::row(row))
}

const OPTIONS: &[Opt] = &[
    of("flow", "kind"),
    of("step", "step"),
    of("time", "time").or("1"),
    of("tol", "tolerance").old("tolerance"),
    of("every", "every"),
    opt(
        "slices",
        Kind::Flag,
        "B",
        "no",
        "yes: also energy and charge of every time slice at the end, summed over space",
    ),
    opt("bin", Kind::Whole(1, i32::MAX as i64), "N", "1", "jackknife bin size in configurations"),
    opt("json", Kind::Output(&[]), "FILE", "", "all measurements as JSON"),
    opt("plot", Kind::Output(plot::ENDINGS), "FILE", "", "t^2 E over t as a picture"),
    overwrite(&[&[Need::With("json"), Need::With("plot")]]),
];

pub const COMMAND: Command = Command {
    name: "flow",
    usage: &["FILE... [options]"],
    about: &[
        "gradient flow: t0, w0, topological charge",
        "Action density, scales t0 and w0 and topological charge along the gradient flow of configurations; of",
        "several averages with jackknife errors.",
    ],
    tables: &[files::MANY, OPTIONS, session::OPTIONS],
    input: Some("gauge"),
    example: "flow b6.0.00001 --time 4 --plot flow.svg",
    run,
};

/// The gradient flow of one configuration.
struct Flowed {
    file: String,
    format: FileFormat,
    lattice: [usize; 4],
    report: FlowReport,
    /// Energy and charge of time slices at the end of the flow; None: not asked for.
    slices: Option<TimeSlices>,
    seconds: f64,
}

fn t2e(p: &FlowPoint) -> f64 {
    p.time * p.time * p.clover()
}

fn column(points: &[FlowPoint], of: impl Fn(&FlowPoint) -> f64) -> Vec<f64> {
    points.iter().map(of).collect()
}

fn arrays(points: &[FlowPoint]) -> Value {
    json!({
        "t": column(points, |p| p.time),
        "plaquette_spatial": column(points, |p| p.plaquette_spatial),
        "plaquette_temporal": column(points, |p| p.plaquette_temporal),
        "energy_spatial": column(points, |p| p.energy_spatial),
        "energy_temporal": column(points, |p| p.energy_temporal),
        "charge": column(points, |p| p.charge),
    })
}

impl Flowed {
    fn json(&self, options: &Options) -> Value {
        let slices = self
            .slices
            .as_ref()
            .map(|s| json!({ "plaquette": s.plaquette, "clover": s.clover, "charge": s.charge }));
        let mut all = json!({
            "version": env!("CARGO_PKG_VERSION"), "gauge": described(&self.file, self.format, self.lattice),
            "kind": options.text("flow"), "step": options.number("step"), "tol": options.number("tol"),
            "flow": arrays(&self.report.points), "slices": slices,
        });
        output::extend(&mut all, output::report_json(&self.totals()));
        all
    }

    fn totals(&self) -> FlowTotals {
        self.report.totals(self.seconds)
    }

    /// Scales in lattice units: t0 from clover leaves, t0 from plaquettes, w0 from clover leaves, w0 from plaquettes;
    /// NaN if the flow ends before.
    fn scales(&self) -> [f64; 4] {
        let FlowTotals { t0_clover, t0_plaquette, w0_clover, w0_plaquette, .. } = self.totals();
        [t0_clover, t0_plaquette, w0_clover, w0_plaquette].map(|x| x.unwrap_or(f64::NAN))
    }

    fn charge(&self) -> f64 {
        self.report.points.last().map_or(f64::NAN, |p| p.charge)
    }

    fn print(&self) {
        say!("# t, plaquette spatial, temporal, E spatial, temporal, t^2 E, charge");
        for p in &self.report.points {
            say!(
                "{:9.5}  {:.10} {:.10}  {:.8} {:.8}  {:.8}  {:9.5}",
                p.time,
                p.plaquette_spatial,
                p.plaquette_temporal,
                p.energy_spatial,
                p.energy_temporal,
                t2e(p),
                p.charge
            );
        }
        let [t0, t0_p, w0, w0_p] = self.scales();
        let end = self.report.points.last().map_or(0.0, t2e);
        match t0.is_nan() {
            true => {
                say!("# t0: not reached, t^2 E = {end:.4} at the end is below 0.3: a longer --time")
            }
            false => say!("# t0 {t0:.6} (plaquette: {t0_p:.6})"),
        }
        match w0.is_nan() {
            true => say!("# w0: not reached"),
            false => say!("# w0 {w0:.6} (plaquette: {w0_p:.6})"),
        }
        say!("# {} steps", self.report.steps);
        if let Some(slices) = &self.slices {
            say!("# slice, E plaquette, E clover, charge at t = {:.5}", self.report.time);
            for (t, energy) in slices.plaquette.iter().enumerate() {
                let numbers = [*energy, slices.clover[t], slices.charge[t]];
                say!("{t:6}  {}", numbers.map(|v| output::exponent(v, 10)).join("  "));
            }
        }
        if self.report.stopped {
            say!("# INTERRUPTED at t = {:.5}", self.report.time);
        }
    }
}

fn flow(session: &Session, options: &Options, name: &str, p: &FlowParams) -> Run<Flowed> {
    let mut loaded = files::read(session, name, &files::reading(options)?)?;
    let begin = std::time::Instant::now();
    let mut progress = Progress::new();
    let mut flow = Flow::new(&loaded.gauge, p.kind)?;
    let lattice = loaded.gauge.geometry().global_extents();
    let report = flow.run(&mut loaded.gauge, p, &mut |at| {
        progress.now_and_then(|| {
            format!(
                "t {:.4} of {:.4}, t^2 E {:.5}, charge {:.4}",
                at.time,
                p.time,
                t2e(at),
                at.charge
            )
        });
        match interrupted() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    let seconds = begin.elapsed().as_secs_f64();
    progress.last(&format!("t {:.4}, {seconds:.3} s", report.time));
    let format = loaded.info.format;
    let slices = options.flag("slices").then(|| time_slices(&loaded.gauge)).transpose()?;
    Ok(Flowed { file: name.into(), format, lattice, report, slices, seconds })
}

/// Averages with errors of the scales and of the squared charge, over the configurations that reach them.
fn averages(all: &[Flowed], bin: usize) -> Vec<(&'static str, f64, f64, usize)> {
    let names = ["t0", "t0 (plaquette)", "w0", "w0 (plaquette)", "charge", "charge^2"];
    let rows: Vec<Vec<f64>> = all
        .iter()
        .map(|f| {
            let q = f.charge();
            [&f.scales()[..], &[q, q * q]].concat()
        })
        .collect();
    let one = |(k, name): (usize, &&'static str)| {
        let known: Vec<Vec<f64>> =
            rows.iter().filter(|r| r[k].is_finite()).map(|r| vec![r[k]]).collect();
        if known.is_empty() {
            return (*name, f64::NAN, f64::NAN, 0);
        }
        let j = jackknife(&known, bin.min(known.len()), |_| vec![]);
        (*name, j.values[0], j.errors[0], known.len())
    };
    names.iter().enumerate().map(one).collect()
}

fn write_plot(name: &str, all: &[Flowed]) -> Result<()> {
    let first = &all[0];
    let points = &first.report.points;
    let time = column(points, |p| p.time);
    let mut reference = Series::new("0.3", GREY, vec![0.3; time.len()]);
    (reference.at, reference.line) = (time, true);
    // A colour and a symbol for each configuration.
    let of = |(k, f): (usize, &Flowed)| {
        let what = match all.len() {
            1 => "clover",
            _ => f.file.rsplit('/').next().unwrap_or_default(),
        };
        let label = match f.scales()[0] {
            t0 if t0.is_nan() => what.to_string(),
            t0 => format!("{what}, t0 = {}", plot::short(t0)),
        };
        let mut s = Series::new(&label, COLOURS[k % COLOURS.len()], column(&f.report.points, t2e));
        s.at = column(&f.report.points, |p| p.time);
        s
    };
    let title = format!("Gradient flow of {}", plot::ensemble(all.iter().map(|f| &*f.file)));
    let mut series: Vec<Series> = all.iter().enumerate().map(of).collect();
    series.push(reference);
    plot::write(name, &[Panel { title, across: "t / a^2", up: "t^2 E", series, close: false }])
}

fn run(options: Options) -> Run<i32> {
    let names = files::distinct(&options)?;
    let p: FlowParams = options.params()?;
    let keeps = options.flag("overwrite");
    output::check(options.get("json"), keeps, "")?;
    output::check(options.get("plot"), keeps, "")?;
    session::run(&options, |session| {
        files::of_one_run(session, &names, &files::reading(&options)?)?;
        let mut all: Vec<Flowed> = vec![];
        for name in &names {
            if names.len() > 1 {
                say!("# {name}");
            }
            let flowed = flow(session, &options, name, &p)?;
            flowed.print();
            let stopped = flowed.report.stopped;
            all.push(flowed);
            if stopped {
                break;
            }
        }
        let whole = all.iter().all(|f| !f.report.stopped);
        let mut report = all[0].json(&options);
        if names.len() > 1 {
            let means = averages(&all, options.whole("bin") as usize);
            say!("# averages of {} configurations", all.len());
            for (name, value, error, count) in &means {
                say!("# {name:15} {value:.6} +- {error:.6} ({count})");
            }
            let runs: Vec<Value> = all.iter().map(|f| f.json(&options)).collect();
            let means = means.iter().map(|(name, value, error, count)| {
                (
                    name.to_string(),
                    json!({ "mean": value, "error": error, "configurations": count }),
                )
            });
            report = json!({ "version": env!("CARGO_PKG_VERSION"), "averages": Value::Object(means.collect()), "runs": runs });
        }
        if session.first() {
            if let Some(name) = options.get("json") {
                output::write_json(name, "flow", &report)?;
            }
            if let Some(name) = options.get("plot") {
                write_plot(name, &all)?;
            }
        }
        Ok(session::status(whole))
    })
}
