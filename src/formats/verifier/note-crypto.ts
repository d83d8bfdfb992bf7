// The cryptography of notes, checkpoints and proofs (src/formats/log) for the offline verifier, in JavaScript only.
import { sha256 } from '@noble/hashes/sha2.js'
import { ml_dsa44 } from '@noble/post-quantum/ml-dsa.js'
import type { NoteCrypto } from '../log/note.ts'
import { verifiers } from './crypto.ts'

export const noteCrypto: NoteCrypto = {
  sha256,
  verifies: {
    ed25519: verifiers.ed25519,
    'ml-dsa-44': ({ message, signature, publicKey }) =>
      signature.length === 2420 && ml_dsa44.verify(signature, message, publicKey),
  },
}
