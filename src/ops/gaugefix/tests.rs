//! Tests of the kernels that a rehearsal of a gauge fixing asks for.

use super::*;
use crate::backend::tests::common::Lex;
use crate::backend::Device;
use crate::compose::tests::compare;
use crate::fields::{Geometry, Recon};

#[test]
fn a_rehearsed_fixing_asks_for_its_kernels_and_changes_nothing() {
    let device = Device::cpu(2).unwrap();
    let geometry = Geometry::new([4, 4, 4, 8], &device).unwrap();
    let mut links = GaugeField::new(&device, &geometry, Precision::F64, Recon::R12).unwrap();
    links.set_near_unit(7, 0.4).unwrap();
    let before = links.save_lex().unwrap();
    let new = |condition| GaugeFixParams {
        method: Method::Overrelaxation,
        ..GaugeFixParams::new(condition)
    };
    let schedule = Schedule { steps: 6, ..Schedule::default() };
    for params in [
        new(Condition::Landau),
        GaugeFixParams { copies: 2, ..new(Condition::Coulomb { time: 3 }) },
        GaugeFixParams {
            precision: Working::Single,
            stop: Stop::of(Working::Single),
            ..new(Condition::Landau)
        },
        GaugeFixParams { method: Method::Annealing(schedule), ..new(Condition::Landau) },
        GaugeFixParams {
            method: Method::FourierCg { alpha: 0.08 },
            precision: Working::Double,
            ..new(Condition::Landau)
        },
        new(Condition::MaximallyAbelian { residual: true }),
        GaugeFixParams::new(Condition::Landau),
    ] {
        let what = format!("{:?} {:?}", params.condition, params.method);
        let dry = links.device().dry();
        let there = links.like_on(&dry).unwrap();
        let rehearsed = dry.recorded(|| run_through(&there, &params));
        assert_eq!(links.save_lex().unwrap(), before, "{what}");
        let launched = links.device().recorded(|| {
            fix_gauge(&links, &params, &mut |_| false).unwrap();
        });
        compare(&what, &rehearsed, &launched, 0);
    }
}
