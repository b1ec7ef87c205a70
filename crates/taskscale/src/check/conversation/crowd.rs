//! Many connections at once, as many as this process may open.

use rustix::process::{Resource, getrlimit};

use super::peer::{Peer, Terms, Trouble};

const CROWD: u64 = 1_000;
/// Files that may be opened besides.
const OTHER_FILES: u64 = 32;
/// So many connect before one of them must be served: a server's queue of those that it has not accepted has a bound.
const AT_ONCE: u64 = 16;

/// A thousand, or fewer where this process may open fewer files; a server, which mostly has the same limit, needs some for itself.
pub(super) fn size() -> u64 {
    let open = std::fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64);
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    (limit / 4 * 3).saturating_sub(open + OTHER_FILES).clamp(1, CROWD)
}

/// So many of them. `greet` makes sure that the server knows one by now, and with it all before.
pub(super) fn gather(
    terms: Terms,
    count: u64,
    mut greet: impl FnMut(&mut Peer) -> Result<(), Trouble>,
) -> Result<Vec<Peer>, Trouble> {
    let mut crowd = Vec::new();
    for index in 0..count {
        let mut peer = match Peer::connect(terms) {
            Ok(peer) => peer,
            // Others in this process have opened files meanwhile: that is no fault of the server's.
            Err(Trouble::Refused(error)) if index > 0 && error.raw_os_error() == Some(libc::EMFILE) => break,
            Err(trouble) => return Err(trouble.of(&format!("beside {index} others"))),
        };
        if index % AT_ONCE == 0 {
            greet(&mut peer).map_err(|trouble| trouble.of(&format!("beside {index} idle connections")))?;
        }
        crowd.push(peer);
    }
    Ok(crowd)
}
