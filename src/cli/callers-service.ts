// countersign callers list, propose and revoke: keys of callers by governance, on a running service (docs/handbook/callers.md). A raw key never
// comes here: `issue` makes it where its holder is, and what is proposed is the entry that it prints.
import { readFileSync } from 'node:fs'
import { isObject } from '../formats/json/fields.ts'
import { printable } from '../formats/text/printable.ts'
import type { CallerKey } from '../formats/schemas/caller-key.ts'
import { get, jsonOf, post, type ServiceAt } from './service.ts'

/**
 * Prints a line for each key: caller, keyId, status, source, type of holder, capabilities, and what else it may; who approved.
 * @param options.all also those that are revoked or expired
 * @throws Error with what the service answered
 */
export async function listCallerKeys(service: ServiceAt, { all }: { all: boolean }): Promise<void> {
  for (let path: string | undefined = '/caller-keys'; path !== undefined;) {
    const answer = await get(service, path)
    const { callerKeys } = jsonOf(answer) as { callerKeys: readonly CallerKey[] }
    for (const key of callerKeys) {
      if (!all && key.status !== 'IN_EFFECT' && key.status !== 'REFUSED') continue
      const parts = [
        key.callerId,
        key.keyId,
        key.status,
        key.source,
        key.credentialHolderType ?? '-',
        key.allowedCapabilities?.join(',') ?? '-',
        ...(key.readAll === true ? ['reads everything'] : []),
        ...(key.approverId === undefined ? [] : [`is approver ${key.approverId}`]),
        ...(key.stepUpPublicKey === undefined ? [] : ['step-up key']),
        ...(key.stepUpPasskey === undefined ? [] : ['step-up passkey']),
        ...(key.expiresAt === undefined ? [] : [`until ${key.expiresAt}`]),
        ...(key.issuedBy === undefined ? [] : [`issued by ${key.issuedBy}`]),
        ...(key.revokedBy === undefined ? [] : [`revoked by ${key.revokedBy}`]),
      ]
      console.log(printable(parts.join('  ')))
    }
    path = answer.next
  }
}

/**
 * Proposes to issue the key of an entry, and prints the change.
 * @param options.entry a file with what `callers issue` printed, with the raw key or without; `-` reads stdin
 * @throws Error where the last line is no entry, or with what the service answered
 */
export async function proposeCallerKey(
  service: ServiceAt,
  { entry, reason }: { readonly entry: string; readonly reason: string },
): Promise<void> {
  const last = readFileSync(entry === '-' ? 0 : entry, 'utf8')
    .trimEnd()
    .split('\n')
    .at(-1)
  let members: unknown
  try {
    members = JSON.parse(last ?? '')
  } catch {
    // Not quoted: it may be the raw key.
  }
  if (!isObject(members))
    throw new Error('The last line must be the entry that countersign callers issue prints.')
  await propose(service, { action: 'issue', ...members, reason })
}

/** Proposes to revoke a key, and prints the change. */
export async function proposeRevocation(
  service: ServiceAt,
  revocation: { readonly callerId: string; readonly keyId: string; readonly reason: string },
): Promise<void> {
  await propose(service, { action: 'revoke', ...revocation })
}

async function propose(service: ServiceAt, body: object): Promise<void> {
  const answer = jsonOf(await post(service, '/caller-keys/changes', { json: body, accept: [201] }))
  console.log(JSON.stringify(answer))
  const { changeId, warnings } = answer as { changeId: string; warnings: string[] }
  for (const warning of warnings) console.error(`warning: ${printable(warning)}`)
  const address = `${service.url.replace(/\/+$/, '')}/caller-keys/changes/${changeId}/approve`
  console.error(
    printable(
      'Another human approves it, with their step-up key and their API key, and this change in change.json:',
    ),
  )
  console.error(
    printable(
      `  countersign approver sign-step-up --key step-up.private.pem --change change.json --action approve | curl -sS --fail-with-body ${address} -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d @-`,
    ),
  )
}
