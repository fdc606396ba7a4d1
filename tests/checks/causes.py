#!/usr/bin/env python3
"""Why devices stood still, what launches cost, the critical path, and efficiency: parts add up on the fixtures, and the reference's golden figures of real traces."""
import gzip
import json
import pathlib
import subprocess
import tempfile
import unittest
import urllib.parse

import kinetoscope

FIXTURES = ('cuda_training', 'rocm', 'mlu', 'nccl_two_workers', 'decimal_times')


class Causes(unittest.TestCase):
    def check_lane(self, lane):
        self.assertEqual(lane['last_ns'] - lane['first_ns'], lane['busy_ns'] + lane['idle_ns'])
        self.assertEqual(sum(cause['idle_ns'] for cause in lane['causes']), lane['idle_ns'])
        self.assertEqual(sum(host['idle_ns'] for host in lane['host']), lane['idle_ns'])
        self.assertGreaterEqual(lane['busy_ns'], 0)

    def test_parts_add_up(self):
        with kinetoscope.Server() as server:
            for case in FIXTURES:
                with self.subTest(case=case):
                    name, content = kinetoscope.fixture(case)
                    trace = kinetoscope.uploaded(server.put(case, name, content))[0]['id']
                    idle = server.get('/api/v1/traces/%d/idle' % trace, top=1000).json()
                    for lane in idle['streams'] + idle['devices']:
                        self.check_lane(lane)
                    self.assertEqual(idle['longest']['total'], len(idle['longest']['rows']))
                    self.assertEqual(sum(gap['duration_ns'] for gap in idle['longest']['rows']), sum(lane['idle_ns'] for lane in idle['streams']))
                    launches = server.get('/api/v1/traces/%d/launches' % trace, limit=0).json()
                    self.assertEqual(launches['total'], sum(stream['launches'] for stream in launches['streams']))
                    self.assertEqual(len(launches['rows']), launches['launch_delay']['count'])

    def test_critical_path(self):
        name, content = kinetoscope.fixture('cuda_training')
        with kinetoscope.Server() as server:
            base = '/api/v1/traces/%d/critical-path' % kinetoscope.uploaded(server.put('path', name, content))[0]['id']
            path = server.get(base, edges='all', limit=0).json()
            self.assertEqual(sum(bound['ns'] for bound in path['boundedness']), path['length_ns'])
            self.assertEqual(sum(path['edges_by_type'].values()), path['edges']['total'])
            self.assertEqual(sum(edge['weight_ns'] for edge in path['edges']['rows'] if edge['on_path']), path['length_ns'])
            self.assertLessEqual(path['length_ns'], path['window']['end_ns'] - path['window']['start_ns'])
            first = path['what_if']['names'][0]
            self.assertGreater(first['saved_ns'], 0)
            gone = server.get(base, scale=urllib.parse.quote(first['name'], safe='') + ':0').json()
            self.assertEqual(gone['what_if']['length_ns'], first['length_ns'])
            step = server.get(base, annotation='ProfilerStep', instance=1).json()
            self.assertLess(step['length_ns'], path['length_ns'])
            self.assertEqual(server.get(base, annotation='ProfilerStep', instance=999).status, 404)
            for query in ({'instance': 'x'}, {'scale': 'aten'}, {'scale': 'aten:11'}, {'top': 21}, {'edges': 'some'}):
                self.assertEqual(server.get(base, **query).status, 400, query)

    def test_categories_of_2021_say_the_same(self):
        """Kineto called operators Operator, steps among them, and calls Runtime."""
        old = {'cpu_op': 'Operator', 'cuda_runtime': 'Runtime', 'kernel': 'Kernel', 'gpu_memcpy': 'Memcpy', 'gpu_memset': 'Memset'}
        name, content = kinetoscope.fixture('cuda_training')
        trace = json.loads(gzip.decompress(content))
        for event in trace['traceEvents']:
            is_step = event['name'].startswith('ProfilerStep#') and event.get('cat') == 'user_annotation'
            event['cat'] = 'Operator' if is_step else old.get(event.get('cat'), event.get('cat'))
        with kinetoscope.Server() as server:
            answers = []
            for run, body in (('new', content), ('old', json.dumps(trace).encode())):
                base = '/api/v1/traces/%d' % kinetoscope.uploaded(server.put(run, name.replace('.gz', ''), body))[0]['id']
                idle, path = server.get(base + '/idle').json(), server.get(base + '/critical-path', limit=0).json()
                answers.append([[lane['host'] for lane in idle['devices']], path['length_ns'], path['boundedness'], path['edges_by_type']])
            self.assertGreater(answers[0][3]['launch'], 0)
            self.assertEqual(answers[1], answers[0])

    def test_efficiency(self):
        with kinetoscope.Server() as server:
            for case in FIXTURES:
                with self.subTest(case=case):
                    name, content = kinetoscope.fixture(case)
                    base = '/api/v1/traces/%d' % kinetoscope.uploaded(server.put(case, name, content))[0]['id']
                    answers = [server.get(base + '/efficiency', group_by=by, limit=0).json() for by in ('operator', 'shape', 'module', 'step')]
                    for answer in answers:
                        for key in ('calls', 'time_ns'):
                            self.assertEqual(sum(row[key] for row in answer['rows']), answer['totals'][key])
                        self.assertEqual({k: v for k, v in answer['totals'].items() if k != 'mfu'}, {k: v for k, v in answers[0]['totals'].items() if k != 'mfu'})
                        self.assertLessEqual(answer['modelled_time_ns'], answer['totals']['time_ns'])
                    found = server.get(base + '/efficiency', q='aten::', limit=0).json()
                    self.assertEqual(found['total'], sum('aten::' in (row['name'] or '') for row in answers[0]['rows']))
                    self.assertEqual(server.get(base + '/efficiency', group_by='kernel').status, 400)

    def test_peaks_of_ones_own(self):
        name, content = kinetoscope.fixture('cuda_training')
        with tempfile.TemporaryDirectory() as folder:
            peaks = pathlib.Path(folder) / 'devices.json'
            peaks.write_text(json.dumps({'NVIDIA': {'bandwidth_bytes_per_second': 1e12, 'matrix': {'fp32': 1e13, 'fp16': 1e13}, 'vector': {'fp32': 1e12}, 'source': 'a test'}}))
            with kinetoscope.Server('--devices', str(peaks)) as server:
                base = '/api/v1/traces/%d' % kinetoscope.uploaded(server.put('peaks', name, content))[0]['id']
                answer = server.get(base + '/efficiency').json()
                self.assertEqual((answer['device']['name'], answer['device']['source']), ('NVIDIA', 'a test'))
                known = [row for row in answer['rows'] if row['roofline_ns'] is not None]
                self.assertTrue(known)
                kernel = server.get(base + '/kernels', limit=1).json()['rows'][0]['name']
                path = server.get(base + '/critical-path', edges='none', scale=urllib.parse.quote(kernel, safe='') + ':roofline')
                self.assertEqual(path.status, 200)
            peaks.write_text('{"NVIDIA": 5}')
            done = subprocess.run([kinetoscope.PROGRAM, 'serve', '--data-dir', folder + '/data', '--devices', str(peaks)], capture_output=True, text=True, check=False, timeout=20)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn('peaks', done.stderr)

    def test_the_report_says_what_to_do_first(self):
        name, content = kinetoscope.fixture('cuda_training')
        with kinetoscope.Server() as server, tempfile.TemporaryDirectory() as folder:
            base = '/api/v1/traces/%d' % kinetoscope.uploaded(server.put('report', name, content))[0]['id']
            path = pathlib.Path(folder) / name
            path.write_bytes(content)
            report = lambda notation: subprocess.run([kinetoscope.PROGRAM, 'report', str(path), '--format', notation], stdout=subprocess.PIPE, text=True, timeout=60, check=True).stdout
            said = json.loads(report('json'))['traces'][0]
            gains = said['what_to_do_first']
            steps = len(server.get(base + '/overview').json()['step_rows'])
            for gain in gains:
                self.assertAlmostEqual(gain['step_ns'], gain['saved_ns'] / steps)
            for gain in gains:
                self.assertRegex(gain['source'] or 'none.py(1): ', r'\.py\(\d+\): ')
            self.assertTrue(any(gain['source'] for gain in gains if gain['kind'] == 'critical_path'))
            lines = {place['operator']: place['source'] for place in reversed(said['where_time_goes'])}
            for gain in (gain for gain in gains if gain['kind'] == 'roofline'):
                self.assertEqual(gain['source'], lines.get(gain['name'], gain['source']))
            places = said['where_time_goes']
            self.assertEqual([place['total_ns'] for place in places], sorted((place['total_ns'] for place in places), reverse=True))
            self.assertEqual(sum(place['total_ns'] for place in places), sum(kernel['total_ns'] for kernel in server.get(base + '/kernels/stacks', limit=1000).json()['rows']))
            self.assertTrue(any('.py(' in (place['source'] or '') for place in places))
            windows = {entry['device']: entry for entry in server.get(base + '/device-time').json()['devices']}
            for row in said['overlap_headroom']:
                window = windows[row['device']]['window']
                total, exposed = (window[key % {'communication': 'communication', 'copies': 'memcpy'}[row['what']]] for key in ('%s_ns', 'exposed_%s_ns'))
                self.assertEqual((row['total_ns'], row['exposed_ns']), (total, exposed))
                self.assertEqual(row['saved_ns'], min(exposed, window['computation_ns'] - (total - exposed)))
            self.assertEqual([gain['saved_ns'] for gain in gains], sorted((gain['saved_ns'] for gain in gains), reverse=True))
            whatif = server.get(base + '/critical-path', edges='none', top=20).json()['what_if']['names']
            best = max(whatif, key=lambda item: item['saved_at_most_ns'])
            self.assertEqual(next(gain for gain in gains if gain['kind'] == 'critical_path')['saved_ns'], best['saved_at_most_ns'])
            device = max(server.get(base + '/idle').json()['devices'], key=lambda lane: lane['idle_ns'])
            self.assertEqual(sum(gain['saved_ns'] for gain in gains if gain['kind'] == 'idle'), device['idle_ns'])
            for notation in ('text', 'markdown'):
                for title in ('Where the time goes', 'Overlap headroom', 'What to do first'):
                    self.assertIn(title, report(notation))

    def test_a_call_saves_no_more_than_devices_waited(self):
        # The first kernel's launch was not recorded: the path takes the wait for it for time of the operator, but the device waits 10 us only.
        span = lambda category, name, ts, dur, tid, **args: {'ph': 'X', 'cat': category, 'name': name, 'pid': 0 if 'stream' in args else 9, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args}
        events = [span('cpu_op', 'aten::mm', 1001, 8, 9), span('kernel', 'early', 0, 1000, 7, device=0, stream=7, correlation=1),
                  span('cpu_op', 'aten::item', 5, 995, 9),
                  span('cuda_runtime', 'cudaLaunchKernel', 1002, 5, 9, correlation=3), span('kernel', 'late', 1010, 500, 7, device=0, stream=7, correlation=3)]
        with tempfile.NamedTemporaryFile('w', suffix='.json') as file:
            json.dump({'traceEvents': events}, file)
            file.flush()
            done = subprocess.run([kinetoscope.PROGRAM, 'report', file.name, '--format', 'json'], stdout=subprocess.PIPE, text=True, timeout=60, check=True)
        gains = {gain['name']: gain['saved_ns'] for gain in json.loads(done.stdout)['traces'][0]['what_to_do_first'] if gain['kind'] == 'critical_path'}
        self.assertEqual(gains['aten::item'], 10000, gains)
        self.assertEqual(gains['late'], 500000)

    def test_the_demonstration_contradicts_no_data_sheet(self):
        demo = next((kinetoscope.ROOT / 'deploy/demo').glob('*.gz'))
        with kinetoscope.Server() as server:
            trace = kinetoscope.uploaded(server.put('demo', demo.name, demo.read_bytes()))[0]['id']
            answer = server.get('/api/v1/traces/%d/efficiency' % trace, group_by='shape', limit=200).json()
            self.assertTrue(0.05 < answer['totals']['mfu'] < 0.6, answer['totals'])
            known = [row for row in answer['rows'] if row['roofline_ratio'] is not None]
            self.assertGreater(len(known), 20)
            self.assertEqual([row['name'] for row in known if row['roofline_ratio'] > 1], [])

    def test_energy_from_counters_by_hand(self):
        # As rocmProfileData's tool writes monitors: the device is the process, the type is the series. 100 W, then 300 W: 40 mJ [CAU-7f].
        counter = lambda ts, **series: {'ph': 'C', 'name': '', 'pid': '0', 'ts': ts, 'args': series}
        span = lambda category, name, ts, dur, tid, **args: {'ph': 'X', 'cat': category, 'name': name, 'pid': 0 if 'stream' in args else 9, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args}
        events = [span('user_annotation', 'ProfilerStep#1', 0, 60, 9), span('user_annotation', 'ProfilerStep#2', 60, 190, 9),
                  span('kernel', 'gemm', 0, 150, 7, device=0, stream=7, correlation=1), span('gpu_memcpy', 'Memcpy HtoD', 50, 50, 8, device=0, stream=8, correlation=2),
                  *(counter(ts, power=watts, sclk=clock) for ts, watts, clock in ((0, 100, 1500), (100, 300, 1200), (200, 50, 900)))]
        with kinetoscope.Server() as server:
            trace = kinetoscope.uploaded(server.put('power', 'power.pt.trace.json', json.dumps({'traceEvents': events}).encode()))[0]['id']
            ask = lambda by: server.get('/api/v1/traces/%d/power' % trace, group_by=by).json()
            device = ask('device')
            self.assertEqual([(counter['name'].strip(), counter['measures'], counter['device'], counter['is_used']) for counter in device['counters']],
                             [('power', 'power', 0, True), ('sclk', 'clock', 0, True)])
            self.assertAlmostEqual(device['totals']['energy_j'], 0.04)
            self.assertAlmostEqual(device['rows'][0]['clock_mhz'], 1350)
            self.assertEqual({row['name']: round(row['energy_j'] * 1e6) for row in ask('class')['rows']}, {'gemm': 22500, 'memcpy': 2500, 'idle': 15000})
            self.assertEqual([(row['name'], round(row['energy_j'] * 1e6), row['sampled_ns']) for row in sorted(ask('step')['rows'], key=lambda row: row['start_ns'])],
                             [('ProfilerStep#1', 6000, 60000), ('ProfilerStep#2', 34000, 140000)])
            name, content = kinetoscope.fixture('cuda_training')
            without = kinetoscope.uploaded(server.put('without', name, content))[0]['id']
            answer = server.get('/api/v1/traces/%d/power' % without).json()
            self.assertEqual((answer['rows'], answer['counters'], answer['totals']['energy_j']), ([], [], 0))

    def test_bad_parameters(self):
        name, content = kinetoscope.fixture('cuda_training')
        with kinetoscope.Server() as server:
            trace = kinetoscope.uploaded(server.put('bad', name, content))[0]['id']
            for path, query in (('idle', {'top': 0}), ('idle', {'last_step': 'x'}), ('launches', {'series': '7'}), ('launches', {'series': '0:x'})):
                self.assertEqual(server.get('/api/v1/traces/%d/%s' % (trace, path), **query).status, 400)
            self.assertEqual(server.get('/api/v1/traces/999/idle').status, 404)

    def test_golden_figures(self):
        kinetoscope.check_reference(self, 'causes_check.py')


kinetoscope.main()
