//! The rules of ARCHITECTURE.md that a compiler does not check: dependencies point down and make no
//! circles, `unsafe` stays at the edges, files stay short, every kernel header is used.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// For each top-level module the modules that it may use besides itself.
const ALLOWED: &[(&str, &str)] = &[
    ("error", ""),
    ("params", "error"),
    ("library", "error"),
    ("io", "error params library"),
    ("backend", "error params library"),
    ("comm", "error"),
    ("fields", "error params backend comm"),
    ("linop", "error params backend comm fields"),
    ("operators", "error params backend comm fields linop"),
    ("solvers", "error params backend comm fields linop"),
    ("compose", "error params backend comm fields linop operators solvers"),
    ("ops", "error params io backend comm fields linop operators solvers compose"),
    ("app", "error params io backend comm fields linop operators solvers compose ops"),
    ("capi", "error params io backend comm fields linop operators solvers compose ops"),
    ("program", "app capi"),
];

const MAY_BE_UNSAFE: &[&str] = &["backend", "comm", "capi", "program"];
const LONGEST_FILE: usize = 800;
/// Folders with the sources of the core, and with those of the C interface and the program.
const CRATES: [&str; 2] = ["src", "interface/src"];

struct Source {
    path: PathBuf,
    /// Module path from the crate root, e.g. ["backend", "cpu"]; empty for lib.rs.
    module: Vec<String>,
    /// Text without comments, strings and characters.
    code: String,
    /// The contents of its string literals, without raw ones.
    strings: Vec<String>,
}

fn root() -> PathBuf {
    PathBuf::from(env!("SOURCE_TREE"))
}

fn files(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    fn walk(dir: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
        let Ok(entries) = fs::read_dir(dir) else { return };
        for entry in entries {
            let path = entry.expect("readable entry").path();
            if path.is_dir() {
                walk(&path, extensions, found);
            } else if path.extension().is_some_and(|e| extensions.iter().any(|x| e == *x)) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&root().join(folder), extensions, &mut found);
    found.sort();
    found
}

fn sources() -> Vec<Source> {
    let read = |base: &str, path: PathBuf| {
        let inside = path.strip_prefix(root().join(base)).expect("found there").with_extension("");
        let mut module: Vec<String> =
            inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if matches!(module.last().map(String::as_str), Some("mod" | "lib")) {
            module.pop();
        }
        let (code, strings) = split(&fs::read_to_string(&path).expect("readable source"));
        Source { path, module, code, strings }
    };
    let below = |base| files(base, &["rs"]).into_iter().map(move |path| read(base, path));
    CRATES.into_iter().flat_map(below).collect()
}

/// Rust or C++ text without comments and the contents of literals.
fn strip(text: &str) -> String {
    split(text).0
}

/// Rust or C++ text without comments and the contents of literals, and the strings between quotation marks.
fn split(text: &str) -> (String, Vec<String>) {
    let c: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut strings = vec![];
    let mut i = 0;
    while i < c.len() {
        let next = c.get(i + 1).copied().unwrap_or(' ');
        let word_before = i > 0 && (c[i - 1].is_alphanumeric() || c[i - 1] == '_');
        if c[i] == '/' && next == '/' {
            while i < c.len() && c[i] != '\n' {
                i += 1;
            }
        } else if c[i] == '/' && next == '*' {
            let mut depth = 0;
            while i < c.len() {
                match (c[i], c.get(i + 1)) {
                    ('/', Some('*')) => (depth, i) = (depth + 1, i + 2),
                    ('*', Some('/')) => (depth, i) = (depth - 1, i + 2),
                    _ => i += 1,
                }
                if depth == 0 {
                    break;
                }
            }
        } else if c[i] == 'r' && !word_before && (next == '"' || next == '#') {
            let hashes = c[i + 1..].iter().take_while(|x| **x == '#').count();
            if c.get(i + 1 + hashes) == Some(&'"') {
                let end: Vec<char> = std::iter::once('"').chain(vec!['#'; hashes]).collect();
                i += 2 + hashes;
                while i < c.len() && !c[i..].starts_with(&end) {
                    i += 1;
                }
                i += end.len();
            } else {
                out.push(c[i]);
                i += 1;
            }
        } else if c[i] == '"' {
            i += 1;
            let start = i;
            while i < c.len() && c[i] != '"' {
                i += if c[i] == '\\' { 2 } else { 1 };
            }
            strings.push(c[start..i.min(c.len())].iter().collect());
            i += 1;
        } else if c[i] == '\'' && next == '\\' {
            i += 3;
            while i < c.len() && c[i] != '\'' {
                i += 1;
            }
            i += 1;
        } else if c[i] == '\'' && c.get(i + 2) == Some(&'\'') {
            i += 3;
        } else {
            out.push(c[i]);
            i += 1;
        }
    }
    (out, strings)
}

/// Splits code into identifiers and single punctuation marks; `::` is one token.
fn tokens(code: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut chars = code.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_alphanumeric() || c == '_' {
            let mut word = String::from(c);
            while let Some(&n) = chars.peek().filter(|n| n.is_alphanumeric() || **n == '_') {
                word.push(n);
                chars.next();
            }
            out.push(word);
        } else if c == ':' && chars.peek() == Some(&':') {
            chars.next();
            out.push("::".into());
        } else if !c.is_whitespace() {
            out.push(c.into());
        }
    }
    out
}

/// First path segments after `crate::`, or after enough `super::` to reach the crate's root, with braces resolved.
fn root_items(source: &Source) -> BTreeSet<String> {
    let tokens = tokens(&source.code);
    let at = |i: usize| tokens.get(i).map_or("", String::as_str);
    let mut found = BTreeSet::new();
    let mut i = 0;
    while i < tokens.len() {
        let mut supers = 0;
        let mut j = i;
        while at(j) == "super" && at(j + 1) == "::" {
            (supers, j) = (supers + 1, j + 2);
        }
        if at(j) == "crate" && at(j + 1) == "::" {
            j += 2;
        } else if supers == 0 || supers != source.module.len() {
            i = j.max(i + 1);
            continue;
        }
        if at(j) == "{" {
            let mut depth = 1;
            let mut first = true;
            j += 1;
            while depth > 0 && j < tokens.len() {
                match at(j) {
                    "{" => depth += 1,
                    "}" => depth -= 1,
                    "," if depth == 1 => first = true,
                    word if first => {
                        found.insert(word.to_string());
                        first = false;
                    }
                    _ => {}
                }
                j += 1;
            }
        } else {
            found.insert(at(j).to_string());
        }
        i = j;
    }
    found
}

/// Exported macros with the modules that define them: such macros live at the crate's root.
fn exported_macros(sources: &[Source]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for source in sources {
        let t = tokens(&source.code);
        for (i, word) in t.iter().enumerate() {
            if word == "macro_export" {
                let rest = &t[i..];
                if let Some(k) = rest.iter().position(|w| w == "macro_rules") {
                    let module = source.module.first().cloned().unwrap_or_default();
                    found.insert(rest[k + 2].clone(), module);
                }
            }
        }
    }
    found
}

/// Messages about one file's imports of modules that its module may not use.
fn arrows(source: &Source, macros: &BTreeMap<String, String>) -> Vec<String> {
    let Some(layer) = source.module.first() else { return vec![] };
    let Some((_, below)) = ALLOWED.iter().find(|(name, _)| name == layer) else {
        return vec![format!("{}: module {layer} is in no layer", source.path.display())];
    };
    root_items(source)
        .into_iter()
        .map(|item| macros.get(&item).cloned().unwrap_or(item))
        .filter(|item| ALLOWED.iter().any(|(name, _)| name == item))
        .filter(|item| item != layer && !below.split(' ').any(|name| name == item))
        .map(|item| format!("{}: {layer} may not use {item}", source.path.display()))
        .collect()
}

#[test]
fn dependencies_point_down() {
    let sources = sources();
    assert!(sources.len() > 10, "src/ was not found");
    let macros = exported_macros(&sources);
    assert_eq!(macros.get("bail").map(String::as_str), Some("error"));
    let wrong: Vec<String> = sources.iter().flat_map(|s| arrows(s, &macros)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The paths of a tree of imports that begins at token i, and where it ends.
fn tree(t: &[String], mut i: usize, prefix: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let at = |i: usize| t.get(i).map_or("", String::as_str);
    let mut path = prefix.to_vec();
    loop {
        if at(i) == "{" {
            i += 1;
            while i < t.len() && at(i) != "}" {
                i = tree(t, i, &path, found);
                while at(i) != "," && at(i) != "}" && i < t.len() {
                    i += 1;
                }
                i += (at(i) == ",") as usize;
            }
            return i + 1;
        }
        match at(i) {
            "self" => {}
            "super" => _ = path.pop(),
            name => path.push(name.into()),
        }
        if at(i + 1) != "::" {
            found.push(path);
            return i + 1;
        }
        i += 2;
    }
}

/// Paths that begin with `crate`, `super` or `self`, from the crate's root, with braces resolved. Paths that begin
/// with `$crate` are left out: the files that call the macro import what it names.
fn paths(source: &Source) -> Vec<Vec<String>> {
    // Unit tests, the last part of a file, do not count.
    let code = source.code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let tokens = tokens(code);
    let at = |i: usize| tokens.get(i).map_or("", String::as_str);
    let (mut found, mut i) = (Vec::new(), 0);
    while i < tokens.len() {
        let begins = at(i + 1) == "::" && (i == 0 || !["$", "::"].contains(&at(i - 1)));
        i = match at(i) {
            "crate" if begins => tree(&tokens, i + 2, &[], &mut found),
            "super" | "self" if begins => tree(&tokens, i, &source.module, &mut found),
            _ => i + 1,
        };
    }
    found
}

/// Names under which a file re-exports items, with the paths of these items.
fn reexports(source: &Source) -> BTreeMap<String, Vec<String>> {
    let code = source.code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let tokens = tokens(code);
    let mut found = Vec::new();
    for i in (0..tokens.len()).filter(|&i| tokens[i] == "use") {
        match tokens.get(i + 1).map(String::as_str) {
            Some("crate") => _ = tree(&tokens, i + 3, &[], &mut found),
            _ => _ = tree(&tokens, i + 1, &source.module, &mut found),
        }
    }
    found.into_iter().filter_map(|path| Some((path.last()?.clone(), path))).collect()
}

/// For each file the numbers of the files that it imports from; an item that another file re-exports counts as
/// imported from the file that defines it. A `mod.rs` and the files below its folder are left out among themselves:
/// it re-exports their items, and they use the items that they share.
fn imports(sources: &[Source]) -> Vec<BTreeSet<usize>> {
    let numbers: BTreeMap<&[String], usize> =
        sources.iter().enumerate().map(|(n, s)| (s.module.as_slice(), n)).collect();
    let shown: Vec<_> = sources.iter().map(reexports).collect();
    let home = |mut path: Vec<String>| {
        let mut last = None;
        // Follows an item through a chain of files that re-export it, up to eight of them.
        for _ in 0..8 {
            let Some(n) = (1..=path.len()).rev().find(|&n| numbers.contains_key(&path[..n])) else {
                break;
            };
            let file = numbers[&path[..n]];
            last = Some(file);
            match path.get(n).and_then(|name| shown[file].get(name)) {
                Some(other) => path = [&other[..], &path[n + 1..]].concat(),
                None => break,
            }
        }
        last
    };
    let of = |source: &Source| {
        let files = paths(source).into_iter().filter_map(home);
        let family = |a: &[String], b: &[String]| a.starts_with(b) || b.starts_with(a);
        files.filter(|&n| !family(&sources[n].module, &source.module)).collect()
    };
    sources.iter().map(of).collect()
}

/// For each file that lies on a circle of imports, a path from it back to itself.
fn circles(imports: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let circle = |start: usize| {
        let mut ways = vec![vec![start]];
        let mut seen = BTreeSet::new();
        let mut next = 0;
        while next < ways.len() {
            let way = ways[next].clone();
            for &to in &imports[*way.last().expect("a start")] {
                if to == start {
                    return Some(way);
                }
                if seen.insert(to) {
                    ways.push([&way[..], &[to]].concat());
                }
            }
            next += 1;
        }
        None
    };
    (0..imports.len()).filter_map(circle).collect()
}

#[test]
fn no_circles_of_modules() {
    let sources = sources();
    let imports = imports(&sources);
    assert!(imports.iter().map(BTreeSet::len).sum::<usize>() > 100, "nothing is imported");
    let named = |way: Vec<usize>| {
        let names: Vec<String> = way.iter().map(|&n| sources[n].module.join("/")).collect();
        names.join(" -> ")
    };
    let wrong: Vec<String> = circles(&imports).into_iter().map(named).collect();
    assert!(wrong.is_empty(), "files that import each other:\n{}", wrong.join("\n"));
}

#[test]
fn unsafe_stays_at_the_edges() {
    let wrong: Vec<String> = sources()
        .iter()
        .filter(|s| !s.module.first().is_some_and(|m| MAY_BE_UNSAFE.contains(&m.as_str())))
        // io/hdf5 opens a library of C at run time.
        .filter(|s| s.module != ["io", "hdf5"])
        .filter(|s| tokens(&s.code).iter().any(|t| t == "unsafe"))
        .map(|s| format!("{}: unsafe outside {MAY_BE_UNSAFE:?}", s.path.display()))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_stay_short() {
    let mut wrong = Vec::new();
    for folder in
        ["src", "interface", "tools", "kernels", "tests", "benches", "examples-c", "bindings"]
    {
        for path in files(folder, &["rs", "h", "c", "f90", "py", "sh"]) {
            let lines = fs::read_to_string(&path).expect("readable file").lines().count();
            // The modules of Fortran and Python are generated from the C header and grow with it.
            let generated = ["bindings/fortran", "bindings/python/plaq/capi.py"];
            let generated = generated.iter().any(|file| path.starts_with(root().join(file)));
            if lines > LONGEST_FILE && !generated {
                wrong.push(format!("{}: {lines} lines", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "longer than {LONGEST_FILE} lines:\n{}", wrong.join("\n"));
}

/// Files of the modules of a test program, tests/PROGRAM.rs: `mod name;`, with a path where it is a folder.
fn modules_of(program: &str) -> Vec<PathBuf> {
    let folder = root().join("tests");
    let text = fs::read_to_string(folder.join(program)).expect("a test program");
    let (mut found, mut named) = (Vec::new(), None);
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("#[path = \"").and_then(|l| l.strip_suffix("\"]")) {
            named = Some(folder.join(path));
        } else if let Some(name) = line.strip_prefix("mod ").and_then(|l| l.strip_suffix(';')) {
            let plain = [format!("{name}.rs"), format!("{name}/mod.rs")].map(|p| folder.join(p));
            found.extend(named.take().or_else(|| plain.into_iter().find(|p| p.exists())));
        }
    }
    found
}

#[test]
fn every_test_belongs_to_a_program() {
    let programs = ["device.rs", "host.rs", "program.rs"];
    let tests: BTreeSet<PathBuf> = programs.iter().flat_map(|p| modules_of(p)).collect();
    let folder = root().join("tests");
    let entries =
        fs::read_dir(&folder).expect("tests").map(|entry| entry.expect("an entry").path());
    let files = entries.flat_map(|path| [path.join("main.rs"), path.join("mod.rs"), path]);
    let sources = files.filter(|path| path.extension().is_some_and(|e| e == "rs") && path.exists());
    let missing: Vec<PathBuf> = sources
        .filter(|path| !tests.contains(path) && !programs.iter().any(|p| path == &folder.join(p)))
        .collect();
    assert!(tests.len() > 20 && missing.is_empty(), "modules of no test program: {missing:?}");
}

/// The kit's tests run on machines without the source tree: they find their data from the folder that they run in, as
/// `cargo test` tests do.
#[test]
fn tests_of_the_kit_do_not_look_where_they_were_built() {
    let mut sources = Vec::new();
    for path in modules_of("device.rs").into_iter().chain(modules_of("program.rs")) {
        match path.file_name().is_some_and(|name| name == "main.rs" || name == "mod.rs") {
            true => {
                sources.extend(files(&path.parent().expect("a folder").to_string_lossy(), &["rs"]))
            }
            false => sources.push(path),
        }
    }
    // Only tests that need a compiler, which are not in the kit, use this file.
    sources.retain(|path| !path.ends_with("common/programs.rs"));
    assert!(sources.len() > 20, "tests/device.rs names tests");
    let mut wrong = Vec::new();
    for path in sources {
        let text = fs::read_to_string(&path).expect("readable source");
        for (n, line) in text.lines().enumerate() {
            // Configurations beside the source tree are a guess for want of PLAQ_CONFIGS, and compilers
            // run where the sources are.
            let excused = ["beside", "current_dir"].iter().any(|word| line.contains(word));
            if line.contains("SOURCE_TREE") && !excused {
                wrong.push(format!("{}:{}", path.display(), n + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Types whose values the constants of the C header stand for: `PLAQ_X = 1 => Type::Value`, and types of `choices!`
/// that leave messages to the type: `names Type: plaq_x {`.
fn types_of_constants(source: &Source) -> BTreeSet<String> {
    let t = tokens(&source.code);
    let at = |i: usize| t.get(i).map_or("", String::as_str);
    let means = |i: usize| {
        let number = i + 2 + (at(i + 2) == "-") as usize;
        at(i).starts_with("PLAQ_")
            && at(i + 1) == "="
            && (at(number + 1), at(number + 2)) == ("=", ">")
    };
    let values = (0..t.len()).filter(|&i| means(i)).flat_map(|i| {
        let end = (i..t.len()).find(|&j| at(j) == ",").unwrap_or(t.len());
        (i..end).filter(|&j| at(j + 1) == "::" && at(j).starts_with(char::is_uppercase))
    });
    let named = (0..t.len()).filter(|&i| at(i) == "names" && (at(i + 2), at(i + 4)) == (":", "{"));
    values.chain(named.map(|i| i + 1)).map(|j| t[j].clone()).collect()
}

/// Whether messages have words for a type. Without `Debug` they cannot spell its values as Rust does.
fn has_words(sources: &[Source], name: &str) -> bool {
    let spelt = |t: &[String]| t[0] == "words" && t[2] == "(" && t[3] == name;
    let bare = |source: &Source| {
        let t = tokens(&source.code);
        let place = t.windows(2).position(|w| (w[0].as_str(), w[1].as_str()) == ("enum", name));
        source.module.first().is_some_and(|m| m == "capi")
            && place.is_some_and(|i| {
                let before = t[..i].iter().rev().take_while(|w| !["}", ";"].contains(&w.as_str()));
                before.into_iter().all(|w| w != "Debug")
            })
    };
    sources.iter().any(|s| tokens(&s.code).windows(4).any(spelt) || bare(s))
}

/// Whether a text for users holds Rust's names of precisions and storages, or its exponents (1.00e0; `significant`
/// writes numbers). Single words that name kernels do not count.
fn rust_spelling(text: &str) -> bool {
    let exponent =
        |rest: &str| rest.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with("e}");
    if text.match_indices(":.").any(|(at, _)| exponent(&text[at + 2..])) {
        return true;
    }
    let names = ["f64", "f32", "f16", "F64", "F32", "F16", "R18", "R12", "R8"];
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    text.contains(' ') && words.any(|word| names.contains(&word))
}

#[test]
fn messages_speak_as_the_header_does() {
    let sources = sources();
    // Types that are not enums: bits of a mask, levels of a log, and members of a file's header.
    let no_enums = ["Gamma", "LevelFilter", "Some"];
    let types: BTreeSet<String> = sources.iter().flat_map(types_of_constants).collect();
    assert!(types.len() > 20, "constants were not found: {types:?}");
    let mut wrong: Vec<String> = types
        .iter()
        .filter(|name| !no_enums.contains(&name.as_str()) && !has_words(&sources, name))
        .map(|name| format!("{name}: no words! for messages, or derive(Debug) in capi"))
        .collect();
    let header = fs::read_to_string(root().join("include/plaq.h")).expect("a header");
    let variables = fs::read_to_string(root().join("docs/environment.md")).expect("its page");
    let quda = fs::read_to_string(root().join("include/quda/quda.h")).expect("a header");
    let named: BTreeSet<String> =
        [header, variables, quda].iter().flat_map(|text| tokens(text)).collect();
    for source in sources.iter().filter(|s| s.module.last().is_none_or(|m| m != "tests")) {
        for text in &source.strings {
            if rust_spelling(text) {
                wrong.push(format!("{}: Rust's names in {text:?}", source.path.display()));
            }
            for word in tokens(text) {
                // Macros of kernels are named by the back end alone.
                let own = source.module.first().is_some_and(|m| m == "backend");
                let complete = !own && word.starts_with("PLAQ_") && !word.ends_with('_');
                if complete && !named.contains(&word) {
                    wrong.push(format!("{}: nothing is called {word}", source.path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_order_of_the_header_has_a_formula() {
    let header = fs::read_to_string(root().join("include/plaq.h")).expect("a header");
    let page = fs::read_to_string(root().join("docs/layouts.md")).expect("a page");
    let rows: BTreeSet<&str> =
        page.lines().filter_map(|l| l.strip_prefix("| `")?.split('`').next()).collect();
    let prefixes = ["PLAQ_ORDER_", "PLAQ_STORAGE_"];
    let of_header = |word: &String| prefixes.iter().any(|p| word.starts_with(p));
    let words: BTreeSet<String> = tokens(&strip(&header)).into_iter().filter(of_header).collect();
    assert!(words.len() > 15, "{words:?}");
    let missing: Vec<&String> = words.iter().filter(|w| !rows.contains(w.as_str())).collect();
    assert!(missing.is_empty(), "docs/layouts.md has no row of {missing:?}");
    let page: BTreeSet<String> = tokens(&page).into_iter().filter(of_header).collect();
    let unknown: Vec<&String> = page.difference(&words).collect();
    assert!(unknown.is_empty(), "docs/layouts.md: the header has no {unknown:?}");
}

/// Names of environment variables in a file: strings of a program that consist of such a name, and variables whose
/// value a script uses.
fn variables(path: &Path, text: &str) -> BTreeSet<String> {
    let python = path.extension().is_some_and(|e| e == "py");
    let script = python || path.extension().is_none_or(|e| e == "sh");
    let whole = |w: &String| {
        w.len() > 5 && w.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    };
    let found: Vec<String> = if script {
        let before = if python { "environ.get(\"" } else { "$" };
        let after = text.split(before).skip(1).map(|rest| rest.trim_start_matches('{'));
        after
            .filter_map(|rest| {
                tokens(&rest[..rest.find('\n').unwrap_or(rest.len())]).into_iter().next()
            })
            .collect()
    } else {
        split(text).1
    };
    found.into_iter().filter(|w| w.starts_with("PLAQ_") && !w.ends_with('_') && whole(w)).collect()
}

#[test]
fn every_variable_has_a_line() {
    let read = |path: &PathBuf| fs::read_to_string(path).expect("readable file");
    let page = read(&root().join("docs/environment.md"));
    let documented: BTreeSet<String> =
        tokens(&page).into_iter().filter(|w| w.starts_with("PLAQ_")).collect();
    // Constants of the headers and macros of the kernels are not environment variables.
    let mut other = BTreeSet::new();
    for path in [files("include", &["h"]), files("kernels", &["h"])].concat() {
        other.extend(tokens(&read(&path)));
    }
    let mut used = BTreeSet::new();
    let folders = ["src", "interface", "tools", "tests", "benches", "scripts", "examples-c", "mpi"];
    let mut paths: Vec<PathBuf> =
        folders.iter().flat_map(|f| files(f, &["rs", "c", "h", "sh"])).collect();
    paths.extend(["bindings", "tests"].iter().flat_map(|f| files(f, &["py"])));
    paths.extend(["build.rs", "Makefile", ".ci/run"].map(|name| root().join(name)));
    paths.retain(|path| !path.ends_with("tests/architecture.rs"));
    for path in paths {
        let found = variables(&path, &read(&path));
        used.extend(found.into_iter().filter(|name| !other.contains(name)));
    }
    assert!(used.len() > 30, "{used:?}");
    let missing: Vec<&String> = used.difference(&documented).collect();
    assert!(missing.is_empty(), "docs/environment.md does not tell of {missing:?}");
    let parameters = |w: &&String| !used.contains(*w) && !other.contains(*w);
    let stale: Vec<&String> = documented.iter().filter(parameters).collect();
    assert!(stale.is_empty(), "docs/environment.md: nothing uses {stale:?}");
}

/// Line numbers of comments on items whose first word, or the first word below a heading, is a preposition or a
/// relative pronoun: such a comment does not say what it is about.
fn headless(text: &str) -> Vec<usize> {
    const FIRST: [&str; 12] =
        ["Of", "That", "Those", "Whose", "As", "Which", "In", "By", "With", "To", "From", "At"];
    let comment = |line: &str| line.trim_start().strip_prefix("///").map(|c| c.trim().to_string());
    let lines: Vec<Option<String>> = text.lines().map(comment).collect();
    let begins = |i: usize| i == 0 || lines[i - 1].as_deref().is_none_or(|l| l.starts_with("# "));
    let first = |line: &str| line.split_whitespace().next().map(String::from);
    let bad = |i: &usize| {
        let word = lines[*i].as_deref().and_then(first);
        begins(*i) && word.is_some_and(|word| FIRST.contains(&word.as_str()))
    };
    (0..lines.len()).filter(bad).map(|i| i + 1).collect()
}

#[test]
fn comments_on_items_have_a_subject() {
    let mut wrong = vec![];
    for path in CRATES.into_iter().flat_map(|folder| files(folder, &["rs"])) {
        let text = fs::read_to_string(&path).expect("a source");
        wrong.extend(headless(&text).iter().map(|line| format!("{}:{line}", path.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_is_left_for_later() {
    let marks = ["TODO", "FIXME", "XXX", "unimplemented!", "todo!"];
    let mut wrong = Vec::new();
    for folder in ["src", "interface", "tools", "kernels", "benches", "examples-c", "bindings"] {
        for path in files(folder, &["rs", "h", "c", "f90", "py"]) {
            let text = fs::read_to_string(&path).expect("readable file");
            for (n, line) in text.lines().enumerate() {
                if marks.iter().any(|m| line.contains(m)) {
                    wrong.push(format!("{}:{}: {}", path.display(), n + 1, line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every kernel header is named by the table of kernels or included by another header.
#[test]
fn every_kernel_header_is_used() {
    let table = fs::read_to_string(root().join("src/backend/families_table.rs")).expect("a table");
    let headers = files("kernels", &["h"]);
    assert!(!headers.is_empty());
    let texts: Vec<String> =
        headers.iter().map(|h| fs::read_to_string(h).expect("readable header")).collect();
    for header in &headers {
        let quoted = format!("\"{}\"", header.file_name().expect("a file").to_string_lossy());
        let used = table.contains(&quoted)
            || texts.iter().any(|t| t.contains(&format!("#include {quoted}")))
            // build.rs generates plaq_args.h, which includes the dialect.
            || quoted == "\"plaq_dialect.h\"";
        assert!(used, "kernels/{quoted} is used by no kernel");
    }
}

/// Loops with a pragma that follow `else` of an `if constexpr` have braces: NVRTC 13.0 leaves such loops out without
/// them.
#[test]
fn unrolled_loops_after_else_have_braces() {
    for path in files("kernels", &["h"]) {
        let text = std::fs::read_to_string(&path).expect("a file");
        let code: Vec<&str> = text.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
        let words: Vec<&str> = code.iter().flat_map(|line| line.split_whitespace()).collect();
        let bare = words.windows(2).any(|w| w == ["else", "PLAQ_UNROLL"]);
        assert!(!bare, "{}: else PLAQ_UNROLL", path.display());
    }
}

#[test]
fn the_checker_sees_what_it_should() {
    let source = |module: &[&str], text: &str| {
        let (path, (code, strings)) = (PathBuf::from(module.join("/")), split(text));
        Source { path, module: module.iter().map(|m| m.to_string()).collect(), code, strings }
    };
    let macros = BTreeMap::from([("bail".to_string(), "error".to_string())]);
    let bad = |module: &[&str], text: &str| !arrows(&source(module, text), &macros).is_empty();
    assert!(bad(&["fields", "gauge"], "use crate::ops::Plaquette;"));
    assert!(bad(&["fields", "gauge"], "use crate::{error::Result, capi::{A, B}};"));
    assert!(bad(&["operators", "wilson"], "fn f() { super::super::solvers::cg(); }"));
    assert!(bad(&["io"], "use crate::fields::Geometry;"));
    assert!(bad(&["shed", "x"], ""));
    assert!(!bad(&["io"], "use crate::bail; use crate::error::Result;"));
    assert!(!bad(&["fields", "gauge"], "// use crate::ops::A\nlet s = \"crate::ops\";"));
    assert!(!bad(&["ops", "pion"], "use crate::{io::read, compose::{eo, ops}};"));
    let files = [
        source(&["a"], "pub use b::B;"),
        source(&["a", "b"], "use super::{c::{self, C}, A}; use crate::x::Y; self::f();"),
        source(&["a", "c"], "fn f() { crate::x::g(super::d::h) }"),
        source(&["a", "d"], "macro_rules! m { () => { $crate::a::b::B } }"),
        source(&["x"], "use crate::a::d; #[cfg(test)]\nmod tests { use crate::a::b::B; }"),
    ];
    // Files in which a third one sees items that a second one re-exports.
    let shows = [
        source(&["a"], "pub(crate) use b::{m, B}; use x::y::Z;"),
        source(&["a", "b"], "use super::c::C;"),
        source(&["a", "c"], "use super::B; use crate::a::Z;"),
    ];
    assert_eq!(circles(&imports(&shows)), [vec![1, 2], vec![2, 1]]);
    let sets = [vec![], vec![2, 4], vec![3, 4], vec![], vec![3]];
    let found = imports(&files);
    assert_eq!(found, sets.map(BTreeSet::from_iter));
    assert!(circles(&found).is_empty());
    let back = source(&["a", "d"], "use super::b::B;");
    let [a, b, c, _, x] = files;
    let all = circles(&imports(&[a, b, c, back, x]));
    assert_eq!(all, [vec![1, 2, 3], vec![2, 3, 1], vec![3, 1, 2], vec![4, 3, 1]]);
    let table =
        source(&["capi", "a"], "PLAQ_A = 1 => A::X, PLAQ_B = -2 => Some(B::Y), PLAQ_C = 3;");
    assert_eq!(types_of_constants(&table), BTreeSet::from(["A".to_string(), "B".to_string()]));
    let words = |module: &[&str], text: &str| has_words(&[source(module, text)], "A");
    assert!(words(&["fields"], "enum A { X } words!(A { X => \"x\", });"));
    assert!(words(&["capi", "a"], "#[derive(Debug)] struct B; #[derive(Clone)] pub enum A { X }"));
    assert!(!words(&["capi", "a"], "#[derive(Clone, Debug)]\npub enum A { X }"));
    assert!(!words(&["fields"], "#[derive(Clone)]\npub enum A { X }"));
    assert_eq!(source(&["a"], "f(\"b \\\" c\", 'd', \"\")").strings, ["b \\\" c", ""]);
    let names = |file: &str, text: &str| Vec::from_iter(variables(Path::new(file), text)).join(" ");
    assert_eq!(
        names("a.rs", "var(\"PLAQ_A\"), \"PLAQ_B is\", \"PLAQ_SPEC_\" // \"PLAQ_C\""),
        "PLAQ_A"
    );
    assert_eq!(names("a.sh", "x=${PLAQ_A:-1}\n$PLAQ_B $CC PLAQ_C"), "PLAQ_A PLAQ_B");
    assert_eq!(headless("/// Of it.\nx: i32,\n/// A name\n/// of it, Of\ny"), [1]);
    assert_eq!(headless("/// A name.\n/// # Errors\n/// As of it."), [3]);
    assert!(rust_spelling("expected f64 links") && !rust_spelling("f64"));
    assert!(rust_spelling("{worst:.2e}") && !rust_spelling("{:.2}, {tol:e}"));
    let t = tokens(&strip(r##"let a = '"'; unsafe { r#"unsafe"# } /* unsafe /* */ unsafe */"##));
    assert_eq!(t.iter().filter(|w| *w == "unsafe").count(), 1);
}
