#!/usr/bin/env python3
"""What several servers on one PostgreSQL hold together: tokens, sessions, wrong tokens and equal uploads, and that an
answer which one of them keeps follows what is changed through another. Alone: KINETOSCOPE_BIN=... """
import json
import pathlib
import subprocess
import sys
import threading
import time
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import kinetoscope  # noqa: E402: beside this folder
from servers import cluster  # noqa: E402
from servers.cluster import Node  # noqa: E402
from servers.postgres import Postgres  # noqa: E402

NOTICED_S = 20  # a quarter of a second, and what a loaded machine takes: how long it was is printed
NAME, CONTENT = kinetoscope.fixture('cuda_training')
TRACE = json.loads(kinetoscope.fixture_json('cuda_training'))


def numbered(number):
    return json.dumps({**TRACE, 'number': number}).encode()


class Case(cluster.Cluster):
    clients = 0

    def nodes(self, count=2):
        return [self.enterContext(Node(self, 'n%d' % number, '--trusted-proxy', '127.0.0.1', '--public-url', 'http://kinetoscope.example'))
                for number in range(count)]

    # ---- who may ----

    def ask(self, sql):
        return subprocess.run(['psql', '-qAt', self.database.url, '-c', sql], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def command(self, *arguments):
        done = kinetoscope.run_program('token', *arguments, '--data-dir', str(self.folder / 'elsewhere'), '--database-url', self.database.url)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode().split()

    def token(self, name, role='viewer'):
        return next(word for word in self.command('add', name, '--role', role) if word.startswith('kst_'))

    def client(self):
        """An address of its own, that has shown no wrong token."""
        self.clients += 1
        return {'X-Forwarded-For': '10.0.%d.%d' % divmod(self.clients, 256)}

    def status(self, node, token, client=None):
        headers = {'Authorization': 'Bearer ' + token} if token else {}
        return node.ask('GET', '/api/v1/runs', headers={**headers, **(client or self.client())}).status

    def noticed(self, node, token, status):
        """How long the node takes to answer so."""
        began = time.monotonic()
        kinetoscope.until(lambda: self.status(node, token) == status, '%d for a token' % status, NOTICED_S)
        return time.monotonic() - began

    def test_tokens_made_and_revoked_anywhere_hold_everywhere(self):
        first, second = self.nodes()
        took = []
        admin = self.token('admin', 'admin')
        for node in (first, second):
            took.append(self.noticed(node, None, 401))
            self.assertEqual(self.status(node, admin), 200)
        for number, (made, other) in enumerate(((first, second), (second, first))):
            bearer = {'Authorization': 'Bearer ' + admin}
            answer = made.ask('POST', '/api/v1/tokens', json.dumps({'name': 't%d' % number, 'role': 'viewer'}), bearer)
            self.assertEqual(answer.status, 201, answer.body)
            token = answer.json()['token']
            self.assertEqual(self.status(made, token), 200)
            took.append(self.noticed(other, token, 200))
            self.assertEqual(other.ask('DELETE', '/api/v1/tokens/t%d' % number, headers=bearer).status, 204)
            self.assertEqual(self.status(other, token), 401)
            took.append(self.noticed(made, token, 401))
        token = self.token('by command')
        took += [self.noticed(node, token, 200) for node in (first, second)]
        self.command('revoke', 'by command')
        took += [self.noticed(node, token, 401) for node in (first, second)]
        print('noticed after at most %.2f s' % max(took))

    def test_a_session_holds_everywhere_until_it_is_ended_anywhere(self):
        first, second = self.nodes()
        token = self.token('admin', 'admin')
        for opened, other in ((first, second), (second, first)):
            form = urllib.parse.urlencode({'token': token})
            for node in (first, second):
                self.noticed(node, None, 401)
            entered = opened.ask('POST', '/login', form, {'Content-Type': 'application/x-www-form-urlencoded'})
            cookie = {'Cookie': entered.headers['Set-Cookie'].split(';')[0]}
            for node in (other, opened):
                self.assertEqual(node.ask('GET', '/api/v1/me', headers=cookie).json()['session'], True)
            left = other.ask('POST', '/logout', headers={**cookie, 'Origin': 'http://kinetoscope.example'})
            self.assertEqual(left.status, 303)
            for node in (opened, other):
                self.assertEqual(node.ask('GET', '/api/v1/runs', headers=cookie).status, 401)
        # With its token a session goes, too.
        entered = first.ask('POST', '/login', urllib.parse.urlencode({'token': token}), {'Content-Type': 'application/x-www-form-urlencoded'})
        cookie = {'Cookie': entered.headers['Set-Cookie'].split(';')[0]}
        self.command('revoke', 'admin')
        self.assertEqual([node.ask('GET', '/api/v1/runs', headers=cookie).status for node in (first, second)], [401, 401])

    def test_wrong_tokens_are_counted_together(self):
        first, second = nodes = self.nodes()
        right = self.token('admin', 'admin')
        for node in nodes:
            self.noticed(node, None, 401)
        # Ten at once at one of them: after two seconds none is left at the other; and ours, which nobody guesses, still works.
        client = self.client()
        answers = [self.status(first, 'wrong', client) for _ in range(12)]
        self.assertEqual((answers[:10], answers[-1]), ([401] * 10, 429))
        time.sleep(2.2)
        began, tries = time.monotonic(), 0
        while self.status(second, 'wrong', client) == 401:
            tries += 1
        self.assertLessEqual(tries, 3 + time.monotonic() - began, 'one a second is forgiven, as at one server')
        self.assertEqual((self.status(second, right, client), self.status(second, 'wrong')), (200, 401))
        # At both at once: over any time not more than ten each, and one a second in all.
        client, began, tries = self.client(), time.monotonic(), 0
        while time.monotonic() < began + 8:
            tries += sum(self.status(node, 'wrong', client) == 401 for node in nodes)
            time.sleep(0.02)
        took = time.monotonic() - began
        print('%d tries in %.1f s at two servers' % (tries, took))
        self.assertLessEqual(tries, 20 + took + 1)
        self.assertGreaterEqual(tries, 10)

    # ---- uploads ----

    def test_equal_uploads_at_the_same_instant_are_one(self):
        nodes, rounds = self.nodes(), 20
        for number in range(rounds):
            answers, together = [None] * 4, threading.Barrier(4)

            def send(at):
                together.wait()
                answers[at] = nodes[at % 2].put('run', 't%d.json' % number, numbered(number), headers={'Prefer': 'respond-async'} if at > 1 else None)
            senders = [threading.Thread(target=send, args=(at,)) for at in range(4)]
            for sender in senders:
                sender.start()
            for sender in senders:
                sender.join()
            self.assertEqual({answer.status for answer in answers} - {200, 201, 202}, set(), [answer.body for answer in answers])
            rows = nodes[0].get('/api/v1/traces', run='run', limit=1000).json()
            self.assertEqual({kinetoscope.uploaded(answer)[0]['id'] for answer in answers[:2]} - {row['id'] for row in rows['traces']}, set())
            jobs = {answer.json()['id'] for answer in answers[2:] if answer.status == 202}
            self.assertLessEqual(len(jobs), 1)
            for job in jobs:
                self.assertEqual(nodes[0].await_job(job), 'done')
            self.assertEqual(rows['total'], number + 1)
        self.assertEqual(self.ask('SELECT count(*) FROM job'), str(rounds))

    # ---- an upgrade, server by server ----

    def test_results_of_a_newer_server_stay(self):
        """What a server of the next version has analysed and queued again, these two leave alone."""
        first, second = nodes = self.nodes()
        trace = kinetoscope.uploaded(first.put('run', NAME, CONTENT))[0]['id']
        path = '/api/v1/traces/%d/overview' % trace
        key, own, before = self.ask('SELECT key FROM results_file'), self.ask('SELECT analysis_version FROM upload'), first.get(path).body
        self.ask('UPDATE upload SET analysis_version = %d' % (int(own) + 1))
        answer = second.ask('POST', '/api/v1/reanalyse', '{"run": "run"}', {'Content-Type': 'application/json'})
        self.assertEqual((answer.status, self.ask("SELECT state FROM job")), (202, 'done'), answer.body)
        self.ask("UPDATE job SET state = 'queued', node = '', lease_until_s = 0, attempts = 0")
        time.sleep(3)
        self.assertEqual(self.ask('SELECT state, attempts FROM job'), 'queued|0')
        self.assertEqual(([node.get(path).body for node in nodes], self.ask('SELECT key FROM results_file')), ([before] * 2, key))
        self.ask('UPDATE upload SET analysis_version = %s' % own)
        self.assertEqual(first.await_job(1), 'done')
        self.assertNotEqual(self.ask('SELECT key FROM results_file'), key)

    # ---- answers ----

    def changed(self, first, second, paths, change):
        """What the first one keeps of these answers is not what it gives once the second one has changed something."""
        kept = {path: first.get(path) for path in paths}
        again = {path: first.get(path) for path in paths}
        done = change()
        for path, answer in kept.items():
            self.assertEqual((answer.status, again[path].body), (200, answer.body), path)
            now = first.ask('GET', path, headers={'If-None-Match': answer.headers['ETag']})
            there = second.get(path)
            self.assertEqual((now.status, now.body), (there.status, there.body), path)
            self.assertNotEqual(now.body, answer.body, path)
        return done

    def test_answers_follow_what_is_changed_elsewhere(self):
        nodes = self.nodes()
        ids = [kinetoscope.uploaded(nodes[number % 2].put('run', 't%d.json' % number, numbered(number)))[0]['id'] for number in range(2)]
        for turn, (first, second) in enumerate((nodes, nodes[::-1])):
            def ask(method, path, status, **body):
                answer = second.ask(method, '/api/v1' + path, json.dumps(body) if body else None, {'Content-Type': 'application/json'})
                self.assertEqual(answer.status, status, (method, path, answer.body))
                return answer.json() if answer.body else None

            def changes(*paths, **what):
                return self.changed(first, second, ['/api/v1' + path for path in paths], lambda: ask(**what))
            run, trace = '/runs/run', '/traces/%d' % ids[0]
            lists = ('/runs', run, '/traces', run + '/traces')
            changes('/runs', run, method='PATCH', path=run, status=200, note='turn %d' % turn)
            changes('/runs', run, '/history?metric=step_time', method='PATCH', path=run, status=200, tags=['tag%d' % turn, 'b'])
            changes('/runs', run, method='PATCH', path=run, status=200, pinned=not turn)
            changes('/runs', run, method='PATCH', path=run, status=200, project='p%d' % turn)
            changes('/traces', trace, method='PATCH', path=trace, status=200, note='turn %d' % turn, tags=['t%d' % turn])
            note = changes(run + '/notes', trace + '/notes', method='POST', path=run + '/notes', status=201, kind='kernel',
                           trace=ids[0], name='gemm', text='here')
            changes(run + '/notes', trace + '/notes', method='DELETE', path='%s/notes/%d' % (run, note['id']), status=204)
            self.changed(first, second, ['/api/v1' + path for path in lists],
                         lambda: kinetoscope.uploaded(second.put('run', 'more%d.json' % turn, numbered(20 + turn))))
            self.changed(first, second, ['/api/v1/history?metric=step_time', '/api/v1/runs'],
                         lambda: kinetoscope.uploaded(second.put('more%d' % turn, 'm.json', numbered(40 + turn))))
            made = changes('/comparisons', method='POST', path='/comparisons', status=201, base=ids[0], candidate=ids[1])
            number = made['comparisons'][0]['id'] if 'comparisons' in made else made['id']
            changes('/comparisons', '/comparisons/%d' % number, method='DELETE', path='/comparisons/%d' % number, status=204)
            gone = kinetoscope.uploaded(first.put('run', 'gone%d.json' % turn, numbered(30 + turn)))[0]['id']
            changes(*lists, '/traces/%d' % gone, '/traces/%d/overview' % gone, method='DELETE',
                    path='/traces/%d' % gone, status=204)
            changes('/runs', '/runs/more%d' % turn, '/history?metric=step_time', method='DELETE', path='/runs/more%d' % turn, status=204)

    def test_answers_follow_an_analysis_by_other_rules(self):
        first, second = self.nodes()
        trace = kinetoscope.uploaded(second.put('run', NAME, CONTENT))[0]['id']
        path = '/api/v1/traces/%d/device-time/kernels' % trace
        before = first.get(path)
        self.assertEqual(first.get(path).body, before.body)
        rules = self.folder / 'classes.txt'
        rules.write_text('our_class yes gemm\n')
        second.signal(15)
        self.assertEqual(second.process.wait(kinetoscope.HANG_S), 0)
        first.signal(15)
        self.assertEqual(first.process.wait(kinetoscope.HANG_S), 0)
        for node in (first, second):
            node.command += ['--kernel-classes', str(rules)]
            node.restart()
        kinetoscope.until(lambda: first.get('/api/v1/jobs/1').json()['state'] == 'done', 'it is analysed again', 40)
        answers = [node.ask('GET', path, headers={'If-None-Match': before.headers['ETag']}) for node in (first, second)]
        self.assertEqual([answer.status for answer in answers], [200, 200])
        self.assertEqual(answers[0].body, answers[1].body)
        self.assertIn(b'our_class', answers[0].body)


if __name__ == '__main__':
    reason = Postgres.why_not()
    if reason:
        print('skipped: %s' % reason)
        sys.exit(kinetoscope.SKIPPED)
    unittest.main(verbosity=2)
