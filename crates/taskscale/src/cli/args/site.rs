//! What `site` takes.

use std::path::PathBuf;

use clap::Args as ClapArgs;

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  taskscale site -o public                what you measured: the campaigns below taskscale-results/
  taskscale site results -o public        what a repository keeps of many machines
  xdg-open public/index.html              no server is needed

Documents are part of it where the catalogue is that of taskscale's repository; an installed taskscale has none.
Made again into its folder, a site takes away the pages that it no longer has.")]
pub struct Site {
    /// The folder below which the campaigns are
    #[arg(value_name = "RESULTS", default_value = "taskscale-results")]
    pub results: PathBuf,
    /// The folder that becomes the site: a new or empty one, or that of a site
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}
