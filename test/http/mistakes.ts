// Mistakes in the functions that write signed texts. The variable MISTAKE says which of them a program that was made with them has.

interface Mistake {
  readonly file: string
  readonly right: string
  /** In place of `right`; IF is whether the program has this mistake. */
  readonly wrong: string
  /** Only several that are signed together show it. */
  readonly inBatchesOnly?: true
}

export const mistakes = {
  'a position in the batch': {
    file: 'src/formats/merkle/batch-head.ts',
    right: '"size":${size}}`',
    wrong: '"size":${IF ? size + 1 : size}}`',
    inBatchesOnly: true,
  },
  'who signed': {
    file: 'src/core/signing/signature.ts',
    right: '"keyId":${JSON.stringify(keyId)}`',
    wrong: '"keyId":${JSON.stringify(IF ? keyId.toLowerCase() : keyId)}`',
  },
  'the payload of an authorization': {
    file: 'workers/execute/decide/authorization.ts',
    right: 'decisionId: decision.decisionId,',
    wrong: 'decisionId: IF ? newId() : decision.decisionId,',
  },
  'a signed authorization': {
    file: 'workers/execute/decide/authorization.ts',
    right: '"payload":${payload},',
    wrong: '"payload":${IF ? payload.replace(",", ", ") : payload},',
  },
  'a decision': {
    file: 'workers/execute/decide/decision.ts',
    right: 'policy: accepted.canonical.policy,',
    wrong: 'policy: IF ? accepted.canonical.intent : accepted.canonical.policy,',
  },
  'an execution': {
    file: 'workers/execute/seal.ts',
    right: 'target: transaction.intent.target,',
    wrong: 'target: IF ? transaction.intent.action : transaction.intent.target,',
  },
  'a record': {
    file: 'workers/execute/seal.ts',
    right: '"overrides":[]',
    wrong: '"overrides":${IF ? "[ ]" : "[]"}',
  },
  'a seal': {
    file: 'workers/execute/seal.ts',
    right: '"trustRecordHash":"${hash}"',
    wrong: '"trustRecordHash":"${IF ? hash.toUpperCase() : hash}"',
  },
} as const satisfies Readonly<Record<string, Mistake>>

/** For `bundlePrograms`. @throws Error where a source no longer has what a mistake replaces */
export function withMistakes(file: string, source: string): string {
  return Object.entries(mistakes)
    .filter(([, mistake]) => mistake.file === file)
    .reduce((text, [name, { right, wrong }]) => {
      if (text.split(right).length !== 2) throw new Error(`${file} does not have once: ${right}`)
      return text.replace(right, () => wrong.replace('IF', `process.env.MISTAKE === ${JSON.stringify(name)}`))
    }, source)
}
