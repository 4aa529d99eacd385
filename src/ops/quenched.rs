//! Quenched gauge fields of the Wilson action: heat bath (Kennedy, Pendleton, Phys. Lett. B 156 (1985) 393) and
//! overrelaxation in SU(2) subgroups (Cabibbo, Marinari, Phys. Lett. B 119 (1982) 387).

use crate::backend::args::UpdateArgs;
use crate::backend::kernels;
use crate::error::Result;
use crate::fields::{GaugeField, Precision};
use crate::params::{parameters, reports, row_set, Parameters as _};
use crate::refuse;

row_set! {
    random_seed_row($default) {
        /// Seed of the random numbers.
        seed: u64 = $default;
    }
}

parameters! {
    /// Parameters of quenched updates with weight exp(-beta sum (1 - Re tr U_munu / N)).
    pub composed struct HeatBath: plaq_heatbath_params {
        /// Coupling beta of the Wilson action. It must be set.
        beta: f64 = f64::NAN, from(0.0, 1e6);
        with random_seed_row(0);
        /// Number of heat bath sweeps.
        sweeps: u32 = 1, within(0, u32::MAX as i64);
        /// Number of overrelaxation sweeps after each heat bath sweep.
        overrelax: u32 = 4, within(0, i32::MAX as i64);
        /// Number of heat bath sweeps already done with this seed; to continue a run, next_sweep of its last report.
        first_sweep: u32 = 0, within(0, u32::MAX as i64);
        /// Weight cG at slice 0, for links with boundaries in time: of plaquettes in an open boundary slice, which
        /// also have a factor 1/2, or of plaquettes between a slice of fixed links and the next one.
        cg: f64 = 1.0, from(0.0, 100.0);
        /// Weight cG' at the other boundary; NaN: the same as cg.
        cg_prime: Option<f64> = None, absent("cg");
    }
}

reports! {
    /// Report of heat bath sweeps.
    pub struct HeatBathReport: plaq_heatbath_report {
        /// Number of the next heat bath sweep in the stream of random numbers.
        next_sweep: u32;
        /// 1: the callback asked to stop.
        stopped: bool;
        /// Seconds that the sweeps took.
        seconds: f64;
    }
}

impl HeatBath {
    /// Makes the update, positioned at `first_sweep` in the sequence of random numbers; in messages names of members
    /// follow `argument`.
    ///
    /// # Errors
    /// `BadParameter`: a value out of its range; `InvalidArgument`: sweeps beyond the end of the stream.
    pub fn quenched(&self, argument: &str) -> Result<Quenched> {
        self.check_rows(argument)?;
        let HeatBath { beta, seed, overrelax, first_sweep: sweep, cg, .. } = *self;
        let weights = [cg, self.cg_prime.unwrap_or(cg)];
        if !(0.0..=100.0).contains(&weights[1]) {
            refuse!(
                BadParameter,
                "{argument}.cg_prime",
                expected("0 to 100"),
                found("{}", weights[1])
            );
        }
        let update = Quenched { beta, seed, overrelax: overrelax as usize, sweep, weights };
        update.check_sweeps(self.sweeps as usize)?;
        Ok(update)
    }
}

/// Updates SU(3) or SU(2) links without quarks with weight exp(-S), S = beta sum (1 - Re tr U_munu / N): heat bath
/// (Kennedy, Pendleton, Phys. Lett. B 156 (1985) 393) and overrelaxation.
#[derive(Clone, Copy, Debug)]
pub struct Quenched {
    pub beta: f64,
    pub seed: u64,
    /// Number of overrelaxation sweeps after every heat bath sweep.
    pub overrelax: usize,
    /// Number of heat bath sweeps done, which is the place in the random stream; keep it to continue a run.
    pub sweep: u32,
    /// Weights cG and cG' of the action at boundaries in time.
    pub weights: [f64; 2],
}

impl Quenched {
    /// Makes an update with coupling beta >= 0 and four overrelaxation sweeps for each heat bath sweep.
    pub fn new(beta: f64, seed: u64) -> Result<Self> {
        if !(0.0..=1e6).contains(&beta) {
            refuse!(InvalidArgument, "beta", expected("0 to 1e6"), found("{beta}"));
        }
        Ok(Quenched { beta, seed, overrelax: 4, sweep: 0, weights: [1.0; 2] })
    }

    /// `n` times: one heat bath sweep, then `overrelax` overrelaxation sweeps.
    ///
    /// Links must be stored whole (`R18`, or SU(2)), in single or double precision; every updated
    /// link is put back into the group. Random numbers depend on seed, sweep and global site only.
    ///
    /// # Errors
    /// `Unsupported`: other links; `InvalidArgument`: `sweep` would pass 2^32 - 1.
    pub fn run(&mut self, gauge: &mut GaugeField, n: usize) -> Result<()> {
        self.check_sweeps(n)?;
        for _ in 0..n {
            let heat = Some((self.beta, self.seed, self.sweep));
            update(gauge, heat, self.weights)?;
            self.sweep += 1;
            for _ in 0..self.overrelax {
                overrelax(gauge, self.weights)?;
            }
        }
        Ok(())
    }

    /// Refuses sweeps beyond the end of the sequence of random numbers, where these would repeat.
    pub fn check_sweeps(&self, n: usize) -> Result<()> {
        if n > (u32::MAX - self.sweep) as usize {
            refuse!(
                InvalidArgument,
                "sweeps",
                expected("at most 2^32 - 1 with one seed"),
                found("{} after {n} more", u64::from(self.sweep).saturating_add(n as u64))
            );
        }
        Ok(())
    }
}

/// Makes one sweep of microcanonical overrelaxation, which leaves the Wilson action unchanged; `weights` are its cG
/// and cG' at boundaries in time.
pub fn overrelax(gauge: &mut GaugeField, weights: [f64; 2]) -> Result<()> {
    update(gauge, None, weights)
}

/// Makes a sweep over all links that are not fixed; `heat`: beta, seed and sweep number of a heat bath sweep, `None`
/// for overrelaxation.
fn update(gauge: &mut GaugeField, heat: Option<(f64, u64, u32)>, weights: [f64; 2]) -> Result<()> {
    if gauge.recon() != gauge.recon().whole() || gauge.precision() == Precision::F16 {
        refuse!(
            Unsupported,
            "quenched update",
            expected("double or single links stored as PLAQ_STORAGE_SU3_18 or PLAQ_STORAGE_SU2"),
            found("{} links stored as {}", gauge.precision(), gauge.recon())
        );
    }
    if gauge.geometry().boundary().is_periodic() && weights != [1.0; 2] {
        refuse!(
            BadParameter,
            "cg, cg_prime",
            expected("1 on links that are periodic in time"),
            found("{weights:?}")
        );
    }
    let (beta, seed, sweep) = heat.unwrap_or_default();
    let mut args = UpdateArgs {
        geom: gauge.geometry().args(),
        bounds: gauge.geometry().bounds(),
        gauge: gauge.view(),
        heat: heat.is_some() as i32,
        seed,
        sweep: i64::from(sweep),
        beta,
        lower: weights[0],
        upper: weights[1],
        ..Default::default()
    };
    // Staples of one direction on one parity do not contain each other's links.
    for direction in 0..4 {
        for parity in 0..2 {
            (args.direction, args.parity) = (direction, parity);
            gauge.device().launch(
                kernels::UpdateLinks::of(gauge.precision(), gauge.recon())?,
                &args,
                gauge.geometry().work(1),
            )?;
            gauge.exchange(Some(direction as usize))?;
        }
    }
    Ok(())
}
