//! docs/quda-fields.md: what plaq makes of the members of QUDA's structs.

use std::fmt::Write as _;

use plaq::capi::quda::records::Role;
use plaq::capi::quda::setup::RECORDS;

const BEGIN: &str = "\
# Members of QUDA's structs

Generated from the tables in interface/src/capi/quda. *Used*: some function reads it. *Result*: functions write it. *Only*:
functions that take the struct refuse other values. *Ignored*: it has no effect, whatever the host sets; its default is
QUDA's, and where a user of QUDA would expect an effect there is a line that says why it has none. Every struct begins with `struct_size`, which is checked.
";

pub fn page() -> String {
    let mut s = String::from(BEGIN);
    for (name, roles) in RECORDS {
        let _ = writeln!(s, "\n## {name}\n");
        let named = |role: Role| {
            let names = roles.iter().filter(|row| row.1 == role);
            names
                .map(|row| format!("`{}`", row.0.trim_start_matches("r#")))
                .collect::<Vec<_>>()
                .join(", ")
        };
        for (title, role) in
            [("Used", Role::Used), ("Result", Role::Result), ("Ignored", Role::Ignored)]
        {
            if roles.iter().any(|row| row.1 == role) {
                let _ = writeln!(s, "- {title}: {}.", named(role));
            }
        }
        for (member, _, doc) in
            roles.iter().filter(|row| row.1 == Role::Ignored && !row.2.is_empty())
        {
            let text: Vec<&str> = doc.iter().map(|line| line.trim()).collect();
            let _ = writeln!(s, "  - `{member}`: {}", text.join(" "));
        }
        for (member, role, _) in *roles {
            if let Role::Only(values) = role {
                let _ = writeln!(s, "- Only {values}: `{member}`.");
            }
        }
    }
    s
}
