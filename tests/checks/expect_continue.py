#!/usr/bin/env python3
"""`Expect: 100-continue`: a handler answers 100 before it waits for the body, and refuses before it asks for one.
Order is what is tested, never time: without the 100 a client sends its body only after a second of waiting."""
import pathlib
import socket
import subprocess
import tempfile
import unittest

import kinetoscope

MB = 1 << 20


class Raw:
    """One HTTP exchange by hand."""

    def __init__(self, server):
        self.socket = socket.create_connection(('127.0.0.1', server.port), timeout=kinetoscope.HANG_S)
        self.seen = b''

    def send_head(self, path, length, *more):
        lines = ['PUT %s HTTP/1.1' % path, 'Host: 127.0.0.1', 'Content-Length: %d' % length, 'Expect: 100-continue', *more]
        self.socket.sendall(('\r\n'.join(lines) + '\r\n\r\n').encode())

    def read_head(self):
        """Status line and headers of the next answer; waits, however long, until the server says something."""
        while b'\r\n\r\n' not in self.seen:
            part = self.socket.recv(65536)
            if not part:
                raise AssertionError('the server closed the connection after %r' % self.seen)
            self.seen += part
        head, _, self.seen = self.seen.partition(b'\r\n\r\n')
        return head.decode()


class ExpectContinue(unittest.TestCase):
    def test_continue_comes_before_any_byte_of_the_body(self):
        name, content = kinetoscope.fixture('cuda_training')
        with kinetoscope.Server() as server:
            raw = Raw(server)
            raw.send_head(kinetoscope.trace_path('r', name), len(content))
            # Not one byte of the body has been sent: an answer can only be the 100.
            self.assertTrue(raw.read_head().startswith('HTTP/1.1 100'))
            raw.socket.sendall(content)
            self.assertTrue(raw.read_head().startswith('HTTP/1.1 201'))
            raw.socket.close()

    def test_curl_sends_its_body_after_the_continue(self):
        with kinetoscope.Server() as server, tempfile.TemporaryDirectory() as folder:
            file, trace = pathlib.Path(folder, 'big.pt.trace.json'), pathlib.Path(folder, 'trace')
            file.write_bytes(kinetoscope.large_trace(5 * MB))
            # The wait for a 100 is longer than any guard, so that curl cannot go on without one.
            done = subprocess.run(['curl', '-sS', '--expect100-timeout', '100000', '--max-time', str(kinetoscope.HANG_S), '--trace-ascii', trace,
                                   '-o', folder + '/answer', '-w', '%{http_code}', '-T', file, server.url + '/api/v1/runs/curl/traces/'],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.stdout, b'201')
            text = trace.read_text()
            self.assertIn('Expect: 100-continue', text)
            self.assertLess(text.index('HTTP/1.1 100'), text.index('=> Send data'))

    def test_a_refusal_comes_instead_of_the_continue(self):
        name, content = kinetoscope.fixture('cuda_training')
        with kinetoscope.Server('--max-upload', '1M') as server:
            raw = Raw(server)
            raw.send_head(kinetoscope.trace_path('r', name), 5 * MB)
            self.assertTrue(raw.read_head().startswith('HTTP/1.1 413'))
            raw.socket.close()

    def test_who_does_not_wait_for_the_continue_has_his_refusal_all_the_same(self):
        """As some proxies do. Were the connection closed upon the body, the system could throw the answer away."""
        with kinetoscope.Server('--max-upload', '1M') as server:
            for _ in range(8):
                raw = Raw(server)
                raw.send_head(kinetoscope.trace_path('r', 'x.json'), 16 * MB)
                for _ in range(16):
                    raw.socket.sendall(b' ' * MB)
                self.assertTrue(raw.read_head().startswith('HTTP/1.1 413'))
                raw.socket.close()

    def test_without_a_token_no_body_is_asked_for(self):
        with tempfile.NamedTemporaryFile('w') as tokens:
            tokens.write('uploader ci %s\n' % ('0' * 64))
            tokens.flush()
            with kinetoscope.Server('--token-file', tokens.name) as server:
                raw = Raw(server)
                raw.send_head(kinetoscope.trace_path('r', 'x.pt.trace.json'), 5 * MB)
                self.assertTrue(raw.read_head().startswith('HTTP/1.1 401'))
                raw.socket.close()


kinetoscope.main()
