//! System V shared memory segments that outlive a run: without a user, they stay until the machine restarts.

use std::collections::BTreeMap;

use super::procfs::text;

/// A segment of `/proc/sysvipc/shm`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    /// Pid of its creator.
    creator: u32,
    attached: u64,
    uid: u32,
    made_at: u64,
}

/// The segments of the machine, by number.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Segments(BTreeMap<i32, Segment>);

/// Segments that a run has left.
#[derive(Debug, Default, PartialEq, Eq)]
struct Left {
    /// Made by processes of the run.
    of_run: Vec<i32>,
    /// Made meanwhile by processes that have ended and are not known to be of the run.
    perhaps: usize,
}

impl Segments {
    pub fn now() -> Segments {
        Segments(parse(&text("/proc/sysvipc/shm").unwrap_or_default()))
    }

    /// Removes unattached segments that the run's processes have made since. Returns whether any were left, by them or
    /// perhaps by them.
    pub fn remove_new(&self, made_by: impl Fn(u32) -> bool) -> bool {
        let left = self.left(&Segments::now(), made_by, |pid| text(format!("/proc/{pid}/stat")).is_ok());
        for number in &left.of_run {
            // SAFETY: removes by number; no memory is handed over.
            unsafe { libc::shmctl(*number, libc::IPC_RMID, std::ptr::null_mut()) };
        }
        !left.of_run.is_empty() || left.perhaps > 0
    }

    fn left(&self, now: &Segments, made_by: impl Fn(u32) -> bool, lives: impl Fn(u32) -> bool) -> Left {
        let user = rustix::process::geteuid().as_raw();
        let new = now.0.iter().filter(|(number, segment)| self.0.get(number) != Some(segment));
        let new = new.filter(|(_, segment)| segment.attached == 0 && (user == 0 || segment.uid == user));
        let mut left = Left::default();
        for (number, segment) in new {
            match made_by(segment.creator) {
                true => left.of_run.push(*number),
                false => left.perhaps += usize::from(!lives(segment.creator)),
            }
        }
        left
    }
}

/// `key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap`.
fn parse(table: &str) -> BTreeMap<i32, Segment> {
    let segment = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let segment = Segment {
            creator: fields.get(4)?.parse().ok()?,
            attached: fields.get(6)?.parse().ok()?,
            uid: fields.get(7)?.parse().ok()?,
            made_at: fields.get(13)?.parse().ok()?,
        };
        Some((fields.get(1)?.parse().ok()?, segment))
    };
    table.lines().skip(1).filter_map(segment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap\n";

    fn segments(lines: &[&str]) -> Segments {
        Segments(parse(&format!("{HEAD}{}\n", lines.join("\n"))))
    }

    #[test]
    fn segments_of_a_run_are_distinguished_from_others() {
        let user = rustix::process::geteuid().as_raw();
        let line = |number: u32, creator: u32, attached: u32| {
            format!("0 {number} 600 8388608 {creator} {creator} {attached} {user} 0 {user} 0 1 0 1 8388608 0")
        };
        let before = segments(&[&line(1, 10, 0)]);
        let lines = [line(1, 10, 0), line(2, 50, 0), line(3, 50, 1), line(4, 60, 0), line(5, 70, 0)];
        let now = segments(&lines.each_ref().map(String::as_str));
        let left = before.left(&now, |pid| pid == 50, |pid| pid == 60);
        assert_eq!(left, Left { of_run: vec![2], perhaps: 1 });
        assert_eq!(before.left(&before, |_| true, |_| false), Left::default());
        assert!(parse("").is_empty() && parse(&format!("{HEAD}nonsense\n")).is_empty());
    }
}
