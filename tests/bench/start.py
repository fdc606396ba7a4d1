#!/usr/bin/env python3
"""Start and rest: from the start to ready with many traces stored, memory at rest, and what is done while nobody asks.

usage: start.py [--program build/kinetoscope] [--traces 10000] [--starts 7] [--idle 10] [--keep FOLDER]

A small trace is uploaded once; its rows are then copied in the database, with a file of its own for each, 100 to a run.
Of several starts the middle one counts; the files are in the system's cache, as after a restart of the program.
"""
import argparse
import hashlib
import json
import os
import pathlib
import shutil
import socket
import sqlite3
import statistics
import sys
import tempfile
import time

import ingest
import timeline
from program import Program

TRACES_A_RUN = 100
READY = b'GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
# Columns that name a row of another table, or are a number of their own there; all copies are the same distance away.
IDS = {'trace_id', 'upload_id', 'job_id'}
OWN_ID = {'trace', 'upload', 'job'}


def small_trace():
    events = [{'ph': 'M', 'name': 'process_name', 'pid': 1, 'tid': 0, 'ts': 0, 'args': {'name': 'python'}}]
    for i in range(20):
        events.append({'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::op%d' % (i % 5), 'pid': 1, 'tid': 1, 'ts': 1000 + 100 * i, 'dur': 50,
                       'args': {'External id': i + 1}})
    return json.dumps({'schemaVersion': 1, 'traceEvents': events}).encode()


class Timed(Program):
    """The server on a port that is known before it listens, so that the way to ready can be timed; ready when it is entered."""

    def __init__(self, program, data):
        with socket.socket() as probe:
            probe.bind(('127.0.0.1', 0))
            self.port = probe.getsockname()[1]
        super().__init__(program, data, '--listen', '127.0.0.1:%d' % self.port)

    def __enter__(self):
        begin = time.monotonic()
        self.start()
        self.wait_until_ready()
        self.seconds_to_ready = time.monotonic() - begin
        return self

    def wait_until_ready(self):
        while self.process.poll() is None:
            try:
                with socket.create_connection(('127.0.0.1', self.port), timeout=60) as connection:
                    connection.sendall(READY)
                    if connection.recv(100).startswith(b'HTTP/1.1 200'):
                        return
            except ConnectionRefusedError:
                time.sleep(0.0005)
        sys.exit('the server did not start: ' + self.words())

    def processor_seconds(self):
        fields = pathlib.Path('/proc/%d/stat' % self.process.pid).read_text().rsplit(')', 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def wakeups(self):
        """Times that a thread of the program was put to work, by thread."""
        count = {}
        for task in pathlib.Path('/proc/%d/task' % self.process.pid).iterdir():
            lines = (task / 'status').read_text().splitlines()
            count[task.name] = sum(int(line.split()[1]) for line in lines if 'ctxt_switches' in line)
        return count


def copied_columns(database, table, shift):
    for _, column, *_ in database.execute('PRAGMA table_info(%s)' % table):
        if column in IDS or (column == 'id' and table in OWN_ID):
            yield column, '%s + n' % column
        elif column == 'run_id':
            yield column, '%s + n / %d' % (column, TRACES_A_RUN)
        elif column == 'file_name':
            yield column, "'worker' || n || '.pt.trace.json'"
        elif column == 'key':
            yield column, 'lower(hex(randomblob(16)))'
        elif column == 'sha256':
            yield column, 'hash_of(n)'
        elif (table, column) == ('job', 'run'):
            yield column, "'run-' || (n / %d)" % TRACES_A_RUN
        elif (table, column) == ('trace', 'worker'):
            yield column, "'worker' || n"
        else:
            yield column, column


def multiply(data, count):
    """Makes the one trace `count` traces."""
    database = sqlite3.connect(os.path.join(data, 'kinetoscope.db'), isolation_level=None)
    content = small_trace()
    hashes = [hashlib.sha256(content)] + [hashlib.sha256(b'%d' % n) for n in range(1, count)]
    database.create_function('hash_of', 1, lambda n: hashes[n].hexdigest())
    database.execute('PRAGMA foreign_keys = OFF')
    database.execute('PRAGMA synchronous = OFF')
    database.execute('BEGIN')
    database.execute('CREATE TEMP TABLE copies AS WITH RECURSIVE c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c WHERE n < %d) SELECT n FROM c' % (count - 1))
    tables = [name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'run'")]
    for table in tables:
        columns = dict(copied_columns(database, table, count))
        database.execute('INSERT INTO %s (%s) SELECT %s FROM %s, temp.copies' % (table, ', '.join('"%s"' % c for c in columns), ', '.join(columns.values()), table))
    more = [c for _, c, *_ in database.execute('PRAGMA table_info(run)') if c not in ('id', 'name')]
    database.execute("INSERT INTO run (id, name, %s) SELECT r.id + n, 'run-' || n, %s FROM run AS r, temp.copies WHERE n <= %d"
                     % (', '.join(more), ', '.join(more), (count - 1) // TRACES_A_RUN))
    database.execute('COMMIT')
    database.execute('PRAGMA wal_checkpoint(TRUNCATE)')
    database.close()
    for digest in hashes[1:]:
        name = digest.hexdigest()
        folder = os.path.join(data, 'raw', name[:2])
        os.makedirs(folder, exist_ok=True)
        pathlib.Path(folder, name[2:]).write_bytes(content)


def make_data(args, data):
    with Timed(args.program, data) as server:
        timeline.Client(server.port).ask('/api/v1/runs/run-0/traces/worker0.pt.trace.json', 'PUT', small_trace())
    multiply(data, args.traces)


def traces_of(client):
    runs = json.loads(client.ask('/api/v1/runs?limit=0')[0])['runs']
    return sum(run['traces'] for run in runs)


def measure(args, data):
    seconds = []
    for _ in range(args.starts):
        with Timed(args.program, data) as server:
            seconds.append(server.seconds_to_ready)
    print('  start to ready: %.1f ms (%.1f to %.1f)' % tuple(1e3 * s for s in (statistics.median(seconds), min(seconds), max(seconds))))
    with Timed(args.program, data) as server:
        rest(args, server)
        client = timeline.Client(server.port)
        count = traces_of(client)
        for path in ('/api/v1/runs', '/api/v1/runs/run-0', '/api/v1/traces/1/overview', '/metrics'):
            print('  %-28s %.1f ms, then %.1f ms' % (path, 1e3 * client.ask(path)[1], 1e3 * client.ask(path)[1]))
        print('  memory after that: %.1f MB' % (server.memory_bytes('VmRSS') / ingest.MB))
    return count == args.traces or print('  WRONG: %d traces are shown' % count)


def rest(args, server):
    time.sleep(6)  # longer than a connection is kept
    resident, before, worked = server.memory_bytes('VmRSS'), server.wakeups(), server.processor_seconds()
    print('  memory at rest: %.1f MB' % (resident / ingest.MB))
    time.sleep(args.idle)
    after = server.wakeups()
    woken = {task: after.get(task, 0) - count for task, count in before.items() if after.get(task, 0) != count}
    print('  %g s at rest: %.2f s of the processor, %d wakeups in %d threads' % (args.idle, server.processor_seconds() - worked, sum(woken.values()), len(woken)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', default=str(ingest.ROOT / 'build/kinetoscope'))
    parser.add_argument('--traces', type=int, default=10000)
    parser.add_argument('--starts', type=int, default=7)
    parser.add_argument('--idle', type=float, default=10)
    parser.add_argument('--keep', help='the data directory, made when it is not there')
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix='kinetoscope-bench-')
    try:
        data = args.keep or os.path.join(folder, 'data')
        if not os.path.exists(os.path.join(data, 'kinetoscope.db')):
            make_data(args, data)
        print('%d traces (%s)' % (args.traces, ingest.machine()))
        sys.exit(0 if measure(args, data) else 1)
    finally:
        shutil.rmtree(folder)


if __name__ == '__main__':
    main()
