//! Tests of complete files that deviate from their formats' rules: they are read, with warnings.

use super::lattice::*;
use super::options;
use plaq::error::{Result, Status};
use plaq::io::{
    read_gauge, write_gauge, ByteOrder, FileFormat, GaugeFile, Part, VectorHeader, VectorReader,
    VectorWriter, Warning, WriteOptions,
};
use std::fs;
use std::path::PathBuf;

const N: [usize; 4] = [2, 4, 2, 6];

/// The bytes of a complete file, and the links in it.
struct Whole {
    folder: Folder,
    links: Vec<f64>,
    bytes: Vec<u8>,
}

impl Whole {
    fn new(name: &str, format: FileFormat, change: impl Fn(&mut WriteOptions)) -> Self {
        let folder = Folder::new(name);
        let links = Random(21).links(N, 1.0);
        let mut options = options(N, &links);
        change(&mut options);
        write_gauge(&folder.file("whole"), format, &options, N, &links).unwrap();
        let bytes = fs::read(folder.file("whole")).unwrap();
        Whole { folder, links, bytes }
    }

    fn path(&self) -> PathBuf {
        self.folder.file("changed")
    }

    fn read(&self, bytes: &[u8]) -> Result<GaugeFile> {
        fs::write(self.path(), bytes).unwrap();
        read_gauge(&self.path(), Some(N))
    }

    fn status(&self, bytes: &[u8]) -> Status {
        self.read(bytes).unwrap_err().status
    }

    /// Checks that the links are read with exactly these warnings.
    fn reads(&self, bytes: &[u8], warnings: &[Warning], what: &str) -> GaugeFile {
        let file = self.read(bytes).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert!(file.links == self.links, "{what}");
        assert_eq!(file.info.warnings.iter().collect::<Vec<_>>(), warnings, "{what}");
        file
    }
}

/// LIME records: kind, start of the header, start of the data, and length of the data.
fn records(bytes: &[u8]) -> Vec<(String, usize, usize, usize)> {
    let (mut all, mut at) = (vec![], 0);
    while at < bytes.len() {
        let length = u64::from_be_bytes(bytes[at + 8..at + 16].try_into().unwrap()) as usize;
        let kind = bytes[at + 16..at + 144].split(|b| *b == 0).next().unwrap();
        all.push((String::from_utf8(kind.to_vec()).unwrap(), at, at + 144, length));
        at += 144 + length.next_multiple_of(8);
    }
    all
}

fn without_ends(bytes: &[u8]) -> Vec<u8> {
    let mut open = bytes.to_vec();
    records(bytes).iter().for_each(|(_, at, ..)| open[at + 6] &= !0x40);
    open
}

/// The file without the padding after its last record, whose text has a length that is no multiple of eight.
fn unpadded(bytes: &[u8]) -> Vec<u8> {
    let (_, at, data, length) = records(bytes).pop().unwrap();
    let text: Vec<u8> = bytes[data..data + length].iter().copied().filter(|b| *b != 0).collect();
    let blanks = if (text.len() + 1).is_multiple_of(8) { 2 } else { 1 };
    let text = [&text[..], &b"  "[..blanks]].concat();
    assert!(!text.len().is_multiple_of(8));
    let mut short = bytes[..data].to_vec();
    short[at + 8..at + 16].copy_from_slice(&(text.len() as u64).to_be_bytes());
    short.extend(text);
    short
}

#[test]
fn lime_without_message_ends() {
    let whole = Whole::new("ends", FileFormat::Ildg, |_| ());
    whole.reads(&whole.bytes, &[], "as written");
    let open = without_ends(&whole.bytes);
    whole.reads(&open, &[Warning::MessageEnd], "no message ends");
    let all = records(&whole.bytes);
    for kind in ["scidac-file-xml", "scidac-checksum"] {
        let mut one = whole.bytes.clone();
        let at = all.iter().find(|r| r.0 == kind).unwrap().1;
        one[at + 6] &= !0x40;
        whole.reads(&one, &[Warning::MessageEnd], kind);
    }
    // Without any end-of-message mark a file counts as whole when its data are complete.
    let &(_, checksum, data, length) = all.iter().find(|r| r.0 == "scidac-checksum").unwrap();
    let both = [Warning::NoChecksum, Warning::MessageEnd];
    whole.reads(&open[..checksum], &both, "no message ends and no checksum is there");
    for cut in (0..open.len()).filter(|&at| at < checksum && at % 97 == 0 || at > checksum) {
        match cut < data + length {
            true => assert_eq!(whole.status(&open[..cut]), Status::FileTruncated, "cut to {cut}"),
            false => {
                let both = [Warning::MessageEnd, Warning::Padding];
                whole.reads(&open[..cut], &both, "padding of the last record is cut");
            }
        }
    }
    // If one end-of-message mark is missing at the end, the checksum must be there.
    assert_eq!(whole.status(&whole.bytes[..checksum]), Status::FileTruncated);
}

#[test]
fn lime_with_another_end() {
    let whole = Whole::new("end", FileFormat::Ildg, |_| ());
    let short = unpadded(&whole.bytes);
    whole.reads(&short, &[Warning::Padding], "unpadded");
    assert_eq!(whole.status(&short[..short.len() - 20]), Status::FileTruncated);
    let with = |tail: &[u8]| [&whole.bytes[..], tail].concat();
    for tail in [&b"\n"[..], &[0], &[0; 512], b"-- written by hand --\n", &[1; 200]] {
        whole.reads(&with(tail), &[Warning::Trailing], &format!("{tail:?}"));
    }
    let open = [&without_ends(&whole.bytes)[..], b"\n"].concat();
    whole.reads(&open, &[Warning::MessageEnd, Warning::Trailing], "no ends, and a line feed");
    // A record that has begun and is cut off is not a tail of other bytes.
    for length in 1..144 {
        let begun = with(&whole.bytes[..length]);
        assert_eq!(whole.status(&begun), Status::FileTruncated, "{length} bytes of a record");
    }
    // Before the data, bytes that are no record are not accepted as a tail either.
    let data = records(&whole.bytes).iter().find(|r| r.0 == "ildg-binary-data").unwrap().1;
    let torn = [&whole.bytes[..data], b"\n", &whole.bytes[data..]].concat();
    assert_eq!(whole.status(&torn), Status::FileFormat);
}

#[test]
fn lime_checksum_before_the_data() {
    let whole = Whole::new("before", FileFormat::Ildg, |_| ());
    let all = records(&whole.bytes);
    let &(_, checksum, text, _) = all.last().unwrap();
    let &(_, data, ..) = all.iter().find(|r| r.0 == "ildg-binary-data").unwrap();
    let moved = |sum: &[u8]| {
        let mut bytes = [&whole.bytes[..data], sum, &whole.bytes[data..checksum]].concat();
        bytes[data + 6] &= !0x40;
        bytes[data + sum.len() + 6] |= 0x40;
        bytes
    };
    let sum = &whole.bytes[checksum..];
    whole.reads(&moved(sum), &[], "the checksum stands before the data");
    let mut wrong = sum.to_vec();
    let digit = wrong.windows(6).position(|w| w == b"<suma>").unwrap() + 6;
    wrong[digit] = if wrong[digit] == b'1' { b'2' } else { b'1' };
    assert!(digit > text - checksum);
    assert_eq!(whole.status(&moved(&wrong)), Status::FileChecksum);
    // A checksum record behind the data counts more than one before them.
    let both = [&moved(&wrong)[..], sum].concat();
    whole.reads(&both, &[], "another checksum after the data");
    let mut none = whole.bytes[..checksum].to_vec();
    none[data + 6] |= 0x40;
    whole.reads(&none, &[Warning::NoChecksum], "no checksum");
}

/// Averages are read from the right record of an ILDG file, though user records hold averages of other configurations
/// and of earlier measurements.
#[test]
fn ildg_averages_are_those_of_the_header() {
    let whole = Whole::new("plaq", FileFormat::Ildg, |_| ());
    let of_file = whole.read(&whole.bytes).unwrap().info.plaquette;
    let all = records(&whole.bytes);
    let (_, at, data, length) = all.into_iter().find(|r| r.0 == "scidac-record-xml").unwrap();
    let text = String::from_utf8(whole.bytes[data..data + length - 1].to_vec()).unwrap();
    let with = |text: &str| {
        let mut bytes = whole.bytes[..data].to_vec();
        bytes[at + 8..at + 16].copy_from_slice(&(text.len() as u64).to_be_bytes());
        bytes.extend(text.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes.extend(&whole.bytes[data + length.next_multiple_of(8)..]);
        whole.reads(&bytes, &[], text).info
    };
    let other =
        "<history><plaq>0.125</plaq><linktr>0.25</linktr><info>creator = other</info></history>";
    let nested = text.replacen("<version>", &format!("{other}<version>"), 1);
    assert_ne!(nested, text);
    let info = with(&nested);
    assert_eq!(info.plaquette, of_file);
    assert_eq!(info.creator.as_deref(), Some("tests/io.rs"));
    assert_eq!(info.link_trace, whole.read(&whole.bytes).unwrap().info.link_trace);
    for foreign in [
        "<usqcdInfo><measured><plaq>0.125</plaq></measured></usqcdInfo>",
        "<chroma><plaq>0.125</plaq></chroma>",
    ] {
        let info = with(foreign);
        assert_eq!((info.plaquette, info.user_record.as_deref()), (None, Some(foreign)));
    }
}

/// Splits a file in NERSC's format into header and links.
fn split(bytes: &[u8]) -> (String, &[u8]) {
    let end = b"END_HEADER\n";
    let at = bytes.windows(end.len()).position(|w| w == end).unwrap() + end.len();
    (String::from_utf8(bytes[..at].to_vec()).unwrap(), &bytes[at..])
}

#[test]
fn nersc_headers_of_others() {
    let whole = Whole::new("nersc", FileFormat::Nersc3x3, |_| ());
    let (header, links) = split(&whole.bytes);
    let with = |header: &str| [header.as_bytes(), links].concat();
    let crlf = header.replace('\n', "\r\n");
    let info = whole.reads(&with(&crlf), &[], "CRLF").info;
    assert_eq!(info.ensemble_label.as_deref(), Some("quenched"));
    for blanks in
        ["END_HEADER   \n", "END_HEADER\t\r\n", "END_HEADER\n\n", "END_HEADER \n  \r\n \n"]
    {
        whole.reads(&with(&header.replace("END_HEADER\n", blanks)), &[], blanks);
    }
    let far = format!("{header}{}", " ".repeat(10_000));
    assert_eq!(whole.status(&with(&far)), Status::FileFormat);
    let mut more = whole.bytes.clone();
    more.push(b'\n');
    assert_eq!(whole.status(&more), Status::FileFormat);

    let line = |key: &str| header.lines().find(|line| line.starts_with(key)).unwrap().to_string();
    let no_sum = header.replace(&format!("{}\n", line("CHECKSUM")), "");
    whole.reads(&with(&no_sum), &[Warning::NoChecksum], "no CHECKSUM");
    let nothing = header.replace(&line("CHECKSUM"), "CHECKSUM = ");
    whole.reads(&with(&nothing), &[Warning::NoChecksum], "an empty CHECKSUM");
    let wrong = header.replace(&line("CHECKSUM"), "CHECKSUM = 1");
    assert_eq!(whole.status(&with(&wrong)), Status::FileChecksum);

    // The words of the header's end as values.
    for value in [
        "END_HEADER",
        "at END_HEADER",
        "END_HEADER here",
        "BEGIN_HEADER",
        "CHECKSUM = 5",
        "DATATYPE = 4D_SU4",
    ] {
        let label = format!("ENSEMBLE_LABEL = {value}");
        let info =
            whole.reads(&with(&header.replace(&line("ENSEMBLE_LABEL"), &label)), &[], value).info;
        assert_eq!(info.ensemble_label.as_deref(), Some(value));
        let first = header.replacen('\n', &format!("\n{label}\n"), 1);
        whole.reads(&with(&first), &[], value);
    }
}

#[test]
fn old_versions_of_milc() {
    let whole = Whole::new("milc", FileFormat::Milc, |_| ());
    let single: Vec<f64> = whole.links.iter().map(|v| f64::from(*v as f32)).collect();
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let word = |v: u32| match order {
            ByteOrder::Little => v.to_le_bytes(),
            ByteOrder::Big => v.to_be_bytes(),
        };
        let words = |all: &[u32]| all.iter().flat_map(|v| word(*v)).collect::<Vec<u8>>();
        let extents = N.map(|n| n as u32);
        let data: Vec<u8> = whole.links.iter().flat_map(|v| word((*v as f32).to_bits())).collect();
        let old = |magic: u32| {
            let constants = [6.0f32.to_bits(), 0.0125f32.to_bits()];
            [words(&[magic]), words(&extents), words(&constants), data.clone()].concat()
        };
        let of_1996 = |bytes: u32, order: u32| {
            let mut header = [words(&[53546]), words(&extents), words(&[bytes, order])].concat();
            header.resize(bytes as usize, 7);
            [header, words(&[0]), data.clone()].concat()
        };
        for (bytes, what) in [
            (old(59354), "versions 1 to 4"),
            (of_1996(244, 0), "1996"),
            (of_1996(80, 0), "1996, a shorter header"),
        ] {
            let file = whole.read(&bytes).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(file.links == single, "{what}");
            let info = &file.info;
            assert_eq!((info.format, info.byte_order), (FileFormat::Milc, order), "{what}");
            assert_eq!(info.warnings.iter().collect::<Vec<_>>(), [Warning::NoChecksum], "{what}");
            for cut in [3, 5, 27, 40, bytes.len() - 1] {
                assert_eq!(
                    whole.status(&bytes[..cut]),
                    Status::FileTruncated,
                    "{what} cut to {cut}"
                );
            }
            let longer = [&bytes[..], &[0]].concat();
            assert_eq!(whole.status(&longer), Status::FileFormat, "{what} with a byte more");
        }
        assert_eq!(whole.status(&of_1996(244, 1)), Status::FileFormat);
        assert_eq!(whole.status(&old(59355)), Status::FileFormat);
        let mut no_header = of_1996(244, 0);
        no_header[20..24].copy_from_slice(&word(u32::MAX));
        assert_eq!(whole.status(&no_header), Status::FileFormat);
    }
}

#[test]
fn formats_without_a_checksum_say_so() {
    for (format, warned) in [
        (FileFormat::Nersc, false),
        (FileFormat::Ildg, false),
        (FileFormat::Milc, false),
        (FileFormat::OpenQcd, true),
        (FileFormat::DdAlphaAmg, true),
    ] {
        let whole = Whole::new(&format!("sum{warned}"), format, |_| ());
        let file = whole.read(&whole.bytes).unwrap();
        assert_eq!(file.info.warnings.contains(Warning::NoChecksum), warned, "{format}");
    }
}

#[test]
fn messages_name_what_is_wrong_with_a_file() {
    let whole = Whole::new("messages", FileFormat::Ildg, |_| ());
    let e = whole.read(&whole.bytes[..20_000]).unwrap_err();
    let path = whole.path();
    let expected = format!("{}: the file is incomplete: record ildg-binary-data", path.display());
    assert!(e.message().starts_with(&expected), "{e}");
    let mut flipped = whole.bytes.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    let e = whole.read(&flipped).unwrap_err();
    let expected = format!("{}: the file is damaged: checksum ", path.display());
    assert!(e.message().starts_with(&expected), "{e}");
}

#[test]
fn a_name_may_hold_any_character() {
    let folder = Folder::new("names");
    let links = Random(22).links(N, 1.0);
    for name in ["a:b", "b6.0:c", "x=1,y=2", "@list", "with blank", "\u{e9}\u{df}"] {
        let path = folder.file(name);
        write_gauge(&path, FileFormat::Ildg, &options(N, &links), N, &links).unwrap();
        assert!(read_gauge(&path, Some(N)).unwrap().links == links, "{name}");
    }
}

/// Files of vectors with deviating containers are read with the same warnings.
#[test]
fn files_of_vectors() {
    let folder = Folder::new("vectors");
    let path = folder.file("vectors");
    let tables = vec![("values".into(), vec![0.5, 0.25])];
    let (kind, count) = ("eigen".into(), 2);
    let header = VectorHeader { kind, extents: N, bits: 32, spins: 4, count, tables };
    let part = Part::whole(N);
    let mut writer = VectorWriter::create(&path, &header).unwrap();
    let numbers: Vec<f64> = (0..part.volume() * header.reals()).map(|k| k as f64).collect();
    let shares = [0, 1].map(|k| vec![writer.write(k, &part, &numbers).unwrap()]);
    writer.finish(&shares).unwrap();
    let bytes = fs::read(&path).unwrap();
    let read = |bytes: &[u8]| -> Result<Vec<Warning>> {
        fs::write(&path, bytes).unwrap();
        let mut reader = VectorReader::open(&path, Some(N))?;
        for (k, shares) in shares.iter().enumerate() {
            assert!(reader.read(k, &part)?.0 == numbers);
            reader.verify(k, shares)?;
        }
        Ok(reader.warnings().iter().collect())
    };
    assert_eq!(read(&bytes).unwrap(), []);
    assert_eq!(read(&without_ends(&bytes)).unwrap(), [Warning::MessageEnd]);
    assert_eq!(read(&unpadded(&bytes)).unwrap(), [Warning::Padding]);
    assert_eq!(read(&[&bytes[..], b"\n"].concat()).unwrap(), [Warning::Trailing]);
    for (_, at, ..) in records(&bytes).into_iter().skip(1) {
        assert_eq!(read(&bytes[..at]).unwrap_err().status, Status::FileTruncated, "cut to {at}");
    }
}
