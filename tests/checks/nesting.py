#!/usr/bin/env python3
"""Nothing nests so deep that it fills a stack: bodies of every route that takes one, and traces whose calls nest as deep as
there are calls. The threads are looked at too: how large their stacks are, and how much of them requests have used."""
import itertools
import json
import pathlib
import re
import resource
import sys
import unittest

import kinetoscope

LEVELS = (10, 64, 65, 877, 100_000)
LEVELS_MAX = 64  # JSON_SMALL_LEVELS_MAX
GUARD_BYTES = resource.getpagesize()
# More than any stack has room for: 10 bytes a call would fill one of ours.
CALLS = 100_000
PLUGIN_ROUTES = ('overview', 'operation', 'operation/table', 'kernel', 'trace', 'tree', 'module', 'diff', 'diffnode')
ROUTES = ('overview', 'operators', 'modules', 'tree', 'tree/0', 'tree/0?depth=1000', 'tree/0?q=op', 'timeline/tracks',
          'timeline?tracks=0&start_ns=0&end_ns=999999999', 'search?q=op1', 'window', 'window?start_ns=1000&end_ns=100000',
          'events/0', 'cycles', 'device-time', 'trace.json.gz')


def http_thread_stack_bytes():
    header = (kinetoscope.ROOT / 'server/http.h').read_text()
    return int(re.search(r'HTTP_THREAD_STACK_BYTES \(\(size_t\)(\d+)\)', header)[1])


def bodies(levels):
    """(shape, text) of nested JSON; whole, and only opened."""
    for shape, (begin, end) in {'arrays': ('[', ']'), 'objects': ('{"note":', '}')}.items():
        yield shape, begin * levels + ('1' if shape == 'objects' else '') + end * levels
        yield shape + ', not closed', begin * levels
    half = levels // 2
    odd = '[' * (levels % 2), ']' * (levels % 2)
    yield 'mixed', odd[0] + '[{"tags":' * half + '"]}"' + '}]' * half + odd[1]
    inner = levels - 1
    yield 'within a member', '{"note": %s%s, "tags": []}' % ('[' * inner, ']' * inner)


def stacks_used(server):
    """{bytes of a thread's stack: the most that one of them has touched}, from the memory map of the process.

    A stack stands right above a guard page that nobody may touch; other memory may happen to have the size of one."""
    size, used, stack, guard_end = 0, {}, False, None
    for line in pathlib.Path('/proc/%d/smaps' % server.process.pid).read_text().splitlines():
        head = re.match(r'([0-9a-f]+)-([0-9a-f]+) (\S+) ', line)
        if head:
            begin, end = int(head[1], 16), int(head[2], 16)
            size, stack = end - begin, head[3].startswith('rw') and begin == guard_end
            guard_end = end if head[3].startswith('---') and end - begin == GUARD_BYTES else None
        elif line.startswith('Rss:') and stack:
            used[size] = max(used.get(size, 0), int(line.split()[1]) << 10)
    return used


def nested_trace(calls, modules):
    """Calls on one thread, each within the one before it, and a kernel launched by the innermost."""
    def event(number, name, category, args):
        return {'ph': 'X', 'cat': category, 'name': name, 'pid': 1, 'tid': 1, 'ts': 1000 + number, 'dur': 4 * calls - 2 * number,
                'args': args}
    events = [{'ph': 'X', 'cat': 'user_annotation', 'name': 'ProfilerStep#1', 'pid': 1, 'tid': 1, 'ts': 900, 'dur': 8 * calls + 100}]
    for i in range(calls):
        events.append(event(i, 'aten::op%d' % (i % 7), 'cpu_op', {'External id': i + 1}))
        if modules:
            events.append(event(i, 'nn.Module: M_%d' % i, 'python_function',
                                {'Python id': i + 1, 'Python parent id': i or None, 'Python module id': i}))
    begin = 1000 + calls + 1
    link = {'External id': calls, 'correlation': 7}
    events.append({'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'pid': 1, 'tid': 1, 'ts': begin, 'dur': 1, 'args': link})
    events.append({'ph': 'X', 'cat': 'kernel', 'name': 'k', 'pid': 0, 'tid': 7, 'ts': begin + 2, 'dur': 5,
                   'args': dict(link, device=0, stream=7)})
    return json.dumps({'schemaVersion': 1, 'traceEvents': events}).encode()


def depth_of(text):
    """How deep brackets nest outside of strings, without a recursive parser."""
    plain = re.sub(rb'"(?:[^"\\]|\\.)*"', b'', text)
    steps = (1 if c in b'[{' else -1 for c in re.sub(rb'[^\[\]{}]', b'', plain))
    return max(itertools.accumulate(steps), default=0)


class Nesting(unittest.TestCase):
    def test_bodies_of_every_route(self):
        name, content = kinetoscope.fixture('cuda_training')
        with kinetoscope.Server() as server:
            trace = kinetoscope.uploaded(server.put('r', name, content))[0]
            routes = (('POST', '/api/v1/comparisons'), ('PATCH', '/api/v1/runs/r'), ('PATCH', '/api/v1/traces/%d' % trace['id']),
                      ('POST', '/api/v1/tokens'))
            for (method, path), levels in itertools.product(routes, LEVELS):
                for shape, body in bodies(levels):
                    with self.subTest(path=path, levels=levels, shape=shape):
                        answer = server.ask(method, path, body)
                        if len(body) > 256 << 10:
                            self.assertEqual(answer.status, 413)
                            continue
                        self.assertEqual(answer.status, 400, answer.body[:300])
                        problem = answer.json()
                        self.assertEqual('64 levels' in problem['detail'], levels > LEVELS_MAX, problem)
                        if levels > LEVELS_MAX:
                            # The bracket that is one too many is where the problem says.
                            at = problem['byte_offset']
                            self.assertIn(body[at], '[{')
                            self.assertEqual(depth_of(body[:at + 1].encode()), LEVELS_MAX + 1)
            self.assertEqual(server.get('/healthz').status, 200)

    def test_uploads(self):
        event = '{"ph": "X", "cat": "cpu_op", "name": "op", "ts": 1, "dur": 1, "pid": 1, "tid": 1, "args": %s}'
        with kinetoscope.Server() as server:
            for levels in LEVELS:
                for number, (shape, body) in enumerate(bodies(levels)):
                    with self.subTest(levels=levels, shape=shape):
                        for place, text in (('whole', body), ('args', '{"traceEvents": [%s]}' % event % body),
                                            ('beside', '{"deviceProperties": %s, "distributedInfo": %s, "traceEvents": [%s]}'
                                                       % (body, body, event % '{}'))):
                            answer = server.put('u', '%s%d_%d.json' % (place, levels, number), text)
                            self.assertIn(answer.status, (201, 415, 422), answer.body[:300])
                        form = '--b\r\nContent-Disposition: form-data; name="file"; filename="f%d_%d"\r\n\r\n%s\r\n--b--\r\n'
                        answer = server.ask('POST', '/api/v1/runs/u/traces', form % (levels, number, body),
                                            {'Content-Type': 'multipart/form-data; boundary=b'})
                        self.assertIn(answer.status, (201, 415, 422), answer.body[:300])
                        answer = server.ask('POST', '/login', 'token=' + body[:8000], {'Content-Type': 'application/x-www-form-urlencoded'})
                        self.assertLess(answer.status, 500)
            self.assertEqual(server.get('/healthz').status, 200)

    def test_regular_expressions(self):
        """The C library compiles and runs them recursively: the first of these once ended the server, from a GET."""
        name, content = kinetoscope.fixture('cuda_training')
        deadly = ('(' * 198, '(' * 99 + ')' * 99, '(a|' * 49 + 'b' + ')' * 49, '(a?){900}b', r'(\b|a){900}', '(()){1000}',
                  '(((a|b)*c?){30}){30}', '(' * 60 + 'a' + ')+' * 60)
        harmless = ('(' * 20 + 'aten' + ')' * 20, 'aten::(add|mul)(_out)?', 'aten::.{1,40}$', '[[:alpha:]_]+[]()]*', 'a+b+c+d+|e+')
        with kinetoscope.Server() as server:
            trace = kinetoscope.uploaded(server.put('r', name, content))[0]
            paths = ['/api/v1/runs'] + ['/api/v1/traces/%d/%s' % (trace['id'], view) for view in ('operators', 'kernels', 'tree/0')]
            for path, pattern in itertools.product(paths, deadly + harmless):
                with self.subTest(path=path, pattern=pattern):
                    answer = server.get(path, q='/%s/' % pattern)
                    self.assertEqual(answer.status, 200 if pattern in harmless else 400, answer.body[:300])
            self.stacks_have_room(server)

    def test_saved_answers(self):
        """A line of saved plugin answers that nests too deep is a bad line, and the others count."""
        good = json.dumps({'performance': [{'name': 'Kernel', 'value': 1, 'extra': 1, 'children': []}], 'steps': {'columns': [], 'rows': []},
                           'recommendations': '', 'environments': [{'title': 'Number of Worker(s)', 'value': '1'}]})
        with kinetoscope.Server() as server:
            for levels in LEVELS:
                deep = good[:-1] + ', "deep": ' + '[' * levels + ']' * levels + '}'
                answer = server.put('p', 'answers%d.json' % levels, deep + '\n' + good + '\n')
                self.assertIn(answer.status, (201, 415, 422), answer.body[:300])
            self.assertEqual(server.get('/healthz').status, 200)

    def test_traces_as_deep_as_they_have_calls(self):
        with kinetoscope.Server() as server:
            for modules in (False, True):
                worker = 'modules' if modules else 'calls'
                trace = kinetoscope.uploaded(server.put('deep', worker + '.json', nested_trace(CALLS, modules)))[0]
                where = dict(run='deep', worker=worker, span=1, exp_run='deep', exp_worker=worker, exp_span=1)
                for route in PLUGIN_ROUTES:
                    with self.subTest(worker=worker, route=route):
                        answer = server.plugin(route, **where)
                        self.assertEqual(answer.status, 200 if route != 'module' or modules else 404, answer.body[:300])
                        if route == 'tree' or (route == 'module' and modules):
                            # A call is an object in a list.
                            self.assertGreaterEqual(depth_of(answer.body), 2 * CALLS)
                paths = ['/api/v1/traces/%d/%s' % (trace['id'], route) for route in ROUTES]
                paths += ['/api/v1/diff?base=%d&candidate=%d' % (trace['id'], trace['id']),
                          '/api/v1/diff/tree?base=%d&candidate=%d' % (trace['id'], trace['id'])]
                for path in paths:
                    with self.subTest(path=path):
                        answer = server.ask('GET', path)
                        self.assertEqual(answer.status, 404 if path.endswith('/modules') and not modules else 200, answer.body[:300])
            self.stacks_have_room(server)

    def stacks_have_room(self, server):
        if not sys.platform.startswith('linux'):
            return
        size = http_thread_stack_bytes()
        used = stacks_used(server)
        self.assertIn(size, used, 'no thread has a stack of HTTP_THREAD_STACK_BYTES: civetweb was built otherwise')
        print('request threads: %d of %d bytes of stack used' % (used[size], size))
        self.assertLess(used[size], size * 3 // 4)


if __name__ == '__main__':
    kinetoscope.main()
