#!/usr/bin/env bash
# Builds the program and shows a small team of agents at work.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh run
program=(--release --locked --package antiphon-cli --bin antiphon)
# Not quietly: the first time it takes minutes, and whoever waits wants to see why.
cargo build "${program[@]}"
exec cargo run --quiet "${program[@]}"
