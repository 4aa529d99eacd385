//! Text in headers: dates, printed numbers, and checks of texts that must fit into a line.

use super::WriteOptions;
use crate::error::Result;
use crate::refuse;
use chrono::DateTime;
use std::time::{SystemTime, UNIX_EPOCH};

/// The time now in UTC, spelled like the C library's asctime.
pub fn utc_now() -> String {
    utc(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()))
}

fn utc(seconds: u64) -> String {
    let time = DateTime::from_timestamp(seconds as i64, 0).unwrap_or_default();
    time.format("%a %b %e %H:%M:%S %Y UTC").to_string()
}

/// Half a unit of the last digit of a printed decimal, such as `0.5937` or `5.937e-01`.
pub fn resolution(decimal: &str) -> f64 {
    let (mantissa, exponent) = decimal.split_once(['e', 'E']).unwrap_or((decimal, "0"));
    let digits = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i32);
    0.5 * 10f64.powi(exponent.parse::<i32>().unwrap_or(0).saturating_sub(digits))
}

/// Reads a checksum as headers print it, with or without 0x.
pub fn hexadecimal(text: &str) -> Option<u32> {
    u32::from_str_radix(text.trim_start_matches("0x"), 16).ok()
}

/// Prints a number for a header, with enough decimals for every double near 1.
pub fn decimal(value: f64) -> String {
    format!("{value:.17}")
}

/// Refuses numbers that are not finite, and text that would break a line or a document.
pub fn check_options(options: &WriteOptions) -> Result<()> {
    let WriteOptions { ensemble_id, ensemble_label, creator, date, lfn, .. } = options;
    let texts = [
        ("ensemble_id", ensemble_id),
        ("ensemble_label", ensemble_label),
        ("creator", creator),
        ("date", date),
        ("lfn", lfn),
    ];
    for (name, text) in texts {
        if text.as_ref().is_some_and(|text| text.chars().any(char::is_control)) {
            refuse!(
                InvalidArgument,
                "{name}",
                expected("a line of text"),
                found("a control character")
            );
        }
    }
    for (name, value) in [("plaquette", options.plaquette), ("link_trace", options.link_trace)] {
        if value.is_some_and(|value| !value.is_finite()) {
            refuse!(InvalidArgument, "{name}", expected("a finite number"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(utc(0), "Thu Jan  1 00:00:00 1970 UTC");
        assert_eq!(utc(951_827_696), "Tue Feb 29 12:34:56 2000 UTC");
        assert_eq!(utc(1_133_729_346), "Sun Dec  4 20:49:06 2005 UTC");
        assert_eq!(utc(4_107_542_400), "Mon Mar  1 00:00:00 2100 UTC");
    }

    #[test]
    fn resolutions() {
        for (text, half_unit) in
            [("0.5937", 5e-5), ("5.937e-01", 5e-5), ("1", 0.5), ("-0.01", 5e-3), ("2E3", 500.0)]
        {
            assert!((resolution(text) / half_unit - 1.0).abs() < 1e-14, "{text}");
        }
    }
}
