"""Who we are to a Gateway on another machine: a private key that is made once and kept in the state folder."""

import logging
import os
from pathlib import Path
from typing import Final

from server.private_files import read_file, replace_file

logger = logging.getLogger(__name__)

SEED_BYTES: Final = 32
"""Of an Ed25519 key: any 32 random bytes are one."""


def device_seed(folder: Path) -> bytes:
    """The key's seed. If it can't be kept, a Gateway sees another device at each start and wants to approve it anew."""
    path = folder / "openclaw-device.key"
    try:
        known = read_file(path, SEED_BYTES)
        if known is not None and len(known) == SEED_BYTES:
            return known
        seed = os.urandom(SEED_BYTES)
        replace_file(path, seed)
    except OSError as error:
        logger.warning("the device's key could not be kept (%s)", error.strerror)
        return os.urandom(SEED_BYTES)
    return seed
