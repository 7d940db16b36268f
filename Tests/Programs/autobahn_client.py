"""Runs cases of the Autobahn test suite against a server: `autobahn_client.py PACKAGES URL FOLDER MESSAGES CASE...`.

The suite needs Python 2.7, so this file does, too. PACKAGES is the folder into which its packages were installed. MESSAGES is the most messages of a
case about compression, for which the suite has no option.
"""

import site
import sys

packages, url, folder, messages = sys.argv[1:5]
site.addsitedir(packages)

from autobahntestsuite import fuzzing
from autobahntestsuite.case import Cases
from twisted.internet import reactor

for case in Cases:
    if case.__name__.startswith(('Case12_', 'Case13_')):
        case.COUNT = min(case.COUNT, int(messages))
fuzzing.startClient({'outdir': folder, 'servers': [{'agent': 'hearth', 'url': url}], 'cases': sys.argv[5:], 'exclude-cases': []})
reactor.run()
