//! The scripted program. Unit tests that need it include this file.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// The scripted program, built once, in the tests' folder and profile.
pub fn fake_entry() -> &'static Path {
    static BUILT: OnceLock<std::path::PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let program = std::env::current_exe().expect("this program");
        let folder = program.ancestors().nth(2).expect("target/debug/deps/TESTS");
        let profile = match folder.file_name().and_then(|name| name.to_str()) {
            Some("debug") | None => "dev",
            Some(profile) => profile,
        };
        let built = Command::new(env!("CARGO"))
            // Like the tests of the whole workspace: alone, its dependencies would be built again.
            .args(["test", "--quiet", "--workspace", "--test", "program", "--no-run"])
            .args(["--profile", profile, "--target-dir"])
            .arg(folder.parent().expect("a folder"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status();
        assert!(built.is_ok_and(|status| status.success()), "fake-entry does not build");
        folder.join("fake-entry")
    })
}
