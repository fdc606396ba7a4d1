#!/usr/bin/env python3
"""A machine whose clock is wrong, before 1970 or far ahead: uploads, tokens, sessions, retention and backups work all the
same. And traces whose events are from before 1970 answer as others do."""
import http.cookies
import json
import os
import pathlib
import shutil
import sys
import tarfile
import tempfile
import time
import unittest
import urllib.parse

import kinetoscope

YEAR_S = 365 * 86400
# Unix seconds; -1 and 0 are what rows use for "never"
MOMENTS = {'1965': -5 * YEAR_S, 'a second before': -2, 'the beginning': 0, '2038': 2 ** 31 + 60, '10001': 8031 * YEAR_S + 2000 * 86400}


class WrongClock(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='kinetoscope-clock-'))
        self.data_dir = self.folder / 'data'

    def tearDown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def run_in(self, env, *arguments):
        done = kinetoscope.run_program(*arguments, '--data-dir', self.data_dir, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode().strip()

    def at_each_moment(self, check):
        for name, moment in MOMENTS.items():
            with self.subTest(clock=name):
                shutil.rmtree(self.data_dir, ignore_errors=True)
                check(kinetoscope.clock_env(moment - time.time()))

    def test_uploads(self):
        self.at_each_moment(self.uploads)

    def uploads(self, env):
        name, content = kinetoscope.fixture('cuda_training')
        for turn in range(2):  # also after a restart, which forgets what never arrived
            with kinetoscope.Server('--retain-days', '30', data_dir=str(self.data_dir), env=env) as server:
                trace = kinetoscope.uploaded(server.put('run', name, content))[0]
                self.assertRegex(trace['uploaded_at'], r'^\d{4,5}-\d\d-\d\dT\d\d:\d\d:\d\dZ$')
                job = server.put('run', 'later%d.json' % turn, content, headers={'Prefer': 'respond-async'})
                self.assertEqual(job.status, 202)
                for path in ('runs', 'runs/run', 'traces/%d' % trace['id'], 'traces/%d/overview' % trace['id'],
                             'traces/%d/raw' % trace['id'], 'comparisons', 'me'):
                    self.assertEqual(server.get('/api/v1/' + path).status, 200, path)
                self.assertEqual(server.get('/metrics').status, 200)
                self.assertNotRegex(server.log(), r'(?m)^\S+ error ')
        archive = self.folder / 'all.tar'
        os.utime(next((self.data_dir / 'raw').glob('*/*')), (-YEAR_S, -YEAR_S))
        self.run_in(env, 'backup', archive)
        with tarfile.open(archive) as tar:
            self.assertEqual(min(member.mtime for member in tar.getmembers()), 0)
        shutil.rmtree(self.data_dir)
        self.run_in(env, 'restore', archive)

    def test_tokens_and_sessions(self):
        self.at_each_moment(self.tokens_and_sessions)

    def tokens_and_sessions(self, env):
        token = self.run_in(env, 'token', 'add', 'one', '--role', 'viewer').split()[-1]
        gone = self.run_in(env, 'token', 'add', 'two', '--role', 'viewer').split()[-1]
        self.run_in(env, 'token', 'revoke', 'two')
        self.assertRegex(self.run_in(env, 'token', 'list'), r'two .*made \d{4,5}-.*revoked \d{4,5}-')
        with kinetoscope.Server(data_dir=str(self.data_dir), env=env) as server:
            def status(headers):
                return server.ask('GET', '/api/v1/runs', headers=headers).status
            self.assertEqual(status({'Authorization': 'Bearer ' + token}), 200)
            self.assertEqual(status({'Authorization': 'Bearer ' + gone}), 401)
            answer = server.ask('POST', '/login', urllib.parse.urlencode({'token': token}),
                                {'Content-Type': 'application/x-www-form-urlencoded'})
            self.assertEqual(answer.status, 303)
            cookies = http.cookies.SimpleCookie(answer.headers['Set-Cookie'])
            cookie = '; '.join('%s=%s' % (key, morsel.value) for key, morsel in cookies.items())
            self.assertEqual(status({'Cookie': cookie}), 200)

    def test_events_before_1970(self):
        document = json.loads(kinetoscope.fixture_json('cuda_training'))
        first = min(e['ts'] for e in document['traceEvents'] if 'ts' in e)
        with kinetoscope.Server() as server:
            told = {}
            for name, begin in {'now': first, '1967': -3 * YEAR_S * 1000000, 'across': -5000}.items():
                for event in document['traceEvents']:
                    if 'ts' in event:
                        event['ts'] += begin - first
                first = begin
                trace = kinetoscope.uploaded(server.put('run', name + '.json', json.dumps(document).encode()))[0]
                self.assertEqual(int(trace['start_clock_ns']), begin * 1000)
                views = [server.get('/api/v1/traces/%d/%s' % (trace['id'], view)) for view in ('operators', 'kernels', 'timeline')]
                self.assertEqual({view.status for view in views}, {200})
                told[name] = [views[0].json(), views[1].json()]
                overview = server.plugin('overview', run='run', worker=trace['worker'], span=str(trace['span']), view='Overview')
                self.assertEqual(overview.status, 200)
            self.assertEqual(told['1967'], told['now'])
            self.assertEqual(told['across'], told['now'])


if not kinetoscope.CLOCK:
    print('skipped: no library that moves the clock (KINETOSCOPE_CLOCK) at hand')
    sys.exit(kinetoscope.SKIPPED)
kinetoscope.main()
