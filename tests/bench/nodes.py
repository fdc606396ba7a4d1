#!/usr/bin/env python3
"""Nodes behind haproxy on PostgreSQL and S3 (tests/checks/servers/lab.py), beside one server with a directory.

usage: nodes.py share [--nodes 1,2,4] [--cores 0.4] [--seconds 40] [--trace FILE.gz]    uploads a second of so many nodes, each held to a share of a
                                                            core (cgroups, as root), and processor time of all that takes part
       nodes.py answer [--late-ms 20] [--megabytes 10] [--uploads 15]    until the 201, with answers of S3 that are late, beside a directory
Environment: KINETOSCOPE_BIN, KINETOSCOPE_LAB_S3 (see lab.py).
"""
import argparse
import contextlib
import gzip
import os
import pathlib
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'checks'))
import kinetoscope  # noqa: E402: beside this folder
from servers import lab  # noqa: E402

GROUPS = pathlib.Path('/sys/fs/cgroup/cpu')
PERIOD_US = 20000
UPLOADERS_A_NODE = 6
WARM_S = 5


# ---- processor time ----

def processes():
    """Process -> (its parent, name, seconds of it and of children that ended)."""
    found = {}
    for path in pathlib.Path('/proc').glob('[0-9]*/stat'):
        with contextlib.suppress(OSError):
            name, rest = path.read_text().split('(', 1)[1].rsplit(') ', 1)
            field = rest.split()
            found[int(path.parent.name)] = int(field[1]), name, sum(int(ticks) for ticks in field[11:15]) / os.sysconf('SC_CLK_TCK')
    return found


def seconds(cluster):
    """Processor time by part."""
    table = processes()
    postmaster = int((pathlib.Path(cluster.database.data) / 'postmaster.pid').read_text().split()[0])
    parts = {'nodes': 0.0, 'PostgreSQL': 0.0, 'S3': 0.0, 'haproxy': 0.0, 'uploaders': 0.0}
    for process, (parent, name, spent) in table.items():
        part = ('nodes' if process in [node.process.pid for node in cluster.nodes] else 'PostgreSQL' if postmaster in (process, parent) else
                'haproxy' if process == cluster.balancer.process.pid else 'uploaders' if process == os.getpid() else
                'S3' if name in ('radosgw', 'ceph-osd', 'ceph-mon') else None)
        if part:
            parts[part] += spent
    return parts


@contextlib.contextmanager
def held(process, name, cores):
    """The process has `cores` of a core."""
    group = GROUPS / ('kinetoscope-bench-' + name)
    group.mkdir(exist_ok=True)
    (group / 'cpu.cfs_period_us').write_text(str(PERIOD_US))
    (group / 'cpu.cfs_quota_us').write_text(str(int(PERIOD_US * cores)))
    (group / 'cgroup.procs').write_text(str(process))
    try:
        yield
    finally:
        (GROUPS / 'cgroup.procs').write_text(str(process))
        group.rmdir()


# ---- uploads ----

class Uploaders:
    """Each sends the next file when the last one was answered."""

    def __init__(self, server, count, content):
        self.server, self.content, self.stop, self.done, self.refused = server, content, threading.Event(), 0, 0
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.run, args=(number,)) for number in range(count)]
        for thread in self.threads:
            thread.start()

    def run(self, number):
        serial = 0
        while not self.stop.is_set():
            serial += 1
            # Another member of the gzip file: bytes of their own, the same text.
            body = self.content + gzip.compress(b'\n', mtime=number * 1000000 + serial)
            status = self.server.put('run%d' % number, '%d.json.gz' % serial, body).status
            with self.lock:
                self.done += status == 201
                self.refused += status != 201

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join()


def share(asked):
    content, first = pathlib.Path(asked.trace).read_bytes(), None
    for count in asked.nodes:
        with lab.Lab(count, '--ingest-workers', '2', '--max-queued-jobs', '0', has_links=False) as cluster, contextlib.ExitStack() as groups:
            for node in cluster.nodes:
                groups.enter_context(held(node.process.pid, node.name, asked.cores))
            uploaders = Uploaders(cluster.balancer, UPLOADERS_A_NODE * count, content)
            time.sleep(WARM_S)
            done, began, before = uploaders.done, time.monotonic(), seconds(cluster)
            time.sleep(asked.seconds)
            took = time.monotonic() - began
            a_second, spent = (uploaders.done - done) / took, {part: now - before[part] for part, now in seconds(cluster).items()}
            uploaders.end()
            first = first or a_second
            everything = sum(spent[part] for part in ('nodes', 'PostgreSQL', 'S3', 'haproxy'))
            print('%d nodes of %.2f cores: %.1f uploads/s (%.2f of one), %d refused; PostgreSQL %.1f %% of the processor time; cores: %s; load %.1f' % (
                count, asked.cores, a_second, a_second / first, uploaders.refused, 100 * spent['PostgreSQL'] / everything,
                ', '.join('%s %.2f' % (part, spent[part] / took) for part in spent), os.getloadavg()[0]), flush=True)


def answer(asked):
    content = kinetoscope.large_trace(asked.megabytes << 20)
    with kinetoscope.Server() as embedded, lab.Lab(1) as cluster:
        node, times = cluster.nodes[0], {'a directory': [], 'PostgreSQL and S3': [], 'the same, late': []}
        for number in range(asked.uploads):
            for what, server, late_s in (('a directory', embedded, 0), ('PostgreSQL and S3', node, 0), ('the same, late', node, asked.late_ms / 1000)):
                node.objects.delay_s = late_s
                body, began = content + b' ' * (1 + number + (len(times[what]) + 1000 if late_s else 0)), time.monotonic()
                kinetoscope.uploaded(server.put('run', '%s %d.json' % (what, number), body))
                times[what].append(1000 * (time.monotonic() - began))
        least, middle = {what: min(all_ms) for what, all_ms in times.items()}, {what: statistics.median(all_ms) for what, all_ms in times.items()}
        for what in times:
            print('%s: the 201 of %d MB after %.0f ms (least %.0f), %+.0f (%+.0f) beside a directory' % (
                what, asked.megabytes, middle[what], least[what], middle[what] - middle['a directory'], least[what] - least['a directory']))
        print('answers of S3 %d ms late; load %.1f' % (asked.late_ms, os.getloadavg()[0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('what', choices=['share', 'answer'])
    parser.add_argument('--nodes', type=lambda text: [int(word) for word in text.split(',')], default=[1, 2, 4])
    parser.add_argument('--cores', type=float, default=0.4)
    parser.add_argument('--seconds', type=int, default=40)
    parser.add_argument('--trace', default=kinetoscope.REFERENCE / 'data/real/device_time__h100_qwen/trace.json.gz')
    parser.add_argument('--late-ms', type=int, default=20)
    parser.add_argument('--megabytes', type=int, default=10)
    parser.add_argument('--uploads', type=int, default=15)
    asked = parser.parse_args()
    reason = lab.why_not()
    if reason:
        print('skipped: %s' % reason)
        return kinetoscope.SKIPPED
    return share(asked) if asked.what == 'share' else answer(asked)


if __name__ == '__main__':
    sys.exit(main())
