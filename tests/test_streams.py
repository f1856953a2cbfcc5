"""Streams with recurring concepts, and readers of tables."""

import itertools
import tracemalloc

import numpy as np
import pytest

from ltm_sklearn import LongTermMemoryClassifier
from ltm_sklearn.streams import (
    Agrawal,
    Batches,
    Hyperplane,
    Led,
    LinearRegression,
    RandomTree,
    RecurringConcepts,
    Sea,
    Sine,
    Stagger,
    agrawal,
    led,
    linear_regressions,
    random_trees,
    rotating_hyperplane,
    sea,
    sine,
    stagger,
)

pytestmark = pytest.mark.fast_cases(3)

READY = [stagger, sea, sine, agrawal, led, random_trees, rotating_hyperplane, linear_regressions]


def constant(label):
    """A concept whose labels tell which it is, with numbered rows."""

    def concept(rng, n_rows):
        return rng.random((n_rows, 2)), np.full(n_rows, label)

    return concept


def whole(stream, batch_size=10_000):
    (batch,) = stream.batches(batch_size)
    return batch


# Order ------------------------------------------------------------------------------------------------------------


def test_concepts_take_turns():
    batch = whole(RecurringConcepts([constant(7), constant(8), constant(9)], length=2, n_segments=5, seed=0))
    np.testing.assert_array_equal(batch.concept, np.repeat([0, 1, 2, 0, 1], 2))
    np.testing.assert_array_equal(batch.y, 7 + batch.concept)


def test_order_may_be_given_by_number_or_by_name():
    by_number = RecurringConcepts([constant(0), constant(1)], order=[1, 0, 1, 1], length=[3, 1], seed=0)
    np.testing.assert_array_equal(whole(by_number).y, [1, 1, 1, 0, 1, 1, 1, 1])
    by_name = RecurringConcepts({"a": constant(0), "b": constant(1)}, order=["b", "a"], length=2, n_segments=3, seed=0)
    np.testing.assert_array_equal(whole(by_name).y, [1, 1, 0, 0, 1, 1])


def test_random_order_never_has_a_concept_twice_in_a_row_and_has_all_of_them():
    segments = list(stagger(order="random", n_segments=300, length=1, seed=3).segments())
    order = np.array([segment.concept for segment in segments])
    assert (np.diff(order) != 0).all()
    assert np.bincount(order).min() > 70


def test_markov_order_follows_the_transitions():
    transitions = [[0.0, 1.0, 0.0], [0.25, 0.25, 0.5], [1.0, 0.0, 0.0]]
    stream = stagger(order="markov", transitions=transitions, n_segments=4000, length=1, seed=0)
    order = [segment.concept for segment in stream.segments()]
    counts = np.zeros((3, 3))
    np.add.at(counts, (order[:-1], order[1:]), 1)
    np.testing.assert_allclose(counts / counts.sum(axis=1, keepdims=True), transitions, atol=0.05)


def test_changes_are_where_another_concept_comes_into_force():
    stream = RecurringConcepts([constant(0), constant(1)], order=[0, 0, 1, 0], length=[5, 6], seed=0)
    assert stream.changes() == [11, 16]
    assert stream.n_samples == 22


def test_stream_without_end_goes_on():
    stream = stagger(length=10, seed=0)
    assert stream.n_samples is None
    rows = list(itertools.islice(stream, 95))
    assert len(rows) == 95
    with pytest.raises(ValueError, match="without end"):
        stream.changes()


# The same each time -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ready", READY)
def test_stream_is_the_same_each_time_and_in_batches_of_any_size(ready):
    stream = ready(n_segments=3, length=1500, width=100, noise=0.1, seed=5)
    once = whole(stream)
    for batch_size in (1, 7, 1024, 1500):
        parts = list(stream.batches(batch_size))
        assert all(len(part.y) == batch_size for part in parts[:-1])
        for name in ("X", "y", "concept"):
            np.testing.assert_array_equal(np.concatenate([getattr(part, name) for part in parts]), getattr(once, name))
    pairs = list(stream)
    np.testing.assert_array_equal([list(x.values()) for x, _ in pairs], once.X)
    np.testing.assert_array_equal([y for _, y in pairs], once.y)
    assert list(pairs[0][0]) == stream.feature_names
    assert list(stream.take(3)) == pairs[:3]


def test_seed_decides():
    streams = [sea(n_segments=2, length=50, seed=seed) for seed in (0, 0, 1, None, None)]
    one, same, other, any_one, any_other = (whole(stream).X for stream in streams)
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    assert not np.array_equal(any_one, any_other)
    np.testing.assert_array_equal(whole(streams[3]).X, any_one)


# Gradual changes and noise ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1, 200])
def test_gradual_change_is_a_sigmoid_around_the_change(width):
    changes, length = 200, 600
    stream = RecurringConcepts([constant(0), constant(1)], length=length, n_segments=changes, width=width, seed=0)
    concept = whole(stream, changes * length).concept.reshape(changes, length)
    after = (concept[1:] == np.arange(1, changes)[:, np.newaxis] % 2).mean(axis=0)[: length // 2]
    rows = np.arange(length // 2) + 0.5
    np.testing.assert_allclose(after, 1.0 / (1.0 + np.exp(-np.minimum(4.0 * rows / width, 700))), atol=0.12)
    assert after[-1] > 0.97


def test_width_far_beyond_the_segments_is_no_overflow():
    concept = whole(RecurringConcepts([constant(0), constant(1)], length=5, n_segments=4, width=10**9, seed=0)).concept
    assert set(concept) <= {0, 1}


def test_first_and_last_segment_have_no_neighbour_before_or_after():
    stream = RecurringConcepts([constant(0), constant(1)], length=400, n_segments=2, width=50, seed=0)
    concept = whole(stream).concept
    assert (concept[:200] == 0).all()
    assert (concept[-200:] == 1).all()


@pytest.mark.parametrize("concept", [Stagger(0), Led(0, flipped=0.0)])
def test_noise_replaces_that_share_of_labels_by_other_classes(concept):
    clean, noisy = (
        whole(RecurringConcepts([concept], length=20_000, n_segments=1, noise=noise, seed=0), 20_000)
        for noise in (0.0, 0.3)
    )
    np.testing.assert_array_equal(clean.X[:1000], noisy.X[:1000])
    assert (clean.y != noisy.y).mean() == pytest.approx(0.3, abs=0.02)
    assert set(noisy.y) == set(concept.classes)


def test_noise_of_real_targets_is_added():
    clean, noisy = (whole(linear_regressions(length=5000, n_segments=1, noise=noise, seed=0)) for noise in (0.0, 2.0))
    assert np.std(noisy.y[:1000] - clean.y[:1000]) == pytest.approx(2.0, rel=0.1)


# Concepts of several kinds ----------------------------------------------------------------------------------------


def test_tables_and_pairs_go_on_where_they_stopped_and_begin_anew():
    pandas = pytest.importorskip("pandas")
    X = np.arange(5.0)
    concepts = {
        "arrays": (np.column_stack([X, X]), np.array(["a"] * 5)),
        "frame": (pandas.DataFrame({"x1": X + 10, "x0": X + 10.5}), ["b"] * 5),
        "pairs": [({"x0": value + 20, "x1": value}, "c") for value in X],
    }
    batch = whole(RecurringConcepts(concepts, length=3, n_segments=6, seed=0))
    assert batch.y.tolist() == list("aaabbbcccaaabbbccc")
    np.testing.assert_array_equal(batch.X[:, 0].reshape(6, 3), [
        [0, 1, 2], [10.5, 11.5, 12.5], [20, 21, 22], [3, 4, 0], [13.5, 14.5, 10.5], [23, 24, 20]
    ])  # fmt: skip
    np.testing.assert_array_equal(batch.X[3:6, 1], [10, 11, 12])  # columns go by name


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_frames_go_by_name_whatever_library_they_are_of(library):
    make = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[library]
    frame_of = getattr(pytest.importorskip(library), make)

    def swaps(rng, n_rows):
        columns = {"u": np.full(n_rows, 1.0), "v": np.full(n_rows, 2.0)}
        names = ["u", "v"] if n_rows == 1 else ["v", "u"]
        return frame_of({name: columns[name] for name in names}), np.zeros(n_rows, dtype=int)

    table = frame_of({"v": np.full(5, 2.0), "u": np.full(5, 1.0)}), np.ones(5, dtype=int)
    stream = RecurringConcepts([swaps, table], length=5, n_segments=2, seed=0)
    assert stream.feature_names == ["u", "v"]
    np.testing.assert_array_equal(whole(stream).X, [[1.0, 2.0]] * 10)


def test_frame_with_other_columns_than_before_is_named():
    pandas = pytest.importorskip("pandas")

    def changes(rng, n_rows):
        return pandas.DataFrame({"u" if n_rows == 1 else "w": np.zeros(n_rows)}), np.zeros(n_rows)

    with pytest.raises(ValueError, match=r"concept 0 has columns \['w'\], and had \['u'\] before"):
        next(RecurringConcepts([changes], length=5, n_segments=1, seed=0).batches(5))


def test_labels_of_several_kinds_stay_what_they_are_in_batches_of_any_size():
    X = np.zeros((4, 1))
    stream = RecurringConcepts([(X, ["a", "b", "a", "b"]), (X, [0, 1, 0, 1])], length=4, n_segments=2, seed=0)
    assert stream.classes == ["a", "b", 0, 1]
    labels = ["a", "b", "a", "b", 0, 1, 0, 1]
    assert [y for _, y in stream] == labels
    for size in (1, 3, 8):
        assert [label for batch in stream.batches(size) for label in batch.y.tolist()] == labels
        pairs = [({"x": 0.0}, label) for label in labels]
        assert [label for batch in Batches(pairs, batch_size=size) for label in batch.y.tolist()] == labels
    concepts = [(X, ["a", "b", "a", "b"]), (X, [0, 1, 0, 1])]
    noisy = whole(RecurringConcepts(concepts, length=200, n_segments=2, noise=0.5, seed=0)).y.tolist()
    assert set(noisy) == {"a", "b", 0, 1}


def test_frames_keep_the_types_of_their_columns():
    pytest.importorskip("pandas")
    pairs = [({"a": 1, "b": "x"}, 0), ({"a": 2, "b": "y"}, 1)]
    (batch,) = Batches(pairs, as_frame=True)
    assert batch.X["a"].dtype.kind == "i"
    batch = next(RecurringConcepts([pairs], length=2, n_segments=1, seed=0).batches(2, as_frame=True))
    assert batch.X["a"].dtype.kind == "i"


def test_concepts_of_river_are_taken_and_the_stream_is_a_dataset_for_it():
    synth = pytest.importorskip("river.datasets.synth")
    from river import evaluate, metrics, naive_bayes

    concepts = [synth.SEA(variant=variant, seed=1) for variant in (0, 2)]
    stream = RecurringConcepts(concepts, length=200, n_segments=4, seed=0)
    assert stream.n_features == 3
    accuracy = evaluate.progressive_val_score(stream, naive_bayes.GaussianNB(), metrics.Accuracy())
    assert 0.6 < accuracy.get() < 1.0


def test_frames_have_the_names():
    pytest.importorskip("pandas")
    batch = next(stagger(length=5, seed=0).batches(3, as_frame=True))
    assert list(batch.X.columns) == ["size", "colour", "shape"]


def test_ensemble_learns_a_stream():
    model = LongTermMemoryClassifier(random_state=0)
    right = []
    for batch in stagger(length=300, n_segments=2, seed=0).batches(20):
        if right:
            right.append((model.predict(batch.X) == batch.y).mean())
        model.partial_fit(batch.X, batch.y, classes=[0, 1])
        right = right or [0.0]
    assert np.mean(right) > 0.8


# The ready-made ones --------------------------------------------------------------------------------------------------


def drawn(concept, n_rows=4000):
    return concept(np.random.default_rng(0), n_rows)


def test_rules_of_stagger_and_sea():
    X, y = drawn(Stagger(1))
    np.testing.assert_array_equal(y, (X[:, 1] == 2) | (X[:, 2] == 0))
    X, y = drawn(Sea(6.5))
    np.testing.assert_array_equal(y, X[:, :2].sum(axis=1) <= 6.5)


@pytest.mark.parametrize("rule", range(4))
def test_sines_are_rivers(rule):
    synth = pytest.importorskip("river.datasets.synth")
    X, y = drawn(Sine(rule))
    theirs = synth.Sine(classification_function=rule)._functions[rule]
    assert [theirs(a, b) for a, b in X] == y.tolist()


@pytest.mark.parametrize("rule", range(10))
def test_rules_of_agrawal_by_hand(rule):
    """The rules as published, a row at a time."""
    X, y = drawn(Agrawal(rule), 1500)
    for (salary, commission, age, education, _, _, value, years, loan), label in zip(X, y, strict=True):
        band = 0 if age < 40 else 1 if age < 60 else 2
        usual = [(50e3, 100e3), (75e3, 125e3), (25e3, 75e3)][band]
        educated = education in [(0, 1), (1, 2, 3), (2, 3, 4)][band]
        disposable = 2 / 3 * (salary + commission)
        expected = [
            band != 1,
            usual[0] <= salary <= usual[1],
            educated,
            [(25e3, 75e3), (50e3, 100e3), (50e3, 100e3)][band][0]
            <= salary
            <= [(25e3, 75e3), (50e3, 100e3), (50e3, 100e3)][band][1]
            if educated
            else usual[0] <= salary <= usual[1],
            [(100e3, 300e3), (200e3, 400e3), (300e3, 500e3)][band][0]
            <= loan
            <= [(100e3, 300e3), (200e3, 400e3), (300e3, 500e3)][band][1]
            if usual[0] <= salary <= usual[1]
            else [(200e3, 400e3), (300e3, 500e3), (100e3, 300e3)][band][0]
            <= loan
            <= [(200e3, 400e3), (300e3, 500e3), (100e3, 300e3)][band][1],
            usual[0] <= salary + commission <= usual[1],
            disposable - loan / 5 - 20e3 <= 0,
            disposable - 5e3 * education - 20e3 <= 0,
            disposable - 5e3 * education - loan / 5 - 10e3 <= 0,
            disposable - 5e3 * education + 0.02 * value * max(years - 20, 0) - 10e3 <= 0,
        ][rule]
        assert label == expected


def test_digits_can_be_read_off_the_segments_and_concepts_have_them_elsewhere():
    one, other = drawn(Led(0, flipped=0.0)), drawn(Led(1, flipped=0.0))
    varies_with_digit = [np.corrcoef(np.eye(10)[rows.y].T, rows.X.T)[:10, 10:] for rows in (one, other)]
    places = [set(np.flatnonzero(np.abs(table).max(axis=0) > 0.3)) for table in varies_with_digit]
    assert [len(place) for place in places] == [7, 7]
    assert places[0] != places[1]


def test_random_tree_is_a_function_of_its_boxes_and_has_both_classes():
    tree = RandomTree(3, n_features=3, n_classes=4, depth=4)
    X, y = drawn(tree, 3000)
    assert set(y) == {0, 1, 2, 3}
    features, thresholds, labels = tree._splits
    for x, label in zip(X[:200], y[:200], strict=True):
        node = 0
        for feature, threshold in zip(features, thresholds, strict=True):
            node = 2 * node + int(x[feature[node]] > threshold[node])
        assert labels[node] == label


def test_hyperplane_comes_round_again():
    half = drawn(Hyperplane(np.pi)).y
    np.testing.assert_array_equal(drawn(Hyperplane(0.0)).y, 1 - half)
    np.testing.assert_array_equal(drawn(Hyperplane(0.3)).y, drawn(Hyperplane(0.3 + 2 * np.pi)).y)


def test_coefficients_return():
    X, y = drawn(LinearRegression(2, deviation=0.0))
    coefficients = np.linalg.lstsq(X, y)[0]
    np.testing.assert_allclose(X @ coefficients, y)


# Bad input ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"concepts": []}, "concepts is empty"),
        ({"concepts": [Sea(), 3]}, "concept 1 is 3"),
        ({"concepts": [np.array(3)]}, r"concept 0 cannot be gone through row by row"),
        ({"concepts": [iter([({"a": 1}, 0)])]}, "is an iterator"),
        ({"concepts": [[]]}, "concept 0 has no rows"),
        ({"concepts": [(np.zeros((0, 2)), [])]}, "with rows"),
        ({"concepts": [(np.zeros((3, 2)), [1, 2])]}, r"got \(3, 2\) and \(2,\)"),
        ({"concepts": [Sea(), Stagger()]}, "concept 1 has features"),
        ({"concepts": [lambda rng, n: (np.zeros(n), np.zeros(n))]}, "was asked for 1 rows"),
        ({"order": "often"}, "order"),
        ({"order": []}, "order is empty"),
        ({"order": [0, 5]}, "order names 5, which is none of the concepts"),
        ({"length": 0}, "length=0"),
        ({"length": []}, "length"),
        ({"n_segments": 0}, "n_segments=0"),
        ({"order": "markov"}, "transitions go with"),
        ({"transitions": np.eye(2)}, "transitions go with"),
        ({"order": "markov", "transitions": np.eye(3)}, "2 x 2"),
        ({"order": "markov", "transitions": np.ones((2, 2))}, "sum to 1"),
        ({"width": -1}, "width=-1"),
        ({"noise": -0.1}, "noise"),
        ({"noise": 1.5}, "at most 1"),
        ({"length": None}, "length=None"),
        ({"length": 2.5}, "length=2.5"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 1.5}, "seed=1.5"),
        ({"concepts": [[np.zeros((3, 2)), np.zeros(3)]]}, "concept 0 has rows of type ndarray: they must be pairs"),
    ],
)
def test_bad_schedules_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        RecurringConcepts(**{"concepts": [Sea(5.0), Sea(9.0)], **arguments})


def test_concept_that_raises_is_named():
    with pytest.raises(TypeError) as caught:
        RecurringConcepts({"low": object})
    assert caught.value.__notes__ == ["raised when concept 'low' was asked for 1 rows"]


def test_noise_needs_to_know_the_classes():
    stream = RecurringConcepts([constant(1)], length=5, n_segments=1, noise=0.5, seed=0)
    with pytest.raises(ValueError, match="give classes"):
        next(stream.batches(5))
    stream = RecurringConcepts([constant("a")], length=50, n_segments=1, noise=0.5, classes=["a", "b"], seed=0)
    assert set(whole(stream).y) == {"a", "b"}
    stream = RecurringConcepts([constant("a")], length=50, n_segments=1, noise=0.5, classes=["b", "c"], seed=0)
    with pytest.raises(ValueError, match="the label 'a', which is none of the classes"):
        next(stream.batches(5))


def test_row_with_other_features_is_named():
    concept = [({"a": 1.0}, 0), ({"b": 1.0}, 0)]
    with pytest.raises(ValueError, match=r"concept 0 has a row with features \['b'\]"):
        list(RecurringConcepts([concept], length=2, n_segments=1, seed=0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Stagger(3), "rule=3"),
        (lambda: Agrawal(True), "rule=True"),
        (lambda: Sea(-1.0), "threshold"),
        (lambda: Led(flipped=2.0), "flipped"),
        (lambda: RandomTree(depth=0), "depth=0"),
        (lambda: Hyperplane(n_features=1), "two dimensions"),
        (lambda: LinearRegression(deviation=-1.0), "deviation"),
    ],
)
def test_bad_concepts_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# Readers ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def frame():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    return pandas.DataFrame(
        {
            "a": rng.normal(size=2500),
            "id": np.arange(2500),
            "b": rng.integers(0, 9, 2500),
            "y": rng.integers(0, 2, 2500),
        }
    )


def as_csv(frame, folder):
    frame.to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


def as_packed_csv(frame, folder):
    frame.to_csv(folder / "rows.csv.gz", index=False)
    return str(folder / "rows.csv.gz")


def as_parquet(frame, folder):
    pytest.importorskip("pyarrow")
    frame.to_parquet(folder / "rows.parquet", row_group_size=700)
    return folder / "rows.parquet"


def as_feather(frame, folder):
    pytest.importorskip("pyarrow")
    frame.to_feather(folder / "rows.feather")
    return folder / "rows.feather"


def as_arrow(frame, folder):
    return pytest.importorskip("pyarrow").Table.from_pandas(frame)


def as_arrow_dataset(frame, folder):
    return pytest.importorskip("pyarrow.dataset").dataset(as_arrow(frame, folder))


def as_polars(frame, folder):
    return pytest.importorskip("polars").DataFrame({name: frame[name].to_numpy() for name in frame})


SOURCES = [as_csv, as_packed_csv, as_parquet, as_feather, as_arrow, as_arrow_dataset, as_polars, lambda frame, _: frame]


@pytest.mark.parametrize("as_frame", [False, True])
@pytest.mark.parametrize("make", SOURCES)
def test_table_comes_in_batches_of_the_size_asked_for_as_often_as_asked_for(make, as_frame, frame, tmp_path):
    batches = Batches(make(frame, tmp_path), "y", batch_size=600, drop=["id"], as_frame=as_frame)
    for _ in range(2):
        parts = list(batches)
        assert [len(part.y) for part in parts] == [600] * 4 + [100]
        np.testing.assert_allclose(np.concatenate([np.asarray(part.X) for part in parts]), frame[["a", "b"]])
        np.testing.assert_array_equal(np.concatenate([part.y for part in parts]), frame["y"])
        assert hasattr(parts[0].X, "columns") == as_frame
        if as_frame:
            assert list(parts[0].X.columns) == ["a", "b"]


@pytest.mark.parametrize("as_frame", [False, True])
def test_pairs_come_in_batches(as_frame):
    pairs = [({"a": float(at), "b": at % 2, "c": 0}, "odd" if at % 2 else "even") for at in range(7)]
    parts = list(Batches(pairs, batch_size=3, drop=["c"], as_frame=as_frame))
    assert [len(part.y) for part in parts] == [3, 3, 1]
    np.testing.assert_array_equal(np.concatenate([np.asarray(part.X) for part in parts])[:, 0], np.arange(7))
    assert parts[0].y.tolist() == ["even", "odd", "even"]


def test_long_file_is_read_in_bounded_memory(tmp_path):
    pytest.importorskip("pandas")
    with (tmp_path / "long.csv").open("w") as file:
        file.write("a,y\n")
        file.writelines("0.123456789,1\n" for _ in range(200_000))
    sum(len(batch.y) for batch in itertools.islice(Batches(tmp_path / "long.csv", "y"), 2))  # imports
    tracemalloc.start()
    assert sum(len(batch.y) for batch in Batches(tmp_path / "long.csv", "y")) == 200_000
    assert tracemalloc.get_traced_memory()[1] < 3e6
    tracemalloc.stop()


def test_long_parquet_file_is_read_in_bounded_memory(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    path = tmp_path / "long.parquet"
    names = [*"abcdefgh", "y"]
    with parquet.ParquetWriter(path, pyarrow.schema([(name, pyarrow.float64()) for name in names])) as writer:
        for _ in range(20):
            writer.write_table(pyarrow.table({name: rng.random(20_000) for name in names}))
    pool = pyarrow.default_memory_pool()
    most = before = pool.bytes_allocated()
    n_rows = 0
    for batch in Batches(path, "y", batch_size=1000):
        n_rows += len(batch.y)
        most = max(most, pool.bytes_allocated())
    assert n_rows == 400_000
    assert most - before < path.stat().st_size / 5


def test_column_whose_kind_changes_within_a_csv_file_is_named(tmp_path):
    pytest.importorskip("pandas")
    path = tmp_path / "mixed.csv"
    path.write_text("a,y\n" + "1.0,0\n" * 5 + "2.0,unknown\n")
    with pytest.raises(ValueError, match=r"column 'y' of .* holds numbers up to row 4 and text after it: dtype="):
        list(Batches(path, "y", batch_size=4))
    labels = [label for batch in Batches(path, "y", batch_size=4, dtype={"y": str}) for label in batch.y.tolist()]
    assert labels == ["0"] * 5 + ["unknown"]
    path.write_text("a,y\nTrue,0\nFalse,1\n,0\nTrue,1\n")  # a flag that is missing is no text
    assert [batch.X.tolist() for batch in Batches(path, "y", batch_size=2)][1][1] == [1.0]
    path.write_text("a,t,y\n" + "1.0,x,0\n" * 4 + ",,1\n" * 4)  # nothing in it is no change
    parts = list(Batches(path, "y", batch_size=4, as_frame=True))
    assert parts[1].X.isna().all(axis=None)


def test_flags_and_missing_values_are_numbers():
    pandas = pytest.importorskip("pandas")
    mixed = pandas.DataFrame({"flag": [True, False], "a": [0.5, 1.5], "n": pandas.array([1, None], "Int64"), "y": 0})
    (batch,) = Batches(mixed, "y")
    np.testing.assert_array_equal(batch.X, [[1.0, 0.5, 1.0], [0.0, 1.5, np.nan]])
    (batch,) = Batches([({"a": 1.0, "b": None}, 0), ({"a": 2.0, "b": True}, 0)])
    np.testing.assert_array_equal(batch.X, [[1.0, np.nan], [2.0, 1.0]])


def test_table_without_rows_has_no_batches(tmp_path):
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    (tmp_path / "header.csv").write_text("a,y\n")
    for empty in (tmp_path / "header.csv", pandas.DataFrame({"a": [], "y": []}), pyarrow.table({"a": [], "y": []})):
        assert list(Batches(empty, "y")) == []


@pytest.mark.parametrize(
    ("source", "arguments", "message"),
    [
        ("frame", {"target": "z"}, r"no columns \['z'\]"),
        ("frame", {"target": "y", "drop": ["q"]}, r"no columns \['q'\]"),
        ("frame", {}, "target names the column"),
        ("frame", {"target": "y", "batch_size": 0}, "batch_size=0"),
        ("pairs", {"target": "y"}, "target names the column"),
        ("pairs", {"drop": ["z"]}, r"no features \['z'\]"),
        ("text", {"target": "y"}, r"columns \['a'\] hold no numbers"),
        ("number", {"target": "y"}, "neither a file"),
        ("iterator", {}, "is an iterator"),
        ("nothing", {}, "has no rows"),
        ("array", {}, "has rows of type ndarray: they must be pairs"),
        ("reader", {"target": "y"}, "ends for good"),
        ("twice", {"target": "y"}, "unique column names"),
    ],
)
def test_bad_sources_are_named(source, arguments, message, frame):
    sources = {
        "frame": frame,
        "pairs": [({"a": 1.0}, 0)],
        "text": frame.assign(a="much"),
        "number": 3,
        "iterator": iter([({"a": 1.0}, 0)]),
        "nothing": [],
        "array": np.zeros((3, 2)),
        "reader": pytest.importorskip("pyarrow").Table.from_pandas(frame).to_reader(),
        "twice": frame.set_axis(["a", "a", "b", "y"], axis=1),
    }
    with pytest.raises(ValueError, match=message):
        list(Batches(sources[source], **arguments))


def test_files_that_are_none_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv"):
        Batches(tmp_path / "nowhere.csv", "y")
    (tmp_path / "rows.txt").write_text("a")
    with pytest.raises(ValueError, match=r"rows\.txt is no CSV, Parquet or Arrow file"):
        Batches(tmp_path / "rows.txt", "y")
