/** What a row is called, and its figures in words. */

import * as fmt from '../../lib/fmt.js';

/** @param {EfficiencyRow | Row} row @param {string} group */
export function nameOf(row, group) {
    if (group === 'module') return row.module ?? 'Outside of modules';
    if (group === 'step') return row.step === null ? 'Outside of steps' : `Step ${row.step}`;
    return row.name ?? '';
}

/** @param {number | null} value */
export const flopRate = (value) => fmt.si(value, 'FLOP/s');
/** @param {number | null} value */
export const byteRate = (value) => fmt.si(value, 'B/s');

/** What the unit of a row can do; null: not known. @param {DevicePeaks | null} device @param {EfficiencyRow | Row} row @returns {number | null} */
export function peakOf(device, row) {
    if (!device || !row.unit || !row.precision) return null;
    return (row.unit === 'matrix' ? device.matrix : device.vector)[row.precision] ?? null;
}

/** A share of what the device can do; null: not known. @param {number | null} rate @param {number | null | undefined} peak */
export const partOf = (rate, peak) => (rate === null || !peak ? null : rate / peak);

/** What is above all that a device can do is no figure. @param {number | null} share */
export const ofPeak = (share) => (share !== null && share > 1 ? 'above 100%' : fmt.share(share));

/** @type {Record<string, string>} */
export const BOUNDS = { compute: 'Compute', memory: 'Memory' };
