#!/usr/bin/env python3
"""What is written about the program's options is so: the table of limits in server/README.md, and the options that deploy/ sets."""
import re
import unittest

import kinetoscope

ROOT = kinetoscope.ROOT
NO_REFUSAL = {'--retain-days'}  # of the list of limits what refuses nothing


def read(path):
    return (ROOT / path).read_text()


def options():
    """--option -> its default as the help has it, None where it names none."""
    text = kinetoscope.run_program('help', 'serve').stdout.decode()
    lines = re.findall(r'^  (--[a-z-]+)(.*)$', text, re.M)
    return {name: (re.findall(r'\(([^()]*)\)$', rest) or [None])[0] for name, rest in lines}


def limits():
    """The rows of the table of limits: (what, option, refusal, test)."""
    table = read('server/README.md').split('## Limits')[1]
    rows = [[cell.strip() for cell in line.strip('|').split(' | ')] for line in table.splitlines() if line.startswith('| ')]
    return rows[1:]


def sources_of(tests):
    """The texts of the tests that a row names: of checks and tests of limits.py, and of unit tests."""
    checks, units = [], []
    limits_py = read('tests/checks/limits.py')
    for name in re.findall('`([^`]+)`', tests):
        function = re.search(r'^    def %s\(.*?(?=^    def |^class |^[a-z])' % name, limits_py, re.M | re.S)
        if name.endswith('.py'):
            checks.append(read('tests/checks/' + name))
        elif function:
            checks.append(function[0])
        else:
            units.append(read('tests/unit/%s.c' % name))
    return ''.join(checks), ''.join(units)


class Documents(unittest.TestCase):
    def test_options_and_defaults_of_limits(self):
        known = options()
        for what, option, _, _ in limits():
            for name, default in re.findall(r'`(--[a-z-]+)` \(([^,:)]*)', option):
                self.assertEqual(known[name], re.sub(' s$', '', default), what)

    def test_every_limit_stands_in_the_table(self):
        told = {name for row in limits() for name in re.findall('--[a-z-]+', row[1])}
        listed = {'--' + name for name in re.findall(r'^    X\(\w+, "([a-z-]+)"', read('server/options/limits.h'), re.M)}
        self.assertGreater(len(listed), 10)
        self.assertEqual(listed - told, NO_REFUSAL)

    def test_refusals_are_codes_of_the_program(self):
        codes = set(re.findall(r'"([a-z_]+)", (\d{3}),', read('ingest/base/err.h')))
        for what, _, refusal, _ in limits():
            for status, code in re.findall(r'\b([45]\d\d)\b(?: `(\w+)`)?', refusal):
                self.assertIn((code, status), codes, what)

    def test_every_limit_has_a_test_that_names_it(self):
        for what, option, refusal, tests in limits():
            checks, units = sources_of(tests)
            self.assertTrue(checks + units, what)
            for name in re.findall('`(--[a-z-]+)` [(]', option):
                self.assertIn(name, checks, what)
            for status in re.findall(r'\b[45]\d\d\b', refusal):
                self.assertTrue(status in checks or units and not checks, (what, status))

    def test_deploy_sets_options_that_exist(self):
        known = {'KINETOSCOPE_' + name[2:].upper().replace('-', '_') for name in options()} | {'KINETOSCOPE_TOKEN'}
        known |= set(re.findall(r"environ\.get\('(KINETOSCOPE_[A-Z_]+)'", read('static/kinetoscope.py')))
        for path in sorted((ROOT / 'deploy').rglob('*')):
            if path.is_file() and path.suffix not in ('.png', '.gz'):
                set_here = set(re.findall(r'KINETOSCOPE_[A-Z_]+', path.read_text()))
                self.assertEqual(set_here - known, set(), path.name)

    def test_options_in_the_guides_exist(self):
        """Of every command that a guide for operators shows."""
        guides = ('README.md', 'deploy/README.md', 'deploy/operating.md', 'deploy/cluster/README.md')
        shown = [line for path in guides for line in re.findall(r'\bkinetoscope ((?:[a-z]+ )?[^`\n]*(?:\\\n[^`\n]*)*)', read(path)) if ' --' in ' ' + line]
        self.assertGreater(len(shown), 12)
        known = {}
        for line in shown:
            command = 'serve' if line.startswith('-') else line.split()[0]
            if command not in known:
                known[command] = set(re.findall(r'^  (--[a-z-]+)', kinetoscope.run_program('help', command).stdout.decode(), re.M))
            self.assertEqual(set(re.findall(r'(?<![\w-])--[a-z][a-z-]+', line.split('`')[0])) - known[command], set(), line)

    def test_examples_are_yaml(self):
        try:
            import yaml
        except ImportError:
            self.skipTest('no PyYAML')
        files = [path for path in (ROOT / 'deploy').rglob('*') if path.suffix in ('.yml', '.yaml')]
        self.assertGreater(len(files), 5)
        parts = {path.name: [part for part in yaml.safe_load_all(path.read_text()) if part] for path in files}
        self.assertEqual([name for name, found in parts.items() if not found or not all(isinstance(part, dict) for part in found)], [])
        # What a node is told of S3, the program reads.
        read_here = set(re.findall(r'"(AWS_[A-Z0-9_]+)"', read('ingest/store/objects/s3/target.c')))
        for path in [*files, ROOT / 'deploy/cluster/environment', ROOT / 'deploy/README.md']:
            self.assertEqual(set(re.findall('AWS_[A-Z0-9_]+', path.read_text())) - read_here, set(), path.name)

    def test_options_named_in_words_exist(self):
        known = set()
        for command in ('serve', 'ingest', 'report', 'compare', 'cycles', 'token', 'backup', 'restore', 'version'):
            text = kinetoscope.run_program('help', command).stdout.decode()
            known |= set(re.findall(r'^  (--[a-z-]+)', text, re.M))
        for path in ('server/README.md', 'deploy/nginx.conf', 'deploy/Caddyfile', 'deploy/kinetoscope.service'):
            told = {name for name in re.findall(r'(?<![\w-])--[a-z][a-z-]+', read(path))}
            self.assertEqual({name for name in told - known if name != '--some-name'}, set(), path)

    def test_commands_in_words_have_their_options(self):
        for name in ('README.md', 'deploy/README.md', 'deploy/using.md', 'deploy/operating.md', 'deploy/cluster/README.md'):
            text = read(name).replace('\\\n', ' ')
            commands = re.findall(r'(?<![\w./-])kinetoscope ([a-z]+)\b([^`\n#;]*)', ' '.join(re.findall(r'(?<!`)`[^`\n]+`|```[^`]*```', text)))
            self.assertTrue(commands, name)
            for command, words in commands:
                answer = kinetoscope.run_program('help', command)
                self.assertEqual(answer.returncode, 0, '%s: %s' % (name, command))
                known = set(re.findall(r'^  (--[a-z-]+)', answer.stdout.decode(), re.M))
                self.assertEqual(set(re.findall(r'(?<![\w-])--[a-z][a-z-]+', words)) - known, set(), '%s: %s' % (name, command))

    def test_paths_named_in_words_exist(self):
        for name in ('README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'deploy/using.md', 'deploy/operating.md', 'deploy/cluster/README.md'):
            paths = re.findall(r'`(?:\./)?((?:ingest|api|server|static|tests|deploy)/[^`\s]*)', read(name)) + re.findall(r'\]\(([^)#:]+)[)#]', read(name))
            self.assertGreater(len(paths), 1)
            for path in paths:
                places = ROOT / path.rstrip('…'), (ROOT / name).parent / path
                self.assertTrue(any(place.exists() for place in places), '%s: %s' % (name, path))


kinetoscope.main()
