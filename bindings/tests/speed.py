"""What a push costs from Python, in CPU time: python3 speed.py (with the package on PYTHONPATH)."""

import time
from pathlib import Path

import deadloop

PROSE = (Path(__file__).parent / "prose.txt").read_text()
ROUNDS = 200


def nanoseconds(chunks: list[str]) -> float:
    """CPU time of a push, the least of five tries."""
    best = float("inf")
    for _ in range(5):
        guards = [deadloop.Guards.recommended().guard() for _ in range(ROUNDS)]
        start = time.process_time_ns()
        for guard in guards:
            for chunk in chunks:
                guard.push(chunk, "answer")
        best = min(best, (time.process_time_ns() - start) / (ROUNDS * len(chunks)))
    return best


tokens = [word + " " for word in PROSE.split(" ")]
print(f"a push of a word from Python: {nanoseconds(tokens):.0f} ns of CPU")
print(f"a push of {len(PROSE):,} chars from Python: {nanoseconds([PROSE]) / len(PROSE):.1f} ns of CPU a char")
