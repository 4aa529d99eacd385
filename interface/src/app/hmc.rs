//! `plaq hmc`: SU(3) configurations with dynamical quarks or without, by hybrid Monte Carlo.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use num_complex::Complex64;
use serde_json::{json, Map, Value};

use super::files;
use super::options::{opt, word_of, Command, Kind, Need, Opt, Options, LONG};
use super::plot::{self, Panel, Series, BLUE, GREEN, PINK, RED};
use super::session::{self, overwrite, say, Progress, Session};
use super::statistics::{autocorrelation, History};
use super::{interrupted, output, Failure, Run, NOT_COMPLETED};
use crate::bail;
use crate::error::Result;
use crate::fields::{BoundaryTime, GaugeField, Precision, Recon};
use crate::io::{expect_new, write_file, FileFormat, GaugeReader, WriteOptions};
use crate::ops::config::LoadOptions;
use crate::ops::flow::{Flow, FlowKind, FlowParams, FlowPoint};
use crate::ops::hmc::checkpoint::{load_checkpoint, save_checkpoint_of};
use crate::ops::hmc::input::{check_keys, hmc_from_toml, run_boundary, value_of, RUN_KEYS};
use crate::ops::hmc::{Hmc, RunReport, TrajectoryReport};
use crate::ops::observables::polyakov_loop;
use crate::refuse;

const OPTIONS: &[Opt] = &[
    opt("input", Kind::Input, "FILE.toml", "", "action, integrator and, in [run], what the program does; also without --input; examples-c/hmc has some"),
    opt("trajectories", Kind::Whole(1, i64::MAX), "N", "", "how many from here on (trajectories of [run], else 1)"),
    opt("until", LONG, "N", "", "until the chain has N trajectories in all (until of [run], else as --trajectories says)")
        .needs(&[&[Need::Without("trajectories")]]),
    opt("start", Kind::Text, "S", "", "hot, cold, checkpoint (goes on; begins hot where there is none), or the file of a configuration (start of [run], else hot)"),
    opt("continue", Kind::Flag, "B", "no", "yes: the same as --start checkpoint").needs(&[&[Need::Without("start")]]),
    opt("change-action", Kind::Flag, "B", "no", "yes: goes on from a checkpoint of another action or seed"),
    opt("log", Kind::Output(&[]), "FILE.jsonl", "", "a line of JSON for every trajectory (log of [run], else none)"),
    overwrite(&[]),
    opt("seconds", Kind::Number, "LIMIT", "0", "ends before a trajectory that would take longer than until then, with a checkpoint where there is one; 0: no limit"),
    opt("plot", Kind::Output(plot::ENDINGS), "FILE", "", "plaquette, delta H and acceptance over trajectories and the autocorrelation as a picture"),
];

pub const COMMAND: Command = Command {
    name: "hmc",
    usage: &["FILE.toml [options]"],
    about: &[
        "configurations by hybrid Monte Carlo",
        "SU(3) configurations with dynamical quarks or without (docs/hmc.md has the keys of the input). A start from the",
        "checkpoint goes on exactly: trajectories after it come again, their lines of the log and their",
        "configurations are replaced.",
    ],
    tables: &[OPTIONS, session::OPTIONS],
    input: Some("input"),
    example: "hmc examples-c/hmc/quenched.toml --trajectories 3 --plot hmc.svg",
    run,
};

/// The input, with the values of options instead of those in its table `[run]`.
struct Plan {
    text: String,
    lattice: [usize; 4],
    /// Boundaries in time from [run]; `None`: those of the links with which the chain starts.
    boundary: Option<BoundaryTime>,
    start: String,
    trajectories: u64,
    until: Option<u64>,
    log: Option<String>,
    checkpoint: Option<String>,
    checkpoint_every: u64,
    prefix: Option<String>,
    save_every: u64,
    flow_every: u64,
    flow_time: f64,
    flow_step: f64,
    overwrite: bool,
    limit: f64,
}

fn number(text: &str, key: &str) -> Result<Option<f64>> {
    match value_of(text, &format!("run.{key}"))? {
        None => Ok(None),
        Some(toml::Value::Integer(i)) => Ok(Some(i as f64)),
        Some(toml::Value::Float(f)) => Ok(Some(f)),
        Some(other) => {
            refuse!(
                InvalidArgument,
                "run.{key}",
                expected("a number"),
                found("{}", other.type_str())
            )
        }
    }
}

fn count(text: &str, key: &str, otherwise: u64) -> Result<u64> {
    match number(text, key)? {
        None => Ok(otherwise),
        Some(n) if n >= 0.0 && n.fract() == 0.0 => Ok(n as u64),
        Some(n) => {
            refuse!(
                InvalidArgument,
                "run.{key}",
                expected("a whole number, not negative"),
                found("{n}")
            )
        }
    }
}

fn word(text: &str, key: &str) -> Result<Option<String>> {
    match value_of(text, &format!("run.{key}"))? {
        None => Ok(None),
        Some(toml::Value::String(s)) => Ok(Some(s).filter(|s| !s.is_empty())),
        Some(other) => {
            refuse!(InvalidArgument, "run.{key}", expected("text"), found("{}", other.type_str()))
        }
    }
}

fn plan(options: &Options) -> Run<Plan> {
    let text = output::read_text(&options.input()?)?;
    check_keys(&text, "run", RUN_KEYS)?;
    let extent = |mu: usize| -> Result<usize> {
        let found = number(&text, &format!("lattice.{mu}"))?;
        let more = value_of(&text, "run.lattice.4")?.is_some();
        match found.filter(|n| *n >= 2.0 && n.fract() == 0.0 && !more) {
            Some(n) => Ok(n as usize),
            None => refuse!(
                InvalidArgument,
                "run.lattice",
                expected("four even numbers, e.g. lattice = [8, 8, 8, 16]")
            ),
        }
    };
    let lattice = [extent(0)?, extent(1)?, extent(2)?, extent(3)?];
    let own = |key: &str| options.get(key).map(String::from);
    let start = match options.flag("continue") {
        true => "checkpoint".into(),
        false => own("start").or(word(&text, "start")?).unwrap_or("hot".into()),
    };
    let start = word_of(&start, &["hot", "cold", "checkpoint"]).map_or(start, String::from);
    let checkpoint = word(&text, "checkpoint")?;
    let prefix = word(&text, "configurations")?;
    let trajectories = match options.given("trajectories") {
        true => options.whole("trajectories") as u64,
        false => count(&text, "trajectories", 1)?,
    };
    if trajectories < 1 {
        return Err(Failure::usage("run.trajectories: expected 1 or more"));
    }
    let until = match (options.given("until"), options.given("trajectories")) {
        (true, _) => Some(options.whole("until") as u64),
        (_, true) => None,
        _ => Some(count(&text, "until", 0)?).filter(|n| *n > 0),
    };
    if start == "checkpoint" && checkpoint.is_none() {
        return Err(Failure::usage(
            "run.checkpoint: missing; a start from the checkpoint needs its name",
        ));
    }
    let limit = options.number("seconds");
    options.check("seconds", limit >= 0.0, "0 or more")?;
    Ok(Plan {
        lattice,
        boundary: run_boundary(&text)?,
        start,
        trajectories,
        until,
        log: own("log").or(word(&text, "log")?),
        checkpoint_every: count(
            &text,
            "checkpoint_every",
            if checkpoint.is_some() { 10 } else { 0 },
        )?,
        checkpoint,
        save_every: count(&text, "save_every", if prefix.is_some() { 10 } else { 0 })?,
        prefix,
        flow_every: count(&text, "flow_every", 0)?,
        flow_time: number(&text, "flow_time")?.unwrap_or(1.0),
        flow_step: number(&text, "flow_step")?.unwrap_or(0.02),
        overwrite: options.flag("overwrite"),
        limit,
        text,
    })
}

/// The action that a chain samples, as one line of JSON: its monomials, without settings that have no effect on the
/// distribution.
fn action_of(text: &str) -> Result<String> {
    let Some(toml::Value::Array(mut all)) = value_of(text, "monomial")? else {
        return Ok(String::new());
    };
    for monomial in &mut all {
        if let toml::Value::Table(table) = monomial {
            for key in ["solver", "error_force", "interval", "check_every"] {
                table.remove(key);
            }
        }
    }
    let text = serde_json::to_string(&all);
    text.map_err(|e| crate::error::Error::new(crate::error::Status::InvalidArgument, e.to_string()))
}

/// A text that says where two actions differ.
fn difference(there: &str, here: &str) -> String {
    let parse =
        |text: &str| serde_json::from_str::<Vec<Map<String, Value>>>(text).unwrap_or_default();
    let (there, here) = (parse(there), parse(here));
    let name =
        |m: &Map<String, Value>| m.get("name").and_then(Value::as_str).unwrap_or("?").to_string();
    for mine in &here {
        let Some(theirs) = there.iter().find(|m| name(m) == name(mine)) else {
            return format!("the monomial \"{}\" is new", name(mine));
        };
        if let Some(first) = output::differences(theirs, mine).first() {
            return format!("monomial \"{}\": {first}", name(mine));
        }
    }
    let gone = there.iter().find(|m| !here.iter().any(|h| name(h) == name(m)));
    gone.map_or("the order of monomials".into(), |m| {
        format!("the monomial \"{}\" is gone", name(m))
    })
}

fn digest(action: &str) -> String {
    blake3::hash(action.as_bytes()).to_hex()[..16].to_string()
}

/// Refuses a checkpoint of another action or seed, unless that is asked for.
fn check_chain(file: &str, plan: &Plan, action: &str, seed: u64, chain: &Hmc) -> Run<()> {
    let theirs = GaugeReader::open(Path::new(file), None)?.info().ensemble_id.clone();
    if let Some(theirs) = theirs.filter(|t| t.starts_with('[') && *t != action) {
        return Err(Failure::refused(format!(
            "{file}: a checkpoint of another action: {}; --change-action yes goes on with the new one",
            difference(&theirs, action)
        )));
    }
    let found = chain.params().seed;
    if value_of(&plan.text, "seed")?.is_some() && found != seed {
        return Err(Failure::refused(format!(
            "{file}: a checkpoint with seed {found}, the input has {seed}; --change-action yes goes on with {found}"
        )));
    }
    Ok(())
}

fn configuration_name(prefix: &str, number: u64) -> String {
    format!("{prefix}.{number:05}")
}

/// Refuses, before any work, output files that exist already.
fn check_outputs(plan: &Plan, next: u64, last: u64) -> Run<()> {
    let otherwise = if plan.checkpoint.is_some() { "go on with --start checkpoint, " } else { "" };
    output::check(plan.log.as_deref(), plan.overwrite, otherwise)?;
    output::check(plan.checkpoint.as_deref(), plan.overwrite, otherwise)?;
    let Some(prefix) = plan.prefix.as_deref().filter(|_| !plan.overwrite && plan.save_every > 0)
    else {
        return Ok(());
    };
    for n in (next..last).filter(|n| (n + 1) % plan.save_every == 0) {
        let name = configuration_name(prefix, n);
        if Path::new(&name).exists() {
            output::check(Some(&name), false, otherwise)?;
        }
        expect_new(Path::new(&name));
    }
    Ok(())
}

/// Opens a new log, or one to be continued before trajectory `next`; its lines of trajectories from `next` on, and an
/// incomplete last line, are removed.
fn open_log(name: &str, goes_on: bool, next: u64) -> Result<File> {
    let mut kept = String::new();
    if goes_on && Path::new(name).exists() {
        // Where a run was killed a line may end in the midst of a character.
        let text = String::from_utf8_lossy(&output::read_bytes(name)?).into_owned();
        for line in text.split_inclusive('\n').filter(|l| l.ends_with('\n')) {
            let number =
                serde_json::from_str::<Value>(line).ok().and_then(|v| v["trajectory"].as_u64());
            if number.is_some_and(|n| n < next) {
                kept += line;
            }
        }
    }
    write_file(Path::new(name), kept.as_bytes())?;
    match OpenOptions::new().append(true).open(name) {
        Ok(file) => Ok(file),
        Err(e) => bail!(FileWrite, "{name}: {e}"),
    }
}

/// Flows a copy of the links, and measures scales and charge.
fn flow(gauge: &GaugeField, plan: &Plan) -> Result<Value> {
    let mut copy = gauge.to(Precision::F64, Recon::R18)?;
    let p = FlowParams {
        kind: FlowKind::Wilson,
        step: plan.flow_step,
        time: plan.flow_time,
        tolerance: 0.0,
        every: 1,
    };
    let mut no_monitor = |_: &FlowPoint| std::ops::ControlFlow::Continue(());
    let report = Flow::new(&copy, p.kind)?.run(&mut copy, &p, &mut no_monitor)?;
    let charge = report.points.last().map_or(f64::NAN, |p| p.charge);
    let (t0, w0) = (report.t0(FlowPoint::clover), report.w0(FlowPoint::clover));
    Ok(json!({ "time": report.time, "t0": t0, "w0": w0, "charge": charge }))
}

/// The line of the log for a trajectory.
fn log_line(t: &TrajectoryReport, loops: [f64; 2], action: &str) -> Value {
    let mut line = json!({ "schema": output::SCHEMA, "polyakov": loops, "action": action });
    output::extend(&mut line, output::report_json(t));
    let forces = t.monomials.iter().map(|m| (m.name.clone(), output::report_json(m)));
    line["forces"] = Value::Object(forces.collect());
    line
}

/// The histories drawn by --plot.
#[derive(Default)]
struct Histories {
    plaquette: History,
    delta_h: History,
    acceptance: History,
}

fn write_plot(name: &str, h: &Histories) -> Result<()> {
    let rho = autocorrelation(&h.plaquette.values);
    let panel = |title: &str, across, up, series: Series, close| Panel {
        title: title.into(),
        across,
        up,
        series: vec![series],
        close,
    };
    let (mean, _) = plot::with_mean("plaquette", &h.plaquette, 0);
    plot::write(
        name,
        &[
            panel("Plaquette", "trajectory", "plaquette", Series { colour: BLUE, ..mean }, true),
            panel("Energy", "trajectory", "delta H", Series::of("delta H", RED, &h.delta_h), false),
            panel(
                "Acceptance",
                "trajectory",
                "fraction",
                Series::of("accepted so far", GREEN, &h.acceptance),
                false,
            ),
            panel(
                "Autocorrelation of the plaquette",
                "t",
                "rho",
                Series::of("rho(t)", PINK, &rho),
                false,
            ),
        ],
    )
}

/// The boundaries in time of the chain: from [run], or from the file with which it starts.
fn boundary_of(session: &Session, plan: &Plan) -> Result<BoundaryTime> {
    if let Some(boundary) = plan.boundary {
        return Ok(boundary);
    }
    match plan.start.as_str() {
        "hot" | "cold" | "checkpoint" => Ok(BoundaryTime::default()),
        file => {
            let how = LoadOptions { expect: Some(plan.lattice), ..Default::default() };
            Ok(files::read(session, file, &how)?.gauge.geometry().boundary())
        }
    }
}

/// The links with which a chain starts; true if it continues from a checkpoint.
fn start(
    session: &Session,
    options: &Options,
    plan: &Plan,
    gauge: &mut GaugeField,
    chain: &mut Hmc,
    action: &str,
) -> Run<bool> {
    let seed = chain.params().seed;
    match (plan.start.as_str(), &plan.checkpoint) {
        ("cold", _) => gauge.set_unit()?,
        ("hot", _) => gauge.set_random(seed)?,
        ("checkpoint", Some(file)) if Path::new(file).exists() => {
            load_checkpoint(Path::new(file), gauge, chain)?;
            if !options.flag("change-action") {
                check_chain(file, plan, action, seed, chain)?;
            }
            return Ok(true);
        }
        ("checkpoint", _) => gauge.set_random(seed)?,
        (file, _) => {
            let (expect, boundary_time) = (Some(plan.lattice), Some(gauge.geometry().boundary()));
            let how = LoadOptions { expect, boundary_time, ..Default::default() };
            gauge.copy_from(&files::read(session, file, &how)?.gauge)?
        }
    }
    Ok(false)
}

fn run(options: Options) -> Run<i32> {
    let begin = Instant::now();
    let plan = plan(&options)?;
    output::check(options.get("plot"), plan.overwrite, "")?;
    let input = options.input()?;
    let read = [("input", input.as_str()), ("start", plan.start.as_str())];
    let own = [
        ("run.checkpoint", plan.checkpoint.as_deref()),
        ("log", plan.log.as_deref()),
        ("plot", options.get("plot")),
    ];
    let written = || own.iter().filter_map(|(name, file)| Some((*name, (*file)?)));
    output::distinct(read, written())?;
    if let Some(prefix) = plan.prefix.as_deref().filter(|_| plan.save_every > 0) {
        let others = read.into_iter().filter(|_| plan.start != "checkpoint").chain(written());
        output::apart_from_numbered(("run.configurations", prefix), 0..u64::MAX, others)?;
    }
    session::run(&options, |session| {
        let geometry = session.geometry(plan.lattice)?.bounded(boundary_of(session, &plan)?)?;
        let mut chain = hmc_from_toml(&session.device, &geometry, Precision::F64, &plan.text)?;
        let mut gauge = GaugeField::new(&session.device, &geometry, Precision::F64, Recon::R18)?;
        let action = action_of(&plan.text)?;
        let first = u64::from(chain.trajectory());
        let resumes = plan.start == "checkpoint"
            && plan.checkpoint.as_ref().is_some_and(|c| Path::new(c).exists());
        if !resumes {
            check_outputs(&plan, first, plan.until.unwrap_or(first + plan.trajectories))?;
        }
        // All ranks have checked the output files before one of them writes.
        session.comm.agree(Ok(()))?;
        let goes_on = start(session, &options, &plan, &mut gauge, &mut chain, &action)?;
        let next = u64::from(chain.trajectory());
        let last = plan.until.unwrap_or(next + plan.trajectories);
        let mut log = match plan.log.as_ref().filter(|_| session.first()) {
            Some(name) => Some((name, open_log(name, goes_on, next)?)),
            None => None,
        };
        let seed = chain.params().seed;
        say!("# seed {seed}, trajectories from {next} on");
        if last <= next {
            say!("# the chain has {next} trajectories already");
            return Ok(0);
        }
        say!("# trajectory, plaquette, delta H, accepted, iterations");
        let (mut all, mut longest) = (RunReport::default(), 0.0f64);
        let mut history = Histories::default();
        let mut progress = Progress::new();
        let mut done = 0u64;
        let mut ended = None;
        while next + done < last && ended.is_none() {
            let t = chain.run(&mut gauge)?;
            done += 1;
            let n = done as f64;
            all = all.and(&t);
            longest = longest.max(t.seconds);
            let over = plan.limit > 0.0 && begin.elapsed().as_secs_f64() + longest > plan.limit;
            let mut asked = [f64::from(u8::from(interrupted())), f64::from(u8::from(over))];
            session.comm.sum(&mut asked)?;
            if asked[0] > 0.0 {
                ended = Some("INTERRUPTED");
            } else if asked[1] > 0.0 && next + done < last {
                ended = Some("the time is over");
            }
            let number = u64::from(t.trajectory);
            let loops = match geometry.boundary().is_periodic() {
                true => polyakov_loop(&gauge, 3)?,
                false => Complex64::new(f64::NAN, f64::NAN),
            };
            let yes = u8::from(t.accepted);
            say!("{number:8}  {:.12}  {:12.6}  {yes}  {:8}", t.plaquette, t.delta_h, t.iterations);
            let fraction = all.acceptances as f64 / n;
            progress.now_and_then(|| {
                let left = all.run_seconds / n * (last - next - done) as f64;
                format!("{done} of {}, acceptance {fraction:.3}, {left:.0} s left", last - next)
            });
            if options.given("plot") {
                history.plaquette.add(number as f64, t.plaquette);
                history.delta_h.add(number as f64, t.delta_h);
                history.acceptance.add(number as f64, fraction);
            }
            let is_due = |every: u64| every > 0 && (number + 1) % every == 0;
            let flowed = if is_due(plan.flow_every) { Some(flow(&gauge, &plan)?) } else { None };
            if let Some((name, file)) = &mut log {
                let mut line = log_line(&t, [loops.re, loops.im], &digest(&action));
                if let Some(flowed) = flowed {
                    line["flow"] = flowed;
                }
                let written = writeln!(file, "{line}").and_then(|()| file.flush());
                if let Err(e) = written {
                    bail_log(name, &e)?;
                }
            }
            if let Some(prefix) = plan.prefix.as_ref().filter(|_| is_due(plan.save_every)) {
                let write = WriteOptions {
                    sequence_number: Some(number),
                    creator: Some("plaq hmc".into()),
                    ..Default::default()
                };
                files::write(
                    &gauge,
                    &configuration_name(prefix, number),
                    FileFormat::Ildg,
                    &write,
                )?;
            }
            let end = ended.is_some() || next + done == last;
            if let Some(file) = plan.checkpoint.as_ref().filter(|_| plan.checkpoint_every > 0) {
                if end || is_due(plan.checkpoint_every) {
                    save_checkpoint_of(Path::new(file), &gauge, &chain, Some(&action))?;
                }
            }
        }
        let n = done as f64;
        progress.last(&format!("{:.3} s a trajectory", all.run_seconds / n));
        if let Some(why) = ended {
            say!("# {why} after trajectory {}", next + done - 1);
        }
        let (rate, weight) = (all.acceptances as f64 / n, all.exp_minus_delta_h);
        say!("# acceptance {rate:.4}, average of exp(-delta H) {weight:.6}");
        if let Some(name) = options.get("plot").filter(|_| session.first()) {
            write_plot(name, &history)?;
        }
        Ok(if ended == Some("INTERRUPTED") { NOT_COMPLETED } else { 0 })
    })
}

fn bail_log(name: &str, e: &std::io::Error) -> Result<()> {
    bail!(FileWrite, "{name}: {e}")
}
