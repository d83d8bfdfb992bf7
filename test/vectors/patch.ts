// JSON Patch (RFC 6902): evidence as its difference from other evidence. Most published cases are one piece of evidence with one change.
import type { Json, Members } from './edit.ts'

export type Operation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string }

/** @returns a copy of `value` after the operations; those that `difference` makes are of these three kinds */
export function patched(value: Json, patch: readonly Operation[]): Json {
  const root = { '': structuredClone(value) }
  for (const operation of patch) {
    const names = operation.path.split('/').map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    const last = names.pop() ?? ''
    const parent = names.reduce<Json>((inner, name) => (inner as Members)[name] ?? null, root)
    if (Array.isArray(parent)) {
      const at = last === '-' ? parent.length : Number(last)
      parent.splice(
        at,
        operation.op === 'add' ? 0 : 1,
        ...(operation.op === 'remove' ? [] : [operation.value]),
      )
    } else if (operation.op === 'remove') Reflect.deleteProperty(parent as Members, last)
    else (parent as Members)[last] = operation.value
  }
  return root['']
}

/** @returns the operations that make `to` of `from`: lists item by item, so that one in the middle changes all that follow */
export function difference(from: Json, to: Json, path = ''): Operation[] {
  if (Array.isArray(from) && Array.isArray(to))
    return [
      ...from.slice(0, to.length).flatMap((item, i) => difference(item, to[i]!, `${path}/${i}`)),
      ...from.slice(to.length).map((): Operation => ({ op: 'remove', path: `${path}/${to.length}` })),
      ...to.slice(from.length).map((value): Operation => ({ op: 'add', path: `${path}/-`, value })),
    ]
  if (isObject(from) && isObject(to)) {
    const at = (name: string) => `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    return [
      ...Object.keys(from).flatMap((name): Operation[] =>
        Object.hasOwn(to, name)
          ? difference(from[name]!, to[name]!, at(name))
          : [{ op: 'remove', path: at(name) }],
      ),
      ...Object.keys(to).flatMap((name): Operation[] =>
        Object.hasOwn(from, name) ? [] : [{ op: 'add', path: at(name), value: to[name]! }],
      ),
    ]
  }
  return from === to ? [] : [{ op: 'replace', path, value: to }]
}

function isObject(value: Json): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
