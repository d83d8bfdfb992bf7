/**
 * Waits for work, but no longer than `ms`. The work itself goes on; what becomes of it later, an error included, is dropped.
 *
 * @param ms milliseconds
 * @param late the result when the time is up first
 * @throws what the work rejects with in time
 */
export async function within<T, Late>(ms: number, work: Promise<T>, late: Late): Promise<T | Late> {
  const { promise, resolve } = Promise.withResolvers<Late>()
  // In the turn after: where this process was held up, a result that has come meanwhile is read before.
  const timer = setTimeout(() => setImmediate(() => resolve(late)), ms)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
