// Asks an external connector about the outcome of a release, and decides which of its answers count (docs/handbook/executions.md).
import { isObject } from '../../src/formats/json/fields.ts'
import type { HttpOutcome } from '../../src/core/outbound/call.ts'
import type { SigningKey } from '../../src/core/signing/keys.ts'
import type { Said } from '../../src/formats/schemas/provider-confirmation.ts'
import { jsonOf } from './answer.ts'
import { connectorIdOf, namesSame, readAnswer, shortReason, type Registration } from './external.ts'
import { signQuestion, type AskedAbout } from './release.ts'

/** Carries the signed question: a GET has no body. */
const QUESTION_HEADER = 'countersign-question'

/** How far the clocks of the instance that released, of the one that asks and of the connector may be apart. */
const CLOCKS_DIFFER_MS = 60_000

/** A question, ready to be sent. */
interface SignedQuestion {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** @param asked.authorizationId is in the URL too, so that a connector can look it up before it verifies */
export function questionTo(
  registration: Registration,
  asked: AskedAbout,
  { key, now }: { key: SigningKey; now: Date },
): SignedQuestion {
  const { endpointUrl, timeoutMs } = registration
  const url = new URL(endpointUrl)
  const connectorId = connectorIdOf(registration)
  const question = signQuestion(asked, { connectorId, audience: url.origin, timeoutMs, key, now })
  url.searchParams.set('authorizationId', asked.authorizationId)
  return {
    url: url.href,
    headers: {
      accept: 'application/json',
      [QUESTION_HEADER]: Buffer.from(question).toString('base64url'),
    },
  }
}

/**
 * Whether a connector that is asked now can no longer take the release. A release expires with its authorization, by its clock.
 * @param authorizedUntil when the authorization expires, ISO 8601
 */
export function isReleaseOver(authorizedUntil: string, now: Date): boolean {
  return Date.parse(authorizedUntil) + CLOCKS_DIFFER_MS <= now.getTime()
}

type Definite = Exclude<Said, 'pending'>

/** The meaning of a connector's answer, in words for the transition; or why it has none, which completes "the connector …". */
type ReadBack = { readonly says: Definite; readonly note: string } | { readonly unknown: string }

/**
 * Reads an answer. A 404 counts only with a body that names the transaction, because a proxy that knows no such path answers one too; and
 * only where the connector can no longer take the release.
 */
export function readBackOf(exchange: HttpOutcome, asked: AskedAbout, isOver: boolean): ReadBack {
  if (exchange.kind === 'not-sent') return { unknown: `was not asked: ${exchange.reason}` }
  if (exchange.kind === 'lost') return { unknown: `gave no whole answer: ${exchange.cause}` }
  const { status } = exchange
  if (status !== 200 && status !== 404) return { unknown: `answered ${status}` }
  const body = jsonOf(exchange)
  if (!isObject(body) || !namesSame(body, asked))
    return { unknown: `answered ${status} with a body that does not name what was asked` }
  if (status === 404)
    return isOver
      ? {
          says: 'not_executed',
          note: 'The connector says that it never took the release, which has expired.',
        }
      : { unknown: 'has not taken the release, and still may' }
  const answer = readAnswer(body, asked)
  if (answer === undefined) return { unknown: 'answered 200 with a body that is no answer' }
  if (answer.success)
    return { says: 'executed', note: `The connector says that it was executed at ${answer.executedAt}.` }
  const reason = shortReason(answer.result)
  return {
    says: 'not_executed',
    note: `The connector says that it was not executed${reason === undefined ? '' : `: ${reason}`}.`,
  }
}
