//! Smeared links: APE (Albanese et al., Phys. Lett. B 192, 163), stout (Morningstar and Peardon,
//! hep-lat/0311018), over-improved stout (Moran and Leinweber, arXiv:0801.1165) and HYP (Hasenfratz and Knechtli,
//! hep-lat/0103029).

use super::hmc::gauge_action::{AtBounds, GaugeCoefficients, GaugeForce, LinkAction, PLANES};
use crate::backend::args::SmearArgs;
use crate::backend::{kernels, FieldView};
use crate::error::Result;
use crate::fields::{GaugeField, Group, MatrixField, MatrixForm, Momenta, Precision, Recon};
use crate::params::{choices, parameters};
use crate::refuse;

choices! {
    /// Kinds of link smearing.
    pub enum SmearingKind: plaq_smearing {
        /// APE: projection of (1 - alpha) U + alpha / (2 (d - 1)) (sum of staples) onto SU(3), for d directions;
        /// alpha = alpha[0].
        Ape = 0, PLAQ_SMEARING_APE, "ape";
        /// Stout: exp(i Q) U, with i Q the traceless antihermitian part of rho (sum of staples) U^dagger; rho =
        /// alpha[0].
        Stout = 1, PLAQ_SMEARING_STOUT, "stout";
        /// HYP: three levels inside of hypercubes, with alpha[0] to alpha[2], for `directions` = 15. For three
        /// directions two levels inside of cubes, with alpha[1] and alpha[2].
        Hyp = 2, PLAQ_SMEARING_HYP, "hyp";
        /// Over-improved stout: stout with (5 - 2 epsilon) / 3 times the staples minus (1 - epsilon) / 12 times those
        /// of 1 x 2 and 2 x 1 rectangles; rho = alpha[0], epsilon = alpha[1], from -10 to 10.
        OverImproved = 3, PLAQ_SMEARING_OVERIMPROVED, "overimproved";
    }
}

impl SmearingKind {
    /// The smearing of this kind with its parameters.
    pub fn with(self, parameters: [f64; 3], directions: i32) -> Smearing {
        let [alpha, epsilon, _] = parameters;
        match self {
            SmearingKind::Ape => Smearing::Ape { alpha, directions },
            SmearingKind::Stout => Smearing::Stout { rho: alpha, directions },
            SmearingKind::Hyp => Smearing::Hyp { alpha: parameters, directions },
            SmearingKind::OverImproved => {
                Smearing::OverImproved { rho: alpha, epsilon, directions }
            }
        }
    }
}

parameters! {
    /// Parameters of link smearing.
    pub struct LinkSmearing: plaq_gauge_smear_params {
        /// Rule by which links are smeared.
        kind: SmearingKind = SmearingKind::Stout;
        /// Number of smearing steps.
        steps: usize = 1, within(0, 100_000);
        /// Bits mu of the directions whose links are smeared, with staples in planes of these directions; 7: space,
        /// 15: all.
        directions: usize = 15, within(0, i32::MAX as i64);
        /// Parameters of the smearing, as the values of `kind` describe them; from 0 to 1 unless stated otherwise. The
        /// first must be set.
        alpha: [f64; 3] = [f64::NAN, 0.6, 0.3];
    }
}

impl LinkSmearing {
    /// Smeared links, as [`smear_links`] makes them.
    ///
    /// # Errors
    /// Errors of [`smear_links`].
    pub fn apply(&self, gauge: &GaugeField) -> Result<GaugeField> {
        smear_links(gauge, self.kind.with(self.alpha, self.directions as i32), self.steps)
    }
}

/// A kind of smearing with its parameters. Links of the directions whose bit mu is set in `directions` change, with
/// staples in planes of these directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Smearing {
    /// APE: projection of (1 - alpha) U + alpha / (2 (d - 1)) (sum of staples) onto SU(3), for d directions.
    Ape { alpha: f64, directions: i32 },
    /// Stout: exp(i Q) U with i Q the traceless antihermitian part of rho (sum of staples) U^dagger.
    Stout { rho: f64, directions: i32 },
    /// HYP: three levels of projected averages inside of hypercubes, for all four directions. For three directions:
    /// two levels inside of cubes, with alpha[1] at the outer level and alpha[2] at the inner one.
    Hyp { alpha: [f64; 3], directions: i32 },
    /// Over-improved stout: (5 - 2 epsilon) / 3 times the staples minus (1 - epsilon) / 12 times those of rectangles
    /// in the same planes; epsilon = 1 is stout smearing.
    OverImproved { rho: f64, epsilon: f64, directions: i32 },
}

impl Smearing {
    fn directions(&self) -> i32 {
        match *self {
            Smearing::Ape { directions, .. }
            | Smearing::Stout { directions, .. }
            | Smearing::Hyp { directions, .. }
            | Smearing::OverImproved { directions, .. } => directions,
        }
    }

    fn check(&self) -> Result<()> {
        let directions = self.directions();
        let least = if matches!(self, Smearing::Hyp { .. }) { 3 } else { 2 };
        if !(1..16).contains(&directions) || directions.count_ones() < least {
            refuse!(
                InvalidArgument,
                "smearing: directions",
                expected("at least {least} of four"),
                found("the mask {directions}")
            );
        }
        let [all, epsilons] = [0.0..=1.0, -10.0..=10.0];
        let numbers = match *self {
            Smearing::Ape { alpha, .. } => vec![(0, alpha, &all)],
            Smearing::Stout { rho, .. } => vec![(0, rho, &all)],
            Smearing::OverImproved { rho, epsilon, .. } => {
                vec![(0, rho, &all), (1, epsilon, &epsilons)]
            }
            Smearing::Hyp { alpha, .. } => {
                (usize::from(directions != 15)..3).map(|k| (k, alpha[k], &all)).collect()
            }
        };
        for (k, value, range) in numbers {
            if !range.contains(&value) {
                let (from, to) = (range.start(), range.end());
                refuse!(
                    BadParameter,
                    "smearing: alpha[{k}]",
                    expected("{from} to {to}"),
                    found("{value}")
                );
            }
        }
        Ok(())
    }
}

/// Smears links `steps` times, and returns them in the storage and precision of `gauge`; the computation is in single
/// precision at least. The projection to SU(3) is the unitary factor of the polar decomposition, divided by the cube
/// root of its determinant.
///
/// # Errors
/// `BadParameter`, `InvalidArgument`: parameters; `Unsupported`: SU(2), or a kind with links of time that the
/// boundaries in time exclude.
pub fn smear_links(gauge: &GaugeField, smearing: Smearing, steps: usize) -> Result<GaugeField> {
    smearing.check()?;
    if gauge.group() != Group::Su3 {
        refuse!(Unsupported, "smearing", expected("SU(3) links"), found("SU(2)"));
    }
    let boundary = gauge.geometry().boundary();
    let bounded = match smearing {
        Smearing::Stout { .. } => true,
        Smearing::OverImproved { .. } => boundary.lacks_links(),
        Smearing::Ape { .. } | Smearing::Hyp { .. } => false,
    };
    // Smearing within time slices works with every boundary.
    if smearing.directions() & 8 != 0 && !bounded {
        gauge.geometry().periodic_in_time("smearing with directions that contain t")?;
    }
    let precision = gauge.precision().max(Precision::F32);
    let mut links = gauge.to(precision, Recon::R18)?;
    match smearing {
        Smearing::Stout { rho, directions } => stout(&mut links, (rho, 1.0), directions, steps)?,
        Smearing::OverImproved { rho, epsilon, directions } => {
            stout(&mut links, (rho, epsilon), directions, steps)?
        }
        Smearing::Ape { alpha, directions } => {
            let weight = alpha / (2.0 * f64::from(directions.count_ones() - 1));
            for _ in 0..steps {
                let out = links.to(precision, Recon::R18)?;
                for mu in (0..4).filter(|mu| directions >> mu & 1 == 1) {
                    let average = Average {
                        mu,
                        directions: directions & !(1 << mu),
                        side: std::array::from_fn(|nu| nu),
                        top: [mu; 4],
                        alpha,
                        weight,
                        to: mu,
                    };
                    average.launch(&links, (links.view(), 4), (out.view(), 4))?;
                }
                out.exchange(None)?;
                links = out;
            }
        }
        Smearing::Hyp { alpha, directions } => {
            for _ in 0..steps {
                links = hyp(&links, alpha, directions)?;
            }
        }
    }
    // Averages within time slices include fixed links, which come out with rounding errors: this sets them to their
    // values again.
    links.bind()?;
    links.belongs_to(gauge);
    links.to(gauge.precision(), gauge.recon())
}

/// Projects links onto SU(3), and returns them in the storage and precision of `gauge`; the computation is in single
/// precision at least. The result is the unitary factor of the polar decomposition, divided by the cube root of its
/// determinant that is nearest to 1.
///
/// # Errors
/// `Unsupported`: SU(2).
pub fn project_links(gauge: &GaugeField) -> Result<GaugeField> {
    smear_links(gauge, Smearing::Ape { alpha: 0.0, directions: 15 }, 1)
}

/// Stout smearing as steps of steepest descent of an action of the planes in `directions`: with beta = 6 the force of
/// Wilson's action is the algebra element of stout smearing with rho = 1.
fn stout(
    links: &mut GaugeField,
    (rho, epsilon): (f64, f64),
    directions: i32,
    steps: usize,
) -> Result<()> {
    let (device, geometry) = (links.device().clone(), links.geometry().clone());
    let inside = |mu: usize| directions >> mu & 1 == 1;
    let planes =
        |beta: f64| PLANES.map(|(mu, nu)| if inside(mu) && inside(nu) { beta } else { 0.0 });
    let rectangles = planes(-0.5 * (1.0 - epsilon));
    let coefficients = GaugeCoefficients {
        plaquette: planes(2.0 * (5.0 - 2.0 * epsilon)),
        first: rectangles,
        second: rectangles,
    };
    // Weights of 2 cancel the factor 1/2 of plaquettes in open boundary slices, and plaquettes that touch fixed links
    // have weight 1: all plaquettes count alike.
    let boundary = geometry.boundary();
    let open = [!boundary.is_periodic() && boundary.phi().is_none(), boundary.lacks_links()];
    let weights = open.map(|open| if open { 2.0 } else { 1.0 });
    let at = AtBounds { weights, ..Default::default() };
    let precision = links.precision();
    let mut force = GaugeForce::bounded(&device, &geometry, precision, coefficients, at)?;
    let mut algebra = Momenta::new(&device, &geometry, links.precision())?;
    for _ in 0..steps {
        force.kick(links, &mut algebra, 0.0, rho)?;
        links.evolve(&algebra, 1.0)?;
    }
    Ok(())
}

/// Averages links of one direction with staples, whose links are taken from a field of matrices.
struct Average {
    mu: usize,
    directions: i32,
    side: [usize; 4],
    top: [usize; 4],
    alpha: f64,
    weight: f64,
    to: usize,
}

impl Average {
    fn launch(
        &self,
        links: &GaugeField,
        (inp, matrices): (FieldView, usize),
        (out, matrices_out): (FieldView, usize),
    ) -> Result<()> {
        let geometry = links.geometry();
        let args = SmearArgs {
            geom: geometry.args(),
            gauge: links.view(),
            inp,
            out,
            mu: self.mu as i32,
            directions: self.directions,
            matrices: matrices as i32,
            matrices_out: matrices_out as i32,
            side: self.side.map(|k| k as i32),
            top: self.top.map(|k| k as i32),
            to: self.to as i32,
            alpha: self.alpha,
            weight: self.weight,
        };
        links.device().launch(kernels::SmearLinks::of(links.precision())?, &args, geometry.work(2))
    }
}

/// Index, 0 to 11, of the matrix that belongs to a direction mu and another direction nu.
fn slot(mu: usize, nu: usize) -> usize {
    3 * mu + if nu < mu { nu } else { nu - 1 }
}

/// One step of HYP smearing (Hasenfratz, Knechtli, Phys. Rev. D 64 (2001) 034504).
fn hyp(links: &GaugeField, alpha: [f64; 3], directions: i32) -> Result<GaugeField> {
    let (device, geometry, precision) = (links.device(), links.geometry(), links.precision());
    let field = || MatrixField::new(device, geometry, precision, MatrixForm::General, 12);
    let inside = |mu: usize| directions >> mu & 1 == 1;
    let pairs = || (0..4).flat_map(|mu| (0..4).filter(move |&nu| nu != mu).map(move |nu| (mu, nu)));
    // First level: links in mu averaged with the staples in direction eta alone.
    let first = field()?;
    for (mu, eta) in pairs().filter(|&(mu, eta)| inside(mu) && inside(eta)) {
        let average = Average {
            mu,
            directions: 1 << eta,
            side: std::array::from_fn(|nu| nu),
            top: [mu; 4],
            alpha: alpha[2],
            weight: alpha[2] / 2.0,
            to: slot(mu, eta),
        };
        average.launch(links, (links.view(), 4), (first.view(), 12))?;
    }
    first.exchange()?;
    // Averages links in mu with the staples in the two directions other than mu and nu; the links of these staples are
    // those of the first level, averaged with staples in the remaining fourth direction.
    let without = |mu: usize, nu: usize, to: usize, out: (FieldView, usize)| {
        let fourth = |rho: usize| 6 - mu - nu - rho;
        let apart = |rho: usize| rho != mu && rho != nu;
        let average = Average {
            mu,
            directions: 15 & !(1 << mu | 1 << nu),
            side: std::array::from_fn(|rho| if apart(rho) { slot(rho, fourth(rho)) } else { 0 }),
            top: std::array::from_fn(|rho| if apart(rho) { slot(mu, fourth(rho)) } else { 0 }),
            alpha: alpha[1],
            weight: alpha[1] / 4.0,
            to,
        };
        average.launch(links, (first.view(), 12), out)
    };
    let out = links.to(precision, Recon::R18)?;
    if let Some(left_out) = (0..4).find(|&nu| !inside(nu)) {
        for mu in (0..4).filter(|&mu| mu != left_out) {
            without(mu, left_out, mu, (out.view(), 4))?;
        }
        out.exchange(None)?;
        return Ok(out);
    }
    let second = field()?;
    for (mu, nu) in pairs() {
        without(mu, nu, slot(mu, nu), (second.view(), 12))?;
    }
    second.exchange()?;
    for mu in 0..4 {
        let average = Average {
            mu,
            directions: 15 & !(1 << mu),
            side: std::array::from_fn(|nu| if nu != mu { slot(nu, mu) } else { 0 }),
            top: std::array::from_fn(|nu| if nu != mu { slot(mu, nu) } else { 0 }),
            alpha: alpha[0],
            weight: alpha[0] / 6.0,
            to: mu,
        };
        average.launch(links, (second.view(), 12), (out.view(), 4))?;
    }
    out.exchange(None)?;
    Ok(out)
}
