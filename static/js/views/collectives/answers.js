/** Headline figures: how much there is, who waits, what shows. */

import { h } from '../../lib/dom.js';
import { answer } from '../overview/answers.js';
import { kindWord } from './words.js';
import * as fmt from '../../lib/fmt.js';

/** @param {import('./api.js').Collectives} data */
export function collectiveAnswers({ total, summary, overlap }) {
    const transfer = summary.reduce((sum, row) => sum + row.transfer_ns, 0);
    const waited = summary.reduce((sum, row) => sum + row.mean_wait_ns * row.count, 0);
    const most = [...summary].sort((a, b) => b.mean_wait_ns * b.count - a.mean_wait_ns * a.count)[0];
    const times = overlap.reduce((sum, row) => ({ all: sum.all + row.communication_ns, exposed: sum.exposed + row.exposed_ns }), { all: 0, exposed: 0 });
    const worst = [...overlap].sort((a, b) => b.exposed_ns - a.exposed_ns)[0];
    return h('dl', { class: 'answers' },
        answer('Collectives', [fmt.int(total), ''], [`over ${fmt.plural(overlap.length, 'rank')}, in ${fmt.plural(new Set(summary.map(({ group, group_ranks: ranks }) => `${group} ${ranks}`)).size, 'group')}`], 'first'),
        answer('Transfer', fmt.timeParts(transfer), ['The shortest rank of each collective, added up: data flows']),
        answer('Waiting', fmt.timeParts(waited), [most && waited > 0 ? `of a rank on average, for the last to arrive; most in ${kindWord(most.kind)}${most.group === null ? '' : ` of group ${most.group}`}` : 'Nobody waits']),
        answer('Exposed', times.all > 0 ? fmt.shareParts(times.exposed / times.all) : ['–', ''], [worst ? `of the communication; no other kernel runs meanwhile. Most on rank ${worst.rank}: ${fmt.time(worst.exposed_ns)}` : '']));
}
