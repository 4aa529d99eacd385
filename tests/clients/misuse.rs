//! Every function of QUDA's headers is called where it cannot work: before the first session and after the last one,
//! and in a session with structs of another size, without structs, and with structs that are not filled in. The calls
//! end nothing and report what is wrong.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use plaq::capi::table::{Argument, Item, Pass, Type};

use crate::programs::{self, build, run, tool};

/// Functions that are not tested: calls of the host's functions, and functions that only print.
const LEFT_OUT: &[&str] = &["openQCD_qudaInit"];

/// Functions that work without a session.
const FINE: &str = "
    destroyMultigridQuda endQuda flushChronoQuda flushPoolQuda freeCloverQuda freeGaugeQuda freeGaugeSmearedQuda freeUniqueGaugeQuda
    initQuda initQudaDevice initQudaMemory newQudaBLASParam newQudaEigParam newQudaGaugeObservableParam newQudaGaugeParam
    newQudaGaugeSmearParam newQudaInvertParam newQudaMultigridParam openQCD_qudaFinalize
    plaq_quda_comm_barrier plaq_quda_comm_coords plaq_quda_comm_dim plaq_quda_comm_finalize plaq_quda_comm_rank
    plaq_quda_comm_size printQudaBLASParam
    printQudaEigParam printQudaGaugeObservableParam printQudaGaugeParam printQudaInvertParam printQudaMultigridParam
    qudaAllocatePinned qudaFinalize qudaSetMPICommHandle setVerbosityQuda updateR";

/// Arrays of the host. They hold their own addresses, which are tiny numbers if read as floating-point ones.
const START: &str = "
#include \"check.h\"
#include \"plaq.h\"
#include \"malloc_quda.h\"
#include \"quda.h\"
#include \"util_quda.h\"
#include \"quda_milc_interface.h\"
#include \"quda_openqcd_interface.h\"

static void *room[1 << 19];
static char told[4096];
static const char *teller;
static int times;

static void listen(const char *function, int32_t status, const char *message, void *user) {
  static char name[128];
  (void)status, (void)user;
  snprintf(name, sizeof name, \"%s\", function), snprintf(told, sizeof told, \"%s\", message);
  teller = name, times++;
}

/* What this call's error says beside the function's name and what to do: the session that is missing, that plaq does not
 * offer it, or the argument with what was expected and found. It was told once. */
static int32_t status_of(const char *name) {
  int32_t last = -1;
  CHECK(plaq_quda_last_status(&last) == PLAQ_SUCCESS && times == (last != 0));
  times = 0;
  if (last == 0) return 0;
  CHECK(strcmp(teller, name) == 0 && strstr(told, name) && strstr(told, \"what to do\"));
  if (last == PLAQ_NOT_INITIALISED) CHECK(strstr(told, \"first\"));
  else CHECK(strstr(told, \"is not offered\") || (strstr(told, \"expected\") && strstr(told, \"found\")));
  return last;
}

static void called(const char *name) { printf(\"%s %d\\n\", name, (int)status_of(name)); }

/* Structs of another size, none, or without values. */
static void wrongly_called(const char *name, int how) {
  const int32_t last = status_of(name);
  if (last == PLAQ_UNSUPPORTED && strstr(told, \"is not offered\")) return;
  if (how == 0) CHECK(last == PLAQ_INVALID_ARGUMENT && strstr(told, \"struct_size\"));
  if (how == 1) CHECK(last == PLAQ_NULL_POINTER);
}
";

const END: &str = "
/* A session of its own begins and ends between the two rounds without one. */
static void session(void) {
  QudaGaugeParam p = newQudaGaugeParam();
  double plaquette[3];
  int mu;
  for (mu = 0; mu < 4; mu++) p.X[mu] = 4;
  p.type = QUDA_WILSON_LINKS, p.gauge_order = QUDA_MILC_GAUGE_ORDER, p.t_boundary = QUDA_PERIODIC_T, p.anisotropy = 1;
  p.cpu_prec = p.cuda_prec = QUDA_DOUBLE_PRECISION, p.reconstruct = QUDA_RECONSTRUCT_NO;
  initQuda(-1), loadGaugeQuda(room, &p), plaqQuda(plaquette);
  CHECK(times == 0);
  wrong_structs(0), wrong_structs(1), wrong_structs(2);
  endQuda();
  CHECK(times == 0);
}

int main(void) {
  size_t i;
  for (i = 0; i < sizeof room / sizeof *room; i++) room[i] = room;
  CHECK(plaq_quda_set_error_mode(PLAQ_QUDA_ERRORS_RETURN) == 0 && plaq_quda_set_error_handler(listen, NULL) == 0);
  round_of_calls(), session(), round_of_calls();
  return 0;
}
";

/// Declares an argument as `name`: a number in range, or an existing array.
fn declare(name: &str, argument: &Argument) -> String {
    let Argument { name: arg, ty, pass, .. } = argument;
    if let Some(of) = record(argument) {
        let made = match RECORDS.contains(&of) {
            true => format!("to_{name} = new{of}();"),
            false => format!("memset(&to_{name}, 0, sizeof to_{name});"),
        };
        return format!("{of} to_{name}, *{name} = &to_{name}; {made}");
    }
    match (pass, ty) {
        (Pass::Value, Type::Struct(of)) => {
            format!("{of} {name}; memset(&{name}, 0, sizeof {name});")
        }
        (Pass::Value, Type::I32 | Type::Unsigned | Type::Size) => {
            let value = match *arg {
                "dir" | "gauge_dir" => 3,
                "nDim" => 4,
                _ if arg.contains("recision") => 2,
                _ => 1,
            };
            format!("int {name} = {value};")
        }
        (Pass::Value, Type::F64) => format!("double {name} = 0.1;"),
        (Pass::Value, Type::Enum(of)) => format!("{of} {name} = ({of})0;"),
        (Pass::Value, Type::Callback(of)) => format!("{of} {name} = NULL;"),
        (Pass::Value, Type::Text | Type::Pointer(Type::Char)) => format!("char *{name} = NULL;"),
        // Arguments for a file or an object are null.
        (Pass::Value, Type::Address) if ["outfile", "mg_instance", "buf"].contains(arg) => {
            format!("void *{name} = NULL;")
        }
        _ => format!("void *{name} = room;"),
    }
}

/// Structs that have a constructor.
const RECORDS: &[&str] = &[
    "QudaGaugeParam",
    "QudaInvertParam",
    "QudaMultigridParam",
    "QudaEigParam",
    "QudaGaugeObservableParam",
    "QudaGaugeSmearParam",
    "QudaBLASParam",
];

fn record(arg: &Argument) -> Option<&'static str> {
    match (arg.pass, &arg.ty) {
        (Pass::Array | Pass::InOut, Type::Struct(of)) | (_, Type::Pointer(Type::Struct(of))) => {
            Some(*of)
        }
        _ => None,
    }
}

/// Generates a program that calls every function, in several rounds.
fn program() -> String {
    let (mut all, mut wrong) = (String::new(), String::new());
    for item in plaq::capi::HEADERS.iter().flat_map(|h| h.all()).flat_map(|m| m.items) {
        let Item::Function { name, args, .. } = item else { continue };
        if LEFT_OUT.contains(name) {
            continue;
        }
        let (mut declared, mut spoilt) = (String::new(), String::new());
        for (i, arg) in args.iter().enumerate() {
            let _ = write!(declared, " {}", declare(&format!("a{i}"), arg));
            if record(arg).is_some_and(|of| RECORDS.contains(&of)) {
                let _ = write!(
                    spoilt,
                    " if (how == 0) a{i}->struct_size = 8; if (how == 1) a{i} = NULL;"
                );
            }
        }
        let list: Vec<String> = (0..args.len()).map(|i| format!("a{i}")).collect();
        let call = format!("(void){name}({});", list.join(", "));
        let _ = writeln!(all, "  {{{declared} {call} called(\"{name}\"); }}");
        if !spoilt.is_empty() && !name.starts_with("print") {
            let _ = writeln!(
                wrong,
                "  {{{declared}{spoilt} {call} wrongly_called(\"{name}\", how); }}"
            );
        }
    }
    format!(
        "{START}\nstatic void round_of_calls(void) {{\n{all}}}\n\nstatic void wrong_structs(int how) {{\n{wrong}}}\n{END}"
    )
}

#[test]
fn without_a_session() {
    let Some(tool) = tool("CC", "cc") else { return };
    let [own, quda] = super::headers();
    let source = programs::folder("clients").join("misuse.c");
    std::fs::write(&source, program()).expect("a writable build tree");
    let here = programs::root().join("tests/clients");
    let source = source.to_string_lossy().into_owned();
    let program = build(&tool, &source, &[&own, &quda, &here], "misuse", &[]);
    let said = run(&mut std::process::Command::new(program), "calls without a session");
    let mut rounds = BTreeMap::new();
    for (name, status) in said.lines().filter_map(|line| line.split_once(' ')) {
        if let Ok(status) = status.parse::<i32>() {
            rounds.entry(name).or_insert_with(Vec::new).push(status);
        }
    }
    assert!(rounds.len() > 120, "{}", rounds.len());
    let mut fine: Vec<&str> = FINE.split_whitespace().collect();
    fine.sort();
    let found = rounds.iter().filter(|(_, statuses)| statuses.contains(&0)).map(|(name, _)| *name);
    assert_eq!(found.collect::<Vec<_>>(), fine);
    for (name, statuses) in rounds {
        assert!(statuses.len() == 2 && statuses[0] == statuses[1], "{name}: {statuses:?}");
    }
}
