"""S3 servers for the checks: Ceph's object gateway on this machine, and a peer that does on demand what a real one
never does. Both speak path style on loopback with test keys."""
import datetime
import hashlib
import hmac
import html
import http.client
import http.server
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.parse
import uuid

import kinetoscope

ACCESS_KEY, SECRET_KEY, REGION, BUCKET = 'kskey', 'kssecret', 'us-east-1', 'uploads'
CEPH_PROGRAMS = ('ceph-mon', 'ceph-osd', 'radosgw', 'ceph', 'radosgw-admin', 'monmaptool', 'ceph-authtool')


def is_built_in():
    """Whether the program knows s3:// addresses."""
    said = kinetoscope.run_program('serve', '--listen', '127.0.0.1:0', '--data-dir', '/dev/null/none', '--objects-url', 's3://bucket')
    return b'built without S3' not in said.stdout + said.stderr


def environment(port, **more):
    """For a program that uses the server on this port."""
    return {**os.environ, 'AWS_ACCESS_KEY_ID': ACCESS_KEY, 'AWS_SECRET_ACCESS_KEY': SECRET_KEY, 'AWS_REGION': REGION,
            'AWS_ENDPOINT_URL_S3': 'http://127.0.0.1:%d' % port, **more}


def signed(method, port, path, body=b'', query=''):
    """A signed request; (status, body)."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime('%Y%m%dT%H%M%SZ')
    host, payload = '127.0.0.1:%d' % port, hashlib.sha256(body).hexdigest()
    names = 'host;x-amz-content-sha256;x-amz-date'
    canonical = '%s\n%s\n%s\nhost:%s\nx-amz-content-sha256:%s\nx-amz-date:%s\n\n%s\n%s' % (
        method, path, query, host, payload, now, names, payload)
    scope = '%s/%s/s3/aws4_request' % (now[:8], REGION)
    to_sign = 'AWS4-HMAC-SHA256\n%s\n%s\n%s' % (now, scope, hashlib.sha256(canonical.encode()).hexdigest())
    key = ('AWS4' + SECRET_KEY).encode()
    for text in (now[:8], REGION, 's3', 'aws4_request'):
        key = hmac.new(key, text.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=30)
    try:
        connection.request(method, path + ('?' + query if query else ''), body, {
            'x-amz-content-sha256': payload, 'x-amz-date': now,
            'Authorization': 'AWS4-HMAC-SHA256 Credential=%s/%s,SignedHeaders=%s,Signature=%s' % (
                ACCESS_KEY, scope, names, signature)})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def listed(port, query, name):
    status, body = signed('GET', port, '/' + BUCKET, query=query)
    assert status == 200, (status, body)
    return body.decode(), re.findall('<%s>([^<]*)</%s>' % (name, name), body.decode())


def keys(port, prefix=''):
    """Every key of the bucket."""
    found, more = [], ''
    while True:
        text, page = listed(port, more + 'list-type=2&max-keys=1000&prefix=' + urllib.parse.quote(prefix, safe=''), 'Key')
        found += page
        token = re.search('<NextContinuationToken>([^<]+)</NextContinuationToken>', text)
        if not token:
            return found
        more = 'continuation-token=%s&' % urllib.parse.quote(html.unescape(token[1]), safe='')


def unfinished(port, prefix=''):
    """Of uploads in parts that have not ended."""
    return listed(port, 'prefix=%s&uploads=' % urllib.parse.quote(prefix, safe=''), 'UploadId')[1]


class Ceph:
    """Monitor, one OSD in a file and the object gateway, below `folder`. The gateway may be killed and started anew."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.port, self.processes, self.gateway = kinetoscope.free_port(), [], None
        self.conf = str(self.folder / 'ceph.conf')

    @staticmethod
    def why_not():
        """Why it cannot run here, or ''."""
        missing = [name for name in CEPH_PROGRAMS if not shutil.which(name)]
        if missing:
            return 'no %s: apt install ceph-mon ceph-osd radosgw ceph-common' % ', '.join(missing)
        return '' if os.geteuid() == 0 else 'Ceph starts as root only'

    def run(self, *command, check=True):
        return subprocess.run(command, check=check, timeout=120, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, 'CEPH_CONF': self.conf}).stdout.decode()

    def spawn(self, *command):
        log = open(self.folder / ('%s.log' % command[0]), 'ab')
        process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, 'CEPH_CONF': self.conf})
        log.close()
        self.processes.append(process)
        return process

    def write_conf(self):
        fsid, v1, v2 = uuid.uuid4(), kinetoscope.free_port(), kinetoscope.free_port()
        for name in ('mon', 'osd', 'run', 'rgw'):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        settings = {
            'global': {
                'fsid': fsid, 'mon host': '[v2:127.0.0.1:%d,v1:127.0.0.1:%d]' % (v2, v1), 'mon initial members': 'a',
                'run dir': self.folder / 'run', 'admin socket': self.folder / 'run/$name.asok',
                'pid file': self.folder / 'run/$name.pid', 'keyring': self.folder / 'keyring',
                'auth allow insecure global id reclaim': 'false', 'public addr': '127.0.0.1',
                'cluster addr': '127.0.0.1', 'osd pool default size': 1, 'osd pool default min size': 1,
                'osd pool default pg num': 1, 'osd pool default pgp num': 1, 'osd pool default pg autoscale mode': 'off',
                'mon allow pool size one': 'true', 'mon max pg per osd': 1000, 'osd crush chooseleaf type': 0,
                'mon data avail crit': 1, 'mon data avail warn': 2},
            'mon.a': {'mon data': self.folder / 'mon'},
            'osd.0': {'osd data': self.folder / 'osd', 'osd objectstore': 'bluestore', 'bluestore block create': 'true',
                      'bluestore block size': 16 << 30, 'bluestore cache autotune': 'false',
                      'bluestore cache size': 64 << 20, 'osd memory target': 939524096},
            'client.rgw': {'rgw frontends': 'beast endpoint=127.0.0.1:%d' % self.port, 'rgw thread pool size': 64,
                           'rgw data': self.folder / 'rgw', 'keyring': self.folder / 'keyring',
                           'rgw enable usage log': 'false', 'rgw override bucket index max shards': 1}}
        (self.folder / 'ceph.conf').write_text(''.join(
            '[%s]\n%s' % (section, ''.join('%s = %s\n' % item for item in values.items()))
            for section, values in settings.items()))
        return str(fsid), v1, v2

    def start(self):
        fsid, v1, v2 = self.write_conf()
        keyring, monmap = str(self.folder / 'keyring'), str(self.folder / 'monmap')
        every = ('--cap', 'mon', 'allow *', '--cap', 'osd', 'allow *')
        self.run('ceph-authtool', '--create-keyring', keyring, '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *')
        for name, caps in (('client.admin', every), ('client.rgw', every),
                           ('osd.0', ('--cap', 'mon', 'allow profile osd', '--cap', 'osd', 'allow *'))):
            self.run('ceph-authtool', keyring, '--gen-key', '-n', name, *caps)
        self.run('monmaptool', '--create', '--fsid', fsid, '--addv', 'a', '[v2:127.0.0.1:%d,v1:127.0.0.1:%d]' % (v2, v1),
                 monmap)
        self.run('ceph-mon', '--mkfs', '-i', 'a', '--monmap', monmap, '--keyring', keyring)
        self.spawn('ceph-mon', '-f', '-i', 'a')
        self.run('ceph', '--connect-timeout', '30', 'osd', 'new', str(uuid.uuid4()), '0')
        self.run('ceph', 'auth', 'import', '-i', keyring)
        osd = re.search(r'"uuid":"([^"]+)"', self.run('ceph', 'osd', 'dump', '-f', 'json').replace(' ', ''))[1]
        self.run('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', osd)
        self.spawn('ceph-osd', '-f', '-i', '0')
        until = time.monotonic() + 60
        while '1 up' not in self.run('ceph', 'osd', 'stat') and time.monotonic() < until:
            time.sleep(0.2)
        self.start_gateway()
        self.run('radosgw-admin', 'user', 'create', '--uid=ks', '--display-name=ks', '--access-key=' + ACCESS_KEY,
                 '--secret-key=' + SECRET_KEY)
        self.make_bucket(BUCKET)

    def make_bucket(self, name):
        status, body = signed('PUT', self.port, '/' + name)
        assert status == 200, (status, body)

    def start_gateway(self):
        self.gateway = self.spawn('radosgw', '-f', '-n', 'client.rgw')
        until = time.monotonic() + 90
        while time.monotonic() < until:
            try:
                with socket.create_connection(('127.0.0.1', self.port), 1):
                    return
            except OSError:
                time.sleep(0.05)
        raise AssertionError('the object gateway does not start: see %s' % self.folder)

    def kill_gateway(self):
        self.gateway.send_signal(signal.SIGKILL)
        self.gateway.wait()

    def stop(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.kill()
                process.wait()

    def keys(self, prefix=''):
        return keys(self.port, prefix)

    def unfinished(self):
        return unfinished(self.port)


class Object:
    """One object of the bucket, with the words of a path."""

    def __init__(self, port, key):
        self.port, self.path = port, '/%s/%s' % (BUCKET, key)

    def ask(self, method, *statuses, body=b''):
        status, answer = signed(method, self.port, self.path, body)
        assert status in statuses, (method, self.path, status, answer[:500])
        return status, answer

    def exists(self):
        return self.ask('HEAD', 200, 404)[0] == 200

    def read_bytes(self):
        return self.ask('GET', 200)[1]

    def write_bytes(self, body):
        self.ask('PUT', 200, body=body)

    def unlink(self):
        self.ask('DELETE', 204)


class Peer(http.server.ThreadingHTTPServer):
    """A bucket in memory. `faults` is a list of (pattern, what): the first whose pattern matches "METHOD path?query" is
    used up by that request. What: a status, 'stall', 'short' (half of the body, then the connection closes),
    'less' (half of the body as if it were all), 'error' (200 with an error in the body), 'lost' (done, but the connection
    closes before the answer), 'skew', 'slow' (seconds before the answer follow a colon)."""
    daemon_threads = True
    # As the system's limit allows: a refused connection would be a fault of its own.
    request_queue_size = 128

    def __init__(self):
        super().__init__(('127.0.0.1', 0), PeerHandler)
        self.port, self.lock = self.server_address[1], threading.Lock()
        self.objects, self.uploads, self.faults, self.requests = {}, {}, [], []
        self.released = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # a client that was killed or has given up

    def fault(self, line):
        with self.lock:
            self.requests.append(line)
            for i, (pattern, what) in enumerate(self.faults):
                if re.search(pattern, line):
                    del self.faults[i]
                    return what
        return None

    def stop(self):
        self.released.set()
        self.shutdown()
        self.server_close()


class PeerHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def answer(self, status, body=b'', headers=(), less=0, announced=None):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(body) - less if announced is None else announced))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(body[:len(body) - less])

    def error(self, status, code, message='on demand'):
        self.answer(status, ('<?xml version="1.0"?><Error><Code>%s</Code><Message>%s</Message></Error>' % (
            code, message)).encode())

    def handle_any(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        what = self.server.fault('%s %s' % (self.command, self.path))
        if hashlib.sha256(body).hexdigest() != self.headers.get('x-amz-content-sha256'):
            return self.error(400, 'XAmzContentSHA256Mismatch')
        if what == 'stall':
            self.server.released.wait(60)
            self.close_connection = True
            return None
        if isinstance(what, int):
            codes = {500: 'InternalError', 503: 'SlowDown', 403: 'AccessDenied', 501: 'NotImplemented', 429: 'TooMany'}
            return self.error(what, codes.get(what, 'Other'))
        if what == 'skew':
            return self.error(403, 'RequestTimeTooSkewed')
        if what == 'error':
            return self.error(200, 'InternalError')
        if what and str(what).startswith('slow:'):
            time.sleep(float(what[5:]))
        if what == 'lost':
            self.wfile, real = open(os.devnull, 'wb'), self.wfile
            try:
                self.serve(url.path, query, body, None)
            finally:
                self.wfile.close()
                self.wfile = real
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return None
        return self.serve(url.path, query, body, what)

    def serve(self, path, query, body, what):
        server, key = self.server, path.split('/', 2)[2] if path.count('/') > 1 else ''
        with server.lock:
            if self.command == 'PUT' and 'partNumber' in query:
                server.uploads[query['uploadId']][1][int(query['partNumber'])] = body
                return self.answer(200, headers=[('ETag', '"%s"' % hashlib.md5(body).hexdigest())])
            if self.command == 'PUT':
                if self.headers.get('If-None-Match') == '*' and key in server.objects:
                    return self.error(412, 'PreconditionFailed')
                server.objects[key] = body
                return self.answer(200, headers=[('ETag', '"%s"' % hashlib.md5(body).hexdigest())])
            if self.command == 'POST' and 'uploads' in query:
                upload = 'up+load/%s' % uuid.uuid4()
                server.uploads[upload] = (key, {})
                return self.answer(200, ('<R><UploadId>%s</UploadId></R>' % upload).encode())
            if self.command == 'POST' and 'uploadId' in query:
                if query['uploadId'] not in server.uploads:
                    return self.error(404, 'NoSuchUpload')
                numbers = [int(n) for n in re.findall(rb'<PartNumber>(\d+)</PartNumber>', body)]
                parts = server.uploads.pop(query['uploadId'])[1]
                server.objects[key] = b''.join(parts[n] for n in numbers)
                return self.answer(200, b'<R><ETag>&quot;m-%d&quot;</ETag></R>' % len(numbers))
            if self.command == 'POST' and 'delete' in query:
                for name in re.findall(rb'<Key>([^<]*)</Key>', body):
                    server.objects.pop(name.decode(), None)
                return self.answer(200, b'<DeleteResult></DeleteResult>')
            if self.command == 'DELETE':
                server.uploads.pop(query.get('uploadId'), None)
                return self.answer(204)
            if 'uploads' in query:
                return self.answer(200, ('<R>%s</R>' % ''.join(
                    '<Upload><Key>%s</Key><UploadId>%s</UploadId></Upload>' % (name, upload)
                    for upload, (name, _) in server.uploads.items() if name.startswith(query['prefix']))).encode())
            if 'list-type' in query:
                # Two a page, so that the pages are followed.
                names = sorted(n for n in server.objects if n.startswith(query['prefix']))
                rest = [n for n in names if n > query.get('continuation-token', '')]
                more = '<NextContinuationToken>%s</NextContinuationToken>' % rest[1] if len(rest) > 2 else ''
                return self.answer(200, ('<R>%s%s</R>' % (more, ''.join(
                    '<Contents><Key>%s</Key><Size>%d</Size></Contents>' % (n, len(server.objects[n]))
                    for n in rest[:2]))).encode())
            if not key:
                return self.answer(200)
            if key not in server.objects:
                return self.error(404, 'NoSuchKey')
            content = server.objects[key]
        headers = [('ETag', '"%s"' % hashlib.md5(content).hexdigest())]
        wanted = re.match(r'bytes=(\d+)-(\d+)$', self.headers.get('Range') or '')
        if not wanted:
            return self.answer(200, content, headers)
        begin, last = int(wanted[1]), int(wanted[2])
        if last >= len(content) and begin >= len(content):
            return self.error(416, 'InvalidRange')
        piece = content[begin:last + 1]
        if what == 'short':
            self.answer(206, piece, headers, less=len(piece) - len(piece) // 2, announced=len(piece))
            self.close_connection = True
            return None
        return self.answer(206, piece, headers, less=len(piece) - len(piece) // 2 if what == 'less' else 0)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any
