"""Two PostgreSQL servers of a check's own with pg_auto_failover: a primary, a synchronous standby, and a monitor that promotes it."""
import os
import pathlib
import shutil
import signal
import subprocess

import kinetoscope
from servers.postgres import Postgres

# Failing over is to take seconds, not the minute of the defaults.
MONITOR = {'health_check_period': 1000, 'health_check_timeout': 1000, 'health_check_max_retries': 1, 'health_check_retry_delay': 500,
           'node_considered_unhealthy_timeout': 3000, 'primary_demote_timeout': 3000, 'startup_grace_period': 1000}
START_S = 120


class Member:
    """An agent (pg_autoctl) and the server that it keeps."""

    def __init__(self, pair, name):
        self.pair, self.name, self.data = pair, name, str(pair.folder / name)
        self.port, self.agent = kinetoscope.free_port(), None

    def start(self):
        with open(self.data + '.log', 'ab') as log:
            self.agent = self.pair.begin(['pg_autoctl', 'run', '--pgdata', self.data], log)

    def server(self):
        """The process id of the server, or 0."""
        try:
            return int(pathlib.Path(self.data, 'postmaster.pid').read_text().split('\n')[0])
        except (OSError, ValueError):
            return 0

    def ask(self, sql, database='ks'):
        """The first value, or '' where nobody answers."""
        done = subprocess.run(['psql', '-h', '127.0.0.1', '-p', str(self.port), '-U', 'ks', database, '-Atqc', sql], env={**os.environ, 'PGCONNECT_TIMEOUT': '2'},
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=60)
        return done.stdout.decode().strip()

    def signal_server(self, number):
        if self.server():
            os.kill(self.server(), number)

    def family(self):
        """All processes of the agent's session, the server and its children among them."""
        found = []
        for entry in pathlib.Path('/proc').iterdir():
            try:
                if entry.name.isdigit() and os.getsid(int(entry.name)) == self.agent.pid:
                    found.append(int(entry.name))
            except OSError:
                pass
        # PostgreSQL makes sessions of its own.
        server = self.server()
        return [*found, *([server] if server else [])]

    def kill(self):
        """As if its machine went."""
        for process in self.family():
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                pass
        self.agent.wait()


class Pair:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.user = 'postgres' if os.geteuid() == 0 else None

    @staticmethod
    def why_not():
        reason = Postgres.why_not()
        return reason or ('' if shutil.which('pg_autoctl') else 'no pg_autoctl: apt install postgresql-15-auto-failover')

    def environment(self):
        home = str(self.folder)
        path = os.path.dirname(os.path.realpath(Postgres.programs() + '/pg_ctl')) + ':' + os.environ['PATH']
        return {'HOME': home, 'PATH': path, 'LC_ALL': 'C.UTF-8', **{name: home for name in ('XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_RUNTIME_DIR')}}

    def begin(self, command, log):
        return subprocess.Popen(command, user=self.user, group=self.user, extra_groups=[] if self.user else None, env=self.environment(), cwd=self.folder,
                                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def run(self, *command):
        with open(self.folder / 'setup.log', 'ab') as log:
            code = self.begin(command, log).wait(START_S)
        if code != 0:
            raise AssertionError('%s: %s' % (command, (self.folder / 'setup.log').read_text()[-2000:]))

    def __enter__(self):
        self.folder.mkdir()
        self.folder.parent.chmod(0o755)
        if self.user:
            shutil.chown(self.folder, self.user, self.user)
        self.monitor = Member(self, 'monitor')
        self.members = [Member(self, 'one'), Member(self, 'two')]
        self.url = 'postgresql://ks@%s/ks?target_session_attrs=read-write' % ','.join('127.0.0.1:%d' % member.port for member in self.members)
        common = ('--hostname', '127.0.0.1', '--auth', 'trust', '--no-ssl')
        self.run('pg_autoctl', 'create', 'monitor', '--pgdata', self.monitor.data, '--pgport', str(self.monitor.port), *common)
        with open(self.monitor.data + '/postgresql.conf', 'a') as settings:
            settings.write(''.join('pgautofailover.%s = %d\n' % item for item in MONITOR.items()))
        self.monitor.start()
        kinetoscope.until(lambda: self.at_monitor('SELECT 1'), 'the monitor answers', START_S)
        uri = 'postgres://autoctl_node@127.0.0.1:%d/pg_auto_failover' % self.monitor.port
        for member in self.members:
            self.run('pg_autoctl', 'create', 'postgres', '--pgdata', member.data, '--pgport', str(member.port), '--name', member.name, *common,
                     '--monitor', uri, '--dbname', 'ks', '--username', 'ks', '--pg-hba-lan')
            member.start()
            kinetoscope.until(lambda: self.states().get(member.name) in ('single', 'primary', 'secondary'), member.name + ' runs', START_S)
        self.await_pair()
        return self

    def at_monitor(self, sql):
        done = subprocess.run(['psql', '-h', '127.0.0.1', '-p', str(self.monitor.port), '-U', 'autoctl_node', 'pg_auto_failover', '-Atqc', sql],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=60)
        return done.stdout.decode().strip()

    def states(self):
        rows = self.at_monitor('SELECT nodename, reportedstate FROM pgautofailover.node')
        return dict(line.split('|') for line in rows.splitlines() if '|' in line)

    def story(self):
        """What the monitor saw and decided, the last first."""
        return self.at_monitor('SELECT eventtime::time(1), nodename, reportedstate, goalstate, description FROM pgautofailover.event ORDER BY eventid DESC LIMIT 25')

    def await_pair(self):
        kinetoscope.until(lambda: sorted(self.states().values()) == ['primary', 'secondary'], 'a primary and its standby', START_S)

    def primary(self):
        """(the one that takes writes, the other)."""
        for member, other in (self.members, self.members[::-1]):
            if member.ask('SELECT pg_is_in_recovery()') == 'f':
                return member, other
        raise AssertionError('there is no primary')

    def switch(self):
        """Asks the monitor for a change of places, which is orderly. The monitor may deadlock with a report of a server (seen once in ten)."""
        for last in (False, False, True):
            try:
                return self.run('pg_autoctl', 'perform', 'switchover', '--pgdata', self.monitor.data)
            except AssertionError as failure:
                if last or 'deadlock detected' not in str(failure):
                    raise

    def __exit__(self, *_):
        for member in (*self.members, self.monitor):
            if member.agent:
                member.kill()
