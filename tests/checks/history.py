#!/usr/bin/env python3
"""Series, changes, baseline and gate over uploads made here: order, filters, projects, deletion, refusals, formats of the gate."""
import gzip
import json
import random
import tempfile
import time
import unittest
import xml.etree.ElementTree as xml

import access
import kinetoscope

LEVELS_US = [1000, 1010, 1005, 1002, 1008, 1004, 2000, 2010, 2005, 2003, 2001, 2007]
CHANGE = 6  # the first of the slow ones


def trace(step_us, kernels=('gemm',), name='H100', base_ns=0):
    """Without base_ns its times count from the start of the recording."""
    events, at = [], 1000
    for step in range(3):
        events.append({'ph': 'X', 'cat': 'user_annotation', 'name': 'ProfilerStep#%d' % step, 'pid': 1, 'tid': 1, 'ts': at, 'dur': step_us})
        for number, kernel in enumerate(kernels):
            link = {'correlation': step * 10 + number + 1}
            events.append({'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'pid': 1, 'tid': 1, 'ts': at + 5 + number, 'dur': 1, 'args': link})
            events.append({'ph': 'X', 'cat': 'kernel', 'name': kernel, 'pid': 0, 'tid': 7, 'ts': at + 20 + 100 * number, 'dur': 50,
                           'args': dict(link, stream=7, device=0)})
        at += step_us
    return gzip.compress(json.dumps({'baseTimeNanoseconds': base_ns, 'deviceProperties': [{'id': 0, 'name': name}], 'traceEvents': events}).encode())


def post(server, path, body):
    return server.ask('POST', path, json.dumps(body).encode(), {'Content-Type': 'application/json'})


class History(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = kinetoscope.Server().__enter__()
        # The newest first: commits decide the order, not uploads.
        for number, level in reversed(list(enumerate(LEVELS_US))):
            cls.upload('main-%02d' % number, trace(level, ('gemm', 'relu<float>')))
            cls.tag('main-%02d' % number, ['branch=main', 'commit_time=%d.5' % (1700000000 + number)])
        cls.upload('other', trace(500, name='MI300'))

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    @classmethod
    def upload(cls, run, content, name='w.pt.trace.json.gz', query='?replace=1'):
        return kinetoscope.uploaded(cls.server.put(run, name, content, query))[0]['id']

    @classmethod
    def tag(cls, run, tags):
        answer = cls.server.ask('PATCH', '/api/v1/runs/' + run, json.dumps({'tags': tags}).encode())
        assert answer.status == 200, answer

    def series(self, **query):
        answer = self.server.get('/api/v1/history', **query)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()

    def test_points_stand_in_order_of_commits(self):
        found = self.series(tag='branch=main')
        self.assertEqual([row['run'] for row in found['rows']], ['main-%02d' % n for n in range(len(LEVELS_US))])
        self.assertEqual([row['value'] for row in found['rows']], [1000 * level for level in LEVELS_US])
        self.assertEqual({row['time_source'] for row in found['rows']}, {'commit_time'})
        self.assertEqual(found['rows'][1]['time'], 1700000001.5)
        page = self.series(tag='branch=main', limit=2, offset=3)
        self.assertEqual((page['total'], page['rows']), (found['total'], found['rows'][3:5]))

    def test_metrics_are_those_of_the_trace(self):
        self.assertEqual(self.series(kernel='relu<float>', run='main-00')['rows'][0]['value'], 50000)
        self.assertEqual(self.series(metric='kernel_call:gemm', run='main-00')['rows'][0]['value'], 50000)
        self.assertIsNone(self.series(kernel='nowhere', run='main-00')['rows'][0]['value'])
        self.assertEqual(self.series(metric='busy', run='other')['direction'], 1)
        names = [row['metric'] for row in self.server.get('/api/v1/history/metrics', tag='branch=main', q='RELU').json()['metrics']]
        self.assertEqual(sorted(names), ['kernel:relu<float>', 'kernel_call:relu<float>'])

    def test_filters_must_all_hold(self):
        self.assertEqual(self.series(device='MI300')['total'], 1)
        self.assertEqual(self.series(device='GPU', tag='branch=main')['total'], len(LEVELS_US))
        self.assertEqual(self.series(run='/main-0[0-3]/')['total'], 4)
        self.assertEqual(self.series(run='main-0')['total'], 0)
        self.assertEqual(self.series(tag='branch=mai')['total'], 0)
        both = self.server.get('/api/v1/history?tag=branch%3Dmain&tag=commit_time%3D1700000002.5').json()
        self.assertEqual([row['run'] for row in both['rows']], ['main-02'])

    def test_the_change_is_found_and_the_baseline_follows_it(self):
        found = self.server.get('/api/v1/history/changes', tag='branch=main').json()
        self.assertEqual([(c['index'], c['run'], c['worse']) for c in found['changes']], [(CHANGE, 'main-%02d' % CHANGE, True)])
        base = self.server.get('/api/v1/baseline', tag='branch=main', exclude_run='main-11').json()
        since = LEVELS_US[CHANGE:-1]
        self.assertEqual((base['n'], base['first_run'], base['last_run']), (len(since), 'main-06', 'main-10'))
        self.assertAlmostEqual(base['mean'], 1000 * sum(since) / len(since))
        sent = post(self.server, '/api/v1/history/changes', {'values': [1000 * level for level in LEVELS_US]}).json()
        self.assertEqual((sent['weak'], sent['segments']), (found['weak'], found['segments']))
        self.assertIsNone(sent['changes'][0]['worse'])

    def test_the_gate_says_what_is_worse_in_each_format(self):
        self.upload('candidate', trace(3000, ('gemm',)))
        body = {'candidate': {'run': 'candidate'}, 'tag': 'branch=main', 'fail_if': ['step_time>5%', 'kernel:gemm>5%', 'kernel:<none>&>5']}
        found = post(self.server, '/api/v1/gate', body).json()
        self.assertEqual((found['verdict'], found['exit_code']), ('fail', 3))
        self.assertEqual([row['verdict'] for row in found['rows']], ['fail', 'pass', 'no_baseline'])
        self.assertEqual(found['rows'][0]['limit'], '5%')
        one_text = post(self.server, '/api/v1/gate', dict(body, fail_if='step_time>5% and p<0.05')).json()
        self.assertEqual([(row['limit'], row['verdict']) for row in one_text['rows']], [('5% and p<0.05', 'fail')])
        chance = one_text['rows'][0]['p']
        self.assertEqual(post(self.server, '/api/v1/gate', dict(body, fail_if='step_time>5%% and p<%r' % chance)).json()['verdict'], 'pass')
        refused = post(self.server, '/api/v1/gate', dict(body, fail_if='step_time>5% and q<0.05'))
        self.assertEqual(refused.status, 400)
        self.assertIn('and p<P', refused.body.decode())
        markdown = post(self.server, '/api/v1/gate?format=markdown', body)
        self.assertEqual(markdown.type, 'text/markdown')
        self.assertIn('| step_time | 2.004 ms ', markdown.body.decode())
        suite = xml.fromstring(post(self.server, '/api/v1/gate?format=junit', body).body)
        self.assertEqual([suite.get(key) for key in ('name', 'tests', 'failures', 'skipped')], ['kinetoscope gate', '3', '1', '1'])
        self.assertEqual([case.get('name') for case in suite], ['step_time', 'kernel:gemm', 'kernel:<none>&'])
        better = post(self.server, '/api/v1/gate', dict(body, candidate={'run': 'other'}, fail_if=[])).json()
        self.assertEqual((better['verdict'], len(better['rows'])), ('pass', 1))

    def test_workers_and_spans_make_one_point_a_span(self):
        for worker, level in (('b', 100), ('a', 300), ('c', 600)):
            self.upload('ranks', trace(level), worker + '.1700000000000.pt.trace.json.gz')
        first = self.upload('ranks', trace(900), 'a.1800000000000.pt.trace.json.gz')
        found = self.series(run='ranks')['rows']
        self.assertEqual([(row['span'], row['value']) for row in found], [(1, 300000), (2, 900000)])
        self.assertEqual(found[1]['trace'], first)
        body = {'candidate': {'trace': first}, 'tag': 'branch=main'}
        self.assertEqual(post(self.server, '/api/v1/gate', body).json()['rows'][0]['candidate'], 900000)
        self.assertEqual(self.server.ask('DELETE', '/api/v1/traces/%d' % first).status, 204)
        self.assertEqual(self.series(run='ranks')['total'], 1)
        self.assertEqual(self.server.ask('DELETE', '/api/v1/runs/ranks').status, 204)
        self.assertEqual(self.series(run='ranks')['total'], 0)

    def test_replaced_and_retagged_runs_move(self):
        self.upload('moving', trace(700))
        self.tag('moving', ['m', 'commit_time=x', 'commit_time=5'])
        self.assertEqual(self.series(run='moving')['rows'][0]['time'], 5)
        self.upload('moving', trace(800))
        self.assertEqual(self.series(run='moving')['rows'][0]['value'], 800000)
        self.tag('moving', [])
        # The trace counts from its own start: what it says is in January 1970, and nobody's time.
        row, = self.series(run='moving')['rows']
        self.assertEqual(row['time_source'], 'upload')
        self.assertAlmostEqual(row['time'], time.time(), delta=600)
        self.upload('moving', trace(900, base_ns=1700000000 * 10 ** 9))
        row, = self.series(run='moving')['rows']
        self.assertEqual((row['time_source'], row['time']), ('start', 1700000000.001))
        self.assertEqual(self.server.ask('DELETE', '/api/v1/runs/moving').status, 204)

    def changes_of(self, values, **rules):
        return [change['index'] for change in post(self.server, '/api/v1/history/changes', dict(rules, values=values)).json()['changes']]

    def test_quiet_series_raise_no_more_alarms_than_openapi_says(self):
        """About 1 in 16 of 100 points at the default p, 1 in 100 of 1000 points at 0.00001, 1 in 20 of any length at p=series; three standard deviations
        of that count are allowed."""
        chance = random.Random(18)
        quiet = lambda count: [chance.gauss(1e8, 1e6) for _ in range(count)]
        alarms = sum(bool(self.changes_of(quiet(100))) for _ in range(1000))
        self.assertLess(alarms, 1000 / 16 + 3 * (1000 / 16 * 15 / 16) ** 0.5)
        alarms = sum(bool(self.changes_of(quiet(1000), p=1e-5)) for _ in range(200))
        self.assertLess(alarms, 2 + 3 * (2 * 0.99) ** 0.5)
        alarms = sum(bool(self.changes_of(quiet(400), p='series')) for _ in range(200))
        self.assertLess(alarms, 200 / 20 + 3 * (200 / 20 * 19 / 20) ** 0.5)

    def test_three_changes_in_ten_thousand_noisy_values_are_found_and_nothing_else(self):
        for seed in range(3):
            chance = random.Random(seed)
            values = [chance.gauss(1e8 * 1.05 ** sum(index >= at for at in (2500, 5000, 7500)), 1e6) for index in range(10000)]
            for p in (1e-5, 'series'):
                self.assertEqual(self.changes_of(values, p=p), [2500, 5000, 7500])
            self.assertGreater(len(self.changes_of(values)), 3)

    def test_what_cannot_be_is_refused(self):
        for path in ('/api/v1/history?foo=1', '/api/v1/history?metric=x', '/api/v1/history?run=/(/', '/api/v1/history/changes?window=1',
                     '/api/v1/history/changes?p=1', '/api/v1/history/changes?min_magnitude=-1', '/api/v1/history/changes?rule=x',
                     '/api/v1/baseline?p=nan', '/api/v1/history?kernel=a&operator=b'):
            self.assertEqual(self.server.get(path).status, 400, path)
        for body in ({}, {'values': 1}, {'values': ['1']}, {'values': [0] * 10001}, {'values': [], 'window': 1}, {'values': [], 'p': 0},
                     {'values': [], 'x': 1}, {'values': [1] * 2000, 'window': 1500}):
            self.assertEqual(post(self.server, '/api/v1/history/changes', body).status, 400, body)
        for body, status in (({}, 400), ({'candidate': {}}, 400), ({'candidate': {'run': 'nope'}}, 404), ({'candidate': {'trace': 10 ** 9}}, 404),
                             ({'candidate': {'run': 'other', 'span': 9}}, 404), ({'candidate': {'run': 'other'}, 'fail_if': ['x>1']}, 400),
                             ({'candidate': {'run': 'other'}, 'fail_if': 'step_time'}, 400), ({'candidate': {'run': 'other'}, 'p': 2}, 400)):
            self.assertEqual(post(self.server, '/api/v1/gate', body).status, status, body)


class Notes(unittest.TestCase):
    """Notes on windows, kernels and operators; known regressions."""

    def test_notes_are_pinned_seen_and_removed(self):
        with tempfile.TemporaryDirectory() as folder:
            with kinetoscope.Server(data_dir=folder) as server:
                traces = [kinetoscope.uploaded(server.put('a', name, trace(1000)))[0]['id'] for name in ('w.pt.trace.json.gz', 'v.pt.trace.json.gz')]
                server.put('b', 'w.pt.trace.json.gz', trace(1000))
                for body in ({'kind': 'kernel', 'name': 'gemm', 'text': 'slow'}, {'kind': 'window', 'trace': traces[0], 'start_ns': 5, 'end_ns': 9, 'text': 'here'},
                             {'kind': 'operator', 'name': 'aten::mm', 'trace': traces[1], 'text': 'there'}):
                    answer = post(server, '/api/v1/runs/a/notes', body)
                    self.assertEqual(answer.status, 201, answer.body)
                for body in ({}, {'kind': 'x', 'text': 't'}, {'kind': 'kernel', 'text': 't'}, {'kind': 'kernel', 'name': 'n', 'text': ''},
                             {'kind': 'window', 'text': 't', 'trace': traces[0], 'start_ns': 9, 'end_ns': 9}, {'kind': 'window', 'text': 't', 'start_ns': 1, 'end_ns': 9},
                             {'kind': 'kernel', 'name': 'n', 'text': 't', 'start_ns': 1}, {'kind': 'kernel', 'name': 'n', 'text': 't', 'other': 1},
                             {'kind': 'regression', 'name': 'step_time', 'text': 't', 'trace': traces[0]}):
                    self.assertEqual(post(server, '/api/v1/runs/a/notes', body).status, 400, body)
                self.assertEqual(post(server, '/api/v1/runs/b/notes', {'kind': 'kernel', 'name': 'n', 'text': 't', 'trace': traces[0]}).status, 404)
                self.assertEqual(post(server, '/api/v1/runs/none/notes', {'kind': 'kernel', 'name': 'n', 'text': 't'}).status, 404)
            with kinetoscope.Server(data_dir=folder) as server:
                texts = lambda path: [note['text'] for note in server.get(path).json()['notes']]
                self.assertEqual(texts('/api/v1/runs/a/notes'), ['slow', 'here', 'there'])
                self.assertEqual([texts('/api/v1/traces/%d/notes' % id) for id in traces], [['slow', 'here'], ['slow', 'there']])
                self.assertEqual(texts('/api/v1/runs/b/notes'), [])
                first = server.get('/api/v1/runs/a/notes').json()['notes'][0]
                self.assertEqual((first['trace'], first['kind'], first['name'], first['author']), (None, 'kernel', 'gemm', None))
                self.assertEqual(server.ask('DELETE', '/api/v1/runs/b/notes/%d' % first['id']).status, 404)
                for wrong in ('x', '0x1', '%2B' + str(first['id']), '%20' + str(first['id'])):
                    self.assertEqual(server.ask('DELETE', '/api/v1/runs/a/notes/' + wrong).status, 404)
                self.assertEqual(server.ask('DELETE', '/api/v1/runs/a/notes/%d' % first['id']).status, 204)
                self.assertEqual(server.ask('DELETE', '/api/v1/traces/%d' % traces[0]).status, 204)
                self.assertEqual(server.get('/api/v1/traces/%d/notes' % traces[0]).status, 404)
                self.assertEqual(texts('/api/v1/traces/%d/notes' % traces[1]), ['there'])

    def test_a_known_regression_is_said_so(self):
        with kinetoscope.Server() as server:
            for number, level in enumerate(LEVELS_US):
                server.put('main-%02d' % number, 'w.pt.trace.json.gz', trace(level))
            changes = lambda: [(row['run'], row['worse'], row['known']) for row in server.get('/api/v1/history/changes').json()['changes']]
            run = 'main-%02d' % CHANGE
            self.assertEqual(changes(), [(run, True, None)])
            post(server, '/api/v1/runs/%s/notes' % run, {'kind': 'regression', 'name': 'busy', 'text': 'of another metric'})
            self.assertEqual(changes(), [(run, True, None)])
            for text in ('first', 'JIRA-1'):
                self.assertEqual(post(server, '/api/v1/runs/%s/notes' % run, {'kind': 'regression', 'name': 'step_time', 'text': text}).status, 201)
            self.assertEqual(changes(), [(run, True, 'JIRA-1')])


class Restart(unittest.TestCase):
    def test_series_outlive_the_process(self):
        with tempfile.TemporaryDirectory() as folder:
            with kinetoscope.Server(data_dir=folder) as server:
                for run in ('a', 'b'):
                    server.put(run, 'w.pt.trace.json.gz', trace(1000))
                before = server.get('/api/v1/history').json()
            with kinetoscope.Server(data_dir=folder) as server:
                self.assertEqual(server.get('/api/v1/history').json(), before)
                self.assertEqual(server.ask('DELETE', '/api/v1/runs/a').status, 204)
                self.assertEqual([row['run'] for row in server.get('/api/v1/history').json()['rows']], ['b'])


class Rights(unittest.TestCase):
    def test_a_reader_sees_the_runs_of_its_projects(self):
        with kinetoscope.Server() as server:
            for run, project in (('red', 'red'), ('blue', 'blue'), ('free', '')):
                answer = server.put(run, 'w.pt.trace.json.gz', trace(1000, (run,)), '?project=' + project if project else '')
                self.assertEqual(answer.status, 201, answer.body)
            reader = access.known_bearer(server, 'reader', 'viewer', 'red')
            seen = server.ask('GET', '/api/v1/history', None, reader).json()['rows']
            self.assertEqual(sorted(row['run'] for row in seen), ['free', 'red'])
            names = server.ask('GET', '/api/v1/history/metrics?q=kernel%3Ablue', None, reader).json()['metrics']
            self.assertEqual(names, [])
            body = json.dumps({'candidate': {'run': 'blue'}}).encode()
            self.assertEqual(server.ask('POST', '/api/v1/gate', body, reader).status, 404)


    def test_a_note_is_removed_by_its_author_or_an_admin(self):
        with tempfile.TemporaryDirectory() as folder:
            roles = {'ann': 'uploader', 'bob': 'uploader', 'eve': 'viewer', 'root': 'admin'}
            bearers = {name: access.bearer(access.add(folder, name, role)) for name, role in roles.items()}
            with kinetoscope.Server(data_dir=folder) as server:
                answer = server.ask('PUT', '/api/v1/runs/a/traces/w.pt.trace.json.gz', trace(1000), bearers['ann'])
                self.assertEqual(answer.status, 201, answer.body)
                body = json.dumps({'kind': 'kernel', 'name': 'gemm', 'text': 'slow'}).encode()
                ids = [server.ask('POST', '/api/v1/runs/a/notes', body, bearers['ann']).json()['id'] for _ in range(2)]
                remove = lambda name, id: server.ask('DELETE', '/api/v1/runs/a/notes/%d' % id, None, bearers[name]).status
                self.assertEqual([remove(name, ids[0]) for name in ('eve', 'bob', 'ann', 'ann')], [403, 403, 204, 404])
                self.assertEqual(remove('root', ids[1]), 204)


class Reference(unittest.TestCase):
    def test_golden_figures(self):
        kinetoscope.check_reference(self, 'history_check.py')


if __name__ == '__main__':
    kinetoscope.main()
