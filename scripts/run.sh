#!/usr/bin/env bash
# Builds the program and shows a small team of agents at work.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh run
exec cargo run --release --quiet --locked --package antiphon-cli --bin antiphon

