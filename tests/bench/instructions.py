#!/usr/bin/env python3
"""Instructions that a release build needs for fixed work, counted by callgrind: the same on a busy machine as on an idle
one. More than a tenth above instructions.json is a failure.

usage: instructions.py [--program build/kinetoscope] [--record]      --record writes instructions.json anew

The work: taking in a trace made from the demonstration, and answers to single requests, each asked for the first time.
Left out are the libraries that choose their code by the processor (inflating, hashing): they would make the counts differ
between machines. Exit code 77: valgrind is not there.
"""
import argparse
import collections
import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import ingest
from program import Program

BASELINE = pathlib.Path(__file__).with_suffix('.json')
MOST_GROWTH = 0.1
TRACE_BYTES = 12 * ingest.MB
BY_PROCESSOR = re.compile(r'/lib(isal|crypto)\b')
ANSWERS = {
    'overview': ['overview'],
    'operators': ['operators?limit=100&sort=host_self_ns', 'operators?q=aten'],
    'kernels': ['kernels?limit=100', 'kernels?group_by=name'],
    'memory': ['memory'],
    'modules': ['modules'],
    'timeline': ['timeline/tracks'] + ['timeline?width_px=1600&start_ns=%d&end_ns=%d' % (n * 10**7, (n + 1) * 10**7) for n in range(8)],
    'search': ['search?q=conv'],
}


def valgrind(out, options, command):
    return ['valgrind', '--tool=callgrind', '--callgrind-out-file=' + out, *options, *command]


def self_cost(path):
    """Sum of the instructions of all objects but those of BY_PROCESSOR. In the file `ob=(1) name` or `ob=(1)` begins the costs of
    an object, `calls=` a line whose cost belongs to the callee and is counted there."""
    names, current, after_call = {}, '', False
    costs = collections.Counter()
    with open(path) as lines:
        for line in lines:
            if line.startswith('ob='):
                number, name = re.match(r'ob=(\(\d+\))(?: (.*))?$', line.rstrip('\n')).groups()
                current = names.setdefault(number, name)
            elif line.startswith('cob='):
                number, name = re.match(r'cob=(\(\d+\))(?: (.*))?$', line.rstrip('\n')).groups()
                names.setdefault(number, name)
            elif line.startswith('calls='):
                after_call = True
            elif line[0] in '0123456789+-*':
                if not after_call:
                    costs[current] += int(line.split()[1])
                after_call = False
    return sum(cost for name, cost in costs.items() if not BY_PROCESSOR.search(name or ''))


def run(command, log):
    with open(log, 'wb') as sink:
        code = subprocess.run(command, stdout=sink, stderr=sink).returncode
    if code != 0:
        sys.exit('%s ended with %d:\n%s' % (command[0], code, pathlib.Path(log).read_text(errors='replace')[-3000:]))


def of_ingest(program, trace, folder):
    out = os.path.join(folder, 'ingest.callgrind')
    run(valgrind(out, [], [program, 'ingest', '--data-dir', os.path.join(folder, 'under'), '--run', 'bench', trace]), os.path.join(folder, 'log'))
    return self_cost(out)


def ask(port, path):
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=600)
    connection.request('GET', '/api/v1/traces/1/' + path, headers={'Connection': 'close'})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    if answer.status != 200:
        sys.exit('%s: %d %s' % (path, answer.status, text[:300]))


def of_answers(program, data, paths, folder):
    """Of the API's own part of a request, from the decoded head to the finished body."""
    out = os.path.join(folder, 'answer.callgrind')
    with Program(program, data, before=valgrind(out, ['--toggle-collect=api_handle'], [])) as server:
        for path in paths:
            ask(server.port, path)
    return self_cost(out)


def count(program, folder):
    trace = ingest.make_packed(folder, TRACE_BYTES)
    data = os.path.join(folder, 'data')
    run([program, 'ingest', '--data-dir', data, '--run', 'bench', trace], os.path.join(folder, 'log'))
    counts = {'ingest': of_ingest(program, trace, folder)}
    for name, paths in ANSWERS.items():
        counts[name] = of_answers(program, data, paths, folder)
    return counts


def compare(counts, baseline):
    good = True
    print('%-12s %16s %16s %8s' % ('', 'instructions', 'before', 'ratio'))
    for name, number in counts.items():
        before = baseline.get(name)
        ratio = number / before if before else float('nan')
        grown = before is None or ratio > 1 + MOST_GROWTH
        note = '  MORE THAN BEFORE' if grown else '  fewer: --record it' if ratio < 1 - MOST_GROWTH else ''
        print('%-12s %16d %16s %8.3f%s' % (name, number, before, ratio, note))
        good = good and not grown
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', default=str(ingest.ROOT / 'build/kinetoscope'))
    parser.add_argument('--record', action='store_true')
    args = parser.parse_args()
    if shutil.which('valgrind') is None:
        print('skipped: valgrind is not there')
        return 77
    folder = tempfile.mkdtemp(prefix='kinetoscope-bench-')
    try:
        counts = count(args.program, folder)
    finally:
        shutil.rmtree(folder)
    if args.record:
        BASELINE.write_text(json.dumps(counts, indent=4) + '\n')
    return 0 if compare(counts, json.loads(BASELINE.read_text())) else 1


if __name__ == '__main__':
    sys.exit(main())
