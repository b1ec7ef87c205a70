//! WebSocket frames and keys (RFC 6455), of clients and servers. Also invalid frames, to test servers with.
//!
//! Why not tungstenite 0.30: only its `FrameHeader` would be of use, and would replace 50 lines. Its masking is
//! private, its parser hides the opcode of unknown frames from checks, it needs `rand` and `bytes`, and its
//! messages allocate for each frame.

use data_encoding::BASE64;
use sha1::{Digest, Sha1};

pub const CONTINUED: u8 = 0;
pub const TEXT: u8 = 1;
pub const BINARY: u8 = 2;
pub const CLOSE: u8 = 8;
pub const PING: u8 = 9;
pub const PONG: u8 = 10;

/// What a server appends to a client's key (section 1.3).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The key of a handshake.
pub fn key(random: &[u8]) -> String {
    BASE64.encode(random)
}

/// The server's answer to a key; `None` if it is not 16 bytes in Base64.
pub fn accept(key: &str) -> Option<String> {
    let bytes = BASE64.decode(key.as_bytes()).ok()?;
    (bytes.len() == 16).then(|| BASE64.encode(&Sha1::digest(format!("{key}{GUID}"))))
}

/// The bytes of a frame before its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHeader {
    /// No further fragment of the message follows.
    pub last: bool,
    /// The reserved bits of the first byte.
    pub reserved: u8,
    pub opcode: u8,
    /// The length of the data.
    pub length: u64,
    mask: Option<[u8; 4]>,
}

impl FrameHeader {
    /// Reads a header; `read` fills a buffer.
    pub fn read<E>(mut read: impl FnMut(&mut [u8]) -> Result<(), E>) -> Result<FrameHeader, E> {
        let mut start = [0; 2];
        read(&mut start)?;
        let [first, second] = start;
        let mut length = u64::from(second & 0x7f).to_be_bytes();
        match second & 0x7f {
            126 => read(&mut length[6..])?,
            127 => read(&mut length)?,
            _ => {}
        }
        let mut mask = [0; 4];
        let masked = second & 0x80 != 0;
        read(&mut mask[..if masked { 4 } else { 0 }])?;
        Ok(FrameHeader {
            last: first & 0x80 != 0,
            reserved: first & 0x70,
            opcode: first & 0x0f,
            length: u64::from_be_bytes(length),
            mask: masked.then_some(mask),
        })
    }

    /// Why a client or a server may not send it.
    pub fn violation(&self, of_client: bool) -> Option<String> {
        let what = match (self.mask.is_some(), self.opcode) {
            _ if self.reserved != 0 => "a frame with reserved bits, without an extension",
            (true, _) if !of_client => "a masked frame, which only clients may send",
            (false, _) if of_client => "an unmasked frame of a client",
            (_, CONTINUED | TEXT | BINARY) => return None,
            (_, CLOSE | PING | PONG) if self.last && self.length <= 125 => return None,
            (_, CLOSE | PING | PONG) => "a control frame that is a fragment or longer than 125 bytes",
            (_, opcode) => return Some(format!("received a frame with unknown opcode {opcode}")),
        };
        Some(format!("received {what}"))
    }

    /// Masks data, or removes the mask.
    pub fn mask(&self, data: &mut [u8]) {
        if let Some(mask) = self.mask {
            data.iter_mut().enumerate().for_each(|(at, byte)| *byte ^= mask[at % 4]);
        }
    }
}

/// A frame to be sent.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'d> {
    pub header: FrameHeader,
    data: &'d [u8],
}

impl<'d> Frame<'d> {
    /// A whole message, as servers send it.
    pub fn new(opcode: u8, data: &'d [u8]) -> Frame<'d> {
        let length = data.len() as u64;
        Frame { header: FrameHeader { last: true, reserved: 0, opcode, length, mask: None }, data }
    }

    /// As clients send it.
    pub fn masked(mut self, mask: [u8; 4]) -> Frame<'d> {
        self.header.mask = Some(mask);
        self
    }

    /// More fragments of the message follow.
    pub fn begun(mut self) -> Frame<'d> {
        self.header.last = false;
        self
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.put(&mut bytes);
        bytes
    }

    /// Appends its bytes.
    pub fn put(&self, bytes: &mut Vec<u8>) {
        let FrameHeader { last, reserved, opcode, length, mask } = self.header;
        let masked = if mask.is_some() { 0x80 } else { 0 };
        bytes.push(if last { 0x80 } else { 0 } | reserved | opcode);
        match length {
            0..126 => bytes.push(masked | length as u8),
            126..=0xffff => {
                bytes.push(masked | 126);
                bytes.extend_from_slice(&(length as u16).to_be_bytes());
            }
            _ => {
                bytes.push(masked | 127);
                bytes.extend_from_slice(&length.to_be_bytes());
            }
        }
        bytes.extend(mask.into_iter().flatten());
        let start = bytes.len();
        bytes.extend_from_slice(self.data);
        self.header.mask(&mut bytes[start..]);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use proptest::prelude::*;

    use super::*;

    fn header(mut bytes: &[u8]) -> FrameHeader {
        FrameHeader::read(|buffer| bytes.read_exact(buffer)).expect("a whole header")
    }

    /// The examples of RFC 6455, 1.3 and 5.7.
    #[test]
    fn keys_and_frames_match_the_rfc() {
        let key = "dGhlIHNhbXBsZSBub25jZQ==";
        assert_eq!(accept(key).as_deref(), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
        assert_eq!(super::key(b"the sample nonce"), key);
        assert_eq!((accept("dGhlIHNhbXBsZSBub25j"), accept("!!!!")), (None, None));
        let text = |text: &'static str| Frame::new(TEXT, text.as_bytes());
        assert_eq!(text("Hello").bytes(), b"\x81\x05Hello");
        assert_eq!(text("Hel").begun().bytes(), b"\x01\x03Hel");
        assert_eq!(Frame::new(CONTINUED, b"lo").bytes(), b"\x80\x02lo");
        let masked = text("Hello").masked([0x37, 0xfa, 0x21, 0x3d]);
        assert_eq!(masked.bytes(), b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
        assert_eq!(Frame::new(BINARY, &[0; 256]).bytes()[..4], [0x82, 0x7e, 0x01, 0x00]);
        let long = Frame::new(BINARY, &[0; 65536]).bytes();
        assert_eq!(long[..10], [0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0]);
        let mut wrong = text("").masked([0; 4]);
        (wrong.header.reserved, wrong.header.length) = (0x40, 1 << 40);
        assert_eq!(wrong.bytes()[..10], [0xc1, 0xff, 0, 0, 1, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn invalid_frames_are_detected() {
        for (bytes, of_client, words) in [
            (&[0xc1, 0][..], false, "reserved"),
            (&[0x81, 0x80, 0, 0, 0, 0], false, "a masked"),
            (&[0x81, 0], true, "an unmasked"),
            (&[0x83, 0], false, "opcode 3"),
            (&[0x09, 0], false, "control"),
            (&[0x88, 126, 0, 126], false, "control"),
        ] {
            let why = header(bytes).violation(of_client).expect(words);
            assert!(why.contains(words), "{why}");
        }
        assert_eq!(header(&[0x81, 127, 255, 255, 255, 255, 255, 255, 255, 255]).length, u64::MAX);
    }

    proptest! {
        #[test]
        fn built_frames_parse_back(data in prop::collection::vec(any::<u8>(), 0..70_000), mask: Option<[u8; 4]>) {
            let frame = Frame::new(BINARY, &data);
            let bytes = mask.map_or(frame, |mask| frame.masked(mask)).bytes();
            let header = header(&bytes);
            prop_assert_eq!(header.violation(mask.is_some()), None);
            prop_assert_eq!(header.length, data.len() as u64);
            let mut came = bytes[bytes.len() - data.len()..].to_vec();
            header.mask(&mut came);
            prop_assert_eq!(came, data);
        }
    }
}
