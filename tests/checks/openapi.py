#!/usr/bin/env python3
"""The description is true: what /api/v1/openapi.json says of each answer is held against the answer."""
import json
import re
import unittest
import urllib.parse

import kinetoscope

TYPES = {'object': dict, 'array': list, 'string': str, 'boolean': bool, 'null': type(None)}
METHODS = ['get', 'put', 'post', 'patch', 'delete']
KERNEL_TABLE = b"""Kernel                                  Latency   Tensor   DRAM
ampere_sgemm_128x64_nn                | 204800    0.52     0.21
ampere_sgemm_128x64_nn                | 198656    0.55     0.20
elementwise_kernel                    | 10240     0.00     0.61
"""


def perf_data(beta):
    """A table of cycles in which one function takes about `beta` percent of each."""
    lines = ['cycle,pid,hostname,beta_pct,function_name,metric_name,device,func_type,mu_pct,sigma_pct,duration,interpolation_status,'
             'anchor_name,anchor_dur_us,cycle_start_ts,instances_count,simple_name']
    for cycle in range(1, 7):
        for name, share in (('attention', beta), ('norm', 5)):
            lines.append('%d,14,host,%.4f,%s,gpu_usage,GPU 0,kernel,%.4f,0.1,%.4f,*,step,1000.0,%.4f,2,%s'
                         % (cycle, share + cycle % 3 / 10, name, 50 + share + cycle % 2, share * 10, 1e9 + cycle * 2000, name))
    return '\n'.join(lines + ['']).encode()


class Schema:
    """As much of JSON Schema as the description uses."""

    def __init__(self, document):
        self.document = document

    def resolve(self, node):
        while '$ref' in node:
            target = self.document
            for part in node['$ref'].removeprefix('#/').split('/'):
                target = target[part.replace('~1', '/').replace('~0', '~')]
            node = target
        return node

    def faults(self, schema, value, path='', closed=True):
        schema = self.resolve(schema)
        if schema is True or schema == {}:
            return
        for part in schema.get('allOf', []):
            yield from self.faults(part, value, path, closed=False)
        for word in ('oneOf', 'anyOf'):
            if word in schema and not any(not list(self.faults(s, value, path)) for s in schema[word]):
                yield '%s: fits none of %s' % (path or '/', word)
        yield from self.type_faults(schema, value, path)
        if 'enum' in schema and value not in schema['enum']:
            yield '%s: %r is not one of %s' % (path, value, schema['enum'])
        if isinstance(value, dict):
            yield from self.member_faults(schema, value, path, closed)
        if isinstance(value, list) and 'items' in schema:
            for index, item in enumerate(value[:50]):
                yield from self.faults(schema['items'], item, '%s[%d]' % (path, index))
        if isinstance(value, str) and 'pattern' in schema and not re.search(schema['pattern'], value):
            yield '%s: %r does not match %s' % (path, value, schema['pattern'])

    def type_faults(self, schema, value, path):
        names = schema.get('type')
        if names is None:
            return
        names = [names] if isinstance(names, str) else names
        if value is None and schema.get('nullable'):
            return
        if not any(is_of(value, name) for name in names):
            yield '%s: %s, described as %s' % (path or '/', json.dumps(value)[:60], '/'.join(names))

    def member_faults(self, schema, value, path, closed):
        known = self.members(schema)
        for name in schema.get('required', []):
            if name not in value:
                yield '%s/%s: missing' % (path, name)
        for name, member in value.items():
            if name in known:
                yield from self.faults(known[name], member, '%s/%s' % (path, name))
            elif isinstance(schema.get('additionalProperties'), dict):
                yield from self.faults(schema['additionalProperties'], member, '%s/%s' % (path, name))
            elif closed and known and schema.get('additionalProperties') is not True:
                yield '%s/%s: not described' % (path, name)

    def members(self, schema):
        schema = self.resolve(schema)
        out = dict(schema.get('properties', {}))
        for part in schema.get('allOf', []) + schema.get('oneOf', []) + schema.get('anyOf', []):
            out.update(self.members(part))
        return out


def is_of(value, name):
    if name in ('integer', 'number'):
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        return not isinstance(value, bool) and (whole if name == 'integer' else isinstance(value, (int, float)))
    return isinstance(value, TYPES[name])


def references(node):
    if isinstance(node, dict):
        if isinstance(node.get('$ref'), str):
            yield node
        for member in node.values():
            yield from references(member)
    elif isinstance(node, list):
        for item in node:
            yield from references(item)


class OpenApi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = kinetoscope.Server().__enter__()
        cls.document = cls.server.get('/api/v1/openapi.json').json()
        cls.schema = Schema(cls.document)
        cls.traces = {}
        for case in ('cuda_training', 'cpu_only', 'mlu', 'decimal_times', 'no_profiler_step'):
            name, content = kinetoscope.fixture(case)
            cls.traces[case] = kinetoscope.uploaded(cls.server.put(case, name, content))[0]
        cls.table = kinetoscope.uploaded(cls.server.put('cuda_training', 'ncu.txt', KERNEL_TABLE))[0]
        cls.sides = [kinetoscope.uploaded(cls.server.put('sides', '%s_perf_data.csv' % side, perf_data(beta)))[0]['id']
                     for side, beta in (('base', 10), ('candidate', 20))]
        for rank in (0, 1):
            name, content = kinetoscope.fixture('nccl_two_workers', 'node0_%d.1700000000000.pt.trace.json.gz' % rank)
            kinetoscope.uploaded(cls.server.put('ranks', name, content))
        name, content = kinetoscope.fixture('rocm')
        cls.job = cls.server.put('job', name, content, headers={'Prefer': 'respond-async'}).json()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def described(self, path, method='get'):
        """The operation that describes a path, whether or not the description's paths carry the prefix."""
        base = next((urllib.parse.urlsplit(s['url']).path.rstrip('/') for s in self.document.get('servers', [])), '')
        for template, item in self.document['paths'].items():
            pattern = re.sub(r'\{[^}]*\}', '[^/]+', base + template if not template.startswith(base) or not base else template)
            if re.fullmatch(pattern, path):
                return item.get(method)
        return None

    def check(self, answer, path, method='get'):
        operation = self.described(path, method)
        self.assertIsNotNone(operation, '%s %s is not described' % (method, path))
        told = operation['responses'].get(str(answer.status)) or operation['responses'].get('default')
        self.assertIsNotNone(told, '%s %s: status %d is not described' % (method, path, answer.status))
        content = self.schema.resolve(told).get('content', {})
        self.assertIn(answer.type, content, '%s %s: the type is not described' % (method, path))
        if answer.type.endswith('json'):
            faults = list(self.schema.faults(content[answer.type]['schema'], answer.json()))
            self.assertEqual(faults[:5], [], '%s %s' % (method, path))

    def test_the_served_document_is_the_committed_one(self):
        self.assertEqual(self.document, json.loads((kinetoscope.ROOT / 'api/openapi.json').read_text()))
        self.assertRegex(self.document['openapi'], r'^3\.')

    def test_every_reference_leads_somewhere(self):
        for node in references(self.document):
            with self.subTest(ref=node['$ref']):
                self.schema.resolve(node)

    def test_every_refusal_is_a_problem(self):
        anywhere = {'408', '414', '429', '431'}  # what the server refuses, whatever is asked for
        for template, item in self.document['paths'].items():
            for method in set(item) & set(METHODS):
                responses = item[method]['responses']
                with self.subTest(operation='%s %s' % (method, template)):
                    self.assertLessEqual(anywhere, set(responses))
                    for status in filter(lambda status: status >= '400', responses):
                        content = self.schema.resolve(responses[status]).get('content', {})
                        self.assertEqual(list(content), ['application/problem+json'], status)
                        self.assertEqual(content['application/problem+json']['schema'], {'$ref': '#/components/schemas/Problem'}, status)

    def headers(self, operation, status):
        return set(self.schema.resolve(operation['responses'][status]).get('headers', {}))

    def test_headers_of_a_database_that_is_away(self):
        """Anything may be refused for a while; reads may be answered from memory, but for what no answer may be old for."""
        for template, item in self.document['paths'].items():
            for method in set(item) & set(METHODS):
                with self.subTest(operation='%s %s' % (method, template)):
                    for status in ('429', '503') if template != '/healthz' else ():
                        self.assertIn('Retry-After', self.headers(item[method], status))
                    if method == 'get' and re.match('/api/v1/(traces|runs|comparisons|history)', template):
                        self.assertLessEqual({'Age', 'Cache-Status'}, self.headers(item[method], '200'))
        self.assertNotIn('Age', self.headers(self.document['paths']['/api/v1/jobs/{id}']['get'], '200'))

    def test_every_operation_is_described_fully(self):
        names = set()
        for template, item in self.document['paths'].items():
            for method in set(item) & set(METHODS):
                operation = item[method]
                with self.subTest(operation='%s %s' % (method, template)):
                    self.assertTrue(operation.get('summary') or operation.get('description'))
                    self.assertTrue(operation['responses'])
                    told = [self.schema.resolve(p) for p in item.get('parameters', []) + operation.get('parameters', [])]
                    in_path = {p['name'] for p in told if p['in'] == 'path'}
                    self.assertEqual(in_path, set(re.findall(r'\{(\w+)\}', template)))
                    if 'operationId' in operation:
                        self.assertNotIn(operation['operationId'], names)
                        names.add(operation['operationId'])

    def test_answers_are_as_described(self):
        paths = ['/api/v1/runs', '/api/v1/runs/cuda_training', '/api/v1/openapi.json', '/api/v1/nodes', '/api/v1/jobs/%s' % self.job['id']]
        for trace in self.traces.values():
            base = '/api/v1/traces/%d' % trace['id']
            paths += [base] + [base + view for view in ('/overview', '/steps', '/operators', '/kernels', '/cycles')]
        table = '/api/v1/traces/%d/kernel-utilisation' % self.table['id']
        paths += [table, table + '/launches', table.replace('/kernel-utilisation', ''), '/api/v1/traces/%d/cycles' % self.sides[0],
                  '/api/v1/comparisons', '/api/v1/runs/ranks/distributed']
        whole = '/api/v1/traces/%d' % self.traces['cuda_training']['id']
        paths += [whole + view for view in ('/memory', '/memory/events', '/memory/curve', '/modules', '/tree', '/tree/0',
                                            '/timeline/tracks', '/timeline', '/events/0', '/events/40', '/window', '/trace.json.gz')]
        for path in paths:
            with self.subTest(path=path):
                answer = self.server.get(path)
                self.assertEqual(answer.status, 200)
                self.check(answer, path)

    def pair(self):
        return {'base': self.traces['cuda_training']['id'], 'candidate': self.traces['no_profiler_step']['id']}

    def test_the_plugins_views_are_as_described(self):
        one = {'run': 'cuda_training', 'worker': 'worker0'}
        other = dict(one, exp_run='no_profiler_step', exp_worker='trainer')
        ranks = {'run': 'ranks', 'worker': 'All', 'span': '1'}
        for route, query in [(route, one) for route in ('memory', 'memory_curve', 'memory_events', 'module', 'tree')] + [
                ('diff', other), ('diffnode', other)] + [('distributed/' + part, ranks) for part in ('gpuinfo', 'overlap', 'waittime', 'commops')]:
            with self.subTest(route=route):
                answer = self.server.plugin(route, **query)
                self.assertEqual(answer.status, 200, answer.body[:200])
                self.check(answer, kinetoscope.PLUGIN + route)

    def test_options_of_the_tables_are_as_described(self):
        base = '/api/v1/traces/%d' % self.traces['cuda_training']['id']
        for path, queries in ((base + '/operators', [{'group_by': g} for g in ('name', 'name_shape', 'name_stack', 'name_shape_stack')] +
                               [{'sort': 'calls', 'order': 'asc', 'limit': 3, 'offset': 1}, {'q': 'conv'}, {'format': 'csv'}]),
                              (base + '/kernels', [{'group_by': g} for g in ('name', 'launch')] + [{'q': 'gemm', 'limit': 2}, {'format': 'csv'}, {'sort': 'headroom_ns'},
                                                   {'group_by': 'launch', 'operator': 'aten::mm'}]),
                              ('/api/v1/traces/%d/kernel-utilisation' % self.table['id'],
                               [{'sort': 'tensor'}, {'q': 'gemm', 'limit': 1}, {'format': 'csv'}]),
                              ('/api/v1/traces/%d/kernel-utilisation/launches' % self.table['id'],
                               [{'name': 'elementwise_kernel'}, {'sort': 'duration_ns', 'limit': 1}, {'format': 'csv'}]),
                              ('/api/v1/traces/%d/cycles' % self.sides[0], [{'format': 'csv'}]),
                              (base + '/memory', [{'sort': 'name', 'limit': 2}, {'q': 'empty'}, {'device': 'GPU0', 'start_ns': 0}, {'format': 'csv'}]),
                              (base + '/memory/events', [{'sort': 'duration_ns', 'end_ns': 10 ** 9}, {'format': 'csv'}]),
                              (base + '/critical-path', [{'edges': 'all', 'limit': 3}, {'annotation': 'ProfilerStep', 'instance': '1', 'scale': 'aten%3A%3Amm:0.5'}, {'format': 'csv'}]),
                              (base + '/efficiency', [{'group_by': g} for g in ('operator', 'shape', 'module', 'step')] + [{'q': 'mm', 'sort': 'flops', 'limit': 2}, {'format': 'csv'}]),
                              (base + '/power', [{'group_by': g} for g in ('device', 'step', 'class')] + [{'q': 'x', 'sort': 'mean_w', 'limit': 2}, {'format': 'csv'}]),
                              (base + '/idle', [{'top': 3}, {'last_step': 'drop'}]),
                              (base + '/idle/gaps', [{'limit': 3}, {'start_ns': 0, 'end_ns': 10 ** 9, 'last_step': 'drop', 'next_event': 1}]),
                              (base + '/launches', [{'series': '0:7', 'limit': 2}, {'q': 'gemm', 'sort': 'launch_delay_ns'}, {'format': 'csv'}]),
                              (base + '/launches/steps', [{}, {'sort': 'launches', 'q': 'Step', 'limit': 1}, {'format': 'csv'}]),
                              (base + '/slices', [{'group_by': g} for g in ('name', 'track', 'category')] + [{'q': 'aten', 'sort': 'mean_ns', 'limit': 2}, {'format': 'csv'}]),
                              (base + '/memory/curve', [{'points': 4}]), (base + '/modules', [{'format': 'csv'}]),
                              (base + '/tree/0', [{'depth': 9, 'limit': 3}, {'node': 1, 'offset': 1}, {'q': 'conv'}]),
                              (base + '/timeline', [{'width_px': 3}, {'start_ns': 0, 'end_ns': 10 ** 6, 'tracks': '0,1'}]),
                              (base + '/search', [{'q': 'aten::mm'}, {'q': 'GPU', 'limit': 1, 'start_ns': 0, 'end_ns': 10 ** 9}]),
                              (base + '/window', [{'end_ns': 10 ** 6, 'limit': 0}, {'table': 'kernels', 'format': 'csv'}]),
                              (base + '/trace.json.gz', [{'start_ns': 0, 'end_ns': 1}]),
                              ('/api/v1/runs/ranks/distributed', [{}, {'span': 1}]),
                              ('/api/v1/diff', [dict(self.pair(), **more) for more in ({}, {'table': 'operators', 'sort': 'change'}, {'table': 'kernels'},
                                                                                       {'format': 'csv'}, {'table': 'kernels', 'format': 'csv'})]),
                              ('/api/v1/diff/summary', [self.pair()]),
                              ('/api/v1/diff/causes', [self.pair()]),
                              ('/api/v1/diff/tree', [self.pair(), dict(self.pair(), path='0-1')]),
                              (base + '/steps', [{'sort': 'duration_ns', 'order': 'desc'}, {'format': 'csv'}]),
                              ('/api/v1/traces', [{}, {'run': 'sides', 'sort': 'events'}, {'tag': 'none', 'device_type': 'GPU', 'q': 'w', 'limit': 1}]),
                              ('/api/v1/runs/sides/traces', [{}, {'sort': 'worker', 'order': 'asc'}]),
                              ('/api/v1/runs', [{'q': 'cuda', 'sort': 'name', 'order': 'asc', 'limit': 1}])):
            for query in queries:
                with self.subTest(path=path, query=query):
                    answer = self.server.get(path, **query)
                    self.assertEqual(answer.status, 200, answer.body[:200])
                    self.check(answer, path)

    def test_changes_are_as_described(self):
        path = '/api/v1/traces/%d' % self.traces['cpu_only']['id']
        answer = self.server.ask('PATCH', path, json.dumps({'tags': ['baseline'], 'note': 'a note'}), {'Content-Type': 'application/json'})
        self.assertEqual(answer.status, 200, answer.body[:200])
        self.assertEqual((answer.json()['tags'], answer.json()['note']), (['baseline'], 'a note'))
        self.check(answer, path, 'patch')
        path = '/api/v1/runs/cpu_only'
        answer = self.server.ask('PATCH', path, json.dumps({'tags': ['x', 'y'], 'note': 'run', 'pinned': False}), {'Content-Type': 'application/json'})
        self.assertEqual(answer.status, 200, answer.body[:200])
        self.check(answer, path, 'patch')
        name, content = kinetoscope.fixture('two_spans')
        answer = self.server.put('described', name, content)
        self.check(answer, kinetoscope.trace_path('described', name), 'put')
        answer = self.server.put('described', name, kinetoscope.fixture('rocm')[1])
        self.assertEqual(answer.status, 409)
        self.check(answer, kinetoscope.trace_path('described', name), 'put')

    def test_comparisons_are_as_described(self):
        base, candidate = self.sides
        answer = self.server.ask('POST', '/api/v1/comparisons', json.dumps({'base': base, 'candidate': [candidate]}),
                                 {'Content-Type': 'application/json'})
        self.assertEqual(answer.status, 201, answer.body[:200])
        self.check(answer, '/api/v1/comparisons', 'post')
        path = '/api/v1/comparisons/%d' % answer.json()['id']
        row = answer.json()['rows'][0]
        self.assertEqual(row['function'], 'attention')
        for query in ({}, {'q': 'att', 'sort': 'function', 'limit': 1}, {'device': 'GPU 0', 'metric': 'gpu_usage', 'significant': '1'},
                      {'format': 'csv'}, {'format': 'markdown'}):
            with self.subTest(query=query):
                told = self.server.get(path, **query)
                self.assertEqual(told.status, 200, told.body[:200])
                self.check(told, path)
        series = self.server.get(path + '/series', **{key: row[key] for key in ('function', 'metric', 'device')})
        self.assertEqual(series.status, 200, series.body[:200])
        self.check(series, path + '/series')
        self.assertEqual(self.server.ask('DELETE', path).status, 204)
        answer = self.server.get(path)
        self.assertEqual(answer.status, 404)
        self.check(answer, path)
        answer = self.server.ask('POST', '/api/v1/comparisons', '{"base": 1}', {'Content-Type': 'application/json'})
        self.assertEqual(answer.status, 400)
        self.check(answer, '/api/v1/comparisons', 'post')

    def test_problems_are_as_described(self):
        for path in ('/api/v1/traces/%d/kernel-utilisation' % self.traces['cpu_only']['id'], '/api/v1/comparisons/999999',
                     '/api/v1/traces/%d/modules' % self.traces['cpu_only']['id'], '/api/v1/runs/cpu_only/distributed',
                     '/api/v1/traces/%d/tree/99' % self.traces['cpu_only']['id'],
                     '/api/v1/traces/999999', '/api/v1/runs/none', '/api/v1/traces/999999/operators', '/api/v1/jobs/999999'):
            with self.subTest(path=path):
                answer = self.server.get(path)
                self.assertEqual(answer.status, 404)
                self.check(answer, path)


kinetoscope.main()
