// Plain JavaScript, like its callers in this folder: a Node that is too old cannot load a .ts file, and would print a stack trace.

/** @returns {boolean} whether this Node runs the rest; where not, it has said so on standard error */
export function nodeIsNewEnough() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 24 || (major === 24 && minor >= 6)) return true
  console.error(`countersign needs Node 24.6 or newer (this is ${process.version}): npm ci installs one.`)
  return false
}
