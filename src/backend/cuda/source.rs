//! The source text that is passed to NVRTC for a kernel: defines for the launch shape and the constants of the call,
//! the kernel's header, and the line that instantiates it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::backend::args::{cpp_args, Specs};
use crate::backend::families::{self, Kernel};

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/kernel_sources.rs"));
}

/// Launch shape of a kernel: number of threads per block, and number of blocks that a multiprocessor must be able to
/// hold at a time; together they limit the registers of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LaunchShape {
    pub block: u32,
    pub min_blocks: u32,
}

/// Name of the header with argument structs and constants.
const ARGS: &str = "plaq_args.h";

pub struct Source {
    pub symbol: String,
    pub text: String,
    /// The defines on one line, for messages.
    pub defines: String,
    pub headers: &'static Headers,
}

/// A kernel header with all headers that it needs.
pub struct Headers {
    /// Names and texts of the headers.
    pub texts: Vec<(&'static str, &'static str)>,
    hash: blake3::Hash,
}

impl Source {
    pub fn new(kernel: &Kernel, params: &[&str], specs: &Specs, shape: LaunchShape) -> Source {
        let mut defines = vec![
            (String::from("PLAQ_NS"), String::from("plaq_gpu")),
            (String::from("PLAQ_BLOCK"), shape.block.to_string()),
            (String::from("PLAQ_MIN_BLOCKS"), shape.min_blocks.to_string()),
            (String::from("PLAQ_OVERLAPS"), i32::from(kernel.overlapping).to_string()),
        ];
        defines.extend(specs.iter().map(|(name, value)| (name.to_string(), value.to_string())));
        let mut text = String::new();
        for (name, value) in &defines {
            let _ = writeln!(text, "#define {name} {value}");
        }
        let _ = writeln!(text, "#include \"{}\"\nnamespace PLAQ_NS {{", kernel.header);
        text.push_str(&families::instantiate(kernel, params, 1, 1));
        text.push_str("}\n");
        let defines: Vec<String> = defines.iter().map(|(n, v)| format!("{n}={v}")).collect();
        Source {
            symbol: families::symbol(kernel, params),
            text,
            defines: defines.join(" "),
            headers: headers_of(kernel.header),
        }
    }

    /// Hash of the source text, without the headers.
    pub fn text_hash(&self) -> blake3::Hash {
        blake3::hash(self.text.as_bytes())
    }

    /// Hash of everything that determines the compiled kernel: source, headers, options, architecture and version of
    /// NVRTC.
    pub fn hash(&self, arch: i32, nvrtc: (i32, i32)) -> blake3::Hash {
        let mut h = blake3::Hasher::new();
        let mut part = |s: &str| {
            h.update(&(s.len() as u64).to_le_bytes());
            h.update(s.as_bytes());
        };
        part(&self.text);
        part(&self.headers.hash.to_hex());
        options(arch).iter().for_each(|o| part(o));
        part(&format!("nvrtc {}.{}", nvrtc.0, nvrtc.1));
        h.finalize()
    }
}

/// The kernel headers: those built into the library or, for work on kernels without rebuilding plaq, the files in the
/// folder PLAQ_KERNELS.
fn headers() -> &'static [(&'static str, &'static str)] {
    static HEADERS: OnceLock<Vec<(&'static str, &'static str)>> = OnceLock::new();
    HEADERS.get_or_init(|| {
        let folder = std::env::var_os("PLAQ_KERNELS").map(std::path::PathBuf::from);
        let text = |name: &str| std::fs::read_to_string(folder.as_ref()?.join(name)).ok();
        let replaced = |&(name, built_in): &(&'static str, &'static str)| match text(name) {
            Some(text) => (name, &*text.leak()),
            None => (name, built_in),
        };
        embedded::HEADERS.iter().map(replaced).collect()
    })
}

/// A kernel header with all headers that it includes, and only those argument structs and constants that they name.
/// NVRTC then has less to parse, and a kernel is compiled again only if one of its own headers changes.
fn headers_of(header: &'static str) -> &'static Headers {
    static KNOWN: Mutex<BTreeMap<&str, &Headers>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(header).or_insert_with(|| {
        let text = |name: &str| headers().iter().find(|h| h.0 == name).map_or("", |h| h.1);
        let (mut open, mut seen) = (vec![header, "plaq_dialect.h"], BTreeSet::from([ARGS]));
        let mut words = BTreeSet::new();
        while let Some(name) = open.pop() {
            if !seen.insert(name) {
                continue;
            }
            words.extend(text(name).split(|c: char| !c.is_alphanumeric() && c != '_'));
            let lines = text(name).lines().filter_map(|l| l.trim().strip_prefix("#include \""));
            open.extend(lines.map(|l| l.trim_end_matches('"')));
        }
        let built_in = |name| embedded::HEADERS.iter().any(|h| h.0 == name && h.1 == text(name));
        let few =
            |&(name, text): &(&'static str, &'static str)| match name == ARGS && built_in(name) {
                true => (name, &*cpp_args(&|word| words.contains(word)).leak()),
                false => (name, text),
            };
        let included = headers().iter().filter(|(name, _)| seen.contains(name));
        let texts: Vec<_> = included.map(few).collect();
        let mut h = blake3::Hasher::new();
        for text in texts.iter().flat_map(|(name, text)| [name, text]) {
            h.update(&(text.len() as u64).to_le_bytes());
            h.update(text.as_bytes());
        }
        Box::leak(Box::new(Headers { texts, hash: h.finalize() }))
    })
}

/// Options of the compiler: machine code for the real architecture, so that the driver does not compile again;
/// precise division and square root; fused multiply-add.
pub fn options(arch: i32) -> Vec<String> {
    vec![
        format!("--gpu-architecture=sm_{arch}"),
        String::from("-std=c++17"),
        String::from("--fmad=true"),
        String::from("--ptxas-options=-v"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only the hop, which has extents as constants, uses the number of sites; kernels without extents have no
    /// constant for it.
    #[test]
    fn only_the_hop_asks_for_the_size_of_fields() {
        let reads = |text: &str| text.matches(".volume()").count();
        let all = embedded::HEADERS.iter().map(|(name, text)| (*name, reads(text)));
        let mut readers: Vec<_> = all.filter(|(_, n)| *n > 0).collect();
        readers.sort_unstable();
        // No kernel reads the number of sites from a plane (`Plane::volume`).
        assert_eq!(readers, [("field.h", 1), ("wilson.h", 1)]);
        let of_planes = |text: &str| text.contains(".volume;") || text.contains(".volume ");
        assert!(!embedded::HEADERS.iter().any(|(_, text)| of_planes(text)));
    }
}
