//! Tests of files of vectors.

use super::lattice::Folder;
use plaq::io::{Part, VectorHeader, VectorReader, VectorWriter};
use std::fs;

/// Files from before colour vectors were added do not state the number of spins; they are read as spinors.
#[test]
fn files_without_the_number_of_spins_hold_spinors() {
    let folder = Folder::new("spins");
    let path = folder.file("vectors");
    let extents = [2, 4, 2, 2];
    let header = VectorHeader {
        kind: "eigen".into(),
        extents,
        bits: 64,
        spins: 4,
        count: 1,
        tables: vec![("values".into(), vec![0.5])],
    };
    let part = Part::whole(extents);
    let numbers: Vec<f64> = (0..32 * header.reals()).map(|k| k as f64).collect();
    let mut writer = VectorWriter::create(&path, &header).unwrap();
    let share = writer.write(0, &part, &numbers).unwrap();
    writer.finish(&[vec![share]]).unwrap();
    // The changed record keeps its length.
    let mut bytes = fs::read(&path).unwrap();
    let tag = b"<spins>4</spins>";
    let at = bytes.windows(tag.len()).position(|w| w == tag).expect("the tag");
    let own = bytes.windows(15).position(|w| w == b"<scidacRecord><").expect("a vector's record");
    assert!(at < own, "the tag is in the file's record");
    bytes[at..at + tag.len()].fill(b' ');
    fs::write(&path, &bytes).unwrap();
    let mut reader = VectorReader::open(&path, Some(extents)).unwrap();
    assert_eq!(reader.header(), &header);
    let (back, share) = reader.read(0, &part).unwrap();
    assert_eq!(back, numbers);
    reader.verify(0, &[share]).unwrap();
    // A tag with an impossible number of spins is an error, and is not replaced by a default.
    bytes[at..at + tag.len()].copy_from_slice(b"<spins>2</spins>");
    fs::write(&path, &bytes).unwrap();
    assert!(VectorReader::open(&path, None).is_err());
}
