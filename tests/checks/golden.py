#!/usr/bin/env python3
"""Uploads the golden cases and compares the plugin routes' answers with the golden ones.

usage: golden.py [FOLDER_OF_CASES | CASE]...     (default: the fixtures)

Equal means equal after JSON parsing: same keys, same texts, numbers within a relative 1e-9. Rows keep their order, but
rows with equal sort keys are compared as sets. Where the golden answers were computed with doubles from decimal
microseconds (precision "fractional") a figure may differ in its last displayed digit. In prose (recommendations,
tooltips, help texts) only the figures count: the words are ours.
"""
import gzip
import json
import pathlib
import re
import sys

import kinetoscope

SHOWN = 3  # differences printed of an answer
FIGURE = re.compile(r'\d+(?:\.\d+)?')
PERCENTAGE = re.compile(r'(\d+(?:\.\d+)?) ?%')


def short(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 140 else text[:137] + '...'


class Comparison:
    def __init__(self, precision):
        self.fractional = precision != 'exact'
        self.found = []

    def differs(self, path, want, got):
        self.found.append('%s: %s, want %s' % (path or '/', short(got), short(want)))

    def number(self, path, want, got):
        distance, size = abs(want - got), max(abs(want), abs(got))
        allowed = 1e-9 * size
        if self.fractional:
            allowed = max(1 if isinstance(want, int) and isinstance(got, int) else 0.0101, 1e-6 * size)
        if distance > allowed:
            self.differs(path, want, got)

    def value(self, path, want, got):
        if isinstance(want, bool) or isinstance(got, bool) or want is None or got is None:
            if want is not got:
                self.differs(path, want, got)
        elif isinstance(want, (int, float)) and isinstance(got, (int, float)):
            self.number(path, want, got)
        elif type(want) is not type(got):
            self.differs(path, want, got)
        elif isinstance(want, dict):
            self.members(path, want, got)
        elif isinstance(want, list):
            self.items(path, want, got)
        elif isinstance(want, str) and 'visualization-tooltip' in want:
            self.tooltip_cell(path, want, got)
        elif want != got:
            self.differs(path, want, got)

    def members(self, path, want, got):
        for key in sorted(set(want) ^ set(got)):
            self.found.append('%s/%s: %s' % (path, key, 'missing' if key in want else 'not expected'))
        for key in want:
            if key not in got:
                continue
            inner = '%s/%s' % (path, key)
            if key == 'recommendations':
                self.recommendations(inner, want[key], got[key])
            elif key in ('tooltip', 'tooltips'):
                self.help_text(inner, want[key], got[key])
            elif key in ('rows', 'data') and isinstance(want[key], list) and isinstance(got[key], list):
                self.rows(inner, want[key], got[key], sort_key(want, key))
            else:
                self.value(inner, want[key], got[key])

    def items(self, path, want, got):
        if len(want) != len(got):
            self.found.append('%s: %d items, want %d' % (path, len(got), len(want)))
            return
        for index, pair in enumerate(zip(want, got)):
            self.value('%s[%d]' % (path, index), *pair)

    def rows(self, path, want, got, key):
        """Lists in order of `key`; among rows of an equal key any order will do."""
        if len(want) != len(got):
            self.found.append('%s: %d rows, want %d' % (path, len(got), len(want)))
            return
        begin = 0
        while begin < len(want):
            end = begin + 1
            while key and end < len(want) and self.same(key(want[end]), key(want[begin])):
                end += 1
            self.tied_rows('%s[%d]' % (path, begin), want[begin:end], got[begin:end])
            begin = end

    def tied_rows(self, path, want, got):
        rest = list(got)
        for row in want:
            match = next((r for r in rest if self.same(row, r)), None)
            if match is None:
                self.value(path, row, rest[0] if rest else None)
                return
            rest.remove(match)

    def same(self, want, got):
        probe = Comparison('fractional' if self.fractional else 'exact')
        probe.value('', want, got)
        return not probe.found

    # ---- prose
    def recommendations(self, path, want, got):
        if want.count('<li>') != got.count('<li>') or not set(PERCENTAGE.findall(want)) <= set(PERCENTAGE.findall(got)):
            if not self.fractional or want.count('<li>') != got.count('<li>'):
                self.differs(path, want, got)

    def tooltip_cell(self, path, want, got):
        if not self.fractional and not set(figures(want)) <= set(figures(got)):
            self.differs(path, want, got)

    def help_text(self, path, want, got):
        """Some text wherever the plugin has some, under the same keys."""
        if isinstance(want, dict):
            if not isinstance(got, dict) or set(want) != set(got) or not all(got.values()):
                self.differs(path, want, got)
        elif bool(want) != bool(got) or not isinstance(got, str):
            self.differs(path, want, got)


def figures(text):
    return FIGURE.findall(re.sub(r'<[^>]*>', ' ', text))


def sort_key(table, member):
    """What the rows of a table are ordered by: a function of a row, None where each row has its place."""
    if member == 'data':
        name = table.get('metadata', {}).get('sort')
        return (lambda row: row.get(name)) if name else None
    names = [c.get('name') for c in table.get('columns', [])]
    if 'Total Duration (us)' in names:
        return lambda row: row[names.index('Total Duration (us)')]
    return (lambda row: row[1]) if names == ['name', 'value'] else None


def upload(server, folder, case):
    for name in case['files']:
        kinetoscope.uploaded(server.put(case['run'], name, (folder / name).read_bytes()))


def check_case(server, folder):
    """(answers asked, lines of differences)."""
    case = json.loads((folder / 'case.json').read_text())
    questions = json.loads(gzip.decompress((folder / 'golden.json.gz').read_bytes()))
    upload(server, folder, case)
    lines = []
    for q in questions:
        query = dict(q['params'], run=case['run'], worker=q['worker'], span=q['span'])
        answer = server.plugin(q['route'], **query)
        where = '%s %s' % (q['route'], ' '.join('%s=%s' % kv for kv in query.items() if kv[1] is not None))
        if answer.status != 200:
            lines.append('%s: HTTP %d %s' % (where, answer.status, answer.body[:200]))
            continue
        comparison = Comparison(case['precision'])
        comparison.value('', q['answer'], answer.json())
        lines += ['%s: %s' % (where, line) for line in comparison.found[:SHOWN]]
    return len(questions), lines


def case_folders(paths):
    for path in paths:
        if (path / 'case.json').exists():
            yield path
        else:
            yield from sorted(p.parent for p in path.glob('*/case.json') if (p.parent / 'golden.json.gz').exists())


def main():
    folders = list(case_folders([pathlib.Path(p) for p in sys.argv[1:]] or [kinetoscope.FIXTURES]))
    wrong = 0
    with kinetoscope.Server() as server:
        for folder in folders:
            asked, lines = check_case(server, folder)
            wrong += bool(lines)
            print('%-24s %3d answers %s' % (folder.name, asked, 'DIFFER' if lines else 'equal'))
            for line in lines[:12]:
                print('    ' + line)
    print('golden: %d of %d cases equal' % (len(folders) - wrong, len(folders)))
    return 1 if wrong or not folders else 0


if __name__ == '__main__':
    sys.exit(main())
