// Creates the key pair of the issuer, once. In production, the private key comes from your secret store.
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';

if (!existsSync('keys/private.pem')) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  mkdirSync('keys', { recursive: true });
  writeFileSync('keys/public.pem', publicKey);
  writeFileSync('keys/private.pem', privateKey, { mode: 0o600 });
}
