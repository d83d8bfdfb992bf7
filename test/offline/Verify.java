// Verifies evidence with the JDK (17 or newer) and the published keys alone, by decisions §4 "Canonical bytes", "Hash" and "Signature".
//
//   java Verify.java (<jwks.json> <artifact> <evidence.json>)...
//
// Prints a line for each three arguments: "valid", or what does not hold. Exits 0 when all are valid.

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

public class Verify {
    public static void main(String[] args) throws Exception {
        boolean allValid = args.length > 0;
        for (int i = 0; i < args.length; i += 3) {
            var keys = (List<?>) read(args[i]).get("keys");
            String verdict = verdict(keys, args[i + 1], read(args[i + 2]));
            System.out.println(verdict);
            allValid &= verdict.equals("valid");
        }
        System.exit(allValid ? 0 : 1);
    }

    // ---- what was signed, with which signature

    static final List<String> RECORD_MEMBERS = List.of("trustRecordId", "businessTransactionId", "transaction",
        "authorization", "executions", "overrides", "createdAt");

    static String verdict(List<?> keys, String artifact, Map<?, ?> evidence) throws Exception {
        Map<Object, Object> signed = new TreeMap<>(evidence);
        Map<Object, Object> hashed = signed;
        Object hash = null;
        var beside = evidence.get("signature") instanceof Map<?, ?> members ? members : evidence;
        if (evidence.get("payload") instanceof Map<?, ?> payload) {
            signed = new TreeMap<>(payload);
        } else if (evidence.containsKey("trustRecordId")) {
            signed.keySet().retainAll(RECORD_MEMBERS);
            hash = evidence.get("trustRecordHash");
        } else if (evidence.containsKey("refusalRecordId")) {
            signed.keySet().removeAll(List.of("refusalRecordHash", "signature"));
            hash = evidence.get("refusalRecordHash");
        } else {
            signed.remove("signature");
            hashed = new TreeMap<>(signed);
            hash = hashed.remove("receiptHash");
        }
        if (hash != null && !hash.equals(sha256(canonical(hashed)))) return "the hash does not match";
        var value = (String) beside.get(beside == evidence ? "signature" : "value");
        return isSigned(keys, artifact, canonical(signed), beside.get("keyId"), value)
            ? "valid"
            : "the signature does not match";
    }

    // ---- cryptography

    static boolean isSigned(List<?> keys, String artifact, String signed, Object keyId, String signature)
            throws Exception {
        for (Object key : keys) {
            if (!((Map<?, ?>) key).get("keyId").equals(keyId)) continue;
            var verifier = Signature.getInstance("Ed25519");
            verifier.initVerify(publicKey((Map<?, ?>) ((Map<?, ?>) key).get("jwk")));
            verifier.update(preAuthEncoding("application/vnd.countersign." + artifact + ".v1+json", signed));
            byte[] bytes = Base64.getDecoder().decode(signature);
            // The JDK verifies the first 64 bytes of 65.
            return bytes.length == 64 && verifier.verify(bytes);
        }
        return false;
    }

    /** RFC 8037 to RFC 8410: the key's 32 bytes behind the constant head of its SubjectPublicKeyInfo. */
    static PublicKey publicKey(Map<?, ?> jwk) throws Exception {
        byte[] x = Base64.getUrlDecoder().decode((String) jwk.get("x"));
        byte[] spki = HexFormat.of().parseHex("302a300506032b6570032100" + HexFormat.of().formatHex(x));
        return KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(spki));
    }

    /** DSSE. */
    static byte[] preAuthEncoding(String type, String body) {
        int bytes = body.getBytes(StandardCharsets.UTF_8).length;
        return ("DSSEv1 " + type.length() + " " + type + " " + bytes + " " + body).getBytes(StandardCharsets.UTF_8);
    }

    static String sha256(String text) throws Exception {
        var digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        return HexFormat.of().formatHex(digest);
    }

    // ---- JSON: the JDK has none

    /** A number, true, false or null, as it was written. The service writes numbers as RFC 8785 does; another notation does not verify. */
    record Literal(String text) {}

    static final Pattern TOKEN = Pattern.compile("\\s*([{}\\[\\],:]|\"(?:[^\"\\\\]++|\\\\.)*+\"|[^\\s{}\\[\\],:\"]+)");

    static Map<?, ?> read(String file) throws Exception {
        return (Map<?, ?>) value(TOKEN.matcher(Files.readString(Path.of(file))));
    }

    static String token(Matcher tokens) {
        if (!tokens.find()) throw new IllegalArgumentException("JSON ends early");
        return tokens.group(1);
    }

    static Object value(Matcher tokens) {
        return value(token(tokens), tokens);
    }

    static Object value(String token, Matcher tokens) {
        switch (token.charAt(0)) {
            case '{':
                var members = new TreeMap<String, Object>(); // String's order is that of UTF-16 code units, RFC 8785 §3.2.3
                for (String next = token(tokens); !next.equals("}"); next = token(tokens)) {
                    String name = unquoted(next.equals(",") ? token(tokens) : next);
                    token(tokens); // the colon
                    if (members.put(name, value(tokens)) != null) throw new IllegalArgumentException("twice: " + name);
                }
                return members;
            case '[':
                var items = new ArrayList<Object>();
                for (String next = token(tokens); !next.equals("]"); next = token(tokens))
                    items.add(next.equals(",") ? value(tokens) : value(next, tokens));
                return items;
            case '"':
                return unquoted(token);
            default:
                return new Literal(token);
        }
    }

    static String unquoted(String token) {
        return Pattern.compile("\\\\(u....|.)").matcher(token.substring(1, token.length() - 1))
            .replaceAll(escape -> Matcher.quoteReplacement(unescaped(escape)));
    }

    static String unescaped(MatchResult escape) {
        String code = escape.group(1);
        if (code.startsWith("u")) return String.valueOf((char) Integer.parseInt(code.substring(1), 16));
        int index = "bfnrt".indexOf(code);
        return index < 0 ? code : "\b\f\n\r\t".substring(index, index + 1);
    }

    /** RFC 8785. */
    static String canonical(Object value) {
        if (value instanceof Map<?, ?> members)
            return members.entrySet().stream()
                .map(member -> canonical(member.getKey()) + ":" + canonical(member.getValue()))
                .collect(Collectors.joining(",", "{", "}"));
        if (value instanceof List<?> items)
            return items.stream().map(Verify::canonical).collect(Collectors.joining(",", "[", "]"));
        return value instanceof Literal literal ? literal.text() : quoted((String) value);
    }

    static String quoted(String text) {
        var quoted = new StringBuilder("\"");
        for (char unit : text.toCharArray()) {
            int index = "\"\\\b\f\n\r\t".indexOf(unit);
            if (index >= 0) quoted.append('\\').append("\"\\bfnrt".charAt(index));
            else if (unit < 0x20) quoted.append(String.format("\\u%04x", (int) unit));
            else quoted.append(unit);
        }
        return quoted.append('"').toString();
    }
}
