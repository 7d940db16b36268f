"""Scenes for tests of sign-in: a host in production or development mode with a moved clock, fake providers and keys, and no users."""

import contextlib

import pytest

from identity import Identity, addresses
from identity_cases import ActiveKey, Stage, decoded
from identity_providers import RAW_NONCE


class Scene:
    """One test's view of a stage."""

    def __init__(self, stage, profile, config):
        self.stage, self.facebook, self.keys, self.apple = stage, stage.facebook, stage.keys, stage.apple
        self.host, self.clock = stage.host(profile, {'config': config})
        self.identity = self.from_elsewhere()

    def from_elsewhere(self):
        """A client of the same host with an address of its own."""
        return Identity(self.host, source=next(addresses))

    def close(self):
        self.identity.close()

    def limited(self, **claims):
        """The credential that an app sends after a Limited Login."""
        now = self.clock.now()
        return {'id_token': self.facebook.limited(**{'iat': now, 'exp': now + 3600, **claims}), 'nonce': RAW_NONCE}

    def active_key(self, token):
        """The key that has signed this token."""
        return ActiveKey(self.host, decoded(token)[0]['kid'])


@pytest.fixture(scope='module')
def stage(tmp_path_factory):
    with contextlib.closing(Stage(tmp_path_factory.mktemp('scenes'))) as stage:
        yield stage


def scene_of(profile='strict', **config):
    """A fixture: a scene on a host with this configuration, in the words of the cases."""
    @pytest.fixture
    def scene(stage):
        with contextlib.closing(Scene(stage, profile, config)) as scene:
            yield scene
    return scene
