"""Every case of cases/auth.json against the real program, in each of its profiles: development as `emulator`, production as `strict`."""

import pytest

from identity_cases import CaseRun, Stage, every_run


@pytest.fixture(scope='module')
def stage(tmp_path_factory):
    stage = Stage(tmp_path_factory.mktemp('identity'))
    yield stage
    stage.close()


@pytest.mark.parametrize('profile, case', every_run(), ids=lambda value: value if isinstance(value, str) else value['id'])
def test_case(stage, profile, case):
    CaseRun(stage, profile, case).run()
