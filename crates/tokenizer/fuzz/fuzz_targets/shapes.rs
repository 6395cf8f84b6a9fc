#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| tracemill_tokenizer_fuzz::shapes(input));
