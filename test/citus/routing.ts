// How a statement reaches the tables that are distributed by business_transaction_id, read off its parse tree: by one transaction's
// id, by a list of ids, or by asking every shard.

export type Node = { readonly [member: string]: unknown }

/** `one` id, `many` ids that the caller gives, `none`: every shard is asked. */
export type Route = 'one' | 'many' | 'none'

export interface Reference {
  readonly table: string
  readonly route: Route
  /** SELECT … FOR UPDATE and the like. */
  readonly locked: boolean
  /**
   * In a LATERAL or correlated subquery with a LIMIT, correlated to rows that are in no shard. One that is correlated to a distributed
   * table runs (Citus 13.2.2).
   */
  readonly limitedByOuter: boolean
}

const KEY = 'business_transaction_id'

type Scope = Map<string, Route>

/** Every mention of a distributed table in a statement; `raw` is one of libpg-query's `stmts[].stmt`. */
export function references(raw: unknown, distributed: ReadonlySet<string>): Reference[] {
  const statement = raw as Node
  const found: Reference[] = []
  visit(statement, new Map(), new Set())
  return found

  /** out  how whoever joins the key of this subquery's rows reaches them */
  function visit(wrapped: Node, outer: Scope, sharded: ReadonlySet<string>): Route {
    const [[kind, value] = ['', {}]] = Object.entries(wrapped)
    const node = value as Node
    const own: Scope = new Map()
    const tables = new Map<string, string>()
    const subqueries: { alias: string; query: Node; lateral: boolean }[] = []
    const conditions: Node[] = []
    const joined: string[][] = []

    for (const cte of list(member(node, 'withClause')['ctes'])) {
      const { ctename, ctequery } = cte['CommonTableExpr'] as Node
      own.set(String(ctename), visit(ctequery as Node, outer, sharded))
    }
    const ctes = new Map(own)
    const from = (item: Node): string[] => {
      const [[type, body] = ['', {}]] = Object.entries(item)
      const inner = body as Node
      const alias = String(member(inner, 'alias')['aliasname'] ?? inner['relname'])
      if (type === 'RangeVar') {
        const table = String(inner['relname'])
        own.set(alias, ctes.get(table) ?? 'none')
        if (distributed.has(table)) tables.set(alias, table)
      } else if (type === 'RangeFunction') {
        own.set(alias, mentions(inner, 'ParamRef') ? 'many' : 'none')
      } else if (type === 'RangeSubselect') {
        own.set(alias, 'none')
        subqueries.push({ alias, query: inner['subquery'] as Node, lateral: inner['lateral'] === true })
      } else if (type === 'JoinExpr') {
        const left = from(inner['larg'] as Node)
        const right = from(inner['rarg'] as Node)
        if (inner['quals'] !== undefined) conditions.push(inner['quals'] as Node)
        if (list(inner['usingClause']).some((name) => text(name) === KEY)) joined.push([...left, ...right])
        return [...left, ...right]
      } else throw new Error(`no rule for ${type} in FROM`)
      return [alias]
    }
    if (kind === 'UpdateStmt' || kind === 'DeleteStmt') from({ RangeVar: node['relation'] })
    for (const item of [...list(node['fromClause']), ...list(node['usingClause'])]) from(item)
    if (node['whereClause'] !== undefined) conditions.push(node['whereClause'] as Node)

    if (kind === 'InsertStmt') {
      const table = String(member(node, 'relation')['relname'])
      const names = list(node['cols']).map((column) => String(member(column, 'ResTarget')['name']))
      const values = member(member(node, 'selectStmt'), 'SelectStmt')['valuesLists'] !== undefined
      if (distributed.has(table))
        found.push({
          table,
          route: names.includes(KEY) ? (values ? 'one' : 'many') : 'none',
          locked: false,
          limitedByOuter: false,
        })
    }

    const shardedHere = () => new Set([...sharded, ...tables.keys()])
    const bindAll = () => {
      // A chain of equalities is as long as there are tables, at most.
      for (let pass = 0; pass <= own.size; pass++) {
        for (const condition of conditions.flatMap(conjuncts)) equate(condition, own, outer)
        for (const aliases of joined) {
          const best = aliases.map((alias) => own.get(alias) ?? 'none').reduce(better)
          for (const alias of aliases) own.set(alias, best)
        }
      }
    }
    bindAll()
    for (const { alias, query, lateral } of subqueries) {
      const before = found.length
      // The columns of what surrounds the whole query are seen without LATERAL too.
      const route = lateral
        ? visit(query, new Map([...outer, ...own]), shardedHere())
        : visit(query, outer, sharded)
      own.set(alias, better(own.get(alias) ?? 'none', found.length === before ? 'none' : route))
    }
    bindAll()

    const locked = node['lockingClause'] !== undefined
    const correlated = columnsIn(node).some(
      ({ alias = '' }) => outer.has(alias) && !own.has(alias) && !sharded.has(alias),
    )
    const limitedByOuter = correlated && node['limitCount'] !== undefined
    for (const [alias, table] of tables)
      found.push({ table, route: own.get(alias) ?? 'none', locked, limitedByOuter })

    // Subqueries anywhere else: in the target list, in conditions, as what is inserted, and both sides of a UNION.
    const inside = new Map([...outer, ...own])
    for (const [name, below] of Object.entries(node)) {
      if (['fromClause', 'usingClause', 'withClause', 'relation'].includes(name)) continue
      if (name === 'larg' || name === 'rarg') visit({ SelectStmt: below }, outer, sharded)
      else for (const query of queriesIn(below)) visit(query, inside, shardedHere())
    }
    const routes = [...tables.keys()].map((alias) => own.get(alias) ?? 'none')
    return routes.length === 0 ? 'none' : routes.reduce(worse)
  }
}

function equate(condition: Node, own: Scope, outer: Scope): void {
  const expression = condition['A_Expr'] as Node | undefined
  if (expression === undefined || !list(expression['name']).some((name) => text(name) === '=')) return
  const any = expression['kind'] !== 'AEXPR_OP'
  const sides = [expression['lexpr'] as Node, expression['rexpr'] as Node] as const
  for (const [one, other] of [sides, sides.toReversed() as [Node, Node]]) {
    const column = columnOf(one)
    if (column === undefined || column.name !== KEY) continue
    for (const alias of column.alias === undefined ? own.keys() : [column.alias])
      if (own.has(alias))
        own.set(alias, better(own.get(alias) ?? 'none', routeOf(other, { any, scope: own, outer })))
  }
}

function routeOf(value: Node, { any, scope, outer }: { any: boolean; scope: Scope; outer: Scope }): Route {
  const bare = uncast(value)
  const column = columnOf(bare)
  if (column !== undefined) return scope.get(column.alias ?? '') ?? outer.get(column.alias ?? '') ?? 'none'
  if (any) return 'many'
  return 'ParamRef' in bare || 'A_Const' in bare ? 'one' : 'none'
}

const RANKS: readonly Route[] = ['none', 'many', 'one']
const better = (a: Route, b: Route): Route => (RANKS.indexOf(a) > RANKS.indexOf(b) ? a : b)
const worse = (a: Route, b: Route): Route => (RANKS.indexOf(a) < RANKS.indexOf(b) ? a : b)

function conjuncts(condition: Node): Node[] {
  const all = condition['BoolExpr'] as Node | undefined
  return all?.['boolop'] === 'AND_EXPR' ? list(all['args']).flatMap(conjuncts) : [condition]
}

function columnOf(node: Node): { alias: string | undefined; name: string } | undefined {
  const fields = list(member(uncast(node), 'ColumnRef')['fields']).map(text)
  const name = fields.at(-1)
  return name === undefined ? undefined : { alias: fields.at(-2), name }
}

function columnsIn(value: unknown): { alias: string | undefined; name: string }[] {
  if (typeof value !== 'object' || value === null) return []
  const column = columnOf(value as Node)
  return column === undefined ? Object.values(value).flatMap(columnsIn) : [column]
}

function uncast(node: Node): Node {
  return 'TypeCast' in node ? uncast(member(node, 'TypeCast')['arg'] as Node) : node
}

/** The outermost statements below a node. */
function queriesIn(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(queriesIn)
  if (typeof value !== 'object' || value === null) return []
  if ('SelectStmt' in value) return [value]
  return Object.values(value).flatMap(queriesIn)
}

function mentions(value: unknown, type: string): boolean {
  if (typeof value !== 'object' || value === null) return false
  return type in value || Object.values(value).some((below) => mentions(below, type))
}

const list = (value: unknown): Node[] => (Array.isArray(value) ? (value as Node[]) : [])
const member = (node: Node, name: string): Node => (node[name] ?? {}) as Node
const text = (node: Node): string => (member(node, 'String')['sval'] ?? '') as string
