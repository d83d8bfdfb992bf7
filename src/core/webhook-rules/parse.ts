// Compiles the rules of one provider, and refuses at load what would surprise when a delivery comes.
import { Environment } from '@marcbachmann/cel-js'
import {
  compileExpression,
  countNodes,
  EXPRESSION_LIMITS,
  located,
  type Expression,
  type Finding,
  type Paths,
  type Vocabulary,
} from '../cel/expression.ts'
import { DocumentError, type DocumentMistake } from '../cel/mistakes.ts'
import { reachOf } from '../cel/reach.ts'
import { readYaml, type YamlFile } from '../cel/yaml.ts'
import { canonicalize } from '../json/canonical.ts'
import { parseWebhookRules, type WebhookRulesDocument } from '../schemas/webhook-rules.ts'
import { sha256Hex } from '../signing/sha256.ts'

export type RuleSource = 'payload' | 'headers' | 'transaction'

/** One expression of a rule, and what it looks at. */
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
  /** RFC 8785 text of the document: what is stored and hashed. */
  readonly content: string
  /** SHA-256 of `content`, hex. */
  readonly rulesHash: string
  readonly rules: readonly WebhookRule[]
  /** What is allowed but looks unintended, a sentence each. */
  readonly warnings: readonly string[]
}

/**
 * Reads and compiles a file.
 * @throws DocumentError with every mistake: file, line, rule
 */
export function readWebhookRules(file: string): CompiledWebhookRules {
  const { value, lineOf } = readYaml(file)
  return compileWebhookRules(value, file, lineOf)
}

/**
 * Checks a whole document and compiles its rules.
 *
 * @param parsed `{provider, rules}`, from YAML, a request or stored content
 * @param file named in the mistakes
 * @throws DocumentError with every mistake
 */
export function compileWebhookRules(
  parsed: unknown,
  file: string,
  lineOf: YamlFile['lineOf'] = () => undefined,
): CompiledWebhookRules {
  const document = parseWebhookRules(parsed)
  if (document instanceof Map)
    throw new DocumentError(
      Array.from(document, ([place, message]) => placed({ file, message }, lineOf(pathOf(place)))),
    )
  const rules: WebhookRule[] = []
  const mistakes: Omit<DocumentMistake, 'file'>[] = []
  const warnings: string[] = []
  const ids = new Set<string>()
  for (const given of document.rules) {
    const { id, says, compare = [] } = given
    if (ids.has(id)) mistakes.push({ rule: id, message: 'This id is taken by an earlier rule.' })
    ids.add(id)
    const parts = [
      compilePart(given.when, { ...OVER_DELIVERY, types: ['bool'] }),
      compilePart(given.transaction, { ...OVER_DELIVERY, types: ['string', 'dyn', 'list', ...LISTS] }),
      ...compare.map((text) => compilePart(text, { ...OVER_TRANSACTION, types: ['bool'] })),
    ]
    for (const [i, part] of parts.entries()) {
      const name = i === 0 ? 'when' : i === 1 ? 'transaction' : `compare ${i - 1}`
      mistakes.push(...part.mistakes.map((found) => ({ rule: id, part: name, ...located(found) })))
      warnings.push(
        ...part.warnings.map(({ at, message }) => `rule ${id}, ${name}, column ${at + 1}: ${message}`),
      )
    }
    const [when, transaction, ...compared] = parts.flatMap(({ compiled }) => compiled ?? [])
    if (when !== undefined && transaction !== undefined)
      rules.push({ id, says, when, transaction, compare: compared })
  }
  const reach = reachOf(rules.map(({ id, when: { ast } }) => ({ id, ast })))
  const problems = [...mistakes, ...reach.mistakes]
  if (problems.length > 0) {
    const lines = linesOf(document, lineOf)
    throw new DocumentError(
      problems.map((mistake) => placed({ file, ...mistake }, lines.get(mistake.rule ?? ''))),
    )
  }
  const content = canonicalize(document)
  return {
    document,
    content,
    rulesHash: sha256Hex(content),
    rules,
    warnings: [...warnings, ...reach.warnings],
  }
}

/** A list of texts, in the types that a list literal or a filter has. */
const LISTS = ['list<string>', 'list<dyn>']

const delivery = new Environment({ limits: EXPRESSION_LIMITS })
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
    // A provider's payload has whatever members it has; so has a transaction below `intent.parameters`.
    unknownMember: () => undefined,
  }
}

function compilePart(
  text: string,
  given: Parameters<typeof compileExpression<RuleSource>>[1],
): { compiled?: RuleExpression; mistakes: readonly Finding[]; warnings: readonly Finding[] } {
  const { expression, reads, mistakes, warnings } = compileExpression(text, given)
  return {
    mistakes,
    warnings,
    ...(expression && { compiled: { ...expression, text, reads, size: countNodes(expression.ast) } }),
  }
}

/** The line of each rule; of two with one id, that of the second. */
function linesOf(
  { rules }: WebhookRulesDocument,
  lineOf: YamlFile['lineOf'],
): ReadonlyMap<string, number | undefined> {
  return new Map(rules.map(({ id }, i) => [id, lineOf(['rules', i])]))
}

function pathOf(place: string): (string | number)[] {
  return place.split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step))
}

function placed(mistake: DocumentMistake, line: number | undefined): DocumentMistake {
  return line === undefined ? mistake : { ...mistake, line }
}
