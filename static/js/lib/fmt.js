/** The only place that prints figures and units. Times come in nanoseconds, shares as 0..1. */

export const NBSP = '\u00a0';

/** @typedef {{name: string, ns: number, digits: number}} TimeUnit */

/** @type {TimeUnit[]} from small to large; digits are what a table column shows */
const UNITS = [
    { name: 'ns', ns: 1, digits: 0 },
    { name: 'µs', ns: 1e3, digits: 1 },
    { name: 'ms', ns: 1e6, digits: 3 },
    { name: 's', ns: 1e9, digits: 3 },
];

/** @type {Map<number, Intl.NumberFormat>} */
const formats = new Map();

/** @param {number} value @param {number} digits */
function fixed(value, digits) {
    let format = formats.get(digits);
    if (!format) {
        format = new Intl.NumberFormat('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
        formats.set(digits, format);
    }
    return format.format(value);
}

/** @param {number | null | undefined} value */
export const int = (value) => (value === null || value === undefined ? '–' : fixed(Math.round(value), 0));

/** @param {number | null | undefined} value @param {number} [digits] */
export const num = (value, digits = 2) => (value === null || value === undefined ? '–' : fixed(value, digits));

/**
 * The unit in which the largest of several times reads best; all of them are then printed in it.
 * @param {number} maxNs
 */
export function timeUnit(maxNs) {
    const size = Math.abs(maxNs);
    return UNITS.findLast((unit) => size >= unit.ns) ?? UNITS[0];
}

/**
 * The unit for a column: one that still tells its small rows apart.
 * @param {number} maxNs
 */
export function columnUnit(maxNs) {
    const size = Math.abs(maxNs);
    return UNITS.findLast((unit) => size >= 10 * unit.ns) ?? UNITS[0];
}

/** @param {number} ns @param {TimeUnit} unit */
export const timeIn = (ns, unit) => fixed(ns / unit.ns, unit.digits);

/**
 * About four digits and the unit apart, for large figures: `['177.59', 'ms']`.
 * @param {number} ns
 * @param {TimeUnit} [unit]
 * @returns {[string, string]}
 */
export function timeParts(ns, unit = timeUnit(ns)) {
    const value = ns / unit.ns;
    return [fixed(value, unit.ns === 1 ? 0 : fractionFor(value)), unit.name];
}

/** @param {number | null | undefined} ns @param {TimeUnit} [unit] */
export function time(ns, unit) {
    return ns === null || ns === undefined ? '–' : timeParts(ns, unit).join(NBSP);
}

/** A moment, to the nanosecond: "1.031915 s". @param {number | null | undefined} ns */
export function moment(ns) {
    if (ns === null || ns === undefined) return '–';
    const unit = timeUnit(ns);
    const text = fixed(ns / unit.ns, Math.round(Math.log10(unit.ns))).replace('-', '−');
    return `${text.includes('.') ? text.replace(/\.?0+$/, '') : text}${NBSP}${unit.name}`;
}

/** Several times in one unit: "226 / 639 / 846 µs". @param {number[]} list */
export function times(list) {
    const unit = timeUnit(Math.max(...list));
    const digits = unit.ns === 1 ? 0 : fractionFor(Math.max(...list) / unit.ns);
    return `${list.map((ns) => fixed(ns / unit.ns, digits)).join(' / ')}${NBSP}${unit.name}`;
}

/** @param {number} value */
function fractionFor(value) {
    const size = Math.abs(value);
    if (size === 0 || size >= 1000) return 0;
    if (size >= 1) return size >= 100 ? 1 : 2;
    return 3;
}

/** @param {number} share @returns {[string, string]} */
export function shareParts(share) {
    const percent = share * 100;
    if (percent > 0 && percent < 0.05) return ['<0.1', '%'];
    return [fixed(percent, 1), '%'];
}

/** @param {number | null | undefined} value 0..1 */
export const share = (value) => (value === null || value === undefined ? '–' : shareParts(value).join(''));

/** A figure that is a percentage already: β, μ. @param {number | null | undefined} value @param {number} [digits] */
export const percent = (value, digits = 2) => (value === null || value === undefined ? '–' : `${fixed(value, digits)}%`);

/** With its sign, which a zero has not: a difference. @param {number | null | undefined} value @param {number} [digits] */
export function signed(value, digits = 2) {
    if (value === null || value === undefined) return '–';
    const sign = Math.abs(value) < 0.5 * 10 ** -digits ? '' : value > 0 ? '+' : '−';
    return sign + fixed(Math.abs(value), digits);
}

/** Above this, digits behind the point mean nothing and digits before it are not counted by eye. */
const HUGE = 1e7;

/** A counter's value, whose unit only its name says: bytes a second are many, shares few. @param {number | null | undefined} value */
export function metric(value) {
    if (value === null || value === undefined) return '–';
    return Math.abs(value) < HUGE ? fixed(value, 2) : value.toExponential(3).replace('e+', 'e');
}

/** @param {number | null | undefined} value */
export function signedMetric(value) {
    if (value === null || value === undefined || Math.abs(value) < HUGE) return signed(value);
    return `${value > 0 ? '+' : '−'}${metric(Math.abs(value))}`;
}

/** The probability of chance; below a thousandth only that it is. @param {number | null | undefined} p */
export const chance = (p) => (p === null || p === undefined ? '–' : p < 0.0005 ? '<0.001' : fixed(p, 3));

/** @typedef {{name: string, bytes: number, digits: number}} ByteUnit */

/** @type {ByteUnit[]} from small to large; digits are what a table column shows */
const BYTE_UNITS = [
    { name: 'B', bytes: 1, digits: 0 },
    { name: 'KiB', bytes: 2 ** 10, digits: 1 },
    { name: 'MiB', bytes: 2 ** 20, digits: 3 },
    { name: 'GiB', bytes: 2 ** 30, digits: 3 },
    { name: 'TiB', bytes: 2 ** 40, digits: 3 },
];

/** The unit in which the largest of several sizes reads best; all of them are then printed in it. @param {number} max */
export const byteUnit = (max) => BYTE_UNITS.findLast((unit) => Math.abs(max) >= unit.bytes) ?? BYTE_UNITS[0];

/** @param {number} value @param {ByteUnit} unit */
export const bytesIn = (value, unit) => fixed(value / unit.bytes, unit.digits).replace('-', '−');

/**
 * The figure and its unit apart, for large figures.
 * @param {number} value
 * @param {ByteUnit} [unit]
 * @returns {[string, string]}
 */
export function byteParts(value, unit = byteUnit(value)) {
    const size = value / unit.bytes;
    return [fixed(size, unit.bytes === 1 || Math.abs(size) >= 100 ? 0 : 1).replace('-', '−'), unit.name];
}

/** @param {number | null | undefined} value @param {ByteUnit} [unit] */
export function bytes(value, unit) {
    return value === null || value === undefined ? '–' : byteParts(value, unit).join(NBSP);
}

const SI = ['', 'k', 'M', 'G', 'T', 'P', 'E', 'Z'];
const SI_SMALL = ['', 'm', 'µ', 'n', 'p'];

/** About three digits, and the unit with its prefix: `['989', 'TFLOP/s']`. @param {number} value @param {string} unit @returns {[string, string]} */
export function siParts(value, unit) {
    const size = Math.abs(value);
    const power = size === 0 ? 0 : Math.max(1 - SI_SMALL.length, Math.min(SI.length - 1, Math.floor(Math.log10(size * (1 + 1e-12)) / 3)));
    const scaled = value / 1000 ** power;
    const whole = Math.abs(scaled - Math.round(scaled)) <= 1e-9 * Math.abs(scaled);
    const digits = whole || Math.abs(scaled) >= 100 ? 0 : Math.abs(scaled) >= 10 ? 1 : 2;
    return [fixed(scaled, digits), `${power < 0 ? SI_SMALL[-power] : SI[power]}${unit}`];
}

/** @param {number | null | undefined} value @param {string} unit */
export const si = (value, unit) => (value === null || value === undefined ? '–' : siParts(value, unit).join(NBSP));

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export const plural = (count, one, many = `${one}s`) => `${int(count)}${NBSP}${count === 1 ? one : many}`;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const absolute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

/** "3 hours ago". @param {string} iso @param {number} [now] */
export function ago(iso, now = Date.now()) {
    const seconds = (new Date(iso).getTime() - now) / 1000;
    if (Number.isNaN(seconds)) return iso;
    /** @type {[Intl.RelativeTimeFormatUnit, number][]} */
    const steps = [['year', 31536000], ['month', 2592000], ['day', 86400], ['hour', 3600], ['minute', 60]];
    const step = steps.find(([, size]) => Math.abs(seconds) >= size);
    return step ? relative.format(Math.trunc(seconds / step[1]), step[0]) : 'just now';
}

/** @param {string | number} when ISO 8601, or seconds since 1970 */
export function date(when) {
    const at = new Date(typeof when === 'number' ? when * 1000 : when);
    return Number.isNaN(at.getTime()) ? String(when) : absolute.format(at);
}

/** What the profilers call devices, as the page says it. @param {string} type */
export const deviceWord = (type) => (!type || type === 'CPU' ? 'Device' : type);

/** "GPU 0" of the interface's "GPU0". @param {string} device */
export const deviceName = (device) => device.replace(/^([A-Z]+)(\d+)$/, '$1 $2');

/** What a file holds, by the name that the server has for its format. @type {Record<string, string>} */
const FORMATS = {
    'chrome-trace': 'trace', 'plugin-json': 'plugin answers', 'kernel-table': 'kernel table', 'ncu-csv': 'Nsight Compute table', 'nsys-csv': 'Nsight Systems table',
    'nsys-sqlite': 'Nsight Systems export', 'perf-data': 'cycles', counters: 'counters', operations: 'operations of a job', 'comparison-report': 'comparison report',
    'memory-snapshot': 'memory snapshot', 'memory-timeline': 'memory timeline', 'execution-trace': 'execution trace', 'ascend-pytorch': 'Ascend trace', 'ascend-db': 'Ascend database', 'rocprofv3-json': 'rocprofv3 trace',
    rpd: 'rocmProfileData', 'rocpd-db': 'rocprofv3 database', xplane: 'XLA trace', perfetto: 'Perfetto trace',
    speedscope: 'speedscope profile', proton: 'Proton profile', 'collapsed-stacks': 'collapsed stacks',
};

/** @param {string} format */
export const formatWord = (format) => FORMATS[format] ?? format;

/** The worker, and its rank where the name does not end with it. @param {{worker: string, rank?: number | null}} trace */
export const worker = ({ worker: name, rank = null }) => (rank === null || new RegExp(`(^|\\D)0*${rank}$`).test(name) ? name : `${name}, rank ${rank}`);

/** @param {Trace} trace */
export const traceName = (trace) => `${worker(trace)}, span ${trace.span}`;
