#!/usr/bin/env python3
"""Several servers on one PostgreSQL and one folder of objects, each case by itself: what one has the others show, who does the jobs
of one that is killed (kill -9), stopped (SIGSTOP) or ends. All of it at once: trial.py. Alone: KINETOSCOPE_BIN=... """
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import kinetoscope  # noqa: E402: beside this folder
from servers import lab, s3  # noqa: E402
from servers.catalogue import FIXTURE  # noqa: E402
from servers.lab import Mortal  # noqa: E402
from servers.link import Link  # noqa: E402
from servers.postgres import Postgres  # noqa: E402

TAKEN_OVER_S = 45  # 30 of the claim, and what a loaded machine takes to notice it
FILE_BYTES = 256 << 10  # a file of results that is smaller stands in its row
SLOW_MEMBERS = 48  # seconds of reading
LATE_S = 22  # without a heartbeat nothing is published after 20
SWEEPS_S = 12  # of what nobody needs, two
BALANCER_KNOWS_S = 14  # haproxy asks twice, and each time waits


def trace(number, repeat=1):
    """Bytes of their own; repeated events make an analysis of some length."""
    return json.dumps({**FIXTURE, 'traceEvents': FIXTURE['traceEvents'] * repeat, 'number': number}).encode()


class Node(Mortal):
    def __init__(self, cluster, name, *options, env=None):
        in_s3 = env and 'AWS_ENDPOINT_URL_S3' in env
        super().__init__('--database-url', cluster.database.url, '--objects-url', 's3://%s/cluster' % s3.BUCKET if in_s3 else 'file://%s/objects' % cluster.folder,
                         '--node-name', name, '--ingest-workers', '1', *options, data_dir=str(cluster.folder / name), env=env)
        self.name = name

    def asynchronous(self, run, name, body):
        answer = self.put(run, name, body, headers={'Prefer': 'respond-async'})
        assert answer.status in (200, 201, 202), (answer.status, answer.body)
        return answer.json()['id']

    def await_job(self, job, seconds=TAKEN_OVER_S):
        def state():
            return self.get('/api/v1/jobs/%d' % job).json()['state']
        kinetoscope.until(lambda: state() in ('done', 'failed'), 'job %d ends' % job, seconds)
        return state()

    def states(self):
        return {row['name']: row['state'] for row in self.get('/api/v1/nodes').json()['nodes']}

    def names(self, run):
        rows = self.get('/api/v1/traces', limit=1000, run=run).json()['traces']
        return sorted(row['file_name'] for row in rows)


class Cluster(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='ks-cluster-', dir='/tmp'))
        self.addCleanup(shutil.rmtree, self.folder, True)
        (self.folder / 'objects').mkdir()
        self.database = self.enterContext(Postgres(self.folder / 'server'))

    def nodes(self, count=2):
        return [self.enterContext(Node(self, 'n%d' % number)) for number in range(count)]

    def sql(self, *texts):
        commands = [word for text in texts for word in ('-c', text)]
        return subprocess.run(['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', self.database.url, *commands], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


class Case(Cluster):
    def test_what_one_has_the_other_shows(self):
        first, second = self.nodes()
        for node in (first, second):
            rows = node.get('/api/v1/nodes').json()['nodes']
            self.assertEqual([(row['name'], row['state'], row['jobs'], row['this']) for row in rows],
                             [(name, 'serving', 0, name == node.name) for name in ('n0', 'n1')])
        for number, node in enumerate((first, second, first, second)):
            self.assertEqual(node.put('run', 't%d.json' % number, trace(number)).status, 201)
            for reader in (first, second):
                self.assertEqual(reader.names('run'), ['t%d.json' % n for n in range(number + 1)])
        job = first.asynchronous('run', 'elsewhere.json', trace(9, 200))
        self.assertEqual(second.await_job(job), 'done')
        # The same bytes again, at another one.
        self.assertEqual(second.put('run', 't0.json', trace(0)).status, 200)
        self.assertEqual(second.put('run', 't0.json', trace(77)).status, 409)

    def test_what_one_deletes_of_the_other_is_counted_once(self):
        first, second = self.nodes()

        def used():
            return [float(re.search(r'^kinetoscope_used_bytes (\S+)', node.get('/metrics').body.decode(), re.M)[1]) for node in (first, second)]
        events = [{'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::made_%s' % os.urandom(6).hex(), 'pid': 1, 'tid': 1, 'ts': 1000 + 10 * i,
                   'dur': 1 + i % 9} for i in range(12000)]
        large = json.dumps({**FIXTURE, 'traceEvents': FIXTURE['traceEvents'] + events}).encode()
        self.assertEqual(first.put('run', 'a.json', large).status, 201)
        there = used()
        self.assertLess(abs(there[0] - there[1]), FILE_BYTES, there)
        self.assertEqual(second.ask('DELETE', '/api/v1/runs/run').status, 204)
        gone = used()
        self.assertLess(max(gone), there[0] + FILE_BYTES, (there, gone))
        self.assertLess(abs(gone[0] - gone[1]), FILE_BYTES, gone)

    def test_jobs_of_a_killed_server_go_on(self):
        first, second = self.nodes()
        jobs = [first.asynchronous('run', 'k%d.json' % number, trace(number, 400)) for number in range(4)]
        first.kill()
        began = time.monotonic()
        for job in jobs:
            self.assertEqual(second.await_job(job), 'done')
        print('taken over after %.1f s' % (time.monotonic() - began))
        self.assertEqual(second.names('run'), ['k%d.json' % number for number in range(4)])
        kinetoscope.until(lambda: second.states() == {'n0': 'silent', 'n1': 'serving'}, 'the killed one is silent', TAKEN_OVER_S - (time.monotonic() - began))
        first.restart()
        self.assertEqual(first.names('run'), second.names('run'))

    def test_jobs_of_a_killed_server_go_on_beside_new_ones(self):
        """At a server whose every place is taken as soon as it becomes free."""
        first, second = self.nodes()
        jobs = [first.asynchronous('run', 'k%d.json' % number, trace(number, 400)) for number in range(4)]
        first.kill()
        began, stop = time.monotonic(), threading.Event()

        def send(client):
            number = 0
            while not stop.is_set():
                number += 1
                second.put('new', 'c%d-%d.json' % (client, number), trace('%d %d' % (client, number), 400))
        clients = [threading.Thread(target=send, args=(client,)) for client in range(6)]
        for client in clients:
            client.start()
        try:
            states = [second.await_job(job) for job in jobs]
            print('done after %.1f s' % (time.monotonic() - began))
        finally:
            stop.set()
            for client in clients:
                client.join()
        first.restart()
        self.assertEqual(states, ['done'] * 4)

    def test_a_stopped_server_publishes_nothing_when_it_goes_on(self):
        first, second = self.nodes()
        jobs = [first.asynchronous('run', 's%d.json' % number, trace(number, 400)) for number in range(2)]
        first.signal(signal.SIGSTOP)
        try:
            states = [second.await_job(job) for job in jobs]
        finally:
            first.signal(signal.SIGCONT)
        self.assertEqual(states, ['done', 'done'])
        time.sleep(2)
        self.assertEqual(first.names('run'), ['s0.json', 's1.json'])
        self.assertEqual(first.put('run', 'after.json', trace(3)).status, 201)

    def test_a_job_whose_servers_died_three_times_fails_in_words(self):
        """Its bytes are kept: the same upload again is analysed."""
        first = self.enterContext(Node(self, 'first'))
        job = first.asynchronous('run', 'a.json', trace(1, 2000))
        first.kill()
        self.assertEqual(self.sql("UPDATE job SET attempts = 3, lease_until_s = 0 WHERE state <> 'done' RETURNING id"), str(job))
        other = self.enterContext(Node(self, 'other'))
        self.assertEqual(other.await_job(job), 'failed')
        self.assertRegex(other.get('/api/v1/jobs/%d' % job).json()['error']['detail'], 'ended in the middle of it, 3 times; the uploaded bytes are kept')
        self.assertEqual(self.sql('SELECT state FROM object'), 'live')
        self.assertEqual(other.put('run', 'a.json', trace(1, 2000)).status, 201)
        self.assertEqual((other.names('run'), self.sql("SELECT count(*) FROM object WHERE state = 'live'")), (['a.json'], '1'))
        first.restart()

    def test_a_late_server_publishes_nothing(self):
        """One that cannot renew its claims, while it reaches the database and the objects: by itself, before another may have its jobs."""
        late = self.enterContext(Node(self, 'late'))
        self.assertEqual(late.put('run', 'before.json', trace(0)).status, 201)
        self.sql("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF new.name = 'late' THEN RAISE EXCEPTION 'no heartbeat'; END IF; RETURN new; END $$",
                 'CREATE TRIGGER refuse BEFORE UPDATE ON node FOR EACH ROW EXECUTE FUNCTION refuse()')
        began = time.monotonic()
        kinetoscope.until(lambda: 'no heartbeat' in late.log(), 'a heartbeat fails', 20)
        self.assertEqual(late.put('run', 'in time.json', trace(1)).status, 201)
        time.sleep(max(0, began + LATE_S - time.monotonic()))
        answers = []
        sender = threading.Thread(target=lambda: answers.append(late.put('run', 'late.json', trace(2))))
        sender.start()
        kinetoscope.until(lambda: self.sql("SELECT count(*) FROM job WHERE file_name = 'late.json' AND received_at_s > 0") == '1', 'its bytes are there', 20)
        time.sleep(4)
        self.assertEqual(self.sql('SELECT count(*) FROM upload WHERE published = 1'), '2')
        other = self.enterContext(Node(self, 'other'))
        self.sql("UPDATE job SET lease_until_s = unixepoch() WHERE state IN ('queued', 'running')")  # the rest of the 30 s
        kinetoscope.until(lambda: self.sql("SELECT state FROM job WHERE file_name = 'late.json'") == 'done', 'the other one does it', TAKEN_OVER_S)
        print('done elsewhere %.1f s after the last heartbeat' % (time.monotonic() - began))
        sender.join()
        self.assertEqual(answers[0].status, 201, answers[0].body)  # who waits for it hears of the other
        self.sql('DROP TRIGGER refuse ON node')
        self.assertEqual(other.names('run'), ['before.json', 'in time.json', 'late.json'])
        kinetoscope.until(lambda: late.put('run', 'after.json', trace(3)).status in (200, 201), 'it publishes again', 20)

    @unittest.skipUnless(kinetoscope.CLOCK, 'no library that moves the clock')
    def test_a_clock_that_is_ahead_removes_nothing(self):
        """Ages are told by the clock of the database."""
        ahead = self.enterContext(Node(self, 'ahead', '--retain-days', '30', env=kinetoscope.clock_env(400 * 86400)))
        right = self.enterContext(Node(self, 'right'))
        self.assertEqual([node.put('run-%s' % node.name, 'a.json', trace(number)).status for number, node in enumerate((right, ahead))], [201, 201])
        self.assertEqual(right.put('gone', 'b.json', trace(2)).status, 201)
        self.assertEqual(right.ask('DELETE', '/api/v1/runs/gone').status, 204)
        kinetoscope.until(lambda: self.sql("SELECT count(*) FROM duty AS d JOIN node AS n ON n.id = d.node WHERE n.name = 'ahead' AND d.name IN ('objects', 'retention')") == '2',
                          'it has the duties', 20)
        self.assertEqual(ahead.put('run-more', 'c.json', trace(3)).status, 201)  # has it look for what is too old
        time.sleep(SWEEPS_S)
        self.assertEqual(sorted(run['name'] for run in right.get('/api/v1/runs').json()['runs']), ['run-ahead', 'run-more', 'run-right'])
        self.assertEqual(self.sql('SELECT state, count(*) FROM object GROUP BY 1 ORDER BY 1'), 'dying|1\nlive|3')
        self.assertEqual(self.sql('SELECT count(*) FROM upload WHERE abs(uploaded_at_s - unixepoch()) > 3600'), '0')

    def test_a_server_that_stops_gives_back_what_waits(self):
        leaves = self.enterContext(Node(self, 'leaves', '--max-ratio', '0', '--ingest-workers', '2', '--ingest-memory', '16M', '--drain-seconds', '300'))
        runs = leaves.asynchronous('run', 'slow.json.gz', kinetoscope.blank_bomb(SLOW_MEMBERS, kinetoscope.large_trace(1 << 20)))
        kinetoscope.until(lambda: leaves.get('/api/v1/jobs/%d' % runs).json()['state'] == 'running', 'the first job runs')
        waits = leaves.asynchronous('run', 'waits.json', kinetoscope.large_trace(8 << 20))  # for memory
        stays = self.enterContext(Node(self, 'stays', '--max-ratio', '0'))
        self.assertEqual(leaves.get('/api/v1/jobs/%d' % waits).json()['state'], 'queued')
        began = time.monotonic()
        leaves.signal(signal.SIGTERM)
        self.assertEqual(stays.await_job(waits), 'done')
        print('done elsewhere %.1f s after SIGTERM' % (time.monotonic() - began))
        self.assertIsNone(leaves.process.poll())
        self.assertEqual(stays.states(), {'leaves': 'draining', 'stays': 'serving'})
        self.assertEqual(stays.names('run'), ['waits.json'])
        self.assertEqual(leaves.process.wait(kinetoscope.HANG_S), 0)
        self.assertEqual(stays.names('run'), ['slow.json.gz', 'waits.json'])
        self.assertEqual(stays.states(), {'stays': 'serving'})

    @unittest.skipUnless(s3.is_built_in(), 'this program was built without S3')
    def test_a_server_cut_off_from_the_objects_leaves_its_jobs(self):
        peer = s3.Peer()
        self.addCleanup(peer.stop)
        links = [Link(peer.port) for _ in range(2)]
        for link in links:
            self.addCleanup(link.stop)
        cut, busy = (self.enterContext(Node(self, 'n%d' % number, '--max-ratio', '0', env=s3.environment(link.port))) for number, link in enumerate(links))
        slow = busy.asynchronous('run', 'slow.json.gz', kinetoscope.blank_bomb(SLOW_MEMBERS // 3, kinetoscope.large_trace(1 << 20)))
        kinetoscope.until(lambda: busy.get('/api/v1/jobs/%d' % slow).json()['state'] == 'running', 'the first job runs')
        links[0].cut()
        began = time.monotonic()
        job = busy.asynchronous('run', 'a.json', trace(1))
        self.assertEqual(busy.await_job(job, 4 * TAKEN_OVER_S), 'done', cut.log()[-2000:])
        print('done %.1f s after the cut; left: %s' % (time.monotonic() - began, 'left to another server' in cut.log()))
        self.assertEqual(busy.await_job(slow, 4 * TAKEN_OVER_S), 'done')
        links[0].mend()
        kinetoscope.until(lambda: cut.put('run', 'b.json', trace(2)).status == 201, 'it takes uploads again', TAKEN_OVER_S)

    def test_uploads_that_wait_for_any_server_count(self):
        node = self.enterContext(Node(self, 'n0', '--max-ratio', '0', '--max-queued-jobs', '1', '--drain-seconds', '0'))
        runs = node.asynchronous('run', 'slow.json.gz', kinetoscope.blank_bomb(16))
        while node.get('/api/v1/jobs/%d' % runs).json()['state'] != 'running':
            time.sleep(0.01)
        node.asynchronous('run', 'waits.json', trace(1))
        self.assertIn(b'kinetoscope_jobs{state="queued"} 1', node.get('/metrics').body)
        refusal = node.put('run', 'refused.json', trace(2))
        self.assertEqual(refusal.status, 503)
        self.assertIn(b'--max-queued-jobs', refusal.body)


def figures(answer):
    """Without what names the address that was asked."""
    return {key: value for key, value in answer.json().items() if key != 'trace'}


class Behind(unittest.TestCase):
    """Two servers behind haproxy as deploy/cluster/haproxy.cfg has it."""

    @unittest.skipIf(lab.why_not(), lab.why_not())
    def test_reads_while_no_server_is_ready(self):
        peer = s3.Peer()
        self.addCleanup(peer.stop)
        with lab.Lab(2, has_links=False, s3_port=peer.port) as cluster:
            balancer = cluster.balancer
            trace_id = kinetoscope.uploaded(balancer.put('run', 'a.json', trace(1)))[0]['id']
            both, one = '/api/v1/traces/%d/overview' % trace_id, '/api/v1/traces/%d/operators' % trace_id
            answers = [node.get(both) for node in cluster.nodes] + [cluster.nodes[1].get(one)]
            self.assertEqual([(answer.status, 'Age' in answer.headers) for answer in answers], [(200, False)] * 3)
            cluster.database.kill()
            # From before haproxy knows until long after: at no moment is a known answer refused.
            began, ages = time.monotonic(), []
            while time.monotonic() < began + BALANCER_KNOWS_S:
                answer = balancer.get(both)
                self.assertEqual((answer.status, figures(answer)), (200, figures(answers[0])), time.monotonic() - began)
                ages.append(int(answer.headers.get('Age', 0)))
            print('%d reads, the last %d s old' % (len(ages), ages[-1]))
            self.assertGreater(ages[-1], BALANCER_KNOWS_S // 2)
            for _ in range(6):  # whichever of the two is asked first
                answer = balancer.get(one)
                self.assertEqual((answer.status, figures(answer)), (200, figures(answers[2])))
                self.assertGreater(int(answer.headers['Age']), 0)
            refused = [balancer.get('/readyz'), balancer.get('/api/v1/traces/999/overview'), balancer.put('run', 'b.json', trace(2)),
                       balancer.ask('PATCH', '/api/v1/runs/run', b'{"note": "x"}')]
            self.assertEqual([(answer.status, 'Retry-After' in answer.headers) for answer in refused], [(503, True)] * 4)
            self.assertEqual(balancer.get('/healthz').status, 200)
            cluster.database.start()
            kinetoscope.until(lambda: balancer.get('/readyz').status == 200, 'a server is ready', 30)
            kinetoscope.until(lambda: 'Age' not in balancer.get(both).headers, 'the present', 30)
            said = []
            kinetoscope.until(lambda: said.append(balancer.put('run', 'b.json', trace(2))) or said[-1].status in (200, 201), 'uploads are taken', 30)
            print('uploads refused after the database came back: %s' % [answer.body[:300] for answer in said[:-1]])
            self.assertEqual(sorted(row['file_name'] for row in balancer.get('/api/v1/traces', run='run').json()['traces']), ['a.json', 'b.json'])


if __name__ == '__main__':
    reason = Postgres.why_not()
    if reason:
        print('skipped: %s' % reason)
        sys.exit(kinetoscope.SKIPPED)
    unittest.main(verbosity=2)
