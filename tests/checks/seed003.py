#!/usr/bin/env python3
"""The reference's ten documents of two accelerators, taken in as a file and given back by the plugin's routes."""
import json
import unittest

import kinetoscope

SEED = 'seeds/003_e0954df1c8df0a17.txt'
RUN = 'seed 003'


def question(document):
    """(route, params) whose answer a document is."""
    if 'steps' in document:
        return 'overview', {'view': 'Overview'}
    if 'device_total_time' in document:
        return 'operation', {'view': 'Operator', 'group_by': 'Operation'}
    if 'total' in document:
        return 'kernel', {'view': 'Kernel', 'group_by': 'Kernel'}
    if document['metadata']['sort'] == 'Total Duration (us)':
        return 'kernel/table', {'view': 'Kernel', 'group_by': 'Kernel'}
    return 'operation/table', {'view': 'Operator', 'group_by': 'Operation'}


class Seed003(unittest.TestCase):
    def test_ten_documents(self):
        content = (kinetoscope.REFERENCE / SEED).read_bytes()
        documents = [json.loads(line) for line in content.splitlines() if line.strip()]
        self.assertEqual(len(documents), 10)
        with kinetoscope.Server() as server:
            traces = kinetoscope.uploaded(server.put(RUN, 'seed003.txt', content))
            workers = server.plugin('workers', run=RUN, view='Overview').json()
            self.assertEqual(sorted(t['worker'] for t in traces), workers)
            self.assertEqual(len(workers), 2)
            for index, document in enumerate(documents):
                worker = workers[index // 5]
                span = server.plugin('spans', run=RUN, worker=worker).json()[0]
                route, params = question(document)
                with self.subTest(document=index, worker=worker, route=route):
                    answer = server.plugin(route, run=RUN, worker=worker, span=span, **params)
                    self.assertEqual(answer.status, 200, answer.body[:300])
                    self.assertTrue(answer.json() == document, 'the answer differs from the document')
            for trace in traces:
                self.assertEqual(server.get('/api/v1/traces/%d/raw' % trace['id']).body, content)


kinetoscope.need_reference(SEED)
kinetoscope.main()
