// A service with the humans of a trial, for whom gateways are made as `countersign mcp --trial` makes them.
import { spawn } from 'node:child_process'
import { createPrivateKey } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { enrolApprover } from '../../src/cli/setup/authority.ts'
import { makeHumans, type Person } from '../../src/cli/setup/people.ts'
import { aKeyPair, anApprovalOf } from '../authority.ts'
import { CLI } from '../command.ts'
import { createDatabase } from '../database.ts'
import { bundledEnvironment } from '../run/environment.ts'
import { startService, type TestService } from '../service.ts'

/** The program of the server behind, which counts what it does. */
export const UPSTREAM = join(import.meta.dirname, 'upstream.ts')

export interface OpenRequest {
  readonly request: { readonly requestId: string; readonly parameters: unknown }
}

export interface Trial {
  readonly service: TestService
  /** Environment of a gateway's process. */
  readonly env: Record<string, string>
  /** Alice and Bob, who decide changes. */
  readonly humans: { readonly proposer: Person; readonly checker: Person }
  /** The approval requests that wait for Dana. */
  readonly openRequests: () => Promise<readonly OpenRequest[]>
  /** Dana approves all that wait, or those of them that she is told. */
  readonly approve: (isMeant?: (request: OpenRequest) => boolean) => Promise<void>
  /** kill -9 of the service. */
  readonly killService: () => Promise<void>
  /** Starts it again at its address, on its data. */
  readonly startAgain: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** @param folder for the keys and profiles of its humans */
export async function startTrial(folder: string): Promise<Trial> {
  const database = await createDatabase()
  const people = makeHumans(folder, 'http://127.0.0.1:1')
  const given = {
    databaseUrl: database.url,
    callers: people.map(({ entry }) => entry),
    env: { DATA_DIR: join(folder, 'data') },
  }
  let service = await startService(given)
  const [proposer, checker, dana] = people
  await enrolApprover(service.url, { proposer, checker, folder })
  const asDana = { key: dana.rawKey }
  const privateKey = createPrivateKey(readFileSync(join(folder, 'dana', 'laptop.private.pem')))
  const approver = { ...aKeyPair(), approverId: 'dana', keyId: 'laptop', privateKey }
  const openRequests = async () => {
    const { body } = await service.get('/approval-requests?status=PENDING', asDana)
    return body.requests as Awaited<ReturnType<Trial['openRequests']>>
  }
  return {
    get service() {
      return service
    },
    env: { ...(bundledEnvironment as Record<string, string>), COUNTERSIGN_URL: service.url },
    humans: { proposer, checker },
    openRequests,
    async approve(isMeant = () => true) {
      for (const request of (await openRequests()).filter(isMeant))
        expect(
          await service.post('/approvals', anApprovalOf(approver, request as never), asDana),
        ).toMatchObject({ status: 201 })
    },
    async killService() {
      const { process: child } = service
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
    async startAgain() {
      const { key, url } = service
      service = await startService({ ...given, key, env: { ...given.env, PORT: new URL(url).port } })
    },
    async stop() {
      expect(await service.stop()).toBe(0)
      await database.drop()
    },
  }
}

export interface ServedByHttp {
  readonly said: () => string
  /** Resolves with the exit code. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>
}

/** Starts `countersign mcp` with these options, and waits until it serves by HTTP. */
export async function serveByHttp(
  env: Record<string, string>,
  args: readonly string[],
): Promise<ServedByHttp> {
  const child = spawn(process.execPath, [CLI, 'mcp', ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = once(child, 'exit') as Promise<[number | null]>
  let text = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (text.includes('serves MCP at')) resolve()
    })
    child.once('exit', () => reject(new Error(text)))
  })
  return {
    said: () => text,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      return (await exited)[0]
    },
  }
}
