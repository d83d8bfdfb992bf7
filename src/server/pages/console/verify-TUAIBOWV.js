import {
  MalformedJson,
  SIGNATURE_BYTES,
  abool,
  abytes,
  actionCode,
  aexists,
  ahash,
  anumber,
  aoutput,
  assertedBytes,
  base64,
  base64url,
  bytesToHex,
  canonicalText,
  canonicalize,
  carriedSignature,
  check,
  checkEd25519,
  checkGovernanceChange,
  checkOpts,
  checkSigned,
  clean,
  concatBytes,
  createHasher,
  hexToBytes,
  instantMs,
  isAuthorizationSigned,
  isBytes,
  isMembers,
  isOpen,
  isPasskeyAlgorithm,
  keyAlgorithmOf,
  knownFamily,
  leafHash,
  list,
  mayVerify,
  members,
  missingStepUpKey,
  notesOnChange,
  oidNist,
  parseJsonText,
  preAuthEncoding,
  randomBytes,
  readPasskey,
  requestHash,
  requireHumanAlgorithm,
  requiredSignatures,
  rootOfInclusion,
  sha256,
  sha512,
  signedMembersOf,
  signedMessage,
  split,
  string,
  swap32IfBE,
  toBase64,
  u32,
  utf8ToBytes
} from "./chunk-2O6NKBQB.js";

// src/core/verifier/approval-request.ts
var HASH = /^[0-9a-f]{64}$/;
var CLOSED = ["DECLINED", "WITHDRAWN"];
function checkApprovalRequest(evidence, given) {
  const asked = isMembers(evidence) ? evidence : {};
  const { request, requestHash: requestHash2, signature, closed } = asked;
  const text = isMembers(request) ? canonicalText(request) : void 0;
  return [
    check("request hash", "The requestHash is not that of the request", () => {
      return text !== void 0 && given.sha256Hex(text) === requestHash2;
    }),
    checkEd25519("request signature", "The signature of the request is not valid", given, {
      artifact: "approval-request",
      text,
      signature
    }),
    check("request", "The request is not one that the service makes", () => isWhole(members(request))),
    check("action code", "The actionCode is not that of the action", () => {
      return actionCode(codedAction(members(request)), given.sha256Hex) === asked["actionCode"];
    }),
    ...closed === void 0 ? [] : checkApprovalRequestClose(closed, given),
    check("standing", "What it says beside the request is not what was signed", () => isAsSigned(asked))
  ];
}
function checkApprovalRequestClose(evidence, given) {
  const { signature, ...closed } = isMembers(evidence) ? evidence : {};
  return [
    checkEd25519("close signature", "The signature of its end is not valid", given, {
      artifact: "approval-request-close",
      text: canonicalText(closed),
      signature
    }),
    check("close", "Its end is not one that a request can have", () => isClose(closed))
  ];
}
function isWhole(request) {
  const { policy, quorum, createdAt, expiresAt, note } = request;
  const { name, version, contentHash } = members(policy);
  members(request["parameters"]);
  members(request["signals"]);
  return ["requestId", "requestedBy", "principalId", "capability", "target"].every(
    (key) => isText(request[key])
  ) && isText(name) && isText(version) && HASH.test(string(contentHash)) && typeof quorum === "number" && Number.isInteger(quorum) && quorum >= 1 && typeof note === "string" && instantMs(string(createdAt)) < instantMs(string(expiresAt));
}
function isClose({ closeId, requestId, requestHash: requestHash2, status, by: by2, reason, closedAt }) {
  const isReasoned = status === "DECLINED" ? isText(reason) : status === "WITHDRAWN" && reason === "";
  return isReasoned && [closeId, requestId, by2].every(isText) && HASH.test(string(requestHash2)) && !Number.isNaN(instantMs(string(closedAt)));
}
function isAsSigned({ request, requestHash: requestHash2, status, expiresAt, closed }) {
  const { requestId, requestedBy, createdAt, expiresAt: until } = members(request);
  if (string(expiresAt) !== until) return false;
  if (closed === void 0) return !CLOSED.includes(string(status));
  const end = members(closed);
  return string(end["status"]) === status && string(end["requestId"]) === requestId && string(end["requestHash"]) === requestHash2 && (status !== "WITHDRAWN" || string(end["by"]) === requestedBy) && instantMs(string(createdAt)) <= instantMs(string(end["closedAt"]));
}
function isText(value) {
  return typeof value === "string" && value !== "";
}
function codedAction(request) {
  const { name, version } = members(request["policy"]);
  return {
    capability: string(request["capability"]),
    target: string(request["target"]),
    parameters: members(request["parameters"]),
    policy: { name: string(name), version: string(version) },
    principalId: string(request["principalId"]),
    requestedBy: string(request["requestedBy"])
  };
}
var STANDING = ["status", "missing", "eligible", "approvals"];
function notesOnApprovalRequest(asked) {
  const stands = STANDING.filter((name) => Object.hasOwn(asked, name));
  if (stands.length === 0) return [];
  return [
    `Nothing signs how it stands (${stands.join(", ")}): the service says so when it is asked. Its end is signed where it was declined or withdrawn.`
  ];
}

// src/core/verifier/audit-event.ts
function checkAuditEvent(evidence, given) {
  const { event, signature } = isMembers(evidence) ? evidence : {};
  return [
    checkEd25519("event signature", "The audit event signature is not valid", given, {
      artifact: "audit-event",
      text: isMembers(event) ? canonicalText(event) : void 0,
      signature
    })
  ];
}

// src/core/log/artifacts.ts
var hashed = (kind) => (signedText, sha256Hex) => ({
  kind,
  hash: sha256Hex(signedText)
});
var stated = (kind) => (hash) => ({ kind, hash });
var artifactEntry = {
  /** Of an execution authorization's `payload`. */
  authorization: hashed("authorization"),
  /** By its `receiptHash`. */
  receipt: stated("receipt"),
  /** By its `refusalRecordHash`. */
  refusal: stated("refusal"),
  /** Of the `event`. */
  auditEvent: hashed("audit-event"),
  /** Of one state of a change: its members without `signature`, `warnings` and `diff`. */
  governanceChange: hashed("governance-change"),
  /** Of the `transition`. */
  intentTransition: hashed("intent-transition"),
  /** Of the `confirmation`. */
  providerConfirmation: hashed("provider-confirmation"),
  /** Of the `request`. */
  approvalRequest: hashed("approval-request"),
  /** Of how it was closed: the members of `closed` without `signature`. */
  approvalRequestClose: hashed("approval-request-close"),
  /** Of a signed approval's `payload`. */
  approval: hashed("approval"),
  /** By the SHA-256 of the body as it was received. */
  webhook: stated("webhook")
};
var LATE = "late-";
function isEntryOf(logged, artifact) {
  if (logged.hash !== artifact.hash) return void 0;
  if (logged.kind === artifact.kind) return { late: false };
  return logged.kind === LATE + artifact.kind ? { late: true } : void 0;
}

// src/core/approval-requests/request-problem.ts
function requestProblem(request, action) {
  const asked = request;
  if (!isMembers(asked)) return "is for a request that is not there";
  const { name, version, contentHash } = isMembers(asked["policy"]) ? asked["policy"] : {};
  if (asked["requestedBy"] !== action.requestedBy) return "was asked for by another caller";
  if (asked["principalId"] !== action.principalId) return "was asked for by another principal";
  if (asked["capability"] !== action.capability) return "was asked for another capability";
  if (asked["target"] !== action.target) return "was asked for another target";
  if (!isSame(asked["parameters"], action.parameters)) return "was asked for other parameters";
  if (name !== action.policy.name || version !== action.policy.version)
    return "was asked for under another policy";
  if (contentHash !== action.policy.contentHash) return "was asked for under another content of the policy";
  if (!hasSignals(asked["signals"], action)) return "was asked for with other signals";
  const { createdAt, expiresAt } = asked;
  const at = instantMs(action.evaluatedAt);
  if (typeof createdAt !== "string" || !(instantMs(createdAt) <= at)) return "was asked for later";
  if (typeof expiresAt !== "string" || !(at < instantMs(expiresAt)))
    return "is for a request that was expired";
  return void 0;
}
function hasSignals(asked, { signals, verified }) {
  if (!isMembers(asked)) return false;
  return Object.keys(asked).every((name) => Object.hasOwn(signals, name) && isSame(asked[name], signals[name])) && Object.keys(signals).every((name) => Object.hasOwn(asked, name) || verified.includes(name));
}
function isSame(one, other) {
  const text = canonicalText(one);
  return text !== void 0 && text === canonicalText(other);
}

// src/core/verifier/scope.ts
function scopeCovers(scope, parameters, sha256Hex) {
  if (!isMembers(scope) || !isMembers(parameters)) return false;
  if (hasExactly(scope, ["parametersHash"])) {
    const text = canonicalText(parameters);
    return text !== void 0 && sha256Hex(text) === scope["parametersHash"];
  }
  if (!hasExactly(scope, ["limits"])) return false;
  const { limits } = scope;
  return Array.isArray(limits) && limits.length > 0 && limits.every((limit) => isWithin(limit, parameters));
}
function isWithin(limit, parameters) {
  if (!isMembers(limit) || !hasExactly(limit, ["max", "path"])) return false;
  const { path, max } = limit;
  if (typeof path !== "string" || typeof max !== "number" || !Number.isFinite(max)) return false;
  const value = valueAt(parameters, path);
  return typeof value === "number" && Number.isFinite(value) && value <= max;
}
var PREFIX = "intent.parameters.";
function valueAt(parameters, path) {
  const names = (path.startsWith(PREFIX) ? path.slice(PREFIX.length) : path).split(".");
  return names.reduce(
    (value, name) => isMembers(value) && Object.hasOwn(value, name) ? value[name] : void 0,
    parameters
  );
}
function hasExactly(value, names) {
  const own = Object.keys(value);
  return own.length === names.length && names.every((name) => own.includes(name));
}

// src/core/verifier/approvals.ts
function approvalProblem(payload, action, sha256Hex) {
  const { version, approverId, issuedAt, expiresAt, scope } = payload;
  if (version !== 1 && version !== 2) return "is of an unknown version";
  if (version === 2 && (action.requestHash === void 0 || payload["requestHash"] !== action.requestHash))
    return "is for another request";
  if (payload["capability"] !== action.capability) return "is for another capability";
  if (payload["target"] !== action.target) return "is for another target";
  if (!scopeCovers(scope, action.parameters, sha256Hex)) return "does not cover the parameters";
  const at = instantMs(action.evaluatedAt);
  if (typeof issuedAt !== "string" || !(instantMs(issuedAt) <= at)) return "was not yet valid";
  if (typeof expiresAt !== "string" || !(at < instantMs(expiresAt))) return "was expired";
  if (typeof approverId !== "string" || [action.principalId, action.requestedBy].includes(approverId))
    return "is by who asked for it";
  return void 0;
}
function checkApprovals(record, given) {
  return checkSigned("approvals", "The verified signals cannot be verified", given, (crypto) => {
    const used = /* @__PURE__ */ new Set();
    for (const execution of list(record["executions"])) {
      const decision = members(members(execution)["decision"]);
      for (const [signal, verified] of Object.entries(members(decision["verifiedSignals"])))
        verifySignal({ signal, verified: members(verified), decision, record, used, crypto });
    }
    return true;
  });
}
function checkRefusedApprovals(refusal, given) {
  return checkSigned("approvals", "The approvals in the decision are not signed ones", given, (crypto) => {
    const verifiedSignals = members(members(refusal["decision"])["verifiedSignals"]);
    for (const verified of Object.values(verifiedSignals)) {
      for (const approval of approvalsOf(members(verified))) requireSignature(approval, crypto);
    }
    return true;
  });
}
function verifySignal(one) {
  const { signal, verified, decision } = one;
  const { value, by: by2 } = verified;
  const named = `signal ${JSON.stringify(signal)}`;
  const declared = members(decision["signals"]);
  const isDeclared = Object.hasOwn(declared, signal);
  if (isDeclared && canonicalize(declared[signal]) !== canonicalize(value))
    throw new Error(`${named} is verified to be another value than was declared`);
  if (!isDeclared && typeof value !== "boolean" && typeof value !== "number")
    throw new Error(`${named} was left out, and what is filled in is no value of a signal`);
  const approvals = approvalsOf(verified);
  if (by2 === "approval" && value === true) {
    if (approvals.length === 0) throw new Error(`${named} has no approval`);
    requireApprovals(approvals, named, one);
    return;
  }
  if (approvals.length > 0 || "request" in verified)
    throw new Error(`${named} has approvals that it does not claim`);
  if (by2 === "approval" && value === false) return;
  if (by2 === "history" && typeof value === "number") return;
  if (by2 === "crm-deal") {
    requireAuthorizedRead(named, one);
    return;
  }
  throw new Error(`${named} is verified by what nothing here can check`);
}
function requireApprovals(approvals, named, { verified, decision, record, used, crypto }) {
  const transaction = members(record["transaction"]);
  const { action, target, parameters } = members(transaction["intent"]);
  const { request } = verified;
  const approved = {
    capability: string(action),
    target: string(target),
    parameters,
    evaluatedAt: string(decision["evaluatedAt"]),
    principalId: string(members(transaction["authority"])["principalId"]),
    requestedBy: string(members(transaction["metadata"])["submittedBy"]),
    requestHash: request === void 0 ? void 0 : requestHash(members(request), crypto.sha256Hex)
  };
  const approvers = /* @__PURE__ */ new Set();
  for (const approval of approvals) {
    const { approverId, nonce, revokedAt } = requireSignature(approval, crypto);
    const whose = `${named}: the approval by ${JSON.stringify(approverId)}`;
    const problem = approvalProblem(members(approval["payload"]), approved, crypto.sha256Hex);
    if (problem !== void 0) throw new Error(`${whose} ${problem}`);
    if (revokedAt !== null && !(instantMs(approved.evaluatedAt) < instantMs(revokedAt)))
      throw new Error(`${whose} is by a key that was revoked`);
    if (approvers.has(approverId)) throw new Error(`${whose} is not the only one of this approver`);
    if (used.has(nonce)) throw new Error(`${whose} is used twice`);
    approvers.add(approverId);
    used.add(nonce);
  }
  if (request !== void 0) requireRequest(members(request), approvals, named, { decision, approved });
}
function requireRequest(request, approvals, named, { decision, approved }) {
  if (!approvals.some(({ payload }) => members(payload)["version"] === 2))
    throw new Error(`${named} has a request that no approval is for`);
  const { name, version } = members(decision["policy"]);
  const verifiedSignals = members(decision["verifiedSignals"]);
  const problem = requestProblem(request, {
    ...approved,
    signals: members(decision["signals"]),
    verified: Object.keys(verifiedSignals),
    policy: {
      name: string(name),
      version: string(version),
      contentHash: string(decision["policyContentHash"])
    }
  });
  if (problem !== void 0) throw new Error(`${named}: the approval ${problem}`);
  const count = Object.values(verifiedSignals).flatMap((one) => approvalsOf(members(one))).length;
  if (typeof request["quorum"] !== "number" || !(count >= request["quorum"]))
    throw new Error(`${named} has fewer approvals than its request asked for`);
}
function requireSignature({ payload, algorithm, signature, webauthn }, crypto) {
  const { approverId, keyId, nonce } = members(payload);
  const approver = string(approverId);
  if (approver === "" || approver.includes(":")) throw new Error("an approverId is not one");
  const carried = {
    algorithm: string(algorithm),
    keyId: `${approver}:${string(keyId)}`,
    value: string(signature),
    webauthn
  };
  requireHumanAlgorithm(carried.algorithm);
  if (!crypto.verifySignature("approval", canonicalize(payload), carried))
    throw new Error(`the approval by ${JSON.stringify(approver)} is not signed by that approver`);
  return {
    approverId: approver,
    nonce: string(nonce),
    revokedAt: crypto.humanKey(carried.keyId)?.revokedAt ?? null
  };
}
function requireAuthorizedRead(named, { verified, record, crypto }) {
  const authorization = members(verified["authorization"]);
  const payload = members(authorization["payload"]);
  const { businessTransactionId, authorizationId } = payload;
  if (!isAuthorizationSigned(authorization, crypto))
    throw new Error(`${named}: the authorization of the read is not signed`);
  if (string(businessTransactionId) !== record["businessTransactionId"])
    throw new Error(`${named}: the authorization of the read is of another transaction`);
  const released = members(members(record["authorization"])["payload"]);
  if (string(authorizationId) === released["authorizationId"])
    throw new Error(`${named}: the authorization of the read is that of the execution`);
}
function approvalsOf(verified) {
  return "approvals" in verified ? list(verified["approvals"]).map(members) : [];
}

// src/core/verifier/bundle-execution.ts
function readExecution(record, { sha256Hex }) {
  const id2 = string(record["businessTransactionId"]);
  const payload = members(members(record["authorization"])["payload"]);
  return {
    policy: {
      name: string(payload["policyName"]),
      version: string(payload["policyVersion"]),
      contentHash: string(payload["policyContentHash"])
    },
    authorization: {
      kind: "authorization",
      id: id2,
      entry: artifactEntry.authorization(canonicalize(payload), sha256Hex)
    },
    requests: readRequests(record, sha256Hex),
    approvals: readApprovals(record, sha256Hex),
    receipt: readReceipt(record, id2),
    confirmations: readConfirmations(record, sha256Hex)
  };
}
function readApprovals(record, sha256Hex) {
  const approvals = verifiedSignalsOf(record).flatMap(approvalsOf);
  const payloads = new Map(approvals.map(({ payload = null }) => [canonicalize(payload), members(payload)]));
  return Array.from(payloads, ([text, { approvalId, approverId, keyId, requestHash: requestHash2 }]) => ({
    requestHash: requestHash2,
    part: { kind: "approval", id: string(approvalId), entry: artifactEntry.approval(text, sha256Hex) },
    keyId: `${string(approverId)}:${string(keyId)}`
  }));
}
function readRequests(record, sha256Hex) {
  const requests = verifiedSignalsOf(record).flatMap(
    ({ request }) => request === void 0 ? [] : [members(request)]
  );
  const texts = new Map(requests.map((request) => [canonicalize(request), request]));
  return Array.from(texts, ([text, { requestId }]) => ({
    kind: "approval-request",
    id: string(requestId),
    entry: artifactEntry.approvalRequest(text, sha256Hex)
  }));
}
function verifiedSignalsOf(record) {
  return list(record["executions"]).flatMap((execution) => {
    const decision = members(members(execution)["decision"]);
    return Object.values(members(decision["verifiedSignals"])).map((one) => members(one));
  });
}
function readReceipt(record, id2) {
  const newest = list(record["receipts"]).at(-1);
  if (newest === void 0) return void 0;
  const { receiptHash, transparency } = members(newest);
  const log = isMembers(transparency) ? transparency["log"] : void 0;
  return {
    part: { kind: "receipt", id: id2, entry: artifactEntry.receipt(string(receiptHash)) },
    log: typeof log === "string" ? log : void 0
  };
}
function readConfirmations({ confirmations = [] }, sha256Hex) {
  return list(confirmations).map((one) => {
    const confirmation = members(members(one)["confirmation"]);
    return {
      kind: "confirmation",
      id: string(confirmation["confirmationId"]),
      entry: artifactEntry.providerConfirmation(canonicalize(confirmation), sha256Hex)
    };
  });
}

// src/core/log/cosignature.ts
var LABEL = "subtree/v1\n\0";
function cosignedMessage(tree) {
  const { cosigner, timeSeconds, origin, start, end, hash } = tree;
  if (start !== 0 && timeSeconds !== 0)
    throw new Error("a cosignature of a later part of the tree has no time");
  if (hash.length !== 32) throw new Error(`the hash of a cosignature has ${hash.length} bytes, not 32`);
  const names = [lengthAndName(cosigner, "cosigner"), lengthAndName(origin, "origin")];
  const message = new Uint8Array(LABEL.length + names[0].length + 8 + names[1].length + 16 + 32);
  const view = new DataView(message.buffer);
  let at = 0;
  const add = (bytes) => {
    message.set(bytes, at);
    at += bytes.length;
  };
  const addInteger = (value, what) => {
    view.setBigUint64(at, uint64(value, what));
    at += 8;
  };
  add(new TextEncoder().encode(LABEL));
  add(names[0]);
  addInteger(timeSeconds, "time");
  add(names[1]);
  addInteger(start, "start");
  addInteger(end, "end");
  add(hash);
  return message;
}
function ed25519CosignedMessage(timeSeconds, checkpointText) {
  return new TextEncoder().encode(`cosignature/v1
time ${uint64(timeSeconds, "time")}
${checkpointText}`);
}
function readTimestampedSignature(bytes) {
  if (bytes.length < 8) throw new Error("the cosignature is shorter than its time");
  const time = new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0);
  if (time > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error("the time of the cosignature is too great");
  return { timeSeconds: Number(time), signature: bytes.subarray(8) };
}
function lengthAndName(name, what) {
  const bytes = new TextEncoder().encode(name);
  if (bytes.length < 1 || bytes.length > 255)
    throw new Error(`the ${what} of a cosignature has ${bytes.length} bytes; it may have 1 to 255`);
  return Uint8Array.of(bytes.length, ...bytes);
}
function uint64(value, what) {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new Error(`the ${what} of a cosignature is not an integer of 0 or more`);
  return BigInt(value);
}

// src/core/log/hex.ts
function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// src/core/log/note.ts
var TYPES = {
  /** Over the text of the note. */
  ed25519: { byte: 1, algorithm: "ed25519", publicKeyBytes: 32, signatureBytes: 64 },
  /** Of a checkpoint, with the time (tlog-cosignature): the signature follows 8 bytes of time. */
  "ed25519-cosignature": { byte: 4, algorithm: "ed25519", publicKeyBytes: 32, signatureBytes: 8 + 64 },
  "ml-dsa-44-cosignature": {
    byte: 6,
    algorithm: "ml-dsa-44",
    publicKeyBytes: 1312,
    signatureBytes: 8 + 2420
  }
};
var MAX_LINES = 32;
var NAME = /^[^\p{White_Space}+\u0000-\u001f]+$/u;
function parseNote(note) {
  const whole = wellFormedText(note, "the note");
  const blank = whole.lastIndexOf("\n\n");
  if (blank === -1) throw new Error("the note has no blank line before its signatures");
  const signatures = whole.slice(blank + 2);
  if (!signatures.endsWith("\n"))
    throw new Error("the note does not end with a signature line and its newline");
  const lines = signatures.slice(0, -1).split("\n");
  if (lines.length > MAX_LINES)
    throw new Error(`the note has ${lines.length} signature lines; at most ${MAX_LINES} are read`);
  return { text: whole.slice(0, blank + 1), lines: lines.map(parseLine) };
}
function wellFormedText(input, what) {
  const text = typeof input === "string" ? input : decoded(input, what);
  if (!text.isWellFormed()) throw new Error(`${what} is not valid UTF-8`);
  if (/[\u0000-\u0009\u000b-\u001f]/.test(text)) throw new Error(`${what} holds a control character`);
  return text;
}
function decoded(bytes, what) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error(`${what} is not valid UTF-8`);
  }
}
var LINE = /^— ([^ ]+) ([A-Za-z0-9+/=]+)$/;
function parseLine(line, index) {
  const which = `signature line ${index + 1}`;
  const [, name = "", text = ""] = LINE.exec(line) ?? [];
  if (!NAME.test(name)) throw new Error(`${which} is not an em dash, a key name and a signature`);
  const bytes = base64(text);
  if (bytes === void 0) throw new Error(`${which} is not canonical base64`);
  if (bytes.length < 5) throw new Error(`${which} holds no more than a key id`);
  return { name, keyId: toHex(bytes.subarray(0, 4)), signature: bytes.slice(4) };
}
function verifierKey({ name, type, publicKey }, sha2562) {
  if (!NAME.test(name) || !name.isWellFormed())
    throw new Error("a key name is not empty and has no space, plus sign or control character");
  const { publicKeyBytes } = TYPES[type];
  if (publicKey.length !== publicKeyBytes)
    throw new Error(`the key '${name}' has ${publicKey.length} bytes; one for ${type} has ${publicKeyBytes}`);
  const hash = sha2562(concat(new TextEncoder().encode(`${name}
`), typedKey({ type, publicKey })));
  return { name, keyId: toHex(hash.subarray(0, 4)), type, publicKey };
}
var UnknownKeyType = class extends Error {
};
function parseVkey(text, sha2562) {
  const [, name = "", keyId = "", encoded = ""] = /^([^+]*)\+([^+]*)\+(.*)$/s.exec(text) ?? [];
  if (!NAME.test(name) || !/^[0-9a-f]{8}$/.test(keyId))
    throw new Error("a verifier key is a name, 8 hex digits and base64, with a plus sign between them");
  const bytes = base64(encoded);
  if (bytes === void 0 || bytes.length === 0)
    throw new Error(`the verifier key '${name}' is not canonical base64`);
  const type = SIGNATURE_TYPES.find((known) => TYPES[known].byte === bytes[0]);
  if (type === void 0)
    throw new UnknownKeyType(
      `the verifier key '${name}' is of type 0x${toHex(bytes.subarray(0, 1))}, which is not known`
    );
  const key = verifierKey({ name, type, publicKey: bytes.slice(1) }, sha2562);
  if (key.keyId !== keyId) throw new Error(`the verifier key '${name}' has the id ${key.keyId}, not ${keyId}`);
  return key;
}
var SIGNATURE_TYPES = Object.keys(TYPES);
function verifiedLines(note, keys, messageOf2, { verifies }) {
  const found = /* @__PURE__ */ new Map();
  for (const line of note.lines) {
    const key = keys.find(({ name, keyId }) => name === line.name && keyId === line.keyId);
    if (key === void 0) continue;
    const { algorithm, signatureBytes } = TYPES[key.type];
    const holds2 = line.signature.length === signatureBytes && verifies[algorithm]({ ...messageOf2(key, line), publicKey: key.publicKey });
    if (!holds2) throw new Error(`the signature of ${key.name} (key id ${key.keyId}) does not hold`);
    if (!found.has(key)) found.set(key, { key, line });
  }
  return [...found.values()];
}
function typedKey({ type, publicKey }) {
  return concat(Uint8Array.of(TYPES[type].byte), publicKey);
}
function concat(first, second) {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

// src/core/log/checkpoint.ts
function parseCheckpoint(text) {
  if (!text.endsWith("\n")) throw new Error("the checkpoint does not end with a newline");
  const lines = text.slice(0, -1).split("\n");
  const [origin = "", size = "", encoded = ""] = lines;
  if (lines.length < 3 || lines.includes(""))
    throw new Error("the checkpoint has no three lines, or an empty one");
  const root = base64(encoded);
  if (root?.length !== 32) throw new Error("the root hash of the checkpoint is not 32 bytes of base64");
  return { origin, size: parseInteger(size, "the tree size of the checkpoint"), root };
}
function parseInteger(text, what) {
  if (!/^(0|[1-9][0-9]*)$/.test(text))
    throw new Error(`${what} is not a decimal number without leading zeros`);
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`${what} is above 2^53 - 1`);
  return value;
}
function openCheckpoint(note, { logs, witnesses }, crypto) {
  const parsed = parseNote(note);
  const checkpoint = parseCheckpoint(parsed.text);
  const ofLog = logs.filter(({ name }) => name === checkpoint.origin);
  const signedBy = signersOf(parsed, checkpoint, ofLog, crypto);
  if (signedBy.length === 0)
    throw new Error(`the checkpoint is not signed by a trusted key of the log '${checkpoint.origin}'`);
  return { ...checkpoint, signedBy, cosignedBy: signersOf(parsed, checkpoint, witnesses, crypto) };
}
function signersOf(note, checkpoint, keys, crypto) {
  const messageOf2 = (key, { signature }) => {
    if (key.type === "ed25519") return { message: new TextEncoder().encode(note.text), signature };
    const { timeSeconds, signature: timed } = readTimestampedSignature(signature);
    const message = key.type === "ed25519-cosignature" ? ed25519CosignedMessage(timeSeconds, note.text) : cosignedMessage({ cosigner: key.name, timeSeconds, ...treeOf(checkpoint) });
    return { message, signature: timed };
  };
  return verifiedLines(note, keys, messageOf2, crypto).map(
    ({ key, line }) => key.type === "ed25519" ? { key } : { key, timeSeconds: readTimestampedSignature(line.signature).timeSeconds }
  );
}
function treeOf({ origin, size, root }) {
  return { origin, start: 0, end: size, hash: root };
}

// src/core/log/entry.ts
var streamNames = ["caller", "capability", "policy", "approver"];
var KIND = /^[a-z]+(-[a-z]+)*$/;
var HASH2 = /^[0-9a-f]{64}$/;
var STREAM = /^([a-z]+)=([0-9a-f]{16}):([1-9][0-9]{0,15})$/;
function parseEntry(text) {
  const [version, kind = "", hash = "", ...rest] = text.split(" ");
  if (version !== "countersign/1") throw new Error("the entry does not begin with countersign/1");
  if (!KIND.test(kind)) throw new Error("the kind of the entry is not in lowercase letters");
  if (!HASH2.test(hash)) throw new Error("the hash of the entry is not 64 lowercase hex digits");
  const streams = rest.map(parseStream);
  const order = streams.map(({ stream }) => streamNames.indexOf(stream));
  if (order.some((position, i) => i > 0 && position <= order[i - 1]))
    throw new Error("the streams of the entry are not each once and in order");
  return { kind, hash, streams };
}
function parseStream(text) {
  const [, name = "", tag = "", digits = ""] = STREAM.exec(text) ?? [];
  const stream = streamNames.find((known) => known === name);
  const n = Number(digits);
  if (stream === void 0 || !Number.isSafeInteger(n))
    throw new Error("a stream of the entry is not a known name, a tag of 16 hex digits and a number");
  return { stream, tag, n };
}

// src/core/log/proof.ts
var HEADER = "c2sp.org/tlog-proof@v1";
var MAX_PATH = 53;
function parseProof(file) {
  const text = wellFormedText(file, "the proof");
  const blank = text.indexOf("\n\n");
  if (blank === -1) throw new Error("the proof has no blank line before its checkpoint");
  const [header, ...lines] = text.slice(0, blank).split("\n");
  if (header !== HEADER) throw new Error(`the first line of the proof is not '${HEADER}'`);
  const extra = lines[0]?.startsWith("extra ") === true ? extraOf(lines.shift()) : void 0;
  const [, index] = /^index (.*)$/.exec(lines.shift() ?? "") ?? [];
  if (index === void 0) throw new Error("the proof has no index line where it belongs");
  if (lines.length > MAX_PATH)
    throw new Error(`the path of the proof has ${lines.length} hashes; at most ${MAX_PATH} are read`);
  return {
    index: parseInteger(index, "the index of the proof"),
    path: lines.map(hashOf),
    checkpoint: text.slice(blank + 2),
    ...extra && { extra }
  };
}
function extraOf(line) {
  const extra = base64(line.slice("extra ".length));
  if (extra === void 0 || extra.length === 0)
    throw new Error("the extra line of the proof is not canonical base64");
  return extra;
}
function hashOf(line, height) {
  const hash = base64(line);
  if (hash?.length !== 32) throw new Error(`path hash ${height} of the proof is not 32 bytes of base64`);
  return hash;
}

// src/core/log/policy.ts
function policyOfKeys(keys) {
  return { logs: keys.map((key) => ({ key })), witnesses: [], quorum: "none" };
}
var LOG_TYPES = ["ed25519", "ml-dsa-44-cosignature"];
var WITNESS_TYPES = ["ed25519-cosignature", "ml-dsa-44-cosignature"];
var MAX_OF_A_KIND = 256;
function parsePolicy(file, sha2562) {
  const logs = [];
  const witnesses = [];
  const defined = /* @__PURE__ */ new Map();
  const inGroups = /* @__PURE__ */ new Set();
  let quorum;
  const keyOf = (vkey, types, others) => {
    const key = parseVkey(utf8(vkey), sha2562);
    if (!types.includes(key.type))
      throw new Error(`a key of type ${key.type} cannot sign here; one of type ${types.join(" or ")} can`);
    const same = others.find((other) => equal(other.key.publicKey, key.publicKey));
    if (same !== void 0) throw new Error(`the public key is that of '${same.key.name}' already`);
    return key;
  };
  const lookUp = (name) => {
    const found = defined.get(name);
    if (found === void 0) throw new Error(`'${utf8(name)}' is not defined on a line before`);
    return found;
  };
  const define = (name, made) => {
    if (name === "none") throw new Error("the name 'none' is reserved");
    if (defined.has(name)) throw new Error(`'${utf8(name)}' is defined twice`);
    if (defined.size >= 2 * MAX_OF_A_KIND) throw new Error("there are too many witnesses and groups");
    defined.set(name, made);
    return made;
  };
  const keywords = {
    log([vkey, url, ...others]) {
      if (vkey === void 0 || others.length > 0) throw new Error("a log has a key and at most an URL");
      if (logs.length >= MAX_OF_A_KIND) throw new Error("there are too many logs");
      logs.push({ key: keyOf(vkey, LOG_TYPES, logs), ...urlOf(url) });
    },
    witness([name, vkey, url, ...others]) {
      if (name === void 0 || vkey === void 0 || others.length > 0)
        throw new Error("a witness has a name, a key and at most an URL");
      const key = keyOf(vkey, WITNESS_TYPES, witnesses);
      witnesses.push(define(name, { name: utf8(name), key, ...urlOf(url) }));
    },
    group([name, count, ...names]) {
      if (name === void 0 || count === void 0 || names.length === 0)
        throw new Error("a group has a name, all, any or a number, and members");
      const members2 = names.map((member) => {
        const found = lookUp(member);
        if (inGroups.has(member)) throw new Error(`'${utf8(member)}' is a member of a group already`);
        inGroups.add(member);
        return found;
      });
      define(name, { name: utf8(name), threshold: thresholdOf(utf8(count), members2.length), members: members2 });
    },
    quorum([name, ...others]) {
      if (name === void 0 || others.length > 0) throw new Error("a quorum is one name");
      if (quorum !== void 0) throw new Error("there is a quorum on a line before");
      quorum = name === "none" ? "none" : lookUp(name);
    }
  };
  for (const [i, line] of octets(file).split("\n").entries()) {
    try {
      if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(line)) throw new Error("it holds a control character");
      const [keyword, ...items] = line.split(/[ \t]+/).filter((item) => item !== "");
      if (keyword === void 0 || keyword.startsWith("#")) continue;
      if (!Object.hasOwn(keywords, keyword)) throw new Error(`'${utf8(keyword)}' is none of its keywords`);
      keywords[keyword](items);
    } catch (error) {
      throw new Error(`line ${i + 1} of the policy: ${error.message}`, { cause: error });
    }
  }
  if (quorum === void 0) throw new Error("the policy has no quorum line");
  return { logs, witnesses, quorum };
}
function thresholdOf(count, members2) {
  if (count === "all") return members2;
  const threshold = count === "any" ? 1 : parseInteger(count, "the number of members");
  if (threshold < 1 || threshold > members2)
    throw new Error(`the number of members must be from 1 to ${members2}, and is ${threshold}`);
  return threshold;
}
var urlOf = (url) => url === void 0 ? {} : { url: utf8(url) };
function octets(file) {
  const bytes = typeof file === "string" ? new TextEncoder().encode(file) : file;
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}
function utf8(item) {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(
    Uint8Array.from(item, (character) => character.charCodeAt(0))
  );
}
function equal(one, other) {
  return one.length === other.length && one.every((byte, i) => byte === other[i]);
}
function openByPolicy(note, policy, crypto) {
  const keys = {
    logs: policy.logs.map(({ key }) => key),
    witnesses: policy.witnesses.map(({ key }) => key)
  };
  const opened = openCheckpoint(note, keys, crypto);
  const cosignedBy = opened.cosignedBy.map((signer) => ({
    name: policy.witnesses.find(({ key }) => key === signer.key).name,
    ...signer
  }));
  if (!meetsQuorum(policy.quorum, opened.cosignedBy)) {
    const names = cosignedBy.map(({ name }) => `'${name}'`).join(", ");
    throw new Error(
      `the quorum '${nameOf(policy.quorum)}' is not met: the checkpoint is cosigned by ${names || "no witness"}`
    );
  }
  return { ...opened, cosignedBy };
}
var nameOf = (quorum) => quorum === "none" ? quorum : quorum.name;
function meetsQuorum(quorum, cosignedBy) {
  if (quorum === "none") return true;
  if ("key" in quorum) return cosignedBy.some(({ key }) => key === quorum.key);
  return quorum.members.filter((member) => meetsQuorum(member, cosignedBy)).length >= quorum.threshold;
}

// src/core/verifier/unusable.ts
var Unusable = class extends Error {
  constructor(message) {
    super(message);
    this.name = "Unusable";
  }
};

// src/core/verifier/parse.ts
var DEPTH_MAX = 80;
function parseEvidence(text, what) {
  try {
    return parseJsonText(text, DEPTH_MAX);
  } catch (error) {
    if (!(error instanceof MalformedJson)) throw error;
    throw new Unusable(
      `${what} is not JSON with exactly one reading (${error.message}): save it as it was answered.`
    );
  }
}

// src/core/verifier/log-trust.ts
function readLogTrust(given, sha2562) {
  if (typeof given !== "string") return described(given, sha2562);
  if (given.startsWith("{")) return described(parseEvidence(given, "The log description"), sha2562);
  try {
    return { policy: parsePolicy(given, sha2562), everyType: false };
  } catch (error) {
    throw new Unusable(
      `The log description does not begin with '{' and is no policy of logs either: ${messageOf(error)}.`
    );
  }
}
function described(description, sha2562) {
  const logs = isMembers(description) ? description["logs"] : void 0;
  if (!Array.isArray(logs))
    throw new Unusable(
      "The log description has no list `logs`: save the answer of GET /.well-known/countersign-log."
    );
  const keys = logs.flatMap((log, i) => keysOfLog(log, `Log ${i + 1}`, sha2562));
  if (keys.length === 0)
    throw new Unusable("The log description holds no key of a known type, so nothing can be verified by it.");
  return { policy: policyOfKeys(keys), everyType: true };
}
function keysOfLog(log, which, sha2562) {
  const { origin, vkeys } = isMembers(log) ? log : {};
  if (typeof origin !== "string" || !Array.isArray(vkeys))
    throw new Unusable(`${which} of the log description has no \`origin\` or no list \`vkeys\`.`);
  return vkeys.flatMap((vkey) => {
    try {
      const key = parseVkey(typeof vkey === "string" ? vkey : "", sha2562);
      if (key.name !== origin) throw new Error(`the key '${key.name}' is of another name`);
      if (key.type === "ed25519-cosignature") throw new Error("a key for cosignatures signs for no log");
      return key;
    } catch (error) {
      if (error instanceof UnknownKeyType) return [];
      throw new Unusable(`${which} of the log description has a wrong key: ${messageOf(error)}.`);
    }
  });
}
var messageOf = (error) => error instanceof Error ? error.message : String(error);
var LogKeyNotGiven = class extends Error {
  origin;
  constructor(origin, message) {
    super(message);
    this.origin = origin;
  }
};
function openTrusted(note, trust, crypto) {
  const { text, lines } = parseNote(note);
  const { origin } = parseCheckpoint(text);
  const named = JSON.stringify(origin);
  if (trust === void 0) throw new LogKeyNotGiven(origin, `no description of the log ${named} is given`);
  const { policy, everyType } = trust;
  const keys = policy.logs.map(({ key }) => key).filter(({ name }) => name === origin);
  const isGiven = (keyId) => keys.some((key) => key.keyId === keyId);
  const byUnknown = lines.some(({ name, keyId }) => name === origin && !isGiven(keyId));
  const bySome = lines.some(({ name, keyId }) => name === origin && isGiven(keyId));
  const notGiven = () => new LogKeyNotGiven(origin, `no key of the log ${named} that signed its checkpoint is given`);
  if (!bySome && (byUnknown || keys.length === 0)) throw notGiven();
  const opened = openByPolicy(note, policy, crypto);
  const signedBy = new Set(opened.signedBy.map(({ key }) => key.type));
  const unsigned = everyType ? keys.find(({ type }) => !signedBy.has(type)) : void 0;
  if (unsigned === void 0) return { ...opened, witnesses: opened.cosignedBy.map(({ name }) => name) };
  if (byUnknown) throw notGiven();
  throw new Error(`the checkpoint is not signed by the ${ALGORITHMS[unsigned.type]} key of its log`);
}
var ALGORITHMS = {
  ed25519: "Ed25519",
  "ed25519-cosignature": "Ed25519",
  "ml-dsa-44-cosignature": "ML-DSA-44"
};

// src/core/verifier/bundle-log.ts
function checkProofs(carried, due, { trust, crypto, onUsed }) {
  const places = /* @__PURE__ */ new Map();
  const notes = [];
  const proofs = Array.isArray(carried) ? readProofs(carried) : void 0;
  const checkpoint = checkOpen("log checkpoint", "The checkpoint of its proofs is not one of its log", () => {
    for (const note of checkpointsOf(proofs ?? [])) {
      const { origin, size, signedBy, cosignedBy, witnesses } = openTrusted(note, trust, crypto);
      for (const { key } of [...signedBy, ...cosignedBy]) onUsed(key);
      const seconds = signedBy.find(({ timeSeconds = 0 }) => timeSeconds > 0)?.timeSeconds;
      notes.push(noteOn({ origin, size, seconds, witnesses }));
    }
  });
  const inclusion = check("log proofs", "Its proofs do not show that it is in the log", () => {
    list(carried);
    const { parts, promises } = due();
    for (const part of parts) places.set(part, placeOf(part, proofs ?? [], crypto));
    for (const [part, log] of promises) requirePromised(part, log, places.get(part));
    if ((proofs ?? []).length > parts.length) throw new Error("a proof is of nothing that it holds");
    return true;
  });
  const order = check("log order", "The log does not show the order of its parts", () => {
    const { parts, order: pairs } = due();
    if (places.size < parts.length) throw new Error("not every part is shown to be in the log");
    for (const [first, second] of pairs) requireOrder(first, second, places);
    return true;
  });
  for (const [part, { late }] of places)
    if (late)
      notes.push(`The log has ${nameOf2(part)} as a late entry: its place does not show when it was made.`);
  return { checks: [checkpoint, ...[inclusion, order].map((one) => openAs(checkpoint, one))], notes };
}
function checkOpen(name, problem, holds2) {
  let notGiven;
  const made = check(name, problem, () => {
    try {
      holds2();
    } catch (error) {
      if (!(error instanceof LogKeyNotGiven)) throw error;
      notGiven = error;
    }
    return true;
  });
  if (notGiven === void 0) return made;
  return { name, problem: `It cannot be checked: ${notGiven.message}.`, missingLog: notGiven.origin };
}
function openAs({ problem, missingLog }, made) {
  if (made.problem !== void 0 || missingLog === void 0) return made;
  return { name: made.name, problem, missingLog };
}
function readProofs(carried) {
  const checkpoints = /* @__PURE__ */ new Map();
  return carried.map((one) => {
    const { kind, id: id2, proof: file } = isMembers(one) ? one : {};
    try {
      const proof = parseProof(string(file));
      const checkpoint = checkpoints.get(proof.checkpoint) ?? parseCheckpoint(parseNote(proof.checkpoint).text);
      checkpoints.set(proof.checkpoint, checkpoint);
      return { kind, id: id2, read: { proof, checkpoint } };
    } catch (error) {
      return { kind, id: id2, read: { problem: error instanceof Error ? error.message : String(error) } };
    }
  });
}
function checkpointsOf(proofs) {
  const notes = /* @__PURE__ */ new Map();
  for (const { read } of proofs) {
    if (!("proof" in read)) continue;
    const { origin } = read.checkpoint;
    const note = read.proof.checkpoint;
    if ((notes.get(origin) ?? note) !== note)
      throw new Error(`the proofs are under different checkpoints of the log ${JSON.stringify(origin)}`);
    notes.set(origin, note);
  }
  const [first, ...others] = notes.keys();
  if (first === void 0) throw new Error("there is no proof that can be read");
  const other = others.find((origin) => !areOfOneName(first, origin));
  if (other !== void 0)
    throw new Error(`the logs ${JSON.stringify(first)} and ${JSON.stringify(other)} are not of one name`);
  return [...notes.values()];
}
function placeOf(part, proofs, { sha256: sha2562 }) {
  const [own, another] = proofs.filter(({ kind, id: id2 }) => kind === part.kind && id2 === part.id);
  if (own === void 0) throw new Error(`there is no proof of ${nameOf2(part)}`);
  if (another !== void 0) throw new Error(`there are two proofs of ${nameOf2(part)}`);
  if ("problem" in own.read)
    throw new Error(`the proof of ${nameOf2(part)} cannot be read: ${own.read.problem}`);
  const { proof, checkpoint } = own.read;
  const { index, path, extra } = proof;
  if (extra === void 0) throw new Error(`the proof of ${nameOf2(part)} holds no entry`);
  const logged = isEntryOf(parseEntry(new TextDecoder().decode(extra)), part.entry);
  if (logged === void 0) throw new Error(`the proof of ${nameOf2(part)} is of another artifact`);
  const { origin, size, root } = checkpoint;
  const found = rootOfInclusion({ leafHash: leafHash(extra, sha2562), index, size, path }, sha2562);
  if (!found.every((byte, i) => byte === root[i]))
    throw new Error(`the proof of ${nameOf2(part)} does not lead to the root of its checkpoint`);
  return { origin, index, late: logged.late };
}
function requirePromised(part, log, { origin }) {
  const isLater = areOfOneName(log, origin) && numberOf(log) < numberOf(origin);
  if (origin !== log && !isLater)
    throw new Error(
      `${nameOf2(part)} is promised to the log ${JSON.stringify(log)} and proven to be in ${JSON.stringify(origin)}`
    );
}
function requireOrder(first, second, places) {
  const [before, after] = [places.get(first), places.get(second)];
  if (before.late || after.late) return;
  const logs = numberOf(before.origin) - numberOf(after.origin);
  const isBefore = before.origin === after.origin ? before.index < after.index : logs < 0;
  if (!isBefore) throw new Error(`${nameOf2(second)} does not stand behind ${nameOf2(first)}`);
}
var ORIGIN = /^(.+)\/log\/([1-9][0-9]{0,8})$/;
function areOfOneName(one, other) {
  const [first, second] = [ORIGIN.exec(one), ORIGIN.exec(other)];
  return first !== null && second !== null && first[1] === second[1];
}
var numberOf = (origin) => Number(ORIGIN.exec(origin)?.[2] ?? Number.NaN);
var NAMES = {
  authorization: "authorization",
  receipt: "receipt",
  "approval-request": "approval request",
  approval: "approval",
  change: "governance change",
  confirmation: "provider confirmation"
};
var nameOf2 = ({ kind, id: id2 }) => kind === "authorization" || kind === "receipt" ? `the ${NAMES[kind]}` : `the ${NAMES[kind]} ${JSON.stringify(id2)}`;
var LAST_SECOND = 253402300799;
function noteOn(log) {
  const { origin, size, seconds, witnesses } = log;
  const at = seconds === void 0 || seconds > LAST_SECOND ? "" : ` of ${new Date(seconds * 1e3).toISOString().replace(".000Z", "Z")}`;
  const cosigned = witnesses.length === 0 ? "" : `, cosigned by the witnesses ${witnesses.map((name) => JSON.stringify(name)).join(", ")}`;
  return `The log ${JSON.stringify(origin)} had ${size} entries at its checkpoint${at}${cosigned}.`;
}

// node_modules/@noble/curves/utils.js
function aarray(item, title, inner = () => {
}) {
  if (!Array.isArray(item))
    throw new TypeError(`"${title}" expected array, got type=${typeof item}`);
  for (let i = 0; i < item.length; i++)
    inner(item[i], `${title}[${i}]`);
  return item;
}
var abytes2 = (value, length, title) => abytes(value, length, title);
var anumber2 = anumber;
function astring(value, title = "") {
  if (typeof value !== "string") {
    const prefix = title && `"${title}" `;
    throw new TypeError(prefix + "expected string, got type=" + typeof value);
  }
  return value;
}
function aobject(value, title = "object") {
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new TypeError(title === "object" ? "expected valid options object" : `"${title}" expected object, got type=${typeof value}`);
  return value;
}
function afunction(value, title) {
  if (typeof value !== "function")
    throw new TypeError(`"${title}" is invalid: expected function, got ${typeof value}`);
  return value;
}
var bytesToHex2 = bytesToHex;
var concatBytes2 = (...arrays) => concatBytes(...arrays);
var hexToBytes2 = (hex) => hexToBytes(hex);
var isBytes2 = isBytes;
var randomBytes2 = (bytesLength) => randomBytes(bytesLength);
var _0n = /* @__PURE__ */ BigInt(0);
var _1n = /* @__PURE__ */ BigInt(1);
var atitle = (title) => title ? `"${title}" ` : "";
function abool2(value, title = "") {
  if (typeof value !== "boolean")
    throw new TypeError(atitle(title) + "expected boolean, got type=" + typeof value);
  return value;
}
function abignumber(n) {
  if (typeof n === "bigint") {
    if (!isPosBig(n))
      throw new RangeError("positive bigint expected, got " + n);
  } else
    anumber2(n);
  return n;
}
function asafenumber(value, title = "") {
  if (typeof value !== "number") {
    const prefix = title && `"${title}" `;
    throw new TypeError(prefix + "expected number, got type=" + typeof value);
  }
  if (!Number.isSafeInteger(value)) {
    const prefix = title && `"${title}" `;
    throw new RangeError(prefix + "expected safe integer, got " + value);
  }
}
function numberToHexUnpadded(num) {
  const hex = abignumber(num).toString(16);
  return hex.length & 1 ? "0" + hex : hex;
}
function hexToNumber(hex) {
  if (typeof hex !== "string")
    throw new TypeError("hex string expected, got " + typeof hex);
  return hex === "" ? _0n : BigInt("0x" + hex);
}
function bytesToNumberBE(bytes) {
  return hexToNumber(bytesToHex(bytes));
}
function bytesToNumberLE(bytes) {
  return hexToNumber(bytesToHex(copyBytes(abytes(bytes)).reverse()));
}
function numberToBytesBE(n, len) {
  anumber(len);
  if (len === 0)
    throw new Error("zero output length is invalid");
  n = abignumber(n);
  const expectedLen = len * 2;
  const hex = n.toString(16);
  if (hex.length > expectedLen)
    throw new RangeError("number is too large");
  return hexToBytes(hex.padStart(expectedLen, "0"));
}
function numberToBytesLE(n, len) {
  return numberToBytesBE(n, len).reverse();
}
function copyBytes(bytes) {
  return Uint8Array.from(abytes2(bytes));
}
function isPosBig(n) {
  return typeof n === "bigint" && _0n <= n;
}
function inRange(n, min, max) {
  return isPosBig(n) && isPosBig(min) && isPosBig(max) && min <= n && n < max;
}
function aInRange(title, n, min, max) {
  if (!inRange(n, min, max))
    throw new RangeError("expected valid " + title + ": " + min + " <= n < " + max + ", got " + n);
}
function bitLen(n) {
  if (n < _0n)
    throw new Error("expected non-negative bigint, got " + n);
  return n === _0n ? 0 : n.toString(2).length;
}
var bitMask = (n) => {
  asafenumber(n, "n");
  return (_1n << BigInt(n)) - _1n;
};
function createHmacDrbg(hashLen, qByteLen, hmacFn) {
  anumber(hashLen, "hashLen");
  anumber(qByteLen, "qByteLen");
  if (typeof hmacFn !== "function")
    throw new TypeError("hmacFn must be a function");
  const u8n = (len) => new Uint8Array(len);
  const NULL = Uint8Array.of();
  const byte0 = Uint8Array.of(0);
  const byte1 = Uint8Array.of(1);
  const _maxDrbgIters = 1e3;
  let v = u8n(hashLen);
  let k = u8n(hashLen);
  let i = 0;
  const reset = () => {
    v.fill(1);
    k.fill(0);
    i = 0;
  };
  const h = (...msgs) => hmacFn(k, concatBytes2(v, ...msgs));
  const reseed = (seed = NULL) => {
    k = h(byte0, seed);
    v = h();
    if (seed.length === 0)
      return;
    k = h(byte1, seed);
    v = h();
  };
  const gen = () => {
    if (i++ >= _maxDrbgIters)
      throw new Error("drbg: tried max amount of iterations");
    let len = 0;
    const out = [];
    while (len < qByteLen) {
      v = h();
      const sl = v.slice();
      out.push(sl);
      len += v.length;
    }
    return concatBytes2(...out);
  };
  const genUntil = (seed, pred) => {
    reset();
    reseed(seed);
    let res = void 0;
    while ((res = pred(gen())) === void 0)
      reseed();
    reset();
    return res;
  };
  return genUntil;
}
function validateObject(object, fields = {}, optFields = {}, title = "object") {
  aobject(object, title);
  aobject(fields, "fields");
  aobject(optFields, "optFields");
  function checkField(fieldName, expectedType, isOpt) {
    const label = title === "object" ? `param "${String(fieldName)}"` : `"${title}.${String(fieldName)}"`;
    const val = object[fieldName];
    if (!Object.hasOwn(object, fieldName) && (isOpt ? val !== void 0 : expectedType !== "function")) {
      throw new TypeError(`${label} is invalid: expected own property`);
    }
    if (isOpt && val === void 0)
      return;
    const current = typeof val;
    if (current !== expectedType || val === null)
      throw new TypeError(`${label} is invalid: expected ${expectedType}, got ${current}`);
  }
  const iter = (f, isOpt) => Object.entries(f).forEach(([k, v]) => checkField(k, v, isOpt));
  iter(fields, false);
  iter(optFields, true);
}

// node_modules/@noble/curves/abstract/modular.js
var _0n2 = /* @__PURE__ */ BigInt(0);
var _1n2 = /* @__PURE__ */ BigInt(1);
var _2n = /* @__PURE__ */ BigInt(2);
var _3n = /* @__PURE__ */ BigInt(3);
var _4n = /* @__PURE__ */ BigInt(4);
var _5n = /* @__PURE__ */ BigInt(5);
var _7n = /* @__PURE__ */ BigInt(7);
var _8n = /* @__PURE__ */ BigInt(8);
var _9n = /* @__PURE__ */ BigInt(9);
var _15n = /* @__PURE__ */ BigInt(15);
var _16n = /* @__PURE__ */ BigInt(16);
var POW_WINDOWED_MIN = /* @__PURE__ */ BigInt("0x10000000000000000");
function mod(a, b) {
  if (b <= _0n2)
    throw new Error("mod: expected positive modulus, got " + b);
  const result = a % b;
  return result >= _0n2 ? result : b + result;
}
function pow(num, power, modulo) {
  if (modulo <= _1n2)
    throw new Error("pow: expected modulus > 1, got " + modulo);
  if (typeof power !== "bigint")
    throw new TypeError("invalid exponent: expected bigint, got " + typeof power);
  if (power < _0n2)
    throw new Error("invalid exponent, negatives unsupported");
  if (power === _0n2)
    return _1n2;
  if (power === _1n2)
    return num;
  let d = num % modulo;
  if (d < _0n2)
    d += modulo;
  if (power < POW_WINDOWED_MIN) {
    let p2 = _1n2;
    while (power > _0n2) {
      if (power & _1n2)
        p2 = p2 * d % modulo;
      d = d * d % modulo;
      power >>= _1n2;
    }
    return p2;
  }
  const digits = [];
  while (power > _0n2) {
    digits.push(Number(power & _15n));
    power >>= _4n;
  }
  const table = new Array(16);
  table[0] = _1n2;
  table[1] = d;
  for (let i = 2; i < 16; i++)
    table[i] = table[i - 1] * d % modulo;
  let p = table[digits[digits.length - 1]];
  for (let w = digits.length - 2; w >= 0; w--) {
    p = p * p % modulo;
    p = p * p % modulo;
    p = p * p % modulo;
    p = p * p % modulo;
    const digit = digits[w];
    if (digit !== 0)
      p = p * table[digit] % modulo;
  }
  return p;
}
function pow2(x, power, modulo) {
  if (modulo <= _1n2)
    throw new Error("pow2: expected modulus > 1, got " + modulo);
  if (power < _0n2)
    throw new Error("pow2: expected non-negative exponent, got " + power);
  let res = x;
  while (power-- > _0n2) {
    res *= res;
    res %= modulo;
  }
  return res;
}
function invert(number, modulo) {
  if (number === _0n2)
    throw new Error("invert: expected non-zero number");
  if (modulo <= _1n2)
    throw new Error("invert: expected modulus > 1, got " + modulo);
  let a = mod(number, modulo);
  let b = modulo;
  let x = _0n2, u = _1n2;
  while (a !== _0n2) {
    const q = b / a;
    const r = b - a * q;
    const m = x - u * q;
    b = a, a = r, x = u, u = m;
  }
  const gcd = b;
  if (gcd !== _1n2)
    throw new Error("invert: does not exist");
  return mod(x, modulo);
}
function invertCt(a, prime) {
  if (prime <= _1n2)
    throw new Error("invertCt: expected prime modulus > 1, got " + prime);
  const an = mod(a, prime);
  if (an === _0n2)
    throw new Error("invertCt: expected non-zero number");
  const inverse = pow(an, prime - _2n, prime);
  if (mod(an * inverse, prime) !== _1n2)
    throw new Error("invertCt: does not exist");
  return inverse;
}
function assertIsSquare(Fp2, root, n) {
  const F2 = Fp2;
  if (!F2.eql(F2.sqr(root), n))
    throw new Error("Cannot find square root");
}
function aoddModulus(order, fnName) {
  if ((order & _1n2) === _0n2)
    throw new Error(fnName + ": expected odd modulus, got " + order);
}
function sqrt3mod4(Fp2, n) {
  const F2 = Fp2;
  const p1div4 = (F2.ORDER + _1n2) / _4n;
  const root = F2.pow(n, p1div4);
  assertIsSquare(F2, root, n);
  return root;
}
function sqrt5mod8(Fp2, n) {
  const F2 = Fp2;
  const p5div8 = (F2.ORDER - _5n) / _8n;
  const n2 = F2.mul(n, _2n);
  const v = F2.pow(n2, p5div8);
  const nv = F2.mul(n, v);
  const i = F2.mul(F2.mul(nv, _2n), v);
  const root = F2.mul(nv, F2.sub(i, F2.ONE));
  assertIsSquare(F2, root, n);
  return root;
}
function sqrt9mod16(P) {
  const Fp_ = Field(P);
  const tn = tonelliShanks(P);
  const c1 = tn(Fp_, Fp_.neg(Fp_.ONE));
  const c2 = tn(Fp_, c1);
  const c3 = tn(Fp_, Fp_.neg(c1));
  const c4 = (P + _7n) / _16n;
  return ((Fp2, n) => {
    const F2 = Fp2;
    let tv1 = F2.pow(n, c4);
    let tv2 = F2.mul(tv1, c1);
    const tv3 = F2.mul(tv1, c2);
    const tv4 = F2.mul(tv1, c3);
    const e1 = F2.eql(F2.sqr(tv2), n);
    const e2 = F2.eql(F2.sqr(tv3), n);
    tv1 = F2.cmov(tv1, tv2, e1);
    tv2 = F2.cmov(tv4, tv3, e2);
    const e3 = F2.eql(F2.sqr(tv2), n);
    const root = F2.cmov(tv1, tv2, e3);
    assertIsSquare(F2, root, n);
    return root;
  });
}
function tonelliShanks(P) {
  if (P < _3n)
    throw new Error("sqrt is not defined for small field");
  aoddModulus(P, "tonelliShanks");
  let Q2 = P - _1n2;
  let S = 0;
  while (Q2 % _2n === _0n2) {
    Q2 /= _2n;
    S++;
  }
  let Z = _2n;
  const _Fp = Field(P);
  while (FpLegendre(_Fp, Z) === 1) {
    if (Z++ > 1e3)
      throw new Error("Cannot find square root: probably non-prime P");
  }
  if (S === 1)
    return sqrt3mod4;
  let cc = _Fp.pow(Z, Q2);
  const Q1div2 = (Q2 + _1n2) / _2n;
  return function tonelliSlow(Fp2, n) {
    const F2 = Fp2;
    if (F2.is0(n))
      return n;
    if (FpLegendre(F2, n) !== 1)
      throw new Error("Cannot find square root");
    let M = S;
    let c = F2.mul(F2.ONE, cc);
    let t = F2.pow(n, Q2);
    let R = F2.pow(n, Q1div2);
    while (!F2.eql(t, F2.ONE)) {
      if (F2.is0(t))
        throw new Error("Cannot find square root: probably non-prime P");
      let i = 1;
      let t_tmp = F2.sqr(t);
      while (!F2.eql(t_tmp, F2.ONE)) {
        i++;
        t_tmp = F2.sqr(t_tmp);
        if (i === M)
          throw new Error("Cannot find square root");
      }
      const exponent = _1n2 << BigInt(M - i - 1);
      const b = F2.pow(c, exponent);
      M = i;
      c = F2.sqr(b);
      t = F2.mul(t, c);
      R = F2.mul(R, b);
    }
    return R;
  };
}
function FpSqrt(P) {
  aoddModulus(P, "Fp.sqrt");
  if (P % _4n === _3n)
    return sqrt3mod4;
  if (P % _8n === _5n)
    return sqrt5mod8;
  if (P % _16n === _9n)
    return sqrt9mod16(P);
  return tonelliShanks(P);
}
var isNegativeLE = (num, modulo) => (mod(num, modulo) & _1n2) === _1n2;
var FIELD_FIELDS = [
  "create",
  "isValid",
  "is0",
  "neg",
  "inv",
  "sqrt",
  "sqr",
  "eql",
  "add",
  "sub",
  "mul",
  "pow",
  "div",
  "addN",
  "subN",
  "mulN",
  "sqrN"
];
function validateField(field) {
  aobject(field, "field");
  if (typeof field.ORDER !== "bigint")
    throw new TypeError('param "ORDER" is invalid: expected bigint, got ' + typeof field.ORDER);
  asafenumber(field.BYTES, "BYTES");
  asafenumber(field.BITS, "BITS");
  for (const name of FIELD_FIELDS)
    afunction(field[name], "field." + name);
  if (field.BYTES < 1 || field.BITS < 1)
    throw new Error("invalid field: expected BYTES/BITS > 0");
  if (field.ORDER <= _1n2)
    throw new Error("invalid field: expected ORDER > 1, got " + field.ORDER);
  return field;
}
function FpInvertBatch(Fp2, nums, passZero = false) {
  validateField(Fp2);
  aarray(nums, "nums");
  abool2(passZero, "passZero");
  const F2 = Fp2;
  const inverted = new Array(nums.length).fill(passZero ? F2.ZERO : void 0);
  const multipliedAcc = nums.reduce((acc, num, i) => {
    if (F2.is0(num))
      return acc;
    inverted[i] = acc;
    return F2.mul(acc, num);
  }, F2.ONE);
  const invertedAcc = F2.inv(multipliedAcc);
  nums.reduceRight((acc, num, i) => {
    if (F2.is0(num))
      return acc;
    inverted[i] = F2.mul(acc, inverted[i]);
    return F2.mul(acc, num);
  }, invertedAcc);
  return inverted;
}
function FpLegendre(Fp2, n) {
  validateField(Fp2);
  const F2 = Fp2;
  aoddModulus(F2.ORDER, "FpLegendre");
  const p1mod2 = (F2.ORDER - _1n2) / _2n;
  const powered = F2.pow(n, p1mod2);
  const yes = F2.eql(powered, F2.ONE);
  const zero = F2.eql(powered, F2.ZERO);
  const no = F2.eql(powered, F2.neg(F2.ONE));
  if (!yes && !zero && !no)
    throw new Error("invalid Legendre symbol result");
  return yes ? 1 : zero ? 0 : -1;
}
function nLength(n, nBitLength) {
  if (nBitLength !== void 0)
    anumber2(nBitLength);
  if (n <= _0n2)
    throw new Error("invalid n length: expected positive n, got " + n);
  if (nBitLength !== void 0 && nBitLength < 1)
    throw new Error("invalid n length: expected positive bit length, got " + nBitLength);
  const bits = bitLen(n);
  if (nBitLength !== void 0 && nBitLength < bits)
    throw new Error(`invalid n length: expected nBitLength (${nBitLength}) >= bitLen(n) (${bits})`);
  const _nBitLength = nBitLength !== void 0 ? nBitLength : bits;
  const nByteLength = Math.ceil(_nBitLength / 8);
  return { nBitLength: _nBitLength, nByteLength };
}
var FIELD_SQRT = /* @__PURE__ */ new WeakMap();
var _Field = class {
  ORDER;
  BITS;
  BYTES;
  isLE;
  ZERO = _0n2;
  ONE = _1n2;
  _lengths;
  _mod;
  constructor(ORDER, opts = {}) {
    if (ORDER <= _1n2)
      throw new Error("invalid field: expected ORDER > 1, got " + ORDER);
    let _nbitLength = void 0;
    this.isLE = false;
    if (opts != null && typeof opts === "object") {
      if (typeof opts.BITS === "number")
        _nbitLength = opts.BITS;
      if (typeof opts.sqrt === "function")
        Object.defineProperty(this, "sqrt", { value: opts.sqrt, enumerable: true });
      if (typeof opts.isLE === "boolean")
        this.isLE = opts.isLE;
      if (opts.allowedLengths)
        this._lengths = Object.freeze(opts.allowedLengths.slice());
      if (typeof opts.modFromBytes === "boolean")
        this._mod = opts.modFromBytes;
    }
    const { nBitLength, nByteLength } = nLength(ORDER, _nbitLength);
    if (nByteLength > 2048)
      throw new Error("invalid field: expected ORDER of <= 2048 bytes");
    this.ORDER = ORDER;
    this.BITS = nBitLength;
    this.BYTES = nByteLength;
    Object.freeze(this);
  }
  create(num) {
    return mod(num, this.ORDER);
  }
  isValid(num) {
    if (typeof num !== "bigint")
      throw new TypeError("invalid field element: expected bigint, got " + typeof num);
    return _0n2 <= num && num < this.ORDER;
  }
  is0(num) {
    return num === _0n2;
  }
  // is valid and invertible
  isValidNot0(num) {
    return !this.is0(num) && this.isValid(num);
  }
  isOdd(num) {
    return (num & _1n2) === _1n2;
  }
  neg(num) {
    return mod(-num, this.ORDER);
  }
  eql(lhs, rhs) {
    return lhs === rhs;
  }
  sqr(num) {
    return mod(num * num, this.ORDER);
  }
  add(lhs, rhs) {
    return mod(lhs + rhs, this.ORDER);
  }
  sub(lhs, rhs) {
    return mod(lhs - rhs, this.ORDER);
  }
  mul(lhs, rhs) {
    return mod(lhs * rhs, this.ORDER);
  }
  pow(num, power) {
    return pow(num, power, this.ORDER);
  }
  div(lhs, rhs) {
    return mod(lhs * invert(rhs, this.ORDER), this.ORDER);
  }
  // Same as above, but doesn't normalize
  sqrN(num) {
    return num * num;
  }
  addN(lhs, rhs) {
    return lhs + rhs;
  }
  subN(lhs, rhs) {
    return lhs - rhs;
  }
  mulN(lhs, rhs) {
    return lhs * rhs;
  }
  inv(num) {
    return invert(num, this.ORDER);
  }
  sqrt(num) {
    let sqrt = FIELD_SQRT.get(this);
    if (!sqrt)
      FIELD_SQRT.set(this, sqrt = FpSqrt(this.ORDER));
    return sqrt(this, num);
  }
  toBytes(num) {
    return this.isLE ? numberToBytesLE(num, this.BYTES) : numberToBytesBE(num, this.BYTES);
  }
  fromBytes(bytes, skipValidation = false) {
    abytes2(bytes);
    const { _lengths: allowedLengths, BYTES, isLE: isLE2, ORDER, _mod: modFromBytes } = this;
    if (allowedLengths) {
      if (bytes.length < 1 || !allowedLengths.includes(bytes.length) || bytes.length > BYTES) {
        throw new Error("Field.fromBytes: expected " + allowedLengths + " bytes, got " + bytes.length);
      }
      const padded = new Uint8Array(BYTES);
      padded.set(bytes, isLE2 ? 0 : padded.length - bytes.length);
      bytes = padded;
    }
    if (bytes.length !== BYTES)
      throw new Error("Field.fromBytes: expected " + BYTES + " bytes, got " + bytes.length);
    let scalar = isLE2 ? bytesToNumberLE(bytes) : bytesToNumberBE(bytes);
    if (modFromBytes)
      scalar = mod(scalar, ORDER);
    if (!skipValidation) {
      if (!this.isValid(scalar))
        throw new Error("invalid field element: outside of range 0..ORDER");
    }
    return scalar;
  }
  // TODO: we don't need it here, move out to separate fn
  invertBatch(lst) {
    return FpInvertBatch(this, lst, true);
  }
  // We can't move this out because Fp6, Fp12 implement it
  // and it's unclear what to return in there.
  cmov(a, b, condition) {
    abool2(condition, "condition");
    return condition ? b : a;
  }
};
function Field(ORDER, opts = {}) {
  Object.freeze(_Field.prototype);
  return new _Field(ORDER, opts);
}
function getFieldBytesLength(fieldOrder) {
  if (typeof fieldOrder !== "bigint")
    throw new Error("field order must be bigint");
  if (fieldOrder <= _1n2)
    throw new Error("field order must be greater than 1");
  const bitLength = bitLen(fieldOrder - _1n2);
  return Math.ceil(bitLength / 8);
}
function getMinHashLength(fieldOrder) {
  const length = getFieldBytesLength(fieldOrder);
  return length + Math.ceil(length / 2);
}
function mapHashToField(key, fieldOrder, isLE2 = false) {
  abytes2(key);
  const len = key.length;
  const fieldLen = getFieldBytesLength(fieldOrder);
  const minLen = Math.max(getMinHashLength(fieldOrder), 16);
  if (len < minLen || len > 1024)
    throw new Error("expected " + minLen + "-1024 bytes of input, got " + len);
  const num = isLE2 ? bytesToNumberLE(key) : bytesToNumberBE(key);
  const reduced = mod(num, fieldOrder - _1n2) + _1n2;
  return isLE2 ? numberToBytesLE(reduced, fieldLen) : numberToBytesBE(reduced, fieldLen);
}

// node_modules/@noble/curves/abstract/curve.js
var _0n3 = /* @__PURE__ */ BigInt(0);
var _1n3 = /* @__PURE__ */ BigInt(1);
var _4n2 = /* @__PURE__ */ BigInt(4);
var BLIND_BYTES = 16;
var BLIND_BITS = 128;
var FW_WINDOW = 5;
var TABLE_BYTES_MAX = /* @__PURE__ */ (() => 2 ** 31)();
function validatePointCons(Point) {
  const pc = Point;
  if (typeof pc !== "function")
    throw new TypeError('"Point" expected constructor, got type=' + typeof Point);
  afunction(pc.fromAffine, "Point.fromAffine");
  afunction(pc.fromBytes, "Point.fromBytes");
  afunction(pc.fromHex, "Point.fromHex");
  aobject(pc.BASE, "Point.BASE");
  aobject(pc.ZERO, "Point.ZERO");
  validateField(pc.Fp);
  validateField(pc.Fn);
}
function normalizeZ(c, points) {
  validatePointCons(c);
  validateMSMPoints(points, c);
  const invertedZs = FpInvertBatch(c.Fp, points.map((p) => p.Z));
  return points.map((p, i) => c.fromAffine(p.toAffine(invertedZs[i])));
}
function validateW(W, bits, min = 1) {
  if (!Number.isSafeInteger(W) || W < min || W > bits)
    throw new Error("invalid window size, expected [" + min + ".." + bits + "], got W=" + W);
}
function validateTableBytes(numPoints, fpBytes) {
  const bytes = numPoints * (4 * fpBytes + 128);
  if (bytes > TABLE_BYTES_MAX)
    throw new Error("invalid window size: table would need ~" + Math.ceil(bytes / 2 ** 20) + " MiB, max " + TABLE_BYTES_MAX / 2 ** 20 + " MiB");
}
function probeRandomBytes(randomBytes4, length) {
  if (randomBytes4 === void 0)
    return void 0;
  afunction(randomBytes4, "randomBytes");
  try {
    const probe = randomBytes4(length);
    if (!isBytes2(probe) || probe.length !== length)
      return void 0;
  } catch {
    return void 0;
  }
  return randomBytes4;
}
function validateMSMPoints(points, c) {
  aarray(points, "points");
  points.forEach((p, i) => {
    if (!(p instanceof c))
      throw new Error("invalid point at index " + i);
  });
}
function validateMSMScalars(scalars, field, maxScalar) {
  if (!Array.isArray(scalars))
    throw new Error("array of scalars expected");
  scalars.forEach((s, i) => {
    const ok = maxScalar === void 0 ? field.isValid(s) : isPosBig(s) && s < maxScalar;
    if (!ok)
      throw new Error("invalid scalar at index " + i);
  });
}
var pointWindowSizes = /* @__PURE__ */ new WeakMap();
function getWindowSize(P) {
  return pointWindowSizes.get(P) || 1;
}
function oddMultiples(p, size) {
  const dbl = p.double();
  const t = [p];
  for (let j = 1; j < size; j++)
    t.push(t[j - 1].add(dbl));
  return t;
}
function wnafDigits(n, W) {
  const size = 2 ** W;
  const half = size / 2;
  const mask = BigInt(size - 1);
  const d = [];
  while (n > _0n3) {
    let w = 0;
    if (n & _1n3) {
      w = Number(n & mask);
      if (w >= half)
        w -= size;
      n -= BigInt(w);
    }
    d.push(w);
    n >>= _1n3;
  }
  return d;
}
function signedWindowDigits(n, W, windows) {
  const size = 2 ** W;
  const half = size / 2;
  const mask = BigInt(size - 1);
  const shiftBy = BigInt(W);
  const d = [];
  for (let w = 0; w < windows; w++) {
    let v = Number(n & mask);
    n >>= shiftBy;
    if (v > half) {
      v -= size;
      n += _1n3;
    }
    d.push(v);
  }
  if (n !== _0n3)
    throw new Error("invalid wnaf");
  return d;
}
function wnafWalk(zero, tables, digits) {
  let max = 0;
  for (const d of digits)
    max = Math.max(max, d.length);
  let acc = zero;
  for (let bit = max - 1; bit >= 0; bit--) {
    if (bit !== max - 1)
      acc = acc.double();
    for (let i = 0; i < digits.length; i++) {
      const w = digits[i][bit];
      if (w) {
        const item = tables[i][Math.abs(w) - 1 >> 1];
        acc = acc.add(w < 0 ? item.negate() : item);
      }
    }
  }
  return acc;
}
var ScalarMultiplier = class {
  Point;
  BASE;
  ZERO;
  randomBytes;
  wnafPrecomputes = /* @__PURE__ */ new WeakMap();
  baseCanBeBlinded;
  bits;
  // Parametrized with a given Point class (not individual point)
  constructor(Point, randomBytes4) {
    validatePointCons(Point);
    this.randomBytes = probeRandomBytes(randomBytes4, BLIND_BYTES);
    this.Point = Point;
    this.BASE = Point.BASE;
    this.ZERO = Point.ZERO;
    this.bits = Point.Fn.BITS;
  }
  /**
   * Creates a signed fixed-window wNAF precomputation table: for every window w, the
   * multiples `[1..2^(W−1)]⋅2^(w⋅W)⋅P`, flattened. All doublings are baked into the table,
   * so cached multiplication is additions-only. `windows = ceil(bits/W) + 1`: the extra
   * window absorbs the final carry of signed-digit recoding.
   * For a 256-bit curve and W=6, the table is 44⋅32 = 1408 points.
   * @param point - Point instance
   * @param W - window size
   * @param bits - scalar bitlength the table must cover
   */
  buildWnafTable(point, W, bits) {
    const windows = Math.ceil(bits / W) + 1;
    const half = 2 ** (W - 1);
    const comp = [];
    let base = point;
    for (let w = 0; w < windows; w++) {
      let acc = base;
      for (let i = 0; i < half; i++) {
        comp.push(acc);
        acc = acc.add(base);
      }
      base = comp[comp.length - 1].double();
    }
    return { W, bits, windows, comp };
  }
  /**
   * Implements ec multiplication using precomputed signed fixed-window wNAF tables.
   * Constant-time: fixed window count with one table addition per window — zero digits feed
   * the fake accumulator — and no doublings; the lookup scans the whole window slice.
   * Scalar bounds are validated by the public entry points ({@link ScalarMultiplier.mulCT},
   * {@link ScalarMultiplier.mulCTBlinded}, {@link ScalarMultiplier.mulUnsafe});
   * signedWindowDigits throws if `n` exceeds the table.
   * @returns real and fake (for const-time) points
   */
  wnafCachedCT(precomputes, n) {
    const { W, windows, comp } = precomputes;
    const half = 2 ** (W - 1);
    const digits = signedWindowDigits(n, W, windows);
    let p = this.ZERO;
    let f = this.BASE;
    for (let w = 0; w < windows; w++) {
      const digit = digits[w];
      const start = w * half;
      const idx = Math.abs(digit) - 1;
      let sel = comp[start];
      for (let i = 1; i < half; i++)
        sel = i === idx ? comp[start + i] : sel;
      const neg = sel.negate();
      if (digit === 0)
        f = f.add(comp[start]);
      else
        p = p.add(digit < 0 ? neg : sel);
    }
    return { p, f };
  }
  // Cache key is point identity plus (W, bits); at most two entries exist per point (public-width
  // `Fn.BITS` and blinded `Fn.BITS + BLIND_BITS`). Callers must not reuse the same point with
  // incompatible `transform(...)` layouts and expect a separate cache entry.
  getWnafPrecomputes(W, point, bits, transform) {
    let entries = this.wnafPrecomputes.get(point);
    let comp = entries?.find((entry) => entry.W === W && entry.bits === bits);
    if (!comp) {
      comp = this.buildWnafTable(point, W, bits);
      if (typeof transform === "function")
        comp = { ...comp, comp: transform(comp.comp) };
      if (!entries) {
        entries = [];
        this.wnafPrecomputes.set(point, entries);
      }
      entries.push(comp);
    }
    return comp;
  }
  assertPoint(point) {
    if (!(point instanceof this.Point))
      throw new TypeError('"point" expected Point instance, got type=' + typeof point);
  }
  // Shared prologue of the constant-time entry points. Rejects scalar 0: in key/signature-style
  // callers a zero scalar means broken upstream plumbing, and concrete Points already reject it.
  // Uses inRange instead of Fn.isValidNot0: validateField() only certifies the arithmetic subset.
  validateMulInput(point, scalar) {
    this.assertPoint(point);
    if (!inRange(scalar, _1n3, this.Point.Fn.ORDER))
      throw new Error("invalid scalar");
  }
  // Constant-time dispatch shared by mulCT / mulCTBlinded. Un-precomputed points (W===1, e.g.
  // ECDH peer keys) skip building a throwaway cached table in favor of a small fixed-window
  // multiply. `n` must be < 2^bits.
  runCT(point, n, bits, transform) {
    const W = getWindowSize(point);
    if (W === 1)
      return this.fixedWindowCT(point, n, bits);
    return this.wnafCachedCT(this.getWnafPrecomputes(W, point, bits, transform), n);
  }
  mulCT(point, scalar, transform) {
    this.validateMulInput(point, scalar);
    return this.runCT(point, scalar, this.bits, transform);
  }
  mulCTBlinded(point, scalar, transform) {
    this.validateMulInput(point, scalar);
    if (this.randomBytes === void 0)
      throw new Error("randomBytes is required for scalar blinding");
    const bits = this.Point.Fn.BITS + BLIND_BITS;
    const blind = this.randomBytes(BLIND_BYTES);
    if (!isBytes2(blind) || blind.length !== BLIND_BYTES)
      throw new Error("randomBytes returned invalid byte array");
    blind[0] = blind[0] & 63 | 128;
    const n = scalar + bytesToNumberBE(blind) * this.Point.Fn.ORDER;
    return this.runCT(point, n, bits, transform);
  }
  /**
   * Constant-time multiplication `n*point` for an un-precomputed point, via a small fixed window.
   * A cached wNAF table only pays off when reused; a flat 2^FW_WINDOW table (`size-1` adds) is
   * far cheaper to build for a single use. The point-operation sequence is independent of `n`:
   * build the table, then per window exactly FW_WINDOW doublings, a data-oblivious scan over
   * every table entry, and one addition (adds the identity when the window digit is 0 — never
   * skipped).
   *
   * `n` must be `< 2^bits`. Assumes complete addition (adding the identity costs the same as any
   * add), which holds for the Weierstrass/Edwards point types used here. The table is left in
   * projective form (no normalizeZ): normalizing this small a table costs more than the
   * mixed-add savings it would buy for a single multiply.
   * @returns real point `p`; `f` duplicates it only to match {@link wnafCachedCT}'s return shape
   * (this path needs no fake accumulator — its op-count is already scalar-independent).
   */
  fixedWindowCT(point, n, bits) {
    const W = FW_WINDOW;
    const size = 1 << W;
    const mask = bitMask(W);
    const table = new Array(size);
    table[0] = this.ZERO;
    for (let i = 1; i < size; i++)
      table[i] = table[i - 1].add(point);
    const windows = Math.ceil(bits / W);
    let acc = this.ZERO;
    for (let window = windows - 1; window >= 0; window--) {
      if (window !== windows - 1)
        for (let d = 0; d < W; d++)
          acc = acc.double();
      const digit = Number(n >> BigInt(window * W) & mask);
      let sel = table[0];
      for (let i = 1; i < size; i++)
        sel = i === digit ? table[i] : sel;
      acc = acc.add(sel);
    }
    return { p: acc, f: acc };
  }
  shouldBlind(point, cofactor) {
    if (this.randomBytes === void 0)
      return false;
    if (cofactor === _1n3)
      return true;
    if (point !== this.BASE)
      return false;
    if (this.baseCanBeBlinded === void 0)
      this.baseCanBeBlinded = this.mulUnsafe(this.BASE, this.Point.Fn.ORDER).is0();
    return this.baseCanBeBlinded;
  }
  mulSecret(point, scalar, cofactor, transform) {
    return this.shouldBlind(point, cofactor) ? this.mulCTBlinded(point, scalar, transform) : this.mulCT(point, scalar, transform);
  }
  mulUnsafe(point, scalar, transform) {
    this.assertPoint(point);
    if (!isPosBig(scalar))
      throw new Error("invalid scalar");
    const W = getWindowSize(point);
    if (W === 1 || scalar >= this.Point.Fn.ORDER)
      return mulAddUnsafe(this.Point, [point], [scalar], true);
    const precomputes = this.getWnafPrecomputes(W, point, this.bits, transform);
    return this.wnafCachedCT(precomputes, scalar).p;
  }
  // Remembers the window size used for precomputed wNAF multiplication of the given point
  // and drops any previously built tables. Usually only the base point is precomputed.
  // W=1 resets the point to the un-precomputed (table-less) paths.
  // W is additionally capped so tables stay under ~2 GiB ({@link TABLE_BYTES_MAX}).
  setWindowSize(point, W) {
    this.assertPoint(point);
    validateW(W, this.bits);
    const windows = Math.ceil((this.bits + BLIND_BITS) / W) + 1;
    validateTableBytes(windows * 2 ** (W - 1), this.Point.Fp.BYTES);
    pointWindowSizes.set(point, W);
    this.wnafPrecomputes.delete(point);
  }
  // True when a window size is set: tables themselves are built lazily on first multiply.
  hasWindowSize(point) {
    return getWindowSize(point) !== 1;
  }
};
function mulAddUnsafe(c, points, scalars, allowOversized = false) {
  validatePointCons(c);
  validateMSMPoints(points, c);
  abool2(allowOversized, "allowOversized");
  validateMSMScalars(scalars, c.Fn, allowOversized ? c.Fn.ORDER ** _4n2 : void 0);
  if (points.length !== scalars.length)
    throw new Error("arrays of points and scalars must have equal length");
  const tables = points.map((p) => oddMultiples(p, 4));
  const digits = scalars.map((n) => wnafDigits(n, 4));
  return wnafWalk(c.ZERO, tables, digits);
}
function createField(order, field, isLE2) {
  if (field) {
    if (field.ORDER !== order)
      throw new Error("Field.ORDER must match order: Fp == p, Fn == n");
    validateField(field);
    return field;
  } else {
    return Field(order, { isLE: isLE2 });
  }
}
function createCurveFields(type, CURVE, curveOpts = {}, FpFnLE) {
  if (type !== "weierstrass" && type !== "edwards")
    throw new Error('expected curve type "weierstrass" or "edwards"');
  if (FpFnLE === void 0)
    FpFnLE = type === "edwards";
  if (!CURVE || typeof CURVE !== "object")
    throw new Error(`expected valid ${type} CURVE object`);
  validateObject(curveOpts);
  for (const p of ["p", "n", "h"]) {
    const val = CURVE[p];
    if (!(isPosBig(val) && val !== _0n3))
      throw new Error(`CURVE.${p} must be positive bigint`);
  }
  const Fp2 = createField(CURVE.p, curveOpts.Fp, FpFnLE);
  const Fn = createField(CURVE.n, curveOpts.Fn, FpFnLE);
  const _b = type === "weierstrass" ? "b" : "d";
  const params = ["Gx", "Gy", "a", _b];
  for (const p of params) {
    if (!Fp2.isValid(CURVE[p]))
      throw new Error(`CURVE.${p} must be valid field element of CURVE.Fp`);
  }
  CURVE = Object.freeze(Object.assign({}, CURVE));
  return { CURVE, Fp: Fp2, Fn };
}
function createKeygen(randomSecretKey, getPublicKey) {
  return function keygen(seed) {
    const secretKey = randomSecretKey(seed);
    return { secretKey, publicKey: getPublicKey(secretKey) };
  };
}

// node_modules/@noble/curves/abstract/edwards.js
var _0n4 = /* @__PURE__ */ BigInt(0);
var _1n4 = /* @__PURE__ */ BigInt(1);
var _2n2 = /* @__PURE__ */ BigInt(2);
var _4n3 = /* @__PURE__ */ BigInt(4);
var _8n2 = /* @__PURE__ */ BigInt(8);
function isEdValidXY(Fp2, CURVE, x, y) {
  const x2 = Fp2.sqr(x);
  const y2 = Fp2.sqr(y);
  const left = Fp2.add(Fp2.mul(CURVE.a, x2), y2);
  const right = Fp2.add(Fp2.ONE, Fp2.mul(CURVE.d, Fp2.mul(x2, y2)));
  return Fp2.eql(left, right);
}
function edwards(params, extraOpts = {}) {
  validateObject(extraOpts, {}, {}, "extraOpts");
  const opts = extraOpts;
  const validated = createCurveFields("edwards", params, opts, opts.FpFnLE);
  const { Fp: Fp2, Fn } = validated;
  let CURVE = validated.CURVE;
  const { h: cofactor } = CURVE;
  if (FpLegendre(Fp2, CURVE.a) !== 1)
    throw new Error("edwards: CURVE.a must be a square in Fp for complete addition formulas");
  if (FpLegendre(Fp2, CURVE.d) !== -1)
    throw new Error("edwards: CURVE.d must be a non-square in Fp for complete addition formulas");
  validateObject(opts, {}, { uvRatio: "function", randomBytes: "function" });
  const randomBytes4 = opts.randomBytes === void 0 ? randomBytes2 : opts.randomBytes;
  const MASK = _2n2 << BigInt(Fp2.BYTES * 8) - _1n4;
  function isOdd(n) {
    if (!Fp2.isOdd)
      throw new Error("Field does not have .isOdd()");
    return Fp2.isOdd(n);
  }
  const uvRatio2 = opts.uvRatio === void 0 ? (u, v) => {
    try {
      return { isValid: true, value: Fp2.sqrt(Fp2.div(u, v)) };
    } catch (e) {
      return { isValid: false, value: _0n4 };
    }
  } : opts.uvRatio;
  if (!isEdValidXY(Fp2, CURVE, CURVE.Gx, CURVE.Gy))
    throw new Error("bad curve params: generator point");
  const mulA = Fp2.eql(CURVE.a, Fp2.neg(Fp2.ONE)) ? (x) => Fp2.neg(x) : Fp2.eql(CURVE.a, Fp2.ONE) ? (x) => x : (x) => Fp2.mul(CURVE.a, x);
  function acoord(title, n, banZero = false) {
    const min = banZero ? _1n4 : _0n4;
    aInRange("coordinate " + title, n, min, MASK);
    return n;
  }
  function aedpoint(other) {
    if (!(other instanceof Point))
      throw new Error("EdwardsPoint expected");
  }
  class Point {
    static BASE = new Point(CURVE.Gx, CURVE.Gy, Fp2.ONE, Fp2.mul(CURVE.Gx, CURVE.Gy));
    static ZERO = new Point(Fp2.ZERO, Fp2.ONE, Fp2.ONE, Fp2.ZERO);
    static Fp = Fp2;
    static Fn = Fn;
    X;
    Y;
    Z;
    T;
    constructor(X, Y, Z, T) {
      this.X = acoord("x", X);
      this.Y = acoord("y", Y);
      this.Z = acoord("z", Z, true);
      this.T = acoord("t", T);
      Object.freeze(this);
    }
    static CURVE() {
      return CURVE;
    }
    /**
     * Create one extended Edwards point from affine coordinates.
     * Does NOT validate that the point is on-curve or torsion-free.
     * Use `.assertValidity()` on adversarial inputs.
     */
    static fromAffine(p) {
      if (p instanceof Point)
        throw new Error("extended point not allowed");
      const { x, y } = p || {};
      acoord("x", x);
      acoord("y", y);
      return new Point(x, y, Fp2.ONE, Fp2.mul(x, y));
    }
    // Uses algo from RFC8032 5.1.3.
    static fromBytes(bytes, zip215 = false) {
      const len = Fp2.BYTES;
      const { a, d } = CURVE;
      bytes = copyBytes(abytes2(bytes, len, "point"));
      abool2(zip215, "zip215");
      const normed = copyBytes(bytes);
      const lastByte = bytes[len - 1];
      normed[len - 1] = lastByte & ~128;
      const y = bytesToNumberLE(normed);
      const max = zip215 ? MASK : Fp2.ORDER;
      aInRange("point.y", y, _0n4, max);
      const y2 = Fp2.sqr(y);
      const u = Fp2.sub(y2, Fp2.ONE);
      const v = Fp2.sub(Fp2.mulN(d, y2), a);
      let { isValid, value: x } = uvRatio2(u, v);
      if (!isValid)
        throw new Error("bad point: invalid y coordinate");
      const isXOdd = isOdd(x);
      const isLastByteOdd = (lastByte & 128) !== 0;
      if (!zip215 && Fp2.is0(x) && isLastByteOdd)
        throw new Error("bad point: x=0 and x_0=1");
      if (isLastByteOdd !== isXOdd)
        x = Fp2.neg(x);
      return Point.fromAffine({ x, y });
    }
    static fromHex(hex, zip215 = false) {
      return Point.fromBytes(hexToBytes2(hex), zip215);
    }
    get x() {
      return this.toAffine().x;
    }
    get y() {
      return this.toAffine().y;
    }
    precompute(windowSize = 6, isLazy = true) {
      wnaf.setWindowSize(this, windowSize);
      if (!isLazy)
        this.multiply(_2n2);
      return this;
    }
    // Useful in fromAffine() - not for fromBytes(), which always created valid points.
    assertValidity() {
      const p = this;
      const { a, d } = CURVE;
      if (p.is0())
        throw new Error("bad point: ZERO");
      const { X, Y, Z, T } = p;
      const X2 = Fp2.sqr(X);
      const Y2 = Fp2.sqr(Y);
      const Z2 = Fp2.sqr(Z);
      const Z4 = Fp2.sqr(Z2);
      const aX2 = Fp2.mul(X2, a);
      const left = Fp2.mul(Fp2.add(aX2, Y2), Z2);
      const right = Fp2.add(Z4, Fp2.mul(d, Fp2.mul(X2, Y2)));
      if (!Fp2.eql(left, right))
        throw new Error("bad point: equation left != right (1)");
      const XY = Fp2.mul(X, Y);
      const ZT = Fp2.mul(Z, T);
      if (!Fp2.eql(XY, ZT))
        throw new Error("bad point: equation left != right (2)");
    }
    // Compare one point to another.
    equals(other) {
      aedpoint(other);
      const { X: X1, Y: Y1, Z: Z1 } = this;
      const { X: X2, Y: Y2, Z: Z2 } = other;
      const X1Z2 = Fp2.mul(X1, Z2);
      const X2Z1 = Fp2.mul(X2, Z1);
      const Y1Z2 = Fp2.mul(Y1, Z2);
      const Y2Z1 = Fp2.mul(Y2, Z1);
      return Fp2.eql(X1Z2, X2Z1) && Fp2.eql(Y1Z2, Y2Z1);
    }
    is0() {
      return this.equals(Point.ZERO);
    }
    negate() {
      return new Point(Fp2.neg(this.X), this.Y, this.Z, Fp2.neg(this.T));
    }
    // Fast algo for doubling Extended Point.
    // https://hyperelliptic.org/EFD/g1p/auto-twisted-extended.html#doubling-dbl-2008-hwcd
    // Cost: 4M + 4S + 1*a + 6add + 1*2.
    double() {
      const { X: X1, Y: Y1, Z: Z1 } = this;
      const A = Fp2.sqr(X1);
      const B2 = Fp2.sqr(Y1);
      const C = Fp2.mul(Fp2.sqr(Z1), _2n2);
      const D2 = mulA(A);
      const x1y1 = Fp2.addN(X1, Y1);
      const E = Fp2.sub(Fp2.subN(Fp2.sqr(x1y1), A), B2);
      const G = Fp2.addN(D2, B2);
      const F2 = Fp2.subN(G, C);
      const H = Fp2.subN(D2, B2);
      const X3 = Fp2.mul(E, F2);
      const Y3 = Fp2.mul(G, H);
      const T3 = Fp2.mul(E, H);
      const Z3 = Fp2.mul(F2, G);
      return new Point(X3, Y3, Z3, T3);
    }
    // Fast algo for adding 2 Extended Points.
    // https://hyperelliptic.org/EFD/g1p/auto-twisted-extended.html#addition-add-2008-hwcd
    // Cost: 9M + 1*a + 1*d + 7add.
    add(other) {
      aedpoint(other);
      const { d } = CURVE;
      const { X: X1, Y: Y1, Z: Z1, T: T1 } = this;
      const { X: X2, Y: Y2, Z: Z2, T: T2 } = other;
      const A = Fp2.mul(X1, X2);
      const B2 = Fp2.mul(Y1, Y2);
      const C = Fp2.mul(Fp2.mulN(T1, d), T2);
      const D2 = Fp2.mul(Z1, Z2);
      const E = Fp2.sub(Fp2.subN(Fp2.mulN(Fp2.addN(X1, Y1), Fp2.addN(X2, Y2)), A), B2);
      const F2 = Fp2.subN(D2, C);
      const G = Fp2.addN(D2, C);
      const H = Fp2.sub(B2, mulA(A));
      const X3 = Fp2.mul(E, F2);
      const Y3 = Fp2.mul(G, H);
      const T3 = Fp2.mul(E, H);
      const Z3 = Fp2.mul(F2, G);
      return new Point(X3, Y3, Z3, T3);
    }
    subtract(other) {
      aedpoint(other);
      return this.add(other.negate());
    }
    // Constant-time multiplication.
    multiply(scalar) {
      if (!Fn.isValidNot0(scalar))
        throw new RangeError("invalid scalar: expected 1 <= sc < curve.n");
      const { p, f } = wnaf.mulSecret(this, scalar, cofactor, normalize);
      return normalize([p, f])[0];
    }
    // Non-constant-time multiplication. Uses double-and-add algorithm.
    // It's faster, but should only be used when you don't care about
    // an exposed private key e.g. sig verification.
    // Keeps the same subgroup-scalar contract: 0 is allowed for public-scalar callers, but
    // n and larger values are rejected instead of being reduced mod n to the identity point.
    multiplyUnsafe(scalar) {
      if (!Fn.isValid(scalar))
        throw new RangeError("invalid scalar: expected 0 <= sc < curve.n");
      if (scalar === _0n4)
        return Point.ZERO;
      if (this.is0() || scalar === _1n4)
        return this;
      return wnaf.mulUnsafe(this, scalar, normalize);
    }
    // Checks if point is of small order.
    // If you add something to small order point, you will have "dirty"
    // point with torsion component.
    // Clears cofactor and checks if the result is 0.
    isSmallOrder() {
      return this.clearCofactor().is0();
    }
    // Multiplies point by curve order and checks if the result is 0.
    // Returns `false` is the point is dirty.
    isTorsionFree() {
      return wnaf.mulUnsafe(this, CURVE.n).is0();
    }
    // Converts Extended point to default (x, y) coordinates.
    // Can accept precomputed Z^-1 - for example, from invertBatch.
    toAffine(invertedZ) {
      const p = this;
      let iz = invertedZ;
      if (iz != null && typeof iz !== "bigint")
        throw new TypeError('"invertedZ" expected bigint, got type=' + typeof iz);
      const { X, Y, Z } = p;
      const is0 = p.is0();
      if (iz == null)
        iz = is0 ? Fp2.create(_8n2) : Fp2.inv(Z);
      const x = Fp2.mul(X, iz);
      const y = Fp2.mul(Y, iz);
      const zz = Fp2.mul(Z, iz);
      if (is0)
        return { x: Fp2.ZERO, y: Fp2.ONE };
      if (!Fp2.eql(zz, Fp2.ONE))
        throw new Error("invZ was invalid");
      return { x, y };
    }
    clearCofactor() {
      if (cofactor === _1n4)
        return this;
      if (cofactor === _2n2)
        return this.double();
      if (cofactor === _4n3)
        return this.double().double();
      if (cofactor === _8n2)
        return this.double().double().double();
      return this.multiplyUnsafe(cofactor);
    }
    toBytes() {
      const { x, y } = this.toAffine();
      const bytes = Fp2.toBytes(y);
      bytes[bytes.length - 1] |= isOdd(x) ? 128 : 0;
      return bytes;
    }
    toHex() {
      return bytesToHex2(this.toBytes());
    }
    toString() {
      return `<Point ${this.is0() ? "ZERO" : this.toHex()}>`;
    }
  }
  const normalize = (points) => normalizeZ(Point, points);
  const wnaf = new ScalarMultiplier(Point, randomBytes4);
  if (wnaf.bits >= 6)
    Point.BASE.precompute(6);
  Object.freeze(Point.prototype);
  Object.freeze(Point);
  return Point;
}
function eddsa(Point, cHash, eddsaOpts = {}) {
  validatePointCons(Point);
  if (typeof cHash !== "function")
    throw new Error('"hash" function param is required');
  const hash = cHash;
  const opts = eddsaOpts;
  validateObject(opts, {}, {
    adjustScalarBytes: "function",
    randomBytes: "function",
    domain: "function",
    prehash: "function",
    zip215: "boolean",
    mapToCurve: "function",
    toMontgomery: "function",
    toMontgomerySecret: "function"
  });
  const { prehash } = opts;
  const { BASE, Fp: Fp2, Fn } = Point;
  const outputLen = hash.outputLen;
  const expectedLen = 2 * Fp2.BYTES;
  if (outputLen !== void 0) {
    asafenumber(outputLen, "hash.outputLen");
    if (outputLen !== expectedLen)
      throw new Error(`hash.outputLen must be ${expectedLen}, got ${outputLen}`);
  }
  const randomBytes4 = opts.randomBytes === void 0 ? randomBytes2 : opts.randomBytes;
  const toMontgomery2 = opts.toMontgomery;
  const toMontgomerySecret2 = opts.toMontgomerySecret;
  const adjustScalarBytes2 = opts.adjustScalarBytes === void 0 ? (bytes) => bytes : opts.adjustScalarBytes;
  const domain = opts.domain === void 0 ? (data, ctx, phflag) => {
    abool2(phflag, "phflag");
    if (ctx.length || phflag)
      throw new Error("Contexts/pre-hash are not supported");
    return data;
  } : opts.domain;
  function modN_LE(hash2) {
    return Fn.create(bytesToNumberLE(hash2));
  }
  function getPrivateScalar(key) {
    const len = lengths.secretKey;
    abytes2(key, lengths.secretKey, "secretKey");
    const hashed2 = abytes2(hash(key), 2 * len, "hashedSecretKey");
    const head = adjustScalarBytes2(hashed2.slice(0, len));
    const prefix = hashed2.slice(len, 2 * len);
    const scalar = modN_LE(head);
    return { head, prefix, scalar };
  }
  function getExtendedPublicKey(secretKey) {
    const { head, prefix, scalar } = getPrivateScalar(secretKey);
    const point = BASE.multiply(scalar);
    const pointBytes = point.toBytes();
    return { head, prefix, scalar, point, pointBytes };
  }
  function getPublicKey(secretKey) {
    return getExtendedPublicKey(secretKey).pointBytes;
  }
  function hashDomainToScalar(context = Uint8Array.of(), ...msgs) {
    const msg = concatBytes2(...msgs);
    return modN_LE(hash(domain(msg, abytes2(context, void 0, "context"), !!prehash)));
  }
  function sign(msg, secretKey, options = {}) {
    validateObject(options, {}, {}, "options");
    msg = copyBytes(abytes2(msg, void 0, "message"));
    if (prehash)
      msg = prehash(msg);
    const { prefix, scalar, pointBytes } = getExtendedPublicKey(secretKey);
    const r = hashDomainToScalar(options.context, prefix, msg);
    const R = BASE.multiply(r).toBytes();
    const k = hashDomainToScalar(options.context, R, pointBytes, msg);
    const s = Fn.create(r + k * scalar);
    if (!Fn.isValid(s))
      throw new Error("sign failed: invalid s");
    const rs = concatBytes2(R, Fn.toBytes(s));
    return abytes2(rs, lengths.signature, "result");
  }
  const verifyOpts = {
    zip215: opts.zip215
  };
  function verify(sig, msg, publicKey, options = verifyOpts) {
    validateObject(options);
    const { context } = options;
    const zip215 = options.zip215 === void 0 ? !!verifyOpts.zip215 : options.zip215;
    const len = lengths.signature;
    sig = abytes2(sig, len, "signature");
    msg = abytes2(msg, void 0, "message");
    publicKey = abytes2(publicKey, lengths.publicKey, "publicKey");
    if (zip215 !== void 0)
      abool2(zip215, "zip215");
    if (prehash)
      msg = prehash(msg);
    const mid = len / 2;
    const r = sig.subarray(0, mid);
    const s = bytesToNumberLE(sig.subarray(mid, len));
    let A, R, SB;
    try {
      A = Point.fromBytes(publicKey, zip215);
      R = Point.fromBytes(r, zip215);
      SB = BASE.multiplyUnsafe(s);
    } catch (error) {
      return false;
    }
    if (!zip215 && A.isSmallOrder())
      return false;
    const k = hashDomainToScalar(context, r, publicKey, msg);
    const RkA = R.add(A.multiplyUnsafe(k));
    return RkA.subtract(SB).clearCofactor().is0();
  }
  const _size = Fp2.BYTES;
  const lengths = {
    secretKey: _size,
    publicKey: _size,
    signature: 2 * _size,
    seed: _size
  };
  function randomSecretKey(seed) {
    seed = seed === void 0 ? randomBytes4(lengths.seed) : seed;
    return abytes2(seed, lengths.seed, "seed");
  }
  function isValidSecretKey(key) {
    return isBytes2(key) && key.length === lengths.secretKey;
  }
  function isValidPublicKey(key, zip215) {
    try {
      return !!Point.fromBytes(key, zip215 === void 0 ? verifyOpts.zip215 : zip215);
    } catch (error) {
      return false;
    }
  }
  const utils = {
    getExtendedPublicKey,
    randomSecretKey,
    isValidSecretKey,
    isValidPublicKey,
    /** Converts an Edwards public key to a companion Montgomery public key. */
    toMontgomery(publicKey) {
      if (toMontgomery2 === void 0)
        throw new Error("Montgomery conversion is not supported for this curve");
      return toMontgomery2(Point.fromBytes(publicKey));
    },
    toMontgomerySecret(secretKey) {
      if (toMontgomerySecret2 === void 0)
        throw new Error("Montgomery conversion is not supported for this curve");
      return toMontgomerySecret2(secretKey);
    }
  };
  Object.freeze(lengths);
  Object.freeze(utils);
  return Object.freeze({
    keygen: createKeygen(randomSecretKey, getPublicKey),
    getPublicKey,
    sign,
    verify,
    utils,
    Point,
    lengths
  });
}

// node_modules/@noble/curves/abstract/fft.js
function checkU32(n, title = "n") {
  if (typeof n !== "number")
    throw new TypeError(`wrong u32 integer "${title}": expected number, got type=${typeof n}`);
  if (!Number.isSafeInteger(n) || n < 0 || n > 4294967295)
    throw new RangeError(`wrong u32 integer "${title}": expected 0..4294967295, got ${n}`);
  return n;
}
function isPowerOfTwo(x) {
  checkU32(x, "x");
  return (x & x - 1) === 0 && x !== 0;
}
function reverseBits(n, bits) {
  checkU32(n);
  if (typeof bits !== "number")
    throw new TypeError('"bits" expected number, got type=' + typeof bits);
  if (!Number.isSafeInteger(bits) || bits < 0 || bits > 32)
    throw new Error(`expected integer 0 <= bits <= 32, got ${bits}`);
  let reversed = 0;
  for (let i = 0; i < bits; i++, n >>>= 1)
    reversed = reversed << 1 | n & 1;
  return reversed >>> 0;
}
function log2(n) {
  checkU32(n);
  return 31 - Math.clz32(n);
}
function bitReversalInplace(values) {
  if (!values || typeof values !== "object" || typeof values.length !== "number")
    throw new TypeError('"values" expected array-like, got type=' + typeof values);
  const n = values.length;
  if (!isPowerOfTwo(n))
    throw new Error("expected positive power-of-two length, got " + n);
  const bits = log2(n);
  for (let i = 0; i < n; i++) {
    const j = reverseBits(i, bits);
    if (i < j) {
      const tmp = values[i];
      values[i] = values[j];
      values[j] = tmp;
    }
  }
  return values;
}
var FFTCore = (F2, coreOpts) => {
  validateObject(coreOpts, { N: "number", roots: "object", dit: "boolean" }, { invertButterflies: "boolean", skipStages: "number", brp: "boolean" }, "coreOpts");
  const { N: N2, roots, dit, invertButterflies = false, skipStages = 0, brp = true } = coreOpts;
  checkU32(N2, "coreOpts.N");
  const bits = log2(N2);
  if (!isPowerOfTwo(N2))
    throw new Error("FFT: Polynomial size should be power of two");
  checkU32(skipStages, "coreOpts.skipStages");
  const maxSkipStages = bits === 0 ? 0 : bits - 1;
  if (skipStages > maxSkipStages)
    throw new Error(`FFT: wrong skipStages: expected 0 <= skipStages <= ${maxSkipStages}`);
  if (roots.length !== N2)
    throw new Error(`FFT: wrong roots length: expected ${N2}, got ${roots.length}`);
  const isDit = dit !== invertButterflies;
  return (values) => {
    if (values.length !== N2)
      throw new Error("FFT: wrong Polynomial length");
    if (dit && brp)
      bitReversalInplace(values);
    for (let i = 0, g = 1; i < bits - skipStages; i++) {
      const s = dit ? i + 1 + skipStages : bits - i;
      const m = 1 << s;
      const m2 = m >> 1;
      const stride = N2 >> s;
      for (let k = 0; k < N2; k += m) {
        for (let j = 0, grp = g++; j < m2; j++) {
          const rootPos = invertButterflies ? dit ? N2 - grp : grp : j * stride;
          const i0 = k + j;
          const i1 = k + j + m2;
          const omega = roots[rootPos];
          const b = values[i1];
          const a = values[i0];
          if (isDit) {
            const t = F2.mul(b, omega);
            values[i0] = F2.add(a, t);
            values[i1] = F2.sub(a, t);
          } else if (invertButterflies) {
            values[i0] = F2.add(b, a);
            values[i1] = F2.mul(F2.sub(b, a), omega);
          } else {
            values[i0] = F2.add(a, b);
            values[i1] = F2.mul(F2.sub(a, b), omega);
          }
        }
      }
    }
    if (!dit && brp)
      bitReversalInplace(values);
    return values;
  };
};

// node_modules/@noble/curves/ed25519.js
var _1n5 = /* @__PURE__ */ BigInt(1);
var _2n3 = /* @__PURE__ */ BigInt(2);
var _5n2 = /* @__PURE__ */ BigInt(5);
var _8n3 = /* @__PURE__ */ BigInt(8);
var ed25519_CURVE_p = /* @__PURE__ */ BigInt("0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed");
var ed25519_CURVE = /* @__PURE__ */ (() => ({
  p: ed25519_CURVE_p,
  n: BigInt("0x1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed"),
  h: _8n3,
  a: BigInt("0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffec"),
  d: BigInt("0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3"),
  Gx: BigInt("0x216936d3cd6e53fec0a4e231fdd6dc5c692cc7609525a7b2c9562d608f25d51a"),
  Gy: BigInt("0x6666666666666666666666666666666666666666666666666666666666666658")
}))();
function ed25519_pow_2_252_3(x) {
  const _10n = BigInt(10), _20n = BigInt(20), _40n = BigInt(40), _80n = BigInt(80);
  const P = ed25519_CURVE_p;
  const x2 = x * x % P;
  const b2 = x2 * x % P;
  const b4 = pow2(b2, _2n3, P) * b2 % P;
  const b5 = pow2(b4, _1n5, P) * x % P;
  const b10 = pow2(b5, _5n2, P) * b5 % P;
  const b20 = pow2(b10, _10n, P) * b10 % P;
  const b40 = pow2(b20, _20n, P) * b20 % P;
  const b80 = pow2(b40, _40n, P) * b40 % P;
  const b160 = pow2(b80, _80n, P) * b80 % P;
  const b240 = pow2(b160, _80n, P) * b80 % P;
  const b250 = pow2(b240, _10n, P) * b10 % P;
  const pow_p_5_8 = pow2(b250, _2n3, P) * x % P;
  return { pow_p_5_8, b2 };
}
function adjustScalarBytes(bytes) {
  bytes[0] &= 248;
  bytes[31] &= 127;
  bytes[31] |= 64;
  return bytes;
}
var ED25519_SQRT_M1 = /* @__PURE__ */ BigInt("19681161376707505956807079304988542015446066515923890162744021073123829784752");
function uvRatio(u, v) {
  const P = ed25519_CURVE_p;
  const v3 = mod(v * v * v, P);
  const v7 = mod(v3 * v3 * v, P);
  const pow3 = ed25519_pow_2_252_3(u * v7).pow_p_5_8;
  let x = mod(u * v3 * pow3, P);
  const vx2 = mod(v * x * x, P);
  const root1 = x;
  const root2 = mod(x * ED25519_SQRT_M1, P);
  const useRoot1 = vx2 === u;
  const useRoot2 = vx2 === mod(-u, P);
  const noRoot = vx2 === mod(-u * ED25519_SQRT_M1, P);
  if (useRoot1)
    x = root1;
  if (useRoot2 || noRoot)
    x = root2;
  if (isNegativeLE(x, P))
    x = mod(-x, P);
  return { isValid: useRoot1 || useRoot2, value: x };
}
var ed25519_Point = /* @__PURE__ */ edwards(ed25519_CURVE, { uvRatio });
var Fp = /* @__PURE__ */ (() => ed25519_Point.Fp)();
function toMontgomery(point) {
  const { y } = point;
  return Fp.toBytes(Fp.div(_1n5 + y, _1n5 - y));
}
function toMontgomerySecret(secretKey) {
  const size = ed25519_Point.Fp.BYTES;
  abytes(secretKey, size);
  return adjustScalarBytes(sha512(secretKey.subarray(0, size))).subarray(0, size);
}
function ed(opts) {
  return eddsa(ed25519_Point, sha512, Object.assign({ adjustScalarBytes, toMontgomery, toMontgomerySecret, zip215: true }, opts));
}
var ed25519 = /* @__PURE__ */ ed({});

// node_modules/@noble/hashes/hmac.js
var _HMAC = class {
  oHash;
  iHash;
  blockLen;
  outputLen;
  canXOF = false;
  finished = false;
  destroyed = false;
  constructor(hash, key) {
    ahash(hash);
    abytes(key, void 0, "key");
    this.iHash = hash.create();
    if (typeof this.iHash.update !== "function")
      throw new Error("expected Hash instance");
    this.blockLen = this.iHash.blockLen;
    this.outputLen = this.iHash.outputLen;
    const blockLen = this.blockLen;
    const pad = new Uint8Array(blockLen);
    pad.set(key.length > blockLen ? hash.create().update(key).digest() : key);
    for (let i = 0; i < pad.length; i++)
      pad[i] ^= 54;
    this.iHash.update(pad);
    this.oHash = hash.create();
    for (let i = 0; i < pad.length; i++)
      pad[i] ^= 54 ^ 92;
    this.oHash.update(pad);
    clean(pad);
  }
  update(buf) {
    aexists(this);
    this.iHash.update(buf);
    return this;
  }
  digestInto(out) {
    aexists(this);
    aoutput(out, this);
    this.finished = true;
    const buf = out.subarray(0, this.outputLen);
    this.iHash.digestInto(buf);
    this.oHash.update(buf);
    this.oHash.digestInto(buf);
    this.destroy();
  }
  digest() {
    const out = new Uint8Array(this.oHash.outputLen);
    this.digestInto(out);
    return out;
  }
  _cloneInto(to) {
    to ||= Object.create(Object.getPrototypeOf(this), {});
    const { oHash, iHash, finished, destroyed, blockLen, outputLen, canXOF } = this;
    to = to;
    to.finished = finished;
    to.destroyed = destroyed;
    to.blockLen = blockLen;
    to.outputLen = outputLen;
    to.canXOF = canXOF;
    to.oHash = oHash._cloneInto(to.oHash);
    to.iHash = iHash._cloneInto(to.iHash);
    return to;
  }
  clone() {
    return this._cloneInto();
  }
  destroy() {
    this.destroyed = true;
    this.oHash.destroy();
    this.iHash.destroy();
  }
};
var hmac = /* @__PURE__ */ (() => {
  const hmac_ = ((hash, key, message) => new _HMAC(hash, key).update(message).digest());
  hmac_.create = (hash, key) => new _HMAC(hash, key);
  return hmac_;
})();

// node_modules/@noble/curves/abstract/der.js
var _0n5 = /* @__PURE__ */ BigInt(0);
var DERErr = class extends Error {
  constructor(m = "") {
    super(m);
  }
};
var _DER = {
  // asn.1 DER encoding utils
  Err: DERErr,
  // Basic building block is TLV (Tag-Length-Value)
  _tlv: {
    encode: (tag, data) => {
      const { Err: E } = _DER;
      asafenumber(tag, "tag");
      if (tag < 0 || tag > 255)
        throw new E("tlv.encode: wrong tag");
      astring(data, "data");
      if (data.length & 1)
        throw new E("tlv.encode: unpadded data");
      const dataLen = data.length / 2;
      const len = numberToHexUnpadded(dataLen);
      if (len.length / 2 & 128)
        throw new E("tlv.encode: long form length too big");
      const lenLen = dataLen > 127 ? numberToHexUnpadded(len.length / 2 | 128) : "";
      const t = numberToHexUnpadded(tag);
      return t + lenLen + len + data;
    },
    // v - value, l - left bytes (unparsed)
    decode(tag, data) {
      const { Err: E } = _DER;
      data = abytes2(data, void 0, "DER data");
      let pos = 0;
      if (tag < 0 || tag > 255)
        throw new E("tlv.decode: wrong tag");
      if (data.length < 2 || data[pos++] !== tag)
        throw new E("tlv.decode: wrong tlv");
      const first = data[pos++];
      const isLong = !!(first & 128);
      let length = 0;
      if (!isLong)
        length = first;
      else {
        const lenLen = first & 127;
        if (!lenLen)
          throw new E("tlv.decode(long): indefinite length not supported");
        if (lenLen > 4)
          throw new E("tlv.decode(long): byte length is too big");
        const lengthBytes = data.subarray(pos, pos + lenLen);
        if (lengthBytes.length !== lenLen)
          throw new E("tlv.decode: length bytes not complete");
        if (lengthBytes[0] === 0)
          throw new E("tlv.decode(long): zero leftmost byte");
        for (const b of lengthBytes)
          length = length << 8 | b;
        pos += lenLen;
        if (length < 128)
          throw new E("tlv.decode(long): not minimal encoding");
      }
      const v = data.subarray(pos, pos + length);
      if (v.length !== length)
        throw new E("tlv.decode: wrong value length");
      return { v, l: data.subarray(pos + length) };
    }
  },
  // https://crypto.stackexchange.com/a/57734 Leftmost bit of first byte is 'negative' flag,
  // since we always use positive integers here. It must always be empty:
  // - add zero byte if exists
  // - if next byte doesn't have a flag, leading zero is not allowed (minimal encoding)
  _int: {
    encode(num) {
      const { Err: E } = _DER;
      abignumber(num);
      if (num < _0n5)
        throw new E("integer: negative integers are not allowed");
      let hex = numberToHexUnpadded(num);
      if (Number.parseInt(hex[0], 16) & 8)
        hex = "00" + hex;
      if (hex.length & 1)
        throw new E("unexpected DER parsing assertion: unpadded hex");
      return hex;
    },
    decode(data) {
      const { Err: E } = _DER;
      if (data.length < 1)
        throw new E("invalid signature integer: empty");
      if (data[0] & 128)
        throw new E("invalid signature integer: negative");
      if (data.length > 1 && data[0] === 0 && !(data[1] & 128))
        throw new E("invalid signature integer: unnecessary leading zero");
      return bytesToNumberBE(data);
    }
  },
  toSig(bytes, maxScalarBytes) {
    const { Err: E, _int: int, _tlv: tlv } = _DER;
    if (maxScalarBytes !== void 0) {
      asafenumber(maxScalarBytes, "maxScalarBytes");
      if (maxScalarBytes < 1)
        throw new E("invalid signature: maxScalarBytes must be positive");
    }
    const data = abytes2(bytes, void 0, "signature");
    const { v: seqBytes, l: seqLeftBytes } = tlv.decode(48, data);
    if (seqLeftBytes.length)
      throw new E("invalid signature: left bytes after parsing");
    const { v: rBytes, l: rLeftBytes } = tlv.decode(2, seqBytes);
    const { v: sBytes, l: sLeftBytes } = tlv.decode(2, rLeftBytes);
    if (sLeftBytes.length)
      throw new E("invalid signature: left bytes after parsing");
    if (maxScalarBytes !== void 0 && (rBytes.length > maxScalarBytes || sBytes.length > maxScalarBytes))
      throw new E("invalid signature: integer too large");
    return { r: int.decode(rBytes), s: int.decode(sBytes) };
  },
  hexFromSig(sig) {
    const { _tlv: tlv, _int: int } = _DER;
    validateObject(sig, { r: "bigint", s: "bigint" }, {}, "sig");
    const rs = tlv.encode(2, int.encode(sig.r));
    const ss = tlv.encode(2, int.encode(sig.s));
    const seq = rs + ss;
    return tlv.encode(48, seq);
  }
};
var DER = /* @__PURE__ */ (() => {
  Object.freeze(_DER._tlv);
  Object.freeze(_DER._int);
  return Object.freeze(_DER);
})();

// node_modules/@noble/curves/abstract/weierstrass.js
var divNearest = (num, den) => (num + (num >= 0 ? den : -den) / _2n4) / den;
function _splitEndoScalar(k, basis, n) {
  aInRange("scalar", k, _0n6, n);
  const [[a1, b1], [a2, b2]] = basis;
  const c1 = divNearest(b2 * k, n);
  const c2 = divNearest(-b1 * k, n);
  let k1 = k - c1 * a1 - c2 * a2;
  let k2 = -c1 * b1 - c2 * b2;
  const k1neg = k1 < _0n6;
  const k2neg = k2 < _0n6;
  if (k1neg)
    k1 = -k1;
  if (k2neg)
    k2 = -k2;
  const MAX_NUM = bitMask(Math.ceil(bitLen(n) / 2)) + _1n6;
  if (k1 < _0n6 || k1 >= MAX_NUM || k2 < _0n6 || k2 >= MAX_NUM) {
    throw new Error("splitScalar (endomorphism): failed for k");
  }
  return { k1neg, k1, k2neg, k2 };
}
function validateSigFormat(format) {
  if (!["compact", "recovered", "der"].includes(format))
    throw new Error('Signature format must be "compact", "recovered", or "der"');
  return format;
}
function validateSigOpts(opts, def) {
  validateObject(opts);
  const optsn = {};
  for (let optName of Object.keys(def)) {
    optsn[optName] = opts[optName] === void 0 ? def[optName] : opts[optName];
  }
  abool2(optsn.lowS, "lowS");
  abool2(optsn.prehash, "prehash");
  if (optsn.format !== void 0)
    validateSigFormat(optsn.format);
  return optsn;
}
var _0n6 = /* @__PURE__ */ BigInt(0);
var _1n6 = /* @__PURE__ */ BigInt(1);
var _2n4 = /* @__PURE__ */ BigInt(2);
var _3n2 = /* @__PURE__ */ BigInt(3);
var _4n4 = /* @__PURE__ */ BigInt(4);
function weierstrass(params, extraOpts = {}) {
  const validated = createCurveFields("weierstrass", params, extraOpts);
  const Fp2 = validated.Fp;
  const Fn = validated.Fn;
  let CURVE = validated.CURVE;
  const { h: cofactor, n: CURVE_ORDER } = CURVE;
  validateObject(extraOpts, {}, {
    allowInfinityPoint: "boolean",
    clearCofactor: "function",
    isTorsionFree: "function",
    fromBytes: "function",
    toBytes: "function",
    endo: "object",
    randomBytes: "function"
  });
  const { endo: endoOpts, allowInfinityPoint, clearCofactor, isTorsionFree, fromBytes, toBytes } = extraOpts;
  const randomBytes4 = extraOpts.randomBytes === void 0 ? randomBytes2 : extraOpts.randomBytes;
  if (endoOpts) {
    if (!Fp2.is0(CURVE.a) || typeof endoOpts.beta !== "bigint" || !Array.isArray(endoOpts.basises)) {
      throw new Error('invalid endo: expected "beta": bigint and "basises": array');
    }
  }
  const endo = endoOpts ? {
    beta: endoOpts.beta,
    basises: endoOpts.basises.map((basis) => [...basis])
  } : void 0;
  const lengths = getWLengths(Fp2, Fn);
  function assertCompressionIsSupported() {
    if (!Fp2.isOdd)
      throw new Error("compression is not supported: Field does not have .isOdd()");
  }
  function pointToBytes(_c, point, isCompressed) {
    if (point.is0()) {
      if (!allowInfinityPoint)
        throw new Error("bad point: ZERO");
      return Uint8Array.of(0);
    }
    const { x, y } = point.toAffine();
    const bx = Fp2.toBytes(x);
    abool2(isCompressed, "isCompressed");
    if (isCompressed) {
      assertCompressionIsSupported();
      const hasEvenY = !Fp2.isOdd(y);
      return concatBytes2(pprefix(hasEvenY), bx);
    } else {
      return concatBytes2(Uint8Array.of(4), bx, Fp2.toBytes(y));
    }
  }
  function pointFromBytes(bytes) {
    abytes2(bytes, void 0, "Point");
    const { publicKey: comp, publicKeyUncompressed: uncomp } = lengths;
    const length = bytes.length;
    const head = bytes[0];
    const tail = bytes.subarray(1);
    if (allowInfinityPoint && length === 1 && head === 0)
      return { x: Fp2.ZERO, y: Fp2.ZERO };
    if (length === comp && (head === 2 || head === 3)) {
      const x = Fp2.fromBytes(tail);
      if (!Fp2.isValid(x))
        throw new Error("bad point: is not on curve, wrong x");
      const y2 = weierstrassEquation(x);
      let y;
      try {
        y = Fp2.sqrt(y2);
      } catch (sqrtError) {
        const err = sqrtError instanceof Error ? ": " + sqrtError.message : "";
        throw new Error("bad point: is not on curve, sqrt error" + err);
      }
      assertCompressionIsSupported();
      const evenY = Fp2.isOdd(y);
      const evenH = (head & 1) === 1;
      if (evenH !== evenY)
        y = Fp2.neg(y);
      return { x, y };
    } else if (length === uncomp && head === 4) {
      const L = Fp2.BYTES;
      const x = Fp2.fromBytes(tail.subarray(0, L));
      const y = Fp2.fromBytes(tail.subarray(L, L * 2));
      if (!isValidXY(x, y))
        throw new Error("bad point: is not on curve");
      return { x, y };
    } else {
      throw new Error(`bad point: got length ${length}, expected compressed=${comp} or uncompressed=${uncomp}`);
    }
  }
  const encodePoint = toBytes === void 0 ? pointToBytes : toBytes;
  const decodePoint = fromBytes === void 0 ? pointFromBytes : fromBytes;
  const b3 = Fp2.mul(CURVE.b, _3n2);
  const mulA = Fp2.is0(CURVE.a) ? (_) => Fp2.ZERO : (x) => Fp2.mul(CURVE.a, x);
  function weierstrassEquation(x) {
    const x2 = Fp2.sqr(x);
    const x3 = Fp2.mul(x2, x);
    return Fp2.add(Fp2.add(x3, Fp2.mul(x, CURVE.a)), CURVE.b);
  }
  function isValidXY(x, y) {
    const left = Fp2.sqr(y);
    const right = weierstrassEquation(x);
    return Fp2.eql(left, right);
  }
  if (!isValidXY(CURVE.Gx, CURVE.Gy))
    throw new Error("bad curve params: generator point");
  const _4a3 = Fp2.mul(Fp2.pow(CURVE.a, _3n2), _4n4);
  const _27b2 = Fp2.mul(Fp2.sqr(CURVE.b), BigInt(27));
  if (Fp2.is0(Fp2.add(_4a3, _27b2)))
    throw new Error("bad curve params: a or b");
  function acoord(title, n, banZero = false) {
    if (!Fp2.isValid(n) || banZero && Fp2.is0(n))
      throw new Error(`bad point coordinate ${title}`);
    return typeof n === "object" && n !== null ? Fp2.create(n) : n;
  }
  function aprjpoint(other) {
    if (!(other instanceof Point))
      throw new Error("Weierstrass Point expected");
  }
  function splitEndoScalarN(k) {
    if (!endo || !endo.basises)
      throw new Error("no endo");
    return _splitEndoScalar(k, endo.basises, Fn.ORDER);
  }
  function pushWnafPair(points, scalars, p, k) {
    if (!Fn.isValid(k))
      throw new RangeError("invalid scalar: out of range");
    if (endo) {
      const { k1neg, k1, k2neg, k2 } = splitEndoScalarN(k);
      const psi = new Point(Fp2.mul(p.X, endo.beta), p.Y, p.Z);
      points.push(k1neg ? p.negate() : p, k2neg ? psi.negate() : psi);
      scalars.push(k1, k2);
    } else {
      points.push(p);
      scalars.push(k);
    }
  }
  const validityCache = /* @__PURE__ */ new WeakSet();
  class Point {
    static BASE = new Point(CURVE.Gx, CURVE.Gy, Fp2.ONE);
    static ZERO = new Point(Fp2.ZERO, Fp2.ONE, Fp2.ZERO);
    static Fp = Fp2;
    static Fn = Fn;
    X;
    Y;
    Z;
    /** Does NOT validate if the point is valid. Use `.assertValidity()`. */
    constructor(X, Y, Z) {
      this.X = acoord("x", X);
      this.Y = acoord("y", Y, true);
      this.Z = acoord("z", Z);
      Object.freeze(this);
    }
    static CURVE() {
      return CURVE;
    }
    /** Does NOT validate if the point is valid. Use `.assertValidity()`. */
    static fromAffine(p) {
      const { x, y } = p || {};
      if (!p || !Fp2.isValid(x) || !Fp2.isValid(y))
        throw new Error("invalid affine point");
      if (p instanceof Point)
        throw new Error("projective point not allowed");
      if (Fp2.is0(x) && Fp2.is0(y))
        return Point.ZERO;
      return new Point(x, y, Fp2.ONE);
    }
    static fromBytes(bytes) {
      const P = Point.fromAffine(decodePoint(abytes2(bytes, void 0, "point")));
      P.assertValidity();
      return P;
    }
    static fromHex(hex) {
      return Point.fromBytes(hexToBytes2(hex));
    }
    get x() {
      return this.toAffine().x;
    }
    get y() {
      return this.toAffine().y;
    }
    /**
     * @param isLazy - true will defer table computation until the first multiplication
     */
    precompute(windowSize = 6, isLazy = true) {
      wnaf.setWindowSize(this, windowSize);
      if (!isLazy)
        this.multiply(_3n2);
      return this;
    }
    // TODO: return `this`
    /** A point on curve is valid if it conforms to equation. */
    assertValidity() {
      const p = this;
      if (p.is0()) {
        if (allowInfinityPoint && Fp2.is0(p.X) && Fp2.eql(p.Y, Fp2.ONE) && Fp2.is0(p.Z))
          return;
        throw new Error("bad point: ZERO");
      }
      if (validityCache.has(p))
        return;
      const { x, y } = p.toAffine();
      if (!Fp2.isValid(x) || !Fp2.isValid(y))
        throw new Error("bad point: x or y not field elements");
      if (!isValidXY(x, y))
        throw new Error("bad point: equation left != right");
      if (!p.isTorsionFree())
        throw new Error("bad point: not in prime-order subgroup");
      validityCache.add(p);
    }
    hasEvenY() {
      const { y } = this.toAffine();
      if (!Fp2.isOdd)
        throw new Error("Field doesn't support isOdd");
      return !Fp2.isOdd(y);
    }
    /** Compare one point to another. */
    equals(other) {
      aprjpoint(other);
      const { X: X1, Y: Y1, Z: Z1 } = this;
      const { X: X2, Y: Y2, Z: Z2 } = other;
      const U1 = Fp2.eql(Fp2.mul(X1, Z2), Fp2.mul(X2, Z1));
      const U2 = Fp2.eql(Fp2.mul(Y1, Z2), Fp2.mul(Y2, Z1));
      return U1 && U2;
    }
    /** Flips point to one corresponding to (x, -y) in Affine coordinates. */
    negate() {
      return new Point(this.X, Fp2.neg(this.Y), this.Z);
    }
    // Renes-Costello-Batina exception-free doubling formula.
    // There is 30% faster Jacobian formula, but it is not complete.
    // https://eprint.iacr.org/2015/1060, algorithm 3
    // Cost: 8M + 3S + 3*a + 2*b3 + 15add.
    double() {
      const { X: X1, Y: Y1, Z: Z1 } = this;
      let X3 = Fp2.ZERO, Y3 = Fp2.ZERO, Z3 = Fp2.ZERO;
      let t0 = Fp2.mul(X1, X1);
      let t1 = Fp2.mul(Y1, Y1);
      let t2 = Fp2.mul(Z1, Z1);
      let t3 = Fp2.mul(X1, Y1);
      t3 = Fp2.add(t3, t3);
      Z3 = Fp2.mul(X1, Z1);
      Z3 = Fp2.add(Z3, Z3);
      X3 = mulA(Z3);
      Y3 = Fp2.mul(b3, t2);
      Y3 = Fp2.add(X3, Y3);
      X3 = Fp2.sub(t1, Y3);
      Y3 = Fp2.add(t1, Y3);
      Y3 = Fp2.mul(X3, Y3);
      X3 = Fp2.mul(t3, X3);
      Z3 = Fp2.mul(b3, Z3);
      t2 = mulA(t2);
      t3 = Fp2.sub(t0, t2);
      t3 = mulA(t3);
      t3 = Fp2.add(t3, Z3);
      Z3 = Fp2.add(t0, t0);
      t0 = Fp2.add(Z3, t0);
      t0 = Fp2.add(t0, t2);
      t0 = Fp2.mul(t0, t3);
      Y3 = Fp2.add(Y3, t0);
      t2 = Fp2.mul(Y1, Z1);
      t2 = Fp2.add(t2, t2);
      t0 = Fp2.mul(t2, t3);
      X3 = Fp2.sub(X3, t0);
      Z3 = Fp2.mul(t2, t1);
      Z3 = Fp2.add(Z3, Z3);
      Z3 = Fp2.add(Z3, Z3);
      return new Point(X3, Y3, Z3);
    }
    // Renes-Costello-Batina exception-free addition formula.
    // There is 30% faster Jacobian formula, but it is not complete.
    // https://eprint.iacr.org/2015/1060, algorithm 1
    // Cost: 12M + 0S + 3*a + 3*b3 + 23add.
    add(other) {
      aprjpoint(other);
      const { X: X1, Y: Y1, Z: Z1 } = this;
      const { X: X2, Y: Y2, Z: Z2 } = other;
      let X3 = Fp2.ZERO, Y3 = Fp2.ZERO, Z3 = Fp2.ZERO;
      let t0 = Fp2.mul(X1, X2);
      let t1 = Fp2.mul(Y1, Y2);
      let t2 = Fp2.mul(Z1, Z2);
      let t3 = Fp2.add(X1, Y1);
      let t4 = Fp2.add(X2, Y2);
      t3 = Fp2.mul(t3, t4);
      t4 = Fp2.add(t0, t1);
      t3 = Fp2.sub(t3, t4);
      t4 = Fp2.add(X1, Z1);
      let t5 = Fp2.add(X2, Z2);
      t4 = Fp2.mul(t4, t5);
      t5 = Fp2.add(t0, t2);
      t4 = Fp2.sub(t4, t5);
      t5 = Fp2.add(Y1, Z1);
      X3 = Fp2.add(Y2, Z2);
      t5 = Fp2.mul(t5, X3);
      X3 = Fp2.add(t1, t2);
      t5 = Fp2.sub(t5, X3);
      Z3 = mulA(t4);
      X3 = Fp2.mul(b3, t2);
      Z3 = Fp2.add(X3, Z3);
      X3 = Fp2.sub(t1, Z3);
      Z3 = Fp2.add(t1, Z3);
      Y3 = Fp2.mul(X3, Z3);
      t1 = Fp2.add(t0, t0);
      t1 = Fp2.add(t1, t0);
      t2 = mulA(t2);
      t4 = Fp2.mul(b3, t4);
      t1 = Fp2.add(t1, t2);
      t2 = Fp2.sub(t0, t2);
      t2 = mulA(t2);
      t4 = Fp2.add(t4, t2);
      t0 = Fp2.mul(t1, t4);
      Y3 = Fp2.add(Y3, t0);
      t0 = Fp2.mul(t5, t4);
      X3 = Fp2.mul(t3, X3);
      X3 = Fp2.sub(X3, t0);
      t0 = Fp2.mul(t3, t1);
      Z3 = Fp2.mul(t5, Z3);
      Z3 = Fp2.add(Z3, t0);
      return new Point(X3, Y3, Z3);
    }
    subtract(other) {
      aprjpoint(other);
      return this.add(other.negate());
    }
    is0() {
      return this.equals(Point.ZERO);
    }
    /**
     * Constant time multiplication.
     * Uses precomputed tables (signed fixed-window wNAF) when available.
     * Uses scalar blinding and avoids endomorphism splitting in the secret-scalar path.
     * @param scalar - by which the point would be multiplied
     * @returns New point
     */
    multiply(scalar) {
      if (!Fn.isValidNot0(scalar))
        throw new RangeError("invalid scalar: out of range");
      const { p, f } = wnaf.mulSecret(this, scalar, cofactor, normalize);
      return normalize([p, f])[0];
    }
    /**
     * Non-constant-time multiplication. Uses width-4 wNAF with GLV endomorphism splitting
     * when available (two half-width scalars sharing one halved doubling chain).
     * It's faster, but should only be used when you don't care about
     * an exposed secret key e.g. sig verification, which works over *public* keys.
     */
    multiplyUnsafe(scalar) {
      const p = this;
      const sc = scalar;
      if (!Fn.isValid(sc))
        throw new RangeError("invalid scalar: out of range");
      if (sc === _0n6 || p.is0())
        return Point.ZERO;
      if (sc === _1n6)
        return p;
      if (wnaf.hasWindowSize(this))
        return wnaf.mulUnsafe(p, sc, normalize);
      const points = [];
      const scalars = [];
      pushWnafPair(points, scalars, p, sc);
      return mulAddUnsafe(Point, points, scalars);
    }
    /**
     * Non-constant-time double-scalar multiplication `a⋅this + b⋅other` (Strauss–Shamir).
     * Both walks share one doubling chain via {@link mulAddUnsafe}, and GLV endomorphism
     * (when available) halves the chain again by splitting each scalar into two half-width
     * parts. Used by ECDSA verification and public-key recovery for `R = u1⋅G + u2⋅P`.
     * Only for public scalars.
     */
    mulAddUnsafe(a, other, b) {
      aprjpoint(other);
      const points = [];
      const scalars = [];
      pushWnafPair(points, scalars, this, a);
      pushWnafPair(points, scalars, other, b);
      return mulAddUnsafe(Point, points, scalars);
    }
    /**
     * Converts Projective point to affine (x, y) coordinates.
     * (X, Y, Z) ∋ (x=X/Z, y=Y/Z).
     * @param invertedZ - Z^-1 (inverted zero) - optional, precomputation is useful for invertBatch
     */
    toAffine(invertedZ) {
      const p = this;
      let iz = invertedZ;
      if (iz != null && !Fp2.isValid(iz))
        throw new RangeError('"invertedZ" expected valid field element');
      const { X, Y, Z } = p;
      if (Fp2.eql(Z, Fp2.ONE))
        return { x: X, y: Y };
      const is0 = p.is0();
      if (iz == null)
        iz = is0 ? Fp2.ONE : Fp2.inv(Z);
      const x = Fp2.mul(X, iz);
      const y = Fp2.mul(Y, iz);
      const zz = Fp2.mul(Z, iz);
      if (is0)
        return { x: Fp2.ZERO, y: Fp2.ZERO };
      if (!Fp2.eql(zz, Fp2.ONE))
        throw new Error("invZ was invalid");
      return { x, y };
    }
    /**
     * Checks whether Point is free of torsion elements (is in prime subgroup).
     * Always torsion-free for cofactor=1 curves.
     */
    isTorsionFree() {
      if (cofactor === _1n6)
        return true;
      if (isTorsionFree)
        return isTorsionFree(Point, this);
      return wnaf.mulUnsafe(this, CURVE_ORDER).is0();
    }
    clearCofactor() {
      if (cofactor === _1n6)
        return this;
      if (clearCofactor)
        return clearCofactor(Point, this);
      return this.multiplyUnsafe(cofactor);
    }
    isSmallOrder() {
      if (cofactor === _1n6)
        return this.is0();
      return this.clearCofactor().is0();
    }
    toBytes(isCompressed = true) {
      abool2(isCompressed, "isCompressed");
      this.assertValidity();
      return encodePoint(Point, this, isCompressed);
    }
    toHex(isCompressed = true) {
      return bytesToHex2(this.toBytes(isCompressed));
    }
    toString() {
      return `<Point ${this.is0() ? "ZERO" : this.toHex()}>`;
    }
  }
  const normalize = (points) => normalizeZ(Point, points);
  const wnaf = new ScalarMultiplier(Point, randomBytes4);
  if (wnaf.bits >= 6)
    Point.BASE.precompute(6);
  Object.freeze(Point.prototype);
  Object.freeze(Point);
  return Point;
}
function pprefix(hasEvenY) {
  return Uint8Array.of(hasEvenY ? 2 : 3);
}
function getWLengths(Fp2, Fn) {
  return {
    secretKey: Fn.BYTES,
    publicKey: 1 + Fp2.BYTES,
    publicKeyUncompressed: 1 + 2 * Fp2.BYTES,
    publicKeyHasPrefix: true,
    // Raw compact `(r || s)` signature width; DER and recovered signatures use
    // different lengths outside this helper.
    signature: 2 * Fn.BYTES
  };
}
function ecdh(Point, ecdhOpts = {}) {
  validatePointCons(Point);
  const { Fn } = Point;
  const randomBytes_ = ecdhOpts.randomBytes === void 0 ? randomBytes2 : ecdhOpts.randomBytes;
  const lengths = Object.assign(getWLengths(Point.Fp, Fn), {
    seed: Math.max(getMinHashLength(Fn.ORDER), 16)
  });
  function isValidSecretKey(secretKey) {
    try {
      const num = Fn.fromBytes(secretKey);
      return Fn.isValidNot0(num);
    } catch (error) {
      return false;
    }
  }
  function isValidPublicKey(publicKey, isCompressed) {
    const { publicKey: comp, publicKeyUncompressed } = lengths;
    try {
      const l = publicKey.length;
      if (isCompressed === true && l !== comp)
        return false;
      if (isCompressed === false && l !== publicKeyUncompressed)
        return false;
      return !Point.fromBytes(publicKey).is0();
    } catch (error) {
      return false;
    }
  }
  function randomSecretKey(seed) {
    seed = seed === void 0 ? randomBytes_(lengths.seed) : seed;
    return mapHashToField(abytes2(seed, lengths.seed, "seed"), Fn.ORDER);
  }
  function getPublicKey(secretKey, isCompressed = true) {
    return Point.BASE.multiply(Fn.fromBytes(secretKey)).toBytes(isCompressed);
  }
  function isProbPub(item) {
    const { secretKey, publicKey, publicKeyUncompressed } = lengths;
    const allowedLengths = Fn._lengths;
    if (!isBytes2(item))
      return void 0;
    const l = abytes2(item, void 0, "key").length;
    const isPub = l === publicKey || l === publicKeyUncompressed;
    const isSec = l === secretKey || !!allowedLengths?.includes(l);
    if (isPub && isSec)
      return void 0;
    return isPub;
  }
  function getSharedSecret(secretKeyA, publicKeyB, isCompressed = true) {
    if (isProbPub(secretKeyA) === true)
      throw new Error("first arg must be private key");
    if (isProbPub(publicKeyB) === false)
      throw new Error("second arg must be public key");
    const s = Fn.fromBytes(secretKeyA);
    const b = Point.fromBytes(publicKeyB);
    if (b.is0())
      throw new Error("invalid public key: point at infinity");
    return b.multiply(s).toBytes(isCompressed);
  }
  const utils = {
    isValidSecretKey,
    isValidPublicKey,
    randomSecretKey
  };
  const keygen = createKeygen(randomSecretKey, getPublicKey);
  Object.freeze(utils);
  Object.freeze(lengths);
  return Object.freeze({ getPublicKey, getSharedSecret, keygen, Point, utils, lengths });
}
function ecdsa(Point, hash, ecdsaOpts = {}) {
  validatePointCons(Point);
  const hash_ = hash;
  ahash(hash_);
  validateObject(ecdsaOpts, {}, {
    hmac: "function",
    lowS: "boolean",
    randomBytes: "function",
    bits2int: "function",
    bits2int_modN: "function"
  });
  const opts = Object.assign({}, ecdsaOpts);
  const randomBytes4 = opts.randomBytes === void 0 ? randomBytes2 : opts.randomBytes;
  const hmac2 = opts.hmac === void 0 ? (key, msg) => hmac(hash_, key, msg) : opts.hmac;
  const { Fp: Fp2, Fn } = Point;
  const { ORDER: CURVE_ORDER, BITS: fnBits } = Fn;
  const blindLength = getMinHashLength(CURVE_ORDER);
  const csprng = probeRandomBytes(randomBytes4, blindLength);
  const { keygen, getPublicKey, getSharedSecret, utils, lengths } = ecdh(Point, opts);
  const defaultSigOpts = {
    prehash: true,
    lowS: typeof opts.lowS === "boolean" ? opts.lowS : true,
    format: "compact",
    extraEntropy: false
  };
  const hasLargeRecoveryLifts = CURVE_ORDER * _2n4 + _1n6 < Fp2.ORDER;
  function isBiggerThanHalfOrder(number) {
    const HALF = CURVE_ORDER >> _1n6;
    return number > HALF;
  }
  function validateRS(title, num) {
    if (!Fn.isValidNot0(num))
      throw new Error(`invalid signature ${title}: out of range 1..Point.Fn.ORDER`);
    return num;
  }
  function assertFieldSignIsSupported() {
    if (!Fp2.isOdd)
      throw new Error("Field doesn't support isOdd");
  }
  function getRecoveryBit(x, y, r) {
    assertFieldSignIsSupported();
    return (x === r ? 0 : 2) | Number(Fp2.isOdd(y));
  }
  function assertRecoverableCurve() {
    if (hasLargeRecoveryLifts)
      throw new Error('"recovered" sig type is not supported for cofactor >2 curves');
  }
  function validateSigLength(bytes, format) {
    validateSigFormat(format);
    const size = lengths.signature;
    const sizer = format === "compact" ? size : format === "recovered" ? size + 1 : void 0;
    return abytes2(bytes, sizer);
  }
  class Signature {
    r;
    s;
    recovery;
    constructor(r, s, recovery) {
      this.r = validateRS("r", r);
      this.s = validateRS("s", s);
      if (recovery != null) {
        assertRecoverableCurve();
        if (![0, 1, 2, 3].includes(recovery))
          throw new Error("invalid recovery id");
        this.recovery = recovery;
      }
      Object.freeze(this);
    }
    static fromBytes(bytes, format = defaultSigOpts.format) {
      validateSigLength(bytes, format);
      let recid;
      if (format === "der") {
        if (bytes.length > 2 * Fn.BYTES + 16)
          throw new DER.Err("invalid signature: DER signature too long");
        const { r: r2, s: s2 } = DER.toSig(abytes2(bytes), Fn.BYTES + 1);
        return new Signature(r2, s2);
      }
      if (format === "recovered") {
        recid = bytes[0];
        format = "compact";
        bytes = bytes.subarray(1);
      }
      const L = lengths.signature / 2;
      const r = bytes.subarray(0, L);
      const s = bytes.subarray(L, L * 2);
      return new Signature(Fn.fromBytes(r), Fn.fromBytes(s), recid);
    }
    static fromHex(hex, format) {
      return this.fromBytes(hexToBytes2(hex), format);
    }
    assertRecovery() {
      const { recovery } = this;
      if (recovery == null)
        throw new Error("invalid recovery id: must be present");
      return recovery;
    }
    addRecoveryBit(recovery) {
      return new Signature(this.r, this.s, recovery);
    }
    // Unlike the top-level helper below, this method expects a digest that has
    // already been hashed to the curve's message representative.
    recoverPublicKey(messageHash) {
      const { r, s } = this;
      const recovery = this.assertRecovery();
      const radj = recovery === 2 || recovery === 3 ? r + CURVE_ORDER : r;
      if (!Fp2.isValid(radj))
        throw new Error("invalid recovery id: sig.r+curve.n != R.x");
      const x = Fp2.toBytes(radj);
      const R = Point.fromBytes(concatBytes2(pprefix((recovery & 1) === 0), x));
      const ir = Fn.inv(radj);
      const h = bits2int_modN(abytes2(messageHash, void 0, "msgHash"));
      const u1 = Fn.create(-h * ir);
      const u2 = Fn.create(s * ir);
      const Q2 = Point.BASE.mulAddUnsafe(u1, R, u2);
      if (Q2.is0())
        throw new Error("invalid recovery: point at infinify");
      Q2.assertValidity();
      return Q2;
    }
    // Signatures should be low-s, to prevent malleability.
    hasHighS() {
      return isBiggerThanHalfOrder(this.s);
    }
    toBytes(format = defaultSigOpts.format) {
      validateSigFormat(format);
      if (format === "der")
        return hexToBytes2(DER.hexFromSig(this));
      const { r, s } = this;
      const rb = Fn.toBytes(r);
      const sb = Fn.toBytes(s);
      if (format === "recovered") {
        assertRecoverableCurve();
        return concatBytes2(Uint8Array.of(this.assertRecovery()), rb, sb);
      }
      return concatBytes2(rb, sb);
    }
    toHex(format) {
      return bytesToHex2(this.toBytes(format));
    }
  }
  Object.freeze(Signature.prototype);
  Object.freeze(Signature);
  const bits2int = opts.bits2int === void 0 ? function bits2int_def(bytes) {
    if (bytes.length > 8192)
      throw new Error("input is too large");
    const num = bytesToNumberBE(bytes);
    const delta = bytes.length * 8 - fnBits;
    return delta > 0 ? num >> BigInt(delta) : num;
  } : opts.bits2int;
  const bits2int_modN = opts.bits2int_modN === void 0 ? function bits2int_modN_def(bytes) {
    return Fn.create(bits2int(bytes));
  } : opts.bits2int_modN;
  const ORDER_MASK = bitMask(fnBits);
  function int2octets(num) {
    aInRange("num < 2^" + fnBits, num, _0n6, ORDER_MASK);
    return Fn.toBytes(num);
  }
  function validateMsgAndHash(message, prehash) {
    abytes2(message, void 0, "message");
    return prehash ? abytes2(hash_(message), void 0, "prehashed message") : message;
  }
  function prepSig(message, secretKey, opts2) {
    const { lowS, prehash, extraEntropy } = validateSigOpts(opts2, defaultSigOpts);
    message = validateMsgAndHash(message, prehash);
    const h1int = bits2int_modN(message);
    const d = Fn.fromBytes(secretKey);
    if (!Fn.isValidNot0(d))
      throw new Error("invalid private key");
    const seedArgs = [int2octets(d), int2octets(h1int)];
    if (extraEntropy != null && extraEntropy !== false) {
      const e = extraEntropy === true ? randomBytes4(lengths.secretKey) : extraEntropy;
      seedArgs.push(abytes2(e, void 0, "extraEntropy"));
    }
    const seed = concatBytes2(...seedArgs);
    const m = h1int;
    function k2sig(kBytes) {
      const k = bits2int(kBytes);
      if (!Fn.isValidNot0(k))
        return;
      const q = Point.BASE.multiply(k).toAffine();
      const r = Fn.create(q.x);
      if (r === _0n6)
        return;
      let s;
      if (csprng !== void 0) {
        const b = bytesToNumberBE(mapHashToField(csprng(blindLength), CURVE_ORDER));
        const ibk = Fn.inv(Fn.mul(b, k));
        const bm = Fn.mul(b, m);
        const bd = Fn.mul(b, d);
        s = Fn.create(ibk * Fn.create(bm + bd * r));
      } else {
        const ik = invertCt(k, CURVE_ORDER);
        s = Fn.create(ik * Fn.create(m + r * d));
      }
      if (s === _0n6)
        return;
      let recovery = getRecoveryBit(q.x, q.y, r);
      let normS = s;
      if (lowS && isBiggerThanHalfOrder(s)) {
        normS = Fn.neg(s);
        recovery ^= 1;
      }
      return new Signature(r, normS, hasLargeRecoveryLifts ? void 0 : recovery);
    }
    return { seed, k2sig };
  }
  function sign(message, secretKey, opts2 = {}) {
    const { seed, k2sig } = prepSig(message, secretKey, opts2);
    const drbg = createHmacDrbg(hash_.outputLen, Fn.BYTES, hmac2);
    const sig = drbg(seed, k2sig);
    return sig.toBytes(opts2.format);
  }
  function verify(signature, message, publicKey, opts2 = {}) {
    const { lowS, prehash, format } = validateSigOpts(opts2, defaultSigOpts);
    publicKey = abytes2(publicKey, void 0, "publicKey");
    message = validateMsgAndHash(message, prehash);
    if (!isBytes2(signature)) {
      const end = signature instanceof Signature ? ", use sig.toBytes()" : "";
      throw new Error("verify expects Uint8Array signature" + end);
    }
    validateSigLength(signature, format);
    try {
      const sig = Signature.fromBytes(signature, format);
      const P = Point.fromBytes(publicKey);
      if (P.is0())
        return false;
      if (lowS && sig.hasHighS())
        return false;
      const { r, s } = sig;
      const h = bits2int_modN(message);
      const is = Fn.inv(s);
      const u1 = Fn.create(h * is);
      const u2 = Fn.create(r * is);
      const R = Point.BASE.mulAddUnsafe(u1, P, u2);
      if (R.is0())
        return false;
      const q = R.toAffine();
      const v = Fn.create(q.x);
      if (v !== r)
        return false;
      if (format === "recovered" && sig.recovery !== getRecoveryBit(q.x, q.y, r))
        return false;
      return true;
    } catch (e) {
      return false;
    }
  }
  function recoverPublicKey(signature, message, opts2 = {}) {
    const { prehash } = validateSigOpts(opts2, defaultSigOpts);
    message = validateMsgAndHash(message, prehash);
    return Signature.fromBytes(signature, "recovered").recoverPublicKey(message).toBytes();
  }
  return Object.freeze({
    keygen,
    getPublicKey,
    getSharedSecret,
    utils,
    lengths,
    Point,
    sign,
    verify,
    recoverPublicKey,
    Signature,
    hash: hash_
  });
}

// node_modules/@noble/curves/nist.js
var p256_CURVE = /* @__PURE__ */ (() => ({
  p: BigInt("0xffffffff00000001000000000000000000000000ffffffffffffffffffffffff"),
  n: BigInt("0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"),
  h: BigInt(1),
  a: BigInt("0xffffffff00000001000000000000000000000000fffffffffffffffffffffffc"),
  b: BigInt("0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b"),
  Gx: BigInt("0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"),
  Gy: BigInt("0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
}))();
var p256_Point = /* @__PURE__ */ weierstrass(p256_CURVE);
var p256 = /* @__PURE__ */ ecdsa(p256_Point, sha256);

// src/core/verifier/keys.ts
var KINDS = [
  { algorithm: "ed25519", spkiPrefix: hexToBytes("302a300506032b6570032100"), bytes: 32 },
  {
    algorithm: "ml-dsa-65",
    spkiPrefix: hexToBytes("308207b2300b0609608648016503040312038207a100"),
    bytes: 1952
  },
  // Of passkeys only: nothing else here signs by it.
  {
    algorithm: "es256",
    spkiPrefix: hexToBytes("3059301306072a8648ce3d020106082a8648ce3d03010703420004"),
    bytes: 64
  }
];
var NO_KEYS = /* @__PURE__ */ new Map();
function readKeySet(keySet) {
  const keys = oneOfEach(
    entriesOf(keySet).flatMap((entry, i) => readKey(entry, `Key ${i + 1} of the key set`) ?? [])
  );
  if (keys.size === 0)
    throw new Unusable("The key set holds no Ed25519 or ML-DSA-65 key, so nothing can be verified by it.");
  return keys;
}
function combinedKeys(first, second) {
  return oneOfEach([...first.values(), ...second.values()]);
}
function oneOfEach(found) {
  const keys = /* @__PURE__ */ new Map();
  for (const key of found) {
    const same = keys.get(key.keyId);
    if (same !== void 0 && !isSameKey(same, key))
      throw new Unusable(`The key set holds two different keys named '${key.keyId}': one of them is false.`);
    keys.set(key.keyId, same === void 0 ? key : { ...key, revokedAt: earlier(same, key) });
  }
  refuseSharedKeys([...keys.values()]);
  return keys;
}
function isSameKey(one, other) {
  return one.fingerprint === other.fingerprint && passkeyText(one) === passkeyText(other);
}
function passkeyText({ passkey }) {
  return passkey === void 0 ? "" : canonicalize(passkey);
}
function refuseSharedKeys(keys) {
  const first = /* @__PURE__ */ new Map();
  for (const key of keys.filter(({ keyId }) => !keyId.endsWith(":step-up"))) {
    const other = first.get(key.fingerprint);
    if (other !== void 0 && ownerOf(other) !== ownerOf(key))
      throw new Unusable(
        `The key set holds one key under the names '${other.keyId}' and '${key.keyId}': one of them is false.`
      );
    first.set(key.fingerprint, key);
  }
}
function ownerOf({ keyId }) {
  return keyId.includes(":") ? keyId.slice(0, keyId.indexOf(":")) : "";
}
function entriesOf(keySet) {
  if (Array.isArray(keySet)) return keySet.flatMap(entriesOf);
  const { keys, ...key } = isMembers(keySet) ? keySet : {};
  if (Array.isArray(keys)) return keys;
  if (keys === void 0 && ["pem", "jwk", "kty"].some((member) => Object.hasOwn(key, member))) return [key];
  throw new Unusable(
    "The key set has no list `keys` and is no single key: save the answer of GET /.well-known/jwks.json or GET /keys/{keyId}."
  );
}
function earlier(one, other) {
  if (one.revokedAt === null || other.revokedAt === null) return one.revokedAt ?? other.revokedAt;
  return instantMs(one.revokedAt) <= instantMs(other.revokedAt) ? one.revokedAt : other.revokedAt;
}
function readKey(entry, which) {
  if (!isMembers(entry)) throw new Unusable(`${which} is not an object.`);
  const { pem, jwk } = entry;
  refusePrivate(entry, which);
  const jwks = [jwk, "kty" in entry ? entry : void 0].filter((one) => one !== void 0);
  if (pem === void 0 && jwks.length === 0)
    throw new Unusable(`${which} has neither a \`pem\`, a \`jwk\` nor a \`kty\`.`);
  const claimed = entry["algorithm"];
  const mayBeEs256 = "passkey" in entry || claimed === "es256";
  const found = [
    ...pem === void 0 ? [] : [ofPem(pem, mayBeEs256, which)],
    ...jwks.map((one) => ofJwk(one, mayBeEs256, which))
  ];
  const known = found.filter((one) => one !== void 0);
  const [material] = known;
  if (material === void 0) {
    if (KINDS.some(({ algorithm }) => algorithm === claimed))
      throw new Unusable(`${which} is called ${claimed} but holds a key of another kind.`);
    return void 0;
  }
  if (claimed !== void 0 && claimed !== material.algorithm)
    throw new Unusable(
      `${which} is called ${JSON.stringify(claimed)} but holds an ${material.algorithm} key.`
    );
  const keyId = nameOf3([entry, ...jwks.filter((one) => isMembers(one))], which);
  const fingerprint = fingerprintOf(material);
  if (known.length < found.length || known.some((one) => fingerprintOf(one) !== fingerprint))
    throw new Unusable(`${which} holds different keys in its \`pem\` and its \`jwk\`.`);
  const passkey = passkeyOf(entry, material, which);
  const point = pointOf(keyId, material, which);
  return { keyId, ...material, point, fingerprint, revokedAt: revokedAtOf(entry, which), passkey };
}
function passkeyOf(entry, { algorithm }, which) {
  if (!("passkey" in entry)) {
    if (algorithm === "es256")
      throw new Unusable(`${which} is an es256 key and no passkey: none is used here.`);
    return void 0;
  }
  if (algorithm === "ml-dsa-65") throw new Unusable(`${which} is an ml-dsa-65 key, and no passkey is one.`);
  try {
    return readPasskey(entry["passkey"]);
  } catch (error) {
    throw new Unusable(`${which} is no usable passkey: ${error.message}.`);
  }
}
function readEnrolledKey(keyId, enrolled, known) {
  const which = `The key '${keyId}'`;
  const material = ofPem(enrolled["publicKeyPem"] ?? null, "passkey" in enrolled, which);
  if (material === void 0 || material.algorithm === "ml-dsa-65")
    throw new Unusable(`${which} is no Ed25519 key.`);
  const fingerprint = fingerprintOf(material);
  const passkey = passkeyOf(enrolled, material, which);
  const key = { keyId, ...material, fingerprint, revokedAt: null, passkey };
  return { ...key, point: known?.fingerprint === fingerprint ? known.point : pointOf(keyId, material, which) };
}
function revokedAtOf({ revokedAt }, which) {
  if (revokedAt === void 0) return null;
  if (typeof revokedAt !== "string" || Number.isNaN(instantMs(revokedAt)))
    throw new Unusable(`${which} has a \`revokedAt\` that is no time.`);
  return revokedAt;
}
function nameOf3(parts, which) {
  const names = parts.flatMap((part) => [part["keyId"], part["kid"]]).filter((name2) => name2 !== void 0);
  const [name] = names;
  if (typeof name !== "string" || name === "") throw new Unusable(`${which} has no \`keyId\` or \`kid\`.`);
  if (names.some((other) => other !== name)) throw new Unusable(`${which} has two different names.`);
  if (parts.some(({ use }) => use !== void 0 && use !== "sig"))
    throw new Unusable(`${which} is not for signatures: its \`use\` is not 'sig'.`);
  return name;
}
var PEM = /^-----BEGIN PUBLIC KEY-----\r?\n((?:[A-Za-z0-9+/=]+\r?\n)+)-----END PUBLIC KEY-----[ \t\r\n]*$/;
function ofPem(pem, mayBeEs256, which) {
  const block = typeof pem === "string" ? PEM.exec(pem) : null;
  const der = base64(block?.[1]?.replaceAll(/\r?\n/g, "") ?? "");
  if (der === void 0 || der.length === 0)
    throw new Unusable(`${which} has a \`pem\` that is no public key.`);
  const kind = KINDS.find(({ spkiPrefix }) => spkiPrefix.every((byte, i) => der[i] === byte));
  if (kind?.algorithm === "es256" && !mayBeEs256) return void 0;
  return kind && materialOf(kind, der.subarray(kind.spkiPrefix.length), which);
}
function ofJwk(jwk, mayBeEs256, which) {
  if (!isMembers(jwk)) throw new Unusable(`${which} has a \`jwk\` that is not an object.`);
  const { kty, crv, alg, x, y, pub } = jwk;
  refusePrivate(jwk, which);
  if (kty === "OKP" && crv === "Ed25519") {
    if (alg !== void 0 && alg !== "EdDSA" && alg !== "Ed25519")
      throw new Unusable(`${which} is an Ed25519 key with an \`alg\` that is not Ed25519's.`);
    return materialOf(KINDS[0], bytesOf(x, which), which);
  }
  if (kty === "AKP" && alg === "ML-DSA-65") return materialOf(KINDS[1], bytesOf(pub, which), which);
  if (mayBeEs256 && kty === "EC" && crv === "P-256") {
    if (alg !== void 0 && alg !== "ES256")
      throw new Unusable(`${which} is a P-256 key with an \`alg\` that is not ES256.`);
    const coordinates = [bytesOf(x, which), bytesOf(y, which)];
    if (coordinates.some(({ length }) => length !== 32))
      throw new Unusable(`${which} has coordinates that do not have 32 bytes.`);
    return materialOf(KINDS[2], concatBytes(...coordinates), which);
  }
  return void 0;
}
function refusePrivate(part, which) {
  if ("d" in part || "priv" in part)
    throw new Unusable(
      `${which} holds a private key: treat it as compromised, and save the public keys only.`
    );
}
function bytesOf(text, which) {
  const bytes = typeof text === "string" ? base64url(text) : void 0;
  if (bytes === void 0) throw new Unusable(`${which} has key bytes that are not base64url.`);
  return bytes;
}
function materialOf(kind, bytes, which) {
  if (bytes.length !== kind.bytes)
    throw new Unusable(`${which} has ${bytes.length} bytes; an ${kind.algorithm} key has ${kind.bytes}.`);
  return { algorithm: kind.algorithm, bytes };
}
var TABLE_BITS = 4;
function pointOf(keyId, { algorithm, bytes }, which) {
  if (algorithm === "es256" && !p256.utils.isValidPublicKey(uncompressed(bytes), false))
    throw new Unusable(`${which} is not a point of P-256.`);
  if (algorithm !== "ed25519") return void 0;
  const point = decoded2(bytes);
  if (point === void 0 || point.is0() || !point.isTorsionFree())
    throw new Unusable(`${which} is a point that no private key has: some of those verify anything.`);
  return keyId.includes(":") ? point : point.precompute(TABLE_BITS);
}
function uncompressed(coordinates) {
  return concatBytes(Uint8Array.of(4), coordinates);
}
function decoded2(bytes) {
  try {
    return ed25519.Point.fromBytes(bytes);
  } catch {
    return void 0;
  }
}
function fingerprintOf({ algorithm, bytes }) {
  const { spkiPrefix } = KINDS.find((kind) => kind.algorithm === algorithm) ?? KINDS[0];
  return bytesToHex(sha256(concatBytes(spkiPrefix, bytes)));
}
function describedLogKey({ name, keyId, type, publicKey }) {
  const algorithm = type === "ml-dsa-44-cosignature" ? "ml-dsa-44" : "ed25519";
  const spkiPrefix = algorithm === "ed25519" ? KINDS[0].spkiPrefix : ML_DSA_44_SPKI_PREFIX;
  const fingerprint = bytesToHex(sha256(concatBytes(spkiPrefix, publicKey)));
  return { keyId: `${name}+${keyId}`, algorithm, fingerprint };
}
var ML_DSA_44_SPKI_PREFIX = hexToBytes("30820532300b06096086480165030403110382052100");

// src/core/verifier/provider-confirmation.ts
var SAYS = ["executed", "not_executed", "pending"];
var TEXTS = ["confirmationId", "businessTransactionId", "provider", "eventId", "ruleId", "receivedAt"];
var HASHES = ["deliveryHash", "rulesHash"];
function checkProviderConfirmation(evidence, given) {
  const { confirmation, signature } = isMembers(evidence) ? evidence : {};
  return [
    checkEd25519("confirmation signature", "The signature of the confirmation is not valid", given, {
      artifact: "provider-confirmation",
      text: isMembers(confirmation) ? canonicalText(confirmation) : void 0,
      signature
    }),
    check("confirmation", "The confirmation is not one that the service makes", () => isWhole2(confirmation))
  ];
}
function isWhole2(value) {
  const confirmation = members(value);
  return SAYS.some((known) => known === confirmation["says"]) && TEXTS.every((name) => string(confirmation[name]) !== "") && HASHES.every((name) => /^[0-9a-f]{64}$/.test(string(confirmation[name]))) && list(confirmation["comparisons"]).map(members).every(isComparison);
}
function isComparison({ expression, holds: holds2 }) {
  return string(expression) !== "" && typeof holds2 === "boolean";
}
function notesOnConfirmation(confirmation, status) {
  if (!isMembers(confirmation)) return [];
  const { provider, says, comparisons } = confirmation;
  if (typeof provider !== "string" || typeof says !== "string") return [];
  const named = JSON.stringify(provider);
  const contradicts = status === "COMPLETED" && says === "not_executed" || status === "FAILED" && says === "executed";
  const entries = Array.isArray(comparisons) ? comparisons : [];
  return [
    ...contradicts ? [`The provider ${named} says ${says}, and the record says ${status}.`] : [],
    ...entries.flatMap(
      (one) => isMembers(one) && one["holds"] === false && typeof one["expression"] === "string" ? [
        `A comparison of the confirmation by ${named} does not hold: ${JSON.stringify(one["expression"])}.`
      ] : []
    )
  ];
}

// src/core/verifier/receipt.ts
function checkReceipt(evidence, given) {
  const receipt = isMembers(evidence) ? evidence : {};
  const { signature, signatures: _, ...signedMembers2 } = receipt;
  const { receiptHash, ...hashedMembers } = signedMembers2;
  const hashed2 = canonicalText(hashedMembers);
  const signed = canonicalText(signedMembers2);
  return [
    check("receipt hash", "The receipt hash does not match the canonical receipt", () => {
      return hashed2 !== void 0 && given.sha256Hex(hashed2) === receiptHash;
    }),
    checkSigned("receipt signature", "The receipt signature is not valid", given, (crypto) => {
      if (signed === void 0) return false;
      const { algorithm, keyId } = receipt;
      const first = { algorithm: string(algorithm), keyId: string(keyId), value: string(signature) };
      return requiredSignatures(receipt, first).every((one) => crypto.verifySignature("receipt", signed, one));
    })
  ];
}
function notesOnReceipt(receipt, subject = "It") {
  const { transparency } = receipt;
  if (!isMembers(transparency)) return [];
  const { log, by: by2 } = transparency;
  if (typeof log !== "string" || typeof by2 !== "string" || Number.isNaN(instantMs(by2))) return [];
  return [
    `${subject} is promised to the log ${JSON.stringify(log)} by ${by2}; no proof of inclusion was given.`
  ];
}

// src/core/verifier/trust-record.ts
function checkTrustRecord(evidence, given) {
  const record = isMembers(evidence) ? evidence : {};
  const signed = canonicalText(signedMembers(record));
  return [
    check("canonical hash", "The trust record hash does not match the canonical record", () => {
      return signed !== void 0 && given.sha256Hex(signed) === record["trustRecordHash"];
    }),
    checkSigned("record signature", "The trust record signature is not valid", given, (crypto) => {
      if (signed === void 0) return false;
      const carried = requiredSignatures(record, carriedSignature(record["signature"]));
      return carried.every((one) => crypto.verifySignature("trust-record", signed, one));
    }),
    checkSigned(
      "authorization signature",
      "The execution authorization signature is not valid",
      given,
      (crypto) => isAuthorizationSigned(members(record["authorization"]), crypto)
    ),
    check(
      "transaction binding",
      "The execution authorization is not bound to this transaction",
      () => boundToTransaction(record, given)
    ),
    check(
      "decision binding",
      "The execution authorization is not bound to this decision",
      () => boundToDecision(record)
    ),
    checkApprovals(record, given)
  ];
}
function signedMembers(record) {
  const names = [
    "authorization",
    "businessTransactionId",
    "createdAt",
    "executions",
    "overrides",
    ..."requiredAlgorithms" in record ? ["requiredAlgorithms"] : [],
    "transaction",
    "trustRecordId"
  ];
  return Object.fromEntries(names.map((name) => [name, record[name]]));
}
function boundToTransaction(record, crypto) {
  const transaction = members(record["transaction"]);
  const intent = members(transaction["intent"]);
  const { action, target, parameters } = intent;
  const payload = members(members(record["authorization"])["payload"]);
  const id2 = record["businessTransactionId"];
  const bound = canonicalize({
    action,
    businessTransactionId: id2,
    parameters,
    target
  });
  return transaction["businessTransactionId"] === id2 && payload["businessTransactionId"] === id2 && payload["businessTransactionHash"] === crypto.sha256Hex(bound) && payload["signalsHash"] === crypto.sha256Hex(canonicalize(transaction["signals"])) && string(payload["callerId"]) === members(transaction["metadata"])["submittedBy"] && list(record["executions"]).map(members).every((execution) => {
    const evidence = members(execution["evidence"]);
    const shown = {
      action: evidence["action"],
      businessTransactionId: evidence["businessTransactionId"],
      parameters: evidence["parameters"],
      target: evidence["target"]
    };
    return execution["businessTransactionId"] === id2 && canonicalize(shown) === bound;
  });
}
function boundToDecision(record) {
  const payload = members(members(record["authorization"])["payload"]);
  const transaction = members(record["transaction"]);
  const executions = list(record["executions"]).map(members);
  return executions.length > 0 && executions.every((execution) => {
    const decision = members(execution["decision"]);
    const policy = members(decision["policy"]);
    return decision["outcome"] === "APPROVED" && string(decision["decisionId"]) === payload["decisionId"] && string(decision["policyContentHash"]) === payload["policyContentHash"] && string(policy["name"]) === payload["policyName"] && string(policy["version"]) === payload["policyVersion"] && string(decision["intentId"]) === members(transaction["intent"])["intentId"] && canonicalize(policy) === canonicalize(transaction["policy"]) && canonicalize(decision["signals"]) === canonicalize(transaction["signals"]) && string(members(execution["metadata"])["authorizationId"]) === payload["authorizationId"];
  });
}

// src/core/verifier/whole-record.ts
function checkWholeRecord(evidence, given) {
  const record = isMembers(evidence) ? evidence : {};
  return [
    ...checkTrustRecord(record, given),
    check("verifications", "A verification is not one of this record", () => {
      leftOut(record, "verifications");
      return list(record["verifications"]).map(members).every((verification) => isOf(record, verification) && isVerification(verification));
    }),
    checkSigned("receipts", "A receipt is not a valid one of this record", given, (crypto) => {
      leftOut(record, "receipts");
      return list(record["receipts"]).map(members).every((receipt) => isOf(record, receipt) && isReceipted(record, receipt, crypto));
    }),
    ...record["confirmations"] === void 0 && record["confirmationCount"] === void 0 ? [] : [
      checkSigned(
        "confirmations",
        "A confirmation is not a valid one of this record",
        given,
        (crypto) => {
          leftOut(record, "confirmations");
          return list(record["confirmations"]).map(members).every((one) => isConfirmed(record, one, crypto));
        }
      )
    ]
  ];
}
function isOf(record, appended) {
  return string(appended["businessTransactionId"]) === record["businessTransactionId"] && string(appended["trustRecordHash"]) === record["trustRecordHash"];
}
function isVerification({ verificationId, status, message, verifiedAt }) {
  return [verificationId, message, verifiedAt].every((member) => typeof member === "string") && (status === "VERIFIED" || status === "FAILED");
}
var COUNTED = {
  verifications: "verificationCount",
  receipts: "receiptCount",
  confirmations: "confirmationCount"
};
function leftOut(record, name) {
  const held = list(record[name]).length;
  const { [COUNTED[name]]: count = held } = record;
  if (!Number.isSafeInteger(count) || count < held)
    throw new Error(`${COUNTED[name]} is not the number of ${name}`);
  return count - held;
}
function isReceipted(record, receipt, crypto) {
  const problems = checkReceipt(receipt, crypto).flatMap(({ problem }) => problem ?? []);
  if (problems.length > 0) throw new Error(problems.join("; "));
  const verificationId = string(receipt["verificationId"]);
  const named = list(record["verifications"]).map(members).filter((one) => one["verificationId"] === verificationId);
  if (named.length === 0) return leftOut(record, "verifications") > 0;
  return named.some(({ status }) => status === "VERIFIED");
}
function isConfirmed(record, confirmation, crypto) {
  const problems = checkProviderConfirmation(confirmation, crypto).flatMap(({ problem }) => problem ?? []);
  if (problems.length > 0) throw new Error(problems.join("; "));
  const named = members(confirmation["confirmation"])["businessTransactionId"];
  return named === string(record["businessTransactionId"]);
}
function cutNote(record, name) {
  const [held, count] = [record[name], record[COUNTED[name]]];
  return Array.isArray(held) && typeof count === "number" && count > held.length ? [`It holds ${held.length} of the ${count} ${name} that it says the record has.`] : [];
}
function notesOnRecord(record, { promise }) {
  const { verifications, receipts } = record;
  const [latest, receipt] = [verifications, receipts].map(
    (entries) => Array.isArray(entries) ? entries.at(-1) : void 0
  );
  return [
    ...Array.isArray(receipts) && receipts.length > 0 ? [] : ["The record carries no receipt."],
    ...isMembers(latest) && latest["status"] === "FAILED" ? ["The latest verification that was stored with it is FAILED."] : [],
    ...["verifications", "receipts", "confirmations"].flatMap((name) => cutNote(record, name)),
    ...promise && isMembers(receipt) ? notesOnReceipt(receipt, "Its latest receipt") : [],
    ...notesOnConfirmations(record)
  ];
}
function notesOnConfirmations({ confirmations, executions }) {
  if (!Array.isArray(confirmations)) return [];
  const [execution] = Array.isArray(executions) ? executions : [];
  const status = isMembers(execution) ? execution["status"] : void 0;
  return confirmations.flatMap(
    (one) => isMembers(one) ? notesOnConfirmation(one["confirmation"], status) : []
  );
}

// src/core/verifier/bundle.ts
var VERSION = "countersign/1";
function inspectBundle(bundle, { keys, log, cryptoBy, noteCrypto: noteCrypto2, onLogKeyUsed }) {
  if (bundle["bundle"] !== VERSION)
    throw new Unusable(
      `The bundle is of version ${JSON.stringify(bundle["bundle"])}; only '${VERSION}' is known.`
    );
  const record = isMembers(bundle["record"]) ? bundle["record"] : {};
  const crypto = cryptoBy(keys);
  const execution = lazy(() => readExecution(record, crypto));
  const carried = lazy(() => carriedKeys(bundle["approverKeys"]));
  const changes = lazy(
    () => list(bundle["changes"]).map(
      (change) => readChange(members(change), execution(), { carried: readable(carried) ?? NO_KEYS, crypto })
    )
  );
  const changesCheck = checkSigned(
    "governance changes",
    "A governance change is not one that put the policy or the key of an approver into force",
    crypto,
    (checking) => {
      const problems = list(bundle["changes"]).flatMap(
        (change) => checkGovernanceChange(change, checking).flatMap(({ problem }) => problem ?? [])
      );
      if (problems.length > 0) throw new Error(problems.join("; "));
      return areInForce(changes());
    }
  );
  let recordKeys = keys;
  const keysCheck = check("approver keys", "The keys of approvers are not those that were enrolled", () => {
    if (changesCheck.problem === void 0)
      recordKeys = combinedKeys(keys, enrolledKeys(changes(), carried()));
    return areEnrolled(execution(), changes(), carried());
  });
  const proofs = checkProofs(bundle["proofs"], () => dueProofs(execution(), changes()), {
    trust: log,
    crypto: noteCrypto2,
    onUsed: onLogKeyUsed
  });
  return {
    checks: [
      ...checkWholeRecord(record, cryptoBy(recordKeys)),
      check("policy document", "The policy document is not the one whose hash is signed", () => {
        return crypto.sha256Hex(string(bundle["policy"])) === execution().policy.contentHash;
      }),
      changesCheck,
      keysCheck,
      ...proofs.checks
    ],
    notes: [
      ...notesOnRecord(record, { promise: false }),
      ...notesOnAuthority(bundle["changes"], { execution, changes, crypto }),
      ...proofs.notes
    ]
  };
}
function lazy(make) {
  let made;
  return () => {
    if (made === void 0) {
      try {
        const value = make();
        made = () => value;
      } catch (error) {
        made = () => {
          throw error;
        };
      }
    }
    return made();
  };
}
function readable(read) {
  try {
    return read();
  } catch {
    return void 0;
  }
}
function readChange(change, { policy, approvals }, { carried, crypto: { sha256Hex } }) {
  const { changeId, kind, target, status, proposed } = change;
  const named = string(target);
  const text = canonicalize(signedMembersOf(change));
  const read = {
    part: {
      kind: "change",
      id: string(changeId),
      entry: artifactEntry.governanceChange(text, sha256Hex)
    },
    target: named
  };
  if (status !== "APPROVED") return read;
  if (kind === "policy") {
    const isThis = named === `${policy.name}/${policy.version}` && sha256Hex(canonicalize(proposed ?? null)) === policy.contentHash;
    return isThis ? { ...read, policy: true } : read;
  }
  const enrolled = isMembers(proposed) ? proposed : {};
  const { action, approverId, keyId } = enrolled;
  const isOfApprover = kind === "approver" && action === "add" && named === `${string(approverId)}:${string(keyId)}` && approvals.some((approval) => approval.keyId === named);
  if (!isOfApprover) return read;
  return { ...read, enrolled: readEnrolledKey(named, enrolled, carried.get(named)) };
}
function areInForce(changes) {
  for (const [i, { part, target, policy, enrolled }] of changes.entries()) {
    const which = `change ${JSON.stringify(part.id)}`;
    if (policy === void 0 && enrolled === void 0)
      throw new Error(`${which} put nothing into force that was used here`);
    if (changes.findIndex((other) => other.target === target) < i)
      throw new Error(`${which} is the second one of ${JSON.stringify(target)}`);
  }
  return true;
}
function carriedKeys(given) {
  const keys = list(given);
  return keys.length === 0 ? NO_KEYS : readKeySet(keys);
}
function enrolledKeys(changes, carried) {
  return new Map(
    changes.flatMap(
      ({ target, enrolled }) => enrolled === void 0 ? [] : [[target, { ...enrolled, revokedAt: carried.get(target)?.revokedAt ?? null }]]
    )
  );
}
function areEnrolled({ approvals }, changes, carried) {
  const used = new Set(approvals.map(({ keyId }) => keyId));
  for (const keyId of used) {
    const named = JSON.stringify(keyId);
    const enrolled = changes.find((change) => change.target === keyId)?.enrolled;
    const key = carried.get(keyId);
    if (enrolled === void 0) throw new Error(`no governance change in it enrolled the key ${named}`);
    if (key === void 0) throw new Error(`the key ${named} is not among them`);
    if (!isSameKey(key, enrolled)) throw new Error(`the key ${named} is another one than was enrolled`);
  }
  for (const keyId of carried.keys())
    if (!used.has(keyId)) throw new Error(`nothing is approved by the key ${JSON.stringify(keyId)}`);
  return true;
}
function dueProofs({ authorization, requests, approvals, receipt, confirmations }, changes) {
  const order = changes.flatMap(
    ({ part, target, policy }) => policy === true ? [[part, authorization]] : approvals.filter(({ keyId }) => keyId === target).map((approval) => [part, approval.part])
  );
  for (const request of requests) {
    const ofRequest = approvals.filter(({ requestHash: requestHash2 }) => requestHash2 === request.entry.hash);
    order.push(...ofRequest.map(({ part }) => [request, part]));
    order.push([request, authorization]);
  }
  for (const approval of approvals) order.push([approval.part, authorization]);
  if (receipt !== void 0) order.push([authorization, receipt.part]);
  for (const confirmation of confirmations) order.push([authorization, confirmation]);
  return {
    parts: [
      ...changes.map(({ part }) => part),
      ...requests,
      ...approvals.map(({ part }) => part),
      authorization,
      ...receipt === void 0 ? [] : [receipt.part],
      ...confirmations
    ],
    order,
    promises: new Map(receipt?.log === void 0 ? [] : [[receipt.part, receipt.log]])
  };
}
function notesOnAuthority(given, of) {
  const read = readable(() => ({ execution: of.execution(), changes: of.changes() }));
  if (read === void 0) return [];
  const { policy, receipt } = read.execution;
  const named = `${JSON.stringify(policy.name)} version ${JSON.stringify(policy.version)}`;
  const ofChanges = list(given).flatMap((change) => notesOnChange(members(change), of.crypto));
  return [
    ...receipt === void 0 ? ["No entry of the log states the record: only a receipt does."] : [],
    ...read.changes.some((change) => change.policy === true) ? [] : [
      `It holds no governance change that put policy ${named} into force: the operator of the service did when it was first started, or the change was left out.`
    ],
    ...new Set(ofChanges)
  ];
}

// node_modules/@noble/hashes/sha3.js
var _0n7 = BigInt(0);
var _1n7 = BigInt(1);
var _2n5 = BigInt(2);
var _7n2 = BigInt(7);
var _256n = BigInt(256);
var _0x71n = BigInt(113);
var SHA3_PI = [];
var SHA3_ROTL = [];
var _SHA3_IOTA = [];
for (let round = 0, R = _1n7, x = 1, y = 0; round < 24; round++) {
  [x, y] = [y, (2 * x + 3 * y) % 5];
  SHA3_PI.push(2 * (5 * y + x));
  SHA3_ROTL.push((round + 1) * (round + 2) / 2 % 64);
  let t = _0n7;
  for (let j = 0; j < 7; j++) {
    R = (R << _1n7 ^ (R >> _7n2) * _0x71n) % _256n;
    if (R & _2n5)
      t ^= _1n7 << (_1n7 << BigInt(j)) - _1n7;
  }
  _SHA3_IOTA.push(t);
}
var IOTAS = split(_SHA3_IOTA, true);
var SHA3_IOTA_H = IOTAS[0];
var SHA3_IOTA_L = IOTAS[1];
var rotlSH = (h, l, s) => h << s | l >>> 32 - s;
var rotlSL = (h, l, s) => l << s | h >>> 32 - s;
var rotlBH = (h, l, s) => l << s - 32 | h >>> 64 - s;
var rotlBL = (h, l, s) => h << s - 32 | l >>> 64 - s;
var rotlH = (h, l, s) => s > 32 ? rotlBH(h, l, s) : rotlSH(h, l, s);
var rotlL = (h, l, s) => s > 32 ? rotlBL(h, l, s) : rotlSL(h, l, s);
var B = new Uint32Array(5 * 2);
function keccakP(s, rounds = 24) {
  if (!(s instanceof Uint32Array))
    throw new TypeError('"s" expected Uint32Array(50), got type=' + typeof s);
  if (s.length !== 50)
    throw new RangeError('"s" expected Uint32Array(50), got length=' + s.length);
  anumber(rounds, "rounds");
  if (rounds < 1 || rounds > 24)
    throw new Error('"rounds" expected integer 1..24');
  for (let round = 24 - rounds; round < 24; round++) {
    for (let x = 0; x < 10; x++)
      B[x] = s[x] ^ s[x + 10] ^ s[x + 20] ^ s[x + 30] ^ s[x + 40];
    for (let x = 0; x < 10; x += 2) {
      const idx1 = (x + 8) % 10;
      const idx0 = (x + 2) % 10;
      const B0 = B[idx0];
      const B1 = B[idx0 + 1];
      const Th = rotlH(B0, B1, 1) ^ B[idx1];
      const Tl = rotlL(B0, B1, 1) ^ B[idx1 + 1];
      for (let y = 0; y < 50; y += 10) {
        s[x + y] ^= Th;
        s[x + y + 1] ^= Tl;
      }
    }
    let curH = s[2];
    let curL = s[3];
    for (let t = 0; t < 24; t++) {
      const shift = SHA3_ROTL[t];
      const Th = rotlH(curH, curL, shift);
      const Tl = rotlL(curH, curL, shift);
      const PI = SHA3_PI[t];
      curH = s[PI];
      curL = s[PI + 1];
      s[PI] = Th;
      s[PI + 1] = Tl;
    }
    for (let y = 0; y < 50; y += 10) {
      const b0 = s[y], b1 = s[y + 1], b2 = s[y + 2], b3 = s[y + 3];
      s[y] ^= ~s[y + 2] & s[y + 4];
      s[y + 1] ^= ~s[y + 3] & s[y + 5];
      s[y + 2] ^= ~s[y + 4] & s[y + 6];
      s[y + 3] ^= ~s[y + 5] & s[y + 7];
      s[y + 4] ^= ~s[y + 6] & s[y + 8];
      s[y + 5] ^= ~s[y + 7] & s[y + 9];
      s[y + 6] ^= ~s[y + 8] & b0;
      s[y + 7] ^= ~s[y + 9] & b1;
      s[y + 8] ^= ~b0 & b2;
      s[y + 9] ^= ~b1 & b3;
    }
    s[0] ^= SHA3_IOTA_H[round];
    s[1] ^= SHA3_IOTA_L[round];
  }
  clean(B);
}
var Keccak = class _Keccak {
  state;
  pos = 0;
  posOut = 0;
  finished = false;
  state32;
  destroyed = false;
  blockLen;
  suffix;
  outputLen;
  canXOF;
  enableXOF = false;
  rounds;
  // NOTE: we accept arguments in bytes instead of bits here.
  constructor(blockLen, suffix, outputLen, enableXOF = false, rounds = 24) {
    anumber(blockLen, "blockLen");
    anumber(suffix, "suffix");
    anumber(rounds, "rounds");
    abool(enableXOF, "enableXOF");
    this.blockLen = blockLen;
    this.suffix = suffix;
    this.outputLen = outputLen;
    this.enableXOF = enableXOF;
    this.canXOF = enableXOF;
    this.rounds = rounds;
    anumber(outputLen, "outputLen");
    if (!(0 < blockLen && blockLen < 200))
      throw new Error('"blockLen" must be 1..199');
    this.state = new Uint8Array(200);
    this.state32 = u32(this.state);
  }
  clone() {
    return this._cloneInto();
  }
  keccak() {
    swap32IfBE(this.state32);
    keccakP(this.state32, this.rounds);
    swap32IfBE(this.state32);
    this.posOut = 0;
    this.pos = 0;
  }
  update(data) {
    aexists(this);
    abytes(data);
    const { blockLen, state, state32 } = this;
    const len = data.length;
    const canUseU32 = blockLen % 4 === 0 && data.byteOffset % 4 === 0;
    const blockLen32 = blockLen / 4;
    const data32 = canUseU32 && len >= blockLen ? u32(data) : void 0;
    for (let pos = 0; pos < len; ) {
      if (data32 !== void 0 && this.pos === 0 && pos % 4 === 0 && len - pos >= blockLen) {
        for (let i = 0, o = pos / 4; i < blockLen32; i++)
          state32[i] ^= data32[o + i];
        pos += blockLen;
        this.pos = blockLen;
        this.keccak();
        continue;
      }
      const take = Math.min(blockLen - this.pos, len - pos);
      for (let i = 0; i < take; i++)
        state[this.pos++] ^= data[pos++];
      if (this.pos === blockLen)
        this.keccak();
    }
    return this;
  }
  finish() {
    if (this.finished)
      return;
    this.finished = true;
    const { state, suffix, pos, blockLen } = this;
    state[pos] ^= suffix;
    if ((suffix & 128) !== 0 && pos === blockLen - 1)
      this.keccak();
    state[blockLen - 1] ^= 128;
    this.keccak();
  }
  writeInto(out) {
    aexists(this, false);
    abytes(out);
    this.finish();
    const bufferOut = this.state;
    const { blockLen } = this;
    for (let pos = 0, len = out.length; pos < len; ) {
      if (this.posOut >= blockLen)
        this.keccak();
      const take = Math.min(blockLen - this.posOut, len - pos);
      out.set(bufferOut.subarray(this.posOut, this.posOut + take), pos);
      this.posOut += take;
      pos += take;
    }
    return out;
  }
  xofInto(out) {
    if (!this.enableXOF)
      throw new Error("XOF is not enabled");
    return this.writeInto(out);
  }
  xof(bytes) {
    anumber(bytes);
    return this.xofInto(new Uint8Array(bytes));
  }
  digestInto(out) {
    aoutput(out, this);
    if (this.finished)
      throw new Error("digest() was already called");
    this.writeInto(out.length === this.outputLen ? out : out.subarray(0, this.outputLen));
    this.destroy();
  }
  digest() {
    const out = new Uint8Array(this.outputLen);
    this.digestInto(out);
    return out;
  }
  destroy() {
    this.destroyed = true;
    clean(this.state);
  }
  _cloneInto(to) {
    const { blockLen, suffix, outputLen, rounds, enableXOF } = this;
    to ||= new _Keccak(blockLen, suffix, outputLen, enableXOF, rounds);
    to.blockLen = blockLen;
    to.state32.set(this.state32);
    to.pos = this.pos;
    to.posOut = this.posOut;
    to.finished = this.finished;
    to.rounds = rounds;
    to.suffix = suffix;
    to.outputLen = outputLen;
    to.enableXOF = enableXOF;
    to.canXOF = this.canXOF;
    to.destroyed = this.destroyed;
    return to;
  }
};
var genShake = (suffix, blockLen, outputLen, info = {}) => createHasher((opts = {}) => {
  opts = checkOpts({}, opts);
  return new Keccak(blockLen, suffix, opts.dkLen === void 0 ? outputLen : opts.dkLen, true);
}, info);
var shake128 = /* @__PURE__ */ genShake(31, 168, 16, /* @__PURE__ */ oidNist(11));
var shake256 = /* @__PURE__ */ genShake(31, 136, 32, /* @__PURE__ */ oidNist(12));

// node_modules/@noble/post-quantum/utils.js
var abytesDoc = abytes;
var randomBytes3 = randomBytes;
function aarray2(item, title, inner = () => {
}) {
  if (!Array.isArray(item))
    throw new TypeError(`"${title}" expected array, got type=${typeof item}`);
  for (let i = 0; i < item.length; i++)
    inner(item[i], `${title}[${i}]`);
  return item;
}
function aobject2(value, title = "object") {
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new TypeError(title === "object" ? "expected valid options object" : `"${title}" expected object, got type=${typeof value}`);
  return value;
}
function equalBytes(a, b) {
  a = abytes(a);
  b = abytes(b);
  if (a.length !== b.length)
    return false;
  let diff = 0;
  for (let i = 0; i < a.length; i++)
    diff |= a[i] ^ b[i];
  return diff === 0;
}
function validateOpts(opts) {
  if (isBytes(opts))
    throw new TypeError('"opts" expected object, got Uint8Array');
  aobject2(opts, "opts");
  const proto = Object.getPrototypeOf(opts);
  if (proto !== null && proto !== Object.prototype)
    throw new TypeError('"opts" expected a plain object');
}
var VER_OPT_KEYS = /* @__PURE__ */ Object.freeze([
  "context"
]);
var SIG_OPT_KEYS = /* @__PURE__ */ Object.freeze([
  "context",
  "extraEntropy"
]);
function checkOptKeys(opts, allowed) {
  validateOpts(opts);
  const normalized = Object.assign(/* @__PURE__ */ Object.create(null), opts);
  for (const [k, v] of Object.entries(normalized)) {
    if (v === void 0)
      continue;
    if (!allowed.includes(k))
      throw new TypeError('unexpected option "' + String(k) + '"; expected one of: ' + allowed.join(", "));
  }
  return Object.freeze(normalized);
}
function validateVerOpts(opts, allowed = VER_OPT_KEYS) {
  const normalized = checkOptKeys(opts, allowed);
  if (normalized.context !== void 0)
    abytes(normalized.context, void 0, "opts.context");
  return normalized;
}
function validateSigOpts2(opts, allowed = SIG_OPT_KEYS) {
  const normalized = checkOptKeys(opts, allowed);
  if (normalized.context !== void 0)
    abytes(normalized.context, void 0, "opts.context");
  if (normalized.extraEntropy !== false && normalized.extraEntropy !== void 0)
    abytes(normalized.extraEntropy, void 0, "opts.extraEntropy");
  return normalized;
}
function splitCoder(label, ...lengths) {
  const getLength = (c) => typeof c === "number" ? c : c.bytesLen;
  const bytesLen = lengths.reduce((sum, a) => sum + getLength(a), 0);
  return {
    bytesLen,
    encode: (bufs) => {
      const res = new Uint8Array(bytesLen);
      for (let i = 0, pos = 0; i < lengths.length; i++) {
        const c = lengths[i];
        const l = getLength(c);
        const b = typeof c === "number" ? bufs[i] : c.encode(bufs[i]);
        abytes(b, l, label);
        res.set(b, pos);
        if (typeof c !== "number")
          b.fill(0);
        pos += l;
      }
      return res;
    },
    decode: (buf) => {
      abytes(buf, bytesLen, label);
      const res = [];
      for (const c of lengths) {
        const l = getLength(c);
        const b = buf.subarray(0, l);
        res.push(typeof c === "number" ? b : c.decode(b));
        buf = buf.subarray(l);
      }
      return res;
    }
  };
}
function vecCoder(c, vecLen) {
  const coder = c;
  const bytesLen = vecLen * coder.bytesLen;
  return {
    bytesLen,
    encode: (u) => {
      const uArr = aarray2(u, "u");
      if (uArr.length !== vecLen)
        throw new RangeError(`vecCoder.encode: wrong length=${uArr.length}. Expected: ${vecLen}`);
      const res = new Uint8Array(bytesLen);
      for (let i = 0, pos = 0; i < uArr.length; i++) {
        const b = coder.encode(uArr[i]);
        res.set(b, pos);
        b.fill(0);
        pos += b.length;
      }
      return res;
    },
    decode: (a) => {
      abytes(a, bytesLen);
      const r = [];
      for (let i = 0; i < a.length; i += coder.bytesLen)
        r.push(coder.decode(a.subarray(i, i + coder.bytesLen)));
      return r;
    }
  };
}
function cleanBytes(...list2) {
  for (const t of list2) {
    if (Array.isArray(t))
      for (const b of t)
        b.fill(0);
    else
      t.fill(0);
  }
}
function getMask(bits) {
  anumber(bits, "bits");
  if (bits > 32)
    throw new RangeError('"bits" expected <= 32, got ' + bits);
  return bits === 32 ? 4294967295 : ~(-1 << bits) >>> 0;
}
var EMPTY = /* @__PURE__ */ Uint8Array.of();
function getMessage(msg, ctx = EMPTY) {
  abytes(msg, void 0, "msg");
  abytes(ctx, void 0, "ctx");
  if (ctx.length > 255)
    throw new RangeError("context should be 255 bytes or less");
  return concatBytes(new Uint8Array([0, ctx.length]), ctx, msg);
}
var oidNistP = /* @__PURE__ */ Uint8Array.from([6, 9, 96, 134, 72, 1, 101, 3, 4, 2]);
var XOF_OID_OUTPUT_LEN = /* @__PURE__ */ (() => ({
  "060960864801650304020b": 32,
  // id-shake128, SHAKE128(M, 256)
  "060960864801650304020c": 64
  // id-shake256, SHAKE256(M, 512)
}))();
function checkHash(hash, requiredStrength = 0) {
  if (typeof hash !== "function" || typeof hash.create !== "function")
    throw new TypeError('"hash" expected hash function, got type=' + typeof hash);
  ahash(hash);
  anumber(requiredStrength, "requiredStrength");
  const oid = hash.oid;
  abytes(oid, void 0, "hash.oid");
  if (!equalBytes(oid.subarray(0, 10), oidNistP))
    throw new Error('"hash.oid" is invalid: expected NIST hash');
  const xofLen = XOF_OID_OUTPUT_LEN[bytesToHex(oid)];
  if (xofLen !== void 0 && hash.outputLen !== xofLen) {
    throw new Error("Pre-hash XOF output length must be " + xofLen + " bytes for this OID, got: " + hash.outputLen);
  }
  const collisionResistance = hash.outputLen * 8 / 2;
  if (requiredStrength > collisionResistance) {
    throw new Error("Pre-hash security strength too low: " + collisionResistance + ", required: " + requiredStrength);
  }
}
function getMessagePrehash(hash, msg, ctx = EMPTY) {
  checkHash(hash);
  abytes(msg, void 0, "msg");
  abytes(ctx, void 0, "ctx");
  if (ctx.length > 255)
    throw new RangeError("context should be 255 bytes or less");
  const hashed2 = hash(msg);
  return concatBytes(new Uint8Array([1, ctx.length]), ctx, hash.oid, hashed2);
}

// node_modules/@noble/post-quantum/_crystals.js
var genCrystals = (opts) => {
  const { newPoly: newPoly2, N: N2, Q: Q2, F: F2, ROOT_OF_UNITY: ROOT_OF_UNITY2, brvBits, isKyber } = opts;
  const mod2 = (a, modulo = Q2) => {
    const result = a % modulo | 0;
    return (result >= 0 ? result | 0 : modulo + result | 0) | 0;
  };
  const smod = (a, modulo = Q2) => {
    const r = mod2(a, modulo) | 0;
    return (r > modulo >> 1 ? r - modulo | 0 : r) | 0;
  };
  function getZettas() {
    const out = newPoly2(N2);
    for (let i = 0; i < N2; i++) {
      const b = reverseBits(i, brvBits);
      const p = BigInt(ROOT_OF_UNITY2) ** BigInt(b) % BigInt(Q2);
      out[i] = Number(p) | 0;
    }
    return out;
  }
  const nttZetas = getZettas();
  const inv = (_a) => {
    throw new Error("not implemented");
  };
  const field = isKyber ? {
    add: (a, b) => {
      const r = a + b | 0;
      return r >= Q2 ? r - Q2 | 0 : r;
    },
    sub: (a, b) => {
      const r = a - b | 0;
      return r < 0 ? r + Q2 | 0 : r;
    },
    mul: (a, b) => mod2((a | 0) * (b | 0)) | 0,
    inv
  } : {
    add: (a, b) => mod2((a | 0) + (b | 0)) | 0,
    sub: (a, b) => mod2((a | 0) - (b | 0)) | 0,
    mul: (a, b) => mod2((a | 0) * (b | 0)) | 0,
    inv
  };
  const nttOpts = {
    N: N2,
    roots: nttZetas,
    invertButterflies: true,
    skipStages: isKyber ? 1 : 0,
    brp: false
  };
  const dif = FFTCore(field, { dit: false, ...nttOpts });
  const dit = FFTCore(field, { dit: true, ...nttOpts });
  const NTT = {
    encode: (r) => {
      return dif(r);
    },
    decode: (r) => {
      dit(r);
      for (let i = 0; i < r.length; i++)
        r[i] = mod2(F2 * r[i]);
      return r;
    }
  };
  const bitsCoder = (d, c) => {
    for (let i = 0, bufLen = 0; i < N2; i++) {
      bufLen += d;
      if (bufLen > 32)
        getMask(bufLen);
      bufLen %= 8;
    }
    const mask = getMask(d);
    const bytesLen = d * (N2 / 8);
    return {
      bytesLen,
      encode: (poly_) => {
        const poly = poly_;
        const r = new Uint8Array(bytesLen);
        for (let i = 0, buf = 0, bufLen = 0, pos = 0; i < poly.length; i++) {
          buf |= (c.encode(poly[i]) & mask) << bufLen;
          bufLen += d;
          for (; bufLen >= 8; bufLen -= 8, buf >>= 8)
            r[pos++] = buf & 255;
        }
        return r;
      },
      decode: (bytes) => {
        const r = newPoly2(N2);
        for (let i = 0, buf = 0, bufLen = 0, pos = 0; i < bytes.length; i++) {
          buf |= bytes[i] << bufLen;
          bufLen += 8;
          for (; bufLen >= d; bufLen -= d, buf >>= d)
            r[pos++] = c.decode(buf & mask);
        }
        return r;
      }
    };
  };
  return {
    mod: mod2,
    smod,
    nttZetas,
    NTT: {
      encode: (r) => NTT.encode(r),
      decode: (r) => NTT.decode(r)
    },
    bitsCoder
  };
};
var createXofShake = (shake) => (seed, blockLen) => {
  if (!blockLen)
    blockLen = shake.blockLen;
  const _seed = new Uint8Array(seed.length + 2);
  _seed.set(seed);
  const seedLen = seed.length;
  const buf = new Uint8Array(blockLen);
  let h = shake.create({});
  let calls = 0;
  let xofs = 0;
  return {
    stats: () => ({ calls, xofs }),
    get: (x, y) => {
      _seed[seedLen + 0] = x;
      _seed[seedLen + 1] = y;
      h.destroy();
      h = shake.create({}).update(_seed);
      calls++;
      return () => {
        xofs++;
        return h.xofInto(buf);
      };
    },
    clean: () => {
      h.destroy();
      cleanBytes(buf, _seed);
    }
  };
};
var XOF128 = /* @__PURE__ */ createXofShake(shake128);
var XOF256 = /* @__PURE__ */ createXofShake(shake256);

// node_modules/@noble/post-quantum/ml-dsa.js
var INTERNAL_SIG_OPT_KEYS = /* @__PURE__ */ Object.freeze([
  "extraEntropy",
  "externalMu"
]);
var INTERNAL_VER_OPT_KEYS = /* @__PURE__ */ Object.freeze(["externalMu"]);
function validateInternalOpts(opts, allowed) {
  const normalized = checkOptKeys(opts, allowed);
  if (normalized.externalMu !== void 0)
    abool2(normalized.externalMu, "opts.externalMu");
  return normalized;
}
var N = 256;
var Q = 8380417;
var ROOT_OF_UNITY = 1753;
var F = 8347681;
var D = 13;
var GAMMA2_1 = Math.floor((Q - 1) / 88) | 0;
var GAMMA2_2 = Math.floor((Q - 1) / 32) | 0;
var PARAMS = /* @__PURE__ */ (() => Object.freeze({
  2: Object.freeze({
    K: 4,
    L: 4,
    D,
    GAMMA1: 2 ** 17,
    GAMMA2: GAMMA2_1,
    TAU: 39,
    ETA: 2,
    OMEGA: 80
  }),
  3: Object.freeze({
    K: 6,
    L: 5,
    D,
    GAMMA1: 2 ** 19,
    GAMMA2: GAMMA2_2,
    TAU: 49,
    ETA: 4,
    OMEGA: 55
  }),
  5: Object.freeze({
    K: 8,
    L: 7,
    D,
    GAMMA1: 2 ** 19,
    GAMMA2: GAMMA2_2,
    TAU: 60,
    ETA: 2,
    OMEGA: 75
  })
}))();
var newPoly = (n) => new Int32Array(n);
var crystals = /* @__PURE__ */ genCrystals({
  N,
  Q,
  F,
  ROOT_OF_UNITY,
  newPoly,
  isKyber: false,
  brvBits: 8
});
var id = (n) => n;
var polyCoder = (d, compress = id, verify = id) => crystals.bitsCoder(d, {
  encode: (i) => compress(verify(i)),
  decode: (i) => verify(compress(i))
});
var polyAdd = (a_, b_) => {
  const a = a_;
  const b = b_;
  for (let i = 0; i < a.length; i++)
    a[i] = crystals.mod(a[i] + b[i]);
  return a;
};
var polySub = (a_, b_) => {
  const a = a_;
  const b = b_;
  for (let i = 0; i < a.length; i++)
    a[i] = crystals.mod(a[i] - b[i]);
  return a;
};
var polyShiftl = (p_) => {
  const p = p_;
  for (let i = 0; i < N; i++)
    p[i] <<= D;
  return p;
};
var polyChknorm = (p_, B2) => {
  const p = p_;
  for (let i = 0; i < N; i++)
    if (Math.abs(crystals.smod(p[i])) >= B2)
      return true;
  return false;
};
var MultiplyNTTs = (a_, b_) => {
  const a = a_;
  const b = b_;
  const c = newPoly(N);
  for (let i = 0; i < a.length; i++)
    c[i] = crystals.mod(a[i] * b[i]);
  return c;
};
function RejNTTPoly(xof_) {
  const xof = xof_;
  const r = newPoly(N);
  for (let j = 0; j < N; ) {
    const b = xof();
    if (b.length % 3)
      throw new Error("RejNTTPoly: unaligned block");
    for (let i = 0; j < N && i <= b.length - 3; i += 3) {
      const t = (b[i + 0] | b[i + 1] << 8 | b[i + 2] << 16) & 8388607;
      if (t < Q)
        r[j++] = t;
    }
  }
  return r;
}
function getDilithium(opts_) {
  const opts = opts_;
  const { K, L, GAMMA1, GAMMA2, TAU, ETA, OMEGA } = opts;
  const { CRH_BYTES, TR_BYTES, C_TILDE_BYTES, XOF128: XOF1282, XOF256: XOF2562, securityLevel } = opts;
  if (![2, 4].includes(ETA))
    throw new Error("Wrong ETA");
  if (![1 << 17, 1 << 19].includes(GAMMA1))
    throw new Error("Wrong GAMMA1");
  if (![GAMMA2_1, GAMMA2_2].includes(GAMMA2))
    throw new Error("Wrong GAMMA2");
  const BETA = TAU * ETA;
  const decompose = (r) => {
    const rPlus = crystals.mod(r);
    const r0 = crystals.smod(rPlus, 2 * GAMMA2) | 0;
    if (rPlus - r0 === Q - 1)
      return { r1: 0 | 0, r0: r0 - 1 | 0 };
    const r1 = Math.floor((rPlus - r0) / (2 * GAMMA2)) | 0;
    return { r1, r0 };
  };
  const HighBits = (r) => decompose(r).r1;
  const LowBits = (r) => decompose(r).r0;
  const MakeHint = (z, r) => {
    const res0 = z <= GAMMA2 || z > Q - GAMMA2 || z === Q - GAMMA2 && r === 0 ? 0 : 1;
    return res0;
  };
  const HINT_M = Math.floor((Q - 1) / (2 * GAMMA2));
  const UseHint = (h, r) => {
    const { r1, r0 } = decompose(r);
    if (h === 1)
      return r0 > 0 ? crystals.mod(r1 + 1, HINT_M) | 0 : crystals.mod(r1 - 1, HINT_M) | 0;
    return r1 | 0;
  };
  const Power2Round = (r) => {
    const rPlus = crystals.mod(r);
    const r0 = crystals.smod(rPlus, 2 ** D) | 0;
    return { r1: Math.floor((rPlus - r0) / 2 ** D) | 0, r0 };
  };
  const hintCoder = {
    bytesLen: OMEGA + K,
    encode: (h_) => {
      const h = h_;
      if (h === false)
        throw new Error("hint.encode: hint is false");
      const res = new Uint8Array(OMEGA + K);
      for (let i = 0, k = 0; i < K; i++) {
        for (let j = 0; j < N; j++)
          if (h[i][j] !== 0)
            res[k++] = j;
        res[OMEGA + i] = k;
      }
      return res;
    },
    decode: (buf) => {
      const h = [];
      let k = 0;
      for (let i = 0; i < K; i++) {
        const hi = newPoly(N);
        if (buf[OMEGA + i] < k || buf[OMEGA + i] > OMEGA)
          return false;
        for (let j = k; j < buf[OMEGA + i]; j++) {
          if (j > k && buf[j] <= buf[j - 1])
            return false;
          hi[buf[j]] = 1;
        }
        k = buf[OMEGA + i];
        h.push(hi);
      }
      for (let j = k; j < OMEGA; j++)
        if (buf[j] !== 0)
          return false;
      return h;
    }
  };
  const ETACoder = polyCoder(ETA === 2 ? 3 : 4, (i) => ETA - i, (i) => {
    if (!(-ETA <= i && i <= ETA))
      throw new Error(`malformed key s1/s3 ${i} outside of ETA range [${-ETA}, ${ETA}]`);
    return i;
  });
  const T0Coder = polyCoder(13, (i) => (1 << D - 1) - i);
  const T1Coder = polyCoder(10);
  const ZCoder = polyCoder(GAMMA1 === 1 << 17 ? 18 : 20, (i) => crystals.smod(GAMMA1 - i));
  const W1Coder = polyCoder(GAMMA2 === GAMMA2_1 ? 6 : 4);
  const W1Vec = vecCoder(W1Coder, K);
  const publicCoder = splitCoder("publicKey", 32, vecCoder(T1Coder, K));
  const secretCoder = splitCoder("secretKey", 32, 32, TR_BYTES, vecCoder(ETACoder, L), vecCoder(ETACoder, K), vecCoder(T0Coder, K));
  const sigCoder = splitCoder("signature", C_TILDE_BYTES, vecCoder(ZCoder, L), hintCoder);
  const CoefFromHalfByte = ETA === 2 ? (n) => n < 15 ? 2 - n % 5 : false : (n) => n < 9 ? 4 - n : false;
  function RejBoundedPoly(xof_) {
    const xof = xof_;
    const r = newPoly(N);
    for (let j = 0; j < N; ) {
      const b = xof();
      for (let i = 0; j < N && i < b.length; i += 1) {
        const d1 = CoefFromHalfByte(b[i] & 15);
        const d2 = CoefFromHalfByte(b[i] >> 4 & 15);
        if (d1 !== false)
          r[j++] = d1;
        if (j < N && d2 !== false)
          r[j++] = d2;
      }
    }
    return r;
  }
  const SampleInBall = (seed) => {
    const pre = newPoly(N);
    const s = shake256.create({}).update(seed);
    const buf = new Uint8Array(shake256.blockLen);
    s.xofInto(buf);
    const masks = buf.slice(0, 8);
    for (let i = N - TAU, pos = 8, maskPos = 0, maskBit = 0; i < N; i++) {
      let b = i + 1;
      for (; b > i; ) {
        b = buf[pos++];
        if (pos < shake256.blockLen)
          continue;
        s.xofInto(buf);
        pos = 0;
      }
      pre[i] = pre[b];
      pre[b] = 1 - ((masks[maskPos] >> maskBit++ & 1) << 1);
      if (maskBit >= 8) {
        maskPos++;
        maskBit = 0;
      }
    }
    return pre;
  };
  const polyPowerRound = (p_) => {
    const p = p_;
    const res0 = newPoly(N);
    const res1 = newPoly(N);
    for (let i = 0; i < p.length; i++) {
      const { r0, r1 } = Power2Round(p[i]);
      res0[i] = r0;
      res1[i] = r1;
    }
    return { r0: res0, r1: res1 };
  };
  const polyUseHint = (u_, h_) => {
    const u = u_;
    const h = h_;
    for (let i = 0; i < N; i++)
      u[i] = UseHint(h[i], u[i]);
    return u;
  };
  const polyMakeHint = (a_, b_) => {
    const a = a_;
    const b = b_;
    const v = newPoly(N);
    let cnt = 0;
    for (let i = 0; i < N; i++) {
      const h = MakeHint(a[i], b[i]);
      v[i] = h;
      cnt += h;
    }
    return { v, cnt };
  };
  const signRandBytes = 32;
  const seedCoder = splitCoder("seed", 32, 64, 32);
  const internal = Object.freeze({
    info: Object.freeze({ type: "internal-ml-dsa" }),
    lengths: Object.freeze({
      secretKey: secretCoder.bytesLen,
      publicKey: publicCoder.bytesLen,
      seed: 32,
      signature: sigCoder.bytesLen,
      signRand: signRandBytes
    }),
    keygen: (seed) => {
      const seedDst = new Uint8Array(32 + 2);
      const randSeed = seed === void 0;
      if (randSeed)
        seed = randomBytes3(32);
      abytesDoc(seed, 32, "seed");
      seedDst.set(seed);
      if (randSeed)
        cleanBytes(seed);
      seedDst[32] = K;
      seedDst[33] = L;
      const [rho, rhoPrime, K_] = seedCoder.decode(shake256(seedDst, { dkLen: seedCoder.bytesLen }));
      const xofPrime = XOF2562(rhoPrime);
      const s1 = [];
      for (let i = 0; i < L; i++)
        s1.push(RejBoundedPoly(xofPrime.get(i & 255, i >> 8 & 255)));
      const s2 = [];
      for (let i = L; i < L + K; i++)
        s2.push(RejBoundedPoly(xofPrime.get(i & 255, i >> 8 & 255)));
      const s1Hat = s1.map((i) => crystals.NTT.encode(i.slice()));
      const t0 = [];
      const t1 = [];
      const xof = XOF1282(rho);
      const t = newPoly(N);
      for (let i = 0; i < K; i++) {
        cleanBytes(t);
        for (let j = 0; j < L; j++) {
          const aij = RejNTTPoly(xof.get(j, i));
          polyAdd(t, MultiplyNTTs(aij, s1Hat[j]));
        }
        crystals.NTT.decode(t);
        const { r0, r1 } = polyPowerRound(polyAdd(t, s2[i]));
        t0.push(r0);
        t1.push(r1);
      }
      const publicKey = publicCoder.encode([rho, t1]);
      const tr = shake256(publicKey, { dkLen: TR_BYTES });
      const secretKey = secretCoder.encode([rho, K_, tr, s1, s2, t0]);
      xof.clean();
      xofPrime.clean();
      cleanBytes(rho, rhoPrime, K_, s1, s2, s1Hat, t, t0, t1, tr, seedDst);
      return {
        publicKey,
        secretKey
      };
    },
    getPublicKey: (secretKey) => {
      const [rho, _K, _tr, s1, s2, _t0] = secretCoder.decode(secretKey);
      const xof = XOF1282(rho);
      const s1Hat = s1.map((p) => crystals.NTT.encode(p.slice()));
      const t1 = [];
      const tmp = newPoly(N);
      for (let i = 0; i < K; i++) {
        tmp.fill(0);
        for (let j = 0; j < L; j++) {
          const aij = RejNTTPoly(xof.get(j, i));
          polyAdd(tmp, MultiplyNTTs(aij, s1Hat[j]));
        }
        crystals.NTT.decode(tmp);
        polyAdd(tmp, s2[i]);
        const { r1 } = polyPowerRound(tmp);
        t1.push(r1);
      }
      xof.clean();
      cleanBytes(tmp, s1Hat, _t0, s1, s2);
      return publicCoder.encode([rho, t1]);
    },
    // NOTE: random is optional.
    sign: (msg, secretKey, opts2 = {}) => {
      opts2 = validateSigOpts2(opts2, INTERNAL_SIG_OPT_KEYS);
      opts2 = validateInternalOpts(opts2, INTERNAL_SIG_OPT_KEYS);
      const { extraEntropy: random, externalMu = false } = opts2;
      if (externalMu)
        abytesDoc(msg, CRH_BYTES, "mu");
      const ownRnd = random === false || random === void 0;
      const rnd = random === false ? new Uint8Array(32) : random === void 0 ? randomBytes3(signRandBytes) : random;
      abytesDoc(rnd, 32, "extraEntropy");
      const decoded3 = (() => {
        try {
          return secretCoder.decode(secretKey);
        } catch (error) {
          if (ownRnd)
            cleanBytes(rnd);
          throw error;
        }
      })();
      const [rho, _K, tr, s1, s2, t0] = decoded3;
      const A = [];
      const xof = XOF1282(rho);
      for (let i = 0; i < K; i++) {
        const pv = [];
        for (let j = 0; j < L; j++)
          pv.push(RejNTTPoly(xof.get(j, i)));
        A.push(pv);
      }
      xof.clean();
      for (let i = 0; i < L; i++)
        crystals.NTT.encode(s1[i]);
      for (let i = 0; i < K; i++) {
        crystals.NTT.encode(s2[i]);
        crystals.NTT.encode(t0[i]);
      }
      const mu = externalMu ? msg : (
        // 6: µ ← H(tr||M, 512)
        //    ▷ Compute message representative µ
        shake256.create({ dkLen: CRH_BYTES }).update(tr).update(msg).digest()
      );
      const rhoprime = shake256.create({ dkLen: CRH_BYTES }).update(_K).update(rnd).update(mu).digest();
      if (ownRnd)
        cleanBytes(rnd);
      abytesDoc(rhoprime, CRH_BYTES);
      const x256 = XOF2562(rhoprime, ZCoder.bytesLen);
      main_loop: for (let kappa = 0; ; ) {
        const y = [];
        for (let i = 0; i < L; i++, kappa++)
          y.push(ZCoder.decode(x256.get(kappa & 255, kappa >> 8)()));
        const z = y.map((i) => crystals.NTT.encode(i.slice()));
        const w = [];
        for (let i = 0; i < K; i++) {
          const wi = newPoly(N);
          for (let j = 0; j < L; j++)
            polyAdd(wi, MultiplyNTTs(A[i][j], z[j]));
          crystals.NTT.decode(wi);
          w.push(wi);
        }
        const w1 = w.map((j) => j.map(HighBits));
        const cTilde = shake256.create({ dkLen: C_TILDE_BYTES }).update(mu).update(W1Vec.encode(w1)).digest();
        const cHat = crystals.NTT.encode(SampleInBall(cTilde));
        const cs1 = s1.map((i) => MultiplyNTTs(i, cHat));
        for (let i = 0; i < L; i++) {
          polyAdd(crystals.NTT.decode(cs1[i]), y[i]);
          if (polyChknorm(cs1[i], GAMMA1 - BETA)) {
            cleanBytes(cTilde, cs1, cHat, w1, w, z, y);
            continue main_loop;
          }
        }
        let cnt = 0;
        const h = [];
        for (let i = 0; i < K; i++) {
          const cs2 = crystals.NTT.decode(MultiplyNTTs(s2[i], cHat));
          const r0 = polySub(w[i], cs2).map(LowBits);
          if (polyChknorm(r0, GAMMA2 - BETA)) {
            cleanBytes(cTilde, cs1, cHat, w1, w, z, y, h, cs2, r0);
            continue main_loop;
          }
          const ct0 = crystals.NTT.decode(MultiplyNTTs(t0[i], cHat));
          if (polyChknorm(ct0, GAMMA2)) {
            cleanBytes(cTilde, cs1, cHat, w1, w, z, y, h, cs2, r0, ct0);
            continue main_loop;
          }
          polyAdd(r0, ct0);
          const hint = polyMakeHint(r0, w1[i]);
          h.push(hint.v);
          cnt += hint.cnt;
        }
        if (cnt > OMEGA) {
          cleanBytes(cTilde, cs1, cHat, w1, w, z, y, h);
          continue;
        }
        x256.clean();
        const res = sigCoder.encode([cTilde, cs1, h]);
        cleanBytes(cTilde, cs1, h, cHat, w1, w, z, y, rhoprime, s1, s2, t0, ...A);
        if (!externalMu)
          cleanBytes(mu);
        return res;
      }
      throw new Error("Unreachable code path reached, report this error");
    },
    verify: (sig, msg, publicKey, opts2 = {}) => {
      opts2 = validateInternalOpts(opts2, INTERNAL_VER_OPT_KEYS);
      const { externalMu = false } = opts2;
      if (externalMu)
        abytesDoc(msg, CRH_BYTES, "mu");
      const [rho, t1] = publicCoder.decode(publicKey);
      const tr = shake256(publicKey, { dkLen: TR_BYTES });
      if (sig.length !== sigCoder.bytesLen)
        return false;
      const [cTilde, z, h] = sigCoder.decode(sig);
      if (h === false)
        return false;
      for (let i = 0; i < L; i++)
        if (polyChknorm(z[i], GAMMA1 - BETA))
          return false;
      const mu = externalMu ? msg : (
        // 7: µ ← H(tr||M, 512)
        shake256.create({ dkLen: CRH_BYTES }).update(tr).update(msg).digest()
      );
      const c = crystals.NTT.encode(SampleInBall(cTilde));
      const zNtt = z.map((i) => i.slice());
      for (let i = 0; i < L; i++)
        crystals.NTT.encode(zNtt[i]);
      const wTick1 = [];
      const xof = XOF1282(rho);
      for (let i = 0; i < K; i++) {
        const ct12d = MultiplyNTTs(crystals.NTT.encode(polyShiftl(t1[i])), c);
        const Az = newPoly(N);
        for (let j = 0; j < L; j++) {
          const aij = RejNTTPoly(xof.get(j, i));
          polyAdd(Az, MultiplyNTTs(aij, zNtt[j]));
        }
        const wApprox = crystals.NTT.decode(polySub(Az, ct12d));
        wTick1.push(polyUseHint(wApprox, h[i]));
      }
      xof.clean();
      const c2 = shake256.create({ dkLen: C_TILDE_BYTES }).update(mu).update(W1Vec.encode(wTick1)).digest();
      for (const t of h) {
        const sum = t.reduce((acc, i) => acc + i, 0);
        if (!(sum <= OMEGA))
          return false;
      }
      for (const t of z)
        if (polyChknorm(t, GAMMA1 - BETA))
          return false;
      return equalBytes(cTilde, c2);
    }
  });
  return Object.freeze({
    info: Object.freeze({ type: "ml-dsa" }),
    internal,
    securityLevel,
    keygen: internal.keygen,
    lengths: internal.lengths,
    getPublicKey: internal.getPublicKey,
    sign: (msg, secretKey, opts2 = {}) => {
      opts2 = validateSigOpts2(opts2);
      const M = getMessage(msg, opts2.context);
      const res = internal.sign(M, secretKey, {
        extraEntropy: opts2.extraEntropy,
        externalMu: false
      });
      cleanBytes(M);
      return res;
    },
    verify: (sig, msg, publicKey, opts2 = {}) => {
      opts2 = validateVerOpts(opts2);
      abytesDoc(sig, void 0, "signature");
      return internal.verify(sig, getMessage(msg, opts2.context), publicKey, { externalMu: false });
    },
    prehash: (hash) => {
      checkHash(hash, securityLevel);
      const rawHash = hash;
      return Object.freeze({
        info: Object.freeze({ type: "hashml-dsa" }),
        securityLevel,
        lengths: internal.lengths,
        keygen: internal.keygen,
        getPublicKey: internal.getPublicKey,
        sign: (msg, secretKey, opts2 = {}) => {
          opts2 = validateSigOpts2(opts2);
          const M = getMessagePrehash(rawHash, msg, opts2.context);
          const res = internal.sign(M, secretKey, {
            extraEntropy: opts2.extraEntropy,
            externalMu: false
          });
          cleanBytes(M);
          return res;
        },
        verify: (sig, msg, publicKey, opts2 = {}) => {
          opts2 = validateVerOpts(opts2);
          abytesDoc(sig, void 0, "signature");
          return internal.verify(sig, getMessagePrehash(rawHash, msg, opts2.context), publicKey, {
            externalMu: false
          });
        }
      });
    }
  });
}
var ml_dsa44 = /* @__PURE__ */ (() => getDilithium({
  ...PARAMS[2],
  CRH_BYTES: 64,
  TR_BYTES: 64,
  C_TILDE_BYTES: 32,
  XOF128,
  XOF256,
  securityLevel: 128
}))();
var ml_dsa65 = /* @__PURE__ */ (() => getDilithium({
  ...PARAMS[3],
  CRH_BYTES: 64,
  TR_BYTES: 64,
  C_TILDE_BYTES: 48,
  XOF128,
  XOF256,
  securityLevel: 192
}))();

// src/core/verifier/crypto.ts
function cryptoOf(keys, onUsed = () => void 0, ed25519By = verifiers.ed25519) {
  const by2 = { ...verifiers, ed25519: ed25519By };
  return {
    sha256Hex: (text) => bytesToHex(sha256(utf8ToBytes(text))),
    verifySignature: (artifact, canonicalText2, carried) => {
      const { keyId, value } = carried;
      if (keyId.includes(":") && isPasskeyAlgorithm(carried.algorithm))
        return isAsserted(artifact, canonicalText2, carried, { keys, onUsed, by: by2 });
      const algorithm = knownFamily(carried.algorithm);
      requireMayVerify(artifact, keyId);
      const signature = base64(value);
      if (signature === void 0) throw new Error("the signature is not canonical base64");
      const length = SIGNATURE_BYTES[algorithm];
      if (signature.length !== length)
        throw new Error(`the signature has ${signature.length} bytes; one of ${algorithm} has ${length}`);
      const message = signedMessage(artifact, preAuthEncoding(artifact, canonicalText2), carried, HASHING);
      const key = keys.get(keyId);
      if (key === void 0) return void 0;
      if (key.algorithm !== algorithm) throw new Error(`key '${keyId}' is not an ${algorithm} key`);
      if (key.passkey !== void 0) throw new Error(`key '${keyId}' is a passkey, and signs as one only`);
      return isSignedBy(key, message, signature, { onUsed, by: by2 });
    },
    humanKey: (keyId) => keyId.includes(":") ? keys.get(keyId) : void 0
  };
}
function requireMayVerify(artifact, keyId) {
  if (!mayVerify(artifact, keyId)) throw new Error(`key '${keyId}' is of no kind that signs as ${artifact}`);
}
function isAsserted(artifact, canonicalText2, { algorithm, keyId, value, webauthn }, { keys, ...checking }) {
  if (!isPasskeyAlgorithm(algorithm)) throw new Error(`the algorithm '${algorithm}' is not known`);
  requireMayVerify(artifact, keyId);
  const signature = base64(value);
  if (signature === void 0) throw new Error("the signature is not canonical base64");
  const kind = keyAlgorithmOf(algorithm);
  if (kind === "es256" && !isDer(signature)) throw new Error("the signature is not canonical DER");
  if (kind === "ed25519" && signature.length !== SIGNATURE_BYTES.ed25519)
    throw new Error(`the signature has ${signature.length} bytes; one of ed25519 has 64`);
  const key = keys.get(keyId);
  if (key !== void 0 && key.passkey === void 0) throw new Error(`key '${keyId}' is no passkey`);
  if (key !== void 0 && key.algorithm !== kind) throw new Error(`key '${keyId}' is not an ${kind} key`);
  const message = preAuthEncoding(artifact, canonicalText2);
  const asserted = assertedBytes(webauthn, { message, passkey: key?.passkey, sha256 });
  return key && isSignedBy(key, asserted, signature, checking);
}
function isSignedBy(key, message, signature, { onUsed, by: by2 }) {
  const { algorithm, bytes: publicKey, point } = key;
  const isSigned = by2[algorithm]({ message, signature, publicKey, point });
  if (isSigned) onUsed(key);
  return isSigned;
}
function isDer(signature) {
  try {
    p256.Signature.fromBytes(signature, "der");
    return true;
  } catch {
    return false;
  }
}
var HASHING = {
  sha256,
  fromBase64: base64,
  toBase64
};
var verifiers = {
  ed25519: (signed) => signed.signature.length === SIGNATURE_BYTES.ed25519 && holds(signed),
  // FIPS 204, pure, empty context.
  "ml-dsa-65": ({ message, signature, publicKey }) => signature.length === SIGNATURE_BYTES["ml-dsa-65"] && ml_dsa65.verify(signature, message, publicKey),
  // FIPS 186-5 §6.4.2, of SHA-256. Passkeys make an S above half the order every second time, which noble refuses unless it is told not to.
  es256: ({ message, signature, publicKey }) => isDer(signature) && p256.verify(signature, message, uncompressed(publicKey), { format: "der", lowS: false })
};
function holds({ message, signature, publicKey, point }) {
  const { Point } = ed25519;
  const encodedR = signature.subarray(0, 32);
  const S = bytesToNumberLE(signature.subarray(32));
  if (S >= Point.Fn.ORDER) return false;
  const [R, A] = [pointOf2(encodedR), point ?? pointOf2(publicKey)];
  if (R === void 0 || A === void 0 || R.isSmallOrder() || A.isSmallOrder()) return false;
  const k = bytesToNumberLE(sha512(concatBytes(encodedR, publicKey, message))) % Point.Fn.ORDER;
  return Point.BASE.multiplyUnsafe(S).subtract(A.multiplyUnsafe(k)).equals(R);
}
function pointOf2(bytes) {
  try {
    return ed25519.Point.fromBytes(bytes);
  } catch {
    return void 0;
  }
}

// src/core/intents/states.ts
var intentStates = ["PREPARED", "RELEASED", "FINALIZED", "ERRORED", "RESOLVED"];
var FOLLOWING = {
  PREPARED: ["RELEASED", "ERRORED"],
  RELEASED: ["FINALIZED", "ERRORED", "RESOLVED"],
  FINALIZED: [],
  ERRORED: [],
  RESOLVED: []
};
function mayFollow(from, to) {
  const state = intentStates.find((known) => known === from);
  return state !== void 0 && FOLLOWING[state].some((next) => next === to);
}

// src/core/verifier/intent-transition.ts
function checkIntentTransition(evidence, given) {
  const { transition, signature } = isMembers(evidence) ? evidence : {};
  return [
    checkEd25519("transition signature", "The signature of the transition is not valid", given, {
      artifact: "intent-transition",
      text: isMembers(transition) ? canonicalText(transition) : void 0,
      signature
    }),
    check("transition", "The transition is not one that an intent can make", () => isLegal(transition))
  ];
}
function isLegal(value) {
  const { from, to, by: by2, resolution, trustRecordHash, confirmationId, agreedWith } = members(value);
  if (!mayFollow(from, to) || string(by2) === "") return false;
  const isClosed = (resolution === "EXECUTED" || resolution === "NOT_EXECUTED") && by2 !== "service";
  const isProven = typeof trustRecordHash === "string" && /^[0-9a-f]{64}$/.test(trustRecordHash);
  const isConfirmed2 = confirmationId === void 0 || to === "RESOLVED" && string(by2).startsWith("webhook:") && string(confirmationId) !== "";
  const isAgreed = agreedWith === void 0 || to === "RESOLVED" && string(agreedWith) !== "" && agreedWith !== by2;
  return isConfirmed2 && isAgreed && (to === "RESOLVED" ? isClosed : resolution === void 0) && (to === "FINALIZED" ? isProven : trustRecordHash === void 0 || to === "ERRORED" && isProven);
}

// src/core/verifier/not-proven.ts
var ALWAYS = [
  "That the key set is authentic: it decides everything. Compare the fingerprints of its keys over a second channel.",
  "That nobody else holds the private keys.",
  "When it was signed: the times are those of the clock of the signer, and `signedAt` is not signed at all.",
  "That nothing is missing: other records, refusals and events may exist that are not in this file."
];
var OF_KIND = {
  "trust-record": [
    "That the policy was a good one, or is the one whose hash is signed: compare policyContentHash with the policy that you expect.",
    "That the declared signals were true, beyond what was verified.",
    "That as many approved as the policy asks for: the record shows who approved, the policy how many must.",
    "That the approvers are the humans that they are named after, or that a key was not revoked: that is what their key files say.",
    "That the human saw what was signed: the page at the origin that a passkey names showed it.",
    "That a passkey was not copied: it may be kept in a cloud account (`backupEligible`).",
    "That no approval was used for another execution too: compare the nonces.",
    "That the effect happened, or happened as reported: the record holds what the connector reported.",
    "That the verifications were run: they are not signed. Only a receipt confirms one."
  ],
  receipt: [
    "What was executed: a receipt names a record by its hash. Verify the record, and compare its trustRecordHash.",
    "That the verification which it names was run as it says: the signer says so."
  ],
  "refusal-record": [
    "That the policy was a good one, or that it was right to refuse.",
    "That the same was not executed under another businessTransactionId.",
    "That the verified values were right: the refusal holds what the service saw."
  ],
  "audit-event": [
    "That what the event tells is true: it is what the service saw and signed.",
    "The order of events, or that none was left out."
  ],
  "governance-change": [
    "That the change was right, or took effect.",
    "That its warnings and its diff are what the checker was shown: neither is signed.",
    "That an impact report says what the service would have answered: it is what the human saw who signed its hash. Run the simulation over its range again.",
    "That the one who resolved it is a human and another one than the proposer: their names are what the service knew them by.",
    "That the step-up authorization was used only once, and, where no key of that human is given, that it is signed.",
    "That the human saw what was signed: the page at the origin that a passkey names showed it.",
    "That a passkey was not copied: it may be kept in a cloud account (`backupEligible`).",
    "That it is the latest state of the change: each state is signed on its own."
  ],
  "intent-transition": [
    "That the effect happened or did not, as a resolution says: it is what a human found out and stated, or what a provider or the connector said.",
    "That the intent was in the state which it left, or that no other transition was made: each is signed on its own.",
    "That a record of the hash that it names exists: verify the record, and compare its trustRecordHash."
  ],
  "provider-confirmation": [
    "That the effect happened or did not: it is what the provider said, as the rule in effect read its delivery.",
    "That the delivery said so: the confirmation names its SHA-256, and the delivery is not in it.",
    "That the rule was right: compare rulesHash with the rules that you expect.",
    "That the provider said nothing else before or after: each confirmation is signed on its own."
  ],
  "approval-request": [
    "That anybody approved it: an approval is signed by its approver, and stands in the record of the execution.",
    "That it stands as its status, missing, eligible and approvals say: only the request and its end are signed.",
    "That what was asked for was executed, or was not: that is what a record or a refusal says.",
    "That the note is true: it is what the caller wrote.",
    "That its signals are true: they are what the caller declared."
  ],
  "approval-request-close": [
    "What was asked for: it names a request by its hash. Verify the request, and compare its requestHash.",
    "That the one who closed it is the human or the caller of that name: their names are what the service knew them by.",
    "That nothing was executed before: a request that was used cannot be closed, and the service says so."
  ],
  bundle: [
    "That the policy was a good one: it is in the bundle to be read.",
    "That the declared signals were true, beyond what was verified.",
    "That as many approved as the policy asks for: the record shows who approved, the policy how many must.",
    "That the approvers are the humans that they are named after, or that a key was not revoked before it was used: a revocation is a governance change of its own.",
    "That the human saw what was signed: the page at the origin that a passkey names showed it.",
    "That a passkey was not copied: it may be kept in a cloud account (`backupEligible`).",
    "That no approval was used for another execution too: compare the nonces.",
    "That those who resolved the governance changes are humans, and that their step-up authorizations were used only once.",
    "That the effect happened, or happened as reported: the record holds what the connector reported.",
    "That the verifications were run: they are not signed. Only a receipt confirms one.",
    "That the log is the same for everybody: that takes witnesses, or two readers who compare its checkpoints."
  ]
};
function notProven(kind) {
  return [...OF_KIND[kind], ...ALWAYS];
}

// src/core/verifier/note-crypto.ts
var noteCrypto = {
  sha256,
  verifies: {
    ed25519: verifiers.ed25519,
    "ml-dsa-44": ({ message, signature, publicKey }) => signature.length === 2420 && ml_dsa44.verify(signature, message, publicKey)
  }
};

// src/core/verifier/refusal-record.ts
function checkRefusalRecord(evidence, given) {
  const refusal = isMembers(evidence) ? evidence : {};
  const { refusalRecordHash, signature, ...signedMembers2 } = refusal;
  const signed = canonicalText(signedMembers2);
  return [
    check("refusal hash", "The refusal record hash does not match the canonical record", () => {
      return signed !== void 0 && given.sha256Hex(signed) === refusalRecordHash;
    }),
    checkEd25519("refusal signature", "The refusal record signature is not valid", given, {
      artifact: "refusal-record",
      text: signed,
      signature
    }),
    check("decision binding", "The decision is not a refusal of this intent", () => boundToDecision2(refusal)),
    checkRefusedApprovals(refusal, given)
  ];
}
function boundToDecision2(refusal) {
  const decision = members(refusal["decision"]);
  const signals = members(decision["signals"]);
  return decision["outcome"] === "REJECTED" && string(decision["intentId"]) === members(refusal["evaluatedIntent"])["intentId"] && list(refusal["mismatches"]).map(members).every(({ signal, declared }) => {
    const given = Object.hasOwn(signals, string(signal)) ? signals[string(signal)] : null;
    return typeof given !== "object" || given === null ? given === declared : false;
  });
}

// src/core/verifier/unsigned.ts
var SIGNATURE = ["algorithm", "keyId", "value", "signedAt", "batch"];
var VERIFICATION = [
  "verificationId",
  "businessTransactionId",
  "status",
  "message",
  "verifiedAt",
  "trustRecordHash"
];
var RECORD = [
  "trustRecordId",
  "businessTransactionId",
  "transaction",
  "authorization",
  "executions",
  "overrides",
  "createdAt",
  "requiredAlgorithms",
  "trustRecordHash",
  "signature",
  "signatures",
  "verifications",
  "receipts",
  "verificationCount",
  "receiptCount",
  "confirmations",
  "confirmationCount"
];
var unknown = (value, known, ...path) => isMembers(value) ? Object.keys(value).flatMap((name) => known.includes(name) ? [] : [[...path, name].join(".")]) : [];
function unknownInEach(value, known, ...path) {
  return Array.isArray(value) ? value.flatMap((one, i) => unknown(one, known, ...path, i)) : [];
}
var beside = (name) => (evidence) => [
  ...unknown(evidence, [name, "signature"]),
  ...unknown(evidence["signature"], SIGNATURE, "signature")
];
var ofSignature = ({ signature }) => unknown(signature, SIGNATURE, "signature");
var ofSignatures = ({ signatures }) => unknownInEach(signatures, SIGNATURE, "signatures");
var OF_KIND2 = {
  "trust-record": (record) => [
    ...unknown(record, RECORD),
    ...ofSignature(record),
    ...ofSignatures(record),
    ...unknownInEach(record["verifications"], VERIFICATION, "verifications"),
    ...(Array.isArray(record["receipts"]) ? record["receipts"] : []).flatMap(
      (receipt, i) => isMembers(receipt) ? unknownInEach(receipt["signatures"], SIGNATURE, "receipts", i, "signatures") : []
    ),
    ...partsOf(record["confirmations"]).flatMap(
      (one, i) => ofPart("provider-confirmation", one, "confirmations", i)
    )
  ],
  receipt: ofSignatures,
  "refusal-record": ofSignature,
  "audit-event": beside("event"),
  "governance-change": ofSignature,
  "intent-transition": beside("transition"),
  "provider-confirmation": beside("confirmation"),
  "approval-request": (asked) => [
    ...unknown(asked, REQUEST),
    ...ofSignature(asked),
    ...ofPart("approval-request-close", asked["closed"], "closed")
  ],
  "approval-request-close": ofSignature,
  bundle: (bundle) => [
    ...unknown(bundle, BUNDLE),
    ...ofPart("trust-record", bundle["record"], "record"),
    ...partsOf(bundle["changes"]).flatMap((change, i) => ofPart("governance-change", change, "changes", i)),
    ...unknownInEach(bundle["approverKeys"], APPROVER_KEY, "approverKeys"),
    ...unknownInEach(bundle["proofs"], PROOF, "proofs")
  ]
};
var REQUEST = [
  "request",
  "requestHash",
  "actionCode",
  "status",
  "missing",
  "intervalSeconds",
  "expiresAt",
  "url",
  "eligible",
  "approvals",
  "closed",
  "signature"
];
var BUNDLE = ["bundle", "record", "policy", "approverKeys", "changes", "proofs"];
var APPROVER_KEY = ["keyId", "algorithm", "use", "pem", "jwk", "revokedAt"];
var PROOF = ["kind", "id", "proof"];
var partsOf = (value) => Array.isArray(value) ? value : [];
function ofPart(kind, part, ...path) {
  return isMembers(part) ? OF_KIND2[kind](part).map((name) => [...path, name].join(".")) : [];
}
function notesOnUnsigned(kind, evidence) {
  return OF_KIND2[kind](evidence).toSorted().map((path) => `Nothing signs its member ${JSON.stringify(path)}.`);
}

// src/core/verifier/index.ts
function verifyEvidence(text, keySet, trust = {}) {
  const trusted = readTrusted(keySet, trust);
  const evidence = parseEvidence(text, "The evidence");
  if (bulkEntries(evidence) !== void 0)
    throw new Unusable("This is a file of several pieces of evidence: verify them one by one.");
  return reportOn(evidence, trusted, "This");
}
function readTrusted(keySet, trust = {}) {
  return { keys: keySetOf(keySet), log: logTrustOf(trust) };
}
function keySetOf(keySet) {
  return readKeySet(Array.isArray(keySet) ? keySet.map(parsedKeys) : parsedKeys(keySet));
}
function logTrustOf({ log }) {
  return log === void 0 ? void 0 : readLogTrust(log, noteCrypto.sha256);
}
function parsedKeys(given) {
  return typeof given === "string" ? parseEvidence(given, "The key set") : given;
}
function bulkEntries(evidence) {
  const isPage = isMembers(evidence) && kindsOf(evidence).length === 0;
  if (!isPage) return Array.isArray(evidence) ? evidence : void 0;
  const lists = ["events", "changes", "confirmations", "requests", "refusals"].map((name) => evidence[name]).filter((entries2) => entries2 !== void 0);
  const [entries] = lists.length === 1 ? lists : [];
  return Array.isArray(entries) ? entries : void 0;
}
function reportOn(evidence, trusted, which) {
  const members2 = isMembers(evidence) ? evidence : {};
  const artifact = kindOf(members2, which);
  const used = /* @__PURE__ */ new Map();
  const { idOf, inspect } = KINDS2[artifact];
  const { checks, notes } = inspect(members2, { ...trusted, onUsed: (key) => used.set(key.keyId, key) });
  const id2 = idOf(members2);
  const verdict = verdictOf(checks);
  return {
    artifact,
    subject: typeof id2 === "string" ? id2 : "(no id)",
    verdict,
    valid: verdict === "valid",
    checks,
    keys: Array.from(used.values(), ({ keyId, algorithm, fingerprint }) => ({
      keyId,
      algorithm,
      fingerprint
    })),
    missingStepUpKeys: missingStepUpKeysIn(artifact, members2, trusted.keys),
    notes: [...notes, ...notesOnUnsigned(artifact, members2)],
    notProven: notProven(artifact)
  };
}
function missingStepUpKeysIn(artifact, evidence, keys) {
  const changes = artifact === "governance-change" ? [evidence] : artifact === "bundle" ? evidence["changes"] : [];
  if (!Array.isArray(changes)) return [];
  const humanKey = (keyId) => keys.get(keyId);
  const missing = changes.filter(isMembers).map((change) => missingStepUpKey(change, { humanKey })).filter((keyId) => keyId !== void 0);
  return [...new Set(missing)];
}
function verdictOf(checks) {
  const problems = checks.filter(({ problem }) => problem !== void 0);
  if (!problems.every(isOpen)) return "invalid";
  return checks.length > 0 && problems.length === 0 ? "valid" : "unchecked";
}
function by(check2, notesOn = () => []) {
  return (evidence, { keys, onUsed, ed25519: ed255192 }) => {
    const crypto = cryptoOf(keys, onUsed, ed255192);
    return { checks: check2(evidence, crypto), notes: notesOn(evidence, crypto) };
  };
}
var KINDS2 = {
  "trust-record": {
    marks: ["trustRecordId"],
    idOf: ({ trustRecordId }) => trustRecordId,
    inspect: by(checkWholeRecord, (record) => notesOnRecord(record, { promise: true }))
  },
  receipt: {
    marks: ["receiptId"],
    idOf: ({ receiptId }) => receiptId,
    inspect: by(checkReceipt, (receipt) => notesOnReceipt(receipt))
  },
  "refusal-record": {
    marks: ["refusalRecordId"],
    idOf: ({ refusalRecordId }) => refusalRecordId,
    inspect: by(checkRefusalRecord)
  },
  "audit-event": {
    marks: ["event", "signature"],
    idOf: ({ event }) => isMembers(event) ? event["eventId"] : void 0,
    inspect: by(checkAuditEvent)
  },
  "governance-change": {
    marks: ["changeId", "changeHash", "signature"],
    idOf: ({ changeId }) => changeId,
    inspect: by(checkGovernanceChange, notesOnChange)
  },
  "intent-transition": {
    marks: ["transition", "signature"],
    idOf: ({ transition }) => isMembers(transition) ? transition["transitionId"] : void 0,
    inspect: by(checkIntentTransition)
  },
  "provider-confirmation": {
    marks: ["confirmation", "signature"],
    idOf: ({ confirmation }) => isMembers(confirmation) ? confirmation["confirmationId"] : void 0,
    inspect: by(checkProviderConfirmation, ({ confirmation }) => notesOnConfirmation(confirmation))
  },
  "approval-request": {
    marks: ["request", "requestHash", "signature"],
    idOf: ({ request }) => isMembers(request) ? request["requestId"] : void 0,
    inspect: by(checkApprovalRequest, notesOnApprovalRequest)
  },
  "approval-request-close": {
    marks: ["closeId", "requestHash", "signature"],
    idOf: ({ closeId }) => closeId,
    inspect: by(checkApprovalRequestClose)
  },
  bundle: {
    marks: ["bundle"],
    idOf: ({ record }) => isMembers(record) ? record["trustRecordId"] : void 0,
    inspect: (bundle, { keys, log, onUsed, ed25519: ed255192 }) => inspectBundle(bundle, {
      keys,
      log,
      cryptoBy: (known) => cryptoOf(known, onUsed, ed255192),
      noteCrypto,
      onLogKeyUsed: (key) => onUsed(describedLogKey(key))
    })
  }
};
function kindOf(evidence, which) {
  const kinds = kindsOf(evidence);
  const [kind, ...others] = kinds;
  if (kind === void 0)
    throw new Unusable(
      `${which} is no evidence of a known kind: a record has a trustRecordId, a receipt a receiptId, a refusal a refusalRecordId, a change a changeId, a changeHash and a signature, a bundle the member bundle; an audit event stands as {event, signature}, an intent's transition as {transition, signature}, a provider's confirmation as {confirmation, signature}; an approval request has a request, a requestHash and a signature, its end a closeId.`
    );
  if (others.length > 0)
    throw new Unusable(`${which} claims to be several kinds of evidence: ${kinds.join(", ")}.`);
  return kind;
}
function kindsOf(evidence) {
  return Object.keys(KINDS2).filter(
    (kind) => KINDS2[kind].marks.every((mark) => Object.hasOwn(evidence, mark))
  );
}
export {
  verifyEvidence
};
