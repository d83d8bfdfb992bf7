// An order as the pipeline hands it to a connector, valid by default, and the key that signs releases.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Canonical, canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { generateKeys, readSigningKeys, type SigningKey } from '../../src/core/signing/keys.ts'
import type { Order } from '../../workers/connectors/connector.ts'
import type { Registration } from '../../workers/connectors/external.ts'

export function anOrder(members: Partial<Order> = {}): Order {
  const parameters = members.parameters ?? { amount: 12.5 }
  return {
    businessTransactionId: randomUUID(),
    authorizationId: randomUUID(),
    authorizedUntil: '2100-01-01T00:00:00.000Z',
    action: 'vendor:pay',
    target: 'invoice-7',
    parameters,
    parametersText: new Canonical(canonicalize(parameters as Json)),
    policy: { name: 'vendor-payment', version: '2.0.0', contentHash: 'a'.repeat(64) },
    approvedBy: ['alice'],
    signal: new AbortController().signal,
    ...members,
  }
}

export function aRegistration(origin: string, members: Partial<Registration> = {}): Registration {
  return {
    capability: 'vendor:pay',
    endpointUrl: `${origin}/pay`,
    policy: 'vendor-payment',
    allowedParameters: ['amount', 'note'],
    timeoutMs: 10_000,
    readBack: false,
    registeredAt: '2026-11-01T10:00:00.000Z',
    changeId: '6f1e8c1e-5a0c-4a55-9d0a-000000000001',
    ...members,
  }
}

export function aKey(): SigningKey {
  const dir = mkdtempSync(join(tmpdir(), 'countersign-test-keys-'))
  try {
    generateKeys({ dir, now: new Date(), algorithms: ['ed25519'] })
    return readSigningKeys(dir, ['ed25519']).ed25519
  } finally {
    rmSync(dir, { recursive: true })
  }
}
