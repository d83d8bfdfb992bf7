// Describes a change by two humans for a person: a title with a verb, the consequences of its approval, and its diff as lines. Browser-safe.
import { canonicalize, type Json } from './json/canonical.ts'
import { isMembers, type Members } from './json/members.ts'
import type { Change } from './schemas/governance.ts'

type Said = Pick<Change, 'kind' | 'target' | 'proposed'>

/** One line that begins with a verb, such as `Revoke approver erin:laptop`; for a stand-in it says who counts for whom, or no longer. */
export function changeTitle(change: Said): string {
  const { kind, target } = change
  const about = `${kind.replaceAll('-', ' ')} ${kind === 'policy' ? target.replace('/', ' ') : target}`
  const action = textIn(change, 'action')
  if (kind === 'stand-in' && action === 'set')
    return `Have ${textIn(change, 'by')} stand in for ${textIn(change, 'for')} from ${dayIn(change, 'from')} until ${dayIn(change, 'until')}`
  if (kind === 'stand-in')
    return `End the stand-in for ${textIn(change, 'for')} that begins on ${dayIn(change, 'from')}`
  if (action !== '') return `${action.charAt(0).toUpperCase()}${action.slice(1)} ${about}`
  const ending = endingVersions(change)
  return `Put ${about} in effect${ending.length === 0 ? '' : ` and retire ${ending.join(', ')}`}`
}

/** The versions of a policy that a change ends; none for any other change. */
export function endingVersions(change: Said): readonly string[] {
  if (change.kind !== 'policy') return []
  if (textIn(change, 'action') === 'retire') return [textIn(change, 'policyVersion')]
  const { retires } = change.proposed
  return Array.isArray(retires) ? retires.map(String) : []
}

/** Sentences about the effects of an approval; none for a change that this release does not know. */
export function consequencesOf(change: Said): string[] {
  const { kind, target } = change
  const of = (name: string) => textIn(change, name)
  const ending = endingVersions(change).map(
    (version) => `Version ${version} rejects every execution. Requests for approval under it end.`,
  )
  switch (`${kind} ${of('action')}`.trim()) {
    case 'policy':
      return [`Callers may name version ${of('policyVersion')} of ${of('policyId')}.`, ...ending]
    case 'policy retire':
      return ending
    case 'approver add':
      return [`Signatures by the key ${of('keyId')} count as approvals of ${of('approverId')}.`]
    case 'approver revoke':
      return [`No execution counts an approval by the key ${target}, even one that was delivered before.`]
    case 'external-connector register':
      return [`Releases of ${target} are sent to ${of('endpointUrl')}.`]
    case 'external-connector revoke':
      return [`Releases of ${target} are no longer sent to this connector.`]
    case 'webhook-rules':
      return [`Deliveries of ${target} are processed by these rules.`]
    case 'event-endpoint register':
      return [`Events are sent to ${target}.`]
    case 'event-endpoint revoke':
      return [`No more events are sent to ${target}.`]
    case 'caller-key issue':
      return [`Requests with this key are those of the caller ${of('callerId')}.`]
    case 'caller-key revoke':
      return [`Requests with this key of ${of('callerId')} are answered 401.`]
    case 'approver-group set':
      return [`Where a policy asks for approvals of ${target}, those of ${listIn(change, 'members')} count.`]
    case 'stand-in set':
      return [
        `From ${of('from')} until ${of('until')} ${of('by')} counts in groups in place of ${of('for')}, who does not count there meanwhile.`,
      ]
    case 'stand-in remove':
      return [`${of('for')} counts in groups again, and nobody in their place.`]
    case 'approver-group remove':
      return [`Where a policy asks for approvals of ${target}, nobody's count.`]
    default:
      return []
  }
}

function listIn({ proposed }: Said, name: string): string {
  const { [name]: value } = proposed
  return Array.isArray(value) ? value.join(', ') : ''
}

function textIn({ proposed }: Said, name: string): string {
  const { [name]: value } = proposed
  return typeof value === 'string' ? value : ''
}

/** The day of a time. */
const dayIn = (change: Said, name: string): string => textIn(change, name).slice(0, 'YYYY-MM-DD'.length)

/** One value that differs, as text. */
export interface Difference {
  /** For example `rules.too-large.when`, or `new rule large, after small`. */
  readonly place: string
  /** Undefined: the value is new. */
  readonly from: string | undefined
  /** Undefined: the value is removed. */
  readonly to: string | undefined
}

/**
 * The values that differ; equal members of an object are left out.
 * @param diff as the service returns it: additions, removals and changes by section
 */
export function differencesOf(diff: Readonly<Record<string, unknown>>): Difference[] {
  const { against: _, rulesReordered: __, rulesAfter = {}, ...sections } = diff as Members
  return Object.entries(sections).flatMap(([section, parts]) => {
    const { added, removed, changed } = isMembers(parts) ? parts : {}
    // A rule is added and removed as a whole: its parts say nothing by themselves.
    const isOfRules = section === 'rules'
    return [
      ...entriesOf(removed).flatMap(([name, was]) =>
        isOfRules
          ? [{ place: `rule ${name} goes`, from: ruleText(was), to: undefined }]
          : differing(`${section}.${name}`, was, undefined),
      ),
      ...entriesOf(added).flatMap(([name, value]) =>
        isOfRules
          ? [
              {
                place: `new rule ${name}${afterText(rulesAfter, name)}`,
                from: undefined,
                to: ruleText(value),
              },
            ]
          : differing(`${section}.${name}`, undefined, value),
      ),
      ...entriesOf(changed).flatMap(([name, both]) =>
        isMembers(both) ? differing(`${section}.${name}`, both['from'], both['to']) : [],
      ),
    ]
  })
}

/** The deciding members come first, each as its own part. */
function ruleText(rule: Json): string {
  if (!isMembers(rule)) return valueText(rule) ?? ''
  const { when, outcome, reason, ...more } = rule
  return Object.entries({ when, outcome, reason, ...more })
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${valueText(value)}`]))
    .join('; ')
}

/** The place of a new rule, since the first rule that matches decides; '' when the diff does not state it. */
function afterText(rulesAfter: Json, name: string): string {
  const after = isMembers(rulesAfter) ? rulesAfter[name] : undefined
  return after === null ? ', first of all' : typeof after === 'string' ? `, after ${after}` : ''
}

/** A sentence if a diff states another order of the rules, which no value shows; otherwise undefined. */
export function orderText(diff: Readonly<Record<string, unknown>>): string | undefined {
  return diff['rulesReordered'] === true ? 'The order of the rules changes.' : undefined
}

/** The diff of a change for a terminal: the name of each place that differs, then `-` and `+` lines with its old and new values. */
export function diffLines(diff: Readonly<Record<string, unknown>>): string[] {
  const lines = differencesOf(diff).flatMap(({ place, from, to }) => [
    place,
    ...(from === undefined ? [] : [`  - ${from}`]),
    ...(to === undefined ? [] : [`  + ${to}`]),
  ])
  return [...lines, ...[orderText(diff)].filter((text) => text !== undefined)]
}

const entriesOf = (value: Json | undefined) => Object.entries(isMembers(value) ? value : {})

/** Objects are compared member by member. */
function differing(place: string, from: Json | undefined, to: Json | undefined): Difference[] {
  if (from !== undefined && to !== undefined && canonicalize(from) === canonicalize(to)) return []
  const names = new Set([from, to].flatMap((value) => entriesOf(value).map(([name]) => name)))
  const isOfObjects = [from, to].every((value) => value === undefined || isMembers(value))
  if (!isOfObjects || names.size === 0) return [{ place, from: valueText(from), to: valueText(to) }]
  const [before, after] = [from, to].map((value) => Object.fromEntries(entriesOf(value)))
  return [...names].flatMap((name) => differing(`${place}.${name}`, before?.[name], after?.[name]))
}

function valueText(value: Json | undefined): string | undefined {
  return value === undefined || typeof value === 'string' ? value : JSON.stringify(value)
}
