// countersign log proof: fetches the proof that an artifact is in the log, checks it by saved keys, and keeps it.
import { errorText } from '../../formats/text/error-text.ts'
import { isEntryOf, parseEntry, type LogEntry } from '../../formats/log/entry.ts'
import { proofKinds } from '../../formats/log/ids.ts'
import { parseProof, type LogProof } from '../../formats/log/proof.ts'
import { leafHash, rootOfInclusion } from '../../formats/merkle/tree.ts'
import { printable } from '../../formats/text/printable.ts'
import { sha256 } from '../../store/sha256.ts'
import { replaceWholeFile } from '../../core/files/whole-file.ts'
import { LogKeyNotGiven } from '../../formats/verifier/log-trust.ts'
import { CannotCheck, sayCannotCheck } from '../cannot-check.ts'
import { checkpointOpener } from './trust.ts'
import type { Given } from '../command.ts'
import { get } from '../service.ts'
import type { proof as spec } from './commands.ts'
import { codeOf } from '../verify/inputs.ts'

const PROOF_MAX_BYTES = 1024 * 1024
const WAIT_SECONDS = 10

type ProofRequest = Given<typeof spec>

/**
 * Prints the result of the proof.
 * @returns the exit code: 0 it holds, 1 it does not, 2 there is none to check, or it cannot be kept
 */
export async function proofCommand(request: ProofRequest): Promise<0 | 1 | 2> {
  let note: Buffer
  let open: ReturnType<typeof checkpointOpener>
  try {
    open = checkpointOpener(request.log)
    note = await fetchProof(request)
  } catch (error) {
    return sayCannotCheck(error)
  }
  try {
    const proof = parseProof(note)
    const { origin, size, root } = open(proof.checkpoint)
    const entry = requireIncluded(proof, { size, root })
    requireWanted(entry, request)
    if (request.to !== undefined) keep(request.to, note)
    const { kind, hash } = entry
    console.log(
      printable(
        `${kind} ${hash} is entry ${proof.index} of ${origin}, under its checkpoint of ${size} entries.`,
      ),
    )
    return 0
  } catch (error) {
    if (error instanceof LogKeyNotGiven || error instanceof CannotCheck) return sayCannotCheck(error)
    console.log(printable(`The proof does not hold: ${errorText(error)}.`))
    return 1
  }
}

async function fetchProof({ kind, id, ...service }: ProofRequest): Promise<Buffer> {
  const path = `/log/proofs/${encodeURIComponent(kind)}/${encodeURIComponent(id)}`
  const { status, body } = await get(service, path, {
    maxBytes: PROOF_MAX_BYTES,
    headers: { Prefer: `wait=${WAIT_SECONDS}` },
    accept: [202],
  })
  if (status === 202)
    throw new CannotCheck(
      `It is stored, and after ${WAIT_SECONDS} seconds not under a checkpoint yet. ` +
        'A receipt says in transparency.by when it must be: one whose time has passed is evidence against the service, so keep it.',
    )
  return body
}

function keep(file: string, note: Buffer): void {
  try {
    replaceWholeFile(file, note, 0o644)
  } catch (error) {
    throw new CannotCheck(`The proof holds, but ${file} cannot be written (${codeOf(error)}).`)
  }
}

/** @returns the entry that the proof carries */
function requireIncluded(
  { index, path, extra }: LogProof,
  { size, root }: { readonly size: number; readonly root: Uint8Array },
): LogEntry {
  if (extra === undefined) throw new Error('it carries no entry')
  const found = rootOfInclusion({ leafHash: leafHash(extra, sha256), index, size, path }, sha256)
  if (Buffer.compare(found, root) !== 0)
    throw new Error('its path does not lead from the entry to the checkpoint')
  return parseEntry(Buffer.from(extra).toString('latin1'))
}

const ENTRY_KINDS: Readonly<Record<string, string>> = proofKinds

function requireWanted(entry: LogEntry, { kind, hash = entry.hash }: ProofRequest): void {
  if (isEntryOf(entry, { kind: ENTRY_KINDS[kind] ?? kind, hash }) !== undefined) return
  const byReceipt =
    kind === 'record' ? ': a record is in the log by its receipt, so --hash takes the receiptHash' : ''
  throw new Error(`it is of the entry ${entry.kind} ${entry.hash}, which is another one${byReceipt}`)
}
