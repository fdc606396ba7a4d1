#!/usr/bin/env python3
"""What goes by itself: old runs, and the oldest ones of a full store or project; what never does; and the refusal of
uploads for which nothing may go, before their bodies."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import socket
import sqlite3
import tempfile
import unittest

import kinetoscope

DAY_S = 86400
NAME, CONTENT = kinetoscope.fixture('cpu_only')


def content_of(run):
    """Bytes of its own for each run, so that none are shared; so many that a page of the database does not matter."""
    document = json.loads(CONTENT)
    document['traceName'] = run
    return json.dumps(document).encode() + b' ' * (1 << 20)


class Retention(unittest.TestCase):
    def setUp(self):
        self.data_dir = tempfile.mkdtemp(prefix='kinetoscope-retention-')

    def tearDown(self):
        shutil.rmtree(self.data_dir, ignore_errors=True)

    def server(self, *options, **more):
        return kinetoscope.Server(*options, data_dir=self.data_dir, **more)

    def database(self):
        return sqlite3.connect(os.path.join(self.data_dir, 'kinetoscope.db'), timeout=60)

    def runs(self, server):
        return {run['name']: run for run in server.get('/api/v1/runs').json()['runs']}

    def metric(self, server, name, labels=''):
        line = r'^kinetoscope_%s%s (\d+)$' % (name, re.escape(labels))
        return int(re.search(line, server.get('/metrics').body.decode(), re.M)[1])

    def removed(self, server, reason):
        return self.metric(server, 'runs_removed_total', '{reason="%s"}' % reason)

    def upload(self, server, run, query=''):
        trace = kinetoscope.uploaded(server.put(run, NAME, content_of(run), query))[0]
        self.assertEqual(server.get('/api/v1/traces/%d/raw' % trace['id']).body, content_of(run))

    def pin(self, server, run, pinned=True):
        answer = server.ask('PATCH', '/api/v1/runs/' + run, json.dumps({'pinned': pinned}))
        self.assertEqual((answer.status, answer.json()['pinned']), (200, pinned))

    def age(self, **days):
        db = self.database()
        for run, count in days.items():
            db.execute('UPDATE upload SET uploaded_at_s = uploaded_at_s - ? WHERE run_id = (SELECT id FROM run WHERE name = ?)',
                       (count * DAY_S, run))
        db.commit()
        db.close()

    def check_database(self, runs):
        """Nothing of what went is left, when the server has ended."""
        db = self.database()
        self.assertEqual(db.execute('PRAGMA integrity_check').fetchall(), [('ok',)])
        self.assertEqual(db.execute('PRAGMA foreign_key_check').fetchall(), [])
        for table in ('run', 'upload', 'trace', 'results_file'):
            self.assertEqual(db.execute('SELECT count(*) FROM ' + table).fetchone()[0], len(runs), table)
        apart = {row[0] for row in db.execute('SELECT key FROM results_file WHERE bytes IS NULL')}
        db.close()
        raw = {path.parent.name + path.name for path in pathlib.Path(self.data_dir, 'raw').rglob('*') if path.is_file()}
        self.assertEqual(raw, {hashlib.sha256(content_of(run)).hexdigest() for run in runs})
        results = {path.parent.name + path.stem for path in pathlib.Path(self.data_dir, 'results').glob('*/*')}
        self.assertEqual(results, apart)

    def test_old_runs_go_unless_pinned(self):
        with self.server() as server:
            for run in ('young', 'old', 'older', 'kept'):
                self.upload(server, run)
            self.pin(server, 'kept')
            self.assertEqual({name: run['pinned'] for name, run in self.runs(server).items()},
                             {'young': False, 'old': False, 'older': False, 'kept': True})
        self.age(young=6, old=8, older=20, kept=400)
        with self.server() as server:
            self.assertEqual(len(self.runs(server)), 4)
            self.assertEqual(self.removed(server, 'age'), 0)
        with self.server('--retain-days', '7') as server:
            kinetoscope.until(lambda: self.removed(server, 'age') == 2, 'two runs are removed')
            self.assertEqual(set(self.runs(server)), {'young', 'kept'})
            log = server.log()
            for run in ('old', 'older'):
                self.assertRegex(log, r'info run removed run="%s" reason="age" size_bytes=%d\n' % (run, len(content_of(run))))
        self.check_database(['young', 'kept'])
        # A run is as old as its newest upload.
        with self.server() as server:
            self.pin(server, 'kept', False)
            kinetoscope.uploaded(server.put('kept', 'another.pt.trace.json', CONTENT))
        self.age(young=2)
        with self.server(env={'KINETOSCOPE_RETAIN_DAYS': '7'}) as server:
            kinetoscope.until(lambda: self.removed(server, 'age') == 1, 'the run that has grown old is removed')
            self.assertEqual(set(self.runs(server)), {'kept'})

    def sizes(self):
        """What the empty store takes, and what it takes with each of two runs more."""
        with self.server() as server:
            empty = self.metric(server, 'used_bytes')
            self.upload(server, 'first')
            self.upload(server, 'second')
            two = self.metric(server, 'used_bytes')
            self.assertGreater(two - empty, len(content_of('first')) * 2)
        return empty, (two - empty) // 2

    def test_the_oldest_runs_of_a_full_store_go(self):
        empty, one = self.sizes()
        quota = empty + 3 * one + one // 2
        with self.server('--quota', str(quota)) as server:
            self.assertEqual(self.metric(server, 'quota_bytes'), quota)
            self.pin(server, 'first')
            names = ['first', 'second']
            gone = 0
            for run in ('third', 'fourth', 'fifth', 'sixth'):
                self.upload(server, run)
                names.append(run)
                if len(names) > 3:
                    del names[1]
                    gone += 1
                    kinetoscope.until(lambda: self.removed(server, 'quota') == gone, 'the oldest run is removed')
                self.assertEqual(set(self.runs(server)), set(names))
                self.assertLessEqual(self.metric(server, 'used_bytes'), quota)
        self.assertEqual(names, ['first', 'fifth', 'sixth'])
        self.check_database(names)

    def ask_without_body(self, server, path, length):
        """The head of the answer to an upload whose body waits for 100 Continue, and the problem in it."""
        with socket.create_connection(('127.0.0.1', server.port), timeout=kinetoscope.HANG_S) as connection:
            connection.sendall(('PUT %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n'
                                % (path, server.port, length)).encode())
            reply = connection.makefile('rb')
            status = int(reply.readline().split()[1])
            head = b''.join(iter(reply.readline, b'\r\n')).decode().lower()
            return status, json.loads(reply.read(int(re.search(r'content-length: (\d+)', head)[1])))

    def check_refused(self, server, run, words, query=''):
        status, problem = self.ask_without_body(server, kinetoscope.trace_path(run, NAME) + query, len(content_of(run)))
        self.assertEqual((status, problem['code']), (507, 'no_space'))
        for word in words:
            self.assertIn(word, problem['detail'])
        answer = server.put(run, NAME, content_of(run), query)
        self.assertEqual((answer.status, answer.type), (507, 'application/problem+json'))
        self.assertNotIn(run, self.runs(server))

    def test_when_nothing_may_go_nothing_comes(self):
        empty, one = self.sizes()
        with self.server('--quota', str(empty + 2 * one + one // 4)) as server:
            self.pin(server, 'first')
            self.pin(server, 'second')
            self.check_refused(server, 'third', ['--quota', 'pinned', 'delete', 'raised'])
            form = b'--b\r\nContent-Disposition: form-data; name="f"; filename="%s"\r\n\r\n%s\r\n--b--\r\n'
            answer = server.ask('POST', '/api/v1/runs/third/traces', form % (NAME.encode(), content_of('third')),
                                {'Content-Type': 'multipart/form-data; boundary=b'})
            self.assertEqual((answer.status, answer.json()['code']), (507, 'no_space'))
            self.assertEqual(list(pathlib.Path(self.data_dir, 'incoming').iterdir()), [])
            self.assertEqual(set(self.runs(server)), {'first', 'second'})
            self.assertEqual(self.removed(server, 'quota'), 0)
            # More of a run that is not pinned would have to push out that run itself.
            self.pin(server, 'second', False)
            answer = server.put('second', 'other.pt.trace.json', content_of('second, other'))
            self.assertEqual(answer.status, 507)
            self.upload(server, 'third')
            kinetoscope.until(lambda: self.removed(server, 'quota') == 1, 'the run that is not pinned makes room')
            self.assertEqual(set(self.runs(server)), {'first', 'third'})
        self.check_database(['first', 'third'])

    def test_each_project_has_its_own_quota(self):
        size = len(content_of('first'))
        with self.server('--project-quota', str(2 * size + size // 2)) as server:
            for run in ('a1', 'a2', 'a3'):
                self.upload(server, run, '?project=a')
            kinetoscope.until(lambda: self.removed(server, 'project quota') == 1, 'the oldest run of the project is removed')
            for run in ('b1', 'b2', 'none1', 'none2'):
                self.upload(server, run, '?project=b' if run[0] == 'b' else '')
            self.assertEqual(set(self.runs(server)), {'a2', 'a3', 'b1', 'b2', 'none1', 'none2'})
            self.pin(server, 'a2')
            self.pin(server, 'a3')
            self.check_refused(server, 'a4', ['--project-quota', '"a"', 'raised'], '?project=a')
            # A run that is there counts where it is, whatever is said.
            answer = server.put('a3', 'other.pt.trace.json', content_of('a3, other'))
            self.assertEqual(answer.status, 507)
            self.upload(server, 'b3', '?project=b')
            kinetoscope.until(lambda: self.removed(server, 'project quota') == 2, 'the other project goes on')
            self.assertEqual(set(self.runs(server)), {'a2', 'a3', 'b2', 'b3', 'none1', 'none2'})

    def test_who_may_pin_what(self):
        tokens = pathlib.Path(self.data_dir, 'tokens')
        tokens.write_text(''.join('%s %s %s\n' % (role, role, hashlib.sha256(role.encode()).hexdigest())
                                  for role in ('viewer', 'uploader')))

        def patch(path, body, role='uploader'):
            return server.ask('PATCH', path, json.dumps(body), {'Authorization': 'Bearer ' + role})

        with kinetoscope.Server('--token-file', str(tokens)) as server:
            headers = {'Authorization': 'Bearer uploader'}
            trace = kinetoscope.uploaded(server.put('r', NAME, CONTENT, headers=headers))[0]
            self.assertEqual(patch('/api/v1/runs/r', {'pinned': True}, 'viewer').status, 403)
            answer = patch('/api/v1/runs/r', {'pinned': True, 'note': 'n'}).json()
            self.assertEqual((answer['pinned'], answer['note']), (True, 'n'))
            self.assertEqual(patch('/api/v1/runs/r', {'tags': []}).json()['pinned'], True)
            self.assertEqual(patch('/api/v1/runs/r', {'pinned': False}).json()['pinned'], False)
            for body in ({'pinned': 1}, {'pinned': None}, {'pinned': 'true'}):
                self.assertEqual(patch('/api/v1/runs/r', body).status, 400, body)
            self.assertEqual(patch('/api/v1/runs/absent', {'pinned': True}).status, 404)
            answer = patch('/api/v1/traces/%d' % trace['id'], {'pinned': True})
            self.assertEqual(answer.status, 400)
            self.assertIn('only "tags", "note" can', answer.json()['detail'])


kinetoscope.main()
