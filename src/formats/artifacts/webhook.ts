// A delivery of a provider, as received: logged by the SHA-256 of its body, and not signed by the service.
import type { ArtifactKind } from './kind.ts'

export const webhook = {
  name: 'webhook',
  logged: { kind: 'webhook' },
  stored: { table: 'webhook_events', id: 'eventKey', at: 'receivedAt' },
} as const satisfies ArtifactKind
