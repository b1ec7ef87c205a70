//! A static site of results: a start page, a page for each results folder and each entry, and the documents.
//!
//! Pages are files that need no server and no script of the site's own; they link each other by relative addresses.
//! Every text of results or a manifest is hostile until it is escaped. Must not know how anything is measured.

mod anatomy;
mod campaigns;
mod docs;
mod entries;
mod entry;
mod error;
#[cfg(test)]
mod fixture;
mod folders;
mod heat;
mod highlights;
mod layout;
mod start;
mod subject;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::catalog::Catalog;
use crate::document::joined;
use crate::files::if_there;
use crate::record::{Loaded, StoreError, at};
use crate::report::{PageData, write_html};
use crate::submit::{Candidate, Withdrawal, badges};

pub use campaigns::CampaignSummary;
pub use error::SiteError;
pub use folders::{ResultsFolder, find};

use docs::Documents;
use layout::{DOCUMENTS, ENTRIES, START, STYLE, link};

const CSS: &str = include_str!("../../assets/site.css");

/// Lists all files of a site, so that the next build into its folder removes outdated ones.
const LIST: &str = ".taskscale-site";

/// The element that a report page draws itself into. The link back is inserted before it.
const APP: &str = "<div id=\"app\">";

/// A site being made.
pub struct Site<'a> {
    out: PathBuf,
    catalog: &'a Catalog,
    pub campaigns: Vec<CampaignSummary>,
    pub withdrawn: Vec<(ResultsFolder, Withdrawal)>,
    /// The files of the site, relative to its folder.
    written: BTreeSet<String>,
}

/// A summary of what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteSummary {
    pub start: PathBuf,
    pub campaigns: usize,
    pub entries: usize,
    pub documents: usize,
    /// Dead links of documents, each with its document.
    pub dead_links: Vec<String>,
}

impl<'a> Site<'a> {
    /// Begins a site in a folder that is new, empty, or contains a site. Writes nothing yet.
    pub fn begin(out: &Path, catalog: &'a Catalog) -> Result<Site<'a>, StoreError> {
        let children = at("read", out, if_there(fs::read_dir(out)))?;
        let is_empty = children.is_none_or(|mut children| children.next().is_none());
        if !is_empty && !out.join(LIST).is_file() {
            let why = "it contains files that are not of a site";
            return at("make a site in", out, Err(io::Error::new(io::ErrorKind::AlreadyExists, why)));
        }
        Ok(Site {
            out: out.to_owned(),
            catalog,
            campaigns: Vec::new(),
            withdrawn: Vec::new(),
            written: BTreeSet::new(),
        })
    }

    /// Adds a results folder and writes its page.
    pub fn add(&mut self, found: &ResultsFolder, loaded: &Loaded, page: PageData) -> Result<(), StoreError> {
        let shown = CampaignSummary::of(found, loaded);
        let mut html = Vec::new();
        at("write", &self.out, write_html(page, &mut html))?;
        let html = String::from_utf8_lossy(&html);
        let back = format!(
            "<nav class=\"masthead wrap\" aria-label=\"Site\"><a href=\"{}\">All results</a></nav>\n{APP}",
            link(&shown.page, START)
        );
        self.write(&shown.page, html.replacen(APP, &back, 1).as_bytes())?;
        self.campaigns.push(shown);
        Ok(())
    }

    /// Writes all other pages, and removes those that are no longer part of the site.
    pub fn finish(mut self) -> Result<SiteSummary, StoreError> {
        // The newest first.
        self.campaigns.sort_by_key(|campaign| Reverse(campaign.recorded.created_at.unix_s()));
        let submitted = |shown: &CampaignSummary| shown.reports.iter().any(|report| report.by.is_some());
        if self.campaigns.iter().any(submitted) {
            let candidates = self.campaigns.iter().map(|shown| Candidate {
                id: shown.recorded.id.as_deref(),
                reports: &shown.reports,
                verified: shown.verified,
            });
            let badges = badges(&candidates.collect::<Vec<_>>());
            self.campaigns.iter_mut().zip(badges).for_each(|(campaign, badge)| campaign.badge = Some(badge));
        }
        let subjects = subject::subjects(self.catalog, &self.campaigns);
        let results = self.campaigns.first().map(|campaign| &*campaign.folder);
        let documents = Documents::find(self.catalog, results);
        let with_documents = !documents.is_empty();
        let (mut pages, dead_links) = documents.pages(&self.campaigns, &subjects);
        let start = start::page(&self.campaigns, &self.withdrawn, &subjects, &documents);
        pages.push((START.to_owned(), start));
        pages.push((ENTRIES.to_owned(), entries::page(&self.campaigns, &subjects, &documents)));
        for subject in &subjects {
            pages.push((subject.page.clone(), entry::page(subject, &self.campaigns, &documents)));
        }
        for (found, withdrawal) in &self.withdrawn {
            pages.push((found.page(), campaigns::withdrawn_page(found, withdrawal, with_documents)));
        }
        if with_documents {
            pages.push((DOCUMENTS.to_owned(), documents.list()));
        }
        for (path, text) in &pages {
            self.write(path, text.as_bytes())?;
        }
        for (path, file) in documents.pictures() {
            self.write(&path, &at("read", &file, fs::read(&file))?)?;
        }
        self.write(STYLE, CSS.as_bytes())?;
        // Otherwise GitHub Pages runs Jekyll, which leaves out some files.
        self.write(".nojekyll", b"")?;
        self.clear()?;
        Ok(SiteSummary {
            start: self.out.join(START),
            campaigns: self.campaigns.len(),
            entries: subjects.len(),
            documents: documents.len(),
            dead_links,
        })
    }

    fn write(&mut self, path: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let file = self.out.join(path);
        if let Some(parent) = file.parent() {
            at("create", parent, fs::create_dir_all(parent))?;
        }
        // Listed before it is written, so that an interrupted build can be repeated.
        let list = self.out.join(LIST);
        let listed = fs::OpenOptions::new().append(true).create(true).open(&list);
        at("write", &list, listed.and_then(|mut list| writeln!(list, "{path}")))?;
        at("write", &file, fs::write(&file, bytes))?;
        self.written.insert(path.to_owned());
        Ok(())
    }

    /// Removes the files of the previous site that are not part of this one, and lists those that are.
    fn clear(&self) -> Result<(), StoreError> {
        let list = self.out.join(LIST);
        let before = fs::read_to_string(&list).unwrap_or_default();
        let inside = |path: &&str| path.split('/').all(|part| !["", ".", ".."].contains(&part));
        for path in before.lines().filter(inside).filter(|path| !self.written.contains(*path)) {
            // The file may be gone already.
            let _ = fs::remove_file(self.out.join(path));
        }
        let names = joined(self.written.iter().map(String::as_str), "\n");
        at("write", &list, fs::write(&list, names + "\n"))
    }
}
