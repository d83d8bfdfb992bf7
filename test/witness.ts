// Services that are witnesses of logs, and logs in memory for them.
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect } from 'vitest'
import { formatAddCheckpoint } from '../src/formats/log/add-checkpoint.ts'
import type { Checkpoint } from '../src/formats/log/checkpoint.ts'
import { formatVkey } from '../src/formats/log/note.ts'
import { generateMissingWitnessKeys } from '../src/core/signing/witness-keys.ts'
import { sha256 } from '../src/store/sha256.ts'
import { aSigner, signed, type TestSigner } from './log/signers.ts'
import { leafHashes, rootOfLeaves } from './log/tree.ts'
import { consistencyPath } from './merkle/trees.ts'

/** The variables of a service that witnesses logs. Makes its keys and the file of the logs beside its signing keys. */
export function witnessEnvironment(
  signingKeyDir: string,
  vkeys: readonly string[],
  name = 'countersign.example.com',
): Record<string, string> {
  generateMissingWitnessKeys({ dir: signingKeyDir, now: new Date() })
  const file = join(signingKeyDir, 'witness-logs')
  writeFileSync(file, [...vkeys.map((vkey) => `log ${vkey}`), 'quorum none', ''].join('\n'))
  return { WITNESS_LOGS: file, LOG_ORIGIN: name }
}

export interface OtherLog {
  readonly origin: string
  readonly signers: readonly TestSigner[]
  readonly vkeys: readonly string[]
  readonly checkpoint: (size: number) => Checkpoint
  /** The signed note. */
  readonly note: (size: number) => string
  /** The body of a request. */
  readonly request: (from: number, to: number) => string
  readonly proof: (from: number, to: number) => Uint8Array[]
}

/**
 * A log with both types of key. Those with the same number of leaves have the same tree, unless `fork` says from which leaf on it differs.
 * @param how.signers those of another log of this origin
 */
export function anOtherLog(
  origin: string,
  { fork, signers = signersOf(origin) }: { fork?: number; signers?: readonly TestSigner[] } = {},
): OtherLog {
  const leavesOf = (size: number) =>
    leafHashes(size).map((leaf, i) => (fork !== undefined && i >= fork ? sha256(leaf) : leaf))
  const checkpoint = (size: number) => ({ origin, size, root: rootOfLeaves(leavesOf(size)) })
  /** Kept: an ML-DSA signature is another one each time. */
  const notes = new Map<number, string>()
  const note = (size: number) => {
    const kept = notes.get(size) ?? signed(checkpoint(size), signers)
    notes.set(size, kept)
    return kept
  }
  const proof = (from: number, to: number) =>
    from === 0 ? [] : consistencyPath(leavesOf(to), { start: 0, end: from })
  return {
    origin,
    signers,
    vkeys: signers.map(({ key }) => formatVkey(key)),
    checkpoint,
    note,
    proof,
    request: (from, to) =>
      formatAddCheckpoint({ oldSize: from, proof: proof(from, to), checkpoint: note(to) }),
  }
}

function signersOf(origin: string): readonly TestSigner[] {
  return [aSigner(origin, 'ed25519'), aSigner(origin, 'ml-dsa-44-cosignature')]
}

/** A fake witness answers this to a request. */
export type WitnessReply = (body: string) => { status: number; body?: string; type?: string } | 'hang up'

/** A server that answers as a test says. */
export interface FakeWitness {
  readonly url: string
  readonly requests: string[]
  answer: WitnessReply
  readonly close: () => Promise<void>
}

export async function aFakeWitness(answer: WitnessReply): Promise<FakeWitness> {
  const requests: string[] = []
  const server: Server = createServer((request, response) => {
    void read(request).then((body) => {
      expect([request.method, request.url]).toEqual(['POST', '/w/add-checkpoint'])
      requests.push(body)
      const answered = witness.answer(body)
      if (answered === 'hang up') return request.socket.destroy()
      response.writeHead(answered.status, { 'content-type': answered.type ?? 'text/plain' })
      return response.end(answered.body ?? '')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const witness: FakeWitness = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/w/`,
    requests,
    answer,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return witness
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
