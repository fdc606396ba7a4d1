#!/usr/bin/env python3
"""What the timeline of a large trace costs: its windows, events and searches over HTTP, and the room of the database.

usage: timeline.py [--program build/kinetoscope] [--trace FILE | --megabytes 300] [--windows 500] [--seed 1] [--whole]

The trace (gzipped; without --trace one is made of the demonstration's events) is uploaded to a server of its own. Then
windows of random width and place, the width evenly spread over its orders of magnitude, are asked for 1600 pixels. --whole
also sends the exported document back and compares the views of both. The ratios are what to compare between machines.
"""
import argparse
import http.client
import json
import math
import os
import pathlib
import random
import re
import shutil
import sys
import tempfile
import time

import ingest
from program import Program

MB = ingest.MB
NARROWEST_NS = 10_000
VIEWS = ['overview', 'operators?limit=0', 'kernels?limit=0', 'steps', 'memory', 'modules']
# What an upload has of its own.
OWN = re.compile(rb'"(id|run|worker|file_name|sha256|size_bytes|uploaded_at|url|trace|run_url|span_digits)": ("[^"]*"|\d+)')


class Client:
    def __init__(self, port):
        self.port = port
        self.connection = http.client.HTTPConnection('127.0.0.1', port, timeout=600)

    def ask(self, path, method='GET', body=None, good=(200, 201)):
        """Body and seconds; any other status ends the benchmark."""
        begin = time.monotonic()
        self.connection.request(method, path, body)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status not in good:
            sys.exit('%s %s: %d %s' % (method, path, answer.status, text[:300]))
        return text, time.monotonic() - begin


def percentile(sorted_values, share):
    return sorted_values[min(len(sorted_values) - 1, int(len(sorted_values) * share))]


def random_windows(begin_ns, end_ns, count, seed):
    draw = random.Random(seed)
    span = end_ns - begin_ns
    for _ in range(count):
        width = max(1, int(span * math.exp(-draw.random() * math.log(max(span / NARROWEST_NS, 1)))))
        start = begin_ns + int(draw.random() * (span - width))
        yield start, start + width


def ask_windows(client, base, windows):
    seconds, sizes = [], []
    for start, end in windows:
        text, took = client.ask('%s/timeline?width_px=1600&start_ns=%d&end_ns=%d' % (base, start, end))
        seconds.append(took)
        sizes.append(len(text))
    return sorted(seconds), sorted(sizes)


def row(name, seconds, size):
    print('  %-44s %9.1f ms %10d bytes' % (name, 1e3 * seconds, size))


def ask_once(client, base, tracks):
    middle = tracks['events'] // 2
    part = (tracks['end_ns'] - tracks['start_ns']) // 20
    start = tracks['start_ns'] + 10 * part
    for name, path in [('tracks', 'timeline/tracks'), ('the whole range', 'timeline?width_px=1600'),
                       ('one event with its flows', 'events/%d' % middle), ('search of a common name', 'search?q=aten::add'),
                       ('search in vain', 'search?q=nothing-has-this-name'),
                       ('figures of the whole', 'window'), ('figures of a twentieth', 'window?start_ns=%d&end_ns=%d' % (start, start + part))]:
        text, took = client.ask('%s/%s' % (base, path))
        row(name, took, len(text))


def view_of(client, base, view):
    """Without what an upload has of its own; 404 says that the trace has none of it."""
    return OWN.sub(b'', client.ask('%s/%s' % (base, view), good=(200, 404))[0])


def round_trip(client, base, folder):
    """Views of the exported document that differ from those of the upload."""
    path = os.path.join(folder, 'exported.trace.json.gz')
    text, took = client.ask(base + '/trace.json.gz')
    pathlib.Path(path).write_bytes(text)
    row('export of the whole document', took, len(text))
    with open(path, 'rb') as body:
        again = json.loads(client.ask('/api/v1/runs/again/traces/exported.trace.json.gz', 'PUT', body)[0])
    other = '/api/v1/traces/%d' % again['id']
    differing = [view for view in VIEWS if view_of(client, base, view) != view_of(client, other, view)]
    print('  round trip: %s' % ('all of %d views equal' % len(VIEWS) if not differing else 'DIFFERENT: ' + ', '.join(differing)))
    return not differing


def measure(args, trace, folder):
    data = os.path.join(folder, 'data')
    good = True
    with Program(args.program, data) as server:
        client = Client(server.port)
        with open(trace, 'rb') as body:
            text, took = client.ask('/api/v1/runs/bench/traces/' + os.path.basename(trace), 'PUT', body)
        base = '/api/v1/traces/%d' % json.loads(text)['id']
        peak = server.peak_bytes()
        tracks = json.loads(client.ask(base + '/timeline/tracks')[0])
        print('  %d events on %d tracks; taken in within %.2f s, peak memory %.0f MB' % (tracks['events'], len(tracks['tracks']), took, peak / MB))
        seconds, sizes = ask_windows(client, base, random_windows(tracks['start_ns'], tracks['end_ns'], args.windows, args.seed))
        print('  %d random windows: p50 %.1f ms, p99 %.1f ms, most %.1f ms; p50 %d bytes, most %d bytes' % (
            len(seconds), 1e3 * percentile(seconds, 0.5), 1e3 * percentile(seconds, 0.99), 1e3 * seconds[-1], percentile(sizes, 0.5), sizes[-1]))
        ask_once(client, base, tracks)
        good = not args.whole or round_trip(client, base, folder)
    if not args.whole:
        stored, upload = ingest.database_size(data), os.path.getsize(trace)
        print('  database %.1f MB, upload %.1f MB: %.2f times' % (stored / MB, upload / MB, stored / upload))
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', default=str(ingest.ROOT / 'build/kinetoscope'))
    parser.add_argument('--trace')
    parser.add_argument('--megabytes', type=int, default=300)
    parser.add_argument('--windows', type=int, default=500)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--whole', action='store_true')
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix='kinetoscope-bench-')
    try:
        trace = args.trace or ingest.make_packed(folder, args.megabytes * MB)
        print('%s (%s)' % (os.path.basename(trace), ingest.machine()))
        sys.exit(0 if measure(args, trace, folder) else 1)
    finally:
        shutil.rmtree(folder)


if __name__ == '__main__':
    main()
