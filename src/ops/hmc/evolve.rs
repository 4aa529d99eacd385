//! Changes of the links in molecular dynamics (physics.md, HMC): the update by momenta, reunitarisation, and
//! distances of configurations.

use crate::backend::args::EvolveArgs;
use crate::backend::kernels;
use crate::bail;
use crate::error::Result;
use crate::fields::{sum_and_max, GaugeField, Momenta, Precision, Recon};
use crate::refuse;

impl GaugeField {
    /// U <- exp(i step p) U on every link, the exponential exact to rounding for |step p| up to 8.
    /// Links are stored whole (`R18`) in the momenta's precision.
    pub fn evolve(&mut self, momenta: &Momenta, step: f64) -> Result<()> {
        momenta.matches(self.geometry(), self.device(), "links")?;
        self.check_whole("evolve")?;
        if momenta.precision() != self.precision() {
            let (links, p) = (self.precision(), momenta.precision());
            bail!(FieldMismatch, "evolve: links in {links} and momenta in {p}");
        }
        let geometry = self.geometry();
        let (geom, bounds) = (geometry.args(), geometry.bounds());
        let args = EvolveArgs { geom, bounds, gauge: self.view(), momenta: momenta.view(), step };
        self.device().launch(
            kernels::EvolveLinks::of(self.precision())?,
            &args,
            self.geometry().work(2),
        )?;
        self.exchange(None)
    }

    /// Puts every link back into the group (Gram-Schmidt of the first two rows, the third by their cross product) and
    /// returns the largest change of an entry.
    ///
    /// # Errors
    /// `NotFinite`: a link was NaN or infinite; the field is not to be used then.
    pub fn reunitarise(&mut self) -> Result<f64> {
        self.check_whole("reunitarise")?;
        let geometry = self.geometry().clone();
        let (geom, bounds) = (geometry.args(), geometry.bounds());
        let args = EvolveArgs { geom, bounds, gauge: self.view(), ..Default::default() };
        let work = geometry.work(2);
        let v = geometry.reduce_here(
            self.device(),
            kernels::ProjectLinks::of(self.precision())?,
            &args,
            work,
        )?;
        let (sum, max) = sum_and_max(&geometry, &v)?;
        self.exchange(None)?;
        if !sum.is_finite() {
            bail!(NotFinite, "reunitarise: a link is not finite");
        }
        Ok(max.sqrt())
    }

    /// Largest modulus of the difference of two matrix entries. Both fields are stored whole and have the same
    /// precision.
    pub fn distance(&self, other: &GaugeField) -> Result<f64> {
        self.check_whole("distance")?;
        if (self.precision(), self.recon()) != (other.precision(), other.recon())
            || self.geometry() != other.geometry()
            || self.device() != other.device()
        {
            bail!(FieldMismatch, "distance: fields of other lattices, devices or precisions");
        }
        let geometry = self.geometry();
        let (gauge, other) = (self.view(), other.view());
        let args =
            EvolveArgs { geom: geometry.args(), gauge, momenta: other, ..Default::default() };
        let work = geometry.work(2);
        let v = geometry.reduce_here(
            self.device(),
            kernels::LinksDistance::of(self.precision())?,
            &args,
            work,
        )?;
        let (sum, max) = sum_and_max(geometry, &v)?;
        Ok(if sum.is_finite() { max.sqrt() } else { f64::INFINITY })
    }

    fn check_whole(&self, what: &str) -> Result<()> {
        if self.recon() != Recon::R18 || self.precision() == Precision::F16 {
            let (precision, recon) = (self.precision(), self.recon());
            refuse!(Unsupported, "{what}", expected("double or single links stored as PLAQ_STORAGE_SU3_18,found {precision} links stored as {recon}"));
        }
        Ok(())
    }
}
