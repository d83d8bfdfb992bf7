// Work that the rows of a table have due. An instance that takes a row moves its time on, so that no two do its work at once; a failure puts
// it off, for longer each time.

/** Longer than an attempt and what is noted of it: an instance that dies leaves its work to the others after this time. */
export const LEASE = `interval '30 seconds'`

/** SQL: another attempt has failed. */
export const FAILED_AGAIN = 'failures = failures + 1, failing_since = coalesce(failing_since, now())'

/**
 * SQL of seconds: work that fails is tried again after 5, 10, 20 … seconds.
 * @param pause.max at least so often, unless it asks for a longer time
 * @param pause.asked SQL of how long it asked not to be tried again
 */
export const pauseSeconds = ({ max, asked }: { readonly max: number; readonly asked: string }) =>
  `greatest(${asked}, least(${max}, 5 * 2 ^ least(failures, 10)))`
