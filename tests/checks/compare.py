#!/usr/bin/env python3
"""`kinetoscope compare` from outside: against figures worked out here from the definitions, then its ways in and its --fail-if conditions.

The tables are made here, so that what must come out is known: `gemm` grows from about 2 % of a cycle to 5 %, `copy` stays,
`old` is removed and `new` is added in the candidate.
"""
import csv
import io
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import unittest

import kinetoscope
from kinetoscope import run_program

HEAD = ('cycle,pid,hostname,beta_pct,function_name,metric_name,device,func_type,mu_pct,sigma_pct,duration,interpolation_status,'
        'anchor_name,anchor_dur_us,cycle_start_ts,instances_count,simple_name')
COLUMNS = ['Function Name', 'Metric Name', 'Device', 'Suspicion Score', 'β_base(%)', 'β_candidate(%)', 'Δβ(%)', 'Z-Score(β)', 'p-value(β)',
           'U-test p(β)', 'μ_base', 'μ_candidate', 'Δμ', 'Z-Score(μ)', 'Z-Score(log_μ)', 'p-value(μ)', 'U-test p(μ)']


def make_table(seed, pid, cycles, functions, cycle_us):
    """(text of the table, rows as (cycle, function, metric, device, beta, mu)) of a process."""
    chance = random.Random(seed)
    lines, rows = [HEAD], []
    for cycle in range(1, cycles + 1):
        duration = round(chance.gauss(cycle_us, cycle_us / 100), 2)
        for name, beta, mu in functions:
            row = (cycle, name, 'gpu_usage', 'GPU 0', round(chance.gauss(beta, beta / 20), 4), round(chance.gauss(mu, mu / 20), 4))
            rows.append(row)
            lines.append('%d,%d,host,%.4f,"%s",%s,%s,gpu_compute,%.4f,0.1,%.4f,*,step,%.4f,%d.25,3,%s'
                         % (cycle, pid, row[4], name.replace('"', '""'), row[2], row[3], row[5], row[4] * duration / 100, duration, 1000000 * cycle, 'x'))
    return '\n'.join(lines) + '\n', rows


def expected(base, candidate):
    """The columns that need no statistical test, by (function, metric, device)."""
    answer = {}
    for key in {r[1:4] for r in base + candidate}:
        sides = [[r for r in rows if r[1:4] == key] for rows in (base, candidate)]
        figures = []
        for at, change in ((4, float), (5, float), (5, math.log1p)):
            values = [[change(r[at]) for r in side] for side in sides]
            means = [statistics.fmean(v) if v else 0.0 for v in values]
            deviation = statistics.stdev(values[0]) if len(values[0]) > 1 else 0.0
            figures.append((means, (means[1] - means[0]) / deviation if deviation > 1e-9 else 0.0))
        (beta, z_beta), (mu, z_mu), (_, z_log) = figures
        delta = beta[1] - beta[0]
        answer[key] = {'Suspicion Score': abs(delta) * (abs(z_beta) + abs(z_log)), 'β_base(%)': beta[0], 'β_candidate(%)': beta[1], 'Δβ(%)': delta,
                       'Z-Score(β)': z_beta, 'μ_base': mu[0], 'μ_candidate': mu[1], 'Δμ': mu[1] - mu[0], 'Z-Score(μ)': z_mu, 'Z-Score(log_μ)': z_log}
    return answer


def table_of(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    return {(r['Function Name'], r['Metric Name'], r['Device']): r for r in rows}, rows


class Compare(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.here = pathlib.Path(cls.folder.name)
        stable = [('copy, "quoted"', 1.0, 30.0), ('tanh', 0.5, 60.0)]
        base_text, cls.base = make_table(1, 100, 9, stable + [('gemm', 2.0, 50.0), ('old', 3.0, 20.0)], 1000)
        candidate_text, cls.candidate = make_table(2, 100, 7, stable + [('gemm', 5.0, 70.0), ('new', 4.0, 20.0)], 1100)
        (cls.here / 'a_perf_data.csv').write_text(base_text)
        (cls.here / 'b_perf_data.csv').write_text(candidate_text)
        other_text, _ = make_table(3, 200, 7, stable, 1000)
        (cls.here / 'other_perf_data.csv').write_text(other_text)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_compare(self, *arguments, code=0):
        done = run_program('compare', *arguments, cwd=self.folder.name)
        self.assertEqual(done.returncode, code, done.stdout[-1500:] + done.stderr[-1500:])
        return done.stdout.decode(), done.stderr.decode()

    def test_figures(self):
        text, _ = self.run_compare('a_perf_data.csv', 'b_perf_data.csv', '--format', 'csv')
        found, rows = table_of(text)
        self.assertEqual(list(rows[0])[:17], COLUMNS)
        want = expected(self.base, self.candidate)
        self.assertEqual(set(found), set(want))
        for key, columns in want.items():
            for column, value in columns.items():
                self.assertAlmostEqual(float(found[key][column]), value, delta=2e-6 * max(1, abs(value)), msg='%s of %s' % (column, key))
        scores = [float(r['Suspicion Score']) for r in rows]
        self.assertEqual(scores, sorted(scores, reverse=True))
        self.assertLess(float(found['gemm', 'gpu_usage', 'GPU 0']['p-value(β)']), 0.001)
        self.assertGreater(float(found['tanh', 'gpu_usage', 'GPU 0']['p-value(β)']), 0.001)
        presence = {key[0]: row['Presence'] for key, row in found.items()}
        self.assertEqual(presence, {'gemm': 'both', 'copy, "quoted"': 'both', 'tanh': 'both', 'old': 'removed', 'new': 'added'})

    def test_itself(self):
        text, _ = self.run_compare('a_perf_data.csv', 'a_perf_data.csv', '--format', 'json')
        found, = json.loads(text)['comparisons']
        self.assertEqual(found['verdict'], 'no_difference')
        self.assertEqual(found['findings'], [])
        self.assertEqual(found['appeared'], [])
        self.assertTrue(all(row['score'] == 0 for row in found['rows']))
        text, _ = self.run_compare('a_perf_data.csv', 'a_perf_data.csv')
        self.assertIn('o significant difference', text)

    def test_labels_and_pids(self):
        text, _ = self.run_compare('a_perf_data.csv', 'other_perf_data.csv', '--labels', 'before,after', '--format', 'csv')
        self.assertIn('β_before_pid_100(%)', text)
        self.assertIn('β_after_pid_200(%)', text)
        text, _ = self.run_compare('a_perf_data.csv', 'b_perf_data.csv', '--base-pid', '100', '--candidate-pid', '100', '--format', 'markdown')
        self.assertTrue(text.startswith('# Strict Performance Comparison: '), text[:80])
        self.assertIn('## 1. High-Level Performance Summary', text)
        _, error = self.run_compare('a_perf_data.csv', 'b_perf_data.csv', '--base-pid', '5', code=1)
        self.assertIn('100', error)

    def test_gates(self):
        pair = ('a_perf_data.csv', 'b_perf_data.csv')
        self.run_compare(*pair, '--fail-if', 'step_time>50%')
        _, error = self.run_compare(*pair, '--fail-if', 'step_time>50%', '--fail-if', 'step_time>5%', code=3)
        self.assertIn('step_time>5%', error)
        self.run_compare(*pair, '--fail-if', 'step_time>5% and p<0.05', code=3)
        self.run_compare(*pair, '--fail-if', 'step_time>50% and p<0.05')
        _, error = self.run_compare(*pair, '--fail-if', 'kernel_time>5% and p<0.05', code=2)
        self.assertIn('step_time>N% and p<P', str(error))
        self.run_compare(*pair, '--fail-if', 'suspicion>10', code=3)
        self.run_compare(*pair, '--fail-if', 'kernel:gemm>100%', code=3)
        self.run_compare(*pair, '--fail-if', 'kernel:tanh>50%')
        self.run_compare(*pair, '--fail-if', 'kernel:no such>1', code=1)
        self.run_compare(*pair, '--fail-if', 'nonsense', code=2)
        self.run_compare('b_perf_data.csv', 'a_perf_data.csv', '--fail-if', 'step_time>0')

    def test_a_file_a_pair(self):
        out = self.here / 'out'
        sides = [self.here / 'left', self.here / 'right']
        for side, name in zip(sides, 'ab'):
            (side / 'below').mkdir(parents=True)
            (side / 'below' / 'x_perf_data.csv').write_text((self.here / (name + '_perf_data.csv')).read_text())
            (side / 'y_perf_data.csv').write_text((self.here / 'other_perf_data.csv').read_text())
        text, _ = self.run_compare(*sides, '--format', 'csv', '--output', out)
        names = sorted(p.name for p in out.iterdir())
        self.assertEqual(len(names), 2, names)
        self.assertEqual(sorted(pathlib.Path(line).name for line in text.split()), names)
        self.assertTrue(all(name.endswith('_strict_comparison.csv') for name in names), names)
        self.assertTrue(names[0].endswith('_pid100_strict_comparison.csv'), names)
        both, _ = self.run_compare(*sides, '--format', 'csv')
        self.assertEqual(len(both.splitlines()) - 1, sum(len((out / n).read_text().splitlines()) - 1 for n in names))
        first = list(csv.DictReader(io.StringIO(both)))[0]
        self.assertEqual(first['Base PID'], '100', 'the most suspicious pair comes first')

    def test_traces_by_their_steps(self):
        name, content = kinetoscope.fixture('cuda_training')
        (self.here / name).write_bytes(content)
        text, _ = self.run_compare(name, name, '--format', 'json')
        found = json.loads(text)['comparisons'][0]
        self.assertEqual(found['kind'], 'step')
        self.assertEqual(found['verdict'], 'no_difference')
        self.assertGreater(found['summary']['base']['cycles'], 1)
        self.assertGreater(len(found['rows']), 3)

    def test_a_trace_compares_as_its_table_does(self):
        name, content = kinetoscope.fixture('cuda_training')
        second, other = kinetoscope.fixture('two_spans')
        (self.here / name).write_bytes(content)
        (self.here / ('second' + second)).write_bytes(other)
        whole, _ = self.run_compare(name, 'second' + second, '--format', 'csv')
        for at, file in enumerate((name, 'second' + second)):
            done = run_program('cycles', file, '--format', 'csv', cwd=self.folder.name)
            self.assertEqual(done.returncode, 0, done.stderr[-1000:])
            (self.here / ('t%d_perf_data.csv' % at)).write_bytes(done.stdout)
        self.assertEqual(self.run_compare('t0_perf_data.csv', 't1_perf_data.csv', '--format', 'csv')[0], whole)

    def test_what_cannot_be_compared(self):
        (self.here / 'empty').mkdir(exist_ok=True)
        _, error = self.run_compare('a_perf_data.csv', 'empty', code=1)
        self.assertIn('empty', error)
        _, error = self.run_compare('a_perf_data.csv', 'nowhere', code=1)
        self.assertIn('nowhere', error)
        name, content = kinetoscope.fixture('no_profiler_step')
        (self.here / ('none' + name)).write_bytes(content)
        _, error = self.run_compare('a_perf_data.csv', 'none' + name, code=1)
        self.assertIn('--marker', error)

    @unittest.skipUnless((kinetoscope.REFERENCE / 'tools/compare_check.py').exists(), 'no reference data at hand')
    def test_reference(self):
        done = subprocess.run([sys.executable, kinetoscope.REFERENCE / 'tools/compare_check.py', kinetoscope.PROGRAM, kinetoscope.REFERENCE / 'data/compare'],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout.decode())


if __name__ == '__main__':
    kinetoscope.main()
