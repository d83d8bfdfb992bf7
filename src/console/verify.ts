// The offline verifier, in a file of its own that is loaded where evidence is looked at.
export { verifyEvidence } from '../formats/verifier/index.ts'
