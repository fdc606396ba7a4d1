/** Why devices stood still: a sentence, a bar by cause and one by what the host did, and the longest gaps. */

import { h } from '../../lib/dom.js';
import { chartPanel } from '../../charts/chartpanel.js';
import { localTable } from '../../table/localtable.js';
import { fullName, figures, plainTable } from '../../table/detail_parts.js';
import { shorten } from '../../lib/names.js';
import { traceHref } from '../../app/router.js';
import { hasView } from '../../app/trace_views.js';
import { timelineEvent, timelineRange } from '../timeline/links.js';
import { bar, key } from './bars.js';
import { BEFORE_RECORDING, CAUSES, HOSTS, todoOf } from './words.js';
import * as fmt from '../../lib/fmt.js';

/** Below this share of its time a device has little to gain. */
const LITTLE = 0.05;
/** So early in the time of a device a wait may be for work that was not recorded. */
const AT_START = 0.01;
/** More bars than this say less than the table. */
const BARS = 16;

/** @param {IdleBlock} block */
const windowOf = (block) => block.idle_ns + block.busy_ns;
/** @param {IdleBlock} block */
const shareOf = (block) => (windowOf(block) ? block.idle_ns / windowOf(block) : 0);
/** @template {{idle_ns: number}} T @param {T[]} parts */
const largest = (parts) => parts.reduce((best, part) => (part.idle_ns > best.idle_ns ? part : best));

/** What it costs and what to do, of the device that waited longest. @param {Trace} trace @param {Idle} idle @param {number} steps that count, of the profiler */
export function verdict(trace, idle, steps) {
    const device = largest(idle.devices);
    const who = idle.devices.length > 1 ? `Of ${idle.devices.length} devices, device ${device.device} waited longest:` : 'The device waited';
    const cost = [`${who} `, h('strong', null, `${fmt.time(device.idle_ns)} (${fmt.share(shareOf(device))})`), ` of ${fmt.time(windowOf(device))}`, steps > 1 ? `, ${fmt.time(device.idle_ns / steps)} a step` : ''];
    if (device.idle_ns === 0) return h('p', { class: 'lead' }, ...cost, '.');
    const [host, cause] = [largest(device.host), largest(device.causes)];
    // A stream that is rarely used waits while others work: the gaps of the busiest are most like those of the device.
    const streams = idle.streams.filter((stream) => stream.device === device.device);
    const { stream } = streams.reduce((best, other) => (other.busy_ns > best.busy_ns ? other : best));
    const gaps = idle.longest.rows.filter((row) => row.device === device.device && row.stream === stream);
    const early = host.host === 'synchronisation' ? waitAtStart(idle, device) : undefined;
    const longest = early ?? gaps[0];
    const link = longest && hasView(trace, 'timeline') ? [' ', timelineRange(trace, longest.start_ns, longest.start_ns + longest.duration_ns, early ? 'Show this wait' : streams.length > 1 ? `Show the longest gap of stream ${stream}` : 'Show its longest gap'), '.'] : [];
    return h('div', { class: 'idle-verdict' },
        h('p', { class: 'lead' }, ...cost, `. In ${fmt.share(host.ratio)} of that time ${HOSTS[host.host].was}`, whereOf(gaps, host.host), '.'),
        h('p', { class: 'lead' }, shareOf(device) < LITTLE ? ['Little is to gain here: the device is nearly always busy. See ', h('a', { href: traceHref(trace.id, 'overview') }, 'what it is busy with'), '. '] : null,
            early && cause.cause === 'host_wait' ? BEFORE_RECORDING : todoOf(trace, cause.cause, host.host), link));
}

/** The one wait right behind the first work that is most of what a device waited. @param {Idle} idle @param {IdleBlock} device */
function waitAtStart({ longest }, device) {
    const gap = longest.rows.find((row) => row.device === device.device);
    const isEarly = gap !== undefined && gap.host === 'synchronisation' && gap.duration_ns > device.idle_ns / 2 && gap.start_ns - Number(device.first_ns) < AT_START * windowOf(device);
    return isEarly ? gap : undefined;
}

/** The event that most of the longest gaps of this kind name. @param {IdleGap[]} gaps @param {IdleHostName} host */
function whereOf(gaps, host) {
    /** @type {Map<string, number>} */
    const sums = new Map();
    for (const row of gaps) {
        if (row.host === host && row.host_name) sums.set(row.host_name, (sums.get(row.host_name) ?? 0) + row.duration_ns);
    }
    const [most] = [...sums].sort(([, a], [, b]) => b - a);
    if (!most) return null;
    const { short, hint } = shorten(most[0]);
    return [', in the longest gaps mostly in ', h('code', { 'data-tip': most[0] }, short), /:\d+$/.test(hint) ? ` (${hint})` : null];
}

/** @param {IdleBlock} block */
const causeParts = ({ causes }) => causes.map(({ cause, idle_ns: ns, ratio }) => ({ kind: cause, ...CAUSES[cause], ns, ratio }));
/** @param {IdleBlock} block */
const hostParts = ({ host }) => host.map(({ host: kind, idle_ns: ns, ratio }) => ({ kind, label: HOSTS[kind].label, ns, ratio }));
/** @param {IdleBlock} block */
const nameOf = ({ device, stream }) => `Device ${device}${stream === undefined ? '' : `, stream ${stream}`}`;

/** Devices, each with its streams, where it has more than one. @param {Idle} idle */
function blocksOf({ devices, streams }) {
    return devices.flatMap((device) => {
        const own = streams.filter((stream) => stream.device === device.device);
        return own.length > 1 ? [device, ...own.sort((a, b) => b.idle_ns - a.idle_ns)] : [device];
    });
}

/** @param {Idle} idle */
export function gapBars(idle) {
    const blocks = blocksOf(idle);
    const used = (/** @type {(block: IdleBlock) => import('./bars.js').Part[]} */ parts) => parts(blocks[0]).filter(({ kind }) => blocks.some((block) => parts(block).some((part) => part.kind === kind && part.ns > 0)));
    const rows = blocks.slice(0, BARS).map((block) => h('div', { class: 'idle-block' },
        h('h3', null, nameOf(block), h('span', { class: 'quiet' }, ` idle ${fmt.time(block.idle_ns)} of ${fmt.time(windowOf(block))}, ${fmt.share(shareOf(block))}`)),
        h('span', { class: 'quiet' }, 'Cause'), bar(`${nameOf(block)} by cause`, causeParts(block)),
        h('span', { class: 'quiet' }, 'Host'), bar(`${nameOf(block)} by what the host did`, hostParts(block))));
    return chartPanel({
        title: 'Why devices waited', help: 'Gaps between the work of a stream, or of a device with all its streams as one',
        chart: h('div', { class: 'time-windows' }, h('div', { class: 'idle-keys' }, h('span', { class: 'quiet' }, 'Cause'), key(used(causeParts)), h('span', { class: 'quiet' }, 'Host'), key(used(hostParts))), rows,
            blocks.length > BARS ? h('p', { class: 'quiet' }, `${fmt.plural(blocks.length - BARS, 'more stream')}: see the table.`) : null),
        table: () => figureTable(blocks),
    }).root;
}

/** @param {IdleBlock[]} blocks */
function figureTable(blocks) {
    const unit = fmt.timeUnit(Math.max(...blocks.map(({ idle_ns: ns }) => ns)));
    const parts = [...causeParts(blocks[0]), ...hostParts(blocks[0])];
    return plainTable(`Idle time by cause and by host, in ${unit.name}`, ['Where', 'Gaps', `Idle ${unit.name}`, 'Share', ...parts.map(({ label }) => label)],
        blocks.map((block) => [nameOf(block), fmt.int(block.causes.reduce((sum, { gaps }) => sum + gaps, 0)), fmt.timeIn(block.idle_ns, unit), fmt.share(shareOf(block)),
            ...[...causeParts(block), ...hostParts(block)].map(({ ns }) => fmt.timeIn(ns, unit))]), 1);
}

/** @type {Column[]} */
const COLUMNS = [
    { key: 'name', label: 'Host was in', kind: 'name', width: 220, priority: 0, help: 'The event with the longest stretch of the gap on the launching thread' },
    { key: 'duration_ns', label: 'Duration', kind: 'time', width: 96, priority: 1 },
    { key: 'start_ns', label: 'Start', kind: 'time', width: 104, priority: 4, help: 'After the start of the trace' },
    { key: 'cause', label: 'Cause', kind: 'text', width: 130, priority: 3, value: (row) => CAUSES[/** @type {IdleCauseName} */ (row.cause)].label },
    { key: 'host', label: 'Host', kind: 'text', width: 150, priority: 2, value: (row) => HOSTS[/** @type {IdleHostName} */ (row.host)].label },
    { key: 'device', label: 'Device', kind: 'int', width: 74, priority: 6 },
    { key: 'stream', label: 'Stream', kind: 'int', width: 78, priority: 5 },
];

/** @param {Trace} trace @param {Idle} idle */
export function gapTable(trace, { longest }) {
    const rows = longest.rows.map((row) => ({ ...row, name: row.host_name ?? HOSTS[row.host].label }));
    return localTable(rows, {
        caption: 'Longest gaps of streams', noun: ['gap', 'gaps'], search: 'Search names', columns: COLUMNS, sort: ['duration_ns', 'desc'],
        identity: ({ device, stream, start_ns: start }) => `${device} ${stream} ${start}`, file: 'longest-gaps.csv',
        filters: [{ param: 'host', label: 'Host', all: 'All of the host', keep: (row, value) => row.host === value,
            options: Object.entries(HOSTS).filter(([kind]) => rows.some(({ host }) => host === kind)).map(([value, { label }]) => ({ value, label })) }],
        detail: (row) => detail(trace, row),
    });
}

/** @param {Trace} trace @param {Row} row */
function detail(trace, row) {
    /** @type {[string, number | null][]} */
    const events = [['Work before', row.previous_event], ['Work after', row.next_event], ['Its launch', row.launch_event], ['What the host did', row.host_event]];
    return h('div', null, row.host_name ? fullName(row.host_name) : null,
        figures([['Cause', CAUSES[/** @type {IdleCauseName} */ (row.cause)].help], ['From', fmt.moment(row.start_ns)], ['To', fmt.moment(row.start_ns + row.duration_ns)]]),
        hasView(trace, 'timeline') ? h('p', null, timelineRange(trace, row.start_ns, row.start_ns + row.duration_ns, 'Show in timeline'),
            events.filter(([, event]) => event !== null).map(([label, event]) => [' · ', timelineEvent(trace, Number(event), label)])) : null);
}
