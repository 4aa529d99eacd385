//! Stochastic sources in the space of modes: noise on time, spin and mode, diluted in each of them (Morningstar et al.,
//! Phys. Rev. D 83, 114505).

use num_complex::Complex64;

use super::inverse::Inverse;
use super::modes::Modes;
use super::perambulator::{projected, Projected};
use crate::backend::args::RANDOM_MODES;
use crate::error::{host_array, Result};
use crate::fields::Noise;
use crate::ops::hmc::random::philox;
use crate::ops::source::{column_rows, noise_seed_row};
use crate::params::{choices, parameters, Choice as _, Parameters as _};
use crate::refuse;
use crate::solvers::Monitor;

choices! {
    /// Divisions of an index of N values into the parts of a dilution.
    pub enum Dilution: plaq_modes_dilution {
        /// No dilution: one part with all values.
        None = 0, PLAQ_MODES_DILUTION_NONE, "none";
        /// Full dilution: one part for each value.
        Full = 1, PLAQ_MODES_DILUTION_FULL, "full";
        /// `parts` parts; value i belongs to part i mod `parts`.
        Interlace = 2, PLAQ_MODES_DILUTION_INTERLACE, "interlace";
        /// `parts` parts of consecutive values; value i belongs to part i `parts` / N, rounded down.
        Block = 3, PLAQ_MODES_DILUTION_BLOCK, "block";
    }
}

/// The dilution of one index, with its number of parts if the kind of dilution needs one.
#[derive(Clone, Copy)]
struct Diluted {
    how: Dilution,
    parts: usize,
}

impl Diluted {
    /// The number of parts into which an index of n values is divided; `name` is that of the index in messages.
    fn count(self, n: usize, name: &str) -> Result<usize> {
        match self.how {
            Dilution::None => Ok(1),
            Dilution::Full => Ok(n),
            _ if (1..=n).contains(&self.parts) => Ok(self.parts),
            _ => refuse!(
                BadParameter,
                "params.{name}_parts",
                expected("1 to {n}, as many as there are to divide"),
                found("{}", self.parts)
            ),
        }
    }
    fn part(self, i: usize, n: usize) -> usize {
        match self.how {
            Dilution::None => 0,
            Dilution::Full => i,
            Dilution::Interlace => i % self.parts,
            Dilution::Block => i * self.parts / n,
        }
    }
}

parameters! {
    /// Noise in the space of modes: a column is b(x) = sum of eta(t, s, k) v_k(x) over the modes k, spins s and times
    /// t of one part of the dilution, with independent roots of unity eta. Columns are numbered with parts of modes
    /// fastest, then of spins, of times, and noise vectors.
    pub composed struct NoiseInModes: plaq_modes_noise_params {
        /// Numbers from which eta is drawn: PLAQ_NOISE_Z2 or PLAQ_NOISE_Z4.
        noise: Noise = Noise::Z4;
        /// Number of noise vectors, each of which has a column for every part.
        vectors: usize = 1, within(1, 1 << 20);
        with noise_seed_row;
        /// Dilution of the time index.
        time: Dilution = Dilution::Full;
        /// Number of parts of times, of dilutions that need it.
        time_parts: usize = 0, within(0, i32::MAX as i64);
        /// Dilution of the spin index.
        spin: Dilution = Dilution::Full;
        /// Number of parts of spins.
        spin_parts: usize = 0, within(0, i32::MAX as i64);
        /// Dilution of the mode index.
        mode: Dilution = Dilution::Interlace;
        /// Number of parts of modes.
        mode_parts: usize = 1, within(0, i32::MAX as i64);
        with column_rows;
    }
}

impl NoiseInModes {
    /// The dilutions of the indices [mode, spin, time].
    fn dilutions(&self) -> [Diluted; 3] {
        let of = |how, parts| Diluted { how, parts };
        let (mode, spin) = (of(self.mode, self.mode_parts), of(self.spin, self.spin_parts));
        [mode, spin, of(self.time, self.time_parts)]
    }

    /// All settings in words, by which files know the noise.
    pub(super) fn words(&self) -> String {
        let of = |how: Dilution, parts: usize| match how {
            Dilution::None | Dilution::Full => how.word().to_string(),
            _ => format!("{} {parts}", how.word()),
        };
        format!(
            "{}, seed {}, vectors {}, time {}, spin {}, mode {}, columns from {} on, {}",
            self.noise.word(),
            self.seed,
            self.vectors,
            of(self.time, self.time_parts),
            of(self.spin, self.spin_parts),
            of(self.mode, self.mode_parts),
            self.first,
            self.count.map_or("all".into(), |count| count.to_string())
        )
    }

    /// The numbers of parts of the indices [mode, spin, time].
    fn parts(&self, modes: usize, times: usize) -> Result<[usize; 3]> {
        let [mode, spin, time] = self.dilutions();
        Ok([mode.count(modes, "mode")?, spin.count(4, "spin")?, time.count(times, "time")?])
    }

    /// Number of columns from `first` on.
    ///
    /// # Errors
    /// `BadParameter`: a number of parts that is not possible, or no column.
    pub fn columns(&self, modes: &Modes) -> Result<usize> {
        self.columns_of(modes.count(), modes.times())
    }

    /// Number of columns from `first` on, for so many modes on each of so many time slices.
    ///
    /// # Errors
    /// Errors of [`NoiseInModes::columns`].
    pub fn columns_of(&self, modes: usize, times: usize) -> Result<usize> {
        if self.noise == Noise::Normal {
            refuse!(
                BadParameter,
                "params.noise",
                expected("Z2 or Z4"),
                found("{}", self.noise.word())
            );
        }
        self.check_rows("params")?;
        let all = self.parts(modes, times)?.iter().product::<usize>() * self.vectors;
        let left = all.saturating_sub(self.first);
        let found = left.min(self.count.unwrap_or(left));
        if found == 0 {
            refuse!(
                BadParameter,
                "params.first",
                expected("0 to {}", all - 1),
                found("{}", self.first)
            );
        }
        Ok(found)
    }

    /// The number eta of a noise vector at time t, spin s and mode k, chosen by a word of Philox (kernels/philox.h).
    /// In its counter the time stands in the place of the site, the spin in that of the index, the vector in that of
    /// the step, and the mode in that of the block.
    fn number(&self, vector: usize, t: usize, s: usize, k: usize) -> Complex64 {
        let purpose = (RANDOM_MODES as u32) << 16 | (s as u32) << 24;
        let w = philox([t as u32, purpose, vector as u32, k as u32], self.seed)[0];
        let sign = if w >> 31 == 1 { -1.0 } else { 1.0 };
        match self.noise == Noise::Z4 && w >> 30 & 1 == 1 {
            true => Complex64::new(0.0, sign),
            false => Complex64::new(sign, 0.0),
        }
    }

    /// The coefficient of mode k with spin s at time t in column number `first` + `column`.
    fn at(
        &self,
        parts: [usize; 3],
        column: usize,
        modes: &Modes,
        (t, s, k): (usize, usize, usize),
    ) -> Complex64 {
        let [p, q, r] = parts;
        let i = self.first + column;
        let (mode, spin, time, vector) = (i % p, i / p % q, i / (p * q) % r, i / (p * q * r));
        let [modes_in, spins_in, times_in] = self.dilutions();
        let meant = modes_in.part(k, modes.count()) == mode
            && spins_in.part(s, 4) == spin
            && times_in.part(t, modes.times()) == time;
        if meant {
            self.number(vector, t, s, k)
        } else {
            Complex64::ZERO
        }
    }

    /// The coefficients of all columns: [column][t][spin][mode].
    ///
    /// # Errors
    /// `OutOfMemory`, and errors of [`NoiseInModes::columns`].
    pub fn coefficients(&self, modes: &Modes) -> Result<Vec<Complex64>> {
        let (columns, parts) = (self.columns(modes)?, self.parts(modes.count(), modes.times())?);
        let (n, times) = (modes.count(), modes.times());
        let at = |i: usize| (i / (4 * n) % times, i / n % 4, i % n);
        let each = 4 * n * times;
        let mut all = host_array(columns * each, Complex64::ZERO, "noise in modes")?;
        for (i, z) in all.iter_mut().enumerate() {
            *z = self.at(parts, i / each, modes, at(i));
        }
        Ok(all)
    }

    /// Solves for all columns b and projects on the modes: V(t')^dagger M^-1 b, [column][t'][spin'][mode'].
    ///
    /// # Errors
    /// Errors of [`NoiseInModes::columns`] and of perambulators.
    pub fn solved(
        &self,
        solver: &dyn Inverse,
        modes: &Modes,
        at_once: usize,
        monitor: &mut Monitor,
    ) -> Result<(Vec<Complex64>, Projected)> {
        let (columns, parts) = (self.columns(modes)?, self.parts(modes.count(), modes.times())?);
        let (n, times) = (modes.count(), modes.times());
        let some = |first: usize, count: usize| -> Vec<Complex64> {
            let at = |i: usize| {
                let (s, column, k, t) =
                    (i % 4, i / 4 % count, i / (4 * count) % n, i / (4 * count * n));
                self.at(parts, first + column, modes, (t, s, k))
            };
            (0..times * n * count * 4).map(at).collect()
        };
        projected(solver, modes, (columns, at_once), &some, monitor)
    }
}
