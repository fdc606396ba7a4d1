#!/usr/bin/env python3
"""Answers that are kept to be sent again: whatever is written shows at once, in every answer, in every form.

A parameter that no route knows makes a URL of its own, whose answer is made anew: the two must be equal at any time.
"""
import json
import shutil
import tempfile
import threading
import unittest

import kinetoscope

TRACE_VIEWS = ['', '/overview', '/steps', '/operators', '/operators?group_by=name_shape&sort=calls', '/operators?format=csv', '/kernels',
               '/kernels?group_by=launch', '/memory', '/modules', '/tree', '/timeline/tracks', '/timeline?width_px=400', '/events/3',
               '/search?q=aten', '/window', '/cycles']
LISTS = ['/api/v1/runs', '/api/v1/runs?q=r', '/api/v1/comparisons', '/api/v1/openapi.json', kinetoscope.PLUGIN + 'runs']
FORMS = ({}, {'Accept-Encoding': 'gzip'})


def without_date(answer):
    return answer.status, answer.body, {k: v for k, v in answer.headers.items() if k != 'Date'}


class Watched:
    """A server whose every answer is compared with one that was made anew."""

    def __init__(self, test, server):
        self.test, self.server, self.turn, self.tags = test, server, 0, {}

    def paths(self):
        runs = [run['name'] for run in self.server.get('/api/v1/runs?' + '&' * self.turn).json()['runs']]
        found = list(LISTS)
        for run in ['r', 's'] + runs:
            found += ['/api/v1/runs/' + run, kinetoscope.PLUGIN + 'workers?run=' + run + '&view=Overview', '/api/v1/runs/%s/distributed' % run]
        for trace in self.test.ids:
            found += ['/api/v1/traces/%d%s' % (trace, view) for view in TRACE_VIEWS]
        return found

    def check(self):
        """Every answer, twice in each form: made and kept."""
        self.turn += 1
        for path in self.paths():
            # The same question in other letters: no route takes a parameter that it does not know.
            other = path + ('' if '?' in path else '?') + '&' * self.turn
            for form in FORMS:
                fresh = without_date(self.server.ask('GET', other, headers=form))
                is_packed = bool(form) and len(fresh[1]) >= 1024
                self.test.assertEqual('gzip' if is_packed else None, fresh[2].get('Content-Encoding'), path)
                for _ in range(2):
                    self.test.assertEqual(fresh, without_date(self.server.ask('GET', path, headers=form)), path)
                self.check_condition(path, form, fresh)

    def check_condition(self, path, form, fresh):
        """The tag of before still names the answer if, and only if, it is the same to the last byte."""
        status, body, headers = fresh
        key = path, form.get('Accept-Encoding')
        tag, known = self.tags.get(key, (None, None))
        if tag and status == 200:
            again = self.server.ask('GET', path, headers=dict(form, **{'If-None-Match': tag}))
            self.test.assertEqual(304 if known == body else 200, again.status, path)
            self.test.assertEqual(headers['ETag'], again.headers['ETag'], path)
            self.test.assertEqual(b'' if again.status == 304 else body, again.body, path)
        self.tags[key] = (headers['ETag'], body) if status == 200 else (None, None)


class Kept(unittest.TestCase):
    def upload(self, server, run, name, body, query=''):
        self.ids += [trace['id'] for trace in kinetoscope.uploaded(server.put(run, name, body, query))]
        return self.ids[-1]

    def test_what_is_written_shows_at_once(self):
        self.ids = []
        training = kinetoscope.fixture_json('cuda_training')
        other = kinetoscope.large_trace(len(training) * 2)
        with kinetoscope.Server() as server:
            watched = Watched(self, server)
            watched.check()
            first = self.upload(server, 'r', 'w0.1.pt.trace.json', training)
            watched.check()
            self.assertEqual(200, server.ask('PATCH', '/api/v1/traces/%d' % first, b'{"note": "seen"}').status)
            watched.check()
            self.assertEqual('seen', server.get('/api/v1/traces/%d/overview' % first).json()['trace']['note'])
            self.assertEqual(200, server.ask('PATCH', '/api/v1/runs/r', b'{"tags": ["new"], "note": "a run"}').status)
            watched.check()
            # An earlier span of the same worker: the first one is the second now.
            second = self.upload(server, 'r', 'w0.0.pt.trace.json', other)
            self.assertEqual(2, server.get('/api/v1/traces/%d' % first).json()['span'])
            watched.check()
            self.upload(server, 's', 'w1.pt.trace.json', other)
            watched.check()
            made = server.ask('POST', '/api/v1/comparisons', json.dumps({'base': first, 'candidate': second}).encode())
            self.assertEqual(201, made.status, made.body[:300])
            comparison = '/api/v1/comparisons/%d' % made.json()['id']
            self.assertEqual(200, server.get(comparison).status)
            watched.check()
            self.assertEqual(204, server.ask('DELETE', comparison).status)
            self.assertEqual(404, server.get(comparison).status)
            watched.check()
            replaced = self.upload(server, 'r', 'w0.1.pt.trace.json', other, '?replace=1')
            self.assertEqual(404, server.get('/api/v1/traces/%d/overview' % first).status)
            watched.check()
            self.assertEqual(204, server.ask('DELETE', '/api/v1/traces/%d' % replaced).status)
            self.assertEqual(404, server.get('/api/v1/traces/%d' % replaced).status)
            watched.check()
            self.assertEqual(204, server.ask('DELETE', '/api/v1/runs/r').status)
            self.assertEqual(['s'], [run['name'] for run in server.get('/api/v1/runs').json()['runs']])
            watched.check()

    def test_a_job_that_ends_shows_at_once(self):
        self.ids = []
        with kinetoscope.Server() as server:
            for turn in range(3):
                known = server.get('/api/v1/runs').json()['total']
                job = server.put('run%d' % turn, 'w.json', kinetoscope.fixture_json('cuda_training'), headers={'Prefer': 'respond-async'})
                self.assertEqual(202, job.status)
                state = 'queued'
                while state in ('queued', 'running'):
                    before = server.get('/api/v1/runs').json()['total']
                    state = server.get('/api/v1/jobs/%d' % job.json()['id']).json()['state']
                self.assertEqual('done', state)
                self.assertIn(before, (known, known + 1))
                self.assertEqual(known + 1, server.get('/api/v1/runs').json()['total'])

    def test_many_readers_see_no_older_answer_again(self):
        """Notes that count up: no reader may see a lower one after a higher one, nor one lower than what was written before."""
        with kinetoscope.Server() as server:
            trace = kinetoscope.uploaded(server.put('r', 'w.json', kinetoscope.fixture_json('cuda_training')))[0]['id']
            path = '/api/v1/traces/%d' % trace
            written, faults, stop = [0], [], threading.Event()
            server.ask('PATCH', path, b'{"note": "0"}')

            def read(view, form):
                seen = 0
                while not stop.is_set():
                    least = written[0]
                    answer = server.ask('GET', path + view, headers=form).json()
                    note = int(answer.get('trace', answer)['note'])
                    if note < max(seen, least):
                        faults.append((view, note, seen, least))
                    seen = note

            readers = [threading.Thread(target=read, args=(view, form)) for view in ('', '/overview') for form in FORMS]
            for reader in readers:
                reader.start()
            for count in range(1, 60):
                self.assertEqual(200, server.ask('PATCH', path, b'{"note": "%d"}' % count).status)
                written[0] = count
            stop.set()
            for reader in readers:
                reader.join()
            self.assertEqual([], faults)

    def test_nobody_gets_what_is_kept_for_another(self):
        """Three readers in turn, each URL twice: none is answered with what another one may read."""
        data = tempfile.mkdtemp(prefix='kinetoscope-check-')
        self.addCleanup(shutil.rmtree, data)
        tokens = {}
        for name, role, projects in (('admin', 'admin', []), ('ours', 'viewer', ['p']), ('stranger', 'viewer', ['q'])):
            done = kinetoscope.run_program('token', 'add', name, '--role', role, '--data-dir', data, *[w for p in projects for w in ('--project', p)])
            self.assertEqual(0, done.returncode, done.stderr)
            tokens[name] = {'Authorization': 'Bearer ' + done.stdout.decode().strip()}
        with kinetoscope.Server(data_dir=data) as server:
            body = kinetoscope.fixture_json('cuda_training')
            secret = kinetoscope.uploaded(server.put('secret', 'w.json', body, '?project=p', tokens['admin']))[0]['id']
            kinetoscope.uploaded(server.put('open', 'w.json', body, '', tokens['admin']))
            paths = ['/api/v1/runs', '/api/v1/runs/secret', kinetoscope.PLUGIN + 'runs'] + ['/api/v1/traces/%d%s' % (secret, v) for v in ('', '/overview', '/operators')]
            for order in (['admin', 'ours', 'stranger'], ['stranger', 'ours', 'admin']):
                server.ask('PATCH', '/api/v1/runs/open', b'{"note": "%s"}' % order[0].encode(), tokens['admin'])
                for path in paths * 2:
                    for name in order:
                        answer = server.ask('GET', path, headers=tokens[name])
                        is_list, may = path.endswith('runs'), name != 'stranger'
                        self.assertEqual(200 if may or is_list else 404, answer.status, (name, path))
                        self.assertTrue(not is_list or may == (b'secret' in answer.body), (name, path))
                    self.assertEqual(401, server.get(path).status)
            # The move takes effect at once, for what was kept too.
            self.assertEqual(200, server.ask('PATCH', '/api/v1/runs/secret', b'{"project": "q"}', tokens['admin']).status)
            for path in paths[3:]:
                self.assertEqual([200, 404, 200], [server.ask('GET', path, headers=tokens[name]).status for name in ('admin', 'ours', 'stranger')])

    def test_nothing_is_kept_when_it_is_not_wanted(self):
        with kinetoscope.Server('--answer-cache', '0') as server:
            trace = kinetoscope.uploaded(server.put('r', 'w.json', kinetoscope.fixture_json('cuda_training')))[0]['id']
            for form in FORMS:
                answers = [without_date(server.ask('GET', '/api/v1/traces/%d/overview' % trace, headers=form)) for _ in range(2)]
                self.assertEqual(*answers)


if __name__ == '__main__':
    kinetoscope.main()
