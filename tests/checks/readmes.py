#!/usr/bin/env python3
"""Every folder with sources has a README that names each of its modules, and names none that is not there.

A module is a file without its suffixes. A table whose first head is `module` lists modules in backticks; a folder of
at most three sources may stand in its parent's table instead, as `folder/module`. tests/unit mirrors the tree: there
only headers, which tests share, need a line.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOPS = ['api', 'ingest', 'server', 'static/js', 'tests']
SUFFIXES = {'.c', '.h', '.def', '.sql', '.cmake', '.js', '.mjs', '.ts', '.py', '.sh'}
LINES_OF_FOLDER = 25
# These explain a whole room: its rules, decisions and limits.
LINES_OF_ROOM = 150
ROOMS = {'api', 'ingest', 'server', 'tests', 'tests/bench', 'tests/fuzz'}
SOURCES = 22
# One view on one canvas; one file a check, which its README groups.
MORE_SOURCES = {'static/js/views/timeline': 23, 'tests/checks': 60}
SMALL = 3  # sources of a folder that its parent may describe
UNIT = 'tests/unit'


def module_of(path):
    """The path of a source without its suffixes: `views.test.mjs` is the module `views`."""
    return path.parent / path.name.split('.')[0]


def folders():
    """Folder -> its sources, as paths from the root of the tree."""
    found = {}
    for top in TOPS:
        for path in sorted((ROOT / top).rglob('*')):
            if path.suffix in SUFFIXES and path.is_file() and 'node_modules' not in path.parts:
                found.setdefault(path.parent.relative_to(ROOT), []).append(path.relative_to(ROOT))
    return found


def readme_for(folder, sources):
    """The folder whose README describes these sources, None where there is none."""
    if (ROOT / folder / 'README.md').is_file():
        return folder
    if str(folder).startswith(UNIT + '/'):
        return pathlib.Path(UNIT)
    if len(sources) <= SMALL and (ROOT / folder.parent / 'README.md').is_file():
        return folder.parent
    return None


def listed_modules(text):
    """(line, name) of each module that the tables of modules list."""
    in_table = False
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith('|'):
            in_table = False
        elif re.match(r'\|\s*module\s*\|', line):
            in_table = True
        elif in_table:
            yield from ((number, name) for name in re.findall('`([^`]+)`', line.split('|')[1]))


def dead_references(folder, text):
    """Links, and files where to start reading, that lead nowhere from this folder or from the root of the tree."""
    names = re.findall(r'\]\(([^)#:]+)(?:#[^)]*)?\)', text)
    for line in re.findall(r'^Start with .*', text, re.M):
        names += re.findall(r'`((?:[\w.-]+/)*\w+\.(?:c|h|def|py|sh|js|mjs))`', line)
    return [name for name in names if not (ROOT / folder / name).exists() and not (ROOT / name).exists()]


def faults_of_readme(folder, required):
    path = folder / 'README.md'
    text = (ROOT / path).read_text()
    most = LINES_OF_ROOM if str(folder) in ROOMS else LINES_OF_FOLDER
    if len(text.splitlines()) > most:
        yield '%s: %d lines, at most %d' % (path, len(text.splitlines()), most)
    listed = {}
    for number, name in listed_modules(text):
        if name in listed:
            yield '%s:%d: `%s` stands in two lines' % (path, number, name)
        listed[name] = number
        if not any(ROOT.joinpath(folder, name).parent.glob(pathlib.Path(name).name + '.*')):
            yield '%s:%d: there is no module `%s`' % (path, number, name)
    for module in sorted(required - set(listed)):
        yield '%s: add a line for `%s` to the table of modules' % (path, module)
    for name in dead_references(folder, text):
        yield '%s: %s leads nowhere' % (path, name)


def faults():
    required = {}  # by README: the modules that it must list
    for folder, sources in folders().items():
        most = MORE_SOURCES.get(str(folder), SOURCES)
        if len(sources) > most:
            yield '%s: %d sources, at most %d: make a folder of one subject' % (folder, len(sources), most)
        if str(folder).startswith(UNIT + '/'):
            if not (ROOT / folder.relative_to(UNIT)).is_dir():
                yield '%s: mirrors no folder of the tree' % folder
            sources = [path for path in sources if path.suffix == '.h']
        owner = readme_for(folder, sources)
        if owner is None:
            yield '%s: has no README.md' % folder
        else:
            names = {str(module_of(path).relative_to(owner)) for path in sources}
            required.setdefault(owner, set()).update(names)
    for folder, names in sorted(required.items()):
        yield from faults_of_readme(folder, names)


def main():
    found = list(faults())
    for fault in found:
        print(fault)
    count = len(folders())
    print('readmes: %d folders, %d faults' % (count, len(found)))
    return 1 if found or not count else 0


if __name__ == '__main__':
    sys.exit(main())
