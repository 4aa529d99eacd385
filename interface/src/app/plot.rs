//! Small SVG pictures: panels below each other, one colour and one sign for each series.

use std::fmt::Write;
use std::path::Path;

use super::output::exponent;
use super::statistics::{mean_of_history, History};
use crate::error::Result;
use crate::io;

pub const BLUE: &str = "#0072b2";
pub const RED: &str = "#d55e00";
pub const GREEN: &str = "#009e73";
pub const PINK: &str = "#cc79a7";
/// Colours that most people can tell apart.
pub const COLOURS: [&str; 8] = [BLUE, RED, GREEN, PINK, "#e69f00", "#56b4e9", "#000000", "#999999"];

/// A series of values in one colour.
#[derive(Clone, Debug, Default)]
pub struct Series {
    pub name: String,
    pub colour: &'static str,
    /// The values; those that are not finite are left out.
    pub values: Vec<f64>,
    /// Positions along the x axis; none: 0, 1, 2, ...
    pub at: Vec<f64>,
    /// Lengths of error bars; none where one is not finite.
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

const WIDTH: usize = 640;
const HEIGHT: usize = 400;
const LEFT: f64 = 72.0;
const LAST: f64 = 624.0;
const TOP: f64 = 36.0;
const END: f64 = 352.0;

/// A round step of which about five fit into the range.
fn step_of(range: f64) -> f64 {
    let step = 10f64.powf((range / 5.0).log10().floor());
    match range / step {
        n if n > 25.0 => 5.0 * step,
        n if n > 10.0 => 2.0 * step,
        _ => step,
    }
}

/// Escapes text for XML.
fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
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

fn draw(p: &Panel, text: &mut String) -> std::fmt::Result {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
    for s in &p.series {
        for i in (0..s.values.len()).filter(|&i| s.values[i].is_finite()) {
            // Bars as long as their value or longer end at the frame.
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
    writeln!(text, "<text x=\"{LEFT}\" y=\"20\">{}</text>", xml(&p.title))?;
    let (middle, below) = ((LEFT + LAST) / 2.0, HEIGHT - 10);
    writeln!(
        text,
        "<text x=\"{middle}\" y=\"{below}\" text-anchor=\"middle\">{}</text>",
        xml(p.across)
    )?;
    writeln!(
        text,
        "<text transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        (TOP + END) / 2.0,
        xml(p.up)
    )?;
    let step = step_of(high - low);
    for tick in ticks(low, high, step) {
        let (at, left, label) = (y(tick), LEFT - 6.0, short((tick / step).round() * step));
        writeln!(
            text,
            "<path d=\"M{LEFT} {at:.1}H{LAST}\" stroke=\"#ddd\"/><text x=\"{left}\" y=\"{:.1}\" \
             text-anchor=\"end\">{label}</text>",
            at + 4.0
        )?;
    }
    let step = if index { step_of(to - from).max(1.0) } else { step_of(to - from) };
    for tick in ticks(from, to, step) {
        writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            x(tick),
            END + 18.0,
            short((tick / step).round() * step)
        )?;
    }
    writeln!(text, "<path d=\"M{LEFT} {TOP}V{END}H{LAST}\" fill=\"none\" stroke=\"black\"/>")?;
    for (k, s) in p.series.iter().enumerate() {
        let colour = s.colour;
        if let Some((mean, error, first)) = s.band.filter(|b| b.1 > 0.0 && b.2 < s.values.len()) {
            let (left, top) = (x(s.place(first)), (mean + error).min(high));
            let height = ((top - (mean - error).max(low)) * sy).max(1.0);
            writeln!(
                text,
                "<path class=\"mean\" d=\"M{left:.1} {:.1}H{LAST}v{height:.1}H{left:.1}z\" \
                 fill=\"{colour}\" fill-opacity=\"0.3\"/>",
                y(top)
            )?;
        }
        let shown = (0..s.values.len()).filter(|&i| s.values[i].is_finite());
        if s.line {
            let at = |i: usize| format!("{:.1},{:.1}", x(s.place(i)), y(s.values[i]));
            let points: Vec<String> = shown.map(at).collect();
            let points = points.join(" ");
            writeln!(text, "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\"/>")?;
        } else {
            let r = if s.values.len() > 60 { 1.5 } else { 4.0 };
            for i in shown {
                let (px, py) = (x(s.place(i)), y(s.values[i]));
                if s.bar(i) > 0.0 {
                    let top = y((s.values[i] + s.bar(i)).min(high));
                    let bottom = y((s.values[i] - s.bar(i)).max(low));
                    writeln!(
                        text,
                        "<path class=\"error\" d=\"M{:.1} {top:.1}h6m-3 0V{bottom:.1}m-3 0h6\" \
                         fill=\"none\" stroke=\"{colour}\"/>",
                        px - 3.0
                    )?;
                }
                match k % 3 {
                    0 => writeln!(
                        text,
                        "<circle cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"{r}\" fill=\"{colour}\"/>"
                    )?,
                    1 => {
                        let (l, t, d) = (px - r, py - r, 2.0 * r);
                        writeln!(
                            text,
                            "<path d=\"M{l:.1} {t:.1}h{d}v{d}h-{d}z\" fill=\"{colour}\"/>"
                        )?
                    }
                    _ => {
                        let (t, a, b, c) = (py - 1.2 * r, 1.2 * r, 2.2 * r, 2.4 * r);
                        writeln!(
                            text,
                            "<path d=\"M{px:.1} {t:.1}l{a:.1} {b:.1}h-{c:.1}z\" fill=\"{colour}\"/>"
                        )?
                    }
                }
            }
        }
        let (right, down) = (LAST - 8.0, TOP + 14.0 + 18.0 * k as f64);
        writeln!(
            text,
            "<text x=\"{right}\" y=\"{down}\" fill=\"{colour}\" stroke=\"white\" stroke-width=\"3\" \
             paint-order=\"stroke\" text-anchor=\"end\">{}</text>",
            xml(&s.name)
        )?;
    }
    Ok(())
}

/// Draws the panels; returns the picture as text.
fn page(panels: &[Panel]) -> String {
    let height = panels.len() * HEIGHT;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (k, panel) in panels.iter().enumerate() {
        text += &format!("<g transform=\"translate(0 {})\">\n", k * HEIGHT);
        // A String takes everything.
        let _ = draw(panel, &mut text);
        text += "</g>\n";
    }
    text + "</svg>\n"
}

pub fn write(name: &str, panels: &[Panel]) -> Result<()> {
    io::write_file(Path::new(name), page(panels).as_bytes())
}

/// A history with a band for the mean of its values from number `first` on, and a line of text about it.
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
