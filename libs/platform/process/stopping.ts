/** Aborted by the first signal to stop: ends the waiting for a bus or a database that is not there. */
export const stopping = new AbortController();
