// A token issuer of the bench, whose one caller does what the bench's caller by key may do.
import { randomUUID } from 'node:crypto'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

const ISSUER = 'https://login.example.com'
const AUDIENCE = 'https://countersign.example.com'
/** Longer than any measurement. */
const LIFETIME_SECONDS = 86_400

/**
 * @param principal the principal that the caller may act for
 * @returns an access token (RFC 9068), and the setting by which a service accepts it
 */
export async function aTokenOfIssuer(
  principal: string,
): Promise<{ token: string; env: { SERVICE_TOKEN_ISSUERS: string } }> {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const issuer = {
    issuer: ISSUER,
    audience: AUDIENCE,
    jwks: { keys: [await exportJWK(publicKey)] },
    algorithms: ['ES256'],
    principalClaim: 'act_for',
    allowedCapabilities: ['*'],
    maxAgeSeconds: LIFETIME_SECONDS,
  }
  const token = await new SignJWT({ client_id: 'bench', jti: randomUUID(), act_for: principal })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt' })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject('bench')
    .setIssuedAt()
    .setExpirationTime(`${LIFETIME_SECONDS}s`)
    .sign(privateKey)
  return { token, env: { SERVICE_TOKEN_ISSUERS: JSON.stringify([issuer]) } }
}
