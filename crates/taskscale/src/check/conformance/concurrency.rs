//! Many connections at once, within the limit of open files.

use rustix::process::{Resource, getrlimit};

use super::peer::{Peer, ProtocolError, ProtocolResult, Terms, Within};

const MAX_CONNECTIONS: u64 = 1_000;
/// Other open files.
const OTHER_FILES: u64 = 32;
/// One in this many connections must be served before the next, as a server's backlog is limited.
const CONCURRENT: u64 = 16;

/// 1,000 connections, or fewer if the limit of open files is lower. The server's other files keep a quarter.
pub(super) fn size() -> u64 {
    let open = std::fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64);
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    (limit / 4 * 3).saturating_sub(open + OTHER_FILES).clamp(1, MAX_CONNECTIONS)
}

/// Opens `count` connections. `greet` tests that the server has accepted one, and so all before it.
pub(super) fn connect_all(
    terms: Terms,
    count: u64,
    greet: impl Fn(&Peer) -> ProtocolResult,
) -> ProtocolResult<Vec<Peer>> {
    let mut peers = Vec::new();
    for index in 0..count {
        let peer = match Peer::connect(terms) {
            Ok(peer) => peer,
            // This process ran out of files: not a fault of the server.
            Err(ProtocolError::Refused(error)) if index > 0 && error.raw_os_error() == Some(libc::EMFILE) => {
                break;
            }
            Err(error) => return Err(error).of(&format!("with {index} other connections")),
        };
        if index % CONCURRENT == 0 {
            greet(&peer).of(&format!("with {index} idle connections"))?;
        }
        peers.push(peer);
    }
    Ok(peers)
}
