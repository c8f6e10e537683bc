"""Networks of published models: by name, or from a configuration file (``config.json``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ithaca.files.documents import validated
from ithaca.files.errors import InputError
from ithaca.files.messages import among, errors_at, quoted, refuse
from ithaca.plugins.hub.workloads.decoders import DecoderConfiguration, decoder
from ithaca.plugins.hub.workloads.diffusion import UNetConfiguration, unet
from ithaca.plugins.hub.workloads.encoders import (
    TextConfiguration,
    VisionConfiguration,
    WhisperConfiguration,
    patches,
    text,
    vision,
    whisper,
)
from ithaca.plugins.hub.workloads.fields import Configuration
from ithaca.plugins.hub.workloads.kinds import KINDS, TEXTS, renamed
from ithaca.plugins.hub.workloads.latent import LatentConfiguration, latent_decoder
from ithaca.plugins.hub.workloads.parts import Model
from ithaca.plugins.hub.workloads.phases import TOKENS, Phase, check_sizes, positions
from ithaca.plugins.hub.workloads.recurrent import (
    Mamba2Configuration,
    MambaConfiguration,
    mamba,
    mamba2,
)
from ithaca.workloads.networks.network import Network, Run
from ithaca.workloads.networks.network_files import read_network

#: Positions of a prompt of Whisper: what says language and task.
PROMPT = 4


#: The sizes of a model of sequences.
SIZES = ("batch", "tokens", "context")

#: With blocks of positions that attend to none after them.
_MASKED = (*SIZES, "causal")

_IMAGES = ("image",)


def _sequences(name: str, sizes: Mapping[str, int], experts: str, configuration: Any) -> Phase:
    return positions(name, sizes, experts)


def _speech(name: str, sizes: Mapping[str, int], experts: str, configuration: Any) -> Phase:
    longest = {"context": configuration.max_target_positions} if name == "decode" else {}
    return positions(name, longest | dict(sizes), experts, PROMPT)


def _text_phase(name: str, sizes: Mapping[str, int], experts: str, configuration: Any) -> Phase:
    return positions(name, {"tokens": min(TOKENS, configuration.longest), **sizes}, experts)


def _image(name: str, sizes: Mapping[str, int], experts: str, configuration: Any) -> Phase:
    tokens = patches(configuration) if isinstance(configuration, VisionConfiguration) else 1
    return Phase(name, sizes.get("batch", 1), tokens, tokens, experts)


@dataclass(frozen=True, slots=True)
class Architecture:
    """Reader and builder of a kind of models."""

    document: type[Configuration]
    build: Callable[[Any, Phase], Model]
    phase: Callable[[str, Mapping[str, int], str, Any], Phase] = _sequences
    phases: tuple[str, ...] = ("decode", "prefill")
    """The first where nothing is said."""
    sizes: tuple[str, ...] = _MASKED
    """Names of the sizes of a phase."""
    fields: Callable[[Mapping[str, Any]], dict[str, Any]] = dict
    """Gives fields of a kind the names that others have, too."""


#: By ``model_type``; of diffusers by ``_class_name``.
ARCHITECTURES: dict[str, Architecture] = {
    **{name: Architecture(DecoderConfiguration, decoder, fields=renamed) for name in KINDS},
    "deepseek_v2": Architecture(LatentConfiguration, latent_decoder, fields=renamed),
    "deepseek_v3": Architecture(LatentConfiguration, latent_decoder, fields=renamed),
    "whisper": Architecture(WhisperConfiguration, whisper, _speech, sizes=SIZES),
    **{
        name: Architecture(TextConfiguration, text, _text_phase, ("prefill",), SIZES[:2], renamed)
        for name in ("bert", "roberta", "distilbert")
    },
    "vit": Architecture(VisionConfiguration, vision, _image, _IMAGES, SIZES[:1]),
    "mamba": Architecture(MambaConfiguration, mamba, sizes=SIZES[:2], fields=renamed),
    "mamba2": Architecture(Mamba2Configuration, mamba2, sizes=SIZES[:2], fields=renamed),
    "UNet2DConditionModel": Architecture(UNetConfiguration, unet, _image, _IMAGES, SIZES[:1]),
}

#: Fields of a whole model that hold of its text, too.
_SHARED = ("tie_word_embeddings",)

#: Fields named as parts of a model are: the text, and what is no part.
_NO_PARTS = ("text_config", "quantization_config", "compression_config", "generation_config")

#: Fields that say of what kind a configuration is.
_MARKS = ("model_type", "_class_name")

#: Fields that configurations of models have and nothing else has: one of a kind that is not said.
_USUAL = (
    "architectures",
    "hidden_size",
    "num_hidden_layers",
    "text_config",
    "transformers_version",
)


class Source:
    """Networks of published models."""

    package = "ithaca.plugins.hub.workloads.data"
    """Configurations that come with Ithaca."""
    file = "config.json"
    """The configuration in the folder of a model's weights."""

    def takes(self, document: Any) -> bool:
        """Whether a document is the configuration of a model."""
        if not isinstance(document, dict) or "layers" in document:
            return False
        return any(mark in document for mark in (*_MARKS, *_USUAL))

    def network(
        self,
        document: Mapping[str, Any],
        where: object,
        sizes: Mapping[str, int],
        phase: str | None,
        experts: str | None,
        elementwise: bool = False,
    ) -> Network:
        """The layers of a model in a phase.

        Parameters
        ----------
        document : mapping
            Its configuration.
        where : object
            A path or name, with which error lines start.
        sizes : mapping of str to int
            Of batch, tokens, context and causal those that are asked for.
        phase : str, optional
            The phase; the model's first by default.
        experts : str, optional
            How rows are spread over experts; evenly by default.
        elementwise : bool, optional
            Whether work that is element by element makes layers, too.

        Raises
        ------
        InputError
            If the kind of model is unknown, a field is missing, or sizes contradict one another.
        """
        title, beside = _name(document, where), tuple(_beside_text(document))
        taken = f"{where} is taken for the configuration of a model"
        document, where = _text(document, where)
        kind = next((document[mark] for mark in _MARKS if mark in document), None)
        if not isinstance(kind, str) or kind not in ARCHITECTURES:
            what = "missing" if kind is None else quoted(kind)
            raise refuse(where, f"model_type is {what}{among(kind, ARCHITECTURES)}")
        architecture = ARCHITECTURES[kind]
        known = {key: value for key, value in document.items() if key not in ("name", "source")}
        with errors_at(where):
            known = architecture.fields(known)
        configuration = validated(architecture.document, known, where)
        name = phase or architecture.phases[0]
        if name not in architecture.phases:
            raise InputError(
                f"phase is {quoted(name)} for {where}{among(name, architecture.phases)}"
            )
        check_sizes(title, sizes, architecture.sizes)
        with errors_at(where):
            use = architecture.phase(name, sizes, experts or "uniform", configuration)
            model = architecture.build(configuration, use)
            if experts is not None and not any(
                getattr(part, "stored", 1) > 1 for block in model.blocks for part in block.parts
            ):
                raise InputError("experts are stated, and the model has none; allowed: without")
        stated = _document(title, document, model, elementwise=elementwise)
        network = read_network(stated, where, {})
        remarks = (f"{taken} ({kind}), phase {name}", *beside)
        run = Run(name, use.batch, use.tokens, model.words, model.read, model.cache)
        masked = sizes.keys() & {"causal"}
        names = (size for size in architecture.sizes if size in SIZES or masked)
        chosen = tuple((size, getattr(use, size)) for size in names)
        return replace(network, run=run, remarks=remarks, parameters=chosen)


def _text(document: Mapping[str, Any], where: object) -> tuple[Mapping[str, Any], object]:
    """The configuration of what a model does with text, and where it stands: a part of the file
    where the model takes images or sounds, too."""
    kind, text = document.get("model_type"), document.get("text_config")
    if isinstance(text, Mapping):
        shared = {name: document[name] for name in _SHARED if name in document}
        document, where = {**shared, **text}, f"{where}, text_config"
        kind = document.get("model_type")
    elif "text_config" in document and str(kind) not in ARCHITECTURES:
        raise refuse(where, f"text_config is {quoted(text)}; allowed: a mapping of fields")
    own = TEXTS.get(kind) if isinstance(kind, str) else None
    return (document if own is None else {**document, "model_type": own}), where


def _beside_text(document: Mapping[str, Any]) -> Iterator[str]:
    """Lines on what is not counted of a model of whose inputs text is one, and on formats."""
    parts = [
        name
        for name, value in document.items()
        if name.endswith("_config") and name not in _NO_PARTS and isinstance(value, Mapping)
    ]
    if parts and ("text_config" in document or str(document.get("model_type")) in TEXTS):
        yield f"its text alone is counted: {', '.join(sorted(parts))} and what joins them are not"
    if isinstance(document.get("quantization_config"), Mapping):
        yield "its quantization_config is not read: --dtype and --format state the formats"


def _name(document: Mapping[str, Any], where: object) -> str:
    """The name of a model: what its configuration says, or of which file or folder it is."""
    if isinstance(where, str):
        return where
    stated = document.get("name") or document.get("_name_or_path")
    if isinstance(stated, str) and (own := stated.rstrip("/").rpartition("/")[2]):
        return _plain(own)
    path = Path(str(where))
    if path.suffix and path.stem != "config":
        return _plain(path.stem)
    return _plain(path.resolve().parent.name if path.suffix else path.name)


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "-", name).strip("-.")[:64] or "model"


def _document(
    name: str, document: Mapping[str, Any], model: Model, *, elementwise: bool
) -> dict[str, Any]:
    """The network file of a model in a phase."""
    source = document.get("source")
    return {
        "name": name,
        "description": f"{model.words:,} parameters",
        "source": source if isinstance(source, str) else "",
        "layers": model.layers(elementwise=elementwise),
        "elementwise": {} if elementwise else model.elementwise,
    }


SOURCE = Source()
