/**
 * Waits for work, but no longer than `ms`. The work itself continues; its later result or error is dropped.
 *
 * @param ms milliseconds
 * @param late the result when the time is up first
 * @throws the error of work that rejects in time
 */
export async function within<T, Late>(ms: number, work: Promise<T>, late: Late): Promise<T | Late> {
  const { promise, resolve } = Promise.withResolvers<Late>()
  // Resolves one turn later: if this process was held up, a result that has arrived meanwhile wins.
  const timer = setTimeout(() => setImmediate(() => resolve(late)), ms)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
