// Compiles the rules of one provider, and refuses at load content that would surprise when a delivery comes.
import {
  compileExpression,
  openEnvironment,
  type Expression,
  type Mistake,
  type Paths,
  type Vocabulary,
} from '../cel/expression.ts'
import { countNodes } from '../cel/nodes.ts'
import { DocumentError, documentOf, placed, type Found, type PositionOf } from '../cel/mistakes.ts'
import { reachOf } from '../cel/reach.ts'
import { canonicalize } from '../../formats/json/canonical.ts'
import { WebhookRulesDocument } from '../../formats/schemas/webhook-rules.ts'
import { sha256Hex } from '../../store/sha256.ts'

const rulesDocument = documentOf(WebhookRulesDocument)

export type RuleSource = 'payload' | 'headers' | 'transaction'

/** One expression of a rule, and the members that it reads. */
export interface RuleExpression extends Expression {
  readonly text: string
  readonly reads: Paths<RuleSource>
  /** Nodes of its syntax tree. */
  readonly size: number
}

export interface WebhookRule extends Pick<WebhookRulesDocument['rules'][number], 'id' | 'says'> {
  readonly when: RuleExpression
  readonly transaction: RuleExpression
  readonly compare: readonly RuleExpression[]
}

export interface CompiledWebhookRules {
  readonly document: WebhookRulesDocument
  /** RFC 8785 text of the document, which is stored and hashed. */
  readonly content: string
  /** SHA-256 of `content`, hex. */
  readonly rulesHash: string
  readonly rules: readonly WebhookRule[]
  /** Sentences about content that is allowed but looks unintended. */
  readonly warnings: readonly string[]
}

/**
 * Checks a whole document and compiles its rules.
 *
 * @param parsed `{provider, rules}`, from YAML, a request or stored content
 * @param file its name in the mistakes
 * @throws DocumentError with every mistake
 */
export function compileWebhookRules(
  parsed: unknown,
  file: string,
  positionOf: PositionOf = () => undefined,
): CompiledWebhookRules {
  const where = { file, document: parsed, positionOf }
  const document = rulesDocument(parsed, where)
  const rules: WebhookRule[] = []
  const mistakes: Found[] = []
  const warnings: string[] = []
  const ids = new Set<string>()
  for (const [index, given] of document.rules.entries()) {
    const { id, says, compare = [] } = given
    if (ids.has(id))
      mistakes.push({ path: ['rules', index, 'id'], message: 'This id is taken by an earlier rule.' })
    ids.add(id)
    const parts = [
      compilePart(given.when, { ...OVER_DELIVERY, types: ['bool'] }),
      compilePart(given.transaction, { ...OVER_DELIVERY, types: ['string', 'dyn', 'list', ...LISTS] }),
      ...compare.map((text) => compilePart(text, { ...OVER_TRANSACTION, types: ['bool'] })),
    ]
    for (const [i, part] of parts.entries()) {
      const name = i === 0 ? 'when' : i === 1 ? 'transaction' : `compare ${i - 1}`
      const path = ['rules', index, ...(i < 2 ? [name] : ['compare', i - 2])]
      mistakes.push(...part.mistakes.map((found) => ({ path, part: name, ...found })))
      warnings.push(
        ...part.warnings.map(({ at, message }) => `Rule ${id}, ${name}, column ${at + 1}: ${message}`),
      )
    }
    const [when, transaction, ...compared] = parts.flatMap(({ compiled }) => compiled ?? [])
    if (says !== 'pending' && !compared.some(readsCapability))
      warnings.push(
        `Rule ${id} does not compare transaction.intent.action: it speaks for executions of every capability.`,
      )
    if (when !== undefined && transaction !== undefined)
      rules.push({ id, says, when, transaction, compare: compared })
  }
  const reach = reachOf(rules.map(({ id, when: { ast } }) => ({ id, ast })))
  const unreachable = reach.mistakes.map(({ rule, message }) => ({
    path: ['rules', document.rules.findLastIndex(({ id }) => id === rule), 'when'],
    at: 0,
    message,
  }))
  const problems = [...mistakes, ...unreachable]
  if (problems.length > 0) throw new DocumentError(placed(problems, where))
  const content = canonicalize(document)
  return {
    document,
    content,
    rulesHash: sha256Hex(content),
    rules,
    warnings: [...warnings, ...reach.warnings],
  }
}

/** The capability binds a provider to its own connector. */
function readsCapability({ reads }: RuleExpression): boolean {
  return (reads.get('transaction') ?? []).some((path) => path.join('.') === 'intent.action')
}

/** A list of texts: the types of a list literal or a filter. */
const LISTS = ['list<string>', 'list<dyn>']

const delivery = openEnvironment()
  .registerVariable('payload', 'map<string, dyn>')
  .registerVariable('headers', 'map<string, string>')
const withTransaction = delivery.clone().registerVariable('transaction', 'map<string, dyn>')

const OVER_DELIVERY = { environment: delivery, vocabulary: vocabularyOf(['payload', 'headers']) }
const OVER_TRANSACTION = {
  environment: withTransaction,
  vocabulary: vocabularyOf(['payload', 'headers', 'transaction']),
}

function vocabularyOf(sources: readonly RuleSource[]): Vocabulary<RuleSource> {
  return {
    isSource: (name): name is RuleSource => sources.some((source) => source === name),
    constants: [],
    readableInLoops: [],
    whole: ['headers'],
    keys: true,
    // A provider's payload may have any members, and so may a transaction below `intent.parameters`.
    unknownMember: () => undefined,
    known: sources,
  }
}

function compilePart(
  text: string,
  given: Parameters<typeof compileExpression<RuleSource>>[1],
): { compiled?: RuleExpression; mistakes: readonly Mistake[]; warnings: readonly Mistake[] } {
  const { expression, reads, mistakes, warnings } = compileExpression(text, given)
  return {
    mistakes,
    warnings,
    ...(expression && { compiled: { ...expression, text, reads, size: countNodes(expression.ast) } }),
  }
}
