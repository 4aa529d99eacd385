//! Fields of 3 x 3 matrices other than links: staples, products of links along paths, derivatives, elements of the Lie
//! algebra. Their layout in memory and their borders are those of link fields.

use std::sync::Arc;

use super::{GaugeField, Geometry, Precision, Recon};
use crate::backend::{Device, FieldView};
use crate::bail;
use crate::error::{words, Result};

/// The kind of matrices in a [`MatrixField`], which determines the number of reals of a matrix.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatrixForm {
    /// General 3x3 matrices: 18 reals (`R18` in kernels).
    General,
    /// SU(3) matrices, stored as their first two rows: 12 reals (`R12`).
    Group,
    /// Hermitian traceless matrices: eight coefficients of T_a (`kernels/algebra.h`).
    Algebra,
}

words!(MatrixForm {
    General => "general",
    Group => "SU(3)",
    Algebra => "algebra",
});

impl MatrixForm {
    /// The storage of links that has as many reals; the exchange of borders uses it.
    fn recon(self) -> Recon {
        match self {
            MatrixForm::General => Recon::R18,
            MatrixForm::Group => Recon::R12,
            MatrixForm::Algebra => Recon::R8,
        }
    }
}

/// A field of `count` 3x3 matrices per site, in double or single precision.
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

    /// Turns links stored whole into four general matrices per site.
    pub fn from_links(links: GaugeField) -> Self {
        MatrixField { inner: links, form: MatrixForm::General }
    }
    /// Turns the matrices into links stored whole, for arrays of hosts that have the layout of links.
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
    /// Number of matrices per site.
    pub fn count(&self) -> usize {
        self.inner.matrices()
    }
    /// Sets all numbers to zero.
    pub fn clear(&mut self) -> Result<()> {
        self.inner.clear()
    }
    /// Updates the borders after matrices were written; every rank calls it. Does nothing on one rank.
    pub(crate) fn exchange(&self) -> Result<()> {
        self.inner.exchange(None)
    }
    /// The field as an argument of kernels: two planes, even and odd sites, which are numbered as those of links
    /// (`link_site` in kernels).
    pub(crate) fn view(&self) -> FieldView {
        self.inner.view()
    }
    pub(super) fn copy_raw(&mut self, other: &MatrixField) -> Result<()> {
        self.inner.copy_raw(&other.inner)
    }
}
