#!/usr/bin/env python3
"""The Model Context Protocol and the skill, from outside: messages, tools and their bounds, rights; and a public client from npm, where the
browser checks' packages are at hand."""
import json
import os
import pathlib
import shutil
import subprocess
import unittest

import access
import history
import kinetoscope

ANSWER_MAX = 4096
TOOLS = ['list_runs', 'overview', 'operators', 'kernels', 'idle_causes', 'compare', 'window', 'history']


class Agents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = kinetoscope.Server().__enter__()
        name, content = kinetoscope.fixture('cuda_training')
        cls.trace = kinetoscope.uploaded(cls.server.put('trained <b>|', name, content))[0]['id']
        cls.other = kinetoscope.uploaded(cls.server.put('long', 'w.pt.trace.json.gz', history.trace(1000, tuple('kernel_%d_%s' % (n, 'x' * 3000) for n in range(60)))))[0]['id']

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def post(self, message, headers=None):
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.server.ask('POST', '/mcp', body, dict({'Content-Type': 'application/json', 'Accept': 'application/json, text/event-stream'}, **(headers or {})))

    def ask(self, method, params=None, **headers):
        answer = self.post(dict({'jsonrpc': '2.0', 'id': 7, 'method': method}, **({'params': params} if params is not None else {})), headers)
        self.assertEqual(answer.status, 200, answer.body)
        found = answer.json()
        self.assertEqual((found['jsonrpc'], found['id']), ('2.0', 7))
        return found

    def tell(self, tool, **arguments):
        result = self.ask('tools/call', {'name': tool, 'arguments': arguments})['result']
        text = result['content'][0]['text']
        self.assertLessEqual(len(text.encode()), ANSWER_MAX)
        return result['isError'], text

    def test_it_introduces_itself(self):
        for version, answered in (('2025-06-18', '2025-06-18'), ('2025-03-26', '2025-03-26'), ('1999-01-01', '2025-06-18')):
            result = self.ask('initialize', {'protocolVersion': version, 'capabilities': {}, 'clientInfo': {'name': 't', 'version': '1'}})['result']
            self.assertEqual((result['protocolVersion'], result['capabilities'], result['serverInfo']['name']), (answered, {'tools': {}}, 'kinetoscope'))
        self.assertEqual(self.ask('ping')['result'], {})
        self.assertEqual(self.post({'jsonrpc': '2.0', 'method': 'notifications/initialized'}).status, 202)
        tools = self.ask('tools/list')['result']['tools']
        self.assertEqual([tool['name'] for tool in tools], TOOLS)
        for tool in tools:
            self.assertEqual(tool['inputSchema']['type'], 'object')
            self.assertTrue(tool['annotations']['readOnlyHint'])

    def test_what_is_no_message_is_refused(self):
        self.assertEqual(self.post(b'{').status, 400)
        for body in ([], 1, {}, {'jsonrpc': '1.0', 'id': 1, 'method': 'ping'}, {'jsonrpc': '2.0', 'id': {}, 'method': 'ping'}):
            self.assertEqual(self.post(body).status, 400, body)
        self.assertEqual(self.post(b'[' * 100 + b']' * 100).status, 400)
        self.assertEqual(self.post({'jsonrpc': '2.0', 'id': 1, 'method': 'ping'}, {'MCP-Protocol-Version': '1999-01-01'}).status, 400)
        self.assertEqual(self.server.get('/mcp').status, 405)
        self.assertEqual(self.ask('resources/list')['error']['code'], -32601)
        self.assertEqual(self.ask('tools/call', {'name': 'nothing'})['error']['code'], -32602)

    def test_tools_tell_the_figures_of_the_api(self):
        failed, runs = self.tell('list_runs')
        self.assertFalse(failed, runs)
        self.assertIn('2 runs in all', runs)
        self.assertNotIn('<b>', runs)
        for tool, view in (('overview', 'overview'), ('operators', 'operators'), ('kernels', 'kernels'), ('idle_causes', 'idle')):
            failed, text = self.tell(tool, trace=self.trace)
            self.assertFalse(failed, text)
            self.assertTrue(text.endswith('/#/traces/%d/%s\n' % (self.trace, view)), text)
        rows = self.server.get('/api/v1/traces/%d/operators' % self.trace, limit=3).json()
        failed, text = self.tell('operators', trace=self.trace, limit=3)
        self.assertIn('%d operators in all' % rows['total'], text)
        for row in rows['rows']:
            self.assertIn('| %s | %d |' % (row['name'], row['calls']), text)
        failed, text = self.tell('compare', base=self.trace, candidate=self.other)
        self.assertFalse(failed, text)
        failed, text = self.tell('window', trace=self.trace, start_ns=0, end_ns=10 ** 9)
        self.assertIn('events: ', text)
        failed, text = self.tell('history', metric='step_time')
        self.assertIn('2 points; larger is worse', text)
        failed, text = self.tell('history', tag='branch=main', run='/a&b/')
        self.assertTrue(text.endswith('/#/history?tag=branch%3Dmain&run=%2Fa%26b%2F\n'), text)

    def test_long_names_stay_within_the_bound(self):
        failed, text = self.tell('kernels', trace=self.other, limit=50)
        self.assertFalse(failed, text)
        self.assertRegex(text, r'\d+ of 50 rows fit here')
        self.assertTrue(text.endswith('/#/traces/%d/kernels\n' % self.other))

    def test_wrong_arguments_are_named(self):
        for arguments, word in (({}, 'trace'), ({'trace': 'x'}, 'integer'), ({'trace': 1, 'other': 1}, 'other'), ({'trace': 10 ** 9}, 'not found'), ({'trace': self.trace, 'q': 1}, 'string')):
            failed, text = self.tell('operators', **arguments)
            self.assertTrue(failed, arguments)
            self.assertIn(word, text)
        self.assertTrue(self.ask('tools/call', {'name': 'overview', 'arguments': []})['result']['isError'])

    def test_the_skill(self):
        answer = self.server.get('/skill.md')
        text = answer.body.decode()
        self.assertEqual((answer.status, answer.type), (200, 'text/markdown'))
        self.assertTrue(text.startswith('---\nname: kinetoscope\n'))
        self.assertIn(self.server.url + '/mcp', text)

    def test_a_public_client(self):
        modules = pathlib.Path(os.environ.get('KINETOSCOPE_NODE_MODULES', 'none'))
        if not (modules / '@modelcontextprotocol' / 'sdk').is_dir() or not shutil.which('node'):
            self.skipTest('the packages of the browser checks are not at hand (KINETOSCOPE_NODE_MODULES)')
        script = kinetoscope.ROOT / 'tests' / 'e2e' / 'mcp_client.mjs'
        done = subprocess.run(['node', script, self.server.url + '/mcp', str(self.trace)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                              check=False, env=dict(os.environ))
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        said = json.loads(done.stdout)
        self.assertEqual((said['name'], said['tools']), ('kinetoscope', TOOLS))
        self.assertIn('/#/traces/%d/overview' % self.trace, said['overview'])


class Rights(unittest.TestCase):
    def test_an_agent_sees_what_its_token_sees(self):
        with kinetoscope.Server() as server:
            for run in ('red', 'blue'):
                server.put(run, 'w.pt.trace.json.gz', history.trace(1000), '?project=' + run)
            ids = {row['name']: row['figures']['trace_id'] for row in server.get('/api/v1/runs').json()['runs']}
            reader = access.known_bearer(server, 'reader', 'viewer', 'red')

            def tell(tool, **arguments):
                body = json.dumps({'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call', 'params': {'name': tool, 'arguments': arguments}}).encode()
                return server.ask('POST', '/mcp', body, dict(reader, **{'Content-Type': 'application/json'})).json()['result']
            self.assertIn('1 runs in all', tell('list_runs')['content'][0]['text'])
            self.assertFalse(tell('overview', trace=ids['red'])['isError'])
            self.assertTrue(tell('overview', trace=ids['blue'])['isError'])
            self.assertTrue(tell('compare', base=ids['red'], candidate=ids['blue'])['isError'])
            self.assertEqual(server.ask('POST', '/mcp', b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}', {'Content-Type': 'application/json'}).status, 401)
            for path in ('webhooks', 'nodes'):
                self.assertEqual(server.ask('GET', '/api/v1/' + path, None, reader).status, 403, path)


if __name__ == '__main__':
    kinetoscope.main()
