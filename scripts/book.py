#!/usr/bin/env python3
"""Puts the sources of the docs' site together, and checks what mdBook made of them; for scripts/book.

  book.py gather OUT    writes OUT/src: README, docs, reports; the reference is there already
  book.py check SITE    fails on a link that leads nowhere, and on anything that would ask the network
"""
import os
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

HERE = "<!-- reference: scripts/book puts the generated pages here -->"
LINK = re.compile(r"\]\(([^)\s]+)\)")


def gather(out: Path) -> list[str]:
    """Writes OUT/src and returns what is wrong."""
    source, wrong = out / "src", []
    pages = [*sorted(Path().glob("README*.md")), *sorted(Path("docs").glob("*.md")), *sorted(Path("reports").glob("*.md"))]
    pages.remove(Path("docs/SUMMARY.md"))
    summary = Path("docs/SUMMARY.md").read_text()
    listed = {os.path.normpath(f"docs/{link}") for link in LINK.findall(summary)}
    wrong += [f"{page}: in no chapter of docs/SUMMARY.md" for page in pages if str(page) not in listed]
    wrong += [f"docs/SUMMARY.md: {page} is not there" for page in sorted(listed) if not Path(page).is_file()]
    for page in pages:
        text = page.read_text()
        (source / page).parent.mkdir(parents=True, exist_ok=True)
        (source / page).write_text(text)
        for link in LINK.findall(text):
            file = Path(os.path.normpath(page.parent / link.split("#")[0]))
            if file.suffix in {".png", ".svg"} and file.is_file():
                (source / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, source / file)
    contents = source / "reference/contents.md"
    generated = LINK.sub(lambda link: f"](../reference/{link[1]})", contents.read_text())
    contents.unlink()
    if HERE not in summary:
        wrong.append("docs/SUMMARY.md: no place for the reference")
    # mdBook knows the file beside the pages: there the links begin at the folder of all sources.
    summary = summary.replace(HERE + "\n", generated)
    (source / "SUMMARY.md").write_text(LINK.sub(lambda link: f"]({os.path.normpath('docs/' + link[1])})", summary))
    shutil.copy("docs/book.toml", out / "book.toml")
    return wrong


class Page(HTMLParser):
    """The links, the names of places, and what is loaded with a page."""

    def __init__(self, text: str):
        super().__init__()
        self.links, self.loaded, self.places = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.places |= {attrs[name] for name in ("id", "name") if attrs.get(name)}
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])
        self.loaded += [attrs[name] for name in ("src", "srcset", "poster") if attrs.get(name)]
        if tag == "link" and attrs.get("href"):
            self.loaded.append(attrs["href"])


def check(site: Path) -> list[str]:
    """What is wrong with the pages, one line each."""
    pages = {path.resolve(): Page(path.read_text()) for path in site.rglob("*.html")}
    wrong = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        wrong += [f"{name}: loads {link}" for link in page.loaded if urlsplit(link).scheme not in {"", "data"} or link.startswith("//")]
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or link.startswith("//") or name.name in {"404.html", "toc.html"}:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                wrong.append(f"{name}: {link} leads nowhere")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                wrong.append(f"{name}: {link} has no such place")
    for style in [*site.rglob("*.css")]:
        wrong += [f"{style.name}: loads {url}" for url in re.findall(r"url\(['\"]?((?:https?:)?//[^)'\"]+)", style.read_text())]
    print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links: {len(wrong)} wrong")
    return wrong


def main() -> int:
    verb, path = sys.argv[1], Path(sys.argv[2])
    wrong = {"gather": gather, "check": check}[verb](path)
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


sys.exit(main())
