/** A row of bars as high as the times of steps: their course at a glance. */

import { h } from '../../lib/dom.js';
import * as fmt from '../../lib/fmt.js';

const WIDTH = 90;
const HEIGHT = 18;
const SVG = 'http://www.w3.org/2000/svg';

/** @param {number[]} times in nanoseconds, in order */
export function sparkline(times) {
    if (times.length < 2) return null;
    const most = Math.max(...times);
    const width = Math.min(6, WIDTH / times.length);
    const path = times.map((ns, index) => {
        const height = Math.max(1, (HEIGHT * ns) / (most || 1));
        return `M${(index * width).toFixed(2)} ${HEIGHT}v${(-height).toFixed(2)}h${(width * 0.8).toFixed(2)}V${HEIGHT}z`;
    }).join('');
    const svg = document.createElementNS(SVG, 'svg');
    svg.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
    svg.setAttribute('aria-hidden', 'true');
    const bars = document.createElementNS(SVG, 'path');
    bars.setAttribute('d', path);
    svg.append(bars);
    const words = `${times.length} steps, ${fmt.time(Math.min(...times))} to ${fmt.time(most)}`;
    return h('span', { class: 'sparkline', title: words }, h('span', { class: 'visually-hidden' }, words), svg);
}
