"""`toolfold status`: how the gateways that run now fare, from the private files that they keep."""

from server.cli import rendering
from server.cli.options import AsJson
from server.cli.output import reporting
from server.config import directories, read_environment
from server.state_file import running_gateways


def status(as_json: AsJson = False) -> None:
    """Show the gateways of this user that run now, each with its files, and how each of their upstreams fares."""
    with reporting(as_json=as_json) as output:
        gateways = running_gateways(directories(read_environment()).state)
        if as_json:
            output.json({"gateways": gateways})
        else:
            rendering.gateways(gateways, output)
