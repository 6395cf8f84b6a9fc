//! Writes messages of protocol buffers, for pprof and Perfetto: numbers, texts and nested messages.

/// A message under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Adds a number as a varint. A negative `int64` is passed as its 64 bits.
    pub(crate) fn number(&mut self, field: u32, number: u64) {
        self.varint(u64::from(field) << 3);
        self.varint(number);
    }

    /// Appends the fields of another message.
    pub(crate) fn append(&mut self, other: &Message) {
        self.0.extend_from_slice(&other.0);
    }

    /// Adds a `fixed64`. A `double` is passed as its 64 bits.
    pub(crate) fn fixed(&mut self, field: u32, bits: u64) {
        self.varint(u64::from(field) << 3 | 1);
        self.0.extend_from_slice(&bits.to_le_bytes());
    }

    /// Adds bytes, a text or an encoded message.
    pub(crate) fn field(&mut self, field: u32, bytes: &[u8]) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// Adds a packed list of numbers.
    pub(crate) fn numbers(&mut self, field: u32, numbers: impl IntoIterator<Item = u64>) {
        let mut all = Message::default();
        numbers.into_iter().for_each(|number| all.varint(number));
        self.field(field, &all.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_match_the_protobuf_specification() {
        let mut message = Message::default();
        message.number(1, 150);
        message.field(2, b"testing");
        message.numbers(6, [3, 270, 86942]);
        let expected = b"\x08\x96\x01\x12\x07testing\x32\x06\x03\x8e\x02\x9e\xa7\x05";
        assert_eq!(message.bytes(), expected);
        message.clear();
        message.number(1, -2i64 as u64);
        assert_eq!(message.bytes(), b"\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
        message.clear();
        message.fixed(4, 1.0f64.to_bits());
        assert_eq!(message.bytes(), b"\x21\0\0\0\0\0\0\xf0\x3f");
    }
}
