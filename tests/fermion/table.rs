//! Tests of every monomial with every integrator: Delta H is small, trajectories are reversible, and a run resumed
//! from a checkpoint gives the same bits.

use plaq::fields::{GaugeField, Precision, Recon};
use plaq::ops::hmc::checkpoint::{load_checkpoint, save_checkpoint};
use plaq::ops::hmc::input::hmc_from_toml;
use plaq::ops::hmc::{Hmc, TrajectoryReport};
use plaq::ops::quenched::Quenched;

use super::common::{self, over_ranks, Folder, Lex};
use super::device;

/// Name, gauge action, and a fermion monomial in TOML.
const MONOMIALS: [(&str, &str, &str); 19] = [
    ("Wilson gauge", "wilson", ""),
    ("rectangles", "iwasaki", ""),
    ("anisotropic", "wilson", "type = \"gauge\"\naction = \"dbw2\"\nbeta = 0.1\nanisotropy = 2.0"),
    ("loops", "wilson", "type = \"loops\"\nloops = [{ path = \"x y z -x -y -z\", coefficient = 0.4 }, { path = \"t t x -t -t -x\", coefficient = -0.1 }]"),
    ("one loop", "wilson", "type = \"gauge\"\naction = \"one_loop_symanzik\"\nbeta = 1.0\nu0 = 0.87\nflavours = 2.0"),
    ("Wilson", "wilson", TWO),
    ("Wilson, asymmetric", "wilson", "type = \"two_flavours\"\noperator = { kappa = 0.1 }\nasymmetric = true\nparity = 1"),
    ("clover", "wilson", "type = \"two_flavours\"\noperator = { kappa = 0.1, csw = 1.1 }"),
    ("clover, asymmetric", "wilson", "type = \"two_flavours\"\noperator = { kappa = 0.1, csw = 1.1 }\nasymmetric = true"),
    ("twisted", "wilson", "type = \"two_flavours\"\noperator = { kappa = 0.1, mu = 0.2 }"),
    ("twisted, asymmetric", "wilson", "type = \"two_flavours\"\noperator = { kappa = 0.1, csw = 1.1, mu = 0.2 }\nasymmetric = true\nparity = 1"),
    ("ratio", "wilson", "type = \"two_flavours\"\noperator = { kappa = 0.1, csw = 1.1 }\npreconditioner = { kappa = 0.08, csw = 1.1 }"),
    ("ratio, asymmetric", "wilson", "type = \"two_flavours\"\noperator = { kappa = 0.1 }\npreconditioner = { kappa = 0.1, mu = 0.3 }\nasymmetric = true"),
    ("TM1_EO_SDET", "wilson", "type = \"two_flavours\"\noperator = { kappa = 0.1, csw = 1.1, mu_schur = 0.2 }\nasymmetric = true"),
    ("TM2_EO", "wilson", "type = \"two_flavours\"\noperator = { kappa = 0.1, csw = 1.1, mu_schur = 0.1 }\npreconditioner = { kappa = 0.1, csw = 1.1, mu_schur = 0.4 }\nasymmetric = true"),
    ("one flavour", "wilson", "type = \"one_flavour\"\noperator = { kappa = 0.1 }"),
    ("one flavour, asymmetric", "wilson", "type = \"one_flavour\"\noperator = { kappa = 0.1, csw = 1.1 }\nasymmetric = true\nfields = 2"),
    ("stout clover", "wilson", "type = \"two_flavours\"\noperator = { kappa = 0.1, csw = 1.1 }\nsmearing = { rho = 0.1, levels = 2 }"),
    ("stout, one flavour", "wilson", "type = \"one_flavour\"\noperator = { kappa = 0.1, csw = 1.1 }\nsmearing = { rho = 0.1, levels = 1 }"),
];
const TWO: &str = "type = \"two_flavours\"\noperator = { kappa = 0.1 }";

/// Schemes and numbers of steps of the levels, the outermost first.
const INTEGRATORS: [(&str, &[(&str, usize)]); 5] = [
    ("leapfrog", &[("leapfrog", 4)]),
    ("omelyan2", &[("omelyan2", 2)]),
    ("omelyan4", &[("omelyan4", 1)]),
    ("force_gradient", &[("force_gradient", 1)]),
    ("nested", &[("omelyan2", 1), ("force_gradient", 2)]),
];

fn input(action: &str, other: &str, levels: &[(&str, usize)]) -> String {
    let beta = if action == "wilson" { 5.0 } else { 2.0 };
    let mut text = format!(
        "length = 0.1\nseed = 7\naccept_until = 1\nreversibility_every = 2\n[[monomial]]\nname = \"gauge\"\n\
         type = \"gauge\"\nbeta = {beta}\naction = \"{action}\"\n"
    );
    let mut names = vec!["\"gauge\""];
    if !other.is_empty() {
        text += &format!("[[monomial]]\nname = \"other\"\n{other}\n");
        if other.contains("one_flavour") {
            text += "error_force = 1e-7\nerror_hamiltonian = 1e-9\ncheck_every = 0\n";
        }
        if other.contains("operator") {
            text += "solver = { tolerance_force = 1e-10, tolerance_hamiltonian = 1e-10, guesses = 2 }\n";
        }
        names.insert(0, "\"other\"");
    }
    for (k, (scheme, steps)) in levels.iter().enumerate() {
        // The last level gets the remaining monomials.
        let here =
            if k + 1 < levels.len() { names.drain(..names.len() / 2) } else { names.drain(..) };
        let here = here.collect::<Vec<_>>().join(", ");
        text += &format!(
            "[[level]]\nintegrator = \"{scheme}\"\nsteps = {steps}\nmonomials = [{here}]\n"
        );
    }
    text
}

fn bits(r: &TrajectoryReport, u: &GaugeField) -> (u64, u64, Vec<f64>) {
    (r.delta_h.to_bits(), r.plaquette.to_bits(), u.save_lex().unwrap())
}

fn row(
    (what, action, other): (&str, &str, &str),
    integrators: &[(&str, &[(&str, usize)])],
    folder: &str,
) {
    let device = device();
    let geometry = common::geometry(over_ranks([4, 2, 2, 4]), &device);
    let mut first = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
    first.set_near_unit(9, 0.5).unwrap();
    let folder = Folder::new(folder);
    let file = folder.0.join("chain.lime");
    for (integrator, levels) in integrators {
        let what = format!("{what}, {integrator}");
        let text = input(action, other, levels);
        let chain = || -> Hmc {
            let made = hmc_from_toml(&device, &geometry, Precision::F64, &text);
            made.unwrap_or_else(|e| panic!("{what}: {e}\n{text}"))
        };
        let mut u = first.to(Precision::F64, Recon::R18).unwrap();
        let mut hmc = chain();
        let report = hmc.run(&mut u).unwrap();
        let back = [report.reversibility_links, report.reversibility_hamiltonian];
        let [links, hamiltonian] = back.map(Option::unwrap);
        println!("{what}: dH {:.2e}, {back:?}", report.delta_h);
        let size = report.kinetic_start.abs();
        let (dh, volume) = (report.delta_h.abs(), geometry.global_volume() as f64);
        // Delta H is compared with the fluctuation of the kinetic term, some 16 per site; an exact 0 would mean that
        // nothing was integrated.
        assert!(dh < 1e-4 * size && dh > 1e-14 * size, "{what}: {report:?}");
        assert!(report.monomials.iter().all(|m| m.kicks > 0 && m.rms > 0.0), "{what}: {report:?}");
        assert!(
            (report.kinetic_end - report.kinetic_start).abs() > 1e-2 * volume,
            "{what}: {report:?}"
        );
        assert!(links < 1e-9 && hamiltonian < 1e-8 * size, "{what}: {back:?}");
        save_checkpoint(&file, &u, &hmc).unwrap();
        let next = hmc.run(&mut u).unwrap();
        let mut v = first.to(Precision::F64, Recon::R18).unwrap();
        let mut other = chain();
        load_checkpoint(&file, &mut v, &mut other).unwrap();
        let again = other.run(&mut v).unwrap();
        assert!(bits(&next, &u) == bits(&again, &v), "{what}: {next:?} {again:?}");
    }
}

#[test]
fn every_monomial_with_every_integrator() {
    for monomial in MONOMIALS {
        row(monomial, &INTEGRATORS, "hmc-table");
    }
}

/// Every monomial is tested with one integrator, and the ratio with all, to save time on many ranks.
#[test]
fn monomials_over_ranks_with_every_integrator() {
    for (k, monomial) in MONOMIALS.into_iter().enumerate() {
        let one = k % INTEGRATORS.len();
        let some = if monomial.0 == "ratio" { 0..INTEGRATORS.len() } else { one..one + 1 };
        row(monomial, &INTEGRATORS[some], "hmc-table-ranks");
    }
}

/// Trajectories of light quarks on rough links are reversible when only action, mass and integrator are given: forces
/// solved to a larger residual would differ on the reverse trajectory.
#[test]
fn trajectories_are_reversible_by_default() {
    let device = device();
    let geometry = common::geometry(over_ranks([4, 4, 4, 8]), &device);
    let mut u = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
    u.set_near_unit(9, 0.5).unwrap();
    Quenched::new(5.7, 5).unwrap().run(&mut u, 30).unwrap();
    let quarks = "type = \"two_flavours\"\noperator = { kappa = 0.158, csw = 1.0 }";
    let text = input("wilson", quarks, &[("omelyan2", 6)]);
    let text: String =
        text.lines().filter(|l| !l.starts_with("solver")).fold(String::new(), |all, l| {
            all + &l.replace("length = 0.1", "length = 1.0").replace("beta = 5", "beta = 5.7")
                + "\n"
        });
    let mut hmc = hmc_from_toml(&device, &geometry, Precision::F64, &text).unwrap();
    let links = hmc.run(&mut u).unwrap().reversibility_links.unwrap();
    println!("{links:e}");
    assert!(links < 3e-11, "{links:e}");
}
