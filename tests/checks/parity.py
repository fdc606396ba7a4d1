#!/usr/bin/env python3
"""Starts the server and lets the reference's own comparer ask it: every golden case, every route.

usage: parity.py [ROUTES]     (default all; "basic", or route names separated by commas)
"""
import subprocess
import sys

import kinetoscope


def main():
    kinetoscope.need_reference('tools/parity.py')
    routes = sys.argv[1] if len(sys.argv) > 1 else 'all'
    with kinetoscope.Server() as server:
        return subprocess.run([sys.executable, kinetoscope.REFERENCE / 'tools/parity.py', '--url', server.url, '--routes', routes,
                               kinetoscope.REFERENCE / 'data/cases']).returncode


if __name__ == '__main__':
    sys.exit(main())
