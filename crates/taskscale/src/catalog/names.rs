//! Names of runtimes, entries and workloads: which are valid, and suggestions for mistyped ones.

/// Whether a name of a runtime, an entry or a workload is valid. Names become parts of paths and are shown everywhere:
/// only lowercase letters, digits, `-`, `_`, `+` and `.`, a letter or digit first.
pub fn check_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.starts_with(letter) && name.chars().all(|c| letter(c) || "-_+.".contains(c))
}

/// `; did you mean `NAME`?` with the candidate closest to `word`. Empty if none is close.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    closest(word, candidates).map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
}

/// The candidate closest to `word`, if any is close.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len().max(word.len()).div_ceil(3))
        .min()
        .map(|(_, candidate)| candidate)
}
