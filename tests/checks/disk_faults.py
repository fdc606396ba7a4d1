#!/usr/bin/env python3
"""A disk that is full, read-only, or fails to write: a clear error for who is concerned, reading goes on, nothing that was
acknowledged is lost, and when the disk is well again so is the server, without a restart."""
import errno
import hashlib
import json
import pathlib
import shutil
import tempfile
import time
import unittest

import crash
import faults
import kinetoscope
import objects

# errno, calls that fail with it, what a client may be told
FAULTS = {
    'full': (errno.ENOSPC, faults.WRITE | faults.OPEN | faults.TRUNCATE, (507,)),
    'over quota': (errno.EDQUOT, faults.WRITE | faults.OPEN | faults.TRUNCATE, (507,)),
    'read-only': (errno.EROFS, faults.WRITE | faults.OPEN | faults.TRUNCATE | faults.NAME, (500, 503)),
    'failing syncs': (errno.EIO, faults.SYNC, (500, 503)),
    'failing writes': (errno.EIO, faults.WRITE, (500, 503)),
    'failing names': (errno.EIO, faults.NAME, (500, 503)),
}
BEGINNINGS = (0, 1, 3, 8, 21, 55, 144)  # calls before the fault
IN_A_JOB = range(28, 76, 3)             # so many, some faults strike between the answer and the end of a small job


class DiskFaults(unittest.TestCase):
    def setUp(self):
        self.data_dir = tempfile.mkdtemp(prefix='kinetoscope-disk-')
        self.faults = faults.Faults(self.data_dir)
        self.name, self.content = kinetoscope.fixture('cpu_only')
        self.acknowledged = {}
        self.number = 0

    def tearDown(self):
        self.faults.close()
        shutil.rmtree(self.data_dir, ignore_errors=True)

    def server(self):
        self.faults.end()
        return kinetoscope.Server(data_dir=self.data_dir, env=self.faults.env)

    def upload(self, server):
        """Bytes that were never there before, so that all of it has to be written."""
        self.number += 1
        content = kinetoscope.fixture_json('cuda_training') + b' ' * self.number
        name = 'file%d.json' % self.number
        return name, content, server.put('run', name, content)

    def acknowledge(self, name, content, answer):
        self.acknowledged[kinetoscope.uploaded(answer)[0]['id']] = hashlib.sha256(content).hexdigest()

    def problem(self, answer, statuses):
        self.assertIn(answer.status, statuses, answer.body[:400])
        self.assertEqual(answer.type, 'application/problem+json')
        self.assertTrue(answer.json()['detail'])

    def check_reading(self, server):
        self.assertEqual(server.get('/healthz').status, 200)
        self.assertEqual(server.get('/api/v1/runs').status, 200)
        self.assertEqual(server.get('/api/v1/traces/%d/operators' % self.kept).status, 200)
        self.assertEqual(server.get('/api/v1/traces/%d/raw' % self.kept).body, self.content)

    def keep_one(self, server):
        answer = server.put('kept', self.name, self.content)
        self.kept = kinetoscope.uploaded(answer)[0]['id']
        self.acknowledge(self.name, self.content, answer)

    def check_all(self, server):
        for id, sha256 in self.acknowledged.items():
            raw = server.get('/api/v1/traces/%d/raw' % id)
            self.assertEqual((raw.status, hashlib.sha256(raw.body).hexdigest()), (200, sha256), id)
            self.assertEqual(server.get('/api/v1/traces/%d/operators' % id).status, 200)

    def after(self, server):
        """The disk is well: everything works at once."""
        self.faults.end()
        self.acknowledge(*self.upload(server))
        self.check_reading(server)
        self.check_all(server)

    def after_restart(self):
        with self.server() as server:
            crash.check_clean(self.data_dir)
            self.check_all(server)

    def test_uploads(self):
        for fault, (number, kinds, statuses) in FAULTS.items():
            with self.server() as server:
                self.keep_one(server)
                for wait in BEGINNINGS:
                    with self.subTest(fault=fault, wait=wait):
                        self.faults.begin(number, kinds, wait)
                        name, content, answer = self.upload(server)
                        if answer.status == 201:
                            self.acknowledge(name, content, answer)
                        else:
                            self.problem(answer, statuses)
                        self.assertTrue(answer.status != 201 or wait > 0)
                        self.check_reading(server)
                        self.after(server)
                        again = server.put('run', name, content)
                        self.acknowledge(name, content, again)
            self.after_restart()

    def test_deletions(self):
        for fault, (number, kinds, statuses) in FAULTS.items():
            with self.server() as server:
                self.keep_one(server)
                for wait in BEGINNINGS[:4]:
                    with self.subTest(fault=fault, wait=wait):
                        victim = kinetoscope.uploaded(self.upload(server)[2])[0]['id']
                        self.faults.begin(number, kinds, wait)
                        answer = server.ask('DELETE', '/api/v1/traces/%d' % victim)
                        self.check_reading(server)
                        self.faults.end()
                        if answer.status == 204:
                            self.assertEqual(server.get('/api/v1/traces/%d' % victim).status, 404)
                        else:
                            self.problem(answer, statuses)
                            self.assertEqual(server.get('/api/v1/traces/%d/operators' % victim).status, 200)
                            self.assertEqual(server.ask('DELETE', '/api/v1/traces/%d' % victim).status, 204)
                        self.after(server)
            self.after_restart()

    def test_notes(self):
        for fault, (number, kinds, statuses) in FAULTS.items():
            if kinds & (faults.WRITE | faults.SYNC) == 0:
                continue
            with self.subTest(fault=fault), self.server() as server:
                self.keep_one(server)
                path = '/api/v1/traces/%d' % self.kept
                note = [json.dumps({'note': text}) for text in ('before', 'lost', 'after')]
                json_type = {'Content-Type': 'application/json'}
                self.assertEqual(server.ask('PATCH', path, note[0], json_type).status, 200)
                self.faults.begin(number, kinds)
                self.problem(server.ask('PATCH', path, note[1], json_type), statuses)
                self.assertEqual(server.get(path).json()['note'], 'before')
                self.faults.end()
                self.assertEqual(server.ask('PATCH', path, note[2], json_type).status, 200)
                self.assertEqual(server.get(path).json()['note'], 'after')

    def state_of(self, id):
        db = crash.look(self.data_dir)
        try:
            return db.execute('SELECT state FROM job WHERE id = ?', (id,)).fetchone()[0]
        finally:
            db.close()

    def settled(self, server, id):
        """What the server says of a job when it has ended; None while it has not, at the end of all patience."""
        end = time.monotonic() + kinetoscope.HANG_S
        while time.monotonic() < end:
            job = server.get('/api/v1/jobs/%d' % id).json()
            if job['state'] in ('done', 'failed'):
                return job
            time.sleep(0.02)
        return None

    def failed_in_the_dark(self, server, number, kinds, wait):
        """The id of a job that failed while the store could not note it; None where the fault struck elsewhere."""
        self.number += 1
        content = kinetoscope.fixture_json('cuda_training') + b' ' * self.number
        self.faults.begin(number, kinds, wait)
        answer = server.put('dark', 'file%d.json' % self.number, content, headers={'Prefer': 'respond-async'})
        if answer.status != 202:
            return None
        id = answer.json()['id']
        job = self.settled(server, id)
        return id if job['state'] == 'failed' and self.state_of(id) != 'failed' else None

    def test_a_failure_is_noted_when_there_is_room_again(self):
        number, kinds, _ = FAULTS['full']
        with self.server() as server:
            self.keep_one(server)
            noted = []
            for wait in (*BEGINNINGS, *IN_A_JOB):
                id = self.failed_in_the_dark(server, number, kinds, wait)
                self.faults.end()
                if id is not None:
                    noted.append(id)
                    end = time.monotonic() + kinetoscope.HANG_S
                    while self.state_of(id) != 'failed' and time.monotonic() < end:
                        time.sleep(0.05)
                    self.assertEqual(self.state_of(id), 'failed')
                    self.assertEqual(server.get('/api/v1/jobs/%d' % id).json()['error']['status'], 507)
                if len(noted) == 3:
                    break
            self.assertTrue(noted, 'no fault struck between the answer and the end of a job')
            self.check_reading(server)
        with self.server() as server:
            for id in noted:
                self.assertEqual(server.get('/api/v1/jobs/%d' % id).json()['state'], 'failed')
        self.after_restart()

    def test_a_start_on_a_bad_disk_is_refused_and_harms_nothing(self):
        with self.server() as server:
            self.keep_one(server)
        for fault, (number, kinds, _) in FAULTS.items():
            with self.subTest(fault=fault):
                self.faults.begin(number, kinds)
                try:
                    with kinetoscope.Server(data_dir=self.data_dir, env=self.faults.env) as server:
                        self.check_reading(server)
                        self.faults.end()
                except AssertionError as error:
                    self.assertIn('ended with 1', str(error))
                    self.assertIn(self.data_dir, str(error))
                self.faults.end()
                self.after_restart()


class Cache(unittest.TestCase):
    """Results that are objects, on a server whose cache of them has no room."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='kinetoscope-cache-'))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.faults = faults.Faults(self.folder / 'data/incoming')
        self.addCleanup(self.faults.close)

    def serve(self):
        return kinetoscope.Server('--objects-url', 'file://%s/place' % self.folder, data_dir=str(self.folder / 'data'), env=self.faults.env)

    def files(self):
        return list((self.folder / 'data/results').rglob('*.db'))

    def test_results_are_read_by_ranges(self):
        asked = ['/api/v1/traces/1/' + what for what in ('overview', 'operators', 'timeline/tracks', 'search?q=aten', 'trace.json.gz')]
        with self.serve() as server:
            self.assertEqual(server.put('run', 'a.json', objects.large_trace(1)).status, 201)
            before = [server.get(path).body.replace(b':%d/' % server.port, b':PORT/') for path in asked]
        for full in (True, False):
            shutil.rmtree(self.folder / 'data/results', ignore_errors=True)
            with self.serve() as server:
                if full:
                    self.faults.begin(errno.ENOSPC, faults.WRITE | faults.OPEN | faults.TRUNCATE)
                answers = [server.get(path) for path in asked]
                self.faults.end()
                self.assertEqual([answer.status for answer in answers], [200] * len(asked))
                self.assertEqual([answer.body.replace(b':%d/' % server.port, b':PORT/') for answer in answers], before)
                self.assertEqual(('read by ranges' in server.log(), self.files() == []), (full, full))


faults.need_library()
kinetoscope.main()
