#!/usr/bin/env python3
"""The examples of deploy/ at work: the server behind nginx, Caddy and haproxy with TLS below a base path, and the systemd unit. Each is
skipped, with a word, where its program is not installed. Of the examples only names, ports and certificates are changed."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import kinetoscope

os.environ['PATH'] += ':/usr/sbin'  # where Debian has nginx
DEPLOY = kinetoscope.ROOT / 'deploy'
HOST = 'traces.example.org'
MB = 1 << 20


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise unittest.SkipTest('%s is not installed' % program)


class Behind(contextlib.ExitStack):
    """A server with a token, a proxy before it on `port`, and curl to ask it."""

    def __init__(self):
        super().__init__()
        self.folder = pathlib.Path(self.enter_context(tempfile.TemporaryDirectory(prefix='kinetoscope-proxy-')))
        self.certificate, self.key = self.folder / 'cert.pem', self.folder / 'key.pem'
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=' + HOST, '-addext',
                        'subjectAltName=DNS:' + HOST, '-keyout', self.key, '-out', self.certificate], check=True, capture_output=True)
        self.port = kinetoscope.free_port()
        self.origin = 'https://%s:%d' % (HOST, self.port)
        data = self.folder / 'data'
        self.token = kinetoscope.run_program('token', 'add', 'a', '--role', 'admin', '--data-dir', data).stdout.decode().strip()
        self.server = self.enter_context(kinetoscope.Server('--base-path', '/k', '--public-url', self.origin + '/k', '--trusted-proxy',
                                                            '127.0.0.1', data_dir=str(data)))

    def start(self, *command):
        """Runs the proxy until the end, and waits until it answers for the server."""
        log = open(self.folder / 'proxy.log', 'wb')
        proxy = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=dict(os.environ, HOME=str(self.folder)))
        self.callback(log.close)
        self.callback(proxy.wait, kinetoscope.HANG_S)
        self.callback(proxy.terminate)
        end = time.monotonic() + kinetoscope.HANG_S
        while self.ask('/k/healthz')[0] != 200:
            if proxy.poll() is not None or time.monotonic() > end:
                raise AssertionError((self.folder / 'proxy.log').read_text())
            time.sleep(0.05)

    def ask(self, path, *options):
        """(status, head and body) of the last answer; 0 when none came."""
        done = subprocess.run(['curl', '-sS', '-i', '-m', str(kinetoscope.HANG_S), '--cacert', self.certificate, '--resolve',
                               '%s:%d:127.0.0.1' % (HOST, self.port), *options, self.origin + path], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
        text = done.stdout.decode(errors='replace')
        statuses = re.findall(r'^HTTP/[\d.]+ ([2-5]\d\d)', text, re.M)
        return (int(statuses[-1]) if statuses else 0), text

    def bearer(self):
        return ('-H', 'Authorization: Bearer ' + self.token)


def nginx(behind):
    site = kinetoscope.replaced((DEPLOY / 'nginx.conf').read_text(), ('listen 80;', 'listen 127.0.0.1:%d;' % kinetoscope.free_port()),
                    ('listen 443 ssl', 'listen 127.0.0.1:%d ssl' % behind.port), ('127.0.0.1:8080', '127.0.0.1:%d' % behind.server.port),
                    ('/etc/ssl/certs/traces.example.org.pem', str(behind.certificate)),
                    ('/etc/ssl/private/traces.example.org.key', str(behind.key)))
    (behind.folder / 'site.conf').write_text(site)
    temporary = ''.join('%s_temp_path %s/%s;\n' % (name, behind.folder, name) for name in ('client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'))
    (behind.folder / 'nginx.conf').write_text(
        'daemon off;\n%serror_log stderr;\npid %s/pid;\nevents {}\nhttp {\naccess_log off;\n%sinclude %s/site.conf;\n}\n' % (
            'user root;\n' if os.geteuid() == 0 else '', behind.folder, temporary, behind.folder))
    return 'nginx', '-c', behind.folder / 'nginx.conf', '-e', 'stderr'


def caddy(behind):
    site = kinetoscope.replaced((DEPLOY / 'Caddyfile').read_text(), ('{\n\tservers', '{\n\tadmin off\n\tauto_https disable_redirects\n\tservers'),
                    ('\n%s {' % HOST, '\n%s {\n\ttls %s %s' % (behind.origin, behind.certificate, behind.key)),
                    ('127.0.0.1:8080', '127.0.0.1:%d' % behind.server.port))
    (behind.folder / 'Caddyfile').write_text(site)
    return 'caddy', 'run', '--adapter', 'caddyfile', '--config', behind.folder / 'Caddyfile'


def haproxy(behind):
    """Two nodes, of which the second does not run."""
    chain = behind.folder / 'chain.pem'
    chain.write_bytes(behind.certificate.read_bytes() + behind.key.read_bytes())
    site = kinetoscope.replaced((DEPLOY / 'cluster/haproxy.cfg').read_text(), ('bind :80', 'bind 127.0.0.1:%d' % kinetoscope.free_port()),
                    ('bind :443', 'bind 127.0.0.1:%d' % behind.port), ('/etc/haproxy/traces.example.org.pem', str(chain)),
                    ('node1:8080', '127.0.0.1:%d' % behind.server.port), ('node2:8080', '127.0.0.1:%d' % kinetoscope.free_port()))
    (behind.folder / 'haproxy.cfg').write_text(site)
    done = subprocess.run(['haproxy', '-c', '-f', behind.folder / 'haproxy.cfg'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0 or b'WARNING' in done.stdout:
        raise AssertionError(done.stdout.decode())
    return 'haproxy', '-db', '-f', behind.folder / 'haproxy.cfg'


class Proxies(unittest.TestCase):
    def through(self, proxy):
        need(proxy.__name__, 'openssl', 'curl')
        with Behind() as behind:
            behind.start(*proxy(behind))
            self.paths(behind)
            self.uploads(behind)
            self.browser(behind)

    def paths(self, behind):
        status, text = behind.ask('/k')
        self.assertIn(status, (301, 302, 308))
        self.assertRegex(text, r'(?im)^location: (%s)?/k/\r?$' % re.escape(behind.origin))
        self.assertRegex(behind.ask('/k/healthz')[1], '(?i)strict-transport-security: max-age')
        self.assertEqual(behind.ask('/k/api/v1/runs')[0], 401)
        self.assertEqual(behind.ask('/k/metrics', *behind.bearer())[0], 200)
        # An encoded slash arrives as it was sent.
        self.assertIn('Run \\"a/b\\" not found', behind.ask('/k/api/v1/runs/a%2Fb', *behind.bearer())[1])

    def uploads(self, behind):
        large = behind.folder / 'large.json'
        large.write_bytes(kinetoscope.large_trace(12 * MB))
        path = '/k/api/v1/runs/r%%2Fs/traces/%s.json'
        for version in ('--http1.1', '--http2'):
            status, text = behind.ask(path % version.strip('-'), version, '-T', str(large), *behind.bearer())
            self.assertEqual(status, 201, text[:1000])
            self.assertIn('"url": "%s/k/#/traces/' % behind.origin, text)
            # Refused before the body: the proxy hands the answer on. Several times, as one that closes upon the body loses some.
            for _ in range(4):
                status, text = behind.ask(path % 'x', version, '-T', str(large), '-H', 'Authorization: Bearer wrong')
                self.assertEqual(status, 401, text[:1000])
        status, text = behind.ask(path % 'later', '-T', str(large), '-H', 'Prefer: respond-async', *behind.bearer())
        self.assertEqual(status, 202)
        job = json.loads(text[text.index('{'):])['id']
        events = behind.ask('/k/api/v1/jobs/%d' % job, '-N', '-H', 'Accept: text/event-stream', *behind.bearer())[1]
        self.assertIn('event: done', events)

    def browser(self, behind):
        own, foreign = ('-H', 'Origin: ' + behind.origin), ('-H', 'Origin: https://evil.example')
        html = ('-H', 'Accept: text/html')
        self.assertRegex(behind.ask('/k/', *html)[1], r'(?i)location: /k/login\?next=/k/')
        status, text = behind.ask('/k/login', *own, '-d', 'token=' + behind.token)
        self.assertEqual(status, 303)
        cookie = re.search(r'(?i)set-cookie: (.*)', text)[1]
        for word in ('Secure', 'HttpOnly', 'SameSite=Strict', 'Path=/k/;'):
            self.assertIn(word, cookie)
        session = ('-H', 'Cookie: ' + cookie.split(';')[0])
        status, page = behind.ask('/k/', *html, *session)
        self.assertEqual(status, 200)
        for asset in re.findall(r'(?:src|href)="([^"#:]+\.(?:js|css))"', page)[:4]:
            self.assertEqual(behind.ask(asset if asset.startswith('/') else '/k/' + asset)[0], 200, asset)
        note = ('-X', 'PATCH', '-d', '{"note": "x"}')
        for origin, wanted in ((foreign, 403), ((), 403), (own, 200)):
            self.assertEqual(behind.ask('/k/api/v1/runs/r%2Fs', *note, *session, *origin)[0], wanted)

    def test_nginx(self):
        self.through(nginx)

    def test_caddy(self):
        self.through(caddy)

    def test_haproxy(self):
        self.through(haproxy)


class Unit(unittest.TestCase):
    def test_systemd(self):
        need('systemd-analyze')
        with tempfile.TemporaryDirectory() as folder:
            unit = pathlib.Path(folder, 'kinetoscope.service')
            unit.write_text(kinetoscope.replaced((DEPLOY / 'kinetoscope.service').read_text(), ('/usr/local/bin/kinetoscope', kinetoscope.PROGRAM)))
            done = subprocess.run(['systemd-analyze', 'verify', unit], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual((done.returncode, done.stdout.decode()), (0, ''))
            done = subprocess.run(['systemd-analyze', 'security', '--offline=true', '--threshold=20', unit], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, done.stdout.decode())


kinetoscope.main()
