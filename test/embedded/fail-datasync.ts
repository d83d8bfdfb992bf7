// Preloaded into a driver (driver.ts): tells which files are written back, and makes the disk fail once after SIGUSR2.
import fs, { readlinkSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { fdatasync } = fs
let failing = false
process.on('SIGUSR2', () => (failing = true))

fs.fdatasync = ((file: number, callback: fs.NoParamCallback) => {
  const path = readlinkSync(`/proc/self/fd/${file}`)
  fdatasync(file, (error) => {
    console.error(`written back ${path}`)
    callback(failing ? Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }) : error)
    failing = false
  })
}) as typeof fs.fdatasync
syncBuiltinESMExports()
