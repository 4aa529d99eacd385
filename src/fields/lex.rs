//! Fields to and from f64 in lexicographic order, the order of physics.md.

use super::{GaugeField, SpinorField};
use crate::backend::args::LexArgs;
use crate::error::Result;

impl SpinorField {
    /// `host`: right-hand side, lexicographic site, spin, colour, (re, im); every site of the
    /// lattice, also where the field holds one parity.
    pub fn load_lex(&mut self, host: &[f64]) -> Result<()> {
        assert_eq!(host.len(), 24 * self.geometry().volume() * self.nrhs());
        let mut staging = self.device().alloc(std::mem::size_of_val(host))?;
        staging.upload(bytemuck::cast_slice(host))?;
        let args = self.lex_args(staging.ptr());
        self.device().launch("lex_spinor_in", &[self.precision().token()], &args, self.work())
    }

    /// The inverse of `load_lex`; sites that the field lacks are zero.
    pub fn save_lex(&self) -> Result<Vec<f64>> {
        let mut host = vec![0.0; 24 * self.geometry().volume() * self.nrhs()];
        let staging = self.device().alloc(host.len() * 8)?;
        let args = self.lex_args(staging.ptr());
        self.device().launch("lex_spinor_out", &[self.precision().token()], &args, self.work())?;
        staging.download(bytemuck::cast_slice_mut(&mut host))?;
        Ok(host)
    }

    fn lex_args(&self, host: crate::backend::Ptr) -> LexArgs {
        LexArgs {
            geom: self.geometry().args(),
            field: self.view(),
            host,
            parities: self.parities() as i32,
            parity: (self.subset() == super::Subset::Odd) as i32,
        }
    }
}

impl GaugeField {
    /// `host`: lexicographic site, direction x y z t, row, column, (re, im).
    pub fn load_lex(&mut self, host: &[f64]) -> Result<()> {
        assert_eq!(host.len(), 72 * self.geometry().volume());
        let mut staging = self.device().alloc(std::mem::size_of_val(host))?;
        staging.upload(bytemuck::cast_slice(host))?;
        self.lex("lex_gauge_in", staging.ptr())
    }

    /// The inverse of `load_lex`.
    pub fn save_lex(&self) -> Result<Vec<f64>> {
        let mut host = vec![0.0; 72 * self.geometry().volume()];
        let staging = self.device().alloc(host.len() * 8)?;
        self.lex("lex_gauge_out", staging.ptr())?;
        staging.download(bytemuck::cast_slice_mut(&mut host))?;
        Ok(host)
    }

    fn lex(&self, kernel: &str, host: crate::backend::Ptr) -> Result<()> {
        let args = LexArgs {
            geom: self.geometry().args(),
            field: self.view(),
            host,
            parities: 2,
            parity: 0,
        };
        let params = [self.precision().token(), self.recon().token()];
        self.device().launch(kernel, &params, &args, self.geometry().work(2))
    }
}
