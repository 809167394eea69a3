"""Tasks of our own: small ones with one function to write, short reports of one fault, and long or vague issues."""

SMALL = (
    "Write a function that returns the second smallest number of a list.",
    "Write a function to turn a list of pairs into a dictionary; the last value of a repeated key is taken.",
    "Write a python function to check whether two rectangles overlap.",
    "Write a function to count the vowels of each word in a sentence.",
    "Write a function that removes every second character of a string.",
    "Write a function to find the day of the week for a date given as year, month and day.",
    '''
def running_total(numbers: list[int]) -> list[int]:
    """Return the sums of the first one, two, three ... numbers.
    >>> running_total([4, 1, 5])
    [4, 5, 10]
    >>> running_total([])
    []
    """
''',
    '''
def shelve(books: list[str], width: int) -> list[list[str]]:
    """Put books on shelves in the given order. A shelf holds titles of at most width letters together,
    and a title longer than width gets a shelf of its own.
    >>> shelve(["abc", "de", "fghi"], 5)
    [["abc", "de"], ["fghi"]]
    """
''',
    '''
def ferry_trips(cars: list[float], capacity: float) -> int:
    """How many trips a ferry needs if the cars board in order and the next trip begins when a car is too heavy.
    ferry_trips([1.5, 2.0, 0.5], 2.0) == 2
    """
''',
    '''
from typing import Optional

def common_prefix(words: list[str]) -> Optional[str]:
    """The longest beginning that all words have, or None if there are no words.
    >>> common_prefix(["tram", "trap", "tree"])
    'tr'
    """
''',
    '''
def is_ladder(words: list[str]) -> bool:
    """True if each word differs from the one before it in exactly one letter. Words of another length
    are no step of a ladder. An empty list is a ladder.
    Examples:
    is_ladder(["cold", "cord", "card"]) => True
    is_ladder(["cold", "warm"]) => False
    """
''',
    '''
def clock_angle(hours: int, minutes: int) -> float:
    """The smaller angle between the hands of a clock, in degrees. Hours may be 0 to 23; the hour hand moves
    with the minutes. For example, at 3:30 the angle is 75.0.
    """
''',
)

SHORT_REPORTS = (
    """Table of contents is empty for documents with one heading
With version 3.2 a document that has only one heading gets an empty table of contents.

```python
page = build("# Title\\n\\nText.\\n", toc=True)
print(page.toc)   # []
```

In 3.1 this printed `[("Title", 1)]`. I think the loop in `collect_headings` starts at the second entry since the title
became a separate field.
""",
    """`Matrix.inverse` returns NaN for large diagonal matrices
`Matrix.diag([1e200, 1e200]).inverse()` gives NaN, but the result is representable: `diag([1e-200, 1e-200])`. The
determinant overflows to infinity and we divide by it. For diagonal matrices we could invert each entry.
""",
    """Wrong line number in error for nested includes
If a template includes a file that includes another one, the error names the right file but the line of the outer
template. Example: `outer.html` line 7 includes `middle.html`, which includes `inner.html`; a missing variable on line 2
of the inner file is reported as "inner.html, line 7".
""",
    """Plugin order is random
The plugins are loaded in the order in which the file system lists them, so on some machines the `cache` plugin comes
before `auth` and pages are cached for the wrong user. The order should be the one in the settings. If a plugin is not
in the settings, it should come last, by name.
""",
    """Legend overlaps the plot when labels are long
When a label is longer than about 30 characters, the legend is drawn over the right part of the plot. Making the figure
wider does not help. It would be nice if the legend was wrapped or moved below the axes.
""",
)

LARGE_ISSUES = (
    """Scheduler loses jobs after the database was restarted
We run four schedulers against one database. Last week the database was restarted for an update, and since then some
jobs with a `cron` trigger do not run any more, although the web page lists them as active.

Steps:
1. Start two schedulers with the same `jobs` table.
2. Add a job that runs every minute.
3. Stop the database for 30 seconds while a job is running.
4. Start it again.

Expected: the job must run again within a minute, and only once. Actual: the log has one line, `connection reset`, and
the job is never picked up until every scheduler is restarted. It seems `claim_job` in scheduler/store.py keeps the row
locked when the commit fails. If the lock had a timeout, another scheduler could take the job, but then a slow job
should not be started twice. We also need to keep the old clients working, which only know the first version of the
table, so a migration has to be backward compatible. When only one scheduler runs, everything is fine.
""",
    """Support several time zones in one report
At the moment a report is made in the time zone of the server. Our offices are in Lisbon, Nairobi and Osaka, and each of
them should see its own days. A suitable solution would probably be to store the zone with each user, or maybe with each
report, and to do something sensible with the reports that exist already. Various pages show times: the list of reports,
the report itself, the mail that is sent at night, the export, etc. They should all agree, ideally without a query for
each row. What should happen when a user has no zone? And how would we test this around the change to summer time?
It would be good to improve the date picker too while we are at it.
""",
    """Uploads over 2 GB fail behind the proxy
Since we moved the upload service behind the proxy, files larger than 2 GB fail at the end of the upload with status
502. The client then starts from the beginning, up to five times, which fills the temporary volume of the server.

What we found:
- the proxy ends a request after 300 s; our server needs longer than that to compute the checksum when the file is large
- the server does not notice that the client is gone, so the temporary file is only removed by the nightly command
- the retry in the client does not ask which parts are there already, although the endpoint for that exists

I would suggest that the server must answer as soon as the last part is stored and compute the checksum in a queue. The
client has to poll until the checksum is there. If the checksum is wrong, the file must not be visible to anybody. The
limit for the number of concurrent uploads should stay as it is, except for the importer, which needs to send more than
ten files at once. Older clients must still work. This touches upload/views.py, upload/tasks.py and client/send.py.
""",
    """Search is slow and returns strange results
Search has become slow, and several customers say that the results are not good any more. Typing a product number finds
something else first, a misspelt word finds nothing, and on a phone the page jumps whenever more results are loaded. We
should make this more robust and user-friendly. Perhaps a different index would be better, or some kind of cache in
front of the database? It has to work for all languages that we support, and ideally the shop does not need to be taken
offline when the index is built again.
""",
    """Deprecate positional arguments of `Client.fetch`
`Client.fetch(url, method, body, headers, timeout, retries)` is called with up to six positional arguments, and people
mix up `timeout` and `retries`. We want keyword-only arguments after `url` in 5.0.

- calls with positional arguments must work in 4.x and warn once for each place in the code
- the warning must name the argument and show the call as it should be written
- subclasses that override `fetch` with the old signature must still be called, unless they set `strict = True`
- the asynchronous client, the command line and the recorded tests need to be changed as well
- the documentation should have a page about the change, with a table of the old and the new form
- if `timeout` is a tuple, it is only split when both parts are numbers, otherwise a `TypeError` is required

Please make sure that type checkers accept both forms until 5.0. Files: client/core.py, client/aio.py, cli/main.py.
""",
)
