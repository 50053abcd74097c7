import { generateKeyPairSync } from 'node:crypto';
import { TestApp } from './app';

const { publicKey, privateKey } = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

export { publicKey };

/** A host with the user ada, whose tokens other services verify with its public key. */
export async function startIssuer(redisUrl: string): Promise<TestApp> {
  const issuer = await TestApp.start({
    redisUrl,
    options: {
      algorithm: 'ES256',
      keys: { active: 'k1', private: privateKey, public: { k1: publicKey } },
      audience: ['https://api.example.com', 'https://reports.example.com'],
    },
  });
  await issuer.person('ada@example.com');
  return issuer;
}
