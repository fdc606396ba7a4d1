#!/usr/bin/env python3
"""Runs damage_check over the fixtures, and over the reference traces where they are at hand.

usage: damage.py DAMAGE_CHECK [--rounds N] [--seed N] [--largest BYTES]

Fixtures that are damaged already are left out: what stands in them is told by their golden answers.
"""
import argparse
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = pathlib.Path(os.environ.get('KINETOSCOPE_REFERENCE') or ROOT.parent / 'shared')


def text_size(path):
    """Of a .gz file the size that its trailer tells."""
    content = path.read_bytes()
    return int.from_bytes(content[-4:], 'little') if content[:2] == b'\x1f\x8b' else len(content)


def traces(folder, largest):
    found = sorted(p for p in folder.glob('*/*.pt.trace.json*') if 'repair' not in p.parent.name)
    return [p for p in found if text_size(p) <= largest], len(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program')
    parser.add_argument('--rounds', type=int, default=25)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--largest', type=int, default=1 << 20, help='leave out reference traces with more text than this')
    args = parser.parse_args()
    files, _ = traces(ROOT / 'tests/fixtures', 1 << 30)
    if (REFERENCE / 'data/cases').is_dir():
        more, there = traces(REFERENCE / 'data/cases', args.largest)
        print('%d of %d reference traces have at most %d bytes of text' % (len(more), there, args.largest))
        files += more
    else:
        print('no reference traces at hand (KINETOSCOPE_REFERENCE): the fixtures only')
    return subprocess.run([args.program, str(args.rounds), str(args.seed), *map(str, files)]).returncode


if __name__ == '__main__':
    sys.exit(main())
