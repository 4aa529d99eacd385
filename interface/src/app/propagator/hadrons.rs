//! The correlators that `plaq propagator` computes from quark propagators.

use num_complex::Complex64;
use serde_json::{json, Value};

use super::super::options::{
    integers, momenta, momenta_option, not_a_word, opt, refuse, Kind, Opt, Options,
};
use super::super::{Failure, Run};
use crate::error::Result;
use crate::fields::SpinorField;
use crate::operators::Boundary;
use crate::ops::contract::{baryon, mesons, Baryon, Closing, Sink};
use crate::ops::gamma::Gamma;
use crate::ops::source::{Sequential, Source};

pub const GAMMAS: usize = 16;
/// Names of the baryons, in the order of [`Baryon::ALL`].
const NAMES: [&str; 8] =
    ["nucleon", "sigma", "xi", "lambda", "delta", "sigma_star", "xi_star", "omega"];
/// The mesons by their quark and antiquark, light or strange, with the numbers of these quarks.
const PAIRS: [(&str, usize, usize); 3] = [("ll", 0, 0), ("ls", 0, 1), ("ss", 1, 1)];

pub const OPTIONS: &[Opt] = &[
    opt("sequential", Kind::Text, "T,G,NX,NY,NZ", "", "sequential source: time of the sink from the source (-1: all), gamma number (0-15), momentum; mesons \"ls\" are then three-point functions; without baryons"),
    momenta_option("0,0,0", "momenta nx,ny,nz of the sink; the table shows the first"),
    opt("baryons", Kind::Text, "B[,B...]", "", "nucleon, sigma, xi, lambda, delta, sigma_star, xi_star, omega; all; none (nucleon; with noise or --sequential none)"),
];

/// Correlators over the time from the source. Numbers are (re, im) of mesons \[pair\]\[momentum\]\[gamma\]\[t\], then
/// of baryons \[momentum\]\[baryon\]\[t\].
#[derive(Clone, Debug)]
pub struct Hadrons {
    /// Number of quarks: 2 also with a sequential propagator, which takes the strange one's place.
    pub quarks: usize,
    pub times: usize,
    pub momenta: Vec<[i32; 3]>,
    /// The sequential source, if there is one, with its time counted from the source; time and origin become those of
    /// each source.
    pub sequential: Option<Sequential>,
    pub baryons: Vec<Baryon>,
}

/// The quantum numbers that identify a correlator.
pub enum Name {
    /// Quark and antiquark, and the gamma of source and sink.
    Meson {
        quarks: &'static str,
        momentum: [i32; 3],
        gamma: usize,
    },
    Baryon {
        name: &'static str,
        momentum: [i32; 3],
    },
}

fn baryons(text: &str) -> Run<Vec<Baryon>> {
    let text = &*text.to_lowercase();
    match text {
        "none" => return Ok(vec![]),
        "all" => return Ok(Baryon::ALL.to_vec()),
        _ => {}
    }
    let mut all = vec![];
    for word in text.split(',') {
        let Some(k) = NAMES.iter().position(|n| *n == word) else {
            if word == "all" || word == "none" {
                return Err(Failure::usage("--baryons: all and none stand alone"));
            }
            return Err(not_a_word("baryons", word, &[&["all", "none"][..], &NAMES].concat()));
        };
        if all.contains(&Baryon::ALL[k]) {
            return Err(Failure::usage(format!("--baryons: {word} is given twice")));
        }
        all.push(Baryon::ALL[k]);
    }
    Ok(all)
}

pub fn baryon_name(b: Baryon) -> &'static str {
    NAMES[Baryon::ALL.iter().position(|n| *n == b).unwrap_or(0)]
}

fn sequential(options: &Options) -> Run<Option<Sequential>> {
    let Some(text) = options.get("sequential") else { return Ok(None) };
    let [t, gamma, x, y, z] = integers::<5>("sequential", text, -65536)?;
    if t < -1 || !(0..GAMMAS as i64).contains(&gamma) {
        let expected =
            "a time from the source or -1, the number of a gamma, 0 to 15, and three momenta";
        return Err(refuse("sequential", text, expected));
    }
    Ok(Some(Sequential {
        time: usize::try_from(t).ok(),
        gamma: Gamma::new(gamma as i32)?,
        momentum: [x, y, z].map(|n| n as i32),
        origin: [0; 3],
    }))
}

impl Hadrons {
    /// The correlators requested by the options; `quarks` is the number of quarks with different masses.
    pub fn of(options: &Options, quarks: usize, noise: bool) -> Run<Hadrons> {
        let sequential = sequential(options)?;
        let usual = if noise || sequential.is_some() { "none" } else { "nucleon" };
        let baryons = baryons(options.get("baryons").unwrap_or(usual))?;
        let momenta = momenta(options)?;
        if noise && !baryons.is_empty() {
            return Err(Failure::usage("--baryons: expected none with noise"));
        }
        if sequential.is_some() && (quarks > 1 || options.has("sink-smear") || !baryons.is_empty())
        {
            return Err(Failure::usage(
                "--sequential: expected no strange quark, sink smearing or baryons",
            ));
        }
        let quarks = if sequential.is_some() { 2 } else { quarks };
        Ok(Hadrons { quarks, times: 0, momenta, sequential, baryons })
    }

    fn pairs(&self) -> &'static [(&'static str, usize, usize)] {
        &PAIRS[..if self.quarks == 2 { 3 } else { 1 }]
    }

    fn of_pair(&self) -> usize {
        2 * self.momenta.len() * GAMMAS * self.times
    }

    pub fn numbers(&self) -> usize {
        self.pairs().len() * self.of_pair()
            + 2 * self.momenta.len() * self.baryons.len() * self.times
    }

    /// Contracts the correlators of one source.
    pub fn contract(
        &self,
        quarks: &[SpinorField],
        source: &Source,
        boundary: Boundary,
    ) -> Result<Vec<f64>> {
        let origin = source.position;
        let mut all = Vec::with_capacity(self.numbers());
        let mut add = |values: Vec<Complex64>| all.extend(values.iter().flat_map(|z| [z.re, z.im]));
        for &(_, quark, antiquark) in self.pairs() {
            for &momentum in &self.momenta {
                let sink = Sink::new(origin, momentum);
                let lines = mesons(&quarks[quark], &quarks[antiquark], sink)?;
                Gamma::all().for_each(|g| add(lines.correlator(g, g)));
            }
        }
        let closed = Closing::plain(boundary);
        for &momentum in &self.momenta {
            for &name in &self.baryons {
                // Without a strange quark the light one stands in its place.
                let strange = Some(&quarks[self.quarks - 1]);
                add(baryon(name, &quarks[0], strange, (origin, momentum), closed)?);
            }
        }
        Ok(all)
    }

    /// Real parts of the correlator of a meson of light quarks at the first momentum.
    pub fn meson(&self, numbers: &[f64], gamma: Gamma) -> Vec<f64> {
        let first = 2 * gamma.number() * self.times;
        (0..self.times).map(|t| numbers[first + 2 * t]).collect()
    }

    /// Real parts of the correlator of the nucleon; NaN if it was not computed.
    pub fn nucleon(&self, numbers: &[f64]) -> Vec<f64> {
        let Some(k) = self.baryons.iter().position(|b| *b == Baryon::Nucleon) else {
            return vec![f64::NAN; self.times];
        };
        let first = self.pairs().len() * self.of_pair() + 2 * k * self.times;
        (0..self.times).map(|t| numbers[first + 2 * t]).collect()
    }

    /// The names of the correlators, in the order of their numbers; a correlator has 2 real numbers for each time.
    pub fn names(&self) -> Vec<Name> {
        let mut all = vec![];
        for &(quarks, ..) in self.pairs() {
            for &momentum in &self.momenta {
                all.extend((0..GAMMAS).map(|gamma| Name::Meson { quarks, momentum, gamma }));
            }
        }
        for &momentum in &self.momenta {
            all.extend(
                self.baryons.iter().map(|b| Name::Baryon { name: baryon_name(*b), momentum }),
            );
        }
        all
    }

    /// The members "mesons" and "baryons" of the report, with errors if there are any.
    pub fn json(&self, numbers: &[f64], errors: Option<&[f64]>) -> (Value, Value) {
        let mut at = 0;
        let mut one = |mut entry: Value| {
            let part = |of: &[f64], k: usize| -> Vec<f64> {
                of[at..at + 2 * self.times].iter().skip(k).step_by(2).copied().collect()
            };
            entry["re"] = json!(part(numbers, 0));
            entry["im"] = json!(part(numbers, 1));
            if let Some(errors) = errors {
                entry["re_error"] = json!(part(errors, 0));
                entry["im_error"] = json!(part(errors, 1));
            }
            at += 2 * self.times;
            entry
        };
        let (mut mesons, mut baryons) = (vec![], vec![]);
        for name in self.names() {
            match name {
                Name::Meson { quarks, momentum, gamma } => {
                    mesons.push(one(
                        json!({ "quarks": quarks, "momentum": momentum, "gamma": gamma }),
                    ));
                }
                Name::Baryon { name, momentum } => {
                    baryons.push(one(json!({ "name": name, "momentum": momentum })));
                }
            }
        }
        (json!(mesons), json!(baryons))
    }
}
