"""For each rule of Python, code that it must report and code that it must not."""

from moot.scan.rule import RuleExample

WEB = "from flask import Flask, request\napp = Flask(__name__)\n"


def view(rule: str, fires: str, silent: str, head: str = "") -> RuleExample:
    """Bodies of a web handler; `q` is what the visitor sent."""
    return RuleExample(rule, _handler(head, fires), _handler(head, silent))


def _handler(head: str, body: str) -> str:
    lines = "\n    ".join(["q = request.args.get('q')", *body.splitlines()])
    return f"{head}\n{WEB}@app.route('/')\ndef view():\n    {lines}\n"


EXAMPLES: tuple[RuleExample, ...] = (
    view(
        "python-sql-string",
        "cur.execute('SELECT * FROM t WHERE n = ' + q)",
        "cur.execute('SELECT * FROM t WHERE n = ?', (q,))",
        "import sqlite3\ncur = sqlite3.connect('x').cursor()",
    ),
    view(
        "python-nosql",
        "db.users.find_one({'name': request.json['name']})",
        "db.users.find_one({'name': q, 'mail': str(request.json['mail'])})",
        "import pymongo\ndb = pymongo.MongoClient().db",
    ),
    view(
        "python-nosql",
        "db.users.find({'$where': 'this.name == ' + q})",
        "db.users.find({'name': q})",
        "import pymongo\ndb = pymongo.MongoClient().db",
    ),
    view(
        "python-mass-assignment",
        "User.objects.create(**request.get_json())",
        "User.objects.create(name=request.get_json()['name'])",
        "from models import User",
    ),
    view(
        "python-path",
        "with zipfile.ZipFile('x.zip') as z:\n    for n in z.namelist():\n        open(os.path.join('/out', n), 'wb')",
        "with zipfile.ZipFile('x.zip') as z:\n    for n in z.namelist():\n"
        "        open(os.path.join('/out', os.path.basename(n)), 'wb')",
        "import os, zipfile",
    ),
    view("python-shell", "subprocess.run('ls ' + q, shell=True)", "subprocess.run(['ls', q])", "import subprocess"),
    view("python-program", "subprocess.run([q, '-v'])", "subprocess.run(['git', 'log', q])", "import subprocess"),
    view("python-os-system", "os.system('ls ' + q)", "os.system('ls ' + shlex.quote(q))", "import os, shlex"),
    view("python-eval", "return str(eval(q))", "return str(int(q))"),
    view("python-path", "open('/data/' + q)", "open('/data/' + os.path.basename(q))", "import os"),
    view(
        "python-upload",
        "f = request.files['f']\nf.save('static/' + f.filename)",
        "f = request.files['f']\nf.save('static/' + secure_filename(f.filename))",
        "from werkzeug.utils import secure_filename",
    ),
    view(
        "python-template-string",
        "return render_template_string('Hello ' + q)",
        "return render_template_string('Hello {{ name }}', name=q)",
        "from flask import render_template_string",
    ),
    view(
        "python-markup",
        "m = Markup('<b>' + q + '</b>')",
        "m = Markup('<b>') + escape(q)",
        "from markupsafe import Markup, escape",
    ),
    view("python-response-xss", "return '<p>' + q + '</p>'", "return '<p>' + html.escape(q) + '</p>'", "import html"),
    view(
        "python-error-shown",
        "return traceback.format_exc()",
        "log(traceback.format_exc())\nreturn 'sorry'",
        "import traceback",
    ),
    view(
        "python-autoescape", "env = jinja2.Environment()", "env = jinja2.Environment(autoescape=True)", "import jinja2"
    ),
    view(
        "python-header",
        "h = Headers()\nh.add('X-Name', q)",
        "h = Headers()\nh.add('X-Name', 'fixed')",
        "from werkzeug.datastructures import Headers",
    ),
    view("python-log", "logging.info('user ' + q)", "logging.info('user ' + repr(q))", "import logging"),
    view(
        "python-ldap",
        "conn.search('dc=x', '(uid=' + q + ')')",
        "conn.search('dc=x', '(uid=' + escape_filter_chars(q) + ')')",
        "import ldap3\nfrom ldap3.utils.conv import escape_filter_chars\nconn = ldap3.Connection('x')",
    ),
    view(
        "python-xpath",
        'tree.xpath("//user[@id=\'" + q + "\']")',
        "tree.xpath('//user[@id=$id]', id=q)",
        "from lxml import etree\ntree = etree.parse('users.xml')",
    ),
    view(
        "python-xxe",
        "etree.fromstring(q, etree.XMLParser(resolve_entities=True))",
        "etree.fromstring(q, etree.XMLParser(resolve_entities=False))",
        "from lxml import etree",
    ),
    view("python-xml-bomb", "ET.fromstring(q)", "ET.fromstring('<a/>')", "import xml.etree.ElementTree as ET"),
    view("python-ssrf", "requests.get(q)", "requests.get('https://api.example/' , params={'q': q})", "import requests"),
    view(
        "python-open-redirect",
        "return redirect(q)",
        "if urlparse(q).netloc not in ('example.org',):\n    return 'no'\nreturn redirect(q)",
        "from flask import redirect\nfrom urllib.parse import urlparse",
    ),
    view(
        "python-pickle",
        "pickle.loads(base64.b64decode(q))",
        "json.loads(base64.b64decode(q))",
        "import base64, json, pickle",
    ),
    view("python-deserialise", "jsonpickle.decode(q)", "json.loads(q)", "import json, jsonpickle"),
    view("python-yaml-load", "yaml.load(q, Loader=yaml.Loader)", "yaml.load(q, Loader=yaml.SafeLoader)", "import yaml"),
    view("python-regex-injection", "re.search(q, 'text')", "re.search(re.escape(q), 'text')", "import re"),
    view("python-slow-regex", "re.match(r'(a+)+$', q)", "re.match(r'a+$', q)", "import re"),
    view(
        "python-trust-boundary",
        "session['role'] = q",
        "session['role'] = q if q in ('a', 'b') else 'a'",
        "from flask import session",
    ),
    view(
        "python-cookie",
        "r.set_cookie('a', 'b')",
        "r.set_cookie('a', 'b', secure=True, httponly=True)",
        "from flask import make_response\nr = make_response('x')",
    ),
    view(
        "python-cookie-script",
        "r.set_cookie('a', 'b', secure=True)",
        "r.set_cookie('a', 'b', secure=True, httponly=True)",
        "from flask import make_response\nr = make_response('x')",
    ),
    RuleExample(
        "python-weak-random", "import random\ntoken = str(random.random())", "import random\ncolour = random.random()"
    ),
    RuleExample("python-weak-hash", "import hashlib\nhashlib.md5(data)", "import hashlib\nhashlib.sha256(data)"),
    RuleExample(
        "python-password-hash", "import hashlib\nhashlib.md5(password)", "import hashlib\nhashlib.sha256(data)"
    ),
    RuleExample(
        "python-weak-cipher",
        "from Crypto.Cipher import DES\nDES.new(key)",
        "from Crypto.Cipher import AES\nAES.new(key, AES.MODE_GCM)",
    ),
    RuleExample(
        "python-static-iv",
        "from Crypto.Cipher import AES\nAES.new(key, AES.MODE_CBC, b'0' * 16)",
        "import os\nfrom Crypto.Cipher import AES\nAES.new(key, AES.MODE_CBC, os.urandom(16))",
    ),
    RuleExample(
        "python-static-salt",
        "import hashlib\nhashlib.pbkdf2_hmac('sha256', pw, b'salt', 100000)",
        "import hashlib, os\nhashlib.pbkdf2_hmac('sha256', pw, os.urandom(16), 100000)",
    ),
    RuleExample(
        "python-static-salt",
        "import hashlib\nhashlib.scrypt(pw, salt=b'fixed-salt', n=16384, r=8, p=1)",
        "import hashlib, os\nhashlib.scrypt(pw, salt=os.urandom(16), n=16384, r=8, p=1)",
    ),
    RuleExample(
        "python-key-size",
        "from Crypto.PublicKey import RSA\nRSA.generate(1024)",
        "from Crypto.PublicKey import RSA\nRSA.generate(3072)",
    ),
    RuleExample(
        "python-tls-verify",
        "import requests\nrequests.get('https://x', verify=False)",
        "import requests\nrequests.get('https://x')",
    ),
    RuleExample(
        "python-tls-version",
        "import ssl\nssl.SSLContext(ssl.PROTOCOL_TLSv1)",
        "import ssl\nssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)",
    ),
    RuleExample(
        "python-ssh-host-key",
        "import paramiko\nc = paramiko.SSHClient()\nc.set_missing_host_key_policy(paramiko.AutoAddPolicy())",
        "import paramiko\nc = paramiko.SSHClient()\nc.set_missing_host_key_policy(paramiko.RejectPolicy())",
    ),
    RuleExample(
        "python-jwt",
        "import jwt\njwt.decode(t, options={'verify_signature': False})",
        "import jwt\njwt.decode(t, key, algorithms=['HS256'])",
    ),
    RuleExample(
        "python-written-key",
        "import jwt\njwt.encode({'id': 1}, 'not-so-secret', algorithm='HS256')",
        "import jwt, os\njwt.encode({'id': 1}, os.environ['JWT_KEY'], algorithm='HS256')",
    ),
    RuleExample(
        "python-temp-file",
        "with open('/tmp/report.txt', 'w') as f:\n    f.write('x')",
        "import tempfile\nwith tempfile.NamedTemporaryFile('w') as f:\n    f.write('x')",
    ),
    RuleExample(
        "python-cookie", "app.config['SESSION_COOKIE_SECURE'] = False", "app.config['SESSION_COOKIE_SECURE'] = True"
    ),
    RuleExample(
        "python-bind-all",
        "from flask import Flask\nFlask('a').run(host='0.0.0.0')",
        "from flask import Flask\nFlask('a').run(host='127.0.0.1')",
    ),
    RuleExample("python-file-mode", "import os\nos.chmod('a', 0o777)", "import os\nos.chmod('a', 0o600)"),
    RuleExample(
        "python-archive",
        "import tarfile\ndef unpack(name):\n    tarfile.open(name).extractall('out')",
        "import tarfile\ndef unpack(name):\n    tarfile.open(name).extractall('out', filter='data')",
    ),
    RuleExample(
        "python-archive",
        "import tarfile\ndef unpack(name):\n    tarfile.open(name).extractall('out')",
        "import os, tarfile\ndef unpack(name):\n    t = tarfile.open(name)\n    for m in t.getmembers():\n"
        "        if not os.path.realpath(os.path.join('/out', m.name)).startswith('/out/'):\n"
        "            raise ValueError(m.name)\n    t.extractall('/out')",
    ),
    RuleExample("python-clear-text", "import ftplib\nftplib.FTP('host')", "import ftplib\nftplib.FTP_TLS('host')"),
    RuleExample(
        "python-easy-login",
        "import MySQLdb\nMySQLdb.connect(host='x', user='app', password='password')",
        "import MySQLdb, os\nMySQLdb.connect(host='x', user='app', password=os.environ['PW'])",
    ),
    RuleExample(
        "python-empty-password",
        "import MySQLdb\nMySQLdb.connect(host='x', passwd='')",
        "import MySQLdb, os\nMySQLdb.connect(host='x', passwd=os.environ['PW'])",
    ),
    RuleExample(
        "python-bind-all",
        "import socket\ns = socket.socket()\ns.bind(('0.0.0.0', 80))",
        "import socket\ns = socket.socket()\ns.bind(('127.0.0.1', 80))",
    ),
    RuleExample("python-mktemp", "import tempfile\ntempfile.mktemp()", "import tempfile\ntempfile.mkstemp()"),
    RuleExample(
        "python-debug",
        "from flask import Flask\nFlask('a').run(debug=True)",
        "from flask import Flask\nFlask('a').run()",
    ),
    RuleExample(
        "python-csrf",
        "from django.views.decorators.csrf import csrf_exempt\n@csrf_exempt\ndef pay(request):\n    pass",
        "from django.views.decorators.csrf import csrf_protect\n@csrf_protect\ndef pay(request):\n    pass",
    ),
    RuleExample(
        "python-csrf",
        "from flask import Flask\napp = Flask(__name__)\napp.config['WTF_CSRF_ENABLED'] = False",
        "from flask import Flask\napp = Flask(__name__)\napp.config['WTF_CSRF_ENABLED'] = True",
    ),
    RuleExample(
        "python-cors",
        "from flask_cors import CORS\nCORS(app, origins='*', supports_credentials=True)",
        "from flask_cors import CORS\nCORS(app, origins='https://a.example', supports_credentials=True)",
    ),
    RuleExample(
        "python-cors",
        "from fastapi.middleware.cors import CORSMiddleware\n"
        "app.add_middleware(CORSMiddleware, allow_origins=['*'], allow_credentials=True)",
        "from fastapi.middleware.cors import CORSMiddleware\napp.add_middleware(CORSMiddleware, allow_origins=['*'])",
    ),
    RuleExample(
        "python-logged-secret",
        "import logging\ndef login(user, password):\n    logging.info('login %s %s', user, password)",
        "import logging\ndef login(user, password):\n    logging.info('password accepted')",
    ),
    RuleExample(
        "python-few-rounds",
        "import hashlib, os\nhashlib.pbkdf2_hmac('sha256', secret(), os.urandom(16), 1000)",
        "import hashlib, os\nhashlib.pbkdf2_hmac('sha256', secret(), os.urandom(16), 600_000)",
    ),
    RuleExample(
        "python-cookie-site",
        "def start(response, token):\n    response.set_cookie('s', token, secure=True, httponly=True, samesite='None')",
        "def start(response, token):\n    response.set_cookie('s', token, secure=True, httponly=True, samesite='Lax')",
    ),
    RuleExample(
        "python-allowed-hosts",
        "INSTALLED_APPS = []\nALLOWED_HOSTS = ['*']",
        "INSTALLED_APPS = []\nALLOWED_HOSTS = ['shop.example']",
    ),
    RuleExample(
        "python-debug", "INSTALLED_APPS = []\nDEBUG = True", "INSTALLED_APPS = []\nDEBUG = env('DEBUG', default=False)"
    ),
    RuleExample(
        "python-shell",
        "from fabric.api import run\ndef deploy(branch):\n    run('git checkout ' + branch)",
        "from fabric.api import run\ndef deploy():\n    run('git checkout main')",
    ),
    RuleExample(
        "python-nosql",
        "def friends(session, name):\n    return session.run(f\"MATCH (p:Person {{name: '{name}'}}) RETURN p\")",
        "def friends(session, name):\n    return session.run('MATCH (p:Person {name: $name}) RETURN p', name=name)",
    ),
    RuleExample(
        "python-tls-verify",
        "import pymongo\npymongo.MongoClient(URL, tlsAllowInvalidCertificates=True)",
        "import pymongo\npymongo.MongoClient(URL, tls=True)",
    ),
    RuleExample(
        "python-tls-verify", "import boto3\nboto3.client('s3', verify=False)", "import boto3\nboto3.client('s3')"
    ),
    RuleExample(
        "python-written-key",
        "from Crypto.Cipher import AES\nAES.new(b'9f1c0a77e2b35d48', AES.MODE_GCM)",
        "from Crypto.Cipher import AES\nAES.new(load_key(), AES.MODE_GCM)",
    ),
    RuleExample(
        "python-deserialise",
        "import numpy\nnumpy.load('x.npy', allow_pickle=True)",
        "import numpy\nnumpy.load('x.npy')",
    ),
    RuleExample(
        "python-decompression-bomb",
        "import zlib\ndef unpack(payload):\n    return zlib.decompress(payload)",
        "import zlib\ndef unpack(payload):\n    return zlib.decompressobj().decompress(payload, 65536)",
    ),
    RuleExample(
        "python-argument",
        "import subprocess\ndef show(rev):\n    subprocess.run(['git', 'show', rev], check=True)",
        "import subprocess\ndef show(rev):\n    subprocess.run(['git', 'show', '--end-of-options', rev], check=True)",
    ),
    RuleExample(
        "python-claim-race",
        "import os\ndef claim(path):\n    if os.path.exists(path):\n        return False\n"
        "    with open(path, 'w') as f:\n        f.write('mine')\n    return True",
        "def claim(path):\n    with open(path, 'x') as f:\n        f.write('mine')",
    ),
    RuleExample(
        "python-rsa-padding",
        "from cryptography.hazmat.primitives.asymmetric import padding\n"
        "def wrap(public, key):\n    return public.encrypt(key, padding.PKCS1v15())",
        "from cryptography.hazmat.primitives.asymmetric import padding\n"
        "def wrap(public, key, sum):\n    return public.encrypt(key, padding.OAEP(padding.MGF1(sum), sum, None))",
    ),
    RuleExample(
        "python-path-prefix",
        "import os\ndef inside(folder, name):\n    base = os.path.abspath(folder)\n"
        "    return os.path.abspath(os.path.join(base, name)).startswith(base)",
        "import os\ndef inside(folder, name):\n    base = os.path.abspath(folder)\n"
        "    return os.path.abspath(os.path.join(base, name)).startswith(base + os.sep)",
    ),
    RuleExample(
        "python-private-mode",
        "import os\ndef save(path, private_key):\n    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)",
        "import os\ndef save(path, private_key):\n    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)",
    ),
    RuleExample(
        "python-unbounded-body",
        "def line(sock):\n    data = b''\n    while not data.endswith(b'.'):\n        data += sock.recv(9)",
        "def line(sock):\n    data = b''\n    while len(data) < 999:\n        data += sock.recv(9)",
    ),
    RuleExample(
        "python-assert-check",
        "def drop(user, page):\n    assert user.is_admin\n    page.delete()",
        "def drop(user, page):\n    if not user.is_admin:\n        raise PermissionError\n    page.delete()",
    ),
    RuleExample(
        "python-client-role",
        "from flask import request\ndef may():\n    return request.headers.get('X-Role') == 'admin'",
        "from flask import session\ndef may():\n    return session.get('role') == 'admin'",
    ),
    RuleExample(
        "python-unsigned-token",
        "import base64, json\ndef role(token):\n"
        "    return json.loads(base64.urlsafe_b64decode(token.split('.')[1] + '=='))['role']",
        "import jwt\ndef role(token, key):\n    return jwt.decode(token, key, algorithms=['HS256'])['role']",
    ),
    RuleExample(
        "python-clear-text",
        "import requests\nrequests.get('http://api.example/me', auth=('user', word))",
        "import requests\nrequests.get('https://api.example/me', auth=('user', word))",
    ),
)
