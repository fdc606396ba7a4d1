#!/usr/bin/env python3
"""A team at once: viewers that walk through the page and uploaders that send file after file, on one server.

usage: load.py [--program build/kinetoscope | --url http://HOST:PORT] [--viewers 200] [--uploaders 16] [--seconds 60] [--largest-mb 30] [--seed 1]

Fails on an answer of 5xx, a broken answer, an upload that was acknowledged and is not there as it was sent, figures other
than those of the same bytes on a quiet server, and memory that grows in the second half of two minutes or more. Prints how
long answers took, by kind. Clients come from many loopback addresses, so that the cap for each of them is not what is measured;
at the end one address asks for more than its share. They share the processors with the server: their part is printed.
"""
import argparse
import asyncio
import hashlib
import http.client
import json
import multiprocessing
import os
import pathlib
import random
import re
import resource
import shutil
import sys
import tempfile
import threading
import time
import urllib.parse

import ingest
import load_http
import load_traces
import load_uploaders
import load_viewers
import timeline
from program import Program

MB = ingest.MB
BASES = 24
SMALLEST = 0.1 * MB
COMPARED = 24  # uploads whose figures are compared with a quiet server's
VIEWS = timeline.VIEWS + ['memory/curve', 'timeline?width_px=1600', 'timeline/tracks']
SAMPLE_S = 1.0
LATE_S = 300  # a guard: so long after their time the clients may take for their last answers
FLOOD_ADDRESS, FLOOD_CONNECTIONS = '127.0.3.1', 300
# What the second half may add to the program's own memory, once it has settled.
GROWTH_BYTES, GROWTH_SHARE, SETTLED_S = 64 * MB, 0.15, 120
SANITIZER_REPORT = re.compile(r'ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error:')


class Server(Program):
    """A server of its own, or one that runs already. A context manager; `faults` are known when it has ended."""

    def __init__(self, program, folder, name, url=None):
        super().__init__(program, os.path.join(folder, name))
        self.faults, self.process, self.given = [], None, url and urllib.parse.urlsplit(url)

    def __enter__(self):
        if self.given:
            self.host, self.port = self.given.hostname, self.given.port or 80
            return self
        self.host = '127.0.0.1'
        return super().__enter__()

    def __exit__(self, *_):
        if self.given:
            return
        super().__exit__()
        words = self.words()
        if self.code != 0 or SANITIZER_REPORT.search(words):
            self.faults.append('the server ended with %d:\n%s' % (self.code, words[-6000:]))

    def ask(self, path, method='GET', body=None):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=load_http.ANSWER_S)
        try:
            connection.request(method, path, body)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def json(self, path):
        status, body = self.ask(path)
        if status != 200:
            raise AssertionError('%s: %d %s' % (path, status, body[:300]))
        return json.loads(body)


# ---- memory ----

class Sampler(threading.Thread):
    """Resident memory by the second: all of it, and what is the program's own (its mapped files left out)."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.over = server, threading.Event()
        self.resident, self.own = [], []

    def look(self):
        if self.server.process is None:
            found = re.search(rb'resident_memory_bytes (\d+)', self.server.ask('/metrics')[1])
            return int(found[1]), int(found[1])
        status = pathlib.Path('/proc/%d/status' % self.server.process.pid).read_text()
        return tuple(int(re.search(name + r':\s*(\d+)', status)[1]) * 1024 for name in ('VmRSS', 'RssAnon'))

    def run(self):
        while not self.over.wait(SAMPLE_S):
            resident, own = self.look()
            self.resident.append(resident)
            self.own.append(own)

    def growth(self):
        """(highest half way, highest at the end, whether that is bounded)."""
        part = max(1, len(self.own) // 6)
        middle = max(self.own[len(self.own) // 2 - part:len(self.own) // 2 + 1])
        end = max(self.own[-part:])
        return middle, end, len(self.own) * SAMPLE_S < SETTLED_S or end - middle <= GROWTH_BYTES + GROWTH_SHARE * middle


# ---- clients, in processes of their own ----

def run_clients(pipe, live, seconds):
    try:
        figures = asyncio.run(asyncio.wait_for(live(), seconds + LATE_S))
    except asyncio.TimeoutError:
        figures = load_http.Figures()
        figures.fault('clients did not come to their end')
    usage = resource.getrusage(resource.RUSAGE_SELF)
    pipe.send((figures, usage.ru_utime + usage.ru_stime))
    pipe.close()


def run_all(server, args, bases):
    """Figures of both sorts of clients, and the processor seconds they took."""
    sorts = [(lambda: load_viewers.live(server.host, server.port, args.viewers, args.seconds, args.seed)),
             (lambda: load_uploaders.live(server.host, server.port, args.uploaders, args.seconds, args.seed, bases))]
    fork = multiprocessing.get_context('fork')
    started = []
    for live in sorts:
        mine, theirs = fork.Pipe(False)
        process = fork.Process(target=run_clients, args=(theirs, live, args.seconds))
        process.start()
        theirs.close()
        started.append((process, mine))
    total, processor = load_http.Figures(), 0.0
    for process, pipe in started:
        figures, seconds = pipe.recv()
        process.join()
        total.add(figures)
        processor += seconds
    return total, processor


# ---- what must hold afterwards ----

def check_kept(server, figures):
    """Every acknowledged upload is there with its hash and its traces; what a viewer did not find has really gone."""
    runs = {run for run, _ in figures.uploads}
    there, ids = {}, set()
    for run in sorted(runs):
        for trace in server.json('/api/v1/runs/' + run)['trace_list']:
            there.setdefault((run, trace['file_name']), []).append(trace)
            ids.add(trace['id'])
    for key, upload in figures.uploads.items():
        found = there.pop(key, [])
        if {t['id']: t['worker'] for t in found} != upload.traces or any(t['sha256'] != upload.sha256 for t in found):
            figures.fault('LOST: %s was acknowledged as %s, there is %s' % (key, upload.traces, found))
    wrongly = figures.missing & ids
    if wrongly:
        figures.fault('answered with 404, but there: %s' % sorted(wrongly))


def views_of(server, trace):
    base = '/api/v1/traces/%d/' % trace
    return {view: (status, timeline.OWN.sub(b'', body)) for view in VIEWS for status, body in [server.ask(base + view)]}


def check_figures(server, quiet, figures, bases, seed):
    """The same bytes on a quiet server: every view of every trace, and the upload itself, byte for byte."""
    keys = sorted(figures.uploads)
    chosen = random.Random(seed).sample(keys, min(COMPARED, len(keys)))
    for key in chosen:
        upload = figures.uploads[key]
        status, body = quiet.ask(load_uploaders.path_of(key), 'PUT', upload.content(bases))
        if status != 201:
            figures.fault('%s: %d on a quiet server' % (key, status))
            continue
        answer = json.loads(body)
        again = {t['worker']: t['id'] for t in answer.get('traces', [answer])}
        for trace, worker in upload.traces.items():
            busy, alone = views_of(server, trace), views_of(quiet, again[worker])
            differing = [view for view in VIEWS if busy[view] != alone[view]]
            if differing:
                figures.fault('%s, worker %s: other figures than on a quiet server: %s' % (key, worker, differing))
        raw = hashlib.sha256(server.ask('/api/v1/traces/%d/raw' % next(iter(upload.traces)))[1]).hexdigest()
        if raw != upload.sha256:
            figures.fault('%s: raw has another hash' % (key, ))
    return len(chosen)


async def flood(server):
    """One address asks on many connections at once: how it is answered, and what another one gets meanwhile."""
    greedy, other = load_http.Figures(), load_http.Figures()
    connections = [load_http.Connection(server.host, server.port, FLOOD_ADDRESS, greedy) for _ in range(FLOOD_CONNECTIONS)]
    asking = asyncio.gather(*(c.ask('flood', '/api/v1/runs?limit=5') for c in connections))
    polite = load_http.Connection(server.host, server.port, '127.0.3.2', other)
    answers = [await polite.ask('beside', '/api/v1/runs?limit=5') for _ in range(20)]
    await asking
    for connection in [*connections, polite]:
        connection.close()
    good = all(a is not None and a.status == 200 for a in answers) and not {s for s in greedy.statuses if s not in (200, 429, 503)}
    return good, dict(greedy.statuses), greedy.fault_count, max(other.seconds['beside'], default=0)


# ---- the report ----

def print_kinds(figures):
    print('  %-16s %8s %10s %10s %10s' % ('', 'answers', 'p50 ms', 'p99 ms', 'most ms'))
    for kind, seconds in sorted(figures.seconds.items()):
        seconds.sort()
        print('  %-16s %8d %10.1f %10.1f %10.1f' % (kind, len(seconds), *(1e3 * timeline.percentile(seconds, share) for share in (0.5, 0.99, 1))))


def report(args, server, sampler, figures, processor, took):
    count = sum(figures.statuses.values())
    middle, end, bounded = sampler.growth()
    print('  %d answers in %.0f s, %.0f a second, %.1f MB/s; %s; refused for now: %s; connections made again: %d' % (
        count, took, count / took, figures.bytes_received / MB / took, dict(sorted(figures.statuses.items())), dict(figures.refused), figures.reconnects))
    print_kinds(figures)
    print('  %d uploads taken, %.2f a second: %.0f MB sent, %.0f MB of JSON, %.1f MB of it a second' % (
        figures.uploads_taken, figures.uploads_taken / took, figures.bytes_sent / MB, figures.text_bytes_sent / MB, figures.text_bytes_sent / MB / took))
    print('  memory: peak %.0f MB, of it its own %.0f MB; own half way %.0f MB, at the end %.0f MB%s' % (
        max(sampler.resident) / MB, max(sampler.own) / MB, middle / MB, end / MB, '' if bounded else ': NOT BOUNDED'))
    if server.process:
        print('  database %.1f MB; the clients took %.0f processor seconds, load of the machine %.1f' % (
            ingest.database_size(server.data) / MB, processor, os.getloadavg()[0]))
    if not bounded:
        figures.fault('memory grows')


def measure(args, folder):
    bases = load_traces.make_bases(BASES, min(SMALLEST, args.largest_mb * MB), args.largest_mb * MB, args.seed)
    print('  %d bases of uploads, %.1f MB of JSON' % (len(bases), sum(b.text_bytes for b in bases) / MB), flush=True)
    with Server(args.program, folder, 'data', args.url) as server:
        sampler = Sampler(server)
        sampler.start()
        begin = time.monotonic()
        figures, processor = run_all(server, args, bases)
        took = time.monotonic() - begin
        sampler.over.set()
        sampler.join()
        report(args, server, sampler, figures, processor, took)
        good, answers, cut, beside = asyncio.run(flood(server))
        print('  %d connections at once from one address: %s, %d shut; another address meanwhile: at most %.1f ms' % (
            FLOOD_CONNECTIONS, answers, cut, 1e3 * beside))
        if not good:
            figures.fault('one address disturbs another')
        check_kept(server, figures)
        with Server(args.program, folder, 'quiet') as quiet:
            compared = check_figures(server, quiet, figures, bases, args.seed)
        print('  %d uploads there; %d of them compared with a quiet server' % (len(figures.uploads), compared))
    for text in figures.faults + server.faults + quiet.faults:
        print('  FAULT: ' + text)
    print('  %d faults' % (figures.fault_count + len(server.faults + quiet.faults)))
    return figures.fault_count == 0 and not server.faults + quiet.faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', default=str(ingest.ROOT / 'build/kinetoscope'))
    parser.add_argument('--url')
    parser.add_argument('--viewers', type=int, default=200)
    parser.add_argument('--uploaders', type=int, default=16)
    parser.add_argument('--seconds', type=float, default=60)
    parser.add_argument('--largest-mb', type=float, default=30)
    parser.add_argument('--seed', type=int, default=1)
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix='kinetoscope-bench-')
    try:
        print('%d viewers and %d uploaders (%s)' % (args.viewers, args.uploaders, ingest.machine()))
        sys.exit(0 if measure(args, folder) else 1)
    finally:
        shutil.rmtree(folder)


if __name__ == '__main__':
    main()
