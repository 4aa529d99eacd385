//! Whole lattices in the order of physics.md in double precision, on every rank: for tests and tools.

use std::sync::Arc;

use super::{
    Components, GammaBasis, GaugeField, Geometry, Layout, LinkOptions, Momenta, MomentaForm,
    Precision, Recon, SiteOrder, SpinorField,
};
use crate::backend::{Device, External};
use crate::bail;
use crate::error::{host_array, Result};

impl Geometry {
    /// Runs of sites along x of the part at `origin`: (first site in the whole lattice, in the part).
    fn rows(&self, origin: [usize; 4]) -> impl Iterator<Item = (usize, usize)> + '_ {
        let (l, g) = (self.extents(), self.global_extents());
        (0..l[1] * l[2] * l[3]).map(move |row| {
            let (y, z, t) = (row % l[1], row / l[1] % l[2], row / (l[1] * l[2]));
            let global = (t + origin[3]) * g[2] + z + origin[2];
            (((global * g[1]) + y + origin[1]) * g[0] + origin[0], row * l[0])
        })
    }

    /// This rank's part of numbers per site of the whole lattice, `reals` each.
    fn part(&self, whole: &[f64], reals: usize) -> Result<Vec<f64>> {
        if whole.len() != self.global_volume() * reals {
            bail!(
                InvalidArgument,
                "whole lattice: expected {} numbers, found {}",
                self.global_volume() * reals,
                whole.len()
            );
        }
        let run = self.extents()[0] * reals;
        let mut part = host_array(self.volume() * reals, 0.0, "part of a lattice")?;
        for (from, to) in self.rows(self.origin()) {
            part[to * reals..][..run].copy_from_slice(&whole[from * reals..][..run]);
        }
        Ok(part)
    }

    /// The whole lattice from the parts of all ranks.
    fn whole(&self, part: &[f64], reals: usize) -> Result<Vec<f64>> {
        let comm = self.comm();
        let bytes = comm.all_gather(bytemuck::cast_slice(part))?;
        let mut whole = host_array(self.global_volume() * reals, 0.0, "whole lattice")?;
        let run = self.extents()[0] * reals;
        for (rank, bytes) in bytes.chunks_exact(8 * part.len()).enumerate() {
            let mut numbers = vec![0.0; part.len()];
            bytemuck::cast_slice_mut(&mut numbers).copy_from_slice(bytes);
            let coords = comm.coords_of(rank);
            let origin = std::array::from_fn(|mu| coords[mu] * self.extents()[mu]);
            for (to, from) in self.rows(origin) {
                whole[to * reals..][..run].copy_from_slice(&numbers[from * reals..][..run]);
            }
        }
        Ok(whole)
    }
}

impl GaugeField {
    fn lex_reals(&self) -> usize {
        8 * self.group().colours() * self.group().colours()
    }

    /// `host`: lexicographic site of the whole lattice, direction x y z t, row, column, (re, im);
    /// the same on every rank.
    pub fn load_lex(&mut self, host: &[f64]) -> Result<()> {
        let part = self.geometry().part(host, self.lex_reals())?;
        let layout = Layout::lexicographic(Precision::F64);
        self.load(&layout, &External::read(&[&part[..]]), LinkOptions::UNCHECKED)
    }

    /// A new field from the whole lattice, checked on all ranks.
    pub fn from_lex(
        device: &Device,
        geometry: &Arc<Geometry>,
        form: (Precision, Recon),
        host: &[f64],
        options: LinkOptions,
    ) -> Result<Self> {
        let colours = form.1.group().colours();
        let part = geometry.part(host, 8 * colours * colours)?;
        let layout = Layout::lexicographic(Precision::F64);
        Self::from_external(device, geometry, form, &layout, &External::read(&[&part[..]]), options)
    }

    /// The inverse of `load_lex`, on every rank.
    pub fn save_lex(&self) -> Result<Vec<f64>> {
        let reals = self.lex_reals() * self.geometry().volume();
        let mut part = host_array(reals, 0.0, "links on the host")?;
        let layout = Layout::lexicographic(Precision::F64);
        self.save(&layout, &mut External::write(vec![&mut part[..]]))?;
        self.geometry().whole(&part, self.lex_reals())
    }
}

impl Momenta {
    /// `host`: lexicographic site of the whole lattice, direction, p_1 to p_8; the same on every rank.
    pub fn load_lex(&mut self, host: &[f64]) -> Result<()> {
        let part = self.geometry().part(host, 32)?;
        self.load(&part, MomentaForm::Coefficients, SiteOrder::Lexicographic, 1.0)
    }

    /// The inverse of `load_lex`, on every rank.
    pub fn save_lex(&self) -> Result<Vec<f64>> {
        let mut part = vec![0.0; 32 * self.geometry().volume()];
        self.save(&mut part, MomentaForm::Coefficients, SiteOrder::Lexicographic, 1.0)?;
        self.geometry().whole(&part, 32)
    }
}

impl SpinorField {
    /// `host`: right-hand side, lexicographic site, spin, colour, (re, im); every site of the whole
    /// lattice, also where the field holds one parity; the same on every rank.
    pub fn load_lex(&mut self, host: &[f64]) -> Result<()> {
        let site = self.components().reals();
        let whole = site * self.geometry().global_volume();
        let parts: Result<Vec<_>> =
            host.chunks(whole).map(|f| self.geometry().part(f, site)).collect();
        self.load(&self.lex(), &External::read(&[&parts?.concat()[..]]), false)
    }

    /// The inverse of `load_lex`, on every rank; sites that the field lacks are zero.
    pub fn save_lex(&self) -> Result<Vec<f64>> {
        let site = self.components().reals();
        let part = site * self.geometry().volume();
        let mut parts = host_array(part * self.nrhs(), 0.0, "vectors on the host")?;
        self.save(&self.lex(), &mut External::write(vec![&mut parts[..]]))?;
        let whole: Result<Vec<_>> =
            parts.chunks(part).map(|f| self.geometry().whole(f, site)).collect();
        Ok(whole?.concat())
    }

    fn lex(&self) -> Layout {
        match self.components() {
            Components::COLOUR => Layout::lexicographic_colour(Precision::F64),
            _ => Layout::lexicographic_spinor(Precision::F64, GammaBasis::DeGrandRossi),
        }
    }
}
