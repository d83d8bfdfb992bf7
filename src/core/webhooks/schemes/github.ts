// GitHub: `X-Hub-Signature-256: sha256=<hex>` over the body alone; the id in `X-GitHub-Delivery` is not signed
// (docs.github.com, "Validating webhook deliveries").
import { anySecret, isHmac, NO_SECRET_FITS, type Scheme } from './scheme.ts'

const SIGNATURE = 'x-hub-signature-256'
const DELIVERY = 'x-github-delivery'
const PREFIX = 'sha256='

export const github: Scheme = {
  ...anySecret,
  signatureHeaders: () => [SIGNATURE],
  headers: () => [DELIVERY],
  eventIdIn: () => DELIVERY,
  signatureForm: 'sha256= and 64 lowercase hex characters',
  looksSigned: (signature) => /^sha256=[0-9a-f]{64}$/.test(signature),
  read({ signature, headers, body, secrets }) {
    const signatures = [Buffer.from(signature.slice(PREFIX.length), 'hex')]
    if (!isHmac({ signatures, keys: secrets, parts: [body] })) return { unsigned: NO_SECRET_FITS }
    return { eventId: headers[DELIVERY] ?? '' }
  },
}
