#!/usr/bin/env python3
"""Two traces side by side from outside: traces written here, so that what must come out is known.

A step takes 100 us of host, 40 us of them in aten::mm, whose kernel runs 30 us. `slow` traces take twice the kernel's time.
"""
import json
import pathlib
import subprocess
import tempfile
import unittest

import kinetoscope

DEVICE = {'id': 0, 'name': 'A100', 'totalGlobalMem': 42505273344, 'computeMajor': 8, 'computeMinor': 0}


def trace(steps, device=0, kernel_us=30, **members):
    """A trace of so many steps, 150 us apart."""
    events = []
    for n in range(steps):
        at = 1000 + 150 * n

        def event(category, name, start, duration, pid, tid, **args):
            events.append({'ph': 'X', 'cat': category, 'name': name, 'ts': at + start, 'dur': duration, 'pid': pid, 'tid': tid, 'args': args})
        event('user_annotation', 'ProfilerStep#%d' % n, 0, 100 + n % 2, 7, 7)
        event('cpu_op', 'aten::mm', 10, 40, 7, 7, **{'External id': n + 1})
        event('cuda_runtime', 'cudaLaunchKernel', 20, 5, 7, 7, correlation=n + 1, **{'External id': n + 1})
        event('kernel', 'gemm', 30, kernel_us, device, 7, device=device, stream=7, correlation=n + 1, **{'External id': n + 1})
    return json.dumps({'traceEvents': events, 'deviceProperties': [dict(DEVICE, id=device)], **members}).encode()


class Diff(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = kinetoscope.Server().__enter__()
        cls.ids = {}
        job = {'backend': 'nccl', 'rank': 0}
        cls.bodies = {'three': trace(3), 'six': trace(6), 'slow': trace(6, kernel_us=60), 'other': trace(3, device=3),
                      'eight': trace(3, distributedInfo=dict(job, world_size=8), with_stack=1, cuda_driver_version=12040),
                      'two': trace(3, distributedInfo=dict(job, world_size=2), cuda_driver_version=12090),
                      'none': trace(1).replace(b'ProfilerStep#0', b'forward')}
        for name, body in cls.bodies.items():
            cls.ids[name] = kinetoscope.uploaded(cls.server.put(name, 'worker0.pt.trace.json', body))[0]['id']

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def diff(self, base, candidate, route='diff', **query):
        answer = self.server.get('/api/v1/' + route, base=self.ids[base], candidate=self.ids[candidate], **query)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()

    def causes(self, *sides):
        answer = self.diff(*sides, route='diff/causes')
        return answer, {(row['part'], row['figure']): (row['base'], row['candidate'], row['delta']) for row in answer['rows']}

    def test_idle_causes_by_hand(self):
        # Between kernels 120 us (slow: 90), five times in six steps; the next launch is 110 us (slow: 80) away.
        answer, rows = self.causes('six', 'slow')
        self.assertEqual(answer['per'], 'step')
        self.assertEqual(rows['idle', 'idle'], (100000, 75000, -25000))
        self.assertEqual(rows['cause', 'host_wait'], (100000, 75000, -25000))
        self.assertEqual(rows['cause', 'other'], (0, 0, 0))
        for kind, base, candidate in (('nothing', 100, 70), ('operator', 15, 15), ('runtime', 5, 5)):
            for place, us in enumerate((base, candidate)):
                self.assertAlmostEqual(rows['host', kind][place], us * 5000 / 6)
        self.assertEqual([(entry['part'], entry['side']) for entry in answer['missing']], [('efficiency', 'base'), ('efficiency', 'candidate')])
        self.assertIn('record_shapes', answer['missing'][0]['reason'])
        # Without steps on a side times are of the whole trace: 'none' has one kernel, no gap.
        answer, rows = self.causes('three', 'none')
        self.assertEqual((answer['per'], rows['idle', 'idle']), ('total', (240000, 0, -240000)))

    def test_efficiency_of_both(self):
        shapes = {'Input Dims': [[1024, 1024], [1024, 1024]], 'Input type': ['c10::Half', 'c10::Half']}
        ids, files = {}, {}
        with tempfile.TemporaryDirectory() as folder:
            for name, kernel_us in (('eff', 30), ('eff-slow', 60)):
                body = json.loads(trace(6, kernel_us=kernel_us))
                for event in body['traceEvents']:
                    if event['cat'] == 'cpu_op':
                        event['args'].update(shapes)
                files[name] = pathlib.Path(folder) / (name + '.pt.trace.json')
                files[name].write_text(json.dumps(body))
                ids[name] = kinetoscope.uploaded(self.server.put(name, files[name].name, files[name].read_bytes()))[0]['id']
            answer = self.server.get('/api/v1/diff/causes', base=ids['eff'], candidate=ids['eff-slow']).json()
            rows = {(row['part'], row['figure']): (row['base'], row['candidate']) for row in answer['rows']}
            self.assertEqual(answer['missing'], [])
            self.assertEqual(rows['efficiency', 'modelled'], (1, 1))
            # 6 x 2 x 1024^3 in 312 TFLOP/s, of 780 us from the first kernel to the last (slow: 810).
            for place, us in enumerate((780, 810)):
                self.assertAlmostEqual(rows['efficiency', 'mfu'][place], 6 * 2 * 1024 ** 3 / 312e12 / us * 1e6)
            self.assertEqual(rows['bound', 'compute'], (30000, 60000))
            self.assertAlmostEqual(rows['efficiency', 'headroom'][1] - rows['efficiency', 'headroom'][0], 30000)
            said = {}
            for notation in ('text', 'markdown', 'json'):
                done = subprocess.run([kinetoscope.PROGRAM, 'compare', str(files['eff']), str(files['eff-slow']), '--format', notation], capture_output=True, text=True, check=True, timeout=60)
                said[notation] = done.stdout
            self.assertEqual(json.loads(said['json'])['change']['causes'], {'rows': answer['rows'], 'missing': []})
            for notation in ('text', 'markdown'):
                self.assertIn('Idle time and efficiency, a step', said[notation])
                self.assertIn('host\\_wait' if notation == 'markdown' else 'host_wait', said[notation])

    def row(self, *sides, name='aten::mm', table='operators', **query):
        return next(row for row in self.diff(*sides, table=table, **query)['rows'] if row['name'] == name)

    def test_the_same_program_with_more_steps_is_the_same(self):
        row = self.row('three', 'six')
        self.assertEqual(row['change'], 0)
        self.assertEqual((row['base_calls'], row['candidate_calls']), (1, 1))
        self.assertEqual((row['base_host_ns'], row['candidate_host_ns']), (40000, 40000))
        self.assertEqual((row['base_device_ns'], row['candidate_device_ns']), (30000, 30000))
        total = self.row('three', 'six', per='total')
        self.assertEqual((total['base_host_ns'], total['candidate_host_ns'], total['change']), (120000, 240000, 1))
        self.assertEqual((total['base_calls'], total['candidate_calls']), (3, 6))

    def test_the_list_of_runs_has_their_figures(self):
        runs = {run['name']: run for run in self.server.get('/api/v1/runs').json()['runs']}
        figures = runs['three']['figures']
        self.assertEqual(figures['trace_id'], self.ids['three'])
        self.assertEqual((figures['device'], figures['steps'], figures['step_times_ns']), ('A100', 3, [100000, 101000, 100000]))
        self.assertAlmostEqual(figures['step_ns'], 301000 / 3)
        self.assertGreater(figures['utilisation'], 0)
        self.assertEqual(self.server.get('/api/v1/runs/six').json()['figures']['steps'], 6)

    def test_runs_by_tag(self):
        for name, tags in (('three', ['nightly', 'main']), ('six', ['main']), ('slow', ['night', 'a"b\\c', 'Größe'])):
            answer = self.server.ask('PATCH', '/api/v1/runs/' + name, json.dumps({'tags': tags}).encode(), {'Content-Type': 'application/json'})
            self.assertEqual(answer.status, 200, answer.body)

        def listed(**query):
            found = self.server.get('/api/v1/runs', **query).json()
            self.assertEqual(found['total'], len(found['runs']))
            return {run['name'] for run in found['runs']}
        self.assertEqual(listed(tag='main'), {'three', 'six'})
        self.assertEqual(listed(tag='main', q='thr'), {'three'})
        self.assertEqual(listed(tag='nightly'), {'three'})
        self.assertEqual(listed(tag='nobody'), set())
        # What is searched for stands in the name or in a tag.
        self.assertEqual(listed(q='NIGHT'), {'three', 'slow'})
        self.assertEqual(listed(q='/^main$|^slow$/'), {'three', 'six', 'slow'})
        self.assertEqual(listed(q='night,'), set())
        for tag in ('A"B', 'b\\c', 'Größe'):
            self.assertEqual(listed(q=tag), {'slow'}, tag)
        self.assertEqual(listed(q='", "'), set())
        self.assertEqual(listed(project='nobody'), set())

    def test_per_call(self):
        row = self.row('three', 'slow', per='call', table='kernels', name='gemm')
        self.assertEqual((row['base_total_ns'], row['candidate_total_ns'], row['change']), (30000, 60000, 1))
        self.assertEqual((row['base_calls'], row['candidate_calls']), (3, 6))

    def test_the_waterfall_adds_up_to_the_step(self):
        answer = self.diff('six', 'slow', route='diff/summary')
        self.assertEqual(answer['per'], 'step')
        for side in ('base', 'candidate'):
            self.assertAlmostEqual(sum(row[side + '_ns'] for row in answer['waterfall']), answer['step'][side + '_ns'], places=3)
        kernel = next(row for row in answer['waterfall'] if row['category'] == 'kernel')
        self.assertEqual(kernel['delta_ns'], 30000)
        self.assertIn('within it Kernel (+30.0 µs)', answer['sentence'])
        self.assertIn('the kernel, gemm (+30.0 µs)', answer['sentence'])
        self.assertEqual(answer['step']['base_steps'], 6)
        self.assertEqual(answer['step']['p'], 1)

    def test_what_they_were_recorded_on_comes_first(self):
        answer = self.diff('eight', 'two', route='diff/summary')
        self.assertIs(answer['comparable'], False)
        self.assertTrue(answer['sentence'].startswith('The two are not comparable as they stand: world size (8 against 2).'), answer['sentence'])
        facts = {fact['name']: fact for fact in answer['environment']}
        self.assertEqual(facts['device']['base'], 'A100')
        self.assertEqual((facts['driver']['base'], facts['driver']['candidate'], facts['driver']['match']), ('CUDA 12.4', 'CUDA 12.9', 'different'))
        self.assertEqual((facts['profiler_options']['base'], facts['profiler_options']['candidate'], facts['profiler_options']['match']),
                         ('with_stack', None, 'unknown'))
        self.assertNotIn('framework', facts)
        self.assertIs(self.diff('three', 'six', route='diff/summary')['comparable'], True)

    def test_a_comparison_keeps_its_environment(self):
        made = self.server.ask('POST', '/api/v1/comparisons', json.dumps({'base': self.ids['eight'], 'candidate': self.ids['two']}).encode(),
                               {'Content-Type': 'application/json'})
        self.assertEqual(made.status, 201, made.body)
        answer = made.json()
        self.assertIs(answer['comparable'], False)
        self.assertIn('not comparable as they stand', answer['summary']['verdict_text'])
        report = self.server.get('/api/v1/comparisons/%d' % answer['id'], format='markdown').body.decode()
        self.assertLess(report.index('World size'), report.index('## 1.'))

    def test_the_command_line_says_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, body in self.bodies.items():
                pathlib.Path(folder, name + '.json').write_bytes(body)

            def compare(*arguments):
                done = kinetoscope.run_program('compare', *arguments, cwd=folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                return done.stdout.decode()
            answer = self.diff('six', 'slow', route='diff/summary')
            text = compare('six.json', 'slow.json')
            places = [text.index(word) for word in ('Environment (', answer['sentence'], 'The step by category, mean', 'Operators that changed most', 'Kernels that changed most', '(step cycles)')]
            self.assertEqual(places, sorted(places))
            self.assertRegex(text, r'gemm +30\.0 µs +60\.0 µs +\+30\.0 µs +\+100\.0%')
            self.assertEqual(text.count('Environment ('), 1)
            whole = json.loads(compare('six.json', 'slow.json', '--format', 'json'))
            for name in ('sentence', 'per', 'step', 'waterfall', 'environment', 'comparable'):
                self.assertEqual(whole['change'][name], answer[name])
            self.assertEqual(whole['change']['kernels'], [{'name': 'gemm', 'presence': 'both', 'base_ns': 30000, 'candidate_ns': 60000, 'delta_ns': 30000}])
            self.assertRegex(compare('eight.json', 'two.json'), r'(?m)^\* World size +8 +2$')
            self.assertIn('The two are not comparable as they stand: world size (8 against 2).', compare('eight.json', 'two.json'))
            self.assertIn('| gemm | 30.0 µs | 60.0 µs | +30.0 µs | +100.0% |', compare('six.json', 'slow.json', '--format', 'markdown'))
            # Without cycles nothing can be tested, but what changed is known.
            self.assertIn('Not enough data to test: none.json has no cycles', compare('none.json', 'three.json'))
            gated = kinetoscope.run_program('compare', 'none.json', 'three.json', '--fail-if', 'step_time>5%', cwd=folder)
            self.assertEqual(gated.returncode, 1)

    def test_devices_are_matched_by_their_order(self):
        made = self.server.ask('POST', '/api/v1/comparisons', json.dumps({'base': self.ids['three'], 'candidate': self.ids['other']}).encode(),
                               {'Content-Type': 'application/json'}).json()
        self.assertEqual(made['appeared'], [])
        self.assertIn('GPU 0 (virtual) / GPU 3 (virtual)', made['devices'])
        series = self.server.get('/api/v1/comparisons/%d/series' % made['id'], function='gemm', metric='N/A',
                                 device='GPU 0 (virtual) / GPU 3 (virtual)').json()
        self.assertTrue(all(series['base']['beta_pct']) and all(series['candidate']['beta_pct']), series)


if __name__ == '__main__':
    unittest.main()
