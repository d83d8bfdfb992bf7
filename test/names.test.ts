// Names that look like another one: refused where nothing can be seen of the difference, warned of where a reader has to look closely.
import { describe, expect, test } from 'vitest'
import { isClearName, lookalikeWarnings, unclearNames } from '../src/formats/people/names.ts'

const BLANK = 'begins or ends with white space'
const UNSEEN = 'has a character that is not visible'
const OTHER_FORM = 'is not in Unicode normal form NFKC, where it is'

// proves abuse: A principal whose name looks like an approver’s
describe('a name that looks like another one', () => {
  test.each([
    ['a space at its end', 'u.boss ', `"u.boss " ${BLANK}`],
    ['a space at its beginning', ' u.boss', `" u.boss" ${BLANK}`],
    ['spaces alone', '  ', `"  " ${BLANK}`],
    ['a tab', 'u.boss\t', `"u.boss\\t" ${BLANK}`],
    ['a line end', 'u.boss\n', `"u.boss\\n" ${BLANK}`],
    ['a no-break space', 'u.boss\u00a0', `"u.boss\\u00a0" ${BLANK}`],
    ['an ideographic space', '\u3000u.boss', `"\\u3000u.boss" ${BLANK}`],
    ['a byte order mark', '\ufeffu.boss', `"\\ufeffu.boss" ${BLANK}`],
    ['a braille blank', 'u.boss\u2800', `"u.boss\\u2800" ${BLANK}`],
    ['a control character', 'u.\u0000boss', `"u.\\u0000boss" ${UNSEEN}`],
    ['a control character of C1', 'u.\u0085boss', `"u.\\u0085boss" ${UNSEEN}`],
    ['a zero-width space', 'u.\u200bboss', `"u.\\u200bboss" ${UNSEEN}`],
    ['a zero-width joiner at its end', 'u.boss\u200d', `"u.boss\\u200d" ${UNSEEN}`],
    ['a soft hyphen', 'u.bo\u00adss', `"u.bo\\u00adss" ${UNSEEN}`],
    ['a change of direction', '\u202essob.u', `"\\u202essob.u" ${UNSEEN}`],
    ['a line separator', 'u.\u2028boss', `"u.\\u2028boss" ${UNSEEN}`],
    ['a tag character', 'u.boss\u{e0041}', `"u.boss\\udb40\\udc41" ${UNSEEN}`],
    ['a variation selector', 'u.boss\ufe0f', `"u.boss\\ufe0f" ${UNSEEN}`],
    ['a combining grapheme joiner', 'u.bo\u034fss', `"u.bo\\u034fss" ${UNSEEN}`],
    ['a Hangul filler', 'u.boss\u1160', `"u.boss\\u1160" ${UNSEEN}`],
    ['a lone surrogate', 'u.boss\ud800', `"u.boss\\ud800" ${UNSEEN}`],
    ['private use', 'u.boss\ue000', `"u.boss\\ue000" ${UNSEEN}`],
    ['full-width letters', 'u.\uff42oss', `"u.\\uff42oss" ${OTHER_FORM} "u.boss"`],
    ['a full-width dot', 'u\uff0eboss', `"u\\uff0eboss" ${OTHER_FORM} "u.boss"`],
    ['mathematical letters', '\u{1d42e}.boss', `"\\ud835\\udc2e.boss" ${OTHER_FORM} "u.boss"`],
    ['a long s', 'u.bo\u017fs', `"u.bo\\u017fs" ${OTHER_FORM} "u.boss"`],
    ['a Kelvin sign', 'u.\u212aing', `"u.\\u212aing" ${OTHER_FORM} "u.King"`],
    ['a no-break space within', 'u\u00a0boss', `"u\\u00a0boss" ${OTHER_FORM} "u boss"`],
    ['a letter and its accent apart', 'u.bo\u0301ss', `"u.bo\\u0301ss" ${OTHER_FORM} "u.b\\u00f3ss"`],
  ])('%s', (_, name, said) => {
    expect(isClearName(name)).toBe(false)
    expect(unclearNames(['u.boss', name], 'names')).toEqual([`names[1] ${said}.`])
  })

  test.each([
    ['a letter of another script', 'u.b\u043ess', '"u.b\\u043ess"'],
    ['an accent that no letter has', 'u.boss\u0328', '"u.boss\\u0328"'],
    ['a name of a person', 'Zo\u00eb M\u00fcller', '"Zo\\u00eb M\\u00fcller"'],
    ['a script without letter case', '\u7530\u4e2d', '"\\u7530\\u4e2d"'],
    ['a dot at its end', 'u.boss.', '"u.boss."'],
    ['a quotation mark', 'u.boss" and "u', '"u.boss\\" and \\"u"'],
  ])('is allowed, and warned of: %s', (_, name, shown) => {
    expect(unclearNames([name], 'names')).toEqual([])
    expect(lookalikeWarnings([name, 'u.boss', name])).toEqual([
      `The name ${shown} is easily taken for another one: use letters, digits and . _ - : @, and no dot at the end.`,
    ])
  })

  test.each(['u.boss', 'U.Boss', 'agent:payables', 'ada@example.com', '_x'])('%s is plain', (name) => {
    expect(isClearName(name)).toBe(true)
    expect(lookalikeWarnings([name])).toEqual([])
  })
})
