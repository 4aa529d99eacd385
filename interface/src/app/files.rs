//! Files of gauge configurations: the options of subcommands that name them, reading and writing.

use std::path::Path;

use serde_json::{json, Value};

use super::options::{self, opt, param, Kind, Opt, Options};
use super::session::Session;
use super::{output, Run};
use crate::error::Result;
use crate::fields::{BoundaryParams, GaugeField, Precision, Recon};
use crate::io::{FileFormat, WriteOptions};
use crate::ops::config::{lattice_of, load_gauge, save_gauge, LoadOptions, Loaded};
use crate::refuse;

/// Options of subcommands that read one configuration.
pub const ONE: &[Opt] = &[
    opt(
        "gauge",
        Kind::Input,
        "FILE",
        "",
        "configuration, also without --gauge: NERSC, ILDG, MILC, openQCD or DDalphaAMG; the format is \
         detected automatically",
    ),
    WRONG_CHECKSUM,
    HEADER_TOLERANCE,
    BOUNDARY_TIME,
    PHI,
    PHI_PRIME,
];

/// Options of subcommands that read several configurations.
pub const MANY: &[Opt] = &[
    opt(
        "gauge",
        Kind::Input,
        "FILE[:FILE...]",
        "",
        "configurations, also without --gauge and with blanks between: NERSC, ILDG, MILC, openQCD or \
         DDalphaAMG, the format is detected automatically; @LIST: a text file with one file name per line",
    ),
    WRONG_CHECKSUM,
    HEADER_TOLERANCE,
    BOUNDARY_TIME,
    PHI,
    PHI_PRIME,
];

const WRONG_CHECKSUM: Opt = opt(
    "wrong-checksum",
    Kind::Flag,
    "B",
    "no",
    "yes: links are read although the checksum of the file is not theirs",
);
const HEADER_TOLERANCE: Opt = opt(
    "header-tolerance",
    Kind::Number,
    "D",
    "",
    "largest difference of plaquette and link trace between header and links (rounding of the header)",
);

pub const BOUNDARY_TIME: Opt =
    param::<BoundaryParams>("boundary-time", BoundaryParams::row("boundary_time"));
pub const PHI: Opt = param::<BoundaryParams>("phi", BoundaryParams::row("phi"));
pub const PHI_PRIME: Opt = param::<BoundaryParams>("phi-prime", BoundaryParams::row("phi_prime"));

/// Refuses output files that are equal to each other or to an input file.
pub fn all_distinct(options: &Options) -> Run<()> {
    let mut read = vec![];
    for (option, text) in options.read() {
        // Unreadable names are ignored here and refused when the file is read.
        let names = expand(text).unwrap_or_default();
        read.extend(names.into_iter().map(|name| (option, name)));
    }
    output::distinct(read.iter().map(|(option, name)| (*option, name.as_str())), options.outputs())
}

/// Name of the output for one of several configurations: the name given by the option, followed by that of the
/// configuration.
pub fn of_several(base: &str, gauge: &str, several: bool) -> String {
    match several {
        true => format!("{base}.{}", gauge.rsplit('/').next().unwrap_or(gauge)),
        false => base.to_string(),
    }
}

/// Refuses, before any work, outputs that cannot be written, exist and must not be replaced, or are the file of another
/// option. `of_run`: options of one file. `of_each`: options with a file for each configuration, whether it may be
/// replaced, and what can be done instead.
pub fn check_outputs(
    options: &Options,
    names: &[String],
    of_run: &[&str],
    of_each: &[(&str, bool, &str)],
) -> Run<()> {
    let mut written: Vec<(&str, String)> = vec![];
    for name in of_run {
        output::check(options.get(name), options.flag("overwrite"), "")?;
        written.extend(options.get(name).map(|file| (*name, file.into())));
    }
    for (option, replaced, otherwise) in of_each {
        let Some(base) = options.get(option) else { continue };
        for name in names {
            let file = of_several(base, name, names.len() > 1);
            output::check(Some(&file), *replaced, otherwise)?;
            written.push((option, file));
        }
    }
    let read = names.iter().map(|name| ("gauge", name.as_str()));
    output::distinct(read, written.iter().map(|(option, file)| (*option, file.as_str())))
}

/// Expands one argument to file names: `@LIST` to the lines of a file, names separated by colons to each of them.
pub fn expand(text: &str) -> Run<Vec<String>> {
    if let Some(list) = text.strip_prefix('@') {
        let text = output::read_text(list)?;
        let lines = text.lines().map(str::trim);
        return Ok(lines
            .filter(|l| !l.is_empty() && !l.starts_with('#'))
            .map(String::from)
            .collect());
    }
    // The name of an existing file may contain a colon.
    if !text.contains(':') || Path::new(text).exists() {
        return Ok(vec![text.to_string()]);
    }
    Ok(text.split(':').filter(|w| !w.is_empty()).map(String::from).collect())
}

/// The names of configurations on the command line.
pub fn listed(options: &Options) -> Run<Vec<String>> {
    let mut all = vec![];
    for text in options.inputs()? {
        all.extend(expand(&text)?);
    }
    match all.is_empty() {
        true => Err(options::refuse("gauge", options.text("gauge"), "the names of configurations")),
        false => Ok(all),
    }
}

/// The names of configurations on the command line; a repeated name is refused, since reading the same links twice
/// would make errors too small.
pub fn distinct(options: &Options) -> Run<Vec<String>> {
    let all = listed(options)?;
    for (k, name) in all.iter().enumerate() {
        if all[..k].contains(name) {
            return Err(options::refuse("gauge", name, "each configuration once"));
        }
    }
    Ok(all)
}

/// Opens all configurations of a list, before any of them is read as a whole, and refuses one whose lattice or
/// boundaries in time differ from those of the first: measurements on them are averaged, or are rows of one table. All
/// ranks call it.
pub fn of_one_run(session: &Session, names: &[String], how: &LoadOptions) -> Result<()> {
    let check = || {
        let [first, others @ ..] = names else { return Ok(()) };
        if others.is_empty() {
            return Ok(());
        }
        let (lattice, boundary) = lattice_of(Path::new(first), how.boundary_time)?;
        for name in others {
            let (found, other) = lattice_of(Path::new(name), how.boundary_time)?;
            if found != lattice {
                refuse!(
                    FileExtents,
                    name,
                    expected("the lattice of {first}, {}", lattice_text(lattice)),
                    found("{}", lattice_text(found))
                );
            }
            if other != boundary {
                refuse!(
                    FieldMismatch,
                    name,
                    expected("links with boundaries as those of {first}, {boundary}"),
                    found("{other}")
                );
            }
        }
        Ok(())
    };
    session.comm.agree(if session.first() { check() } else { Ok(()) })
}

/// Settings for reading configurations, from the command line.
pub fn reading(options: &Options) -> Run<LoadOptions> {
    let given = options.given("header-tolerance");
    Ok(LoadOptions {
        header: given.then(|| options.number("header-tolerance")),
        wrong_checksum: options.flag("wrong-checksum"),
        boundary_time: options.params::<BoundaryParams>()?.boundary("")?,
        ..Default::default()
    })
}

/// Reads a configuration in double precision.
pub fn read(session: &Session, name: &str, how: &LoadOptions) -> Result<Loaded> {
    let form = (Precision::F64, Recon::R18);
    load_gauge(&session.device, &session.comm, Path::new(name), form.0, form.1, how)
}

/// Words for formats, in the order of [`FileFormat::ALL`].
pub fn name_of(format: FileFormat) -> &'static str {
    let at = FileFormat::ALL.iter().position(|f| *f == format);
    super::options::FORMATS[at.unwrap_or(0)]
}

pub fn format_of(name: &str) -> FileFormat {
    let at = super::options::FORMATS.iter().position(|f| *f == name);
    FileFormat::ALL[at.unwrap_or(2)]
}

/// The option for the format in which links are written.
pub const fn format_option(needs: &'static [&'static [super::options::Need]]) -> Opt {
    opt(
        "format",
        Kind::Word(super::options::FORMATS),
        "F",
        "ildg",
        "nersc, nersc_3x3, ildg, milc, openqcd or ddalphaamg",
    )
    .needs(needs)
}

/// Writes links to a file.
pub fn write(
    gauge: &GaugeField,
    name: &str,
    format: FileFormat,
    options: &WriteOptions,
) -> Result<()> {
    save_gauge(Path::new(name), gauge, format, options)
}

/// Extents as text, like `4 x 4 x 4 x 8`.
pub fn lattice_text(extents: [usize; 4]) -> String {
    extents.map(|l| l.to_string()).join(" x ")
}

/// The member "gauge" of reports: file, format and lattice.
pub fn described(name: &str, format: FileFormat, extents: [usize; 4]) -> Value {
    json!({ "file": name, "format": name_of(format), "lattice": extents })
}
