"""A PostgreSQL server of a check's own, on loopback, that may be killed and started again."""
import glob
import os
import pathlib
import pwd
import shutil
import subprocess

import kinetoscope


class Postgres:
    """In a new folder, whose parent may be entered by everybody from then on: the server has a user of its own."""

    def __init__(self, folder):
        self.folder, self.port = pathlib.Path(folder), kinetoscope.free_port()
        self.url = 'postgresql://ks@127.0.0.1:%d/postgres' % self.port
        # PostgreSQL refuses to run as root.
        self.user = 'postgres' if os.geteuid() == 0 else None

    @staticmethod
    def programs():
        found = shutil.which('pg_ctl')
        places = sorted(glob.glob('/usr/lib/postgresql/*/bin'))
        return os.path.dirname(found) if found else places[-1] if places else None

    @classmethod
    def why_not(cls):
        """Why the program cannot be tried with one here, or ''."""
        said = kinetoscope.run_program('token', 'list', '--data-dir', '/dev/null/none', '--database-url', 'postgresql://127.0.0.1:1/x').stderr
        if b'without PostgreSQL' in said:
            return 'this program was built without PostgreSQL'
        if not cls.programs():
            return 'no PostgreSQL server: apt install postgresql'
        try:
            pwd.getpwnam('postgres')
        except KeyError:
            return 'no user postgres' if os.geteuid() == 0 else ''
        return ''

    def run(self, program, *arguments):
        subprocess.run([os.path.join(self.programs(), program), *arguments], check=True, timeout=120, user=self.user,
                       cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

    def __enter__(self):
        """With what it had, where it ran before."""
        self.data = str(self.folder / 'data')
        if not self.folder.exists():
            self.folder.mkdir()
            self.folder.parent.chmod(0o755)
            if self.user:
                shutil.chown(self.folder, self.user)
            self.run('initdb', '-D', self.data, '-U', 'ks', '--auth=trust', '-E', 'UTF8', '--locale=C')
        self.start()
        return self

    def start(self):
        self.run('pg_ctl', '-w', '-D', self.data, '-l', str(self.folder / 'log'), '-o',
                 '-p %d -k %s -c listen_addresses=127.0.0.1' % (self.port, self.folder), 'start')

    def kill(self):
        self.run('pg_ctl', '-D', self.data, '-m', 'immediate', 'stop')

    def promote(self):
        """Stops it and comes back as a standby that was promoted: another timeline."""
        self.kill()
        marker = pathlib.Path(self.data, 'standby.signal')
        marker.touch()
        if self.user:
            shutil.chown(marker, self.user)
        self.start()
        self.run('pg_ctl', '-w', '-D', self.data, 'promote')

    def __exit__(self, *_):
        if pathlib.Path(self.data, 'postmaster.pid').exists():  # a check that failed may have killed it
            self.kill()
