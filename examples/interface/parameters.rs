//! docs/parameters.md, from the tables of parameters.

use std::fmt::Write as _;

use plaq::compose::multigrid::MultigridParams;
use plaq::params::{Parameters, Row};

const HEAD: &str = "\
# Parameters

Generated from the tables of parameters; do not edit. A parameter has one name everywhere: member of the struct in C,
Rust and Fortran, key of a table in TOML, and, with dashes for underscores, option of a program. Values are those of TOML
and options; in C the header names the constants.
";

/// Tables and their titles.
fn tables() -> Vec<(&'static str, &'static [Row])> {
    vec![("Multigrid", MultigridParams::ROWS)]
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
    for row in rows.iter().filter(|row| (row.inner)().is_none()) {
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
