//! Anonymizes results: removes the host name, names of users and paths. Pure.
//!
//! Paths are removed by [`without_paths`]. Names are replaced where people and programs write freely: the command line,
//! reasons, standard error, warnings. The catalog's own names and versions stay, as a host may be called `node`.

use super::machine::class;
use crate::record::{Campaign, Sample, without_paths};
use crate::units::counted;

/// Replaces the name of a user.
const ANONYMOUS: &str = "somebody";
/// Names that identify no person and stay.
const SYSTEM_NAMES: [&str; 5] = ["root", "user", "nobody", "somebody", "localhost"];
/// Shorter names of users are part of too many words.
const SHORTEST_USER: usize = 3;

/// Names that identify the machine and its users, as far as known.
#[derive(Debug, Clone, Default)]
pub struct Identity {
    /// Names of users.
    pub users: Vec<String>,
    /// Names of hosts besides that of the results.
    pub hosts: Vec<String>,
}

/// Anonymized results, which name only the class of the machine.
#[derive(Debug, Clone)]
pub struct Anonymized {
    pub campaign: Campaign,
    pub samples: Vec<Sample>,
    /// What was removed, in a few words each.
    pub what: Vec<String>,
}

/// Removes host names, users and paths.
pub fn anonymize(
    campaign: &Campaign,
    samples: &[Sample],
    identity: &Identity,
) -> Result<Anonymized, serde_json::Error> {
    let before = (campaign, samples);
    let (mut campaign, mut samples) = without_paths(campaign, samples)?;
    let of_samples = before.1.iter().zip(&samples).filter(|(before, after)| before != after).count();
    let records = of_samples + usize::from(*before.0 != campaign);
    let class = class(&campaign.machine);
    let host = std::mem::replace(&mut campaign.machine.hostname, class.clone());
    let mut texts = 0;
    let names = names(host, class, identity);
    each_text(&mut campaign, &mut samples, &mut |text| {
        let clean = names.iter().fold(text.clone(), |text, (name, instead)| replace(&text, name, instead));
        texts += usize::from(clean != *text);
        *text = clean;
    });
    let mut what = vec!["the host name (replaced by the class of the machine)".to_owned()];
    what.extend((records > 0).then(|| format!("paths of the machine in {}", counted(records, "record"))));
    what.extend((texts > 0).then(|| format!("names of host and users in {}", counted(texts, "text"))));
    Ok(Anonymized { campaign, samples, what })
}

/// Each name with its replacement, the longest first: `ann-laptop` before `ann`.
fn names(host: String, class: String, identity: &Identity) -> Vec<(String, String)> {
    let hosts = std::iter::once(&host).chain(&identity.hosts).map(|name| (name.clone(), class.clone()));
    let users = identity.users.iter().filter(|name| name.len() >= SHORTEST_USER);
    let users = users.map(|name| (name.clone(), ANONYMOUS.to_owned()));
    let mut names: Vec<(String, String)> = hosts.chain(users).collect();
    names.retain(|(name, instead)| {
        !name.is_empty() && name != instead && !SYSTEM_NAMES.contains(&name.as_str())
    });
    names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    names
}

/// Texts that the machine's users and programs wrote.
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

/// Replaces whole words only, also at the end of `2026-11-21-ann` or before `.local`. `vm.max_map_count` stays
/// even if a host is called `vm`.
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
    fn only_whole_words_are_anonymized() {
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
