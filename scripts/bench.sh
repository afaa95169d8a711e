#!/usr/bin/env bash
# Measures and writes docs/benchmarks.md; arguments are those of `cargo xtask bench`.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh bench
exec cargo xtask bench "$@"
