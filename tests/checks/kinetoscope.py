"""The program under test, for the checks beside this file: starts it, asks it over HTTP, and sees that it ends well.

Environment: KINETOSCOPE_BIN (the program), KINETOSCOPE_REFERENCE (reference data, default ../shared beside the tree).
"""
import collections
import functools
import gzip
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / 'tests/fixtures'
REFERENCE = pathlib.Path(os.environ.get('KINETOSCOPE_REFERENCE') or ROOT.parent / 'shared')
PROGRAM = os.environ.get('KINETOSCOPE_BIN') or str(ROOT / 'build/kinetoscope')
SKIPPED = 77  # ctest's SKIP_RETURN_CODE of these checks
HANG_S = 240  # a guard against a program that hangs, never a measure of speed
CLOCK = os.environ.get('KINETOSCOPE_CLOCK', '')  # the library of clock.c; '' where there is none (not Linux)
PLUGIN = '/data/plugin/pytorch_profiler/'

SANITIZER_REPORT = re.compile(r'ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error:')


def until(holds, what, seconds=HANG_S):
    """Waits for what a server does in its own time; the end is a guard against a hang."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise AssertionError('never: ' + what)
        time.sleep(0.02)


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as listener:
        return listener.getsockname()[1]


class Answer(collections.namedtuple('Answer', 'status headers body')):
    def json(self):
        return json.loads(self.body)

    @property
    def type(self):
        return self.headers.get('Content-Type', '').split(';')[0]


class Server:
    """`kinetoscope serve` on a free port with a data directory of its own; a context manager."""

    def __init__(self, *options, data_dir=None, listen='127.0.0.1:0', env=None):
        self.own_dir = None if data_dir else tempfile.mkdtemp(prefix='kinetoscope-check-')
        self.data_dir = data_dir or self.own_dir
        self.log_path = tempfile.mkstemp(prefix='kinetoscope-log-')[1]
        self.command = [PROGRAM, 'serve', '--listen', listen, '--data-dir', self.data_dir, *options]
        self.env = dict(os.environ, **(env or {}))

    def __enter__(self):
        with open(self.log_path, 'wb') as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                            env=self.env)
        try:
            self.port = self.wait_for_port()
        except BaseException:
            self.process.kill()
            raise
        self.url = 'http://127.0.0.1:%d' % self.port
        return self

    def log(self):
        return pathlib.Path(self.log_path).read_text(errors='replace')

    def wait_for_port(self):
        """The port as the program announces it."""
        end = time.monotonic() + HANG_S
        while time.monotonic() < end:
            found = re.search(r'listening on http://[^/\s]*:([1-9]\d*)', self.log())
            if found:
                return int(found[1])
            if self.process.poll() is not None:
                raise AssertionError('the server ended with %s:\n%s' % (self.process.returncode, self.log()))
            time.sleep(0.02)
        raise AssertionError('the server announced no port:\n' + self.log())

    def __exit__(self, kind, value, trace):
        self.process.terminate()
        try:
            code = self.process.wait(HANG_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = 'killed: it did not stop on SIGTERM'
        log = self.log()
        os.unlink(self.log_path)
        if self.own_dir:
            shutil.rmtree(self.own_dir, ignore_errors=True)
        if kind is None and (code != 0 or SANITIZER_REPORT.search(log)):
            raise AssertionError('the server ended with %s:\n%s' % (code, log[-6000:]))
        if kind is not None:
            sys.stderr.write('server log:\n' + log[-3000:])

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=HANG_S)
        try:
            connection.request(method, path, body, headers or {})
            reply = connection.getresponse()
            data = reply.read()
        finally:
            connection.close()
        if reply.headers.get('Content-Encoding') == 'gzip':
            data = gzip.decompress(data)
        return Answer(reply.status, reply.headers, data)

    def get(self, path, /, **query):
        query = {k: v for k, v in query.items() if v is not None}
        return self.ask('GET', path + ('?' + urllib.parse.urlencode(query) if query else ''))

    def put(self, run, name, body, query='', headers=None):
        return self.ask('PUT', trace_path(run, name) + query, body, headers)

    def plugin(self, route, /, **query):
        return self.get(PLUGIN + route, **query)


def trace_path(run, name):
    return '/api/v1/runs/%s/traces/%s' % (urllib.parse.quote(run, safe=''), urllib.parse.quote(name, safe=''))


def uploaded(answer):
    """The traces of an upload's answer; fails with what the server said."""
    if answer.status not in (200, 201):
        raise AssertionError('upload answered %d: %s' % (answer.status, answer.body[:500]))
    found = answer.json()
    return found['traces'] if 'traces' in found else [found]


def replaced(text, *pairs):
    """The text with every `old` replaced; that there is one is part of the check."""
    for old, new in pairs:
        if old not in text:
            raise AssertionError('the example has no %r any more' % old)
        text = text.replace(old, new)
    return text


def run_program(*arguments, env=None, cwd=None):
    """Runs the program to its end; a sanitizer's report is a failure whatever the exit code."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          timeout=HANG_S, env=dict(os.environ, **(env or {})), cwd=cwd)
    err = done.stderr.decode(errors='replace')
    if SANITIZER_REPORT.search(err):
        raise AssertionError(err[-6000:])
    return done


def clock_env(offset_s):
    """For a program whose clock is so far ahead."""
    options = os.environ.get('ASAN_OPTIONS', '')
    return {'LD_PRELOAD': CLOCK, 'KS_CLOCK_OFFSET_S': str(int(offset_s)), 'ASAN_OPTIONS': ':'.join(filter(None, [options, 'verify_asan_link_order=0']))}


def fixture(case, name=None):
    """(file name, bytes) of a fixture's trace."""
    folder = FIXTURES / case
    name = name or json.loads((folder / 'case.json').read_text())['files'][0]
    return name, (folder / name).read_bytes()


def fixture_json(case):
    name, content = fixture(case)
    return gzip.decompress(content) if name.endswith('.gz') else content


@functools.lru_cache(maxsize=1)
def packed_blanks():
    return gzip.compress(b' ' * (64 << 20), mtime=0)


def blank_bomb(members, inside=b'{"traceEvents": []}'):
    """A trace whose list of events ends with blanks: 64 MB from each member of the gzip file, which is small and long to read."""
    head, tail = inside.rsplit(b']', 1)
    return gzip.compress(head, mtime=0) + packed_blanks() * members + gzip.compress(b']' + tail, mtime=0)


def large_trace(size):
    """A valid trace of at least `size` bytes: the events of a fixture, repeated along the time axis."""
    document = json.loads(fixture_json('cuda_training'))
    events = document['traceEvents']
    span = max(e['ts'] + e.get('dur', 0) for e in events) - min(e['ts'] for e in events) + 1000
    lines, total, turn = [], 0, 0
    while total < size:
        for event in events:
            line = json.dumps(dict(event, ts=event['ts'] + turn * span))
            lines.append(line)
            total += len(line) + 2
        turn += 1
    document['traceEvents'] = []
    head = json.dumps(document)
    return head.replace('"traceEvents": []', '"traceEvents": [' + ',\n'.join(lines) + ']').encode()


def need_reference(path=''):
    if not (REFERENCE / path).exists():
        print('skipped: no reference data (KINETOSCOPE_REFERENCE) at hand')
        sys.exit(SKIPPED)


def check_reference(test, tool, *options):
    """Asks the check of a specification about a server of its own, over the real traces; skips where they are not at hand."""
    check, real = REFERENCE / 'tools' / tool, REFERENCE / 'data/real'
    if not check.exists() or not real.exists():
        test.skipTest('no reference data in %s' % REFERENCE)
    with Server() as server:
        done = subprocess.run([sys.executable, str(check), '--url', server.url, *options, str(real)], capture_output=True, text=True, check=False)
        test.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-1000:])


def main():
    """unittest.main, except that tests that all skipped themselves are told to ctest as a skip."""
    result = unittest.main(module='__main__', exit=False, verbosity=2).result
    if not result.testsRun:
        sys.exit('no test ran')
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if result.testsRun and len(result.skipped) == result.testsRun else 0)
