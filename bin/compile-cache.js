// Keeps the compiled code of our modules, without types, for later processes: a start then takes two thirds of the CPU, and so does
// each use of the command. Beside the modules and not in the shared folder for temporary files, since whoever may write here may change what they
// say, too. Where the folder cannot be written, nothing is kept.
import module from 'node:module'
import { join } from 'node:path'

// Worker threads and other programs of ours take it from the environment.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '..', '.cache', 'compile')
// A Node that is too old has no such function, and is told so next.
module.enableCompileCache?.(process.env.NODE_COMPILE_CACHE)
