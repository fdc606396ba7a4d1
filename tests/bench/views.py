#!/usr/bin/env python3
"""How fast views are answered, beside nginx that serves the same bytes as files.

usage: views.py [--program build/kinetoscope] [--rounds 3] [--seconds 1] [--clients 64] [--views overview,kernels] [--plain | --gzip]

A server of its own takes in the ResNet-50 reference trace (KINETOSCOPE_REFERENCE) and others. What it answers is laid down for
nginx with two processes (sendfile, kept connections, gzip_static), and wrk asks both in turn, with one connection and with
--clients of them, as a client does that takes no compression and as a browser does. Of several rounds the middle one counts.
The first table is the server alone, one connection, with --answer-cache 0: every answer is put together anew.
Says why and does nothing where nginx, wrk or the reference are absent.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

import ingest
import timeline
from program import Program

REFERENCE = pathlib.Path(os.environ.get('KINETOSCOPE_REFERENCE') or ingest.ROOT.parent / 'shared') / 'data/cases'
TRACE = 'tb_resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz'
MODULES = 'tb_syn_module/worker0.1600000000000.pt.trace.json.gz'
OTHERS = ['tb_resnet50_num_workers_0/worker0.1623143566756.pt.trace.json.gz', 'tb_dist_nccl/node0_100.1600000000000.pt.trace.json.gz',
          'tb_dist_nccl/node1_200.1600000000000.pt.trace.json.gz']
BROWSER = 'gzip, deflate, br, zstd'
UNITS = {'us': 1e-3, 'ms': 1.0, 's': 1e3, 'm': 6e4}
NGINX = '''
daemon off; worker_processes 2; pid %(folder)s/nginx.pid; error_log %(folder)s/error.log crit;
events { worker_connections 1024; }
http {
    access_log off; sendfile on; tcp_nopush on; tcp_nodelay on; keepalive_requests 1000000000; open_file_cache max=100;
    client_body_temp_path %(folder)s/t1; proxy_temp_path %(folder)s/t2; fastcgi_temp_path %(folder)s/t3;
    uwsgi_temp_path %(folder)s/t4; scgi_temp_path %(folder)s/t5;
    types { application/json json; text/html html; text/javascript js; }
    server { listen 127.0.0.1:%(port)d; root %(folder)s/files; gzip_static on; gzip_vary on; }
}
'''


def views_of(ids):
    """Paths by name; the ResNet-50 has no modules."""
    names = ['overview', 'operators', 'kernels', 'memory', 'modules', 'timeline/tracks']
    views = {name: '/api/v1/traces/%d/%s' % (ids[MODULES if name == 'modules' else TRACE], name) for name in names}
    return dict(views, **{'runs': '/api/v1/runs', 'index page': '/', 'js asset': '/js/main.js'})


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


class Wrk:
    """Milliseconds and requests a second, as wrk tells them."""

    def __init__(self, text):
        times = dict(re.findall(r'^\s+(\d+)%\s+(\S+)', text, re.M))
        self.p50_ms, self.p99_ms = (self.milliseconds(times[part]) for part in ('50', '99'))
        self.rate = float(re.search(r'Requests/sec:\s+(\S+)', text)[1])
        self.faults = re.findall(r'(?:Non-2xx|Socket errors).*', text)

    @staticmethod
    def milliseconds(text):
        number, unit = re.fullmatch(r'([\d.]+)([a-z]+)', text).groups()
        return float(number) * UNITS[unit]


def run_wrk(url, clients, seconds, encoding):
    command = ['wrk', '-t1', '-c%d' % clients, '-d%gs' % seconds, '--latency', '-H', 'Accept-Encoding: ' + encoding, url]
    result = Wrk(subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=seconds + 60).stdout.decode())
    if result.faults:
        sys.exit('%s: %s' % (url, result.faults))
    return result


def middle(results):
    return sorted(results, key=lambda r: r.rate)[len(results) // 2]


def fetch(url, encoding):
    request = urllib.request.Request(url, headers={'Accept-Encoding': encoding})
    with urllib.request.urlopen(request, timeout=600) as answer:
        return answer.headers.get('Content-Encoding'), answer.read()


class Nginx:
    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        os.mkdir(os.path.join(folder, 'files'))

    def lay_down(self, name, url):
        """The bytes of both forms; the name of the file."""
        file = pathlib.Path(self.folder, 'files', re.sub(r'\W', '-', name) + {'index page': '.html', 'js asset': '.js'}.get(name, '.json'))
        file.write_bytes(fetch(url, 'identity')[1])
        coding, packed = fetch(url, BROWSER)
        if coding == 'gzip':
            pathlib.Path(str(file) + '.gz').write_bytes(packed)
            os.utime(str(file) + '.gz', (file.stat().st_mtime, file.stat().st_mtime))
        return file.name

    def __enter__(self):
        config = os.path.join(self.folder, 'nginx.conf')
        pathlib.Path(config).write_text(NGINX % {'folder': self.folder, 'port': self.port})
        os.chmod(self.folder, 0o755)
        self.process = subprocess.Popen(['nginx', '-p', self.folder, '-c', config, '-e', os.path.join(self.folder, 'error.log')])
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(('127.0.0.1', self.port)) == 0:
                    return 'http://127.0.0.1:%d/' % self.port
            time.sleep(0.02)
        sys.exit('nginx does not start: ' + pathlib.Path(self.folder, 'error.log').read_text())

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def compare(args, ours, theirs, clients, encoding):
    """One row of the table."""
    rounds = [(run_wrk(ours, clients, args.seconds, encoding), run_wrk(theirs, clients, args.seconds, encoding)) for _ in range(args.rounds)]
    us, nginx = middle([r[0] for r in rounds]), middle([r[1] for r in rounds])
    ratio = statistics.median(a.rate / b.rate for a, b in rounds)
    return '%3d  %8.3f %8.3f %9.0f  %8.3f %8.3f %9.0f  %6.2f' % (clients, us.p50_ms, us.p99_ms, us.rate, nginx.p50_ms, nginx.p99_ms, nginx.rate, ratio)


def cold(args, folder, views):
    """Answers without any kept one."""
    with Program(args.program, os.path.join(folder, 'data'), '--answer-cache', '0') as server:
        print('  %-16s %9s   one connection, every answer anew, no compression | gzip' % ('', 'bytes'))
        for name, path in views.items():
            size = len(fetch(server.url + path, 'identity')[1])
            plain, packed = (run_wrk(server.url + path, 1, args.seconds, encoding) for encoding in ('identity', BROWSER))
            print('  %-16s %9d   p50 %.3f ms  p99 %.3f ms | p50 %.3f ms  p99 %.3f ms' % (name, size, plain.p50_ms, plain.p99_ms, packed.p50_ms, packed.p99_ms))


def warm(args, folder, views):
    forms = {'identity': not args.gzip, BROWSER: not args.plain}
    nginx = Nginx(folder)
    with Program(args.program, os.path.join(folder, 'data')) as server:
        files = {name: nginx.lay_down(name, server.url + path) for name, path in views.items()}
        with nginx as other:
            for encoding in [name for name, wanted in forms.items() if wanted]:
                print('\n  Accept-Encoding: %-34s p50 ms   p99 ms requests/s  nginx p50  p99 ms requests/s   ratio' % encoding)
                for name, path in views.items():
                    size = len(fetch(server.url + path, encoding)[1])
                    for clients in (1, args.clients):
                        print('  %-16s %9d bytes  %s' % (name, size, compare(args, server.url + path, other + files[name], clients, encoding)), flush=True)


def upload_all(args, folder):
    """Ids by file."""
    ids = {}
    with Program(args.program, os.path.join(folder, 'data')) as server:
        client = timeline.Client(server.port)
        for case in OTHERS + [MODULES, TRACE]:
            with open(REFERENCE / case, 'rb') as body:
                ids[case] = json.loads(client.ask('/api/v1/runs/%s/traces/%s' % tuple(case.split('/')), 'PUT', body)[0])['id']
    return ids


def missing():
    if not (REFERENCE / TRACE).exists():
        return 'the reference data (KINETOSCOPE_REFERENCE)'
    return next((tool for tool in ('nginx', 'wrk') if shutil.which(tool) is None), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', default=str(ingest.ROOT / 'build/kinetoscope'))
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--seconds', type=int, default=1)
    parser.add_argument('--clients', type=int, default=64)
    parser.add_argument('--views')
    parser.add_argument('--plain', action='store_true')
    parser.add_argument('--gzip', action='store_true')
    args = parser.parse_args()
    if missing():
        print('skipped: %s is not here' % missing())
        return
    folder = tempfile.mkdtemp(prefix='kinetoscope-bench-')
    try:
        print('%s (%s)' % (os.path.basename(TRACE), ingest.machine()))
        views = views_of(upload_all(args, folder))
        views = {name: path for name, path in views.items() if args.views is None or name in args.views.split(',')}
        cold(args, folder, views)
        warm(args, folder, views)
    finally:
        shutil.rmtree(folder)


if __name__ == '__main__':
    main()
