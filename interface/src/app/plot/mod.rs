//! Small pictures in SVG, PDF or PNG: panels above each other, with one colour and one symbol for each series.

mod pdf;
mod png;
mod svg;

use std::path::Path;

use super::output::exponent;
use super::statistics::{mean_of_history, History};
use crate::error::Result;
use crate::io;

pub const BLUE: &str = "#0072b2";
pub const RED: &str = "#d55e00";
pub const GREEN: &str = "#009e73";
pub const PINK: &str = "#cc79a7";
/// Colours that most people can distinguish.
pub const COLOURS: [&str; 8] = [BLUE, RED, GREEN, PINK, "#e69f00", "#56b4e9", BLACK, GREY];
/// The colour of reference lines.
pub const GREY: &str = "#999999";

/// A series of values in one colour.
#[derive(Clone, Debug, Default)]
pub struct Series {
    pub name: String,
    pub colour: &'static str,
    /// Values along the y axis; those that are not finite are not drawn.
    pub values: Vec<f64>,
    /// Positions of the values along the x axis; an empty list: 0, 1, 2, ...
    pub at: Vec<f64>,
    /// Half of the length of each value's error bar; a value whose error is not finite has no bar.
    pub errors: Vec<f64>,
    /// A band from mean - error to mean + error, beginning at the value with this number.
    pub band: Option<(f64, f64, usize)>,
    /// True for a line, false for symbols.
    pub line: bool,
}

impl Series {
    pub fn new(name: &str, colour: &'static str, values: Vec<f64>) -> Series {
        Series { name: name.into(), colour, values, ..Default::default() }
    }

    pub fn of(name: &str, colour: &'static str, history: &History) -> Series {
        let (values, at) = (history.values.clone(), history.at.clone());
        Series { name: name.into(), colour, values, at, ..Default::default() }
    }

    fn place(&self, i: usize) -> f64 {
        self.at.get(i).copied().unwrap_or(i as f64)
    }

    fn bar(&self, i: usize) -> f64 {
        let error = self.errors.get(i).copied().unwrap_or(f64::NAN);
        if error.is_finite() && self.values[i].is_finite() {
            error
        } else {
            0.0
        }
    }
}

/// A frame with axes.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    pub title: String,
    pub across: &'static str,
    pub up: &'static str,
    pub series: Vec<Series>,
    /// True if the range of y begins where the values do, however far from 0.
    pub close: bool,
}

/// A text, line or symbol of a picture. Positions are in points from the upper left corner of a panel.
enum Drawing {
    /// A text at its base line.
    Text {
        at: [f64; 2],
        anchor: Anchor,
        text: String,
    },
    /// The text of the y axis, turned by 90 degrees about its middle.
    Turned {
        at: [f64; 2],
        text: String,
    },
    /// The name of a series, ending at this point, with a white outline around its letters.
    Name {
        at: [f64; 2],
        text: String,
        colour: &'static str,
    },
    /// Thin lines of frame and grid.
    Rule {
        points: Vec<[f64; 2]>,
        colour: &'static str,
    },
    /// The line of a series.
    Curve {
        points: Vec<[f64; 2]>,
        colour: &'static str,
    },
    /// A transparent rectangle.
    Band {
        left: f64,
        right: f64,
        top: f64,
        height: f64,
        colour: &'static str,
    },
    /// An error bar.
    Bar {
        x: f64,
        top: f64,
        bottom: f64,
        colour: &'static str,
    },
    Symbol {
        at: [f64; 2],
        symbol: Symbol,
        radius: f64,
        colour: &'static str,
    },
}

#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Clone, Copy)]
enum Symbol {
    Disc,
    Square,
    Triangle,
}

const WIDTH: usize = 640;
const HEIGHT: usize = 400;
const FONT: f64 = 13.0;
const WHITE: &str = "#ffffff";
const BLACK: &str = "#000000";
const GRID: &str = "#dddddd";
/// Largest number of names of series that a panel has room for.
const NAMES: usize = 16;
const LEFT: f64 = 72.0;
const LAST: f64 = 624.0;
const TOP: f64 = 36.0;
const END: f64 = 352.0;

/// A round step that divides the range into about five parts.
fn step_of(range: f64) -> f64 {
    let step = 10f64.powf((range / 5.0).log10().floor());
    match range / step {
        n if n > 25.0 => 5.0 * step,
        n if n > 10.0 => 2.0 * step,
        _ => step,
    }
}

/// Prints a number with at most six significant digits.
pub fn short(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    let digits = 5 - x.abs().log10().floor() as i32;
    if !(0..=10).contains(&digits) {
        let text = exponent(x, 5);
        let (number, power) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{power}", number.trim_end_matches('0').trim_end_matches('.'));
    }
    let text = format!("{x:.*}", digits as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

fn ticks(from: f64, to: f64, step: f64) -> impl Iterator<Item = f64> {
    let first = (from / step).ceil();
    let count = ((to / step).floor() - first).clamp(-1.0, 1000.0) as i64;
    (0..=count).map(move |k| (first + k as f64) * step)
}

/// Lays a panel out as texts, lines and symbols.
fn marks(p: &Panel) -> Vec<Drawing> {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
    for s in &p.series {
        for i in (0..s.values.len()).filter(|&i| s.values[i].is_finite()) {
            // Error bars as long as their value or longer do not widen the panel: they end at its frame.
            let bar = Some(s.bar(i)).filter(|b| *b < s.values[i].abs()).unwrap_or(0.0);
            (low, high) = (low.min(s.values[i] - bar), high.max(s.values[i] + bar));
            (from, to) = (from.min(s.place(i)), to.max(s.place(i)));
        }
    }
    if high < low {
        (low, high, from, to) = (0.0, 0.0, 0.0, 0.0);
    }
    let apart = high - low > 0.2 * high.abs().max(low.abs()) && !p.close;
    if apart || high == low {
        (low, high) = (low.min(0.0), high.max(0.0));
    }
    if high <= low {
        high = low + 1.0;
    }
    let margin = 0.1 * (high - low);
    high += margin;
    if low != 0.0 {
        low -= margin;
    }
    let index = p.series.iter().all(|s| s.at.is_empty());
    if index {
        let max = p.series.iter().map(|s| s.values.len()).max().unwrap_or(0);
        (from, to) = (-0.5, max.max(2) as f64 - 0.5);
    }
    if to <= from {
        to = from + 1.0;
    }
    let (sx, sy) = ((LAST - LEFT) / (to - from), (END - TOP) / (high - low));
    let (x, y) = (|v: f64| LEFT + (v - from) * sx, |v: f64| END - (v - low) * sy);
    let say = |x: f64, y: f64, anchor, text: &str| Drawing::Text {
        at: [x, y],
        anchor,
        text: text.into(),
    };
    let mut all = vec![say(LEFT, 20.0, Anchor::Start, &p.title)];
    all.push(say((LEFT + LAST) / 2.0, HEIGHT as f64 - 10.0, Anchor::Middle, p.across));
    all.push(Drawing::Turned { at: [16.0, (TOP + END) / 2.0], text: p.up.into() });
    let step = step_of(high - low);
    for tick in ticks(low, high, step) {
        let (at, label) = (y(tick), short((tick / step).round() * step));
        all.push(Drawing::Rule { points: vec![[LEFT, at], [LAST, at]], colour: GRID });
        all.push(say(LEFT - 6.0, at + 4.0, Anchor::End, &label));
    }
    let step = if index { step_of(to - from).max(1.0) } else { step_of(to - from) };
    for tick in ticks(from, to, step) {
        let label = short((tick / step).round() * step);
        all.push(say(x(tick), END + 18.0, Anchor::Middle, &label));
    }
    all.push(Drawing::Rule { points: vec![[LEFT, TOP], [LEFT, END], [LAST, END]], colour: BLACK });
    // The legend stands above all series.
    let (mut names, mut keys) = (vec![], vec![]);
    for (k, s) in p.series.iter().enumerate() {
        let colour = s.colour;
        if let Some((mean, error, first)) = s.band.filter(|b| b.1 > 0.0 && b.2 < s.values.len()) {
            let (left, top) = (x(s.place(first)), (mean + error).min(high));
            let height = ((top - (mean - error).max(low)) * sy).max(1.0);
            all.push(Drawing::Band { left, right: LAST, top: y(top), height, colour });
        }
        let shown = (0..s.values.len()).filter(|&i| s.values[i].is_finite());
        let symbol = [Symbol::Disc, Symbol::Square, Symbol::Triangle][k % 3];
        if s.line {
            let points = shown.map(|i| [x(s.place(i)), y(s.values[i])]).collect();
            all.push(Drawing::Curve { points, colour });
        } else {
            let radius = if s.values.len() > 60 { 1.5 } else { 4.0 };
            for i in shown {
                let at = [x(s.place(i)), y(s.values[i])];
                if s.bar(i) > 0.0 {
                    let top = y((s.values[i] + s.bar(i)).min(high));
                    let bottom = y((s.values[i] - s.bar(i)).max(low));
                    all.push(Drawing::Bar { x: at[0], top, bottom, colour });
                }
                all.push(Drawing::Symbol { at, symbol, radius, colour });
            }
        }
        if !s.name.is_empty() {
            let base = TOP + 14.0 + 18.0 * names.len() as f64;
            let text = s.name.clone();
            names.push(Drawing::Name { at: [LAST - 22.0, base], text, colour });
            let (x, y) = (LAST - 10.0, base - 4.5);
            keys.push(match s.line {
                true => Drawing::Curve { points: vec![[x - 7.0, y], [x + 7.0, y]], colour },
                false => Drawing::Symbol { at: [x, y], symbol, radius: 4.0, colour },
            });
        }
    }
    if names.len() > NAMES {
        let more = names.len() - NAMES + 1;
        names.truncate(NAMES);
        keys.truncate(NAMES - 1);
        if let Some(Drawing::Name { text, colour, .. }) = names.last_mut() {
            (*text, *colour) = (format!("and {more} more"), BLACK);
        }
    }
    all.extend(names);
    all.extend(keys);
    all
}

/// Endings of names that [`write`] takes.
pub const ENDINGS: &[&str] = &[".svg", ".pdf", ".png"];

/// Writes the panels to a file, in the format given by the end of its name.
pub fn write(name: &str, panels: &[Panel]) -> Result<()> {
    let panels: Vec<Vec<Drawing>> = panels.iter().map(marks).collect();
    let picture = match Path::new(name).extension().and_then(|ending| ending.to_str()) {
        Some("pdf") => pdf::page(&panels).into_bytes(),
        Some("png") => png::page(&panels)?,
        _ => svg::page(&panels).into_bytes(),
    };
    io::write_file(Path::new(name), &picture)
}

/// Text for the configurations of a picture: the name of the only one, or what all names have in common.
pub fn ensemble<'a>(files: impl IntoIterator<Item = &'a str>) -> String {
    let base = |file: &'a str| file.rsplit('/').next().unwrap_or_default();
    let names: Vec<&str> = files.into_iter().map(base).collect();
    let [first, others @ ..] = &names[..] else { return String::new() };
    if others.is_empty() {
        return first.to_string();
    }
    let alike = |name: &&str| {
        let pairs = first.char_indices().zip(name.chars());
        pairs.take_while(|((_, a), b)| a == b).last().map_or(0, |((i, a), _)| i + a.len_utf8())
    };
    let common = &first[..others.iter().map(alike).min().unwrap_or(0)];
    let common = &common[..common.rfind(['.', '_', '-']).unwrap_or(common.len())];
    match common {
        "" => format!("{first} and {} more", others.len()),
        _ => format!("{common}, {} configurations", names.len()),
    }
}

/// A history with a band for the mean of its values from number `first` on, and a line of text about this mean.
pub fn with_mean(what: &str, history: &History, first: usize) -> (Series, Option<String>) {
    let mut series = Series::of(what, BLUE, history);
    let count = history.values.len();
    let first = if first < count { first } else { 0 };
    let Some(m) = mean_of_history(&history.values[first..]) else { return (series, None) };
    series.band = Some((m.mean, m.error, first));
    let error = |digits| exponent(m.error, digits);
    series.name = format!(
        "{what}, mean {:.6}, error {}, autocorrelation time {:.1}",
        m.mean,
        error(1),
        m.tau
    );
    let line =
        format!("mean {:.12}, error {}, autocorrelation time {:.2}", m.mean, error(2), m.tau);
    (series, Some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ensembles_are_named_by_what_their_files_share() {
        assert_eq!(ensemble(["a/b6.0.00001"]), "b6.0.00001");
        let three = ["x/b6.0.00001", "x/b6.0.00002", "y/b6.0.00010"];
        assert_eq!(ensemble(three), "b6.0, 3 configurations");
        assert_eq!(ensemble(["conf1", "conf2"]), "conf, 2 configurations");
        assert_eq!(ensemble(["c.1", "d.1"]), "c.1 and 1 more");
        assert_eq!(ensemble([]), "");
    }

    #[test]
    fn names_of_series_stay_in_the_panel() {
        let one = |k| Series::new(&format!("c.{k}"), RED, vec![1.0]);
        for (count, last) in [(16, "c.15"), (20, "and 5 more")] {
            let panel = Panel { series: (0..count).map(one).collect(), ..Default::default() };
            let all = marks(&panel);
            let names = all.iter().filter_map(|mark| match mark {
                Drawing::Name { at, text, .. } => Some((at[1], text.as_str())),
                _ => None,
            });
            let names: Vec<(f64, &str)> = names.collect();
            assert_eq!((names.len(), names[15].1), (16, last));
            assert!(names[15].0 < END, "{names:?}");
        }
    }

    /// A PDF's table gives the position of each object, and its stream has the length that it states.
    #[test]
    fn pdfs_are_whole() {
        let mut series = Series::new("a (b) \\ ü", RED, vec![1.0, 2.0, 1.5]);
        (series.errors, series.band) = (vec![0.1; 3], Some((1.5, 0.1, 1)));
        let line = Series { line: true, ..Series::new("line", BLUE, vec![1.0, 2.0]) };
        let panel = Panel { title: "t".into(), series: vec![series, line], ..Default::default() };
        let text = pdf::page(&[marks(&panel), marks(&panel)]);
        let at = |k: usize| text.find(&format!("{k} 0 obj\n")).unwrap();
        for k in 1..=5 {
            assert!(text.contains(&format!("{:010} 00000 n ", at(k))), "{k}: {text}");
        }
        let start: usize =
            text.rsplit("startxref\n").next().unwrap()[..].lines().next().unwrap().parse().unwrap();
        assert!(text[start..].starts_with("xref\n0 6\n"));
        let stream = text.split("stream\n").nth(1).unwrap().strip_suffix("end").unwrap();
        assert!(text.contains(&format!("/Length {} ", stream.len())), "{}", stream.len());
        assert!(text.contains("(a \\(b\\) \\\\ ?) Tj"), "{text}");
    }

    /// Symbols, texts and curves of a PNG are where the marks are, in their colours.
    #[test]
    fn pixels_are_those_of_the_marks() {
        let series = Series::new("pion", RED, vec![1.0, 2.0, 1.5]);
        let line = Series { line: true, ..Series::new("", BLUE, vec![1.3, 1.4, 1.2]) };
        let panel = Panel { title: "t".into(), series: vec![series, line], ..Default::default() };
        let panels = [marks(&panel), marks(&panel)];
        let found = tiny_skia::Pixmap::decode_png(&png::page(&panels).unwrap()).unwrap();
        assert_eq!([found.width(), found.height()], [2 * WIDTH as u32, 4 * HEIGHT as u32]);
        let colour = |x: f64, y: f64| {
            let pixel = found.pixel((2.0 * x) as u32, (2.0 * y) as u32).unwrap();
            format!("#{:02x}{:02x}{:02x}", pixel.red(), pixel.green(), pixel.blue())
        };
        let count = |left: usize, right: usize, top: usize, end: usize, wanted: &str| {
            let all = (2 * left..2 * right).flat_map(|x| (2 * top..2 * end).map(move |y| (x, y)));
            all.filter(|(x, y)| colour(*x as f64 / 2.0, *y as f64 / 2.0) == wanted).count()
        };
        for (k, all) in panels.iter().enumerate() {
            let below = (k * HEIGHT) as f64;
            let mut symbols = 0;
            for mark in all {
                if let Drawing::Symbol { at: [x, y], colour: own, radius, .. } = mark {
                    assert_eq!(colour(*x, y + below), *own);
                    assert_ne!(colour(*x + 2.0 * radius, y + below), *own);
                    symbols += 1;
                }
            }
            // Three values, and the symbol beside the name.
            assert_eq!(symbols, 4);
            let top = k * HEIGHT;
            // The name at the right end, no more than its letters; the title and the axes are black.
            let name = count(580, 624, top + 38, top + 56, RED);
            assert!((40..500).contains(&name), "{name}");
            assert!(count(72, 84, top + 8, top + 24, BLACK) > 5);
            assert!(count(60, 640, top + 300, top + 360, BLACK) > 500);
            assert!(count(80, 620, top + 60, top + 350, BLUE) > 100);
        }
    }
}
