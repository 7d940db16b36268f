"""The host continues, however its log is read."""

import os
import subprocess

from processes import until


def test_a_log_that_nobody_reads_does_not_stop_the_host(prepare):
    """A pipe is full after 64 KiB; what is printed here is far more."""
    host = prepare(['Faults'], config={'workers': {'logBytesPerSecond': 1 << 24}})
    reader, writer = os.pipe()
    with open(host.log_path, 'ab') as log:
        host.process = subprocess.Popen(host.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=writer, cwd=host.folder,
                                        start_new_session=True)
    os.close(writer)
    until(host.is_ready, 'the host answers /_/ready', 30)
    for _ in range(3):
        assert host.callable('printMuch', {'megabytes': 2}).status == 200
    assert host.callable('version').status == 200
    host.stop()
    os.close(reader)
