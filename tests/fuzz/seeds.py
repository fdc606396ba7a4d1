#!/usr/bin/env python3
"""Writes into the corpus: for each target the small inputs that fuzzing begins with. Others there, which it learnt, stay.

usage: seeds.py    (needs the program zstd)
"""
import base64
import gzip
import hashlib
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'fixtures'))
import recordings  # noqa: E402
import tracegen  # noqa: E402
from tracegen import FLAVOURS, Sim, conv, linear, norm  # noqa: E402

CORPUS = HERE / 'corpus'
MOST_BYTES = 300 * 1000


def simulated(seed, flavour, keep, **options):
    """A trace of a training job, thinned out to every `keep`th event."""
    sim = Sim(seed, FLAVOURS[flavour], 1650000000000000000)
    sim.with_python = flavour == 'cuda'
    tracegen.train(sim, [conv(3, first=True), norm(8), linear(8, 4)], 2, with_stack=False, **options)
    trace = json.loads(sim.text())
    trace['traceEvents'] = trace['traceEvents'][::keep]
    return json.dumps(trace).encode()


def event(phase='X', category='cpu_op', name='aten::add', ts=10, dur=5, args=None, **more):
    made = {'ph': phase, 'cat': category, 'name': name, 'pid': 7, 'tid': 8, 'ts': ts, 'dur': dur, 'args': args or {}}
    made.update(more)
    return {k: v for k, v in made.items() if v is not None}


def steps_with_kernels():
    events = []
    for i in range(3):
        at = 1000 * i
        events += [event('X', 'user_annotation', 'ProfilerStep#%d' % i, at, 900),
                   event('X', 'cpu_op', 'aten::mm', at + 10, 200, {'External id': i + 1, 'Input Dims': [[8, 8], [8, 8]], 'Sequence number': i}),
                   event('X', 'cuda_runtime', 'cudaLaunchKernel', at + 20, 8, {'correlation': 100 + i, 'External id': i + 1}),
                   event('X', 'kernel', 'void gemm<float, 4>(int)', at + 60, 300, {'device': 0, 'stream': 7, 'correlation': 100 + i, 'grid': [8, 1, 1],
                         'block': [128, 1, 1], 'blocks per SM': 0.5, 'est. achieved occupancy %': 30, 'registers per thread': 32}, pid=0, tid=7),
                   event('s', 'ac2g', 'ac2g', at + 20, None, None, id=100 + i), event('f', 'ac2g', 'ac2g', at + 60, None, None, id=100 + i, bp='e')]
    return events


def collectives():
    return [event('X', 'user_annotation', 'ProfilerStep#1', 0, 900),
            event('X', 'cpu_op', 'record_param_comms', 10, 90, {'Collective name': 'allreduce', 'dtype': 'Float', 'Process Group Name': '0',
                  'Group size': 8, 'In msg nelems': 1000, 'Out msg nelems': 1000, 'External id': 5}),
            event('X', 'cuda_runtime', 'cudaLaunchKernel', 20, 5, {'correlation': 1, 'External id': 5}),
            event('X', 'kernel', 'ncclDevKernel_AllReduce_Sum_f32_RING_LL', 40, 400, {'device': 1, 'stream': 20, 'correlation': 1}, pid=1, tid=20)]


def python_calls():
    events = [event('X', 'python_function', 'train.py(3): step', 100 * i, 90, {'Python id': 2 * i + 1, 'Python parent id': None}) for i in range(4)]
    events += [event('X', 'python_function', 'nn.Module: Linear_0', 100 * i + 5, 60, {'Python id': 2 * i + 2, 'Python parent id': 2 * i + 1,
                                                                                   'Python module id': 0}) for i in range(4)]
    return events


def other_phases():
    return [event('B', 'x', 'begin'), event('E', 'x', None, 20), event('b', 'a', 'async', 1, None, None, id='0x1'), event('n', 'a', 'async', 2, None, None, id='0x1'),
            event('e', 'a', 'async', 3, None, None, id='0x1'), event('i', 'x', 'mark', 4, None, None, s='t'),
            event('C', 'x', 'GPU use', 5, None, {'value': 5, 'hostname': 'h', 'other': 2.5}), event('M', None, 'process_name', 0, None, {'name': 'python'}),
            event('M', None, 'thread_sort_index', 0, None, {'sort_index': 5}), event('X', 'Trace', 'PyTorch Profiler (0)', 0, 1000, {'Op count': 0}, pid='Spans', tid='PyTorch Profiler'),
            event('i', 'memory', '[memory]', 6, None, {'Total Reserved': 4096, 'Total Allocated': 512, 'Bytes': 512, 'Addr': 140000000000000, 'Device Id': 0,
                                                    'Device Type': 1, 'Ev Idx': 1}),
            event('i', 'memory', '[memory]', 7, None, {'Bytes': -512, 'Addr': 140000000000000, 'Device Id': -1, 'Device Type': 0})]


def times():
    return [event(ts=t, dur=d) for t, d in ((1.5, 0.001), (-3, -1), (1e300, 5), (5, 1e18), ('17.25', '3'), (None, 3), (9007199254740993, 1))]


DAMAGED = {
    'bare': b'{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 2, "args": {"x": N/A, "y": NaN, "z": -Infinity}}]}',
    'quotes': b'[{"ph": "X", "cat": "cpu_op", "name": "lost, "pid": 7, "tid": 8, "ts": 2, "dur": 1, "args": {"Call stack": "a "b" c"}}]',
    'backslash': b'{"traceName": "C:\\Users\\x", "traceEvents": [{"ph": "i", "name": "a\\qb", "ts": 2}]}',
    'commas': b'[{"ph": "X" "cat": "cpu_op", "name": "a",, "ts": 2, } {"ph": "i", "ts": 3},, ]',
    'cut': b'{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 2}, {"ph": "X", "cat": "cp',
    'bare_list': b'{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 2},\n{"ph": "X", "cat": "cpu_op", "name": "b", "ts": 4, "dur": 2}\n',
    'control': b'[{"ph": "X", "cat": "cpu_op", "name": "a\x01\x1fb\tc", "ts": 1, "dur": 2, "args": {"x": "\xff\xc0\xe2\x82 \\ud800 \\u0000"}}]',
    'duplicate': b'[{"ph": "X", "ts": 1, "name": "a", "name": "b", "args": {"x": 1, "x": {"args": "{\\"device\\": 3}"}}, "args": {"args": "{\\"hostname\\": \\"h\\"}"}}]',
    'trailing': b'\xef\xbb\xbf[{"ph": "i", "ts": 1}]]} and words',
    'deep': b'{"traceEvents": [{"ph": "i", "ts": 1, "args": ' + b'[' * 40 + b'{}' + b']' * 40 + b'}], "x": ' + b'{"a":' * 40 + b'1' + b'}' * 40 + b'}',
}


def repeated():
    """The same few events again and again but for their numbers."""
    for i in range(12):
        yield {'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::mm', 'pid': 7, 'tid': 7, 'ts': 90 + 37 * i, 'dur': 5 + 3 * i, 'args': {'External id': 8 + i, 'Input Dims': [[2, 3]]}}
        yield {'ph': 'X', 'cat': 'kernel', 'name': 'k', 'pid': 0, 'tid': 7, 'ts': 95.5 + 37 * i, 'dur': 2.125, 'args': {'correlation': 97 + i, 'device': 0, 'stream': 7, 'est. achieved occupancy %': i // 6}}
        yield {'ph': 'X', 'cat': 'python_function', 'name': 'nn.Module: A', 'pid': 7, 'tid': 7, 'ts': 80 + 37 * i, 'dur': 30, 'args': {'Python id': i + 1, 'Python parent id': i or None, 'Python module id': i % 3}}
        yield {'ph': 'i', 's': 't', 'name': '[memory]', 'pid': 7, 'tid': 7, 'ts': 99 + 37 * i, 'args': {'Device Type': 1, 'Device Id': 0, 'Addr': 1 << (40 + i), 'Bytes': 512 * (-1) ** i, 'Total Allocated': 512 * i, 'Total Reserved': 1 << 21}}


def traces():
    head = {'schemaVersion': 1, 'displayTimeUnit': 'ms', 'baseTimeNanoseconds': 1718000000000000000, 'traceName': 't', 'with_stack': 1,
            'deviceProperties': [{'id': 0, 'name': 'A100', 'totalGlobalMem': 42505273344, 'computeMajor': 8, 'computeMinor': 0, 'numSms': 108}],
            'distributedInfo': {'backend': 'nccl', 'rank': 1, 'world_size': 8}}
    made = {'steps.json': json.dumps(dict(head, traceEvents=steps_with_kernels())).encode(), 'collectives.json': json.dumps(dict(head, traceEvents=collectives())).encode(),
            'python.json': json.dumps(python_calls()).encode(), 'phases.json': json.dumps(dict(traceEvents=other_phases())).encode(),
            'times.json': json.dumps(dict(traceEvents=times()), indent=1).encode(), 'cuda.json': simulated(1, 'cuda', 9), 'mlu.json': simulated(5, 'mlu', 7, reduce_every=2),
            'old.json': simulated(2, 'old', 8), 'repeated.json': json.dumps(dict(traceEvents=list(repeated()))).encode(), 'no_event.json': b'{"traceEvents": []}', 'no_trace.json': b'{"a": [1, 2.5e3, true, null, "x"]}'}
    made.update((name + '.json', text) for name, text in DAMAGED.items())
    return made


def zstd(content, *options):
    return subprocess.run(['zstd', '-q', '-c', *options], input=content, stdout=subprocess.PIPE, check=True).stdout


def inputs():
    text = json.dumps(steps_with_kernels()).encode()
    packed = gzip.compress(text, mtime=0)
    named = packed[:3] + b'\x1e' + packed[4:10] + b'\x03\x00abc' + b'name\x00' + b'comment\x00' + b'\x00\x00' + packed[10:]
    return {'plain': text[:300], 'empty': b'', 'one.gz': packed, 'two.gz': packed + gzip.compress(b'more', mtime=0), 'stored.gz': gzip.compress(text[:200], 0, mtime=0),
            'cut.gz': packed[:len(packed) // 2], 'behind.gz': packed + b'junk', 'fields.gz': named, 'zeros.gz': gzip.compress(bytes(20000), mtime=0),
            'one.zst': zstd(text), 'two.zst': zstd(b'first') + zstd(b'second'), 'checked.zst': zstd(text, '--check', '-19'), 'skippable.zst': b'\x50\x2a\x4d\x18\x04\0\0\0skip' + zstd(b'x'),
            'cut.zst': zstd(text)[:200], 'raw.zst': zstd(bytes(range(256)), '--no-check')}


def tables():
    old = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Section Name","Metric Name","Metric Unit","Metric Value"\n'
    row = '"%d","11","python","node1","%s","1","7","Command line profiler metrics","%s","%s","%s"\n'
    long = old + ''.join(row % (i, name, metric, unit, value) for i, name in enumerate(('f<int>(a)', 'g')) for metric, unit, value in (
        ('gpu__time_duration.sum', 'nsecond', '1,024'), ('sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed', '%', '50.5'),
        ('gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed', '%', '20')))
    wide = '"ID","Kernel Name","Block Size","Grid Size","gpu__time_duration.sum","sm__throughput.avg.pct_of_peak_sustained_elapsed"\n"","","","","us","%"\n' \
           '"0","f","(128, 1, 1)","(8, 1, 1)","5.12","40.5"\n"1","g","(32, 1, 1)","(1, 1, 1)","1","n/a"\n'
    return {
        'ncu_long.csv': '==PROF== Connected to process 11\n' + long, 'ncu_wide.csv': wide,
        'nsys_trace.csv': 'Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MB/s),'
                          'SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n1000,250,5,8,1,1,128,1,1,32,0.0,0.0,,,,,A100 (0),1,,7,"void f<int, 4>(int)"\n'
                          '2000,100,6,,,,,,,,,,4.096,1000,Pageable,Device,A100 (0),1,,7,[CUDA memcpy Host-to-Device]\n',
        'nsys_sum.csv': 'Processing [run.sqlite] with [cuda_gpu_kern_sum.py]...\nTime (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n'
                        '75.0,3000,3,1000.0,1000.0,900,1100,10.0,f\n25.0,1000,1,1000,1000,1000,1000,0,"g(int, int)"\n',
        'kernels.txt': 'Kernel                                 Latency Tensor   DRAM     SM\nvoid f<a>::g(int)          |    1075296   0.00   0.10  0.5\n'
                       'h: of(x):y                 :    337024   0.9 n/a -\n',
        'perf.csv': 'cycle,pid,hostname,beta_pct,function_name,metric_name,device,func_type,mu_pct,sigma_pct,duration,interpolation_status,anchor_name,anchor_dur_us,'
                    'cycle_start_ts,instances_count,simple_name\n1,7,h,50.5000,gemm<1>,gpu_usage,GPU 3,gpu_compute,12.3400,0.5000,505.0000,**,step,1000.0000,1700000000000000.2500,4,gemm\n'
                    '1,7,h,25.0000,"f(int, ""x"")",N/A,Host,oncpu,,,250.0000, ,step,1000.0000,1700000000000000.2500,2,f\n2,7,h,20,gemm<1>,gpu_usage,GPU 3,gpu_compute,1,1,1,*,step,2000.5,17e14,1,\n',
        'perf_small.csv': 'cycle,pid,function_name,metric_name,device,beta_pct,mu_pct,anchor_dur_us\r\n1,1,f,m,Host,1,2,10\r\n2,1,f,m,Host,1,nan,1e1\r\none,1,"f\r\n',
        'counters.csv': 'counter_name,timestamp,value,hostname\nb,1000.5,2.0,h\na,2000.0,10,\nb,3000,N/A,g\n',
        'unknown.csv': 'a,b,c\n1,2,3\n',
    }


def answers():
    overview = {'steps': {'columns': [{'type': 'string', 'name': 'Step'}, {'name': 'Kernel'}, {'role': 'tooltip'}, {'name': 'CPU Exec'}], 'rows': [['5', 30, 'tip', 12.5], ['6', 10, 'tip', 0]]},
                'performance': [], 'recommendations': '<ul><li>GPU 3 has <b>low utilization</b> &amp; more</li></ul>',
                'environments': [{'title': 'Number of Worker(s)', 'value': '1'}, {'title': 'Device Type', 'value': 'GPU'}],
                'gpu_metrics': {'title': 'GPU Summary', 'data': [{'title': 'GPU 3:', 'value': ''}, {'title': 'Memory', 'value': '16.0 GB'}, {'title': 'GPU Utilization', 'value': '25.5 %'}]}}
    pie = {k: {'title': '', 'columns': [{'type': 'string', 'name': 'name'}, {'type': 'number', 'name': 'value'}], 'rows': [['aten::mm', 20], ['aten::add', 1.5]]}
           for k in ('device_total_time', 'device_self_time', 'host_total_time', 'host_self_time')}
    table = {'metadata': {'sort': 'device_self_duration'}, 'data': [{'name': 'aten::mm', 'calls': 4, 'device_self_duration': 20, 'device_total_duration': 30, 'host_self_duration': 1,
             'host_total_duration': 2, 'tc_eligible': 'Yes', 'tc_self_ratio': 50.0, 'tc_total_ratio': 10.0, 'has_call_stack': True, 'input_shape': '[[2]]', 'call_stack': 'a;b'}]}
    kernels = {'metadata': {'sort': 'Total Duration (us)'}, 'data': {'columns': [{'name': 'Name'}, {'name': 'Tensor Cores Used'}, {'name': 'Calls'}, {'name': 'Total Duration (us)'}],
               'rows': [['k', 'Yes', 3, 40.5]]}}
    total = {'total': {'columns': [{'type': 'string', 'name': 'name'}, {'type': 'number', 'name': 'value'}], 'rows': [['k', 40.5]]}}
    documents = [overview, pie, table, kernels, total]
    made = {'%d.json' % i: json.dumps(d) for i, d in enumerate(documents)}
    made['all.json'] = '\n'.join(map(json.dumps, documents)) + '\n'
    made['bad.json'] = json.dumps(total) + '\n{"total": {"columns": [\nnull\n' + json.dumps(kernels)[:100]
    return made


REPORT = '''# Strict Performance Comparison: runs (PID: 17)

## 1. High-Level Performance Summary

| Metric              | old      | new      | Δ (new - old)   | Change (%)   |
|:--------------------|:---------|:---------|:----------------|:-------------|
| Total Cycles        | 1,003    | 2        | -1001           | -            |
| Avg Cycle Time (us) | 1,000.50 | 2,000.25 | 999.75          | +99.93%      |

## 2. Cycle Duration Distribution Comparison

|   Time Rank |   old Time (us) | new Time (us)   | Δ (us)     | Δ (%)   |
|------------:|----------------:|:----------------|:-----------|:--------|
|           1 |        1,200.75 | 2100.5          | 899.75     | +74.93% |
|           2 |          800.25 | -               | -          | -       |

## 3. In-depth Core Metric Comparison

### Verdict

The two differ: much.

### Key Findings:
- **`void f<int>(a `b`)` on device `GPU 7`:**
  - Its share (β) **increased** from **2.71%** to **8.62%** (+5.91 ppt), which is significant (p-value: 0.004).
  - These metrics (μ) go with it:
    - **`gpu_usage_2`**: decreased from 118,687.50 to 21,000.00.
- **`oncpu` on device `Host`:**
  - Its share (β) **decreased** from **120.00%** to **110.00%** (-10.00 ppt), which may be chance (p-value: nan).

### Detailed comparison table

| Function Name | Metric Name | Device | Suspicion Score | β_old(%) | β_new(%) | Δβ(%) | Z-Score(β) | p-value(β) | U-test p(β) | μ_old | μ_new | Δμ | Z-Score(μ) | p-value(μ) |
|:---|:---|:---|---:|---:|---:|---:|---:|---:|---:|:---|:---|---:|---:|---:|
| void f<int>(a `b`) | gpu_usage | GPU 7 | 1561.72 | 2.71 | 8.62 | 5.91 | 246.52 | 0 | 0.001 | 118,687.50 | 21,000.00 | -9.76e+07 | -3 | nan |
| operator|| and \\| | N/A | Host | 3 | 1 | 1.5 | 0.5 | 6 | 0.3 | 0.25 | 0.00 | 0.00 | 0 | 0 | 1 |

## 5. Legend
- **β (Beta)**: words.
'''


def reports():
    header = 'Function Name,Metric Name,Device,Suspicion Score,β_old(%),β_new(%),Δβ(%),Z-Score(β),p-value(β),U-test p(β),μ_old,μ_new,Δμ,Z-Score(μ),Z-Score(log_μ),p-value(μ),U-test p(μ)\n'
    return {'whole.md': REPORT, 'crlf.md': REPORT.replace('\n', '\r\n'), 'cut.md': REPORT[:1500], 'small.md': REPORT[:40] + '\n| Function Name | Suspicion Score |\n|---|---|\n| f | 9 |\n',
            'table.csv': header + '"f(int, ""x"")",m,GPU 1,1.5,1.0,2.0,1.0,1.5,0.25,0.5,1234567.125,2.0,-3.0,4.0,5.0,,0.75\n',
            'named.csv': header.replace(',U-test p(μ)', ',U-test p(μ),Presence,Base PID') + 'f,m,Host,1,1,2,1,1,0,0,1,2,1,4,5,,0.75,both,7\n'}


def databases():
    kernel = 'CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, "end" INTEGER, deviceId INTEGER, streamId INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, ' \
             'blockX INTEGER, blockY INTEGER, blockZ INTEGER, demangledName INTEGER, shortName INTEGER);' \
             'INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (3000, 3750, 0, 13, 1, 1, 1, 32, 1, 1, 9, 9), (2000, 2250, 0, 7, 64, 2, 1, 256, 1, 1, 7, 8), ("x", NULL, -5, 1e300, 1, 1, 1, 1, 1, 1, 55, 8);'
    names = 'CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL); INSERT INTO StringIds VALUES (7, "void f<int>(int)"), (8, "f"), (9, "g");'
    copies = 'CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, "end" INTEGER, deviceId INTEGER, streamId INTEGER, bytes INTEGER, copyKind INTEGER);' \
             'INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1000, 1500, 0, 7, 4096, 1), (5000, 5100, 0, 7, 64, 99);'
    view = 'CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100) SELECT i AS start, i + 1 AS "end", 0 AS deviceId, i AS demangledName FROM n;'
    for name, script in (('whole', names + kernel + copies), ('kernels', kernel), ('view', view), ('nothing', names)):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, 'db')
            database = sqlite3.connect(path)
            database.executescript('PRAGMA page_size = 512; VACUUM;' + script)
            database.close()
            yield name + '.sqlite', path.read_bytes()


def others():
    tables = {path.rsplit('/', 1)[-1]: content for path, content in recordings.unpacked(recordings.ascend_folder()).items() if not path.endswith('trace_view.json')}
    return {**{'table_' + name: name.encode() + b'\n' + content for name, content in tables.items()}, 'table_broken': b'memory_record.csv\nComponent,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type\n\nPTA,1,"x\n"\n', 'table_cut': b'kernel_details.csv\nNAME,Type,accelerator core,Duration(us),Start Time(us)\na,Cast,AI_CORE,2.5,1\na,Cast,AI_CORE,2',
            'table_marked': b'COMMUNICATION.JSON\n\xef\xbb\xbf{"step": {"collective": {}}}', 'table_wide': b'operator_memory.csv\n' + 'Name,Size(KB)\n'.encode('utf-16'), 'rpd': recordings.rpd(), 'rocpd': recordings.rocpd((0, 1, 2)),
            'observed': (HERE.parent / 'fixtures' / 'recorded' / 'autograd_1_13.json').read_bytes()[:4096], 'snapshot': recordings.snapshot(), 'code': recordings.pickle_with_code(), 'timeline': recordings.memory_timeline(),
            'xplane': recordings.xplane(), 'perfetto': recordings.perfetto(), 'perfetto_compressed': recordings.perfetto(zlib.compress),
            'execution': recordings.execution_trace(), 'execution_1_0_1': recordings.execution_trace('1.0.1'), 'chakra_json': recordings.chakra_json(), 'chakra': recordings.chakra(),
            'rocprof': recordings.rocprof(),
            'rocprof_counters': recordings.rocprof_counters(),
            'rocprof_processes': recordings.rocprof_processes(),
            'ascend': recordings.ascend_trace(), 'ascend_cut': recordings.ascend_trace()[:recordings.ascend_trace().index(b'{"ph": "M"')], 'rocpd_nodes': recordings.rocpd((2,), recordings.TWO_NODES),
            'ascend_db': recordings.ascend_database(), 'nsys': recordings.nsys(), 'collapsed': recordings.collapsed(),
            'speedscope': recordings.speedscope(), 'proton': recordings.proton(), 'zip': recordings.archive({'a.json': recordings.ascend_trace()})}


def hardware():
    def cell(value):
        return '"%s"' % json.dumps(value).replace('"', '""')
    env = cell({'env': {'hostname': 'h1'}})
    rows = [('CAT_CPU', {'macro': {'cores': 32, 'freq': '4000 MHz'}}), ('CAT_MEMORY', {'macro': {'size': '512 MB'}}), ('CAT_XPU', {'macro': {'index': 5, 'memory_capacity': 85899345920}}),
            ('CAT_PROCESS', {'macro': {'pid': 520152, 'gpu_index': 7}}), ('CAT_NET', {'macro': {'speed': 1e300}})]
    text = 'name,category,config,inventory\n' + ''.join('part,%s,%s,%s\n' % (category, env, cell(inventory)) for category, inventory in rows)
    return {'whole.csv': text, 'mark.csv': '\ufeff' + text + 'part,CAT_CPU,"open', 'broken.csv': 'category,config,inventory\nCAT_CPU,{broken,"{""macro"": {""cores"": 1}}"\nCAT_CPU\n'}


def forms():
    whole = 'multipart/form-data; boundary=AB\n--AB\r\nContent-Disposition: form-data; name="run"\r\n\r\nmine\r\n--AB\r\n' \
            'Content-Disposition: form-data; name="file"; filename="a.json"\r\nContent-Type: application/json\r\n\r\n{"a": "\r\n--A"}\r\n--AB--\r\n'
    return {'whole': whole, 'quoted': whole.replace('boundary=AB', 'charset=x; boundary="AB"'), 'cut': whole[:120], 'preamble': whole.replace('\n--AB\r\n', '\nwords\r\n--AB \t\r\n', 1),
            'extended': whole.replace('filename="a.json"', "filename*=UTF-8''%e2%82%ac%20x.json; filename=\"..\\\\b\\\".json\""), 'other': 'application/json\n{}', 'no_boundary': 'multipart/form-data\nx'}


def queries():
    return {'plain': 'run=a&worker=b+c&span=1', 'escapes': 'a%2Fb=%E2%82%AC&x=%00', 'bad': 'a=%zz&b=%f', 'empty': '', 'signs': '&&=&a&=b&a=1&a=2', 'numbers': 'a=9223372036854775807&b=-9223372036854775809&c=1e3&d=+5',
            'many': '&'.join('p%d=%d' % (i, i) for i in range(70))}


def bodies():
    return {'both': '{"tags": ["a", "b"], "note": "words"}', 'note': '{"note": "\\u20ac \\ud83d\\ude00"}', 'empty': '{}', 'wrong': '{"tags": "a"}', 'twice': '{"note": "a", "note": "b"}', 'deep': '[' * 60 + ']' * 60,
            'levels_64': '{"note": ' + '[' * 63 + ']' * 63 + '}', 'levels_65': '{"note": ' + '[' * 64 + ']' * 64 + '}'}


def tokens():
    file = '# who may what\nadmin ann %s\nviewer vic %s # reads\n' % tuple(hashlib.sha256(t).hexdigest() for t in (b'secret', b'look'))
    basic = base64.b64encode(b'ann:secret').decode()
    return {'bearer': 'Bearer secret\n' + file, 'basic': 'Basic %s\n' % basic + file, 'viewer': 'bearer   look \n' + file, 'none': '\n' + file, 'bad': 'Basic ====\nadmin ann 12\n', 'no_colon': 'Basic YWJj\n' + file}


def packed():
    numbers = b'\x06' + bytes([0, 255, 7, 7, 7, 1]) + bytes([7, 2, 4, 6, 8, 1, 3, 5]) + b'\x08\x06abcde\x00\x01\x02x\x00\x00\x00\x00'
    return {'stored': b'\x00' + zstd(numbers, '--no-check'), 'plain': b'\x01' + numbers, 'texts': b'\x01\x03\x03ab\x00\x01', 'values': b'\x02' + bytes(range(64)), 'extremes': b'\x02' + b'\xff' * 16 + b'\0' * 8 + b'\x80' + b'\0' * 7}


def event_blocks():
    made = {name: b'\0' + text for name, text in traces().items() if len(text) < 5000}
    counts = bytes([3, 4]) + b'\x03"a"\x04"bc"' + bytes(range(40))
    for way in (1, 2, 3):
        made['stored_%d' % way] = bytes([way, 5]) + counts
    made['packed'] = b'\x04\x02' + zstd(counts)
    return made


def timeline_blocks():
    items = bytes((i * 37 + k * 11) % 256 for i in range(40) for k in range(8))
    block = bytes([2, 0, 2, 10, 4, 0, 6, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0])
    return {'items': b'\x02' + items, 'block': b'\x01' + block, 'stored': b'\x00' + zstd(block), 'small': b'\x02' + bytes(64), 'columns': b'\x01' + bytes(range(120)), 'zeros': b'\x01' + bytes(40), 'packed': b'\x00' + zstd(items)}


def main():
    targets = {'trace_json': traces(), 'input': inputs(), 'tables': tables(), 'plugin_json': answers(), 'report': reports(), 'hardware': hardware(), 'recordings': {**dict(databases()), **others()},
               'multipart': forms(), 'query': queries(), 'body': bodies(), 'access': tokens(), 'column_codec': packed(),
               'event_blocks': event_blocks(), 'timeline_blocks': timeline_blocks()}
    for target, files in targets.items():
        (CORPUS / target).mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (CORPUS / target / name).write_bytes(content.encode() if isinstance(content, str) else content)
    total = sum(path.stat().st_size for path in CORPUS.glob('*/*'))
    print('%d targets, %d bytes' % (len(targets), total))
    return 0 if total <= MOST_BYTES else 1


if __name__ == '__main__':
    sys.exit(main())
