//! Averages that identify links, and checks that fields belong to the same links.

use crate::error::{significant, Result};
use crate::fields::{GaugeField, Precision};
use crate::io::LinksMark;
use crate::ops::observables::plaquette;
use crate::refuse;

/// Largest differences of the averages of equal links due to rounding: links in single precision or double, and in
/// half precision.
const NEAR: [f64; 2] = [1e-6, 1e-4];

/// Computes the averages that identify these links.
///
/// # Errors
/// Errors of [`plaquette`].
pub fn links_mark(links: &GaugeField) -> Result<LinksMark> {
    let p = plaquette(links)?;
    let numbers = [p.spatial, p.temporal, p.link_trace];
    Ok(LinksMark { numbers, configuration: Some(links.configuration()) })
}

fn alike(one: &LinksMark, other: &LinksMark, near: f64) -> bool {
    let known = one.configuration.is_some() && one.configuration == other.configuration;
    known || one.numbers.iter().zip(other.numbers).all(|(a, b)| (a - b).abs() <= near)
}

fn say(mark: &LinksMark) -> String {
    let [space, time, trace] = mark.numbers.map(|x| significant(x, 8));
    format!("plaquettes {space} and {time}, link trace {trace}")
}

/// Refuses links of another configuration than the one that `mark`, of `owner`, identifies. Links that were smeared
/// or flowed from a configuration in this process belong to it.
///
/// # Errors
/// `FieldMismatch`; errors of [`links_mark`].
pub fn check_links(
    mark: &LinksMark,
    owner: &str,
    links: &GaugeField,
    argument: &str,
) -> Result<()> {
    if mark.configuration == Some(links.configuration()) {
        return Ok(());
    }
    let found = links_mark(links)?;
    let near = NEAR[usize::from(links.precision() == Precision::F16)];
    if alike(mark, &found, near) {
        return Ok(());
    }
    refuse!(
        FieldMismatch,
        "{argument}",
        expected("the links of {owner}, {}", say(mark)),
        found("{}", say(&found))
    );
}

/// Refuses links of another configuration than `own`. Averages are compared if it is not known from their history.
///
/// # Errors
/// Errors of [`check_links`].
pub fn check_configuration(
    own: &GaugeField,
    owner: &str,
    links: &GaugeField,
    argument: &str,
) -> Result<()> {
    match own.configuration() == links.configuration() {
        true => Ok(()),
        false => check_links(&links_mark(own)?, owner, links, argument),
    }
}

/// Refuses two things that belong to links of different configurations.
///
/// # Errors
/// `FieldMismatch`.
pub fn check_same_links(
    (one, first): (&LinksMark, &str),
    (other, second): (&LinksMark, &str),
) -> Result<()> {
    if alike(one, other, NEAR[1]) {
        return Ok(());
    }
    refuse!(
        FieldMismatch,
        "{second}",
        expected("a field of the links of {first}, {}", say(one)),
        found("{}", say(other))
    );
}
