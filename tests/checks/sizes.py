#!/usr/bin/env python3
"""Sources stay readable in one sitting: at most 800 lines a file. And no file names a machine's own paths."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_LINES = 800
SOURCES = {'.c', '.h', '.py', '.sh', '.js', '.mjs', '.css', '.html', '.sql', '.txt', '.cmake', '.md', '.json'}
TOPS = ['CMakeLists.txt', 'README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', '.ci', '.github', 'api', 'deploy', 'ingest', 'server', 'static', 'tests']
GENERATED = {'package-lock.json', 'openapi.json'}  # long by nature
OWN_PATHS = re.compile(r'(?<![\w.])/(?:work|root|home)/\w')


def files():
    for top in TOPS:
        path = ROOT / top
        found = [path] if path.is_file() else sorted(path.rglob('*'))
        yield from (p for p in found if p.is_file() and p.suffix in SOURCES and 'node_modules' not in p.parts)


def main():
    count = faults = 0
    for path in files():
        count += 1
        lines = path.read_text(errors='replace').splitlines()
        name = path.relative_to(ROOT)
        if len(lines) > MOST_LINES and path.name not in GENERATED:
            print('%s: %d lines, at most %d' % (name, len(lines), MOST_LINES))
            faults += 1
        if path != pathlib.Path(__file__).resolve():
            for number, line in enumerate(lines, 1):
                if OWN_PATHS.search(line):
                    print('%s:%d: names a path of one machine: %s' % (name, number, line.strip()[:80]))
                    faults += 1
    print('sizes: %d files, %d faults' % (count, faults))
    return 1 if faults or not count else 0


if __name__ == '__main__':
    sys.exit(main())
