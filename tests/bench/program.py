"""The server under test, for the benchmarks beside this file."""
import pathlib
import re
import subprocess
import sys
import time


class Program:
    """`kinetoscope serve` on a free port, its words in a log beside the data; a context manager. `before`: a command to run it under."""

    def __init__(self, program, data, *options, before=()):
        self.data, self.log, self.code = data, data + '.log', None
        self.command = [*before, program, 'serve', '--listen', '127.0.0.1:0', '--data-dir', data, *options]

    def __enter__(self):
        self.start()
        self.port = self.wait_for_port()
        self.url = 'http://127.0.0.1:%d' % self.port
        return self

    def start(self):
        with open(self.log, 'wb') as sink:
            self.process = subprocess.Popen(self.command, stdout=sink, stderr=sink)

    def wait_for_port(self):
        while self.process.poll() is None:
            found = re.search(r'127\.0\.0\.1:([1-9]\d*)', self.words())
            if found:
                return int(found[1])
            time.sleep(0.02)
        sys.exit('the server did not start: ' + self.words())

    def words(self):
        return pathlib.Path(self.log).read_text(errors='replace')

    def peak_bytes(self):
        return self.memory_bytes('VmHWM')

    def memory_bytes(self, name):
        """What the system says of the server's memory: VmHWM is the peak, VmRSS what it holds now."""
        status = pathlib.Path('/proc/%d/status' % self.process.pid).read_text()
        return int(re.search(name + r':\s*(\d+)', status)[1]) * 1024

    def __exit__(self, *_):
        self.process.terminate()
        self.code = self.process.wait()
