//! What the fuzzer found, and what it was.

/// A name, the target, and the bytes that made it fail.
pub(super) type Found = (&'static str, fn(&[u8]), &'static [u8]);

#[rustfmt::skip]
pub(super) const FOUND: &[Found] = &[
    ("a .cpuprofile of nodes without ids panicked", super::verbs, b"\0\0\0\0{\"nodes\":[{\"callFrame\":{}}],\"startTime\":1,\"samples\":[2,1],\"timeDeltas\":[3,5]}"),
    ("the second list of samples that got new stack frames stood without a comma behind the first", super::damaged, b"\0\x01\0\x02\x01\x05\x01\0\0?\xe9\x8cJ@\"\xf0\xe3\x96@\"\xf0\xe4SA\xcd$\xb7o\\\x0b\xdf\x030N\xad\x9dA"),
    ("parts of split had events of one nanosecond, but of different times, in the order of the input", super::stories, b"\x03<\x01\x1d\xcb\x13{(\0\0\x12\x9e\xf9h\xa4\x11\x9b\x0b\xaa\xab\xc4W\xf7\x87\xeb\xd8\xfd\x0114Z\xa6\xab\xc5>(\xb8\x89\xc5\xe32\x9e)v5\xd5\xdbylower-instan\xed\xbd\xc0\xbf\xebB\xd0\x09\x890\xf0\xd7\x06+\x8a\xfd\x1c\x90*\xef%\xebN5\x82\x96Z\xeb\x9bu\xcf\xdc\xa3\x1b\xc3%\xd9H\xedMu\xd6\xefW\xaf\x9d\x91E6\xb6t\xff#\xf0\xf3\\\xe5\x9fM8~\xc8\xdc\xdb\xa6\x80`\x15\xfc_\xac^^\x98>\x88\xde\xe2\x0c\xfcF\xc6pS;\xfd\xb6\xba\x9b\x88\xe4=\xfbi\xaf\xdc\xb80\xaa\x0f\xff\x89\x8e\xc8x\"<5'\x03R\xe9U\xdd\xb3\xda$\x98\xa4\x18\xc3\x14\xd8\x99\xcc\\\xcc_\x9b\xd8\x9f\x04\x0e\x1cx\xa9\0\xad\x1d\xd58 7\x13f\x86\x0f\xac\x9e>\xdbu\xe18\"\xddGKy\x1f\xa2\x89\xc2B\xc0\xc27*\x1f\x8f'1\xcdEa \x95\xb4\xe9\xecM\xbbPwV\xbfr\x080\x9c\xfaB\xc7+Y$I53\xfa\x1d"),
    ("a first line that looks like no event is a document when it is read again", super::verbs, b"\0\x0b\0\0\x03\xab{\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":0,\"tid\":1,\"name\":\"a\",\"cat\":\"c\",\"args\":{\"b\":[{\"c\":\"]}\"}]}}\n{\"ts\":2.5, \"ph\" : \"B\",\"name\":\"\\u0061\",\"pid\":1,\"tid\":1}\n{\"Events\":[{\"ts\":2.5, \"ph\" : \"B\",\"name\":\"\\u0061\",\"pid\":1,\"tid\":1}]}"),
    ("a node that comes twice in the same words is one, which the reference did not know", super::profiles, b"\x8f\x01\x03Y\"baseTimeNanosecond\xe2\x01\x0e\x96s>\x01\n\xa8:;3c\x84&\x0d\xbd\xbeIZ\xc8\x99\x81d\xf8\\\xc4\x9f[H\xca\x8f\x01\x03Yg\xc1\xdd\xea[\xeau\xd9g\xf3\xf1J\xd6\xfe\"7:1g\xc1\xdd\">5c\xcah"),
    ("a node that named a parent which nobody is got another one from a list of children, and nobody was told", super::profiles, b"w\0\x0bz\xce\xa3\xb3e\x9atrace\x01q@M\xbe\xb0TTTTTTTTTTTTTTDTTTTTT\xfe\xff\xff\xffTW;\xc4\x13\x94{\x08\xa2\x10\xe80&\x9c:\"name\":\"a\"\x02TTT-TTTTTTTTTTTTTTTTTTTTTTTTT\x03I$\x92I$\x92JTTTTT}\xff\xb3Y\xbfy\x1a\xf27\x10[\x8du\xb1"),
    ("a first line that is broken and has neither ph nor ts is a document when it is read again", super::damaged, b"\0\0\x03\xc6\"ph\":\"X\"\xff\xff\xff\xff\xff\xff\"ph\":\"B\"\\\xac\x18\xc5\xf5\x1el\xc1"),
];
