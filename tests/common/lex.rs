//! Arrays of whole lattices in lexicographic order (physics.md) in double precision, the same on every rank, and
//! conversions from and to fields.

use std::sync::Arc;

use plaq::backend::{Device, External};
use plaq::error::Result;
use plaq::fields::{
    Components, GammaBasis, GaugeField, Geometry, Layout, LinkOptions, Momenta, MomentaForm,
    Precision, Recon, SiteOrder, SpinorField,
};

/// Fields that can be read from an array of the whole lattice and written into one.
pub trait Lex {
    /// Links: lexicographic site of the whole lattice, direction x y z t, row, column, (re, im). Momenta: site,
    /// direction, p_1 to p_8. Vectors: right-hand side, site, spin, colour, (re, im); every site, even if the field
    /// holds one parity.
    fn load_lex(&mut self, host: &[f64]) -> Result<()>;
    /// Writes the field into an array of the whole lattice, as `load_lex` reads it; sites that the field lacks are
    /// zero.
    fn save_lex(&self) -> Result<Vec<f64>>;
}

/// Creates a field of links from an array of the whole lattice and checks it on all ranks.
pub fn links_from_lex(
    device: &Device,
    geometry: &Arc<Geometry>,
    form: (Precision, Recon),
    host: &[f64],
    options: LinkOptions,
) -> Result<GaugeField> {
    let part = part(geometry, host, host.len() / geometry.global_volume());
    let layout = Layout::lexicographic(Precision::F64);
    let memory = External::read(&[&part[..]]);
    GaugeField::from_external(device, geometry, form, &layout, &memory, options)
}

impl Lex for GaugeField {
    fn load_lex(&mut self, host: &[f64]) -> Result<()> {
        let part = part(self.geometry(), host, link_reals(self));
        let layout = Layout::lexicographic(Precision::F64);
        self.load(&layout, &External::read(&[&part[..]]), LinkOptions::UNCHECKED)
    }
    fn save_lex(&self) -> Result<Vec<f64>> {
        let mut part = vec![0.0; link_reals(self) * self.geometry().volume()];
        let layout = Layout::lexicographic(Precision::F64);
        self.save(&layout, &mut External::write(vec![&mut part[..]]))?;
        whole(self.geometry(), &part, link_reals(self))
    }
}

impl Lex for Momenta {
    fn load_lex(&mut self, host: &[f64]) -> Result<()> {
        let part = part(self.geometry(), host, 32);
        self.load(&part, MomentaForm::Coefficients, SiteOrder::Lexicographic, 1.0)
    }
    fn save_lex(&self) -> Result<Vec<f64>> {
        let mut part = vec![0.0; 32 * self.geometry().volume()];
        self.save(&mut part, MomentaForm::Coefficients, SiteOrder::Lexicographic, 1.0)?;
        whole(self.geometry(), &part, 32)
    }
}

impl Lex for SpinorField {
    fn load_lex(&mut self, host: &[f64]) -> Result<()> {
        let site = self.components().reals();
        let vectors = host.chunks(site * self.geometry().global_volume());
        let parts: Vec<f64> = vectors.flat_map(|f| part(self.geometry(), f, site)).collect();
        self.load(&vector_layout(self), &External::read(&[&parts[..]]), false)
    }
    fn save_lex(&self) -> Result<Vec<f64>> {
        let site = self.components().reals();
        let each = site * self.geometry().volume();
        let mut parts = vec![0.0; each * self.nrhs() * self.components().slices];
        self.save(&vector_layout(self), &mut External::write(vec![&mut parts[..]]))?;
        let all: Result<Vec<_>> =
            parts.chunks(each).map(|f| whole(self.geometry(), f, site)).collect();
        Ok(all?.concat())
    }
}

fn link_reals(links: &GaugeField) -> usize {
    8 * links.group().colours() * links.group().colours()
}

fn vector_layout(vectors: &SpinorField) -> Layout {
    match vectors.components() {
        Components::COLOUR => Layout::lexicographic_colour(Precision::F64),
        _ => Layout::lexicographic_spinor(Precision::F64, GammaBasis::DeGrandRossi),
    }
}

/// Runs of sites along x of the part at `origin`: (number of the first site in the whole lattice, number in the
/// part).
fn rows(geometry: &Geometry, origin: [usize; 4]) -> impl Iterator<Item = (usize, usize)> {
    let (l, g) = (geometry.extents(), geometry.global_extents());
    (0..l[1] * l[2] * l[3]).map(move |row| {
        let (y, z, t) = (row % l[1], row / l[1] % l[2], row / (l[1] * l[2]));
        let global = (t + origin[3]) * g[2] + z + origin[2];
        (((global * g[1]) + y + origin[1]) * g[0] + origin[0], row * l[0])
    })
}

/// This rank's part of an array of the whole lattice with `reals` numbers per site.
fn part(geometry: &Geometry, whole: &[f64], reals: usize) -> Vec<f64> {
    assert_eq!(whole.len(), geometry.global_volume() * reals, "numbers of a whole lattice");
    let run = geometry.extents()[0] * reals;
    let mut part = vec![0.0; geometry.volume() * reals];
    for (from, to) in rows(geometry, geometry.origin()) {
        part[to * reals..][..run].copy_from_slice(&whole[from * reals..][..run]);
    }
    part
}

/// The array of the whole lattice, put together from the parts of all ranks.
fn whole(geometry: &Geometry, part: &[f64], reals: usize) -> Result<Vec<f64>> {
    let comm = geometry.comm();
    let bytes = comm.all_gather(bytemuck::cast_slice(part))?;
    let mut whole = vec![0.0; geometry.global_volume() * reals];
    let run = geometry.extents()[0] * reals;
    for (rank, bytes) in bytes.chunks_exact(8 * part.len()).enumerate() {
        let mut numbers = vec![0.0; part.len()];
        bytemuck::cast_slice_mut(&mut numbers).copy_from_slice(bytes);
        let coords = comm.coords_of(rank);
        let origin = std::array::from_fn(|mu| coords[mu] * geometry.extents()[mu]);
        for (to, from) in rows(geometry, origin) {
            whole[to * reals..][..run].copy_from_slice(&numbers[from * reals..][..run]);
        }
    }
    Ok(whole)
}
