//! Sources of propagators, from the options.

use super::super::options::{
    integers, items, not_a_word, opt, refuse, Kind, Need, Opt, Options, LONG,
};
use super::super::{Failure, Run};
use crate::fields::Noise;
use crate::ops::propagator::COLUMNS;
use crate::ops::source::{Source, SourceSites};

/// Largest number of sources, including the parts of dilutions.
const MAX_SOURCES: usize = 256;
pub const NOISES: &[&str] = &["none", "z2", "z4"];
const NOISE: &[Need] = &[Need::Is("noise", &["z2", "z4"])];

pub const OPTIONS: &[Opt] = &[
    opt("source", Kind::Text, "S[:S...]", "point,0,0,0,0", "point,x,y,z,t or wall,t; of several the average is taken; or wall,all: a wall on every time slice; or volume: noise on all sites"),
    opt("source-momentum", Kind::Text, "NX,NY,NZ", "0,0,0", "sources carry exp(i p x), p = 2 pi n / L"),
    opt("noise", Kind::Word(NOISES), "N", "none", "none, z2 or z4: sources of noise, one for all spins and colours; without baryons"),
    opt("dilute", Kind::Text, "D[,D...]", "", "of noise: spin, colour, time, parity; each dilution part is solved separately (spin,colour)").needs(&[NOISE]),
    opt("seed", LONG, "S", "0", "seed of the noise").needs(&[NOISE]),
];

/// The parts into which noise is diluted.
#[derive(Clone, Copy, Default)]
struct Dilution {
    spin: bool,
    colour: bool,
    time: bool,
    parity: bool,
}

fn dilution(options: &Options, noise: bool) -> Run<Dilution> {
    let mut d = Dilution::default();
    let Some(text) = options.get("dilute") else {
        return Ok(Dilution { spin: noise, colour: noise, ..d });
    };
    for word in text.split(',') {
        match &*word.to_lowercase() {
            "spin" => d.spin = true,
            "colour" => d.colour = true,
            "time" => d.time = true,
            "parity" => d.parity = true,
            _ => return Err(not_a_word("dilute", word, &["spin", "colour", "time", "parity"])),
        }
    }
    match d.spin && d.colour {
        true => Ok(d),
        // Noise diluted in spin and colour gives twelve columns with the same numbers, which are contracted as a
        // propagator.
        false => Err(Failure::usage(
            "--dilute: expected spin and colour, which contractions need, and perhaps time and parity",
        )),
    }
}

/// A source from the command line; it may mean walls on all time slices.
#[derive(Clone, Debug)]
pub struct RequestedSource {
    pub source: Source,
    pub all_times: bool,
}

impl RequestedSource {
    /// Whether the source is divided into parts that are solved for separately.
    pub fn has_parts(&self) -> bool {
        self.all_times || self.source.dilute[2]
    }
}

fn usage<T>(text: &str) -> Run<T> {
    Err(Failure::usage(text))
}

/// The sources requested by the options: points and walls separated by colons, or alone `wall,all` or `volume`.
pub fn asked(options: &Options) -> Run<Vec<RequestedSource>> {
    let noise = match options.text("noise") {
        "z2" => Some(Noise::Z2),
        "z4" => Some(Noise::Z4),
        _ => None,
    };
    let d = dilution(options, noise.is_some())?;
    let [x, y, z] = integers::<3>("source-momentum", options.text("source-momentum"), -65536)?
        .map(|n| n as i32);
    let text = options.text("source").to_lowercase();
    let all = items("source", &text)?;
    if all.len() > MAX_SOURCES {
        return usage("--source: at most 256");
    }
    let one = |item: &&str| -> Run<RequestedSource> {
        let alone = |what: &str| match all.len() {
            1 => Ok(()),
            _ => usage(&format!("--source: {what} stands alone")),
        };
        let mut all_times = false;
        let source = if let Some(place) = item.strip_prefix("point,") {
            Source::point(integers::<4>("source point", place, 0)?.map(|n| n as usize))
        } else if *item == "wall,all" {
            alone("wall,all")?;
            all_times = true;
            Source::wall(0)
        } else if let Some(time) = item.strip_prefix("wall,") {
            Source::wall(integers::<1>("source wall", time, 0)?[0] as usize)
        } else if *item == "volume" {
            if noise.is_none() {
                return usage("--source: volume: expected --noise z2 or z4, too");
            }
            alone("volume")?;
            // A volume diluted in time is solved for as a wall with the volume's noise on every time slice.
            all_times = d.time;
            if d.time {
                Source::wall(0)
            } else {
                Source::volume()
            }
        } else if *item == "wall" {
            return Err(refuse("source", item, "wall,T with the time slice T, or wall,all"));
        } else {
            let word = item.split(',').next().unwrap_or(item);
            return Err(not_a_word("source", word, &["point", "wall", "volume"]));
        };
        if d.time && !all_times {
            return usage("--dilute: time: expected --source volume or wall,all");
        }
        if d.parity && source.place == SourceSites::Point {
            return usage("--dilute: parity: expected a volume or walls");
        }
        let seed = options.whole("seed") as u64;
        let (momentum, dilute) = ([x, y, z, 0], [d.spin, d.colour, d.parity]);
        Ok(RequestedSource {
            source: Source { momentum, noise, seed, dilute, ..source },
            all_times,
        })
    };
    all.iter().map(one).collect()
}

/// The sources to be solved for, each with twelve columns. `wall,all` becomes a wall on every time slice, with noise
/// the columns of the volume's noise on it; even and odd sites of noise diluted in parity are separate.
pub fn parts(asked: &[RequestedSource], times: usize) -> Run<Vec<Source>> {
    let mut all = vec![];
    for a in asked {
        let parities = if a.source.dilute[2] { 2 } else { 1 };
        for t in 0..if a.all_times { times } else { 1 } {
            for p in 0..parities {
                let mut one = a.source;
                if a.all_times {
                    one.position[3] = t;
                }
                if one.noise.is_some() {
                    one.first = COLUMNS * (p + parities * t);
                    one.count = Some(COLUMNS);
                    if a.all_times {
                        one.place = SourceSites::Volume;
                        one.time_parts = times;
                    }
                }
                all.push(one);
            }
        }
    }
    match all.len() > MAX_SOURCES {
        true => usage("--source: at most 256 with all their parts"),
        false => Ok(all),
    }
}

/// The kind of a source: point, wall or volume; a time slice of a volume counts as a wall.
pub fn kind(s: &Source) -> &'static str {
    match s.place {
        SourceSites::Point => "point",
        SourceSites::Volume if s.time_parts <= 1 => "volume",
        _ => "wall",
    }
}

/// The sites of a source as a word: all, even or odd.
pub fn sites(s: &Source) -> &'static str {
    match (s.dilute[2] && s.noise.is_some(), s.first / COLUMNS % 2) {
        (false, _) => "all",
        (true, 0) => "even",
        _ => "odd",
    }
}

pub fn noise_name(s: &Source) -> &'static str {
    match s.noise {
        Some(Noise::Z2) => "z2",
        Some(Noise::Z4) => "z4",
        _ => "none",
    }
}

/// The source in the spelling of `--source`.
pub fn name(s: &Source) -> String {
    let [x, y, z, t] = s.position;
    let sites = match sites(s) {
        "all" => String::new(),
        parity => format!(",{parity}"),
    };
    match kind(s) {
        "volume" => format!("volume{sites}"),
        "wall" => format!("wall,{t}{sites}"),
        _ => format!("point,{x},{y},{z},{t}"),
    }
}
