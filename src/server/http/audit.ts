// The front end's side of the audit (decisions §9): a refusal becomes an event that a thread signs and stores before the caller is answered.
// Entries of the evidence log stay for ever, so events that anybody can provoke are gathered, and limited before they are written.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Audited } from '../../core/errors/errors.ts'
import { within } from '../../core/threads/within.ts'
import { cut } from '../../formats/text/text.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import { tryOwnWork } from '../dispatch/own-work.ts'
import { bounds } from './gates/index.ts'
import type { Limit, LimitStore } from '../../core/concurrency/rate-limit.ts'

/** The context of the refused request, as the front end knows it. */
export interface AuditContext {
  readonly route?: { readonly method: string; readonly path: string } | undefined
  readonly callerId?: string | undefined
  /** Set where there is no caller. */
  readonly clientAddress?: string | undefined
}

export interface Audit {
  /**
   * Writes an event. Returns undefined for an event that is only counted, because its client had the same one within the minute, or because
   * of a limit. The promise resolves when the event is stored, or when the database is away and the reply must not wait longer; the write is
   * then tried again.
   */
  readonly record: (audited: Audited, context: AuditContext) => Promise<void> | undefined
  /** Resolves when everything is stored, or when `ms` have passed; a loss is logged. */
  readonly close: (ms: number) => Promise<void>
}

/** How long a reply waits for its event when the database does not answer. */
const REPLY_WAIT_MS = 1_000
const RETRY_MS = 500
/** How often an event may fail while the database is there. */
const FAILED_MAX = 5
/** Events that wait for the database; the next one is lost, and the log says so. */
const WAITING_MAX = 10_000
/** A caller chooses these texts; evidence needs only their beginning. */
const TEXT_MAX = 256

/** Types of events that record a refusal, not an act. */
const REFUSALS = /^caller\.|_denied$|^webhook\.re(jected|played)$/
/** An act is never gathered: each one changed something. */
const isGathered = (type: string) => REFUSALS.test(type) || type === 'rate_limited'

/**
 * Decisions §9 and §13: one event per client and minute. The first refusal is written at once; further ones within the minute become one
 * event at its end, with the place and reason of the last one and their number.
 */
const GATHERED_MS = 60_000

/** Alike refusals of one client since the last event for them. */
interface Gathering {
  count: number
  last: { readonly audited: Audited; readonly context: AuditContext }
  readonly timer: NodeJS.Timeout
}

const PER_CALLER: Limit = { name: 'audit caller', perMinute: bounds.auditPerCaller }
/** Shared by all clients without a key. */
const ALL_WITHOUT_KEY: Limit = { name: 'audit without key', perMinute: bounds.auditWithoutKey }

export function openAudit({
  submit,
  limits,
  gatheredMs = GATHERED_MS,
  log,
}: {
  submit: Dispatcher['submit']
  limits: LimitStore
  /** For tests, which do not wait for a minute. */
  gatheredMs?: number
  log: (line: Record<string, unknown>, message: string) => void
}): Audit {
  const waiting = new Map<object, Promise<void>>()
  const gatherings = new Map<string, Gathering>()
  /** Events that were only counted since the last one that was written. */
  let unwritten = 0
  let closed = false

  function isOverLimit({ callerId }: AuditContext): boolean {
    const limit = callerId === undefined ? ALL_WITHOUT_KEY : PER_CALLER
    return !limits.take(limit, callerId ?? '', performance.now()).allowed
  }

  function gather(audited: Audited, context: AuditContext): Promise<void> | undefined {
    const key = alike(audited, context)
    const gathering = gatherings.get(key)
    if (gathering !== undefined) {
      gathering.count++
      gathering.last = { audited, context }
      return undefined
    }
    if (isOverLimit(context)) {
      unwritten++
      return undefined
    }
    const timer = setInterval(() => writeGathered(key), gatheredMs).unref()
    gatherings.set(key, { count: 0, last: { audited, context }, timer })
    return write(audited, context, 1)
  }

  /** A client that was quiet for a whole minute is forgotten. */
  function writeGathered(key: string): void {
    const gathering = gatherings.get(key)
    if (gathering === undefined) return
    const { count, last, timer } = gathering
    gathering.count = 0
    if (count > 0 && !isOverLimit(last.context)) return void write(last.audited, last.context, count)
    unwritten += count
    gatherings.delete(key)
    clearInterval(timer)
  }

  async function store(event: { eventId: string; type: string }): Promise<void> {
    let failed = 0
    for (;;) {
      const recorded = await tryOwnWork(submit, 'record-audit-event', event)
      if (recorded.kind === 'done' || closed) return
      // The loop waits for a database that is away and for late threads, and a thread that died is replaced; but an event that cannot be
      // signed never will be.
      if (recorded.kind === 'failed' && ++failed === FAILED_MAX)
        return log({ event, ...recorded.answer.log }, 'audit event lost')
      await delay(RETRY_MS, undefined, { ref: false })
    }
  }

  /** @param count how many refusals the event stands for; undefined for an act */
  function write(audited: Audited, context: AuditContext, count?: number): Promise<void> | undefined {
    const detail = {
      ...audited.detail,
      ...(context.clientAddress === undefined ? {} : { clientAddress: context.clientAddress }),
      ...(count === undefined ? {} : { count }),
      ...(unwritten > 0 ? { unwrittenBefore: unwritten } : {}),
    }
    unwritten = 0
    const event = {
      eventId: randomUUID(),
      type: audited.type,
      occurredAt: new Date().toISOString(),
      ...(context.route === undefined ? {} : { route: `${context.route.method} ${context.route.path}` }),
      ...(context.callerId === undefined ? {} : { callerId: context.callerId }),
      reason: audited.reason,
      ...chosen(audited),
      severity: REFUSALS.test(audited.type) ? 'WARNING' : 'INFO',
      ...(Object.keys(detail).length === 0 ? {} : { detail }),
    }
    if (closed || waiting.size >= WAITING_MAX) {
      log({ event }, 'audit event lost')
      return undefined
    }
    const stored = store(event).finally(() => waiting.delete(event))
    waiting.set(event, stored)
    return within(REPLY_WAIT_MS, stored, undefined)
  }

  return {
    record(audited, context) {
      if (isGathered(audited.type)) return gather(audited, context)
      if (!isOverLimit(context)) return write(audited, context)
      unwritten++
      return undefined
    },
    async close(ms) {
      for (const [key, { count, timer }] of gatherings) {
        clearInterval(timer)
        if (count > 0) writeGathered(key)
      }
      // An event whose thread has died is answered long after the service must have stopped.
      await within(ms, Promise.all(waiting.values()), undefined)
      closed = true
      for (const event of waiting.keys()) log({ event }, 'audit event lost')
      if (unwritten > 0) log({ unwritten }, 'audit events only counted')
    },
  }
}

/** Cuts the texts that a caller chose. */
function chosen({ capability, principalId }: Audited): Pick<Audited, 'capability' | 'principalId'> {
  return {
    ...(capability === undefined ? {} : { capability: cut(capability, TEXT_MAX) }),
    ...(principalId === undefined ? {} : { principalId: cut(principalId, TEXT_MAX) }),
  }
}

/** Refusals with the same key are gathered. It leaves out the id of a delivery: an attacker who repeats one chooses another id each time. */
function alike(audited: Audited, { callerId, clientAddress }: AuditContext): string {
  const { eventId: _another, ...detail } = audited.detail ?? {}
  return JSON.stringify([audited.type, callerId, clientAddress, detail, chosen(audited)])
}
