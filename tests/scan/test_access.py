"""A route without a guard is told only where guarding is the habit of the file and nothing else keeps strangers out."""

import pytest
from samples import rules

FLASK = "from flask import Flask, abort, session\nfrom app import login_required\napp = Flask(__name__)\n"
GUARDED = "@app.route('/items', methods=['POST'])\n@login_required\ndef add():\n    return store()\n"
OPEN = "@app.route('/items/<int:id>', methods=['DELETE'])\ndef remove(id):\n    return drop(id)\n"
FASTAPI = "from fastapi import APIRouter, Depends\nrouter = APIRouter()\n"
NEEDS_USER = "@router.post('/a')\ndef add(user=Depends(current_user)):\n    return 1\n"
DJANGO = "from django.http import JsonResponse\n"
VIEW = "def {name}(request):\n    if request.method == 'POST':\n        {body}\n    return JsonResponse({{}})\n"

PYTHON_FIRES = [
    FLASK + GUARDED + OPEN,
    FLASK + GUARDED + "@app.route('/admin/users')\ndef users():\n    return all_users()\n",
    FASTAPI + NEEDS_USER + "@router.delete('/a/{id}')\ndef remove(id: int):\n    return drop(id)\n",
    DJANGO + "@login_required\n" + VIEW.format(name="add", body="store()") + VIEW.format(name="drop", body="erase()"),
]
PYTHON_SILENT = [
    FLASK + OPEN,
    FLASK + GUARDED + OPEN.replace("/items/<int:id>", "/login"),
    FLASK + GUARDED + OPEN.replace("methods=['DELETE']", "methods=['GET']"),
    FLASK + GUARDED + OPEN.replace("return drop(id)", "if 'user' not in session:\n        abort(401)"),
    FLASK + GUARDED + OPEN.replace("def remove", "@admin_required\ndef remove"),
    FLASK + "@app.before_request\ndef check():\n    pass\n" + GUARDED + OPEN,
    FLASK + GUARDED + OPEN + OPEN.replace("remove", "undo") + OPEN.replace("remove", "hide"),
    FASTAPI.replace("APIRouter()", "APIRouter(dependencies=[Depends(user)])") + NEEDS_USER,
    FASTAPI + NEEDS_USER + "@router.delete('/a', dependencies=[Depends(current_user)])\ndef d():\n    return 1\n",
    DJANGO + "@login_required\n" + VIEW.format(name="add", body="store()") + VIEW.format(name="sign_up", body="new()"),
    (GUARDED + OPEN).replace("app.route", "table.route"),
]
SCRIPTS_FIRE = [
    "router.post('/a', requireAuth, add);\nrouter.delete('/a/:id', remove);",
    "app.get('/a', auth, one);\napp.get('/b', auth, two);\napp.get('/admin/users', (req, res) => res.json(all()));",
]
SCRIPTS_SILENT = [
    "router.delete('/a/:id', remove);",
    "router.post('/a', requireAuth, add);\nrouter.delete('/a/:id', requireAuth, remove);",
    "router.use(requireAuth);\nrouter.post('/a', requireAuth, add);\nrouter.delete('/a/:id', remove);",
    "router.post('/a', auth, add);\nrouter.post('/login', (req, res) => enter(req, res));",
    "router.post('/a', auth, add);\nrouter.put('/a', (req, res) => req.user ? put(res) : res.sendStatus(401));",
    "router.post('/a', auth, add);\ncache.delete('/a/1', done);",
]


@pytest.mark.parametrize("text", PYTHON_FIRES)
def test_an_open_view_among_guarded_ones_is_told(text: str) -> None:
    assert rules("python", text).count("python-missing-auth") == 1


@pytest.mark.parametrize("text", PYTHON_SILENT)
def test_views_that_may_be_open_are_left_in_peace(text: str) -> None:
    assert "python-missing-auth" not in rules("python", text)


@pytest.mark.parametrize("language", ["javascript", "typescript"])
@pytest.mark.parametrize("text", SCRIPTS_FIRE)
def test_an_open_route_among_guarded_ones_is_told(language: str, text: str) -> None:
    assert rules(language, text).count("javascript-missing-auth") == 1  # type: ignore[arg-type]


@pytest.mark.parametrize("text", SCRIPTS_SILENT)
def test_routes_that_may_be_open_are_left_in_peace(text: str) -> None:
    assert "javascript-missing-auth" not in rules("javascript", text)
