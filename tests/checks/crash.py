#!/usr/bin/env python3
"""Crashes: the server is killed while it takes uploads, analyses, replaces, deletes, compares and starts.
After each restart everything that was acknowledged is there byte for byte and with its figures, every job has ended or is
taken up again, and nothing is left that nobody refers to.

    crash.py [--kills N] [--seed N]      the seed is printed; with the same one the same operations are tried
"""
import argparse
import gzip
import hashlib
import http.client
import io
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import sys
import tarfile
import tempfile
import threading
import time
import urllib.parse

import faults
import kinetoscope

CLIENTS = 3
LONGEST_LIFE_S = 1.5  # of a server whose clients are at work
MOST_CALLS = 400  # of the disk, before one of them ends the server
SETTLED_S = 120  # a guard: what is left of deleted rows goes in the background
RESTART_KILLS = 0.3  # share of the crashes whose restart is killed, too
VIEWS = ('overview', 'steps', 'operators', 'kernels')
KNOWN_NAMES = {'kinetoscope.db', 'kinetoscope.db-wal', 'kinetoscope.db-shm', 'raw', 'results', 'incoming', 'lock'}
GONE = (ConnectionError, http.client.HTTPException, TimeoutError, OSError)

# Rows without owner, and states that only a running server may have.
LEFTOVERS = {
    'uploads that never became visible': 'SELECT count(*) FROM upload WHERE published = 0',
    'traces without upload': 'SELECT count(*) FROM trace WHERE upload_id IS NULL',
    'files without trace': 'SELECT count(*) FROM results_file WHERE trace_id NOT IN (SELECT id FROM trace)',
    'traces without file': 'SELECT count(*) FROM trace WHERE id NOT IN (SELECT trace_id FROM results_file)',
    'uploads without trace': 'SELECT count(*) FROM upload WHERE id NOT IN (SELECT upload_id FROM trace WHERE upload_id IS NOT NULL)',
    'runs without upload': 'SELECT count(*) FROM run WHERE id NOT IN (SELECT run_id FROM upload)',
    'comparisons that are not whole': "SELECT count(*) FROM comparison WHERE state IN ('writing', 'removed')",
    'unfinished jobs': "SELECT count(*) FROM job WHERE state NOT IN ('done', 'failed')",
    'broken references': 'SELECT count(*) FROM pragma_foreign_key_check',
}


def digest(content):
    return hashlib.sha256(content).hexdigest()


def archive(members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w') as tar:
        for path, content in members:
            info = tarfile.TarInfo(path)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def contents():
    """What is uploaded: plain, compressed, archives, tables of events of several sizes."""
    plain = kinetoscope.fixture_json('cuda_training')
    pool = [plain, gzip.compress(plain, mtime=0), kinetoscope.large_trace(1500000), gzip.compress(kinetoscope.large_trace(4000000), mtime=0)]
    pool += [kinetoscope.fixture(case)[1] for case in ('cpu_only', 'rocm', 'nccl_two_workers')]
    pool.append(archive([('rank_%d/w.pt.trace.json' % rank, kinetoscope.fixture('nccl_two_workers')[1]) for rank in range(3)]))
    return pool


class Mortal(kinetoscope.Server):
    """A server that is expected to be killed."""

    def kill(self):
        self.process.kill()
        self.buried()

    def buried(self):
        self.process.wait(kinetoscope.HANG_S)
        log = self.log()
        os.unlink(self.log_path)
        if kinetoscope.SANITIZER_REPORT.search(log):
            raise AssertionError(log[-6000:])


def figures(server, trace_id):
    told = []
    for view in VIEWS:
        answer = server.get('/api/v1/traces/%d/%s' % (trace_id, view))
        if answer.status != 200:
            raise AssertionError('%s of trace %d: %d %s' % (view, trace_id, answer.status, answer.body[:300]))
        document = answer.json()
        document.pop('trace', None)
        told.append(document)
    return digest(json.dumps(told, sort_keys=True).encode())


def look(data_dir):
    return sqlite3.connect(pathlib.Path(data_dir, 'kinetoscope.db').as_uri() + '?mode=ro', uri=True, timeout=60)


def leftovers(data_dir):
    """What a data directory holds that nobody refers to, and what is not finished."""
    db = look(data_dir)
    try:
        db.execute('BEGIN')
        found = {name: count for name, sql in LEFTOVERS.items() for count in db.execute(sql).fetchone() if count}
        hashes = {row[0] for row in db.execute('SELECT sha256 FROM upload')}
        keys = {row[0] for row in db.execute('SELECT key FROM results_file WHERE bytes IS NULL')}
        db.execute('COMMIT')
    finally:
        db.close()
    raw = {p.parent.name + p.name for p in pathlib.Path(data_dir, 'raw').glob('*/*')}
    if raw != hashes:
        found['blobs'] = sorted(raw - hashes), sorted(hashes - raw)
    results = {p.parent.name + p.stem for p in pathlib.Path(data_dir, 'results').glob('*/*')}
    if results != keys:
        found['results'] = sorted(results - keys), sorted(keys - results)
    incoming = sorted(os.listdir(os.path.join(data_dir, 'incoming')))
    if incoming:
        found['incoming'] = incoming
    names = set(os.listdir(data_dir)) - KNOWN_NAMES
    if names:
        found['files'] = names
    return found


def check_clean(data_dir):
    """Rows that are invisible may take their time to go, but they do so without being asked."""
    end = time.monotonic() + SETTLED_S
    while leftovers(data_dir):
        if time.monotonic() > end:
            raise AssertionError('left over: %s' % leftovers(data_dir))
        time.sleep(0.05)
    db = look(data_dir)
    try:
        said = db.execute('PRAGMA integrity_check').fetchall()
    finally:
        db.close()
    if said != [('ok',)]:
        raise AssertionError('integrity_check: %s' % said)
    for path in pathlib.Path(data_dir, 'results').glob('*/*.db'):
        file = sqlite3.connect('file:%s?immutable=1' % path, uri=True)
        said = file.execute('PRAGMA integrity_check').fetchall()
        file.close()
        if said != [('ok',)]:
            raise AssertionError('integrity_check of %s: %s' % (path, said))


class Truth:
    """What a file of a run may be, as its one client knows: `may` is the set of hashes (None: nothing is there)."""

    def __init__(self):
        self.files = {}  # (run, name): set
        self.jobs = {}  # id of an acknowledged job: (run, name)
        self.comparisons = set()
        self.notes = {}  # (run, name): set
        self.lock = threading.Lock()

    def may(self, key):
        return self.files.get(key, {None})

    def trying(self, key, outcome):
        with self.lock:
            self.files[key] = self.may(key) | {outcome}

    def known(self, key, outcome):
        with self.lock:
            self.files[key] = {outcome}
            if outcome is None:
                self.notes.pop(key, None)


class Client(threading.Thread):
    """Works on files of runs of its own until the server is gone."""

    def __init__(self, number, server, truth, pool, seed):
        super().__init__()
        self.number, self.server, self.truth, self.pool = number, server, truth, pool
        self.random = random.Random(seed)
        self.fault = None
        self.acknowledged = 0

    def run(self):
        deeds = [self.upload] * 5 + [self.upload_async] * 3 + [self.replace] * 2 + [self.delete_trace, self.delete_run, self.note,
                                                                                 self.compare, self.nonsense]
        try:
            while True:
                self.random.choice(deeds)()
        except GONE:
            pass
        except Exception as error:  # told by the main thread
            self.fault = error

    def key(self):
        return ('run-%d-%d' % (self.number, self.random.randrange(3)), 'file%d.pt.trace.json' % self.random.randrange(4))

    def settled(self, *wanted):
        """A file of this client whose state is known and is, or is not, there."""
        own = [k for k, may in self.truth.files.items() if k[0].startswith('run-%d-' % self.number) and len(may) == 1
               and (None not in may) == wanted[0]]
        return self.random.choice(sorted(own)) if own else None

    def expect(self, answer, *statuses):
        if answer.status not in statuses:
            raise AssertionError('answered %d, not %s: %s' % (answer.status, statuses, answer.body[:400]))
        self.acknowledged += 1

    def put(self, key, content, query='', headers=None):
        self.truth.trying(key, digest(content))
        return self.server.put(*key, content, query, headers)

    def upload(self):
        key = self.key()
        content = self.random.choice(self.pool)
        if self.truth.may(key) not in ({None}, {digest(content)}):
            return
        self.expect(self.put(key, content), 201, 200)
        self.truth.known(key, digest(content))

    def replace(self):
        key = self.key()
        content = self.random.choice(self.pool)
        self.expect(self.put(key, content, '?replace=1'), 201, 200)
        self.truth.known(key, digest(content))

    def upload_async(self):
        key = self.key()
        content = self.random.choice(self.pool)
        if self.truth.may(key) != {None}:
            return
        answer = self.put(key, content, headers={'Prefer': 'respond-async'})
        self.expect(answer, 202)
        self.truth.known(key, digest(content))
        self.truth.jobs[int(answer.headers['Location'].rpartition('/')[2])] = key

    def trace_of(self, key):
        """The id of a trace of this file, or None while it is not read yet."""
        answer = self.server.get('/api/v1/runs/' + urllib.parse.quote(key[0]))
        if answer.status == 404:
            return None
        self.expect(answer, 200)
        return next((t['id'] for t in answer.json()['trace_list'] if t['file_name'] == key[1]), None)

    def delete_trace(self):
        key = self.settled(True)
        trace_id = self.trace_of(key) if key else None
        if trace_id is None or self.truth.may(key) == {digest(self.pool[-1])}:
            return
        self.truth.trying(key, None)
        self.expect(self.server.ask('DELETE', '/api/v1/traces/%d' % trace_id), 204)
        self.truth.known(key, None)

    def delete_run(self):
        """Only with all of its files known: an asynchronous one may come afterwards."""
        key = self.settled(True)
        if key is None:
            return
        files = [k for k in self.truth.files if k[0] == key[0]]
        if any(len(self.truth.may(k)) > 1 for k in files) or not all(self.trace_of(k) for k in files if self.truth.may(k) != {None}):
            return
        for file in files:
            self.truth.trying(file, None)
        self.expect(self.server.ask('DELETE', '/api/v1/runs/' + urllib.parse.quote(key[0])), 204)
        for file in files:
            self.truth.known(file, None)

    def note(self):
        key = self.settled(True)
        trace_id = self.trace_of(key) if key else None
        if trace_id is None or self.truth.may(key) == {digest(self.pool[-1])}:
            return
        text = 'note %d' % self.random.randrange(1000000)
        before = self.truth.notes.get((trace_id, key), {''})
        self.truth.notes[trace_id, key] = before | {text}
        self.expect(self.server.ask('PATCH', '/api/v1/traces/%d' % trace_id, json.dumps({'note': text}), {'Content-Type': 'application/json'}), 200)
        self.truth.notes[trace_id, key] = {text}

    def compare(self):
        keys = [self.settled(True), self.settled(True)]
        ids = [self.trace_of(key) if key else None for key in keys]
        if None in ids or ids[0] == ids[1]:
            return
        answer = self.server.ask('POST', '/api/v1/comparisons', json.dumps({'base': ids[0], 'candidate': ids[1]}),
                                 {'Content-Type': 'application/json'})
        if answer.status == 201:
            self.truth.comparisons.add(int(answer.headers['Location'].rpartition('/')[2]))
        else:
            self.expect(answer, 200, 422, 400, 409)

    def nonsense(self):
        """Refused, and nothing of it stays."""
        number = self.random.randrange(1 << 30)
        self.expect(self.server.put('nonsense', 'file %d' % number, b'no trace at all %d' % number), 415, 422)


class Crash:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.data_dir = tempfile.mkdtemp(prefix='kinetoscope-crash-')
        self.faults = faults.Faults(self.data_dir)
        self.truth = Truth()
        self.pool = contents()
        self.counts = {'kills': 0, 'at a call of the disk': 0, 'while starting': 0, 'acknowledged': 0, 'jobs taken up': 0, 'files checked': 0,
                       'bytes checked': 0}
        self.expected = self.learn()
        self.living = self.server().__enter__()

    def close(self):
        if self.living.process.poll() is None:
            self.living.kill()
        self.faults.close()
        shutil.rmtree(self.data_dir, ignore_errors=True)

    def learn(self):
        """The figures of each content, from a server that nobody disturbs."""
        with kinetoscope.Server() as server:
            learned = {}
            for content in self.pool:
                traces = kinetoscope.uploaded(server.put('learn', digest(content), content))
                learned[digest(content)] = sorted(figures(server, trace['id']) for trace in traces)
        return learned

    def server(self):
        return Mortal('--ingest-workers', '2', data_dir=self.data_dir, env=self.faults.env)

    # ---- killing
    def killed_at_work(self):
        server = self.living
        clients = [Client(n, server, self.truth, self.pool, self.random.randrange(1 << 30)) for n in range(CLIENTS)]
        at_call = self.random.random() < 0.6
        if at_call:
            kinds = self.random.choice([faults.ALL, faults.SYNC, faults.NAME, faults.NAME | faults.SYNC, faults.WRITE])
            self.faults.begin(faults.KILL, kinds, self.random.randrange(MOST_CALLS if kinds & faults.WRITE else MOST_CALLS // 8))
        for client in clients:
            client.start()
        end = time.monotonic() + self.random.random() * LONGEST_LIFE_S + (LONGEST_LIFE_S if at_call else 0)
        while time.monotonic() < end and server.process.poll() is None:
            time.sleep(0.005)
        server.kill()
        self.counts['kills'] += 1
        self.counts['at a call of the disk'] += self.faults.end() > 0
        for client in clients:
            client.join()
            self.counts['acknowledged'] += client.acknowledged
            if client.fault is not None:
                raise client.fault

    def killed_at_start(self):
        self.faults.begin(faults.KILL, faults.ALL, self.random.randrange(25))
        try:
            self.server().__enter__().kill()
        except AssertionError as error:
            if 'ended with -9' not in str(error):
                raise
        hit = self.faults.end() > 0
        self.counts['kills'] += hit
        self.counts['while starting'] += hit

    # ---- what must hold afterwards
    def check_jobs(self, server):
        for job_id, key in self.truth.jobs.items():
            job = server.get('/api/v1/jobs/%d' % job_id)
            # A later replacement of the file may have overtaken it.
            overtaken = job.status == 200 and job.json().get('error', {}).get('status') == 409
            if job.status != 200 or (job.json()['state'] != 'done' and not overtaken):
                raise AssertionError('job %d of %s: %d %s' % (job_id, key, job.status, job.body[:400]))
        self.truth.jobs.clear()

    def check_file(self, server, key, traces):
        may = self.truth.may(key)
        hashes = {trace['sha256'] for trace in traces} or {None}
        if len(hashes) != 1 or not hashes <= may:
            raise AssertionError('%s holds %s, expected one of %s' % (key, hashes, may))
        sha256 = hashes.pop()
        if sha256 is not None:
            raw = server.get('/api/v1/traces/%d/raw' % traces[0]['id'])
            if raw.status != 200 or digest(raw.body) != sha256:
                raise AssertionError('%s: raw bytes of another hash, %d' % (key, raw.status))
            if sorted(figures(server, trace['id']) for trace in traces) != self.expected[sha256]:
                raise AssertionError('%s: other figures than those of the same bytes elsewhere' % (key,))
            for trace in traces:
                notes = self.truth.notes.get((trace['id'], key))
                if notes is not None and trace['note'] not in notes:
                    raise AssertionError('%s: note %r, expected %r' % (key, trace['note'], notes))
            self.counts['files checked'] += 1
            self.counts['bytes checked'] += len(raw.body)
        self.truth.known(key, sha256)

    def check_files(self, server):
        for run in sorted({key[0] for key in self.truth.files}):
            answer = server.get('/api/v1/runs/' + run)
            traces = answer.json()['trace_list'] if answer.status == 200 else []
            unknown = {t['file_name'] for t in traces} - {key[1] for key in self.truth.files if key[0] == run}
            if answer.status not in (200, 404) or unknown:
                raise AssertionError('run %s: %d, %s' % (run, answer.status, unknown or answer.body[:300]))
            for key in sorted(k for k in self.truth.files if k[0] == run):
                self.check_file(server, key, [t for t in traces if t['file_name'] == key[1]])

    def check(self):
        """On the server of the next round."""
        server = self.living = self.server().__enter__()
        self.counts['jobs taken up'] += sum(int(n) for n in re.findall(r'(\d+) unfinished jobs', server.log()))
        check_clean(self.data_dir)
        self.check_jobs(server)
        self.check_files(server)
        for comparison in self.truth.comparisons:
            answer = server.get('/api/v1/comparisons/%d' % comparison)
            if answer.status != 200:
                raise AssertionError('comparison %d: %d %s' % (comparison, answer.status, answer.body[:300]))
        if any(run['name'] == 'nonsense' for run in server.get('/api/v1/runs', limit=1000).json()['runs']):
            raise AssertionError('a refused file is there')

    def round(self):
        self.killed_at_work()
        while self.random.random() < RESTART_KILLS:
            self.killed_at_start()
        try:
            self.check()
        except BaseException:
            sys.stderr.write('server log:\n' + self.living.log()[-3000:])
            raise


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--kills', type=int, default=12)
    parser.add_argument('--seed', type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument('--seconds', type=float, default=900, help='no further round after this time')
    args = parser.parse_args()
    faults.need_library()
    print('seed %d' % args.seed, flush=True)
    began = time.monotonic()
    crash = Crash(args.seed)
    try:
        while crash.counts['kills'] < args.kills and time.monotonic() - began < args.seconds:
            crash.round()
        print(', '.join('%s %d' % (name, count) for name, count in crash.counts.items()), '%.0f s' % (time.monotonic() - began), flush=True)
    finally:
        crash.close()
    return 0


if __name__ == '__main__':
    sys.exit(main())
