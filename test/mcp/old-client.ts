// The official client of MCP 1.x, which speaks the revisions of 2025.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { onTestFinished } from 'vitest'
import { OTHERS } from '../others.ts'

/** The part of the official client 1.x that is used here. */
export interface OldClient {
  readonly connect: (transport: unknown) => Promise<void>
  readonly callTool: (call: object) => Promise<Record<string, unknown>>
  readonly close: () => Promise<void>
}

const oldModule = (file: string) =>
  import(
    pathToFileURL(join(OTHERS, '@modelcontextprotocol', 'sdk', 'dist', 'esm', 'client', file)).href
  ) as Promise<Record<string, (new (...given: unknown[]) => unknown) & { readonly name?: string }>>

/** @param transport the file of the client's transport, and its arguments */
export async function anOldClient(transport: string, ...args: readonly unknown[]): Promise<OldClient> {
  const [{ Client }, transports] = await Promise.all([oldModule('index.js'), oldModule(`${transport}.js`)])
  const Transport = Object.values(transports).find(({ name = '' }) => name.endsWith('ClientTransport'))!
  const client = new Client!({ name: 'old', version: '1' }) as OldClient
  await client.connect(new Transport(...args))
  onTestFinished(() => client.close())
  return client
}
