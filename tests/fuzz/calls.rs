//! Generated part of the fuzzer: for every function of the interface's tables a C function that draws its arguments,
//! calls it and prints the status.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use plaq::capi::table::{Argument, Factor, Field, Item, Pass, Type};
use plaq::capi::{HEADERS, MODULES};

struct Tables {
    handles: Vec<&'static str>,
    constants: BTreeMap<&'static str, Vec<i32>>,
    callbacks: BTreeMap<&'static str, (&'static [Argument], Type)>,
    structs: BTreeMap<&'static str, &'static [Field]>,
}

/// The C name of a type of the tables.
fn c_type(ty: &Type) -> String {
    match ty {
        Type::Void => "void".into(),
        Type::I32 | Type::Enum(_) => "int32_t".into(),
        Type::I64 => "int64_t".into(),
        Type::F64 => "double".into(),
        Type::Unsigned => "uint32_t".into(),
        Type::Size => "size_t".into(),
        Type::Address => "void *".into(),
        Type::Text => "const char *".into(),
        Type::Numbers(of) => format!("const {} *", c_type(of)),
        Type::Handle(name) | Type::Struct(name) | Type::Callback(name) => name.to_string(),
        Type::Array(..) | Type::Paths(_) | Type::Char | Type::Complex | Type::Pointer(_) => {
            panic!("no argument")
        }
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
                    t.constants.insert(name, values.iter().map(|v| v.number).collect());
                }
                Item::Callback { name, args, returns, .. } => {
                    t.callbacks.insert(name, (args, *returns));
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

    /// A C statement that changes a member of a parameter struct, or of a struct inside it; `None` if the type cannot
    /// be drawn.
    fn member(&self, name: &str, to: &str, ty: &Type) -> Option<String> {
        Some(match ty {
            Type::Enum(of) => format!("{to} = choice(values_{of}, {});", self.constants[of].len()),
            Type::Callback(of) => format!("{to} = on_{of};"),
            Type::Handle(of) => format!("{to}.id = handle_or_none({});", self.kind(of)?),
            Type::Array(Type::I32, 4) => format!("four_integers(\"{name}\", {to});"),
            Type::Array(Type::Struct(of), n) => {
                let inner = self.structs[of].iter();
                let each = inner
                    .filter_map(|f| self.member(f.name, &format!("{to}[i].{}", f.name), &f.ty));
                let each: String =
                    each.map(|change| format!("if (percent(30)) {{ {change} }} ")).collect();
                format!("for (i = 0; i < {n}; i++) {{ {each}}}")
            }
            Type::Array(of, n) => {
                let one = self.member(name, &format!("{to}[i]"), of)?;
                format!("for (i = 0; i < {n}; i++) {{ {one} }}")
            }
            Type::I32 => format!("{to} = (int32_t)integer(\"{name}\");"),
            Type::I64 if name != "struct_size" => format!("{to} = integer(\"{name}\");"),
            Type::F64 => format!("{to} = real(\"{name}\");"),
            Type::Text => format!("{to} = percent(50) ? \"a text\" : \"<\\\"&\\n\";"),
            // Other addresses stay NULL, since those of streams and communicators cannot be checked.
            _ => return None,
        })
    }

    /// Whether a member is always drawn, because it makes a call cheap and possible.
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
            let to = format!("p->{}", field.name);
            let Some(change) = self.member(field.name, &to, &field.ty) else { continue };
            let often = if Self::always(field.name) { 100 } else { 12 };
            let _ = writeln!(s, "  if (percent({often})) {{ {change} }}");
        }
        let _ = writeln!(
            s,
            "  if (percent(1)) p->struct_size = integer(\"struct_size\"), partly_used();\n  return p;\n}}"
        );
    }

    /// Statements that draw an argument, the expression that passes it, and statements after success. `counted` is
    /// true if the argument is the length of an array of the call.
    fn argument(&self, i: usize, arg: &Argument, counted: bool) -> (String, String, String) {
        let (name, c, a) = (arg.name, c_type(&arg.ty), format!("a{i}"));
        let kind = match arg.ty {
            Type::Handle(of) => self.kind(of),
            _ => None,
        };
        let mut done = String::new();
        let draw = match (arg.pass, kind) {
            (Pass::Handle | Pass::Local, Some(k)) => format!("{c} {a} = {{handle({k})}};"),
            (Pass::OptionalHandle, Some(k)) => format!("{c} {a} = {{handle_or_none({k})}};"),
            (Pass::Destroyed, Some(k)) => {
                done = format!("destroyed({k}, {a}.id);");
                format!("{c} {a} = {{handle_to_destroy({k})}};")
            }
            (Pass::Params, _) => {
                let mut draw = format!("{c} p{i}, *{a} = fill_{c}(&p{i});");
                if c == "plaq_layout_params" {
                    draw += &format!(" layout_of_call({a} ? {a}->arrays : 0);");
                }
                draw
            }
            (Pass::Report, _) => {
                format!("{c} *{a} = out(sizeof *{a}, 1); if ({a}) {c}_init({a}, sizeof *{a});")
            }
            (Pass::Init, _) => format!("void *{a} = out(8192, 0);"),
            (Pass::Out, Some(k)) => {
                done = format!("made({k}, {a}->id);");
                format!("{c} *{a} = out(sizeof *{a}, 0);")
            }
            (Pass::MaybeOut, Some(k)) => {
                done = format!("if ({a}) made({k}, {a}->id);");
                format!("{c} *{a} = out(sizeof *{a}, 1);")
            }
            (Pass::Out, None) => format!("{c} *{a} = out(sizeof *{a}, 0);"),
            (Pass::OutArray, _) => format!("void *{a} = out_array(0);"),
            (Pass::MaybeArray, _) => format!("void *{a} = out_array(1);"),
            (Pass::Array, Some(k)) => format!(
                "static __thread {c} {a}[1024]; for (i = 0; i < 16; i++) {a}[i].id = handle({k}); \
                 partly_used();"
            ),
            (Pass::Array, None) if arg.ty == Type::I32 => {
                format!("const int32_t *{a} = integers_in(\"{name}\");")
            }
            (Pass::Array, None) if arg.ty == Type::F64 => {
                format!("const double *{a} = numbers_in();")
            }
            (Pass::Data, _) => format!("void *{a} = data_in();"),
            (Pass::DataOut, _) => format!("void *{a} = data_out();"),
            (Pass::Text, _) => format!("const char *{a} = path();"),
            (Pass::TextOut, _) => format!("char *{a} = text_out();"),
            (Pass::Value, _) => match arg.ty {
                Type::I32 | Type::I64 | Type::Enum(_) => {
                    let draw = if counted { "entries_of_array" } else { "integer" };
                    format!("{c} {a} = ({c}){draw}(\"{name}\");")
                }
                Type::F64 => format!("double {a} = real(\"{name}\");"),
                Type::Address => format!("void *{a} = user();"),
                Type::Callback(of) => format!("{of} {a} = percent(70) ? on_{of} : NULL;"),
                other => panic!("{name}: the fuzzer does not know how to draw a {other:?}"),
            },
            (pass, _) => {
                panic!("{name}: the fuzzer does not know how to draw {pass:?} {:?}", arg.ty)
            }
        };
        (draw, a, done)
    }

    fn function(&self, s: &mut String, name: &str, args: &[Argument], returns: &Type) {
        let lengths = args.iter().filter_map(|arg| arg.length).flatten();
        let counted = |name| lengths.clone().any(|f| *f == Factor::Argument(name));
        let drawn: Vec<_> = args
            .iter()
            .enumerate()
            .map(|(i, arg)| self.argument(i, arg, counted(arg.name)))
            .collect();
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
        if *returns == Type::Text {
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

/// A C statement that draws a member of a struct of QUDA.
fn draw_member(to: &str, name: &str, ty: &Type, enums: &BTreeMap<&str, usize>) -> String {
    match ty {
        Type::Size => format!("{to} = quda_size();"),
        Type::I32 => format!("{to} = quda_integer(\"{name}\");"),
        Type::Unsigned => format!("{to} = quda_unsigned(\"{name}\");"),
        Type::F64 => format!("{to} = real(\"{name}\");"),
        Type::Complex => format!("{to} = real(\"\");"),
        Type::Char => format!("{to} = 0;"),
        Type::Address => format!("{to} = quda_pointer(\"{name}\");"),
        Type::Pointer(Type::Struct("QudaInvertParam")) => format!("{to} = quda_operator();"),
        Type::Pointer(Type::Pointer(Type::I32)) => format!("{to} = quda_paths();"),
        Type::Pointer(_) => format!("{to} = NULL;"),
        Type::Enum(of) => format!("{to} = ({of})choice(values_{of}, {});", enums[of]),
        Type::Array(Type::F64, 4) => {
            format!("for (i = 0; i < 4; i++) {to}[i] = percent(90) ? i == 3 : real(\"\");")
        }
        Type::Array(of, n) => {
            let i = if matches!(of, Type::Array(..)) { "k" } else { "i" };
            let inner = draw_member(&format!("{to}[{i}]"), name, of, enums);
            format!("for ({i} = 0; {i} < {n}; {i}++) {{ {inner} }}")
        }
        ty => panic!("{name}: the fuzzer does not know how to draw a {ty:?}"),
    }
}

/// Generates calls of the functions in QUDA's headers. They have no statuses of their own, so these are asked for,
/// and they share one object.
pub fn generate_quda() -> String {
    let mut s =
        String::from("/* Generated by tests/fuzz/calls.rs. */\n#include \"quda_calls.h\"\n\n");
    let items = || HEADERS.iter().flat_map(|h| h.all()).flat_map(|m| m.items);
    let mut enums = BTreeMap::new();
    for item in items() {
        match item {
            Item::Enum { name, values, .. } => {
                let list: Vec<String> = values.iter().map(|v| v.number.to_string()).collect();
                let list = list.join(", ");
                let _ = writeln!(s, "static const int32_t values_{name}[] = {{{list}}};");
                enums.insert(*name, values.len());
            }
            // Structs whose arrays must fit each other are written by hand.
            Item::Struct {
                name:
                    "QudaMILCSiteArg_t"
                    | "QudaInitArgs_t"
                    | "QudaLayout_t"
                    | "openQCD_QudaLayout_t"
                    | "openQCD_QudaInitArgs_t"
                    | "bc_parms_t"
                    | "flds_parms_t"
                    | "dirac_parms_t",
                ..
            } => {}
            Item::Struct { name, fields, .. } => {
                let _ = writeln!(s, "static {name} fill_{name}(void) {{\n  {name} p;\n  int i, k;");
                let _ = writeln!(s, "  memset(&p, 0, sizeof p);\n  (void)i, (void)k;");
                for Field { name, ty, .. } in *fields {
                    let name = name.trim_start_matches("r#");
                    let draw = draw_member(&format!("p.{name}"), name, ty, &enums);
                    let _ = writeln!(s, "  {draw}");
                }
                let _ = writeln!(s, "  return p;\n}}");
            }
            _ => {}
        }
    }
    let mut names = Vec::new();
    for item in items() {
        let Item::Function { name, args, .. } = item else { continue };
        // Functions that print are left out, since the engine counts output as a fault.
        if name.starts_with("printQuda") || name.ends_with("PrintSetup") {
            continue;
        }
        let _ = writeln!(s, "static int32_t call_{name}(void) {{\n  int32_t status = -1;");
        for (i, Argument { name: arg, ty, pass, .. }) in args.iter().enumerate() {
            let draw = match (pass, ty) {
                (Pass::Value, Type::I32) => format!("int a{i} = quda_integer(\"{arg}\");"),
                (Pass::Value, Type::Unsigned) => {
                    format!("unsigned a{i} = quda_unsigned(\"{arg}\");")
                }
                (Pass::Value, Type::F64) => format!("double a{i} = real(\"{arg}\");"),
                // Lists of the engine have 64 addresses.
                (Pass::Value, Type::Size) if *arg == "nSpinors" => {
                    format!("size_t a{i} = (size_t)below(5);")
                }
                (Pass::Value, Type::Size) => format!("size_t a{i} = quda_size();"),
                (Pass::Value, Type::Address) if *arg == "outfile" => {
                    format!("void *a{i} = quda_stream();")
                }
                (Pass::Value, Type::Address) => format!("void *a{i} = quda_pointer(\"{arg}\");"),
                (Pass::Value, Type::Paths(3)) => format!("int ***a{i} = quda_path_table();"),
                (Pass::Value, Type::Paths(_)) => format!("int **a{i} = quda_paths();"),
                (Pass::Value, Type::Struct("QudaInitArgs_t")) => {
                    format!("QudaInitArgs_t a{i} = quda_init();")
                }
                (Pass::Value, Type::Struct("openQCD_QudaLayout_t")) => {
                    format!("openQCD_QudaLayout_t a{i} = openqcd_layout();")
                }
                (Pass::Value, Type::Struct("openQCD_QudaInitArgs_t")) => {
                    format!("openQCD_QudaInitArgs_t a{i} = openqcd_init();")
                }
                (Pass::Value, Type::Struct(of)) => format!("{of} a{i} = fill_{of}();"),
                (Pass::Value, Type::Pointer(Type::Char)) => format!("char *a{i} = NULL;"),
                (Pass::InOut, Type::Address) => {
                    format!(
                        "void *p{i} = quda_pointer(\"{arg}\"), **a{i} = percent(5) ? NULL : &p{i};"
                    )
                }
                (Pass::Array, Type::Struct("QudaMILCSiteArg_t")) => {
                    format!("QudaMILCSiteArg_t *a{i} = quda_site();")
                }
                (Pass::Array | Pass::InOut, Type::Struct(of))
                | (Pass::Value, Type::Pointer(Type::Struct(of))) => {
                    format!("{of} p{i} = fill_{of}(), *a{i} = quda_{of}(&p{i});")
                }
                (Pass::Value, Type::Enum(of)) => {
                    format!("{of} a{i} = ({of})choice(values_{of}, {});", enums[of])
                }
                (Pass::Value, Type::Callback(of)) => {
                    format!("{of} a{i} = percent(50) ? NULL : quda_rank;")
                }
                (Pass::Value, Type::Text) => format!("const char *a{i} = \"plaq\";"),
                (Pass::Value, Type::Pointer(Type::Address)) => {
                    format!("void **a{i} = quda_pointer(\"{arg}\");")
                }
                (Pass::Value, Type::Pointer(Type::Pointer(_))) => format!("double **a{i} = NULL;"),
                (Pass::Value, Type::Pointer(Type::F64)) => {
                    format!("double *a{i} = (double *)(void *)numbers_in();")
                }
                (Pass::Value, Type::Pointer(Type::Complex)) => {
                    format!("double _Complex *a{i} = out_array(1);")
                }
                (Pass::Value, Type::Numbers(_)) => {
                    format!("const int *a{i} = integers_in(\"{arg}\");")
                }
                (Pass::Array, Type::I32) => format!("const int *a{i} = integers_in(\"{arg}\");"),
                (Pass::Array, Type::F64) => format!("const double *a{i} = numbers_in();"),
                (Pass::OutArray, _) if *arg == "traces" => format!("double *a{i} = out_array(0);"),
                (Pass::OutArray, _) => format!("double *a{i} = out(3 * sizeof *a{i}, 0);"),
                (Pass::Out, Type::F64) => format!("double *a{i} = out(sizeof *a{i}, 0);"),
                (Pass::Out, Type::I32) => format!("int *a{i} = out(sizeof *a{i}, 0);"),
                (Pass::Data, _) => format!("void *a{i} = data_in();"),
                (Pass::DataOut, _) => format!("void *a{i} = data_out();"),
                _ => panic!("{name}: the fuzzer does not know how to draw {pass:?} {ty:?}"),
            };
            let _ = writeln!(s, "  {draw}");
        }
        let list: Vec<String> = (0..args.len()).map(|i| format!("a{i}")).collect();
        let (list, result) = (list.join(", "), *name == "qudaAllocatePinned");
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
        let list: Vec<String> =
            args.iter().map(|a| format!("{} {}", c_type(&a.ty), a.name)).collect();
        let uses: String = args.iter().map(|a| format!("(void){};", a.name)).collect();
        let body = match returns {
            // Callbacks that ask for a rank get that of the only one.
            _ if name.contains("rank") => "return 0;",
            Type::Void => "called();",
            _ => "return called();",
        };
        let list = list.join(", ");
        let _ = writeln!(s, "static {} on_{name}({list}) {{ {uses} {body} }}", c_type(returns));
    }
    let first = |name: &str| t.structs[name].first().map(|field| field.name);
    let passed = |name: &str| name.ends_with("_params") || name.ends_with("_goals");
    let may_grow = |name: &&&str| passed(name) && first(name) == Some("struct_size");
    for name in t.structs.keys().filter(may_grow) {
        t.fill(&mut s, name);
    }
    let mut names = Vec::new();
    for item in MODULES.iter().flat_map(|m| m.items) {
        if let Item::Function { name, args, returns, .. } = item {
            t.function(&mut s, name, args, returns);
            let together = args.iter().any(|a| a.pass == Pass::Handle);
            names.push((*name, together as i32));
        }
    }
    entries(&mut s, &names);
    let _ = writeln!(s, "void begin_calls(void) {{}}");
    let _ = writeln!(
        s,
        "int makes_objects(const char *name) {{ return strstr(name, \"_create\") != NULL; }}"
    );
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
