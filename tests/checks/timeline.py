#!/usr/bin/env python3
"""A trace in, its timeline out: tracks, windows, every event as it was written, search, figures of windows, and the way back as a file.

usage: timeline.py [TRACE]...     (default: fixtures; else these files, asked less often)
"""
import csv
import gzip
import io
import json
import pathlib
import re
import sys
import unittest

import kinetoscope

CASES = ['cuda_training', 'cpu_only', 'decimal_times', 'lightning', 'mlu', 'no_profiler_step', 'old_format', 'rocm', 'repair_bare_values', 'repair_control',
         'repair_cut', 'repair_quotes', 'uneven_workers']
ROLES = ['kernel', 'memcpy', 'memset', 'communication', 'runtime', 'dataloader', 'cpu_exec', 'other']
ANSWER_MAX_BYTES = 3 << 20
DAMAGED = ('repair_', )


def document_of(content):
    text = gzip.decompress(content) if content[:2] == b'\x1f\x8b' else content
    try:
        document = json.loads(text)
    except ValueError:
        return None
    return {'traceEvents': document} if isinstance(document, list) else document


class TraceCheck:
    """What holds of any trace. Differences are raised as AssertionError."""

    def __init__(self, server, trace, content):
        self.server, self.trace, self.content = server, trace, content
        self.base = '/api/v1/traces/%d' % trace['id']
        self.document = document_of(content)
        self.test = unittest.TestCase()
        self.test.maxDiff = 2000
        self.equal = self.test.assertEqual

    def get(self, rest, **query):
        answer = self.server.get(self.base + rest, **query)
        self.equal(answer.status, 200, '%s %s: %s' % (rest, query, answer.body[:300]))
        return answer

    def json(self, rest, **query):
        return self.get(rest, **query).json()

    def tracks(self):
        out = self.json('/timeline/tracks')
        self.equal([t['id'] for t in out['tracks']], list(range(len(out['tracks']))))
        self.equal(out['events'], self.trace['events'])
        busy = [t for t in out['tracks'] if t['items'] > 0]
        if busy:
            self.equal(out['start_ns'], min(t['first_ns'] for t in busy))
            self.equal(out['end_ns'], max(t['end_ns'] for t in busy))
        steps = self.json('/steps', sort='start_ns', order='asc', limit=0)['rows']
        if out['steps']:
            self.equal([(s['name'], s['start_ns'], s['end_ns'] - s['start_ns']) for s in sorted(out['steps'], key=lambda s: s['start_ns'])],
                       [(s['name'], s['start_ns'], s['duration_ns']) for s in steps])
        return out

    def window(self, told, /, **query):
        answer = self.get('/timeline', **query)
        self.test.assertLessEqual(len(answer.body), ANSWER_MAX_BYTES)
        out = answer.json()
        for track in out['tracks']:
            self.columns(out, track, told['tracks'][track['id']])
        return out

    def columns(self, out, track, told):
        if 'points' in track:
            points = track['points']
            self.equal({len(c) for c in points.values()}, {len(points['event'])})
            self.test.assertEqual(told['kind'], 'counter')
            return
        size = len(track['start_ns'])
        self.equal({len(c) for c in track.values() if isinstance(c, list)}, {size})
        self.equal(track['start_ns'], sorted(track['start_ns']))
        self.test.assertTrue(all(0 <= lane < told['lanes'] for lane in track['lane']))
        self.test.assertTrue(all(0 <= label < len(out['labels']) for label in track['label']))
        for start, dur in zip(track['start_ns'], track['dur_ns']):
            self.test.assertTrue(start <= out['end_ns'] and start + (dur or 0) >= out['start_ns'])
        if 'count' in track:
            self.test.assertTrue(all(n >= 1 for n in track['count']))
            self.test.assertTrue(all(busy <= (dur or 0) for busy, dur in zip(track['busy_ns'], track['dur_ns'])))

    def windows(self, tracks):
        whole = self.window(tracks)
        self.equal((whole['start_ns'], whole['width_px']), (tracks['start_ns'], 1600))
        shown = {t['id'] for t in whole['tracks']}
        self.equal(shown, {t['id'] for t in tracks['tracks'] if t['items'] > 0})
        slices = [t for t in whole['tracks'] if 'points' not in t]
        for track in slices:
            self.equal(sum(track.get('count', [1] * len(track['event']))), tracks['tracks'][track['id']]['items'])
        if not slices:
            return
        first = slices[0]['id']
        middle = (whole['start_ns'] + whole['end_ns']) // 2
        part = self.window(tracks, start_ns=middle, end_ns=middle + max(1, (whole['end_ns'] - middle) // 4), width_px=300, tracks='%d,%d' % (first, first))
        self.test.assertLessEqual({t['id'] for t in part['tracks']}, {first})
        self.window(tracks, width_px=1)
        self.window(tracks, width_px=16384)

    # ---- events
    def events(self, stride=1):
        if self.document is None:
            return
        for number in range(0, len(self.document['traceEvents']), stride):
            element, got = self.document['traceEvents'][number], self.json('/events/%d' % number)
            self.equal(got['raw'], element, 'event %d' % number)
            self.equal(got['event'], number)
            args = element.get('args')
            self.equal(got['args'], args if isinstance(args, dict) else {})
            if isinstance(element.get('name'), str):
                self.equal(got['name'], element['name'])
            for partner in got['flows'] + got['enclosing']:
                self.test.assertTrue(partner['track'] is None or partner['lane'] is not None)
        answer = self.server.get(self.base + '/events/%d' % len(self.document['traceEvents']))
        self.equal(answer.status, 404, answer.body[:200])

    def flows(self, limit):
        """A launch leads to its kernel, and the kernel back to it."""
        if self.document is None:
            return
        found = 0
        for number, element in enumerate(self.document['traceEvents']):
            if element.get('cat') not in ('kernel', 'Kernel') or 'correlation' not in element.get('args', {}) or found == limit:
                continue
            ins = [f for f in self.json('/events/%d' % number)['flows'] if f['kind'] == 'launch' and f['direction'] == 'in']
            for flow in ins:
                outs = [f['event'] for f in self.json('/events/%d' % flow['event'])['flows'] if f['direction'] == 'out']
                self.test.assertIn(number, outs)
            found += bool(ins)
        return found

    def searches(self):
        if self.document is None:
            return
        events = self.document['traceEvents']
        slices = [(n, e) for n, e in enumerate(events) if e.get('ph') == 'X' and isinstance(e.get('name'), str) and e['name']]
        for number, element in slices[:: max(1, len(slices) // 5)][:5]:
            out = self.json('/search', q=element['name'], limit=10000)
            wanted = sum(1 for e in events if e.get('ph') == 'X' and e.get('name') == element['name'])
            self.test.assertGreaterEqual(out['total'], min(wanted, 100000))
            if len(out['hits']) == out['total']:
                self.test.assertIn(number, [h['event'] for h in out['hits']])
            self.test.assertTrue(any(n['name'] == element['name'] for n in out['names']), element['name'])
            self.equal([h['start_ns'] for h in out['hits']], sorted(h['start_ns'] for h in out['hits']))
        for number, element in slices:
            correlation = element.get('args', {}).get('correlation') if isinstance(element.get('args'), dict) else None
            if isinstance(correlation, int) and correlation > 0:
                out = self.json('/search', q=str(correlation), limit=10000)
                wanted = [n for n, e in enumerate(events) if isinstance(e.get('args'), dict) and e['args'].get('correlation') == correlation and 'ts' in e]
                self.test.assertLessEqual(set(wanted), {h['event'] for h in out['hits']})
                self.test.assertTrue(any(h['key'] == 'correlation' for h in out['hits']))
                break

    # ---- figures
    def whole_figures(self):
        out = self.json('/window', limit=0)
        self.equal((out['whole'], out['start_ns'], out['duration_ns']), (True, 0, self.trace['duration_ns']))
        operators = self.json('/operators', limit=0)['rows']
        self.same_rows(out['operators'], operators)
        self.same_rows(out['kernels'], [self.common(r, out['kernels']['rows']) for r in self.json('/kernels', limit=0)['rows']])
        self.check_roles(out)
        steps = self.json('/steps', limit=0)['rows']
        if not steps or steps[0]['start_ns'] is None:
            return
        for role in ROLES[:7]:
            inside = sum(s[role + '_ns'] for s in steps)
            if len(steps) > 1 and role != 'kernel':
                continue  # steps may overlap, and what stands outside of all is not theirs
            self.test.assertGreaterEqual(out['roles'][role] + 1, inside if role == 'kernel' else 0)

    def common(self, row, like):
        return {k: v for k, v in row.items() if not like or k in like[0]}

    def same_rows(self, table, rows):
        def key(row):
            return json.dumps(row, sort_keys=True)
        self.equal(table['total'], len(rows))
        self.equal(sorted(map(key, table['rows'])), sorted(map(key, rows)))

    def check_roles(self, out):
        self.equal(sum(out['roles'][r] for r in ROLES), out['duration_ns'])
        self.equal(out['roles']['total'], out['duration_ns'])
        self.test.assertTrue(all(out['roles'][r] >= 0 for r in ROLES), out['roles'])

    def part_figures(self, parts):
        """Parts of the time lie beside each other: their roles add up to those of the whole."""
        whole = self.json('/window', limit=0)
        length = self.trace['duration_ns']
        cuts = [length * i // parts for i in range(parts + 1)]
        sums = dict.fromkeys(ROLES, 0)
        kernel_ns = 0
        for start, end in zip(cuts, cuts[1:]):
            out = self.json('/window', start_ns=start, end_ns=end, limit=0)
            self.equal((out['start_ns'], out['end_ns'], out['whole']), (start, end, parts == 1))
            self.check_roles(out)
            kernel_ns += sum(r['total_ns'] for r in out['kernels']['rows'])
            for role in ROLES:
                sums[role] += out['roles'][role]
        self.equal(kernel_ns, sum(r['total_ns'] for r in whole['kernels']['rows']))
        self.equal(sums, {role: whole['roles'][role] for role in ROLES})

    def figures_as_csv(self):
        half = self.trace['duration_ns'] // 2
        for table in ('operators', 'kernels'):
            answer = self.get('/window', end_ns=half, table=table, format='csv')
            rows = list(csv.DictReader(io.StringIO(answer.body.decode())))
            self.equal(len(rows), self.json('/window', end_ns=half)[table]['total'])

    # ---- the way back
    def exported(self, **query):
        answer = self.get('/trace.json.gz', **query)
        self.equal(answer.type, 'application/gzip')
        return answer.body

    def round_trip(self, name):
        body = self.exported()
        document = json.loads(gzip.decompress(body))
        if self.document is not None:
            self.equal(document, self.document)
        again = kinetoscope.uploaded(self.server.put('round-trip-%d' % self.trace['id'], name, body))[0]
        self.equal(again['events'], self.trace['events'])
        mine, other = self.base, '/api/v1/traces/%d' % again['id']
        for view in ('/overview', '/steps', '/operators', '/kernels', '/memory', '/modules', '/window'):
            query = {'limit': 0}
            want, got = self.server.get(mine + view, **query), self.server.get(other + view, **query)
            self.equal(got.status, want.status, view)
            if want.status == 200:
                self.equal(self.comparable(got.json(), view), self.comparable(want.json(), view), view)

    def comparable(self, answer, view):
        if view == '/overview':
            answer.pop('trace')
            answer['health'].pop('warnings')
        return answer

    def parts_exported(self):
        length = self.trace['duration_ns']
        document = json.loads(gzip.decompress(self.exported(start_ns=length // 3, end_ns=length // 2)))
        self.test.assertIsInstance(document['traceEvents'], list)
        if self.document is None:
            return
        whole = [json.dumps(e, sort_keys=True) for e in self.document['traceEvents']]
        part = [json.dumps(e, sort_keys=True) for e in document['traceEvents']]
        at = iter(whole)
        self.test.assertTrue(all(e in at for e in part), 'the part is not in the order of the whole')
        self.equal([e for e in part if '"ph": "M"' in e], [e for e in whole if '"ph": "M"' in e])


class Timeline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = kinetoscope.Server().__enter__()
        cls.checks = {}
        for case in CASES:
            name, content = kinetoscope.fixture(case)
            trace = kinetoscope.uploaded(cls.server.put(case, name, content))[0]
            cls.checks[case] = (name, TraceCheck(cls.server, trace, content))

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def each(self, work):
        for case, (name, check) in self.checks.items():
            with self.subTest(case=case):
                work(name, check)

    def test_tracks_and_windows(self):
        self.each(lambda _, check: check.windows(check.tracks()))

    def test_every_event_is_as_it_was_written(self):
        self.each(lambda _, check: check.events())

    def test_flows_lead_both_ways(self):
        self.assertGreater(self.checks['cuda_training'][1].flows(20), 0)

    def test_search(self):
        self.each(lambda _, check: check.searches())

    def test_figures_of_the_whole(self):
        self.each(lambda _, check: check.whole_figures())

    def test_figures_of_parts(self):
        self.each(lambda _, check: (check.part_figures(3), check.figures_as_csv()))

    def test_the_way_back(self):
        self.each(lambda name, check: (check.round_trip(name), check.parts_exported()))

    def test_nothing_of_it_needs_the_upload(self):
        with kinetoscope.Server('--retain-raw', 'no') as server:
            name, content = kinetoscope.fixture('cuda_training')
            trace = kinetoscope.uploaded(server.put('r', name, content))[0]
            self.assertEqual(server.get('/api/v1/traces/%d/raw' % trace['id']).status, 410)
            check = TraceCheck(server, trace, content)
            check.windows(check.tracks())
            check.events(stride=50)
            check.part_figures(2)
            check.round_trip(name)
            answer = server.plugin('trace', run='r', worker=trace['worker'])
            self.assertEqual(answer.status, 200)
            self.assertGreater(len(answer.json()['traceEvents']), len(check.document['traceEvents']))

    def test_damaged_files_have_it_all(self):
        for case, (name, check) in self.checks.items():
            if case.startswith(DAMAGED):
                answer = self.server.plugin('trace', run=case, worker=check.trace['worker'])
                self.assertEqual(answer.status, 200, answer.body[:200])
                self.assertGreaterEqual(len(answer.json()['traceEvents']), check.trace['events'])

    def test_hostile_names_make_harmless_file_names(self):
        name, content = kinetoscope.fixture('cpu_only')
        for run in ('../../etc', 'a/b\\c', 'quote"; filename="x', 'päth', '.hidden'):
            trace = kinetoscope.uploaded(self.server.put(run, name, content))[0]
            answer = self.server.get('/api/v1/traces/%d/trace.json.gz' % trace['id'])
            told = answer.headers['Content-Disposition']
            plain = re.match(r'attachment; filename="([^"]*)"', told)[1]
            self.assertTrue(plain.endswith('.trace.json.gz'), told)
            self.assertNotRegex(plain, r'[/\\%]|^\.', told)

    def test_bad_requests_say_what_is_wrong(self):
        base = self.checks['cuda_training'][1].base
        for rest, words in (('/timeline?start_ns=5&end_ns=5', 'start_ns=5'), ('/timeline?width_px=0', 'width_px'), ('/timeline?width_px=99999', '16384'),
                            ('/timeline?tracks=1,x', '1,x'), ('/timeline?tracks=100000', 'tracks'), ('/timeline?start_ns=soon', 'soon'), ('/search', 'q'),
                            ('/search?q=a&limit=0', '10000'), ('/search?q=a&limit=10001', '10000'), ('/window?start_ns=9&end_ns=2', 'start_ns=9'),
                            ('/window?table=all&format=csv', 'operators'), ('/trace.json.gz?start_ns=9&end_ns=2', 'start_ns=9')):
            with self.subTest(rest=rest):
                answer = self.server.get(base + rest)
                self.assertEqual(answer.status, 400, answer.body[:200])
                self.assertIn(words, answer.json()['detail'])
        for rest in ('/events/x', '/events/-1', '/events/4294967295', '/events/99999999999999999999'):
            self.assertEqual(self.server.get(base + rest).status, 404)

    def test_a_kernel_table_has_no_timeline(self):
        table = b'Kernel                 Latency   Tensor   DRAM\nampere_sgemm_128x64_nn | 204800    0.52     0.21\n'
        trace = kinetoscope.uploaded(self.server.put('table', 'ncu.txt', table))[0]
        for rest in ('/timeline/tracks', '/timeline', '/events/0', '/search?q=a', '/window', '/trace.json.gz'):
            answer = self.server.get('/api/v1/traces/%d%s' % (trace['id'], rest))
            self.assertEqual(answer.status, 404, rest)
            self.assertIn('no events', answer.json()['detail'])

    def test_answers_are_kept_by_browsers(self):
        base = self.checks['cuda_training'][1].base
        for rest in ('/timeline/tracks', '/timeline', '/events/3', '/search?q=mm', '/window', '/trace.json.gz'):
            first = self.server.get(base + rest)
            again = self.server.ask('GET', base + rest, headers={'If-None-Match': first.headers['ETag']})
            self.assertEqual(again.status, 304, rest)


def check_files(paths):
    with kinetoscope.Server() as server:
        for path in map(pathlib.Path, paths):
            content = path.read_bytes()
            trace = kinetoscope.uploaded(server.put(path.parent.name, path.name, content))[0]
            check = TraceCheck(server, trace, content)
            check.windows(check.tracks())
            check.events(stride=max(1, trace['events'] // 500))
            check.flows(20)
            check.searches()
            check.whole_figures()
            check.part_figures(4)
            check.round_trip(path.name)
            check.parts_exported()
            print('%s: %d events hold' % (path, trace['events']))


if __name__ == '__main__':
    if len(sys.argv) > 1 and pathlib.Path(sys.argv[1]).exists():
        check_files(sys.argv[1:])
    else:
        kinetoscope.main()
