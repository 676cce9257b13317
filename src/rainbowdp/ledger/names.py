"""Which names are new for certain, without a look under the lock.

A service looks for a name before it reads data, and the payment has to look again, since somebody
else may have used the name meanwhile. But not everywhere: *what was looked for at a head need only
be looked for among the records after that head*. Of those, the last ones are known to this process:
it added some, and it reads the names of the others with every payment, in the message that takes
the lock.

So a name is new if a look found none when the head was at least ``since``, the names after some
record that is no later than ``since`` are all known, and it is not among them. Of any other name
nothing is said, and it is looked for.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Iterable

MOST_NAMES = 4096


class Names:
    """The names of the last records, and at which head names were looked for in vain.

    Parameters
    ----------
    number
        The last record when this begins: the names of those after it are to be told.

    """

    def __init__(self, number: int) -> None:
        self._lock = threading.Lock()
        self._after = self.known_to = number
        """The names of all records after the one, up to the other, are known."""
        self._names: set[str] = set()
        self._order: deque[tuple[int, str]] = deque()
        self._looks: OrderedDict[str, int] = OrderedDict()

    def looked_for(self, name: str, since: int) -> None:
        """No record up to this one, or a later one, had the name."""
        with self._lock:
            self._looks[name] = since
            self._looks.move_to_end(name)
            if len(self._looks) > MOST_NAMES:
                self._looks.popitem(last=False)

    def new_among(self, names: Iterable[str], later: Iterable[str], number: int) -> set[str]:
        """Those names that no record has; ``later`` has what is named after ``known_to`` = number.

        A ``number`` of another moment says nothing about the records between.
        """
        with self._lock:
            if number != self.known_to:
                return set()
            taken = self._names.union(later)
            return {
                name
                for name in names
                if name not in taken and self._looks.get(name, -1) >= self._after
            }

    def add(self, later: Iterable[tuple[int, str]], number: int, to: int) -> None:
        """The names of all records after ``number``, which was ``known_to``, up to ``to``."""
        with self._lock:
            if number != self.known_to:
                return
            for place, name in later:
                self._names.add(name)
                self._order.append((place, name))
                self._looks.pop(name, None)
            self.known_to = to
            while len(self._order) > MOST_NAMES:
                self._after, name = self._order.popleft()
                self._names.discard(name)

    def forget(self, to: int) -> None:
        """So many names came that only those after the record ``to`` will be known."""
        with self._lock:
            self._after = self.known_to = to
            self._names.clear()
            self._order.clear()
