#!/usr/bin/env python3
"""Databases of older versions, as fixtures/schema_N.sql keeps them: today's program takes them over with all they hold, also
when it is killed at any call of the disk meanwhile."""
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
KILLS_A_SCHEMA = int(os.environ.get('KINETOSCOPE_TAKEOVER_KILLS', '3'))
CALLS_OF_A_TAKEOVER = 50  # of the disk, about
TRACE_ID = 1



class Takeover(unittest.TestCase):
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

    def settled(self, server):
        """Waits until the uploads have been analysed again."""
        for _ in range(600):
            if server.get('/api/v1/jobs/1').json()['state'] in ('done', 'failed'):
                return
            time.sleep(0.1)

    def check(self, server):
        self.settled(server)
        run = server.get('/api/v1/runs/old%20run').json()
        self.assertEqual((run['note'], run['tags']), ('a note', ['kept']))
        old = server.get('/api/v1/traces/%d' % TRACE_ID).json()
        self.assertEqual((old['file_name'], old['sha256']), (self.name, self.sha256))
        self.assertEqual(server.get('/api/v1/traces/%d/raw' % TRACE_ID).body, self.content)
        # The same bytes: analysed again, the old trace says what a new one says.
        new = kinetoscope.uploaded(server.put('new run', self.name, self.content))[0]
        for view in VIEWS:
            told = [server.get('/api/v1/traces/%d/%s' % (id, view)) for id in (TRACE_ID, new['id'])]
            self.assertEqual([answer.status for answer in told], [200, 200])
            old_answer, new_answer = [{**answer.json(), 'trace': None, 'id': None} if isinstance(answer.json(), dict) else answer.json() for answer in told]
            self.assertEqual(old_answer, new_answer)
        self.check_jobs(server)
        self.check_database()
        return new

    def check_jobs(self, server):
        """Of the fixtures: 1 is done, 2 waits, 3 has lost its bytes, 4 has failed so long ago that nobody asks."""
        waiting = server.get('/api/v1/jobs/2').json()
        for _ in range(600):
            if waiting['state'] in ('done', 'failed'):
                break
            time.sleep(0.05)
            waiting = server.get('/api/v1/jobs/2').json()
        states = [server.get('/api/v1/jobs/%d' % id).json() for id in (1, 2, 3)]
        self.assertEqual([job['state'] for job in states], ['done', 'done', 'failed'])
        self.assertIn('upload the file again', states[2]['error']['detail'])
        self.assertEqual(server.get('/api/v1/jobs/4').status, 404)

    def check_database(self):
        db = self.database()
        self.assertEqual(db.execute('PRAGMA integrity_check').fetchall(), [('ok',)])
        self.assertEqual(db.execute('PRAGMA foreign_key_check').fetchall(), [])
        self.assertEqual(db.execute('SELECT count(*) FROM taken_over').fetchone(), (0,))
        db.close()
        self.assertEqual(len([name for name in os.listdir(self.data_dir) if re.match(r'kinetoscope-schema-\d+\.db$', name)]), 1)

    def test_all_it_held_is_there(self):
        for schema in SCHEMAS:
            with self.subTest(schema=schema.name):
                self.go_back(schema)
                with kinetoscope.Server(data_dir=self.data_dir) as server:
                    self.check(server)

    def test_notes_ids_and_comparisons_stay(self):
        self.go_back(SCHEMAS[-1])
        with kinetoscope.Server(data_dir=self.data_dir) as server:
            new = self.check(server)
            self.assertGreater(new['id'], 12)  # what the old database gave last
            old = server.get('/api/v1/traces/%d' % TRACE_ID).json()
            self.assertEqual((old['note'], old['tags']), ('of the trace', ['old']))
            self.assertEqual(server.get('/api/v1/comparisons/3').json()['id'], 3)

    def test_bytes_that_were_not_kept(self):
        self.go_back(SCHEMAS[-1])
        shutil.rmtree(os.path.join(self.data_dir, 'raw'))
        with kinetoscope.Server(data_dir=self.data_dir) as server:
            job = server.get('/api/v1/jobs/1').json()
            self.assertEqual(job['state'], 'failed')
            self.assertIn('kinetoscope-schema-8.db', job['error']['detail'])
        with sqlite3.connect(os.path.join(self.data_dir, 'kinetoscope-schema-8.db')) as db:
            self.assertEqual(db.execute('SELECT count(*) FROM trace').fetchone(), (1,))

    def start_to_be_killed(self, wheel):
        try:
            with kinetoscope.Server(data_dir=self.data_dir, env=wheel.env):
                wheel.end()
        except AssertionError as error:
            self.assertIn('ended with -9', str(error))

    @unittest.skipUnless(os.path.exists(faults.LIBRARY), 'no library that makes faults of a disk')
    def test_killed_meanwhile(self):
        seed = random.SystemRandom().randrange(1 << 30)
        print('seed %d' % seed, flush=True)
        dice = random.Random(seed)
        killed = 0
        for schema in SCHEMAS:
            self.go_back(schema)
            wheel = faults.Faults(self.data_dir)
            for _ in range(KILLS_A_SCHEMA):
                self.go_back(schema)
                wheel.begin(faults.KILL, faults.ALL, dice.randrange(CALLS_OF_A_TAKEOVER))
                self.start_to_be_killed(wheel)
                killed += wheel.end() > 0
                with self.subTest(schema=schema.name, killed=killed), kinetoscope.Server(data_dir=self.data_dir) as server:
                    self.check(server)
            wheel.close()
        self.assertGreater(killed, 0)


kinetoscope.main()
