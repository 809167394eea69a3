"""Secrets that are known by their name or their place; and what looks like one and is none."""

from pathlib import Path

import pytest

import moot
from moot.text.secrets import Vault

MASKED = r"""
DB_PASS = "hunter2"
DB_PASS=hunter2
export PGPASSWORD=hunter2
MYSQL_PWD=swordfish
password: hunter2
password: swordfish
  password: "s3cr3tW0rd"
"password": "hunter2",
db_password = 'hunter2'
spring.datasource.password=hunter2
const dbPass = "hunter2";
var dbPassword = `hunter2`
password := "hunter2"
Password: "hunter2",
os.environ["DB_PASS"] = "hunter2"
os.Setenv("DB_PASS", "hunter2")
os.getenv("DB_PASS", "hunter2")
process.env.DB_PASS = 'hunter2'
conn = connect(user="a", password="hunter2")
def f(password="hunter2"):
if password == "hunter2":
user, password = "bob", "hunter2"
postgres://bob:hunter2@db/x
amqp://guest:s3cr3t@mq:5672
redis://:hunter2@cache:6379/0
mongodb+srv://bob:p%40ss@cluster0.x.net
https://bob:hunter2@example.org/repo.git
https://gho0123456789abcdef@github.com/a/b
https://h.example/x?token=abc123def456&x=1
https://h.blob.core.windows.net/c?sv=2020&sig=Zm9vYmFyYmF6cXV4MTIz%3D
https://maps/x?key=AbCd1234EfGh5678
jdbc:postgresql://db/x?user=bob&password=hunter2
Server=db;User Id=sa;Password=hunter2;
host=db user=bob password=hunter2 dbname=x
DefaultEndpointsProtocol=https;AccountName=a;AccountKey=Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZg==;
Authorization: Bearer abc123def456ghi
"Authorization": "Basic Ym9iOmh1bnRlcjI="
headers = {"X-Api-Key": "abc123def456"}
secret = "s3cr3t-value-1"
client_secret: 8f14e45fceea167a5a36dedd4bea2543
api_key = "8f14e45fceea167a5a36"
AWS_SECRET_ACCESS_KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzKEY"
credential = "k9-2fjd-88as"
<password>hunter2</password>
CREATE USER bob IDENTIFIED BY 'hunter2';
ALTER ROLE bob WITH PASSWORD 'hunter2';
machine h login bob password hunter2
curl -u bob:hunter2 https://x
mysql -u root -phunter2 db
sshpass -p hunter2 ssh x
tool --password hunter2 --verbose
db:5432:app:bob:hunter2
ENV DB_PASS hunter2
password: str = "hunter2"
token: Optional[str] = "abc123def456"
user.password = "hunter2"
set_password("hunter2")
passphrase = "correct horse battery staple"
DB_PASS = r"hunter2"
DB_PASS = b"hunter2"
{"dbPassword":"hunter2"}
{\"dbPassword\":\"hunter2\"}
'password' => 'hunter2',
userpass = "hunter2"
ADMIN_PASSWORD_2 = "hunter2x"
PASSWORD_PROD = "hunter2"
PASSWORD_PROD=hunter2
passwordProd: "hunter2",
TOKEN_PROD = "abc123def456"
API_KEY_PROD = "8f14e45fceea167a5a36"
SECRET_KEY_BASE = "8f14e45fceea167a5a36"
CLIENT_SECRET_V2 = "8f14e45fceea167a5a36"
fernet_key = "8f14e45fceea167a5a36"
priv_key = "8f14e45fceea167a5a36"
DB_PW = "hunter2"
dbPw = "hunter2"
MYSQL_PW=hunter2
GITHUB_PAT = "8f14e45fceea167a5a36"
DB_CREDS = "8f14e45fceea167a5a36"
cred = "8f14e45fceea167a5a36"
password = os.getenv("X") or "hunter2"
password = os.environ.get("X", "hunter2")
password = given if given else "hunter2"
password = "swordfish" if debug else "hunter2"
password = (os.getenv("X") or "hunter2")
const password = process.env.X || "hunter2";
password: process.env.X ?? 'hunter2',
const password = live ? "swordfish" : "hunter2";
connect(password=given or "hunter2", user="bob")
key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEabcdefghijklmnopqrstuvwxyz0123456789\n-----END RSA PRIVATE KEY-----"
-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ (the rest was cut off)
""".strip().splitlines()
HARMLESS = r"""
password = input("Password: ")
password = getpass.getpass()
token = get_token()
api_key = os.environ["API_KEY"]
api_key = os.environ.get("API_KEY", "")
"password": "string"
password: str
password: SecretStr
secret_key: Optional[str] = None
pwd = os.getcwd()
PWD=/home/bob
def f(password=""):
PASSWORD_FIELD = "password"
tokens = 100
max_tokens: 4096
key=lambda x: x
sort_keys=True
primary_key=True
foreign_key = "users.id"
cache_key = "user:1"
<input name="password" placeholder="Password">
http://localhost:8000/?key=value
https://user@host/x
git@github.com:a/b.git
ssh://git@host/x
http://example.com:80/@foo
postgres://user:password@localhost/db
postgres://${USER}:${PASS}@host/db
postgres://{user}:{password}@host/db
password=password
    password=password,
    token=self.token,
token = "next"
pad_token = "<pad>"
key = "name"
bypass = "yes"
compass = "north"
encompass = "all-of-it"
passenger = "bob42x"
tokenizer = "gpt2-medium"
secretary = "alice99"
if status in ("pass", "fail"):
WORDS = ["password", "passwd", "hunter2"]
The password must have 8 characters.
password: the one you chose
token: "the next one"
password = None
password: required
if token == "(":
SECRET = "changeme"
password = "your-password-here"
secret: ${SECRET}
api_key: <your key>
error: invalid token at line 3
"token": "identifier"
keyboard = "qwerty12"
monkey = "george7"
auth = "basic"
Basic usage of the tool is described below
the bearer of this letter
token budget: 24000
"api_key": {"type": "string"}
assert strong_password("Abc123!x")
hash_password(password)
x = {"key": "value"}
git commit -m "fix: token refresh"
see https://docs.python.org/3/library/secrets.html#secrets.token_hex
password_hash = hashlib.sha256(password).hexdigest()
for key, value in items:
key: value
access_token_url = "https://x/oauth/token"
SECRET_KEY = os.getenv('SECRET_KEY')
authorization = base64.decodebytes(authorization)
commit 501a459f0a1b2c3d4e5f60718293a4b5c6d7e8f9
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
PASSWORD_HASHERS = ["pbkdf2_v1"]
password_hash = "5f4dcc3b5aa765d6"
PASSWORD_RESET_TEMPLATE = "reset.html"
password_min_length = "0012"
PASSWORD_RESET_TIMEOUT=259200
token_type = "mac-v1-x9"
SECRET_NAME = "prod-db-7/x"
passwordInput = "pw_input_1"
date_pat = r"[0-9]+-\d+T\d+"
pat = "ab12cd34ef"
path = "ab12cd34ef"
pattern = "ab12cd34ef"
credits = "ab12cd34ef"
pass_rate = "ab12cd34ef"
first_pass_result = "ab12cd34ef"
power = "ab12cd34ef"
password = config["db_pw_7"]
password = data.get("field_7")
password = read("field_7") or None
password = given if mode == "mode_7" else None
connect(password=given, user=name or "bob_7")
uuid = "123e4567-e89b-12d3-a456-426614174000"
""".strip().splitlines()


@pytest.mark.parametrize("line", MASKED)
def test_a_secret_is_masked_by_its_name_or_place_and_put_back(line: str) -> None:
    vault = Vault({})
    hidden = vault.hide(line)
    for secret in ("hunter2", "swordfish", "s3cr3t", "abc123def456", "8f14e45fceea", "MIIEabc", "b3BlbnNzaC1"):
        assert secret not in hidden
    assert vault.count and hidden != line and vault.reveal(hidden) == line
    assert Vault({}).hide(hidden) == hidden, "a mask is not masked again"


@pytest.mark.parametrize("line", HARMLESS)
def test_what_only_looks_like_a_secret_stays(line: str) -> None:
    assert Vault({}).hide(line) == line


def test_prompts_of_our_own_are_not_masked() -> None:
    prompts = sorted(Path(moot.__file__).parent.rglob("prompts/*.md"))
    assert len(prompts) > 40
    for file in prompts:
        text = file.read_text(encoding="utf-8")
        assert Vault({}).hide(text) == text, file.name


def test_what_is_a_secret_in_one_file_is_one_in_all() -> None:
    code, test = 'USERS = {"bob": "hunter2", "ann": "swordfish"}\n', 'password = "hunter2"\npassword = "swordfish"\n'
    vault = Vault({})
    vault.learn(code, test)
    hidden = vault.hide(code) + vault.hide(test)
    assert "hunter2" not in hidden and "swordfish" not in hidden
    assert vault.hide("a swordfish is a fish") == "a swordfish is a fish", "a plain word is masked only in quotes"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DB_PASS", "swordfish"), ("PGPASSWORD", "hunter2x"), ("MYSQL_PWD", "hunter22"), ("SMTP_PASSWD", "abcdefgh"),
        ("MY_TOKEN", "abcdefgh12345678"), ("DATABASE_URL", "postgres://u:hunter22@h/d"), ("clientSecret", "a1b2c3d4e5"),
        ("DB_PW", "swordfish"), ("GITHUB_PAT", "abcdefgh12345678"), ("DB_CREDS", "a1b2c3d4e5"), ("CRED_X", "a1b2c3d4"),
    ],
)  # fmt: skip
def test_environment_variables_are_known_by_their_names(name: str, value: str) -> None:
    said = f"it said {value} twice: {value}"
    assert "REDACTED_" in Vault({name: value}).hide(said) and "hunter22" not in Vault({name: value}).hide(said)


@pytest.mark.parametrize(
    ("name", "value"), [("PWD", "/home/bob"), ("DB_PASS", "postgres"), ("TOKEN", "none"), ("HOME", "abcdefgh1234")]
)
def test_other_environment_variables_are_not(name: str, value: str) -> None:
    said = f"it said {value}"
    assert Vault({name: value}).hide(said) == said


def test_the_scan_still_finds_a_secret_that_is_masked() -> None:
    from moot.scan import StaticTeam
    from moot.testing import one_file

    for line in ('DB_PASS = "hunter2"\n', 'KEY = "AKIA' + "ABCD1234" * 2 + '"\n', 'URL = "postgres://u:hunter2@h/d"\n'):
        hidden = Vault({}).hide(line)
        assert "REDACTED_" in hidden
        assert [f.rule for f in StaticTeam().scan(one_file(hidden)).findings] == ["python-hardcoded-secret"]


@pytest.mark.parametrize(
    "value", ["abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"]
)
def test_the_letters_that_a_token_is_made_of_are_no_secret(value: str) -> None:
    text = f'const tokenChars = "{value}"\n'
    assert Vault({}).hide(text) == text
    shuffled = value[::2][::-1] + value[1::2]
    assert shuffled not in Vault({}).hide(f'const tokenChars = "{shuffled}"\n')
