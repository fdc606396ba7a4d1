#!/usr/bin/env python3
"""The lists of runs and of traces with many of them: any page, sorted, searched, for readers of projects.

usage: runs.py [--program build/kinetoscope] [--runs 100000] [--traces 1000000] [--rounds 15] [--keep FOLDER]
       runs.py --keep FOLDER -- --database-url URL …    a copy that `kinetoscope copy` made of it

A small trace is uploaded once; the rows of its run, upload and trace are then copied in the database. Of several answers the middle one counts.
"""
import argparse
import json
import pathlib
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from program import Program
from start import small_trace

PROJECTS = 20
VIEWS = [
    ('newest', {}),
    ('second half', {'offset': 0.5}),
    ('by name', {'sort': 'name'}),
    ('by size, last page', {'sort': 'size_bytes', 'order': 'desc', 'offset': 0.999}),
    ('by traces, ascending', {'sort': 'traces', 'order': 'asc', 'offset': 0.5}),
    ('of a project', {'project': 'project-4'}),
    ('of a project, by workers', {'project': 'project-4', 'sort': 'workers', 'order': 'desc'}),
    ('search', {'q': 'run-77'}),
    ('search, by name', {'q': 'run-77', 'sort': 'name'}),
    ('search by expression', {'q': '/run-7.*9$/', 'sort': 'name'}),
]

TRACE_VIEWS = [
    ('traces, newest', {}),
    ('traces of a project', {'project': 'project-4'}),
    ('traces, second half', {'offset': 0.5}),
    ('traces by worker', {'sort': 'worker'}),
    ('traces of a project, second half', {'project': 'project-4', 'offset': 0.5}),
    ('traces of a device type', {'device_type': 'GPU'}),
    ('traces of a device type, second half', {'device_type': 'GPU', 'offset': 0.5}),
    ('traces, search', {'q': 'w-77'}),
]
SORTS = ('uploaded_at', 'id', 'run', 'worker', 'start_clock_ns', 'duration_ns', 'events', 'steps', 'size_bytes')
CURSOR_VIEWS = [('traces by %s' % sort, {'sort': sort}) for sort in SORTS] + [
    ('traces by steps, ascending', {'sort': 'steps', 'order': 'asc'}),
    ('traces of a project', {'project': 'project-4'}),
    ('traces of a rare device type', {'device_type': 'MTIA'}),
    ('traces with a tag that none has', {'tag': 'none'}),
    ('traces, search', {'q': 'w-77'}),
    ('traces, search by expression', {'q': '/w-7.*9$/'}),
    ('traces, search that finds nothing', {'q': 'nothing'}),
]


def columns(database, table, leave):
    return [name for _, name, *_ in database.execute('PRAGMA table_info(%s)' % table) if name not in leave]


def copy_rows(path, runs, traces):
    """Copies the one run: its traces are distributed over the copies, each an upload of its own."""
    database = sqlite3.connect(path)
    for pragma in ('foreign_keys = OFF', 'journal_mode = MEMORY', 'synchronous = OFF', 'cache_size = -1000000'):
        database.execute('PRAGMA %s' % pragma)
    # Filled first and ordered then: minutes become seconds.
    indexes = database.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'trace' AND sql IS NOT NULL").fetchall()
    for name, _ in indexes:
        database.execute('DROP INDEX %s' % name)
    database.execute('CREATE TEMP TABLE copies (n INTEGER PRIMARY KEY)')
    database.execute('WITH RECURSIVE k (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM k WHERE n < ?) INSERT INTO copies SELECT n FROM k', (traces,))
    own = {'newest_upload_id', 'trace_count', 'size_bytes', 'worker_count'}
    run = columns(database, 'run', {'id', 'name', 'project'} | own)
    kept = [name for name in columns(database, 'run', set()) if name in own]
    figures = {'newest_upload_id': '(SELECT max(id) FROM upload) + c.n', 'trace_count': '%d' % (traces // runs),
               'size_bytes': '1000 + c.n * 7919 %% 100003', 'worker_count': '1 + c.n %% 8'}
    database.execute('INSERT INTO run (name, project, %s) SELECT printf(\'run-%%d\', c.n * 7919 %% 1000003), iif(c.n %% 2, \'\', \'project-\' || (c.n %% %d)), %s FROM copies AS c, run AS r WHERE c.n <= %d AND r.id = 1'
                     % (', '.join(run + kept), PROJECTS, ', '.join(['r.' + name for name in run] + [figures[name].replace('%%', '%') for name in kept]), runs))
    for table, name, links in (('upload', 'file_name', {'run_id': '2 + c.n %% %d' % runs}), ('trace', 'worker', {'upload_id': '1 + c.n'})):
        rest = columns(database, table, {'id', name, *links})
        database.execute('INSERT INTO %s (id, %s, %s, %s) SELECT 1 + c.n, \'w-\' || c.n, %s, %s FROM copies AS c, %s AS t WHERE t.id = 1'
                         % (table, name, ', '.join(links), ', '.join(rest), ', '.join(links.values()).replace('%%', '%'), ', '.join('t.' + x for x in rest), table))
    database.execute('UPDATE upload SET uploaded_at_s = uploaded_at_s + id')
    database.execute('UPDATE upload SET size_bytes = 1000 + id * 7919 % 100003')
    database.execute('UPDATE trace SET start_ns = start_ns + id * 7919 % 1000003, duration_ns = id * 7919 % 100003, event_count = id * 31 % 1009, step_count = id % 7,'
                     ' device_type = iif(id % 5000, device_type, \'MTIA\'), (listed_at_s, listed_bytes) = (SELECT uploaded_at_s, size_bytes FROM upload WHERE id = upload_id)')
    database.execute('UPDATE run SET uploaded_at_s = (SELECT max(uploaded_at_s) FROM upload WHERE run_id = run.id)')
    for _, sql in indexes:
        database.execute(sql)
    database.execute('ANALYZE')
    database.execute('DELETE FROM sqlite_stat1')
    database.commit()
    database.execute('PRAGMA journal_mode = WAL')
    database.close()


def answer_of(url):
    with urllib.request.urlopen(url, timeout=600) as answer:
        return json.load(answer)


def ask(url):
    begin = time.perf_counter()
    rows = answer_of(url)
    return time.perf_counter() - begin, rows['total']


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', default='build/kinetoscope')
    parser.add_argument('--runs', type=int, default=100000)
    parser.add_argument('--traces', type=int, default=1000000)
    parser.add_argument('--rounds', type=int, default=15)
    parser.add_argument('--keep', help='where the data stays, for another look')
    parser.add_argument('serve', nargs='*', help='options of the server of a copy, whose data directory is --keep')
    options = parser.parse_args()
    data = options.keep or tempfile.mkdtemp(prefix='kinetoscope-runs-')
    if not options.serve and not pathlib.Path(data, 'kinetoscope.db').exists():
        with Program(options.program, data) as program:
            request = urllib.request.Request(program.url + '/api/v1/runs/first/traces/w.pt.trace.json', data=small_trace(), method='PUT')
            urllib.request.urlopen(request, timeout=60).read()
        copy_rows(str(pathlib.Path(data, 'kinetoscope.db')), options.runs, options.traces)
    with Program(options.program, data, *options.serve) as program:
        for name, parameters in VIEWS + TRACE_VIEWS:
            is_traces = (name, parameters) in TRACE_VIEWS
            rows = options.traces if is_traces else options.runs
            parameters = dict(parameters, limit=100, offset=int(parameters.get('offset', 0) * rows))
            url = program.url + '/api/v1/%s?' % ('traces' if is_traces else 'runs') + urllib.parse.urlencode(parameters)
            ask(url)
            # The server remembers whole answers: another limit is another answer.
            answers = [ask(url.replace('limit=100', 'limit=%d' % (100 - i))) for i in range(options.rounds)]
            print('%-28s %8.1f ms  (%d rows)' % (name, 1000 * statistics.median(seconds for seconds, _ in answers), answers[0][1]))
        for name, parameters in CURSOR_VIEWS:
            by_page = []
            for place in ('first', 'middle', 'before the middle'):
                cursor = {'after': ''}
                if place != 'first':
                    half = dict({k: v for k, v in parameters.items() if k in ('sort', 'order')}, limit=1, offset=options.traces // 2)
                    cursor = {'after' if place == 'middle' else 'before': answer_of(program.url + '/api/v1/traces?' + urllib.parse.urlencode(half))['next']}
                url = program.url + '/api/v1/traces?' + urllib.parse.urlencode(dict(parameters, limit=100, **cursor))
                ask(url)
                by_page.append(1000 * statistics.median(ask(url.replace('limit=100', 'limit=%d' % (100 - i)))[0] for i in range(options.rounds)))
            print('%-34s by cursor: first %6.1f, middle %6.1f, before it %6.1f ms' % (name, *by_page), flush=True)
    if not options.keep:
        shutil.rmtree(data)
    return 0


if __name__ == '__main__':
    sys.exit(main())
