//! Clients and servers of this process, over real sockets.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with};

use super::*;

/// What a server does with the bytes of each read.
type ReplyFn = fn(&mut TcpStream, &[u8]) -> io::Result<()>;

/// A server with a thread for each connection; its threads end with the connections.
fn server(answer: ReplyFn) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream.set_nodelay(true).unwrap();
            std::thread::spawn(move || {
                let mut buffer = [0u8; 4096];
                while let Ok(length @ 1..) = stream.read(&mut buffer) {
                    if answer(&mut stream, &buffer[..length]).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

fn order(address: SocketAddr) -> LoadOrder {
    LoadOrder {
        elsewhere: None,
        client: Some(Client::Echo),
        address,
        connections: 20,
        size: 64,
        room: 1,
        rate: Some(1_000.0),
        open_s: 0.5,
        active: 5,
        closed_s: 0.2,
    }
}

#[test]
fn all_scheduled_messages_are_sent_and_returned() {
    let load = run(&order(server(|stream, bytes| stream.write_all(bytes)))).unwrap();
    assert_eq!(load.connected, 20);
    let open = load.open.unwrap();
    assert_eq!((open.messages, open.deliveries, open.offered_per_s), (500, 500, 1_000.0));
    let (late, from_send) = (open.p99_us().unwrap(), open.latency_from_send_us.unwrap());
    assert!(from_send.p50 <= from_send.p99 && from_send.p99 <= from_send.max, "{from_send:?}");
    assert!(0.0 < from_send.p99 && from_send.p99 <= late, "what was sent late waits longer: {open:?}");
    assert!(load.first_message && load.curve == [open]);
    let closed = load.closed.unwrap();
    assert!(closed.active == 5 && closed.messages >= 5 && closed.deliveries == closed.messages);
}

/// Latency from the scheduled send time includes the server's delay.
#[test]
fn latency_includes_a_known_delay() {
    const DELAY: Duration = Duration::from_millis(20);
    let slow: ReplyFn = |stream, bytes| {
        std::thread::sleep(DELAY);
        stream.write_all(bytes)
    };
    let order = LoadOrder { rate: Some(100.0), ..order(server(slow)) };
    let open = run(&order).unwrap().open.unwrap();
    let least_us = DELAY.as_micros() as f64 * 0.999;
    assert!(open.p99_us().unwrap() >= least_us, "{open:?}");
    assert!(open.latency_from_send_us.unwrap().p50 >= least_us, "{open:?}");
}

#[test]
fn faulty_servers_are_detected() {
    let wrong = |answer: ReplyFn| run(&order(server(answer))).unwrap_err().to_string();
    let damaged =
        wrong(|stream, bytes| stream.write_all(&bytes.iter().map(|byte| byte ^ 1).collect::<Vec<_>>()));
    assert!(damaged.contains("byte 0 of message 0"), "{damaged}");
    let closed = wrong(|_, _| Err(io::ErrorKind::Other.into()));
    assert!(closed.contains("closed the connection"), "{closed}");
    let doubled = wrong(|stream, bytes| stream.write_all(&bytes.repeat(2)));
    assert!(doubled.contains("sent more than it received"), "{doubled}");
}

#[test]
fn missing_server_is_an_error_with_its_address() {
    // A port that is bound, but does not listen.
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
    bind(&socket, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let address = SocketAddr::try_from(getsockname(&socket).unwrap()).unwrap();
    let error = run(&order(address)).unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot make connection 1 to {address}: ")), "{error}");
}

#[test]
fn order_is_rendered_as_a_command_line() {
    let order = order(SocketAddr::from(([127, 0, 0, 1], 0)));
    assert_eq!(
        order.command(7).join(" "),
        "/proc/self/exe load echo --connect 127.0.0.1:7 -n 20 --size 64 --room 1 --rate 1000 --open-s 0.5 --active 5 \
         --closed-s 0.2 --stepwise"
    );
}

/// Every message comes back, and none on its own connection.
#[test]
fn answers_on_the_wrong_connection_are_detected() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut streams: Vec<TcpStream> = (0..20).map(|_| listener.accept().unwrap().0).collect();
        let mut message = [0u8; 64];
        for nth in (0..20).cycle() {
            if streams[nth].read_exact(&mut message).is_err() {
                return;
            }
            let other = (nth + 1) % streams.len();
            let _ = streams[other].write_all(&message);
        }
    });
    let error = run(&order(address)).unwrap_err().to_string();
    assert!(error.contains("of connection") || error.contains("more than it received"), "{error}");
}

#[test]
fn open_loops_have_the_rate_or_shares_of_capacity() {
    assert_eq!(rates(Some(7.0), 1_000.0), [7.0]);
    assert_eq!(rates(None, 1_000.0), [100.0, 500.0, 900.0]);
    assert_eq!(rates(None, 0.0), [1.0; 3]);
    let curve = [0.1, 0.5, 0.9].map(|share| OpenLoad { share: Some(share), ..OpenLoad::default() });
    assert_eq!(usual(&curve).unwrap().share, Some(0.5));
    assert_eq!(usual(&curve[..1]).unwrap().share, Some(0.1));
}
