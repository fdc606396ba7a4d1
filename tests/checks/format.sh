#!/usr/bin/env bash
# Every C file as .clang-format says. To put it right: clang-format -i FILE.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root"
mapfile -t files < <(find ingest api server tests -name node_modules -prune -o -name '*.[ch]' -print | sort)
clang-format --dry-run -Werror "${files[@]}"
echo "format: ${#files[@]} files"
