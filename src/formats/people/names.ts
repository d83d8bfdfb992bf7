// Names that people read. Only programs can distinguish two that look alike, so a person could act under one name and approve under the other.

/** Characters that show as nothing or as a blank, except a space in the middle. `U+2800` is the braille pattern without a dot. */
const BLANK_AT_END = /^[\s\u2800]|[\s\u2800]$/
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u

/** Completes "the name …"; undefined: the name is written as it is read. Letters of other scripts are allowed. */
function obscurityOf(name: string): string | undefined {
  if (BLANK_AT_END.test(name)) return 'begins or ends with white space'
  if (UNSEEN.test(name)) return 'has a character that is not visible'
  if (name.normalize('NFKC') !== name)
    return `is not in Unicode normal form NFKC, where it is ${quoted(name.normalize('NFKC'))}`
  return undefined
}

export function isClearName(name: string): boolean {
  return obscurityOf(name) === undefined
}

/**
 * Names that look like another name, each as a sentence.
 * @param field member that holds the names
 */
export function unclearNames(names: readonly string[], field: string): string[] {
  return names.flatMap((name, index) => {
    const obscurity = obscurityOf(name)
    return obscurity === undefined ? [] : [`${field}[${index}] ${quoted(name)} ${obscurity}.`]
  })
}

/** Such a name reads as it is written, in a sentence and on a page, in any font. */
const PLAIN_NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9._:@-]*[A-Za-z0-9_])?$/

/** A sentence for each name that is allowed but easily taken for another name, such as a name with a letter of another script. */
export function lookalikeWarnings(names: readonly string[]): string[] {
  return [...new Set(names)]
    .filter((name) => !PLAIN_NAME.test(name))
    .map(
      (name) =>
        `The name ${quoted(name)} is easily taken for another one: use letters, digits and . _ - : @, and no dot at the end.`,
    )
}

/** A name in a sentence: JSON in ASCII, so that it neither ends the sentence nor hides a character. */
export function quoted(name: string): string {
  return JSON.stringify(name).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
