#!/usr/bin/env python3
"""Databases of earlier schemas, as fixtures/schema_N.sql keeps them: today's program opens them with all they hold, also
when it is killed at any call of the disk while it migrates."""
import hashlib
import os
import pathlib
import random
import re
import shutil
import sqlite3
import tempfile
import time
import unittest

import faults
import kinetoscope

SCHEMAS = sorted(kinetoscope.FIXTURES.glob('schema_*.sql'))
VIEWS = ('overview', 'steps', 'operators', 'kernels')
KILLS_A_SCHEMA = int(os.environ.get('KINETOSCOPE_MIGRATION_KILLS', '3'))
CALLS_OF_A_MIGRATION = 50  # of the disk, about
TRACE_ID = 1
# Figures of operators that earlier programs made by other rules: they took calls away by ids, and melted an operator with its
# only child of the same name.
BY_OTHER_RULES = dict.fromkeys(('calls', 'share', 'host_total_ns', 'host_self_ns', 'host_mean_ns', 'host_min_ns', 'host_max_ns',
                                'host_p50_ns', 'host_p95_ns', 'host_p99_ns'))


class Migrations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.name, cls.content = kinetoscope.fixture('cpu_only')
        cls.sha256 = hashlib.sha256(cls.content).hexdigest()

    def setUp(self):
        self.data_dir = tempfile.mkdtemp(prefix='kinetoscope-old-')

    def tearDown(self):
        shutil.rmtree(self.data_dir, ignore_errors=True)

    def database(self):
        return sqlite3.connect(os.path.join(self.data_dir, 'kinetoscope.db'), timeout=60)

    def go_back(self, schema):
        shutil.rmtree(self.data_dir)
        raw = pathlib.Path(self.data_dir, 'raw', self.sha256[:2], self.sha256[2:])
        raw.parent.mkdir(parents=True)
        raw.write_bytes(self.content)
        db = self.database()
        db.executescript(schema.read_text())
        self.assertEqual(db.execute('PRAGMA user_version').fetchone()[0], int(re.search(r'\d+', schema.name)[0]))
        # Else a server that is killed after it has failed leaves it to the next one as so old a failure that nobody asks.
        db.execute('UPDATE job SET received_at_s = ? WHERE id = 3', (int(time.time()),))
        db.commit()
        db.close()

    def check(self, server):
        run = server.get('/api/v1/runs/old%20run').json()
        self.assertEqual((run['note'], run['tags']), ('a note', ['kept']))
        old = server.get('/api/v1/traces/%d' % TRACE_ID).json()
        self.assertEqual((old['file_name'], old['sha256']), (self.name, self.sha256))
        self.assertEqual(server.get('/api/v1/traces/%d/raw' % TRACE_ID).body, self.content)
        # The same bytes, read by the program of today; the schemas are so much alike that the figures are, too.
        new = kinetoscope.uploaded(server.put('new run', self.name, self.content))[0]
        for view in VIEWS:
            told = [server.get('/api/v1/traces/%d/%s' % (id, view)) for id in (TRACE_ID, new['id'])]
            self.assertEqual([answer.status for answer in told], [200, 200])
            self.assertEqual(len(told[0].json()), len(told[1].json()))
        for view in ('operators', 'kernels'):
            told = [server.get('/api/v1/traces/%d/%s' % (id, view), sort='name').json()['rows'] for id in (TRACE_ID, new['id'])]
            for old_row, new_row in zip(*told, strict=True):
                self.assertEqual({**old_row, **BY_OTHER_RULES}, {**new_row, **BY_OTHER_RULES})
        old_cycles, new_cycles = [server.get('/api/v1/traces/%d/cycles' % id).json()['rows'] for id in (TRACE_ID, new['id'])]
        self.assertIn(old_cycles, ([], new_cycles))  # schema 1 knew none
        self.check_jobs(server)
        self.check_database()

    def check_jobs(self, server):
        """Of the fixtures: 1 is done, 2 waits, 3 has lost its bytes, 4 has failed so long ago that nobody asks."""
        waiting = server.get('/api/v1/jobs/2', wait=60).json()
        for _ in range(600):
            if waiting['state'] in ('done', 'failed'):
                break
            waiting = server.get('/api/v1/jobs/2', wait=60).json()
        states = [server.get('/api/v1/jobs/%d' % id).json() for id in (1, 2, 3)]
        self.assertEqual([job['state'] for job in states], ['done', 'done', 'failed'])
        self.assertIn('upload the file again', states[2]['error']['detail'])
        self.assertEqual(server.get('/api/v1/jobs/4').status, 404)

    def check_database(self):
        db = self.database()
        self.assertEqual(db.execute('PRAGMA integrity_check').fetchall(), [('ok',)])
        self.assertEqual(db.execute('PRAGMA foreign_key_check').fetchall(), [])
        newest = len(list((kinetoscope.ROOT / 'ingest/store/migrations').glob('*.sql')))
        self.assertEqual(db.execute('PRAGMA user_version').fetchone()[0], newest)
        db.close()

    def test_every_earlier_schema_has_its_fixture(self):
        newest = len(list((kinetoscope.ROOT / 'ingest/store/migrations').glob('*.sql')))
        self.assertEqual([p.name for p in SCHEMAS], ['schema_%d.sql' % n for n in range(1, newest)])

    def test_all_it_held_is_there(self):
        for schema in SCHEMAS:
            with self.subTest(schema=schema.name):
                self.go_back(schema)
                with kinetoscope.Server(data_dir=self.data_dir) as server:
                    self.check(server)

    def start_to_be_killed(self, wheel):
        try:
            with kinetoscope.Server(data_dir=self.data_dir, env=wheel.env):
                wheel.end()
        except AssertionError as error:
            self.assertIn('ended with -9', str(error))

    @unittest.skipUnless(os.path.exists(faults.LIBRARY), 'no library that makes faults of a disk')
    def test_killed_while_migrating(self):
        seed = random.SystemRandom().randrange(1 << 30)
        print('seed %d' % seed, flush=True)
        dice = random.Random(seed)
        killed = 0
        for schema in SCHEMAS:
            self.go_back(schema)
            wheel = faults.Faults(self.data_dir)
            for _ in range(KILLS_A_SCHEMA):
                self.go_back(schema)
                wheel.begin(faults.KILL, faults.ALL, dice.randrange(CALLS_OF_A_MIGRATION))
                self.start_to_be_killed(wheel)
                killed += wheel.end() > 0
                with self.subTest(schema=schema.name, killed=killed), kinetoscope.Server(data_dir=self.data_dir) as server:
                    self.check(server)
            wheel.close()
        self.assertGreater(killed, 0)


kinetoscope.main()
