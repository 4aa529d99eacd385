//! The module plaq.capi of the Python package, from the tables of interface/src/capi.

use std::fmt::Write as _;

use plaq::capi::table::{members, Argument, Factor, Field, Item, Pass, Type};
use plaq::capi::MODULES;
use plaq::error::Status;

use super::header::{length, member_lines, sentence, with_lengths};

const HEAD: &str = r#""""The C interface of plaq by ctypes: structs, enums, functions, and exceptions for statuses. Generated from
interface/src/capi; do not edit.

Functions have the names and the order of arguments of include/plaq.h, with these differences:
- A status other than 0 is an exception of its class, with plaq's message.
- Results that C writes to an address (`plaq_gauge *gauge`) are returned, several as a tuple.
- Parameters and reports are structs of this module or None; a struct that is made has its defaults and takes members
  by keyword: plaq_dirac_params(kappa=0.13). Enums are also taken by name: plaq_solver_params(solver="gcr").
- Arrays that go in are sequences or NumPy arrays, complex numbers for pairs (re, im); arrays that come out are NumPy
  arrays of the host's, C-contiguous and of the right type. Arrays of fields (`data`) are arrays or addresses.
- A name that Python keeps for itself has an underscore behind it: `from_`.
- Callbacks are Python functions without the argument `user`. What one raises ends the call and is raised again
  after it; without a callback Ctrl-C ends calls that take one.
Handles are structs with an `id`; the objects of the package plaq are taken in their place.
"""

from __future__ import annotations

import ctypes as _c
from typing import Any, Callable, Optional, Union

from . import _native as _n
from ._native import (
    ArgumentError, CommunicationError, DeviceError, Enum, Error, FieldError, FileError, Handle, PhysicsError, Struct)
"#;

/// Classes of exceptions, one for each range of a hundred statuses.
const LAYERS: [&str; 6] = [
    "ArgumentError",
    "DeviceError",
    "CommunicationError",
    "FieldError",
    "FileError",
    "PhysicsError",
];
const KEYWORDS: [&str; 8] = ["from", "in", "is", "lambda", "global", "class", "def", "with"];

pub fn module() -> String {
    let mut s = String::from(HEAD);
    for (status, _, help) in Status::TABLE {
        let number = *status as i32;
        if number == 0 {
            continue;
        }
        let layer = LAYERS[number.unsigned_abs() as usize / 100];
        let more = match status {
            Status::OutOfMemory => ", MemoryError",
            Status::Unsupported => ", NotImplementedError",
            _ => "",
        };
        let doc = sentence(help);
        let _ = write!(
            s,
            "\n\nclass {status:?}({layer}{more}):\n    \"\"\"{doc}\"\"\"\n    status = {number}\n"
        );
    }
    for module in MODULES {
        let _ = write!(s, "\n\n# ---- {} ----\n", module.title);
        module.items.iter().for_each(|i| item(&mut s, i));
    }
    s
}

const KEYWORDS_HEAD: &str = r#""""Keywords that functions of the package pass on to structs of parameters, for type checkers: what the members of
these take, but those that the functions name themselves. Generated from src/capi; do not edit.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence, TypedDict, Union

from . import capi
"#;

/// For structs of parameters, the members that functions of the package have as arguments of their own.
const NAMED: [(&str, &[&str]); 10] = [
    (
        "plaq_dirac_params",
        &["normalisation", "kappa", "mass", "csw", "mu", "hop", "boundary", "precision"],
    ),
    ("plaq_context_params", &["device", "threads"]),
    ("plaq_contract_params", &["projector"]),
    ("plaq_eigen_params", &["count"]),
    ("plaq_gaugefix_params", &["condition"]),
    ("plaq_overlap_params", &["boundary", "mass", "modes", "s"]),
    ("plaq_overlap_solve_params", &["multigrid"]),
    ("plaq_gauge_read_params", &["precision"]),
    ("plaq_source_params", &["kind", "dilute"]),
    ("plaq_gauge_write_params", &["format"]),
];

/// The text of _keywords.py: a class of keywords for every struct of parameters.
pub fn keywords() -> String {
    let mut s = String::from(KEYWORDS_HEAD);
    for item in MODULES.iter().flat_map(|module| module.items) {
        let Item::Struct { name, doc, fields, .. } = item else { continue };
        let Some(stem) = name.strip_suffix("_params").and_then(|n| n.strip_prefix("plaq_")) else {
            continue;
        };
        let class: String = stem
            .split('_')
            .flat_map(|part| {
                part[..1].to_uppercase().chars().chain(part[1..].chars()).collect::<Vec<_>>()
            })
            .collect();
        let _ = write!(s, "\n\nclass {class}(TypedDict, total=False):\n");
        docstring(&mut s, &doc[..1]);
        let named = NAMED.iter().find(|(of, _)| of == name).map_or(&[][..], |(_, names)| names);
        for field in *fields {
            if field.name == "struct_size" || named.contains(&field.name) {
                continue;
            }
            let _ = writeln!(s, "    {}: {}", word(field.name), keyword_type(&field.ty));
        }
    }
    s
}

/// The annotation of a keyword that sets a member of this type.
fn keyword_type(ty: &Type) -> String {
    match ty {
        Type::I32 | Type::I64 => "int".into(),
        Type::F64 => "float".into(),
        Type::Enum(of) => format!("Union[int, str, capi.{of}]"),
        Type::Text => "Union[str, bytes, None]".into(),
        Type::Array(of, _) if matches!(**of, Type::I32 | Type::I64) => "Sequence[int]".into(),
        Type::Array(of, _) if **of == Type::F64 => "Sequence[float]".into(),
        Type::Callback(_) => "Callable[..., Any]".into(),
        _ => "Any".into(),
    }
}

fn item(s: &mut String, item: &Item) {
    match item {
        Item::Handle { name, doc } => {
            let _ = write!(s, "\n\nclass {name}(Handle):\n");
            docstring(s, doc);
        }
        Item::Constants { name, doc, values } => {
            let _ = write!(s, "\n\nclass {name}(Enum):\n");
            docstring(s, doc);
            let members = members(values);
            for (member, value) in members.iter().zip(*values) {
                for line in value.doc {
                    let _ = writeln!(s, "    #: {}", line.trim());
                }
                let _ = writeln!(s, "    {member} = {}", value.number);
            }
            let spelt = |text: &str| text.to_uppercase().replace('-', "_");
            let others = members
                .iter()
                .zip(*values)
                .filter(|(member, value)| !value.word.is_empty() && spelt(value.word) != **member);
            let lines = others
                .map(|(member, value)| format!("\n_n.word({name}.{member}, \"{}\")", value.word));
            let lines: String = lines.collect();
            if !lines.is_empty() {
                let _ = writeln!(s, "\n{lines}");
            }
        }
        Item::Callback { name, doc, args, returns } => {
            s.push_str("\n\n");
            for line in *doc {
                let _ = writeln!(s, "#: {}", line.trim());
            }
            let names: Vec<&str> = args.iter().map(|a| a.name).filter(|a| *a != "user").collect();
            let types: Vec<String> = args.iter().map(|a| ctype(&a.ty)).collect();
            let returns = ctype(returns);
            let _ = writeln!(s, "#: Arguments: {}.", names.join(", "));
            let _ = writeln!(s, "{name} = _c.CFUNCTYPE({returns}, {})", types.join(", "));
        }
        Item::Struct { name, doc, fields, .. } => structure(s, name, doc, fields),
        Item::Function { name, doc, args, returns } => {
            function(s, name, &with_lengths(doc, args), args, returns)
        }
        // Items of QUDA's headers, which plaq.h does not have.
        Item::Enum { .. } | Item::Define { .. } => {}
    }
}

fn docstring<T: AsRef<str>>(s: &mut String, doc: &[T]) {
    let lines: Vec<String> = doc.iter().map(|l| l.as_ref().trim().replace('\\', "\\\\")).collect();
    if lines.is_empty() {
        s.push_str("    \"\"\"\"\"\"\n");
        return;
    }
    let end = if lines.len() > 1 { "\n    " } else { "" };
    let _ = writeln!(s, "    \"\"\"{}{end}\"\"\"", lines.join("\n    "));
}

fn structure(s: &mut String, name: &str, doc: &[&str], fields: &[Field]) {
    let _ = write!(s, "\n\nclass {name}(Struct):\n");
    let mut lines: Vec<String> = doc.iter().map(|l| l.trim().to_string()).collect();
    lines.push(String::new());
    lines.push("Members:".into());
    let grows = fields[0].name == "struct_size";
    for field in fields.iter().filter(|f| f.name != "struct_size") {
        let text = member_lines(field);
        let first = text.first().map_or("", String::as_str);
        lines.push(format!("  {}: {first}", word(field.name)).trim_end().to_string());
        lines.extend(text.iter().skip(1).map(|line| format!("    {line}")));
    }
    // Indents stay.
    let lines: Vec<String> = lines.iter().map(|l| l.replace('\\', "\\\\")).collect();
    let text = lines.iter().map(|l| format!("    {l}").trim_end().to_string()).collect::<Vec<_>>();
    let _ = writeln!(s, "    \"\"\"{}\n    \"\"\"", text.join("\n").trim_start());
    for field in fields {
        let _ = writeln!(s, "    {}: {}", word(field.name), member_type(&field.ty));
    }
    s.push_str("    _fields_ = [\n");
    for field in fields {
        let _ = writeln!(s, "        (\"{}\", {}),", word(field.name), ctype(&field.ty));
    }
    s.push_str("    ]\n");
    let enums: Vec<String> = fields
        .iter()
        .filter_map(|f| match f.ty {
            Type::Enum(of) => Some(format!("\"{}\": {of}", word(f.name))),
            _ => None,
        })
        .collect();
    if !enums.is_empty() {
        let _ = writeln!(s, "    _enums_ = {{{}}}", enums.join(", "));
    }
    let renamed = fields.iter().filter(|f| !f.old.is_empty());
    let old: Vec<String> =
        renamed.map(|f| format!("\"{}\": \"{}\"", f.old, word(f.name))).collect();
    if !old.is_empty() {
        let _ = writeln!(s, "    _old_ = {{{}}}", old.join(", "));
    }
    if grows {
        let _ = writeln!(s, "    _init_ = \"{name}_init\"");
        return;
    }
    let set =
        fields.iter().filter_map(|f| Some(format!("\"{}\": ({})", word(f.name), f.default?())));
    let set: Vec<String> = set.collect();
    if !set.is_empty() {
        let _ = writeln!(s, "    _defaults_ = {{{}}}", set.join(", "));
    }
}

/// A name as Python accepts it: an underscore follows words that Python reserves.
fn word(name: &str) -> String {
    let name = name.trim_start_matches("r#");
    if KEYWORDS.contains(&name) {
        format!("{name}_")
    } else {
        name.into()
    }
}

fn ctype(ty: &Type) -> String {
    match ty {
        Type::Void => "None".into(),
        Type::I32 | Type::Enum(_) => "_c.c_int32".into(),
        Type::I64 => "_c.c_int64".into(),
        Type::F64 => "_c.c_double".into(),
        Type::Address => "_c.c_void_p".into(),
        Type::Text => "_c.c_char_p".into(),
        Type::Numbers(of) => format!("_c.POINTER({})", ctype(of)),
        Type::Handle(name) | Type::Struct(name) | Type::Callback(name) => name.to_string(),
        Type::Array(of, n) => format!("{} * {n}", ctype(of)),
        other => panic!("no type of ctypes for {other:?}"),
    }
}

/// The annotation of a member.
fn member_type(ty: &Type) -> String {
    match ty {
        Type::I32 | Type::I64 => "int".into(),
        Type::F64 => "float".into(),
        Type::Handle(name) | Type::Struct(name) => name.to_string(),
        _ => "Any".into(),
    }
}

fn function(s: &mut String, name: &str, doc: &[String], args: &[Argument], returns: &Type) {
    let types: Vec<String> = args
        .iter()
        .map(|a| match a.pass {
            Pass::Value | Pass::Handle | Pass::Local | Pass::OptionalHandle | Pass::Destroyed => {
                ctype(&a.ty)
            }
            Pass::Text => "_c.c_char_p".into(),
            _ => "_c.c_void_p".into(),
        })
        .collect();
    let result = if *returns == Type::Text { "_c.c_char_p" } else { "_c.c_int32" };
    let _ = write!(s, "\n\n_{name} = _n.function(\"{name}\", {result}, [{}])\n", types.join(", "));

    // Arguments at the end that all have defaults may be left out.
    let given: Vec<&Argument> = args.iter().filter(|a| is_given(a)).collect();
    let needed = given.iter().rposition(|a| default(a, args).is_none()).map_or(0, |n| n + 1);
    let parameters: Vec<String> = given
        .iter()
        .enumerate()
        .map(|(i, a)| {
            let value = default(a, args).filter(|_| i >= needed);
            let value = value.map_or(String::new(), |value| format!(" = {value}"));
            format!("{}: {}{value}", word(a.name), annotation(a))
        })
        .collect();
    let outs: Vec<&Argument> = args.iter().filter(|a| matches!(a.pass, Pass::Out)).collect();
    let texts: Vec<&Argument> = args.iter().filter(|a| matches!(a.pass, Pass::TextOut)).collect();
    let mut returned: Vec<String> = texts.iter().map(|_| "str".to_string()).collect();
    returned.extend(outs.iter().map(|a| match a.ty {
        Type::I32 | Type::I64 => "int".to_string(),
        Type::F64 => "float".to_string(),
        Type::Enum(of) | Type::Handle(of) | Type::Struct(of) => of.to_string(),
        ty => panic!("no result of {ty:?}"),
    }));
    let annotation = match (returned.as_slice(), returns) {
        (_, Type::Text) => "str".to_string(),
        ([], _) => "None".to_string(),
        ([one], _) => one.clone(),
        (several, _) => format!("tuple[{}]", several.join(", ")),
    };
    let line = format!("def {name}({}) -> {annotation}:", parameters.join(", "));
    let separate =
        format!("def {name}(\n        {},\n) -> {annotation}:", parameters.join(",\n        "));
    let _ = writeln!(s, "\n\n{}", if line.len() > 120 { separate } else { line });
    docstring(s, doc);
    if *returns == Type::Text {
        let numbers: Vec<String> = args.iter().map(passed).collect();
        let _ = writeln!(s, "    return _n.text(_{name}({}))", numbers.join(", "));
        return;
    }
    for a in &outs {
        let _ = writeln!(s, "    {}_ = {}()", a.name, ctype(&a.ty));
    }
    for a in &texts {
        let _ = writeln!(s, "    {}_ = _c.create_string_buffer(capacity)", a.name);
    }
    let callback = args.iter().find(|a| matches!(a.ty, Type::Callback(_)));
    let passed: Vec<String> = args.iter().map(passed).collect();
    let mut call = vec![format!("_{name}")];
    let how = match callback {
        Some(a) => {
            let Type::Callback(ty) = a.ty else { unreachable!("found as one") };
            let _ = writeln!(s, "    callback_ = _n.callback({ty}, {})", a.name);
            call.push("callback_".into());
            let handles = outs.iter().filter(|a| matches!(a.ty, Type::Handle(_)));
            let made: Vec<String> = handles.map(|a| format!("{}_,", a.name)).collect();
            call.push(format!("({})", made.join(" ")));
            "watched"
        }
        None => "call",
    };
    call.extend(passed);
    let _ = writeln!(s, "    _n.{how}({})", call.join(", "));
    let mut results: Vec<String> =
        texts.iter().map(|a| format!("_n.text({}_.value)", a.name)).collect();
    results.extend(outs.iter().map(|a| match a.ty {
        Type::Handle(_) | Type::Struct(_) => format!("{}_", a.name),
        Type::Enum(of) => format!("{of}({}_.value)", a.name),
        _ => format!("{}_.value", a.name),
    }));
    if !results.is_empty() {
        let _ = writeln!(s, "    return {}", results.join(", "));
    }
}

/// Whether callers in Python pass this argument: it is neither a result nor the pointer for a callback.
fn is_given(a: &Argument) -> bool {
    !matches!(a.pass, Pass::Out | Pass::TextOut) && !is_user(a)
}

/// Whether this is the pointer that C passes on to a callback, which functions in Python do not need.
fn is_user(a: &Argument) -> bool {
    a.name == "user" && a.ty == Type::Address
}

/// The default of an argument that may be left out; None: it may not.
fn default(a: &Argument, args: &[Argument]) -> Option<&'static str> {
    let room = args.iter().zip(args.iter().skip(1));
    let of_text = room.into_iter().any(|(t, c)| t.pass == Pass::TextOut && c.name == a.name);
    match a.pass {
        Pass::OptionalHandle => Some("None"),
        _ if a.pass.is_optional() => Some("None"),
        _ if matches!(a.ty, Type::Callback(_)) => Some("None"),
        _ if of_text => Some("65536"),
        _ => None,
    }
}

fn annotation(a: &Argument) -> String {
    let of = |name: &str| format!("Optional[{name}]");
    match (a.pass, a.ty) {
        (Pass::Params | Pass::Report | Pass::MaybeOut, Type::Struct(name) | Type::Handle(name)) => {
            of(name)
        }
        (Pass::Init, Type::Struct(name)) => name.into(),
        (Pass::Text, _) => "Any".into(),
        (_, Type::Callback(_)) => "Optional[Callable[..., Any]]".into(),
        (Pass::Value, Type::I32 | Type::I64) => "int".into(),
        (Pass::Value, Type::F64) => "float".into(),
        (Pass::Value, Type::Enum(name)) => format!("Union[int, str, {name}]"),
        _ => "Any".into(),
    }
}

/// The expression that is passed to the C function for this argument.
fn passed(a: &Argument) -> String {
    let name = word(a.name);
    let said = format!("{name}, \"{name}\"");
    match a.pass {
        Pass::Out => format!("_c.byref({name}_)"),
        Pass::TextOut => format!("{name}_"),
        Pass::Value => match a.ty {
            Type::Callback(_) => "callback_.c".into(),
            _ if is_user(a) => "None".into(),
            Type::I32 => format!("_n.int32({said})"),
            Type::I64 => format!("_n.int64({said})"),
            Type::F64 => format!("_n.real({said})"),
            Type::Enum(of) => format!("_n.enum({of}, {said})"),
            _ => format!("_n.address({said})"),
        },
        Pass::Handle | Pass::Local | Pass::OptionalHandle | Pass::Destroyed => {
            format!("_n.handle({}, {said})", ctype(&a.ty))
        }
        Pass::Params | Pass::Report | Pass::Init | Pass::MaybeOut => {
            format!("_n.struct({}, {said})", ctype(&a.ty))
        }
        Pass::Array => format!("_n.array({}, {said}, {})", ctype(&a.ty), count(a)),
        Pass::OutArray | Pass::MaybeArray => {
            let none = if a.pass == Pass::MaybeArray { ", optional=True" } else { "" };
            format!("_n.room({}, {said}, {}{none})", ctype(&a.ty), count(a))
        }
        Pass::Data | Pass::DataOut => format!("_n.address({said})"),
        Pass::Text => format!("_n.encoded({said})"),
        Pass::InOut => unreachable!("of QUDA's interface"),
    }
}

/// The count of numbers that an array must have, as an expression of other arguments; `None` if it is not given by
/// these.
fn count(a: &Argument) -> String {
    match a.length {
        Some(factors) if !factors.iter().any(|f| matches!(f, Factor::Words(_))) => length(factors),
        _ => "None".into(),
    }
}
