// What was broken on purpose, what the client saw, what was stored, and the tests that break it: the rows of docs/fault-matrix.md.
import { type Row } from '../conformance/table.ts'

export interface Fault extends Row {
  readonly fault: string
  readonly saw: string
  readonly stored: string
}

const nothing = 'nothing'

const killed: readonly Fault[] = [
  {
    fault: 'kill -9 of the service at every single await of an execution, before and after it',
    saw: 'no answer; after the restart a repeat is 409 where the id was claimed, else it is executed',
    stored: 'the record, or an intent in doubt, or nothing at all; the effect happened once at most',
    tests: {
      'crash/points': [
        'killed at any of them, an execution has its effect once at most and is accounted for',
        'every await that an execution comes to is one that is listed',
      ],
    },
  },
  {
    fault: 'kill -9 of the service under load, again and again',
    saw: '200, or no answer',
    stored: 'every record that was answered, byte for byte; the rest is in doubt or never was',
    tests: {
      'crash/service': [
        'after each of ${KILLS} kills at a random moment the service comes back with everything it acknowledged',
      ],
      'crash/in-doubt': [
        'after a kill each execution is finalized or listed in doubt; a repeat is a 409 and is never run',
      ],
    },
  },
  {
    fault: 'kill -9 of the service while requests are refused',
    saw: 'the refusal, or no answer',
    stored: 'an audit event for each refusal that was answered, once',
    tests: {
      'crash/audit': [
        'after each of ${KILLS} kills every refusal that was answered is there, once, and verifies',
      ],
    },
  },
  {
    fault: 'kill -9 of the service while a provider delivers',
    saw: '200, or no answer; the provider sends again',
    stored: 'every delivery that was answered, processed once',
    tests: {
      'crash/webhooks': [
        'after each of ${KILLS} kills every acknowledged delivery is there and is processed once',
      ],
    },
  },
  {
    fault: 'kill -9 of a service with the embedded database',
    saw: 'no answer until the next start',
    stored: 'everything: the next start stops the database that still runs, and starts it again',
    tests: {
      'embedded/postgres': [
        'crashes › after kill -9 of the service the next one stops the database that still runs, and starts it again',
      ],
    },
  },
  {
    fault: 'kill -9 in the middle of the very first start',
    saw: 'no answer until the next start',
    stored: nothing,
    tests: {
      'embedded/postgres': [
        'crashes › an interrupted initdb is cleaned away and done again',
        'crashes › a crash between initdb and CREATE DATABASE is made good',
      ],
    },
  },
]

const stopped: readonly Fault[] = [
  {
    fault: 'SIGTERM or SIGINT under load, twice',
    saw: '200 for whatever was sent before the signal or taken in after it; new connections are refused, or reset unread in the moment in which the socket closes',
    stored: 'a record for each; nothing is in doubt',
    tests: {
      lifecycle: [
        'stop › %s under load, twice: whatever was taken in is answered, nothing more is, and the exit code is 0',
      ],
    },
  },
  {
    fault: 'SIGTERM while a connector never answers',
    saw: 'a connection that ends after `SHUTDOWN_TIMEOUT_MS`',
    stored: 'an intent in doubt',
    tests: {
      lifecycle: [
        'stop › a connector that never answers is not waited for beyond SHUTDOWN_TIMEOUT_MS, and its intent stays in doubt',
      ],
    },
  },
  {
    fault: 'SIGTERM while evidence waits for a database that is away, and comes back in time',
    saw: '502 `EXECUTION_OUTCOME_UNKNOWN`, before the stop',
    stored: 'the record, before the exit',
    tests: {
      'crash/pending-evidence': ['a clean stop waits for a database that comes back within the drain'],
    },
  },
  {
    fault: 'SIGTERM while evidence waits for a database that stays away',
    saw: '502 `EXECUTION_OUTCOME_UNKNOWN`, before the stop',
    stored: 'an intent in doubt; the log says how many',
    tests: {
      'crash/pending-evidence': [
        'a clean stop without a database ends with the drain, and says what it leaves in doubt',
      ],
    },
  },
  {
    fault: 'SIGTERM right after a burst of refusals',
    saw: 'each refusal',
    stored: 'an audit event for each; what the database does not take in time is in the log',
    tests: {
      'http/audit': [
        'a clean stop › right after a burst loses none of its events',
        'without a database › a stop waits for it as long as it may, and logs what is lost',
      ],
    },
  },
  {
    fault: 'SIGTERM during a start that waits for another one to migrate',
    saw: 'nothing: it does not listen yet',
    stored: nothing,
    tests: {
      lifecycle: [
        'stop › SIGTERM during a start that waits for its turn to migrate ends it at once, with exit code 0',
      ],
    },
  },
  {
    fault: 'Whoever reads the log goes away',
    saw: '200',
    stored: 'the records',
    tests: { lifecycle: ['stop › a log that nobody reads any more changes nothing'] },
  },
]

const instances: readonly Fault[] = [
  {
    fault: 'Several instances start at the same moment on an empty database',
    saw: '`READY` from each',
    stored: 'each migration and each first policy version once',
    tests: {
      'faults/instances-together': [
        'three that start at once on an empty database: one migrates and approves what is there, all are ready',
      ],
      migrate: [
        'migrate › of twenty at once on an empty database, some in processes of their own, exactly one applies',
      ],
    },
  },
  {
    fault: 'The same id is posted to all instances at once',
    saw: 'one 200, the others 409',
    stored: 'one record; one call outside',
    tests: {
      'faults/instances-together': [
        'the same id posted to all at once, many times: one 200, the others 409, one call outside',
      ],
      'road/batch': [
        'the claim › two batches that claim the same ids in opposite orders execute each once',
        'the connector › is called once for 200 copies of a transaction, in many batches on two threads',
      ],
    },
  },
  {
    fault: 'A rolling restart under load',
    saw: '200 from every instance in service; a connection to one that stops may be refused, and nothing happened then',
    stored: 'a record for each, one call outside for each; nothing is in doubt',
    tests: {
      'faults/instances-rolling': [
        'callers see nothing of a rolling restart: every request to an instance in service is answered 200',
      ],
      'http/shared-limits': [
        'POST /execute over three instances › a rolling restart gives nobody a new budget',
      ],
    },
  },
  {
    fault: 'kill -9 of one instance under load',
    saw: 'no answer from that one; 200 from the others, as before',
    stored:
      'what was answered; what that one had under way is in doubt, listed by the others, and 409 for a repeat',
    tests: {
      'faults/instances-killed': [
        'kill -9 of one: the others answer as before, list what it left in doubt, and never run it again',
      ],
      'tables/sweep': ['a sweep › on several instances at once notes and tells each once'],
    },
  },
  {
    fault: 'kill -9 of an instance that has leased permits of a rate limit',
    saw: '429 a little earlier than otherwise',
    stored: 'a hundredth of one minute’s budget is lost, once',
    tests: {
      'http/shared-limits': [
        'GET /health over three instances › what a killed instance had leased is lost once',
      ],
    },
  },
  {
    fault: 'The network between one instance and the database swallows packets; connections stay open',
    saw: 'from that one 503 `DATABASE_UNAVAILABLE` after four or five seconds, then at once, and `NOT_READY`; 200 from the others; 200 again seconds after the network is mended',
    stored:
      'nothing of a 503 is executed; its id may be claimed by a commit that arrives late, and then it is in doubt',
    tests: {
      'faults/instances-partitioned': [
        'before an execution: 503 within seconds, then at once, and /ready says so; the others go on, and it comes back by itself',
      ],
      'faults/instances-dead-connections': [
        'what waits fails within seconds, what comes fails at once, and both pass when it answers again',
      ],
    },
  },
  {
    fault: 'The same, while an execution is under way',
    saw: '502 `EXECUTION_OUTCOME_UNKNOWN` within seconds; 409 for a repeat elsewhere',
    stored: 'an intent that is open; the record when the network is mended; one call outside',
    tests: {
      'faults/instances-partitioned': [
        'during an execution: 502 within seconds, one call outside, and the evidence is stored when the network is mended',
      ],
    },
  },
  {
    fault: 'The same, while a transaction of that instance holds locks',
    saw: 'from the others an answer that is up to two and a half seconds late',
    stored: 'the silent transaction is rolled back by the server',
    tests: {
      'faults/instances-dead-connections': ['what it has locked is free for the others before they give up'],
    },
  },
  {
    fault: 'The same, while that instance migrates',
    saw: 'the others start a few seconds later',
    stored: 'each migration once',
    tests: {
      'faults/instances-dead-connections': [
        'one that falls silent while it migrates does not keep the others from starting',
      ],
    },
  },
  {
    fault: 'The same, while humans approve a policy on another instance',
    saw: 'the old policy, or 503, from that one; the new policy within seconds after the network is mended',
    stored: 'the change, once',
    tests: {
      'faults/instances-partitioned': [
        'afterwards they share again: what was approved elsewhere is in effect within seconds, and a budget is one',
      ],
    },
  },
  {
    fault: 'One instance cannot reach the database to count rate limits, or it is slow',
    saw: 'an answer a quarter of a second late at most, then at once; that instance allows a budget of its own meanwhile',
    stored: 'what was spent before is still spent; shared again when the database answers',
    tests: {
      'http/shared-limits': [
        'GET /health without the database: an instance counts for itself and answers at once; afterwards they share again',
      ],
      'door/shared-limit': [
        'without the database › each instance counts for itself at once, says so once, and shares again when it is back',
        'without the database › a database that does not answer holds nobody up for longer than a quarter of a second',
      ],
    },
  },
  {
    fault: 'Two instances get the same delivery of a provider a hundred times at once',
    saw: 'one `accepted`, the others 200 too',
    stored: 'one event, processed once',
    tests: {
      'http/webhooks': [
        'POST /webhooks/{provider} 200 › two instances get the same event a hundred times at once: one accepts it, and it is processed once',
      ],
    },
  },
  {
    fault: 'The clock of an instance is behind or ahead, by minutes or days',
    saw: '200, or 502 `EXECUTION_OUTCOME_UNKNOWN`; once it is right, what is in doubt is listed within seconds and can be resolved',
    stored: 'deadlines by the clock of the database',
    tests: {
      'faults/clocks': [
        'in the services alone, behind by ten minutes or two days or ahead, hides nothing that is in doubt',
      ],
    },
  },
  {
    fault: 'The clock of the database is ahead or behind for a while, with or without that of the instance',
    saw: 'the same',
    stored: 'the same; a deadline further ahead than any that is given counts as passed',
    tests: {
      'faults/clocks': [
        'by $service in the service and $database in the database hides nothing that is in doubt',
      ],
      'tables/sweep': [
        'finds a deadline further ahead than any that is given, and leaves the longest that is given alone',
      ],
    },
  },
]

const away: readonly Fault[] = [
  {
    fault: 'The database is gone before an id is claimed',
    saw: '503 `DATABASE_UNAVAILABLE` with `Retry-After`, and `NOT_READY`; 200 for the same transaction later',
    stored: nothing,
    tests: {
      'crash/database-gone': [
        'gone before the claim: 503 at once, and nothing executed; gone after the effect: 502, the evidence once it is back, and never executed again',
      ],
      'http/unavailable': [
        'POST /execute 503 databaseUnavailable › nothing is executed while the database is away; the same transaction is, once it is back',
        'POST /execute 503 databaseUnavailable › a body that is refused without the database is refused all the same',
      ],
    },
  },
  {
    fault: 'The database is gone while something is read',
    saw: '503 `DATABASE_UNAVAILABLE`',
    stored: nothing,
    tests: { 'http/unavailable': ['GET /transactions/{id} 503 databaseUnavailable › GET %s'] },
  },
  {
    fault: 'The database is gone after the effect, for longer than a caller waits',
    saw: '502 `EXECUTION_OUTCOME_UNKNOWN`',
    stored: 'the record, whole and once, when the database is back, without a human',
    tests: {
      'http/unavailable': [
        'POST /execute 502 outcomeUnknown › a database that is lost during the effect and stays away: no answer but this, and the evidence once it is back',
      ],
      'crash/pending-evidence': [
        'is stored once the database is back, without a human: FINALIZED or ERRORED, whole, once, and off the list',
      ],
    },
  },
  {
    fault: 'The same, and a human closes the intent in the meantime',
    saw: '502 `EXECUTION_OUTCOME_UNKNOWN`',
    stored: 'what the human said; the late evidence is in the audit',
    tests: { 'crash/pending-evidence': ['what a human has resolved in the meantime stays so'] },
  },
  {
    fault: 'The same, with more evidence than is kept in memory',
    saw: '502 `EXECUTION_OUTCOME_UNKNOWN`',
    stored: 'beyond 10,000 or 64 MB an intent in doubt',
    tests: { 'crash/pending-evidence': ['what is kept is bounded, by count and by size'] },
  },
  {
    fault: 'The database is gone for a moment while the connector works',
    saw: '200, a little later',
    stored: 'the record',
    tests: {
      'crash/database-gone': [
        'gone for a moment while the connector works: the evidence is stored once it is back',
      ],
      'http/unavailable': [
        'POST /execute 502 outcomeUnknown › one that is back soon still gets the evidence',
      ],
    },
  },
  {
    fault: 'kill -9 of the postmaster or of a backend under load',
    saw: '200, 502 or 503, and each means what it says',
    stored: 'a record for each 200; for a 502 the record or an intent in doubt; for a 503 no record',
    tests: {
      'crash/postgres': [
        'killed ${KILLS} times at a random moment: no acknowledged execution is missing, and no answer lies',
      ],
      'embedded/postgres': [
        'crashes › after kill -9 of the database it is restarted, once the last orphaned backend is gone',
      ],
    },
  },
  {
    fault: 'The connection is lost at the COMMIT of a claim, before the server heard of it',
    saw: '503 `DATABASE_UNAVAILABLE`; 200 for a repeat',
    stored: nothing,
    tests: { 'road/lost-commit': ['the claim › not committed: 503, and the ids are free'] },
  },
  {
    fault: 'The connection is lost at the COMMIT of a claim, after the server committed',
    saw: '503 `DATABASE_UNAVAILABLE`; 409 for a repeat',
    stored: 'an intent in doubt; nothing is executed, then or later',
    tests: {
      'road/lost-commit': [
        'the claim › committed: 503, nothing is executed then or later, and the intents are in doubt',
      ],
    },
  },
  {
    fault: 'The connection is lost at the COMMIT of the evidence, before or after the server heard of it',
    saw: '200 with the record as stored',
    stored: 'the record, once',
    tests: {
      'road/lost-commit': [
        'the evidence › %s, and the execution is answered as stored',
        'the evidence › not committed as long as the caller waits: 502, in doubt, and stored when commits pass',
      ],
    },
  },
  {
    fault: 'The database refuses one row of a batch',
    saw: '500 for that one before its effect, 502 after it; 200 for its neighbours',
    stored: 'its neighbours; it alone is not claimed, or in doubt',
    tests: {
      'road/batch': [
        'the claim › an item that the database refuses fails alone, and a repeat of it is not told that it exists',
        'the evidence › an item whose record the database refuses is in doubt alone',
      ],
    },
  },
  {
    fault: 'The database is away when a provider delivers',
    saw: '503; the provider sends again',
    stored: 'nothing, then the delivery',
    tests: {
      'http/webhooks': [
        '503 databaseUnavailable › says so within seconds, stores nothing, and takes the delivery when the database is back',
      ],
    },
  },
  {
    fault: 'The database is away when a request is refused',
    saw: 'the refusal, a second late at most',
    stored: 'its audit event, when the database is back',
    tests: {
      'http/audit': [
        'without a database › a refusal is answered within two seconds, and its event is stored once the database is back',
      ],
      'door/audit': ['a database that is away › one that does not answer at all keeps a reply no longer'],
    },
  },
  {
    fault: 'Somebody locks the audit table',
    saw: '200: an execution does not wait for events',
    stored: 'the record; the events when the lock is gone',
    tests: {
      'http/waiting-audit': ['an execution is answered while events wait for a lock, however many there are'],
    },
  },
]

/** Of test/faults/database-*.test.ts. */
const trouble: readonly Fault[] = [
  {
    fault: 'PostgreSQL is restarted under load, cleanly or without a checkpoint',
    saw: '503 `DATABASE_UNAVAILABLE` at once, `no server listens there`; 200 within seconds of its start',
    stored: 'a record for each 200 and, later, for each 502; a call outside for nothing else',
    tests: {
      'faults/database-restart': [
        'a restart of PostgreSQL under load › pg_ctl restart -m %s: callers get 503 at once, nothing is executed without its intent, and the service goes on by itself',
      ],
    },
  },
  {
    fault: 'The primary crashes, and its synchronous standby is promoted behind one address',
    saw: '503 `DATABASE_UNAVAILABLE` until the address reaches the new primary, then 200',
    stored: 'every record that was answered, on the new primary',
    tests: {
      'faults/database-failover': [
        'a failover under load › to the promoted standby of a primary that crashed: no acknowledged execution is missing there, and the service goes on by itself',
      ],
    },
  },
  {
    fault: 'The primary is demoted to read-only and still answers',
    saw: '503 `DATABASE_UNAVAILABLE`, `it is read-only`; 200 from the new primary within seconds',
    stored:
      'every record that was answered, on the new primary; within half a minute no connection is left on the old one',
    tests: {
      'faults/database-failover': [
        'a failover under load › from a primary that was demoted and still answers: 503 while nothing can be written, and no connection stays with it',
      ],
    },
  },
  {
    fault: 'A synchronous standby is lost, and PostgreSQL holds every commit',
    saw: '503 `DATABASE_UNAVAILABLE` after twelve seconds, `its synchronous standby does not confirm what is written`; 200 when it is back',
    stored: 'nothing of a 503 is executed; a claim that was held may be in doubt when the standby is back',
    tests: {
      'faults/database-failover': [
        'a failover under load › a synchronous standby that is lost: PostgreSQL holds every commit, callers get 503, and /ready says why',
      ],
    },
  },
  {
    fault: 'Somebody else has taken every connection',
    saw: '503 `DATABASE_UNAVAILABLE` with `Retry-After` within seconds, `it has too many connections`',
    stored: 'nothing of a 503 is executed',
    tests: {
      'faults/database-connections': [
        'a PostgreSQL without a free connection › callers get 503 at once with Retry-After, /ready says why, and the service goes on when connections are free',
      ],
    },
  },
  {
    fault: 'Somebody locks a table that a claim needs, as `ALTER TABLE` does',
    saw: '503 `DATABASE_UNAVAILABLE` after three seconds, six behind others; 200 when the lock is gone',
    stored: 'nothing of a 503 is executed',
    tests: {
      'faults/database-timeouts': [
        'a lock that somebody holds › on business_transactions: 503 within seconds and nothing executed; executions go on when it is released',
        'a lock that somebody holds › on execution_intents: /ready says within seconds that it is locked',
      ],
    },
  },
  {
    fault: 'Somebody locks a table that the evidence needs',
    saw: '502 `EXECUTION_OUTCOME_UNKNOWN` within seconds',
    stored: 'the record, when the lock is gone, without a human',
    tests: {
      'faults/database-timeouts': [
        'a lock that somebody holds › on trust_records, after the effect: 502, and the evidence is stored when it is released',
      ],
    },
  },
  {
    fault: 'The disk is full for the data of PostgreSQL',
    saw: '503 `DATABASE_UNAVAILABLE`, or 502 where only the evidence found no room; `its disk is full`',
    stored: 'nothing of a 503 is executed; the evidence of a 502 as soon as there is room',
    tests: {
      'faults/database-disk-full': [
        'a full disk › for the data: 503 or 502, /ready says so, and executions go on as soon as there is room',
      ],
    },
  },
  {
    fault: 'The disk is full for the log of PostgreSQL, which then ends itself',
    saw: '503 `DATABASE_UNAVAILABLE`, `no server listens there`; 200 by itself when there is room: the embedded one is started again',
    stored: 'everything that was answered',
    tests: {
      'faults/database-disk-full': [
        'a full disk › for the log: PostgreSQL ends itself and cannot start; with room it is started again, and nothing is lost',
      ],
    },
  },
  {
    fault: 'A bit of an index flips on the disk',
    saw: '502 `EXECUTION_OUTCOME_UNKNOWN` for the executions that find out, then 503 `EVIDENCE_REFUSED`, and `NOT_READY` with the reason; 200 by itself after REINDEX',
    stored: 'the evidence behind each 502, after REINDEX; nothing else was executed',
    tests: {
      'faults/database-damage': [
        'of an index stops executions after the first 502; REINDEX stores its evidence and lets them in again',
      ],
      'fsck/damage': ['of an index: the index, and every row is checked without it'],
    },
  },
  {
    fault: 'A bit of a table flips on the disk',
    saw: '500 for what stands in that page, 200 for the rest; fsck names the page, the rows around it and each row that needs it, and exits 2',
    stored: 'what was there',
    tests: {
      'fsck/damage': [
        'of a table: the page with the rows around it, each row that needs it, and every other problem',
      ],
    },
  },
  {
    fault: 'A table of the evidence is missing, or its thread dies before the evidence is stored',
    saw: '502, then 503 `EVIDENCE_REFUSED`; 200 when a store succeeds, or when a try of one does',
    stored: 'the evidence behind the 502, if its thread lives',
    tests: {
      'http/evidence-refused': [
        'after one 502 nothing more is executed, GET /ready says why, and both end when the evidence is stored',
      ],
      'crash/pending-evidence': [
        'a thread that starts while evidence is refused tries what a store does, keeps nothing of it, and ends the fault when it succeeds',
      ],
    },
  },
  {
    fault: 'The database refuses the evidence of one execution for its own values',
    saw: '502 `EXECUTION_OUTCOME_UNKNOWN` for that one, 200 for the others',
    stored: 'an intent in doubt',
    tests: {
      'http/evidence-refused': ['one that is refused for its own values is a 502 alone: the others go on'],
    },
  },
  {
    fault: 'An older release starts on the database of a newer one',
    saw: 'a warning in the log; or, where a migration needs newer code, a sentence and exit code 1',
    stored: nothing,
    tests: {
      migrate: [
        'runs on a database that a newer version has migrated further',
        'refuses a database whose newer migration needs one that this release does not know, and changes nothing',
      ],
    },
  },
]

const outside: readonly Fault[] = [
  {
    fault: 'The called system never answers',
    saw: '502 `EXECUTION_OUTCOME_UNKNOWN` when its time is up',
    stored: 'an intent in doubt, at once, listed by itself',
    tests: {
      'crash/in-doubt': [
        'a connector that never answers: 502 when its time is up, in doubt at once, listed by itself',
      ],
      'connectors/outcomes': ['%s › silence is unknown when the time is over'],
    },
  },
  {
    fault: 'It hangs up, resets, or sends half an answer, another one, or none that can be read',
    saw: '502 `EXECUTION_OUTCOME_UNKNOWN`',
    stored: 'an intent in doubt',
    tests: { 'connectors/outcomes': ['%s › %s is unknown'] },
  },
  {
    fault: 'It answers with a redirect, 408 or 5xx',
    saw: '502 `EXECUTION_OUTCOME_UNKNOWN`',
    stored: 'an intent in doubt',
    tests: { 'connectors/outcomes': ['%s › %i is unknown'] },
  },
  {
    fault: 'Nobody listens there, or it refuses with a 4xx',
    saw: '500 `RUNTIME_ERROR`',
    stored: 'a record whose execution is `FAILED`',
    tests: {
      'connectors/outcomes': [
        '%s › an endpoint that nobody listens at fails for certain',
        '%s › %i fails for certain',
      ],
    },
  },
  {
    fault: 'It answers what cannot be signed',
    saw: '502 `EXECUTION_OUTCOME_UNKNOWN`',
    stored: 'an intent in doubt: the effect has happened',
    tests: {
      'road/batch': [
        'the evidence › a result that cannot be signed is in doubt, not a failure: the effect has happened',
      ],
    },
  },
  {
    fault: 'It dies in the middle of the effect, or a release reaches it twice',
    saw: '502 `EXECUTION_OUTCOME_UNKNOWN`, or the stored answer',
    stored: 'in its journal: it acts once',
    tests: {
      'connectors/external-receiver': [
        'the program fetches the keys once, and killed in the middle of an effect it never does it again',
        'a repeat gets the stored answer, at the same time or after a restart, and nothing is done again',
      ],
    },
  },
]

const load: readonly Fault[] = [
  {
    fault: 'More requests than `QUEUE_REQUESTS_MAX`',
    saw: '503 `OVERLOADED` with `Retry-After`; 200 when there is room',
    stored: nothing,
    tests: {
      'http/unavailable': [
        'POST /execute 503 overloaded › a request beyond QUEUE_REQUESTS_MAX is turned away before any work, and taken when there is room again',
      ],
    },
  },
  {
    fault: 'A client asks for much and reads nothing',
    saw: '503 `OVERLOADED` for what that caller asks for besides; room again when it has gone',
    stored: nothing,
    tests: {
      'http/slow-readers': [
        'GET /transactions 503 overloaded › while one page of 10 MB is unread a second one does not fit into the share of its caller',
      ],
    },
  },
  {
    fault: 'A client announces bodies and never sends them',
    saw: '503 `OVERLOADED` for that address; the others have room',
    stored: nothing,
    tests: {
      'http/webhooks': [
        '503 overloaded › bodies that one address announces and never sends leave room for others',
      ],
    },
  },
  {
    fault: 'A client goes away in the middle of its body, or before its answer',
    saw: nothing,
    stored: 'the record, where the body was whole; its room is free again',
    tests: {
      'door/listen': [
        '%s › a client that goes away in mid-body gives its bytes back once',
        '%s › of a reply that comes after its client has gone it is told once that it is out',
      ],
    },
  },
  {
    fault: 'A slow head, a slow body, an idle connection',
    saw: 'a connection that ends',
    stored: nothing,
    tests: { 'door/listen': ['%s › a slow head, a slow body and an idle connection are ended'] },
  },
  {
    fault: 'A flood of bad keys',
    saw: '401, each',
    stored: 'some of them, and how many are not',
    tests: {
      'http/audit': [
        'a flood › of bad keys is answered whole and written in part; the next event tells how much was not',
      ],
    },
  },
]

const network: readonly Fault[] = [
  {
    fault: 'The answer to an execution is lost on its way to our client',
    saw: 'the record: the client reads it before it sends anything again',
    stored: 'one record',
    tests: {
      'clients/typescript': [
        'over a flaky network › an execute whose reply was lost is not sent twice, and its record is returned',
      ],
    },
  },
  {
    fault: 'Our client gives up waiting while the execution runs',
    saw: 'the record, when there is one',
    stored: 'one record',
    tests: {
      'clients/typescript': [
        'over a flaky network › an execute that timed out while it was running is waited for, not sent again',
      ],
    },
  },
  {
    fault: 'An execution never arrives',
    saw: 'the record: the client asks, finds nothing, and sends it again',
    stored: 'one record',
    tests: {
      'clients/typescript': [
        'over a flaky network › an execute that never arrived is sent again, after the service was asked',
      ],
    },
  },
  {
    fault: 'The service itself does not know the outcome',
    saw: 'an error of the client that says so; it sends nothing again',
    stored: 'an intent in doubt',
    tests: {
      'clients/typescript': [
        'over a flaky network › an outcome that the service itself does not know is in doubt, and nothing is sent again',
      ],
    },
  },
]

export const sections: Readonly<Record<string, readonly Fault[]>> = {
  'The service is killed': killed,
  'The service stops': stopped,
  'Several instances': instances,
  'The database is away': away,
  'Database trouble': trouble,
  'The called system': outside,
  'Load and slow clients': load,
  "The client's network": network,
}
