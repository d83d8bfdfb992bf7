// Maker/checker changes of every kind (decisions §7): proposed, listed, shown and resolved by the same four handlers.
import { Failure, failures } from '../../core/errors.ts'
import { changeStatuses, type ChangeKindName } from '../../core/schemas/governance.ts'
import { isUuid } from '../../core/schemas/primitives.ts'
import { changeText } from '../../core/sealed.ts'
import { listChanges as listStored, readChange } from '../../core/tables/pending-changes.ts'
import { pageHeaders, readChoice, readRange } from './paging.ts'
import type { Handler } from './route.ts'

/** The kind reads the parameters of the path, whatever they are called, beside the body. */
export function proposeChange(kind: ChangeKindName): Handler {
  return ({ body, callerIndex: caller, client, params }, { dispatcher }) =>
    dispatcher.submit({ operation: 'propose-change', client, caller, body, params: { ...params, kind } })
}

const CHANGES_PATH: Readonly<Record<ChangeKindName, string>> = {
  policy: '/policies/pending-changes',
  approver: '/approvers/changes',
  'external-connector': '/external-connectors/changes',
}

export function listChanges(kind: ChangeKindName): Handler {
  return async ({ query }, { pool }) => {
    const range = readRange(query)
    if (range instanceof Failure) return range
    const status = readChoice(query, 'status', changeStatuses)
    if (status instanceof Failure) return status
    const page = await listStored(pool, range, { kind, status })
    return {
      status: 200,
      ...pageHeaders(CHANGES_PATH[kind], query, page.next),
      body: `{"changes":[${page.rows.map(changeText).join(',')}]}`,
    }
  }
}

/** The path names the change `{id}`. */
export function showChange(kind: ChangeKindName): Handler {
  return async ({ params }, { pool }) => {
    const { id: changeId } = params
    const change = isUuid(changeId) ? await readChange(pool, { kind, changeId }) : null
    return change === null ? failures.changeNotFound() : { status: 200, body: changeText(change) }
  }
}

/** The path names the change `{id}`. */
export function resolveChange(kind: ChangeKindName, action: 'approve' | 'reject'): Handler {
  return async ({ body, callerIndex: caller, client, params: { id = '' } }, { dispatcher, authority }) => {
    const params = { kind, action, id }
    const reply = await dispatcher.submit({ operation: 'resolve-change', client, caller, body, params })
    // In effect here before it is answered. Where the database has gone since, the change stands all the same: the watch, which
    // says so in the log, takes it up later.
    if (reply.status === 200 && action === 'approve') await authority.refresh().catch(() => undefined)
    return reply
  }
}
