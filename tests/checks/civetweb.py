#!/usr/bin/env python3
"""The known faults of civetweb 1.15, as packaged, cannot be reached through the server: each request has its answer,
and under the sanitizers the server lives on and ends well."""
import contextlib
import re
import socket
import unittest

import kinetoscope

HOST = 'Host: 127.0.0.1'
RUNS = '/api/v1/runs'
UPLOAD = 'PUT ' + kinetoscope.trace_path('r', 'x.json') + ' HTTP/1.1'
NEXT = 'GET /never HTTP/1.1\r\n' + HOST + '\r\n\r\n'  # a request hidden in another


class Civetweb(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = kinetoscope.Server('--max-url', '60000', '--max-header', '62000')
        cls.server.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def tearDown(self):
        self.assertEqual(self.server.get('/healthz').status, 200)

    def exchange(self, request):
        """All that comes for these bytes, until the server closes; the client sends no more."""
        with socket.create_connection(('127.0.0.1', self.server.port), timeout=kinetoscope.HANG_S) as raw:
            parts = []
            with contextlib.suppress(OSError):  # a server that has refused does not take the rest
                raw.sendall(request.encode('latin-1'))
                raw.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionResetError):
                while part := raw.recv(1 << 20):
                    parts.append(part)
            return b''.join(parts)

    def statuses(self, request):
        return [int(status) for status in re.findall(rb'HTTP/1\.1 (\d{3}) [A-Z]', self.exchange(request))]

    def ask(self, *lines, body=''):
        return self.statuses('\r\n'.join(lines) + '\r\n\r\n' + body)

    def test_redirect_to_a_directory(self):
        """CVE-2025-55763: the redirect from a directory's name writes beyond its buffer."""
        for length in (0, 1, 4000, 16000, 50000):
            for stem in ('/css', '/js/views', '/%2e%2e', '/a%2Fb', '/.', '//'):
                for tail in ('', '/', '%2F', '/..', '/%00'):
                    for query in ('', '?' + 'q' * min(length, 5000)):
                        target = stem + 'a' * length + tail + query
                        with self.subTest(stem=stem, length=length, tail=tail, query=len(query)):
                            answer = self.exchange('GET %s HTTP/1.1\r\n%s\r\nConnection: close\r\n\r\n' % (target, HOST))
                            self.assertIn(answer[9:12], (b'400', b'404'))
                            self.assertNotIn(b'\r\nLocation:', answer)

    def test_targets(self):
        port = self.server.port
        close = 'Connection: close'
        self.assertEqual(self.ask('GET http://127.0.0.1:%d%s HTTP/1.1' % (port, RUNS), HOST, close), [200])
        for target, allowed in (('*', [[], [400], [404]]), ('http://elsewhere.example/' + 'a' * 5000, [[], [400], [403], [404]]),
                                ('nonsense', [[], [400], [404]]), ('/\x00', [[400]]), ('/' + '\x01', [[400]]), ('http://', [[], [400], [404]])):
            with self.subTest(target=target[:30]):
                self.assertIn(self.ask('GET %s HTTP/1.1' % target, HOST, close), allowed)

    def test_no_other_protocol(self):
        self.assertEqual(self.ask('GET / HTTP/1.1', HOST, 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13',
                                  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='), [200])
        self.assertNotIn(101, self.ask('GET / HTTP/1.1', HOST, 'Upgrade: h2c', 'Connection: Upgrade, HTTP2-Settings', 'HTTP2-Settings: AAMAAABk'))
        self.assertEqual(self.statuses('GET /\r\n\r\n'), [400])
        self.assertEqual(self.ask('GET / HTTP/0.9', HOST), [400])
        self.assertEqual(self.ask('GET / HTTP/2.0', HOST), [400])

    def test_no_files_of_civetweb(self):
        for path in ('/.htpasswd', '/css/.htpasswd', '/x.cgi', '/x.php', '/x.lua', '/x.lp', '/x.shtml', '/x.ssjs', '/index.cgi', '/etc/passwd',
                     '/../../etc/passwd', '/%2e%2e/%2e%2e/etc/passwd', '/..%5c..%5cetc', '/css/'):
            with self.subTest(path=path):
                self.assertEqual(self.ask('GET %s HTTP/1.1' % path, HOST, 'Connection: close'), [404])
        for method in ('PUT', 'DELETE', 'MKCOL', 'PROPFIND', 'PATCH', 'POST', 'TRACE', 'CONNECT'):
            with self.subTest(method=method):
                self.assertIn(self.ask('%s /x.html HTTP/1.1' % method, HOST, 'Content-Length: 0', 'Connection: close'), ([405], [400]))

    def test_form_names_write_nowhere(self):
        """CVE-2020-27304: names of a form's files that lead out of the directory."""
        for name in ('../../../tmp/ks_evil.json', '..\\\\ks_evil.json', '/tmp/ks_evil.json', 'a\x01b.json', 'a' * 5000):
            body = '--b\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n\r\n{}\r\n--b--\r\n' % name
            found = self.ask('POST %s/r/traces HTTP/1.1' % RUNS, HOST, 'Content-Type: multipart/form-data; boundary=b',
                             'Content-Length: %d' % len(body), 'Connection: close', body=body)
            with self.subTest(name=name[:30]):
                self.assertEqual(len(found), 1)
                self.assertTrue(400 <= found[0] < 500, found)

    def test_no_request_in_a_body(self):
        """What a proxy might frame otherwise is refused, and what stands behind it is not answered."""
        cases = {
            'both lengths': ('Content-Length: 5', 'Transfer-Encoding: chunked'),
            'two lengths': ('Content-Length: 0', 'Content-Length: 5'),
            'two encodings': ('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'),
            'list of lengths': ('Content-Length: 0, 5',),
            'sign': ('Content-Length: +0',),
            'negative': ('Content-Length: -1',),
            'hexadecimal': ('Content-Length: 0x5',),
            'too large': ('Content-Length: 99999999999999999999',),
            'other encoding': ('Transfer-Encoding: gzip, chunked',),
            'no encoding': ('Transfer-Encoding: identity',),
            'blank before a colon': ('Content-Length : %d' % len(NEXT),),
            'blanks before a colon': ('X: a', 'Content-Length  :%d' % len(NEXT)),
            'unknown encoding': ('Transfer-Encoding: xchunked',),
            'folded': ('X: a', ' b', 'Content-Length: %d' % len(NEXT)),
            'folded length': ('Content-Length:', ' %d' % len(NEXT)),
            'beyond the array': (*['X%d: a' % i for i in range(64)], 'Content-Length: %d' % len(NEXT)),
            'no colon': ('Content-Length 5',),
            'bare CR': ('X: a\rContent-Length: 5',),
        }
        for name, lines in cases.items():
            with self.subTest(case=name):
                found = self.ask(UPLOAD, HOST, *lines, body=NEXT)
                self.assertEqual(len(found), 1, found)
                self.assertIn(found[0], (400, 411, 413, 431))

    def test_chunks(self):
        for chunks in ('5;x=y\r\nhello\r\n0\r\n\r\n', 'fffffffffffffffff\r\nhello', 'ffffffffffffffff\r\nhello', '7fffffffffffffff\r\nhello',
                       '-1\r\nhello', ' 5\r\nhello\r\n0\r\n\r\n', '0x5\r\nhello\r\n0\r\n\r\n', '5\nhello\n0\n\n', '5\r\nhelloXX0\r\n\r\n', '\r\n',
                       '5' * 200 + '\r\nhello', '5\r\nhel'):
            with self.subTest(chunks=chunks[:30]):
                found = self.ask(UPLOAD, HOST, 'Transfer-Encoding: chunked', body=chunks + NEXT)
                self.assertLessEqual(len(found), 1, found)
                self.assertTrue(all(400 <= status < 500 for status in found), found)

    def test_heads(self):
        self.assertEqual(self.ask('GET / HTTP/1.1', HOST, 'X: ' + 'x' * 70000), [431])
        self.assertIn(self.statuses('GET / HTTP/1.1\r\n' + HOST + '\r\nX: ' + 'x' * 200000), ([400], []))
        for line in ('X: a\x00b', 'X\x00: a', ': a', 'X', '\x00'):
            with self.subTest(line=line):
                self.assertIn(self.ask('GET / HTTP/1.1', HOST, line, 'Connection: close'), ([400], [200]) if line == ': a' else ([400],))
        for line in ('X:', 'X: ', 'X:a', 'X:   a  '):  # empty values and blanks around them are fine
            self.assertEqual(self.ask('GET / HTTP/1.1', HOST, line, 'Y: b', 'Connection: close'), [200], line)
        for line in ('X :', 'X : ', 'X :a', 'X  : a'):
            self.assertEqual(self.ask('GET / HTTP/1.1', HOST, line, 'Y: b', 'Connection: close'), [400], line)
        self.assertEqual(self.ask('GET / HTTP/1.1', 'Connection: close'), [400])
        self.assertEqual(self.ask('GET / HTTP/1.1', HOST, 'Host: other', 'Connection: close'), [400])

    def test_ranges(self):
        name, content = kinetoscope.fixture('cuda_training')
        trace = kinetoscope.uploaded(self.server.put('ranges', name, content))[0]
        size = len(content)
        huge = '9' * 30
        for form in ('bytes=%s-' % huge, 'bytes=-%s' % huge, 'bytes=0-%s' % huge, 'bytes=5-2', 'bytes=--1', 'bytes=', 'bytes=-0',
                     'bytes=' + ','.join('%d-%d' % (i, i) for i in range(2000)), 'lines=1-2', 'bytes=%d-' % size, 'bytes=-1'):
            with self.subTest(form=form[:30]):
                answer = self.server.ask('GET', '/api/v1/traces/%d/raw' % trace['id'], headers={'Range': form})
                self.assertIn(answer.status, (200, 206, 416))
                if answer.status == 200:
                    self.assertEqual(answer.body, content)


kinetoscope.main()
