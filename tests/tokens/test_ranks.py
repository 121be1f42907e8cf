from __future__ import annotations

import os
from pathlib import Path

import pytest

from ctxgc.tokens.bundled import TokenDataUnavailable
from ctxgc.tokens.ranks import load_encoding, rank_folder

O200K_FILE = "fb374d419588a4632f3f557e76b4b70aebbca790"  # the sha1 of the file's address, as in tiktoken's cache


def test_the_encoding_is_tiktokens_own(monkeypatch, no_network, o200k, corpora):
    tiktoken = pytest.importorskip("tiktoken")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(rank_folder()))
    theirs = tiktoken.get_encoding("o200k_base")
    assert all(theirs.encode_ordinary(text) == o200k(text) for text in corpora.values())


def test_loading_leaves_the_environment_and_tiktoken_as_they_were(no_network):
    import tiktoken_ext.openai_public as public

    before, loader = dict(os.environ), public.load_tiktoken_bpe
    load_encoding("cl100k_base")
    assert dict(os.environ) == before
    assert public.load_tiktoken_bpe is loader


def test_a_missing_rank_file_is_reported_and_not_fetched(tmp_path: Path, no_network):
    with pytest.raises(TokenDataUnavailable, match="reinstall litellm"):
        load_encoding("o200k_base", tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"not a rank file", b"IQ== 0\n"])
def test_a_damaged_rank_file_is_reported_and_kept(tmp_path: Path, no_network, content: bytes):
    path = tmp_path / O200K_FILE
    path.write_bytes(content)
    with pytest.raises(TokenDataUnavailable, match="not the rank file"):
        load_encoding("o200k_base", tmp_path)
    assert path.read_bytes() == content


def test_one_changed_byte_is_noticed(tmp_path: Path, no_network):
    data = bytearray((rank_folder() / O200K_FILE).read_bytes())
    path = tmp_path / O200K_FILE
    path.write_bytes(data)
    assert load_encoding("o200k_base", tmp_path).n_vocab == 200_019  # the control: an unchanged copy loads
    data[1000] ^= 1
    path.write_bytes(data)
    with pytest.raises(TokenDataUnavailable):
        load_encoding("o200k_base", tmp_path)


@pytest.mark.parametrize("name", ["o300k_base", "ENDOFTEXT", "o200k_harmony"])
def test_a_constructor_not_known_here_is_refused_before_it_runs(name, no_network):
    with pytest.raises(TokenDataUnavailable, match=name):
        load_encoding(name)
