#!/usr/bin/env python3
"""`kinetoscope copy`: from a directory to PostgreSQL and objects and back, everything byte for byte; killed and given again;
while uploads and deletions go on; brought up to date; and what is refused. Alone: KINETOSCOPE_BIN=... """
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import kinetoscope  # noqa: E402: beside this folder
from kinetoscope import run_program  # noqa: E402
from servers import s3  # noqa: E402
from servers.postgres import Postgres  # noqa: E402

CASES = ('cuda_training', 'cpu_only', 'rocm', 'nccl_two_workers')
DOCUMENT = json.loads((kinetoscope.ROOT / 'api/openapi.json').read_text())
# What an answer tells of the server, not of what it keeps; and what runs on for as long as it likes.
LEFT_OUT = ('/healthz', '/readyz', '/metrics', '/skill.md', '/api/v1/openapi.json', '/api/v1/me', '/api/v1/nodes')
KILLS = int(os.environ.get('KINETOSCOPE_COPY_KILLS', '6'))
FIXTURE = json.loads(kinetoscope.fixture_json('cpu_only'))
WHY_NO_POSTGRES = Postgres.why_not()


class Place:
    """A data directory, and what it may have beside it."""

    def __init__(self, data_dir, database_url=None, objects_url=None):
        self.data_dir, self.parts = str(data_dir), [('data-dir', str(data_dir)), ('database-url', database_url),
                                                    ('objects-url', objects_url)]

    def options(self, prefix=''):
        return [word for name, value in self.parts if value for word in ('--%s%s' % (prefix, name), value)]

    def serve(self, env=None):
        return kinetoscope.Server(*self.options()[2:], data_dir=self.data_dir, env=env)


def trace(number, pad=0):
    return json.dumps({**FIXTURE, 'number': number, 'padding': '%08d' % number * (pad // 8)}).encode()


def rows(data_dir, sql):
    with contextlib.closing(sqlite3.connect(pathlib.Path(data_dir, 'kinetoscope.db'), timeout=60)) as db:
        return db.execute(sql).fetchall()


def tables(data_dir):
    """Every row of every table, and the ids that the next rows get."""
    names = [name for name, in rows(data_dir, "SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return {name: sorted(rows(data_dir, 'SELECT * FROM %s' % name), key=repr) for name in names if name not in ('copy_state', 'object', 'schema_step')}


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='kinetoscope-copy-', dir='/tmp'))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.source = Place(self.folder / 'source')

    def copy(self, source, target, code=0, env=None):
        done = run_program('copy', *source.options(), *target.options('to-'), env=env)
        self.assertEqual(done.returncode, code, done.stderr.decode()[-2000:])
        return done.stderr.decode()

    def counted(self, said):
        """(uploads, files of traces, that were there, rows)"""
        return tuple(int(n) for n in re.search(
            r'copied: (\d+) uploads, (\d+) files of traces, .*; (\d+) were there; (\d+) rows', said).groups())

    def check_target(self, place):
        """Every trace of the place answers, and has its upload."""
        with place.serve() as server:
            found = server.get('/api/v1/traces?limit=1000').json()['traces']
            for row in found:
                for view in ('overview', 'raw'):
                    answer = server.get('/api/v1/traces/%d/%s' % (row['id'], view))
                    self.assertEqual(answer.status, 200, answer.body[:300])
            return {row['file_name'] for row in found}


class Everything(Case):
    """One store with all that it can hold."""

    def fill(self):
        for case in CASES:
            for name in json.loads((kinetoscope.FIXTURES / case / 'case.json').read_text())['files']:
                done = run_program('ingest', '--data-dir', self.source.data_dir, '--run', 'run %s é' % case, kinetoscope.FIXTURES / case / name)
                self.assertEqual(done.returncode, 0, done.stderr)
        for turn in range(12):  # a series with a step in it, for history and for files in rows
            done = run_program('ingest', '--data-dir', self.source.data_dir, '--run', 'nightly %02d' % turn, '--project', 'ours',
                               self.slowed(turn))
            self.assertEqual(done.returncode, 0, done.stderr)
        self.token = self.add_token('admin', 'admin')
        self.add_token('seldom', 'viewer')
        run_program('token', 'revoke', 'seldom', '--data-dir', self.source.data_dir)
        self.add_token('seldom', 'viewer')
        with self.source.serve() as server:
            self.touch(server)

    def slowed(self, turn):
        document = json.loads(kinetoscope.fixture_json('cpu_only'))
        for event in document['traceEvents']:
            if turn >= 6 and 'dur' in event:
                event['dur'] = event['dur'] * 2
            if 'ts' in event:
                event['ts'] = event['ts'] * (2 if turn >= 6 else 1)
        path = self.folder / ('nightly%02d.pt.trace.json' % turn)
        path.write_text(json.dumps(document))
        return path

    def add_token(self, name, role):
        done = run_program('token', 'add', name, '--role', role, '--data-dir', self.source.data_dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode().strip()

    def ask(self, server, path, method='GET', body=None):
        headers = {'Authorization': 'Bearer ' + self.token}
        if body is not None:
            headers['Content-Type'] = 'application/json'
        return server.ask(method, path, None if body is None else json.dumps(body), headers)

    def change(self, server, method, path, body, *statuses):
        answer = self.ask(server, path, method, body)
        self.assertIn(answer.status, statuses, '%s %s: %s' % (method, path, answer.body[:500]))
        return answer

    def touch(self, server):
        run = '/api/v1/runs/' + urllib.parse.quote('run cuda_training é')
        self.change(server, 'PATCH', run, {'note': 'a note, "quoted" é 🚀', 'tags': ['kept', 'zwei'], 'pinned': True}, 200)
        self.change(server, 'PATCH', '/api/v1/traces/1', {'note': 'of one', 'tags': ['t']}, 200)
        self.change(server, 'POST', run + '/notes', {'kind': 'kernel', 'name': 'gemm', 'text': 'why so slow?'}, 201)
        self.change(server, 'POST', run + '/notes', {'kind': 'window', 'trace': 1, 'start_ns': 5, 'end_ns': 9, 'text': 'here'}, 201)
        self.change(server, 'POST', '/api/v1/comparisons', {'base': [1], 'candidate': [2]}, 200, 201)
        bad = server.ask('PUT', kinetoscope.trace_path('bad', 'no.json'), b'no trace at all', {'Authorization': 'Bearer ' + self.token})
        self.assertGreaterEqual(bad.status, 400)
        self.assertGreater(len(self.answers(server)), 200)  # also makes what is made on the first request

    def paths(self, server):
        """Every GET of the description, for every trace and run."""
        ids = [str(row['id']) for row in self.ask(server, '/api/v1/traces?limit=1000').json()['traces']][:8]
        names = [row['name'] for row in self.ask(server, '/api/v1/runs?limit=1000').json()['runs']]
        comparisons = [str(row['id']) for row in self.ask(server, '/api/v1/comparisons').json()['comparisons']]
        plain = {'{run}': [urllib.parse.quote(name) for name in names[-4:]], '{id}': ids, '{thread}': ['0'], '{event}': ['3']}
        for path, methods in DOCUMENT['paths'].items():
            if 'get' not in methods or path in LEFT_OUT:
                continue
            needed = {} if '/plugin/' in path else {'q': 'aten'} if path.endswith('/search') else {}
            made = [path]
            for word, values in {**plain, **({'{id}': comparisons} if '/comparisons/' in path else {}),
                                 **({'{id}': ['1', '2']} if '/jobs/' in path else {})}.items():
                made = [one.replace(word, value) for one in made for value in values] if word in path else made
            if '/diff' in path and '/plugin/' not in path:
                needed = {'base': '1', 'candidate': '2'}
            if '/history' in path or '/baseline' in path:
                needed = {'metric': 'step_time', 'project': 'ours'}
            if path.endswith('/sql'):
                needed = {'q': 'SELECT * FROM operators ORDER BY 1'}
            if '/plugin/' in path:
                needed = {'run': 'run cuda_training é', 'worker': 'worker0', 'span': '', 'view': 'Overview', 'group_by': 'Operation'}
            if path.endswith('/series'):
                needed = {'function': '1'}
            for one in made:
                yield one + ('?' + urllib.parse.urlencode(needed) if needed else '')

    def answers(self, server):
        told = {}
        for path in self.paths(server):
            answer = self.ask(server, path)
            self.assertLess(answer.status, 500, (path, answer.body[:300]))
            told[path] = (answer.status, answer.body.replace(server.url.encode(), b''))
        return told

    def compare(self, before, place):
        with place.serve() as server:
            after = self.answers(server)
        routes = {re.sub(r'(?<=/)\d+(?=/|$)|\?.*', '', path) for path, (status, _) in before.items() if status == 200}
        self.assertGreater(len(routes), 50)
        different = [path for path in before if after.get(path) != before[path]]
        self.assertEqual([(path, before[path], after.get(path)) for path in different[:2]], [])
        self.assertEqual(sorted(before), sorted(after))

    def round_trip(self, *steps):
        self.fill()
        expected = tables(self.source.data_dir)
        with self.source.serve() as server:
            before = self.answers(server)
        expected = {**expected, **tables(self.source.data_dir)}
        place = self.source
        for target in steps:
            self.copy(place, target)
            place = target
        self.assertEqual(rows(place.data_dir, 'PRAGMA foreign_key_check'), [])
        found = tables(place.data_dir)
        for name in expected:
            self.assertEqual(found[name], expected[name], name)
        for target in steps:
            self.compare(before, target)

    def test_directory_to_directory(self):
        self.round_trip(Place(self.folder / 'b', None, 'file://%s/place' % self.folder), Place(self.folder / 'c'))

    @unittest.skipIf(WHY_NO_POSTGRES, WHY_NO_POSTGRES)
    def test_to_a_database_and_back(self):
        with Postgres(self.folder / 'server') as database:
            self.round_trip(Place(self.folder / 'b', database.url, 'file://%s/place' % self.folder), Place(self.folder / 'c'))

    @unittest.skipIf(WHY_NO_POSTGRES, WHY_NO_POSTGRES)
    def test_the_guide_backs_up_and_restores(self):
        """The commands of deploy/operating.md, beside a server that goes on; only names of places are changed."""
        guide = (kinetoscope.ROOT / 'deploy/operating.md').read_text()
        commands = [line for block in re.findall(r'(?s)```\n(.*?)```', guide) for line in block.splitlines()]
        self.assertEqual(len(commands), 8)
        self.fill()
        with Postgres(self.folder / 'server') as database:
            place = Place(self.folder / 'live', database.url, 'file://%s/objects' % self.folder)
            self.copy(self.source, place)
            url = database.url.rsplit('/', 1)[0]
            places = (('/srv/objects-restored', '%s/objects-restored' % self.folder), ('/var/lib/kinetoscope-restored', '%s/restored' % self.folder),
                      ('/srv/objects', '%s/objects' % self.folder), ('/var/lib/kinetoscope', place.data_dir), ('/backup', '%s/backup' % self.folder),
                      ('postgresql://ks@db/ks_restored', url + '/ks_restored'), ('postgresql://ks@db/postgres', url + '/postgres'),
                      ('postgresql://ks@db/ks', database.url), ('s3://traces/kinetoscope', 'file://%s/objects' % self.folder),
                      ('kinetoscope copy', kinetoscope.PROGRAM + ' copy'))
            for name in ('backup/objects', 'backup/data', 'objects-restored', 'restored'):
                (self.folder / name).mkdir(parents=True)
            env = dict(os.environ, PATH='%s:%s' % (Postgres.programs(), os.environ['PATH']))

            def run(command):
                for old, new in places:
                    command = command.replace(old, new)
                done = subprocess.run(['bash', '-c', command], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=kinetoscope.HANG_S)
                self.assertEqual(done.returncode, 0, '%s: %s' % (command, done.stdout.decode()))
            with place.serve() as server:
                before = self.answers(server)
                for command in commands[:4]:
                    run(command)
            for command in commands[4:]:
                run(command)
            self.compare(before, Place(self.folder / 'backup/kinetoscope'))
            self.compare(before, Place(self.folder / 'restored', url + '/ks_restored', 'file://%s/objects-restored' % self.folder))

    @unittest.skipUnless(s3.is_built_in(), 'built without S3')
    def test_to_a_bucket_and_back(self):
        peer = s3.Peer()
        self.addCleanup(peer.stop)
        env = s3.environment(peer.port)
        bodies = {'n%d.json' % number: trace(number, number * 100000) for number in range(12)}
        with self.source.serve() as server:
            for name, body in bodies.items():
                self.assertEqual(server.put('run', name, body).status, 201)
        middle, last = Place(self.folder / 'b', None, 's3://uploads/copy'), Place(self.folder / 'c')
        peer.faults += [('PUT', 500), ('PUT', 'stall')]
        self.copy(self.source, middle, env=env)
        peer.faults += [('GET', 'short'), ('GET', 500)]
        self.copy(middle, last, env=env)
        self.assertEqual(self.check_target(last), set(bodies))


class Killed(Case):
    def fill(self, count=60):
        # Its file does not fit into a row.
        chance = random.Random(3)
        large = json.dumps({'traceEvents': [{'ph': 'X', 'cat': 'cpu_op', 'name': 'op%d' % chance.randrange(500), 'pid': 1, 'tid': chance.randrange(9),
                                             'ts': n * 90 + chance.randrange(40), 'dur': chance.randrange(50)} for n in range(60000)]}).encode()
        with self.source.serve() as server:
            for number in range(count):
                body = large + b' ' * number if number % 6 == 0 else trace(number, 1 << 19)
                self.assertEqual(server.put('run %d' % (number % 7), 'n%d.json' % number, body).status, 201)

    def bytes_there(self):
        """Uploads and files of traces that a copy has brought so far."""
        return sum(len(list((self.folder / place).glob('*/*'))) for place in ('place/raw', 'place/results', 'b/raw', 'b/results'))

    def killed(self, target, count, seconds):
        """Once `count` of them are there, or `seconds` later; whether it was, before its end."""
        with subprocess.Popen([kinetoscope.PROGRAM, 'copy', *self.source.options(), *target.options('to-')],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and self.bytes_there() < count:
                time.sleep(0.001)
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                return True
        return False

    def kill_and_go_on(self, target):
        self.fill()
        chance = random.Random(7)
        uploads, files, _, _ = self.counted(self.copy(self.source, Place(self.folder / 'a', None, 'file://%s/a-objects' % self.folder)))
        self.assertEqual(uploads, 60)
        self.assertGreater(files, 5)
        total = uploads + files
        kills = 0
        for turn in range(KILLS):
            before = self.bytes_there()
            kills += self.killed(target, before + chance.randrange(1, total // KILLS + 1), 0)
            self.assertGreaterEqual(self.bytes_there(), before - 8 if turn else 0)
        kills += sum(self.killed(target, total, chance.uniform(0, 0.05)) for _ in range(KILLS))  # among rows
        self.assertGreater(kills, KILLS)
        uploads, files, there, _ = self.counted(self.copy(self.source, target))
        self.assertGreater(there, 0)
        self.assertEqual(uploads + files + there, total)
        # Again: nothing is sent, nothing changes.
        self.assertEqual(self.counted(self.copy(self.source, target))[:3], (0, 0, total))
        self.assertEqual(self.check_target(target), {'n%d.json' % number for number in range(60)})

    def test_to_files(self):
        self.kill_and_go_on(Place(self.folder / 'b'))

    def test_to_objects(self):
        place = self.folder / 'place'
        self.kill_and_go_on(Place(self.folder / 'b', None, 'file://%s' % place))
        named = {key for key, in rows(self.folder / 'b', 'SELECT key FROM object')}
        self.assertEqual({str(path.relative_to(place)) for path in (place / 'raw').rglob('*') if path.is_file()}, named)

    @unittest.skipIf(WHY_NO_POSTGRES, WHY_NO_POSTGRES)
    def test_to_a_database(self):
        with Postgres(self.folder / 'server') as database:
            self.kill_and_go_on(Place(self.folder / 'b', database.url, 'file://%s/place' % self.folder))

    def test_half_a_copy_is_not_served(self):
        self.fill(4)
        target = Place(self.folder / 'b')
        self.copy(self.source, target)
        with contextlib.closing(sqlite3.connect(self.folder / 'b/kinetoscope.db')) as db, db:
            db.execute("UPDATE copy_state SET state = 'copying'")
        done = run_program('serve', '--listen', '127.0.0.1:0', *target.options())
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b'half a copy', done.stdout + done.stderr)
        self.copy(self.source, target)
        self.assertEqual(len(self.check_target(target)), 4)


class Moving(Case):
    """The source serves."""

    def test_uploads_and_deletions_go_on(self):
        with self.source.serve() as server:
            stop, kept, faults = threading.Event(), [], []

            def send():
                for number in range(100000):
                    if stop.is_set():
                        return
                    try:
                        going = kinetoscope.uploaded(server.put('going', 'g.json', trace(number * 2)))[0]
                        if server.ask('DELETE', '/api/v1/traces/%d' % going['id']).status != 204:
                            raise AssertionError('not deleted')
                        kinetoscope.uploaded(server.put('kept %d' % (number % 5), 'n%d.json' % number, trace(number * 2 + 1, 1 << 18)))
                        kept.append('n%d.json' % number)
                    except Exception as error:  # told by the main thread
                        faults.append(error)
                        return
            thread = threading.Thread(target=send)
            thread.start()
            try:
                before = []
                for turn in range(3):
                    time.sleep(0.5)
                    before.append(set(kept))
                    self.copy(self.source, Place(self.folder / ('b%d' % turn), None, 'file://%s/p%d' % (self.folder, turn)))
                    self.copy(self.source, Place(self.folder / 'again'))
            finally:
                stop.set()
                thread.join()
            self.assertEqual(faults, [])
        for turn, names in enumerate(before):
            found = self.check_target(Place(self.folder / ('b%d' % turn), None, 'file://%s/p%d' % (self.folder, turn)))
            self.assertEqual(names - found, set())
        self.copy(self.source, Place(self.folder / 'again'))
        self.assertEqual(self.check_target(Place(self.folder / 'again')) - {'g.json'}, set(kept))

    @unittest.skipIf(WHY_NO_POSTGRES, WHY_NO_POSTGRES)
    def test_jobs_go_on_at_the_target(self):
        """What the source is reading and what waits there, the target does from the beginning, and nothing half done is left."""
        chance = random.Random(3)
        slow = json.dumps({'traceEvents': [{'ph': 'X', 'cat': 'cpu_op', 'name': 'op%d' % chance.randrange(500), 'pid': 1, 'tid': chance.randrange(9),
                                            'ts': n * 90 + chance.randrange(40), 'dur': chance.randrange(50)} for n in range(300000)]}).encode()
        with Postgres(self.folder / 'server') as database:
            target = Place(self.folder / 'b', database.url, 'file://%s/place' % self.folder)
            with kinetoscope.Server('--ingest-workers', '1', data_dir=self.source.data_dir) as server:
                for number in range(6):
                    answer = server.put('run', 'n%d.json' % number, slow + b' ' * number, headers={'Prefer': 'respond-async'})
                    self.assertEqual(answer.status, 202)
                self.copy(self.source, target)
                waiting = len(rows(self.source.data_dir, "SELECT 1 FROM job WHERE state IN ('queued', 'running')"))
            self.assertGreater(waiting, 0)
            with target.serve() as server:
                kinetoscope.until(lambda: server.get('/api/v1/traces').json()['total'] == 6, 'the target has read all', 120)
                found = server.get('/api/v1/traces?limit=1000').json()['traces']
                self.assertEqual([server.get('/api/v1/traces/%d/overview' % row['id']).status for row in found], [200] * 6)
            done = subprocess.run(['psql', '-At', database.url, '-c', 'SELECT count(*) FROM upload'], stdout=subprocess.PIPE, check=True,
                                  env=dict(os.environ, PATH='%s:%s' % (os.environ['PATH'], Postgres.programs())))
            self.assertEqual(done.stdout.strip(), b'6')

    def bring_up_to_date(self, target):
        with self.source.serve() as server:
            for number in range(6):
                self.assertEqual(server.put('run %d' % number, 'n.json', trace(number)).status, 201)
        run_program('token', 'add', 'ci', '--role', 'viewer', '--data-dir', self.source.data_dir)
        self.copy(self.source, target)
        # Same names for other rows: the second copy has to take the old ones away first.
        token = run_program('token', 'add', 'boss', '--role', 'admin', '--data-dir', self.source.data_dir).stdout.decode().strip()
        run_program('token', 'revoke', 'ci', '--data-dir', self.source.data_dir)
        run_program('token', 'add', 'ci', '--role', 'viewer', '--data-dir', self.source.data_dir)
        headers = {'Authorization': 'Bearer ' + token}
        with self.source.serve() as server:
            self.assertEqual(server.ask('DELETE', '/api/v1/runs/run%200', None, headers).status, 204)
            self.assertEqual(server.put('run 0', 'n.json', trace(100), headers=headers).status, 201)
            self.assertEqual(server.put('run 1', 'n.json', trace(101), '?replace=true', headers).status, 201)
        self.copy(self.source, target)
        back = Place(self.folder / 'back')
        self.copy(target, back)
        self.assertEqual(tables(back.data_dir), tables(self.source.data_dir))
        self.assertEqual(rows(self.source.data_dir, 'SELECT * FROM sqlite_sequence ORDER BY name'),
                         rows(back.data_dir, 'SELECT * FROM sqlite_sequence ORDER BY name'))
        # A row that comes now gets an id that none had.
        last = max(id for id, in rows(self.source.data_dir, 'SELECT id FROM trace'))
        with target.serve() as server:
            made = kinetoscope.uploaded(server.put('new', 'n.json', trace(200), headers=headers))[0]
            self.assertGreater(made['id'], last)
        # Now it is a store of its own.
        self.assertIn('no copy', self.copy(self.source, target, code=1))

    def test_a_second_copy(self):
        self.bring_up_to_date(Place(self.folder / 'b', None, 'file://%s/place' % self.folder))

    @unittest.skipIf(WHY_NO_POSTGRES, WHY_NO_POSTGRES)
    def test_a_second_copy_to_a_database(self):
        with Postgres(self.folder / 'server') as database:
            self.bring_up_to_date(Place(self.folder / 'b', database.url, 'file://%s/place' % self.folder))

    def test_objects_that_stay(self):
        """Catalogue and files move, the bucket does not: nothing of it is read or written."""
        url, place = 'file://%s/place' % self.folder, self.folder / 'place'
        source = Place(self.source.data_dir, None, url)
        with source.serve() as server:
            for number in range(5):
                self.assertEqual(server.put('run', 'n%d.json' % number, trace(number)).status, 201)
        before = {path: path.stat().st_mtime_ns for path in place.rglob('*') if path.is_file()}
        target = Place(self.folder / 'b', None, url)
        self.assertEqual(self.counted(self.copy(source, target))[0], 0)
        self.copy(source, target)
        shutil.rmtree(self.source.data_dir)
        self.assertEqual(len(self.check_target(target)), 5)
        self.assertEqual({path: path.stat().st_mtime_ns for path in place.rglob('*') if path.is_file()}, before)


class Refused(Case):
    def test_refused(self):
        with self.source.serve() as server:
            self.assertEqual(server.put('run', 'n.json', trace(1)).status, 201)
        other = Place(self.folder / 'other')
        with other.serve() as server:
            self.assertEqual(server.put('run', 'n.json', trace(2)).status, 201)
            self.assertIn('in use', self.copy(self.source, other, code=1))
        self.assertIn('no copy', self.copy(self.source, other, code=1))
        self.assertIn('no copy', self.copy(self.source, self.source, code=1))
        self.assertIn('no database', self.copy(Place(self.folder / 'nowhere'), Place(self.folder / 'b'), code=1))
        self.assertFalse((self.folder / 'b').exists())
        (self.folder / 'full').mkdir()
        (self.folder / 'full/letter').write_text('x')
        self.assertIn('letter', self.copy(self.source, Place(self.folder / 'full'), code=1))
        target = Place(self.folder / 'b')
        self.copy(self.source, target)
        self.assertIn('holds a copy of', self.copy(other, target, code=1))
        self.assertIn('--to-data-dir', run_program('copy', '--data-dir', self.source.data_dir).stderr.decode())
        with_objects = Place(self.folder / 'c', None, 'file://%s/place' % self.folder)
        self.copy(self.source, with_objects)
        self.assertIn('--objects-url', self.copy(Place(self.folder / 'c'), Place(self.folder / 'd'), code=1))

    def test_a_damaged_upload_is_told(self):
        with self.source.serve() as server:
            self.assertEqual(server.put('run', 'n.json', trace(1)).status, 201)
        victim, = pathlib.Path(self.source.data_dir, 'raw').glob('*/*')
        victim.write_bytes(victim.read_bytes()[:-1] + b' ')
        self.assertIn(victim.name, self.copy(self.source, Place(self.folder / 'b'), code=1))

    def test_uploads_that_are_not_kept(self):
        done = run_program('ingest', '--data-dir', self.source.data_dir, '--retain-raw', 'no', '--run', 'r',
                           kinetoscope.FIXTURES / 'rocm' / kinetoscope.fixture('rocm')[0])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('1 that the source names', self.copy(self.source, Place(self.folder / 'b')))
        with Place(self.folder / 'b').serve() as server:
            self.assertEqual(server.get('/api/v1/traces/1/operators').status, 200)
            self.assertEqual(server.get('/api/v1/traces/1/raw').status, 410)


kinetoscope.main()
