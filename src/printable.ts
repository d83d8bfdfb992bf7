// Text of a stranger on the operator's terminal: no line break, escape code or change of direction of its own reaches it.

export function printable(line: string): string {
  return line.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd')
}
