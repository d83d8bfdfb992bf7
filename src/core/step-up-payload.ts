// What a human signs to resolve a change, on the command line as in the console. Browser-safe.

/** The longest that the service takes (decisions §7): a human may need a moment to send it. */
export const STEP_UP_MS = 120_000

/**
 * The payload of a step-up authorization (decisions §7), in effect from `now` for `STEP_UP_MS`.
 * @param change whose hash was compared with what the human was shown
 * @param options.nonce 16 to 128 printable characters
 * @param options.impactHash of the impact report that the human saw (src/core/impact-report.ts); undefined: of none
 */
export function stepUpPayload(
  { changeId, changeHash }: { readonly changeId: string; readonly changeHash: string },
  {
    action,
    nonce,
    now,
    impactHash,
  }: {
    readonly action: 'approve' | 'reject'
    readonly nonce: string
    readonly now: Date
    readonly impactHash?: string | undefined
  },
) {
  return {
    version: 1,
    nonce,
    changeId,
    action,
    changeHash,
    ...(impactHash === undefined ? {} : { impactHash }),
    authorizedAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + STEP_UP_MS).toISOString(),
  }
}
