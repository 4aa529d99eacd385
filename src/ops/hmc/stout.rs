//! Stout smearing (Morningstar and Peardon, hep-lat/0311018) for actions: smeared links, and the transformation of
//! forces from smeared links to the original ones (kernels/stout.h).

use crate::backend::args::StoutArgs;
use crate::backend::families::Sites;
use crate::backend::kernels;
use crate::bail;
use crate::error::Result;
use crate::fields::{GaugeField, Momenta, Precision, Recon};
use crate::params::hash_members;
use crate::refuse;

/// Stout smearing (Morningstar, Peardon, Phys. Rev. D 69 (2004) 054501, Eqs. (1) to (3)): U' = exp(i Q) U, Q the
/// traceless part of (O - O^dagger) / 2i, O_mu(x) = sum_nu rho_munu (staples of the plane mu, nu) U_mu(x)^dagger;
/// `levels` times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stout {
    /// The weights rho_munu at index 4 mu + nu; those with mu = nu are ignored.
    rho: [f64; 16],
    levels: usize,
}

hash_members!(Stout { levels; rho });

impl Stout {
    /// Stout smearing with the same rho in all planes.
    ///
    /// # Errors
    /// `BadParameter`: a row of rho with a sum of moduli above 3/4, or no level.
    pub fn new(rho: f64, levels: usize) -> Result<Self> {
        Self::anisotropic([[rho; 4]; 4], levels)
    }

    /// Stout smearing with any weights rho[mu][nu]. Errors are those of [`Stout::new`].
    pub fn anisotropic(rho: [[f64; 4]; 4], levels: usize) -> Result<Self> {
        if !(1..=64).contains(&levels) {
            refuse!(BadParameter, "stout smearing", expected("1 to 64 levels"), found("{levels}"));
        }
        let mut all = [0.0; 16];
        for mu in 0..4 {
            for nu in (0..4).filter(|&nu| nu != mu) {
                all[4 * mu + nu] = rho[mu][nu];
            }
            // Each plane has two staples, so that eigenvalues of Q are at most twice this sum.
            let sum: f64 = all[4 * mu..4 * mu + 4].iter().map(|r| r.abs()).sum();
            if sum.is_nan() || sum > 0.75 {
                refuse!(
                    BadParameter,
                    "stout smearing",
                    expected("rho with a sum over planes of at most 0.75"),
                    found("{sum} for direction {mu}")
                );
            }
        }
        Ok(Stout { rho: all, levels })
    }

    /// The smeared links. Errors are those of [`Smeared::new`].
    pub fn smear(&self, gauge: &GaugeField) -> Result<GaugeField> {
        let mut all = Smeared::new(*self, gauge)?;
        match all.links.pop() {
            Some(links) => Ok(links),
            None => bail!(Internal, "stout smearing: no links"),
        }
    }
}

/// Links after every level of smearing, and the exponents that the transformation of forces needs; `update` smears
/// other links in the same memory.
#[derive(Debug)]
pub struct Smeared {
    stout: Stout,
    /// The original links, then those after every level.
    links: Vec<GaugeField>,
    /// The exponent Q of every level.
    exponents: Vec<Momenta>,
}

impl Smeared {
    /// Smears links that are stored whole (`R18`), in double or single precision.
    ///
    /// # Errors
    /// `Unsupported`: links in another storage.
    pub fn new(stout: Stout, gauge: &GaugeField) -> Result<Self> {
        if gauge.recon() != Recon::R18 || gauge.precision() == Precision::F16 {
            refuse!(
                Unsupported,
                "stout smearing",
                expected("double or single links stored as PLAQ_STORAGE_SU3_18"),
                found("{} links stored as {}", gauge.precision(), gauge.recon())
            );
        }
        let (device, geometry) = (gauge.device(), gauge.geometry());
        let mut links = vec![];
        let mut exponents = vec![];
        for level in 0..=stout.levels {
            links.push(GaugeField::new(device, geometry, gauge.precision(), Recon::R18)?);
            if level > 0 {
                exponents.push(Momenta::new(device, geometry, gauge.precision())?);
            }
        }
        let mut new = Smeared { stout, links, exponents };
        new.update(gauge)?;
        Ok(new)
    }

    /// The links after the last level.
    pub fn smeared(&self) -> &GaugeField {
        &self.links[self.links.len() - 1]
    }

    /// Smears other links with the same lattice, precision and storage; does nothing if these links were the last to
    /// be smeared and have not changed.
    pub fn update(&mut self, gauge: &GaugeField) -> Result<()> {
        if self.links[0].version() == gauge.version() {
            return Ok(());
        }
        self.links[0].copy_raw(gauge)?;
        for level in 0..self.stout.levels {
            let args = self.args(level);
            self.run(kernels::StoutExponent::of(self.precision())?, &args)?;
            let (before, after) = self.links.split_at_mut(level + 1);
            after[0].copy_raw(&before[level])?;
            after[0].evolve(&self.exponents[level], 1.0)?;
        }
        Ok(())
    }

    /// Turns a force F_a = dS / d omega_a with respect to the smeared links, U' -> exp(i omega_a T_a) U', into that
    /// with respect to the links that they are made of (Morningstar, Peardon, Phys. Rev. D 69 (2004) 054501, Eqs.
    /// (73) to (75)).
    ///
    /// # Errors
    /// `FieldMismatch`: another lattice, device or precision.
    pub fn pull_back(&self, force: &mut Momenta) -> Result<()> {
        let links = &self.links[0];
        force.matches(links.geometry(), links.device(), "links")?;
        if force.precision() != links.precision() {
            let (p, u) = (force.precision(), links.precision());
            bail!(FieldMismatch, "stout smearing: force in {p}, links in {u}");
        }
        let lambda = Momenta::new(links.device(), links.geometry(), links.precision())?;
        for level in (0..self.stout.levels).rev() {
            let args = StoutArgs { force: force.view(), lambda: lambda.view(), ..self.args(level) };
            self.run(kernels::StoutLambda::of(self.precision())?, &args)?;
            lambda.exchange()?;
            self.run(kernels::StoutForce::of(self.precision())?, &args)?;
        }
        Ok(())
    }

    fn args(&self, level: usize) -> StoutArgs {
        StoutArgs {
            geom: self.links[0].geometry().args(),
            bounds: self.links[0].geometry().bounds(),
            gauge: self.links[level].view(),
            exponent: self.exponents[level].view(),
            rho: self.stout.rho,
            ..Default::default()
        }
    }

    fn precision(&self) -> Precision {
        self.links[0].precision()
    }

    fn run(&self, kernel: impl Sites<Args = StoutArgs>, args: &StoutArgs) -> Result<()> {
        let links = &self.links[0];
        links.device().launch(kernel, args, links.geometry().work(2))
    }
}
