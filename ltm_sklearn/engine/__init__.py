"""One round over models: predict, combine, update, train, snapshot; independent of scikit-learn and River."""

from ._snapshots import DriftDetector, Snapshots

__all__ = ["DriftDetector", "Snapshots"]

# for the other packages
from ._compiled_row_round import compiled_round as compiled_round
from ._compiled_row_round import learn_row as learn_row
from ._engine import WARM_UP_ROWS as WARM_UP_ROWS
from ._engine import Engine as Engine
from ._expert_pool import Expert as Expert
from ._failure_log import QUIET_ROUNDS as QUIET_ROUNDS
from ._failure_log import ExpertFailure as ExpertFailure
from ._failure_log import ExpertWarning as ExpertWarning
from ._fitted_attributes import ExpertSummary as ExpertSummary
from ._fitted_attributes import FittedAttributes as FittedAttributes
from ._locks import changing as changing
from ._locks import lock_of as lock_of
from ._locks import locked as locked
from ._locks import shared_state as shared_state
from ._locks import unchanged_on_error as unchanged_on_error
from ._locks import unshare as unshare
from ._model_calls import CallFailure as CallFailure
from ._model_calls import ModelCall as ModelCall
from ._model_calls import able_to_travel as able_to_travel
from ._model_calls import call_function as call_function
from ._model_calls import error_text as error_text
from ._model_calls import unavailable_pools as unavailable_pools
from ._parameters import averages as averages
from ._parameters import check_query as check_query
from ._parameters import check_shared_parameters as check_shared_parameters
from ._parameters import new_engine as new_engine
from ._pending_rows import DelayedLabels as DelayedLabels
from ._round import RoundPredictions as RoundPredictions
