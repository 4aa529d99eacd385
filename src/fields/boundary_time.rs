//! Boundary conditions of links in time: which links exist, which are fixed, and on which time slices quarks vanish.

use crate::backend::args::{self, Bounds};
use crate::error::Result;
use crate::params::{choices, parameters, row_set, Choice as _};
use crate::refuse;

choices! {
    /// Boundaries of the lattice in time, with N_t stored slices x0 = 0 .. N_t - 1.
    pub enum BoundaryKind: plaq_boundary_time {
        /// Open boundaries (Luescher, Schaefer, JHEP 07 (2011) 036): no links beyond the slices 0 and N_t - 1, on
        /// which quarks vanish. Temporal links of the last slice do not exist and are zero.
        Open = 1, PLAQ_BOUNDARY_TIME_OPEN, "open";
        /// Schroedinger functional (Luescher, Narayanan, Weisz, Wolff, Nucl. Phys. B 384 (1992) 168): spatial links
        /// of the slices 0 and N_t are fixed, and quarks vanish on these slices. Slice N_t is not stored.
        Sf = 2, PLAQ_BOUNDARY_TIME_SF, "sf";
        /// Open boundary at slice 0, and the boundary of the Schroedinger functional at N_t (Luescher, JHEP 06 (2014)
        /// 105).
        OpenSf = 3, PLAQ_BOUNDARY_TIME_OPEN_SF, "open_sf";
        /// Periodic in time, without boundaries.
        Periodic = 4, PLAQ_BOUNDARY_TIME_PERIODIC, "periodic";
    }
}

row_set! {
    pub boundary_rows {
        /// Boundaries in time of the links; 0: open for files of openQCD in which all temporal links of the last
        /// slice are exactly zero, else periodic.
        boundary_time: Option<BoundaryKind> = None;
    }
}
row_set! {
    pub boundary_angle_rows {
        /// Angles phi of the fixed spatial links exp(i diag(phi) / L_k) on slice 0, for boundaries `sf`: three numbers
        /// with sum 0. Default: not set (NaN).
        phi: [f64; 3] = [f64::NAN; 3];
        /// Angles phi' of the fixed spatial links exp(i diag(phi') / L_k) on slice N_t, for boundaries `sf` and
        /// `open_sf`. Default: not set (NaN).
        phi_prime: [f64; 3] = [f64::NAN; 3];
    }
}

parameters! {
    /// Parameters of the boundaries in time.
    pub composed table BoundaryParams {
        with boundary_rows;
        with boundary_angle_rows;
    }
}

impl BoundaryParams {
    /// The boundary conditions that these parameters state; None if they are to be found from the links. `prefix` is
    /// put before the names of parameters in error messages.
    ///
    /// # Errors
    /// `BadParameter`: angles that are missing, not of this boundary, or do not add up to zero.
    pub fn boundary(&self, prefix: &str) -> Result<Option<BoundaryTime>> {
        let kind = self.boundary_time;
        let has = [
            kind == Some(BoundaryKind::Sf),
            matches!(kind, Some(BoundaryKind::Sf | BoundaryKind::OpenSf)),
        ];
        let word = || match kind {
            Some(kind) => format!("boundary_time {kind}"),
            None => "boundary_time not set".to_string(),
        };
        for (name, angles, has) in
            [("phi", self.phi, has[0]), ("phi_prime", self.phi_prime, has[1])]
        {
            let given = angles.iter().any(|angle| !angle.is_nan());
            let sum = angles.iter().sum::<f64>();
            // NaN is refused, too.
            let fits = sum.abs() < 1e-9;
            if has && !fits {
                refuse!(
                    BadParameter,
                    "{prefix}{name}",
                    expected("three angles with the sum 0 for {}", word()),
                    found("{angles:?}")
                );
            }
            if !has && given {
                refuse!(
                    BadParameter,
                    "{prefix}{name}",
                    expected("none with {}", word()),
                    found("{angles:?}")
                );
            }
        }
        Ok(kind.map(|kind| match kind {
            BoundaryKind::Periodic => BoundaryTime::Periodic,
            BoundaryKind::Open => BoundaryTime::Open,
            BoundaryKind::Sf => BoundaryTime::Sf { phi: self.phi, phi_prime: self.phi_prime },
            BoundaryKind::OpenSf => BoundaryTime::OpenSf { phi_prime: self.phi_prime },
        }))
    }
}

/// The boundary conditions in time, with the angles of fixed links.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum BoundaryTime {
    #[default]
    Periodic,
    Open,
    Sf {
        phi: [f64; 3],
        phi_prime: [f64; 3],
    },
    OpenSf {
        phi_prime: [f64; 3],
    },
}

impl std::fmt::Display for BoundaryTime {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(match self {
            BoundaryTime::Periodic => "periodic in time",
            BoundaryTime::Open => "open boundaries in time",
            BoundaryTime::Sf { .. } => "boundaries of the Schroedinger functional in time",
            BoundaryTime::OpenSf { .. } => "an open and a Schroedinger-functional boundary in time",
        })
    }
}

impl BoundaryKind {
    /// The extent T: the number of the last time slice of a lattice with `slices` stored slices, which with fixed links
    /// at the upper end is not stored itself.
    pub fn extent(self, slices: usize) -> usize {
        slices - usize::from(self == BoundaryKind::Open)
    }
    /// Whether quarks vanish on time slice t of the whole lattice, which has `slices` stored slices.
    pub fn vanishes(self, t: usize, slices: usize) -> bool {
        self != BoundaryKind::Periodic
            && (t == 0 || (self == BoundaryKind::Open && t + 1 == slices))
    }
}

impl BoundaryTime {
    /// The boundary conditions as a text for headers of files: their word and the angles of fixed links, e.g. `open_sf,
    /// phi_prime -2.1 0.8 1.3`.
    pub fn record(&self) -> String {
        let angles = [("phi", self.phi()), ("phi_prime", self.phi_prime())];
        let said = |(name, angles): (&str, Option<[f64; 3]>)| {
            angles.map_or(String::new(), |[a, b, c]| format!(", {name} {a} {b} {c}"))
        };
        format!("{}{}", self.kind().word(), angles.map(said).concat())
    }

    /// The boundary conditions that a [`record`](Self::record) states; upper and lower case do not matter.
    ///
    /// # Errors
    /// `BadParameter`: the text is no such record, or lacks the angles of fixed links.
    pub fn of_record(record: &str) -> Result<BoundaryTime> {
        let text = record.to_lowercase();
        let mut parts = text.split(',').map(str::trim);
        let mut params = BoundaryParams {
            boundary_time: parts.next().and_then(|word| BoundaryKind::from_word(word, "").ok()),
            ..Default::default()
        };
        for part in parts {
            let mut words = part.split_whitespace();
            let angles = match words.next() {
                Some("phi") => &mut params.phi,
                Some("phi_prime") => &mut params.phi_prime,
                _ => continue,
            };
            *angles = angles.map(|_| words.next().and_then(|w| w.parse().ok()).unwrap_or(f64::NAN));
        }
        match params.boundary("") {
            Ok(Some(boundary)) => Ok(boundary),
            _ => refuse!(
                BadParameter,
                "boundary_time",
                expected(
                    "boundary_time, phi and phi_prime to be given: the file has not all of them"
                ),
                found("{record} in the file")
            ),
        }
    }

    /// The parameters of [`BoundaryParams`] that state these boundary conditions, for messages.
    pub fn stated(&self) -> String {
        let angles = [("phi", self.phi()), ("phi_prime", self.phi_prime())];
        let said = |(name, angles): (&str, Option<[f64; 3]>)| {
            angles.map_or(String::new(), |angles| format!(", {name} {angles:?}"))
        };
        format!("boundary_time {}{}", self.kind(), angles.map(said).concat())
    }
    pub fn kind(&self) -> BoundaryKind {
        match self {
            BoundaryTime::Periodic => BoundaryKind::Periodic,
            BoundaryTime::Open => BoundaryKind::Open,
            BoundaryTime::Sf { .. } => BoundaryKind::Sf,
            BoundaryTime::OpenSf { .. } => BoundaryKind::OpenSf,
        }
    }
    pub fn is_periodic(&self) -> bool {
        *self == BoundaryTime::Periodic
    }
    /// Whether temporal links of the last stored slice do not exist.
    pub fn lacks_links(&self) -> bool {
        *self == BoundaryTime::Open
    }
    /// Angles of the fixed spatial links on time slice 0; None if they are not fixed.
    pub fn phi(&self) -> Option<[f64; 3]> {
        match self {
            BoundaryTime::Sf { phi, .. } => Some(*phi),
            _ => None,
        }
    }
    /// Angles of the fixed spatial links on time slice N_t, which is not stored; None if there are none.
    pub fn phi_prime(&self) -> Option<[f64; 3]> {
        match self {
            BoundaryTime::Sf { phi_prime, .. } | BoundaryTime::OpenSf { phi_prime } => {
                Some(*phi_prime)
            }
            _ => None,
        }
    }
    /// The number T of the last slice, see [`BoundaryKind::extent`].
    pub fn extent(&self, slices: usize) -> usize {
        self.kind().extent(slices)
    }
    /// See [`BoundaryKind::vanishes`].
    pub fn vanishes(&self, t: usize, slices: usize) -> bool {
        self.kind().vanishes(t, slices)
    }

    /// One number for every stored time slice of the whole lattice: 0 if quarks vanish on it, else 1.
    pub(crate) fn factors(&self, slices: usize) -> Vec<f64> {
        (0..slices).map(|t| if self.vanishes(t, slices) { 0.0 } else { 1.0 }).collect()
    }

    /// The boundary conditions as an argument of kernels, with the fixed links on time slice N_t.
    pub(crate) fn args(&self, global: [usize; 4]) -> Bounds {
        self.args_with(global, self.phi_prime())
    }
    /// The boundary conditions as an argument of kernels, with the fixed links on time slice 0.
    pub(crate) fn args_below(&self, global: [usize; 4]) -> Bounds {
        self.args_with(global, self.phi())
    }
    fn args_with(&self, global: [usize; 4], angles: Option<[f64; 3]>) -> Bounds {
        let mut bounds = Bounds {
            kind: match self {
                BoundaryTime::Periodic => 0,
                BoundaryTime::Open => args::BOUND_OPEN,
                BoundaryTime::Sf { .. } => args::BOUND_SF,
                BoundaryTime::OpenSf { .. } => args::BOUND_OPEN_SF,
            },
            ..Default::default()
        };
        for (k, l) in global.iter().take(3).enumerate() {
            for (a, angle) in angles.unwrap_or_default().into_iter().enumerate() {
                let (im, re) = (angle / *l as f64).sin_cos();
                (bounds.edge_re[3 * k + a], bounds.edge_im[3 * k + a]) = (re, im);
            }
        }
        bounds
    }
}
