#!/usr/bin/env python3
"""Uploads, as curl and scripts make them: every way in, the same way twice, and what is refused."""
import gzip
import hashlib
import http.client
import itertools
import json
import pathlib
import re
import socket
import subprocess
import tempfile
import threading
import unittest
import urllib.parse

import kinetoscope

PNG = b'\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0\x1f\x15\xc4\x89'
VIEWS = ['overview', 'steps', 'operators', 'kernels']


def results(server, trace_id):
    """What the views answer, without what names the trace itself."""
    out = {}
    for view in VIEWS:
        answer = server.get('/api/v1/traces/%d/%s' % (trace_id, view))
        assert answer.status == 200, (view, answer)
        out[view] = answer.json()
        out[view].pop('trace', None)
    return out


class Upload(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = kinetoscope.Server('--max-upload', '8M').__enter__()
        cls.name, cls.content = kinetoscope.fixture('cuda_training')
        cls.plain = kinetoscope.fixture_json('cuda_training')

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def problem(self, answer, *statuses):
        self.assertIn(answer.status, statuses, answer.body[:300])
        self.assertEqual(answer.type, 'application/problem+json')
        told = answer.json()
        self.assertEqual(told['status'], answer.status)
        self.assertTrue(told['title'] and told['detail'])
        return told

    # ---- what an upload costs
    def commits(self):
        """Transactions in the write-ahead log of the catalogue: frames that say how large the database is after them."""
        log = pathlib.Path(self.server.data_dir, 'kinetoscope.db-wal').read_bytes()
        page, salts = int.from_bytes(log[8:12], 'big'), log[16:24]
        frames = [log[at:at + 24] for at in range(32, len(log) - 24 - page + 1, 24 + page)]
        live = list(itertools.takewhile(lambda frame: frame[8:16] == salts, frames))
        return sum(frame[4:8] != bytes(4) for frame in live)

    def test_an_upload_is_four_transactions(self):
        """Handed in, arrived, its trace, published; the first of a run makes the day's look at old jobs, too."""
        def put(number):
            body = json.dumps({'traceEvents': [{'ph': 'X', 'name': 'n%d' % number, 'ts': 1, 'dur': 2, 'pid': 1, 'tid': 1}]}).encode()
            self.assertEqual(self.server.put('commits', 'w%d.json' % number, body).status, 201)
        put(0)
        spent = []
        for number in range(1, 4):
            before = self.commits()
            put(number)
            spent.append(self.commits() - before)
        # The log may begin anew in between: then it has fewer.
        self.assertEqual(max(spent), 4)

    # ---- ways in
    def test_put(self):
        answer = self.server.put('put', self.name, self.content)
        self.assertEqual(answer.status, 201, answer.body[:300])
        trace = answer.json()
        self.assertEqual(urllib.parse.urlsplit(answer.headers['Location']).path, '/api/v1/traces/%d' % trace['id'])
        self.assertEqual((trace['run'], trace['worker'], trace['span'], trace['state']), ('put', 'worker0', 1, 'ready'))
        self.assertEqual(trace['events'], len(json.loads(self.plain)['traceEvents']))
        self.assertEqual(trace['steps'], 3)
        self.assertEqual(trace['size_bytes'], len(self.content))
        self.assertEqual(trace['sha256'], hashlib.sha256(self.content).hexdigest())
        self.assertEqual(self.server.get('/api/v1/traces/%d' % trace['id']).json(), trace)

    def test_raw_is_what_was_uploaded(self):
        trace = kinetoscope.uploaded(self.server.put('raw', self.name, self.content))[0]
        raw = self.server.get('/api/v1/traces/%d/raw' % trace['id'])
        self.assertEqual(hashlib.sha256(raw.body).hexdigest(), hashlib.sha256(self.content).hexdigest())
        self.assertIn('attachment', raw.headers['Content-Disposition'])

    def test_curl_directory_form(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, self.name)
            path.write_bytes(self.content)
            done = subprocess.run(['curl', '-sS', '--fail-with-body', '-T', path, self.server.url + '/api/v1/runs/curl-T/traces/'],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertEqual(json.loads(done.stdout)['file_name'], self.name)

    def tags_of(self, run):
        return self.server.get('/api/v1/runs/' + run).json()['tags']

    def test_tags_come_with_the_trace(self):
        where = '/api/v1/runs/tagged/traces/'
        self.assertEqual(self.server.ask('PUT', where + 'a.json?tag=branch%3Dmain&tag=b', self.plain).status, 201)
        self.assertEqual(self.tags_of('tagged'), ['branch=main', 'b'])
        row = self.server.get('/api/v1/history', run='tagged', tag='branch=main').json()['rows'][0]
        self.assertEqual(row['tags'], ['branch=main', 'b'])
        # The run keeps what it has, in its order; the same bytes again bring tags, too.
        self.server.ask('PUT', where + 'b.json?tag=b&tag=c', self.plain + b' ')
        self.assertEqual(self.tags_of('tagged'), ['branch=main', 'b', 'c'])
        self.assertEqual(self.server.ask('PUT', where + 'a.json?tag=d', self.plain).status, 200)
        self.assertEqual(self.tags_of('tagged'), ['branch=main', 'b', 'c', 'd'])
        self.assertEqual(self.server.get('/api/v1/history', run='tagged', tag='d').json()['total'], 1)
        many = '&'.join('tag=t%02d' % number for number in range(62))
        self.server.ask('PUT', where + 'c.json?' + many, self.plain + b'  ')
        self.assertEqual(self.tags_of('tagged'), ['branch=main', 'b', 'c', 'd'] + ['t%02d' % number for number in range(60)])

    def test_tags_that_cannot_be(self):
        for query in ('tag=', 'tag=' + 'x' * 201, 'tag=%ff', '&'.join(['tag=x'] * 64 + ['tag=y'])):
            self.problem(self.server.ask('PUT', '/api/v1/runs/no-tags/traces/a.json?' + query, self.plain), 400)
        self.assertEqual(self.server.get('/api/v1/runs/no-tags').status, 404)

    def test_many_who_tag_one_run_at_once(self):
        def put(number):
            body = self.plain + b' ' * number
            self.server.ask('PUT', '/api/v1/runs/at-once/traces/%d.json?tag=rank%d' % (number, number), body)
        senders = [threading.Thread(target=put, args=(number,)) for number in range(8)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        self.assertEqual(sorted(self.tags_of('at-once')), ['rank%d' % number for number in range(8)])

    def test_multipart_with_two_files(self):
        with tempfile.TemporaryDirectory() as folder:
            forms = []
            for case in ('nccl_two_workers', 'cpu_only'):
                name, content = kinetoscope.fixture(case)
                pathlib.Path(folder, name).write_bytes(content)
                forms += ['-F', 'file=@%s/%s' % (folder, name)]
            done = subprocess.run(['curl', '-sS', '-w', '\n%{http_code}', *forms, self.server.url + '/api/v1/runs/form/traces'],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        body, _, status = done.stdout.rpartition(b'\n')
        self.assertEqual(status, b'201', body[:300])
        answer = json.loads(body)
        self.assertEqual(answer['errors'], [])
        self.assertEqual(sorted(t['worker'] for t in answer['traces']), ['node0_0', 'worker0'])

    def test_multipart_with_one_bad_file(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, self.name).write_bytes(self.content)
            pathlib.Path(folder, 'page.html').write_bytes(b'<!doctype html><p>no trace</p>')
            done = subprocess.run(['curl', '-sS', '-F', 'a=@%s/%s' % (folder, self.name), '-F', 'b=@%s/page.html' % folder,
                                   self.server.url + '/api/v1/runs/form-bad/traces'], stdout=subprocess.PIPE)
        answer = json.loads(done.stdout)
        self.assertEqual(len(answer['traces']), 1)
        self.assertEqual([e['file_name'] for e in answer['errors']], ['page.html'])

    def test_containers_give_equal_results(self):
        zstd = subprocess.run(['zstd', '-q', '-c'], input=self.plain, stdout=subprocess.PIPE, check=True).stdout
        half = len(self.plain) // 2
        ways = {'plain': self.plain, 'gzip': gzip.compress(self.plain), 'zstd': zstd,
                'members': gzip.compress(self.plain[:half]) + gzip.compress(self.plain[half:])}
        first = None
        for way, content in ways.items():
            # The name says nothing of the container: content decides.
            trace = kinetoscope.uploaded(self.server.put('container-' + way, 'worker0.pt.trace.json', content))[0]
            got = results(self.server, trace['id'])
            first = first or got
            self.assertTrue(got == first, way + ' gives other results than plain')

    def test_without_a_length(self):
        """A chunked body, as curl sends standard input."""
        def parts():
            for at in range(0, len(self.content), 1000):
                yield self.content[at:at + 1000]
        connection = http.client.HTTPConnection('127.0.0.1', self.server.port, timeout=kinetoscope.HANG_S)
        connection.request('PUT', kinetoscope.trace_path('chunked', self.name), parts(), {'Transfer-Encoding': 'chunked'}, encode_chunked=True)
        reply = connection.getresponse()
        body = reply.read()
        connection.close()
        self.assertIn(reply.status, (201, 411), body[:300])

    def test_names_with_slash_and_unicode(self):
        run = 'team/vision ✓ größe'
        trace = kinetoscope.uploaded(self.server.put(run, 'wörker #1.1700000000000.pt.trace.json.gz', self.content))[0]
        self.assertEqual((trace['run'], trace['worker'], trace['span_digits']), (run, 'wörker #1', '1700000000000'))
        found = self.server.get('/api/v1/runs/' + urllib.parse.quote(run, safe=''))
        self.assertEqual((found.status, found.json()['name']), (200, run))
        self.assertIn(run, self.server.plugin('runs').json()['runs'])
        self.assertEqual(self.server.plugin('workers', run=run, view='Overview').json(), ['wörker #1'])

    # ---- the same again
    def test_same_bytes_again(self):
        first = kinetoscope.uploaded(self.server.put('again', self.name, self.content))[0]
        second = self.server.put('again', self.name, self.content)
        self.assertEqual(second.status, 200)
        self.assertEqual(second.json()['id'], first['id'])

    def test_same_bytes_elsewhere(self):
        one = kinetoscope.uploaded(self.server.put('elsewhere-1', self.name, self.content))[0]
        two = self.server.put('elsewhere-2', self.name, self.content)
        self.assertEqual(two.status, 201)
        self.assertNotEqual(two.json()['id'], one['id'])
        self.assertEqual(self.server.ask('DELETE', '/api/v1/traces/%d' % one['id']).status, 204)
        self.assertEqual(self.server.get('/api/v1/traces/%d/raw' % two.json()['id']).body, self.content)

    def test_other_bytes_under_a_taken_name(self):
        first = kinetoscope.uploaded(self.server.put('taken', self.name, self.content))[0]
        other = kinetoscope.fixture('rocm')[1]
        self.problem(self.server.put('taken', self.name, other), 409)
        self.assertEqual(self.server.get('/api/v1/traces/%d' % first['id']).json()['sha256'], first['sha256'])
        replaced = kinetoscope.uploaded(self.server.put('taken', self.name, other, '?replace=1'))[0]
        self.assertEqual(replaced['sha256'], hashlib.sha256(other).hexdigest())
        listed = self.server.get('/api/v1/runs/taken').json()['trace_list']
        self.assertEqual([t['sha256'] for t in listed], [replaced['sha256']])

    # ---- jobs
    def test_asynchronous_upload_polled(self):
        answer = self.server.put('async', self.name, self.content, headers={'Prefer': 'respond-async'})
        self.assertEqual(answer.status, 202, answer.body[:300])
        job, where = answer.json(), urllib.parse.urlsplit(answer.headers['Location']).path
        self.assertEqual(where, '/api/v1/jobs/%s' % job['id'])
        for _ in range(100000):
            job = self.server.get(where).json()
            self.assertIn(job['state'], ('queued', 'running', 'done'))
            if job['state'] == 'done':
                break
        self.assertEqual(job['stage'], 'done')
        self.assertEqual(self.server.get('/api/v1/traces/%d' % job['trace_id']).json()['run'], 'async')

    def test_asynchronous_upload_as_events(self):
        answer = self.server.put('events', self.name, self.content, headers={'Prefer': 'respond-async'})
        where = urllib.parse.urlsplit(answer.headers['Location']).path
        stream = self.server.ask('GET', where, headers={'Accept': 'text/event-stream'})
        self.assertEqual(stream.type, 'text/event-stream')
        events = [dict(line.split(': ', 1) for line in block.splitlines() if ': ' in line)
                  for block in stream.body.decode().split('\n\n') if 'data: ' in block]
        self.assertEqual(events[-1]['event'], 'done', stream.body)
        self.assertTrue(all(e['event'] == 'progress' for e in events[:-1]))
        self.assertEqual(json.loads(events[-1]['data'])['state'], 'done')

    def test_asynchronous_refusal(self):
        answer = self.server.put('async-bad', 'x.pt.trace.json', b'{"a": 1}', headers={'Prefer': 'respond-async'})
        if answer.status != 202:
            self.problem(answer, 415, 422)
            return
        stream = self.server.ask('GET', urllib.parse.urlsplit(answer.headers['Location']).path, headers={'Accept': 'text/event-stream'})
        self.assertIn('event: failed', stream.body.decode())

    # ---- refusals
    def test_refusals_say_what_is_wrong(self):
        cases = {'html': b'<!doctype html><html><body>Sign in</body></html>', 'png': PNG, 'empty': b'', 'json': b'{"hello": [1, 2, 3]}',
                 'text': b'just a few words\n', 'gzip': gzip.compress(b'no trace either'), 'no-events': b'{"traceEvents": []}'}
        for kind, content in cases.items():
            with self.subTest(kind=kind):
                self.problem(self.server.put('refused', kind + '.pt.trace.json', content), 400, 415, 422)
        self.problem(self.server.get('/api/v1/runs/refused'), 404)

    def test_too_large(self):
        self.problem(self.server.put('large', 'large.pt.trace.json', b' ' * (9 << 20)), 413)

    def test_unknown_things(self):
        for path in ('/api/v1/traces/999999', '/api/v1/traces/999999/overview', '/api/v1/runs/none', '/api/v1/jobs/999999', '/api/v1/nothing'):
            with self.subTest(path=path):
                self.problem(self.server.get(path), 404)
        answer = self.server.ask('DELETE', '/api/v1/runs')
        self.problem(answer, 405)
        self.assertIn('GET', answer.headers['Allow'])

    # ---- going away
    def test_delete(self):
        trace = kinetoscope.uploaded(self.server.put('delete', self.name, self.content))[0]
        path = '/api/v1/traces/%d' % trace['id']
        self.assertEqual(self.server.ask('DELETE', path).status, 204)
        self.problem(self.server.get(path), 404)
        self.problem(self.server.get(path + '/overview'), 404)
        kinetoscope.uploaded(self.server.put('delete', self.name, self.content))
        self.assertEqual(self.server.ask('DELETE', '/api/v1/runs/delete').status, 204)
        self.problem(self.server.get('/api/v1/runs/delete'), 404)

    def test_damage_is_told(self):
        trace = kinetoscope.uploaded(self.server.put('cut', 'cut.pt.trace.json', self.plain[:len(self.plain) // 2]))[0]
        self.assertTrue(trace['warnings'], 'a file that breaks off carries a warning')
        self.assertEqual(set(trace['warnings'][0]), {'code', 'message', 'count', 'first_offset'})


class ReadAhead(unittest.TestCase):
    """A large trace is read while it arrives, on a server that has nothing else to do."""

    def in_pieces(self, content, end=None):
        for at in range(0, end or len(content), 1 << 16):
            yield content[at:min(at + (1 << 16), end or len(content))]

    def put(self, server, run, content, announced=True):
        headers = {'Content-Length': str(len(content))} if announced else {}
        return server.put(run, 'worker0.pt.trace.json', self.in_pieces(content), headers=headers)

    def read_ahead(self, server):
        return int(re.search(r'^kinetoscope_read_ahead_total (\d+)$', server.get('/metrics').body.decode(), re.M)[1])

    def test_the_answers_are_the_same(self):
        content = kinetoscope.large_trace(6 << 20)
        with kinetoscope.Server() as server:
            ahead = kinetoscope.uploaded(self.put(server, 'ahead', content))[0]
            self.assertEqual(self.read_ahead(server), 1)
            behind = kinetoscope.uploaded(self.put(server, 'behind', content, announced=False))[0]
            self.assertEqual(self.read_ahead(server), 1)
            self.assertEqual(results(server, ahead['id']), results(server, behind['id']))
            for name in ('events', 'steps', 'sha256', 'size_bytes', 'start_clock_ns', 'duration_ns', 'warnings', 'views'):
                self.assertEqual(ahead[name], behind[name], name)
            raw = server.get('/api/v1/traces/%d/raw' % ahead['id'])
            self.assertEqual(hashlib.sha256(raw.body).digest(), hashlib.sha256(content).digest())

    def test_the_same_again(self):
        content = kinetoscope.large_trace(6 << 20)
        with kinetoscope.Server() as server:
            first = kinetoscope.uploaded(self.put(server, 'r', content))[0]
            again = self.put(server, 'r', content)
            self.assertEqual((again.status, again.json()['id']), (200, first['id']))
            self.assertEqual(self.put(server, 'r', content + b' ').status, 409)
            self.assertEqual(self.read_ahead(server), 1)

    def test_a_client_that_goes_away(self):
        content = kinetoscope.large_trace(6 << 20)
        with kinetoscope.Server() as server:
            with socket.create_connection(('127.0.0.1', server.port), timeout=kinetoscope.HANG_S) as client:
                head = 'PUT %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n'
                client.sendall((head % (kinetoscope.trace_path('gone', 'a.json'), len(content))).encode())
                for piece in self.in_pieces(content, end=len(content) - 1000):
                    client.sendall(piece)
            self.assertEqual(kinetoscope.uploaded(self.put(server, 'stays', content))[0]['run'], 'stays')
            self.assertEqual(server.get('/api/v1/runs/gone').status, 404)


class Restart(unittest.TestCase):
    def test_what_was_stored_is_there_after_a_restart(self):
        name, content = kinetoscope.fixture('cuda_training')
        with tempfile.TemporaryDirectory() as folder:
            with kinetoscope.Server(data_dir=folder) as server:
                trace = kinetoscope.uploaded(server.put('r', name, content))[0]
                before = results(server, trace['id'])
            with kinetoscope.Server(data_dir=folder) as server:
                self.assertTrue(results(server, trace['id']) == before)
                self.assertEqual(server.get('/api/v1/traces/%d/raw' % trace['id']).body, content)

    def test_without_raw_bytes_everything_else_works(self):
        name, content = kinetoscope.fixture('cuda_training')
        with kinetoscope.Server('--retain-raw', 'no') as server:
            trace = kinetoscope.uploaded(server.put('r', name, content))[0]
            self.assertEqual(server.get('/api/v1/traces/%d/raw' % trace['id']).status, 410)
            results(server, trace['id'])


kinetoscope.main()
