#!/usr/bin/env python3
"""SQL over the tables of a trace: what it answers is what the tables answer, the file holds the same, and nothing else can be reached or changed."""
import json
import sqlite3
import tempfile
import unittest
import urllib.parse

import kinetoscope

RUN = 'r'
WITH_OPERATORS = 'w.1700000000000.pt.trace.json'
REFUSED = {
    'INSERT INTO kernels DEFAULT VALUES': 'One SELECT',
    'DROP TABLE kernels': 'One SELECT',
    "ATTACH '/tmp/x' AS y": 'One SELECT',
    'PRAGMA journal_mode': 'One SELECT',
    'WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t': 'recursion',
    'SELECT 1; SELECT 2': 'one SELECT',
    ';': 'one SELECT',
    'SELECT * FROM token': 'no such table: token',
    'SELECT * FROM run': 'no such table: run',
    "SELECT load_extension('x')": 'not authorized',
    'SELECT colour FROM kernels': 'no such column: colour',
    'SELEC': 'syntax error',
    'SELECT zeroblob(2000000)': 'too big',
    'SELECT ' + '(' * 200 + '1' + ')' * 200: 'SQL',
}


def trace():
    events = []
    for i in range(50):
        events += [{'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::op%d' % (i % 7), 'pid': 1, 'tid': 1, 'ts': 1000 + 100 * i, 'dur': 60, 'args': {'External id': i + 1}},
                   {'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'pid': 1, 'tid': 1, 'ts': 1010 + 100 * i, 'dur': 5,
                    'args': {'External id': i + 1, 'correlation': i + 1}},
                   {'ph': 'X', 'cat': 'kernel', 'name': "it's a \"kernel\" %d" % (i % 3), 'pid': 0, 'tid': 7, 'ts': 1020 + 100 * i, 'dur': 30 + i,
                    'args': {'External id': i + 1, 'correlation': i + 1, 'device': 0, 'stream': 7, 'grid': [1, 2, 3], 'block': [32, 1, 1]}}]
    return json.dumps({'schemaVersion': 1, 'traceEvents': events}).encode()


class Sql(unittest.TestCase):
    def setUp(self):
        self.server = self.enterContext(kinetoscope.Server())
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.id = kinetoscope.uploaded(self.server.put(RUN, WITH_OPERATORS, trace()))[0]['id']

    def ask(self, statement, more=''):
        return self.server.ask('GET', '/api/v1/traces/%d/sql?q=%s%s' % (self.id, urllib.parse.quote(statement), more))

    def test_rows_are_those_of_the_tables(self):
        table = json.loads(self.server.get('/api/v1/traces/%d/kernels?sort=total_ns' % self.id).body)['rows']
        answer = self.ask('SELECT name, calls, total_ns, max_ns FROM kernels ORDER BY total_ns DESC')
        self.assertEqual(answer.status, 200, answer.body)
        found = json.loads(answer.body)
        self.assertEqual(found['columns'], ['name', 'calls', 'total_ns', 'max_ns'])
        self.assertEqual(found['rows'], [[row[name] for name in found['columns']] for row in table])
        self.assertEqual(len(table), 3)
        joined = json.loads(self.ask('SELECT o.name, sum(l.calls) FROM operators AS o JOIN kernels_by_launch AS l ON l.operator = o.name'
                                     ' GROUP BY o.name ORDER BY 1').body)['rows']
        self.assertEqual(joined, [['aten::op%d' % i, 8 if i == 0 else 7] for i in range(7)])
        csv = self.ask('SELECT name, calls FROM kernels ORDER BY name', '&format=csv').body.decode()
        self.assertEqual(csv.split('\r\n')[1], '"it\'s a ""kernel"" 0",17')

    def test_a_limit_says_that_there_is_more(self):
        found = json.loads(self.ask('SELECT name FROM operators', '&limit=2').body)
        self.assertEqual((len(found['rows']), found['truncated']), (2, True))
        found = json.loads(self.ask('SELECT name FROM operators', '&limit=7').body)
        self.assertEqual((len(found['rows']), found['truncated']), (7, False))

    def test_the_file_holds_the_same(self):
        tables = json.loads(self.server.get('/api/v1/traces/%d/sql' % self.id).body)['tables']
        answer = self.server.get('/api/v1/traces/%d/results.db' % self.id)
        self.assertEqual(answer.status, 200)
        path = self.folder + '/results.db'
        with open(path, 'wb') as file:
            file.write(answer.body)
        database = sqlite3.connect(path)
        self.addCleanup(database.close)
        self.assertEqual(database.execute('PRAGMA integrity_check').fetchall(), [('ok',)])
        for table in tables:
            rows = [list(row) for row in database.execute('SELECT * FROM ' + table['name'])]
            self.assertEqual(json.loads(self.ask('SELECT * FROM ' + table['name']).body)['rows'], rows, table['name'])
        self.assertGreater(database.execute('SELECT count(*) FROM kernels_by_launch').fetchone()[0], 0)

    def test_nothing_else_is_reached_or_changed(self):
        before = self.ask('SELECT * FROM kernels').body
        for statement, words in REFUSED.items():
            answer = self.ask(statement)
            self.assertEqual(answer.status, 400, statement)
            self.assertIn(words, json.loads(answer.body)['detail'], statement)
        self.assertEqual(self.ask('SELECT * FROM kernels').body, before)
        self.assertEqual(self.server.get('/api/v1/traces/999/sql?q=SELECT%201').status, 404)
        self.assertEqual(self.server.get('/api/v1/traces/999/results.db').status, 404)

    def test_a_long_statement_ends(self):
        names = ', '.join('operators_by_shape AS t%d' % i for i in range(12))
        answer = self.ask('SELECT count(*) FROM ' + names)
        self.assertEqual(answer.status, 400)
        self.assertIn('longer than 3 s', json.loads(answer.body)['detail'])


if __name__ == '__main__':
    kinetoscope.main()
