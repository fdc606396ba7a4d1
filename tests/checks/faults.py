"""Faults of a disk for a program under test: what the library of faults.c, preloaded into it, is to do.

Environment: KINETOSCOPE_FAULTS, the built library; without it (not Linux) the checks that need it are skipped.
"""
import mmap
import os
import struct
import sys
import tempfile

import kinetoscope

LIBRARY = os.environ.get('KINETOSCOPE_FAULTS', '')

WRITE, SYNC, OPEN, NAME, TRUNCATE = 1, 2, 4, 8, 16
ALL = WRITE | SYNC | OPEN | NAME | TRUNCATE
NONE, KILL = 0, -1
ACTION, KINDS, WAIT, HITS, CALLS = range(5)  # fields of struct control in faults.c


class Faults:
    """The faults of the files below one directory; `env` is for the program's environment."""

    def __init__(self, directory):
        handle, self.path = tempfile.mkstemp(prefix='kinetoscope-faults-')
        os.ftruncate(handle, 5 * 8)
        self.map = mmap.mmap(handle, 5 * 8)
        os.close(handle)
        options = os.environ.get('ASAN_OPTIONS', '')
        self.env = {'LD_PRELOAD': LIBRARY, 'KS_FAULTS_DIR': os.path.realpath(directory), 'KS_FAULTS_CONTROL': self.path,
                    'ASAN_OPTIONS': ':'.join(filter(None, [options, 'verify_asan_link_order=0']))}

    def close(self):
        self.map.close()
        os.unlink(self.path)

    def put(self, field, value):
        struct.pack_into('<q', self.map, field * 8, value)

    def read(self, field):
        return struct.unpack_from('<q', self.map, field * 8)[0]

    def begin(self, action, kinds=ALL, wait=0):
        """From the call of these kinds that `wait` others precede, all fail with the errno `action`; KILL ends the program there."""
        self.end()
        for field, value in ((KINDS, kinds), (WAIT, wait), (HITS, 0), (CALLS, 0), (ACTION, action)):
            self.put(field, value)

    def end(self):
        """The disk is well again; the number of calls that failed."""
        self.put(ACTION, NONE)
        return self.read(HITS)


def need_library():
    if not os.path.exists(LIBRARY):
        print('skipped: no library that makes faults of a disk (KINETOSCOPE_FAULTS)')
        sys.exit(kinetoscope.SKIPPED)
