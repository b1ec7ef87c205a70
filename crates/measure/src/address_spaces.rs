//! Processes by address space: memory that several share (`vfork`, `clone(CLONE_VM)`) counts once.

use std::io;

/// `KCMP_VM` of linux/kcmp.h.
const KCMP_VM: libc::c_int = 1;

/// The address spaces seen so far.
#[derive(Debug, Default)]
pub struct AddressSpaces {
    /// A process of each, in the kernel's order of address spaces.
    seen: Vec<u32>,
    refused: usize,
}

impl AddressSpaces {
    /// Whether no earlier process has this one's address space, as far as the kernel reports.
    pub fn is_new(&mut self, pid: u32) -> bool {
        let (mut low, mut high) = (0, self.seen.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match compare(pid, self.seen[middle]) {
                Ok(0) => return false,
                Ok(1) => high = middle,
                Ok(_) => low = middle + 1,
                Err(_) => {
                    self.refused += 1;
                    return true;
                }
            }
        }
        self.seen.insert(low, pid);
        true
    }

    /// Number of processes that the kernel did not compare: they may share memory that was counted for each.
    pub fn refused(&self) -> usize {
        self.refused
    }
}

/// 0: the same address space; 1: the first is before the second; 2: after it.
fn compare(one: u32, other: u32) -> io::Result<libc::c_long> {
    // SAFETY: compares by numbers of processes; no memory is handed over.
    match unsafe { libc::syscall(libc::SYS_kcmp, one, other, KCMP_VM, 0, 0) } {
        order if order < 0 => Err(io::Error::last_os_error()),
        order => Ok(order),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_space_counts_once() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let mut spaces = AddressSpaces::default();
        let me = std::process::id();
        let (first, second) = (spaces.is_new(me), spaces.is_new(child.id()));
        let again = (spaces.is_new(me), spaces.is_new(child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((first, second), (true, true));
        // Where the kernel compares no processes, each counts.
        let refused = is_refused();
        assert_eq!((again, spaces.refused() > 0), ((refused, refused), refused));
    }

    /// Whether the kernel compares no processes here, not even by their open files.
    fn is_refused() -> bool {
        const KCMP_FILES: libc::c_int = 2;
        let me = std::process::id();
        // SAFETY: compares by numbers of processes; no memory is handed over.
        unsafe { libc::syscall(libc::SYS_kcmp, me, me, KCMP_FILES, 0, 0) != 0 }
    }
}
