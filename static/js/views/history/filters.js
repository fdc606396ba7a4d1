/** Which runs the series are made of, and which metrics are shown. */

import { h, fill, icon } from '../../lib/dom.js';
import { picker } from '../../lib/picker.js';
import { current, setParams } from '../../app/router.js';
import { metricWords, scaleOf } from './words.js';

/** @typedef {import('./api.js').Metric} Metric */

/** @type {[string, string, string][]} key, label, example */
const TEXTS = [['project', 'Project', 'All projects'], ['run', 'Run', 'Name or /expression/'], ['device', 'Device', 'GPU, H100']];
const KNOWN_TAGS = 100;

const metricsNow = () => current().params.getAll('metric');

/** @param {string} label @param {string} value @param {Metric[]} metrics @param {(metric: string) => void} onPick */
function metricPicker(label, value, metrics, onPick) {
    const options = metrics.map(({ metric, unit, value: size }) => {
        const { name, kind } = metricWords(metric);
        return { value: metric, label: name, note: [kind, scaleOf(unit, size).text(size)].filter(Boolean).join(', ') };
    });
    // That of the address, which the newest trace may lack.
    if (value && !options.some((option) => option.value === value)) options.unshift({ value, label: metricWords(value).name, note: metricWords(value).kind });
    return picker({ label, value, options, onPick, placeholder: 'Kernel, operator, class …' });
}

export function filterBar() {
    const texts = TEXTS.map(([key, label, placeholder]) => ({ key, input: h('input', { class: 'input', type: 'text', placeholder, 'aria-label': label, autocomplete: 'off', spellcheck: 'false',
        onchange: (/** @type {Event} */ event) => setParams({ [key]: /** @type {HTMLInputElement} */ (event.target).value.trim() }) }) }));
    const known = h('datalist', { id: 'history-tags' });
    const tag = h('input', { class: 'input', type: 'text', placeholder: 'branch=main', 'aria-label': 'Add a tag', list: 'history-tags', autocomplete: 'off', spellcheck: 'false', onchange: addTag });
    const tags = h('div', { class: 'run-filters history-tags' });
    const pickers = h('div', { class: 'history-pickers' });
    const root = h('div', { class: 'history-filters' }, pickers,
        texts.map(({ input }, index) => h('label', { class: 'history-field' }, h('span', { class: 'picker-label' }, TEXTS[index][1]), input)),
        h('label', { class: 'history-field' }, h('span', { class: 'picker-label' }, 'Tag'), tag), known, tags);

    function addTag() {
        const text = tag.value.trim();
        const before = current().params.getAll('tag');
        tag.value = '';
        if (text && !before.includes(text)) setParams({ tag: [...before, text] });
    }

    return {
        root,
        /** @param {URLSearchParams} params @param {string[]} shown metrics on screen */
        paint(params, shown) {
            texts.forEach(({ key, input }) => {
                if (document.activeElement !== input) input.value = params.get(key) ?? '';
            });
            tags.hidden = !params.has('tag') && shown.length < 2;
            const given = params.getAll('tag');
            fill(tags, given.map((text) => h('button', { class: 'chip filter', type: 'button', title: 'Not only runs with this tag', onclick: () => setParams({ tag: given.filter((other) => other !== text) }) }, `tag: ${text}`, icon('close'))),
                shown.length < 2 ? null : shown.map((metric) => h('button', { class: 'chip filter', type: 'button', title: 'Take this chart away', onclick: () => setParams({ metric: shown.filter((other) => other !== metric) }) },
                    metricWords(metric).short, icon('close'))));
        },
        /** What can be chosen. @param {Metric[]} metrics @param {string[]} shown */
        offer(metrics, shown) {
            const at = [...pickers.querySelectorAll('input')].findIndex((input) => input === document.activeElement);
            fill(pickers, metricPicker('Metric', shown[0], metrics, (metric) => setParams({ metric: [metric, ...metricsNow().slice(1).filter((other) => other !== metric)] })),
                metricPicker('Add a chart', '', metrics.filter(({ metric }) => !shown.includes(metric)), (metric) => setParams({ metric: [...shown, metric] })));
            // A choice rebuilds them; the keyboard stays where it was.
            if (at >= 0) pickers.querySelectorAll('input')[at]?.focus();
        },
        /** The tags that most points have. @param {import('./api.js').Point[]} points */
        know(points) {
            /** @type {Map<string, number>} */
            const counts = new Map();
            for (const text of points.flatMap((point) => point.tags)) counts.set(text, (counts.get(text) ?? 0) + 1);
            fill(known, [...counts].sort(([, a], [, b]) => b - a).slice(0, KNOWN_TAGS).map(([value]) => h('option', { value })));
        },
    };
}
