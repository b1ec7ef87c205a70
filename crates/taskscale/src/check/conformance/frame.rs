//! WebSocket frames (RFC 6455, 5.2): valid and invalid ones of a client, and those of a server.

pub(super) const CONTINUED: u8 = 0;
pub(super) const TEXT: u8 = 1;
pub(super) const BINARY: u8 = 2;
pub(super) const CLOSE: u8 = 8;
pub(super) const PING: u8 = 9;
pub(super) const PONG: u8 = 10;

/// The longest frame of a server.
const MOST_BYTES: u64 = 1 << 20;

/// A frame to be sent.
#[derive(Debug, Clone)]
pub(super) struct OutgoingFrame<'d> {
    opcode: u8,
    data: &'d [u8],
    last: bool,
    reserved: u8,
    /// Replaces the true length.
    announced: Option<u64>,
    mask: Option<[u8; 4]>,
}

impl<'d> OutgoingFrame<'d> {
    /// A client's frame. The mask differs between bytes, so that the server must unmask.
    pub fn new(opcode: u8, data: &'d [u8]) -> OutgoingFrame<'d> {
        OutgoingFrame {
            opcode,
            data,
            last: true,
            reserved: 0,
            announced: None,
            mask: Some([0x17, 0xa5, 0x4c, 0xf0]),
        }
    }

    pub fn text(text: &'d str) -> OutgoingFrame<'d> {
        OutgoingFrame::new(TEXT, text.as_bytes())
    }

    /// More fragments of the message follow.
    pub fn begun(self) -> OutgoingFrame<'d> {
        OutgoingFrame { last: false, ..self }
    }

    pub fn unmasked(self) -> OutgoingFrame<'d> {
        OutgoingFrame { mask: None, ..self }
    }

    /// Sets one of the three reserved bits, counted from the highest.
    pub fn reserved(self, bit: u32) -> OutgoingFrame<'d> {
        OutgoingFrame { reserved: 0x80 >> bit, ..self }
    }

    pub fn announcing(self, length: u64) -> OutgoingFrame<'d> {
        OutgoingFrame { announced: Some(length), ..self }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let masked = if self.mask.is_some() { 0x80 } else { 0 };
        let mut bytes = vec![if self.last { 0x80 } else { 0 } | self.reserved | self.opcode];
        match self.announced.unwrap_or(self.data.len() as u64) {
            length @ 0..126 => bytes.push(masked | length as u8),
            length @ 126..=0xffff => {
                bytes.push(masked | 126);
                bytes.extend((length as u16).to_be_bytes());
            }
            length => {
                bytes.push(masked | 127);
                bytes.extend(length.to_be_bytes());
            }
        }
        let mask = self.mask.unwrap_or_default();
        bytes.extend(&mask[..if self.mask.is_some() { 4 } else { 0 }]);
        bytes.extend(self.data.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        bytes
    }
}

/// The first two bytes of a frame that a server sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub last: bool,
    pub opcode: u8,
    length: u8,
}

impl Head {
    /// The error is why it is invalid.
    pub fn parse([first, second]: [u8; 2]) -> Result<Head, String> {
        let head = Head { last: first & 0x80 != 0, opcode: first & 0x0f, length: second & 0x7f };
        if first & 0x70 != 0 {
            return Err("received a frame with reserved bits, without an extension".to_owned());
        }
        if second & 0x80 != 0 {
            return Err("received a masked frame, which only clients may send".to_owned());
        }
        if ![CONTINUED, TEXT, BINARY, CLOSE, PING, PONG].contains(&head.opcode) {
            return Err(format!("received a frame with unknown opcode {}", head.opcode));
        }
        if head.opcode >= CLOSE && (!head.last || head.length > 125) {
            return Err("received a control frame that is a fragment or longer than 125 bytes".to_owned());
        }
        Ok(head)
    }

    /// The number of bytes of its extended length.
    pub fn length_bytes(&self) -> usize {
        match self.length {
            126 => 2,
            127 => 8,
            _ => 0,
        }
    }

    /// Its length, from those bytes.
    pub fn length(&self, bytes: &[u8]) -> Result<usize, String> {
        let length = match self.length {
            126 | 127 => bytes.iter().fold(0, |length: u64, byte| length << 8 | u64::from(*byte)),
            length => u64::from(length),
        };
        if length > MOST_BYTES {
            return Err(format!("received a frame header of {length} bytes"));
        }
        Ok(length as usize)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The examples of RFC 6455, 5.7.
    #[test]
    fn frames_are_those_of_the_standard() {
        assert_eq!(OutgoingFrame::text("Hello").unmasked().bytes(), b"\x81\x05Hello");
        assert_eq!(OutgoingFrame::text("Hel").unmasked().begun().bytes(), b"\x01\x03Hel");
        assert_eq!(OutgoingFrame::new(CONTINUED, b"lo").unmasked().bytes(), b"\x80\x02lo");
        let mask = Some([0x37, 0xfa, 0x21, 0x3d]);
        let hello = OutgoingFrame { mask, ..OutgoingFrame::text("Hello") };
        assert_eq!(hello.bytes(), b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
        assert_eq!(OutgoingFrame::new(BINARY, &[0; 256]).unmasked().bytes()[..4], [0x82, 0x7e, 0x01, 0x00]);
        let long = OutgoingFrame::new(BINARY, &[0; 65536]).unmasked().bytes();
        assert_eq!(long[..10], [0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0]);
        let wrong = OutgoingFrame::new(TEXT, b"").reserved(1).announcing(1 << 40).bytes();
        assert_eq!(wrong[..10], [0xc1, 0xff, 0, 0, 1, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn invalid_frames_of_a_server_are_found() {
        for (bytes, words) in [
            ([0xc1, 0], "reserved"),
            ([0x81, 0x80], "masked"),
            ([0x83, 0], "opcode 3"),
            ([0x09, 0], "control"),
            ([0x88, 126], "control"),
        ] {
            let why = Head::parse(bytes).expect_err("it is wrong");
            assert!(why.contains(words), "{why}");
        }
        let long = Head::parse([0x81, 127]).expect("it is right");
        assert!(long.length(&u64::MAX.to_be_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn a_server_may_send_what_was_built_without_a_mask(data in prop::collection::vec(any::<u8>(), 0..70_000)) {
            let bytes = OutgoingFrame::new(BINARY, &data).unmasked().bytes();
            let head = Head::parse([bytes[0], bytes[1]]).expect("it is right");
            let (length, rest) = bytes[2..].split_at(head.length_bytes());
            prop_assert_eq!(head.length(length), Ok(data.len()));
            prop_assert_eq!(rest, data);
        }
    }
}
