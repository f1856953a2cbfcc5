"""scikit-learn's checks of estimators, as parameters of tests."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator


def sklearn_checks(estimators, expected_failed_checks):
    """Return parameters for each check of each estimator; all but the first estimator of a class are exhaustive.

    As ``parametrize_with_checks``, whose names of tests take long to make: they have all parameters of the estimators.
    """
    first = {type(estimator): at for at, estimator in reversed([*enumerate(estimators)])}
    parameters = []
    for at, estimator in enumerate(estimators):
        tier = [] if at == first[type(estimator)] else [pytest.mark.exhaustive]
        checks = estimator_checks_generator(
            estimator, expected_failed_checks=expected_failed_checks(estimator), mark="xfail"
        )
        for number, values in enumerate(checks):
            marks = getattr(values, "marks", ())
            _, check = values = getattr(values, "values", values)
            name = f"{type(estimator).__name__}{at}-{check.func.__name__}-{number}"
            parameters.append(pytest.param(*values, id=name, marks=[*marks, *tier]))
    return parameters
