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
                await asyncio.gather(self.pump(reader, far_writer), self.pump(far_reader, writer, self.delay_s))
        except OSError:
            pass  # one of them is gone: so is the connection
        finally:
            self.ends -= ends
            for end in ends:
                end.close()

    async def pump(self, reader, writer, delay_s=0.0):
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
