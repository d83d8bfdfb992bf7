// The tasks extension of MCP (io.modelcontextprotocol/tasks, revision 2026-07-28): a call that has not ended is a task for a client that accepts
// tasks. A task is found by the id of its call, so it exists as long as the call is open, and after that as long as the service knows the call.
import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  SUBSCRIPTION_ID_META_KEY,
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
import { LISTEN_TO_TASKS } from './messages.ts'
import { META, replyOf, unreachable } from './replies.ts'

export const TASKS = 'io.modelcontextprotocol/tasks'
const POLL_MS = 5_000
/** How many calls that have not ended a client may have. */
const LISTENED_MAX = 200
/** How many streams a client may listen on at once. */
const LISTENERS_OF_CALLER_MAX = 32
const [INVALID_PARAMS, INTERNAL_ERROR] = [-32_602, -32_603]

/** Whether the client has declared with this request that it accepts a task instead of a result. */
export function takesTasks({ mcpReq }: ServerContext): boolean {
  const declared = (mcpReq.envelope as Record<string, unknown> | undefined)?.[CLIENT_CAPABILITIES_META_KEY]
  const extensions = isObject(declared) ? declared['extensions'] : undefined
  return isObject(extensions) && isObject(extensions[TASKS])
}

function requireTasks(context: ServerContext): void {
  if (!takesTasks(context))
    throw new MissingRequiredClientCapabilityError({
      requiredCapabilities: { extensions: { [TASKS]: {} } },
    })
}

/** The members of a task that do not depend on its status. */
const taskOf = (id: string, createdAt: string) => ({
  taskId: id,
  createdAt,
  // The status is read at this moment.
  lastUpdatedAt: new Date().toISOString(),
  // No time limit: the service keeps the record.
  ttlMs: null,
  pollIntervalMs: POLL_MS,
})

const progressOf = (standing: Standing & { status: 'waiting' | 'running' }) =>
  standing.status === 'waiting'
    ? `Waits for a human (action code ${standing.request.actionCode}): ${standing.page}`
    : 'Runs'

/** The reply to a call that becomes a task. The call is already in the file of open calls. */
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
    // The SDK accepts only replies that have content.
    content: [],
    _meta: { [`${META}/status`]: status, [`${META}/transactionId`]: id },
  }
}

/** Serves `tasks/get`, `tasks/update`, `tasks/cancel` and `subscriptions/listen` for tasks of one client. */
export function serveTasks(
  server: Server,
  { open, client }: { readonly open: () => Promise<Gateway>; readonly client: ClientOf },
): void {
  /** @returns undefined where this client has no such task */
  async function known(taskId: string): Promise<Followed | Standing | undefined> {
    const { calls } = await open()
    const found = isUuid(taskId) ? await calls.find(taskId.toLowerCase(), client) : undefined
    return found !== undefined && 'status' in found && found.status === 'unknown-id' ? undefined : found
  }

  async function find(taskId: string, context: ServerContext): Promise<Followed | Standing> {
    requireTasks(context)
    const found = await known(taskId)
    if (found === undefined) throw new ProtocolError(INVALID_PARAMS, 'There is no task with this id.')
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

  /** @param createdAt used where there is no record, which would have the time */
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

  /** Acknowledges the client's tasks, notifies of each approval by humans and of each end, and ends with the last task. */
  async function listened(taskIds: readonly string[], context: ServerContext) {
    requireTasks(context)
    const { listeners } = await open()
    const count = listeners.get(client.caller) ?? 0
    if (count >= LISTENERS_OF_CALLER_MAX)
      throw new ProtocolError(INTERNAL_ERROR, 'This client listens too many times at once.')
    listeners.set(client.caller, count + 1)
    try {
      return await tellAll(taskIds, context)
    } finally {
      const left = listeners.get(client.caller)! - 1
      if (left === 0) listeners.delete(client.caller)
      else listeners.set(client.caller, left)
    }
  }

  async function tellAll(taskIds: readonly string[], context: ServerContext) {
    const { id, signal, notify } = context.mcpReq
    const _meta = { [SUBSCRIPTION_ID_META_KEY]: id }
    // A disconnected client gets no notification; it asks by tasks/get.
    const tell = (method: string, params: object) =>
      notify({ method, params: { ...params, _meta } }).catch(() => {})
    const found = await Promise.all(taskIds.map(known))
    const accepted = taskIds.filter((_, index) => found[index] !== undefined)
    await tell('notifications/subscriptions/acknowledged', { notifications: { taskIds: accepted } })
    const gone = Promise.withResolvers<void>()
    if (signal.aborted) gone.resolve()
    else signal.addEventListener('abort', () => gone.resolve(), { once: true })
    const all = accepted.map((taskId) =>
      follow(taskId, context, async (standing, createdAt) =>
        tell('notifications/tasks', await shown(standing, createdAt)),
      ),
    )
    const ended = await Promise.race([Promise.all(all), gone.promise])
    whenSent(context, () => ended?.forEach((one) => one?.told()))
    return { resultType: 'complete', _meta }
  }

  /** @returns the call, if it ended while it was followed */
  async function follow(
    taskId: string,
    context: ServerContext,
    tell: (standing: Standing, createdAt: string) => Promise<void>,
  ): Promise<Followed | undefined> {
    for (;;) {
      const found = await find(taskId, context)
      if ('status' in found) {
        await tell(found, new Date().toISOString())
        return undefined
      }
      void found.whenApproved.then(() => tell(found.standing(), found.createdAt))
      const standing = await found.join()
      // The call was cancelled too late, and continues.
      if (standing.status === 'running' || standing.status === 'waiting') continue
      await tell(standing, found.createdAt)
      return hasEnded(standing) ? found : undefined
    }
  }

  const methods = {
    'tasks/get': told,
    // No task asks its client for input: only a signature on the request's page is an approval. So the answers in an update are ignored.
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
    server.setRequestHandler(method, { params: ByTask }, ({ taskId }, context) =>
      answer(taskId, context).catch(asProtocolError),
    )
  server.setRequestHandler(LISTEN_TO_TASKS, { params: ByTasks }, ({ taskIds }, context) =>
    listened(taskIds, context).catch(asProtocolError),
  )
}

function asProtocolError(error: unknown): never {
  throw error instanceof CountersignError ? new ProtocolError(INTERNAL_ERROR, unreachable(error)) : error
}

const schema = <T>(read: (value: unknown) => T | undefined, message: string): StandardSchemaV1<T> => ({
  '~standard': {
    version: 1,
    vendor: 'countersign',
    validate(given) {
      const value = read(given)
      return value === undefined ? { issues: [{ message }] } : { value }
    },
  },
})

const ByTask = schema(
  (value) =>
    isObject(value) && typeof value['taskId'] === 'string' ? { taskId: value['taskId'] } : undefined,
  'taskId must be a text',
)

const ByTasks = schema((value) => {
  const { notifications } = isObject(value) ? value : {}
  const taskIds: unknown = isObject(notifications) ? notifications['taskIds'] : undefined
  const isList = Array.isArray(taskIds) && taskIds.length <= LISTENED_MAX
  return isList && taskIds.every((id) => typeof id === 'string')
    ? { taskIds: [...new Set(taskIds)] }
    : undefined
}, `notifications.taskIds must be at most ${LISTENED_MAX} texts`)
