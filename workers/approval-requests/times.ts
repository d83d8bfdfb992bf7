/**
 * The time of an act on an approval request, by the clock of this instance. The clock of the instance that opened it may be ahead, and every
 * verifier checks the order: no act is signed with a time before that of the request.
 * @param createdAt of the request, ISO 8601 with milliseconds
 */
export function timeOnRequest({ createdAt }: { readonly createdAt: string }): string {
  const now = new Date().toISOString()
  return now < createdAt ? createdAt : now
}
