"""Gives every text that a test run sent to TDLib's own code for formatted text, without a network.

Usage: reparse.py LIBRARY DIRECTORY. Each line of the directory's *.jsonl is {"method", "text", "entities"}
in the form of the Bot API. Prints one line for each text that TDLib refuses or would change, and a count.
"""
import ctypes
import json
import pathlib
import sys

SIMPLE = {
    "bold": "Bold", "italic": "Italic", "underline": "Underline", "strikethrough": "Strikethrough",
    "spoiler": "Spoiler", "code": "Code", "blockquote": "BlockQuote",
    "expandable_blockquote": "ExpandableBlockQuote",
}
# The only call that runs the clean-up of a real send without a login also parses Markdown. Its marks are
# replaced by characters of the same length that mean nothing, and put back afterwards.
MARKS = "*_~|`[]()!"
HIDE = {ord(mark): 0xF300 + number for number, mark in enumerate(MARKS)}
SHOW = {0xF300 + number: mark for number, mark in enumerate(MARKS)}


def load(path):
    library = ctypes.CDLL(path)
    library.td_execute.restype = ctypes.c_char_p
    library.td_execute.argtypes = [ctypes.c_char_p]

    def execute(request):
        reply = library.td_execute(json.dumps(request).encode())
        return json.loads(reply.decode()) if reply else None

    execute({"@type": "setLogVerbosityLevel", "new_verbosity_level": 0})
    return execute


def to_td(entity):
    kind = entity["type"]
    if kind in SIMPLE:
        inner = {"@type": "textEntityType" + SIMPLE[kind]}
    elif kind == "pre" and entity.get("language"):
        inner = {"@type": "textEntityTypePreCode", "language": entity["language"]}
    elif kind == "pre":
        inner = {"@type": "textEntityTypePre"}
    elif kind == "text_link":
        inner = {"@type": "textEntityTypeTextUrl", "url": entity["url"]}
    else:
        raise ValueError(f"an entity of type {kind}")
    return {"@type": "textEntity", "offset": entity["offset"], "length": entity["length"], "type": inner}


def flat(entity):
    kind = dict(entity["type"])
    # TDLib completes addresses, "https://e.com" to "https://e.com/"; that changes nothing that is seen.
    url = kind.get("url", "").rstrip("/").lower()
    return (entity["offset"], entity["length"], kind["@type"], kind.get("language", ""), url)


def units(text):
    return len(text.encode("utf-16-le")) // 2


def covered(entities):
    """Units by kind of format: TDLib joins and cuts entities, which no reader can see."""
    out = {}
    for offset, length, *kind in entities:
        out.setdefault(tuple(kind), set()).update(range(offset, offset + length))
    return out


def judge(execute, sent):
    """What is wrong with one text, or None."""
    text, entities = sent["text"], [to_td(entity) for entity in sent["entities"]]
    if len(text.encode()) > 32768:
        return "over 32768 bytes"
    got = execute({"@type": "parseMarkdown", "text": {
        "@type": "formattedText", "text": text.translate(HIDE), "entities": entities}})
    if got["@type"] == "error":
        return f"refused: {got['message']}"
    clean = got["text"].translate(SHOW)
    limit = 1024 if sent["method"].lower() not in ("sendmessage", "editmessagetext") else 4096
    if len(clean.rstrip()) > limit:
        return f"{len(clean)} characters"
    if len(got.get("entities", [])) > 100:
        return f"{len(got['entities'])} entities"
    if not clean.strip() and limit == 4096:
        return "empty after trimming"
    if clean.rstrip() != text.rstrip():
        return f"the text would become {clean!r}"
    end = units(text.rstrip())
    cut = lambda spans: covered((o, min(n, end - o), *rest) for o, n, *rest in map(flat, spans) if o < end)
    mine, theirs = cut(entities), cut(got.get("entities", []))
    if mine != theirs:
        odd = {kind for kind in mine.keys() | theirs.keys() if mine.get(kind) != theirs.get(kind)}
        return f"other formatting of {sorted(odd)}"
    return None


def main():
    execute = load(sys.argv[1])
    lines = set()
    for path in sorted(pathlib.Path(sys.argv[2]).glob("*.jsonl")):
        lines.update(path.read_text().splitlines())
    bad = 0
    for line in sorted(lines):
        sent = json.loads(line)
        fault = judge(execute, sent)
        if fault:
            bad += 1
            print(f"{sent['method']}: {fault}\n    {sent['text'][:300]!r}\n    {json.dumps(sent['entities'])[:300]}")
    print(f"{len(lines)} texts, {bad} faults")
    return 1 if bad or not lines else 0


sys.exit(main())
