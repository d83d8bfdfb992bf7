// The report of the front end on each reply.
import { gateNames } from '../../core/errors/gates.ts'
import type { Route } from '../route.ts'
import type { Answer } from '../answer.ts'
import type { Instruments } from './instruments.ts'

interface Replied {
  readonly method: string
  readonly path: string
  /** Undefined where no route fits. */
  readonly route: Route | undefined
  readonly answer: Answer
  readonly status: number
  readonly ms: number
}

export interface ReplyWatch {
  readonly replied: (replied: Replied) => void
  /** `written` is false where the limit for events of this kind is used up: the event is only counted then. */
  readonly audited: (type: string, written: boolean) => void
  /** A connection that the listener ended. */
  readonly dropped: (reason: string) => void
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** A client can write any method; other methods get OpenTelemetry's name for them. */
export function knownMethod(method: string): string {
  return METHODS.has(method) ? method : '_OTHER'
}

const WEBHOOKS = '/webhooks/{provider}'

/** The values that two labels can have. */
export interface Labels {
  readonly limits: readonly string[]
  readonly dropReasons: readonly string[]
}

export function watchReplies(instruments: Instruments, labels: Labels): ReplyWatch {
  const { requests, requestSeconds, dropped, limited, gated, audited, deliveries } = instruments
  // The series exist from the start, so that the first event is seen as an increase.
  for (const limit of labels.limits) limited.inc({ limit }, 0)
  for (const reason of labels.dropReasons) dropped.inc({ reason }, 0)
  for (const gate of gateNames) gated.inc({ gate }, 0)
  return {
    replied(reply) {
      const { route, status, ms } = reply
      const method = knownMethod(reply.method)
      const path = route?.path ?? 'none'
      requests.inc({ method, route: path, status })
      requestSeconds.observe({ method, route: path }, ms / 1_000)
      const { limit, gate } = reply.answer
      if (limit !== undefined) limited.inc({ limit })
      if (gate !== undefined) gated.inc({ gate })
      if (path === WEBHOOKS)
        deliveries.inc({ provider: providerOf(reply.path), outcome: deliveryOutcome(reply) })
    },
    audited: (type, written) => audited.inc({ type, written: String(written) }),
    dropped: (reason) => dropped.inc({ reason }),
  }
}

/** The path matches a route, so its provider is a configured one. Without decoding, each way to encode it would be a name of its own. */
function providerOf(path: string): string {
  return decodeURIComponent(path.split('/')[2] ?? '')
}

/** A `replayed` delivery is acknowledged as well, and audited as replayed. */
function deliveryOutcome({ answer, status }: Replied): string {
  if (status >= 500) return 'unavailable'
  if (status !== 200) return 'rejected'
  if (answer.audit?.type === 'webhook.replayed') return 'replayed'
  return Buffer.from(answer.body).includes('"accepted"') ? 'accepted' : 'acknowledged'
}
