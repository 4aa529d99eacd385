//! A test that the functions between a host's call and the launch of a hop are those in ARCHITECTURE.md. It is a unit
//! test since these are compiled without optimisation, so that backtraces contain all functions.

use std::backtrace::Backtrace;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use crate::backend::trace::traced;
use crate::capi::context::{plaq_context_create, plaq_context_destroy, plaq_context_params_init};
use crate::capi::dirac::{plaq_dirac, plaq_dirac_create, plaq_dirac_params_init};
use crate::capi::gauge::{plaq_gauge, plaq_gauge_create, plaq_gauge_params_init};
use crate::capi::multigrid::{plaq_multigrid, plaq_multigrid_create, plaq_multigrid_params_init};
use crate::capi::observe::plaq_gauge_unit;
use crate::capi::solve::{
    plaq_progress_callback, plaq_solver, plaq_solver_create, plaq_solver_params_init,
    plaq_solver_solve,
};
use crate::capi::spinor::{plaq_spinor, plaq_spinor_create, plaq_spinor_params_init};
use crate::params::Number;

const EXTENTS: [i32; 4] = [8; 4];
/// Largest number of functions from C to a kernel in a solve with default parameters.
const MAX_FUNCTIONS: usize = 20;

/// Returns a struct of parameters that an init function of C has filled in.
fn init<T>(init: unsafe extern "C" fn(*mut T, i64) -> i32) -> T {
    let mut made = MaybeUninit::<T>::zeroed();
    // SAFETY: the struct is as large as the argument says, and the init function writes all of it.
    unsafe {
        assert_eq!(init(made.as_mut_ptr(), size_of::<T>() as i64), 0);
        made.assume_init()
    }
}

/// The functions of plaq in a backtrace, the outermost first, each once, as `Type::function` or `module::function`. A
/// closure counts as its function.
fn functions(trace: &Backtrace) -> Vec<String> {
    let text = trace.to_string();
    let lines = text.lines().filter_map(|line| line.trim_start().split_once(": "));
    let names = lines.filter(|(number, _)| number.parse::<usize>().is_ok()).map(|(_, name)| name);
    let mut found: Vec<String> = vec![];
    for name in names.collect::<Vec<_>>().into_iter().rev().filter_map(short) {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    let first = found.iter().position(|name| name.starts_with("plaq_"));
    found.split_off(first.expect("a function of C"))
}

/// The last two parts of a function's name; `None` for functions of other crates.
fn short(name: &str) -> Option<String> {
    // <plaq_core::a::Type as plaq_core::b::Trait>::function, plaq_core::a::<impl plaq_core::b::Type>::function
    let mut path = match name.strip_prefix('<') {
        Some(rest) => {
            let (own, function) = rest.rsplit_once(">::")?;
            let own = own.split_once(" as ").map_or(own, |(own, _)| own);
            format!("{own}::{function}")
        }
        None => name.to_string(),
    };
    if !path.starts_with("plaq") || path.contains("backend::trace::") {
        return None;
    }
    path = path.replace("<impl ", "").replace("::{{closure}}", "");
    let mut depth = 0;
    let plain = |c: &char| {
        depth += i32::from(*c == '<') - i32::from(*c == '>');
        depth == 0 && *c != '>'
    };
    // Removes type arguments, and the closing bracket of an `impl`.
    let path: String = match path.matches('<').count() == path.matches('>').count() {
        true => path.chars().filter(plain).collect(),
        false => path.replace('>', ""),
    };
    let parts: Vec<&str> = path.split("::").filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [.., function] if function.starts_with("plaq_") => Some(function.to_string()),
        [.., of, function] => Some(format!("{of}::{function}")),
        _ => Some(path.clone()),
    }
}

/// The first words of the lines in the fenced block after a heading of ARCHITECTURE.md.
fn listed(heading: &str) -> Vec<String> {
    let page = include_str!("../../../ARCHITECTURE.md");
    let (_, after) = page.split_once(&format!("\n## {heading}\n")).expect("the heading");
    let block = after.split("```").nth(1).expect("a block");
    let words = block.lines().filter_map(|line| line.split_whitespace().next());
    words.map(str::to_string).collect()
}

#[test]
fn architecture_lists_the_functions_of_a_solve_and_of_a_set_up() {
    if env!("OPT_LEVEL") != "0" {
        return println!("skipped: functions are inlined here");
    }
    let (mut solve, mut set_up) = (vec![], vec![]);
    // SAFETY: structs are initialised, handles are those of objects that live.
    unsafe {
        let mut of = init(plaq_context_params_init);
        // The number of PLAQ_DEVICE_CPU.
        of.device = Number::new(1);
        of.threads = 1;
        let mut context = crate::capi::context::plaq_context::NONE;
        assert_eq!(plaq_context_create(&of, &mut context), 0);
        let mut of = init(plaq_gauge_params_init);
        of.extents = EXTENTS;
        let mut gauge = plaq_gauge::NONE;
        assert_eq!(plaq_gauge_create(context, &of, &mut gauge), 0);
        assert_eq!(plaq_gauge_unit(gauge), 0);
        let mut of = init(plaq_dirac_params_init);
        of.kappa = 0.11;
        let mut dirac = plaq_dirac::NONE;
        assert_eq!(plaq_dirac_create(context, gauge, &of, &mut dirac), 0);
        let mut of = init(plaq_spinor_params_init);
        of.extents = EXTENTS;
        let [mut x, mut b] = [plaq_spinor::NONE; 2];
        assert_eq!(plaq_spinor_create(context, &of, &mut x), 0);
        assert_eq!(plaq_spinor_create(context, &of, &mut b), 0);
        let source = init(crate::capi::hadron::plaq_source_params_init);
        assert_eq!(crate::capi::hadron::plaq_spinor_source(b, &source), 0);
        let of = init(plaq_solver_params_init);
        let mut solver = plaq_solver::NONE;
        assert_eq!(plaq_solver_create(dirac, &of, &mut solver), 0);
        let callback = plaq_progress_callback(None);
        solve.extend(traced("hop", 64, || {
            let done =
                plaq_solver_solve(solver, x, b, callback, null_mut(), null_mut(), null_mut());
            assert_eq!(done, 0);
        }));
        let of = init(plaq_multigrid_params_init);
        let mut multigrid = plaq_multigrid::NONE;
        set_up.extend(traced("hop", 256, || {
            assert_eq!(plaq_multigrid_create(dirac, &of, callback, null_mut(), &mut multigrid), 0);
        }));
        assert_eq!(plaq_context_destroy(context), 0);
    }
    let of_iteration = |traces: &[Backtrace]| {
        let mut all = traces.iter().map(functions);
        all.find(|names| {
            names.windows(2).any(|two| two[0].ends_with("::run") && two[1] == "EvenOdd::apply")
        })
        .expect("a hop of an iteration")
    };
    let (solve, set_up) = (of_iteration(&solve), of_iteration(&set_up));
    println!("{}\n\n{}", solve.join("\n"), set_up.join("\n"));
    assert!(solve.len() <= MAX_FUNCTIONS, "{} functions", solve.len());
    assert_eq!(solve, listed("A solve"));
    assert_eq!(set_up, listed("A multigrid set-up"));
}
