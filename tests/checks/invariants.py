#!/usr/bin/env python3
"""What holds for every trace: its tables add up, no time is negative, no word has two figures, no advice is contradicted.

Each function under INVARIANTS states one such rule, asks /api/v1 and the file itself, and names what does not fit.
usage: invariants.py [FOLDER|TRACE]...     (default: a made trace, the fixtures, and the reference's traces where they are)
"""
import collections
import concurrent.futures
import decimal
import gzip
import hashlib
import json
import pathlib
import re
import statistics
import sys

import kinetoscope

WORK = {'kernel', 'memcpy', 'gpu_memcpy', 'mlu_memcpy', 'memset', 'gpu_memset', 'mlu_memset', 'mtia_ccp_events'}
KERNELS = {'kernel', 'mtia_ccp_events'}
WAITS = re.compile('(event_wait|event_record|notify_wait|notify_record|stream.*wait.*event|context.*sync|event.*sync)', re.I)
HOST = {'cpu_op', 'operator', 'user_annotation'}
CALLS = re.compile(r'ProfilerStep#\d+$|enumerate\(DataLoader\)#.*\.__next__$|enumerate\(DataPipe\)#|Optimizer\.step|'
                   r'(nccl|gloo|cncl):(broadcast|all_reduce|reduce|all_gather|reduce_scatter)$', re.DOTALL)
STEP = re.compile(r'ProfilerStep#([0-9]+)')
TIMES = ['kernel', 'memcpy', 'memset', 'communication', 'runtime', 'dataloader', 'cpu_exec', 'other']
DEVICE_TIMES = TIMES[:4]
BLOCK = ('computation_ns', 'exposed_communication_ns', 'exposed_memcpy_ns', 'idle_ns')
VIEWS = ('overview', 'steps', 'operators', 'kernels', 'modules', 'device-time', 'device-time/operators', 'device-time/kernels',
         'engine-steps')
SIGNED = re.compile(r'(^|_)(start|end|gap|first|at)_ns$|^duration_diff')  # positions and gaps, which may be below zero
WINDOWS_A_TRACE = 2  # steps whose window is asked for: each is an analysis of its own


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
    """(name, bytes, text) of each file that has events; one of two equal ones."""
    seen = set()
    for path in map(pathlib.Path, paths):
        for found in [path] if path.is_file() else sorted(path.rglob('*')):
            if not found.name.endswith(('.json', '.json.gz')) or re.match('golden|oracle|case.json', found.name):
                continue
            data = found.read_bytes()
            digest = hashlib.sha256(data).digest()
            text = gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data
            if digest not in seen and b'"traceEvents"' in text:
                seen.add(digest)
                yield '%s/%s' % (found.parent.name, found.name), data, text


def ns(us):
    """Nanoseconds of a number as it is printed; half to even below."""
    whole, dot, rest = us.partition('.')
    if not dot and whole.lstrip('-').isdigit():
        return int(whole) * 1000
    if rest.isdigit() and len(rest) <= 3 and whole.lstrip('-').isdigit():
        return int(whole + rest.ljust(3, '0'))
    return int((decimal.Decimal(us) * 1000).to_integral_value(decimal.ROUND_HALF_EVEN))


class File:
    """What a plain count of the file says. `events` is None where it is no strict JSON."""

    def __init__(self, text):
        try:
            trace = json.loads(text, parse_float=str, parse_int=str)
            self.lightning = trace.get('Framework') == 'pytorch-lightning'
            self.events = [e for e in trace['traceEvents'] if e.get('ph') == 'X' and e.get('ts') is not None and 'name' in e]
            self.work = [e for e in self.events if str(e.get('cat', '')).lower() in WORK and not WAITS.match(e['name'])]
            self.duration_ns = {id(e): max(ns(e['dur']), 0) if e.get('dur') else 0 for e in self.work}
        except (ValueError, TypeError, AttributeError, ArithmeticError):
            self.events = None

    def kernels(self):
        times = [self.duration_ns[id(e)] for e in self.work if e['cat'].lower() in KERNELS]
        return len(times), sum(times)

    def device_ns(self):
        return sum(self.duration_ns.values())

    def steps(self):
        """(number, duration) of the steps of the host thread that has most of them."""
        threads = collections.defaultdict(list)
        for place, e in enumerate(self.events):
            if e.get('cat') in ('user_annotation', 'cpu_op', 'Operator') and STEP.fullmatch(e['name']) and e.get('dur') and ns(e['dur']) > 0:
                threads[e.get('pid'), e.get('tid')].append((ns(e['ts']), -ns(e['dur']), place, e))
        if not threads:
            return []
        best = max(threads.values(), key=lambda rows: (len(rows), -sum(r[1] for r in rows), -rows[0][2]))
        return [(str(int(STEP.fullmatch(e['name'])[1])), -minus_dur) for start, minus_dur, place, e in sorted(best)]

    def calls(self):
        """(calls that the call tree shows, modules by name and id)"""
        events = [(str(e.get('cat', '')).lower(), e['name'], e.get('args') or {}) for e in self.events]
        if self.lightning:
            events = [e for e in events if e[0] != 'python_function' and not e[1].startswith('[pl][profile]')]
        modules = collections.Counter((name.replace('nn.Module: ', ''), int(args['Python module id'])) for cat, name, args in events
                                      if cat == 'python_function' and 'Python module id' in args)
        named = sum(cat in HOST and (cat != 'user_annotation' or CALLS.match(name) is not None) for cat, name, args in events)
        return named + sum(cat == 'python' for cat, name, args in events) + sum(modules.values()), modules


class Trace:
    def __init__(self, server, name, trace, file):
        self.server, self.name, self.id, self.file, self.faults, self.answers = server, name, trace['id'], file, [], {}

    def ask(self, view, /, **query):
        """The answer; None where the trace does not have the view."""
        key = view, *sorted(query.items())
        if key not in self.answers:
            answer = self.server.get('/api/v1/traces/%d%s%s' % (self.id, view and '/', view), **query)
            if answer.status not in (200, 404):
                raise AssertionError('%s: %s answered %d: %s' % (self.name, view, answer.status, answer.body[:300]))
            self.answers[key] = answer.json() if answer.status == 200 else None
        return self.answers[key]

    def table(self, view):
        return self.ask(view) if view == 'modules' else self.ask(view, limit=0)

    def equal(self, what, got, want):
        if got != want:
            self.faults.append('%s: %s: %s, want %s' % (self.name, what, got, want))

    def holds(self, what, holds):
        self.equal(what, bool(holds), True)

    def near(self, what, got, want):
        if got != want and (got is None or want is None or abs(got - want) > 1e-9 * max(1, abs(want))):
            self.equal(what, got, want)


# ---- tables add up ----

def operators_add_up(t):
    """Operators and what none launched are the device time; every grouping has the same sums."""
    table = t.table('operators')
    sums, rows = table['sums'], table['rows']
    t.equal('operators + unattributed', sums['device_self_ns'] + sums['unattributed_device_ns'], sums['device_ns'])
    t.holds('unattributed is not negative', sums['unattributed_device_ns'] >= 0)
    for row in rows:
        t.holds('times of %s' % row['name'], 0 <= row['device_self_ns'] <= row['device_total_ns'] and
                0 <= row['host_self_ns'] <= row['host_total_ns'])
    by_shape = t.ask('operators', group_by='name_shape', limit=0)['rows']
    for column in ('calls', 'host_self_ns', 'device_self_ns'):
        t.equal(column, sum(r[column] for r in rows), sums[column])
        t.equal('%s by shape' % column, sum(r[column] for r in by_shape), sums[column])


def kernels_add_up(t):
    """Launch configurations are the kernels; kernels of an operator are in its device time; both are those of the file."""
    rows, launches = t.table('kernels')['rows'], t.ask('kernels', group_by='launch', limit=0)['rows']
    operators = t.table('operators')
    by_name, by_operator = collections.Counter(), collections.Counter()
    for row in launches:
        by_name[row['name']] += row['total_ns']
        by_operator[row['operator']] += row['total_ns']
    t.equal('calls by launch', sum(r['calls'] for r in launches), sum(r['calls'] for r in rows))
    for row in rows:
        t.equal('launches of %s' % row['name'], by_name[row['name']], row['total_ns'])
    self_ns = {row['name']: row['device_self_ns'] for row in operators['rows']}
    for name, total_ns in by_operator.items():
        if name:
            t.holds('kernels of %s are its device work' % name, total_ns <= self_ns.get(name, -1))
    if t.file.events is not None:
        t.equal('kernels of the file', (sum(r['calls'] for r in rows), sum(r['total_ns'] for r in rows)), t.file.kernels())
        t.equal('device work of the file', operators['sums']['device_ns'], t.file.device_ns())


def calls_add_up(t):
    """The call tree shows every call, the modules each of theirs."""
    if t.file.events is None:
        return
    calls, modules = t.file.calls()
    tree = t.ask('tree')
    if tree is not None:
        t.equal('nodes of the call tree', sum(thread['nodes'] - 1 for thread in tree['threads'] if not thread['lightning_profile']), calls)
    table = t.table('modules')
    for row in table['rows'] if table is not None and modules else ():
        t.equal('calls of module %s %s' % (row['name'], row['module_id']), row['occurrences'], modules[row['name'], row['module_id']])


def device_time_adds_up(t):
    """Parts of a window of device time are the window; classes, owners and devices are all device work."""
    times = t.ask('device-time')
    for place in [times] + times['devices']:
        for block in filter(None, (place['window'], place['launched'], place['steps'])):
            t.equal('parts of a window', sum(block[part] for part in BLOCK), block['total_ns'])
            t.equal('busy and idle', block['busy_ns'] + block['idle_ns'], block['total_ns'])
    classes = {row['class']: row['device_ns'] for row in times['classes']}
    t.equal('classes', sum(classes.values()), times['device_ns'])
    t.equal('kinds of communication', sum(r['device_ns'] for r in times['communication_kinds']), classes.get('communication', 0))
    t.equal('devices', sum(r['device_ns'] for r in times['devices']), times['device_ns'])
    kernels = t.table('device-time/kernels')['rows']
    t.equal('kernels with a class', sum(r['device_ns'] for r in kernels if r['class'] != 'sync'), times['device_ns'])
    owners = t.table('device-time/operators')
    t.equal('owners of device work', sum(r['device_ns'] for r in owners['rows']), times['device_ns'])
    if owners['rows'] and times['device_ns']:
        t.near('shares of owners', sum(r['share'] for r in owners['rows']), 1)


def engine_steps_add_up(t):
    """Phases are the engine's steps; classes are a step's device work."""
    steps = t.table('engine-steps')
    t.equal('steps by phase', sum(p['steps'] for p in steps['phases']), steps['total'])
    for column in ('duration_ns', 'device_ns'):
        t.equal('%s by phase' % column, sum(p[column] for p in steps['phases']), sum(r[column] for r in steps['rows']))
    for row in steps['rows'] + steps['phases']:
        t.equal('classes of an engine step', sum(row['classes'].values()), row['device_ns'])


# ---- steps ----

def steps_are_annotations(t):
    """As many steps as annotations, each as long as its own; without any there is none, and the whole trace is one window."""
    rows = t.table('steps')['rows']
    overview = t.ask('overview')
    t.equal('rows of steps', len(rows), overview['steps'])
    t.equal('steps of the trace', overview['trace']['steps'], overview['steps'])
    t.equal('has steps', overview['has_steps'], bool(rows))
    t.equal('average step', overview['average_step_ns'] is None, not rows)
    if t.file.events is not None:
        marks = t.file.steps()
        if marks and len(set(name for name, dur in marks)) == len(marks):  # two of one name that overlap are one
            t.equal('steps of the file', [(r['name'], r['duration_ns']) for r in rows], marks)
    engine = t.table('engine-steps')['rows']
    if engine and t.file.events is not None and not t.file.steps():
        t.equal('engine steps', [(r['name'], r['duration_ns']) for r in rows], [(r['annotation'], r['duration_ns']) for r in engine])


def columns_are_the_step(t):
    """What a step's time goes to adds up to the step, and is what its window answers; so for the whole trace."""
    rows = t.table('steps')['rows']
    overview = t.ask('overview')
    for step in rows:
        t.equal('times of step %s' % step['name'], sum(step[name + '_ns'] for name in TIMES), step['duration_ns'])
        t.holds('step %s takes time' % step['name'], step['duration_ns'] > 0)
        t.equal('idle time of step %s' % step['name'], step['idle_ns'], step['duration_ns'] - sum(step[name + '_ns'] for name in DEVICE_TIMES))
        t.holds('device work of step %s' % step['name'], step['device_busy_ns'] <= step['device_ns'])
    for step in rows[:WINDOWS_A_TRACE]:
        window = t.ask('window', start_ns=step['start_ns'], end_ns=step['start_ns'] + step['duration_ns'], limit=1)
        t.equal('window of step %s' % step['name'], {name: window['roles'][name] for name in TIMES}, {name: step[name + '_ns'] for name in TIMES})
    whole_ns = overview['average_step_ns'] if rows else overview['trace']['duration_ns']
    t.near('roles of the overview', sum(r['mean_ns'] for r in overview['roles']), whole_ns or 0)


def one_step_time(t):
    """Overview, steps, cycles and the timeline's ruler say the same of a step."""
    rows = t.table('steps')['rows']
    overview = t.ask('overview')
    durations = [r['duration_ns'] for r in rows]
    if rows:
        t.near('average step', overview['average_step_ns'], statistics.fmean(durations))
        median = statistics.median(durations)
        odd = {place for place, dur in (('first', durations[0]), ('last', durations[-1])) if dur > 2 * median or 2 * dur < median}
        t.equal('odd steps', {row['place'] for row in overview['health']['odd_steps']}, odd)
    ruler = t.ask('timeline/tracks')
    if ruler is not None:
        t.equal('steps of the ruler', [(s['name'], s['end_ns'] - s['start_ns']) for s in ruler['steps']], [(r['name'], r['duration_ns']) for r in rows])
    cycles = t.ask('cycles')
    if cycles is not None and cycles['source'] == 'profiler_steps':
        cycle_ns = collections.Counter(round(c['duration_ns']) for c in cycles['cycles'])
        t.holds('cycles that are steps', cycle_ns <= collections.Counter(durations))  # one without device work is no cycle


# ---- no figure is out of bounds ----

def nothing_is_negative(t):
    """No time and no count is negative, no share is above one."""
    def walk(view, value, key=''):
        if isinstance(value, dict):
            for name, inner in value.items():
                walk(view, inner, name)
        elif isinstance(value, list):
            for inner in value:
                walk(view, inner, key)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            signed = SIGNED.search(key) is not None
            if key.endswith('_ns') and not signed:
                t.holds('%s of %s is not negative: %s' % (key, view, value), value >= 0)
            if key.endswith('share') or key in ('utilisation', 'sm_efficiency'):
                t.holds('%s of %s is a share: %s' % (key, view, value), 0 <= value <= 1 + 1e-9)
    for view in VIEWS:
        walk(view, t.ask(view) if view in ('overview', 'device-time') else t.table(view))


# ---- one word, one figure ----

def one_device_time(t):
    """Operators, device time and kernels count the same device work."""
    operators, times = t.table('operators'), t.ask('device-time')
    t.equal('device time', operators['sums']['device_ns'], times['device_ns'])
    classed = collections.Counter()
    for row in t.table('device-time/kernels')['rows']:
        classed[row['name']] += row['device_ns']
    for row in t.table('kernels')['rows']:
        t.holds('kernel %s' % row['name'], row['total_ns'] <= classed[row['name']])


def one_matrix_unit_share(t):
    """The share of matrix units is one figure on the overview and among the kernels, and that of their rows."""
    kernels, overview = t.table('kernels'), t.ask('overview')
    total_ns = sum(r['total_ns'] for r in kernels['rows'])
    used_ns = sum(r['total_ns'] for r in kernels['rows'] if r['tensor_cores'])
    if total_ns:
        t.near('share among the kernels', kernels['tensor_core_share'], used_ns / total_ns)
    if overview['tensor_core'] is not None:
        t.near('share of the overview', overview['tensor_core']['used_share'], kernels['tensor_core_share'])
        devices = [d['tensor_core_share'] for d in overview['devices'] if d['tensor_core_share'] is not None]
        if len(overview['devices']) == 1 and devices:
            t.near('share of the device', devices[0], overview['tensor_core']['used_share'])
    by_rules_ns = sum(r['device_ns'] for r in t.table('device-time/kernels')['rows'] if r['matrix_unit'])
    t.equal('matrix_unit_ns', t.ask('device-time')['matrix_unit_ns'], by_rules_ns)
    for row in kernels['rows']:
        t.equal('matrix unit of %s' % row['name'], row['tensor_cores'], row['matrix_unit'] is True)


def one_utilisation(t):
    """A device's utilisation is that of its steps, or where there are none of its window, as device time has it."""
    times, overview = t.ask('device-time'), t.ask('overview')
    blocks = {row['device']: row for row in times['devices']}
    for device in overview['devices']:
        block = blocks.get(device['id'])
        if device['utilisation'] is None or block is None:
            continue
        t.equal('window of the utilisation', device['utilisation_of'], 'steps' if overview['steps'] else 'window')
        t.near('utilisation of device %d' % device['id'], device['utilisation'], (block['steps'] or block['window'])['utilisation'])
    if times['device_ns']:
        t.holds('devices that worked are listed', overview['devices'])


def one_communication(t):
    """Communication is class communication: a step has none in a trace without such work."""
    kinds = t.ask('device-time')['communication_kinds']
    if not kinds:
        t.equal('communication of steps', sum(r['communication_ns'] for r in t.table('steps')['rows']), 0)


# ---- advice and health ----

def idle_names_a_cause(t):
    """The cause beside the idle time is no larger than it, and is the host's."""
    idle = t.ask('overview')['idle']
    if idle is None:
        return
    t.equal('window of the idle time', idle['of'], 'steps' if t.ask('overview')['steps'] else 'trace')
    if idle['cause'] is not None:
        t.holds('cause of idle time', 0 <= idle['cause_ns'] <= idle['idle_ns'])
        t.holds('a cause of the host', idle['cause'] not in DEVICE_TIMES)


def advice_holds(t):
    """Advice names its evidence, a view that is there, a document, and a saving within the step; figures do not contradict it."""
    overview = t.ask('overview')
    step_ns = overview['average_step_ns'] or overview['trace']['duration_ns']
    share = {r['role']: r['share'] for r in overview['roles']}
    for advice in overview['recommendations']:
        code = advice['code']
        views = overview['trace']['views']
        t.holds('evidence of %s' % code, advice['evidence'].split('?')[0] in views + ['distributed'] + ['idle'] * ('kernels' in views))
        t.holds('document of %s' % code, advice['documentation'].startswith('https://'))
        if advice['saving_ns'] is not None:
            t.holds('saving of %s: %s of %s' % (code, advice['saving_ns'], step_ns), 0 < advice['saving_ns'] <= step_ns)
        if code == 'dataloader':
            t.holds('the loader takes time', share['dataloader'] > 0.05)
        if code == 'communication':
            t.holds('communication takes time', share['communication'] > 0.1)
        if code == 'utilisation':
            t.holds('a device is idle', any(d['utilisation'] < 0.5 for d in overview['devices']))
            t.holds('there are host events', overview['steps'] or t.table('operators')['rows'])
        if code == 'tensor_cores':
            plain_ns = sum(r['total_ns'] for r in t.table('kernels')['rows'] if not r['tensor_cores'])
            t.holds('kernels without matrix units', plain_ns >= 0.1 * step_ns * max(1, overview['steps']))


def what_is_missing_is_missing(t):
    """What health calls missing no other view shows."""
    overview = t.ask('overview')
    if 'slices' in overview['trace']['views']:  # a trace of another kind: a PyTorch profiler's options would not help
        return
    missing = {row['view'] for row in overview['health']['missing']}
    t.equal('no kernels', 'kernels' in missing, not t.ask('device-time')['device_ns'] and not t.table('kernels')['rows'] and
            not t.ask('device-time')['classes'])
    t.equal('no steps', 'steps' in missing, overview['steps'] == 0)
    t.equal('no modules', 'modules' in missing, not {'modules', 'lightning'} & set(overview['trace']['views']))


INVARIANTS = (operators_add_up, kernels_add_up, calls_add_up, device_time_adds_up, engine_steps_add_up, steps_are_annotations,
              columns_are_the_step, one_step_time, nothing_is_negative, one_device_time, one_matrix_unit_share, one_utilisation,
              one_communication, idle_names_a_cause, advice_holds, what_is_missing_is_missing)


def check_made(t):
    """What the made trace must answer, worked out by hand."""
    operators = t.table('operators')
    device = {row['name']: row['device_self_ns'] for row in operators['rows']}
    t.equal('device time of operators', device, {'aten::bmm': 33000, 'aten::late': 11000})
    t.equal('unattributed', operators['sums']['unattributed_device_ns'], 49000)
    t.equal('calls of aten::bmm', [r['calls'] for r in operators['rows'] if r['name'] == 'aten::bmm'], [2])
    steps = t.table('steps')['rows']
    t.equal('steps', [(s['name'], s['duration_ns'], s['launches']) for s in steps], [('1', 100000, 2), ('2', 100000, 1)])


def check(server, number, name, data, text):
    """Faults of one file."""
    answer = server.put('invariants', '%d.%s' % (number, name.replace('/', '_')), data)
    if answer.status in (415, 422):
        return []
    trace = Trace(server, name, kinetoscope.uploaded(answer)[0], File(text))
    for invariant in INVARIANTS + ((check_made,) if name == 'made' else ()):
        try:
            invariant(trace)
        except (KeyError, TypeError) as error:
            trace.faults.append('%s: %s: %r' % (name, invariant.__name__, error))
    return trace.faults


def main():
    reference = [kinetoscope.REFERENCE / 'data' / folder for folder in ('real', 'cases', 'cycles')]
    paths = sys.argv[1:] or [kinetoscope.FIXTURES] + [p for p in reference if p.exists()]
    made = made_trace()
    with kinetoscope.Server() as server, concurrent.futures.ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(check, server, 0, 'made', made, made)]
        waiting += [pool.submit(check, server, number, *found) for number, found in enumerate(traces(paths), 1)]
        results = [done.result() for done in waiting]
    faults = [fault for result in results for fault in result]
    for fault in faults[:60]:
        print(fault)
    print('invariants: %d rules, %d traces, %d faults' % (len(INVARIANTS), len(results), len(faults)))
    return 1 if faults or len(results) < 2 else 0


if __name__ == '__main__':
    sys.exit(main())
