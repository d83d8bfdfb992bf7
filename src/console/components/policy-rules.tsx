// The rules of a policy version, with how often each of them decided in the last 30 days.
import { useMemo } from 'preact/hooks'
import type { PolicyDocument } from '../../formats/schemas/policy.ts'
import { get } from '../api.ts'
import { useFound } from '../hooks.ts'
import { executionsPath, sinceOf, statisticsPath, totalsOf, type Statistics } from '../statistics.ts'
import { absolute, oneLine } from '../text.ts'
import { Panel, Problem, RuleBadge, Said } from './basic.tsx'
import { useCatalogue, useHasCatalogue, WithoutCatalogue } from './catalogue.tsx'

interface Version {
  readonly name: string
  readonly version: string
}

/** Decisions by rule, of the rules that decided most. The request runs beside that for the version, because it does not need the version's rules. */
export function useDecided({ name, version }: Version) {
  const since = useMemo(() => sinceOf('30d', Date.now()), [])
  const asked = { since, policy: name, policyVersion: version }
  return { asked, ...useCatalogue<Statistics>(statisticsPath({ by: 'rule', ...asked })) }
}
type Counting = ReturnType<typeof useDecided>

/** @returns how often each rule decided, by its id; undefined until all are known */
function useDecisions({ asked, data, problem }: Counting, rules: PolicyDocument['rules']) {
  const { since } = asked
  const { found, problem: uncounted } = useFound(
    async (signal) =>
      data && new Map([...countsIn(data), ...(await countRest({ data, rules, asked, signal }))]),
    JSON.stringify([asked, data?.until]),
  )
  return { since, problem: problem ?? uncounted, counts: found }
}

const countsIn = (data: Statistics) =>
  totalsOf(data).flatMap(({ key, count }): [string, number][] => (key === null ? [] : [[key, count]]))

/** The statistics name the ten rules that decided most. Each other rule takes a request of its own, where there are others. */
async function countRest({
  data,
  rules,
  asked,
  signal,
}: {
  readonly data: Statistics
  readonly rules: PolicyDocument['rules']
  readonly asked: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}): Promise<ReadonlyMap<string, number>> {
  const hasOthers = totalsOf(data).some(({ others }) => others)
  const known = new Map(countsIn(data))
  const unknown = hasOthers ? rules.filter(({ id }) => !known.has(id)) : []
  return new Map(
    await Promise.all(
      unknown.map(async ({ id }): Promise<[string, number]> => {
        const { data: ofRule } = await get<Statistics>(statisticsPath({ rule: id, ...asked }), { signal })
        return [id, totalsOf(ofRule)[0]?.count ?? 0]
      }),
    ),
  )
}

export function Rules({
  of,
  rules,
  decided,
  approvedAt,
}: {
  readonly of: Version
  readonly decided: Counting
  readonly rules: PolicyDocument['rules']
  /** Since when the version is in effect, ISO 8601; undefined: it came with the service. */
  readonly approvedAt: string | undefined
}) {
  const { since, problem, counts } = useDecisions(decided, rules)
  const isYounger = approvedAt !== undefined && approvedAt > since
  const span = isYounger ? `since it is in effect (${absolute(approvedAt).slice(0, 10)})` : 'in 30 days'
  const greatest = Math.max(1, ...rules.map(({ id }) => counts?.get(id) ?? 0))
  return (
    <Panel title="Rules, in order: the first that fits decides">
      {!useHasCatalogue() && <WithoutCatalogue what="how often each rule decided" />}
      <Problem text={problem} />
      <ol class="rules">
        {rules.map((rule) => (
          <li key={rule.id}>
            <strong>{oneLine(rule.id)}</strong> <RuleBadge outcome={rule.outcome} />
            {counts !== undefined && (
              <Decided
                count={counts.get(rule.id) ?? 0}
                of={greatest}
                span={span}
                href={executionsPath({ policy: of.name, policyVersion: of.version, rule: rule.id, since })}
              />
            )}
            <pre tabIndex={0}>{oneLine(rule.when)}</pre>
            <Said text={rule.reason} />
          </li>
        ))}
      </ol>
      <p class="quiet">Where no rule fits, the execution is rejected.</p>
    </Panel>
  )
}

function Decided({
  count,
  of,
  span,
  href,
}: {
  readonly count: number
  readonly of: number
  /** The counted time range, in words. */
  readonly span: string
  readonly href: string
}) {
  if (count === 0) return <div class="quiet">never decided {span}</div>
  return (
    <div class="decided">
      <a href={href}>
        decided {count.toLocaleString('en-US')} times {span}
      </a>
      <svg class="bar" aria-hidden="true">
        <rect width={`${((count / of) * 100).toFixed(1)}%`} height="100%" />
      </svg>
    </div>
  )
}
