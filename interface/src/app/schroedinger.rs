//! `plaq schroedinger`: correlators of boundary fields of the Schroedinger functional.

use std::sync::Arc;

use serde_json::{json, Value};

use super::files::{self, described, lattice_text};
use super::options::{opt, Command, Kind, Need, Opt, Options};
use super::quark::{mass_options, monitor, terms, Action, Solved, Solving, KRYLOV_OPTIONS};
use super::session::{self, overwrite, say, Progress, Session};
use super::statistics::jackknife;
use super::{output, Run};
use crate::compose::SolveTotals;
use crate::io::FileFormat;
use crate::ops::schroedinger::{boundary_correlators, BoundaryCorrelators};
use crate::params::Choice as _;

#[rustfmt::skip]
const OPTIONS: &[Opt] = &[
    opt("bin", Kind::Whole(1, i32::MAX as i64), "N", "1", "jackknife bin size in configurations"),
    opt("json", Kind::Output(&[]), "FILE", "", "all correlators as JSON"),
    overwrite(&[&[Need::With("json")]]),
];

pub const COMMAND: Command = Command {
    name: "schroedinger",
    usage: &["FILE... --boundary-time sf --phi A,B,C --phi-prime A,B,C --kappa K [options]"],
    about: &[
        "f_A, f_P, f_1 of the Schroedinger functional",
        "Correlators f_A, f_P and f_1 of boundary fields by slice, g_A and g_P those of the upper boundary; of several",
        "configurations averages with jackknife errors. --boundary has the phases of quarks in space (theta / pi).",
    ],
    tables: &[files::MANY, &mass_options("hopping parameter of the quark"), OPTIONS, &terms(&[]), KRYLOV_OPTIONS, session::OPTIONS],
    input: Some("gauge"),
    example: "schroedinger sf.00001 --boundary-time sf --phi 0,0,0 --phi-prime 0,0,0 --kappa 0.135 --csw 1.8",
    run,
};

/// The correlators of one configuration.
struct Results {
    file: String,
    format: FileFormat,
    lattice: [usize; 4],
    found: BoundaryCorrelators,
    solved: Solved,
}

const NAMES: [&str; 5] = ["f_A", "f_P", "g_A", "g_P", "f_1"];

/// All numbers of the result in one list: f_A, f_P, g_A and g_P by time slice, then f_1.
fn numbers(found: &BoundaryCorrelators) -> Vec<f64> {
    [&found.f_a[..], &found.f_p, &found.g_a, &found.g_p, &[found.f_1]].concat()
}

/// Numbers for JSON; null for those that are not finite.
fn known(values: &[f64]) -> Value {
    values.iter().map(|x| if x.is_finite() { json!(x) } else { Value::Null }).collect()
}

/// The members of the JSON for the numbers in the order of [`numbers`].
fn members(all: &[f64]) -> Value {
    let times = (all.len() - 1) / 4;
    let arrays = all.chunks(times).zip(NAMES);
    let one = |(values, name): (&[f64], &str)| match name {
        "f_1" => (name.to_string(), known(values)[0].clone()),
        _ => (name.to_string(), known(values)),
    };
    Value::Object(arrays.map(one).collect())
}

fn text(x: f64) -> String {
    match x.is_nan() {
        true => format!("{:>16}", "-"),
        false => format!("{:>16}", output::exponent(x, 9)),
    }
}

fn measure(
    session: &Session,
    options: &Options,
    (kappa, action, solving): (f64, &Action, &Solving),
    name: &str,
) -> Run<Results> {
    let loaded = files::read(session, name, &files::reading(options)?)?;
    let lattice = loaded.gauge.geometry().global_extents();
    let op = action.operator(&Arc::new(loaded.gauge), kappa)?;
    let solver = solving.solver(&op, action, 12, None)?;
    let [x, y, z, _] = action.boundary.0;
    let mut progress = Progress::new();
    let (found, report) = {
        let mut watch = monitor(&session.comm, &mut progress, "", solving.settings.tol);
        boundary_correlators(&solver, (solving.settings.columns, [x, y, z]), &mut watch)?
    };
    progress.clear();
    let mut solved = Solved::nothing(solving.kind());
    solved.add(&report, solving.kind());
    Ok(Results { file: name.into(), format: loaded.info.format, lattice, found, solved })
}

impl Results {
    fn print(&self, kappa: f64) {
        let format = files::name_of(self.format);
        say!("# {} ({format}), {}, kappa {kappa}", self.file, lattice_text(self.lattice));
        say!("# x0             f_A              f_P              g_A              g_P");
        let BoundaryCorrelators { f_a, f_p, g_a, g_p, f_1 } = &self.found;
        for t in 0..f_a.len() {
            let row = [f_a[t], f_p[t], g_a[t], g_p[t]].map(text);
            say!("{t:4} {}", row.join(" "));
        }
        let SolveTotals { iterations, residual, seconds, .. } = &*self.solved;
        say!(
            "# f_1 {}, {iterations} iterations, residual {}, {seconds:.1} s{}",
            text(*f_1).trim(),
            output::exponent(*residual, 2),
            self.solved.outcome()
        );
    }
}

fn run(options: Options) -> Run<i32> {
    let names = files::distinct(&options)?;
    let action = Action::of(&options)?;
    let kappa = action.required_kappa(&options)?;
    let solving = Solving::of(&options)?;
    output::check(options.get("json"), options.flag("overwrite"), "")?;
    session::run(&options, |session| {
        files::of_one_run(session, &names, &files::reading(&options)?)?;
        let mut all: Vec<Results> = vec![];
        for name in &names {
            let done = measure(session, &options, (kappa, &action, &solving), name)?;
            done.print(kappa);
            let stopped = done.solved.stopped;
            all.push(done);
            if stopped {
                break;
            }
        }
        let rows: Vec<Vec<f64>> = all.iter().map(|done| numbers(&done.found)).collect();
        let mut averages = Value::Null;
        let bin = options.whole("bin") as usize;
        if rows.len() > 1 {
            let found = jackknife(&rows, bin.min(rows.len()), |_| vec![]);
            averages = json!({ "mean": members(&found.values), "error": members(&found.errors) });
            say!("# averages of {} configurations: f_A, error, f_P, error", rows.len());
            let times = (found.values.len() - 1) / 4;
            for t in 0..times {
                let row = [t, times + t]
                    .map(|k| format!("{} {}", text(found.values[k]), text(found.errors[k])));
                say!("{t:4} {}", row.join(" "));
            }
            let last = 4 * times;
            say!(
                "# f_1 {} +- {}",
                text(found.values[last]).trim(),
                text(found.errors[last]).trim()
            );
        }
        if let Some(name) = options.get("json").filter(|_| session.first()) {
            let one = |done: &Results| {
                json!({
                    "gauge": described(&done.file, done.format, done.lattice),
                    "correlators": members(&numbers(&done.found)), "solver": done.solved.json(solving.kind().word(), &solving),
                })
            };
            let runs: Vec<Value> = all.iter().map(one).collect();
            let report = json!({
                "version": env!("CARGO_PKG_VERSION"), "device": session.device.name(),
                "action": action.json(kappa),
                "runs": runs, "averages": averages,
            });
            output::write_json(name, "schroedinger", &report)?;
        }
        let whole = all.iter().all(|done| done.solved.converged && !done.solved.stopped);
        Ok(session::status(whole))
    })
}
