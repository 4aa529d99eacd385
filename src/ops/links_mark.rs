//! Numbers that identify links, and checks that fields belong to the same links.

use crate::error::{significant, Result};
use crate::fields::{GaugeField, Precision};
use crate::io::LinksMark;
use crate::ops::observables::{plaquette, projection};
use crate::refuse;

/// Largest differences of the averages of equal links due to rounding: links in single precision or double, and in
/// half precision.
pub const TOLERANCES: [f64; 2] = [1e-6, 1e-4];
/// Largest differences of the projections ([`projection`]) of equal links due to rounding: in single precision or
/// double, and in half precision.
pub const PROJECTION_TOLERANCES: [f64; 2] = [1e-5, 1e-3];

/// Computes the numbers that identify these links.
///
/// # Errors
/// Errors of [`plaquette`].
pub fn links_mark(links: &GaugeField) -> Result<LinksMark> {
    let [space, time, trace, re, im] = links.mark(|| {
        let (p, [re, im]) = (plaquette(links)?, projection(links)?);
        Ok([p.spatial, p.temporal, p.link_trace, re, im])
    })?;
    Ok(LinksMark {
        numbers: [space, time, trace],
        projection: Some([re, im]),
        coarse: links.precision() == Precision::F16,
        configuration: Some(links.configuration()),
    })
}

/// Whether two links are the same up to rounding.
fn equal(one: &LinksMark, other: &LinksMark) -> bool {
    let coarse = usize::from(one.coarse || other.coarse);
    let near = |a: &[f64], b: &[f64], by: [f64; 2]| {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() <= by[coarse])
    };
    let projections = one.projection.zip(other.projection);
    near(&one.numbers, &other.numbers, TOLERANCES)
        && projections.is_none_or(|(a, b)| near(&a, &b, PROJECTION_TOLERANCES))
}

/// Whether two links belong to one configuration, as far as that is known.
fn may_be_same(one: &LinksMark, other: &LinksMark) -> bool {
    let known = one.configuration.is_some() && one.configuration == other.configuration;
    known || equal(one, other)
}

fn say(mark: &LinksMark) -> String {
    let [space, time, trace] = mark.numbers.map(|x| significant(x, 8));
    let projection = match mark.projection {
        Some([re, im]) => {
            format!(", projection {} {}", significant(re, 6), significant(im, 6))
        }
        None => String::new(),
    };
    format!("plaquettes {space} and {time}, link trace {trace}{projection}")
}

/// Refuses links of another configuration than the one that `mark`, of `owner`, identifies. Links that were smeared or
/// flowed from a configuration in this process belong to that configuration. If `mark` was read from a file, such links
/// cannot be compared with it and are accepted.
///
/// # Errors
/// `FieldMismatch`; errors of [`links_mark`].
pub fn check_links(
    mark: &LinksMark,
    owner: &str,
    links: &GaugeField,
    argument: &str,
) -> Result<()> {
    // A mark from a file does not name a configuration, so smeared links cannot be compared with it.
    let derived = links.configuration() != links.version();
    let known = mark.configuration == Some(links.configuration());
    if known || (mark.configuration.is_none() && derived) {
        return Ok(());
    }
    let found = links_mark(links)?;
    match may_be_same(mark, &found) {
        true => Ok(()),
        false => other_links(
            (mark, owner),
            (&found, argument),
            "plaq_gauge_belongs_to declares the configuration of links that were smeared elsewhere",
        ),
    }
}

fn other_links(
    (mark, owner): (&LinksMark, &str),
    (found, argument): (&LinksMark, &str),
    hint: &str,
) -> Result<()> {
    refuse!(
        FieldMismatch,
        "{argument}",
        expected("the links of {owner}, {}", say(mark)),
        found("{}", say(found)),
        hint("{hint}")
    );
}

/// Refuses all links but those that `mark`, of `owner`, identifies; links smeared or flowed from them are refused too.
/// It is for currents, which are conserved with the very links of an operator.
///
/// # Errors
/// Errors of [`check_links`].
pub fn check_same(mark: &LinksMark, owner: &str, links: &GaugeField, argument: &str) -> Result<()> {
    let found = links_mark(links)?;
    match equal(mark, &found) {
        true => Ok(()),
        false => other_links(
            (mark, owner),
            (&found, argument),
            "a conserved current takes the very links of the operator",
        ),
    }
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
    if may_be_same(one, other) {
        return Ok(());
    }
    refuse!(
        FieldMismatch,
        "{second}",
        expected("a field of the links of {first}, {}", say(one)),
        found("{}", say(other))
    );
}
