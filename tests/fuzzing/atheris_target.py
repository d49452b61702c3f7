"""Coverage-guided fuzzing of the readers, by atheris. The law is the one of `judging`.

    pip install kinemorph[fuzz]
    cd tests; python -m fuzzing.atheris_target urdf corpus/ -max_total_time=300 -max_len=8000

The first argument is a format; the others are libFuzzer's. Without a corpus the seeds of the format are used. What
breaks the law is written to `crash-...`, and `python -m fuzzing.judging FILE` judges it again.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["kinemorph.model", "kinemorph.formats.loading"]):
    from fuzzing.judging import verdict
    from fuzzing.mutations import BESIDE, ENDINGS, SEEDS, corpus, mutated


def main() -> None:
    """Fuzzes until libFuzzer's limits are reached."""
    format, *arguments = sys.argv[1:]
    folder = Path(tempfile.mkdtemp())
    path = model = folder / f"mutant{ENDINGS[format]}"
    if format in BESIDE:
        model = folder / "mutant.urdf"
        model.write_bytes((SEEDS / "arm.urdf").read_bytes())
    if not any(Path(argument).is_dir() for argument in arguments):
        seeds = folder / "corpus"
        seeds.mkdir()
        for number, data in enumerate(corpus(format)):
            (seeds / str(number)).write_bytes(data)
        arguments.insert(0, str(seeds))

    def target(data: bytes) -> None:
        path.write_bytes(data)
        verdict(model)

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        """Half by the grammar of the format, half by libFuzzer."""
        rng = random.Random(seed)
        if data and rng.random() < 0.5:
            return mutated(data, format, rng)[:most]
        return bytes(atheris.Mutate(data, most))

    atheris.Setup([sys.argv[0], *arguments], target, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
