//! `plaq convert`: a gauge configuration in another format.

use super::files;
use super::options::{opt, Command, Kind, Need, Opt, Options, FORMATS};
use super::session::{self, overwrite, say};
use super::{output, Run};
use crate::io::WriteOptions;
use crate::ops::config::LoadOptions;

const OPTIONS: &[Opt] = &[
    opt("out", Kind::Output(&[]), "FILE", "", "the file that is written; must be given"),
    opt(
        "format",
        Kind::Word(FORMATS),
        "F",
        "",
        "nersc, nersc_3x3, ildg, milc, openqcd or ddalphaamg; by default the one in which the name of FILE ends, else ildg",
    ),
    opt(
        "file-precision",
        Kind::Word(&["auto", "single", "double"]),
        "P",
        "auto",
        "precision of the written numbers: single, double, or auto: double where the format has it",
    ),
    opt("project", Kind::Flag, "B", "no", "yes: links are put back into SU(3)"),
    opt(
        "unitarity",
        Kind::Number,
        "D",
        "",
        "largest violation of unitarity that is accepted (1e-10 of doubles, 1e-5 of singles)",
    ),
    overwrite(&[&[Need::With("out")]]),
];

pub const COMMAND: Command = Command {
    name: "convert",
    usage: &["FILE --out FILE [--format F] [options]"],
    about: &[
        "a configuration in another file format",
        "Reads a configuration in any format, checks it and writes it in another one. Texts of the header go along",
        "where both formats have them.",
    ],
    tables: &[files::ONE, OPTIONS, session::OPTIONS],
    input: Some("gauge"),
    example: "convert b6.0.00001 --out b6.0.00001.nersc",
    run,
};

fn run(options: Options) -> Run<i32> {
    let name = options.input()?;
    let out = options.required("out")?.to_string();
    output::check(Some(&out), options.flag("overwrite"), "")?;
    let how = LoadOptions {
        reunitarise: options.flag("project"),
        unitarity: options.given("unitarity").then(|| options.number("unitarity")),
        ..files::reading(&options)?
    };
    let ending = out.rsplit('.').next().unwrap_or_default().to_lowercase();
    let format = files::format_of(options.get("format").unwrap_or(match &*ending {
        "lime" => "ildg",
        ending => ending,
    }));
    session::run(&options, |session| {
        let loaded = files::read(session, &name, &how)?;
        let info = &loaded.info;
        let write = WriteOptions {
            precision_bits: match options.text("file-precision") {
                "single" => Some(32),
                "double" => Some(64),
                _ => None,
            },
            ensemble_id: info.ensemble_id.clone(),
            ensemble_label: info.ensemble_label.clone(),
            sequence_number: info.sequence_number,
            creator: info.creator.clone(),
            lfn: info.lfn.clone(),
            ..Default::default()
        };
        files::write(&loaded.gauge, &out, format, &write)?;
        let lattice = files::lattice_text(loaded.gauge.geometry().global_extents());
        let (from, to) = (files::name_of(info.format), files::name_of(format));
        say!(
            "{name} ({from}) -> {out} ({to}), {lattice}, plaquette {:.12}",
            loaded.plaquette.total
        );
        Ok(0)
    })
}
