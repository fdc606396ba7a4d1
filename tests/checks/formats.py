#!/usr/bin/env python3
"""Files of other recorders [FMT]: what a trace holds, memory snapshots, refusals; and the reference's golden figures of real files."""
import gzip
import json
import struct
import sys
import unittest
import zlib

import kinetoscope

sys.path.insert(0, str(kinetoscope.FIXTURES))
import recordings  # noqa: E402


def upload(server, run, name, content):
    return kinetoscope.uploaded(server.put(run, name, content))[0]


class Contents(unittest.TestCase):
    def test_kineto(self):
        name, content = kinetoscope.fixture('cuda_training')
        with kinetoscope.Server() as server:
            trace = '/api/v1/traces/%d/' % upload(server, 'kineto', name, content)['id']
            contents = server.get(trace + 'contents').json()
            self.assertEqual(contents['format'], 'chrome-trace')
            kernels = server.get(trace + 'kernels', limit=0).json()
            self.assertEqual(contents['roles']['kernel'], {'count': kernels['sums']['calls'], 'total_ns': kernels['sums']['total_ns']})
            device = contents['devices'][0]
            self.assertEqual(device['window_ns'], device['busy_ns'] + device['idle_ns'])
            self.assertEqual(device['communication_ns'], device['overlap_ns'] + device['exposed_communication_ns'])
            self.assertEqual(contents['links']['device_activities'], device['activities'])
            names = server.get(trace + 'names', limit=0).json()
            self.assertEqual(sum(row['calls'] for row in names['rows']), contents['roles']['host']['count'])
            self.assertEqual(server.get(trace + 'kernels', group_by='op_type').json()['rows'], [])


class Snapshots(unittest.TestCase):
    def test_identities(self):
        with kinetoscope.Server() as server:
            trace = upload(server, 'memory', 'snapshot.pickle', recordings.snapshot())
            self.assertEqual((trace['format'], trace['views'], trace['has_events']), ('memory-snapshot', ['memory_snapshot'], False))
            base = '/api/v1/traces/%d/memory-snapshot' % trace['id']
            device = server.get(base).json()['devices'][0]
            self.assertEqual(server.get(base).json()['allocator_settings'], {'expandable_segments': False, 'max_split_size': -1, 'roundup_power2_divisions': {'1': 0, '64': 8}})
            segments = recordings.snapshot_value()['segments']
            for field, of in (('reserved_bytes', 'total_size'), ('allocated_bytes', 'allocated_size'), ('active_bytes', 'active_size')):
                self.assertEqual(device[field], sum(segment[of] for segment in segments))
            self.assertEqual((device['history_start_allocated_bytes'], device['peak_allocated_bytes'], device['peak_event'], device['peak_ns']), (500, 4596, 1, 1000))
            self.assertEqual((device['free_segments_bytes'], device['inactive_split_bytes'], device['fragmentation']), (8192, 2048, 2048 / 12288))
            self.assertEqual(device['size_classes'], [{'upper_bytes': 512, 'blocks': 2, 'bytes': 1024}, {'upper_bytes': 1024, 'blocks': 1, 'bytes': 1024}])
            self.assertEqual(device['oom'], [{'event': 2, 't_ns': 2000, 'size_bytes': 1 << 40, 'device_free_bytes': 123, 'frame': '(no Python frame)'}])
            for at, whole in (('end', 1500), ('peak', 4596)):
                frames = server.get(base + '/frames', at=at).json()['rows']
                self.assertEqual(sum(row['bytes'] for row in frames), whole)
                self.assertEqual({row['frame'] for row in frames}, {'/srv/train.py:20 forward', '(before the recording)'})
            self.assertEqual(server.get(base + '/blocks', at='end').json()['total'], 3)
            self.assertEqual(server.get(base + '/blocks').json()['total'], 2)
            curve = server.get(base + '/curve').json()
            self.assertEqual((curve['total_points'], curve['peak'], curve['points'][0]), (7, 2, [0, None, 500, 4096]))
            lives = server.get(base + '/lives', limit=2).json()
            self.assertEqual((lives['total'], lives['bytes'], lives['first'], lives['end'], lives['left_out_bytes']), (3, [500, 4096], [-1, 1], [7, 3], 0))
            self.assertEqual((lives['low'], lives['top_bytes'], lives['in_window']), ([0, 1500], 5596, 3))
            covered = sum(lives['shades']) / 100 / len(lives['shades'])
            self.assertAlmostEqual(covered, 1000 / 5596 * 1 / 6, delta=0.01)
            part = server.get(base + '/lives', first_event=3, end_event=5, low_bytes=600, high_bytes=5000).json()
            self.assertEqual((part['first'], part['in_window'], part['shades']), ([1], 1, []))
            self.assertEqual((part['first_event'], part['end_event'], part['low_bytes'], part['high_bytes']), (3, 5, 600, 5000))
            map_of = server.get(base + '/segments', by='address').json()
            self.assertEqual((map_of['total'], len(map_of['segments'])), (len(segments), len(segments)))
            self.assertEqual(sum(row['total_bytes'] for row in map_of['segments']), device['reserved_bytes'])
            self.assertEqual(sum(row['allocated_bytes'] for row in map_of['segments']), device['allocated_bytes'])
            for row in map_of['segments']:
                self.assertAlmostEqual(sum(row['allocated']) / 12800, row['allocated_bytes'] / row['total_bytes'], delta=0.01)
            self.assertEqual(server.get(base + '/segments', limit=1, by='free').json()['segments'][0]['free_bytes'], 8192)
            for query in ({'by': 'x'}, {'limit': 0}, {'at': 'end'}):
                self.assertEqual(server.get(base + '/segments', **query).status, 400)
            for query in ({'first_event': -1}, {'high_bytes': 'x'}, {'limit': 0}):
                self.assertEqual(server.get(base + '/lives', **query).status, 400)
            self.assertEqual(server.get(base + '/lives', first_event=9, end_event=2, low_bytes=1 << 62, high_bytes=1).json()['first'], [])
            self.assertEqual(server.get('/api/v1/traces/%d/contents' % trace['id']).json()['roles'], {})
            missing = server.get('/api/v1/traces/%d/overview' % trace['id']).json()['health']['missing']
            self.assertEqual({row['view']: row['record'] for row in missing}, {'history': 'torch.cuda.memory._record_memory_history() before the model is built'})

    def test_advice_names_the_recorder(self):
        frames = [{'filename': '/lib/torch_npu/npu/memory.py', 'line': 1, 'name': 'alloc'}]
        with kinetoscope.Server() as server:
            trace = upload(server, 'memory', 'npu.pickle', recordings.snapshot(frames=frames))
            missing = server.get('/api/v1/traces/%d/overview' % trace['id']).json()['health']['missing']
            self.assertEqual({row['view']: row['record'] for row in missing}, {'history': 'torch_npu.npu.memory._record_memory_history() before the model is built'})

    def test_difference(self):
        with kinetoscope.Server() as server:
            one = upload(server, 'memory', 'one.pickle', recordings.snapshot())['id']
            other = upload(server, 'memory', 'other.pickle', recordings.snapshot(peak_bytes=8192, frames=recordings.TRAIN[1:]))['id']
            rows = server.get('/api/v1/traces/%d/memory-snapshot/frames' % other, baseline=one).json()['rows']
            found = {row['frame']: (row['bytes'], row['baseline_bytes'], row['delta_bytes']) for row in rows}
            self.assertEqual(found, {'/srv/train.py:90 main': (8192, 0, 8192), '(before the recording)': (500, 500, 0), '/srv/train.py:20 forward': (0, 4096, -4096)})

    def test_in_archives(self):
        with kinetoscope.Server() as server:
            files = {'a/rank0.pickle': recordings.snapshot(), 'b/rank1.pickle': recordings.snapshot(peak_bytes=8192)}
            for kind in ('tar', 'zip'):
                traces = kinetoscope.uploaded(server.put('memory', 'all.' + kind, recordings.archive(files, kind)))
                peaks = [server.get('/api/v1/traces/%d/memory-snapshot' % trace['id']).json()['devices'][0]['peak_allocated_bytes'] for trace in traces]
                self.assertEqual((peaks, [trace['worker'] for trace in traces]), ([4596, 8692], ['rank0.pickle', 'rank1.pickle']))

    def test_refusals(self):
        with kinetoscope.Server() as server:
            answer = server.put('memory', 'code.pickle', recordings.pickle_with_code())
            self.assertEqual((answer.status, answer.json()['byte_offset']), (422, 2))
            self.assertEqual(server.put('memory', 'cut.pickle', recordings.snapshot()[:-9]).status, 422)
            trace = upload(server, 'memory', 'snapshot.pickle', recordings.snapshot())['id']
            base = '/api/v1/traces/%d/memory-snapshot' % trace
            self.assertEqual(server.get(base + '/curve', device=5).status, 404)
            for query in ({'at': 'noon'}, {'baseline': 'x'}, {'device': 'x'}):
                self.assertEqual(server.get(base + '/frames', **query).status, 400)
            name, content = kinetoscope.fixture('cuda_training')
            kineto = upload(server, 'memory', name, content)['id']
            self.assertEqual(server.get('/api/v1/traces/%d/memory-snapshot' % kineto).status, 404)


class ExecutionTraces(unittest.TestCase):
    """A made run of seven calls, as the profiler and as an observer saw it [FMT-9]."""

    def ends(self, server, trace):
        """By name of the call: who wrote its inputs, who reads its outputs."""
        out = {}
        for event in range(9):
            name = server.get('/api/v1/traces/%d/events/%d' % (trace, event)).json()['name']
            answer = server.get('/api/v1/traces/%d/events/%d/tensors' % (trace, event)).json()
            out[name] = ([[end['name'] for end in tensor['written_by']] for tensor in answer['inputs']], [[end['name'] for end in tensor['read_by']] for tensor in answer['outputs']])
            for tensor in answer['inputs'] + answer['outputs']:
                for end in tensor.get('written_by', []) + tensor.get('read_by', []):
                    self.assertEqual(server.get('/api/v1/traces/%d/events/%d' % (trace, end['event'])).json()['name'], end['name'])
                    self.assertIsNotNone(end['track'])
        return out

    def test_tensors(self):
        forms = {'execution.json': recordings.execution_trace(), 'old.json': recordings.execution_trace('1.0.1'), 'chakra.json': recordings.chakra_json(), 'list.json': recordings.chakra_json(True),
                 'chakra.et': recordings.chakra()}
        with kinetoscope.Server() as server:
            for name, content in forms.items():
                kineto = upload(server, name, 'rank0.pt.trace.json', recordings.execution_kineto())['id']
                self.assertIsNone(server.get('/api/v1/traces/%d/events/0/tensors' % kineto).json()['execution_trace'])
                trace = upload(server, name, name, content)
                self.assertEqual((trace['format'], trace['views'], trace['has_events'], trace['events'], trace['warnings']), ('execution-trace', ['execution_trace'], False, 9, []))
                self.assertEqual(self.ends(server, kineto), {
                    'aten::t': ([[]], [['aten::addmm']]), 'aten::addmm': ([[], ['aten::t']], [['aten::relu_']]), 'aten::linear': ([[], []], [['aten::relu_']]),
                    'aten::relu_': ([['aten::linear']], [['aten::view', 'aten::cat']]), 'aten::view': ([['aten::relu_']], [['aten::cat']]),
                    'aten::cat': ([['aten::view'], ['aten::relu_']], [['aten::sum "all"']]), 'aten::sum "all"': ([['aten::cat']], [[]]), 'gemm': ([], []), 'aten::zeros': ([], [])})
                cat = server.get('/api/v1/traces/%d/events/5/tensors' % kineto).json()
                self.assertEqual(cat['execution_trace'], {'id': trace['id'], 'file_name': name, 'node': 8})
                first = {key: cat['inputs'][0][key] for key in ('position', 'tensor', 'storage', 'dtype', 'shape', 'device', 'elements', 'element_bytes')}
                self.assertEqual(first, {'position': 0, 'tensor': 54, 'storage': 62, 'dtype': 'float', 'shape': '[64]', 'device': 'cuda:0', 'elements': 64, 'element_bytes': 4})

    def test_recorded(self):
        """A recorded one of PyTorch 1.13 beside a trace made of its calls; who wrote an input is read here from the file alone."""
        content = (kinetoscope.FIXTURES / 'recorded' / 'execution_graph_1_13.json').read_bytes()
        nodes = {node['id']: node for node in json.loads(content)['nodes']}
        events = recordings.trace_of_nodes(nodes)

        def around(number):
            caller = nodes[number]['parent']
            return set() if caller == number else {caller} | around(caller)

        def writer(reader, tensor):
            giving = {number for number, node in nodes.items() if number < reader and number not in around(reader) and any(of[:1] == [tensor] for of in node['outputs'] if isinstance(of, list))}
            last = max(giving, default=None)
            while last is not None and nodes[last]['parent'] in giving:
                last = nodes[last]['parent']
            return last

        with kinetoscope.Server() as server:
            kineto = upload(server, 'job', 'rank0.pt.trace.json', json.dumps({'schemaVersion': 1, 'distributedInfo': {'rank': 0}, 'traceEvents': events}).encode())['id']
            trace = upload(server, 'job', 'execution_rank0.json', content)
            self.assertEqual((trace['events'], trace['warnings']), (len(nodes), []))
            written = 0
            for at, event in enumerate(events):
                number = event['args']['External id']
                if nodes[number]['rf_id'] != 0:
                    inputs = server.get('/api/v1/traces/%d/events/%d/tensors' % (kineto, at)).json()['inputs']
                    wanted = [value[0] for value, kind in zip(nodes[number]['inputs'], nodes[number]['input_types']) if kind.startswith('Tensor') and 'nullptr' not in kind]
                    self.assertEqual([tensor['tensor'] for tensor in inputs], wanted)
                    for tensor in inputs:
                        one = writer(number, tensor['tensor'])
                        if one is not None:
                            self.assertEqual([events[end['event']]['args']['External id'] for end in tensor['written_by']], [one])
                            written += 1
            self.assertGreater(written, 40)

    def test_ranks_do_not_answer_for_each_other(self):
        with kinetoscope.Server() as server:
            kineto = upload(server, 'job', 'rank0.pt.trace.json', recordings.execution_kineto())['id']
            path = '/api/v1/traces/%d/events/2/tensors' % kineto
            upload(server, 'job', 'execution_rank1.json', recordings.execution_trace())
            self.assertIsNone(server.get(path).json()['execution_trace'])
            one = upload(server, 'job', 'execution.json', recordings.execution_trace())['id']
            self.assertEqual(server.get(path).json()['execution_trace']['id'], one)
            upload(server, 'job', 'another.json', recordings.execution_trace())
            self.assertIsNone(server.get(path).json()['execution_trace'])
            mine = upload(server, 'job', 'execution_rank0.json', recordings.execution_trace())['id']
            self.assertEqual(server.get(path).json()['execution_trace']['id'], mine)

    def test_two_of_unknown_rank_never_answer(self):
        """However many others come before them: eight are read."""
        with kinetoscope.Server() as server:
            kineto = upload(server, 'job', 'rank0.pt.trace.json', recordings.execution_kineto())['id']
            for number in range(7):
                upload(server, 'job', 'x%d_rank0.json' % number, recordings.execution_trace().replace(b'aten::', b'x::'))
            for name in ('execution.json', 'another.json'):
                upload(server, 'job', name, recordings.execution_trace())
            self.assertIsNone(server.get('/api/v1/traces/%d/events/2/tensors' % kineto).json()['execution_trace'])

    def test_damage(self):
        with kinetoscope.Server() as server:
            cut = upload(server, 'cut', 'execution.json', recordings.execution_trace()[:-900])
            self.assertEqual([w['code'] for w in cut['warnings']], ['truncated'])
            self.assertLess(cut['events'], 9)
            cut = upload(server, 'cut', 'chakra.et', recordings.chakra()[:-5])
            self.assertEqual(([w['code'] for w in cut['warnings']], cut['events']), (['truncated'], 8))
            self.assertEqual(server.put('cut', 'empty.json', b'{"schema": "1.0.1", "nodes": []}').status, 422)
            self.assertEqual(server.get('/api/v1/traces/%d/events/0/tensors' % cut['id']).status, 404)


class MemoryTimelines(unittest.TestCase):
    def test_categories(self):
        with kinetoscope.Server() as server:
            trace = upload(server, 'timeline', 'memory.raw.json', recordings.memory_timeline())
            self.assertEqual((trace['format'], 'memory_categories' in trace['views'], trace['start_clock_ns']), ('memory-timeline', True, '5000'))
            self.assertEqual(trace['views'], ['memory_categories'])
            base = '/api/v1/traces/%d/' % trace['id']
            memory = server.get(base + 'memory/categories').json()
            self.assertEqual([(p['t_ns'], p['total_bytes']) for p in memory['points']], [(0, 512), (0, 662), (2000, 562), (4000, 563)])
            self.assertEqual((memory['peak']['point'], memory['peak']['bytes']['activation'], memory['points'][2]['bytes']['unknown']), (1, 100, 50))
            self.assertEqual(len(server.get(base + 'memory/categories', limit=1).json()['points']), 1)
            self.assertEqual(server.get(base + 'contents').json()['roles'], {'memory': {'count': 7, 'total_ns': 0}})
            cut = upload(server, 'timeline', 'cut.json', recordings.memory_timeline()[:-8])
            self.assertEqual([w['code'] for w in cut['warnings']], ['truncated'])
            self.assertEqual(server.get('/api/v1/traces/%d/memory/categories' % cut['id']).json()['total_points'], 3)


class Recordings(unittest.TestCase):
    def contents(self, server, name, content):
        trace = upload(server, 'recordings', name, content)
        return trace, server.get('/api/v1/traces/%d/contents' % trace['id']).json()

    def test_xplane(self):
        with kinetoscope.Server() as server:
            trace, contents = self.contents(server, 'host.xplane.pb', recordings.xplane())
            self.assertEqual(trace['format'], 'xplane')
            self.assertEqual({role: sums['count'] for role, sums in contents['roles'].items()}, {'kernel': 1, 'memcpy': 1, 'runtime': 1, 'operator': 1, 'host': 1})
            self.assertEqual(contents['roles']['kernel']['total_ns'], 3000)
            self.assertEqual((contents['links'], contents['devices'][0]['device'], contents['devices'][0]['window_ns']), ({'device_activities': 2, 'linked': 1}, 3, 7999))
            skipped = [('aggregate events', 1), ('plane /host:metadata', 1)]
            self.assertEqual([(s['what'], s['count']) for s in contents['skipped']], skipped)
            # A time is rounded first: what is then 0 is not negative.
            for short_ps, more in ((-5, []), (-600, [('negative duration', 1)])):
                _, contents = self.contents(server, 'short%d.xplane.pb' % short_ps, recordings.xplane(short_ps))
                self.assertEqual(sorted((s['what'], s['count']) for s in contents['skipped']), sorted(skipped + more), short_ps)
            launch = server.get('/api/v1/traces/%d/kernels' % trace['id'], group_by='launch').json()['rows'][0]
            self.assertEqual((launch['name'], launch['config'][:2]), ('fusion.1', ['[4, 2, 1]', '[64, 1, 1]']))
            cut, contents = self.contents(server, 'cut.xplane.pb', recordings.xplane()[:-3])
            self.assertEqual(([w['code'] for w in cut['warnings']], contents['roles']['kernel']['count']), (['truncated'], 1))

    def test_perfetto(self):
        with kinetoscope.Server() as server:
            trace, contents = self.contents(server, 'trace.pftrace', recordings.perfetto())
            self.assertEqual(contents['roles'], {'host': {'count': 2, 'total_ns': 120}, 'mark': {'count': 1, 'total_ns': 0}, 'counter': {'count': 1, 'total_ns': 0}})
            self.assertEqual({s['what']: s['count'] for s in contents['skipped']}, {'end without begin': 1, 'begin without end': 1, 'packet field 2': 1, 'packet field 41': 1})
            names = server.get('/api/v1/traces/%d/names' % trace['id']).json()['rows']
            self.assertEqual([(row['name'], row['total_ns']) for row in names], [('outer', 100), ('inner', 20)])

    def test_perfetto_compressed(self):
        """Packets in a packet: as they are, cut, damaged, beyond 16 times, and compressed twice."""
        def skipped(contents):
            return [s['reason'] for s in contents['skipped'] if s['what'] == 'packet field 50']

        with kinetoscope.Server() as server:
            _, plain = self.contents(server, 'plain.pftrace', recordings.perfetto())
            _, whole = self.contents(server, 'whole.pftrace', recordings.perfetto(zlib.compress))
            self.assertEqual((whole['roles'], whole['skipped']), (plain['roles'], plain['skipped']))
            _, cut = self.contents(server, 'cut.pftrace', recordings.perfetto(lambda packets: zlib.compress(packets)[:-8]))
            self.assertEqual((cut['roles']['mark']['count'], skipped(cut)), (1, ['compressed packets break off, or grow beyond 16 times']))
            tail = b'\x0a\x02\x08\x01' * 100000
            _, large = self.contents(server, 'large.pftrace', recordings.perfetto(lambda packets: zlib.compress(packets + tail)))
            self.assertEqual((large['roles']['host']['count'], skipped(large)), (2, ['compressed packets break off, or grow beyond 16 times']))
            _, twice = self.contents(server, 'twice.pftrace', recordings.perfetto(lambda packets: zlib.compress(packets + recordings.field(1, recordings.field(50, zlib.compress(packets))))))
            self.assertEqual((twice['roles'], skipped(twice)), (plain['roles'], ['packets that are compressed twice are not read']))
            _, bad = self.contents(server, 'bad.pftrace', recordings.perfetto(lambda packets: b'\xff' + zlib.compress(packets)))
            self.assertEqual(skipped(bad), ['the compressed packets are damaged'])

    def test_rpd(self):
        with kinetoscope.Server() as server:
            trace, contents = self.contents(server, 'run.rpd', recordings.rpd())
            self.assertEqual((trace['format'], contents['links']), ('rpd', {'device_activities': 2, 'linked': 2}))
            self.assertEqual({role: sums['count'] for role, sums in contents['roles'].items()}, {'kernel': 1, 'memcpy': 1, 'operator': 1, 'runtime': 2, 'counter': 1})
            base = '/api/v1/traces/%d/' % trace['id']
            launch, = server.get(base + 'kernels', group_by='launch').json()['rows']
            self.assertEqual((launch['name'], launch['operator']), ('gemm', 'aten::mm'))
            events = [server.get(base + 'events/%d' % at).json() for at in range(6)]
            self.assertEqual([(event['args']['grid'], event['args']['block']) for event in events if event['name'] == 'gemm'], [([8, 2, 1], [64, 1, 1])])
            self.assertEqual([event['args']['bytes'] for event in events if event['name'] == 'CopyHostToDevice'], [4096])
            self.assertEqual([event['args'] for event in events if event['name'] == 'aten::mm'], [{'Sequence number': 12, 'Input Dims': [[8, 4], [4, 2]]}])
            shapes = server.get(base + 'operators', group_by='name_shape').json()['rows']
            self.assertEqual([(row['name'], row['input_shape'], row['device_total_ns']) for row in shapes], [('aten::mm', '[[8, 4], [4, 2]]', 200)])

    def test_cut_databases(self):
        """What stands before the cut is read."""
        content = recordings.rocpd((2000,))
        with kinetoscope.Server() as server:
            whole, contents = self.contents(server, 'whole.db', content)
            self.assertEqual((whole['warnings'], contents['roles']['kernel']['count']), ([], 2000))
            for name, part in (('half', content[:len(content) * 6 // 10]), ('last', content[:-100]), ('packed', gzip.compress(content[:len(content) * 6 // 10]))):
                trace, contents = self.contents(server, name + '.db', part)
                self.assertEqual([w['code'] for w in trace['warnings']], ['database_damaged'], name)
                self.assertTrue(500 < contents['roles']['kernel']['count'] <= 2000, contents)

    def test_ends(self):
        """A missing last byte and what follows the end are told of, in each format that knows its end."""
        after = b' \n{"more": 1}'
        cases = ((recordings.rocprof()[:-1], ['truncated']), (recordings.rocprof()[:-2], ['truncated']), (recordings.rocprof() + b' \n', []), (recordings.rocprof() + after, ['trailing_data']),
                 (recordings.memory_timeline()[:-1], ['truncated']), (recordings.memory_timeline() + after, ['trailing_data']), (recordings.snapshot() + after, ['trailing_data']),
                 (recordings.nsys() + after, ['trailing_data']), (recordings.xplane() + after, ['truncated']), (recordings.perfetto() + after, ['truncated']))
        with kinetoscope.Server() as server:
            for number, (content, codes) in enumerate(cases):
                trace = upload(server, 'ends', '%d.raw' % number, content)
                self.assertEqual([w['code'] for w in trace['warnings']][:1], codes, (number, trace['format']))

    def test_only_memory_of_nsys(self):
        content = recordings.database('''CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS(start INT, globalPid INT, deviceId INT, address INT, bytes INT, memoryOperationType INT);
            INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES(10,1,0,4096,512,0),(20,1,0,4096,512,1);''')
        with kinetoscope.Server() as server:
            trace, contents = self.contents(server, 'memory.sqlite', content)
            self.assertEqual((trace['format'], contents['roles']), ('nsys-sqlite', {'memory': {'count': 2, 'total_ns': 0}}))

    def test_nodes_of_rocpd(self):
        """Agents of two nodes have one type_index: they are two devices, not one."""
        content = recordings.rocpd((3,), recordings.TWO_NODES)
        with kinetoscope.Server() as server:
            devices = self.contents(server, 'nodes.db', content)[1]['devices']
            self.assertEqual([(row['device'], row['activities']) for row in devices], [(0, 1), (1, 1), (2, 1)])

    def test_sessions_of_rocpd(self):
        with kinetoscope.Server() as server:
            for counts, kernels, left in (((1, 2), 1, [2]), ((0, 2), 2, []), ((0, 3, 1, 2), 3, [1, 2])):
                trace, contents = self.contents(server, '%d kernels.db' % kernels, recordings.rocpd(counts))
                self.assertEqual((trace['format'], contents['roles']['kernel']['count'], [row['count'] for row in contents['skipped']]), ('rocpd-db', kernels, left))
                self.assertTrue(all('session' in row['reason'] for row in contents['skipped']))

    def test_rocprof(self):
        with kinetoscope.Server() as server:
            trace, contents = self.contents(server, 'results.json', recordings.rocprof())
            self.assertEqual({role: sums['count'] for role, sums in contents['roles'].items()}, {'kernel': 1, 'communication': 1, 'memcpy': 1, 'runtime': 1})
            self.assertEqual((contents['devices'][0]['device'], contents['links']['linked']), (2, 1))
            launches = server.get('/api/v1/traces/%d/kernels' % trace['id'], group_by='launch').json()['rows']
            self.assertEqual({(row['name'], row['config'][0]) for row in launches}, {('gemm(float)', '[4, 1, 1]'), ('ncclDevKernel_Generic', '[4, 1, 1]')})
            cut, contents = self.contents(server, 'cut.json', recordings.rocprof()[:1200])
            self.assertEqual([w['code'] for w in cut['warnings']][:1], ['truncated'])


    def test_counters_of_rocprof(self):
        with kinetoscope.Server() as server:
            trace, contents = self.contents(server, 'counted.json', recordings.rocprof_counters())
            self.assertEqual((contents['roles']['kernel'], contents['links']['linked']), ({'count': 2, 'total_ns': 800}, 2))
            base = '/api/v1/traces/%d/' % trace['id']
            events = [server.get(base + 'events/%d' % at).json() for at in range(trace['events'])]
            self.assertEqual([{key: event['args'].get(key) for key in ('SQ_WAVES', 'GPUBusy')} for event in events if event['name'] == 'gemm(float)'],
                             [{'SQ_WAVES': 10, 'GPUBusy': 90.5}, {'SQ_WAVES': 20, 'GPUBusy': 50}])
            rows = server.get(base + 'kernels', group_by='metric', sort='metric').json()['rows']
            self.assertEqual(rows, [{'name': 'gemm(float)', 'metric': 'GPUBusy', 'calls': 2, 'mean': 70.25, 'mean_by_time': (90.5 * 500 + 50 * 300) / 800, 'min': 50, 'max': 90.5},
                                    {'name': 'gemm(float)', 'metric': 'SQ_WAVES', 'calls': 2, 'mean': 15, 'mean_by_time': 13.75, 'min': 10, 'max': 20}])

    def test_processes_of_rocprof(self):
        with kinetoscope.Server() as server:
            content = recordings.rocprof_processes()
            traces = kinetoscope.uploaded(server.put('recordings', 'all.json', content))
            self.assertEqual([trace['worker'] for trace in traces], ['all/12', 'all/14', 'all/process 4'])
            for trace in traces:
                base = '/api/v1/traces/%d/' % trace['id']
                self.assertEqual((trace['format'], server.get(base + 'contents').json()['links']), ('rocprofv3-json', {'device_activities': 3, 'linked': 1}))
                self.assertEqual({server.get(base + 'events/%d' % at).json()['name'] for at in range(trace['events'])},
                                 {'gemm(float)', 'ncclDevKernel_Generic', 'memory copy', 'hipLaunchKernel'})
            cut = kinetoscope.uploaded(server.put('cut', 'all.json', content[:content.index(b'"pid": 14') + 2]))
            self.assertEqual([(trace['worker'], [w['code'] for w in trace['warnings']]) for trace in cut], [('all', ['truncated'])])
            answer = server.put('none', 'all.json', recordings.rocprof({}, {}))
            self.assertIn('--kernel-trace', answer.body.decode())


class Operators(unittest.TestCase):
    """Device time reaches the operators that a recorder names [FMT-0.5]."""

    def operators(self, server, name, content):
        trace = upload(server, 'operators', name, content)
        rows = server.get('/api/v1/traces/%d/operators' % trace['id'], limit=0).json()['rows']
        return trace, {row['name']: (row['calls'], row['host_total_ns'], row['device_self_ns'], row['device_total_ns']) for row in rows}

    def launches(self, server, trace):
        rows = server.get('/api/v1/traces/%d/launches' % trace['id']).json()['rows']
        return [(row['name'], row['kernel'], row['launch_delay_ns']) for row in rows]

    def test_nsight(self):
        with kinetoscope.Server() as server:
            trace, operators = self.operators(server, 'report.sqlite', recordings.nsys())
            self.assertEqual(operators, {'iteration 7': (1, 900, 0, 150), 'iteration 8': (1, 900, 100, 100), 'forward': (1, 400, 50, 150), 'matmul': (1, 150, 100, 100), 'other': (1, 0, 0, 0)})
            steps = server.get('/api/v1/traces/%d/steps' % trace['id']).json()['rows']
            self.assertEqual([(step['name'], step['duration_ns'], step['kernel_ns']) for step in steps], [('7', 900, 150), ('8', 900, 100)])
            self.assertEqual(self.launches(server, trace)[:2], [('cudaLaunchKernel', 'gemm', 40), ('cudaLaunchKernel', 'ncclDevKernel_AllReduce', 80)])
            contents = server.get('/api/v1/traces/%d/contents' % trace['id']).json()
            self.assertEqual({role: sums['count'] for role, sums in contents['roles'].items()}, {'kernel': 3, 'communication': 1, 'annotation': 5, 'runtime': 4})
            self.assertEqual((contents['links'], contents['skipped'][0]['what']), ({'device_activities': 4, 'linked': 4}, 'range without end'))

    def test_xla(self):
        with kinetoscope.Server() as server:
            trace, operators = self.operators(server, 'host.xplane.pb', recordings.xplane())
            self.assertEqual(operators, {'fusion.7': (1, 500, 3000, 3000), 'jit_step': (1, 4000, 0, 3000)})
            self.assertEqual(self.launches(server, trace), [('hipLaunchKernel', 'fusion.1', 501)])

    def test_ascend(self):
        with kinetoscope.Server() as server:
            for name, content, host_ns, work_ns, launch in (
                    ('trace_view.json', recordings.ascend_trace(), 50000, 100500, ('AscendCL@launch', 'MatMulV2', 75125)),
                    ('ascend_pytorch_profiler_0.db', recordings.ascend_database(), 500, 600, ('launch', 'MatMulV2', 360))):
                trace, operators = self.operators(server, name, content)
                self.assertEqual(operators, {'aten::mm': (1, host_ns, work_ns, work_ns)})
                self.assertEqual(self.launches(server, trace)[0], launch)
                efficiency = server.get('/api/v1/traces/%d/efficiency' % trace['id']).json()
                self.assertEqual(efficiency['rows'][0]['name'], 'aten::mm')
                nodes = server.get('/api/v1/traces/%d/flame-graph' % trace['id'], by='operator', weight='device').json()['nodes']
                self.assertEqual([(node['name'], nodes[node['parent']]['name']) for node in nodes if node['name'] == 'MatMulV2'], [('MatMulV2', 'aten::mm')])
            trace = upload(server, 'operators', 'x.db', recordings.ascend_database())['id']
            launch, = [row for row in server.get('/api/v1/traces/%d/kernels' % trace, group_by='launch').json()['rows'] if row['name'] == 'MatMulV2']
            self.assertEqual(launch['config'], ['AI_CORE', '24, mix 48', '8,8;8,8', ''])

    def test_inputs_of_ascend(self):
        with kinetoscope.Server() as server:
            base = '/api/v1/traces/%d/' % upload(server, 'ascend', 'trace_view.json', recordings.ascend_trace())['id']
            self.assertEqual([row['input_shape'] for row in server.get(base + 'operators', group_by='name_shape').json()['rows']], ['[[8, 16], [16, 4], []]'])
            self.assertEqual([row['call_stack'] for row in server.get(base + 'operators', group_by='name_stack').json()['rows']], ['a.py(3): f;b.py(7): g'])
            multiplied = server.get(base + 'efficiency').json()['rows'][0]
            self.assertEqual((multiplied['name'], multiplied['flops'], multiplied['precision']), ('aten::mm', 2 * 8 * 16 * 4, 'fp32'))


class Devices(unittest.TestCase):
    """What a file says of devices and recorder [FMT-0.6] [FMT-1.1a] [FMT-2.2a]."""

    def test_environment(self):
        wanted = {('results.json', 'rocprof'): {'deviceProperties.name': 'AMD Instinct MI300X', 'deviceProperties.computeCapability': '9.4', 'recorder': 'rocprofv3'},
                  ('host.xplane.pb', 'xplane'): {'deviceProperties.name': 'AMD GPU', 'recorder': 'XLA'},
                  ('folder.tar', 'ascend_folder'): {'record_shapes': 'True', 'common_config.activities': "['NPU']", 'experimental_config._profiler_level': 'Level1', 'start_info.freq': '100', 'recorder': 'torch_npu'}}
        with kinetoscope.Server() as server:
            for (name, maker), values in wanted.items():
                trace = upload(server, 'devices', name, getattr(recordings, maker)())
                overview = server.get('/api/v1/traces/%d/overview' % trace['id']).json()
                said = {row['name']: row['value'] for row in overview['environment']}
                self.assertEqual({key: said.get(key) for key in values}, values)

    def test_another_kind_of_device_is_not_comparable(self):
        with kinetoscope.Server() as server:
            name, content = kinetoscope.fixture('cuda_training')
            sides = {'base': upload(server, 'gpu', name, content)['id'], 'candidate': upload(server, 'npu', 'folder.tar', recordings.ascend_folder())['id']}
            answer = server.get('/api/v1/diff/summary', **sides).json()
            said = {fact['name']: fact['candidate'] for fact in answer['environment']}
            self.assertEqual((answer['comparable'], said['device'], said['profiler'], said['profiler_options']), (False, 'NPU', 'torch_npu', 'record_shapes'))


class Missing(unittest.TestCase):
    """What a file lacks, and the option of its recorder that would have recorded it [FMT-0.6]."""

    def test_by_recorder(self):
        wanted = {
            ('trace_view.json', 'ascend_trace'): {'op_types': 'upload the whole *_ascend_pt folder for op types and memory', 'memory': 'profile_memory=True; upload the whole *_ascend_pt folder'},
            ('ascend_pytorch_profiler_0.db', 'ascend_database'): {'steps': 'schedule=torch_npu.profiler.schedule(wait=1, warmup=1, active=3), and prof.step() once a step',
                                                                  'call_stacks': 'with_stack=True', 'memory': 'profile_memory=True; upload the whole *_ascend_pt folder'},
            ('report.sqlite', 'nsys'): {'memory': '--cuda-memory-usage=true'},
            ('results.json', 'rocprof'): {'operators': 'rocprofv3 --marker-trace'}}
        with kinetoscope.Server() as server:
            for (name, maker), options in wanted.items():
                trace = upload(server, 'missing', name, getattr(recordings, maker)())
                missing = server.get('/api/v1/traces/%d/overview' % trace['id']).json()['health']['missing']
                self.assertEqual({row['view']: row['record'] for row in missing if row['view'] != 'distributed'}, options)
            self.assertEqual(upload(server, 'missing', 'trace_view.json', recordings.ascend_trace())['device_type'], 'NPU')


class Ascend(unittest.TestCase):
    ROLES = {'kernel': 1, 'communication': 1, 'memcpy': 1, 'operator': 1, 'step': 1, 'runtime': 1, 'host': 1, 'device_other': 2, 'counter': 1}

    def test_trace_alone(self):
        with kinetoscope.Server() as server:
            trace = upload(server, 'ascend', 'trace_view.json', recordings.ascend_trace())
            self.assertEqual((trace['format'], trace['warnings'], trace['steps']), ('ascend-pytorch', [], 1))
            contents = server.get('/api/v1/traces/%d/contents' % trace['id']).json()
            self.assertEqual({role: sums['count'] for role, sums in contents['roles'].items()}, self.ROLES)
            self.assertEqual(contents['links'], {'device_activities': 3, 'linked': 1})
            self.assertEqual(contents['devices'], [{'device': 0, 'activities': 3, 'window_ns': 149875, 'busy_ns': 149875 + 0, 'idle_ns': 0, 'computation_ns': 100500, 'communication_ns': 100000,
                                                    'overlap_ns': 50625, 'exposed_communication_ns': 49375, 'free_ns': 0}])
            kernels = server.get('/api/v1/traces/%d/kernels' % trace['id']).json()
            self.assertEqual({row['name']: row['total_ns'] for row in kernels['rows']}, {'MatMulV2': 100500, 'hcom_allReduce_': 100000})

    def test_folder(self):
        with kinetoscope.Server() as server:
            answer = server.put('ascend', 'folder.tar', recordings.ascend_folder())
            trace, = kinetoscope.uploaded(answer)
            self.assertEqual((trace['format'], trace['worker']), ('ascend-pytorch', 'job_rank3_ascend_pt'))
            self.assertIn('memory that was taken before the recording', trace['warnings'][0]['message'])
            base = '/api/v1/traces/%d/' % trace['id']
            contents = server.get(base + 'contents').json()
            self.assertEqual({role: sums['count'] for role, sums in contents['roles'].items()}, {**self.ROLES, 'memory': 2})
            self.assertEqual((contents['devices'][0]['device'], [c['name'] for c in contents['collectives']]), (3, ['hcom_allReduce_']))
            self.assertEqual([contents['collectives'][0][key] for key in ('start_ns', 'elapse_ns', 'transit_ns')], [150000, 100000, 20])
            types = server.get(base + 'kernels', group_by='op_type', limit=1).json()
            self.assertEqual(types['sums'], {'calls': 2, 'total_ns': 102750})
            types = server.get(base + 'kernels', group_by='op_type').json()['rows']
            self.assertEqual([(row['name'], row['core'], row['total_ns']) for row in types], [('MatMul', 'AI_CORE', 100500), ('Cast', None, 2250)])
            events = [server.get(base + 'events/%d' % at).json() for at in range(trace['events'])]
            said = {'Type': 'MatMul', 'Accelerator Core': 'AI_CORE', 'Input Shapes': '8,8;8,8', 'Block Dim': 24, 'aic_mac_ratio': 0.625}
            self.assertEqual([{key: value for key, value in event['args'].items() if key in said or key in ('Name', 'aiv_vec_ratio')} for event in events if event['name'] == 'MatMulV2'], [said])
            self.assertEqual([event['name'] for event in events if 'Block Dim' in event.get('args', {})], ['MatMulV2'])
            launches = server.get(base + 'kernels', group_by='launch').json()
            self.assertEqual((launches['config_labels'], {row['name']: row['config'] for row in launches['rows']}['MatMulV2']), (['Core', 'Block dim', 'Input shapes', 'Output shapes'], ['AI_CORE', '24', '8,8;8,8', '']))
            alone = upload(server, 'ascend', 'trace_view.json', recordings.ascend_trace())
            self.assertEqual(server.get('/api/v1/traces/%d/kernels' % alone['id'], group_by='launch').json()['config_labels'], [])
            metrics = server.get(base + 'kernels', group_by='metric', sort='metric').json()['rows']
            self.assertEqual([(row['name'], row['metric'], row['mean']) for row in metrics], [('MatMulV2', 'aic_mac_ratio', 0.625), ('x', 'aic_mac_ratio', 0.5), ('x', 'aiv_vec_ratio', 0)])
            memory = server.get(base + 'memory').json()
            self.assertEqual([(row['name'], row['allocations'], row['allocated_bytes'], row['self_size_bytes']) for row in memory['rows']], [('aten::mm', 2, 2560, 2048)])
            self.assertEqual([(d['device'], d['peak_bytes'], d['reserved_peak_bytes'], d['records']) for d in memory['devices']], [('NPU:3', 1572864, 8388608, 2)])
            curve, = server.get(base + 'memory/curve').json()['devices']
            self.assertEqual((curve['device'], curve['total_points'], curve['peak'][1]), ('NPU:3', 2, 1572864))
            self.assertEqual([curve['component']] + [(of['component'], of['total_points'], of['points'][0][1:], of['peak'][1]) for of in curve['components']],
                             ['PTA', ('APP', 1, [None, 9437184], 9437184), ('GE', 1, [2097152, 3145728], 2097152)])
            (first, *had), (second, *later) = curve['points']
            self.assertEqual((second - first, had, later), (1000, [1572864, 4194304], [262144, 8388608]))

    def test_roles_by_the_table(self):
        """Only the categories of the table go before the process: others of PyTorch say nothing, and a mark has no duration."""
        def slice_of(name, pid, cat, dur=2):
            return {'ph': 'X', 'name': name, 'pid': pid, 'tid': 1, 'ts': '1000300.000', 'dur': dur, 'cat': cat, 'args': {}}

        more = [slice_of('region', 1, 'user_annotation'), slice_of('k', 1, 'kernel'), slice_of('call', 2, 'x', -3), {**slice_of('m', 1, 'x'), 'ph': 'i'}]
        with kinetoscope.Server() as server:
            before, after = (server.get('/api/v1/traces/%d/contents' % upload(server, 'r%d' % len(extra), 'trace_view.json', json.dumps(recordings.ascend_events() + extra).encode())['id']).json()
                             for extra in ([], more))
            counts = {role: sums['count'] - before['roles'].get(role, {'count': 0})['count'] for role, sums in after['roles'].items()}
            self.assertEqual({role: count for role, count in counts.items() if count}, {'host': 2, 'runtime': 1, 'mark': 1})
            self.assertEqual((after['roles']['mark']['total_ns'], after['devices']), (0, before['devices']))
            self.assertEqual((before['skipped'], [(row['what'], row['count']) for row in after['skipped']]), ([], [('negative duration', 1)]))

    def test_positions_count_from_the_first_counter(self):
        """Everything that stands somewhere in a folder moves by as much as its first counter is before its first slice."""
        files = recordings.unpacked(recordings.ascend_folder())
        path = next(path for path in files if path.endswith('trace_view.json'))
        events = json.loads(files[path])
        for event in events:
            event.update({'ts': '999990.000'} if event['ph'] == 'C' else {})
        files[path] = json.dumps(events).encode()
        with kinetoscope.Server() as server:
            found = []
            for run, content in (('one', recordings.ascend_folder()), ('two', recordings.archive(files, 'tar'))):
                trace = upload(server, run, 'folder.tar', content)
                base = '/api/v1/traces/%d/' % trace['id']
                step, = server.get(base + 'steps').json()['rows']
                timeline = server.get(base + 'timeline').json()
                curve, = server.get(base + 'memory/curve').json()['devices']
                spot = server.get(base + 'events/%d' % next(at for at in range(trace['events']) if server.get(base + 'events/%d' % at).json()['name'] == 'MatMulV2')).json()
                found.append([step['start_ns'], step['device_start_ns'], server.get(base + 'contents').json()['collectives'][0]['start_ns'], curve['points'][0][0], spot['start_ns'],
                              -int(server.get('/api/v1/traces/%d' % trace['id']).json()['start_clock_ns']), timeline['end_ns']])
            self.assertEqual([late - early for early, late in zip(*found)], [10000] * 7)
            self.assertEqual(found[1][:2], [10000, 110125])


    def test_long_folder(self):
        """Events that begin in one window of the file and end in the next keep every byte."""
        files = recordings.unpacked(recordings.ascend_folder())
        view, = [path for path in files if path.endswith('trace_view.json')]
        filling = b''.join(b'{"ph": "X", "name": "call %d", "pid": 5, "tid": 6, "ts": "%d.125", "dur": 1, "cat": "python_function", "args": {"Python id": %d}},\n' % (i, 1000000 + i, i)
                           for i in range(8000))
        at = files[view].index(b'[') + 1
        with kinetoscope.Server() as server:
            short, = kinetoscope.uploaded(server.put('ascend', 'short.tar', recordings.archive(files, 'tar')))
            files[view] = files[view][:at] + filling + files[view][at:]
            trace, = kinetoscope.uploaded(server.put('ascend', 'long.tar', recordings.archive(files, 'tar')))
            self.assertEqual((trace['events'], trace['warnings']), (short['events'] + 8000, short['warnings']))
            found = json.loads(gzip.decompress(server.get('/api/v1/traces/%d/trace.json.gz' % trace['id']).body))['traceEvents']
            self.assertEqual([str(event['args']['Block Dim']) for event in found if event['name'] == 'MatMulV2'], ['24'])
            self.assertEqual([event['args']['Python id'] for event in found if event['name'].startswith('call ')], list(range(8000)))

    def test_broken_tables(self):
        broken = {'kernel_details.csv': (b'Step Id,Name,Type,Accelerator Core,Duration(us)\n4,a,Cast,AI_CORE,2.5\t\n\n4,"b\n,c",Cast,AI_CORE,2x5\n', 'line 4, column 5 (Duration(us)): no number'),
                  'operator_memory.csv': (b'Name,Size(KB),Allocation Time(us)\naten::mm,0.5,N/A\naten::mm,0.5', 'line 3, column 3 (Allocation Time(us)): the line ends before it'),
                  'memory_record.csv': (b'Component,Timestamp(us)\nPTA,1\n', 'line 1: no column Total Allocated(MB)'),
                  'communication.json': (b'{"step": {\n"collective": {x}}}', 'line 2, column 16: no JSON')}
        self.check_left_out(broken)
        self.check_left_out({'kernel_details.csv': (b'Name,Type,Accelerator Core,Duration(us),Block Dim,aic_mac_ratio\na,Cast,AI_CORE,2.5,1,0.5\na,Cast,AI_CORE,2.5,1', 'line 3, column 5: the table ends within the line'),
                             'operator_memory.csv': ('Name,Size(KB)\n'.encode('utf-16'), 'text in UTF-16: save it as UTF-8')})

    def check_left_out(self, broken):
        files = recordings.unpacked(recordings.ascend_folder())
        files.update((path, broken[path.rsplit('/', 1)[-1]][0]) for path in files if path.rsplit('/', 1)[-1] in broken)
        with kinetoscope.Server() as server:
            trace, = kinetoscope.uploaded(server.put('ascend', 'broken.tar', recordings.archive(files, 'tar')))
            self.assertEqual([(w['code'], w['count']) for w in trace['warnings']], [('table_left_out', len(broken))])
            base = '/api/v1/traces/%d/' % trace['id']
            contents = server.get(base + 'contents').json()
            self.assertEqual({s['what']: s['reason'] for s in contents['skipped']}, {name: reason for name, (_, reason) in broken.items()})
            self.assertEqual((contents['roles']['kernel']['count'], len(contents['collectives']), server.get(base + 'kernels', group_by='op_type').json()['total']),
                             (1, 'communication.json' not in broken, 0))

    def tables_of(self, server, trace):
        base = '/api/v1/traces/%d/' % trace['id']
        return (trace['rank'], server.get(base + 'kernels', group_by='op_type').json()['total'], server.get(base + 'memory').json()['total'],
                [c['name'] for c in server.get(base + 'contents').json()['collectives']])

    def test_folders_by_content(self):
        """Whatever a folder is called, and however its members are packed."""
        files = recordings.unpacked(recordings.ascend_folder())
        whole = (3, 2, 1, ['hcom_allReduce_'])
        forms = {'packed': ({path + '.gz': gzip.compress(content) for path, content in files.items()}, 'job_rank3_ascend_pt'),
                 'renamed': ({path.replace('job_rank3_ascend_pt', 'today'): content for path, content in files.items()}, 'today'),
                 'raw beside': ({**{path.replace('job_rank3_ascend_pt', 'today'): content for path, content in files.items()}, 'today/PROF_1/host/x.json': b'{}', 'today/logs/y.txt': b'y'}, 'today'),
                 'at the root': ({path.replace('job_rank3_ascend_pt/', ''): content for path, content in files.items()}, 'trace_view'),
                 'flat': ({'x/' + path.rsplit('/', 1)[-1]: content for path, content in files.items()}, 'x'),
                 'upper case': ({path.replace('kernel_details.csv', 'KERNEL_DETAILS.CSV'): content for path, content in files.items()}, 'job_rank3_ascend_pt'),
                 'marked': ({path: b'\xef\xbb\xbf' + content for path, content in files.items()}, 'job_rank3_ascend_pt'),
                 'other headers': ({path: content.replace(content.split(b'\n')[0], content.split(b'\n')[0].upper()) if path.endswith('csv') else content for path, content in files.items()}, 'job_rank3_ascend_pt')}
        with kinetoscope.Server() as server:
            for name, (members, worker) in forms.items():
                answer = server.put(name, 'all.tar', recordings.archive(members, 'tar'))
                trace, = kinetoscope.uploaded(answer)
                self.assertEqual((trace['worker'], [w['code'] for w in trace['warnings']], answer.json()['errors']), (worker, ['no_timestamp'], []), name)
                self.assertEqual(self.tables_of(server, trace), whole, name)

    def test_folders_of_one_name(self):
        folder = recordings.unpacked(recordings.ascend_folder(3))
        other = {path: content.replace(b'"rank_id": 3', b'"rank_id": 7') for path, content in folder.items()}
        both = {**{'node0/' + path: content for path, content in folder.items()}, **{'node1/' + path: content for path, content in other.items()}}
        with kinetoscope.Server() as server:
            traces = kinetoscope.uploaded(server.put('ascend', 'both.tar', recordings.archive(both, 'tar')))
            self.assertEqual([(trace['worker'], [w['code'] for w in trace['warnings']]) for trace in traces], [('node%d/job_rank3_ascend_pt' % node, ['no_timestamp']) for node in (0, 1)])
            self.assertEqual([self.tables_of(server, trace) for trace in traces], [(rank, 2, 1, ['hcom_allReduce_']) for rank in (3, 7)])

    def test_what_could_not_be_used(self):
        files = recordings.unpacked(recordings.ascend_folder())
        view, = [path for path in files if path.endswith('trace_view.json')]
        with kinetoscope.Server() as server:
            apart = {('a/' if path == view else 'b/') + path.rsplit('/', 1)[-1]: content for path, content in files.items()}
            trace, = kinetoscope.uploaded(server.put('apart', 'all.tar', recordings.archive(apart, 'tar')))
            left, = server.get('/api/v1/traces/%d/contents' % trace['id']).json()['skipped']
            self.assertEqual((left['what'], left['count'], 'folder of trace_view.json' in left['reason'], [w['code'] for w in trace['warnings']]), ('b', 5, True, ['table_left_out']))
            answer = server.put('raw', 'all.tar', recordings.archive({path: content for path, content in files.items() if path != view}, 'tar'))
            self.assertEqual((answer.status, 'analyse()' in answer.json()['detail']), (422, True))
            twice = server.put('twice', 'all.tar', recordings.archive({**files, view + '.gz': gzip.compress(files[view])}, 'tar'))
            trace, = kinetoscope.uploaded(twice)
            self.assertEqual(([w['code'] for w in trace['warnings']], [(e['member'], 'another trace_view.json' in e['detail']) for e in twice.json()['errors']]), (['no_timestamp'], [(view + '.gz', True)]))
            alone = server.put('alone', 'kernel_details.csv', files[view.replace('trace_view.json', 'kernel_details.csv')])
            self.assertEqual((alone.status, 'upload the folder that it is from' in alone.json()['detail']), (415, True))

    def test_two_ranks(self):
        folders = {**recordings.unpacked(recordings.ascend_folder(3)), **recordings.unpacked(recordings.ascend_folder(4))}
        with kinetoscope.Server() as server:
            traces = kinetoscope.uploaded(server.put('ascend', 'both.tar', recordings.archive(folders, 'tar')))
            self.assertEqual([(trace['worker'], trace['rank'], trace['format']) for trace in traces],
                             [('job_rank3_ascend_pt', 3, 'ascend-pytorch'), ('job_rank4_ascend_pt', 4, 'ascend-pytorch')])


class AscendInPart(unittest.TestCase):
    def test_names_cut_off(self):
        """Names of processes stand behind the events: without them tasks and flows say what is what."""
        whole = recordings.ascend_trace()
        with kinetoscope.Server() as server:
            trace = upload(server, 'cut', 'trace_view.json', whole[:whole.index(b'{"ph": "M"')])
            contents = server.get('/api/v1/traces/%d/contents' % trace['id']).json()
            self.assertEqual((trace['format'], [w['code'] for w in trace['warnings']]), ('ascend-pytorch', ['truncated']))
            self.assertEqual({role: contents['roles'][role]['count'] for role in ('kernel', 'memcpy', 'runtime', 'device_other')}, {'kernel': 1, 'memcpy': 1, 'runtime': 1, 'device_other': 1})
            self.assertEqual(contents['links']['linked'], 1)

    def test_many_kernels(self):
        """A row of a kernel counts once: a small file with many of them is not taken for a damaged one."""
        content = recordings.ascend_database(more='''WITH RECURSIVE k(n) AS (SELECT 9 UNION ALL SELECT n+1 FROM k WHERE n<30000)
            INSERT INTO COMPUTE_TASK_INFO SELECT 4,n,6,5,24,48,8 FROM k;''')
        with kinetoscope.Server() as server:
            self.assertEqual(upload(server, 'many', 'ascend_pytorch_profiler_0.db', content)['warnings'], [])

    def test_absent_type(self):
        """A column that is absent is no id 0 of a text."""
        content = recordings.ascend_database(more='''ALTER TABLE COMPUTE_TASK_INFO RENAME COLUMN opType TO otherwise; INSERT INTO STRING_IDS VALUES(0,'of another');''')
        with kinetoscope.Server() as server:
            trace = upload(server, 'absent', 'ascend_pytorch_profiler_0.db', content)
            rows = server.get('/api/v1/traces/%d/kernels' % trace['id'], group_by='op_type').json()['rows']
            self.assertEqual([row['name'] for row in rows], [None])


class OldProfiler(unittest.TestCase):
    """torch.autograd.profiler without Kineto, as PyTorch 1.13 wrote it [FMT-10a]."""

    def test_recorded(self):
        content = (kinetoscope.FIXTURES / 'recorded' / 'autograd_1_13.json').read_bytes()
        with kinetoscope.Server() as server:
            base = '/api/v1/traces/%d/' % upload(server, 'old', 'old.json', content)['id']
            contents = server.get(base + 'contents').json()
            events = json.loads(content)
            self.assertEqual(contents['roles'], {'operator': {'count': len(events), 'total_ns': 1000 * sum(event['dur'] for event in events)}})
            self.assertEqual(server.get(base + 'operators', q='aten::addmm').json()['rows'][0]['calls'], 1)


class Stacks(unittest.TestCase):
    """Stacks with weights are slices within slices, and have a flame graph [FMT-8]."""

    def read(self, server, name, content):
        trace = upload(server, 'stacks', name, content)
        names = server.get('/api/v1/traces/%d/names' % trace['id'], limit=0).json()['rows']
        skipped = server.get('/api/v1/traces/%d/contents' % trace['id']).json()['skipped']
        return trace, {row['name']: (row['calls'], row['total_ns']) for row in names}, {row['what']: row['count'] for row in skipped}

    def test_collapsed(self):
        with kinetoscope.Server() as server:
            trace, names, skipped = self.read(server, 'stacks.txt', recordings.collapsed())
            self.assertEqual((trace['format'], skipped), ('collapsed-stacks', {'line that is no stack': 1}))
            self.assertEqual(names, {'main': (1, 10), 'step': (2, 8), 'gemm': (2, 7), 'relu': (1, 1), 'log': (1, 2)})
            flame = server.get('/api/v1/traces/%d/flame-graph' % trace['id']).json()
            self.assertEqual({node['name']: (node['total_ns'], node['self_ns']) for node in flame['nodes'] if node['name'] in ('main', 'step', 'gemm')},
                             {'main': (10, 0), 'step': (8, 0), 'gemm': (7, 7)})

    def test_speedscope(self):
        with kinetoscope.Server() as server:
            trace, names, skipped = self.read(server, 'profile.speedscope.json', recordings.speedscope())
            self.assertEqual((trace['format'], skipped), ('speedscope', {'end without begin': 2}))
            self.assertEqual(names, {'main': (2, 16000000), 'step': (1, 4500000), 'train.py(7): gemm': (2, 5000000)})
            self.assertEqual(self.read(server, 'plain.json', recordings.speedscope('none'))[1]['main'], (2, 17))
            cut = recordings.speedscope()
            self.assertEqual(server.put('stacks', 'cut.json', cut[:cut.index(b'"shared"')]).status, 422)

    def test_proton(self):
        with kinetoscope.Server() as server:
            trace, names, _ = self.read(server, 'proton.hatchet', recordings.proton())
            self.assertEqual(trace['format'], 'proton')
            self.assertEqual(names, {'ROOT': (1, 800), 'forward': (1, 750), 'gemm': (1, 500), 'softmax': (1, 250), 'copy': (1, 50)})
            cut = upload(server, 'stacks', 'cut.hatchet', recordings.proton()[:330])
            self.assertEqual([w['code'] for w in cut['warnings']], ['truncated'])
            deep = b'[' + b'{"children": [' * 100000
            self.assertEqual(server.put('stacks', 'deep.hatchet', deep).status, 422)


class Zip(unittest.TestCase):
    """A zip archive reads as the tar of its files [FMT-0.4e]."""

    def test_folder(self):
        with kinetoscope.Server() as server:
            folder = recordings.unpacked(recordings.ascend_folder())
            trace, = kinetoscope.uploaded(server.put('zip', 'folder.zip', recordings.archive(folder)))
            self.assertEqual((trace['format'], trace['worker'], 'memory' in trace['views']), ('ascend-pytorch', 'job_rank3_ascend_pt', True))

    def test_names_and_damage(self):
        files = {'deep/' + 'x' * 150 + '/one.json': recordings.ascend_trace(), 'two.pickle': recordings.snapshot(), 'notes.txt': b'hello'}
        whole = recordings.archive(files)
        with kinetoscope.Server() as server:
            answer = server.put('zip', 'all.zip', whole).json()
            self.assertEqual([trace['format'] for trace in answer['traces']], ['ascend-pytorch', 'memory-snapshot'])
            self.assertEqual([error['member'] for error in answer['errors']], ['notes.txt'])
            cut = server.put('zip', 'cut.zip', whole[:len(whole) - 200]).json()
            self.assertEqual([trace['format'] for trace in cut['traces']], ['ascend-pytorch', 'memory-snapshot'])
            self.assertEqual(server.put('zip', 'short.zip', whole[:200]).status, 422)
            self.assertEqual(server.put('zip', 'empty.zip', recordings.archive({})).status, 415)

    def test_bombs(self):
        """One file as a thousand members, and one that packs too well."""
        one = recordings.archive({'a.json': b'[' + b' ' * (4 << 20)})
        at, end = one.rfind(b'PK\x01\x02'), one.rfind(b'PK\x05\x06')
        entries = b''.join(one[at:at + 46] + b'%06d' % i + one[at + 52:end] for i in range(1000))
        overlapping = one[:at] + entries + struct.pack('<4s4H2IH', b'PK\x05\x06', 0, 0, 1000, 1000, len(entries), at, 0)
        with kinetoscope.Server() as server:
            self.assertEqual(server.put('zip', 'overlap.zip', overlapping).status, 413)
            self.assertEqual(server.put('zip', 'bomb.zip', recordings.archive({'a.json': b'[' + b' ' * (80 << 20)})).status, 413)


class Reference(unittest.TestCase):
    def test_golden_figures(self):
        kinetoscope.check_reference(self, 'formats_check.py')


kinetoscope.main()
