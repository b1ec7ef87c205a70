//! The common parts of all pages: head, navigation, foot, links. Knows nothing of the contents.

use std::collections::BTreeSet;

use crate::document::{escaped, joined};

/// The site's style, in a file of its own.
pub const STYLE: &str = "site.css";
pub const START: &str = "index.html";
pub const ENTRIES: &str = "entries.html";
pub const DOCUMENTS: &str = "documents.html";

/// A page, without the common parts.
pub struct SitePage<'a> {
    /// Inside the site, with `/` between its parts.
    pub path: &'a str,
    /// Not escaped yet, like all texts but `main`.
    pub title: &'a str,
    /// A sentence for search engines.
    pub about: &'a str,
    /// HTML.
    pub main: &'a str,
}

impl SitePage<'_> {
    /// The whole page. `with_documents`: whether the site has documents.
    ///
    /// The page has no script, and its content security policy forbids any.
    pub fn render(&self, with_documents: bool) -> String {
        let to = |path: &str| link(self.path, path);
        let here = |path: &str| if path == self.path { " aria-current=\"page\"" } else { "" };
        let mut places = vec![(START, "Results"), (ENTRIES, "Entries")];
        places.extend(with_documents.then_some((DOCUMENTS, "Documents")));
        let places: String = places
            .iter()
            .map(|(path, name)| format!("<a href=\"{}\"{}>{name}</a>\n", to(path), here(path)))
            .collect();
        let title = match self.path {
            START => escaped(self.title),
            _ => format!("{} · taskscale", escaped(self.title)),
        };
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"script-src 'none'; object-src 'none'; \
             base-uri 'none'; form-action 'none'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"description\" content=\"{about}\">\n\
             <title>{title}</title>\n<link rel=\"stylesheet\" href=\"{style}\">\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#main\">Skip to content</a>\n\
             <header class=\"masthead wrap\">\n<a class=\"wordmark\" href=\"{start}\">taskscale</a>\n\
             <nav aria-label=\"Site\">\n{places}</nav>\n</header>\n\
             <main id=\"main\" class=\"wrap\">\n{main}</main>\n\
             <footer class=\"wrap\">Made by <code>taskscale site</code>, version {version}. \
             Entries are ranked within their kind, on one machine.</footer>\n</body>\n</html>\n",
            about = escaped(self.about),
            style = to(STYLE),
            start = to(START),
            main = self.main,
            version = escaped(env!("CARGO_PKG_VERSION")),
        )
    }
}

/// The address of a page as the page `from` links it: relative, so that the site works from any place and from a disk.
/// Nothing in it needs escaping.
pub fn link(from: &str, to: &str) -> String {
    let (from, to): (Vec<&str>, Vec<&str>) = (from.split('/').collect(), to.split('/').collect());
    let folders = from.len() - 1;
    let alike = from[..folders].iter().zip(&to[..to.len() - 1]).take_while(|(a, b)| a == b).count();
    let up = "../".repeat(folders - alike);
    up + &joined(to[alike..].iter().map(|part| percent_encoded(part)), "/")
}

/// Encodes every byte but the unreserved characters of RFC 3986, section 2.3.
pub fn percent_encoded(text: &str) -> String {
    let encoded = |byte| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encoded).collect()
}

/// `<a href="…">…</a>`, with the text escaped.
pub fn anchor(from: &str, to: &str, text: &str) -> String {
    format!("<a href=\"{}\">{}</a>", link(from, to), escaped(text))
}

/// Turns a text of unknown origin into a name for files and anchors: up to 80 ASCII letters, digits and `-._`.
pub fn plain_name(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = text.chars().take(80).map(plain).collect();
    match name.trim_start_matches('.') {
        "" => "unnamed".to_owned(),
        name => name.to_owned(),
    }
}

/// Reserves and returns `name`, or the first free one of `name-FROM`, `name-(FROM+1)`, …
pub fn unique(name: String, from: usize, taken: &mut BTreeSet<String>) -> String {
    let numbered = (from..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    // One of them is free.
    names.find(|name| taken.insert(name.clone())).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_relative_and_escaped() {
        assert_eq!(link("index.html", "entries.html"), "entries.html");
        assert_eq!(link("entries/go/goroutine.html", "index.html"), "../../index.html");
        assert_eq!(link("entries/go/goroutine.html", "entries/go/other.html"), "other.html");
        assert_eq!(
            link("docs/a.html", "campaigns/my machine #1/50%?.html"),
            "../campaigns/my%20machine%20%231/50%25%3F.html"
        );
        assert_eq!(link("docs/a.html", "docs/javascript:alert(1).html"), "javascript%3Aalert%281%29.html");
        assert_eq!(link("index.html", "\"><b>.html"), "%22%3E%3Cb%3E.html");
    }

    #[test]
    fn hostile_text_is_escaped_on_pages() {
        let harm = "</title><script>alert(1)</script>\u{202e}";
        let page =
            SitePage { path: "a/b.html", title: harm, about: "\"><script>", main: "<p>x</p>" }.render(false);
        assert!(!page.contains("<script>") && !page.contains('\u{202e}') && page.contains("&lt;script&gt;"));
        assert!(page.contains("href=\"../site.css\"") && !page.contains("documents.html"));
    }

    #[test]
    fn file_names_cannot_leave_the_folder() {
        assert_eq!(plain_name("../../etc/passwd"), "-..-etc-passwd");
        assert_eq!(plain_name("..."), "unnamed");
        assert_eq!(plain_name("tokio-spawn"), "tokio-spawn");
    }
}
