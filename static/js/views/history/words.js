/** Names of metrics, figures in their unit, points and changes in words. */

import { shorten } from '../../lib/names.js';
import * as fmt from '../../lib/fmt.js';

/** @typedef {import('./api.js').Point} Point */
/** @typedef {import('./api.js').Change} Change */
/** @typedef {import('./api.js').Unit} Unit */

/** @type {Record<string, string>} */
const SINGLE = { step_time: 'Step time', busy: 'Device busy', exposed_communication: 'Exposed communication', memory_peak: 'Peak memory' };
/** What stands before the name. @type {Record<string, string>} */
const NAMED = { kernel: 'kernel, per step', kernel_call: 'kernel, one call', operator: 'operator, per step', class: 'class of kernels, per step' };
/** What a reader looks for first. */
const FIRST_TAGS = ['commit', 'branch'];
const TAGS_SHOWN = 6;

/** The metric in words: a whole name, a short one, and what it is a name of. @param {string} metric */
export function metricWords(metric) {
    const [, kind = '', name = ''] = /^([a-z_]+):(.*)$/s.exec(metric) ?? [];
    if (kind in NAMED) return { name, short: shorten(name).short, kind: NAMED[kind] };
    const word = SINGLE[metric] ?? metric;
    return { name: word, short: word, kind: '' };
}

/** @typedef {{name: string, size: number, text: (value: number | null) => string}} Scale */

/** The unit in which the largest figure reads best. @param {Unit} unit @param {number} max @returns {Scale} */
export function scaleOf(unit, max) {
    if (unit === 'ratio') return { name: '%', size: 0.01, text: fmt.share };
    if (unit === 'bytes') {
        const bytes = fmt.byteUnit(max);
        return { name: bytes.name, size: bytes.bytes, text: (value) => fmt.bytes(value, bytes) };
    }
    const time = fmt.timeUnit(max);
    return { name: time.name, size: time.ns, text: (value) => fmt.time(value, time) };
}

/** @param {Point} point */
export const dateOf = (point) => fmt.date(point.time);

/** Of a point without a commit's time it is another one. @param {Point} point */
export const dateSource = ({ time_source: source }) => ({ commit_time: 'commit', start: 'start of the trace', upload: 'upload' }[source] ?? source);

/** @param {Point} point */
export const nameOf = (point) => (point.span > 1 ? `${point.run}, span ${point.span}` : point.run);

/** The tags worth a line: commit and branch first, without the time that the order shows. @param {Point} point @returns {string[]} */
export function tagsOf({ tags }) {
    const rank = (/** @type {string} */ tag) => {
        const at = FIRST_TAGS.indexOf(tag.split('=')[0]);
        return at < 0 ? FIRST_TAGS.length : at;
    };
    return tags.filter((tag) => !tag.startsWith('commit_time=')).sort((a, b) => rank(a) - rank(b)).slice(0, TAGS_SHOWN);
}

/** "+12.5%". @param {Change} change */
export const sizeText = ({ change }) => (change === null ? 'from 0' : `${fmt.signed(change * 100, 1)}%`);

/** @param {Change} change */
export const verdictText = ({ worse, known }) => (worse ? (known ? 'Worse, known' : 'Worse') : 'Better');

/** "+12.5% here, worse: 1.00 ms to 1.13 ms". @param {Change} change @param {Scale} scale */
export const changeText = (change, scale) => `${sizeText(change)} here, ${verdictText(change).toLowerCase()}: ${scale.text(change.mean_before)} to ${scale.text(change.mean_after)}${change.known ? ` (${change.known})` : ''}`;

/** Of the values in a segment. The segment's own figures carry values over traces without the metric, for the search for changes: they would count here, too. @param {import('./api.js').Segment} segment @param {Point[]} points */
export function levelOf({ first, last }, points) {
    const values = points.flatMap(({ index, value }) => (value !== null && index >= first && index <= last ? [value] : []));
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return { count: values.length, mean, std: Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, values.length - 1)) };
}

/** Changes that values carry: the search fills traces without the metric by the value before them [HIST-2.1], and of at most two values no test says anything [HIST-2.2a]. Of segments that begin before the points that are here all is believed. @param {import('./api.js').Changes} found @param {Point[]} points @returns {import('./api.js').Changes} */
export function carried(found, points) {
    const [first, ...others] = found.segments;
    const changes = [];
    const segments = first ? [first] : [];
    for (const [at, segment] of others.entries()) {
        const before = segments[segments.length - 1];
        if (before.first < (points[0]?.index ?? 0) || levelOf(before, points).count + levelOf(segment, points).count > 2) {
            changes.push(found.changes[at]);
            segments.push(segment);
        } else segments[segments.length - 1] = { ...before, last: segment.last };
    }
    return { ...found, changes, segments };
}

/** What the series says at its end. @param {import('./api.js').Changes} changes @param {Scale} scale @param {Point[]} points */
export function levelText({ segments }, scale, points) {
    const last = segments[segments.length - 1];
    if (!last) return '';
    const { count, mean, std } = levelOf(last, points);
    if (count === 0) return 'no value yet';
    return `${scale.text(mean)} on average over ${segments.length > 1 ? 'the last ' : ''}${fmt.plural(count, 'point')}${count > 1 ? `, ±${fmt.NBSP}${scale.text(std)}` : ''}`;
}
