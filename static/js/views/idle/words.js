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

export const BETWEEN_KERNELS = 'The work was queued in time and the gaps are short: fewer, larger kernels (fusion, torch.compile) or graphs close them.';
export const OTHER_STREAM = 'The work was launched in time and waited for something else: look for waits between streams, events and copies.';

/** @type {Record<string, string>} */
export const BOUNDS = {
    cpu_bound: 'Host', data_loading: 'Data loading', gpu_compute_bound: 'Device computing', gpu_communication_bound: 'Device communicating',
    gpu_kernel_kernel_overhead: 'Between kernels', gpu_kernel_launch_overhead: 'Launch to start',
};
