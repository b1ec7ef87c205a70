//! Takes out of a campaign whose machine it was: its name, names of users, paths. Pure.
//!
//! Paths as [`without_paths`] does it. A name is looked for where people and programs write freely (the command line,
//! reasons, standard error, warnings); the catalogue's own names and versions are left alone, as a host may well be
//! called `node`.

use super::machine::class;
use crate::record::{Campaign, Sample, without_paths};

/// In the place of a user's name.
const SOMEBODY: &str = "somebody";
/// Names that say nothing of anybody: taking them out would only garble what is said.
const NOBODY: [&str; 5] = ["root", "user", "nobody", "somebody", "localhost"];
/// A shorter name of a user is found in too many words.
const SHORTEST_USER: usize = 3;

/// Whose machine it was, as far as is known.
#[derive(Debug, Clone, Default)]
pub struct Whose {
    /// Names of users.
    pub users: Vec<String>,
    /// Names of hosts, beside that of the campaign.
    pub hosts: Vec<String>,
}

/// A campaign that says of its machine only of which class it is.
#[derive(Debug, Clone)]
pub struct Stripped {
    pub campaign: Campaign,
    pub samples: Vec<Sample>,
    /// What was taken out, a few words each, for those who look at it before they hand it in.
    pub what: Vec<String>,
}

/// Takes host names, users and paths out.
pub fn stripped(
    campaign: &Campaign,
    samples: &[Sample],
    whose: &Whose,
) -> Result<Stripped, serde_json::Error> {
    let before = (campaign, samples);
    let (mut campaign, mut samples) = without_paths(campaign, samples)?;
    let of_samples = before.1.iter().zip(&samples).filter(|(before, after)| before != after).count();
    let records = of_samples + usize::from(*before.0 != campaign);
    let class = class(&campaign.machine);
    let host = std::mem::replace(&mut campaign.machine.hostname, class.clone());
    let mut texts = 0;
    let names = names(host, class, whose);
    each_text(&mut campaign, &mut samples, &mut |text| {
        let clean = names.iter().fold(text.clone(), |text, (name, instead)| replace(&text, name, instead));
        texts += usize::from(clean != *text);
        *text = clean;
    });
    let mut what = vec!["the name of the host, in its place the class of the machine".to_owned()];
    what.extend((records > 0).then(|| format!("paths of the machine, in {}", counted(records, "record"))));
    what.extend((texts > 0).then(|| format!("names of host and users, in {}", counted(texts, "text"))));
    Ok(Stripped { campaign, samples, what })
}

fn counted(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// Each name with what stands in its place, the longest first: `ann-laptop` before `ann`.
fn names(host: String, class: String, whose: &Whose) -> Vec<(String, String)> {
    let hosts = std::iter::once(&host).chain(&whose.hosts).map(|name| (name.clone(), class.clone()));
    let users = whose.users.iter().filter(|name| name.len() >= SHORTEST_USER);
    let users = users.map(|name| (name.clone(), SOMEBODY.to_owned()));
    let mut names: Vec<(String, String)> = hosts.chain(users).collect();
    names.retain(|(name, instead)| !name.is_empty() && name != instead && !NOBODY.contains(&name.as_str()));
    names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    names
}

/// Texts that nobody but the machine's people and programs wrote.
fn each_text(campaign: &mut Campaign, samples: &mut [Sample], change: &mut impl FnMut(&mut String)) {
    campaign.command.iter_mut().for_each(&mut *change);
    campaign.machine.warnings.iter_mut().for_each(&mut *change);
    campaign.entries.iter_mut().filter_map(|entry| entry.unavailable.as_mut()).for_each(&mut *change);
    for sample in samples {
        sample.reason.iter_mut().for_each(&mut *change);
        sample.stderr_tail.iter_mut().for_each(&mut *change);
        sample.load_command.iter_mut().flatten().for_each(&mut *change);
    }
}

/// Whole words only, also at the end of `2026-11-21-ann` or before `.local`; `vm.max_map_count` of a host `vm` stays.
fn replace(text: &str, name: &str, instead: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, from) = rest.split_at(at);
        let after = &from[name.len()..];
        let begins = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let ends = !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let is_setting = ["vm.", "kernel.", "net.", "fs."].iter().any(|root| from.starts_with(root));
        replaced.push_str(before);
        replaced.push_str(if begins && ends && !is_setting { instead } else { name });
        rest = after;
    }
    replaced + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_are_replaced_and_settings_stay() {
        for (text, expected) in [
            ("results/2026-11-21-ann", "results/2026-11-21-X"),
            ("ann@ann.local: no", "X@X.local: no"),
            ("annual banns of ann_b", "annual banns of ann_b"),
            ("ann", "X"),
            ("", ""),
        ] {
            assert_eq!(replace(text, "ann", "X"), expected);
        }
        assert_eq!(replace("vm.max_map_count on vm", "vm", "X"), "vm.max_map_count on X");
    }
}
