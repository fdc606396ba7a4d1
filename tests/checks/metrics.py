#!/usr/bin/env python3
"""/metrics against the rules of Prometheus' text format; what requests and jobs add to it; and that the dashboard in
deploy/ asks for nothing that is not there."""
import json
import re
import time
import unittest

import kinetoscope

DEPLOY = kinetoscope.ROOT / 'deploy'
NAME = r'[a-zA-Z_:][a-zA-Z0-9_:]*'
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(r'(%s)(?:\{(%s(?:,%s)*)?,?\})? (\S+)' % (NAME, LABEL, LABEL))
SUFFIXES = {'histogram': ('_bucket', '_sum', '_count'), 'counter': ('',), 'gauge': ('',)}


class Families(dict):
    """Name -> {'type', 'samples': {(name, labels): value}}; fails on whatever the format does not allow."""

    def __init__(self, text):
        super().__init__()
        if not text.endswith('\n'):
            raise AssertionError('the last line does not end')
        family = helped = None
        for line in text[:-1].split('\n'):
            if line.startswith('# HELP '):
                helped = re.fullmatch(r'# HELP (%s) ([^\\]+)' % NAME, line)[1]
            elif line.startswith('# TYPE '):
                found = re.fullmatch(r'# TYPE (%s) (counter|gauge|histogram)' % NAME, line)
                if found[1] in self or found[1] != helped:
                    raise AssertionError('twice, or without its help: ' + line)
                if (found[2] == 'counter') != found[1].endswith('_total'):
                    raise AssertionError('counters end with _total, others do not: ' + line)
                family = self[found[1]] = {'name': found[1], 'type': found[2], 'samples': {}}
            else:
                self.add(family, line)
        for family in self.values():
            if family['type'] == 'histogram':
                check_histogram(family)

    @staticmethod
    def add(family, line):
        found = SAMPLE.fullmatch(line)
        if not found:
            raise AssertionError('no sample: ' + line)
        if found[1] not in [family['name'] + s for s in SUFFIXES[family['type']]]:
            raise AssertionError('a sample outside of its family: ' + line)
        labels = tuple(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', found[2] or ''))
        if len({name for name, _ in labels}) != len(labels) or (found[1], labels) in family['samples']:
            raise AssertionError('twice: ' + line)
        family['samples'][found[1], labels] = float(found[3])

    def value(self, family, **labels):
        return sum(v for (_, found), v in self[family]['samples'].items() if labels.items() <= dict(found).items())

    def count(self, family, **labels):
        return sum(v for (name, found), v in self[family]['samples'].items()
                   if name.endswith('_count') and labels.items() <= dict(found).items())


def check_histogram(family):
    series = {}
    for (name, labels), value in family['samples'].items():
        kept = tuple(pair for pair in labels if pair[0] != 'le')
        series.setdefault(kept, {}).setdefault(name[len(family['name']):], []).append((dict(labels).get('le'), value))
    for labels, parts in series.items():
        bounds = [float(le) for le, _ in parts['_bucket']]
        counts = [value for _, value in parts['_bucket']]
        if bounds != sorted(set(bounds)) or counts != sorted(counts) or bounds[-1] != float('inf'):
            raise AssertionError('buckets of %s%s: %s %s' % (family['name'], labels, bounds, counts))
        if [('_count', counts[-1])] != [('_count', v) for _, v in parts['_count']] or len(parts['_sum']) != 1:
            raise AssertionError('sum or count of %s%s' % (family['name'], labels))


def scrape(server):
    answer = server.get('/metrics')
    if answer.status != 200 or answer.headers['Content-Type'] != 'text/plain; version=0.0.4; charset=utf-8':
        raise AssertionError('%d %s' % (answer.status, answer.headers))
    return Families(answer.body.decode())


class Metrics(unittest.TestCase):
    def test_figures_follow_what_happens(self):
        name, content = kinetoscope.fixture('cuda_training')
        with kinetoscope.Server('--base-path', '/k') as server:
            before = scrape_below(server)
            kinetoscope.uploaded(server.ask('PUT', '/k/api/v1/runs/r/traces/' + name, content))
            for _ in range(3):
                server.get('/k/api/v1/runs/absent')
            server.get('/k/')
            server.get('/k/api/nothing')
            after = scrape_counted(server, 6)
            routes = {'route': '/api/v1/runs/{run}', 'method': 'GET'}
            self.assertEqual(after.value('kinetoscope_http_requests_total', status='4xx', **routes), 3)
            self.assertEqual(after.count('kinetoscope_http_request_duration_seconds', **routes), 3)
            self.assertEqual(after.value('kinetoscope_http_requests_total', route='page', status='2xx'), 1)
            self.assertEqual(after.value('kinetoscope_http_requests_total', route='none', status='4xx'), 1)
            self.assertEqual(after.value('kinetoscope_http_received_bytes_total'), len(content))
            self.assertGreater(after.value('kinetoscope_http_sent_bytes_total'), before.value('kinetoscope_http_sent_bytes_total'))
            self.assertEqual(after.value('kinetoscope_jobs_finished_total', state='done'), 1)
            self.assertEqual(after.count('kinetoscope_job_duration_seconds'), 1)
            self.assertEqual(after.value('kinetoscope_ingested_bytes_total'), len(content))
            self.assertGreater(after.value('kinetoscope_ingested_events_total'), 100)
            self.assertEqual(after.value('kinetoscope_raw_bytes'), len(content))
            self.assertEqual((before.value('kinetoscope_traces'), after.value('kinetoscope_traces')), (0, 1))
            self.assertLess(after.value('kinetoscope_disk_free_bytes'), after.value('kinetoscope_disk_bytes'))
            self.assertGreater(after.value('process_resident_memory_bytes'), 1 << 20)
            self.assertGreater(after.value('process_start_time_seconds'), 1.6e9)
            self.assertLess(after.value('process_open_fds'), after.value('process_max_fds'))

    def test_a_request_reads_one_state_of_the_store(self):
        name, content = kinetoscope.fixture('cuda_training')
        stored = ['', '/overview', '/steps', '/operators', '/kernels', '/kernels?group_by=launch', '/memory', '/memory/events', '/modules',
                  '/tree', '/cycles', '/timeline/tracks', '/events/3', '/search?q=gemm', '/trace.json.gz', '/results.db',
                  '/sql?q=SELECT+count(*)+FROM+kernels']
        sides = '?base=%(id)d&candidate=%(id)d'
        others = ['/runs', '/runs/r', '/runs/r/traces', '/comparisons', '/diff' + sides, '/diff/summary' + sides,
                  '/diff/tree' + sides]
        analysed = ['/device-time', '/idle', '/launches', '/critical-path']  # an analysis on request reads the events by itself
        with kinetoscope.Server() as server:
            trace, = kinetoscope.uploaded(server.ask('PUT', '/api/v1/runs/r/traces/' + name, content))
            paths = ['/traces/%d%s' % (trace['id'], path) for path in stored] + [path % trace if '%' in path else path for path in others]
            for path, most in [(path, 1) for path in paths] + [('/traces/%d%s' % (trace['id'], path), 2) for path in analysed]:
                before = scrape(server).value('kinetoscope_store_snapshots_total')
                self.assertEqual(server.get('/api/v1' + path).status, 200, path)
                after = scrape(server).value('kinetoscope_store_snapshots_total')
                self.assertEqual(after - before, most + 1, path)  # and that of the first of these two /metrics

    def test_the_dashboard_asks_for_what_is_there(self):
        dashboard = json.loads((DEPLOY / 'grafana-dashboard.json').read_text())
        queries = [target['expr'] for panel in dashboard['panels'] for target in panel.get('targets', [])]
        self.assertGreater(len(queries), 10)
        with kinetoscope.Server() as server:
            server.get('/healthz')
            families = scrape(server)
        there = {family['name'] + suffix for family in families.values() for suffix in SUFFIXES[family['type']]}
        for query in queries:
            asked = set(re.findall(r'\b(?:kinetoscope|process)_\w+', query))
            self.assertTrue(asked, query)
            self.assertLessEqual(asked, there, query)
        self.check_alerts(there, families)
        shown = set(re.findall(r'\b(?:kinetoscope|process)_\w+', ' '.join(queries)))
        missing = [f['name'] for f in families.values() if not shown & {f['name'] + s for s in SUFFIXES[f['type']]}]
        self.assertEqual(missing, [], 'figures that no panel shows')


    def check_alerts(self, there, families):
        """Those of deploy/ go by figures, and by routes, states and faults, that there are."""
        rules = re.findall(r'(?m)^        expr: (.+)$', (DEPLOY / 'alerts.yml').read_text())
        self.assertGreater(len(rules), 8)
        labels = {label for family in families.values() for _, found in family['samples'] for label in found}
        routes = json.loads((kinetoscope.ROOT / 'api/openapi.json').read_text())['paths']
        for rule in rules:
            asked = set(re.findall(r'\b(?:kinetoscope|process|up)(?:_\w+)?\b(?!")', rule))
            self.assertTrue(asked, rule)
            self.assertLessEqual(asked - {'up'}, there, rule)
            for name, value in re.findall(r'(\w+)="([^"]*)"', rule):
                self.assertTrue(name == 'job' or value in routes or (name, value) in labels or value == '5xx', rule)


def scrape_below(server):
    return Families(server.get('/k/metrics').body.decode())


def scrape_counted(server, requests):
    """A request is counted when its answer has gone out, which its client may see before."""
    end = time.monotonic() + kinetoscope.HANG_S
    while True:
        found = scrape_below(server)
        total, own = (found.value('kinetoscope_http_requests_total', **labels) for labels in ({}, {'route': '/metrics'}))
        if total - own >= requests or time.monotonic() > end:
            return found
        time.sleep(0.01)


kinetoscope.main()
