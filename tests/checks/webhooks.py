#!/usr/bin/env python3
"""Webhooks from outside: told once, signed, tried again, never to private addresses unless allowed, no redirects; the log of it."""
import hashlib
import hmac
import http.server
import json
import os
import tempfile
import threading
import time
import unittest

import history
import kinetoscope

SECRET = 'a "quoted" \\ secret'
SLOW = 'main-%02d' % history.CHANGE


class Receiver:
    """Takes what is posted; answers with `status`."""

    def __init__(self, status=204):
        outer = self
        self.status, self.got = status, []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # pylint: disable=invalid-name
                body = self.rfile.read(int(self.headers['Content-Length']))
                outer.got.append((self.path, dict(self.headers), body))
                self.send_response(outer.status)
                if outer.status == 302:
                    self.send_header('Location', '/elsewhere')
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = 'http://127.0.0.1:%d' % self.server.server_port

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Webhooks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.receivers = []

    def tearDown(self):
        for receiver in self.receivers:
            receiver.close()
        self.folder.cleanup()

    def receiver(self, status=204):
        self.receivers.append(Receiver(status))
        return self.receivers[-1]

    def serve(self, *lines, private=True):
        path = os.path.join(self.folder.name, 'webhooks')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('# whom to tell\n\n' + '\n'.join(lines) + '\n')
        return kinetoscope.Server('--webhooks', path, *(['--webhooks-private'] if private else []), data_dir=os.path.join(self.folder.name, 'data'))

    def upload(self, server, levels=history.LEVELS_US, tag='branch=main'):
        for number, level in enumerate(levels):
            run = 'main-%02d' % number
            server.put(run, 'w.pt.trace.json.gz', history.trace(level, ('void gemm<float, 4>(int)',)))
            tags = [tag, 'commit_time=%d' % (1700000000 + number)]
            server.ask('PATCH', '/api/v1/runs/' + run, json.dumps({'tags': tags}).encode())

    def log(self, server):
        return server.get('/api/v1/webhooks').json()

    def eventually(self, check, seconds=30):
        until = time.monotonic() + seconds
        while not check():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.1)

    def test_a_regression_is_told_once(self):
        there, slack = self.receiver(), self.receiver()
        secret = SECRET.replace('\\', '\\\\').replace('"', '\\"')
        lines = ('%s/hook/path step_time tag=branch=main "secret=%s"' % (there.url, secret), '%s/slack step_time format=slack' % slack.url,
                 '%s/none "kernel:void gemm<float, 4>(int)"' % there.url, '%s/none step_time tag=branch=other' % there.url)
        with self.serve(*lines) as server:
            self.upload(server)
            self.eventually(lambda: there.got and slack.got)
            (path, headers, body), = there.got
            self.assertEqual(path, '/hook/path')
            self.assertEqual(headers['X-Kinetoscope-Signature'], 'sha256=' + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest())
            self.assertEqual((headers['Content-Type'], headers['X-Kinetoscope-Event']), ('application/json', 'regression'))
            said = json.loads(body)
            change, = server.get('/api/v1/history/changes', tag='branch=main').json()['changes']
            self.assertEqual({key: said[key] for key in ('event', 'metric', 'project', 'run', 'trace', 'time', 'index', 'n')},
                             {'event': 'regression', 'metric': 'step_time', 'project': None, 'run': SLOW, 'trace': change['trace'], 'time': change['time'],
                              'index': change['index'], 'n': said['n']})
            self.assertIn('#/history?metric=step_time&tag=branch%3Dmain', said['url'])
            text = json.loads(slack.got[0][2])
            self.assertEqual(list(text), ['text'])
            self.assertIn('step_time is worse since ' + SLOW, text['text'])
            self.assertNotIn('X-Kinetoscope-Signature', slack.got[0][1])
            log = self.log(server)
            self.assertEqual(sorted((row['run'], row['state'], row['status'], row['attempts'], row['place']) for row in log['deliveries']),
                             sorted((SLOW, 'delivered', 204, 1, url) for url in (there.url, slack.url)))
        with self.serve(*lines) as server:
            server.put('main-12', 'w.pt.trace.json.gz', history.trace(2002))
            time.sleep(2.5)
            self.assertEqual((len(there.got), len(slack.got), self.log(server)['total']), (1, 1, 2))

    def test_what_fails_is_tried_again_later(self):
        for status in (500, 302):
            there = self.receiver(status)
            self.folder.cleanup()
            self.folder = tempfile.TemporaryDirectory()
            with self.serve(there.url + '/a/secret/path step_time') as server:
                self.upload(server)
                self.eventually(lambda: [row['attempts'] for row in self.log(server)['deliveries']] == [1])
                row, = self.log(server)['deliveries']
                self.assertEqual((row['state'], row['status'], row['error']), ('waiting', status, 'it answers %d' % status))
                self.assertAlmostEqual(row['next_at_s'], time.time() + 60, delta=15)
                self.assertEqual([path for path, _, _ in there.got], ['/a/secret/path'], 'a redirect is not followed')

    def test_private_addresses_are_refused(self):
        there = self.receiver()
        port = there.url.rpartition(':')[2]
        with self.serve('%s/p step_time' % there.url, 'http://localhost:%s/p step_time' % port, private=False) as server:
            self.upload(server)
            self.eventually(lambda: sum(row['attempts'] for row in self.log(server)['deliveries']) == 2)
            for row in self.log(server)['deliveries']:
                self.assertEqual(row['state'], 'waiting')
                self.assertIn('not public', row['error'])
                self.assertNotIn('/p', row['error'].partition('://')[2])
            self.assertEqual(there.got, [])

    def test_a_file_that_cannot_be_read_ends_the_start(self):
        for line, word in (('nothing', 'the form is'), ('http://h/ no_metric', 'no metric'), ('http://h/ step_time x=1', '"x=1"'), ('http://h/ step_time p=2', 'p'),
                           ('ftp://h/ step_time', 'the form is'), ('http://h/ "step_time', 'the form is')):
            path = os.path.join(self.folder.name, 'bad')
            with open(path, 'w', encoding='utf-8') as file:
                file.write('# one\n' + line + '\n')
            done = kinetoscope.run_program('serve', '--listen', '127.0.0.1:0', '--data-dir', os.path.join(self.folder.name, 'd'), '--webhooks', path)
            self.assertEqual(done.returncode, 1, line)
            self.assertIn(b'line 2', done.stderr)
            self.assertIn(word.encode(), done.stderr)


if __name__ == '__main__':
    kinetoscope.main()
