//! docs/parameters.md, from the tables of parameters.

use std::fmt::Write as _;

use plaq::compose::multigrid::MultigridParams;
use plaq::compose::SolverSettings;
use plaq::ops::flow::FlowParams;
use plaq::ops::gaugefix::GaugeFixing;
use plaq::ops::hmc::quarks::{ChainSettings, Quarks};
use plaq::ops::link_smearing::LinkSmearing;
use plaq::ops::overlap_settings::{OverlapSettings, OverlapSolving};
use plaq::params::{Kind, Parameters, Row};
use plaq::solvers::EigenSettings;

const HEAD: &str = "\
# Parameters

Generated from the tables of parameters; do not edit. A parameter has one name everywhere: member of the struct in C,
Rust and Fortran, key of a table in TOML, and, with dashes for underscores, option of a program. Values are those of TOML
and options; in C the header names the constants.
";

/// Tables and their titles.
fn tables() -> Vec<(&'static str, &'static [Row])> {
    vec![
        ("Solvers", SolverSettings::ROWS),
        ("Multigrid", MultigridParams::ROWS),
        ("Eigenvectors", EigenSettings::ROWS),
        ("Gauge fixing", GaugeFixing::ROWS),
        ("Gradient flow", FlowParams::ROWS),
        ("Link smearing", LinkSmearing::ROWS),
        ("Overlap operator", OverlapSettings::ROWS),
        ("Solves with the overlap operator", OverlapSolving::ROWS),
        ("Chains of hybrid Monte Carlo", ChainSettings::ROWS),
        ("Quarks of a chain", Quarks::ROWS),
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
    for row in rows.iter().filter(|row| (row.inner)().is_none() && row.kind != Kind::Reserved) {
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
