#!/usr/bin/env python3
"""Archives of a whole run in one upload: what comes out of them, what of them fails, and ranks given at upload."""
import gzip
import io
import json
import pathlib
import subprocess
import tarfile
import tempfile
import unittest

import kinetoscope


def archive(members, mode='w', form=tarfile.PAX_FORMAT):
    """The bytes of a tar of (path, content)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=form) as tar:
        for path, content in members:
            info = tarfile.TarInfo(path)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def ranks(count):
    """Ranks whose traces have one name, in directories: what torch.profiler writes with a fixed worker name."""
    trace = kinetoscope.fixture('nccl_two_workers')[1]
    return [('run/rank_%d/worker0.1.pt.trace.json.gz' % rank, trace) for rank in range(count)]


class Archive(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = kinetoscope.Server().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def traces_of(self, answer, status=201):
        self.assertEqual(answer.status, status, answer.body[:300])
        told = answer.json()
        return told['traces'], told['errors']

    def test_fixtures_with_a_broken_member(self):
        names = ['cuda_training', 'cpu_only', 'rocm']
        members = [('%s/%s' % (case, kinetoscope.fixture(case)[0]), kinetoscope.fixture(case)[1]) for case in names]
        members.insert(1, ('broken/page.html', b'<!doctype html><p>no trace</p>'))
        members.insert(2, ('cuda_training/._hidden.json', b'{"traceEvents": []}'))
        members.insert(3, ('empty.json', b''))
        for mode, name in (('w', 'a.tar'), ('w:gz', 'a.tar.gz'), ('w:gz', 'no-name-of-a-tar')):
            content = archive(members, mode)
            traces, errors = self.traces_of(self.server.put('broken-' + name, name, content))
            self.assertEqual(len(traces), 3)
            self.assertEqual([(e['member'], e['file_name'], e['status']) for e in errors], [('broken/page.html', name, 415)])
            self.assertTrue(errors[0]['title'] and errors[0]['detail'])
            for trace, case in zip(traces, names):
                alone = kinetoscope.uploaded(self.server.put('alone-' + name, case + '.pt.trace.json.gz', kinetoscope.fixture(case)[1]))[0]
                for view in ('steps', 'operators', 'kernels'):
                    of = [self.server.get('/api/v1/traces/%d/%s' % (t['id'], view)).json() for t in (trace, alone)]
                    self.assertEqual(of[0], of[1], (case, view))
            # The whole file is what each of its traces gives back.
            self.assertEqual(self.server.get('/api/v1/traces/%d/raw' % traces[1]['id']).body, content)
            again, errors = self.traces_of(self.server.put('broken-' + name, name, content), 200)
            self.assertEqual([t['id'] for t in again], [t['id'] for t in traces])
            self.assertEqual(len(errors), 1)
            self.assertEqual(self.server.put('broken-' + name, name, archive(members[:1])).status, 409)

    def test_equal_base_names_are_workers_of_their_directories(self):
        for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT):
            run = 'ranks-%d' % form
            traces, errors = self.traces_of(self.server.put(run, 'run.tar', archive(ranks(3), form=form)))
            self.assertEqual(errors, [])
            self.assertEqual([t['worker'] for t in traces], ['rank_%d/worker0' % rank for rank in range(3)])
            workers = self.server.get('/api/v1/runs/%s/distributed' % run).json()['workers']
            self.assertEqual(len(workers), 3)
            self.assertEqual(self.server.get('/api/v1/runs/' + run).json()['workers'], 3)

    def test_names_tell_ranks_where_the_files_do_not(self):
        trace = json.loads(kinetoscope.fixture_json('nccl_two_workers'))
        trace.pop('distributedInfo')
        content = json.dumps(trace).encode()
        self.traces_of(self.server.put('named', 'run.tar', archive([('n/node1_rank%d/t.json' % rank, content) for rank in (4, 11)])))
        workers = self.server.get('/api/v1/runs/named/distributed').json()['workers']
        self.assertEqual([w['rank'] for w in workers], [11, 4])
        answer = self.server.put('named', 't.json', content, query='?rank=8')
        self.assertEqual((answer.status, answer.json()['rank']), (201, 8))
        workers = self.server.get('/api/v1/runs/named/distributed').json()['workers']
        self.assertEqual(sorted(w['rank'] for w in workers), [4, 8, 11])
        refused = self.server.put('named', 'other.tar', archive(ranks(2)), query='?rank=1')
        self.assertEqual((refused.status, refused.type), (400, 'application/problem+json'))

    def test_long_names(self):
        long = 'd' * 120 + '/' + 'n' * 120 + '.json'
        content = kinetoscope.fixture_json('cpu_only')
        for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
            traces, _ = self.traces_of(self.server.put('long-%d' % form, 'a.tar', archive([(long, content)], form=form)))
            self.assertEqual([t['worker'] for t in traces], ['n' * 120])

    def test_cut(self):
        members = ranks(3)
        content = archive(members, form=tarfile.USTAR_FORMAT)
        size = len(members[0][1])
        second = 512 + size + -size % 512 + 512
        # In the second member: read as far as it goes, as any cut file.
        traces, errors = self.traces_of(self.server.put('cut', 'cut.tar', content[:second + size * 3 // 4]))
        self.assertEqual(len(traces), 2)
        self.assertEqual(traces[0]['warnings'], [])
        self.assertNotEqual(traces[1]['warnings'], [])
        self.assertEqual([e['member'] for e in errors], [members[1][0]])
        self.assertIn('breaks off', errors[0]['detail'])
        # In the second header.
        traces, errors = self.traces_of(self.server.put('cut', 'header.tar', content[:second - 100]))
        self.assertEqual((len(traces), [e['member'] for e in errors]), (1, ['']))
        traces, errors = self.traces_of(self.server.put('cut', 'cut.tar.gz', gzip.compress(content)[:-2000]))
        self.assertGreaterEqual(len(traces), 1)
        self.assertIn('breaks off', errors[-1]['detail'])

    def test_no_trace_within(self):
        refused = self.server.put('none', 'a.tar', archive([('a.txt', b'no'), ('b.txt', b'trace')]))
        self.assertEqual((refused.status, refused.type), (415, 'application/problem+json'))
        self.assertIn('a.txt', refused.json()['detail'])
        self.assertEqual(self.server.put('none', 'a.tar', archive([])).status // 100, 4)

    def test_as_a_job(self):
        members = ranks(2) + [('run/x.txt', b'no trace')]
        answer = self.server.put('job', 'run.tar', archive(members), headers={'Prefer': 'respond-async'})
        self.assertEqual(answer.status, 202)
        stream = self.server.ask('GET', '/api/v1/jobs/%d' % answer.json()['id'], headers={'Accept': 'text/event-stream'})
        job = json.loads(stream.body.decode().rpartition('data: ')[2])
        self.assertEqual((job['state'], len(job['trace_ids'])), ('done', 2))
        self.assertEqual([e['member'] for e in job['errors']], ['run/x.txt'])
        self.assertEqual(self.server.get('/api/v1/jobs/%d' % job['id']).json(), job)

    def test_in_a_form(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, 'run.tar').write_bytes(archive(ranks(2) + [('x.txt', b'no trace')]))
            pathlib.Path(folder, 'alone.json').write_bytes(kinetoscope.fixture_json('cpu_only'))
            done = subprocess.run(['curl', '-sS', '-F', 'file=@%s/run.tar' % folder, '-F', 'rank=5', '-F', 'file=@%s/alone.json' % folder,
                                   self.server.url + '/api/v1/runs/form/traces'], stdout=subprocess.PIPE, check=True)
        answer = json.loads(done.stdout)
        self.assertEqual([t['rank'] for t in answer['traces']], [0, 0, 5])
        self.assertEqual([(e['file_name'], e['member']) for e in answer['errors']], [('run.tar', 'x.txt')])

    def test_deleting_one_trace(self):
        traces, _ = self.traces_of(self.server.put('delete', 'run.tar', archive(ranks(2))))
        self.assertEqual(self.server.ask('DELETE', '/api/v1/traces/%d' % traces[0]['id']).status, 204)
        self.assertEqual(self.server.get('/api/v1/traces/%d/raw' % traces[1]['id']).status, 200)
        self.assertEqual(self.server.get('/api/v1/runs/delete').json()['traces'], 1)


class CommandLine(unittest.TestCase):
    def test_ingest_and_report(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, 'run.tar.gz')
            path.write_bytes(archive(ranks(2) + [('x.txt', b'no trace')], 'w:gz'))
            done = kinetoscope.run_program('ingest', '--data-dir', folder + '/data', '--run', 'r', path)
            self.assertEqual(done.returncode, 1)  # something was not read
            self.assertEqual([line.split(b'  ')[0].rpartition(b': ')[2] for line in done.stdout.splitlines()],
                             [b'r/rank_0/worker0/1', b'r/rank_1/worker0/1'])
            self.assertIn(b'run.tar.gz: x.txt: ', done.stderr)
            done = kinetoscope.run_program('report', path)
            self.assertEqual(done.returncode, 0)
            self.assertIn(b'Worker rank_1/worker0', done.stdout)
            self.assertIn(b'Not read', done.stdout)
            told = json.loads(kinetoscope.run_program('report', '--format', 'json', path).stdout)
            self.assertEqual([t['member'] for t in told['traces']], [name for name, _ in ranks(2)])
            self.assertEqual([e['member'] for e in told['errors']], ['x.txt'])

    def test_rank(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, 't.json')
            path.write_bytes(kinetoscope.fixture_json('cpu_only'))
            self.assertEqual(kinetoscope.run_program('ingest', '--data-dir', folder + '/data', '--run', 'r', '--rank', '12', path).returncode, 0)
            with kinetoscope.Server(data_dir=folder + '/data') as server:
                self.assertEqual(server.get('/api/v1/traces/1').json()['rank'], 12)
            for wrong in (['--rank', '-1', path], ['--rank', 'x', path], ['--rank', '1', path, path]):
                self.assertEqual(kinetoscope.run_program('ingest', '--data-dir', folder + '/data', *wrong).returncode, 2, wrong)


if __name__ == '__main__':
    kinetoscope.main()
