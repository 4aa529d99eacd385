//! Borders of link fields: copies of links on other ranks' sites next to this rank's part, including corners.

use std::sync::{Arc, Mutex};

use super::halo::{lock, Faces, HaloExchange};
use super::{GaugeField, Geometry};
use crate::backend::args::{BorderArgs, FaceArgs, FaceExchangeArgs};
use crate::backend::{kernels, Ptr, Work};
use crate::error::Result;

impl Geometry {
    /// Number of sites by which the border in direction mu extends beyond this rank's part in direction nu: 2 for the
    /// corners, if borders in direction nu have been exchanged before, else 0.
    fn edge(&self, mu: usize, nu: usize) -> usize {
        if nu < mu && self.halo_mask() >> nu & 1 == 1 {
            2
        } else {
            0
        }
    }
    /// Number of sites of the border beyond one face in direction mu, including corners.
    fn border_sites(&self, mu: usize) -> usize {
        let others = (0..4).filter(|&nu| nu != mu);
        others.map(|nu| self.extents()[nu] + self.edge(mu, nu)).product()
    }
    /// Sizes of the messages with the borders beyond the lower and upper face in direction mu, `site` bytes per site.
    pub(crate) fn border_faces(&self, mu: usize, site: usize) -> Faces {
        Faces::new(self.halo_mask() & 1 << mu, 1, |_| self.border_sites(mu) * site)
    }
}

impl GaugeField {
    /// Gives the links a new version and updates their borders; called by all ranks after links were written. With
    /// `direction` only the links of that direction are exchanged.
    pub(crate) fn exchange(&self, direction: Option<usize>) -> Result<()> {
        self.changed();
        let geometry = self.geometry();
        let mask = geometry.halo_mask();
        if mask == 0 {
            return Ok(());
        }
        let links = if direction.is_some() { 1 } else { self.matrices() };
        let site = links * self.recon().reals() * self.precision().bytes();
        // Directions are exchanged one after the other. Each message contains the borders in the directions before, so
        // that corners arrive, too.
        for mu in (0..4).filter(|mu| mask >> mu & 1 == 1) {
            let sites = geometry.border_sites(mu);
            let faces = geometry.border_faces(mu, site);
            let halo = geometry.halo_exchange(self.device(), &faces)?;
            let mut halo = lock(&halo);
            halo.begin(geometry.comm(), 1)?;
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
            self.device().launch(
                kernels::BorderPack(self.precision(), self.recon()),
                &args,
                work,
            )?;
            halo.exchange(geometry.comm(), || Ok(()))?;
            args.message = [false, true].map(|upper| halo.received(mu, upper));
            let others = (0..4).filter(|&nu| nu != mu);
            let n = others.map(|nu| geometry.piece(nu) + geometry.edge(mu, nu)).product();
            let work = Work { n, batches: 2, lanes };
            self.device().launch(
                kernels::BorderUnpack(self.precision(), self.recon()),
                &args,
                work,
            )?;
        }
        Ok(())
    }

    /// For a field with one matrix per site: updates the borders beyond all faces, without corners, after the matrices
    /// of one parity were written. `meanwhile` launches kernels while the messages are under way.
    pub(super) fn exchange_faces(
        &self,
        parity: i32,
        meanwhile: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let geometry = self.geometry();
        if geometry.halo_mask() == 0 {
            return meanwhile();
        }
        let halo = self.face_exchange()?;
        let mut halo = lock(&halo);
        halo.begin(geometry.comm(), 1)?;
        self.pack_faces(&halo, parity)?;
        halo.exchange(geometry.comm(), meanwhile)?;
        let message = self.geometry().face_messages(|mu, upper| halo.received(mu, upper));
        let args = FaceArgs { geom: geometry.args(), g: self.view(), parity, message };
        let n = self.most_at_faces(|mu| geometry.face_outer(mu));
        let work = Work { n, batches: 8, lanes: geometry.lanes() };
        let kernel = kernels::FaceUnpack::of(self.precision(), self.recon())?;
        self.device().launch(kernel, &args, work)
    }

    /// The messages for a kernel that itself waits for those of one parity and sends those of `parity`, so that
    /// borders are not updated between launches. `last` is the number of the previous launch; if there was another
    /// exchange since, the faces of the other parity are sent first. None if kernels cannot write to the memory of
    /// all neighbours.
    pub(super) fn next_faces(
        &self,
        parity: i32,
        last: &mut Option<u32>,
    ) -> Result<Option<FaceExchangeArgs>> {
        let (geometry, comm) = (self.geometry(), self.geometry().comm());
        // This condition has the same value on all ranks.
        if geometry.halo_mask() == 0 || !geometry.reaches_all(self.device())? {
            return Ok(None);
        }
        let halo = self.face_exchange()?;
        let mut halo = lock(&halo);
        if !halo.is_direct() {
            return Ok(None);
        }
        if last.is_none() || *last != halo.number() {
            halo.begin(comm, 1)?;
            self.pack_faces(&halo, 1 - parity)?;
            halo.signal_neighbours()?;
        }
        let Some([_, received_flags]) = halo.signals(comm)? else { return Ok(None) };
        let received = self.geometry().face_messages(|mu, upper| halo.received(mu, upper));
        let Some(sent_flags) = halo.next_sent_flags() else { return Ok(None) };
        let sent = self.geometry().face_messages(|mu, upper| halo.sent(mu, upper));
        *last = halo.number();
        Ok(Some(FaceExchangeArgs { sent, received, sent_flags, received_flags }))
    }

    fn face_exchange(&self) -> Result<Arc<Mutex<HaloExchange>>> {
        let geometry = self.geometry();
        let site = self.recon().reals() * self.precision().bytes();
        let faces = Faces::new(geometry.halo_mask(), 1, |mu| geometry.face_parity_sites(mu) * site);
        geometry.halo_exchange(self.device(), &faces)
    }

    fn pack_faces(&self, halo: &HaloExchange, parity: i32) -> Result<()> {
        let geometry = self.geometry();
        let lanes = geometry.lanes();
        let message = self.geometry().face_messages(|mu, upper| halo.sent(mu, upper));
        let args = FaceArgs { geom: geometry.args(), g: self.view(), parity, message };
        let n = self.most_at_faces(|mu| geometry.face_parity_sites(mu).div_ceil(lanes));
        let work = Work { n, batches: 8, lanes };
        let kernel = kernels::FacePack::of(self.precision(), self.recon())?;
        self.device().launch(kernel, &args, work)
    }

    fn most_at_faces(&self, count: impl Fn(usize) -> usize) -> usize {
        let mask = self.geometry().halo_mask();
        (0..4).filter(|mu| mask >> mu & 1 == 1).map(count).max().unwrap_or(0)
    }

    /// Sends the links in the lower borders, which belong to even sites on the other side of the face, back to the
    /// ranks that own them; the borders are out of date afterwards.
    pub(crate) fn return_links(&self) -> Result<()> {
        let geometry = self.geometry();
        let site = self.recon().reals() * self.precision().bytes();
        let lanes = geometry.lanes();
        for mu in (0..4).filter(|&mu| geometry.halo_mask() >> mu & 1 == 1) {
            let sites = geometry.volume() / geometry.extents()[mu];
            let faces = Faces::new(1 << mu, 1, |_| sites * site);
            let halo = geometry.halo_exchange(self.device(), &faces)?;
            let mut halo = lock(&halo);
            halo.begin(geometry.comm(), 1)?;
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
            self.device().launch(
                kernels::BorderReturn(self.precision(), self.recon()),
                &args,
                work,
            )?;
            halo.exchange(geometry.comm(), || Ok(()))?;
            args.arrived = 1;
            self.device().launch(
                kernels::BorderReturn(self.precision(), self.recon()),
                &args,
                work,
            )?;
        }
        Ok(())
    }
}

impl Geometry {
    /// Addresses of the messages across the lower and the upper face of each direction, as kernels take them.
    pub(crate) fn face_messages(&self, at: impl Fn(usize, bool) -> Ptr) -> [Ptr; 8] {
        std::array::from_fn(|k| match self.halo_mask() >> (k / 2) & 1 {
            1 => at(k / 2, k % 2 == 1),
            _ => Ptr::NULL,
        })
    }

    /// Number of sites of one parity on a face in direction mu.
    pub(crate) fn face_parity_sites(&self, mu: usize) -> usize {
        self.volume() / self.extents()[mu] / 2
    }
}
