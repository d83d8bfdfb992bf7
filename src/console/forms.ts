// Fields of a form, as somebody has typed into them.

/** @returns the text of a field without the space around it; '' where the field has no text */
export function fieldOf(form: EventTarget | null, name: string): string {
  const value = form instanceof HTMLFormElement ? new FormData(form).get(name) : null
  return typeof value === 'string' ? value.trim() : ''
}
