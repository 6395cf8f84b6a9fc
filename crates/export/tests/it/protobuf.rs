//! A schemaless reader of protocol buffers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Field<'b> {
    Number(u64),
    /// Eight bytes.
    Fixed(u64),
    Bytes(&'b [u8]),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for at in 0.. {
        let (first, rest) = bytes.split_first().expect("a number ends");
        *bytes = rest;
        number |= u64::from(first & 0x7f) << (7 * at);
        if first & 0x80 == 0 {
            break;
        }
    }
    number
}

pub(crate) fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let value = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => {
                let (value, rest) = bytes.split_at(8);
                bytes = rest;
                Field::Fixed(u64::from_le_bytes(value.try_into().expect("eight bytes")))
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (content, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(content)
            }
            other => panic!("wire type {other}"),
        };
        all.push((key >> 3, value));
    }
    all
}

pub(crate) fn numbers(field: &Field<'_>) -> Vec<u64> {
    match field {
        Field::Number(number) | Field::Fixed(number) => vec![*number],
        Field::Bytes(bytes) => {
            let mut bytes = *bytes;
            let mut all = Vec::new();
            while !bytes.is_empty() {
                all.push(varint(&mut bytes));
            }
            all
        }
    }
}
