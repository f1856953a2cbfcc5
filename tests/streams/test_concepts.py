"""Synthetic concepts label their rows by the published rules."""

import numpy as np
import pytest

from ltm_sklearn.streams import Agrawal, Hyperplane, Led, LinearRegression, RandomTree, Sea, Sine, Stagger


def draw(concept, n_rows=4000):
    return concept(np.random.default_rng(0), n_rows)


@pytest.mark.parametrize(
    ("concept", "rule"),
    [
        (Stagger(0), lambda size, colour, shape: (size == 0) & (colour == 0)),
        (Stagger(1), lambda size, colour, shape: (colour == 2) | (shape == 0)),
        (Stagger(2), lambda size, colour, shape: size > 0),
        (Sea(6.5), lambda a, b, c: a + b <= 6.5),
    ],
)
def test_stagger_and_sea_follow_their_rules(concept, rule):
    X, y = draw(concept)
    np.testing.assert_array_equal(y, rule(*X.T))


@pytest.mark.parametrize("rule", range(4))
def test_sine_equals_that_of_river(rule):
    synth = pytest.importorskip("river.datasets.synth")
    X, y = draw(Sine(rule))
    river_rule = synth.Sine(classification_function=rule)._functions[rule]
    assert [river_rule(a, b) for a, b in X] == y.tolist()


def agrawal_label(rule, salary, commission, age, education, value, years, loan):
    """Label one row by a rule as published."""

    def within(amount, bounds):
        return 1000 * bounds[0] <= amount <= 1000 * bounds[1]

    group = 0 if age < 40 else 1 if age < 60 else 2
    salary_fits = within(salary, [(50, 100), (75, 125), (25, 75)][group])
    is_educated = education in [(0, 1), (1, 2, 3), (2, 3, 4)][group]
    if_educated = within(salary, [(25, 75), (50, 100), (50, 100)][group])
    loan_if_fits = within(loan, [(100, 300), (200, 400), (300, 500)][group])
    loan_otherwise = within(loan, [(200, 400), (300, 500), (100, 300)][group])
    disposable = 2 / 3 * (salary + commission)
    return [
        group != 1,
        salary_fits,
        is_educated,
        if_educated if is_educated else salary_fits,
        loan_if_fits if salary_fits else loan_otherwise,
        within(salary + commission, [(50, 100), (75, 125), (25, 75)][group]),
        disposable - loan / 5 - 20e3 <= 0,
        disposable - 5e3 * education - 20e3 <= 0,
        disposable - 5e3 * education - loan / 5 - 10e3 <= 0,
        disposable - 5e3 * education + 0.02 * value * max(years - 20, 0) - 10e3 <= 0,
    ][rule]


@pytest.mark.parametrize("rule", range(10))
def test_agrawal_follows_the_published_rules(rule):
    X, y = draw(Agrawal(rule), 1500)
    expected = [agrawal_label(rule, *row[[0, 1, 2, 3, 6, 7, 8]]) for row in X]
    np.testing.assert_array_equal(y, expected)


def test_led_concepts_place_seven_segments_differently():
    places = []
    for seed in (0, 1):
        X, y = draw(Led(seed, flipped=0.0))
        correlation = np.corrcoef(np.eye(10)[y].T, X.T)[:10, 10:]
        places.append(set(np.flatnonzero(np.abs(correlation).max(axis=0) > 0.3)))
    assert [len(place) for place in places] == [7, 7]
    assert places[0] != places[1]


def test_random_tree_labels_rows_by_its_leaves():
    tree = RandomTree(3, n_features=3, n_classes=4, depth=4)
    X, y = draw(tree, 3000)
    assert set(y) == {0, 1, 2, 3}
    features, thresholds, labels = tree._splits
    for x, label in zip(X[:200], y[:200], strict=True):
        node = 0
        for feature, threshold in zip(features, thresholds, strict=True):
            node = 2 * node + int(x[feature[node]] > threshold[node])
        assert labels[node] == label


def test_hyperplane_is_periodic_in_the_angle():
    np.testing.assert_array_equal(draw(Hyperplane(0.0)).y, 1 - draw(Hyperplane(np.pi)).y)
    np.testing.assert_array_equal(draw(Hyperplane(0.3)).y, draw(Hyperplane(0.3 + 2 * np.pi)).y)


def test_linear_regression_without_noise_is_linear():
    X, y = draw(LinearRegression(2, deviation=0.0))
    np.testing.assert_allclose(X @ np.linalg.lstsq(X, y)[0], y)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Stagger(3), "rule=3"),
        (lambda: Agrawal(True), "rule=True"),
        (lambda: Sea(-1.0), "threshold"),
        (lambda: Led(flipped=2.0), "flipped"),
        (lambda: RandomTree(depth=0), "depth=0"),
        (lambda: Hyperplane(n_features=1), "n_features=1 must be at least 2"),
        (lambda: LinearRegression(deviation=-1.0), "deviation"),
    ],
)
def test_invalid_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
