/** What the steps of each phase did, in sum and a step, and the classes of their device work. */

import { h } from '../../lib/dom.js';
import { ranking, topSlices, colourBook } from '../../charts/ranking.js';
import { plainTable } from '../../table/detail_parts.js';
import { classHref } from '../overview/device_time.js';
import * as fmt from '../../lib/fmt.js';

const CLASSES = 8;

/** @param {string} phase "prefill" */
export const phaseWord = (phase) => phase.charAt(0).toUpperCase() + phase.slice(1);

/** @param {Trace} trace @param {EngineSteps} answer */
export function phaseBoard(trace, { phases }) {
    const colours = colourBook();
    const charts = phases.map((phase) => classChart(trace, phase, colours));
    return {
        root: h('div', { class: 'phase-board' }, phaseTable(phases), h('div', { class: 'pie-board' }, charts.map(({ root }) => root))),
        draw: () => charts.forEach(({ draw }) => draw()),
        destroy: () => charts.forEach(({ destroy }) => destroy()),
    };
}

/** @param {EnginePhase[]} phases */
function phaseTable(phases) {
    const host = fmt.timeUnit(Math.max(...phases.map(({ duration_ns: ns, steps }) => ns / steps)));
    const device = fmt.timeUnit(Math.max(...phases.map(({ device_ns: ns, steps }) => ns / steps)));
    const each = (/** @type {number | null} */ sum, /** @type {number} */ steps) => (sum === null ? '–' : fmt.num(sum / steps, 1));
    return plainTable('Phases', ['Phase', 'Steps', 'Batch a step', 'Tokens a step', 'Tokens', `Host time a step ${host.name}`, `Device time a step ${device.name}`, 'Host time', 'Device time'],
        phases.map(({ phase, steps, requests, tokens, duration_ns: hostNs, device_ns: deviceNs }) => [
            phaseWord(phase), fmt.int(steps), each(requests, steps), each(tokens, steps), fmt.int(tokens), fmt.timeIn(hostNs / steps, host), fmt.timeIn(deviceNs / steps, device),
            fmt.time(hostNs), fmt.time(deviceNs)]), 1);
}

/** @param {Trace} trace @param {EnginePhase} phase @param {ReturnType<typeof colourBook>} colours */
function classChart(trace, { phase, device_ns: total, classes }, colours) {
    const unit = fmt.timeUnit(total);
    const chart = ranking({
        title: `${phaseWord(phase)}: device time by class`, help: 'Of the device work that the steps launched, wherever it ran', print: (ns) => fmt.time(ns, unit),
        emptyText: 'These steps launched no device work.', href: (name) => classHref(trace, name),
    });
    const items = Object.entries(classes).map(([name, value]) => ({ name, value }));
    return { root: chart.root, draw: () => chart.show(topSlices(items, CLASSES, total, colours), total), destroy: chart.destroy };
}
