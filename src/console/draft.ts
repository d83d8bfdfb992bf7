// Drafts: text that somebody has typed and not sent yet. A draft is kept in this tab, so that it survives a reload and the end of a session. It is
// removed when the tab closes, at a logout, and when somebody else logs in.

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

/** @param draft undefined: removes the kept draft */
export function keepDraft(callerId: string, name: string, draft: object | undefined): void {
  const key = keyOf(callerId, name)
  try {
    if (draft === undefined) sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, JSON.stringify(draft))
  } catch {
    // The tab's storage is full or switched off. The page continues, and the typed text lasts as long as the page is open.
  }
}

/** @param butOf the caller whose drafts stay; left out: all drafts are removed */
export function forgetDrafts({ butOf }: { readonly butOf?: string } = {}): void {
  const own = butOf === undefined ? undefined : keyOf(butOf, '').slice(0, -'""]'.length)
  for (const key of Object.keys(sessionStorage))
    if (key.startsWith(PREFIX) && (own === undefined || !key.startsWith(own))) sessionStorage.removeItem(key)
}
