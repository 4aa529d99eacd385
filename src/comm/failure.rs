//! What a rank that failed tells the others: which call, what status, what message.

use crate::error::{Error, Status};

const HEAD: usize = 24;

#[derive(Clone, Debug, Default)]
pub(super) struct Failure {
    pub rank: usize,
    /// Number of the guarded call that failed.
    pub call: i64,
    /// True if the whole Comm is lost, false if only this call failed.
    pub lost: bool,
    status: i32,
    message: String,
}

impl Failure {
    /// Length of every failure message, so that receivers need not ask for it.
    pub const BYTES: usize = 1024;

    pub fn new(rank: usize, call: i64, lost: bool, error: &Error) -> Failure {
        let mut end = error.message.len().min(Self::BYTES - HEAD);
        while !error.message.is_char_boundary(end) {
            end -= 1;
        }
        let message = error.message[..end].to_string();
        Failure { rank, call, lost, status: error.status as i32, message }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::BYTES);
        bytes.extend(self.call.to_ne_bytes());
        for word in [self.rank as i32, self.lost as i32, self.status, self.message.len() as i32] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(self.message.as_bytes());
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
            message: String::from_utf8_lossy(&bytes[HEAD..HEAD + length]).into_owned(),
        }
    }

    fn row(&self) -> (Status, &'static str) {
        let row = Status::TABLE.iter().find(|row| row.0 as i32 == self.status);
        row.map_or((Status::Internal, "INTERNAL"), |row| (row.0, row.1))
    }

    /// The error as the other ranks return it.
    pub fn error(&self) -> Error {
        Error::new(self.row().0, format!("rank {}: {}", self.rank, self.message))
    }

    /// The error that ranks return which waited for this one.
    pub fn loss(&self) -> Error {
        let (status, name) = self.row();
        let message = match status {
            Status::CommFailed => format!("rank {}: {}", self.rank, self.message),
            _ => format!("rank {} failed with PLAQ_{name}: {}", self.rank, self.message),
        };
        Error::new(Status::CommFailed, message)
    }
}
