#!/usr/bin/env python3
"""A cluster on this machine: PostgreSQL, an S3 server, and nodes behind haproxy with the configuration of deploy/cluster.
Each node reaches the database and the objects by links of its own, which can be cut.

usage: lab.py [--nodes 2] run COMMAND...    runs a command with the cluster's address in place of {url}
       lab.py serve [OPTION]...             as if it were the program: two nodes in place of one server
Environment: KINETOSCOPE_BIN (the program), KINETOSCOPE_LAB_S3 (port of an S3 server that runs, with the keys of s3.py;
without it Ceph starts, where it is installed, else a peer of our own).
"""
import argparse
import contextlib
import http.client
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import kinetoscope  # noqa: E402: beside this folder
from servers import s3  # noqa: E402
from servers.link import Link  # noqa: E402
from servers.postgres import Postgres  # noqa: E402

BASE = '/k'  # as in the example
os.environ['PATH'] += ':/usr/sbin'  # where Debian has haproxy


def why_not():
    """Why there can be no cluster here, or ''."""
    reason = Postgres.why_not() or ('' if s3.is_built_in() else 'this program was built without S3')
    return reason or ('' if shutil.which('haproxy') else 'no haproxy: apt install haproxy')


class Mortal(kinetoscope.Server):
    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def restart(self):
        assert not kinetoscope.SANITIZER_REPORT.search(self.log()), self.log()[-6000:]
        os.unlink(self.log_path)
        self.__enter__()


class Straight:
    def __init__(self, to):
        self.port = to

    def stop(self):
        pass


class Below(Mortal):
    """A server below BASE."""

    def ask(self, method, path, body=None, headers=None):
        return super().ask(method, BASE + path, body, headers)


class Node(Below):
    def __init__(self, lab, name, *options):
        # With no link between, nothing of ours takes processor time.
        way = Link if lab.has_links else Straight
        self.name, self.database, self.objects = name, way(lab.database.port), way(lab.s3_port)
        self.address = kinetoscope.free_port()
        super().__init__('--database-url', lab.database.url.replace(':%d/' % lab.database.port, ':%d/' % self.database.port),
                         '--objects-url', 's3://%s/%s' % (s3.BUCKET, lab.prefix), '--node-name', name, '--base-path', BASE,
                         '--trusted-proxy', '127.0.0.1', *options, listen='127.0.0.1:%d' % self.address,
                         data_dir=str(lab.folder / name), env=s3.environment(self.objects.port))

    def __exit__(self, *raised):
        super().__exit__(*raised)
        self.database.stop()
        self.objects.stop()


class Balancer(Below):
    """haproxy with the example's configuration; without its certificate, which proxies.py tries."""

    def __init__(self, lab):
        self.lab, self.port = lab, kinetoscope.free_port()
        self.url = 'http://127.0.0.1:%d%s' % (self.port, BASE)

    def __enter__(self):
        nodes = ''.join('    server %s 127.0.0.1:%d\n' % (node.name, node.address) for node in self.lab.nodes)
        text = kinetoscope.replaced(
            (kinetoscope.ROOT / 'deploy/cluster/haproxy.cfg').read_text(), ('    bind :80\n', ''),
            ('bind :443 ssl crt /etc/haproxy/traces.example.org.pem alpn h2,http/1.1', 'bind 127.0.0.1:%d' % self.port),
            ('    http-request redirect scheme https code 301 unless { ssl_fc }\n', ''),
            ('    http-request set-header X-Forwarded-Proto https\n', ''),
            ('    server node1 node1:8080\n    server node2 node2:8080\n', nodes))
        conf = self.lab.folder / 'haproxy.cfg'
        conf.write_text(text)
        with open(self.lab.folder / 'haproxy.log', 'wb') as log:
            self.process = subprocess.Popen(['haproxy', '-db', '-f', conf], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        kinetoscope.until(self.answers, 'haproxy answers for a node', 60)
        return self

    def answers(self):
        try:
            return self.get('/readyz').status == 200
        except (OSError, http.client.HTTPException):
            assert self.process.poll() is None, (self.lab.folder / 'haproxy.log').read_text()
            return False

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


class Lab(contextlib.ExitStack):
    """`nodes`, `balancer`, `database`, `s3_port`; ends with its block. `older`: the program of the last node."""

    def __init__(self, count, *options, has_links=True, s3_port=None, older=None):
        super().__init__()
        self.has_links, self.s3_port, self.older = has_links, s3_port, older
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='ks-lab-', dir='/tmp'))
        self.callback(shutil.rmtree, self.folder, True)
        self.prefix, self.s3, self.s3_name = 'lab-%s' % uuid.uuid4(), None, 'an S3 server that ran'
        with contextlib.ExitStack() as begun:
            begun.push(self)
            self.start(count, options)
            begun.pop_all()

    def start(self, count, options):
        self.s3_port = self.s3_port or int(os.environ.get('KINETOSCOPE_LAB_S3') or self.start_s3())
        self.database = self.enter_context(Postgres(self.folder / 'server'))
        self.nodes = [Node(self, 'n%d' % number, *options) for number in range(count)]
        if self.older:
            self.nodes[-1].command[0] = self.older
        for node in self.nodes:
            self.enter_context(node)
        self.balancer = self.enter_context(Balancer(self))

    def start_s3(self):
        if s3.Ceph.why_not():
            self.s3, self.s3_name = s3.Peer(), 'a peer in memory, as there is %s' % s3.Ceph.why_not()
        else:
            self.s3, self.s3_name = s3.Ceph(self.folder / 'ceph'), 'Ceph'
        self.callback(self.s3.stop)
        if isinstance(self.s3, s3.Ceph):
            self.s3.start()
        return self.s3.port

    def sql(self, text):
        """Rows, each a tuple of strings."""
        done = subprocess.run(['psql', '-XAtq', '-F', '\t', '-v', 'ON_ERROR_STOP=1', self.database.url, '-c', text], check=True, stdout=subprocess.PIPE)
        return [tuple(line.split('\t')) for line in done.stdout.decode().splitlines()]

    def keys(self):
        """Of the objects, as the program names them."""
        return sorted(key[len(self.prefix) + 1:] for key in s3.keys(self.s3_port, self.prefix + '/'))


def serve(arguments):
    """What the program answers to `serve`: its address, and an end on SIGTERM."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--listen')
    parser.add_argument('--data-dir')
    own, options = parser.parse_known_args(arguments)
    if own.data_dir and any(pathlib.Path(own.data_dir).glob('kinetoscope.db*')):
        os.execv(kinetoscope.PROGRAM, [kinetoscope.PROGRAM, 'serve', *arguments])  # there is a catalogue already

    ends = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ends.set())
    with Lab(2, *options, has_links=False) as lab:
        print('two nodes on %s/' % lab.balancer.url, flush=True)
        ends.wait()


def main():
    if sys.argv[1:2] == ['serve']:
        return serve(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--nodes', type=int, default=2)
    parser.add_argument('run', choices=['run'])
    parser.add_argument('command', nargs=argparse.REMAINDER)
    asked = parser.parse_args()
    with Lab(asked.nodes) as lab:
        return subprocess.run([word.replace('{url}', lab.balancer.url) for word in asked.command], check=False).returncode


if __name__ == '__main__':
    sys.exit(main())
