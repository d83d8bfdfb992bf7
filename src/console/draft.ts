// What somebody has typed and not sent yet: kept in this tab, so that it survives a reload, and a session that ends before it is sent. It goes
// with the tab, with a logout, and as soon as somebody else logs in.

const PREFIX = 'countersign-draft '

const keyOf = (callerId: string, name: string) => `${PREFIX}${JSON.stringify([callerId, name])}`

/** @param name of the form @returns undefined where nothing is kept */
export function keptDraft(callerId: string, name: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(keyOf(callerId, name)) ?? 'null') as unknown
    return typeof kept === 'object' && kept !== null ? (kept as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** @param draft undefined: nothing is kept any more */
export function keepDraft(callerId: string, name: string, draft: object | undefined): void {
  const key = keyOf(callerId, name)
  try {
    if (draft === undefined) sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, JSON.stringify(draft))
  } catch {
    // The tab's storage is full or switched off. The page goes on, and what was typed lasts as long as it is open.
  }
}

/** @param butOf the caller whose drafts stay; left out: all go */
export function forgetDrafts({ butOf }: { readonly butOf?: string } = {}): void {
  const own = butOf === undefined ? undefined : keyOf(butOf, '').slice(0, -'""]'.length)
  for (const key of Object.keys(sessionStorage))
    if (key.startsWith(PREFIX) && (own === undefined || !key.startsWith(own))) sessionStorage.removeItem(key)
}
