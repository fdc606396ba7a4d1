#!/usr/bin/env python3
"""/kinetoscope.py as the server serves it: the handler with an object of torch.profiler's shape, upload, watch, gate; a server that is not
there, a profiler that fails, and a full queue cost no step."""
import gzip
import http.server
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import history
import kinetoscope

GONE = 'http://127.0.0.1:9'  # discard: nothing listens


class Profiler:
    """What torch.profiler hands to on_trace_ready."""

    def __init__(self, level=1000, error=None):
        self.level, self.error = level, error

    def export_chrome_trace(self, path):
        if self.error:
            raise self.error
        with open(path, 'wb') as file:
            file.write(gzip.decompress(history.trace(self.level)))


class Client(unittest.TestCase):
    """A server, and its client as a module."""

    @classmethod
    def setUpClass(cls):
        cls.server = kinetoscope.Server().__enter__()
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, 'kinetoscope_client.py')
        answer = cls.server.get('/kinetoscope.py')
        assert answer.status == 200 and answer.type.startswith('text/x-python'), answer
        with open(cls.path, 'wb') as file:
            file.write(answer.body)
        spec = importlib.util.spec_from_file_location('kinetoscope_client', cls.path)
        cls.client = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(cls.client)
        cls.client.RETRIES = 0

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()
        cls.server.__exit__(None, None, None)

    def run_client(self, *words):
        return subprocess.run([sys.executable, self.path, *words, '--url', self.server.url], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=120, check=False)

    def points(self, **query):
        return self.server.get('/api/v1/history', **query).json()['rows']


class Handler(Client):
    def test_the_handler_uploads_each_window_and_tags_the_run(self):
        handler = self.client.handler(self.server.url, run='trained', tags={'branch': 'main', 'commit_time': '1700000000'})
        for level in (1000, 2000):
            handler(Profiler(level))
        handler.close()
        found = self.points(run='trained')
        self.assertEqual([row['value'] for row in found], [1000000, 2000000])
        self.assertIn('branch=main', found[0]['tags'])
        self.assertTrue(any(tag.startswith('python=') for tag in found[0]['tags']))
        self.assertEqual(found[0]['time'], 1700000000)
        self.assertFalse(os.path.exists(handler.folder))

    def test_no_step_fails_or_waits(self):
        started = time.monotonic()
        handler = self.client.handler(GONE, run='lost')
        for number in range(20):
            handler(Profiler())
        handler(Profiler(error=RuntimeError('no trace')))
        self.assertLess(time.monotonic() - started, 20)
        handler.close(30)
        self.assertEqual(self.points(run='lost'), [])

    def test_what_cannot_be_read_is_not_tried_again(self):
        with self.assertRaises(self.client.Refused) as caught:
            self.client.Client(self.server.url).put('lost', os.path.join(self.folder.name, 'gone.json'), 'gone.json')
        self.assertIn('cannot be read', str(caught.exception))

    def test_a_full_queue_drops_and_never_blocks(self):
        handler = self.client.Handler(self.server.url, run='full', queued_max=1)
        gate = threading.Event()
        send = handler._send
        handler._send = lambda *job: (gate.wait(30), send(*job))
        for number in range(5):
            handler(Profiler())
        gate.set()
        handler.close()
        self.assertIn(len(self.points(run='full')), (1, 2))


class Commands:
    """What the client and the program do alike."""

    def test_files_and_directories_are_uploaded(self):
        with tempfile.TemporaryDirectory() as folder:
            below = os.path.join(folder, 'vllm')
            os.mkdir(below)
            for name, level in (('a.pt.trace.json.gz', 1000), ('b.pt.trace.json.gz', 3000)):
                with open(os.path.join(below, name), 'wb') as file:
                    file.write(history.trace(level))
            done = self.run_client('upload', below, '--tag', 'kind=serving')
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([row['value'] for row in self.points(run='vllm')], [2000000])
            self.assertEqual(self.points(run='vllm')[0]['tags'], ['kind=serving'])
            done = self.run_client('watch', folder, '--run', 'watched', '--every', '1', '--once')
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(self.points(run='watched')), 1)
            self.assertEqual(self.run_client('upload', os.path.join(folder, 'nothing')).returncode, 1)

    def test_a_watch_of_what_is_refused_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, content in (('good.pt.trace.json.gz', history.trace(1000)), ('no.sqlite', b'no trace')):
                with open(os.path.join(folder, name), 'wb') as file:
                    file.write(content)
            done = self.run_client('watch', folder, '--run', 'half', '--every', '1', '--once')
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b'no.sqlite', done.stderr)
        self.assertEqual(len(self.points(run='half')), 1)

    def test_a_watch_ends_with_an_empty_file(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, 'w.json'), 'wb'):
                pass
            done = self.run_client('watch', folder, '--run', 'empty', '--every', '1', '--once')
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count(b'w.json'), 1, done.stderr)

    def test_the_endings_are_those_of_the_table_of_formats(self):
        with open(os.path.join(os.path.dirname(__file__), '..', '..', 'ingest', 'formats', 'format.c'), encoding='utf-8') as file:
            named = re.findall(r'"(\.[a-z-]+)"', file.read())
        self.assertEqual(set(self.client.ENDINGS), set(named) - {'.gz', '.zst'})

    def test_every_ending_that_the_server_reads_is_sent(self):
        with tempfile.TemporaryDirectory() as folder:
            names = ['a' + ending + packed for ending in self.client.ENDINGS for packed in ('', '.gz', '.zst')]
            for name in names + ['b.nsys-rep', 'b.md', 'b.gz', 'json']:
                with open(os.path.join(folder, name), 'wb') as file:
                    file.write(b'no trace')
            done = self.run_client('upload', folder)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(sorted(name for name in names if (os.sep + name + ': ').encode() not in done.stderr), [])
        self.assertNotIn(b'/b.', done.stderr)
        self.assertNotIn(b'/json: ', done.stderr)

    def baseline(self):
        for number, level in enumerate((1000, 1001, 1002, 1003)):
            run = 'base-%d' % number
            self.server.put(run, 'w.pt.trace.json.gz', history.trace(level))
            self.server.ask('PATCH', '/api/v1/runs/' + run, json.dumps({'tags': ['gated']}).encode())
        self.server.put('slow', 'w.pt.trace.json.gz', history.trace(2000))

    def test_the_gate_exits_with_three(self):
        self.baseline()
        slow = self.run_client('gate', '--run', 'slow', '--tag', 'gated')
        self.assertEqual((slow.returncode, slow.stdout.split(b'\n')[0]), (3, b'gate: fail'), slow.stderr)
        self.assertEqual(self.run_client('gate', '--run', 'slow', '--tag', 'gated', '--fail-if', 'step_time>150%').returncode, 0)
        self.assertEqual(self.run_client('gate', '--run', 'slow', '--tag', 'gated', '--fail-if', 'step_time>5% and p<0.05').returncode, 3)
        self.assertEqual(self.run_client('gate', '--run', 'slow', '--tag', 'gated', '--fail-if', 'step_time>5% and p<').returncode, 2)
        junit = self.run_client('gate', '--run', 'slow', '--tag', 'gated', '--format', 'junit')
        self.assertIn(b'failures="1"', junit.stdout)
        self.assertEqual(self.run_client('gate', '--run', 'nowhere').returncode, 1)
        self.assertEqual(self.run_client('gate').returncode, 2)


class ClientCommands(Commands, Client):
    pass


class ProgramCommands(Commands, Client):
    def run_client(self, *words, url=None, token=''):
        return kinetoscope.run_program(*words, '--server', url or self.server.url, env={'KINETOSCOPE_TOKEN': token})

    def test_the_baseline_and_the_file_of_a_verdict(self):
        self.baseline()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'verdict.md')
            words = ('gate', 'slow', '--base', 'tag:gated', '--format', 'markdown', '--output', path)
            self.assertEqual(self.run_client(*words).returncode, 3)
            with open(path, encoding='utf-8') as file:
                said = file.read()
        body = json.dumps({'candidate': {'run': 'slow'}, 'tag': ['gated']}).encode()
        self.assertEqual(said, self.server.ask('POST', '/api/v1/gate?format=markdown', body, {'Content-Type': 'application/json'}).body.decode())
        self.assertEqual(self.run_client('gate', 'slow', '--base', 'gated').returncode, 2)
        self.assertEqual(self.run_client('gate', 'slow', '--fail-if', 'nothing>1%').returncode, 2)
        self.assertEqual(self.run_client('gate', 'slow', '--base', 'tag:gated', '--fail-if', 'step_time>5% and p<0.05').returncode, 3)
        wrong = self.run_client('gate', 'slow', '--fail-if', 'step_time>5% and p<2')
        self.assertEqual((wrong.returncode, b'and p<P' in wrong.stderr), (2, True), wrong.stderr)
        gone = self.run_client('gate', 'slow', url=GONE)
        self.assertEqual(gone.returncode, 1)
        self.assertIn(GONE.encode(), gone.stderr)

    def test_an_upload_is_packed_carries_the_token_and_is_tried_again(self):
        asked = []

        class Busy(http.server.BaseHTTPRequestHandler):
            def do_PUT(self):  # pylint: disable=invalid-name
                body = self.rfile.read(int(self.headers['Content-Length']))
                asked.append((self.path, self.headers['Authorization'], body))
                answer = b'{"detail": "later"}' if len(asked) == 1 else b'{"traces": [{"url": "http://there/#/trace/1"}]}'
                self.send_response(503 if len(asked) == 1 else 201)
                self.send_header('Content-Length', str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        busy = http.server.HTTPServer(('127.0.0.1', 0), Busy)
        threading.Thread(target=busy.serve_forever, daemon=True).start()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'w.json')
            content = b'{"traceEvents": [' + b' ' * 100000 + b']}'
            with open(path, 'wb') as file:
                file.write(content)
            done = self.run_client('upload', path, '--run', 'a b', '--rank', '3', '--project', 'team/x', token='secret',
                                   url='http://127.0.0.1:%d' % busy.server_port)
        busy.shutdown()
        busy.server_close()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b'later; trying again', done.stderr)
        self.assertIn(b'w.json: http://there/#/trace/1', done.stdout)
        self.assertEqual([(path, token, gzip.decompress(body) == content) for path, token, body in asked],
                         2 * [('/api/v1/runs/a%20b/traces/w.json.gz?project=team%2Fx&rank=3', 'Bearer secret', True)])

    def test_without_libcurl_it_says_what_is_missing(self):
        done = self.run_client('gate', 'slow')
        if b'libcurl' not in done.stderr:
            self.skipTest('this program has libcurl')
        self.assertEqual(done.returncode, 1)


if __name__ == '__main__':
    kinetoscope.main()
