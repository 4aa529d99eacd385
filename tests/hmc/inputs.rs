//! Tests of actions, integrators and runs that are given as text.

use plaq::error::Status;
use plaq::fields::{BoundaryTime, GaugeField, Precision, Recon};
use plaq::ops::hmc::input::{check_keys, hmc_from_toml, value_of};
use plaq::ops::hmc::integrator::Scheme;

use super::common::{self, devices, over_ranks};

const TEXT: &str = r#"
length = 0.5
seed = 7
accept_until = 1

[run]
lattice = [4, 4, 4, 4]
start = "hot"
anything = { else = 2.5 }

[[monomial]]
name = "gauge"
type = "gauge"
action = "iwasaki"
beta = 2.6

[[monomial]]
name = "heavy"
type = "two_flavours"
operator = { kappa = 0.12, csw = 1.0 }
solver = { tolerance_force = 1e-7 }

[[monomial]]
name = "light"
type = "two_flavours"
operator = { kappa = 0.13, csw = 1.0 }
preconditioner = { kappa = 0.12, csw = 1.0 }

[[level]]
integrator = "omelyan2"
steps = 2
monomials = ["light"]

[[level]]
integrator = "omelyan4"
steps = 1
monomials = ["gauge", "heavy"]
"#;

#[test]
fn a_text_makes_a_chain() {
    let device = &devices()[0];
    let geometry = common::geometry(over_ranks([4, 4, 4, 4]), device);
    let mut hmc = hmc_from_toml(device, &geometry, Precision::F64, TEXT).unwrap();
    let names: Vec<&str> = hmc.names().collect();
    assert_eq!(names, ["gauge", "heavy", "light"]);
    let p = hmc.params();
    assert_eq!((p.length, p.seed, p.trajectory, p.accept_until), (0.5, 7, 0, 1));
    assert_eq!(p.levels[0].scheme, Scheme::Omelyan2);
    assert_eq!(p.levels[1].scheme, Scheme::Omelyan4);
    let mut u = GaugeField::new(device, &geometry, Precision::F64, Recon::R18).unwrap();
    u.set_near_unit(3, 0.3).unwrap();
    let report = hmc.run(&mut u).unwrap();
    assert!(report.delta_h.abs() < 1.0 && report.accepted, "{report:?}");
    assert!(report.monomials[2].force_iterations > 0, "{report:?}");
}

/// With fused sums solves of forces wait fewer times for other ranks, and give the same forces.
#[test]
fn solvers_of_a_text_take_fused_sums() {
    let device = &devices()[0];
    let geometry = common::geometry(over_ranks([4, 4, 4, 4]), device);
    let runs = ["separate", "fused"].map(|sums| {
        let solver = format!("{{ sums_force = \"{sums}\", sloppy_precision = \"double\" }}");
        let text =
            TEXT.replace("\npreconditioner", &format!("\nsolver = {solver}\npreconditioner"));
        let mut hmc = hmc_from_toml(device, &geometry, Precision::F64, &text).unwrap();
        let mut u = GaugeField::new(device, &geometry, Precision::F64, Recon::R18).unwrap();
        u.set_near_unit(3, 0.3).unwrap();
        let before = geometry.comm().counts().sums;
        let report = hmc.run(&mut u).unwrap();
        (report, geometry.comm().counts().sums - before)
    });
    let [(separate, many), (fused, few)] = runs;
    assert!((separate.delta_h - fused.delta_h).abs() < 1e-6, "{separate:?} {fused:?}");
    if geometry.comm().size() > 1 {
        assert!(few < many, "{few} and {many} sums");
    }
}

/// Example inputs of the program give chains.
#[test]
fn inputs_of_the_examples_make_chains() {
    let Ok(folder) = std::fs::read_dir("examples-c/hmc") else {
        println!("examples-c/hmc is not here: its inputs are left out");
        return;
    };
    let device = &devices()[0];
    let periodic = common::geometry(over_ranks([8, 8, 8, 8]), device);
    let open = periodic.bounded(BoundaryTime::Open).unwrap();
    let mut found = 0;
    for path in folder.map(|entry| entry.unwrap().path()) {
        let text = std::fs::read_to_string(&path).unwrap();
        let geometry = match value_of(&text, "run.boundary_time").unwrap() {
            Some(kind) if kind.as_str() == Some("open") => &open,
            _ => &periodic,
        };
        let hmc = hmc_from_toml(device, geometry, Precision::F64, &text)
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let entries = |key| match value_of(&text, key).unwrap() {
            Some(toml::Value::Array(list)) => list,
            other => panic!("{}: {key} is {other:?}", path.display()),
        };
        assert_eq!(hmc.names().count(), entries("monomial").len(), "{}", path.display());
        let extents = entries("run.lattice");
        assert_eq!(extents.len(), 4, "{}", path.display());
        assert!(extents.iter().all(|n| n.as_integer() >= Some(2)), "{}", path.display());
        found += 1;
    }
    assert!(found >= 7, "{found} inputs");
}

#[test]
fn wrong_texts_are_refused() {
    let device = &devices()[0];
    let geometry = common::geometry(over_ranks([4, 4, 4, 4]), device);
    let with = |from: &str, to: &str| {
        assert!(TEXT.contains(from));
        let text = TEXT.replacen(from, to, 1);
        hmc_from_toml(device, &geometry, Precision::F64, &text).map(|_| ()).unwrap_err()
    };
    // Nesting so deep that a recursive parser would exhaust the stack.
    let deep = format!("steps = {}", "[".repeat(100_000));
    for (from, to, status) in [
        ("steps = 2", deep.as_str(), Status::InvalidArgument),
        ("steps = 2", "", Status::InvalidArgument),
        ("length = 0.5", "length = 0.5\nlenght = 1", Status::InvalidArgument),
        ("length = 0.5", "length = -0.5", Status::BadParameter),
        ("\"iwasaki\"", "\"iwasiki\"", Status::InvalidArgument),
        ("\"iwasaki\"", "\"rectangle\"", Status::InvalidArgument),
        ("beta = 2.6", "beta = -2.6", Status::BadParameter),
        ("beta = 2.6", "beta = 2.6\nkappa = 1", Status::InvalidArgument),
        ("type = \"gauge\"", "type = \"gage\"", Status::InvalidArgument),
        ("{ kappa = 0.12, csw = 1.0 }", "{ csw = 1.0 }", Status::InvalidArgument),
        ("{ kappa = 0.12, csw = 1.0 }", "{ kappa = -0.12 }", Status::BadParameter),
        ("{ kappa = 0.12, csw = 1.0 }", "{ kappa = 0.0 }", Status::BadParameter),
        ("{ kappa = 0.12, csw = 1.0 }", "{ kappa = 2.5 }", Status::BadParameter),
        ("{ kappa = 0.12, csw = 1.0 }", "{ kappa = nan }", Status::BadParameter),
        ("preconditioner = { kappa = 0.12", "preconditioner = { kappa = 2.1", Status::BadParameter),
        ("tolerance_force = 1e-7", "tolerance_force = 2", Status::BadParameter),
        ("\"omelyan2\"", "\"euler\"", Status::InvalidArgument),
        ("csw = 1.0 }", "csw = 1.0, phase = [0, 0, 0, 1] }", Status::InvalidArgument),
        ("csw = 1.0 }", "csw = 1.0, boundary = \"open\" }", Status::InvalidArgument),
        ("steps = 2", "steps = 0", Status::BadParameter),
        ("steps = 2", "steps = -2", Status::InvalidArgument),
        ("steps = 2", "steps = 2.5", Status::InvalidArgument),
        ("[\"light\"]", "[]", Status::BadParameter),
        ("[[level]]", "[[level", Status::InvalidArgument),
    ] {
        let e = with(from, to);
        assert_eq!(e.status, status, "{to:.40}: {e}");
    }
    // Messages do not contain names of Rust's types, and name the line of the key.
    for (from, to, says) in [
        ("steps = 2", "", "missing key `steps`"),
        ("length = 0.5", "length = 0.5\nlenght = 1", "unknown key `lenght`, expected one of"),
        ("length = 0.5", "length = 0.5\nlenght = 1", "did you mean length?"),
        ("length = 0.5", "length = 0.5\nlenght = 1", "input: line 3: unknown key `lenght`"),
        ("beta = 2.6", "beta = \"six\"", "beta: expected 0 to 1000000, found \"six\""),
        ("steps = 2", "steps = -2", "expected a whole number, not negative"),
        ("type = \"gauge\"", "type = \"gage\"", "unknown value `gage`, expected one of"),
        ("type = \"gauge\"", "type = \"gage\"", "did you mean gauge?"),
        ("beta = 2.6", "betta = 2.6", "did you mean beta?"),
        ("monomials = [\"light\"]", "monomials = 1", "expected an array"),
        ("monomials = [\"light\"]", "monomials = [\"lihgt\"]", "did you mean light?"),
        ("\"omelyan2\"", "\"omelyan3\"", "did you mean omelyan2?"),
        ("operator = { kappa = 0.12, csw = 1.0 }", "operator = 1", "expected a table"),
    ] {
        let e = with(from, to);
        assert!(e.message().contains(says), "{to}: {e}");
        if !from.starts_with("length") {
            // For a value of the wrong type, the line where its table begins is named.
            let at = TEXT.find(from).unwrap();
            let table = TEXT[..at].rfind("[[").unwrap();
            let place =
                |at: usize| format!("input: line {}: ", 1 + TEXT[..at].matches('\n').count());
            let known = [place(at), place(table)];
            assert!(known.iter().any(|place| e.message().starts_with(place)), "{to}: {e}");
        }
    }
    let e = with("monomials = [\"light\"]", "monomials = [\"gauge\"]");
    assert!(
        e.message().contains("light stands at no level") || e.message().contains("at one level"),
        "{e}"
    );
    assert!(check_keys(TEXT, "run", &["anything", "latice", "start"])
        .unwrap_err()
        .message()
        .contains("did you mean latice?"));
}

/// Twisted masses on the sites of the Schur complement alone are refused, with what was expected and found, where there
/// are none.
#[test]
fn mu_schur_is_refused_where_there_is_none() {
    let device = &devices()[0];
    let geometry = common::geometry(over_ranks([4, 4, 4, 4]), device);
    let made = |kind: &str, operator: &str, more: &str| {
        let monomial =
            format!("type = \"{kind}\"\noperator = {{ kappa = 0.12, {operator} }}\n{more}");
        let from = "type = \"two_flavours\"\noperator = { kappa = 0.12, csw = 1.0 }\nsolver = { tolerance_force = 1e-7 }";
        assert!(TEXT.contains(from));
        hmc_from_toml(device, &geometry, Precision::F64, &TEXT.replace(from, &monomial)).map(|_| ())
    };
    let asymmetric = "asymmetric = true";
    let ratio = "asymmetric = true\npreconditioner = { kappa = 0.11, mu_schur = 0.3 }";
    let (two, one) = ("two_flavours", "one_flavour");
    made(two, "mu_schur = 0.2", asymmetric).unwrap();
    made(two, "mu_schur = -0.2, mu = 0.1", asymmetric).unwrap();
    made(two, "csw = 1.0", ratio).unwrap();
    made(two, "mu_schur = 0", "").unwrap();
    for (kind, operator, more, says) in [
        (two, "mu_schur = 0.2", "", "mu_schur: expected 0, or an asymmetric Schur complement, found 0.2 and 0 with PLAQ_SYSTEM_EVEN_SYMMETRIC"),
        (two, "csw = 1.0", "preconditioner = { kappa = 0.11, mu_schur = 0.3 }", "mu_schur: expected 0, or an asymmetric Schur complement, found 0 and 0.3 with PLAQ_SYSTEM_EVEN_SYMMETRIC"),
        (two, "mu_schur = 0.2", "asymmetric = true\nsolver = \"multigrid\"", "mu_schur: expected 0, or CG and an asymmetric Schur complement, found 0.2 and 0 with multigrid"),
        (two, "mu_schur = 0.2", "solver = \"multigrid\"", "mu_schur: expected 0, or CG and an asymmetric Schur complement, found 0.2 and 0 with multigrid"),
        (two, "mu_schur = nan", asymmetric, "operator.mu_schur: expected a finite number, found NaN"),
        (two, "csw = 1.0", "asymmetric = true\npreconditioner = { kappa = 0.11, mu_schur = -inf }", "preconditioner.mu_schur: expected a finite number, found -inf"),
        (two, "mu_schur = \"large\"", asymmetric, "operator.mu_schur: expected a number, found a value of type string"),
        (one, "mu_schur = 0.2", asymmetric, "operator.mu_schur: expected a monomial of type two_flavours, found one_flavour"),
        ("doublet", "mu = 0.1, epsilon = 0.1, mu_schur = 0.2", asymmetric, "operator.mu_schur: expected a monomial of type two_flavours, found doublet"),
        (two, "epsilon = 0.1", asymmetric, "operator.epsilon: expected a monomial of type doublet, found two_flavours"),
        (two, "mu_schurr = 0.1", asymmetric, "operator: unknown key `mu_schurr`: expected one of kappa, "),
        (two, "csw = 1.0", "preconditioner = { kappa = 0.11, mu_shur = 0.1 }", "preconditioner: unknown key `mu_shur`: expected one of kappa, "),
        (two, "csw = 1.0", "preconditioner = { kappa = 2.1 }", "preconditioner.kappa: expected "),
    ] {
        let e = made(kind, operator, more).unwrap_err();
        assert!(e.message().contains(&format!(": monomial heavy: {says}")), "{more}: {e}");
    }
    let e = made(two, "mu_schurr = 0.1", asymmetric).unwrap_err();
    assert!(e.message().contains("did you mean mu_schur?"), "{e}");
}

/// Messages about errors in a monomial name the line of the key and the monomial.
#[test]
fn errors_of_monomials_name_line_and_monomial() {
    let device = &devices()[0];
    let geometry = common::geometry(over_ranks([4, 4, 4, 4]), device);
    for (from, to, says) in [
        ("beta = 2.6", "beta = 2.6\nc1 = 1.0", "gauge action: c1 belongs to action rectangle"),
        (
            "tolerance_force = 1e-7",
            "tolerance_force = 2",
            "solver.tolerance_force: expected a number between 0 and 1, found 2",
        ),
        (
            "tolerance_force = 1e-7",
            "tolerance = 2",
            "solver: unknown key `tolerance`, expected one of solver, ",
        ),
        // Inner tables with lines of their own, behind a key of the same name in another one.
        (
            "preconditioner = { kappa = 0.12, csw = 1.0 }",
            "[monomial.preconditioner]  # [of the operator]\nkappa = 0.12\ncsww = 1.0",
            "preconditioner: unknown key `csww`: expected one of kappa, ",
        ),
        (
            "preconditioner = { kappa = 0.12, csw = 1.0 }",
            "preconditioner.csw = 1.0\npreconditioner.kappa = 3.0",
            "preconditioner.kappa: expected a number",
        ),
        (
            "solver = { tolerance_force = 1e-7 }",
            "[monomial.solver.multigrid]\n# not setup_colums\nsetup_colums = 3",
            "solver.multigrid: unknown key `setup_colums`, expected one of ",
        ),
        (
            "tolerance_force = 1e-7",
            "sloppy = \"single\"",
            "solver: key `sloppy`: its name is sloppy_precision now",
        ),
        (
            "tolerance_force = 1e-7",
            "method = \"multigrid\"",
            "solver: key `method`: its name is solver now",
        ),
        (
            "tolerance_force = 1e-7",
            "guesses = \"many\"",
            "solver.guesses: expected 0 or more, found \"many\"",
        ),
        (
            "tolerance_force = 1e-7",
            "sums_force = \"one\"",
            "solver.sums_force: expected one of separate, fused, or auto, found one",
        ),
        (
            "tolerance_force = 1e-7",
            "solver = \"multigrid\", sums_hamiltonian = \"fused\"",
            "sums_hamiltonian: expected 0 (automatic) with multigrid, found PLAQ_SUMS_FUSED",
        ),
        (
            "tolerance_force = 1e-7",
            "multigrid = { tol = 2 }",
            "solver.multigrid: tol: expected a number between 0 and 1, found 2",
        ),
    ] {
        assert!(TEXT.contains(from));
        let text = TEXT.replacen(from, to, 1);
        let e = hmc_from_toml(device, &geometry, Precision::F64, &text).map(|_| ()).unwrap_err();
        let name = text[..text.find(to).unwrap()].rsplit("name = \"").next().unwrap();
        let name = name.split('"').next().unwrap();
        // The key that is wrong is in the last line of what was put in.
        let end = text.find(to).unwrap() + to.len();
        let line = 1 + text[..end].matches('\n').count();
        let place = format!("input: line {line}: monomial {name}: {says}");
        assert!(e.message().starts_with(&place), "{to}: {e}; expected {place}");
    }
}

#[test]
fn hosts_read_their_own_keys() {
    let number = |path| value_of(TEXT, path).unwrap();
    assert_eq!(number("run.lattice.2").unwrap().as_integer(), Some(4));
    assert_eq!(number("run.anything.else").unwrap().as_float(), Some(2.5));
    assert_eq!(number("run.start").unwrap().as_str(), Some("hot"));
    assert!(number("run.lattice.4").is_none());
    assert!(number("nothing").is_none());
    assert!(value_of("[", "x").is_err());
}
