#!/bin/sh
# Installs tracemill on Linux and macOS, for one user: the program, manual pages, completions.
#
#   curl -fsSL https://github.com/tracemill/tracemill/releases/latest/download/tracemill-installer.sh | sh
#
#   TRACEMILL_PREFIX     where to: PREFIX/bin, PREFIX/share [default: ~/.local]
#   TRACEMILL_VERSION    which version, as 0.1.0 [default: the latest]
#   TRACEMILL_TARGET     of which system, as x86_64-unknown-linux-musl [default: what this machine is]
#   TRACEMILL_URL        the folder to download from [default: the project's releases]
#
# What is downloaded must have the checksum that the release names; nothing is installed otherwise.
set -eu

fail() {
    echo "tracemill-installer: $1" >&2
    exit 1
}

has() {
    command -v "$1" >/dev/null 2>&1
}

# The name of this machine's archive.
target() {
    case $(uname -m) in
        x86_64 | amd64) machine=x86_64 ;;
        aarch64 | arm64) machine=aarch64 ;;
        *) fail "there is no program for $(uname -m): cargo install tracemill builds one, where there is Rust" ;;
    esac
    case $(uname -s) in
        # static where the C library is another one, or older than what the other was linked for
        Linux) if is_glibc; then echo "$machine-unknown-linux-gnu"; else echo "$machine-unknown-linux-musl"; fi ;;
        Darwin) echo "$machine-apple-darwin" ;;
        *) fail "there is no program for $(uname -s): cargo install tracemill builds one, where there is Rust" ;;
    esac
}

# Whether the C library is GNU's, 2.17 or later.
is_glibc() {
    version=$(getconf GNU_LIBC_VERSION 2>/dev/null) || return 1
    version=${version#glibc }
    [ "${version%%.*}" -gt 2 ] || { minor=${version#*.} && [ "${minor%%.*}" -ge 17 ]; }
}

# fetch URL FILE
fetch() {
    if has curl; then
        curl -fsSL --retry 3 -o "$2" "$1" || fail "cannot download $1"
    elif has wget; then
        wget -q -O "$2" "$1" || fail "cannot download $1"
    else
        fail "neither curl nor wget is here: install one"
    fi
}

# The checksum of a file.
checksum() {
    if has sha256sum; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# put MODE FILE TARGET: in one step, so that a program that runs is not written into
put() {
    mkdir -p "$(dirname "$3")" || fail "cannot make $(dirname "$3"): set TRACEMILL_PREFIX to a folder of yours"
    cp "$2" "$3.new" || fail "cannot write $3.new: set TRACEMILL_PREFIX to a folder of yours"
    chmod "$1" "$3.new"
    mv -f "$3.new" "$3"
}

main() {
    prefix=${TRACEMILL_PREFIX:-$HOME/.local}
    releases=https://github.com/tracemill/tracemill/releases
    if [ -n "${TRACEMILL_VERSION:-}" ]; then
        releases=$releases/download/v${TRACEMILL_VERSION#v}
    else
        releases=$releases/latest/download
    fi
    from=${TRACEMILL_URL:-$releases}
    target=${TRACEMILL_TARGET:-$(target)}
    archive=tracemill-$target.tar.gz

    has sha256sum || has shasum || fail "neither sha256sum nor shasum is here, and nothing is installed unchecked"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    fetch "$from/SHA256SUMS" "$work/SHA256SUMS"
    expected=$(sed -n "s/^\([0-9a-f]\{64\}\) [ *]$archive\$/\1/p" "$work/SHA256SUMS")
    [ -n "$expected" ] || fail "$from has no program for $target: cargo install tracemill builds one, where there is Rust"
    fetch "$from/$archive" "$work/$archive"
    found=$(checksum "$work/$archive")
    [ "$found" = "$expected" ] || fail "$from/$archive has the checksum $found, expected $expected: nothing is installed; try again later"

    tar -xzf "$work/$archive" -C "$work"
    folder=$work/tracemill-$target
    "$folder/tracemill" --version >/dev/null || fail "the program for $target does not run here: name another with TRACEMILL_TARGET"
    put 755 "$folder/tracemill" "$prefix/bin/tracemill"
    for page in "$folder"/man/*.1; do
        put 644 "$page" "$prefix/share/man/man1/${page##*/}"
    done
    put 644 "$folder/completions/tracemill.bash" "$prefix/share/bash-completion/completions/tracemill"
    put 644 "$folder/completions/_tracemill" "$prefix/share/zsh/site-functions/_tracemill"
    put 644 "$folder/completions/tracemill.fish" "$prefix/share/fish/vendor_completions.d/tracemill.fish"
    for text in "$folder"/LICENSE*; do
        put 644 "$text" "$prefix/share/doc/tracemill/${text##*/}"
    done

    echo "$("$prefix/bin/tracemill" --version) is in $prefix/bin"
    case :$PATH: in
        *":$prefix/bin:"*) ;;
        *) echo "which is not on the path: add it, as with   export PATH=\"$prefix/bin:\$PATH\"" ;;
    esac
}

# all was read before anything runs
main
