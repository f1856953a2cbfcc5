"""Files of checkpoints in a folder, and runs that are killed."""


class Killed(Exception):
    """End of the process."""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def saved_at(folder):
    """Return the rows after which the files of a folder were written."""
    return [int(name.removeprefix("checkpoint-").removesuffix(".ltm")) for name in names(folder)]
