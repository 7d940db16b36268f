"""A host whose functions decide about sign-ups, sign-ins and messages, and what they were asked."""

import json

from hearth import Host

CODE = 'BLOCKING_FUNCTION_ERROR_RESPONSE : '
REFUSED = CODE + r'HTTP Cloud Function returned an error: {"error":{"message":"Not \"you\"","status":"PERMISSION_DENIED"}}'


class GatedHost(Host):
    def __init__(self, folder, **more):
        super().__init__(folder, ['blocking'], mode='development', config={'workers': {'drainSeconds': 1}, **more})

    def asked(self, function=None, word=''):
        """The events that the functions were called with, in order."""
        return [{**note['context']['event'], 'user': note['payload'], 'function': note['function']} for note in self.noted()
                if function in (None, note['function']) and word in json.dumps(note)]
