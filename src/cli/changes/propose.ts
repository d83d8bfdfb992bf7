// countersign policy propose and retire, changes propose: one human proposes a change, and another one resolves it
// (decisions §7).
import { isObject } from '../../formats/json/fields.ts'
import { changePaths } from '../../formats/change-paths.ts'
import { printable } from '../../formats/text/printable.ts'
import type { Given } from '../command.ts'
import { readJson } from '../json.ts'
import { serviceOf } from '../profile.ts'
import { jsonOf, post, type ServiceAt } from '../service.ts'
import { policyIn } from '../simulate.ts'
import type * as commands from './commands.ts'

/**
 * Proposes a change, and prints it as the service answers it; its warnings and the next step go to standard error.
 * @param path that takes proposals of its kind
 * @throws Error with the service's answer
 */
export async function proposeChange(service: ServiceAt, path: string, json: object): Promise<void> {
  const answer = await post(service, path, { json, accept: [201] })
  const { changeId, warnings } = jsonOf(answer) as { changeId: string; warnings: string[] }
  console.log(answer.body.toString())
  for (const warning of warnings) console.error(`warning: ${printable(warning)}`)
  console.error(
    printable(
      `Another human looks at it and decides: bin/countersign changes approve ${changeId} --profile <their profile>`,
    ),
  )
}

/** Proposes the document of a file, which is checked first. */
export async function proposePolicy({
  file,
  retires,
  reason,
  ...given
}: Given<typeof commands.proposePolicy>): Promise<void> {
  // The service answers the same warnings, and more.
  const proposedContent = policyIn(file, { warns: false })
  const { policyId, policyVersion } = proposedContent
  await proposeChange(serviceOf(given), pathOf(policyId, policyVersion), { reason, proposedContent, retires })
}

/** Proposes to retire a version. */
export async function retirePolicy({
  policyId,
  version,
  reason,
  ...given
}: Given<typeof commands.retirePolicy>): Promise<void> {
  await proposeChange(serviceOf(given), pathOf(policyId, version), { action: 'retire', reason })
}

/** Proposes the change in a file. */
export async function proposeFromFile({
  kind,
  file,
  ...given
}: Given<typeof commands.propose>): Promise<void> {
  const body = readJson(file)
  if (!isObject(body))
    throw new Error(`${file} must hold a JSON object: the body of POST ${changePaths[kind]}.`)
  await proposeChange(serviceOf(given), changePaths[kind], body)
}

const pathOf = (policyId: string, version: string) =>
  `/policies/${encodeURIComponent(policyId)}/${encodeURIComponent(version)}/pending-changes`
