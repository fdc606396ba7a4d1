"""The uploaders of load.py: each sends file after file, in every way there is, and notes what was acknowledged."""
import asyncio
import json
import random
import time

import load_http
import load_traces

UPLOADERS_AN_ADDRESS = 4
FILES_A_RUN = 8
THINK_S = 1.0
POLL_S = 0.2
BOUNDARY = 'kinetoscope-load-7d1c5f'
WAYS = ['plain', 'gzip', 'gzip', 'form', 'later', 'tar', 'replace', 'delete']


class Uploader:
    def __init__(self, number, host, port, bases, figures, ends, seed):
        self.draw = random.Random(seed * 7919 + number)
        address = '127.0.2.%d' % (1 + number // UPLOADERS_AN_ADDRESS)
        self.connection = load_http.Connection(host, port, address, figures)
        self.number, self.bases, self.figures, self.ends = number, bases, figures, ends
        self.made = 0

    async def live(self):
        try:
            await asyncio.sleep(self.draw.random() * THINK_S)
            # One of each way first, so that a short run has them all.
            turn = self.draw.sample(WAYS, len(WAYS))
            while time.monotonic() < self.ends:
                await getattr(self, turn.pop() if turn else self.draw.choice(WAYS))()
                await asyncio.sleep(self.draw.random() * THINK_S)
        finally:
            self.connection.close()

    # ---- names ----

    def next_upload(self, way):
        """A file with a name of its own in the uploader's present run."""
        number = self.number * 100000 + self.made
        run = 'load-%d-%d' % (self.number, self.made // FILES_A_RUN)
        self.made += 1
        upload = load_traces.Upload(self.draw.randrange(len(self.bases)), number, way)
        suffix = {'plain': '.pt.trace.json', 'gzip': '.pt.trace.json.gz', 'tar': '.tar'}[way]
        return (run, 'worker%d.17%011d%s' % (number, number, suffix)), upload

    def one_that_is_there(self):
        mine = [key for key, upload in self.figures.uploads.items() if upload.way != 'tar' and upload.number // 100000 == self.number]
        return self.draw.choice(mine) if mine else None

    # ---- sending ----

    async def send(self, kind, method, path, headers, body):
        """The answer that took the upload; what is refused for now is sent again when the server says."""
        while True:
            answer = await self.connection.ask(kind, path, method, headers, body)
            if answer is None or 'retry-after' not in answer.headers:
                break
            await asyncio.sleep(int(answer.headers['retry-after']) * (0.5 + self.draw.random()))
        if answer is not None and answer.status not in (200, 201, 202, 204):
            if answer.status < 500:
                self.figures.fault('%s %s: %d %s' % (method, path, answer.status, answer.body[:300]))
            return None
        return answer

    def taken(self, sent, answer, bytes_sent):
        """Notes an acknowledgement: what it says must be what was sent."""
        found = answer.json()
        traces = found['traces'] if 'traces' in found else [found]
        if found.get('errors'):
            self.figures.fault('%s: errors for good files: %s' % (sorted(sent), found['errors']))
        by_hash = {upload.sha256: upload for upload in sent.values()}
        for trace in traces:
            if trace['sha256'] not in by_hash:
                self.figures.fault('%s: acknowledged with another hash: %s' % (sorted(sent), trace))
            else:
                by_hash[trace['sha256']].traces[trace['id']] = trace['worker']
        for key, upload in sent.items():
            if not upload.traces:
                self.figures.fault('%s: not among the traces of its answer' % (key, ))
            self.figures.uploads[key] = upload
            self.figures.text_bytes_sent += upload.text_bytes(self.bases)
        self.figures.uploads_taken += len(sent)
        self.figures.bytes_sent += bytes_sent

    async def put(self, kind, key, upload, query=''):
        body = upload.content(self.bases)
        answer = await self.send(kind, 'PUT', path_of(key) + query, [], body)
        if answer is None:
            self.figures.uploads.pop(key, None)  # whether it is there is not known
        else:
            self.taken({key: upload}, answer, len(body))

    # ---- ways ----

    async def plain(self):
        await self.put('PUT', *self.next_upload('plain'))

    async def gzip(self):
        await self.put('PUT .gz', *self.next_upload('gzip'))

    async def tar(self):
        await self.put('PUT .tar', *self.next_upload('tar'))

    async def replace(self):
        key = self.one_that_is_there()
        if key is None:
            return await self.gzip()
        _, upload = self.next_upload(self.figures.uploads[key].way)
        await self.put('PUT ?replace=1', key, upload, '?replace=1')

    async def delete(self):
        key = self.one_that_is_there()
        if key is None:
            return await self.gzip()
        upload = self.figures.uploads.pop(key)
        for trace in upload.traces:
            await self.send('DELETE', 'DELETE', '/api/v1/traces/%d' % trace, [], None)

    async def form(self):
        sent = dict([self.next_upload('gzip')])
        key, upload = self.next_upload('gzip')
        if key[0] == next(iter(sent))[0]:
            sent[key] = upload
        parts = []
        for (_, name), upload in sent.items():
            head = '--%s\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n\r\n' % (BOUNDARY, name)
            parts += [head.encode(), upload.content(self.bases), b'\r\n']
        body = b''.join(parts) + b'--' + BOUNDARY.encode() + b'--\r\n'
        path = '/api/v1/runs/%s/traces' % next(iter(sent))[0]
        answer = await self.send('POST form', 'POST', path, ['Content-Type: multipart/form-data; boundary=' + BOUNDARY], body)
        if answer is not None:
            self.taken(sent, answer, len(body))

    async def later(self):
        """The answer is a job: asked for until it is over, then the trace is asked for."""
        key, upload = self.next_upload('gzip')
        body = upload.content(self.bases)
        answer = await self.send('PUT async', 'PUT', path_of(key), ['Prefer: respond-async'], body)
        job = answer and answer.json()
        while job and job['state'] not in ('done', 'failed'):
            await asyncio.sleep(POLL_S)
            answer = await self.send('job', 'GET', '/api/v1/jobs/%s' % job['id'], [], None)
            job = answer and answer.json()
        if not job or job['state'] == 'failed':
            return self.figures.fault('%s: its job ended with %s' % (key, json.dumps(job)))
        answer = await self.send('job', 'GET', '/api/v1/traces/%d' % job['trace_id'], [], None)
        if answer is not None:
            self.taken({key: upload}, answer, len(body))


def path_of(key):
    return '/api/v1/runs/%s/traces/%s' % key


async def live(host, port, count, seconds, seed, bases):
    figures = load_http.Figures()
    ends = time.monotonic() + seconds
    uploaders = [Uploader(i, host, port, bases, figures, ends, seed) for i in range(count)]
    await asyncio.gather(*(uploader.live() for uploader in uploaders))
    return figures
