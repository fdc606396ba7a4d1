#!/usr/bin/env python3
"""How fast files of other recorders are taken in: MB of the unpacked file a second, from the first byte to the durable 201, beside a plain read in Python.

usage: formats.py [--program build/kinetoscope] [--reps 5] [--only TEXT] [FOLDER...]

Execution traces are the recorded one of tests/fixtures a hundred times over, as JSON and as Chakra's messages, for the reference has none.
FOLDER holds formats_<case>/ folders with case.json; the default is the data of KINETOSCOPE_REFERENCE. The plain read is json.load of JSON, a
SELECT of every row of a database, pickle.load of a snapshot (of the reference: it may not be hostile), a walk over the fields of a protocol buffer.
Every upload has a name of its own and replaces nothing. Prints a line a case: size, medians, MB/s, the ratio.
"""
import argparse
import gzip
import io
import json
import os
import pathlib
import pickle
import sqlite3
import statistics
import sys
import tarfile
import tempfile
import time
import urllib.request

from program import Program

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / 'tests' / 'fixtures'
sys.path.insert(0, str(FIXTURES))
import recordings  # noqa: E402


def files_of(folder, case):
    """The unpacked files by their names."""
    return {entry['as'].removesuffix('.gz'): gzip.decompress((folder / entry['file']).read_bytes()) for entry in case['files']}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def observed(times):
    """The recorded execution trace over and over: ids go on."""
    recorded = json.loads((FIXTURES / 'recorded' / 'execution_graph_1_13.json').read_text())
    step = max(node['id'] for node in recorded['nodes']) + 1

    def moved(node, by):
        inputs, outputs = ([[value[0] + by, *value[1:]] if isinstance(value, list) and len(value) == 6 else value for value in node[key]] for key in ('inputs', 'outputs'))
        return {**node, 'id': node['id'] + by, 'parent': node['parent'] + by, 'inputs': inputs, 'outputs': outputs}

    return {**recorded, 'nodes': [moved(node, step * i) for i in range(times) for node in recorded['nodes']]}


def as_messages(trace):
    """The same as Chakra writes it: each message with its length in front."""
    def side(node, name):
        return b''.join(recordings.field(number, str(node[key])) for number, key in ((1, name), (2, name[:-1] + '_shapes'), (3, name[:-1] + '_types')))

    def message(body):
        return recordings.varint(len(body)) + body

    nodes = (recordings.field(1, node['id']) + recordings.field(2, node['name']) + recordings.field(3, 4) + recordings.field(4, node['parent']) + recordings.field(8, side(node, 'inputs'))
             + recordings.field(9, side(node, 'outputs')) + recordings.field(10, recordings.field(1, 'rf_id') + recordings.field(9, node['rf_id'])) for node in trace['nodes'])
    return message(recordings.field(1, '0.0.4')) + b''.join(map(message, nodes))


def made_cases():
    trace = observed(100)
    yield 'execution_trace_json', {'execution.json': json.dumps(trace).encode()}
    yield 'execution_trace_chakra', {'chakra.et': as_messages(trace)}


def walk_messages(data):
    at = 0
    while at < len(data):
        size, at = varint(data, at)
        walk_fields(data, at, at + size, 2)
        at += size


def walk_fields(data, at, end, depth):
    """Steps over every field, and into those of bytes down to the events of a line or packet, as far as they are messages."""
    while at < end:
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            _, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            if at + size > end:
                raise ValueError('no message')
            if depth > 0 and size > 1:
                try:
                    walk_fields(data, at, at + size, depth - 1)
                except (ValueError, IndexError):
                    pass  # a text
            at += size
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise ValueError('no message')


def scan_database(data):
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        database = sqlite3.connect(file.name)
        for (table,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            for _ in database.execute('SELECT * FROM "%s"' % table):
                pass
        database.close()


def read_plainly(name, data):
    if data.startswith(b'SQLite format 3'):
        scan_database(data)
    elif data[:1] == b'\x80':
        pickle.loads(data)
    elif data[:1] in (b'{', b'['):
        json.loads(data)
    elif name.endswith('.et'):
        walk_messages(data)
    elif name.endswith(('.pb', '.pftrace')):
        walk_fields(data, 0, len(data), 4)
    else:
        for line in data.decode('utf-8', 'replace').splitlines():
            line.split(',')


def body_of(files, mode):
    if mode == 'put':
        (name, data), = files.items()
        return name.rsplit('/', 1)[-1], data
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w') as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return next(iter(files)).split('/')[0] + '.tar', out.getvalue()


def seconds(work):
    begin = time.monotonic()
    work()
    return time.monotonic() - begin


def upload(url, run, name, body):
    request = urllib.request.Request('%s/api/v1/runs/%s/traces/%s' % (url, run, name), data=body, method='PUT')
    with urllib.request.urlopen(request) as answer:
        answer.read()


def measure(server, case, files, mode, reps):
    name, body = body_of(files, mode)
    size_mb = len(body) / 1e6
    ours = [seconds(lambda: upload(server.url, '%s-%d' % (case, rep), name, body)) for rep in range(reps)]
    plain = [seconds(lambda: [read_plainly(*item) for item in files.items()]) for _ in range(reps)]
    one, other = statistics.median(ours), statistics.median(plain)
    print('| %s | %.1f | %.1f | %.1f | %.0f | %.0f | %.1f |' % (case.removeprefix('formats_'), size_mb, one * 1e3, other * 1e3, size_mb / one, size_mb / other, other / one))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--program', default=str(ROOT / 'build' / 'kinetoscope'))
    parser.add_argument('--reps', type=int, default=5)
    parser.add_argument('--only', default='')
    parser.add_argument('folders', nargs='*', type=pathlib.Path)
    options = parser.parse_args()
    reference = pathlib.Path(os.environ.get('KINETOSCOPE_REFERENCE', ROOT.parent / 'shared')) / 'data' / 'real'
    cases = [(path.parent, json.loads(path.read_text())) for folder in options.folders or [reference] for path in sorted(folder.glob('formats_*/case.json'))]
    cases = [(folder, case) for folder, case in cases if options.only in case['id'] and case['mode'] != 'refuse']
    print('| case | MB | upload ms | plain read ms | MB/s | plain MB/s | times as fast |\n|---|---|---|---|---|---|---|')
    with tempfile.TemporaryDirectory() as data, Program(options.program, data + '/data') as server:
        for folder, case in cases:
            measure(server, case['id'], files_of(folder, case), case['mode'], options.reps)
        for case, files in made_cases():
            if options.only in case:
                measure(server, case, files, 'put', options.reps)
    return 0


sys.exit(main())
