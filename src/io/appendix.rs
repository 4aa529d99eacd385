//! Additional fields after the configuration in an ILDG file. Each has a message of three records: `plaq-field`, its
//! name as text; `plaq-field-data`, float64 big endian, the same count for each site, sites with x fastest; and
//! `plaq-field-checksum` as `scidac-checksum` is. Other readers of configurations ignore them.

use std::path::Path;

use super::data::{Data, Part};
use super::ildg::{Xml, XML};
use super::lime::{self, RecordPosition};
use super::stream::{Input, Output};
use super::text::hexadecimal;
use super::{check_part, FileFormat};
use crate::bail;
use crate::error::{Result, Status};
use crate::refuse;

const NAME: &str = "plaq-field";
const DATA: &str = "plaq-field-data";
const CHECKSUM: &str = "plaq-field-checksum";

/// A field in a file: its name, without control characters, and the count of reals for each site.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldShape {
    pub name: String,
    pub reals: usize,
}

/// A field in a file that is being written: the bytes of its records before the numbers, and the layout of these.
pub(super) struct Item {
    before: Vec<u8>,
    data: Data,
}

fn checksum(data: &Data, extents: [usize; 4], [a, b]: [u32; 2]) -> Vec<u8> {
    let mut out = Vec::new();
    lime::pad(&mut out, data.length(extents));
    let text = format!(
        "{XML}<scidacChecksum><version>1.0</version>\
         <suma>{a:08x}</suma><sumb>{b:08x}</sumb></scidacChecksum>"
    );
    lime::put_text(&mut out, RecordPosition::Last, CHECKSUM, &text);
    out
}

/// Determines the places of fields after byte `at` of a file.
///
/// # Errors
/// `Unsupported`: a format other than ILDG; `InvalidArgument`: a name that cannot stand in the file.
pub(super) fn plan(
    fields: &[FieldShape],
    format: FileFormat,
    extents: [usize; 4],
    mut at: u64,
) -> Result<Vec<Item>> {
    if !fields.is_empty() && format != FileFormat::Ildg {
        refuse!(Unsupported, "format", expected("ILDG for fields beside links"), found("{format}"));
    }
    let item = |field: &FieldShape| {
        if field.name.chars().any(char::is_control) || field.reals == 0 {
            bail!(InvalidArgument, "field {:?} of {} reals", field.name, field.reals);
        }
        let mut before = Vec::new();
        lime::put_text(&mut before, RecordPosition::First, NAME, &field.name);
        let length = Data::scidac(0, 64, field.reals).length(extents);
        lime::put_header(&mut before, RecordPosition::Inside, DATA, length);
        let data = Data::scidac(at + before.len() as u64, 64, field.reals);
        at = data.offset + length + checksum(&data, extents, [0; 2]).len() as u64;
        Ok(Item { before, data })
    };
    fields.iter().map(item).collect()
}

impl Item {
    /// Writes the field's numbers on a part of the lattice; returns their contribution to the checksum.
    ///
    /// # Errors
    /// `BadExtents`: `part` is not a part of the lattice, or `numbers` does not have its length; `FileWrite`.
    pub fn write(
        &self,
        output: &mut Output,
        extents: [usize; 4],
        part: &Part,
        numbers: &[f64],
    ) -> Result<[u32; 2]> {
        check_part(part, extents)?;
        let expected = self.data.memory * part.volume();
        if numbers.len() != expected {
            refuse!(
                BadExtents,
                "field",
                expected("{expected} numbers"),
                found("{}", numbers.len())
            );
        }
        self.data.write(output, part, numbers)
    }

    /// Writes the records before and after the numbers.
    pub fn finish(
        &self,
        output: &mut Output,
        extents: [usize; 4],
        shares: &[[u32; 2]],
    ) -> Result<()> {
        output.seek(self.data.offset - self.before.len() as u64)?;
        output.put(&self.before)?;
        output.seek(self.data.offset + self.data.length(extents))?;
        output.put(&checksum(&self.data, extents, self.data.sum.combine(shares)))
    }
}

/// A field that can be read, and where it is.
struct Stored {
    shape: FieldShape,
    data: Data,
    sum: [u32; 2],
}

/// Reads the additional fields in a configuration's file, part by part, in one process or in many.
pub struct FieldReader {
    input: Input,
    extents: [usize; 4],
    fields: Vec<Stored>,
}

impl FieldReader {
    /// Finds the fields in a file whose lattice is `extents`; none if it is not a LIME file.
    ///
    /// # Errors
    /// `FileOpen`; `FileFormat`: records that are not those of fields on this lattice; `FileTruncated`.
    pub fn open(path: &Path, extents: [usize; 4]) -> Result<Self> {
        let mut input = Input::open(path)?;
        let mut fields = vec![];
        if input.peek(4)? == lime::MAGIC {
            let volume: usize = extents.iter().product();
            let (mut name, mut data) = (None, None);
            lime::scan(&mut input, |input, record| {
                match record.kind.as_str() {
                    NAME => name = Some(record.text(input)?),
                    DATA => data = Some(record),
                    CHECKSUM => {
                        let text = record.text(input)?;
                        let xml = Xml::new(input, CHECKSUM, &text)?;
                        let sum =
                            [xml.parse("suma", hexadecimal)?, xml.parse("sumb", hexadecimal)?];
                        let (Some(name), Some(data)) = (name.take(), data.take()) else {
                            let message = format!("record {CHECKSUM} without a field");
                            return Err(input.error(Status::FileFormat, message));
                        };
                        let reals = (data.length as usize / 8) / volume;
                        let place = Data::scidac(data.offset, 64, reals);
                        if reals == 0 || place.length(extents) != data.length {
                            let message = format!(
                                "field {name:?} has {} bytes, which is no number of reals a site on {extents:?}",
                                data.length
                            );
                            return Err(input.error(Status::FileFormat, message));
                        }
                        fields.push(Stored { shape: FieldShape { name, reals }, data: place, sum });
                    }
                    _ => {}
                }
                Ok(())
            })?;
        }
        Ok(FieldReader { input, extents, fields })
    }

    /// The fields in the order of the file.
    pub fn shapes(&self) -> impl Iterator<Item = &FieldShape> {
        self.fields.iter().map(|field| &field.shape)
    }

    /// Reads field number k on a part of the lattice; returns it with its contribution to the checksum, for
    /// [`FieldReader::verify`].
    ///
    /// # Errors
    /// `BadExtents`: `part` is not a part of the file's lattice; `FileOpen`, `FileTruncated`, `OutOfMemory`.
    pub fn read(&mut self, k: usize, part: &Part) -> Result<(Vec<f64>, [u32; 2])> {
        check_part(part, self.extents)?;
        self.fields[k].data.read(&mut self.input, part)
    }

    /// Compares the checksum of field number k with the contributions of parts that cover the lattice.
    ///
    /// # Errors
    /// `FileChecksum`.
    pub fn verify(&self, k: usize, shares: &[[u32; 2]]) -> Result<()> {
        let field = &self.fields[k];
        let found = field.data.sum.combine(shares);
        if found != field.sum {
            let message = format!(
                "checksum {found:x?} of the field {:?}, {:x?} in the file",
                field.shape.name, field.sum
            );
            return Err(self.input.error(Status::FileChecksum, message));
        }
        Ok(())
    }
}
