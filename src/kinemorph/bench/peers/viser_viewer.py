"""A robot in viser, moved by the poses of its bodies: one frame per body, with the surfaces of the body below it."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.scenes.scene import Figure
from kinemorph.errors import MissingExtraError


class ViserViewer:
    """A viser server on this computer that shows one figure of a scene."""

    def __init__(self, figure: Figure, port: int) -> None:
        try:
            import viser
        except ImportError:
            raise MissingExtraError("viser", "peers") from None
        self.url = f"http://127.0.0.1:{port}/"
        self._server: Any = viser.ViserServer(host="127.0.0.1", port=port, verbose=False)
        self._bodies = [self._server.scene.add_frame(f"/{name}", show_axes=False) for name in figure.bodies]
        for number, part in enumerate(figure.parts):
            if part.layer != "shapes":
                continue
            self._server.scene.add_mesh_simple(
                f"/{figure.bodies[part.owner]}/{number}",
                vertices=np.asarray(part.surface.points, dtype=np.float32),
                faces=np.asarray(part.surface.faces, dtype=np.uint32),
                color=np.asarray(part.color[:3]),
            )

    def show(self, positions: Array, quaternions: Array) -> None:
        """Moves all bodies: positions (nb, 3) [m] and quaternions (nb, 4) as wxyz, which pages get together."""
        with self._server.atomic():
            for body, position, quaternion in zip(self._bodies, positions, quaternions, strict=True):
                body.position, body.wxyz = position, quaternion
        self._server.flush()

    def stop(self) -> None:
        """Stops the server."""
        self._server.stop()
