#!/usr/bin/env python3
"""Two servers on a PostgreSQL that fails over (pg_auto_failover) while traces come: nothing acknowledged is lost, nothing is there
twice, and both go on without a restart. Alone: KINETOSCOPE_BIN=... """
import pathlib
import shutil
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import kinetoscope  # noqa: E402: beside this folder
from servers.cluster import Node, trace  # noqa: E402
from servers.pair import Pair  # noqa: E402


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='ks-failover-', dir='/tmp'))
        self.addCleanup(shutil.rmtree, self.folder, True)
        (self.folder / 'objects').mkdir()
        self.database = self.enterContext(Pair(self.folder / 'pair'))

    def test_a_primary_that_goes(self):
        nodes = [self.enterContext(Node(self, 'n%d' % number)) for number in range(2)]
        acknowledged, statuses, stop = [[], []], set(), threading.Event()

        def send(client):
            number = 0
            while not stop.is_set():
                name, number = 'c%d-%d.json' % (client, number), number + 1
                status = nodes[client].put('run', name, trace(name)).status
                statuses.add(status)
                if status in (200, 201, 202):
                    acknowledged[client].append(name)
                time.sleep(0.05)
        clients = [threading.Thread(target=send, args=(client,)) for client in range(2)]
        for client in clients:
            client.start()
        try:
            kinetoscope.until(lambda: all(acknowledged), 'uploads come')
            self.database.primary()[0].kill()
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
            names = node.names('run')
            self.assertEqual(len(names), len(set(names)))
            self.assertEqual(set(sum(acknowledged, [])) - set(names), set())


if __name__ == '__main__':
    reason = Pair.why_not()
    if reason:
        print('skipped: %s' % reason)
        sys.exit(kinetoscope.SKIPPED)
    unittest.main(verbosity=2)
