//! Checks how documents are written: their length, the length of their sentences, their words.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use regex_lite::Regex;

use super::{BEGIN, END, RELEASES, files, read};

/// Maximum visible words of a document, without code blocks and HTML comments, but with tables.
const BUDGETS: [(&str, usize); 27] = [
    ("README.md", 600),
    ("CHANGELOG.md", 150),
    ("docs/analyzing.md", 900),
    ("docs/architecture.md", 600),
    ("docs/blog-posts.md", 1_500),
    ("docs/choosing.md", 900),
    ("docs/explain.md", 700),
    ("docs/faq.md", 700),
    ("docs/glossary.md", 500),
    ("docs/guides/add-a-runtime.md", 700),
    ("docs/guides/ci.md", 700),
    ("docs/guides/fleet.md", 700),
    ("docs/guides/limit.md", 700),
    ("docs/guides/measure.md", 700),
    ("docs/guides/submit.md", 700),
    ("docs/guides/versions.md", 700),
    ("docs/methodology.md", 2_500),
    ("docs/methodology/ground-truth.md", 700),
    ("docs/methodology/memory-sources.md", 2_000),
    ("docs/methodology/reliability.md", 1_000),
    ("docs/methodology/steady-state.md", 800),
    ("docs/reading-results.md", 500),
    ("docs/results.md", 2_000),
    ("docs/setup.md", 400),
    ("docs/troubleshooting.md", 800),
    ("docs/versions.md", 800),
    ("docs/workloads.md", 900),
];

/// Maximum words of the documents in docs/, without docs/reference/, and in the top folder, without SECURITY.md.
const ALL_WORDS: usize = 25_000;

const SENTENCE_WORDS: usize = 30;

/// Words to avoid, and what to write instead.
const REPLACED: [(&str, &str); 24] = [
    (r"the posts\b", "the original blog posts"),
    (r"\bcampaigns\b|\b(a|the|this|each|its|of) campaign\b", "results, results folder"),
    (r"\bcontrol groups?\b", "cgroup"),
    (r"\bmemory areas?\b", "memory mappings"),
    (r"\bkernel's share\b", "kernel memory"),
    (r"\bf[ae]ll(s|ing)? short\b", "failed, timed out, hit a limit, partial"),
    (r"\b(met|meets) (a|the|its) limit\b", "hit a limit"),
    (r"\blifts? (it|the limit)\b", "raise it"),
    (r"\bused up\b", "exhausted"),
    (r"× best\b", "vs best"),
    (r"\broomy\b", "unlimited"),
    (r"\bheld back\b", "throttled"),
    (r"\b(foretell|foresee|foresaw|foreseen|forecast)s?\b", "predict, estimate"),
    (r"\b(goes|go|gone|went) on with\b", "resumes"),
    (r"\bhand(s|ed|ing)? in\b", "submit"),
    (r"\bgood citizens?\b", "conforms"),
    (r"\bstray output\b", "unexpected output"),
    (r"\b(who|what|which)ever\b", "you, a program that, any"),
    (r"\b(somebody|someone|nobody|anybody|no one)\b", "name the actor"),
    (r"\b(catalogue|colour|licence|behaviour|favour|itemise|organise|recognise)\w*\b", "American spelling"),
    (r"\d %", "5%, without a space"),
    (r"\d [kM]\b", "10k, 1M, without a space"),
    (r"\bheed(s|ed)?\b", "respect, follow"),
    (r"\bis none\b", "say what it is"),
];

/// Documents that tests generate, or that others wrote.
const EXCEPT: [&str; 3] = ["CODE_OF_CONDUCT.md", "docs/reference/conformance.md", "docs/reference/faults.md"];

/// All documents, except those above and those of results.
fn documents() -> Vec<String> {
    let ours = |path: &String| {
        !EXCEPT.contains(&path.as_str())
            && !["results/", "published/"].iter().any(|folder| path.starts_with(folder))
    };
    files(&[".md"]).into_iter().filter(ours).collect()
}

/// Texts of one document: paragraphs, items, cells and headings, each with whether it is made of sentences.
fn texts(source: &str) -> Vec<(String, bool)> {
    let (mut texts, mut text, mut hidden) = (Vec::new(), String::new(), 0);
    let mut end = |text: &mut String, prose: bool| {
        if !text.trim().is_empty() {
            texts.push((std::mem::take(text), prose));
        }
    };
    for event in Parser::new_ext(source, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => hidden += 1,
            Event::End(TagEnd::CodeBlock) => hidden -= 1,
            Event::Text(part) if hidden == 0 => text.push_str(&part),
            // Names in code are words, but not subject to the list.
            Event::Code(_) => text.push('`'),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            // An item's text before the list inside it.
            Event::Start(Tag::Item | Tag::List(_)) => end(&mut text, true),
            Event::End(TagEnd::Paragraph | TagEnd::Item) => end(&mut text, true),
            Event::End(TagEnd::Heading(_) | TagEnd::TableCell) => end(&mut text, false),
            _ => {}
        }
    }
    texts
}

fn words(text: &str) -> usize {
    let is_word = |word: &&str| word.contains(|c: char| c.is_alphanumeric() || c == '`');
    text.split_whitespace().filter(is_word).count()
}

/// Sentences of a paragraph. A point inside a word or number does not end one.
fn sentences(text: &str) -> Vec<&str> {
    let end = Regex::new(r#"[.!?:]["')\]]*\s+"#).expect("a pattern");
    let (mut sentences, mut from) = (Vec::new(), 0);
    for found in end.find_iter(text) {
        sentences.push(&text[from..found.end()]);
        from = found.end();
    }
    sentences.push(&text[from..]);
    sentences
}

/// The document without the output of results, whose words are the program's.
fn written(source: &str) -> String {
    let (mut text, mut from) = (String::new(), 0);
    while let Some(begin) = source[from..].find(BEGIN) {
        text.push_str(&source[from..from + begin]);
        let end = source[from + begin..].find(END).expect("the mark where the result ends");
        from += begin + end;
    }
    text + &source[from..]
}

fn faults(source: &str) -> Vec<String> {
    let replaced: Vec<(Regex, &str)> = REPLACED
        .iter()
        .map(|(pattern, instead)| (Regex::new(&format!("(?i){pattern}")).expect("a pattern"), *instead))
        .collect();
    let mut faults = Vec::new();
    for (text, prose) in texts(&written(source)) {
        for (pattern, instead) in &replaced {
            if let Some(found) = pattern.find(&text) {
                faults.push(format!("`{}`: {instead}: {text}", found.as_str()));
            }
        }
        for sentence in sentences(&text).into_iter().filter(|_| prose) {
            let count = words(sentence);
            if count > SENTENCE_WORDS {
                faults.push(format!("{count} words: {sentence}"));
            }
        }
    }
    faults
}

#[test]
fn documents_follow_the_style_rules() {
    let faults: Vec<String> = documents()
        .iter()
        .flat_map(|path| faults(&read(path)).into_iter().map(move |fault| format!("{path}: {fault}")))
        .collect();
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn documents_stay_within_word_budgets() {
    // The list of releases is generated with its table, and grows with it.
    let count = |path: &str| {
        let texts = texts(&read(path));
        texts
            .iter()
            .filter(|(text, _)| !text.starts_with(RELEASES))
            .map(|(text, _)| words(text))
            .sum::<usize>()
    };
    let over: Vec<String> = BUDGETS
        .iter()
        .map(|(path, most)| (path, count(path), most))
        .filter(|(_, words, most)| words > most)
        .map(|(path, words, most)| format!("{path}: {words} words of {most}"))
        .collect();
    assert!(over.is_empty(), "{}", over.join("\n"));
    let for_users = |path: &&String| path.starts_with("docs/") && !path.starts_with("docs/reference/");
    let in_top_folder = |path: &&String| !path.contains('/') && *path != "SECURITY.md";
    let documents = documents();
    let read_first = documents.iter().filter(|path| for_users(path) || in_top_folder(path));
    let all: usize = read_first.map(|path| count(path)).sum();
    assert!(all <= ALL_WORDS, "{all} words of {ALL_WORDS} together");
}

/// A checker that accepts everything would prove nothing.
#[test]
fn style_violations_are_detected() {
    let of = |text: &str| faults(text).len();
    assert_eq!(of("# The posts\n\nThe campaign `campaign.json` costs 5 %.\n"), 3);
    assert_eq!(of("Results take 5%, of 10k tasks (see `the posts`).\n\n```\nthe posts\n```\n"), 0);
    let long = "a word ".repeat(16);
    assert_eq!((of(&long), of(&format!("{long}. {long}")), of(&format!("# {long}"))), (1, 2, 0));
    assert_eq!(of("- one\n- two\n  - three\n"), 0);
    assert_eq!(sentences("One 1.5 s. Two! (Three.) Four").len(), 4);
}
