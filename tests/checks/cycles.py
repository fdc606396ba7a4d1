#!/usr/bin/env python3
"""`kinetoscope cycles`: the table of a trace made here, its ways to fail, and the reference's golden tables."""
import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import kinetoscope

COLUMNS = ['cycle', 'pid', 'hostname', 'beta_pct', 'function_name', 'metric_name', 'device', 'func_type', 'mu_pct', 'sigma_pct',
           'duration', 'interpolation_status', 'anchor_name', 'anchor_dur_us', 'cycle_start_ts', 'instances_count', 'simple_name',
           'cycle_kind']
HARDWARE = ('category,config,inventory\n'
            'CAT_PROCESS,"{""env"": {""hostname"": ""n1""}}","{""macro"": {""pid"": 7, ""gpu_index"": 5}}"\n')


def call(name, ts, dur, **fields):
    return dict({'ph': 'X', 'cat': 'python', 'name': name, 'pid': 'n1(7)', 'tid': 'main', 'ts': ts, 'dur': dur}, **fields)


def turns():
    """Three turns of 100 us with a launch, a kernel that takes a quarter of the turn, and a counter of its device."""
    events = []
    for i in range(3):
        at = 1000 + 200 * i
        events += [call('turn', at, 100), call('turn of the user', at + 1, 90),
                   call('cudaLaunchKernel', at + 10, 5, cat='cuda_runtime', args={'correlation': i + 1}),
                   call('triton_poi_0', at + 20, 25, cat='Kernel', tid='stream 7', args={'correlation': str(i + 1), 'device': 0}),
                   {'ph': 'C', 'cat': 'CAT_XPU', 'name': 'gpu_usage', 'tid': 'CAT_XPU_5', 'ts': at + 30, 'args': {'value': 40}}]
    return {'traceEvents': events}


class Cycles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def trace(self, document):
        path = self.folder / 'trace.json'
        path.write_text(json.dumps(document))
        return path

    def rows(self, *arguments):
        done = kinetoscope.run_program('cycles', '--format', 'csv', *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        reader = csv.DictReader(io.StringIO(done.stdout.decode()))
        rows = list(reader)
        self.assertEqual(reader.fieldnames, COLUMNS)
        return rows

    def test_table(self):
        row = self.rows(self.trace(turns()))[0]
        want = {'cycle': '1', 'pid': '7', 'hostname': 'n1', 'beta_pct': '25.0000', 'function_name': 'triton_poi_0', 'metric_name': 'N/A',
                'device': 'GPU 0 (virtual)', 'func_type': 'gpu_compute', 'mu_pct': '', 'sigma_pct': '', 'duration': '25.0000',
                'interpolation_status': ' ', 'anchor_name': 'turn', 'anchor_dur_us': '100.0000', 'cycle_start_ts': '1000.0000',
                'instances_count': '1', 'simple_name': 'triton_kernel', 'cycle_kind': 'step'}
        self.assertEqual(row, want)

    def test_hardware_beside_the_trace(self):
        trace = self.trace(turns())
        (self.folder / 'topo_component.csv').write_text(HARDWARE)
        rows = self.rows(trace)
        self.assertEqual([(r['device'], r['metric_name'], r['mu_pct']) for r in rows], [('GPU 5', 'gpu_usage', '40.0000')] * 3)
        other = self.folder / 'other.csv'
        other.write_text(HARDWARE.replace('5', '3'))
        self.assertEqual({r['device'] for r in self.rows('--hardware', other, trace)}, {'GPU 3'})

    def test_marker(self):
        rows = self.rows(self.trace(turns()), '--marker', 'turn of the user')
        self.assertEqual({(r['anchor_name'], r['cycle']) for r in rows}, {('turn of the user', str(i)) for i in (1, 2, 3)})
        done = kinetoscope.run_program('cycles', '--marker', 'nowhere', self.folder / 'trace.json')
        self.assertEqual(done.returncode, 1)
        self.assertIn(b'"nowhere"', done.stderr)

    def test_json(self):
        done = kinetoscope.run_program('cycles', '--format', 'json', self.trace(turns()))
        answer = json.loads(done.stdout)
        self.assertEqual(answer['source'], 'anchor')
        self.assertEqual(answer['cycles'][0], {'number': 1, 'kind': 'step', 'anchor': 'turn', 'start_ns': 0, 'duration_ns': 100000.0})
        self.assertEqual((answer['rows'][2]['cycle'], answer['rows'][2]['beta_pct'], answer['rows'][2]['mu_pct']), (3, 25.0, None))
        self.assertEqual(answer['counters'], [{'name': 'gpu_usage', 'hostname': '', 'samples': 3, 'mean': 40.0, 'min': 40.0, 'max': 40.0,
                                               'std': 0.0}])

    def test_text(self):
        text = kinetoscope.run_program('cycles', self.trace(turns())).stdout.decode()
        self.assertRegex(text, r'^Cycles of turn\n')
        self.assertRegex(text, r'(?m)^ +step +3 +100 µs +100 µs +100 µs$')
        self.assertRegex(text, r'(?m)^ +triton_poi_0 +GPU 0 \(virtual\) +25\.0%$')
        self.assertIn('--format csv', text)

    def test_no_cycles(self):
        done = kinetoscope.run_program('cycles', self.trace({'traceEvents': turns()['traceEvents'][:4]}))
        self.assertEqual((done.returncode, done.stdout), (1, b''))
        self.assertIn(b'--marker', done.stderr)

    def test_table_is_read_back(self):
        table = self.folder / 'job_perf_data.csv'
        table.write_bytes(kinetoscope.run_program('cycles', '--format', 'csv', self.trace(turns())).stdout)
        again = kinetoscope.run_program('cycles', '--format', 'csv', table)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(again.stdout.decode(), table.read_text())

    def test_steps_of_a_fixture(self):
        name, content = kinetoscope.fixture('cuda_training')
        (self.folder / name).write_bytes(content)
        rows = self.rows(self.folder / name)
        self.assertEqual({r['anchor_name'] for r in rows}, {'ProfilerStep'})
        self.assertGreater(len({r['cycle'] for r in rows}), 1)
        self.assertIn('operator', {r['func_type'] for r in rows})

    def test_reference(self):
        tool = kinetoscope.REFERENCE / 'tools/cycles_check.py'
        if not tool.exists():
            self.skipTest('no reference data (KINETOSCOPE_REFERENCE) at hand')
        done = subprocess.run([sys.executable, tool, kinetoscope.PROGRAM, kinetoscope.REFERENCE / 'data/cycles'],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=kinetoscope.HANG_S)
        self.assertEqual(done.returncode, 0, done.stdout.decode())


kinetoscope.main()
