//! The origin of a propagator as its file records it: source position, boundary phases, masses and links.

use super::ildg::number;
use roxmltree::Document;

/// The source of a propagator's columns, and the operator to which they belong. Unknown values are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Origin {
    /// Coordinates x, y, z, t of the source, on the whole lattice.
    pub position: [Option<usize>; 4],
    /// The fermions' boundary phase in time in units of pi (1: antiperiodic).
    pub boundary: Option<f64>,
    /// The fermions' boundary phases in x, y and z in units of pi.
    pub boundary_space: Option<[f64; 3]>,
    /// Normalisation of the operator: one of [`NORMALISATIONS`].
    pub normalisation: Option<&'static str>,
    /// Boundaries in time of the operator's links: one of [`BOUNDARIES_IN_TIME`].
    pub boundary_time: Option<&'static str>,
    /// Bare mass of the operator.
    pub mass: Option<f64>,
    /// Twisted mass of the operator.
    pub mu: Option<f64>,
    /// Averages that identify the links of the operator; None: not known.
    pub links: Option<LinksMark>,
    /// Kind of the columns in a contraction: one of [`KINDS`]; None: not known.
    pub kind: Option<&'static str>,
    /// Boundary phase in time of a meson's antiquark, in units of pi, for a sequential source through a sink beyond the
    /// lattice's end in time and its solution; contractions take it out together with the quark's. None: the sink is
    /// not beyond the end, or the phases are taken out already.
    pub crossed: Option<f64>,
    /// Clover coefficients of the operator, in planes of space and in those with time.
    pub csw: Option<[f64; 2]>,
    /// Form of the operator's clover term: one of [`CLOVER_FORMS`].
    pub clover: Option<&'static str>,
}

/// Numbers that identify the links of a configuration. Except for rounding they do not depend on storage, device and
/// ranks; a gauge transformation changes them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinksMark {
    /// Average spatial plaquette, average temporal plaquette, and Re tr U / 3 of the links.
    pub numbers: [f64; 3],
    /// A projection of the links, which distinguishes configurations with equal averages; None: not stored, in older
    /// files.
    pub projection: Option<[f64; 2]>,
    /// Whether the links were stored in 16 bits, whose rounding the numbers have.
    pub coarse: bool,
    /// The configuration to which the links belong, by its version in this process; None: not known.
    pub configuration: Option<u64>,
}

/// Names of the normalisations: kappa for the inverse of 2 kappa D, mass for that of D.
pub const NORMALISATIONS: [&str; 2] = ["kappa", "mass"];
/// Names of boundaries in time: open, of the Schroedinger functional, one of each kind, and none.
pub const BOUNDARIES_IN_TIME: [&str; 4] = ["open", "sf", "open_sf", "periodic"];
/// Kinds of columns: quark lines from a source, sequential sources through the sink of a hadron, and their solutions,
/// the lines from there to an operator.
pub const KINDS: [&str; 3] = ["propagator", SEQUENTIAL_SOURCE, "sequential_propagator"];
/// The kind of a source through a sink.
pub const SEQUENTIAL_SOURCE: &str = "sequential_source";
/// Names of the forms of clover terms.
pub const CLOVER_FORMS: [&str; 2] = ["traditional", "exponential"];
const ELEMENT: &str = "plaqOrigin";

impl Origin {
    /// This origin, with members that are `None` taken from `other`.
    #[must_use]
    pub fn or(self, other: Origin) -> Origin {
        Origin {
            position: std::array::from_fn(|mu| self.position[mu].or(other.position[mu])),
            boundary: self.boundary.or(other.boundary),
            boundary_space: self.boundary_space.or(other.boundary_space),
            normalisation: self.normalisation.or(other.normalisation),
            boundary_time: self.boundary_time.or(other.boundary_time),
            mass: self.mass.or(other.mass),
            mu: self.mu.or(other.mu),
            links: self.links.or(other.links),
            kind: self.kind.or(other.kind),
            crossed: self.crossed.or(other.crossed),
            csw: self.csw.or(other.csw),
            clover: self.clover.or(other.clover),
        }
    }

    /// The members that have the same value in both origins; the others are `None`.
    #[must_use]
    pub fn shared(self, other: Origin) -> Origin {
        fn same<T: Copy + PartialEq>(one: Option<T>, other: Option<T>) -> Option<T> {
            one.filter(|_| one == other)
        }
        Origin {
            position: std::array::from_fn(|mu| same(self.position[mu], other.position[mu])),
            boundary: same(self.boundary, other.boundary),
            boundary_space: same(self.boundary_space, other.boundary_space),
            normalisation: same(self.normalisation, other.normalisation),
            boundary_time: same(self.boundary_time, other.boundary_time),
            mass: same(self.mass, other.mass),
            mu: same(self.mu, other.mu),
            links: same(self.links, other.links),
            kind: same(self.kind, other.kind),
            crossed: same(self.crossed, other.crossed),
            csw: same(self.csw, other.csw),
            clover: same(self.clover, other.clover),
        }
    }

    /// Boundary phases in x, y, z and t in units of pi; those that are not known are taken from the argument.
    #[must_use]
    pub fn phases(self, [x, y, z, t]: [f64; 4]) -> [f64; 4] {
        let [x, y, z] = self.boundary_space.unwrap_or([x, y, z]);
        [x, y, z, self.boundary.unwrap_or(t)]
    }

    /// The origin as an XML element; empty if nothing is known. Unknown coordinates are -1.
    pub(super) fn to_xml(self) -> String {
        if self == Origin::default() {
            return String::new();
        }
        let mut text = format!("<{ELEMENT}>");
        if self.position != [None; 4] {
            let [x, y, z, t] = self.position.map(|c| c.map_or("-1".to_owned(), |c| c.to_string()));
            text += &format!("<position>{x} {y} {z} {t}</position>");
        }
        if let Some(boundary) = self.boundary {
            text += &format!("<boundary>{boundary:?}</boundary>");
        }
        if let Some([x, y, z]) = self.boundary_space {
            text += &format!("<boundarySpace>{x:?} {y:?} {z:?}</boundarySpace>");
        }
        if let Some(normalisation) = self.normalisation {
            text += &format!("<normalisation>{normalisation}</normalisation>");
        }
        if let Some(boundary_time) = self.boundary_time {
            text += &format!("<boundaryTime>{boundary_time}</boundaryTime>");
        }
        let numbers = [("mass", self.mass), ("twistedMass", self.mu), ("crossed", self.crossed)];
        for (name, value) in numbers {
            if let Some(value) = value {
                text += &format!("<{name}>{value:?}</{name}>");
            }
        }
        if let Some([space, time]) = self.csw {
            text += &format!("<csw>{space:?} {time:?}</csw>");
        }
        for (name, word) in [("cloverForm", self.clover), ("kind", self.kind)] {
            if let Some(word) = word {
                text += &format!("<{name}>{word}</{name}>");
            }
        }
        if let Some(LinksMark { numbers: [space, time, trace], projection, coarse, .. }) =
            self.links
        {
            text += &format!("<links>{space:?} {time:?} {trace:?}</links>");
            if let Some([re, im]) = projection {
                text += &format!("<linksProjection>{re:?} {im:?}</linksProjection>");
            }
            if coarse {
                text += "<linksBits>16</linksBits>";
            }
        }
        text + &format!("</{ELEMENT}>")
    }

    /// The origin of a field from an XML record: from the element `plaqOrigin` that plaq writes or, for Chroma's
    /// propagators, from the coordinates of the source (`t_srce`) and the phases of periodic or antiperiodic fermions
    /// (`boundary`).
    pub(super) fn of_xml(document: &Document, extents: [usize; 4]) -> Origin {
        let text = |parent: Option<&str>, tag: &str| {
            let mut found = document.descendants().filter(|n| {
                let inside = |p| n.parent().is_some_and(|n| n.tag_name().name() == p);
                n.tag_name().name() == tag && parent.is_none_or(inside)
            });
            found.next().and_then(|n| n.text())
        };
        let coordinates = |text: &str| -> [Option<usize>; 4] {
            let mut words = text.split_whitespace();
            extents.map(|l| Some(number(words.next()?)? as usize).filter(|&x| x < l))
        };
        let numbers = |tag: &str| {
            let words = text(Some(ELEMENT), tag)?.split_whitespace();
            let all: Option<Vec<f64>> =
                words.map(|w| w.parse().ok().filter(|x: &f64| x.is_finite())).collect();
            all
        };
        let one =
            |tag: &str| numbers(tag).and_then(|all| <[f64; 1]>::try_from(all).ok()).map(|[x]| x);
        let two = |tag: &str| numbers(tag).and_then(|all| <[f64; 2]>::try_from(all).ok());
        let three = |tag: &str| numbers(tag).and_then(|all| <[f64; 3]>::try_from(all).ok());
        let word = |tag: &str, words: &[&'static str]| {
            let found = text(Some(ELEMENT), tag)?.trim();
            words.iter().copied().find(|word| *word == found)
        };
        let own = Origin {
            position: text(Some(ELEMENT), "position").map(coordinates).unwrap_or_default(),
            boundary: one("boundary"),
            boundary_space: three("boundarySpace"),
            normalisation: word("normalisation", &NORMALISATIONS),
            boundary_time: word("boundaryTime", &BOUNDARIES_IN_TIME),
            mass: one("mass"),
            mu: one("twistedMass"),
            links: three("links").map(|numbers| LinksMark {
                numbers,
                projection: two("linksProjection"),
                coarse: one("linksBits") == Some(16.0),
                configuration: None,
            }),
            kind: word("kind", &KINDS),
            crossed: one("crossed"),
            csw: two("csw"),
            clover: word("cloverForm", &CLOVER_FORMS),
        };
        let phase = |mu: usize| {
            let signs = text(Some("FermionBC"), "boundary")?;
            match signs.split_whitespace().nth(mu)? {
                "1" => Some(0.0),
                "-1" => Some(1.0),
                _ => None,
            }
        };
        own.or(Origin {
            position: text(None, "t_srce").map(coordinates).unwrap_or_default(),
            boundary: phase(3),
            boundary_space: phase(0).zip(phase(1)).zip(phase(2)).map(|((x, y), z)| [x, y, z]),
            ..Origin::default()
        })
    }
}
