"""The locks that set-up installs from."""

import re
from pathlib import Path

import pytest

from pedelec_core.runtime.pins import NODE_LOCK, PAGE_WHEELS_LOCK

ROOT = Path(__file__).resolve().parents[2]
LOCKS = [ROOT / "requirements.lock", ROOT / "scripts" / "uv.lock", NODE_LOCK, PAGE_WHEELS_LOCK]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_entry_of_a_lock_is_pinned_by_hash_and_names_no_address(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    assert "://" not in text
    entries = re.split(r"\n(?=\S)", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).strip())
    assert entries
    for entry in entries:
        assert re.match(r"[\w.-]+==\S+ ", entry), entry
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry
