#!/usr/bin/env python3
"""Every rule of tests/spec has one id, and every citation in the tree names a rule that exists; tables of tests name each rule of their book, and tests that are there.

usage: spec_ids.py [--uncited]     (and the rules that nothing cites)
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEC = ROOT / 'tests' / 'spec'
TOPS = ('ingest', 'api', 'server', 'static', 'tests', 'deploy', '.github')
KINDS = {'.c', '.h', '.py', '.js', '.mjs', '.ts', '.css', '.html', '.sql', '.sh', '.md', '.cmake', '.def', '.yml'}
NAMES = {'CMakeLists.txt', 'openapi.json', 'Dockerfile'}
SKIPPED = {'node_modules', 'vendor', 'corpus', 'build'}

TITLE = re.compile(r'\A# .*\(([A-Z]+)\)$', re.M)
# In a heading, or in bold at the beginning of a paragraph, an item or a row.
DEFINED = re.compile(r'^(?:#{1,4} |\s*(?:- |\| )?\*\*)\[([A-Z]+-[^\]\s]+)\]', re.M)
# Across the line break of a comment.
GAP = r'(?:[ \t]|\r?\n[ \t]*(?:\*|//|#)?)+'
UNNAMED = re.compile(r'\bSPEC_[a-z]\w*|(?<![-.\w])10a\b|(?<!RFC \d{4} )(?<!RFC \d{4}, )\b[Ss]ections?%s\d[\d.]*|\b[Cc]ompletions?%s\d|§ ?\d' % (GAP, GAP))


TESTS = '_tests.md'  # formats_tests.md: a row a rule of formats.md
# In bold at the beginning of its text: not the heading of a section.
RULE = re.compile(r'^\s*(?:- |\| )?\*\*\[([A-Z]+-[^\]\s]+)\]', re.M)
ROW = re.compile(r'^\| \[([A-Z]+-[^\]\s]+)\] \| ([^|]+) \| ([^|]+) \|$', re.M)
TEST = re.compile(r'`([\w.]+\.(?:py|c|mjs))(?: ([^`]+))?`')


def line_of(text, position):
    return text.count('\n', 0, position) + 1


def read_books():
    """(code -> file name, id -> file name, faults)"""
    books, defined, faults = {}, {}, []
    for path in sorted(SPEC.glob('*.md')):
        if path.name == 'README.md' or path.name.endswith(TESTS):
            continue
        text = path.read_text()
        title = TITLE.search(text)
        if title is None or title[1] in books:
            faults.append('%s: the title must end in the letters of its ids, (LETTERS), its own' % path.name)
            continue
        books[title[1]] = path.name
        for match in DEFINED.finditer(text):
            where = '%s:%d' % (path.name, line_of(text, match.start(1)))
            if match[1] in defined:
                faults.append('%s: %s is defined again' % (where, match[1]))
            if match[1].split('-')[0] != title[1]:
                faults.append('%s: %s does not belong to this book' % (where, match[1]))
            defined[match[1]] = path.name
    return books, defined, faults


def holds(path, name):
    """A test by its class and method, its function, or a word in its file."""
    text = path.read_text()
    if path.suffix == '.py' and '.' in name:
        kind, method = name.split('.')
        found = re.search(r'^class %s\(.*?(?=^class |\Z)' % re.escape(kind), text, re.M | re.S)
        return found is not None and 'def %s(' % method in found[0]
    return name in text


def faults_of_tests():
    for path in sorted(SPEC.glob('*' + TESTS)):
        text = path.read_text()
        rules = RULE.findall((SPEC / path.name.replace(TESTS, '.md')).read_text())
        rows = {match[1]: match[3] for match in ROW.finditer(text)}
        for rule in rules:
            if rule not in rows:
                yield '%s: no row for [%s]' % (path.name, rule)
        for rule, tests in rows.items():
            named = TEST.findall(tests)
            if not named and 'reference' not in tests:
                yield '%s: [%s] has no test' % (path.name, rule)
            for name, test in named:
                files = list((ROOT / 'tests').rglob(name))
                if not any(holds(file, test) for file in files):
                    yield '%s: [%s]: there is no test `%s %s`' % (path.name, rule, name, test)


def readable_files():
    for path in sorted(p for p in ROOT.glob('*.md')):
        yield path
    for top in TOPS:
        for path in sorted((ROOT / top).rglob('*')):
            if (path.suffix in KINDS or path.name in NAMES) and not SKIPPED & set(path.relative_to(ROOT).parts) and path.is_file():
                yield path


def main():
    books, defined, faults = read_books()
    citation = re.compile(r'\[((?:%s)-[^\]\s]*)\]' % '|'.join(books))
    cited, files = collections.Counter(), set()
    for path in readable_files():
        name, text = str(path.relative_to(ROOT)), path.read_text(errors='replace')
        for match in citation.finditer(text):
            if match[1] not in defined:
                faults.append('%s:%d: no rule has the id [%s]' % (name, line_of(text, match.start()), match[1]))
            elif path.parent != SPEC:
                cited[match[1]] += 1
                files.add(name)
        if path == SPEC / 'README.md' or path == pathlib.Path(__file__).resolve():
            continue
        for match in UNNAMED.finditer(text):
            faults.append('%s:%d: cite the rule by its id: "%s"' % (name, line_of(text, match.start()), ' '.join(match[0].replace('*', ' ').split())))
    overview = (SPEC / 'README.md').read_text()
    faults += ['README.md of tests/spec has no link to %s' % name for name in books.values() if '](%s)' % name not in overview]
    faults += faults_of_tests()
    for fault in faults:
        print(fault)
    if '--uncited' in sys.argv:
        print(' '.join(rule for rule in defined if rule not in cited))
    for name in books.values():
        mine = [rule for rule in defined if defined[rule] == name]
        print('%-16s %4d ids, %3d cited, %3d not' % (name, len(mine), sum(r in cited for r in mine), sum(r not in cited for r in mine)))
    print('spec: %d ids, %d citations in %d files, %d faults' % (len(defined), sum(cited.values()), len(files), len(faults)))
    return 1 if faults or not cited else 0


if __name__ == '__main__':
    sys.exit(main())
