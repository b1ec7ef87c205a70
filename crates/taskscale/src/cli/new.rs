//! `taskscale new`.

use std::path::Path;

use anyhow::{Result, bail};

use super::args::{Global, NewArgs};
use super::failure::{CliResult, Failure, OrUsage, SUCCESS};
use super::output::{eprint_status, print_result, printable};
use crate::catalog::{self, catalog_to_write, did_you_mean};
use crate::document::joined;
use crate::scaffold::{self, LANGUAGES, Language, ScaffoldRequest, language_of};

pub fn run(args: &NewArgs, global: &Global) -> CliResult {
    let name = &args.name;
    let Some((runtime, entry)) = name.split_once('/') else {
        let expected = "expected LANGUAGE/NAME, such as go/errgroup or python/my-loop";
        return Err(Failure::usage(format!("not an entry: `{name}` ({expected})")));
    };
    let language = language(args.language.as_deref(), runtime).or_usage()?;
    let place = catalog_to_write(&global.catalog).or_usage()?;
    let there = |name: &str| place.folder.join(name).join("runtime.toml").is_file();
    if args.language.is_none()
        && !there(runtime)
        && let Some(other) = language.names.iter().find(|name| there(name))
    {
        let (title, folder) = (&language.title, place.folder.display());
        return Err(Failure::usage(format!(
            "{title} is already in {folder} as `{other}`; add to it: `taskscale new {other}/{entry}`, or create a \
             runtime `{runtime}`: --language {other}"
        )));
    }
    let existed = place.folder.is_dir();
    let workloads = &workloads(&args.workload, &place.folder).or_usage()?;
    if args.extension.is_some() && !language.is_generic() {
        let error = format!("--extension: not for {} (only for other languages)", language.title);
        return Err(Failure::usage(error));
    }
    let extension = args.extension.as_deref().unwrap_or(runtime);
    let catalog = &place.folder;
    let request = ScaffoldRequest { catalog, runtime, entry, language, extension, workloads };
    let written = scaffold::write(&request).or_usage()?;

    let current = std::env::current_dir().unwrap_or_default();
    let shown = |path: &Path| path.strip_prefix(&current).unwrap_or(path).display().to_string();
    let created = written.created.iter().map(|path| format!("created   {}\n", shown(path)));
    let extended = written.extended.iter().map(|(path, _)| format!("extended  {}\n", shown(path)));
    let mut text: String = created.chain(extended).collect();
    // Commands in this folder may find the catalog by themselves.
    let option =
        if place.needs_option { format!(" --catalog {}", shown(&place.folder)) } else { String::new() };
    // `run` has the same default.
    let asked = args.workload.join(",");
    let which = if asked.is_empty() { asked } else { format!(" -w {asked}") };
    text.push_str(&format!(
        "\nNext:\n  \
         taskscale check {name}{option}\n  \
         taskscale run {name}{which} -n 1,10k{option}\n  \
         edit the program, and `why` in runtime.toml\n"
    ));
    print_result(&printable(&text))?;
    if language.is_generic() && args.language.is_none() {
        eprint_status(&format!(
            "note: *.{extension} is a working shell script (`new` has no program for `{runtime}`): rewrite it in your \
             language, and put its commands into runtime.toml"
        ));
    }
    if !existed && !place.needs_option {
        eprint_status(&format!(
            "note: {} is a new catalog: commands in this folder add its entries to the embedded ones",
            shown(&place.folder)
        ));
    }
    Ok(SUCCESS)
}

/// The workloads that were named, or the default one. Each must be in the catalog.
fn workloads(asked: &[String], catalog: &Path) -> Result<Vec<String>> {
    let known = catalog::workloads(catalog)?;
    let names = || known.iter().map(|workload| workload.name.as_str());
    if let Some(asked) = asked.iter().find(|asked| names().all(|name| name != *asked)) {
        let (nearest, all) = (did_you_mean(asked, names()), joined(names(), ", "));
        bail!("no workload `{asked}`{nearest}; available: {all}");
    }
    if !asked.is_empty() {
        return Ok(asked.to_vec());
    }
    Ok(known.into_iter().filter(|workload| workload.default).map(|workload| workload.name).collect())
}

fn language(named: Option<&str>, runtime: &str) -> Result<&'static Language> {
    let Some(named) = named else { return Ok(language_of(runtime)) };
    let found = language_of(named);
    if !found.is_generic() || ["shell", "sh", "any"].contains(&named) {
        return Ok(found);
    }
    let firsts = || LANGUAGES.iter().filter_map(|language| language.names.first());
    let names = || firsts().map(String::as_str).chain(["shell"]);
    let (nearest, all) = (did_you_mean(named, names()), joined(names(), ", "));
    bail!("--language: no program for `{named}`; available: {all}{nearest}");
}
