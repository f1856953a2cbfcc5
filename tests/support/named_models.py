"""Names for River's models in tests."""

from collections import Counter


def named(models):
    """Return (name, model) pairs: each model is called by its class, with a number where several are of one class."""
    models = list(models)
    kinds = [type(_last_step(model)).__name__ for model in models]
    seen = Counter()
    pairs = []
    for kind, model in zip(kinds, models, strict=True):
        pairs.append((kind if kinds.count(kind) == 1 else f"{kind}-{seen[kind]}", model))
        seen[kind] += 1
    return pairs


def _last_step(model):
    while isinstance(steps := getattr(model, "steps", None), dict) and steps:
        model = list(steps.values())[-1]
    return getattr(model, "estimator", model)
