// The operator's two policy files of witnesses: the witnesses of this log, and the logs that this service witnesses.
import { readFileSync } from 'node:fs'
import type { Config } from './config.ts'
import { errorText } from '../../formats/text/error-text.ts'
import { parsePolicy, type LogPolicy } from '../../formats/log/policy.ts'
import type { VerifierKey } from '../../formats/log/note.ts'
import { sha256 } from '../../store/sha256.ts'

/** The keys at one address: a witness with keys of two types has two lines in the policy and gets one request. */
export interface WitnessEndpoint {
  readonly url: string
  /** The name in the policy. */
  readonly name: string
  readonly keys: readonly VerifierKey[]
}

export interface Witnesses {
  readonly policy: LogPolicy
  readonly endpoints: readonly WitnessEndpoint[]
  /** A checkpoint is served only with its quorum of cosignatures; undefined: cosignatures are added as they arrive. */
  readonly required: LogPolicy | undefined
}

/** A note has room for 32 signature lines, and the log needs four while its keys are rotated. */
const WITNESSES_MAX = 28

/**
 * @returns undefined without LOG_WITNESS_POLICY
 * @throws Error that names the variable and the mistake
 */
export function readWitnesses({ evidenceLog }: Config): Witnesses | undefined {
  const configured = evidenceLog?.witnesses
  if (configured === undefined) return undefined
  const policy = policyOf('LOG_WITNESS_POLICY', configured.policyFile)
  const { witnesses, quorum } = policy
  const mistake = (what: string) => new Error(`LOG_WITNESS_POLICY (${configured.policyFile}): ${what}.`)
  if (witnesses.length === 0) throw mistake('it names no witness')
  if (witnesses.length > WITNESSES_MAX)
    throw mistake(`it names ${witnesses.length} witnesses; at most ${WITNESSES_MAX} can be asked`)
  if (configured.required && quorum === 'none')
    throw mistake('its quorum is none, and LOG_WITNESS_MODE=required needs one')
  for (const { name, url } of witnesses) {
    const problem = urlProblem(url)
    if (problem !== undefined) throw mistake(`the URL of the witness '${name}' ${problem}`)
  }
  const endpoints = Map.groupBy(witnesses, ({ url }) => url!)
  return {
    policy,
    endpoints: Array.from(endpoints, ([url, same]) => ({
      url,
      name: same[0]!.name,
      keys: same.map(({ key }) => key),
    })),
    required: configured.required ? policy : undefined,
  }
}

/** The longest origin that a cosignature can name, in bytes (tlog-cosignature). */
const ORIGIN_BYTES_MAX = 255

/**
 * @returns the keys of the logs that this service witnesses
 * @throws Error that names the variable and the mistake
 */
export function readWitnessedLogs(file: string): VerifierKey[] {
  const { logs } = policyOf('WITNESS_LOGS', file)
  const keys = logs.map(({ key }) => key)
  if (keys.length === 0) throw new Error(`WITNESS_LOGS (${file}): it names no log.`)
  const long = keys.find(({ name }) => Buffer.byteLength(name) > ORIGIN_BYTES_MAX)
  if (long !== undefined)
    throw new Error(
      `WITNESS_LOGS (${file}): the origin '${long.name}' has more than ${ORIGIN_BYTES_MAX} bytes.`,
    )
  return keys
}

function policyOf(variable: string, file: string): LogPolicy {
  try {
    return parsePolicy(readFileSync(file), sha256)
  } catch (error) {
    throw new Error(`${variable} (${file}): ${errorText(error)}.`, { cause: error })
  }
}

/** Plain http is accepted: the exchanged data is public, and signed at both ends. */
function urlProblem(text: string | undefined): string | undefined {
  if (text === undefined) return 'is missing: without it nobody can be asked'
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return 'must be http or https'
  if (url.username !== '' || url.password !== '' || url.href.includes('?') || url.href.includes('#'))
    return 'must have no credentials, query or fragment'
  return undefined
}
