// A whole check of a `.tlog-proof` file, as an auditor with a policy makes it.
import type { NoteCrypto } from '../../src/formats/log/note.ts'
import { openByPolicy, type LogPolicy, type TrustedCheckpoint } from '../../src/formats/log/policy.ts'
import { parseProof, type LogProof } from '../../src/formats/log/proof.ts'
import { leafHash, rootOfInclusion } from '../../src/formats/merkle/tree.ts'

interface ProvenEntry extends TrustedCheckpoint {
  readonly index: number
}

/**
 * Checks that an entry is in a log, by RFC 9162 §2.1.3.2 and a checkpoint that the policy accepts. A policy that lists only the log's
 * ML-DSA-44 key rests on that signature alone, whatever other lines the checkpoint has.
 *
 * @param request.entry its bytes as they are logged: the leaf of the tree, not its hash
 * @param request.proof the file, or what `parseProof` made of it
 * @throws Error that names what is wrong: the proof, its checkpoint, who signed it, or that its path does not lead to its root
 */
export function verifyProof(
  { entry, proof, policy }: { entry: Uint8Array; proof: string | Uint8Array | LogProof; policy: LogPolicy },
  crypto: NoteCrypto,
): ProvenEntry {
  const { index, path, checkpoint } =
    typeof proof === 'string' || proof instanceof Uint8Array ? parseProof(proof) : proof
  const trusted = openByPolicy(checkpoint, policy, crypto)
  const { size, root } = trusted
  const found = rootOfInclusion(
    { leafHash: leafHash(entry, crypto.sha256), index, size, path },
    crypto.sha256,
  )
  if (!found.every((byte, i) => byte === root[i]))
    throw new Error(`the entry is not at index ${index} of the log: its path does not lead to the root`)
  return { ...trusted, index }
}
