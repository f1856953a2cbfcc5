"""Streams of recurring concepts: schedule, noise, sources of rows."""

import itertools

import numpy as np
import pytest

from ltm_sklearn.streams import (
    Batches,
    Led,
    RecurringConcepts,
    Sea,
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

BUILTIN = [stagger, sea, sine, agrawal, led, random_trees, rotating_hyperplane, linear_regressions]


def constant(label):
    """A concept in which all rows have one label."""

    def concept(rng, n_rows):
        return rng.random((n_rows, 2)), np.full(n_rows, label)

    return concept


def single_batch(stream, batch_size=10_000):
    (batch,) = stream.batches(batch_size)
    return batch


@pytest.mark.parametrize(
    ("concepts", "arguments", "expected"),
    [
        ([7, 8, 9], {"length": 2, "n_segments": 5}, [7, 7, 8, 8, 9, 9, 7, 7, 8, 8]),
        ([0, 1], {"order": [1, 0, 1, 1], "length": [3, 1]}, [1, 1, 1, 0, 1, 1, 1, 1]),
        ({"a": 0, "b": 1}, {"order": ["b", "a"], "length": 2, "n_segments": 3}, [1, 1, 0, 0, 1, 1]),
    ],
    ids=["cyclic", "by index", "by name"],
)
def test_concepts_follow_the_order(concepts, arguments, expected):
    items = {name: constant(label) for name, label in concepts.items()} if isinstance(concepts, dict) else None
    stream = RecurringConcepts(items or [constant(label) for label in concepts], seed=0, **arguments)
    batch = single_batch(stream)
    assert batch.y.tolist() == expected
    assert stream.n_samples == len(expected)
    np.testing.assert_array_equal(batch.concept, batch.y - min(expected))


def test_random_order_never_repeats_a_concept_and_uses_all():
    order = np.array([segment.concept for segment in stagger(order="random", n_segments=300, seed=3).segments()])
    assert (np.diff(order) != 0).all()
    assert np.bincount(order).min() > 70


def test_markov_order_follows_the_transitions():
    transitions = [[0.0, 1.0, 0.0], [0.25, 0.25, 0.5], [1.0, 0.0, 0.0]]
    stream = stagger(order="markov", transitions=transitions, n_segments=4000, length=1, seed=0)
    order = [segment.concept for segment in stream.segments()]
    counts = np.zeros((3, 3))
    np.add.at(counts, (order[:-1], order[1:]), 1)
    np.testing.assert_allclose(counts / counts.sum(axis=1, keepdims=True), transitions, atol=0.05)


def test_changes_are_the_starts_of_other_concepts():
    stream = RecurringConcepts([constant(0), constant(1)], order=[0, 0, 1, 0], length=[5, 6], seed=0)
    assert stream.changes() == [11, 16]
    assert stream.n_samples == 22


def test_endless_stream_continues_and_has_no_list_of_changes():
    stream = stagger(length=10, seed=0)
    assert stream.n_samples is None
    assert len(list(itertools.islice(stream, 95))) == 95
    with pytest.raises(ValueError, match="endless stream"):
        stream.changes()


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("builtin", BUILTIN)
def test_each_iteration_and_batch_size_yields_the_same_rows(builtin):
    stream = builtin(n_segments=3, length=1500, width=100, noise=0.1, seed=5)
    once = single_batch(stream)
    for batch_size in (7, 1024, 1500):
        parts = list(stream.batches(batch_size))
        assert all(len(part.y) == batch_size for part in parts[:-1])
        for name in ("X", "y", "concept"):
            np.testing.assert_array_equal(np.concatenate([getattr(part, name) for part in parts]), getattr(once, name))
    pairs = list(stream)
    np.testing.assert_array_equal([list(x.values()) for x, _ in pairs], once.X)
    np.testing.assert_array_equal([y for _, y in pairs], once.y)
    assert list(pairs[0][0]) == stream.feature_names
    assert list(stream.take(3)) == pairs[:3]


def test_seed_sets_the_rows():
    streams = [sea(n_segments=2, length=50, seed=seed) for seed in (0, 0, 1, None, None)]
    one, same, other, any_one, any_other = (single_batch(stream).X for stream in streams)
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    assert not np.array_equal(any_one, any_other)
    np.testing.assert_array_equal(single_batch(streams[3]).X, any_one)


def test_rows_of_a_long_segment_do_not_repeat():
    X = single_batch(sea(n_segments=2, length=3000, seed=0)).X
    assert len(np.unique(X, axis=0)) == 6000


@pytest.mark.parametrize("width", [1, 200])
def test_gradual_change_is_a_sigmoid_around_the_change(width):
    n_segments, length = 200, 600
    stream = RecurringConcepts([constant(0), constant(1)], length=length, n_segments=n_segments, width=width, seed=0)
    concept = single_batch(stream, n_segments * length).concept.reshape(n_segments, length)
    is_new = concept[1:] == np.arange(1, n_segments)[:, np.newaxis] % 2
    share = is_new.mean(axis=0)[: length // 2]
    rows = np.arange(length // 2) + 0.5
    np.testing.assert_allclose(share, 1.0 / (1.0 + np.exp(-np.minimum(4.0 * rows / width, 700))), atol=0.12)
    assert share[-1] > 0.97
    assert (concept[0, :200] == 0).all()  # no segment before the first one, and none after the last one
    assert (concept[-1, -200:] == 1).all()


def test_width_far_beyond_the_segments_does_not_overflow():
    stream = RecurringConcepts([constant(0), constant(1)], length=5, n_segments=4, width=10**9, seed=0)
    assert set(single_batch(stream).concept) <= {0, 1}


@pytest.mark.parametrize("concept", [Stagger(0), Led(0, flipped=0.0)])
def test_noise_replaces_a_share_of_labels_by_other_classes(concept):
    clean, noisy = (
        single_batch(RecurringConcepts([concept], length=20_000, n_segments=1, noise=noise, seed=0), 20_000)
        for noise in (0.0, 0.3)
    )
    np.testing.assert_array_equal(clean.X[:1000], noisy.X[:1000])
    assert (clean.y != noisy.y).mean() == pytest.approx(0.3, abs=0.02)
    assert set(noisy.y) == set(concept.classes)


def test_noise_is_added_to_real_targets():
    clean, noisy = (
        single_batch(linear_regressions(length=5000, n_segments=1, noise=noise, seed=0)) for noise in (0.0, 2.0)
    )
    assert np.std(noisy.y[:1000] - clean.y[:1000]) == pytest.approx(2.0, rel=0.1)


def test_noise_needs_all_classes():
    def first_batch(label, classes=None):
        return next(RecurringConcepts([constant(label)], n_segments=1, noise=0.5, classes=classes, seed=0).batches(50))

    with pytest.raises(ValueError, match="classes are unknown: pass classes"):
        first_batch(1)
    assert set(first_batch("a", ["a", "b"]).y) == {"a", "b"}
    with pytest.raises(ValueError, match="the label 'a', which is none of the classes"):
        first_batch("a", ["b", "c"])


def test_tables_and_pairs_continue_and_begin_again_at_the_end():
    pandas = pytest.importorskip("pandas")
    X = np.arange(5.0)
    concepts = {
        "arrays": (np.column_stack([X, X]), np.array(["a"] * 5)),
        "frame": (pandas.DataFrame({"x1": X + 10, "x0": X + 10.5}), ["b"] * 5),
        "pairs": [({"x0": value + 20, "x1": value}, "c") for value in X],
    }
    batch = single_batch(RecurringConcepts(concepts, length=3, n_segments=6, seed=0))
    assert batch.y.tolist() == list("aaabbbcccaaabbbccc")
    np.testing.assert_array_equal(batch.X[:, 0].reshape(6, 3), [
        [0, 1, 2], [10.5, 11.5, 12.5], [20, 21, 22], [3, 4, 0], [13.5, 14.5, 10.5], [23, 24, 20]
    ])  # fmt: skip
    np.testing.assert_array_equal(batch.X[3:6, 1], [10, 11, 12])  # columns are matched by name


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_frames_are_matched_by_name(library):
    make = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[library]
    frame_of = getattr(pytest.importorskip(library), make)

    def reorders_columns(rng, n_rows):
        columns = {"u": np.full(n_rows, 1.0), "v": np.full(n_rows, 2.0)}
        names = ["u", "v"] if n_rows == 1 else ["v", "u"]
        return frame_of({name: columns[name] for name in names}), np.zeros(n_rows, dtype=int)

    table = frame_of({"v": np.full(5, 2.0), "u": np.full(5, 1.0)}), np.ones(5, dtype=int)
    stream = RecurringConcepts([reorders_columns, table], length=5, n_segments=2, seed=0)
    assert stream.feature_names == ["u", "v"]
    np.testing.assert_array_equal(single_batch(stream).X, [[1.0, 2.0]] * 10)


def test_frame_with_other_columns_than_before_is_named():
    pandas = pytest.importorskip("pandas")

    def changes_columns(rng, n_rows):
        return pandas.DataFrame({"u" if n_rows == 1 else "w": np.zeros(n_rows)}), np.zeros(n_rows)

    with pytest.raises(ValueError, match=r"concept 0 has columns \['w'\], and had \['u'\] before"):
        next(RecurringConcepts([changes_columns], length=5, n_segments=1, seed=0).batches(5))


def test_text_and_number_labels_keep_their_types_in_batches():
    X = np.zeros((4, 1))
    concepts = [(X, ["a", "b", "a", "b"]), (X, [0, 1, 0, 1])]
    stream = RecurringConcepts(concepts, length=4, n_segments=2, seed=0)
    assert stream.classes == ["a", "b", 0, 1]
    labels = ["a", "b", "a", "b", 0, 1, 0, 1]
    assert [y for _, y in stream] == labels
    pairs = [({"x": 0.0}, label) for label in labels]
    for batch_size in (1, 3, 8):
        for batches in (stream.batches(batch_size), Batches(pairs, batch_size=batch_size)):
            assert [label for batch in batches for label in batch.y.tolist()] == labels
    noisy = single_batch(RecurringConcepts(concepts, length=200, n_segments=2, noise=0.5, seed=0)).y.tolist()
    assert set(noisy) == {"a", "b", 0, 1}


def test_frames_have_feature_names_and_column_types():
    pytest.importorskip("pandas")
    pairs = [({"a": 1, "b": "x"}, 0), ({"a": 2, "b": "y"}, 1)]
    from_concept = next(RecurringConcepts([pairs], length=2, n_segments=1, seed=0).batches(2, as_frame=True))
    (from_reader,) = Batches(pairs, as_frame=True)
    for batch in (from_concept, from_reader):
        assert list(batch.X.columns) == ["a", "b"]
        assert batch.X["a"].dtype.kind == "i"
    batch = next(stagger(length=5, seed=0).batches(3, as_frame=True))
    assert list(batch.X.columns) == ["size", "colour", "shape"]


def test_river_generators_are_concepts_and_streams_are_river_datasets():
    synth = pytest.importorskip("river.datasets.synth")
    from river import evaluate, metrics, naive_bayes

    concepts = [synth.SEA(variant=variant, seed=1) for variant in (0, 2)]
    stream = RecurringConcepts(concepts, length=200, n_segments=4, seed=0)
    assert stream.n_features == 3
    accuracy = evaluate.progressive_val_score(stream, naive_bayes.GaussianNB(), metrics.Accuracy())
    assert 0.6 < accuracy.get() < 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"concepts": []}, "concepts is empty"),
        ({"concepts": [Sea(), 3]}, "concept 1 is 3; it must be"),
        ({"concepts": [np.array(3)]}, r"concept 0 cannot be read row by row"),
        ({"concepts": [iter([({"a": 1}, 0)])]}, "is an iterator"),
        ({"concepts": [[]]}, "concept 0 has no rows"),
        ({"concepts": [(np.zeros((0, 2)), [])]}, "with rows"),
        ({"concepts": [(np.zeros((3, 2)), [1, 2])]}, r"X of shape \(3, 2\) and y of shape \(2,\)"),
        ({"concepts": [Sea(), Stagger()]}, "concept 1 has features"),
        ({"concepts": [lambda rng, n: (np.zeros(n), np.zeros(n))]}, "was called for 1 rows"),
        ({"concepts": [[np.zeros((3, 2)), np.zeros(3)]]}, "concept 0 has rows of type ndarray: they must be pairs"),
        ({"order": "often"}, "order"),
        ({"order": []}, "order is empty"),
        ({"order": [0, 5]}, "order contains 5, which is none of the concepts"),
        ({"length": 0}, "length=0"),
        ({"length": []}, "length"),
        ({"length": None}, "length=None"),
        ({"length": 2.5}, "length=2.5"),
        ({"n_segments": 0}, "n_segments=0"),
        ({"order": "markov"}, "transitions must be given with"),
        ({"transitions": np.eye(2)}, "transitions must be given with"),
        ({"order": "markov", "transitions": np.eye(3)}, "2 x 2"),
        ({"order": "markov", "transitions": np.ones((2, 2))}, "sum to 1"),
        ({"width": -1}, "width=-1"),
        ({"noise": -0.1}, "noise"),
        ({"noise": 1.5}, "at most 1"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 1.5}, "seed=1.5"),
    ],
)
def test_invalid_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        RecurringConcepts(**{"concepts": [Sea(5.0), Sea(9.0)], **arguments})


def test_error_of_a_concept_names_it():
    with pytest.raises(TypeError) as caught:
        RecurringConcepts({"low": object})
    assert caught.value.__notes__ == ["raised when concept 'low' was called for 1 rows"]


def test_row_with_other_features_is_named():
    concept = [({"a": 1.0}, 0), ({"b": 1.0}, 0)]
    with pytest.raises(ValueError, match=r"concept 0 has a row with features \['b'\]"):
        list(RecurringConcepts([concept], length=2, n_segments=1, seed=0))
