//! The C header, from the tables of interface/src/capi.

use std::fmt::Write as _;

use plaq::capi::table::{Argument, Factor, Field, Header, Item, Pass, Type};
use plaq::capi::{HEADERS, MODULES};
use plaq::error::Status;

const RULES: &str = "\
/* plaq: embeddable lattice QCD. Generated from interface/src/capi; do not edit.
 *
 * Status. Functions return a plaq_status: 0 done; positive: refused, nothing changed (but after
 * PLAQ_SOLVER_BREAKDOWN the solution is zero); negative: the object or context is lost. plaq_last_error() says which argument, what was expected and
 * what was found. Results are written only on success. A solver that did not converge is no
 * error: its report says so.
 * Handles. Small structs, passed by value; {0} is no object. A stale, foreign or destroyed handle
 * is refused. Objects belong to a context and die with it, or by their own destroy function.
 * Parameters. PLAQ_INIT(plaq_NAME_params, p); declares a struct and fills in its defaults, or
 * plaq_NAME_params_init(&p, sizeof p) one that exists; then set members; NULL means all defaults. Reports are initialised the same way; NULL if not wanted. These structs may
 * grow at the end in later versions without breaking programs compiled today.
 * Memory. What a pointer points to is borrowed for the call only, unless its comment says otherwise.
 * Pointers must be valid for the sizes stated; NULL is refused where something is needed.
 * Ranks. A context made with a communicator is shared by its ranks, as are its objects. Functions
 * that take its handles are called by all its ranks in the same order, and fail on all if they fail
 * on one; only destroy, describe, name, memory, reset_peak and synchronize are each rank's own.
 * Threads. Any thread may call. An object that another call is changing is refused with PLAQ_BUSY.
 */
";

const INIT: &str = "
/** Declares a struct of parameters or a report with its defaults: PLAQ_INIT(plaq_dirac_params, p);
 * then p.kappa = 0.13. Its size is right whatever the type. */
#define PLAQ_INIT(type, name) \\
  type name; \\
  (void)type##_init(&name, (int64_t)sizeof(type))
";

const PROMISES: &str = r#"
## What is promised

- **A call that is refused changes nothing**: no object, no array, no report. What a call makes it gives to the
  host on success only, on all ranks; where one of them fails, nothing is left on the others.
- **Solves.** What can be refused is refused before x is touched. After `PLAQ_SOLVER_BREAKDOWN` x, or each x of a
  multi-shift solve, is zero. A solve that needs more memory than it announced, because other objects took it
  meanwhile, ends with `PLAQ_OUT_OF_MEMORY`; without an initial guess x may be zero then.
- **Calls end.** Counts of multigrid, eigensolvers, the overlap operator, flows and integrators (steps, iterations,
  restarts, refinements, modes, degrees) that would keep a call from ever ending are `PLAQ_BAD_PARAMETER`; the message
  names the largest. `max_iterations` of solves and `trajectories` are the host's, whose callbacks can end them.
- **Memory.** Fields, and whatever on the host grows with the lattice, end in `PLAQ_OUT_OF_MEMORY` where there is
  no room. On a CPU the smallest of free memory, control groups and `ulimit -v` counts; of the last what is mapped
  already and 64 MiB for arrays of the host are set aside.
- **Panics** of plaq are `PLAQ_INTERNAL` and say nothing on the standard error. Those of a Rust host are its own.
- **Threads and callbacks.** An object in use is `PLAQ_BUSY`; nothing waits for another call. So is every call that a
  log callback makes. ThreadSanitizer (`scripts/tsan.sh`) finds nothing in calls of four threads that share objects.
- **Attacks.** `make fuzz` calls every function with random arguments and reads damaged files; docs/lab/fuzz.md has how
  many calls and files were tried.
- **Ranks.** Before they exchange anything, the ranks of a call compare its name, its number, its objects and its
  parameters. Where parameters or objects differ, all of them get `PLAQ_INVALID_ARGUMENT` and go on; where they are in
  different calls, `PLAQ_COMM_FAILED` with what each rank called, and the context is lost. A wrong argument on one rank, a stale handle too, is the same refusal on all. Not compared are arrays, texts,
  callbacks, and how each rank keeps its part of a field (order and place of its array). Every wait has a deadline.
- **Gauge fixing on a GPU** ends in `PLAQ_DEVICE_LOST` where sites of a sweep waited ten seconds for others.
- **Files** appear complete or not at all, with mode and owner of the file that they replace. Devices, pipes and
  links to nowhere are refused.
- **Device arrays** (`PLAQ_LOCATION_DEVICE`) are refused where the driver does not know the address, or its
  allocation ends too soon. Work comes after what is on the stream that the parameters name.

## What cannot be

- **Pointers.** An address that is neither NULL nor memory of the stated size ends the process, as in any C library.
  Inside of a larger allocation of the device nobody knows where an array ends. Memory of a GPU is such an address for
  a context on the CPU. A stream or a communicator that does
  not live any more is such an address.
- **Small allocations.** Where the host has no memory for a few bytes, Rust ends the process. A limit on the address
  space should leave some MiB.
- **Signals.** plaq installs no handlers. No function may be called from one: they take locks and allocate. A process
  that is killed while it writes a file leaves a hidden file `.plaq-*.tmp` in its folder.
- **fork().** A child has no threads of its parent's contexts: calls that need them are `PLAQ_DEVICE_LOST`; contexts
  of one thread and new contexts work. A CUDA context does not survive fork().
- **MPI.** A rank that is killed, or exits in the middle of a call, ends the job where mpirun has it so; else the others'
  call is `PLAQ_COMM_FAILED` at the deadline, and they leave without MPI_Finalize, which would wait for that rank. A
  communicator that one rank never gives up is given up by none.
"#;

const COMPATIBLE: &str = "\
/* The part of QUDA's interface that plaq offers; programs that keep to it compile and link as they
 * are. Generated from interface/src/capi; do not edit. What fails is reported as plaq.h says under \"QUDA's
 * interface\": by default a message and the end of the program.
 */
";

/// Every header, as (path below include/, text).
pub fn headers() -> Vec<(&'static str, String)> {
    let compatible = HEADERS.iter().map(|h| (h.file, compatible(h)));
    std::iter::once(("plaq.h", header())).chain(compatible).collect()
}

/// The text of a header that replaces one of QUDA's interface.
fn compatible(header: &Header) -> String {
    let guard = header.file.replace(['/', '.'], "_").to_uppercase();
    let (begin, end) = match header.read_as_text {
        true => ("#pragma once\n".into(), ""),
        false => (format!("#ifndef PLAQ_{guard}\n#define PLAQ_{guard}\n"), "\n#endif\n"),
    };
    let mut s = format!("{COMPATIBLE}{begin}");
    for (i, file) in header.includes.iter().enumerate() {
        let _ = writeln!(s, "{}#include <{file}>", if i == 0 { "\n" } else { "" });
    }
    s.push_str(header.preamble);
    for (macro_, module) in header.unless {
        let _ = writeln!(s, "\n#ifndef {macro_}");
        module.items.iter().for_each(|i| item(&mut s, i, &THEIRS));
        s.push_str("\n#endif\n");
    }
    let has_functions = header.modules.iter().any(|m| m.items.iter().any(is_function));
    if has_functions {
        s.push_str("\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    }
    header.modules.iter().flat_map(|m| m.items).for_each(|i| item(&mut s, i, &THEIRS));
    if has_functions {
        s.push_str("\n#ifdef __cplusplus\n}\n#endif\n");
    }
    s.push_str(header.conclusion);
    s.push_str(end);
    s
}

fn is_function(item: &Item) -> bool {
    matches!(item, Item::Function { .. })
}

fn header() -> String {
    let mut s = String::from(RULES);
    s.push_str("#ifndef PLAQ_H\n#define PLAQ_H\n\n#include <stdint.h>\n\n");
    let version: Vec<&str> = env!("CARGO_PKG_VERSION").split('.').collect();
    for (part, number) in ["MAJOR", "MINOR", "PATCH"].iter().zip(&version) {
        let _ = writeln!(s, "#define PLAQ_VERSION_{part} {number}");
    }
    s.push_str("\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    s.push_str("/** Result of a call; docs/errors.md has the list. */\ntypedef int32_t plaq_status;\nenum {\n");
    for (status, name, help) in Status::TABLE {
        let _ = writeln!(s, "  /** {} */\n  PLAQ_{name} = {},", sentence(help), *status as i32);
    }
    end_list(&mut s);
    s.push_str("};\n");
    for module in MODULES {
        let _ = write!(s, "\n/* ---- {} ---- */\n", module.title);
        module.items.iter().for_each(|i| item(&mut s, i, &OWN));
    }
    s.push_str("\n#ifdef __cplusplus\n}\n#endif\n");
    s.push_str(INIT);
    s.push_str("\n#endif\n");
    s
}

/// Names of types and tags, which differ between plaq.h and the headers of QUDA's interface.
struct Names {
    /// The type of an integer of 32 bits.
    int: &'static str,
    /// Ending of the tags of structs and enumerations, after the name of the type.
    tag: &'static str,
}

const OWN: Names = Names { int: "int32_t", tag: "" };
/// Names in the headers of QUDA's interface, whose tags programs in C++ use.
const THEIRS: Names = Names { int: "int", tag: "_s" };

fn item(s: &mut String, item: &Item, names: &Names) {
    let Names { int, tag } = *names;
    s.push('\n');
    match item {
        Item::Handle { name, doc } => {
            comment(s, "", doc);
            let _ = writeln!(s, "typedef struct {name} {{\n  int64_t id;\n}} {name};");
        }
        Item::Constants { name, doc, values } => {
            comment(s, "", doc);
            let _ = writeln!(s, "typedef int32_t {name};\nenum {{");
            for value in *values {
                comment(s, "  ", value.doc);
                let _ = writeln!(s, "  {} = {},", value.name, value.number);
            }
            end_list(s);
            s.push_str("};\n");
        }
        Item::Enum { name, doc, values } => {
            comment(s, "", doc);
            let _ = writeln!(s, "typedef enum {name}{tag} {{");
            for value in *values {
                comment(s, "  ", value.doc);
                let number = match value.number {
                    i32::MIN => "QUDA_INVALID_ENUM".into(),
                    n => n.to_string(),
                };
                let _ = writeln!(s, "  {} = {number},", value.name);
            }
            end_list(s);
            let _ = writeln!(s, "}} {name};");
        }
        Item::Define { name, doc, value } => {
            comment(s, "", doc);
            let _ = writeln!(s, "#define {name} {value}");
        }
        Item::Callback { name, doc, args, returns } => {
            comment(s, "", doc);
            let _ = writeln!(
                s,
                "typedef {} (*{name})({});",
                c_type(returns, int),
                arguments(args, int)
            );
        }
        Item::Struct { name, doc, fields, .. } => {
            comment(s, "", doc);
            let _ = writeln!(s, "typedef struct {name}{tag} {{");
            for field in *fields {
                member_comment(s, field);
                let name = field.name.trim_start_matches("r#");
                let _ = writeln!(s, "  {};", declare(&field.ty, name, int));
            }
            let _ = writeln!(s, "}} {name};");
        }
        Item::Function { name, doc, args, returns } => {
            comment(s, "", &with_lengths(doc, args));
            let line = format!("{}({});", declare(returns, name, int), arguments(args, int));
            let indent =
                format!(",\n{}", " ".repeat(line.find('(').expect("an argument list") + 1));
            s.push_str(&if line.len() > 100 { line.replace(", ", &indent) } else { line });
            s.push('\n');
        }
    }
}

/// The lines of a function's comment, with one on the lengths of its arrays.
pub fn with_lengths(doc: &[&'static str], args: &[Argument]) -> Vec<String> {
    let mut lines: Vec<String> = doc.iter().map(|line| line.trim().to_string()).collect();
    let lengths: Vec<String> =
        args.iter().filter_map(|a| Some(format!("{}[{}]", a.name, length(a.length?)))).collect();
    if !lengths.is_empty() {
        lines.push(format!("Arrays: {}.", lengths.join(", ")));
    }
    lines
}

/// The length of an array as a product.
pub fn length(factors: &[Factor]) -> String {
    let word = |factor: &Factor| match factor {
        Factor::Number(number) => number.to_string(),
        Factor::Argument(name) => name.to_string(),
        Factor::Words(words) => words.to_string(),
    };
    factors.iter().map(word).collect::<Vec<_>>().join(" * ")
}

pub fn sentence(help: &str) -> String {
    format!("{}.", capital(help))
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars).collect()
}

/// C99 with -pedantic has no comma after the last enumerator.
fn end_list(s: &mut String) {
    if s.ends_with(",\n") {
        s.truncate(s.len() - 2);
        s.push('\n');
    }
}

fn comment<T: AsRef<str>>(s: &mut String, indent: &str, doc: &[T]) {
    let lines = doc.iter().map(|line| line.as_ref().trim());
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    if !lines.is_empty() {
        let _ = writeln!(s, "{indent}/** {} */", lines.join(&format!("\n{indent} * ")));
    }
}

fn member_comment(s: &mut String, field: &Field) {
    comment(s, "  ", &member_lines(field));
}

/// The lines of a member's comment: its meaning, its range and its default.
pub fn member_lines(field: &Field) -> Vec<String> {
    let mut lines: Vec<String> = field.doc.iter().map(|line| line.trim().to_string()).collect();
    let text = lines.join(" ");
    let told = ["Default", "Must be set", "Must be 0", "must be set"];
    let range = Some(field.range.text()).filter(|range| !range.is_empty());
    let structs = matches!(field.ty, Type::Struct(_) | Type::Array(Type::Struct(_), _));
    let told = structs || told.iter().any(|t| text.contains(t));
    let default = field.default.filter(|_| !told);
    let default = default.map(|default| format!("Default: {}.", default()));
    let range = range.map(|range| format!("{}.", capital(&range)));
    for more in [range, default].into_iter().flatten() {
        match lines.last_mut() {
            Some(last) if last.len() + more.len() < 88 => {
                if !last.ends_with(['.', '!', '?']) {
                    last.push('.');
                }
                last.push(' ');
                last.push_str(&more);
            }
            _ => lines.push(more),
        }
    }
    lines
}

fn arguments(args: &[Argument], int: &'static str) -> String {
    if args.is_empty() {
        return "void".into();
    }
    let each = args.iter().map(|arg| match arg.pass {
        Pass::Params | Pass::Array => format!("const {} *{}", c_type(&arg.ty, int), arg.name),
        Pass::Out
        | Pass::MaybeOut
        | Pass::OutArray
        | Pass::MaybeArray
        | Pass::Report
        | Pass::InOut
        | Pass::Init => {
            format!("{} *{}", c_type(&arg.ty, int), arg.name)
        }
        Pass::Data => format!("const void *{}", arg.name),
        Pass::DataOut => format!("void *{}", arg.name),
        Pass::TextOut => format!("char *{}", arg.name),
        _ => declare(&arg.ty, arg.name, int),
    });
    each.collect::<Vec<_>>().join(", ")
}

fn declare(ty: &Type, name: &str, int: &'static str) -> String {
    if let Type::Array(element, count) = ty {
        return declare(element, &format!("{name}[{count}]"), int);
    }
    let c = c_type(ty, int);
    format!("{c}{}{name}", if c.ends_with('*') { "" } else { " " })
}

fn c_type(ty: &Type, int: &'static str) -> String {
    match ty {
        Type::Void => "void",
        Type::I32 => int,
        Type::I64 => "int64_t",
        Type::F64 => "double",
        Type::Unsigned => "unsigned",
        Type::Size => "size_t",
        Type::Char => "char",
        Type::Complex => "QUDA_DOUBLE_COMPLEX",
        Type::Address => "void *",
        Type::Text => "const char *",
        Type::Enum(name) | Type::Handle(name) | Type::Struct(name) | Type::Callback(name) => name,
        Type::Numbers(of) => return format!("const {} *", c_type(of, int)),
        Type::Pointer(of) => {
            let of = c_type(of, int);
            return format!("{of}{}*", if of.ends_with('*') { "" } else { " " });
        }
        Type::Paths(depth) => return format!("int {}", "*".repeat(*depth)),
        Type::Array(..) => panic!("arrays are members only"),
    }
    .into()
}

/// The text of docs/errors.md.
pub fn errors() -> String {
    let mut s = String::from(
        "# Statuses\n\nGenerated from src/error.rs. 0: done. Positive: the call was refused and nothing \
         changed. Negative:\nthe object or context is lost and can only be destroyed. Numbers are never \
         reused; `plaq_status_name` and\n`plaq_status_help` give the same texts at run time, \
         `plaq_last_error` the particulars.\n",
    );
    let layers =
        ["Boundary", "Back end", "Communication", "Fields", "Files", "Operators and solvers"];
    for (layer, title) in layers.iter().enumerate() {
        let _ = write!(s, "\n## {title}\n\n| status | number | meaning |\n|---|---:|---|\n");
        for (status, name, help) in Status::TABLE {
            let number = *status as i32;
            if number.unsigned_abs() as usize / 100 == layer {
                let _ = writeln!(s, "| `PLAQ_{name}` | {number} | {help} |");
            }
        }
    }
    s.push_str(PROMISES);
    s
}
