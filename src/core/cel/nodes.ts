// The nodes of a parsed expression.
import type { ASTNode } from '@marcbachmann/cel-js'

/** The nodes right below a node. */
export function children(node: ASTNode): readonly ASTNode[] {
  if (node.op === 'value' || node.op === 'id') return []
  if (node.op === '.' || node.op === '.?') return [node.args[0]]
  if (node.op === 'call') return node.args[1]
  if (node.op === 'rcall') return [node.args[1], ...node.args[2]]
  if (node.op === 'map') return node.args.flat()
  if (node.op === '!_' || node.op === '-_') return [node.args]
  return node.args
}

export function countNodes(node: ASTNode): number {
  return children(node).reduce((sum, child) => sum + countNodes(child), 1)
}

/** The text that a node was parsed from. */
export function textOf({ input, start, end }: ASTNode): string {
  return input.slice(start, end)
}

/** Whether a node reads no variable. */
export function isConstant(node: ASTNode): boolean {
  return node.op !== 'id' && children(node).every(isConstant)
}
