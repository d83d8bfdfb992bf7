// The policy of a pin: tools that only read are approved, other tools need a human, and tools that are not pinned or have changed are refused.
import type { PolicyDocument } from '../formats/schemas/policy.ts'
import type { Lock, PinnedTool } from './lock.ts'

interface Governed extends Lock {
  readonly alias: string
}

/** A condition has at most 1,000 characters: long lists are spread over several rules. */
const LIST_CHARACTERS_MAX = 850

/**
 * @returns the complete document, to which a person has nothing to add
 * @throws Error where the tools are more than the rules of one policy can name
 */
export function policyOf({ alias, policy, tools }: Governed): PolicyDocument {
  const all = Object.entries(tools)
  const [reading, acting] = [
    all.filter(([, { readOnly }]) => readOnly),
    all.filter(([, { readOnly }]) => !readOnly),
  ]
  const rules: PolicyDocument['rules'] = [
    ...listed('reads', reading, (list) => ({
      when: pinnedIn(list),
      outcome: 'approve',
      reason: 'Reads only, as it was pinned.',
    })),
    ...listed('seen', acting, (list) => ({
      when: `signals.humanApproved && ${pinnedIn(list)}`,
      outcome: 'approve',
      reason: 'Seen and approved by a person.',
    })),
    ...listed('unseen', acting, (list) => ({
      when: pinnedIn(list),
      outcome: 'reject',
      reason: 'A person must see what this tool is about to do.',
    })),
    ...listed('changed', all, (list) => ({
      when: `intent.target in [${list.map(([name]) => JSON.stringify(name)).join(', ')}]`,
      outcome: 'reject',
      reason: 'This tool is not the one that was pinned: its description or its schema has changed.',
    })),
    { id: 'not-pinned', when: 'true', outcome: 'reject', reason: 'This tool is not pinned.' },
  ]
  if (rules.length > 100)
    throw new Error(`${all.length} tools are too many for one policy: put a server with fewer behind it.`)
  const asks = acting.length > 0
  return {
    policyId: policy.name,
    policyVersion: policy.version,
    schemaVersion: '1.0.0',
    description: `Calls of the tools of the MCP server ${alias}, each as it was pinned; the target is the tool's name.`,
    capabilities: [`mcp:${alias}`],
    display: {
      [`mcp:${alias}`]: `Call the tool {intent.target} of ${alias} with {intent.parameters.arguments}.`,
    },
    signals: asks ? { humanApproved: 'boolean' } : {},
    ...(asks && { verify: { humanApproved: { by: 'approval', quorum: 1 } } }),
    rules,
  }
}

/** Test cases that compare the policy with the pin: each tool as pinned, each tool after a change, and a tool that is not pinned. */
export function casesOf({ alias, policy, tools }: Governed): object {
  const { rules } = policyOf({ alias, policy, tools })
  const decidedBy = (kind: string, text: string) =>
    rules.find(({ id, when }) => id.startsWith(`${kind}-`) && when.includes(text))?.id
  const other = '0'.repeat(64)
  const signals = (humanApproved: boolean) =>
    'humanApproved' in asking ? { signals: { humanApproved } } : {}
  const asking = Object.values(tools).some(({ readOnly }) => !readOnly) ? { humanApproved: false } : {}
  return {
    given: {
      now: '2026-01-01T00:00:00Z',
      intent: { action: `mcp:${alias}`, target: 'no-such-tool', parameters: parameters(other) },
      signals: asking,
    },
    cases: [
      ...Object.entries(tools).flatMap(([name, tool]: [string, PinnedTool]) => [
        ...(tool.readOnly
          ? [{ case: `${name} reads.`, outcome: 'approved', rule: decidedBy('reads', tool.toolHash) }]
          : [
              {
                case: `A person has seen ${name}.`,
                ...signals(true),
                outcome: 'approved',
                rule: decidedBy('seen', tool.toolHash),
              },
              {
                case: `Nobody has seen ${name}.`,
                outcome: 'rejected',
                rule: decidedBy('unseen', tool.toolHash),
              },
            ]
        ).map((one) => ({ ...one, target: name, parameters: parameters(tool.toolHash) })),
        {
          case: `${name} has changed, seen or not.`,
          ...signals(true),
          target: name,
          parameters: parameters(other),
          outcome: 'rejected',
          rule: decidedBy('changed', JSON.stringify(name)),
        },
      ]),
      { case: 'A tool that nobody pinned.', ...signals(true), outcome: 'rejected', rule: 'not-pinned' },
    ],
  }
}

type Entry = [string, PinnedTool]
type RuleMembers = Omit<PolicyDocument['rules'][number], 'id'>

function listed(kind: string, tools: readonly Entry[], ruleOf: (list: readonly Entry[]) => RuleMembers) {
  return chunks(tools).map((list, i) => ({ id: `${kind}-${i + 1}`, ...ruleOf(list) }))
}

function chunks(tools: readonly Entry[]): Entry[][] {
  const lists: Entry[][] = []
  let characters = Infinity
  for (const entry of tools) {
    const length = JSON.stringify(entry[0]).length + 68
    if (characters + length > LIST_CHARACTERS_MAX) {
      lists.push([])
      characters = 0
    }
    lists.at(-1)?.push(entry)
    characters += length
  }
  return lists
}

/** Each entry joins hash and name, so that the hash of another pinned tool is of no use. */
const pinnedIn = (list: readonly Entry[]) =>
  `intent.parameters.toolHash + " " + intent.target in [${list.map(([name, tool]) => JSON.stringify(`${tool.toolHash} ${name}`)).join(', ')}]`

const parameters = (hash: string) => ({ arguments: {}, toolHash: hash })
