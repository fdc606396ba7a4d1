/** Hands a trace, or a window of it, to Perfetto's page in another tab. Nothing goes there before the user has read where to. */

import { h, toast } from '../lib/dom.js';
import { confirm } from '../lib/states.js';
import { perfettoUrl } from '../lib/source.js';
import * as fmt from '../lib/fmt.js';
import { traceUrl } from '../views/timeline/api.js';

const PING_MS = 250;
/** How long the other page may take to load. */
const WAIT_MS = 30000;

/** The ways out of the timeline. @param {Trace} trace @param {() => [number, number] | null} inSight the range that is selected or in sight; null: everything */
export const takeAway = (trace, inSight) => [
    h('a', { class: 'button tl-wide', download: '', href: traceUrl(String(trace.id), null), 'data-tip': 'The trace file, for other viewers' }, 'Download trace'),
    h('button', { class: 'button tl-wide', type: 'button', 'data-tip': 'Hands the selected range, or what is in sight, to Perfetto in another tab, after asking', onclick: () => openInPerfetto(trace, inSight()) }, 'Open in Perfetto'),
];

/**
 * @param {Trace} trace
 * @param {[number, number] | null} range in nanoseconds of the timeline; null: everything
 */
async function openInPerfetto(trace, range) {
    const url = perfettoUrl();
    const { origin } = new URL(url);
    const what = range ? `${fmt.time(range[1] - range[0])} of ${trace.file_name}` : `The whole of ${trace.file_name}`;
    const yes = await confirm({
        title: 'Open in Perfetto?',
        text: `${what} is handed to ${origin}, which opens in another tab of this browser.`,
        yes: `Open ${new URL(url).host}`,
    });
    if (!yes) return;
    const other = window.open(url);
    if (!other) {
        toast(`The browser keeps ${origin} from opening`);
        return;
    }
    try {
        const [file] = await Promise.all([fetchTrace(trace, range), answered(other, origin)]);
        other.postMessage({ perfetto: { buffer: file, title: `${trace.run}, ${trace.worker}`, fileName: trace.file_name } }, origin);
    } catch (error) {
        toast(error instanceof Error ? error.message : String(error));
    }
}

/** @param {Trace} trace @param {[number, number] | null} range */
async function fetchTrace(trace, range) {
    const answer = await fetch(traceUrl(String(trace.id), range && { start_ns: Math.floor(range[0]), end_ns: Math.ceil(range[1]) }));
    if (!answer.ok) throw new Error(`The trace cannot be read (${answer.status})`);
    return answer.arrayBuffer();
}

/** Perfetto's page says PONG when it is ready. @param {Window} other @param {string} origin @returns {Promise<void>} */
function answered(other, origin) {
    return new Promise((resolve, reject) => {
        const started = Date.now();
        /** @type {ReturnType<typeof setTimeout>} */
        let timer;
        const ping = () => {
            if (other.closed || Date.now() - started > WAIT_MS) end(() => reject(new Error(`${origin} does not answer`)));
            else {
                other.postMessage('PING', origin);
                timer = setTimeout(ping, PING_MS);
            }
        };
        const hear = (/** @type {MessageEvent} */ event) => {
            if (event.source === other && event.origin === origin && event.data === 'PONG') end(resolve);
        };
        const end = (/** @type {() => void} */ then) => {
            clearTimeout(timer);
            window.removeEventListener('message', hear);
            then();
        };
        window.addEventListener('message', hear);
        ping();
    });
}
