#!/usr/bin/env python3
"""Backup and restore: everything there and back, while uploads and deletions go on; and what is refused."""
import hashlib
import io
import os
import pathlib
import sqlite3
import tarfile
import tempfile
import threading
import unittest

import kinetoscope
from kinetoscope import run_program

CASES = ('cuda_training', 'cpu_only', 'rocm', 'nccl_two_workers')
VIEWS = ('overview', 'steps', 'operators', 'kernels')
BACKUPS_UNDER_LOAD = 4


class Traffic(threading.Thread):
    """Uploads that stay, uploads that go again."""

    def __init__(self, server):
        super().__init__()
        self.server, self.stop, self.kept, self.fault = server, threading.Event(), {}, None

    def one(self, turn):
        name = kinetoscope.fixture(CASES[turn % len(CASES)])[0]
        # Blanks behind a document make other bytes of it.
        content = kinetoscope.fixture_json(CASES[turn % len(CASES)]) + b' ' * turn
        going = kinetoscope.uploaded(self.server.put('going', name, content))[0]
        if self.server.ask('DELETE', '/api/v1/traces/%d' % going['id']).status != 204:
            raise AssertionError('not deleted')
        content += b'\n'
        self.kept[kinetoscope.uploaded(self.server.put('kept', '%d-%s' % (turn, name), content))[0]['id']] = hashlib.sha256(content).hexdigest()

    def run(self):
        turn = 1
        try:
            while not self.stop.is_set():
                self.one(turn)
                turn += 1
        except Exception as error:  # told by the main thread
            self.fault = error


class Backup(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = self.path('all.tar')
        self.data = self.path('data')
        self.back = self.path('back')

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_in(self, *arguments, code=0):
        done = run_program(*arguments)
        self.assertEqual(done.returncode, code, done.stderr[-2000:])
        return done

    def fill(self):
        files = [kinetoscope.FIXTURES / case / kinetoscope.fixture(case)[0] for case in CASES]
        self.run_in('ingest', '--data-dir', self.data, *files)

    def check_database(self, data_dir):
        db = sqlite3.connect(os.path.join(data_dir, 'kinetoscope.db'))
        self.assertEqual(db.execute('PRAGMA integrity_check').fetchall(), [('ok',)])
        self.assertEqual(db.execute('PRAGMA foreign_key_check').fetchall(), [])
        db.close()

    def all_of(self, data_dir):
        """Everything that a server tells of a data directory."""
        with kinetoscope.Server(data_dir=data_dir) as server:
            told = {}
            for run in server.get('/api/v1/runs').json()['runs']:
                for trace in server.get('/api/v1/runs/' + run['name']).json()['trace_list']:
                    trace.pop('url')
                    raw = server.get('/api/v1/traces/%d/raw' % trace['id'])
                    self.assertEqual(raw.status, 200)
                    self.assertEqual(hashlib.sha256(raw.body).hexdigest(), trace['sha256'])
                    told[trace['id']] = [trace] + [server.get('/api/v1/traces/%d/%s' % (trace['id'], view)).json() for view in VIEWS]
                    for view in told[trace['id']]:
                        view.pop('trace', None)  # again with an address of this server
            return told

    def test_there_and_back(self):
        self.fill()
        self.run_in('backup', '--data-dir', self.data, self.file)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ['all.tar', 'data'], 'nothing is left beside it')
        with tarfile.open(self.file) as tar:
            self.assertEqual(len([n for n in tar.getnames() if n.startswith('raw/')]), len(CASES))
        self.run_in('restore', '--data-dir', self.back, self.file)
        self.check_database(self.back)
        there = self.all_of(self.data)
        self.assertEqual(len(there), len(CASES))
        self.assertEqual(self.all_of(self.back), there)

    def test_standard_output(self):
        self.fill()
        done = self.run_in('backup', '--data-dir', self.data, '-')
        pathlib.Path(self.file).write_bytes(done.stdout)
        os.mkdir(self.back)
        self.run_in('restore', '--data-dir', self.back, self.file)
        self.check_database(self.back)

    def test_while_uploads_and_deletions_go_on(self):
        with kinetoscope.Server(data_dir=self.data) as server:
            traffic = Traffic(server)
            traffic.start()
            try:
                known = []
                for number in range(BACKUPS_UNDER_LOAD):
                    known.append(dict(traffic.kept))
                    self.run_in('backup', '--data-dir', self.data, '%s.%d' % (self.file, number))
            finally:
                traffic.stop.set()
                traffic.join()
            self.assertIsNone(traffic.fault)
        for number, before in enumerate(known):
            back = '%s.%d' % (self.back, number)
            self.run_in('restore', '--data-dir', back, '%s.%d' % (self.file, number))
            self.check_database(back)
            told = self.all_of(back)  # every blob of every trace is there
            for id, sha256 in before.items():
                self.assertEqual(told[id][0]['sha256'], sha256)

    def test_uploads_that_are_not_kept(self):
        self.run_in('ingest', '--data-dir', self.data, '--retain-raw', 'no', '--run', 'r',
                    kinetoscope.FIXTURES / 'rocm' / kinetoscope.fixture('rocm')[0])
        self.run_in('backup', '--data-dir', self.data, self.file)
        self.run_in('restore', '--data-dir', self.back, self.file)
        with kinetoscope.Server(data_dir=self.back) as server:
            self.assertEqual(server.get('/api/v1/traces/1/operators').status, 200)
            self.assertEqual(server.get('/api/v1/traces/1/raw').status, 410)

    def test_refused(self):
        self.fill()
        self.assertIn(b'--data-dir', self.run_in('backup', '--data-dir', self.path('nowhere'), self.file, code=1).stderr)
        self.run_in('backup', '--data-dir', self.data, self.path('no such folder/x'), code=1)
        self.run_in('backup', '--data-dir', self.data, self.file)
        self.assertIn(b'not empty', self.run_in('restore', '--data-dir', self.data, self.file, code=1).stderr)
        for arguments in (['backup'], ['restore'], ['backup', 'a', 'b'], ['restore', '--listen', 'x', 'a']):
            self.run_in(*arguments, code=2)
        self.run_in('restore', '--data-dir', self.back, self.path('no such file'), code=1)
        self.assertFalse(os.path.exists(self.back))

    def test_damaged_backups_leave_nothing(self):
        self.fill()
        self.run_in('backup', '--data-dir', self.data, self.file)
        whole = pathlib.Path(self.file).read_bytes()
        bad = self.path('bad.tar')
        with tarfile.open(self.file) as tar:
            members = {m.name: m for m in tar.getmembers()}
        raw = next(m for name, m in members.items() if name.startswith('raw/'))
        database = members['kinetoscope.db']
        damages = {'cut in a file': whole[:raw.offset_data + 10], 'cut before the end mark': whole[:-1024], 'empty': b'',
                   'no tar': b'x' * 5000}
        for name, at in (('raw byte', raw.offset_data + 3), ('header', raw.offset + 5)):
            damages[name] = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:]
        pages = bytes(database.size - 8192)
        damages['pages'] = whole[:database.offset_data + 8192] + pages + whole[database.offset_data + database.size:]
        stranger = io.BytesIO()
        with tarfile.open(fileobj=stranger, mode='w') as tar:
            info = tarfile.TarInfo('../../etc/passwd')
            info.size = 1
            tar.addfile(info, io.BytesIO(b'x'))
        damages['another archive'] = stranger.getvalue()
        for name, content in damages.items():
            with self.subTest(damage=name):
                pathlib.Path(bad).write_bytes(content)
                self.assertTrue(self.run_in('restore', '--data-dir', self.back, bad, code=1).stderr.strip())
                self.assertFalse(os.path.exists(self.back))

    def test_a_damaged_upload_is_told(self):
        self.fill()
        victim = next(pathlib.Path(self.data, 'raw').glob('*/*'))
        content = bytearray(victim.read_bytes())
        content[10] ^= 1
        victim.write_bytes(bytes(content))
        self.assertIn(victim.name.encode(), self.run_in('backup', '--data-dir', self.data, self.file, code=1).stderr)
        self.assertFalse(os.path.exists(self.file))


kinetoscope.main()
