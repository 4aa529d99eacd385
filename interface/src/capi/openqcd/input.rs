//! openQxD's input file: sections in brackets, lines `key value ...`, comments from `#` on. In sections on solvers
//! the keys are members of QUDA's structs.

use strsim::osa_distance;

use crate::capi::quda::records::Record;
use crate::comm::Comm;
use crate::error::Result;
use crate::refuse;

/// The sections of an input file.
#[derive(Default)]
pub struct Input {
    name: String,
    sections: Vec<Section>,
}

struct Section {
    title: String,
    rows: Vec<(String, Vec<String>)>,
}

impl Input {
    /// Reads the input on rank 0 and sends it to all; without a file there are no sections.
    pub fn read(name: Option<String>, comm: &Comm) -> Result<Input> {
        let mine = match &name {
            Some(name) if comm.rank() == 0 => match std::fs::read(name) {
                Ok(bytes) => Ok(bytes),
                Err(e) => Err(crate::error::Error::new(
                    crate::error::Status::InvalidArgument,
                    format!("infile: expected a file that can be read, found {name} ({e})"),
                )),
            },
            _ => Ok(vec![]),
        };
        let mut mine = comm.agree(mine)?;
        let mut length = [mine.len() as f64];
        comm.sum(&mut length)?;
        mine.resize(length[0] as usize, 0);
        let mut all = comm.all_gather(&mine)?;
        all.truncate(mine.len());
        Input::parse(name.unwrap_or_default(), &String::from_utf8_lossy(&all))
    }

    fn parse(name: String, text: &str) -> Result<Input> {
        let mut sections: Vec<Section> = vec![];
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            let at = format!("{name}, line {}", number + 1);
            if let Some(title) = line.strip_prefix('[') {
                let Some((title, "")) = title.split_once(']') else {
                    refuse!(
                        InvalidArgument,
                        "{at}",
                        expected("a title in brackets alone"),
                        found("{line}")
                    );
                };
                let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
                if sections.iter().any(|section| section.title == title) {
                    refuse!(
                        InvalidArgument,
                        "{at}",
                        expected("each section once"),
                        found("[{title}] again")
                    );
                }
                sections.push(Section { title, rows: vec![] });
                continue;
            }
            let mut words = line.split_whitespace().map(String::from);
            let Some(key) = words.next() else { continue };
            // Lines before the first title are ignored.
            let Some(section) = sections.last_mut() else { continue };
            if section.rows.iter().any(|row| row.0 == key) {
                let title = &section.title;
                refuse!(
                    InvalidArgument,
                    "{at}",
                    expected("each key of [{title}] once"),
                    found("{key} again")
                );
            }
            section.rows.push((key, words.collect()));
        }
        Ok(Input { name, sections })
    }

    pub fn has(&self, title: &str) -> bool {
        self.sections.iter().any(|section| section.title == title)
    }

    fn section(&self, title: &str) -> Result<&Section> {
        match self.sections.iter().find(|section| section.title == title) {
            Some(section) => Ok(section),
            None => {
                let all: Vec<String> =
                    self.sections.iter().map(|section| format!("[{}]", section.title)).collect();
                let found = if all.is_empty() { "no section".into() } else { all.join(" ") };
                let file = if self.name.is_empty() { "infile" } else { self.name.as_str() };
                refuse!(
                    InvalidArgument,
                    "{file}",
                    expected("a section [{title}]"),
                    found("{found}")
                )
            }
        }
    }

    /// The words after a key in the section `title`.
    pub fn value(&self, title: &str, key: &str) -> Result<Vec<&str>> {
        let section = self.section(title)?;
        match section.rows.iter().find(|row| row.0 == key) {
            Some(row) => Ok(row.1.iter().map(String::as_str).collect()),
            None => refuse!(InvalidArgument, "[{title}]", expected("a key {key}"), found("none")),
        }
    }

    /// Sets the members whose names are keys of a section; for a level, element number `level` of members that have
    /// one for each level. Keys that are not names of members, nor similar to one, are ignored as the program's own.
    pub fn fill<T: Record>(&self, title: &str, level: Option<usize>, record: &mut T) -> Result<()> {
        for (key, words) in &self.section(title)?.rows {
            let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
            // openQxD's order is t, x, y, z.
            if matches!(key.as_str(), "geo_block_size" | "split_grid") && words.len() == 4 {
                words.rotate_left(1);
            }
            match record.take(key, level, &words) {
                Some(Ok(())) => {}
                Some(Err(expected)) => {
                    let found = if words.is_empty() { "nothing".into() } else { words.join(" ") };
                    refuse!(
                        BadParameter,
                        "[{title}] {key}",
                        expected("{expected}"),
                        found("{found}")
                    );
                }
                None => {
                    let members = T::ROLES.iter().map(|row| row.0.trim_start_matches("r#"));
                    let near = members.map(|m| (osa_distance(key, m), m)).min();
                    if let Some((1..=2, member)) = near.filter(|_| key.len() > 3) {
                        refuse!(
                            BadParameter,
                            "[{title}]",
                            expected("members of {}, such as {member}", T::NAME),
                            found("{key}")
                        );
                    }
                    log::info!("[{title}] {key}: no member of {}, no effect", T::NAME);
                }
            }
        }
        Ok(())
    }
}
