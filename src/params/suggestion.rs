//! Suggestions for misspelt words.

use strsim::osa_distance;

/// The word of a list that is closest to a misspelt text, if one is close enough.
pub fn suggestion<'a>(text: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let max = if text.len() < 6 { text.len() / 2 + 1 } else { 4 };
    let near = |w: &'a str| (osa_distance(text, w), w);
    let best = words.into_iter().map(near).min_by_key(|(d, _)| *d);
    best.filter(|(d, _)| (1..max).contains(d)).map(|(_, w)| w)
}

/// A hint for a text that is refused, such as `did you mean gauge?`; empty if no word is close.
pub fn hint<'a>(text: &str, words: impl IntoIterator<Item = &'a str>) -> String {
    suggestion(text, words).map_or(String::new(), |word| format!("did you mean {word}?"))
}

/// Whether two words differ at most in capitals, dashes and underscores; an empty word equals none.
pub fn same_word(a: &str, b: &str) -> bool {
    let letters = |word: &str| word.replace(['-', '_'], "").to_lowercase();
    !a.is_empty() && letters(a) == letters(b)
}
