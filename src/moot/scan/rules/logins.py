"""Queries that look for a person by what the person sent, which may be an object of conditions."""

import re

from moot.scan.engine.rulebook import Site
from moot.scan.engine.values import ALL, Val
from moot.scan.rules.when import finds
from moot.scan.syntax import words

CREDENTIALS = words(
    "password passwd pass token resetToken reset_token otp code secret pin apiKey api_key refreshToken refresh_token "
    "verificationToken verification_token inviteToken sessionToken accessToken access_token"
)
IDENTITIES = words("username userName user_name user email mail login account")
LOGIN = re.compile(r"(?i)sign_?in|log_?in|authenticat|bcrypt|argon2|\.compare\(|verify_?password|check_?password")


def asks_for_login(site: Site, query: Val | None) -> bool:
    """A password or a token is compared by the database, or a name where somebody signs in."""
    if query is None or not query.refs:
        return False
    around = site.around()
    keys = (*CREDENTIALS, *(IDENTITIES if finds(LOGIN, around) else ()))
    return any(_may_be_object(value, around) for key in keys if (value := site.setting(query, key)) is not None)


def _may_be_object(value: Val, around: str) -> bool:
    """A parameter that is neither converted nor declared as a text."""
    open_ones = [taint.origin for taint in value.taints if not taint.ended & {"nosql", ALL}]
    names = [re.split(r" of |\|", origin.removeprefix("parameter "))[0] for origin in open_ones]
    return any(not re.search(rf"\b{re.escape(name)}\??\s*:\s*(?:str|string|Annotated)\b", around) for name in names)
