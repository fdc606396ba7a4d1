#!/usr/bin/env python3
"""How fast real traces are taken in: from curl's first byte to the durable 201, beside Python's json.load of the same JSON.

usage: real.py [--program build/kinetoscope] [--against OTHER_PROGRAM]... [PATH...] [--reps 5] [--min-mb 8] [--only TEXT] [--want-geomean X]
               [--want-least Y]

PATH is a trace or a folder; the default is the data of KINETOSCOPE_REFERENCE. Counts every trace whose JSON has at least --min-mb, equal
bytes once. Every upload has bytes of its own, so nothing is answered from what is stored.

Prints one line per trace: medians of the wall time and of the server's processor time, the ratio to json.load, and the server's peak
memory during these uploads; then the geometric mean and the least ratio. --against runs all programs in turn and prints, per other
program, the medians of the pairwise ratios (wall, processor, peak memory): below 1.00 the program needs less than OTHER_PROGRAM. With --want-* the exit code says
whether the ratios were reached. Exit code 77: there is no trace.

On a busy machine a realtime priority (`chrt -r 5 tests/bench/real.py ...`) gives times that are nearly those of an idle one.
"""
import argparse
import contextlib
import gzip
import hashlib
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from program import Program

ROOT = pathlib.Path(__file__).resolve().parents[2]
SETTLE_SECONDS = 0.05
NOT_THERE = 77


def reference_data():
    return pathlib.Path(os.environ.get('KINETOSCOPE_REFERENCE', ROOT.parent / 'shared')) / 'data'


def candidates(path):
    if path.is_file():
        return [path]
    return sorted(p for p in path.rglob('*') if p.name.endswith(('.json', '.json.gz')))


class Trace:
    def __init__(self, path, packed, text):
        self.name = '%s/%s' % (path.parent.name, path.name)
        self.packed, self.text = packed, text

    def body(self, number):
        """The same trace in other bytes: the time stamp in the head of a gzip file says nothing about its content."""
        return self.packed[:4] + number.to_bytes(4, 'little') + self.packed[8:]

    def json_seconds(self):
        begin = time.perf_counter()
        json.loads(self.text)
        return time.perf_counter() - begin


def read_trace(path):
    data = path.read_bytes()
    if data[:2] != b'\x1f\x8b':
        return Trace(path, gzip.compress(data, 6), data)
    try:
        return Trace(path, data, gzip.decompress(data))
    except (OSError, EOFError):
        return None


def find_traces(paths, least_bytes, only):
    seen, found = set(), []
    for path in (p for folder in paths for p in candidates(folder)):
        trace = read_trace(path)
        if trace is None or len(trace.text) < least_bytes or b'"traceEvents"' not in trace.text or only not in trace.name:
            continue
        key = hashlib.sha256(trace.text).digest()
        if key not in seen:
            seen.add(key)
            found.append(trace)
    return sorted(found, key=lambda trace: len(trace.text))


class Measured:
    def __init__(self, wall, processor, peak):
        self.wall, self.processor, self.peak = wall, processor, peak


class Uploader:
    """One server and the uploads to it."""

    def __init__(self, server, folder):
        self.server, self.folder, self.events = server, folder, 0
        self.clock = (~server.process.pid << 3) | 2  # the processor clock of another process, as Linux numbers it

    def upload(self, body, run):
        pathlib.Path(self.folder, 'body').write_bytes(body)
        pathlib.Path('/proc/%d/clear_refs' % self.server.process.pid).write_text('5')  # the peak begins anew
        begin = time.clock_gettime(self.clock)
        said = subprocess.run(['curl', '-sS', '-o', self.folder + '/answer', '-w', '%{http_code} %{time_total}', '-T', self.folder + '/body',
                               '%s/api/v1/runs/%s/traces/worker0.1.pt.trace.json.gz' % (self.server.url, run)], capture_output=True, text=True)
        status, wall = said.stdout.split()
        answer = pathlib.Path(self.folder, 'answer').read_text()
        if status != '201':
            sys.exit('an upload was answered with %s: %s%s' % (status, answer[:300], said.stderr))
        self.events = json.loads(answer)['events']
        time.sleep(SETTLE_SECONDS)  # what the server does after its answer belongs to this upload
        return Measured(float(wall), time.clock_gettime(self.clock) - begin, self.server.peak_bytes())


def median(values):
    return statistics.median(list(values))


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def measure(trace, number, uploaders, reps):
    """A list of Measured per uploader, and the seconds of json.load."""
    results, json_seconds = [[] for _ in uploaders], []
    for rep in range(reps):
        for at in range(len(uploaders)):
            which = (at + rep) % len(uploaders)  # each goes first in turn
            results[which].append(uploaders[which].upload(trace.body(number * 1000 + rep + 1), 'r%d-%d' % (number, rep)))
        json_seconds.append(trace.json_seconds())
    return results, median(json_seconds)


def pairwise(own, other, of):
    return median(of(a) / of(b) for a, b in zip(own, other))


def against(own, other):
    return (pairwise(own, other, lambda m: m.wall), pairwise(own, other, lambda m: m.processor),
            max(m.peak for m in own) / max(m.peak for m in other))


def line(trace, events, results, json_seconds):
    own = results[0]
    wall = median(m.wall for m in own)
    text = '%6.1f MB %7d events %7.1f ms %7.1f ms cpu %6.2f us an event %5.1f x  peak %4.0f MB' % (
        len(trace.text) / 1e6, events, wall * 1e3, median(m.processor for m in own) * 1e3, wall * 1e6 / max(events, 1), json_seconds / wall,
        max(m.peak for m in own) / 1e6)
    for other in results[1:]:
        text += ' | wall %4.2f cpu %4.2f peak %4.2f' % against(own, other)
    return text + '  ' + trace.name[-56:]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', default=str(ROOT / 'build/kinetoscope'))
    parser.add_argument('paths', nargs='*', type=pathlib.Path)
    parser.add_argument('--against', action='append', default=[])
    parser.add_argument('--reps', type=int, default=5)
    parser.add_argument('--min-mb', type=float, default=8)
    parser.add_argument('--only', default='')
    parser.add_argument('--want-geomean', type=float, default=0)
    parser.add_argument('--want-least', type=float, default=0)
    return parser.parse_args()


def main():
    args = parse()
    traces = find_traces(args.paths or [reference_data()], args.min_mb * 1e6, args.only)
    if not traces:
        print('no trace found')
        return NOT_THERE
    ratios, beside = [], [[] for _ in args.against]
    programs = [args.program] + args.against
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Program(p, '%s/data%d' % (folder, i))) for i, p in enumerate(programs)]
        uploaders = [Uploader(server, folder) for server in servers]
        for number, trace in enumerate(traces):
            results, json_seconds = measure(trace, number, uploaders, args.reps)
            ratios.append(json_seconds / median(m.wall for m in results[0]))
            for own_to_other, other in zip(beside, results[1:]):
                own_to_other.append(against(results[0], other))
            print(line(trace, uploaders[0].events, results, json_seconds), flush=True)
    print('%d real traces: geometric mean %.2f x json.load, least %.2f x' % (len(traces), geometric_mean(ratios), min(ratios)))
    for other, own_to_other in zip(args.against, beside):
        print('beside %s: wall %.3f, cpu %.3f, peak %.3f (geometric means)' % (other, *map(geometric_mean, zip(*own_to_other))))
    return 0 if geometric_mean(ratios) >= args.want_geomean and min(ratios) >= args.want_least else 1


sys.exit(main())
