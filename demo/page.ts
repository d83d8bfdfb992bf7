// What a person at a terminal sees: aligned rows of at most 80 columns. Colour only where `styleText` finds a terminal and no NO_COLOR.
import { stripVTControlCharacters, styleText } from 'node:util'

const WIDTH = 80

export function heading(text: string): void {
  print('')
  print(styleText('bold', text))
}

/** A long text goes on below where it began. */
export function row(label: string, text: string): void {
  hang(`   ${styleText('dim', label.padEnd(9))}`, text)
}

export function checkRow(
  label: string,
  { name, proves, holds }: { name: string; proves: string; holds: boolean },
): void {
  const verdict = holds ? styleText('green', 'pass') : styleText('red', 'fail')
  hang(`   ${styleText('dim', label.padEnd(9))}${verdict}  ${name.padEnd(14)}`, proves)
}

export function paragraph(text: string): void {
  print('')
  hang('', text)
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** A word longer than a line keeps its line to itself. */
function hang(before: string, text: string): void {
  const left = stripVTControlCharacters(before).length
  let line = before
  let filled = left
  for (const word of text.split(' ')) {
    if (filled > left && filled + 1 + word.length > WIDTH) {
      print(line)
      line = ' '.repeat(left)
      filled = left
    }
    line += filled > left ? ` ${word}` : word
    filled += (filled > left ? 1 : 0) + word.length
  }
  print(line)
}
