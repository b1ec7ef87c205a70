//! `taskscale clean`.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;

use super::args::{CleanArgs, Global};
use super::catalog_dir::find_catalog;
use super::failure::{CliResult, catch_signals, exit_code};
use super::output::{eprint_status, print_result, printable};
use super::progress::Progress;
use super::session::lock_machine;
use crate::catalog::embedded_name;
use crate::toolchain::{self, Cache, KeptBuild};
use crate::units;

/// Something in the cache.
struct CacheItem {
    name: String,
    folder: PathBuf,
    /// Absent for an unpacked catalog.
    build: Option<KeptBuild>,
}

pub fn run(args: &CleanArgs, global: &Global) -> CliResult {
    let interrupt = catch_signals()?;
    let progress = Progress::new(global.quiet);
    let lock = || {
        // Runs use these builds.
        lock_machine("cleaning", "it may need these builds", global, &progress, &interrupt)
    };
    let lock = (!args.dry_run).then(lock).transpose()?;
    let cache = Cache::of_user();
    let root = cache.root().display().to_string();
    let builds = cache.kept_builds().with_context(|| format!("cannot read {root}"))?;
    let catalogs = cache.catalogs();
    let unpacked = toolchain::folders(&catalogs).with_context(|| format!("cannot read {root}"))?;

    let wanted = if args.all || builds.is_empty() {
        Vec::new()
    } else {
        // Without a catalog here, those of the builds still count.
        let mut folders = find_catalog(global).map(|place| place.folders).unwrap_or_default();
        folders.extend(Some(catalogs.join(embedded_name())).filter(|folder| folder.is_dir()));
        let warn = |text: &str| eprint_status(&format!("warning: {text}"));
        toolchain::wanted_builds(folders, &builds, &warn)
    };
    let builds = builds.into_iter().map(|build| {
        let is_wanted = wanted.iter().any(|(runtime, digest)| build.is_of(runtime, digest));
        let name = format!("builds of {} ({})", build.runtime, build.digest);
        (CacheItem { name, folder: build.folder.clone(), build: Some(build) }, is_wanted)
    });
    // taskscale only removes its own folders: `VERSION-DIGEST` or `pinned-DIGEST`.
    let is_ours = |(name, _): &(String, PathBuf)| {
        name.rsplit_once('-').is_some_and(|(_, digest)| digest.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let unpacked = unpacked.into_iter().filter(is_ours).map(|(name, folder)| {
        let is_wanted = !args.all && name == embedded_name();
        (CacheItem { name: format!("catalog {name}"), folder, build: None }, is_wanted)
    });
    let (current, old): (Vec<_>, Vec<_>) = builds.chain(unpacked).partition(|(_, is_wanted)| *is_wanted);

    let (remove, free) = if args.dry_run { ("would remove", "would free") } else { ("removed", "freed") };
    let (mut freed_bytes, mut removed, mut failed) = (0, 0, false);
    for (item, _) in &old {
        let bytes = toolchain::disk_usage_bytes(&item.folder);
        // `false` if it is in use.
        let gone = match &item.build {
            _ if args.dry_run => Ok(true),
            Some(build) => build.remove(),
            None => fs::remove_dir_all(&item.folder).map(|()| true),
        };
        let line = match gone {
            Ok(true) => {
                freed_bytes += bytes;
                removed += 1;
                format!("{remove} {}: {}", item.name, units::bytes(bytes))
            }
            Ok(false) => format!("kept {}: another taskscale is building there", item.name),
            Err(error) => {
                failed = true;
                eprint_status(&format!("error: cannot remove {}: {error}", item.folder.display()));
                continue;
            }
        };
        print_result(&printable(&format!("{line}\n")))?;
    }
    drop(lock);
    let kept_bytes: u64 = current.iter().map(|(item, _)| toolchain::disk_usage_bytes(&item.folder)).sum();
    let (freed, kept, all) = (units::bytes(freed_bytes), units::bytes(kept_bytes), old.len() + current.len());
    let sum = format!("{free} {freed} ({removed} of {all}) in {root}; {kept} in use kept\n");
    print_result(&printable(&sum))?;
    Ok(exit_code(failed))
}
