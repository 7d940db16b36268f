"""A user's project folder: functions.json, libraries, and the commands that are run there."""

import json
import pathlib
import shutil

from commands import Commands
from tokens import PROJECT


class Project:
    """A folder, and the host to deploy to."""

    def __init__(self, folder, host, **options):
        self.folder, self.host = pathlib.Path(folder), host
        self.folder.mkdir(exist_ok=True)
        self.hearth = Commands(host, self.folder, **options)
        self.config = {'project': PROJECT, 'plugins': {}}

    def write(self, config=None, **libraries):
        """Writes functions.json, and libraries beside it with the names of their plugins."""
        for plugin, path in libraries.items():
            # Replaced like by a linker: a process that has the former file open still sees the former contents.
            (self.folder / 'fresh').unlink(missing_ok=True)
            shutil.copyfile(path, self.folder / 'fresh')
            (self.folder / 'fresh').replace(self.folder / f'lib{plugin}.so')
            self.config['plugins'].setdefault(plugin, {'library': f'lib{plugin}.so'})
        self.config.update(config or {})
        (self.folder / 'functions.json').write_text(json.dumps(self.config, indent=2))
        return self

    def deploy(self, *arguments, **options):
        """Runs the command and returns its outcome."""
        return self.hearth.run('deploy', *arguments, **options)

    def deploys(self, *arguments, **options):
        """The action for each function of a successful deployment."""
        return actions(self.hearth.result('deploy', *arguments, **options))


def actions(result):
    return {change['function']: change['action'] for change in result['changes']}
