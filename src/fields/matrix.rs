//! Matrices on every site that are no links: staples, products along paths, derivatives, elements of
//! the Lie algebra. They lie in memory as links do and have the same borders.

use std::sync::Arc;

use super::{GaugeField, Geometry, Precision, Recon};
use crate::backend::{Device, FieldView};
use crate::bail;
use crate::error::{words, Result};

/// The kind of matrices in a [`MatrixField`], which decides how many reals each takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatrixForm {
    /// Any 3x3 matrix: 18 reals (`R18` in kernels).
    General,
    /// SU(3) by its first two rows: 12 reals (`R12`).
    Group,
    /// Hermitian and traceless: eight coefficients of T_a (`kernels/algebra.h`).
    Algebra,
}

words!(MatrixForm {
    General => "general",
    Group => "SU(3)",
    Algebra => "algebra",
});

impl MatrixForm {
    /// The storage of links that has as many reals as these matrices; messages of borders take it.
    fn recon(self) -> Recon {
        match self {
            MatrixForm::General => Recon::R18,
            MatrixForm::Group => Recon::R12,
            MatrixForm::Algebra => Recon::R8,
        }
    }
}

/// `count` 3x3 matrices per site, in double or single precision.
#[derive(Debug)]
pub struct MatrixField {
    inner: GaugeField,
    form: MatrixForm,
}

impl MatrixField {
    pub fn bytes(
        geometry: &Geometry,
        precision: Precision,
        form: MatrixForm,
        count: usize,
    ) -> usize {
        GaugeField::bytes_of(geometry, precision, form.recon(), count)
    }

    /// A field whose matrices are all zero.
    ///
    /// # Errors
    /// `Unsupported`: half precision.
    pub fn new(
        device: &Device,
        geometry: &Arc<Geometry>,
        precision: Precision,
        form: MatrixForm,
        count: usize,
    ) -> Result<Self> {
        if precision == Precision::F16 {
            bail!(Unsupported, "a matrix field is kept in double or single precision, found half");
        }
        let storage = (precision, form.recon());
        let inner = GaugeField::with_matrices(device, geometry, storage, count)?;
        Ok(MatrixField { inner, form })
    }

    /// The links of a field stored whole, as four general matrices on a site.
    pub fn from_links(links: GaugeField) -> Self {
        MatrixField { inner: links, form: MatrixForm::General }
    }
    /// The matrices as a field of links stored whole, for arrays of hosts that are laid out as links.
    pub fn into_links(self) -> GaugeField {
        self.inner
    }

    pub fn device(&self) -> &Device {
        self.inner.device()
    }
    pub fn geometry(&self) -> &Arc<Geometry> {
        self.inner.geometry()
    }
    pub fn precision(&self) -> Precision {
        self.inner.precision()
    }
    pub fn form(&self) -> MatrixForm {
        self.form
    }
    /// Matrices per site.
    pub fn count(&self) -> usize {
        self.inner.matrices()
    }
    /// Sets all numbers to zero.
    pub fn clear(&mut self) -> Result<()> {
        self.inner.clear()
    }
    /// Brings the borders up to date after matrices were written; every rank calls it. On one rank nothing happens.
    pub(crate) fn exchange(&self) -> Result<()> {
        self.inner.exchange(None)
    }
    /// The two planes, even and odd sites, as kernels take them; sites are numbered as those of links (`link_site`).
    pub(crate) fn view(&self) -> FieldView {
        self.inner.view()
    }
    pub(super) fn copy_raw(&mut self, other: &MatrixField) -> Result<()> {
        self.inner.copy_raw(&other.inner)
    }
}
