"""The lexical rules of Swift, as far as needed to look at code without its comments and strings."""

import functools
import re

ATTRIBUTES = r'(?:@[\w.]+(?:\([^)\n]*\))?\s+)*'
MODIFIERS = r'(?:[a-z_]+(?:\([a-z]+\))?\s+)*'
FUNCTION = re.compile(rf'^[ \t]*{ATTRIBUTES}{MODIFIERS}(?:func\s+\S+|init[?!]?\s*[(<]|deinit\b|subscript\s*[(<])', re.MULTILINE)

QUOTES = re.compile(r'(#*)("""|")')


OPENING = re.compile(r'//|/\*|#*"')


@functools.cache
def blanked(text):
    """The text with comments and the contents of strings replaced by blanks. Line breaks are kept."""
    out, index = [], 0
    while match := OPENING.search(text, index):
        out.append(text[index:match.start()])
        index = comment_end(text, match.start()) or string_end(text, match.start())
        out.append(re.sub(r'[^\n]', ' ', text[match.start():index]))
    return ''.join([*out, text[index:]])


def comment_end(text, start):
    if text.startswith('//', start):
        end = text.find('\n', start)
        return len(text) if end < 0 else end
    if not text.startswith('/*', start):
        return None
    depth, index = 1, start + 2
    while depth and index < len(text):
        if text.startswith('/*', index):
            depth, index = depth + 1, index + 2
        elif text.startswith('*/', index):
            depth, index = depth - 1, index + 2
        else:
            index += 1
    return index


def string_end(text, start):
    opening = QUOTES.match(text, start)
    if not opening:
        return None
    hashes, quote = opening.groups()
    closing, escape = quote + hashes, '\\' + hashes
    index = opening.end()
    while index < len(text):
        if text.startswith(escape, index):
            index += len(escape)
            index = interpolation_end(text, index + 1) if text.startswith('(', index) else index + 1
        elif text.startswith(closing, index):
            return index + len(closing)
        elif quote == '"' and text[index] == '\n':
            return index
        else:
            index += 1
    return index


def interpolation_end(text, index):
    depth = 1
    while depth and index < len(text):
        end = string_end(text, index)
        if end:
            index = end
            continue
        depth += {'(': 1, ')': -1}.get(text[index], 0)
        index += 1
    return index


def functions(text):
    """Yields (line number, head, number of lines) for each function with a body."""
    code = blanked(text)
    for match in FUNCTION.finditer(code):
        opening = body_start(code, match.end())
        if opening is None:
            continue
        closing = matching_brace(code, opening)
        first = code.count('\n', 0, match.start()) + 1
        yield first, match[0].strip(), code.count('\n', match.start(), closing) + 1


def body_start(code, index):
    """The index of the opening brace of the body; None if a declaration has no body."""
    depth = 0
    index = min(index, len(code)) - 1
    while index < len(code):
        character = code[index]
        if character in '([':
            depth += 1
        elif character in ')]':
            depth -= 1
        elif character == '{' and depth <= 0:
            return index
        elif character in '}' and depth <= 0:
            return None
        elif character == '\n' and depth <= 0 and not continues(code, index):
            return None
        index += 1
    return None


def continues(code, index):
    """Whether the head of a declaration continues after this line break."""
    before, after = code[:index].rstrip()[-6:], code[index:].lstrip()
    return before.endswith(('->', 'where', ',', ':')) or after.startswith(('{', '->', 'where', 'async', 'throws', 'rethrows', '&'))


def matching_brace(code, opening):
    depth = 0
    for index in range(opening, len(code)):
        depth += {'{': 1, '}': -1}.get(code[index], 0)
        if depth == 0:
            return index
    return len(code)
