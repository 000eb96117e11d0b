"""What MkDocs has to know of this tree: pages link to files outside of docs, and lists stand as GitHub reads them."""
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = re.compile(r"\]\(\.\./([^)\s#]+)(#[^)\s]*)?\)")
# Where somebody who searches wants to come out first, and where last.
FIRST = {"analyst", "backup", "budget", "owner", "python", "r", "server", "sql", "sql-private", "users"}
LAST = {"accounting", "benchmarks", "design", "enforcement", "holdout", "learning", "researcher", "threat-model"}
FOLDER = re.compile(r"\]\((?!\.\./)(\w+(?:/\w+)*)/?\)")


def on_page_markdown(markdown, page, config, **_):
    """Links to files outside of docs, and to folders, lead to the repository. One that is not there fails the build."""

    def link(found):
        path, anchor = found.group(1), found.group(2) or ""
        if not (ROOT / path).exists():
            raise FileNotFoundError(f"{page.file.src_uri} links to {path}, which is not there")
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"]({config.extra['repository']}/{kind}/main/{path}{anchor})"

    name = page.file.src_uri.removesuffix(".md")
    page.meta["search"] = {"boost": 3 if name in FIRST else 0.4 if name in LAST else 1}
    out, fence, width = [], "", 0
    for line in markdown.split("\n"):
        # What goes on below an item of a list is indented by four, which Python's Markdown wants.
        item = re.match(r"(?:[-*]|\d+\.) +", line)
        if item and not (fence and not width):
            width = len(item.group())
        elif width and line.startswith(" " * width):
            line = "    " + line[width:]
        elif line.strip():
            width = 0
        marker = re.match(r" *(```+|~~~+)", line)
        if fence:
            fence = "" if line.strip().startswith(fence) else fence
        elif marker:
            fence = marker.group(1)
        else:
            line = OUTSIDE.sub(link, FOLDER.sub(r"](../docs/\1)", line))
        out.append(line)
    return "\n".join(out)
