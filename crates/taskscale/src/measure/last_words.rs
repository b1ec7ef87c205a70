//! Which line of what a program wrote to standard error tells what went wrong. Pure.

/// How lines begin after which runtimes print a stack: V8, Go, a JVM.
const BEFORE_A_STACK: [&str; 4] = ["FATAL ERROR:", "fatal error:", "panic:", "Exception in thread"];
/// Characters of it that are told.
const TOLD: usize = 200;

/// `; it said: ` and the last line that is not empty, or the last that a stack follows.
pub(super) fn last_line(text: &str) -> String {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let told = lines().rfind(|line| BEFORE_A_STACK.iter().any(|begin| line.starts_with(begin)));
    told.or_else(|| lines().next_back())
        .map(|line| format!("; it said: {}", line.chars().take(TOLD).collect::<String>()))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_above_a_stack_is_told() {
        assert_eq!(last_line("listening 80\nno config\n\n"), "; it said: no config");
        let v8 = "<--- JS stacktrace --->\n\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of \
                  memory\n----- Native stack trace -----\n\n 1: 0xb78db3 node::OOMErrorHandler [/usr/bin/node]\n";
        let said =
            "; it said: FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory";
        assert_eq!(last_line(v8), said);
        let go =
            "panic: too many\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:9 +0x2\nexit status 2\n";
        assert_eq!(last_line(go), "; it said: panic: too many");
        assert_eq!(last_line(" \n"), "");
    }
}
