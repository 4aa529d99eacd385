//! The message by which a rank reports a failure to the others: which call, which status, and the text of the error.

use crate::error::{Error, Status};

const HEAD: usize = 24;

/// Separates the parts of an error; a control character that does not occur in texts.
const BETWEEN: char = '\u{1f}';

#[derive(Clone, Debug, Default)]
pub(super) struct Failure {
    pub rank: usize,
    /// Number of the guarded call that failed.
    pub call: i64,
    /// True if the whole Comm is lost, false if only this call failed.
    pub lost: bool,
    status: i32,
    /// The parts of the error, with [`BETWEEN`] in between.
    text: String,
}

impl Failure {
    /// Length in bytes of every failure message; as it is fixed, receivers need not find it out.
    pub const BYTES: usize = 1024;

    pub fn new(rank: usize, call: i64, lost: bool, error: &Error) -> Failure {
        let (status, parts) = error.parts();
        let mut text = parts.join(&BETWEEN.to_string());
        let mut end = text.len().min(Self::BYTES - HEAD);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        Failure { rank, call, lost, status: status as i32, text }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::BYTES);
        bytes.extend(self.call.to_ne_bytes());
        for word in [self.rank as i32, self.lost as i32, self.status, self.text.len() as i32] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(self.text.as_bytes());
        bytes.resize(Self::BYTES, 0);
        bytes
    }

    pub fn read(bytes: &[u8]) -> Failure {
        let word = |i: usize| {
            bytes[8 + 4 * i..].first_chunk().map_or(0, |b: &[u8; 4]| i32::from_ne_bytes(*b))
        };
        let length = (word(3) as usize).min(bytes.len() - HEAD);
        Failure {
            rank: word(0) as usize,
            call: bytes.first_chunk().map_or(0, |b: &[u8; 8]| i64::from_ne_bytes(*b)),
            lost: word(1) != 0,
            status: word(2),
            text: String::from_utf8_lossy(&bytes[HEAD..HEAD + length]).into_owned(),
        }
    }

    fn row(&self) -> (Status, &'static str) {
        let row = Status::TABLE.iter().find(|row| row.0 as i32 == self.status);
        row.map_or((Status::Internal, "INTERNAL"), |row| (row.0, row.1))
    }

    /// The error as the other ranks return it.
    pub fn error(&self) -> Error {
        self.bare().at(format!("rank {}", self.rank))
    }

    fn bare(&self) -> Error {
        let mut parts = self.text.split(BETWEEN).map(String::from);
        Error::from_parts(self.row().0, std::array::from_fn(|_| parts.next().unwrap_or_default()))
    }

    /// The error that other ranks return if they waited for the rank that failed and the Comm is lost.
    pub fn loss(&self) -> Error {
        let (status, name) = self.row();
        let place = match status {
            Status::CommFailed => format!("rank {}", self.rank),
            _ => format!("rank {} failed with PLAQ_{name}", self.rank),
        };
        self.bare().with_status(Status::CommFailed).at(place)
    }
}
