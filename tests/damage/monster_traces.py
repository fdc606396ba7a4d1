"""Traces in which one thing is as bad as it can be: one id for everything, one name, everything nested, everything distinct.

    MONSTERS[name](n) -> the text of a trace of about n events

Each is cheap to write and honest JSON. A function of the program that costs more than n log n shows on at least one of them.
"""
import random

HEAD = '{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"A100","totalGlobalMem":42505273344,"computeMajor":8,"computeMinor":0,"numSms":108}],'
START_US = 1650000000000000
MONSTERS = {}


def monster(make):
    MONSTERS[make.__name__] = make
    return make


def document(events, head=HEAD):
    return head + '"traceEvents":[\n' + ',\n'.join(events) + '\n]}'


def event(category, name, ts, dur, args='', pid=1, tid=1):
    return '{"ph":"X","cat":"%s","name":"%s","pid":%s,"tid":%s,"ts":%d,"dur":%d,"args":{%s}}' % (category, name, pid, tid, START_US + ts, dur, args)


def operator(ts, dur, name='aten::mm', external=None, args='', tid=1, pid=1):
    identity = '"External id":%d' % external if external is not None else ''
    return event('cpu_op', name, ts, dur, identity + (',' if identity and args else '') + args, pid, tid)


def call(ts, dur, correlation, external=0, tid=1, name='cudaLaunchKernel'):
    return event('cuda_runtime', name, ts, dur, '"External id":%d,"cbid":211,"correlation":%d' % (external, correlation), tid=tid)


def kernel(ts, dur, correlation, external=0, stream=7, device=0, name='gemm', more=''):
    args = ('"External id":%d,"device":%d,"context":1,"stream":%d,"correlation":%d,"registers per thread":32,"blocks per SM":1.5,"warps per SM":6,'
            '"grid":[64,1,1],"block":[128,1,1],"est. achieved occupancy %%":40%s' % (external, device, stream, correlation, more))
    return event('kernel', name, ts, dur, args, device, stream)


def step(number, ts, dur, tid=1):
    return event('user_annotation', 'ProfilerStep#%d' % number, ts, dur, tid=tid)


def memory(ts, size, address, total=0, device=0, tid=1):
    return ('{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":%d,"s":"t","ts":%d,"args":{"Total Reserved":%d,"Total Allocated":%d,'
            '"Bytes":%d,"Addr":%d,"Device Type":1,"Device Id":%d}}' % (tid, START_US + ts, total, total, size, address, device))


def python(ts, dur, name, identity, parent=None, module=None):
    args = '"Python id":%d' % identity
    if parent is not None:
        args += ',"Python parent id":%d' % parent
    if module is not None:
        args += ',"Python module id":%d' % module
    return event('python_function', name, ts, dur, args)


def flow(phase, category, ts, identity, pid=1, tid=1):
    return '{"ph":"%s","cat":"%s","name":"%s","pid":%d,"tid":%d,"ts":%d,"id":%d,"bp":"e"}' % (phase, category, category, pid, tid, START_US + ts, identity)


def counter(ts, name, value, series='v'):
    return '{"ph":"C","name":"%s","pid":1,"ts":%d,"args":{"%s":%d}}' % (name, START_US + ts, series, value)


def launches(n, correlation, external, stream=lambda i: 7):
    """n/2 calls, each with a kernel."""
    return [text for i in range(n // 2) for text in
            (call(4 * i, 2, correlation(i), external(i)), kernel(4 * i + 3, 3, correlation(i), external(i), stream(i)))]


def trained(n, correlation, external):
    """n/3 operators in 10 steps, each with a call and a kernel."""
    parts = n // 3
    per_step = max(1, parts // 10)
    events = [step(k, 10 * k * per_step, 10 * per_step - 1) for k in range((parts + per_step - 1) // per_step)]
    for i in range(parts):
        events += [operator(10 * i + 1, 6, external=external(i)), call(10 * i + 2, 2, correlation(i), external(i)),
                   kernel(10 * i + 4, 4, correlation(i), external(i))]
    return events


# ---- one of something for everything

@monster
def one_id(n):
    return document(launches(n, lambda i: 5, lambda i: 7))


@monster
def one_correlation(n):
    return document(trained(n, lambda i: 5, lambda i: i + 1))


@monster
def one_external_id(n):
    return document(trained(n, lambda i: i + 1, lambda i: 7))


@monster
def one_id_for_operators_too(n):
    return document(trained(n, lambda i: 5, lambda i: 7))


@monster
def one_id_calls_first(n):
    half = n // 2
    return document([call(3 * i, 2, 5, 7) for i in range(half)] + [kernel(3 * (half + i), 2, 5, 7) for i in range(half)])


@monster
def one_id_nested_operators(n):
    third = n // 3
    return document([operator(i, 4 * third - 2 * i, external=7) for i in range(third)] + launches(2 * third, lambda i: 5, lambda i: 7))


@monster
def one_id_calls_only(n):
    return document([call(3 * i, 2, 5, 7) for i in range(n)])


@monster
def one_id_kernels_only(n):
    return document([kernel(3 * i, 2, 5, 7) for i in range(n)])


@monster
def one_name(n):
    return document([operator(3 * i, 2) for i in range(n)])


@monster
def one_start(n):
    return document([operator(0, i) for i in range(n)])


@monster
def one_start_and_end(n):
    return document([operator(0, 5) for i in range(n)])


@monster
def one_start_no_duration(n):
    return document([operator(0, 0) for i in range(n)])


@monster
def one_start_launches(n):
    half = n // 2
    return document([call(0, 5, i, i) for i in range(half)] + [kernel(0, 5, i, i) for i in range(half)])


# ---- nested

@monster
def nested(n):
    return document([operator(i, 2 * n - 2 * i) for i in range(n)])


@monster
def nested_inner_first(n):
    return document([operator(i, 2 * n - 2 * i) for i in reversed(range(n))])


@monster
def nested_names(n):
    return document([operator(i, 2 * n - 2 * i, 'op%d' % i) for i in range(n)])


@monster
def nested_launches(n):
    third = n // 3
    events = []
    for i in range(third):
        events += [operator(4 * i, 8 * (third - i), external=i), call(4 * i + 1, 2, i, i), kernel(4 * i + 2, 2, i, i)]
    return document(events)


@monster
def nested_steps_of_launches(n):
    events = [step(1, 0, 9 * n)] + [operator(1 + i, 8 * n - 2 * i, external=1 + i) for i in range(n // 2)]
    return document(events + [text for i in range(n // 4) for text in (call(n + 4 * i, 2, i, n // 2), kernel(n + 4 * i + 3, 2, i, n // 2))])


@monster
def overlapping(n):
    return document([operator(i, n // 2) for i in range(n)])


@monster
def combs(n):
    """One long operator over many short ones, thrice."""
    third = n // 3
    return document([operator(k, 4 * third) for k in range(3)] + [operator(4 * i + 3, 2) for i in range(n - 3)])


# ---- everything distinct

@monster
def distinct_names(n):
    return document([operator(3 * i, 2, 'op%d' % i) for i in range(n)])


@monster
def distinct_kernel_names(n):
    half = n // 2
    return document([text for i in range(half) for text in (call(4 * i, 2, i, i), kernel(4 * i + 3, 3, i, i, name='gemm_%d' % i))])


@monster
def distinct_grids(n):
    return document([kernel(4 * i, 3, i, i).replace('"grid":[64,', '"grid":[%d,' % i) for i in range(n)])


@monster
def distinct_argument_keys(n):
    return document([operator(3 * i, 2, args='"key %d":%d' % (i, i)) for i in range(n)])


@monster
def distinct_call_stacks(n):
    return document([operator(3 * i, 2, args='"Call stack":"train.py(%d): step;model.py(%d): forward"' % (i, i)) for i in range(n)])


@monster
def distinct_shapes(n):
    return document([operator(3 * i, 2, args='"Input Dims":[[%d,3],[]],"Input type":["float","Scalar"]' % i) for i in range(n)])


@monster
def distinct_categories(n):
    return document([event('category %d' % i, 'x', 3 * i, 2) for i in range(n)])


@monster
def distinct_members(n):
    return document([operator(3 * i, 2)[:-1] + ',"member %d":1}' % i for i in range(n)])


@monster
def distinct_values(n):
    return document([operator(3 * i, 2, args='"comment":"%d and more"' % i) for i in range(n)])


# ---- many of something

@monster
def threads(n):
    return document([operator(3 * i, 2, tid=i) for i in range(n)])


@monster
def threads_named(n):
    return document(['{"ph":"M","name":"thread_name","pid":1,"tid":%d,"ts":0,"args":{"name":"t%d"}}' % (i, i) for i in range(n // 2)] +
                    [operator(3 * i, 2, tid=i) for i in range(n // 2)])


@monster
def threads_at_once(n):
    return document([operator(0, 5, tid=i) for i in range(n)])


@monster
def threads_taking_turns(n):
    return document([operator(3 * i, 2, tid=i % 1000) for i in range(n)])


@monster
def threads_with_text_ids(n):
    return document([operator(3 * i, 2, tid='"thread %d"' % i) for i in range(n)])


@monster
def threads_that_launch(n):
    return document([text for i in range(n // 3) for text in
                     (operator(9 * i, 6, external=i, tid=i), call(9 * i + 1, 2, i, i, tid=i), kernel(9 * i + 4, 3, i, i))])


@monster
def processes(n):
    return document([operator(3 * i, 2, pid=i) for i in range(n)])


@monster
def processes_named(n):
    return document(['{"ph":"M","name":"process_name","pid":%d,"tid":0,"ts":0,"args":{"name":"p%d"}}' % (i, i) for i in range(n // 2)] +
                    [operator(3 * i, 2, pid=i) for i in range(n // 2)])


@monster
def streams(n):
    return document([kernel(3 * i, 2, i, i, stream=i) for i in range(n)])


@monster
def streams_at_once(n):
    return document([kernel(0, n, i, i, stream=i) for i in range(n)])


@monster
def devices(n):
    return document([kernel(3 * i, 2, i, i, device=i) for i in range(n)])


@monster
def devices_at_once(n):
    return document([kernel(0, n, i, i, device=i) for i in range(n)])


@monster
def device_properties(n):
    head = '{"schemaVersion":1,"deviceProperties":[' + ','.join('{"id":%d,"name":"A100","numSms":108}' % i for i in range(n // 2)) + '],'
    return document([kernel(3 * i, 2, i, i, device=i) for i in range(n // 2)], head)


@monster
def steps(n):
    return document([step(i, 3 * i, 2) for i in range(n)])


@monster
def steps_with_work(n):
    return document([text for i in range(n // 4) for text in (step(i, 20 * i, 19), operator(20 * i + 1, 6, external=i + 1),
                                                            call(20 * i + 2, 2, i + 1, i + 1), kernel(20 * i + 5, 8, i + 1, i + 1))])


@monster
def steps_at_once(n):
    return document([text for i in range(n // 2) for text in (step(i, i, n), kernel(i, n, i, i))])


@monster
def steps_with_late_work(n):
    """All kernels run after the last step."""
    third = n // 3
    return document([text for i in range(third) for text in (step(i, 20 * i, 19), call(20 * i + 2, 2, i + 1, i + 1))] +
                    [kernel(20 * third + 3 * i, 2, i + 1, i + 1) for i in range(third)])


@monster
def steps_of_one_number(n):
    return document([step(5, 3 * i, 2) for i in range(n)])


@monster
def steps_on_threads(n):
    return document([step(i, 3 * i, 2, tid=i) for i in range(n)])


@monster
def kernels_overlapping(n):
    return document([kernel(i, n, i, i) for i in range(n)])


@monster
def kernels_overlapping_on_streams(n):
    return document([kernel(i, n, i, i, stream=i % 100) for i in range(n)])


@monster
def kernels_nested(n):
    return document([kernel(i, 2 * n - 2 * i, i, i) for i in range(n)])


@monster
def collectives(n):
    return document([text for i in range(n // 3) for text in
                     (operator(9 * i, 6, 'nccl:all_reduce', i), call(9 * i + 1, 2, i, i),
                      kernel(9 * i + 4, 3, i, i, name='ncclKernel_AllReduce', more=',"Collective name":"allreduce","In msg nelems":%d' % i))])


@monster
def collectives_of_one_id(n):
    return document([text for i in range(n // 3) for text in
                     (operator(9 * i, 6, 'nccl:all_reduce', 7), call(9 * i + 1, 2, 5, 7),
                      kernel(9 * i + 4, 3, 5, 7, name='ncclKernel_AllReduce', more=',"Collective name":"allreduce"'))])


@monster
def annotations_on_device(n):
    return document([event('gpu_user_annotation', 'part %d' % (i % 50), i, 2 * n - 2 * i, '"External id":%d' % i, 0, 7) for i in range(n)])


# ---- flows

@monster
def flows_of_one_id(n):
    return document([text for i in range(n // 3) for text in (operator(4 * i, 3), flow('s', 'ac2g', 4 * i, 5), flow('f', 'ac2g', 4 * i + 1, 5))])


@monster
def backward_of_one_id(n):
    return document([text for i in range(n // 4) for text in (operator(4 * i, 3), flow('s', 'fwdbwd', 4 * i, 5),
                                                            operator(9 * n + 4 * i, 3, 'MmBackward', tid=2), flow('f', 'fwdbwd', 9 * n + 4 * i, 5, tid=2))])


@monster
def backward_nested(n):
    part = n // 4
    return document([text for i in range(part) for text in (operator(4 * i, 8 * (part - i)), flow('s', 'fwdbwd', 4 * i, i),
                                                            operator(9 * n + 4 * i, 8 * (part - i), 'MmBackward', tid=2), flow('f', 'fwdbwd', 9 * n + 4 * i, i, tid=2))])


@monster
def flows_at_one_time(n):
    return document([operator(0, 3) for i in range(n // 3)] + [flow(p, 'ac2g', 0, i) for i in range(n // 3) for p in 'sf'])


@monster
def flows_without_ends(n):
    return document([operator(0, 3)] + [flow('s', 'ac2g', i, i) for i in range(n)])


@monster
def sequence_number_of_all(n):
    return document([operator(3 * i, 2, 'aten::mm' if i % 2 else 'MmBackward0', args='"Sequence number":5,"Fwd thread id":%d' % (i % 2)) for i in range(n)])


# ---- memory

@monster
def memory_of_one_address(n):
    return document([memory(i, 512, 4096, 512 * i) for i in range(n)])


@monster
def memory_of_one_address_taking_turns(n):
    return document([operator(0, n)] + [memory(i, -512 if i % 2 else 512, 4096, 512) for i in range(n)])


@monster
def memory_of_one_time(n):
    return document([operator(0, 5)] + [memory(0, 512, 4096 + i, 512 * i) for i in range(n)])


@monster
def memory_never_freed(n):
    return document([text for i in range(n // 2) for text in (operator(3 * i, 2), memory(3 * i + 1, 512, 4096 + i, 512 * i))])


@monster
def memory_freed_in_reverse(n):
    half = n // 2
    return document([operator(0, 3 * n)] + [memory(i, 512, 4096 + i, 512 * i) for i in range(half)] +
                    [memory(half + i, -512, 4096 + half - 1 - i, 512 * (half - i)) for i in range(half)])


@monster
def memory_on_devices(n):
    return document([memory(i, 512, 4096, 512, device=i) for i in range(n)])


@monster
def memory_on_threads(n):
    return document([memory(i, 512, 4096, 512, tid=i) for i in range(n)])


@monster
def memory_nested(n):
    half = n // 2
    return document([operator(2 * i, 8 * half - 4 * i) for i in range(half)] + [memory(2 * i + 1, 512, i + 1, 512) for i in range(half)])


# ---- modules and Python

@monster
def modules_nested(n):
    return document([python(i, 2 * n - 2 * i, 'nn.Module: Block_%d' % i, i + 1, i if i else None, i) for i in range(n)])


@monster
def modules_nested_of_one_id(n):
    return document([python(i, 2 * n - 2 * i, 'nn.Module: Block_0', 7, 7, 3) for i in range(n)])


@monster
def modules_side_by_side(n):
    return document([python(3 * i, 2, 'nn.Module: Block_%d' % i, i + 1, module=i) for i in range(n)])


@monster
def modules_called_again(n):
    return document([python(3 * i, 2, 'nn.Module: Block_0', i + 1, module=3) for i in range(n)])


@monster
def python_nested(n):
    return document([python(i, 2 * n - 2 * i, 'train.py(%d): f' % i, i + 1, i if i else None) for i in range(n)])


@monster
def python_nested_of_one_id(n):
    return document([python(i, 2 * n - 2 * i, 'train.py(1): f', 7, 7) for i in range(n)])


@monster
def python_side_by_side_of_one_id(n):
    return document([python(3 * i, 2, 'train.py(1): f', 7, 7) for i in range(n)])


@monster
def python_ring(n):
    return document([python(3 * i, 2, 'train.py(1): f', i, (i + 1) % n) for i in range(n)])


@monster
def modules_over_operators(n):
    return document([text for i in range(n // 4) for text in
                     (python(20 * i, 18, 'nn.Module: Block_%d' % i, i + 1, module=i), operator(20 * i + 1, 9, external=i),
                      call(20 * i + 2, 2, i, i), kernel(20 * i + 5, 8, i, i))])


@monster
def modules_nested_over_launches(n):
    part = n // 4
    return document([text for i in range(part) for text in
                     (python(8 * i, 16 * (part - i), 'nn.Module: Block_%d' % i, i + 1, i if i else None, i), operator(8 * i + 1, 6, external=i),
                      call(8 * i + 2, 2, i, i), kernel(8 * i + 5, 2, i, i))])


# ---- texts, numbers and structure

@monster
def giant_string(n):
    return document([operator(0, 5), operator(9, 5, 'x' * (100 * n)), operator(20, 5)])


@monster
def giant_string_of_escapes(n):
    return document([operator(0, 5), operator(9, 5, args='"comment":"%s"' % ('\\n\\u00e9' * (12 * n)))])


@monster
def giant_number(n):
    return document([operator(0, 5), operator(9, 5, args='"comment":%s' % ('7' * (20 * n)))])


@monster
def giant_shape(n):
    return document([operator(0, 5), operator(9, 5, args='"Input Dims":[%s]' % ','.join(['[1,2]'] * (15 * n)))])


@monster
def giant_call_stack(n):
    return document([operator(0, 5), operator(9, 5, args='"Call stack":"%s"' % ';'.join('a.py(%d): f' % i for i in range(5 * n)))])


@monster
def deep_arguments(n):
    return document([operator(0, 5), operator(9, 5, args='"deep":' + '[' * (40 * n) + ']' * (40 * n))])


@monster
def deep_objects(n):
    return document([operator(0, 5), operator(9, 5, args='"deep":' + '{"a":' * (16 * n) + '1' + '}' * (16 * n))])


@monster
def deep_top_level(n):
    return document([operator(0, 5)], HEAD + '"deep":' + '[' * (40 * n) + ']' * (40 * n) + ',')


@monster
def deep_in_each_event(n):
    return document([operator(3 * i, 2, args='"deep":' + '[' * 30 + '%d' % i + ']' * 30) for i in range(n)])


@monster
def many_arguments(n):
    return document([operator(0, 5), operator(9, 5, args=','.join('"key %d":%d' % (i, i) for i in range(5 * n)))])


@monster
def one_argument_again_and_again(n):
    return document([operator(0, 5), operator(9, 5, args=','.join('"key":%d' % i for i in range(8 * n)))])


@monster
def many_top_level_members(n):
    return document([operator(0, 5)], HEAD + ''.join('"key %d":%d,' % (i, i) for i in range(5 * n)))


@monster
def trace_events_again_and_again(n):
    return HEAD + ','.join('"traceEvents":[%s]' % operator(3 * i, 2) for i in range(n)) + '}'


@monster
def times_beyond_64_bits(n):
    return document(['{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":9e18,"dur":9e18,"args":{}}'] * n)


@monster
def durations_below_zero(n):
    return document([operator(3 * i, -5 * i) for i in range(n)])


@monster
def times_backwards(n):
    return document([operator(3 * (n - i), 2, external=i) for i in range(n)])


@monster
def times_at_random(n):
    source = random.Random(1)
    return document([operator(source.randrange(10 * n), source.randrange(n), tid=i % 7) for i in range(n)])


@monster
def decimal_times(n):
    return document(trained(n, lambda i: 5, lambda i: 7)).replace(',"dur":', '.123,"dur":')


# ---- counters, instants, other phases

@monster
def counters_of_one_name(n):
    return document([operator(0, 5)] + [counter(i, 'c', i) for i in range(n)])


@monster
def counters_of_distinct_names(n):
    return document([operator(0, 5)] + [counter(i, 'c%d' % i, i) for i in range(n)])


@monster
def counters_of_distinct_series(n):
    return document([operator(0, 5)] + [counter(i, 'c', i, 's%d' % i) for i in range(n)])


@monster
def instants(n):
    return document([operator(0, 5)] + ['{"ph":"i","s":"t","name":"m","pid":1,"tid":1,"ts":%d}' % START_US] * n)


@monster
def begins_without_ends(n):
    return document([operator(0, 5)] + ['{"ph":"B","name":"m","pid":1,"tid":1,"ts":%d}' % (START_US + i) for i in range(n)])


@monster
def ends_without_begins(n):
    return document([operator(0, 5)] + ['{"ph":"E","name":"m","pid":1,"tid":1,"ts":%d}' % (START_US + i) for i in range(n)])


@monster
def begins_then_ends(n):
    half = n // 2
    return document([operator(0, 5)] + ['{"ph":"B","name":"m","pid":1,"tid":1,"ts":%d}' % (START_US + i) for i in range(half)] +
                    ['{"ph":"E","name":"m","pid":1,"tid":1,"ts":%d}' % (START_US + half + i) for i in range(half)])


@monster
def asynchronous_of_one_id(n):
    half = n // 2
    return document([operator(0, 5)] + ['{"ph":"%s","cat":"a","name":"m","id":5,"pid":1,"tid":1,"ts":%d}' % (p, START_US + i) for i in range(half) for p in 'be'])


# ---- damage

@monster
def damaged_backslashes(n):
    return document([operator(3 * i, 2, args='"path":"C:\\x\\y%d"' % i) for i in range(n)])


@monster
def damaged_quotes(n):
    return document([operator(3 * i, 2, args='"comment":"a "quoted" word"') for i in range(n)])


@monster
def damaged_controls(n):
    return document([operator(3 * i, 2, args='"comment":"a\x01b\nc"') for i in range(n)])


@monster
def damaged_values(n):
    return document([operator(3 * i, 2, args='"comment":bare,"occupancy":nan') for i in range(n)])


@monster
def damaged_events(n):
    return document([operator(3 * i, 2)[:-1] + ',"broken":}' for i in range(n)])


@monster
def damaged_here_and_there(n):
    return document([operator(3 * i, 2, args='"comment":"a "quoted" word"' if i % 9 == 8 else '') for i in range(n)])


@monster
def damaged_at_the_end(n):
    return document([operator(3 * i, 2) for i in range(n)])[:-40]


@monster
def damaged_and_cut(n):
    return HEAD + '"traceEvents":[' + '{"ph":"X","args":{' * (5 * n)


@monster
def open_quote_at_each_event(n):
    return document([operator(3 * i, 2).replace('"name":"', '"name":') for i in range(n)])


# Of each kind those that cost most, for a check of half a minute.
QUICK = ['one_id', 'one_id_for_operators_too', 'one_external_id', 'one_start', 'nested_inner_first', 'nested_launches', 'overlapping', 'distinct_names',
         'distinct_kernel_names', 'distinct_shapes', 'threads_named', 'threads_that_launch', 'processes_named', 'streams_at_once', 'device_properties',
         'steps_at_once', 'steps_with_late_work', 'kernels_overlapping_on_streams', 'collectives_of_one_id', 'flows_of_one_id', 'backward_nested',
         'memory_of_one_address', 'memory_nested', 'modules_nested', 'modules_side_by_side', 'python_nested_of_one_id', 'giant_shape', 'deep_arguments',
         'many_top_level_members', 'times_at_random', 'counters_of_distinct_names', 'begins_then_ends', 'damaged_here_and_there', 'damaged_events']

# Nothing in them can be read: they are refused, in time.
REFUSED = {'damaged_values', 'damaged_events', 'damaged_and_cut', 'open_quote_at_each_event'}
