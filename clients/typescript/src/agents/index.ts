// The tools of agents as executions, for any framework; the adapters are `countersign-client/agents/…`.
export {
  CallNotExecutedError,
  governed,
  RunInDoubtError,
  type CallOutcome,
  type CallStanding,
  type Governed,
  type Governing,
  type ToolCall,
} from './governed.ts'
