/** Small kernel tables, as the tools write them. */

/** The short text table; its eighth line has no figure where the latency stands. */
export const shortTable = `Kernel                                                 Latency Tensor   DRAM
vectorized_elementwise_kernel                     |       5632   0.00   0.45
implicit_convolve_sgemm                           |      96632   0.61   0.12
multi_tensor_apply_kernel                         |      80000   0.02   0.72
vectorized_elementwise_kernel                     |       7040   0.00   0.48
softmax_warp_forward                              |      12352   0.05   0.20
ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_st... :     64000   0.55   0.41
softmax_warp_forward                              |        abc   0.05   0.20
implicit_convolve_sgemm                           |      98304   0.63   0.11
indexSelectLargeIndex                             |      31392   0.01   0.00
`;

const METRICS = [
    ['gpu__time_duration.sum', 'us', (launch) => (launch.ns / 1000).toFixed(2)],
    ['sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed', '%', (launch) => launch.tensor],
    ['gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed', '%', (launch) => launch.dram],
    ['sm__throughput.avg.pct_of_peak_sustained_elapsed', '%', (launch) => launch.sm],
    ['launch__registers_per_thread', 'register/thread', (launch) => launch.registers],
];
const LAUNCHES = [
    { name: 'void at::native::vectorized_elementwise_kernel<(int)4, at::native::AddFunctor<float>>(int, T2, T3)', grid: '(128, 1, 1)', ns: 5632, tensor: '0.00', dram: '45.10', sm: '12.00', registers: '24' },
    { name: 'ampere_sgemm_128x64_tn', grid: '(16, 16, 1)', ns: 196000, tensor: '0.00', dram: '12.50', sm: '81.25', registers: '122' },
    { name: 'ampere_sgemm_128x64_tn', grid: '(32, 16, 1)', ns: 1205130, tensor: '0.00', dram: '14.50', sm: '84.25', registers: '122' },
];
const quoted = (fields) => fields.map((field) => `"${field}"`).join(',');

/** The long form of `ncu --csv`: a row a metric, after what the tool and the program said. */
export const ncuTable = ['==PROF== Connected to process 4711', 'loss 0.693', quoted(['ID', 'Process ID', 'Process Name', 'Host Name', 'Kernel Name', 'Context', 'Stream',
    'Block Size', 'Grid Size', 'Device', 'CC', 'Section Name', 'Metric Name', 'Metric Unit', 'Metric Value']),
...LAUNCHES.flatMap((launch, id) => METRICS.map(([metric, unit, value]) => quoted([id, 4711, 'python3', 'node7', launch.name, 1, 7, '(256, 1, 1)', launch.grid, 0, '8.0',
    'Command line profiler metrics', metric, unit, value(launch)])))].join('\n');

/** nsys stats --report cuda_gpu_trace --format csv */
export const nsysTrace = `Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name
1000,2048,11,,,,,,,,,,0.125,61035.156,Pageable,Device,NVIDIA A100-SXM4-80GB (0),1,7,[CUDA memcpy Host-to-Device]
4000,5632,12,128,1,1,256,1,1,24,0.000,0.000,,,,,NVIDIA A100-SXM4-80GB (0),1,7,"void scale<float>(float *, int)"
10000,96000,13,16,16,1,128,1,1,122,0.049,0.000,,,,,NVIDIA A100-SXM4-80GB (0),1,7,ampere_sgemm_128x64_tn
107000,1500,14,,,,,,,,,,0.001,666.667,Device,,NVIDIA A100-SXM4-80GB (0),1,7,[CUDA memset]
`;

/** nsys stats --report cuda_gpu_kern_sum --format csv */
export const nsysSums = `Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
94.5,96000,2,48000.0,48000.0,40000,56000,11313.7,ampere_sgemm_128x64_tn
5.5,5632,1,5632.0,5632.0,5632,5632,0.0,"void scale<float>(float *, int)"
`;

/** A short table of so many launches, of changing length and use. @param {number} count */
export function manyLaunches(count) {
    const lines = Array.from({ length: count }, (_, at) => {
        const kind = (at * 7919) % 13;
        return `kernel_of_kind_${kind}`.padEnd(50) + `| ${1000 + ((at * 104729) % 977) * (kind + 1)} ${((kind * 7) % 10) / 10} ${((kind * 3) % 10) / 10}`;
    });
    return `Kernel Latency Tensor DRAM\n${lines.join('\n')}\n`;
}
