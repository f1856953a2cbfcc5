"""Records of runs: history, run record, log file, status, callback, progress."""

from ._run_record import RunRecord

__all__ = ["RunRecord"]

# for the other packages
from ._callback import RunCallback as RunCallback
from ._callback import check_record as check_record
from ._callback import check_verbose as check_verbose
from ._callback import log_file as log_file
from ._callback import n_records as n_records
from ._history import History as History
from ._history import Record as Record
from ._history import RecordSource as RecordSource
from ._log_file import LogFile as LogFile
from ._log_reader import RunLog as RunLog
from ._log_reader import read_log as read_log
from ._logging import issue_warning as issue_warning
from ._logging import logger as logger
from ._logging import warn_user as warn_user
from ._progress import progress_bar as progress_bar
from ._row_history import RowHistory as RowHistory
from ._run_record import end_of as end_of
from ._run_record import recorded as recorded
from ._run_record import run_record_of_history as run_record_of_history
from ._run_status import LATELY as LATELY
from ._run_status import number as number
from ._run_status import pace_called as pace_called
