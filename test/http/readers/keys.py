# Reads a served key set with PyJWT, and verifies a JWT by the key that its header names.
import sys

import jwt

client = jwt.PyJWKClient(sys.argv[1])
print(sorted(key.key_id for key in client.get_signing_keys()))
key = client.get_signing_key_from_jwt(sys.argv[2])
print(jwt.decode(sys.argv[2], key.key, algorithms=["EdDSA"])["sub"])
