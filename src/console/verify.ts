// The offline verifier, in a separate file that is loaded only by pages that show evidence.
export { verifyEvidence } from '../formats/verifier/index.ts'
