//! The environment and the launch request of a program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::RunSpec;
use crate::cgroup::Group;
use crate::connections::FILES_BESIDES;
use crate::launcher::LaunchRequest;

pub fn launch_request(
    spec: &RunSpec,
    command: &[String],
    group: &dyn Group,
    scratch: &Path,
    stdin: Option<PathBuf>,
) -> LaunchRequest {
    let folder =
        spec.scenario.black_box().and_then(|black_box| black_box.folder.as_deref()).unwrap_or(scratch);
    LaunchRequest {
        command: command.to_vec(),
        env: environment(spec, scratch),
        folder: folder.to_owned(),
        stdin,
        join: group.join_files(),
        cpus: spec.cpus,
        files: spec.scenario.serve().map(|_| spec.tasks + FILES_BESIDES),
        group: group.folders(),
        scratch: scratch.to_owned(),
    }
}

/// taskscale's own environment, without variables that are not UTF-8.
pub fn of_user() -> BTreeMap<String, String> {
    let all = std::env::vars_os();
    all.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect()
}

/// The program's environment: some variables of the user (or all), `TMPDIR`, and those of the run.
fn environment(spec: &RunSpec, scratch: &Path) -> BTreeMap<String, String> {
    let full = spec.scenario.black_box().is_some_and(|black_box| black_box.full_environment);
    let mut env = of_user();
    env.retain(|name, _| full || ["PATH", "HOME", "USER", "LANG"].contains(&name.as_str()));
    env.insert("TMPDIR".into(), scratch.to_string_lossy().into_owned());
    env.extend(spec.env.clone());
    env
}
