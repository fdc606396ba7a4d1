#!/usr/bin/env python3
"""Names from outside that are HTML, Markdown or log fields: Markdown reports show them as text, and no record of the log has
a field that the program did not write."""
import io
import json
import pathlib
import re
import shutil
import tarfile
import tempfile
import unittest

import kinetoscope

HTML = ('<script>alert(1)</script>', '<img src=x onerror=alert(1)>', '<int onfocus=alert(1) autofocus tabindex=1>', '<at::Half>',
        '<svg::x onclick=alert(1)>', '<!-- ', '</table>', '&lt;b&gt;', '<https://evil.example>', '[x](javascript:alert(1))', '![x](y)',
        '`<b>`', '``', '|', '\\', '\\|', '\n\n<b>\n', 'https://evil.example/', '# x', '*a*', '__a__', '1. x', '-  x')
# What a renderer, however lenient, could take for HTML, a link or a picture. The reports have no such thing of their own.
MARKUP = re.compile(r'<|(?<!\\)\]\(|https?://|&(?!lt;|amp;|#\d+;)\w+;')
LINE = re.compile(r'(?P<stamp>\d{4}-\S+Z) (?P<level>error|warn|info|debug) (?P<message>[^="\\]*(?:\\x[0-9a-f]{2}[^="\\]*)*?)'
                  r'(?P<fields>(?: [a-z][a-z0-9_]*=(?:"(?:[^"\\]|\\x[0-9a-f]{2})*"|-?\d+(?:\.\d+)?))*)')
FORGERIES = ('run a" action="delete', 'b\nx info audit action="delete" status=204', 'c\\x22 action=\\x22delete', 'd status=200 who=admin',
             'e\u2028f action="delete"', 'g\u202e h', 'i\x1b[31mj', 'k\x9bm', '"', '\\', '","action":"delete","x":"')
ACCEPTED = {name for name in FORGERIES if not re.search('[\x00-\x1f\x7f-\x9f]', name)}  # others are refused as names


def hostile_trace():
    document = json.loads(kinetoscope.fixture_json('cuda_training'))
    for number, event in enumerate(document['traceEvents']):
        if event.get('cat') in ('cpu_op', 'kernel', 'user_annotation', 'gpu_memcpy') and not event['name'].startswith('ProfilerStep'):
            event['name'] = HTML[number % len(HTML)] + ' %d' % (number % 40)
    for device in document.get('deviceProperties', []):
        device['name'] = HTML[1]
    return json.dumps(document).encode()


class HostileNames(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='kinetoscope-names-'))

    def tearDown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def report(self, *arguments):
        done = kinetoscope.run_program(*arguments, '--format', 'markdown')
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done.stdout.decode()

    def check(self, text, least_names):
        for number, line in enumerate(text.split('\n')):
            # What stands in a span of code is text for every renderer.
            bare = re.sub(r'(`+)(?!`)(?:(?!\1).|\1`)+?(?<!`)\1(?!`)', '', line) if not line.startswith('|') else line
            self.assertIsNone(MARKUP.search(bare), (number, line))
            if line.startswith('|'):
                cells = len(re.findall(r'(?<!\\)(?:\\\\)*\|', line))
                if not self.table:
                    self.table = cells
                self.assertEqual(cells, self.table, line)
            else:
                self.table = 0
        self.assertGreaterEqual(sum(text.count(word) for word in ('alert', 'evil')), least_names)

    def test_reports(self):
        self.table = 0
        name = HTML[1].replace('/', '') + ' &lt; `x`.pt.trace.json'
        path = self.folder / name
        path.write_bytes(hostile_trace())
        self.check(self.report('report', path), 5)

        archive = self.folder / '# <b>.tar'
        with tarfile.open(archive, 'w') as tar:
            for member, content in (('<img src=x onerror=alert(1)>/worker0.pt.trace.json', hostile_trace()),
                                    ('1. <script>alert(1)</script>.html', b'<!doctype html>')):
                info = tarfile.TarInfo(member)
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
        text = self.report('report', archive)
        self.check(text, 5)
        self.assertIn('- &#49;. &lt;script', text)

    def test_comparisons(self):
        self.table = 0
        sides = {'<img src=x onerror=alert(1)>|a.json': 1, '[b](javascript:alert(2)).json': 3}
        for side, factor in sides.items():
            document = json.loads(hostile_trace())
            for event in document['traceEvents']:
                if event.get('ph') == 'X' and event.get('cat') == 'kernel':
                    event['dur'] = event['dur'] * factor / 4
            (self.folder / side).write_text(json.dumps(document))
        text = self.report('compare', *(self.folder / side for side in sides), '--labels', HTML[1] + '|,[b](javascript:alert(2))')
        self.check(text, 10)
        again = self.folder / 'report.md'
        again.write_text(text)
        self.check(self.report('report', again), 10)  # what it wrote it reads, and writes again

    def log_of(self, log_format):
        with kinetoscope.Server('--log-format', log_format, '--log-level', 'debug') as server:
            name, content = kinetoscope.fixture('cpu_only')
            for number, forgery in enumerate(FORGERIES):
                server.put(forgery, name, content)
                server.put(forgery, 'file ' + forgery.replace('/', ''), content[:100 + number])
                server.put(forgery, 'again' + name, content + b' ' * number, headers={'Prefer': 'respond-async'})
                server.get('/api/v1/runs', q=forgery)
                server.ask('GET', '/api/v1/runs/x', headers={'Authorization': 'Bearer ' + re.sub(r'[^ -~]', '?', forgery)})
                server.ask('DELETE', '/api/v1/runs/none%0a' + str(number))
            # Written after the answers.
            end = '/healthz'
            server.get(end)
            while end not in server.log():
                pass
            return [line for line in server.log().split('\n') if line and not line.startswith('Kinetoscope ')]

    def check_fields(self, message, fields):
        if message == 'audit':
            self.assertEqual(list(fields), ['client', 'action', 'method', 'path', 'status'])
            self.assertIn(fields['action'], ('upload', 'delete'))
            self.assertEqual(fields['action'] == 'delete', fields['method'] == 'DELETE')
        elif message.startswith('job '):
            self.assertIn(list(fields), (['job', 'run', 'file'], ['job', 'run', 'file', 'error']))
        else:
            self.assertNotIn('action', fields)
            self.assertNotIn('who', fields)

    def test_text_log(self):
        lines = self.log_of('text')
        seen = set()
        for line in lines:
            found = LINE.fullmatch(line)
            self.assertIsNotNone(found, line)
            pairs = re.findall(r' ([a-z0-9_]+)=("[^"]*"|\S+)', found['fields'])
            fields = {key: re.sub(r'((?:\\x[0-9a-f]{2})+)', lambda m: bytes.fromhex(m[1].replace('\\x', '')).decode(errors='replace'), value.strip('"'))
                      for key, value in pairs}
            self.assertEqual(len(fields), len(pairs), line)
            self.assertNotRegex(line, '[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]')
            self.check_fields(found['message'], fields)
            seen.add(fields.get('run'))
        self.assertLessEqual(ACCEPTED, seen, 'what was escaped is read back')

    def test_json_log(self):
        seen = set()
        for line in self.log_of('json'):
            pairs = json.loads(line, object_pairs_hook=list)
            record = dict(pairs)
            self.assertEqual(len(record), len(pairs), line)
            self.assertTrue(line.isascii())
            self.check_fields(record['message'], {key: value for key, value in pairs if key not in ('time', 'level', 'message')})
            seen.add(record.get('run'))
        self.assertLessEqual(ACCEPTED, seen)


kinetoscope.main()
