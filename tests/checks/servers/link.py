"""A way between two programs of this machine that can be slow, silent or cut."""
import asyncio
import threading

CHUNK_BYTES = 1 << 18
CHUNKS = 16  # that wait in one direction


class Link:
    """Connections to `self.port` go on to the port `to`. What comes back is `delay_s` late, as from a distant machine."""

    def __init__(self, to):
        self.to, self.delay_s, self.is_cut, self.ends = to, 0.0, False, set()
        self.loop, self.flows = asyncio.new_event_loop(), asyncio.Event()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.flows.set()
        self.server = self.do(asyncio.start_server(self.accept, '127.0.0.1', 0, limit=CHUNK_BYTES, backlog=256))
        self.port = self.server.sockets[0].getsockname()[1]

    def do(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)

    async def accept(self, reader, writer):
        ends = {writer}
        self.ends.add(writer)
        try:
            if not self.is_cut:
                far_reader, far_writer = await asyncio.open_connection('127.0.0.1', self.to, limit=CHUNK_BYTES)
                ends.add(far_writer)
                self.ends.add(far_writer)
                forth, back = self.looks()
                await asyncio.gather(self.pump(reader, far_writer, 0.0, forth), self.pump(far_reader, writer, self.delay_s, back))
        except OSError:
            pass  # one of them is gone: so is the connection
        finally:
            self.ends -= ends
            for end in ends:
                end.close()

    def looks(self):
        """What looks at the pieces of a connection, there and back, before they go on; OSError ends it."""
        return (lambda _: None,) * 2

    async def pump(self, reader, writer, delay_s, look):
        queue = asyncio.Queue(CHUNKS)

        async def read():
            piece = b'first'
            while piece:
                try:
                    piece = await reader.read(CHUNK_BYTES)
                except OSError:
                    piece = b''
                await queue.put((self.loop.time() + delay_s, piece))
        reading = asyncio.ensure_future(read())
        try:
            while True:
                due, piece = await queue.get()
                if due > self.loop.time():
                    await asyncio.sleep(due - self.loop.time())
                await self.flows.wait()
                look(piece)
                if not piece:
                    writer.write_eof()
                    return
                writer.write(piece)
                await writer.drain()
        finally:
            reading.cancel()

    async def change(self, flows, is_cut):
        self.is_cut = is_cut
        if flows:
            self.flows.set()
        else:
            self.flows.clear()
        for end in set(self.ends) if is_cut else ():
            end.transport.abort()

    def cut(self):
        """Connections end, new ones too, at once."""
        self.do(self.change(True, True))

    def silence(self):
        """Nothing arrives any more, and nobody is told."""
        self.do(self.change(False, False))

    def mend(self):
        self.do(self.change(True, False))

    def stop(self):
        self.cut()
        self.loop.call_soon_threadsafe(self.server.close)
        self.loop.call_soon_threadsafe(self.loop.stop)


class CommitLink(Link):
    """To PostgreSQL. A commit of a writer does not come through, or nobody hears that it did: the connection ends in the middle."""

    def __init__(self, to):
        super().__init__(to)
        self.loses, self.after, self.lost = None, 0, 0

    def lose(self, what, after=0):
        """The `commit`, or the `answer` to it; not those of the next `after` transactions, but of the one behind them."""
        self.loses, self.after, self.lost = what, after, 0

    def looks(self):
        writes = waits = False

        def forth(piece):
            nonlocal writes, waits
            if b'INSERT INTO commit_mark' in piece:
                writes = True
            if not (writes and self.loses and b'COMMIT\0' in piece):
                return
            writes = False
            if self.after > 0:
                self.after -= 1
            elif self.loses == 'commit':
                self.end()
            else:
                waits = True

        def back(_):
            if waits:
                self.end()
        return forth, back

    def end(self):
        self.loses, self.lost = None, self.lost + 1
        raise ConnectionAbortedError
