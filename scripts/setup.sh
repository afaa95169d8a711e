#!/usr/bin/env bash
# Installs what a command needs and is not there yet: `setup.sh run`, `setup.sh test` or `setup.sh bench`.
# What is installed goes to cargo's own folder, to target/mcp, or through the system's package manager.
set -euo pipefail
cd "$(dirname "$0")/.."

# Versions that are known to work with the compiler this workspace asks for.
nextest=0.9.143
deny=0.20.2
servers=2026.8.31
node=18

say() { printf '== %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif has sudo; then
        sudo "$@"
    else
        die "'$*' needs root, and there is no sudo: run it as root, then try again"
    fi
}

# system PROGRAM PACKAGE
system() {
    has "$1" && return
    say "installing $2"
    if has apt-get; then
        as_root apt-get update -qq
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2" >/dev/null
    else
        die "$1 is missing: install it with your package manager, then try again"
    fi
}

# component PROGRAM NAME
component() {
    has "$1" && "$1" --version >/dev/null 2>&1 && return
    has rustup || die "$1 is missing and there is no rustup: install the $2 that belongs to your compiler"
    say "installing $2"
    rustup component add "$2"
}

# tool NAME VERSION: a cargo subcommand, built from source.
tool() {
    cargo "${1#cargo-}" --version >/dev/null 2>&1 && return
    say "installing $1 $2, which takes some minutes the first time"
    cargo install --quiet --locked --version "$2" "$1"
}

# server NAME VERSION: an official MCP server, which tests talk to.
server() {
    local package="@modelcontextprotocol/$1" manifest
    manifest="target/mcp/node_modules/$package/package.json"
    grep -qs "\"version\": \"$2\"" "$manifest" && return
    say "installing $package $2"
    mkdir -p target/mcp
    npm install --prefix target/mcp --silent --no-audit --no-fund --ignore-scripts --save-exact "$package@$2"
}

javascript() {
    system node nodejs
    system npm npm
    local found
    found=$(node --version)
    found=${found#v}
    if [ "${found%%.*}" -lt "$node" ]; then
        die "Node.js $node or later is needed, and this is $found: see https://nodejs.org, then try again"
    fi
}

rust() {
    has cargo || die "there is no Rust here: see https://rustup.rs, then try again"
    local wanted found
    wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    found=$(rustc --version | cut -d ' ' -f 2)
    if [ "$(printf '%s\n%s\n' "$wanted" "$found" | sort -V | head -n 1)" != "$wanted" ]; then
        die "Rust $wanted or later is needed, and this is $found: run 'rustup update stable'"
    fi
}

rust
system cc gcc
case "${1:-}" in
run) ;;
bench) system valgrind valgrind ;;
test)
    system c++ g++
    system tmux tmux
    component rustfmt rustfmt
    component cargo-clippy clippy
    tool cargo-nextest "$nextest"
    tool cargo-deny "$deny"
    javascript
    server server-everything "$servers"
    server server-filesystem "$servers"
    ;;
*) die "usage: scripts/setup.sh run|test|bench" ;;
esac
