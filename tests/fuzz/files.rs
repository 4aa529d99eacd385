//! Fuzzer of damaged configurations: each file is read or refused within a time limit, without a panic.

use std::path::Path;
use std::time::{Duration, Instant};

use plaq::error::Status;
use plaq::io::{read_gauge, write_gauge, FileFormat, WriteOptions};

/// Time limit for reading one file.
const LONGEST: Duration = Duration::from_secs(10);

struct Dice(u64);

impl Dice {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
    fn below(&mut self, n: usize) -> usize {
        (self.draw() % n.max(1) as u64) as usize
    }
}

const NUMBERS: [&str; 18] = [
    "0",
    "1",
    "2",
    "4",
    "-1",
    "65536",
    "2147483647",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "18446744073709551616",
    "NaN",
    "inf",
    "1e999",
    "",
    " ",
    "0x4",
    "ffffffff",
];

/// A random place in a file of this length, most often before or after the links.
fn place(dice: &mut Dice, length: usize) -> usize {
    match dice.below(4) {
        0 => dice.below(length),
        1 => length - 1 - dice.below(length.min(600)),
        _ => dice.below(length.min(2500)),
    }
}

fn damage(dice: &mut Dice, file: &mut Vec<u8>) {
    for _ in 0..=dice.below(3) {
        if file.is_empty() {
            return;
        }
        let at = place(dice, file.len());
        let some = |dice: &mut Dice, file: &[u8]| (at + 1 + dice.below(200)).min(file.len());
        match dice.below(9) {
            0 => file[at] ^= 1 << dice.below(8),
            1 => file[at] = dice.draw() as u8,
            2 => file.truncate(at),
            3 => {
                let end = some(dice, file);
                file.drain(at..end);
            }
            4 => {
                let end = some(dice, file);
                let copy = file[at..end].to_vec();
                let to = place(dice, file.len());
                file.splice(to..to, copy);
            }
            5 => {
                let count = dice.below(100_000);
                let byte = b"A=\n<> "[dice.below(6)];
                file.splice(at..at, std::iter::repeat_n(byte, count));
            }
            // Replaces a number of the header, between marks of its format.
            6 => {
                let marks = |b: &u8| b"=>\n<".contains(b);
                let Some(begin) = file[at..].iter().position(marks).map(|i| at + i + 1) else {
                    return;
                };
                let end = file[begin..].iter().position(marks).map_or(begin, |i| begin + i);
                let number = NUMBERS[dice.below(NUMBERS.len())].bytes();
                file.splice(begin..end.min(begin + 200), number);
            }
            7 => {
                let words: [u32; 6] = [0, 1, u32::MAX, i32::MAX as u32, 1 << 31, 65536];
                let word = words[dice.below(6)].to_be_bytes();
                let end = (at + 4).min(file.len());
                file.splice(at..end, word);
            }
            _ => {
                let attributes: String =
                    (0..dice.below(5000)).map(|i| format!(" a{i}=\"\"")).collect();
                if let Some(i) = file[at..].iter().position(|b| *b == b'>') {
                    file.splice(at + i..at + i, attributes.bytes());
                }
            }
        }
    }
}

pub fn attack(seed: u64, files: u64, seconds: u64, folder: &Path) {
    let extents = [4, 2, 2, 2];
    let unit =
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let links: Vec<f64> = unit.iter().copied().cycle().take(72 * 32).collect();
    let options =
        WriteOptions { plaquette: Some(1.0), link_trace: Some(1.0), ..Default::default() };
    let path = folder.join("file");
    let originals: Vec<Vec<u8>> = FileFormat::ALL
        .iter()
        .map(|&format| {
            write_gauge(&path, format, &options, extents, &links).expect("a file");
            std::fs::read(&path).expect("a file")
        })
        .collect();
    let start = Instant::now();
    let mut read = 0u64;
    let mut refused = 0u64;
    for number in 0..files {
        if start.elapsed() > Duration::from_secs(seconds) {
            break;
        }
        let mut dice = Dice(seed.wrapping_mul(1_000_003).wrapping_add(number));
        let mut file = originals[dice.below(originals.len())].clone();
        damage(&mut dice, &mut file);
        std::fs::write(&path, &file).expect("a file");
        let began = Instant::now();
        let outcome = std::panic::catch_unwind(|| read_gauge(&path, None).map(|_| ()));
        let what = format!("file {number} of seed {seed}");
        assert!(began.elapsed() < LONGEST, "{what} took {:?}", began.elapsed());
        match outcome.unwrap_or_else(|_| panic!("{what} makes a panic")) {
            Ok(()) => read += 1,
            Err(e) => {
                refused += 1;
                let known =
                    (400..500).contains(&(e.status as i32)) || e.status == Status::OutOfMemory;
                assert!(known, "{what}: {e}");
            }
        }
    }
    println!("{refused} damaged files were refused, {read} were read");
    assert!(refused > 0);
}
