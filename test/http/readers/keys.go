// Reads a served key set as RFC 7517 has it, and verifies a JWT by the key that its header names.
package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
)

func main() {
	response, err := http.Get(os.Args[1])
	check(err)
	var set struct {
		Keys []struct{ Kty, Crv, X, Kid, Alg, Use string }
	}
	check(json.NewDecoder(response.Body).Decode(&set))
	parts := strings.Split(os.Args[2], ".")
	var header struct{ Kid, Alg string }
	check(json.Unmarshal(decoded(parts[0]), &header))
	for _, key := range set.Keys {
		if key.Kid != header.Kid || key.Kty != "OKP" || key.Crv != "Ed25519" || key.Alg != header.Alg || key.Use != "sig" {
			continue
		}
		fmt.Println(ed25519.Verify(decoded(key.X), []byte(parts[0]+"."+parts[1]), decoded(parts[2])))
		return
	}
	fmt.Println("no key")
}

func decoded(text string) []byte {
	bytes, err := base64.RawURLEncoding.DecodeString(text)
	check(err)
	return bytes
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
