//! `taskscale clean`.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use super::args::{CleanArgs, Global};
use super::catalog_dir::{find_catalog, unpacked_catalogs};
use super::progress::Progress;
use super::session::MachineLease;
use super::{Failure, eprint_status, print_result, printable};
use crate::catalog::{Catalog, ToolchainSpec, embedded_name};
use crate::toolchain::{self, Cache, KeptBuild, Toolchain};
use crate::units;
use taskscale_measure::Interrupt;

/// Something in the cache.
enum Item {
    Build(KeptBuild),
    /// An unpacked catalog.
    Catalog {
        name: String,
        folder: PathBuf,
    },
}

impl Item {
    fn folder(&self) -> &Path {
        match self {
            Item::Build(build) => &build.folder,
            Item::Catalog { folder, .. } => folder,
        }
    }

    fn name(&self) -> String {
        match self {
            Item::Build(build) => format!("builds of {} ({})", build.runtime, build.digest),
            Item::Catalog { name, .. } => format!("catalog {name}"),
        }
    }

    /// Removes it; `false` if it is in use.
    fn remove(&self) -> std::io::Result<bool> {
        match self {
            Item::Build(build) => build.remove(),
            Item::Catalog { folder, .. } => fs::remove_dir_all(folder).map(|()| true),
        }
    }
}

pub fn run(args: &CleanArgs, global: &Global) -> Result<ExitCode, Failure> {
    let interrupt = Interrupt::install().context("cannot catch signals")?;
    // Runs use these builds.
    let lock = if args.dry_run {
        None
    } else {
        let lease = MachineLease {
            what: "cleaning",
            harm: "it may need these builds",
            when_taken: global.when_taken(),
        };
        let lock = lease.acquire(&Progress::new(global.quiet), &interrupt)?;
        if lock.is_none() {
            return Ok(ExitCode::from(128 + interrupt.signal().unwrap_or(libc::SIGINT) as u8));
        }
        lock
    };
    let cache = Cache::of_user();
    let root = cache.root().display().to_string();
    let builds = cache.kept_builds().with_context(|| format!("cannot read {root}"))?;
    let catalogs = unpacked_catalogs(&cache);
    let unpacked = toolchain::folders(&catalogs).with_context(|| format!("cannot read {root}"))?;

    let (mut old, mut current) = (Vec::new(), Vec::new());
    let wanted = if args.all { Vec::new() } else { wanted(global, &builds, &catalogs) };
    for build in builds {
        let is_wanted = wanted.iter().any(|(runtime, digest)| build.is_of(runtime, digest));
        if is_wanted { &mut current } else { &mut old }.push(Item::Build(build));
    }
    for (name, folder) in unpacked {
        let is_wanted = !args.all && embedded_name().as_ref() == Some(&name);
        if is_wanted { &mut current } else { &mut old }.push(Item::Catalog { name, folder });
    }

    let mut freed_bytes = 0;
    let mut removed = 0;
    let mut code = ExitCode::SUCCESS;
    for item in &old {
        let bytes = toolchain::disk_usage_bytes(item.folder());
        let gone = if args.dry_run { Ok(true) } else { item.remove() };
        let line = match gone {
            Ok(true) => {
                freed_bytes += bytes;
                removed += 1;
                let verb = if args.dry_run { "would remove" } else { "removed" };
                format!("{verb} {}: {}", item.name(), units::bytes(bytes))
            }
            Ok(false) => format!("kept {}: another taskscale is building there", item.name()),
            Err(error) => {
                code = ExitCode::FAILURE;
                eprint_status(&format!("error: cannot remove {}: {error}", item.folder().display()));
                continue;
            }
        };
        print_result(&printable(&format!("{line}\n")))?;
    }
    drop(lock);
    let kept_bytes: u64 = current.iter().map(|item| toolchain::disk_usage_bytes(item.folder())).sum();
    let verb = if args.dry_run { "would free" } else { "freed" };
    print_result(&printable(&format!(
        "{verb} {} ({removed} of {}) in {root}; {} in use kept\n",
        units::bytes(freed_bytes),
        old.len() + current.len(),
        units::bytes(kept_bytes),
    )))?;
    Ok(code)
}

/// The builds that a catalog needs today, as runtime and digest: the catalog in use, the embedded one, and those that the
/// builds came from.
fn wanted(global: &Global, builds: &[KeptBuild], unpacked: &Path) -> Vec<(String, String)> {
    if builds.is_empty() {
        return Vec::new();
    }
    let mut folders: BTreeSet<PathBuf> = builds
        .iter()
        .filter_map(|build| build.source.as_deref()?.parent().map(Path::to_owned))
        .filter(|folder| folder.is_dir())
        .collect();
    folders.extend(embedded_name().map(|name| unpacked.join(name)).filter(|folder| folder.is_dir()));
    // Without a catalog in use, the others still count.
    folders.extend(find_catalog(global).into_iter().flat_map(|place| place.folders));

    // Querying a toolchain takes up to a second, and copies of a catalog need the same ones.
    let mut toolchains: HashMap<(String, ToolchainSpec), Option<Toolchain>> = HashMap::new();
    let mut wanted = Vec::new();
    for folder in folders {
        let catalog = match Catalog::load(&folder) {
            Ok(catalog) => catalog,
            Err(error) => {
                eprint_status(&format!("warning: builds of this catalog count as old: {error}"));
                continue;
            }
        };
        for runtime in &catalog.runtimes {
            if !builds.iter().any(|build| build.runtime == runtime.name) {
                continue;
            }
            let specs: BTreeSet<&ToolchainSpec> =
                runtime.entries.iter().map(|entry| &entry.toolchain).collect();
            let Ok(sources) = toolchain::source_digest(runtime, &Toolchain::default()) else { continue };
            for spec in specs {
                let asked = (sources.clone(), ToolchainSpec { folder: PathBuf::new(), ..spec.clone() });
                let found = toolchains.entry(asked).or_insert_with(|| toolchain::find(spec).ok());
                let digest = found.as_ref().and_then(|found| toolchain::source_digest(runtime, found).ok());
                wanted.extend(digest.map(|digest| (runtime.name.clone(), digest)));
            }
        }
    }
    wanted
}
