#!/usr/bin/env bash
# clang-tidy over the program's own sources, on a build that clang was configured for (gcc's own warning
# flags are errors to clang). usage: tidy.sh BUILD_DIRECTORY
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
build="$1"

# The build makes what our sources include (embedded SQL, the page), and shows clang's own warnings.
cmake -S "$root" -B "$build" -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug -DKS_WERROR=ON >"$build.log"
cmake --build "$build" --target kinetoscope -j2 >>"$build.log"
# It colours its words whether or not a terminal listens.
run-clang-tidy -quiet -j2 -p "$build" "^$root/(ingest|api|server)/.*\.c$" 2>"$build.err" | sed 's/\x1b\[[0-9;]*m//g' >"$build.out" || true
files="$(grep -c '^clang-tidy' "$build.out" || true)"
findings="$(grep -cE ': (error|warning): ' "$build.out" || true)"
grep -v '^clang-tidy' "$build.out" || true
echo "tidy: $files files, $findings findings"
if [[ "$files" -eq 0 ]]; then
    cat "$build.err"
    exit 1
fi
[[ "$findings" -eq 0 ]]
