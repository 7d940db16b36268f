"""Every link in the project's pages leads to a file, and to a heading where it names one."""

import re

import pytest

from hearth import ROOT
from sources import tracked

PAGES = [ROOT / name for name in tracked('.md')]
LINK = re.compile(r'(?<!!)\[[^\]]*\]\(([^)\s]+)(?:\s+"[^"]*")?\)')


def prose(path):
    """A page without its code."""
    text = re.sub(r'^( *)(```|~~~).*?^\1\2', '', path.read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r'`[^`\n]*`', '', text)


def anchors(path):
    heads = re.findall(r'^#+ (.+)$', path.read_text(), re.MULTILINE)
    return {re.sub(r'[^\w\- ]', '', head.replace('`', '').lower()).replace(' ', '-') for head in heads}


@pytest.mark.parametrize('page', PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_links(page):
    broken = []
    for target in LINK.findall(prose(page)):
        if re.match(r'[a-z]+:', target):
            continue
        name, _, anchor = target.partition('#')
        file = (page.parent / name).resolve() if name else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize('name', ['README.md', 'HACKING.md', 'CHANGELOG.md', 'docs/architecture.md', 'docs/index.md'])
def test_the_pages_that_must_be_there(name):
    assert (ROOT / name).exists()
