//! Files of named texts and tables of numbers, which keep the state of work that is continued later. Text comes first,
//! a line `plaq KIND 1`, a line for each text and one with the length of each table; then all numbers, little-endian,
//! and the CRC32 of all bytes before it.

use std::path::Path;

use super::{Input, Output};
use crate::error::{Result, Status};
use crate::refuse;

/// Longest head of a file in bytes.
const HEAD: usize = 1 << 20;
const END: &str = "numbers\n";
/// Bytes of the checksum.
const SUM: usize = 4;

/// Texts and tables by name, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tables {
    pub texts: Vec<(String, String)>,
    pub tables: Vec<(String, Vec<f64>)>,
}

impl Tables {
    /// The text of this name.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.texts.iter().find(|(n, _)| n == name).map(|(_, text)| text.as_str())
    }
    /// The table of this name.
    pub fn table(&self, name: &str) -> Option<&[f64]> {
        self.tables.iter().find(|(n, _)| n == name).map(|(_, table)| &table[..])
    }

    /// Writes a file of this kind; it appears complete or not at all. Names have no spaces, texts one line.
    ///
    /// # Errors
    /// `FileWrite`.
    pub fn write(&self, path: &Path, kind: &str) -> Result<()> {
        let mut bytes = format!("plaq {kind} 1\n");
        for (name, text) in &self.texts {
            bytes += &format!("text {name} {}\n", text.replace('\n', " "));
        }
        for (name, table) in &self.tables {
            bytes += &format!("table {name} {}\n", table.len());
        }
        bytes += END;
        let mut bytes = bytes.into_bytes();
        for x in self.tables.iter().flat_map(|(_, table)| table) {
            bytes.extend(x.to_le_bytes());
        }
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        let mut output = Output::create(path)?;
        output.put(&bytes)?;
        output.commit()
    }

    /// Reads a file of this kind.
    ///
    /// # Errors
    /// `FileOpen`; `FileFormat`: not such a file; `FileTruncated`; `FileChecksum`.
    pub fn read(path: &Path, kind: &str) -> Result<Tables> {
        let mut input = Input::open(path)?;
        let length = input.remaining() as usize;
        let first = format!("plaq {kind} 1\n");
        let head = input.peek(length.min(HEAD))?;
        let found = String::from_utf8_lossy(&head[..head.len().min(40)]).to_string();
        let wrong = |what: &str| {
            refuse!(
                FileFormat,
                format!("{}", path.display()),
                expected("a file that begins with {first:?}"),
                found("{what}")
            )
        };
        if !head.starts_with(first.as_bytes()) {
            return wrong(&format!("{:?}", found.lines().next().unwrap_or_default()));
        }
        let Some(end) = head.windows(END.len()).position(|w| w == END.as_bytes()) else {
            return wrong("no end of its head");
        };
        let Ok(text) = std::str::from_utf8(&head[first.len()..end]) else {
            return wrong("a head that is no text");
        };
        let mut made = Tables::default();
        let mut counts = vec![];
        for line in text.lines() {
            match line.splitn(3, ' ').collect::<Vec<_>>()[..] {
                ["text", name, text] => made.texts.push((name.into(), text.into())),
                ["table", name, count] => match count.parse::<usize>() {
                    Ok(count) if count <= length / 8 => counts.push((name.to_string(), count)),
                    _ => return wrong(&format!("{line:?}")),
                },
                _ => return wrong(&format!("{line:?}")),
            }
        }
        let numbers: usize = counts.iter().map(|(_, n)| n).sum();
        let start = end + END.len();
        let wanted = start + 8 * numbers + SUM;
        if wanted != length {
            let status = match wanted > length {
                true => Status::FileTruncated,
                false => Status::FileFormat,
            };
            return Err(input.error(status, format!("expected {wanted} bytes, found {length}")));
        }
        let all = input.bytes(length)?;
        let (data, sum) = all.split_at(length - SUM);
        if sum != crc32fast::hash(data).to_le_bytes() {
            return Err(input.error(Status::FileChecksum, "its checksum does not match"));
        }
        let mut rest = data[start..].chunks_exact(8).map(|b| {
            let mut eight = [0; 8];
            eight.copy_from_slice(b);
            f64::from_le_bytes(eight)
        });
        for (name, count) in counts {
            made.tables.push((name, rest.by_ref().take(count).collect()));
        }
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_come_back_and_damage_is_seen() {
        let folder = std::env::temp_dir().join(format!("plaq-tables-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("state");
        let made = Tables {
            texts: vec![("operator".into(), "a b c".into()), ("seed".into(), "7".into())],
            tables: vec![("sums".into(), vec![1.0, -2.5, 1e-300]), ("none".into(), vec![])],
        };
        made.write(&path, "loops").unwrap();
        assert_eq!(Tables::read(&path, "loops").unwrap(), made);
        assert_eq!(made.text("operator"), Some("a b c"));
        assert_eq!(made.table("sums").unwrap().len(), 3);
        assert_eq!(Tables::read(&path, "other").unwrap_err().status, Status::FileFormat);
        let mut bytes = std::fs::read(&path).unwrap();
        let n = bytes.len();
        bytes[n - 8] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(Tables::read(&path, "loops").unwrap_err().status, Status::FileChecksum);
        let longer = [&bytes[..], b"\n\n"].concat();
        std::fs::write(&path, longer).unwrap();
        let error = Tables::read(&path, "loops").unwrap_err();
        assert!(
            error.status == Status::FileFormat && !error.message().contains("incomplete"),
            "{error}"
        );
        std::fs::write(&path, &bytes[..n - 3]).unwrap();
        assert_eq!(Tables::read(&path, "loops").unwrap_err().status, Status::FileTruncated);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
