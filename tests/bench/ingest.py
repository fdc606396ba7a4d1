#!/usr/bin/env python3
"""How fast a large trace is taken in, and with how much memory, beside Python's json module and gzip on the same file.

usage: ingest.py [--program build/kinetoscope] [--megabytes 300] [--trace FILE] [--keep FOLDER] [--runs 3] [--growth 100,300,1000]

Without --trace a file is made by repeating the demonstration's events along the time axis. Of several runs the fastest
counts. Prints one table; the ratios are what to compare between machines. --growth takes in traces of these sizes (MB of
JSON, gzipped), or these gzipped files, instead and prints by which power of the size time and memory grow.
"""
import argparse
import gzip
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from program import Program

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEMO = ROOT / 'deploy/demo/worker0.1700000000000.pt.trace.json.gz'
MB = 1e6
# Numbers that must differ from one repetition to the next, so that launches and kernels still find each other.
IDS = re.compile(r'("(?:correlation|External id|external id|id|Python id|Python parent id|Sequence number)": )(\d+)')
TIME = re.compile(r'("ts": )(\d+)(\.\d+)?')
STEP = re.compile(r'(ProfilerStep#)(\d+)')


def make_trace(path, size):
    """Writes at least `size` bytes; returns the number of events."""
    lines = gzip.decompress(DEMO.read_bytes()).decode().split('\n')
    head, tail = lines[0], lines[-2]
    events = [line.rstrip(',') for line in lines[1:-2]]
    times = [int(m[2]) for m in map(TIME.search, events)]
    span = max(times) - min(times) + 10000
    ids = 1 + max(int(m[2]) for line in events for m in IDS.finditer(line))
    once = [line for line in events if '"ph": "M"' in line]
    body = [line for line in events if '"ph": "M"' not in line and 'Record Window End' not in line]
    with open(path, 'w') as out:
        out.write(head + '\n' + ',\n'.join(once))
        count, turn = len(once), 0
        while out.tell() < size:
            for line in body:
                out.write(',\n' + shifted(line, turn, span, ids))
            count += len(body)
            turn += 1
        out.write('\n' + tail + '\n')
    return count


def shifted(line, turn, span, ids):
    line = TIME.sub(lambda m: m[1] + str(int(m[2]) + turn * span) + (m[3] or ''), line)
    line = IDS.sub(lambda m: m[1] + str(int(m[2]) + turn * ids), line)
    return STEP.sub(lambda m: m[1] + str(int(m[2]) + turn * 6), line)


class Measured:
    def __init__(self, seconds, peak, processor):
        self.seconds, self.peak, self.processor, self.stored = seconds, peak, processor, None


def measure(command, **options):
    """Runs a command to its end; its own peak memory, as the system accounts it."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, **options)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit('%s ended with %d' % (command[0], process.returncode))
    return Measured(time.monotonic() - begin, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime)


def database_size(folder):
    """Everything but the raw uploads."""
    return sum(p.stat().st_size for p in pathlib.Path(folder).rglob('*') if p.is_file() and re.search(r'\.(db|sqlite3?)(-wal)?$', p.name))


def by_ingest(program, trace, folder):
    data = os.path.join(folder, 'data')
    shutil.rmtree(data, ignore_errors=True)
    out = measure([program, 'ingest', '--data-dir', data, '--run', 'bench', trace])
    out.stored = database_size(data)
    return out


def by_upload(program, trace, folder):
    data = os.path.join(folder, 'served')
    shutil.rmtree(data, ignore_errors=True)
    with Program(program, data) as server:
        out = measure(['curl', '-sS', '--fail-with-body', '-T', trace, server.url + '/api/v1/runs/bench/traces/'])
        out.peak = server.peak_bytes()
    out.stored = database_size(data)
    return out


def by_python(trace):
    opener = 'gzip.open' if str(trace).endswith('.gz') else 'open'
    return measure([sys.executable, '-c', 'import gzip, json, sys; json.load(%s(sys.argv[1], "rb"))' % opener, trace])


def by_gzip(trace):
    """Only unpacks: a lower bound for whatever reads the text after it."""
    return measure(['gzip', '-dc', trace])


def machine():
    cpu = next((line.split(':', 1)[1].strip() for line in open('/proc/cpuinfo') if line.startswith('model name')), 'unknown processor')
    return '%s, %d processors' % (cpu, os.cpu_count())


def best(runs, action):
    return min((action() for _ in range(runs)), key=lambda m: m.seconds)


def row(name, m, size, python):
    stored = '%8.1f' % (m.stored / MB) if m.stored is not None else '       -'
    print('%-34s %8.2f %8.1f %9.1f %8.1f %s %8.1fx %8.1fx' % (name, m.seconds, size / MB / m.seconds, m.peak / MB, 100 * m.peak / size, stored,
                                                             python.seconds / m.seconds, python.peak / m.peak))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', default=str(ROOT / 'build/kinetoscope'))
    parser.add_argument('--megabytes', type=int, default=300)
    parser.add_argument('--trace')
    parser.add_argument('--keep')
    parser.add_argument('--runs', type=int, default=3)
    parser.add_argument('--growth', help='sizes in MB or traces, ascending')
    args = parser.parse_args()
    folder = args.keep or tempfile.mkdtemp(prefix='kinetoscope-bench-')
    os.makedirs(folder, exist_ok=True)
    try:
        if args.growth:
            growth(args, folder)
        else:
            bench(args, folder)
    finally:
        if not args.keep:
            shutil.rmtree(folder)


def pack(trace):
    packed = trace + '.gz'
    if not os.path.exists(packed):
        with open(trace, 'rb') as source, gzip.open(packed, 'wb', 6) as out:
            shutil.copyfileobj(source, out, 1 << 20)
    return packed


def make_packed(folder, size):
    """A gzipped trace of at least `size` bytes of JSON; its path."""
    plain = os.path.join(folder, 'worker0.1.pt.trace.json')
    make_trace(plain, size)
    return pack(plain)


def exponent(points):
    """Slope of the line of least squares through the logarithms: 1 is linear."""
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / sum((x - mean_x) ** 2 for x in xs)


def unpacked_bytes(packed):
    with gzip.open(packed, 'rb') as source:
        return sum(map(len, iter(lambda: source.read(1 << 20), b'')))


def growing(args, folder):
    """(gzipped trace, bytes of its JSON), one after the other; those made for this are gone when the next one comes."""
    for entry in args.growth.split(','):
        if not entry.isdigit():
            yield entry, unpacked_bytes(entry)
            continue
        trace = os.path.join(folder, 'worker%s.1.pt.trace.json' % entry)
        make_trace(trace, int(entry) * MB)
        size, packed = os.path.getsize(trace), pack(trace)
        os.unlink(trace)
        yield packed, size
        os.unlink(packed)


def growth(args, folder):
    print('%s\n%10s %8s %8s %9s %8s %8s' % (machine(), 'JSON MB', 'seconds', 'MB/s', 'peak MB', '% JSON', 'db MB'))
    seconds, peaks = [], []
    for packed, size in growing(args, folder):
        m = best(args.runs, lambda: by_upload(args.program, packed, folder))
        print('%10.0f %8.2f %8.1f %9.1f %8.1f %8.1f' % (size / MB, m.seconds, size / MB / m.seconds, m.peak / MB, 100 * m.peak / size, m.stored / MB))
        seconds.append((size, m.seconds))
        peaks.append((size, m.peak))
    if len(peaks) > 1:
        print('grows with the size to the power of: time %.2f, peak memory %.2f' % (exponent(seconds), exponent(peaks)))


def bench(args, folder):
    trace = args.trace or os.path.join(folder, 'worker0.1.pt.trace.json')
    if not os.path.exists(trace):
        print('making a trace of %d MB ...' % args.megabytes)
        print('%d events' % make_trace(trace, args.megabytes * MB))
    packed = pack(trace)
    size = os.path.getsize(trace)
    print('%s\n%.1f MB of JSON, %.1f MB as .gz; MB/s and memory count the JSON; fastest of %d runs' %
          (machine(), size / MB, os.path.getsize(packed) / MB, args.runs))
    print('%-34s %8s %8s %9s %8s %8s %9s %9s' % ('', 'seconds', 'MB/s', 'peak MB', '% JSON', 'db MB', 'faster', 'smaller'))
    python = best(1, lambda: by_python(trace))
    row('python3 json.load', python, size, python)
    row('python3 json.load, .gz', best(1, lambda: by_python(packed)), size, python)
    row('gzip -dc', best(args.runs, lambda: by_gzip(packed)), size, python)
    row('kinetoscope ingest', best(args.runs, lambda: by_ingest(args.program, trace, folder)), size, python)
    row('kinetoscope ingest, .gz', best(args.runs, lambda: by_ingest(args.program, packed, folder)), size, python)
    row('curl -T to the server', best(args.runs, lambda: by_upload(args.program, trace, folder)), size, python)
    row('curl -T to the server, .gz', best(args.runs, lambda: by_upload(args.program, packed, folder)), size, python)


if __name__ == '__main__':
    sys.exit(main())
