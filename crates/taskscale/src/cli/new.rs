//! `taskscale new`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{anyhow, bail};

use super::args::{Global, New};
use super::catalog_dir::{carries_catalog, catalog_to_write};
use super::{Failure, OrUsage, print_result, printable, say_aside};
use crate::catalog::{self, closest};
use crate::scaffold::{self, LANGUAGES, Language, Request, language_of};

pub fn run(args: &New, global: &Global) -> Result<ExitCode, Failure> {
    let Some((runtime, entry)) = args.name.split_once('/') else {
        return Err(Failure::Usage(anyhow!(
            "`{}` names no entry: write LANGUAGE/NAME, such as go/errgroup or python/my-loop",
            args.name
        )));
    };
    let language = language(args.language.as_deref(), runtime).or_usage()?;
    let place = catalog_to_write(global).or_usage()?;
    let there = |name: &str| place.folder.join(name).join("runtime.toml").is_file();
    if args.language.is_none()
        && !there(runtime)
        && let Some(other) = language.names.iter().find(|name| there(name))
    {
        return Err(Failure::Usage(anyhow!(
            "{} has {} as `{other}`: `taskscale new {other}/{entry}` adds to it; \
             `--language {other}` makes a runtime `{runtime}` beside it",
            place.folder.display(),
            language.title
        )));
    }
    let existed = place.folder.is_dir();
    let workloads = workloads(&args.workload, &place.folder).or_usage()?;
    if args.extension.is_some() && !language.is_generic() {
        let error =
            anyhow!("--extension is for languages that `new` does not know, and {} is one", language.title);
        return Err(Failure::Usage(error));
    }
    let extension = args.extension.as_deref().unwrap_or(runtime);
    let request =
        Request { catalog: &place.folder, runtime, entry, language, extension, workloads: &workloads };
    let written = scaffold::write(&request).or_usage()?;

    let current = std::env::current_dir().unwrap_or_default();
    let shown = |path: &Path| path.strip_prefix(&current).unwrap_or(path).display().to_string();
    let mut text = String::new();
    for path in &written.created {
        text.push_str(&format!("created   {}\n", shown(path)));
    }
    if let Some(path) = &written.extended {
        text.push_str(&format!("extended  {}\n", shown(path)));
    }
    // Where this very folder leads to the catalogue, nothing need be said of it.
    let option =
        if place.needs_option { format!(" --catalog {}", shown(&place.folder)) } else { String::new() };
    // What `run` measures where nobody says.
    let which = match args.workload.as_slice() {
        [] => String::new(),
        asked => format!(" -w {}", asked.join(",")),
    };
    text.push_str(&format!(
        "\nNext:\n  \
         taskscale check {name}{option}\n  \
         taskscale run {name}{which} -n 1,10k{option}\n  \
         write your way of running tasks into the program, and `why` into the manifest\n",
        name = args.name
    ));
    print_result(&printable(&text))?;
    if language.is_generic() && args.language.is_none() {
        say_aside(&format!(
            "note: `new` knows no program in `{runtime}`, so *.{extension} is a shell script that works as it is; \
             write the same in your language, and its commands in runtime.toml"
        ));
    }
    if !existed && !place.needs_option && carries_catalog() {
        say_aside(&format!(
            "note: {} is a new catalogue: commands in this folder have its entries beside those that taskscale carries",
            shown(&place.folder)
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// The workloads that were named, or the one that is meant where none is; known to the catalogue, each of them.
fn workloads(asked: &[String], catalog: &Path) -> anyhow::Result<Vec<String>> {
    let known = catalog::workloads(catalog)?;
    let names = || known.iter().map(|workload| workload.name.as_str());
    for asked in asked {
        if !names().any(|name| name == asked) {
            let nearest = closest(asked, names()).map(|nearest| format!(": did you mean `{nearest}`?"));
            bail!(
                "no workload `{asked}`{}; there are {}",
                nearest.unwrap_or_default(),
                names().collect::<Vec<_>>().join(", ")
            );
        }
    }
    Ok(match asked {
        [] => {
            known.iter().filter(|workload| workload.default).map(|workload| workload.name.clone()).collect()
        }
        asked => asked.to_vec(),
    })
}

fn language(named: Option<&str>, runtime: &str) -> anyhow::Result<&'static Language> {
    let Some(named) = named else { return Ok(language_of(runtime)) };
    let found = language_of(named);
    if !found.is_generic() || ["shell", "sh", "any"].contains(&named) {
        return Ok(found);
    }
    let names = || LANGUAGES.iter().filter_map(|language| language.names.first().copied()).chain(["shell"]);
    let nearest = closest(named, names()).map(|nearest| format!("; did you mean `{nearest}`?"));
    Err(anyhow!(
        "--language: `new` knows no program in `{named}`, only in {}{}",
        names().collect::<Vec<_>>().join(", "),
        nearest.unwrap_or_default()
    ))
}
