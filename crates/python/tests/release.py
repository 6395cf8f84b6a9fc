"""What a wheel must be that is published: release.py WHEEL FOLDER…

Not above 8 MiB, with the program tracemill-query 30 MB, imported within 50 ms, and without the paths of these folders.
"""

import statistics
import subprocess
import sys
import time
import zipfile
from pathlib import Path

SIZES = {"tracemill": 8 << 20, "tracemill_sql": 30_000_000}
IMPORT = 0.050


def seconds(code):
    """How long a new interpreter takes for it: the median of several."""
    times = []
    for _ in range(9):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main(wheel, *folders):
    packed = zipfile.ZipFile(wheel)
    size = sum(info.compress_size for info in packed.infolist())
    assert size <= SIZES[Path(wheel).name.split("-")[0]], f"{size} bytes"
    for name in packed.namelist():
        for folder in folders:
            assert folder.encode() not in packed.read(name), f"{name} has the path {folder}"
    took = seconds("import tracemill") - seconds("pass")
    assert took <= IMPORT, f"import takes {took * 1000:.0f} ms"
    print(f"release: {size / (1 << 20):.2f} MiB, import in {took * 1000:.1f} ms, none of {', '.join(folders)} in it")


if __name__ == "__main__":
    main(*sys.argv[1:])
