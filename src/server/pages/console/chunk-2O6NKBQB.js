// src/core/json/canonical.ts
var Canonical = class {
  text;
  constructor(text) {
    this.text = text;
  }
};
var NotCanonical = class extends Error {
  constructor(what) {
    super(what);
    this.name = "NotCanonical";
  }
};
function canonicalize(value) {
  return isInOrder(value) ? JSON.stringify(value) : write(value);
}
function isInOrder(value) {
  if (isScalar(value)) return true;
  if (value instanceof Canonical) return false;
  if (isList(value)) {
    for (let i = 0; i < value.length; i++) if (!isInOrder(value[i])) return false;
    return true;
  }
  let before = "";
  for (const key of keysOf(value)) {
    if (key < before || !isInOrder(value[key])) return false;
    before = key;
  }
  return true;
}
function write(value) {
  if (isScalar(value)) return JSON.stringify(value);
  if (value instanceof Canonical) return value.text;
  let text = "";
  if (isList(value)) {
    for (let i = 0; i < value.length; i++) text += `${i === 0 ? "" : ","}${write(value[i])}`;
    return `[${text}]`;
  }
  const keys = keysOf(value);
  for (const key of areSorted(keys) ? keys : keys.toSorted())
    text += `${text === "" ? "" : ","}${memberName(key)}${write(value[key])}`;
  return `{${text}}`;
}
function areSorted(keys) {
  for (let i = 1; i < keys.length; i++) if (keys[i] < keys[i - 1]) return false;
  return true;
}
var NAMES_MAX = 1e3;
var NAME_LENGTH_MAX = 64;
var names = /* @__PURE__ */ new Map();
function memberName(key) {
  let name = names.get(key);
  if (name === void 0) {
    name = `${JSON.stringify(key)}:`;
    if (names.size < NAMES_MAX && key.length <= NAME_LENGTH_MAX) names.set(key, name);
  }
  return name;
}
function isScalar(value) {
  switch (typeof value) {
    case "string":
      if (!value.isWellFormed()) throw new NotCanonical("a string holds a lone surrogate");
      return true;
    case "number":
      if (!Number.isFinite(value)) throw new NotCanonical(`${value} is not a finite number`);
      return true;
    case "boolean":
      return true;
    case "object":
      return value === null;
    default:
      throw new NotCanonical(`${typeof value} has no canonical form`);
  }
}
function isList(value) {
  return Array.isArray(value);
}
function keysOf(value) {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    throw new NotCanonical("an object is not a plain one");
  const keys = Object.keys(value);
  for (const key of keys)
    if (key === "__proto__" || !key.isWellFormed()) throw new NotCanonical("a key cannot be signed");
  return keys;
}

// src/core/verifier/evidence.ts
function isOpen({ missingKeys, missingLog }) {
  return missingKeys !== void 0 || missingLog !== void 0;
}
function mayVerify(artifact, keyId) {
  return keyId.includes(":") === (artifact === "approval" || artifact === "step-up");
}
function check(name, problem, holds) {
  try {
    return { name, problem: holds() ? void 0 : problem };
  } catch (error) {
    return { name, problem: `${problem} (${error instanceof Error ? error.message : "unreadable"})` };
  }
}
function checkSigned(name, problem, crypto, holds) {
  const missing = /* @__PURE__ */ new Set();
  const verifySignature = (artifact, text, signature) => {
    const verdict = crypto.verifySignature(artifact, text, signature);
    if (verdict === void 0) missing.add(signature.keyId);
    return verdict !== false;
  };
  const made = check(name, problem, () => holds({ ...crypto, verifySignature }));
  if (made.problem !== void 0 || missing.size === 0) return made;
  const missingKeys = [...missing];
  const named = missingKeys.map((keyId) => JSON.stringify(keyId)).join(", ");
  return { name, problem: `It cannot be checked: key ${named} is not given.`, missingKeys };
}
function canonicalText(value) {
  try {
    return canonicalize(value);
  } catch {
    return void 0;
  }
}
function members(value) {
  if (!isMembers(value)) throw new Error("an object is missing");
  return value;
}
function isMembers(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
function list(value) {
  if (!Array.isArray(value)) throw new Error("a list is missing");
  return value;
}
function string(value) {
  if (typeof value !== "string") throw new Error("a string is missing");
  return value;
}

// src/core/verifier/instant.ts
var TIMESTAMP = /^([1-9]\d{3}-\d{2}-\d{2})[Tt]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d+))?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
function instantMs(text) {
  const [, date = "", time = "", fraction = "", offset = ""] = TIMESTAMP.exec(text) ?? [];
  const midnight = /* @__PURE__ */ new Date(`${date}T00:00:00.000Z`);
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== date) return Number.NaN;
  return Date.parse(`${date}T${time}.${fraction.padEnd(3, "0").slice(0, 3)}${offset.toUpperCase()}`);
}

// src/core/merkle/tree.ts
function leafHash(data, sha2562) {
  const input = new Uint8Array(1 + data.length);
  input.set(data, 1);
  return sha2562(input);
}
function nodeHash(left, right, sha2562) {
  return sha2562(nodeInput(new Uint8Array(65), left, right));
}
function nodeInput(input, left, right) {
  input[0] = 1;
  input.set(left, 1);
  input.set(right, 33);
  return input;
}
function rootOfInclusion(proof, sha2562) {
  const { index, size, path } = proof;
  assertIndex(index, size);
  assertHash(proof.leafHash, "the leaf hash");
  path.forEach((hash2, height) => assertHash(hash2, "path hash", height));
  let hash = proof.leafHash;
  let [position, last] = [index, size - 1];
  for (const sibling of path) {
    if (last === 0) throw new Error("the path is too long for the index and the size");
    if (odd(position) || position === last) {
      hash = nodeHash(sibling, hash, sha2562);
      while (!odd(position)) [position, last] = [half(position), half(last)];
    } else hash = nodeHash(hash, sibling, sha2562);
    [position, last] = [half(position), half(last)];
  }
  if (last !== 0) throw new Error("the path is too short for the index and the size");
  return hash;
}
var half = (position) => Math.floor(position / 2);
var odd = (position) => position % 2 === 1;
function assertHash(hash, name, index) {
  if (hash.length === 32) return;
  throw new Error(`${name}${index === void 0 ? "" : ` ${index}`} has ${hash.length} bytes; a hash has 32`);
}
function assertIndex(index, size) {
  if (!Number.isSafeInteger(size) || size < 1) throw new Error("the size is not an integer of 1 or more");
  if (!Number.isSafeInteger(index) || index < 0) throw new Error("the index is not an integer of 0 or more");
  if (index >= size) throw new Error(`the index ${index} is not below the size ${size}`);
}

// src/core/merkle/batch-head.ts
function headText({ origin, size, root }) {
  return `${origin}
${size}
${root}
`;
}
var ORIGIN = /^[!-*,-~]{1,200}\/batch\/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
function headOf(encoded, batch, { sha256: sha2562, fromBase64, toBase64: toBase642 }) {
  const { origin, size, index, path } = readPosition(batch);
  const hashes = path.map((text) => {
    const hash = fromBase64(text);
    if (hash?.length !== 32) throw new Error("a hash in the path of the batch is not 32 bytes of base64");
    return hash;
  });
  const root = rootOfInclusion({ leafHash: leafHash(encoded, sha2562), index, size, path: hashes }, sha2562);
  return headText({ origin, size, root: toBase642(root) });
}
function readPosition(value) {
  const { origin, size, index, path, ...others } = typeof value === "object" && value !== null ? value : {};
  if (typeof origin !== "string" || !ORIGIN.test(origin))
    throw new Error("the origin of the batch is not a name, /batch/ and a UUID");
  if (!Number.isSafeInteger(size) || size < 2)
    throw new Error("the size of the batch is not an integer of 2 or more");
  if (!Number.isSafeInteger(index) || index < 0)
    throw new Error("the index in the batch is not an integer of 0 or more");
  if (!Array.isArray(path) || !path.every((hash) => typeof hash === "string"))
    throw new Error("the path of the batch is not a list of hashes");
  if (Object.keys(others).length > 0) throw new Error("the batch has an unknown member");
  return { origin, size, index, path };
}
var BATCH = "-batch";
function familyOf(algorithm) {
  return algorithm.endsWith(BATCH) ? algorithm.slice(0, -BATCH.length) : algorithm;
}
var SIGNED_BY_BATCH = {
  "trust-record": ["ed25519-batch", "ml-dsa-65-batch"],
  "execution-authorization": ["ed25519-batch"],
  receipt: ["ml-dsa-65-batch"]
};
function signedMessage(artifact, encoded, { algorithm, batch }, hashing) {
  if (!algorithm.endsWith(BATCH)) {
    if (batch !== void 0) throw new Error(`a signature of '${algorithm}' stands in no batch`);
    return encoded;
  }
  if (SIGNED_BY_BATCH[artifact]?.includes(algorithm) !== true)
    throw new Error(`'${algorithm}' does not sign this kind of artifact`);
  return new TextEncoder().encode(headOf(encoded, batch, hashing));
}

// src/core/json/text.ts
var MalformedJson = class extends Error {
  constructor(what) {
    super(what);
    this.name = "MalformedJson";
  }
};
function parseJsonText(text, depthMax) {
  const members2 = scan(text, depthMax);
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new MalformedJson(error instanceof Error ? error.message.replace(/".*"/s, "…") : "syntax error");
  }
  if (inspect(value) !== members2) throw new MalformedJson("duplicate key");
  return value;
}
function scan(text, depthMax) {
  let members2 = 0;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 34:
        i = endOfString(text, i);
        break;
      case 58:
        members2++;
        break;
      case 91:
      // [
      case 123:
        if (++depth > depthMax) throw new MalformedJson(`deeper than ${depthMax}`);
        break;
      case 93:
      // ]
      case 125:
        depth--;
        break;
      case 46:
        if (text.startsWith(SMALL, i + 1)) i = endOfNumber(text, i) - 1;
        break;
      case 69:
      // E
      case 101:
        if (text.charCodeAt(i + 1) === 45) i = endOfNumber(text, i) - 1;
        break;
    }
  }
  return members2;
}
var SMALL = "0".repeat(300);
function endOfNumber(text, at) {
  let start = at;
  while (isOfNumber(text.charCodeAt(start - 1))) start--;
  let end = at + 1;
  while (isOfNumber(text.charCodeAt(end))) end++;
  const number = text.slice(start, end);
  if (/^[^eE]*[1-9]/.test(number) && Number(number) === 0) throw new MalformedJson("number out of range");
  return end;
}
function isOfNumber(code) {
  return code >= 48 && code <= 57 || code === 46 || code === 45 || code === 43 || (code | 32) === 101;
}
function endOfString(text, start) {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 34) return i;
    if (code === 92) i++;
  }
  return text.length;
}
function inspect(value) {
  if (typeof value === "string") {
    if (!value.isWellFormed()) throw new MalformedJson("lone surrogate");
    return 0;
  }
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new MalformedJson("number out of range");
    return 0;
  }
  if (typeof value !== "object" || value === null) return 0;
  if (Array.isArray(value)) return value.reduce((members3, item) => members3 + inspect(item), 0);
  let members2 = 0;
  for (const [key, member] of Object.entries(value)) {
    if (key === "__proto__") throw new MalformedJson("__proto__ key");
    if (!key.isWellFormed()) throw new MalformedJson("lone surrogate in a key");
    members2 += 1 + inspect(member);
  }
  return members2;
}

// src/core/verifier/base64.ts
function base64(text) {
  let binary;
  try {
    binary = atob(text);
  } catch {
    return void 0;
  }
  if (btoa(binary) !== text) return void 0;
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
function base64url(text) {
  if (!/^[\w-]*$/.test(text)) return void 0;
  const padding = "=".repeat((4 - text.length % 4) % 4);
  return base64(text.replaceAll("-", "+").replaceAll("_", "/") + padding);
}
function toBase64(bytes) {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

// src/core/webauthn/assertion.ts
var ALGORITHMS = { "webauthn-es256": "es256", "webauthn-ed25519": "ed25519" };
function isPasskeyAlgorithm(algorithm) {
  return Object.hasOwn(ALGORITHMS, algorithm);
}
function keyAlgorithmOf(algorithm) {
  return ALGORITHMS[algorithm];
}
function readPasskey(value) {
  if (!isMembers(value)) throw new Error("passkey is not an object");
  const { rpId, origins, backupEligible } = value;
  if (typeof rpId !== "string" || rpId === "") throw new Error("passkey.rpId is not a name");
  if (!Array.isArray(origins) || origins.length === 0) throw new Error("passkey.origins is not a list");
  const names2 = origins.filter((origin) => typeof origin === "string" && origin !== "");
  if (names2.length < origins.length) throw new Error("passkey.origins holds something else than origins");
  if (typeof backupEligible !== "boolean") throw new Error("passkey.backupEligible is not true or false");
  return { rpId, origins: names2, backupEligible };
}
var UP = 1;
var UV = 4;
var BE = 8;
var BS = 16;
var AT = 64;
var ED = 128;
var AUTHENTICATOR_DATA_BYTES = 37;
function assertedBytes(webauthn, { message, passkey, sha256: sha2562 }) {
  if (!isMembers(webauthn)) throw new Error("webauthn is missing");
  const authenticatorData = bytesOf(webauthn, "authenticatorData");
  const clientDataJSON = bytesOf(webauthn, "clientDataJSON");
  requireClientData(clientData(clientDataJSON), challengeOf(message, sha2562), passkey);
  requireAuthenticatorData(authenticatorData, passkey, sha2562);
  const signed = new Uint8Array(AUTHENTICATOR_DATA_BYTES + 32);
  signed.set(authenticatorData);
  signed.set(sha2562(clientDataJSON), AUTHENTICATOR_DATA_BYTES);
  return signed;
}
function challengeOf(message, sha2562) {
  return toBase64(sha2562(message)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
function bytesOf(webauthn, name) {
  const text = webauthn[name];
  const bytes = typeof text === "string" ? base64(text) : void 0;
  if (bytes === void 0) throw new Error(`webauthn.${name} is not canonical base64`);
  return bytes;
}
var DEPTH_MAX = 8;
function clientData(bytes) {
  let value;
  try {
    value = parseJsonText(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), DEPTH_MAX);
  } catch {
    throw new Error("the client data is not JSON with exactly one reading");
  }
  if (!isMembers(value)) throw new Error("the client data is not an object");
  return value;
}
function requireClientData(data, due, passkey) {
  const { type, challenge, origin, crossOrigin } = data;
  if (type !== "webauthn.get") throw new Error("the passkey was not asked to sign: the type is another one");
  if (challenge !== due) throw new Error("the passkey signed another challenge");
  if (typeof origin !== "string") throw new Error("the client data has no origin");
  if (passkey !== void 0 && !passkey.origins.includes(origin))
    throw new Error("the passkey signed at an origin that is not one of the key's");
  if (crossOrigin !== void 0 && crossOrigin !== false || "topOrigin" in data)
    throw new Error("the passkey signed inside another site's page");
}
function requireAuthenticatorData(data, passkey, sha2562) {
  if (data.length !== AUTHENTICATOR_DATA_BYTES)
    throw new Error(
      `the authenticator data has ${data.length} bytes, and must have ${AUTHENTICATOR_DATA_BYTES}`
    );
  if (passkey !== void 0) {
    const rpIdHash = sha2562(new TextEncoder().encode(passkey.rpId));
    if (!rpIdHash.every((byte, i) => data[i] === byte))
      throw new Error("the passkey signed for another rpId than the key's");
  }
  const flags = data[32] ?? 0;
  if ((flags & UP) === 0) throw new Error("nobody was present when the passkey signed (UP)");
  if ((flags & UV) === 0) throw new Error("the passkey did not verify its user (UV)");
  if ((flags & (AT | ED)) !== 0) throw new Error("the authenticator data announces more than it may hold");
  if (passkey !== void 0 && (flags & BE) !== 0 !== passkey.backupEligible)
    throw new Error("whether the passkey can be copied is not as it was enrolled (BE)");
  if ((flags & BS) !== 0 && (flags & BE) === 0)
    throw new Error("the passkey was copied and says that it cannot be (BS without BE)");
}

// src/core/verifier/signatures.ts
var SIGNATURE_BYTES = { ed25519: 64, "ml-dsa-65": 3309 };
function knownFamily(algorithm) {
  const family = familyOf(algorithm);
  if (!Object.hasOwn(SIGNATURE_BYTES, family)) throw new Error(`the algorithm '${algorithm}' is not known`);
  return family;
}
function requireEd25519(algorithm, names2 = ["ed25519"]) {
  knownFamily(algorithm);
  if (!names2.includes(algorithm)) throw new Error(`'${algorithm}' does not sign this kind of artifact`);
}
function requireHumanAlgorithm(algorithm) {
  if (!isPasskeyAlgorithm(algorithm)) requireEd25519(algorithm);
}
function carriedSignature(value) {
  const { algorithm, keyId, value: bytes, batch } = members(value);
  return { algorithm: string(algorithm), keyId: string(keyId), value: string(bytes), batch };
}
function isAuthorizationSigned({ payload = null, signature = null, ...by }, crypto) {
  const carried = carriedSignature({ ...by, value: signature });
  requireEd25519(carried.algorithm, ["ed25519", "ed25519-batch"]);
  return crypto.verifySignature("execution-authorization", canonicalize(payload), carried);
}
function checkEd25519(name, problem, given, signed) {
  const { artifact, text, signature } = signed;
  return checkSigned(name, problem, given, (crypto) => {
    const carried = carriedSignature(signature);
    requireEd25519(carried.algorithm);
    return text !== void 0 && crypto.verifySignature(artifact, text, carried);
  });
}
function textOf(signature) {
  const { algorithm = null, keyId = null, value = null, batch } = signature ?? {};
  return canonicalize([algorithm, keyId, value, ...batch === void 0 ? [] : [batch]]);
}
function requiredSignatures(evidence, first) {
  if (!("requiredAlgorithms" in evidence)) {
    if ("signatures" in evidence) throw new Error("signatures that nothing requires");
    return [first];
  }
  const required = list(evidence["requiredAlgorithms"]).map(string);
  const carried = list(evidence["signatures"]).map(carriedSignature);
  const complete = required.length > 1 && new Set(required).size === required.length && carried.length === required.length && carried.every((one, i) => familyOf(one.algorithm) === required[i]);
  if (!complete) throw new Error("a required signature is missing");
  if (textOf(first) !== textOf(carried[0])) throw new Error("signature is not the first of signatures");
  return carried;
}

// src/core/verifier/governance-change.ts
var STEP_UP_LIFETIME_MAX_MS = 12e4;
var ACTIONS = /* @__PURE__ */ new Map([
  ["APPROVED", "approve"],
  ["REJECTED", "reject"]
]);
function shownOf(change) {
  const { changeId, kind, target, proposed, reason, proposedBy, proposedAt } = change;
  return { changeId, kind, target, proposed, reason, proposedBy, proposedAt };
}
function signedMembersOf(change) {
  const { signature: _, warnings: _1, diff: _2, ...signed } = change;
  return signed;
}
function checkGovernanceChange(evidence, given) {
  const change = isMembers(evidence) ? evidence : {};
  const { signature } = change;
  const signed = canonicalText(signedMembersOf(change));
  return [
    check("change hash", "The change hash does not match what was proposed", () => {
      return given.sha256Hex(canonicalize(shownOf(change))) === change["changeHash"];
    }),
    checkEd25519("change signature", "The signature of the change is not valid", given, {
      artifact: "governance-change",
      text: signed,
      signature
    }),
    check("resolution", "The change is not resolved as its status says", () => isResolved(change)),
    checkSigned(
      "step-up authorization",
      "The step-up authorization is not one of this resolution",
      given,
      (crypto) => isSteppedUp(change, crypto)
    ),
    ...impactChecks(change, given)
  ];
}
function impactChecks(change, { sha256Hex }) {
  const { impactReport, stepUpAuthorization } = change;
  const payload = isMembers(stepUpAuthorization) ? stepUpAuthorization["payload"] : void 0;
  const impactHash = isMembers(payload) ? payload["impactHash"] : void 0;
  if (impactReport === void 0 && impactHash === void 0) return [];
  return [
    check("impact report", "The impact report is not the one that the step-up covers", () => {
      const { changeId, changeHash } = members(impactReport);
      const isOfThis = string(changeId) === change["changeId"] && string(changeHash) === change["changeHash"];
      return change["kind"] === "policy" && isOfThis && sha256Hex(canonicalize(members(impactReport))) === impactHash;
    })
  ];
}
function isResolved(change) {
  const { status, resolvedBy, resolvedAt, rejectionReason, proposedBy } = change;
  if (status === "PENDING_APPROVAL")
    return [resolvedBy, resolvedAt, rejectionReason].every((member) => member === void 0);
  return ACTIONS.has(status) && // Nobody checks what he made.
  string(resolvedBy) !== string(proposedBy) && !Number.isNaN(instantMs(string(resolvedAt))) && (rejectionReason === void 0 || status === "REJECTED" && typeof rejectionReason === "string");
}
function isSteppedUp(change, crypto) {
  const { status, stepUpAuthorization } = change;
  if (status === "PENDING_APPROVAL") return stepUpAuthorization === void 0;
  const { payload, keyId, algorithm, signature, webauthn } = members(stepUpAuthorization);
  const { version, nonce, changeId, changeHash, action, authorizedAt, expiresAt } = members(payload);
  const [from, to] = [instantMs(string(authorizedAt)), instantMs(string(expiresAt))];
  const isBound = version === 1 && string(nonce) !== "" && string(changeId) === change["changeId"] && string(changeHash) === change["changeHash"] && string(action) === ACTIONS.get(status) && from < to && to - from <= STEP_UP_LIFETIME_MAX_MS && instantMs(string(change["resolvedAt"])) < to;
  const carried = { algorithm: string(algorithm), keyId: string(keyId), value: string(signature), webauthn };
  if (!isBound) return false;
  requireHumanAlgorithm(carried.algorithm);
  const known = stepUpKeys(change, crypto);
  return known.length === 0 || known.some((id) => {
    const revokedAt = crypto.humanKey(id)?.revokedAt ?? null;
    return (revokedAt === null || instantMs(string(change["resolvedAt"])) < instantMs(revokedAt)) && crypto.verifySignature("step-up", canonicalize(payload), { ...carried, keyId: id });
  });
}
function stepUpKeys({ resolvedBy, stepUpAuthorization }, crypto) {
  if (typeof resolvedBy !== "string") return [];
  const keyId = isMembers(stepUpAuthorization) ? stepUpAuthorization["keyId"] : void 0;
  const names2 = /* @__PURE__ */ new Set(["step-up", ...typeof keyId === "string" ? [keyId] : []]);
  return Array.from(names2, (name) => `${resolvedBy}:${name}`).filter(
    (id) => crypto.humanKey(id) !== void 0
  );
}
function missingStepUpKey(change, crypto) {
  const { resolvedBy, stepUpAuthorization } = change;
  if (stepUpAuthorization === void 0 || typeof resolvedBy !== "string") return void 0;
  return stepUpKeys(change, crypto).length > 0 ? void 0 : `${resolvedBy}:step-up`;
}
function notesOnChange(change, crypto) {
  const due = missingStepUpKey(change, crypto);
  if (due === void 0) return [];
  return [
    `The signature of the step-up authorization was not checked: no key ${JSON.stringify(due)} is given.`
  ];
}

// node_modules/@noble/hashes/utils.js
function isBytes(a) {
  return a instanceof Uint8Array || ArrayBuffer.isView(a) && a.constructor.name === "Uint8Array" && "BYTES_PER_ELEMENT" in a && a.BYTES_PER_ELEMENT === 1;
}
var atitle = (title) => title ? `"${title}" ` : "";
function anumber(n, title = "") {
  if (typeof n !== "number")
    throw new TypeError(atitle(title) + "expected number, got " + typeof n);
  if (!Number.isSafeInteger(n) || n < 0)
    throw new RangeError(atitle(title) + "expected integer >= 0, got " + n);
  return n;
}
function abool(value, title = "") {
  if (typeof value !== "boolean")
    throw new TypeError(atitle(title) + "expected boolean, got type=" + typeof value);
  return value;
}
function abytes(value, length, title = "") {
  if (isBytes(value) && (length === void 0 || value.length === length))
    return value;
  if (length !== void 0)
    anumber(length, "length");
  const bytes = isBytes(value);
  const ofLen = length !== void 0 ? ` of length ${length}` : "";
  const got = bytes ? `length=${value.length}` : `type=${typeof value}`;
  const message = atitle(title) + "expected Uint8Array" + ofLen + ", got " + got;
  if (!bytes)
    throw new TypeError(message);
  throw new RangeError(message);
}
function ahash(h) {
  if (typeof h !== "function" || typeof h.create !== "function")
    throw new TypeError("expected hash wrapped by utils.createHasher");
  anumber(h.outputLen);
  anumber(h.blockLen);
  if (h.outputLen < 1 || h.blockLen < 1)
    throw new Error("hash blockLen / outputLen must be >= 1");
}
var aobject = (value, label) => {
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new TypeError((label === "object" ? "" : `"${label}" `) + "expected object, got type=" + typeof value);
};
var aopts = (value, label) => {
  aobject(value, label);
  const proto = Object.getPrototypeOf(value);
  if (proto !== Object.prototype && proto !== null)
    throw new TypeError(`"${label}" expected plain object`);
  if (Object.hasOwn(value, "__proto__"))
    throw new TypeError(`"${label}.__proto__" is not allowed`);
};
function aexists(instance, checkFinished = true) {
  if (instance.destroyed)
    throw new Error("hash was destroyed");
  if (checkFinished && instance.finished)
    throw new Error("digest() was already called");
}
function aoutput(out, instance) {
  abytes(out, void 0, "output");
  const min = instance.outputLen;
  if (!(out.length >= min)) {
    throw new RangeError('"output" expected length >= ' + min);
  }
}
function u32(arr) {
  return new Uint32Array(arr.buffer, arr.byteOffset, Math.floor(arr.byteLength / 4));
}
function clean(...arrays) {
  for (let i = 0; i < arrays.length; i++) {
    arrays[i].fill(0);
  }
}
function createView(arr) {
  return new DataView(arr.buffer, arr.byteOffset, arr.byteLength);
}
function rotr(word, shift) {
  return word << 32 - shift | word >>> shift;
}
var isLE = /* @__PURE__ */ (() => new Uint8Array(new Uint32Array([287454020]).buffer)[0] === 68)();
function byteSwap(word) {
  return word << 24 & 4278190080 | word << 8 & 16711680 | word >>> 8 & 65280 | word >>> 24 & 255;
}
function byteSwap32(arr) {
  for (let i = 0; i < arr.length; i++) {
    arr[i] = byteSwap(arr[i]);
  }
  return arr;
}
var swap32IfBE = isLE ? (u) => u : byteSwap32;
var hasHexBuiltin = /* @__PURE__ */ (() => (
  // @ts-ignore
  typeof Uint8Array.from([]).toHex === "function" && typeof Uint8Array.fromHex === "function"
))();
var hexes = /* @__PURE__ */ Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, "0"));
function bytesToHex(bytes) {
  abytes(bytes);
  if (hasHexBuiltin)
    return bytes.toHex();
  let hex = "";
  for (let i = 0; i < bytes.length; i++) {
    hex += hexes[bytes[i]];
  }
  return hex;
}
function asciiToBase16(ch) {
  return ch >= 48 && ch <= 57 ? ch - 48 : ch >= 65 && ch <= 70 ? ch - (65 - 10) : ch >= 97 && ch <= 102 ? ch - (97 - 10) : void 0;
}
function hexToBytes(hex) {
  if (typeof hex !== "string")
    throw new TypeError("hex string expected, got " + typeof hex);
  if (hasHexBuiltin) {
    try {
      return Uint8Array.fromHex(hex);
    } catch (error) {
      if (error instanceof SyntaxError)
        throw new RangeError(error.message);
      throw error;
    }
  }
  const hl = hex.length;
  const al = hl / 2;
  if (hl % 2)
    throw new RangeError("hex string expected, got unpadded hex of length " + hl);
  const array = new Uint8Array(al);
  for (let ai = 0, hi = 0; ai < al; ai++, hi += 2) {
    const n1 = asciiToBase16(hex.charCodeAt(hi));
    const n2 = asciiToBase16(hex.charCodeAt(hi + 1));
    if (n1 === void 0 || n2 === void 0) {
      const char = hex[hi] + hex[hi + 1];
      throw new RangeError('hex string expected, got non-hex character "' + char + '" at index ' + hi);
    }
    array[ai] = n1 * 16 + n2;
  }
  return array;
}
function utf8ToBytes(str) {
  if (typeof str !== "string")
    throw new TypeError("string expected");
  const encoded = new TextEncoder().encode(str);
  try {
    return new Uint8Array(encoded);
  } finally {
    clean(encoded);
  }
}
function concatBytes(...arrays) {
  let sum = 0;
  for (let i = 0; i < arrays.length; i++) {
    const a = arrays[i];
    abytes(a);
    sum += a.length;
  }
  const res = new Uint8Array(sum);
  for (let i = 0, pad = 0; i < arrays.length; i++) {
    const a = arrays[i];
    res.set(a, pad);
    pad += a.length;
  }
  return res;
}
function checkOpts(defaults, opts, title = "opts") {
  aopts(defaults, "defaults");
  if (opts !== void 0)
    aopts(opts, title);
  const merged = Object.assign(/* @__PURE__ */ Object.create(null), defaults, opts);
  return merged;
}
function createHasher(hashCons, info = {}) {
  if (typeof hashCons !== "function")
    throw new TypeError('"hashCons" expected function, got type=' + typeof hashCons);
  info = checkOpts({}, info, "info");
  const hashC = (msg, opts) => hashCons(opts).update(msg).digest();
  const tmp = hashCons(void 0);
  hashC.outputLen = tmp.outputLen;
  hashC.blockLen = tmp.blockLen;
  hashC.canXOF = tmp.canXOF;
  hashC.create = (opts) => hashCons(opts);
  Object.assign(hashC, info);
  return Object.freeze(hashC);
}
function randomBytes(bytesLength = 32) {
  anumber(bytesLength, "bytesLength");
  const cr = typeof globalThis === "object" ? globalThis.crypto : null;
  if (typeof cr?.getRandomValues !== "function")
    throw new Error("crypto.getRandomValues must be defined");
  if (bytesLength > 65536)
    throw new RangeError(`"bytesLength" expected <= 65536, got ${bytesLength}`);
  return cr.getRandomValues(new Uint8Array(bytesLength));
}
var oidNist = (suffix) => ({
  // Current NIST hashAlgs suffixes used here fit in one DER subidentifier octet.
  // Larger suffix values would need base-128 OID encoding and a different length byte.
  oid: Uint8Array.from([6, 9, 96, 134, 72, 1, 101, 3, 4, 2, suffix])
});

// node_modules/@noble/hashes/_u64.js
var U32_MASK64 = /* @__PURE__ */ (() => BigInt(2 ** 32 - 1))();
var _32n = /* @__PURE__ */ BigInt(32);
function fromBig(n, le = false) {
  if (le)
    return { h: Number(n & U32_MASK64), l: Number(n >> _32n & U32_MASK64) };
  return { h: Number(n >> _32n & U32_MASK64) | 0, l: Number(n & U32_MASK64) | 0 };
}
function split(lst, le = false) {
  const len = lst.length;
  let Ah = new Uint32Array(len);
  let Al = new Uint32Array(len);
  for (let i = 0; i < len; i++) {
    const { h, l } = fromBig(lst[i], le);
    [Ah[i], Al[i]] = [h, l];
  }
  return [Ah, Al];
}
var fromNumH = (n) => n / 2 ** 32 | 0;
var fromNumL = (n) => n >>> 0;
function setU64FromNum(view, byteOffset, n, isLE2) {
  const h = fromNumH(n);
  const l = fromNumL(n);
  view.setUint32(byteOffset, isLE2 ? l : h, isLE2);
  view.setUint32(byteOffset + 4, isLE2 ? h : l, isLE2);
}
var shrSH = (h, _l, s) => h >>> s;
var shrSL = (h, l, s) => h << 32 - s | l >>> s;
var rotrSH = (h, l, s) => h >>> s | l << 32 - s;
var rotrSL = (h, l, s) => h << 32 - s | l >>> s;
var rotrBH = (h, l, s) => h << 64 - s | l >>> s - 32;
var rotrBL = (h, l, s) => h >>> s - 32 | l << 64 - s;
function add(Ah, Al, Bh, Bl) {
  const l = (Al >>> 0) + (Bl >>> 0);
  return { h: Ah + Bh + (l / 2 ** 32 | 0) | 0, l: l | 0 };
}
var add3L = (Al, Bl, Cl) => (Al >>> 0) + (Bl >>> 0) + (Cl >>> 0);
var add3H = (low, Ah, Bh, Ch) => Ah + Bh + Ch + (low / 2 ** 32 | 0) | 0;
var add4L = (Al, Bl, Cl, Dl) => (Al >>> 0) + (Bl >>> 0) + (Cl >>> 0) + (Dl >>> 0);
var add4H = (low, Ah, Bh, Ch, Dh) => Ah + Bh + Ch + Dh + (low / 2 ** 32 | 0) | 0;
var add5L = (Al, Bl, Cl, Dl, El) => (Al >>> 0) + (Bl >>> 0) + (Cl >>> 0) + (Dl >>> 0) + (El >>> 0);
var add5H = (low, Ah, Bh, Ch, Dh, Eh) => Ah + Bh + Ch + Dh + Eh + (low / 2 ** 32 | 0) | 0;

// node_modules/@noble/hashes/_md.js
function Chi(a, b, c) {
  return a & b ^ ~a & c;
}
function Maj(a, b, c) {
  return a & b ^ a & c ^ b & c;
}
var HashMD = class {
  blockLen;
  outputLen;
  canXOF = false;
  padOffset;
  isLE;
  // For partial updates less than block size
  buffer;
  view;
  finished = false;
  length = 0;
  pos = 0;
  destroyed = false;
  constructor(blockLen, outputLen, padOffset, isLE2) {
    this.blockLen = blockLen;
    this.outputLen = outputLen;
    this.padOffset = padOffset;
    this.isLE = isLE2;
    this.buffer = new Uint8Array(blockLen);
    this.view = createView(this.buffer);
  }
  update(data) {
    aexists(this);
    abytes(data);
    const { view, buffer, blockLen } = this;
    const len = data.length;
    let processed = false;
    for (let pos = 0; pos < len; ) {
      const take = Math.min(blockLen - this.pos, len - pos);
      if (take === blockLen) {
        const dataView = createView(data);
        for (; blockLen <= len - pos; pos += blockLen)
          this.process(dataView, pos);
        processed = true;
        continue;
      }
      buffer.set(pos === 0 && take === len ? data : data.subarray(pos, pos + take), this.pos);
      this.pos += take;
      pos += take;
      if (this.pos === blockLen) {
        this.process(view, 0);
        this.pos = 0;
        processed = true;
      }
    }
    this.length += data.length;
    if (processed)
      this.roundClean();
    return this;
  }
  digestInto(out) {
    aexists(this);
    aoutput(out, this);
    this.finished = true;
    const { buffer, view, blockLen, isLE: isLE2 } = this;
    let { pos } = this;
    buffer[pos++] = 128;
    buffer.fill(0, pos);
    if (this.padOffset > blockLen - pos) {
      this.process(view, 0);
      buffer.fill(0);
    }
    setU64FromNum(view, blockLen - 8, this.length * 8, isLE2);
    this.process(view, 0);
    this.roundClean();
    const oview = out === buffer ? view : createView(out);
    const len = this.outputLen;
    const outLen = len / 4;
    const state = this.get();
    if (len % 4 || outLen > state.length)
      throw new Error("invalid outputLen");
    for (let i = 0; i < outLen; i++)
      oview.setUint32(4 * i, state[i], isLE2);
  }
  digest() {
    const { buffer, outputLen } = this;
    this.digestInto(buffer);
    const res = buffer.slice(0, outputLen);
    this.destroy();
    return res;
  }
  _cloneIntoMeta(to) {
    const { buffer, length, finished, destroyed, pos } = this;
    to.destroyed = destroyed;
    to.finished = finished;
    to.length = length;
    to.pos = pos;
    if (pos)
      to.buffer.set(buffer);
    return to;
  }
  clone() {
    return this._cloneInto();
  }
};
var SHA256_IV = /* @__PURE__ */ Uint32Array.from([
  1779033703,
  3144134277,
  1013904242,
  2773480762,
  1359893119,
  2600822924,
  528734635,
  1541459225
]);
var SHA512_IV = /* @__PURE__ */ Uint32Array.from([
  1779033703,
  4089235720,
  3144134277,
  2227873595,
  1013904242,
  4271175723,
  2773480762,
  1595750129,
  1359893119,
  2917565137,
  2600822924,
  725511199,
  528734635,
  4215389547,
  1541459225,
  327033209
]);

// node_modules/@noble/hashes/sha2.js
var SHA256_K = /* @__PURE__ */ Uint32Array.from([
  1116352408,
  1899447441,
  3049323471,
  3921009573,
  961987163,
  1508970993,
  2453635748,
  2870763221,
  3624381080,
  310598401,
  607225278,
  1426881987,
  1925078388,
  2162078206,
  2614888103,
  3248222580,
  3835390401,
  4022224774,
  264347078,
  604807628,
  770255983,
  1249150122,
  1555081692,
  1996064986,
  2554220882,
  2821834349,
  2952996808,
  3210313671,
  3336571891,
  3584528711,
  113926993,
  338241895,
  666307205,
  773529912,
  1294757372,
  1396182291,
  1695183700,
  1986661051,
  2177026350,
  2456956037,
  2730485921,
  2820302411,
  3259730800,
  3345764771,
  3516065817,
  3600352804,
  4094571909,
  275423344,
  430227734,
  506948616,
  659060556,
  883997877,
  958139571,
  1322822218,
  1537002063,
  1747873779,
  1955562222,
  2024104815,
  2227730452,
  2361852424,
  2428436474,
  2756734187,
  3204031479,
  3329325298
]);
var SHA256_W = /* @__PURE__ */ new Uint32Array(64);
var SHA2_32B = class extends HashMD {
  // We cannot use array here since array allows indexing by variable
  // which means optimizer/compiler cannot use registers.
  // Numeric initializers matter: starting the fields as `undefined` changes
  // V8's field representation and makes sha256 3x slower (measured).
  A = 0;
  B = 0;
  C = 0;
  D = 0;
  E = 0;
  F = 0;
  G = 0;
  H = 0;
  constructor(outputLen, IV) {
    super(64, outputLen, 8, false);
    this.A = IV[0] | 0;
    this.B = IV[1] | 0;
    this.C = IV[2] | 0;
    this.D = IV[3] | 0;
    this.E = IV[4] | 0;
    this.F = IV[5] | 0;
    this.G = IV[6] | 0;
    this.H = IV[7] | 0;
  }
  get() {
    const { A, B, C, D, E, F, G, H } = this;
    return [A, B, C, D, E, F, G, H];
  }
  // prettier-ignore
  set(A, B, C, D, E, F, G, H) {
    this.A = A | 0;
    this.B = B | 0;
    this.C = C | 0;
    this.D = D | 0;
    this.E = E | 0;
    this.F = F | 0;
    this.G = G | 0;
    this.H = H | 0;
  }
  _cloneInto(to) {
    (to ||= new this.constructor()).set(...this.get());
    return this._cloneIntoMeta(to);
  }
  process(view, offset) {
    for (let i = 0; i < 16; i++, offset += 4)
      SHA256_W[i] = view.getUint32(offset, false);
    for (let i = 16; i < 64; i++) {
      const W15 = SHA256_W[i - 15];
      const W2 = SHA256_W[i - 2];
      const s0 = rotr(W15, 7) ^ rotr(W15, 18) ^ W15 >>> 3;
      const s1 = rotr(W2, 17) ^ rotr(W2, 19) ^ W2 >>> 10;
      SHA256_W[i] = s1 + SHA256_W[i - 7] + s0 + SHA256_W[i - 16] | 0;
    }
    let { A, B, C, D, E, F, G, H } = this;
    for (let i = 0; i < 64; i++) {
      const sigma1 = rotr(E, 6) ^ rotr(E, 11) ^ rotr(E, 25);
      const T1 = H + sigma1 + Chi(E, F, G) + SHA256_K[i] + SHA256_W[i] | 0;
      const sigma0 = rotr(A, 2) ^ rotr(A, 13) ^ rotr(A, 22);
      const T2 = sigma0 + Maj(A, B, C) | 0;
      H = G;
      G = F;
      F = E;
      E = D + T1 | 0;
      D = C;
      C = B;
      B = A;
      A = T1 + T2 | 0;
    }
    A = A + this.A | 0;
    B = B + this.B | 0;
    C = C + this.C | 0;
    D = D + this.D | 0;
    E = E + this.E | 0;
    F = F + this.F | 0;
    G = G + this.G | 0;
    H = H + this.H | 0;
    this.set(A, B, C, D, E, F, G, H);
  }
  roundClean() {
    clean(SHA256_W);
  }
  destroy() {
    this.destroyed = true;
    this.set(0, 0, 0, 0, 0, 0, 0, 0);
    clean(this.buffer);
  }
};
var _SHA256 = class extends SHA2_32B {
  constructor() {
    super(32, SHA256_IV);
  }
};
var K512 = /* @__PURE__ */ (() => split([
  "0x428a2f98d728ae22",
  "0x7137449123ef65cd",
  "0xb5c0fbcfec4d3b2f",
  "0xe9b5dba58189dbbc",
  "0x3956c25bf348b538",
  "0x59f111f1b605d019",
  "0x923f82a4af194f9b",
  "0xab1c5ed5da6d8118",
  "0xd807aa98a3030242",
  "0x12835b0145706fbe",
  "0x243185be4ee4b28c",
  "0x550c7dc3d5ffb4e2",
  "0x72be5d74f27b896f",
  "0x80deb1fe3b1696b1",
  "0x9bdc06a725c71235",
  "0xc19bf174cf692694",
  "0xe49b69c19ef14ad2",
  "0xefbe4786384f25e3",
  "0x0fc19dc68b8cd5b5",
  "0x240ca1cc77ac9c65",
  "0x2de92c6f592b0275",
  "0x4a7484aa6ea6e483",
  "0x5cb0a9dcbd41fbd4",
  "0x76f988da831153b5",
  "0x983e5152ee66dfab",
  "0xa831c66d2db43210",
  "0xb00327c898fb213f",
  "0xbf597fc7beef0ee4",
  "0xc6e00bf33da88fc2",
  "0xd5a79147930aa725",
  "0x06ca6351e003826f",
  "0x142929670a0e6e70",
  "0x27b70a8546d22ffc",
  "0x2e1b21385c26c926",
  "0x4d2c6dfc5ac42aed",
  "0x53380d139d95b3df",
  "0x650a73548baf63de",
  "0x766a0abb3c77b2a8",
  "0x81c2c92e47edaee6",
  "0x92722c851482353b",
  "0xa2bfe8a14cf10364",
  "0xa81a664bbc423001",
  "0xc24b8b70d0f89791",
  "0xc76c51a30654be30",
  "0xd192e819d6ef5218",
  "0xd69906245565a910",
  "0xf40e35855771202a",
  "0x106aa07032bbd1b8",
  "0x19a4c116b8d2d0c8",
  "0x1e376c085141ab53",
  "0x2748774cdf8eeb99",
  "0x34b0bcb5e19b48a8",
  "0x391c0cb3c5c95a63",
  "0x4ed8aa4ae3418acb",
  "0x5b9cca4f7763e373",
  "0x682e6ff3d6b2b8a3",
  "0x748f82ee5defb2fc",
  "0x78a5636f43172f60",
  "0x84c87814a1f0ab72",
  "0x8cc702081a6439ec",
  "0x90befffa23631e28",
  "0xa4506cebde82bde9",
  "0xbef9a3f7b2c67915",
  "0xc67178f2e372532b",
  "0xca273eceea26619c",
  "0xd186b8c721c0c207",
  "0xeada7dd6cde0eb1e",
  "0xf57d4f7fee6ed178",
  "0x06f067aa72176fba",
  "0x0a637dc5a2c898a6",
  "0x113f9804bef90dae",
  "0x1b710b35131c471b",
  "0x28db77f523047d84",
  "0x32caab7b40c72493",
  "0x3c9ebe0a15c9bebc",
  "0x431d67c49c100d4c",
  "0x4cc5d4becb3e42b6",
  "0x597f299cfc657e2a",
  "0x5fcb6fab3ad6faec",
  "0x6c44198c4a475817"
].map((n) => BigInt(n))))();
var SHA512_Kh = /* @__PURE__ */ (() => K512[0])();
var SHA512_Kl = /* @__PURE__ */ (() => K512[1])();
var SHA512_W_H = /* @__PURE__ */ new Uint32Array(80);
var SHA512_W_L = /* @__PURE__ */ new Uint32Array(80);
var SHA2_64B = class extends HashMD {
  // We cannot use array here since array allows indexing by variable
  // which means optimizer/compiler cannot use registers.
  // h -- high 32 bits, l -- low 32 bits
  // Numeric initializers matter: starting the fields as `undefined` changes
  // V8's field representation and slows hashing down (measured on sha256).
  Ah = 0;
  Al = 0;
  Bh = 0;
  Bl = 0;
  Ch = 0;
  Cl = 0;
  Dh = 0;
  Dl = 0;
  Eh = 0;
  El = 0;
  Fh = 0;
  Fl = 0;
  Gh = 0;
  Gl = 0;
  Hh = 0;
  Hl = 0;
  constructor(outputLen, IV) {
    super(128, outputLen, 16, false);
    this.Ah = IV[0] | 0;
    this.Al = IV[1] | 0;
    this.Bh = IV[2] | 0;
    this.Bl = IV[3] | 0;
    this.Ch = IV[4] | 0;
    this.Cl = IV[5] | 0;
    this.Dh = IV[6] | 0;
    this.Dl = IV[7] | 0;
    this.Eh = IV[8] | 0;
    this.El = IV[9] | 0;
    this.Fh = IV[10] | 0;
    this.Fl = IV[11] | 0;
    this.Gh = IV[12] | 0;
    this.Gl = IV[13] | 0;
    this.Hh = IV[14] | 0;
    this.Hl = IV[15] | 0;
  }
  // prettier-ignore
  get() {
    const { Ah, Al, Bh, Bl, Ch, Cl, Dh, Dl, Eh, El, Fh, Fl, Gh, Gl, Hh, Hl } = this;
    return [Ah, Al, Bh, Bl, Ch, Cl, Dh, Dl, Eh, El, Fh, Fl, Gh, Gl, Hh, Hl];
  }
  // prettier-ignore
  set(Ah, Al, Bh, Bl, Ch, Cl, Dh, Dl, Eh, El, Fh, Fl, Gh, Gl, Hh, Hl) {
    this.Ah = Ah | 0;
    this.Al = Al | 0;
    this.Bh = Bh | 0;
    this.Bl = Bl | 0;
    this.Ch = Ch | 0;
    this.Cl = Cl | 0;
    this.Dh = Dh | 0;
    this.Dl = Dl | 0;
    this.Eh = Eh | 0;
    this.El = El | 0;
    this.Fh = Fh | 0;
    this.Fl = Fl | 0;
    this.Gh = Gh | 0;
    this.Gl = Gl | 0;
    this.Hh = Hh | 0;
    this.Hl = Hl | 0;
  }
  _cloneInto(to) {
    (to ||= new this.constructor()).set(...this.get());
    return this._cloneIntoMeta(to);
  }
  process(view, offset) {
    for (let i = 0; i < 16; i++, offset += 4) {
      SHA512_W_H[i] = view.getUint32(offset);
      SHA512_W_L[i] = view.getUint32(offset += 4);
    }
    for (let i = 16; i < 80; i++) {
      const W15h = SHA512_W_H[i - 15] | 0;
      const W15l = SHA512_W_L[i - 15] | 0;
      const s0h = rotrSH(W15h, W15l, 1) ^ rotrSH(W15h, W15l, 8) ^ shrSH(W15h, W15l, 7);
      const s0l = rotrSL(W15h, W15l, 1) ^ rotrSL(W15h, W15l, 8) ^ shrSL(W15h, W15l, 7);
      const W2h = SHA512_W_H[i - 2] | 0;
      const W2l = SHA512_W_L[i - 2] | 0;
      const s1h = rotrSH(W2h, W2l, 19) ^ rotrBH(W2h, W2l, 61) ^ shrSH(W2h, W2l, 6);
      const s1l = rotrSL(W2h, W2l, 19) ^ rotrBL(W2h, W2l, 61) ^ shrSL(W2h, W2l, 6);
      const SUMl = add4L(s0l, s1l, SHA512_W_L[i - 7], SHA512_W_L[i - 16]);
      const SUMh = add4H(SUMl, s0h, s1h, SHA512_W_H[i - 7], SHA512_W_H[i - 16]);
      SHA512_W_H[i] = SUMh | 0;
      SHA512_W_L[i] = SUMl | 0;
    }
    let { Ah, Al, Bh, Bl, Ch, Cl, Dh, Dl, Eh, El, Fh, Fl, Gh, Gl, Hh, Hl } = this;
    for (let i = 0; i < 80; i++) {
      const sigma1h = rotrSH(Eh, El, 14) ^ rotrSH(Eh, El, 18) ^ rotrBH(Eh, El, 41);
      const sigma1l = rotrSL(Eh, El, 14) ^ rotrSL(Eh, El, 18) ^ rotrBL(Eh, El, 41);
      const CHIh = Eh & Fh ^ ~Eh & Gh;
      const CHIl = El & Fl ^ ~El & Gl;
      const T1ll = add5L(Hl, sigma1l, CHIl, SHA512_Kl[i], SHA512_W_L[i]);
      const T1h = add5H(T1ll, Hh, sigma1h, CHIh, SHA512_Kh[i], SHA512_W_H[i]);
      const T1l = T1ll | 0;
      const sigma0h = rotrSH(Ah, Al, 28) ^ rotrBH(Ah, Al, 34) ^ rotrBH(Ah, Al, 39);
      const sigma0l = rotrSL(Ah, Al, 28) ^ rotrBL(Ah, Al, 34) ^ rotrBL(Ah, Al, 39);
      const MAJh = Ah & Bh ^ Ah & Ch ^ Bh & Ch;
      const MAJl = Al & Bl ^ Al & Cl ^ Bl & Cl;
      Hh = Gh | 0;
      Hl = Gl | 0;
      Gh = Fh | 0;
      Gl = Fl | 0;
      Fh = Eh | 0;
      Fl = El | 0;
      ({ h: Eh, l: El } = add(Dh | 0, Dl | 0, T1h | 0, T1l | 0));
      Dh = Ch | 0;
      Dl = Cl | 0;
      Ch = Bh | 0;
      Cl = Bl | 0;
      Bh = Ah | 0;
      Bl = Al | 0;
      const All = add3L(T1l, sigma0l, MAJl);
      Ah = add3H(All, T1h, sigma0h, MAJh);
      Al = All | 0;
    }
    ({ h: Ah, l: Al } = add(this.Ah | 0, this.Al | 0, Ah | 0, Al | 0));
    ({ h: Bh, l: Bl } = add(this.Bh | 0, this.Bl | 0, Bh | 0, Bl | 0));
    ({ h: Ch, l: Cl } = add(this.Ch | 0, this.Cl | 0, Ch | 0, Cl | 0));
    ({ h: Dh, l: Dl } = add(this.Dh | 0, this.Dl | 0, Dh | 0, Dl | 0));
    ({ h: Eh, l: El } = add(this.Eh | 0, this.El | 0, Eh | 0, El | 0));
    ({ h: Fh, l: Fl } = add(this.Fh | 0, this.Fl | 0, Fh | 0, Fl | 0));
    ({ h: Gh, l: Gl } = add(this.Gh | 0, this.Gl | 0, Gh | 0, Gl | 0));
    ({ h: Hh, l: Hl } = add(this.Hh | 0, this.Hl | 0, Hh | 0, Hl | 0));
    this.set(Ah, Al, Bh, Bl, Ch, Cl, Dh, Dl, Eh, El, Fh, Fl, Gh, Gl, Hh, Hl);
  }
  roundClean() {
    clean(SHA512_W_H, SHA512_W_L);
  }
  destroy() {
    this.destroyed = true;
    clean(this.buffer);
    this.set(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  }
};
var _SHA512 = class extends SHA2_64B {
  constructor() {
    super(64, SHA512_IV);
  }
};
var sha256 = /* @__PURE__ */ createHasher(
  () => new _SHA256(),
  /* @__PURE__ */ oidNist(1)
);
var sha512 = /* @__PURE__ */ createHasher(
  () => new _SHA512(),
  /* @__PURE__ */ oidNist(3)
);

// src/core/verifier/pre-auth-encoding.ts
function preAuthEncoding(artifact, canonicalText2) {
  const type = utf8ToBytes(`application/vnd.countersign.${artifact}.v1+json`);
  const body = utf8ToBytes(canonicalText2);
  const ascii = utf8ToBytes;
  return concatBytes(ascii(`DSSEv1 ${type.length} `), type, ascii(` ${body.length} `), body);
}

// src/core/approval-requests/action-code.ts
var ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
function actionCode(action, sha256Hex) {
  return codeOfHash(sha256Hex(actionText(action)));
}
function actionText(action) {
  const { capability, target, parameters, policy, principalId, requestedBy } = action;
  return canonicalize({
    capability,
    target,
    parameters,
    policy: { name: policy.name, version: policy.version },
    principalId,
    requestedBy
  });
}
function codeOfHash(hash) {
  const bits = BigInt(`0x${hash.slice(0, 15)}`);
  const characters = Array.from(
    { length: 12 },
    (_, i) => ALPHABET[Number(bits >> BigInt(55 - 5 * i) & 31n)] ?? ""
  ).join("");
  return [0, 4, 8].map((start) => characters.slice(start, start + 4)).join("-");
}

// src/core/approval-requests/request-hash.ts
function requestHash(content, sha256Hex) {
  return sha256Hex(canonicalize(content));
}

export {
  canonicalize,
  split,
  isBytes,
  anumber,
  abool,
  abytes,
  ahash,
  aexists,
  aoutput,
  u32,
  clean,
  swap32IfBE,
  bytesToHex,
  hexToBytes,
  utf8ToBytes,
  concatBytes,
  checkOpts,
  createHasher,
  randomBytes,
  oidNist,
  sha256,
  sha512,
  isOpen,
  mayVerify,
  check,
  checkSigned,
  canonicalText,
  members,
  isMembers,
  list,
  string,
  instantMs,
  leafHash,
  rootOfInclusion,
  signedMessage,
  MalformedJson,
  parseJsonText,
  base64,
  base64url,
  toBase64,
  isPasskeyAlgorithm,
  keyAlgorithmOf,
  readPasskey,
  assertedBytes,
  SIGNATURE_BYTES,
  knownFamily,
  requireHumanAlgorithm,
  carriedSignature,
  isAuthorizationSigned,
  checkEd25519,
  requiredSignatures,
  shownOf,
  signedMembersOf,
  checkGovernanceChange,
  missingStepUpKey,
  notesOnChange,
  requestHash,
  preAuthEncoding,
  actionCode
};
