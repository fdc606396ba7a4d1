#!/usr/bin/env python3
"""The catalogue in PostgreSQL (--database-url): the store's unit tests on it, and a server whose database is killed while
traces come. What was acknowledged is there afterwards; what the database does not have is not acknowledged.
Alone: KINETOSCOPE_BIN=... """
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import kinetoscope  # noqa: E402: beside this folder
from servers.link import CommitLink  # noqa: E402
from servers.postgres import Postgres  # noqa: E402

TRACES = 2500  # of one worker
UNIT = ('access', 'catalogue', 'comparisons', 'cycles', 'events_events', 'history_cache', 'history_webhooks', 'leases', 'notes', 'objects_blob_objects',
        'purge', 'roundtrip', 'runs_run_names', 'schema', 'schema_steps', 'tables', 'timeline')
FIXTURE = json.loads(kinetoscope.fixture_json('cpu_only'))


def check_other_databases():
    said = kinetoscope.run_program('serve', '--listen', '127.0.0.1:0', '--data-dir', '/dev/null/none', '--database-url', 'mysql://x').stderr
    assert b'postgresql://USER@HOST/NAME' in said, said


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='ks-pg-', dir='/tmp'))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.data_dir = str(self.folder / 'data')

    def database(self):
        return Postgres(self.folder / 'server')

    def serve(self, database, data_dir=None, url=None):
        return kinetoscope.Server('--database-url', url or database.url, data_dir=data_dir or self.data_dir)

    def trace(self, number):
        return json.dumps({**FIXTURE, 'number': number}).encode()

    def test_unit_tests_of_the_store(self):
        folder = pathlib.Path(kinetoscope.PROGRAM).parent / 'tests'
        programs = [folder / ('unit_ingest_store_' + name) for name in UNIT]
        if not programs[0].exists():
            self.skipTest('the unit tests are not built')
        with self.database() as database:
            for program in programs:
                done = subprocess.run([str(program)], env={**os.environ, 'KINETOSCOPE_TEST_DATABASE_URL': database.url},
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=kinetoscope.HANG_S)
                self.assertEqual(done.returncode, 0, '%s:\n%s' % (program.name, done.stdout.decode()[-3000:]))

    def test_a_database_without_a_standby_is_told_of(self):
        """Once, at the start; failover.py has one with a standby."""
        with self.database() as database, self.serve(database) as server:
            self.assertEqual(server.log().count('the database has no synchronous standby'), 1)

    def test_a_database_behind_tls(self):
        """As deploy/cluster says: the server has to show a certificate of an authority that is known here."""
        examples = {name: re.search(r'DATABASE_URL[:=] ?postgresql://\S+\?(\S+)sslrootcert=(/etc/ssl/certs/\S+)', (kinetoscope.ROOT / 'deploy/cluster' / name).read_text())
                    for name in ('environment', 'kubernetes.yaml')}
        self.assertEqual({name: found and found[1] for name, found in examples.items()}, {name: 'sslmode=verify-full&' for name in examples})
        with self.database() as database:
            certificate, key = pathlib.Path(database.data, 'server.crt'), pathlib.Path(database.data, 'server.key')
            for common_name in ('another', 'localhost'):
                subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=' + common_name, '-addext', 'subjectAltName=DNS:' + common_name,
                                '-keyout', key, '-out', self.folder / (common_name + '.pem')], check=True, capture_output=True)
            shutil.copy(self.folder / 'localhost.pem', certificate)
            if database.user:
                shutil.chown(key, database.user)
            subprocess.run(['psql', '-q', database.url, '-c', 'ALTER SYSTEM SET ssl = on', '-c', 'SELECT pg_reload_conf()'], check=True, stdout=subprocess.DEVNULL)
            url = database.url.replace('127.0.0.1', 'localhost') + '?sslmode=verify-full&sslrootcert=%s/' % self.folder
            kinetoscope.until(lambda: subprocess.run(['psql', url + 'localhost.pem', '-c', ''], capture_output=True, check=False).returncode == 0, 'it speaks TLS', 20)
            with self.serve(database, url=url + 'localhost.pem') as server:
                self.assertEqual(server.put('run', 'a.json', self.trace(1)).status, 201)
                used = "SELECT count(*) FILTER (WHERE ssl), count(*) FILTER (WHERE NOT ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'kinetoscope'"
                with_tls, without = subprocess.run(['psql', '-Atq', database.url, '-c', used], check=True, stdout=subprocess.PIPE).stdout.decode().split('|')
                self.assertEqual((int(with_tls) > 1, int(without)), (True, 0))
            said = kinetoscope.run_program('token', 'list', '--data-dir', self.data_dir, '--database-url', url + 'another.pem')
            self.assertEqual((said.returncode != 0, b'certificate verify failed' in said.stderr), (True, True), said.stderr)

    def test_a_killed_database_loses_nothing(self):
        with self.database() as database, self.serve(database) as server:
            acknowledged, refused, stop = [], [], threading.Event()

            def send():
                for number in range(10000):
                    if stop.is_set():
                        return
                    name = 'n%d.json' % number
                    status = server.put('run', name, self.trace(number)).status
                    (acknowledged if status < 300 else refused).append((name, status))
                    if status >= 300:
                        time.sleep(0.2)
            sender = threading.Thread(target=send)
            sender.start()
            time.sleep(2)
            database.kill()
            time.sleep(1)
            database.start()
            before = len(acknowledged)
            try:
                kinetoscope.until(lambda: len(acknowledged) > before + 5, 'uploads are acknowledged again', 30)
            finally:
                stop.set()
                sender.join()
            self.assertEqual({status for _, status in refused} - {503}, set())
            # An upload that was refused may be there all the same.
            names = {row['file_name'] for row in server.get('/api/v1/traces?limit=1000').json()['traces']}
            self.assertEqual([name for name, _ in acknowledged if name not in names], [])
        with database, self.serve(database) as server:
            again = {row['file_name'] for row in server.get('/api/v1/traces?limit=1000').json()['traces']}
            self.assertEqual(names - again, set())

    def test_all_connections_follow_to_a_new_primary(self):
        """The first that reaches it must not make the others too old for it."""
        with self.database() as database, self.serve(database) as server:
            for number in range(4):
                self.assertEqual(server.put('run', 'before%d.json' % number, self.trace(number)).status, 201)
                database.promote()
                kinetoscope.until(lambda: server.get('/readyz').status == 200, 'the server goes on', 30)
                lines = len(server.log().splitlines())
                time.sleep(1)
                self.assertEqual(server.get('/api/v1/traces').status, 200)
                kinetoscope.until(lambda number=number: server.put('run', 'after%d.json' % number, self.trace(10 + number)).status in (200, 201), 'uploads are taken', 30)
                self.assertNotIn('was the primary before', '\n'.join(server.log().splitlines()[lines:]))

    def test_a_commit_that_is_lost_with_its_connection(self):
        """Whether it came through is looked up, neither taken for granted nor for lost: by each transaction of an upload."""
        with self.database() as database:
            link = CommitLink(database.port)
            self.addCleanup(link.stop)
            with self.serve(database, url=database.url.replace(str(database.port), str(link.port))) as server:
                self.assertEqual(server.put('run', 'first.json', self.trace(-1)).status, 201)
                statuses = {'answer': [], 'commit': []}
                for number in range(4 * 2):
                    for what, seen in statuses.items():
                        name = '%s%d.json' % (what, number)
                        link.lose(what, number % 4)
                        seen.append(server.put('run', name, self.trace(name)).status)
                        kinetoscope.until(lambda: link.lost, 'a commit is lost', 30)
                        if seen[-1] != 201:
                            kinetoscope.until(lambda name=name: server.put('run', name, self.trace(name)).status in (200, 201), 'it is there', 30)
                        names = [row['file_name'] for row in server.get('/api/v1/traces?limit=1000').json()['traces']]
                        self.assertEqual(names.count(name), 1, (name, seen, server.log()[-2000:]))
                print('answers lost: %s; commits lost: %s' % (statuses['answer'], statuses['commit']))
                self.assertEqual(set(statuses['answer']), {201}, server.log()[-2000:])
                self.assertLessEqual(set(statuses['commit']), {201, 503})
                self.assertIn(503, statuses['commit'])

    def test_reads_while_the_database_is_away(self):
        """What was read lately is answered, and says so; the rest, and changes, are refused; known tokens pass, others are neither right nor wrong."""
        content, base = kinetoscope.fixture_json('cuda_training'), '/api/v1/traces/1/'
        with self.database() as database:
            server = self.enterContext(kinetoscope.Server('--database-url', database.url, '--objects-url', 'file://%s/objects' % self.folder, data_dir=self.data_dir))
            known = {'Authorization': 'Bearer ' + server.ask('POST', '/api/v1/tokens', b'{"name": "ci", "role": "admin"}').json()['token']}

            def ask(path, method='GET', body=None, headers=known):
                began = time.monotonic()
                answer = server.ask(method, path, body, headers)
                return answer, time.monotonic() - began
            self.assertEqual(ask('/api/v1/runs/run/traces/a.json', 'PUT', content)[0].status, 201)
            # Another order or part of a table needs no more of the catalogue.
            warm, also = ['/api/v1/runs', '/api/v1/traces', base + 'overview', base + 'operators', base + 'timeline'], [base + 'operators?sort=name', base + 'operators?q=aten']
            before = [ask(path)[0] for path in warm]
            self.assertEqual([(answer.status, 'Age' in answer.headers) for answer in before], [(200, False)] * 5)
            database.kill()
            change, paths = [], warm + also
            sender = threading.Thread(target=lambda: change.append(ask('/api/v1/runs/run', 'PATCH', b'{"note": "x"}')))
            sender.start()
            first, first_s = ask(warm[0])
            got = [ask(path) for path in paths]
            self.assertEqual([(path, answer.status) for path, (answer, _) in zip(paths, got) if answer.status != 200], [])
            self.assertEqual([answer.body for answer, _ in got[:5]], [answer.body for answer in before])
            for answer in (first, *[answer for answer, _ in got]):
                self.assertGreater(int(answer.headers['Age']), 0)
                self.assertEqual((answer.headers['Cache-Status'], answer.headers['Cache-Control']), ('kinetoscope; hit; detail=database-away', 'no-store'))
            unknown = [ask(base[:-2] + '99/overview'), ask('/readyz'), ask('/api/v1/runs', headers={'Authorization': 'Bearer kt_unknown'}),
                       ask('/api/v1/runs', headers={'Cookie': 'kinetoscope_session=kss_unknown'}), ask('/api/v1/tokens')]
            self.assertEqual([answer.status for answer, _ in unknown], [503] * 5)
            self.assertTrue(all('Retry-After' in answer.headers for answer, _ in unknown))
            metrics, metrics_s = ask('/metrics')
            self.assertEqual((metrics.status, b'\nkinetoscope_database_up 0\n' in metrics.body, b'process_open_fds' in metrics.body, b'kinetoscope_runs ' in metrics.body),
                             (200, True, True, False))
            self.assertLess(metrics_s, 3)
            sender.join()
            (refused, refused_s), (late, late_s) = change[0], ask('/api/v1/runs/run', 'PATCH', b'{"note": "x"}')
            print('first read %.1f s, others at most %.2f s; change refused after %.1f s, the next after %.2f s' % (
                first_s, max(seconds for _, seconds in got), refused_s, late_s))
            self.assertEqual((refused.status, late.status), (503, 503))
            self.assertGreater(refused_s, 9)
            self.assertLess(max(seconds for _, seconds in got), first_s)
            self.assertLess(late_s, refused_s / 2)
            database.start()
            kinetoscope.until(lambda: 'Age' not in ask(warm[0])[0].headers, 'the present', 30)
            self.assertEqual(ask('/api/v1/runs/run/traces/b.json', 'PUT', content + b' ')[0].status, 201)
            self.assertEqual(len(ask('/api/v1/traces')[0].json()['traces']), 2)
            metrics = ask('/metrics')[0].body
            self.assertTrue(b'\nkinetoscope_database_up 1\n' in metrics and b'\nkinetoscope_objects_up 1\n' in metrics and b'\nkinetoscope_runs 1\n' in metrics, metrics)
            self.assertNotIn('until the objects answer', server.log())

    def test_an_upload_whose_job_cannot_end(self):
        """It is kept: its client hears so, and does not wait for as long as the database is away."""
        large = json.dumps({**FIXTURE, 'traceEvents': FIXTURE['traceEvents'] * 4000}).encode()
        with self.database() as database:
            link = CommitLink(database.port)
            self.addCleanup(link.stop)
            with self.serve(database, url=database.url.replace(str(database.port), str(link.port))) as server:
                answers = []
                sender = threading.Thread(target=lambda: answers.append(server.put('run', 'a.json', large)))
                sender.start()
                arrived = ['psql', '-Atq', database.url, '-c', "SELECT count(*) FROM job WHERE received_at_s > 0 AND state <> 'done'"]
                kinetoscope.until(lambda: subprocess.run(arrived, stdout=subprocess.PIPE, check=True).stdout == b'1\n', 'the job is there')
                link.cut()
                began = time.monotonic()
                sender.join(60)
                print('answered %.1f s after the database went' % (time.monotonic() - began))
                self.assertEqual([answer.status for answer in answers], [202], server.log()[-2000:])
                job = '/api/v1/jobs/%d' % answers[0].json()['id']
                link.mend()
                kinetoscope.until(lambda: server.get(job).status == 200 and server.get(job).json()['state'] == 'done', 'the job goes on', 60)

    def test_an_upload_takes_few_statements(self):
        """Each costs a turn to the database and back, and processor time there."""
        content, objects = kinetoscope.fixture_json('cuda_training'), 'file://%s/objects' % self.folder
        with self.database() as database, kinetoscope.Server('--database-url', database.url, '--objects-url', objects, data_dir=self.data_dir) as server:
            self.assertEqual(server.put('run', 'a.json', content).status, 201)
            for setting in ("ALTER SYSTEM SET log_statement = 'all'", 'SELECT pg_reload_conf()'):
                subprocess.run(['psql', '-q', database.url, '-c', setting], check=True, stdout=subprocess.DEVNULL)
            log = database.folder / 'log'
            kinetoscope.until(lambda: 'parameter "log_statement" changed' in log.read_text(), 'statements are counted')
            size = log.stat().st_size
            self.assertEqual(server.put('run', 'b.json', content + b' ').status, 201)
            said = log.read_bytes()[size:].decode()
        executed = said.count('LOG:  execute ')
        writes = said.count('INSERT INTO commit_mark')
        print('%d statements and %d transactions an upload, of which %d write' % (executed, said.count('statement: COMMIT'), writes))
        self.assertLess(executed, 80, said[-3000:])
        self.assertLessEqual(writes, 8, said[-3000:])  # 5, and what its server does beside it
        # That the object is there, and that its job has arrived, is one transaction.
        between = said[said.index("UPDATE object SET state = 'live'"):said.index('UPDATE job SET received_at_s')]
        self.assertNotIn('COMMIT', between)

    def test_a_trace_of_many_before_the_first_statistics(self):
        """Its number among those of its worker: no plan may look at each of them for each of them."""
        with self.database() as database, self.serve(database) as server:
            self.assertEqual(server.put('run', 'a.json', self.trace(1)).status, 201)

            def sql(text):
                return subprocess.run(['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', database.url, '-c', text], check=True, stdout=subprocess.PIPE).stdout.decode().strip()

            def columns(table, own):
                return sql("SELECT string_agg(column_name, ', ') FROM information_schema.columns WHERE table_name = '%s' AND column_name NOT IN ('id', '%s')" % (table, own))
            upload, traced = columns('upload', 'file_name'), columns('trace', 'upload_id').split(', ')
            sql('ALTER SYSTEM SET autovacuum = off')
            sql('SELECT pg_reload_conf()')
            sql("INSERT INTO upload (file_name, %s) SELECT 'c' || n, %s FROM upload, generate_series(1, %d) AS k (n)" % (upload, upload, TRACES))
            sql('INSERT INTO trace (upload_id, %s) SELECT u.id, %s FROM upload AS u, trace AS t WHERE t.id = 1 AND u.id > 1' % (', '.join(traced), ', '.join('t.' + name for name in traced)))
            looked = "SELECT sum(seq_tup_read + idx_tup_fetch)::bigint FROM pg_stat_user_tables WHERE relname IN ('trace', 'upload')"
            sql("SELECT pg_stat_reset_single_table_counters(oid) FROM pg_class WHERE relname IN ('trace', 'upload')")
            asked = 0
            while int(sql(looked)) < 4 * TRACES:  # the counts come a while after the answer
                self.assertEqual(server.get('/api/v1/traces/2000').status, 200)
                asked += 1
                time.sleep(0.5)
            self.assertLess(int(sql(looked)) // asked, TRACES * TRACES)

    def test_sums_are_kept_in_one_statement(self):
        """Of a run whose figures change, and in none where they do not."""
        with self.database() as database:
            with self.serve(database) as server:
                self.assertEqual(server.put('run', 'a.json', self.trace(1)).status, 201)
            psql = ['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', database.url]
            subprocess.run([*psql, '-c', 'CREATE TABLE called (t bigint, b bigint)', '-c', 'CREATE OR REPLACE FUNCTION keep_sum(k text, p text, i bigint, t bigint, b bigint) RETURNS void'
                            ' LANGUAGE sql AS $$ INSERT INTO called VALUES (t, b) $$', '-c', 'UPDATE run SET newest_upload_id = newest_upload_id + 1',
                            '-c', 'UPDATE run SET trace_count = trace_count + 2, size_bytes = size_bytes - 3', '-c', "UPDATE object SET state = 'live'"], check=True)
            self.assertEqual(subprocess.run([*psql, '-c', 'TABLE called'], check=True, stdout=subprocess.PIPE).stdout, b'2|-3\n')

    def test_an_upgrade_waits_for_an_open_write(self):
        """A server of the version before is in the midst of one that comes to the tables in another order: neither fails."""
        with self.database() as database:
            with self.serve(database) as server:
                self.assertEqual(server.put('run', 'a.json', self.trace(1)).status, 201)
            psql = ['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', database.url]
            drops = ' '.join('DROP FUNCTION %s_sums CASCADE;' % table for table in ('run', 'object', 'results_file'))
            subprocess.run([*psql, '-c', drops + 'DROP FUNCTION keep_sum; DROP SEQUENCE kept_sum_part; DROP TABLE kept_sum; DROP FUNCTION values_follow_trace CASCADE;'
                            ' ALTER TABLE series_value ADD FOREIGN KEY (metric_id) REFERENCES series_metric (id), ADD FOREIGN KEY (trace_id) REFERENCES trace (id)'
                            ' ON UPDATE CASCADE ON DELETE CASCADE; UPDATE kinetoscope SET version = 37;'
                            ' DELETE FROM schema_step WHERE version > 37'], check=True)
            with subprocess.Popen(psql, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as old:
                old.stdin.write(b"BEGIN; UPDATE run SET note = 'old'; SELECT 'begun';\n")
                old.stdin.flush()
                self.assertEqual(old.stdout.readline(), b'begun\n')
                ready = []
                starter = threading.Thread(target=lambda: ready.append(self.enterContext(self.serve(database))))
                starter.start()
                waits = [*psql, '-c', "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%LOCK TABLE object%' AND pid <> pg_backend_pid()"]
                kinetoscope.until(lambda: subprocess.run(waits, check=True, stdout=subprocess.PIPE).stdout == b'1\n', 'the step is there', 30)
                time.sleep(0.5)
                said = old.communicate(b"UPDATE object SET since_s = since_s; COMMIT; SELECT 'done';\n", timeout=60)[0]
                self.assertEqual((said, old.returncode), (b'done\n', 0))
                starter.join()
            self.assertEqual(ready[0].put('run', 'b.json', self.trace(2)).status, 201)
            self.assertEqual(subprocess.run([*psql, '-c', "SELECT sum(items), sum(traces) FROM kept_sum WHERE kind = 'run'"], check=True, stdout=subprocess.PIPE).stdout, b'1|2\n')

    def test_names_of_metrics_stay_while_values_come(self):
        """A server that starts removes names without values, but not while another may be about to store some."""
        with self.database() as database:
            with self.serve(database):
                pass
            psql = ['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', database.url]

            def names():
                return subprocess.run([*psql, '-c', 'SELECT count(*) FROM series_metric'], check=True, stdout=subprocess.PIPE).stdout
            subprocess.run([*psql, '-c', "INSERT INTO series_metric (name) VALUES ('lone')"], check=True)
            with subprocess.Popen(psql, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
                writer.stdin.write(b"BEGIN; INSERT INTO series_metric (name) SELECT 'lone' WHERE false; SELECT 'begun';\n")
                writer.stdin.flush()
                self.assertEqual(writer.stdout.readline(), b'begun\n')
                with self.serve(database):
                    self.assertEqual(names(), b'1\n')
                writer.communicate(b'COMMIT;\n', timeout=60)
            with self.serve(database):
                self.assertEqual(names(), b'0\n')

    def test_a_transaction_that_does_not_begin_leaves_none_open(self):
        """A begin is two statements, of which the second may fail."""
        with self.database() as database, self.serve(database) as server:
            self.assertEqual(server.put('run', 'a.json', self.trace(1)).status, 201)
            for change, succeeds in (('ADD CONSTRAINT never CHECK (mark < 0) NOT VALID', False), ('DROP CONSTRAINT never', True)):
                subprocess.run(['psql', '-q', database.url, '-c', 'ALTER TABLE commit_mark ' + change], check=True)
                self.assertEqual(server.put('run', 'b.json', self.trace(2)).status == 201, succeeds, change)

    def test_a_search_of_many_runs(self):
        """Few are told exactly; of many no more are counted than the page needs, and who pages by the total gets all."""
        columns = 'note, tags, project, pinned, uploaded_at_s, trace_count, worker_count, size_bytes, device_types, views, trace_id, step_times_ns'
        numbers = {'postgres': 'generate_series(1, 2500) AS k (n)', 'embedded': '(WITH RECURSIVE k (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM k WHERE n < 2500) SELECT n FROM k) AS k'}
        copy = "INSERT INTO run (name, newest_upload_id, %s) SELECT 'many-' || n, 1 + n, %s FROM run, %s WHERE id = 1" % (columns, columns, '%s')
        with self.database() as database, self.serve(database) as server, kinetoscope.Server() as embedded:
            for own in (server, embedded):
                self.assertEqual(own.put('first', 'a.json', self.trace(1)).status, 201)
            subprocess.run(['psql', '-q', database.url, '-c', copy % numbers['postgres']], check=True)
            rows = sqlite3.connect(embedded.data_dir + '/kinetoscope.db')
            rows.execute(copy % numbers['embedded'])
            rows.commit()
            rows.close()
            for own in (server, embedded):
                for order in ({'sort': 'name', 'order': 'desc'}, {}, {'sort': 'size_bytes', 'order': 'asc'}):
                    names, pages = [], []
                    while not pages or len(names) < pages[-1]['total']:
                        pages.append(own.get('/api/v1/runs', q='MANY', limit=700, offset=len(names), **order).json())
                        names += [run['name'] for run in pages[-1]['runs']]
                    self.assertEqual([(page['total'], page['total_is_least']) for page in pages], [(1000, True), (1401, True), (2101, True), (2500, False)])
                    self.assertEqual((len(names), len(set(names))), (2500, 2500))
                page = own.get('/api/v1/runs', q='many-77', limit=5, sort='name', order='asc').json()
                self.assertEqual(([run['name'] for run in page['runs']], page['total'], page['total_is_least']), (['many-77'] + ['many-77%d' % n for n in range(4)], 11, False))
                page = own.get('/api/v1/runs', q='many-77', limit=5, offset=8, sort='name', order='desc').json()
                self.assertEqual(([run['name'] for run in page['runs']], page['total']), (['many-771', 'many-770', 'many-77'], 11))
                self.assertEqual(own.get('/api/v1/runs', q='/many-.*9$/', limit=0).json()['total'], 250)
                self.assertEqual(own.get('/api/v1/runs', tag='none').json(), {'runs': [], 'total': 0, 'total_is_least': False})

    def test_database_and_folder_belong_together(self):
        with self.database() as database:
            with self.serve(database) as server:
                self.assertEqual(server.put('run', 'a.json', self.trace(1)).status, 201)
            other = str(self.folder / 'other')
            for options in (['--data-dir', other, '--database-url', database.url], ['--data-dir', self.data_dir]):
                done = subprocess.run([kinetoscope.PROGRAM, 'serve', '--listen', '127.0.0.1:0', *options], stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, timeout=kinetoscope.HANG_S)
                self.assertNotEqual(done.returncode, 0)
                self.assertRegex(done.stdout.decode(), 'belongs to another data directory|is on a server')

    def test_with_objects_any_data_directory_has_every_trace(self):
        events = [{'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::made_%s' % os.urandom(6).hex(), 'pid': 1, 'tid': 1, 'ts': 1000 + 10 * i,
                   'dur': 1 + i % 9} for i in range(12000)]
        large = json.dumps({**FIXTURE, 'traceEvents': FIXTURE['traceEvents'] + events}).encode()
        asked = ['/api/v1/traces/%d/%s' % (number, what) for number in (1, 2) for what in ('operators', 'timeline', 'search?q=aten', 'trace.json.gz', 'raw')]
        with self.database() as database:
            answers = []
            for place in ('data', 'other', 'data'):
                server = kinetoscope.Server('--database-url', database.url, '--objects-url', 'file://%s/objects' % self.folder,
                                            data_dir=str(self.folder / place))
                with server:
                    if not answers:
                        self.assertEqual(server.put('run', 'a.json', large).status, 201)
                        self.assertEqual(server.put('run', 'b.json', self.trace(1)).status, 201)
                    got = [server.get(path) for path in asked]
                    self.assertEqual([(path, answer.status) for path, answer in zip(asked, got) if answer.status != 200], [])
                    answers.append([answer.body for answer in got])
            self.assertEqual(answers[1:], answers[:1] * 2)
            # Analysed again, both traces answer all the time, and the same.
            subprocess.run(['psql', '-q', database.url, '-c', 'UPDATE upload SET analysis_version = 0'], check=True)
            with server:
                def are_done():
                    self.assertEqual({server.get('/api/v1/traces/%d/overview' % number).status for number in (1, 2)}, {200})
                    return all(server.get('/api/v1/jobs/%d' % number).json()['state'] == 'done' for number in (1, 2))
                kinetoscope.until(are_done, 'both are analysed again', 30)
                self.assertEqual([server.get(path).body for path in asked], answers[0])


if __name__ == '__main__':
    check_other_databases()
    reason = Postgres.why_not()
    if reason:
        print('skipped: %s' % reason)
        sys.exit(kinetoscope.SKIPPED)
    unittest.main(verbosity=2)
