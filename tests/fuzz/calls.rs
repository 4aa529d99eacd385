//! The generated part: a C function for every function of the interface's tables, which draws its
//! arguments, calls it and says what came of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use plaq::capi::table::{Field, Item, Pair};
use plaq::capi::{HEADERS, MODULES};

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
        if let Some(kind) = self.kind(ty) {
            return Some(format!("{to}.id = handle_or_none({kind});"));
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
        ["extents", "iterations", "restarts", "threads", "kappa", "sweeps", "copies", "max_seconds"]
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
            ("Params", _) => {
                let mut draw = format!("{inner} p{i}, *{a} = fill_{inner}(&p{i});");
                if inner == "plaq_layout_params" {
                    draw += &format!(" layout_of_call({a} ? {a}->arrays : 0);");
                }
                (draw, a, none)
            }
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
                    "static __thread {inner} {a}[1024]; for (i = 0; i < 16; i++) {a}[i].id = handle({k}); \
                     partly_used();"
                );
                (draw, a, none)
            }
            ("Array", None) if inner == "i32" => {
                (format!("const int32_t *{a} = integers_in(\"{name}\");"), a, none)
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

fn entries(s: &mut String, names: &[(&str, i32)]) {
    let list: String = names
        .iter()
        .map(|(n, together)| format!("  {{\"{n}\", call_{n}, {together}}},\n"))
        .collect();
    let _ = writeln!(s, "const entry entries[] = {{\n{list}}};");
    let _ = writeln!(s, "const int entry_count = {};", names.len());
}

/// The functions of QUDA's headers: their statuses are asked for, their objects are one.
pub fn generate_quda() -> String {
    let mut s =
        String::from("/* Generated by tests/fuzz/calls.rs. */\n#include \"quda_calls.h\"\n\n");
    let items = || HEADERS.iter().flat_map(|h| h.modules).flat_map(|m| m.items);
    let mut enums = BTreeMap::new();
    for item in items() {
        match item {
            Item::Enum { name, values, .. } => {
                let list: Vec<String> = values.iter().map(|v| v.1.to_string()).collect();
                let list = list.join(", ");
                let _ = writeln!(s, "static const int32_t values_{name}[] = {{{list}}};");
                enums.insert(*name, values.len());
            }
            // These need arrays that fit each other.
            Item::Struct {
                name: "QudaMILCSiteArg_t" | "QudaInitArgs_t" | "QudaLayout_t", ..
            } => {}
            Item::Struct { name, fields, .. } => {
                let _ = writeln!(s, "static {name} fill_{name}(void) {{\n  {name} p;\n  int i;");
                let _ = writeln!(s, "  memset(&p, 0, sizeof p);\n  (void)i;");
                for Field { name, ty, .. } in *fields {
                    let name = name.trim_start_matches("r#");
                    let draw = match *ty {
                        "usize" => format!("p.{name} = quda_size();"),
                        "[c_int; 4]" => {
                            format!("for (i = 0; i < 4; i++) p.{name}[i] = quda_integer(\"{name}\");")
                        }
                        "c_int" => format!("p.{name} = quda_integer(\"{name}\");"),
                        "f64" => format!("p.{name} = real(\"{name}\");"),
                        "[f64; 4]" => format!("for (i = 0; i < 4; i++) p.{name}[i] = percent(90) ? i == 3 : real(\"\");"),
                        ty => match enums.get(ty) {
                            Some(count) => format!("p.{name} = choice(values_{ty}, {count});"),
                            None => panic!("{name}: the fuzzer does not know how to draw a {ty}"),
                        },
                    };
                    let _ = writeln!(s, "  {draw}");
                }
                let _ = writeln!(s, "  return p;\n}}");
            }
            _ => {}
        }
    }
    let mut names = Vec::new();
    for item in items() {
        let Item::Function { name, args, returns, .. } = item else { continue };
        let _ = writeln!(s, "static int32_t call_{name}(void) {{\n  int32_t status = -1;");
        for (i, (arg, ty)) in args.iter().enumerate() {
            let draw = match parts(ty) {
                ("c_int", _) => format!("int a{i} = quda_integer(\"{arg}\");"),
                ("c_uint", _) => format!("unsigned a{i} = (unsigned)quda_integer(\"{arg}\");"),
                ("f64", _) => format!("double a{i} = real(\"{arg}\");"),
                ("usize", _) => format!("size_t a{i} = quda_size();"),
                ("*mut c_void", _) => format!("void *a{i} = quda_pointer(\"{arg}\");"),
                ("Array", "QudaMILCSiteArg_t") => format!("QudaMILCSiteArg_t *a{i} = quda_site();"),
                ("Raw", "QudaInitArgs_t") => format!("QudaInitArgs_t a{i} = quda_init();"),
                ("Array", "QudaGaugeParam") => {
                    format!("QudaGaugeParam p{i} = fill_QudaGaugeParam(), *a{i} = quda_gauge_param(&p{i});")
                }
                ("Array", "c_int") => format!("const int *a{i} = integers_in(\"{arg}\");"),
                ("Array", "f64") => format!("const double *a{i} = numbers_in();"),
                ("PathTable", _) => format!("int ***a{i} = quda_path_table();"),
                ("PathList", _) => format!("int **a{i} = quda_paths();"),
                ("Raw", inner) => format!("{inner} a{i} = fill_{inner}();"),
                ("OutArray", _) if *arg == "traces" => format!("double *a{i} = out_array(0);"),
                ("OutArray", _) => format!("double *a{i} = out(3 * sizeof *a{i}, 0);"),
                ("Out", "f64") => format!("double *a{i} = out(sizeof *a{i}, 0);"),
                ("Out", "c_int") => format!("int *a{i} = out(sizeof *a{i}, 0);"),
                ("Data", _) => format!("void *a{i} = data_in();"),
                ("DataOut", _) => format!("void *a{i} = data_out();"),
                _ => panic!("{name}: the fuzzer does not know how to draw a {ty}"),
            };
            let _ = writeln!(s, "  {draw}");
        }
        let list: Vec<String> = (0..args.len()).map(|i| format!("a{i}")).collect();
        let (list, result) = (list.join(", "), *returns == "*mut c_void");
        let _ = writeln!(s, "  engine_remember();");
        let keep = if result { "void *given = " } else { "" };
        let _ = writeln!(s, "  {keep}{name}({list});\n  plaq_quda_last_status(&status);");
        if result {
            let _ = writeln!(s, "  quda_given(given);");
        }
        let _ = writeln!(s, "  quda_called(\"{name}\", status);\n  return status;\n}}");
        names.push((*name, 0));
    }
    entries(&mut s, &names);
    s
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
            let together = args.iter().any(|(_, ty)| ty.starts_with("Handle<"));
            names.push((*name, together as i32));
        }
    }
    entries(&mut s, &names);
    let _ = writeln!(s, "void begin_calls(void) {{}}");
    let _ = writeln!(s, "const int kind_count = {};", t.handles.len());
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
