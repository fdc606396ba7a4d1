#!/usr/bin/env python3
"""What quickstart.sh does around the build: options, the taken port, the demonstration, Ctrl-C. The build itself is
replaced by the program under test: a tree whose `cmake` does nothing and whose build/ holds that program."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest
import urllib.request

import kinetoscope


class Quickstart(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        shutil.copytree(kinetoscope.ROOT / 'deploy', self.root / 'deploy')
        (self.root / 'build').mkdir()
        (self.root / 'build/kinetoscope').symlink_to(os.path.abspath(kinetoscope.PROGRAM))
        (self.root / 'bin').mkdir()
        (self.root / 'bin/cmake').symlink_to('/bin/true')
        self.env = {k: v for k, v in os.environ.items() if not k.startswith('KINETOSCOPE_')}
        self.env['PATH'] = '%s/bin:%s' % (self.root, self.env['PATH'])

    def tearDown(self):
        self.folder.cleanup()

    def start(self, *options):
        # Signals as a terminal's shell would leave them: Ctrl-C must reach the script.
        return subprocess.Popen(['bash', self.root / 'deploy/quickstart.sh', '--data-dir', self.root / 'data', *options], env=self.env, cwd=self.root,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))

    def read_until_running(self, process):
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith('Ctrl-C stops it'):
                return ''.join(lines)
        self.fail('ended with %s:\n%s' % (process.wait(), ''.join(lines)))

    def stop(self, process, number):
        process.send_signal(number)
        rest = process.stdout.read()
        self.assertEqual(process.wait(kinetoscope.HANG_S), 0, rest)
        process.stdout.close()

    def test_demonstration_and_ctrl_c(self):
        port = kinetoscope.free_port()
        process = self.start('--listen', '127.0.0.1:%d' % port)
        text = self.read_until_running(process)
        address = re.search(r'Open (\S+)', text)[1]
        self.assertRegex(address, r'^http://localhost:%d/#/traces/\d+/overview$' % port)
        trace = re.search(r'/traces/(\d+)/', address)[1]
        with urllib.request.urlopen('http://127.0.0.1:%d/api/v1/traces/%s/overview' % (port, trace)) as reply:
            overview = json.load(reply)
        self.assertEqual(overview['steps'], 6)
        self.assertEqual(overview['trace']['run'], 'demo')
        self.stop(process, signal.SIGINT)
        # Once more on the same data: the demonstration is there already.
        process = self.start('--listen=127.0.0.1:%d' % port)
        self.assertIn(address, self.read_until_running(process))
        self.stop(process, signal.SIGTERM)

    def test_no_demo_and_base_path(self):
        port = kinetoscope.free_port()
        process = self.start('--no-demo', '--listen', '127.0.0.1:%d' % port, '--base-path', '/traces')
        self.assertIn('Open http://localhost:%d/traces/\n' % port, self.read_until_running(process))
        with urllib.request.urlopen('http://127.0.0.1:%d/traces/api/v1/runs' % port) as reply:
            self.assertEqual(json.load(reply)['total'], 0)
        self.stop(process, signal.SIGINT)

    def test_taken_port(self):
        with socket.socket() as taken:
            taken.bind(('127.0.0.1', 0))
            taken.listen()
            process = self.start('--listen', '127.0.0.1:%d' % taken.getsockname()[1])
            text = process.communicate(timeout=kinetoscope.HANG_S)[0]
        self.assertEqual(process.returncode, 1)
        self.assertIn('port %d is taken' % taken_port(text), text)
        self.assertIn('--listen', text)

    def test_the_servers_own_refusal_is_passed_on(self):
        process = self.start('--listen', '127.0.0.1:%d' % kinetoscope.free_port(), '--no-such-option')
        process.communicate(timeout=kinetoscope.HANG_S)
        self.assertEqual(process.returncode, 2)

    def test_help(self):
        process = self.start('--help')
        self.assertIn('--no-demo', process.communicate(timeout=kinetoscope.HANG_S)[0])
        self.assertEqual(process.returncode, 0)


def taken_port(text):
    found = re.search(r'port (\d+)', text)
    return int(found[1]) if found else 0


kinetoscope.main()
