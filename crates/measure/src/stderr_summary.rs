//! The line of standard error that explains what went wrong. Pure.

/// Beginnings of lines that a stack trace follows: V8, Go, JVM.
const BEFORE_A_STACK: [&str; 4] = ["FATAL ERROR:", "fatal error:", "panic:", "Exception in thread"];
/// The most characters of the line that are shown.
const MAX_SHOWN: usize = 200;

/// `; stderr: ` and the last line that a stack trace follows, or else the last that is neither empty nor a
/// hint.
pub(super) fn last_line(text: &str) -> String {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("hint:"));
    let told = lines().rfind(|line| BEFORE_A_STACK.iter().any(|begin| line.starts_with(begin)));
    told.or_else(|| lines().next_back())
        .map(|line| format!("; stderr: {}", line.chars().take(MAX_SHOWN).collect::<String>()))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_above_a_stack_trace_is_shown() {
        assert_eq!(last_line("listening 80\nno config\nhint: see below\n\n"), "; stderr: no config");
        let v8 = "<--- JS stacktrace --->\n\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of \
                  memory\n----- Native stack trace -----\n\n 1: 0xb78db3 node::OOMErrorHandler [/usr/bin/node]\n";
        let printed =
            "; stderr: FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory";
        assert_eq!(last_line(v8), printed);
        let go =
            "panic: too many\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:9 +0x2\nexit status 2\n";
        assert_eq!(last_line(go), "; stderr: panic: too many");
        assert_eq!(last_line(" \n"), "");
    }
}
