//! The hash by which ranks compare a call that they make together.

/// A hash of what all ranks pass alike to a call that they make together; none where a rank's arguments
/// are wrong.
#[derive(Default)]
pub struct Digest {
    hash: blake3::Hasher,
    wrong: bool,
}

/// A parameter struct whose members, one after the other, enter the hash that ranks compare.
pub(crate) trait Digested {
    fn digest(&self, digest: &mut Digest);
}

impl Digest {
    /// Names of members that may differ between ranks: sizes of arrays for results, and those that say where and how
    /// each rank keeps its part of a field.
    const OWN: &'static [&'static str] = &[
        "capacity",
        "location",
        "arrays",
        "order",
        "site_bytes",
        "site_offset",
        "device",
        "ordinal",
        "threads",
    ];

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
    }
    /// Bytes whose number is not known otherwise.
    pub(crate) fn text(&mut self, text: &[u8]) {
        self.bytes(&text.len().to_ne_bytes());
        self.bytes(text);
    }
    /// Does what is called so count?
    pub(crate) fn counts(name: &str) -> bool {
        !Self::OWN.contains(&name)
    }
    /// An argument is wrong on this rank, which the call is told without a comparison.
    pub(crate) fn refuse(&mut self) {
        self.wrong = true;
    }
    pub fn finish(self) -> Option<u64> {
        let hash = self.hash.finalize();
        let word: Option<&[u8; 8]> = hash.as_bytes().first_chunk();
        word.map(|word| u64::from_ne_bytes(*word)).filter(|_| !self.wrong)
    }
}
