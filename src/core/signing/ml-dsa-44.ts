// ML-DSA-44, which signs the checkpoints of the evidence log: the post-quantum signature that C2SP's notes have (tlog-cosignature).
import { mlDsa } from './ml-dsa.ts'

export const { pkcs8Prefix, publicKeyBytes, jwk, sign, signer, verify, verifier } = mlDsa({
  alg: 'ML-DSA-44',
  pkcs8Prefix: '3034020100300b060960864801650304031104228020',
  publicKeyBytes: 1312,
  signatureBytes: 2420,
})
