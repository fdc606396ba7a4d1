#!/usr/bin/env python3
"""The end of the server: what runs is finished, what waits stays for the next start, idle clients hold nothing up; and
records of its log as JSON."""
import json
import pathlib
import signal
import socket
import tempfile
import threading
import time
import unittest

import kinetoscope

# Far below the two seconds that civetweb sleeps, far above a busy machine's delays without it.
PROMPT_S = 1.5
ASYNC = {'Prefer': 'respond-async'}
SLOW_MEMBERS = 48  # seconds of reading, also where the disk is slow to acknowledge the upload


def read_answer(connection):
    data = b''
    while True:
        piece = connection.recv(65536)
        if not piece:
            return data
        data += piece


class Shutdown(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix='kinetoscope-shutdown-')
        self.data = self.folder.name + '/data'

    def tearDown(self):
        self.folder.cleanup()

    def server(self, *options):
        return kinetoscope.Server('--max-ratio', '0', *options, data_dir=self.data)

    def connect(self, server):
        return socket.create_connection(('127.0.0.1', server.port), timeout=kinetoscope.HANG_S)

    def test_idle_clients_hold_nothing_up(self):
        with self.server() as server:
            idle = [self.connect(server) for _ in range(12)]
            for connection in idle[:8]:
                connection.sendall(b'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
                self.assertIn(b'200', connection.recv(4096))
            idle[8].sendall(b'GET /heal')
            begin = time.monotonic()
            server.process.terminate()
            self.assertEqual(server.process.wait(kinetoscope.HANG_S), 0)
            self.assertLess(time.monotonic() - begin, PROMPT_S)
            for connection in idle:
                connection.close()

    def test_an_upload_is_finished_and_new_requests_are_refused(self):
        name, content = kinetoscope.fixture('cuda_training')
        with self.server() as server:
            upload = self.connect(server)
            upload.sendall(('PUT /api/v1/runs/r/traces/%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n'
                            % (name, len(content))).encode() + content[:1000])
            kinetoscope.until(lambda: any(pathlib.Path(self.data, 'incoming').iterdir()), 'the upload begins')
            server.process.terminate()
            kinetoscope.until(lambda: server.get('/readyz').status == 503, 'not ready')
            self.assertIsNone(server.process.poll())
            refused = server.get('/api/v1/runs')
            self.assertEqual((refused.status, 2 <= int(refused.headers['Retry-After']) <= 9), (503, True))
            upload.sendall(content[1000:])
            self.assertIn(b' 201 ', read_answer(upload).split(b'\r\n')[0])
            upload.close()
            self.assertEqual(server.process.wait(kinetoscope.HANG_S), 0)
        with self.server() as server:
            self.assertEqual(server.get('/api/v1/runs/r').json()['traces'], 1)

    def test_an_upload_that_stalls_is_given_up(self):
        with self.server('--drain-seconds', '1') as server:
            upload = self.connect(server)
            upload.sendall(b'PUT /api/v1/runs/r/traces/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{')
            kinetoscope.until(lambda: any(pathlib.Path(self.data, 'incoming').iterdir()), 'the upload begins')
            begin = time.monotonic()
            server.process.terminate()
            self.assertEqual(server.process.wait(kinetoscope.HANG_S), 0)
            took = time.monotonic() - begin
            self.assertTrue(0.9 < took < 1 + PROMPT_S, took)
            upload.close()
        with self.server() as server:
            self.assertEqual(server.get('/api/v1/runs').json()['runs'], [])

    def test_an_answer_that_nobody_takes_is_given_up(self):
        content = kinetoscope.large_trace(20 << 20)
        with self.server('--drain-seconds', '1') as server:
            kinetoscope.uploaded(server.put('r', 'a', content))
            taker = self.connect(server)
            taker.sendall(b'GET /api/v1/traces/1/raw HTTP/1.1\r\nHost: localhost\r\n\r\n')
            self.assertIn(b' 200 ', taker.recv(1000))
            time.sleep(0.5)
            begin = time.monotonic()
            server.process.terminate()
            self.assertEqual(server.process.wait(kinetoscope.HANG_S), 0)
            self.assertLess(time.monotonic() - begin, 2 + PROMPT_S)
            self.assertIn('stopped before every request was answered', server.log())
            taker.close()

    def test_streams_of_events_and_deleted_rows_hold_nothing_up(self):
        with self.server('--ingest-workers', '1', '--drain-seconds', '1') as server:
            kinetoscope.uploaded(server.put('old', 'a', kinetoscope.large_trace(8 << 20)))
            jobs = self.start_two_jobs(server)
            streams = [self.connect(server) for _ in range(10)]
            for index, stream in enumerate(streams):
                stream.sendall(b'GET /api/v1/jobs/%d HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n' % jobs[index % 2])
                self.assertIn(b' 200 ', stream.recv(200))
            self.assertEqual(server.ask('DELETE', '/api/v1/runs/old').status, 204)
            begin = time.monotonic()
            server.process.terminate()
            for stream in streams:
                read_answer(stream)
            self.assertEqual(server.process.wait(kinetoscope.HANG_S), 0)
            self.assertLess(time.monotonic() - begin, 2 + PROMPT_S)
            for stream in streams:
                stream.close()

    def start_two_jobs(self, server):
        slow = kinetoscope.blank_bomb(SLOW_MEMBERS, kinetoscope.large_trace(8 << 20))
        jobs = [server.put('r', name, trace, headers=ASYNC).json()['id'] for name, trace in (('first', slow), ('second', kinetoscope.large_trace(1 << 20)))]
        kinetoscope.until(lambda: server.get('/api/v1/jobs/%d' % jobs[0]).json()['state'] == 'running', 'the first job runs')
        return jobs

    def test_the_running_job_is_finished_and_the_queued_one_stays(self):
        with self.server('--ingest-workers', '1', '--drain-seconds', '200') as server:
            jobs = self.start_two_jobs(server)
            server.process.terminate()
            self.assertEqual(server.process.wait(kinetoscope.HANG_S), 0)
            self.assertIn('job done job=%d run="r" file="first"' % jobs[0], server.log())
            self.assertNotIn('job=%d ' % jobs[1], server.log())
        with self.server() as server:
            self.assertIn('1 unfinished jobs taken up again', server.log())
            kinetoscope.until(lambda: server.get('/api/v1/jobs/%d' % jobs[1]).json()['state'] == 'done', 'the second job')

    def test_a_job_that_takes_too_long_begins_again(self):
        with self.server('--ingest-workers', '1', '--drain-seconds', '0') as server:
            jobs = self.start_two_jobs(server)
            begin = time.monotonic()
            server.process.terminate()
            self.assertEqual(server.process.wait(kinetoscope.HANG_S), 0)
            self.assertLess(time.monotonic() - begin, PROMPT_S)
            self.assertIn('begin again at the next start', server.log())
        with self.server() as server:
            self.assertIn('2 unfinished jobs taken up again', server.log())
            for job in jobs:
                kinetoscope.until(lambda: server.get('/api/v1/jobs/%d' % job).json()['state'] == 'done', 'job %d' % job)

    def test_a_second_signal_ends_at_once(self):
        server = self.server()
        with self.assertRaises(AssertionError), server:
            upload = self.connect(server)
            upload.sendall(b'PUT /api/v1/runs/r/traces/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{')
            kinetoscope.until(lambda: any(pathlib.Path(self.data, 'incoming').iterdir()), 'the upload begins')
            server.process.terminate()
            kinetoscope.until(lambda: 'a second signal ends at once' in server.log(), 'the first signal')
            time.sleep(0.2)
            server.process.terminate()
            self.assertEqual(server.process.wait(kinetoscope.HANG_S), -signal.SIGTERM)
            upload.close()

    def test_the_log_as_json(self):
        with self.server('--log-format', 'json', '--log-level', 'debug') as server:
            server.ask('GET', '/api/v1/runs/%22%0a?q=%22\\x1b&z=%ff')
            kinetoscope.until(lambda: '"/api/v1/runs/' in server.log(), 'the record of the request')
            threads = [threading.Thread(target=server.get, args=('/healthz',)) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            kinetoscope.until(lambda: server.log().count('/healthz') == 8, 'the other records')
            records = [json.loads(line) for line in server.log().splitlines() if not line.startswith('Kinetoscope ')]
        for record in records:
            self.assertRegex(record['time'], r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$')
            self.assertIn(record['level'], ('error', 'warn', 'info', 'debug'))
        request = next(r for r in records if r['message'] == 'request')
        self.assertEqual([request[k] for k in ('client', 'method', 'path', 'query', 'status', 'received_bytes')],
                         ['127.0.0.1', 'GET', '/api/v1/runs/%22%0a', 'q=%22\\x1b&z=%ff', 400, 0])
        self.assertGreater(request['sent_bytes'], 100)
        self.assertGreaterEqual(request['took_ms'], 0)


kinetoscope.main()
