#!/usr/bin/env python3
"""A series of many uploads: its first answer after a start, the first of each further metric, and answers from memory.

usage: history.py [--program build/kinetoscope] [--uploads 100000] [--keep FOLDER]

A small trace is uploaded once; the rows of its run, upload, trace, point and values are then copied in the database. Cold: the first request after a
start, which reads all points. First: a metric that is read for the first time, all of them one after the other. Again: answers to other limits.
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
from runs import copy_rows
from start import small_trace


def copy_points(path, uploads):
    """Copies the values and the point of the first trace to the others, each value scattered by its place."""
    database = sqlite3.connect(path)
    database.execute('INSERT INTO series_value (metric_id, trace_id, value) SELECT v.metric_id, t.id, v.value * (1 + t.id * 7919 % 1000 / 10000.0)'
                     ' FROM series_value AS v, trace AS t WHERE v.trace_id = 1 AND t.id > 1')
    database.execute('INSERT INTO series_point SELECT u.uploaded_at_s, t.id, r.name, 1, r.id, p.time_source, t.id, NULL, r.project, p.tags, p.devices'
                     ' FROM trace AS t JOIN upload AS u ON u.id = t.upload_id JOIN run AS r ON r.id = u.run_id, (SELECT * FROM series_point) AS p WHERE t.id > 1')
    database.execute('DELETE FROM series_stale')
    database.commit()
    metrics = [name for name, in database.execute('SELECT name FROM series_metric')]
    points, = database.execute('SELECT count(*) FROM series_point').fetchone()
    database.close()
    return metrics, points


def ask(url, metric, **parameters):
    begin = time.perf_counter()
    with urllib.request.urlopen(url + '/api/v1/history?' + urllib.parse.urlencode(dict(parameters, metric=metric)), timeout=60) as answer:
        json.load(answer)
    return 1000 * (time.perf_counter() - begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', default='build/kinetoscope')
    parser.add_argument('--uploads', type=int, default=100000)
    parser.add_argument('--keep', help='where the data stays, for another look')
    options = parser.parse_args()
    data = options.keep or tempfile.mkdtemp(prefix='kinetoscope-history-')
    database = pathlib.Path(data, 'kinetoscope.db')
    if not database.exists():
        with Program(options.program, data) as program:
            request = urllib.request.Request(program.url + '/api/v1/runs/first/traces/w.pt.trace.json', data=small_trace(), method='PUT')
            urllib.request.urlopen(request, timeout=60).read()
            ask(program.url, 'step_time')
        copy_rows(str(database), options.uploads - 1, options.uploads - 1)
        copy_points(str(database), options.uploads)
    with sqlite3.connect(database) as reader:
        metrics = [name for name, in reader.execute('SELECT name FROM series_metric')]
        points, = reader.execute('SELECT count(*) FROM series_point').fetchone()
    cold = []
    for _ in range(3):
        with Program(options.program, data) as program:
            cold.append(ask(program.url, 'step_time', limit=100))
            first = [ask(program.url, metric, limit=100) for metric in metrics if metric != 'step_time']
            again = [ask(program.url, metrics[i % len(metrics)], limit=99 - i) for i in range(40)]
    print('%d points, %d metrics' % (points, len(metrics)))
    for name, times in (('cold', cold), ('first', first), ('again', again)):
        print('%-6s median %6.1f ms, least %6.1f, most %6.1f' % (name, statistics.median(times), min(times), max(times)))
    if not options.keep:
        shutil.rmtree(data)
    return 0


if __name__ == '__main__':
    sys.exit(main())
