#!/usr/bin/env python3
"""Every #include of the tree obeys the rules: rooms include only the rooms named below (ingest <- api <- server), and
sub-folders of one folder never include each other in a circle. The word plugin stands in the annex only. What reads a
whole table a request is called in one place."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')

# Room -> the rooms whose headers it may include, itself not named. Paths beneath a room belong to it.
ROOMS = {
    'ingest/base': [],
    'ingest/model': ['ingest/base'],
    'ingest/input': ['ingest/base'],
    'ingest/formats': ['ingest/base', 'ingest/input', 'ingest/model'],
    'ingest/index': ['ingest/base', 'ingest/model'],
    'ingest/analysis': ['ingest/base', 'ingest/model', 'ingest/index'],
    'ingest/store': ['ingest/base', 'ingest/model'],
    'ingest/query': ['ingest/base', 'ingest/model', 'ingest/analysis', 'ingest/store'],
    'ingest/jobs': ['ingest/base', 'ingest/input', 'ingest/formats', 'ingest/analysis', 'ingest/model', 'ingest/store', 'ingest/query'],
    # The annex: rules that are not ours, computed on request from what is stored.
    'ingest/tb_plugin': ['ingest/base', 'ingest/input', 'ingest/formats', 'ingest/index', 'ingest/analysis', 'ingest/model', 'ingest/store', 'ingest/query'],
    # api knows no trace model, only stored results.
    'api': ['ingest/base', 'ingest/model/results/results.h', 'ingest/model/warning.h', 'ingest/model/results/kernel_utilisation.h', 'ingest/model/results/cycles.h',
            'ingest/model/results/comparison.h', 'ingest/model/results/environment.h', 'ingest/model/results/memory_rows.h', 'ingest/model/results/call_tree.h', 'ingest/model/results/diff.h',
            'ingest/model/results/distributed.h', 'ingest/model/results/ranks.h', 'ingest/model/results/what_if.h', 'ingest/model/tables.h', 'ingest/model/tables', 'ingest/model/timeline.h', 'ingest/store', 'ingest/jobs', 'ingest/query', 'ingest/tb_plugin'],
    'server': ['ingest', 'api'],
}
# Headers that only some rooms may include, ours and the system's.
ONLY_IN = {
    r'civetweb\.h$': ['server'],
    # beside the store only the reader of Nsight Systems' exports, which are SQLite databases
    r'sqlite3\.h$': ['ingest/store', 'ingest/formats'],
    # the server packs its answers
    r'^(isa-l|igzip_lib)': ['ingest/input', 'server'],
    r'^zstd\.h$': ['ingest/input', 'ingest/store'],
    # analyses know no JSON
    r'^jansson\.h$|json_write\.h$': ['ingest/base', 'ingest/formats', 'ingest/store', 'ingest/query', 'ingest/jobs', 'api', 'server'],
    r'^curl/': ['ingest/store', 'server'],
    r'^libpq': ['ingest/store'],
    r'^openssl/': ['ingest/base', 'server'],
}

# The deleted plugin is spoken of in the annex alone, and where these name it.
ANNEX = re.compile(r'(^|/)tb_plugin/')
ANNEX_WORD = re.compile(r'plugin|tensorboard', re.IGNORECASE)
NAMES_ANNEX = {
    'ingest/formats/format.h',  # the table of formats, and their names
    'ingest/formats/format.c',
    'api/route.c',  # the table of routes
    'ingest/store/catalogue/takeover.c',  # a column of older schemas
}

# Function -> the files that may call it, each once; its own module (.c and .h) declares and defines it.
CALLED_ONCE = {
    # reads the whole table of routes; whatever else wants the route reads the request's match
    'route_find': ('api/route', ['api/api.c', 'server/http.c']),
}


def room_of(path):
    return next((room for room in ROOMS if path == room or path.startswith(room + '/')), None)


def allowed(room, header):
    """Whether `room` may include our header of that path (from the root of the tree)."""
    return any(header == target or header.startswith(target + '/') for target in ROOMS[room] + [room])


def faults_of(path, room):
    for number, line in enumerate(path.read_text(errors='replace').splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        ours, header = match[1], match[1] or match[2]
        if ours and (ROOT / ours).exists() and not allowed(room, ours):
            yield number, '%s may not include %s' % (room, ours)
        if ours and not (ROOT / ours).exists() and (path.parent / ours).exists():
            yield number, 'write the path from the root of the tree: %s' % header
        for pattern, rooms in ONLY_IN.items():
            if re.search(pattern, header) and room not in rooms:
                yield number, '%s belongs to %s only' % (header, ', '.join(rooms))


def sibling_includes(sources):
    """folder -> sub-folder -> sub-folder it includes -> one such include, as text.

    Files directly in a folder are its contract: they belong to none of its sub-folders.
    """
    graph = {}
    for path in sources:
        parts = path.relative_to(ROOT).parts
        for number, line in enumerate(path.read_text(errors='replace').splitlines(), 1):
            match = INCLUDE.match(line)
            target = pathlib.PurePath(match[1]).parts if match and match[1] and (ROOT / match[1]).exists() else ()
            shared = next((i for i, (a, b) in enumerate(zip(parts, target)) if a != b), 0)
            # What both have in common is the folder; both go on into a sub-folder of it.
            if 0 < shared < min(len(parts), len(target)) - 1:
                edges = graph.setdefault('/'.join(parts[:shared]), {}).setdefault(parts[shared], {})
                edges.setdefault(target[shared], '%s:%d includes %s' % ('/'.join(parts), number, match[1]))
    return graph


def extra_calls(sources):
    """Each call of a CALLED_ONCE function beyond the one it has, and each one that it lacks, as text."""
    for function, (module, callers) in CALLED_ONCE.items():
        calls = ['%s:%d' % (path.relative_to(ROOT), number)
                 for path in sources if str(path.relative_to(ROOT).with_suffix('')) != module
                 for number, line in enumerate(path.read_text(errors='replace').splitlines(), 1)
                 if re.search(r'\b%s\b' % function, line.partition('/*')[0])]
        if sorted(call.partition(':')[0] for call in calls) != sorted(callers):
            yield '%s is called once in each of %s, not at %s' % (function, ', '.join(callers), ', '.join(calls) or 'no place')


def way(edges, start, end):
    """The shortest list of sub-folders from start to end, None where there is none."""
    ways, met = [[start]], set()
    for path in ways:
        for target in sorted(edges.get(path[-1], {})):
            if target == end:
                return path + [target]
            if target not in met:
                met.add(target)
                ways.append(path + [target])
    return None


def circles(sources):
    """Of each circle of sub-folders the shortest way round, as text with its includes."""
    for folder, edges in sorted(sibling_includes(sources).items()):
        told = set()
        for start in sorted(edges):
            path = way(edges, start, start)
            if path and not told & set(path):
                told |= set(path)
                steps = ['    %s' % edges[a][b] for a, b in zip(path, path[1:])]
                yield '\n'.join(['%s: %s include each other in a circle:' % (folder, ' -> '.join(path))] + steps)


def main():
    sources = [p for top in ('ingest', 'api', 'server') for p in (ROOT / top).rglob('*.[ch]')]
    count = 0
    for path in sorted(sources):
        relative = str(path.relative_to(ROOT))
        room = room_of(relative)
        if room is None:
            print('%s: stands in no room of the house' % relative)
            count += 1
            continue
        for number, line in enumerate(path.read_text(errors='replace').splitlines(), 1):
            if ANNEX_WORD.search(line) and not ANNEX.search(relative) and relative not in NAMES_ANNEX:
                print('%s:%d: only the annex (tb_plugin/) speaks of the plugin' % (relative, number))
                count += 1
        for number, text in faults_of(path, room):
            print('%s:%d: %s' % (relative, number, text))
            count += 1
    for text in [*circles(sources), *extra_calls(sources)]:
        print(text)
        count += 1
    print('includes: %d files, %d faults' % (len(sources), count))
    return 1 if count or not sources else 0


if __name__ == '__main__':
    sys.exit(main())
