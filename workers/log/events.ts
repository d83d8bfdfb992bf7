// The rows by which the feed finds its events among the entries of an append (migrations/0016_event-feed.sql).
import { eventCodeOf } from '../../src/formats/artifacts/kinds.ts'
import { bitOf } from '../../src/formats/schemas/event-types.ts'
import {
  encodeEvent,
  insertEventRows,
  ownerTag,
  NO_OWNER,
  type LogEventRow,
} from '../../src/store/tables/log-events.ts'
import type { QueuedBatch } from '../../src/store/tables/log-queue.ts'
import type { Statement } from '../../src/store/postgres/statement-batch.ts'

/** A reader that wants one event of a row reads all of it: 8 KB. */
const EVENTS_PER_ROW = 256

/** @param append.start the index of the first entry */
export function eventStatements(
  batches: readonly QueuedBatch[],
  { log, start, nowMs }: { readonly log: number; readonly start: number; readonly nowMs: number },
): Statement[] {
  const rows: LogEventRow[] = []
  // The same few callers occur many times.
  const tags = new Map<string, string>()
  let open = emptyRow()
  let index = start
  const close = (lastIndex: number) => {
    const { events, owners, codes } = open
    rows.push({
      log,
      lastIndex,
      appendedAtMs: nowMs,
      codes,
      events: events.join(''),
      owners: [...owners],
    })
    open = emptyRow()
  }
  let last = start
  for (const { entries } of batches) {
    for (const entry of entries) {
      const at = index++
      const code = eventCodeOf(entry)
      if (code === undefined) continue
      const caller = entry.owner ?? entry.streams.caller
      const owner = caller === undefined ? NO_OWNER : tagOf(caller, tags)
      open.events.push(encodeEvent({ index: at, code, owner, id: entry.id }))
      open.codes |= bitOf(code)
      if (caller !== undefined) open.owners.add(owner)
      last = at
      if (open.events.length === EVENTS_PER_ROW) close(last)
    }
  }
  if (open.events.length > 0) close(last)
  return insertEventRows(rows)
}

function emptyRow() {
  return { events: [] as string[], owners: new Set<string>(), codes: 0 }
}

function tagOf(caller: string, tags: Map<string, string>): string {
  let tag = tags.get(caller)
  if (tag === undefined) tags.set(caller, (tag = ownerTag(caller)))
  return tag
}
