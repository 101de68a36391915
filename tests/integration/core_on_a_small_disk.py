"""`pedelec-core` whose disk is full for as long as it is told so: SIGUSR1 fills it, SIGUSR2 makes room.

Run as a process of its own. A file may then not grow beyond what the journal's log has at that moment
(`RLIMIT_FSIZE`), which SQLite sees as a disk that takes no more.
"""

import resource
import signal
import sys
from pathlib import Path

from pedelec_core.main import main


def limit_files(number: int, _frame: object) -> None:
    """Fill the disk, or make room."""
    log = Path(sys.argv[1]) / "journal.db-wal"
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    soft = log.stat().st_size if number == signal.SIGUSR1 else most
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, most))


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, limit_files)
    signal.signal(signal.SIGUSR2, limit_files)
    sys.exit(main(["serve", "--port", "0", "--state-dir", sys.argv[1]]))
