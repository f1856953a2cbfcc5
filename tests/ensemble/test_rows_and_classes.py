"""Frames, sparse rows and class labels."""

import numpy as np
import pytest
import scipy.sparse as sp
from pandas import DataFrame
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from support.small_ensembles import (
    KnowsSome,
    X,
    assert_same,
    both,
    classifier,
    frame,
    labels,
    numbers_of,
    sgd,
    stream,
    words,
)

pytestmark = pytest.mark.fast_cases(1)


towns = np.array(["Oslo", "Rome", "Lima"])


mixed = DataFrame({"a": X[:, 0], "b": X[:, 1], "town": towns[np.arange(400) % 3]})


@both
def test_frames_give_the_same_numbers_as_arrays(make, y, first):
    of_frames, of_arrays = stream(make(), y, X=frame, first=first), stream(make(), y, first=first)
    # Frames lie in memory by columns: sums are taken in another order.
    np.testing.assert_allclose(of_frames.transform(frame), of_arrays.transform(X), rtol=1e-9)
    np.testing.assert_allclose(of_frames.weights_, of_arrays.weights_, rtol=1e-9)
    assert of_frames.feature_names_in_.tolist() == ["a", "b", "c"]


@both
@pytest.mark.parametrize("other", [["b", "a", "c"], ["a", "b", "d"]], ids=["reordered", "renamed"])
def test_other_column_names_are_refused_and_change_nothing(make, y, first, other):
    model = make().fit(frame, y)
    expected = numbers_of(model, frame)
    wrong = frame.set_axis(other, axis=1)
    for call in (model.predict, model.transform, lambda X: model.partial_fit(X, y)):
        with pytest.raises(ValueError, match="feature names should match"):
            call(wrong)
    for name, value in numbers_of(model, frame).items():
        np.testing.assert_array_equal(value, expected[name])


@both
def test_nameless_rows_after_named_ones_warn(make, y, first):
    model = make().fit(frame, y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)


@both
def test_fit_takes_new_column_names(make, y, first):
    model = make().fit(frame[:50], y[:50]).fit(frame[50:90].rename(columns=str.upper), y[50:90])
    assert model.feature_names_in_.tolist() == ["A", "B", "C"]


def of_columns(model):
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["town"]), remainder="passthrough")
    return make_pipeline(encode, model)


def test_expert_picks_columns_of_text_by_name():
    y = np.where(mixed["town"] == "Rome", "south", "north")
    model = classifier(estimators=[("towns", of_columns(DecisionTreeClassifier()))])
    model = stream(model, y, X=mixed, first={"classes": ["north", "south"]}, stop=200)
    assert (model.predict(mixed) == y).all()
    assert any(expert.kind == "snapshot" for expert in model.experts_)


def test_missing_number_beside_text_is_not_learned_in_silence():
    # The numbers of such a frame are not checked beforehand, so the experts must.
    holed = mixed.copy()
    holed.loc[3, "a"] = np.nan
    for model in (LogisticRegression(), GaussianNB()):
        ensemble = classifier(
            estimators=[("towns", of_columns(model).set_params(columntransformer__sparse_threshold=0))]
        )
        with pytest.raises(ValueError, match="NaN"):
            ensemble.fit(holed, labels)


three = words[np.digitize(X[:, 0], [-0.5, 0.5])]


def test_string_labels_give_the_numbers_of_integer_labels():
    of_words = stream(classifier(), three, first={"classes": ["yes", "no", "maybe"]})
    of_numbers = stream(classifier(), np.searchsorted(np.unique(words), three), first={"classes": [0, 1, 2]})
    np.testing.assert_array_equal(of_words.predict_proba(X), of_numbers.predict_proba(X))
    np.testing.assert_array_equal(of_words.predict(X), np.unique(words)[of_numbers.predict(X)])
    assert of_words.classes_.tolist() == ["maybe", "no", "yes"]


def test_order_in_which_the_classes_are_given_does_not_matter():
    one = stream(classifier(), three, first={"classes": ["yes", "no", "maybe"]})
    other = stream(classifier(), three, first={"classes": ["maybe", "yes", "no"]})
    assert_same(one, other)


def test_class_that_comes_late():
    y = np.where(np.arange(400) < 200, np.minimum(labels, 1), 2 * labels)
    model = stream(classifier(), y, first={"classes": [0, 1, 2]}, stop=200)
    assert model.predict_proba(X).shape == (400, 3)
    stream(model, y, start=200)
    assert (model.predict(X) == 2).sum() > 100


def test_experts_without_probabilities_vote():
    model = classifier(estimators=[("hinge", SGDClassifier(random_state=0)), ("sgd", sgd())], memory=None)
    model = stream(model, three, first={"classes": words})
    votes = model.transform(X)[:, :3]
    np.testing.assert_array_equal(model.classes_[votes.argmax(axis=1)], model.named_estimators_.hinge.predict(X))
    assert np.unique(votes).tolist() == [0.0, 1.0]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


class KnowsSomeVotes(KnowsSome):
    predict_proba = property()  # not there

    def predict(self, X):
        return np.repeat(self.classes_[np.argmax(self.probabilities)], len(X))


@pytest.mark.parametrize(
    ("classes", "probabilities", "aligned"),
    [
        (["no", "yes"], [0.25, 0.75], [0.0, 0.25, 0.75]),
        (["yes"], [1.0], [0.0, 0.0, 1.0]),
        (["alas", "no", "zero"], [0.5, 0.25, 0.25], [0.0, 0.25, 0.0]),
        (["yes", "maybe", "no"], [0.5, 0.125, 0.375], [0.125, 0.375, 0.5]),
    ],
    ids=["two-of-three", "one", "strangers", "unsorted"],
)
def test_frozen_expert_with_classes_of_its_own(classes, probabilities, aligned):
    stranger = FrozenEstimator(KnowsSome(classes, probabilities).fit(X))
    model = classifier(estimators=[("stranger", stranger), ("bayes", GaussianNB())], memory=None)
    model = stream(model, three, first={"classes": words})
    np.testing.assert_array_equal(model.transform(X)[:, :3], np.tile(aligned, (400, 1)))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("kind", [KnowsSome, KnowsSomeVotes])
def test_predictions_of_unknown_classes_are_mistakes(kind):
    # A row of zeros has its maximum in the first column: that must not count as a vote for the first class.
    stranger = FrozenEstimator(kind(["nobody", "none"], [0.4, 0.6]).fit(X))
    model = classifier(estimators=[("stranger", stranger), ("bayes", GaussianNB())], memory=None)
    stream(model, np.repeat(["maybe", "no"], 200), first={"classes": words}, stop=200)
    assert model.loss_[0] == 1.0
    alone = classifier(estimators=[("stranger", stranger)], memory=None)
    alone = stream(alone, three, first={"classes": words})
    np.testing.assert_allclose(alone.predict_proba(X), 1.0 / 3.0)


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_array, sp.coo_matrix])
def test_sparse_rows_give_the_numbers_of_dense_ones(make):
    thin = np.maximum(X, 0.0)
    experts = [("bernoulli", BernoulliNB()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]
    sparse = classifier(estimators=experts).fit(make(thin), labels)
    stream(sparse, labels, X=sp.csr_array(thin), stop=100)
    dense = stream(classifier(estimators=experts).fit(thin, labels), labels, X=thin, stop=100)
    np.testing.assert_allclose(sparse.predict_proba(make(thin)), dense.predict_proba(thin), rtol=1e-9)
    np.testing.assert_allclose(sparse.weights_, dense.weights_, rtol=1e-9)


def test_sparse_rows_are_refused_if_one_expert_cannot_take_them():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        classifier().fit(sp.csr_array(X), labels)  # naive Bayes
