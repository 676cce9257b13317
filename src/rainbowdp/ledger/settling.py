"""Bringing to PostgreSQL's disk what a transaction saw or wrote, before anybody is told.

The disk is slow, and whoever pays holds the lock that all others wait for. So a payment is
committed *without* waiting for the disk, which lets the next one begin, and is then brought to disk
together with whatever else was committed meanwhile. *Settled* is what no crash can undo any more.

**Nothing leaves a transaction's block that is not settled**, neither what it wrote nor what it saw:

* The server writes its log in one order and replays it in that order up to where a crash cut it
  off. So what is on disk is always *all* transactions up to some moment, and a payment that was
  built upon another is never there without it.
* A small transaction that is committed synchronously is in the log after all that was visible
  before it began. When its commit returns, all of that is on disk, and on the synchronous standbys,
  if the server has any.
* Readers see what others committed and have not settled yet: an answer that is recalled in another
  process, a balance, a head. So a transaction that only looks ends with the same small write,
  unless the log is on disk as far as it goes.
* The commit and the small write are one message, and the look and its small write one transaction,
  so both happen in one run of the server. A connection that came back after a crash would settle
  what is left, and not what was seen.

A standby only replays what is on the primary's disk, and cannot write; there nothing is to be done.
"""

from __future__ import annotations

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from rainbowdp.ledger.messages import driver_of, sent
from rainbowdp.ledger.trouble import unsettled

SYNCHRONOUS = (  # a server may have another default; on one with standbys there is more than "on"
    "SELECT set_config('synchronous_commit', 'on', true) "
    "WHERE current_setting('synchronous_commit') = 'off'"
)
LATER = "SET LOCAL synchronous_commit = off"
SETTLE = "SELECT pg_logical_emit_message(true, 'rainbow', '')"
SETTLE_IF_NEEDED = (
    f"{SETTLE} WHERE CASE WHEN pg_is_in_recovery() THEN false "
    "ELSE pg_current_wal_insert_lsn() > pg_current_wal_flush_lsn() "
    "OR current_setting('synchronous_standby_names') <> '' END"
)


def end_of_look(connection: Connection) -> None:
    """End a transaction that wrote nothing; what it saw is settled."""
    sent(connection, [SETTLE_IF_NEEDED, "COMMIT"])


def write_and_settle(connection: Connection, statement: str, where: str) -> None:
    """Write, end the transaction and with it the lock, and then wait for the disk.

    Raises
    ------
    Unavailable
        If it was committed and could not be settled: a crash may undo it, or not.

    """
    try:
        sent(connection, [LATER, statement, "COMMIT", SYNCHRONOUS, SETTLE])
    except DBAPIError as error:
        # What comes after the COMMIT is in no block of ours.
        if not error.connection_invalidated and not in_block(connection):
            raise unsettled(where, error) from error
        raise


def in_block(connection: Connection) -> bool:
    """Whether the server is in a transaction that was begun and not ended."""
    from psycopg.pq import TransactionStatus

    status: TransactionStatus = driver_of(connection).info.transaction_status
    return status in (TransactionStatus.INTRANS, TransactionStatus.INERROR)
