//! Fields of random numbers: Philox 4x32-10 with the seed as key and the global site in the counter
//! (kernels/philox.h), so that a field is the same on every device, number of threads and decomposition. Numbers are
//! computed in double precision and rounded to the storage.

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
    /// The numbers 1, i, -1 and -i with equal probability.
    Z4,
    /// The numbers 1 and -1 with equal probability.
    Z2,
}

words!(Noise {
    Normal => "PLAQ_NOISE_NORMAL",
    Z4 => "PLAQ_NOISE_Z4",
    Z2 => "PLAQ_NOISE_Z2",
});

choices! {
    /// Distribution of the components c of a random spinor, which are independent with average |c|^2 = 1.
    names Noise: plaq_noise {
        /// The numbers 1 and -1.
        Z2 = 1, PLAQ_NOISE_Z2, "z2";
        /// The numbers 1, i, -1 and -i.
        Z4 = 2, PLAQ_NOISE_Z4, "z4";
        /// Complex normal numbers.
        Normal = 3, PLAQ_NOISE_NORMAL, "normal";
    }
}

impl Noise {
    /// The RANDOM_* constant in the counter of random numbers that distinguishes this distribution from others.
    pub(crate) fn purpose(self) -> i32 {
        match self {
            Noise::Normal => args::RANDOM_NORMAL_SPINOR,
            Noise::Z4 => args::RANDOM_Z4_SPINOR,
            Noise::Z2 => args::RANDOM_Z2_SPINOR,
        }
    }
}

impl GaugeField {
    /// Sets all links to the unit matrix ("cold" start).
    pub fn set_unit(&mut self) -> Result<()> {
        self.set_random_width(0, 0.0)
    }

    /// Sets the links to independent random matrices from the Haar measure ("hot" start).
    pub fn set_random(&mut self, seed: u64) -> Result<()> {
        self.set_random_width(seed, -1.0)
    }

    /// Sets the links to exp(i width sum_a p_a T_a) with normal p_a and tr T_a T_b = 1/2 delta_ab ("warm" start); 0
    /// <= width <= 1, and small widths give smooth fields.
    pub fn set_near_unit(&mut self, seed: u64, width: f64) -> Result<()> {
        if !(0.0..=1.0).contains(&width) {
            refuse!(InvalidArgument, "width", expected("0 to 1"), found("{width}"));
        }
        self.set_random_width(seed, width)
    }

    fn set_random_width(&mut self, seed: u64, width: f64) -> Result<()> {
        self.fill_random(args::RANDOM_LINK, seed, 0, width)
    }

    /// Sets the links to random matrices that are determined by `seed`, `step` and the RANDOM_* code `purpose`: exp(i
    /// width p) with normal momenta p or, if width < 0, matrices from the Haar measure.
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
    /// Sets the field to random noise. In a field with n slices (flavours or sites in a fifth dimension), slice s of
    /// right-hand side b gets noise vector number n (`first` + b) + s of `seed`. Spinors are zero on time slices where
    /// quarks vanish at boundaries.
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
