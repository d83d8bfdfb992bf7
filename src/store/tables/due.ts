// Work that the rows of a table schedule. An instance that takes a row moves its time on, so that no two instances do its work at once;
// each failure moves it on for longer.

/** Longer than an attempt and noting its result: an instance that dies leaves its work to the others after this time. */
export const LEASE = `interval '30 seconds'`

/** SQL: another attempt has failed. */
export const FAILED_AGAIN = 'failures = failures + 1, failing_since = coalesce(failing_since, now())'

/**
 * SQL of seconds: work that fails is tried again after 5, 10, 20 … seconds.
 * @param pause.max the longest pause, unless the other side asks for a longer one
 * @param pause.asked SQL of the pause that the other side asked for
 */
export const pauseSeconds = ({ max, asked }: { readonly max: number; readonly asked: string }) =>
  `greatest(${asked}, least(${max}, 5 * 2 ^ least(failures, 10)))`
