//! Terms of a quark's operator as attributes of HDF5.

use crate::io::hdf5::{Attribute, Attributes};
use crate::operators::TermValue;

/// The terms of an operator except its boundary, which files store in a form of its own.
pub fn attributes(terms: Vec<(&'static str, TermValue)>) -> Attributes {
    let own = terms.into_iter().filter(|(name, _)| *name != "boundary");
    own.map(|(name, value)| match value {
        TermValue::Number(number) => (name, Attribute::Number(number)),
        TermValue::Numbers(numbers) => (name, Attribute::Numbers(numbers)),
        TermValue::Word(word) => (name, Attribute::Text(word.into())),
    })
    .collect()
}
