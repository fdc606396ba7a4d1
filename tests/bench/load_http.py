"""A lean HTTP client for load.py: one connection that is kept, from an address of choice, and figures of what was asked."""
import asyncio
import collections
import gzip
import json
import time

ANSWER_S = 120  # a guard: no answer may take longer
PIECE_BYTES = 1 << 18
SHOWN_FAULTS = 20


class Answer(collections.namedtuple('Answer', 'status headers body')):
    def content(self):
        return gzip.decompress(self.body) if self.headers.get('content-encoding') == 'gzip' else self.body

    def json(self):
        return json.loads(self.content())


class Figures:
    """What one process of clients saw; those of several are added up."""

    def __init__(self):
        self.seconds = collections.defaultdict(list)  # by kind
        self.statuses = collections.Counter()
        self.refused = collections.Counter()  # 429 and 503 with Retry-After, by kind
        self.faults = []
        self.fault_count = 0
        self.bytes_received = self.reconnects = 0
        self.missing = set()  # traces that were answered with 404
        self.uploads = {}  # (run, file name): Upload
        self.uploads_taken = self.bytes_sent = self.text_bytes_sent = 0

    def fault(self, text):
        self.fault_count += 1
        if len(self.faults) < SHOWN_FAULTS:
            self.faults.append(text)

    def add(self, other):
        for kind, seconds in other.seconds.items():
            self.seconds[kind] += seconds
        self.statuses += other.statuses
        self.refused += other.refused
        self.faults += other.faults
        self.missing |= other.missing
        self.uploads.update(other.uploads)
        for name in ('fault_count', 'bytes_received', 'reconnects', 'uploads_taken', 'bytes_sent', 'text_bytes_sent'):
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Connection:
    def __init__(self, host, port, address, figures):
        self.host, self.port, self.address, self.figures = host, port, address, figures
        self.reader = self.writer = None

    def close(self):
        if self.writer:
            self.writer.close()
        self.reader = self.writer = None

    async def open(self):
        local = (self.address, 0) if self.address else None
        self.reader, self.writer = await asyncio.open_connection(self.host, self.port, local_addr=local, limit=1 << 20)

    async def head(self):
        lines = (await self.reader.readuntil(b'\r\n\r\n')).decode('latin-1').split('\r\n')
        headers = {}
        for line in lines[1:-2]:
            name, _, value = line.partition(':')
            headers[name.lower()] = value.strip()
        return int(lines[0].split()[1]), headers

    async def body(self, status, headers):
        if status in (204, 304):
            return b''
        if 'content-length' in headers:
            return await self.reader.readexactly(int(headers['content-length']))
        if headers.get('transfer-encoding') != 'chunked':
            return await self.reader.read()
        parts = []
        while size := int(await self.reader.readline(), 16):
            parts.append(await self.reader.readexactly(size))
            await self.reader.readline()
        await self.reader.readline()
        return b''.join(parts)

    async def once(self, method, path, headers, body):
        """The server may refuse before it has seen the body: that is only sent when it is asked for."""
        lines = ['%s %s HTTP/1.1' % (method, path), 'Host: %s:%d' % (self.host, self.port), 'Accept-Encoding: gzip', *headers]
        if body is not None:
            lines += ['Content-Length: %d' % len(body), *(['Expect: 100-continue'] if len(body) > PIECE_BYTES else [])]
        self.writer.write(('\r\n'.join(lines) + '\r\n\r\n').encode())
        if body is not None and len(body) <= PIECE_BYTES:
            self.writer.write(body)
        status, found = await self.head()
        if status == 100:
            for at in range(0, len(body), PIECE_BYTES):
                self.writer.write(memoryview(body)[at:at + PIECE_BYTES])
                await self.writer.drain()
            status, found = await self.head()
        answer = Answer(status, found, await self.body(status, found))
        if found.get('connection', '').lower() == 'close':
            self.close()
        return answer

    async def exchange(self, method, path, headers, body):
        kept = self.writer is not None
        try:
            if not kept:
                await self.open()
            return await self.once(method, path, headers, body)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            # The server may close a connection that was idle just when it is used again: asked once more, as browsers do.
            self.close()
            if not kept or (isinstance(error, asyncio.IncompleteReadError) and error.partial):
                raise
            self.figures.reconnects += 1
            await self.open()
            return await self.once(method, path, headers, body)

    async def ask(self, kind, path, method='GET', headers=(), body=None):
        """The answer, timed from before the connection is made to the last byte; None after a fault of the connection."""
        begin = time.monotonic()
        try:
            answer = await asyncio.wait_for(self.exchange(method, path, headers, body), ANSWER_S)
        except (asyncio.IncompleteReadError, asyncio.TimeoutError, OSError, ValueError, IndexError) as error:
            self.close()
            self.figures.fault('%s %s: no whole answer: %r' % (method, path, error))
            return None
        self.note(kind, '%s %s' % (method, path), answer, time.monotonic() - begin)
        return answer

    def note(self, kind, what, answer, seconds):
        figures = self.figures
        figures.statuses[answer.status] += 1
        figures.bytes_received += len(answer.body)
        if answer.status in (429, 503) and 'retry-after' in answer.headers:
            figures.refused[kind] += 1
            return
        figures.seconds[kind].append(seconds)
        if answer.status >= 500:
            figures.fault('%s: %d %s' % (what, answer.status, answer.body[:300]))
