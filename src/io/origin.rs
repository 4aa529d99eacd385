//! What a propagator's file says of where its columns come from.

use super::ildg::number;
use roxmltree::Document;

/// Where the columns of a propagator start, and of which operator they are. What is not known is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Origin {
    /// Coordinates x, y, z, t of the source, on the whole lattice.
    pub position: [Option<usize>; 4],
    /// The fermions' boundary phase in time in units of pi, 1: antiperiodic.
    pub boundary: Option<f64>,
    /// One of [`NORMALISATIONS`].
    pub normalisation: Option<&'static str>,
}

/// The inverse of 2 kappa D, and that of D.
pub const NORMALISATIONS: [&str; 2] = ["kappa", "mass"];
const ELEMENT: &str = "plaqOrigin";

impl Origin {
    /// The same where something is known, else what `other` knows.
    #[must_use]
    pub fn or(self, other: Origin) -> Origin {
        Origin {
            position: std::array::from_fn(|mu| self.position[mu].or(other.position[mu])),
            boundary: self.boundary.or(other.boundary),
            normalisation: self.normalisation.or(other.normalisation),
        }
    }

    /// What both know alike.
    #[must_use]
    pub fn shared(self, other: Origin) -> Origin {
        let same =
            |mu: usize| self.position[mu].filter(|_| self.position[mu] == other.position[mu]);
        Origin {
            position: std::array::from_fn(same),
            boundary: self.boundary.filter(|_| self.boundary == other.boundary),
            normalisation: self.normalisation.filter(|_| self.normalisation == other.normalisation),
        }
    }

    /// An element of XML; empty where nothing is known. Coordinates that are not known are -1.
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
        if let Some(normalisation) = self.normalisation {
            text += &format!("<normalisation>{normalisation}</normalisation>");
        }
        text + &format!("</{ELEMENT}>")
    }

    /// What a record says: that element, and of Chroma's propagators the coordinates of the source, `t_srce`, and the
    /// phases of fermions that are periodic or antiperiodic, `boundary`.
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
        let own = Origin {
            position: text(Some(ELEMENT), "position").map(coordinates).unwrap_or_default(),
            boundary: text(Some(ELEMENT), "boundary")
                .and_then(|t| t.trim().parse().ok())
                .filter(|b: &f64| b.is_finite()),
            normalisation: text(Some(ELEMENT), "normalisation")
                .and_then(|t| NORMALISATIONS.into_iter().find(|n| *n == t.trim())),
        };
        let phase = |text: &str| match text.split_whitespace().nth(3)? {
            "1" => Some(0.0),
            "-1" => Some(1.0),
            _ => None,
        };
        own.or(Origin {
            position: text(None, "t_srce").map(coordinates).unwrap_or_default(),
            boundary: text(Some("FermionBC"), "boundary").and_then(phase),
            normalisation: None,
        })
    }
}
