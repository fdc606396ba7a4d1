#!/usr/bin/env python3
"""The description is true: what /api/v1/openapi.json says of each answer is held against the answer."""
import json
import re
import unittest
import urllib.parse

import kinetoscope

TYPES = {'object': dict, 'array': list, 'string': str, 'boolean': bool, 'null': type(None)}
METHODS = ['get', 'put', 'post', 'patch', 'delete']


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
        paths = ['/api/v1/runs', '/api/v1/runs/cuda_training', '/api/v1/openapi.json', '/api/v1/jobs/%s' % self.job['id']]
        for trace in self.traces.values():
            base = '/api/v1/traces/%d' % trace['id']
            paths += [base] + [base + view for view in ('/overview', '/steps', '/operators', '/kernels')]
        for path in paths:
            with self.subTest(path=path):
                answer = self.server.get(path)
                self.assertEqual(answer.status, 200)
                self.check(answer, path)

    def test_options_of_the_tables_are_as_described(self):
        base = '/api/v1/traces/%d' % self.traces['cuda_training']['id']
        for path, queries in ((base + '/operators', [{'group_by': g} for g in ('name', 'name_shape', 'name_stack', 'name_shape_stack')] +
                               [{'sort': 'calls', 'order': 'asc', 'limit': 3, 'offset': 1}, {'q': 'conv'}, {'format': 'csv'}]),
                              (base + '/kernels', [{'group_by': g} for g in ('name', 'launch')] + [{'q': 'gemm', 'limit': 2}, {'format': 'csv'}]),
                              (base + '/steps', [{'sort': 'duration_ns', 'order': 'desc'}, {'format': 'csv'}]),
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
        answer = self.server.ask('PATCH', path, json.dumps({'tags': ['x', 'y'], 'note': 'run'}), {'Content-Type': 'application/json'})
        self.assertEqual(answer.status, 200, answer.body[:200])
        self.check(answer, path, 'patch')
        name, content = kinetoscope.fixture('two_spans')
        answer = self.server.put('described', name, content)
        self.check(answer, kinetoscope.trace_path('described', name), 'put')
        answer = self.server.put('described', name, kinetoscope.fixture('rocm')[1])
        self.assertEqual(answer.status, 409)
        self.check(answer, kinetoscope.trace_path('described', name), 'put')

    def test_problems_are_as_described(self):
        for path in ('/api/v1/traces/999999', '/api/v1/runs/none', '/api/v1/traces/999999/operators', '/api/v1/jobs/999999'):
            with self.subTest(path=path):
                answer = self.server.get(path)
                self.assertEqual(answer.status, 404)
                self.check(answer, path)


kinetoscope.main()
