//! Files of quark loops: the sums so far, and a description of what was summed.

use std::path::Path;

use num_complex::Complex64;

use super::loop_sums::{LoopQuarks, LoopSums, Part, Term, Traces};
use crate::compose::DiracSolver;
use crate::error::{significant, Error, Result, Status};
use crate::fields::{blas, Noise, Precision};
use crate::io::Tables;
use crate::operators::{TermValue, Wilson};
use crate::ops::links_mark::links_mark;
use crate::params::Choice as _;
use crate::refuse;

/// The kind, as stored in a file, of loops.
const KIND: &str = "loops";

impl Term {
    fn name(self) -> String {
        match self {
            Term::Noise(level) => format!("noise {level}"),
            Term::Exact(level) => format!("exact {level}"),
            Term::Hopping => "hopping".into(),
        }
    }
    /// Whether a term may go on for another: they are equal, or the method is chosen automatically and both are the trace
    /// of level `last`, one by noise and the other exactly.
    fn goes_for(self, other: Term, last: usize, traces: Traces) -> bool {
        let level = |term| match term {
            Term::Noise(level) | Term::Exact(level) => Some(level),
            Term::Hopping => None,
        };
        let either = traces == Traces::Auto && last > 0 && level(self) == Some(last);
        self == other || either && level(self) == level(other)
    }
}

/// Named numbers that identify an operator with its links: its parameters, and <eta, M eta> / <eta, eta> for noise
/// eta, which depends on all of them.
fn marks_of(solver: &DiracSolver, whose: &str) -> Result<Vec<(String, f64)>> {
    let op = solver.op();
    let mut marks = vec![("mass", op.mass())];
    if let Some(wilson) = op.as_any().downcast_ref::<Wilson>() {
        marks.extend(wilson.params().terms().into_iter().filter_map(|(name, value)| match value {
            TermValue::Number(number) => Some((name, number)),
            _ => None,
        }));
    }
    let shape = op.shape();
    let (mut eta, mut image) = (shape.field(1)?, shape.field(1)?);
    eta.set_noise(Noise::Z4, 1, 0)?;
    op.apply(&mut image, &eta)?;
    let z = blas::dot(&eta, &image)?[0] / blas::norm2(&eta)?[0];
    marks.extend([("<eta, M eta>, real part", z.re), ("<eta, M eta>, imaginary part", z.im)]);
    Ok(marks.into_iter().map(|(name, value)| (format!("{name} of the {whose}"), value)).collect())
}

/// Identifies sums of loops, so that a file of other loops is recognised: named texts, and named numbers for
/// operators, links and spaces.
struct LoopsIdentity {
    texts: Vec<(String, String)>,
    marks: Vec<(String, f64)>,
}

/// The texts of the items, with commas between them.
fn joined<T: ToString>(all: impl IntoIterator<Item = T>) -> String {
    all.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(",")
}

impl LoopSums {
    fn about(&self, quarks: &LoopQuarks) -> Result<LoopsIdentity> {
        let of = &self.of;
        let geometry = quarks.links.geometry();
        // The marks identify links, masses and other coefficients.
        let described = |solver: Option<&DiracSolver>| match solver {
            Some(solver) => {
                let (precision, _) = solver.op().storage();
                format!("{precision}, normalisation {}", solver.params().normalisation.word())
            }
            None => "none".into(),
        };
        let spaces = match quarks.space {
            None => "none".into(),
            Some(space) => (1..=space.levels())
                .map(|l| format!("{} of {}", joined(space.extents(l)), space.unknowns(l)))
                .collect::<Vec<_>>()
                .join(", "),
        };
        let dilution = ["spin", "colour", "parity"].into_iter().zip(of.noise.dilute);
        let mut dilution: Vec<String> =
            dilution.filter(|(_, on)| *on).map(|(word, _)| word.to_string()).collect();
        if of.noise.time_parts > 1 {
            dilution.push(format!("time in {} parts", of.noise.time_parts));
        }
        let dilution = if dilution.is_empty() { "none".into() } else { joined(dilution) };
        let lines = of.lines.iter().map(|line| match line.is_empty() {
            true => "local".to_string(),
            false => joined(line),
        });
        let texts = vec![
            ("lattice", joined(geometry.global_extents())),
            ("operator", described(Some(quarks.solver))),
            ("other_operator", described(quarks.other)),
            ("contraction", of.how.word().to_string()),
            ("factor", format!("{} {}", of.factor.re, of.factor.im)),
            ("noise", of.noise.noise.word().to_string()),
            ("seed", of.noise.seed.to_string()),
            ("first_vector", of.noise.first.to_string()),
            ("dilution", dilution),
            ("probes", of.noise.probes.to_string()),
            ("lines", lines.collect::<Vec<_>>().join(":")),
            ("momenta", of.momenta.iter().map(|p| joined(*p)).collect::<Vec<_>>().join(":")),
            ("boundary", joined(of.boundary)),
            ("hopping", of.params.hopping.to_string()),
            ("spaces", spaces),
            ("tol", format!("{:e}", quarks.solver.params().solver.stop.residual)),
            ("space_tol", quarks.space.map_or("none".into(), |space| format!("{:e}", space.tol()))),
        ];
        let texts = texts.into_iter().map(|(name, text)| (name.to_string(), text)).collect();
        let numbers = links_mark(quarks.links)?.numbers;
        let names = ["plaquettes in space", "plaquettes with t", "link trace"];
        let mut marks: Vec<(String, f64)> =
            names.iter().map(|name| (*name).to_string()).zip(numbers).collect();
        marks.extend(marks_of(quarks.solver, "operator")?);
        if let Some(other) = quarks.other {
            marks.extend(marks_of(other, "other operator")?);
        }
        if let Some(space) = quarks.space {
            let mut eta = space.op().shape().field(1)?;
            eta.set_noise(Noise::Z4, 1, 0)?;
            let norm = blas::norm2(&eta)?[0];
            let of_level =
                |(l, n): (usize, f64)| (format!("|R eta|^2 of level {}", l + 1), n / norm);
            marks.extend(space.norms(&eta)?.into_iter().enumerate().map(of_level));
        }
        Ok(LoopsIdentity { texts, marks })
    }

    /// Writes the sums to a file, which appears complete or not at all; all ranks call it.
    ///
    /// # Errors
    /// `FileWrite`.
    pub fn write(&self, path: &Path, quarks: &LoopQuarks) -> Result<()> {
        let comm = quarks.links.geometry().comm();
        let LoopsIdentity { texts, marks } = self.about(quarks)?;
        let marks = marks.into_iter().map(|(_, value)| value).collect();
        let mut file = Tables { texts, tables: vec![("marks".into(), marks)] };
        let flat = |all: &[Complex64]| all.iter().flat_map(|z| [z.re, z.im]).collect::<Vec<_>>();
        for (k, part) in self.parts.iter().enumerate() {
            file.texts.push((format!("part{k}"), part.term.name()));
            let counts = [part.done, part.total, part.solves as usize, part.failed as usize];
            let mut counts: Vec<f64> = counts.iter().map(|n| *n as f64).collect();
            counts.push(part.seconds);
            file.tables.push((format!("counts{k}"), counts));
            file.tables.push((format!("sums{k}"), flat(&part.sum)));
            file.tables.push((format!("squares{k}"), flat(&part.squares)));
        }
        let root = comm.rank() == 0;
        comm.agree(if root { file.write(path, KIND) } else { Ok(()) })
    }

    /// Replaces the sums by those of a file.
    ///
    /// # Errors
    /// `FieldMismatch`: the file is of other loops, and the message names the first difference; errors of
    /// [`Tables::read`]. On an error nothing has changed.
    pub fn read(&mut self, path: &Path, quarks: &LoopQuarks) -> Result<()> {
        let comm = quarks.links.geometry().comm();
        let file = comm.agree(Tables::read(path, KIND))?;
        let LoopsIdentity { texts, marks } = self.about(quarks)?;
        for (name, expected) in &texts {
            let found = file.text(name).unwrap_or("nothing");
            if found != expected {
                let place = format!("{}: {name}", path.display());
                refuse!(FieldMismatch, place, expected("{expected}"), found("{found}"));
            }
        }
        let near = match quarks.solver.op().storage().0 {
            Precision::F64 => 1e-9,
            _ => 1e-5,
        };
        let found = file.table("marks").unwrap_or_default();
        if found.len() != marks.len() {
            refuse!(
                FileFormat,
                format!("{}: marks", path.display()),
                expected("{} numbers", marks.len()),
                found("{}", found.len())
            );
        }
        for ((name, expected), found) in marks.iter().zip(found) {
            let same = (expected - found).abs() <= near * expected.abs().max(1e-3);
            if same {
                continue;
            }
            let hint = match name.starts_with("|R eta|") {
                true => " (sums go on with the same space if they began with null vectors or eigenvectors that were read from files)",
                false => "",
            };
            let place = format!("{}: {name}", path.display());
            let digits = 10;
            refuse!(
                FieldMismatch,
                place,
                expected("{}{hint}", significant(*expected, digits)),
                found("{}", significant(*found, digits))
            );
        }
        self.parts = comm.agree(self.parts_of(&file, path, quarks))?;
        Ok(())
    }

    fn parts_of(&self, file: &Tables, path: &Path, quarks: &LoopQuarks) -> Result<Vec<Part>> {
        let (last, traces) =
            (quarks.space.map_or(0, |space| space.levels()), self.of.params.traces);
        let bad = |what: String| Error::new(Status::FileFormat, what).at(path.display());
        let mut parts = vec![];
        for (k, own) in self.parts.iter().enumerate() {
            let found = file.text(&format!("part{k}")).unwrap_or("nothing");
            let terms = [own.term, Term::Noise(last), Term::Exact(last)];
            let Some(term) =
                terms.into_iter().find(|t| t.goes_for(own.term, last, traces) && t.name() == found)
            else {
                refuse!(
                    FieldMismatch,
                    format!("{}: part {k}", path.display()),
                    expected("{}", own.term.name()),
                    found("{found}")
                );
            };
            let table = |name: &str, length: usize| match file.table(&format!("{name}{k}")) {
                Some(table) if table.len() == length => Ok(table),
                _ => Err(bad(format!("{name} of part {k}: expected {length} numbers"))),
            };
            let complex = |all: &[f64]| -> Vec<Complex64> {
                all.chunks_exact(2).map(|z| Complex64::new(z[0], z[1])).collect()
            };
            let numbers = own.sum.len();
            let counts = table("counts", 5)?;
            if counts.iter().any(|n| !(0.0..1e15).contains(n)) {
                return Err(bad(format!("counts of part {k}: found {counts:?}")));
            }
            let total = match term {
                Term::Noise(_) => 0,
                Term::Exact(level) => quarks.space.map_or(0, |space| space.unknowns(level)),
                Term::Hopping => own.total,
            };
            if counts[1] != total as f64 || (total > 0 && counts[0] > total as f64) {
                return Err(bad(format!(
                    "columns of part {k}: expected {total}, found {counts:?}"
                )));
            }
            parts.push(Part {
                term,
                done: counts[0] as usize,
                total,
                solves: counts[2] as u64,
                failed: counts[3] as u64,
                seconds: counts[4],
                sum: complex(table("sums", 2 * numbers)?),
                squares: complex(table("squares", 2 * numbers)?),
            });
        }
        Ok(parts)
    }
}
