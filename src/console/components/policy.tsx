// A policy version, its page and its document.
import { canonicalize } from '../../formats/json/canonical.ts'
import type { PolicyDocument } from '../../formats/schemas/policy.ts'
import type { PolicySummary } from '../../formats/schemas/policy-version.ts'
import { get } from '../api.ts'
import { useFound } from '../hooks.ts'
import { sha256Hex } from '../hashing.ts'
import { Said } from './basic.tsx'

interface Version {
  readonly name: string
  readonly version: string
}

/** The path of the API; the page has the same path below `/console`. */
export function policyPath({ name, version }: Version): string {
  return `/policies/${encodeURIComponent(name)}/${encodeURIComponent(version)}`
}

/** The largest page that a reply may hold. The pages of this list are numbered: no reply names the next page. */
const PAGE_SIZE = 100

/**
 * Reads every version of every policy, the highest of each first.
 * @throws as `get`
 */
export async function allVersions(signal: AbortSignal): Promise<readonly PolicySummary[]> {
  const versions: PolicySummary[] = []
  for (let page = 1; versions.length === (page - 1) * PAGE_SIZE; page++) {
    const path = `/policies?pageSize=${PAGE_SIZE}${page === 1 ? '' : `&page=${page}`}`
    const { data } = await get<{ policies: PolicySummary[] }>(path, { signal })
    versions.push(...data.policies)
  }
  return versions
}

export const PROPOSE_PATH = '/console/policies/propose'

/** @returns the page that proposes a version, starting with the text of the given version */
export function proposePathFrom({ name, version }: Version): string {
  return `${PROPOSE_PATH}?${new URLSearchParams({ name, version }).toString()}`
}

export function PolicyLink({ to: { name, version } }: { readonly to: Version }) {
  return (
    <a href={`/console${policyPath({ name, version })}`}>
      <Said text={`${name} ${version}`} />
    </a>
  )
}

/** The policy of a request as the service shows it. */
export interface ShownPolicy {
  /** Undefined until it is loaded, and where its hash is not the hash that a signature covers. */
  readonly document: PolicyDocument | undefined
  readonly problem: string | undefined
}

/** Documents by path: the rows of a list name few versions, and a version never changes. */
const documents = new Map<string, Promise<PolicyDocument>>()

function documentAt(path: string): Promise<PolicyDocument> {
  const known = documents.get(path)
  if (known !== undefined) return known
  const loading = get<{ document: PolicyDocument }>(path).then(({ data }) => data.document)
  documents.set(path, loading)
  // After a failure the next call loads the document again.
  loading.catch(() => documents.delete(path))
  return loading
}

const hashes = new WeakMap<PolicyDocument, string>()

/** Computed once for each document: a list of a hundred requests needs the hash some hundreds of times. */
function contentHashOf(document: PolicyDocument): string {
  const known = hashes.get(document)
  if (known !== undefined) return known
  const hash = sha256Hex(canonicalize(document))
  hashes.set(document, hash)
  return hash
}

/**
 * @param policy as `usePolicyOf` takes it
 * @returns undefined where its hash is not the hash that a signature covers
 * @throws as `get`
 */
export async function documentOf(
  policy: Version & { readonly contentHash: string },
): Promise<PolicyDocument | undefined> {
  const document = await documentAt(policyPath(policy))
  return contentHashOf(document) === policy.contentHash ? document : undefined
}

/** @param policy as a request names it, with the hash of the content that a signature covers */
export function usePolicyOf(policy: Version & { readonly contentHash: string }): ShownPolicy {
  const path = policyPath(policy)
  const { found: document, problem } = useFound(() => documentAt(path), path)
  if (document === undefined || contentHashOf(document) === policy.contentHash) return { document, problem }
  return {
    document: undefined,
    problem:
      'The service shows another content of this policy than the request names. Do not sign before you know why.',
  }
}
