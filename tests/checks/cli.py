#!/usr/bin/env python3
"""The command line: what it prints, and its exit codes (0 done, 1 failed, 2 wrong usage)."""
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import kinetoscope
from kinetoscope import run_program

sys.path.insert(0, str(kinetoscope.FIXTURES))
import recordings  # noqa: E402


class Cli(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.name, content = kinetoscope.fixture('cuda_training')
        self.file = pathlib.Path(self.folder.name, self.name)
        self.file.write_bytes(content)
        self.data = pathlib.Path(self.folder.name, 'data')

    def tearDown(self):
        self.folder.cleanup()

    def run_in(self, *arguments, code=0, env=None):
        done = run_program(*arguments, env=env, cwd=self.folder.name)
        self.assertEqual(done.returncode, code, done.stdout[-2000:] + done.stderr[-2000:])
        return done

    def test_manual_page(self):
        page = self.run_in('help', '--man').stdout.decode()
        text = page.replace('\\-', '-')
        options = set(re.findall(r'(?m)^  --([a-z-]+)', self.run_in('help').stdout.decode()))
        self.assertGreater(len(options), 30)
        for option in options:
            self.assertIn('.TP\n\\fB--%s\\fR' % option, text)
            self.assertIn('\\fBKINETOSCOPE_%s\\fR' % option.upper().replace('-', '_'), text)
        for word in ('NAME', 'SYNOPSIS', 'COMMANDS', 'OPTIONS', 'ENVIRONMENT', 'FILES', 'EXIT STATUS', 'EXAMPLES'):
            self.assertIn('\n.SH %s\n' % word, page)
        self.assertNotRegex(page, r'(?m)[^\x00-\x7f]|^[.\'](?!\\"|TH |SH |TP$|br$|BR )')
        tools = {'groff': ['groff', '-man', '-Tutf8', '-ww', '-z'], 'mandoc': ['mandoc', '-T', 'lint', '-W', 'warning']}
        found = [command for tool, command in tools.items() if shutil.which(tool)]
        if not found:
            self.skipTest('neither groff nor mandoc reads the manual page here')
        for command in found:
            done = subprocess.run(command, input=page.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual((done.returncode, done.stdout), (0, b''))

    def test_help_and_version(self):
        text = self.run_in('help').stdout.decode()
        for word in ('serve', 'ingest', 'report', 'version', 'KINETOSCOPE_', 'Exit codes'):
            self.assertIn(word, text)
        text = self.run_in('help', 'serve').stdout.decode()
        for option in ('listen', 'data-dir', 'token-file', 'max-upload', 'ingest-workers', 'retain-raw', 'log-level', 'log-format', 'drain-seconds', 'base-path', 'allow-anonymous', 'public-url'):
            self.assertIn('--' + option, text)
        self.assertEqual(self.run_in('serve', '--help').stdout.decode(), text)
        self.assertRegex(self.run_in('version').stdout.decode(), r'\d+\.\d+\.\d+')
        licences = self.run_in('version', '--licenses').stdout.decode()
        for library in ('civetweb', 'SQLite', 'zstd', 'jansson', 'OpenSSL', 'Chart.js', 'ISA-L', 'Apache'):
            self.assertIn(library.lower(), licences.lower())

    def test_ingest_then_serve(self):
        done = self.run_in('ingest', '--data-dir', self.data, '--run', 'from the command line', self.file)
        self.assertEqual(len(done.stdout.decode().strip().splitlines()), 1)
        with kinetoscope.Server(data_dir=str(self.data)) as server:
            runs = server.get('/api/v1/runs').json()['runs']
            self.assertEqual([r['name'] for r in runs], ['from the command line'])
            self.assertEqual(runs[0]['traces'], 1)

    def test_ingest_into_a_project(self):
        other = pathlib.Path(self.folder.name, 'other.json.gz')
        other.write_bytes(self.file.read_bytes())
        ingest = ['ingest', '--data-dir', self.data, '--run', 'r']
        self.run_in(*ingest, '--project', 'team/a', self.file)
        said = self.run_in(*ingest, '--project', 'team/b', other, code=1).stderr.decode()
        self.assertIn('is in the project team/a', said)
        self.assertIn('--project', said)
        self.run_in(*ingest, other)
        self.assertIn('--project', self.run_in(*ingest, '--project', 'tëam', other, code=2).stderr.decode())
        with kinetoscope.Server(data_dir=str(self.data)) as server:
            run = server.get('/api/v1/runs/r').json()
            self.assertEqual((run['project'], run['traces']), ('team/a', 2))

    def test_what_is_stored_is_the_owners_alone(self):
        self.data.mkdir(mode=0o755)
        self.run_in('ingest', '--data-dir', self.data, '--run', 'r', self.file)
        with kinetoscope.Server(data_dir=str(self.data)):
            files = [path for path in self.data.rglob('*') if path.stat().st_mode & 0o077]
            self.assertEqual(files, [])

    def test_ingest_goes_on_after_a_bad_file(self):
        bad = pathlib.Path(self.folder.name, 'bad.json')
        bad.write_text('{"no": "trace"}')
        self.run_in('ingest', '--data-dir', self.data, '--run', 'r', bad, self.file, code=1)
        with kinetoscope.Server(data_dir=str(self.data)) as server:
            self.assertEqual(server.get('/api/v1/runs/r').json()['traces'], 1)

    def test_limits_of_a_file(self):
        large = pathlib.Path(self.folder.name, 'large.json.gz')
        large.write_bytes(self.file.read_bytes() + gzip.compress(b' ' * (32 << 20)))
        for command in (['ingest', '--data-dir', self.data], ['report'], ['cycles'], ['compare', self.file]):
            for option, value in (('--max-events', '10'), ('--max-decompressed', '1000000')):
                said = self.run_in(*command, large, option, value, code=1).stderr.decode()
                self.assertIn('(%s)' % option, said)
                self.assertIn(value, said)
        self.run_in('report', large, '--max-ratio', '0')

    def test_report(self):
        text = self.run_in('report', self.file).stdout.decode()
        self.assertIn('aten::addmm', text)
        markdown = self.run_in('report', self.file, '--format', 'markdown').stdout.decode()
        self.assertIn('|', markdown)
        self.assertTrue(json.loads(self.run_in('report', self.file, '--format', 'json').stdout))
        self.assertEqual(sorted(p.name for p in pathlib.Path(self.folder.name).iterdir()), [self.name], 'report leaves nothing behind')

    def test_report_of_a_memory_snapshot(self):
        path = pathlib.Path(self.folder.name) / 'snapshot.pickle'
        path.write_bytes(recordings.snapshot())
        text = self.run_in('report', str(path)).stdout.decode()
        path.unlink()
        self.assertIn('Memory of each device', text)
        self.assertIn('Who holds memory at the peak', text)
        self.assertIn('train.py', text)
        self.assertNotIn('DataLoader', text, 'no time is known')

    def test_the_readme_shows_what_is_printed(self):
        readme = (kinetoscope.ROOT / 'README.md').read_text()
        shown = readme.split('`kinetoscope report` says', 1)[1].split('```')[1]
        demo = next((kinetoscope.ROOT / 'deploy/demo').glob('*.gz'))
        printed = self.run_in('report', demo).stdout.decode().splitlines()
        for line in filter(None, shown.splitlines()):
            self.assertIn(line, printed)

    def test_options_are_environment_variables_too(self):
        self.run_in('ingest', '--run', 'r', self.file, env={'KINETOSCOPE_DATA_DIR': str(self.data)})
        self.assertTrue(self.data.is_dir())

    def test_failures(self):
        done = self.run_in('report', 'nowhere.json', code=1)
        self.assertEqual(done.stderr.count(b'nowhere.json'), 1, done.stderr)
        self.run_in('ingest', '--data-dir', self.data, 'nowhere.json', code=1)

    def test_a_kernel_table_is_not_compared(self):
        table = pathlib.Path(self.folder.name, 'kernels.txt')
        table.write_text('Kernel  Latency Tensor   DRAM\nsoftmax |  5632   0.00   0.45\n')
        said = self.run_in('compare', self.file, table, code=1).stderr.decode()
        table.unlink()
        self.assertIn('kernels.txt is a kernel table', said)

    def test_wrong_usage(self):
        for arguments in (['--no-such-option'], ['no-such-command'], ['report'], ['ingest'], ['report', self.file, '--format', 'xml'],
                          ['serve', '--listen'], ['serve', '--listen', 'nonsense'], ['serve', '--max-upload', 'many'], ['serve', '--retain-raw', 'maybe']):
            with self.subTest(arguments=arguments):
                done = self.run_in(*arguments, code=2)
                self.assertTrue(done.stderr.strip(), 'wrong usage is explained')

    def test_beyond_loopback_needs_a_token_or_a_word(self):
        done = run_program('serve', '--listen', '0.0.0.0:0', '--data-dir', self.data)
        self.assertIn(done.returncode, (1, 2))
        self.assertIn(b'--allow-anonymous', done.stderr)
        with kinetoscope.Server('--allow-anonymous', data_dir=str(self.data), listen='0.0.0.0:0') as server:
            self.assertEqual(server.get('/healthz').status, 200)

    def test_a_taken_port_is_told(self):
        with kinetoscope.Server() as server:
            done = run_program('serve', '--listen', '127.0.0.1:%d' % server.port, '--data-dir', self.data)
            self.assertEqual(done.returncode, 1)
            self.assertIn(str(server.port), done.stderr.decode())


kinetoscope.main()
