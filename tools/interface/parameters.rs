//! docs/parameters.md, from the tables of parameters.

use std::fmt::Write as _;

use plaq::capi::context::ContextParams;
use plaq::capi::layout::LayoutParams;
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
use plaq::ops::quenched::HeatBath;
use plaq::ops::smearing::QuarkSmearing;
use plaq::ops::source::{SequentialParams, SourceParams};
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
| `boundary` | phases of a quark in units of pi in x, y, z, t, or `periodic`, `antiperiodic` (`boundary_time` is kept for a property of links) | `--boundary` |
| `normalisation` | `mass`: the operator is D; `kappa`: 2 kappa D. Mass by default, whether a quark is given by mass or kappa | `--normalisation` |
| `solver` | what solves; in a chain's input also the key of its table `solver` | `--solver`, of which `multigrid` is one |
| `tol` | largest relative residual | `--tol`; also of `stop_theta` (gauge fixing) and `tolerance` (flow) |
| `columns` | right-hand sides at a time | `--columns` |
| `nkrylov` | directions that GCR keeps | `--nkrylov` |
| `sloppy_precision` | precision of the iteration | `--precision` |
| `block` | sites of an aggregate of multigrid | `--mg-blocks` |

An older name of an option (`--rhs`, `--krylov`, `--time-bc`, `--mg-aggregate`, `--stop-theta`), key (`phase`, `method`
of a solver) or keyword (`algorithm`) is refused with the name that it has now.
";

/// Tables and their titles.
fn tables() -> Vec<(&'static str, &'static [Row])> {
    vec![
        ("Quarks", QuarkParams::ROWS),
        ("Solvers", SolverSettings::ROWS),
        ("Sources", SourceParams::ROWS),
        ("Sequential sources", SequentialParams::ROWS),
        ("Multigrid", MultigridParams::ROWS),
        ("Eigenvectors", EigenSettings::ROWS),
        ("Gauge fixing", GaugeFixing::ROWS),
        ("Gradient flow", FlowParams::ROWS),
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
        ("Arrays of hosts", LayoutParams::ROWS),
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
