//! What `site` takes.

use std::path::PathBuf;

use clap::Args as ClapArgs;

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  taskscale site -o public                your results in taskscale-results/
  taskscale site results -o public        a repository's results of many machines
  xdg-open public/index.html              works without a server

The site includes the documents if the catalog or RESULTS is in taskscale's repository.
Building into an existing site deletes its outdated pages.")]
pub struct SiteArgs {
    /// Folder that contains the results folders
    #[arg(value_name = "RESULTS", default_value = "taskscale-results")]
    pub results: PathBuf,
    /// Folder of the site: new, empty, or an older site
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}
