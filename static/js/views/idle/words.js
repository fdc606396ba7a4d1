/** What the page says of causes, of what the host did, and of what bounds a path. */

/** @type {Record<IdleCauseName, {label: string, help: string}>} */
export const CAUSES = {
    host_wait: { label: 'Host late', help: 'The work was launched after the gap began' },
    kernel_wait: { label: 'Between kernels', help: 'The work was in the queue; the gap is shorter than 30 µs' },
    other: { label: 'Other', help: 'The work was launched in time and waited longer than 30 µs, as for another stream' },
};

/**
 * was: what a sentence says of the host; todo: what shortens such gaps.
 * @type {Record<IdleHostName, {label: string, was: string, todo: string}>}
 */
export const HOSTS = {
    synchronisation: { label: 'Synchronising', was: 'the host waited for the device or for a copy',
        todo: 'Remove what waits: .item(), .cpu(), printing of tensors, synchronize(); copy from pinned memory with non_blocking=True.' },
    data_loading: { label: 'Loading data', was: 'the host loaded data', todo: 'Give the DataLoader more workers, prefetch, or move its work to the device.' },
    operator: { label: 'In operators', was: 'the host was inside operators', todo: 'Launch less often: torch.compile, graphs, fused operators, larger batches.' },
    runtime: { label: 'In runtime calls', was: 'the host was in calls of the runtime', todo: 'Launch less often, with graphs or fused operators, and allocate before the loop.' },
    python: { label: 'In Python', was: 'the host ran Python', todo: 'Take Python out of the loop: torch.compile, graphs, or preparing the next step earlier.' },
    nothing: { label: 'Nothing recorded', was: 'nothing was recorded on the launching thread', todo: 'Record with with_stack=True to see what ran there.' },
    unknown: { label: 'Launch not recorded', was: 'the launch was not recorded', todo: 'Record host activity too, so that each launch is known.' },
};

const BETWEEN_KERNELS = 'The work was queued in time and the gaps are short: fewer, larger kernels (fusion, torch.compile) or graphs close them.';
export const BEFORE_RECORDING = 'Most of it is one wait at the start of the recording. Work launched before it is not in the trace, and may be what the host waited for: synchronise before the recording starts, or leave this wait out.';
const OTHER_STREAM = 'The work was launched in time and waited for something else: look for waits between streams, events and copies.';

/** Of recorders other than PyTorch's profiler, whose options differ: trace health names them. */
const NOT_IN_FILE = 'What that thread did meanwhile is not in the file.';

/** What shortens a gap, or would tell more of it. @param {Trace} trace @param {IdleCauseName} cause @param {IdleHostName} host */
export function todoOf(trace, cause, host) {
    if (host === 'unknown') return HOSTS.unknown.todo;
    if (cause !== 'host_wait') return cause === 'kernel_wait' ? BETWEEN_KERNELS : OTHER_STREAM;
    return host === 'nothing' && trace.format !== 'chrome-trace' ? NOT_IN_FILE : HOSTS[host].todo;
}

/** @type {Record<string, string>} */
export const BOUNDS = {
    cpu_bound: 'Host', data_loading: 'Data loading', gpu_compute_bound: 'Device computing', gpu_communication_bound: 'Device communicating',
    gpu_kernel_kernel_overhead: 'Between kernels', gpu_kernel_launch_overhead: 'Launch to start',
};

/** What makes a path shorter that is mostly bound so. @type {Record<string, string>} */
export const BOUND_TODO = {
    cpu_bound: 'Shorten the host: launch less (torch.compile, graphs, fused operators), and remove waits for the device and for copies.',
    data_loading: 'Give the DataLoader more workers, prefetch, or move its work to the device.',
    gpu_compute_bound: 'Only faster or fewer kernels help, not faster launching: see Efficiency for what is far from its roofline.',
    gpu_communication_bound: 'Overlap collectives with computing (smaller buckets, launched earlier), or send less.',
    gpu_kernel_kernel_overhead: 'Fewer, larger kernels (fusion, torch.compile) or graphs close the gaps.',
    gpu_kernel_launch_overhead: 'Work starts late though nothing was queued: graphs, or launching further ahead.',
};
