//! Servers instead of a wait: `echo` here, `chat` in `chat.rs`, with a known cost and latency.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use taskscale_load::room_for;

use crate::args::{Options, Service};
use crate::chat::ChatServer;
use crate::faults::{Fault, FaultPhase};
use crate::memory::Region;
use crate::processes::sleep_out;
use crate::threads::{THIS_THREAD, burn};
use crate::{Script, output, perform, sleep_until};

/// Length of the accept queue: clients connect by the thousand.
const BACKLOG: i32 = 4096;
/// Stack of a connection's threads, whose large data is elsewhere.
const STACK_BYTES: usize = 128 * 1024;
/// Number of the connection at which faults of the plateau strike.
const PLATEAU_AT: u64 = 10;
/// How long the first of two messages is held back for the second.
const SWAPS_WITHIN: Duration = Duration::from_millis(20);
/// Default size of an `echo` message. Messages that are read together cost as much as single ones.
const MESSAGE_BYTES: u32 = 64;
/// Most chunks of a connection that wait to be sent.
const MAX_DELAYED: usize = 4096;

impl Script {
    /// Serves forever. Returns only if it cannot listen.
    pub fn serve(&self, service: Service, address: SocketAddr) -> io::Result<()> {
        let options = &self.options;
        room_for(options.tasks as usize + 64);
        let listener = TcpListener::bind(address)?;
        // Changes the backlog of a socket that already listens.
        rustix::net::listen(&listener, BACKLOG)?;
        let chat = ChatServer::new(options);
        let echo = EchoServer { options, messages: AtomicU64::new(0) };
        self.print(&format!("listening {}\n", listener.local_addr()?.port()));
        thread::scope(|scope| {
            for number in 1.. {
                if options.number(Fault::StopAccepting).is_some_and(|most| number > most) {
                    sleep_out();
                }
                let accepted =
                    listener.accept().and_then(|(socket, _)| socket.set_nodelay(true).and(Ok(socket)));
                let socket = accepted.unwrap_or_else(|error| give_up(&error));
                if number == PLATEAU_AT {
                    perform::strike(options, FaultPhase::Plateau);
                }
                if options.number(Fault::CloseEvery).is_some_and(|every| number.checked_rem(every) == Some(0))
                {
                    continue;
                }
                let (chat, echo) = (&chat, &echo);
                // An error of a connection ends only that connection.
                let talk = move || {
                    let _held = Region::anon(options.bytes_per_connection);
                    let _ = match service {
                        Service::Echo => echo.talk(&socket),
                        Service::Chat => chat.talk(number, &socket),
                    };
                };
                let started = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, talk);
                started.unwrap_or_else(|error| give_up(&error));
            }
        });
        Ok(())
    }
}

/// Exits at once, without waiting for the threads of other connections.
fn give_up(error: &io::Error) -> ! {
    output::complain(format_args!("serving: {error}"));
    std::process::exit(1)
}

struct EchoServer<'s> {
    options: &'s Options,
    /// On all connections.
    messages: AtomicU64,
}

impl EchoServer<'_> {
    fn talk(&self, socket: &TcpStream) -> io::Result<()> {
        let delay = self.options.op_sleep;
        if delay.is_zero() {
            return self.read(socket, |message| { socket }.write_all(message));
        }
        // A separate thread sends, so that data that arrives meanwhile is not delayed further.
        let (late, due) = mpsc::sync_channel::<(Instant, Vec<u8>)>(MAX_DELAYED);
        thread::scope(|scope| {
            thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || {
                for (when, message) in due {
                    sleep_until(when);
                    { socket }.write_all(&message)?;
                }
                Ok::<_, io::Error>(())
            })?;
            let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
            self.read(socket, move |message| {
                late.send((Instant::now() + delay, message.to_vec())).map_err(gone)
            })
        })
    }

    fn read(&self, mut socket: &TcpStream, send: impl Fn(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut buffer = [0; 4096];
        loop {
            let length = socket.read(&mut buffer)?;
            if length == 0 {
                return Ok(());
            }
            let message = &mut buffer[..length];
            burn(THIS_THREAD, self.options.op_cpu * (length as u32).div_ceil(MESSAGE_BYTES));
            let number = self.messages.fetch_add(1, Ordering::Relaxed);
            if self.options.number(Fault::Flip) == Some(number) {
                message[length / 2] ^= 1;
            }
            if self.options.has(Fault::Swap) {
                let mut second = [0; 4096];
                socket.set_read_timeout(Some(SWAPS_WITHIN))?;
                // 0 on a timeout, or at the end of the stream, which the next read reports again.
                let length = socket.read(&mut second).unwrap_or(0);
                socket.set_read_timeout(None)?;
                send(&second[..length])?;
            }
            send(message)?;
        }
    }
}
