"""Resources and prompts: reports and transcripts of sessions."""

import re
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
)

from moot.core.errors import MootError
from moot.surfaces.history.documents import load_document, read_report
from moot.surfaces.mcp.sessions import Context, McpSessions
from moot.surfaces.server.problems import Refusal
from moot.text.controls import clean
from moot.text.report_markdown import render_document_markdown, render_markdown

MOST_LISTED = 20
MOST_SEARCHED = 200
MARKDOWN = "text/markdown"
ADDRESS = re.compile(r"moot://session/([0-9a-fA-F-]{36})/(report|transcript)")
ABOUT = {"report": "what came of a session", "transcript": "everything that was said and run in it"}
PROMPTS = {
    "second_opinion": (
        "Have other models argue about a question",
        ("question", "what is to be decided"),
        "Put this to Moot's `decide` tool, with two to four options that you would seriously consider, and tell me "
        "the verdict with its caveats: {}",
    ),
    "vet_action": (
        "Challenge an action before it is done",
        ("action", "a command, or what is about to be done"),
        "Before anything else, put this action to Moot's `vet` tool, with the context it needs. Do it only if the "
        "resolution is PROCEED; change it as told if it is MODIFY; ask me if it is ESCALATE: {}",
    ),
    "harden_diff": (
        "Attack and patch what was changed",
        ("base", "a commit or branch to compare with, such as main"),
        "Give the files that changed since {} to Moot's `harden` tool, with their tests where there are some. Show me "
        "its findings and the patch, and apply the patch only if I agree.",
    ),
}


async def list_resources(sessions: McpSessions, ctx: Context) -> ListResourcesResult:
    """The newest sessions; older ones are read by id."""
    who = sessions.require(ctx, "read")
    found = await sessions.site.queries.page(MOST_LISTED, None, "", "", "", who.sees_only)
    return ListResourcesResult(
        resources=[
            Resource(
                uri=f"moot://session/{record.id}/report",
                name=f"{record.protocol} {record.id[:8]}",
                description=clean(f"{record.status}: {record.topic}"),
                mime_type=MARKDOWN,
            )
            for record in found
        ]
    )


async def list_templates(ctx: Context, params: Any) -> ListResourceTemplatesResult:
    made = [
        ResourceTemplate(uri_template=f"moot://session/{{id}}/{name}", name=name, description=about, mime_type=MARKDOWN)
        for name, about in ABOUT.items()
    ]
    return ListResourceTemplatesResult(resource_templates=made)


async def complete(sessions: McpSessions, ctx: Context, params: CompleteRequestParams) -> CompleteResult:
    """The id in an address of a session; nobody can guess what a prompt is given."""
    who, begun, found = sessions.require(ctx, "read"), params.argument.value.lower(), list[str]()
    if params.ref.type == "ref/resource" and params.argument.name == "id":
        records = await sessions.site.queries.page(MOST_SEARCHED, None, "", "", "", who.sees_only)
        found = [record.id for record in records if record.id.startswith(begun)]
    more = len(found) > MOST_LISTED
    return CompleteResult(completion=Completion(values=found[:MOST_LISTED], has_more=more))


async def read_resource(sessions: McpSessions, ctx: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
    uri = str(params.uri)
    named = ADDRESS.fullmatch(uri)
    try:
        if named is None:
            raise Refusal(404, "no_resource", "there is no such resource")
        record = (await sessions.find(named[1], sessions.require(ctx, "read"))).record
    except (MootError, Refusal) as error:
        raise MCPError(code=INVALID_PARAMS, message=str(error), data={"uri": uri}) from None
    if named[2] == "transcript":
        text = render_document_markdown(await load_document(sessions.site.store, record.id))
    else:
        kept = await read_report(record, sessions.site.store)
        text = (
            render_markdown(kept.report) if kept else f"Session {record.id} is {record.status} and has no report yet."
        )
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)])


async def list_prompts(ctx: Context, params: Any) -> ListPromptsResult:
    made = [
        Prompt(name=name, description=about, arguments=[PromptArgument(name=given, description=what, required=True)])
        for name, (about, (given, what), _) in PROMPTS.items()
    ]
    return ListPromptsResult(prompts=made)


async def get_prompt(ctx: Context, params: GetPromptRequestParams) -> GetPromptResult:
    if params.name not in PROMPTS:
        raise MCPError(code=INVALID_PARAMS, message=f"Unknown prompt: {params.name}")
    about, (given, _), text = PROMPTS[params.name]
    value = (params.arguments or {}).get(given, "").strip()
    if not value:
        raise MCPError(code=INVALID_PARAMS, message=f"the argument {given!r} is missing")
    words = PromptMessage(role="user", content=TextContent(text=text.replace("{}", value)))
    return GetPromptResult(description=about, messages=[words])
