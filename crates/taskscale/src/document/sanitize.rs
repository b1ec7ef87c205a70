//! Makes untrusted text safe to show, and measures text in terminal columns.
//!
//! Names, reasons and versions may come from other people's results: they must not be able to move a cursor,
//! hide text or reverse its direction. Knows nothing of reports.

use std::borrow::{Borrow, Cow};

use unicode_width::UnicodeWidthChar;

/// The text on one line, without characters that act instead of being visible.
///
/// Line ends and tabs become a space. Other control characters (terminal escapes begin with one), direction marks and
/// zero-width characters become U+FFFD, so that a reader sees that something was there.
pub fn safe(text: &str) -> Cow<'_, str> {
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let text = text.trim_end().replace("\r\n", " ");
    let shown = |c| match c {
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => ' ',
        c if acts(c) => '\u{fffd}',
        c => c,
    };
    Cow::Owned(text.chars().map(shown).collect())
}

/// Whether a character has an effect instead of being visible.
pub fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00ad}' | '\u{061c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The text on one line as content or attribute of HTML or XML 1.0, without markup or forbidden characters.
pub fn escaped(text: &str) -> String {
    escaped_with(text, |_| ' ')
}

/// Like [`escaped`], for a text of several lines such as a program: keeps newlines and tabs.
pub fn escaped_lines(text: &str) -> String {
    escaped_with(&text.replace("\r\n", "\n"), |c| c)
}

/// Beyond [`acts`], XML forbids only U+FFFE and U+FFFF: <https://www.w3.org/TR/xml/#charsets>.
fn escaped_with(text: &str, blank: fn(char) -> char) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(blank(c)),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if acts(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// At most `limit` characters of the safe text, for reasons that may be pages long.
pub fn brief(text: &str, limit: usize) -> String {
    let text = safe(text);
    match text.char_indices().nth(limit) {
        None => text.into_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// All texts, with `between` between them.
pub fn joined(texts: impl IntoIterator<Item = impl Borrow<str>>, between: &str) -> String {
    texts.into_iter().collect::<Vec<_>>().join(between)
}

/// The text with a capital letter in front.
pub fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// `a → b`, or `a` where both are the same.
pub fn from_to(base: &str, new: &str) -> String {
    if base == new { base.to_owned() } else { format!("{base} → {new}") }
}

/// A command line on one line, quoted for a shell.
pub fn command_line(command: &[String]) -> String {
    joined(command.iter().map(|argument| quoted(argument)), " ")
}

/// An argument, quoted for a shell if needed.
pub fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=@%+{}".contains(c);
    let argument = safe(argument);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.into_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

/// The first names, and how many more there are: `a, b, and 3 more`.
pub fn first_of(names: &[impl AsRef<str>], most: usize) -> String {
    first_few(names, most, ", ", |name| safe(name.as_ref()).into_owned())
}

/// The first items as texts, and the number of the others. Calls `what` only for the first items.
pub fn first_few<T>(
    all: impl IntoIterator<Item = T>,
    most: usize,
    between: &str,
    what: impl FnMut(T) -> String,
) -> String {
    let mut all = all.into_iter();
    let mut shown: Vec<String> = all.by_ref().take(most).map(what).collect();
    let more = all.count();
    shown.extend((more > 0).then(|| format!("and {more} more")));
    shown.join(between)
}

/// Width of the text in terminal columns: the sum over its characters, so a part is never wider than the whole.
pub fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The text in at most `columns`, shortened in the middle: both ends of an entry's name identify it.
pub fn shortened(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let room = columns.saturating_sub(1);
    let head = take(text.chars(), room.div_ceil(2));
    let tail: String = take(text.chars().rev(), room - width(&head)).chars().rev().collect();
    Cow::Owned(format!("{head}…{tail}"))
}

/// The first characters that fit in `columns`.
fn take(chars: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used = 0;
    chars
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= columns
        })
        .collect()
}

/// Wraps taskscale's own text at `columns`. Commands in backticks and addresses stay on one line, to copy.
pub fn wrapped_whole(text: &str, columns: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut within = false;
    for word in text.split(' ') {
        match words.last_mut().filter(|_| within) {
            Some(command) => *command = format!("{command} {word}"),
            None => words.push(word.to_owned()),
        }
        within ^= word.matches('`').count() % 2 == 1;
    }
    filled(words, columns)
}

/// The text in lines of at most `columns`, broken at spaces; longer words are broken where needed.
pub fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut pieces = Vec::new();
    for mut word in text.split(' ').filter(|word| !word.is_empty()) {
        while !word.is_empty() {
            // At least one character: a wide one in a single column would loop forever.
            let least = word.chars().next().map_or(0, char::len_utf8);
            let (piece, rest) = word.split_at(take(word.chars(), columns).len().max(least));
            pieces.push(piece.to_owned());
            word = rest;
        }
    }
    let lines = filled(pieces, columns);
    if lines.is_empty() { vec![String::new()] } else { lines }
}

/// Words in lines of at most `columns`; a longer word has a line of its own.
fn filled(words: Vec<String>, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(&word) <= columns => *line = format!("{line} {word}"),
            _ => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn control_characters_are_replaced() {
        assert_eq!(safe("go/goroutine"), "go/goroutine");
        assert_eq!(safe("a\u{1b}[2Jb"), "a\u{fffd}[2Jb");
        assert_eq!(safe("a\u{9b}2Jb\u{7}\0"), "a\u{fffd}2Jb\u{fffd}\u{fffd}");
        assert_eq!(safe("one\r\ntwo\tthree\n"), "one two three");
        assert_eq!(safe("gpj.\u{202e}exe"), "gpj.\u{fffd}exe");
        assert_eq!(safe("é 漢 🦀"), "é 漢 🦀");
    }

    #[test]
    fn long_names_are_shortened_in_the_middle() {
        assert_eq!(shortened("python/asyncio-create-task", 26), "python/asyncio-create-task");
        assert_eq!(shortened("python/asyncio-create-task", 17), "python/a…ate-task");
        assert_eq!(width(&shortened("漢漢漢漢漢漢漢漢", 9)), 9);
        assert_eq!(width(&shortened(&"\u{2764}\u{fe0f}".repeat(9), 6)), 6);
        assert_eq!(shortened("abc", 0), "…");
    }

    #[test]
    fn command_lines_are_shell_quoted() {
        let command: Vec<String> =
            ["taskscale", "run", "rust/*", "it's", ""].into_iter().map(str::to_owned).collect();
        assert_eq!(command_line(&command), r"taskscale run 'rust/*' 'it'\''s' ''");
    }

    #[test]
    fn lines_wrap_at_spaces() {
        assert_eq!(wrapped("a limit  was met", 8), ["a limit", "was met"]);
        assert_eq!(wrapped("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrapped("", 10), [""]);
    }

    proptest! {
        #[test]
        fn sanitized_text_has_no_control_characters(text in any::<String>()) {
            prop_assert!(!safe(&text).chars().any(acts));
        }

        #[test]
        fn shortened_and_wrapped_text_fits_the_width(text in any::<String>(), columns in 2usize..60) {
            let text = safe(&text);
            prop_assert!(width(&shortened(&text, columns)) <= columns);
            for line in wrapped(&text, columns) {
                prop_assert!(width(&line) <= columns, "{:?}", line);
            }
        }
    }
}
