"""Tutorials: pages made of the notebooks beside them while the guide is built."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files


def on_files(files: Files, config: Any) -> Files:
    """Add a page for every notebook (called by MkDocs)."""
    for notebook in [file for file in files if file.src_uri.endswith(".ipynb")]:
        page = notebook.src_uri.removesuffix("ipynb") + "md"
        content = "\n\n".join(blocks(Path(notebook.abs_src_path), Path(notebook.src_uri).name))
        files.append(File.generated(config, page, content=content))
    return files


def blocks(path: Path, name: str) -> Iterator[str]:
    """The cells of a notebook with what they put out in Markdown, and where to get it."""
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        text = "".join(cell["source"])
        yield text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```"
        for output in cell.get("outputs", ()):
            yield _shown(output)
        if not number:
            yield f"[The notebook]({name}), to run it yourself."


def _shown(output: dict[str, Any]) -> str:
    """The output of a cell: as HTML where there is some, which ends at an empty line."""
    data = output.get("data", {})
    if html := "".join(data.get("text/html", ())):
        line = " ".join(html.split("\n"))
        return f'<div class="output">{line}</div>'
    return f"```text\n{''.join(output.get('text') or data['text/plain']).rstrip()}\n```"
