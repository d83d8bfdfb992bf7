// The tasks extension of MCP (io.modelcontextprotocol/tasks, revision 2026-07-28): a call that has not ended is a task for a client that takes tasks.
// A task is found by the id of its call, so it is there as long as the call is open, and after that as long as the service knows of it.
import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  type CallToolResult,
  type Server,
  type ServerContext,
  type StandardSchemaV1,
} from '@modelcontextprotocol/server'
import { CountersignError } from '../../clients/typescript/src/index.ts'
import { isObject } from '../formats/json/fields.ts'
import { isUuid } from '../formats/schemas/primitives.ts'
import { hasEnded, type Followed, type Standing } from './calls.ts'
import { whenSent, type ClientOf } from './clients.ts'
import type { Gateway } from './gateway.ts'
import { META, replyOf, unreachable } from './replies.ts'

export const TASKS = 'io.modelcontextprotocol/tasks'
const POLL_MS = 5_000
const [INVALID_PARAMS, INTERNAL_ERROR] = [-32_602, -32_603]

/** Whether the client has declared with this request that it takes a task instead of a result. */
export function takesTasks({ mcpReq }: ServerContext): boolean {
  const declared = (mcpReq.envelope as Record<string, unknown> | undefined)?.[CLIENT_CAPABILITIES_META_KEY]
  const extensions = isObject(declared) ? declared['extensions'] : undefined
  return isObject(extensions) && isObject(extensions[TASKS])
}

/** The members of each task that are the same however it stands. */
const taskOf = (id: string, createdAt: string) => ({
  taskId: id,
  createdAt,
  // As it stands now.
  lastUpdatedAt: new Date().toISOString(),
  // The service keeps the record.
  ttlMs: null,
  pollIntervalMs: POLL_MS,
})

const progressOf = (standing: Standing & { status: 'waiting' | 'running' }) =>
  standing.status === 'waiting'
    ? `Waits for a human (action code ${standing.request.actionCode}): ${standing.page}`
    : 'Runs'

/** The reply to a call that becomes a task. It stands in the file of open calls by now. */
export function taskFor(
  standing: Standing & { status: 'waiting' | 'running' },
  { createdAt }: Followed,
): CallToolResult {
  const { id, status } = standing
  return {
    resultType: 'task',
    ...taskOf(id, createdAt),
    status: 'working',
    statusMessage: progressOf(standing),
    // The SDK knows replies of calls with content alone.
    content: [],
    _meta: { [`${META}/status`]: status, [`${META}/transactionId`]: id },
  }
}

/** Serves `tasks/get`, `tasks/update` and `tasks/cancel` of one client. */
export function serveTasks(
  server: Server,
  { open, client }: { readonly open: () => Promise<Gateway>; readonly client: ClientOf },
): void {
  async function find(taskId: string, context: ServerContext): Promise<Followed | Standing> {
    if (!takesTasks(context))
      throw new MissingRequiredClientCapabilityError({
        requiredCapabilities: { extensions: { [TASKS]: {} } },
      })
    const { calls } = await open()
    const found = isUuid(taskId) ? await calls.find(taskId.toLowerCase(), client) : undefined
    if (found === undefined || ('status' in found && found.status === 'unknown-id'))
      throw new ProtocolError(INVALID_PARAMS, 'There is no task with this id.')
    return found
  }

  async function told(taskId: string, context: ServerContext) {
    const found = await find(taskId, context)
    if ('status' in found) return shown(found, new Date().toISOString())
    const now = new Promise<Standing>((resolve) => setImmediate(() => resolve(found.standing())))
    const standing = await Promise.race([found.join(), now])
    if (hasEnded(standing)) whenSent(context, () => found.told())
    return shown(standing, found.createdAt)
  }

  /** @param createdAt where there is no record, which has the time */
  async function shown(standing: Standing, createdAt: string) {
    const { status, id } = standing
    if (status === 'waiting' || status === 'running')
      return { ...taskOf(id, createdAt), status: 'working', statusMessage: progressOf(standing) }
    if (status === 'refused' && standing.wasCancelled)
      return { ...taskOf(id, createdAt), status: 'cancelled', statusMessage: standing.reason }
    const { url } = await open()
    const { intent } = 'record' in standing ? standing.record.transaction : {}
    const result = { resultType: 'complete', ...replyOf(standing, { url, isStrict: false }) }
    return { ...taskOf(id, intent?.createdAt ?? createdAt), status: 'completed', result }
  }

  const methods = {
    'tasks/get': told,
    // No task asks its client for anything: only a signature on the request's page is an approval. Answers to questions that were not asked are left out.
    async 'tasks/update'(taskId: string, context: ServerContext) {
      await find(taskId, context)
      return {}
    },
    async 'tasks/cancel'(taskId: string, context: ServerContext) {
      const found = await find(taskId, context)
      if (!('status' in found)) found.cancel()
      return {}
    },
  }
  for (const [method, answer] of Object.entries(methods))
    server.setRequestHandler(method, { params: ByTask }, async ({ taskId }, context) => {
      try {
        return await answer(taskId, context)
      } catch (error) {
        throw error instanceof CountersignError
          ? new ProtocolError(INTERNAL_ERROR, unreachable(error))
          : error
      }
    })
}

const ByTask: StandardSchemaV1<{ taskId: string }> = {
  '~standard': {
    version: 1,
    vendor: 'countersign',
    validate: (value) =>
      isObject(value) && typeof value['taskId'] === 'string'
        ? { value: { taskId: value['taskId'] } }
        : { issues: [{ message: 'taskId must be a text' }] },
  },
}
