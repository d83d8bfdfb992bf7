// countersign-verify.mjs: `countersign verify` in one file, for whoever has evidence and keys but no checkout.
import { Command } from 'commander'
import { defineVerify } from '../../src/cli/verify-program.ts'

const program = new Command('node countersign-verify.mjs')
defineVerify(program)
await program.parseAsync()
