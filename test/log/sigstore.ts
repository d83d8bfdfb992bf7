// The check of an inclusion proof by `@sigstore/verify`, a client that others wrote.
import { createPublicKey } from 'node:crypto'
import { verifyTLogInclusion } from '@sigstore/verify/dist/tlog/index.js'
import { logVerifierKey, type LogPublicKey } from '../../src/core/signing/log-keys.ts'

interface Proof {
  readonly entry: Uint8Array
  readonly index: number
  readonly path: readonly Uint8Array[]
  readonly checkpoint: string
}

/** @throws where Sigstore's client refuses the proof, or the signature of the log's Ed25519 key */
export function verifyBySigstore(
  { entry, index, path, checkpoint }: Proof,
  { origin, key }: { readonly origin: string; readonly key: LogPublicKey },
): void {
  const { keyId } = logVerifierKey(origin, key)
  const logID = Buffer.concat([Buffer.from(keyId, 'hex'), Buffer.alloc(28)])
  const always = { start: new Date(0), end: new Date(8.64e15) }
  verifyTLogInclusion(
    {
      logIndex: `${index}`,
      logId: { keyId: logID },
      kindVersion: undefined,
      integratedTime: '0',
      inclusionPromise: undefined,
      inclusionProof: {
        logIndex: `${index}`,
        rootHash: Buffer.alloc(0),
        treeSize: '0',
        hashes: path.map((hash) => Buffer.from(hash)),
        checkpoint: { envelope: checkpoint },
      },
      canonicalizedBody: Buffer.from(entry),
    } as unknown as Parameters<typeof verifyTLogInclusion>[0],
    [{ logID, baseURL: `https://${origin}`, publicKey: createPublicKey(key.pem), validFor: always }],
  )
}
