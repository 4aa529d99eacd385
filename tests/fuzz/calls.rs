//! The generated part: a C function for every function of the interface's tables, which draws its
//! arguments, calls it and says what came of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use plaq::capi::table::{Field, Item, Pair};
use plaq::capi::MODULES;

struct Tables {
    handles: Vec<&'static str>,
    constants: BTreeMap<&'static str, Vec<i32>>,
    callbacks: BTreeMap<&'static str, (&'static [Pair], &'static str)>,
    structs: BTreeMap<&'static str, &'static [Field]>,
}

/// A type of the tables in C.
fn c_type(ty: &str) -> String {
    match ty {
        "i32" => "int32_t".into(),
        "u32" => "uint32_t".into(),
        "i64" => "int64_t".into(),
        "usize" => "size_t".into(),
        "f64" => "double".into(),
        "()" => "void".into(),
        other => match (other.strip_prefix("*const "), other.strip_prefix("*mut ")) {
            (Some(to), _) => format!("const {} *", c_type(to)),
            (_, Some(to)) => format!("{} *", c_type(to)),
            _ => match other {
                "c_void" => "void".into(),
                "c_char" => "char".into(),
                name => name.into(),
            },
        },
    }
}

/// `Handle<plaq_gauge>` as its two parts.
fn parts(ty: &'static str) -> (&'static str, &'static str) {
    match ty.split_once('<') {
        Some((outer, inner)) => (outer, inner.trim_end_matches('>')),
        None => (ty, ""),
    }
}

impl Tables {
    fn new() -> Self {
        let mut t = Tables {
            handles: Vec::new(),
            constants: BTreeMap::new(),
            callbacks: BTreeMap::new(),
            structs: BTreeMap::new(),
        };
        for item in MODULES.iter().flat_map(|m| m.items) {
            match item {
                Item::Handle { name, .. } => t.handles.push(name),
                Item::Constants { name, values, .. } => {
                    t.constants.insert(name, values.iter().map(|v| v.1).collect());
                }
                Item::Callback { name, args, returns, .. } => {
                    t.callbacks.insert(name, (args, returns));
                }
                Item::Struct { name, fields, .. } => {
                    t.structs.insert(name, fields);
                }
                _ => {}
            }
        }
        t
    }

    fn kind(&self, handle: &str) -> Option<usize> {
        self.handles.iter().position(|name| *name == handle)
    }

    /// A statement that changes a member of a parameter struct.
    fn member(&self, field: &Field) -> Option<String> {
        let (name, ty) = (field.name, field.ty);
        let to = format!("p->{name}");
        if let Some(values) = self.constants.get(ty) {
            return Some(format!("{to} = choice(values_{ty}, {});", values.len()));
        }
        if self.callbacks.contains_key(ty) {
            return Some(format!("{to} = on_{ty};"));
        }
        let array = ty.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
        if let Some((inner, count)) = array.and_then(|a| a.split_once("; ")) {
            return match (inner, count) {
                ("i32", "4") => Some(format!("four_integers(\"{name}\", {to});")),
                ("f64", n) => {
                    Some(format!("for (i = 0; i < {n}; i++) {to}[i] = real(\"{name}\");"))
                }
                ("i32", n) => {
                    let draw = format!("(int32_t)integer(\"{name}\")");
                    Some(format!("for (i = 0; i < {n}; i++) {to}[i] = {draw};"))
                }
                _ => None,
            };
        }
        match ty {
            "i32" => Some(format!("{to} = (int32_t)integer(\"{name}\");")),
            "i64" if name != "struct_size" => Some(format!("{to} = integer(\"{name}\");")),
            "f64" => Some(format!("{to} = real(\"{name}\");")),
            "*const c_char" => Some(format!("{to} = percent(50) ? \"a text\" : \"<\\\"&\\n\";")),
            // Other addresses stay NULL: those of streams and communicators cannot be checked.
            _ => None,
        }
    }

    /// Those that make a call cheap and possible are always drawn.
    fn always(name: &str) -> bool {
        ["extents", "iterations", "threads", "kappa", "sweeps", "copies"]
            .iter()
            .any(|word| name.contains(word))
    }

    fn fill(&self, s: &mut String, name: &str) {
        let _ = writeln!(s, "static {name} *fill_{name}({name} *p) {{\n  int i = 0;\n  (void)i;");
        let _ = writeln!(
            s,
            "  if (percent(4)) return NULL;\n  if ({name}_init(p, sizeof *p)) return NULL;"
        );
        for field in self.structs[name] {
            let Some(change) = self.member(field) else { continue };
            let often = if Self::always(field.name) { 100 } else { 12 };
            let _ = writeln!(s, "  if (percent({often})) {{ {change} }}");
        }
        let _ = writeln!(
            s,
            "  if (percent(1)) p->struct_size = integer(\"struct_size\");\n  return p;\n}}"
        );
    }

    /// Statements that draw an argument, the expression that passes it, and what follows success.
    fn argument(&self, i: usize, (name, ty): Pair) -> (String, String, String) {
        let (outer, inner) = parts(ty);
        let a = format!("a{i}");
        let kind = self.kind(inner);
        let none = String::new();
        match (outer, kind) {
            ("Handle" | "Local", Some(k)) => (format!("{inner} {a} = {{handle({k})}};"), a, none),
            ("Maybe", Some(k)) => (format!("{inner} {a} = {{handle_or_none({k})}};"), a, none),
            ("Raw", Some(k)) => {
                let done = format!("destroyed({k}, {a}.id);");
                (format!("{inner} {a} = {{handle_to_destroy({k})}};"), a, done)
            }
            ("Raw", None) => (format!("{inner} {a} = percent(70) ? on_{inner} : NULL;"), a, none),
            ("Params", _) => (format!("{inner} p{i}, *{a} = fill_{inner}(&p{i});"), a, none),
            ("Report", _) => {
                let draw = format!(
                    "{inner} *{a} = out(sizeof *{a}, 1); if ({a}) {inner}_init({a}, sizeof *{a});"
                );
                (draw, a, none)
            }
            ("Init", _) => (format!("void *{a} = out(8192, 0);"), a, none),
            ("Out", Some(k)) => {
                let draw = format!("{inner} *{a} = out(sizeof *{a}, 0);");
                let done = format!("made({k}, {a}->id);");
                (draw, a, done)
            }
            ("MaybeOut", Some(k)) => {
                let draw = format!("{inner} *{a} = out(sizeof *{a}, 1);");
                let done = format!("if ({a}) made({k}, {a}->id);");
                (draw, a, done)
            }
            ("Out", None) => (format!("{} *{a} = out(sizeof *{a}, 0);", c_type(inner)), a, none),
            ("OutArray", _) => (format!("void *{a} = out_array(0);"), a, none),
            ("MaybeArray", _) => (format!("void *{a} = out_array(1);"), a, none),
            ("Array", Some(k)) => {
                let draw = format!(
                    "static {inner} {a}[1024]; for (i = 0; i < 16; i++) {a}[i].id = handle({k}); \
                     partly_used();"
                );
                (draw, a, none)
            }
            ("Array", None) if inner == "f64" => {
                (format!("const double *{a} = numbers_in();"), a, none)
            }
            ("Data", _) => (format!("void *{a} = data_in();"), a, none),
            ("DataOut", _) => (format!("void *{a} = data_out();"), a, none),
            ("Text", _) => (format!("const char *{a} = path();"), a, none),
            ("TextOut", _) => (format!("char *{a} = text_out();"), a, none),
            ("i32" | "i64", _) => {
                let ty = c_type(ty);
                (format!("{ty} {a} = ({ty})integer(\"{name}\");"), a, none)
            }
            ("f64", _) => (format!("double {a} = real(\"{name}\");"), a, none),
            ("*mut c_void", _) => (format!("void *{a} = user();"), a, none),
            // A constant.
            (one, None) if one.starts_with("plaq_") => {
                (format!("int32_t {a} = (int32_t)integer(\"{name}\");"), a, none)
            }
            _ => panic!("{name}: the fuzzer does not know how to draw a {ty}"),
        }
    }

    fn function(&self, s: &mut String, name: &str, args: &[Pair], returns: &str) {
        let drawn: Vec<_> =
            args.iter().enumerate().map(|(i, arg)| self.argument(i, *arg)).collect();
        let list: Vec<&str> = drawn.iter().map(|d| d.1.as_str()).collect();
        let list = list.join(", ");
        let _ = writeln!(
            s,
            "static int32_t call_{name}(void) {{\n  int32_t status = 0;\n  int i = 0;\n  (void)i;"
        );
        for (draw, ..) in &drawn {
            let _ = writeln!(s, "  {draw}");
        }
        let _ = writeln!(s, "  engine_remember();");
        if returns == "Text" {
            let _ = writeln!(s, "  text({name}({list}));");
        } else {
            let _ = writeln!(s, "  status = {name}({list});");
        }
        for done in drawn.iter().map(|d| &d.2).filter(|done| !done.is_empty()) {
            let _ = writeln!(s, "  if (status == 0) {done}");
        }
        let _ = writeln!(s, "  return status;\n}}");
    }
}

pub fn generate() -> String {
    let t = Tables::new();
    let mut s = String::from("/* Generated by tests/fuzz/calls.rs. */\n#include \"engine.h\"\n\n");
    for (name, values) in &t.constants {
        let list: Vec<String> = values.iter().map(i32::to_string).collect();
        let _ = writeln!(s, "static const int32_t values_{name}[] = {{{}}};", list.join(", "));
    }
    for (name, (args, returns)) in &t.callbacks {
        let list: Vec<String> = args.iter().map(|(n, ty)| format!("{} {n}", c_type(ty))).collect();
        let uses: String = args.iter().map(|(n, _)| format!("(void){n};")).collect();
        let body = match *returns {
            // A rank of the only one.
            _ if name.contains("rank") => "return 0;",
            "()" => "called();",
            _ => "return called();",
        };
        let list = list.join(", ");
        let _ = writeln!(s, "static {} on_{name}({list}) {{ {uses} {body} }}", c_type(returns));
    }
    for name in t.structs.keys().filter(|name| name.ends_with("_params")) {
        t.fill(&mut s, name);
    }
    let mut names = Vec::new();
    for item in MODULES.iter().flat_map(|m| m.items) {
        if let Item::Function { name, args, returns, .. } = item {
            t.function(&mut s, name, args, returns);
            names.push(*name);
        }
    }
    let list: String = names.iter().map(|n| format!("  {{\"{n}\", call_{n}}},\n")).collect();
    let _ = writeln!(s, "const entry entries[] = {{\n{list}}};");
    let _ =
        writeln!(s, "const int entry_count = {}, kind_count = {};", names.len(), t.handles.len());
    let kind = |name| t.kind(name).expect("a handle");
    let _ = writeln!(
        s,
        "const int kind_context = {}, kind_gauge = {}, kind_spinor = {};",
        kind("plaq_context"),
        kind("plaq_gauge"),
        kind("plaq_spinor")
    );
    s
}
