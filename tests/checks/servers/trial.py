#!/usr/bin/env python3
"""A cluster on trial: three servers behind haproxy, on PostgreSQL and S3, are killed (kill -9), stopped (SIGSTOP, up to 40 s) and
cut off from the database or the objects, two at once, while clients upload, read and delete. Afterwards nothing that was acknowledged is lost
and nothing is there twice; no object is without a row and no row without its object; every file of results is whole; figures
are those of an embedded server; and jobs of a server that died were taken over within 35 s if another was idle.
Alone: KINETOSCOPE_BIN=... trial.py [--events N] [--seed N] [--older PROGRAM: of the last server, as during an upgrade] """
import argparse
import collections
import hashlib
import http.client
import json
import pathlib
import random
import signal
import sqlite3
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import kinetoscope  # noqa: E402: beside this folder
from servers import lab, s3  # noqa: E402
from servers.catalogue import FIXTURE  # noqa: E402

TAKEN_OVER_S = 35
CLIENTS = 8
AT_ONCE = 2  # so that one server is always well
ASKED = ('overview', 'operators', 'timeline', 'steps')
# What happens, how often, for how many seconds.
EVENTS = (('killed', 34, 0, 2), ('dead', 14, 38, 44), ('stopped', 16, 0.5, 8), ('stopped', 12, 40, 40), ('database cut', 6, 2, 25), ('database silent', 5, 5, 25),
          ('objects cut', 5, 2, 25), ('objects silent', 5, 5, 25), ('all slow', 3, 5, 15))


def make_shapes():
    """Traces whose figures differ: small, with a large file of results, long to analyse, in several parts for S3."""
    chance = random.Random(7)
    shapes = []
    for count in [20 * n for n in range(8)] + [12000, 13000]:
        events = [{'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::made_%x' % chance.getrandbits(60), 'pid': 1, 'tid': 1, 'ts': 1000 + 10 * i,
                   'dur': chance.randrange(1, 10)} for i in range(count)]
        shapes.append(json.dumps({**FIXTURE, 'traceEvents': FIXTURE['traceEvents'] + events}))
    shapes.append(kinetoscope.large_trace(8 << 20).decode())
    shapes.append(json.dumps({**FIXTURE, 'padding': 'padding ' * (20 << 17)}))
    return shapes


SHAPES = make_shapes()
OFTEN = [10] * 8 + [25, 25, 5, 1]
SLOW = -1  # the first shape, in a file that is long to read
SLOW_MEMBERS = 4


def body(name, shape):
    if shape == SLOW:
        return kinetoscope.blank_bomb(SLOW_MEMBERS, body(name, 0))
    return ('%s, "name of its own": "%s"}' % (SHAPES[shape].rstrip()[:-1], name)).encode()


class Clients:
    def __init__(self, cluster, seed):
        self.cluster, self.seed, self.stop = cluster, seed, threading.Event()
        self.acknowledged, self.deleted, self.refusals, self.wrong = {}, set(), collections.Counter(), []
        self.threads = [threading.Thread(target=self.run, args=(number,)) for number in range(CLIENTS)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join()

    def ask(self, method, path, *rest, well=(200,)):
        """An answer, or None where there was none or the server could not."""
        try:
            answer = self.cluster.balancer.ask(method, path, *rest)
        except (OSError, ValueError, http.client.HTTPException) as error:
            self.refusals[type(error).__name__] += 1
            return None
        if answer.status in well:
            return answer
        self.refusals[answer.status] += 1
        if answer.status not in (502, 503, 504):
            self.wrong.append((method, path, answer.status, answer.body[:300]))
        return None

    def upload(self, name, shape, chance):
        headers = {'Prefer': 'respond-async'} if chance.random() < 0.2 else {}
        while not self.stop.is_set():
            answer = self.ask('PUT', kinetoscope.trace_path('run', name), body(name, shape), headers, well=(200, 201, 202))
            if answer:
                self.acknowledged[name] = shape
                return None if answer.status == 202 else kinetoscope.uploaded(answer)[0]['id']
            self.stop.wait(chance.uniform(0.2, 0.6))
        return None

    def delete(self, name, trace_id):
        """Without an answer it may be there, or go when a server that was stopped goes on."""
        del self.acknowledged[name]
        if self.ask('DELETE', '/api/v1/traces/%d' % trace_id, well=(204,)):
            self.deleted.add(name)

    def run(self, number):
        chance, own, serial = random.Random('%d %d' % (self.seed, number)), [], 0
        while not self.stop.is_set():
            for _ in range(chance.choice((1, 1, 1, 4))):
                name, serial = 'c%d-%d.json' % (number, serial), serial + 1
                trace_id = self.upload(name, chance.choices(range(len(SHAPES)), OFTEN)[0], chance)
                if trace_id:
                    own.append((name, trace_id))
            if own:
                self.ask('GET', '/api/v1/traces/%d/%s' % (chance.choice(own)[1], chance.choice(ASKED)))
            if own and chance.random() < 0.1:
                self.delete(*own.pop(chance.randrange(len(own))))
            self.stop.wait(chance.uniform(0.5, 2.5))


class Trouble:
    """Events, each at one server, AT_ONCE servers at a time."""

    def __init__(self, cluster, clients, events, seed):
        self.cluster, self.clients, self.left, self.seed = cluster, clients, events, seed
        self.lock, self.room, self.failed = threading.Lock(), threading.Semaphore(AT_ONCE), []
        self.burdens, self.done, self.taken_over, self.ids = 0, collections.Counter(), [], {name: node_id for node_id, name in cluster.sql('SELECT id, name FROM node')}

    def run(self):
        threads = [threading.Thread(target=self.at, args=(node,)) for node in self.cluster.nodes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not self.failed, self.failed

    def at(self, node):
        chance = random.Random('%d %s' % (self.seed, node.name))
        while not self.failed:
            with self.lock:
                self.left -= 1
                if self.left < 0:
                    return
            what, _, least, most = chance.choices(EVENTS, [event[1] for event in EVENTS])[0]
            with self.room:
                try:
                    self.happen(node, what, chance.uniform(least, most))
                except BaseException as error:
                    self.failed.append((node.name, what, repr(error)))
                    raise
            time.sleep(chance.uniform(0.5, 3))

    def happen(self, node, what, seconds):
        began = time.monotonic()
        if what in ('killed', 'dead') or seconds == 40:
            self.burden(node)
        if what in ('killed', 'dead'):
            node.kill()
            self.watch(node, seconds)
            node.restart()
        elif what == 'stopped':
            node.signal(signal.SIGSTOP)
            try:
                self.watch(node, seconds)
            finally:
                node.signal(signal.SIGCONT)
        elif what == 'all slow':
            node.database.delay_s, node.objects.delay_s = 0.2, 0.4
            time.sleep(seconds)
            node.database.delay_s = node.objects.delay_s = 0.0
        else:
            place, how = what.split()
            link = getattr(node, place)
            link.cut() if how == 'cut' else link.silence()
            time.sleep(seconds)
            link.mend()
        with self.lock:
            self.done[what if seconds != 40 else 'stopped for 40 s'] += 1
            print('%3d left  %s %s, %.1f s' % (max(self.left, 0), node.name, what, time.monotonic() - began), flush=True)

    def burden(self, node):
        """Jobs that the server has when it dies: acknowledged, so somebody must do them."""
        for number, shape in enumerate((SLOW, 1, 8)):
            self.burdens += 1
            name = 'burden%d-%s-%d.json%s' % (self.burdens, node.name, number, '.gz' if shape == SLOW else '')
            try:
                answer = node.put('run', name, body(name, shape), headers={'Prefer': 'respond-async'})
            except (OSError, http.client.HTTPException):
                continue
            if answer.status in (200, 201, 202):
                self.clients.acknowledged[name] = shape

    def watch(self, node, seconds):
        """Waits so long; measures when others have the jobs of a server that cannot do them."""
        began = time.monotonic()
        mine = "node = '%s' AND received_at_s > 0 AND state IN ('queued', 'running')" % self.ids[node.name]
        jobs = self.cluster.sql('SELECT id FROM job WHERE %s' % mine) if seconds > 30 else []
        first, free = float('inf') if jobs else None, []
        while first == float('inf') and time.monotonic() < began + seconds:
            # The others wait for room where the first one is.
            if len(self.cluster.sql('SELECT id FROM job WHERE %s AND id IN (%s)' % (mine, ', '.join(job for job, in jobs)))) < len(jobs):
                first = time.monotonic() - began
            elif time.monotonic() - began > TAKEN_OVER_S:
                free.append(self.free())
                if len(free) > 2 and set.intersection(*free[-3:]):
                    self.say_why(node, jobs)
                    self.failed.append((node.name, 'not taken over', set.intersection(*free[-3:])))
                time.sleep(0.8)
            time.sleep(0.2)
        self.taken_over += [first] if jobs else []
        time.sleep(max(0, began + seconds - time.monotonic()))

    def free(self):
        """Servers that are well and have nothing to do."""
        return set(self.cluster.sql("SELECT name FROM node WHERE seen_at_s >= unixepoch() - 6 AND NOT EXISTS"
                                    " (SELECT 1 FROM job WHERE node = node.id AND state IN ('queued', 'running'))"))

    def say_why(self, node, jobs):
        """What a reader of a failure needs: who has what, and who waits for whom."""
        print('jobs %s of %s are not taken over yet' % ([job for job, in jobs], node.name), *self.cluster.sql(
            "SELECT id, state, fence, attempts, lease_until_s - unixepoch(), coalesce((SELECT name FROM node WHERE id = job.node), 'nobody') FROM job"
            " WHERE state IN ('queued', 'running') ORDER BY id"), *self.cluster.sql(
            "SELECT pid, state, wait_event_type, pg_blocking_pids(pid), round(extract(epoch FROM clock_timestamp() - state_change)::numeric, 1), left(query, 90)"
            " FROM pg_stat_activity WHERE backend_type = 'client backend' AND (state LIKE 'idle in%%' OR wait_event_type = 'Lock')"), sep='\n    ', flush=True)


class After:
    """What holds when all is well again."""

    def __init__(self, cluster, clients):
        self.cluster, self.clients, self.faults = cluster, clients, []
        self.says('answers that nothing explains', clients.wrong)

    def says(self, what, found):
        found = list(found)
        if found:
            self.faults.append('%s: %d, such as %s' % (what, len(found), found[:5]))

    def none(self, what, sql):
        self.says(what, self.cluster.sql(sql))

    def send_again(self):
        """Jobs whose server died three times have failed, in words; their bytes were kept."""
        failed = self.cluster.sql("SELECT file_name, attempts, error_message, (SELECT state FROM object WHERE sha256 = job.sha256 AND state IN ('live', 'dying'))"
                                  " FROM job WHERE state = 'failed'")
        for row in failed:
            if row[0] not in self.clients.acknowledged or row[1] != '3' or row[3] != 'live' or 'the uploaded bytes are kept' not in row[2]:
                self.says('failed jobs', [row])
            else:
                kinetoscope.uploaded(self.cluster.balancer.put('run', row[0], body(row[0], self.clients.acknowledged[row[0]])))
        print('%d jobs have failed after three deaths of their servers, and were sent again' % len(failed))

    def rows(self):
        jobs = "SELECT id, state, attempts, node FROM job WHERE state IN ('queued', 'running')"
        kinetoscope.until(lambda: not self.cluster.sql(jobs), 'no job is left', 120)
        self.send_again()
        kinetoscope.until(lambda: not self.cluster.sql(jobs), 'no job is left', 120)
        self.none('published twice', 'SELECT run_id, file_name FROM upload WHERE published = 1 GROUP BY 1, 2 HAVING count(*) > 1')
        self.none('jobs of several uploads', 'SELECT job_id FROM upload GROUP BY 1 HAVING count(*) > 1')
        self.none('uploads of several traces', 'SELECT upload_id FROM trace WHERE upload_id IS NOT NULL GROUP BY 1 HAVING count(*) > 1')
        self.none('uploads without a trace', 'SELECT file_name FROM upload AS u WHERE NOT EXISTS (SELECT 1 FROM trace WHERE upload_id = u.id)')
        self.none('uploads that nobody published', 'SELECT file_name FROM upload WHERE published = 0')
        self.none('runs that count wrong', 'SELECT r.name, trace_count, found FROM run AS r JOIN (SELECT run_id, count(*) AS found FROM trace AS t JOIN'
                  ' upload AS u ON u.id = t.upload_id GROUP BY 1) AS c ON c.run_id = r.id WHERE trace_count <> found')
        for kind, project, traces, rows in (('run', 'project', 'trace_count', 'newest_upload_id > 0'), ('object', "''", '0', "state = 'live'"), ('results_file', "''", '0', 'bytes IS NULL')):
            self.none('sums that are kept wrong', "SELECT * FROM (SELECT project, sum(items) AS i, sum(traces) AS t, sum(size_bytes) AS s FROM kept_sum WHERE kind = '%s'"
                      ' GROUP BY 1 HAVING sum(items) <> 0) AS k FULL JOIN (SELECT %s AS project, count(*) AS i, sum(%s) AS t, sum(size_bytes) AS s FROM %s WHERE %s GROUP BY 1) AS c'
                      ' USING (project) WHERE (k.i, k.t, k.s) IS DISTINCT FROM (c.i, c.t, c.s)' % (kind, project, traces, kind, rows))

    def names(self):
        self.traces, offset = {}, 0
        while True:
            rows = self.cluster.balancer.get('/api/v1/traces', limit=1000, offset=offset, run='run').json()['traces']
            self.traces.update((row['file_name'], row['id']) for row in rows)
            offset += len(rows)
            if not rows:
                break
        self.says('listed twice', [offset] if offset != len(self.traces) else [])
        self.says('acknowledged and lost', set(self.clients.acknowledged) - set(self.traces))
        self.says('deleted and there', self.clients.deleted & set(self.traces))

    def objects(self):
        self.cluster.sql('UPDATE object SET since_s = since_s - 4000')
        unrest = "SELECT key, state, node FROM object WHERE state <> 'live'"
        try:
            kinetoscope.until(lambda: not self.cluster.sql(unrest), 'the objects are swept', 60)
        except AssertionError:
            self.none('objects that nobody sweeps', unrest)
        named = {key for key, in self.cluster.sql("SELECT key FROM object UNION SELECT 'results/' || substr(key, 1, 2) || '/' || substr(key, 3) || '.db'"
                                                  ' FROM results_file WHERE is_object = 1')}
        there = set(self.cluster.keys())
        self.says('objects without a row', there - named)
        self.says('rows without an object', named - there)
        self.says('uploads in parts that nobody ended', s3.unfinished(self.cluster.s3_port, self.cluster.prefix + '/'))
        return len(there)

    def results(self):
        rows = self.cluster.sql('SELECT key, sha256 FROM results_file WHERE is_object = 1')
        with tempfile.NamedTemporaryFile(suffix='.db') as file:
            for key, sha256 in rows:
                content = s3.Object(self.cluster.s3_port, '%s/results/%s/%s.db' % (self.cluster.prefix, key[:2], key[2:])).read_bytes()
                pathlib.Path(file.name).write_bytes(content)
                database = sqlite3.connect('file:%s?immutable=1' % file.name, uri=True)
                said = database.execute('PRAGMA integrity_check').fetchone()[0]
                database.close()
                if said != 'ok' or hashlib.sha256(content).hexdigest() != sha256:
                    self.says('files of results that are damaged', [(key, said)])
        return len(rows)

    def figures(self):
        def figures(server, trace_id):
            answers = [server.get('/api/v1/traces/%d/%s' % (trace_id, what)) for what in ASKED]
            return [{key: value for key, value in answer.json().items() if key not in ('trace', 'environment')} if answer.status == 200 else answer.status
                    for answer in answers]  # but for what names the file
        with kinetoscope.Server() as embedded:
            expected = [figures(embedded, kinetoscope.uploaded(embedded.put('run', '%d.json' % shape, body('', shape)))[0]['id']) for shape in range(len(SHAPES))]
            expected.append(expected[0])  # SLOW
        for name, shape in sorted(self.clients.acknowledged.items()):
            if name not in self.traces:
                continue
            if figures(self.cluster.balancer, self.traces[name]) != expected[shape]:
                self.says('other figures than an embedded server has', [(name, shape)])
            raw = self.cluster.balancer.get('/api/v1/traces/%d/raw' % self.traces[name])
            if raw.status != 200 or raw.body != body(name, shape):
                self.says('other bytes than were sent', [(name, raw.status)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--events', type=int, default=6)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--older')
    asked = parser.parse_args()
    reason = lab.why_not()
    if reason:
        print('skipped: %s' % reason)
        return kinetoscope.SKIPPED
    began = time.monotonic()
    with lab.Lab(3, '--ingest-workers', '2', '--ingest-memory', '1G', '--max-ratio', '0', older=asked.older) as cluster:
        clients = Clients(cluster, asked.seed)
        trouble = Trouble(cluster, clients, asked.events, asked.seed)
        with clients:
            time.sleep(2)
            trouble.run()
            time.sleep(2)
        print('%s; %s; %d uploads acknowledged, %d deleted; refused %s; %.0f s' % (
            cluster.s3_name, dict(trouble.done), len(clients.acknowledged), len(clients.deleted), dict(clients.refusals), time.monotonic() - began), flush=True)
        after = After(cluster, clients)
        after.rows()
        after.names()
        print('%d objects, %d files of results looked through' % (after.objects(), after.results()), flush=True)
        after.figures()
        late = sorted(trouble.taken_over)
        print('servers whose jobs were taken over: %d, after %s s' % (len(late), ', '.join('%.1f' % late[len(late) * k // 4] for k in (1, 2, 3)) + ', at last %.1f' % late[-1] if late else '-'))
        if late and late[-1] >= TAKEN_OVER_S:
            print('%d of them later than after %d s, as all others were busy' % (sum(seconds >= TAKEN_OVER_S for seconds in late), TAKEN_OVER_S))
        print('\n'.join(after.faults) or 'nothing lost, nothing twice, all whole (%.0f s)' % (time.monotonic() - began))
        assert not after.faults
    return 0


if __name__ == '__main__':
    sys.exit(main())
