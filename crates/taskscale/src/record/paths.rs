//! Removes the paths of a machine from results that will be published.
//!
//! Placeholders of manifests such as `{out}` and `{home}` are restored. Other paths are reduced to their last
//! part. Paths that are the same on every machine (`/usr/bin/node`) stay, as they show which build it was.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Campaign, Sample};

/// First parts of paths that do not identify a machine. `/rustc` is Rust's name for its own sources.
const COMMON: [&str; 13] =
    ["bin", "dev", "etc", "lib", "lib32", "lib64", "nix", "opt", "proc", "rustc", "sbin", "sys", "usr"];
/// Fields with content of the catalog, which is public: programs, their addresses, prose.
const PUBLIC: [&str; 4] = ["sources", "url", "why", "notes"];

/// The campaign and its samples without paths of the machine. Everything else is unchanged.
pub fn without_paths(
    campaign: &Campaign,
    samples: &[Sample],
) -> Result<(Campaign, Vec<Sample>), serde_json::Error> {
    let (places, all) = places(campaign, samples);
    let stripped = samples.iter().map(|sample| strip(sample, &places[&*sample.entry]));
    Ok((strip(campaign, &all)?, stripped.collect::<Result<_, _>>()?))
}

/// The first path of the machine that is left: a text that `without_paths` would change, or that contains one of `roots`,
/// such as `/home/`.
pub fn path_left(
    campaign: &Campaign,
    samples: &[Sample],
    roots: &[&str],
) -> Result<Option<String>, serde_json::Error> {
    let (places, all) = places(campaign, samples);
    let root_in = |text: &str| roots.iter().find(|root| text.contains(**root)).map(|root| format!("{root}…"));
    // Facts of entries come from the catalog, which is public.
    let machine = serde_json::to_string(&Campaign { entries: Vec::new(), ..campaign.clone() })?;
    if let Some(root) = root_in(&machine) {
        return Ok(Some(root));
    }
    if strip(campaign, &all)? != *campaign {
        return Ok(Some("in campaign.json".to_owned()));
    }
    for sample in samples {
        let (text, places) = (serde_json::to_string(sample)?, &places[&*sample.entry]);
        let changed = |text: &str| strip_text(text, places) != text;
        let left = match text.contains('\\') {
            true => (strip(sample, places)? != *sample).then(|| "in a sample".to_owned()),
            // Nothing is escaped, so texts are found between quotes without parsing.
            false => {
                let mut texts = text.split('"').skip(1).step_by(2).filter(|text| text.contains('/'));
                texts.find(|text| changed(text)).map(str::to_owned)
            }
        };
        let left = root_in(&text).or(left);
        if left.is_some() {
            return Ok(left);
        }
    }
    Ok(None)
}

/// The folders of the machine that commands name: by entry, as each has another `{out}`, and of all entries.
fn places<'a>(
    campaign: &Campaign,
    samples: &'a [Sample],
) -> (BTreeMap<&'a str, BTreeSet<KnownFolder>>, BTreeSet<KnownFolder>) {
    let templates: BTreeMap<&str, &[String]> =
        campaign.entries.iter().map(|entry| (entry.name.as_str(), entry.run.as_slice())).collect();
    let mut places: BTreeMap<&str, BTreeSet<KnownFolder>> = BTreeMap::new();
    for sample in samples {
        let template = templates.get(&*sample.entry).copied().unwrap_or_default();
        let words = template.iter().zip(sample.command.iter());
        let found = words.filter_map(|(template, word)| KnownFolder::of(template, word));
        places.entry(&sample.entry).or_default().extend(found);
    }
    let all = places.values().flatten().cloned().collect();
    (places, all)
}

/// A folder of the machine, and its placeholder in manifests. The longest sorts first, as one may be inside
/// another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct KnownFolder {
    length: std::cmp::Reverse<usize>,
    folder: String,
    placeholder: String,
}

impl KnownFolder {
    /// The folder in place of a word's placeholder, if it has one: from `{out}/a:{out}/b` and `/x/a:/x/b`
    /// follows that `{out}` is `/x`.
    fn of(template: &str, word: &str) -> Option<KnownFolder> {
        let start = template.find('{')?;
        let placeholder = &template[start..=start + template[start..].find('}')?];
        let times = template.matches(placeholder).count();
        let length = word.len().checked_sub(template.len() - times * placeholder.len())? / times;
        let folder = word.get(start..start + length)?;
        let is_it =
            folder.starts_with('/') && !is_common(folder) && template.replace(placeholder, folder) == word;
        is_it.then(|| KnownFolder {
            length: std::cmp::Reverse(length),
            folder: folder.to_owned(),
            placeholder: placeholder.to_owned(),
        })
    }
}

fn strip<T: Serialize + DeserializeOwned>(
    record: &T,
    places: &BTreeSet<KnownFolder>,
) -> Result<T, serde_json::Error> {
    let mut value = serde_json::to_value(record)?;
    each_text(&mut value, &mut |text| *text = strip_text(text, places));
    serde_json::from_value(value)
}

fn each_text(value: &mut Value, change: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(values) => values.iter_mut().for_each(|value| each_text(value, change)),
        Value::Object(fields) => {
            let ours = fields.iter_mut().filter(|(name, _)| !PUBLIC.contains(&name.as_str()));
            ours.for_each(|(_, value)| each_text(value, change));
        }
        _ => {}
    }
}

fn strip_text(text: &str, places: &BTreeSet<KnownFolder>) -> String {
    let mut text = text.to_owned();
    if !text.contains('/') {
        return text;
    }
    for place in places {
        text = replace_folder(&text, place);
    }
    // A word of a command may be a path with blanks. In a sentence, a blank ends a path.
    let blanks_belong = text.starts_with('/');
    let ends = |c: char| "\"'`:;,()<>|=\n".contains(c) || (!blanks_belong && c.is_whitespace());
    let mut stripped = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(slash) = rest.find('/') {
        let (before, from) = rest.split_at(slash);
        stripped.push_str(before);
        let path = &from[..from.find(ends).unwrap_or(from.len())];
        let parts = path.split('/').filter(|part| !part.is_empty()).count();
        if path.starts_with("//") || !may_begin(&stripped) || parts < 2 || is_common(path) {
            // Not a path of this machine, but one may follow the slashes of an address: `file:///home/…`.
            let skip = match path {
                path if path.starts_with("//") => 2,
                path if may_begin(&stripped) => path.len(),
                _ => 1,
            };
            stripped.push_str(&from[..skip]);
            rest = &from[skip..];
            continue;
        }
        stripped.push('…');
        stripped.push_str(&path[path.trim_end_matches('/').rfind('/').unwrap_or(0)..]);
        rest = &from[path.len()..];
    }
    stripped + rest
}

/// Whether a `/` after this text may begin a path from the root: at the start of a word, of an option's value
/// (`-I/home/…`), or of a file's address. Elsewhere it is a separator (`and/or`, `https://`, `{out}/app`).
fn may_begin(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || "\"'`:;,()<>|=".contains(c)).next().unwrap_or("");
    let is_option = word.len() == 2 && word.starts_with('-');
    word.is_empty() || is_option || before.ends_with("file://")
}

fn is_common(path: &str) -> bool {
    path.split('/').nth(1).is_some_and(|first| COMMON.contains(&first))
}

/// Replaces a folder by its placeholder, in whole parts of paths only: not `/x` in `/xyz`.
fn replace_folder(text: &str, place: &KnownFolder) -> String {
    let mut pieces = text.split(place.folder.as_str());
    let mut replaced = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let goes_on = piece.starts_with(|c: char| c.is_alphanumeric() || "._-".contains(c));
        replaced.push_str(if goes_on { &place.folder } else { &place.placeholder });
        replaced.push_str(piece);
    }
    replaced
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::record;

    fn stripped(text: &str) -> String {
        let places = [("{out}/a:{out}/b", "/h/u/out/a:/h/u/out/b"), ("{src}/x.py", "/h/u/x.py")];
        let places = places.iter().map(|(template, word)| KnownFolder::of(template, word).expect("a place"));
        strip_text(text, &places.collect())
    }

    #[test]
    fn paths_become_manifest_placeholders() {
        assert_eq!(stripped("/h/u/out/a:/h/u/out/b"), "{out}/a:{out}/b");
        assert_eq!(stripped("/h/u/out"), "{out}");
        assert_eq!(stripped("cannot open /h/u/y.py: gone"), "cannot open {src}/y.py: gone");
        assert_eq!(stripped("see /h/u/out.log."), "see {src}/out.log.");
        assert_eq!(KnownFolder::of("{home}/bin/node", "/usr/bin/node"), None);
        assert_eq!(KnownFolder::of("{tasks}", "1000"), None);
        assert_eq!(KnownFolder::of("{out}/a", "/x"), None);
        assert_eq!(KnownFolder::of("{out", "/x"), None);
    }

    #[test]
    fn other_paths_keep_their_last_component() {
        for (text, expected) in [
            ("/home/ann/taskscale", "…/taskscale"),
            ("/home/ann/my programs/server", "…/server"),
            ("-I/home/ann/include", "-I…/include"),
            ("--config=/srv/ann/c.toml", "--config=…/c.toml"),
            ("PATH=/usr/bin:/home/ann/bin:/bin", "PATH=/usr/bin:…/bin:/bin"),
            ("File \"/home/ann/x.py\", line 3", "File \"…/x.py\", line 3"),
            ("file:///home/ann/x.mjs:3", "file://…/x.mjs:3"),
            ("wrote /tmp/a/ and /work/b.", "wrote …/a/ and …/b."),
        ] {
            assert_eq!(stripped(text), expected);
        }
    }

    #[test]
    fn text_without_private_paths_is_unchanged() {
        for text in [
            "",
            "/",
            "// a comment",
            "a / b",
            "and/or",
            "tasks/s",
            "rust/tokio-spawn",
            "results/posts",
            "../x/y",
            "https://go.dev/dl/",
            "/usr/lib/jvm/x/bin/java",
            "/rustc/5980/library/std/src/sys.rs:240:13",
            "/proc/1/status",
            "{out}/app/task",
            "1/2/3",
            "Linux/amd64 go1.26 /s",
        ] {
            assert_eq!(stripped(text), text);
        }
    }

    #[test]
    fn paths_are_found_in_reasons_and_commands() {
        let mut campaign = record::test_campaign();
        campaign.entries = vec![record::test_facts("rust/thread")];
        let mut sample = record::test_sample("rust/thread", 1);
        sample.command = ["{out}/sleep".to_owned()].into();
        let holds = |campaign: &Campaign, sample: &Sample| {
            let (clean, of_samples) = without_paths(campaign, std::slice::from_ref(sample)).unwrap();
            let changes = clean != *campaign || of_samples[0] != *sample;
            let left = path_left(campaign, std::slice::from_ref(sample), &[]).unwrap();
            assert_eq!(left.is_some(), changes);
            changes
        };
        assert!(!holds(&campaign, &sample));
        for text in ["/home/ann/x", "\"/home/ann/x\" is\ngone", "a \"quoted\" text", "tasks/s", "ä/ö"] {
            let mut spoilt = sample.clone();
            spoilt.reason = Some(text.to_owned());
            assert_eq!(holds(&campaign, &spoilt), text.contains("home"), "{text}");
        }
        sample.command = ["/home/ann/sleep".to_owned()].into();
        assert!(holds(&campaign, &sample));
        campaign.command = vec!["/home/ann/taskscale".to_owned()];
        assert!(holds(&campaign, &record::test_sample("rust/thread", 1)));
    }

    proptest::proptest! {
        #[test]
        fn stripping_homes_is_complete_and_idempotent(
            text in "[a-z.-]{0,9}([ :=\"(,]/home/[a-z]{3}/[a-z /.]{1,9}|[ :]//?[a-z./]{0,9}){0,4}"
        ) {
            let once = stripped(&text);
            proptest::prop_assert!(!once.contains("/home/"), "{}", once);
            proptest::prop_assert_eq!(stripped(&once), once);
        }
    }

    /// `TASKSCALE_BLESS=1 cargo test published_results` strips them. Afterwards, generate their pages again.
    #[test]
    fn published_results_have_no_machine_paths() {
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
        for folder in crate::submit::campaigns_below(&results).unwrap() {
            let name = folder.strip_prefix(&results).unwrap().to_str().unwrap().to_owned();
            let there = record::load(&folder).unwrap();
            let (campaign, samples) = without_paths(&there.campaign, &there.samples).unwrap();
            let stripped = (&there.campaign, &there.samples) == (&campaign, &samples);
            // Results that are already stripped keep their bytes.
            if !stripped && std::env::var_os("TASKSCALE_BLESS").is_some() {
                let text = serde_json::to_string_pretty(&campaign).unwrap() + "\n";
                fs::write(folder.join("campaign.json"), text).unwrap();
                let lines = samples.iter().map(|sample| serde_json::to_string(sample).unwrap() + "\n");
                fs::write(folder.join("samples.jsonl"), lines.collect::<String>()).unwrap();
            }
            let there = record::load(&folder).unwrap();
            assert!(
                (&there.campaign, &there.samples) == (&campaign, &samples),
                "{name}: TASKSCALE_BLESS=1 strips it"
            );
            for file in fs::read_dir(&folder).unwrap().flatten().map(|child| child.path()) {
                let text = fs::read_to_string(&file).unwrap();
                for root in ["/root/", "/home/", "/work/", "/tmp/"] {
                    let at = text.find(root);
                    assert!(at.is_none(), "{}: {root} at {at:?}", file.display());
                }
            }
        }
    }
}
