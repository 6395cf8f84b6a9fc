//! Limits of viewers on ids and numbers.

/// Returns whether a value is an unquoted integer whose magnitude exceeds 2^53.
pub fn is_big(value: &[u8]) -> bool {
    const EXACT: &[u8] = b"9007199254740992";
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    digits.len() >= EXACT.len()
        && digits.iter().all(u8::is_ascii_digit)
        && (digits.len() > EXACT.len() || digits > EXACT)
}

/// Returns whether Perfetto accepts a flow id: an integer, or a string of hexadecimal digits.
pub fn is_flow_id(id: &[u8]) -> bool {
    match id {
        [b'"', content @ .., b'"'] => {
            let digits = content.strip_prefix(b"0x").unwrap_or(content);
            !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit)
        }
        _ => {
            let digits = id.strip_prefix(b"-").unwrap_or(id);
            !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
        }
    }
}
