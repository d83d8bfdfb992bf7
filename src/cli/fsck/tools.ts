// The checks of fsck rest on the published keys from their folder, and on the approvers' keys and the policies of the snapshot.
import { openDocuments, type Documents } from '../../core/catalogue/row.ts'
import { approverKeys, type ApproverKey } from '../../core/signing/approver-keys.ts'
import type { Grouping } from '../../core/policy/counting.ts'
import { compileStored } from '../../core/policy/versions.ts'
import type { PublicKey } from '../../core/signing/keys.ts'
import { openCrypto } from '../../core/signing/crypto.ts'
import { approverOf } from '../../store/tables/approvers.ts'
import { everything, type AuthorityRow } from '../../store/tables/authority.ts'
import { readLogs, type OpenedLog } from '../../store/tables/log-state.ts'
import { readPolicyVersions, type StoredPolicyVersion } from '../../store/tables/policy-versions.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import type { CheckCrypto } from '../../formats/artifacts/evidence.ts'
import { entryReader, type ReadEntry } from './stored-log.ts'

export interface Tools {
  /** In the one snapshot of the whole run. */
  readonly sql: Sql
  readonly crypto: CheckCrypto
  /** The key is `<name>/<version>`. */
  readonly policies: ReadonlyMap<string, KnownPolicy>
  /** When the genesis was: the earliest version that is stored, ISO 8601. */
  readonly genesisAt: string | undefined
  /** By their numbers. */
  readonly logs: ReadonlyMap<number, OpenedLog>
  readonly readEntry: ReadEntry
  /** For the catalogue. */
  readonly documents: Documents
}

interface KnownPolicy {
  readonly contentHash: string
  readonly approved: boolean
  /** It has a velocity limit without `per` and `where`: its released executions are listed. */
  readonly limited: boolean
  /** Its limits with `per` or `where` have these groupings: its released executions are in their groups. */
  readonly groupings: readonly Grouping[]
}

/** @param keys by keyId */
export async function openTools(sql: Sql, keys: ReadonlyMap<string, PublicKey>): Promise<Tools> {
  const humans = new Map((await everything(sql, 'approver')).flatMap(readable))
  const versions = await readPolicyVersions(sql)
  const crypto = openCrypto({
    findKey: (keyId) => keys.get(keyId),
    findApproverKey: (keyId) => humans.get(keyId),
  })
  const policies = versions.map((row): [string, KnownPolicy] => [
    `${row.name}/${row.version}`,
    {
      contentHash: row.contentHash,
      approved: row.approvedBy !== null,
      limited: isLimited(row),
      groupings: groupingsOf(row),
    },
  ])
  return {
    sql,
    logs: new Map((await readLogs(sql)).map((log) => [log.log, log])),
    readEntry: entryReader(sql),
    documents: openDocuments(),
    policies: new Map(policies),
    genesisAt: versions.map(({ loadedAt }) => loadedAt).toSorted((a, b) => (a < b ? -1 : 1))[0],
    crypto: {
      ...crypto,
      verifySignature(artifact, canonicalText, signature) {
        const { keyId } = signature
        if (!(artifact === 'approval' ? humans : keys).has(keyId))
          throw new Error(`key '${keyId}' is not known`)
        return crypto.verifySignature(artifact, canonicalText, signature)
      },
    },
  }
}

/**
 * Tools by which a step-up's own signature is not checked: the key of its human may have been in SERVICE_API_KEYS alone, and be gone. An approver's
 * key of the name that the step-up states is another key.
 */
export function withoutStepUpKeys(tools: Tools): Tools {
  return { ...tools, crypto: { ...tools.crypto, humanKey: () => undefined } }
}

/** A key that was damaged verifies nothing: the check of its own row reports it. */
function readable(row: AuthorityRow): [string, ApproverKey][] {
  try {
    return [...approverKeys([approverOf(row)])]
  } catch {
    return []
  }
}

function isLimited({ content }: StoredPolicyVersion): boolean {
  try {
    const { verify } = JSON.parse(content) as {
      verify?: Readonly<Record<string, { by?: unknown; per?: unknown; where?: unknown }>>
    }
    return Object.values(verify ?? {}).some(
      ({ by, per, where }) => by === 'history' && per === undefined && where === undefined,
    )
  } catch {
    return false
  }
}

/** No groupings for damaged content, which the check of its own row reports. */
function groupingsOf(row: StoredPolicyVersion): Grouping[] {
  try {
    return [...(compileStored(row)?.groupings.values() ?? [])]
  } catch {
    return []
  }
}
