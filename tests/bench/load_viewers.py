"""The viewers of load.py: each keeps its connection, walks through the page as a user does, and thinks in between."""
import asyncio
import collections
import json
import random
import time
import zlib

import load_http

ETAGS_KEPT = 60
CHECKED_BYTES_MAX = 1 << 20
CHECKED_EVERY = 8
VIEWERS_AN_ADDRESS = 10
THINK_S = 1.0
HEARTBEAT_S = 0.05
ASSETS = ['css/app.css', 'js/lib/dom.js', 'js/lib/api.js', 'js/lib/fmt.js', 'js/app/router.js', 'js/app/frame.js', 'js/upload/upload.js',
          'js/main.js', 'js/charts/charts.js',
          'favicon.svg', 'vendor/chart.js']
# The trace is gone, has none of it, or the two of them cannot be compared.
NOT_THERE = (404, 422)
WORDS = ['aten::', 'conv', 'gemm', 'nccl', 'load::seed_1', 'add', 'nothing-has-this-name']


class Viewer:
    def __init__(self, number, host, port, figures, ends, seed):
        self.draw = random.Random(seed * 1000003 + number)
        address = '127.0.1.%d' % (1 + number // VIEWERS_AN_ADDRESS)
        self.connection = load_http.Connection(host, port, address, figures)
        self.figures, self.ends = figures, ends
        self.etags = collections.OrderedDict()
        self.counter = number

    async def live(self):
        try:
            await asyncio.sleep(self.draw.random() * THINK_S * 2)
            while time.monotonic() < self.ends:
                await self.walk()
        except Over:
            pass
        finally:
            self.connection.close()

    # ---- one request ----

    async def get(self, kind, path, needed=False):
        """The parsed answer where it is needed, None without one."""
        if time.monotonic() >= self.ends:
            raise Over
        headers = ['If-None-Match: ' + self.etags[path]] if path in self.etags and not needed else []
        answer = await self.connection.ask(kind, path, headers=headers)
        if answer is None:
            return None
        out = self.look_at(path, answer, needed)
        if 'etag' in answer.headers:
            self.etags[path] = answer.headers['etag']
            if len(self.etags) > ETAGS_KEPT:
                self.etags.popitem(last=False)
        await asyncio.sleep(self.draw.random() * THINK_S)
        return out

    def look_at(self, path, answer, needed):
        if answer.status == 404 and path.startswith('/api/v1/traces/') and path.count('/') == 4:
            self.figures.missing.add(int(path.split('/')[4]))
        if answer.status in NOT_THERE or (answer.status == 304 and path in self.etags):
            return None
        if answer.status != 200:
            if answer.status < 500 and 'retry-after' not in answer.headers:
                self.figures.fault('GET %s: %d %s' % (path, answer.status, answer.body[:300]))
            return None
        self.counter += 1
        checked = needed or (self.counter % CHECKED_EVERY == 0 and len(answer.body) <= CHECKED_BYTES_MAX)
        try:
            if not checked:
                return None
            return answer.json() if answer.headers['content-type'].startswith('application/json') else answer.content()
        except (ValueError, EOFError, OSError, KeyError, zlib.error) as error:
            self.figures.fault('GET %s: broken answer: %r' % (path, error))
            return None

    # ---- the walk ----

    async def walk(self):
        if self.draw.random() < 0.3:
            await self.page()
        runs = await self.get('runs', '/api/v1/runs?limit=50' + self.draw.choice(['', '&q=load', '&sort=name&order=asc']), True)
        if not runs or not runs['runs']:
            await asyncio.sleep(THINK_S / 2)
            return
        name = self.draw.choice(runs['runs'])['name']
        run = await self.get('run', '/api/v1/runs/' + name, True)
        if not run or not run['trace_list']:
            return
        if self.draw.random() < 0.3:
            await self.get('distributed', '/api/v1/runs/%s/distributed' % name)
        trace = self.draw.choice(run['trace_list'])
        base = '/api/v1/traces/%d' % trace['id']
        await self.get('trace', base)
        await self.get('overview', base + '/overview')
        await self.get('steps', base + '/steps?limit=0')
        for view in self.draw.sample([self.operators, self.kernels, self.memory, self.modules, self.timeline, self.tree], 3):
            await view(base)
        if self.draw.random() < 0.15:
            await self.compare(trace['id'], self.draw.choice(run['trace_list'])['id'])

    async def page(self):
        await self.get('asset', '/')
        for asset in ASSETS:
            await self.get_asset(asset)

    async def get_asset(self, asset):
        """Without thinking: a browser asks for what the page names at once."""
        path = '/' + asset
        headers = ['If-None-Match: ' + self.etags[path]] if path in self.etags else []
        answer = await self.connection.ask('asset', path, headers=headers)
        if answer is not None:
            self.look_at(path, answer, False)
            self.etags[path] = answer.headers.get('etag', '""')

    async def operators(self, base):
        group = self.draw.choice(['', '&group_by=name_shape'])
        sort = self.draw.choice(['', '&sort=calls', '&sort=host_self_ns', '&sort=name&order=asc'])
        await self.get('operators', base + '/operators?limit=100' + group + sort)
        await self.get('operators', base + '/operators?limit=100&q=' + self.draw.choice(WORDS) + group)

    async def kernels(self, base):
        await self.get('kernels', base + '/kernels?limit=100')
        await self.get('kernels', base + '/kernels?limit=100&sort=calls&q=' + self.draw.choice(WORDS))

    async def memory(self, base):
        await self.get('memory', base + '/memory?limit=100')
        await self.get('memory', base + '/memory/curve')
        await self.get('memory', base + '/memory/events?limit=100&sort=size_bytes&order=desc')

    async def modules(self, base):
        await self.get('modules', base + '/modules')

    async def tree(self, base):
        threads = await self.get('tree', base + '/tree', True)
        if threads and threads['threads']:
            await self.get('tree', '%s/tree/%d?limit=100' % (base, self.draw.choice(threads['threads'])['thread']))

    async def timeline(self, base):
        told = await self.get('tracks', base + '/timeline/tracks', True)
        if not told or not told['tracks']:
            return
        start, end = told['start_ns'], told['end_ns']
        for _ in range(self.draw.randrange(2, 6)):
            await self.get('timeline', '%s/timeline?width_px=1600&start_ns=%d&end_ns=%d' % (base, start, end))
            width = max(1000, int((end - start) * (0.1 + 0.6 * self.draw.random())))
            start += int(self.draw.random() * max(1, end - start - width))
            end = start + width
        await self.get('event', '%s/events/%d' % (base, self.draw.randrange(told['events'])))
        await self.get('search', '%s/search?limit=100&q=%s' % (base, self.draw.choice(WORDS)))
        await self.get('window', '%s/window?start_ns=%d&end_ns=%d' % (base, start, end))

    async def compare(self, base, candidate):
        """Diffs are computed when asked for; comparisons are stored, so a viewer writes too."""
        await self.get('diff', '/api/v1/diff?limit=100&base=%d&candidate=%d' % (base, candidate))
        body = json.dumps({'base': base, 'candidate': candidate}).encode()
        answer = await self.connection.ask('comparison', '/api/v1/comparisons', 'POST', ['Content-Type: application/json'], body)
        if answer is not None and answer.status in (200, 201):
            await self.get('comparison', '/api/v1/comparisons/%d?limit=100' % answer.json()['id'])
        await self.get('comparison', '/api/v1/comparisons')


class Over(Exception):
    """The time is over."""


async def watch(figures, ends):
    """How late this process itself is: what it adds to the times that it measures."""
    while time.monotonic() < ends:
        begin = time.monotonic()
        await asyncio.sleep(HEARTBEAT_S)
        figures.seconds['(own delay)'].append(time.monotonic() - begin - HEARTBEAT_S)


async def live(host, port, count, seconds, seed):
    figures = load_http.Figures()
    ends = time.monotonic() + seconds
    viewers = [Viewer(i, host, port, figures, ends, seed) for i in range(count)]
    await asyncio.gather(watch(figures, ends), *(viewer.live() for viewer in viewers))
    return figures
