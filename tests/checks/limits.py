#!/usr/bin/env python3
"""Every limit refuses with a problem that names it, and a client that takes what it can get does not disturb another
address. --long: ten thousand idle connections instead of some hundreds."""
import contextlib
import io
import json
import resource
import socket
import sys
import tarfile
import time
import unittest

import kinetoscope

MB = 1 << 20
LONG = '--long' in sys.argv
GREEDY = '127.0.0.2'  # the address of the client that takes too much


class Raw:
    """A connection by hand, from an address of choice."""

    def __init__(self, server, address='127.0.0.1', receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(kinetoscope.HANG_S)
        self.socket.bind((address, 0))
        self.socket.connect(('127.0.0.1', server.port))

    def send(self, text):
        self.socket.sendall(text.encode())

    def receive(self):
        """Everything up to the end of the connection."""
        parts = []
        with contextlib.suppress(ConnectionResetError):
            while part := self.socket.recv(MB):
                parts.append(part)
        return b''.join(parts)

    def answer(self):
        """(status, problem) of the one answer that the connection ends with."""
        head, _, body = self.receive().partition(b'\r\n\r\n')
        self.socket.close()
        return int(head.split()[1]), json.loads(body)


def head(method, path, *lines):
    return '\r\n'.join(['%s %s HTTP/1.1' % (method, path), 'Host: 127.0.0.1', *lines]) + '\r\n\r\n'


def rss_mb(server):
    with open('/proc/%d/status' % server.process.pid) as status:
        return next(int(line.split()[1]) >> 10 for line in status if line.startswith('VmRSS'))


class Limits(unittest.TestCase):
    def refused(self, answer, status, *words):
        self.assertEqual(answer.status, status, answer.body[:500])
        self.assertEqual(answer.type, 'application/problem+json')
        for word in words:
            self.assertIn(word, answer.json()['detail'])

    def test_requests(self):
        with kinetoscope.Server('--max-url', '1K', '--max-header', '8K') as server:
            self.assertEqual(server.get('/api/v1/runs', q='x' * 900).status, 200)
            self.refused(server.get('/api/v1/runs', q='x' * 1100), 414, '1024', '--max-url')
            self.refused(server.ask('GET', '/api/v1/runs', headers={'X': 'x' * 9000}), 431, '8192', '--max-header')
            self.refused(server.ask('GET', '/api/v1/runs', headers={'X%d' % i: 'x' for i in range(90)}), 431, '64 header lines')
            self.refused(server.ask('GET', '/api/v1/runs?' + '&'.join('a=1' for _ in range(65))), 400, '64')

    def test_uploads(self):
        with kinetoscope.Server('--max-upload', '1M') as server:
            self.refused(server.put('r', 'a.json', b' ' * (MB + 1)), 413, str(MB), '--max-upload')
            self.refused(server.ask('PUT', kinetoscope.trace_path('r', 'b.json'), iter([b' ' * MB] * 2)), 413, '--max-upload')
            # 50 GB are refused before the first byte of them.
            raw = Raw(server)
            raw.send(head('PUT', kinetoscope.trace_path('r', 'c.json'), 'Content-Length: %d' % (50 << 30), 'Expect: 100-continue'))
            status, problem = raw.answer()
            self.assertEqual(status, 413)
            self.assertIn('--max-upload', problem['detail'])

    def test_what_a_file_becomes(self):
        with kinetoscope.Server('--max-events', '1000') as server:
            before = rss_mb(server)
            self.refused(server.put('r', 'gb.json.gz', kinetoscope.blank_bomb(16)), 413, '1000', '--max-ratio')
            packed = io.BytesIO()
            with tarfile.open(fileobj=packed, mode='w:gz') as archive:
                member = tarfile.TarInfo('rank0.pt.trace.json.gz')
                content = kinetoscope.blank_bomb(16)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
            self.refused(server.put('r', 'nested.tar.gz', packed.getvalue()), 413, '--max-ratio')
            self.refused(server.put('r', 'many.json', kinetoscope.large_trace(MB)), 413, '1000', '--max-events')
            self.assertLess(rss_mb(server) - before, 512)
        with kinetoscope.Server('--max-decompressed', '16M') as server:
            self.refused(server.put('r', 'mb.json.gz', kinetoscope.blank_bomb(1)), 413, str(16 * MB), '--max-decompressed')

        with kinetoscope.Server('--ingest-memory', '1M') as server:
            self.refused(server.put('r', 'mb.json', kinetoscope.large_trace(16 * MB)), 413, '--ingest-memory')

    def test_analyses_on_request(self):
        """The events fit into the quarter of the memory that a request may take, not what a long analysis needs beside them."""
        with kinetoscope.Server('--ingest-memory', '16M') as server:
            trace = server.put('r', 'mb.json', kinetoscope.large_trace(8 * MB)).json()
            path = f'/api/v1/traces/{trace["id"]}/'
            self.assertEqual(server.get(path + 'contents').status, 200)
            self.refused(server.get(path + 'critical-path'), 413, f'{trace["events"]} events', 'may take 4', '--ingest-memory')

    def test_what_is_skipped(self):
        with kinetoscope.Server() as server:
            event = b'{"ph": "X", "cat": "cpu_op", "name": "%s", "ts": 1, "dur": 1, "pid": 1, "tid": 1}'
            content = b'{"traceEvents": [%s, %s]}' % (event % b'short', event % (b'x' * (65 * MB)))
            trace = kinetoscope.uploaded(server.put('r', 'long.json', content))[0]
            self.assertEqual([(w['code'], w['count']) for w in trace['warnings'] if 'oversized' in w['code']], [('oversized_value', 1)])
            self.assertEqual(trace['events'], 1)

    def test_small_bodies(self):
        with kinetoscope.Server() as server:
            self.refused(server.ask('POST', '/api/v1/comparisons', json.dumps({'base': 'x' * (256 << 10)})), 413, str(256 << 10))
            form = {'Content-Type': 'application/x-www-form-urlencoded'}
            self.refused(server.ask('POST', '/login', 'token=' + 'x' * (8 << 10), form), 413, str(8 << 10))

    def test_idle_connections(self):
        with kinetoscope.Server() as server:
            raw = Raw(server)
            raw.send(head('GET', '/healthz'))
            self.assertIn(b'Keep-Alive: timeout=4', raw.socket.recv(4096))
            begin = time.monotonic()
            self.assertEqual(raw.receive(), b'')
            self.assertGreater(time.monotonic() - begin, 4)
            raw.socket.close()

    def test_queue(self):
        later = {'Prefer': 'respond-async'}
        with kinetoscope.Server('--ingest-workers', '1', '--max-queued-jobs', '1', '--max-ratio', '0', '--drain-seconds', '0') as server:
            # Seconds of work, so that it runs until all has been asked.
            self.assertEqual(server.put('r', 'runs.json.gz', kinetoscope.blank_bomb(16), headers=later).status, 202)
            while not server.get('/metrics').body.count(b'kinetoscope_jobs{state="running"} 1'):
                time.sleep(0.01)
            name, content = kinetoscope.fixture('cuda_training')
            self.assertEqual(server.put('r', 'a' + name, content, headers=later).status, 202)
            refusal = server.put('r', 'b' + name, content, headers=later)
            self.refused(refusal, 503, '--max-queued-jobs')
            # Those that are refused at once do not come back at once.
            waits = {int(server.put('r', 'b' + name, content, headers=later).headers['Retry-After']) for _ in range(20)}
            self.assertGreater(len(waits), 1)
            self.assertTrue(waits <= set(range(2, 10)), waits)

    def test_slow_clients(self):
        with kinetoscope.Server('--head-timeout', '2', '--request-timeout', '3') as server:
            name = 'wide.json'
            wide = kinetoscope.fixture_json('cuda_training') + b' ' * (16 * MB)
            trace = kinetoscope.uploaded(server.put('r', name, wide))[0]
            # One that takes nothing of its answer is cut; others go on meanwhile.
            reader = Raw(server, GREEDY, receive_buffer=4096)
            reader.send(head('GET', '/api/v1/traces/%d/raw' % trace['id']))
            loris, idle, silent = Raw(server, GREEDY), Raw(server, GREEDY), Raw(server, GREEDY)
            silent.send(head('PUT', kinetoscope.trace_path('r', 'x.json'), 'Content-Length: 100'))
            chunked = [Raw(server, GREEDY) for _ in range(3)]
            for raw, begun in zip(chunked, ('', '5\r\n{"tra\r\n', '64\r\n{"traceEvents": [')):
                raw.send(head('PUT', kinetoscope.trace_path('r', 'y.json'), 'Transfer-Encoding: chunked') + begun)
            dumb = Raw(server, GREEDY)
            dumb.send(head('PATCH', '/api/v1/traces/%d' % trace['id'], 'Content-Type: application/json', 'Content-Length: 100'))
            begin = time.monotonic()
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                loris.send('GET / HTTP/1.1\r\n')
                while time.monotonic() - begin < 2.5:
                    loris.send('X: y\r\n')
                    time.sleep(0.2)
            for late in (loris, idle):
                status, problem = late.answer()
                self.assertEqual(status, 408)
                self.assertIn('--head-timeout', problem['detail'])
            self.assertEqual(server.get('/healthz').status, 200)
            for raw in (silent, *chunked, dumb):
                status, problem = raw.answer()
                self.assertEqual(status, 408)
                self.assertIn('--request-timeout', problem['detail'])
            time.sleep(max(0, begin + 8 - time.monotonic()))
            self.assertLess(len(reader.receive()), len(wide))
            reader.socket.close()

    def test_connections(self):
        count = 10000 if LONG else 600
        with kinetoscope.Server('--max-connections-per-client', '40') as server:
            idle = [Raw(server, GREEDY) for _ in range(count)]
            for _ in range(20):
                self.assertEqual(server.get('/healthz').status, 200)
            name, content = kinetoscope.fixture('cuda_training')
            kinetoscope.uploaded(server.put('r', name, content))
            status, problem = idle[-1].answer()
            self.assertEqual(status, 429)
            self.assertIn('--max-connections-per-client', problem['detail'])
            for raw in idle:
                raw.socket.close()
            end = time.monotonic() + kinetoscope.HANG_S
            while time.monotonic() < end:  # who has closed his connections may come again
                again = Raw(server, GREEDY)
                again.send(head('GET', '/healthz', 'Connection: close'))
                found = again.receive()
                again.socket.close()
                if found.startswith(b'HTTP/1.1 200'):
                    break
            self.assertLess(time.monotonic(), end)

    def test_a_trusted_proxy_has_no_cap(self):
        with kinetoscope.Server('--max-connections-per-client', '2', '--trusted-proxy', GREEDY) as server:
            kept = [Raw(server, GREEDY) for _ in range(30)]
            for raw in kept:
                raw.send(head('GET', '/healthz', 'Connection: close'))
                self.assertTrue(raw.receive().startswith(b'HTTP/1.1 200'))
                raw.socket.close()

    def test_uploads_of_one_address(self):
        with kinetoscope.Server('--max-connections-per-client', '4') as server:
            silent = [Raw(server, GREEDY) for _ in range(2)]
            for i, raw in enumerate(silent):
                raw.send(head('PUT', kinetoscope.trace_path('r', '%d.json' % i), 'Content-Length: 100', 'Expect: 100-continue'))
                self.assertTrue(raw.socket.recv(100).startswith(b'HTTP/1.1 100'))
            third = Raw(server, GREEDY)
            third.send(head('PUT', kinetoscope.trace_path('r', '3.json'), 'Content-Length: 100', 'Expect: 100-continue', 'Connection: close'))
            status, problem = third.answer()
            self.assertEqual(status, 503)
            self.assertIn('--max-connections-per-client', problem['detail'])
            name, content = kinetoscope.fixture('cuda_training')
            kinetoscope.uploaded(server.put('r', name, content))
            for raw in silent:
                raw.socket.close()


if LONG:
    sys.argv.remove('--long')
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(limit, 20000) if limit > 0 else 20000, limit))
kinetoscope.main()
