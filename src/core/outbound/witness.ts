// Sends one request to a witness of the evidence log (C2SP tlog-witness) and interprets its answer.
import { formatAddCheckpoint, type AddCheckpoint } from '../../formats/log/add-checkpoint.ts'
import { parseCheckpoint, parseInteger, signersOf } from '../../formats/log/checkpoint.ts'
import { parseNote, signatureLine, type NoteCrypto, type VerifierKey } from '../../formats/log/note.ts'
import { errorText } from '../../formats/text/error-text.ts'
import { call } from './call.ts'
import { secondsToWait } from './retry-after.ts'

const TIMEOUT_MS = 5_000

export type WitnessAnswer =
  | {
      readonly kind: 'cosigned'
      readonly lines: readonly { readonly key: VerifierKey; readonly line: string }[]
    }
  /** The size of the witness's tree, which is not the request's old size. */
  | { readonly kind: 'has size'; readonly size: number }
  /** A clause that completes "the witness …", and the time for which it asked for no further request. */
  | { readonly kind: 'no'; readonly problem: string; readonly waitSeconds: number }

/**
 * Asks a witness to cosign a checkpoint.
 * @param witness.url without `/add-checkpoint`. The operator has configured it, so it may be a private address
 * @param witness.keys keys of its cosignatures; others in the answer are ignored
 */
export async function askWitness(
  witness: { readonly url: string; readonly keys: readonly VerifierKey[] },
  request: AddCheckpoint,
  { crypto, signal }: { readonly crypto: NoteCrypto; readonly signal?: AbortSignal },
): Promise<WitnessAnswer> {
  const outcome = await call({
    method: 'POST',
    url: `${witness.url.replace(/\/+$/, '')}/add-checkpoint`,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: formatAddCheckpoint(request),
    reach: 'any',
    timeoutMs: TIMEOUT_MS,
    ...(signal === undefined ? {} : { signal }),
  })
  if (outcome.kind === 'not-sent')
    return no(outcome.reason.replace('the endpoint was not reached', 'cannot be reached'))
  if (outcome.kind === 'lost') return no(`gave no whole answer: ${outcome.cause}`)
  const { status, headers, body } = outcome
  if (status === 200) return cosignedBy(body, witness.keys, request.checkpoint, crypto)
  const isSize = status === 409 && headers['content-type']?.split(';')[0]?.trim() === 'text/x.tlog.size'
  return isSize
    ? sizeOf(body)
    : no(meanings[status] ?? `answered ${status}`, secondsToWait(outcome, Date.now()))
}

const no = (problem: string, waitSeconds = 0): WitnessAnswer => ({ kind: 'no', problem, waitSeconds })

const meanings: Readonly<Record<number, string>> = {
  400: 'answered 400: it cannot read the request',
  403: 'answered 403: it trusts other keys of this log',
  404: 'answered 404: it does not know this log',
  409: 'answered 409 without a size',
  422: 'answered 422: it has seen another history of this log',
}

function sizeOf(body: Uint8Array): WitnessAnswer {
  const text = Buffer.from(body).toString('latin1')
  try {
    return { kind: 'has size', size: parseInteger(text.replace(/\n$/, ''), 'the size in its answer') }
  } catch (error) {
    return no(`answered 409, and ${errorText(error)}`)
  }
}

/** The cosignatures of the witness's keys, each verified. The answer and the checkpoint's text together are read as a note. */
function cosignedBy(
  body: Uint8Array,
  keys: readonly VerifierKey[],
  checkpoint: string,
  crypto: NoteCrypto,
): WitnessAnswer {
  try {
    const { text } = parseNote(checkpoint)
    const answered = parseNote(Buffer.concat([Buffer.from(`${text}\n`), body]))
    // Only signature lines are allowed: a body with an empty line would move the text of the note.
    if (answered.text !== text) return no('answered more than signature lines')
    const signers = signersOf(answered, parseCheckpoint(text), keys, crypto)
    const lines = signers.map(({ key }) => {
      const { signature } = answered.lines.find(
        ({ name, keyId }) => name === key.name && keyId === key.keyId,
      )!
      return { key, line: signatureLine(key, signature) }
    })
    return lines.length > 0 ? { kind: 'cosigned', lines } : no('answered no cosignature of its key')
  } catch (error) {
    return no(`answered what is no cosignature: ${errorText(error)}`)
  }
}
