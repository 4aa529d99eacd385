//! Faults of a file that could be read.

use std::path::Path;

use crate::error::words;
use crate::params::choices;

/// A fault of a file that does not keep its content from being read. Printed, it continues a sentence that begins
/// with the file's name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Warning {
    /// ILDG: the record `ildg-format` is no XML; SciDAC's records gave lattice and precision.
    Format,
    /// The checksum is not that of the links, which the caller has admitted.
    WrongChecksum,
    /// The file has no checksum.
    NoChecksum,
    /// LIME: a message does not end with a record that says so.
    MessageEnd,
    /// LIME: the last record is not filled up to a multiple of eight bytes.
    Padding,
    /// LIME: bytes follow the last record.
    Trailing,
    /// Numbers of double precision whose links are unitary in single precision only.
    SinglePrecision,
}

words!(Warning {
    Format => "the record ildg-format is no XML; SciDAC's records gave lattice and precision",
    WrongChecksum => "the checksum is not that of the links",
    NoChecksum => "there is no checksum: damage that keeps links unitary goes unnoticed",
    MessageEnd => "a LIME message has no end mark; everything that belongs to it is there",
    Padding => "the last LIME record is not filled up to a multiple of 8 bytes",
    Trailing => "bytes follow the last LIME record",
    SinglePrecision => "links in double precision are unitary only to single precision",
});

choices! {
    /// Faults of a file that could be read.
    names Warning: plaq_file_warning {
        /// ILDG: the record ildg-format is no XML; SciDAC's records gave lattice and precision.
        Format = 1, PLAQ_FILE_WARNING_FORMAT, "format";
        /// The checksum is not that of the links (plaq_gauge_read_params.wrong_checksum).
        WrongChecksum = 2, PLAQ_FILE_WARNING_CHECKSUM, "checksum";
        /// The file has no checksum: damage that keeps links unitary goes unnoticed.
        NoChecksum = 4, PLAQ_FILE_WARNING_NO_CHECKSUM, "no_checksum";
        /// LIME: a message has no end mark, but everything that belongs to it is there.
        MessageEnd = 8, PLAQ_FILE_WARNING_MESSAGE_END, "message_end";
        /// LIME: the last record is not filled up to a multiple of 8 bytes.
        Padding = 16, PLAQ_FILE_WARNING_PADDING, "padding";
        /// LIME: bytes follow the last record.
        Trailing = 32, PLAQ_FILE_WARNING_TRAILING, "trailing";
        /// Links in double precision that are unitary only to single precision.
        SinglePrecision = 64, PLAQ_FILE_WARNING_SINGLE_PRECISION, "single_precision";
    }
}

impl Warning {
    pub const ALL: [Warning; 7] = [
        Warning::Format,
        Warning::WrongChecksum,
        Warning::NoChecksum,
        Warning::MessageEnd,
        Warning::Padding,
        Warning::Trailing,
        Warning::SinglePrecision,
    ];

    fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// The warnings about one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Warnings(u32);

impl Warnings {
    pub fn insert(&mut self, warning: Warning) {
        self.0 |= warning.bit();
    }
    pub fn contains(self, warning: Warning) -> bool {
        self.0 & warning.bit() != 0
    }
    /// The warnings that were found, in the order of [`Warning::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Warning> {
        Warning::ALL.into_iter().filter(move |warning| self.contains(*warning))
    }
    /// Writes the warnings to the log; a missing checksum counts as information, since some formats have none.
    pub(crate) fn log(self, path: &Path) {
        for warning in self.iter() {
            let level = match warning {
                Warning::NoChecksum => log::Level::Info,
                _ => log::Level::Warn,
            };
            log::log!(level, "{}: {warning}", path.display());
        }
    }
}

impl FromIterator<Warning> for Warnings {
    fn from_iter<I: IntoIterator<Item = Warning>>(all: I) -> Self {
        let mut warnings = Warnings::default();
        all.into_iter().for_each(|warning| warnings.insert(warning));
        warnings
    }
}
