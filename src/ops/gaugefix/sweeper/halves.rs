//! Half sweeps, which change the sites of one parity and on several ranks exchange their faces.

use super::{Sweeper, MAX_THREADS};
use crate::backend::args::{self, FaceExchangeArgs, GaugeFixArgs};
use crate::backend::kernels;
use crate::backend::Work;
use crate::error::Result;

impl Sweeper {
    /// Changes the sites of one parity. On a divided lattice sites at faces are changed first, so that they are sent
    /// while the others change. Where kernels write to the memory of other ranks this is one launch, which signals
    /// and waits itself, and the borders of g on the far side of faces are not updated; elsewhere faces have a launch
    /// of their own.
    pub(super) fn half(&mut self, parity: i32) -> Result<()> {
        self.args.parity = parity;
        if self.links.geometry().halo_mask() == 0 {
            return self.launch(&self.args);
        }
        if let Some(faces) = self.g.next_faces(parity, &mut self.ahead)? {
            return self.at_once(&self.args, faces);
        }
        self.part(&self.args, args::REGION_OUTER)?;
        self.g.exchange_faces(parity, || self.part(&self.args, args::REGION_INNER))
    }

    /// Updates the borders of g, if faces have changed since the last time.
    pub fn update_borders(&mut self) -> Result<()> {
        if self.ahead.take().is_none() {
            return Ok(());
        }
        (0..2).try_for_each(|parity| self.g.exchange_faces(parity, || Ok(())))
    }

    /// Launches the change of the sites of one region.
    fn part(&self, all: &GaugeFixArgs, region: i32) -> Result<()> {
        let geometry = self.links.geometry();
        let (work, inner) = (geometry.work(1), geometry.inner());
        let n = if region == args::REGION_INNER { inner } else { work.n - inner };
        self.launch_region(&GaugeFixArgs { region, ..*all }, n)
    }

    /// Launches the change of the sites of both regions at once.
    fn at_once(&self, all: &GaugeFixArgs, faces: FaceExchangeArgs) -> Result<()> {
        let geometry = self.links.geometry();
        let (sites, inner) = (geometry.work(1).n, geometry.inner());
        let threads = (sites - inner).next_multiple_of(MAX_THREADS);
        let (region, face_threads) = (args::REGION_FACES_FIRST, threads as i32);
        let args = GaugeFixArgs { region, faces, face_threads, ..*all };
        self.launch_region(&args, threads + inner)
    }

    fn launch_region(&self, args: &GaugeFixArgs, n: usize) -> Result<()> {
        let work = Work { n, ..self.links.geometry().work(1) };
        let (precision, storage) = self.form()?;
        self.links.device().launch(kernels::GaugeSweep(precision, storage), args, work)
    }
}
