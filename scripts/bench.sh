#!/usr/bin/env bash
# Runs the benches; give their names or options as arguments.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh run
exec cargo bench --workspace --locked --bench "*" -- "$@"
