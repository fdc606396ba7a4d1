#!/usr/bin/env python3
"""All benchmarks, one after the other: taking in, real traces, growth, views, timeline, start, load, the page, instructions.

usage: run.py [--program build/kinetoscope] [--trace FILE.gz] [--growth 100,300,1000] [--load-seconds 60] [--record NAME]

What they print is printed as it comes; --record also adds it to RESULTS.md under this name. A benchmark whose peers or tools
are absent says so. Nothing else should run on the machine: the ratios to the peers, measured in the same run, are what counts.
"""
import argparse
import datetime
import os
import pathlib
import subprocess
import sys

import ingest

BENCH = pathlib.Path(__file__).resolve().parent
RESULTS = BENCH / 'RESULTS.md'
NOT_THERE = 77


def commands(args):
    python = [sys.executable]
    program = ['--program', args.program]
    trace = ['--trace', args.trace] if args.trace else []
    yield 'Taking in', python + [BENCH / 'ingest.py', *program]
    yield 'Real traces', python + [BENCH / 'real.py', *program]
    yield 'Growth', python + [BENCH / 'ingest.py', *program, '--growth', args.growth, '--runs', '1']
    yield 'Views', python + [BENCH / 'views.py', *program]
    yield 'Timeline', python + [BENCH / 'timeline.py', *program, *trace]
    yield 'Start and rest', python + [BENCH / 'start.py', *program]
    yield 'Load', python + [BENCH / 'load.py', *program, '--seconds', args.load_seconds]
    yield 'Page', ['node', BENCH / 'page.mjs', *trace]
    yield 'Instructions', python + [BENCH / 'instructions.py', *program]


def run(title, command, env):
    """What it printed; an exit code that says more than "not there" is printed, too."""
    lines = []

    def note(line):
        print(line, flush=True)
        lines.append(line)

    print('\n## %s' % title, flush=True)
    try:
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace', env=env)
    except FileNotFoundError as error:
        note('not run: %s' % error)
        return lines
    for line in process.stdout:
        note(line.rstrip('\n'))
    if process.wait() not in (0, NOT_THERE):
        note('ended with %d' % process.returncode)
    return lines


def record(name, sections):
    with open(RESULTS, 'a') as out:
        out.write('\n## %s, %s\n%s, Linux %s\n' % (name, datetime.date.today(), ingest.machine(), os.uname().release))
        for title, lines in sections:
            out.write('\n### %s\n```\n%s\n```\n' % (title, '\n'.join(lines)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', default=str(ingest.ROOT / 'build/kinetoscope'))
    parser.add_argument('--trace', help='for the timeline and the page, in place of one made of the demonstration')
    parser.add_argument('--growth', default='100,300,1000')
    parser.add_argument('--load-seconds', default='60')
    parser.add_argument('--only', metavar='TITLE', nargs='+', help='these alone: "Taking in" Growth ...')
    parser.add_argument('--record', metavar='NAME')
    args = parser.parse_args()
    env = dict(os.environ, KINETOSCOPE_BIN=os.path.abspath(args.program))
    sections = [(title, run(title, command, env)) for title, command in commands(args) if title in (args.only or [title])]
    if args.record:
        record(args.record, sections)


if __name__ == '__main__':
    main()
