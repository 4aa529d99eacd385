//! Tests of tables of parameters and of the program's options: text, TOML, C, ranges.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::hash::Hash;

use plaq::app::options::{Command, CommandRequest, Need, Options};
use plaq::app::{Failure, COMMANDS};
use plaq::capi::context::ContextParams;
use plaq::capi::laplace::LaplacianParams;
use plaq::capi::layout::LayoutParams;
use plaq::compose::multigrid::{Coarsest, Cycle, MultigridParams};
use plaq::compose::SolverSettings;
use plaq::fields::{BoundaryParams, Precision};
use plaq::operators::QuarkParams;
use plaq::ops::distillation::modes::ModesSettings;
use plaq::ops::distillation::noise::NoiseInModes;
use plaq::ops::flow::{FlowParams, FlowReport};
use plaq::ops::gaugefix::GaugeFixing;
use plaq::ops::hmc::gauge_params::GaugeActionParams;
use plaq::ops::hmc::quarks::{ChainSettings, Quarks};
use plaq::ops::hmc::{RunReport, TrajectoryReport};
use plaq::ops::link_smearing::LinkSmearing;
use plaq::ops::overlap_settings::{OverlapSettings, OverlapSolving};
use plaq::ops::quark_flow::QuarkFlowParams;
use plaq::ops::quenched::HeatBath;
use plaq::ops::smearing::QuarkSmearing;
use plaq::ops::source::{SequentialParams, SourceParams};
use plaq::ops::structure::loops::LoopsParams;
use plaq::params::{flat, CStruct, InC, Key, Parameters, Report, ToC, Type, Value};
use plaq::solvers::{EigenReport, EigenSettings};

#[test]
fn defaults_survive_text_and_c() {
    let plain = MultigridParams::default();
    let mut other = MultigridParams { seed: 7, ..Default::default() };
    for row in flat(MultigridParams::ROWS) {
        if row.name != "block" {
            other.set(row.name, &(row.default)()).unwrap();
        }
        assert!(!row.help().is_empty() && row.help().ends_with('.'), "{}", row.name);
    }
    assert_eq!(other, plain);
    assert_eq!(MultigridParams::from_c(&plain.to_c(), "params").unwrap(), plain);
    let mut changed = plain.clone();
    for (name, text) in [
        ("cycle", "v"),
        ("deep_cycle", "w"),
        ("coarsest", "direct"),
        ("coarsest_modes", "12"),
        ("gather", "0"),
        ("smoother_precision", "half"),
        ("link_precision", "quarter"),
        ("omega", "1e-3"),
        ("domain", "2,4,4,2"),
        ("levels", "3"),
    ] {
        changed.set(name, text).unwrap();
        assert_eq!(changed.get(name).unwrap().parse::<f64>().ok(), text.parse().ok(), "{name}");
    }
    assert_eq!((changed.cycle, changed.deep_cycle), (Cycle::V, Some(Cycle::W)));
    assert_eq!((changed.coarsest, changed.coarsest_modes), (Coarsest::Direct, Some(12)));
    assert_eq!((changed.gather, changed.levels, changed.omega), (Some(0), Some(3), 1e-3));
    assert_eq!((changed.smoother_precision, changed.domain), (Some(Precision::F16), [2, 4, 4, 2]));
    assert_eq!(MultigridParams::from_c(&changed.to_c(), "params").unwrap(), changed);
}

/// One value applies to all levels, unless it is a block; the last value of a list applies to all further levels.
#[test]
fn values_of_levels_are_lists() {
    let mut p = MultigridParams::default();
    p.set("post", "8").unwrap();
    p.set("vectors", "24,32").unwrap();
    p.set("block", "4,4,4,4:2,2,1,2").unwrap();
    assert_eq!(p.level.each_ref().map(|level| level.post), [8; 4]);
    assert_eq!(p.level.each_ref().map(|level| level.vectors), [24, 32, 32, 32]);
    let blocks = [[4; 4], [2, 2, 1, 2], [0; 4], [0; 4]];
    assert_eq!(p.level.each_ref().map(|level| level.block), blocks);
    let mut q = MultigridParams::default();
    let toml = "post = 8\nvectors = [24, 32]\nblock = [[4, 4, 4, 4], [2, 2, 1, 2]]\n";
    q.clone_from(&toml::from_str(toml).unwrap());
    assert_eq!(p, q);
}

#[test]
fn wrong_values_are_named_with_their_line() {
    for (line, words) in [
        ("setup_columns = 257", "setup_columns: expected 0 to 256, found 257"),
        ("setup_columns = -1", "whole number, not negative"),
        ("setup_columns = \"many\"", "setup_columns: expected 0 to 256, found \"many\""),
        ("tol = 1.0", "tol: expected a number between 0 and 1, found 1"),
        ("cycle = \"x\"", "cycle: expected one of v, w, k, found x"),
        ("gather = \"all\"", "gather"),
        ("gather = -2", "whole number, not negative, or auto"),
        ("block = [1, 2, 3]", "block: expected 4 values, found 3"),
        ("post = [1, 2, 3, 4, 5]", "post: expected values of at most 4, found 5"),
        ("columns = 3", "unknown key `columns`, expected one of levels, cycle, block, vectors"),
    ] {
        let text = format!("refinements = 2\n{line}\n");
        let said = toml::from_str::<MultigridParams>(&text).unwrap_err().to_string();
        assert!(said.contains(words) && said.contains("line 2"), "{line}: {said}");
    }
    let mut c = MultigridParams::default().to_c();
    c.level[1].post = -1;
    let said = MultigridParams::from_c(&c, "params").unwrap_err().to_string();
    assert!(said.contains("params.level[1].post: expected 0 to 10000, found -1"), "{said}");
}

/// Tables of all parameters are complete: descriptions with a full stop, and defaults that are the same after
/// conversion to text and to C.
#[test]
fn every_table_is_whole() {
    fn whole<P: InC + PartialEq + std::fmt::Debug>(unset: &[&str]) {
        let mut params = P::default();
        for row in flat(P::ROWS) {
            assert!(row.help().ends_with('.') && row.help().len() > 6, "{}: {}", P::NAME, row.name);
            if !unset.contains(&row.name) {
                params.set(row.name, &(row.default)()).unwrap();
            }
        }
        let same = P::from_c(&P::default().to_c(), "params");
        match unset.is_empty() {
            true => assert_eq!((same.unwrap(), params), (P::default(), P::default())),
            false => assert!(same.is_err() || unset == ["smearing_alpha"] || unset == ["alpha"]),
        }
    }
    whole::<SolverSettings>(&[]);
    whole::<EigenSettings>(&[]);
    whole::<GaugeFixing>(&[]);
    whole::<ChainSettings>(&[]);
    whole::<Quarks>(&[]);
    whole::<OverlapSolving>(&[]);
    whole::<OverlapSettings>(&["smearing_alpha"]);
    whole::<LinkSmearing>(&["alpha"]);
    whole::<FlowParams>(&["time"]);
    whole::<HeatBath>(&["beta"]);
    whole::<QuarkSmearing>(&["alpha"]);
    whole::<SourceParams>(&[]);
    whole::<SequentialParams>(&[]);
    whole::<GaugeActionParams>(&[]);
    whole::<NoiseInModes>(&[]);
    whole::<ContextParams>(&[]);
    whole::<LayoutParams>(&[]);
}

/// Keys of settings depend on every row of their table, and on each number of a row that has several.
#[test]
fn keys_depend_on_every_row() {
    fn distinct<P: Parameters + Hash + std::fmt::Debug>() {
        for row in flat(P::ROWS) {
            let default = (row.default)();
            let given: Vec<&str> = default.split(',').collect();
            let values = ["0", "1", "2", "3", "4", "0.5", "0.25", "1.5", "1e-7"];
            let mut texts = Vec::new();
            for value in row.words().into_iter().chain(values) {
                texts.push(value.to_string());
                if let Type::Array(_, n) = row.ty {
                    texts.push(vec![value; n].join(","));
                    texts.extend((0..given.len()).map(|i| {
                        let mut one = given.clone();
                        one[i] = value;
                        one.join(",")
                    }));
                }
            }
            let mut settings = HashMap::from([(format!("{:?}", P::default()), P::default())]);
            for text in texts {
                let mut other = P::default();
                if other.set(row.name, &text).is_ok() {
                    settings.insert(format!("{other:?}"), other);
                }
            }
            let keys: HashSet<Key> = settings.values().map(Key::of).collect();
            assert!(settings.len() > 1, "{}: another value of {}", P::NAME, row.name);
            assert_eq!(keys.len(), settings.len(), "{}: {}", P::NAME, row.name);
        }
    }
    distinct::<BoundaryParams>();
    distinct::<ChainSettings>();
    distinct::<ContextParams>();
    distinct::<EigenSettings>();
    distinct::<FlowParams>();
    distinct::<GaugeActionParams>();
    distinct::<GaugeFixing>();
    distinct::<HeatBath>();
    distinct::<LaplacianParams>();
    distinct::<LayoutParams>();
    distinct::<LinkSmearing>();
    distinct::<LoopsParams>();
    distinct::<ModesSettings>();
    distinct::<MultigridParams>();
    distinct::<NoiseInModes>();
    distinct::<OverlapSettings>();
    distinct::<OverlapSolving>();
    distinct::<QuarkFlowParams>();
    distinct::<QuarkParams>();
    distinct::<Quarks>();
    distinct::<QuarkSmearing>();
    distinct::<SequentialParams>();
    distinct::<SolverSettings>();
    distinct::<SourceParams>();
}

/// A name of an earlier version is refused with a message that gives the present name.
#[test]
fn old_names_are_refused_with_the_present_ones() {
    let e = SolverSettings::default().set("algorithm", "cg").unwrap_err();
    assert_eq!(e.message(), "algorithm: its name is solver now");
    let said = toml::from_str::<SolverSettings>("algorithm = \"cg\"").unwrap_err().to_string();
    assert!(said.contains("key `algorithm`: its name is solver now"), "{said}");
}

/// A message about a number out of range names the host's argument.
#[test]
fn structs_of_c_are_checked() {
    let mut c = SolverSettings::default().to_c();
    let said = |c| SolverSettings::from_c(&c, "params").unwrap_err().message();
    c.columns = 13;
    assert_eq!(said(c), "params.columns: expected 0 to 12, found 13");
    (c.columns, c.initial_guess) = (12, 2);
    assert_eq!(said(c), "params.initial_guess: expected 0 or 1, found 2");
    let mut fixing = GaugeFixing::default().to_c();
    fixing.omega = 2.0;
    let e = GaugeFixing::from_c(&fixing, "params").unwrap_err();
    assert_eq!(e.message(), "params.omega: expected 1 to below 2, found 2");
    (fixing.omega, fixing.seed) = (1.7, -1);
    assert_eq!(GaugeFixing::from_c(&fixing, "params").unwrap().seed, u64::MAX);
}

/// Names of a report's rows, which are those of its struct of C.
fn rows_of<R: ToC>(report: &R) -> Vec<&'static str>
where
    R::C: CStruct,
{
    let rows: Vec<_> = report.values().into_iter().map(|(name, _)| name).collect();
    let members = R::C::FIELDS.iter().map(|field| field.name).filter(|name| *name != "struct_size");
    assert_eq!(rows, members.collect::<Vec<_>>());
    rows
}

/// A report has the same rows in Rust, in C and in JSON; a value that is absent is -1 in C and null in JSON.
#[test]
fn reports_have_the_same_rows_everywhere() {
    let flow = FlowReport { steps: 3, ..Default::default() }.totals(2.0);
    assert_eq!(rows_of(&flow)[..2], ["time", "t0_clover"]);
    let c = flow.to_c();
    assert_eq!((c.t0_clover, c.w0_plaquette, c.steps, c.seconds), (-1.0, -1.0, 3, 2.0));
    let of = |name| flow.values().into_iter().find(|(row, _)| *row == name).unwrap().1;
    assert_eq!((of("t0_clover"), of("steps")), (Value::Absent, Value::Whole(3)));
    assert!(serde_json::to_value(of("t0_clover")).unwrap().is_null());

    let search = EigenReport::default();
    assert!(rows_of(&search).contains(&"stopped_by"));
    assert_eq!(search.to_c().stopped_by.0, -1);
    let twice = EigenReport { values: vec![1.5], largest: 2.0, from: 0.25, ..search }.scaled(2.0);
    assert_eq!((&twice.values[..], twice.largest, twice.from), (&[3.0][..], 4.0, 0.5));

    let first = TrajectoryReport { trajectory: 3, ..Default::default() };
    let last = TrajectoryReport {
        trajectory: 4,
        accepted: true,
        delta_h: 0.5,
        reversibility_links: Some(1e-9),
        seconds: 7.0,
        ..Default::default()
    };
    let run = RunReport::default().and(&first).and(&last);
    let (rows, all) = (rows_of(&run), run.values());
    assert!(last.values().iter().all(|row| all.contains(row)) && rows.contains(&"trajectories"));
    assert_eq!((run.trajectories, run.acceptances, run.next_trajectory), (2, 1, 5));
    assert!((run.exp_minus_delta_h - (1.0 + (-0.5f64).exp()) / 2.0).abs() < 1e-15);
    let c = run.to_c();
    assert_eq!((c.reversibility_links, c.reversibility_hamiltonian, c.accepted), (1e-9, -1.0, 1));
}

/// The parsed options of a subcommand from the words after its name.
fn parsed(command: &'static Command, words: &[&str]) -> Result<CommandRequest, Failure> {
    Options::parse(command, &words.iter().map(OsString::from).collect::<Vec<_>>())
}

/// Names of options are unique, defaults are values that their options accept, and options that others need exist.
#[test]
fn tables_of_options_are_consistent() {
    let mut needs = 0;
    for command in COMMANDS {
        let rows: Vec<_> = command.options().collect();
        let names: Vec<&str> =
            rows.iter().flat_map(|o| [o.name, o.old]).filter(|n| !n.is_empty()).collect();
        for (k, name) in names.iter().enumerate() {
            assert!(!names[..k].contains(name), "{} --{name}", command.name);
        }
        for o in &rows {
            assert!(o.help().len() > 10, "{} --{}", command.name, o.name);
            let default = o.default();
            let value = format!("--{}={default}", o.name);
            let found = (!default.is_empty()).then(|| parsed(command, &[&value]));
            if let Some(Err(Failure::Usage(text))) = found {
                let alone = o.needs.is_empty();
                assert!(!alone && text.contains("only with"), "{}: {text}", command.name);
            }
            for need in o.needs.iter().copied().flatten() {
                let (Need::With(other) | Need::Without(other) | Need::Is(other, _)) = need;
                // Tables that several subcommands share name options that some of these do not have.
                let all = COMMANDS.iter().flat_map(|c| c.options());
                let row = rows.iter().copied().chain(all).find(|r| r.name == *other);
                let row = row.unwrap_or_else(|| panic!("{} --{other}", command.name));
                if let (Need::Is(_, words), known @ [_, ..]) = (need, &*row.words()) {
                    let is = |w: &&str| known.contains(w);
                    assert!(words.iter().all(is), "{} --{other} {words:?}", command.name);
                }
                needs += 1;
            }
        }
    }
    assert!(needs > 40, "{needs}");
}

#[test]
fn options_stand_anywhere() {
    let command = COMMANDS.iter().find(|c| c.name == "propagator").expect("a subcommand");
    let words = ["a", "--kappa=0.1", "--overwrite", "--json", "x", "b", "--solver", "mg"];
    let Ok(CommandRequest::Work(options)) = parsed(command, &words) else { panic!("{words:?}") };
    assert_eq!(options.inputs().expect("two files"), ["a", "b"]);
    assert!(options.flag("overwrite") && options.text("solver") == "multigrid");
    assert!(options.number("kappa") == 0.1 && !options.given("csw"));
}
