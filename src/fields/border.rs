//! Borders of link fields: the links of the ranks behind the faces, corners included.

use super::halo::{lock, Faces};
use super::GaugeField;
use crate::backend::args::{BorderArgs, FaceArgs};
use crate::backend::{Ptr, Work};
use crate::error::Result;

impl GaugeField {
    /// Brings the borders up to date after links were written: of all directions, or of one
    /// direction of links. Every rank calls it. Nothing to do on one rank.
    pub(crate) fn exchange(&self, direction: Option<usize>) -> Result<()> {
        let geometry = self.geometry();
        let mask = geometry.halo_mask();
        if mask == 0 {
            return Ok(());
        }
        let links = if direction.is_some() { 1 } else { self.matrices() };
        let site = links * self.recon().reals() * self.precision().bytes();
        let params = [self.precision().token(), self.recon().token()];
        let extents = geometry.extents();
        // Directions in turn: each takes the borders of those before it along, which brings the
        // corners.
        for mu in (0..4).filter(|mu| mask >> mu & 1 == 1) {
            let edge = |nu: usize| if nu < mu && mask >> nu & 1 == 1 { 2 } else { 0 };
            let others = || (0..4).filter(|&nu| nu != mu);
            let sites: usize = others().map(|nu| extents[nu] + edge(nu)).product();
            let faces = Faces::new(1 << mu, |_| sites * site);
            let halo = geometry.halo_exchange(self.device(), &faces)?;
            let mut halo = lock(&halo);
            halo.begin();
            let mut args = BorderArgs {
                geom: geometry.args(),
                gauge: self.view(),
                mu: mu as i32,
                direction: direction.map_or(-1, |d| d as i32),
                links: self.matrices() as i32,
                message: [false, true].map(|upper| halo.sent(mu, upper)),
                arrived: 0,
            };
            let lanes = geometry.lanes();
            let work = Work { n: sites.div_ceil(lanes), batches: 2, lanes };
            self.device().launch(kernel!("border_pack"), &params, &args, work)?;
            halo.exchange(geometry.comm(), || Ok(()))?;
            args.message = [false, true].map(|upper| halo.received(mu, upper));
            let n = others().map(|nu| geometry.piece(nu) + edge(nu)).product();
            let work = Work { n, batches: 2, lanes };
            self.device().launch(kernel!("border_unpack"), &params, &args, work)?;
        }
        Ok(())
    }

    /// Of a field of one matrix per site the borders behind faces, without corners, after matrices of one
    /// parity were written; what `meanwhile` launches runs while they are under way.
    pub(super) fn exchange_faces(
        &self,
        parity: i32,
        meanwhile: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let (geometry, device) = (self.geometry(), self.device());
        let mask = geometry.halo_mask();
        if mask == 0 {
            return meanwhile();
        }
        let divided = |mu: &usize| mask >> mu & 1 == 1;
        let sites = |mu: usize| geometry.volume() / geometry.extents()[mu] / 2;
        let most =
            |count: &dyn Fn(usize) -> usize| (0..4).filter(divided).map(count).max().unwrap_or(0);
        let site = self.recon().reals() * self.precision().bytes();
        let halo = geometry.halo_exchange(device, &Faces::new(mask, |mu| sites(mu) * site))?;
        let mut halo = lock(&halo);
        halo.begin();
        let params = [self.precision().token(), self.recon().token()];
        let lanes = geometry.lanes();
        let messages = |at: &dyn Fn(usize, bool) -> Ptr| {
            std::array::from_fn(|k| match divided(&(k / 2)) {
                true => at(k / 2, k % 2 == 1),
                false => Ptr::NULL,
            })
        };
        let mut args = FaceArgs {
            geom: geometry.args(),
            g: self.view(),
            parity,
            message: messages(&|mu, upper| halo.sent(mu, upper)),
        };
        let work = Work { n: most(&|mu| sites(mu).div_ceil(lanes)), batches: 8, lanes };
        device.launch(kernel!("face_pack"), &params, &args, work)?;
        halo.exchange(geometry.comm(), meanwhile)?;
        args.message = messages(&|mu, upper| halo.received(mu, upper));
        let work = Work { n: most(&|mu| geometry.face_outer(mu)), ..work };
        device.launch(kernel!("face_unpack"), &params, &args, work)
    }

    /// Gives links in the lower borders, of even sites across the face, to the ranks that they
    /// belong to; the borders are to be brought up to date after it.
    pub(crate) fn return_links(&self) -> Result<()> {
        let geometry = self.geometry();
        let site = self.recon().reals() * self.precision().bytes();
        let params = [self.precision().token(), self.recon().token()];
        let lanes = geometry.lanes();
        for mu in (0..4).filter(|&mu| geometry.halo_mask() >> mu & 1 == 1) {
            let sites = geometry.volume() / geometry.extents()[mu];
            let faces = Faces::new(1 << mu, |_| sites * site);
            let halo = geometry.halo_exchange(self.device(), &faces)?;
            let mut halo = lock(&halo);
            halo.begin();
            let mut args = BorderArgs {
                geom: geometry.args(),
                gauge: self.view(),
                mu: mu as i32,
                direction: mu as i32,
                links: self.matrices() as i32,
                message: [halo.sent(mu, false), halo.received(mu, true)],
                arrived: 0,
            };
            let work = Work { n: sites.div_ceil(lanes), batches: 1, lanes };
            self.device().launch(kernel!("border_return"), &params, &args, work)?;
            halo.exchange(geometry.comm(), || Ok(()))?;
            args.arrived = 1;
            self.device().launch(kernel!("border_return"), &params, &args, work)?;
        }
        Ok(())
    }
}
