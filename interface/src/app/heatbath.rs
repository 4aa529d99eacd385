//! `plaq heatbath`: quenched configurations by heat bath and overrelaxation.

use std::path::Path;
use std::time::Instant;

use serde_json::{json, Value};

use super::files;
use super::options::{integers, opt, param, word_of, Command, Kind, Need, Opt, Options, COUNT};
use super::plot::{self, Panel};
use super::session::{self, overwrite, say, Progress, Session};
use super::statistics::History;
use super::{interrupted, output, Failure, Run};
use crate::error::Result;
use crate::fields::{BoundaryParams, BoundaryTime, GaugeField, Precision, Recon};
use crate::io::{expect_new, FileFormat, GaugeReader, WriteOptions};
use crate::ops::config::LoadOptions;
use crate::ops::observables::{plaquette, Plaquette};
use crate::ops::quenched::{HeatBath, HeatBathReport, Quenched};
use crate::params::Choice as _;

const fn of(row: &'static str) -> Opt {
    param::<HeatBath>(row, HeatBath::row(row))
}

const OPTIONS: &[Opt] = &[
    opt("lattice", Kind::Text, "X,Y,Z,T", "", "even extents; with a file as start those of the file"),
    of("beta"),
    opt("start", Kind::Text, "S", "hot", "hot, cold, or the file of a configuration"),
    opt(
        "continue",
        Kind::Input,
        "FILE",
        "",
        "go on after a configuration that heatbath wrote (ildg or nersc_3x3) as if it had not stopped: beta, \
         seed, sweep and number are those of the file",
    ),
    of("seed"),
    of("overrelax"),
    files::BOUNDARY_TIME,
    files::PHI,
    files::PHI_PRIME,
    of("cg"),
    param::<HeatBath>("cg-prime", HeatBath::row("cg_prime")),
    opt("thermalise", COUNT, "N", "200", "sweeps before the first configuration"),
    opt("separation", COUNT, "N", "20", "sweeps between configurations"),
    opt("configurations", Kind::Whole(1, i32::MAX as i64), "N", "1", "number of configurations"),
    opt("out", Kind::Output(&[]), "PREFIX", "", "configuration n goes to PREFIX.0000n"),
    files::format_option(&[&[Need::With("out")]]),
    opt(
        "plot",
        Kind::Output(plot::ENDINGS),
        "FILE",
        "",
        "the plaquette after every sweep as a picture, with its mean and error",
    ),
    opt("json", Kind::Output(&[]), "FILE", "", "plaquettes of all configurations as JSON"),
    overwrite(&[&[Need::With("out"), Need::With("plot"), Need::With("json")]]),
];

pub const COMMAND: Command = Command {
    name: "heatbath",
    usage: &["--lattice X,Y,Z,T --beta B [options]", "--continue FILE [options]"],
    about: &[
        "quenched configurations of the Wilson action",
        "SU(3) by heat bath and overrelaxation.",
    ],
    tables: &[OPTIONS, session::OPTIONS],
    input: None,
    example: "heatbath --lattice 8,8,8,16 --beta 6.0 --configurations 10 --out b6.0",
    run,
};

/// Position in a stream of configurations, as stored in the label of each file.
struct StreamPosition {
    /// Number of the last configuration; 0: none yet.
    number: u64,
    separation: u32,
    update: Quenched,
}

impl StreamPosition {
    fn record(&self) -> String {
        let u = &self.update;
        format!(
            "plaq heatbath, configuration {}, sweep {}, beta {}, seed {}, overrelax {}, separation {}{}",
            self.number,
            u.sweep,
            u.beta,
            u.seed,
            u.overrelax,
            self.separation,
            match u.weights {
                [1.0, 1.0] => String::new(),
                [cg, cg_prime] => format!(", cg {cg}, cg_prime {cg_prime}"),
            }
        )
    }

    fn parse(label: &str) -> Option<StreamPosition> {
        let mut words = label.strip_prefix("plaq heatbath")?.split(", ").skip(1);
        let mut next = |name: &str| words.next()?.strip_prefix(name)?.strip_prefix(' ');
        let number = next("configuration")?.parse().ok()?;
        let sweep = next("sweep")?.parse().ok()?;
        let beta = next("beta")?.parse().ok()?;
        let seed = next("seed")?.parse().ok()?;
        let overrelax = next("overrelax")?.parse().ok()?;
        let separation = next("separation")?.parse().ok()?;
        let mut weights = [1.0; 2];
        if let Some(cg) = words.next() {
            weights = [cg.strip_prefix("cg ")?, words.next()?.strip_prefix("cg_prime ")?]
                .map(|word| word.parse().unwrap_or(f64::NAN));
        }
        (words.next().is_none() && weights.iter().all(|w| w.is_finite())).then_some(())?;
        let update = Quenched { sweep, overrelax, weights, ..Quenched::new(beta, seed).ok()? };
        Some(StreamPosition { number, separation, update })
    }

    /// The position given by the ensemble label of a configuration file.
    fn of_file(name: &str) -> Run<StreamPosition> {
        let label = GaugeReader::open(Path::new(name), None)?.info().ensemble_label.clone();
        label.as_deref().and_then(StreamPosition::parse).ok_or_else(|| {
            Failure::refused(format!(
                "--continue: {name}: has no record of heatbath, which writes one to files of the formats \
                 ildg and nersc_3x3"
            ))
        })
    }
}

/// An error if an option is given and differs from the value in the file.
fn agrees(options: &Options, name: &str, of_file: f64) -> Run<()> {
    match !options.given(name) || options.number(name) == of_file {
        true => Ok(()),
        false => Err(Failure::usage(format!(
            "--{name}: {}; the file of --continue has {of_file}",
            options.text(name)
        ))),
    }
}

fn place(options: &Options) -> Run<StreamPosition> {
    let Some(file) = options.get("continue") else {
        options.required("beta")?;
        let update = options.params::<HeatBath>()?.quenched("heatbath")?;
        return Ok(StreamPosition {
            number: 0,
            separation: options.whole("separation") as u32,
            update,
        });
    };
    for (name, text) in [
        ("start", "a stream that goes on starts from the file of --continue"),
        ("thermalise", "it has been done in a stream that goes on"),
    ] {
        if options.given(name) && options.text(name) != "0" {
            return Err(Failure::usage(format!("--{name}: {text}")));
        }
    }
    let mut at = StreamPosition::of_file(file)?;
    agrees(options, "beta", at.update.beta)?;
    agrees(options, "seed", at.update.seed as f64)?;
    agrees(options, "overrelax", at.update.overrelax as f64)?;
    agrees(options, "cg", at.update.weights[0])?;
    agrees(options, "cg-prime", at.update.weights[1])?;
    if options.given("separation") {
        at.separation = options.whole("separation") as u32;
    }
    Ok(at)
}

/// The lattice given by the options; None: not given.
fn lattice(options: &Options) -> Run<Option<[usize; 4]>> {
    let Some(text) = options.get("lattice") else { return Ok(None) };
    Ok(Some(integers::<4>("lattice", text, 0)?.map(|l| l as usize)))
}

/// Reads the links of a file; if it belongs to a stream they are not changed in any way.
fn from_file(
    session: &Session,
    options: &Options,
    file: &str,
    as_they_are: bool,
) -> Run<GaugeField> {
    let expect = lattice(options)?;
    let boundary_time = boundary(options)?;
    let how =
        LoadOptions { expect, reunitarise: !as_they_are, boundary_time, ..Default::default() };
    let loaded = files::read(session, file, &how)?;
    let format = loaded.info.format;
    if as_they_are && (loaded.info.precision_bits != 64 || format == FileFormat::Nersc) {
        return Err(Failure::refused(format!(
            "--continue: {file}: expected all rows of the links in double precision (ildg, nersc_3x3), found {}",
            files::name_of(format)
        )));
    }
    Ok(loaded.gauge)
}

/// Boundaries in time given by the options; None: not given.
fn boundary(options: &Options) -> Run<Option<BoundaryTime>> {
    Ok(options.params::<BoundaryParams>()?.boundary("")?)
}

fn start(session: &Session, options: &Options, at: &StreamPosition) -> Run<GaugeField> {
    if let Some(file) = options.get("continue") {
        return from_file(session, options, file, true);
    }
    let text = options.text("start");
    let hot = match word_of(text, &["hot", "cold"]) {
        Some(word) => word == "hot",
        None => return from_file(session, options, text, false),
    };
    let Some(extents) = lattice(options)? else {
        return Err(Failure::usage("--lattice: missing"));
    };
    let geometry = session.geometry(extents)?.bounded(boundary(options)?.unwrap_or_default())?;
    let mut gauge = GaugeField::new(&session.device, &geometry, Precision::F64, Recon::R18)?;
    match hot {
        true => gauge.set_random(at.update.seed)?,
        false => gauge.set_unit()?,
    }
    Ok(gauge)
}

/// Makes sweeps, and measures the plaquette after each one if a history is wanted; false if interrupted.
fn sweeps(
    session: &Session,
    gauge: &mut GaugeField,
    update: &mut Quenched,
    count: u32,
    mut history: Option<&mut History>,
    progress: &mut Progress,
) -> Result<bool> {
    update.check_sweeps(count as usize)?;
    for done in 1..=count {
        update.run(gauge, 1)?;
        if let Some(history) = &mut history {
            history.add(f64::from(update.sweep), plaquette(gauge)?.total);
        }
        let line = || format!("sweep {done} of {count}");
        if done == count && !interrupted() {
            session.device.synchronize()?;
            progress.last(&line());
        } else {
            progress.now_and_then(line);
        }
        if session.any_interrupted()? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Observables measured on a configuration.
struct Measured {
    number: u64,
    sweeps: u32,
    plaquette: Plaquette,
    file: Option<String>,
}

impl Measured {
    fn json(&self) -> Value {
        let mut all = json!({ "number": self.number, "sweeps": self.sweeps, "file": self.file });
        output::extend(&mut all, output::report_json(&self.plaquette));
        all
    }
}

fn file_name(prefix: &str, number: u64) -> String {
    format!("{prefix}.{number:05}")
}

/// Refuses, before any work, names of files that exist already or cannot be written.
fn check_outputs(options: &Options, at: &StreamPosition, last: u64) -> Run<()> {
    let overwrite = options.flag("overwrite");
    if let Some(prefix) = options.get("out") {
        let named = ["continue", "start", "json", "plot"];
        let others = named.into_iter().filter_map(|name| Some((name, options.get(name)?)));
        output::apart_from_numbered(("out", prefix), at.number + 1..last + 1, others)?;
        for number in at.number + 1..=last {
            let name = file_name(prefix, number);
            if number == at.number + 1 || Path::new(&name).exists() {
                output::check(Some(&name), overwrite, "go on after it with --continue, ")?;
            } else if !overwrite {
                expect_new(Path::new(&name));
            }
        }
    }
    output::check(options.get("plot"), overwrite, "")?;
    output::check(options.get("json"), overwrite, "")
}

fn run(options: Options) -> Run<i32> {
    let mut at = place(&options)?;
    let thermalise = match options.given("continue") {
        true => 0,
        false => options.whole("thermalise") as u32,
    };
    let last = at.number + options.whole("configurations") as u64;
    let format = files::format_of(options.text("format"));
    check_outputs(&options, &at, last)?;
    session::run(&options, |session| {
        let begin = Instant::now();
        let mut gauge = start(session, &options, &at)?;
        say!("# beta {}, seed {}", plot::short(at.update.beta), at.update.seed);
        say!("# configuration, sweeps, plaquette, spatial, temporal, file");
        if let Some(file) = options.get("continue") {
            say!("# continues {file} after sweep {}", at.update.sweep);
        }
        let mut history = options.get("plot").map(|_| History::default());
        let (mut all, mut done) = (vec![], true);
        let mut progress = Progress::new();
        while at.number < last && done {
            let count = if at.number > 0 { at.separation } else { thermalise };
            done = sweeps(
                session,
                &mut gauge,
                &mut at.update,
                count,
                history.as_mut(),
                &mut progress,
            )?;
            if !done {
                let (sweep, next) = (at.update.sweep, at.number + 1);
                say!("# INTERRUPTED after sweep {sweep}, before configuration {next}");
                break;
            }
            at.number += 1;
            let p = plaquette(&gauge)?;
            let file = options.get("out").map(|prefix| file_name(prefix, at.number));
            if let Some(name) = &file {
                let options = WriteOptions {
                    sequence_number: Some(at.number),
                    creator: Some("plaq heatbath".into()),
                    ensemble_label: Some(at.record()),
                    ..Default::default()
                };
                files::write(&gauge, name, format, &options)?;
            }
            let shown = file.as_ref().map_or(String::new(), |name| format!("  {name}"));
            let (number, sweep) = (at.number, at.update.sweep);
            say!(
                "{number:6} {sweep:8}  {:.12} {:.12} {:.12}{shown}",
                p.total,
                p.spatial,
                p.temporal
            );
            all.push(Measured { number, sweeps: sweep, plaquette: p, file });
        }
        if let (Some(name), Some(history)) = (options.get("plot"), &history) {
            // The last sweep of the thermalisation makes the first configuration.
            let first = thermalise.saturating_sub(1) as usize;
            let (series, mean) = plot::with_mean("plaquette", history, first);
            if let Some(mean) = mean {
                let count = history.values.len() - series.band.map_or(0, |b| b.2);
                say!("# plaquette of {count} sweeps: {mean}");
            }
            let lattice = files::lattice_text(gauge.geometry().global_extents());
            let title = format!("Plaquette, beta {}, {lattice}", plot::short(at.update.beta));
            let panel = Panel {
                title,
                across: "sweep",
                up: "plaquette",
                series: vec![series],
                close: true,
            };
            if session.first() {
                plot::write(name, &[panel])?;
            }
        }
        if let Some(name) = options.get("json").filter(|_| session.first()) {
            let u = &at.update;
            let all: Vec<Value> = all.iter().map(Measured::json).collect();
            let seconds = begin.elapsed().as_secs_f64();
            let found = HeatBathReport { next_sweep: u.sweep, stopped: !done, seconds };
            let mut report = json!({
                "version": env!("CARGO_PKG_VERSION"),
                "lattice": gauge.geometry().global_extents(),
                "beta": u.beta, "cg": u.weights[0], "cg_prime": u.weights[1],
                "boundary_time": gauge.geometry().boundary().kind().word(), "seed": u.seed, "overrelax": u.overrelax, "separation": at.separation,
                "configurations": all,
            });
            output::extend(&mut report, output::report_json(&found));
            output::write_json(name, "heatbath", &report)?;
        }
        Ok(session::status(done))
    })
}
