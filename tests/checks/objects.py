#!/usr/bin/env python3
"""Uploads as objects (--objects-url): in a folder, in Ceph's object gateway where it can be installed, and in a peer that
fails in ways a real one seldom does. Nothing that was acknowledged is lost when the program, the gateway or the cache
goes; nothing is acknowledged that the objects do not have; what nobody needs is deleted. Alone: KINETOSCOPE_BIN=... """
import collections
import concurrent.futures
import contextlib
import functools
import hashlib
import http.client
import json
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import tempfile
import threading
import time
import unittest

import kinetoscope
from servers import s3

CONTRACT = pathlib.Path(kinetoscope.PROGRAM).parent / 'tests/unit_ingest_store_objects_objects'
HAS_S3 = s3.is_built_in()
MB = 1 << 20
FIXTURE = json.loads(kinetoscope.fixture_json('cpu_only'))


def trace(number, pad=0):
    """A trace that differs from every other, at least `pad` bytes long."""
    return json.dumps({**FIXTURE, 'number': number, 'padding': '%08d' % number * (pad // 8)}).encode()


def large_trace(number):
    """One whose file of results is too large for its row."""
    chance = random.Random(number)
    events = [{'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::made_%x' % chance.getrandbits(60), 'pid': 1, 'tid': 1, 'ts': 1000 + 10 * i,
               'dur': chance.randrange(1, 10)} for i in range(12000)]
    return json.dumps({**FIXTURE, 'traceEvents': FIXTURE['traceEvents'] + events}).encode()


def until(what, seconds=40):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.1)
    return False


def kill(server):
    """The server's `with` ends well all the same."""
    server.process.kill()
    server.process.wait()
    server.process = subprocess.Popen(['true'])
    server.process.wait()


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='kinetoscope-objects-'))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.data_dir = self.folder / 'data'

    def serve(self, url, env=None, *options):
        return kinetoscope.Server('--objects-url', url, *options, data_dir=str(self.data_dir), env=env)

    def rows(self, sql='SELECT key, state, sha256 FROM object', *values):
        with contextlib.closing(sqlite3.connect(self.data_dir / 'kinetoscope.db', timeout=20)) as db, db:
            return db.execute(sql, values).fetchall()

    def forget_cache(self):
        shutil.rmtree(self.data_dir / 'raw')
        (self.data_dir / 'raw').mkdir()

    def upload(self, server, name, body, status=201):
        answer = server.put('run', name, body)
        self.assertEqual(answer.status, status, answer.body)
        return answer

    def check_raw(self, server, trace_id, body):
        answer = server.get('/api/v1/traces/%d/raw' % trace_id)
        self.assertEqual(answer.status, 200, answer.body[:500])
        self.assertEqual(hashlib.sha256(answer.body).hexdigest(), hashlib.sha256(body).hexdigest())


class Folder(Case):
    """The same code, with a folder."""

    def test_uploads_live_and_die(self):
        place = self.folder / 'place'
        body = trace(1)
        with self.serve('file://%s' % place) as server:
            first = self.upload(server, 'a.json', body).json()['id']
            (key, state, sha256), = self.rows()
            self.assertEqual((state, sha256), ('live', hashlib.sha256(body).hexdigest()))
            self.assertEqual((place / key).read_bytes(), body)
            self.forget_cache()
            self.check_raw(server, first, body)
            self.assertEqual(server.ask('DELETE', '/api/v1/traces/%d' % first).status, 204)
            self.assertEqual(self.rows()[0][1], 'dying')
            self.assertTrue((place / key).exists())
            # The same bytes revive it: nothing is written anew.
            second = self.upload(server, 'b.json', body).json()['id']
            self.assertTrue(until(lambda: self.rows() == [(key, 'live', sha256)]), self.rows())
            self.forget_cache()
            self.check_raw(server, second, body)
            self.assertEqual(server.ask('DELETE', '/api/v1/traces/%d' % second).status, 204)
            self.rows('UPDATE object SET since_s = since_s - 3601')
            self.assertTrue(until(lambda: not self.rows()), self.rows())
            self.assertFalse((place / key).exists())
            self.assertEqual(list((place / '.writing').iterdir()), [])

    def test_readers_of_what_the_cache_gives_up(self):
        """A file that is open stays whole for who reads it, and the next one fetches it again."""
        with self.serve('file://%s/place' % self.folder, None, '--objects-cache', '1') as server:
            ids = [self.upload(server, '%d.json' % number, large_trace(number)).json()['id'] for number in (40, 41)]
            paths = ['/api/v1/traces/%d/%s' % (number, what) for number in ids for what in ('trace.json.gz', 'operators', 'search?q=aten')]
            before, wrong, trimmed, stop = {path: server.get(path).body for path in paths}, [], [], threading.Event()

            def read(path):
                while not stop.is_set():
                    answer = server.get(path)
                    if (answer.status, answer.body) != (200, before[path]):
                        wrong.append((path, answer.status, answer.body[:300]))
            with concurrent.futures.ThreadPoolExecutor(len(paths)) as pool:
                for path in paths:
                    pool.submit(read, path)
                end = time.monotonic() + 12
                while time.monotonic() < end:
                    trimmed.append(not list((self.data_dir / 'results').rglob('*.db')))
                    time.sleep(0.01)
                stop.set()
            self.assertEqual(wrong[:3], [])
            self.assertIn(True, trimmed)

    def test_without_raw_nothing_stays(self):
        place = self.folder / 'place'
        with self.serve('file://%s' % place, None, '--retain-raw', 'no') as server:
            trace_id = self.upload(server, 'a.json', trace(2)).json()['id']
            self.assertTrue(until(lambda: not self.rows()), self.rows())
            self.assertEqual([p for p in place.rglob('*') if p.is_file()], [])
            self.assertEqual(server.get('/api/v1/traces/%d/raw' % trace_id).status, 410)
            self.assertEqual(server.get('/api/v1/traces/%d/overview' % trace_id).status, 200)

    def test_a_directory_without_its_objects_is_refused(self):
        with self.serve('file://%s/place' % self.folder) as server:
            self.upload(server, 'a.json', trace(3))
        for command in (['serve', '--listen', '127.0.0.1:0'], ['backup', str(self.folder / 'backup.tar')]):
            done = subprocess.run([kinetoscope.PROGRAM, *command, '--data-dir', str(self.data_dir)], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=kinetoscope.HANG_S)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(b'--objects-url', done.stdout)
        self.assertFalse((self.folder / 'backup.tar').exists())

    def test_an_embedded_directory_goes_on(self):
        old, new = trace(4), trace(5)
        with kinetoscope.Server(data_dir=str(self.data_dir)) as server:
            first = self.upload(server, 'old.json', old).json()['id']
        with self.serve('file://%s/place' % self.folder, None, '--objects-cache', '0') as server:
            second = self.upload(server, 'new.json', new).json()['id']
            time.sleep(6)  # a sweep, which must not take the only copy for a cached one
            self.check_raw(server, first, old)
            self.check_raw(server, second, new)


class Results(Case):
    """Files of results as objects."""
    ASKED = ('overview', 'operators', 'timeline', 'search?q=aten', 'trace.json.gz')

    def setUp(self):
        super().setUp()
        self.place = self.folder / 'place'
        self.url, self.env = 'file://%s' % self.place, None

    def start(self, *options):
        return self.serve(self.url, self.env, *options)

    def files(self):
        return sorted((self.data_dir / 'results').rglob('*.db')) if (self.data_dir / 'results').exists() else []

    def answers(self, server, trace_id):
        bodies = [server.get('/api/v1/traces/%d/%s' % (trace_id, what)).body for what in self.ASKED]
        return [body.replace(b':%d/' % server.port, b':PORT/') for body in bodies]

    def check_overview(self, server, trace_id, status=200):
        answer = server.get('/api/v1/traces/%d/overview' % trace_id)
        self.assertEqual(answer.status, status, answer.body[:500])
        return answer

    def object(self):
        (key, sha256), = self.rows('SELECT key, sha256 FROM results_file WHERE is_object = 1 AND kind = 0')
        return self.at(key), sha256

    def at(self, key):
        return self.place / self.name(key)

    def object_is_there(self, key):
        return self.at(key).exists()

    @staticmethod
    def name(key):
        return pathlib.Path('results', key[:2], key[2:] + '.db')

    def test_any_server_opens_them(self):
        with self.start() as server:
            trace_id = self.upload(server, 'a.json', large_trace(1)).json()['id']
            here = self.answers(server, trace_id)
        path, sha256 = self.object()
        self.assertEqual(hashlib.sha256(path.read_bytes()).hexdigest(), sha256)
        self.assertEqual({row[1] for row in self.rows()}, {'live'})  # the upload's, none that is being written
        other = self.folder / 'other'
        other.mkdir()
        shutil.copy(self.data_dir / 'kinetoscope.db', other)
        self.data_dir = other
        with self.start() as server:
            self.assertEqual(self.files(), [])
            # Many at once fetch it once, and none sees half of it.
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                statuses = list(pool.map(lambda _: server.get('/api/v1/traces/%d/overview' % trace_id).status, range(16)))
            self.assertEqual(set(statuses), {200})
            self.assertEqual(self.answers(server, trace_id), here)
            # The file, and its timeline, which was made when it was asked for.
            for key, in self.rows('SELECT key FROM results_file WHERE is_object = 1'):
                self.assertEqual((other / self.name(key)).read_bytes(), self.at(key).read_bytes())
            self.assertEqual(len(self.files()), 2)
            self.assertEqual(list((other / 'incoming').iterdir()), [])

    def test_a_damaged_file_is_fetched_again(self):
        with self.start() as server:
            trace_id = self.upload(server, 'a.json', large_trace(2)).json()['id']
        path, sha256 = self.object()
        for damage in (lambda bytes: b'x' * len(bytes), lambda bytes: bytes[:-4096], lambda bytes: bytes[:5000] + b'?' + bytes[5001:]):
            file, = self.files()
            file.write_bytes(damage(path.read_bytes()))
            with self.start() as server:
                self.check_overview(server, trace_id)
                self.assertEqual(hashlib.sha256(file.read_bytes()).hexdigest(), sha256)

    def test_a_lost_or_damaged_object_is_made_again(self):
        with self.start() as server:
            trace_id = self.upload(server, 'a.json', large_trace(3)).json()['id']
            before = self.answers(server, trace_id)
        for what in ('lost', 'damaged'):
            with self.subTest(what):
                path, _ = self.object()
                if what == 'lost':
                    path.unlink()
                else:
                    path.write_bytes(b'x' * len(path.read_bytes()))
                shutil.rmtree(self.data_dir / 'results')
                with self.start() as server:
                    answer = self.check_overview(server, trace_id, 410)
                    self.assertIn(b'not in the objects', answer.body)
                    self.assertEqual(server.get('/api/v1/runs').status, 200)
                    # By itself, without a new start.
                    self.assertTrue(until(lambda: server.get('/api/v1/traces/%d/overview' % trace_id).status == 200))
                    self.assertEqual(self.answers(server, trace_id), before)

    def test_old_results_answer_until_new_ones_are_there(self):
        with self.start() as server:
            ids = [self.upload(server, '%d.json' % number, large_trace(number)).json()['id'] for number in range(20, 28)]
            before = self.answers(server, ids[-1])
        old = set(self.rows('SELECT key FROM results_file'))
        self.rows('UPDATE upload SET analysis_version = 0')
        with self.start('--ingest-workers', '1') as server:
            def is_done():
                for trace_id in ids:
                    self.check_overview(server, trace_id)
                self.assertEqual(server.get('/api/v1/traces').json()['total'], len(ids))
                return not self.rows("SELECT 1 FROM job WHERE state <> 'done'")
            self.assertFalse(is_done())
            self.assertTrue(until(is_done))
            self.assertEqual(self.answers(server, ids[-1]), before)
            new = set(self.rows('SELECT key FROM results_file'))
            self.assertFalse(new & old)
            self.assertTrue(until(lambda: not any(self.object_is_there(key) for key, in old)))
            self.assertEqual(len(self.files()), len(new))

    def test_they_die_with_their_trace(self):
        with self.start() as server:
            trace_id = self.upload(server, 'a.json', large_trace(4)).json()['id']
            path, _ = self.object()
            self.assertEqual(server.ask('DELETE', '/api/v1/traces/%d' % trace_id).status, 204)
            self.assertTrue(until(lambda: not path.exists()))
            self.assertEqual(self.files(), [])
            self.assertTrue(until(lambda: [row[1] for row in self.rows()] == ['dying']), self.rows())

    def test_the_cache_keeps_its_bound(self):
        with self.start('--objects-cache', '1MB') as server:
            bodies = {number: large_trace(number) for number in range(10, 16)}
            ids = [self.upload(server, '%d.json' % number, body).json()['id'] for number, body in bodies.items()]
            before = [self.answers(server, trace_id) for trace_id in ids]

            def cached():
                return sum(file.stat().st_size for file in self.files())
            self.assertTrue(all(self.object_is_there(key) for key, in self.rows('SELECT key FROM results_file WHERE is_object = 1')))
            self.assertTrue(until(lambda: cached() <= MB), cached())
            self.assertEqual([self.answers(server, trace_id) for trace_id in ids], before)
            self.assertTrue(until(lambda: cached() <= MB), cached())

    def test_small_ones_stay_in_their_rows(self):
        with self.start() as server:
            self.upload(server, 'a.json', trace(5))
            self.assertEqual(self.rows("SELECT is_object, sha256, bytes IS NULL FROM results_file"), [(0, '', 0)])

    def test_embedded_files_have_their_hash(self):
        with kinetoscope.Server(data_dir=str(self.data_dir)) as server:
            trace_id = self.upload(server, 'a.json', large_trace(6)).json()['id']
            file, = self.files()
            (is_object, sha256), = self.rows('SELECT is_object, sha256 FROM results_file')
            self.assertEqual((is_object, sha256), (0, hashlib.sha256(file.read_bytes()).hexdigest()))
        whole = file.read_bytes()
        file.write_bytes(whole[:5000] + b'?' + whole[5001:])
        with kinetoscope.Server(data_dir=str(self.data_dir)) as server:
            self.assertIn(b'damaged', self.check_overview(server, trace_id, 410).body)
        with kinetoscope.Server(data_dir=str(self.data_dir)) as server:
            self.assertTrue(until(lambda: server.get('/api/v1/traces/%d/overview' % trace_id).status == 200))


class Contract(unittest.TestCase):
    """objects.h, by the unit test that runs against a folder otherwise."""

    def run_contract(self, env):
        done = subprocess.run([str(CONTRACT)], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=kinetoscope.HANG_S)
        self.assertEqual(done.returncode, 0, done.stdout.decode(errors='replace'))

    @unittest.skipUnless(HAS_S3 and CONTRACT.exists(), 'built without S3 or without unit tests')
    def test_peer(self):
        peer = s3.Peer()
        self.addCleanup(peer.stop)
        self.run_contract(s3.environment(peer.port, KINETOSCOPE_TEST_OBJECTS_URL='s3://uploads/contract'))


@unittest.skipUnless(HAS_S3, 'built without S3')
class Faults(Case):
    def setUp(self):
        super().setUp()
        self.peer = s3.Peer()
        self.addCleanup(self.peer.stop)
        self.env = s3.environment(self.peer.port)

    def serve_s3(self, *options):
        return self.serve('s3://uploads/some/prefix', self.env, *options)

    def key(self):
        (key, state, _), = [row for row in self.rows() if row[1] == 'live']
        return 'some/prefix/' + key

    def test_what_passes_is_tried_again(self):
        faults = {
            'small': [('PUT', 500), ('PUT', 503), ('PUT', 429)],
            'no condition': [('PUT', 501)],
            'lost answer': [('PUT', 'lost')],
            'part': [('partNumber=3', 500), ('partNumber=3', 503), ('partNumber=1', 'lost')],
            'complete in words': [('POST .*uploadId', 'error')],
            'complete lost': [('POST .*uploadId', 'lost')],
            'begin': [('POST .*uploads', 500)],
        }
        with self.serve_s3() as server:
            for number, (name, planned) in enumerate(faults.items()):
                with self.subTest(name):
                    many = any('part' in p or 'POST' in p for p, _ in planned)
                    body = trace(100 + number, 36 * MB if many else 1000)
                    self.peer.faults[:] = planned
                    trace_id = self.upload(server, '%d.json' % number, body).json()['id']
                    self.assertEqual(self.peer.faults, [])
                    self.forget_cache()
                    self.check_raw(server, trace_id, body)
            self.assertEqual(self.peer.uploads, {})
            self.assertEqual(len(self.peer.objects), len(faults))

    def test_ranges_that_break_are_read_again(self):
        body = trace(200, 20 * MB)
        with self.serve_s3() as server:
            trace_id = self.upload(server, 'a.json', body).json()['id']
            for what in ('short', 'less', 500, 'slow:1'):
                with self.subTest(what):
                    self.forget_cache()
                    self.peer.faults[:] = [('GET /uploads/some', what)]
                    self.check_raw(server, trace_id, body)
                    self.assertEqual(self.peer.faults, [])

    def test_a_stalled_request_is_sent_again(self):
        with self.serve_s3() as server:
            self.peer.faults[:] = [('PUT', 'stall')]
            body = trace(300)
            trace_id = self.upload(server, 'a.json', body).json()['id']
            self.forget_cache()
            self.check_raw(server, trace_id, body)

    def test_what_does_not_pass_is_said(self):
        said = {'skew': b'clock: it is 0 s ahead of theirs', 403: b'AWS_SECRET_ACCESS_KEY'}
        with self.serve_s3() as server:
            for number, (what, words) in enumerate(said.items()):
                with self.subTest(what):
                    self.peer.faults[:] = [('PUT', what)]
                    answer = self.upload(server, '%d.json' % number, trace(400 + number), 503)
                    self.assertIn(words, answer.body)
                    self.assertIn('Retry-After', answer.headers)
                    self.assertTrue(until(lambda: self.upload_again(server, number)))
            self.assertTrue(until(lambda: len(self.peer.objects) == len(said) == len(self.rows())), self.rows())

    def upload_again(self, server, number):
        return server.put('run', '%d.json' % number, trace(400 + number)).status == 201

    def test_a_bucket_that_is_gone_refuses_uploads(self):
        """That is no fault of the client's: it is to send again later."""
        for number, (pattern, size) in enumerate((('PUT', 1000), (r'POST .*\?uploads=', 36 * MB), ('partNumber', 36 * MB), ('POST .*uploadId', 36 * MB))):
            with self.subTest(pattern), self.serve_s3() as server:
                self.peer.faults[:] = [(pattern, 404)]
                answer = self.upload(server, '%d.json' % number, trace(450 + number, size), 503)
                self.assertIn('Retry-After', answer.headers)
                self.assertEqual(self.peer.faults, [])

    def test_requests_are_counted(self):
        """What each costs in time and money: an upload, a cold read, one of what was lost here, and a start."""
        asked = self.peer.requests
        with self.serve_s3() as server:
            asked.clear()
            ids = [self.upload(server, '%d.json' % number, body).json()['id'] for number, body in enumerate((trace(900), trace(901, 36 * MB), large_trace(902)))]
            kinds = collections.Counter(re.sub(r'/uploads/some/prefix/(\w+)/\S*?(\?\w+|$)\S*', r'\1\2', line) for line in asked if not re.search(r'^HEAD /uploads(\?|$)', line))
        self.assertEqual(kinds, {'PUT raw': 2, 'POST raw?uploads': 1, 'PUT raw?partNumber': 3, 'POST raw?uploadId': 1, 'HEAD raw': 1, 'PUT results': 1})
        shutil.rmtree(self.data_dir / 'results')
        asked.clear()
        with self.serve_s3() as server:
            # A start lists nothing, and neither does a request.
            self.assertEqual([line for line in asked if not re.search(r'^HEAD /uploads(\?|$)', line)], [])
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                statuses = list(pool.map(lambda _: server.get('/api/v1/traces/%d/overview' % ids[2]).status, range(16)))
            self.assertEqual(set(statuses), {200})
            self.assertEqual(len([line for line in asked if 'GET /uploads/some/prefix/results' in line]), 1, asked)
            self.assertEqual([line for line in asked if 'list-type' in line or '?uploads' in line], [])

    def test_a_part_that_never_arrives_leaves_nothing(self):
        with self.serve_s3() as server:
            self.peer.faults[:] = [('partNumber=2', 403)]
            self.upload(server, 'a.json', trace(500, 50 * MB), 503)
            self.assertEqual(server.get('/api/v1/runs').json()['total'], 0)
            self.assertTrue(until(lambda: not self.peer.uploads and not self.rows()), (self.peer.uploads, self.rows()))
            self.assertEqual(self.peer.objects, {})

    def test_a_damaged_or_lost_object_is_410_until_it_comes_again(self):
        body = trace(600, 100000)
        with self.serve_s3() as server:
            trace_id = self.upload(server, 'a.json', body).json()['id']
            for what in ('damaged', 'lost'):
                with self.subTest(what):
                    key = self.key()
                    if what == 'damaged':
                        self.peer.objects[key] = b'x' + self.peer.objects[key][1:]
                    else:
                        del self.peer.objects[key]
                    self.forget_cache()
                    for _ in range(2):
                        self.assertEqual(server.get('/api/v1/traces/%d/raw' % trace_id).status, 410)
                    self.assertEqual(server.get('/api/v1/traces/%d/overview' % trace_id).status, 200)
                    self.assertEqual(server.put('run', 'a.json', body).status, 200)
                    self.assertNotEqual(self.key(), key)
                    self.forget_cache()
                    self.check_raw(server, trace_id, body)
            self.assertTrue(until(lambda: len(self.peer.objects) == 1), list(self.peer.objects))

    def test_bytes_are_sent_while_they_arrive(self):
        """Of an upload that waits in the middle two parts are there already."""
        body = trace(700, 60 * MB)
        with self.serve_s3() as server:
            connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=kinetoscope.HANG_S)
            connection.putrequest('PUT', kinetoscope.trace_path('run', 'a.json'))
            connection.putheader('Content-Length', str(len(body)))
            connection.endheaders()
            connection.send(body[:40 * MB])
            self.assertTrue(until(lambda: any(len(parts) == 2 for _, parts in self.peer.uploads.values())))
            # Killed now, it leaves a row, and the next start removes the parts.
            kill(server)
            connection.close()
        with self.serve_s3():
            self.assertTrue(until(lambda: not self.peer.uploads and not self.rows()), (self.peer.uploads, self.rows()))

    def test_a_job_waits_for_bytes_that_are_not_there_now(self):
        """Acknowledged, killed before its analysis, started while the objects are down: it is analysed once they answer."""
        body = trace(800)
        with self.serve_s3('--ingest-workers', '1') as server:
            self.upload(server, 'a.json', body)
        self.rows("UPDATE job SET state = 'queued'")
        self.rows('DELETE FROM upload')
        self.forget_cache()
        self.peer.faults[:] = [('HEAD /uploads/some', 503)] * 6 + [('GET /uploads/some', 403)]
        with self.serve_s3('--ingest-workers', '1') as server:
            self.assertTrue(until(lambda: server.get('/api/v1/runs').json()['total'] == 1))
            self.assertEqual(self.peer.faults, [])


NO_CEPH = s3.Ceph.why_not() if HAS_S3 else 'built without S3'


@functools.lru_cache
def ceph():
    place = tempfile.mkdtemp(prefix='kinetoscope-ceph-')
    unittest.addModuleCleanup(shutil.rmtree, place, True)
    server = s3.Ceph(place)
    unittest.addModuleCleanup(server.stop)
    server.start()
    return server


@unittest.skipIf(NO_CEPH, NO_CEPH)
class ResultsOnCeph(Results):
    def setUp(self):
        super().setUp()
        self.prefix = self.id().split('.')[-1]
        self.url, self.env = 's3://%s/%s' % (s3.BUCKET, self.prefix), s3.environment(ceph().port)

    def at(self, key):
        return s3.Object(ceph().port, '%s/%s' % (self.prefix, self.name(key)))


@unittest.skipIf(NO_CEPH, NO_CEPH)
class Ceph(Case):
    def setUp(self):
        super().setUp()
        self.ceph = ceph()

    @unittest.skipUnless(CONTRACT.exists(), 'built without unit tests')
    def test_contract(self):
        Contract.run_contract(self, s3.environment(self.ceph.port, KINETOSCOPE_TEST_OBJECTS_URL='s3://uploads/contract'))

    def test_a_wrong_key_is_said(self):
        env = s3.environment(self.ceph.port, AWS_SECRET_ACCESS_KEY='wrong')
        with self.serve('s3://uploads/wrong', env) as server:
            self.assertTrue(until(lambda: b'uploads are refused' in server.get('/readyz').body))
            answer = self.upload(server, 'a.json', trace(1000), 503)
            self.assertIn('Retry-After', answer.headers)

    def test_nothing_acknowledged_is_lost(self):
        """Uploads of several clients while the gateway and the program are killed."""
        env, url = s3.environment(self.ceph.port), 's3://uploads/outage'
        kept, refused, lock = {}, [], threading.Lock()

        def client(server, first, stop):
            number = first
            while not stop.is_set():
                body = trace(number, 20 * MB if number % 10 == 9 else 10000)
                try:
                    answer = server.put('run', '%d.json' % number, body)
                except (OSError, http.client.HTTPException):
                    continue  # the program is gone: no answer, no promise
                with lock:
                    if answer.status in (200, 201):
                        kept['%d.json' % number] = hashlib.sha256(body).hexdigest()
                        number += 1
                    else:
                        refused.append((answer.status, answer.headers.get('Retry-After'), answer.body[:200]))
                        time.sleep(0.2)

        def with_clients(server, first, what):
            stop = threading.Event()
            clients = [threading.Thread(target=client, args=(server, first + i * 1000, stop)) for i in range(3)]
            for thread in clients:
                thread.start()
            try:
                what()
            finally:
                stop.set()
                for thread in clients:
                    thread.join()

        def outage():
            time.sleep(2)
            with lock:
                warm = len(kept)
            self.assertGreater(warm, 0)
            self.ceph.kill_gateway()
            self.assertTrue(until(lambda: any(status == 503 for status, _, _ in refused)), refused)
            self.assertTrue(until(lambda: b'uploads are refused' in server.get('/readyz').body))
            self.assertEqual(server.get('/readyz').status, 200)
            trace_id = server.get('/api/v1/traces').json()['traces'][0]['id']
            self.assertEqual(server.get('/api/v1/traces/%d/overview' % trace_id).status, 200)
            self.ceph.start_gateway()
            self.assertTrue(until(lambda: len(kept) > warm + 5, 90), refused[-3:])

        with self.serve(url, env) as server:
            with_clients(server, 100000, outage)
            self.assertEqual({(status, bool(after)) for status, after, _ in refused}, {(503, True)}, refused[-3:])

            with_clients(server, 200000, lambda: time.sleep(2) or kill(server))
        self.forget_cache()
        with self.serve(url, env) as server:
            self.assertTrue(until(lambda: not self.rows("SELECT 1 FROM job WHERE state IN ('queued', 'running')")))
            found = {}
            for offset in range(0, 100000, 100):
                items = server.get('/api/v1/traces', limit=100, offset=offset).json()['traces']
                found.update((item['file_name'], item) for item in items)
                if len(items) < 100:
                    break
            for name, sha256 in kept.items():
                self.assertIn(name, found)
                raw = server.get('/api/v1/traces/%d/raw' % found[name]['id'])
                self.assertEqual(raw.status, 200, raw.body[:300])
                self.assertEqual(hashlib.sha256(raw.body).hexdigest(), sha256)
            # No object without a row, no part of an upload that died, no row that waits.
            self.assertTrue(until(lambda: {row[1] for row in self.rows()} <= {'live', 'dying'}), self.rows())
            keys = sorted(key[len('outage/'):] for key in self.ceph.keys('outage/'))
            self.assertEqual(keys, sorted(row[0] for row in self.rows()))
            self.assertEqual(self.ceph.unfinished(), [])
        print('%d uploads acknowledged, %d refused, none lost' % (len(kept), len(refused)))


if __name__ == '__main__':
    unittest.main(verbosity=2)
