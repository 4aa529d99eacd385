//! Fields of random numbers: Philox 4x32-10 keyed by the seed and counted by the global site
//! (kernels/philox.h), so that a field is the same on every device, thread count and
//! decomposition. Numbers are made in double and rounded to the storage.

use super::time_slices::vanish;
use super::{GaugeField, RhsOrder, SpinorField, Subset};
use crate::backend::args::{self, RandomArgs};
use crate::backend::kernels;
use crate::error::{words, Result};
use crate::params::choices;
use crate::refuse;

/// Distribution of the components of a random spinor, which are independent with <c conj(c)> = 1.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    /// Complex normal numbers: real and imaginary part of variance 1/2.
    Normal,
    /// 1, i, -1 or -i.
    Z4,
    /// 1 or -1.
    Z2,
}

words!(Noise {
    Normal => "PLAQ_NOISE_NORMAL",
    Z4 => "PLAQ_NOISE_Z4",
    Z2 => "PLAQ_NOISE_Z2",
});

choices! {
    /// Components of a random spinor, independent, with average |c|^2 = 1.
    names Noise: plaq_noise {
        /// 1 or -1.
        Z2 = 1, PLAQ_NOISE_Z2, "z2";
        /// 1, i, -1 or -i.
        Z4 = 2, PLAQ_NOISE_Z4, "z4";
        /// Complex normal.
        Normal = 3, PLAQ_NOISE_NORMAL, "normal";
    }
}

impl Noise {
    /// The constant that tells this distribution apart in the counter of random numbers.
    pub(crate) fn purpose(self) -> i32 {
        match self {
            Noise::Normal => args::RANDOM_NORMAL_SPINOR,
            Noise::Z4 => args::RANDOM_Z4_SPINOR,
            Noise::Z2 => args::RANDOM_Z2_SPINOR,
        }
    }
}

impl GaugeField {
    /// All links the unit matrix ("cold").
    pub fn set_unit(&mut self) -> Result<()> {
        self.set_random_width(0, 0.0)
    }

    /// Independent links from the Haar measure ("hot").
    pub fn set_random(&mut self, seed: u64) -> Result<()> {
        self.set_random_width(seed, -1.0)
    }

    /// Links exp(i width sum_a p_a T_a) with normal p_a and tr T_a T_b = 1/2 delta_ab ("warm");
    /// 0 <= width <= 1: small widths give smooth fields.
    pub fn set_near_unit(&mut self, seed: u64, width: f64) -> Result<()> {
        if !(0.0..=1.0).contains(&width) {
            refuse!(InvalidArgument, "width", expected("0 to 1"), found("{width}"));
        }
        self.set_random_width(seed, width)
    }

    fn set_random_width(&mut self, seed: u64, width: f64) -> Result<()> {
        self.fill_random(args::RANDOM_LINK, seed, 0, width)
    }

    /// Fills the links with random numbers of `purpose`, field number `step` of a seed; width < 0 means the Haar
    /// measure.
    pub(super) fn fill_random(
        &mut self,
        purpose: i32,
        seed: u64,
        step: u32,
        width: f64,
    ) -> Result<()> {
        self.fill_whole(|links| {
            let args = RandomArgs {
                geom: links.geometry().args(),
                field: links.view(),
                purpose,
                links: links.matrices() as i32,
                parities: 2,
                seed,
                step: i64::from(step),
                width,
                ..Default::default()
            };
            links.device().launch(
                kernels::RandomGauge::of(links.precision(), links.recon())?,
                &args,
                links.geometry().work(2),
            )
        })
    }
}

impl SpinorField {
    /// Fills slice s of right-hand side b, of n slices, with noise vector number n (`first` + b) + s of `seed`. Spinors
    /// of a lattice with boundaries in time are zero on slices where quarks vanish.
    pub fn set_noise(&mut self, noise: Noise, seed: u64, first: u32) -> Result<()> {
        let slices = self.components().slices;
        if slices > 1 {
            return self.by_slice().set_noise(noise, seed, first * slices as u32);
        }
        let args = RandomArgs {
            geom: self.geometry().args(),
            field: self.view(),
            purpose: noise.purpose(),
            parities: self.parities() as i32,
            parity: (self.subset() == Subset::Odd) as i32,
            reals: self.components().reals() as i32,
            fastest: (self.order() == RhsOrder::Fastest) as i32,
            rhs: self.nrhs() as i32,
            seed,
            step: i64::from(first),
            ..Default::default()
        };
        let work = self.geometry().work(self.nrhs() * self.parities());
        self.device().launch(kernels::RandomSpinor(self.precision()), &args, work)?;
        let boundary = self.geometry().boundary();
        match self.components().spins {
            4 => vanish(self, boundary),
            _ => Ok(()),
        }
    }
}
