//! Completion for shells, and manual pages, from the tables of options.

use std::fmt::Write;

use super::options::{suggestion, Command, Kind, Opt};
use super::{session, Failure, Run, COMMANDS};

/// Shells for which `plaq completion` writes a script.
const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// Names of the subcommands `completion` and `man` with their descriptions in the overview.
pub const ABOUT: [(&str, &str); 2] = [
    ("completion", "prints the completion script of bash, zsh or fish"),
    ("man", "prints the manual page of plaq or of a subcommand, for man -l -"),
];

/// Names of all subcommands.
fn names() -> impl Iterator<Item = &'static str> + Clone {
    COMMANDS.iter().map(|c| c.name).chain(ABOUT.map(|(name, _)| name))
}

/// Names of all subcommands with a sentence about each.
pub fn subcommands() -> impl Iterator<Item = (&'static str, &'static str)> + Clone {
    COMMANDS.iter().map(|c| (c.name, c.about[0])).chain(ABOUT)
}

/// Runs `plaq completion SHELL` or `plaq man [SUBCOMMAND]`; None: it is another subcommand.
pub fn run(name: &str, arguments: &[String]) -> Option<Run<i32>> {
    let work: fn(&[String]) -> Run<String> = match name {
        "completion" => completion,
        "man" => manual,
        _ => return None,
    };
    if arguments.iter().any(|a| a == "--help" || a == "-h") {
        let usage = match name {
            "man" => {
                "usage: plaq man [SUBCOMMAND]\nexample: plaq man propagator | man -l -\n".into()
            }
            _ => format!(
                "usage: plaq completion {}\nexample: source <(plaq completion bash)\n",
                SHELLS.join("|")
            ),
        };
        session::print(&usage);
        return Some(Ok(0));
    }
    Some(work(arguments).map(|text| {
        session::print(&text);
        0
    }))
}

/// The argument of a subcommand that takes exactly one of these words.
fn word<'a>(
    what: &str,
    arguments: &[String],
    words: impl Iterator<Item = &'a str> + Clone,
) -> Run<&'a str> {
    let all: Vec<&str> = words.clone().collect();
    let expected = all.join(", ");
    let [found] = arguments else {
        let expected = format!("expected one of {expected}");
        return Err(Failure::usage(format!("{what}: {expected}, found {}", arguments.len())));
    };
    let known = all.iter().find(|w| *w == found).copied();
    known.ok_or_else(|| {
        let hint =
            suggestion(found, words).map_or(String::new(), |w| format!("did you mean {w}? "));
        Failure::usage(format!("{what}: {found}; {hint}expected one of {expected}"))
    })
}

fn completion(arguments: &[String]) -> Run<String> {
    Ok(match word("completion", arguments, SHELLS.into_iter())? {
        "bash" => bash(),
        "zsh" => zsh(),
        _ => fish(),
    })
}

/// Whether values of the option are names of files.
fn takes_a_file(option: &Opt) -> bool {
    matches!(option.kind, Kind::Input | Kind::Output(_) | Kind::Text)
}

/// The first sentence of an option's help.
fn short(option: &Opt) -> String {
    let help = option.help();
    let end = help.find(". ").or_else(|| help.find("; ")).unwrap_or(help.len());
    help[..end].trim_end_matches('.').replace('\n', " ")
}

fn bash() -> String {
    let all: Vec<&str> = names().collect();
    let all = all.join(" ");
    let mut text = format!(
        "# Completion of plaq for bash: source <(plaq completion bash)\n\
         _plaq() {{\n  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} options= words=\n  \
         if [ \"$COMP_CWORD\" = 1 ]; then\n    \
         mapfile -t COMPREPLY < <(compgen -W \"{all} --help --version\" -- \"$word\")\n    return\n  fi\n  \
         case ${{COMP_WORDS[1]}} in\n    completion) words=\"{}\" ;;\n    man) words=\"{all}\" ;;\n",
        SHELLS.join(" ")
    );
    for c in COMMANDS {
        let options: Vec<String> = c.options().map(|o| format!("--{}", o.name)).collect();
        let _ = writeln!(text, "    {})\n      options=\"{} --help\"", c.name, options.join(" "));
        text += "      case $before in\n";
        for o in c.options().filter(|o| !o.words().is_empty()) {
            let _ = writeln!(text, "        --{}) words=\"{}\" ;;", o.name, o.words().join(" "));
        }
        text += "      esac ;;\n";
    }
    text += "  esac\n  if [ -n \"$words\" ]; then\n    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n  \
             elif [[ $word == -* ]]; then\n    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n  \
             else\n    compopt -o filenames\n    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n  fi\n}\n\
             complete -F _plaq plaq\n";
    text
}

/// Text for use inside of single quotes in a shell; the characters `also` are escaped, too.
fn quoted(text: &str, also: &[char]) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\'' => out += "'\\''",
            c if also.contains(&c) => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

fn zsh() -> String {
    let mark = &['[', ']', ':', '\\'];
    let mut text = "#compdef plaq\n# Completion of plaq for zsh: plaq completion zsh > a folder of fpath/_plaq\n\
                    _plaq() {\n  local -a subcommands\n  subcommands=(\n"
        .to_string();
    for (name, about) in subcommands() {
        let _ = writeln!(text, "    '{name}:{}'", quoted(about, &[]));
    }
    text += "  )\n  if (( CURRENT == 2 )); then\n    _describe subcommand subcommands\n    return\n  fi\n  \
             local subcommand=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $subcommand in\n";
    let _ = writeln!(text, "    completion) _values shell {} ;;", SHELLS.join(" "));
    text += "    man) _describe subcommand subcommands ;;\n";
    for c in COMMANDS {
        let _ = writeln!(text, "    {}) _arguments \\", c.name);
        for o in c.options() {
            let value = match o.words() {
                words if !words.is_empty() => format!("({})", words.join(" ")),
                _ if takes_a_file(o) => "_files".into(),
                _ => " ".into(),
            };
            let about = quoted(&short(o), mark);
            let _ = writeln!(text, "      '--{}[{about}]:{}:{value}' \\", o.name, o.placeholder());
        }
        text += "      '--help' '*:file:_files' ;;\n";
    }
    text + "  esac\n}\n_plaq \"$@\"\n"
}

fn fish() -> String {
    let mut text = "# Completion of plaq for fish: plaq completion fish | source\n".to_string();
    for (name, about) in subcommands() {
        let about = quoted(about, &[]);
        let _ =
            writeln!(text, "complete -c plaq -f -n __fish_use_subcommand -a {name} -d '{about}'");
    }
    let seen = |name: &str| format!("complete -c plaq -n '__fish_seen_subcommand_from {name}'");
    let _ = writeln!(text, "{} -f -a '{}'", seen("completion"), SHELLS.join(" "));
    for c in COMMANDS {
        for o in c.options() {
            let words = o.words();
            let value = match words.is_empty() {
                true if takes_a_file(o) => "-r".into(),
                true => "-x".into(),
                false => format!("-x -a '{}'", words.join(" ")),
            };
            let about = quoted(&short(o), &[]);
            let _ = writeln!(text, "{} -l {} {value} -d '{about}'", seen(c.name), o.name);
        }
    }
    text
}

/// Text escaped for troff.
fn troff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    match text.starts_with(['.', '\'']) {
        true => format!("\\&{text}"),
        false => text,
    }
}

fn manual(arguments: &[String]) -> Run<String> {
    match arguments {
        [] => Ok(overview()),
        _ => {
            let name = word("man", arguments, COMMANDS.iter().map(|c| c.name))?;
            let command = COMMANDS.iter().find(|c| c.name == name);
            Ok(command.map(|c| page(c)).unwrap_or_default())
        }
    }
}

/// The beginning of a manual page of section 1.
fn head(name: &str, about: &str) -> String {
    format!(
        ".TH {} 1 \"\" \"plaq {}\" \"plaq\"\n.SH NAME\n{} \\- {}\n",
        name.to_uppercase(),
        env!("CARGO_PKG_VERSION"),
        troff(name),
        troff(about)
    )
}

const STATUS: &str = ".SH EXIT STATUS\n0: done. 1: refused or failed. 2: wrong options. 3: not converged, or interrupted.\n";

fn overview() -> String {
    let mut text = head("plaq", "lattice QCD: configurations, quarks and hadrons");
    text += ".SH SYNOPSIS\n.B plaq\nSUBCOMMAND [options]\n.SH SUBCOMMANDS\n";
    for (name, about) in subcommands() {
        let _ = write!(text, ".TP\n.B {name}\n{}\n", troff(about));
    }
    text + STATUS
        + ".SH SEE ALSO\n\\fBplaq man\\fR SUBCOMMAND, \\fBplaq\\fR SUBCOMMAND \\fB\\-\\-help\\fR\n"
}

fn page(c: &Command) -> String {
    let mut text = head(&format!("plaq-{}", c.name), c.about[0]);
    text += ".SH SYNOPSIS\n";
    for usage in c.usage {
        let _ = write!(text, ".B plaq {}\n{}\n.br\n", c.name, troff(usage));
    }
    text += ".SH DESCRIPTION\n";
    for line in c.about {
        let _ = writeln!(text, "{}", troff(line));
    }
    text += ".SH OPTIONS\n";
    for o in c.options() {
        let default = match o.default() {
            none if none.is_empty() => none,
            value => format!(" Default: {value}."),
        };
        let help = o.help();
        let end = if help.ends_with(['.', ')']) || default.is_empty() { "" } else { "." };
        let about = troff(&format!("{help}{end}{default}").replace('\n', " "));
        let (name, value) = (troff(&format!("--{}", o.name)), o.placeholder());
        let _ = write!(text, ".TP\n\\fB{name}\\fR \\fI{value}\\fR\n{about}\n");
    }
    let _ = write!(text, ".SH EXAMPLE\n.B plaq {}\n", troff(c.example));
    text + STATUS + ".SH SEE ALSO\n\\fBplaq\\fR(1)\n"
}
