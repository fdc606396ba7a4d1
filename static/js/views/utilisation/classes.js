/** The classes of use: their words and colours, wherever a kernel shows one. */

import { h, swatch } from '../../lib/dom.js';
import { token } from '../../app/theme.js';

/** Below this share of the peak a use is low. */
export const LOW = 1 / 3;

/** In the order of charts; what was not measured has the name "unknown" where a name is needed. */
export const CLASSES = [
    { key: 'both_low', label: 'Latency-bound', text: 'Compute and DRAM below 1/3: it waits, or is too small to fill the device' },
    { key: 'low_compute', label: 'Compute low', text: 'DRAM above a third, compute below: bound by memory' },
    { key: 'low_dram', label: 'DRAM low', text: 'Compute above a third, DRAM below: bound by arithmetic' },
    { key: 'neither_low', label: 'Balanced', text: 'Compute and DRAM at 1/3 or above: the device is busy' },
    { key: 'unknown', label: 'Not measured', text: 'Compute or DRAM use was not recorded' },
];

/** @param {UseClass | undefined} use */
export const classIndex = (use) => Math.max(0, CLASSES.findIndex(({ key }) => key === (use ?? 'unknown')));

/** @param {UseClass | undefined} use */
export const classLabel = (use) => CLASSES[classIndex(use)].label;

/** @param {number} index of CLASSES */
export const classColour = (index) => token(`--use-${CLASSES[index].key.replace('_', '-')}`);

/** A class by its colour and its name. @param {number} index */
export function classKey(index) {
    return h('span', { class: 'use-class', 'data-tip': CLASSES[index].text }, swatch(`var(--use-${CLASSES[index].key.replace('_', '-')})`), CLASSES[index].label);
}

/** What to run to have the uses. */
export const RECORD = 'ncu --csv --metrics gpu__time_duration.sum,sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed,' +
    'gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed,sm__throughput.avg.pct_of_peak_sustained_elapsed python train.py > kernels.csv';
