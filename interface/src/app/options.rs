//! Options of the program. Each is a row of a table, from which parsing, `--help` and the refusal of options without
//! effect follow.

use std::ffi::OsString;

use lexopt::{Arg, Parser};

use super::{Failure, Run};
use crate::params::{self, Parameters, Row};
pub use crate::params::{same_word, suggestion};

/// The kind of value that an option takes, with its range.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A value that may be any text.
    Text,
    /// The name of an input file, or several.
    Input,
    /// The name of an output file, with its allowed endings; an empty list: any.
    Output(&'static [&'static str]),
    /// A finite number.
    Number,
    /// A whole number in the given range, ends included.
    Whole(i64, i64),
    /// One of the words in the list; a word may be followed by `=` and an older spelling of it.
    Word(&'static [&'static str]),
    /// `yes` or `no`; the option without a value means yes.
    Flag,
    /// A row of a table of parameters, which determines values, default and help.
    Param(Param),
}

/// A row of a table of parameters.
#[derive(Clone, Copy)]
pub struct Param {
    table: &'static str,
    row: &'static Row,
    /// True if 0 stands for the default.
    zero: bool,
    /// Function that refuses text which is not a value of the parameter.
    check: fn(&str, &str, &str) -> crate::error::Result<()>,
}

/// A condition for an option to have an effect; of a list of conditions one must hold. Options that the subcommand
/// does not have count as not given.
#[derive(Clone, Copy)]
pub enum Need {
    /// The option of this name is given, and not with the value no.
    With(&'static str),
    /// The option of this name has one of these values, given or as its default.
    Is(&'static str, &'static [&'static str]),
    /// The option of this name is not given.
    Without(&'static str),
}

/// A row of a table of options.
#[derive(Clone, Copy)]
pub struct Opt {
    /// Name of the option, without its dashes.
    pub name: &'static str,
    /// An older spelling of the name; empty: none.
    pub old: &'static str,
    /// The row of a table of parameters that the option sets, with values of the option's own.
    pub sets: Option<&'static Row>,
    pub kind: Kind,
    /// Name of the value in the text of `--help`.
    pub value: &'static str,
    /// The default, spelled as on the command line; empty: none.
    pub default: &'static str,
    pub needs: &'static [&'static [Need]],
    pub help: &'static str,
}

/// A whole number from 0 to the largest of 32 bits.
pub const COUNT: Kind = Kind::Whole(0, i32::MAX as i64);
/// A whole number from 0 on.
pub const LONG: Kind = Kind::Whole(0, 9_000_000_000_000_000);
/// Names of file formats.
pub const FORMATS: &[&str] = &["nersc", "nersc_3x3", "ildg", "milc", "openqcd", "ddalphaamg"];

pub const fn opt(
    name: &'static str,
    kind: Kind,
    value: &'static str,
    default: &'static str,
    help: &'static str,
) -> Opt {
    Opt { name, old: "", sets: None, kind, value, default, needs: &[], help }
}

/// An option for a row of a table of parameters; see [`Options::params`].
pub const fn param<P: Parameters>(name: &'static str, row: &'static Row) -> Opt {
    let check = |row: &str, text: &str, argument: &str| {
        let done = P::default().set_row(row, text, argument);
        done.expect("a row of the table")
    };
    opt(name, Kind::Param(Param { table: P::NAME, row, zero: false, check }), "", "", "")
}

impl Opt {
    pub const fn old(self, old: &'static str) -> Opt {
        Opt { old, ..self }
    }

    /// A copy of this option that sets the parameter `row` of a table, with its own kind of values instead of that of
    /// the row.
    pub const fn sets(self, row: &'static Row) -> Opt {
        Opt { sets: Some(row), ..self }
    }

    /// A copy of this option with the default `default` in place of the parameter's.
    pub const fn or(self, default: &'static str) -> Opt {
        Opt { default, ..self }
    }

    /// A copy of this option for which the value 0 means the default.
    pub const fn zero(self) -> Opt {
        match self.kind {
            Kind::Param(of) => Opt { kind: Kind::Param(Param { zero: true, ..of }), ..self },
            _ => self,
        }
    }

    /// A copy of this option with conditions under which it has an effect: one condition of every list must hold.
    pub const fn needs(self, needs: &'static [&'static [Need]]) -> Opt {
        Opt { needs, ..self }
    }

    /// The row of a table of parameters that the option sets.
    fn row(&self) -> Option<&'static Row> {
        match self.kind {
            Kind::Param(of) => Some(of.row),
            _ => self.sets,
        }
    }

    /// Whether the option's value is yes or no.
    fn is_flag(&self) -> bool {
        match self.kind {
            Kind::Flag => true,
            Kind::Param(of) => of.row.kind == params::Kind::Flag,
            _ => false,
        }
    }

    /// The words that are allowed as values, in their present spelling; empty if other values are allowed.
    pub fn words(&self) -> Vec<&'static str> {
        match self.kind {
            Kind::Word(words) => words.iter().map(|w| spelling(w)).collect(),
            Kind::Param(of) if of.row.kind == params::Kind::Word => of.row.words(),
            _ if self.is_flag() => vec!["no", "yes"],
            _ => vec![],
        }
    }

    /// Name of the value in `--help`.
    pub fn placeholder(&self) -> &'static str {
        match self.kind {
            Kind::Param(of) if of.row.is_list() => "LIST",
            Kind::Param(of) => match of.row.kind {
                params::Kind::Word => "WORD",
                params::Kind::Flag => "B",
                params::Kind::Set => "WORDS",
                _ => "N",
            },
            _ => self.value,
        }
    }

    /// The default, spelled as on the command line; empty: none.
    pub fn default(&self) -> String {
        match self.kind {
            Kind::Param(of) if self.default.is_empty() => match (of.row.default)() {
                yes if self.is_flag() => if yes == "true" { "yes" } else { "no" }.into(),
                // NaN means that the option must be given.
                text if text == "NaN" => String::new(),
                text => text,
            },
            _ => self.default.into(),
        }
    }

    pub fn help(&self) -> String {
        let Kind::Param(of) = self.kind else { return self.help.into() };
        let mut text = crate::error::spelled(&of.row.help(), &super::word);
        // The row has no default of its own, but the option has.
        if !self.default.is_empty() {
            text = text.replace(" It must be set.", "");
        }
        match of.row.values() {
            values if values.is_empty() || self.is_flag() => text,
            values => format!("{} ({values})", text.trim_end_matches('.')),
        }
    }
}

/// A subcommand of the program.
pub struct Command {
    pub name: &'static str,
    /// Text after the name in the line "usage:".
    pub usage: &'static [&'static str],
    /// Description for `--help`; its first line is also shown in the list of subcommands.
    pub about: &'static [&'static str],
    pub tables: &'static [&'static [Opt]],
    /// The option to which file names without an option belong.
    pub input: Option<&'static str>,
    pub example: &'static str,
    pub run: fn(Options) -> Run<i32>,
}

impl Command {
    pub fn options(&self) -> impl Iterator<Item = &'static Opt> + use<'_> {
        self.tables.iter().flat_map(|t| t.iter())
    }

    /// The option that a wrong name was probably meant to be: the one of the parameter of this name, or one with a
    /// similar spelling.
    fn meant(&self, name: &str) -> Option<&'static str> {
        let parameter = name.replace('-', "_");
        match self.options().find(|o| o.row().is_some_and(|r| r.name == parameter)) {
            Some(option) => Some(option.name),
            None => suggestion(name, self.options().map(|o| o.name)),
        }
    }

    pub fn help(&self) -> String {
        let mut text = String::new();
        for (k, usage) in self.usage.iter().enumerate() {
            let begin = if k == 0 { "usage:" } else { "      " };
            text += &format!("{begin} plaq {} {usage}\n", self.name);
        }
        for line in self.about {
            text += &format!("{line}\n");
        }
        for o in self.options() {
            let mut words: Vec<String> = o.help().split(' ').map(String::from).collect();
            let default = o.default();
            if !default.is_empty() {
                words.push(format!("[{default}]"));
            }
            let head = format!("  --{} {}", o.name, o.placeholder());
            let mut line = format!("{head:<24}");
            if head.len() > 23 {
                line += " ";
            }
            for word in words {
                if line.len() + word.len() > 104 {
                    text += &format!("{}\n", line.trim_end());
                    line = " ".repeat(24);
                }
                line += &word;
                line += " ";
            }
            text += &format!("{}\n", line.trim_end());
        }
        text + &format!("  --help, -h, --version\nexample: plaq {}\n", self.example)
    }
}

fn meant(found: Option<&str>, dashes: &str) -> String {
    found.map_or(String::new(), |w| format!("did you mean {dashes}{w}?"))
}

/// A usage error: `found` is not a value of option `name`, which requires `expected`.
pub fn refuse(name: &str, found: &str, expected: impl std::fmt::Display) -> Failure {
    Failure::usage(format!("--{name}: {found}; expected {expected}"))
}

/// Refuses a word that is not in a list.
pub fn not_a_word(name: &str, found: &str, words: &[&str]) -> Failure {
    let hint = meant(suggestion(found, words.iter().copied()), "");
    let space = if hint.is_empty() { "" } else { " " };
    let list = words.join(", ");
    Failure::usage(format!("--{name}: {found}; {hint}{space}expected one of {list}"))
}

/// Parses N numbers separated by commas.
pub fn numbers<T: std::str::FromStr, const N: usize>(text: &str) -> Option<[T; N]> {
    let all: Option<Vec<T>> = text.split(',').map(|w| w.trim().parse().ok()).collect();
    all?.try_into().ok()
}

/// Parses N whole numbers separated by commas, each at least `least`.
pub fn integers<const N: usize>(name: &str, text: &str, least: i64) -> Run<[i64; N]> {
    let found = numbers::<i64, N>(text);
    let fits = |n: &[i64; N]| n.iter().all(|n| (least..=1 << 20).contains(n));
    found.filter(fits).ok_or_else(|| {
        let sign = match (least < 0, N) {
            (true, _) => "",
            (false, 1) => ", not negative",
            _ => ", none negative",
        };
        let what = match N {
            1 => "a whole number".into(),
            _ => format!("{N} whole numbers with commas between"),
        };
        refuse(name, text, format!("{what}{sign}"))
    })
}

/// Splits `text`, the value of option `name`, at colons.
pub fn items<'a>(name: &str, text: &'a str) -> Run<Vec<&'a str>> {
    let all: Vec<&str> = text.split(':').collect();
    match all.iter().any(|item| item.is_empty()) {
        true => Err(refuse(name, text, "a short text between two colons")),
        false => Ok(all),
    }
}

/// Largest number of momenta in an option.
const MOMENTA: usize = 256;

/// The option `--momenta`.
pub const fn momenta_option(default: &'static str, help: &'static str) -> Opt {
    opt("momenta", Kind::Text, "P[:P...]", default, help)
}

/// The momenta nx,ny,nz in `--momenta`, separated by colons.
pub fn momenta(options: &Options) -> Run<Vec<[i32; 3]>> {
    let one = |item| Ok(integers::<3>("momenta", item, -65536)?.map(|n| n as i32));
    let all = items("momenta", options.text("momenta"))?;
    options.check("momenta", all.len() <= MOMENTA, "at most 256")?;
    all.into_iter().map(one).collect()
}

/// The options given on a command line.
pub struct Options {
    command: &'static Command,
    /// For each given option its row in the table, its spelling and its value.
    given: Vec<(&'static Opt, String, String)>,
    /// The defaults of all options.
    defaults: Vec<String>,
    /// File names that were given without an option.
    files: Vec<String>,
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "plaq {}", self.command.name)
    }
}

/// The request of a command line: to run, to print help, or to print the version.
pub enum CommandRequest {
    Help,
    Version,
    Work(Options),
}

/// An argument of the command line, or the name of a file, as text.
fn text_of(value: OsString) -> Run<String> {
    value.into_string().map_err(|value| {
        Failure::usage(format!(
            "{value:?}: expected a name in UTF-8, found other bytes; a symbolic link gives a file a second name"
        ))
    })
}

/// The word that a text spells, in capitals or not; `None`: it is something else, such as the name of a file.
pub fn word_of(text: &str, words: &[&'static str]) -> Option<&'static str> {
    words.iter().copied().find(|word| same_word(word, text))
}

impl Options {
    pub fn parse(command: &'static Command, arguments: &[OsString]) -> Run<CommandRequest> {
        let defaults = command.options().map(Opt::default).collect();
        let mut all = Options { command, given: vec![], defaults, files: vec![] };
        let mut parser = Parser::from_args(arguments);
        while let Some(arg) = parser.next().map_err(|e| Failure::usage(e.to_string()))? {
            let name = match arg {
                Arg::Long("help") | Arg::Short('h') => return Ok(CommandRequest::Help),
                Arg::Long("version") => return Ok(CommandRequest::Version),
                Arg::Long(name) => name.to_string(),
                Arg::Short(letter) => {
                    return Err(Failure::usage(format!("unknown option: -{letter}")))
                }
                Arg::Value(file) => {
                    all.files.push(text_of(file)?);
                    continue;
                }
            };
            if let Some(row) = command.options().find(|o| !o.old.is_empty() && o.old == name) {
                let new = row.name;
                return Err(Failure::usage(format!("--{name}: its name is --{new} now")));
            }
            let Some(row) = command.options().find(|o| o.name == name) else {
                let hint = meant(command.meant(&name), "--");
                let colon = if hint.is_empty() { "" } else { ": " };
                return Err(Failure::usage(format!("unknown option: --{name}{colon}{hint}")));
            };
            let alone = match (row.is_flag(), parser.optional_value()) {
                (_, Some(value)) => Some(value),
                (true, None) => {
                    let next = parser.try_raw_args().and_then(|r| r.peek().map(|v| v.to_owned()));
                    match next.filter(|v| !v.to_string_lossy().starts_with("--")) {
                        Some(_) => None,
                        None => Some("yes".into()),
                    }
                }
                (_, None) => None,
            };
            let value =
                match alone {
                    Some(value) => value,
                    None => parser.raw_args().ok().and_then(|mut r| r.next()).ok_or_else(|| {
                        Failure::usage(format!("an option needs a value: --{name}"))
                    })?,
                };
            if all.given.iter().any(|(o, ..)| o.name == row.name) {
                return Err(Failure::usage(format!("an option is given twice: --{name}")));
            }
            let value = text_of(value)?;
            let value = checked(row, &name, value)?;
            all.given.push((row, name, value));
        }
        if command.input.is_none() {
            if let Some(file) = all.files.first() {
                let hint = suggestion(file, command.options().map(|o| o.name));
                let hint = hint.map_or(String::new(), |w| format!(": did you mean --{w}?"));
                return Err(Failure::usage(format!("unknown option: {file}{hint}")));
            }
        }
        all.check_needs()?;
        Ok(CommandRequest::Work(all))
    }

    fn check_needs(&self) -> Run<()> {
        for (row, name, _) in self.given.iter().filter(|(o, ..)| self.has(o.name)) {
            for needs in row.needs {
                if needs.iter().any(|need| self.holds(need)) {
                    continue;
                }
                let words = needs.iter().map(|need| match need {
                    Need::With(other) | Need::Without(other) => format!("--{other}"),
                    Need::Is(other, values) => {
                        let values: Vec<&str> = values.iter().map(|v| spelling(v)).collect();
                        format!("--{other} {}", values.join(" or "))
                    }
                });
                let words: Vec<String> = words.collect();
                let how = if matches!(needs[0], Need::Without(_)) { "not" } else { "only" };
                let with = words.join(" or ");
                return Err(Failure::usage(format!("--{name}: {how} with {with}")));
            }
        }
        Ok(())
    }

    fn holds(&self, need: &Need) -> bool {
        match need {
            Need::With(other) => self.has(other),
            Need::Without(other) => !self.has(other),
            Need::Is(other, values) => {
                let value = self.get(other);
                values.iter().any(|v| Some(*v) == value)
            }
        }
    }

    /// The value of an option, or its default; None if there is neither.
    pub fn get(&self, name: &str) -> Option<&str> {
        let row = self.command.options().position(|o| o.name == name);
        let row =
            row.unwrap_or_else(|| panic!("plaq {} has no option --{name}", self.command.name));
        let given = self.given.iter().find(|(o, ..)| o.name == name);
        let value = given.map_or(&*self.defaults[row], |(_, _, v)| v);
        Some(value).filter(|v| !v.is_empty())
    }

    /// The parameters of a table, with the values of the options.
    pub fn params<P: Parameters>(&self) -> Run<P> {
        let mut params = P::default();
        for option in self.command.options() {
            let Kind::Param(of) = option.kind else { continue };
            let text = self.get(option.name).unwrap_or_default();
            if of.table == P::NAME && (self.given(option.name) || !option.default.is_empty()) {
                let name = format!("--{}", self.spelt(option.name));
                let done = params.set_row(of.row.name, text, &name);
                done.expect("a row of the table")
                    .map_err(|e| Failure::usage(crate::app::in_words(&e)))?;
            }
        }
        Ok(params)
    }

    /// Whether the option is given.
    pub fn given(&self, name: &str) -> bool {
        self.given.iter().any(|(o, ..)| o.name == name)
    }

    /// Whether the option is given, and not with the value no.
    pub fn has(&self, name: &str) -> bool {
        let off = |v: &str| matches!(v, "" | "no" | "none" | "0");
        self.given(name) && !off(self.get(name).unwrap_or_default())
    }

    pub fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    /// The name of the option as it was spelled on the command line.
    pub fn spelt<'a>(&'a self, name: &'a str) -> &'a str {
        self.given.iter().find(|(o, ..)| o.name == name).map_or(name, |(_, s, _)| s)
    }

    pub fn required(&self, name: &str) -> Run<&str> {
        self.get(name).ok_or_else(|| Failure::usage(format!("--{name}: missing")))
    }

    pub fn number(&self, name: &str) -> f64 {
        self.get(name).and_then(|v| v.parse().ok()).unwrap_or(f64::NAN)
    }

    /// A number that is required.
    pub fn required_number(&self, name: &str) -> Run<f64> {
        self.required(name).map(|_| self.number(name))
    }

    pub fn whole(&self, name: &str) -> i64 {
        whole_of(self.text(name)).unwrap_or_default()
    }

    pub fn flag(&self, name: &str) -> bool {
        self.get(name) == Some("yes")
    }

    /// An error if a number does not satisfy the condition `fits`.
    pub fn check(&self, name: &str, fits: bool, expected: &str) -> Run<()> {
        match fits {
            true => Ok(()),
            false => Err(Failure::usage(format!(
                "--{}: expected {expected}, found {}",
                self.spelt(name),
                self.text(name)
            ))),
        }
    }

    /// The options that name output files, with these names.
    pub fn outputs(&self) -> impl Iterator<Item = (&str, &str)> {
        let given = self.given.iter().filter(|(o, ..)| matches!(o.kind, Kind::Output(_)));
        given.map(|(o, _, value)| (o.name, value.as_str()))
    }

    /// Pairs of an option and an input file. Files without an option belong to the command's input option.
    pub fn read(&self) -> impl Iterator<Item = (&str, &str)> {
        let given = self.given.iter().filter(|(o, ..)| matches!(o.kind, Kind::Input));
        let input = self.command.input.unwrap_or_default();
        let files = self.files.iter().map(move |file| (input, file.as_str()));
        given.map(|(o, _, value)| (o.name, value.as_str())).chain(files)
    }

    /// The input files: those given without an option, and those given by the command's input option.
    pub fn inputs(&self) -> Run<Vec<String>> {
        let name = self.command.input.expect("a command with inputs");
        let named = self.get(name).map(String::from);
        if named.is_some() && !self.files.is_empty() {
            return Err(Failure::usage(format!(
                "--{name}: {}; expected files after it or with it, not both",
                self.text(name)
            )));
        }
        let all: Vec<String> = named.into_iter().chain(self.files.iter().cloned()).collect();
        match all.is_empty() {
            true => Err(Failure::usage(format!("--{name}: missing"))),
            false => Ok(all),
        }
    }

    /// The only input file.
    pub fn input(&self) -> Run<String> {
        let mut all = self.inputs()?;
        match all.len() {
            1 => Ok(all.remove(0)),
            _ => Err(Failure::usage(format!("{}: expected one file", all[1]))),
        }
    }
}

/// The present spelling of a word of [`Kind::Word`].
fn spelling(word: &str) -> &str {
    word.split('=').next().unwrap_or(word)
}

/// Parses a whole number, also in the form 1e6.
pub fn whole_of(text: &str) -> Option<i64> {
    let value: f64 = text.parse().ok()?;
    let fits = value.fract() == 0.0 && value.abs() <= 9e15;
    text.parse().ok().or(fits.then_some(value as i64))
}

/// Checks the value of an option; words are returned in their present spelling.
fn checked(row: &Opt, name: &str, value: String) -> Run<String> {
    match row.kind {
        Kind::Text | Kind::Input => {}
        Kind::Output(ends) if !ends.is_empty() && !ends.iter().any(|e| value.ends_with(e)) => {
            return Err(refuse(name, &value, format!("a name that ends in {}", ends.join(" or "))))
        }
        Kind::Output(_) => {}
        Kind::Number if value.parse().is_ok_and(f64::is_finite) => {}
        Kind::Number => return Err(refuse(name, &value, "a number")),
        Kind::Whole(least, max) => match whole_of(&value) {
            None if least < 0 => return Err(refuse(name, &value, "a whole number")),
            None => return Err(refuse(name, &value, "a whole number, not negative")),
            Some(n) if n < least && least == 0 => {
                return Err(refuse(name, &value, "a whole number, not negative"))
            }
            Some(n) if n < least => {
                return Err(refuse(name, &value, format!("a whole number, {least} or more")))
            }
            Some(n) if n > max => return Err(refuse(name, &value, format!("at most {max}"))),
            Some(_) => {}
        },
        Kind::Flag | Kind::Param(_) if !row.words().is_empty() => {
            let Some(found) = row.words().into_iter().find(|w| same_word(w, &value)) else {
                return Err(not_a_word(name, &value, &row.words()));
            };
            return Ok(found.into());
        }
        Kind::Flag => {}
        Kind::Param(of) if of.zero && value == "0" => return Ok(row.default()),
        Kind::Param(of) => (of.check)(of.row.name, &value, &format!("--{name}"))
            .map_err(|e| Failure::usage(crate::app::in_words(&e)))?,
        Kind::Word(words) => {
            let is = |w: &&&str| w.split('=').any(|s| same_word(s, &value));
            let Some(found) = words.iter().find(is) else {
                return Err(not_a_word(name, &value, &row.words()));
            };
            return Ok(spelling(found).to_string());
        }
    }
    Ok(value)
}
