//! Asks systemd for a scope with a delegated cgroup, as `systemd-run --scope -p Delegate=yes` does, but for the running
//! process: the user types nothing special.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// systemd answers within milliseconds on an idle machine; a busy or emulated one may need seconds.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Moves this process into a new delegated scope and returns once it has moved, or why it cannot.
pub fn move_into_scope(own_group: impl Fn() -> Option<String>) -> Result<(), String> {
    let pid = std::process::id();
    let manager = if rustix::process::geteuid().is_root() { "--system" } else { "--user" };
    let before = own_group();
    // busctl comes with systemd and spares taskscale a D-Bus library. Never prompts for a password.
    let output = Command::new("busctl")
        .args([manager, "--quiet", "--allow-interactive-authorization=no", "--timeout=10", "call"])
        .args(["org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager"])
        .args(["StartTransientUnit", "ssa(sv)a(sa(sv))"])
        .args([&format!("taskscale-{pid}.scope"), "fail"])
        .args(["5", "Description", "s", "taskscale", "PIDs", "au", "1", &pid.to_string()])
        // The user manager's default limit on tasks is a share of the machine's, too low for thread entries.
        .args(["TasksMax", "t", "18446744073709551615"])
        .args(["Delegate", "b", "true", "CollectMode", "s", "inactive-or-failed", "0"])
        .stdin(Stdio::null())
        .output()
        .map_err(|_| "systemd not found (no `busctl`)")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or("no message").trim().to_owned();
        return Err(format!("systemd refused a scope: {said}"));
    }
    let deadline = Instant::now() + TIMEOUT;
    while own_group() == before {
        if Instant::now() > deadline {
            return Err("systemd made a scope but did not move taskscale into it".into());
        }
        thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}
