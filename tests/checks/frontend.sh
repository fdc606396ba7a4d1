#!/usr/bin/env bash
# The page's own checks. npm's development packages stand in a work directory, never in the tree.
# usage: frontend.sh lint|e2e|agents WORK_DIRECTORY     (the last two need KINETOSCOPE_BIN)
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
what="$1"
work="$2"

# Once for each state of the lock file.
install_packages() {
    local stamp="$work/node_modules/.lock-installed" name
    mkdir -p "$work"
    cmp -s "$root/static/package-lock.json" "$stamp" && return 0
    for name in package.json package-lock.json .npmrc; do
        [[ ! -f "$root/static/$name" ]] || cp "$root/static/$name" "$work/"
    done
    (cd "$work" && npm ci --ignore-scripts --no-audit --no-fund)
    cp "$root/static/package-lock.json" "$stamp"
}

lint() {
    cd "$root"
    node "$work/node_modules/eslint/bin/eslint.js" --config static/eslint.config.js tests/e2e tests/bench server/tools
    cd static
    node "$work/node_modules/eslint/bin/eslint.js" .
    node "$work/node_modules/typescript/bin/tsc" --project jsconfig.json
    echo "page: eslint and tsc found nothing"
}

e2e() {
    shopt -s nullglob
    local tests=("$root"/tests/e2e/*.test.mjs "$root"/tests/e2e/*/*.test.mjs)
    [[ ${#tests[@]} -gt 0 ]] || { echo "no browser tests found" && exit 1; }
    KINETOSCOPE_NODE_MODULES="$work/node_modules" node --test "${tests[@]}"
}

# With a public client of the Model Context Protocol.
agents() {
    KINETOSCOPE_NODE_MODULES="$work/node_modules" python3 "$root/tests/checks/agents.py"
}

(
    # lint and e2e may begin at the same time
    flock 9
    install_packages
) 9>"$work.lock"
"$what"
