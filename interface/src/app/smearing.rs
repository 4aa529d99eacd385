//! Smearings in the spelling of options, with the tables of their parameters.

use super::options::{refuse, Options};
use super::{Failure, Run};
use crate::ops::link_smearing::{LinkSmearing, SmearingKind};
use crate::ops::smearing::QuarkSmearing;
use crate::params::{Choice, Parameters};

const EXPECTED: &str = "a weight and a number of steps, e.g. 0.3,20";

/// Sets a row of a table from a part of the option `name`.
fn set<P: Parameters>(params: &mut P, name: &str, row: &str, text: &str) -> Run<()> {
    let done = params.set_row(row, text.trim(), &format!("--{name}")).expect("a row of the table");
    done.map_err(|e| Failure::usage(super::in_words(&e)))
}

/// Smearing of quark fields from an option A,N: weight and number of steps; no steps if the option is not given.
pub fn of_quarks(options: &Options, name: &str) -> Run<QuarkSmearing> {
    let mut smearing = QuarkSmearing { alpha: 0.0, ..Default::default() };
    let Some(text) = options.get(name) else { return Ok(smearing) };
    let Some((alpha, steps)) = text.split_once(',') else {
        return Err(refuse(name, text, EXPECTED));
    };
    set(&mut smearing, name, "alpha", alpha)?;
    set(&mut smearing, name, "steps", steps)?;
    match (0.0..f64::INFINITY).contains(&smearing.alpha) {
        true => Ok(smearing),
        false => Err(refuse(name, text, "a weight that is not negative, and a number of steps")),
    }
}

/// Smearing of links from an option [KIND,]A[,A[,A]],N: kind, its parameters and the number of steps; other values
/// are those of `default`. No steps if the option is not given.
pub fn of_links(options: &Options, name: &str, default: LinkSmearing) -> Run<LinkSmearing> {
    let mut smearing = LinkSmearing { steps: 0, ..default };
    let Some(text) = options.get(name) else { return Ok(smearing) };
    let mut parts: Vec<&str> = text.split(',').collect();
    if SmearingKind::named().any(|(known, _)| known.word == parts[0]) {
        set(&mut smearing, name, "kind", parts.remove(0))?;
    }
    let found = parts.split_last().filter(|(_, alpha)| (1..=3).contains(&alpha.len()));
    let Some((steps, alpha)) = found else { return Err(refuse(name, text, EXPECTED)) };
    let others = smearing.alpha.map(|alpha| alpha.to_string());
    let all = alpha.iter().copied().chain(others.iter().skip(alpha.len()).map(String::as_str));
    set(&mut smearing, name, "alpha", &all.collect::<Vec<_>>().join(","))?;
    set(&mut smearing, name, "steps", steps)?;
    Ok(smearing)
}

/// The first parameter of a smearing of links; 0 if it has no steps.
pub fn weight(smearing: &LinkSmearing) -> f64 {
    match smearing.steps {
        0 => 0.0,
        _ => smearing.alpha[0],
    }
}

/// A smearing of links in the spelling of the option, without the kind if that is APE.
pub fn text_of(smearing: &LinkSmearing) -> String {
    let kind = match smearing.kind {
        SmearingKind::Ape => String::new(),
        kind => format!("{},", kind.word()),
    };
    format!("{kind}{},{}", weight(smearing), smearing.steps)
}
