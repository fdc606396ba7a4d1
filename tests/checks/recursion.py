#!/usr/bin/env python3
"""No input decides how deep a stack gets: finds every recursion of the program and adds up the deepest calls of its threads.

The call graph comes from clang's IR, before any optimisation, of every file that the program is built of. Frames are those of
the build (-fstack-usage), so a build with sanitizers is held to the same bounds. Every recursion (a strongly connected
component of the graph) stands in recursion.md with the levels it can have; one that does not, and a row without a
recursion, fail. So does a thread whose deepest chain of calls, recursions at full depth, does not fit its stack.

How calls through pointers are seen: an indirect call may reach every function of exactly that type whose address is taken
anywhere (a pointer that is cast to another type first would be missed: the tree does not do that). A function whose address
is passed to a library (qsort, sqlite3_create_function) may be called from where it is passed, and one given to SQLite also
wherever SQLite is called. What libraries do among themselves is not seen: recursive functions of libraries are listed by
name below, and LIBRARY_BYTES is left for their frames.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = pathlib.Path(__file__).with_name('recursion.md')
SKIPPED = 77
ROOMS = ('ingest/', 'api/', 'server/')
# For civetweb and the C library before a request thread calls us (24 KB, measured with /healthz), and for SQLite behind our
# last call (8 KB more with a query).
LIBRARY_BYTES = 36 << 10
# A return address, and what aligns the frame.
CALL_BYTES = 16
# Recursive functions of libraries that the program may call: at most so many bytes a level, measured on amd64.
LIBRARY_RECURSIONS = {'json_loadb': 256, 'json_delete': 256, 'json_dumps': 1024, 'regcomp': 700, 'regexec': 150, 'qsort': 128}
NEVER = re.compile(r'^(json_(loads|loadf|load_file|load_callback|dumpb|dump_file|dump_callback|equal|deep_copy)|n?ftw|glob|wordexp)$')
# Of SQLite, what runs no statement and so calls nobody back.
SQLITE_RUNS_NOTHING = re.compile(r'sqlite3_(value|result|bind|column|user_data|errmsg|errstr|extended|changes|last_insert)')
IGNORED_CALL = re.compile(r'llvm\.|__(asan|ubsan|tsan|sanitizer)')

ATTRIBUTES = re.compile(r'\b(noundef|zeroext|signext|nonnull|noalias|returned|immarg|nocapture|readonly|writeonly|inreg|internal|'
                        r'dso_local|hidden|local_unnamed_addr|align \d+|dereferenceable(_or_null)?\(\d+\)|'
                        r'(byval|sret)\([^()]*(\([^()]*\))?[^()]*\))')
SYMBOL = re.compile(r'@([\w.$]+)')
CALL = re.compile(r'^\s*(?:%[\w.]+ = )?(?:tail |musttail |notail )?call (.*)')
CALLEE = re.compile(r'([@%])([\w.$]+)\(')


def find_clang():
    """(command, options) of a clang whose IR can still show what a pointer points to."""
    for name in ('clang-14', 'clang-15', 'clang-16', 'clang'):
        if shutil.which(name):
            macros = subprocess.run([name, '-dM', '-E', '-x', 'c', '/dev/null'], stdout=subprocess.PIPE, check=True).stdout.decode()
            version = int(re.search(r'__clang_major__ (\d+)', macros)[1])
            if version in (14, 15, 16):
                return name, ['-Xclang', '-no-opaque-pointers'] if version > 14 else []
    print('skipped: no clang 14 to 16 at hand')
    sys.exit(SKIPPED)


def sources(build):
    """{source: (arguments of its compilation, the file with its frames)}"""
    found = {}
    for entry in json.loads((build / 'compile_commands.json').read_text()):
        path = pathlib.Path(entry['file'])
        if not path.is_relative_to(ROOT) or not str(path.relative_to(ROOT)).startswith(ROOMS) or 'tools' in path.parts:
            continue
        arguments = shlex.split(entry['command'])
        output = build / entry['directory'] / arguments[arguments.index('-o') + 1]
        if 'ks_embed' not in str(output) and 'tests' not in output.relative_to(build).parts:
            found[str(path.relative_to(ROOT))] = arguments, output.with_suffix('.su')
    return found


def ir_of(source, arguments, clang):
    kept = [a for a in arguments if re.match(r'-[DIUm]|-std=', a)]
    systems = [x for i, a in enumerate(arguments) if a == '-isystem' for x in (a, arguments[i + 1])]
    command = [clang[0], *clang[1], *kept, *systems, '-w', '-O0', '-S', '-emit-llvm', '-o', '-', str(ROOT / source)]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()


# ---- IR ----

def split_list(text):
    parts, depth, begin = [], 0, 0
    for at, c in enumerate(text):
        depth += (c in '([{<') - (c in ')]}>')
        if c == ',' and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    return parts + [text[begin:]] if text.strip() else []


def end_of_list(text, at):
    """Behind the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == '(') - (text[i] == ')')
        if depth == 0:
            return i
    raise ValueError('an open bracket: ' + text)


def type_of(argument):
    """The type of `type attributes value`."""
    text, depth = ATTRIBUTES.sub('', argument).strip(), 0
    for at, c in enumerate(text):
        depth += (c in '([{<') - (c in ')]}>')
        if c == ' ' and depth == 0:
            return text[:at]
    return text


def signature(result, arguments):
    result = re.sub(r'\(.*\)$', '', ATTRIBUTES.sub('', result).strip()).strip()  # the types of a function with `...`
    return '%s (%s)' % (result if result.endswith('}') else result.split(' ')[-1], ', '.join(map(type_of, split_list(arguments))))


class Graph:
    def __init__(self):
        self.types = {}                                # function -> signature
        self.source = {}                               # function -> source
        self.calls = collections.defaultdict(set)      # function -> functions that it calls by name
        self.indirect = collections.defaultdict(set)   # function -> signatures that it calls by pointer
        self.passed = []                               # (function, what it calls, function whose address it passes)
        self.taken = set()                             # functions whose address is taken

    def read(self, source, text):
        lines = text.split('\n')
        local = {SYMBOL.search(line)[1] for line in lines if line.startswith('define internal ')}

        def name(symbol):
            return '%s:%s' % (source, symbol) if symbol in local else symbol
        at = None
        for line in lines:
            if line.startswith('define '):
                found = SYMBOL.search(line)
                at = name(found[1])
                self.types[at] = signature(line[len('define '):found.start()], line[found.end() + 1:end_of_list(line, found.end())])
                self.source[at] = source
            elif line.startswith('}'):
                at = None
            elif line.startswith('@'):
                self.taken.update(name(symbol) for symbol in SYMBOL.findall(line)[1:])
            elif at:
                self.read_instruction(at, line, name)

    def read_instruction(self, at, line, name):
        call = CALL.match(line)
        callee = call and next((c for c in CALLEE.finditer(call[1])), None)
        if not callee:
            self.taken.update(name(symbol) for symbol in SYMBOL.findall(line))
            return
        arguments = call[1][callee.end():end_of_list(call[1], callee.end() - 1)]
        symbols = {name(symbol) for symbol in SYMBOL.findall(arguments)}
        self.taken |= symbols
        if callee[1] == '%':
            self.indirect[at].add(signature(call[1][:callee.start()], arguments))
        elif not IGNORED_CALL.match(callee[2]):
            self.calls[at].add(name(callee[2]))
            self.passed += [(at, name(callee[2]), symbol) for symbol in symbols]

    def edges(self, faults):
        """{function: functions that it may call}"""
        by_type = collections.defaultdict(set)
        for function in self.taken & self.types.keys():
            by_type[self.types[function]].add(function)
        edges = {function: self.calls[function] & self.types.keys() for function in self.types}
        for function, kinds in self.indirect.items():
            for kind in kinds:
                edges[function] |= by_type[kind]
                if not by_type[kind] and '%struct.sqlite3' not in kind:
                    faults.append('%s calls a pointer of a type that no function has: %s' % (function, kind))
        outside = [(at, callee, symbol) for at, callee, symbol in self.passed if callee not in self.types and symbol in self.types]
        given_to_sqlite = {symbol for _, callee, symbol in outside if callee.startswith('sqlite3_')}
        for at, _, symbol in outside:
            edges[at].add(symbol)
        for function in self.types:
            if any(callee.startswith('sqlite3_') and not SQLITE_RUNS_NOTHING.match(callee) for callee in self.calls[function]):
                edges[function] |= given_to_sqlite
        return edges


def components(edges):
    """Strongly connected components, callees first (Tarjan, with a stack of its own)."""
    number, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in sorted(edges):
        if root in number:
            continue
        work = [(root, None)]
        while work:
            at, rest = work.pop()
            if rest is None:
                number[at] = low[at] = len(number)
                stack.append(at)
                on_stack.add(at)
                rest = iter(sorted(edges[at]))
            for to in rest:
                if to not in number:
                    work += [(at, rest), (to, None)]
                    break
                if to in on_stack:
                    low[at] = min(low[at], number[to], low[to])
            else:
                if low[at] == number[at]:
                    cut = stack.index(at)
                    found.append(stack[cut:])
                    on_stack -= set(stack[cut:])
                    del stack[cut:]
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[at])
    return found


# ---- frames and stacks ----

def read_frames(graph, found):
    frames = collections.Counter()
    missing = [source for source, (_, usage) in found.items() if not usage.exists()]
    if missing:
        print('skipped: the compiler wrote no stack usage (-fstack-usage) for %s' % missing[0])
        sys.exit(SKIPPED)
    for source, (_, usage) in found.items():
        for line in usage.read_text().splitlines():
            place, size, _ = line.split('\t')
            plain = place.split(':')[-1].split('.')[0]
            for function in (plain, '%s:%s' % (source, plain)):
                if graph.source.get(function) == source:
                    frames[function] = max(frames[function], int(size) + CALL_BYTES)
    return frames


def constant(header, name):
    text = re.search(name + r' \(\(size_t\)(\d+)(?: << (\d+))?\)', (ROOT / header).read_text())
    return int(text[1]) << int(text[2] or 0)


def entries(graph):
    """{kind of thread: (its first functions, bytes of its stack)}"""
    request = {f for f in graph.taken & graph.types.keys() if re.match(r'\S+ \(%struct\.mg_connection\*', graph.types[f])}
    own = {symbol for _, callee, symbol in graph.passed if callee in ('thread_start', 'thread_call')}
    size = constant('ingest/base/thread.h', 'THREAD_STACK_BYTES')
    # The main thread of a command has 8 MB where nobody set another limit; it is held to what threads have.
    return {'request': (request, constant('server/http.h', 'HTTP_THREAD_STACK_BYTES')), 'own': (own, size), 'main': ({'main'}, size)}


def plain(function):
    return function.split(':')[-1]


def read_table():
    """{functions of a recursion: levels}"""
    rows = {}
    for line in TABLE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip('|').split('|')]
        if line.startswith('| `'):
            rows[tuple(sorted(re.findall(r'`([^`]+)`', cells[0])))] = int(cells[1])
    return rows


class Stacks:
    def __init__(self, graph, edges, frames, table, faults):
        self.graph, self.edges, self.frames = graph, edges, frames
        self.component, self.own_bytes, self.recursions = {}, {}, {}
        self.order = components(edges)
        unused = set(table)
        for number, members in enumerate(self.order):
            names = tuple(sorted(map(plain, members)))
            is_recursion = len(members) > 1 or members[0] in edges[members[0]]
            if is_recursion and names not in table:
                faults.append('recursion without a bound in %s: %s' % (TABLE.name, ', '.join(sorted(members))))
            if is_recursion:
                unused.discard(names)
            levels = table.get(names, 1) if is_recursion else 1
            level_bytes = sum(frames[f] for f in members)
            if is_recursion:
                self.recursions[number] = names, levels, level_bytes
            self.own_bytes[number] = levels * level_bytes + max(self.library_bytes(f, table, unused, faults) for f in members)
            self.component.update(dict.fromkeys(members, number))
        faults += ['%s names a recursion that is not there: %s' % (TABLE.name, ', '.join(names)) for names in sorted(unused)]
        self.deepest = {}
        for number, members in enumerate(self.order):
            below = {self.component[to] for f in members for to in edges[f]} - {number}
            best = max(below, key=lambda n: self.deepest[n][0], default=None)
            behind = self.deepest[best] if best is not None else (0, ())
            self.deepest[number] = self.own_bytes[number] + behind[0], (number, *behind[1])

    def library_bytes(self, function, table, unused, faults):
        most = 0
        for callee in self.graph.calls[function] - self.graph.types.keys():
            if NEVER.match(callee):
                faults.append('%s calls %s, which recurses as deep as its input: use json_small_parse' % (function, callee))
            if callee in LIBRARY_RECURSIONS:
                unused.discard((callee,))
                if (callee,) not in table:
                    faults.append('%s is not in %s' % (callee, TABLE.name))
                most = max(most, LIBRARY_RECURSIONS[callee] * table.get((callee,), 1))
        return most

    def reach(self, first):
        seen, work = set(first), list(first)
        while work:
            for to in self.edges[work.pop()] - seen:
                seen.add(to)
                work.append(to)
        return seen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', type=pathlib.Path, help='of ninja, of the whole program')
    parser.add_argument('--print', action='store_true', help='the table of recursions and the deepest chains')
    args = parser.parse_args()
    build = args.build.resolve()
    clang, found, faults, graph = find_clang(), sources(build), [], Graph()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        texts = pool.map(lambda source: ir_of(source, found[source][0], clang), found)
        for source, text in zip(found, texts):
            graph.read(source, text)
    edges = graph.edges(faults)
    stacks = Stacks(graph, edges, read_frames(graph, found), read_table(), faults)
    callers = {f for f in graph.types if 'json_loadb' in graph.calls[f]}
    faults += ['%s calls json_loadb: use json_small_parse, which bounds the nesting' % f for f in callers - {'json_small_parse'}]
    faults += ['%s starts a thread without thread_start' % f for f in graph.types
               if 'pthread_create' in graph.calls[f] and graph.source[f] != 'ingest/base/thread.c']

    threads = collections.defaultdict(list)
    for kind, (first, size) in entries(graph).items():
        if not first:
            faults.append('no function is found that begins a thread: %s' % kind)
            continue
        for number in {stacks.component[f] for f in stacks.reach(first)} & stacks.recursions.keys():
            threads[number].append(kind)
        used, chain = max((stacks.deepest[stacks.component[f]] for f in first), key=lambda d: d[0])
        if used > size - LIBRARY_BYTES:
            faults.append('a thread (%s) may need %d bytes of stack and %d for libraries, but has %d:%s'
                          % (kind, used, LIBRARY_BYTES, size, lines_of(stacks, chain)))
        print('%-8s deepest calls %7d of %7d bytes of stack' % (kind, used, size))
        if args.print:
            print(lines_of(stacks, chain))
    if args.print:
        for number, (names, levels, level_bytes) in stacks.recursions.items():
            print('%-20s %3d levels of %5d bytes: %s' % (', '.join(threads[number]) or 'not reached', levels, level_bytes, ', '.join(names)))
    for fault in faults:
        print(fault, file=sys.stderr)
    print('recursion: %d functions, %d of them recursive' % (len(graph.types), sum(len(r[0]) for r in stacks.recursions.values())))
    sys.exit(1 if faults else 0)


def lines_of(stacks, chain):
    return ''.join('\n    %7d %s' % (stacks.own_bytes[n], ', '.join(stacks.order[n][:3])) for n in chain if stacks.own_bytes[n] > 200)


if __name__ == '__main__':
    main()
