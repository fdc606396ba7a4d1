#!/usr/bin/env python3
"""What no trace may cost: more than n log n of time or n of memory, whatever stands in it.

usage: monsters.py [--sizes 10000,40000] [--only NAME,...] [--quick] [--views] [--table N]

Each monster of monster_traces.py is taken in at two sizes: by `report`, and uploaded to a server with curl -T; --views then asks
every view of it. Time is the CPU time of the process, which other work on the machine hardly changes; memory is its peak. Bounds:
seconds a million events, growth from one size to the other (what n log n says, with room), memory for a byte of the trace.
"""
import argparse
import contextlib
import json
import math
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / 'checks')]

import kinetoscope  # noqa: E402
from monster_traces import MONSTERS, QUICK, REFUSED  # noqa: E402

MB = 1 << 20
SLACK = 1.5           # times n log n
NOISE_S = 0.02        # what a measurement may err by
ROUNDS = 3            # a bound is broken when it is broken each time
S_PER_MILLION = 25    # events, of an ingest and of a view
SANITIZED = 6         # times slower
MEMORY_BASE = 160 * MB
MEMORY_PER_BYTE = 6
GIVE_UP_S = 60        # of one command
LONG_ANSWER_STEPS = 30000
STEP_ROW_BYTES = 192  # struct step_row

PLUGIN_VIEWS = ['overview', 'operation?group_by=Operation', 'operation?group_by=OperationAndInputShape', 'operation/table?group_by=Operation',
                'kernel?group_by=Kernel', 'kernel/table', 'kernel/tc_pie', 'memory', 'memory_curve', 'memory_events', 'module', 'trace', 'tree']
VIEWS = ['', 'overview', 'steps?limit=1000', 'operators?limit=1000', 'operators?group_by=shape&limit=1000', 'operators?group_by=stack&limit=1000',
         'operators?q=zz&sort=name', 'kernels?group_by=name&limit=1000', 'kernels?group_by=launch&limit=1000', 'kernels?q=zz', 'memory', 'memory/events?limit=1000',
         'memory/curve', 'modules', 'tree', 'timeline/tracks', 'timeline?width_px=1600', 'timeline?width_px=1600&start_ns={middle}&end_ns={late}',
         'search?q=zz', 'search?q=a', 'window?limit=100', 'window?start_ns={middle}&end_ns={late}', 'cycles', 'trace.json.gz', 'events/0', 'events/{last}']


def cpu_s(pid):
    """CPU time of all threads of a process, those that ended included; to the nanosecond."""
    return time.clock_gettime(~pid << 3 | 2)


def peak_bytes(pid):
    text = pathlib.Path('/proc/%d/status' % pid).read_text()
    return int(text.split('VmHWM:')[1].split()[0]) * 1024


def limit_time():
    resource.setrlimit(resource.RLIMIT_CPU, (GIVE_UP_S, GIVE_UP_S))


class Figures:
    """Seconds of CPU by name (`report`, `ingest`, a view), each the least of the times it was measured; peaks of memory."""

    def __init__(self):
        self.seconds, self.memory = {}, {}

    def add(self, name, seconds, memory=None):
        self.seconds[name] = min(seconds, self.seconds.get(name, math.inf))
        if memory is not None:
            self.memory[name] = min(memory, self.memory.get(name, math.inf))


def measure_report(program, path, refused, figures):
    process = subprocess.Popen([program, 'report', path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limit_time)
    words = process.stderr.read().decode(errors='replace')
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in ((1,) if refused else (0,)):
        raise AssertionError('report ended with %d: %s' % (process.returncode, words[-2000:]))
    figures.add('report', usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def curl(*arguments):
    """The status of the answer and what else -w was told to print; the body goes to nobody."""
    done = subprocess.run(['curl', '-sS', '-m', str(GIVE_UP_S), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise AssertionError('curl %s: %s' % (arguments[-1], done.stderr.decode(errors='replace')))
    return done.stdout.decode(errors='replace')


def upload(server, path, name, refused):
    """The id of the trace; None where it is refused as it must be."""
    text, status = curl('-T', path, '-w', '\n%{http_code}', server.url + kinetoscope.trace_path('monsters', name)).rsplit('\n', 1)
    if status not in (('422', '400') if refused else ('201',)):
        raise AssertionError('upload answered %s: %s' % (status, text[:500]))
    return json.loads(text).get('id')


def draw(server, path, *arguments):
    """404 and 400: the trace has nothing of the kind."""
    status = curl('-o', '/dev/null', '-w', '%{http_code}', *arguments, server.url + path)
    if status not in ('200', '201', '404', '400'):
        raise AssertionError('%s answered %s' % (path, status))


def requests(server, trace):
    """What is asked of a trace, by name: arguments of draw()."""
    about = server.get('/api/v1/traces/%d' % trace).json()
    start, duration = int(about.get('start_ns') or 0), int(about.get('duration_ns') or 0)
    places = {'middle': start + duration // 2, 'late': start + duration // 2 + duration // 8 + 1, 'last': max(0, int(about.get('event_count') or 1) - 1)}
    asked = {view: ['/api/v1/traces/%d/%s' % (trace, view.format(**places))] for view in VIEWS}
    for view in ('diff', 'diff/tree'):
        asked[view] = ['/api/v1/%s?base=%d&candidate=%d' % (view, trace, trace)]
    asked['comparisons'] = ['/api/v1/comparisons', '-d', json.dumps({'base': trace, 'candidate': trace}), '-H', 'Content-Type: application/json']
    place = urllib.parse.urlencode({'run': about['run'], 'worker': about['worker'], 'span': about['span']})
    other = urllib.parse.urlencode({'exp_run': about['run'], 'exp_worker': about['worker'], 'exp_span': about['span']})
    asked['plugin diffnode'] = [kinetoscope.PLUGIN + 'diffnode?' + place + '&' + other]
    for view in PLUGIN_VIEWS:
        asked['plugin ' + view] = [kinetoscope.PLUGIN + view + ('&' if '?' in view else '?') + place]
    return asked


def measure_server(server, path, name, args, refused, figures):
    pid = server.process.pid
    before = cpu_s(pid)
    trace = upload(server, path, name, refused)
    figures.add('ingest', cpu_s(pid) - before, peak_bytes(pid))
    for view, asked in (requests(server, trace) if args.views and trace is not None else {}).items():
        before = cpu_s(pid)
        draw(server, *asked)
        figures.add(view, cpu_s(pid) - before, peak_bytes(pid))


def start_server():
    return kinetoscope.Server('--answer-cache', '0')


def measure(monster, server, args, folder, turn, figures):
    """Both sizes once more; figures: by size. What a server has already it would not read again: each turn has its own bytes."""
    for size in args.sizes:
        path = os.path.join(folder, '%s_%d_%d.pt.trace.json' % (monster, size, turn))
        text = MONSTERS[monster](size) + '\n' * turn
        pathlib.Path(path).write_text(text)
        figures[size].bytes = len(text)
        del text
        refused = monster in REFUSED
        if not args.quick:
            measure_report(kinetoscope.PROGRAM, path, refused, figures[size])
        measure_server(server, path, os.path.basename(path), args, refused, figures[size])
        os.unlink(path)


def growth_allowed(small, large):
    return large * math.log(large) / (small * math.log(small)) * SLACK


def faults(args, figures):
    """What breaks a bound, in words."""
    small, large = (figures[size] for size in args.sizes)
    slower = SANITIZED if args.sanitized else 1
    found = []
    for name, seconds in large.seconds.items():
        per_million = S_PER_MILLION * slower * args.sizes[1] / 1e6
        if seconds > per_million + NOISE_S:
            found.append('%s: %.2f s, %.1f s a million events' % (name, seconds, seconds * 1e6 / args.sizes[1]))
        allowed = small.seconds.get(name, seconds) * growth_allowed(*args.sizes) + NOISE_S * slower
        if seconds > allowed:
            found.append('%s: %.3f s at %d events and %.3f s at %d' % (name, small.seconds[name], args.sizes[0], seconds, args.sizes[1]))
    for name, memory in large.memory.items():
        if memory > MEMORY_BASE + MEMORY_PER_BYTE * large.bytes and not args.sanitized and not args.quick:
            found.append('%s: %d MB of memory for %d MB of trace' % (name, memory // MB, large.bytes // MB))
    return found


def exponent(args, small, large):
    """0: nothing to measure; 1: linear; 2: quadratic."""
    return math.log(max(large, 1e-4) / max(small, 1e-4)) / math.log(args.sizes[1] / args.sizes[0])


def print_figures(args, monster, figures):
    small, large = (figures[size] for size in args.sizes)
    names = sorted(large.seconds, key=lambda name: -large.seconds[name])
    names = [name for name in ('report', 'ingest') if name in large.seconds] + [name for name in names if name not in ('report', 'ingest')][:args.table]
    for name in names:
        print('%-36s %-34s %8.2f s/million  exponent %5.2f  %s' % (
            monster, name, large.seconds[name] * 1e6 / args.sizes[1], exponent(args, small.seconds[name], large.seconds[name]),
            '%4d MB of %d' % (large.memory[name] // MB, large.bytes // MB)), flush=True)


def judge(monster, server, args, folder):
    """`server`: for all monsters; None: each round has one of its own, so that its memory can be judged."""
    figures = {size: Figures() for size in args.sizes}
    found = []
    for turn in range(ROUNDS):
        if server is not None:
            measure(monster, server, args, folder, turn, figures)
        else:
            with start_server() as own:
                measure(monster, own, args, folder, turn, figures)
        found = faults(args, figures)
        if not found:
            break
    if args.table is not None:
        print_figures(args, monster, figures)
    for fault in found:
        print('FAULT %s: %s' % (monster, fault), flush=True)
    return not found


def survives(monster, server, args, folder):
    try:
        return judge(monster, server, args, folder)
    except AssertionError as error:
        print('FAULT %s: %s' % (monster, error), flush=True)
        return False


def answers_in_parts(args, folder):
    """A long answer takes the memory of the rows it is made of, and is never whole in memory beside them."""
    path = os.path.join(folder, 'steps.pt.trace.json')
    pathlib.Path(path).write_text(MONSTERS['steps_with_work'](4 * LONG_ANSWER_STEPS))
    with start_server() as server:
        upload(server, path, 'steps', False)
        # The first request for them makes the plugin's figures, which takes memory of its own.
        curl('-o', '/dev/null', server.url + kinetoscope.PLUGIN + 'views?run=monsters')
        data = server.data_dir
        server.own_dir = None
    with kinetoscope.Server('--answer-cache', '0', data_dir=data) as server:
        server.own_dir = data
        view = kinetoscope.PLUGIN + 'overview?run=monsters&worker=steps&span='
        before = peak_bytes(server.process.pid)
        size = int(curl('-o', '/dev/null', '-w', '%{size_download}', server.url + view))
        grown = peak_bytes(server.process.pid) - before
    bound = 4 * LONG_ANSWER_STEPS * STEP_ROW_BYTES + size / 8
    if args.table is not None or grown > bound and not args.sanitized:
        print('an answer of %d MB took %d MB of memory' % (size // MB, grown // MB))
    return size > 20 * MB and (args.sanitized or grown <= bound)


def is_sanitized(program):
    return re.search(b'__[at]san_init', pathlib.Path(program).read_bytes()) is not None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--sizes', default='10000,40000', type=lambda text: [int(part) for part in text.split(',')])
    parser.add_argument('--only', default='', help='names of monsters, or parts of names')
    parser.add_argument('--views', action='store_true', help='ask every view of each')
    parser.add_argument('--quick', action='store_true', help='some of them, one server for all, no report, no bound of memory')
    parser.add_argument('--table', type=int, metavar='N', help='print report, ingest and the N slowest views')
    args = parser.parse_args()
    args.sanitized = is_sanitized(kinetoscope.PROGRAM)
    wanted = [name for name in (QUICK if args.quick and not args.only else MONSTERS) if any(part in name for part in args.only.split(','))]
    folder = tempfile.mkdtemp(prefix='kinetoscope-monsters-')
    failed = []
    try:
        with start_server() if args.quick else contextlib.nullcontext() as server:
            for monster in wanted:
                failed += [] if survives(monster, server, args, folder) else [monster]
        if not args.only and not answers_in_parts(args, folder):
            failed.append('long answer')
    finally:
        shutil.rmtree(folder)
    print('%d monsters, %d faults %s' % (len(wanted), len(failed), ' '.join(failed)))
    return 1 if failed or not wanted else 0


if __name__ == '__main__':
    sys.exit(main())
