//! Propagators in SciDAC records of a LIME container ([`lime`]), as QIO lays them out.
//!
//! The first message is `scidac-private-file-xml` (extents, one volume) and `scidac-file-xml`; then
//! each field has a message of its own: `scidac-private-record-xml` (type, precision),
//! `scidac-record-xml` (the user's), `scidac-binary-data`, `scidac-checksum`. Data are big endian, sites
//! with x fastest; checksums as in [`super::ildg`]. Spinors are \[spin\]\[colour\] in the
//! DeGrand-Rossi basis. The kinds of files, of which USQCD's name themselves in
//! `usqcdPropFile/type`:
//!
//! | kind | fields |
//! | --- | --- |
//! | `USQCD_DiracFermion_ScalarSource_TwelveSink` | a complex field, the source of every spin and colour; twelve spinors |
//! | `USQCD_DiracFermion_Source_Sink_Pairs` | a spinor, the source, then the solution, for each column |
//! | QDP++ (Chroma) | one field of matrices \[sink spin\]\[source spin\]\[sink colour\]\[source colour\] |
//!
//! Records of the first two kinds say which column they are, `spin` and `color` of `usqcdPropInfo`.

use super::data::{Data, Sum};
use super::ildg::{escape, number, parse_private_file, parse_xml, Xml, LONGEST_TEXT, XML};
use super::lime::{self, Record, RecordPosition};
use super::origin::Origin;
use super::stream::{Input, Output};
use super::{check_part, text, Part, Warning, Warnings};
use crate::bail;
use crate::error::{words, Result, Status};
use crate::params::choices;
use crate::refuse;
use std::path::Path;

/// Number of real numbers of a spinor at a site: 4 spins, 3 colours, complex.
const SPINOR: usize = 24;
const MATRIX: usize = 288;
const MAX_COLUMNS: usize = 4096;
/// Name of the XML element in records of sources.
const SOURCE: &str = "usqcdSourceInfo";
const SINK: &str = "usqcdPropInfo";

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PropagatorKind {
    ScalarSource,
    Pairs,
    Matrix,
}

words!(PropagatorKind {
    ScalarSource => "PLAQ_PROPAGATOR_SCALAR_SOURCE",
    Pairs => "PLAQ_PROPAGATOR_PAIRS",
    Matrix => "PLAQ_PROPAGATOR_MATRIX",
});

choices! {
    /// Kinds of propagator files: SciDAC files in LIME, with checksums, in the layout of QIO.
    names PropagatorKind: plaq_propagator_kind {
        /// USQCD_DiracFermion_ScalarSource_TwelveSink: one complex field, the source of all spins and
        /// colours, and twelve spinors (MILC).
        ScalarSource = 1, PLAQ_PROPAGATOR_SCALAR_SOURCE, "scalar_source";
        /// USQCD_DiracFermion_Source_Sink_Pairs: a source and a solution for every column.
        Pairs = 2, PLAQ_PROPAGATOR_PAIRS, "pairs";
        /// One field of matrices of spin and colour, QDP++'s LatticePropagator (Chroma).
        Matrix = 3, PLAQ_PROPAGATOR_MATRIX, "matrix";
    }
}

impl PropagatorKind {
    /// The name of the kind in the file.
    fn name(self) -> &'static str {
        match self {
            PropagatorKind::ScalarSource => "USQCD_DiracFermion_ScalarSource_TwelveSink",
            PropagatorKind::Pairs => "USQCD_DiracFermion_Source_Sink_Pairs",
            PropagatorKind::Matrix => "LatticePropagator",
        }
    }
}

/// Information in a propagator file besides its numbers.
#[derive(Clone, Debug)]
pub struct PropagatorOptions {
    pub kind: PropagatorKind,
    /// Bits of a stored number, 32 or 64.
    pub bits: u32,
    /// Text for human readers, contained in every record.
    pub info: String,
    /// Origin of the columns: source position, phases, masses and links, as far as known. Every record of a solution
    /// carries it.
    pub origin: Origin,
    /// Date in the records; `None`: the present time in UTC.
    pub date: Option<String>,
}

/// A field in the file: the bytes of its records before the numbers, and the layout of the numbers.
struct Item {
    before: Vec<u8>,
    data: Data,
}

/// The bytes after the numbers of a field: padding and the record with the checksum. Their number does not depend on
/// the checksum.
fn after(data: &Data, extents: [usize; 4], [a, b]: [u32; 2]) -> Vec<u8> {
    let mut out = Vec::new();
    lime::pad(&mut out, data.length(extents));
    let text = format!(
        "{XML}<scidacChecksum><version>1.0</version>\
         <suma>{a:08x}</suma><sumb>{b:08x}</sumb></scidacChecksum>"
    );
    lime::put_text(&mut out, RecordPosition::Last, "scidac-checksum", &text);
    out
}

/// A propagator that is being written field by field, in parts: one process creates and finishes the file, others may
/// join. It appears under its name when it is finished.
pub struct PropagatorWriter {
    output: Output,
    extents: [usize; 4],
    head: Vec<u8>,
    items: Vec<Item>,
}

impl PropagatorWriter {
    /// Creates a file for this many columns on the lattice `extents`, under a temporary name.
    ///
    /// # Errors
    /// `InvalidArgument`: a text that cannot stand in the file, a precision that is not 32 or 64 bits, not
    /// twelve columns where the kind has twelve; `FileWrite`.
    pub fn create(
        path: &Path,
        options: &PropagatorOptions,
        (extents, columns): ([usize; 4], usize),
    ) -> Result<Self> {
        let (head, items) = plan(options, extents, columns)?;
        Ok(PropagatorWriter { output: Output::create(path)?, extents, head, items })
    }

    /// Opens the file that another process has created with the same parameters; `temporary` is the result of
    /// [`PropagatorWriter::temporary`] there.
    ///
    /// # Errors
    /// Errors of [`PropagatorWriter::create`].
    pub fn join(
        path: &Path,
        temporary: &str,
        options: &PropagatorOptions,
        (extents, columns): ([usize; 4], usize),
    ) -> Result<Self> {
        let (head, items) = plan(options, extents, columns)?;
        Ok(PropagatorWriter { output: Output::join(path, temporary)?, extents, head, items })
    }

    /// Name of the temporary file, in the folder of the target.
    pub fn temporary(&self) -> String {
        self.output.name()
    }

    /// Writes the numbers of field `k` on a part of the lattice; returns their contribution to the field's checksum.
    ///
    /// # Errors
    /// `BadExtents`: `part` is not a part of the lattice, or `numbers` does not have its length; `FileWrite`.
    pub fn write(&mut self, k: usize, part: &Part, numbers: &[f64]) -> Result<[u32; 2]> {
        check_part(part, self.extents)?;
        let data = &self.items[k].data;
        if numbers.len() != data.memory * part.volume() {
            let (expected, found) = (data.memory * part.volume(), numbers.len());
            refuse!(BadExtents, "field {k}", expected("{expected} numbers"), found("{found}"));
        }
        data.write(&mut self.output, part, numbers)
    }

    /// Flushes to disk what this process has written.
    ///
    /// # Errors
    /// `FileWrite`.
    pub fn sync(&self) -> Result<()> {
        self.output.sync()
    }

    /// Completes the file, when all parts are on disk, and gives it its name. `shares` has for each field the
    /// contributions of all parts to the checksum.
    ///
    /// # Errors
    /// `FileWrite`.
    pub fn finish(mut self, shares: &[Vec<[u32; 2]>]) -> Result<()> {
        self.output.seek(0)?;
        self.output.put(&self.head)?;
        for (item, shares) in self.items.iter().zip(shares) {
            self.output.seek(item.data.offset - item.before.len() as u64)?;
            self.output.put(&item.before)?;
            self.output.seek(item.data.offset + item.data.length(self.extents))?;
            let sums = item.data.sum.combine(shares);
            self.output.put(&after(&item.data, self.extents, sums))?;
        }
        self.output.commit()
    }
}

/// The type of a record with this many real numbers per site, and its numbers of colours and of spins, 0 for a complex
/// field.
fn record_type(numbers: usize, bits: u32) -> (String, usize, usize) {
    let letter = if bits == 32 { 'F' } else { 'D' };
    match numbers {
        2 => (format!("QLA_{letter}_Complex"), 0, 0),
        SPINOR => (format!("USQCD_{letter}3_DiracFermion"), 3, 4),
        _ => (format!("QDP_{letter}3_DiracPropagator"), 3, 4),
    }
}

/// Plans the file: the bytes at its beginning, and for each field the records before its numbers and the position of
/// these.
fn plan(
    options: &PropagatorOptions,
    extents: [usize; 4],
    columns: usize,
) -> Result<(Vec<u8>, Vec<Item>)> {
    let PropagatorOptions { kind, bits, info, origin, date } = options;
    let twelve = *kind != PropagatorKind::Pairs;
    if twelve && columns != 12 || !(1..=MAX_COLUMNS).contains(&columns) {
        refuse!(
            InvalidArgument,
            "propagator",
            expected(
                "{} right-hand sides in files of {}",
                if twelve { "12" } else { "1 to 4096" },
                kind
            ),
            found("{columns}")
        );
    }
    if ![32, 64].contains(bits) {
        refuse!(InvalidArgument, "precision", expected("32 or 64 bits"), found("{bits}"));
    }
    if info.chars().any(|c| c.is_control() && c != '\n') {
        bail!(InvalidArgument, "info has a control character");
    }
    let (info, date) = (escape(info), escape(&date.clone().unwrap_or_else(text::utc_now)));
    let [x, y, z, t] = extents;
    let mut head = Vec::new();
    let scidac_file = format!(
        "{XML}<scidacFile><version>1.1</version><spacetime>4</spacetime>\
         <dims>{x} {y} {z} {t} </dims><volfmt>0</volfmt></scidacFile>"
    );
    lime::put_text(&mut head, RecordPosition::First, "scidac-private-file-xml", &scidac_file);
    let user = match kind {
        PropagatorKind::Matrix => format!("{XML}<title>{}</title>", kind.name()),
        _ => format!(
            "{XML}<usqcdPropFile><version>1.0</version><type>{}</type><info>{info}</info>\
             </usqcdPropFile>",
            kind.name()
        ),
    };
    lime::put_text(&mut head, RecordPosition::Last, "scidac-file-xml", &user);
    let record = |tag: &str, column: Option<usize>| {
        let place = match column {
            Some(k) => format!("<spin>{}</spin><color>{}</color>", k / 3, k % 3),
            None => String::new(),
        };
        let origin = if tag != SOURCE { origin.to_xml() } else { String::new() };
        format!("{XML}<{tag}><version>1.0</version>{place}<info>{info}</info>{origin}</{tag}>")
    };
    // Twelve columns are those of all spins and colours; with another number, records name neither.
    let column = |k| (columns == 12).then_some(k);
    let fields: Vec<(String, usize)> = match kind {
        PropagatorKind::Matrix => vec![(record("propagatorInfo", None), MATRIX)],
        PropagatorKind::ScalarSource => std::iter::once((record(SOURCE, None), 2))
            .chain((0..12).map(|k| (record(SINK, Some(k)), SPINOR)))
            .collect(),
        PropagatorKind::Pairs => (0..columns)
            .flat_map(|k| [(SOURCE, k), (SINK, k)])
            .map(|(tag, k)| (record(tag, column(k)), SPINOR))
            .collect(),
    };
    let mut at = head.len() as u64;
    let items = fields.into_iter().map(|(user, numbers)| {
        let (datatype, colours, spins) = record_type(numbers, *bits);
        let letter = if *bits == 32 { 'F' } else { 'D' };
        let private = format!(
            "{XML}<scidacRecord><version>1.1</version><date>{date}</date>\
             <recordtype>0</recordtype><datatype>{datatype}</datatype>\
             <precision>{letter}</precision><colors>{colours}</colors><spins>{spins}</spins>\
             <typesize>{}</typesize><datacount>1</datacount></scidacRecord>",
            numbers * *bits as usize / 8
        );
        let mut before = Vec::new();
        lime::put_text(&mut before, RecordPosition::First, "scidac-private-record-xml", &private);
        lime::put_text(&mut before, RecordPosition::Inside, "scidac-record-xml", &user);
        let length = Data::scidac(0, *bits, numbers).length(extents);
        lime::put_header(&mut before, RecordPosition::Inside, "scidac-binary-data", length);
        let data = Data::scidac(at + before.len() as u64, *bits, numbers);
        at = data.offset + length + after(&data, extents, [0; 2]).len() as u64;
        Item { before, data }
    });
    let items = items.collect();
    Ok((head, items))
}

/// The records of one field: texts of its private and user records and of its checksum, and the place of its data.
#[derive(Default)]
struct Message {
    private: Option<String>,
    user: Option<String>,
    data: Option<Record>,
    checksum: Option<String>,
}

/// A field that can be read, and where it is.
struct Field {
    data: Data,
    stored: Option<[u32; 2]>,
}

/// A propagator in a file. Headers and lengths have been checked; fields are read in parts, by one process or by
/// many. Sources in the file are separate fields.
pub struct PropagatorReader {
    input: Input,
    extents: [usize; 4],
    fields: Vec<Field>,
    sources: Vec<Field>,
    origin: Origin,
    warnings: Warnings,
}

impl PropagatorReader {
    /// # Errors
    /// `FileOpen`: no such regular file or it cannot be read; `FileFormat`: no propagator in SciDAC's form;
    /// `FileExtents`: not the lattice `expect`; `FileTruncated`.
    pub fn open(path: &Path, expect: Option<[usize; 4]>) -> Result<Self> {
        let mut input = Input::open(path)?;
        if input.peek(4)? != lime::MAGIC {
            bail!(FileFormat, "{}: not a LIME file", path.display());
        }
        let (file, messages, warnings) = scan(&mut input)?;
        let Some(file) = file else {
            return Err(input.error(Status::FileFormat, "no scidac-private-file-xml record"));
        };
        let extents = input.extents(parse_private_file(&input, &file)?, expect)?;
        let (mut columns, mut sources, mut origin) = (Vec::new(), Vec::new(), Origin::default());
        for message in &messages {
            match field(&input, extents, message)? {
                None => {}
                Some(MessageField::Source(source)) => sources.push(source),
                Some(MessageField::Column(field, place, of)) => {
                    origin = origin.or(*of);
                    columns.push((field, place));
                }
            }
        }
        // Columns are sorted by spin and colour if the records of all twelve name them.
        let places: Option<Vec<usize>> = columns.iter().map(|(_, place)| *place).collect();
        if let Some(mut places) = places.filter(|places| places.len() == 12) {
            places.sort_unstable();
            if places.iter().enumerate().all(|(k, &place)| k == place) {
                columns.sort_by_key(|(_, place)| *place);
            }
        }
        let fields: Vec<Field> = columns.into_iter().map(|(field, _)| field).collect();
        let matrices = fields.iter().filter(|f| f.data.memory == MATRIX).count();
        if fields.is_empty() || matrices > 0 && fields.len() > 1 {
            let message = format!(
                "expected spinors or one field of matrices, found {} spinors and {matrices} matrices",
                fields.len() - matrices
            );
            return Err(input.error(Status::FileFormat, message));
        }
        if fields.iter().any(|f| f.data.bits != fields[0].data.bits) {
            return Err(input.error(Status::FileFormat, "fields in single and in double precision"));
        }
        Ok(PropagatorReader { input, extents, fields, sources, origin, warnings })
    }

    /// The origin of the columns according to the records of the file.
    pub fn origin(&self) -> Origin {
        self.origin
    }
    /// Number of sources in the file: spinors, or complex fields.
    pub fn sources(&self) -> usize {
        self.sources.len()
    }

    /// Reads source `k` on a part of the lattice: 24 numbers per site of a spinor, 2 per site of a complex field.
    ///
    /// # Errors
    /// `BadExtents`: `part` is not a part of the file's lattice; `FileOpen`, `FileTruncated`, `OutOfMemory`.
    pub fn read_source(&mut self, k: usize, part: &Part) -> Result<Vec<f64>> {
        check_part(part, self.extents)?;
        Ok(self.sources[k].data.read(&mut self.input, part)?.0)
    }

    /// Faults of the file in spite of which its fields can be read.
    pub fn warnings(&self) -> Warnings {
        self.warnings
    }

    /// Extents X, Y, Z, T of the whole lattice.
    pub fn extents(&self) -> [usize; 4] {
        self.extents
    }
    /// Number of fields to read: one for each column, or a single one of matrices.
    pub fn fields(&self) -> usize {
        self.fields.len()
    }
    /// Whether the file has a single field of matrices, which contains twelve columns.
    pub fn is_matrix(&self) -> bool {
        self.fields[0].data.memory == MATRIX
    }
    /// Number of bits of a stored number, 32 or 64.
    pub fn bits(&self) -> u32 {
        self.fields[0].data.bits
    }

    /// Reads field `k` on a part of the lattice; returns its numbers and their contribution to the checksum.
    ///
    /// # Errors
    /// `BadExtents`: `part` is not a part of the file's lattice; `FileOpen`, `FileTruncated`, `OutOfMemory`.
    pub fn read(&mut self, k: usize, part: &Part) -> Result<(Vec<f64>, [u32; 2])> {
        check_part(part, self.extents)?;
        self.fields[k].data.read(&mut self.input, part)
    }

    /// Compares the checksum of field `k` with the contributions of parts that cover the lattice.
    ///
    /// # Errors
    /// `FileChecksum`.
    pub fn verify(&self, k: usize, shares: &[[u32; 2]]) -> Result<()> {
        let found = Sum::SciDac.combine(shares);
        match self.fields[k].stored {
            Some(stored) if stored != found => Err(self.input.error(
                Status::FileChecksum,
                format!("checksum {found:x?} of field {k}, {stored:x?} in the file"),
            )),
            _ => Ok(()),
        }
    }
}

/// Reads all records: the text of `scidac-private-file-xml`, the fields, and the faults of the container.
fn scan(input: &mut Input) -> Result<(Option<String>, Vec<Message>, Warnings)> {
    let (mut file, mut messages) = (None, Vec::<Message>::new());
    let ending = lime::scan(input, |input, record| {
        if record.kind == "scidac-private-record-xml" {
            if messages.len() > 2 * MAX_COLUMNS {
                return Err(input.error(Status::FileFormat, "too many fields for a propagator"));
            }
            messages.push(Message::default());
        }
        let text = match (record.kind.as_str(), messages.last_mut()) {
            ("scidac-private-file-xml", _) => &mut file,
            ("scidac-private-record-xml", Some(m)) => &mut m.private,
            ("scidac-record-xml", Some(m)) => &mut m.user,
            ("scidac-checksum", Some(m)) => &mut m.checksum,
            ("scidac-binary-data", Some(m)) => {
                m.data.get_or_insert(record);
                return Ok(());
            }
            _ => return Ok(()),
        };
        if text.is_none() && record.length <= LONGEST_TEXT {
            *text = Some(record.text(input)?);
        }
        Ok(())
    })?;
    let last = messages.iter().rfind(|m| m.data.is_some());
    let checked = last.is_some_and(|m| m.checksum.is_some());
    let mut warnings = ending.warnings(input, last.is_some(), checked)?;
    if messages.iter().any(|m| m.data.is_some() && m.checksum.is_none()) {
        warnings.insert(Warning::NoChecksum);
    }
    Ok((file, messages, warnings))
}

/// The field that a message of the file contains.
enum MessageField {
    Source(Field),
    /// A solution: its numbers, its column 3 spin + colour if the message gives it, and its origin.
    Column(Field, Option<usize>, Box<Origin>),
}

fn field(input: &Input, extents: [usize; 4], message: &Message) -> Result<Option<MessageField>> {
    let (Some(private), Some(record)) = (&message.private, &message.data) else { return Ok(None) };
    // The user's record may be any text.
    let document = message.user.as_deref().and_then(|text| parse_xml(text).ok());
    let of_user = |tag: &str| {
        let document = document.as_ref()?;
        document.descendants().find(|n| n.tag_name().name() == tag)
    };
    let is_source = of_user(SOURCE).is_some();
    let private = Xml::new(input, "scidac-private-record-xml", private)?;
    let bits = private.parse("precision", |p| match p {
        "F" => Some(32),
        "D" => Some(64),
        _ => None,
    })?;
    let of_kind: &[usize] = if is_source { &[2, SPINOR] } else { &[SPINOR, MATRIX] };
    let mut sizes = of_kind.iter().copied();
    let Some(numbers) = sizes.find(|&n| Data::scidac(0, bits, n).length(extents) == record.length)
    else {
        if is_source {
            return Ok(None);
        }
        let site = 8 * record.length / (u64::from(bits) * extents.iter().product::<usize>() as u64);
        let message = format!(
            "a record of {} bytes, {site} numbers of {bits} bits a site: neither spinors nor \
             matrices of spin and colour",
            record.length
        );
        return Err(input.error(Status::FileFormat, message));
    };
    let stored = match &message.checksum {
        Some(sums) => {
            let xml = Xml::new(input, "scidac-checksum", sums)?;
            Some([xml.parse("suma", text::hexadecimal)?, xml.parse("sumb", text::hexadecimal)?])
        }
        None => None,
    };
    let index = |tag: &str, max: u64| {
        number(of_user(tag)?.text()?.trim()).filter(|&n| n < max).map(|n| n as usize)
    };
    let place = index("spin", 4).zip(index("color", 3)).map(|(s, c)| 3 * s + c);
    let data = Data::scidac(record.offset, bits, numbers);
    let field = Field { data, stored };
    if is_source {
        return Ok(Some(MessageField::Source(field)));
    }
    let origin = document.as_ref().map(|d| Origin::of_xml(d, extents)).unwrap_or_default();
    Ok(Some(MessageField::Column(field, place, Box::new(origin))))
}
