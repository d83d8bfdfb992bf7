// What the audit event of a registration says of a passkey that logs in, so that `fsck` can tell whether its row is still what its human registered.
import { canonicalize } from '../../formats/json/canonical.ts'
import { sha256Hex } from '../../store/sha256.ts'
import type { LoginPasskey } from '../../store/tables/login-passkeys.ts'

/** What a login relies on. The rest of the row changes with each login. */
type Registered = Pick<
  LoginPasskey,
  'loginPasskeyId' | 'credentialId' | 'callerId' | 'keyHash' | 'name' | 'publicKeyPem' | 'backupEligible'
>

/** @returns SHA-256 of the canonical JSON (RFC 8785) of these members, in hex */
export function registrationHash({
  loginPasskeyId,
  credentialId,
  callerId,
  keyHash,
  name,
  publicKeyPem,
  backupEligible,
}: Registered): string {
  return sha256Hex(
    canonicalize({ loginPasskeyId, credentialId, callerId, keyHash, name, publicKeyPem, backupEligible }),
  )
}
