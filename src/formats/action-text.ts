// The text of an action. Its hash binds an authorization, and a human's statement on how it ended, to the action. Browser-safe.
import { canonicalize } from './json/canonical.ts'
import type { Members } from './json/members.ts'

/**
 * Writes the text whose SHA-256 is `businessTransactionHash`.
 * @param intent intent of the action; its other members are left out
 * @throws Error when a member is missing
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
