#!/usr/bin/env python3
"""The tables of a trace add up: answers of /api/v1 compared with each other, and with a plain count of the file.

usage: sums.py [FOLDER|TRACE]...     (default: a made trace, the fixtures, and the reference's traces where they are)
"""
import collections
import decimal
import gzip
import json
import pathlib
import re
import sys

import kinetoscope

WORK = {'kernel', 'memcpy', 'gpu_memcpy', 'mlu_memcpy', 'memset', 'gpu_memset', 'mlu_memset', 'mtia_ccp_events'}
KERNELS = {'kernel', 'mtia_ccp_events'}
WAITS = re.compile('event_wait|event_record|notify_wait|notify_record')
HOST = {'cpu_op', 'operator', 'user_annotation'}
CALLS = re.compile(r'ProfilerStep#\d+$|enumerate\(DataLoader\)#.*\.__next__$|enumerate\(DataPipe\)#|Optimizer\.step|'
                   r'(nccl|gloo|cncl):(broadcast|all_reduce|reduce|all_gather|reduce_scatter)$', re.DOTALL)
TIMES = ['kernel', 'memcpy', 'memset', 'communication', 'runtime', 'dataloader', 'cpu_exec', 'other']


def made_trace():
    """Work launched by a driver call, by a call whose id is another operator's, by no call; a step of the device; a row of an
    accelerator that says no more; operators that overlap, and one in another of its name."""
    def event(cat, name, tid, ts, dur, **args):
        return {'ph': 'X', 'cat': cat, 'name': name, 'pid': 0 if tid >= 100 else 1, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args}

    return json.dumps({'traceEvents': [
        event('user_annotation', 'ProfilerStep#1', 1, 0, 100), event('gpu_user_annotation', 'ProfilerStep#1', 100, 300, 50),
        event('user_annotation', 'ProfilerStep#2', 1, 100, 100), event('cpu_op', 'aten::bmm', 1, 10, 50, **{'External id': 4}),
        event('cpu_op', 'aten::bmm', 1, 15, 40, **{'External id': 5}), event('cuda_driver', 'cuLaunchKernelEx', 1, 20, 5, correlation=7),
        event('kernel', 'triton_bmm', 100, 310, 30, correlation=7, device=0, stream=100), event('cpu_op', 'aten::late', 1, 50, 20),
        event('cuda_runtime', 'cudaLaunchKernel', 1, 65, 2, correlation=8, **{'External id': 4}),
        event('kernel', 'late', 100, 345, 11, correlation=8, device=0, stream=100), event('kernel', 'lost', 100, 400, 13),
        event('gpu_memcpy', 'copy', 100, 420, 3, correlation=99, **{'External id': 5}), event('mtia_ccp_events', 'pe_exe', 101, 500, 17),
        event('mtia_ccp_events', 'event_wait', 101, 520, 1000), event('cuda_driver', 'cuLaunchKernel', 2, 150, 5, correlation=9),
        event('kernel', 'alone', 100, 600, 19, correlation=9, device=0, stream=100)]}).encode()


def traces(paths):
    for path in map(pathlib.Path, paths):
        for found in [path] if path.is_file() else sorted(path.rglob('*')):
            if found.name.endswith(('.json', '.json.gz')) and not re.match('golden|oracle|case.json', found.name):
                data = found.read_bytes()
                text = gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data
                if b'"traceEvents"' in text:
                    yield '%s/%s' % (found.parent.name, found.name), data, text


def ns(us):
    return int((decimal.Decimal(us) * 1000).to_integral_value(decimal.ROUND_HALF_EVEN)) if us else 0


def count_file(text):
    """(kernels, their time, time of all device work) of a file that is strict JSON, else None."""
    try:
        events = json.loads(text, parse_float=decimal.Decimal)['traceEvents']
        rows = [e for e in events if e.get('ph') == 'X' and str(e.get('cat', '')).lower() in WORK and e.get('ts') is not None and
                'name' in e and not WAITS.match(e['name'])]
        kernels = [ns(e.get('dur')) for e in rows if e['cat'].lower() in KERNELS]
        return len(kernels), sum(map(max, kernels, [0] * len(kernels))), sum(max(ns(e.get('dur')), 0) for e in rows)
    except (ValueError, TypeError, AttributeError, decimal.DecimalException):
        return None


def count_calls(text):
    """(calls that the call tree shows, modules by name and id) of a file that is strict JSON, else None."""
    try:
        trace = json.loads(text)
        lightning = trace.get('Framework') == 'pytorch-lightning'
        events = [(str(e.get('cat', '')).lower(), e['name'], e.get('args') or {}) for e in trace['traceEvents']
                  if e.get('ph') == 'X' and e.get('ts') is not None and 'name' in e]
        if lightning:
            events = [e for e in events if e[0] != 'python_function' and not e[1].startswith('[pl][profile]')]
        modules = collections.Counter((name.replace('nn.Module: ', ''), args['Python module id']) for cat, name, args in events
                                      if cat == 'python_function' and 'Python module id' in args)
        named = sum(cat in HOST and (cat != 'user_annotation' or CALLS.match(name) is not None) for cat, name, args in events)
        return named + sum(cat == 'python' for cat, name, args in events) + sum(modules.values()), modules
    except (ValueError, TypeError, AttributeError):
        return None


class Sums:
    def __init__(self, server, name, trace):
        self.server, self.name, self.id, self.faults = server, name, trace['id'], []

    def get(self, view, /, **query):
        answer = self.server.get('/api/v1/traces/%d/%s' % (self.id, view), **query)
        if answer.status != 200:
            raise AssertionError('%s: %s answered %d: %s' % (self.name, view, answer.status, answer.body[:300]))
        return answer.json()

    def equal(self, what, got, want):
        if got != want:
            self.faults.append('%s: %s: %s, want %s' % (self.name, what, got, want))

    def holds(self, what, holds):
        self.equal(what, bool(holds), True)

    def check(self, text):
        operators = self.check_operators()
        self.check_kernels(operators, count_file(text))
        self.check_steps()
        self.check_calls(count_calls(text))
        return self.faults

    def check_operators(self):
        table = self.get('operators', limit=0)
        sums, rows = table['sums'], table['rows']
        self.equal('operators + unattributed', sums['device_self_ns'] + sums['unattributed_device_ns'], sums['device_ns'])
        self.holds('unattributed is not negative', sums['unattributed_device_ns'] >= 0)
        for row in rows:
            self.holds('times of %s' % row['name'], 0 <= row['device_self_ns'] <= row['device_total_ns'] and
                       0 <= row['host_self_ns'] <= row['host_total_ns'])
        for group in ('name', 'name_shape'):
            rows_of = self.get('operators', group_by=group, limit=0)['rows']
            for column in ('calls', 'host_self_ns', 'device_self_ns'):
                self.equal('%s by %s' % (column, group), sum(r[column] for r in rows_of), sums[column])
        return table

    def check_kernels(self, operators, counted):
        rows = self.get('kernels', limit=0)['rows']
        launches = self.get('kernels', group_by='launch', limit=0)['rows']
        by_name = collections.Counter()
        by_operator = collections.Counter()
        for row in launches:
            by_name[row['name']] += row['total_ns']
            by_operator[row['operator']] += row['total_ns']
        self.equal('calls by launch', sum(r['calls'] for r in launches), sum(r['calls'] for r in rows))
        for row in rows:
            self.equal('launches of %s' % row['name'], by_name[row['name']], row['total_ns'])
        self_ns = {row['name']: row['device_self_ns'] for row in operators['rows']}
        for name, total_ns in by_operator.items():
            if name:
                self.holds('kernels of %s are its device work' % name, total_ns <= self_ns.get(name, -1))
        if counted is not None:
            self.equal('kernels of the file', (sum(r['calls'] for r in rows), sum(r['total_ns'] for r in rows)), counted[:2])
            self.equal('device work of the file', operators['sums']['device_ns'], counted[2])

    def check_calls(self, counted):
        """The plugin's rules lose calls that overlap, melt operators of one name and move backward passes."""
        if counted is None:
            return
        calls, modules = counted
        threads = self.server.get('/api/v1/traces/%d/tree' % self.id)
        if threads.status == 200:
            nodes = [t['nodes'] - 1 for t in threads.json()['threads'] if not t['lightning_profile']]
            self.equal('nodes of the call tree', sum(nodes), calls)
        table = self.server.get('/api/v1/traces/%d/modules' % self.id)
        shown = {(r['name'], r['module_id']): r['occurrences'] for r in table.json()['rows']} if table.status == 200 else {}
        for module, occurrences in shown.items() if modules else ():
            self.equal('calls of module %s %s' % module, occurrences, modules[module])

    def check_steps(self):
        for step in self.get('steps', limit=0).get('rows', []):
            if step['duration_ns'] is not None:
                self.equal('times of step %s' % step['name'], sum(step[t + '_ns'] for t in TIMES), step['duration_ns'])
                self.holds('step %s takes time' % step['name'], step['duration_ns'] > 0 or step['name'] == '0')


def check_made(sums):
    """What the made trace must answer, worked out by hand."""
    operators = sums.get('operators', limit=0)
    device = {row['name']: row['device_self_ns'] for row in operators['rows']}
    sums.equal('device time of operators', device, {'aten::bmm': 33000, 'aten::late': 11000})
    sums.equal('unattributed', operators['sums']['unattributed_device_ns'], 49000)
    sums.equal('calls of aten::bmm', [r['calls'] for r in operators['rows'] if r['name'] == 'aten::bmm'], [2])
    steps = sums.get('steps', limit=0)['rows']
    sums.equal('steps', [(s['name'], s['duration_ns'], s['launches']) for s in steps], [('1', 100000, 2), ('2', 100000, 1)])


def main():
    reference = [kinetoscope.REFERENCE / 'data' / folder for folder in ('real', 'cases')]
    paths = sys.argv[1:] or [kinetoscope.FIXTURES] + [p for p in reference if p.exists()]
    faults, count = [], 0
    with kinetoscope.Server() as server:
        made = made_trace()
        sums = Sums(server, 'made', kinetoscope.uploaded(server.put('made', 'made.json', made))[0])
        faults += sums.check(made)
        check_made(sums)
        faults += sums.faults
        for count, (name, data, text) in enumerate(traces(paths), 1):
            answer = server.put('sums', '%d.%s' % (count, name.replace('/', '_')), data)
            if answer.status in (415, 422):
                continue
            faults += Sums(server, name, kinetoscope.uploaded(answer)[0]).check(text)
    for fault in faults[:40]:
        print(fault)
    print('sums: %d traces, %d faults' % (count + 1, len(faults)))
    return 1 if faults or count == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
