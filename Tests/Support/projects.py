"""The folder of a deploying user: functions.json, libraries beside it, and commands that run there."""

import json
import pathlib
import shutil

from commands import Commands
from tokens import PROJECT


class Project:
    """A folder, and a host to deploy to."""

    def __init__(self, folder, host, **options):
        self.folder, self.host = pathlib.Path(folder), host
        self.folder.mkdir(exist_ok=True)
        self.hearth = Commands(host, self.folder, **options)
        self.config = {'project': PROJECT, 'plugins': {}}

    def write(self, config=None, **libraries):
        """Puts libraries beside functions.json, under the names of their plugins."""
        for plugin, path in libraries.items():
            # Linkers do the same: they leave an open file of this name unchanged.
            (self.folder / 'fresh').unlink(missing_ok=True)
            shutil.copyfile(path, self.folder / 'fresh')
            (self.folder / 'fresh').replace(self.folder / f'lib{plugin}.so')
            self.config['plugins'].setdefault(plugin, {'library': f'lib{plugin}.so'})
        self.config.update(config or {})
        (self.folder / 'functions.json').write_text(json.dumps(self.config, indent=2))
        return self

    def deploy(self, *arguments, **options):
        """The output of the command."""
        return self.hearth.run('deploy', *arguments, **options)

    def deploys(self, *arguments, **options):
        """The change of each function in a successful deployment."""
        return actions(self.hearth.result('deploy', *arguments, **options))


def actions(result):
    return {change['function']: change['action'] for change in result['changes']}
