// The text that a start prints: the addresses of the pages. The first embedded start adds the local caller's key and a command
// to paste; later starts say what to do if that key is lost (decisions §1 "Embedded start").
import { randomUUID } from 'node:crypto'
import { CONSOLE } from './pages/home.ts'
import { pages } from './pages/pages.ts'

/** The caller that a start without configured callers makes. */
export const LOCAL_CALLER = 'local-dev'

export interface FirstKey {
  readonly callerId: string
  readonly rawKey: string
}

/** Text for a terminal. Written as soon as the key is made: a start that then fails must not swallow it. */
export function firstKeyText({ callerId, rawKey }: FirstKey): string {
  return `
The key of caller ${callerId}, shown this once; only its hash is kept:

  ${rawKey}

`
}

/** @param url where the service listens */
export function firstCallText(url: string, { callerId, rawKey }: FirstKey): string {
  const body = JSON.stringify(firstTransaction(callerId))
  return `
Countersign is ready at ${url}. A first transaction (its id can be used once; a second paste answers 409):

curl -sS -w '\\n' ${url}/execute -H 'Authorization: Bearer ${rawKey}' -H 'Content-Type: application/json' -d '${body}'

`
}

/**
 * Printed at every later start.
 * @param callersFile the file with the hash of the key
 */
export function laterStartText(url: string, callersFile: string): string {
  return `Countersign is ready at ${url}. The key of ${LOCAL_CALLER} was shown at its first start; if it is lost, delete ${callersFile}, with all callers in it, and start again.
`
}

/** Printed at a start with configured callers. */
export function readyText(url: string): string {
  return `Countersign is ready at ${url}.\n`
}

/**
 * Printed at every start.
 * @param url where the service listens
 * @param consoleOrigin undefined: there is no console
 */
export function pagesText(url: string, consoleOrigin: string | undefined): string {
  const widest = Math.max(...pages.map(({ title }) => title.length))
  const listed = [
    ...(consoleOrigin === undefined ? [] : [{ title: CONSOLE.title, at: `${consoleOrigin}/console` }]),
    ...pages.map(({ path, title }) => ({ title, at: `${url}${path}` })),
  ]
  return `${listed.map(({ title, at }) => `  ${title.padEnd(widest)}  ${at}\n`).join('')}\n`
}

function firstTransaction(callerId: string) {
  const ids = { business: randomUUID(), authority: randomUUID(), authorization: randomUUID() }
  const now = new Date().toISOString()
  return {
    businessTransactionId: ids.business,
    metadata: { businessTransactionId: ids.business },
    authority: {
      authorityId: ids.authority,
      authorityType: 'SERVICE',
      principalId: callerId,
      issuedAt: now,
    },
    authorization: { authorizationId: ids.authorization, authorityId: ids.authority, issuedAt: now },
    intent: {
      intentId: randomUUID(),
      authorizationId: ids.authorization,
      action: 'sandbox:echo',
      target: 'first-steps',
      parameters: { amount: 42 },
      createdAt: now,
    },
    policy: { name: 'sandbox-echo', version: '1.0.0' },
    signals: { approved: true, amount: 42 },
  }
}
