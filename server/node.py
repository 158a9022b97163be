"""The id of a gateway that serves at an address: the same one after a restart.

Other gateways still know, for a while, what was behind this one before it was started anew; by the id it sees that these
are its own tools. The id is random, and kept in the state folder under a hash of the address and the files.
"""

import hashlib
import logging
import re
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from server.private_files import read_file, replace_file
from upstream_clients import new_node

logger = logging.getLogger(__name__)

LARGEST_FILE_BYTES: Final = 64
_NODE: Final = re.compile(r"[0-9a-f]{16}")


def kept_node(folder: Path, address: str, files: Iterable[Path]) -> str:
    """The id for this address and these files. Blocks. Where it can't be kept, it is a new one each time."""
    place = "\n".join([socket.gethostname(), address, *(str(path.resolve()) for path in files)])
    path = folder / "nodes" / hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    try:
        known = (read_file(path, LARGEST_FILE_BYTES) or b"").decode("ascii", "replace")
        if _NODE.fullmatch(known):
            return known
        node = new_node()
        replace_file(path, node.encode())
    except OSError as error:
        logger.warning("the id of this gateway could not be kept (%s)", error.strerror)
        return new_node()
    return node
