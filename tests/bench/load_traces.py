"""What load.py uploads: traces of many sizes made of the fixtures, each different from every other."""
import gzip
import hashlib
import io
import json
import pathlib
import random
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ['cuda_training', 'rocm', 'mlu', 'nccl_two_workers', 'decimal_times', 'old_format', 'uneven_workers', 'cpu_only']
# Must differ from one repetition to the next, so that launches and kernels still find each other.
IDS = {'correlation', 'External id', 'external id', 'Python id', 'Python parent id', 'Sequence number'}
SEED_TID = 77777
STEP = 'ProfilerStep#'


def fixture(case):
    path = ROOT / 'tests/fixtures' / case
    content = (path / json.loads((path / 'case.json').read_text())['files'][0]).read_bytes()
    return json.loads(gzip.decompress(content) if content[:2] == b'\x1f\x8b' else content)


def later(event, turn, span, ids, steps):
    out = dict(event, ts=event['ts'] + turn * span)
    if event['ph'] in 'sft':
        out['id'] = event['id'] + turn * ids
    args = event.get('args')
    if args and not IDS.isdisjoint(args):
        out['args'] = {k: v + turn * ids if k in IDS and isinstance(v, int) else v for k, v in args.items()}
    if event['name'].startswith(STEP):
        out['name'] = STEP + str(int(event['name'][len(STEP):]) + turn * steps)
    return out


class Base:
    """A fixture, repeated along the time axis up to a size. Uploads made of it differ in one operator, whose name and
    duration is the number of the upload."""

    def __init__(self, case, size):
        document = fixture(case)
        events = document.pop('traceEvents')
        self.case = case
        self.head = (json.dumps(document)[:-1] + ', "traceEvents": [\n').encode()
        once = [e for e in events if e['ph'] == 'M' or 'Record Window End' in e['name']]
        body = [e for e in events if e['ph'] != 'M' and 'Record Window End' not in e['name']]
        self.begin = min(e['ts'] for e in body)
        span = int(max(e['ts'] + e.get('dur', 0) for e in body) - self.begin) + 1000
        numbers = [v for e in body for k, v in (e.get('args') or {}).items() if k in IDS and isinstance(v, int)]
        ids = 1 + max(numbers + [e['id'] for e in body if e['ph'] in 'sft'] + [0])
        steps = sum(e['name'].startswith(STEP) for e in body)
        lines, total, turn = [json.dumps(e) for e in once], len(self.head), 0
        while total < size:
            for event in body:
                lines.append(json.dumps(later(event, turn, span, ids, steps)))
                total += len(lines[-1]) + 2
            turn += 1
        self.rest = (',\n'.join(lines) + '\n]}\n').encode()
        self.packed = gzip.compress(self.rest, 1, mtime=0)
        self.text_bytes = len(self.head) + len(self.rest)

    def seed(self, number):
        event = {'ph': 'X', 'cat': 'cpu_op', 'name': 'load::seed_%d' % number, 'pid': 7, 'tid': SEED_TID, 'ts': self.begin,
                 'dur': 1 + number, 'args': {'External id': 0}}
        return self.head + json.dumps(event).encode() + b',\n'

    def plain(self, number):
        return self.seed(number) + self.rest

    def gzipped(self, number):
        return gzip.compress(self.seed(number), 1, mtime=0) + self.packed


def make_bases(count, smallest, largest, seed):
    draw = random.Random(seed)
    sizes = [int(smallest * (largest / smallest) ** (i / max(1, count - 1))) for i in range(count)]
    draw.shuffle(sizes)
    return [Base(FIXTURES[i % len(FIXTURES)], size) for i, size in enumerate(sizes)]


class Upload:
    """One file: made again from few words, so that thousands of them can be remembered. `way`: how it is packed."""

    def __init__(self, base, number, way):
        self.base, self.number, self.way = base, number, way
        self.sha256 = None
        self.traces = {}  # id: worker, as they were acknowledged

    def content(self, bases):
        base = bases[self.base]
        if self.way == 'tar':
            body = tar_of([('rank%d.1700000000000.pt.trace.json.gz' % rank, bases[rank % len(bases)].gzipped(self.number + rank))
                           for rank in self.ranks(bases)])
        else:
            body = base.plain(self.number) if self.way == 'plain' else base.gzipped(self.number)
        self.sha256 = hashlib.sha256(body).hexdigest()
        return body

    def ranks(self, bases):
        """Three of the smaller bases, by the number: an archive holds no more than one large file would."""
        small = sorted(range(len(bases)), key=lambda i: bases[i].text_bytes)[:max(3, len(bases) // 2)]
        return [small[(self.number + i) % len(small)] for i in range(min(3, len(small)))]

    def text_bytes(self, bases):
        return sum(bases[rank].text_bytes for rank in self.ranks(bases)) if self.way == 'tar' else bases[self.base].text_bytes


def tar_of(members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w') as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()
