#!/usr/bin/env bash
# ThreadSanitizer: builds a tree of its own with KS_TSAN, and runs in it the unit tests, the checks of the whole program, and
# the team of tests/bench/load.py. A report fails the test in which it comes, but for those in tsan.supp, which says why.
#
#   tests/checks/tsan.sh BUILD_DIRECTORY [SECONDS]      SECONDS: how long the team is at work (60)
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
build="$1"
seconds="${2:-60}"
readonly SKIPPED=77
# Of the program's checks those with threads. What kills the server or makes its disk fail, or compares what one request
# after the other is answered, shows no more here; the check of the shutdown measures time, and leaves threads behind on
# purpose.
readonly CHECKS='^program\.(archive|backup|compare|cycles|expect_continue|limits|load|metrics|quickstart|timeline|upload)$'

has_thread_sanitizer() {
    local probe status=0
    probe="$(mktemp -d)"
    echo 'int main(void) { return 0; }' >"$probe/t.c"
    { "${CC:-cc}" -fsanitize=thread -o "$probe/t" "$probe/t.c" && "$probe/t"; } >/dev/null 2>&1 || status=$?
    rm -r "$probe"
    return $status
}

build_tree() {
    mkdir -p "$build"
    cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g" -DKS_TSAN=ON >"$build/build.log"
    cmake --build "$build" -j"$(nproc)" >>"$build/build.log" || { tail -40 "$build/build.log" && exit 1; }
}

main() {
    has_thread_sanitizer || { echo "skipped: the compiler has no ThreadSanitizer, or it does not run on this machine" && exit $SKIPPED; }
    build_tree
    # A test sees all of its reports, and exits with 66 after one.
    export TSAN_OPTIONS="halt_on_error=0 exitcode=66 second_deadlock_stack=1 suppressions=$root/tests/checks/tsan.supp \
${TSAN_OPTIONS:-}"
    ctest --test-dir "$build" --output-on-failure -j2 -L unit
    ctest --test-dir "$build" --output-on-failure -R "$CHECKS"
    python3 "$root/tests/bench/load.py" --program "$build/kinetoscope" --seconds "$seconds" --viewers 60 --largest-mb 8
}

main "$@"
