"""Files: damaged, foreign and newer ones are refused, and writing is atomic."""

import io
import json
import os
import pickle
import zipfile

import pytest
from sklearn.naive_bayes import GaussianNB
from support.interrupted_runs import LABELS, X

from ltm_sklearn import LongTermMemoryClassifier
from ltm_sklearn.experts import Hedge
from ltm_sklearn.persistence import BadFileError, _archive, _files, _writing, dumps, load, loads, save


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.ltm"


def assert_refused(data, path, match):
    path.write_bytes(data)
    with pytest.raises(BadFileError, match=match) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_damage_is_noticed(path):
    data = dumps(Hedge().update([0.1, 0.9]))
    expected = loads(data).weights().tolist()
    n_noticed = 0
    places = range(0, len(data), 5)
    for at in places:  # a few bytes have no meaning, such as the times of members
        try:
            assert loads(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]).weights().tolist() == expected
        except BadFileError:
            n_noticed += 1
    assert n_noticed > 0.8 * len(places)
    for size in places:
        assert_refused(data[:size], path, "damaged")


def test_a_wrong_checksum_is_noticed(path):
    _, members = _archive.unpack(dumps(Hedge()))
    manifest = {"format": "ltm_sklearn", "format_version": 1, "sha256": "0" * 64}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in {"manifest.json": json.dumps(manifest), **members}.items():
            archive.writestr(name, data)
    assert_refused(buffer.getvalue(), path, "another checksum")


def test_files_of_other_kinds_are_refused(path):
    for data in (b"", b"no", pickle.dumps(Hedge())):
        assert_refused(data, path, "no file of ltm_sklearn")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a", "b")
    assert_refused(buffer.getvalue(), path, "no file of ltm_sklearn")


def test_a_newer_format_names_its_version(path, monkeypatch):
    monkeypatch.setattr(_archive, "FORMAT_VERSION", 2)
    monkeypatch.setattr(_files, "__version__", "7.1")
    data = dumps(Hedge())
    monkeypatch.undo()
    assert_refused(data, path, r"format is version 2, written by ltm_sklearn 7\.1, .* reads version 1")


def test_another_version_is_a_warning(path, monkeypatch):
    monkeypatch.setattr(_files, "__version__", "0.0.1")
    save(Hedge(), path)
    monkeypatch.undo()
    with pytest.warns(UserWarning, match=r"written with ltm_sklearn 0\.0\.1"):
        load(path)


def test_the_file_says_what_it_is():
    manifest, members = _archive.unpack(dumps(LongTermMemoryClassifier([("bayes", GaussianNB())]).fit(X, LABELS)))
    assert manifest["class"].endswith(".LongTermMemoryClassifier")
    assert {"ltm_sklearn", "numpy", "scikit-learn", "river", "python"} <= manifest["versions"].keys()
    assert manifest["pickled"] == []
    assert {*members} == {"state.json", "arrays.npz", "models.skops"}


@pytest.mark.parametrize("step", ["open", "write", "fsync", "replace"])
def test_a_failure_at_any_step_leaves_the_old_file(step, path, monkeypatch):
    save(Hedge(rate=0.5), path)
    old = path.read_bytes()

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    class Full(io.FileIO):
        write = fail

    if step in ("fsync", "replace"):
        monkeypatch.setattr(os, step, fail)
    else:
        opens = fail if step == "open" else lambda name, mode: Full(name, "x")
        monkeypatch.setattr(_writing, "open", opens, raising=False)
    with pytest.raises(OSError, match=r"No space left on device: .*model\.ltm"):
        save(Hedge(rate=0.7), path)
    monkeypatch.undo()
    assert path.read_bytes() == old
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes, pipes and calls")
class TestPlaces:
    """Special files and folders, and their permissions."""

    def test_permissions_stay(self, path):
        save(Hedge(), path)
        path.chmod(0o600)
        save(Hedge(), path)
        assert path.stat().st_mode & 0o777 == 0o600

    def test_a_pipe_or_folder_is_not_replaced(self, path):
        os.mkfifo(path)
        for place in (path, path.parent):
            with pytest.raises(FileExistsError, match="cannot be replaced"):
                save(Hedge(), place)
        assert os.listdir(path.parent) == [path.name]

    def test_file_and_folder_are_synced_before_save_returns(self, path, monkeypatch):
        steps = []
        fsync, replace = os.fsync, os.replace
        monkeypatch.setattr(
            os, "fsync", lambda handle: (steps.append(os.path.isdir(f"/proc/self/fd/{handle}")), fsync(handle))
        )
        monkeypatch.setattr(os, "replace", lambda *names: (steps.append("replace"), replace(*names)))
        save(Hedge(), path)
        assert steps == [False, "replace", True]

    def test_a_folder_that_may_not_be_listed_is_written_to(self, path, monkeypatch):
        def fail(folder, *_):
            raise PermissionError(13, "Permission denied", folder)

        with monkeypatch.context() as patch:
            patch.setattr(os, "open", fail)
            patch.setattr(os, "listdir", fail)
            save(Hedge(), path)
        assert os.listdir(path.parent) == [path.name]

    def test_a_link_is_followed(self, path):
        target = path.with_name("target.ltm")
        save(Hedge(rate=0.5), target)
        path.symlink_to(target)
        save(Hedge(rate=0.7), path)
        assert path.is_symlink()
        assert load(target).rate == 0.7


def test_missing_folders_and_files_are_named(path):
    with pytest.raises(FileNotFoundError, match="missing"):
        save(Hedge(), path.parent / "missing" / "model.ltm")
    with pytest.raises(FileNotFoundError, match=r"model\.ltm"):
        load(path)


@pytest.mark.parametrize("letter", ["x", "ü"])
def test_long_names_are_written(tmp_path, letter):
    name = letter * (240 // len(letter.encode()))
    save(Hedge(), tmp_path / name)
    assert os.listdir(tmp_path) == [name]
