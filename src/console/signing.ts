// State of a signature, for the pages that sign: the device is being asked, the signature is delivered, or why it failed.
import { useState } from 'preact/hooks'
import { problemText } from './api.ts'
import { problemOfPasskey } from './passkey.ts'

interface Signing {
  /** The device is being asked, or the signature is delivered: there is nothing to press. */
  readonly waits: boolean
  readonly done: boolean
  readonly problem: string | undefined
  /** @param deliver signs, and posts the signed payload */
  readonly run: (deliver: () => Promise<unknown>) => Promise<void>
}

export function useSigning(): Signing {
  const [{ waits, done, problem }, set] = useState<Omit<Signing, 'run'>>({
    waits: false,
    done: false,
    problem: undefined,
  })
  return {
    waits,
    done,
    problem,
    async run(deliver) {
      set({ waits: true, done: false, problem: undefined })
      try {
        await deliver()
        set({ waits: true, done: true, problem: undefined })
      } catch (error) {
        set({ waits: false, done: false, problem: problemOfPasskey(error) ?? problemText(error) })
      }
    },
  }
}
