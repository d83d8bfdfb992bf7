// The text of an action, by whose hash an authorization, and the word of a human on how it ended, are bound to it. Browser-safe.
import { canonicalize } from './json/canonical.ts'
import type { Members } from './json/members.ts'

/**
 * Writes the text that `businessTransactionHash` is the SHA-256 of.
 * @param intent whose other members are left out
 * @throws Error where a member is missing
 */
export function actionText(
  businessTransactionId: unknown,
  {
    action,
    parameters,
    target,
  }: { readonly action?: unknown; readonly parameters?: unknown; readonly target?: unknown },
): string {
  return canonicalize({ action, businessTransactionId, parameters, target } as Members)
}
