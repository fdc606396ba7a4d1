#!/usr/bin/env python3
"""A stored upload that the disk damaged or lost: it is never given out, and the same file, uploaded again in any way,
mends it while the trace keeps its id and its results. A whole file is never replaced."""
import gzip
import hashlib
import io
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import threading
import unittest

import kinetoscope

RUN = 'run'
VIEWS = ('overview', 'operators', 'kernels')


def flip(path):
    """One bit of one byte, with the times of the file as they were: what a disk does."""
    before = path.stat()
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    with open(path, 'r+b') as file:
        file.write(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def truncate(path):
    os.truncate(path, path.stat().st_size // 2)


def empty(path):
    os.truncate(path, 0)


DAMAGES = {'flip': flip, 'truncate': truncate, 'empty': empty, 'remove': os.unlink}


def by_put(server, name, path):
    done = subprocess.run(['curl', '-sS', '--fail-with-body', '-T', str(path), server.url + kinetoscope.trace_path(RUN, name)],
                          stdout=subprocess.PIPE, timeout=kinetoscope.HANG_S)
    if done.returncode:
        raise AssertionError(done.stdout)


def by_form(server, name, path):
    done = subprocess.run(['curl', '-sS', '--fail-with-body', '-F', 'file=@%s;filename=%s' % (path, name),
                           '%s/api/v1/runs/%s/traces' % (server.url, RUN)], stdout=subprocess.PIPE, timeout=kinetoscope.HANG_S)
    if done.returncode:
        raise AssertionError(done.stdout)


class DamagedUploads(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='kinetoscope-damaged-'))
        self.data_dir = self.folder / 'data'

    def tearDown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def server(self, *options):
        return kinetoscope.Server(*options, data_dir=str(self.data_dir))

    def stored(self, content):
        digest = hashlib.sha256(content).hexdigest()
        return self.data_dir / 'raw' / digest[:2] / digest[2:]

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def results(self, server, id):
        found = [server.get('/api/v1/traces/%d/%s' % (id, view)).json() for view in VIEWS]
        for view in found:
            view.get('trace', {}).pop('url', None)  # has the port of this server
        return found

    def faults(self, server, kind):
        text = server.get('/metrics').body.decode()
        return int(text.split('\nkinetoscope_raw_' + kind + ' ')[1].split('\n')[0])

    def check_whole(self, server, id, content):
        raw = '/api/v1/traces/%d/raw' % id
        etag = '"%s"' % hashlib.sha256(content).hexdigest()
        answer = server.get(raw)
        self.assertEqual((answer.status, answer.body, answer.headers['ETag']), (200, content, etag))
        head = server.ask('HEAD', raw)
        self.assertEqual((head.status, head.headers['Content-Length']), (200, str(len(content))))
        part = server.ask('GET', raw, headers={'Range': 'bytes=3-9', 'If-Range': etag})
        self.assertEqual((part.status, part.body), (206, content[3:10]))
        self.assertEqual(server.ask('GET', raw, headers={'If-None-Match': etag}).status, 304)

    def check_refused(self, server, id, content, words):
        raw = '/api/v1/traces/%d/raw' % id
        etag = '"%s"' % hashlib.sha256(content).hexdigest()
        for method, headers in (('GET', {}), ('HEAD', {}), ('GET', {'Range': 'bytes=0-3'}), ('GET', {'Range': 'bytes=-1'}),
                                ('GET', {'If-None-Match': etag}), ('GET', {'Range': 'bytes=0-3', 'If-Range': etag}), ('GET', {})):
            answer = server.ask(method, raw, headers=headers)
            self.assertEqual(answer.status, 410, (method, headers))
            if method == 'GET':
                self.assertEqual((answer.type, answer.json()['code']), ('application/problem+json', 'gone'))
                self.assertIn(words, answer.json()['detail'])
                self.assertIn('upload the same file again', answer.json()['detail'])

    def damage_and_mend(self, damage, name, content, mend, restarts):
        with self.server() as server:
            id = kinetoscope.uploaded(server.put(RUN, name, content))[0]['id']
            before = self.results(server, id)
            self.check_whole(server, id, content)
            if not restarts:
                self.one_damage(server, damage, id, name, content, before, mend)
        if restarts:
            DAMAGES[damage](self.stored(content))
            with self.server() as server:
                self.one_damage(server, None, id, name, content, before, mend)

    def one_damage(self, server, damage, id, name, content, before, mend):
        if damage:
            DAMAGES[damage](self.stored(content))
        lost = not self.stored(content).exists()
        words = 'no longer kept' if lost else 'damaged'
        self.check_refused(server, id, content, words)
        self.assertEqual(self.results(server, id), before, 'results need no upload')
        if lost:
            self.assertGreater(self.faults(server, 'faults_total{fault="missing"}'), 0)
        else:
            self.assertEqual(self.faults(server, 'faults_total{fault="damaged"}'), 1, 'one damage, however often it is asked for')
            self.assertEqual(server.log().count('damaged a stored upload'), 1)
            self.assertIn('sha256="%s"' % hashlib.sha256(content).hexdigest(), server.log())
        mend(server, name, self.file(name, content))
        self.check_whole(server, id, content)
        self.assertEqual(self.results(server, id), before)
        self.assertEqual(len(server.get('/api/v1/runs/' + RUN).json()['trace_list']), 1)
        self.assertEqual(self.faults(server, 'mended_total'), 0 if lost else 1)
        self.assertEqual('damaged upload is mended' in server.log(), not lost)
        self.assertEqual(list((self.data_dir / 'incoming').iterdir()), [])
        self.assertEqual(server.ask('DELETE', '/api/v1/runs/' + RUN).status, 204)
        if damage in (None, 'flip'):  # what is cut behind the server's back is counted anew at its next start
            self.assertEqual(self.faults(server, 'bytes'), 0)

    def test_every_damage(self):
        plain = kinetoscope.fixture_json('cuda_training')
        forms = {'a.json': plain, 'a.json.gz': gzip.compress(plain)}
        for damage in DAMAGES:
            for restarts in (False, True):
                for (name, content), mend in zip(forms.items(), (by_put, by_form)):
                    with self.subTest(damage=damage, restarts=restarts, name=name, way=mend.__name__):
                        self.damage_and_mend(damage, name, content, mend, restarts)

    def test_an_archive(self):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode='w:gz') as tar:
            for case in ('cuda_training', 'cpu_only'):
                content = kinetoscope.fixture_json(case)
                info = tarfile.TarInfo(case + '/worker.pt.trace.json')
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
        content = out.getvalue()
        with self.server() as server:
            ids = [t['id'] for t in kinetoscope.uploaded(server.put(RUN, 'run.tar.gz', content))]
            before = [self.results(server, id) for id in ids]
            flip(self.stored(content))
            for id in ids:
                self.check_refused(server, id, content, 'damaged')
            by_put(server, 'run.tar.gz', self.file('run.tar.gz', content))
            for id in ids:
                self.check_whole(server, id, content)
            self.assertEqual([self.results(server, id) for id in ids], before)

    def test_ingest_and_backup(self):
        name, content = kinetoscope.fixture('cuda_training')
        path, archive = self.file(name, content), self.folder / 'all.tar'
        ingest = ('ingest', '--data-dir', self.data_dir, '--run', RUN, path)
        self.assertEqual(kinetoscope.run_program(*ingest).returncode, 0)
        for damage in ('flip', 'truncate'):
            DAMAGES[damage](self.stored(content))
            done = kinetoscope.run_program('backup', '--data-dir', self.data_dir, archive)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b'upload the same file again', done.stderr)
            self.assertFalse(archive.exists())
            done = kinetoscope.run_program(*ingest)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(b'already there', done.stdout)
            self.assertEqual(self.stored(content).read_bytes(), content)
        self.assertEqual(kinetoscope.run_program('backup', '--data-dir', self.data_dir, archive).returncode, 0)
        with self.server() as server:
            self.check_whole(server, 1, content)

    def test_a_whole_file_is_not_replaced(self):
        name, content = kinetoscope.fixture('cuda_training')
        path = self.file(name, content)
        with self.server() as server:
            kinetoscope.uploaded(server.put(RUN, name, content))
            first = self.stored(content).stat()
            by_put(server, name, path)
            by_form(server, name, path)
            by_put(server, 'another-' + name, path)
        with self.server() as server:  # nothing is remembered: the file is read
            by_put(server, name, path)
            self.assertEqual(self.faults(server, 'mended_total'), 0)
        then = self.stored(content).stat()
        self.assertEqual((then.st_ino, then.st_mtime_ns), (first.st_ino, first.st_mtime_ns))

    def test_many_at_once(self):
        name, content = 'large.json', kinetoscope.large_trace(8 << 20)
        with self.server() as server:
            id = kinetoscope.uploaded(server.put(RUN, name, content))[0]['id']
            for _ in range(3):
                flip(self.stored(content))
                self.at_once(6, lambda: self.assertEqual(server.get('/api/v1/traces/%d/raw' % id).status, 410))
                self.at_once(4, lambda: kinetoscope.uploaded(server.put(RUN, name, content)))
                self.at_once(6, lambda: self.assertEqual(server.get('/api/v1/traces/%d/raw' % id).body, content))
            self.assertEqual(self.faults(server, 'mended_total'), 3)
            self.assertEqual(self.faults(server, 'faults_total{fault="damaged"}'), 3, 'read once, however many ask')
            self.assertEqual(self.faults(server, 'bytes'), len(content))

    def at_once(self, count, call):
        faults = []

        def guarded():
            try:
                call()
            except Exception as error:  # told by the main thread
                faults.append(error)
        threads = [threading.Thread(target=guarded) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if faults:
            raise faults[0]

    def test_uploads_that_are_not_kept(self):
        name, content = kinetoscope.fixture('cuda_training')
        with self.server('--retain-raw', 'no') as server:
            id = kinetoscope.uploaded(server.put(RUN, name, content))[0]['id']
            for _ in range(2):
                self.check_refused(server, id, content, '--retain-raw no')
                kinetoscope.uploaded(server.put(RUN, name, content))


kinetoscope.main()
