"""Shows a model file in MuJoCo's web studio, reachable from this computer only.

    python -m kinemorph.bench.peers.mujoco_studio MODEL.xml PORT

MuJoCo binds its server to all interfaces of the computer; here it is bound to the loopback interface.
"""

from __future__ import annotations

import sys


def main(path: str, port: int) -> None:
    """Serves the model at http://127.0.0.1:PORT until the process is ended."""
    from mujoco.studio import launch_web, viewer_protocol  # type: ignore[import-not-found, unused-ignore]
    from mujoco.studio.web import web_server  # type: ignore[import-not-found, unused-ignore]

    bind = web_server.bind_public_socket
    web_server.bind_public_socket = lambda host, port=0: bind("127.0.0.1", port)
    launch_web.run(viewer_protocol.ViewerConfig(gfx="web", http_port=port), model_path=path)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
