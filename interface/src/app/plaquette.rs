//! `plaq plaquette`: gauge observables of configurations.

use serde_json::{json, Value};

use super::files::{self, lattice_text};
use super::options::{opt, Command, Kind, Need, Opt, Options};
use super::session::{self, overwrite, say, Session};
use super::{output, Run, NOT_COMPLETED};
use crate::error::{Result, Status};
use crate::ops::config::{LoadOptions, Loaded};
use crate::ops::observables::{field_strength, polyakov_loop, unitarity};
use crate::ops::wilson_loops::wilson_loops;
use crate::params::Choice as _;

const OPTIONS: &[Opt] = &[
    opt(
        "wilson-loops",
        Kind::Text,
        "R,T",
        "",
        "averages of planar Wilson loops to the sizes R in space and T in time",
    ),
    opt(
        "json",
        Kind::Output(&[]),
        "FILE",
        "",
        "all digits as JSON, a member of \"files\" for each configuration",
    ),
    overwrite(&[&[Need::With("json")]]),
];

pub const COMMAND: Command = Command {
    name: "plaquette",
    usage: &["[options] FILE..."],
    about: &[
        "gauge observables of configurations",
        "Plaquette, Polyakov loop, topological charge, unitarity and Wilson loops. A file that is refused is",
        "named, the others are read; the status is then 1.",
    ],
    tables: &[files::MANY, OPTIONS, session::OPTIONS],
    input: Some("gauge"),
    example: "plaquette --json plaquette.json b6.0.00001 b6.0.00002",
    run,
};

/// Largest extents of Wilson loops in space and in time, from the options; None: not asked for.
fn loop_sizes(options: &Options) -> Run<Option<[usize; 2]>> {
    let Some(text) = options.get("wilson-loops") else { return Ok(None) };
    let sizes = super::options::integers::<2>("wilson-loops", text, 1)?;
    Ok(Some(sizes.map(|n| n as usize)))
}

fn observe(name: &str, loaded: &Loaded, loops: Option<[usize; 2]>) -> Result<Value> {
    let (gauge, info, p) = (&loaded.gauge, &loaded.info, loaded.plaquette);
    let boundary = gauge.geometry().boundary();
    // Lines in time close on periodic lattices only.
    let line = boundary.is_periodic().then(|| polyakov_loop(gauge, 3)).transpose()?;
    let f = field_strength(gauge)?;
    let off = unitarity(gauge)?;
    let extents = gauge.geometry().global_extents();
    let bits = if info.precision_bits == 64 { "double" } else { "single" };
    say!("{name}");
    say!("  format              {}, {bits} precision", files::name_of(info.format));
    say!("  lattice             {}", lattice_text(extents));
    say!("  plaquette           {:.12}", p.total);
    say!("    spatial           {:.12}", p.spatial);
    say!("    temporal          {:.12}", p.temporal);
    say!("  link trace          {:.12}", p.link_trace);
    match line {
        Some(line) => say!("  Polyakov loop       {:.12} {:+.12} i", line.re, line.im),
        None => say!("  boundaries in time  {}", boundary.kind().word()),
    }
    say!("  topological charge  {:.9} (clover leaf)", f.charge);
    say!(
        "  action density      {:.9} spatial, {:.9} temporal",
        f.energy_spatial,
        f.energy_temporal
    );
    say!("  unitarity           {}", output::exponent(off.worst(), 1));
    let mut report = files::described(name, info.format, extents);
    report["plaquette"] = output::report_json(&p);
    report["link_trace"] = json!(p.link_trace);
    report["boundary_time"] = json!(boundary.kind().word());
    report["polyakov_loop"] = json!(line.map(|line| [line.re, line.im]));
    report["charge"] = json!(f.charge);
    report["energy"] = json!({ "spatial": f.energy_spatial, "temporal": f.energy_temporal });
    report["unitarity"] = output::report_json(&off);
    if let Some(sizes) = loops {
        let table = wilson_loops(gauge, sizes)?;
        say!("  Wilson loops        W(R, T), a row for each R");
        for (r, row) in table.iter().enumerate() {
            let row: Vec<String> = row.iter().map(|w| format!("{w:.9}")).collect();
            say!("    {:3}  {}", r + 1, row.join("  "));
        }
        report["wilson_loops"] = json!(table);
    }
    Ok(report)
}

/// Reads a configuration and measures its observables; None if the file is refused. A failure of one rank is a
/// failure of all.
fn read(
    session: &Session,
    name: &str,
    how: &LoadOptions,
    loops: Option<[usize; 2]>,
) -> Result<Option<Value>> {
    let observed = || observe(name, &files::read(session, name, how)?, loops);
    match session.comm.guard(observed) {
        Ok(report) => Ok(Some(report)),
        Err(e) if e.status == Status::CommFailed => Err(e),
        Err(e) => {
            if session.first() {
                session::print_error(&super::in_words(&e));
            }
            Ok(None)
        }
    }
}

fn run(options: Options) -> Run<i32> {
    let names = files::listed(&options)?;
    let loops = loop_sizes(&options)?;
    let how = files::reading(&options)?;
    let json = options.get("json");
    output::check(json, options.flag("overwrite"), "")?;
    session::run_in_steps(&options, |session| {
        let (mut all, mut refused, mut done) = (vec![], 0, 0);
        for name in &names {
            if session.any_interrupted()? {
                break;
            }
            match read(session, name, &how, loops)? {
                Some(report) => all.push(report),
                None => refused += 1,
            }
            done += 1;
        }
        let stopped = done < names.len();
        if stopped {
            say!("# INTERRUPTED after {done} of {} files", names.len());
        }
        if let Some(file) = json.filter(|_| session.first()) {
            let version = env!("CARGO_PKG_VERSION");
            let report =
                json!({ "version": version, "files": all, "refused": refused, "stopped": stopped });
            output::write_json(file, "plaquette", &report)?;
        }
        Ok(if stopped { NOT_COMPLETED } else { i32::from(refused > 0) })
    })
}
