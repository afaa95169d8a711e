#!/usr/bin/env bash
# Builds the program and runs a flow of agents with it.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh run
exec cargo run --release --quiet --locked --package antiphon-cli --bin antiphon -- \
    run examples/flows/review-loop.yaml --input "how bees find their way"
