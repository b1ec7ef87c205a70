//! The documents of taskscale's repository as pages: Markdown to HTML, with links to the site's own pages.
//!
//! A document keeps its path: `docs/setup.md` is `docs/setup.html` in the site. Links to files without a page
//! on the site lead to the published repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, html};
use walkdir::{DirEntry, WalkDir};

use super::campaigns::CampaignSummary;
use super::layout::{DOCUMENTS, SitePage, anchor, link, percent_encoded, unique};
use super::subject::SiteEntry;
use crate::catalog::{Catalog, is_whole};
use crate::document::escaped;

/// Documents at the root of the repository that are for its readers.
const AT_ROOT: [&str; 5] =
    ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md"];

/// Documents with at least this many sections have a table of contents.
const SECTIONS: usize = 3;

/// The published repository, for files without a page on the site.
pub const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// The documents, by path in the repository; empty without a repository.
#[derive(Default)]
pub struct Documents {
    root: PathBuf,
    all: BTreeMap<String, DocPage>,
}

struct DocPage {
    text: String,
    title: String,
    /// Its first sentence.
    about: String,
    /// The level, anchor and text of each heading.
    headings: Vec<(HeadingLevel, String, String)>,
    /// Paths of pictures inside the repository.
    pictures: BTreeSet<String>,
}

impl Documents {
    /// The documents of the repository that contains the catalog, or else the results folder: the folders
    /// `docs` and `research` beside the catalog, and a few more. An installed taskscale has none.
    pub fn find(catalog: &Catalog, results: Option<&Path>) -> Documents {
        let results = results.and_then(|folder| fs::canonicalize(folder).ok()).unwrap_or_default();
        let around = results.ancestors().map(|folder| folder.join("runtimes"));
        let around = around.filter(|folder| folder.is_dir());
        let catalogs: Vec<PathBuf> = catalog.folders.iter().cloned().chain(around).collect();
        let mut roots =
            catalogs.iter().filter(|folder| is_whole(folder)).filter_map(|folder| folder.parent());
        let Some(root) = roots.find(|root| root.join("docs").is_dir()) else { return Documents::default() };
        let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        let mut paths: Vec<String> = AT_ROOT.map(str::to_owned).to_vec();
        paths.extend(
            below(&root, "docs").chain(below(&root, "research")).filter(|path| path.ends_with(".md")),
        );
        paths.extend(below(&root, "runtimes").filter(|path| path.ends_with("/README.md")));
        // Files that cannot be read are skipped.
        let read = |path: String| {
            let document = DocPage::of(&path, fs::read_to_string(root.join(&path)).ok()?);
            Some((path, document))
        };
        Documents { all: paths.into_iter().filter_map(read).collect(), root }
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The page of a document, and `#anchor` if the document has that.
    pub fn page(&self, path: &str, anchor: &str) -> Option<(String, String)> {
        let document = self.all.get(path)?;
        let at = if document.has(anchor) { format!("#{anchor}") } else { String::new() };
        Some((page_of(path), at))
    }

    /// A link from the page `from` to a document, if it is there.
    pub fn link(&self, from: &str, path: &str, text: &str) -> Option<String> {
        let (page, _) = self.page(path, "")?;
        Some(anchor(from, &page, text))
    }

    /// A link from the page `from` to the README of a runtime, if there is one.
    pub fn readme(&self, from: &str, runtime: &str) -> Option<String> {
        self.link(from, &format!("runtimes/{runtime}/README.md"), "decisions and known limits")
    }

    /// Pictures that documents show: their paths in the site, and their files.
    pub fn pictures(&self) -> Vec<(String, PathBuf)> {
        let all: BTreeSet<&String> = self.all.values().flat_map(|document| &document.pictures).collect();
        let there = all.into_iter().map(|path| (path.clone(), self.root.join(path)));
        there.filter(|(_, file)| file.is_file()).collect()
    }

    /// The page of each document, and all dead links.
    pub fn pages(
        &self,
        campaigns: &[CampaignSummary],
        subjects: &[SiteEntry],
    ) -> (Vec<(String, String)>, Vec<String>) {
        let mut dead = Vec::new();
        let folders = campaigns.iter().filter_map(|campaign| {
            let folder = fs::canonicalize(&campaign.folder).ok()?;
            Some((folder.strip_prefix(&self.root).ok()?.to_str()?.to_owned(), &*campaign.page))
        });
        let folders: BTreeMap<String, &str> = folders.collect();
        let pages = self.all.iter().map(|(path, document)| {
            let own = page_of(path);
            let mut target = |to: &str| {
                let found = self.target(path, to, &folders, subjects);
                dead.extend(found.is_none().then(|| format!("{path}: {to}")));
                found
            };
            let main = document.html(&mut target);
            let page = SitePage { path: &own, title: &document.title, about: &document.about, main: &main };
            (own.clone(), page.render(true))
        });
        (pages.collect(), dead)
    }

    /// The address that `to` leads to in the document at `path`; `None` for a dead link.
    fn target(
        &self,
        path: &str,
        to: &str,
        folders: &BTreeMap<String, &str>,
        subjects: &[SiteEntry],
    ) -> Option<String> {
        let own = page_of(path);
        if let Some(anchor) = to.strip_prefix('#') {
            return self.all.get(path)?.has(anchor).then(|| to.to_owned());
        }
        let (file, anchor) = to.split_once('#').unwrap_or((to, ""));
        let inside = joined(path, file)?;
        let readme = if inside.is_empty() { "README.md".to_owned() } else { format!("{inside}/README.md") };
        for document in [&inside, &readme] {
            match self.page(document, anchor) {
                Some((_, at)) if at.is_empty() && !anchor.is_empty() => return None,
                Some((page, at)) => return Some(link(&own, &page) + &at),
                None => {}
            }
        }
        if inside == "docs" {
            return Some(link(&own, DOCUMENTS));
        }
        // A picture, a campaign, or an entry's program.
        if self.all.values().any(|document| document.pictures.contains(&inside)) {
            return Some(link(&own, &inside));
        }
        let within = |folder: &str| {
            inside.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let campaign = folders.iter().find(|(folder, _)| within(folder)).map(|(_, page)| *page);
        let entry = || subjects.iter().find(|subject| within(&format!("runtimes/{}", subject.facts.name)));
        match campaign.or_else(|| Some(&*entry()?.page)) {
            Some(page) => Some(link(&own, page)),
            None => self.root.join(&inside).exists().then(|| published(&inside)),
        }
    }

    /// The page that lists all documents.
    pub fn list(&self) -> String {
        const GUIDES: &str = "Guides, methods and findings";
        const PROJECT: &str = "The project";
        const RUNTIMES: &str = "Runtimes: what each program does, and why";
        let group_of = |path: &str| match path.split_once('/') {
            None => PROJECT,
            Some(("runtimes", _)) => RUNTIMES,
            Some(_) => GUIDES,
        };
        let item = |(path, document): (&String, &DocPage)| {
            let title = anchor(DOCUMENTS, &page_of(path), &document.title);
            format!("<li>{title}<p>{}</p></li>\n", escaped(&document.about))
        };
        let mut main = "<h1>Documents</h1>\n".to_owned();
        for group in [GUIDES, PROJECT, RUNTIMES] {
            let items: String =
                self.all.iter().filter(|(path, _)| group_of(path) == group).map(item).collect();
            if !items.is_empty() {
                main.push_str(&format!("<h2>{group}</h2>\n<ul class=\"cards\">\n{items}</ul>\n"));
            }
        }
        let about = "What taskscale measures, and how";
        SitePage { path: DOCUMENTS, title: "Documents", about, main: &main }.render(true)
    }
}

/// The URL of a file in the published repository.
pub fn published(path: &str) -> String {
    let parts: Vec<String> = path.split('/').map(percent_encoded).collect();
    format!("{REPOSITORY}/blob/main/{}", parts.join("/"))
}

/// The page of a document: `docs/setup.html` of `docs/setup.md`.
fn page_of(path: &str) -> String {
    format!("{}.html", path.strip_suffix(".md").unwrap_or(path))
}

/// The path in the repository that a link `to` leads to from a document at `path`; `None` if it leads out of
/// it.
fn joined(path: &str, to: &str) -> Option<String> {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in to.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The paths of files below a folder of the repository, hidden ones and links left out.
fn below(root: &Path, folder: &str) -> impl Iterator<Item = String> {
    let is_shown = |child: &DirEntry| {
        let name = child.file_name().to_string_lossy();
        !name.starts_with('.') && !["node_modules", "target"].contains(&&*name)
    };
    let children = WalkDir::new(root.join(folder)).into_iter().filter_entry(is_shown).flatten();
    children.filter(|child| child.file_type().is_file()).filter_map(move |child| {
        let inside = child.path().strip_prefix(root).ok()?;
        Some(inside.to_str()?.to_owned())
    })
}

impl DocPage {
    fn of(path: &str, text: String) -> DocPage {
        let (mut about, mut headings) = (String::new(), Vec::new());
        let (mut anchors, mut pictures) = (BTreeSet::new(), BTreeSet::new());
        let events: Vec<Event> = parser(&text).collect();
        for (position, event) in events.iter().enumerate() {
            match event {
                Event::Start(Tag::Heading { level, .. }) => {
                    let said = words(&events[position..], |end| matches!(end, TagEnd::Heading(_)));
                    headings.push((*level, slug(&said, &mut anchors), said));
                }
                Event::Start(Tag::Paragraph) if about.is_empty() && !headings.is_empty() => {
                    about = words(&events[position..], |end| *end == TagEnd::Paragraph);
                }
                Event::Start(Tag::Image { dest_url, .. }) if !is_elsewhere(dest_url) => {
                    pictures.extend(joined(path, dest_url));
                }
                _ => {}
            }
        }
        let titled = headings.iter().find(|(.., said)| !said.is_empty());
        let title = titled.map_or(path, |(.., said)| said).to_owned();
        if let Some((end, _)) = about.match_indices(". ").next() {
            about.truncate(end + 1);
        }
        DocPage { title, about, headings, pictures, text }
    }

    fn has(&self, anchor: &str) -> bool {
        self.headings.iter().any(|(_, known, _)| known == anchor)
    }

    /// The HTML of its page. `target` returns the address of a link; `None` if that is dead.
    fn html(&self, target: &mut dyn FnMut(&str) -> Option<String>) -> String {
        let mut shown: Vec<Event> = Vec::new();
        let (mut links, mut raw) = (Vec::new(), String::new());
        let mut slugs = self.headings.iter().map(|(_, slug, _)| CowStr::from(&**slug));
        for mut event in parser(&self.text) {
            match &mut event {
                Event::Start(Tag::Heading { id, .. }) => *id = slugs.next(),
                Event::Start(Tag::Link { link_type, dest_url, .. }) => {
                    let to =
                        if is_elsewhere(dest_url) { Some(dest_url.to_string()) } else { target(dest_url) };
                    links.push(to.is_some());
                    let Some(to) = to else { continue };
                    (*link_type, *dest_url) = (LinkType::Inline, to.into());
                }
                Event::End(TagEnd::Link) if links.pop() == Some(false) => continue,
                Event::Start(Tag::Image { dest_url, .. }) if !is_elsewhere(dest_url) => {
                    *dest_url = target(dest_url).map_or(dest_url.clone(), CowStr::from);
                }
                // Wide tables scroll by themselves, by keyboard too.
                Event::Start(Tag::Table(_)) => {
                    shown.push(Event::Html("<div class=\"scroll\" tabindex=\"0\">".into()));
                }
                Event::End(TagEnd::Table) => {
                    shown.push(event);
                    event = Event::Html("</div>\n".into());
                }
                Event::Start(Tag::CodeBlock(_)) => event = Event::Html("<pre tabindex=\"0\"><code>".into()),
                Event::End(TagEnd::CodeBlock) => event = Event::Html("</code></pre>\n".into()),
                // Comments are for writers; other markup is shown as it is written.
                Event::Start(Tag::HtmlBlock) => continue,
                Event::Html(text) => {
                    raw.push_str(text);
                    continue;
                }
                Event::End(TagEnd::HtmlBlock) => event = Event::InlineHtml(std::mem::take(&mut raw).into()),
                _ => {}
            }
            match event {
                Event::InlineHtml(text)
                    if text.trim().starts_with("<!--") && text.trim().ends_with("-->") => {}
                Event::InlineHtml(text) => shown.push(Event::Text(text)),
                other => shown.push(other),
            }
        }
        let mut article = String::new();
        html::push_html(&mut article, shown.into_iter());
        let sections = self.headings.iter().filter(|(level, ..)| *level == HeadingLevel::H2);
        let item = |(_, slug, said): &(HeadingLevel, String, String)| {
            format!("<li><a href=\"#{}\">{}</a></li>\n", escaped(slug), escaped(said))
        };
        let items: String = sections.clone().map(item).collect();
        let contents = match sections.count() >= SECTIONS {
            true => format!("<nav class=\"contents\" aria-label=\"On this page\"><ul>\n{items}</ul></nav>\n"),
            false => String::new(),
        };
        format!("<div class=\"document\">\n{contents}<article>\n{article}</article>\n</div>\n")
    }
}

fn parser(text: &str) -> Parser<'_> {
    Parser::new_ext(
        text,
        Options::ENABLE_TABLES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_TASKLISTS,
    )
}

/// The text up to the first end that `is_end` accepts.
fn words(events: &[Event], is_end: impl Fn(&TagEnd) -> bool) -> String {
    let before = events.iter().take_while(|event| !matches!(event, Event::End(end) if is_end(end)));
    let texts = before.map(|event| match event {
        Event::Text(text) | Event::Code(text) => &**text,
        Event::SoftBreak | Event::HardBreak => " ",
        _ => "",
    });
    texts.collect()
}

/// Whether an address has a scheme, and so leads out of the repository.
fn is_elsewhere(address: &str) -> bool {
    let scheme = address.split_once(':').map_or("", |(scheme, _)| scheme);
    !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// The anchor of a heading, the same as on GitHub, so that links work there and here.
fn slug(heading: &str, taken: &mut BTreeSet<String>) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
    let slug = kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect();
    unique(slug, 1, taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(text: &str) -> String {
        DocPage::of("docs/x.md", text.to_owned())
            .html(&mut |to| (to != "dead.md").then(|| format!("to:{to}")))
    }

    #[test]
    fn anchors_match_github() {
        let mut slugs = BTreeSet::new();
        let called = ["What `--limit` says: 10 %", "One", "One", "×best & a_b"]
            .map(|heading| slug(heading, &mut slugs));
        assert_eq!(called, ["what---limit-says-10-", "one", "one-1", "best--a_b"]);
    }

    #[test]
    fn links_resolve_and_dead_links_become_text() {
        let html = html("# T\n\n[a](b.md#c) [d](dead.md) [e](https://example.org/f)\n");
        assert!(
            html.contains("<a href=\"to:b.md#c\">a</a> d <a href=\"https://example.org/f\">e</a>"),
            "{html}"
        );
    }

    #[test]
    fn html_is_escaped_and_comments_removed() {
        let html = html(
            "# T\n\n<!-- for writers -->\n\n<script>alert(1)</script>\n\na <b onclick=x>c</b> <!-- d -->\n",
        );
        assert!(!html.contains("<script") && !html.contains("<b ") && !html.contains("writers"), "{html}");
        assert!(html.contains("&lt;script&gt;alert(1)"), "{html}");
    }

    #[test]
    fn documents_have_a_title_and_a_summary() {
        let document =
            DocPage::of("docs/x.md", "# A `title`\n\nFirst\nsentence. Second.\n\n![p](img/y.png)\n".into());
        assert_eq!((&*document.title, &*document.about), ("A title", "First sentence."));
        assert_eq!(document.pictures, BTreeSet::from(["docs/img/y.png".to_owned()]));
    }

    #[test]
    fn links_stay_inside_the_repository() {
        assert_eq!(joined("docs/a.md", "../results/x"), Some("results/x".into()));
        assert_eq!(joined("docs/a.md", "./b.md"), Some("docs/b.md".into()));
        assert_eq!(joined("README.md", "../b.md"), None);
    }
}
