"""Concept changes: scores after a change, recovery times, segments, C-F1."""

import numpy as np
import pytest
from support.echo_models import EchoRiver, noisy_labels, pairs_of
from support.named_models import named

from ltm_sklearn.evaluation import prequential
from ltm_sklearn.evaluation._concept_changes import MOST_SEGMENTS, ConceptChanges, ConceptTimeline
from ltm_sklearn.evaluation._concept_f1 import MOST_LEADERS, ConceptF1
from ltm_sklearn.streams import stagger


def test_scores_after_a_change_and_after_a_return():
    concept = np.repeat([0, 1, 0, 2], [10, 10, 10, 3])
    mistakes = np.zeros(33, dtype=int)
    mistakes[[9, 10, 11, 20, 25, 30]] = 1
    stream = [({"a": mistake}, 0, each) for mistake, each in zip(mistakes.tolist(), concept.tolist(), strict=True)]
    result = prequential({"m": EchoRiver()}, stream, window=5)
    assert (result.n_changes, result.n_returns) == (3, 1)
    assert result.scores["m"]["after_change"] == pytest.approx(1 - 4 / 13)  # of 5 + 5 + 3 rows
    assert result.scores["m"]["after_return"] == pytest.approx(1 - 1 / 5)


def recovery(losses, scheduled, window, tolerance=0.0, relative=False):
    changes = ConceptChanges(1, window, tolerance, relative)
    changes.add(np.array(losses, dtype=float)[:, np.newaxis], np.array(scheduled))
    changes.end()
    return changes.recovery_times()[0]


@pytest.mark.parametrize(
    ("after", "tolerance", "expected"),
    [
        ([0, 0, 0, 0], 0.0, 0),
        ([1, 1, 0, 1, 0, 0, 0, 0, 1], 0.0, 4),
        ([1, 1, 0, 1, 0, 0, 0, 0, 1], 0.25, 2),
        ([1, 1, 0], 0.0, np.inf),
        ([], 0.0, np.nan),
    ],
)
def test_recovery_ends_where_a_good_window_begins(after, tolerance, expected):
    found = recovery([0] * 10 + after, [0] * 10 + [1] * len(after), window=4, tolerance=tolerance)
    np.testing.assert_equal(found, expected)


@pytest.mark.parametrize(("tolerance", "expected"), [(0.05, 2), (0.0, 3)])
def test_tolerance_of_errors_is_relative(tolerance, expected):
    losses = [2.0] * 6 + [9.0, 4.0, 2.2, 2.0, 2.0]
    assert recovery(losses, [0] * 6 + [1] * 5, window=2, tolerance=tolerance, relative=True) == expected


def test_recovery_is_the_median_over_changes():
    scheduled = np.repeat([0, 1, 0, 1], 6)
    good, late, never = [0] * 6, [1, 1, 0, 0, 0, 0], [1] * 6
    assert recovery([*good, *late, *good, *late], scheduled, window=3) == 2
    assert recovery([*good, *late, *good, *never], scheduled, window=3) == 2
    assert recovery([*good, *never, *never, *never], scheduled, window=3) == 0  # no further loss after the first change


def test_gradual_changes_are_those_of_the_schedule():
    stream = stagger(length=200, n_segments=4, width=60, seed=0)
    result = prequential(EchoRiver("size"), stream, batch_size=32)
    assert [tuple(segment) for segment in result.segments] == [(0, 0, 200), (1, 200, 200), (2, 400, 200), (0, 600, 200)]
    assert (result.n_changes, result.n_returns) == (3, 1)


def test_streams_without_concepts_have_no_columns_for_them():
    result = prequential({"m": EchoRiver()}, pairs_of(*noisy_labels(20)))
    assert "c_f1" not in result.scores["m"]
    assert "concept_oracle" not in result.regret()


def test_timeline_joins_neighbours_of_too_many_segments():
    timeline = ConceptTimeline()
    for _ in range(MOST_SEGMENTS):
        timeline.add(np.repeat(["a", "b"], [3, 1]))
    assert len(timeline.segments) <= MOST_SEGMENTS
    lengths = [segment.length for segment in timeline.segments]
    assert sum(lengths) == 4 * MOST_SEGMENTS
    assert [segment.start for segment in timeline.segments] == [0, *np.cumsum(lengths)[:-1]]
    assert timeline.segments[0].concept == "a"


# C-F1 -------------------------------------------------------------------------------------------------------------


def test_c_f1_by_hand():
    c_f1 = ConceptF1()
    assert np.isnan(c_f1.score())
    c_f1.add(["a", "a", "b", "b", "b", None], [0, 0, 0, 1, 1, 1])
    # concept 0: a has precision 1 and recall 2/3; concept 1: b has precision 2/3 and recall 2/3
    assert c_f1.score() == pytest.approx((4 / 5 + 4 / 6) / 2)


def test_c_f1_forgets_the_leaders_of_few_rows():
    c_f1 = ConceptF1()
    c_f1.add(["main"] * 50, [0] * 50)
    for start in range(0, 5 * MOST_LEADERS, 100):
        c_f1.add([f"snapshot {start + at}" for at in range(100)], [1] * 100)
    assert len(c_f1._rows_led) <= MOST_LEADERS
    assert c_f1.score() == pytest.approx((1.0 + 2 / (1 + 5 * MOST_LEADERS)) / 2)


def test_leader_is_read_before_learning():
    class LedByTheLastLabel(EchoRiver):
        def learn_one(self, x, y):
            self.leader_ = str(y)

    y = np.repeat([0, 1, 0, 1], 5)
    stream = [({"a": 0}, label, label) for label in y.tolist()]
    scores = prequential({"led": LedByTheLastLabel(), "not": EchoRiver()}, stream).scores
    leader = np.array([None, *y[:-1].tolist()])
    f1 = [2 * ((leader == c) & (y == c)).sum() / ((leader == c).sum() + (y == c).sum()) for c in (0, 1)]
    assert scores["led"]["c_f1"] == pytest.approx(np.mean(f1))
    assert np.isnan(scores["not"]["c_f1"])


def test_leader_of_a_river_pipeline_is_that_of_its_last_step():
    pytest.importorskip("river")
    from river import naive_bayes, preprocessing

    from ltm_sklearn.river import LongTermMemoryClassifier as RiverClassifier

    model = preprocessing.MinMaxScaler() | RiverClassifier(named([naive_bayes.GaussianNB()]), seed=0)
    scores = prequential({"m": model}, stagger(length=100, n_segments=4, seed=0)).scores
    assert 0.0 < scores["m"]["c_f1"] <= 1.0
