//! Output files: whether they may be written is checked before the work, and they appear complete or not at all.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::{json, Map, Value};

use super::{Failure, Run};
use crate::error::Result;
use crate::io;
use crate::params::Report;
use crate::{bail, refused};

/// Refuses, before any work, a file that cannot be written, or that exists and must not be replaced; does nothing
/// without a name. `otherwise` says what can be done instead of replacing it.
pub fn check(name: Option<&str>, overwrite: bool, otherwise: &str) -> Run<()> {
    let Some(name) = name else { return Ok(()) };
    if !overwrite && Path::new(name).exists() {
        return Err(Failure::refused(format!(
            "{name}: exists; {otherwise}{} --overwrite yes",
            if otherwise.is_empty() { "replace it with" } else { "or replace it with" }
        )));
    }
    io::try_output(Path::new(name))?;
    if !overwrite {
        io::expect_new(Path::new(name));
    }
    Ok(())
}

/// The canonical path of a file that exists or will be made, the same for all spellings of its name. `None` for
/// anything that is not a regular file, such as /dev/null.
fn place(name: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    if let Ok(found) = path.canonicalize() {
        return found.is_file().then_some(found);
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
    Some(folder.join(path.file_name()?))
}

/// An option with its dashes, or the key of an input file.
fn named(option: &str) -> String {
    match option.contains('.') {
        true => option.to_string(),
        false => format!("--{option}"),
    }
}

/// Refuses outputs that are equal to an input or to each other; arguments are pairs of the option and the file.
pub fn distinct<'a>(
    inputs: impl IntoIterator<Item = (&'a str, &'a str)>,
    outputs: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Run<()> {
    let mut known: Vec<(&str, PathBuf)> =
        inputs.into_iter().filter_map(|(option, name)| Some((option, place(name)?))).collect();
    for (option, name) in outputs {
        let Some(here) = place(name) else { continue };
        if let Some((other, _)) = known.iter().find(|(_, path)| *path == here) {
            let (option, other) = (named(option), named(other));
            return Err(Failure::usage(format!("{option}: {name}; it is the file of {other}")));
        }
        known.push((option, here));
    }
    Ok(())
}

/// Refuses a run that would write PREFIX.00001 and so on, with these numbers, over a file that it reads or writes
/// otherwise.
pub fn apart_from_numbered<'a>(
    (option, prefix): (&str, &str),
    numbers: Range<u64>,
    others: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Run<()> {
    let Some(prefix) = place(prefix) else { return Ok(()) };
    for (other, name) in others {
        let path = place(name).filter(|path| path.parent() == prefix.parent());
        let begin = prefix.file_name().map(|name| format!("{}.", name.to_string_lossy()));
        let number = || {
            let name = path?.file_name()?.to_string_lossy().into_owned();
            let digits = name.strip_prefix(&begin?)?.to_string();
            let number: u64 = digits.parse().ok()?;
            Some(digits == format!("{number:05}") && numbers.contains(&number))
        };
        if number() == Some(true) {
            let (option, other) = (named(option), named(other));
            return Err(Failure::usage(format!(
                "{option}: configurations would be written to {name}, the file of {other}"
            )));
        }
    }
    Ok(())
}

/// Reads a file of text.
///
/// # Errors
/// `FileOpen`; `FileFormat`: bytes that are no UTF-8.
pub fn read_text(name: &str) -> Result<String> {
    let bytes = read_bytes(name)?;
    let read = std::str::from_utf8(&bytes);
    read.map(String::from).map_err(|e| {
        let at = e.valid_up_to();
        let (line, byte) = (1 + bytes[..at].iter().filter(|b| **b == b'\n').count(), bytes[at]);
        let place = format!("{name}: line {line}");
        refused!(FileFormat, place, expected("text in UTF-8"), found("the byte {byte:#x}"))
    })
}

/// Reads a file.
pub fn read_bytes(name: &str) -> Result<Vec<u8>> {
    match std::fs::read(name) {
        Ok(bytes) => Ok(bytes),
        Err(e) => {
            let text = e.to_string();
            bail!(FileOpen, "{name}: {}", text.split(" (os error").next().unwrap_or(&text))
        }
    }
}

fn is_flat(value: &Value) -> bool {
    match value {
        Value::Array(all) => all.iter().all(|v| !v.is_array() && !v.is_object()),
        Value::Object(all) => all.values().all(|v| !v.is_object() && is_flat(v)),
        _ => true,
    }
}

/// Writes JSON with each member on its own line; objects and lists without inner ones are written on one line.
fn layout(value: &Value, indent: usize, text: &mut String) {
    let begin = |text: &mut String, k: usize, indent: usize| {
        text.push_str(if k == 0 { "\n" } else { ",\n" });
        text.push_str(&" ".repeat(indent));
    };
    match value {
        Value::Array(all) if !is_flat(value) => {
            text.push('[');
            for (k, v) in all.iter().enumerate() {
                begin(text, k, indent + 2);
                layout(v, indent + 2, text);
            }
            text.push_str(&format!("\n{}]", " ".repeat(indent)));
        }
        Value::Object(all) if indent == 0 || !is_flat(value) => {
            text.push('{');
            for (k, (name, v)) in all.iter().enumerate() {
                begin(text, k, indent + 2);
                text.push_str(&format!("{}: ", Value::from(name.as_str())));
                layout(v, indent + 2, text);
            }
            text.push_str(&format!("\n{}}}", " ".repeat(indent)));
        }
        Value::Object(all) => {
            let members: Vec<String> = all
                .iter()
                .map(|(name, v)| {
                    let mut member = format!("{}: ", Value::from(name.as_str()));
                    layout(v, indent, &mut member);
                    member
                })
                .collect();
            text.push_str(&format!("{{{}}}", members.join(", ")));
        }
        Value::Array(all) => {
            let all: Vec<String> = all.iter().map(Value::to_string).collect();
            text.push_str(&format!("[{}]", all.join(", ")));
        }
        other => text.push_str(&other.to_string()),
    }
}

pub fn json_text(value: &Value) -> String {
    let mut text = String::new();
    layout(value, 0, &mut text);
    text + "\n"
}

/// Version of the program's JSON (docs/json.md). It is raised if the meaning of a key changes or a key is removed;
/// new keys may be added at any time.
pub const SCHEMA: u32 = 4;

/// Where the members of two objects differ, in words: `operator.kappa 0.12 there, 0.13 here`. Members that only one
/// of the two has count, too.
pub fn differences(there: &Map<String, Value>, here: &Map<String, Value>) -> Vec<String> {
    let keys = here.keys().chain(there.keys().filter(|key| !here.contains_key(*key)));
    let differ = keys.filter(|key| there.get(*key) != here.get(*key));
    let said = |key: &String| match (there.get(key), here.get(key)) {
        (Some(Value::Object(there)), Some(Value::Object(here))) => {
            let inner = differences(there, here);
            inner.into_iter().map(|text| format!("{key}.{text}")).collect()
        }
        both => {
            let [there, here] =
                [both.0, both.1].map(|v| v.map_or("nothing".into(), Value::to_string));
            vec![format!("{key} {there} there, {here} here")]
        }
    };
    differ.flat_map(said).collect()
}

/// A JSON object with the rows of a report: names as keys, and their values.
pub fn report_json(report: &impl Report) -> Value {
    let rows = report.values().into_iter().map(|(name, value)| (name.to_string(), json!(value)));
    Value::Object(rows.collect())
}

/// Adds the members of an object to another one.
pub fn extend(to: &mut Value, more: Value) {
    if let (Some(to), Value::Object(more)) = (to.as_object_mut(), more) {
        to.extend(more);
    }
}

/// Writes the JSON of a subcommand, with its name and the version of its keys before all others.
pub fn write_json(name: &str, subcommand: &str, value: &Value) -> Result<()> {
    let mut all = json!({ "subcommand": subcommand, "schema": SCHEMA });
    extend(&mut all, value.clone());
    io::write_file(Path::new(name), json_text(&all).as_bytes())
}

/// A number with an exponent of at least two digits, e.g. 1.5e-07.
pub fn exponent(x: f64, digits: usize) -> String {
    let text = format!("{x:.digits$e}");
    let Some((number, power)) = text.split_once('e') else { return text };
    let power: i32 = power.parse().unwrap_or(0);
    format!("{number}e{}{:02}", if power < 0 { '-' } else { '+' }, power.abs())
}
