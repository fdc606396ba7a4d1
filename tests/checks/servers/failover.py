#!/usr/bin/env python3
"""Two servers on a PostgreSQL that fails over (pg_auto_failover) while traces come: nothing acknowledged is lost, nothing is there
twice, and both go on without a restart. Alone: KINETOSCOPE_BIN=... """
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import kinetoscope  # noqa: E402: beside this folder
from servers.cluster import Node, trace  # noqa: E402
from servers.pair import Pair  # noqa: E402


ROUNDS = 0


def kill(_, primary):
    primary.kill()
    primary.start()


def pause(_, primary):
    """Longer than the monitor waits: the other one takes its place."""
    family = primary.family()
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for process in family:
            try:
                os.kill(process, number)
            except OSError:
                pass
        time.sleep(15 if number == signal.SIGSTOP else 0)


WAYS = {'kill': kill, 'pause': pause, 'switch': lambda pair, _: pair.switch(),
        'restart': lambda _, primary: primary.signal_server(signal.SIGINT)}  # its agent starts it again


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='ks-failover-', dir='/tmp'))
        self.addCleanup(shutil.rmtree, self.folder, True)
        (self.folder / 'objects').mkdir()
        self.database = self.enterContext(Pair(self.folder / 'pair'))

    def test_a_primary_that_goes(self):
        """--rounds N: in turn it is killed, stands still, changes places in order, and is restarted."""
        nodes = [self.enterContext(Node(self, 'n%d' % number)) for number in range(2)]
        self.assertEqual([node.name for node in nodes if 'no synchronous standby' in node.log()], [])
        if not ROUNDS:
            self.go_through(nodes, 'run', lambda primary: primary.kill())
        for number in range(ROUNDS):
            name = list(WAYS)[number % len(WAYS)]
            print('%d: %s' % (number, name), flush=True)
            self.go_through(nodes, 'run%d' % number, lambda primary, name=name: WAYS[name](self.database, primary))
            self.database.await_pair()

    def go_through(self, nodes, run, happens):
        acknowledged, statuses, stop = [[], []], set(), threading.Event()

        def send(client):
            number = 0
            while not stop.is_set():
                name, number = 'c%d-%d.json' % (client, number), number + 1
                status = nodes[client].put(run, name, trace(run + name)).status
                statuses.add(status)
                if status in (200, 201, 202):
                    acknowledged[client].append(name)
                time.sleep(0.05)
        clients = [threading.Thread(target=send, args=(client,)) for client in range(2)]
        for client in clients:
            client.start()
        try:
            kinetoscope.until(lambda: all(acknowledged), 'uploads come')
            happens(self.database.primary()[0])
            began, before = time.monotonic(), [len(names) for names in acknowledged]
            kinetoscope.until(lambda: all(len(names) > count + 2 for names, count in zip(acknowledged, before)), 'both go on', 120)
            print('writes on both after %.1f s' % (time.monotonic() - began))
        except AssertionError:
            print('answers: %s\nthe monitor:\n%s' % (statuses, self.database.story()))
            for node in nodes:
                print('%s, %d acknowledged:\n%s' % (node.name, len(acknowledged[nodes.index(node)]), node.log()[-3000:]))
            raise
        finally:
            stop.set()
            for client in clients:
                client.join()
        self.assertLessEqual(statuses, {200, 201, 202, 503})
        for node in nodes:
            names = node.names(run)
            self.assertEqual(len(names), len(set(names)))
            self.assertEqual(set(sum(acknowledged, [])) - set(names), set())


if __name__ == '__main__':
    reason = Pair.why_not()
    if reason:
        print('skipped: %s' % reason)
        sys.exit(kinetoscope.SKIPPED)
    if '--rounds' in sys.argv:
        at = sys.argv.index('--rounds')
        ROUNDS = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    unittest.main(verbosity=2)
