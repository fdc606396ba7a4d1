#!/usr/bin/env python3
"""Who may do what, from outside: tokens made beside a running server and revoked, sessions of browsers, projects and their
readers, wrong tokens, hostile names at every exit."""
import hashlib
import http.client
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.parse

import kinetoscope

RUNS = '/api/v1/runs'
NOTICED_S = 30  # a guard; it is a quarter of a second
HOSTILE = ["=cmd|'/c calc'!A1", '<script>alert(1)</script>', '](javascript:alert(1))', '"><img src=x onerror=alert(1)>', '| a | b', '-1+1']


def bearer(token):
    return {'Authorization': 'Bearer ' + token}


def command(*words, data_dir):
    return kinetoscope.run_program('token', *words, '--data-dir', data_dir)


def add(data_dir, name, role, *projects):
    done = command('add', name, '--role', role, *[word for p in projects for word in ('--project', p)], data_dir=data_dir)
    if done.returncode:
        raise AssertionError(done.stderr.decode())
    return done.stdout.decode().strip()


def known_bearer(server, name, role, *projects):
    """Headers with a new token, once the running server knows it: it looks for tokens once in a while."""
    headers = bearer(add(server.data_dir, name, role, *projects))
    end = time.monotonic() + NOTICED_S
    while server.ask('GET', '/api/v1/me', None, headers).json()['name'] != name:
        if time.monotonic() > end:
            raise AssertionError('the server never knew the token of ' + name)
        time.sleep(0.1)
    return headers


class Tokens(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = kinetoscope.Server().__enter__()
        cls.name, cls.content = kinetoscope.fixture('cpu_only')

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def ask(self, method, path, token=None, body=None, **headers):
        headers = {k.replace('_', '-'): v for k, v in headers.items()}
        return self.server.ask(method, path, body, {**(bearer(token) if token else {}), **headers})

    def eventually(self, status, token, path=RUNS):
        end = time.monotonic() + NOTICED_S
        while self.ask('GET', path, token).status != status:
            self.assertLess(time.monotonic(), end, 'status %d never came' % status)
            time.sleep(0.02)

    def put(self, token, run, query='', content=None, name=None):
        return self.server.put(run, name or self.name, content or self.content, query, bearer(token))

    def test_a_life(self):
        """One server from its first day on: open, then with tokens, projects, browsers."""
        server = self.server
        self.assertEqual(server.put('open', self.name, self.content).status, 201)
        self.assertTrue(server.get('/api/v1/me').json()['every_project'])
        admin = add(server.data_dir, 'root', 'admin')
        self.assertRegex(admin, r'^kst_[A-Za-z0-9_-]{43}$')
        self.eventually(401, None)
        self.eventually(200, admin)
        for probe in ('/healthz', '/readyz'):
            self.assertEqual(self.ask('GET', probe).status, 200)
        self.assertEqual(self.ask('GET', '/metrics').status, 401)
        theirs = self.projects(admin)
        self.browser(theirs)
        self.revoking(admin)
        self.log()

    def projects(self, admin):
        # By a request, where the command line was first.
        made = self.ask('POST', '/api/v1/tokens', admin, json.dumps({'name': 'ours', 'role': 'uploader', 'projects': ['ours']}))
        self.assertEqual(made.status, 201)
        ours = made.json()['token']
        theirs = add(self.server.data_dir, 'theirs', 'uploader', 'theirs')
        self.eventually(200, theirs)
        self.assertEqual(self.put(ours, 'secret', '?project=ours').status, 201)
        trace = self.put(ours, 'secret').json()['id']
        for path in ('%s/secret' % RUNS, '/api/v1/traces/%d' % trace, '/api/v1/traces/%d/raw' % trace, '/api/v1/traces/%d/overview' % trace,
                     kinetoscope.PLUGIN + 'overview?run=secret&worker=worker0&span=1'):
            self.assertEqual(self.ask('GET', path, ours).status, 200, path)
            self.assertEqual(self.ask('GET', path, admin).status, 200, path)
            self.assertEqual(self.ask('GET', path, theirs).status, 404, path)
            # Also when the answer lies ready for others, and when the one who asks knows its tag.
            etag = self.ask('GET', path, ours).headers.get('ETag')
            self.assertEqual(self.ask('GET', path, theirs, If_None_Match=etag or '*').status, 404, path)
        self.assertNotIn(b'secret', self.ask('GET', RUNS, theirs).body)
        self.assertEqual(self.ask('GET', RUNS, theirs).json()['total'], 1)
        refused = self.put(theirs, 'secret')
        self.assertEqual(refused.status, 403)
        self.assertNotIn(b'ours', refused.body)
        self.assertEqual(self.put(theirs, 'secret too', '?project=theirs').status, 201)
        for method, path in (('DELETE', '%s/secret' % RUNS), ('GET', '/api/v1/tokens'), ('POST', '/api/v1/tokens')):
            self.assertEqual(self.ask(method, path, ours).status, 403, path)
        self.assertEqual(self.ask('PATCH', '%s/secret' % RUNS, ours, '{"project": "theirs"}').status, 403)
        self.assertEqual(self.ask('PATCH', '%s/secret' % RUNS, admin, '{"project": ""}').status, 200)
        self.assertEqual(self.ask('GET', '%s/secret' % RUNS, theirs).status, 200)
        self.assertEqual(self.ask('PATCH', '%s/secret' % RUNS, admin, '{"project": "ours"}').status, 200)
        self.assertEqual(self.ask('GET', '%s/secret' % RUNS, theirs).status, 404)
        return theirs

    def log_in(self, token, next_url='', **headers):
        form = urllib.parse.urlencode({'token': token})
        return self.ask('POST', '/login' + next_url, body=form, Content_Type='application/x-www-form-urlencoded', **headers)

    def browser(self, token):
        html = {'Accept': 'text/html,*/*;q=0.8'}
        sent_away = self.ask('GET', '/?a=1', **html)
        self.assertEqual((sent_away.status, sent_away.headers['Location']), (303, '/login?next=/%3Fa%3D1'))
        self.assertEqual(self.ask('GET', RUNS, **html).headers['Location'], '/login?next=/api/v1/runs')
        page = self.ask('GET', '/login?next=/', **html)
        self.assertEqual(page.status, 200)
        self.assertNotRegex(page.body, rb'<script[^>]*>[^<]|\son\w+=|style=')
        self.assertIn("default-src 'self'", page.headers['Content-Security-Policy'])
        self.assertNotIn('unsafe', page.headers['Content-Security-Policy'])
        for bad in ('', 'nonsense'):
            wrong = self.log_in(bad, **html)
            self.assertEqual(wrong.status, 401)
            self.assertIn(b'role="alert"', wrong.body)
        own = 'http://127.0.0.1:%d' % self.server.port
        for path, leads_to in (('/', '/'), ('/?x=1#/runs', '/?x=1#/runs'), ('//evil.example/', '/'), ('https://evil.example/', '/'), ('/\\evil.example', '/'),
                               ('/\t/evil.example', '/'), ('/a\r\nSet-Cookie: x=1', '/'), ('', '/'), ('javascript:alert(1)', '/')):
            done = self.log_in(token, '?next=' + urllib.parse.quote(path, safe=''), Origin=own)
            self.assertEqual((done.status, done.headers['Location']), (303, leads_to), path)
        cookie = done.headers['Set-Cookie']
        for part in ('HttpOnly', 'SameSite=Strict', 'Path=/', 'Max-Age=2592000'):
            self.assertIn(part, cookie)
        self.assertNotIn(token, cookie)
        session = {'Cookie': cookie.split(';')[0]}
        self.assertEqual(self.ask('GET', '/', **html, **session).status, 200)
        me = self.ask('GET', '/api/v1/me', **session).json()
        self.assertEqual((me['name'], me['session'], me['projects']), ('theirs', True, ['theirs']))
        note = '{"note": "from a page"}'
        path = '%s/secret%%20too' % RUNS
        self.assertEqual(self.ask('PATCH', path, body=note, **session).status, 403, 'without a word of where it comes from')
        self.assertEqual(self.ask('PATCH', path, body=note, Origin='https://evil.example', **session).status, 403)
        self.assertEqual(self.ask('PATCH', path, body=note, Sec_Fetch_Site='same-site', **session).status, 403)
        self.assertEqual(self.ask('PATCH', path, body=note, Sec_Fetch_Site='same-origin', **session).status, 200)
        self.assertEqual(self.ask('PATCH', path, body=note, Origin=own, **session).status, 200)
        self.assertEqual(self.ask('POST', '/logout', Origin='https://evil.example', **session).status, 403)
        out = self.ask('POST', '/logout', Origin=own, **session)
        self.assertEqual((out.status, out.headers['Location']), (303, '/login'))
        self.assertEqual(self.ask('GET', RUNS, **session).status, 401)
        self.assertEqual(self.ask('GET', '/logout').status, 405)

    def revoking(self, admin):
        data = self.server.data_dir
        gone = add(data, 'gone', 'viewer')
        self.eventually(200, gone)
        cookie = self.log_in(gone).headers['Set-Cookie'].split(';')[0]
        self.assertEqual(self.ask('GET', RUNS, Cookie=cookie).status, 200)
        self.assertEqual(command('add', 'gone', '--role', 'viewer', data_dir=data).returncode, 1)
        self.assertEqual(command('revoke', 'gone', data_dir=data).returncode, 0)
        self.eventually(401, gone)
        self.assertEqual(self.ask('GET', RUNS, Cookie=cookie).status, 401)
        self.assertEqual(command('revoke', 'gone', data_dir=data).returncode, 1)
        listed = command('list', data_dir=data).stdout.decode()
        for part in ('admin     root  every project', 'uploader  ours  ours', 'gone', 'revoked'):
            self.assertIn(part, listed)
        self.assertEqual(self.ask('DELETE', '/api/v1/tokens/ours', admin).status, 204)
        told = self.ask('GET', '/api/v1/tokens', admin)
        secret = hashlib.sha256(admin.encode()).hexdigest()
        self.assertNotIn(secret.encode(), told.body)
        self.assertNotIn(b'kst_', told.body)
        # Of a token and of a session only the hash is on the disk.
        for path in (os.path.join(data, name) for name in os.listdir(data)):
            if os.path.isfile(path):
                with open(path, 'rb') as file:
                    content = file.read()
                self.assertNotIn(admin.encode(), content)
                self.assertNotIn(cookie.split('=')[1].encode(), content)

    def log(self):
        # A line is written behind its answer, so the last one may still be on its way.
        parts = ('action="upload"', 'who="ours"', 'action="add token"', 'action="revoke token"', 'action="log in"', 'action="log out"',
                 'action="refused"', 'status=403')
        ends = time.monotonic() + 10
        while time.monotonic() < ends and not all(part in self.server.log() for part in parts):
            time.sleep(0.05)
        log = self.server.log()
        for part in parts:
            self.assertIn(part, log)
        self.assertNotIn('kst_', log)
        self.assertNotIn('kss_', log)


class RequestGuard(unittest.TestCase):
    def test_wrong_tokens_are_slowed_down(self):
        with tempfile.NamedTemporaryFile('w') as tokens, kinetoscope.Server('--token-file', self.file(tokens, 'viewer a', 'right')) as server:
            told = [server.ask('GET', RUNS, headers=bearer('wrong')) for _ in range(40)]
            self.assertEqual({a.status for a in told}, {401, 429})
            slowed = next(a for a in told if a.status == 429)
            self.assertGreater(int(slowed.headers['Retry-After']), 0)
            self.assertGreaterEqual([a.status for a in told].index(429), 10)
            end = time.monotonic() + NOTICED_S
            while server.ask('GET', RUNS, headers=bearer('right')).status != 200:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.1)

    @staticmethod
    def file(tokens, who, token):
        tokens.seek(0)
        tokens.truncate()
        tokens.write('%s %s\n' % (who, hashlib.sha256(token.encode()).hexdigest()))
        tokens.flush()
        return tokens.name

    def test_the_file_is_read_again(self):
        with tempfile.NamedTemporaryFile('w') as tokens, kinetoscope.Server('--token-file', self.file(tokens, 'viewer a', 'one')) as server:
            def eventually(token, status):
                end = time.monotonic() + NOTICED_S
                while server.ask('GET', RUNS, headers=bearer(token)).status != status:
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.3)
            self.assertEqual(server.ask('GET', RUNS, headers=bearer('one')).status, 200)
            self.file(tokens, 'admin b', 'another')
            eventually('another', 200)
            tokens.write('nonsense\n')
            tokens.flush()
            server.process.send_signal(signal.SIGHUP)
            end = time.monotonic() + NOTICED_S
            while 'line 2' not in server.log():
                self.assertLess(time.monotonic(), end)
                time.sleep(0.05)
            eventually('another', 200)

    def test_anonymous_reads_what_is_nobodys(self):
        data = tempfile.mkdtemp(prefix='kinetoscope-anonymous-')
        token = add(data, 'up', 'uploader', 'p')
        name, content = kinetoscope.fixture('cpu_only')
        with kinetoscope.Server('--allow-anonymous', data_dir=data, listen='0.0.0.0:0') as server:
            self.assertEqual(server.put('open', name, content, '', bearer(token)).status, 201)
            self.assertEqual(server.put('ours', name, content, '?project=p', bearer(token)).status, 201)
            self.assertEqual([r['name'] for r in server.get(RUNS).json()['runs']], ['open'])
            self.assertEqual(server.get(RUNS + '/ours').status, 404)
            self.assertEqual(server.put('mine', name, content).status, 401)
            self.assertEqual(server.ask('GET', RUNS, headers=bearer('wrong')).status, 401)
            self.assertEqual(server.ask('GET', '/', headers={'Accept': 'text/html'}).status, 200)
            self.assertEqual(server.ask('GET', '/login', headers={'Accept': 'text/html'}).status, 200)
            # A name that a stranger made to resolve to this server (DNS rebinding) opens nothing that needs no token.
            for host, status in (('evil.example:%d' % server.port, 403), ('gpu-box', 200), ('10.1.2.3:80', 200)):
                self.assertEqual(server.ask('GET', RUNS, headers={'Host': host}).status, status, host)
                self.assertEqual(server.ask('GET', RUNS, headers={'Host': host, **bearer(token)}).status, 200, host)
                self.assertEqual(server.ask('GET', '/healthz', headers={'Host': host}).status, 200, host)
        with kinetoscope.Server('--allow-anonymous', '--public-url', 'http://traces.example', listen='0.0.0.0:0') as server:
            self.assertEqual(server.ask('GET', RUNS, headers={'Host': 'traces.example'}).status, 200)
            self.assertEqual(server.ask('PUT', kinetoscope.trace_path('r', name), content, {'Host': 'evil.example'}).status, 403)
        # Tokens in the store are enough beyond loopback.
        with kinetoscope.Server(data_dir=data, listen='0.0.0.0:0') as server:
            self.assertEqual(server.get(RUNS).status, 401)
        subprocess.run(['rm', '-rf', data], check=True)

    def test_the_address_behind_a_proxy(self):
        """A client's own X-Forwarded-For stands before the line that the proxy adds."""
        with kinetoscope.Server('--trusted-proxy', '127.0.0.1') as server:
            add(server.data_dir, 'a', 'viewer')
            connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=kinetoscope.HANG_S)
            end = time.monotonic() + NOTICED_S
            while server.get(RUNS).status != 401:
                self.assertLess(time.monotonic(), end)
            connection.putrequest('GET', RUNS)
            for name, value in (('X-Forwarded-For', '9.9.9.9'), ('Authorization', 'Bearer wrong'), ('X-Forwarded-For', '10.5.6.7')):
                connection.putheader(name, value)
            connection.endheaders()
            self.assertEqual(connection.getresponse().status, 401)
            connection.close()
            while 'action="refused"' not in server.log():  # written after the answer
                self.assertLess(time.monotonic(), end)
            self.assertIn('client="10.5.6.7"', server.log())
            self.assertNotIn('9.9.9.9', server.log())

    def test_beyond_loopback_without_tokens(self):
        data = tempfile.mkdtemp(prefix='kinetoscope-none-')
        for _ in range(2):  # without a database, and with an empty one
            done = kinetoscope.run_program('serve', '--listen', '0.0.0.0:0', '--data-dir', data)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b'kinetoscope token add', done.stderr)
            command('list', data_dir=data)
        subprocess.run(['rm', '-rf', data], check=True)

    def test_wrong_usage(self):
        for words in ([], ['add'], ['add', 'x'], ['add', 'x', '--role', 'root'], ['list', 'x'], ['revoke'], ['make', 'x'],
                      ['add', 'x', '--role', 'viewer', '--project', '<b>']):
            self.assertEqual(kinetoscope.run_program('token', *words).returncode, 2, words)

    def test_a_base_path_and_https(self):
        data = tempfile.mkdtemp(prefix='kinetoscope-base-')
        token = add(data, 'a', 'viewer')
        with kinetoscope.Server('--base-path', '/k', '--public-url', 'https://traces.example.org/k', data_dir=data) as server:
            def ask(path, **headers):
                return server.ask('GET', path, None, {'Accept': 'text/html', **headers})
            self.assertEqual(ask('/k/').headers['Location'], '/k/login?next=/k/')
            done = server.ask('POST', '/k/login?next=/k/%23/runs/a', urllib.parse.urlencode({'token': token}),
                              {'Content-Type': 'application/x-www-form-urlencoded', 'Origin': 'https://traces.example.org'})
            self.assertEqual(done.headers['Location'], '/k/#/runs/a')
            self.assertIn('Path=/k/;', done.headers['Set-Cookie'])
            self.assertIn('Secure', done.headers['Set-Cookie'])
            self.assertEqual(ask('/k/', Cookie=done.headers['Set-Cookie'].split(';')[0]).status, 200)
        subprocess.run(['rm', '-rf', data], check=True)


class HostileText(unittest.TestCase):
    """Names that would do harm where they are taken for more than text: each exit, one after the other."""

    @classmethod
    def setUpClass(cls):
        cls.server = kinetoscope.Server('--log-level', 'debug').__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def test_names_that_end_a_line_are_refused(self):
        name, content = kinetoscope.fixture('cpu_only')
        for run in ('a\r\nSet-Cookie: x', 'a\nb', 'a\x1b[31mb', 'a\x7fb', 'a\x00b', '..'):
            self.assertEqual(self.server.put(run, name, content).status, 400, repr(run))
        self.assertEqual(self.server.put('run', 'a\r\nSet-Cookie: x', content).status, 400)
        for path in ('/api/v1/runs/a%0d%0aSet-Cookie:%20x', '/a%0d%0ab', '/login?next=%0d%0aSet-Cookie:x'):
            answer = self.server.get(path)
            self.assertNotIn('Set-Cookie', answer.headers)
        self.assertNotRegex(self.server.log(), r'(?m)^Set-Cookie|\x1b')

    def test_every_exit(self):
        document = json.loads(kinetoscope.fixture_json('cpu_only'))
        for index, event in enumerate(e for e in document['traceEvents'] if e.get('cat') == 'cpu_op'):
            event['name'] = HOSTILE[index % len(HOSTILE)] + '\n' * (index % 2)
        content = json.dumps(document).encode()
        for run in HOSTILE:
            trace = kinetoscope.uploaded(self.server.put(run, run.replace('/', '_'), content))[0]
            patched = self.server.ask('PATCH', RUNS + '/' + urllib.parse.quote(run, safe=''), json.dumps({'note': run, 'tags': [run]}))
            self.assertEqual(patched.status, 200)
            self.assertEqual(patched.json()['name'], run)
            base = '/api/v1/traces/%d' % trace['id']
            self.csv(self.server.get(base + '/operators', format='csv'))
            self.files(self.server.get(base + '/raw'))
            for answer in (patched, self.server.get(base), self.server.get(base + '/nothing'), self.server.get(kinetoscope.PLUGIN + 'overview', run=run + 'x')):
                self.assertIn(answer.type, ('application/json', 'application/problem+json'))
                self.assertEqual(answer.headers['X-Content-Type-Options'], 'nosniff')
                self.assertIn("default-src 'none'", answer.headers['Content-Security-Policy'])
        log = self.server.log()
        self.assertNotRegex(log, r'(?m)^(?!\d{4}-|Kinetoscope |$)')

    def csv(self, answer):
        self.assertEqual(answer.status, 200)
        self.assertTrue(answer.headers['Content-Disposition'].startswith('attachment'))
        rows = answer.body.decode()
        self.assertIn("'=cmd|", rows)
        self.assertIn("'-1+1", rows)
        self.assertNotRegex(rows, r'''(?:^|[,"\n])[=+@\t\r]''')
        self.assertRegex(rows, r',\d', 'figures stay figures')

    def files(self, answer):
        disposition = answer.headers['Content-Disposition']
        self.assertRegex(disposition, r'^attachment; filename="[^"\\]*"(?:; filename\*=UTF-8\'\'[A-Za-z0-9%._~-]+)?$')

    def test_what_every_answer_says(self):
        for path in ('/', '/js/main.js', RUNS, '/api/v1/nothing', '/nothing', '/healthz', '/metrics', '/login', '/api/v1/openapi.json'):
            headers = self.server.get(path).headers
            for name in ('Content-Security-Policy', 'X-Content-Type-Options', 'Referrer-Policy', 'X-Frame-Options', 'Cache-Control'):
                self.assertIn(name, headers, path)
            self.assertNotIn('unsafe-inline', headers['Content-Security-Policy'])
            self.assertIn("frame-ancestors 'none'", headers['Content-Security-Policy'])
        self.assertRegex(self.server.get(RUNS).headers['Cache-Control'], 'private|no-store')


if __name__ == '__main__':
    kinetoscope.main()
