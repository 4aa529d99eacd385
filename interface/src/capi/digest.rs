//! The hash by which ranks compare the arguments of a call that they make together.

/// A hash of the arguments that all ranks must pass alike to a call that they make together; none if the arguments
/// are wrong on this rank.
#[derive(Default)]
pub struct Digest {
    hash: blake3::Hasher,
    wrong: bool,
}

/// A parameter struct whose members are added, one after the other, to the hash that ranks compare.
pub(crate) trait Digested {
    fn digest(&self, digest: &mut Digest);
}

impl Digest {
    /// Names of members that may differ between ranks: sizes of arrays for results, and members that describe where
    /// and how a rank stores its part of a field.
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
    /// Adds bytes of variable length, with their length.
    pub(crate) fn text(&mut self, text: &[u8]) {
        self.bytes(&text.len().to_ne_bytes());
        self.bytes(text);
    }
    /// Whether the member of this name has to be the same on all ranks.
    pub(crate) fn counts(name: &str) -> bool {
        !Self::OWN.contains(&name)
    }
    /// Marks that an argument is wrong on this rank, so that ranks report this error and not a difference.
    pub(crate) fn refuse(&mut self) {
        self.wrong = true;
    }
    pub fn finish(self) -> Option<u64> {
        let hash = self.hash.finalize();
        let word: Option<&[u8; 8]> = hash.as_bytes().first_chunk();
        word.map(|word| u64::from_ne_bytes(*word)).filter(|_| !self.wrong)
    }
}
