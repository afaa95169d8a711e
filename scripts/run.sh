#!/usr/bin/env bash
# Builds the program and shows a recorded conversation with it.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh run
exec cargo run --release --quiet --locked --package antiphon-cli --bin antiphon -- \
    view thread examples/histories/nested-subagents.jsonl
