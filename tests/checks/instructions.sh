#!/usr/bin/env bash
# A release build needs no more instructions for fixed work than it did. usage: instructions.sh BUILD_DIRECTORY
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
build="$1"

cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release >"$build.log"
cmake --build "$build" --target kinetoscope -j2 >>"$build.log"
exec python3 "$root/tests/bench/instructions.py" --program "$build/kinetoscope"
