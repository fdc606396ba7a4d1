#!/usr/bin/env python3
"""Databases of older versions, as fixtures/schema_N.sql keeps them: today's program takes them over with all they hold, also
when it is killed at any call of the disk meanwhile. And stored uploads of today's, analysed again while the server runs."""
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import tempfile
import threading
import time
import unittest

import faults
import kinetoscope

SCHEMAS = sorted(kinetoscope.FIXTURES.glob('schema_[0-9]*.sql'))
VIEWS = ('overview', 'steps', 'operators', 'kernels')
KILLS_A_SCHEMA = int(os.environ.get('KINETOSCOPE_TAKEOVER_KILLS', '3'))
CALLS_OF_A_TAKEOVER = 50  # of the disk, about
TRACE_ID = 1
CASES = ('cuda_training', 'cpu_only')
PATH = '/api/v1/reanalyse'
TYPE = {'Content-Type': 'application/json'}


def threads_behind(pid):
    """How many threads of a process have a lower priority than this one."""
    behind = 0
    for stat in pathlib.Path('/proc/%d/task' % pid).glob('*/stat'):
        try:
            behind += int(stat.read_text().rpartition(')')[2].split()[16]) > os.nice(0)
        except OSError:  # it has ended
            pass
    return behind


class Watched:
    """Calls `look` all the time while its block runs; `seen` has what it said."""

    def __init__(self, look):
        self.look, self.seen, self.ends = look, [], threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.ends.is_set() or not self.seen:
            self.seen.append(self.look())
            time.sleep(0.002)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *failure):
        self.ends.set()
        self.thread.join()


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
        kinetoscope.until(lambda: server.get('/api/v1/jobs/1').json()['state'] in ('done', 'failed'), 'the upload is analysed again', 60)

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
        kinetoscope.until(lambda: server.get('/api/v1/jobs/2').json()['state'] in ('done', 'failed'), 'what waits is read', 60)
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


def answers(server, trace):
    bodies = [server.get('/api/v1/traces/%d%s' % (trace, view)).body.decode() for view in ('', *('/' + view for view in VIEWS))]
    return [json.loads(body.replace(server.url, '')) for body in bodies]


class Reanalyse(unittest.TestCase):
    """What is stored already is analysed again: on request, by command, and where a file of results is lost."""

    def ask(self, server, body, status=202):
        answer = server.ask('POST', PATH, json.dumps(body).encode(), TYPE)
        self.assertEqual(answer.status, status, answer.body)
        return answer.json()

    def fill(self, server):
        """Uploads of a run each, whose traces have a note and a tag."""
        self.traces = []
        for case in CASES:
            trace = kinetoscope.uploaded(server.put(case, *kinetoscope.fixture(case)))[0]['id']
            body = json.dumps({'note': 'of ' + case, 'tags': ['kept']}).encode()
            self.assertEqual(server.ask('PATCH', '/api/v1/traces/%d' % trace, body, TYPE).status, 200)
            self.traces.append(trace)

    def settled(self, server):
        kinetoscope.until(lambda: {server.get('/api/v1/jobs/%d' % job).json()['state'] for job in range(1, len(CASES) + 1)} == {'done'}, 'all are analysed', 60)

    def done(self, server, wanted):
        """How many analyses have ended; waits for those that are wanted."""
        for _ in range(1200):
            text = server.get('/metrics').body.decode()
            found, = re.findall(r'(?m)^kinetoscope_jobs_finished_total\{state="done"\} (\d+)$', text)
            if int(found) >= wanted:
                break
            time.sleep(0.05)
        return int(found)

    def test_everything_a_run_or_traces(self):
        with kinetoscope.Server() as server:
            self.fill(server)
            before = [answers(server, trace) for trace in self.traces]
            ended = len(CASES)
            for body, queued in (({}, 2), ({'run': CASES[0]}, 1), ({'traces': self.traces}, 2), ({'traces': [self.traces[1]] * 2}, 1)):
                self.assertEqual(self.ask(server, body), {'queued': queued, 'left': 0})
                self.settled(server)
                ended += queued
                self.assertEqual(self.done(server, ended), ended)
                self.assertEqual([answers(server, trace) for trace in self.traces], before)
            self.assertEqual([(trace[0]['note'], trace[0]['tags']) for trace in before], [('of ' + case, ['kept']) for case in CASES])
            self.assertEqual(server.get('/api/v1/traces').json()['total'], 2)

    def test_what_waits_is_not_queued_twice(self):
        with kinetoscope.Server('--ingest-workers', '1') as server:
            self.fill(server)
            queued = sum(self.ask(server, {})['queued'] for _ in range(20))
            self.settled(server)
            self.assertEqual(self.done(server, len(CASES) + queued), len(CASES) + queued)
            self.assertLess(queued, 40)
            self.assertEqual(server.get('/api/v1/traces').json()['total'], 2)

    def test_what_is_refused(self):
        with kinetoscope.Server() as server:
            self.fill(server)
            for body in ([], {'runs': 'x'}, {'run': 1}, {'run': CASES[0], 'traces': [1]}, {'traces': []}, {'traces': ['1']}, {'traces': 1}):
                self.ask(server, body, 400)
            for body in ({'run': 'nowhere'}, {'traces': [self.traces[0], 999]}):
                self.ask(server, body, 404)
            self.assertEqual(server.get(PATH).status, 405)

    def test_for_admins(self):
        with kinetoscope.Server('--allow-anonymous') as server:
            made = {}
            for role in ('uploader', 'admin'):
                made[role] = kinetoscope.run_program('token', 'add', role, '--role', role, '--data-dir', server.data_dir).stdout.decode().strip()
            kinetoscope.until(lambda: server.ask('POST', PATH, b'{}', TYPE).status != 202, 'the tokens are seen', 20)
            status = {role: server.ask('POST', PATH, b'{}', {**TYPE, 'Authorization': 'Bearer ' + made[role]}).status for role in made}
            self.assertEqual(status, {'uploader': 403, 'admin': 202})
            for role, code in (('uploader', 1), ('admin', 0)):
                done = kinetoscope.run_program('reanalyse', '--server', server.url, env={'KINETOSCOPE_TOKEN': made[role]})
                self.assertEqual(done.returncode, code)
            self.assertIn('action="analyse again"', server.log())

    def test_bytes_that_were_not_kept(self):
        with kinetoscope.Server('--retain-raw', 'no') as server:
            self.fill(server)
            before = [answers(server, trace) for trace in self.traces]
            self.assertEqual(self.ask(server, {}), {'queued': 0, 'left': 2})
            self.assertEqual([answers(server, trace) for trace in self.traces], before)
            done = kinetoscope.run_program('reanalyse', '--server', server.url)
            self.assertEqual((done.returncode, done.stdout.decode()), (0, '0 uploads are analysed again, 2 stay as they are: their bytes were not kept\n'))

    def test_the_command(self):
        with kinetoscope.Server() as server:
            self.fill(server)
            for words, queued in (((), 2), (('--run', CASES[1]), 1), (('--trace', '1', '--trace', '2'), 2)):
                done = kinetoscope.run_program('reanalyse', '--server', server.url, *words)
                self.assertEqual((done.returncode, done.stdout.decode()), (0, '%d upload%s analysed again\n' % (queued, ' is' if queued == 1 else 's are')), done.stderr)
                self.settled(server)
            for words, code in ((('--run', 'nowhere'), 1), (('--trace', 'x'), 2), (('--trace', '1', '--run', CASES[0]), 2), (('word',), 2)):
                self.assertEqual(kinetoscope.run_program('reanalyse', '--server', server.url, *words).returncode, code, words)

    def test_only_what_nobody_waits_for_stands_behind(self):
        """Threads of a lower priority: none more while a client waits for his upload, one at least while it is analysed again."""
        events = [{'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::made_%d' % (i % 999), 'pid': 1, 'tid': 1, 'ts': 1000 + 10 * i, 'dur': 1 + i % 9} for i in range(100000)]
        with kinetoscope.Server() as server:
            idle = threads_behind(server.process.pid)
            with Watched(lambda: threads_behind(server.process.pid)) as waited_for:
                kinetoscope.uploaded(server.put('large', 'large.json', json.dumps({'traceEvents': events}).encode()))
            with Watched(lambda: threads_behind(server.process.pid)) as again:
                self.assertEqual(self.ask(server, {})['queued'], 1)
                kinetoscope.until(lambda: server.get('/api/v1/jobs/1').json()['state'] == 'done', 'it is analysed', 60)
            self.assertEqual((max(waited_for.seen), max(again.seen) > idle), (idle, True))

    def test_lost_results_are_made_again_at_once(self):
        """Missing, and cut off."""
        for lose in (pathlib.Path.unlink, lambda path: os.truncate(path, 4096)):
            with self.subTest(lose=lose), tempfile.TemporaryDirectory() as data_dir:
                self.lose(data_dir, lose)

    def lose(self, data_dir, lose):
        made = random.Random(1)
        events = [{'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::made_%x' % made.getrandbits(60), 'pid': 1, 'tid': 1, 'ts': 1000 + 10 * i, 'dur': 1 + i % 9} for i in range(12000)]
        with kinetoscope.Server(data_dir=data_dir) as server:  # the next one has no file open
            trace = kinetoscope.uploaded(server.put('large', 'large.json', json.dumps({'traceEvents': events}).encode()))[0]['id']
            before = answers(server, trace)
        with kinetoscope.Server(data_dir=data_dir) as server:
            file, = pathlib.Path(data_dir, 'results').rglob('*.db')
            lose(file)
            path = '/api/v1/traces/%d/operators' % trace
            answer = server.get(path)
            self.assertEqual(answer.status, 410)
            self.assertIn('analysed again', answer.json()['detail'])
            kinetoscope.until(lambda: server.get(path).status == 200, 'the results are there again', 60)
            self.assertEqual(answers(server, trace), before)
            self.assertEqual(server.log().count('files of results are missing or cut off: 1 uploads'), 1)
            self.assertEqual(self.done(server, 1), 1)


kinetoscope.main()
