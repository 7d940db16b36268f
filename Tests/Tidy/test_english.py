"""Comments, pages, help texts and messages in plain English, as far as patterns can tell; type names that are used once."""

import collections
import io
import re
import tokenize

import pytest

from modules import TYPE, modules
from sources import text_of, tracked
from swift_source import OPENING, comment_end, string_end

# Areas that are rewritten later. Nothing is added here.
NOT_YET = ('Tests/Tidy/test_english.py', 'Tests/Plugins/C/headers/')
# Types of the host that have the name of a public type of the SDK. Nothing is added here.
SHARED_YET = {'DatabaseError', 'Message', 'MessagingError'}

# A comment begins with a verb or a noun phrase: not with a bare clause, nor with a preposition of inverted words.
BEGINNING = re.compile(r'(?:What|Who|Whose|Whom|Whoever|Whatever|Of)\s+(?!else\b)[a-z`]|Has\s+(?:a|an|the|its|it|this|all|some|one|`)\b'
                       r'|Not\s+for\s+\w+\s+(?:is|are)\b')
# Help texts and messages do not begin with a bare clause either; a question may.
CLAUSE = re.compile(r'(?:What|Who|Whose|Whom|Whoever|Whatever)\s+[a-z][^?]*$')
ANYWHERE = re.compile(r'\b(?:somebody|whoever|whomever)\b|\bthe house\b|\bhas heard\b|\b(?:is|are|was|were) told\b(?! to\b)', re.IGNORECASE)


def problem(text, beginning=BEGINNING):
    """The words of `text` that puzzle; None where there are none."""
    found = beginning.match(text) or ANYWHERE.search(text)
    return found[0] if found else None


# -- the prose of a file

def joined(blocks):
    """(line number, text) of each block of comment lines; lines that follow each other are one comment."""
    found = []
    for number, text in blocks:
        if found and text and found[-1][2] == number - 1 and found[-1][1]:
            found[-1] = (found[-1][0], f'{found[-1][1]} {text}', number)
        else:
            found.append((number, text, number))
    return [(number, text) for number, text, _ in found if text]


def swift_prose(text):
    """The comments and the texts of string literals of a Swift file or a C file."""
    comments, strings, index = [], [], 0
    while start := OPENING.search(text, index):
        index = start.start()
        number = text.count('\n', 0, index) + 1
        if end := comment_end(text, index):
            comments += [(number + more, re.sub(r'^\s*(?:///?|/\*+|\*/?)\s?|\*/\s*$', '', line).strip())
                         for more, line in enumerate(text[index:end].split('\n'))]
            index = end
        elif end := string_end(text, index):
            strings.append((number, text[index:end].strip('#"').strip()))
            index = end
        else:
            index += 1
    return joined(comments), [(number, line) for number, line in strings if len(line.split()) > 3]


def python_prose(text):
    """The comments and docstrings of a Python file."""
    comments, strings, before = [], [], None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith('#!'):
            comments.append((token.start[0], token.string.lstrip('# ').strip()))
        elif token.type == tokenize.STRING and before in (None, tokenize.NEWLINE, tokenize.INDENT) and token.string.startswith('"""'):
            strings.append((token.start[0], token.string.strip('"').strip()))
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            before = token.type
    return joined(comments) + strings


def page_prose(text):
    """The paragraphs, headings and items of a page, without code."""
    blocks, is_code = [], False
    for number, line in enumerate(text.split('\n'), 1):
        if line.strip().startswith('```'):
            is_code = not is_code
        elif not is_code and not line.startswith('    ') and not line.startswith('|'):
            starts = re.match(r'\s*(?:#+|[-*]|\d+\.)\s+', line)
            if starts:
                blocks.append((-number, ''))
            blocks.append((number, re.sub(r'^\s*(?:#+|[-*]|\d+\.)\s+', '', line).strip()))
    return joined([(abs(number), text) for number, text in blocks])


def checked(*endings):
    return [name for name in tracked(*endings) if not name.startswith(NOT_YET)]


def findings(name):
    text = text_of(name)
    if name.endswith('.py'):
        prose = [(number, problem(line), line) for number, line in python_prose(text)]
    elif name.endswith('.md'):
        prose = [(number, problem(line), line) for number, line in page_prose(text)]
    else:
        comments, strings = swift_prose(text)
        prose = [(number, problem(line), line) for number, line in comments]
        if name.startswith('Sources/'):
            prose += [(number, problem(line, CLAUSE), line) for number, line in strings]
    return [f'{name}:{number}: "{words}" in: {line[:100]}' for number, words, line in prose if words]


@pytest.mark.parametrize('endings', [('.swift',), ('.c', '.h'), ('.py',), ('.md',)])
def test_prose_is_plain(endings):
    found = [line for name in checked(*endings) for line in findings(name)]
    assert not found, '\n'.join(['', *found])


@pytest.mark.parametrize('text', [
    'What is counted of the log.', 'Who this server is to Apple.', 'Has a client told of what becomes of a place.', 'Of the first byte.',
    'Not for everybody is a node of any size read.', 'Closes it, since somebody waits.', 'The handler is told of the end.'])
def test_riddles_are_found(text):
    assert problem(text)


@pytest.mark.parametrize('text', ['Whether the log is full.', 'Metrics of the log.', 'Office hours.', 'It is told to end.'])
def test_plain_words_are_not(text):
    assert not problem(text)


def test_comments_strings_and_docstrings_are_seen():
    comments, strings = swift_prose('/// One\n/// two.\nlet a = 1 // three\nlet b = "four five six seven"\n')
    assert comments == [(1, 'One two. three')]
    assert strings == [(4, 'four five six seven')]
    assert python_prose('"""Page."""\n\ndef f():\n    """Doc."""\n    # note\n') == [(5, 'note'), (1, 'Page.'), (4, 'Doc.')]
    assert page_prose('# One\n\nTwo\nthree.\n- four\n- five\n```\ncode\n```\n') == [(1, 'One'), (3, 'Two three.'), (5, 'four'), (6, 'five')]


def test_a_type_name_is_used_in_one_module():
    places = collections.defaultdict(set)
    for name, module in modules().items():
        for text in module.sources.values():
            for match in TYPE.finditer(text):
                places[match[1]].add(name)
    shared = {name: sorted(where) for name, where in places.items() if len(where) > 1}
    assert {name: where for name, where in shared.items() if name not in SHARED_YET} == {}
    assert SHARED_YET <= set(shared), 'take the names that are used once off the list'
