"""Reference data of `tests/data`, compressed there."""

import gzip
import tarfile
from pathlib import Path

DATA = Path(__file__).parent / "data"

#: The published descriptions, by name.
with tarfile.open(DATA / "descriptors.tar.xz") as _archive:
    DESCRIPTORS = {
        Path(member.name).stem: file.read()
        for member in _archive
        if (file := _archive.extractfile(member)) is not None
    }


def unpack(archive, folder):
    """Write the files of an archive into a folder. Python before 3.11.4 knows no filters, and needs
    none."""
    with tarfile.open(archive) as files:
        files.extraction_filter = getattr(tarfile, "data_filter", None)
        files.extractall(folder)


def golden_text(app):
    """The golden table of ``gemm`` or ``cnn``, as CSV."""
    return gzip.decompress((DATA / "golden" / f"{app}.csv.gz").read_bytes()).decode()
