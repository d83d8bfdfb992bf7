// Issues COSE receipts (RFC 9942): the log's key signs the root of a checkpoint that it has signed before, and nothing else.
import { openCheckpoint, readCheckpoint } from '../../formats/log/checkpoint.ts'
import { formatReceipt, receiptMessage, receiptProtected } from '../../formats/log/cose-receipt.ts'
import {
  logVerifierKey,
  noteCrypto,
  readLogKeys,
  type LogKeys,
  type PublishedLogKeys,
} from '../../core/signing/log-keys.ts'
import type { EntryProof } from './log-proofs.ts'

/** @throws Error where no key of the log has signed the checkpoint of the proof */
export type IssueReceipt = (proof: EntryProof) => Promise<Uint8Array>

interface SignedRoot {
  readonly checkpoint: string
  readonly protectedHeader: Uint8Array
  readonly signature: Uint8Array
}

/** @param signingKeyDir the folder of the signing keys; read when the first receipt is asked for */
export function openCoseReceipts(signingKeyDir: string, publicKeys: PublishedLogKeys): IssueReceipt {
  let keys: LogKeys | undefined
  /** The newest signed root: all receipts of a checkpoint have one signature. */
  let newest: SignedRoot | undefined

  async function sign(checkpoint: string): Promise<SignedRoot> {
    const { origin } = readCheckpoint(checkpoint)
    const logs = publicKeys()
      .filter(({ algorithm }) => algorithm === 'ed25519')
      .map((key) => logVerifierKey(origin, key))
    const { root } = openCheckpoint(checkpoint, { logs, witnesses: [] }, noteCrypto)
    keys ??= readLogKeys(signingKeyDir)
    const { keyId } = logVerifierKey(origin, keys.ed25519.public)
    const protectedHeader = receiptProtected(`${origin}+${keyId}`)
    const signature = await keys.ed25519.sign(Buffer.from(receiptMessage(protectedHeader, root)))
    return { checkpoint, protectedHeader, signature }
  }

  return async (proof) => {
    const signed = newest?.checkpoint === proof.checkpoint ? newest : await sign(proof.checkpoint)
    newest = signed
    return formatReceipt({ ...proof, ...signed })
  }
}
