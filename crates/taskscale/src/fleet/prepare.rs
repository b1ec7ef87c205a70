//! Checks before a fleet is submitted: its machines, its scripts, and that its folder is shared.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::Mode;

use super::folder::{Fleet, Submission};
use super::plan::{FleetPlan, Machines};
use super::slurm::{self, Node};
use super::submit::{
    ArchBinary, Scripts, copy_catalogs, install, make_folder, scripts, submit, targets, write_scripts,
};
use super::{FleetError, FleetResult, at};

/// A fleet that can be submitted.
pub struct PreparedFleet {
    pub fleet: Fleet,
    pub scripts: Scripts,
    programs: Vec<ArchBinary>,
    catalogs: Vec<PathBuf>,
}

/// Checks a plan with Slurm, which a dry run does not need. Leaves nothing after a failure or a dry run.
pub fn prepare(
    plan: &FleetPlan,
    text: &str,
    catalogs: Vec<PathBuf>,
    dry_run: bool,
    warn: &dyn Fn(&str),
) -> FleetResult<PreparedFleet> {
    let expand = |list: &str| match slurm::expand(list) {
        // A plain list needs no Slurm.
        Err(FleetError::NoSlurm(_)) if dry_run && !list.contains('[') => {
            Ok(list.split(',').map(str::to_owned).collect())
        }
        names => names,
    };
    let targets = targets(plan, &expand)?;
    let fleet = Fleet {
        catalog_count: catalogs.len(),
        ..Fleet::new(&plan.folder, text, plan.arguments.clone(), targets)
    };
    let nodes = |machines: &Machines| match slurm::nodes(&machines.at()) {
        Err(FleetError::NoSlurm(_)) if dry_run => Ok(Vec::new()),
        nodes => nodes,
    };
    let nodes: Vec<Vec<Node>> = plan.machines.iter().map(nodes).collect::<FleetResult<_, _>>()?;
    let names = |nodes: &Vec<Node>| nodes.iter().filter_map(|node| node.architecture.clone()).collect();
    let architectures: Vec<_> = nodes.iter().map(names).collect();
    let scripts = scripts(plan, &fleet, &architectures);
    // Slurm's own validation, before anything is written.
    let folder = at("create a folder in", &env::temp_dir(), tempfile::tempdir())?;
    for script in scripts.measure.iter().chain(&scripts.build).chain([&scripts.gather]) {
        let path = folder.path().join(&script.name);
        at("write", &path, fs::write(&path, &script.text))?;
        match slurm::test(&path) {
            Ok(true) => continue,
            Err(FleetError::NoSlurm(_)) if dry_run => break,
            fits => fits
                .map_err(|error| FleetError::Script { name: script.name.clone(), error: Box::new(error) })?,
        };
        if nodes.iter().flatten().all(|node| node.is_up) {
            return Err(FleetError::NoNode(script.name.clone()));
        }
        warn(&format!("{} may wait in the queue: no matching node is up", script.name));
    }
    let needs_own = plan.machines.iter().any(|machines| machines.taskscale.is_none());
    let named: BTreeSet<_> =
        plan.machines.iter().filter_map(|machines| machines.taskscale.as_deref()).collect();
    let programs = named.into_iter().chain(needs_own.then_some(Path::new("/proc/self/exe")));
    let programs: Vec<ArchBinary> = programs.map(ArchBinary::read).collect::<FleetResult<_, _>>()?;
    // Jobs run what is written here: no other user may write to it, whatever the umask.
    rustix::process::umask(rustix::process::umask(Mode::empty()) | Mode::WGRP | Mode::WOTH);
    check_folder(plan, &nodes, dry_run, warn)?;
    Ok(PreparedFleet { fleet, scripts, programs, catalogs })
}

impl PreparedFleet {
    /// Writes the programs that jobs run.
    pub fn install(&self) -> FleetResult<()> {
        self.programs.iter().try_for_each(|program| install(&self.fleet, program))
    }

    /// Writes the rest of the folder and submits the jobs.
    pub fn submit(self) -> FleetResult<(Fleet, Vec<Submission>)> {
        copy_catalogs(&self.fleet, &self.catalogs)?;
        write_scripts(&self.fleet.folder, &self.scripts)?;
        let fleet = self.fleet.create()?;
        let submitted = submit(&fleet, &self.scripts, true)?;
        Ok((fleet, submitted))
    }
}

/// Creates the folder, and tests on a node of each kind that it is visible. Leaves nothing after a failure or a dry run.
fn check_folder(
    plan: &FleetPlan,
    nodes: &[Vec<Node>],
    dry_run: bool,
    warn: &dyn Fn(&str),
) -> FleetResult<()> {
    let made = make_folder(&plan.folder)?;
    let marker = tempfile::Builder::new().prefix(".seen-").tempfile_in(&plan.folder);
    let marker = at("write in", &plan.folder, marker)?;
    let mut places = plan.machines.iter().zip(nodes).flat_map(|(machines, nodes)| {
        // Slurm would wait for nodes that are drained or down.
        let may_answer = nodes.is_empty() || nodes.iter().any(|node| node.is_up);
        let at = may_answer.then(|| machines.at());
        [Some(at), machines.clients.clone().map(Some)].into_iter().flatten().map(move |at| (machines, at))
    });
    let seen = places.try_for_each(|(machines, place)| {
        match place.map_or(Ok(None), |place| slurm::sees(&place, marker.path())) {
            Ok(Some(said)) if said == "seen" => {}
            Ok(Some(said)) => {
                let node = said.trim_start_matches("not seen from ").to_owned();
                return Err(FleetError::NotShared { folder: plan.folder.clone(), node });
            }
            Ok(None) => {
                let (folder, name) = (plan.folder.display(), &machines.name);
                warn(&format!("{folder} was not tested on {name} (no free node); each job tests it"));
            }
            Err(FleetError::NoSlurm(_)) if dry_run => {}
            Err(error) => return Err(error),
        }
        Ok(())
    });
    drop(marker);
    if (seen.is_err() || dry_run)
        && let Some(made) = made
    {
        // Removes only empty folders.
        let chain = plan.folder.ancestors().take_while(|folder| folder.starts_with(&made));
        chain.for_each(|folder| drop(fs::remove_dir(folder)));
    }
    seen
}
