//! Momenta of links (physics.md, HMC).

use std::sync::Arc;

use super::reduce::sum_and_max;
use super::{GaugeField, Geometry, Layout, LinkOptions, MatrixField, MatrixForm, Precision, Recon};
use crate::backend::args::{self, MomentaArgs};
use crate::backend::families::Sites;
use crate::backend::{kernels, Device, External, FieldView};
use crate::bail;
use crate::error::{host_array, words, Result};
use crate::params::choices;
use crate::refuse;

/// Momenta p_mu(x) = sum_a p_a T_a of SU(3) links, tr T_a T_b = delta_ab / 2: eight reals per link.
///
/// The kinetic term is 1/2 sum p_a^2 = sum tr p^2, the heat bath of each p_a normal with unit variance,
/// and U' = i p U. The anti-hermitian matrices of other codes are multiples of i p: QUDA's and MILC's
/// are sqrt(2) i p (their kinetic term is 1/2 tr of the modulus squared, with each of eight
/// coefficients of lambda_a of variance 1/2), so that their unit of time is sqrt(2) of this one's.
/// openQCD's are i p.
#[derive(Debug)]
pub struct Momenta(MatrixField);

/// The form of the momentum of a link in a host's array, in double precision; a site has four links (x, y, z, t).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum MomentaForm {
    /// The coefficients p_1 to p_8 of p = sum_a p_a T_a.
    Coefficients,
    /// i p as 10 reals: entries 01, 02, 12 (real, imaginary), the imaginary parts of entries 00, 11, 22, and an
    /// unused one: `anti_hermitmat` of MILC, reconstruct 10 of QUDA.
    Ten,
    /// i p as 3x3 complex numbers, rows slowest.
    Matrices,
    /// i p as 8 reals c: diagonal i (c1 + c2, c2 - 2 c1, c1 - 2 c2), entries 01, 02, 12 c3 + i c4 and so
    /// on: `su3_alg_dble` of openQCD.
    OpenQcd,
}

words!(MomentaForm {
    Coefficients => "PLAQ_MOMENTUM_COEFFICIENTS",
    Ten => "PLAQ_MOMENTUM_TEN",
    Matrices => "PLAQ_MOMENTUM_MATRICES",
    OpenQcd => "PLAQ_MOMENTUM_OPENQCD",
});

choices! {
    /// The form of the momentum of a link in a host's array; a site has four links.
    names MomentaForm: plaq_momentum_form {
        /// The coefficients p_1 to p_8 of p = sum_a p_a T_a.
        Coefficients = 0, PLAQ_MOMENTUM_COEFFICIENTS, "coefficients";
        /// i p as 10 reals: entries 01, 02, 12 (re, im), imaginary parts of the diagonal, and an unused one; MILC's
        /// anti_hermitmat.
        Ten = 1, PLAQ_MOMENTUM_TEN, "ten";
        /// i p as 3x3 complex numbers, row major.
        Matrices = 2, PLAQ_MOMENTUM_MATRICES, "matrices";
        /// i p as openQCD's su3_alg_dble: diagonal i (c1 + c2, c2 - 2 c1, c1 - 2 c2), entries 01, 02,
        /// 12 c3 + i c4, c5 + i c6, c7 + i c8.
        OpenQcd = 3, PLAQ_MOMENTUM_OPENQCD, "openqcd";
    }
}

impl MomentaForm {
    pub fn reals(self) -> usize {
        match self {
            MomentaForm::Coefficients => 8,
            MomentaForm::Ten => 10,
            MomentaForm::Matrices => 18,
            MomentaForm::OpenQcd => 8,
        }
    }
    fn code(self) -> i32 {
        match self {
            MomentaForm::Coefficients => args::MOMENTA_COEFFICIENTS,
            MomentaForm::Ten => args::MOMENTA_TEN,
            MomentaForm::Matrices => args::MOMENTA_MATRICES,
            MomentaForm::OpenQcd => args::MOMENTA_OPENQCD,
        }
    }
}

/// Order of this rank's sites in an array of momenta.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SiteOrder {
    /// Lexicographic: x fastest, t slowest.
    Lexicographic,
    /// Even sites, then odd ones, each lexicographic: MILC and QUDA.
    EvenOdd,
    /// openQCD: the eight links of each odd site, as in [`Layout::openqcd`].
    OpenQcd,
}

words!(SiteOrder {
    Lexicographic => "PLAQ_SITE_ORDER_LEXICOGRAPHIC",
    EvenOdd => "PLAQ_SITE_ORDER_EVEN_ODD",
    OpenQcd => "PLAQ_SITE_ORDER_OPENQCD",
});

choices! {
    /// Order of this rank's sites in an array of momenta.
    names SiteOrder: plaq_site_order {
        /// Lexicographic: x fastest, t slowest.
        Lexicographic = 0, PLAQ_SITE_ORDER_LEXICOGRAPHIC, "lexicographic";
        /// Even sites, then odd ones, each in lexicographic order.
        EvenOdd = 1, PLAQ_SITE_ORDER_EVEN_ODD, "even_odd";
        /// openQCD: the eight links of each odd site, as in PLAQ_ORDER_OPENQCD.
        OpenQcd = 2, PLAQ_SITE_ORDER_OPENQCD, "openqcd";
    }
}

impl Momenta {
    pub fn bytes(geometry: &Geometry, precision: Precision) -> usize {
        MatrixField::bytes(geometry, precision, MatrixForm::Algebra, 4)
    }

    /// Makes momenta that are zero, in double or single precision.
    pub fn new(device: &Device, geometry: &Arc<Geometry>, precision: Precision) -> Result<Self> {
        Ok(Momenta(MatrixField::new(device, geometry, precision, MatrixForm::Algebra, 4)?))
    }

    pub fn device(&self) -> &Device {
        self.0.device()
    }
    pub fn geometry(&self) -> &Arc<Geometry> {
        self.0.geometry()
    }
    pub fn precision(&self) -> Precision {
        self.0.precision()
    }
    /// The two planes of four elements of the algebra per site, in the order of links.
    pub(crate) fn view(&self) -> FieldView {
        self.0.view()
    }
    /// Updates the borders; needed only for forces, contributions to which are collected across faces.
    pub(crate) fn exchange(&self) -> Result<()> {
        self.0.exchange()
    }
    pub fn clear(&mut self) -> Result<()> {
        self.0.clear()
    }

    fn args(&self) -> MomentaArgs {
        let (geom, bounds) = (self.geometry().args(), self.geometry().bounds());
        let momenta = self.view();
        MomentaArgs { geom, bounds, momenta, factor: 1.0, scale: 1.0, ..Default::default() }
    }
    fn run<K: Sites>(&self, kernel: K, args: &K::Args) -> Result<()> {
        self.device().launch(kernel, args, self.geometry().work(2))
    }

    /// Draws the momenta from their heat bath: independent normal p_a of unit variance. (`seed`, `number`) determine
    /// them on every device and process grid (Duane, Kennedy, Pendleton, Roweth, Phys. Lett. B 195 (1987) 216).
    pub fn set_gaussian(&mut self, seed: u64, number: u32) -> Result<()> {
        let args = MomentaArgs { seed, step: i64::from(number), ..self.args() };
        self.run(kernels::RandomMomenta::of(self.precision())?, &args)
    }

    /// Sets the momenta of fixed links at boundaries in time to zero.
    pub fn zero_fixed(&mut self) -> Result<()> {
        if self.geometry().boundary().is_periodic() {
            return Ok(());
        }
        self.run(kernels::MomentaZeroFixed::of(self.precision())?, &self.args())
    }

    /// Kinetic energy: 1/2 p_a^2 summed over a and over all links of all ranks.
    pub fn kinetic(&self) -> Result<f64> {
        Ok(0.5 * self.norm2()?.0)
    }

    /// The sum of sum_a p_a^2 over all links of all ranks, and the largest sum_a p_a^2 on one link. If a number is NaN
    /// or infinite, so is the sum.
    pub fn norm2(&self) -> Result<(f64, f64)> {
        let geometry = self.geometry();
        let (args, work) = (self.args(), geometry.work(2));
        let v = geometry.reduce_here(
            self.device(),
            kernels::MomentaSum::of(self.precision())?,
            &args,
            work,
        )?;
        sum_and_max(geometry, &v)
    }

    /// Computes p = scale p + factor q.
    pub fn add(&mut self, scale: f64, factor: f64, other: &Momenta) -> Result<()> {
        self.matches(other.geometry(), other.device(), "momenta")?;
        let args = MomentaArgs { other: other.view(), scale, factor, ..self.args() };
        self.run(kernels::MomentaAdd::of(self.precision(), other.precision())?, &args)
    }

    /// Computes p = scale p.
    pub fn scale(&mut self, scale: f64) -> Result<()> {
        let args = MomentaArgs { other: self.view(), scale, factor: 0.0, ..self.args() };
        self.run(kernels::MomentaAdd::of(self.precision(), self.precision())?, &args)
    }

    /// Copies the momenta of `other`, whose precision may differ.
    pub fn copy_from(&mut self, other: &Momenta) -> Result<()> {
        if self.precision() == other.precision() && self.geometry() == other.geometry() {
            return self.0.copy_raw(&other.0);
        }
        self.add(0.0, 1.0, other)
    }

    /// Computes p_a = scale p_a + 2 factor Im tr T_a W for four general matrices W on a site. With W = U V this is
    /// the force of Re tr U V, if `factor` is -step times half of the term's coefficient.
    pub fn add_projection(&mut self, scale: f64, factor: f64, w: &MatrixField) -> Result<()> {
        self.matches(w.geometry(), w.device(), "matrices")?;
        if (w.form(), w.count(), w.precision()) != (MatrixForm::General, 4, self.precision()) {
            refuse!(
                FieldMismatch,
                "projection",
                expected("four general matrices in {}", self.precision()),
                found("{} {} in {}", w.count(), w.form(), w.precision())
            );
        }
        let args = MomentaArgs { other: w.view(), scale, factor, ..self.args() };
        self.run(kernels::MomentaProject::of(self.precision())?, &args)
    }

    pub(crate) fn matches(
        &self,
        geometry: &Arc<Geometry>,
        device: &Device,
        what: &str,
    ) -> Result<()> {
        if self.geometry() != geometry || self.device() != device {
            bail!(FieldMismatch, "momenta and {what} live on different lattices or devices");
        }
        let (own, other) = (self.geometry().boundary(), geometry.boundary());
        if own != other {
            refuse!(
                FieldMismatch,
                "{what}",
                expected("{own}, as of the momenta"),
                found("{other}")
            );
        }
        Ok(())
    }

    /// Replaces the momenta p by those in an array of this rank's sites, whose numbers are `factor` times those of p.
    ///
    /// # Errors
    /// `BadLayout`: the array has another length; `InvalidArgument`: factor 0; `NotFinite`: NaN or
    /// infinity in the array. The momenta are then as before.
    pub fn load(
        &mut self,
        array: &[f64],
        form: MomentaForm,
        order: SiteOrder,
        factor: f64,
    ) -> Result<()> {
        self.check_array(array.len(), form, factor)?;
        if order == SiteOrder::OpenQcd {
            // In openQCD's order some links of an odd site begin at even neighbours, which may be on another rank: a
            // link field is loaded.
            let mut matrices = self.decoded(array, form, factor)?;
            let mut links = self.link_matrices()?;
            links.load(
                &Layout::openqcd(Precision::F64),
                &External::read(&[&matrices[..]]),
                LinkOptions::UNCHECKED,
            )?;
            let layout = Layout::lexicographic(Precision::F64);
            links.save(&layout, &mut External::write(vec![&mut matrices[..]]))?;
            return self.load(&matrices, MomentaForm::Matrices, SiteOrder::Lexicographic, 1.0);
        }
        let comm = self.geometry().comm().clone();
        // In the form `Ten` the tenth real of a link is unused and may be anything.
        let free = |i: usize| form == MomentaForm::Ten && i % 10 == 9;
        let bad = (0..array.len()).find(|&i| !array[i].is_finite() && !free(i));
        comm.agree(match bad {
            Some(i) => {
                let number = i / form.reals();
                Err(crate::error::Error::new(
                    crate::error::Status::NotFinite,
                    format!("momenta: link {number} of the array is not finite"),
                ))
            }
            _ => Ok(()),
        })?;
        let mut buffer = self.device().alloc(8 * array.len())?;
        buffer.upload(bytemuck::cast_slice(array))?;
        let mut args = self.array_args(form, order, factor);
        (args.array, args.load) = (buffer.ptr(), 1);
        self.run(kernels::MomentaArray::of(self.precision())?, &args)?;
        self.zero_fixed()?;
        self.device().synchronize()
    }

    /// Writes the numbers of the momenta, times `factor`, into an array of this rank's sites.
    pub fn save(
        &self,
        array: &mut [f64],
        form: MomentaForm,
        order: SiteOrder,
        factor: f64,
    ) -> Result<()> {
        self.check_array(array.len(), form, factor)?;
        if order == SiteOrder::OpenQcd {
            let count = self.geometry().volume() * 72;
            let mut matrices = host_array(count, 0.0, "momenta on the host")?;
            self.save(&mut matrices, MomentaForm::Matrices, SiteOrder::Lexicographic, 1.0)?;
            let mut links = self.link_matrices()?;
            let layout = Layout::lexicographic(Precision::F64);
            links.load(&layout, &External::read(&[&matrices[..]]), LinkOptions::UNCHECKED)?;
            links.save(
                &Layout::openqcd(Precision::F64),
                &mut External::write(vec![&mut matrices[..]]),
            )?;
            let mut sequence = Momenta::new(self.device(), self.geometry(), Precision::F64)?;
            sequence.load(&matrices, MomentaForm::Matrices, SiteOrder::Lexicographic, 1.0)?;
            return sequence.save(array, form, SiteOrder::Lexicographic, factor);
        }
        let buffer = self.device().alloc(8 * array.len())?;
        let args = MomentaArgs { array: buffer.ptr(), ..self.array_args(form, order, factor) };
        self.run(kernels::MomentaArray::of(self.precision())?, &args)?;
        buffer.download(bytemuck::cast_slice_mut(array))
    }

    /// The matrices i p of all links in an array, in the order of the array.
    fn decoded(&self, array: &[f64], form: MomentaForm, factor: f64) -> Result<Vec<f64>> {
        let mut sequence = Momenta::new(self.device(), self.geometry(), Precision::F64)?;
        sequence.load(array, form, SiteOrder::Lexicographic, factor)?;
        let count = self.geometry().volume() * 72;
        let mut matrices = host_array(count, 0.0, "momenta on the host")?;
        sequence.save(&mut matrices, MomentaForm::Matrices, SiteOrder::Lexicographic, 1.0)?;
        Ok(matrices)
    }

    /// A temporary field with a 3 x 3 matrix on every link, for arrays in openQCD's order of links.
    fn link_matrices(&self) -> Result<GaugeField> {
        GaugeField::new(self.device(), self.geometry(), Precision::F64, Recon::R18)
    }

    fn array_args(&self, form: MomentaForm, order: SiteOrder, factor: f64) -> MomentaArgs {
        let split = (order == SiteOrder::EvenOdd) as i32;
        MomentaArgs { form: form.code(), split, factor, ..self.args() }
    }

    fn check_array(&self, length: usize, form: MomentaForm, factor: f64) -> Result<()> {
        let expected = self.geometry().volume() * 4 * form.reals();
        if length != expected {
            refuse!(
                BadLayout,
                "momenta",
                expected("an array of {expected} reals"),
                found("{length}")
            );
        }
        if factor == 0.0 || !factor.is_finite() {
            refuse!(
                InvalidArgument,
                "factor",
                expected("a finite number that is not 0"),
                found("{factor}")
            );
        }
        Ok(())
    }
}
