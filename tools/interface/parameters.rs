//! docs/parameters.md, from the tables of parameters.

use std::fmt::Write as _;

use plaq::capi::clover::CloverParams;
use plaq::capi::context::ContextParams;
use plaq::capi::contract::ContractParams;
use plaq::capi::file::{GaugeReadParams, GaugeWriteParams};
use plaq::capi::gauge::GaugeParams;
use plaq::capi::laplace::LaplacianParams;
use plaq::capi::layout::LayoutParams;
use plaq::capi::origin::OriginParams;
use plaq::capi::propagator::{SpinorReadParams, SpinorWriteParams};
use plaq::capi::spinor::SpinorParams;
use plaq::compose::multigrid::MultigridParams;
use plaq::compose::SolverSettings;
use plaq::operators::QuarkParams;
use plaq::ops::distillation::modes::ModesSettings;
use plaq::ops::distillation::noise::NoiseInModes;
use plaq::ops::flow::FlowParams;
use plaq::ops::gaugefix::GaugeFixing;
use plaq::ops::hmc::gauge_params::GaugeActionParams;
use plaq::ops::hmc::quarks::{ChainSettings, Quarks};
use plaq::ops::link_smearing::LinkSmearing;
use plaq::ops::overlap_settings::{OverlapSettings, OverlapSolving};
use plaq::ops::quark_flow::QuarkFlowParams;
use plaq::ops::quenched::HeatBath;
use plaq::ops::reweighting::ReweightingParams;
use plaq::ops::smearing::QuarkSmearing;
use plaq::ops::source::{SequentialParams, SourceParams};
use plaq::ops::structure::loop_sums::{LoopGoals, LoopSumsParams};
use plaq::ops::structure::loops::LoopsParams;
use plaq::params::{Kind, Parameters, Row};
use plaq::solvers::EigenSettings;

const HEAD: &str = "\
# Parameters

Generated from the tables of parameters; do not edit. A parameter has one name: member of the struct in C, Rust and
Fortran, keyword in Python, key of a table in TOML, and, with dashes for underscores, option of a program. Values are
those of TOML, Python and options; in C the header names the constants.

Names that tables share, and options that are shorter:

| name | what | option |
|---|---|---|
| `boundary` | phases of a quark in units of pi in x, y, z, t, or `periodic`, `antiperiodic` (`boundary_time` is a property of links) | `--boundary` |
| `normalisation` | `mass`: the operator is D; `kappa`: 2 kappa D. Mass by default, whether a quark is given by mass or kappa | `--normalisation` |
| `solver` | what solves; in a chain's input also the key of its table `solver` | `--solver`, of which `multigrid` is one |
| `tol` | largest relative residual | `--tol`; also of `stop_theta` (gauge fixing) and `tolerance` (flow) |
| `columns` | right-hand sides at a time | `--columns` |
| `nkrylov` | directions that GCR keeps | `--nkrylov` |
| `sloppy_precision` | precision of the iteration | `--precision` |
| `block` | sites of an aggregate of multigrid | `--mg-blocks` |
| `csw`, `cf` | coefficients of a quark's clover term and of its boundary terms, also in Rust's `DiracParams` and in files; in planes with t and at the upper boundary `csw_t`, `cf_prime` | `--csw`, `--cf` |
| `method` | how eigenvectors, and modes of the overlap's kernel, are found; of gauge fixing: what raises the functional | `--method` (gauge fixing) |
| `momenta` | lists of three numbers n, p_i = 2 pi n_i / L_i, of sinks, operators and loops | `--momenta`, nx,ny,nz with colons between |
| `file` | name of a file, argument of every function of C, Fortran and Python that reads or writes one; a `path` is one of links, or of keys of an input | |

An older name of an option (`--rhs`, `--krylov`, `--time-bc`, `--mg-aggregate`, `--stop-theta`), key (`phase`, `method`
of a solver) or keyword (`algorithm` of a solver, `finder` of the overlap operator, `path` of a file) is refused with
the name that it has now. Members that only programs in C and Fortran set, handles, texts and addresses, are in the header alone.
";

/// Tables and their titles.
fn tables() -> Vec<(&'static str, &'static [Row])> {
    vec![
        ("Quarks", QuarkParams::ROWS),
        ("Laplacians", LaplacianParams::ROWS),
        ("Solvers", SolverSettings::ROWS),
        ("Sources", SourceParams::ROWS),
        ("Sequential sources", SequentialParams::ROWS),
        ("Contractions", ContractParams::ROWS),
        ("Quark loops", LoopsParams::ROWS),
        ("Sums of quark loops", LoopSumsParams::ROWS),
        ("Goals of quark loops", LoopGoals::ROWS),
        ("Reweighting", ReweightingParams::ROWS),
        ("Multigrid", MultigridParams::ROWS),
        ("Eigenvectors", EigenSettings::ROWS),
        ("Gauge fixing", GaugeFixing::ROWS),
        ("Gradient flow", FlowParams::ROWS),
        ("Gradient flow of quark fields", QuarkFlowParams::ROWS),
        ("Link smearing", LinkSmearing::ROWS),
        ("Smearing of quark fields", QuarkSmearing::ROWS),
        ("Heat bath", HeatBath::ROWS),
        ("Gauge actions", GaugeActionParams::ROWS),
        ("Modes of distillation", ModesSettings::ROWS),
        ("Noise in modes", NoiseInModes::ROWS),
        ("Overlap operator", OverlapSettings::ROWS),
        ("Solves with the overlap operator", OverlapSolving::ROWS),
        ("Chains of hybrid Monte Carlo", ChainSettings::ROWS),
        ("Quarks of a chain", Quarks::ROWS),
        ("Contexts", ContextParams::ROWS),
        ("Gauge fields", GaugeParams::ROWS),
        ("Spinor fields", SpinorParams::ROWS),
        ("Clover terms", CloverParams::ROWS),
        ("Sources of fields", OriginParams::ROWS),
        ("Arrays of hosts", LayoutParams::ROWS),
        ("Reading configurations", GaugeReadParams::ROWS),
        ("Writing configurations", GaugeWriteParams::ROWS),
        ("Reading propagators", SpinorReadParams::ROWS),
        ("Writing propagators", SpinorWriteParams::ROWS),
    ]
}

pub fn page() -> String {
    let mut s = String::from(HEAD);
    for (title, rows) in tables() {
        let _ = write!(s, "\n## {title}\n");
        table(&mut s, rows);
    }
    s
}

fn table(s: &mut String, rows: &[Row]) {
    s.push_str("\n| parameter | default | values | what it is |\n|---|---|---|---|\n");
    for row in rows.iter().filter(|row| (row.inner)().is_none() && row.kind != Kind::Host) {
        let default = (row.default)();
        let _ = writeln!(s, "| `{}` | {default} | {} | {} |", row.name, row.values(), row.help());
    }
    for row in rows {
        let Some((inner, several)) = (row.inner)() else { continue };
        let _ = write!(s, "\n`{}`: {}", row.name, row.help());
        if several {
            let _ = write!(
                s,
                " A list has a value for each, from the first on (in options with commas between, or colons where a \
                 value has commas); one value is that of all, or of the first where it says so."
            );
        }
        s.push('\n');
        table(s, inner);
    }
}
