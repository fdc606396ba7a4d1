#!/usr/bin/env python3
"""Derived data: the figures of the removed plugin, and timelines, are made once, by the first request for them; whatever happens to
the server or to the trace meanwhile, nothing of them stays behind, and our own answers are the same before and after."""
import concurrent.futures
import json
import pathlib
import shutil
import sqlite3
import tempfile
import threading
import time
import unittest

import crash
import kinetoscope

RUN = 'r'
NAME = 'w.1700000000000.pt.trace.json'
TRACE_BYTES = 6000000  # long enough to be met while its figures are made
MOMENTS = 6  # in which the server is killed, or the trace is removed: from the request to the answer
AT_ONCE = 8
ROUTES = ('overview', 'operation', 'operation/table', 'kernel', 'kernel/table', 'tree', 'trace', 'memory', 'views')
OURS = ('overview', 'steps', 'operators', 'kernels', 'kernels?group_by=launch', 'tree', 'trace.json.gz', 'memory', 'modules',
        'timeline/tracks', '')
KERNEL_SUMS = (b'Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n'
               b'100.0,3000,2,1500.0,1500.0,1000,2000,500.0,gemm\n')


def count(data_dir, sql, *values):
    db = crash.look(data_dir)
    try:
        return db.execute(sql, values).fetchone()[0]
    finally:
        db.close()


def derived_rows(data_dir):
    """Rows with figures, and rows of uploads that hold unfinished ones."""
    return (count(data_dir, 'SELECT count(*) FROM trace WHERE derived_of IS NOT NULL'),
            count(data_dir, 'SELECT count(*) FROM upload WHERE published = 0'))


def ask(server, route, run=RUN):
    return server.plugin(route, run=run, worker='w')


def answers(server, run=RUN):
    found = {route: ask(server, route, run) for route in ROUTES}
    return {route: (a.status, a.body) for route, a in found.items()}


def ours(server, trace_id):
    found = {view: server.get('/api/v1/traces/%d/%s' % (trace_id, view) if view else '/api/v1/traces/%d' % trace_id) for view in OURS}
    return {view: (a.status, a.body.replace(server.url.encode(), b'URL')) for view, a in found.items()}


def upload(server, content, run=RUN):
    return kinetoscope.uploaded(server.put(run, NAME, content, '?replace=1'))[0]['id']


class Asking(threading.Thread):
    """A first request, under way."""

    def __init__(self, server, run=RUN):
        super().__init__()
        self.server, self.run_name, self.answer = server, run, None
        self.start()

    def run(self):
        try:
            self.answer = ask(self.server, 'overview', self.run_name)
        except crash.GONE:
            pass  # the server was killed


class Derived(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.content = kinetoscope.large_trace(TRACE_BYTES)
        cls.other = kinetoscope.fixture_json('decimal_times')
        with kinetoscope.Server() as server:
            upload(server, cls.content)
            before = time.monotonic()
            ask(server, 'overview')
            cls.takes_s = time.monotonic() - before
            cls.expected = answers(server)
            upload(server, cls.other, 'other')
            cls.expected_other = answers(server, 'other')
        statuses = {route: status for route, (status, _) in cls.expected.items()}
        assert set(statuses.values()) == {200}, statuses

    def moments(self):
        return [self.takes_s * i / (MOMENTS - 1) for i in range(MOMENTS)]

    def test_made_once_and_ours_stay(self):
        with kinetoscope.Server() as server:
            trace_id = upload(server, self.content)
            before = ours(server, trace_id)
            self.assertEqual({s for s, _ in before.values()}, {200}, {v: s for v, (s, _) in before.items()})
            self.assertEqual(derived_rows(server.data_dir), (0, 0), 'ours needed them')
            ask(server, 'overview')
            self.assertEqual(derived_rows(server.data_dir), (1, 0))
            newest = count(server.data_dir, 'SELECT max(id) FROM trace')
            self.assertEqual(answers(server), self.expected)
            self.assertEqual(derived_rows(server.data_dir), (1, 0))
            self.assertEqual(count(server.data_dir, 'SELECT max(id) FROM trace'), newest)
            self.assertEqual(count(server.data_dir, 'SELECT derived_of FROM trace WHERE derived_of IS NOT NULL'), trace_id)
            self.assertEqual(ours(server, trace_id), before)
            crash.check_clean(server.data_dir)

    def test_made_once_for_many_at_once(self):
        with kinetoscope.Server() as server:
            upload(server, self.content)
            with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                told = list(pool.map(lambda i: ask(server, ROUTES[i % 3]), range(AT_ONCE)))
            for i, answer in enumerate(told):
                self.assertEqual((answer.status, answer.body), self.expected[ROUTES[i % 3]])
            self.assertEqual(derived_rows(server.data_dir), (1, 0))
            crash.check_clean(server.data_dir)

    def test_killed_meanwhile(self):
        data_dir = tempfile.mkdtemp(prefix='kinetoscope-derived-')
        try:
            with kinetoscope.Server(data_dir=data_dir) as server:
                ids = [upload(server, self.content, 'k%d' % i) for i in range(MOMENTS)]
                before = [ours(server, i) for i in ids]
            for i, moment in enumerate(self.moments()):
                server = crash.Mortal(data_dir=data_dir).__enter__()
                asking = Asking(server, 'k%d' % i)
                time.sleep(moment)
                server.kill()
                asking.join()
                with kinetoscope.Server(data_dir=data_dir) as server:
                    crash.check_clean(data_dir)
                    self.assertLessEqual(derived_rows(data_dir)[0], i + 1)
                    self.assertEqual(ours(server, ids[i]), before[i])
                    self.assertEqual(answers(server, 'k%d' % i), self.expected, 'killed after %.3f s' % moment)
                    self.assertEqual(derived_rows(data_dir), (i + 1, 0))
            crash.check_clean(data_dir)
        finally:
            shutil.rmtree(data_dir, ignore_errors=True)

    def test_deleted_meanwhile(self):
        with kinetoscope.Server() as server:
            for moment, of_run in [(moment, of_run) for moment in self.moments() for of_run in (False, True)]:
                trace_id = upload(server, self.content)
                asking = Asking(server)
                time.sleep(moment)
                self.assertEqual(server.ask('DELETE', '/api/v1/runs/' + RUN if of_run else '/api/v1/traces/%d' % trace_id).status, 204)
                asking.join()
                said = asking.answer
                if said.status == 200:
                    self.assertEqual(said.body, self.expected['overview'][1])
                else:
                    self.assertEqual((said.status, said.type), (404, 'application/problem+json'), said.body)
                self.assertEqual(ask(server, 'overview').status, 404)
                crash.check_clean(server.data_dir)
                self.assertEqual(count(server.data_dir, 'SELECT count(*) FROM trace'), 0)

    def test_replaced_meanwhile(self):
        with kinetoscope.Server() as server:
            for moment in self.moments():
                upload(server, self.content)
                asking = Asking(server)
                time.sleep(moment)
                trace_id = upload(server, self.other)
                asking.join()
                said = asking.answer
                self.assertIn(said.status, (200, 404), said.body)
                if said.status == 200:
                    self.assertIn(said.body, (self.expected['overview'][1], self.expected_other['overview'][1]))
                self.assertEqual(answers(server), self.expected_other)
                crash.check_clean(server.data_dir)
                self.assertEqual(derived_rows(server.data_dir), (1, 0))
                self.assertEqual(count(server.data_dir, 'SELECT derived_of FROM trace WHERE derived_of IS NOT NULL'), trace_id)
                self.assertEqual(count(server.data_dir, 'SELECT count(*) FROM trace'), 2)

    def test_uploads_without_events(self):
        """Their figures are those of the upload: nothing is made."""
        documents = [json.loads(self.expected[route][1]) for route in ('overview', 'operation', 'operation/table', 'kernel', 'kernel/table')]
        lines = '\n'.join(json.dumps(d) for d in documents).encode()
        seed = kinetoscope.REFERENCE / 'seeds/003_e0954df1c8df0a17.txt'
        uploads = [('answers.txt', lines), ('cuda_gpu_kern_sum.csv', KERNEL_SUMS)]
        uploads += [('seed003.txt', seed.read_bytes())] if seed.exists() else []
        with kinetoscope.Server() as server:
            for name, content in uploads:
                with self.subTest(name=name):
                    for trace in kinetoscope.uploaded(server.put(name, name, content)):
                        for route in ('overview', 'operation', 'kernel', 'views'):
                            answer = server.plugin(route, run=name, worker=trace['worker'])
                            self.assertEqual(answer.status, 200, answer.body)
                    self.assertEqual(derived_rows(server.data_dir), (0, 0))


class Timelines(unittest.TestCase):
    """Of traces that are worth no timeline until somebody looks at one."""

    VIEWS = ('timeline/tracks', 'timeline?width_px=500', 'events/3000', 'search?q=a', 'window')

    @classmethod
    def setUpClass(cls):
        cls.content = kinetoscope.large_trace(TRACE_BYTES)
        with kinetoscope.Server() as server:
            trace_id = upload(server, cls.content)
            before = time.monotonic()
            cls.expected = cls.answers(server, trace_id)
            cls.takes_s = time.monotonic() - before
            cls.rows = cls.row_counts(server.data_dir)
        assert {status for status, _ in cls.expected.values()} == {200}, cls.expected

    @staticmethod
    def row_counts(data_dir):
        found = [0, 0]
        for path in pathlib.Path(data_dir, 'results').glob('*/*.db'):
            file = sqlite3.connect('file:%s?immutable=1' % path, uri=True)
            for i, table in enumerate(('timeline', 'timeline_block')):
                found[i] += file.execute('SELECT count(*) FROM ' + table).fetchone()[0]
            file.close()
        return tuple(found)

    @classmethod
    def answers(cls, server, trace_id):
        found = {view: server.get('/api/v1/traces/%d/%s' % (trace_id, view)) for view in cls.VIEWS}
        return {view: (a.status, a.body) for view, a in found.items()}

    def test_each_of_their_views_makes_them_once(self):
        for first in self.VIEWS:
            with self.subTest(first=first), kinetoscope.Server() as server:
                trace_id = upload(server, self.content)
                server.get('/api/v1/traces/%d/overview' % trace_id)
                self.assertEqual(self.row_counts(server.data_dir), (0, 0))
                with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                    told = list(pool.map(lambda _: server.get('/api/v1/traces/%d/%s' % (trace_id, first)), range(AT_ONCE)))
                self.assertEqual({(a.status, a.body) for a in told}, {self.expected[first]})
                self.assertEqual(self.row_counts(server.data_dir), self.rows)
                self.assertEqual(self.answers(server, trace_id), self.expected)
                self.assertEqual(self.row_counts(server.data_dir), self.rows)

    def test_killed_meanwhile(self):
        for moment in [self.takes_s * i / (MOMENTS - 1) for i in range(MOMENTS)]:
            data_dir = tempfile.mkdtemp(prefix='kinetoscope-derived-')
            try:
                server = crash.Mortal(data_dir=data_dir).__enter__()
                trace_id = upload(server, self.content)
                with concurrent.futures.ThreadPoolExecutor(1) as pool:
                    asking = pool.submit(server.get, '/api/v1/traces/%d/timeline/tracks' % trace_id)
                    time.sleep(moment)
                    server.kill()
                    self.assertTrue(asking.exception() is None or isinstance(asking.exception(), crash.GONE))
                with kinetoscope.Server(data_dir=data_dir) as server:
                    self.assertEqual(self.answers(server, trace_id), self.expected, 'killed after %.3f s' % moment)
                    self.assertEqual(self.row_counts(data_dir), self.rows)
                crash.check_clean(data_dir)
            finally:
                shutil.rmtree(data_dir, ignore_errors=True)

    def test_deleted_meanwhile(self):
        with kinetoscope.Server() as server, concurrent.futures.ThreadPoolExecutor(1) as pool:
            for moment in [self.takes_s * i / (MOMENTS - 1) for i in range(MOMENTS)]:
                trace_id = upload(server, self.content)
                asking = pool.submit(server.get, '/api/v1/traces/%d/timeline/tracks' % trace_id)
                time.sleep(moment)
                self.assertEqual(server.ask('DELETE', '/api/v1/traces/%d' % trace_id).status, 204)
                said = asking.result()
                self.assertIn(said.status, (200, 404), said.body)
                crash.check_clean(server.data_dir)
                self.assertEqual(self.row_counts(server.data_dir), (0, 0))


kinetoscope.main()
