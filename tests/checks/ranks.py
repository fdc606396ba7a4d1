#!/usr/bin/env python3
"""A run of many ranks: collectives, clocks, stragglers, pipeline and what-if whose answers are known; the reference's cases where they are."""
import contextlib
import gzip
import json
import os
import sqlite3
import unittest

import kinetoscope

STEP_NS = 1000000
END_NS = 400000
BASE_NS = 1700000000000000000
# By rank: how far its clock is ahead, when it arrives in a step, how long its kernel takes before.
RANKS = ((0, 100000, 80000), (3000000000, 250000, 200000), (-45000, 110000, 90000), (7, 120000, 85000))
CULPRIT = 1
STEPS = 4


def rank_trace(rank, clock=0, **extra):
    """Kineto JSON of one rank: steps that begin at the same moment, each with one kernel and one all-reduce that all ranks leave together."""
    ahead, arrive, compute = RANKS[rank]
    events = []

    def put(category, name, start, duration, tid, **args):
        events.append({'ph': 'X', 'cat': category, 'name': name, 'pid': rank, 'tid': tid, 'ts': (start + ahead + clock) / 1000, 'dur': duration / 1000, 'args': args})
    for step in range(STEPS):
        begin = step * STEP_NS
        put('user_annotation', 'ProfilerStep#%d' % (10 + step), begin, STEP_NS, 1)
        put('kernel', 'gemm', begin + 10000, compute, 7, device=0, stream=7)
        put('kernel', 'ncclDevKernel_AllReduce_Sum_f32_RING_LL', begin + arrive, END_NS - arrive, 20, device=0, stream=20,
            **{'Collective name': 'allreduce', 'In msg nelems': 1000, 'Out msg nelems': 1000, 'Group size': len(RANKS), 'dtype': 'Float', 'Process Group Name': '0',
               'Process Group Ranks': str(list(range(len(RANKS)))), **extra})
    return gzip.compress(json.dumps({'baseTimeNanoseconds': BASE_NS, 'distributedInfo': {'backend': 'nccl', 'rank': rank, 'world_size': len(RANKS)},
                                     'traceEvents': events}).encode(), mtime=0)


def put_run(server, run, ranks=range(len(RANKS)), **extra):
    return [kinetoscope.uploaded(server.put(run, 'worker%d.pt.trace.json.gz' % rank, rank_trace(rank, **extra)))[0]['id'] for rank in ranks]


class Ranks(unittest.TestCase):
    def test_clock(self):
        with kinetoscope.Server() as server:
            put_run(server, 'job')
            clock = server.get('/api/v1/runs/job/clock').json()
            self.assertEqual([(row['rank'], row['offset_ns'], row['residual_ns']) for row in clock['rows']], [(r, ahead, 0) for r, (ahead, _, _) in enumerate(RANKS)])
            self.assertEqual([row['confidence'] for row in clock['rows']], ['reference'] + ['medium'] * 3)
            self.assertEqual((clock['reference'], clock['warnings']), (0, []))
            self.assertEqual(server.get('/api/v1/runs/job/clock', sort='offset_ns', order='desc').json()['rows'][0]['rank'], 1)

    def test_the_verdict_is_made_when_the_uploads_have_ended(self):
        with kinetoscope.Server() as server:
            put_run(server, 'job')

            def kept():
                with contextlib.closing(sqlite3.connect(os.path.join(server.data_dir, 'kinetoscope.db'))) as db:
                    return db.execute('SELECT count(*) FROM run_view AS v JOIN run AS r ON r.id = v.run_id WHERE r.name = ?', ('job',)).fetchone()[0]
            self.assertEqual(kept(), 0)
            kinetoscope.until(lambda: kept() > 0, 'the verdict is kept', 60)

    def test_collectives(self):
        with kinetoscope.Server() as server:
            ids = put_run(server, 'job')
            answer = server.get('/api/v1/runs/job/collectives').json()
            self.assertEqual(answer['total'], STEPS)
            row = answer['rows'][1]
            arrivals = [arrive for _, arrive, _ in RANKS]
            want = {'kind': 'all_reduce', 'step': 11, 'size': 4, 'complete': True, 'in_bytes': 4000, 'start_ns': STEP_NS + min(arrivals), 'skew_ns': max(arrivals) - min(arrivals),
                    'end_skew_ns': 0, 'transfer_ns': END_NS - max(arrivals), 'mean_wait_ns': sum(max(arrivals) - arrive for arrive in arrivals) / 4, 'first_rank': 0, 'last_rank': CULPRIT,
                    'algorithm_bytes_per_s': 4000 * 1e9 / 150000, 'bus_bytes_per_s': 4000 * 1e9 / 150000 * 1.5}
            self.assertEqual({key: row[key] for key in want}, want)
            self.assertEqual(answer['summary'][0]['count'], STEPS)
            self.assertIsNone(answer['experts'])
            self.assertEqual({row['communication_ns'] for row in answer['overlap']}, {STEPS * (END_NS - arrive) for arrive in arrivals})
            raw = server.get('/api/v1/runs/job/collectives', clock='raw').json()['rows'][0]
            self.assertEqual(raw['skew_ns'], 3000000000 + 250000 - (110000 - 45000))
            detail = server.get('/api/v1/runs/job/collectives', detail=1, limit=1).json()['rows'][0]['ranks']
            self.assertEqual([(part['rank'], part['trace'], part['event'], part['wait_ns']) for part in detail],
                             [(r, ids[r], 2, max(arrivals) - arrivals[r]) for r in range(4)])
            self.assertEqual(server.get('/api/v1/runs/job/collectives', kind='broadcast').json()['total'], 0)
            self.assertEqual([row['step'] for row in server.get('/api/v1/runs/job/collectives', sequence=2).json()['rows']], [12])
            beside = {'summary', 'experts', 'overlap'}
            for parts, want in (('none', set()), ('experts', {'experts'}), ('overlap,summary', {'overlap', 'summary'})):
                part = server.get('/api/v1/runs/job/collectives', parts=parts).json()
                self.assertEqual((beside & part.keys(), part['rows']), (want, answer['rows']))
            csv = server.get('/api/v1/runs/job/collectives', format='csv').body.decode().splitlines()
            self.assertEqual((len(csv), csv[0].split(',')[:3]), (STEPS + 1, ['group', 'group_ranks', 'sequence']))
            for query in ({'clock': 'x'}, {'sort': 'x'}, {'span': 0}, {'foo': 1}, {'parts': 'rows'}, {'parts': 'summary,'}, {'parts': 'none,experts'}):
                self.assertEqual(server.get('/api/v1/runs/job/collectives', **query).status, 400, query)

    def test_timeline(self):
        """Lanes of all ranks on the clock of the run: 14 digits of which 5 are a step's first half."""
        with kinetoscope.Server() as server:
            ids = put_run(server, 'job')
            answer = server.get('/api/v1/runs/job/timeline').json()
            self.assertEqual([(row['rank'], row['trace'], row['shift_ns'], row['late_steps']) for row in answer['rows']], [(r, ids[r], 0, STEPS if r == CULPRIT else 0) for r in range(4)])
            self.assertEqual([row['wait_ns'] for row in answer['rows']], [STEPS * (RANKS[CULPRIT][1] - arrive) for _, arrive, _ in RANKS])
            self.assertEqual((answer['end_ns'], answer['steps'][1]), (STEPS * STEP_NS, {'step': 11, 'start_ns': STEP_NS, 'end_ns': 2 * STEP_NS}))
            window = server.get('/api/v1/runs/job/timeline/window', start_ns=STEP_NS, end_ns=STEP_NS + END_NS, width_px=8, ranks='1,0').json()
            self.assertEqual(([row['rank'] for row in window['rows']], window['pixel_ns']), ([1, 0], 50000))
            late, first = window['rows']
            self.assertEqual((late['busy'], late['busy_ns'], late['wait'], late['transfer'], late['transfer_ns']), ('89992000', 200000, '00000000', '00000999', END_NS - 250000))
            self.assertEqual((first['busy'], first['busy_ns'], first['wait'], first['wait_ns'], first['transfer']), ('88000000', 80000, '00999000', 150000, '00000999'))
            self.assertEqual([row['busy_ns'] for row in server.get('/api/v1/runs/job/timeline/window', width_px=1).json()['rows']], [STEPS * compute for _, _, compute in RANKS])
            for query in ({'ranks': '4'}, {'ranks': '1,'}, {'ranks': 'x'}, {'start_ns': 5, 'end_ns': 5}, {'width_px': 0}):
                self.assertEqual(server.get('/api/v1/runs/job/timeline/window', **query).status, 400, query)

    def test_search(self):
        """Events of every rank, on the clock of the run: that of rank 1 is 3 s ahead. The collective begins where the rank arrives."""
        with kinetoscope.Server() as server:
            ids = put_run(server, 'job')
            answer = server.get('/api/v1/runs/job/timeline/search', q='NCCL').json()
            self.assertEqual((answer['searched'], answer['total']), (4, 4))
            self.assertEqual([(row['rank'], row['trace'], row['matches'], len(row['hits'])) for row in answer['rows']], [(r, ids[r], STEPS, 1) for r in range(4)])
            self.assertEqual([row['hits'][0]['start_ns'] for row in answer['rows']], [arrive for _, arrive, _ in RANKS])
            some = server.get('/api/v1/runs/job/timeline/search', q='gemm', ranks='3,1', limit=100).json()
            self.assertEqual([(row['rank'], [hit['dur_ns'] for hit in row['hits']]) for row in some['rows']], [(3, [85000] * STEPS), (1, [200000] * STEPS)])
            self.assertEqual(server.get('/api/v1/runs/job/timeline/search', q='nothing').json(), {'q': 'nothing', 'rows': [], 'searched': 4, 'total': 4})
            for query in ({}, {'q': ''}, {'q': 'x' * 1001}, {'q': 'x', 'ranks': '4'}, {'q': 'x', 'limit': 0}, {'q': 'x', 'limit': 101}):
                self.assertEqual(server.get('/api/v1/runs/job/timeline/search', **query).status, 400, query)
            self.assertEqual(server.get('/api/v1/runs/none/timeline/search', q='x').status, 404)

    def test_stragglers(self):
        with kinetoscope.Server() as server:
            put_run(server, 'job')
            answer = server.get('/api/v1/runs/job/stragglers').json()
            self.assertEqual((answer['ranks'], answer['steps']), (list(range(4)), [10, 11, 12, 13]))
            self.assertEqual(answer['wait_ns'][2], [140000] * STEPS)
            self.assertEqual(answer['step_ns'], [[STEP_NS] * STEPS] * 4)
            culprit = answer['culprits'][0]
            self.assertEqual((culprit['rank'], culprit['cause'], culprit['margin_ns']), (CULPRIT, 'compute', 140000))
            self.assertEqual(culprit['excess'], {'compute_ns': 200000 - 85000, 'memory_ns': 0, 'input_ns': 0, 'host_ns': 50000 - 20000})
            self.assertEqual(culprit['kernels'], [{'name': 'gemm', 'excess_ns': 115000}])
            self.assertEqual(answer['verdict']['kind'], 'persistent')
            self.assertEqual(answer['verdict']['text'], 'Rank 1 makes the others wait in 4 of 4 steps, 0.14 ms a step, by compute kernels (gemm +0.12 ms).')
            part = server.get('/api/v1/runs/job/stragglers', ranks='1-2', steps='12').json()
            self.assertEqual((part['ranks'], part['steps'], part['wait_ns']), ([1, 2], [12], [[0], [140000]]))
            self.assertEqual(server.get('/api/v1/runs/job/stragglers', ranks='x').status, 400)

    def test_uploads_change_the_answer(self):
        with kinetoscope.Server() as server:
            put_run(server, 'job', ranks=(0, 2, 3))
            self.assertEqual(server.get('/api/v1/runs/job/stragglers').json()['verdict']['kind'], 'balanced')
            put_run(server, 'job', ranks=(1,))
            self.assertEqual(server.get('/api/v1/runs/job/stragglers').json()['verdict']['rank'], CULPRIT)
            kinetoscope.uploaded(server.put('job', 'again1.pt.trace.json.gz', rank_trace(1, clock=77)))
            clock = server.get('/api/v1/runs/job/clock').json()
            self.assertEqual((clock['rows'][1]['offset_ns'], clock['warnings']), (3000000077, [{'code': 'rank_twice', 'count': 1}]))

    def test_islands(self):
        with kinetoscope.Server() as server:
            put_run(server, 'job', ranks=(0, 1))
            for rank in (2, 3):
                kinetoscope.uploaded(server.put('job', 'worker%d.pt.trace.json.gz' % rank, rank_trace(rank, **{'Process Group Name': 'other'})))
            clock = server.get('/api/v1/runs/job/clock').json()
            self.assertEqual([row['confidence'] for row in clock['rows']], ['reference', 'medium', 'reference', 'medium'])
            self.assertEqual(clock['warnings'], [{'code': 'clock_islands', 'count': 2}])

    def test_a_run_without_ranks(self):
        with kinetoscope.Server() as server:
            self.assertEqual(server.get('/api/v1/runs/none/stragglers').status, 404)
            name, content = kinetoscope.fixture('cuda_training')
            kinetoscope.uploaded(server.put('one', name, content))
            self.assertEqual(server.get('/api/v1/runs/one/stragglers').json()['verdict']['kind'], 'unknown')
            self.assertEqual(server.get('/api/v1/runs/one/stragglers', span=2).status, 404)

    def test_operations(self):
        """One stage, two replicas, of which the second computes forward in 3 s instead of 1."""
        rows = ['optype,dp_rank,stage,rank,step,start_ts,duration,seq_id,mc,gmc,mb_id']
        for dp, forward in ((0, 1), (1, 3)):
            end = forward + 2
            for kind, start, duration in (('forward-compute', 0, forward), ('backward-compute', forward, 2), ('gc', end, 0), ('layernorm-grads-all-reduce', end, 0),
                                          ('embedding-grads-all-reduce', end, 0), ('optimizer-clip-main-grad', end, 5 - end), ('optimizer', 5, 0.5)):
                rows.append('%s,%d,0,%d,7,%g,%g,0,0,0,0' % (kind, dp, dp, start, duration))
        table = '\n'.join(rows + ['gc,x,0,0,7,0,0,0,0,0,0', 'nap,0,0,0,7,0,0,0,0,0,0', '']).encode()
        with kinetoscope.Server() as server:
            trace = kinetoscope.uploaded(server.put('job', 'operations.csv', table))[0]
            self.assertEqual(trace['format'], 'operations')
            self.assertEqual({w['code']: w['count'] for w in server.get('/api/v1/traces/%d' % trace['id']).json()['warnings']}, {'bad_line': 1, 'operation_type': 1})
            answer = server.get('/api/v1/runs/job/what-if').json()
            self.assertAlmostEqual(answer['slowdown'], 5.5 / 4.5)
            self.assertEqual((answer['by_dp_rank']['0'], answer['missing']), (1, []))
            self.assertEqual(answer['worst_ranks']['ranks'], [1])
            lane = server.get('/api/v1/runs/job/what-if/timeline', scenario='no_delay', dp_rank=1).json()
            self.assertEqual((lane['step'], lane['total'], lane['rows'][0]['duration_ns']), (7, 7, 3000000000))
            self.assertEqual(server.get('/api/v1/runs/job').json()['views'], ['pipeline'])
            pipeline = server.get('/api/v1/runs/job/pipeline').json()
            self.assertEqual((pipeline['stages'], pipeline['microbatches'], pipeline['theory'], [row['bubble'] for row in pipeline['rows']]), (1, 1, 0, [0, 0]))
            self.assertEqual(server.get('/api/v1/runs/job/stragglers').status, 404)
            kinetoscope.uploaded(server.put('job', 'operations.csv', table.replace(b'gc,1,0,1,7', b'gc,1,1,1,7'), query='?replace=1'))
            refused = server.get('/api/v1/runs/job/what-if')
            self.assertEqual((refused.status, 'gc 0 of stage 0' in refused.json()['detail']), (422, True))
            put_run(server, 'traces')
            self.assertIn('operations.csv', server.get('/api/v1/runs/traces/pipeline').json()['detail'])
            self.assertNotIn('pipeline', server.get('/api/v1/runs/traces').json()['views'])

    def test_annotated_operations(self):
        """Two stages, two micro-batches, equal times: the device's annotations of torch.distributed.pipelining tell the bubble, host ranges do not count."""
        def stage_trace(stage, ahead, transfers=False):
            events = []

            def put(category, name, start, duration, tid, **args):
                events.append({'ph': 'X', 'cat': category, 'name': name, 'pid': stage, 'tid': tid, 'ts': (start + ahead) / 1000, 'dur': duration / 1000, 'args': args})
            for step in range(3):
                begin = step * STEP_NS
                put('user_annotation', 'ProfilerStep#%d' % step, begin, STEP_NS, 1)
                # Forward 10, backward 10: stage 1 follows at 10 us, its backward begins at 30, that of stage 0 at 40.
                for batch, start in ((0, 10000 * stage), (1, 10000 * stage + 10000)):
                    put('user_annotation', 'PP:%dF%d' % (stage, batch), begin + start, 500, 1)
                    put('gpu_user_annotation', 'PP:%dF%d' % (stage, batch), begin + start, 10000, 7, device=0, stream=7)
                for batch, start in ((0, 30000 + 10000 * (1 - stage)), (1, 40000 + 10000 * (1 - stage))):
                    put('user_annotation', 'PP:%dB%d' % (stage, batch), begin + start, 500, 1)
                    put('gpu_user_annotation', 'PP:%dB%d' % (stage, batch), begin + start, 10000, 7, device=0, stream=7)
                put('user_annotation', 'PP:%dUNSHARD' % stage, begin, 500, 1)
                # Stage 0 sends forward when it has computed, at 10 and 20 us, and stage 1 backward at 40 and 50; the other waits for it.
                for batch, at in enumerate((10000, 20000, 40000, 50000) if transfers else ()):
                    name = 'send' if (batch < 2) == (stage == 0) else 'recv'
                    early = 0 if name == 'send' else 4000
                    put('kernel', 'ncclDevKernel_SendRecv', begin + at - early, 300 + early, 21, device=0, stream=21,
                        **{'Collective name': name, 'In msg nelems': 10, 'Out msg nelems': 10, 'Group size': 2, 'dtype': 'Float', 'Process Group Name': '1', 'Process Group Ranks': '[0, 1]'})
                put('kernel', 'ncclDevKernel_AllReduce_Sum_f32_RING_LL', begin + 900000, 50000, 20, device=0, stream=20,
                    **{'Collective name': 'allreduce', 'In msg nelems': 10, 'Out msg nelems': 10, 'Group size': 2, 'dtype': 'Float', 'Process Group Name': '0', 'Process Group Ranks': '[0, 1]'})
            # The last step was not recorded to its end.
            events = [e for e in events if not (stage == 1 and e['name'] == 'PP:1B1' and e['ts'] > 2 * STEP_NS / 1000 + ahead / 1000)]
            return gzip.compress(json.dumps({'baseTimeNanoseconds': BASE_NS, 'distributedInfo': {'backend': 'nccl', 'rank': stage, 'world_size': 2}, 'traceEvents': events}).encode(), mtime=0)
        with kinetoscope.Server() as server:
            for stage, ahead in ((0, 0), (1, 5000000000)):
                kinetoscope.uploaded(server.put('pipe', 'worker%d.pt.trace.json.gz' % stage, stage_trace(stage, ahead)))
            self.assertIn('pipeline', server.get('/api/v1/runs/pipe').json()['views'])
            answer = server.get('/api/v1/runs/pipe/pipeline').json()
            self.assertEqual((answer['stages'], answer['microbatches'], answer['chunks'], answer['total']), (2, 2, 1, 4))
            self.assertEqual({row['step'] for row in answer['rows']}, {0, 1})
            self.assertAlmostEqual(answer['theory'], 1 / 3)
            for row in answer['rows']:
                self.assertEqual((row['window_ns'], row['compute_ns'], row['before_first_ns']), (60000, 40000, 10000 * row['stage']))
            lane = server.get('/api/v1/runs/pipe/what-if/timeline', scenario='measured', step=1).json()
            self.assertEqual([(row['optype'], row['seq_id'], row['start_ns']) for row in lane['rows'] if row['stage'] == 1],
                             [('forward-compute', 0, 10000), ('forward-compute', 1, 20000), ('backward-compute', 0, 30000), ('backward-compute', 1, 40000)])
            refused = server.get('/api/v1/runs/pipe/what-if')
            self.assertEqual((refused.status, 'neither forward-recv nor forward-send' in refused.json()['detail']), (422, True))
            for stage in (0, 1):
                kinetoscope.uploaded(server.put('sent', 'worker%d.pt.trace.json.gz' % stage, stage_trace(stage, stage * 1000, transfers=True)))
            sent = server.get('/api/v1/runs/sent/what-if/timeline', scenario='measured', step=1).json()['rows']
            self.assertEqual([[(row['stage'], row['seq_id'], row['duration_ns']) for row in sent if row['optype'] == optype] for optype in ('forward-send', 'forward-recv', 'backward-send', 'backward-recv')],
                             [[(stage, batch, ns) for batch in (0, 1)] for stage, ns in ((0, 300), (1, 4300), (1, 300), (0, 4300))])
            self.assertLess(abs(server.get('/api/v1/runs/sent/what-if').json()['slowdown'] - 1), 0.01)
            self.assertEqual(server.get('/api/v1/runs/sent/pipeline').json()['rows'][0]['compute_ns'], 40000)
            kinetoscope.uploaded(server.put('alone', 'worker0.pt.trace.json.gz', stage_trace(0, 0)))
            alone = server.get('/api/v1/runs/alone/what-if').json()
            self.assertEqual((alone['slowdown'], 'optimizer' in alone['missing'], 'gc' in alone['missing']), (1, True, True))
            table = 'optype,dp_rank,stage,rank,step,start_ts,duration,seq_id,mc,gmc,mb_id\nforward-compute,0,0,0,7,0,1,0,0,0,0\n'
            kinetoscope.uploaded(server.put('pipe', 'operations.csv', table.encode()))
            self.assertEqual(server.get('/api/v1/runs/pipe/pipeline').json()['stages'], 1)

    def test_clock_of_recordings(self):
        """A recording as two ranks: the clock of the second is 3 s ahead, and its collectives end up to 2 us later, as kernels of one collective do.
        No two ranks of one job were recorded in the reference, so what hosts do beyond that is not shown."""
        data = kinetoscope.REFERENCE / 'data'
        if not data.exists():
            self.skipTest('no reference data in %s' % kinetoscope.REFERENCE)
        ahead, tail = 3000000000, 2000
        with kinetoscope.Server() as server:
            for run, path in (('two-nodes', 'cases/tb_dist_nccl/node0_100.1600000000000.pt.trace.json.gz'), ('resnet', 'real/speed__hta_trace_diff_test/trace.json.gz')):
                with gzip.open(data / path) as file:
                    recorded = json.load(file)
                base = int(recorded.get('baseTimeNanoseconds', 0))
                for rank in (0, 1):
                    recorded['distributedInfo'] = {**recorded.get('distributedInfo', {}), 'rank': rank, 'world_size': 2}
                    recorded['baseTimeNanoseconds'] = base + rank * ahead
                    collectives = [e for e in recorded['traceEvents'] if e.get('ph') == 'X' and str(e.get('cat')).lower() == 'kernel' and 'nccl' in e['name'].lower()]
                    for place, event in enumerate(collectives if rank == 1 else []):
                        event['dur'] = float(event['dur']) + place * 7 % 5 * tail / 4 / 1000
                    kinetoscope.uploaded(server.put(run, 'rank%d.pt.trace.json.gz' % rank, gzip.compress(json.dumps(recorded).encode(), 1)))
                reference, row = server.get('/api/v1/runs/%s/clock' % run).json()['rows']
                self.assertEqual((reference['offset_ns'], reference['confidence'], row['confidence']), (0, 'reference', 'high'), run)
                self.assertGreaterEqual(row['samples'], 10, run)
                self.assertLessEqual(abs(row['offset_ns'] - ahead), tail, run)
                self.assertLessEqual(row['residual_ns'], tail, run)
                raw = server.get('/api/v1/runs/%s/collectives' % run, clock='raw', limit=0).json()['rows']
                aligned = server.get('/api/v1/runs/%s/collectives' % run, limit=0).json()['rows']
                self.assertGreater(min(item['skew_ns'] for item in raw if item['ranks_n'] == 2), ahead - tail, run)
                self.assertLessEqual(max(item['end_skew_ns'] for item in aligned if item['ranks_n'] == 2), 2 * tail, run)

    def test_reference(self):
        kinetoscope.check_reference(self, 'ranks_check.py')


kinetoscope.main()
