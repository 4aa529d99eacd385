//! Vector fields in a LIME container, each a SciDAC record of one Dirac fermion or colour vector per site, with
//! tables of numbers (eigenvalues and what belongs to them) in the file's own record.
//!
//! 1. `scidac-private-file-xml` (extents, one volume), `scidac-file-xml`: `plaqVectors` with kind,
//!    tables and the CRC32 of their text;
//! 2. for every vector `scidac-private-record-xml` (type, precision), `scidac-record-xml` (its number),
//!    `scidac-binary-data`, `scidac-checksum`.
//!
//! The data are, big endian and for each site, x fastest, spin, colour, real and imaginary part, float32
//! or float64, gammas in the DeGrand-Rossi basis. Checksums are those of [`ildg`](super::ildg).

use std::path::Path;

use super::checksum::RotatingPair;
use super::data::Part;
use super::ildg::{escape, number, parse_private_file, Xml, LONGEST_TEXT, XML};
use super::lime::{self, RecordPosition};
use super::stream::{decode, encode, Input, Output};
use super::{check_part, text, ByteOrder, Warnings};
use crate::bail;
use crate::error::{host_array, Result, Status};
use crate::refuse;

/// Largest number of vectors that a file may have.
const MAX_VECTORS: usize = 100_000;

/// Information that a file of vectors has about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorHeader {
    /// A word that says what the vectors are.
    pub kind: String,
    /// Extents of the lattice, X, Y, Z, T.
    pub extents: [usize; 4],
    /// Bits of a stored number: 32 or 64.
    pub bits: u32,
    /// Number of spins: 4 for Dirac fermions, 1 for colour vectors.
    pub spins: usize,
    /// Number of vectors in the file.
    pub count: usize,
    /// Tables of finite numbers, each with its name.
    pub tables: Vec<(String, Vec<f64>)>,
}

impl VectorHeader {
    /// The numbers of the table with this name.
    pub fn table(&self, name: &str) -> Option<&[f64]> {
        self.tables.iter().find(|(n, _)| n == name).map(|(_, values)| &values[..])
    }

    /// Number of real numbers per site: spin, colour, real and imaginary part.
    pub fn reals(&self) -> usize {
        6 * self.spins
    }
    fn site_bytes(&self) -> usize {
        self.reals() * self.bits as usize / 8
    }
    fn length(&self) -> u64 {
        (self.extents.iter().product::<usize>() * self.site_bytes()) as u64
    }

    fn check(&self) -> Result<()> {
        let word = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_graphic());
        if !word(&self.kind) || !self.tables.iter().all(|(name, _)| word(name)) {
            bail!(InvalidArgument, "vectors: names are words of ASCII letters");
        }
        if ![32, 64].contains(&self.bits) {
            refuse!(Unsupported, "vectors", expected("32 or 64 bits"), found("{}", self.bits));
        }
        if ![1, 4].contains(&self.spins) {
            refuse!(Unsupported, "vectors", expected("1 or 4 spins"), found("{}", self.spins));
        }
        if self.count > MAX_VECTORS {
            refuse!(
                InvalidArgument,
                "vectors",
                expected("at most {MAX_VECTORS}"),
                found("{}", self.count)
            );
        }
        if let Some((name, _)) =
            self.tables.iter().find(|(_, values)| values.iter().any(|v| !v.is_finite()))
        {
            bail!(NotFinite, "vectors: table {name} holds NaN or infinity");
        }
        let extents = self.extents.iter().try_fold(1usize, |v, &n| v.checked_mul(n));
        if extents.and_then(|v| v.checked_mul(self.site_bytes())).is_none() {
            bail!(BadExtents, "vectors: lattice {:?}", self.extents);
        }
        Ok(())
    }
}

/// The text of a table, from which the same doubles are read.
fn numbers(values: &[f64]) -> String {
    values.iter().map(|v| format!("{v:e}")).collect::<Vec<_>>().join(" ")
}

/// Checksum over names and texts of all tables.
fn crc<'a>(tables: impl Iterator<Item = (&'a str, &'a str)>) -> u32 {
    let mut hash = crc32fast::Hasher::new();
    for (name, text) in tables {
        hash.update(name.as_bytes());
        hash.update(b"=");
        hash.update(text.as_bytes());
        hash.update(b"\n");
    }
    hash.finalize()
}

fn head(header: &VectorHeader) -> Vec<u8> {
    let [x, y, z, t] = header.extents;
    let mut out = Vec::new();
    let scidac = format!(
        "{XML}<scidacFile><version>1.1</version><spacetime>4</spacetime>\
         <dims>{x} {y} {z} {t} </dims><volfmt>0</volfmt></scidacFile>"
    );
    lime::put_text(&mut out, RecordPosition::First, "scidac-private-file-xml", &scidac);
    let texts: Vec<(&str, String)> =
        header.tables.iter().map(|(name, values)| (&name[..], numbers(values))).collect();
    let crc = crc(texts.iter().map(|(name, text)| (*name, &text[..])));
    let tables: String = texts
        .iter()
        .map(|(name, text)| format!("<table name=\"{}\">{text}</table>", escape(name)))
        .collect();
    let own = format!(
        "{XML}<plaqVectors><version>1.0</version><kind>{}</kind><count>{}</count><bits>{}</bits>\
         <spins>{}</spins>{tables}<crc32>{crc:08x}</crc32></plaqVectors>",
        escape(&header.kind),
        header.count,
        header.bits,
        header.spins
    );
    lime::put_text(&mut out, RecordPosition::Last, "scidac-file-xml", &own);
    out
}

/// The bytes of the records before the data of vector number `index`.
fn record(header: &VectorHeader, date: &str, index: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let letter = if header.bits == 32 { 'F' } else { 'D' };
    let name = if header.spins == 4 { "DiracFermion" } else { "ColorVector" };
    let scidac = format!(
        "{XML}<scidacRecord><version>1.1</version><date>{}</date><recordtype>0</recordtype>\
         <datatype>QDP_{letter}3_{name}</datatype><precision>{letter}</precision>\
         <colors>3</colors><spins>{}</spins><typesize>{}</typesize><datacount>1</datacount></scidacRecord>",
        escape(date),
        header.spins,
        header.site_bytes()
    );
    lime::put_text(&mut out, RecordPosition::First, "scidac-private-record-xml", &scidac);
    let own = format!("{XML}<plaqVector><number>{index}</number></plaqVector>");
    lime::put_text(&mut out, RecordPosition::Inside, "scidac-record-xml", &own);
    lime::put_header(&mut out, RecordPosition::Inside, "scidac-binary-data", header.length());
    out
}

/// The record that stands after the data of a vector; its length does not depend on the checksum.
fn tail(header: &VectorHeader, [suma, sumb]: [u32; 2]) -> Vec<u8> {
    let mut out = Vec::new();
    lime::pad(&mut out, header.length());
    let checksum = format!(
        "{XML}<scidacChecksum><version>1.0</version>\
         <suma>{suma:08x}</suma><sumb>{sumb:08x}</sumb></scidacChecksum>"
    );
    lime::put_text(&mut out, RecordPosition::Last, "scidac-checksum", &checksum);
    out
}

/// Adds the bytes `raw` of consecutive sites to a checksum; the first site has number `first`.
fn add(pair: &mut RotatingPair, first: usize, raw: &[u8], site_bytes: usize) {
    let crcs: Vec<u32> = raw.chunks_exact(site_bytes).map(crc32fast::hash).collect();
    pair.add(first, &crcs);
}

fn sums(pair: &RotatingPair) -> [u32; 2] {
    let (a, b) = pair.sums();
    [a, b]
}

/// Vectors in a file. Header and lengths were checked; vectors are read one by one, in parts.
pub struct VectorReader {
    input: Input,
    header: VectorHeader,
    /// For each vector the position of its data and its checksum.
    records: Vec<(u64, [u32; 2])>,
    warnings: Warnings,
}

impl VectorReader {
    /// Opens a file of vectors; `expect` is the lattice X, Y, Z, T that it must have, if given.
    ///
    /// # Errors
    /// `FileOpen`; `FileFormat`: no such file, or an inconsistent one; `FileTruncated`; `FileExtents`:
    /// another lattice; `FileChecksum`: the tables are not those that were written.
    pub fn open(path: &Path, expect: Option<[usize; 4]>) -> Result<Self> {
        let mut input = Input::open(path)?;
        if input.peek(4)? != lime::MAGIC {
            bail!(FileFormat, "{}: no LIME file of vectors", path.display());
        }
        let (mut dims, mut own) = (None, None);
        let mut records: Vec<(u64, u64, Option<String>)> = vec![];
        let ending = lime::scan(&mut input, |input, r| {
            if r.kind == "scidac-binary-data" {
                if records.len() > MAX_VECTORS {
                    let message = format!("more than {MAX_VECTORS} vectors");
                    return Err(input.error(Status::FileFormat, message));
                }
                records.push((r.offset, r.length, None));
            } else if r.length <= LONGEST_TEXT {
                match (r.kind.as_str(), records.last_mut()) {
                    ("scidac-private-file-xml", None) => dims = Some(r.text(input)?),
                    ("scidac-file-xml", None) => own = Some(r.text(input)?),
                    ("scidac-checksum", Some(record)) => record.2 = Some(r.text(input)?),
                    _ => {}
                }
            }
            Ok(())
        })?;
        let checked = records.last().is_some_and(|record| record.2.is_some());
        let warnings = ending.warnings(&input, !records.is_empty(), checked)?;
        let (Some(dims), Some(own)) = (dims, own) else {
            let message = "a LIME file without SciDAC's file records";
            return Err(input.error(Status::FileFormat, message));
        };
        let extents = input.extents(parse_private_file(&input, &dims)?, expect)?;
        let header = parse_own(&input, &own, extents)?;
        if records.len() < header.count {
            let message = format!("{} of {} vectors are there", records.len(), header.count);
            return Err(input.error(Status::FileTruncated, message));
        }
        let mut found = vec![];
        for (k, (offset, length, checksum)) in records.into_iter().enumerate() {
            if k >= header.count || length != header.length() {
                let message = format!(
                    "vector {k} has {length} bytes, {extents:?} at {} bits makes {} of {} vectors",
                    header.bits,
                    header.length(),
                    header.count
                );
                return Err(input.error(Status::FileFormat, message));
            }
            let Some(sums) = checksum else {
                let message = format!("vector {k} has no checksum");
                return Err(input.error(Status::FileFormat, message));
            };
            let xml = Xml::new(&input, "scidac-checksum", &sums)?;
            let sum = |tag| xml.parse(tag, text::hexadecimal);
            let pair = [sum("suma")?, sum("sumb")?];
            found.push((offset, pair));
        }
        Ok(VectorReader { input, header, records: found, warnings })
    }

    /// Faults of the file that do not keep its vectors from being read.
    pub fn warnings(&self) -> Warnings {
        self.warnings
    }

    pub fn header(&self) -> &VectorHeader {
        &self.header
    }

    /// Reads a part of vector `index`; returns the numbers with their share of its checksum.
    ///
    /// # Errors
    /// `BadExtents`: `part` is not a part of the file's lattice; `InvalidArgument`: no such vector; `FileOpen`,
    /// `FileTruncated`, `OutOfMemory`.
    pub fn read(&mut self, index: usize, part: &Part) -> Result<(Vec<f64>, [u32; 2])> {
        check_part(part, self.header.extents)?;
        let Some(&(offset, _)) = self.records.get(index) else {
            bail!(InvalidArgument, "vector {index} of {}", self.records.len());
        };
        let (bytes, bits) = (self.header.site_bytes(), self.header.bits);
        let reals = self.header.reals();
        let mut values = host_array(reals * part.volume(), 0.0, "a vector of a file")?;
        let mut pair = RotatingPair::new();
        for [global, local, count] in part.runs() {
            self.input.seek(offset + (global * bytes) as u64)?;
            self.input.stream(count, bytes, |first, raw| {
                add(&mut pair, global + first, raw, bytes);
                let sites = raw.len() / bytes;
                let out = &mut values[reals * (local + first)..][..reals * sites];
                decode(raw, bits, ByteOrder::Big, out);
            })?;
        }
        Ok((values, sums(&pair)))
    }

    /// Compares the checksum of vector `index` with the shares of parts that make up the lattice.
    ///
    /// # Errors
    /// `FileChecksum`; `InvalidArgument`: no such vector.
    pub fn verify(&self, index: usize, shares: &[[u32; 2]]) -> Result<()> {
        let found = shares.iter().fold([0; 2], |[a, b], s| [a ^ s[0], b ^ s[1]]);
        let Some(&(_, stored)) = self.records.get(index) else {
            bail!(InvalidArgument, "vector {index} of {}", self.records.len());
        };
        if stored != found {
            let message = format!("checksum {found:x?} of vector {index}, {stored:x?} in the file");
            return Err(self.input.error(Status::FileChecksum, message));
        }
        Ok(())
    }
}

fn parse_own(input: &Input, text: &str, extents: [usize; 4]) -> Result<VectorHeader> {
    let xml = Xml::new(input, "scidac-file-xml", text)?;
    let Some(kind) = xml.get("kind").map(str::to_string).filter(|_| xml.get("crc32").is_some())
    else {
        let message = "record scidac-file-xml: expected that of a file of eigenvectors";
        return Err(input.error(Status::FileFormat, message));
    };
    let count = xml.parse("count", |c| number(c).filter(|c| *c <= MAX_VECTORS as u64))? as usize;
    let bits = xml.parse("bits", |b| [32, 64].into_iter().find(|n| b == n.to_string()))?;
    // Older files, which hold spinors, do not give the number of spins.
    let spins = match xml.get("spins") {
        Some(_) => xml.parse("spins", |s| [1, 4].into_iter().find(|n| s == n.to_string()))?,
        None => 4,
    };
    let stored = xml.parse("crc32", text::hexadecimal)?;
    let all = xml.document.descendants().filter(|n| n.tag_name().name() == "table");
    let all: Vec<(&str, &str)> = all
        .map(|n| (n.attribute("name").unwrap_or_default(), n.text().unwrap_or_default()))
        .collect();
    let found = crc(all.iter().copied());
    if found != stored {
        let message = format!("checksum {found:08x} of the tables, {stored:08x} in the file");
        return Err(input.error(Status::FileChecksum, message));
    }
    let mut tables = vec![];
    for (name, text) in all {
        let values: Option<Vec<f64>> = text
            .split_whitespace()
            .map(|v| v.parse().ok().filter(|v: &f64| v.is_finite()))
            .collect();
        let Some(values) = values else {
            let message = format!("table {name} holds what is no number");
            return Err(input.error(Status::FileFormat, message));
        };
        tables.push((name.to_string(), values));
    }
    Ok(VectorHeader { kind, extents, bits, spins, count, tables })
}

/// Vectors that are being written: one process creates and finishes the file, others may join. It appears under its
/// name when it is finished.
pub struct VectorWriter {
    output: Output,
    header: VectorHeader,
    date: String,
    /// For each vector the positions of its records and of its data.
    places: Vec<[u64; 2]>,
}

impl VectorWriter {
    /// Creates a file under a temporary name.
    ///
    /// # Errors
    /// `InvalidArgument`, `Unsupported`, `NotFinite`, `BadExtents`: the header cannot stand in a file;
    /// `FileWrite`.
    pub fn create(path: &Path, header: &VectorHeader) -> Result<Self> {
        Self::new(header, || Output::create(path))
    }

    /// Opens the file that another process created; `temporary` is that of
    /// [`GaugeWriter::join`](super::GaugeWriter::join).
    ///
    /// # Errors
    /// Errors of [`VectorWriter::create`].
    pub fn join(path: &Path, temporary: &str, header: &VectorHeader) -> Result<Self> {
        Self::new(header, || Output::join(path, temporary))
    }

    fn new(header: &VectorHeader, output: impl FnOnce() -> Result<Output>) -> Result<Self> {
        header.check()?;
        let date = text::utc_now();
        let head = head(header);
        if head.len() as u64 > LONGEST_TEXT {
            bail!(InvalidArgument, "vectors: tables of {} bytes are too long", head.len());
        }
        let (mut at, mut places) = (head.len() as u64, vec![]);
        let after = tail(header, [0; 2]).len() as u64;
        for k in 0..header.count {
            let data = at + record(header, &date, k).len() as u64;
            places.push([at, data]);
            at = data + header.length() + after;
        }
        Ok(VectorWriter { output: output()?, header: header.clone(), date, places })
    }

    /// Name of the temporary file, in the folder of the target.
    pub fn temporary(&self) -> String {
        self.output.name()
    }

    /// Writes a part of vector `index`; returns its share of the checksum.
    ///
    /// # Errors
    /// `BadExtents`, `InvalidArgument`, `FileWrite`.
    pub fn write(&mut self, index: usize, part: &Part, values: &[f64]) -> Result<[u32; 2]> {
        check_part(part, self.header.extents)?;
        let (bytes, bits) = (self.header.site_bytes(), self.header.bits);
        let Some(&[_, data]) = self.places.get(index) else {
            bail!(InvalidArgument, "vector {index} of {}", self.places.len());
        };
        let reals = self.header.reals();
        if values.len() != reals * part.volume() {
            bail!(BadExtents, "{part:?} has not {} numbers", values.len());
        }
        let mut pair = RotatingPair::new();
        for [global, local, count] in part.runs() {
            self.output.seek(data + (global * bytes) as u64)?;
            self.output.stream(count, bytes, |first, raw| {
                let sites = raw.len() / bytes;
                let from = &values[reals * (local + first)..][..reals * sites];
                encode(from, bits, ByteOrder::Big, raw);
                add(&mut pair, global + first, raw, bytes);
            })?;
        }
        Ok(sums(&pair))
    }

    /// Flushes to disk what this process has written.
    ///
    /// # Errors
    /// `FileWrite`.
    pub fn sync(&self) -> Result<()> {
        self.output.sync()
    }

    /// Completes the file, when all parts are on disk, and gives it its name; `shares[k]` are the checksums of the
    /// parts of vector k.
    ///
    /// # Errors
    /// `InvalidArgument`: not as many checksums as vectors; `FileWrite`.
    pub fn finish(mut self, shares: &[Vec<[u32; 2]>]) -> Result<()> {
        if shares.len() != self.places.len() {
            bail!(InvalidArgument, "{} checksums of {} vectors", shares.len(), self.places.len());
        }
        self.output.seek(0)?;
        self.output.put(&head(&self.header))?;
        for (k, (&[at, data], shares)) in self.places.iter().zip(shares).enumerate() {
            let sum = shares.iter().fold([0; 2], |[a, b], s| [a ^ s[0], b ^ s[1]]);
            self.output.seek(at)?;
            self.output.put(&record(&self.header, &self.date, k))?;
            self.output.seek(data + self.header.length())?;
            self.output.put(&tail(&self.header, sum))?;
        }
        self.output.commit()
    }
}
