//! Pictures as PDF (ISO 32000-1): one page, text in Helvetica, which every reader has.

use super::{Anchor, Drawing, Symbol, FONT, HEIGHT, WHITE, WIDTH};

/// Widths of the letters of Helvetica from the space to the tilde, in thousandths of the size of the font (Adobe, Font
/// metrics of the core 14 fonts).
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

/// Text with letters that the font does not have replaced by question marks.
fn plain(text: &str) -> String {
    text.chars().map(|c| if (' '..='~').contains(&c) { c } else { '?' }).collect()
}

fn width(text: &str) -> f64 {
    let sum: u32 = text.bytes().map(|b| u32::from(WIDTHS[usize::from(b - b' ')])).sum();
    f64::from(sum) * 1e-3 * FONT
}

/// A colour `#rrggbb` as three numbers from 0 to 1.
fn rgb(colour: &str) -> String {
    let part = |k: usize| u8::from_str_radix(colour.get(k..k + 2).unwrap_or("00"), 16).unwrap_or(0);
    let all = [1, 3, 5].map(|k| format!("{:.3}", f64::from(part(k)) / 255.0));
    all.join(" ")
}

/// The operators that draw a text; `mode` 0: filled, 2: filled with an outline.
fn shown(text: &str, matrix: [f64; 6], mode: u8) -> String {
    let escaped = text.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)");
    let m = matrix.map(|v| format!("{v:.2}")).join(" ");
    format!("BT /F {FONT} Tf {mode} Tr {m} Tm ({escaped}) Tj ET\n")
}

fn line(points: &[[f64; 2]], up: &impl Fn(f64) -> f64) -> String {
    let mut text = String::new();
    for (k, [x, y]) in points.iter().enumerate() {
        text += &format!("{x:.2} {:.2} {} ", up(*y), if k == 0 { "m" } else { "l" });
    }
    text
}

/// The operators that draw a mark; `up` converts a distance below the panel's top to one above the bottom of the
/// page.
fn operators(mark: &Drawing, up: &impl Fn(f64) -> f64) -> String {
    match mark {
        Drawing::Text { at: [x, y], anchor, text } => {
            let text = plain(text);
            let left = match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => 0.5 * width(&text),
                Anchor::End => width(&text),
            };
            format!("0 0 0 rg {}", shown(&text, [1.0, 0.0, 0.0, 1.0, x - left, up(*y)], 0))
        }
        Drawing::Turned { at: [x, y], text } => {
            let text = plain(text);
            let below = up(*y) - 0.5 * width(&text);
            format!("0 0 0 rg {}", shown(&text, [0.0, 1.0, -1.0, 0.0, *x, below], 0))
        }
        Drawing::Name { at: [x, y], text, colour } => {
            let (text, white) = (plain(text), rgb(WHITE));
            let place = [1.0, 0.0, 0.0, 1.0, x - width(&text), up(*y)];
            let around = shown(&text, place, 2);
            format!(
                "{white} rg {white} RG 3 w {around}1 w {} rg {}",
                rgb(colour),
                shown(&text, place, 0)
            )
        }
        Drawing::Rule { points, colour } | Drawing::Curve { points, colour } => {
            format!("{} RG {}S\n", rgb(colour), line(points, up))
        }
        Drawing::Band { left, right, top, height, colour } => format!(
            "/Through gs {} rg {left:.2} {:.2} {:.2} {height:.2} re f /Whole gs\n",
            rgb(colour),
            up(top + height),
            right - left
        ),
        Drawing::Bar { x, top, bottom, colour } => {
            let rules = [[x - 3.0, *top], [x + 3.0, *top], [*x, *top], [*x, *bottom]];
            let end = [[x - 3.0, *bottom], [x + 3.0, *bottom]];
            let all = [line(&rules[..2], up), line(&rules[2..], up), line(&end, up)].concat();
            format!("{} RG {all}S\n", rgb(colour))
        }
        Drawing::Symbol { at: [x, y], symbol, radius: r, colour } => {
            let path = match symbol {
                // A circle of four arcs, each a cubic curve.
                Symbol::Disc => {
                    let (h, k) = (up(*y), 0.5523 * r);
                    format!(
                        "{:.2} {h:.2} m {:.2} {:.2} {:.2} {:.2} {x:.2} {:.2} c {:.2} {:.2} {:.2} {:.2} {:.2} {h:.2} c \
                         {:.2} {:.2} {:.2} {:.2} {x:.2} {:.2} c {:.2} {:.2} {:.2} {:.2} {:.2} {h:.2} c ",
                        x + r, x + r, h + k, x + k, h + r, h + r,
                        x - k, h + r, x - r, h + k, x - r,
                        x - r, h - k, x - k, h - r, h - r,
                        x + k, h - r, x + r, h - k, x + r
                    )
                }
                Symbol::Square => {
                    format!("{:.2} {:.2} {d:.2} {d:.2} re ", x - r, up(y + r), d = 2.0 * r)
                }
                Symbol::Triangle => {
                    let (a, b) = (1.2 * r, y + r);
                    line(&[[*x, y - a], [x + a, b], [x - a, b]], up)
                }
            };
            format!("{} rg {path}f\n", rgb(colour))
        }
    }
}

/// The page with the panels above each other.
pub fn page(panels: &[Vec<Drawing>]) -> String {
    let height = (panels.len() * HEIGHT) as f64;
    let mut drawn = String::from("1 w\n");
    for (k, marks) in panels.iter().enumerate() {
        let top = height - (k * HEIGHT) as f64;
        for mark in marks {
            drawn += &operators(mark, &|y: f64| top - y);
        }
    }
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_string(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_string(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {height}] /Contents 5 0 R /Resources << \
             /Font << /F 4 0 R >> /ExtGState << /Through << /ca 0.3 >> /Whole << /ca 1 >> >> >> >>"
        ),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_string(),
        format!("<< /Length {} >>\nstream\n{drawn}endstream", drawn.len()),
    ];
    let mut text = String::from("%PDF-1.4\n");
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (k, object) in objects.iter().enumerate() {
        table += &format!("{:010} 00000 n \n", text.len());
        text += &format!("{} 0 obj\n{object}\nendobj\n", k + 1);
    }
    let start = text.len();
    let size = objects.len() + 1;
    text + &table + &format!("trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n")
}
