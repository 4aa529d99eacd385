//! ILDG configurations with SciDAC records in a LIME container ([`lime`]).
//!
//! Two messages, in the order in which QIO writes and wants them:
//! 1. `scidac-private-file-xml` (extents, one volume), `scidac-file-xml` (title);
//! 2. `scidac-private-record-xml` (type, precision), `scidac-record-xml` (the user's:
//!    `usqcdInfo` with plaquette, link trace and a text), `ildg-format`, `ildg-data-lfn` if
//!    there is a logical file name, `ildg-binary-data`, `scidac-checksum`.
//!
//! The data are, big endian and for each site, x fastest, the links μ = x, y, z, t, each 3×3
//! row-major complex float32 or float64. `suma` and `sumb` of the checksum take the CRC32 of
//! the bytes of each site, rotate it left by lex mod 29 and lex mod 31 bits and combine all
//! sites by exclusive or.
//!
//! Read are also files without SciDAC records (ILDG alone) and without ILDG records
//! (`scidac-binary-data` of four colour matrices per site), and a checksum that stands before the
//! data. A message that does not end marks a truncated file, unless the checksum is there or no
//! message of the file ends.

use std::panic::resume_unwind;
use std::thread;

use super::data::{Data, Sum};
use super::lime::{self, Record, RecordPosition};
use super::stream::Input;
use super::text::{decimal, hexadecimal, resolution};
use super::{
    ByteOrder, Codec, FileFormat, FileInfo, Frame, Header, Job, Known, Warning, MATRIX, SITE,
};
use crate::error::{Result, Status};
use roxmltree::Document;

pub const CODEC: Codec = Codec {
    formats: &[FileFormat::Ildg],
    bits: &[64, 32],
    orders: &[ByteOrder::Big],
    claims: |head| head.starts_with(&lime::MAGIC),
    open,
    frame,
};

/// Length in bytes from which on text records are not read.
pub(super) const LONGEST_TEXT: u64 = 1 << 20;
const MAX_TAGS: usize = 1000;
/// Number of XML tags from which on a record is parsed by a thread of its own; those of lattice codes have some
/// thirty.
const USUAL_TAGS: usize = 100;
/// Stack of the thread that parses long records, in bytes.
const STACK: usize = 8 << 20;
const MAX_ATTRIBUTES: usize = 2000;
pub(super) const XML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>"#;

/// The records of the first configuration in a file, as far as they are known.
#[derive(Default)]
struct Records {
    private_file: Option<String>,
    private_record: Option<String>,
    user: Option<String>,
    format: Option<String>,
    lfn: Option<String>,
    data: Option<Record>,
    checksum: Option<String>,
}

impl Records {
    fn scan(input: &mut Input) -> Result<(Self, lime::Ending)> {
        let mut records = Records::default();
        let mut early = None;
        let ending = lime::scan(input, |input, record| {
            let has_data = records.data.is_some();
            let field = match record.kind.as_str() {
                "scidac-private-file-xml" => &mut records.private_file,
                "scidac-private-record-xml" if !has_data => &mut records.private_record,
                "scidac-record-xml" if !has_data => &mut records.user,
                "ildg-format" => &mut records.format,
                "ildg-data-lfn" => &mut records.lfn,
                "scidac-checksum" if has_data => &mut records.checksum,
                "scidac-checksum" => &mut early,
                "ildg-binary-data" | "scidac-binary-data" => {
                    records.data.get_or_insert(record);
                    return Ok(());
                }
                _ => return Ok(()),
            };
            if field.is_none() && record.length <= LONGEST_TEXT {
                *field = Some(record.text(input)?);
            }
            Ok(())
        })?;
        records.checksum = records.checksum.or(early);
        Ok((records, ending))
    }
}

/// Parses XML. The parser is recursive, so the number of elements, and with it the depth, is limited: a level takes a
/// kilobyte or more of stack, and hosts call from threads with 256 KB.
pub(super) fn parse_xml(text: &str) -> std::result::Result<Document<'_>, String> {
    let tags = text.matches('<').count();
    if tags > MAX_TAGS {
        return Err(format!("{tags} tags are more than the {MAX_TAGS} that are parsed"));
    }
    // The parser compares the attributes of an element pair by pair, so their number is limited. Text up to the next
    // tag is counted, too, since this check does not parse XML.
    let max = text.split('<').map(|tag| tag.matches('=').count()).max().unwrap_or(0);
    if max > MAX_ATTRIBUTES {
        return Err(format!(
            "{max} attributes of a tag are more than the {MAX_ATTRIBUTES} that are parsed"
        ));
    }
    let parse = || Document::parse(text).map_err(|e| e.to_string());
    if tags <= USUAL_TAGS {
        return parse();
    }
    thread::scope(|scope| {
        let parser = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, parse);
        let parser = parser.map_err(|e| format!("no thread to parse {tags} tags: {e}"))?;
        parser.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// A parsed XML record whose elements are found by their names alone.
pub(super) struct Xml<'a> {
    input: &'a Input,
    kind: &'static str,
    pub document: Document<'a>,
}

impl<'a> Xml<'a> {
    pub fn new(input: &'a Input, kind: &'static str, text: &'a str) -> Result<Self> {
        match parse_xml(text) {
            Ok(document) => Ok(Xml { input, kind, document }),
            Err(e) => Err(input.error(Status::FileFormat, format!("record {kind}: {e}"))),
        }
    }

    pub fn get(&self, tag: &str) -> Option<&str> {
        let element = self.document.descendants().find(|n| n.tag_name().name() == tag)?;
        element.text().map(str::trim)
    }

    pub fn parse<T>(&self, tag: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T> {
        self.get(tag).and_then(parse).ok_or_else(|| {
            let found = self.get(tag).unwrap_or("missing");
            let message = format!("record {}: <{tag}> is {found}", self.kind);
            self.input.error(Status::FileFormat, message)
        })
    }
}

pub(super) fn number(text: &str) -> Option<u64> {
    text.parse().ok()
}

/// The extents that the record `ildg-format` gives, and the precision if it does.
fn parse_ildg_format(input: &Input, text: &str) -> Result<([u64; 4], u32)> {
    let xml = Xml::new(input, "ildg-format", text)?;
    xml.parse("field", |field| (field == "su3gauge").then_some(()))?;
    let bits = xml.parse("precision", |p| [32, 64].into_iter().find(|b| p == b.to_string()))?;
    let mut extents = [0; 4];
    for (n, tag) in extents.iter_mut().zip(["lx", "ly", "lz", "lt"]) {
        *n = xml.parse(tag, number)?;
    }
    Ok((extents, bits))
}

pub(super) fn parse_private_file(input: &Input, text: &str) -> Result<[u64; 4]> {
    let xml = Xml::new(input, "scidac-private-file-xml", text)?;
    if xml.get("volfmt").is_some_and(|volfmt| volfmt != "0") {
        let message = "a part of a configuration in several files, only single files are read";
        return Err(input.error(Status::FileFormat, message));
    }
    xml.parse("dims", |dims| {
        let dims: Option<Vec<u64>> = dims.split_whitespace().map(number).collect();
        dims?.try_into().ok()
    })
}

/// The precision that SciDAC's record of four 3×3 matrices per site gives.
fn parse_private_record(input: &Input, text: &str) -> Result<u32> {
    let xml = Xml::new(input, "scidac-private-record-xml", text)?;
    let bits = xml.parse("precision", |p| match p {
        "F" => Some(32),
        "D" => Some(64),
        _ => None,
    })?;
    let (colors, count) = (xml.get("colors"), xml.get("datacount"));
    if (colors, count) != (Some("3"), Some("4")) {
        let said = |text: Option<&str>| text.unwrap_or("nothing").to_string();
        let message = format!(
            "no configuration: expected <colors> 3 and <datacount> 4 in scidac-private-record-xml, found {} and {}",
            said(colors),
            said(count)
        );
        return Err(input.error(Status::FileFormat, message));
    }
    Ok(bits)
}

fn open(input: &mut Input, expect: Option<[usize; 4]>, _: Known) -> Result<Header> {
    let (records, ending) = Records::scan(input)?;
    let (has_data, checked) = (records.data.is_some(), records.checksum.is_some());
    let mut warnings = ending.warnings(input, has_data, checked)?;
    let scidac = match &records.private_file {
        Some(text) => Some(parse_private_file(input, text)?),
        None => None,
    };
    let malformed = records.format.as_ref().is_some_and(|text| parse_xml(text).is_err());
    let (found, bits) = match (&records.format, scidac, &records.private_record) {
        // QIO, too, reads files whose record `ildg-format` is not XML.
        (Some(_), Some(dims), Some(text)) if malformed => {
            warnings.insert(Warning::Format);
            (dims, parse_private_record(input, text)?)
        }
        (Some(text), _, _) => parse_ildg_format(input, text)?,
        (None, Some(dims), Some(text)) => (dims, parse_private_record(input, text)?),
        (None, Some(_), None) => {
            let message = "it ends after SciDAC's file records";
            return Err(input.error(Status::FileTruncated, message));
        }
        _ => {
            let message = "LIME file without ildg-format and without SciDAC's private records";
            return Err(input.error(Status::FileFormat, message));
        }
    };
    if let Some(dims) = scidac.filter(|dims| *dims != found) {
        let message = format!("ildg-format tells of a lattice {found:?}, SciDAC of {dims:?}");
        return Err(input.error(Status::FileFormat, message));
    }
    let extents = input.extents(found, expect)?;
    let Some(record) = &records.data else {
        let message = "no ildg-binary-data or scidac-binary-data record";
        return Err(input.error(Status::FileFormat, message));
    };
    let data = data(bits);
    if record.length != data.length(extents) {
        let message = format!(
            "record {} has {} bytes, {extents:?} at {bits} bits makes {}",
            record.kind,
            record.length,
            data.length(extents)
        );
        return Err(input.error(Status::FileFormat, message));
    }
    let stored = match &records.checksum {
        Some(text) => {
            let xml = Xml::new(input, "scidac-checksum", text)?;
            Some([xml.parse("suma", hexadecimal)?, xml.parse("sumb", hexadecimal)?])
        }
        None => None,
    };

    let info = FileInfo { warnings, ..describe(&records, bits) };
    Ok(Header { extents, info, data: Data { offset: record.offset, ..data }, stored })
}

fn data(bits: u32) -> Data {
    Data::gauge(bits, ByteOrder::Big, MATRIX, Sum::SciDac)
}

/// The optional information in a file; records that are not XML or contain nothing known are kept unchanged.
fn describe(records: &Records, bits: u32) -> FileInfo {
    let mut info = FileInfo::new(FileFormat::Ildg, bits, ByteOrder::Big);
    info.lfn = records.lfn.clone();
    // An element right below the root: elements of the same name further down belong to other information.
    let text_of = |text: &Option<String>, root: &str, tag: &str| -> Option<String> {
        let document = parse_xml(text.as_deref()?).ok()?;
        let top = Some(document.root_element()).filter(|top| top.tag_name().name() == root)?;
        let element = top.children().find(|n| n.tag_name().name() == tag)?;
        element.text().map(|t| t.trim().to_owned())
    };
    let of_user = |tag: &str| text_of(&records.user, "usqcdInfo", tag);
    info.date = text_of(&records.private_record, "scidacRecord", "date");
    let mut average = |tag: &str| {
        let text = of_user(tag)?;
        let value = text.parse().ok().filter(|v: &f64| v.is_finite())?;
        info.header_resolution = info.header_resolution.max(resolution(&text));
        Some(value)
    };
    let (plaquette, link_trace) = (average("plaq"), average("linktr"));
    (info.plaquette, info.link_trace) = (plaquette, link_trace);
    for line in of_user("info").unwrap_or_default().lines() {
        let Some((key, value)) = line.split_once('=') else { continue };
        let value = value.trim().to_owned();
        match key.trim() {
            "ensemble_id" => info.ensemble_id = Some(value),
            "ensemble_label" => info.ensemble_label = Some(value),
            "sequence_number" => info.sequence_number = value.parse().ok(),
            "creator" => info.creator = Some(value),
            "boundary_time" => info.boundary_time = Some(value),
            _ => {}
        }
    }
    info.user_record = records.user.clone();
    info
}

fn frame(job: &Job, [suma, sumb]: [u32; 2]) -> Result<Frame> {
    let mut before = Vec::new();
    let [x, y, z, t] = job.extents;
    let (bits, letter) = (job.bits, if job.bits == 32 { 'F' } else { 'D' });
    let site_bytes = SITE * bits as usize / 8;
    let scidac_file = format!(
        "{XML}<scidacFile><version>1.1</version><spacetime>4</spacetime>\
         <dims>{x} {y} {z} {t} </dims><volfmt>0</volfmt></scidacFile>"
    );
    let scidac_record = format!(
        "{XML}<scidacRecord><version>1.1</version><date>{}</date><recordtype>0</recordtype>\
         <datatype>QDP_{letter}3_ColorMatrix</datatype><precision>{letter}</precision>\
         <colors>3</colors><typesize>{}</typesize><datacount>4</datacount></scidacRecord>",
        escape(&job.date()),
        site_bytes / 4
    );
    let format = format!(
        "{XML}<ildgFormat xmlns=\"http://www.lqcd.org/ildg\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xsi:schemaLocation=\"http://www.lqcd.org/ildg/filefmt.xsd\"><version>1.0</version>\
         <field>su3gauge</field><precision>{bits}</precision>\
         <lx>{x}</lx><ly>{y}</ly><lz>{z}</lz><lt>{t}</lt></ildgFormat>"
    );
    lime::put_text(&mut before, RecordPosition::First, "scidac-private-file-xml", &scidac_file);
    let title = format!("{XML}<title>gauge configuration</title>");
    lime::put_text(&mut before, RecordPosition::Last, "scidac-file-xml", &title);
    lime::put_text(&mut before, RecordPosition::First, "scidac-private-record-xml", &scidac_record);
    lime::put_text(&mut before, RecordPosition::Inside, "scidac-record-xml", &user_record(job));
    lime::put_text(&mut before, RecordPosition::Inside, "ildg-format", &format);
    if let Some(lfn) = &job.options.lfn {
        lime::put_text(&mut before, RecordPosition::Inside, "ildg-data-lfn", lfn);
    }
    let length = data(bits).length(job.extents);
    lime::put_header(&mut before, RecordPosition::Inside, "ildg-binary-data", length);
    let mut after = Vec::new();
    lime::pad(&mut after, length);
    // If fields follow, checksums have a fixed number of digits, so that later bytes have a fixed position.
    let digits = if job.options.fields.is_empty() { 0 } else { 8 };
    let checksum = format!(
        "{XML}<scidacChecksum><version>1.0</version>\
         <suma>{suma:0digits$x}</suma><sumb>{sumb:0digits$x}</sumb></scidacChecksum>"
    );
    lime::put_text(&mut after, RecordPosition::Last, "scidac-checksum", &checksum);
    Ok(Frame::new(before, data(bits), after))
}

/// USQCD's lattice record; information without a tag of its own becomes lines of its `info`.
fn user_record(job: &Job) -> String {
    let options = &job.options;
    let tag = |name, value: Option<f64>| match value {
        Some(value) => format!("<{name}>{}</{name}>", decimal(value)),
        None => String::new(),
    };
    let line = |key, value: Option<String>| match value {
        Some(value) => format!("{key} = {}\n", escape(&value)),
        None => String::new(),
    };
    format!(
        "{XML}<usqcdInfo><version>1.0</version>{}{}<info>{}{}{}{}{}</info></usqcdInfo>",
        tag("plaq", options.plaquette),
        tag("linktr", options.link_trace),
        line("ensemble_id", options.ensemble_id.clone()),
        line("ensemble_label", options.ensemble_label.clone()),
        line("sequence_number", options.sequence_number.map(|n| n.to_string())),
        line("creator", options.creator.clone()),
        line("boundary_time", options.boundary_time.clone()),
    )
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
