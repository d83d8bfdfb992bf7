// Changed copies of evidence: what a forger edits, named by its path, e.g. `executions.0.decision.outcome`.

export type Json = null | boolean | number | string | Json[] | Members
export type Members = { [name: string]: Json }

/** A copy in which the member at the path is another one; its parent must be there. */
export function put(value: Members, path: string, member: Json): Members {
  return edit(value, path, (parent, name) => {
    parent[name] = member
  })
}

/** @throws where there is no such member: a case must not pass because it changes nothing */
export function change(value: Members, path: string, to: (member: Json) => Json): Members {
  return edit(value, path, (parent, name) => {
    const member = parent[name]
    if (member === undefined) throw new Error(`nothing at ${path}`)
    const changed = to(structuredClone(member))
    if (JSON.stringify(changed) === JSON.stringify(member)) throw new Error(`${path} is unchanged`)
    parent[name] = changed
  })
}

export function drop(value: Members, path: string): Members {
  return edit(value, path, (parent, name) => {
    if (!(name in parent)) throw new Error(`nothing at ${path}`)
    Reflect.deleteProperty(parent, name)
  })
}

/** The member at the path. */
export function at(value: Json, path: string): Json {
  const found = path.split('.').reduce<Json | undefined>((inner, name) => (inner as Members)[name], value)
  if (found === undefined) throw new Error(`nothing at ${path}`)
  return found
}

export function membersAt(value: Json, path: string): Members {
  return at(value, path) as Members
}

export function textAt(value: Json, path: string): string {
  const found = at(value, path)
  if (typeof found !== 'string') throw new Error(`no text at ${path}`)
  return found
}

function edit(value: Members, path: string, act: (parent: Members, name: string) => void): Members {
  // By way of JSON: a part that is used twice is two parts in a text, and one of them is edited.
  const copy = JSON.parse(JSON.stringify(value)) as Members
  const names = path.split('.')
  const last = names.pop() ?? ''
  // A list is indexed by its position, which is a name to JavaScript.
  act(names.length === 0 ? copy : membersAt(copy, names.join('.')), last)
  return copy
}
