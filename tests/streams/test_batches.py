"""Queue of rows that regroups batches."""

import numpy as np
import pytest

from ltm_sklearn.streams import Batch, BatchQueue
from ltm_sklearn.streams._batches import rebatch


@pytest.mark.parametrize("as_list", [False, True])
def test_queue_returns_all_rows_in_order_for_any_sizes(as_list):
    rng = np.random.default_rng(0)
    queue, pushed, popped = BatchQueue(), 0, []
    while pushed < 1000:
        rows = np.arange(pushed, pushed + rng.integers(0, 9))
        X = [{"a": row} for row in rows.tolist()] if as_list else rows[:, np.newaxis]
        queue.push(Batch(X, rows, rows))
        pushed += len(rows)
        n_rows = int(rng.integers(0, queue.n_rows + 1))
        if n_rows:
            popped.append(queue.pop(n_rows))
            assert len(popped[-1].y) == n_rows
    if queue.n_rows:
        popped.append(queue.pop(queue.n_rows))
    assert queue.n_rows == 0
    for batch in popped:
        features = [x["a"] for x in batch.X] if as_list else batch.X[:, 0]
        np.testing.assert_array_equal(features, batch.y)
    np.testing.assert_array_equal(np.concatenate([batch.y for batch in popped]), np.arange(pushed))
    np.testing.assert_array_equal(np.concatenate([batch.concept for batch in popped]), np.arange(pushed))


def test_full_batch_is_yielded_before_more_rows_are_read():
    def live_stream():
        yield Batch(np.zeros((4, 1)), np.arange(4))
        raise AssertionError

    batches = rebatch(live_stream(), 2)
    assert [next(batches).y.tolist() for _ in range(2)] == [[0, 1], [2, 3]]
