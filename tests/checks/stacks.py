#!/usr/bin/env python3
"""Stacks and the flame graph from outside: a trace written here, so that what must come out is known, then sums on the fixtures.

In each step `forward` of model/net.py, called by `main` through a frame of torch, launches gemm for 60 us; `loss` launches add for 20 us.
"""
import json
import unittest

import kinetoscope

STEPS = 3
STACK = ['model/net.py(4): forward', 'torch/nn/functional.py(7): linear', 'train.py(9): main']
FIXTURES = ('cuda_training', 'rocm', 'two_spans', 'cpu_only', 'mlu')


def trace(gemm_us=60):
    events = []

    def event(category, name, start, duration, tid=1, **args):
        events.append({'ph': 'X', 'cat': category, 'name': name, 'pid': 1, 'tid': tid, 'ts': start, 'dur': duration, 'args': args})
    for n in range(STEPS):
        at = 1000 * (n + 1)
        launch = 2 * n + 1
        event('user_annotation', 'ProfilerStep#%d' % n, at, 900)
        event('python_function', STACK[2], at + 1, 890)
        event('python_function', STACK[1], at + 5, 400)
        event('python_function', STACK[0], at + 10, 300)
        event('cpu_op', 'aten::linear', at + 20, 220, **{'External id': launch})
        event('cuda_runtime', 'cudaLaunchKernel', at + 100, 10, correlation=launch, **{'External id': launch})
        event('kernel', 'gemm', at + 150, gemm_us, 7, correlation=launch, device=0, stream=7, **{'External id': launch})
        event('python_function', 'train.py(20): loss', at + 500, 100)
        event('cpu_op', 'aten::add', at + 510, 50, **{'External id': launch + 1})
        event('cuda_runtime', 'cudaLaunchKernel', at + 520, 10, correlation=launch + 1, **{'External id': launch + 1})
        event('kernel', 'add', at + 600, 20, 7, correlation=launch + 1, device=0, stream=7, **{'External id': launch + 1})
    return json.dumps({'traceEvents': events, 'deviceProperties': [{'id': 0, 'name': 'GPU'}]}).encode()


class Stacks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = kinetoscope.Server().__enter__()
        cls.ids = {name: kinetoscope.uploaded(cls.server.put(name, 'w.pt.trace.json', trace(us)))[0]['id'] for name, us in (('base', 60), ('slow', 90))}
        for case in FIXTURES:
            name, content = kinetoscope.fixture(case)
            cls.ids[case] = kinetoscope.uploaded(cls.server.put(case, name, content))[0]['id']

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def get(self, case, route, **query):
        answer = self.server.get('/api/v1/traces/%d/%s' % (self.ids[case], route), **query)
        self.assertEqual(answer.status, 200, answer.body)
        return answer

    def nodes(self, case='base', **query):
        return self.get(case, 'flame-graph', **query).json()['nodes']

    def add_up(self, nodes):
        """A node has its own time and that of its children, on both sides where there are two."""
        for figure in ('total_ns', 'against_total_ns'):
            if figure not in nodes[0]:
                continue
            below = [0] * len(nodes)
            for node in nodes[1:]:
                self.assertLess(node['parent'], len(nodes))
                below[node['parent']] += node[figure]
            for node, sum_ns in zip(nodes, below):
                self.assertEqual(node[figure], sum_ns + node[figure.replace('total', 'self')], node)

    def path_of(self, nodes, name):
        node = next(node for node in nodes if node['name'] == name)
        path = []
        while node['parent'] is not None:
            path.append(node['name'])
            node = nodes[node['parent']]
        return path

    def test_paths_and_times(self):
        nodes = self.nodes(weight='device')
        self.assertEqual(nodes[0]['total_ns'], STEPS * 80000)
        self.assertEqual(self.path_of(nodes, 'gemm'), ['gemm', 'aten::linear', *STACK])
        self.assertEqual(self.path_of(nodes, 'add'), ['add', 'aten::add', 'train.py(20): loss', STACK[2]])
        self.assertEqual(next(node for node in nodes if node['name'] == 'gemm')['total_ns'], STEPS * 60000)
        folded = self.nodes(weight='device', libraries='folded')
        self.assertEqual(self.path_of(folded, 'gemm'), ['gemm', 'aten::linear', STACK[0], STACK[2]])
        self.assertEqual(folded[0]['total_ns'], nodes[0]['total_ns'])
        self.assertEqual(self.path_of(self.nodes(weight='device', by='operator'), 'gemm'), ['gemm', 'aten::linear'])
        self.assertEqual(self.nodes(weight='device', step=2)[0]['total_ns'], 80000)

    def test_below_a_node(self):
        nodes = self.nodes(weight='device')
        forward = next(node for node in nodes if node['name'] == STACK[0])
        below = self.nodes(weight='device', under=forward['id'])
        self.assertEqual(below[0]['total_ns'], STEPS * 60000)
        self.assertEqual({node['name'] for node in below[1:]}, {'aten::linear', 'gemm'})
        self.assertEqual(self.server.get('/api/v1/traces/%d/flame-graph' % self.ids['base'], under='nonsense').status, 400)

    def test_against_another_trace(self):
        nodes = self.nodes('slow', weight='device', against=self.ids['base'])
        gemm = next(node for node in nodes if node['name'] == 'gemm')
        self.assertEqual((gemm['total_ns'], gemm['against_total_ns']), (STEPS * 90000, STEPS * 60000))
        self.add_up(nodes)
        self.assertEqual(self.server.get('/api/v1/traces/%d/flame-graph' % self.ids['base'], against=999).status, 404)

    def test_kernels_have_their_stacks(self):
        rows = self.get('base', 'kernels/stacks', name='gemm').json()['rows']
        self.assertEqual([(row['name'], row['operator'], row['calls'], row['total_ns']) for row in rows], [('gemm', 'aten::linear', STEPS, STEPS * 60000)])
        self.assertEqual(rows[0]['call_stack'].split(';'), STACK)
        self.assertEqual(self.get('base', 'kernels/stacks', name='none').json()['rows'], [])
        lines = self.get('base', 'kernels/stacks', format='csv').body.decode().splitlines()
        self.assertEqual(len(lines), 3)
        grouped = self.get('base', 'operators', group_by='name_stack').json()['rows']
        self.assertEqual({row['name']: row['call_stack'] for row in grouped}['aten::linear'].split(';'), STACK)

    def test_sums(self):
        for case in ('base', *FIXTURES):
            for weight in ('host', 'device'):
                for by in ('python', 'module', 'operator'):
                    with self.subTest(case=case, weight=weight, by=by):
                        nodes = self.nodes(case, weight=weight, by=by)
                        self.add_up(nodes)
                        self.assertEqual(nodes[0]['total_ns'], self.nodes(case, weight=weight, by=by, limit=3)[0]['total_ns'])
                        folded = self.get(case, 'flame-graph', weight=weight, by=by, format='folded').body.decode().splitlines()
                        # What no frame holds is on no line.
                        self.assertEqual(sum(int(line.rsplit(' ', 1)[1]) for line in folded), nodes[0]['total_ns'] - nodes[0]['self_ns'])
            with self.subTest(case=case):
                device_ns = self.get(case, 'device-time').json()['device_ns']
                self.assertEqual(self.nodes(case, weight='device')[0]['total_ns'], device_ns)
                rows = self.get(case, 'kernels/stacks', limit=0).json()['rows']
                self.assertEqual(sum(row['total_ns'] for row in rows), device_ns)


if __name__ == '__main__':
    kinetoscope.main()
