//! Variants of the hop's kernels to compile.

use super::*;

pub fn variants(params: &[&str]) -> Vec<Variant> {
    let all = params == ["f32", "R12"];
    let plain = HopArgs {
        geom: geom(),
        out: view(),
        inp: view(),
        gauge: view(),
        nrhs: 1,
        step_out: 1,
        step_in: 1,
        step_y: 1,
        ..HopArgs::default()
    };
    let with_y = HopArgs { y: view(), with_y: 1, ..plain };
    let clover = view();
    let mut list = vec![
        variant("plain", &plain),
        variant("several right-hand sides", &HopArgs { nrhs: 12, ..plain }),
        variant(
            "several, y, CLOVER",
            &HopArgs { nrhs: 12, clover, site_hop: SITE_CLOVER, ..with_y },
        ),
        variant("y, antiperiodic t", &HopArgs { phase_mask: 8, ..with_y }),
        variant("y, site_hop=CLOVER", &HopArgs { clover, site_hop: SITE_CLOVER, ..with_y }),
        variant("y, open in time", &HopArgs { bounds: bounds(BOUND_OPEN), ..with_y }),
        variant(
            "several, open in time",
            &HopArgs { nrhs: 12, bounds: bounds(BOUND_OPEN), ..plain },
        ),
    ];
    let split = HopArgs { geom: Geom { halos: 0b1101, ..geom() }, ..plain };
    list.push(variant("halos, all", &split));
    list.push(variant("halos, all, several", &HopArgs { nrhs: 12, ..split }));
    let several = HopArgs { nrhs: 12, clover, site_hop: SITE_CLOVER, ..with_y };
    let several = HopArgs { geom: split.geom, ..several };
    list.push(variant("halos, all, several, y, CLOVER", &several));
    for (name, region) in [("inner", REGION_INNER), ("outer", REGION_OUTER)] {
        list.push(variant(&format!("halos, {name}"), &HopArgs { region, ..split }));
        let several = HopArgs { region, nrhs: 12, ..split };
        list.push(variant(&format!("halos, {name}, several"), &several));
    }
    if params[1] == "R12" {
        // A step in the recurrence of the sign function's polynomial.
        let sum = HopArgs { z: view(), with_z: 1, with_own: 1, step_z: 2, phase_mask: 8, ..with_y };
        list.push(variant("y, z, own", &sum));
        list.push(variant("several, y, z, own", &HopArgs { nrhs: 12, ..sum }));
        let both = HopArgs { parity: PARITY_BOTH, ..sum };
        list.push(variant("both parities, y, z, own", &both));
        list.push(variant("both, several, y, z, own", &HopArgs { nrhs: 12, ..both }));
        let halos = HopArgs { geom: split.geom, nrhs: 12, ..sum };
        list.push(variant("halos, all, several, y, z, own", &halos));
        let both = HopArgs { geom: split.geom, ..both };
        list.push(variant("halos, both, y, z, own", &both));
        list.push(variant("halos, both, several, y, z, own", &HopArgs { nrhs: 12, ..both }));
        // The residual of a system with a Schur complement.
        let site = HopArgs { clover, site_hop: SITE_CLOVER, site_y: SITE_CLOVER, ..with_y };
        let sum = HopArgs { z: view(), with_z: 1, step_y: 2, step_z: 1, ..site };
        list.push(variant("y, CLOVER of the sum, z", &sum));
        list.push(variant("several, y, CLOVER of the sum, z", &HopArgs { nrhs: 3, ..sum }));
        let halos = HopArgs { geom: split.geom, nrhs: 3, ..sum };
        list.push(variant("halos, all, several, y, CLOVER of the sum, z", &halos));
    }
    if all {
        list.push(variant("dagger", &HopArgs { dagger: 1, ..plain }));
        let complex = HopArgs { phase_mask: 15, complex_phase: 15, ..plain };
        list.push(variant("complex phases", &complex));
        for (name, site) in [
            ("TWIST", SITE_TWIST),
            ("CLOVER", SITE_CLOVER),
            ("CLOVER_TWIST", SITE_CLOVER_TWIST),
            ("CLOVER_TWIST_INVERSE", SITE_CLOVER_TWIST_INVERSE),
        ] {
            let (what_y, what_hop) = (format!("y, site_y={name}"), format!("site_hop={name}"));
            if site != SITE_CLOVER_TWIST_INVERSE {
                list.push(variant(&what_y, &HopArgs { clover, site_y: site, ..with_y }));
            }
            list.push(variant(&what_hop, &HopArgs { clover, site_hop: site, ..plain }));
        }
    }
    list
}
