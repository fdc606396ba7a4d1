#!/usr/bin/env python3
"""What the removed plugin's own end-to-end test asked: one worker with two spans under two run names; runs, workers,
spans, views, then five routes with view=."""
import gzip
import json
import unittest

import golden
import kinetoscope

CASE = 'data/cases/tb_resnet50_num_workers_0'
RUNS = ['resnet50_num_workers_0', 'resnet50_num_workers_4']
ROUTES = [('overview', 'Overview', None), ('operation', 'Operator', 'Operation'), ('operation/table', 'Operator', 'Operation'),
          ('kernel', 'Kernel', 'Kernel'), ('kernel/table', 'Kernel', 'Kernel')]


class Protocol(unittest.TestCase):
    def test_as_the_plugins_own_test(self):
        folder = kinetoscope.REFERENCE / CASE
        files = json.loads((folder / 'case.json').read_text())['files']
        wanted = json.loads(gzip.decompress((folder / 'golden.json.gz').read_bytes()))
        with kinetoscope.Server() as server:
            for run in RUNS:
                for name in files:
                    kinetoscope.uploaded(server.put(run, name, (folder / name).read_bytes()))
            self.assertEqual(server.plugin('runs').json(), {'runs': RUNS, 'loading': False})
            for run in RUNS:
                self.assertEqual(server.plugin('views', run=run).json(), next(w['answer'] for w in wanted if w['route'] == 'views'))
                for _, view, _ in ROUTES:
                    self.assertEqual(server.plugin('workers', run=run, view=view).json(), ['worker0'])
                self.assertEqual(server.plugin('spans', run=run, worker='worker0').json(), ['1', '2'])
                for span in (1, 2):
                    for route in ROUTES:
                        self.check_route(server, wanted, run, span, *route)

    def check_route(self, server, wanted, run, span, route, view, group_by):
        want = next(w['answer'] for w in wanted if w['route'] == route and w['span'] == span and w['params'].get('group_by') == group_by)
        answer = server.plugin(route, run=run, worker='worker0', span=span, view=view, group_by=group_by)
        with self.subTest(run=run, span=span, route=route):
            self.assertEqual(answer.status, 200)
            comparison = golden.Comparison('exact')
            comparison.value('', want, answer.json())
            self.assertEqual(comparison.found, [])


kinetoscope.need_reference(CASE)
kinetoscope.main()
