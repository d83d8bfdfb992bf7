// The program of a worker thread of `countersign verify`.
import { serveTasks } from './threads.ts'

serveTasks()
