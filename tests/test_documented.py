"""What users can name is explained: every policy, preset, command, setting and metric."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ctxgc.cli import COMMANDS
from ctxgc.config import Config
from ctxgc.core import journal
from ctxgc.policies import names, presets
from ctxgc.telemetry import METRICS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
ARCHITECTURE = (ROOT / "ctxgc" / "README.md").read_text()


def missing(words: Iterable[str], text: str) -> list[str]:
    return [word for word in words if f"`{word}`" not in text and f"`{word} " not in text and f" {word}`" not in text]


def test_every_policy_and_preset_is_explained() -> None:
    assert missing(names(), README) == []
    assert missing((name for name in presets() if name != "eden"), README.replace("--policy ", "")) == []


def test_every_command_is_explained() -> None:
    assert missing((f"ctxgc {name}" for name in COMMANDS), README) == []


def test_every_setting_is_explained() -> None:
    assert missing(Config.model_fields, ARCHITECTURE) == []
    assert all(field.description for field in Config.model_fields.values())


def test_every_metric_is_explained() -> None:
    assert missing(METRICS, ARCHITECTURE) == []


def test_every_kind_of_journal_entry_is_explained() -> None:
    kinds = [entry.__struct_config__.tag for entry in journal.AnyEntry.__args__]
    assert missing(kinds, ARCHITECTURE) == []


def test_what_is_not_explained_is_named() -> None:
    assert missing(["dedup", "unheard_of"], README) == ["unheard_of"]
