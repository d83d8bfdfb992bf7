// A setup file: runs before each test file.
import { afterAll, afterEach } from 'vitest'
import { cleanUpAfterFile, cleanUpAfterTest } from './cleanup.ts'

afterEach(cleanUpAfterTest)
afterAll(cleanUpAfterFile)
