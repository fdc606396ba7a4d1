#!/usr/bin/env python3
"""Sends profiler traces to a Kinetoscope server. One file, standard library only, Python 3.8 or newer.

In a training script:

    import kinetoscope
    with torch.profiler.profile(..., on_trace_ready=kinetoscope.handler('http://host:8080', run='my-run')) as prof:
        ...

On a command line:

    python3 kinetoscope.py upload TRACE...        files, or directories with traces
    python3 kinetoscope.py watch DIR              uploads what a profiler writes there, until it is stopped
    python3 kinetoscope.py gate --run NAME        exits with 3 if the run is worse than its baseline

The server is --url or KINETOSCOPE_URL, the token KINETOSCOPE_TOKEN. A step never waits for an upload and never fails because of one: the handler writes
the trace to a temporary file; a thread packs and sends it. What cannot be sent is named on standard error and dropped.
"""
import argparse
import atexit
import gzip
import json
import os
import queue
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

ENDINGS = ('.json', '.pickle', '.pkl', '.raw', '.sqlite', '.db', '.rpd', '.pb', '.et', '.pftrace', '.perfetto-trace', '.speedscope', '.hatchet', '.folded', '.collapsed',
           '.csv', '.tar', '.tgz', '.zip')  # of what the server reads, packed or not
PACKED = ('.gz', '.zst')
RETRIES = 5
TIMEOUT_S = 300
RETRY_AFTER_MAX_S = 600
FLUSH_S = 60  # that the end of the program waits for uploads
TAG_MAX_BYTES = 200
QUERY_MAX_BYTES = 6000


class Refused(Exception):
    """What the server does not take, or what cannot be read here (status 0); trying again does not help."""

    def __init__(self, status, text):
        super().__init__('%d %s' % (status, text) if status else text)
        self.status = status


def open_trace(path):
    try:
        return open(path, 'rb')
    except OSError as error:
        raise Refused(0, 'it cannot be read: %s' % error.strerror) from error


class Busy(OSError):
    """The server's answer when it has too much to do; it may say how long to wait."""

    def __init__(self, status, text, retry_after):
        super().__init__('%d %s' % (status, text))
        self.retry_after_s = min(int(retry_after), RETRY_AFTER_MAX_S) if retry_after.isdigit() else 0


def say(text):
    print('kinetoscope: ' + text, file=sys.stderr, flush=True)


class Client:
    """Requests to one server."""

    def __init__(self, url=None, token=None):
        self.url = (url or os.environ.get('KINETOSCOPE_URL') or 'http://127.0.0.1:8080').rstrip('/')
        self.token = token or os.environ.get('KINETOSCOPE_TOKEN')

    def ask(self, method, path, body=None, kind='application/json', accept=None, length=None):
        headers = {'Content-Type': kind}
        if accept:
            headers['Accept'] = accept
        if self.token:
            headers['Authorization'] = 'Bearer ' + self.token
        if length is not None:
            headers['Content-Length'] = str(length)
        request = urllib.request.Request(self.url + path, data=body, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            text = error.read(4000).decode('utf-8', 'replace')
            try:
                text = json.loads(text)['detail']
            except (ValueError, KeyError, TypeError):
                pass
            if error.code in (408, 425, 429) or error.code >= 500:
                raise Busy(error.code, text, error.headers.get('Retry-After') or '')
            raise Refused(error.code, text)

    def put(self, run, path, name, project=None, rank=None, tags=()):
        """Uploads a file, with tags for its run; tries again, with longer and longer pauses, when the network or the server fails. Returns the traces."""
        query = [(key, str(value)) for key, value in (('project', project), ('rank', rank)) if value is not None]
        for tag in tags:
            if len(urllib.parse.urlencode(query + [('tag', tag)])) > QUERY_MAX_BYTES:
                say('%s: the tags from "%s" on are left out: together they are too long' % (run, tag))
                break
            query.append(('tag', tag))
        where = '/api/v1/runs/%s/traces/%s' % (urllib.parse.quote(run, safe=''), urllib.parse.quote(name, safe=''))
        if query:
            where += '?' + urllib.parse.urlencode(query)
        for attempt in range(RETRIES + 1):
            try:
                with open_trace(path) as file:
                    answer = self.ask('PUT', where, file, 'application/octet-stream', length=os.path.getsize(path))
                found = json.loads(answer.decode('utf-8'))
                return found.get('traces') or [found]
            except OSError as error:
                if attempt == RETRIES:
                    raise
                say('%s: %s; trying again' % (name, error))
                time.sleep(max(min(2 ** attempt, 30), getattr(error, 'retry_after_s', 0)))
        return []

    def link(self, traces):
        first = traces[0] if traces else {}
        return first.get('url') or self.url


# ---- what is known of this process ----

def _git(*words):
    try:
        done = subprocess.run(('git',) + words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=10, check=False)
        return done.stdout.decode('utf-8', 'replace').strip() if done.returncode == 0 else ''
    except (OSError, subprocess.SubprocessError):
        return ''


def _number(*names):
    for name in names:
        value = os.environ.get(name, '')
        if value.isdigit():
            return int(value)
    return None


def facts():
    """Tags that say where a run came from."""
    found = {'commit': os.environ.get('GITHUB_SHA') or os.environ.get('CI_COMMIT_SHA') or _git('rev-parse', 'HEAD'),
             'commit_time': _git('show', '-s', '--format=%ct', 'HEAD'),
             'branch': os.environ.get('GITHUB_HEAD_REF') or os.environ.get('GITHUB_REF_NAME') or os.environ.get('CI_COMMIT_REF_NAME')
             or _git('rev-parse', '--abbrev-ref', 'HEAD'),
             'world_size': _number('WORLD_SIZE', 'SLURM_NTASKS', 'OMPI_COMM_WORLD_SIZE'),
             'python': '.'.join(str(part) for part in sys.version_info[:3]),
             'command': os.path.basename(sys.argv[0]) if sys.argv and sys.argv[0] else ''}
    torch = sys.modules.get('torch')
    found['torch'] = getattr(torch, '__version__', '')
    return {key: value for key, value in found.items() if value not in (None, '')}


def tag_list(tags):
    """Tags of a dict ("branch": "main"), or of texts, as the server takes them."""
    texts = ['%s=%s' % item for item in tags.items()] if isinstance(tags, dict) else list(tags or ())
    return [text.encode('utf-8')[:TAG_MAX_BYTES].decode('utf-8', 'ignore') for text in texts if text]


def rank_of_process():
    return _number('RANK', 'SLURM_PROCID', 'OMPI_COMM_WORLD_RANK')


# ---- the handler ----

class Handler:
    """Give it to torch.profiler as on_trace_ready. Uploads happen on a thread of their own."""

    def __init__(self, url=None, run=None, tags=None, project=None, token=None, worker=None, queued_max=4):
        self.client = Client(url, token)
        self.rank = rank_of_process()
        self.run = run or os.environ.get('KINETOSCOPE_RUN') or time.strftime('run-%Y-%m-%d-%H%M')
        self.project = project
        self.worker = worker or ('rank%d' % self.rank if self.rank is not None else '%s_%d' % (socket.gethostname(), os.getpid()))
        self.tags = tags
        self.jobs = queue.Queue(queued_max)
        self.folder = tempfile.mkdtemp(prefix='kinetoscope-')
        self.count = 0
        self.is_tagged = self.rank not in (None, 0)  # rank 0 speaks for the run
        self.thread = threading.Thread(target=self._work, name='kinetoscope', daemon=True)
        self.thread.start()
        atexit.register(self.close)

    def __call__(self, profiler):
        try:
            if self.jobs.full():
                say('a trace is dropped: %d wait to be uploaded' % self.jobs.qsize())
                return
            self.count += 1
            path = os.path.join(self.folder, '%d.json' % self.count)
            profiler.export_chrome_trace(path)
            self.jobs.put_nowait((path, '%s.%d.pt.trace.json.gz' % (self.worker, time.time_ns())))
        except Exception as error:  # pylint: disable=broad-except
            say('a trace is dropped: %s: %s' % (type(error).__name__, error))

    def _work(self):
        while True:
            job = self.jobs.get()
            try:
                if job is None:
                    return
                self._send(*job)
            except Exception as error:  # pylint: disable=broad-except
                say('a trace is dropped: %s: %s' % (type(error).__name__, error))
            finally:
                self.jobs.task_done()

    def _send(self, path, name):
        packed = path + '.gz'
        try:
            with open(path, 'rb') as source, gzip.open(packed, 'wb', compresslevel=6) as target:
                shutil.copyfileobj(source, target, 1 << 20)
            tags = [] if self.is_tagged else tag_list(self.tags) + tag_list(facts())
            traces = self.client.put(self.run, packed, name, self.project, self.rank, tags)
            self.is_tagged = True
            say('%s: %s' % (self.worker, self.client.link(traces)))
        finally:
            for file in (path, packed):
                if os.path.exists(file):
                    os.unlink(file)

    def close(self, timeout_s=FLUSH_S):
        """Waits for what is on its way; the end of the program calls it."""
        if self.thread.is_alive():
            try:
                self.jobs.put(None, timeout=timeout_s)
                self.thread.join(timeout_s)
            except queue.Full:
                say('%d traces were not uploaded in time' % self.jobs.qsize())
        shutil.rmtree(self.folder, ignore_errors=True)


def handler(url=None, run=None, tags=None, project=None, token=None, worker=None):
    """For torch.profiler's on_trace_ready. Never raises: a server that is not there costs a line on standard error."""
    return Handler(url, run, tags, project, token, worker)


# ---- the command line ----

def has_ending(name):
    stem, last = os.path.splitext(name)
    return (stem if last in PACKED else name).endswith(ENDINGS)


def traces_below(path):
    if os.path.isfile(path):
        return [path]
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names if has_ending(name))


def run_of(args, path, root):
    """The run that is named, else the directory of the file."""
    folder = os.path.dirname(os.path.abspath(path))
    return args.run or os.path.basename(folder if os.path.isfile(root) or folder != os.path.abspath(root) else os.path.abspath(root)) or 'run'


def send(client, args, path, root):
    run = run_of(args, path, root)
    traces = client.put(run, path, os.path.basename(path), args.project, tags=tag_list(args.tag))
    print('%s: %s' % (path, client.link(traces)), flush=True)


def upload(client, args):
    failed = 0
    for root in args.paths:
        found = traces_below(root)
        if not found:
            say('%s: no trace is there' % root)
            failed += 1
        for path in found:
            try:
                send(client, args, path, root)
            except (Refused, OSError) as error:
                say('%s: %s' % (path, error))
                failed += 1
    return 1 if failed else 0


def watch(client, args):
    """Uploads a file once its size has stayed the same between two looks; what the server refuses is not offered again while it stays as it is.
    An empty one is only being begun, unless this is the last look."""
    sizes, done, failed = {}, set(), 0
    while True:
        for path in traces_below(args.dir):
            try:
                state = os.stat(path)
            except OSError:
                continue
            now = (state.st_size, state.st_mtime)
            if (path, now) not in done and (args.once or state.st_size > 0) and sizes.get(path) == now:
                done.add((path, now))
                try:
                    send(client, args, path, args.dir)
                except (Refused, OSError) as error:
                    say('%s: %s' % (path, error))
                    failed += 1
                    if isinstance(error, OSError) and not args.once:
                        done.discard((path, now))
            sizes[path] = now
        if args.once and all((path, state) in done for path, state in sizes.items() if os.path.exists(path)):
            return 1 if failed else 0
        time.sleep(args.every)


def gate_text(found):
    lines = ['gate: ' + found['verdict']]
    for row in found['rows']:
        base = row['baseline']
        change = '' if row['change'] is None else ', %+.2f %%' % (100 * row['change'])
        lines.append('  %s: %s (%s against %s of %d%s; p %s)' % (row['metric'], row['verdict'], row['candidate'], base['mean'], base['n'], change, row['p']))
        lines.append('    ' + (row['url'] or ''))
    return '\n'.join(lines) + '\n'


def gate(client, args):
    body = {'candidate': {'run': args.run}, 'tag': args.tag or [], 'fail_if': args.fail_if or []}
    body.update({key: value for key, value in (('project', args.project), ('p', args.p)) if value is not None})
    data = json.dumps(body).encode('utf-8')
    found = json.loads(client.ask('POST', '/api/v1/gate?format=json', data).decode('utf-8'))
    if args.format == 'text':
        text = gate_text(found)
    elif args.format == 'json':
        text = json.dumps(found, indent=1) + '\n'
    else:
        text = client.ask('POST', '/api/v1/gate?format=' + args.format, data).decode('utf-8')
    if args.output:
        with open(args.output, 'w', encoding='utf-8') as file:
            file.write(text)
    else:
        sys.stdout.write(text)
    return found['exit_code']


def main(words=None):
    parser = argparse.ArgumentParser(prog='kinetoscope.py', description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest='command', required=True)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument('--url', help='the server (KINETOSCOPE_URL)')
    shared.add_argument('--project', help='project of the run')
    shared.add_argument('--tag', action='append', help='branch=main; may be repeated')
    sends = commands.add_parser('upload', parents=[shared], help='uploads files and directories')
    sends.add_argument('--run', help='name of the run (the directory of the file)')
    sends.add_argument('paths', nargs='+')
    sees = commands.add_parser('watch', parents=[shared], help='uploads what appears in a directory')
    sees.add_argument('--run', help='name of the run (the directory of the file)')
    sees.add_argument('--every', type=float, default=5, help='seconds between two looks (5)')
    sees.add_argument('--once', action='store_true', help='ends when all that is there is uploaded')
    sees.add_argument('dir')
    judges = commands.add_parser('gate', parents=[shared], help='exits with 3 if a run is worse than its baseline')
    judges.add_argument('--run', required=True, help='the candidate')
    judges.add_argument('--fail-if', action='append', metavar='CONDITION',
                        help="step_time>5%% (the default), 'step_time>5%% and p<0.05', kernel:<name>>10%%, ...")
    judges.add_argument('--p', type=float, help='a failure is at most this probable by chance (0.01), where --fail-if does not say')
    judges.add_argument('--format', choices=('text', 'json', 'markdown', 'junit'), default='text')
    judges.add_argument('--output', metavar='FILE')
    args = parser.parse_args(words)
    client = Client(args.url)
    try:
        return {'upload': upload, 'watch': watch, 'gate': gate}[args.command](client, args)
    except (Refused, OSError, ValueError) as error:
        say(str(error))
        return 2 if args.command == 'gate' and getattr(error, 'status', 0) == 400 else 1
    except KeyboardInterrupt:
        return 0


if __name__ == '__main__':
    sys.exit(main())
