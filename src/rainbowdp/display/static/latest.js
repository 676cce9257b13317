// Requests that a newer one makes useless.

/** `run` with the latest argument only, one at a time: a moving slider never piles up requests. */
export function latestOnly(run) {
  let busy = false;
  let waiting = null;
  return async (argument) => {
    waiting = { argument };
    if (busy) return;
    busy = true;
    try {
      while (waiting) {
        const { argument: next } = waiting;
        waiting = null;
        await run(next);
      }
    } finally {
      busy = false;
    }
  };
}
