"""Words that tell what a value is for."""

import re

PASSWORD = re.compile(r"(?i)passw|passwd|\bpwd|pwd$|_pw$|^pw$|\bpw_|passphrase|credential")
