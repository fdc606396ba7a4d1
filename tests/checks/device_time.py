#!/usr/bin/env python3
"""Device time by class of work: the parts of each block add up, and the reference's golden figures of real traces."""
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

import kinetoscope

FIXTURES = ('cuda_training', 'rocm', 'mlu', 'nccl_two_workers', 'decimal_times')


class DeviceTime(unittest.TestCase):
    def add_up(self, block):
        parts = ('computation_ns', 'exposed_communication_ns', 'exposed_memcpy_ns', 'idle_ns')
        self.assertEqual(sum(block[part] for part in parts), block['total_ns'])
        self.assertEqual(block['busy_ns'] + block['idle_ns'], block['total_ns'])
        self.assertEqual(block['end_ns'] - block['start_ns'], block['total_ns'])
        self.assertTrue(all(block[part] >= 0 for part in parts), block)

    def test_parts_add_up(self):
        with kinetoscope.Server() as server:
            for case in FIXTURES:
                with self.subTest(case=case):
                    name, content = kinetoscope.fixture(case)
                    trace = kinetoscope.uploaded(server.put(case, name, content))[0]['id']
                    times = server.get('/api/v1/traces/%d/device-time' % trace).json()
                    for place in [times] + times['devices']:
                        for block in (place[key] for key in ('window', 'launched', 'steps')):
                            if block is not None:
                                self.add_up(block)
                    self.assertEqual(sum(row['device_ns'] for row in times['classes']), times['device_ns'])
                    rows = server.get('/api/v1/traces/%d/device-time/kernels' % trace, limit=0).json()['rows']
                    self.assertEqual(sum(row['device_ns'] for row in rows if row['class'] != 'sync'), times['device_ns'])
                    owners = server.get('/api/v1/traces/%d/device-time/operators' % trace, limit=0).json()
                    self.assertEqual(sum(row['device_ns'] for row in owners['rows']), times['device_ns'])
                    self.assertAlmostEqual(sum(row['share'] for row in owners['rows']), 1)
                    self.assertEqual(len(owners['rows']), len({(row['kind'], row['name']) for row in owners['rows']}))
                    self.assertGreater(times['device_ns'], 0)
                    device = times['devices'][0]
                    alone = server.get('/api/v1/traces/%d/device-time' % trace, device=device['device']).json()
                    self.assertEqual(alone['window'], device['window'])

    def test_a_trace_without_device_work(self):
        name, content = kinetoscope.fixture('cpu_only')
        with kinetoscope.Server() as server:
            trace = kinetoscope.uploaded(server.put('cpu', name, content))[0]['id']
            times = server.get('/api/v1/traces/%d/device-time' % trace).json()
            self.assertEqual([times[key] for key in ('window', 'launched', 'steps')], [None] * 3)
            self.assertEqual((times['device_ns'], times['classes'], times['devices']), (0, [], []))
            self.assertEqual(server.get('/api/v1/traces/999/device-time').status, 404)
            self.assertEqual(server.get('/api/v1/traces/%d/device-time' % trace, device='x').status, 400)

    def test_a_trace_of_another_kind(self):
        events = [{'ph': 'B', 'name': 'outer', 'cat': 'mine', 'pid': 'p', 'tid': 1, 'ts': 5}, {'ph': 'X', 'name': 'inner', 'pid': 'p', 'tid': 1, 'ts': 6, 'dur': 2},
                  {'ph': 'E', 'pid': 'p', 'tid': 1, 'ts': 15}, {'ph': 'B', 'name': 'open', 'pid': 'p', 'tid': 1, 'ts': 16}]
        with kinetoscope.Server() as server:
            trace = kinetoscope.uploaded(server.put('other', 'other.json', json.dumps({'traceEvents': events}).encode()))[0]
            self.assertIn('slices', trace['views'])
            path = '/api/v1/traces/%d/slices' % trace['id']
            table = server.get(path, sort='self_ns').json()
            self.assertEqual([(row['name'], row['total_ns'], row['self_ns']) for row in table['rows']], [('outer', 10000, 8000), ('inner', 2000, 2000)])
            self.assertEqual((table['slices'], table['duration_ns']), (2, 10000))
            track = server.get(path, group_by='track').json()['rows'][0]
            self.assertEqual((track['track'], track['busy_ns'], track['thread_name']), ('p / 1', 10000, None))
            lines = server.get(path, group_by='category', format='csv').body.decode().splitlines()
            self.assertEqual([line.split(',')[:2] for line in lines], [['category', 'count'], ['mine', '1'], ['', '1']])
            self.assertEqual(server.get(path, group_by='x').status, 400)

    def test_the_report_says_the_same(self):
        name, content = kinetoscope.fixture('rocm')
        with kinetoscope.Server() as server, tempfile.TemporaryDirectory() as folder:
            trace = kinetoscope.uploaded(server.put('report', name, content))[0]['id']
            path = pathlib.Path(folder) / name
            path.write_bytes(content)
            report = lambda notation: subprocess.run([kinetoscope.PROGRAM, 'report', str(path), '--format', notation], stdout=subprocess.PIPE, text=True, timeout=60, check=True).stdout
            told = json.loads(report('json'))['traces'][0]
            base = '/api/v1/traces/%d' % trace
            self.assertEqual(told['device_time'], server.get(base + '/device-time').json())
            self.assertEqual(told['slices']['names'], server.get(base + '/slices', limit=0).json()['rows'])
            steps = server.get(base + '/engine-steps').json()
            self.assertEqual(told['engine_steps'], {key: steps[key] for key in ('engine', 'phases')})
            for notation in ('text', 'markdown'):
                self.assertIn('Device time by class of work', report(notation))

    def test_rules_of_ones_own(self):
        name, content = kinetoscope.fixture('cuda_training')
        with kinetoscope.Server() as server:
            trace = kinetoscope.uploaded(server.put('own', name, content))[0]['id']
            kernel = server.get('/api/v1/traces/%d/device-time/kernels' % trace).json()['rows'][0]['name']
        word = max(re.findall(r'[A-Za-z_]+', kernel), key=len)
        with tempfile.TemporaryDirectory() as folder:
            rules = pathlib.Path(folder) / 'classes.txt'
            rules.write_text('# ours\nour_class yes %s\n' % word)
            with kinetoscope.Server('--kernel-classes', str(rules)) as server:
                trace = kinetoscope.uploaded(server.put('own', name, content))[0]['id']
                row = server.get('/api/v1/traces/%d/device-time/kernels' % trace).json()['rows'][0]
                self.assertEqual((row['name'], row['class'], row['matrix_unit']), (kernel, 'our_class', True))
                for group in ('name', 'launch'):
                    rows = server.get('/api/v1/traces/%d/kernels?group_by=%s' % (trace, group)).json()['rows']
                    self.assertIn((kernel, 'our_class', True), {(row['name'], row['class'], row['matrix_unit']) for row in rows})
            rules.write_text('our_class perhaps x\n')
            done = subprocess.run([kinetoscope.PROGRAM, 'serve', '--data-dir', folder + '/data', '--kernel-classes', str(rules)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn('line 1', done.stderr)

    def test_other_rules_analyse_again(self):
        """Stored results follow the rules of today, as after an upgrade: same ids, notes and tags."""
        name, content = kinetoscope.fixture('cuda_training')
        with tempfile.TemporaryDirectory() as folder:
            rules = pathlib.Path(folder) / 'classes.txt'
            rules.write_text('communication no gemm kind=ours\n')

            def communication(*options, note=None):
                """Mean time of communication in a step, by a server with these options; whether it analysed anything again."""
                with kinetoscope.Server(*options, data_dir=folder + '/data') as server:
                    if note:
                        trace = kinetoscope.uploaded(server.put('own', name, content))[0]['id']
                        body = json.dumps({'note': note}).encode()
                        self.assertEqual(server.ask('PATCH', '/api/v1/traces/%d' % trace, body, {'Content-Type': 'application/json'}).status, 200)
                    # Old results answer until new ones are there.
                    kinetoscope.until(lambda: server.get('/api/v1/jobs/1').json()['state'] == 'done', 'it is analysed again', 40)
                    trace = server.get('/api/v1/traces/1')
                    self.assertEqual((trace.json()['note'], trace.json()['id']), ('kept', 1))
                    self.assertEqual(server.get('/api/v1/runs/own').json()['traces'], 1)
                    roles = server.get('/api/v1/traces/1/overview').json()['roles']
                    return sum(row['mean_ns'] for row in roles if row['role'] == 'communication'), 'analysed again' in server.log()
            built_in = communication(note='kept')
            ours = communication('--kernel-classes', str(rules))
            self.assertGreater(ours[0], built_in[0])
            self.assertEqual((built_in[1], ours[1]), (False, True))
            self.assertEqual(communication('--kernel-classes', str(rules)), (ours[0], False))
            self.assertEqual(communication(), (built_in[0], True))

    def test_golden_figures(self):
        kinetoscope.check_reference(self, 'device_time_check.py', '--verbose')


if __name__ == '__main__':
    kinetoscope.main()
