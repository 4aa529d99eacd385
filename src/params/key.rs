//! Keys of settings: hashes that differ where one setting does.

use std::hash::{DefaultHasher, Hash, Hasher};

use num_complex::Complex64;

/// A hash of settings by which work or results are found again, such as the kernels of a solve that were compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(u64);

impl Key {
    /// The key of these settings: a tuple of a word for their kind and of all that is hashed.
    pub fn of(settings: impl Hash) -> Self {
        let mut state = DefaultHasher::new();
        settings.hash(&mut state);
        Key(state.finish())
    }
}

/// Real and complex numbers, which the standard library does not hash, and lists of them: hashed by their bits.
pub trait Reals {
    fn hash_bits(&self, state: &mut impl Hasher);
}

impl Reals for f64 {
    fn hash_bits(&self, state: &mut impl Hasher) {
        state.write_u64(self.to_bits());
    }
}
impl Reals for Complex64 {
    fn hash_bits(&self, state: &mut impl Hasher) {
        (self.re, self.im).hash_bits(state);
    }
}
impl<A: Reals, B: Reals> Reals for (A, B) {
    fn hash_bits(&self, state: &mut impl Hasher) {
        self.0.hash_bits(state);
        self.1.hash_bits(state);
    }
}
impl<T: Reals> Reals for [T] {
    fn hash_bits(&self, state: &mut impl Hasher) {
        state.write_usize(self.len());
        self.iter().for_each(|number| number.hash_bits(state));
    }
}
impl<T: Reals, const N: usize> Reals for [T; N] {
    fn hash_bits(&self, state: &mut impl Hasher) {
        self[..].hash_bits(state);
    }
}
impl<T: Reals> Reals for Option<T> {
    fn hash_bits(&self, state: &mut impl Hasher) {
        self.as_slice().hash_bits(state);
    }
}

/// Implements `Hash` for structs of settings: `Name { members; reals }`, where the members behind the semicolon are
/// [`Reals`]. A member that is not named does not compile.
#[macro_export]
macro_rules! hash_members {
    ($($name:ident { $($member:ident),*; $($real:ident),* })*) => { $(
        impl std::hash::Hash for $name {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                let $name { $($member,)* $($real),* } = self;
                $(std::hash::Hash::hash($member, state);)*
                $($crate::params::Reals::hash_bits($real, state);)*
            }
        }
    )* };
}
pub use crate::hash_members;
